/*
 * interval.h - which whole numbers the elements of a value are, or should be.
 *
 * Numbers beyond INTERVAL_MOST stand for any that are as far away: an end there is
 * none.
 */
#ifndef SHDC_INTERVAL_H
#define SHDC_INTERVAL_H

#include "ir/ir.h"

#define INTERVAL_MOST (INT64_C(1) << 62)

/* From low to high, both in it. */
typedef struct Interval {
	int64_t low, high;
} Interval;

/* What is known of a value before anything runs. */
typedef struct Known {
	Interval in;
	int64_t step; /* its elements are multiples of it */
	bool free;    /* a parameter decides, and what is wanted of this is wanted of it */
	bool data;    /* depends on more than where an element is: not all of `in` need occur */
	bool positions; /* counted by an iota, a loop or the devices */
	bool device;	/* another on each device */
} Known;

/* interval.c */
Interval interval_any(void);
Interval interval_of(DType d); /* all that it has */
bool interval_is_empty(Interval a);
bool interval_is_any(Interval a);
Interval interval_meet(Interval a, Interval b);
Interval interval_join(Interval a, Interval b);
Interval interval_negated(Interval a);
Interval interval_sum(Interval a, Interval b);
Interval interval_product(Interval a, Interval b);
Interval interval_quotient(Interval a, Interval b); /* toward zero; b above 0 */
/* What x may be where x + y has to be in `wanted`: for all y; for some y. */
Interval interval_for_all(Interval wanted, Interval y);
Interval interval_for_some(Interval wanted, Interval y);
/* x where x * y has to be in `wanted` for all y, which are above 0. */
Interval interval_of_factor(Interval wanted, Interval y);
/* x where x / y has to. */
Interval interval_of_dividend(Interval wanted, Interval y);

/* known.c: by value id; the module's values are numbered. */
Known *module_known(const Module *m, Arena *a);
/* How many elements the op combines in one. */
int64_t op_combined(const Op *op);

#endif
