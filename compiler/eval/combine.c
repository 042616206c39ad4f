/*
 * combine.c - one step of each reduction, on wide values.
 */
#include "eval/kernels.h"

#include "ir/numbers.h"

/* stride 0 folds into a register; `expression` combines a with b. */
#define COMBINE(name, type, expression) \
	static void name(void *acc, const void *x, int64_t n, int stride) \
	{ \
		type *r = acc; \
		const type *xs = x; \
		type a = r[0]; \
		for (int64_t i = 0; i < n; i++) { \
			type b = xs[i]; \
			if (stride) \
				a = r[i]; \
			a = expression; \
			if (stride) \
				r[i] = a; \
		} \
		if (!stride) \
			r[0] = a; \
	}
/* As maximum and minimum: a NaN on either side wins. */
#define FLOATS(name, expression) \
	COMBINE(name##_float, float, expression) \
	COMBINE(name##_double, double, expression)
COMBINE(add_int, int64_t, wrap_add(a, b))
COMBINE(add_word, uint64_t, a + b)
FLOATS(add, a + b)
COMBINE(max_int, int64_t, a > b ? a : b)
COMBINE(max_word, uint64_t, a > b ? a : b)
FLOATS(max, GREATER(a, b))
COMBINE(min_int, int64_t, a < b ? a : b)
COMBINE(min_word, uint64_t, a < b ? a : b)
FLOATS(min, LESSER(a, b))
COMBINE(mul_int, int64_t, wrap_mul(a, b))
COMBINE(mul_word, uint64_t, a *b)
FLOATS(mul, a *b)
COMBINE(and_int, int64_t, a &b)
COMBINE(and_word, uint64_t, a &b)
COMBINE(or_int, int64_t, a | b)
COMBINE(or_word, uint64_t, a | b)
#undef FLOATS
#undef COMBINE

CombineLoop *const combine_loops[COMBINER_COUNT][WIDE_COUNT] = {
	[C_add] = {add_int, add_float, add_double, add_word},
	[C_max] = {max_int, max_float, max_double, max_word},
	[C_min] = {min_int, min_float, min_double, min_word},
	[C_mul] = {mul_int, mul_float, mul_double, mul_word},
	[C_and] = {and_int, NULL, NULL, and_word},
	[C_or] = {or_int, NULL, NULL, or_word},
};
