/*
 * sink.c - what moves alike and is only combined is combined first, and moved once.
 *
 *   all_gather(p) + all_gather(q)   becomes   all_gather(p + q)
 *
 * An op is planned when its operands are where propagation put them; where each was moved
 * there for this op alone, from the same place, and moves more in all than the result would,
 * the op is done where they come from.  It is so for any op that is done element by element,
 * where nothing else has to be there: numbers are made where they are wanted.  Sums that are
 * combined are no such moves (together.c, shared.c).
 */
#include "shard/partition/partition.h"

/* Is it moved for one op alone, and not combined? */
static bool
is_plain_move(const Value *v)
{
	return v->uses == 1 && v->def && op_is_move(v->def) && !v->placement.nunreduced
		&& !v->def->operands[0]->placement.nunreduced;
}

/* Where all operands that are moved come from; NULL where they do not come from one place. */
static const Placement *
common_source(const Op *op, double *bytes, Partitioner *p)
{
	const Placement *from = NULL;
	int moves = 0;

	*bytes = 0;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (value_is_literal(v))
			continue;
		if (!is_plain_move(v))
			return NULL;
		const Placement *at = &v->def->operands[0]->placement;
		if (from && !placement_equal(from, at))
			return NULL;
		from = at;
		*bytes += reshard_plan(p->resharder, &v->type, at, &v->placement)->bytes;
		moves++;
	}
	return moves > 1 ? from : NULL;
}

static bool
may_sink(const Op *op)
{
	return op->nresults == 1 && op->noperands > 1 && ops[op->kind].pointwise
		&& !op_is_identity(op) && !op_is_move(op) && op->mode != MODE_explicit
		&& !op->results[0]->annotated && !op->results[0]->placement.nunreduced;
}

/* The uses that ops have of it; the program may have another (an alias). */
static int
uses_behind(const Value *v)
{
	int n = 0;

	for (const Op *op = v->def->next; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			n += op->operands[i] == v;
	return n;
}

static void
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
		op_remove(moved->def);
	}
	move_for_all(p, op->results[0], &at, op->next, why);
}

void
sink_moves(Partitioner *p, Block *b)
{
	double bytes;

	for (Op *op = b->first; op; op = op->next) {
		const Placement *from = may_sink(op) ? common_source(op, &bytes, p) : NULL;
		if (!from || op->results[0]->uses != uses_behind(op->results[0]))
			continue;
		const Value *v = op->results[0];
		const Placement *to = &v->placement;
		if (reshard_plan(p->resharder, &v->type, from, to)->bytes < bytes)
			sink(p, op, from);
	}
}
