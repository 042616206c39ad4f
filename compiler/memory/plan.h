/*
 * plan.h - where every buffer of a device program lies in its slab.
 */
#ifndef SHDC_PLAN_H
#define SHDC_PLAN_H

#include "sched/fuse/kernel.h"

typedef struct Buffer {
	Value *value; /* who it is for; the first of those that
				   share it in place */
	int64_t bytes, offset;
	int first, last; /* steps between which it is live; parameters
				   from -1, results to steps->n */
} Buffer;

typedef struct Plan {
	Module *module;
	Steps *steps;
	Buffer *buffers;
	int n;
	int *buffer_of;	 /* by value id; -1: none */
	int64_t total;	 /* bytes of its buffers */
	int64_t live;	 /* the largest live set: no plan is smaller */
	int64_t scratch; /* bytes after `total` that steps work in */
	bool uncounted;	 /* so large that `total` only says "more than" */
} Plan;

/* Requires L_device. */
Plan *plan_build(Module *m);
int64_t plan_peak(const Plan *p); /* bytes of device memory, scratch too */
/* Offset in the slab of the buffer that holds `v`. */
int64_t plan_offset(const Plan *p, const Value *v);
int64_t step_scratch(const Step *s); /* bytes that a step works in */
Buffer **plan_largest_first(const Plan *p);

#endif
