/*
 * merge.h - private to the merge pass.
 *
 *   Merger  for each value the first that is equal to it
 *
 *   h = roll(x)     1        uses of g become uses of h, and g goes;
 *   a = h * 2       2        a and c are equal too then
 *   g = roll(x)     1
 *   c = g * 2       2
 */
#ifndef SHDC_MERGE_H
#define SHDC_MERGE_H

#include "ir/flow.h"
#include "shard/shard.h"

/* Of an op with bodies. */
typedef struct Inside {
	bool known, never; /* never: something in it is equal to nothing */
	uint64_t hash;
} Inside;

typedef struct Merger {
	Module *module;
	Arena *arena;
	Lookup *seen;	/* ops that others may be equal to */
	Inside *inside; /* by op id */
	Value **values; /* these by value id */
	Value **first;	/* the first that is equal */
	bool equal;	/* some are */
	bool *needed;
	bool *cheap;	      /* made of constants, indices and numbers: it stays */
	bool *own;	      /* of a first: all that are equal stay by themselves */
	bool once;	      /* ... but not for the parts of sums that they are */
	Resharder *resharder; /* at L_resharded */
} Merger;

/* equal.c: the op before it that it is equal to, in its block or, if that costs nothing
   or moves something, around the branches and loops that it is in; or NULL: then later ones
   may be equal to it */
const Op *find_equal(Merger *mg, const Op *op);

/* Are they one block, or is the other in branches and loops inside it? */
bool block_hands_to(const Block *outer, const Block *b);

/* apart.c: at L_resharded: is something that is gathered for several users kept for some
   that are far from it?  They get their own, if `really`; else its bytes are counted as
   shared. */
bool gather_apart(Module *m, bool really);

/* Of one device; of numbers and the like none. */
double shard_bytes(const Value *v);

/* rows.c: slices of one value that exchange the same rows do so once, if a device then
   receives less; is there such?  Only looked for unless `really`. */
bool share_rows(Merger *mg, bool really);

/* ways.c: fills in `own` */
void find_own_ways(Merger *mg);

#endif
