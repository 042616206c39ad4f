/*
 * dynamic.c - reading and writing at an index that only the run
 * knows, along a dim that is split.
 *
 *   x: f32[16@X], y = x[i:i+3], X=4      y unreduced(X)
 *     t = clamp(0, i, 13) - first row here      of y, among the 4 rows here
 *     y = rows t, t + 1, t + 2 of x, zero for those that are not here
 *
 *   x[i:i+3] = u
 *     t = ...                                   of u, among the rows here
 *     w = clamp(0, t, 1)                        3 rows here to write to
 *     rows w, w + 1, w + 2 = rows of u, or what they were
 *
 * So a device writes what falls among its rows, and a sum over X of what the
 * devices read gives the slice.  Of a slice of one row there is nothing to look
 * up: it is here, or not.
 */
#include "shard/localize/localize.h"

/* One dim of the tensor. */
typedef struct Cut {
	int dim;
	AxisList axes;
	int64_t rows; /* here */
	int64_t n;    /* of the slice */
	Value *start; /* of the slice, among the rows here */
} Cut;

/* The dims that are split where the slice has a part of them. */
typedef struct Cuts {
	Cut cut[MAX_RANK];
	int n;
	DType index; /* of starts */
} Cuts;

static Value *
number(Localizer *l, const Cuts *cuts, int64_t n)
{
	return local_constant(l, cuts->index, n);
}

static Value *
clamped(Localizer *l, const Cuts *cuts, Value *v, int64_t most)
{
	return local_inferred(l, O_clamp, 3,
		(Value *[]){number(l, cuts, 0), v, number(l, cuts, most)}, "clamped");
}

/* Operands from `first` on are starts; `part` is the slice as it is here. */
static Cuts
find_cuts(const Op *op, int first, const Type *part, const Placement *split)
{
	const Value *x = op->operands[0];
	DType given = x->type.rank ? op->operands[first]->type.dtype : D_i32;
	Cuts cuts = {.index = D_i32};

	for (int d = 0; d < x->type.rank; d++) {
		Cut c = {d, placement_dim(&x->placement, d), x->type.dims[d], part->dims[d],
			NULL};
		int64_t all = c.rows * axes_size(&c.axes);
		if (all > INT32_MAX || given == D_i64 || given == D_u32)
			cuts.index = D_i64;
		if (axes_size(&c.axes) > 1 && c.n * placement_dim_ways(split, d) < all)
			cuts.cut[cuts.n++] = c;
	}
	return cuts;
}

/* Starts in one dtype; a split dim that the slice has all of begins at 0. */
static void
find_starts(Localizer *l, const Op *op, int first, Cuts *cuts, Value **starts)
{
	const Placement *p = &op->operands[0]->placement;

	for (int d = 0; d < p->rank; d++)
		starts[d] = placement_dim_ways(p, d) > 1
			? number(l, cuts, 0)
			: local_convert(l, op->operands[first + d], cuts->index);
	for (int i = 0; i < cuts->n; i++) {
		Cut *c = &cuts->cut[i];
		int64_t all = c->rows * axes_size(&c->axes);
		Value *start = local_convert(l, op->operands[first + c->dim], cuts->index);
		start = clamped(l, cuts, start, all - c->n);
		c->start = local_binary(l, O_sub, start,
			local_convert(l, device_offset(l, &c->axes, c->rows), cuts->index),
			"start");
	}
}

/* Is 0 <= v < n?  Of a scalar, or of each element. */
static Value *
is_within(Localizer *l, const Cuts *cuts, Value *v, int64_t n)
{
	Value *low = number(l, cuts, 0), *end = number(l, cuts, n);

	if (v->type.rank) {
		low = local_splat(l, low, &v->type);
		end = local_splat(l, end, &v->type);
	}
	return local_binary(l, O_and, local_compare(l, DIR_GE, v, low),
		local_compare(l, DIR_LT, v, end), "here");
}

/* start, start + 1, ... */
static Value *
count_from(Localizer *l, const Cuts *cuts, Value *start, int64_t n)
{
	Type type = type_of(cuts->index, 1, &n);
	Value *v = local_typed(l, O_iota, 0, NULL, "iota", type);

	op_set_int(v->def, A_iota_dim, 0);
	return local_binary(l, O_add, v, local_splat(l, start, &type), "row");
}

static Value *
take_rows(Localizer *l, Value *x, Value *rows, int dim)
{
	Type type = x->type;

	type.dims[dim] = rows->type.dims[0];
	x = local_typed(l, O_take, 2, (Value *[]){x, rows}, "rows", type);
	op_set_int(x->def, A_dim, dim);
	return x;
}

/* `mask`, of a scalar or along one dim, for all elements of the shape. */
static Value *
also(Localizer *l, Value *all, Value *mask, int dim, const Type *shape)
{
	mask = mask->type.rank ? local_spread(l, mask, dim, shape)
			       : local_splat(l, mask, shape);
	return all ? local_binary(l, O_and, all, mask, "here") : mask;
}

static Value *
slice_at(Localizer *l, Value *x, Value **starts, const Type *size)
{
	Value *operands[MAX_RANK + 1] = {x};

	for (int d = 0; d < size->rank; d++)
		operands[d + 1] = starts[d];
	Op *op = local_op(l, O_dynamic_slice, size->rank + 1, operands, "part");
	op_set_ints(op, A_sizes, size->rank, size->dims);
	op_infer(op);
	return op->results[0];
}

/* ---- reading ---------------------------------------------------------------- */

static Value *
read_part(Localizer *l, Value *x, const Cuts *cuts, Value **starts, Type part)
{
	Type size = part;
	Value *here = NULL;

	for (int i = 0; i < cuts->n; i++) {
		const Cut *c = &cuts->cut[i];
		if (c->n > 1)
			size.dims[c->dim] = c->rows;
		else
			starts[c->dim] = c->start;
	}
	x = slice_at(l, x, starts, &size);
	for (int i = 0; i < cuts->n; i++) {
		const Cut *c = &cuts->cut[i];
		Value *at = c->start;
		if (c->n > 1) {
			at = count_from(l, cuts, at, c->n);
			x = take_rows(l, x, at, c->dim);
		}
		here = also(l, here, is_within(l, cuts, at, c->rows), c->dim, &part);
	}
	Value *none = local_constant(l, part.dtype,
		combiner_identity(part.dtype == D_pred ? C_or : C_add, part.dtype));
	return local_inferred(l, O_select, 3, (Value *[]){here, x, local_splat(l, none, &part)},
		"masked");
}

void
localize_dynamic_slice(Localizer *l, Op *op)
{
	Value *v = op->results[0], *starts[MAX_RANK];
	Type part = placement_local(&v->type, &v->placement);
	Cuts cuts = find_cuts(op, 1, &part, &v->placement);

	v->type = part;
	op_set_ints(op, A_sizes, part.rank, part.dims);
	find_starts(l, op, 1, &cuts, starts);
	if (cuts.n) {
		Value *read = read_part(l, op->operands[0], &cuts, starts, part);
		read->placement = v->placement;
		read->no_placement = false;
		take_over(l, op, read);
		return;
	}
	for (int d = 0; d < part.rank; d++)
		op->operands[1 + d] = starts[d];
}

/* ---- writing ---------------------------------------------------------------- */

/* Row k of the window here is row w + k - t of the update, if there is one. */
static Value *
aim(Localizer *l, const Cuts *cuts, const Cut *c, Value *window, Value **update)
{
	Value *skipped = local_binary(l, O_sub, window, c->start, "skipped");

	if (c->n == 1)
		return local_compare(l, DIR_EQ, window, c->start);
	int64_t n = c->n < c->rows ? c->n : c->rows;
	Value *row = count_from(l, cuts, skipped, n);
	*update = take_rows(l, *update, row, c->dim);
	return is_within(l, cuts, row, c->n);
}

static Value *
write_part(Localizer *l, Value *x, const Cuts *cuts, Value **starts, Value *update)
{
	Value *masks[MAX_RANK], *here = NULL;

	for (int i = 0; i < cuts->n; i++) {
		const Cut *c = &cuts->cut[i];
		int64_t room = c->rows > c->n ? c->rows - c->n : 0;
		starts[c->dim] = clamped(l, cuts, c->start, room);
		masks[i] = aim(l, cuts, c, starts[c->dim], &update);
	}
	for (int i = 0; i < cuts->n; i++)
		here = also(l, here, masks[i], cuts->cut[i].dim, &update->type);
	return local_inferred(l, O_select, 3,
		(Value *[]){here, update, slice_at(l, x, starts, &update->type)}, "update");
}

void
localize_dynamic_update_slice(Localizer *l, Op *op)
{
	Value *v = op->results[0], *starts[MAX_RANK];
	const Value *update = op->operands[1];
	Cuts cuts = find_cuts(op, 2, &update->type, &update->placement);

	v->type = placement_local(&v->type, &v->placement);
	find_starts(l, op, 2, &cuts, starts);
	if (cuts.n)
		op->operands[1] =
			write_part(l, op->operands[0], &cuts, starts, op->operands[1]);
	for (int d = 0; d < v->type.rank; d++)
		op->operands[2 + d] = starts[d];
}
