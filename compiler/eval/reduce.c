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
	size_t bytes = wide_bytes(wide_of(d));
	char *acc = calloc((size_t)n + !n, bytes);
	for (int64_t i = 0; acc && i < n; i++)
		load_wide(d, init->data, 0, 1, acc + (size_t)i * bytes);
	return acc;
}

/* Strides of the result over the operand's dims: 0 where reduced. */
static void
kept_strides(const Type *type, const Type *result, const Ints *dims, int64_t *strides)
{
	int64_t of_result[MAX_RANK];
	bool reduced[MAX_RANK] = {false};
	int kept = 0;
	row_major(result, of_result);
	for (int i = 0; i < dims->n; i++)
		reduced[dims->v[i]] = true;
	for (int d = 0; d < type->rank; d++)
		strides[d] = reduced[d] ? 0 : of_result[kept++];
}

/* Joins dims that are both reduced, or both kept and contiguous, and drops
   those of size 1.  Returns the rank. */
static int
join_dims(const Type *type, const int64_t *strides, int64_t *sizes, int64_t *result_strides)
{
	int rank = 0;
	for (int d = 0; d < type->rank; d++) {
		int64_t n = type->dims[d];
		if (n == 1)
			continue;
		if (rank && result_strides[rank - 1] == strides[d] * n)
			rank--;
		else
			sizes[rank] = 1;
		sizes[rank] *= n;
		result_strides[rank++] = strides[d];
	}
	return rank;
}

/* A run of the operand's elements into accumulators at stride 0 or 1. */
static void
combine_run(const Tensor *t, int64_t first, int64_t n, CombineLoop *loop, char *acc, int stride)
{
	size_t bytes = wide_bytes(wide_of(t->type.dtype));
	Chunk buffer;
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t count = n - i < CHUNK ? n - i : CHUNK;
		loop(acc, view_wide(t, first + i, count, &buffer), count, stride);
		acc += stride ? (size_t)count * bytes : 0;
	}
}

static void
combine_all(const Tensor *t, int rank, const int64_t *sizes, const int64_t *strides,
	CombineLoop *loop, char *acc)
{
	size_t bytes = wide_bytes(wide_of(t->type.dtype));
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
	int64_t strides[MAX_RANK], sizes[MAX_RANK], joined[MAX_RANK];
	int64_t n = type_elements(&result->type);
	CombineLoop *loop = combine_loops[c][wide_of(d)];
	char *acc = accumulators(init, n);
	if (!acc)
		return false;
	if (!loop)
		die("reduce: '%s' of %s", combiners[c].name, dtypes[d].name);
	kept_strides(&t->type, &result->type, dims, strides);
	int rank = join_dims(&t->type, strides, sizes, joined);
	combine_all(t, rank, sizes, joined, loop, acc);
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

/* Adds rows of `inner` elements one after another, storing after each. */
bool
cumsum(const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	const Type *t = &result->type;
	int64_t dim = op_int(op, A_dim), inner = 1, n = type_elements(t);
	CombineLoop *loop = combine_loops[C_add][wide_of(d)];
	for (int64_t k = dim + 1; k < t->rank; k++)
		inner *= t->dims[k];
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
static void
scatter_rows(const Op *op, const Tensor *operands, char *acc)
{
	const Tensor *x = &operands[0], *index = &operands[1];
	const Tensor *update = &operands[2];
	int64_t dim = op_int(op, A_dim), size = x->type.dims[dim], inner = 1;
	int64_t n = type_elements(&index->type);
	CombineLoop *loop = combine_loops[C_add][wide_of(x->type.dtype)];
	size_t bytes = wide_bytes(wide_of(x->type.dtype));
	for (int64_t d = dim + 1; d < x->type.rank; d++)
		inner *= x->type.dims[d];
	int64_t rows = type_elements(&update->type) / inner;
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = tensor_integer(index, row % n);
		if (at < 0 || at >= size)
			continue;
		combine_run(update, row * inner, inner, loop,
			acc + bytes * (size_t)((row / n * size + at) * inner), 1);
	}
}

bool
scatter_add(const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	int64_t n = type_elements(&result->type);
	char *acc = malloc((size_t)n * wide_bytes(wide_of(d)));
	if (!acc)
		return false;
	load_wide(d, operands[0].data, 0, n, acc);
	scatter_rows(op, operands, acc);
	store_wide(d, acc, result->data, 0, n);
	free(acc);
	return true;
}
