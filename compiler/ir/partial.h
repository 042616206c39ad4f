/*
 * partial.h - which ops partial results may pass through.
 *
 *   h = dot(x, w)        x: [8, 16@Y], w: [16@Y, 4]      h: [8, 4] unreduced(Y)
 *   2 * h   alone        a product takes one of its operands partial
 *   h + g   together     a sum both, over the same axes: h + 1 would count the 1
 *                        once for each device along Y
 *   relu(h) no           the sum of what is left of each part is another number
 */
#ifndef SHDC_PARTIAL_H
#define SHDC_PARTIAL_H

#include "ir/ir.h"

typedef enum Through {
	THROUGH_no,
	THROUGH_alone,	  /* ... if the other operands are whole */
	THROUGH_together, /* ... if all that join in are partial alike, the others whole */
} Through;

/* May the operand hold partial results of the combiner? */
Through partial_through(const Op *op, int operand, Combiner c);
/* Does the operand join in what others take together?  The mask of a choice does not. */
bool partial_joins(const Op *op, int operand);
/* Is a part written in its place in a tensor, both partial alike?  No plan has that but
   where all such parts of a loop are summed up after it (accumulate.c): elsewhere what is
   whole would become partial by a part. */
bool partial_written(const Op *op);
/* Is it taken for another number than this?  A constant, a count from 1, what is at least 1
   are known to be.  One number for all elements, as a scale or how many there are, is taken for
   one: where all is divided by zero nothing is left, partial or not.  By what is never zero
   a partial sum may be divided: what is divided by zero is infinite, but a part of it that
   is 0 becomes NaN. */
bool is_never(const Value *v, double number);

#endif
