/*
 * index.c - gathers and scatters as the few kinds they are.
 *
 *   x[idx]                      take along one dim
 *   take_along_axis             of the last dim: a sum over where an iota is the index
 *   x.at[idx].add(y)            scatter_add along one dim
 *   x.at[i].set(row)            dynamic_update_slice
 */
#include <string.h>

#include "import/builders.h"

/* Which dim of the indices is that of vectors; 0 where nothing says it. */
static int64_t
index_vector(Import *in, const MlirAttr *numbers)
{
	const MlirAttr *says = numbers
		? mlir_attribute(in->program, numbers->items, "index_vector_dim")
		: NULL;

	return says ? says->integer : 0;
}

/* Is there such a dim, or one more than there are: vectors of one? */
static bool
is_vector(Import *in, const SliceDims *slices)
{
	return slices->vector >= 0 && slices->vector <= in->operands[1]->type.rank;
}

/* Without the dim of vectors of one element, as i32; what that may not be is
   outside of any dim. */
static Value *
plain_indices(Import *in, Value *index, const MlirAttr *numbers)
{
	int64_t vector = index_vector(in, numbers);
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = 0; d < index->type.rank; d++)
		if (d != vector)
			dims[n++] = index->type.dims[d];
	index = make_reshape(in->make, index, n, dims);
	if (index && dtypes[index->type.dtype].range > 31) {
		bool sign = dtypes[index->type.dtype].class == DC_signed;
		index = make_clamp(in->make, number_like(in->make, index, sign ? -1 : 0), index,
			number_like(in->make, index, INT32_MAX));
	}
	return make_convert(in->make, index, D_i32);
}

/* Where along `dim` of the shape an iota is the index, whose dims are those of `to`. */
static Value *
one_hot(Import *in, Value *index, const Type *shape, const int64_t *to, int dim)
{
	Type positions = *shape;

	positions.dtype = D_i32;
	return make_compare(in->make, DIR_EQ, make_iota(in->make, &positions, dim),
		make_broadcast(in->make, index, &positions, to));
}

/* The dims of a tensor of `rank` but `count` ones from `first` on. */
static Numbers
dims_around(int rank, int first, int count)
{
	Numbers around = {0};

	for (int d = 0; d < rank; d++)
		if (d < first || d >= first + count)
			around.v[around.n++] = d;
	return around;
}

static bool
same_numbers(const Numbers *a, const Numbers *b)
{
	return a->n == b->n && !memcmp(a->v, b->v, (size_t)a->n * sizeof a->v[0]);
}

/* Batch dims before the last, one index for each element of them: the sum of what an
   iota picks. */
static bool
take_along_last(Import *in, Value *x, Value *index, const Type *type)
{
	int d = x->type.rank - 1;
	Type wide = x->type;
	int64_t to[MAX_RANK], rows[MAX_RANK], last = d + 1;
	int64_t batch = 1;

	for (int i = 0; i < d; i++) {
		batch *= x->type.dims[i];
		to[i] = rows[i] = i;
	}
	to[d] = d;
	rows[d] = d + 1;
	wide.rank = d + 2;
	wide.dims[d] = type_elements(&index->type) / batch;
	wide.dims[d + 1] = x->type.dims[d];
	index = make_reshape(in->make, index, d + 1, wide.dims);
	Value *hit = one_hot(in, index, &wide, to, d + 1);
	Value *zero = make_splat(in->make, make_constant(in->make, x->type.dtype, 0), &wide);
	Value *picked =
		make_select(in->make, hit, make_broadcast(in->make, x, &wide, rows), zero);
	picked =
		make_reduce(in->make, x->type.dtype == D_pred ? C_or : C_add, picked, 1, &last);
	in->results[0] = make_reshape(in->make, picked, type->rank, type->dims);
	return true;
}

/* 0, 1, .. */
static bool
are_first_dims(const Numbers *numbers)
{
	for (int i = 0; i < numbers->n; i++)
		if (numbers->v[i] != i)
			return false;
	return true;
}

bool
import_op_gather(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *numbers = attr_of(in, op, "dimension_numbers");
	Numbers sizes = numbers_of(in, op, "slice_sizes");
	Numbers batch = field_numbers(in, numbers, "operand_batching_dims");
	Numbers where = field_numbers(in, numbers, "start_index_map");
	Numbers collapsed = field_numbers(in, numbers, "collapsed_slice_dims");
	Numbers offset = field_numbers(in, numbers, "offset_dims");
	Numbers of_index = field_numbers(in, numbers, "start_indices_batching_dims");
	Type type;

	(void)detail;
	if (in->noperands != 2 || !type_result(in, op, 0, &type) || !numbers)
		return read_wrong(in, op->range, "%s takes 2 operands", op->name);
	Value *x = in->operands[0];
	SliceDims slices = {batch, where, collapsed, offset, index_vector(in, numbers)};
	if (sizes.n == x->type.rank && where.n != 1 && is_vector(in, &slices)
		&& gather_slices(in, &slices, &sizes, &type))
		return true;
	if (where.n != 1)
		return read_opaque(in, op, "stablehlo.gather by several indices");
	int d = (int)where.v[0], rank = x->type.rank;
	if (d < 0 || d >= rank || sizes.n != rank)
		return read_wrong(in, op->range, "%s: there is no dim %d", op->name, d);
	for (int i = 0; i < rank; i++)
		if (i != d && !numbers_have(&batch, i) && sizes.v[i] != x->type.dims[i])
			return read_opaque(in, op, "stablehlo.gather of parts of dims");
	Value *index = plain_indices(in, in->operands[1], numbers);
	if (!index)
		return false;
	int n = index->type.rank;
	if (batch.n == d && d == rank - 1 && d > 0 && rank + 1 < MAX_RANK
		&& numbers_have(&collapsed, d) && are_first_dims(&batch)
		&& are_first_dims(&of_index))
		return take_along_last(in, x, index, &type);
	Numbers around = dims_around(rank - 1 + n, d, n);
	bool in_order = !numbers_have(&collapsed, d) || same_numbers(&around, &offset);
	bool simple = !batch.n && sizes.v[d] == 1 && in_order && rank - 1 + n <= MAX_RANK;
	if (!simple && is_vector(in, &slices) && gather_slices(in, &slices, &sizes, &type))
		return true;
	if (!simple)
		return read_opaque(in, op,
			"stablehlo.gather with batch dims or of several rows");
	Value *rows = make_take(in->make, x, index, d);
	in->results[0] = make_reshape(in->make, rows, type.rank, type.dims);
	return true;
}

/* ---- scatters */

Value *
add_rows(Import *in, Value *x, Value *index, Value *update, int dim)
{
	Op *made = make_begin(in->make, O_scatter_add, 3, (Value *[]){x, index, update});

	if (made)
		op_set_int(made, A_dim, dim);
	return make_end(in->make, made);
}

/* One row, as a tensor of x's rank. */
static Value *
as_row(Import *in, const Value *x, Value *update, int dim)
{
	int64_t dims[MAX_RANK];

	memcpy(dims, x->type.dims, sizeof dims);
	dims[dim] = 1;
	return make_reshape(in->make, update, x->type.rank, dims);
}

/* JAX drops a row that is outside; dynamic_update_slice would move it: what was there is
   written back then. */
static Value *
set_row(Import *in, Value *x, Value *index, Value *update, int dim)
{
	Value *start[MAX_RANK] = {NULL};
	int64_t sizes[MAX_RANK];
	Make k = in->make;

	start[dim] = index;
	memcpy(sizes, x->type.dims, sizeof sizes);
	sizes[dim] = 1;
	Value *row = as_row(in, x, update, dim);
	Value *old = make_dynamic_slice(k, x, start, sizes);
	Value *end = make_constant(k, D_i32, x->type.dims[dim]);
	Value *above = make_compare(k, DIR_GE, index, make_constant(k, D_i32, 0));
	Value *below = make_compare(k, DIR_LT, index, end);
	Value *inside = make_binary(k, O_and, above, below);
	if (!row || !inside)
		return NULL;
	row = make_select(k, make_splat(k, inside, &row->type), row, old);
	return make_dynamic_update_slice(k, x, row, start);
}

/* Batch dims before the last, one index each: where an iota is the index. */
static Value *
add_along_last(Import *in, Value *x, Value *index, Value *update)
{
	int d = x->type.rank - 1;
	int64_t to[MAX_RANK];

	for (int i = 0; i < d; i++)
		to[i] = i;
	index = make_reshape(in->make, index, d, x->type.dims);
	update = make_reshape(in->make, update, d, x->type.dims);
	Value *hit = one_hot(in, index, &x->type, to, d);
	Value *zero = make_splat(in->make, make_constant(in->make, x->type.dtype, 0), &x->type);
	Value *spread = make_broadcast(in->make, update, &x->type, to);
	return make_binary(in->make, O_add, x, make_select(in->make, hit, spread, zero));
}

/* A region that returns its second parameter. */
static bool
is_set(const MlirOp *op)
{
	const MlirBlock *block = op->regions.n == 1 ? op->regions.v[0] : NULL;
	const MlirOp *last = block && block->ops.n == 1 ? block->ops.v[0] : NULL;
	const MlirParam *second = block && block->params.n == 2 ? block->params.v[1] : NULL;

	return last && second && last->operands.n == 1
		&& !strcmp(((const MlirUse *)last->operands.v[0])->name, second->name);
}

bool
import_op_scatter(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *numbers = attr_of(in, op, "scatter_dimension_numbers");
	Numbers batch = field_numbers(in, numbers, "input_batching_dims");
	Numbers where = field_numbers(in, numbers, "scatter_dims_to_operand_dims");
	Numbers inserted = field_numbers(in, numbers, "inserted_window_dims");
	Numbers window = field_numbers(in, numbers, "update_window_dims");
	Numbers of_index = field_numbers(in, numbers, "scatter_indices_batching_dims");
	bool set = is_set(op);
	Combiner c;

	(void)detail;
	if (in->noperands != 3)
		return read_opaque(in, op, "stablehlo.scatter of several operands");
	if (!set && (!region_combiner(in, op, &c) || c != C_add))
		return read_opaque(in, op, "stablehlo.scatter that neither adds nor sets");
	Value *x = in->operands[0], *update = in->operands[2];
	SliceDims slices = {batch, where, inserted, window, index_vector(in, numbers)};
	bool simple = where.n == 1 && inserted.n == 1 && inserted.v[0] == where.v[0]
		&& where.v[0] >= 0 && where.v[0] < x->type.rank;
	bool unique = !strcmp(word_of(in, op, "unique_indices"), "true");
	if (!simple && is_vector(in, &slices) && scatter_slices(in, &slices, set, unique))
		return true;
	if (!simple)
		return read_opaque(in, op, "stablehlo.scatter by several indices");
	int d = (int)where.v[0];
	Value *index = plain_indices(in, in->operands[1], numbers);
	if (!index)
		return false;
	int n = index->type.rank;
	Numbers around = dims_around(update->type.rank, d, n);
	int64_t before = 1;
	for (int i = 0; i < d; i++)
		before *= x->type.dims[i];
	if (batch.n == d && d == x->type.rank - 1 && d > 0 && !set && !window.n
		&& are_first_dims(&batch) && are_first_dims(&of_index)
		&& type_elements(&update->type) == before)
		in->results[0] = add_along_last(in, x, index, update);
	else if (batch.n || !same_numbers(&around, &window))
		return read_opaque(in, op, "stablehlo.scatter with batch dims");
	else if (n == 0 && set)
		in->results[0] = set_row(in, x, index, update, d);
	else if (set && is_vector(in, &slices) && scatter_slices(in, &slices, true, unique))
		return true;
	else if (set)
		return read_opaque(in, op, "stablehlo.scatter that sets several rows");
	else if (n == 0)
		in->results[0] =
			add_rows(in, x, make_reshape(in->make, index, 1, (int64_t[]){1}),
				as_row(in, x, update, d), d);
	else
		in->results[0] = add_rows(in, x, index, update, d);
	return true;
}
