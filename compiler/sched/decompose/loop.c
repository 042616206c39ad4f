/*
 * loop.c - a ring of many pieces as a loop.
 *
 *   y = 0
 *   for turn in 0, 2, ..., n - 3:     the piece at hand is multiplied while it goes on
 *     next = collective-permute(piece)
 *     y = y, and dot(piece, W) where piece me + turn lies
 *     piece = collective-permute(next)
 *     y = y, and dot(next, W) where piece me + turn + 1 lies
 *   y, and the last
 *
 * A round has two turns: two buffers take turns, for the piece at hand is still read where the
 * next one comes in, and none is copied.
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

/* The piece that comes while the one at hand is multiplied, put to *sum. */
static Value *
turn_gathered(const Ring *r, Make k, Value *other, Value *piece, Step step, Value **sum)
{
	Value *next = pass_on(r, k, piece, false);

	*sum = add_gathered(r, k, r->einsum->dots[0], other, piece, step, *sum);
	return next;
}

Value *
loop_gathered(Ring *r, Make k)
{
	const Op *dot = r->einsum->dots[0], *gather = r->einsum->collective;
	Value *other = dot->operands[dot->operands[0] == gather->results[0]];
	Value *given[] = {gather->operands[0],
		nothing_gathered(named(k, dot->results[0]->name), dot), other};
	Turns turns = begin_turns(r, k, 0, 3, given);
	Value *const *in = turns.params;
	int64_t rounds = (r->n - 1) / 2;

	for (int i = 0; i < 2; i++)
		turns.next[1] = turn_gathered(r, turns.in, in[3], turns.next[1],
			(Step){in[0], i}, &turns.next[2]);
	Value *const *out = end_turns(r, &turns, 0, rounds, 2);
	Value *piece = out[1], *sum = out[2];
	for (int64_t i = 2 * rounds; i < r->n - 1; i++)
		piece = turn_gathered(r, k, other, piece, (Step){NULL, i}, &sum);
	return add_gathered(r, k, dot, other, piece, (Step){NULL, r->n - 1}, sum);
}

Value *
loop_summed(Ring *r, Make k)
{
	const Op *dot = r->einsum->dots[0];
	Value *given[] = {product_piece(r, k, dot->operands, (Step){NULL, 1}), dot->operands[0],
		dot->operands[1]};
	Turns turns = begin_turns(r, k, 2, 3, given);
	Value *const *in = turns.params;

	Value *passed = pass_on(r, turns.in, in[1], false);
	Value *part = product_piece(r, turns.in, in + 2, (Step){in[0], 0});
	turns.next[1] = make_binary(named(turns.in, in[1]->name), O_add, passed, part);
	return end_turns(r, &turns, 2, r->n - 1, 1)[1];
}
