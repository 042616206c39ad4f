/*
 * remark.c - -Rreshard and --strict: every collective that is
 * inserted, in the words of the source; those that nobody asked for are the
 * errors of --strict.
 *
 *   remark[-Rreshard]: all-gather over Y: h [8@X, 64@Y] -> [8@X, 64]  (12 kB,
 *   1 us on v5e, exposed)
 */
#include <string.h>
#include "ir/factors.h"
#include "shard/partition/partition.h"

enum { MAX_PROPOSALS = 50 }; /* each runs the passes again */

/* The value before it was moved. */
static const Value *
unmoved(const Value *v)
{
	while (v->def && v->def->kind == O_reshard)
		v = v->def->operands[0];
	return v;
}

/* The name the user gave it, else what was written to compute it. */
static const char *
known_name(const Partitioner *p, const Value *v)
{
	const Module *m = p->module;

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			return m->named[i].name;
	return v->def ? v->def->label : value_source_name(v);
}

/* The dim that the axis splits, -1 if none. */
static int
dim_of_axis(const Placement *p, AxisRef axis)
{
	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		if (axes_overlap(&l, axis))
			return d;
	}
	return -1;
}

/* The first op that uses a reshard's result. */
static const Op *
user_of(const Op *reshard)
{
	for (const Op *op = reshard->next; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == reshard->results[0])
				return op;
	return NULL;
}

/* Has the dim, as the user sees it, a factor that is not `good`? */
static bool
needs(Partitioner *p, const Op *user, const Value *moved, int dim,
	bool (*good)(const Factor *f))
{
	const Rule *r = user ? op_rule(p->arena, user) : NULL;

	for (int i = 0; r && i < user->noperands; i++) {
		if (user->operands[i] != moved)
			continue;
		for (int k = 0; k < r->dims[i][dim].n; k++)
			if (!good(&r->factors[r->dims[i][dim].f[k]]))
				return true;
	}
	return false;
}

static void
text_why(Partitioner *p, Text *t, const Op *reshard, const Value *v, AxisRef a)
{
	int dim = dim_of_axis(&v->placement, a);
	const Op *user = user_of(reshard);

	if (dim < 0)
		return;
	text_add(t, t->n ? "; " : "");
	if (!value_origin(v, dim, a) && v->def) {
		text_axis(t, &p->module->mesh, a);
		text_printf(t, ": %s is computed split so, along dim %d", v->def->label, dim);
		return;
	}
	text_origin(t, p->module, v, dim, a);
	if (needs(p, user, reshard->results[0], dim, factor_splittable))
		text_printf(t, "; %s works along dim %d and needs it whole", user->label, dim);
	else if (needs(p, user, reshard->results[0], dim, factor_stays))
		text_printf(t,
			"; %s moves elements along dim %d, where no "
			"exchange of boundary rows moves less",
			user->label, dim);
}

static void
label_why(Partitioner *p, const Op *reshard, const Value *v, const Move *move)
{
	Text t = {0};

	if (ops[move->kind].attrs & AT(combiner))
		text_add(&t, "each device holds a partial result");
	else
		for (int i = 0; i < move->axes.n; i++)
			text_why(p, &t, reshard, v, move->axes.a[i]);
	if (t.n)
		diag_label(p->module->session, reshard->range, "%s", t.s);
	text_free(&t);
}

/* ---- what to write so that a move is not needed ------------------------------ */

/* The value in the program before moves; only one with a name of its own
   can be annotated. */
static const Value *
annotatable(const Partitioner *p, const Value *v)
{
	const Module *m = p->module;

	v = unmoved(v);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v && !strchr(m->named[i].name, '.'))
			return v;
	return NULL;
}

static void
remove_overlap(AxisList *l, const Assignment *factors, int n)
{
	AxisList kept = {0};

	for (int i = 0; i < l->n; i++) {
		bool used = false;
		for (int f = 0; f < n; f++)
			used |= axes_overlap(&factors[f], l->a[i]);
		if (!used)
			axes_append(&kept, l->a[i]);
	}
	*l = kept;
}

typedef struct Proposal {
	const Value *value;
	Placement placement;
	Traffic traffic;
} Proposal;

static void
propose(Partitioner *p, const Value *v, const Placement *to, Proposal *best)
{
	const PartitionOptions *o = p->options;
	const Value *named = annotatable(p, v);
	Traffic t;

	if (!named || placement_equal(&named->placement, to))
		return;
	if (!what_if(o->global_text, o->global_length, named->name, to, &t)
		|| t.bytes >= best->traffic.bytes)
		return;
	*best = (Proposal){named, *to, t};
}

/* Each other operand split as the moved one is. */
static void
propose_siblings(Partitioner *p, const Op *user, const Value *moved, const Placement *from,
	Proposal *best)
{
	const Rule *r = op_rule(p->arena, user);
	int at = 0;

	if (!r)
		return;
	while (user->operands[at] != moved)
		at++;
	Assignment *ours = NEW_ARRAY(p->arena, Assignment, r->nfactors + 1);
	Assignment *theirs = NEW_ARRAY(p->arena, Assignment, r->nfactors + 1);
	tensor_assignment(r, at, from, ours);
	for (int i = 0; i < user->noperands; i++) {
		Placement to, now = user->operands[i]->placement;
		if (i == at)
			continue;
		tensor_assignment(r, i, &now, theirs);
		for (int f = 0; f < r->nfactors; f++) {
			if (ours[f].n)
				theirs[f] = ours[f];
			else
				remove_overlap(&theirs[f], ours, r->nfactors);
		}
		if (factors_place(r, i, theirs, &to, NULL))
			propose(p, user->operands[i], &to, best);
	}
}

/* The partial value's own dims split along the axes of its sum. */
static void
propose_scatter(Partitioner *p, const Value *v, Proposal *best)
{
	AxisList partial = placement_unreduced(&v->placement), none = {0};

	for (int d = 0; d < v->type.rank; d++) {
		Placement to = v->placement;
		AxisList l = placement_dim(&to, d);
		placement_set_unreduced(&to, &none, C_add);
		axes_append_all(&l, &partial);
		placement_set_dim(&to, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			propose(p, v, &to, best);
	}
}

/* On a let, a type that names no axis says nothing about placement. */
static void
text_proposal(Text *t, const Mesh *mesh, const Proposal *proposal)
{
	const Value *v = proposal->value;
	Placement to = proposal->placement;
	bool whole = v->def && !to.nunreduced;

	for (int d = 0; d < v->type.rank; d++)
		whole &= !placement_dim(&to, d).n;
	to.all_replicated |= whole;
	text_printf(t, "avoid it: %s: ", v->name);
	text_placed(t, mesh, v, &to);
}

/* What proposals are held against, worked out when the first is made. */
static bool
traffic_now(Partitioner *p)
{
	const PartitionOptions *o = p->options;

	if (!p->knows_now && o->global_text)
		p->knows_now = what_if(o->global_text, o->global_length, NULL, NULL, &p->now);
	return p->knows_now;
}

/* The best so far is that nothing changes; false if no more are made. */
static bool
begin_proposals(Partitioner *p, Proposal *best)
{
	if (p->proposals++ >= MAX_PROPOSALS || !traffic_now(p))
		return false;
	*best = (Proposal){.traffic = p->now};
	return true;
}

static void
tell_proposal(Partitioner *p, const Proposal *best)
{
	Text t = {0};

	if (!best->value)
		return;
	text_proposal(&t, &p->module->mesh, best);
	text_add(&t, "  (a device then receives ");
	text_traffic(&t, best->traffic.bytes);
	text_add(&t, " in all, now ");
	text_traffic(&t, p->now.bytes);
	text_add(&t, ")");
	diag_line(p->module->session, "%s", t.s);
	text_free(&t);
}

static void
line_avoid(Partitioner *p, const Op *reshard)
{
	const Value *v = reshard->operands[0];
	const Op *user = user_of(reshard);
	Proposal best;

	if (!begin_proposals(p, &best))
		return;
	if (v->placement.nunreduced)
		propose_scatter(p, v, &best);
	else
		propose(p, v, &reshard->results[0]->placement, &best);
	if (user)
		propose_siblings(p, user, reshard->results[0], &v->placement, &best);
	tell_proposal(p, &best);
}

/* Is it told of?  --strict tells only of what nobody asked for. */
static bool
is_reported(const Partitioner *p, const Op *op)
{
	return p->options->remarks || !op->requested;
}

static void
text_rounds(Text *t, const Op *op)
{
	int64_t trips;

	if (!op_trips(op, &trips))
		text_add(t, ", in every round");
	else if (trips != 1)
		text_printf(t, ", %lld times", (long long)trips);
}

/* The end of every remark: what it costs. */
static void
report(Partitioner *p, Text *t, const Op *op, double bytes, double seconds)
{
	bool wrong = p->options->strict && !op->requested;

	text_add(t, "  (");
	text_traffic(t, bytes);
	text_add(t, ", ");
	text_seconds(t, seconds);
	text_printf(t, " on %s, exposed)", p->module->mesh.target->name);
	text_rounds(t, op);
	text_add(t,
		op->requested	? "; asked for"
			: wrong ? "; --strict allows only moves that are asked for"
				: "");
	diag(p->module->session, wrong ? DIAG_unasked_collective : DIAG_reshard, op->range,
		"%s", t->s);
	text_free(t);
}

static void
remark_move(Partitioner *p, const Op *reshard, const Move *move)
{
	const Mesh *mesh = &p->module->mesh;
	const Value *v = unmoved(reshard->operands[0]);
	Text t = {0};

	text_printf(&t, "%s over ", ops[move->kind].hlo);
	text_axes(&t, mesh, &move->axes);
	text_printf(&t, ": %s ", known_name(p, v));
	text_placed(&t, mesh, v, &move->before);
	text_add(&t, " -> ");
	text_placed(&t, mesh, v, &move->after);
	report(p, &t, reshard, move->bytes, move->seconds);
	label_why(p, reshard, v, move);
}

void
remark_reshard(Partitioner *p, const Op *reshard)
{
	const Value *from = reshard->operands[0];
	const ReshardPlan *plan;

	if (!is_reported(p, reshard))
		return;
	plan = reshard_plan(p->resharder, &from->type, &from->placement,
		&reshard->results[0]->placement);
	for (int i = 0; i < plan->n; i++)
		if (plan->moves[i].bytes > 0)
			remark_move(p, reshard, &plan->moves[i]);
	if (plan->bytes > 0)
		line_avoid(p, reshard);
}

/* ---- rows that an op gets as it runs ------------------------------------------ */

static void
label_halo(Partitioner *p, const Op *op, const HaloCost *cost)
{
	const Value *v = op->operands[0];
	Text t = {0};

	for (int i = 0; i < cost->axes.n; i++) {
		int dim = dim_of_axis(&v->placement, cost->axes.a[i]);
		if (dim < 0)
			continue;
		text_add(&t, t.n ? "; " : "");
		text_origin(&t, p->module, unmoved(v), dim, cost->axes.a[i]);
	}
	diag_label(p->module->session, op->range, "%s", t.n ? t.s : op->label);
	text_free(&t);
}

/* The axes of the dim on another dim, or on none. */
static void
propose_elsewhere(Partitioner *p, const Value *v, const AxisList *axes, Proposal *best)
{
	Placement whole = v->placement;

	for (int d = 0; d < v->type.rank; d++) {
		AxisList l = placement_dim(&whole, d);
		remove_overlap(&l, axes, 1);
		placement_set_dim(&whole, d, &l);
	}
	for (int d = 0; d < v->type.rank; d++) {
		Placement to = whole;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, axes);
		placement_set_dim(&to, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			propose(p, v, &to, best);
	}
	propose(p, v, &whole, best);
}

static void
line_avoid_halo(Partitioner *p, const Op *op, const HaloCost *cost)
{
	Proposal best;

	if (!begin_proposals(p, &best))
		return;
	for (int i = 0; i < op->noperands; i++)
		propose_elsewhere(p, op->operands[i], &cost->axes, &best);
	propose_elsewhere(p, op->results[0], &cost->axes, &best);
	tell_proposal(p, &best);
}

HaloCost
op_halo(Partitioner *p, const Op *op)
{
	if (!halo_kind(op->kind))
		return (HaloCost){0};
	Type *shards = NEW_ARRAY(p->arena, Type, op->noperands);
	for (int i = 0; i < op->noperands; i++)
		shards[i] =
			placement_local(&op->operands[i]->type, &op->operands[i]->placement);
	return halo_cost(&p->module->mesh, op, shards, &op->results[0]->placement);
}

void
remark_halo(Partitioner *p, const Op *op)
{
	HaloCost cost = op_halo(p, op);
	const Value *v = op->results[0];
	Text t = {0};

	if (!cost.collectives || !is_reported(p, op))
		return;
	text_add(&t, "collective-permute over ");
	text_axes(&t, &p->module->mesh, &cost.axes);
	text_printf(&t, ": %s of %s -> ", op->label, known_name(p, unmoved(op->operands[0])));
	text_placed(&t, &p->module->mesh, v, &v->placement);
	text_printf(&t, " exchanges %lld row%s, %lld hop%s at most", (long long)cost.rows,
		cost.rows == 1 ? "" : "s", (long long)cost.hops, cost.hops == 1 ? "" : "s");
	report(p, &t, op, cost.bytes, cost.seconds);
	label_halo(p, op, &cost);
	line_avoid_halo(p, op, &cost);
}
