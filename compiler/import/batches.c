/*
 * batches.c - gathers and scatters of a batch, in which each element has indices of its own.
 *
 *   x      f32[4, 3, 8, 16]     a batch of 4; indices are of dim 2
 *   rows   i32[4, 5]            five of each
 *     index  i32[4, 3, 5, 3]    (b, h, rows[b, i]): what counts, of dims from the batch to the
 *                               indexed one, and the row
 *     taken  f32[4, 3, 5, 16]   take(x, index), which knows what counts
 *
 * So x is not turned, and its dims stay split as they are.
 */
#include <string.h>

#include "import/slices.h"

typedef struct Counting {
	Lookup look;
	Type index;   /* of the indices, without the dim of vectors: what counts first */
	int ncounted; /* so many */
	int64_t to[MAX_RANK]; /* of dims of rows: those of the index */
} Counting;

/* The first dim that is of a batch or indexed, and one past the last. */
static void
find_range(const Cut *cut, int *first, int *end)
{
	*first = cut->shape->rank;
	*end = 0;
	for (int d = 0; d < cut->shape->rank; d++)
		if (numbers_have(&cut->batch, d) || numbers_have(&cut->indexed, d)) {
			*first = d < *first ? d : *first;
			*end = d + 1;
		}
}

/* Which dim of rows is that of the batch; -1: it is of none. */
static int64_t
dim_along(const Cut *cut, int64_t dim)
{
	for (int b = 0; b < cut->batch.n; b++)
		if (cut->batch.v[b] == dim)
			return cut->along.v[b];
	return -1;
}

static Counting
find_counting(const Cut *cut, const Type *rows)
{
	Counting count = {.index = type_of(D_i32, 0, NULL)};
	int end;

	find_range(cut, &count.look.first, &end);
	count.look.n = end - count.look.first;
	for (int i = 0; i < count.look.n; i++) {
		int64_t dim = count.look.first + i, along = dim_along(cut, dim);
		count.look.counts[i] = -1;
		if (numbers_have(&cut->indexed, dim))
			continue;
		if (along >= 0)
			count.to[along] = count.index.rank;
		count.ncounted++;
		count.look.counts[i] = count.index.rank;
		count.index.dims[count.index.rank++] = cut->shape->dims[dim];
	}
	for (int r = 0; r < rows->rank && count.index.rank < MAX_RANK; r++)
		if (!numbers_have(&cut->along, r)) {
			count.to[r] = count.index.rank;
			count.index.dims[count.index.rank++] = rows->dims[r];
		}
	return count;
}

bool
batch_fits(const Cut *cut, const Rows *rows)
{
	Counting count = find_counting(cut, &rows->at[0]->type);
	int others = cut->shape->rank - count.look.n;

	return cut->batch.n > 0 && count.index.rank + 2 <= MAX_RANK
		&& count.index.rank + others <= MAX_RANK;
}

bool
batch_pairs_fit(const Cut *cut, const Rows *rows)
{
	enum { MOST_PAIRS = 1 << 20 };
	Counting count = find_counting(cut, &rows->at[0]->type);
	int64_t n = type_elements_from(&count.index, count.ncounted), pairs;

	return mul_i64(n, type_elements(&count.index), &pairs) && pairs <= MOST_PAIRS;
}

void
batch_order(const Cut *cut, const SliceDims *slices, int rank, int64_t *order)
{
	int64_t of[MAX_RANK] = {0}; /* dim of x */
	int64_t at[MAX_RANK] = {0}; /* dim of the indices */
	int n = 0, nindices = 0, first, end;

	find_range(cut, &first, &end);
	for (int j = 0; j < cut->kept.n; j++)
		of[cut->kept.v[j]] = slices->window.v[j];
	for (int d = 0; d < rank; d++)
		if (!numbers_have(&slices->window, d))
			at[nindices++] = d;
	for (int d = 0; d < end; d++)
		if (dim_along(cut, d) >= 0)
			order[n++] = at[dim_along(cut, d)];
		else if (!numbers_have(&cut->indexed, d))
			order[n++] = of[d];
	for (int r = 0; r < nindices; r++)
		if (!numbers_have(&cut->along, r))
			order[n++] = at[r];
	for (int i = 0; i < cut->indexed.n; i++)
		if (numbers_have(&cut->kept, cut->indexed.v[i]))
			order[n++] = of[cut->indexed.v[i]];
	for (int d = end; d < cut->shape->rank; d++)
		order[n++] = of[d];
}

/* Rows like the index, of each indexed dim. */
static bool
spread_rows(Make k, const Counting *count, const Rows *rows, Rows *spread)
{
	int rank = rows->at[0]->type.rank, n = 0;
	int64_t order[MAX_RANK], to[MAX_RANK];

	for (int d = 0; d < count->index.rank; d++)
		for (int r = 0; r < rank; r++)
			if (count->to[r] == d) {
				order[n] = r;
				to[n++] = d;
			}
	spread->n = rows->n;
	for (int i = 0; i < rows->n; i++) {
		Value *row = make_transpose(k, rows->at[i], order);
		spread->at[i] = row ? make_broadcast(k, row, &count->index, to) : NULL;
		if (!spread->at[i])
			return false;
	}
	return true;
}

/* What counts, and the rows, of each dim that is looked up. */
static Value *
find_index(Make k, const Cut *cut, const Counting *count, const Rows *spread)
{
	Rows all = {.n = count->look.n};

	for (int i = 0; i < all.n; i++) {
		if (count->look.counts[i] >= 0)
			all.at[i] = make_iota(k, &count->index, count->look.counts[i]);
		for (int j = 0; j < spread->n; j++)
			if (cut->indexed.v[j] == count->look.first + i)
				all.at[i] = spread->at[j];
	}
	return as_vectors(k, &all);
}

Value *
batch_take(Make k, const Cut *cut, Value *x, const Rows *rows)
{
	Counting count = find_counting(cut, &rows->at[0]->type);
	Rows spread;

	if (!spread_rows(k, &count, rows, &spread))
		return NULL;
	return make_lookup_as(k, x, find_index(k, cut, &count, &spread), &count.look);
}

Value *
batch_add(Make k, const Cut *cut, Value *x, const Rows *rows, Value *update)
{
	Counting count = find_counting(cut, &rows->at[0]->type);
	Rows spread;

	if (!spread_rows(k, &count, rows, &spread))
		return NULL;
	return make_scatter_add_as(k, x, find_index(k, cut, &count, &spread), update,
		&count.look);
}

/* update[.., batch, one dim of its rows, ..]; of one row without that dim. */
static Value *
rows_as_one(Make k, const Cut *cut, const Counting *count, Value *update)
{
	int64_t dims[MAX_RANK], n = type_elements_from(&count->index, count->ncounted);
	int rank = count->look.first + count->ncounted;

	memcpy(dims, update->type.dims, sizeof dims);
	if (n > 1)
		dims[rank++] = n;
	for (int d = count->look.first + count->look.n; d < cut->shape->rank; d++)
		dims[rank++] = cut->shape->dims[d];
	return make_reshape(k, update, rank, dims);
}

/* Where each dim of x is if of those that are looked up what counts is before the others. */
static void
counted_first(const Cut *cut, const Counting *count, int64_t *at)
{
	int first = count->look.first, last = first + count->ncounted;

	for (int d = 0; d < cut->shape->rank; d++)
		at[d] = d;
	for (int i = 0; i < count->look.n; i++)
		at[first + i] =
			count->look.counts[i] >= 0 ? first + count->look.counts[i] : last++;
}

/* Update number where[..] - 1 of each element of the batch, like x; `where` is of the dims that
   are looked up. */
static Value *
take_updates(Make k, const Cut *cut, const Counting *count, Value *update, Value *where)
{
	int64_t at[MAX_RANK], order[MAX_RANK];
	int first = count->look.first, n = count->ncounted;
	Lookup look = {.first = first, .n = n + 1};
	Rows rows = {.n = n + 1};

	counted_first(cut, count, at);
	for (int i = 0; i < count->look.n; i++)
		order[at[first + i] - first] = i;
	where = make_transpose(k, where, order);
	if (!where)
		return NULL;
	for (int i = 0; i <= n; i++) {
		look.counts[i] = i < n ? i : -1;
		rows.at[i] = i < n ? make_iota(k, &where->type, i) : with(k, O_sub, where, 1);
	}
	Value *taken = make_lookup_as(k, update, as_vectors(k, &rows), &look);
	return taken ? make_transpose(k, taken, at) : NULL;
}

/* The one update of each element of the batch, like x. */
static Value *
spread_update(Make k, const Cut *cut, Value *update)
{
	int64_t to[MAX_RANK];
	int n = 0;

	for (int d = 0; d < cut->shape->rank; d++)
		if (!numbers_have(&cut->indexed, d))
			to[n++] = d;
	return make_broadcast(k, update, cut->shape, to);
}

Value *
batch_set(Make k, const Cut *cut, Value *x, const Rows *rows, Value *update, bool unique)
{
	Counting count = find_counting(cut, &rows->at[0]->type);
	Type ends = type_of(D_i32, count.look.n, cut->shape->dims + count.look.first);
	uint32_t own = ((1u << count.index.rank) - 1) & ~((1u << count.ncounted) - 1);
	bool one = type_elements_from(&count.index, count.ncounted) == 1;
	Lookup look = count.look;
	Rows spread;

	if (!spread_rows(k, &count, rows, &spread))
		return NULL;
	if (!unique && !one)
		last_of_each(k, &spread, count.ncounted);
	look.first = 0;
	Value *number = with(k, O_add, number_elements(k, &count.index, own, NULL), 1);
	Value *none = make_full(k, &ends, 0), *index = find_index(k, cut, &count, &spread);
	Value *where = make_scatter_add_as(k, none, index, number, &look);
	update = rows_as_one(k, cut, &count, update);
	if (!update || !where)
		return NULL;
	update = one ? spread_update(k, cut, update)
		     : take_updates(k, cut, &count, update, where);
	where = make_spread(k, compare_with(k, DIR_GT, where, 0), count.look.first, &x->type);
	return make_select(k, where, update, x);
}
