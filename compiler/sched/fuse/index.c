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

void
affine_add_scaled(Arena *a, Affine *sum, const Affine *x, int64_t scale)
{
	sum->offset += x->offset * scale;
	for (int l = 0; l < MAX_LOOPS; l++)
		sum->coef[l] += x->coef[l] * scale;
	if (x->terms)
		sum->terms = terms_scaled(a, x->terms, scale, sum->terms);
}

static bool
terms_equal(const Term *a, const Term *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (a->at != b->at || a->scale != b->scale)
			return false;
	return a == b;
}

bool
affine_equal(const Affine *a, const Affine *b)
{
	return a->offset == b->offset && terms_equal(a->terms, b->terms)
		&& !memcmp(a->coef, b->coef, sizeof a->coef);
}

bool
affine_uses(const Affine *a, int loop)
{
	return a->coef[loop] != 0;
}

void
affine_refine(const Kernel *k, Affine *a)
{
	/* Parts come after the loop they are parts of. */
	for (int l = 0; l < k->nloops; l++) {
		const Loop *loop = &k->loops[l];
		if (loop->extent == 1)
			a->coef[l] = 0;
		if (loop->high < 0 || !a->coef[l])
			continue;
		a->coef[loop->high] += a->coef[l] * k->loops[loop->low].extent;
		a->coef[loop->low] += a->coef[l];
		a->coef[l] = 0;
	}
}

Affine
index_linear(Arena *a, const Type *t, const Affine *index)
{
	Affine linear = {0};
	int64_t stride = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		affine_add_scaled(a, &linear, &index[d], stride);
		stride *= t->dims[d];
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

bool
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
 * One group of dims of a reshape: operand dims [from, to) hold the elements
 * that the result's index, made linear, counts.
 */
typedef struct Group {
	const Type *operand;
	int from, to;
} Group;

/*
 * The loop's part of `linear` must fall into a single dim's digit: where its
 * range crosses the boundary (a multiple of `stride`), split the loop there.
 */
static bool
split_at(Kernel *k, Affine *linear, int loop, int64_t stride)
{
	int64_t coef = linear->coef[loop];

	if (coef <= 0 || coef >= stride)
		return coef > 0;
	if (coef * (k->loops[loop].extent - 1) < stride)
		return true;
	if (stride % coef || !loop_split(k, loop, stride / coef))
		return false;
	affine_refine(k, linear);
	return true;
}

/* The digits of one dim: what `linear` holds of multiples of its stride. */
static bool
take_digit(Kernel *k, Affine *linear, int64_t stride, int64_t size, Affine *digit)
{
	int64_t largest = 0;

	memset(digit, 0, sizeof *digit);
	for (int l = 0; l < k->nloops; l++) {
		int64_t coef = linear->coef[l];
		if (!coef || k->loops[l].extent == 1) {
			linear->coef[l] = 0;
			continue;
		}
		if (coef < stride)
			continue;
		if (coef % stride)
			return false;
		digit->coef[l] = coef / stride;
		largest += digit->coef[l] * (k->loops[l].extent - 1);
		linear->coef[l] = 0;
	}
	digit->offset = linear->offset / stride;
	linear->offset %= stride;
	return largest + digit->offset < size;
}

static bool
split_loops(Kernel *k, Affine *linear, int64_t stride)
{
	for (int l = 0; l < k->nloops; l++)
		if (linear->coef[l] && k->loops[l].extent > 1
			&& !split_at(k, linear, l, stride))
			return false;
	return true;
}

/* What is left below `stride` must not carry into the digits above it. */
static bool
carries(const Kernel *k, const Affine *linear, int64_t stride)
{
	int64_t largest = linear->offset;

	for (int l = 0; l < k->nloops; l++)
		largest += linear->coef[l] * (k->loops[l].extent - 1);
	return largest >= stride;
}

static bool
group_digits(Kernel *k, const Group *g, Affine linear, Affine *result)
{
	int64_t stride = 1;

	affine_refine(k, &linear);
	if (linear.terms || linear.offset < 0)
		return false;
	for (int d = g->from; d < g->to; d++)
		stride *= g->operand->dims[d];
	for (int d = g->from; d < g->to; d++) {
		stride /= g->operand->dims[d];
		if (!split_loops(k, &linear, stride))
			return false;
		if (!take_digit(k, &linear, stride, g->operand->dims[d], &result[d]))
			return false;
		if (carries(k, &linear, stride))
			return false;
	}
	return true;
}

static bool
through_group(Arena *a, Kernel *k, const Type *from, int f0, int f1, const Type *to, int t0,
	int t1, const Affine *index, Affine *result)
{
	Type dims = {.rank = t1 - t0};
	Group g = {from, f0, f1};

	memcpy(dims.dims, &to->dims[t0], sizeof(int64_t) * (size_t)dims.rank);
	Affine linear = index_linear(a, &dims, &index[t0]);
	int large = -1;
	for (int d = f0; d < f1; d++) {
		memset(&result[d], 0, sizeof result[d]);
		if (from->dims[d] > 1)
			large = large < 0 ? d : MAX_RANK;
	}
	if (large == MAX_RANK)
		return group_digits(k, &g, linear, result);
	if (large >= 0)
		result[large] = linear;
	return true;
}

/* Dims fall into the smallest groups with equal products. */
static bool
through_reshape(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	const Type *t = &op->results[0]->type;
	int f = 0, r = 0;

	while (f < operand->rank || r < t->rank) {
		int f0 = f, r0 = r;
		int64_t pf = 1, pr = 1;
		if (f < operand->rank)
			pf = operand->dims[f++];
		if (r < t->rank)
			pr = t->dims[r++];
		while (pf != pr) {
			if (pf < pr && f < operand->rank)
				pf *= operand->dims[f++];
			else if (r < t->rank)
				pr *= t->dims[r++];
			else
				return false;
		}
		if (!through_group(a, k, operand, f0, f, t, r0, r, index, result))
			return false;
	}
	return true;
}

/* ---- the others --------------------------------------------------------- */

static bool
through_same(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	(void)a, (void)k, (void)op;
	for (int d = 0; d < operand->rank; d++)
		result[d] = index[d];
	return true;
}

static bool
through_broadcast(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	const Ints *dims = op_ints(op, A_dims);

	(void)a, (void)k;
	for (int d = 0; d < operand->rank; d++) {
		memset(&result[d], 0, sizeof result[d]);
		if (operand->dims[d] > 1)
			result[d] = index[dims->v[d]];
	}
	return true;
}

static bool
through_transpose(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	const Ints *dims = op_ints(op, A_dims);

	(void)a, (void)k;
	for (int d = 0; d < operand->rank; d++)
		result[dims->v[d]] = index[d];
	return true;
}

static bool
through_slice(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	const Ints *start = op_ints(op, A_start), *stride = op_ints(op, A_stride);

	(void)k;
	for (int d = 0; d < operand->rank; d++) {
		memset(&result[d], 0, sizeof result[d]);
		affine_add_scaled(a, &result[d], &index[d], stride->n ? stride->v[d] : 1);
		result[d].offset += start->v[d];
	}
	return true;
}

static bool
through_reverse(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	const Ints *dims = op_ints(op, A_dims);

	(void)k;
	for (int d = 0; d < operand->rank; d++)
		result[d] = index[d];
	for (int i = 0; i < dims->n; i++) {
		int d = (int)dims->v[i];
		memset(&result[d], 0, sizeof result[d]);
		affine_add_scaled(a, &result[d], &index[d], -1);
		result[d].offset += operand->dims[d] - 1;
	}
	return true;
}

typedef bool Through(Arena *a, Kernel *k, const Op *op, const Type *operand,
	const Affine *index, Affine *result);

static Through *const through[OP_COUNT] = {
	[O_broadcast] = through_broadcast,
	[O_reshape] = through_reshape,
	[O_transpose] = through_transpose,
	[O_slice] = through_slice,
	[O_reverse] = through_reverse,
	[O_constraint] = through_same,
	[O_barrier] = through_same,
	[O_shard_like] = through_same,
	[O_output] = through_same,
};

bool
index_through(Arena *a, Kernel *k, const Op *op, const Type *operand, const Affine *index,
	Affine *result)
{
	Through *function = through[op->kind];

	return function && function(a, k, op, operand, index, result);
}
