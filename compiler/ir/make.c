/*
 * make.c - building ops: operands and attributes; types are the op table's.
 */
#include <string.h>
#include "ir/make.h"

/* ---- any op --------------------------------------------------------- */

Make
make_before(Op *op)
{
	return (Make){.module = op->module,
		.before = op,
		.range = op->range,
		.label = op->label,
		.mode = op->mode,
		.form = op->form,
		.again = op->again,
		.of = op->of};
}

Make
named(Make k, const char *name)
{
	k.name = name;
	return k;
}

/* Unless the caller has given it a name. */
static Make
called(Make k, const char *name)
{
	return k.name ? k : named(k, name);
}

Op *
make_begin(Make k, OpKind kind, int n, Value *const *operands)
{
	for (int i = 0; i < n; i++)
		if (!operands[i])
			return NULL;
	Op *op = op_new(k.module, kind, n, operands, 1, k.name, k.range, k.label);
	op->mode = k.mode;
	op->form = k.form;
	op->again = k.again;
	op->of = k.of;
	op->results[0]->no_placement = k.helper;
	return k.enter && !k.enter(k.owner, op) ? NULL : op;
}

void
make_place(Make k, Op *op)
{
	if (k.before)
		op_insert_before(k.before, op);
	else
		op_append(k.block, op);
}

Value *
make_end(Make k, Op *op)
{
	if (!op)
		return NULL;
	if (!k.refuse) {
		op_infer(op);
	} else {
		const char *wrong = op_try_infer(op);
		if (wrong) {
			k.refuse(k.owner, DIAG_operation, op->range, wrong);
			return NULL;
		}
	}
	make_place(k, op);
	if (k.made)
		k.made(k.owner, op);
	return op->results[0];
}

Value *
make_placed(Make k, Value *v, const Value *result)
{
	if (result->no_placement)
		return v;
	if (!v->no_placement && !placement_equal(&v->placement, &result->placement)) {
		Op *copy = make_begin(named(k, result->name), O_reshape, 1, &v);
		copy->results[0]->type = v->type;
		v = make_end(k, copy);
	}
	v->placement = result->placement;
	v->unpadded = result->unpadded;
	v->no_placement = false;
	return v;
}

Op *
make_return(Block *b, int n, Value *const *values, Range range, const char *label)
{
	Op *op = op_new(b->module, O_return, n, values, 0, NULL, range, label);

	op_append(b, op);
	return op;
}

/* Of an op that may be missing. */
static void
set(Op *op, AttrKind attr, int n, const int64_t *v)
{
	if (op)
		op_set_ints(op, attr, n, v);
}

static void
set_one(Op *op, AttrKind attr, int64_t v)
{
	set(op, attr, 1, &v);
}

/* An op that has the type it is given. */
static Op *
begin_typed(Make k, OpKind kind, Value *x, Type type)
{
	Op *op = make_begin(k, kind, x ? 1 : 0, &x);

	if (op)
		op->results[0]->type = type;
	return op;
}

/* ---- ops without attributes ----------------------------------------- */

Value *
make_op(Make k, OpKind kind, int n, Value *const *operands)
{
	return make_end(k, make_begin(k, kind, n, operands));
}

Value *
make_unary(Make k, OpKind kind, Value *x)
{
	return make_op(k, kind, 1, &x);
}

Value *
make_binary(Make k, OpKind kind, Value *a, Value *b)
{
	return make_op(k, kind, 2, (Value *[]){a, b});
}

Value *
make_select(Make k, Value *where, Value *a, Value *b)
{
	return make_op(k, O_select, 3, (Value *[]){where, a, b});
}

Value *
make_clamp(Make k, Value *low, Value *x, Value *high)
{
	return make_op(k, O_clamp, 3, (Value *[]){low, x, high});
}

/* ---- pointwise, with a type or an attribute -------------------------- */

Value *
make_compare(Make k, Direction d, Value *a, Value *b)
{
	Op *op = make_begin(k, O_compare, 2, (Value *[]){a, b});

	set_one(op, A_direction, d);
	return make_end(k, op);
}

static Value *
make_as(Make k, OpKind kind, Value *x, DType dtype)
{
	if (!x || x->type.dtype == dtype)
		return x;
	Type type = x->type;
	type.dtype = dtype;
	return make_end(k, begin_typed(k, kind, x, type));
}

Value *
make_convert(Make k, Value *x, DType dtype)
{
	return make_as(k, O_convert, x, dtype);
}

Value *
make_same(Make k, Value *x)
{
	return make_end(k, begin_typed(k, O_convert, x, x->type));
}

Value *
make_whole(Make k, Value *x, int dim)
{
	x = make_same(k, x);
	if (x)
		op_set_int(x->def, A_whole, dim);
	return x;
}

bool
op_changes_nothing(const Op *op)
{
	return op->kind == O_convert
		&& type_equal(&op->operands[0]->type, &op->results[0]->type);
}

Value *
make_bitcast(Make k, Value *x, DType dtype)
{
	return make_as(k, O_bitcast, x, dtype);
}

Value *
make_array(Make k, const Type *type, const int64_t *payloads)
{
	Op *op = begin_typed(k, O_constant, NULL, *type);

	set(op, A_value, (int)type_elements(type), payloads);
	return make_end(k, op);
}

Value *
make_constant(Make k, DType dtype, int64_t payload)
{
	Type type = type_of(dtype, 0, NULL);

	return make_array(k, &type, &payload);
}

Value *
make_index(Make k, int64_t n)
{
	return make_constant(k, n == (int32_t)n ? D_i32 : D_i64, n);
}

Value *
make_neutral(Make k, Combiner c, DType dtype)
{
	return make_constant(k, dtype, combiner_neutral(c, dtype));
}

Value *
make_identity(Make k, Combiner c, DType dtype)
{
	return make_constant(k, dtype, combiner_identity(c, dtype));
}

Value *
make_iota(Make k, const Type *type, int dim)
{
	Op *op = begin_typed(k, O_iota, NULL, *type);

	set_one(op, A_iota_dim, dim);
	return make_end(k, op);
}

/* ---- shapes --------------------------------------------------------- */

Value *
make_reshape(Make k, Value *x, int rank, const int64_t *dims)
{
	if (!x)
		return NULL;
	Type type = type_of(x->type.dtype, rank, dims);
	if (type_equal(&type, &x->type))
		return x;
	if (k.joins && x->def && x->def->kind == O_reshape && x->range.file == 0)
		x = x->def->operands[0];
	if (type_equal(&type, &x->type))
		return x;
	return make_end(k, begin_typed(k, O_reshape, x, type));
}

Value *
make_transpose(Make k, Value *x, const int64_t *permutation)
{
	bool identity = true;

	if (!x)
		return NULL;
	for (int d = 0; d < x->type.rank; d++)
		identity &= permutation[d] == d;
	if (identity)
		return x;
	Op *op = make_begin(k, O_transpose, 1, &x);
	set(op, A_dims, x->type.rank, permutation);
	return make_end(k, op);
}

Value *
make_broadcast(Make k, Value *x, const Type *shape, const int64_t *to)
{
	if (!x)
		return NULL;
	Type type = *shape;
	type.dtype = x->type.dtype;
	if (type_equal(&x->type, &type))
		return x;
	Op *op = begin_typed(k, O_broadcast, x, type);
	set(op, A_dims, x->type.rank, to);
	return make_end(k, op);
}

Value *
make_spread(Make k, Value *x, int first, const Type *shape)
{
	int64_t to[MAX_RANK];

	for (int d = 0; d < MAX_RANK; d++)
		to[d] = first + d;
	return make_broadcast(called(k, "spread"), x, shape, to);
}

Value *
make_splat(Make k, Value *scalar, const Type *shape)
{
	return make_broadcast(called(k, "splat"), scalar, shape, NULL);
}

Value *
make_full(Make k, const Type *type, int64_t payload)
{
	return make_splat(k, make_constant(k, type->dtype, payload), type);
}

Value *
make_each(Make k, const Type *type, int n, const int64_t *payloads)
{
	Type line = type_of(type->dtype, 1, (int64_t[]){n});

	return n == 1 ? make_full(k, type, payloads[0])
		      : make_spread(k, make_array(k, &line, payloads), type->rank - 1, type);
}

Value *
make_number(Make k, const Type *type, double number)
{
	bool real = dtype_is_float(type->dtype);

	return make_full(k, type, real ? double_payload(number) : (int64_t)number);
}

/* Dims of size 1 that become larger are dropped first. */
Value *
make_broadcast_to(Make k, Value *x, const Type *shape)
{
	int64_t kept[MAX_RANK], to[MAX_RANK];
	int n = 0;

	if (!x)
		return NULL;
	int shift = shape->rank - x->type.rank;
	for (int d = 0; d < x->type.rank; d++)
		if (x->type.dims[d] == shape->dims[d + shift]) {
			to[n] = d + shift;
			kept[n++] = x->type.dims[d];
		}
	if (n < x->type.rank)
		x = make_reshape(k, x, n, kept);
	return make_broadcast(k, x, shape, to);
}

/* ---- parts ---------------------------------------------------------- */

Value *
make_slice(Make k, Value *x, const int64_t *start, const int64_t *limit, const int64_t *stride)
{
	bool whole = true;

	if (!x)
		return NULL;
	int rank = x->type.rank;
	for (int d = 0; d < rank; d++)
		whole &= start[d] == 0 && limit[d] == x->type.dims[d] && stride[d] == 1;
	if (whole)
		return x;
	Op *op = make_begin(k, O_slice, 1, &x);
	set(op, A_start, rank, start);
	set(op, A_limit, rank, limit);
	set(op, A_stride, rank, stride);
	return make_end(k, op);
}

Value *
make_slice_dim(Make k, Value *x, int dim, int64_t from, int64_t to, int64_t stride)
{
	int64_t start[MAX_RANK] = {0}, limit[MAX_RANK], strides[MAX_RANK];

	if (!x)
		return NULL;
	for (int d = 0; d < x->type.rank; d++) {
		limit[d] = x->type.dims[d];
		strides[d] = 1;
	}
	start[dim] = from;
	limit[dim] = to;
	strides[dim] = stride;
	return make_slice(k, x, start, limit, strides);
}

/* x, of which dims that are only cut are, but those with something between; these are 0 in
   `before` and `behind` then. */
static Value *
cut_dims(Make k, Value *x, const int64_t *low, const int64_t *high, const int64_t *inner,
	int64_t *before, int64_t *behind)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		bool cut = low[d] <= 0 && high[d] <= 0 && !inner[d];
		start[d] = cut ? -low[d] : 0;
		limit[d] = x->type.dims[d] + (cut ? high[d] : 0);
		stride[d] = 1;
		before[d] = cut ? 0 : low[d];
		behind[d] = cut ? 0 : high[d];
	}
	return make_slice(k, x, start, limit, stride);
}

Value *
make_pad_between(Make k, Value *x, Value *padding, const int64_t *low, const int64_t *high,
	const int64_t *inner)
{
	int64_t before[MAX_RANK], behind[MAX_RANK], between[MAX_RANK];
	bool any = false, spreads = false;

	for (int d = 0; x && d < x->type.rank; d++) {
		between[d] = x->type.dims[d] > 1 ? inner[d] : 0;
		spreads |= between[d] != 0;
	}
	if (x)
		x = cut_dims(k, x, low, high, between, before, behind);
	if (!x)
		return NULL;
	for (int d = 0; d < x->type.rank; d++)
		any |= before[d] || behind[d];
	if (!any && !spreads)
		return x;
	if (!padding)
		padding = make_constant(named(k, NULL), x->type.dtype, 0);
	Op *op = make_begin(k, O_pad, 2, (Value *[]){x, padding});
	set(op, A_low, x->type.rank, before);
	set(op, A_high, x->type.rank, behind);
	if (spreads)
		set(op, A_inner, x->type.rank, between);
	return make_end(k, op);
}

Value *
make_pad_late(Make k, Value *x, Value *padding, const int64_t *low, const int64_t *high,
	const int64_t *inner)
{
	Value *padded = make_pad_between(k, x, padding, low, high, inner);

	if (padded && padded != x && padded->def->kind == O_pad)
		op_set_int(padded->def, A_late, 1);
	return padded;
}

Value *
make_pad(Make k, Value *x, Value *padding, const int64_t *low, const int64_t *high)
{
	static const int64_t none[MAX_RANK] = {0};

	return make_pad_between(k, x, padding, low, high, none);
}

Value *
make_pad_dim(Make k, Value *x, int dim, int64_t low, int64_t high)
{
	int64_t lows[MAX_RANK] = {0}, highs[MAX_RANK] = {0};

	lows[dim] = low;
	highs[dim] = high;
	return make_pad(k, x, NULL, lows, highs);
}

Value *
make_reverse(Make k, Value *x, int n, const int64_t *dims)
{
	if (!n)
		return x;
	Op *op = make_begin(k, O_reverse, 1, &x);
	set(op, A_dims, n, dims);
	return make_end(k, op);
}

Value *
make_roll(Make k, Value *x, int dim, int64_t shift)
{
	if (!shift)
		return x;
	Op *op = make_begin(k, O_roll, 1, &x);
	set_one(op, A_along, dim);
	set_one(op, A_shift, shift);
	return make_end(k, op);
}

static void
set_windows(Op *op, const Windows *windows)
{
	set(op, A_windowed, windows->n, windows->dim);
	set(op, A_window, windows->n, windows->size);
	set(op, A_step, windows->n, windows->step);
	set(op, A_apart, windows->n, windows->apart);
}

Value *
make_windows(Make k, Value *x, const Windows *windows)
{
	Op *op = make_begin(k, O_windows, 1, &x);

	set_windows(op, windows);
	return make_end(k, op);
}

Value *
make_frames(Make k, Value *x, Value *padding, const Windows *windows, const int64_t *before,
	const int64_t *behind)
{
	Op *op = make_begin(k, O_frames, 2, (Value *[]){x, padding});

	set_windows(op, windows);
	set(op, A_before, windows->n, before);
	set(op, A_behind, windows->n, behind);
	return make_end(k, op);
}

Value *
make_concatenate(Make k, int n, Value *const *x, int dim)
{
	if (n == 1)
		return x[0];
	Op *op = make_begin(k, O_concatenate, n, x);
	set_one(op, A_dim, dim);
	return make_end(k, op);
}

/* Starts of one dtype, i32 but where one does not fit there, go behind the `n`
   operands.  A dim of which the part is all begins at 0, whatever is asked for.
   How many operands there are then. */
static int
add_starts(Make k, const Type *type, const int64_t *part, Value *const *start, int n,
	Value **operands)
{
	bool given[MAX_RANK];
	DType dtype = D_i32;

	for (int d = 0; d < type->rank; d++) {
		given[d] = start[d] && (part[d] != type->dims[d] || value_is_literal(start[d]));
		if (given[d]
			&& (start[d]->type.dtype == D_i64 || start[d]->type.dtype == D_u32))
			dtype = D_i64;
	}
	k.name = NULL;
	for (int d = 0; d < type->rank; d++)
		operands[n++] = given[d] ? make_convert(k, start[d], dtype)
					 : make_constant(k, dtype, 0);
	return n;
}

Value *
make_dynamic_slice(Make k, Value *x, Value *const *start, const int64_t *size)
{
	Value *operands[MAX_RANK + 1] = {x};

	if (!x)
		return NULL;
	int n = add_starts(k, &x->type, size, start, 1, operands);
	Op *op = make_begin(k, O_dynamic_slice, n, operands);
	set(op, A_sizes, x->type.rank, size);
	return make_end(k, op);
}

Value *
make_dynamic_update_slice(Make k, Value *x, Value *update, Value *const *start)
{
	Value *operands[MAX_RANK + 2] = {x, update};

	if (!x || !update)
		return NULL;
	int n = add_starts(k, &x->type, update->type.dims, start, 2, operands);
	return make_op(k, O_dynamic_update_slice, n, operands);
}

Value *
make_take(Make k, Value *x, Value *index, int dim)
{
	return make_lookup(k, x, index, dim, 1);
}

/* Of a take or a scatter_add, which may be NULL. */
static Value *
end_lookup(Make k, Op *op, const Lookup *look)
{
	int64_t dims[MAX_RANK] = {0}, counted[MAX_RANK] = {0};
	int n = 0;

	for (int i = 0; i < look->n; i++) {
		dims[i] = look->first + i;
		n += look->counts[i] >= 0;
	}
	for (int i = 0; i < look->n; i++)
		if (look->counts[i] >= 0)
			counted[look->counts[i]] = dims[i];
	set(op, A_dim, look->n, dims);
	if (n)
		set(op, A_counted, n, counted);
	return make_end(k, op);
}

/* None of them counts. */
static Lookup
plain_lookup(int first, int n)
{
	Lookup look = {.first = first, .n = n};

	for (int i = 0; i < n; i++)
		look.counts[i] = -1;
	return look;
}

Value *
make_lookup_as(Make k, Value *x, Value *index, const Lookup *look)
{
	return end_lookup(k, make_begin(k, O_take, 2, (Value *[]){x, index}), look);
}

Value *
make_lookup(Make k, Value *x, Value *index, int first, int n)
{
	Lookup look = plain_lookup(first, n);

	return make_lookup_as(k, x, index, &look);
}

Value *
make_scatter_add_as(Make k, Value *x, Value *index, Value *update, const Lookup *look)
{
	Value *operands[] = {x, index, update};

	return end_lookup(k, make_begin(k, O_scatter_add, 3, operands), look);
}

Value *
make_scatter_add(Make k, Value *x, Value *index, Value *update, int first, int n)
{
	Lookup look = plain_lookup(first, n);

	return make_scatter_add_as(k, x, index, update, &look);
}

/* ---- sums ----------------------------------------------------------- */

Value *
make_reduce(Make k, Combiner c, Value *x, int n, const int64_t *dims)
{
	if (!x || !n)
		return x;
	Value *identity = make_identity(named(k, NULL), c, x->type.dtype);
	Op *op = make_begin(k, O_reduce, 2, (Value *[]){x, identity});
	set(op, A_dims, n, dims);
	set_one(op, A_combiner, c);
	return make_end(k, op);
}

Value *
make_combine(Make k, Combiner c, Value *a, Value *b)
{
	static const OpKind kinds[] = {[C_add] = O_add,
		[C_max] = O_maximum,
		[C_min] = O_minimum,
		[C_mul] = O_mul,
		[C_and] = O_and,
		[C_or] = O_or};

	return make_binary(k, kinds[c], a, b);
}

Value *
make_cumsum(Make k, Combiner c, Value *x, int dim)
{
	if (!x)
		return NULL;
	Value *operands[] = {x, make_identity(named(k, NULL), c, x->type.dtype)};
	Op *op = make_begin(k, O_cumsum, 2, operands);
	set_one(op, A_dim, dim);
	set_one(op, A_combiner, c);
	return make_end(k, op);
}

Value *
make_dot(Make k, Value *a, Value *b, const DotDims *dims, DType dtype)
{
	Op *op = make_begin(k, O_dot, 2, (Value *[]){a, b});

	set(op, A_lhs_batch, dims->nbatch, dims->lhs_batch);
	set(op, A_rhs_batch, dims->nbatch, dims->rhs_batch);
	set(op, A_lhs_contract, dims->ncontract, dims->lhs_contract);
	set(op, A_rhs_contract, dims->ncontract, dims->rhs_contract);
	if (op)
		op->results[0]->type.dtype = dtype;
	return make_end(k, op);
}

Value *
make_grouped_dot(Make k, Value *x, Value *matrices, Value *group, DType dtype)
{
	Op *op = make_begin(k, O_grouped_dot, 3, (Value *[]){x, matrices, group});

	if (op) {
		set_one(op, A_of_groups,
			group->type.rank ? matrices->type.dims[group->type.rank - 1] : 1);
		op->results[0]->type.dtype = dtype;
	}
	return make_end(k, op);
}

Value *
make_grouped_outer(Make k, Value *x, Value *y, Value *group, int64_t n, DType dtype)
{
	Op *op = make_begin(k, O_grouped_outer, 3, (Value *[]){x, y, group});

	set_one(op, A_groups, n);
	set_one(op, A_of_groups, n);
	if (op)
		op->results[0]->type.dtype = dtype;
	return make_end(k, op);
}

/* ---- devices -------------------------------------------------------- */

static Op *
begin_collective(Make k, OpKind kind, Value *const *operands, const AxisList *axes)
{
	Op *op = make_begin(k, kind, ops[kind].operands, operands);

	if (op) {
		op->axes = arena_copy(k.module->arena, axes, sizeof *axes);
		op->requested = k.requested;
	}
	return op;
}

Value *
make_collective(Make k, OpKind kind, Value *x, const AxisList *axes, int dim, Combiner combiner)
{
	if (!axes->n)
		return x;
	Op *op = begin_collective(k, kind, &x, axes);
	if (ops[kind].attrs & AT(dim))
		set_one(op, A_dim, dim);
	if (ops[kind].attrs & AT(combiner))
		set_one(op, A_combiner, combiner);
	return make_end(k, op);
}

Value *
make_uniform(Make k, Value *x, const AxisList *axes)
{
	return axes->n ? make_end(k, begin_collective(k, O_uniform, &x, axes)) : x;
}

Value *
make_permute(Make k, Value *x, const AxisList *axes, const AxisList *from,
	const int64_t *source)
{
	int64_t n = axes_size(axes), stays = 0;

	while (source && stays < n && source[stays] == stays)
		stays++;
	if (stays == n)
		return x;
	Op *op = begin_collective(k, O_collective_permute, &x, axes);
	if (op && from)
		op->from = arena_copy(k.module->arena, from, sizeof *from);
	if (source)
		set(op, A_source, (int)n, source);
	return make_end(k, op);
}

Value *
make_ragged(Make k, const AxisList *axes, Value *const *operands)
{
	Op *op = begin_collective(k, O_ragged_all_to_all, operands, axes);

	set_one(op, A_dim, 0);
	return make_end(k, op);
}

/* Dims of a tensor with, for each exchange, an extra dim of its size before
   the dim that `side` names.  order[i]: the extra dims first, in exchange
   order, then the others. */
typedef struct Opened {
	int rank;
	int64_t dims[2 * MAX_RANK], order[2 * MAX_RANK];
} Opened;

static Opened
open_dims(const Type *type, int n, const Exchange *exchanges, bool to_side)
{
	Opened o = {.rank = 0};

	for (int d = 0; d < type->rank; d++) {
		for (int i = 0; i < n; i++) {
			const Exchange *x = &exchanges[i];
			if ((to_side ? x->to_dim : x->from_dim) != d)
				continue;
			o.order[i] = o.rank;
			o.dims[o.rank++] = axes_size(&x->axes);
		}
		o.order[n + d] = o.rank;
		o.dims[o.rank++] = type->dims[d];
	}
	return o;
}

/*
 * Block i of a target dim goes to member i, which puts what it receives after
 * each other along the source dim:
 *   [.., n*t, ..] -> [n, rest] -> all-to-all along n -> [.., n*s, ..]
 */
Value *
make_exchange(Make k, Value *x, const AxisList *axes, int n, const Exchange *exchanges)
{
	int64_t flat[MAX_RANK + 1] = {axes_size(axes)}, front[2 * MAX_RANK];
	int64_t inverse[2 * MAX_RANK];

	if (!x || !axes->n)
		return x;
	Type part = x->type; /* with the target dims cut */
	int rank = part.rank;
	for (int i = 0; i < n; i++)
		part.dims[exchanges[i].to_dim] /= axes_size(&exchanges[i].axes);
	Opened cut = open_dims(&part, n, exchanges, true);
	Opened joined = open_dims(&part, n, exchanges, false);
	memcpy(flat + 1, part.dims, (size_t)rank * sizeof flat[0]);
	for (int i = 0; i < rank + n; i++) {
		front[i] = cut.dims[cut.order[i]];
		inverse[joined.order[i]] = i;
	}
	for (int i = 0; i < n; i++)
		part.dims[exchanges[i].from_dim] *= axes_size(&exchanges[i].axes);

	x = make_reshape(named(k, NULL), x, rank + n, cut.dims);
	x = make_transpose(named(k, NULL), x, cut.order);
	x = make_reshape(named(k, NULL), x, rank + 1, flat);
	x = make_collective(k, O_all_to_all, x, axes, 0, C_add);
	x = make_reshape(named(k, NULL), x, rank + n, front);
	x = make_transpose(named(k, NULL), x, inverse);
	return make_reshape(named(k, NULL), x, rank, part.dims);
}

/* v op n; what changes nothing is v. */
static Value *
by(Make k, OpKind kind, Value *v, int64_t n)
{
	return make_binary(k, kind, v,
		v ? make_constant(named(k, NULL), v->type.dtype, n) : NULL);
}

/*
 * The sum of the digits of the id, each times the sizes of the axes after it:
 *   mesh X=2, Y=4, Z=3, axes Z, X      id = x * 12 + y * 3 + z
 *     id / 12 + (id % 3) * 2           nothing is left above X, the major one
 */
Value *
make_axes_index(Make k, Value *id, const AxisList *axes, int64_t scale)
{
	const Mesh *mesh = &k.module->mesh;
	Value *sum = NULL;

	for (int i = axes->n - 1; i >= 0; i--) {
		int64_t size = axes->a[i].size, stride = axis_ref_stride(mesh, axes->a[i]);
		Value *v = id;
		if (stride > 1)
			v = by(named(k, "row"), O_div, v, stride);
		if (stride * size < mesh->ndevices)
			v = by(named(k, "digit"), O_rem, v, size);
		if (scale > 1)
			v = by(named(k, "scaled"), O_mul, v, scale);
		sum = sum ? make_binary(named(k, "offset"), O_add, v, sum) : v;
		scale *= size;
	}
	return sum;
}
