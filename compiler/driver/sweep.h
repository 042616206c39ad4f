/*
 * sweep.h - --sweep: what one run takes, for every combination of values.
 *
 *   sweep_values.c  'X*Y=256' -> the values that names take
 *   sweep.c         each combination is compiled, by as many processes as there are
 *                   processors
 */
#ifndef SHDC_DRIVER_SWEEP_H
#define SHDC_DRIVER_SWEEP_H

#include "driver.h"
#include "report/sweep.h"

enum { MAX_COMBINATIONS = 100000 };

/* What options.sweeps say, one axis each, and how many combinations that makes;
   false after usage diagnostics. */
bool sweep_axes(Session *s, const Options *o, SweepTable *table);
/* The table for each --emit=cost, in c->texts, and for the report, in c->swept; *good: some
   combination can be.  False after a diagnostic. */
bool sweep(Compilation *c, bool *good);

#endif
