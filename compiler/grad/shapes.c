/*
 * shapes.c - gradients of ops that move elements: they move back; where one went to
 * several places, what comes back is added up.
 */
#include "grad/adjoint.h"

/* Dims keep their order: what is left of the result has the shape of the operand. */
void
gradient_broadcast(Adjoint *a, const Op *op)
{
	const Ints *to = op_ints(op, A_dims);
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = 0; d < op->results[0]->type.rank; d++)
		if (!ints_contain(to, d))
			dims[n++] = d;
	give(a, op->operands[0],
		make_reduce(a->k, C_add, cotangent_of(a, op->results[0]), n, dims));
}

void
gradient_reshape(Adjoint *a, const Op *op)
{
	const Type *x = &op->operands[0]->type;

	give(a, op->operands[0],
		make_reshape(a->k, cotangent_of(a, op->results[0]), x->rank, x->dims));
}

void
gradient_transpose(Adjoint *a, const Op *op)
{
	int64_t back[MAX_RANK];
	const Ints *to = op_ints(op, A_dims);

	for (int d = 0; d < to->n; d++)
		back[to->v[d]] = d;
	give(a, op->operands[0], make_transpose(a->k, cotangent_of(a, op->results[0]), back));
}

/* Zeros around it, and between elements where it takes some of them; parts without gaps are put
   together with others. */
void
gradient_slice(Adjoint *a, const Op *op)
{
	const Ints *start = op_ints(op, A_start), *stride = op_ints(op, A_stride);
	const Type *x = &op->operands[0]->type, *part = &op->results[0]->type;
	Value *dy = cotangent_of(a, op->results[0]);
	int64_t behind[MAX_RANK], inner[MAX_RANK];
	bool gaps = false;

	for (int d = 0; d < x->rank; d++) {
		int64_t last = start->v[d] + (part->dims[d] - 1) * stride->v[d];
		behind[d] = x->dims[d] - 1 - last;
		inner[d] = stride->v[d] - 1;
		gaps |= inner[d] && part->dims[d] > 1;
	}
	if (gaps)
		give(a, op->operands[0],
			make_pad_between(a->k, dy, NULL, start->v, behind, inner));
	else
		give_slice(a, op->operands[0], dy, start->v);
}

void
gradient_concatenate(Adjoint *a, const Op *op)
{
	int dim = (int)op_int(op, A_dim);
	int64_t from = 0;

	for (int i = 0; i < op->noperands; i++) {
		int64_t to = from + op->operands[i]->type.dims[dim];
		if (wants(a, op, i))
			give(a, op->operands[i],
				make_slice_dim(a->k, cotangent_of(a, op->results[0]), dim, from,
					to, 1));
		from = to;
	}
}

/* Of the number around the operand and between its elements: the sum of what is there. */
static Value *
sum_around(Make k, Value *dy, const Op *pad)
{
	int64_t dims[MAX_RANK], inner[MAX_RANK];
	Value *inside = make_zeros(k, &pad->operands[0]->type),
	      *one = make_number(k, &(Type){dy->type.dtype, 0, {0}}, 1);
	Value *zeros = make_zeros(k, &dy->type);

	for (int d = 0; d < dy->type.rank; d++) {
		dims[d] = d;
		inner[d] = op_inner(pad, d);
	}
	Value *around = make_pad_between(k, inside, one, op_ints(pad, A_low)->v,
		op_ints(pad, A_high)->v, inner);
	Value *is_inside = make_compare(k, DIR_EQ, around, zeros);
	return make_reduce(k, C_add, make_select(k, is_inside, zeros, dy), dy->type.rank, dims);
}

/* What has elements between its own is only filled up where it was cut; of that a slice takes
   every so many. */
static Value *
without_padding(Make k, Value *dy, const Op *pad)
{
	const Type *x = &pad->operands[0]->type;
	int64_t before[MAX_RANK], behind[MAX_RANK];
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < x->rank; d++) {
		int64_t low = op_ints(pad, A_low)->v[d], high = op_ints(pad, A_high)->v[d];
		bool taken = op_inner(pad, d) != 0;
		before[d] = taken ? greater(-low, 0) : -low;
		behind[d] = taken ? greater(-high, 0) : -high;
		stride[d] = op_inner(pad, d) + 1;
		start[d] = taken ? greater(low, 0) : 0;
		limit[d] = start[d] + (x->dims[d] - 1) * stride[d] + 1;
	}
	return make_slice(k, make_pad(k, dy, NULL, before, behind), start, limit, stride);
}

void
gradient_pad(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	if (wants(a, op, 0))
		give(a, op->operands[0], without_padding(a->k, dy, op));
	if (wants(a, op, 1))
		give(a, op->operands[1], sum_around(a->k, dy, op));
}

void
gradient_reverse(Adjoint *a, const Op *op)
{
	const Ints *dims = op_ints(op, A_dims);

	give(a, op->operands[0],
		make_reverse(a->k, cotangent_of(a, op->results[0]), dims->n, dims->v));
}

void
gradient_roll(Adjoint *a, const Op *op)
{
	int dim = (int)op_int(op, A_along);
	int64_t size = op->operands[0]->type.dims[dim], shift = op_int(op, A_shift);

	give(a, op->operands[0],
		make_roll(a->k, cotangent_of(a, op->results[0]), dim, size - shift));
}

/* ---- placement ---------------------------------------------------------- */

/* A cotangent is placed as its primal. */
void
gradient_constraint(Adjoint *a, const Op *op)
{
	Value *dx = make_unary(a->k, O_constraint, cotangent_of(a, op->results[0]));

	dx->placement = op->results[0]->placement;
	dx->annotated = true;
	dx->type_range = op->results[0]->type_range;
	give(a, op->operands[0], dx);
}

void
gradient_barrier(Adjoint *a, const Op *op)
{
	give(a, op->operands[0], make_unary(a->k, O_barrier, cotangent_of(a, op->results[0])));
}

void
gradient_fence(Adjoint *a, const Op *op)
{
	give(a, op->operands[0], make_unary(a->k, O_fence, cotangent_of(a, op->results[0])));
}

void
gradient_shard_like(Adjoint *a, const Op *op)
{
	give(a, op->operands[0], cotangent_of(a, op->results[0]));
}
