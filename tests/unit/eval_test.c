/*
 * eval_test.c - the interpreter, op by op, against values worked out by hand;
 * number formats; shards; device programs; error bounds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "eval/eval.h"
#include "eval/scalar.h"
#include "shdrt.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* ---- programs of a few ops ------------------------------------------------ */

enum { MAX_INPUTS = 4, MAX_ELEMENTS = 64 };

typedef struct Program {
	Session *session;
	Module *module;
	Tensor inputs[MAX_INPUTS];
	int n;
} Program;

static Program
program(void)
{
	Program p = {.session = session_new()};

	p.module = module_new(p.session, "test");
	return p;
}

static Type
shape(DType d, int rank, int64_t a, int64_t b, int64_t c)
{
	int64_t dims[3] = {a, b, c};

	return type_of(d, rank, dims);
}

static Type
vector(DType d, int64_t n)
{
	return shape(d, 1, n, 0, 0);
}

static Type
scalar(DType d)
{
	return shape(d, 0, 0, 0, 0);
}

typedef struct Rounded {
	double number; /* of f32 */
	uint8_t bits;
} Rounded;
#include "../runtime/byte_floats.inc"

#define EACH_BYTE_FLOAT(X) \
	X(f8e5m2) \
	X(f8e4m3) \
	X(f8e3m4) \
	X(f8e4m3fn) \
	X(f8e5m2fnuz) \
	X(f8e4m3fnuz) \
	X(f8e4m3b11fnuz) \
	X(f8e8m0fnu) \
	X(f4e2m1fn)

static const struct ByteFloat {
	const double *values;
	const Rounded *rounded;
	size_t n;
} byte_floats[DTYPE_COUNT] = {
#define X(name) \
	[D_##name] = {name##_values, name##_rounded, \
		sizeof name##_rounded / sizeof name##_rounded[0]},
	EACH_BYTE_FLOAT(X)
#undef X
};

/* The bits of a number that the dtype has. */
static uint8_t
byte_of(DType d, double v)
{
	int b = 0;

	while (b < (1 << dtypes[d].bits) - 1
		&& !(byte_floats[d].values[b] == v
			|| (isnan(v) && isnan(byte_floats[d].values[b]))))
		b++;
	return (uint8_t)b;
}

/* Storage is set directly, so that the formats under test are not used. */
static void
store(Tensor *t, int64_t i, double v)
{
	float f = (float)v;
	uint32_t bits = float_bits(f);

	switch (t->type.dtype) {
	case D_pred:
		((uint8_t *)t->data)[i] = v != 0;
		break;
	case D_i4:
	case D_i8:
		((int8_t *)t->data)[i] = (int8_t)v;
		break;
	case D_i32:
		((int32_t *)t->data)[i] = (int32_t)v;
		break;
	case D_i64:
		((int64_t *)t->data)[i] = (int64_t)v;
		break;
	case D_u4:
	case D_u8:
		((uint8_t *)t->data)[i] = (uint8_t)v;
		break;
	case D_u32:
		((uint32_t *)t->data)[i] = (uint32_t)v;
		break;
	case D_i16:
		((int16_t *)t->data)[i] = (int16_t)v;
		break;
	case D_u16:
		((uint16_t *)t->data)[i] = (uint16_t)v;
		break;
	case D_u64:
		((uint64_t *)t->data)[i] = (uint64_t)v;
		break;
#define X(name) case D_##name:
		EACH_BYTE_FLOAT(X)
#undef X
		((uint8_t *)t->data)[i] = byte_of(t->type.dtype, v);
		break;
	case D_bf16:
		((uint16_t *)t->data)[i] = (uint16_t)(bits >> 16);
		break;
	case D_f16:
		((uint16_t *)t->data)[i] = float_to_f16(f);
		break;
	case D_f32:
		((float *)t->data)[i] = f;
		break;
	case D_f64:
		((double *)t->data)[i] = v;
		break;
	case DTYPE_COUNT:
		break;
	}
}

static double
element(const Tensor *t, int64_t i)
{
	switch (t->type.dtype) {
	case D_pred:
		return ((uint8_t *)t->data)[i];
	case D_i4:
	case D_i8:
		return ((int8_t *)t->data)[i];
	case D_i32:
		return ((int32_t *)t->data)[i];
	case D_i64:
		return (double)((int64_t *)t->data)[i];
	case D_u4:
	case D_u8:
		return ((uint8_t *)t->data)[i];
	case D_u32:
		return ((uint32_t *)t->data)[i];
	case D_i16:
		return ((int16_t *)t->data)[i];
	case D_u16:
		return ((uint16_t *)t->data)[i];
	case D_u64:
		return (double)((uint64_t *)t->data)[i];
#define X(name) \
	case D_##name: \
		return name##_values[((uint8_t *)t->data)[i]];
		EACH_BYTE_FLOAT(X)
#undef X
	case D_bf16:
		return bf16_to_float(((uint16_t *)t->data)[i]);
	case D_f16:
		return f16_to_float(((uint16_t *)t->data)[i]);
	case D_f32:
		return ((float *)t->data)[i];
	case D_f64:
		return ((double *)t->data)[i];
	case DTYPE_COUNT:
		break;
	}
	return 0;
}

static Tensor
tensor(Type type, const double *values)
{
	Tensor t;

	if (!tensor_new(&type, &t))
		exit(1);
	for (int64_t i = 0; i < type_elements(&type); i++)
		store(&t, i, values[i]);
	return t;
}

static Value *
input(Program *p, Type type, const double *values)
{
	p->inputs[p->n++] = tensor(type, values);
	return block_add_param(p->module->entry, "x", &type);
}

/* An op not yet typed: set attributes, then value(). */
static Op *
op(Program *p, OpKind kind, int n, Value *a, Value *b, Value *c)
{
	Value *operands[3] = {a, b, c};
	Op *made = op_new(p->module, kind, n, operands, 1, NULL, (Range){0}, NULL);

	op_append(p->module->entry, made);
	return made;
}

static Value *
value(Op *made, Type wanted)
{
	made->results[0]->type = wanted;
	op_infer(made);
	return made->results[0];
}

static Value *
number(Program *p, DType d, double v)
{
	Op *made = op(p, O_constant, 0, NULL, NULL, NULL);

	op_set_int(made, A_value, dtype_is_float(d) ? double_payload(v) : (int64_t)v);
	return value(made, scalar(d));
}

static void
finish(Program *p, Value *result)
{
	Op *end = op_new(p->module, O_return, 1, &result, 0, NULL, (Range){0}, NULL);

	op_append(p->module->entry, end);
}

static void
free_program(Program *p)
{
	for (int i = 0; i < p->n; i++)
		tensor_free(&p->inputs[i]);
	session_free(p->session);
}

static bool
equal(const Tensor *t, const double *expected)
{
	for (int64_t i = 0; i < type_elements(&t->type); i++) {
		double v = element(t, i);
		if (v != expected[i] && (v == v || expected[i] == expected[i])) {
			printf("# [%d] is %.17g, expected %.17g\n", (int)i, v, expected[i]);
			return false;
		}
	}
	return true;
}

/* Ends the program at `result`, runs it, compares, frees it. */
static void
gives(Program *p, Value *result, const double *expected, const char *name)
{
	Tensor output;

	finish(p, result);
	bool good = eval_global(p->module, p->inputs, &output);
	ok(good && equal(&output, expected), name);
	if (good)
		tensor_free(&output);
	free_program(p);
}

/* ---- number formats --------------------------------------------------------- */

static void
test_bf16(void)
{
	ok(float_to_bf16(1.0f) == 0x3f80, "bf16 of 1");
	ok(float_to_bf16(bits_float(0x3f808000)) == 0x3f80, "bf16: a tie goes to even, down");
	ok(float_to_bf16(bits_float(0x3f818000)) == 0x3f82, "bf16: a tie goes to even, up");
	ok(float_to_bf16(bits_float(0x3f808001)) == 0x3f81, "bf16: above a tie goes up");
	ok(float_to_bf16(bits_float(0x7f7fffff)) == 0x7f80,
		"bf16: the largest f32 rounds to infinity");
	ok(float_to_bf16(bits_float(0x7f800001)) == 0x7fc0, "bf16: a NaN stays one");
	ok(float_to_bf16(-0.0f) == 0x8000, "bf16: minus zero");
	/* 1 + 2^-8 + 2^-40: just above a tie, which f32 would not see */
	ok(float_to_bf16(double_to_float_odd(1 + 0x1p-8 + 0x1p-40)) == 0x3f81,
		"bf16 of f64 rounds once");
	ok(float_to_bf16(double_to_float_odd(-1e-300)) == 0x8000,
		"bf16 of a tiny negative f64 is minus zero");
	ok(float_to_bf16(integer_to_float_odd(((int64_t)1 << 62) + ((int64_t)1 << 54) + 1))
			== 0x5e81,
		"bf16 of i64 rounds once");
}

static bool
same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void
test_byte_floats(void)
{
	for (int d = 0; d < DTYPE_COUNT; d++) {
		const struct ByteFloat *f = &byte_floats[d];
		int wrong = 0;
		if (f->n == 0)
			continue;
		for (unsigned b = 0; b < 1u << dtypes[d].bits; b++) {
			double v = float_of_bits((DType)d, b);
			wrong += !same(v, f->values[b]);
			wrong += float_bits_of((DType)d, v) != b && !isnan(v);
			wrong += (float_bits_of((DType)d, v) & 0x80) != (b & 0x80);
		}
		for (size_t i = 0; i < f->n; i++) {
			double v = f->values[f->rounded[i].bits];
			wrong += !same(float_rounded((DType)d, f->rounded[i].number), v);
			wrong += !same(float_of_bits((DType)d,
					       float_bits_of((DType)d, f->rounded[i].number)),
				v);
		}
		ok(wrong == 0, dtypes[d].name);
	}
}

static void
test_f16(void)
{
	bool all = true;

	ok(float_to_f16(1.0f) == 0x3c00, "f16 of 1");
	ok(float_to_f16(65504.0f) == 0x7bff, "f16: the largest");
	ok(float_to_f16(65519.996f) == 0x7bff, "f16: rounds down to it");
	ok(float_to_f16(65520.0f) == 0x7c00, "f16: 65520 is infinity");
	ok(float_to_f16(1 + 0x1p-11f) == 0x3c00, "f16: a tie to even, down");
	ok(float_to_f16(1 + 0x1.8p-10f) == 0x3c02, "f16: a tie to even, up");
	ok(float_to_f16(0x1p-24f) == 1, "f16: the least subnormal");
	ok(float_to_f16(0x1p-25f) == 0, "f16: half of it is a tie, to zero");
	ok(float_to_f16(0x1.8p-25f) == 1, "f16: more than half goes up");
	ok(float_to_f16(0x1.ff8p-15f) == 0x3ff, "f16: the largest subnormal");
	ok(float_to_f16(0x1.ffep-15f) == 0x400, "f16: rounds up to normal");
	for (uint32_t h = 0; h < 0x10000; h++) {
		float f = f16_to_float((uint16_t)h);
		if (f == f && float_to_f16(f) != h)
			all = false;
	}
	ok(all, "every f16 survives a trip through f32");
	ok(isnan(f16_to_float(float_to_f16(NAN))), "f16: a NaN stays one");
}

static void
test_saturation(void)
{
	ok(double_to_integer(NAN, INT32_MIN, INT32_MAX) == 0, "NaN to 0");
	ok(double_to_integer(1e10, INT32_MIN, INT32_MAX) == INT32_MAX, "above i32");
	ok(double_to_integer(-1e10, INT32_MIN, INT32_MAX) == INT32_MIN, "below i32");
	ok(double_to_integer(0x1p63, INT64_MIN, INT64_MAX) == INT64_MAX, "2^63 to i64");
	ok(double_to_integer(-0.9, 0, 255) == 0, "toward zero");
	ok(double_to_integer(254.9, 0, 255) == 254, "254.9 to u8");
}

/* ---- pointwise ---------------------------------------------------------------- */

typedef struct PointwiseCase {
	const char *name;
	OpKind kind;
	DType dtype;
	int operands, n;
	double x[3][6], expected[6];
} PointwiseCase;

#define MIN32 (-2147483648.0)
#define MIN64 (-9223372036854775808.0)
#define MAX64 18446744073709549568.0 /* of u64 that a double holds */
static const PointwiseCase pointwise_cases[] = {
	{"i32 division", O_div, D_i32, 2, 6, {{7, -7, 5, MIN32, 0, -9}, {2, 2, 0, -1, 0, -4}},
		{3, -3, -1, MIN32, -1, 2}},
	{"i32 remainder", O_rem, D_i32, 2, 5, {{7, -7, 5, MIN32, -9}, {3, 3, 0, -1, -4}},
		{1, -1, 5, 0, -1}},
	{"i64 division", O_div, D_i64, 2, 3, {{MIN64, 9, 1}, {-1, 0, -1}}, {MIN64, -1, -1}},
	{"i64 remainder", O_rem, D_i64, 2, 2, {{MIN64, 9}, {-1, 0}}, {0, 9}},
	{"u32 division", O_div, D_u32, 2, 3,
		{{4294967295., 7, 4294967295.}, {2, 0, 4294967295.}},
		{2147483647, 4294967295., 1}},
	{"u64 division", O_div, D_u64, 2, 3, {{MAX64, 0x1p63, 1}, {2, 0x1p62, 0}},
		{9223372036854774784., 2, MAX64 + 2048}},
	{"u64 remainder", O_rem, D_u64, 2, 2, {{0x1p63 + 4096, 9}, {0x1p63, 0}}, {4096, 9}},
	{"u64 maximum", O_maximum, D_u64, 2, 2, {{0x1p63, 1}, {1, 0x1p63}}, {0x1p63, 0x1p63}},
	{"u64 power", O_pow, D_u64, 2, 2, {{2, 2}, {63, 64}}, {0x1p63, 0}},
	{"u64 sign", O_sign, D_u64, 1, 2, {{0x1p63, 0}}, {1, 0}},
	{"u16 wraps", O_mul, D_u16, 2, 2, {{65535, 256}, {65535, 256}}, {1, 0}},
	{"i16 wraps", O_add, D_i16, 2, 2, {{32767, -32768}, {1, -1}}, {-32768, 32767}},
	{"i4 wraps", O_add, D_i4, 2, 3, {{7, -8, 5}, {1, -1, 5}}, {-8, 7, -6}},
	{"u4 wraps", O_mul, D_u4, 2, 3, {{15, 4, 0}, {15, 4, 1}}, {1, 0, 0}},
	{"i4 division", O_div, D_i4, 2, 4, {{7, -8, 5, -7}, {2, -1, 0, 2}}, {3, -8, -1, -3}},
	{"u4 division", O_div, D_u4, 2, 3, {{15, 7, 8}, {2, 0, 15}}, {7, 15, 0}},
	{"i4 up", O_shl, D_i4, 2, 4, {{1, 3, -1, 1}, {3, 2, 1, 4}}, {-8, -4, -2, 0}},
	{"i4 down", O_shr, D_i4, 2, 4, {{-1, -8, 7, -1}, {1, 3, 1, 4}}, {7, 1, 3, 0}},
	{"i4 down with its sign", O_sar, D_i4, 2, 3, {{-8, 7, -3}, {2, 1, 9}}, {-2, 3, -1}},
	{"u4 down with its highest bit", O_sar, D_u4, 2, 3, {{8, 4, 15}, {2, 1, 5}},
		{14, 2, 15}},
	{"i4 ones", O_popcnt, D_i4, 1, 3, {{-1, 5, 0}}, {4, 2, 0}},
	{"u4 zeros before", O_clz, D_u4, 1, 3, {{0, 8, 1}}, {4, 0, 3}},
	{"u4 not", O_not, D_u4, 1, 2, {{0, 5}}, {15, 10}},
	{"i4 abs", O_abs, D_i4, 1, 2, {{-8, -3}}, {-8, 3}},
	{"u8 wraps", O_sub, D_u8, 2, 2, {{3, 255}, {5, 1}}, {254, 254}},
	{"i8 wraps", O_add, D_i8, 2, 3, {{127, -128, 100}, {1, -1, 27}}, {-128, 127, 127}},
	{"i32 multiplication wraps", O_mul, D_i32, 2, 2, {{65536, 2147483647}, {65536, 2}},
		{0, -2}},
	{"i32 abs of the least", O_abs, D_i32, 1, 3, {{MIN32, -3, 4}}, {MIN32, 3, 4}},
	{"i32 negation of the least", O_neg, D_i32, 1, 2, {{MIN32, 3}}, {MIN32, -3}},
	{"i32 power", O_pow, D_i32, 2, 6, {{2, 3, -1, 2, 1, 0}, {10, 0, -3, -1, -5, 0}},
		{1024, 1, -1, 0, 1, 1}},
	{"i32 sign", O_sign, D_i32, 1, 3, {{-7, 0, 9}}, {-1, 0, 1}},
	{"f32 maximum with NaN", O_maximum, D_f32, 2, 4,
		{{NAN, 1, 2, -INFINITY}, {1, NAN, 3, 4}}, {NAN, NAN, 3, 4}},
	{"f32 minimum with NaN", O_minimum, D_f32, 2, 3, {{NAN, 1, 2}, {1, NAN, 3}},
		{NAN, NAN, 2}},
	{"f32 round half to even", O_round, D_f32, 1, 6, {{0.5, 1.5, 2.5, -0.5, -1.5, 2.6}},
		{0, 2, 2, 0, -2, 3}},
	{"f32 floor", O_floor, D_f32, 1, 3, {{-1.5, 1.5, -INFINITY}}, {-2, 1, -INFINITY}},
	{"f32 sign of NaN", O_sign, D_f32, 1, 4, {{NAN, -2, 0, INFINITY}}, {NAN, -1, 0, 1}},
	{"f32 division by zero", O_div, D_f32, 2, 3, {{1, -1, 0}, {0, 0, 0}},
		{INFINITY, -INFINITY, NAN}},
	{"f32 remainder", O_rem, D_f32, 2, 3, {{5.5, -5.5, 1}, {2, 2, 0}}, {1.5, -1.5, NAN}},
	{"f32 log", O_log, D_f32, 1, 3, {{1, 0, -1}}, {0, -INFINITY, NAN}},
	{"f32 rsqrt", O_rsqrt, D_f32, 1, 3, {{4, 0, INFINITY}}, {0.5, INFINITY, 0}},
	{"f32 clamp", O_clamp, D_f32, 3, 4, {{0, 0, 0, NAN}, {-1, 2, NAN, 0}, {1, 1, 1, 1}},
		{0, 1, NAN, NAN}},
	{"f32 sigmoid", O_sigmoid, D_f32, 1, 3, {{0, -INFINITY, INFINITY}}, {0.5, 0, 1}},
	{"f64 is computed in double", O_add, D_f64, 2, 1, {{1}, {0x1p-52}}, {1 + 0x1p-52}},
	{"f32 is rounded", O_add, D_f32, 2, 1, {{1}, {0x1p-30}}, {1}},
	{"bf16 ties to even", O_add, D_bf16, 2, 2, {{1, 1.0078125}, {0x1p-8, 0x1p-8}},
		{1, 1.015625}},
	{"f16 overflows", O_mul, D_f16, 2, 2, {{256, 255}, {256, 256}}, {INFINITY, 65280}},
	{"pred and", O_and, D_pred, 2, 4, {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 0, 0, 1}},
	{"pred or", O_or, D_pred, 2, 4, {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 1, 1, 1}},
	{"pred not", O_not, D_pred, 1, 2, {{0, 1}}, {1, 0}},
	{"i8 and", O_and, D_i8, 2, 3, {{-1, 12, -128}, {5, 10, -2}}, {5, 8, -128}},
	{"u32 or", O_or, D_u32, 2, 2, {{4294901760., 5}, {65535, 3}}, {4294967295., 7}},
	{"u16 not", O_not, D_u16, 1, 2, {{0, 65280}}, {65535, 255}},
	{"i32 not", O_not, D_i32, 1, 3, {{0, -1, 7}}, {-1, 0, -8}},
	{"u64 not", O_not, D_u64, 1, 1, {{MAX64}}, {2047}},
	{"i8 down with its sign", O_sar, D_i8, 2, 4, {{-128, 64, -3, -1}, {3, 3, 9, -1}},
		{-16, 8, -1, -1}},
	{"u8 down with its highest bit", O_sar, D_u8, 2, 3, {{128, 64, 200}, {3, 3, 8}},
		{240, 8, 255}},
	{"i16 ones", O_popcnt, D_i16, 1, 4, {{0, -1, 5, -32768}}, {0, 16, 2, 1}},
	{"u64 ones", O_popcnt, D_u64, 1, 2, {{MAX64, 0}}, {53, 0}},
	{"i32 zeros before", O_clz, D_i32, 1, 4, {{0, -1, 1, 65536}}, {32, 0, 31, 15}},
	{"u8 zeros before", O_clz, D_u8, 1, 3, {{0, 128, 3}}, {8, 0, 6}},
	{"select", O_select, D_i32, 3, 3, {{1, 0, 1}, {1, 2, 3}, {4, 5, 6}}, {1, 5, 3}},
	{"isfinite", O_isfinite, D_f32, 1, 3, {{1, INFINITY, NAN}}, {1, 0, 0}},
};

static void
test_pointwise(void)
{
	int n = sizeof pointwise_cases / sizeof pointwise_cases[0];

	for (int i = 0; i < n; i++) {
		const PointwiseCase *c = &pointwise_cases[i];
		Program p = program();
		Value *x[3] = {NULL, NULL, NULL};
		for (int k = 0; k < c->operands; k++) {
			bool condition = c->kind == O_select && k == 0;
			x[k] = input(&p, vector(condition ? D_pred : c->dtype, c->n), c->x[k]);
		}
		Op *made = op(&p, c->kind, c->operands, x[0], x[1], x[2]);
		gives(&p, value(made, vector(c->dtype, c->n)), c->expected, c->name);
	}
}

static void
test_compare(void)
{
	static const double a[] = {1, 2, NAN, 3}, b[] = {2, 2, 1, 1};
	static const double expected[][4] = {
		[DIR_EQ] = {0, 1, 0, 0},
		[DIR_NE] = {1, 0, 1, 1},
		[DIR_LT] = {1, 0, 0, 0},
		[DIR_LE] = {1, 1, 0, 0},
		[DIR_GT] = {0, 0, 0, 1},
		[DIR_GE] = {0, 1, 0, 1},
	};

	for (int d = DIR_EQ; d <= DIR_GE; d++) {
		Program p = program();
		Value *x = input(&p, vector(D_f32, 4), a);
		Value *y = input(&p, vector(D_f32, 4), b);
		Op *made = op(&p, O_compare, 2, x, y, NULL);
		op_set_int(made, A_direction, d);
		gives(&p, value(made, vector(D_pred, 4)), expected[d], direction_names[d]);
	}
}

typedef struct ConvertCase {
	const char *name;
	DType from, to;
	double x[4], expected[4];
} ConvertCase;

static const ConvertCase convert_cases[] = {
	{"f32 to i32 saturates", D_f32, D_i32, {1e20, -1e20, NAN, -1.9},
		{2147483647, MIN32, 0, -1}},
	{"f32 to u8 saturates", D_f32, D_u8, {300, -3, 254.9, NAN}, {255, 0, 254, 0}},
	{"f64 to i64 saturates", D_f64, D_i64, {1e30, -1e30, 5.5, -5.5},
		{0x1p63 - 1, MIN64, 5, -5}},
	{"f64 to u64 saturates", D_f64, D_u64, {1e30, -1, NAN, 0x1p63}, {0x1p64, 0, 0, 0x1p63}},
	{"u64 to f32", D_u64, D_f32, {0x1p63, 0x1p24 + 1, 3, MAX64},
		{0x1p63, 0x1p24, 3, 0x1p64}},
	{"u64 to bf16 rounds once", D_u64, D_bf16,
		{0x1p63 + 0x1p55 + 2048, 0x1p63 + 0x1p55, 3, 0},
		{0x1p63 + 0x1p56, 0x1p63, 3, 0}},
	{"u64 to f64", D_u64, D_f64, {0x1p63, 1, 0, MAX64}, {0x1p63, 1, 0, MAX64}},
	{"f32 to i4 saturates", D_f32, D_i4, {40, -40, NAN, -1.9}, {7, -8, 0, -1}},
	{"f32 to u4 saturates", D_f32, D_u4, {40, -40, NAN, 14.9}, {15, 0, 0, 14}},
	{"i32 to i4 wraps", D_i32, D_i4, {8, -9, 255, 5}, {-8, 7, -1, 5}},
	{"i4 to u4 wraps", D_i4, D_u4, {-1, -8, 7, 0}, {15, 8, 7, 0}},
	{"i4 to u32 wraps", D_i4, D_u32, {-1, -8, 7, 0}, {4294967295., 4294967288., 7, 0}},
	{"f32 to i16 saturates", D_f32, D_i16, {40000, -40000, NAN, -1.9},
		{32767, -32768, 0, -1}},
	{"i64 to u16 wraps", D_i64, D_u16, {-1, 65536, 65537, 5}, {65535, 0, 1, 5}},
	{"i32 to i8 wraps", D_i32, D_i8, {128, 257, -129, 5}, {-128, 1, 127, 5}},
	{"i32 to u32 wraps", D_i32, D_u32, {-1, 2, 3, 4}, {4294967295., 2, 3, 4}},
	{"f32 to pred", D_f32, D_pred, {0, -0.0, NAN, 0.5}, {0, 0, 1, 1}},
	{"pred to f32", D_pred, D_f32, {0, 1, 1, 0}, {0, 1, 1, 0}},
	{"f32 to bf16 ties to even", D_f32, D_bf16, {1.00390625, 1.01171875, 3e38, -2},
		{1, 1.015625, 0x1.c4p127, -2}},
	{"i32 to f32 rounds", D_i32, D_f32, {16777217, 16777219, 1, 2},
		{16777216, 16777220, 1, 2}},
};

static void
test_bitcast(void)
{
	Program p = program();
	Value *x = input(&p, vector(D_f32, 4), (double[]){1, -2, 0, 0.5});
	Value *bits = value(op(&p, O_bitcast, 1, x, NULL, NULL), vector(D_u32, 4));

	gives(&p, bits, (double[]){0x3f800000, 0xc0000000, 0, 0x3f000000}, "bits of f32");
	p = program();
	x = input(&p, vector(D_i16, 4), (double[]){0x3f80, -16384, 0, 0x4049});
	gives(&p, value(op(&p, O_bitcast, 1, x, NULL, NULL), vector(D_bf16, 4)),
		(double[]){1, -2, 0, 3.140625}, "bf16 of bits");
}

static void
test_convert(void)
{
	int n = sizeof convert_cases / sizeof convert_cases[0];

	for (int i = 0; i < n; i++) {
		const ConvertCase *c = &convert_cases[i];
		Program p = program();
		Value *x = input(&p, vector(c->from, 4), c->x);
		gives(&p, value(op(&p, O_convert, 1, x, NULL, NULL), vector(c->to, 4)),
			c->expected, c->name);
	}
}

/* ---- shape --------------------------------------------------------------------- */

static const double counting[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void
test_leaves(void)
{
	Program p = program();
	Op *made = op(&p, O_iota, 0, NULL, NULL, NULL);

	op_set_int(made, A_iota_dim, 1);
	gives(&p, value(made, shape(D_f32, 2, 2, 3, 0)), (double[]){0, 1, 2, 0, 1, 2},
		"iota along the minor dim");
	p = program();
	made = op(&p, O_iota, 0, NULL, NULL, NULL);
	op_set_int(made, A_iota_dim, 0);
	gives(&p, value(made, shape(D_i8, 2, 2, 2, 0)), (double[]){0, 0, 1, 1},
		"iota along the major dim");
	p = program();
	gives(&p, number(&p, D_bf16, 0.1), (double[]){0x1.9ap-4}, "a bf16 constant is rounded");
	p = program();
	gives(&p, number(&p, D_i64, MIN64), (double[]){MIN64}, "an i64 constant");
}

static void
test_broadcast(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 2, 2, 2, 0), counting);
	Op *made = op(&p, O_broadcast, 1, x, NULL, NULL);

	op_set_ints(made, A_dims, 2, (int64_t[]){0, 2});
	gives(&p, value(made, shape(D_f32, 3, 2, 2, 2)), (double[]){0, 1, 0, 1, 2, 3, 2, 3},
		"broadcast in the middle");
	p = program();
	x = input(&p, scalar(D_bf16), (double[]){2.5});
	made = op(&p, O_broadcast, 1, x, NULL, NULL);
	op_set_ints(made, A_dims, 0, NULL);
	gives(&p, value(made, vector(D_bf16, 3)), (double[]){2.5, 2.5, 2.5},
		"broadcast of a scalar");
}

static void
test_transpose(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 3, 2, 3, 2), counting);
	Op *made = op(&p, O_transpose, 1, x, NULL, NULL);

	op_set_ints(made, A_dims, 3, (int64_t[]){2, 0, 1});
	gives(&p, value(made, shape(D_f32, 3, 2, 2, 3)),
		(double[]){0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}, "transpose");
}

static void
test_slice(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_u8, 2, 3, 4, 0), counting);
	Op *made = op(&p, O_slice, 1, x, NULL, NULL);

	op_set_ints(made, A_start, 2, (int64_t[]){1, 1});
	op_set_ints(made, A_limit, 2, (int64_t[]){3, 4});
	op_set_ints(made, A_stride, 2, (int64_t[]){1, 2});
	gives(&p, value(made, shape(D_u8, 2, 2, 2, 0)), (double[]){5, 7, 9, 11},
		"slice with a step");
}

static void
test_reverse(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i32, 2, 2, 3, 0), counting);
	Op *made = op(&p, O_reverse, 1, x, NULL, NULL);

	op_set_ints(made, A_dims, 2, (int64_t[]){0, 1});
	gives(&p, value(made, shape(D_i32, 2, 2, 3, 0)), (double[]){5, 4, 3, 2, 1, 0},
		"reverse of both dims");
}

static void
test_windows(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i32, 2, 2, 6, 0), counting);
	Op *made = op(&p, O_windows, 1, x, NULL, NULL);

	op_set_int(made, A_windowed, 1);
	op_set_int(made, A_window, 2);
	op_set_int(made, A_step, 3);
	op_set_int(made, A_apart, 2);
	gives(&p, value(made, shape(D_i32, 3, 2, 2, 2)), (double[]){0, 2, 3, 5, 6, 8, 9, 11},
		"windows of every third, and the second after it");
}

static void
test_frames(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i32, 2, 2, 3, 0), counting);
	Value *around = input(&p, shape(D_i32, 0, 0, 0, 0), counting);
	Op *made = op(&p, O_frames, 2, x, around, NULL);

	op_set_int(made, A_windowed, 1);
	op_set_int(made, A_window, 3);
	op_set_int(made, A_step, 2);
	op_set_int(made, A_apart, 1);
	op_set_int(made, A_before, 1);
	op_set_int(made, A_behind, 2);
	gives(&p, value(made, shape(D_i32, 3, 2, 2, 3)),
		(double[]){0, 0, 1, 1, 2, 0, 0, 3, 4, 4, 5, 0},
		"windows of every second, one before and two behind");
}

static void
test_concatenate(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f64, 2, 2, 2, 0), counting);
	Value *y = input(&p, shape(D_f64, 2, 2, 1, 0), (double[]){8, 9});
	Op *made = op(&p, O_concatenate, 3, x, y, x);

	op_set_int(made, A_dim, 1);
	gives(&p, value(made, shape(D_f64, 2, 2, 5, 0)),
		(double[]){0, 1, 8, 0, 1, 2, 3, 9, 2, 3}, "concatenate");
}

static void
test_pad(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 2, 1, 2, 0), (double[]){1, 2});
	Op *made = op(&p, O_pad, 2, x, number(&p, D_f32, 7), NULL);

	op_set_ints(made, A_low, 2, (int64_t[]){1, 0});
	op_set_ints(made, A_high, 2, (int64_t[]){0, 1});
	gives(&p, value(made, shape(D_f32, 2, 2, 3, 0)), (double[]){7, 7, 7, 1, 2, 7}, "pad");
	p = program();
	x = input(&p, shape(D_f32, 2, 2, 3, 0), (double[]){1, 2, 3, 4, 5, 6});
	made = op(&p, O_pad, 2, x, number(&p, D_f32, 7), NULL);
	op_set_ints(made, A_low, 2, (int64_t[]){1, -2});
	op_set_ints(made, A_high, 2, (int64_t[]){-1, 1});
	gives(&p, value(made, shape(D_f32, 2, 2, 2, 0)), (double[]){7, 7, 3, 7},
		"pad that cuts");
}

static void
test_take(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 2, 2, 3, 0), counting);
	Value *index = input(&p, vector(D_i32, 4), (double[]){2, -5, 99, 1});
	Op *made = op(&p, O_take, 2, x, index, NULL);

	op_set_int(made, A_dim, 1);
	gives(&p, value(made, shape(D_f32, 2, 2, 4, 0)), (double[]){2, 0, 2, 1, 5, 3, 5, 4},
		"take clamps its indices");
	p = program();
	x = input(&p, shape(D_f32, 2, 2, 3, 0), counting);
	index = input(&p, scalar(D_u8), (double[]){1});
	made = op(&p, O_take, 2, x, index, NULL);
	op_set_int(made, A_dim, 0);
	gives(&p, value(made, vector(D_f32, 3)), (double[]){3, 4, 5}, "take at one index");
}

static void
test_reshape(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 2, 2, 3, 0), counting);

	gives(&p, value(op(&p, O_reshape, 1, x, NULL, NULL), shape(D_f32, 2, 3, 2, 0)),
		counting, "reshape keeps the order");
}

static void
test_dynamic_slice(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i32, 2, 3, 4, 0), counting);
	Value *row = number(&p, D_i32, -3), *column = number(&p, D_i32, 9);
	Op *made = op(&p, O_dynamic_slice, 3, x, row, column);

	op_set_ints(made, A_sizes, 2, (int64_t[]){2, 3});
	gives(&p, value(made, shape(D_i32, 2, 2, 3, 0)), (double[]){1, 2, 3, 5, 6, 7},
		"dynamic_slice clamps its starts");
}

/* ---- sums ------------------------------------------------------------------------ */

static void
check_reduce(DType d, Combiner c, int ndims, const int64_t *dims, int64_t n,
	const double *values, const double *expected, const char *name)
{
	Program p = program();
	Value *x = input(&p, shape(d, 2, 2, n, 0), values);
	int64_t identity = combiner_identity(c, d);
	Value *init =
		number(&p, d, dtype_is_float(d) ? payload_double(identity) : (double)identity);
	Op *made = op(&p, O_reduce, 2, x, init, NULL);

	op_set_ints(made, A_dims, ndims, dims);
	op_set_int(made, A_combiner, c);
	gives(&p, value(made, scalar(d)), expected, name);
}

static void
test_reduce(void)
{
	static const int64_t all[] = {0, 1}, row[] = {0}, column[] = {1};

	check_reduce(D_f32, C_add, 2, all, 3, counting, (double[]){15}, "sum over all dims");
	check_reduce(D_f32, C_add, 1, row, 3, counting, (double[]){3, 5, 7},
		"sum over the major dim");
	check_reduce(D_f32, C_add, 1, column, 3, counting, (double[]){3, 12},
		"sum over the minor dim");
	check_reduce(D_f32, C_add, 0, NULL, 2, counting, counting, "sum over no dim");
	check_reduce(D_f32, C_max, 1, column, 2, (double[]){1, NAN, -3, -2},
		(double[]){NAN, -2}, "max with a NaN");
	check_reduce(D_i32, C_min, 1, column, 2, (double[]){1, 5, -3, MIN32},
		(double[]){1, MIN32}, "min of i32");
	check_reduce(D_i8, C_add, 1, column, 2, (double[]){100, 100, 1, 2}, (double[]){-56, 3},
		"an i8 sum wraps");
	check_reduce(D_i8, C_mul, 2, all, 2, (double[]){16, 16, 1, 3}, (double[]){0},
		"an i8 product wraps");
	check_reduce(D_pred, C_and, 1, column, 2, (double[]){1, 1, 1, 0}, (double[]){1, 0},
		"and");
	check_reduce(D_pred, C_or, 2, all, 2, (double[]){0, 0, 1, 0}, (double[]){1}, "or");
	check_reduce(D_pred, C_max, 1, row, 2, (double[]){0, 0, 1, 0}, (double[]){1, 0},
		"max of pred");
	/* 256 + 1 + 1: rounded after each step it would stay 256. */
	check_reduce(D_bf16, C_add, 2, all, 2, (double[]){256, 1, 1, 0}, (double[]){258},
		"a bf16 sum rounds once");
}

static void
test_cumsum(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i32, 2, 2, 3, 0), counting);
	Op *made = op(&p, O_cumsum, 2, x, number(&p, D_i32, 0), NULL);

	op_set_int(made, A_dim, 1);
	op_set_int(made, A_combiner, C_add);
	gives(&p, value(made, shape(D_i32, 2, 2, 3, 0)), (double[]){0, 1, 3, 3, 7, 12},
		"cumsum along the minor dim");
	p = program();
	x = input(&p, shape(D_bf16, 2, 3, 2, 0), (double[]){256, 0, 1, 1, 1, 2});
	made = op(&p, O_cumsum, 2, x, number(&p, D_bf16, 0), NULL);
	op_set_int(made, A_dim, 0);
	op_set_int(made, A_combiner, C_add);
	gives(&p, value(made, shape(D_bf16, 2, 3, 2, 0)), (double[]){256, 0, 256, 1, 258, 3},
		"a bf16 cumsum carries in f32");
	p = program();
	x = input(&p, shape(D_i32, 2, 2, 3, 0), (double[]){2, 1, 3, 5, 7, 6});
	made = op(&p, O_cumsum, 2, x, number(&p, D_i32, INT32_MIN), NULL);
	op_set_int(made, A_dim, 1);
	op_set_int(made, A_combiner, C_max);
	gives(&p, value(made, shape(D_i32, 2, 2, 3, 0)), (double[]){2, 2, 3, 5, 7, 7},
		"a running maximum");
}

static Op *
dot_op(Program *p, Value *x, Value *y, int batch, int contract)
{
	Op *made = op(p, O_dot, 2, x, y, NULL);

	op_set_ints(made, A_lhs_batch, batch, (int64_t[]){0});
	op_set_ints(made, A_rhs_batch, batch, (int64_t[]){0});
	op_set_ints(made, A_lhs_contract, contract, (int64_t[]){batch + 1});
	op_set_ints(made, A_rhs_contract, contract, (int64_t[]){batch});
	return made;
}

static void
test_dot(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_f32, 2, 2, 3, 0), counting);
	Value *y = input(&p, shape(D_f32, 2, 3, 2, 0), counting);

	gives(&p, value(dot_op(&p, x, y, 0, 1), scalar(D_f32)), (double[]){10, 13, 28, 40},
		"dot");
	p = program();
	x = input(&p, shape(D_f32, 3, 2, 1, 2), counting);
	y = input(&p, shape(D_f32, 3, 2, 2, 1), counting);
	gives(&p, value(dot_op(&p, x, y, 1, 1), scalar(D_f32)), (double[]){1, 13},
		"dot with a batch dim");
	p = program();
	x = input(&p, shape(D_i8, 2, 1, 2, 0), (double[]){100, 100});
	y = input(&p, shape(D_i8, 2, 2, 1, 0), (double[]){1, 1});
	gives(&p, value(dot_op(&p, x, y, 0, 1), scalar(D_i8)), (double[]){-56},
		"an i8 dot wraps");
	p = program();
	x = input(&p, shape(D_i8, 2, 1, 2, 0), (double[]){100, 100});
	y = input(&p, shape(D_i8, 2, 2, 1, 0), (double[]){1, 1});
	gives(&p, value(dot_op(&p, x, y, 0, 1), scalar(D_i32)), (double[]){200},
		"an i8 dot into i32 does not");
	p = program();
	x = input(&p, shape(D_bf16, 2, 1, 3, 0), (double[]){256, 1, 1});
	y = input(&p, shape(D_bf16, 2, 3, 1, 0), (double[]){1, 1, 1});
	gives(&p, value(dot_op(&p, x, y, 0, 1), scalar(D_bf16)), (double[]){258},
		"a bf16 dot rounds once");
	p = program();
	x = input(&p, vector(D_f32, 2), (double[]){2, 3});
	y = input(&p, vector(D_f32, 2), (double[]){5, 7});
	Op *made = op(&p, O_dot, 2, x, y, NULL);
	gives(&p, value(made, scalar(D_f32)), (double[]){10, 14, 15, 21}, "an outer product");
}

/* The contracted dims come in any order and place. */
static void
test_dot_layouts(void)
{
	Program p = program();
	Value *x = input(&p, shape(D_i64, 3, 2, 2, 2), counting);
	Value *y = input(&p, shape(D_i64, 2, 2, 2, 0), counting);
	Op *made = op(&p, O_dot, 2, x, y, NULL);

	op_set_ints(made, A_lhs_contract, 2, (int64_t[]){2, 0});
	op_set_ints(made, A_rhs_contract, 2, (int64_t[]){0, 1});
	/* r[j] = sum over k, i of x[i, j, k] y[k, i] */
	gives(&p, value(made, scalar(D_i64)),
		(double[]){0 * 0 + 4 * 1 + 1 * 2 + 5 * 3, 2 * 0 + 6 * 1 + 3 * 2 + 7 * 3},
		"dot over two dims, crossed");
}

/* ---- blocks ------------------------------------------------------------------------ */

static void
test_call(void)
{
	Program p = program();
	Type type = vector(D_f32, 2);
	Value *x = input(&p, type, (double[]){3, 4});
	Op *call = op_new(p.module, O_call, 1, &x, 1, "twice", (Range){0}, NULL);
	Block *body = block_new(p.module, call);

	call->composite = "twice";
	call->nbodies = 1;
	call->bodies = NEW(p.module->arena, Block *);
	call->bodies[0] = body;
	Value *param = block_add_param(body, "v", &type);
	Value *operands[2] = {param, param};
	Op *add = op_new(p.module, O_add, 2, operands, 1, NULL, (Range){0}, NULL);
	op_append(body, add);
	op_infer(add);
	op_append(body, op_new(p.module, O_return, 1, add->results, 0, NULL, (Range){0}, NULL));
	op_append(p.module->entry, call);
	call->results[0]->type = type;
	Value *sum = value(op(&p, O_add, 2, call->results[0], x, NULL), type);
	gives(&p, sum, (double[]){9, 12}, "a call");
}

static void
test_return_of_a_parameter(void)
{
	Program p = program();
	Value *x = input(&p, vector(D_f32, 2), counting);

	gives(&p, x, counting, "a parameter is returned as a copy");
}

/* ---- meshes ------------------------------------------------------------------------ */

static void
set_mesh(Module *m, int64_t x, int64_t y)
{
	m->mesh.naxes = 2;
	m->mesh.axes[0] = (MeshAxis){.name = "X", .size = x};
	m->mesh.axes[1] = (MeshAxis){.name = "Y", .size = y};
	m->mesh.ndevices = x * y;
}

static AxisList
axes_of(const Mesh *m, int n, int first, int second)
{
	AxisList l = {0};

	axes_append(&l, axis_whole(m, first));
	if (n > 1)
		axes_append(&l, axis_whole(m, second));
	return l;
}

static void
test_shards(void)
{
	Program p = program();
	set_mesh(p.module, 2, 2);
	const Mesh *mesh = &p.module->mesh;
	Tensor whole = tensor(shape(D_f32, 2, 2, 4, 0), counting);
	Tensor local[4], back;
	Placement place = placement_none(2);
	AxisList x = axes_of(mesh, 1, 0, 0), yx = axes_of(mesh, 2, 1, 0);
	int64_t disagree;

	placement_set_dim(&place, 1, &yx);
	for (int d = 0; d < 4; d++)
		tensor_shard(mesh, &place, d, &whole, &local[d]);
	/* device 1 is X=0, Y=1: index 2 of (Y, X) */
	ok(equal(&local[1], (double[]){2, 6}), "a shard over (Y, X)");
	ok(tensor_unshard(mesh, &place, &whole.type, local, &back, &disagree) && disagree < 0
			&& equal(&back, counting),
		"and back");
	tensor_free(&back);
	for (int d = 0; d < 4; d++)
		tensor_free(&local[d]);

	place = placement_none(2);
	placement_set_unreduced(&place, &x, C_max);
	for (int d = 0; d < 4; d++)
		tensor_shard(mesh, &place, d, &whole, &local[d]);
	ok(element(&local[2], 0) == -INFINITY, "the identity off index 0");
	ok(tensor_unshard(mesh, &place, &whole.type, local, &back, &disagree) && disagree < 0
			&& equal(&back, counting),
		"partial results are combined");
	tensor_free(&back);
	store(&local[3], 2, 1);
	tensor_unshard(mesh, &place, &whole.type, local, &back, &disagree);
	ok(disagree == 3, "replicas that differ are found");
	tensor_free(&back);
	for (int d = 0; d < 4; d++)
		tensor_free(&local[d]);
	tensor_free(&whole);
	free_program(&p);
}

typedef struct CollectiveCase {
	const char *name;
	OpKind kind;
	int naxes, first, second; /* the group; of a permute, the target */
	int combiner;		  /* -1: none */
	int64_t result;		  /* elements */
	double expected[4][4];	  /* by device */
} CollectiveCase;

/* Device d of X=2, Y=2 holds {10 d, 10 d + 1}. */
static const CollectiveCase collective_cases[] = {
	{"all_gather over Y", O_all_gather, 1, 1, 0, -1, 4,
		{{0, 1, 10, 11}, {0, 1, 10, 11}, {20, 21, 30, 31}, {20, 21, 30, 31}}},
	{"all_gather over X", O_all_gather, 1, 0, 0, -1, 4,
		{{0, 1, 20, 21}, {10, 11, 30, 31}, {0, 1, 20, 21}, {10, 11, 30, 31}}},
	{"all_reduce over (X, Y)", O_all_reduce, 2, 0, 1, C_add, 2,
		{{60, 64}, {60, 64}, {60, 64}, {60, 64}}},
	{"all_reduce of max over Y", O_all_reduce, 1, 1, 0, C_max, 2,
		{{10, 11}, {10, 11}, {30, 31}, {30, 31}}},
	{"reduce_scatter over X", O_reduce_scatter, 1, 0, 0, C_add, 1,
		{{20}, {40}, {22}, {42}}},
	{"all_to_all over Y", O_all_to_all, 1, 1, 0, -1, 2,
		{{0, 10}, {1, 11}, {20, 30}, {21, 31}}},
	/* from (X, Y) to (Y, X): the two middle devices swap */
	{"collective_permute", O_collective_permute, 2, 1, 0, -1, 2,
		{{0, 1}, {20, 21}, {10, 11}, {30, 31}}},
};

static bool
run_collective(const CollectiveCase *c)
{
	Program p = program();
	Type type = vector(D_f32, 2);
	Value *x = block_add_param(p.module->entry, "x", &type);
	Tensor in[4], out[4], *inputs[4], *outputs[4];
	bool good;

	set_mesh(p.module, 2, 2);
	p.module->level = L_device;
	Op *made = op(&p, c->kind, 1, x, NULL, NULL);
	AxisList axes = axes_of(&p.module->mesh, c->naxes, c->first, c->second);
	AxisList from = axes_of(&p.module->mesh, 2, 0, 1);
	made->axes = &axes;
	made->from = c->kind == O_collective_permute ? &from : NULL;
	op_set_int(made, A_dim, 0);
	if (c->combiner >= 0)
		op_set_int(made, A_combiner, c->combiner);
	made->results[0]->type = vector(D_f32, c->result);
	finish(&p, made->results[0]);
	for (int d = 0; d < 4; d++) {
		in[d] = tensor(type, (double[]){10. * d, 10. * d + 1});
		inputs[d] = &in[d];
		outputs[d] = &out[d];
	}
	good = eval_device(p.module, inputs, outputs, NULL);
	for (int d = 0; d < 4; d++) {
		good = good && equal(&out[d], c->expected[d]);
		tensor_free(&out[d]);
		tensor_free(&in[d]);
	}
	free_program(&p);
	return good;
}

static void
test_collectives(void)
{
	int n = sizeof collective_cases / sizeof collective_cases[0];

	for (int i = 0; i < n; i++)
		ok(run_collective(&collective_cases[i]), collective_cases[i].name);
}

static void
test_partition_id(void)
{
	Program p = program();
	Tensor out[4], *inputs[4] = {NULL}, *outputs[4];
	bool good = true;

	set_mesh(p.module, 2, 2);
	finish(&p, value(op(&p, O_partition_id, 0, NULL, NULL, NULL), scalar(D_u32)));
	for (int d = 0; d < 4; d++)
		outputs[d] = &out[d];
	good = eval_device(p.module, inputs, outputs, NULL);
	for (int d = 0; good && d < 4; d++) {
		good = element(&out[d], 0) == d;
		tensor_free(&out[d]);
	}
	ok(good, "partition_id");
	free_program(&p);
}

/* ---- bounds ---------------------------------------------------------------------- */

/* Runs a program with bounds; returns the bound of element 0. */
static double
bound_of(Program *p, Value *result, double *v)
{
	Tensor output;
	double *bounds, b = -1;

	finish(p, result);
	if (eval_global_bounds(p->module, p->inputs, &output, &bounds, NULL)) {
		*v = element(&output, 0);
		b = bounds ? bounds[0] : 0;
		tensor_free(&output);
		free(bounds);
	}
	free_program(p);
	return b;
}

static void
test_bounds(void)
{
	double v, b;
	double many[MAX_ELEMENTS];
	Program p = program();
	Value *x = input(&p, vector(D_f32, 4), counting);

	b = bound_of(&p, value(op(&p, O_add, 2, x, x, NULL), x->type), &v);
	ok(b == 0, "small integers add up exactly");

	p = program();
	x = input(&p, vector(D_f32, 1), (double[]){0.1});
	b = bound_of(&p, value(op(&p, O_exp, 1, x, NULL, NULL), x->type), &v);
	ok(b > 0x1p-24 && b < 0x1p-20, "exp is good to a few ulps");

	p = program();
	for (int i = 0; i < MAX_ELEMENTS; i++)
		many[i] = 0.1 * i;
	x = input(&p, shape(D_f32, 2, 1, MAX_ELEMENTS, 0), many);
	Value *y = input(&p, shape(D_f32, 2, MAX_ELEMENTS, 1, 0), many);
	b = bound_of(&p, value(dot_op(&p, x, y, 0, 1), scalar(D_f32)), &v);
	ok(b > 8 * 0x1p-24 * v && b < 64 * 0x1p-24 * v,
		"a dot's bound grows with the root of its length");
}

/* p ? 1 : 5 where the sum that p looks at is within rounding of 0. */
static void
test_undecided(void)
{
	double v, b;
	Program p = program();
	Value *x = input(&p, vector(D_f32, 2), (double[]){1.7, -1.7});
	Op *sum = op(&p, O_reduce, 2, x, number(&p, D_f32, 0), NULL);

	op_set_ints(sum, A_dims, 1, (int64_t[]){0});
	op_set_int(sum, A_combiner, C_add);
	Value *zero = number(&p, D_f32, 0);
	Op *test = op(&p, O_compare, 2, value(sum, scalar(D_f32)), zero, NULL);
	op_set_int(test, A_direction, DIR_GT);
	Value *is = value(test, scalar(D_pred));
	Value *chosen =
		value(op(&p, O_select, 3, is, number(&p, D_f32, 1), number(&p, D_f32, 5)),
			scalar(D_f32));
	b = bound_of(&p, chosen, &v);
	ok(v == 5 && b >= 4 && b < 16, "an undecided select is off by the distance");
}

static void
test_comparison(void)
{
	Tensor a = tensor(vector(D_f32, 3), (double[]){1, 2, NAN});
	Tensor b = tensor(vector(D_f32, 3), (double[]){1.5, 2.5, NAN});
	Comparison c = tensor_compare(&a, (double[]){1, 0.25, 0}, &b);

	ok(c.mismatches == 1 && c.worst == 1 && c.error == 0.5, "one element beyond its bound");
	c = tensor_compare(&a, (double[]){1, INFINITY, 0}, &b);
	ok(!c.mismatches && c.undecided == 1, "an undecided element");
	c = tensor_compare(&a, (double[]){INFINITY, 0.25, 0}, &a);
	ok(c.undecided == 1 && c.worst == 1 && c.bound == 0.25,
		"an equal element without a bound is undecided, and not shown");
	c = tensor_compare(&a, NULL, &a);
	ok(!c.mismatches && !c.undecided, "NaN equals NaN");
	tensor_free(&a);
	tensor_free(&b);
}

/* ---- --check ----------------------------------------------------------------- */

/* What is said about `actual` as the result of exp(x) for x = {0, 1}. */
static shdrt_verdict
verdict_on(const float *actual, int *status)
{
	static const int64_t dims[] = {2};
	float x[2] = {0, 1}, y[2] = {actual[0], actual[1]};
	shdrt_array in = {"x", SHDRT_f32, 1, dims, x};
	shdrt_array out = {"y", SHDRT_f32, 1, dims, y};
	shdrt_verdict v = {0};
	shdrt_check_io io = {1, 1, &in, &out, &v, NULL, NULL, NULL, NULL};
	Program p = program();
	Value *param = input(&p, vector(D_f32, 2), (double[]){0, 1});
	Text hlo = {0};

	finish(&p, value(op(&p, O_exp, 1, param, NULL, NULL), vector(D_f32, 2)));
	module_print(p.module, &hlo);
	*status = shdeval_check(hlo.s, hlo.n, &io);
	text_free(&hlo);
	free_program(&p);
	return v;
}

static void
test_check(void)
{
	int status;
	shdrt_verdict v = verdict_on((float[]){1, 2.7182817f}, &status);

	ok(status == SHDRT_OK && v.elements == 2 && !v.mismatches, "--check of a right result");
	v = verdict_on((float[]){1, 2.71f}, &status);
	ok(v.mismatches == 1 && v.worst == 1 && v.got == 2.71f && fabs(v.error - 0.00828) < 1e-4
			&& v.bound < 1e-5,
		"--check of a wrong result");
}

static void
test_memory(void)
{
	Type huge = shape(D_f64, 3, (int64_t)1 << 40, (int64_t)1 << 40, 8);
	Tensor t;

	ok(!tensor_new(&huge, &t), "a size beyond 64 bits is refused");
	huge = vector(D_f64, (int64_t)1 << 50);
	ok(!tensor_new(&huge, &t), "more than the machine has is refused");
}

int
main(void)
{
	test_bf16();
	test_f16();
	test_byte_floats();
	test_saturation();
	test_pointwise();
	test_compare();
	test_convert();
	test_bitcast();
	test_leaves();
	test_broadcast();
	test_transpose();
	test_slice();
	test_reverse();
	test_windows();
	test_frames();
	test_concatenate();
	test_pad();
	test_take();
	test_reshape();
	test_dynamic_slice();
	test_reduce();
	test_cumsum();
	test_dot();
	test_dot_layouts();
	test_call();
	test_return_of_a_parameter();
	test_shards();
	test_collectives();
	test_partition_id();
	test_bounds();
	test_undecided();
	test_comparison();
	test_check();
	test_memory();
	printf("1..%d\n", tests);
	return 0;
}
