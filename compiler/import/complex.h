/*
 * complex.h - complex numbers, as their parts, real tensors of one type.
 */
#ifndef SHDC_COMPLEX_H
#define SHDC_COMPLEX_H

#include "ir/make.h"

/* Both are NULL after a message. */
typedef struct Complex {
	Value *real, *imaginary;
} Complex;

/* Part 0 or 1 of pairs, which have a dim more, and such of parts. */
Value *part_of(Make k, Value *x, int i);
Value *pair_of(Make k, Value *real, Value *imaginary);
Complex complex_product(Make k, Complex a, Complex b);

#endif
