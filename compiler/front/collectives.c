/*
 * collectives.c - what the devices of a manual function do together.
 *
 * requires  the body of a manual region being built (e->manual)
 * leaves    one collective for each call; an axis of size 1 moves nothing
 */
#include <inttypes.h>

#include "builders.h"

/* ---- axes */

static bool
add_axis(Elab *e, Call *c, const Item *x, AxisList *axes)
{
	if (x->kind != IT_axis) {
		if (x->kind != IT_error)
			complain(e, DIAG_argument_kind, x->range,
				"'%s' works "
				"along axes of the mesh; this is %s",
				c->builtin->name, show_item(e, x));
		return false;
	}
	AxisRef a = axis_whole(&e->m->mesh, (int)x->integer);
	if (!axes_overlap(&e->manual->along, a) && !e->uncalled) {
		complain(e, DIAG_manual, x->range,
			"the function is not manual "
			"along %s",
			e->m->mesh.axes[a.axis].name);
		return false;
	}
	if (axes_overlap(axes, a)) {
		complain(e, DIAG_axis_twice, x->range, "axis %s is named twice",
			e->m->mesh.axes[a.axis].name);
		return false;
	}
	if (a.size > 1)
		axes_append(axes, a);
	return true;
}

/* An axis or a tuple of axes, the first major. */
static bool
want_axes(Elab *e, Call *c, int i, AxisList *axes)
{
	const Item *x = &c->args[i];
	*axes = (AxisList){0};
	if (x->kind != IT_tuple)
		return add_axis(e, c, x, axes);
	bool right = true;
	for (int k = 0; k < x->n; k++)
		right &= add_axis(e, c, &x->items[k], axes);
	return right;
}

const char *
show_axes(Elab *e, const AxisList *axes)
{
	Text t = {0};
	text_axes(&t, &e->m->mesh, axes);
	return text_take(&t, e->arena);
}

/* ---- ops */

/* Of collectives, which are as they are written. */
static Make
asked(Elab *e, const Call *c)
{
	Make k = at(e, c->site);
	k.requested = true;
	return k;
}

/* The sum of pred is a count. */
static Value *
countable(Elab *e, Site s, Value *x)
{
	return x->type.dtype == D_pred ? make_convert(at(e, s), x, D_i32) : x;
}

static bool
want_cut(Elab *e, Call *c, const Value *x, int dim, const AxisList *axes)
{
	int64_t size = x->type.dims[dim], n = axes_size(axes);
	if (size % n == 0)
		return true;
	complain(e, DIAG_indivisible, c->args[0].range,
		"'%s' cuts dim %d into "
		"%" PRId64 " parts, one for each device along %s; its size is "
		"%" PRId64,
		c->builtin->name, dim, n, show_axes(e, axes), size);
	return false;
}

/* ---- psum and the like */

Item
build_psum(Elab *e, Call *c)
{
	Combiner combiner = (Combiner)c->builtin->detail;
	Value *x;
	AxisList axes;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes))
		return item_error(c->expr->range);
	if (combiner == C_add)
		x = countable(e, c->site, x);
	return item_tensor(c->expr->range,
		make_collective(asked(e, c), O_all_reduce, x, &axes, 0, combiner));
}

Item
build_pmean(Elab *e, Call *c)
{
	Range range = c->expr->range;
	Value *x;
	AxisList axes;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes))
		return item_error(range);
	if (!dtype_is_float(x->type.dtype)) {
		complain(e, DIAG_dtype, c->args[0].range,
			"'pmean' needs "
			"floats, not %s; convert: f32(x)",
			dtypes[x->type.dtype].name);
		return item_error(range);
	}
	Item operands[] = {
		item_tensor(range,
			make_collective(asked(e, c), O_all_reduce, x, &axes, 0, C_add)),
		item_int(range, axes_size(&axes)),
	};
	return operands[0].kind == IT_error
		? operands[0]
		: apply_pointwise(e, c->site, O_div, DIR_EQ, 2, operands);
}

Item
build_all_gather(Elab *e, Call *c)
{
	Value *x;
	AxisList axes;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes)
		|| !want_dim(e, c, 2, x->type.rank, &dim))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range,
		make_collective(asked(e, c), O_all_gather, x, &axes, dim, C_add));
}

Item
build_psum_scatter(Elab *e, Call *c)
{
	Value *x;
	AxisList axes;
	int dim;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes)
		|| !want_dim(e, c, 2, x->type.rank, &dim) || !want_cut(e, c, x, dim, &axes))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range,
		make_collective(asked(e, c), O_reduce_scatter, countable(e, c->site, x), &axes,
			dim, C_add));
}

/* ---- all_to_all */

Item
build_all_to_all(Elab *e, Call *c)
{
	Range range = c->expr->range;
	Value *x;
	AxisList axes;
	int split, concat;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes)
		|| !want_dim(e, c, 2, x->type.rank, &split)
		|| !want_dim(e, c, 3, x->type.rank, &concat)
		|| !want_cut(e, c, x, split, &axes))
		return item_error(range);
	Exchange parts = {.from_dim = concat, .to_dim = split, .axes = axes};
	return item_tensor(range,
		split == concat
			? make_collective(asked(e, c), O_all_to_all, x, &axes, split, C_add)
			: make_exchange(asked(e, c), x, &axes, 1, &parts));
}

/* ---- ppermute */

static bool
want_pair(Elab *e, const Item *pair, int64_t n, int64_t *source, bool *sends)
{
	const Item *x = pair->items;
	if (pair->kind != IT_tuple || pair->n != 2 || x[0].kind != IT_int
		|| x[1].kind != IT_int) {
		complain(e, DIAG_permutation, pair->range,
			"a permutation is "
			"pairs of numbers, ((from, to), ...)");
		return false;
	}
	for (int i = 0; i < 2; i++) {
		if (x[i].integer >= 0 && x[i].integer < n)
			continue;
		complain(e, DIAG_permutation, x[i].range,
			"there is no device "
			"%" PRId64 "; they are 0 to %" PRId64,
			x[i].integer, n - 1);
		return false;
	}
	if (source[x[1].integer] >= 0) {
		complain(e, DIAG_permutation, x[1].range,
			"two devices send to "
			"%" PRId64,
			x[1].integer);
		return false;
	}
	if (sends[x[0].integer]) {
		complain(e, DIAG_permutation, x[0].range, "device %" PRId64 " sends twice",
			x[0].integer);
		return false;
	}
	sends[x[0].integer] = true;
	source[x[1].integer] = x[0].integer;
	return true;
}

/* source[i]: who sends to device i, -1 nobody. */
static bool
want_sources(Elab *e, Call *c, int64_t n, int64_t *source)
{
	const Item *perm = &c->args[3];
	int64_t shift = 1;
	if (perm->kind == IT_absent) {
		if (c->args[2].kind != IT_absent && !want_int(e, c, 2, &shift))
			return false;
		for (int64_t i = 0; i < n; i++)
			source[i] = ((i - shift % n) % n + n) % n;
		return true;
	}
	if (c->args[2].kind != IT_absent || perm->kind != IT_tuple) {
		complain(e, DIAG_permutation, perm->range,
			"ppermute takes "
			"shift=1 or perm=((from, to), ...)");
		return false;
	}
	bool *sends = NEW_ARRAY(e->arena, bool, n);
	bool right = true;
	for (int64_t i = 0; i < n; i++)
		source[i] = -1;
	for (int i = 0; i < perm->n; i++)
		right = right && want_pair(e, &perm->items[i], n, source, sends);
	return right;
}

Item
build_ppermute(Elab *e, Call *c)
{
	Range range = c->expr->range;
	Value *x;
	AxisList axes;
	if (!want_tensor(e, c, 0, &x) || !want_axes(e, c, 1, &axes))
		return item_error(range);
	int64_t n = axes_size(&axes);
	int64_t *source = NEW_ARRAY(e->arena, int64_t, n);
	if (!want_sources(e, c, n, source))
		return item_error(range);
	return item_tensor(range, make_permute(asked(e, c), x, &axes, NULL, source));
}

/* ---- ragged_all_to_all */

enum { RAGGED_TENSORS = 6, RAGGED_TABLES = 2 };

/* x and out: alike, but for the number of rows. */
static bool
want_rows(Elab *e, Call *c, const Type *x, const Type *out)
{
	bool alike = x->dtype == out->dtype && x->rank == out->rank;
	if (x->rank == 0 || out->rank == 0) {
		complain(e, DIAG_shape, c->args[x->rank != 0].range,
			"a scalar "
			"has no rows to send or receive");
		return false;
	}
	for (int d = 1; alike && d < x->rank; d++)
		alike = x->dims[d] == out->dims[d];
	if (!alike)
		complain(e, DIAG_shape, c->args[1].range,
			"rows of %s do not "
			"fit in %s; only dim 0 may differ",
			show_type(e, x), show_type(e, out));
	return alike;
}

/* A number for each device of the group. */
static bool
want_table(Elab *e, Call *c, int i, const Type *table, const AxisList *axes)
{
	const Type *t = &c->args[i].value->type;
	if (type_equal(t, table))
		return true;
	complain(e, DIAG_shape, c->args[i].range,
		"this says something for "
		"each device along %s: %s, not %s",
		show_axes(e, axes), show_type(e, table), show_type(e, t));
	return false;
}

/* Over one device it still copies rows. */
Item
build_ragged_all_to_all(Elab *e, Call *c)
{
	Range range = c->expr->range;
	Value *operands[RAGGED_TENSORS];
	AxisList axes;
	for (int i = 0; i < RAGGED_TENSORS; i++)
		if (!want_tensor(e, c, i, &operands[i]))
			return item_error(range);
	if (!want_axes(e, c, RAGGED_TENSORS, &axes)
		|| !want_rows(e, c, &operands[0]->type, &operands[1]->type))
		return item_error(range);
	int64_t n = axes_size(&axes);
	const Type table = type_of(D_i32, 1, &n);
	for (int i = RAGGED_TABLES; i < RAGGED_TENSORS; i++)
		if (!want_table(e, c, i, &table, &axes))
			return item_error(range);
	Make k = at(e, c->site);
	Op *op = make_begin(k, O_ragged_all_to_all, RAGGED_TENSORS, operands);
	if (op == NULL)
		return item_error(range);
	op->axes = arena_copy(e->arena, &axes, sizeof axes);
	op->requested = true;
	op_set_int(op, A_dim, 0);
	return item_tensor(range, make_end(k, op));
}

/* ---- axis_index */

Item
build_axis_index(Elab *e, Call *c)
{
	Range range = c->expr->range;
	AxisList axes;
	if (!want_axes(e, c, 0, &axes))
		return item_error(range);
	Make k = at(e, c->site);
	if (axes.n == 0)
		return item_tensor(range, make_constant(k, D_i32, 0));
	Value *id = make_convert(k, make_op(k, O_partition_id, 0, NULL), D_i32);
	return item_tensor(range, make_axes_index(k, id, &axes, 1));
}
