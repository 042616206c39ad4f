/*
 * numbers.h - what is known of the numbers that an op makes: numbers.def.
 */
#ifndef SHDC_NUMBERS_H
#define SHDC_NUMBERS_H

#include "ir/erf_inv.h"
#include "ir/ir.h"

/* What is known of some elements.  From the least that is known up. */
typedef enum Content {
	CONTENT_any,	/* NaN and infinities too */
	CONTENT_finite, /* times zero it is zero */
	CONTENT_zero,
} Content;

typedef enum Infinite {
	INFINITE_never,
	INFINITE_operands,
	INFINITE_first,
	INFINITE_pole,
	INFINITE_range,
	INFINITE_growth,
} Infinite;

typedef enum Sign { SIGN_any, SIGN_yes, SIGN_operands, SIGN_square } Sign;

typedef struct Pole {
	bool is;
	int operand;
	double at;
} Pole;

typedef enum Jumps {
	JUMPS_nowhere,
	JUMPS_steps,
	JUMPS_equality,
	JUMPS_whole,
	JUMPS_quotient,
	JUMPS_period,
	JUMPS_index,
	JUMPS_place,
	JUMPS_corner,
} Jumps;

typedef enum Elements {
	ELEMENTS_each,
	ELEMENTS_moved,
	ELEMENTS_combined,
	ELEMENTS_other,
} Elements;

/* One element in terms of those of the operands; integers in 64 bits. */
typedef double FloatFunction(double a, double b, double c);
typedef int64_t IntegerFunction(int64_t a, int64_t b, int64_t c);

typedef struct NumberInfo {
	FloatFunction *of_floats; /* NULL: not by a formula */
	IntegerFunction *of_integers;
	double ulps;
	Content of_finite;
	Elements elements;
	Infinite infinite;
	Sign sign;
	Pole pole;
	Jumps jumps;
	int first_index, end_index; /* operands that say where */
} NumberInfo;
extern const NumberInfo numbers[OP_COUNT];

/* What an op element by element makes of zeros alone. */
Content number_of_zeros(const Op *op);

/* ---- the formulas --------------------------------------------------- */

/* Of floats: NaN wins, and 0 is greater than -0. */
#define GREATER(a, b) \
	((a) > (b) || (a) != (a) || ((a) == (b) && __builtin_signbit(b)) ? (a) : (b))
#define LESSER(a, b) \
	((a) < (b) || (a) != (a) || ((a) == (b) && __builtin_signbit(a)) ? (a) : (b))

/* Of integers: min(max(lo, x), hi). */
#define CLAMP(lo, x, hi) ((x) < (lo) ? ((lo) < (hi) ? (lo) : (hi)) : (x) > (hi) ? (hi) : (x))

/* In place of a formula of numbers.def that is not. */
#define NONE 0

/* Integer arithmetic as XLA defines it: wrapping, with no undefined cases. */
static inline int64_t
wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t
wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t
wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t
wrap_div(int64_t a, int64_t b)
{
	if (b == 0)
		return -1;
	return b == -1 ? wrap_sub(0, a) : a / b;
}

static inline int64_t
wrap_rem(int64_t a, int64_t b)
{
	if (b == 0)
		return a;
	return b == -1 ? 0 : a % b;
}

/* Bits moved up or down; those above the width are nothing's. */
static inline int64_t
wrap_shl(int64_t a, int64_t b, int width)
{
	return (uint64_t)b < (uint64_t)width ? (int64_t)((uint64_t)a << b) : 0;
}

static inline int64_t
wrap_shr(int64_t a, int64_t b, int width)
{
	uint64_t own = (uint64_t)a << (64 - width) >> (64 - width);
	return (uint64_t)b < (uint64_t)width ? (int64_t)(own >> b) : 0;
}

/* ... with the sign before them. */
static inline int64_t
wrap_sar(int64_t a, int64_t b, int width)
{
	int64_t own = (int64_t)((uint64_t)a << (64 - width)) >> (64 - width);
	return own >> ((uint64_t)b < (uint64_t)width ? b : width - 1);
}

static inline int64_t
wrap_popcnt(int64_t a, int width)
{
	return __builtin_popcountll((uint64_t)a << (64 - width));
}

static inline int64_t
wrap_clz(int64_t a, int width)
{
	uint64_t own = (uint64_t)a << (64 - width);
	return own ? __builtin_clzll(own) : width;
}

static inline int64_t
wrap_abs(int64_t a)
{
	return a < 0 ? wrap_sub(0, a) : a;
}

static inline int64_t
wrap_sign(int64_t a)
{
	return (a > 0) - (a < 0);
}

/* A negative exponent gives 0, but for 1 and -1, whose inverses are whole. */
static inline int64_t
wrap_pow(int64_t base, int64_t exponent)
{
	int64_t result = 1;
	if (exponent < 0)
		return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;
	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = wrap_mul(result, base);
		base = wrap_mul(base, base);
	}
	return result;
}

/* What is another for u64. */
static inline uint64_t
word_div(uint64_t a, uint64_t b)
{
	return b ? a / b : UINT64_MAX;
}

static inline uint64_t
word_rem(uint64_t a, uint64_t b)
{
	return b ? a % b : a;
}

static inline uint64_t
word_pow(uint64_t base, uint64_t exponent)
{
	uint64_t result = 1;
	for (; exponent; exponent >>= 1, base *= base)
		if (exponent & 1)
			result *= base;
	return result;
}

static inline uint64_t
word_abs(uint64_t a)
{
	return a;
}

static inline uint64_t
word_sign(uint64_t a)
{
	return a > 0;
}

#endif
