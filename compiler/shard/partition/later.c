/*
 * later.c - partial sums that will be combined once, behind a loop (accumulate.c).
 *
 *   for r in x { a = a + dot(r, g(r)); }     r [64@X, D]: each dot is a sum over X
 *
 * By itself the dot of a round with few rows does better with its operands gathered than
 * with an all-reduce of its own.  But one all-reduce is enough for all rounds, so its part
 * of that is all that the dot is charged.  What is only added to a carried value, and to
 * nothing else, is known from the text; whether the sums of a plan are such that
 * accumulate.c takes them, and has room for what is whole until then, from where they are.
 */
#include <math.h>
#include "shard/partition/partition.h"

enum { UNKNOWN_TRIPS = 8 }; /* of a loop of which that is not known */

/* ---- the text ------------------------------------------------------------------- */

/* Is v what the body began with, but for what is combined with it, or written into it? */
static bool
leads_back(const Block *b, const Value *start, const Value *v, Combiner combiner)
{
	const Op *op = v->def;

	if (v->uses != 1 || v->block != b)
		return false;
	if (!op || v == start)
		return v == start;
	if (combines(op, combiner))
		return leads_back(b, start, op->operands[1], combiner)
			|| leads_back(b, start, op->operands[0], combiner);
	if (op_is_identity(op) || op->kind == O_dynamic_update_slice
		|| op->kind == O_scatter_add)
		return leads_back(b, start, op->operands[0], combiner);
	return op_is_loop(op) && leads_back(b, start, op->operands[v->index], combiner);
}

/* Is it a sum of its own, or made of one by what hands on parts? */
static bool
is_made_of_sums(Partitioner *p, const Value *v, Combiner combiner)
{
	const Op *op = v->def;
	Combiner own;

	if (!op || v->uses != 1 || value_is_literal(v))
		return false;
	if (op_is_loop(op)) /* mark_loop() looks at that */
		return true;
	if (makes_sums(p, op, &own))
		return own == combiner;
	for (int k = 0; k < op->noperands && k < 2 && op->nresults == 1; k++)
		if ((op_is_identity(op) || combines(op, combiner)
			    || hands_on_parts(p, op, k, combiner))
			&& is_made_of_sums(p, op->operands[k], combiner))
			return true;
	return false;
}

static void mark_loop(Partitioner *p, const Op *loop, int result, const Later *outer);

/* Where it was written to be, it is combined. */
static Later
through_identity(const Op *op, const Later *later)
{
	Later l = *later;

	l.splits &= !op_is_move(op) && !asks_for_place(op->results[0]);
	return l;
}

static void mark_added(Partitioner *p, const Value *v, const Later *later, bool here);

/* What is handed on is combined as what is made of it: a larger float, a number that is
   spread over a tensor. */
static void
mark_operand(Partitioner *p, const Op *op, const Later *later, bool here)
{
	for (int k = 0; k < op->noperands && k < 2; k++) {
		const Value *v = op->operands[k];
		bool alone = op->noperands == 1 || value_is_literal(op->operands[1 - k]);
		Later l = *later;
		if (!hands_on_parts(p, op, k, l.combiner) || !is_made_of_sums(p, v, l.combiner))
			continue;
		l.rounds *= (double)type_bytes(&v->type)
			/ (double)type_bytes(&op->results[0]->type);
		if (l.rounds > 1)
			mark_added(p, v, &l, here && alone && ops[op->kind].pointwise);
		return;
	}
}

/* What is added, and what that is made of; what a round does not change is summed before
   the loop.  `here`: may it be combined further split than it is by itself, before what
   hands it on? */
static void
mark_added(Partitioner *p, const Value *v, const Later *later, bool here)
{
	Source *s = source_of(p, v);
	const Op *op = v->def;

	if (v->uses != 1 || !op || loops_changing(p, v) < loops_around(v->block))
		return;
	s->later = arena_copy(p->arena, later, sizeof *later);
	s->later_here = here;
	if (op_is_loop(op)) {
		mark_loop(p, op, v->index, s->later);
	} else if (op_is_identity(op)) {
		Later before = through_identity(op, later);
		mark_added(p, op->operands[0], &before, here);
	} else {
		mark_operand(p, op, later, here);
	}
}

/* Of a slice that is written in its place a sum behind the loop is one of all the stack. */
static void
mark_slice(Partitioner *p, const Op *op, const Op *loop, const Value *carried,
	const Later *later)
{
	Later l = *later;

	l.rounds *= (double)type_elements(&op->operands[1]->type)
		/ (double)type_elements(&op->operands[0]->type);
	l.splits &= shares_one_sum(p, loop, carried->index);
	if (l.rounds > 1)
		mark_added(p, op->operands[1], &l, true);
}

/* The way back from v to what the body began with, and all that is added on it. */
static void
mark_chain(Partitioner *p, const Op *loop, const Value *v, const Later *later)
{
	const Value *start = later->carried;
	Later before = *later;

	source_of(p, start)->later = later;
	while (v != start) {
		const Op *op = v->def;
		Source *s = source_of(p, v);
		int next = op_is_loop(op) ? v->index : 0;
		s->later = arena_copy(p->arena, &before, sizeof before);
		s->later_here = true;
		if (combines(op, before.combiner)) {
			next = leads_back(loop->bodies[LOOP_BODY], start, op->operands[1],
				before.combiner);
			mark_added(p, op->operands[1 - next], &before, true);
			if (!source_of(p, op->operands[1 - next])->later)
				s->later = NULL;
		} else if (op_is_identity(op)) {
			before = through_identity(op, &before);
		} else if (op->kind == O_dynamic_update_slice) {
			mark_slice(p, op, loop, start, &before);
		} else if (op_is_loop(op)) {
			mark_loop(p, op, v->index, s->later);
		}
		v = op->operands[next];
	}
}

/* If it is only added to, round for round.  `outer` is what becomes of its result. */
static void
mark_loop(Partitioner *p, const Op *loop, int result, const Later *outer)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *start = body->params[result], *next = body->last->operands[result];
	Later l = outer ? *outer : (Later){.rounds = 1, .splits = true};
	bool known = op_ints(loop, A_trips)->n > 0;

	l.rounds *= known ? (double)op_int(loop, A_trips) : UNKNOWN_TRIPS;
	l.carried = start;
	l.outer = outer;
	if (next == start || loop->bodies[LOOP_CONDITION]->params[result]->uses
		|| source_of(p, start)->later)
		return;
	for (int c = outer ? (int)l.combiner : 0; c < COMBINER_COUNT; c++) {
		l.combiner = (Combiner)c;
		if (leads_back(body, start, next, l.combiner)) {
			mark_chain(p, loop, next, arena_copy(p->arena, &l, sizeof l));
			return;
		}
		if (outer)
			return;
	}
}

void
find_later(Partitioner *p)
{
	const Module *m = p->module;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults && op_is_loop(op); i++)
			mark_loop(p, op, i, NULL);
}

/* ---- where they are --------------------------------------------------------------- */

/* Bytes that what is carried takes more where it is whole along the axes. */
static int64_t
more_bytes(const Value *carried, const AxisList *along, Combiner combiner)
{
	Placement final = placement_close(carried->placement);
	Placement partial = partial_over(&final, along, combiner);
	Type part = placement_local(&carried->type, &final);
	Type whole = placement_local(&carried->type, &partial);

	return type_bytes(&whole) - type_bytes(&part);
}

/* Is there room, in all loops that carry it?  Only what is combined along a dim that is
   split there takes any. */
static bool
has_room_later(const Partitioner *p, const Later *later, const AxisList *along, bool scattered)
{
	int64_t more = 0;

	for (const Later *l = later; l; l = l->outer) {
		int64_t bytes = more_bytes(l->carried, along, l->combiner);
		if (scattered != (bytes > 0))
			return false;
		if (!source_of(p, l->carried)->promised)
			more += bytes;
	}
	return more <= room_left(p);
}

/* Does moving it so leave the loop? */
static bool
leaves(const Partitioner *p, const Source *s, const Placement *from, const Placement *to,
	bool here, bool *scattered)
{
	AxisList along = placement_unreduced(from);
	const Later *later = s->later;

	return later && from->combiner == later->combiner && combines_into(from, to, scattered)
		&& (!*scattered || (later->splits && (!here || s->later_here)))
		&& has_room_later(p, later, &along, *scattered);
}

double
rounds_combined(const Partitioner *p, const Value *v, const Placement *from,
	const Placement *to, bool here)
{
	const Source *s = source_of(p, v);
	bool scattered;

	return leaves(p, s, from, to, here, &scattered) ? fmax(s->later->rounds, 1) : 1;
}

void
promise_room(Partitioner *p, const Value *v)
{
	const Source *s = source_of(p, v);
	AxisList along = placement_unreduced(&v->placement);
	bool scattered;

	if (!leaves(p, s, &v->placement, &s->final, false, &scattered) || !scattered)
		return;
	for (const Later *l = s->later; l; l = l->outer) {
		Source *carried = source_of(p, l->carried);
		if (carried->promised)
			continue;
		carried->promised = more_bytes(l->carried, &along, l->combiner);
		p->accumulated += carried->promised;
	}
}
