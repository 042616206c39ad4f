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

/* complex_functions.c: formulas of the parts */
Value *complex_length(Make k, Complex z);
Complex complex_product(Make k, Complex a, Complex b);
Complex complex_exp(Make k, Complex z);
Complex complex_expm1(Make k, Complex z);
Complex complex_log(Make k, Complex z);
Complex complex_log1p(Make k, Complex z);
Complex complex_sqrt(Make k, Complex z);
Complex complex_rsqrt(Make k, Complex z);
Complex complex_tanh(Make k, Complex z);
Complex complex_tan(Make k, Complex z);
Complex complex_sinh(Make k, Complex z);
Complex complex_cosh(Make k, Complex z);
Complex complex_sin(Make k, Complex z);
Complex complex_cos(Make k, Complex z);
Complex complex_sign(Make k, Complex z);
Complex complex_square(Make k, Complex z);
Complex complex_pow(Make k, Complex z, Complex w);

#endif
