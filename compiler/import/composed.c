/*
 * composed.c - ops that are several of ours.
 *
 *   square(x)             x * x
 *   atan(x)               atan2(x, 1)
 *   next_after(x, y)      the bits of x, one more or less
 *   mulhi(x, y)           the upper half of a product of twice the width
 *   bitcast, f32 to u8    the bits of x, moved down by 0, 8, 16, 24: a minor dim more
 */
#include <math.h>

#include "import/builders.h"

bool
import_op_square(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	if (in->noperands != 1)
		return read_wrong(in, op->range, "%s takes 1 operand", op->name);
	in->results[0] = make_binary(in->make, O_mul, in->operands[0], in->operands[0]);
	return true;
}

/* sqrt(1 - x^2) */
static Value *
other_leg(Make k, Value *x, Value *one)
{
	Value *below = make_binary(k, O_sub, one, x), *above = make_binary(k, O_add, one, x);

	return make_unary(k, O_sqrt, make_binary(k, O_mul, below, above));
}

/* asin and acos are twice the angle of half of it, which -1 has not. */
bool
import_op_angle(Import *in, const MlirOp *op, int kind)
{
	Make k = in->make;

	if (in->noperands != 1 || !dtype_is_float(in->operands[0]->type.dtype))
		return read_wrong(in, op->range, "%s takes 1 operand, of floats", op->name);
	Value *x = in->operands[0], *one = number_like(k, x, 1);
	if (kind == ANGLE_atan) {
		in->results[0] = make_binary(k, O_atan2, x, one);
		return true;
	}
	Value *leg = other_leg(k, x, one);
	Value *half = kind == ANGLE_asin
		? make_binary(k, O_atan2, x, make_binary(k, O_add, one, leg))
		: make_binary(k, O_atan2, leg, make_binary(k, O_add, one, x));
	Value *angle = make_binary(k, O_add, half, half);
	if (kind == ANGLE_acos) {
		Value *end = compare_with(k, DIR_EQ, x, -1);
		angle = make_select(k, end, number_like(k, x, 3.141592653589793), angle);
	}
	in->results[0] = angle;
	return true;
}

/* Two operands of one type, of such a dtype. */
static bool
takes_pair(Import *in, const MlirOp *op, bool (*is_such)(DType), const char *such)
{
	return (in->noperands == 2 && is_such(in->operands[0]->type.dtype)
		       && type_equal(&in->operands[0]->type, &in->operands[1]->type))
		|| read_wrong(in, op->range, "%s takes 2 operands, of %s", op->name, such);
}

/* Away from zero the bits are one more, towards it one less; at zero the sign changes. */
bool
import_op_next_after(Import *in, const MlirOp *op, int detail)
{
	Make k = in->make;

	(void)detail;
	if (!takes_pair(in, op, dtype_is_float, "floats"))
		return false;
	Value *x = in->operands[0], *y = in->operands[1], *zero = number_like(k, x, 0);
	DType d = x->type.dtype;
	Value *bits = make_bitcast(k, x, integers_of(dtypes[d].bits, DC_signed));
	Value *up = make_compare(k, DIR_LT, x, y), *above = make_compare(k, DIR_GT, x, zero);
	Value *on = make_compare(k, DIR_EQ, up, above), *one = number_like(k, bits, 1);
	Value *step = make_select(k, on, one, number_like(k, bits, -1));
	Value *next = make_bitcast(k, make_binary(k, O_add, bits, step), d);
	Value *tiny = make_bitcast(k, number_like(k, bits, 1), d); /* the least that is not 0 */
	Value *least = make_select(k, up, tiny, make_unary(k, O_neg, tiny));
	next = make_select(k, make_compare(k, DIR_EQ, x, zero), least, next);
	next = make_select(k, make_compare(k, DIR_EQ, x, y), y, next);
	Value *none = make_compare(k, DIR_NE, x, x);
	none = make_binary(k, O_or, none, make_compare(k, DIR_NE, y, y));
	in->results[0] = make_select(k, none, make_binary(k, O_add, x, y), next);
	return true;
}

/* ---- the upper half of a product */

/* Of 64 bits, by halves of each: xh yh, and what is carried into it from x y and the others. */
static Value *
upper_of_words(Make k, Value *x, Value *y)
{
	Value *mask = number_like(k, x, 4294967295.), *xl = make_binary(k, O_and, x, mask);
	Value *yl = make_binary(k, O_and, y, mask);
	Value *xh = with(k, O_shr, x, 32), *yh = with(k, O_shr, y, 32);
	Value *low = with(k, O_shr, make_binary(k, O_mul, xl, yl), 32);
	Value *middle = make_binary(k, O_add, make_binary(k, O_mul, xh, yl), low);
	Value *other = make_binary(k, O_mul, xl, yh);
	other = make_binary(k, O_add, other, make_binary(k, O_and, middle, mask));
	Value *upper = make_binary(k, O_mul, xh, yh);

	upper = make_binary(k, O_add, upper, with(k, O_shr, middle, 32));
	upper = make_binary(k, O_add, upper, with(k, O_shr, other, 32));
	if (dtypes[x->type.dtype].class == DC_unsigned)
		return upper;
	/* less than 0 is 2^64 less than what the bits are */
	Value *zero = number_like(k, x, 0), *less = compare_with(k, DIR_LT, x, 0);
	upper = make_binary(k, O_sub, upper, make_select(k, less, y, zero));
	less = compare_with(k, DIR_LT, y, 0);
	return make_binary(k, O_sub, upper, make_select(k, less, x, zero));
}

bool
import_op_mulhi(Import *in, const MlirOp *op, int detail)
{
	Make k = in->make;

	(void)detail;
	if (!takes_pair(in, op, dtype_is_integer, "integers"))
		return false;
	Value *x = in->operands[0], *y = in->operands[1];
	DType d = x->type.dtype, wide = integers_of(64, dtypes[d].class);
	if (dtypes[d].bits == 64) {
		in->results[0] = upper_of_words(k, x, y);
		return true;
	}
	Value *product = make_convert(k, x, wide);
	product = make_binary(k, O_mul, product, make_convert(k, y, wide));
	product = with(k, dtypes[d].class == DC_unsigned ? O_shr : O_sar, product,
		dtypes[d].bits);
	in->results[0] = make_convert(k, product, d);
	return true;
}

/* ---- bits of another width */

/* x[..] of many bits as [.., n] of few, the lowest first. */
static Value *
bits_apart(Make k, Value *x, int n, DType few)
{
	Value *parts[16]; /* of 64 bits, 4 at a time */
	int64_t dims[MAX_RANK];
	int rank = x->type.rank;

	for (int d = 0; d < rank; d++)
		dims[d] = x->type.dims[d];
	dims[rank] = 1;
	for (int i = 0; i < n; i++) {
		Value *part = with(k, O_shr, x, dtypes[few].bits * i);
		part = make_convert(k, part, few);
		parts[i] = make_reshape(k, part, rank + 1, dims);
	}
	return make_concatenate(k, n, parts, rank);
}

static Value *
bits_together(Make k, Value *x, DType many)
{
	int rank = x->type.rank, width = dtypes[x->type.dtype].bits;
	Value *all = NULL;

	for (int64_t i = 0; i < x->type.dims[rank - 1]; i++) {
		Value *part = make_slice_dim(k, x, rank - 1, i, i + 1, 1);
		part = make_convert(k, make_reshape(k, part, rank - 1, x->type.dims), many);
		part = with(k, O_shl, part, (double)(width * i));
		all = all ? make_binary(k, O_or, all, part) : part;
	}
	return all;
}

bool
import_op_bitcast(Import *in, const MlirOp *op, int detail)
{
	Type type;

	(void)detail;
	if (in->noperands != 1)
		return read_wrong(in, op->range, "%s takes 1 operand", op->name);
	if (!type_result(in, op, 0, &type))
		return false;
	Value *x = in->operands[0];
	int from = dtypes[x->type.dtype].bits, to = dtypes[type.dtype].bits;
	int rank = x->type.rank;
	if (x->type.dtype == D_pred || type.dtype == D_pred || rank + 1 > MAX_RANK
		|| (from < to && (!rank || x->type.dims[rank - 1] * from != to)))
		return read_wrong(in, op->range, "the bits of %s are none of %s",
			type_shape(in->arena, &x->type), type_shape(in->arena, &type));
	if (from != to)
		x = make_bitcast(in->make, x, integers_of(from, DC_unsigned));
	if (from > to)
		x = bits_apart(in->make, x, from / to, integers_of(to, DC_unsigned));
	else if (from < to)
		x = bits_together(in->make, x, integers_of(to, DC_unsigned));
	in->results[0] = make_bitcast(in->make, x, type.dtype);
	return true;
}
