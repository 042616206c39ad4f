/*
 * factors.h - the dims of a tensor as the factors that a rule makes of them.
 *
 *   mesh [X=2, Y=4, Z=3]     r = reshape(x)     x: [8@(X,Y), 6@Z]    r: [2, 24]
 *   rule ([ij,k])->([i,jk]) {i=2, j=4, k=6}
 *
 *   there   each axis goes to the factor that it splits, major to minor:
 *             x  i {X}  j {Y}  k {Z}
 *   back    r has what its factors were given: [2@X, 24@(Y,Z)].  Behind j stands
 *           k: that is one block a device as j is full, 4 of 4 ways.
 *
 * A dim of one factor hands all its axes to it.  A dim of several (of a reshape)
 * cuts an axis where a factor is full: of [8@Y] as [ij], Y=4, i takes Y:(1)2 and
 * j Y:(2)2.  What neither fits a factor nor fills it overflows: of [12@Y] as
 * [kl] {k=6, l=2}, k takes Y:(1)2, and Y:(2)2 does not divide the 3 that are
 * left.  It stays where it is, and the dim is sealed: l takes nothing.
 *
 * Axes of size 1 are not seen here: they split nothing.
 */
#ifndef SHDC_FACTORS_H
#define SHDC_FACTORS_H

#include "ir/ir.h"

/* One factor in one dim of one tensor, and the axes it has there. */
typedef struct Holder {
	int tensor, dim, factor;
	int64_t size;	 /* what axes must divide: the factor's size, or the dim's
			    own where it is that factor alone (slice, concatenate) */
	bool closed;	 /* nothing may be added */
	bool minor_most; /* of its dim */
	AxisList axes;
	AxisList overflow; /* axes of the dim that fit no factor */
} Holder;

/* There: a holder for each factor of the dim, of which there are DimFactors.n.
   Returns that. */
int project_dim(const Rule *r, int tensor, int dim, const Placement *p, Holder *to);
/* ... of every dim, in order. */
int project_tensor(const Rule *r, int tensor, const Placement *p, Holder *to);
/* The most major axes of `rest` that split `size`, cut where it is full, or where
   only a part divides it.  `rest` is what is left. */
AxisList axes_fill(AxisList *rest, int64_t size);
/* Back, of one dim as its `n` holders have it.  What stands behind a factor that
   is not full would be strided, and is left out. */
AxisList holders_axes(const Holder *h, int n);
/* Back, of a tensor of which each factor has `axes[factor]`.  False if a dim would
   be strided or axes do not divide it; `misfit`, unless NULL, is at which factor. */
bool factors_place(const Rule *r, int tensor, const AxisList *axes, Placement *p, int *misfit);

#endif
