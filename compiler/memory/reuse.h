/*
 * reuse.h - which values are computed where another one lies.
 */
#ifndef SHDC_REUSE_H
#define SHDC_REUSE_H

#include "sched/fuse/kernel.h"

typedef struct Reuse {
	const Steps *steps;
	int *def;	 /* by value id: the first step that fills its
				   buffer; -1: a parameter, or none */
	int *last;	 /* by value id: the last step at which it must
				   be there, the end of a loop if it is read
				   again in the next round; -1: never read */
	Value **place;	 /* by value id: the value in whose buffer it is
				   computed, or NULL */
	bool *changed;	 /* by value id: branches change it in place */
	int *first_read; /* by value id: where its reads are in read[] */
	int *read;	 /* steps, ascending for each value */
} Reuse;

Reuse *reuse_find(const Steps *s);
/* Step i may write its result over the operand `home`, if that dies there. */
bool reuse_may_overwrite(const Steps *s, const Step *step, const Value *home);

#endif
