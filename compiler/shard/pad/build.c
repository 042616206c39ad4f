/*
 * build.c - masks, trims and what they are made of.
 *
 *   mask    select(iota < n, x, fill)
 *   trim    slice(x, 0:n)
 *   extend  pad(x, 0, high)
 *
 * New values get ids behind those of the program, so that what is known of
 * their padding has a place.
 */
#include <string.h>
#include "shard/pad/pad.h"

bool
pad_is_padded(const Value *v, int dim)
{
	return v->unpadded && v->unpadded[dim] != v->type.dims[dim];
}

int64_t
pad_true_size(const Value *v, int dim)
{
	return v->unpadded ? v->unpadded[dim] : v->type.dims[dim];
}

void
pad_set_unpadded(Padder *p, Value *v, const int64_t *sizes)
{
	bool padded = false;

	for (int d = 0; d < v->type.rank; d++)
		padded |= sizes[d] != v->type.dims[d];
	v->unpadded = padded
		? arena_copy(p->arena, sizes, (size_t)v->type.rank * sizeof sizes[0])
		: NULL;
}

/* ---- values and what is known of them --------------------------------------- */

/* Room for a power of two of them, as arena_grow() expects. */
PadValue **
pad_values_new(Arena *a, int n)
{
	int capacity = 16;

	while (capacity < n)
		capacity *= 2;
	PadValue **values = NEW_ARRAY(a, PadValue *, capacity);
	PadValue *all = NEW_ARRAY(a, PadValue, n + 1);
	for (int i = 0; i < n; i++)
		values[i] = &all[i];
	return values;
}

static void
made(void *owner, Op *op)
{
	Padder *p = owner;

	op->results[0]->id = p->nvalues;
	APPEND(p->arena, p->values, p->nvalues, NEW(p->arena, PadValue));
	pad_know_results(p, op);
}

void
pad_make_before(Padder *p, Op *before, Op *reason)
{
	p->make = make_before(reason);
	p->make.before = before;
	p->make.made = made;
	p->make.owner = p;
}

/* ---- what stands before an op ------------------------------------------------- */

/* Where the index along a dim is less than n. */
static Value *
below(Padder *p, const Value *v, int dim, int64_t n)
{
	Type type = v->type;

	type.dtype = v->type.dims[dim] > INT32_MAX ? D_i64 : D_i32;
	Value *position = make_iota(named(p->make, "position"), &type, dim);
	Value *end = make_constant(p->make, type.dtype, n);
	return make_compare(named(p->make, "inside"), DIR_LT, position,
		make_splat(p->make, end, &type));
}

Value *
pad_mask(Padder *p, Value *v, int dim, Value *fill)
{
	Value *inside = below(p, v, dim, pad_true_size(v, dim));
	Value *masked = make_select(named(p->make, "masked"), inside, v,
		make_splat(p->make, fill, &v->type));

	masked->unpadded = v->unpadded;
	pad_value(p, masked)->padding[dim] = pad_value(p, fill)->all;
	return masked;
}

Value *
pad_before(Padder *p, int dim, int64_t n, Value *first, Value *rest)
{
	if (!n)
		return rest;
	return make_select(named(p->make, "joined"), below(p, rest, dim, n), first, rest);
}

/* Bounds that the dtype does not reach need not be enforced. */
Value *
pad_at_most(Padder *p, Value *v, int n, const int64_t *limits)
{
	bool reached = false;

	for (int i = 0; i < n; i++)
		reached |= combiner_identity(C_min, v->type.dtype) > limits[i];
	if (!reached)
		return v;
	Value *bounds = make_each(p->make, &v->type, n, limits);
	Value *most = make_binary(named(p->make, "index"), O_minimum, v, bounds);
	most->unpadded = v->unpadded;
	return most;
}

Value *
pad_below(Padder *p, Value *v, int64_t end)
{
	Value *limit = make_full(p->make, &v->type, end);
	Value *none = make_full(p->make, &v->type, -1);
	Value *here = make_compare(named(p->make, "here"), DIR_LT, v, limit);
	Value *rows = make_select(named(p->make, "index"), here, v, none);

	here->unpadded = rows->unpadded = v->unpadded;
	return rows;
}

Value *
pad_trim(Padder *p, Value *v, uint16_t dims)
{
	int64_t start[MAX_RANK] = {0}, limit[MAX_RANK], stride[MAX_RANK], sizes[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++) {
		sizes[d] = pad_true_size(v, d);
		limit[d] = dims >> d & 1 ? sizes[d] : v->type.dims[d];
		stride[d] = 1;
	}
	v = make_slice(named(p->make, "trimmed"), v, start, limit, stride);
	pad_set_unpadded(p, v, sizes);
	return v;
}

Value *
pad_extend(Padder *p, Value *v, const int64_t *sizes)
{
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK], before[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++) {
		before[d] = pad_true_size(v, d);
		high[d] = sizes[d] - v->type.dims[d];
	}
	v = make_pad(named(p->make, "padded"), v, NULL, low, high);
	for (int d = 0; d < v->type.rank; d++)
		if (high[d])
			pad_value(p, v)->padding[d] = CONTENT_zero;
	pad_set_unpadded(p, v, before);
	return v;
}
