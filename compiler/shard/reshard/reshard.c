/*
 * reshard.c - the cheapest sequence of slice, collective-permute, all-to-all,
 * all-gather, all-reduce and reduce-scatter between any two placements.
 *
 * What differs between the placements is cut into atoms: pieces of mesh axes
 * on whose boundaries both agree.  A state says, for each dim, which atoms
 * split it (major to minor), and which atoms hold partial sums; the others are
 * free.  Dijkstra's search over states finds the plan of fewest bytes; ties go
 * to fewer collectives, then to fewer moves, then to the order in which
 * Shardy tries the kinds: slice, permute, all-to-all, all-gather.
 *
 *   [x] -> [y]         permute
 *   [x,-] -> [-,x]     all-to-all
 *   [x,y] -> [y]       permute to [y,x], gather x
 *
 * Gathering what differs and slicing is one of the paths searched, so no plan
 * moves more than that.  Plans are kept by pair of placements.
 */
#include <string.h>
#include "shard/reshard/reshard.h"

/* ---- from the path to moves ---------------------------------------------- */

static Placement
placement_of(const Search *s, const State *st, Combiner combiner)
{
	Placement p = placement_none(s->rank);
	AxisList partial = {0};

	for (int d = 0; d < s->rank; d++) {
		AxisList l = s->prefix[d];
		for (int i = 0; i < st->n[d]; i++)
			axes_append(&l, s->atoms[st->atom[d][i]]);
		placement_set_dim(&p, d, &l);
	}
	for (int a = 0; a < s->natoms; a++)
		if (st->partial >> a & 1)
			axes_append(&partial, s->atoms[a]);
	placement_set_unreduced(&p, &partial, combiner);
	return p;
}

static void
append_atoms(const Search *s, AxisList *l, const State *st, int dim, int from)
{
	for (int i = from; i < st->n[dim]; i++)
		axes_append(l, s->atoms[st->atom[dim][i]]);
}

/* Appends the atoms that split a tensor in `st` but not in `other`. */
static void
append_missing(const Search *s, AxisList *l, const State *st, const State *other)
{
	uint32_t missing = state_atoms(s, st) & ~state_atoms(s, other);

	for (int a = 0; a < s->natoms; a++)
		if (missing >> a & 1)
			axes_append(l, s->atoms[a]);
}

/* Shards before, then what only the target uses; and the other way round. */
static void
permute_move(const Search *s, Move *move, const State *before, const State *after)
{
	for (int d = 0; d < s->rank; d++) {
		if (before->n[d] == after->n[d]
			&& !memcmp(before->atom[d], after->atom[d], MAX_ATOMS))
			continue;
		append_atoms(s, &move->from, before, d, 0);
		append_atoms(s, &move->axes, after, d, 0);
	}
	append_missing(s, &move->from, after, before);
	append_missing(s, &move->axes, before, after);
}

static void
exchange_move(const Search *s, Move *move, const Node *n, const State *before)
{
	move->nexchanges = n->nexchanges;
	for (int i = 0; i < n->nexchanges; i++) {
		Exchange *e = &move->exchanges[i];
		e->from_dim = n->exchanges[i].from;
		e->to_dim = n->exchanges[i].to;
		append_atoms(s, &e->axes, before, e->from_dim,
			before->n[e->from_dim] - n->exchanges[i].count);
		for (int k = 0; k < e->axes.n; k++)
			move->axes.a[move->axes.n++] = e->axes.a[k];
	}
}

static void
group_move(const Search *s, Move *move, uint32_t group)
{
	for (int a = 0; a < s->natoms; a++)
		if (group >> a & 1)
			axes_append(&move->axes, s->atoms[a]);
}

static Move
make_move(const Search *s, const Node *n, Combiner combiner)
{
	const State *before = &s->nodes[n->parent].state;
	Move move = {.kind = n->kind, .dim = n->dim};

	move.before = placement_of(s, before, combiner);
	move.after = placement_of(s, &n->state, combiner);
	if (n->kind == O_collective_permute)
		permute_move(s, &move, before, &n->state);
	else if (n->kind == O_all_to_all)
		exchange_move(s, &move, n, before);
	else if (n->kind == O_all_gather)
		append_atoms(s, &move.axes, before, n->dim, n->state.n[n->dim]);
	else
		group_move(s, &move, n->group);
	return move;
}

/* Steps that one op can do: slices, and scatters onto one dim. */
static bool
move_merge(Move *last, const Move *next)
{
	if (last->kind != next->kind)
		return false;
	if (next->kind == O_reduce_scatter && last->dim != next->dim)
		return false;
	if (next->kind != O_dynamic_slice && next->kind != O_select
		&& next->kind != O_reduce_scatter)
		return false;
	axes_append_all(&last->axes, &next->axes);
	last->after = next->after;
	return true;
}

static void
move_price(const Search *s, Move *move)
{
	Type local = placement_local(s->type, &move->before);
	double bytes = (double)type_bytes(&local);

	move->bytes = wire_bytes(move->kind, axes_size(&move->axes), bytes);
	if (collectives[move->kind].turns)
		move->seconds = collective_seconds(s->mesh, move->kind, &move->axes, bytes);
}

/* Room for the moves that lead to a node, behind those there are. */
static void
plan_make_room(Arena *a, ReshardPlan *plan, const Node *n)
{
	Move *moves = NEW_ARRAY(a, Move, plan->n + n->moves);

	if (plan->n)
		memcpy(moves, plan->moves, sizeof *moves * (size_t)plan->n);
	plan->moves = moves;
}

static void
plan_append(const Search *s, ReshardPlan *plan, int node, Combiner combiner)
{
	const Node *n = &s->nodes[node];

	if (n->parent < 0)
		return;
	plan_append(s, plan, n->parent, combiner);
	Move move = make_move(s, n, combiner);
	if (plan->n && move_merge(&plan->moves[plan->n - 1], &move))
		return;
	plan->moves[plan->n++] = move;
}

/* ---- plans --------------------------------------------------------------- */

/* A plan that was made, in a table by hash. */
typedef struct Entry {
	Type type;
	Placement from, to;
	ReshardPlan *plan;
} Entry;

struct Resharder {
	Arena *arena;
	const Mesh *mesh;
	Lookup *entries;
};

Resharder *
resharder_new(Arena *a, const Mesh *m)
{
	Resharder *r = NEW(a, Resharder);

	r->arena = a;
	r->mesh = m;
	r->entries = lookup_new(a);
	return r;
}

static void
plan_between(Resharder *r, ReshardPlan *plan, const Type *global, const Placement *from,
	const Placement *to)
{
	Arena *scratch = arena_new();
	Search s = {.arena = scratch, .mesh = r->mesh, .type = global};
	Combiner combiner =
		from->nunreduced ? (Combiner)from->combiner : (Combiner)to->combiner;
	int first = plan->n, found;

	reshard_atoms(&s, from, to);
	State start = reshard_state(&s, from);
	found = reshard_search(&s, &start);
	if (found < 0) {
		s.directed = true;
		found = reshard_search(&s, &start);
	}
	plan_make_room(r->arena, plan, &s.nodes[found]);
	plan_append(&s, plan, found, combiner);
	for (int i = first; i < plan->n; i++)
		move_price(&s, &plan->moves[i]);
	arena_free(scratch);
}

static void
drop_axis(AxisList *l, int axis)
{
	AxisList kept = {0};

	for (int i = 0; i < l->n; i++)
		if (l->a[i].axis != axis)
			axes_append(&kept, l->a[i]);
	*l = kept;
}

static void
placement_drop_axis(Placement *p, int axis)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		drop_axis(&l, axis);
		placement_set_dim(p, d, &l);
	}
	drop_axis(&unreduced, axis);
	placement_set_unreduced(p, &unreduced, (Combiner)p->combiner);
}

/*
 * Two placements that cannot be cut into common atoms (pieces of 2 and of 3
 * of one axis of 6), or whose partial sums combine differently, are planned in
 * two parts.  Leaves in `out` the way point by `p`, one of the two, without
 * what does not fit the other; false where none is needed.
 */
static bool
way_point(const Mesh *m, const Placement *from, const Placement *to, const Placement *p,
	Placement *out)
{
	bool needed = from->nunreduced && to->nunreduced && from->combiner != to->combiner;
	AxisList none = {0};

	*out = *p;
	if (needed)
		placement_set_unreduced(out, &none, C_add);
	for (int axis = 0; axis < m->naxes; axis++) {
		if (axis_cuts_nest(axis, from, to))
			continue;
		needed = true;
		placement_drop_axis(out, axis);
	}
	return needed;
}

static void
plan_total(ReshardPlan *plan)
{
	for (int i = 0; i < plan->n; i++) {
		plan->bytes += plan->moves[i].bytes;
		plan->seconds += plan->moves[i].seconds;
		plan->collectives += collectives[plan->moves[i].kind].turns > 0;
	}
}

static uint64_t
hash_axes(uint64_t h, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		h = hash_mix(h, (int64_t)l->a[i].axis << 32 | l->a[i].pre);
		h = hash_mix(h, l->a[i].size);
	}
	return hash_mix(h, -1);
}

static uint64_t
hash_placement(uint64_t h, const Placement *p)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		h = hash_axes(h, &l);
	}
	return hash_axes(h, &unreduced);
}

static uint64_t
hash_of(const Entry *e)
{
	uint64_t h = e->type.dtype;

	for (int d = 0; d < e->type.rank; d++)
		h = hash_mix(h, e->type.dims[d]);
	return hash_placement(hash_placement(h, &e->from), &e->to);
}

static bool
same_entry(const void *item, const void *key)
{
	const Entry *a = item, *b = key;

	return type_equal(&a->type, &b->type) && placement_equal(&a->from, &b->from)
		&& placement_equal(&a->to, &b->to);
}

/* Through a way point near either end, whichever moves less. */
static ReshardPlan *
plan_through(Resharder *r, const Type *global, const Placement *from, const Placement *to)
{
	const Placement *ends[2] = {to, from};
	ReshardPlan *best = NULL;

	for (int i = 0; i < 2; i++) {
		ReshardPlan *plan = NEW(r->arena, ReshardPlan);
		Placement between;
		way_point(r->mesh, from, to, ends[i], &between);
		plan_between(r, plan, global, from, &between);
		plan_between(r, plan, global, &between, to);
		plan_total(plan);
		if (!best || plan->bytes < best->bytes)
			best = plan;
	}
	return best;
}

static ReshardPlan *
plan_new(Resharder *r, const Type *global, const Placement *from, const Placement *to)
{
	ReshardPlan *plan;
	Placement between;

	if (way_point(r->mesh, from, to, to, &between))
		return plan_through(r, global, from, to);
	plan = NEW(r->arena, ReshardPlan);
	plan_between(r, plan, global, from, to);
	plan_total(plan);
	return plan;
}

const ReshardPlan *
reshard_plan(Resharder *r, const Type *global, const Placement *from, const Placement *to)
{
	static const ReshardPlan nothing;

	if (placement_equal(from, to))
		return &nothing;
	Entry key = {*global, placement_moving(*from), placement_moving(*to), NULL};
	uint64_t hash = hash_of(&key);
	Entry *e = lookup_find(r->entries, hash, same_entry, &key);
	if (!e) {
		e = arena_copy(r->arena, &key, sizeof key);
		e->plan = plan_new(r, global, &e->from, &e->to);
		lookup_add(r->entries, hash, e);
	}
	return e->plan;
}
