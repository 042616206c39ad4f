/*
 * ring.h - private to files that build one: an einsum that is being built.
 */
#ifndef SHDC_RING_H
#define SHDC_RING_H

#include "sched/decompose/decompose.h"

typedef struct Ring {
	const Einsum *einsum;
	Rings *rings;
	Make make;    /* of what the device knows */
	Block *block; /* in which pieces are worked with */
	int64_t n;    /* pieces, or parts */
	bool both;
} Ring;

/* So many steps up the ring; in a loop `turn` more, or less, which is not known; NULL: 0. */
typedef struct Step {
	Value *turn;
	int64_t n;
	bool down; /* turns go down the ring */
} Step;

/* Which piece of a value: a part, or, of a ring, that so many steps up. */
typedef struct Which {
	bool turns;
	Step step;
	int part;
} Which;

/* ring.c: new ops go before one: pieces of what makes the value. */
Make make_piece(Op *before, const Value *of);
/* What stands for the result of an op, which is removed, has its name. */
void replace_result(const Ring *r, Op *old, Value *new);
/* How many of what is after the collective can be parts, and where they then end; what
   becomes of a part. */
int after_cut(const Einsum *e, int64_t n, Cut *cut);
Value *after_build(const Ring *r, Which which, Cut first, int n, Value *piece);

/* Before which op parts of a product go on to the collective behind it. */
Op *before_collective(const Einsum *e);
/* A collective of this kind that does what is left to do for the einsum's. */
Value *finish_ring(const Ring *r, Make k, OpKind kind, Value *v);

/* between.c: calls between are opened, so that pieces are of single ops. */
void between_open(const Ring *r, Einsum *e);
/* What becomes of a piece, or part, of the first value: `last` as of between_cut(). */
void between_build(const Ring *r, Which which, Cut first, Value *piece, Value **last);
void between_remove(const Einsum *e);

/* pieces.c: from the device after each, or the one before. */
Value *pass_on(const Ring *r, Make k, Value *x, bool back);
Value *made_for(Value *v, const Op *collective);
/* What the product with the gathered operand is before any piece is there. */
Value *nothing_gathered(Make k, const Op *dot);
/* The product of a piece with the other operand, put to what there is of the result; of
   which NULL is nothing. */
Value *add_gathered(const Ring *r, Make k, const Op *dot, Value *other, Value *piece, Step step,
	Value *sum);
/* The piece of a value along a dim. */
Value *piece_of(const Ring *r, Make k, Value *x, int dim, Step step);
/* The piece of the product of two operands that is meant for the device so far up. */
Value *product_piece(const Ring *r, Make k, Value *const *of, Step step);

/* A number that each device knows. */
Value *known_number(const Ring *r, int64_t n);
/* A dot of other operands, as large as these say. */
Value *partial_dot(Make k, const Op *dot, Value *const *operands);

/* parts.c: whether it has so many; the einsum in parts. */
bool parts_go(const Einsum *e, int n);
void parts_build(const Ring *r);
/* The i-th part of a dim. */
Value *part_of_dim(const Ring *r, Make k, Value *x, int dim, int i);

/* ranges.c: of each of the outer ones a range: whether dims may be three; the i-th of a
   value. */
bool ranges_go(const Einsum *e);
Value *range_of_each(const Ring *r, Make k, Value *x, Cut cut, int i);
/* The product with such of an operand, put to what there is of the result; that as it was;
   such of the product. */
Value *add_range(const Ring *r, Op *dot, Value *gathered, Cut cut, int i, Value *sum);
Value *end_ranges(Op *dot, Value *sum);
Value *product_range(const Ring *r, Make k, Cut cut, int i);
/* All parts of a value, or such. */
Value *put_together(const Ring *r, Make k, Value **parts, Cut cut);

/* loop.c: the result of the dot whose operand is gathered; what is scattered of a sum. */
Value *loop_gathered(Ring *r, Make k);
Value *loop_summed(Ring *r, Make k);

#endif
