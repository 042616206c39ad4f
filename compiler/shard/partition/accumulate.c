/*
 * accumulate.c - sums that are only added up in a loop, or in the branches of an `if`, are
 * taken after it.
 *
 *   acc = acc + all_reduce(x)   becomes   acc = acc + x, acc partial
 *
 * where x may be added in whatever chain of additions, branches and loops (chain.c), and
 * where it begins with a sum of such parts, it begins with the parts.  The same holds for
 *
 *   acc = acc + reduce_scatter(x)      acc split
 *
 * if there is room for what is whole then: a quarter of a device's memory for all; and not
 * if acc was written to be split.  Slices of a stack are so where a loop around adds up the
 * stacks, and so needs one sum for all of its rounds.  No more may move for it: few slices of
 * much are less than all of it, and a sum that is the same in every round leaves the loop by
 * itself (hoist.c).
 *
 * So are sums that all branches of an `if` make, or add to parts; a branch that moves
 * nothing goes on doing so, but where what it leaves as it is was a sum of such parts.
 */
#include <math.h>
#include "ir/make.h"
#include "shard/partition/chain.h"

/* The parts that it is the sum of, if nobody asked for that; NULL: none, or others than
   `partial` or parts of these, where that is not NULL. */
static Value *
as_parts(Partitioner *p, Value *v, const Placement *partial)
{
	while (!v->placement.nunreduced || (partial && !becomes_freely(p, v, partial))) {
		if (!v->def || !op_is_move(v->def) || v->def->requested)
			return NULL;
		v = v->def->operands[0];
	}
	return v;
}

/* Zeros, wherever they are. */
static bool
is_zeros(const Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	if (!value_is_literal(v) || v->def->kind == O_iota)
		return false;
	const Op *number = v->def->kind == O_broadcast ? v->def->operands[0]->def : v->def;
	const Ints *values = op_ints(number, A_value);
	return values->n == 1 && values->v[0] == 0;
}

/* May what is split be whole until then?  Not where it was written to be split; of slices
   that are written each in its place only where that spares some of the sums. */
static bool
may_be_whole(Partitioner *p, const Op *loop, int i, const Chain *chain)
{
	return !chain->requested && (!chain->slices || shares_one_sum(p, loop, i))
		&& chain_has_room(p, chain, loop->bodies[LOOP_BODY]->params[i]);
}

/* As many as are known. */
static double
rounds_of(const Op *loop)
{
	return op_ints(loop, A_trips)->n ? (double)op_int(loop, A_trips) : 1;
}

/* How many sums one after the loop spares, where that is one for so many runs of the loop.  A
   sum of what a loop does not change leaves it, and the loops around that do not, either. */
static double
times_made(const Partitioner *p, const Op *loop, const Op *move, double runs)
{
	int depth = loops_around(move->block), changing = loops_changing(p, move->operands[0]);
	const Block *b = move->block;
	bool leaves = true;
	double times = 1;

	for (; b != loop->block; b = b->parent->block) {
		leaves &= op_is_loop(b->parent) && changing < depth;
		if (!leaves && op_is_loop(b->parent))
			times *= rounds_of(b->parent);
		depth -= op_is_loop(b->parent);
	}
	if (!leaves || changing >= depth)
		return times * runs;
	for (; b->parent && op_is_loop(b->parent) && changing < depth--; b = b->parent->block)
		times /= rounds_of(b->parent);
	return times;
}

/* Does the one sum after the loop move at most what those in it do, and `first` before it? */
static bool
moves_no_more(Partitioner *p, const Op *loop, const Op *first, const Chain *chain, int i)
{
	const Value *v = loop->bodies[LOOP_BODY]->params[i];
	double larger, bytes = first ? bytes_moved(p, first) : 0;
	double runs = trips_for_one_sum(p, loop, i, chain->scattered, &larger);

	for (const Step *s = chain->steps; s; s = s->next)
		if (s->move)
			bytes += bytes_moved(p, s->move) * times_made(p, loop, s->move, runs);
	return larger * bytes_between(p, v, &chain->partial, &chain->whole) <= bytes;
}

/* Is it used as operand i of the op, and nowhere before?  Of what was moved since the last
   count uses are not known. */
static bool
is_for_operand_alone(const Value *v, const Op *op, int i)
{
	for (const Op *user = v->def ? v->def->next : op; user; user = user->next) {
		for (int k = 0; k < user->noperands; k++)
			if (user->operands[k] == v && (user != op || k != i))
				return false;
		if (user == op)
			return true;
	}
	return false;
}

/* What is added to, operand i of an op with bodies, as parts. */
static Value *
start_in_parts(Partitioner *p, Op *op, int i, const Chain *chain)
{
	Value *start = op->operands[i], *parts = as_parts(p, start, &chain->partial);

	/* What nothing else wanted is not made: nor does it count as a use of the parts. */
	while (parts && parts->uses == 1 && start != parts
		&& is_for_operand_alone(start, op, i)) {
		Op *move = start->def;
		start = move->operands[0];
		op_remove(move);
	}
	if (parts && is_placed(parts, &chain->partial))
		return parts;
	if (parts)
		return insert_reshard(p, parts, &chain->partial, op, chain->why);
	if (chain->scattered && is_zeros(start)) {
		Make k = make_before(op);
		Value *zero = make_constant(k, start->type.dtype, 0);
		start = make_splat(k, zero, &start->type);
		start->placement = placement_none(start->type.rank);
	}
	return insert_reshard(p, start, &chain->partial, op, chain->why);
}

/* What plans counted on is counted anew. */
static void
take_promise(Partitioner *p, const Value *carried)
{
	Source *s = source_of(p, carried);

	p->accumulated -= s->promised;
	s->promised = 0;
}

/* The sum that it begins with, for nothing else, over whatever axes; NULL: none. */
static const Op *
first_sum(const Op *loop, int i)
{
	const Value *v = loop->operands[i];
	const Op *move = v->uses <= 1 && v->def && op_is_move(v->def) ? v->def : NULL;

	return move && !move->requested && move->operands[0]->placement.nunreduced
			&& move->operands[0]->uses <= 1
		? move
		: NULL;
}

/* Does a round add sums to what it begins with, or to `first`?  If they are over more axes
   than the first of them, a loop inside that was treated is so for some: it is followed again
   for all. */
static bool
follow_loop(Chain *chain, Partitioner *p, const Op *loop, int i, bool narrow, const Op *first)
{
	const Block *body = loop->bodies[LOOP_BODY];

	*chain = (Chain){.p = p, .narrow = narrow};
	if (first && !is_sum(chain, first, true))
		return false;
	do {
		chain->steps = NULL;
		chain->widened = false;
		if (!follow_chain(chain, body, body->params[i], body->last->operands[i]))
			return false;
	} while (chain->widened);
	return is_whole_chain(chain) && moves_no_more(p, loop, first, chain, i)
		&& (!chain->scattered || may_be_whole(p, loop, i, chain));
}

/* With what it begins with, if that is a sum over other axes; all of its sums; those over
   the same axes. */
static bool
follow_some(Chain *chain, Partitioner *p, const Op *loop, int i)
{
	const Op *first = first_sum(loop, i);

	return (first && follow_loop(chain, p, loop, i, false, first))
		|| follow_loop(chain, p, loop, i, false, NULL)
		|| follow_loop(chain, p, loop, i, true, NULL);
}

void
reduce_after(Partitioner *p, Op *loop, int n)
{
	Block *body = loop->bodies[LOOP_BODY], *condition = loop->bodies[LOOP_CONDITION];

	/* moves in the loop have been made since the last count */
	block_count_uses(condition);
	block_count_uses(body);
	combine_shared(p, body, COMBINE_behind);
	block_count_uses(body);
	for (int i = 0; i < n; i++) {
		Value *next = body->last->operands[i];
		Chain chain;
		take_promise(p, body->params[i]);
		if (next != body->params[i] && !condition->params[i]->uses
			&& follow_some(&chain, p, loop, i)) {
			take_steps(&chain);
			body->params[i]->placement = chain.partial;
			condition->params[i]->placement = chain.partial;
			loop->operands[i] = start_in_parts(p, loop, i, &chain);
			source_of(p, loop->results[i])->sum_requested = chain.requested;
		}
		arena_reset(p->scratch);
	}
}

/* ---- branches ------------------------------------------------------------------ */

/* What the branches of an `if` make of one result. */
typedef struct Branches {
	int param;	/* that they add to; -1: none does */
	uint32_t added; /* bit k: body k does, or leaves it */
	double fewest;	/* bytes of the sums of a branch */
} Branches;

/* Adds to the chain what body k sums up, by itself or onto a parameter.  False: it makes
   something else.  Parts that come in may be summed outside, too, so once for both. */
static bool
take_branch(Chain *chain, const Op *op, int k, int result, Branches *all)
{
	Block *body = op->bodies[k];
	const Step *before = chain->steps;
	double bytes = 0;

	if (!take_sum(chain, body, body->last->operands[result])) {
		const Value *start = all->param < 0 ? NULL : body->params[all->param];
		const Value *end =
			follow_chain(chain, body, start, body->last->operands[result]);
		if (!end)
			return false;
		all->param = end->index;
		all->added |= 1u << k;
	}
	for (const Step *s = chain->steps; s != before; s = s->next)
		if (s->move && s->move->block == body && s->move->operands[0]->def)
			bytes += bytes_moved(chain->p, s->move);
	all->fewest = fmin(all->fewest, bytes);
	return true;
}

/* What they add to becomes partial; false if a branch uses it otherwise. */
static bool
take_params(Chain *chain, const Op *op, const Branches *all)
{
	for (int k = 0; k < op->nbodies && all->param >= 0; k++) {
		Value *v = op->bodies[k]->params[all->param];
		if (v->uses && !(all->added >> k & 1))
			return false;
		add_step(chain, NULL, v);
	}
	return true;
}

/* All branches make sums of the same parts, or add some to these parts, or leave them.  Does
   one sum after the `if` move no more than what is summed now, whatever branch is taken? */
static bool
follow_result(Chain *chain, const Op *op, int result, Branches *all)
{
	Value *parts = NULL;
	double before = 0;

	do {
		chain->steps = NULL;
		chain->widened = false;
		*all = (Branches){.param = handed_on(op, result), .fewest = INFINITY};
		if (all->param >= 0 && !as_parts(chain->p, op->operands[all->param + 1], NULL))
			return false;
		for (int k = 0; k < op->nbodies; k++)
			if (!take_branch(chain, op, k, result, all))
				return false;
	} while (chain->widened);
	if (!is_whole_chain(chain) || !take_params(chain, op, all))
		return false;
	if (all->param >= 0)
		parts = as_parts(chain->p, op->operands[all->param + 1], &chain->partial);
	if (parts && parts->uses == 1
		&& loops_changing(chain->p, parts) == loops_around(op->block))
		before = bytes_between(chain->p, parts, &parts->placement, &chain->whole);
	return bytes_between(chain->p, op->results[result], &chain->partial, &chain->whole)
		<= all->fewest + before
		&& (!chain->scattered
			|| (before > 0
				&& chain_has_room(chain->p, chain, op->results[result])));
}

void
reduce_after_branches(Partitioner *p, Op *op)
{
	for (int k = 0; k < op->nbodies; k++)
		block_count_uses(op->bodies[k]);
	for (int i = 0; i < op->nresults; i++) {
		Chain chain = {.p = p}, narrow = {.p = p, .narrow = true};
		Branches all;
		bool wide = follow_result(&chain, op, i, &all);
		chain = wide ? chain : narrow;
		if (wide || follow_result(&chain, op, i, &all)) {
			take_steps(&chain);
			if (all.param >= 0)
				op->operands[all.param + 1] =
					start_in_parts(p, op, all.param + 1, &chain);
			source_of(p, op->results[i])->sum_requested = chain.requested;
		}
		arena_reset(p->scratch);
	}
}
