/*
 * least.h - how long the work of each resource takes at least, whatever the order.
 */
#ifndef SHDC_LEAST_H
#define SHDC_LEAST_H

#include "cost/chains.h"
#include "cost/timeline.h"

/* By op id (chains.h): before when no step begins, how long a run still takes when it is over,
   and the longest chain of all trips of a loop, by itself. */
typedef struct Bounds {
	const StepTimes *times;
	const int64_t *heads, *tails, *loops;
} Bounds;

/* Of the device, which does one step or loop after the other, and of each directed link; of
   the steps of `t`. */
int64_t busiest_resource(const Timeline *t, const Bounds *bounds, Arena *a);

#endif
