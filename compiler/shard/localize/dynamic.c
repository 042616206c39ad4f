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
 * up: it is here, or not.  So it is where the index is known:
 *
 *   y = x[5:7], in parts                      rows 1 and 2 of x on device 1, zero elsewhere
 *   y = x[3:5], in parts                      rows 3 - first row here, 4 - first row here
 *
 * What is not here is -0 of floats, for 0 would take the sign of a -0 that is.
 */
#include "shard/reshard/halo.h"
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
clamped(Localizer *l, Value *v, int64_t most)
{
	DType dtype = v->type.dtype;
	Value *low = make_constant(l->make, dtype, 0);
	Value *high = make_constant(l->make, dtype, most);

	return make_clamp(named(l->make, "clamped"), low, v, high);
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
	Make k = l->make;

	for (int d = 0; d < p->rank; d++)
		starts[d] = placement_dim_ways(p, d) > 1
			? make_constant(k, cuts->index, 0)
			: make_convert(k, op->operands[first + d], cuts->index);
	for (int i = 0; i < cuts->n; i++) {
		Cut *c = &cuts->cut[i];
		int64_t all = c->rows * axes_size(&c->axes);
		Value *start = make_convert(k, op->operands[first + c->dim], cuts->index);
		start = clamped(l, start, all - c->n);
		Value *here = make_convert(k, device_offset(l, &c->axes, c->rows), cuts->index);
		c->start = make_binary(named(k, "start"), O_sub, start, here);
	}
}

/* start, start + stride, ... */
static Value *
count_from(Localizer *l, Value *start, int64_t n, int64_t stride)
{
	Type type = type_of(start->type.dtype, 1, &n);
	Value *v = make_iota(l->make, &type, 0);

	if (stride > 1)
		v = make_binary(l->make, O_mul, v, make_full(l->make, &type, stride));
	return make_binary(named(l->make, "row"), O_add, v, make_splat(l->make, start, &type));
}

/* `mask`, of a scalar or along one dim, for all elements of the shape. */
static Value *
also(Localizer *l, Value *all, Value *mask, int dim, const Type *shape)
{
	mask = mask->type.rank ? make_spread(l->make, mask, dim, shape)
			       : make_splat(l->make, mask, shape);
	return all ? make_binary(named(l->make, "here"), O_and, all, mask) : mask;
}

/* ---- reading ---------------------------------------------------------------- */

/* The elements that are here, and what changes none of them in a sum elsewhere. */
static Value *
masked(Localizer *l, Value *here, Value *x)
{
	DType dtype = x->type.dtype;
	Make k = l->make;
	Value *none = make_neutral(k, dtype == D_pred ? C_or : C_add, dtype);

	return make_select(named(k, "masked"), here, x, make_splat(k, none, &x->type));
}

bool
is_in_parts(const Op *slice, int dim)
{
	return ints_contain(op_ints(slice, A_parts), dim)
		&& placement_dim_ways(&slice->operands[0]->placement, dim) > 1;
}

/* What the slice takes along a dim, n elements, of what is here; whether it is here goes
   to `mask`, of a scalar or along the dim. */
static Value *
take_part(Localizer *l, const Op *op, Value *x, int dim, Value **mask)
{
	AxisList axes = placement_dim(&op->operands[0]->placement, dim);
	int64_t rows = x->type.dims[dim], n = op->results[0]->type.dims[dim];
	int64_t start = op_ints(op, A_start)->v[dim], stride = op_ints(op, A_stride)->v[dim];
	int64_t last = start + (n - 1) * stride;
	Make k = l->make;

	if (start / rows == last / rows) { /* one device has all of them */
		*mask = is_device(l, &axes, start / rows);
		return make_slice_dim(named(k, "part"), x, dim, start % rows, last % rows + 1,
			stride);
	}
	Value *here = device_offset(l, &axes, rows);
	Value *first = make_binary(named(k, "start"), O_sub, number(l, start), here);
	Value *at = count_from(l, first, n, stride);
	*mask = is_within(l, at, rows);
	return make_take(named(k, "rows"), x, at, dim);
}

Value *
take_parts(Localizer *l, const Op *op, Value *x)
{
	const Ints *dims = op_ints(op, A_parts);
	Value *masks[MAX_RANK] = {NULL}, *here = NULL;

	for (int i = 0; i < dims->n; i++)
		if (is_in_parts(op, (int)dims->v[i]))
			x = take_part(l, op, x, (int)dims->v[i], &masks[i]);
	for (int i = 0; i < dims->n; i++)
		if (masks[i])
			here = also(l, here, masks[i], (int)dims->v[i], &x->type);
	return here ? masked(l, here, x) : x;
}

void
localize_dynamic_slice(Localizer *l, Op *op)
{
	Value *v = op->results[0], *x = op->operands[0], *here = NULL, *starts[MAX_RANK];
	Type part = placement_local(&v->type, &v->placement), size = part;
	Cuts cuts = find_cuts(op, 1, &part, &v->placement);
	Make k = l->make;

	v->type = part;
	op_set_ints(op, A_sizes, part.rank, part.dims);
	find_starts(l, op, 1, &cuts, starts);
	for (int i = 0; i < cuts.n; i++) {
		const Cut *c = &cuts.cut[i];
		if (c->n > 1)
			size.dims[c->dim] = c->rows;
		else
			starts[c->dim] = c->start;
	}
	if (!cuts.n) {
		for (int d = 0; d < part.rank; d++)
			op->operands[1 + d] = starts[d];
		return;
	}
	x = make_dynamic_slice(named(k, "part"), x, starts, size.dims);
	for (int i = 0; i < cuts.n; i++) {
		const Cut *c = &cuts.cut[i];
		Value *at = c->start;
		if (c->n > 1) {
			at = count_from(l, at, c->n, 1);
			x = make_take(named(k, "rows"), x, at, c->dim);
		}
		here = also(l, here, is_within(l, at, c->rows), c->dim, &part);
	}
	stand_for(l, op, masked(l, here, x));
}

/* ---- writing ---------------------------------------------------------------- */

void
localize_dynamic_update_slice(Localizer *l, Op *op)
{
	Value *v = op->results[0], *update = op->operands[1], *here = NULL;
	Value *starts[MAX_RANK], *masks[MAX_RANK];
	Cuts cuts = find_cuts(op, 2, &update->type, &update->placement);
	Make k = l->make;

	v->type = placement_local(&v->type, &v->placement);
	find_starts(l, op, 2, &cuts, starts);
	/* Row i of the window here is row w + i - t of the update, if there is one. */
	for (int i = 0; i < cuts.n; i++) {
		const Cut *c = &cuts.cut[i];
		Value *window = clamped(l, c->start, greater(0, c->rows - c->n));
		starts[c->dim] = window;
		if (c->n == 1) {
			masks[i] = make_compare(k, DIR_EQ, window, c->start);
			continue;
		}
		Value *skipped = make_binary(named(k, "skipped"), O_sub, window, c->start);
		Value *row = count_from(l, skipped, lesser(c->n, c->rows), 1);
		update = make_take(named(k, "rows"), update, row, c->dim);
		masks[i] = is_within(l, row, c->n);
	}
	for (int i = 0; i < cuts.n; i++)
		here = also(l, here, masks[i], cuts.cut[i].dim, &update->type);
	if (cuts.n) {
		Value *before = make_dynamic_slice(named(k, "part"), op->operands[0], starts,
			update->type.dims);
		op->operands[1] = make_select(named(k, "update"), here, update, before);
	}
	for (int d = 0; d < v->type.rank; d++)
		op->operands[2 + d] = starts[d];
}
