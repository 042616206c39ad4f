/*
 * decompose.h - products whose operand is gathered, or whose result is, or is a part of a sum,
 * and rings that do both a piece at a time.
 *
 *   Einsum   an all-gather or all-to-all and the dots that alone read it, or a dot and the
 *            collective that alone reads it; what stands between them works along the dim
 *            that is cut element by element
 *   Way      how its pieces go round, or in how many parts it is done
 */
#ifndef SHDC_DECOMPOSE_H
#define SHDC_DECOMPOSE_H

#include "ir/make.h"

typedef struct Einsum {
	Op *collective;
	Op **dots; /* in order; of a sum one */
	int ndots;
	bool behind;  /* the collective is behind its dot */
	Op **between; /* in order */
	int nbetween;
	Op **after; /* one after the other behind a collective that is behind its dot */
	int nafter;
	Op **aside; /* what is computed element by element for these alone */
	int naside;
	int dim;    /* of the collective's result, that is cut into pieces; -1: none can be */
	bool turns; /* pieces may go round: */
	int *dims;  /* ... of each dot's operand, or of its result, the dim of pieces */
	Arena *arena;
	const char *key; /* equal if they are alike */
	const Op *stop;	 /* it is not done in pieces, for this stands between; ... */
	bool beside;	 /* ... or reads what does, too */
} Einsum;

typedef struct Einsums {
	Einsum *v;
	int n;
} Einsums;

/* Along the ring once, or half the pieces each way; a long ring as a loop.  In parts, each of
   which is gathered, or added up, by a collective of its own. */
typedef enum Way {
	WAY_one,
	WAY_both,
	WAY_loop,
	WAY_loop_both,
	WAY_halves,
	WAY_quarters,
	WAY_eighths,
	WAYS
} Way;
extern const char *const way_names[WAYS]; /* ring.c */
/* 0: of a ring. */
int way_parts(Way way);

/* find.c: all that there are, in program order.  Numbers the module. */
Einsums einsums_find(Module *m, Arena *a);
/* "left operand's ": which is gathered, if both of a product are; else "". */
const char *einsum_side(const Einsum *e);
/* stopped.c: those that are none, for something stands between. */
Einsums einsums_stopped(Module *m, Arena *a);
/* Which dim of the other operand a dim of an operand is summed or counted with, and
   which of the result it is; -1: none. */
typedef struct DotDim {
	int other, result;
} DotDim;
DotDim dot_dim(const Op *dot, int operand, int dim);
/* The operand and its dim that are dim `dim` of the result; the other's, or -1. */
typedef struct ResultDim {
	int operand, dim, other;
} ResultDim;
ResultDim dot_result_dim(const Op *dot, int dim);

/* What rings of a module share: numbers that each device knows. */
typedef struct Rings {
	Arena *arena;
	Table *offsets;
	DType index;	 /* of them */
	Value **becomes; /* by id, of a value whose op a ring replaced: what stands for it */
} Rings;

/* ring.c: whether it can be done so; what does it so in its place. */
bool ring_goes(const Einsum *e, Way way);
void ring_build(Rings *rings, const Einsum *e, Way way);
/* Around the rings of a class: what reads a value that they replaced reads what stands for
   it, once all are built.  Requires module_number(). */
void rings_begin(Rings *rings, const Module *m);
void rings_end(Rings *rings, Module *m);
int64_t ring_pieces(const Einsum *e);

/* A dim as [outer, parts, inner], of which each part has one of each outer. */
typedef struct Cut {
	int dim;
	int64_t outer;
} Cut;

/* cuts.c: the operand of one of its dots that is made of what is gathered. */
int gathered_operand(const Einsum *e, const Op *dot);
/* May it stand between a collective and its product? */
bool may_be_between(const Op *op);
/* From the first value, which is gathered or is the product, to the last: those operands of
   dots, or that of the collective.  False: not in so many parts. */
bool between_cut(const Einsum *e, Cut first, int64_t n, Cut *last);
/* What between them needs all of the dim that pieces are of; NULL: nothing does. */
const Op *between_stop(const Einsum *e);

/* join.c: rings of a module take their pieces from those before them, where they can.  How
   many pieces. */
int rings_join(Module *m, Arena *a);

/* copied.c: the bytes that a fused program only moves in memory, in all trips. */
int64_t copied_bytes(const Module *m);

/* window.c: leaves of the program the ops from `first` on, before `end`, of the entry alone.
   For trials: what it returns is no result any more. */
void window_cut(Module *m, Op *first, Op *end);

#endif
