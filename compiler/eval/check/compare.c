/*
 * compare.c - a result against the reference and its bounds.
 */
#include "eval/kernels.h"

#include <math.h>

static double
difference(const Tensor *a, const Tensor *b, int64_t i)
{
	double x = tensor_double(a, i), y = tensor_double(b, i);
	if (x == y || (x != x && y != y))
		return dtype_is_float(a->type.dtype)
			? 0
			: tensor_integer(a, i) != tensor_integer(b, i);
	double distance = fabs(x - y);
	return distance == distance ? distance : INFINITY;
}

static double
ratio(double error, double bound_here)
{
	return error == 0 ? 0 : error / bound_here;
}

Comparison
tensor_compare(const Tensor *expected, const double *bounds, const Tensor *actual)
{
	Comparison c = {.elements = type_elements(&expected->type)};
	for (int64_t i = 0; i < c.elements; i++) {
		double distance = difference(expected, actual, i),
		       bound = bounds ? bounds[i] : 0;
		/* An integer that may differ at all does so by a decision; a float's
		   finite bound covers what decisions do to it, and no bound says nothing. */
		if (dtype_is_float(expected->type.dtype) ? isinf(bound)
							 : distance > 0 && distance <= bound) {
			c.undecided++;
			continue;
		}
		c.mismatches += distance > bound;
		bool first = i == c.undecided;
		if (!first && ratio(distance, bound) <= ratio(c.error, c.bound))
			continue;
		c.worst = i;
		c.got = tensor_double(actual, i);
		c.wanted = tensor_double(expected, i);
		c.error = distance;
		c.bound = bound;
	}
	return c;
}
