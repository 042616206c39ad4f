/*
 * sink.c - what moves alike and is only combined is combined first, and moved once.
 *
 *   all_gather(p) + all_gather(q)   becomes   all_gather(p + q)
 *
 * An op is planned when its operands are where propagation put them; where each was moved
 * there for this op alone, from the same place, and moves more in all than the result would,
 * the op is done where they come from.  It is so for any op that is done element by element,
 * where nothing else has to be there: numbers are made where they are wanted.  A sum is
 * scattered there, where it was combined for that op:
 *
 *   all_gather(p) + all_reduce(q)   becomes   all_gather(p + reduce_scatter(q))
 *
 * Sums alone are no such moves (together.c, shared.c).
 */
#include "shard/partition/chain.h"

/* Is it moved for one op alone, what is whole or the parts of a sum? */
static bool
is_moved_once(const Value *v)
{
	return v->uses == 1 && v->def && op_is_move(v->def) && !v->placement.nunreduced;
}

static const Placement *
moved_from(const Value *v)
{
	return &v->def->operands[0]->placement;
}

/* Where the operands that are moved whole come from; NULL where they do not come from one
   place. */
static const Placement *
common_source(const Op *op)
{
	const Placement *from = NULL;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (value_is_literal(v))
			continue;
		if (!is_moved_once(v))
			return NULL;
		const Placement *at = moved_from(v);
		if (from && !at->nunreduced && !placement_equal(from, at))
			return NULL;
		from = at->nunreduced ? from : at;
	}
	return from;
}

/* A sum is scattered where the others come from. */
static bool
all_get_there(const Op *op, const Placement *from)
{
	bool scattered;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (!value_is_literal(v) && moved_from(v)->nunreduced
			&& !combines_into(moved_from(v), from, &scattered))
			return false;
	}
	return true;
}

/* What moves less if the operands are moved there, and the result from there. */
static double
bytes_spared(Partitioner *p, const Op *op, const Placement *from)
{
	const Value *result = op->results[0];
	double bytes = -bytes_between(p, result, from, &result->placement);

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (!value_is_literal(v))
			bytes += bytes_between(p, v, moved_from(v), &v->placement)
				- bytes_between(p, v, moved_from(v), from);
	}
	return bytes;
}

static bool
may_sink(const Op *op)
{
	return op->nresults == 1 && op->noperands > 1 && ops[op->kind].pointwise
		&& !op_is_identity(op) && !op_is_move(op) && op->mode != MODE_explicit
		&& !op->results[0]->annotated && !op->results[0]->placement.nunreduced;
}

static bool
is_value(const void *item, const void *key)
{
	return item == key;
}

static bool
is_moved_from(const void *moved, const void *value)
{
	return ((const Value *)moved)->def->operands[0] == value;
}

/* What was moved behind an op is taken where it was wanted. */
static void
take_moved(const Lookup *moved, Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		Value *to = lookup_find(moved, value_hash(v), is_moved_from, v);
		if (to && to->def != op)
			op->operands[i] = to;
	}
}

/* The result, moved to where it was. */
static Value *
sink(Partitioner *p, Op *op, const Placement *from)
{
	Placement at = *from;
	Reason why = {op->label, op->range, false};

	for (int i = 0; i < op->noperands; i++) {
		Value *moved = op->operands[i];
		if (value_is_literal(moved)) {
			op->operands[i] = recompute(moved, &at, op);
			continue;
		}
		why = (Reason){moved->def->label, moved->def->range,
			why.requested || moved->def->requested};
		op->operands[i] = moved->def->operands[0];
		if (op->operands[i]->placement.nunreduced) {
			op->operands[i] =
				insert_reshard(p, op->operands[i], &at, moved->def, why);
			op->operands[i]->uses = 1;
		}
		op_remove(moved->def);
	}
	return move_behind(p, op->results[0], &at, op->next, why);
}

void
sink_moves(Partitioner *p, Block *b)
{
	Lookup *moved = lookup_new(p->scratch);

	for (Op *op = b->first; op; op = op->next) {
		take_moved(moved, op);
		const Placement *from = may_sink(op) ? common_source(op) : NULL;
		Value *v = op->nresults ? op->results[0] : NULL;
		if (from && !lookup_find(p->asked, value_hash(v), is_value, v)
			&& all_get_there(op, from) && bytes_spared(p, op, from) > 0)
			lookup_add(moved, value_hash(v), sink(p, op, from));
	}
	arena_reset(p->scratch);
}
