/*
 * ring.h - private to ring.c, loop.c and pieces.c: a ring that is being built.
 */
#ifndef SHDC_RING_H
#define SHDC_RING_H

#include "sched/decompose/decompose.h"

typedef struct Ring {
	const Einsum *einsum;
	Rings *rings;
	Make make;    /* of what the device knows */
	Block *block; /* in which pieces are worked with */
	int64_t n;
	bool both;
} Ring;

/* So many steps up the ring; in a loop `turn` more, which is not known; NULL: 0. */
typedef struct Step {
	Value *turn;
	int64_t n;
} Step;

/* pieces.c: from the device after each, or the one before. */
Value *pass_on(const Ring *r, Make k, Value *x, bool back);
Value *made_for(Value *v, const Op *collective);
/* What the product with the gathered operand is before any piece is there. */
Value *nothing_gathered(Make k, const Op *dot);
/* The product of a piece with the other operand, put to what there is of the result; of
   which NULL is nothing. */
Value *add_gathered(const Ring *r, Make k, const Op *dot, Value *other, Value *piece, Step step,
	Value *sum);
/* The piece of the product of two operands that is meant for the device so far up. */
Value *product_piece(const Ring *r, Make k, Value *const *of, Step step);

/* One of two that the dim has, without who it is meant for. */
Value *product_half(const Ring *r, Make k, int dim, int half);

/* loop.c: the result of the dot whose operand is gathered; what is scattered of a sum. */
Value *loop_gathered(Ring *r, Make k);
Value *loop_summed(Ring *r, Make k);

#endif
