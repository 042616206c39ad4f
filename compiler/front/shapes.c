/*
 * shapes.c - built-in functions that move elements or make tensors.
 */
#include <inttypes.h>
#include <string.h>

#include "builders.h"

/* ---- one tensor, another shape */

/* Sizes alone, as in reshape(x, [B, H, K]). */
static bool
want_sizes(Elab *e, Call *c, int i, Annotation *a)
{
	if (!want_spec(e, c, i, a))
		return false;
	if (!a->placed)
		return true;
	complain(e, DIAG_placement_here, a->range,
		"'%s' takes sizes only; to "
		"place the result write let h: [B@X, D] = ...",
		c->builtin->name);
	return false;
}

static bool
complain_reshape(Elab *e, const Value *x, const Annotation *a)
{
	complain(e, DIAG_reshape, a->range,
		"%s has %" PRId64 " elements, which "
		"these sizes do not give",
		show_type(e, &x->type), type_elements(&x->type));
	return false;
}

/* The size of the one `_`, so that all elements find a place. */
static bool
infer_size(Elab *e, const Value *x, Annotation *a)
{
	int64_t known = 1, all = type_elements(&x->type);
	int missing = -1;
	for (int d = 0; d < a->rank; d++) {
		if (a->dims[d] == 0 && missing >= 0) {
			complain(e, DIAG_reshape, a->dim_specs[d]->range,
				"only one size may be left to '_'");
			return false;
		}
		if (a->dims[d] == 0)
			missing = d;
		else if (!mul_i64(known, a->dims[d], &known))
			return complain_reshape(e, x, a);
	}
	if (missing >= 0 && all % known == 0)
		a->dims[missing] = all / known;
	else if (missing >= 0 || known != all)
		return complain_reshape(e, x, a);
	return true;
}

Item
build_reshape(Elab *e, Call *c)
{
	Value *x;
	Annotation a;
	if (!want_tensor(e, c, 0, &x) || !want_sizes(e, c, 1, &a) || !infer_size(e, x, &a))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_reshape(at(e, c->site), x, a.rank, a.dims));
}

Item
build_transpose(Elab *e, Call *c)
{
	Value *x;
	int n;
	int64_t dims[MAX_RANK];
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &x))
		return error;
	n = x->type.rank;
	for (int d = 0; d < n; d++)
		dims[d] = n - 1 - d;
	if (c->args[1].kind != IT_absent) {
		bool seen[MAX_RANK] = {false};
		if (!want_ints(e, c, 1, &n, dims, MAX_RANK))
			return error;
		for (int i = 0; i < n; i++) {
			int d;
			if (!normalize_dim(e, c->args[1].range, dims[i], x->type.rank, &d))
				return error;
			n = seen[d] ? -1 : n;
			seen[d] = true;
			dims[i] = d;
		}
	}
	if (n != x->type.rank) {
		complain(e, DIAG_dim_range, c->args[1].range,
			"a transpose of "
			"%s names each of its %d dims once",
			show_type(e, &x->type), x->type.rank);
		return error;
	}
	return item_tensor(c->expr->range, make_transpose(at(e, c->site), x, dims));
}

Item
build_broadcast(Elab *e, Call *c)
{
	Value *x;
	Annotation a;
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &x) || !want_sizes(e, c, 1, &a))
		return error;
	int shift = a.rank - x->type.rank;
	bool fits = shift >= 0;
	for (int d = 0; fits && d < a.rank; d++) {
		int64_t size = d >= shift ? x->type.dims[d - shift] : 1;
		if (a.dims[d] == 0)
			a.dims[d] = size;
		fits = size == 1 || a.dims[d] == size;
	}
	Type shape = type_of(x->type.dtype, a.rank, a.dims);
	if (!fits) {
		complain(e, DIAG_broadcast, c->args[0].range,
			"%s does not "
			"broadcast to %s: counted from the last, dims must be "
			"equal or 1",
			show_type(e, &x->type), show_type(e, &shape));
		return error;
	}
	return item_tensor(c->expr->range, make_broadcast_to(at(e, c->site), x, &shape));
}

/* ---- several tensors */

static bool
same_but_dim(Elab *e, Call *c, int n, Value *const *x, int dim)
{
	for (int i = 1; i < n; i++) {
		Type type = x[i]->type;
		if (dim >= 0 && type.rank == x[0]->type.rank)
			type.dims[dim] = x[0]->type.dims[dim];
		if (type_equal(&type, &x[0]->type))
			continue;
		complain(e, DIAG_shape, c->args[0].items[i].range,
			"'%s' of %s "
			"and %s: they differ in more than the dim they are "
			"joined along",
			c->builtin->name, show_type(e, &x[0]->type), show_type(e, &x[i]->type));
		return false;
	}
	return true;
}

Item
build_concat(Elab *e, Call *c)
{
	int n, dim;
	Value **x;
	if (!want_tensors(e, c, 0, &n, &x) || !want_dim(e, c, 1, x[0]->type.rank, &dim)
		|| !same_but_dim(e, c, n, x, dim))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_concatenate(at(e, c->site), n, x, dim));
}

/* x with a dim of size 1 at `dim`. */
static Value *
insert_dim(Elab *e, Site s, Value *x, int dim)
{
	int64_t dims[MAX_RANK + 1];
	int rank = 0;
	if (x == NULL)
		return NULL;
	for (int d = 0; d <= x->type.rank; d++) {
		if (d == dim)
			dims[rank++] = 1;
		if (d < x->type.rank)
			dims[rank++] = x->type.dims[d];
	}
	return make_reshape(at(e, s), x, rank, dims);
}

/* A new dim is written to the tensor, so there is room for it. */
static bool
has_room(Elab *e, Call *c, const Value *x)
{
	if (x->type.rank < MAX_USER_RANK)
		return true;
	complain(e, DIAG_rank, c->expr->range,
		"the result has %d dims; at "
		"most %d are allowed",
		x->type.rank + 1, MAX_USER_RANK);
	return false;
}

Item
build_stack(Elab *e, Call *c)
{
	int n, dim;
	Value **x;
	if (!want_tensors(e, c, 0, &n, &x) || !has_room(e, c, x[0])
		|| !want_dim(e, c, 1, x[0]->type.rank + 1, &dim)
		|| !same_but_dim(e, c, n, x, -1))
		return item_error(c->expr->range);
	for (int i = 0; i < n; i++)
		x[i] = insert_dim(e, c->site, x[i], dim);
	return item_tensor(c->expr->range, make_concatenate(at(e, c->site), n, x, dim));
}

/* ---- parts */

Item
build_split(Elab *e, Call *c)
{
	enum { MAX_PARTS = 100000 };
	Value *x;
	int64_t n;
	int dim;
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &x) || !want_int(e, c, 1, &n)
		|| !want_dim(e, c, 2, x->type.rank, &dim))
		return error;
	int64_t size = x->type.dims[dim];
	if (n > MAX_PARTS && size % n == 0) {
		complain(e, DIAG_too_large, c->args[1].range,
			"%" PRId64 " parts; "
			"split makes at most %d",
			n, MAX_PARTS);
		return error;
	}
	if (n < 1 || size % n != 0) {
		complain(e, DIAG_shape, c->args[1].range,
			"dim %d of size %" PRId64 " cannot be split into %" PRId64
			" equal parts",
			dim, size, n);
		return error;
	}
	Item *parts = NEW_ARRAY(e->arena, Item, n);
	for (int64_t i = 0; i < n; i++) {
		Value *v = make_slice_dim(at(e, c->site), x, dim, i * (size / n),
			(i + 1) * (size / n), 1);
		parts[i] = item_tensor(c->expr->range, v);
		if (v == NULL)
			return error;
	}
	return item_tuple(e, c->expr->range, (int)n, parts);
}

Item
build_roll(Elab *e, Call *c)
{
	Value *x;
	int64_t shift;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_int(e, c, 1, &shift)
		|| !want_dim(e, c, 2, x->type.rank, &dim))
		return item_error(c->expr->range);
	int64_t size = x->type.dims[dim];
	shift = (shift % size + size) % size;
	return item_tensor(c->expr->range, make_roll(at(e, c->site), x, dim, shift));
}

Item
build_flip(Elab *e, Call *c)
{
	Value *x;
	int n;
	int64_t dims[MAX_RANK];
	if (!want_tensor(e, c, 0, &x) || !want_dims(e, c, 1, x->type.rank, &n, dims))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_reverse(at(e, c->site), x, n, dims));
}

/* ---- more elements */

/* a b -> a a b b: a new dim behind `dim`, broadcast and merged. */
Item
build_repeat(Elab *e, Call *c)
{
	Value *x;
	int64_t n, size;
	int dim;
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &x) || !want_int(e, c, 1, &n)
		|| !want_dim(e, c, 2, x->type.rank, &dim))
		return error;
	if (n < 1 || !mul_i64(n, x->type.dims[dim], &size)) {
		complain(e, DIAG_size, c->args[1].range,
			"each element cannot be repeated %" PRId64 " times", n);
		return error;
	}
	Type wide = x->type;
	int64_t to[MAX_RANK];
	memmove(wide.dims + dim + 2, wide.dims + dim + 1,
		(size_t)(wide.rank - dim - 1) * sizeof wide.dims[0]);
	wide.rank++;
	wide.dims[dim + 1] = n;
	for (int d = 0; d < x->type.rank; d++)
		to[d] = d > dim ? d + 1 : d;
	Type merged = x->type;
	merged.dims[dim] = size;
	Value *v = n == 1 ? x : make_broadcast(at(e, c->site), x, &wide, to);
	return item_tensor(c->expr->range,
		make_reshape(at(e, c->site), v, merged.rank, merged.dims));
}

/* ((lo, hi), ...), one pair for each dim */
static bool
want_widths(Elab *e, Call *c, int i, int rank, int64_t *low, int64_t *high)
{
	const Item *x = &c->args[i];
	bool right = x->kind == IT_tuple && x->n == rank;
	for (int d = 0; right && d < rank; d++) {
		const Item *pair = &x->items[d];
		right = pair->kind == IT_tuple && pair->n == 2 && pair->items[0].kind == IT_int
			&& pair->items[1].kind == IT_int;
		if (!right)
			break;
		low[d] = pair->items[0].integer;
		high[d] = pair->items[1].integer;
		if (low[d] >= 0 && high[d] >= 0)
			continue;
		complain(e, DIAG_argument_kind, pair->range,
			"padding cannot be "
			"negative; a slice removes elements");
		return false;
	}
	if (!right)
		complain(e, DIAG_argument_kind, x->range,
			"the widths of a "
			"tensor of %d dim%s are %d pairs: ((lo, hi), ...)",
			rank, rank == 1 ? "" : "s", rank);
	return right;
}

Item
build_pad(Elab *e, Call *c)
{
	Value *x;
	int64_t low[MAX_RANK], high[MAX_RANK];
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &x) || !want_widths(e, c, 1, x->type.rank, low, high))
		return error;
	Item *value = &c->args[2];
	if (x->type.dtype == D_pred && value->kind == IT_int)
		*value = item_bool(value->range, value->integer != 0);
	Value *scalar = value->kind == IT_tensor ? value->value : NULL;
	if (item_is_number(value))
		scalar = item_constant(e, c->site, x->type.dtype, value);
	else if (!want_tensor(e, c, 2, &scalar))
		return error;
	if (scalar == NULL)
		return error;
	if (scalar->type.rank != 0 || scalar->type.dtype != x->type.dtype) {
		complain(e, DIAG_dtype, value->range,
			"the value around %s is "
			"a scalar %s, not %s",
			show_type(e, &x->type), dtypes[x->type.dtype].name,
			show_type(e, &scalar->type));
		return error;
	}
	if (x->type.rank == 0)
		return c->args[0];
	return item_tensor(c->expr->range, make_pad(at(e, c->site), x, scalar, low, high));
}

/* ---- by index */

Item
build_take(Elab *e, Call *c)
{
	Value *x, *index;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_indices(e, c, 1, &index)
		|| !want_dim(e, c, 2, x->type.rank, &dim))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_take(at(e, c->site), x, index, dim));
}

/* Positions are counted in a dtype that holds them all. */
static DType
index_dtype(DType dtype)
{
	return dtypes[dtype].bytes < 4 ? D_i32 : dtype;
}

static bool
want_classes(Elab *e, Call *c, DType dtype, int64_t *n)
{
	if (!want_int(e, c, 1, n))
		return false;
	if (*n >= 1 && (dtype == D_i64 || *n <= INT32_MAX))
		return true;
	complain(e, DIAG_size, c->args[1].range,
		"a new dim of size %" PRId64 " of an index in %s", *n, dtypes[dtype].name);
	return false;
}

Item
build_one_hot(Elab *e, Call *c)
{
	Value *index;
	int64_t n;
	Annotation a;
	Item error = item_error(c->expr->range);
	if (!want_indices(e, c, 0, &index) || !has_room(e, c, index) || !want_type(e, c, 2, &a))
		return error;
	if (!a.has_dtype || a.rank > 0 || a.placed) {
		complain(e, DIAG_argument_kind, c->args[2].range,
			"dtype= takes a dtype alone: dtype=bf16");
		return error;
	}
	DType dtype = index_dtype(index->type.dtype);
	if (!want_classes(e, c, dtype, &n))
		return error;
	Site s = c->site;
	index = make_convert(at(e, s), index, dtype);
	if (index == NULL)
		return error;
	Type type = index->type;
	int64_t to[MAX_RANK];
	for (int d = 0; d < type.rank; d++)
		to[d] = d;
	type.dims[type.rank++] = n;
	Value *wide = make_broadcast(at(e, s), index, &type, to);
	Value *hit =
		make_compare(at(e, s), DIR_EQ, wide, make_iota(at(e, s), &type, type.rank - 1));
	return item_tensor(c->expr->range, make_convert(at(e, s), hit, a.dtype));
}

/* ---- new tensors */

static Item
placed_item(Elab *e, Call *c, Value *v, const Annotation *a)
{
	if (v != NULL && a->placed)
		v = emit_placed(e, c->site, O_constraint, v, a);
	return item_tensor(c->expr->range, v);
}

Item
build_iota(Elab *e, Call *c)
{
	Annotation a;
	Type type;
	int dim;
	Item error = item_error(c->expr->range);
	if (!want_type(e, c, 0, &a) || !annotation_type(e, &a, &type)
		|| !want_dim(e, c, 1, type.rank, &dim))
		return error;
	if (type.dtype == D_pred) {
		complain(e, DIAG_dtype, c->args[0].range, "iota counts, which pred cannot");
		return error;
	}
	return placed_item(e, c, make_iota(at(e, c->site), &type, dim), &a);
}

/* zeros, ones, full: detail 2 has the value as an argument */
Item
build_full(Elab *e, Call *c)
{
	Annotation a;
	Type type;
	Item error = item_error(c->expr->range);
	if (!want_type(e, c, 0, &a) || !annotation_type(e, &a, &type))
		return error;
	Item value = item_int(c->expr->range, c->builtin->detail);
	if (c->builtin->detail == 2)
		value = c->args[1];
	if (type.dtype == D_pred && value.kind == IT_int)
		value = item_bool(value.range, value.integer != 0);
	Value *scalar = value.value;
	if (item_is_number(&value))
		scalar = item_constant(e, c->site, type.dtype, &value);
	else if (!want_tensor(e, c, 1, &scalar))
		return error;
	if (scalar != NULL && (scalar->type.dtype != type.dtype || scalar->type.rank != 0)) {
		complain(e, DIAG_dtype, value.range,
			"the value of %s is a "
			"scalar %s, not %s",
			show_type(e, &type), dtypes[type.dtype].name,
			show_type(e, &scalar->type));
		return error;
	}
	return placed_item(e, c, make_broadcast_to(at(e, c->site), scalar, &type), &a);
}

/* ---- sizes */

Item
build_size(Elab *e, Call *c)
{
	Value *x;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_dim(e, c, 1, x->type.rank, &dim))
		return item_error(c->expr->range);
	return item_int(c->expr->range, x->type.dims[dim]);
}

Item
build_axis_size(Elab *e, Call *c)
{
	const Item *x = &c->args[0];
	const Item *axes = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1;
	int64_t size = 1;
	for (int i = 0; i < n; i++) {
		if (axes[i].kind != IT_axis) {
			complain(e, DIAG_argument_kind, axes[i].range,
				"axis_size takes a mesh axis or a tuple of "
				"them, not %s",
				show_item(e, &axes[i]));
			return item_error(c->expr->range);
		}
		size *= e->m->mesh.axes[axes[i].integer].size;
	}
	return item_int(c->expr->range, size);
}

/* ---- placement */

Item
build_reshard(Elab *e, Call *c)
{
	Value *x;
	Annotation a;
	if (!want_tensor(e, c, 0, &x) || !want_spec(e, c, 1, &a)
		|| !annotation_unify(e, &a, &x->type, c->args[0].range, DIAG_shape,
			"the tensor")
		|| !annotation_check(e, &a))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, emit_placed(e, c->site, O_reshard, x, &a));
}

Item
build_shard_like(Elab *e, Call *c)
{
	Value *a, *b;
	if (!want_tensor(e, c, 0, &a) || !want_tensor(e, c, 1, &b))
		return item_error(c->expr->range);
	if (!type_equal(&a->type, &b->type)) {
		complain(e, DIAG_shape, c->expr->range,
			"shard_like needs two "
			"tensors of one type, not %s and %s",
			show_type(e, &a->type), show_type(e, &b->type));
		return item_error(c->expr->range);
	}
	return item_tensor(c->expr->range, make_binary(at(e, c->site), O_shard_like, a, b));
}

Item
build_barrier(Elab *e, Call *c)
{
	Value *x;
	if (!want_tensor(e, c, 0, &x))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_unary(at(e, c->site), O_barrier, x));
}
