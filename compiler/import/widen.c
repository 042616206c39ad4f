/*
 * widen.c - what is computed of all rows of a dim but a few, and put beside these.
 *
 *   concatenate(p, f(a[:-1], b[2::2]))      p is written into f(pad(a, 1_-1), b[::2])
 *
 * as in a scan of pairs.  What has a row less no axis divides, so it would be gathered, or
 * padded; of all rows, with any numbers in those that are written over, it stays where they
 * are, and devices exchange the row that is moved.
 */
#include <string.h>

#include "import/builders.h"

enum { MOST_WIDER = 64 }; /* ops of what is computed */

typedef struct Wider {
	Arena *arena;
	const Mesh *mesh;
	int64_t before, behind, size; /* more rows; of all */
	int n;
	struct {
		const Value *from;
		int dim, uses; /* so often by what is computed */
		Value *to;
	} known[MOST_WIDER];
} Wider;

static Value *widen(Wider *w, Value *v, int dim);

/* Elements of x, with those before and behind them, where there are any; else all that are so
   many apart are moved, if they may be split as the result is. */
static Value *
widen_slice(Wider *w, Op *made, int dim)
{
	Value *x = made->operands[0];
	int rank = x->type.rank;
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	size_t bytes = (size_t)rank * sizeof start[0];
	int64_t size = x->type.dims[dim], low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
	int64_t inner[MAX_RANK] = {0};

	memcpy(start, op_ints(made, A_start)->v, bytes);
	memcpy(limit, op_ints(made, A_limit)->v, bytes);
	memcpy(stride, op_ints(made, A_stride)->v, bytes);
	int64_t first = start[dim] - w->before * stride[dim];
	int64_t end = first + (w->size - 1) * stride[dim] + 1;
	if (first >= 0 && end <= size) {
		start[dim] = first;
		limit[dim] = end;
		return make_slice(make_before(made), x, start, limit, stride);
	}
	int64_t phase = start[dim] % stride[dim];
	int64_t rows = (size - phase - 1) / stride[dim] + 1;
	if (!may_be_split(w->mesh, rows, w->size))
		return NULL;
	low[dim] = w->before - start[dim] / stride[dim];
	high[dim] = w->size - low[dim] - rows;
	start[dim] = phase;
	limit[dim] = size;
	return make_pad_late(make_before(made),
		make_slice(make_before(made), x, start, limit, stride), NULL, low, high, inner);
}

/* More is around it, or it is of more rows. */
static Value *
widen_pad(Wider *w, Op *made, int dim)
{
	Value *x = made->operands[0];
	int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		low[d] = op_ints(made, A_low)->v[d];
		high[d] = op_ints(made, A_high)->v[d];
		inner[d] = op_inner(made, d);
	}
	if (!low[dim] && !high[dim] && !inner[dim]) {
		x = widen(w, x, dim);
	} else {
		low[dim] += w->before;
		high[dim] += w->behind;
	}
	if (!x || !may_be_split(w->mesh, x->type.dims[dim], w->size))
		return NULL;
	return make_pad_late(make_before(made), x, made->operands[1], low, high, inner);
}

/* May an op of other sizes have the same attributes? */
static bool
is_by_rows(const Op *made)
{
	bool kept = made->kind == O_broadcast || made->kind == O_reshape
		|| made->kind == O_transpose || made->kind == O_reduce || made->kind == O_dot;
	bool pointwise = ops[made->kind].pointwise && made->nresults == 1;

	return kept || (pointwise && !op_is_identity(made));
}

/* The operand's dim that is that one of the result; -1: none is; -2: rows are not computed each
   by itself. */
static int
dim_of_operand(const Rule *r, int operand, int result_dim)
{
	const DimFactors *of = &r->dims[r->noperands][result_dim];
	int found = -1;

	if (of->n != 1 || r->factors[of->f[0]].kind != F_pass)
		return -2;
	for (int d = 0; d < r->rank[operand]; d++)
		for (int i = 0; i < r->dims[operand][d].n; i++)
			if (r->dims[operand][d].f[i] == of->f[0])
				found = r->dims[operand][d].n == 1 ? d : -2;
	return found;
}

static Value *
widen_op(Wider *w, Op *made, int dim)
{
	const Rule *r = is_by_rows(made) ? op_rule(w->arena, made) : NULL;
	Value **operands = NEW_ARRAY(w->arena, Value *, made->noperands + 1);

	for (int i = 0; i < made->noperands; i++) {
		int d = r ? dim_of_operand(r, i, dim) : -2;
		operands[i] = d == -1 ? made->operands[i]
			: d < 0	      ? NULL
				      : widen(w, made->operands[i], d);
		if (!operands[i])
			return NULL;
	}
	Op *wide = make_begin(make_before(made), made->kind, made->noperands, operands);
	op_copy_attrs(wide, made);
	wide->results[0]->type = made->results[0]->type;
	wide->results[0]->type.dims[dim] += w->before + w->behind;
	return make_end(make_before(made), wide);
}

/* The same with so many rows more; NULL: it cannot be. */
static Value *
widen(Wider *w, Value *v, int dim)
{
	for (int i = 0; i < w->n; i++)
		if (w->known[i].from == v && w->known[i].dim == dim) {
			w->known[i].uses++;
			return w->known[i].to;
		}
	if (!v->def || w->n == MOST_WIDER)
		return NULL;
	int at = w->n++;
	w->known[at].from = v;
	w->known[at].dim = dim;
	w->known[at].uses = 1;
	Op *made = v->def;
	w->known[at].to = made->kind == O_slice ? widen_slice(w, made, dim)
		: made->kind == O_pad		? widen_pad(w, made, dim)
						: widen_op(w, made, dim);
	return w->known[at].to;
}

/* Is all that is computed of more rows read by that alone?  Else it would be computed twice. */
static bool
is_alone(const Wider *w)
{
	for (int i = 0; i < w->n; i++) {
		const Value *v = w->known[i].from;
		if (v->uses > w->known[i].uses && v->def->kind != O_slice
			&& v->def->kind != O_broadcast)
			return false;
	}
	return true;
}

/* All rows, if they may be split and those that are computed may not, but are more than
   half. */
static Value *
all_rows(Arena *a, const Mesh *mesh, Value *most, int dim, int64_t before, int64_t behind)
{
	int64_t few = before + behind, size = most->type.dims[dim] + few;
	Wider w = {.arena = a, .mesh = mesh, .before = before, .behind = behind, .size = size};

	if (!few || 2 * few >= size || may_be_split(mesh, size - few, size)
		|| !may_be_split(mesh, size, size))
		return NULL;
	Value *wide = widen(&w, most, dim);
	return wide && is_alone(&w) ? wide : NULL;
}

static Value *
write_rows(Make k, Value *x, Value *rows, int dim, int64_t from)
{
	Value *start[MAX_RANK] = {NULL};

	start[dim] = make_index(k, from);
	return make_dynamic_update_slice(k, x, rows, start);
}

static Value *
join_wider(Arena *a, Op *joined)
{
	int dim = (int)op_int(joined, A_dim), n = joined->noperands;
	int64_t size = joined->results[0]->type.dims[dim];
	Make k = make_before(joined);

	for (int at = 0; at < n && n > 1; at += n - 1) {
		Value *most = joined->operands[at];
		int64_t rows = most->type.dims[dim], few = size - rows;
		if (most->def && most->def->kind == O_slice)
			continue; /* moved_together() knows better */
		Value *wide = all_rows(a, &joined->module->mesh, most, dim, at ? few : 0,
			at ? 0 : few);
		if (wide)
			return write_rows(k, wide,
				make_concatenate(k, n - 1, joined->operands + !at, dim), dim,
				at ? 0 : rows);
	}
	return NULL;
}

/* Whole rows of padding are written into what is computed. */
static Value *
pad_wider(Arena *a, Op *pad)
{
	Value *x = pad->operands[0], *padding = pad->operands[1];
	int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
	Make k = make_before(pad);

	for (int d = 0; d < x->type.rank; d++) {
		low[d] = op_ints(pad, A_low)->v[d];
		high[d] = op_ints(pad, A_high)->v[d];
		inner[d] = op_inner(pad, d);
	}
	for (int d = 0; d < x->type.rank; d++) {
		int64_t step = inner[d] + 1, rows = x->type.dims[d];
		int64_t before = greater(low[d], 0) / step, behind = greater(high[d], 0) / step;
		Value *wide = all_rows(a, &pad->module->mesh, x, d, before, behind);
		if (!wide)
			continue;
		Type type = x->type;
		type.dims[d] = before;
		if (before)
			wide = write_rows(k, wide, make_splat(k, padding, &type), d, 0);
		type.dims[d] = behind;
		if (behind)
			wide = write_rows(k, wide, make_splat(k, padding, &type), d,
				before + rows);
		low[d] -= before * step;
		high[d] -= behind * step;
		return make_pad_late(k, wide, padding, low, high, inner);
	}
	return NULL;
}

Value *
computed_wider(Arena *a, Op *made)
{
	if (made->kind == O_concatenate)
		return join_wider(a, made);
	return made->kind == O_pad ? pad_wider(a, made) : NULL;
}
