/*
 * fuse.h - what the files that make steps share: uses of values.
 *
 * The pass visits ops last to first.  A use of a value is either of its whole
 * buffer or of one element: a slot of a kernel, to be filled with a node.
 */
#ifndef SHDC_FUSE_H
#define SHDC_FUSE_H

#include "sched/fuse/kernel.h"

typedef struct Ref {
	Kernel *kernel;
	Node **slot;
	Affine *index; /* one for each dim of the value */
	struct Ref *next;
} Ref;

typedef struct Uses {
	Ref *refs;
	bool whole;  /* its buffer as such */
	bool scalar; /* an operand of another scalar of run() */
} Uses;

/* The ops computed in the kernels of one that has a buffer, last first. */
typedef struct Members {
	Op **ops;
	int n;
} Members;

/* What stands for a value in another block than its own. */
typedef struct Stand {
	const Block *block;
	Value *value;
	struct Stand *next;
} Stand;

typedef struct Fuse {
	Steps *steps;
	Arena *arena;	  /* of the module: what the steps are made of */
	Arena *scratch;	  /* of this pass */
	Arena *step;	  /* reset after each use */
	const Op *loop;	  /* the innermost one around the op at hand */
	Affine *no_index; /* of nodes that have none: all zero */
	Uses *uses;	  /* by value id */
	bool *scalar;	  /* by value id: computed outside kernels */
	Members *members; /* by op id */
	bool *made;	  /* by op id: has a step of its own */
	/* fused.c, by value id: those of `stored` and `literal` follow */
	int nvalues;
	Stand **stands;
	Value **stored;	   /* the copy of a scalar that lies in memory */
	Value **literal;   /* the constant as an operand of scalars */
	Value **inside;	   /* in the body being written */
	const Op **within; /* ... of this fusion */
	int *wanted;	   /* by op id: how many of it */
} Fuse;

static inline Value *
operand(const Fuse *f, const Op *op, int i)
{
	return steps_source(f->steps, op->operands[i]);
}

/* fuse.c: nodes and uses */
Node *node_new(Fuse *f, Kernel *k, NodeKind kind, Op *op, Value *value);
/* A use of an element of `v`; `index` has an Affine for each of its dims. */
void ref_add(Fuse *f, Value *v, Kernel *k, Node **slot, const Affine *index);
void ref_load(Fuse *f, Value *v, Ref *r); /* filled from v's buffer */
void refs_load(Fuse *f, Value *v);	  /* all of them */
void use_whole(Fuse *f, Value *v);

/* It is computed in the kernel, too. */
void take_in(Fuse *f, Op *op, const Kernel *k);

/* inline.c: ops computed where they are used */
typedef void InlineOne(Fuse *f, Op *op, Ref *r);
InlineOne *inliner(const Op *op); /* NULL: only a buffer will do */
/* False if the kernel has no loops for it. */
bool inline_reduce(Fuse *f, Op *op, Ref *r);
bool try_inline(Fuse *f, Op *op, Uses *u); /* true: all uses are filled */
/* Adds the element of `at` at `index` to an affine index; `kind` says what
   becomes of one beyond `limit`. */
void index_add_term(Fuse *f, Kernel *k, NodeKind kind, Value *at, const Affine *index,
	int64_t limit, Affine *result);

/* buffer.c: ops whose results have a buffer */
Step *new_step(Fuse *f, StepKind kind, Op *op, int nresults, Value **results);
void root_map(Fuse *f, Op *op); /* a kernel of a pointwise op */
void give_buffer(Fuse *f, Op *op, Uses *u);

/* fused.c: the program of what was decided; L_fused */
void fused_write(Fuse *f);

#endif
