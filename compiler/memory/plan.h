/*
 * plan.h - where every buffer of a fused program lies in its slab.
 */
#ifndef SHDC_PLAN_H
#define SHDC_PLAN_H

#include "memory/lives.h"

typedef struct Buffer {
	const Value *value; /* the first of those that share it */
	int64_t bytes, offset;
	int first, last;	   /* steps between which it is live; parameters
				   from -1, results to lives->n */
	const struct Buffer *home; /* of the parameter that it becomes in the next
				      step, or NULL */
	int kept;  /* the step up to which its place is kept for what comes home; else `last` */
	int until; /* ... is taken: one of these */
} Buffer;

typedef struct Plan {
	Module *module;
	const Lives *lives;
	Buffer *buffers;
	int n; /* behind them are those in the memory of the host: */
	int nhosted;
	int64_t hosted;	 /* bytes of these */
	int *buffer_of;	 /* by value id; -1: none */
	int64_t total;	 /* bytes of its buffers */
	int64_t live;	 /* the largest live set: no plan is smaller */
	int fullest;	 /* the first step at which that is live; -2: uncounted */
	int64_t scratch; /* bytes after `total` that steps work in */
	int storage;	 /* bytes of the emulator's slab for one of the device's: 2, where a
			    number of half a byte takes a whole one there */
	bool uncounted;	 /* so large that `total` only says "more than" */
} Plan;

/* Buffers begin on a cache line; AVX-512. */
enum { PLAN_ALIGNMENT = 64 };
static inline int64_t
plan_aligned(int64_t bytes)
{
	return (bytes + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
}
/* hosted.c: of all buffers those in the memory of the host are put behind the others, each in a
   place of its own. */
void plan_part_hosted(Plan *plan);
/* Lives, and what shares a buffer in a plan; nothing comes where some are that die, by value id
   (NULL: none are such).  Requires module_number(), and copies as a plan does. */
Lives *lives_planned(Module *m, const bool *apart, Arena *a);
/* Requires L_fused, with copies where lives_pairs() needs them. */
Plan *plan_build(Module *m);
/* The same in an arena, of as few bytes as can be, or of `enough` of device memory.
   Requires module_number(). */
Plan *plan_within(Module *m, int64_t enough, Arena *a);
/* What no plan takes more than, whatever the order: each buffer in a place of its own.  Of the
   module as it was when lives were found. */
int64_t plan_most(const Lives *l);
int64_t plan_peak(const Plan *plan); /* bytes of device memory, scratch too */
/* In the emulator's slab: of the buffer that holds `v`, of what steps work in, bytes of all. */
int64_t plan_offset(const Plan *plan, const Value *v);
int64_t plan_scratch_offset(const Plan *plan);
int64_t plan_slab(const Plan *plan);
/* Nothing else is ever written where `v` is. */
bool plan_keeps(const Plan *plan, const Value *v);
/* Do the two begin in the same place, with as many bytes each? */
bool plan_shares(const Plan *plan, const Value *a, const Value *b);
Buffer **plan_largest_first(const Plan *plan);
/* By op id, of those that are timed: bytes that are needed from then on, until the next of
   them starts, scratch too.  With the first what is needed before. */
int64_t *plan_needed(const Plan *plan, bool (*timed)(const Op *op), Arena *a);

#endif
