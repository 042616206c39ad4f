/*
 * scalar.h - number formats: the 16-bit floats and the conversions whose
 * result C leaves open.  No state, no dependencies.
 *
 *   bf16  1 sign, 8 exponent, 7 fraction bits: the upper half of an f32
 *   f16   1 sign, 5 exponent, 10 fraction bits, with subnormals
 *
 * Floats round to nearest, ties to even, once: f64 and integers reach the
 * 16-bit formats through an f32 rounded to odd.  Float to integer truncates
 * toward zero and saturates; NaN becomes 0.
 */
#ifndef SHDC_EVAL_SCALAR_H
#define SHDC_EVAL_SCALAR_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
float_bits(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
bits_float(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline float
bf16_to_float(uint16_t x)
{
	return bits_float((uint32_t)x << 16);
}

static inline uint16_t
float_to_bf16(float x)
{
	uint32_t bits = float_bits(x);
	if (x != x)
		return (uint16_t)(bits >> 16 | 0x40); /* stays a NaN */
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float
f16_to_float(uint16_t x)
{
	uint32_t sign = (uint32_t)(x & 0x8000) << 16;
	uint32_t exponent = x >> 10 & 31, fraction = x & 0x3ff;
	if (exponent == 31)
		return bits_float(sign | 0x7f800000 | fraction << 13);
	if (exponent == 0) { /* zero or subnormal: fraction * 2^-24 */
		float value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint16_t
float_to_f16(float x)
{
	uint32_t bits = float_bits(x);
	uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
	if (magnitude >= 0x477ff000) /* 65520 and above round to infinity */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) {
		/* Below 2^-14: adding 0.5 makes the f32 unit 2^-24, that of
		   f16 subnormals, so the addition itself rounds to even. */
		float shifted = bits_float(magnitude) + 0.5f;
		return (uint16_t)(sign | (float_bits(shifted) - 0x3f000000));
	}
	magnitude += 0xfff + (magnitude >> 13 & 1);
	return (uint16_t)(sign | ((magnitude - 0x38000000) >> 13));
}

/*
 * The f32 next to x toward zero, its last bit set if anything was cut off:
 * rounding that to fewer bits gives what rounding x would.
 */
static inline float
double_to_float_odd(double x)
{
	float nearest = (float)x;
	uint32_t bits = float_bits(nearest);
	double back = nearest;
	if (x != x || back == x)
		return nearest;
	if (x < 0 ? back < x : back > x) /* rounded away from zero */
		bits--;
	return bits_float(bits | 1);
}

static inline float
integer_to_float_odd(int64_t x)
{
	int64_t high = x & ~(int64_t)0x7ff;
	if (x < -((int64_t)1 << 53) || x > (int64_t)1 << 53)
		x = high == x ? x : (high | 0x400); /* 53 bits hold that */
	return double_to_float_odd((double)x);
}

static inline float
word_to_float_odd(uint64_t x)
{
	return x >> 63 ? 2 * integer_to_float_odd((int64_t)(x >> 1 | (x & 1)))
		       : integer_to_float_odd((int64_t)x);
}

static inline uint64_t
double_to_word(double x)
{
	if (!(x > 0))
		return 0;
	return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

/* `lo` and `hi` are the least and greatest values of the integer type. */
static inline int64_t
double_to_integer(double x, int64_t lo, int64_t hi)
{
	if (x != x)
		return 0;
	if (x <= (double)lo)
		return lo;
	/* (double)INT64_MAX is 2^63, one too many: hence not `>`. */
	if (x >= (double)hi)
		return hi;
	return (int64_t)x;
}

#endif
