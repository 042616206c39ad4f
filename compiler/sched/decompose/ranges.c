/*
 * ranges.c - an einsum in a few parts along the dim that is moved along: of what each device
 * has, or gets, a range.
 *
 *   x2 = all-gather(x), dim 0      x2 = all-gather(x[:m/2]), dim 0     of n devices each
 *   y  = dot(x2, W)           ->   y0 = dot(x2 as [n, 1, m/2], W), into [:, 0:1] of y
 *                                  x3 = all-gather(x[m/2:]), dim 0
 *                                  y1 = dot(x3 as [n, 1, m/2], W), into [:, 1:2]
 *                                  y  = y1, which is [n, 2, m/2], as it was
 *
 *   p  = dot(x, W)                 s0 = reduce-scatter(dot(x[:, 0:1], W)), x as [n, 2, m/2]
 *   y  = reduce-scatter(p)    ->   s1 = reduce-scatter(dot(x[:, 1:2], W))
 *                                  y  = concatenate(s0, s1)
 *
 * In the whole a range lies in n places.  The product sees the dim as three, devices, ranges
 * and what is in a range, so that each range is one of a dim: it is read, and the result
 * written, where it lies.  Of a dim that is summed over the products are added up.
 */
#include <string.h>
#include "sched/decompose/ring.h"

enum { RANGES = 1 }; /* of devices, ranges and elements */

bool
ranges_go(const Einsum *e)
{
	int rank = 0;

	for (int i = 0; i < e->ndots; i++) {
		const Op *dot = e->dots[i];
		rank = (int)greater(rank, dot->operands[0]->type.rank);
		rank = (int)greater(rank, dot->operands[1]->type.rank);
		rank = (int)greater(rank, dot->results[0]->type.rank);
	}
	return rank + 2 <= MAX_RANK;
}

/* ---- three dims for one ------------------------------------------------------ */

/* The type with a dim as these three. */
static Type
with_dims(Type type, int dim, int64_t devices, int64_t ranges, int64_t size)
{
	int behind = type.rank - dim - 1;

	memmove(type.dims + dim + 3, type.dims + dim + 1, sizeof *type.dims * (size_t)behind);
	type.dims[dim] = devices;
	type.dims[dim + 1] = ranges;
	type.dims[dim + 2] = size;
	type.rank += 2;
	return type;
}

/* ... of all ranges of each device. */
static Type
with_ranges(const Ring *r, const Type *type, Cut cut)
{
	int64_t size = type->dims[cut.dim] / cut.outer / r->n;

	return with_dims(*type, cut.dim, cut.outer, r->n, size);
}

Value *
range_of_each(const Ring *r, Make k, Value *x, Cut cut, int i)
{
	Type type = with_ranges(r, &x->type, cut);

	x = make_reshape(named(k, x->name), x, type.rank, type.dims);
	return make_slice_dim(named(k, x->name), x, cut.dim + RANGES, i, i + 1, 1);
}

/* Dims of an operand, one of which (or none, -1) is three. */
static void
set_dims(Op *dot, AttrKind attr, int dim)
{
	const Ints *dims = op_ints(dot, attr);
	int64_t now[MAX_RANK];
	int n = 0;

	for (int i = 0; i < dims->n; i++) {
		bool behind = dim >= 0 && dims->v[i] > dim;
		now[n++] = dims->v[i] + 2 * behind;
		for (int k = 1; k < 3 && dims->v[i] == dim; k++)
			now[n++] = dim + k;
	}
	op_set_ints(dot, attr, n, now);
}

/* The dot of operands of which dims (or none, -1) are three. */
static Value *
dot_of_ranges(Make k, const Op *dot, Value *const *operands, const int *dims)
{
	Op *split = op_clone(dot);

	set_dims(split, A_lhs_batch, dims[0]);
	set_dims(split, A_lhs_contract, dims[0]);
	set_dims(split, A_rhs_batch, dims[1]);
	set_dims(split, A_rhs_contract, dims[1]);
	return partial_dot(k, split, operands);
}

/* ---- gathered ------------------------------------------------------------------ */

Value *
add_range(const Ring *r, Op *dot, Value *gathered, Cut cut, int i, Value *sum)
{
	int at = gathered_operand(r->einsum, dot);
	DotDim is = dot_dim(dot, at, cut.dim);
	Make k = make_piece(dot, dot->results[0]);
	Value *operands[2] = {dot->operands[0], dot->operands[1]}, *starts[MAX_RANK] = {NULL};
	int64_t size = gathered->type.dims[cut.dim] / cut.outer;
	Type type = with_dims(gathered->type, cut.dim, cut.outer, 1, size);
	int dims[2];

	dims[at] = cut.dim;
	dims[!at] = is.other;
	operands[at] = make_reshape(named(k, gathered->name), gathered, type.rank, type.dims);
	if (is.other >= 0)
		operands[!at] =
			range_of_each(r, k, operands[!at], (Cut){is.other, cut.outer}, i);
	k.name = dot->results[0]->name;
	Value *part = dot_of_ranges(k, dot, operands, dims);
	if (is.result < 0)
		return sum ? make_binary(k, O_add, sum, part) : part;
	type = with_ranges(r, &dot->results[0]->type, (Cut){is.result, cut.outer});
	starts[is.result + RANGES] = known_number(r, i);
	return make_dynamic_update_slice(k, sum ? sum : make_full(k, &type, 0), part, starts);
}

Value *
end_ranges(Op *dot, Value *sum)
{
	const Type *type = &dot->results[0]->type;
	Make k = make_piece(dot, dot->results[0]);

	k.name = k.of;
	return make_reshape(k, sum, type->rank, type->dims);
}

/* ---- summed ---------------------------------------------------------------------- */

Value *
product_range(const Ring *r, Make k, Cut cut, int i)
{
	const Op *dot = r->einsum->dots[0];
	ResultDim is = dot_result_dim(dot, cut.dim);
	Value *operands[2] = {dot->operands[0], dot->operands[1]};
	Type type = dot->results[0]->type;
	int dims[2];

	dims[is.operand] = is.dim;
	dims[!is.operand] = is.other;
	for (int j = 0; j < 2; j++)
		if (dims[j] >= 0)
			operands[j] =
				range_of_each(r, k, operands[j], (Cut){dims[j], cut.outer}, i);
	type.dims[cut.dim] /= r->n;
	k.name = dot->results[0]->name;
	return make_reshape(k, dot_of_ranges(k, dot, operands, dims), type.rank, type.dims);
}

Value *
put_together(const Ring *r, Make k, Value **parts, Cut cut)
{
	Type whole = parts[0]->type;

	if (cut.outer == 1)
		return make_concatenate(k, (int)r->n, parts, cut.dim);
	int64_t size = whole.dims[cut.dim] / cut.outer;
	Type range = with_dims(whole, cut.dim, cut.outer, 1, size);
	for (int i = 0; i < r->n; i++)
		parts[i] = make_reshape(named(k, parts[i]->name), parts[i], range.rank,
			range.dims);
	whole.dims[cut.dim] *= r->n;
	Value *all = make_concatenate(k, (int)r->n, parts, cut.dim + RANGES);
	return make_reshape(k, all, whole.rank, whole.dims);
}
