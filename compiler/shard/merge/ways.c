/*
 * ways.c - which values stay by themselves, for their users want them in different
 * ways.
 *
 *   h = dot(x, w)        parts of a sum           m = dot(x, w)
 *   s = h + p            one sum of both          t = m + q       of both
 *
 * With one value for both, h would be settled before it is added.  Where one user needs
 * it whole, as relu(m) does, it is settled anyway, and once for all.
 */
#include "ir/factors.h"
#include "ir/partial.h"
#include "shard/merge/merge.h"
#include "shard/partition/partition.h"

/* What users want of a value, other than as propagation placed it. */
typedef struct Ways {
	bool drawn; /* it is placed as its only user asks (partition/ops.c), */
	bool away;  /* ... elsewhere */
	int users;
	bool settled; /* of a sum: some user is no better off with parts of it */
} Ways;

typedef struct Finder {
	Merger *merger;
	RuleBook *rules;
	Arena *scratch; /* of one op */
	const Facts *parts;
	Ways *ways; /* by value id */
} Finder;

/* ---- parts of sums --------------------------------------------------------------- */

static Facts
parts_of(const Placement *placement)
{
	return placement->nunreduced ? (Facts)1 << placement->combiner : 0;
}

/* The combiners of which it may be given on as parts. */
static Facts
parts_through(const Op *op, int operand, Facts parts)
{
	Facts through = 0;

	for (int c = 0; c < COMBINER_COUNT; c++)
		if (parts >> c & 1 && partial_through(op, operand, (Combiner)c) != THROUGH_no)
			through |= (Facts)1 << c;
	return through;
}

/* Is a dim split that the op combines elements of? */
static bool
makes_parts(const Finder *fd, const Op *op, const Rule *r)
{
	bool reduces = false, split = false;

	for (int f = 0; f < r->nfactors; f++)
		reduces |= r->factors[f].kind == F_reduce;
	if (!reduces)
		return false;
	Assignment *factors = NEW_ARRAY(fd->scratch, Assignment, r->nfactors);
	for (int i = 0; i < op->noperands; i++) {
		tensor_assignment(r, i, &op->operands[i]->placement, factors);
		for (int f = 0; f < r->nfactors; f++)
			split |= r->factors[f].kind == F_reduce && factors[f].n;
	}
	arena_reset(fd->scratch);
	return split;
}

/* A bit for each combiner of which the results may be parts. */
static void
find_parts_of(Dataflow *d, const Op *op)
{
	const Finder *fd = d->data;
	const Rule *r = rule_book_get(fd->rules, op);
	bool plain = r && !op_is_identity(op);
	Facts parts = plain && makes_parts(fd, op, r) ? (Facts)1 << r->combiner : 0;

	for (int i = 0; plain && i < op->noperands; i++)
		parts |= parts_through(op, i, d->of[op->operands[i]->id]);
	for (int i = 0; i < op->nresults; i++)
		dataflow_add(d, op->results[i], parts | parts_of(&op->results[i]->placement));
}

static const Facts *
find_parts(Finder *fd)
{
	const Merger *mg = fd->merger;
	Module *m = mg->module;
	Dataflow d = {.op = find_parts_of, .data = fd};

	d.of = NEW_ARRAY(mg->arena, Facts, m->nvalues + 1);
	for (int i = 0; i < m->nvalues; i++)
		d.of[i] = parts_of(&mg->values[i]->placement);
	dataflow_solve(&d, mg->arena, m->entry);
	return d.of;
}

/* ---- users ------------------------------------------------------------------------- */

/* Can all tensors of the op be where they are, with these axes on its factors? */
static bool
all_placed(const Rule *r, const Op *op, const Assignment *factors)
{
	Placement to;

	for (int t = 0; t < r->ntensors; t++) {
		const Value *v = rule_tensor(op, t);
		if (!value_is_literal(v)
			&& !(factors_place(r, t, factors, &to, NULL)
				&& placement_equal(&to, &v->placement)))
			return false;
	}
	return true;
}

/* Does the op run where its operands and result are?  It may get rows as it runs. */
static bool
stays_put(const Finder *fd, const Op *op)
{
	const Rule *r = rule_book_get(fd->rules, op);

	if (!r)
		return false;
	Assignment *all = NEW_ARRAY(fd->scratch, Assignment, r->nfactors + 1);
	Assignment *own = NEW_ARRAY(fd->scratch, Assignment, r->nfactors + 1);
	bool stays = true;
	for (int t = 0; t < r->ntensors; t++) {
		tensor_assignment(r, t, &rule_tensor(op, t)->placement, own);
		for (int f = 0; f < r->nfactors; f++) {
			stays &= !own[f].n || r->factors[f].kind != F_replicate;
			if (!all[f].n && (t >= r->noperands || r->factors[f].kind == F_reduce))
				all[f] = own[f];
		}
	}
	stays = stays && all_placed(r, op, all);
	arena_reset(fd->scratch);
	return stays;
}

/* Does what is returned from a body belong elsewhere? */
static bool
returned_elsewhere(const Op *user, int operand)
{
	for (Flow f = {.user = user, .operand = operand}; flow_next_from(&f);)
		if (!placement_equal(&f.from->placement, &f.to->placement))
			return true;
	return false;
}

/* Of a product that has parts of two sums one is combined before it. */
static bool
go_together(const Op *op, int operand, Facts parts)
{
	for (int c = 0; c < COMBINER_COUNT; c++)
		if (parts >> c & 1
			&& partial_through(op, operand, (Combiner)c) == THROUGH_together)
			return true;
	return false;
}

/*
 * Is a sum of which the op takes parts combined for less, or for nothing?  If it is
 * added to other sums, if what the op makes of it is smaller, if a body returns it (a
 * loop may add it up), or if parts are asked for; else if that holds of what the op
 * makes of it.
 */
static bool
gains_by_parts(const Finder *fd, const Op *user, int operand)
{
	const Value *v = user->operands[operand], *to = user->results ? user->results[0] : NULL;
	Facts parts = fd->parts[v->id];

	if (user->kind == O_return)
		return parts != 0;
	if (op_is_identity(user))
		return parts & parts_of(&to->placement);
	parts = user->nbodies ? 0 : parts_through(user, operand, parts);
	if (!parts)
		return false;
	for (int i = 0; i < user->noperands; i++) {
		Facts others = parts_through(user, i, fd->parts[user->operands[i]->id]) & parts;
		if (i != operand && others)
			return go_together(user, operand, others);
	}
	if (type_bytes(&to->type) < type_bytes(&v->type))
		return true;
	return fd->ways[to->id].users == 1 && !fd->ways[to->id].settled;
}

static void
find_ways_of(Finder *fd, const Op *user, int operand)
{
	const Value *v = user->operands[operand], *to = user->results ? user->results[0] : NULL;
	Ways *w = &fd->ways[v->id];

	w->users++;
	w->settled |= !gains_by_parts(fd, user, operand);

	if (op_is_identity(user)) {
		w->drawn = true;
		w->away |= !placement_equal(&v->placement, &to->placement);
	} else if (user->kind == O_return) {
		w->drawn = true;
		w->away |= returned_elsewhere(user, operand);
	} else if (!user->nbodies) {
		bool with = (user->kind == O_transpose || user->kind == O_convert)
			&& fd->ways[to->id].drawn;
		w->drawn |= with;
		w->away |= with && (fd->ways[to->id].away || !stays_put(fd, user));
	}
}

/* Users first. */
static void
find_ways(Finder *fd, const Block *b)
{
	for (const Op *op = b->last; op; op = op->prev) {
		bool needed = !op->nresults;
		for (int i = 0; i < op->nresults; i++)
			needed |= fd->merger->needed[op->results[i]->id];
		for (int i = 0; i < op->noperands && needed; i++)
			find_ways_of(fd, op, i);
		for (int i = 0; i < op->nbodies; i++)
			find_ways(fd, op->bodies[i]);
	}
}

/* It is drawn elsewhere, or something moves for it, before or after it is computed; of
   what is drawn in, where it is summed up, too: that is asked for. */
static bool
goes_own_way(const Finder *fd, const Value *v)
{
	const Ways *w = &fd->ways[v->id];
	const Op *maker = v->def;
	bool parts = false;

	if (w->away)
		return true;
	if (!maker || maker->nbodies || op_is_identity(maker))
		return false;
	for (int i = 0; i < maker->noperands && w->drawn; i++)
		parts |= fd->parts[maker->operands[i]->id] != 0;
	return parts || !stays_put(fd, maker);
}

void
find_own_ways(Merger *mg)
{
	Finder fd = {.merger = mg,
		.rules = module_precedents(mg->module)->rules,
		.scratch = arena_new()};

	fd.parts = find_parts(&fd);
	fd.ways = NEW_ARRAY(mg->arena, Ways, mg->module->nvalues + 1);
	find_ways(&fd, mg->module->entry);
	for (int i = 0; i < mg->module->nvalues; i++)
		fd.ways[mg->first[i]->id].settled |= fd.ways[i].settled;
	for (int i = 0; i < mg->module->nvalues; i++) {
		const Value *first = mg->first[i];
		bool parts = !mg->once && fd.parts[i] && fd.ways[i].users
			&& !fd.ways[first->id].settled;
		mg->own[first->id] |= parts || goes_own_way(&fd, mg->values[i]);
	}
	arena_free(fd.scratch);
}
