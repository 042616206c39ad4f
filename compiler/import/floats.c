/*
 * floats.c - ops that say what the bits of floats are: [sign | exponent | fraction]
 *
 *   reduce_precision     rounded to fewer bits, but stored as before
 *   compare, TOTALORDER  -NaN < -inf < .. < -0 < 0 < .. < inf < NaN: as integers, those bits
 *                        below the sign turned over where that is set
 *
 * A number is rounded as XLA does it (elemental_ir_emitter.cc): to nearest, ties to even; what
 * is too large is infinite, what has no normal number is 0, NaN stays.
 */
#include <stdio.h>

#include "import/builders.h"

typedef struct FloatBits {
	int exponent, fraction;
} FloatBits;

static FloatBits
bits_of(DType d)
{
	int digits = float_formats[d].digits;

	return (FloatBits){dtypes[d].bits - digits, digits - 1};
}

static Value *
with_word(Make k, OpKind kind, Value *x, uint64_t word)
{
	return make_binary(k, kind, x, word_like(k, x, word));
}

static Value *
words_of(Make k, Value *x, DTypeClass class)
{
	return make_bitcast(k, x, integers_of(dtypes[x->type.dtype].bits, class));
}

/* To nearest: half of the last place more, less one where the place is even. */
static Value *
fraction_rounded(Make k, Value *word, int dropped)
{
	if (!word)
		return NULL;
	uint64_t place = (uint64_t)1 << dropped;
	uint64_t all = ~(uint64_t)0 >> (64 - dtypes[word->type.dtype].bits);
	Value *odd = with_word(k, O_and, with_word(k, O_shr, word, (uint64_t)dropped), 1);

	word = make_binary(k, O_add, word, with_word(k, O_add, odd, place / 2 - 1));
	return with_word(k, O_and, word, -place & all);
}

static Value *
exponent_limited(Make k, Value *word, FloatBits from, int exponent)
{
	uint64_t sign = (uint64_t)1 << (from.exponent + from.fraction);
	uint64_t infinity = sign - ((uint64_t)1 << from.fraction);
	uint64_t bias = ((uint64_t)1 << (from.exponent - 1)) - 1;
	uint64_t range = ((uint64_t)1 << (exponent - 1)) - 1;
	Value *signs = with_word(k, O_and, word, sign);
	Value *magnitude = with_word(k, O_and, word, infinity);
	Value *large = make_compare(k, DIR_GT, magnitude,
		word_like(k, word, (bias + range) << from.fraction));
	Value *small = make_compare(k, DIR_LE, magnitude,
		word_like(k, word, (bias - range) << from.fraction));

	word = make_select(k, large, with_word(k, O_or, signs, infinity), word);
	return make_select(k, small, signs, word);
}

/* `format = e5m10`, or two attributes. */
static bool
read_format(Import *in, const MlirOp *op, FloatBits *format)
{
	const char *word = word_of(in, op, "format");

	if (sscanf(word, "e%4dm%4d", &format->exponent, &format->fraction) != 2)
		*format = (FloatBits){(int)integer_of(in, op, "exponent_bits", 0),
			(int)integer_of(in, op, "mantissa_bits", -1)};
	return format->exponent >= 1 && format->fraction >= 0;
}

bool
import_op_reduce_precision(Import *in, const MlirOp *op, int detail)
{
	Make k = in->make;
	FloatBits to;

	(void)detail;
	if (in->noperands != 1 || !dtype_is_float(in->operands[0]->type.dtype)
		|| !read_format(in, op, &to))
		return read_wrong(in, op->range, "%s takes 1 operand, of floats, and a format",
			op->name);
	Value *x = in->operands[0], *word = words_of(k, x, DC_unsigned);
	FloatBits from = bits_of(x->type.dtype);
	in->results[0] = x;
	if (to.exponent >= from.exponent && to.fraction >= from.fraction)
		return true;
	if (to.fraction < from.fraction)
		word = fraction_rounded(k, word, from.fraction - to.fraction);
	if (to.exponent < from.exponent)
		word = exponent_limited(k, word, from, to.exponent);
	Value *nan = make_compare(k, DIR_NE, x, x);
	in->results[0] = make_select(k, nan, x, make_bitcast(k, word, x->type.dtype));
	return true;
}

Value *
total_order(Make k, Value *x)
{
	Value *word = words_of(k, x, DC_signed);
	uint64_t below = ((uint64_t)1 << (dtypes[x->type.dtype].bits - 1)) - 1;

	Value *negative = compare_with(k, DIR_LT, word, 0);
	return make_select(k, negative, with_word(k, O_xor, word, below), word);
}
