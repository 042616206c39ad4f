/*
 * lookup.c - rows at indices that the run knows: of a table that is split, of groups.
 *
 *   x: f32[8@X, 4@Y, 16], y = take(x, i), i: i32[3, 2]      y unreduced(X, Y)
 *     row = clamp(0, i, (7, 3)) - first row here, of X, of Y
 *     y = x[row], -0 for those that are not here
 *
 * One device's program looks up one dim: those that are beside each other are made one.  What
 * counts a dim of the indices is split as that is, and each device counts its own.
 */
#include <string.h>

#include "shard/localize/localize.h"

/* Counted from the first of the rows here, of which each device along the axes has so
   many, in a dtype that holds all there are; clamped to those. */
static Value *
local_index(Localizer *l, Value *index, const AxisList *axes, int64_t rows, bool clamp)
{
	int64_t all = rows * axes_size(axes);
	DType given = index->type.dtype;
	DType dtype = given == D_i64 || given == D_u32 || all > INT32_MAX ? D_i64 : D_i32;
	Make k = l->make;

	index = make_convert(k, index, dtype);
	if (clamp) {
		Value *low = make_full(k, &index->type, 0);
		Value *high = make_full(k, &index->type, all - 1);
		index = make_clamp(named(k, "clamped"), low, index, high);
	}
	if (axes_size(axes) == 1)
		return index;
	Value *start = make_convert(k, device_offset(l, axes, rows), dtype);
	return make_binary(named(k, "row"), O_sub, index, make_splat(k, start, &index->type));
}

/* ---- of several dims */

/* What is looked up as one dim. */
static Value *
flat_rows(Make k, const Lookup *look, Value *x)
{
	int64_t dims[MAX_RANK];
	int rank = look->first + 1;

	memcpy(dims, x->type.dims, sizeof dims);
	for (int i = 1; i < look->n; i++)
		dims[look->first] *= x->type.dims[look->first + i];
	for (int d = look->first + look->n; d < x->type.rank; d++)
		dims[rank++] = x->type.dims[d];
	return make_reshape(named(k, "flat"), x, rank, dims);
}

/* Index i of each vector. */
static Value *
index_of(Make k, const Lookup *look, Value *index, int i)
{
	int64_t dims[MAX_RANK];

	if (look->n == 1)
		return index;
	memcpy(dims, index->type.dims, sizeof dims);
	return make_reshape(k, make_slice_dim(k, index, look->rank, i, i + 1, 1), look->rank,
		dims);
}

/* Of the rows of x, flat, here. */
static DType
row_dtype(const Lookup *look, const Value *x)
{
	int64_t rows = 1;

	for (int i = 0; i < look->n; i++)
		if (!mul_i64(rows, x->type.dims[look->first + i], &rows) || rows > INT32_MAX)
			return D_i64;
	return D_i32;
}

/* Index i of each vector, of the rows here.  Is it there?  `here` says so of those before,
   NULL: all are. */
static Value *
index_here(Localizer *l, const Op *op, int i, bool clamp, Value **here)
{
	Lookup look = op_lookup(op);
	const Value *x = op->operands[0];
	AxisList axes = placement_dim(&x->placement, look.first + i);
	int64_t rows = x->type.dims[look.first + i];
	Value *at = index_of(l->make, &look, op->operands[1], i);

	if (look.counts[i] >= 0) {
		Type type = type_of(D_i32, at->type.rank, at->type.dims);
		return make_iota(named(l->make, "counted"), &type, look.counts[i]);
	}
	at = local_index(l, at, &axes, rows, clamp);
	if (axes_size(&axes) > 1 || !clamp) {
		Value *inside = is_within(l, at, rows);
		*here = *here ? make_binary(named(l->make, "here"), O_and, *here, inside)
			      : inside;
	}
	return at;
}

/* The row of x, flat, that is here; `here` says of which it is, NULL: of all.  Without `clamp`
   none is of an index outside. */
static Value *
rows_here(Localizer *l, const Op *op, bool clamp, Value **here)
{
	Lookup look = op_lookup(op);
	const Value *x = op->operands[0];
	Value *rows = index_here(l, op, 0, clamp, here);
	DType wide = rows->type.dtype == D_i64 ? D_i64 : row_dtype(&look, x);
	Make k = l->make;

	for (int i = 1; i < look.n; i++) {
		Value *at = make_convert(k, index_here(l, op, i, clamp, here), wide);
		rows = make_convert(k, rows, wide);
		Value *step = make_full(k, &rows->type, x->type.dims[look.first + i]);
		rows = make_binary(named(k, "scaled"), O_mul, rows, step);
		rows = make_binary(named(k, "row"), O_add, rows, at);
	}
	return rows;
}

/* ---- the ops */

/* Rows of a split table: look up what is here, what changes no sum elsewhere. */
void
localize_take(Localizer *l, Op *op)
{
	Value *x = op->operands[0], *v = op->results[0], *here = NULL;
	Lookup look = op_lookup(op);
	Make k = l->make;

	v->type = placement_local(&v->type, &v->placement);
	if (look.n == 1 && placement_dim_ways(&x->placement, look.first) == 1)
		return;
	Value *rows = rows_here(l, op, true, &here);
	if (look.n > 1)
		x = flat_rows(k, &look, x);
	Value *found = make_take(named(k, "found"), x, rows, look.first);
	if (here) {
		here = make_spread(k, here, look.first, &v->type);
		Value *none = make_neutral(k, (Combiner)v->placement.combiner, v->type.dtype);
		none = make_splat(k, none, &v->type);
		found = make_select(named(k, "masked"), here, found, none);
	}
	stand_for(l, op, found);
}

/* Rows of a split result: what is not among those here is dropped, as what is
   outside the whole is. */
void
localize_scatter_add(Localizer *l, Op *op)
{
	Value *x = op->operands[0], *v = op->results[0], *here = NULL;
	Lookup look = op_lookup(op);
	AxisList axes = placement_dim(&x->placement, look.first);
	Make k = l->make;

	v->type = placement_local(&v->type, &v->placement);
	if (look.n == 1) {
		if (axes_size(&axes) > 1)
			op->operands[1] = local_index(l, op->operands[1], &axes,
				x->type.dims[look.first], false);
		return;
	}
	Value *rows = rows_here(l, op, false, &here);
	rows = make_select(named(k, "row"), here, rows, make_full(k, &rows->type, -1));
	Value *sum = make_scatter_add(named(k, "added"), flat_rows(k, &look, x), rows,
		op->operands[2], look.first, 1);
	stand_for(l, op, make_reshape(named(k, v->name), sum, v->type.rank, v->type.dims));
}

/* Of groups that are not here rows are none. */
void
localize_grouped(Localizer *l, Op *op)
{
	Value *v = op->results[0];
	bool outer = op->kind == O_grouped_outer;
	int dim = op->operands[2]->type.rank - 1;
	const Value *of = outer ? v : op->operands[1];
	AxisList axes = placement_dim(&of->placement, dim);

	v->type = placement_local(&v->type, &v->placement);
	int64_t groups = of->type.dims[dim];
	if (outer)
		op_set_int(op, A_groups, groups);
	if (axes_size(&axes) > 1)
		op->operands[2] = local_index(l, op->operands[2], &axes, groups, false);
}
