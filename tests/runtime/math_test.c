/*
 * Scalar arithmetic against libm in double precision: no function is further
 * off than its row in numbers.def says, over a sweep of all floats; conversions
 * against their definition, exhaustively where there are 2^16 of them.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "shdrt_math.h"
#include "tap.h"

enum { STRIDE = 4999 }; /* of the sweep over all 2^32 floats */

/* Distance in units of the last place of the wanted result. */
static double
ulps(float got, double wanted)
{
	float nearest = (float)wanted;
	int exponent;
	if (isnan(wanted))
		return isnan(got) ? 0 : INFINITY;
	if (isinf(nearest) && !isnan(got) && !isinf(got))
		return fabs(got - copysign(0x1p128, wanted)) / 0x1p104;
	if (isinf(nearest) || isnan(got) || isinf(got))
		return got == nearest ? 0 : INFINITY;
	if (wanted == 0)
		return got == 0 && !signbit(got) == !signbit(wanted) ? 0 : INFINITY;
	frexp(wanted, &exponent);
	return fabs(got - wanted) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static const float specials[] = {
	0,
	-0.0f,
	1,
	-1,
	2,
	-2,
	0.5f,
	-0.5f,
	3,
	-3,
	INFINITY,
	-INFINITY,
	NAN,
	0x1p-149f,
	-0x1p-149f,
	0x1p-126f,
	0x1.fffffep127f,
	-0x1.fffffep127f,
	16777215,
	16777216,
	-16777215,
	33554432,
	1e30f,
	88.7f,
	88.8f,
	-87.4f,
	-103.9f,
	-104.1f,
	0.34657359f,
	0x1.fffffep-1f,
	0x1.000002p0f,
	-0x1.fffffep-1f,
	1e-8f,
	-1e-8f,
	3.1415927f,
	1.5707964f,
	16367173.0f,
};
enum { NSPECIALS = sizeof specials / sizeof *specials };

#include "ir/erf_inv.h"

/* As the table has them: the formula in double is exact enough. */
#define F(name) name
#define POINTWISE(...)
#define OTHER(...)
#define FUNCTION(op, formula, ...) \
	static double exact_##op(double a) \
	{ \
		return formula; \
	}
#include "ir/numbers.def"

static const struct {
	const char *name;
	float (*function)(float);
	double (*exact)(double);
	double bound;
} functions[] = {
#define FUNCTION(op, formula, ulps_off, ...) {#op, shdrt_##op##_f32, exact_##op, ulps_off},
#include "ir/numbers.def"
	{"abs", shdrt_abs_f32, fabs, 0},
};
#undef POINTWISE
#define POINTWISE(op, place, signature, kernel, formula, int_formula, ulps_off, ...) \
	ulps_of_##op = (int)(2 * (ulps_off)),
#define FUNCTION(...)
enum { /* twice */
#include "ir/numbers.def"
};

static void
test_function(size_t i)
{
	double worst = 0;
	float at = 0;
	for (uint64_t k = 0; k < (1ull << 32) + NSPECIALS * STRIDE; k += STRIDE) {
		float x = k < 1ull << 32 ? shdrt_f32_bits((uint32_t)k)
					 : specials[(k - (1ull << 32)) / STRIDE];
		double error = ulps(functions[i].function(x), functions[i].exact(x));
		if (error > worst) {
			worst = error;
			at = x;
		}
	}
	ok(worst <= functions[i].bound, "%s: %.3f ulp at %a, at most %g", functions[i].name,
		worst, at, functions[i].bound);
}

static uint64_t state = 1;

static uint32_t
next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static void
test_pow(void)
{
	double worst = 0;
	float at[2] = {0, 0};
	for (int i = 0; i < 1000000 + NSPECIALS * NSPECIALS; i++) {
		float x = shdrt_f32_bits(next_random());
		float y = shdrt_f32_bits(next_random());
		if (i & 1) {
			x = (float)next_random() * 0x1p-30f - 1;
			y = (float)next_random() * 0x1p-26f - 32;
			y = i & 2 ? rintf(y) : y;
		}
		if (i < NSPECIALS * NSPECIALS) {
			x = specials[i / NSPECIALS];
			y = specials[i % NSPECIALS];
		}
		double error = ulps(shdrt_pow_f32(x, y), pow(x, y));
		if (error > worst) {
			worst = error;
			at[0] = x;
			at[1] = y;
		}
	}
	ok(2 * worst <= ulps_of_pow, "pow: %.3f ulp at %a, %a, at most %g", worst, at[0], at[1],
		ulps_of_pow / 2.0);
}

/* ---- f16, bf16 ---- */

/* The value of a format with this many bits of exponent and fraction. */
static double
half_value(unsigned h, int exponent_bits, int fraction_bits)
{
	int bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = (int)(h >> fraction_bits) & ((1 << exponent_bits) - 1);
	double fraction = h & ((1u << fraction_bits) - 1);
	double value = exponent == 2 * bias + 1 ? (fraction != 0 ? NAN : INFINITY)
		: exponent ? ldexp(1 + ldexp(fraction, -fraction_bits), exponent - bias)
			   : ldexp(fraction, 1 - bias - fraction_bits);
	return h >> 15 ? -value : value;
}

typedef struct Half {
	const char *name;
	int exponent_bits, fraction_bits;
	float (*widen)(uint16_t);
	uint16_t (*round32)(float);
	uint16_t (*round64)(double);
} Half;

static const Half halves[] = {
	{"f16", 5, 10, shdrt_f32_from_f16, shdrt_f16_from_f32, shdrt_f16_from_f64},
	{"bf16", 8, 7, shdrt_f32_from_bf16, shdrt_bf16_from_f32, shdrt_bf16_from_f64},
};

static bool
same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void
test_widen(const Half *f)
{
	int wrong = 0;
	for (unsigned h = 0; h < 1u << 16; h++) {
		double value = half_value(h, f->exponent_bits, f->fraction_bits);
		float wide = f->widen((uint16_t)h);
		wrong += !same(wide, value);
		wrong += !same(f->widen(f->round32(wide)), value);
		wrong += !same(f->widen(f->round64(wide)), value);
	}
	ok(wrong == 0, "%s: all values widen and come back", f->name);
}

/* Between two neighbours: below the middle, at it, above it. */
static void
test_round(const Half *f)
{
	unsigned infinity = (1u << f->exponent_bits) - 1;
	int wrong = 0;
	infinity <<= f->fraction_bits;
	for (unsigned h = 0; h < infinity; h++) {
		double low = half_value(h, f->exponent_bits, f->fraction_bits);
		double high = h + 1 < infinity
			? half_value(h + 1, f->exponent_bits, f->fraction_bits)
			: 2 * low - half_value(h - 1, f->exponent_bits, f->fraction_bits);
		double middle = low + (high - low) / 2;
		unsigned even = h & 1 ? h + 1 : h;
		wrong += f->round64(middle) != even;
		wrong += f->round64(-middle) != (even | 0x8000);
		wrong += f->round64(nextafter(middle, 0)) != h;
		wrong += f->round64(nextafter(middle, INFINITY)) != h + 1;
		wrong += f->round32((float)middle) != even && (double)(float)middle == middle;
		wrong += f->round32(nextafterf((float)middle, 0)) != h
			&& (double)(float)middle == middle;
		wrong += f->round32(nextafterf((float)middle, INFINITY)) != h + 1
			&& (double)(float)middle == middle;
	}
	ok(wrong == 0, "%s: to nearest, ties to even, once (%d wrong)", f->name, wrong);
}

/* What is too small for an f32, too, keeps its sign. */
static void
test_vanish(const Half *f)
{
	ok(f->round64(1e-300) == 0 && f->round64(-1e-300) == 0x8000
			&& f->round64(0x1p-1074) == 0 && f->round64(-0x1p-1074) == 0x8000
			&& f->round64(-0.0) == 0x8000,
		"%s: tiny numbers become 0 of their sign", f->name);
}

/* ---- floats of a byte ---- */

typedef struct Rounded {
	double number; /* of f32 */
	uint8_t bits;
} Rounded;
#include "byte_floats.inc"

/* The NaN that a number becomes is as good as any other. */
#define TEST_BYTES(name, type) \
	static void test_##name(void) \
	{ \
		int widened = 0, rounded = 0; \
		for (unsigned b = 0; b < sizeof name##_values / sizeof *name##_values; b++) { \
			double v = name##_values[b]; \
			widened += !same(shdrt_f32_from_##name((type)b), v); \
			widened += !same(shdrt_through_##name((float)v), v); \
			widened += shdrt_##name##_from_f64(v) != b && !isnan(v); \
			type again = shdrt_##name##_from_f32(shdrt_f32_from_##name((type)b)); \
			widened += (again & 0x80) != (b & 0x80); \
		} \
		for (size_t i = 0; i < sizeof name##_rounded / sizeof *name##_rounded; i++) { \
			double x = name##_rounded[i].number; \
			double v = name##_values[name##_rounded[i].bits]; \
			rounded += !same(shdrt_through_##name((float)x), v); \
			rounded += \
				!same(shdrt_f64_from_##name(shdrt_##name##_from_f64(x)), v); \
		} \
		ok(widened == 0, #name ": all values widen and come back"); \
		ok(rounded == 0, #name ": rounds as ml_dtypes does (%d wrong)", rounded); \
	}
#define EACH_BYTE_FLOAT(X) \
	X(f8e5m2, uint8_t) \
	X(f8e4m3, uint8_t) \
	X(f8e3m4, uint8_t) \
	X(f8e4m3fn, uint8_t) \
	X(f8e5m2fnuz, uint8_t) \
	X(f8e4m3fnuz, uint8_t) \
	X(f8e4m3b11fnuz, uint8_t) \
	X(f8e8m0fnu, uint8_t) \
	X(f4e2m1fn, uint8_t)
EACH_BYTE_FLOAT(TEST_BYTES)

/* ---- integers ---- */

static void
test_integers(void)
{
	volatile int32_t least = INT32_MIN;
	ok(shdrt_div_i32(7, 0) == -1 && shdrt_rem_i32(7, 0) == 7 && shdrt_div_u8(7, 0) == 255
			&& shdrt_rem_u32(7, 0) == 7,
		"division by zero");
	ok(shdrt_div_i32(least, -1) == INT32_MIN && shdrt_rem_i32(least, -1) == 0
			&& shdrt_div_i64(INT64_MIN, -1) == INT64_MIN
			&& shdrt_div_i8(-128, -1) == -128,
		"the least over -1");
	ok(shdrt_div_i32(-7, 2) == -3 && shdrt_rem_i32(-7, 2) == -1
			&& shdrt_rem_i32(7, -2) == 1,
		"toward zero");
	ok(shdrt_div_u32(UINT32_MAX, UINT32_MAX) == 1 && shdrt_div_u8(255, 255) == 1
			&& shdrt_rem_u32(5, UINT32_MAX) == 5,
		"all ones, unsigned");
	ok(shdrt_pow_i32(3, 4) == 81 && shdrt_pow_i32(2, 31) == INT32_MIN
			&& shdrt_pow_i32(2, 32) == 0 && shdrt_pow_i32(-1, -3) == -1
			&& shdrt_pow_i32(1, -3) == 1 && shdrt_pow_i32(5, -1) == 0
			&& shdrt_pow_i32(0, 0) == 1 && shdrt_pow_u8(3, 5) == 243,
		"pow");
	ok(shdrt_abs_i32(least) == INT32_MIN && shdrt_abs_i8(-5) == 5 && shdrt_abs_u32(7) == 7,
		"abs");
	ok(shdrt_sign_i32(-5) == -1 && shdrt_sign_i32(0) == 0 && shdrt_sign_u8(200) == 1
			&& shdrt_sign_i64(9) == 1,
		"sign");
	ok(shdrt_clamp_i32(0, -5, 9) == 0 && shdrt_clamp_i32(0, 50, 9) == 9
			&& shdrt_clamp_i32(5, 3, 2) == 2,
		"clamp");
}

static void
test_floats(void)
{
	ok(isnan(shdrt_max_f32(NAN, 1)) && isnan(shdrt_max_f32(1, NAN))
			&& isnan(shdrt_min_f64(NAN, 1)) && isnan(shdrt_min_f64(1, NAN))
			&& shdrt_max_f32(1, 2) == 2 && shdrt_min_f32(1, 2) == 1,
		"max and min: NaN wins");
	ok(!signbit(shdrt_max_f32(0, -0.0f)) && !signbit(shdrt_max_f32(-0.0f, 0))
			&& signbit(shdrt_min_f64(0, -0.0)) && signbit(shdrt_min_f64(-0.0, 0))
			&& signbit(shdrt_max_f64(-0.0, -0.0)) && !signbit(shdrt_min_f32(0, 0)),
		"max and min: 0 is larger than -0");
	ok(isnan(shdrt_sign_f32(NAN)) && signbit(shdrt_sign_f32(-0.0f))
			&& shdrt_sign_f64(-3) == -1 && shdrt_sign_f32(INFINITY) == 1,
		"sign");
	ok(!shdrt_isfinite_f32(INFINITY) && !shdrt_isfinite_f64(NAN)
			&& shdrt_isfinite_f32(0x1.fffffep127f),
		"isfinite");
	ok(shdrt_round_f32(2.5f) == 2 && shdrt_round_f32(3.5f) == 4
			&& shdrt_round_f64(-0.5) == 0,
		"round: half to even");
	ok(shdrt_rem_f32(-7, 2) == -1 && isnan(shdrt_rem_f32(1, 0)), "rem");
	ok(isnan(shdrt_clamp_f32(0, NAN, 1)) && shdrt_clamp_f64(0, 5, 1) == 1, "clamp");
}

static void
test_conversions(void)
{
	ok(shdrt_f8e8m0fnu_from_f32(-NAN) == 0xff && shdrt_f8e8m0fnu_from_f32(-1) == 0xff
			&& shdrt_f8e8m0fnu_from_f32(INFINITY) == 0xff,
		"f8e8m0fnu: what has a sign is NaN, a NaN too");
	ok(shdrt_i8_from_f32(300) == 127 && shdrt_i8_from_f32(-300) == -128
			&& shdrt_u8_from_f32(-1) == 0 && shdrt_u8_from_f64(1e9) == 255
			&& shdrt_i8_from_f32(-127.9f) == -127,
		"saturates: 8 bits");
	ok(shdrt_i32_from_f32(0x1p31f) == INT32_MAX && shdrt_i32_from_f32(-0x1p31f) == INT32_MIN
			&& shdrt_i32_from_f64(2147483646.9) == 2147483646
			&& shdrt_u32_from_f32(0x1p32f) == UINT32_MAX
			&& shdrt_u32_from_f32(3e9f) == 3000000000u
			&& shdrt_i64_from_f64(INFINITY) == INT64_MAX
			&& shdrt_i64_from_f32(-INFINITY) == INT64_MIN,
		"saturates: 32 and 64 bits");
	ok(shdrt_i32_from_f32(NAN) == 0 && shdrt_u8_from_f64(NAN) == 0
			&& shdrt_i64_from_bf16(0x7fc0) == 0,
		"NaN becomes 0");
	ok(shdrt_pred_from_f32(NAN) == 1 && shdrt_pred_from_f32(-0.0f) == 0
			&& shdrt_pred_from_i32(256) == 1 && shdrt_pred_from_f64(1e-300) == 1,
		"to pred: is it not zero?");
	ok(shdrt_i8_from_i32(300) == 44 && shdrt_u32_from_i32(-1) == UINT32_MAX
			&& shdrt_i32_from_i64(1ll << 32) == 0,
		"narrowing wraps");
	/* 2^24 + 2^16 + 1 is just above the middle of two bf16 numbers;
	   rounded to f32 first, it would be the middle. */
	ok(shdrt_bf16_from_i32((1 << 24) + (1 << 16) + 1) == shdrt_bf16_from_f32(0x1.02p24f),
		"i32 to bf16 rounds once");
	ok(shdrt_bf16_from_i64((1ll << 60) + (1ll << 52) + 1)
			== shdrt_bf16_from_f32(0x1.02p60f),
		"i64 to bf16 rounds once");
}

int
main(void)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		test_function(i);
	test_pow();
	for (int i = 0; i < 2; i++) {
		test_widen(&halves[i]);
		test_round(&halves[i]);
		test_vanish(&halves[i]);
	}
#define X(name, type) test_##name();
	EACH_BYTE_FLOAT(X)
#undef X
	test_integers();
	test_floats();
	test_conversions();
	return done();
}
