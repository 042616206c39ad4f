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

/* Appends the atoms of a set. */
static void
append_set(const Search *s, AxisList *l, uint32_t set)
{
	for (int a = 0; a < s->natoms; a++)
		if (set >> a & 1)
			axes_append(l, s->atoms[a]);
}

/* Appends those that split a dim, but for the first. */
static void
append_atoms(const Search *s, AxisList *l, const State *st, int dim, int first)
{
	for (int i = first; i < st->n[dim]; i++)
		axes_append(l, s->atoms[st->atom[dim][i]]);
}

static Placement
placement_of(const Search *s, const State *st, Combiner combiner)
{
	Placement p = placement_none(s->rank);
	AxisList partial = {0};

	for (int d = 0; d < s->rank; d++) {
		AxisList l = s->prefix[d];
		append_atoms(s, &l, st, d, 0);
		placement_set_dim(&p, d, &l);
	}
	append_set(s, &partial, st->partial);
	placement_set_unreduced(&p, &partial, combiner);
	return p;
}

/*
 * The move that led to a node.  A permute takes the shards of the dims that
 * change, then what only the target uses, and the other way round:
 *
 *   [32@(x,y)] -> [32@(y,x)]    from x,y  axes y,x
 *   [32@x] -> [32@y]            from x,y  axes y,x
 */
static Move
make_move(const Search *s, const Node *n, Combiner combiner)
{
	const State *before = &n->parent->state, *after = &n->state;
	uint32_t used = state_atoms(s, before), next = state_atoms(s, after);
	Move move = {.kind = n->kind, .dim = n->dim, .nexchanges = n->nexchanges};

	move.before = placement_of(s, before, combiner);
	move.after = placement_of(s, after, combiner);
	if (collectives[n->kind].route == ROUTE_pairs) {
		for (int d = 0; d < s->rank; d++) {
			if (before->n[d] == after->n[d]
				&& !memcmp(before->atom[d], after->atom[d], MAX_ATOMS))
				continue;
			append_atoms(s, &move.from, before, d, 0);
			append_atoms(s, &move.axes, after, d, 0);
		}
		append_set(s, &move.from, next & ~used);
		append_set(s, &move.axes, used & ~next);
	} else if (!n->nexchanges && after->n[n->dim] < before->n[n->dim]) {
		append_atoms(s, &move.axes, before, n->dim, after->n[n->dim]);
	} else if (!n->nexchanges) {
		append_set(s, &move.axes, n->group);
	}
	for (int i = 0; i < n->nexchanges; i++) {
		Exchange *e = &move.exchanges[i];
		e->from_dim = n->exchanges[i].from;
		e->to_dim = n->exchanges[i].to;
		append_atoms(s, &e->axes, before, e->from_dim,
			before->n[e->from_dim] - n->exchanges[i].count);
		for (int k = 0; k < e->axes.n; k++)
			move.axes.a[move.axes.n++] = e->axes.a[k];
	}
	return move;
}

/* Appends the moves that lead to a node.  One op can do several that take a
   part, several that make a value partial, and scatters onto one dim. */
static void
plan_append(const Search *s, ReshardPlan *plan, const Node *n, Combiner combiner)
{
	if (!n->parent)
		return;
	plan_append(s, plan, n->parent, combiner);
	Move move = make_move(s, n, combiner);
	Move *last = plan->n ? &plan->moves[plan->n - 1] : NULL;
	if (last && last->kind == move.kind
		&& (!collectives[move.kind].turns
			|| (move.kind == O_reduce_scatter && last->dim == move.dim))) {
		axes_append_all(&last->axes, &move.axes);
		last->after = move.after;
	} else {
		plan->moves[plan->n++] = move;
	}
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
resharder_new(Arena *a, const Mesh *mesh)
{
	Resharder *r = NEW(a, Resharder);

	*r = (Resharder){a, mesh, lookup_new(a)};
	return r;
}

/* Appends the moves between two placements whose axes can be cut alike. */
static void
plan_between(Resharder *r, ReshardPlan *plan, const Type *global, const Placement *from,
	const Placement *to)
{
	Arena *scratch = arena_new();
	Search s = {.arena = scratch, .mesh = r->mesh, .type = global};
	Combiner combiner =
		from->nunreduced ? (Combiner)from->combiner : (Combiner)to->combiner;
	int first = plan->n;

	reshard_atoms(&s, from, to);
	State start = reshard_state(&s, from);
	const Node *found = reshard_path(&s, &start);
	Move *moves = NEW_ARRAY(r->arena, Move, first + found->moves);
	if (first)
		memcpy(moves, plan->moves, sizeof *moves * (size_t)first);
	plan->moves = moves;
	plan_append(&s, plan, found, combiner);

	for (int i = first; i < plan->n; i++) {
		Move *move = &plan->moves[i];
		Type local = placement_local(global, &move->before);
		double bytes = (double)type_bytes(&local);
		bool collective = collectives[move->kind].turns != 0;
		move->bytes = wire_bytes(move->kind, axes_size(&move->axes), bytes);
		if (collective)
			move->seconds = transfer_cost(r->mesh, move->kind, &move->axes,
				move->from.n ? &move->from : NULL, NULL, bytes)
						.seconds;
		plan->bytes += move->bytes;
		plan->seconds += move->seconds;
		plan->collectives += collective;
	}
	arena_free(scratch);
}

/*
 * Two placements that cannot be cut into common atoms, or whose partial sums
 * combine differently, are planned in two parts.  Leaves in `out` the way point
 * by `p`, one of the two, without what does not fit the other; false where none
 * is needed.  Of an axis of 6:
 *
 *   [24@x:(1)2] -> [24@x:(1)3]    by way of [24]
 */
static bool
way_point(const Mesh *mesh, const Placement *from, const Placement *to, const Placement *p,
	Placement *out)
{
	bool needed = from->nunreduced && to->nunreduced && from->combiner != to->combiner;
	AxisList none = {0};

	*out = *p;
	if (needed)
		placement_set_unreduced(out, &none, C_add);
	for (int axis = 0; axis < mesh->naxes; axis++) {
		if (axis_cuts_nest(axis, from, to))
			continue;
		needed = true;
		for (int d = 0; d <= out->rank; d++) {
			AxisList all = placement_axes(out, d), kept = {0};
			for (int i = 0; i < all.n; i++)
				if (all.a[i].axis != axis)
					axes_append(&kept, all.a[i]);
			if (d < out->rank)
				placement_set_dim(out, d, &kept);
			else
				placement_set_unreduced(out, &kept, (Combiner)out->combiner);
		}
	}
	return needed;
}

/* Where a way point is needed, that near either end which moves less. */
static ReshardPlan *
plan_new(Resharder *r, const Type *global, const Placement *from, const Placement *to)
{
	const Placement *ends[2] = {to, from};
	ReshardPlan *best = NULL;

	for (int i = 0; i < 2; i++) {
		ReshardPlan *plan = NEW(r->arena, ReshardPlan);
		Placement between;
		if (!way_point(r->mesh, from, to, ends[i], &between)) {
			plan_between(r, plan, global, from, to);
			return plan;
		}
		plan_between(r, plan, global, from, &between);
		plan_between(r, plan, global, &between, to);
		if (!best || plan->bytes < best->bytes)
			best = plan;
	}
	return best;
}

static uint64_t
hash_placement(uint64_t h, const Placement *p)
{
	for (int d = 0; d <= p->rank; d++) {
		AxisList l = placement_axes(p, d);
		for (int i = 0; i < l.n; i++) {
			h = hash_mix(h, (int64_t)l.a[i].axis << 32 | l.a[i].pre);
			h = hash_mix(h, l.a[i].size);
		}
		h = hash_mix(h, -1);
	}
	return h;
}

static bool
same_entry(const void *item, const void *key)
{
	const Entry *e = item, *wanted = key;

	return type_equal(&e->type, &wanted->type) && placement_equal(&e->from, &wanted->from)
		&& placement_equal(&e->to, &wanted->to);
}

const ReshardPlan *
reshard_plan(Resharder *r, const Type *global, const Placement *from, const Placement *to)
{
	static const ReshardPlan nothing;
	uint64_t hash = global->dtype;

	if (placement_equal(from, to))
		return &nothing;
	Entry key = {*global, placement_moving(*from), placement_moving(*to), NULL};
	for (int d = 0; d < global->rank; d++)
		hash = hash_mix(hash, global->dims[d]);
	hash = hash_placement(hash_placement(hash, &key.from), &key.to);
	Entry *e = lookup_find(r->entries, hash, same_entry, &key);
	if (!e) {
		e = arena_copy(r->arena, &key, sizeof key);
		e->plan = plan_new(r, global, &e->from, &e->to);
		lookup_add(r->entries, hash, e);
	}
	return e->plan;
}
