/*
 * fuse.h - what the files that make and read fusions share: uses of values.
 *
 * Ops are visited last to first, of a program that is to be fused or of the
 * body of one fusion.  A use is either of a whole buffer or of one element: a
 * slot of a kernel, to be filled with a node.
 */
#ifndef SHDC_FUSE_H
#define SHDC_FUSE_H

#include "ir/flow.h"
#include "memory/lives.h"
#include "memory/strips.h"
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
	bool stored; /* ... by what is no collective */
	bool offset; /* an operand of another offset */
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

struct Fuse {
	Arena *arena;	  /* of kernels and uses */
	Affine *no_index; /* of nodes that have none: all zero */
	Uses *uses;	  /* by value id */
	Kernel **kernels; /* by op id: those that fill its result */
	bool failed;	  /* of a view: not one loop nest */

	/* of a program; a view has none of what follows */
	Module *module;
	Arena *step;	    /* reset after each use */
	Value **source;	    /* by value id: the value it is a name of */
	Value **elements;   /* by value id, of what a round hands on: whose elements it has */
	bool *offset;	    /* by value id: computed outside kernels */
	const Op **changes; /* by value id: the first that may write where its elements are */
	const Op *loop;	    /* the innermost one around the op at hand */
	Members *members;   /* by op id */
	bool *kept;	    /* by op id: stands as it is */

	/* fused.c; by value id, those of `stored` and `literal` follow */
	int nvalues;
	Stand **stands;
	Value **stored;	   /* the copy of an offset that lies in memory */
	Value **literal;   /* the constant as an operand of offsets */
	Value **inside;	   /* in the body being written */
	const Op **within; /* ... of this fusion */
	int *wanted;	   /* by op id: how many of it */
	Value ***read;	   /* ... what it read, if it stands as it is; else NULL */
	bool untidy;	   /* copies may be missing, ops be for nobody */
};

/* names.c: calls opened, loops and branches seen through */
void names_find(Fuse *f);
Value *source_value(const Fuse *f, const Value *v);
/* The value whose elements `v` has, in the same order. */
Value *elements_of(const Fuse *f, const Value *v);

static inline Value *
operand(const Fuse *f, const Op *op, int i)
{
	return source_value(f, op->operands[i]);
}

/* fences.c: the parameter that the fence is of, or of a part of, or what has its name behind
   a fence with others; else NULL */
const Value *fence_root(const Fuse *f, const Op *fence);
/* Fences that wait for others, of parts of parameters, become such of the whole.  True if
   there were any: of what was found about the program nothing holds. */
bool fences_widen(Fuse *f);

/* compute.c: nodes and uses */
Node *node_new(Fuse *f, Kernel *k, NodeKind kind, Op *op, Value *v);
/* A use of an element of `v`; `index` has an Affine for each of its dims. */
void ref_add(Fuse *f, Value *v, Kernel *k, Node **slot, const Affine *index);
void ref_load(Fuse *f, Value *v, Ref *r); /* filled from v's buffer */
void refs_load(Fuse *f, Value *v);	  /* all of them */
static inline bool
is_used(const Fuse *f, const Value *v)
{
	return f->uses[v->id].refs || f->uses[v->id].whole;
}
void use_whole(Fuse *f, Value *v);
void use_moved(Fuse *f, Value *v); /* by a collective */
/* Adds the element of `at` at `index` to an affine index; `kind` says what
   becomes of one beyond `limit`. */
void index_add_term(Fuse *f, Kernel *k, NodeKind kind, Value *at, const Affine *index,
	int64_t limit, Affine *result);
int64_t iterations(const Kernel *k, int from, int to);
/* Position in k->order after the innermost loop that the index uses. */
int index_depth(const Kernel *k, Affine *index, int rank);
/* The first use of the element that r uses. */
Ref *first_use(Uses *u, Ref *r, int rank);

/* ... and ops in the loops that use them.  False if these are not such loops. */
typedef bool InlineOne(Fuse *f, Op *op, Ref *r);
InlineOne *inliner(const Op *op); /* NULL: only a buffer will do */
bool inline_one(Fuse *f, Op *op, Ref *r);
/* A dot in a kernel that does nothing but store its elements, or a part of a tensor made
   of them. */
bool takes_dot(const Op *op, const Ref *r);
bool fill_with_dot(Fuse *f, Op *op, Ref *r);
bool inline_uses(Fuse *f, Op *op, Uses *u);

/* kernels.c: the kernels of an op whose result has a buffer */
bool fill_result(Fuse *f, Op *op);

/* choose.c: is it better computed where it is used?  If so it is; false: it needs a buffer,
   for all uses that are left. */
bool computed_where_used(Fuse *f, Op *op, Uses *u);

/* fused.c: the program of what was decided; L_fused */
void fused_write(Fuse *f);
/* facts.c: A_in_place and A_scratch of a step, from its kernels (of fusions and
   dots), whose values are the parameters of the body */
bool may_write_over(const Op *op, const Kernel *k, int operand);
int64_t step_scratch(const Op *op, const Kernel *k);
void facts_set(Op *op, const Kernel *k);
/* unset.c: by op id, the fusions whose result is written anew before it is read: A_unset.
   Requires numbers. */
bool *unset_find(Module *m, Arena *a);
/* copies.c: what should share a buffer and cannot is copied */
void copies_insert(Module *m);
/* By step + 1: bytes of buffers that are live.  As many may be as are where the program needs
   most, or as are half of the memory. */
typedef struct Room {
	const Lives *lives;
	int64_t *bytes, most;
} Room;
Room room_find(const Lives *l, Arena *a);
/* strips.c: slices that are read where they lie stand by themselves.  Requires numbers and
   residency_find(). */
void strips_place(Module *m);
/* All ops that read a value; do all that read it read it from there? */
typedef struct Readers Readers;
Readers *readers_find(const Module *m, Arena *a);
bool all_read_strip(const Readers *readers, const Value *v, const Strip *strip);
/* A copy of v, detached, and an empty fusion without results, as `of` is called. */
Op *copy_new(Value *v, const Op *of);
Op *fusion_new(const Op *of);
/* Type, placement and place of a value that stands for another. */
void value_like(Value *to, const Value *from);

#endif
