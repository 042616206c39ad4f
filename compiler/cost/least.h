/*
 * least.h - how long the work of each resource takes at least, whatever the order.
 */
#ifndef SHDC_LEAST_H
#define SHDC_LEAST_H

#include "cost/chains.h"
#include "cost/timeline.h"

/* By op id (chains.h): before when no step begins, how long a run still takes when it is over,
   and the least that all trips of a loop take, by itself. */
typedef struct Bounds {
	const int64_t *heads, *tails, *loops;
} Bounds;

/* Fills in, by op id of a loop, how long the busiest link is busy with what a trip moves. */
void busiest_links(const Timeline *t, int64_t *links, Arena *a);
/* ... of a transfer the links that it has, and how long each of them carries it once. */
void link_turns(const Timeline *t, const LinkSet **moves, int64_t *carried);

/* Of the device, which does one step or loop after the other, and of each directed link; of
   the steps of `t`. */
int64_t busiest_resource(const Timeline *t, const Bounds *bounds, Arena *a);

#endif
