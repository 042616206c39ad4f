/*
 * verify_index.c - what gathers, scatters and windows say of dims.
 */
#include <string.h>

#include "import/builders.h"
#include "import/verify.h"

/* What a gather and a scatter have alike, by the names that either has. */
typedef struct IndexDims {
	const MlirType *x, *indices, *rows;
	Numbers window;	  /* of the rows: those of x */
	Numbers gone;	  /* of x: those that rows have not */
	Numbers batch;	  /* of x: those of the indices, too */
	Numbers of_index; /* of the indices: those of `batch` */
	Numbers where;	  /* of x: what an index vector is of */
	int64_t vector;	  /* of the indices */
} IndexDims;

typedef struct IndexNames {
	const char *numbers, *window, *gone, *batch, *of_index, *where;
} IndexNames;

static bool
disjoint(const Verified *vd, const Numbers *a, const Numbers *b)
{
	for (int i = 0; i < a->n; i++)
		if (numbers_have(b, a->v[i]))
			return verify_wrong(vd, "dim %lld is two things", (long long)a->v[i]);
	return true;
}

static bool
read_dims(const Verified *vd, const IndexNames *names, IndexDims *dims)
{
	const MlirAttr *numbers = attr_of(vd->in, vd->op, names->numbers);

	dims->window = field_numbers(vd->in, numbers, names->window);
	dims->gone = field_numbers(vd->in, numbers, names->gone);
	dims->batch = field_numbers(vd->in, numbers, names->batch);
	dims->of_index = field_numbers(vd->in, numbers, names->of_index);
	dims->where = field_numbers(vd->in, numbers, names->where);
	dims->vector = index_vector(vd->in, numbers);
	int rank = dims->x->rank, of_index = dims->indices->rank;
	if (dims->vector < 0 || dims->vector > of_index)
		return verify_wrong(vd, "index_vector_dim is %lld, of %d",
			(long long)dims->vector, of_index);
	int64_t length = dims->vector < of_index ? dims->indices->dims[dims->vector] : 1;
	return verify_dims(vd, names->window, &dims->window, dims->rows->rank, SORTED)
		&& verify_dims(vd, names->gone, &dims->gone, rank, SORTED)
		&& verify_dims(vd, names->batch, &dims->batch, rank, SORTED)
		&& verify_dims(vd, names->of_index, &dims->of_index, of_index, ANY_ORDER)
		&& verify_dims(vd, names->where, &dims->where, rank, ANY_ORDER)
		&& disjoint(vd, &dims->gone, &dims->batch)
		&& disjoint(vd, &dims->where, &dims->batch)
		&& verify_count(vd, names->of_index, dims->of_index.n, dims->batch.n)
		&& verify_count(vd, names->where, dims->where.n,
			length > MAX_RANK ? MAX_RANK + 1 : (int)length)
		&& verify_count(vd, names->window, dims->window.n,
			rank - dims->gone.n - dims->batch.n);
}

/* Batches are as long in the indices; what rows have beside windows are dims of the indices,
   in their order. */
static bool
dims_match(const Verified *vd, const IndexDims *dims)
{
	int at = 0;

	for (int i = 0; i < dims->batch.n; i++)
		if (dims->of_index.v[i] == dims->vector
			|| dims->x->dims[dims->batch.v[i]]
				!= dims->indices->dims[dims->of_index.v[i]])
			return verify_wrong(vd, "batches of %s and %s differ",
				mlir_type_text(vd->in->arena, dims->x),
				mlir_type_text(vd->in->arena, dims->indices));
	for (int d = 0; d < dims->indices->rank; d++) {
		if (d == dims->vector)
			continue;
		while (numbers_have(&dims->window, at))
			at++;
		if (at >= dims->rows->rank || dims->rows->dims[at++] != dims->indices->dims[d])
			return verify_wrong(vd, "rows of %s by indices of %s",
				mlir_type_text(vd->in->arena, dims->rows),
				mlir_type_text(vd->in->arena, dims->indices));
	}
	while (numbers_have(&dims->window, at))
		at++;
	return at == dims->rows->rank
		|| verify_wrong(vd, "a %s has dims that no index has",
			mlir_type_text(vd->in->arena, dims->rows));
}

bool
verify_gather(const Verified *vd)
{
	static const IndexNames names = {"dimension_numbers", "offset_dims",
		"collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
		"start_index_map"};
	IndexDims dims = {.x = vd->operands[0], .indices = vd->operands[1]};
	Numbers sizes;
	int window = 0;

	if (vd->op->types.n != 1)
		return verify_wrong(vd, "it has one result");
	dims.rows = vd->op->types.v[0];
	if (!read_dims(vd, &names, &dims)
		|| !verify_numbers(vd, "slice_sizes", dims.x->rank, &sizes))
		return false;
	for (int d = 0; d < dims.x->rank; d++) {
		bool gone = numbers_have(&dims.gone, d) || numbers_have(&dims.batch, d);
		if (sizes.v[d] < 0 || sizes.v[d] > (gone ? 1 : dims.x->dims[d]))
			return verify_wrong(vd, "slice_sizes has %lld for dim %d of %lld",
				(long long)sizes.v[d], d, (long long)dims.x->dims[d]);
		if (!gone && dims.rows->dims[dims.window.v[window++]] != sizes.v[d])
			return verify_wrong(vd, "slices are not those of a %s",
				mlir_type_text(vd->in->arena, dims.rows));
	}
	return dims_match(vd, &dims);
}

/* Of as many tensors as updates. */
bool
verify_scatter(const Verified *vd)
{
	static const IndexNames names = {"scatter_dimension_numbers", "update_window_dims",
		"inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
		"scatter_dims_to_operand_dims"};
	int n = vd->noperands / 2;

	if (vd->noperands % 2 == 0 || n < 1)
		return verify_wrong(vd, "it takes tensors, indices and updates");
	for (int i = 0; i < n; i++) {
		IndexDims dims = {.x = vd->operands[i],
			.indices = vd->operands[n],
			.rows = vd->operands[n + 1 + i]};
		int window = 0;
		if (!read_dims(vd, &names, &dims))
			return false;
		for (int d = 0; d < dims.x->rank; d++)
			if (!numbers_have(&dims.gone, d) && !numbers_have(&dims.batch, d)
				&& dims.rows->dims[dims.window.v[window++]] > dims.x->dims[d])
				return verify_wrong(vd, "an update is longer than dim %d", d);
		if (!dims_match(vd, &dims) || !verify_shape(vd, i, dims.x->rank, dims.x->dims))
			return false;
	}
	return verify_step(vd, 0, n);
}

/* ---- windows */

/* `name` of each dim, at least 1; 1 where nothing is said. */
static bool
read_positive(const Verified *vd, const char *name, int rank, Numbers *numbers)
{
	*numbers = (Numbers){.n = rank};
	if (!read_each(vd->in, vd->op, name, rank, numbers->v))
		return false;
	for (int d = 0; d < rank; d++)
		if (numbers->v[d] < 1)
			return verify_wrong(vd, "%s has %lld", name, (long long)numbers->v[d]);
	return true;
}

/* n elements with gaps, so many in all. */
static bool
spread(int64_t n, int64_t apart, int64_t *all)
{
	return n == 0 ? (*all = 0, true) : mul_i64(n - 1, apart, all) && add_i64(*all, 1, all);
}

/* dense<...> : tensor<3x2xi64> of 3 dims */
static bool
are_pairs(const Verified *vd, int rank)
{
	const MlirAttr *padding = attr_of(vd->in, vd->op, "padding");
	const MlirType *type = padding ? padding->type : NULL;

	return !type || (type->rank == 2 && type->dims[0] == rank && type->dims[1] == 2)
		|| verify_wrong(vd, "padding is not two numbers for each dim");
}

bool
verify_convolution(const Verified *vd)
{
	return are_pairs(vd, vd->operands[0]->rank > 2 ? vd->operands[0]->rank - 2 : 0);
}

bool
verify_windows(const Verified *vd)
{
	int n = vd->noperands % 2 ? 0 : vd->noperands / 2;
	Numbers size, step, spread_by, apart, low, high;

	for (int i = 0; i < n; i++) {
		const MlirType *x = vd->operands[i];
		int64_t dims[MAX_RANK], one;
		if (!read_positive(vd, "window_dimensions", x->rank, &size)
			|| !read_positive(vd, "window_strides", x->rank, &step)
			|| !read_positive(vd, "base_dilations", x->rank, &spread_by)
			|| !read_positive(vd, "window_dilations", x->rank, &apart))
			return false;
		if (!are_pairs(vd, x->rank))
			return false;
		if (!pairs_of(vd->in, vd->op, "padding", x->rank, &low, &high))
			return verify_wrong(vd, "padding is not two numbers for each dim");
		for (int d = 0; d < x->rank; d++) {
			if (!spread(x->dims[d], spread_by.v[d], &dims[d])
				|| !add_i64(dims[d], low.v[d], &dims[d])
				|| !add_i64(dims[d], high.v[d], &dims[d])
				|| !spread(size.v[d], apart.v[d], &one))
				return verify_wrong(vd, "windows do not fit in 64 bits");
			dims[d] = dims[d] < one ? 0 : (dims[d] - one) / step.v[d] + 1;
		}
		if (!verify_shape(vd, i, x->rank, dims))
			return false;
	}
	return n > 0 ? verify_step(vd, 0, n)
		     : verify_wrong(vd, "it takes tensors and what each begins with");
}
