/*
 * index.c - where an element comes from: index maps that are affine in the
 * loops of a kernel, composed through the ops that only move elements.
 *
 *   transpose(x)[i0, i1] = x[i1, i0]       reverse(x)[i0] = x[n-1 - i0]
 *   x[2:8:2][i0] = x[2 + 2 i0]             broadcast(b)[i0, i1] = b[i1]
 *
 * A reshape that takes a dim apart needs the loop over it to be split; the
 * kernel keeps a tree of splits and maps are refined when they are compared.
 */
#include <string.h>
#include "sched/fuse/kernel.h"

Affine
affine_loop(int loop)
{
	Affine a = {0};

	a.coef[loop] = 1;
	return a;
}

static Term *
terms_scaled(Arena *a, const Term *terms, int64_t scale, Term *rest)
{
	if (!terms)
		return rest;
	Term *t = NEW(a, Term);
	t->at = terms->at;
	t->scale = terms->scale * scale;
	t->next = terms_scaled(a, terms->next, scale, rest);
	return t;
}

static void
affine_add_scaled(Arena *a, Affine *sum, const Affine *x, int64_t scale)
{
	sum->offset += x->offset * scale;
	for (int l = 0; l < MAX_LOOPS; l++)
		sum->coef[l] += x->coef[l] * scale;
	if (x->terms)
		sum->terms = terms_scaled(a, x->terms, scale, sum->terms);
}

/* The first term from there on that only a run knows; those before it add to the offset. */
static const Term *
skip_known(const Term *t, int64_t *offset)
{
	for (; t && t->at->kind == NODE_clamp; t = t->next) {
		const Node *number = t->at->args[0];
		if (!number || number->kind != NODE_constant || number->op->kind != O_constant)
			break;
		int64_t at = lesser(op_int(number->op, A_value), t->at->limit);
		*offset += t->scale * greater(at, 0);
	}
	return t;
}

bool
affine_equal(const Affine *a, const Affine *b)
{
	int64_t from_a = a->offset, from_b = b->offset;
	const Term *s = skip_known(a->terms, &from_a), *t = skip_known(b->terms, &from_b);

	for (; s && t; s = skip_known(s->next, &from_a), t = skip_known(t->next, &from_b))
		if (s->at != t->at || s->scale != t->scale)
			return false;
	return s == t && from_a == from_b && !memcmp(a->coef, b->coef, sizeof a->coef);
}

void
affine_refine(const Kernel *k, Affine *index)
{
	int64_t *coef = index->coef;

	/* Parts come after the loop they are parts of. */
	for (int l = 0; l < k->nloops; l++) {
		const Loop *loop = &k->loops[l];
		if (loop->extent == 1)
			coef[l] = 0;
		if (loop->high < 0 || !coef[l])
			continue;
		coef[loop->high] += coef[l] * k->loops[loop->low].extent;
		coef[loop->low] += coef[l];
		coef[l] = 0;
	}
}

Affine
index_linear(Arena *a, const Type *type, const Affine *index)
{
	Affine linear = {0};
	int64_t stride = 1;

	for (int d = type->rank - 1; d >= 0; d--) {
		affine_add_scaled(a, &linear, &index[d], stride);
		stride *= type->dims[d];
	}
	return linear;
}

/* ---- loops -------------------------------------------------------------- */

static int
new_loop(Kernel *k, int64_t extent, LoopGroup group)
{
	k->loops[k->nloops] = (Loop){extent, -1, -1, group};
	return k->nloops++;
}

int
loop_add(Kernel *k, int64_t extent, LoopGroup group)
{
	int loop = new_loop(k, extent, group);

	k->order[k->norder++] = loop;
	return loop;
}

static bool
loop_split(Kernel *k, int loop, int64_t low_extent)
{
	int64_t extent = k->loops[loop].extent;
	LoopGroup group = k->loops[loop].group;
	int at = 0;

	if (extent % low_extent || k->nloops + 2 > MAX_LOOPS)
		return false;
	while (k->order[at] != loop)
		at++;
	k->loops[loop].high = new_loop(k, extent / low_extent, group);
	k->loops[loop].low = new_loop(k, low_extent, group);
	memmove(&k->order[at + 2], &k->order[at + 1],
		sizeof k->order[0] * (size_t)(k->norder - at - 1));
	k->order[at] = k->loops[loop].high;
	k->order[at + 1] = k->loops[loop].low;
	k->norder++;
	k->outer += at < k->outer;
	return true;
}

/* ---- reshape ------------------------------------------------------------ */

/*
 * Each loop's part of `linear` must fall into a single dim's digit: where its range
 * crosses a multiple of `stride`, the loop is split there.
 *
 *   4 i + j, i < 6, j < 4, stride 12:   i counts 0, 4, ..., 20 and is split,
 *   i = 3 p + q                         12 p + 4 q + j
 */
static bool
split_loops(Kernel *k, Affine *linear, int64_t stride)
{
	for (int l = 0; l < k->nloops; l++) {
		int64_t coef = linear->coef[l], extent = k->loops[l].extent;
		if (!coef || extent == 1)
			continue;
		if (coef < 0)
			return false;
		if (coef >= stride || coef * (extent - 1) < stride)
			continue;
		if (stride % coef || !loop_split(k, l, stride / coef))
			return false;
		affine_refine(k, linear);
	}
	return true;
}

/*
 * The digit of one dim: what `linear` holds of multiples of its stride.  What is left
 * below must not carry into it.
 *
 *   6 p + 3 q + i, p < 4, q < 2, i < 3, stride 6, size 4:   digit p, left 3 q + i
 *   the same + 1:   up to 6 would be left, so that p is the digit of some only
 */
static bool
take_digit(Kernel *k, Affine *linear, int64_t stride, int64_t size, Affine *digit)
{
	int64_t largest = linear->offset / stride, left = linear->offset % stride;

	memset(digit, 0, sizeof *digit);
	digit->offset = largest;
	linear->offset = left;
	for (int l = 0; l < k->nloops; l++) {
		int64_t coef = linear->coef[l], last = k->loops[l].extent - 1;
		if (coef < stride) {
			left += coef * last;
			continue;
		}
		linear->coef[l] = 0;
		if (last && coef % stride)
			return false;
		digit->coef[l] = last ? coef / stride : 0;
		largest += digit->coef[l] * last;
	}
	return largest < size && left < stride;
}

/*
 * Dims fall into the smallest groups with equal products, operand dims [f0, f) and
 * result dims [r0, r): those of the operand hold the elements that the result's index,
 * made linear, counts.
 *
 *   f32[4,6] to f32[8,3]    one group: 3 i0 + i1; operand dim 0 takes multiples of 6,
 *                           so i0 is split into 2 p + q: [p, 3 q + i1]
 */
static bool
through_reshape(Arena *a, Kernel *k, const Type *operand, const Type *type, const Affine *index,
	Affine *result)
{
	int f = 0, r = 0;

	while (f < operand->rank || r < type->rank) {
		int f0 = f, r0 = r, large = 0;
		int64_t pf = f < operand->rank ? operand->dims[f++] : 1;
		int64_t pr = r < type->rank ? type->dims[r++] : 1;
		while (pf != pr) {
			if (pf < pr && f < operand->rank)
				pf *= operand->dims[f++];
			else if (r < type->rank)
				pr *= type->dims[r++];
			else
				return false;
		}
		Type dims = {.rank = r - r0};
		memcpy(dims.dims, &type->dims[r0], sizeof(int64_t) * (size_t)dims.rank);
		Affine linear = index_linear(a, &dims, &index[r0]);
		for (int d = f0; d < f; d++) {
			memset(&result[d], 0, sizeof result[d]);
			large += operand->dims[d] > 1;
			if (operand->dims[d] > 1)
				result[d] = linear;
		}
		if (large < 2)
			continue;
		affine_refine(k, &linear);
		if (linear.terms || linear.offset < 0)
			return false;
		for (int d = f0; d < f; d++) {
			pf /= operand->dims[d];
			if (!split_loops(k, &linear, pf)
				|| !take_digit(k, &linear, pf, operand->dims[d], &result[d]))
				return false;
		}
	}
	return true;
}

/* ---- the others --------------------------------------------------------- */

/* x[2 p + k] for windows(x)[p, k], every second of x. */
static void
through_windows(Arena *a, const Op *op, const Affine *index, Affine *result)
{
	const Ints *dims = op_ints(op, A_windowed);
	const Ints *step = op_ints(op, A_step), *apart = op_ints(op, A_apart);
	int rank = op->operands[0]->type.rank;

	memcpy(result, index, (size_t)rank * sizeof *index);
	for (int i = 0; i < dims->n; i++) {
		Affine *along = &result[dims->v[i]];
		*along = (Affine){0};
		affine_add_scaled(a, along, &index[dims->v[i]], step->v[i]);
		affine_add_scaled(a, along, &index[rank + i], apart->v[i]);
	}
}

bool
index_through(Arena *a, Kernel *k, const Op *op, const Affine *index, Affine *result)
{
	const Type *operand = &op->operands[0]->type;
	const Ints *dims = op_ints(op, A_dims);
	const Ints *start = op_ints(op, A_start), *stride = op_ints(op, A_stride);
	bool spreads = op->kind == O_broadcast, transposes = op->kind == O_transpose;

	if (op_renames(op))
		return through_reshape(a, k, operand, &op->results[0]->type, index, result);
	if (op->kind == O_windows) {
		through_windows(a, op, index, result);
		return true;
	}
	for (int d = 0; d < operand->rank; d++) {
		int from = spreads ? (int)dims->v[d] : transposes ? ints_find(dims, d) : d;
		bool reversed = op->kind == O_reverse && ints_contain(dims, d);
		int64_t scale = reversed ? -1 : stride->n ? stride->v[d] : 1;
		bool none = spreads && operand->dims[d] == 1;
		result[d] = none || scale != 1 ? (Affine){0} : index[from];
		if (!none && scale != 1)
			affine_add_scaled(a, &result[d], &index[from], scale);
		result[d].offset += reversed ? operand->dims[d] - 1
			: start->n	     ? start->v[d]
					     : 0;
	}
	return true;
}
