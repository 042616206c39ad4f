/*
 * numbers.h - what is known of the numbers that an op makes: numbers.def.
 */
#ifndef SHDC_NUMBERS_H
#define SHDC_NUMBERS_H

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
} Jumps;

typedef enum Elements {
	ELEMENTS_each,
	ELEMENTS_moved,
	ELEMENTS_combined,
	ELEMENTS_other,
} Elements;

typedef double NumberFunction(double a, double b, double c);

typedef struct NumberInfo {
	bool floats, integers; /* of which it is given by a formula */
	NumberFunction *f;     /* the formula, in double; NULL: not of floats */
	double ulps;
	Content of_zeros, of_finite; /* of which elements are made of each */
	Elements elements;
	Infinite infinite;
	Sign sign;
	Pole pole;
	Jumps jumps;
	int first_index, end_index; /* operands that say where */
} NumberInfo;
extern const NumberInfo numbers[OP_COUNT];

/* NaN in any of the three wins; otherwise min(max(lo, x), hi). */
#define CLAMP(lo, x, hi) \
	((lo) != (lo)		       ? (lo) \
			: (hi) != (hi) ? (hi) \
			: (x) != (x)   ? (x) \
			: (x) < (lo)   ? ((lo) < (hi) ? (lo) : (hi)) \
			: (x) > (hi)   ? (hi) \
				       : (x))

/* A formula of numbers.def, or not. */
#define NONE 0
#define IS_FORMULA(text) (__builtin_strcmp(#text, "NONE") != 0)

#endif
