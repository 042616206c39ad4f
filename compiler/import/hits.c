/*
 * hits.c - rows at positions by comparing: what is combined other than by a sum.
 *
 *   x      f32[2, 4, 16]         two batches of 4 rows
 *   rows   i32[2, 3]             three of each; along: dim 0 is that of the batches
 *     hit    pred[2, 3, 4, 16]   rows[b, i] = n
 *     taken  f32[2, 3, 16]       sum over n of select(hit, x[b, n, :], 0)
 *
 * Rows along several dims are hit where all are.
 * A reduction computes what it reads: none of the wide tensors is stored.
 */
#include <string.h>

#include "import/builders.h"

/* The dims of rows, then those of x that no batch is. */
static Type
wide_type(const Rows *rows, const Type *type, int nbatch)
{
	Type wide = rows->at[0]->type;

	wide.dtype = type->dtype;
	for (int d = nbatch; d < type->rank; d++)
		wide.dims[wide.rank++] = type->dims[d];
	return wide;
}

bool
hits_fit(int nrows, int rank, int nbatch)
{
	return nrows + rank - nbatch <= MAX_RANK;
}

/* Where the row is that of the position. */
static Value *
find_hits(Make k, const Rows *rows, const Type *wide)
{
	Type positions = *wide;
	Value *hits = NULL;

	positions.dtype = D_i32;
	for (int i = 0; i < rows->n; i++) {
		Value *position = make_iota(k, &positions, rows->at[0]->type.rank + i);
		Value *row = make_spread(k, rows->at[i], 0, &positions);
		Value *hit = make_compare(k, DIR_EQ, position, row);
		hits = hits ? make_binary(k, O_and, hits, hit) : hit;
	}
	return hits;
}

Value *
hits_take(Make k, Value *x, const Rows *rows, const Numbers *along)
{
	if (!x)
		return NULL;
	Type wide = wide_type(rows, &x->type, along->n);
	int64_t to[MAX_RANK], positions[MAX_RANK], first = rows->at[0]->type.rank;

	for (int d = 0; d < x->type.rank; d++)
		to[d] = d < along->n ? along->v[d] : first + d - along->n;
	for (int i = 0; i < rows->n; i++)
		positions[i] = first + i;
	Value *hits = find_hits(k, rows, &wide), *all = make_broadcast(k, x, &wide, to);
	Value *picked = make_select(k, hits, all, make_full(k, &wide, 0));
	return make_reduce(k, wide.dtype == D_pred ? C_or : C_add, picked, rows->n, positions);
}

/* What the reduction has as its i-th dim is the batch of the i-th least of `along`. */
static Value *
batches_in_order(Make k, Value *x, const Numbers *along)
{
	int64_t order[MAX_RANK];

	for (int d = 0; x && d < x->type.rank; d++)
		order[d] = d < along->n ? 0 : d;
	for (int b = 0; b < along->n; b++)
		for (int i = 0; i < along->n; i++)
			order[b] += along->v[i] < along->v[b];
	return x ? make_transpose(k, x, order) : NULL;
}

Value *
hits_combine(Make k, Combiner c, Value *x, const Rows *rows, const Numbers *along,
	Value *update)
{
	Type wide = wide_type(rows, &x->type, along->n);
	int64_t to[MAX_RANK], dims[MAX_RANK];
	int n = 0, nrows = rows->at[0]->type.rank;

	for (int d = 0; d < update->type.rank; d++)
		to[d] = d < nrows ? d : d + rows->n;
	for (int d = 0; d < nrows; d++)
		if (!numbers_have(along, d))
			dims[n++] = d;
	Value *none = make_full(k, &wide, combiner_identity(c, wide.dtype));
	Value *hits = find_hits(k, rows, &wide), *all = make_broadcast(k, update, &wide, to);
	Value *picked = make_select(k, hits, all, none);
	picked = n ? make_reduce(k, c, picked, n, dims) : picked;
	return make_combine(k, c, x, batches_in_order(k, picked, along));
}

/* update[batches, one dim of the rows, the others] */
static Value *
batches_first(Make k, Value *update, const Type *rows, const Numbers *along, int64_t n)
{
	int64_t order[MAX_RANK], dims[MAX_RANK];
	int at = 0, rank = 0;

	for (int b = 0; b < along->n; b++)
		order[at++] = along->v[b];
	for (int d = 0; d < update->type.rank; d++)
		if (d >= rows->rank || !numbers_have(along, d))
			order[at++] = d;
	for (int b = 0; b < along->n; b++)
		dims[rank++] = update->type.dims[order[b]];
	dims[rank++] = n;
	for (int d = rows->rank; d < update->type.rank; d++)
		dims[rank++] = update->type.dims[d];
	return make_reshape(k, make_transpose(k, update, order), rank, dims);
}

/* The last row that is set at a position is what is there then. */
Value *
hits_set(Make k, Value *x, const Rows *rows, const Numbers *along, Value *update)
{
	const Type *of_rows = &rows->at[0]->type;
	Type last = x->type;
	Numbers first = {.n = along->n};
	uint32_t own = 0; /* dims of the rows that no batch is */
	int64_t n = 1;

	last.dtype = D_i32;
	last.rank = along->n + rows->n;
	for (int b = 0; b < along->n; b++)
		first.v[b] = b;
	Value *none = make_full(k, &last, -1);
	for (int d = 0; d < of_rows->rank; d++)
		if (!numbers_have(along, d)) {
			own |= 1u << d;
			n *= of_rows->dims[d];
		}
	Value *number = number_elements(k, of_rows, own, NULL);
	Value *set = hits_combine(k, C_max, none, rows, along, number);
	update = batches_first(k, update, of_rows, along, n);
	if (!set || !update)
		return NULL;
	const Rows lasts = {{set}, 1};
	Value *taken =
		along->n ? hits_take(k, update, &lasts, &first) : make_take(k, update, set, 0);
	set = compare_with(k, DIR_GE, set, 0);
	return make_select(k, make_spread(k, set, 0, &x->type), taken, x);
}
