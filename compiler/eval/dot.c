/*
 * dot.c - sums of products.  Both operands are first laid out as
 *
 *   left [batch, rows, inner]    right [batch, inner, columns]
 *
 * in the wide type of the result; then each result element is
 * sum over k, ascending, of left[b, i, k] * right[b, k, j].
 */
#include "eval/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "ir/numbers.h"

typedef struct Matrices {
	int64_t batch, rows, inner, columns;
} Matrices;

enum { TILE = 1024 }; /* columns whose sums stay in the nearest cache */

/*
 * result[i, :] += left[i, k] * right[k, :] for a tile of columns; four rows of
 * the result at a time, so that a row of `right` is read once for the four.
 */
#define MULTIPLY(name, type, STEP) \
	static void name##_rows(const Matrices *shape, const type *a, const type *b, type *r, \
		int64_t height, int64_t width) \
	{ \
		int64_t n = shape->columns, depth = shape->inner; \
		for (int64_t k = 0; k < depth; k++, b += n) { \
			if (height == 4) { \
				type a0 = a[k], a1 = a[depth + k]; \
				type a2 = a[2 * depth + k], a3 = a[3 * depth + k]; \
				for (int64_t j = 0; j < width; j++) { \
					type x = b[j]; \
					r[j] = STEP(r[j], a0, x); \
					r[n + j] = STEP(r[n + j], a1, x); \
					r[2 * n + j] = STEP(r[2 * n + j], a2, x); \
					r[3 * n + j] = STEP(r[3 * n + j], a3, x); \
				} \
				continue; \
			} \
			for (int64_t h = 0; h < height; h++) \
				for (int64_t j = 0; j < width; j++) \
					r[h * n + j] = \
						STEP(r[h * n + j], a[h * depth + k], b[j]); \
		} \
	} \
	static void name(const Matrices *shape, const void *left, const void *right, \
		void *result) \
	{ \
		for (int64_t j = 0; j < shape->columns; j += TILE) { \
			int64_t width = shape->columns - j < TILE ? shape->columns - j : TILE; \
			for (int64_t i = 0; i < shape->rows; i += 4) \
				name##_rows(shape, (const type *)left + i * shape->inner, \
					(const type *)right + j, \
					(type *)result + i * shape->columns + j, \
					shape->rows - i < 4 ? shape->rows - i : 4, width); \
		} \
	}
#define FLOAT_STEP(c, a, b) c + a *b
#define INT_STEP(c, a, b) wrap_add(c, wrap_mul(a, b))
MULTIPLY(multiply_int, int64_t, INT_STEP)
MULTIPLY(multiply_word, uint64_t, FLOAT_STEP)
MULTIPLY(multiply_float, float, FLOAT_STEP)
MULTIPLY(multiply_double, double, FLOAT_STEP)
#undef FLOAT_STEP
#undef INT_STEP
#undef MULTIPLY

typedef void Multiply(const Matrices *shape, const void *left, const void *right, void *result);
static Multiply *const multiplies[WIDE_COUNT] = {
	multiply_int,
	multiply_float,
	multiply_double,
	multiply_word,
};

/* The operand's dims in the order: batch, then rest and contracted in the
   order asked for. */
static void
matrix_order(const Type *type, const Ints *batch, const Ints *contract, bool contract_last,
	int *order)
{
	bool used[MAX_RANK] = {false};
	int n = 0;
	for (int i = 0; i < batch->n; i++)
		used[order[n++] = (int)batch->v[i]] = true;
	for (int i = 0; i < contract->n; i++)
		used[contract->v[i]] = true;
	if (!contract_last)
		for (int i = 0; i < contract->n; i++)
			order[n++] = (int)contract->v[i];
	for (int d = 0; d < type->rank; d++)
		if (!used[d])
			order[n++] = d;
	if (contract_last)
		for (int i = 0; i < contract->n; i++)
			order[n++] = (int)contract->v[i];
}

/* `t` with its dims in `order`, as wide values of `to`.  Returns t's own data
   when that is what they are. */
static const void *
matrix_wide(const Tensor *t, const int *order, DType to, void **owned)
{
	DType from = t->type.dtype;
	int bytes = dtypes[from].bytes;
	int64_t n = type_elements(&t->type), strides[MAX_RANK];
	size_t wide = wide_bytes(to);
	bool direct = from == to && (to == D_f32 || to == D_f64 || to == D_i64 || to == D_u64);
	Copy c = {.rank = t->type.rank};
	Type arranged = t->type;
	row_major(&t->type, strides);
	for (int d = 0; d < c.rank; d++) {
		arranged.dims[d] = c.dims[d] = t->type.dims[order[d]];
		c.from[d] = strides[order[d]];
		direct &= order[d] == d;
	}
	*owned = NULL;
	if (direct)
		return t->data;
	char *result = *owned = calloc((size_t)n + !n, wide);
	char *moved = malloc((size_t)n * (size_t)bytes + 1);
	if (!result || !moved) {
		free(moved);
		return NULL;
	}
	row_major(&arranged, c.to);
	copy_box(&c, bytes, t->data, moved);
	Chunk in;
	Tensor view = {.type = t->type, .data = moved};
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count)
		convert_wide(from, view_wide(&view, i, count, &in), to,
			result + (size_t)i * wide, count);
	free(moved);
	return result;
}

bool
dot(const Op *op, const Tensor *operands, Tensor *result)
{
	const Tensor *x = &operands[0], *y = &operands[1];
	const Ints *batch = op_ints(op, A_lhs_batch), *contract = op_ints(op, A_lhs_contract);
	DType d = result->type.dtype;
	size_t bytes = wide_bytes(d);
	Matrices shape = {1, 1, 1, 1};
	int order[MAX_RANK];
	void *own_left, *own_right = NULL;
	for (int i = 0; i < batch->n; i++)
		shape.batch *= x->type.dims[batch->v[i]];
	for (int i = 0; i < contract->n; i++)
		shape.inner *= x->type.dims[contract->v[i]];
	shape.rows = type_elements(&x->type) / shape.batch / shape.inner;
	shape.columns = type_elements(&y->type) / shape.batch / shape.inner;
	matrix_order(&x->type, batch, contract, true, order);
	const char *left = matrix_wide(x, order, d, &own_left);
	matrix_order(&y->type, op_ints(op, A_rhs_batch), op_ints(op, A_rhs_contract), false,
		order);
	const char *right = left ? matrix_wide(y, order, d, &own_right) : NULL;
	int64_t cells = shape.rows * shape.columns;
	char *acc = right ? malloc((size_t)cells * bytes + 1) : NULL;
	for (int64_t b = 0; acc && b < shape.batch; b++) {
		memset(acc, 0, (size_t)cells * bytes);
		multiplies[wide_of(d)](&shape,
			left + (size_t)(b * shape.rows * shape.inner) * bytes,
			right + (size_t)(b * shape.inner * shape.columns) * bytes, acc);
		store_wide(d, acc, result->data, b * cells, cells);
	}
	free(acc);
	free(own_left);
	free(own_right);
	return acc;
}

/* ---- rows of groups ----------------------------------------------------- */

static void *
wide_copy(const Tensor *t, DType to)
{
	int64_t n = type_elements(&t->type);
	size_t bytes = wide_bytes(to);
	char *copy = malloc((size_t)n * bytes + 1);
	Chunk in;

	for (int64_t i = 0, count; copy && (count = chunk(n - i)); i += count)
		convert_wide(t->type.dtype, view_wide(t, i, count, &in), to,
			copy + (size_t)i * bytes, count);
	return copy;
}

/* Row by row: times the matrix of its group, or added to that. */
static bool
multiply_rows(const Op *op, const Tensor *operands, Tensor *result)
{
	const Tensor *group = &operands[2];
	bool outer = op->kind == O_grouped_outer;
	const Type *of = outer ? &result->type : &operands[1].type;
	DType d = result->type.dtype;
	size_t bytes = wide_bytes(d);
	int last = group->type.rank - 1;
	int64_t groups = of->dims[last], each = group->type.dims[last];
	int64_t left_row = type_elements_from(&operands[0].type, last + 1);
	int64_t right_row = type_elements_from(outer ? &operands[1].type : of, last + 1);
	int64_t result_row = type_elements_from(&result->type, last + 1);
	int64_t n = type_elements(&result->type);
	char *left = wide_copy(&operands[0], d), *right = wide_copy(&operands[1], d);
	char *acc = calloc((size_t)n + 1, bytes);
	Matrices shape = outer ? (Matrices){1, left_row, 1, right_row}
			       : (Matrices){1, 1, left_row, result_row};

	for (int64_t r = 0; left && right && acc && r < type_elements(&group->type); r++) {
		int64_t g = tensor_integer(group, r), matrix = r / each * groups + g;
		if (g < 0 || g >= groups)
			continue;
		multiplies[wide_of(d)](&shape, left + (size_t)(r * left_row) * bytes,
			right + (size_t)((outer ? r : matrix) * right_row) * bytes,
			acc + (size_t)((outer ? matrix : r) * result_row) * bytes);
	}
	if (acc)
		store_wide(d, acc, result->data, 0, n);
	bool enough = left && right && acc;
	free(left);
	free(right);
	free(acc);
	return enough;
}

bool
grouped_dot(const Op *op, const Tensor *operands, Tensor *result)
{
	return multiply_rows(op, operands, result);
}

bool
grouped_outer(const Op *op, const Tensor *operands, Tensor *result)
{
	return multiply_rows(op, operands, result);
}
