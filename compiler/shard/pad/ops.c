/*
 * ops.c - ops on padded operands that see only what is true of them.
 *
 * What an op reduces is masked by what changes nothing; what it reads by
 * index stays below the true size; what it moves is read where it is.  A dim
 * for which nothing better is known here is trimmed.
 */
#include <math.h>
#include "shard/pad/pad.h"

static void
set_direct(Padder *p, const Value *result, int dim)
{
	pad_value(p, result)->direct |= (uint16_t)(1u << dim);
}

static bool
is_linked(Padder *p, const Op *op, int operand, int dim)
{
	return pad_linked(p, op)[operand] >> dim & 1;
}

static Content
padding_of(const Padder *p, const Op *op, int operand, int64_t dim)
{
	return pad_value(p, op->operands[operand])->padding[dim];
}

static void
mask_operand(Padder *p, Op *op, int operand, int64_t dim, Value *fill)
{
	op->operands[operand] = pad_mask(p, op->operands[operand], (int)dim, fill);
}

static void
mask_zeros(Padder *p, Op *op, int operand, int64_t dim)
{
	if (padding_of(p, op, operand, dim) != CONTENT_zero)
		mask_operand(p, op, operand, dim,
			make_constant(p->make, op->operands[operand]->type.dtype, 0));
}

/* ---- what is reduced ----------------------------------------------------------- */

static void
prepare_reduce(Padder *p, Op *op)
{
	const Ints *dims = op_ints(op, A_dims);
	Combiner c = (Combiner)op_int(op, A_combiner);
	bool zeros = c == C_add || c == C_or;

	for (int i = 0; i < dims->n; i++)
		if (pad_is_padded(op->operands[0], (int)dims->v[i])
			&& !(zeros && padding_of(p, op, 0, dims->v[i]) == CONTENT_zero))
			mask_operand(p, op, 0, dims->v[i], op->operands[1]);
}

/* Dims of which products are summed.  Zeros on one side are enough if the other side is
   finite. */
static void
mask_contracted(Padder *p, Op *op, int64_t lhs, int64_t rhs)
{
	if (!pad_is_padded(op->operands[0], (int)lhs))
		return;
	Content a = padding_of(p, op, 0, lhs), b = padding_of(p, op, 1, rhs);
	bool finite = a != CONTENT_any && b != CONTENT_any;
	bool zeros = a == CONTENT_zero || b == CONTENT_zero;
	if (a == CONTENT_any || (!zeros && finite))
		mask_zeros(p, op, 0, lhs);
	if (b == CONTENT_any)
		mask_zeros(p, op, 1, rhs);
}

static void
prepare_dot(Padder *p, Op *op)
{
	const Ints *lhs = op_ints(op, A_lhs_contract);
	const Ints *rhs = op_ints(op, A_rhs_contract);

	for (int i = 0; i < lhs->n; i++)
		mask_contracted(p, op, lhs->v[i], rhs->v[i]);
}

/* A row of a group that is among the padding is of none. */
static void
prepare_grouped_dot(Padder *p, Op *op)
{
	int rows = op->operands[2]->type.rank - 1;
	const Value *w = op->operands[1];

	for (int d = rows + 1; d < op->operands[0]->type.rank; d++)
		mask_contracted(p, op, d, d);
	if (pad_is_padded(w, rows))
		op->operands[2] = pad_below(p, op->operands[2], pad_true_size(w, rows));
}

/* What is added to groups among the padding stays there. */
static void
prepare_grouped_outer(Padder *p, Op *op)
{
	int rows = op->operands[2]->type.rank - 1;

	mask_contracted(p, op, rows, rows);
	op_set_int(op, A_groups, pad_size(p, op->results[0], rows));
}

/* The updates of padding add nothing, wherever they go, not to a -0 either. */
static void
prepare_scatter_add(Padder *p, Op *op)
{
	Lookup look = op_lookup(op);
	DType dtype = op->operands[2]->type.dtype;

	for (int d = look.first; d < look.first + look.rank; d++)
		if (pad_is_padded(op->operands[2], d) && dtype_is_float(dtype))
			mask_operand(p, op, 2, d, make_neutral(p->make, C_add, dtype));
		else if (pad_is_padded(op->operands[2], d))
			mask_zeros(p, op, 2, d);
}

/* ---- what is ordered ------------------------------------------------------------ */

/* Padding sorts last: among equals, for the sort is stable. */
static void
prepare_sort(Padder *p, Op *op)
{
	int64_t dim = op_int(op, A_dim);
	DType dtype = op->operands[0]->type.dtype;
	bool ascending = op_int(op, A_direction) == DIR_LT;
	int64_t last = combiner_identity(ascending ? C_min : C_max, dtype);

	if (!pad_is_padded(op->operands[0], (int)dim))
		return;
	if (ascending && dtype_is_float(dtype))
		last = double_payload(NAN);
	mask_operand(p, op, 0, dim, make_constant(p->make, dtype, last));
}

/* ---- what is read by index ------------------------------------------------------ */

static void
prepare_take(Padder *p, Op *op)
{
	Lookup look = op_lookup(op);
	const Value *x = op->operands[0];
	int64_t last[MAX_RANK];
	bool padded = false;

	for (int i = 0; i < look.n; i++) {
		last[i] = pad_true_size(x, look.first + i) - 1;
		padded |= pad_is_padded(x, look.first + i);
	}
	if (padded)
		op->operands[1] = pad_at_most(p, op->operands[1], look.n, last);
}

/* Starts are clamped to the whole tensor, which is the true one. */
static void
clamp_start(Padder *p, Op *op, int first, int dim, int64_t window)
{
	const Value *x = op->operands[0];
	Value **start = &op->operands[first + dim];

	if (pad_is_padded(x, dim) && window < pad_true_size(x, dim))
		*start = pad_at_most(p, *start, 1, (int64_t[]){pad_true_size(x, dim) - window});
}

/* More than a part is not read: the start would be clamped for that. */
static void
prepare_dynamic_slice(Padder *p, Op *op)
{
	const Value *result = op->results[0];
	uint16_t *direct = &pad_value(p, result)->direct;
	int64_t sizes[MAX_RANK];

	for (int d = 0; d < result->type.rank; d++) {
		sizes[d] = result->type.dims[d];
		clamp_start(p, op, 1, d, sizes[d]);
		if (sizes[d] < pad_true_size(op->operands[0], d))
			*direct &= (uint16_t) ~(1u << d);
		if (*direct >> d & 1)
			sizes[d] = pad_size(p, result, d);
	}
	op_set_ints(op, A_sizes, result->type.rank, sizes);
}

static void
prepare_dynamic_update_slice(Padder *p, Op *op)
{
	const Value *update = op->operands[1];

	for (int d = 0; d < update->type.rank; d++)
		clamp_start(p, op, 2, d, pad_true_size(update, d));
}

/* ---- what is moved -------------------------------------------------------------- */

static int64_t
last_read(const Op *slice, int dim, int64_t size)
{
	return op_ints(slice, A_start)->v[dim] + (size - 1) * op_ints(slice, A_stride)->v[dim];
}

/* By so many, forwards. */
static void
roll_operand(Padder *p, Op *op, int dim, int64_t shift)
{
	op->operands[0] = make_roll(named(p->make, "rolled"), op->operands[0], dim, shift);
}

/*
 * A part is read from where it is.  If there is something behind it, as much
 * as the padding of the result needs, that may be read too; else, if the operand is
 * long enough, what is before the part comes round:
 *
 *   x[1:16] of 16 on 4 devices, computed with 16    roll(x, 15)
 */
static void
prepare_slice(Padder *p, Op *op)
{
	const Value *x = op->operands[0], *result = op->results[0];
	int64_t start[MAX_RANK], limit[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		int64_t size = x->type.dims[d], wanted = pad_size(p, result, d);
		start[d] = op_ints(op, A_start)->v[d];
		limit[d] = last_read(op, d, result->type.dims[d]) + 1;
		int64_t more = last_read(op, d, wanted) + 1;
		if (more > size && wanted <= size && op_ints(op, A_stride)->v[d] == 1) {
			roll_operand(p, op, d, size - start[d]);
			start[d] = 0;
			more = wanted;
		}
		if (more > size)
			continue;
		limit[d] = more;
		set_direct(p, result, d);
	}
	op_set_ints(op, A_start, x->type.rank, start);
	op_set_ints(op, A_limit, x->type.rank, limit);
}

/*
 * The operand's padding becomes part of what is put around it; what is too much of it is
 * cut:
 *
 *   7 elements computed with 8, one before them, 8 in all    pad(select(iota < 7, x, 0), 1, -1)
 */
static void
prepare_pad(Padder *p, Op *op)
{
	const Value *result = op->results[0];
	int64_t low[MAX_RANK], high[MAX_RANK];

	for (int d = 0; d < result->type.rank; d++)
		if (!is_linked(p, op, 0, d) && pad_is_padded(op->operands[0], d))
			mask_operand(p, op, 0, d, op->operands[1]);
	for (int d = 0; d < result->type.rank; d++) {
		low[d] = op_ints(op, A_low)->v[d];
		int64_t last = (op->operands[0]->type.dims[d] - 1) * (op_inner(op, d) + 1);
		high[d] = pad_size(p, result, d) - 1 - last - low[d];
		set_direct(p, result, d);
	}
	op_set_ints(op, A_low, result->type.rank, low);
	op_set_ints(op, A_high, result->type.rank, high);
}

/* ---- the table ------------------------------------------------------------------- */

const PadOp pad_ops[OP_COUNT] = {
	[O_call] = {.link = pad_link_bodies},
	[O_if] = {.link = pad_link_bodies},
	[O_while] = {.link = pad_link_bodies},
	[O_reshard] = {.link = pad_link_same},
	[O_barrier] = {.link = pad_link_same},
	[O_fence] = {.link = pad_link_same},
	[O_reshape] = {.link = pad_link_reshape},
	[O_roll] = {.link = pad_link_same, .move = pad_move_roll},
	[O_reverse] = {.link = pad_link_same, .move = pad_move_reverse},
	[O_windows] = {.move = pad_move_windows},
	[O_frames] = {.move = pad_move_windows},
	[O_concatenate] = {.move = pad_move_concatenate},
	[O_sort] = {.prepare = prepare_sort},
	[O_dynamic_update_slice] = {.prepare = prepare_dynamic_update_slice,
		.move = pad_move_update},
	[O_reduce] = {.prepare = prepare_reduce, .reads_padded = true},
	[O_dot] = {.prepare = prepare_dot, .reads_padded = true},
	[O_grouped_dot] = {.prepare = prepare_grouped_dot, .reads_padded = true},
	[O_grouped_outer] = {.prepare = prepare_grouped_outer, .reads_padded = true},
	[O_scatter_add] = {.prepare = prepare_scatter_add, .reads_padded = true},
	[O_take] = {.prepare = prepare_take, .reads_padded = true},
	[O_dynamic_slice] = {.prepare = prepare_dynamic_slice, .reads_padded = true},
	[O_slice] = {.prepare = prepare_slice, .reads_padded = true},
	[O_pad] = {.prepare = prepare_pad, .reads_padded = true},
};

void
pad_prepare(Padder *p, Op *op)
{
	const PadOp *row = &pad_ops[op->kind];

	for (int i = row->reads_padded; i < op->noperands; i++) {
		uint16_t dims = 0;
		for (int d = 0; d < op->operands[i]->type.rank; d++)
			if (pad_is_padded(op->operands[i], d) && !is_linked(p, op, i, d))
				dims |= (uint16_t)(1u << d);
		if (dims)
			op->operands[i] = pad_trim(p, op->operands[i], dims);
	}
	if (row->prepare)
		row->prepare(p, op);
}
