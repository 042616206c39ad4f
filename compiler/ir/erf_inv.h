/*
 * erf_inv.h - the inverse of C's erf(), for the formulas of numbers.def.
 *
 * Winitzki's approximation, then Halley's method.  Of a above 1/2, what is left of it
 * to 1 is exact, and so is erfc() small.
 */
#ifndef SHDC_ERF_INV_H
#define SHDC_ERF_INV_H

#include <math.h>

static inline double
erf_inv(double x)
{
	const double bend = 0.147, half_root_of_pi = 0.886226925452758;
	double a = fabs(x), l = log1p(-a) + log1p(a);
	double t = 2 / (3.141592653589793 * bend) + l / 2;
	double y = sqrt(sqrt(t * t - l / bend) - t);

	if (!(a < 1))
		return a == 1 ? copysign(INFINITY, x) : NAN;
	for (int i = 0; i < 4; i++) {
		double off = a < 0.5 ? erf(y) - a : (1 - a) - erfc(y);
		double u = off * half_root_of_pi * exp(y * y);
		y -= u / (1 + y * u);
	}
	return copysign(y, x);
}

static inline float
erf_invf(float x)
{
	return (float)erf_inv((double)x);
}

#endif
