/*
 * strips.h - slices of a fused program that stand by themselves: not copied, but read where
 * they lie.
 */
#ifndef SHDC_STRIPS_H
#define SHDC_STRIPS_H

#include "ir/ir.h"

/* Element k of a value is element at + k / run * step + k % run of what it is a part of. */
typedef struct Strip {
	int64_t at, run, step;
} Strip;

/* Is it a slice that stands by itself, or another name of one? */
bool value_is_strip(const Value *v);
/* Where it lies in the value that is no slice; of other values the whole of it.  False:
   nowhere in runs of one length that are equally far apart. */
bool strip_find(const Value *v, Strip *strip);
/* Of a fusion that only takes parts of its operand: where its result would lie. */
bool strip_of_slices(const Op *fusion, Strip *strip);
/* From where the operand of a slice lies to where its result does.  False: as above. */
bool strip_take(const Op *slice, Strip *strip);
/* Can the collective read its operand from there? */
bool strip_is_readable(const Op *collective, const Strip *strip);

#endif
