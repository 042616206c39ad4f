/*
 * pointwise.c - ops that work element by element.  Each has a loop for every
 * wide type it is defined in, made from the formulas of numbers.def.
 */
#include "eval/kernels.h"

#include <math.h>

#include "eval/scalar.h"
#include "ir/numbers.h"

typedef void Loop(const void *a, const void *b, const void *c, void *r, int64_t n, int width);

/* Of the values at i; `width` is that of the dtype in bits, of pred 1. */
#define LOOP(name, type, formula) \
	static void name(const void *ap, const void *bp, const void *cp, void *rp, int64_t n, \
		int width) \
	{ \
		const type *as = ap, *bs = bp, *cs = cp; \
		type *r = rp; \
		for (int64_t i = 0; i < n; i++) { \
			type a = as[i], b = bs[i], c = cs[i]; \
			(void)a, (void)b, (void)c, (void)width; \
			r[i] = formula; \
		} \
	}
#define OTHER(...)

#define F(name) name
#define POINTWISE(op, place, signature, kernel, formula, int_formula, ...) \
	LOOP(op##_double, double, formula) LOOP(op##_int, int64_t, int_formula)
#define I(name) wrap_##name
#include "ir/numbers.def"
#undef POINTWISE
#undef F
#undef I

#define I(name) word_##name
#define POINTWISE(op, place, signature, kernel, formula, int_formula, ...) \
	LOOP(op##_word, uint64_t, int_formula)
#include "ir/numbers.def"
#undef POINTWISE
#undef I

#define F(name) name##f
#define POINTWISE(op, place, signature, kernel, formula, ...) LOOP(op##_float, float, formula)
#include "ir/numbers.def"
#undef POINTWISE
#undef F

static Loop *const loops[OP_COUNT][WIDE_COUNT] = {
#define POINTWISE(op, ...) [O_##op] = {op##_int, op##_float, op##_double, op##_word},
#include "ir/numbers.def"
#undef POINTWISE
};
#undef OTHER
#undef LOOP

/* The elements of an operand; a scalar one is spread to n equal elements. */
static const void *
operand_wide(const Tensor *t, const Tensor *result, int64_t first, int64_t n, Chunk *buffer)
{
	if (t->type.rank || !result->type.rank)
		return view_wide(t, first, n, buffer);
	for (int64_t i = 0; i < n; i++)
		load_wide(t->type.dtype, t->data, 0, 1,
			(char *)buffer + (size_t)i * wide_bytes(t->type.dtype));
	return buffer;
}

bool
elementwise(const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	int64_t n = type_elements(&result->type);
	Wide wide = wide_of(d);
	int width = d == D_pred ? 1 : dtypes[d].bits;
	Chunk buffers[3], out;
	if (dtype_is_float(d) ? !numbers[op->kind].of_floats : !numbers[op->kind].of_integers)
		die("%s is not defined for %s", ops[op->kind].name, dtypes[d].name);
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count) {
		const void *in[3];
		for (int k = 0; k < 3; k++)
			in[k] = k < op->noperands
				? operand_wide(&operands[k], result, i, count, &buffers[k])
				: in[0];
		loops[op->kind][wide](in[0], in[1], in[2], &out, count, width);
		store_wide(d, &out, result->data, i, count);
	}
	return true;
}

#define COMPARE(name, type, sign) \
	static void name(const void *ap, const void *bp, uint8_t *r, int64_t n) \
	{ \
		const type *a = ap, *b = bp; \
		for (int64_t i = 0; i < n; i++) \
			r[i] = a[i] sign b[i]; \
	}
#define COMPARES(name, sign) \
	COMPARE(name##_int, int64_t, sign) \
	COMPARE(name##_word, uint64_t, sign) \
	COMPARE(name##_float, float, sign) \
	COMPARE(name##_double, double, sign)
COMPARES(equal, ==)
COMPARES(not_equal, !=)
COMPARES(less, <)
COMPARES(less_equal, <=)
COMPARES(greater, >)
COMPARES(greater_equal, >=)
#undef COMPARES
#undef COMPARE

typedef void CompareLoop(const void *a, const void *b, uint8_t *r, int64_t n);
static CompareLoop *const comparisons[][WIDE_COUNT] = {
	[DIR_EQ] = {equal_int, equal_float, equal_double, equal_word},
	[DIR_NE] = {not_equal_int, not_equal_float, not_equal_double, not_equal_word},
	[DIR_LT] = {less_int, less_float, less_double, less_word},
	[DIR_LE] = {less_equal_int, less_equal_float, less_equal_double, less_equal_word},
	[DIR_GT] = {greater_int, greater_float, greater_double, greater_word},
	[DIR_GE] = {greater_equal_int, greater_equal_float, greater_equal_double,
		greater_equal_word},
};

bool
compare(const Op *op, const Tensor *operands, Tensor *result)
{
	Wide wide = wide_of(operands[0].type.dtype);
	CompareLoop *loop = comparisons[op_int(op, A_direction)][wide];
	int64_t n = type_elements(&result->type);
	Chunk a, b;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count)
		loop(view_wide(&operands[0], i, count, &a),
			view_wide(&operands[1], i, count, &b), (uint8_t *)result->data + i,
			count);
	return true;
}

bool
is_finite(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	uint8_t *r = result->data;
	(void)op;
	for (int64_t i = 0; i < n; i++)
		r[i] = isfinite(tensor_double(&operands[0], i)) != 0;
	return true;
}

bool
select_elements(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	size_t bytes = (size_t)dtypes[result->type.dtype].bytes;
	const uint8_t *predicate = operands[0].data;
	bool scalar = !operands[0].type.rank;
	char *r = result->data;
	(void)op;
	for (int64_t i = 0; i < n; i++) {
		const Tensor *from = &operands[predicate[scalar ? 0 : i] ? 1 : 2];
		size_t at = (size_t)i * bytes;
		memcpy(r + at, (const char *)from->data + at, bytes);
	}
	return true;
}

/* Samples, in f64, are rounded before, and what is made of them is one in f64 again. */
bool
bitcast(const Op *op, const Tensor *operands, Tensor *result)
{
	DType from = op->operands[0]->type.dtype, to = op->results[0]->type.dtype;
	int64_t n = type_elements(&result->type);
	Chunk wide, bits;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count) {
		convert_wide(operands[0].type.dtype, view_wide(&operands[0], i, count, &wide),
			from, &bits, count);
		store_wide(from, &bits, &wide, 0, count);
		load_wide(to, &wide, 0, count, &bits);
		convert_wide(to, &bits, result->type.dtype, &wide, count);
		store_wide(result->type.dtype, &wide, result->data, i, count);
	}
	return true;
}

bool
convert(const Op *op, const Tensor *operands, Tensor *result)
{
	DType from = operands[0].type.dtype, to = result->type.dtype;
	int64_t n = type_elements(&result->type);
	Chunk in, out;
	(void)op;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count) {
		convert_wide(from, view_wide(&operands[0], i, count, &in), to, &out, count);
		store_wide(to, &out, result->data, i, count);
	}
	return true;
}
