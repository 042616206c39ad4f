/*
 * pad.h - between the files of the pass `pad_dims`.
 *
 * A dim that is padded has elements beyond its true size, at the high end.
 * README.md tells how they come about and what may be in them.
 */
#ifndef SHDC_PAD_H
#define SHDC_PAD_H

#include "ir/flow.h"
#include "ir/numbers.h"
#include "shard/shard.h"

/*
 * The dims of all values whose sizes stand and fall together: what is padded
 * in one is padded in all, by the same ratio.  A set of a union-find forest.
 */
typedef struct Class {
	struct Class *parent; /* itself at a root */
	/* of the root */
	int64_t unit;	  /* divides the true size of every member */
	int64_t multiple; /* padded, the unit is one of this */
	bool uneven;	  /* an axis does not divide some member */
	bool told;	  /* by a remark */
} Class;

typedef struct PadValue {
	Value *now;		   /* what stands for it; NULL: it does */
	Class *dims;		   /* NULL: a value that the pass made */
	uint16_t direct;	   /* dims that its op can make padded */
	Content padding[MAX_RANK]; /* beyond the true size of a dim */
	Content all;		   /* everywhere */
} PadValue;

typedef struct Padder {
	Module *module;
	Arena *arena;
	Padding how;
	ChoosePadding *choose;
	PadValue **values; /* by value id; new ones get new ids */
	int nvalues;
	Value **program; /* those that were there before, by id */
	int nprogram;
	uint16_t **linked;    /* by op id, or NULL: pad_linked() */
	Placement **inferred; /* by value id, or NULL: of a JAX program, where a value would be
				 whose dims its axes do not divide */
	Make make;	      /* of new ops */
} Padder;

/* What the pass does with an op beside what follows from its rule; a row of the
   table in ops.c. */
typedef struct PadOp {
	void (*link)(Padder *p, const Op *op); /* instead of the rule's factors */
	void (*prepare)(Padder *p, Op *op); /* once operands are trimmed that are not linked */
	Value *(*move)(Padder *p, Op *op);  /* what stands for it then; NULL: it does */
	bool reads_padded;		    /* cares for all dims of operand 0 */
} PadOp;
extern const PadOp pad_ops[OP_COUNT];

/* link.c */
void pad_link_reshape(Padder *p, const Op *op);
void pad_link_same(Padder *p, const Op *op);
void pad_link_bodies(Padder *p, const Op *op);
/* Of each operand, the dims that may stay padded. */
uint16_t *pad_linked(Padder *p, const Op *op);
bool pad_find_classes(Padder *p); /* false: nothing is uneven, or there
					   is an error */
/* -Rpad; before anything is changed */
void pad_tell_classes(Padder *p);
/* What the true size of a dim of a value of the program becomes. */
int64_t pad_size(const Padder *p, const Value *v, int dim);
/* ... in parts of which so many fill it up; of a value of the program. */
int64_t pad_multiple(const Padder *p, const Value *v, int dim);

/* content.c: fills in what is known of a value from what flows to it, and of
   the op's results */
void pad_know_flows(Padder *p, Value *v);
void pad_know_results(Padder *p, const Op *op);
PadValue *pad_value(const Padder *p, const Value *v);

/* ops.c: makes the op right for the operands it now has.  The dims that
   its results then have padded are marked `direct`. */
void pad_prepare(Padder *p, Op *op);

/* move.c */
Value *pad_move_roll(Padder *p, Op *op);
Value *pad_move_reverse(Padder *p, Op *op);
Value *pad_move_concatenate(Padder *p, Op *op);
Value *pad_move_update(Padder *p, Op *op);
Value *pad_move_windows(Padder *p, Op *op);
/* True if something else now stands for the op's result, and the op is gone. */
bool pad_move(Padder *p, Op *op);

/* build.c: new ops by p->make; their values are known */
void pad_make_before(Padder *p, Op *before, Op *reason);
PadValue **pad_values_new(Arena *a, int n);
bool pad_is_padded(const Value *v, int dim);
int64_t pad_true_size(const Value *v, int dim);
void pad_set_unpadded(Padder *p, Value *v, const int64_t *sizes);
/* The scalar beyond the true size of a dim. */
Value *pad_mask(Padder *p, Value *v, int dim, Value *fill);
/* At most the limit, in whatever integer dtype; of several each is one of the last dim. */
Value *pad_at_most(Padder *p, Value *v, int n, const int64_t *limits);
/* What is not below is -1. */
Value *pad_below(Padder *p, Value *v, int64_t end);
/* Of a dim, padding and all: the first n of `first`, then what `rest` has there. */
Value *pad_before(Padder *p, int dim, int64_t n, Value *first, Value *rest);
/* Without the padding of these dims. */
Value *pad_trim(Padder *p, Value *v, uint16_t dims);
/* With as many zeros as make up these sizes. */
Value *pad_extend(Padder *p, Value *v, const int64_t *sizes);

#endif
