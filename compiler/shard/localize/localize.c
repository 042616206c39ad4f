/*
 * localize.c - from tensors to shards.
 *
 * example     h: f32[8@X, 4] reshard -> f32[8, 4]     on X=2
 *             h: f32[4, 4]   all-gather over X, dim 0 -> f32[8, 4]
 * requires    L_resharded
 * leaves      L_device: types are those of one device; reshards are
 *             collectives and slices; offsets come from partition-id
 *
 * Whatever depends on where a device is gets global offsets first: the iota of
 * a shard starts at its own index, a lookup in a split table is masked where
 * the row lies elsewhere.
 */
#include <string.h>
#include "shard/reshard/halo.h"
#include "shard/localize/localize.h"

/* ---- building ------------------------------------------------------------------- */

Op *
local_op(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name)
{
	Op *op = op_new(l->module, kind, n, operands, 1, name, l->reason->range,
		l->reason->label);

	op->results[0]->no_placement = true;
	op_insert_before(l->at, op);
	return op;
}

Value *
local_inferred(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name)
{
	Op *op = local_op(l, kind, n, operands, name);

	op_infer(op);
	return op->results[0];
}

Value *
local_typed(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name,
	Type type)
{
	Op *op = local_op(l, kind, n, operands, name);

	op->results[0]->type = type;
	op->results[0]->placement = placement_none(type.rank);
	return op->results[0];
}

Value *
local_constant(Localizer *l, DType dtype, int64_t payload)
{
	Type type = type_of(dtype, 0, NULL);
	Value *v = local_typed(l, O_constant, 0, NULL, "constant", type);

	op_set_int(v->def, A_value, payload);
	return v;
}

Value *
local_binary(Localizer *l, OpKind kind, Value *a, Value *b, const char *name)
{
	return local_inferred(l, kind, 2, (Value *[]){a, b}, name);
}

Value *
local_convert(Localizer *l, Value *v, DType dtype)
{
	Type type = v->type;

	if (type.dtype == dtype)
		return v;
	type.dtype = dtype;
	return local_typed(l, O_convert, 1, &v, "convert", type);
}

Value *
local_splat(Localizer *l, Value *scalar, const Type *shape)
{
	Type type = *shape;

	type.dtype = scalar->type.dtype;
	Value *v = local_typed(l, O_broadcast, 1, &scalar, "splat", type);
	op_set_ints(v->def, A_dims, 0, NULL);
	return v;
}

Value *
local_spread(Localizer *l, Value *v, int first, const Type *shape)
{
	Type type = *shape;
	int64_t dims[MAX_RANK];

	type.dtype = v->type.dtype;
	for (int i = 0; i < v->type.rank; i++)
		dims[i] = first + i;
	Value *wide = local_typed(l, O_broadcast, 1, &v, "spread", type);
	op_set_ints(wide->def, A_dims, v->type.rank, dims);
	return wide;
}

Value *
local_compare(Localizer *l, Direction direction, Value *a, Value *b)
{
	Op *op = local_op(l, O_compare, 2, (Value *[]){a, b}, "compare");

	op_set_int(op, A_direction, direction);
	op_infer(op);
	return op->results[0];
}

/* ---- where this device is --------------------------------------------------------- */

/* One digit of the device's id, times `scale`. */
static Value *
emit_digit(Localizer *l, Value *id, AxisRef a, int64_t scale)
{
	int64_t stride = axis_ref_stride(&l->module->mesh, a);
	bool major = stride * a.size == l->module->mesh.ndevices;
	Value *v = id;

	if (stride > 1)
		v = local_binary(l, O_div, v, local_constant(l, l->index, stride), "row");
	if (!major)
		v = local_binary(l, O_rem, v, local_constant(l, l->index, a.size), "digit");
	if (scale > 1)
		v = local_binary(l, O_mul, v, local_constant(l, l->index, scale), "scaled");
	return v;
}

static Value *
cached(Localizer *l, const char *key, Value *v)
{
	table_set(l->offsets, arena_printf(l->arena, "%s", key), v);
	return v;
}

static Value *
device_id(Localizer *l)
{
	Value *v = table_get(l->offsets, "");

	if (v)
		return v;
	v = local_typed(l, O_partition_id, 0, NULL, "partition", type_of(D_u32, 0, NULL));
	return cached(l, "", local_convert(l, v, l->index));
}

/* axes_index() of this device, times `scale`. */
Value *
device_offset(Localizer *l, const AxisList *axes, int64_t scale)
{
	Text key = {0};
	Value *sum;

	text_axes(&key, &l->module->mesh, axes);
	text_printf(&key, "*%lld", (long long)scale);
	sum = table_get(l->offsets, key.s);
	if (!sum) {
		for (int i = axes->n - 1; i >= 0; i--) {
			Value *digit = emit_digit(l, device_id(l), axes->a[i], scale);
			sum = sum ? local_binary(l, O_add, digit, sum, "offset") : digit;
			scale *= axes->a[i].size;
		}
		cached(l, key.s, sum);
	}
	text_free(&key);
	return sum;
}

Value *
zero_offset(Localizer *l)
{
	Value *v = table_get(l->offsets, "0");

	return v ? v : cached(l, "0", local_constant(l, l->index, 0));
}

/* ---- moves of a reshard -------------------------------------------------------------- */

static Value *
move_slice(Localizer *l, Value *v, const Move *move, Type local)
{
	Value *operands[MAX_RANK + 1] = {v};

	for (int d = 0; d < local.rank; d++) {
		AxisList before = placement_dim(&move->before, d);
		AxisList after = placement_dim(&move->after, d);
		AxisList more = axes_drop_prefix(&after, &before);
		operands[d + 1] =
			more.n ? device_offset(l, &more, local.dims[d]) : zero_offset(l);
	}
	Op *op = local_op(l, O_dynamic_slice, local.rank + 1, operands, v->name);
	op_set_ints(op, A_sizes, local.rank, local.dims);
	op_infer(op);
	return op->results[0];
}

/* The value where the index along the axes is 0, the identity elsewhere. */
static Value *
move_unreduce(Localizer *l, Value *v, const Move *move, Type local)
{
	Combiner combiner = (Combiner)move->after.combiner;
	Value *first =
		local_compare(l, DIR_EQ, device_offset(l, &move->axes, 1), zero_offset(l));
	Value *identity =
		local_constant(l, local.dtype, combiner_identity(combiner, local.dtype));

	return local_inferred(l, O_select, 3,
		(Value *[]){local_splat(l, first, &local), v, local_splat(l, identity, &local)},
		v->name);
}

static Value *
move_collective(Localizer *l, Value *v, const Move *move, Type local)
{
	OpKind kind = move->kind;
	Op *op = local_op(l, kind, 1, &v, v->name);
	Combiner combiner = (Combiner)move->before.combiner;

	op->axes = arena_copy(l->module->arena, &move->axes, sizeof move->axes);
	if (kind == O_collective_permute)
		op->from = arena_copy(l->module->arena, &move->from, sizeof move->from);
	if (ops[kind].attrs & AT(dim))
		op_set_int(op, A_dim, move->dim);
	if (ops[kind].attrs & AT(combiner))
		op_set_int(op, A_combiner, combiner);
	op->results[0]->type = local;
	op->results[0]->placement = move->after;
	op->results[0]->no_placement = false;
	op->requested = l->reason->requested;
	return op->results[0];
}

static Value *
emit_reshape(Localizer *l, Value *v, int rank, const int64_t *dims)
{
	Type type = type_of(v->type.dtype, rank, dims);

	if (type_equal(&type, &v->type))
		return v;
	return local_typed(l, O_reshape, 1, &v, "reshape", type);
}

static Value *
emit_transpose(Localizer *l, Value *v, const int64_t *order)
{
	bool identity = true;

	for (int i = 0; i < v->type.rank; i++)
		identity &= order[i] == i;
	if (identity)
		return v;
	Op *op = local_op(l, O_transpose, 1, &v, "transpose");
	op_set_ints(op, A_dims, v->type.rank, order);
	op_infer(op);
	return op->results[0];
}

/* Dims of a tensor with, for each exchange, an extra dim of its size put
   before the dim that `side` names. */
typedef struct Opened {
	int rank;
	int64_t dims[2 * MAX_RANK];
	int extra[MAX_EXCHANGES]; /* where the exchange's dim is */
} Opened;

static Opened
open_dims(const Type *t, const Move *move, bool to_side)
{
	Opened o = {0};

	for (int d = 0; d < t->rank; d++) {
		for (int e = 0; e < move->nexchanges; e++) {
			const Exchange *x = &move->exchanges[e];
			if ((to_side ? x->to_dim : x->from_dim) != d)
				continue;
			o.extra[e] = o.rank;
			o.dims[o.rank++] = axes_size(&x->axes);
		}
		o.dims[o.rank++] = t->dims[d];
	}
	return o;
}

/* order[i]: the extra dims first, in exchange order, then the others. */
static void
extras_first(const Opened *o, const Move *move, int64_t *order)
{
	int n = 0;

	for (int e = 0; e < move->nexchanges; e++)
		order[n++] = o->extra[e];
	for (int d = 0; d < o->rank; d++) {
		bool extra = false;
		for (int e = 0; e < move->nexchanges; e++)
			extra |= o->extra[e] == d;
		if (!extra)
			order[n++] = d;
	}
}

/*
 * Block i of the target dim goes to member i, which puts what it receives
 * after each other along the source dim:
 *   [.., n*t, ..] -> [n, rest] -> all-to-all along n -> [.., n*s, ..]
 */
static Value *
move_exchange(Localizer *l, Value *v, const Move *move, Type local)
{
	Type part = v->type; /* with the target dims cut */
	int64_t order[2 * MAX_RANK], inverse[2 * MAX_RANK];
	int64_t front[2 * MAX_RANK], flat[2 * MAX_RANK];
	int64_t members = axes_size(&move->axes);
	int nx = move->nexchanges, rank = v->type.rank;

	for (int e = 0; e < nx; e++)
		part.dims[move->exchanges[e].to_dim] /= axes_size(&move->exchanges[e].axes);
	Opened cut = open_dims(&part, move, true);
	Opened joined = open_dims(&part, move, false);
	v = emit_reshape(l, v, cut.rank, cut.dims);
	extras_first(&cut, move, order);
	v = emit_transpose(l, v, order);
	memcpy(front, v->type.dims, sizeof v->type.dims);
	flat[0] = members;
	memcpy(flat + 1, part.dims, (size_t)rank * sizeof flat[0]);
	v = emit_reshape(l, v, rank + 1, flat);
	Type exchanged = v->type;
	v = move_collective(l, v, move, exchanged);
	v->no_placement = true;
	op_set_int(v->def, A_dim, 0);
	v = emit_reshape(l, v, rank + nx, front);
	extras_first(&joined, move, order);
	for (int i = 0; i < joined.rank; i++)
		inverse[order[i]] = i;
	v = emit_transpose(l, v, inverse);
	return emit_reshape(l, v, rank, local.dims);
}

static Value *
emit_move(Localizer *l, Value *v, const Move *move, const Type *global)
{
	Type local = placement_local(global, &move->after);
	Value *made;

	if (move->kind == O_dynamic_slice)
		made = move_slice(l, v, move, local);
	else if (move->kind == O_select)
		made = move_unreduce(l, v, move, local);
	else if (move->kind == O_all_to_all)
		made = move_exchange(l, v, move, local);
	else
		made = move_collective(l, v, move, local);
	made->placement = move->after;
	made->no_placement = false;
	made->unpadded = v->unpadded;
	return made;
}

/* ---- ops -------------------------------------------------------------------------------- */

static Value *
resolved(const Localizer *l, Value *v)
{
	return v->id >= 0 && v->id < l->nalias && l->alias[v->id] ? l->alias[v->id] : v;
}

static void
follow_aliases(const Localizer *l, Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = resolved(l, op->operands[i]);
}

void
take_over(Localizer *l, Op *old, Value *new)
{
	Value *v = old->results[0];

	new->range = v->range;
	new->origins = v->origins;
	if (new != old->operands[0] && new->def) {
		const char *name = new->name;
		new->name = v->name;
		v->name = name;
	}
	l->alias[v->id] = new;
	op_remove(old);
}

static void
localize_reshard(Localizer *l, Op *op)
{
	Value *v = op->operands[0];
	const Placement from = v->placement;
	const Type global = op->results[0]->type;
	const ReshardPlan *plan =
		reshard_plan(l->resharder, &global, &from, &op->results[0]->placement);

	for (int i = 0; i < plan->n; i++)
		v = emit_move(l, v, &plan->moves[i], &global);
	take_over(l, op, v);
}

/* Counts in integers wide enough, from the shard's own first index. */
static void
localize_iota(Localizer *l, Op *op)
{
	Value *v = op->results[0];
	int dim = (int)op_int(op, A_iota_dim);
	AxisList axes = placement_dim(&v->placement, dim);
	Type local = placement_local(&v->type, &v->placement);
	Type counted = local;
	Value *at, *count;

	if (axes_size(&axes) == 1) {
		v->type = local;
		return;
	}
	counted.dtype = v->type.dims[dim] > INT32_MAX ? D_i64 : D_i32;
	count = local_typed(l, O_iota, 0, NULL, "iota", counted);
	op_set_int(count->def, A_iota_dim, dim);
	at = local_convert(l, device_offset(l, &axes, 1), counted.dtype);
	at = local_binary(l, O_mul, at, local_constant(l, counted.dtype, local.dims[dim]),
		"start");
	count = local_binary(l, O_add, count, local_splat(l, at, &counted), "count");
	count = local_convert(l, count, local.dtype);
	count->placement = v->placement;
	count->no_placement = false;
	count->unpadded = v->unpadded;
	l->alias[v->id] = count;
	count->range = v->range;
	op_remove(op);
}

/* Rows of a split table: look up what is here, the identity elsewhere. */
static void
localize_take(Localizer *l, Op *op)
{
	Value *x = op->operands[0], *idx = op->operands[1], *v = op->results[0];
	int dim = (int)op_int(op, A_dim);
	AxisList axes = placement_dim(&x->placement, dim);
	int64_t rows = x->type.dims[dim], all = rows * axes_size(&axes);
	DType wide = idx->type.dtype == D_i64 || idx->type.dtype == D_u32 || all > INT32_MAX
		? D_i64
		: D_i32;
	Value *bound, *here;

	v->type = placement_local(&v->type, &v->placement);
	if (axes_size(&axes) == 1)
		return;
	idx = local_convert(l, idx, wide);
	bound = local_splat(l, local_constant(l, wide, all - 1), &idx->type);
	idx = local_inferred(l, O_clamp, 3,
		(Value *[]){local_splat(l, local_constant(l, wide, 0), &idx->type), idx, bound},
		"clamped");
	Value *start =
		local_binary(l, O_mul, local_convert(l, device_offset(l, &axes, 1), wide),
			local_constant(l, wide, rows), "start");
	idx = local_binary(l, O_sub, idx, local_splat(l, start, &idx->type), "row");
	here = local_binary(l, O_and,
		local_compare(l, DIR_GE, idx,
			local_splat(l, local_constant(l, wide, 0), &idx->type)),
		local_compare(l, DIR_LT, idx,
			local_splat(l, local_constant(l, wide, rows), &idx->type)),
		"here");
	Value *found = local_typed(l, O_take, 2, (Value *[]){x, idx}, "found", v->type);
	op_set_int(found->def, A_dim, dim);
	found = local_inferred(l, O_select, 3,
		(Value *[]){local_spread(l, here, dim, &v->type), found,
			local_splat(l,
				local_constant(l, v->type.dtype,
					combiner_identity((Combiner)v->placement.combiner,
						v->type.dtype)),
				&v->type)},
		"masked");
	found->placement = v->placement;
	found->no_placement = false;
	take_over(l, op, found);
}

/* Rows of a split result: what is not among those here is dropped, as what is
   outside the whole is. */
static void
localize_scatter_add(Localizer *l, Op *op)
{
	Value *x = op->operands[0], *idx = op->operands[1], *v = op->results[0];
	int64_t rows = x->type.dims[op_int(op, A_dim)];
	AxisList axes = placement_dim(&x->placement, (int)op_int(op, A_dim));
	int64_t all = rows * axes_size(&axes);
	DType wide = idx->type.dtype == D_i64 || idx->type.dtype == D_u32 || all > INT32_MAX
		? D_i64
		: D_i32;

	v->type = placement_local(&v->type, &v->placement);
	if (axes_size(&axes) == 1)
		return;
	idx = local_convert(l, idx, wide);
	Value *start =
		local_binary(l, O_mul, local_convert(l, device_offset(l, &axes, 1), wide),
			local_constant(l, wide, rows), "start");
	op->operands[1] = local_binary(l, O_sub, idx, local_splat(l, start, &idx->type), "row");
}

static void localize_block(Localizer *l, Block *b);

static void
forget_placement(Op *op, void *data)
{
	(void)data;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->no_placement = true;
	for (int i = 0; i < op->nbodies; i++)
		for (int k = 0; k < op->bodies[i]->nparams; k++)
			op->bodies[i]->params[k]->no_placement = true;
}

/* What the region returns has the result's users.  One that is an argument too,
   or another result, may be placed there as a part of another tensor. */
static void
leave_manual(Localizer *l, Op *op, int i, Value *inside)
{
	Value *v = op->results[i];

	if (!inside->no_placement && !placement_equal(&inside->placement, &v->placement))
		inside = local_typed(l, O_reshape, 1, &inside, v->name, inside->type);
	inside->placement = v->placement;
	inside->no_placement = false;
	l->alias[v->id] = inside;
}

/* The region dissolves: its body is a device program, once the axes that are
   automatic in it are local too. */
static void
localize_manual(Localizer *l, Op *op)
{
	Block *body = op->bodies[0];
	const Op *last = body->last;

	localize_block(l, body);
	block_walk(body, forget_placement, NULL);
	for (int i = 0; i < body->nparams; i++)
		l->alias[body->params[i]->id] = op->operands[i];
	for (Op *inner = body->first, *next; inner != last; inner = next) {
		next = inner->next;
		op_remove(inner);
		op_insert_before(op, inner);
		follow_aliases(l, inner);
	}
	for (int i = 0; i < op->nresults; i++)
		leave_manual(l, op, i, resolved(l, last->operands[i]));
	op_remove(op);
}

static void
localize_op(Localizer *l, Op *op)
{
	static void (*const special[OP_COUNT])(Localizer *, Op *) = {
		[O_reshard] = localize_reshard,
		[O_iota] = localize_iota,
		[O_take] = localize_take,
		[O_scatter_add] = localize_scatter_add,
		[O_slice] = localize_slice,
		[O_pad] = localize_pad,
		[O_concatenate] = localize_concatenate,
		[O_reverse] = localize_reverse,
		[O_roll] = localize_roll,
		[O_dynamic_slice] = localize_dynamic_slice,
		[O_dynamic_update_slice] = localize_dynamic_update_slice,
		[O_manual] = localize_manual,
	};

	l->at = op;
	l->reason = op;
	follow_aliases(l, op);
	if (special[op->kind]) {
		special[op->kind](l, op);
		return;
	}
	for (int i = 0; i < op->nbodies; i++)
		localize_block(l, op->bodies[i]);
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->type =
			placement_local(&op->results[i]->type, &op->results[i]->placement);
}

static void
localize_block(Localizer *l, Block *b)
{
	Table *outer = l->offsets;
	Op *at = l->at;
	const Op *reason = l->reason;

	l->offsets = table_new(l->arena);
	for (int i = 0; i < b->nparams; i++)
		b->params[i]->type =
			placement_local(&b->params[i]->type, &b->params[i]->placement);
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		localize_op(l, op);
	}
	l->offsets = outer;
	l->at = at;
	l->reason = reason;
}

static void
widen_index(Op *op, void *data)
{
	DType *index = data;
	/* where rows are exchanged, offsets may be some shards beside a dim */
	int64_t most = halo_kind(op->kind) ? INT32_MAX / 4 : INT32_MAX;

	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Type *t = &rule_tensor(op, i)->type;
		for (int d = 0; d < t->rank; d++)
			if (t->dims[d] > most)
				*index = D_i64;
	}
}

bool
localize(Module *m)
{
	Localizer l = {.module = m, .index = D_i32};

	module_walk(m, widen_index, &l.index);
	module_number(m);
	l.arena = arena_new();
	l.resharder = resharder_new(l.arena, &m->mesh);
	l.nalias = m->nvalues;
	l.alias = NEW_ARRAY(l.arena, Value *, l.nalias + 1);
	localize_block(&l, m->entry);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value) /* a move, of a parameter of a region */
			m->named[i].value = resolved(&l, resolved(&l, m->named[i].value));
	m->level = L_device;
	module_remove_dead(m);
	arena_free(l.arena);
	return true;
}
