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

static Op *
collective_of(Elab *e, Site s, OpKind kind, int n, Value *const *operands, const AxisList *axes)
{
	Op *op = op_begin(e, s, kind, n, operands);
	if (op == NULL)
		return NULL;
	op->axes = arena_copy(e->arena, axes, sizeof *axes);
	op->requested = true;
	return op;
}

static Op *
collective_begin(Elab *e, Site s, OpKind kind, Value *x, const AxisList *axes)
{
	return collective_of(e, s, kind, 1, &x, axes);
}

static Value *
all_reduce(Elab *e, Site s, Combiner combiner, Value *x, const AxisList *axes)
{
	if (axes->n == 0)
		return x;
	Op *op = collective_begin(e, s, O_all_reduce, x, axes);
	if (op != NULL)
		op_set_int(op, A_combiner, combiner);
	return op_end(e, op);
}

/* A collective along a dim. */
static Value *
along_dim(Elab *e, Site s, OpKind kind, Value *x, const AxisList *axes, int dim)
{
	if (axes->n == 0)
		return x;
	Op *op = collective_begin(e, s, kind, x, axes);
	if (op == NULL)
		return NULL;
	op_set_int(op, A_dim, dim);
	if (kind == O_reduce_scatter)
		op_set_int(op, A_combiner, C_add);
	return op_end(e, op);
}

/* The sum of pred is a count. */
static Value *
countable(Elab *e, Site s, Value *x)
{
	return x->type.dtype == D_pred ? emit_convert(e, s, x, D_i32) : x;
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
	return item_tensor(c->expr->range, all_reduce(e, c->site, combiner, x, &axes));
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
		item_tensor(range, all_reduce(e, c->site, C_add, x, &axes)),
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
	return item_tensor(c->expr->range, along_dim(e, c->site, O_all_gather, x, &axes, dim));
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
		along_dim(e, c->site, O_reduce_scatter, countable(e, c->site, x), &axes, dim));
}

/* ---- all_to_all */

/* dims[] with a dim of size n put before dim `at`. */
static void
open_dim(const Type *t, int at, int64_t n, int64_t *dims)
{
	for (int d = 0; d < t->rank; d++)
		dims[d < at ? d : d + 1] = t->dims[d];
	dims[at] = n;
}

/* The transposition of `rank` dims that takes dim `from` to `to`. */
static void
shift_dim(int rank, int from, int to, int64_t *order)
{
	int n = 0;
	for (int d = 0; d < rank; d++) {
		if (d == from)
			continue;
		if (n == to)
			order[n++] = from;
		order[n++] = d;
	}
	if (n == to)
		order[n] = from;
}

/*
 * Part i of dim `split` goes to member i, which puts what it receives after
 * each other along dim `concat`:
 *   [.., n*s, .., c, ..] -> [n, .., s, .., c, ..] -> all-to-all along dim 0
 *     -> [.., s, .., n*c, ..]
 */
static Value *
exchange(Elab *e, Site s, Value *x, const AxisList *axes, int split, int concat)
{
	int rank = x->type.rank + 1;
	int64_t dims[MAX_RANK + 1], order[MAX_RANK + 1];
	int64_t n = axes_size(axes);
	Type part = x->type;
	part.dims[split] /= n;
	open_dim(&part, split, n, dims);
	x = emit_reshape(e, s, x, rank, dims);
	shift_dim(rank, split, 0, order);
	x = emit_transpose(e, s, x, order);
	x = along_dim(e, s, O_all_to_all, x, axes, 0);
	shift_dim(rank, 0, concat, order);
	x = x != NULL ? emit_transpose(e, s, x, order) : NULL;
	part.dims[concat] *= n;
	return emit_reshape(e, s, x, part.rank, part.dims);
}

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
	if (split == concat || axes.n == 0)
		return item_tensor(range, along_dim(e, c->site, O_all_to_all, x, &axes, split));
	return item_tensor(range, exchange(e, c->site, x, &axes, split, concat));
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

static bool
is_identity(int64_t n, const int64_t *source)
{
	for (int64_t i = 0; i < n; i++)
		if (source[i] != i)
			return false;
	return true;
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
	if (is_identity(n, source))
		return item_tensor(range, x);
	Op *op = collective_begin(e, c->site, O_collective_permute, x, &axes);
	if (op != NULL)
		op_set_ints(op, A_source, (int)n, source);
	return item_tensor(range, op_end(e, op));
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
	Op *op =
		collective_of(e, c->site, O_ragged_all_to_all, RAGGED_TENSORS, operands, &axes);
	if (op != NULL)
		op_set_int(op, A_dim, 0);
	return item_tensor(range, op_end(e, op));
}

/* ---- axis_index */

static Value *
emit_i32(Elab *e, Site s, int64_t v)
{
	return emit_constant(e, s, D_i32, v);
}

/* A digit of the device's id; nothing is left above the major one. */
static Value *
emit_digit(Elab *e, Site s, Value *id, AxisRef a)
{
	int64_t stride = axis_ref_stride(&e->m->mesh, a);
	if (stride > 1)
		id = emit2(e, s, O_div, id, emit_i32(e, s, stride));
	if (stride * a.size < e->m->mesh.ndevices)
		id = emit2(e, s, O_rem, id, emit_i32(e, s, a.size));
	return id;
}

Item
build_axis_index(Elab *e, Call *c)
{
	Range range = c->expr->range;
	AxisList axes;
	AxisIndex index = {NULL, 0};
	if (!want_axes(e, c, 0, &axes))
		return item_error(range);
	if (axes.n == 0)
		return item_tensor(range, emit_i32(e, c->site, 0));
	Value *id = emit(e, c->site, O_partition_id, 0, NULL);
	id = emit_convert(e, c->site, id, D_i32);
	for (int i = 0; i < axes.n; i++) {
		Value *digit = emit_digit(e, c->site, id, axes.a[i]);
		if (index.value != NULL)
			digit = emit2(e, c->site, O_add, digit,
				emit2(e, c->site, O_mul, index.value,
					emit_i32(e, c->site, axes.a[i].size)));
		index.value = digit;
		index.along |= 1u << axes.a[i].axis;
	}
	Manual *m = manual_outermost(e->manual);
	if (index.value != NULL)
		APPEND(e->arena, m->indices, m->nindices, index);
	return item_tensor(range, index.value);
}
