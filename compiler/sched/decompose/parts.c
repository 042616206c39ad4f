/*
 * parts.c - an einsum in a few parts along a dim that is not moved along: one moves while
 * another is multiplied.
 *
 *   W2 = all-gather(W), dim 0       W2 = all-gather(W[:, :n/2]), dim 0
 *   y  = dot(x, W2)           ->    y0 = dot(x, W2), into columns 0 to n/2 of y
 *                                   W3 = all-gather(W[:, n/2:]), dim 0
 *                                   y  = dot(x, W3), into the other columns
 *
 *   p  = dot(x, W)                  s0 = all-reduce(dot(x[:m/2], W))
 *   y  = all-reduce(p)        ->    s1 = all-reduce(dot(x[m/2:], W))
 *                                   y  = concatenate(s0, s1)
 *
 * Each element is worked out as in the whole.  A part of an operand of a product is read where
 * it lies, and so is that of its result written; a part of what is gathered is computed, or
 * read where it lies, and what parts of sums are put together in may be a joint.  Where no
 * other dim has parts, that which is moved along has (ranges.c).
 */
#include "sched/decompose/ring.h"

/* ---- which dim ------------------------------------------------------------- */

static int
gathered_operand(const Einsum *e, const Op *dot)
{
	return dot->operands[1] == e->collective->results[0];
}

/* Has each part of this dim, of what is gathered or added up, a part of results of its own? */
static bool
has_parts(const Einsum *e, int dim, int n)
{
	const Op *collective = e->collective;
	int64_t size = collective->results[0]->type.dims[dim];

	if (size < n || size % n)
		return false;
	if (collective->kind == O_all_reduce)
		return true;
	for (int i = 0; i < e->ndots && collective->kind == O_all_gather; i++)
		if (dot_dim(e->dots[i], gathered_operand(e, e->dots[i]), dim).result < 0)
			return false;
	return dim != e->dim;
}

/* The outermost that is longer than 1, of which each part is a range of memory, else the
   longest; -1: none has so many. */
static int
dim_of_parts(const Einsum *e, int n)
{
	const Type *type = &e->collective->results[0]->type;
	int outermost = 0, best = -1;

	while (outermost < type->rank && type->dims[outermost] == 1)
		outermost++;
	for (int d = 0; d < type->rank; d++)
		if (has_parts(e, d, n)
			&& (best < 0
				|| (best != outermost && type->dims[d] > type->dims[best])))
			best = d;
	return best;
}

bool
parts_go(const Einsum *e, int n)
{
	return dim_of_parts(e, n) >= 0 || ranges_go(e, n);
}

/* ---- parts ----------------------------------------------------------------- */

Value *
part_of_dim(const Ring *r, Make k, Value *x, int dim, int i)
{
	int64_t size = x->type.dims[dim] / r->n;

	return make_slice_dim(named(k, x->name), x, dim, i * size, (i + 1) * size, 1);
}

/* The product with a part of what is gathered, put to what there is of the result; of which
   NULL is nothing. */
static Value *
add_part(const Ring *r, Op *dot, Value *gathered, int dim, int i, Value *sum)
{
	int at = gathered_operand(r->einsum, dot);
	DotDim is = dot_dim(dot, at, dim);
	Make k = make_piece(dot, dot->results[0]);
	Value *operands[2] = {dot->operands[0], dot->operands[1]};
	Value *starts[MAX_RANK] = {NULL};

	operands[at] = gathered;
	if (is.other >= 0)
		operands[!at] = part_of_dim(r, k, operands[!at], is.other, i);
	k.name = dot->results[0]->name;
	starts[is.result] = known_number(r, i * gathered->type.dims[dim]);
	Value *part = partial_dot(k, dot, operands);
	return make_dynamic_update_slice(k, sum ? sum : nothing_gathered(k, dot), part, starts);
}

static void
build_gathered(const Ring *r, int dim)
{
	const Einsum *e = r->einsum;
	Op *gather = e->collective;
	Value **sums = NEW_ARRAY(r->rings->arena, Value *, e->ndots);

	for (int i = 0; i < r->n; i++) {
		Make k = make_piece(e->dots[0], e->dots[0]->results[0]);
		Value *part = part_of_dim(r, k, gather->operands[0], dim, i);
		part = finish_ring(r, k, O_all_gather, part);
		for (int j = 0; j < e->ndots; j++)
			sums[j] = add_part(r, e->dots[j], part, dim, i, sums[j]);
	}
	for (int j = 0; j < e->ndots; j++)
		replace_result(r, e->dots[j], sums[j]);
	op_remove(gather);
}

static Value *
product_part(const Ring *r, Make k, int dim, int i)
{
	const Op *dot = r->einsum->dots[0];
	ResultDim is = dot_result_dim(dot, dim);
	Value *operands[2] = {dot->operands[0], dot->operands[1]};

	operands[is.operand] = part_of_dim(r, k, operands[is.operand], is.dim, i);
	if (is.other >= 0)
		operands[!is.operand] = part_of_dim(r, k, operands[!is.operand], is.other, i);
	return partial_dot(k, dot, operands);
}

static void
build_summed(const Ring *r, int dim)
{
	const Einsum *e = r->einsum;
	Op *sum = e->collective;
	Make k = make_piece(e->dots[0], sum->results[0]);
	Value **parts = NEW_ARRAY(r->rings->arena, Value *, r->n);

	for (int i = 0; i < r->n; i++)
		parts[i] = finish_ring(r, k, sum->kind, product_part(r, k, dim, i));
	replace_result(r, sum, make_concatenate(k, (int)r->n, parts, dim));
	op_remove(e->dots[0]);
}

void
parts_build(const Ring *r)
{
	int dim = dim_of_parts(r->einsum, (int)r->n);

	if (dim < 0)
		ranges_build(r);
	else if (r->einsum->collective->kind == O_all_gather)
		build_gathered(r, dim);
	else
		build_summed(r, dim);
}
