/*
 * verify.h - what the files that verify a module share.
 */
#ifndef SHDC_VERIFY_H
#define SHDC_VERIFY_H

#include "ir/ir.h"

typedef struct Checker {
	Module *m;
	Report *report;
	void *data;
	Arena *arena;	/* for this check only */
	Arena *scratch; /* for one op */
	RuleBook *rules;
	Table *names;
	Value **seen;	    /* by id: values defined so far */
	int *waits;	    /* by id: dones that wait for it */
	int first_combined; /* the first of those that may be one transfer: its id */
	const void *line;   /* what is being checked */
	AxisList manual;    /* axes of the regions around */
	bool misshapen;	    /* an op so far: flows may lead past what it has */
	int failures;
} Checker;

/* verify.c */
void verify_fail(Checker *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
const char *axes_text(Checker *c, const AxisList *l);
/* Whether all of every piece of `wanted` is in pieces of `l`: what is next to each
   other in one list need not be in the other. */
bool pieces_cover_all(const AxisList *l, const AxisList *wanted);

/* verify_shards.c */
void check_local(Checker *c, const Op *op);  /* factors and partial sums */
void check_bodies(Checker *c, const Op *op); /* are placed as around them */

#endif
