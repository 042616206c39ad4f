/*
 * chains.h - how long the steps take that wait for each other.
 */
#ifndef SHDC_CHAINS_H
#define SHDC_CHAINS_H

#include "cost/links.h"

/* What is known of each op of a fused program, by id. */
typedef struct StepTimes {
	const int64_t *picoseconds; /* of a step, once */
	const int *branch;	    /* of an `if`: the body that counts */
	const int64_t *links;	    /* of a loop: what is busiest of the links, in a trip */
	const LinkSet **moves;	    /* of a transfer: the links that it has; NULL: none */
	const int64_t *carried;	    /* ... and how long each of them carries it, at the end */
} StepTimes;

/* The longest chain of steps of which each needs what the one before makes: no
   order of the program, and no number of resources, takes less.  `heads`, by op id, is
   filled: no step begins before, in any trip; and so is `loops`: the least that all trips of
   a loop take, by itself, for its longest chain, its work or its links. */
int64_t longest_chain(const Module *m, const StepTimes *times, int64_t *heads, int64_t *loops,
	Arena *a);
/* Fills in, by op id, how long device or links are not yet done when the op is over, for
   what is made of it: in a body, of all that is made there. */
void shortest_tails(const Module *m, const StepTimes *times, const int64_t *loops,
	int64_t *tails, Arena *a);

#endif
