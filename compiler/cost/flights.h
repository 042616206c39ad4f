/*
 * flights.h - what a program has under way while it runs: the clock of a device
 * keeps, for each asynchronous collective, when its data are there.
 */
#ifndef SHDC_FLIGHTS_H
#define SHDC_FLIGHTS_H

#include "ir/ir.h"

typedef struct Flights {
	int n;			    /* of slots */
	int *slot;		    /* by op id, of what begins one: from 1 on */
	const int64_t *picoseconds; /* likewise: how long it is under way */
} Flights;

/* Requires L_fused; numbers the module. */
Flights flights_find(Module *m, Arena *a);

#endif
