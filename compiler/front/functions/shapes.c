/*
 * shapes.c - built-in functions that move elements or make tensors.
 */
#include <inttypes.h>
#include <string.h>

#include "builtins.h"

/* ---- one tensor, another shape */

/* One size may be `_`: all elements find a place. */
Value *
build_reshape(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	Annotation shape = a[1].written;
	int64_t known = 1, all = type_elements(&x->type);
	int missing = -1;
	bool fits = true;
	for (int d = 0; d < shape.rank; d++) {
		if (shape.dims[d] == 0 && missing >= 0)
			return complain(c->elab, DIAG_reshape, shape.dim_specs[d]->range,
				"only one size may be left to '_'");
		if (shape.dims[d] == 0)
			missing = d;
		else
			fits = fits && mul_i64(known, shape.dims[d], &known);
	}
	if (!fits || (missing >= 0 ? all % known != 0 : known != all))
		return complain(c->elab, DIAG_reshape, shape.range,
			"%s has %" PRId64 " elements, which these sizes do not give",
			show_type(c->elab, &x->type), all);
	if (missing >= 0)
		shape.dims[missing] = all / known;
	return make_reshape(c->make, x, shape.rank, shape.dims);
}

Value *
build_transpose(Call *c, const Argument *a)
{
	return make_transpose(c->make, a[0].tensor, a[1].dims.v);
}

Value *
build_broadcast(Call *c, const Argument *a)
{
	const Type *x = &a[0].tensor->type;
	Type shape = type_of(x->dtype, a[1].written.rank, a[1].written.dims);
	int shift = shape.rank - x->rank;
	bool fits = shift >= 0;
	for (int d = 0; fits && d < shape.rank; d++) {
		int64_t size = d >= shift ? x->dims[d - shift] : 1;
		if (shape.dims[d] == 0)
			shape.dims[d] = size;
		fits = size == 1 || shape.dims[d] == size;
	}
	if (fits)
		return make_broadcast_to(c->make, a[0].tensor, &shape);
	return complain(c->elab, DIAG_broadcast, a[0].range,
		"%s does not broadcast to %s: counted from the last, dims must be equal or 1",
		show_type(c->elab, x), show_type(c->elab, &shape));
}

/* ---- several tensors */

/* Alike, but for dim `dim`; -1: in all. */
static bool
same_but_dim(Call *c, const Argument *tensors, int dim)
{
	Value *const *x = tensors->tensors.v;
	for (int i = 1; i < tensors->tensors.n; i++) {
		Type type = x[i]->type;
		if (dim >= 0 && type.rank == x[0]->type.rank)
			type.dims[dim] = x[0]->type.dims[dim];
		if (type_equal(&type, &x[0]->type))
			continue;
		return complain(c->elab, DIAG_shape, c->items[0].items[i].range,
			"'%s' of %s and %s: they differ in more than the dim they are joined "
			"along",
			c->builtin->name, show_type(c->elab, &x[0]->type),
			show_type(c->elab, &x[i]->type));
	}
	return true;
}

Value *
build_concat(Call *c, const Argument *a)
{
	if (!same_but_dim(c, &a[0], a[1].dim))
		return NULL;
	return make_concatenate(c->make, a[0].tensors.n, a[0].tensors.v, a[1].dim);
}

/* Each with a dim of size 1, then one after the other. */
Value *
build_stack(Call *c, const Argument *a)
{
	Value **x = a[0].tensors.v;
	int64_t dims[MAX_RANK + 1];
	int rank = 0;
	if (!same_but_dim(c, &a[0], -1))
		return NULL;
	for (int d = 0; d <= x[0]->type.rank; d++) {
		if (d == a[1].dim)
			dims[rank++] = 1;
		if (d < x[0]->type.rank)
			dims[rank++] = x[0]->type.dims[d];
	}
	for (int i = 0; i < a[0].tensors.n; i++)
		x[i] = make_reshape(c->make, x[i], rank, dims);
	return make_concatenate(c->make, a[0].tensors.n, x, a[1].dim);
}

/* ---- parts */

Value *
build_split(Call *c, const Argument *a)
{
	enum { MAX_PARTS = 100000 };
	Value *x = a[0].tensor;
	int64_t n = a[1].integer, size = x->type.dims[a[2].dim];
	if (n > MAX_PARTS && size % n == 0)
		return complain(c->elab, DIAG_too_large, a[1].range,
			"%" PRId64 " parts; split makes at most %d", n, MAX_PARTS);
	if (n < 1 || size % n != 0)
		return complain(c->elab, DIAG_shape, a[1].range,
			"dim %d of size %" PRId64 " cannot be split into %" PRId64
			" equal parts",
			a[2].dim, size, n);
	Item *parts = NEW_ARRAY(c->elab->arena, Item, n);
	for (int64_t i = 0; i < n; i++) {
		Value *v = make_slice_dim(c->make, x, a[2].dim, i * (size / n),
			(i + 1) * (size / n), 1);
		parts[i] = item_tensor(c->site.range, v);
		if (v == NULL)
			return NULL;
	}
	c->result = item_tuple(c->elab, c->site.range, (int)n, parts);
	return NULL;
}

Value *
build_roll(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	int64_t size = x->type.dims[a[2].dim];
	return make_roll(c->make, x, a[2].dim, (a[1].integer % size + size) % size);
}

Value *
build_flip(Call *c, const Argument *a)
{
	return make_reverse(c->make, a[0].tensor, a[1].dims.n, a[1].dims.v);
}

/* ---- more elements */

/* a b -> a a b b: a new dim behind `dim`, broadcast and merged. */
Value *
build_repeat(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	int dim = a[2].dim;
	int64_t n = a[1].integer, to[MAX_RANK];
	Type wide = x->type, merged = x->type;
	if (n < 1 || !mul_i64(n, x->type.dims[dim], &merged.dims[dim]))
		return complain(c->elab, DIAG_size, a[1].range,
			"each element cannot be repeated %" PRId64 " times", n);
	memmove(wide.dims + dim + 2, wide.dims + dim + 1,
		(size_t)(wide.rank - dim - 1) * sizeof wide.dims[0]);
	wide.rank++;
	wide.dims[dim + 1] = n;
	for (int d = 0; d < x->type.rank; d++)
		to[d] = d > dim ? d + 1 : d;
	if (n > 1)
		x = make_broadcast(c->make, x, &wide, to);
	return make_reshape(c->make, x, merged.rank, merged.dims);
}

Value *
build_pad(Call *c, const Argument *a)
{
	Value *x = a[0].tensor;
	if (x->type.rank == 0)
		return x;
	return make_pad_between(c->make, x, a[2].tensor, a[1].widths.low, a[1].widths.high,
		a[1].widths.inner);
}

/* ---- by index */

Value *
build_take(Call *c, const Argument *a)
{
	return make_take(c->make, a[0].tensor, a[1].tensor, a[2].dim);
}

/* In a dtype that holds all positions up to n; none is outside. */
static Value *
clamp_index(Call *c, Value *index, int64_t n)
{
	DType dtype = dtypes[index->type.dtype].bytes < 4 ? D_i32 : index->type.dtype;
	Make k = c->make;
	index = make_convert(k, index, dtype);
	if (index == NULL)
		return NULL;
	Value *first = make_full(k, &index->type, 0);
	Value *last = make_full(k, &index->type, n - 1);
	return make_convert(k, make_clamp(k, first, index, last), D_i32);
}

/* What x and the index are broadcast to, but for the dim; false after a message. */
static bool
match_along(Call *c, const Argument *a, int64_t *dims)
{
	const Type *x = &a[0].tensor->type, *index = &a[1].tensor->type;
	bool fits = x->rank == index->rank;
	for (int d = 0; fits && d < x->rank; d++) {
		dims[d] = x->dims[d] == 1 ? index->dims[d] : x->dims[d];
		fits = d == a[2].dim || index->dims[d] == 1 || index->dims[d] == dims[d];
	}
	return fits
		|| complain(c->elab, DIAG_shape, a[1].range,
			"an index of %s along dim %d of %s: as many dims, and all others equal "
			"or 1",
			show_type(c->elab, index), a[2].dim, show_type(c->elab, x));
}

/* The values of size n along `dim`, at `to` in a type of one dim more. */
static Value *
spread_along(Make k, Value *x, int dim, int to, const Type *wide)
{
	int64_t map[MAX_RANK];
	for (int d = 0; d < x->type.rank; d++)
		map[d] = d + (d > dim);
	map[dim] = to;
	return make_broadcast(k, x, wide, map);
}

/*
 * Each index is compared with each position, so that no dim is looked up across devices
 * and one that is split gives partial sums.
 *
 *   picked  x[a.., n, b..], idx[a.., k, b..]: over n, of [a.., k, n, b..]
 *   added   dy and idx[a.., k, b..]: over k, of [a.., n, k, b..]; detail 1
 */
Value *
build_matched(Call *c, const Argument *a)
{
	Make k = c->make;
	Value *x = a[0].tensor, *index = a[1].tensor;
	bool added = c->builtin->detail;
	int dim = a[2].dim;
	int64_t summed = dim + 1;
	Type wide = x->type;
	memmove(wide.dims + dim + 1, wide.dims + dim,
		(size_t)(wide.rank - dim) * sizeof wide.dims[0]);
	wide.rank++;
	wide.dims[dim] = added ? a[3].integer : index->type.dims[dim];
	Type place = type_of(index->type.dtype, wide.rank, wide.dims);
	Value *at = make_iota(k, &place, added ? dim : dim + 1);
	Value *hit = make_compare(k, DIR_EQ,
		spread_along(k, index, dim, added ? dim + 1 : dim, &wide), at);
	Value *none = make_full(k, &wide, 0);
	Value *found = make_select(k, hit, spread_along(k, x, dim, dim + 1, &wide), none);
	Combiner combiner = x->type.dtype == D_pred ? C_or : C_add;
	return make_reduce(k, combiner, found, 1, &summed);
}

/* Of one row it is `take`. */
Value *
build_take_along(Call *c, const Argument *a)
{
	Make k = c->make;
	Value *x = a[0].tensor, *index = a[1].tensor;
	int dim = a[2].dim;
	int64_t dims[MAX_RANK], n = x->type.dims[dim];
	if (!match_along(c, a, dims))
		return NULL;
	if (x->type.rank == 1)
		return make_take(k, x, index, 0);
	if (!has_room(c, &x->type) || !check_counted(c, a[0].range, &x->type, dim))
		return NULL;
	Type each = type_of(x->type.dtype, x->type.rank, dims);
	each.dims[dim] = n;
	c->items[0] = item_tensor(a[0].range, make_broadcast_to(k, x, &each));
	each.dims[dim] = index->type.dims[dim];
	index = make_broadcast_to(k, clamp_index(c, index, n), &each);
	c->items[1] = item_tensor(a[1].range, index);
	c->prelude = "take_along";
	c->composite = true;
	return NULL;
}

/* The label's logit is found as take_along would. */
Value *
build_cross_entropy(Call *c, const Argument *a)
{
	const Type *logits = &a[0].tensor->type, *labels = &a[1].tensor->type;
	int last = logits->rank - 1;
	Type each = type_of(labels->dtype, last < 0 ? 0 : last, logits->dims);
	if (last < 0 || !type_equal(&each, labels))
		return complain(c->elab, DIAG_shape, a[1].range,
			"the labels of %s are %s; one is wanted for each row of the last dim",
			show_type(c->elab, logits), show_type(c->elab, labels));
	if (!has_room(c, logits) || !check_counted(c, a[0].range, logits, last))
		return NULL;
	Value *inside = clamp_index(c, a[1].tensor, logits->dims[last]);
	c->items[1] = item_tensor(a[1].range, inside);
	c->prelude = "cross_entropy";
	c->composite = !c->elab->differentiated; /* its gradient is that of its parts */
	return NULL;
}

/* Positions are counted in a dtype that holds them all. */
Value *
build_one_hot(Call *c, const Argument *a)
{
	Value *index = a[0].tensor;
	int64_t n = a[1].integer;
	DType dtype = dtypes[index->type.dtype].bytes < 4 ? D_i32 : index->type.dtype;
	if (!has_room(c, &index->type))
		return NULL;
	if (n < 1 || (dtype != D_i64 && n > INT32_MAX))
		return complain(c->elab, DIAG_size, a[1].range,
			"a new dim of size %" PRId64 " of an index in %s", n,
			dtypes[dtype].name);
	index = make_convert(c->make, index, dtype);
	if (index == NULL)
		return NULL;
	Type type = index->type;
	type.dims[type.rank++] = n;
	Value *spread = make_spread(c->make, index, 0, &type);
	Value *place = make_iota(c->make, &type, type.rank - 1);
	return make_convert(c->make, make_compare(c->make, DIR_EQ, spread, place),
		a[2].written.dtype);
}

/* ---- new tensors */

Value *
build_iota(Call *c, const Argument *a)
{
	c->as = c->items[0].type;
	if (a[0].type.dtype != D_pred)
		return make_iota(c->make, &a[0].type, a[1].dim);
	return complain(c->elab, DIAG_dtype, a[0].range, "iota counts, which pred cannot");
}

/* full; zeros and ones, whose value is the detail */
Value *
build_full(Call *c, const Argument *a)
{
	const Type *type = &a[0].type;
	int64_t n = c->builtin->detail;
	bool given = c->nitems > 1, pred = type->dtype == D_pred;
	Item value = pred ? item_bool(c->site.range, n) : item_int(c->site.range, n);
	c->as = c->items[0].type;
	return make_broadcast_to(c->make,
		given ? a[1].tensor : item_constant(c->elab, c->site, type->dtype, &value),
		type);
}

/* ---- sizes */

/* Of a dim; axis_size, detail 1: of axes of the mesh. */
Value *
build_size(Call *c, const Argument *a)
{
	c->result = item_int(c->site.range,
		c->builtin->detail ? axes_size(&a[0].axes) : a[0].tensor->type.dims[a[1].dim]);
	return NULL;
}

/* ---- placement */

Value *
build_reshard(Call *c, const Argument *a)
{
	Annotation placement = a[1].written;
	if (!annotation_unify(c->elab, &placement, &a[0].tensor->type, a[0].range, DIAG_shape,
		    "the tensor")
		|| !annotation_check(c->elab, &placement, NULL))
		return NULL;
	return emit_placed(c->elab, c->site, a[0].tensor, &placement, true);
}

Value *
build_shard_like(Call *c, const Argument *a)
{
	const Type *x = &a[0].tensor->type, *like = &a[1].tensor->type;
	if (type_equal(x, like))
		return make_binary(c->make, O_shard_like, a[0].tensor, a[1].tensor);
	return complain(c->elab, DIAG_shape, c->site.range,
		"shard_like needs two tensors of one type, not %s and %s",
		show_type(c->elab, x), show_type(c->elab, like));
}

Value *
build_barrier(Call *c, const Argument *a)
{
	return make_unary(c->make, O_barrier, a[0].tensor);
}

Value *
build_marked(Call *c, const Argument *a)
{
	return make_unary(c->make, (OpKind)c->builtin->detail, a[0].tensor);
}

/* Ops one after the other, which are one barrier. */
Value *
build_fence(Call *c, const Argument *a)
{
	(void)a;
	Item *results = NEW_ARRAY(c->elab->arena, Item, c->nrest + 1);
	if (c->nrest == 0)
		return complain(c->elab, DIAG_arguments, c->site.range,
			"'fence' is given nothing");
	for (int i = 0; i < c->nrest; i++) {
		Value *v = make_unary(c->make, O_fence, c->rest[i].value);
		if (v == NULL)
			return NULL;
		results[i] = item_tensor(c->rest[i].range, v);
	}
	c->result = c->nrest == 1 ? results[0]
				  : item_tuple(c->elab, c->site.range, c->nrest, results);
	return NULL;
}
