/*
 * find.h - private to files that look for einsums.
 */
#ifndef SHDC_FIND_H
#define SHDC_FIND_H

#include "sched/decompose/decompose.h"

/* An op that reads a value. */
typedef struct Reader {
	Op *op;
	int operand;
	struct Reader *next;
} Reader;

typedef struct Finding {
	Module *module;
	Arena *arena;
	Reader **readers; /* by value id, last first */
	const Op **walk;  /* by op id: which walk came by */
	Einsums found;
} Finding;

/* What is made of a value, by what may be between, up to what ends it. */
typedef struct Walk {
	const Op *from;
	bool behind; /* it ends at a collective, else at products */
	Op **between, **ends;
	int nbetween, nends;
	const Op *stop; /* what else reads it; NULL: nothing does */
} Walk;

/* find.c: numbers the module. */
Finding finding_begin(Module *m, Arena *a);
/* False: something else reads it, an end reads two of them, or there is no end. */
bool find_between(Finding *f, Walk *w);

#endif
