/*
 * steps.h - what goes on from one step of --steps to the next.
 */
#ifndef SHDRT_STEPS_H
#define SHDRT_STEPS_H

#include <sys/types.h>

#include "options.h"

/* One result in memory, whole. */
typedef struct Whole {
	void *data;
	bool disagree; /* under --check: two devices, about the same */
	int64_t pair[2];
} Whole;

/* How a parameter comes by its value in the next step. */
typedef enum Way {
	WAY_filled, /* as in the first one: it may have been overwritten */
	WAY_kept,   /* it is still there */
	WAY_moved,  /* from the result, within each device */
	WAY_whole,  /* from the result, which is placed otherwise, through a whole tensor */
} Way;

typedef struct Carry {
	Way way;
	int from;   /* the result of its name; -1: none */
	void *data; /* whole, of the result before this step, or NULL */
} Carry;

typedef struct Carries {
	Carry *of;	    /* each parameter */
	int *moves, nmoves; /* parameters, in the order in which nothing is lost */
} Carries;

/* rt_fail()s with SHDRT_USAGE where nothing comes back, or with another shape. */
Carries rt_carries_find(const shdrt_program *p);
/* Bytes of what is held whole between two steps. */
uint64_t rt_carries_bytes(const Settings *s, const Carries *c);
void rt_carries_free(const shdrt_program *p, Carries *c);

/* ---- log.c: what is told of each step as it ends ---- */

typedef struct StepLog {
	const Settings *settings;
	int file;			/* of --log; -1: none */
	off_t whole;			/* its bytes, of whole rows */
	bool shows;			/* on a terminal */
	int shown;			/* characters of the line there */
	double start, last, last_shown; /* host seconds */
} StepLog;

/* rt_fail()s with SHDRT_IO. */
StepLog rt_log_begin(const Settings *s);
void rt_log_step(StepLog *l, const Machine *m, int step);
void rt_log_end(StepLog *l);

/* ---- steps.c ---- */

/* Every parameter from its source. */
void rt_fill_device(shdrt_device *dev, void *settings);
void rt_collect_results(const Settings *s, const Machine *m, Whole *results);
/* All steps; at the end the sources are what the last step began with, if --check asks.
   Host seconds of the last. */
double rt_steps_run(Settings *s, Machine *m, Carries *c, Whole *results);

#endif
