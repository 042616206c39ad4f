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

/* What parts along a dim of what is moved are, best last. */
typedef enum Kind {
	KIND_none,
	KIND_summed, /* products that are added up */
	KIND_moved,  /* ranges of what each device has, or gets */
	KIND_ranges, /* ranges of what comes from each */
	KIND_parts,
} Kind;

/* Where parts begin, of what is gathered or of the product, and end (between_cut()). */
typedef struct Parts {
	Kind kind;
	Cut first;
	Cut *last;
	int dim; /* of the collective's result */
} Parts;

static bool
may_be_ranges(const Einsum *e, const Cut *cut)
{
	return cut->outer == 1 || ranges_go(e);
}

/* Of what is gathered, or exchanged: how results of products have such parts. */
static Kind
kind_gathered(const Einsum *e, int dim, const Cut *last)
{
	bool gathers = e->collective->kind == O_all_gather, summed = false, ranges = false;

	for (int i = 0; i < e->ndots; i++) {
		const Op *dot = e->dots[i];
		if (!may_be_ranges(e, &last[i]))
			return KIND_none;
		summed |= dot_dim(dot, gathered_operand(e, dot), last[i].dim).result < 0;
		ranges |= last[i].outer > 1;
	}
	if (dim == e->dim)
		return KIND_moved;
	if (summed)
		return gathers ? KIND_none : KIND_summed;
	return ranges ? KIND_ranges : KIND_parts;
}

static Parts
parts_gathered(const Einsum *e, int dim, int n)
{
	bool gathers = e->collective->kind == O_all_gather;
	int64_t devices = dim == e->dim ? ring_pieces(e) : 1;
	Parts parts = {.first = {dim, devices}, .dim = dim};

	parts.last = NEW_ARRAY(e->arena, Cut, e->ndots);
	if ((dim != e->dim || gathers) && between_cut(e, parts.first, n, parts.last))
		parts.kind = kind_gathered(e, dim, parts.last);
	return parts;
}

/* Of a product: what is moved has the parts beside each other, or each device's. */
static Kind
kind_summed(const Einsum *e, int dim, Cut first, Cut last)
{
	OpKind kind = e->collective->kind;
	bool moved = dim == e->dim && kind != O_all_reduce;

	if (last.dim != dim || !may_be_ranges(e, &first)
		|| last.outer != (moved ? ring_pieces(e) : 1))
		return KIND_none;
	if (moved)
		return kind == O_reduce_scatter ? KIND_moved : KIND_none;
	return first.outer > 1 ? KIND_ranges : KIND_parts;
}

static Parts
parts_summed(const Einsum *e, int dim, int n)
{
	Parts best = {.dim = dim, .last = NEW(e->arena, Cut)};
	int64_t outer[] = {1, ring_pieces(e)};
	Cut last;

	for (int d = 0; d < e->dots[0]->results[0]->type.rank; d++)
		for (int i = 0; i < 2; i++) {
			Cut first = {d, outer[i]};
			Kind kind = between_cut(e, first, n, &last)
				? kind_summed(e, dim, first, last)
				: KIND_none;
			if (kind <= best.kind)
				continue;
			best.kind = kind;
			best.first = first;
			*best.last = last;
		}
	return best;
}

/* The outermost dim that is longer than 1: parts of it are ranges of memory. */
static int
outermost_dim(const Einsum *e)
{
	const Type *type = &e->collective->results[0]->type;
	int d = 0;

	while (d < type->rank && type->dims[d] == 1)
		d++;
	return d;
}

/* Along the outermost dim that is longer than 1, of which each part is a range of memory, else
   the longest. */
static Parts
find_parts(const Einsum *e, int n)
{
	const Type *type = &e->collective->results[0]->type;
	int outermost = outermost_dim(e);
	Parts best = {0};

	for (int d = 0; d < type->rank; d++) {
		Parts parts = e->behind ? parts_summed(e, d, n) : parts_gathered(e, d, n);
		bool longer = best.dim != outermost && type->dims[d] > type->dims[best.dim];
		if (e->behind && d == outermost && parts.kind)
			parts.kind = KIND_parts;
		if (parts.kind > best.kind || (parts.kind && parts.kind == best.kind && longer))
			best = parts;
	}
	return best;
}

bool
parts_go(const Einsum *e, int n)
{
	return find_parts(e, n).kind;
}

/* ---- parts ----------------------------------------------------------------- */

Value *
part_of_dim(const Ring *r, Make k, Value *x, int dim, int i)
{
	int64_t size = x->type.dims[dim] / r->n;

	return make_slice_dim(named(k, x->name), x, dim, i * size, (i + 1) * size, 1);
}

/* The product with a part of an operand, put to what there is of the result; of which NULL is
   nothing. */
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
	if (is.result >= 0)
		starts[is.result] = known_number(r, i * gathered->type.dims[dim]);
	Value *part = partial_dot(k, dot, operands);
	if (is.result < 0)
		return sum ? make_binary(k, O_add, sum, part) : part;
	return make_dynamic_update_slice(k, sum ? sum : nothing_gathered(k, dot), part, starts);
}

static void
build_gathered(const Ring *r, const Parts *parts)
{
	const Einsum *e = r->einsum;
	Op *gather = e->collective;
	Value **sums = NEW_ARRAY(r->rings->arena, Value *, e->ndots);
	Value **pieces = NEW_ARRAY(r->rings->arena, Value *, e->ndots);

	for (int i = 0; i < r->n; i++) {
		Make k = make_piece(e->dots[0], e->dots[0]->results[0]);
		Value *part = part_of_dim(r, k, gather->operands[0], parts->dim, i);
		part = finish_ring(r, k, gather->kind, part);
		between_build(r, (Which){.part = i}, parts->first, part, pieces);
		for (int j = 0; j < e->ndots; j++) {
			Cut at = parts->last[j];
			sums[j] = at.outer == 1
				? add_part(r, e->dots[j], pieces[j], at.dim, i, sums[j])
				: add_range(r, e->dots[j], pieces[j], at, i, sums[j]);
		}
	}
	for (int j = 0; j < e->ndots; j++)
		replace_result(r, e->dots[j], end_ranges(e->dots[j], sums[j]));
	between_remove(e);
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

/* Where the parts have to be copied to be put together, this is done with what is computed of
   all of them. */
static void
build_summed(const Ring *r, const Parts *all)
{
	const Einsum *e = r->einsum;
	Op *sum = e->collective;
	Make k = make_piece(before_collective(e), sum->results[0]);
	Value **parts = NEW_ARRAY(r->rings->arena, Value *, r->n);
	Cut first = {all->dim, 1}, last = first;
	int nafter = all->dim == outermost_dim(e) ? 0 : after_cut(e, r->n, &last);

	for (int i = 0; i < r->n; i++) {
		Which which = {.part = i};
		Value *part = all->first.outer == 1 ? product_part(r, k, all->first.dim, i)
						    : product_range(r, k, all->first, i);
		between_build(r, which, all->first, part, &part);
		part = finish_ring(r, k, sum->kind, part);
		parts[i] = after_build(r, which, first, nafter, part);
	}
	Op *end = nafter ? e->after[nafter - 1] : sum;
	if (nafter)
		k = make_piece(end, end->results[0]);
	replace_result(r, end, put_together(r, k, parts, last));
	for (int i = nafter - 1; i-- > 0;)
		op_remove(e->after[i]);
	if (nafter)
		op_remove(sum);
	between_remove(e);
	op_remove(e->dots[0]);
}

void
parts_build(const Ring *r)
{
	Parts parts = find_parts(r->einsum, (int)r->n);

	if (r->einsum->behind)
		build_summed(r, &parts);
	else
		build_gathered(r, &parts);
}
