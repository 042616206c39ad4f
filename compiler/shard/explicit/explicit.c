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

bool
axes_clash(const AxisList *l, const AxisList *m, AxisRef *axis)
{
	for (int i = 0; i < l->n; i++)
		if (!axes_can_coexist(m, l->a[i])) {
			*axis = l->a[i];
			return true;
		}
	return false;
}

/*
 * Fills p->agreed[factor] from the operands; the longest list wins if the others
 * begin it.  Of `x + y`, factors i and j:
 *
 *   x: [8@(X,Y), 4]  y: [8@X, 4]     i {X,Y}
 *   x: [8@X, 4]      y: [8@Y, 4]     FAULT_disagree on i
 *   x: [8@X, 4]      y: [8, 4@X]     FAULT_twice: X would split i and j
 */
static Finding
agree(Explicit *e, Projection *p)
{
	const Rule *r = p->rule;
	const Holder **from = NEW_ARRAY(e->g.arena, const Holder *, r->nfactors + 1);
	AxisRef axis;

	for (int f = 0; f < r->nfactors; f++) {
		AxisList *agreed = &p->agreed[f];
		FactorKind kind = r->factors[f].kind;
		agreed->n = 0;
		for (int i = p->factor_first[f]; i < p->factor_first[f + 1]; i++) {
			const Holder *h = &p->holders[p->by_factor[i]];
			if (h->tensor >= r->noperands)
				continue;
			if (h->overflow.n)
				return found(FAULT_strided, h, NULL, h->overflow.a[0]);
			if (axes_is_prefix(&h->axes, agreed))
				continue;
			if (!axes_is_prefix(agreed, &h->axes))
				return found(FAULT_disagree, from[f], h, h->axes.a[0]);
			*agreed = h->axes;
			from[f] = h;
		}
		/* of the rows that a `for` goes through none has a place where it could
		   be written what becomes of partial ones */
		if (agreed->n && kind != F_pass && (kind != F_reduce || p->op->form == AS_row))
			return found(FAULT_whole, from[f], NULL, agreed->a[0]);
		for (int k = 0; k < f; k++)
			if (axes_clash(&p->agreed[k], agreed, &axis))
				return found(FAULT_twice, from[k], from[f], axis);
	}
	return (Finding){0};
}

/* ---- partial sums ------------------------------------------------------------ */

typedef struct Partial {
	AxisList axes;
	Combiner combiner;
} Partial;

/* Is the op, applied to the parts, a part of the op applied to the whole?  -1: yes;
   else the operand that it is not linear in, or with. */
static int
hinders(Explicit *e, const OpState *o, int operand)
{
	const Placement *now = explicit_placement(e, o->tensors[operand]);
	Through through = partial_through(o->op, operand, (Combiner)now->combiner);
	bool product = ops[o->op->kind].partial == PARTIAL_bilinear;
	AxisList mine = placement_unreduced(now);

	for (int i = 0; i < o->noperands; i++) {
		const Placement *other = explicit_placement(e, o->tensors[i]);
		AxisList theirs = placement_unreduced(other);
		bool alike = axes_equal(&theirs, &mine) && other->combiner == now->combiner;
		if (i == operand)
			continue;
		if (through == THROUGH_together && partial_joins(o->op, i) ? !alike
									   : theirs.n > 0)
			return operand;
		if (product && e->infinite[o->tensors[i]->id])
			return i;
	}
	return through == THROUGH_no ? operand : -1;
}

/*
 * What the result is partial over: sums split here, and those of operands.
 *
 *   dot(x, w)   x: [8, 16@Y], w: [16@Y, 4]      over Y, of its own
 *   h + g       both unreduced(Y)               over Y
 *   h * s       h unreduced(Y), s whole         over Y
 *   h * x       h unreduced(Y), x: [8@Y, 4]     refused: Y splits a factor of the product
 */
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
		int by = hinders(e, o, i);
		bool refused = by >= 0 || (own && now->combiner != partial->combiner);
		for (int f = 0; f < p->rule->nfactors; f++)
			refused |= axes_clash(&axes, &p->agreed[f], &axis);
		if (refused)
			return (Finding){.fault = FAULT_refused,
				.tensor = i,
				.by = by >= 0 ? by : i};
		partial->combiner = (Combiner)now->combiner;
		for (int k = 0; k < axes.n; k++)
			if (!axes_overlap(&partial->axes, axes.a[k]))
				axes_append(&partial->axes, axes.a[k]);
	}
	return (Finding){0};
}

Finding
derive(Explicit *e, OpState *o, Placement *results)
{
	Projection *p = &e->g.projection;
	Partial partial;
	int misfit;

	project(p, &e->g, o);
	Finding f = agree(e, p);
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
	return a->form == b->form && range_equal(a->range, b->range)
		&& a->range.end > a->range.begin;
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

/* The results follow from the operands.  What is partial awaits the op whose sums
   are open: this one, or that of an operand; none if the program declared them. */
static void
follow_rule(Explicit *e, OpState *o)
{
	Op *op = o->op;
	Placement *results = NEW_ARRAY(e->g.arena, Placement, op->nresults + 1);
	AxisRef axis;
	Finding f = derive(e, o, results);

	if (f.fault) {
		report_finding(e, o, &f);
		blur_results(e, op);
		return;
	}
	for (int i = 0; i < op->nresults; i++) {
		AxisList axes = placement_unreduced(&results[i]);
		Op *maker = NULL;
		int declared = 0;
		settle(e, op->results[i], &results[i], op);
		for (int k = 0; k < op->noperands; k++) {
			const Value *v = op->operands[k];
			AxisList l = placement_unreduced(explicit_placement(e, v));
			declared += axes_clash(&axes, &l, &axis) ? l.n : 0;
			maker = e->pending[v->id] ? e->pending[v->id] : maker;
		}
		e->pending[op->results[i]->id] = declared < axes.n && !maker ? op : maker;
	}
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

/* Nothing but sums. */
static bool
moves_nothing(Explicit *e, const Type *type, const Placement *from, const Placement *to)
{
	const ReshardPlan *plan = reshard_plan(e->resharder, type, from, to);
	bool stays = true;

	for (int i = 0; i < plan->n; i++)
		stays &= plan->moves[i].bytes == 0
			|| ops[plan->moves[i].kind].attrs & AT(combiner);
	return stays;
}

/* A placed let or out= settles sums, and all else stays; the type of a result is
   checked, and moves nothing.  What is left open is as the operand has it, but for axes
   that are written elsewhere in the type. */
static void
follow_identity(Explicit *e, Op *op)
{
	Value *from = op->operands[0], *v = op->results[0];
	const Placement *now = explicit_placement(e, from);
	Placement to = v->placement;
	bool stays;

	for (int d = 0; d < to.rank; d++) {
		AxisList has = placement_dim(now, d), least = placement_dim(&to, d);
		if (!placement_is_open(&to, d) || !axes_is_prefix(&least, &has))
			continue;
		do
			placement_set_dim(&to, d, &has);
		while (!placement_is_sound(&to) && has.n-- > least.n);
	}
	to = placement_close(to);
	if (op->noperands > 1)
		want_same(e, op, op, 0, op, 1);
	if (op_is_move(op)) {
		stays = moves_nothing(e, &from->type, now, &to);
	} else if (v->annotated) {
		stays = placement_equal(now, &to);
	} else {
		settle_as(e, v, from, op);
		return;
	}
	if (!stays)
		report_move(e, op, &to);
	e->failed |= !stays;
	settle(e, v, &to, op);
}

static void follow_block(Explicit *e, Block *b, bool explicit);

/* A gradient is placed as what it is taken by, and what adds up to it is moved there. */
static void
follow_gradient(Explicit *e, Op *op)
{
	Value *v = op->results[0];
	AxisList none = {0};

	v->placement = *explicit_placement(e, op->operands[1]);
	v->annotated = true;
	placement_set_unreduced(&v->placement, &none, C_add);
	settle(e, v, &v->placement, op);
	e->unclear[v->id] = e->unclear[op->operands[1]->id];
	op->kind = O_constraint;
	op->noperands = 1;
	op->mode = MODE_backward;
}

/* What is kept for a backward pass is placed with that, later. */
static bool
is_for_backward(const Explicit *e, const Value *v)
{
	return !e->known[v->id];
}

static bool
leaves_for_backward(const Explicit *e, Value *result)
{
	for (Flow f = {.to = result}; flow_next_to(&f);)
		if (is_for_backward(e, f.from))
			return true;
	return false;
}

static void
enter(Explicit *e, Op *op, Block *body)
{
	for (Flow f = {.op = op}; flow_next(&f);)
		if (f.kind == FLOW_in && f.to->block == body && !is_for_backward(e, f.from))
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

/* A result is placed as what flows to it first, and so is all else that does. */
static void
leave(Explicit *e, Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		Flow first = {.to = op->results[i]};
		flow_next_to(&first);
		if (leaves_for_backward(e, op->results[i]))
			continue;
		for (Flow f = first; flow_next_to(&f);)
			want_same(e, op, first.user, first.operand, f.user, f.operand);
		settle_as(e, first.to, first.from, op);
	}
}

/* The bodies of a loop or a branch.  Every device has to decide alike: no parts of a
   decision. */
static void
follow_bodies(Explicit *e, Op *op)
{
	bool loop = op_is_loop(op);

	for (int i = 0; i < op->nbodies; i++) {
		const Op *user = loop ? op->bodies[LOOP_CONDITION]->last : op;
		const Value *decision = user->operands[0];
		if (i == (loop ? LOOP_BODY : 0) && !e->unclear[decision->id]
			&& explicit_placement(e, decision)->nunreduced) {
			report_condition(e, op, user);
			blur(e, decision);
		}
		enter(e, op, op->bodies[i]);
		want_settled(e, op->bodies[i]->last);
	}
	leave(e, op);
}

/* ---- in program order --------------------------------------------------------------- */

/* Does the op hand on what is kept for a backward pass? */
static bool
hands_on_kept(const Op *op, const Value *v)
{
	bool made = v->def && v->def->mode == MODE_backward;

	return made && (op->kind == O_return || (op->nbodies && value_is_literal(v)));
}

/* An operand is placed where it is written exactly; a scalar is, and what is made anew
   for each use. */
static void
want_known(Explicit *e, const Op *op, int operand)
{
	const Value *v = op->operands[operand];

	if (e->known[v->id] || hands_on_kept(op, v))
		return;
	*explicit_placement(e, v) =
		v->annotated ? placement_close(v->placement) : placement_none(v->type.rank);
	e->known[v->id] = true;
	if (!v->type.rank || (v->annotated ? !v->placement.open : value_is_literal(v)))
		return;
	report_unknown(e, op, operand);
	blur(e, v);
}

/* Where results are: as the program says, or as it follows from operands whose placement
   is clear; of a composite as its body has it. */
static void
follow_op(Explicit *e, Op *op)
{
	OpState *o = &e->g.ops[e->g.state_of[op->id]];
	bool flows = op->nbodies && !op->specs, clear = true;

	if (!op_is_move(op))
		want_settled(e, op);
	for (int i = 0; i < op->noperands; i++)
		clear &= !e->unclear[op->operands[i]->id];
	/* zeros(f32[8@X]) is where it is written, and so is what a reshard moves */
	if (op->kind == O_reshard
		|| (!flows && !op_is_identity(op) && op->nresults
			&& op->results[0]->annotated)) {
		Placement to = placement_close(op->results[0]->placement);
		settle(e, op->results[0], &to, op);
	} else if (!clear) { /* what is written is clear, whatever it is made of */
		for (int i = 0; i < op->nresults; i++) {
			const Value *v = op->results[i];
			blur(e, v);
			if (v->annotated)
				*explicit_placement(e, v) = placement_close(v->placement);
			e->unclear[v->id] = !v->annotated;
		}
	} else if (op_is_identity(op)) {
		follow_identity(e, op);
	} else if (flows && !op_is_composite(op)) {
		follow_bodies(e, op);
	} else if (flows && body_is_clear(e, op)) {
		leave(e, op);
	} else if (flows) {
		report_call(e, o);
		blur_results(e, op);
	} else if ((o->rule = op_rule(e->g.arena, op))) {
		follow_rule(e, o);
	} else {
		blur_results(e, op);
	}
}

static void
follow_block(Explicit *e, Block *b, bool explicit)
{
	for (Op *op = b->first; op; op = op->next) {
		if (op->mode == MODE_explicit && op->form == AS_gradient) {
			want_known(e, op, 1);
			follow_gradient(e, op);
			continue;
		}
		if (op->mode == MODE_explicit || (explicit && op->mode != MODE_backward)) {
			e->step++;
			for (int i = 0; i < op->noperands; i++)
				want_known(e, op, i);
			if (op->next) /* what is returned flows on */
				follow_op(e, op);
			continue;
		}
		for (int i = 0; i < op->nbodies; i++)
			follow_block(e, op->bodies[i], false);
	}
}

bool explicit(Module *m)
{
	Explicit e = {.g.module = m};
	bool any = false;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		any |= op->mode == MODE_explicit;
	if (!any)
		return false;
	module_number(m);
	int n = m->nvalues + 1;
	Arena *a = e.g.arena = arena_new();
	e.infinite = find_infinite(a, m);
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
	return true;
}
