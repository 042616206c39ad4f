/*
 * reductions.c - built-in functions that combine along dims.
 */
#include <inttypes.h>
#include <string.h>

#include "builders.h"

/* The operand and the dims of a call f(x, dim, ...). */
typedef struct Along {
	Value *x;
	int n;
	int64_t dims[MAX_RANK];
} Along;

static bool
want_along(Elab *e, Call *c, Along *a)
{
	return want_tensor(e, c, 0, &a->x)
		&& want_dims(e, c, 1, a->x->type.rank, &a->n, a->dims);
}

/* The shape of x with (keep) or without the dims of the call. */
static Value *
shape_reduced(Elab *e, Site s, Value *v, const Type *x, int n, const int64_t *dims, bool keep)
{
	int64_t sizes[MAX_RANK];
	int rank = 0, next = 0;
	for (int d = 0; d < x->rank; d++) {
		bool reduced = next < n && dims[next] == d;
		next += reduced;
		if (!reduced)
			sizes[rank++] = x->dims[d];
		else if (keep)
			sizes[rank++] = 1;
	}
	return make_reshape(at(e, s), v, rank, sizes);
}

static Value *
reduce_along(Elab *e, Site s, Combiner combiner, const Along *a, bool keep)
{
	Value *v = make_reduce(at(e, s), combiner, a->x, a->n, a->dims);
	if (v == NULL)
		return NULL;
	return shape_reduced(e, s, v, &a->x->type, a->n, a->dims, keep);
}

static bool
is_logical(Combiner c)
{
	return c == C_and || c == C_or;
}

/* The combiner for the dtype; of pred, sums count and max is `or`. */
static bool
adapt_dtype(Elab *e, Call *c, Along *a, Combiner *combiner)
{
	bool pred = a->x->type.dtype == D_pred;
	if (is_logical(*combiner) && !pred) {
		complain(e, DIAG_dtype, c->args[0].range,
			"'%s' needs pred, not "
			"%s; compare: x != 0",
			c->builtin->name, dtypes[a->x->type.dtype].name);
		return false;
	}
	if (!pred || is_logical(*combiner))
		return true;
	if (*combiner == C_max || *combiner == C_min)
		*combiner = *combiner == C_max ? C_or : C_and;
	else
		a->x = make_convert(at(e, c->site), a->x, D_i32);
	return a->x != NULL;
}

Item
build_reduce(Elab *e, Call *c)
{
	Along a;
	bool keep;
	Combiner combiner = (Combiner)c->builtin->detail;
	if (!want_along(e, c, &a) || !want_bool(e, c, 2, &keep)
		|| !adapt_dtype(e, c, &a, &combiner))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, reduce_along(e, c->site, combiner, &a, keep));
}

static bool
want_floats(Elab *e, Call *c, const Value *x)
{
	if (dtype_is_float(x->type.dtype))
		return true;
	complain(e, DIAG_dtype, c->args[0].range,
		"'%s' needs floats, not %s; "
		"convert: f32(...)",
		c->builtin->name, dtypes[x->type.dtype].name);
	return false;
}

/* Whether a half float holds the integer exactly. */
static bool
is_exact(DType dtype, int64_t n)
{
	int64_t most = dtype == D_bf16 ? 256 : dtype == D_f16 ? 2048 : INT64_MAX;
	return n <= most;
}

/* The quotient of half floats is taken in f32 when n would be rounded. */
static Value *
divide_by_count(Elab *e, Site s, Value *total, int64_t n)
{
	if (total == NULL || n == 1)
		return total;
	DType dtype = total->type.dtype;
	DType wide = is_exact(dtype, n) ? dtype : D_f32;
	Item count = item_int(s.range, n);
	total = make_convert(at(e, s), total, wide);
	if (total == NULL)
		return NULL;
	Value *divisor =
		make_broadcast_to(at(e, s), item_constant(e, s, wide, &count), &total->type);
	return make_convert(at(e, s), make_binary(at(e, s), O_div, total, divisor), dtype);
}

Item
build_mean(Elab *e, Call *c)
{
	Along a;
	bool keep;
	int64_t n = 1;
	if (!want_along(e, c, &a) || !want_bool(e, c, 2, &keep) || !want_floats(e, c, a.x))
		return item_error(c->expr->range);
	for (int i = 0; i < a.n; i++)
		n *= a.x->type.dims[a.dims[i]];
	Value *total = reduce_along(e, c->site, C_add, &a, keep);
	return item_tensor(c->expr->range, divide_by_count(e, c->site, total, n));
}

/* ---- functions of the prelude */

static Item
dims_item(Elab *e, const Along *a, Range r)
{
	Item *items = NEW_ARRAY(e->arena, Item, a->n);
	for (int i = 0; i < a->n; i++)
		items[i] = item_int(r, a->dims[i]);
	return item_tuple(e, r, a->n, items);
}

/* var, logsumexp: x, dims, keep; `var` is a reserved word in the prelude too */
Item
build_spread(Elab *e, Call *c)
{
	Along a;
	bool keep;
	if (!want_along(e, c, &a) || !want_bool(e, c, 2, &keep) || !want_floats(e, c, a.x))
		return item_error(c->expr->range);
	Item args[] = {c->args[0], dims_item(e, &a, c->expr->range),
		item_bool(c->expr->range, keep)};
	const char *name = strcmp(c->builtin->name, "var") == 0 ? "variance" : c->builtin->name;
	return call_prelude(e, c->site, name, true, 3, args);
}

static bool
want_float_dims(Elab *e, Call *c, Item *dims)
{
	Along a;
	if (!want_along(e, c, &a) || !want_floats(e, c, a.x))
		return false;
	*dims = a.n == 1 ? item_int(c->args[1].range, a.dims[0])
			 : dims_item(e, &a, c->args[1].range);
	return true;
}

/* softmax, log_softmax: x, dims */
Item
build_along(Elab *e, Call *c)
{
	Item args[2] = {c->args[0]};
	if (!want_float_dims(e, c, &args[1]))
		return item_error(c->expr->range);
	return call_prelude(e, c->site, c->builtin->name, true, 2, args);
}

/* rms_norm, layer_norm: x, dims, eps */
Item
build_norm(Elab *e, Call *c)
{
	Item args[3] = {c->args[0]};
	if (!want_float_dims(e, c, &args[1]) || !want_number(e, c, 2, &args[2]))
		return item_error(c->expr->range);
	return call_prelude(e, c->site, c->builtin->name, true, 3, args);
}

/* x and one dim of it; when that is left out, all of x in a line. */
static bool
want_flat_or_dim(Elab *e, Call *c, Value **x, int *d)
{
	if (!want_tensor(e, c, 0, x))
		return false;
	if (c->args[1].kind == IT_absent) {
		int64_t n = type_elements(&(*x)->type);
		*x = make_reshape(at(e, c->site), *x, 1, &n);
		c->args[0] = item_tensor(c->args[0].range, *x);
		c->args[1] = item_int(c->args[0].range, 0);
	}
	return *x != NULL && want_dim(e, c, 1, (*x)->type.rank, d);
}

/* argmax, argmin: x, one dim; over all of x it is that of the flat tensor */
Item
build_argument(Elab *e, Call *c)
{
	Value *x;
	int d;
	if (!want_flat_or_dim(e, c, &x, &d))
		return item_error(c->expr->range);
	if (x->type.dims[d] > INT32_MAX) {
		complain(e, DIAG_size, c->args[0].range,
			"dim %d has %" PRId64 " elements; '%s' gives i32", d, x->type.dims[d],
			c->builtin->name);
		return item_error(c->expr->range);
	}
	Item args[] = {c->args[0], item_int(c->args[1].range, d)};
	return call_prelude(e, c->site, c->builtin->name, true, 2, args);
}

Item
build_cumsum(Elab *e, Call *c)
{
	Value *x;
	int d;
	if (!want_flat_or_dim(e, c, &x, &d))
		return item_error(c->expr->range);
	if (x->type.dtype == D_pred)
		x = make_convert(at(e, c->site), x, D_i32);
	if (x == NULL)
		return item_error(c->expr->range);
	Value *operands[] = {x, make_identity(at(e, c->site), C_add, x->type.dtype)};
	Op *op = make_begin(at(e, c->site), O_cumsum, 2, operands);
	if (op != NULL)
		op_set_int(op, A_dim, d);
	return item_tensor(c->expr->range, make_end(at(e, c->site), op));
}

/* ---- for the prelude */

Item
build_dropped(Elab *e, Call *c)
{
	Along a;
	bool keep;
	if (!want_along(e, c, &a) || !want_bool(e, c, 2, &keep))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range,
		shape_reduced(e, c->site, a.x, &a.x->type, a.n, a.dims, keep));
}

Item
build_positions(Elab *e, Call *c)
{
	Value *x;
	int d;
	if (!want_tensor(e, c, 0, &x) || !want_dim(e, c, 1, x->type.rank, &d))
		return item_error(c->expr->range);
	Type type = x->type;
	type.dtype = D_i32;
	return item_tensor(c->expr->range, make_iota(at(e, c->site), &type, d));
}
