/*
 * sort.c - elements in the order of a key along one dim, by merging runs.
 *
 * The order is total, as an HLO sort of ours compares (hlo/comparator.c): every NaN is the
 * same and the greatest; both zeros are equal in an ascending one, in a descending one 0 is
 * before -0.
 */
#include "eval/kernels.h"

#include <stdlib.h>
#include <string.h>

/* One line along the dim: its keys in the order of the elements, and the
   positions, sorted so far in runs. */
typedef struct Line {
	const int64_t *keys;
	int64_t *at, *other;
	bool descending;
} Line;

/* Compares as the element does. */
static int64_t
key_of(const Tensor *t, int64_t i, bool descending)
{
	int64_t key;
	if (t->type.dtype == D_u64)
		return (int64_t)((uint64_t)tensor_integer(t, i) - (uint64_t)INT64_MIN);
	if (!dtype_is_float(t->type.dtype))
		return tensor_integer(t, i);
	double v = tensor_double(t, i) + (descending ? -0.0 : 0.0); /* + 0: -0 becomes 0 */
	if (v != v)
		return INT64_MAX;
	memcpy(&key, &v, sizeof key);
	return key < 0 ? key ^ INT64_MAX : key;
}

/* at[first, middle) and at[middle, end) into other[first, end). */
static void
merge(const Line *l, int64_t first, int64_t middle, int64_t end)
{
	int64_t left = first, right = middle;
	for (int64_t i = first; i < end; i++) {
		bool second = left == middle;
		if (!second && right < end) {
			int64_t a = l->keys[l->at[right]], b = l->keys[l->at[left]];
			second = l->descending ? a > b : a < b;
		}
		l->other[i] = l->at[second ? right++ : left++];
	}
}

int64_t *
sort_order(const Op *op, const Tensor *key)
{
	const Type *t = &key->type;
	int64_t dim = op_int(op, A_dim), n = t->dims[dim];
	int64_t inner = type_elements_from(t, dim + 1);
	int64_t total = type_elements(t);
	int64_t *order = malloc((size_t)total * sizeof *order);
	int64_t *line = malloc(3 * (size_t)n * sizeof *line);

	for (int64_t k = 0; order && line && k < total / n; k++) {
		int64_t first = k / inner * n * inner + k % inner;
		Line l = {line, line + n, line + 2 * n, op_int(op, A_direction) == DIR_GT};
		for (int64_t i = 0; i < n; i++) {
			line[i] = key_of(key, first + i * inner, l.descending);
			l.at[i] = i;
		}
		for (int64_t run = 1; run < n; run *= 2) {
			for (int64_t i = 0; i < n; i += 2 * run)
				merge(&l, i, i + run < n ? i + run : n,
					i + 2 * run < n ? i + 2 * run : n);
			int64_t *swap = l.at;
			l.at = l.other;
			l.other = swap;
		}
		for (int64_t i = 0; i < n; i++)
			order[first + i * inner] = first + l.at[i] * inner;
	}
	if (!line) {
		free(order);
		order = NULL;
	}
	free(line);
	return order;
}

void
take_order(const Tensor *t, const int64_t *order, Tensor *result)
{
	size_t bytes = (size_t)dtypes[t->type.dtype].bytes;
	const char *from = t->data;
	char *to = result->data;
	for (int64_t i = type_elements(&t->type) - 1; i >= 0; i--)
		memcpy(to + (size_t)i * bytes, from + (size_t)order[i] * bytes, bytes);
}

bool
sort(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t *order = sort_order(op, &operands[0]);
	if (!order)
		return false;
	for (int i = 0; i < op->noperands; i++)
		take_order(&operands[i], order, &result[i]);
	free(order);
	return true;
}
