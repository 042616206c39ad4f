/*
 * edges.c - what flows into and out of loops, branches and manual
 * regions.
 *
 *   for i in 0..4 { acc = acc + w; }
 *
 *   acc' = while(acc, w)     start acc  ->  acc'  <-  what the body returns
 *
 * The value that a loop carries is one cluster (its result and a parameter of
 * each body).  An edge joins it with the value it starts as and the one that
 * the body makes of it: an identity, so that where they differ it is the edge
 * that data moves along.  An invariant, which the body hands on as it is, has
 * no edge: it is the value outside under another name.  So is what a branch
 * sees; the results of the branches have an edge to that of the `if`.
 *
 * A manual region is entered and left along edges between a tensor and the part
 * of it that the body has.  A dim of the tensor is made of two factors, the
 * parts and what is in each; only the second is one of the part's dim, so axes
 * that the region is manual along stay outside.
 *
 *   manual(X)   x: f32[8@(X,Y)]  ->  f32[4@Y]      ([i j])->([j]) {i=2, j=4}
 */
#include "shard/propagate/propagate.h"
#include "shard/shard.h"

bool
is_use(const Op *op, int i)
{
	Flow f = {.user = op, .operand = i};

	return !flow_next_from(&f) || !flow_renames(&f);
}

/* ---- ops and edges in program order --------------------------------------- */

static OpState *
add_state(Propagation *g, Op *op, int noperands, int nresults)
{
	OpState *o = &g->ops[g->nops++];

	o->op = op;
	o->noperands = noperands;
	o->ntensors = noperands + nresults;
	o->tensors = NEW_ARRAY(g->arena, Value *, o->ntensors + 1);
	o->cluster = NEW_ARRAY(g->arena, int, o->ntensors + 1);
	return o;
}

/* An identity: every tensor has the shape of `like`.  Room for more factors. */
static Rule *
add_edge(Propagation *g, Op *op, int noperands, Value *const *tensors, const Value *like,
	int more)
{
	OpState *o = add_state(g, op, noperands, 1);
	const Type *type = &like->type;
	Rule *r = NEW(g->arena, Rule);

	o->edge = true;
	o->rule = r;
	*r = (Rule){.noperands = noperands,
		.ntensors = o->ntensors,
		.once = -1,
		.nfactors = type->rank,
		.factors = NEW_ARRAY(g->arena, Factor, type->rank + more + 1),
		.rank = NEW_ARRAY(g->arena, int, o->ntensors),
		.dims = NEW_ARRAY(g->arena, DimFactors *, o->ntensors)};
	for (int d = 0; d < type->rank; d++)
		r->factors[d] = (Factor){.size = type->dims[d], .kind = F_pass};
	for (int i = 0; i < o->ntensors; i++) {
		o->tensors[i] = tensors[i];
		r->rank[i] = type->rank;
		r->dims[i] = NEW_ARRAY(g->arena, DimFactors, type->rank + 1);
		for (int d = 0; d < type->rank; d++)
			r->dims[i][d] = (DimFactors){tensors[i]->type.dims[d], 1, {(int16_t)d}};
	}
	return r;
}

/* Of what flows into a manual region and out of it: what is outside is whole, inside
   is a part as the spec says.  Of a loop or a branch: two values flow to each result. */
static void
add_edges(Propagation *g, Op *op)
{
	for (Flow f = {.op = op}; op->specs && flow_next(&f);) {
		int whole = f.kind == FLOW_out;
		const Placement *spec = flow_spec(&f);
		if (!spec->rank)
			continue;
		Rule *r = add_edge(g, op, 1, (Value *[]){f.from, f.to}, whole ? f.from : f.to,
			spec->rank);
		for (int d = 0; d < spec->rank; d++) {
			int64_t parts = placement_dim_ways(spec, d);
			if (parts == 1)
				continue;
			DimFactors *dim = &r->dims[whole][d];
			*dim = (DimFactors){dim->size, 2, {(int16_t)r->nfactors, (int16_t)d}};
			r->factors[r->nfactors++] =
				(Factor){.size = parts, .kind = F_pass, .blocked = true};
		}
	}
	for (int i = 0; i < op->nresults && !op->specs; i++) {
		Flow f = {.to = op->results[i]};
		flow_next_to(&f);
		Value *in = f.from;
		if (f.to->type.rank && !flow_renames(&f) && flow_next_to(&f))
			add_edge(g, op, 2, (Value *[]){in, f.from, f.to}, f.to, 0);
	}
}

static bool
has_edges(const Op *op)
{
	return op && op->nbodies && !op_is_composite(op);
}

void
collect_ops(Propagation *g)
{
	Module *m = g->module;
	int n = m->nops;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (has_edges(op))
			n += op->nresults + op->noperands;
	g->ops = NEW_ARRAY(g->arena, OpState, n + 1);
	g->state_of = NEW_ARRAY(g->arena, int, m->nops + 1);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		g->state_of[op->id] = g->nops;
		OpState *o = add_state(g, op, op->noperands, op->nresults);
		for (int i = 0; i < o->ntensors; i++)
			o->tensors[i] = rule_tensor(op, i);
		Op *owner = op->block->parent;
		if (has_edges(owner) && op == owner->bodies[owner->nbodies - 1]->last)
			add_edges(g, owner); /* once its last body ended */
	}
}

/* ---- a carried value that pulls both ways ---------------------------------- */

static void
label_side(const Propagation *g, const Value *v, Range elsewhere, const char *what)
{
	const Module *m = g->module;
	Text t = {0};

	text_printf(&t, "'%s' %s as ", value_source_name(v), what);
	text_placed(&t, &m->mesh, v, &v->placement);
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(&v->placement, d);
		for (int i = 0; i < axes.n; i++) {
			text_add(&t, "; ");
			text_origin(&t, m, v, d, axes.a[i]);
		}
	}
	Range where = v->range.file ? v->range : v->def ? v->def->range : elsewhere;
	if (where.file)
		diag_label(m->session, where, "%s", t.s);
	else
		diag_note(m->session, nowhere, "%s", t.s);
	text_free(&t);
}

void
check_carried(Propagation *g)
{
	const Module *m = g->module;
	Resharder *resharder = NULL;

	for (int i = 0; i < g->nops; i++) {
		const OpState *o = &g->ops[i];
		if (!o->edge || !op_is_loop(o->op))
			continue;
		const Value *next = o->tensors[1], *v = o->tensors[2];
		if (placement_equal(&next->placement, &v->placement))
			continue;
		if (!resharder)
			resharder = resharder_new(g->arena, &m->mesh);
		const ReshardPlan *plan =
			reshard_plan(resharder, &v->type, &next->placement, &v->placement);
		if (plan->bytes <= 0)
			continue;

		/* if every round makes the same of it, it is moved before the loop */
		const Block *body = o->op->bodies[LOOP_BODY];
		bool once = next->block != body
			|| (!next->def && body->last->operands[next->index] == next);
		Text t = {0};
		text_printf(&t, "'%s' is carried by this loop as ", value_source_name(v));
		text_placed(&t, &m->mesh, v, &v->placement);
		text_printf(&t, " and moved there %s (", once ? "once" : "on every trip");
		text_traffic(&t, plan->bytes);
		text_add(&t, ", ");
		text_seconds(&t, plan->seconds);
		text_printf(&t, " on %s)", m->mesh.target->name);
		diag(m->session, DIAG_carried_conflict, o->op->range, "%s", t.s);
		text_free(&t);
		label_side(g, o->tensors[0], o->op->range, "enters");
		label_side(g, next, o->op->range, "is computed");
	}
}
