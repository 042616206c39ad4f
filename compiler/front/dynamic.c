/*
 * dynamic.c - built-in functions whose indices are known only when the program
 * runs: slices at run-time starts, scattered sums, orders.
 */
#include <inttypes.h>
#include <string.h>

#include "builders.h"

/* ---- slices */

/* A start for each dim: numbers or integer scalars. */
static bool
want_starts(Elab *e, Call *c, int i, int rank, Value **start)
{
	const Item *x = &c->args[i];
	const Item *items = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1;
	if (n != rank) {
		complain(e, DIAG_argument_kind, x->range,
			"a tensor of %d "
			"dim%s needs as many starts, not %d",
			rank, rank == 1 ? "" : "s", n);
		return false;
	}
	for (int d = 0; d < rank; d++) {
		const Value *v = items[d].value;
		bool scalar = items[d].kind == IT_tensor && v->type.rank == 0
			&& dtype_is_integer(v->type.dtype);
		if (!scalar && items[d].kind != IT_int) {
			complain(e, DIAG_index, items[d].range,
				"a start is an "
				"integer or a scalar of integers, not %s",
				show_item(e, &items[d]));
			return false;
		}
		start[d] =
			scalar ? items[d].value : make_index(at(e, c->site), items[d].integer);
	}
	return true;
}

static bool
want_lengths(Elab *e, Call *c, int i, const Type *x, int64_t *size)
{
	int n;
	if (!want_ints(e, c, i, &n, size, MAX_RANK))
		return false;
	if (n != x->rank) {
		complain(e, DIAG_argument_kind, c->args[i].range,
			"a tensor of "
			"%d dim%s needs as many sizes, not %d",
			x->rank, x->rank == 1 ? "" : "s", n);
		return false;
	}
	for (int d = 0; d < n; d++) {
		if (size[d] >= 1 && size[d] <= x->dims[d])
			continue;
		complain(e, DIAG_index, c->args[i].range,
			"a slice of %" PRId64 " elements of dim %d, which has size %" PRId64,
			size[d], d, x->dims[d]);
		return false;
	}
	return true;
}

Item
build_dynamic_slice(Elab *e, Call *c)
{
	Value *x, *start[MAX_RANK];
	int64_t size[MAX_RANK];
	if (!want_tensor(e, c, 0, &x) || !want_starts(e, c, 1, x->type.rank, start)
		|| !want_lengths(e, c, 2, &x->type, size))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_dynamic_slice(at(e, c->site), x, start, size));
}

static bool
update_fits(Elab *e, Call *c, const Type *x, const Type *update)
{
	bool fits = update->dtype == x->dtype && update->rank == x->rank;
	for (int d = 0; fits && d < x->rank; d++)
		fits = update->dims[d] <= x->dims[d];
	if (!fits)
		complain(e, DIAG_shape, c->args[1].range,
			"%s does not fit in "
			"%s",
			show_type(e, update), show_type(e, x));
	return fits;
}

Item
build_dynamic_update_slice(Elab *e, Call *c)
{
	Value *x, *update, *start[MAX_RANK];
	if (!want_tensor(e, c, 0, &x) || !want_tensor(e, c, 1, &update)
		|| !update_fits(e, c, &x->type, &update->type)
		|| !want_starts(e, c, 2, x->type.rank, start))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range,
		make_dynamic_update_slice(at(e, c->site), x, update, start));
}

/* ---- scattered sums */

/* x[:dim], the dims of the index, x[dim + 1:] */
static bool
taken_shape(Elab *e, Call *c, const Type *x, const Type *index, int dim, Type *shape)
{
	int rank = x->rank - 1 + index->rank;
	if (rank > MAX_USER_RANK) {
		complain(e, DIAG_rank, c->expr->range,
			"the updates have %d "
			"dims; at most %d are allowed",
			rank, MAX_USER_RANK);
		return false;
	}
	*shape = type_of(x->dtype, rank, x->dims);
	memcpy(shape->dims + dim, index->dims, (size_t)index->rank * sizeof index->dims[0]);
	memcpy(shape->dims + dim + index->rank, x->dims + dim + 1,
		(size_t)(x->rank - dim - 1) * sizeof x->dims[0]);
	return true;
}

/* The updates, broadcast to their shape. */
static Value *
want_updates(Elab *e, Call *c, int i, const Type *shape)
{
	Item *x = &c->args[i];
	Value *v;
	if (item_is_number(x))
		*x = item_tensor(x->range, item_constant(e, c->site, shape->dtype, x));
	if (x->kind == IT_error || !want_tensor(e, c, i, &v))
		return NULL;
	if (broadcasts_to(&v->type, shape))
		return make_broadcast_to(at(e, c->site), v, shape);
	complain(e, DIAG_shape, x->range, "the updates are %s, not %s", show_type(e, shape),
		show_type(e, &v->type));
	return NULL;
}

Item
build_scatter_add(Elab *e, Call *c)
{
	Value *x, *index;
	Type shape;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_indices(e, c, 1, &index)
		|| !want_dim(e, c, 3, x->type.rank, &dim)
		|| !taken_shape(e, c, &x->type, &index->type, dim, &shape))
		return item_error(c->expr->range);
	Value *operands[] = {x, index, want_updates(e, c, 2, &shape)};
	Op *op = make_begin(at(e, c->site), O_scatter_add, 3, operands);
	if (op != NULL)
		op_set_int(op, A_dim, dim);
	return item_tensor(c->expr->range, make_end(at(e, c->site), op));
}

/* ---- orders */

/* x in order, and the index of each element; NULL after a message. */
static Op *
sort_of(Elab *e, Site s, Value *x, int dim, Direction direction, bool indices)
{
	Type type = type_of(D_i32, x->type.rank, x->type.dims);
	Value *operands[] = {x, NULL};
	if (indices)
		operands[1] = make_iota(at(e, s), &type, dim);
	Op *op = make_begin(at(e, s), O_sort, indices ? 2 : 1, operands);
	if (op == NULL)
		return NULL;
	if (indices)
		op_add_result(op, "index", &type);
	op_set_int(op, A_dim, dim);
	op_set_int(op, A_direction, direction);
	return make_end(at(e, s), op) != NULL ? op : NULL;
}

static bool
want_sorted(Elab *e, Call *c, const Value *x, int dim)
{
	if (x->type.dims[dim] <= INT32_MAX)
		return true;
	complain(e, DIAG_size, c->args[0].range,
		"dim %d has more elements "
		"than i32 counts",
		dim);
	return false;
}

/* sort; argsort with detail 1 */
Item
build_sort(Elab *e, Call *c)
{
	Value *x;
	int dim, indices = c->builtin->detail;
	if (!want_tensor(e, c, 0, &x) || !want_dim(e, c, 1, x->type.rank, &dim)
		|| !want_sorted(e, c, x, dim))
		return item_error(c->expr->range);
	const Op *op = sort_of(e, c->site, x, dim, DIR_LT, indices);
	return item_tensor(c->expr->range, op != NULL ? op->results[indices] : NULL);
}

Item
build_top_k(Elab *e, Call *c)
{
	Value *x;
	int64_t k;
	int last;
	Item error = item_error(c->expr->range), parts[2];
	if (!want_tensor(e, c, 0, &x) || !want_int(e, c, 1, &k)
		|| !normalize_dim(e, c->args[0].range, -1, x->type.rank, &last)
		|| !want_sorted(e, c, x, last))
		return error;
	if (k < 1 || k > x->type.dims[last]) {
		complain(e, DIAG_index, c->args[1].range,
			"the largest %" PRId64 " of %" PRId64 " elements", k,
			x->type.dims[last]);
		return error;
	}
	const Op *op = sort_of(e, c->site, x, last, DIR_GT, true);
	if (op == NULL)
		return error;
	for (int i = 0; i < 2; i++)
		parts[i] = item_tensor(c->expr->range,
			make_slice_dim(at(e, c->site), op->results[i], last, 0, k, 1));
	return item_tuple(e, c->expr->range, 2, parts);
}
