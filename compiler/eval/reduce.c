/*
 * reduce.c - reduce and cumsum: elements combined in ascending index order,
 * in the wide type of the dtype, rounded once at the end.
 */
#include "eval/kernels.h"

#include <stdlib.h>
#include <string.h>

/* Wide accumulators for `n` results, all equal to a scalar tensor's element. */
static void *
accumulators(const Tensor *init, int64_t n)
{
	DType d = init->type.dtype;
	size_t bytes = wide_bytes(d);
	char *acc = calloc((size_t)n + !n, bytes);
	for (int64_t i = 0; acc && i < n; i++)
		load_wide(d, init->data, 0, 1, acc + (size_t)i * bytes);
	return acc;
}

/*
 * The operand's dims, and the strides of the result over them: 0 where reduced.  Dims
 * that are both reduced, or both kept and contiguous, are joined; those of size 1 are
 * dropped.  Returns the rank.
 *
 *   [2, 3, 4, 5] reduced over dims 2, 3:  sizes {6, 20}, strides {1, 0}
 */
static int
join_dims(const Type *type, const Type *result, const Ints *dims, int64_t *sizes,
	int64_t *strides)
{
	int64_t of_result[MAX_RANK];
	int rank = 0, kept = 0;
	row_major(result, of_result);
	for (int d = 0; d < type->rank; d++) {
		int64_t n = type->dims[d],
			stride = ints_contain(dims, d) ? 0 : of_result[kept++];
		if (n == 1)
			continue;
		if (rank && strides[rank - 1] == stride * n)
			rank--;
		else
			sizes[rank] = 1;
		sizes[rank] *= n;
		strides[rank++] = stride;
	}
	return rank;
}

/* A run of the operand's elements into accumulators at stride 0 or 1. */
static void
combine_run(const Tensor *t, int64_t first, int64_t n, CombineLoop *loop, char *acc, int stride)
{
	size_t bytes = wide_bytes(t->type.dtype);
	Chunk buffer;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count) {
		loop(acc, view_wide(t, first + i, count, &buffer), count, stride);
		acc += stride ? (size_t)count * bytes : 0;
	}
}

static void
combine_all(const Tensor *t, int rank, const int64_t *sizes, const int64_t *strides,
	CombineLoop *loop, char *acc)
{
	size_t bytes = wide_bytes(t->type.dtype);
	int64_t n = type_elements(&t->type), index[MAX_RANK] = {0};
	int64_t run = rank ? sizes[rank - 1] : 1, at = 0;
	for (int64_t i = 0; i < n; i += run) {
		combine_run(t, i, run, loop, acc + (size_t)at * bytes,
			rank && strides[rank - 1]);
		for (int d = rank - 2; d >= 0; d--) {
			at += strides[d];
			if (++index[d] < sizes[d])
				break;
			at -= strides[d] * sizes[d];
			index[d] = 0;
		}
	}
}

bool
reduce_dims(const Ints *dims, Combiner c, const Tensor *t, const Tensor *init, Tensor *result)
{
	DType d = t->type.dtype;
	int64_t sizes[MAX_RANK], strides[MAX_RANK], n = type_elements(&result->type);
	CombineLoop *loop = combine_loops[c][wide_of(d)];
	char *acc = accumulators(init, n);
	if (!acc)
		return false;
	if (!loop)
		die("reduce: '%s' of %s", combiners[c].name, dtypes[d].name);
	int rank = join_dims(&t->type, &result->type, dims, sizes, strides);
	combine_all(t, rank, sizes, strides, loop, acc);
	store_wide(d, acc, result->data, 0, n);
	free(acc);
	return true;
}

bool
reduce(const Op *op, const Tensor *operands, Tensor *result)
{
	return reduce_dims(op_ints(op, A_dims), (Combiner)op_int(op, A_combiner), &operands[0],
		&operands[1], result);
}

/* Combines rows of `inner` elements one after another, storing after each. */
bool
cumsum(const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	const Type *t = &result->type;
	int64_t dim = op_int(op, A_dim), inner = type_elements_from(t, dim + 1);
	int64_t n = type_elements(t);
	CombineLoop *loop = combine_loops[op_int(op, A_combiner)][wide_of(d)];
	char *acc = NULL;
	for (int64_t i = 0; i < n; i += inner) {
		if (i / inner % t->dims[dim] == 0) {
			free(acc);
			acc = accumulators(&operands[1], inner);
			if (!acc)
				return false;
		}
		combine_run(&operands[0], i, inner, loop, acc, 1);
		store_wide(d, acc, result->data, i, inner);
	}
	free(acc);
	return true;
}

/* Each row of `inner` updates is added to the row of x that its index names,
   if there is one. */
bool
scatter_add(const Op *op, const Tensor *operands, Tensor *result)
{
	const Tensor *x = &operands[0], *index = &operands[1], *update = &operands[2];
	DType d = result->type.dtype;
	Lookup look = op_lookup(op);
	int64_t inner = type_elements_from(&x->type, look.first + look.n);
	int64_t size = type_elements_from(&x->type, look.first) / inner;
	int64_t n = type_elements(&result->type);
	int64_t nindices = type_elements(&index->type) / look.n;
	size_t bytes = wide_bytes(d);
	char *acc = malloc((size_t)n * bytes);
	if (!acc)
		return false;
	load_wide(d, x->data, 0, n, acc);

	int64_t rows = type_elements(&update->type) / inner;
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = row_looked_up(&look, &x->type, index, row % nindices, false);
		if (at >= 0)
			combine_run(update, row * inner, inner,
				combine_loops[C_add][wide_of(d)],
				acc + bytes * (size_t)((row / nindices * size + at) * inner),
				1);
	}
	store_wide(d, acc, result->data, 0, n);
	free(acc);
	return true;
}
