/*
 * rounding.h - how far a result may be from the same by another compiler.
 */
#ifndef SHDC_ROUNDING_H
#define SHDC_ROUNDING_H

#include "ir/ir.h"

/*
 * Of each result of the entry, of its largest magnitude; 0: what its dtype says (1e-5 of
 * an f32).  More is allowed of an f32 that is made of narrow floats, whose last place
 * depends on the order of a sum: 1e-2; and of a parameter's successor that is made of a
 * quotient by a root, as those of an optimizer are, for both may be next to nothing: 1e-3.
 */
const double *allowed_rounding(Arena *a, const Module *m);

#endif
