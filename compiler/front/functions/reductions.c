/*
 * reductions.c - built-in functions that combine along dims.
 */
#include <string.h>

#include "builtins.h"

/* The shape of x with (keep) or without the dims. */
static Value *
shape_reduced(Call *c, Value *v, const Type *type, const Argument *dims, bool keep)
{
	int64_t sizes[MAX_RANK];
	int rank = 0, next = 0;
	for (int d = 0; d < type->rank; d++) {
		bool reduced = next < dims->dims.n && dims->dims.v[next] == d;
		next += reduced;
		if (!reduced)
			sizes[rank++] = type->dims[d];
		else if (keep)
			sizes[rank++] = 1;
	}
	return make_reshape(c->make, v, rank, sizes);
}

/* f(x, dim, keep) */
static Value *
reduce_along(Call *c, Combiner combiner, Value *x, const Argument *a)
{
	Value *v = make_reduce(c->make, combiner, x, a[1].dims.n, a[1].dims.v);
	return v == NULL ? NULL : shape_reduced(c, v, &x->type, &a[1], a[2].integer);
}

/* Of pred, sums count, max is `or` and min is `and`. */
Value *
build_reduce(Call *c, const Argument *a)
{
	Combiner combiner = (Combiner)c->builtin->detail;
	Value *x = a[0].tensor;
	bool counts = combiner == C_add || combiner == C_mul;
	if (x->type.dtype == D_pred && counts)
		x = make_convert(c->make, x, D_i32);
	else if (x->type.dtype == D_pred && combiner == C_max)
		combiner = C_or;
	else if (x->type.dtype == D_pred && combiner == C_min)
		combiner = C_and;
	return x == NULL ? NULL : reduce_along(c, combiner, x, a);
}

/* The quotient of narrow floats is taken in f32 when the number of elements would be
   rounded, or is out of their range. */
Value *
divide_by_count(Call *c, Value *total, int64_t n)
{
	if (total == NULL || n == 1)
		return total;
	DType dtype = total->type.dtype;
	Item count = item_int(c->site.range, n);
	bool exact = !dtype_is_narrow(dtype)
		|| ((double)n <= float_formats[dtype].greatest
			&& n <= (int64_t)1 << float_formats[dtype].digits);
	DType wide = exact ? dtype : D_f32;
	total = make_convert(c->make, total, wide);
	if (total == NULL)
		return NULL;
	Value *divisor = item_constant(c->elab, c->site, wide, &count);
	divisor = make_broadcast_to(c->make, divisor, &total->type);
	return make_convert(c->make, make_binary(c->make, O_div, total, divisor), dtype);
}

Value *
build_mean(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	int64_t n = 1;
	for (int i = 0; i < a[1].dims.n; i++)
		n *= x->type.dims[a[1].dims.v[i]];
	return divide_by_count(c, reduce_along(c, C_add, x, a), n);
}

Value *
build_cumsum(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	if (x->type.dtype == D_pred)
		x = make_convert(c->make, x, D_i32);
	return make_cumsum(c->make, C_add, x, a[1].dim);
}

/* ---- for the prelude */

Value *
build_restored(Call *c, const Argument *a)
{
	Type type = a[1].tensor->type;
	for (int i = 0; i < a[2].dims.n; i++)
		type.dims[a[2].dims.v[i]] = 1;
	return make_reshape(c->make, a[0].tensor, type.rank, type.dims);
}

Value *
build_dropped(Call *c, const Argument *a)
{
	return shape_reduced(c, a[0].tensor, &a[0].tensor->type, &a[1], a[2].integer);
}

Value *
build_positions(Call *c, const Argument *a)
{
	Type type = a[0].tensor->type;
	type.dtype = D_i32;
	return make_iota(c->make, &type, a[1].dim);
}
