/*
 * pointwise.c - ops that work element by element.  Each has a loop for every
 * wide type it is defined in, made from pointwise.def.
 */
#include "eval/kernels.h"

#include <math.h>

#include "eval/scalar.h"

typedef void Loop(const void *a, const void *b, const void *c, void *r, int64_t n);

/* NaN in any of the three wins; otherwise min(max(lo, x), hi). */
#define CLAMP(lo, x, hi) \
	((lo) != (lo)		       ? (lo) \
			: (hi) != (hi) ? (hi) \
			: (x) != (x)   ? (x) \
			: (x) < (lo)   ? ((lo) < (hi) ? (lo) : (hi)) \
			: (x) > (hi)   ? (hi) \
				       : (x))

#define LOOP1(name, type, expression) \
	static void name(const void *ap, const void *bp, const void *cp, void *rp, int64_t n) \
	{ \
		const type *as = ap; \
		type *r = rp; \
		(void)bp, (void)cp; \
		for (int64_t i = 0; i < n; i++) { \
			type a = as[i]; \
			r[i] = expression; \
		} \
	}
#define LOOP2(name, type, expression) \
	static void name(const void *ap, const void *bp, const void *cp, void *rp, int64_t n) \
	{ \
		const type *as = ap, *bs = bp; \
		type *r = rp; \
		(void)cp; \
		for (int64_t i = 0; i < n; i++) { \
			type a = as[i], b = bs[i]; \
			r[i] = expression; \
		} \
	}
#define LOOP3(name, type, expression) \
	static void name(const void *ap, const void *bp, const void *cp, void *rp, int64_t n) \
	{ \
		const type *as = ap, *bs = bp, *cs = cp; \
		type *r = rp; \
		for (int64_t i = 0; i < n; i++) { \
			type a = as[i], b = bs[i], c = cs[i]; \
			r[i] = expression; \
		} \
	}

#define FLOAT_UNARY(op, f) LOOP1(op##_double, double, f)
#define UNARY(op, f, i) LOOP1(op##_double, double, f) LOOP1(op##_int, int64_t, i)
#define BINARY(op, f, i) LOOP2(op##_double, double, f) LOOP2(op##_int, int64_t, i)
#define TERNARY(op, f, i) LOOP3(op##_double, double, f) LOOP3(op##_int, int64_t, i)
#define F(name) name
#include "eval/pointwise.def"
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef TERNARY
#undef F

#define FLOAT_UNARY(op, f) LOOP1(op##_float, float, f)
#define UNARY(op, f, i) LOOP1(op##_float, float, f)
#define BINARY(op, f, i) LOOP2(op##_float, float, f)
#define TERNARY(op, f, i) LOOP3(op##_float, float, f)
#define F(name) name##f
#include "eval/pointwise.def"
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef TERNARY
#undef F

#define FLOAT_UNARY(op, f) [O_##op] = {NULL, op##_float, op##_double},
#define UNARY(op, f, i) [O_##op] = {op##_int, op##_float, op##_double},
#define BINARY(op, f, i) UNARY(op, f, i)
#define TERNARY(op, f, i) UNARY(op, f, i)
static Loop *const loops[OP_COUNT][WIDE_COUNT] = {
#include "eval/pointwise.def"
};
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef TERNARY

/* The same formulas once more, one by one in double. */
#define SCALAR1(op, f) \
	static double scalar_##op(double a) \
	{ \
		return f; \
	}
#define SCALAR2(op, f) \
	static double scalar_##op(double a, double b) \
	{ \
		return f; \
	}
#define FLOAT_UNARY(op, f) SCALAR1(op, f)
#define UNARY(op, f, i) SCALAR1(op, f)
#define BINARY(op, f, i) SCALAR2(op, f)
#define TERNARY(op, f, i)
#define F(name) name
#include "eval/pointwise.def"
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef F
#undef SCALAR1
#undef SCALAR2

#define FLOAT_UNARY(op, f) [O_##op] = scalar_##op,
#define UNARY(op, f, i) [O_##op] = scalar_##op,
#define BINARY(op, f, i)
static UnaryDouble *const scalars[OP_COUNT] = {
#include "eval/pointwise.def"
};
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY

#define FLOAT_UNARY(op, f)
#define UNARY(op, f, i)
#define BINARY(op, f, i) [O_##op] = scalar_##op,
static BinaryDouble *const scalars2[OP_COUNT] = {
#include "eval/pointwise.def"
};
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef TERNARY
#undef LOOP1
#undef LOOP2
#undef LOOP3
#undef CLAMP

UnaryDouble *
pointwise_double(OpKind kind)
{
	return scalars[kind];
}

BinaryDouble *
pointwise_double2(OpKind kind)
{
	return scalars2[kind];
}

/* The elements of an operand; a scalar one is spread to n equal elements. */
static const void *
operand_wide(const Tensor *t, const Tensor *result, int64_t first, int64_t n, Chunk *buffer)
{
	if (t->type.rank || !result->type.rank)
		return view_wide(t, first, n, buffer);
	for (int64_t i = 0; i < n; i++)
		load_wide(t->type.dtype, t->data, 0, 1,
			(char *)buffer + (size_t)i * wide_bytes(wide_of(t->type.dtype)));
	return buffer;
}

bool
elementwise(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	int64_t n = type_elements(&result->type), count;
	Loop *loop = loops[op->kind][wide_of(d)];
	Chunk buffers[3], out;
	(void)c;
	if (!loop)
		die("%s is not defined for %s", ops[op->kind].name, dtypes[d].name);
	for (int64_t i = 0; i < n; i += count) {
		const void *in[3] = {NULL, NULL, NULL};
		count = n - i < CHUNK ? n - i : CHUNK;
		for (int k = 0; k < op->noperands; k++)
			in[k] = operand_wide(&operands[k], result, i, count, &buffers[k]);
		loop(in[0], in[1], in[2], &out, count);
		store_wide(d, &out, result->data, i, count);
	}
	return true;
}

/* On the bits of the dtype alone; those above are for store_wide() to drop. */
static uint64_t
combine_bits(OpKind kind, uint64_t a, uint64_t b, int width)
{
	uint64_t all = width == 64 ? UINT64_MAX : (1ull << width) - 1;
	a &= all;
	b &= all;
	if (kind == O_xor)
		return a ^ b;
	if (b >= (uint64_t)width)
		return 0;
	return kind == O_shl ? a << b : a >> b;
}

bool
bits(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	int64_t n = type_elements(&result->type);
	(void)c;
	for (int64_t i = 0; i < n; i++) {
		int64_t wide = (int64_t)combine_bits(op->kind,
			(uint64_t)tensor_integer(&operands[0], i),
			(uint64_t)tensor_integer(&operands[1], i), 8 * dtypes[d].bytes);
		store_wide(d, &wide, result->data, i, 1);
	}
	return true;
}

#define COMPARE(name, type, sign) \
	static void name(const void *ap, const void *bp, const void *cp, void *rp, int64_t n) \
	{ \
		const type *a = ap, *b = bp; \
		uint8_t *r = rp; \
		(void)cp; \
		for (int64_t i = 0; i < n; i++) \
			r[i] = a[i] sign b[i]; \
	}
#define COMPARES(name, sign) \
	COMPARE(name##_int, int64_t, sign) \
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

static Loop *const comparisons[][WIDE_COUNT] = {
	[DIR_EQ] = {equal_int, equal_float, equal_double},
	[DIR_NE] = {not_equal_int, not_equal_float, not_equal_double},
	[DIR_LT] = {less_int, less_float, less_double},
	[DIR_LE] = {less_equal_int, less_equal_float, less_equal_double},
	[DIR_GT] = {greater_int, greater_float, greater_double},
	[DIR_GE] = {greater_equal_int, greater_equal_float, greater_equal_double},
};

bool
compare(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	Wide wide = wide_of(operands[0].type.dtype);
	Loop *loop = comparisons[op_int(op, A_direction)][wide];
	int64_t n = type_elements(&result->type), count;
	Chunk a, b;
	(void)c;
	for (int64_t i = 0; i < n; i += count) {
		count = n - i < CHUNK ? n - i : CHUNK;
		loop(view_wide(&operands[0], i, count, &a),
			view_wide(&operands[1], i, count, &b), NULL,
			(uint8_t *)result->data + i, count);
	}
	return true;
}

bool
is_finite(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	uint8_t *r = result->data;
	(void)c, (void)op;
	for (int64_t i = 0; i < n; i++)
		r[i] = isfinite(tensor_double(&operands[0], i)) != 0;
	return true;
}

bool
select_elements(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	size_t bytes = (size_t)dtypes[result->type.dtype].bytes;
	const uint8_t *predicate = operands[0].data;
	bool scalar = !operands[0].type.rank;
	char *r = result->data;
	(void)c, (void)op;
	for (int64_t i = 0; i < n; i++) {
		const Tensor *from = &operands[predicate[scalar ? 0 : i] ? 1 : 2];
		size_t at = (size_t)i * bytes;
		memcpy(r + at, (const char *)from->data + at, bytes);
	}
	return true;
}

bool
convert(const Context *c, const Op *op, const Tensor *operands, Tensor *result)
{
	DType from = operands[0].type.dtype, to = result->type.dtype;
	int64_t n = type_elements(&result->type), count;
	Chunk in, out;
	(void)c, (void)op;
	for (int64_t i = 0; i < n; i += count) {
		count = n - i < CHUNK ? n - i : CHUNK;
		convert_wide(from, view_wide(&operands[0], i, count, &in), to, &out, count);
		store_wide(to, &out, result->data, i, count);
	}
	return true;
}
