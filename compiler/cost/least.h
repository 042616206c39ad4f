/*
 * least.h - how long the work of each resource takes at least, whatever the order.
 */
#ifndef SHDC_LEAST_H
#define SHDC_LEAST_H

#include "cost/timeline.h"

/* Of the device, which computes one step after the other, and of each directed link; of the
   steps of `t`, by op id before when none begins, and how long a run still takes when it is
   over. */
int64_t
busiest_resource(const Timeline *t, const int64_t *heads, const int64_t *tails, Arena *a);

#endif
