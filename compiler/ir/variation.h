/*
 * variation.h - what may differ between the devices of a manual region.
 *
 *   x: f32[8@X]            differs along X
 *   axis_index(Y)          along Y
 *   x + axis_index(Y)      along X and Y
 *   psum(..., X)           along Y only
 *   uniform(..., X)        along Y only: so it is vouched
 *
 * That is known from where values come from, not from what they are.
 */
#ifndef SHDC_VARIATION_H
#define SHDC_VARIATION_H

#include "ir/flow.h"

/* The facts of a value: bit a, it may differ along mesh axis a. */
typedef Facts AxisSet;

/* Axes of size 1 are in no set. */
AxisSet axes_set(const AxisList *axes);
/* Those along which a tensor in this placement may differ. */
AxisSet spec_set(const Placement *spec);
/* Those of the list that are in the set. */
AxisList axes_within(const AxisList *axes, AxisSet set);

/* Of all values of a block, by id; they are numbered.  `params`: of its parameters, NULL:
   those of a region differ as they are cut, others do not.  `in_branches`: what is in a
   branch differs where it is chosen differently. */
AxisSet *variation_solve(Arena *a, Block *b, const AxisSet *params, bool in_branches);

#endif
