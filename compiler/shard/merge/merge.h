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
	bool *needed;
	bool *cheap; /* made of constants, indices and numbers: it stays */
	bool *own;   /* of a first: all that are equal stay by themselves */
} Merger;

/* equal.c: the op before it in its block that it is equal to, or NULL: then later ones
   may be equal to it */
const Op *find_equal(Merger *mg, const Op *op);

/* ways.c: fills in `own` */
void find_own_ways(Merger *mg);

#endif
