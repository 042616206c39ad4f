/*
 * ops.c - appending ops to the block being built.
 *
 * Every op is checked by the op table's type function as it is made: what a
 * builder did not foresee still ends in a message, never in a bad module.
 */
#include <string.h>

#include "elaborate.h"

/* The prelude's ops stand where the program called the prelude. */
static Site
site_of(Elab *e, Site s)
{
	if (e->frame != NULL && e->frame->prelude)
		return e->frame->site;
	return s;
}

bool
exceeds(Elab *e, Range where, int *count, int most, const char *what)
{
	if (++*count <= most)
		return false;
	if (!e->too_large)
		complain(e, DIAG_too_large, where,
			"the program has more than "
			"%d %s after inlining",
			most, what);
	e->too_large = true;
	return true;
}

/* NULL when an operand is missing. */
Op *
op_begin(Elab *e, Site s, OpKind kind, int n, Value *const *operands)
{
	for (int i = 0; i < n; i++)
		if (operands[i] == NULL)
			return NULL;
	s = site_of(e, s);
	if (exceeds(e, s.range, &e->nops, MAX_OPS, "operations"))
		return NULL;
	Op *op = op_new(e->m, kind, n, operands, 1, NULL, s.range, s.label);
	op->mode = e->mode;
	for (int i = 0; i < n; i++)
		op->operands[i] = region_value(e, op->operands[i]);
	return op;
}

Value *
op_end(Elab *e, Op *op)
{
	if (op == NULL)
		return NULL;
	Type few[2];
	Type *types = op->nresults < 2 ? few : NEW_ARRAY(e->arena, Type, op->nresults);
	const char *wrong = op_types(op, e->arena, types);
	if (wrong != NULL) {
		complain(e, DIAG_operation, op->range, "%s", wrong);
		return NULL;
	}
	op_infer(op);
	op_append(e->block, op);
	return op->results[0];
}

/* ---- where operands are written */

/* The item of the value, by preference the i-th; NULL if there is none. */
static const Item *
item_of(const Elab *e, const Value *v, int i, int n, const Item *items)
{
	if (i < n && items[i].kind == IT_tensor && region_sees(e, items[i].value, v))
		return &items[i];
	for (int k = 0; k < n; k++) {
		const Item *x = &items[k];
		if (x->kind == IT_tensor && region_sees(e, x->value, v))
			return x;
		if (x->kind == IT_tuple && (x = item_of(e, v, i, x->n, x->items)) != NULL)
			return x;
	}
	return NULL;
}

void
note_operands(Elab *e, const Op *before, int n, const Item *items)
{
	if (e->frame == NULL || e->frame->prelude)
		return;
	for (Op *op = before ? before->next : e->block->first; op != NULL; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			const Item *x = item_of(e, op->operands[i], i, n, items);
			if (x != NULL)
				op_set_operand_range(op, i, x->range);
		}
}

Value *
emit(Elab *e, Site s, OpKind kind, int n, Value *const *operands)
{
	return op_end(e, op_begin(e, s, kind, n, operands));
}

Value *
emit1(Elab *e, Site s, OpKind kind, Value *x)
{
	return emit(e, s, kind, 1, &x);
}

Value *
emit2(Elab *e, Site s, OpKind kind, Value *x, Value *y)
{
	Value *operands[] = {x, y};
	return emit(e, s, kind, 2, operands);
}

Value *
emit3(Elab *e, Site s, OpKind kind, Value *x, Value *y, Value *z)
{
	Value *operands[] = {x, y, z};
	return emit(e, s, kind, 3, operands);
}

Value *
emit_compare(Elab *e, Site s, Direction d, Value *x, Value *y)
{
	Value *operands[] = {x, y};
	Op *op = op_begin(e, s, O_compare, 2, operands);
	if (op != NULL)
		op_set_int(op, A_direction, d);
	return op_end(e, op);
}

/* An op whose result type is `type`, to be completed by op_end(). */
static Op *
op_begin_typed(Elab *e, Site s, OpKind kind, Value *x, const Type *type)
{
	Op *op = op_begin(e, s, kind, x != NULL ? 1 : 0, &x);
	if (op != NULL)
		op->results[0]->type = *type;
	return op;
}

Value *
emit_constant(Elab *e, Site s, DType dtype, int64_t payload)
{
	Type type = type_of(dtype, 0, NULL);
	Op *op = op_begin_typed(e, s, O_constant, NULL, &type);
	if (op != NULL)
		op_set_int(op, A_value, payload);
	return op_end(e, op);
}

Value *
emit_convert(Elab *e, Site s, Value *x, DType dtype)
{
	if (x == NULL || x->type.dtype == dtype)
		return x;
	Type type = x->type;
	type.dtype = dtype;
	return op_end(e, op_begin_typed(e, s, O_convert, x, &type));
}

Value *
emit_iota(Elab *e, Site s, const Type *type, int dim)
{
	Op *op = op_begin_typed(e, s, O_iota, NULL, type);
	if (op != NULL)
		op_set_int(op, A_iota_dim, dim);
	return op_end(e, op);
}

/* Reshapes of reshapes are one, unless the program named what is between. */
Value *
emit_reshape(Elab *e, Site s, Value *x, int rank, const int64_t *dims)
{
	if (x == NULL)
		return NULL;
	if (x->def != NULL && x->def->kind == O_reshape && x->range.file == 0)
		x = x->def->operands[0];
	Type type = type_of(x->type.dtype, rank, dims);
	if (type_equal(&type, &x->type))
		return x;
	return op_end(e, op_begin_typed(e, s, O_reshape, x, &type));
}

Value *
emit_transpose(Elab *e, Site s, Value *x, const int64_t *permutation)
{
	if (x == NULL)
		return NULL;
	bool identity = true;
	for (int i = 0; i < x->type.rank; i++)
		identity &= permutation[i] == i;
	if (identity)
		return x;
	Op *op = op_begin(e, s, O_transpose, 1, &x);
	if (op != NULL)
		op_set_ints(op, A_dims, x->type.rank, permutation);
	return op_end(e, op);
}

Value *
emit_broadcast(Elab *e, Site s, Value *x, const Type *type, const int64_t *to)
{
	if (x == NULL)
		return NULL;
	Type wanted = *type;
	wanted.dtype = x->type.dtype;
	if (type_equal(&x->type, &wanted))
		return x;
	Op *op = op_begin_typed(e, s, O_broadcast, x, &wanted);
	if (op != NULL)
		op_set_ints(op, A_dims, x->type.rank, to);
	return op_end(e, op);
}

Value *
emit_slice(Elab *e, Site s, Value *x, const int64_t *start, const int64_t *limit,
	const int64_t *stride)
{
	if (x == NULL)
		return NULL;
	bool whole = true;
	for (int i = 0; i < x->type.rank; i++)
		whole &= start[i] == 0 && limit[i] == x->type.dims[i] && stride[i] == 1;
	if (whole)
		return x;
	Op *op = op_begin(e, s, O_slice, 1, &x);
	if (op != NULL) {
		op_set_ints(op, A_start, x->type.rank, start);
		op_set_ints(op, A_limit, x->type.rank, limit);
		op_set_ints(op, A_stride, x->type.rank, stride);
	}
	return op_end(e, op);
}

Value *
emit_start(Elab *e, Site s, int64_t start)
{
	bool small = start == (int32_t)start;
	return emit_constant(e, s, small ? D_i32 : D_i64, start);
}

/* The starts are of one dtype: i32, but where one does not fit there. */
static DType
start_dtype(int n, Value *const *start)
{
	for (int d = 0; d < n; d++) {
		if (start[d] == NULL)
			continue;
		DType dtype = start[d]->type.dtype;
		if (dtype == D_i64 || dtype == D_u32)
			return D_i64;
	}
	return D_i32;
}

/* x, what comes with it, and a start for each dim. */
static Op *
op_begin_starts(Elab *e, Site s, OpKind kind, Value *x, Value *update, Value *const *start)
{
	Value *operands[MAX_RANK + 2] = {x};
	int n = 1;
	if (x == NULL)
		return NULL;
	if (kind == O_dynamic_update_slice)
		operands[n++] = update;
	DType dtype = start_dtype(x->type.rank, start);
	for (int d = 0; d < x->type.rank; d++)
		operands[n++] = start[d] != NULL ? emit_convert(e, s, start[d], dtype)
						 : emit_constant(e, s, dtype, 0);
	return op_begin(e, s, kind, n, operands);
}

Value *
emit_dynamic_slice(Elab *e, Site s, Value *x, Value *const *start, const int64_t *size)
{
	Op *op = op_begin_starts(e, s, O_dynamic_slice, x, NULL, start);
	if (op != NULL)
		op_set_ints(op, A_sizes, x->type.rank, size);
	return op_end(e, op);
}

Value *
emit_dynamic_update_slice(Elab *e, Site s, Value *x, Value *update, Value *const *start)
{
	return op_end(e, op_begin_starts(e, s, O_dynamic_update_slice, x, update, start));
}

Value *
emit_reverse(Elab *e, Site s, Value *x, int n, const int64_t *dims)
{
	if (n == 0)
		return x;
	Op *op = op_begin(e, s, O_reverse, 1, &x);
	if (op != NULL)
		op_set_ints(op, A_dims, n, dims);
	return op_end(e, op);
}

Value *
emit_roll(Elab *e, Site s, Value *x, int dim, int64_t shift)
{
	if (shift == 0)
		return x;
	Op *op = op_begin(e, s, O_roll, 1, &x);
	if (op != NULL) {
		op_set_int(op, A_along, dim);
		op_set_int(op, A_shift, shift);
	}
	return op_end(e, op);
}

Value *
emit_reduce(Elab *e, Site s, Combiner c, Value *x, int n, const int64_t *dims)
{
	if (x == NULL || n == 0)
		return x;
	DType dtype = x->type.dtype;
	Value *identity = emit_constant(e, s, dtype, combiner_identity(c, dtype));
	Value *operands[] = {x, identity};
	Op *op = op_begin(e, s, O_reduce, 2, operands);
	if (op != NULL) {
		op_set_ints(op, A_dims, n, dims);
		op_set_int(op, A_combiner, c);
	}
	return op_end(e, op);
}

Value *
emit_concatenate(Elab *e, Site s, int n, Value *const *x, int dim)
{
	if (n == 1)
		return x[0];
	Op *op = op_begin(e, s, O_concatenate, n, x);
	if (op != NULL)
		op_set_int(op, A_dim, dim);
	return op_end(e, op);
}

Value *
emit_placed(Elab *e, Site s, OpKind kind, Value *x, const Annotation *a)
{
	if (e->manual != NULL && e->manual->whole) /* sizes alone */
		return x;
	Value *v = emit1(e, s, kind, x);
	if (v == NULL)
		return NULL;
	v->placement = a->placement;
	v->annotated = true;
	v->type_range = a->range;
	v->def->requested = kind == O_reshard;
	return v;
}

/* ---- numpy's broadcasting */

/* Drops the dims of size 1 that become larger; to[i] is where dim i goes. */
static Value *
drop_stretched(Elab *e, Site s, Value *x, const Type *shape, int64_t *to)
{
	int64_t kept[MAX_RANK];
	int n = 0, shift = shape->rank - x->type.rank;
	for (int i = 0; i < x->type.rank; i++) {
		if (x->type.dims[i] != shape->dims[i + shift])
			continue;
		to[n] = i + shift;
		kept[n++] = x->type.dims[i];
	}
	return emit_reshape(e, s, x, n, kept);
}

Value *
broadcast_to(Elab *e, Site s, Value *x, const Type *shape)
{
	if (x == NULL)
		return NULL;
	int64_t to[MAX_RANK];
	Type wanted = *shape;
	wanted.dtype = x->type.dtype;
	if (type_equal(&wanted, &x->type))
		return x;
	x = drop_stretched(e, s, x, shape, to);
	return emit_broadcast(e, s, x, shape, to);
}

bool
broadcasts_to(const Type *x, const Type *shape)
{
	int shift = shape->rank - x->rank;
	bool fits = shift >= 0 && x->dtype == shape->dtype;
	for (int d = 0; fits && d < x->rank; d++)
		fits = x->dims[d] == 1 || x->dims[d] == shape->dims[d + shift];
	return fits;
}

static bool
join_shape(Type *shape, const Type *x)
{
	while (shape->rank < x->rank) {
		memmove(shape->dims + 1, shape->dims,
			(size_t)shape->rank++ * sizeof shape->dims[0]);
		shape->dims[0] = 1;
	}
	int shift = shape->rank - x->rank;
	for (int i = 0; i < x->rank; i++) {
		int64_t *size = &shape->dims[i + shift];
		if (*size != x->dims[i] && *size != 1 && x->dims[i] != 1)
			return false;
		if (*size == 1)
			*size = x->dims[i];
	}
	return true;
}

bool
broadcast_shape(Elab *e, Range where, int n, Value *const *x, Type *shape)
{
	*shape = x[0]->type;
	for (int i = 1; i < n; i++) {
		Type before = *shape;
		if (join_shape(shape, &x[i]->type))
			continue;
		before.dtype = x[0]->type.dtype;
		complain(e, DIAG_broadcast, where,
			"%s and %s do not broadcast: "
			"counted from the last, dims must be equal or 1",
			show_type(e, &before), show_type(e, &x[i]->type));
		return false;
	}
	return true;
}
