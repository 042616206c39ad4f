/*
 * collectives.c - what the devices of a manual function do together.
 *
 * requires  the body of a manual region being built (e->manual)
 * leaves    one collective for each call; an axis of size 1 moves nothing
 */
#include <inttypes.h>

#include "builtins.h"

/* Of collectives, which are as they are written. */
static Make
asked(const Call *c)
{
	Make k = c->make;
	k.requested = true;
	return k;
}

/* The size of the dim is a multiple of the number of devices. */
static bool
check_cut(Call *c, const Argument *a, int dim)
{
	int64_t size = a[0].tensor->type.dims[dim], n = axes_size(&a[1].axes);
	return size % n == 0
		|| complain(c->elab, DIAG_indivisible, a[0].range,
			"'%s' cuts dim %d into %" PRId64
			" parts, one for each device along %s; its size is %" PRId64,
			c->builtin->name, dim, n, show_axes(c->elab, &a[1].axes), size);
}

/* With a combiner: a sum of pred is a count. */
static Value *
combine(Call *c, OpKind kind, const Argument *a, int dim, Combiner combiner)
{
	Value *x = a[0].tensor;
	if (combiner == C_add && x->type.dtype == D_pred)
		x = make_convert(c->make, x, D_i32);
	return make_collective(asked(c), kind, x, &a[1].axes, dim, combiner);
}

/* psum, pmax, pmin: detail is the combiner */
Value *
build_psum(Call *c, const Argument *a)
{
	return combine(c, O_all_reduce, a, 0, (Combiner)c->builtin->detail);
}

Value *
build_pmean(Call *c, const Argument *a)
{
	return divide_by_count(c, combine(c, O_all_reduce, a, 0, C_add), axes_size(&a[1].axes));
}

Value *
build_all_gather(Call *c, const Argument *a)
{
	return make_collective(asked(c), O_all_gather, a[0].tensor, &a[1].axes, a[2].dim,
		C_add);
}

Value *
build_psum_scatter(Call *c, const Argument *a)
{
	return check_cut(c, a, a[2].dim) ? combine(c, O_reduce_scatter, a, a[2].dim, C_add)
					 : NULL;
}

Value *
build_all_to_all(Call *c, const Argument *a)
{
	int split = a[2].dim, concat = a[3].dim;
	const AxisList *axes = &a[1].axes;
	Exchange parts = {.from_dim = concat, .to_dim = split, .axes = *axes};
	if (!check_cut(c, a, split))
		return NULL;
	return split == concat
		? make_collective(asked(c), O_all_to_all, a[0].tensor, axes, split, C_add)
		: make_exchange(asked(c), a[0].tensor, axes, 1, &parts);
}

/* x, axis, and a shift (1 if nothing is given) or the pairs */
Value *
build_ppermute(Call *c, const Argument *a)
{
	int64_t n = axes_size(&a[1].axes), shift = a[2].given ? a[2].integer : 1;
	int64_t *source = a[3].given ? a[3].source : NEW_ARRAY(c->elab->arena, int64_t, n);
	if (a[3].given && (a[2].given || c->items[3].kind != IT_tuple))
		return complain(c->elab, DIAG_permutation, a[3].range,
			"ppermute takes shift=1 or perm=((from, to), ...)");
	for (int64_t i = 0; i < n && !a[3].given; i++)
		source[i] = ((i - shift % n) % n + n) % n;
	return make_permute(asked(c), a[0].tensor, &a[1].axes, NULL, source);
}

/*
 * x and out are alike, but for the number of rows; the four tables have a number
 * for each device of the group.  Over one device it still copies rows.
 */
Value *
build_ragged_all_to_all(Call *c, const Argument *a)
{
	enum { TENSORS = 6, TABLES = 2 };
	Elab *e = c->elab;
	Value *operands[TENSORS];
	const AxisList *axes = &a[TENSORS].axes;
	const Type *x = &a[0].tensor->type, *out = &a[1].tensor->type;
	int64_t n = axes_size(axes);
	const Type table = type_of(D_i32, 1, &n);
	bool alike = x->dtype == out->dtype && x->rank == out->rank;
	for (int i = 0; i < TENSORS; i++)
		operands[i] = a[i].tensor;
	if (x->rank == 0 || out->rank == 0)
		return complain(e, DIAG_shape, a[x->rank != 0].range,
			"a scalar has no rows to send or receive");
	for (int d = 1; alike && d < x->rank; d++)
		alike = x->dims[d] == out->dims[d];
	if (!alike)
		return complain(e, DIAG_shape, a[1].range,
			"rows of %s do not fit in %s; only dim 0 may differ", show_type(e, x),
			show_type(e, out));
	for (int i = TABLES; i < TENSORS; i++)
		if (!type_equal(&operands[i]->type, &table))
			return complain(e, DIAG_shape, a[i].range,
				"this says something for each device along %s: %s, not %s",
				show_axes(e, axes), show_type(e, &table),
				show_type(e, &operands[i]->type));
	return make_ragged(asked(c), axes, operands);
}

Value *
build_uniform(Call *c, const Argument *a)
{
	return make_uniform(c->make, a[0].tensor, &a[1].axes);
}

Value *
build_axis_index(Call *c, const Argument *a)
{
	if (a[0].axes.n == 0)
		return make_constant(c->make, D_i32, 0);
	Value *id = make_convert(c->make, make_op(c->make, O_partition_id, 0, NULL), D_i32);
	return make_axes_index(c->make, id, &a[0].axes, 1);
}
