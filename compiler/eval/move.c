/*
 * move.c - leaves, and ops that move elements without changing them.  Nearly
 * all are one copy of a box between two strided layouts.
 */
#include "eval/kernels.h"

#include <string.h>

/* ---- copying a box ------------------------------------------------------ */

void
row_major(const Type *type, int64_t *strides)
{
	int64_t stride = 1;
	for (int d = type->rank - 1; d >= 0; d--) {
		strides[d] = stride;
		stride *= type->dims[d];
	}
}

/* Drops dims of size 1 and joins neighbours that are contiguous in both
   layouts, so that the inner loop is long. */
static Copy
copy_simplify(const Copy *c)
{
	Copy s = {.from_start = c->from_start, .to_start = c->to_start};
	for (int d = 0; d < c->rank; d++) {
		int64_t n = c->dims[d];
		int last = s.rank - 1;
		if (n == 1)
			continue;
		bool joins =
			s.rank && s.from[last] == c->from[d] * n && s.to[last] == c->to[d] * n;
		if (!joins) {
			s.dims[++last] = 1;
			s.rank++;
		}
		s.dims[last] *= n;
		s.from[last] = c->from[d];
		s.to[last] = c->to[d];
	}
	return s;
}

#define STRIDED(type) \
	static void strided_##type(const void *source, int64_t from, void *result, int64_t to, \
		int64_t n) \
	{ \
		const type *s = source; \
		type *r = result; \
		for (int64_t i = 0; i < n; i++) \
			r[i * to] = s[i * from]; \
	}
STRIDED(uint8_t)
STRIDED(uint16_t)
STRIDED(uint32_t)
STRIDED(uint64_t)
#undef STRIDED

static void
copy_row(int bytes, const char *source, int64_t from, char *result, int64_t to, int64_t n)
{
	if (from == 1 && to == 1)
		memcpy(result, source, (size_t)n * (size_t)bytes);
	else if (bytes == 1)
		strided_uint8_t(source, from, result, to, n);
	else if (bytes == 2)
		strided_uint16_t(source, from, result, to, n);
	else if (bytes == 4)
		strided_uint32_t(source, from, result, to, n);
	else
		strided_uint64_t(source, from, result, to, n);
}

void
copy_box(const Copy *box, int bytes, const void *source, void *result)
{
	Copy c = copy_simplify(box);
	int64_t index[MAX_RANK] = {0};
	int64_t from = c.from_start, to = c.to_start;
	int inner = c.rank - 1, d;

	for (d = 0; d < c.rank; d++)
		if (!c.dims[d])
			return;
	do {
		copy_row(bytes, (const char *)source + from * bytes, c.rank ? c.from[inner] : 1,
			(char *)result + to * bytes, c.rank ? c.to[inner] : 1,
			c.rank ? c.dims[inner] : 1);
		for (d = inner - 1; d >= 0; d--) { /* the next row */
			from += c.from[d];
			to += c.to[d];
			if (++index[d] < c.dims[d])
				break;
			index[d] = 0;
			from -= c.from[d] * c.dims[d];
			to -= c.to[d] * c.dims[d];
		}
	} while (d >= 0);
}

/* A copy over the dims of `t`, row-major on both sides; callers change it. */
static Copy
copy_of(const Type *type)
{
	Copy c = {.rank = type->rank};
	memcpy(c.dims, type->dims, sizeof c.dims);
	row_major(type, c.from);
	row_major(type, c.to);
	return c;
}

static int
element_bytes(const Tensor *t)
{
	return dtypes[t->type.dtype].bytes;
}

/* Where the element at `start` lies, in elements. */
static int64_t
offset_of(const int64_t *start, const int64_t *strides, int rank)
{
	int64_t offset = 0;
	for (int d = 0; d < rank; d++)
		offset += start[d] * strides[d];
	return offset;
}

void
copy_out(const Tensor *large, const int64_t *start, Tensor *small)
{
	Copy c = copy_of(&small->type);
	row_major(&large->type, c.from);
	c.from_start = offset_of(start, c.from, c.rank);
	copy_box(&c, element_bytes(small), large->data, small->data);
}

void
copy_in(const Tensor *small, const int64_t *start, Tensor *large)
{
	Copy c = copy_of(&small->type);
	row_major(&large->type, c.to);
	c.to_start = offset_of(start, c.to, c.rank);
	copy_box(&c, element_bytes(small), small->data, large->data);
}

/* ---- leaves ------------------------------------------------------------- */

bool
constant(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *values = op_ints(op, A_value);
	(void)operands;
	if (result->type.rank == 0)
		tensor_fill_payload(result, values->v[0]);
	else
		for (int i = 0; i < values->n; i++)
			tensor_set_payload(result, i, values->v[i]);
	return true;
}

bool
iota(const Op *op, const Tensor *operands, Tensor *result)
{
	DType d = result->type.dtype;
	int64_t dim = op_int(op, A_iota_dim), n = type_elements(&result->type);
	int64_t inner = type_elements_from(&result->type, dim + 1);
	Chunk wide;
	(void)operands;
	for (int64_t i = 0; i < n; i++) {
		int64_t index = i / inner % result->type.dims[dim];
		convert_wide(D_i64, &index, d, &wide, 1);
		store_wide(d, &wide, result->data, i, 1);
	}
	return true;
}

/* ---- moves -------------------------------------------------------------- */

/* The elements of operand 0 in the same row-major order. */
bool
identity(const Op *op, const Tensor *operands, Tensor *result)
{
	size_t n = (size_t)type_elements(&result->type);
	(void)op;
	memcpy(result->data, operands[0].data, n * (size_t)element_bytes(result));
	return true;
}

bool
broadcast(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *dims = op_ints(op, A_dims);
	int64_t strides[MAX_RANK];
	Copy copy = copy_of(&result->type);
	memset(copy.from, 0, sizeof copy.from);
	row_major(&operands[0].type, strides);
	for (int i = 0; i < dims->n; i++)
		copy.from[dims->v[i]] = strides[i];
	copy_box(&copy, element_bytes(result), operands[0].data, result->data);
	return true;
}

bool
transpose(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *dims = op_ints(op, A_dims);
	int64_t strides[MAX_RANK];
	Copy copy = copy_of(&result->type);
	row_major(&operands[0].type, strides);
	for (int i = 0; i < dims->n; i++)
		copy.from[i] = strides[dims->v[i]];
	copy_box(&copy, element_bytes(result), operands[0].data, result->data);
	return true;
}

bool
slice(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *start = op_ints(op, A_start);
	const Ints *stride = op_ints(op, A_stride);
	Copy copy = copy_of(&result->type);
	row_major(&operands[0].type, copy.from);
	copy.from_start = offset_of(start->v, copy.from, copy.rank);
	for (int d = 0; d < copy.rank; d++)
		copy.from[d] *= stride->v[d];
	copy_box(&copy, element_bytes(result), operands[0].data, result->data);
	return true;
}

bool
reverse(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *dims = op_ints(op, A_dims);
	Copy copy = copy_of(&result->type);
	for (int i = 0; i < dims->n; i++) {
		int64_t d = dims->v[i];
		copy.from_start += (copy.dims[d] - 1) * copy.from[d];
		copy.from[d] = -copy.from[d];
	}
	copy_box(&copy, element_bytes(result), operands[0].data, result->data);
	return true;
}

/* The last dims count the elements of a window. */
static void
show_windows(const Op *op, const Tensor *x, Tensor *result)
{
	const Ints *dims = op_ints(op, A_windowed);
	const Ints *step = op_ints(op, A_step), *apart = op_ints(op, A_apart);
	int rank = x->type.rank;
	Copy copy = copy_of(&result->type);
	row_major(&x->type, copy.from);
	for (int i = 0; i < dims->n; i++) {
		int64_t stride = copy.from[dims->v[i]];
		copy.from[rank + i] = stride * apart->v[i];
		copy.from[dims->v[i]] = stride * step->v[i];
	}
	copy_box(&copy, element_bytes(result), x->data, result->data);
}

bool
windows(const Op *op, const Tensor *operands, Tensor *result)
{
	show_windows(op, operands, result);
	return true;
}

/* The last `shift` rows, then the others. */
bool
roll(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t d = op_int(op, A_along), shift = op_int(op, A_shift);
	int64_t size = result->type.dims[d];
	Copy last = copy_of(&result->type), others = last;
	last.dims[d] = shift;
	last.from_start = (size - shift) * last.from[d];
	others.dims[d] = size - shift;
	others.to_start = shift * others.to[d];
	copy_box(&last, element_bytes(result), operands[0].data, result->data);
	copy_box(&others, element_bytes(result), operands[0].data, result->data);
	return true;
}

bool
concatenate(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t dim = op_int(op, A_dim), start[MAX_RANK] = {0};
	for (int i = 0; i < op->noperands; i++) {
		copy_in(&operands[i], start, result);
		start[dim] += operands[i].type.dims[dim];
	}
	return true;
}

/* Operand 0 from `low` on, each of its elements so many behind the one before, but for what is
   then outside; around it operand 1. */
static void
put_around(const Tensor *operands, const int64_t *low, const int64_t *step, Tensor *result)
{
	Copy fill = copy_of(&result->type);
	memset(fill.from, 0, sizeof fill.from);
	copy_box(&fill, element_bytes(result), operands[1].data, result->data);
	Copy inside = copy_of(&result->type);
	row_major(&operands[0].type, inside.from);
	for (int d = 0; d < result->type.rank; d++) {
		int64_t n = operands[0].type.dims[d], before = low[d], first;
		int64_t behind = result->type.dims[d] - before - (n - 1) * step[d] - 1;
		inside.dims[d] = pad_kept(n, step[d] - 1, &before, &behind, &first);
		inside.from_start += first * inside.from[d];
		inside.to_start += before * inside.to[d];
		inside.to[d] *= step[d];
	}
	copy_box(&inside, element_bytes(result), operands[0].data, result->data);
}

bool
pad(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t step[MAX_RANK];

	for (int d = 0; d < result->type.rank; d++)
		step[d] = op_inner(op, d) + 1;
	put_around(operands, op_ints(op, A_low)->v, step, result);
	return true;
}

bool
frames(const Op *op, const Tensor *operands, Tensor *result)
{
	const Ints *dims = op_ints(op, A_windowed);
	Type wide = operands[0].type;
	int64_t low[MAX_RANK] = {0}, step[MAX_RANK];
	Tensor around;

	for (int i = 0; i < dims->n; i++) {
		low[dims->v[i]] = op_ints(op, A_before)->v[i];
		wide.dims[dims->v[i]] += low[dims->v[i]] + op_ints(op, A_behind)->v[i];
	}
	for (int d = 0; d < wide.rank; d++)
		step[d] = 1;
	if (!tensor_new(&wide, &around))
		return false;
	put_around(operands, low, step, &around);
	show_windows(op, &around, result);
	tensor_free(&around);
	return true;
}

static int64_t
clamp_index(int64_t i, int64_t greatest)
{
	return i < 0 ? 0 : i > greatest ? greatest : i;
}

int64_t
row_looked_up(const Lookup *look, const Type *type, const Tensor *index, int64_t i, bool clamp)
{
	int64_t row = 0;

	for (int k = 0; k < look->n; k++) {
		int64_t size = type->dims[look->first + k];
		int64_t at = tensor_integer(index, i * look->n + k);
		int64_t inside = clamp_index(at, size - 1);
		if (at != inside && !clamp)
			return -1;
		row = row * size + inside;
	}
	return row;
}

/* Rows of `inner` elements; result[o][i] = x[o][index[i]]. */
bool
take(const Op *op, const Tensor *operands, Tensor *result)
{
	const Tensor *x = &operands[0], *index = &operands[1];
	Lookup look = op_lookup(op);
	int64_t inner = type_elements_from(&x->type, look.first + look.n) * element_bytes(x);
	int64_t size = type_elements_from(&x->type, look.first) * element_bytes(x) / inner;
	int64_t outer = type_stored(&x->type) / (size * inner);
	int64_t n = type_elements(&index->type) / look.n;
	char *to = result->data;
	for (int64_t o = 0; o < outer; o++) {
		for (int64_t i = 0; i < n; i++) {
			int64_t at = row_looked_up(&look, &x->type, index, i, true);
			memcpy(to, (const char *)x->data + (o * size + at) * inner,
				(size_t)inner);
			to += inner;
		}
	}
	return true;
}

/* `starts` are the operands that say where in `large`, clamped to it. */
static void
clamped_start(const Tensor *starts, const Type *large, const Type *small, int64_t *start)
{
	for (int d = 0; d < large->rank; d++)
		start[d] = clamp_index(tensor_integer(&starts[d], 0),
			large->dims[d] - small->dims[d]);
}

bool
dynamic_slice(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t start[MAX_RANK] = {0};
	(void)op;
	clamped_start(operands + 1, &operands[0].type, &result->type, start);
	copy_out(&operands[0], start, result);
	return true;
}

bool
dynamic_update_slice(const Op *op, const Tensor *operands, Tensor *result)
{
	int64_t start[MAX_RANK] = {0};
	clamped_start(operands + 2, &result->type, &operands[1].type, start);
	identity(op, operands, result);
	copy_in(&operands[1], start, result);
	return true;
}
