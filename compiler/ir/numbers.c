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

#define OF(name, type, formula) \
	static type name(type a, type b, type c) \
	{ \
		enum { width = 64 }; \
		(void)a, (void)b, (void)c, (void)width; \
		return formula; \
	}
#define F(name) name
#define I(name) wrap_##name
#define POINTWISE(op, place, signature, kernel, formula, int_formula, ...) \
	OF(op##_of_floats, double, formula) \
	OF(op##_of_integers, int64_t, int_formula)
#define OTHER(...)
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
#undef F
#undef I

#define IS_FORMULA(text) (__builtin_strcmp(text, "NONE") != 0)
#define POLE_none .pole.is = false
#define POLE_at(operand_at, value) .pole.is = true, .pole.operand = operand_at, .pole.at = value
enum { ALL = INT_MAX };
#define INDICES_none .first_index = 0, .end_index = 0
#define INDICES_from(first, end) .first_index = first, .end_index = end

const NumberInfo numbers[OP_COUNT] = {
#define POINTWISE(op, place, signature, kernel, formula, int_formula, ulps_off, finite, \
	infinity, signs, pole, jump) \
	[O_##op] = { \
		.of_floats = IS_FORMULA(#formula) ? op##_of_floats : NULL, \
		.of_integers = IS_FORMULA(#int_formula) ? op##_of_integers : NULL, \
		.ulps = ulps_off, \
		.of_finite = CONTENT_##finite, \
		.elements = ELEMENTS_each, \
		.infinite = INFINITE_##infinity, \
		.sign = SIGN_##signs, \
		POLE_##pole, \
		.jumps = JUMPS_##jump, \
	},
#define OTHER(op, runs, kernel, bound, by, element, infinity, signs, jump, indices) \
	[O_##op] = { \
		.of_finite = CONTENT_finite, \
		.elements = ELEMENTS_##element, \
		.infinite = INFINITE_##infinity, \
		.sign = SIGN_##signs, \
		.jumps = JUMPS_##jump, \
		INDICES_##indices, \
	},
#define COLLECTIVE(op, ...) \
	[O_##op] = {.elements = ELEMENTS_other, .infinite = INFINITE_operands},
#include "ir/collectives.def"
#include "ir/numbers.def"
};

Content
number_of_zeros(const Op *op)
{
	const NumberInfo *row = &numbers[op->kind];
	double v = NAN;

	if (!ops[op->kind].pointwise)
		return CONTENT_zero;
	if (dtype_is_float(op->results[0]->type.dtype) && row->of_floats)
		v = row->of_floats(0, 0, 0);
	else if (row->of_integers)
		v = (double)row->of_integers(0, 0, 0);
	return v == 0 ? CONTENT_zero : isfinite(v) ? CONTENT_finite : CONTENT_any;
}
