/*
 * index.c - gathers and scatters as the few kinds they are.
 *
 *   x[idx]                      take along one dim
 *   x.at[idx].add(y)            scatter_add along one dim
 *   x.at[i].set(row)            dynamic_update_slice
 */
#include <string.h>

#include "import/builders.h"

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
		Value *low = number_like(in->make, index, sign ? -1 : 0);
		Value *high = number_like(in->make, index, INT32_MAX);
		index = make_clamp(in->make, low, index, high);
	}
	return make_convert(in->make, index, D_i32);
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
	SliceDims slices = {batch, where, collapsed, offset, of_index,
		index_vector(in, numbers)};
	int rank = x->type.rank, d = where.n ? (int)where.v[0] : 0;
	bool simple = where.n == 1 && !batch.n && sizes.n == rank && d >= 0 && d < rank
		&& sizes.v[d] == 1;
	for (int i = 0; simple && i < rank; i++)
		simple = i == d || sizes.v[i] == x->type.dims[i];
	Value *index = simple ? plain_indices(in, in->operands[1], numbers) : NULL;
	if (simple && !index)
		return false;
	int n = index ? index->type.rank : 0;
	Numbers around = dims_around(rank - 1 + n, d, n);
	if (simple && rank - 1 + n <= MAX_RANK
		&& (!numbers_have(&collapsed, d) || same_numbers(&around, &offset))) {
		Value *rows = make_take(in->make, x, index, d);
		in->results[0] = make_reshape(in->make, rows, type.rank, type.dims);
		return true;
	}
	return (sizes.n == rank && is_vector(in, &slices)
		       && gather_slices(in, &slices, &sizes, &type))
		|| read_opaque(in, op, "stablehlo.gather of several rows in an unusual order");
}

/* ---- scatters */

/* One row, as a tensor of x's rank. */
static Value *
as_row(Import *in, const Value *x, Value *update, int dim)
{
	int64_t dims[MAX_RANK];

	memcpy(dims, x->type.dims, sizeof dims);
	dims[dim] = 1;
	return make_reshape(in->make, update, x->type.rank, dims);
}

static Value *
add_row(Import *in, Value *x, Value *index, Value *update, int dim)
{
	index = make_reshape(in->make, index, 1, (int64_t[]){1});
	return make_scatter_add(in->make, x, index, as_row(in, x, update, dim), dim, 1);
}

/* Is the scalar a number below n? */
static bool
is_below(const Value *index, int64_t n)
{
	const Op *made = index->def;

	while (made && (made->kind == O_broadcast || made->kind == O_reshape))
		made = made->operands[0]->def;
	return made && made->kind == O_constant && op_ints(made, A_value)->n == 1
		&& op_int(made, A_value) >= 0 && op_int(made, A_value) < n;
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
	if (is_below(index, x->type.dims[dim]))
		return make_dynamic_update_slice(k, x, row, start);
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

/* The number that element `at` of the indices is, if that is written. */
static bool
find_number(const Value *index, int64_t at, int64_t *number)
{
	const Op *made = index->def;

	if (!made)
		return false;
	if (made->kind == O_constant) {
		const Ints *values = op_ints(made, A_value);
		*number = values->v[values->n == 1 ? 0 : at];
		return true;
	}
	if (made->kind == O_reshape || made->kind == O_broadcast)
		return made->operands[0]->type.rank <= 1
			&& find_number(made->operands[0], made->operands[0]->type.rank ? at : 0,
				number);
	if (made->kind == O_pad && !op_inner(made, 0)) { /* a number beside another */
		at -= op_ints(made, A_low)->v[0];
		bool inside = at >= 0 && at < made->operands[0]->type.dims[0];
		return find_number(made->operands[!inside], inside ? at : 0, number);
	}
	for (int i = 0; made->kind == O_concatenate && i < made->noperands; i++) {
		if (at < made->operands[i]->type.dims[0])
			return find_number(made->operands[i], at, number);
		at -= made->operands[i]->type.dims[0];
	}
	return false;
}

/* Where a block of these sizes stands in x, the only one, if that is written and inside. */
static bool
find_block(const Value *x, const Value *index, const SliceDims *says, const int64_t *sizes,
	int64_t *start)
{
	if (says->batch.n || index->type.rank != 1 || index->type.dims[0] != says->where.n)
		return false;
	for (int i = 0; i < says->where.n; i++) {
		int64_t d = says->where.v[i], at;
		if (d < 0 || d >= x->type.rank || !find_number(index, i, &at) || at < 0
			|| at > x->type.dims[d] - sizes[d])
			return false;
		start[d] = at;
	}
	return true;
}

/* x.at[1:-1, 1:-1].set(y): one block, that is written where it is; where x is combined with it,
   what is around it changes nothing, and x stays where it is. */
static bool
scatter_block(Import *in, const SliceDims *says, const Scattered *how)
{
	Value *x = in->operands[0], *update = in->operands[2], *at[MAX_RANK] = {NULL};
	int64_t sizes[MAX_RANK], start[MAX_RANK] = {0};
	Make k = in->make;
	int kept = 0;

	if (says->window.n != update->type.rank || says->window.n + says->one.n != x->type.rank)
		return false;
	for (int d = 0; d < x->type.rank; d++)
		sizes[d] = numbers_have(&says->one, d) ? 1 : update->type.dims[kept++];
	if (!find_block(x, in->operands[1], says, sizes, start))
		return false;
	for (int d = 0; d < x->type.rank; d++)
		if (numbers_have(&says->where, d))
			at[d] = make_index(k, start[d]);
	Value *block = make_reshape(k, update, x->type.rank, sizes);
	Value *into = how->set
		? x
		: make_splat(k, make_neutral(k, how->combiner, x->type.dtype), &x->type);
	Value *v = make_dynamic_update_slice(k, into, block, at);
	in->results[0] = how->set ? v : make_combine(k, how->combiner, x, v);
	return in->results[0] != NULL;
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
scatter_of(Import *in, const MlirOp *op, const Scattered *how)
{
	const MlirAttr *numbers = attr_of(in, op, "scatter_dimension_numbers");
	Numbers batch = field_numbers(in, numbers, "input_batching_dims");
	Numbers where = field_numbers(in, numbers, "scatter_dims_to_operand_dims");
	Numbers inserted = field_numbers(in, numbers, "inserted_window_dims");
	Numbers window = field_numbers(in, numbers, "update_window_dims");
	Numbers of_index = field_numbers(in, numbers, "scatter_indices_batching_dims");
	Value *x = in->operands[0], *update = in->operands[2];
	SliceDims slices = {batch, where, inserted, window, of_index,
		index_vector(in, numbers)};
	if (scatter_block(in, &slices, how))
		return true;
	bool added = !how->set && how->combiner == C_add;
	bool simple = where.n == 1 && inserted.n == 1 && inserted.v[0] == where.v[0] && !batch.n
		&& where.v[0] >= 0 && where.v[0] < x->type.rank;
	Value *index = simple ? plain_indices(in, in->operands[1], numbers) : NULL;
	if (simple && !index)
		return false;
	int d = simple ? (int)where.v[0] : 0, n = index ? index->type.rank : 0;
	Numbers around = dims_around(update->type.rank, d, n);
	simple = simple && same_numbers(&around, &window);
	if (simple && n == 0 && how->set)
		in->results[0] = set_row(in, x, index, update, d);
	else if (simple && n == 0 && added)
		in->results[0] = add_row(in, x, index, update, d);
	else if (simple && added)
		in->results[0] = make_scatter_add(in->make, x, index, update, d, 1);
	else
		return is_vector(in, &slices) && scatter_slices(in, &slices, how);
	return true;
}

/* At no index, so at all of it: each element with its own. */
static bool
scatter_at_all(Import *in, const MlirOp *op)
{
	Value *x = in->operands[0], *updates = in->operands[1];

	if (!type_equal(&x->type, &updates->type))
		return read_wrong(in, op->range,
			"a scatter at no index of less than all is not read: %s into %s",
			type_shape(in->arena, &updates->type), type_shape(in->arena, &x->type));
	Combiner c;
	in->results[0] = is_set(op)	      ? updates
		: region_combiner(in, op, &c) ? make_combine(in->make, c, x, updates)
					      : read_lifted(in, op, x, updates);
	return in->results[0] != NULL;
}

bool
import_op_scatter(Import *in, const MlirOp *op, int detail)
{
	Scattered how = {.set = is_set(op),
		.unique = !strcmp(word_of(in, op, "unique_indices"), "true")};

	(void)detail;
	if (in->noperands == 2)
		return scatter_at_all(in, op);
	if (in->noperands != 3)
		return read_opaque(in, op, "stablehlo.scatter of several operands");
	if (!how.set && !region_combiner(in, op, &how.combiner))
		return scatter_steps(in, op, how.unique);
	return scatter_of(in, op, &how)
		|| (diag_errors(in->session) == 0
			&& read_opaque(in, op, "stablehlo.scatter of parts of dims"));
}
