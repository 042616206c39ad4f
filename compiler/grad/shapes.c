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

/*
 * Each element of a dim gets stride - 1 zeros behind it, but for the last:
 *   [1, 2, 3], stride 2  ->  [[1, 0], [2, 0], [3, 0]]  ->  [1, 0, 2, 0, 3]
 */
static Value *
spread_dim(Make k, Value *x, int dim, int64_t stride)
{
	Type apart = x->type;

	if (stride == 1 || x->type.dims[dim] == 0)
		return x;
	apart.rank++;
	for (int d = apart.rank - 1; d > dim + 1; d--)
		apart.dims[d] = apart.dims[d - 1];
	apart.dims[dim + 1] = 1;
	int64_t size = x->type.dims[dim] * stride;
	Type together = x->type;
	together.dims[dim] = size;
	x = make_reshape(k, x, apart.rank, apart.dims);
	x = make_pad_dim(k, x, dim + 1, 0, stride - 1);
	x = make_reshape(k, x, together.rank, together.dims);
	return make_slice_dim(k, x, dim, 0, size - stride + 1, 1);
}

void
gradient_slice(Adjoint *a, const Op *op)
{
	const Ints *stride = op_ints(op, A_stride);
	Value *dx = cotangent_of(a, op->results[0]);

	for (int d = 0; d < stride->n; d++)
		dx = spread_dim(a->k, dx, d, stride->v[d]);
	give_slice(a, op->operands[0], dx, op_ints(op, A_start)->v);
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

/* Of the number around the operand: the sum of what is around. */
static Value *
sum_around(Make k, Value *dy, const Type *inner, const Ints *low, const Ints *high)
{
	int64_t dims[MAX_RANK];
	Value *inside = make_zeros(k, inner),
	      *one = make_number(k, &(Type){dy->type.dtype, 0, {0}}, 1);
	Value *zeros = make_zeros(k, &dy->type);

	for (int d = 0; d < dy->type.rank; d++)
		dims[d] = d;
	Value *around = make_pad(k, inside, one, low->v, high->v);
	Value *is_inside = make_compare(k, DIR_EQ, around, zeros);
	return make_reduce(k, C_add, make_select(k, is_inside, zeros, dy), dy->type.rank, dims);
}

void
gradient_pad(Adjoint *a, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	const Ints *low = op_ints(op, A_low), *high = op_ints(op, A_high);
	Value *dy = cotangent_of(a, op->results[0]);
	int64_t before[MAX_RANK], behind[MAX_RANK];

	for (int d = 0; d < x->rank; d++) {
		before[d] = -low->v[d];
		behind[d] = -high->v[d];
	}
	if (wants(a, op, 0))
		give(a, op->operands[0], make_pad(a->k, dy, NULL, before, behind));
	if (wants(a, op, 1))
		give(a, op->operands[1], sum_around(a->k, dy, x, low, high));
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
