/*
 * shdrt_math.h - scalar arithmetic of generated code.
 *
 * shdrt_NAME_DTYPE(): DTYPE is what is computed in: f32 (narrower floats
 * too), f64, or an integer type.  shdrt_TO_from_FROM() converts; f16 and bf16 are
 * held as uint16_t, those of a byte as uint8_t.
 *
 * Floats: the f32 functions have no branches, so that gcc -O2
 * -ftree-vectorize turns loops over them into vector code, and give the same
 * bits wherever they are inlined (build with -ffp-contract=off).  The largest
 * error of each, in units in the last place of the result, is a column of the
 * compiler's numbers.def, which tests/runtime/math_test.c holds over a sweep of
 * all floats; f64 functions are libm's.
 *
 * Integers, as XLA: wrapping; / toward zero, x/0 = -1 (all ones), x%0 = x,
 * least / -1 = least; float to integer saturates, NaN gives 0.
 */
#ifndef SHDRT_MATH_H
#define SHDRT_MATH_H

#include <stddef.h>
#include <stdint.h>

#define SHDRT_FN static inline __attribute__((unused))

/* ---- bits ---- */

SHDRT_FN uint32_t
shdrt_bits_f32(float x)
{
	uint32_t u;
	__builtin_memcpy(&u, &x, sizeof u);
	return u;
}

SHDRT_FN float
shdrt_f32_bits(uint32_t u)
{
	float x;
	__builtin_memcpy(&x, &u, sizeof x);
	return x;
}

SHDRT_FN uint64_t
shdrt_bits_f64(double x)
{
	uint64_t u;
	__builtin_memcpy(&u, &x, sizeof u);
	return u;
}

SHDRT_FN double
shdrt_f64_bits(uint64_t u)
{
	double x;
	__builtin_memcpy(&x, &u, sizeof x);
	return x;
}

SHDRT_FN int
shdrt_has_sign_f32(float x)
{
	return (int32_t)shdrt_bits_f32(x) < 0;
}

SHDRT_FN int
shdrt_has_sign_f64(double x)
{
	return (int64_t)shdrt_bits_f64(x) < 0;
}

/*
 * c ? a : b, both computed.  On bits: with ?: the compiler may compute only
 * the chosen one behind a branch, and the loop around it stays scalar.
 */
SHDRT_FN float
shdrt_pick_f32(int c, float a, float b)
{
	uint32_t mask = -(uint32_t)(c != 0);
	return shdrt_f32_bits((shdrt_bits_f32(a) & mask) | (shdrt_bits_f32(b) & ~mask));
}

SHDRT_FN double
shdrt_pick_f64(int c, double a, double b)
{
	uint64_t mask = -(uint64_t)(c != 0);
	return shdrt_f64_bits((shdrt_bits_f64(a) & mask) | (shdrt_bits_f64(b) & ~mask));
}

SHDRT_FN float
shdrt_copysign_f32(float magnitude, float sign)
{
	return shdrt_f32_bits((shdrt_bits_f32(magnitude) & 0x7fffffffu)
		| (shdrt_bits_f32(sign) & 0x80000000u));
}

/* ---- f16 and bf16: to nearest, ties to even ---- */

SHDRT_FN float
shdrt_f32_from_bf16(uint16_t h)
{
	return shdrt_f32_bits((uint32_t)h << 16);
}

SHDRT_FN uint16_t
shdrt_bf16_from_f32(float x)
{
	uint32_t u = shdrt_bits_f32(x);
	uint32_t is_nan = -(uint32_t)((int32_t)(u & 0x7fffffffu) > 0x7f800000);
	uint32_t half = 0x7fffu + (u >> 16 & 1);
	/* A NaN becomes quiet and keeps its sign.  One shift, at the end: all before it is of
	   32 bits in vectors, too. */
	return (uint16_t)(((u + (half & ~is_nan)) | (0x400000u & is_nan)) >> 16);
}

SHDRT_FN float
shdrt_f32_from_f16(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
	uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
	/* 2^112 moves the exponent's bias from 15 to 127, subnormals too. */
	uint32_t x = shdrt_bits_f32(shdrt_f32_bits(magnitude) * 0x1p112f);
	uint32_t special = -(uint32_t)(magnitude >= 0x0f800000u);
	x |= 0x7f800000u & special; /* infinity and NaN */
	return shdrt_f32_bits(x | sign);
}

SHDRT_FN uint16_t
shdrt_f16_from_f32(float x)
{
	uint32_t u = shdrt_bits_f32(x);
	uint32_t sign = u >> 16 & 0x8000u;
	float magnitude = shdrt_f32_bits(u & 0x7fffffffu);
	/*
	 * Adding a power of two that is 2^13 ulps of the wanted result above
	 * the value makes the adder round it to f16's 10 bits of fraction (or
	 * to its least subnormal); huge values become infinite on the way.
	 */
	float scaled = magnitude * 0x1p112f * 0x1p-110f;
	uint32_t exponent = u & 0x7f800000u;
	exponent = exponent < 0x38800000u ? 0x38800000u : exponent;
	uint32_t r = shdrt_bits_f32(scaled + shdrt_f32_bits(exponent + 0x07800000u));
	uint32_t half = (r >> 13 & 0x7c00u) + (r & 0x0fffu);
	uint32_t is_nan = -(uint32_t)((u & 0x7fffffffu) > 0x7f800000u);
	return (uint16_t)(sign | (0x7e00u & is_nan) | (half & ~is_nan));
}

/* ---- floats of a byte: to nearest, ties to even ---- */

/*
 * Digits after the point, exponent of the least normal number, the greatest one; bits of
 * infinity (NaN, where there is none) and of NaN; is there a -0?  Where not, its bits are NaN.
 */
#define SHDRT_BYTE_FLOATS(X) \
	X(f8e5m2, 2, -14, 57344, 0x7c, 0x7e, 1) \
	X(f8e4m3, 3, -6, 240, 0x78, 0x7c, 1) \
	X(f8e3m4, 4, -2, 15.5, 0x70, 0x78, 1) \
	X(f8e4m3fn, 3, -6, 448, 0x7f, 0x7f, 1) \
	X(f8e5m2fnuz, 2, -15, 57344, 0x80, 0x80, 0) \
	X(f8e4m3fnuz, 3, -7, 240, 0x80, 0x80, 0) \
	X(f8e4m3b11fnuz, 3, -10, 30, 0x80, 0x80, 0)

#define X(name, digits, least, greatest, infinity, nan, minus) \
	SHDRT_FN float shdrt_f32_from_##name(uint8_t b) \
	{ \
		uint32_t magnitude = b & 0x7fu, sign = (uint32_t)(b & 0x80u) << 24; \
		float small = \
			(float)magnitude * shdrt_f32_bits((127u + (least) - (digits)) << 23); \
		uint32_t normal = (magnitude << (23 - (digits))) + ((126u + (least)) << 23); \
		uint32_t x = shdrt_bits_f32(shdrt_pick_f32(magnitude >> (digits) != 0, \
			shdrt_f32_bits(normal), small)); \
		int above = (minus) ? magnitude >= (infinity) : b == 0x80; \
		int is_nan = above \
			&& ((minus) ? (infinity) == (nan) || magnitude > (infinity) : 1); \
		x = shdrt_bits_f32(shdrt_pick_f32(above, shdrt_f32_bits(0x7f800000u), \
			shdrt_f32_bits(x))); \
		return shdrt_f32_bits( \
			x | (uint32_t)is_nan << 22 | ((minus) || !is_nan ? sign : 0)); \
	} \
	SHDRT_FN uint8_t shdrt_##name##_from_f32(float x) \
	{ \
		uint32_t u = shdrt_bits_f32(x), sign = u >> 24 & 0x80u, most = 0x49800000u; \
		u &= 0x7fffffffu; \
		uint32_t is_nan = -(uint32_t)(u > 0x7f800000u); \
		u = u < most ? u : most; /* 2^20, for what is larger */ \
		uint32_t exponent = u & 0x7f800000u, normal = (127u + (least)) << 23; \
		exponent = exponent > normal ? exponent : normal; \
		/* so large that the adder rounds to the digits that stay */ \
		float large = shdrt_f32_bits(exponent + ((23u - (digits)) << 23)); \
		float rounded = shdrt_f32_bits(u) + large - large; \
		uint32_t r = shdrt_bits_f32(rounded); \
		uint32_t is_normal = -(uint32_t)(r >= normal); \
		uint32_t small = (uint32_t)(shdrt_f32_bits(r & ~is_normal) \
			* shdrt_f32_bits((127u + (digits) - (least)) << 23)); \
		uint32_t bits = ((r - normal) >> (23 - (digits))) + (1u << (digits)); \
		bits = (bits & is_normal) | (small & ~is_normal); \
		uint32_t too_large = -(uint32_t)(rounded > (float)(greatest)); \
		bits = ((infinity)&too_large) | (bits & ~too_large); \
		bits = ((nan)&is_nan) | (bits & ~is_nan); \
		sign = (minus) || bits ? sign : 0; \
		return (uint8_t)(bits | sign); \
	}
SHDRT_BYTE_FLOATS(X)
#undef X

/*
 * Powers of two alone, an f32's exponent: no sign and no zero, which are NaN.  Ties go up, and
 * so does what is above the least one.
 */
SHDRT_FN float
shdrt_f32_from_f8e8m0fnu(uint8_t b)
{
	uint32_t nan = 0x7fc00000u, least = 0x00400000u;
	return shdrt_f32_bits(b == 0xff ? nan : b ? (uint32_t)b << 23 : least);
}
SHDRT_FN uint8_t
shdrt_f8e8m0fnu_from_f32(float x)
{
	uint32_t u = shdrt_bits_f32(x), least = 0x00400000u;
	uint32_t exponent = (u + 0x00400000u) >> 23;
	uint32_t bits = u < 0x00800000u ? u > least : exponent, infinite = 0x7f800000u;
	return (uint8_t)(u == 0 || u >= infinite ? 0xff : bits);
}

/* Half a byte, all of it numbers: to nearest, ties to even; at most 6, and NaN is -0. */
SHDRT_FN float
shdrt_f32_from_f4e2m1fn(uint8_t b)
{
	uint32_t magnitude = b & 7u;
	float x = magnitude < 2 ? (float)magnitude * 0.5f
				: shdrt_f32_bits((magnitude + 252u) << 22);
	return b & 8 ? -x : x;
}
SHDRT_FN uint8_t
shdrt_f4e2m1fn_from_f32(float x)
{
	uint32_t u = shdrt_bits_f32(x), sign = u >> 28 & 8u;
	float magnitude = shdrt_f32_bits(u & 0x7fffffffu);
	magnitude = magnitude < 6 ? magnitude : 6;
	/* so large that the adder rounds to the digits that stay */
	float large = magnitude < 2 ? 0x1p22f : magnitude < 4 ? 0x1p23f : 0x1p24f;
	float rounded = magnitude + large - large;
	uint32_t bits =
		rounded < 1 ? (uint32_t)(rounded * 2) : (shdrt_bits_f32(rounded) >> 22) - 252u;
	return (uint8_t)(x != x ? 8u : bits | sign);
}

/*
 * f64 to f32 so that a second rounding gives what one would have: an inexact
 * result gets an odd last bit (Boldo and Melquiond, "When double rounding is
 * odd").
 */
SHDRT_FN float
shdrt_f32_odd_f64(double x)
{
	float f = (float)x;
	uint32_t u = shdrt_bits_f32(f);
	double back = f;
	if (back == x || back != back || u << 1 >= 0xff000000u)
		return f;
	/* |x| below |f|?  By the sign of x: f may be -0. */
	int away = x < 0 ? x > back : x < back;
	return shdrt_f32_bits((u - (uint32_t)away) | 1u);
}

/* Those that are computed in f32 and rounded, and what holds them. */
#define SHDRT_NARROW_FLOATS(X) \
	X(f8e5m2, uint8_t) \
	X(f8e4m3, uint8_t) \
	X(f8e3m4, uint8_t) \
	X(f8e4m3fn, uint8_t) \
	X(f8e5m2fnuz, uint8_t) \
	X(f8e4m3fnuz, uint8_t) \
	X(f8e4m3b11fnuz, uint8_t) \
	X(f8e8m0fnu, uint8_t) \
	X(f4e2m1fn, uint8_t) \
	X(f16, uint16_t) \
	X(bf16, uint16_t)

/* Also: what storing and loading again makes of an f32. */
#define X(name, type) \
	SHDRT_FN type shdrt_##name##_from_f64(double x) \
	{ \
		return shdrt_##name##_from_f32(shdrt_f32_odd_f64(x)); \
	} \
	SHDRT_FN double shdrt_f64_from_##name(type x) \
	{ \
		return (double)shdrt_f32_from_##name(x); \
	} \
	SHDRT_FN float shdrt_through_##name(float x) \
	{ \
		return shdrt_f32_from_##name(shdrt_##name##_from_f32(x)); \
	}
SHDRT_NARROW_FLOATS(X)
#undef X

/* ---- conversions ---- */

/* What holds them, least and greatest, bits. */
#define SHDRT_INTEGERS(X) \
	X(i4, int8_t, uint8_t, -8, 7, 4) \
	X(u4, uint8_t, uint8_t, 0, 15, 4) \
	X(i8, int8_t, uint8_t, INT8_MIN, INT8_MAX, 8) \
	X(i16, int16_t, uint16_t, INT16_MIN, INT16_MAX, 16) \
	X(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX, 32) \
	X(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX, 64) \
	X(u8, uint8_t, uint8_t, 0, UINT8_MAX, 8) \
	X(u16, uint16_t, uint16_t, 0, UINT16_MAX, 16) \
	X(u32, uint32_t, uint32_t, 0, UINT32_MAX, 32) \
	X(u64, uint64_t, uint64_t, 0, UINT64_MAX, 64)

/* The low bits, as a number of the dtype; of whole bytes the cast alone. */
#define SHDRT_WRAP(type, least, bits, x) \
	((bits) == 8 * sizeof(type) ? (type)(x) \
			: (least) != 0 \
			? (type)((int64_t)((uint64_t)(x) << (64 - (bits))) >> (64 - (bits))) \
			: (type)((uint64_t)(x) << (64 - (bits)) >> (64 - (bits))))
#define SHDRT_UNSIGNED(unsigned_type, bits, x) \
	((unsigned_type)((unsigned_type)(x) & (unsigned_type)(UINT64_MAX >> (64 - (bits)))))
#define X(name, type, unsigned_type, least, greatest, bits) \
	SHDRT_FN type shdrt_wrap_##name(int64_t x) \
	{ \
		return SHDRT_WRAP(type, least, bits, x); \
	}
SHDRT_INTEGERS(X)
#undef X

/* Between integers: the low bits.  To pred: is it not zero? */
#define SHDRT_CONVERT(to, to_type, from, from_type) \
	SHDRT_FN to_type shdrt_##to##_from_##from(from_type x) \
	{ \
		return (to_type)x; \
	}
#define SHDRT_TO_BITS(to, to_type, from, from_type) \
	SHDRT_FN to_type shdrt_##to##_from_##from(from_type x) \
	{ \
		return shdrt_wrap_##to((int64_t)x); \
	}
#define SHDRT_TO_INTEGERS(from, from_type) \
	SHDRT_TO_BITS(i4, int8_t, from, from_type) \
	SHDRT_TO_BITS(u4, uint8_t, from, from_type) \
	SHDRT_CONVERT(i8, int8_t, from, from_type) \
	SHDRT_CONVERT(i16, int16_t, from, from_type) \
	SHDRT_CONVERT(i32, int32_t, from, from_type) \
	SHDRT_CONVERT(i64, int64_t, from, from_type) \
	SHDRT_CONVERT(u8, uint8_t, from, from_type) \
	SHDRT_CONVERT(u16, uint16_t, from, from_type) \
	SHDRT_CONVERT(u32, uint32_t, from, from_type) \
	SHDRT_CONVERT(u64, uint64_t, from, from_type)
#define SHDRT_TO_FLOATS(from, from_type) \
	SHDRT_CONVERT(f32, float, from, from_type) \
	SHDRT_CONVERT(f64, double, from, from_type)
#define SHDRT_TO_PRED(from, from_type) \
	SHDRT_FN uint8_t shdrt_pred_from_##from(from_type x) \
	{ \
		return x != 0; \
	}
#define X(name, type, unsigned_type, least, greatest, bits) \
	SHDRT_TO_INTEGERS(name, type) \
	SHDRT_TO_FLOATS(name, type) \
	SHDRT_TO_PRED(name, type)
SHDRT_INTEGERS(X)
#undef X
SHDRT_TO_INTEGERS(pred, uint8_t)
SHDRT_TO_FLOATS(pred, uint8_t)
SHDRT_TO_PRED(pred, uint8_t)

/* An integer of more than 53 bits, its last kept bit odd if any was lost. */
SHDRT_FN double
shdrt_f64_odd_u64(uint64_t x)
{
	uint64_t lost = x & 0x7ff;
	return (double)(x >> 53 ? (x & ~(uint64_t)0x7ff) | (uint64_t)(lost != 0) << 11 : x);
}

SHDRT_FN double
shdrt_f64_odd_i64(int64_t x)
{
	return x < 0 ? -shdrt_f64_odd_u64(-(uint64_t)x) : shdrt_f64_odd_u64((uint64_t)x);
}

/* All of at most 32 bits fit a double exactly. */
#define SHDRT_TO_NARROW(to, type) \
	SHDRT_NARROW_FROM(to, type, pred, uint8_t, (double)) \
	SHDRT_NARROW_FROM(to, type, i4, int8_t, (double)) \
	SHDRT_NARROW_FROM(to, type, u4, uint8_t, (double)) \
	SHDRT_NARROW_FROM(to, type, i8, int8_t, (double)) \
	SHDRT_NARROW_FROM(to, type, i16, int16_t, (double)) \
	SHDRT_NARROW_FROM(to, type, i32, int32_t, (double)) \
	SHDRT_NARROW_FROM(to, type, i64, int64_t, shdrt_f64_odd_i64) \
	SHDRT_NARROW_FROM(to, type, u8, uint8_t, (double)) \
	SHDRT_NARROW_FROM(to, type, u16, uint16_t, (double)) \
	SHDRT_NARROW_FROM(to, type, u32, uint32_t, (double)) \
	SHDRT_NARROW_FROM(to, type, u64, uint64_t, shdrt_f64_odd_u64)
#define SHDRT_NARROW_FROM(to, type, from, from_type, real) \
	SHDRT_FN type shdrt_##to##_from_##from(from_type x) \
	{ \
		return shdrt_##to##_from_f64(real(x)); \
	}
SHDRT_NARROW_FLOATS(SHDRT_TO_NARROW)

SHDRT_TO_FLOATS(f32, float)
SHDRT_TO_FLOATS(f64, double)
SHDRT_TO_PRED(f32, float)
SHDRT_TO_PRED(f64, double)

/* Saturating.  Bounds are exact powers of two in either float type. */
#define SHDRT_SATURATE(to, type, from, from_type, low, high, least, greatest) \
	SHDRT_FN type shdrt_##to##_from_##from(from_type x) \
	{ \
		from_type inside = x >= low ? x : low; \
		inside = inside < high ? inside : 0; \
		type value = (type)inside; \
		value = x < high ? value : greatest; \
		value = x >= low ? value : least; \
		return x == x ? value : 0; \
	}
#define SHDRT_FROM_FLOAT(from, type) \
	SHDRT_SATURATE(i4, int8_t, from, type, (type)-8, (type)8, -8, 7) \
	SHDRT_SATURATE(u4, uint8_t, from, type, (type)0, (type)16, 0, 15) \
	SHDRT_SATURATE(i8, int8_t, from, type, (type)-128, (type)128, INT8_MIN, INT8_MAX) \
	SHDRT_SATURATE(i16, int16_t, from, type, (type)-0x1p15, (type)0x1p15, INT16_MIN, \
		INT16_MAX) \
	SHDRT_SATURATE(i32, int32_t, from, type, (type)-0x1p31, (type)0x1p31, INT32_MIN, \
		INT32_MAX) \
	SHDRT_SATURATE(i64, int64_t, from, type, (type)-0x1p63, (type)0x1p63, INT64_MIN, \
		INT64_MAX) \
	SHDRT_SATURATE(u8, uint8_t, from, type, (type)0, (type)256, 0, UINT8_MAX) \
	SHDRT_SATURATE(u16, uint16_t, from, type, (type)0, (type)0x1p16, 0, UINT16_MAX) \
	SHDRT_SATURATE(u32, uint32_t, from, type, (type)0, (type)0x1p32, 0, UINT32_MAX) \
	SHDRT_SATURATE(u64, uint64_t, from, type, (type)0, (type)0x1p64, 0, UINT64_MAX)
SHDRT_FROM_FLOAT(f32, float)
SHDRT_FROM_FLOAT(f64, double)

#define SHDRT_INTEGER_FROM(to, type, from, from_type) \
	SHDRT_FN type shdrt_##to##_from_##from(from_type x) \
	{ \
		return shdrt_##to##_from_f32(shdrt_f32_from_##from(x)); \
	}
#define SHDRT_FROM_NARROW(from, from_type) \
	SHDRT_INTEGER_FROM(i4, int8_t, from, from_type) \
	SHDRT_INTEGER_FROM(u4, uint8_t, from, from_type) \
	SHDRT_INTEGER_FROM(i8, int8_t, from, from_type) \
	SHDRT_INTEGER_FROM(i16, int16_t, from, from_type) \
	SHDRT_INTEGER_FROM(i32, int32_t, from, from_type) \
	SHDRT_INTEGER_FROM(i64, int64_t, from, from_type) \
	SHDRT_INTEGER_FROM(u8, uint8_t, from, from_type) \
	SHDRT_INTEGER_FROM(u16, uint16_t, from, from_type) \
	SHDRT_INTEGER_FROM(u32, uint32_t, from, from_type) \
	SHDRT_INTEGER_FROM(u64, uint64_t, from, from_type) \
	SHDRT_INTEGER_FROM(pred, uint8_t, from, from_type)
SHDRT_NARROW_FLOATS(SHDRT_FROM_NARROW)

/* ---- bits of the types that numbers are computed in ---- */

#define SHDRT_BITS_OF(name, type, bits_type, bits, number) \
	SHDRT_FN bits_type shdrt_bits_of_##name(type x) \
	{ \
		return bits(x); \
	} \
	SHDRT_FN type shdrt_##name##_of_bits(bits_type x) \
	{ \
		return number(x); \
	}
#define X(name, type, unsigned_type, least, greatest, bits) \
	SHDRT_BITS_OF(name, type, unsigned_type, (unsigned_type), shdrt_wrap_##name)
SHDRT_INTEGERS(X)
#undef X
#define X(name, type) \
	SHDRT_BITS_OF(name, float, type, shdrt_##name##_from_f32, shdrt_f32_from_##name)
SHDRT_NARROW_FLOATS(X)
#undef X
SHDRT_BITS_OF(f32, float, uint32_t, shdrt_bits_f32, shdrt_f32_bits)
SHDRT_BITS_OF(f64, double, uint64_t, shdrt_bits_f64, shdrt_f64_bits)

/* ---- integers ---- */

#define SHDRT_NEGATIVE(name, type, negative) \
	SHDRT_FN int shdrt_negative_##name(type x) \
	{ \
		(void)x; \
		return negative; \
	}
SHDRT_NEGATIVE(i4, int8_t, x < 0)
SHDRT_NEGATIVE(u4, uint8_t, 0)
SHDRT_NEGATIVE(i8, int8_t, x < 0)
SHDRT_NEGATIVE(i16, int16_t, x < 0)
SHDRT_NEGATIVE(i32, int32_t, x < 0)
SHDRT_NEGATIVE(i64, int64_t, x < 0)
SHDRT_NEGATIVE(u8, uint8_t, 0)
SHDRT_NEGATIVE(u16, uint16_t, 0)
SHDRT_NEGATIVE(u32, uint32_t, 0)
SHDRT_NEGATIVE(u64, uint64_t, 0)
SHDRT_NEGATIVE(pred, uint8_t, 0)

#define X(name, type, unsigned_type, least, greatest, bits) \
	SHDRT_FN type shdrt_div_##name(type a, type b) \
	{ \
		if (b == 0) \
			return SHDRT_WRAP(type, least, bits, -1); \
		if ((least) != 0 && b == (type)-1) \
			return SHDRT_WRAP(type, least, bits, 0 - (unsigned_type)a); \
		return (type)(a / b); \
	} \
	SHDRT_FN type shdrt_rem_##name(type a, type b) \
	{ \
		if (b == 0) \
			return a; \
		if ((least) != 0 && b == (type)-1) \
			return 0; \
		return (type)(a % b); \
	} \
	SHDRT_FN type shdrt_pow_##name(type a, type b) \
	{ \
		if (shdrt_negative_##name(b)) { \
			if (a == 1) \
				return 1; \
			return a == (type)-1 ? (type)(b & 1 ? -1 : 1) : 0; \
		} \
		uint64_t result = 1, square = (uint64_t)a; \
		for (uint64_t n = (uint64_t)b; n; n >>= 1) { \
			if (n & 1) \
				result *= square; \
			square *= square; \
		} \
		return SHDRT_WRAP(type, least, bits, result); \
	} \
	SHDRT_FN type shdrt_shl_##name(type a, type b) \
	{ \
		return (unsigned_type)b < (bits) \
			? SHDRT_WRAP(type, least, bits, (unsigned_type)a << b) \
			: 0; \
	} \
	SHDRT_FN type shdrt_shr_##name(type a, type b) \
	{ \
		return (unsigned_type)b < (bits) \
			? (type)(SHDRT_UNSIGNED(unsigned_type, bits, a) >> b) \
			: 0; \
	} \
	SHDRT_FN type shdrt_sar_##name(type a, type b) \
	{ \
		unsigned_type most = (bits)-1; \
		unsigned_type by = (unsigned_type)b < most ? (unsigned_type)b : most; \
		int up = 64 - (bits); \
		return SHDRT_WRAP(type, least, bits, \
			(int64_t)((uint64_t)a << up) >> up >> by); \
	} \
	SHDRT_FN type shdrt_popcnt_##name(type a) \
	{ \
		return SHDRT_WRAP(type, least, bits, \
			__builtin_popcountll(SHDRT_UNSIGNED(unsigned_type, bits, a))); \
	} \
	SHDRT_FN type shdrt_clz_##name(type a) \
	{ \
		int unused = 64 - (bits); \
		return SHDRT_WRAP(type, least, bits, \
			a ? __builtin_clzll(SHDRT_UNSIGNED(unsigned_type, bits, a)) - unused \
			  : (bits)); \
	} \
	SHDRT_FN type shdrt_not_##name(type a) \
	{ \
		return SHDRT_WRAP(type, least, bits, \
			(least) == 0 && (greatest) == 1 ? !a : ~a); \
	} \
	SHDRT_FN type shdrt_abs_##name(type a) \
	{ \
		return shdrt_negative_##name(a) \
			? SHDRT_WRAP(type, least, bits, 0 - (unsigned_type)a) \
			: a; \
	} \
	SHDRT_FN type shdrt_sign_##name(type a) \
	{ \
		return (type)((a > 0) - (shdrt_negative_##name(a))); \
	} \
	SHDRT_FN type shdrt_max_##name(type a, type b) \
	{ \
		return a > b ? a : b; \
	} \
	SHDRT_FN type shdrt_min_##name(type a, type b) \
	{ \
		return a < b ? a : b; \
	} \
	SHDRT_FN type shdrt_clamp_##name(type low, type x, type high) \
	{ \
		type above = x > low ? x : low; \
		return above < high ? above : high; \
	}
SHDRT_INTEGERS(X)
X(pred, uint8_t, uint8_t, 0, 1, 8)
#undef X

/* x, of which the C compiler knows nothing. */
SHDRT_FN int64_t
shdrt_unknown_i64(int64_t x)
{
	__asm__("" : "+r"(x));
	return x;
}

/* ---- floats: simple ---- */

#define SHDRT_SIMPLE_FLOATS(name, type, suffix) \
	SHDRT_FN type shdrt_abs_##name(type x) \
	{ \
		return __builtin_fabs##suffix(x); \
	} \
	SHDRT_FN type shdrt_sqrt_##name(type x) \
	{ \
		return __builtin_sqrt##suffix(x); \
	} \
	SHDRT_FN type shdrt_rsqrt_##name(type x) \
	{ \
		return 1 / __builtin_sqrt##suffix(x); \
	} \
	SHDRT_FN type shdrt_floor_##name(type x) \
	{ \
		return __builtin_floor##suffix(x); \
	} \
	SHDRT_FN type shdrt_ceil_##name(type x) \
	{ \
		return __builtin_ceil##suffix(x); \
	} \
	SHDRT_FN type shdrt_round_##name(type x) \
	{ \
		return __builtin_rint##suffix(x); \
	} \
	SHDRT_FN type shdrt_rem_##name(type x, type y) \
	{ \
		return __builtin_fmod##suffix(x, y); \
	} \
	SHDRT_FN uint8_t shdrt_isfinite_##name(type x) \
	{ \
		return x - x == 0; \
	} \
	/* NaN and zeros of either sign stay what they are. */ \
	SHDRT_FN type shdrt_sign_##name(type x) \
	{ \
		return x > 0 ? 1 : x < 0 ? -1 : x; \
	} \
	/* Not a number if either is; 0 is greater than -0.  Without branches. */ \
	SHDRT_FN type shdrt_max_##name(type a, type b) \
	{ \
		return (a > b) | (a != a) | ((a == b) & shdrt_has_sign_##name(b)) ? a : b; \
	} \
	SHDRT_FN type shdrt_min_##name(type a, type b) \
	{ \
		return (a < b) | (a != a) | ((a == b) & shdrt_has_sign_##name(a)) ? a : b; \
	} \
	SHDRT_FN type shdrt_clamp_##name(type low, type x, type high) \
	{ \
		return shdrt_min_##name(shdrt_max_##name(low, x), high); \
	}
SHDRT_SIMPLE_FLOATS(f32, float, f)
SHDRT_SIMPLE_FLOATS(f64, double, )

/* ---- f64: libm ---- */

SHDRT_FN double
shdrt_exp_f64(double x)
{
	return __builtin_exp(x);
}
SHDRT_FN double
shdrt_expm1_f64(double x)
{
	return __builtin_expm1(x);
}
SHDRT_FN double
shdrt_log_f64(double x)
{
	return __builtin_log(x);
}
SHDRT_FN double
shdrt_log1p_f64(double x)
{
	return __builtin_log1p(x);
}
SHDRT_FN double
shdrt_sin_f64(double x)
{
	return __builtin_sin(x);
}
SHDRT_FN double
shdrt_cos_f64(double x)
{
	return __builtin_cos(x);
}
SHDRT_FN double
shdrt_tanh_f64(double x)
{
	return __builtin_tanh(x);
}
SHDRT_FN double
shdrt_erf_f64(double x)
{
	return __builtin_erf(x);
}
SHDRT_FN double
shdrt_pow_f64(double x, double y)
{
	return __builtin_pow(x, y);
}
SHDRT_FN double
shdrt_cbrt_f64(double x)
{
	return __builtin_cbrt(x);
}
SHDRT_FN double
shdrt_tan_f64(double x)
{
	return __builtin_tan(x);
}
SHDRT_FN double
shdrt_atan2_f64(double y, double x)
{
	return __builtin_atan2(y, x);
}

/* Winitzki's approximation, then Halley's method. */
SHDRT_FN double
shdrt_erf_inv_f64(double x)
{
	double a = __builtin_fabs(x), l = __builtin_log1p(-a) + __builtin_log1p(a);
	double t = 2 / (3.141592653589793 * 0.147) + l / 2;
	double y = __builtin_sqrt(__builtin_sqrt(t * t - l / 0.147) - t);
	if (!(a < 1))
		return a == 1 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
	for (int i = 0; i < 4; i++) {
		double off = a < 0.5 ? __builtin_erf(y) - a : (1 - a) - __builtin_erfc(y);
		double u = off * 0.886226925452758 * __builtin_exp(y * y);
		y -= u / (1 + y * u);
	}
	return __builtin_copysign(y, x);
}

SHDRT_FN double
shdrt_sigmoid_f64(double x)
{
	double e = __builtin_exp(-__builtin_fabs(x));
	return (x < 0 ? e : 1) / (1 + e);
}

/* ---- f32: polynomials --------------------------------------------------------------
 * Coefficients are minimax fits of our own on the intervals named, rounded to
 * float; argument reductions are Cody and Waite's.
 */

/* x in units of ln 2, to the nearest integer; |x| < 2^22 ln 2. */
SHDRT_FN float
shdrt_ln2_units(float x)
{
	/* The adder rounds: no call, and vectorises on every x86-64. */
	return (x * 0x1.715476p+0f + 0x1.8p23f) - 0x1.8p23f;
}

/* 2^n, n an integer in [-126, 127]. */
SHDRT_FN float
shdrt_power2(int32_t n)
{
	return shdrt_f32_bits((uint32_t)(n + 127) << 23);
}

/* e^r - 1 for |r| <= ln(2)/2. */
SHDRT_FN float
shdrt_expm1_core(float r)
{
	float p = 0x1.a07482p-13f;
	p = p * r + 0x1.6d48d4p-10f;
	p = p * r + 0x1.11114ep-7f;
	p = p * r + 0x1.5554e4p-5f;
	p = p * r + 0x1.555556p-3f;
	p = p * r + 0x1p-1f;
	return r + r * r * p;
}

SHDRT_FN float
shdrt_exp_f32(float x)
{
	float inside = x < -104 ? -104 : x;
	inside = inside > 89 ? 89 : inside;
	inside = x == x ? inside : 0;
	float n = shdrt_ln2_units(inside);
	float r = (inside - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
	/* Two factors: results may be subnormal, or just below the largest. */
	int32_t k = (int32_t)n;
	int32_t half = k >> 1;
	float e = (1 + shdrt_expm1_core(r)) * shdrt_power2(half) * shdrt_power2(k - half);
	return shdrt_pick_f32(x == x, e, x);
}

SHDRT_FN float
shdrt_expm1_f32(float x)
{
	float inside = x < -18 ? -18 : x;
	inside = inside > 89 ? 89 : inside;
	inside = x == x ? inside : 0;
	float n = shdrt_ln2_units(inside);
	float r = (inside - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
	int32_t k = (int32_t)n;
	int32_t half = k >> 1;
	/* 2^k (e^r - 1 + 1 - 2^-k); nothing is added when k is 0. */
	int32_t back = k < 127 ? k : 126; /* 2^-k is a normal number */
	float e = (shdrt_expm1_core(r) + (1 - shdrt_power2(-back))) * shdrt_power2(half)
		* shdrt_power2(k - half);
	e = shdrt_pick_f32(x == 0, x, e); /* minus zero */
	return shdrt_pick_f32(x == x, e, x);
}

/*
 * log(2^k (1+f)) + c/(1+f) for 1+f in [sqrt(1/2), sqrt(2)], c tiny:
 * with s = f/(2+f), log(1+f) = f - f^2/2 + s (f^2/2 + s^2 R(s^2)).
 */
SHDRT_FN float
shdrt_log_core(float f, float k, float c)
{
	float s = f / (2 + f);
	float z = s * s;
	float p = 0x1.de68c0p-3f;
	p = p * z + 0x1.245964p-2f;
	p = p * z + 0x1.9999f2p-2f;
	p = p * z + 0x1.555556p-1f;
	float square = 0.5f * f * f;
	float low = s * (square + z * p) + (k * 0x1.2fefa2p-17f + c);
	return k * 0x1.62e3p-1f - ((square - low) - f);
}

/* Splits a positive normal number into 2^k (1+f). */
SHDRT_FN float
shdrt_log_split(float x, float *k)
{
	/* From the bits of sqrt(1/2), so that 1+f is on both sides of 1. */
	uint32_t u = shdrt_bits_f32(x) - 0x3f3504f3u;
	*k = (float)((int32_t)u >> 23);
	return shdrt_f32_bits((u & 0x7fffffu) + 0x3f3504f3u) - 1;
}

/* log of 0, of negative numbers, of infinity and NaN. */
SHDRT_FN float
shdrt_log_special(float x, float y)
{
	float infinity = __builtin_inff();
	y = shdrt_pick_f32(x == infinity, infinity, y);
	y = shdrt_pick_f32(x == 0, -infinity, y);
	y = shdrt_pick_f32(x < 0, __builtin_nanf(""), y);
	return shdrt_pick_f32(x == x, y, x);
}

SHDRT_FN float
shdrt_log_f32(float x)
{
	int small = x < 0x1p-126f;
	float k, scaled = x * 0x1p23f;
	float f = shdrt_log_split(shdrt_pick_f32(small, scaled, x), &k);
	k -= small ? 23.0f : 0.0f;
	return shdrt_log_special(x, shdrt_log_core(f, k, 0));
}

SHDRT_FN float
shdrt_log1p_f32(float x)
{
	float u = 1 + x;
	float k, f = shdrt_log_split(u, &k);
	/* What 1 + x lost, from its larger addend. */
	float lost = shdrt_pick_f32(x >= 1, 1 - (u - x), x - (u - 1));
	float c = shdrt_pick_f32(k < 24, lost / u, 0);
	/* Where no power of two was taken out, x itself is more exact. */
	f = shdrt_pick_f32(k == 0, x, f);
	c = shdrt_pick_f32(k == 0, 0, c);
	float y = shdrt_log_special(u, shdrt_log_core(f, k, c));
	y = shdrt_pick_f32(x == 0, x, y);
	return shdrt_pick_f32(x == x, y, x);
}

SHDRT_FN float
shdrt_tanh_f32(float x)
{
	float magnitude = __builtin_fabsf(x);
	float e = shdrt_expm1_f32(2 * (magnitude < 10 ? magnitude : 10));
	float y = shdrt_copysign_f32(e / (e + 2), x);
	return shdrt_pick_f32(x == x, y, x);
}

SHDRT_FN float
shdrt_sigmoid_f32(float x)
{
	float e = shdrt_exp_f32(-__builtin_fabsf(x));
	return shdrt_pick_f32(x < 0, e, 1) / (1 + e);
}

SHDRT_FN float
shdrt_erf_f32(float x)
{
	float a = __builtin_fabsf(x);
	a = a < 4 ? a : 4;
	/* |x| <= 1: x + x P(x^2) */
	float z = a * a;
	float p = 0x1.496a28p-14f;
	p = p * z + -0x1.a3f6fcp-11f;
	p = p * z + 0x1.5405b2p-8f;
	p = p * z + -0x1.b7f90cp-6f;
	p = p * z + 0x1.ce2cf8p-4f;
	p = p * z + -0x1.81273ep-2f;
	p = p * z + 0x1.06eba8p-3f;
	float near = a + a * p;
	/* above: 1 - e^-Q(x) */
	float q = 0x1.6c0672p-16f;
	q = q * a + -0x1.ceead4p-12f;
	q = q * a + 0x1.1398f0p-8f;
	q = q * a + -0x1.9d0bcep-6f;
	q = q * a + 0x1.bc18ccp-4f;
	q = q * a + 0x1.4434f0p-1f;
	q = q * a + 0x1.212c2cp+0f;
	q = q * a + -0x1.8b3e12p-13f;
	float far = 1 - shdrt_exp_f32(-q);
	float y = shdrt_pick_f32(a < 1, near, far);
	return shdrt_pick_f32(x == x, shdrt_copysign_f32(y, x), x);
}

/* ---- f32: through f64 ---- */

/* 2^e modulo 2 pi as a sum of two, the first of 29 bits; row 0 is 1. */
static const double shdrt_turns[105][2] __attribute__((unused)) = {
	{0x1.0000000000000p+0, 0x0.0p+0},
	{0x1.0000000000000p+1, 0x0.0p+0},
	{-0x1.243f6a9000000p+1, 0x1.de973dcb3b39ap-29},
	{0x1.b7812af000000p+0, -0x1.0b4611a626331p-32},
	{-0x1.6cbe3fa000000p+1, 0x1.9bc5b961b1acep-29},
	{0x1.2b0bad5000000p-1, 0x1.63d0d3e0a0805p-31},
	{0x1.2b0bad5000000p+0, 0x1.63d0d3e0a0805p-30},
	{0x1.2b0bad5000000p+1, 0x1.63d0d3e0a0805p-29},
	{-0x1.9c501fc000000p+0, 0x1.4c71cb18f8747p-30},
	{0x1.87ef4ad000000p+1, -0x1.244ae564858a6p-30},
	{-0x1.460d4ed000000p-3, -0x1.6ce9e652942fbp-35},
	{-0x1.460d4ed000000p-2, -0x1.6ce9e652942fbp-34},
	{-0x1.460d4ed000000p-1, -0x1.6ce9e652942fbp-33},
	{-0x1.460d4ed000000p+0, -0x1.6ce9e652942fbp-32},
	{-0x1.460d4ed000000p+1, -0x1.6ce9e652942fbp-31},
	{0x1.304999d000000p+0, -0x1.2a1861e90aa2fp-30},
	{0x1.304999d000000p+1, -0x1.2a1861e90aa2fp-29},
	{-0x1.87586de000000p+0, -0x1.d666181b68310p-31},
	{-0x1.87586de000000p+1, -0x1.d666181b68310p-30},
	{0x1.58e8ec1000000p-3, 0x1.6055432b92ab6p-34},
	{0x1.58e8ec1000000p-2, 0x1.6055432b92ab6p-33},
	{0x1.58e8ec1000000p-1, 0x1.6055432b92ab6p-32},
	{0x1.58e8ec1000000p+0, 0x1.6055432b92ab6p-31},
	{0x1.58e8ec1000000p+1, 0x1.6055432b92ab6p-30},
	{-0x1.c9b6499000000p-1, 0x1.f76407b66f27fp-32},
	{-0x1.c9b6499000000p+0, 0x1.f76407b66f27fp-31},
	{0x1.5a89210000000p+1, -0x1.c5ca73e0074b5p-30},
	{-0x1.bcb4a24000000p-1, 0x1.8ccc9eb33ee4bp-33},
	{-0x1.bcb4a24000000p+0, 0x1.8ccc9eb33ee4bp-32},
	{0x1.678ac85000000p+1, -0x1.7b64161e6b807p-29},
	{-0x1.54a767d000000p-1, -0x1.830ee719bc742p-33},
	{-0x1.54a767d000000p+0, -0x1.830ee719bc742p-32},
	{-0x1.54a767d000000p+1, -0x1.830ee719bc742p-31},
	{0x1.ebc26b9000000p-1, 0x1.7f853a9f9a315p-31},
	{0x1.ebc26b9000000p+0, 0x1.7f853a9f9a315p-30},
	{-0x1.387cfef000000p+1, -0x1.43c70f2a552a3p-30},
	{0x1.668ad94000000p+0, 0x1.bb436614df386p-30},
	{0x1.668ad94000000p+1, 0x1.bb436614df386p-29},
	{-0x1.5ca6dff000000p-1, 0x1.547827d3e6a98p-31},
	{-0x1.5ca6dff000000p+0, 0x1.547827d3e6a98p-30},
	{-0x1.5ca6dff000000p+1, 0x1.547827d3e6a98p-29},
	{0x1.abc6aad000000p-1, -0x1.ad37711b6f34fp-32},
	{0x1.abc6aad000000p+0, -0x1.ad37711b6f34fp-31},
	{-0x1.7878bfc000000p+1, 0x1.07fb853d839f2p-29},
	{0x1.9a6f588000000p-2, 0x1.8afe657e60255p-32},
	{0x1.9a6f588000000p-1, 0x1.8afe657e60255p-31},
	{0x1.9a6f588000000p+0, 0x1.8afe657e60255p-30},
	{-0x1.89d0120000000p+1, -0x1.2cd4b96cc9422p-30},
	{0x1.09f4684000000p-3, -0x1.6d7ee7008f78ap-34},
	{0x1.09f4684000000p-2, -0x1.6d7ee7008f78ap-33},
	{0x1.09f4684000000p-1, -0x1.6d7ee7008f78ap-32},
	{0x1.09f4684000000p+0, -0x1.6d7ee7008f78ap-31},
	{0x1.09f4684000000p+1, -0x1.6d7ee7008f78ap-30},
	{-0x1.10569a1000000p+1, 0x1.c4615b2aaf041p-31},
	{0x1.0392367000000p+1, -0x1.f8cd206bc76f2p-30},
	{-0x1.1d1afdb000000p+1, -0x1.a35e2a08c3589p-33},
	{0x1.d412de5000000p+0, -0x1.303030c53a4afp-33},
	{-0x1.502c8c4000000p+1, 0x1.b89137b293f04p-29},
	{0x1.07cca43000000p+0, -0x1.b5d339984d648p-31},
	{0x1.07cca43000000p+1, -0x1.b5d339984d648p-30},
	{-0x1.14a6223000000p+1, 0x1.462021976ea92p-32},
	{0x1.f5e64c5000000p+0, 0x1.cbc32a6a81c2ap-31},
	{-0x1.2e591e3000000p+1, -0x1.3b872cff83e51p-29},
	{0x1.8f1a5c4000000p+0, -0x1.56965f290c0efp-31},
	{0x1.8f1a5c4000000p+1, -0x1.56965f290c0efp-30},
	{-0x1.82ac837000000p-5, -0x1.ffc8577435554p-35},
	{-0x1.82ac837000000p-4, -0x1.ffc8577435554p-34},
	{-0x1.82ac837000000p-3, -0x1.ffc8577435554p-33},
	{-0x1.82ac837000000p-2, -0x1.ffc8577435554p-32},
	{-0x1.82ac837000000p-1, -0x1.ffc8577435554p-31},
	{-0x1.82ac837000000p+0, -0x1.ffc8577435554p-30},
	{-0x1.82ac837000000p+1, -0x1.ffc8577435554p-29},
	{0x1.ee66399000000p-3, -0x1.e27ecb3a5e429p-33},
	{0x1.ee66399000000p-2, -0x1.e27ecb3a5e429p-32},
	{0x1.ee66399000000p-1, -0x1.e27ecb3a5e429p-31},
	{0x1.ee66399000000p+0, -0x1.e27ecb3a5e429p-30},
	{-0x1.35d9310000000p+1, -0x1.f3c6b791847c5p-36},
	{0x1.711a111000000p+0, 0x1.999a7567eb471p-33},
	{0x1.711a111000000p+1, 0x1.999a7567eb471p-32},
	{-0x1.082d21a000000p-1, 0x1.13f76c94d82d9p-31},
	{-0x1.082d21a000000p+0, 0x1.13f76c94d82d9p-30},
	{-0x1.082d21a000000p+1, 0x1.13f76c94d82d9p-29},
	{0x1.13e5275000000p+1, 0x1.255e6d79d485fp-31},
	{-0x1.f8ea37d000000p+0, 0x1.c519d22095f25p-31},
	{0x1.2b5532c000000p+1, -0x1.f814a975e080fp-30},
	{-0x1.9b2a0a2000000p+0, -0x1.97d6baaa5474cp-33},
	{0x1.8915606000000p+1, 0x1.ee6deadf7a37dp-29},
	{-0x1.214a9b9000000p-3, -0x1.233b1d7415b3ap-35},
	{-0x1.214a9b9000000p-2, -0x1.233b1d7415b3ap-34},
	{-0x1.214a9b9000000p-1, -0x1.233b1d7415b3ap-33},
	{-0x1.214a9b9000000p+0, -0x1.233b1d7415b3ap-32},
	{-0x1.214a9b9000000p+1, -0x1.233b1d7415b3ap-31},
	{0x1.c35466d000000p+0, -0x1.c0d33215184dcp-31},
	{-0x1.60eb03c000000p+1, 0x1.fc5b49815e257p-30},
	{0x1.89a58c4000000p-1, 0x1.dc40bb622ebdap-33},
	{0x1.89a58c4000000p+0, 0x1.dc40bb622ebdap-32},
	{0x1.89a58c4000000p+1, 0x1.dc40bb622ebdap-31},
	{-0x1.0f45205000000p-3, 0x1.96f36f8a530e0p-34},
	{-0x1.0f45205000000p-2, 0x1.96f36f8a530e0p-33},
	{-0x1.0f45205000000p-1, 0x1.96f36f8a530e0p-32},
	{-0x1.0f45205000000p+0, 0x1.96f36f8a530e0p-31},
	{-0x1.0f45205000000p+1, 0x1.96f36f8a530e0p-30},
	{0x1.05b529f000000p+1, -0x1.1e8f3903a0ae8p-31},
	{-0x1.18d516b000000p+1, 0x1.4f4fa1496ae26p-29},
	{0x1.e52a7a6000000p+0, 0x1.8010098f35163p-30},
};

/*
 * x - n pi/2 in [-pi/4, pi/4], and n modulo 4.  Beyond 2^24, x is m 2^e with
 * m of 24 bits, and m (2^e mod 2 pi) is as good: exact in the first part.
 */
SHDRT_FN double
shdrt_quarter_turns(float x, int32_t *quadrant)
{
	int32_t exponent = (int32_t)(shdrt_bits_f32(x) >> 23 & 0xff);
	int32_t e = exponent > 150 ? exponent - 150 : 0;
	e = e < 104 ? e : 104;
	double m = (double)x * shdrt_f64_bits((uint64_t)(1023 - e) << 52);
	double high = m * shdrt_turns[e][0], low = m * shdrt_turns[e][1];
	double n = (high * 0x1.45f306dc9c883p-1 + 0x1.8p52) - 0x1.8p52;
	*quadrant = (int32_t)n & 3;
	double r = (high - n * 0x1.921fb54p+0) - n * 0x1.10b461p-30;
	return r + (low - n * 0x1.a62633145c06ep-58);
}

/* sin and cos of r in [-pi/4, pi/4]. */
SHDRT_FN double
shdrt_sin_core(double r, double *cosine)
{
	double z = r * r;
	double s = 0x1.6db1b96e9f811p-19;
	s = s * z + -0x1.a0138042a94c3p-13;
	s = s * z + 0x1.11110dd09fc38p-7;
	s = s * z + -0x1.5555555450814p-3;
	s = r + r * z * s;
	double c = -0x1.251c871c40ba1p-22;
	c = c * z + 0x1.a015abe3a34f1p-16;
	c = c * z + -0x1.6c16bf420c309p-10;
	c = c * z + 0x1.55555554feb78p-5;
	*cosine = 1 - 0.5 * z + z * z * c;
	return s;
}

SHDRT_FN float
shdrt_sin_turned(float x, int32_t add)
{
	int32_t quadrant;
	int finite = x - x == 0;
	double r = shdrt_quarter_turns(shdrt_pick_f32(finite, x, 0), &quadrant);
	double c, s = shdrt_sin_core(r, &c);
	quadrant += add;
	double y = shdrt_pick_f64(quadrant & 1, c, s);
	y = shdrt_pick_f64(quadrant & 2, -y, y);
	return shdrt_pick_f32(finite, (float)y, __builtin_nanf(""));
}

SHDRT_FN float
shdrt_sin_f32(float x)
{
	return shdrt_pick_f32(x == 0, x, shdrt_sin_turned(x, 0));
}

SHDRT_FN float
shdrt_cos_f32(float x)
{
	return shdrt_sin_turned(x, 1);
}

SHDRT_FN float
shdrt_tan_f32(float x)
{
	int32_t quadrant;
	int finite = x - x == 0;
	double r = shdrt_quarter_turns(shdrt_pick_f32(finite, x, 0), &quadrant);
	double c, s = shdrt_sin_core(r, &c);
	double y = shdrt_pick_f64(quadrant & 1, -c, s) / shdrt_pick_f64(quadrant & 1, s, c);
	return shdrt_pick_f32(x == 0, x, shdrt_pick_f32(finite, (float)y, __builtin_nanf("")));
}

/* The angle of (|x|, |y|), the smaller of them over the greater, and where it is. */
SHDRT_FN float
shdrt_atan2_f32(float y, float x)
{
	double a = __builtin_fabsf(x), b = __builtin_fabsf(y);
	double most = a > b ? a : b, least = a > b ? b : a;
	double t = least / shdrt_pick_f64(most > 0, most, 1);
	t = shdrt_pick_f64(least == most && most > 0, 1, t); /* both infinite */
	double z = t * t;
	double p = -0x1.6704e822ca497p-11;
	p = p * z + 0x1.3de78ab31b7bap-8;
	p = p * z + -0x1.07f85576db431p-6;
	p = p * z + 0x1.183e1d67b9a88p-5;
	p = p * z + -0x1.bca703921070dp-5;
	p = p * z + 0x1.28c8b91a2e5a5p-4;
	p = p * z + -0x1.6fd49563893efp-4;
	p = p * z + 0x1.c6610e117cd38p-4;
	p = p * z + -0x1.24893245378b4p-3;
	p = p * z + 0x1.9999238bbc6cep-3;
	p = p * z + -0x1.5555542690391p-2;
	p = p * z + 0x1.ffffffff7ec0dp-1;
	double angle = t * p;
	angle = shdrt_pick_f64(b > a, 0x1.921fb54442d18p+0 - angle, angle);
	/* Left of the origin, -0 too. */
	int left = (shdrt_bits_f32(x) >> 31) != 0;
	angle = shdrt_pick_f64(left, 0x1.921fb54442d18p+1 - angle, angle);
	float r = shdrt_copysign_f32((float)angle, y);
	return shdrt_pick_f32(x == x && y == y, r, __builtin_nanf(""));
}

/* log2 of a positive finite double that is a float's value. */
SHDRT_FN double
shdrt_log2_core(double x)
{
	/* From the bits of sqrt(1/2). */
	uint64_t u = shdrt_bits_f64(x) - 0x3fe6a09e667f3bcdu;
	double k = (double)(int32_t)((int64_t)u >> 52);
	double m = shdrt_f64_bits((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
	double s = (m - 1) / (m + 1);
	double z = s * s;
	double p = 0x1.8b42cdbccfdcep-6;
	p = p * z + 0x1.1fb79837e5488p-2;
	p = p * z + 0x1.47a44a5b28a75p-2;
	p = p * z + 0x1.a619fb65288fap-2;
	p = p * z + 0x1.2776c2ba58268p-1;
	p = p * z + 0x1.ec709dc5273d0p-1;
	p = p * z + 0x1.71547652b825ap+1;
	return k + s * p;
}

/* 2^x, x in [-200, 200]. */
SHDRT_FN double
shdrt_exp2_core(double x)
{
	double n = (x + 0x1.8p52) - 0x1.8p52;
	double r = x - n;
	double p = 0x1.fe177b1a18684p-17;
	p = p * r + 0x1.446a1fcdf63aep-13;
	p = p * r + 0x1.5d8a708fe95e2p-10;
	p = p * r + 0x1.3b29dc40e91f4p-7;
	p = p * r + 0x1.c6b08aaf275b9p-5;
	p = p * r + 0x1.ebfbe0a4be67cp-3;
	p = p * r + 0x1.62e42ff1162cbp-1;
	p = p * r + 0x1.ffffffffabbc8p-1;
	return p * shdrt_f64_bits((uint64_t)((int32_t)n + 1023) << 52);
}

SHDRT_FN float
shdrt_cbrt_f32(float x)
{
	float a = __builtin_fabsf(x);
	int usual = a > 0 && a < __builtin_inff();
	double l = shdrt_log2_core(shdrt_pick_f32(usual, a, 1));
	float r = shdrt_copysign_f32((float)shdrt_exp2_core(l * 0x1.5555555555555p-2), x);
	return shdrt_pick_f32(usual, r, x);
}

/* x times a polynomial of w = -ln(1 - x^2), further out of its root. */
SHDRT_FN float
shdrt_erf_inv_f32(float x)
{
	double a = __builtin_fabsf(x);
	int usual = a < 1;
	double w = (1 - a) * (1 + a);
	w = shdrt_log2_core(shdrt_pick_f64(usual, w, 1)) * -0x1.62e42fefa39efp-1;
	double u = w - 2.5;
	double p = 0x1.24295c4c7ef4cp-33;
	p = p * u + 0x1.e0852784fbc6dp-32;
	p = p * u + -0x1.7ac151a72604cp-27;
	p = p * u + 0x1.1abbb4b6692eep-26;
	p = p * u + 0x1.01895159838d2p-21;
	p = p * u + -0x1.cbd4e21e38040p-19;
	p = p * u + -0x1.4f760ab6cceeep-18;
	p = p * u + 0x1.c9bb5aefcdaf9p-13;
	p = p * u + -0x1.486399e85f79ep-10;
	p = p * u + -0x1.11c3e0b295593p-8;
	p = p * u + 0x1.f91e8973010e8p-3;
	p = p * u + 0x1.805c5cff6d8cap+0;
	double v = __builtin_sqrt(w) - 3;
	double q = -0x1.0ec8ba64f9e42p-17;
	q = q * v + -0x1.2ad9b218bea76p-16;
	q = q * v + 0x1.68b509997cf7ep-13;
	q = q * v + -0x1.36e3a7e177532p-12;
	q = q * v + -0x1.0867c0ffbca80p-13;
	q = q * v + 0x1.8591fa391f178p-10;
	q = q * v + -0x1.d3566c0e80530p-9;
	q = q * v + 0x1.7493cc911c530p-8;
	q = q * v + -0x1.f4e41e4373900p-8;
	q = q * v + 0x1.3582c57fb6780p-7;
	q = q * v + 0x1.006dca026a170p+0;
	q = q * v + 0x1.6a9efbd64f39ep+1;
	float y = (float)(x * shdrt_pick_f64(w < 5, p, q));
	float end = shdrt_pick_f32(a == 1, shdrt_copysign_f32(__builtin_inff(), x),
		__builtin_nanf(""));
	return shdrt_pick_f32(usual, y, end);
}

/* As C's pow(): pow(1, y) and pow(x, 0) are 1 whatever the other is. */
SHDRT_FN float
shdrt_pow_f32(float x, float y)
{
	float infinity = __builtin_inff();
	float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
	int usual = a > 0 && a < infinity;
	double l = shdrt_log2_core(shdrt_pick_f32(usual, a, 1));
	/* 0 and infinity: logarithms far enough to overflow the result. */
	l = shdrt_pick_f64(a == 0, -0x1p400, l);
	l = shdrt_pick_f64(a == infinity, 0x1p400, l);
	double t = l * shdrt_pick_f32(b < 1e30f, y, shdrt_copysign_f32(1e30f, y));
	t = t > -200 ? t : -200;
	t = t < 200 ? t : 200;
	float r = (float)shdrt_exp2_core(t);
	/* Is y an odd integer?  An integer at all?  (All from 2^24 are even.) */
	float whole = b < 0x1p24f ? b : 0;
	int32_t n = (int32_t)whole;
	int integer = (float)n == b || b >= 0x1p24f;
	int odd = (float)n == b && (n & 1);
	r = shdrt_pick_f32(odd, shdrt_copysign_f32(r, x), r);
	r = shdrt_pick_f32(x < 0 && a < infinity && !integer, __builtin_nanf(""), r);
	r = shdrt_pick_f32(x != x || y != y, __builtin_nanf(""), r);
	return shdrt_pick_f32(x == 1 || y == 0, 1, r);
}

#endif
