/*
 * turns.h - how long a resource is busy at least, that does one thing at a time.
 *
 *   gather W1   not before 0, takes 3, then 6 more come      | W1 W1 W1 W2 W2 y  y  |
 *   gather W2   not before 0, takes 2, then 4 more come      W2 is over at 5, so a run
 *   reduce y    not before 5, takes 2, then none             takes 9 or more
 *
 * Of any of these the least head, all work and the least tail add up to no more than a run
 * takes.  The largest of such sums is how long it takes if at each time that is done which
 * has the longest tail, and gives way to what comes with a longer one (Jackson's preemptive
 * schedule of one machine).
 */
#ifndef SHDC_TURNS_H
#define SHDC_TURNS_H

#include <stdint.h>

typedef struct Work {
	int64_t head, time, tail; /* the time is more than 0 */
} Work;

typedef struct Turns {
	Work *works;
	Work *heap; /* room for as many */
	int nheap;
} Turns;

/* The first n in the order of their heads. */
int64_t work_in_turns(Turns *turns, int n);

#endif
