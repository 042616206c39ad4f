/*
 * explicit.c - explicit functions: placements follow op by op from the
 * operands, and nothing moves unless the program says so.
 *
 *   y = einsum("bd,df->bf", x, w)     x: [8@X, 64], w: [64, 16@Y]
 *   y: [8@X, 16@Y]                    b from x, f from w
 *
 * Each factor of an op's rule gets one answer: the axes that its operands
 * have there.  An operand that is whole, or split less in the same way, agrees,
 * for taking a part of it moves nothing.  No answer is an error that lists
 * what could be written.  A split reduction leaves partial sums, which a placed
 * let, out= or reshard right there has to settle or to declare.
 *
 * Requires L_global.  Leaves it with a placement for every value that explicit
 * code computes, which propagation then holds.
 */
#include <string.h>
#include "ir/partial.h"
#include "shard/explicit/explicit.h"

/* ---- one answer for each factor ------------------------------------------- */

static Finding
found(Fault fault, const Holder *a, const Holder *b, AxisRef axis)
{
	Finding f = {.fault = fault, .tensor = a->tensor, .a = *a, .axis = axis};

	if (b)
		f.b = *b;
	return f;
}

static bool
share_axis(const AxisList *l, const AxisList *m, AxisRef *axis)
{
	for (int i = 0; i < l->n; i++)
		if (axes_overlap(m, l->a[i])) {
			*axis = l->a[i];
			return true;
		}
	return false;
}

/* Fills p->agreed[factor] from the operands; `from` is one that has it all. */
static Finding
agree_on(Projection *p, int factor, const Holder **from)
{
	AxisList *agreed = &p->agreed[factor];

	agreed->n = 0;
	*from = NULL;
	for (int i = p->factor_first[factor]; i < p->factor_first[factor + 1]; i++) {
		const Holder *h = &p->holders[p->by_factor[i]];
		if (h->tensor >= p->rule->noperands)
			continue;
		if (h->overflow.n)
			return found(FAULT_strided, h, NULL, h->overflow.a[0]);
		if (axes_is_prefix(&h->axes, agreed))
			continue;
		if (!axes_is_prefix(agreed, &h->axes))
			return found(FAULT_disagree, *from, h, h->axes.a[0]);
		*agreed = h->axes;
		*from = h;
	}
	/* of the rows that a `for` goes through none has a place where it could be
	   written what becomes of partial ones */
	FactorKind kind = p->rule->factors[factor].kind;
	bool splits = kind == F_pass || (kind == F_reduce && p->op->form != AS_row);
	if (agreed->n && !splits)
		return found(FAULT_whole, *from, NULL, agreed->a[0]);
	return (Finding){.fault = FAULT_none};
}

static Finding
agree_on_all(Explicit *e, Projection *p)
{
	int n = p->rule->nfactors;
	const Holder **from = NEW_ARRAY(e->g.arena, const Holder *, n + 1);
	AxisRef axis;

	for (int i = 0; i < n; i++) {
		Finding f = agree_on(p, i, &from[i]);
		if (f.fault)
			return f;
		for (int k = 0; k < i; k++)
			if (share_axis(&p->agreed[k], &p->agreed[i], &axis))
				return found(FAULT_twice, from[k], from[i], axis);
	}
	return (Finding){.fault = FAULT_none};
}

/* ---- partial sums ------------------------------------------------------------ */

typedef struct Partial {
	AxisList axes;
	Combiner combiner;
} Partial;

/* Is the op, applied to the parts, a part of the op applied to the whole? */
static bool
is_linear_in(Explicit *e, const OpState *o, int operand)
{
	const Placement *now = explicit_placement(e, o->tensors[operand]);
	Through through = partial_through(o->op, operand, (Combiner)now->combiner);
	AxisList mine = placement_unreduced(now);

	for (int i = 0; i < o->noperands; i++) {
		const Placement *other = explicit_placement(e, o->tensors[i]);
		AxisList theirs = placement_unreduced(other);
		bool alike = axes_equal(&theirs, &mine) && other->combiner == now->combiner;
		if (i != operand && (through == THROUGH_together ? !alike : theirs.n > 0))
			return false;
	}
	return through != THROUGH_no;
}

/* What the result is partial over: sums split here, and those of operands. */
static Finding
collect_partial(Explicit *e, const OpState *o, Partial *partial)
{
	const Projection *p = &e->g.projection;
	AxisRef axis;

	partial->axes.n = 0;
	partial->combiner = p->rule->combiner;
	for (int f = 0; f < p->rule->nfactors; f++)
		if (p->rule->factors[f].kind == F_reduce)
			axes_append_all(&partial->axes, &p->agreed[f]);
	bool own = partial->axes.n > 0;
	for (int i = 0; i < o->noperands; i++) {
		const Placement *now = explicit_placement(e, o->tensors[i]);
		AxisList axes = placement_unreduced(now);
		if (!axes.n)
			continue;
		bool refused =
			!is_linear_in(e, o, i) || (own && now->combiner != partial->combiner);
		for (int f = 0; f < p->rule->nfactors; f++)
			refused |= share_axis(&axes, &p->agreed[f], &axis);
		if (refused)
			return (Finding){.fault = FAULT_refused,
				.tensor = i,
				.axis = axes.a[0]};
		partial->combiner = (Combiner)now->combiner;
		for (int k = 0; k < axes.n; k++)
			if (!axes_overlap(&partial->axes, axes.a[k]))
				axes_append(&partial->axes, axes.a[k]);
	}
	return (Finding){.fault = FAULT_none};
}

Finding
derive(Explicit *e, OpState *o, Placement *results)
{
	Projection *p = &e->g.projection;
	Partial partial;
	int misfit;

	project(p, &e->g, o);
	Finding f = agree_on_all(e, p);
	if (!f.fault)
		f = collect_partial(e, o, &partial);
	for (int t = o->noperands; !f.fault && t < o->ntensors; t++) {
		Placement *to = &results[t - o->noperands];
		if (factors_place(p->rule, t, p->agreed, to, &misfit)) {
			placement_set_unreduced(to, &partial.axes, partial.combiner);
			continue;
		}
		/* the operand that has axes there */
		const int *at = &p->by_factor[p->factor_first[misfit]];
		while (!p->holders[*at].axes.n)
			at++;
		f = found(FAULT_strided, &p->holders[*at], NULL, p->agreed[misfit].a[0]);
	}
	return f;
}

/* ---- what is settled ------------------------------------------------------------- */

/* `v` is placed so from now on, because of the op; each axis comes from an operand
   that has it. */
static void
settle(Explicit *e, Value *v, const Placement *to, Op *op)
{
	*explicit_placement(e, v) = *to;
	e->known[v->id] = true;
	e->unclear[v->id] = false;
	e->pending[v->id] = NULL;
	if (v->annotated && !v->placement.open)
		return;
	v->placement = *to;
	v->follows = !v->annotated;
	for (int d = 0; d < to->rank; d++) {
		AxisList axes = placement_dim(to, d);
		for (int i = 0; i < axes.n; i++) {
			Origin *origin = NEW(e->g.module->arena, Origin);
			*origin = (Origin){.kind = ORIGIN_op,
				.dim = d,
				.axis = axes.a[i],
				.from = v,
				.through = op,
				.where = op->range,
				.step = e->step,
				.next = v->origins};
			for (int k = op->noperands - 1; k >= 0; k--)
				if (placement_uses(explicit_placement(e, op->operands[k]),
					    axes.a[i]))
					origin->from = op->operands[k];
			v->origins = origin;
		}
	}
}

static void
settle_as(Explicit *e, Value *v, const Value *like, Op *op)
{
	settle(e, v, explicit_placement(e, like), op);
	e->pending[v->id] = e->pending[like->id];
	e->unclear[v->id] = e->unclear[like->id];
}

/* After an error nothing follows from a value any more. */
static void
blur(Explicit *e, const Value *v)
{
	e->failed = e->known[v->id] = e->unclear[v->id] = true;
	*explicit_placement(e, v) = placement_none(v->type.rank);
	e->pending[v->id] = NULL;
}

static void
blur_results(Explicit *e, const Op *op)
{
	e->failed = true;
	for (int i = 0; i < op->nresults; i++)
		blur(e, op->results[i]);
}

bool
same_expression(const Op *a, const Op *b)
{
	return a->range.file == b->range.file && a->range.begin == b->range.begin
		&& a->range.end == b->range.end && a->range.line == b->range.line
		&& !strcmp(a->label, b->label);
}

/* Sums must be settled before anything else uses them. */
static void
want_settled(Explicit *e, const Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		const Op *maker = e->pending[v->id];
		if (!maker || (same_expression(maker, op) && !op->nbodies))
			continue;
		report_partial(e, maker, v);
		blur(e, v);
	}
}

/* ---- ops ---------------------------------------------------------------------------- */

/* Whose sums the result is partial over: this op's, or those still open of an
   operand; NULL if the program has declared them. */
static Op *
maker_of_sums(const Explicit *e, Op *op, const Placement *result)
{
	AxisList axes = placement_unreduced(result);
	AxisRef axis;
	int n = 0;
	Op *maker = NULL;

	for (int i = 0; i < op->noperands; i++) {
		int id = op->operands[i]->id;
		AxisList l = placement_unreduced(&e->g.clusters[id].now);
		n += l.n && share_axis(&axes, &l, &axis) ? l.n : 0;
		maker = e->pending[id] ? e->pending[id] : maker;
	}
	return n < axes.n && !maker ? op : maker;
}

static void
follow_rule(Explicit *e, OpState *o)
{
	Op *op = o->op;
	Placement *results = NEW_ARRAY(e->g.arena, Placement, op->nresults + 1);

	Finding f = derive(e, o, results);
	if (f.fault) {
		report_finding(e, o, &f);
		blur_results(e, op);
		return;
	}
	for (int i = 0; i < op->nresults; i++) {
		settle(e, op->results[i], &results[i], op);
		e->pending[op->results[i]->id] = maker_of_sums(e, op, &results[i]);
	}
}

/* What is written, with what the operand has where it is left open. */
static Placement
fill_open(Explicit *e, const Op *op)
{
	const Placement *from = explicit_placement(e, op->operands[0]);
	const Placement *written = &op->results[0]->placement;
	Placement to = placement_close(*written);

	for (int d = 0; d < written->rank; d++) {
		AxisList has = placement_dim(from, d);
		AxisList least = placement_dim(written, d);
		if (placement_is_open(written, d) && axes_is_prefix(&least, &has))
			placement_set_dim(&to, d, &has);
	}
	return to;
}

/* A placed let or out=: sums are settled, all else stays. */
static void
follow_constraint(Explicit *e, OpState *o)
{
	const Value *from = o->op->operands[0];
	Placement to = fill_open(e, o->op);
	const ReshardPlan *plan =
		reshard_plan(e->resharder, &from->type, explicit_placement(e, from), &to);
	bool settles = true;

	for (int i = 0; i < plan->n; i++)
		settles &= plan->moves[i].bytes == 0
			|| ops[plan->moves[i].kind].attrs & AT(combiner);
	if (!settles) {
		report_move(e, o->op, &to);
		e->failed = true;
	}
	settle(e, o->op->results[0], &to, o->op);
}

/* A result of the entry is checked, not moved. */
static void
follow_output(Explicit *e, OpState *o)
{
	Value *v = o->op->results[0];
	Placement to = fill_open(e, o->op);

	if (!v->annotated) {
		settle_as(e, v, o->op->operands[0], o->op);
		return;
	}
	if (!placement_equal(explicit_placement(e, o->op->operands[0]), &to)) {
		report_move(e, o->op, &to);
		e->failed = true;
	}
	settle(e, v, &to, o->op);
}

static void follow_block(Explicit *e, Block *b, bool explicit);

static void
enter(Explicit *e, Op *op, Block *body)
{
	for (Flow f = {.op = op}; flow_next(&f);)
		if (f.kind == FLOW_in && f.to->block == body)
			settle_as(e, f.to, f.from, op);
	follow_block(e, body, true);
}

bool
body_is_clear(Explicit *e, Op *call)
{
	bool failed = e->failed;

	e->quiet++;
	e->failed = false;
	enter(e, call, call->bodies[0]);
	bool clear = !e->failed;
	e->failed = failed;
	e->quiet--;
	return clear;
}

/* Operand i of `a` and operand k of `b` are placed alike. */
static void
want_same(Explicit *e, const Op *op, const Op *a, int i, const Op *b, int k)
{
	const Value *v = a->operands[i], *w = b->operands[k];

	if (e->unclear[v->id] || e->unclear[w->id]
		|| placement_equal(explicit_placement(e, v), explicit_placement(e, w)))
		return;
	report_carried(e, op, a, b, i, k);
	blur(e, v);
}

/* A result is placed as what flows to it first, and so is all else that does. */
static void
leave(Explicit *e, Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		Flow first = {.to = op->results[i]};
		flow_next_to(&first);
		for (Flow f = first; flow_next_to(&f);)
			want_same(e, op, first.user, first.operand, f.user, f.operand);
		settle_as(e, first.to, first.from, op);
	}
}

/* Every device has to decide alike: no parts of a decision. */
static void
want_decided(Explicit *e, const Op *op, const Op *user)
{
	const Value *v = user->operands[0];

	if (e->unclear[v->id] || !explicit_placement(e, v)->nunreduced)
		return;
	report_condition(e, op, user);
	blur(e, v);
}

/* The bodies of a loop or a branch. */
static void
follow_bodies(Explicit *e, OpState *o)
{
	Op *op = o->op;
	bool loop = op_is_loop(op);

	for (int i = 0; i < op->nbodies; i++) {
		if (i == (loop ? LOOP_BODY : 0))
			want_decided(e, op, loop ? op->bodies[LOOP_CONDITION]->last : op);
		enter(e, op, op->bodies[i]);
		want_settled(e, op->bodies[i]->last);
	}
	leave(e, op);
}

/* ---- in program order --------------------------------------------------------------- */

/* Written exactly, without dims, or made anew for each use. */
static bool
is_evident(const Value *v)
{
	if (!v->type.rank)
		return true;
	if (v->annotated)
		return !v->placement.open;
	return value_is_literal(v);
}

static void
want_known(Explicit *e, const Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (e->known[v->id])
			continue;
		*explicit_placement(e, v) = v->annotated ? placement_close(v->placement)
							 : placement_none(v->type.rank);
		e->known[v->id] = true;
		if (is_evident(v))
			continue;
		report_unknown(e, op, i);
		blur(e, v);
	}
}

/* After an error: what is written is clear, whatever it is made of. */
static void
follow_unclear(Explicit *e, const Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		blur(e, v);
		if (!v->annotated)
			continue;
		*explicit_placement(e, v) = placement_close(v->placement);
		e->unclear[v->id] = false;
	}
}

static void
follow_clear(Explicit *e, OpState *o)
{
	Op *op = o->op;

	switch ((int)op->kind) {
	case O_constraint:
		follow_constraint(e, o);
		break;
	case O_output:
		follow_output(e, o);
		break;
	case O_shard_like:
		want_same(e, op, op, 0, op, 1);
		settle_as(e, op->results[0], op->operands[0], op);
		break;
	case O_barrier:
		settle_as(e, op->results[0], op->operands[0], op);
		break;
	case O_call:
		if (body_is_clear(e, op)) {
			leave(e, op);
		} else {
			report_call(e, o);
			blur_results(e, op);
		}
		break;
	case O_while:
	case O_if:
		follow_bodies(e, o);
		break;
	default:
		if ((o->rule = op_rule(e->g.arena, op)))
			follow_rule(e, o);
		else
			blur_results(e, op);
	}
}

/* zeros(f32[8@X]) is where it is written, and so is what a reshard moves. */
static bool
is_placed(const Op *op)
{
	switch ((int)op->kind) {
	case O_reshard:
		return true;
	case O_constraint:
	case O_output:
	case O_shard_like:
	case O_barrier:
	case O_call:
	case O_while:
	case O_if:
		return false;
	default:
		return op->nresults && op->results[0]->annotated;
	}
}

static void
follow_op(Explicit *e, Op *op)
{
	bool settles = op->kind == O_constraint || op->kind == O_reshard, clear = true;

	e->step++;
	want_known(e, op);
	if (op->kind == O_return)
		return;
	if (!settles)
		want_settled(e, op);
	for (int i = 0; i < op->noperands; i++)
		clear &= !e->unclear[op->operands[i]->id];
	if (is_placed(op)) {
		Placement to = placement_close(op->results[0]->placement);
		settle(e, op->results[0], &to, op);
	} else if (clear) {
		follow_clear(e, &e->g.ops[e->g.state_of[op->id]]);
	} else {
		follow_unclear(e, op);
	}
}

static void
follow_block(Explicit *e, Block *b, bool explicit)
{
	for (Op *op = b->first; op; op = op->next) {
		if (explicit || op->mode == MODE_explicit)
			follow_op(e, op);
		else
			for (int i = 0; i < op->nbodies; i++)
				follow_block(e, op->bodies[i], false);
	}
}

static void
find_explicit(Op *op, void *data)
{
	bool *any = data;

	*any |= op->mode == MODE_explicit;
}

bool explicit(Module *m)
{
	Explicit e = {.g.module = m};
	bool any = false;

	module_walk(m, find_explicit, &any);
	if (!any)
		return true;
	module_number(m);
	int n = m->nvalues + 1;
	Arena *a = e.g.arena = arena_new();
	e.known = NEW_ARRAY(a, bool, n);
	e.unclear = NEW_ARRAY(a, bool, n);
	e.pending = NEW_ARRAY(a, Op *, n);
	e.g.clusters = NEW_ARRAY(a, Cluster, n);
	e.g.cluster_of = NEW_ARRAY(a, int, n);
	for (int i = 0; i < m->nvalues; i++)
		e.g.cluster_of[i] = i;
	e.resharder = resharder_new(a, &m->mesh);
	collect_ops(&e.g);
	locate_tensors(&e.g);
	follow_block(&e, m->entry, false);
	arena_free(a);
	return !e.failed;
}
