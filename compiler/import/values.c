/*
 * values.c - numbers beside a tensor, and the numbers of its elements.
 *
 *   with(k, O_mul, x, 2)               x * 2
 *   number_elements(k, i32[3,2], ..)   {{0,1},{2,3},{4,5}}
 */
#include "import/builders.h"

Value *
number_like(Make k, const Value *x, double v)
{
	return x ? make_number(k, &x->type, v) : NULL;
}

Value *
word_like(Make k, const Value *x, uint64_t word)
{
	return x ? make_full(k, &x->type, (int64_t)word) : NULL;
}

Value *
with(Make k, OpKind kind, Value *x, double v)
{
	return make_binary(k, kind, x, number_like(k, x, v));
}

Value *
compare_with(Make k, Direction d, Value *x, double v)
{
	return make_compare(k, d, x, number_like(k, x, v));
}

Value *
number_elements(Make k, const Type *type, uint32_t dims, const int64_t *step)
{
	Value *sum = NULL;
	int64_t stride = 1;

	for (int d = type->rank - 1; d >= 0; d--) {
		int64_t by = step ? step[d] : 1;
		if (!(dims >> d & 1))
			continue;
		Value *at = make_iota(k, type, d);
		if (by > 1)
			at = with(k, O_div, at, (double)by);
		if (stride > 1)
			at = with(k, O_mul, at, (double)stride);
		sum = sum ? make_binary(k, O_add, sum, at) : at;
		stride *= (type->dims[d] + by - 1) / by;
	}
	return sum ? sum : make_full(k, type, 0);
}

DType
integers_of(int bits, DTypeClass class)
{
	int d = 0;

	while (dtypes[d].class != class || dtypes[d].bits != bits)
		d++;
	return (DType)d;
}
