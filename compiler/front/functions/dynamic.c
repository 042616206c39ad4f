/*
 * dynamic.c - built-in functions whose indices are known only when the program
 * runs: slices at run-time starts, scattered sums, orders.
 */
#include <inttypes.h>
#include <string.h>

#include "builtins.h"

/* ---- slices */

Value *
build_dynamic_slice(Call *c, const Argument *a)
{
	return make_dynamic_slice(c->make, a[0].tensor, a[1].starts, a[2].dims.v);
}

Value *
build_dynamic_update_slice(Call *c, const Argument *a)
{
	const Type *x = &a[0].tensor->type, *update = &a[1].tensor->type;
	bool fits = update->dtype == x->dtype && update->rank == x->rank;
	for (int d = 0; fits && d < x->rank; d++)
		fits = update->dims[d] <= x->dims[d];
	if (fits)
		return make_dynamic_update_slice(c->make, a[0].tensor, a[1].tensor,
			a[2].starts);
	return complain(c->elab, DIAG_shape, a[1].range, "%s does not fit in %s",
		show_type(c->elab, update), show_type(c->elab, x));
}

/* ---- scattered sums */

/* The updates are of the shape x[:dim], the dims of the index, x[dim + 1:]; or
   broadcast to it. */
Value *
build_scatter_add(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	const Type *x = &a[0].tensor->type, *index = &a[1].tensor->type;
	int dim = a[3].dim, rank = x->rank - 1 + index->rank;
	if (rank > MAX_USER_RANK)
		return complain(e, DIAG_rank, c->site.range,
			"the updates have %d dims; at most %d are allowed", rank,
			MAX_USER_RANK);
	Type shape = type_of(x->dtype, rank, x->dims);
	memcpy(shape.dims + dim, index->dims, (size_t)index->rank * sizeof index->dims[0]);
	memcpy(shape.dims + dim + index->rank, x->dims + dim + 1,
		(size_t)(x->rank - dim - 1) * sizeof x->dims[0]);

	Value *updates = a[2].tensor;
	if (updates == NULL)
		updates = item_constant(e, c->site, x->dtype, &c->items[2]);
	if (updates == NULL)
		return NULL;
	if (!broadcasts_to(&updates->type, &shape))
		return complain(e, DIAG_shape, a[2].range, "the updates are %s, not %s",
			show_type(e, &shape), show_type(e, &updates->type));
	updates = make_broadcast_to(c->make, updates, &shape);
	return make_scatter_add(c->make, a[0].tensor, a[1].tensor, updates, dim, 1);
}

/* ---- rows of groups */

Value *
build_grouped(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	const Type *x = &a[0].tensor->type, *other = &a[1].tensor->type;
	Value *group = a[2].tensor;
	DType d = group->type.dtype;
	if (dtypes[d].range > 31) { /* what i32 has not is no group */
		Value *low =
			make_full(c->make, &group->type, dtypes[d].class == DC_signed ? -1 : 0);
		Value *high = make_full(c->make, &group->type, INT32_MAX);
		group = make_clamp(c->make, low, group, high);
	}
	group = make_convert(c->make, group, D_i32);
	if (x->dtype != other->dtype)
		return complain(e, DIAG_dtype, a[1].range, "%s and %s are of two dtypes",
			show_type(e, x), show_type(e, other));
	if (c->builtin->detail == 0)
		return make_grouped_dot(c->make, a[0].tensor, a[1].tensor, group, x->dtype);
	return make_grouped_outer(c->make, a[0].tensor, a[1].tensor, group, a[3].integer,
		x->dtype);
}

/* ---- orders */

/* x in order, and the index of each element; NULL after a message. */
static Op *
sort_of(Make k, Value *x, int dim, Direction direction, bool indices)
{
	Type type = type_of(D_i32, x->type.rank, x->type.dims);
	Value *operands[] = {x, NULL};
	if (indices)
		operands[1] = make_iota(k, &type, dim);
	Op *op = make_begin(k, O_sort, indices ? 2 : 1, operands);
	if (op == NULL)
		return NULL;
	if (indices)
		op_add_result(op, "index", &type);
	op_set_int(op, A_dim, dim);
	op_set_int(op, A_direction, direction);
	return make_end(k, op) != NULL ? op : NULL;
}

/* sort; argsort with detail 1 */
Value *
build_sort(Call *c, const Argument *a)
{
	int indices = c->builtin->detail;
	const Op *op = sort_of(c->make, a[0].tensor, a[1].dim, DIR_LT, indices);
	return op != NULL ? op->results[indices] : NULL;
}

Value *
build_top_k(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	Value *x = a[0].tensor;
	int64_t k = a[1].integer;
	int last;
	Item parts[2];
	if (!normalize_dim(e, a[0].range, -1, x->type.rank, &last)
		|| !check_counted(c, a[0].range, &x->type, last))
		return NULL;
	if (k < 1 || k > x->type.dims[last])
		return complain(e, DIAG_index, a[1].range,
			"the largest %" PRId64 " of %" PRId64 " elements", k,
			x->type.dims[last]);
	const Op *op = sort_of(c->make, x, last, DIR_GT, true);
	if (op == NULL)
		return NULL;
	for (int i = 0; i < 2; i++)
		parts[i] = item_tensor(c->site.range,
			make_slice_dim(c->make, op->results[i], last, 0, k, 1));
	c->result = item_tuple(e, c->site.range, 2, parts);
	return NULL;
}
