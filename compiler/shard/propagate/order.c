/*
 * order.c - who propagates when.
 *
 * Five levels, each to a fixed point with the basic step and then with the
 * aggressive one.  What a level may do includes all that earlier ones may:
 *
 *   0  pointwise ops, reshape, transpose, if no operand is used elsewhere:
 *      passing on through a value with several uses may create a conflict
 *      at each of them; into and out of loops, branches, fences and manual
 *      regions, with the placement that a region asks for; what a dynamic
 *      slice takes, to its result
 *   1  the same, however often operands are used
 *   2  every op, along pass-through factors; broadcasts only to the operand
 *   3  every factor; broadcasts still only to the operand
 *   4  everything
 *
 * Results of the entry are synchronised before and after each fixed point,
 * whatever the level.  Within one, ops are visited in program order; whoever
 * touches a value that changed is visited again next, last in first out.
 */
#include <string.h>
#include "shard/propagate/propagate.h"
#include "shard/shard.h"

enum { WIDE = 16 };

/* What an op may do at a level; equal phases need no second visit. */
typedef enum Phase {
	PHASE_none,
	PHASE_pass_forward,  /* pass-through factors, to results */
	PHASE_pass_backward, /* the same, to operands */
	PHASE_pass,	     /* pass-through factors */
	PHASE_backward,	     /* every factor, to operands */
	PHASE_all,
} Phase;

/* By value: is it handed to a manual region? */
static const bool *
find_entered(Propagation *g)
{
	bool *entered = NEW_ARRAY(g->arena, bool, g->module->nvalues + 1);

	for (int i = 0; i < g->nops; i++) {
		const Op *op = g->ops[i].op;
		for (int k = 0; k < op->noperands && op->kind == O_manual; k++)
			entered[op->operands[k]->id] = true;
	}
	return entered;
}

static bool
is_windows(const Value *v)
{
	const Op *op = v->def;

	while (op
		&& (op->kind == O_transpose || op->kind == O_reshape || op->kind == O_convert))
		op = op->operands[0]->def;
	return op && op_is_windows(op);
}

/* By value: is it a kernel for each feature, that windows are multiplied by? */
static const bool *
find_kernels(Propagation *g)
{
	bool *kernel = NEW_ARRAY(g->arena, bool, g->module->nvalues + 1);

	for (int i = 0; i < g->nops; i++) {
		const Op *op = g->ops[i].op;
		if (op->kind == O_mul && is_windows(op->operands[0]))
			kernel[op->operands[1]->id] = true;
	}
	return kernel;
}

void
plan_levels(Propagation *g, bool backward)
{
	static const uint8_t never[LEVELS] = {0};
	static const uint8_t always[LEVELS] = {PHASE_all, PHASE_all, PHASE_all, PHASE_all,
		PHASE_all};
	static const uint8_t starts[LEVELS] = {PHASE_pass_forward, PHASE_pass_forward,
		PHASE_pass, PHASE_all, PHASE_all};
	static const uint8_t broadcast[LEVELS] = {PHASE_none, PHASE_none, PHASE_pass_backward,
		PHASE_backward, PHASE_all};
	static const uint8_t other[LEVELS] = {PHASE_none, PHASE_none, PHASE_pass, PHASE_all,
		PHASE_all};

	const bool *entered = find_entered(g), *kernel = find_kernels(g);
	g->outputs = NEW_ARRAY(g->arena, int, g->module->nresults + 1);
	g->noutputs = 0;
	for (int i = 0; i < g->nops; i++) {
		OpState *o = &g->ops[i];
		bool output = o->op->kind == O_output;
		bool flows = o->edge || o->op->kind == O_fence;
		bool waits = o->op->mode == MODE_backward && !backward;
		/* the members of a shard_like are one cluster: nothing to pass on */
		if (!o->edge && !o->alike)
			o->rule = rule_book_get(g->rules, o->op);
		bool spreads = o->op->kind == O_broadcast && !kernel[o->op->results[0]->id];
		memcpy(o->phases,
			!o->rule || output || waits	  ? never
				: flows			  ? always
				: op_is_one_to_one(o->op) ? always
				: op_has_starts(o->op)	  ? starts
				: spreads		  ? broadcast
							  : other,
			LEVELS);
		bool enters = o->op->kind == O_constraint && entered[o->op->results[0]->id];
		for (int k = 0; k < o->noperands && !flows && !enters; k++)
			if (o->tensors[k]->type.rank && g->uses[o->tensors[k]->id] != 1)
				o->phases[0] = PHASE_none; /* used elsewhere */
		if (output)
			g->outputs[g->noutputs++] = i;
	}
}

static Way
way_of(Phase phase, const Factor *factor)
{
	static const Way pass[] = {WAY_none, WAY_forward, WAY_backward, WAY_both, WAY_backward,
		WAY_both};
	static const Way other[] = {WAY_none, WAY_none, WAY_none, WAY_none, WAY_backward,
		WAY_both};

	if (factor->blocked)
		return WAY_none;
	return factor->kind == F_pass || factor->early ? pass[phase] : other[phase];
}

/* ---- the result of a step ------------------------------------------------ */

/* ... from the largest tensor that had it. */
static void
note_arrival(Propagation *g, int tensor, int dim, AxisRef a)
{
	const Projection *p = &g->projection;
	int from = -1;
	Arrival *arrival = NEW(g->arena, Arrival);
	Value *target = p->tensors[tensor];
	Cluster *c = cluster_of(g, target);

	for (int i = p->first[tensor]; i < p->first[tensor + 1] && from < 0; i++) {
		const Holder *taker = &p->holders[i];
		if (taker->dim != dim || !took(p, taker) || !axes_overlap(&taker->axes, a))
			continue;
		const int *end = &p->by_factor[p->factor_first[taker->factor + 1]];
		for (const int *k = &p->by_factor[p->factor_first[taker->factor]]; k < end;
			k++) {
			const Holder *h = &p->holders[*k];
			if (!took(p, h) && h->tensor != tensor && axes_overlap(&h->axes, a)
				&& (from < 0 || p->elements[h->tensor] > p->elements[from]))
				from = h->tensor;
		}
	}
	arrival->target = target;
	arrival->origin = (Origin){
		.kind = ORIGIN_op,
		.dim = dim,
		.axis = a,
		.from = from < 0 ? NULL : p->tensors[from],
		.through = (Op *)p->op,
		.where = p->op->range,
		.step = g->step,
	};
	arrival->next = c->arrivals;
	c->arrivals = arrival;
}

/* Axes of size 1 are kept in place: they are written, and mean nothing. */
static bool
extend_dim(Propagation *g, int tensor, int dim)
{
	Value *v = g->projection.tensors[tensor];
	Placement *now = &cluster_of(g, v)->now;
	AxisList axes = projection_dim(&g->projection, tensor, dim);
	AxisList old = placement_dim(now, dim), effective = axes_moving(&old);

	if (axes_equal(&axes, &effective) || !axes_is_prefix(&effective, &axes))
		return false;
	AxisList added = axes_drop_prefix(&axes, &effective);
	if (!placement_has_room(now, added.n))
		return false;
	axes_append_all(&old, &added);
	placement_set_dim(now, dim, &old);
	for (int i = 0; i < added.n; i++)
		note_arrival(g, tensor, dim, added.a[i]);
	return true;
}

/* ---- worklist -------------------------------------------------------------- */

static void
push(Propagation *g, int id)
{
	if (g->ops[id].waiting)
		return;
	g->ops[id].waiting = true;
	g->stack[g->nstack++] = id;
}

void
unsettle(Propagation *g, const Cluster *c)
{
	for (int i = 0; i < c->ntouches; i++) {
		OpState *o = &g->ops[g->touches[c->first_touch + i]];
		o->settled[BASIC] = o->settled[AGGRESSIVE] = PHASE_none;
	}
}

/*
 * Uses in program order come off the stack first, then the definition.  A
 * concatenation of a thousand would be looked at a thousand times, once for
 * each operand: wide ops wait for the next round.
 */
static void
wake_neighbours(Propagation *g, const Cluster *c, int except, int level)
{
	for (int def = 1; def >= 0; def--)
		for (int i = c->ntouches - 1; i >= 0; i--) {
			int id = g->touches[c->first_touch + i];
			const OpState *o = &g->ops[id];
			bool defines = o->ntensors > o->noperands
				&& tensor_cluster(g, o, o->noperands) == c;
			if (defines == def && id != except && o->noperands < WIDE
				&& o->phases[level])
				push(g, id);
		}
}

/*
 * One step at one op.  A tensor that stands twice in it (dot of x and x) is
 * extended in its first place only; the op is not settled then, and is looked
 * at again.
 */
static bool
visit(Propagation *g, OpState *o, Phase phase, Strategy strategy, int level)
{
	Projection *p = &g->projection;
	bool changed = false, any = false;

	if (o->settled[strategy] == (int)phase)
		return false;
	o->settled[strategy] = (int8_t)phase;
	for (int t = 0; t < o->rule->ntensors && !any; t++)
		any = placement_pieces(&tensor_cluster(g, o, t)->now) > 0;
	if (!any)
		return false;
	project(p, g, o);
	Way *way = p->way;
	for (int f = 0; f < o->rule->nfactors; f++)
		way[f] = way_of(phase, &o->rule->factors[f]);
	if (!step(p, strategy, way))
		return false;
	g->step++;
	int version = g->step;
	for (int t = 0; t < o->rule->ntensors; t++) {
		Cluster *c = tensor_cluster(g, o, t);
		if (!p->grown[t] || c->version == version)
			continue;
		bool extended = false;
		for (int d = 0; d < o->rule->rank[t]; d++)
			extended |= extend_dim(g, t, d);
		if (!extended)
			continue;
		c->version = version;
		changed = true;
		unsettle(g, c);
		wake_neighbours(g, c, (int)(o - g->ops), level);
	}
	return changed;
}

/* Between the values the entry returns and its results, always both ways. */
static bool
synchronise_outputs(Propagation *g, int level, Strategy strategy)
{
	bool changed = false;

	for (int i = 0; i < g->noutputs; i++)
		changed |= visit(g, &g->ops[g->outputs[i]], PHASE_all, strategy, level);
	return changed;
}

static void
fixed_point(Propagation *g, int level, Strategy strategy)
{
	bool changed;

	do {
		changed = synchronise_outputs(g, level, strategy);
		for (int i = g->nops - 1; i >= 0; i--)
			if (g->ops[i].phases[level])
				push(g, i);
		while (g->nstack) {
			OpState *o = &g->ops[g->stack[--g->nstack]];
			o->waiting = false;
			changed |= visit(g, o, o->phases[level], strategy, level);
		}
		changed |= synchronise_outputs(g, level, strategy);
	} while (changed);
}

/* JAX has Shardy take the aggressive step at once. */
void
run_levels(Propagation *g)
{
	for (int level = 0; level < LEVELS; level++) {
		if (!g->module->python)
			fixed_point(g, level, BASIC);
		fixed_point(g, level, AGGRESSIVE);
	}
}
