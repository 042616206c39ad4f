/*
 * flights.h - what a program has under way while it runs: the clock of a device
 * keeps, for each asynchronous collective, when its data are there.
 */
#ifndef SHDC_FLIGHTS_H
#define SHDC_FLIGHTS_H

#include "cost/cost.h"

typedef struct Flights {
	int n;			    /* of slots */
	int *slot;		    /* by op id, of what begins one: from 1 on */
	const int64_t *picoseconds; /* by op id: how long a transfer is under way */
} Flights;

/* Requires L_fused; numbers the module. */
Flights flights_find(Module *m, Arena *a);
/* Of a step of that cost: a transfer takes longer while others have its links. */
int64_t flights_time(const Flights *flights, const Op *op, const StepCost *cost);

#endif
