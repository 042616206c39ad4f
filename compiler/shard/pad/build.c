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

static Op *
emit(Padder *p, OpKind kind, int n, Value *const *operands, const char *name)
{
	Op *op = op_new(p->module, kind, n, operands, 1, name, p->reason->range,
		p->reason->label);

	op->mode = p->reason->mode;
	op_insert_before(p->at, op);
	op->results[0]->id = p->nvalues;
	APPEND(p->arena, p->values, p->nvalues, NEW(p->arena, PadValue));
	return op;
}

static Value *
finish(Padder *p, Op *op)
{
	op_infer(op);
	pad_know_results(p, op);
	return op->results[0];
}

static Value *
finish_typed(Padder *p, Op *op, Type type)
{
	op->results[0]->type = type;
	op->results[0]->placement = placement_open(type.rank);
	pad_know_results(p, op);
	return op->results[0];
}

Value *
pad_constant(Padder *p, DType dtype, int64_t payload)
{
	Op *op = emit(p, O_constant, 0, NULL, "constant");

	op_set_int(op, A_value, payload);
	return finish_typed(p, op, type_of(dtype, 0, NULL));
}

/* A scalar in the shape of v. */
static Value *
splat(Padder *p, Value *scalar, const Value *v)
{
	Type type = v->type;

	if (!type.rank)
		return scalar;
	Op *op = emit(p, O_broadcast, 1, &scalar, "splat");
	op_set_ints(op, A_dims, 0, NULL);
	type.dtype = scalar->type.dtype;
	return finish_typed(p, op, type);
}

/* ---- what stands before an op ------------------------------------------------- */

/* Where the index along a dim is less than n. */
static Value *
below(Padder *p, const Value *v, int dim, int64_t n)
{
	DType dtype = v->type.dims[dim] > INT32_MAX ? D_i64 : D_i32;
	Op *iota = emit(p, O_iota, 0, NULL, "position");
	Type type = v->type;

	type.dtype = dtype;
	op_set_int(iota, A_iota_dim, dim);
	finish_typed(p, iota, type);
	Value *end = pad_constant(p, dtype, n);
	Op *inside = emit(p, O_compare, 2, (Value *[]){iota->results[0], splat(p, end, v)},
		"inside");
	op_set_int(inside, A_direction, DIR_LT);
	return finish(p, inside);
}

Value *
pad_mask(Padder *p, Value *v, int dim, Value *fill)
{
	Value *inside = below(p, v, dim, pad_true_size(v, dim));
	Op *op = emit(p, O_select, 3, (Value *[]){inside, v, splat(p, fill, v)}, "masked");

	finish(p, op);
	op->results[0]->unpadded = v->unpadded;
	pad_value(p, op->results[0])->padding[dim] = pad_value(p, fill)->all;
	return op->results[0];
}

Value *
pad_before(Padder *p, int dim, int64_t n, Value *first, Value *rest)
{
	if (!n)
		return rest;
	return finish(p,
		emit(p, O_select, 3, (Value *[]){below(p, rest, dim, n), first, rest},
			"joined"));
}

/* Bounds that the dtype does not reach need not be enforced. */
Value *
pad_at_most(Padder *p, Value *v, int64_t limit)
{
	if (combiner_identity(C_min, v->type.dtype) <= limit)
		return v;
	Value *bound = pad_constant(p, v->type.dtype, limit);
	Value *most =
		finish(p, emit(p, O_minimum, 2, (Value *[]){v, splat(p, bound, v)}, "index"));
	most->unpadded = v->unpadded;
	return most;
}

Value *
pad_trim(Padder *p, Value *v, uint16_t dims)
{
	int64_t start[MAX_RANK] = {0}, limit[MAX_RANK], stride[MAX_RANK];
	int64_t sizes[MAX_RANK];
	int rank = v->type.rank;

	for (int d = 0; d < rank; d++) {
		sizes[d] = pad_true_size(v, d);
		limit[d] = dims >> d & 1 ? sizes[d] : v->type.dims[d];
		stride[d] = 1;
	}
	Op *op = emit(p, O_slice, 1, &v, "trimmed");
	op_set_ints(op, A_start, rank, start);
	op_set_ints(op, A_limit, rank, limit);
	op_set_ints(op, A_stride, rank, stride);
	finish(p, op);
	pad_set_unpadded(p, op->results[0], sizes);
	return op->results[0];
}

/* ---- elements elsewhere ------------------------------------------------------- */

Value *
pad_roll(Padder *p, Value *v, int dim, int64_t shift)
{
	if (!shift)
		return v;
	Op *op = emit(p, O_roll, 1, &v, "rolled");
	op_set_int(op, A_along, dim);
	op_set_int(op, A_shift, shift);
	return finish(p, op);
}

Value *
pad_reverse(Padder *p, Value *v, const Ints *dims)
{
	Op *op = emit(p, O_reverse, 1, &v, "flipped");

	op_set_ints(op, A_dims, dims->n, dims->v);
	return finish(p, op);
}

Value *
pad_around(Padder *p, Value *v, int dim, int64_t low, int64_t high)
{
	int64_t before[MAX_RANK] = {0}, after[MAX_RANK] = {0};

	if (!low && !high)
		return v;
	Value *zero = pad_constant(p, v->type.dtype, 0);
	Op *op = emit(p, O_pad, 2, (Value *[]){v, zero}, "placed");
	before[dim] = low;
	after[dim] = high;
	op_set_ints(op, A_low, v->type.rank, before);
	op_set_ints(op, A_high, v->type.rank, after);
	return finish(p, op);
}

Value *
pad_extend(Padder *p, Value *v, const int64_t *sizes)
{
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK], before[MAX_RANK];
	Value *zero = pad_constant(p, v->type.dtype, 0);
	int rank = v->type.rank;

	for (int d = 0; d < rank; d++) {
		before[d] = pad_true_size(v, d);
		high[d] = sizes[d] - v->type.dims[d];
	}
	Op *op = emit(p, O_pad, 2, (Value *[]){v, zero}, "padded");
	op_set_ints(op, A_low, rank, low);
	op_set_ints(op, A_high, rank, high);
	finish(p, op);
	for (int d = 0; d < rank; d++)
		if (high[d])
			pad_value(p, op->results[0])->padding[d] = ZERO;
	pad_set_unpadded(p, op->results[0], before);
	return op->results[0];
}
