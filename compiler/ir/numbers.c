/*
 * numbers.c - numbers.def as an array.
 */
#include "ir/numbers.h"

#include <limits.h>
#include <math.h>

/* Every op has a row, and every pointwise one a pointwise row. */
enum {
#define POINTWISE(op, ...) ROW_IS_POINTWISE_##op = 1,
#define OTHER(op, ...) ROW_IS_POINTWISE_##op = 0,
#define COLLECTIVE(op, ...) OTHER(op)
#include "ir/collectives.def"
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
#undef COLLECTIVE
};
#define OP(id, hlo, operands, attrs, types, rule, ...) \
	_Static_assert(ROW_IS_POINTWISE_##id == !__builtin_strcmp(#rule, "pointwise"), \
		"the row of " #id " in numbers.def");
#include "ir/ops.def"
#undef OP

#define F(name) name
#define POINTWISE(op, kernel, formula, ...) \
	static double op##_of(double a, double b, double c) \
	{ \
		(void)a, (void)b, (void)c; \
		return formula; \
	}
#define OTHER(...)
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
#undef F

#define POLE(operand, at) \
	{ \
		true, operand, at \
	}
#define NO_POLE \
	{ \
		false, 0, 0 \
	}
enum { ALL = INT_MAX };
#define INDICES(first, end) .first_index = first, .end_index = end
#define NO_INDICES INDICES(0, 0)

const NumberInfo numbers[OP_COUNT] = {
#define POINTWISE(op, kernel, formula, int_formula, ulps_off, zeros, finite, infinity, signs, \
	pole_of, jump) \
	[O_##op] = { \
		.floats = IS_FORMULA(formula), \
		.integers = IS_FORMULA(int_formula), \
		.f = IS_FORMULA(formula) ? op##_of : NULL, \
		.ulps = ulps_off, \
		.of_zeros = CONTENT_##zeros, \
		.of_finite = CONTENT_##finite, \
		.elements = ELEMENTS_each, \
		.infinite = INFINITE_##infinity, \
		.sign = SIGN_##signs, \
		.pole = pole_of, \
		.jumps = JUMPS_##jump, \
	},
#define OTHER(op, runs, kernel, rounding, element, infinity, signs, jump, indices) \
	[O_##op] = { \
		.of_zeros = CONTENT_zero, \
		.of_finite = CONTENT_finite, \
		.elements = ELEMENTS_##element, \
		.infinite = INFINITE_##infinity, \
		.sign = SIGN_##signs, \
		.jumps = JUMPS_##jump, \
		indices, \
	},
#define COLLECTIVE(op, ...) \
	[O_##op] = {.elements = ELEMENTS_other, .infinite = INFINITE_operands},
#include "ir/collectives.def"
#include "ir/numbers.def"
};
