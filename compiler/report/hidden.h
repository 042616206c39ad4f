/*
 * hidden.h - which parts of a transfer are behind other work.
 *
 *   device            | einsum |        | einsum |
 *   links of X   | all-gather of W1         |         3 exposed, 8 hidden, 8 exposed, 4 hidden
 */
#ifndef SHDC_HIDDEN_H
#define SHDC_HIDDEN_H

#include "cost/timeline.h"

typedef struct Stretch {
	int64_t start, end;
	bool hidden; /* of a transfer: behind what computes */
} Stretch;

/* A step, from its start to its end; one part, if it computes. */
typedef struct Parts {
	Stretch *v;
	int n;
} Parts;

/* Where no step runs although a loop does: trips after the first. */
Stretch *timeline_gaps(const Timeline *timeline, Arena *a, int *n);
/* Of each step. */
Parts *timeline_parts(const Timeline *timeline, Arena *a);

#endif
