/*
 * loop.c - a ring of many pieces as a loop.
 *
 *   piece = collective-permute(x)     its own piece stays where it is
 *   y = dot(x, W) where piece me lies
 *   for turn in 0, 2, ..., n - 4:     the piece at hand is multiplied while it goes on
 *     next = collective-permute(piece)
 *     y = y, and dot(piece, W) where piece me + turn + 1 lies
 *     piece = collective-permute(next)
 *     y = y, and dot(next, W) where piece me + turn + 2 lies
 *   y, and the last
 *
 * A round has two turns: two buffers take turns, for the piece at hand is still read where the
 * next one comes in, and none is copied.  What the loop carries was received and multiplied
 * before it, so that neither the operand is copied, which may be read later, nor a sum filled.
 *
 * Both ways, a turn has the piece from above and that from below: those that the device before
 * the loop got from its neighbours go on.  Of an even number the one in the middle comes from
 * above, once the loop has ended; of a sum it is begun before the loop.
 */
#include "ir/flow.h"
#include "sched/decompose/ring.h"

typedef struct Turns {
	Op *loop;
	Make around, in;
	Value **params; /* in the body: the turn, then what is carried */
	Value **next;
	Block *block; /* around the loop */
} Turns;

/* Turns from `first` on; what its body returns is what it was given, until that is
   changed. */
static Turns
begin_turns(Ring *r, Make k, int64_t first, int n, Value *const *given)
{
	Turns turns = {.around = k, .in = k, .block = r->block};
	Value **carried = NEW_ARRAY(r->rings->arena, Value *, n + 1);

	carried[0] = make_constant(named(k, "turn"), r->rings->index, first);
	for (int i = 0; i < n; i++)
		carried[i + 1] = given[i];
	Op *loop = turns.loop = make_begin(named(k, "turn"), O_while, n + 1, carried);
	for (int i = 1; i <= n; i++)
		op_add_result(loop, carried[i]->name, &carried[i]->type)->no_placement = true;
	op_begin_bodies(loop, 2);
	for (int body = 0; body < 2; body++)
		for (int i = 0; i <= n; i++)
			block_add_param(loop->bodies[body], carried[i]->name, &carried[i]->type)
				->no_placement = true;
	turns.in.before = NULL;
	r->block = turns.in.block = loop->bodies[LOOP_BODY];
	turns.params = r->block->params;
	turns.next = NEW_ARRAY(r->rings->arena, Value *, n + 1);
	for (int i = 0; i <= n; i++)
		turns.next[i] = turns.params[i];
	return turns;
}

/* After so many rounds of so many turns: the results, from the turn on. */
static Value **
end_turns(Ring *r, const Turns *turns, int64_t first, int64_t rounds, int64_t each)
{
	Op *loop = turns->loop;
	Make k = turns->in;
	DType index = r->rings->index;

	turns->next[0] = make_binary(named(k, "turn"), O_add, turns->params[0],
		make_constant(k, index, each));
	make_return(k.block, loop->nresults, turns->next, k.range, k.label);
	k.block = loop->bodies[LOOP_CONDITION];
	Value *end = make_constant(k, index, first + rounds * each);
	Value *more = make_compare(k, DIR_LT, k.block->params[0], end);
	make_return(k.block, 1, &more, k.range, k.label);
	op_set_int(loop, A_trips, rounds);
	make_end(turns->around, loop);
	r->block = turns->block;
	return loop->results;
}

/* Of the ring without its own piece: how many come from below; not fewer from above. */
static int64_t
from_below(const Ring *r)
{
	return (r->n - 1) / 2;
}

/* The piece that comes while the one at hand is multiplied, put to *sum. */
static Value *
turn_gathered(const Ring *r, Make k, Value *other, Value *piece, Step step, Value **sum)
{
	Value *next = pass_on(r, k, piece, step.down);

	*sum = add_gathered(r, k, r->einsum->dots[0], other, piece, step, *sum);
	return next;
}

/* What is multiplied with the pieces. */
static Value *
other_operand(const Ring *r)
{
	const Op *dot = r->einsum->dots[0];

	return dot->operands[!gathered_operand(r->einsum, dot)];
}

static Value *
gathered_one_way(Ring *r, Make k)
{
	const Op *dot = r->einsum->dots[0];
	Value *other = other_operand(r), *sum = NULL;
	Value *piece =
		turn_gathered(r, k, other, r->einsum->collective->operands[0], (Step){0}, &sum);
	Turns turns = begin_turns(r, k, 0, 3, (Value *[]){piece, sum, other});
	Value *const *in = turns.params;
	int64_t rounds = (r->n - 2) / 2;

	for (int i = 0; i < 2; i++)
		turns.next[1] = turn_gathered(r, turns.in, in[3], turns.next[1],
			(Step){.turn = in[0], .n = i + 1}, &turns.next[2]);
	Value *const *out = end_turns(r, &turns, 0, rounds, 2);
	piece = out[1];
	sum = out[2];
	for (int64_t i = 2 * rounds + 1; i < r->n - 1; i++)
		piece = turn_gathered(r, k, other, piece, (Step){.n = i}, &sum);
	return add_gathered(r, k, dot, other, piece, (Step){.n = r->n - 1}, sum);
}

/* From above, from below, and the sum: at hand are the pieces turn + i + 1 steps away. */
static void
turn_both_ways(const Ring *r, Make k, Value *other, Value *turn, int64_t i, Value **at)
{
	Step up = {.turn = turn, .n = i + 1}, down = {turn, r->n - i - 1, true};

	at[0] = turn_gathered(r, k, other, at[0], up, &at[2]);
	at[1] = turn_gathered(r, k, other, at[1], down, &at[2]);
}

static Value *
gathered_both_ways(Ring *r, Make k)
{
	const Op *dot = r->einsum->dots[0];
	Value *own = r->einsum->collective->operands[0], *other = other_operand(r);
	int64_t below = from_below(r), rounds = (below - 1) / 2;
	Value *above = pass_on(r, k, own, false), *under = pass_on(r, k, own, true);
	Value *sum = add_gathered(r, k, dot, other, own, (Step){0}, NULL);
	Turns turns = begin_turns(r, k, 0, 4, (Value *[]){above, under, sum, other});
	Value *const *in = turns.params;

	for (int i = 0; i < 2; i++)
		turn_both_ways(r, turns.in, in[4], in[0], i, turns.next + 1);
	Value **at = end_turns(r, &turns, 0, rounds, 2) + 1;
	Value *last[] = {at[0], at[1], at[2]};
	for (int64_t i = 2 * rounds; i < below - 1; i++)
		turn_both_ways(r, k, other, NULL, i, last);
	Value *middle = 2 * below < r->n - 1 ? pass_on(r, k, last[0], false) : NULL;
	sum = add_gathered(r, k, dot, other, last[0], (Step){.n = below}, last[2]);
	sum = add_gathered(r, k, dot, other, last[1], (Step){.n = r->n - below}, sum);
	if (!middle)
		return sum;
	return add_gathered(r, k, dot, other, middle, (Step){.n = below + 1}, sum);
}

Value *
loop_gathered(Ring *r, Make k)
{
	return r->both ? gathered_both_ways(r, k) : gathered_one_way(r, k);
}

/* The sum goes on, and gets the product of the piece. */
static Value *
turn_summed(const Ring *r, Make k, Value *sum, Value *const *operands, Step step)
{
	Value *passed = pass_on(r, k, sum, step.down);
	Value *part = product_piece(r, k, operands, step);

	return make_binary(named(k, sum->name), O_add, passed, part);
}

static Value *
summed_one_way(Ring *r, Make k)
{
	const Op *dot = r->einsum->dots[0];
	Value *given[] = {product_piece(r, k, dot->operands, (Step){.n = 1}), dot->operands[0],
		dot->operands[1]};
	Turns turns = begin_turns(r, k, 2, 3, given);
	Value *const *in = turns.params;

	turns.next[1] = turn_summed(r, turns.in, in[1], in + 2, (Step){.turn = in[0], .n = 0});
	return end_turns(r, &turns, 2, r->n - 1, 1)[1];
}

static Value *
summed_both_ways(Ring *r, Make k)
{
	Value *const *operands = r->einsum->dots[0]->operands;
	int64_t below = from_below(r), above = r->n - 1 - below, n = r->n;
	Value *up = product_piece(r, k, operands, (Step){.n = n - above});

	if (above > below)
		up = turn_summed(r, k, up, operands, (Step){.n = n - below});
	Value *down = product_piece(r, k, operands, (Step){.n = below});
	Value *given[] = {up, down, operands[0], operands[1]};
	Turns turns = begin_turns(r, k, 0, 4, given);
	Value *const *in = turns.params;

	turns.next[1] = turn_summed(r, turns.in, in[1], in + 3,
		(Step){.turn = in[0], .n = n - below + 1});
	turns.next[2] = turn_summed(r, turns.in, in[2], in + 3, (Step){in[0], below - 1, true});
	Value *const *out = end_turns(r, &turns, 0, below - 1, 1);
	Value *sum = turn_summed(r, k, out[1], operands, (Step){0});
	Value *passed = pass_on(r, k, out[2], true);
	return make_binary(named(k, sum->name), O_add, sum, passed);
}

Value *
loop_summed(Ring *r, Make k)
{
	return r->both ? summed_both_ways(r, k) : summed_one_way(r, k);
}
