/*
 * slices.c - gathers and scatters at several indices, or of several rows.
 *
 *   x[i, :, j], x: f32[4, 16, 8], i, j: i32[3]
 *     turned  f32[4, 8, 16]    dims that indices are of beside each other
 *     rows    i32[3, 2]        (i, j)
 *     take(turned, rows)       f32[3, 16]
 *
 * Where a slice has several elements of an indexed dim, rows have a dim more for them.  A
 * gather moves slices inside, a scatter drops those that are not: row -1.  Slices of a batch
 * are looked up in x as it is (batches.c), or compared (hits.c): then its dims stay before the
 * indexed ones.
 */
#include <string.h>

#include "import/slices.h"

/* 0 <= v[0] < v[1] < ... < end */
static bool
are_dims(const Numbers *dims, int end)
{
	for (int i = 0; i < dims->n; i++)
		if (dims->v[i] < (i ? dims->v[i - 1] + 1 : 0) || dims->v[i] >= end)
			return false;
	return true;
}

/* False where it is none of the kind. */
static bool
cut_find(Cut *cut, const Type *shape, const SliceDims *slices, const int64_t *sizes)
{
	cut->shape = shape;
	cut->batch = slices->batch;
	cut->indexed = slices->where;
	cut->along = slices->of_index;
	cut->vector = slices->vector;
	cut->rest.n = cut->kept.n = cut->before = 0;
	memcpy(cut->sizes, sizes, (size_t)shape->rank * sizeof sizes[0]);
	for (int i = 0; i < slices->where.n; i++) {
		int64_t d = slices->where.v[i];
		for (int j = 0; j < i; j++)
			if (slices->where.v[j] == d)
				return false;
		if (d < 0 || d >= shape->rank || sizes[d] < 1 || sizes[d] > shape->dims[d]
			|| shape->dims[d] > INT32_MAX)
			return false;
	}
	for (int d = 0; d < shape->rank; d++) {
		bool batch = numbers_have(&slices->batch, d);
		bool indexed = numbers_have(&slices->where, d);
		if (!batch && !indexed)
			cut->rest.v[cut->rest.n++] = d;
		if ((!batch && !indexed && sizes[d] != shape->dims[d]) || (batch && indexed))
			return false;
		if (!batch && !numbers_have(&slices->one, d))
			cut->kept.v[cut->kept.n++] = d;
		else if (sizes[d] != 1 || !(batch || indexed))
			return false;
	}
	for (int b = 0; b < cut->along.n; b++)
		cut->along.v[b] -= cut->along.v[b] > slices->vector;
	return are_dims(&slices->one, shape->rank) && are_dims(&slices->batch, shape->rank)
		&& cut->kept.n == slices->window.n;
}

/* Are the dims of the batch as large in the indices, and once there? */
static bool
batches_fit(const Cut *cut, const SliceDims *slices, const Type *index)
{
	for (int b = 0; b < cut->batch.n && cut->along.n == cut->batch.n; b++) {
		int64_t d = slices->of_index.v[b];
		if (d < 0 || d >= index->rank || d == slices->vector
			|| index->dims[d] != cut->shape->dims[cut->batch.v[b]])
			return false;
		for (int i = 0; i < b; i++)
			if (slices->of_index.v[i] == d)
				return false;
	}
	return cut->along.n == cut->batch.n;
}

/* The dims of x: the batch, the indexed ones among the others. */
static void
turned_order(const Cut *cut, int64_t *order)
{
	const Numbers *rest = &cut->rest;
	int n = 0;

	for (int i = 0; i < cut->batch.n; i++)
		order[n++] = cut->batch.v[i];
	for (int i = 0; i < cut->before; i++)
		order[n++] = rest->v[i];
	for (int i = 0; i < cut->indexed.n; i++)
		order[n++] = cut->indexed.v[i];
	for (int i = cut->before; i < rest->n; i++)
		order[n++] = rest->v[i];
}

static Value *
turned(Make k, const Cut *cut, Value *x)
{
	int64_t order[MAX_RANK];

	turned_order(cut, order);
	return make_transpose(k, x, order);
}

static Value *
turned_back(Make k, const Cut *cut, Value *x)
{
	int64_t order[MAX_RANK], inverse[MAX_RANK];

	turned_order(cut, order);
	for (int d = 0; d < cut->shape->rank; d++)
		inverse[order[d]] = d;
	return make_transpose(k, x, inverse);
}

/* ---- rows */

/* Index i of each vector, which stays a dim, of size 1. */
static Value *
column_of(Make k, Value *index, int64_t vector, int n, int i)
{
	const Op *made = index->def;

	if (vector >= index->type.rank || n == 1)
		return index;
	if (made && made->kind == O_concatenate && made->noperands == n
		&& op_int(made, A_dim) == vector)
		return made->operands[i];
	return make_slice_dim(k, index, (int)vector, i, i + 1, 1);
}

/* ... without that dim. */
static Value *
plain_column(Make k, const Cut *cut, int i)
{
	Value *column = cut->columns[i];
	int64_t dims[MAX_RANK];
	int n = 0;

	if (column && dtypes[column->type.dtype].bytes < 4)
		column = make_convert(k, column, D_i32);
	if (!column || cut->vector >= column->type.rank)
		return column;
	for (int d = 0; d < column->type.rank; d++)
		if (d != cut->vector)
			dims[n++] = column->type.dims[d];
	return make_reshape(k, column, n, dims);
}

/* The row along indexed dim i, -1 of a slice that is dropped for another dim. */
static Value *
without(Make k, const Cut *cut, int i, Value *row)
{
	if (!cut->inside || i > 0)
		return row;
	return make_select(k, cut->inside, row, number_like(k, row, -1));
}

/* The first row of each slice along indexed dim i, inside; or -1 of those that are not.  What
   takes a row by itself does so, too. */
static Value *
first_row(Make k, const Cut *cut, int i, bool drop)
{
	int64_t d = cut->indexed.v[i], last = cut->shape->dims[d] - cut->sizes[d];
	Value *at = plain_column(k, cut, i);

	if (!at || (cut->sizes[d] == 1 && dtypes[at->type.dtype].range <= 31))
		return without(k, cut, i, make_convert(k, at, D_i32));
	Value *low = number_like(k, at, 0), *high = number_like(k, at, (double)last);
	Value *row = make_convert(k, make_clamp(k, low, at, high), D_i32);
	if (!drop)
		return row;
	Value *inside = make_compare(k, DIR_GE, at, low);
	inside = make_binary(k, O_and, inside, make_compare(k, DIR_LE, at, high));
	return without(k, cut, i, make_select(k, inside, row, number_like(k, row, -1)));
}

/* The rows along each indexed dim that slices are of: a dim more for each of those that
   slices keep. */
static bool
find_rows(Make k, const Cut *cut, bool drop, Rows *rows)
{
	int dim[MAX_RANK];
	Type type = {0};

	rows->n = cut->indexed.n;
	for (int i = 0; i < rows->n; i++) {
		rows->at[i] = first_row(k, cut, i, drop);
		if (!rows->at[i])
			return false;
		type = i ? type : rows->at[i]->type;
	}
	for (int i = 0; i < rows->n; i++) {
		dim[i] = type.rank;
		if (numbers_have(&cut->kept, cut->indexed.v[i]))
			type.dims[type.rank++] = cut->sizes[cut->indexed.v[i]];
	}
	for (int i = 0; i < rows->n; i++) {
		Value *first = make_spread(k, rows->at[i], 0, &type), *row = first;
		if (cut->sizes[cut->indexed.v[i]] > 1)
			row = make_binary(k, O_add, first, make_iota(k, &type, dim[i]));
		if (drop && row != first)
			row = make_select(k, compare_with(k, DIR_GE, first, 0), row, first);
		rows->at[i] = row;
	}
	return rows->at[0] != NULL;
}

/* As one tensor, of vectors where they are several. */
Value *
as_vectors(Make k, const Rows *rows)
{
	Value *columns[MAX_RANK];
	int rank = rows->at[0]->type.rank;

	if (rows->n == 1)
		return rows->at[0];
	for (int i = 0; i < rows->n; i++) {
		int64_t dims[MAX_RANK];
		memcpy(dims, rows->at[0]->type.dims, sizeof dims);
		dims[rank] = 1;
		columns[i] = rows->at[i] ? make_reshape(k, rows->at[i], rank + 1, dims) : NULL;
		if (!columns[i])
			return NULL;
	}
	return make_concatenate(k, rows->n, columns, rank);
}

/* Of the dims of a slice tensor, each where it is among: those of the indices, indexed
   dims that are kept, the others around them. */
static void
slice_order(const Cut *cut, const SliceDims *slices, int rank, int64_t *order)
{
	int64_t of[MAX_RANK] = {0}; /* dim of x */
	int n = 0;

	for (int j = 0; j < cut->kept.n; j++)
		of[cut->kept.v[j]] = slices->window.v[j];
	for (int i = 0; i < cut->before; i++)
		order[n++] = of[cut->rest.v[i]];
	for (int d = 0; d < rank; d++)
		if (!numbers_have(&slices->window, d))
			order[n++] = d;
	for (int i = 0; i < cut->indexed.n; i++)
		if (numbers_have(&cut->kept, cut->indexed.v[i]))
			order[n++] = of[cut->indexed.v[i]];
	for (int i = cut->before; i < cut->rest.n; i++)
		order[n++] = of[cut->rest.v[i]];
}

/* Do the slices have a dim for each of the indices and of what is kept?  Then their columns
   are told. */
static bool
slices_fit(Make k, Cut *cut, const SliceDims *slices, Value *index, int rank)
{
	bool implicit = slices->vector == index->type.rank;
	int64_t indices = implicit ? 1 : index->type.dims[slices->vector];
	bool fit = are_dims(&slices->window, rank) && indices == slices->where.n && indices > 0
		&& index->type.rank - !implicit + cut->kept.n == rank && rank + 1 < MAX_RANK
		&& batches_fit(cut, slices, &index->type);

	for (int i = 0; fit && i < indices; i++)
		cut->columns[i] = column_of(k, index, slices->vector, (int)indices, i);
	return fit;
}

/* Dims before the first indexed one may stay there. */
static void
keep_before(Cut *cut)
{
	while (cut->before < cut->rest.n && cut->rest.v[cut->before] < cut->indexed.v[0])
		cut->before++;
}

/* x without what no slice has: the end of a dim that no index is of. */
static Value *
reached(Make k, const SliceDims *slices, const Numbers *sizes, Value *x)
{
	for (int d = 0; x && d < sizes->n; d++)
		if (sizes->v[d] > 0 && sizes->v[d] < x->type.dims[d]
			&& !numbers_have(&slices->where, d) && !numbers_have(&slices->batch, d))
			x = make_slice_dim(k, x, d, 0, sizes->v[d], 1);
	return x;
}

/* ---- an index that counts */

/* Which dim of the wider shape the narrower's is, if the others are of size 1; -1: none. */
static int
dim_beside_ones(const Type *from, int dim, const Type *to)
{
	int nth = 0;

	for (int d = 0; d < dim; d++)
		nth += from->dims[d] != 1;
	for (int d = 0; d < to->rank; d++)
		if (to->dims[d] != 1 && nth-- == 0)
			return to->dims[d] == from->dims[dim] ? d : -1;
	return -1;
}

static bool
is_below_zero(const Value *where, const Value *x)
{
	const Op *made = where->def;
	const Op *zero = made && made->kind == O_compare ? made->operands[1]->def : NULL;

	if (!zero || made->operands[0] != x || op_int(made, A_direction) != DIR_LT)
		return false;
	zero = zero->kind == O_broadcast ? zero->operands[0]->def : zero;
	return zero && zero->kind == O_constant && op_ints(zero, A_value)->n == 1
		&& op_int(zero, A_value) == 0;
}

/* The dim along which the value counts 0, 1, 2, ..., also where what is below 0 would be
   another number; -1: there is none. */
static int
counted_dim(const Value *v)
{
	const Op *made = v->def;

	if (!made)
		return -1;
	if (made->kind == O_iota)
		return (int)op_int(made, A_iota_dim);
	if (made->kind == O_select && is_below_zero(made->operands[0], made->operands[2]))
		return counted_dim(made->operands[2]);
	if (made->kind != O_broadcast && made->kind != O_reshape)
		return -1;
	int dim = counted_dim(made->operands[0]);
	if (dim < 0 || made->kind == O_broadcast)
		return dim < 0 ? -1 : (int)op_ints(made, A_dims)->v[dim];
	return dim_beside_ones(&made->operands[0]->type, dim, &v->type);
}

/* A pair of a dim of x and of the indices more, in order. */
static void
add_batch(SliceDims *slices, int64_t dim, int64_t of_index)
{
	int i = slices->batch.n++;

	slices->of_index.n++;
	for (; i > 0 && slices->batch.v[i - 1] > dim; i--) {
		slices->batch.v[i] = slices->batch.v[i - 1];
		slices->of_index.v[i] = slices->of_index.v[i - 1];
	}
	slices->batch.v[i] = dim;
	slices->of_index.v[i] = of_index;
}

static void
drop_number(Numbers *list, int at)
{
	for (list->n--; at < list->n; at++)
		list->v[at] = list->v[at + 1];
}

/* That index is of none of the indexed dims any more. */
static void
drop_index(Cut *cut, SliceDims *slices, int at)
{
	drop_number(&slices->where, at);
	for (int i = at; i < slices->where.n; i++)
		cut->columns[i] = cut->columns[i + 1];
}

/*
 * Of indices of which one counts the elements of a dim, as in x[arange(n), i], that dim is of a
 * batch: it stays split as it is, and so do the others.
 */
static void
batch_counted(Cut *cut, SliceDims *slices)
{
	for (int at = 0; at < slices->where.n && slices->where.n > 1;) {
		const Value *column = cut->columns[at];
		int64_t dim = slices->where.v[at];
		int along = column ? counted_dim(column) : -1, one = 0;
		while (one < slices->one.n && slices->one.v[one] != dim)
			one++;
		bool batch = along >= 0 && along != slices->vector && one < slices->one.n
			&& cut->sizes[dim] == 1 && !numbers_have(&slices->of_index, along)
			&& column->type.dims[along] == cut->shape->dims[dim];
		if (!batch) {
			at++;
			continue;
		}
		add_batch(slices, dim, along);
		drop_number(&slices->one, one);
		drop_index(cut, slices, at);
	}
}

/* An index of slices of all of a dim is moved to 0, or is 0 if none is dropped. */
static void
drop_whole(Make k, Cut *cut, SliceDims *slices, bool drop)
{
	for (int at = 0; at < slices->where.n && slices->where.n > 1;) {
		int64_t dim = slices->where.v[at];
		if (cut->sizes[dim] != cut->shape->dims[dim]
			|| !numbers_have(&cut->kept, dim)) {
			at++;
			continue;
		}
		Value *column = drop ? plain_column(k, cut, at) : NULL;
		if (column) {
			Value *zero = compare_with(k, DIR_EQ, column, 0);
			cut->inside =
				cut->inside ? make_binary(k, O_and, cut->inside, zero) : zero;
		}
		drop_index(cut, slices, at);
	}
}

/* Has what compares each row with each position few enough dims? */
static bool
hits_have_room(const Cut *cut, const Rows *rows)
{
	return hits_fit(rows->at[0]->type.rank, cut->shape->rank, cut->batch.n);
}

bool
gather_slices(Import *in, const SliceDims *says, const Numbers *sizes, const Type *type)
{
	SliceDims slices = *says;
	Value *x = reached(in->make, says, sizes, in->operands[0]), *index = in->operands[1];
	int64_t order[MAX_RANK], inverse[MAX_RANK];
	Make k = in->make;
	Cut cut = {0};
	Rows rows;

	if (!x || !cut_find(&cut, &x->type, says, sizes->v)
		|| !slices_fit(k, &cut, says, index, type->rank))
		return false;
	drop_whole(k, &cut, &slices, false);
	batch_counted(&cut, &slices);
	if (!cut_find(&cut, &x->type, &slices, sizes->v) || !find_rows(k, &cut, false, &rows))
		return false;
	bool batched = batch_fits(&cut, &rows);
	if (cut.batch.n && !batched && !hits_have_room(&cut, &rows))
		return false;
	if (!cut.batch.n)
		keep_before(&cut);
	if (batched)
		batch_order(&cut, &slices, type->rank, order);
	else
		slice_order(&cut, &slices, type->rank, order);
	for (int d = 0; d < type->rank; d++)
		inverse[order[d]] = d;
	if (!batched)
		x = turned(k, &cut, x);
	if (batched)
		x = batch_take(k, &cut, x, &rows);
	else if (cut.batch.n)
		x = hits_take(k, x, &rows, &cut.along);
	else
		x = make_lookup(k, x, as_vectors(k, &rows), cut.before, rows.n);
	in->results[0] = make_transpose(k, x, inverse);
	return in->results[0] != NULL;
}

/* Of rows that are the same, all but the last are none: it is what a scatter that sets
   them leaves. */
void
last_of_each(Make k, Rows *rows, int nbatch)
{
	const Type of_rows = rows->at[0]->type;
	int64_t dims[MAX_RANK], n = type_elements_from(&of_rows, nbatch), one = nbatch + 1;
	int64_t to[MAX_RANK];

	memcpy(dims, of_rows.dims, sizeof dims);
	for (int d = 0; d <= nbatch; d++)
		to[d] = d < nbatch ? d : nbatch + 1;
	dims[nbatch] = dims[nbatch + 1] = n;
	const Type pairs = type_of(D_i32, nbatch + 2, dims);
	Value *later = make_iota(k, &pairs, nbatch);

	later = make_compare(k, DIR_LT, later, make_iota(k, &pairs, nbatch + 1));
	for (int i = 0; i < rows->n; i++) {
		Value *row = make_reshape(k, rows->at[i], nbatch + 1, dims);
		Value *same = make_spread(k, row, 0, &pairs);
		same = make_compare(k, DIR_EQ, same, make_broadcast(k, row, &pairs, to));
		later = make_binary(k, O_and, same, later);
	}
	Value *again = make_reduce(k, C_or, later, 1, &one);
	again = make_reshape(k, again, of_rows.rank, of_rows.dims);
	rows->at[0] = make_select(k, again, number_like(k, rows->at[0], -1), rows->at[0]);
}

/* What is set is added to zeros; how often says where. */
static Value *
set_rows(Make k, const Cut *cut, Value *x, const Rows *rows, Value *update)
{
	Value *at = as_vectors(k, rows);
	Type count = type_of(D_i32, rows->n, x->type.dims + cut->before);
	Value *none = make_full(k, &count, 0), *ones = number_like(k, rows->at[0], 1);
	Value *set = make_scatter_add(k, none, at, ones, 0, rows->n);
	Value *sum = number_like(k, x, 0);

	set = make_compare(k, DIR_GT, set, none);
	sum = make_scatter_add(k, sum, at, update, cut->before, rows->n);
	return make_select(k, make_spread(k, set, cut->before, &x->type), sum, x);
}

/* Of slices that are added or set: does a scatter_add do that? */
static bool
is_added(const Cut *cut, const Scattered *how, const Value *x, const Rows *rows)
{
	enum { MOST_PAIRED = 1024 };
	bool few = type_elements(&rows->at[0]->type) <= MOST_PAIRED;

	return !cut->batch.n && x->type.dtype != D_pred
		&& (how->set ? how->unique || few : how->combiner == C_add);
}

/* ... at the rows of a batch; NULL: not so. */
static Value *
scatter_batch(Make k, const Cut *cut, const SliceDims *slices, const Scattered *how, Value *x,
	const Rows *rows, Value *update)
{
	bool sum = !how->set && how->combiner == C_add && x->type.dtype != D_pred;
	int64_t order[MAX_RANK];

	if (!batch_fits(cut, rows) || !(how->set || sum)
		|| (how->set && !how->unique && !batch_pairs_fit(cut, rows)))
		return NULL;
	batch_order(cut, slices, update->type.rank, order);
	update = make_transpose(k, update, order);
	return sum ? batch_add(k, cut, x, rows, update)
		   : batch_set(k, cut, x, rows, update, how->unique);
}

/* ... otherwise; NULL: there are too many dims. */
static Value *
scatter_cut(Make k, Cut *cut, const SliceDims *slices, const Scattered *how, Value *x,
	Rows *rows, Value *update)
{
	bool added = is_added(cut, how, x, rows);
	int64_t order[MAX_RANK];

	if (!added && !hits_have_room(cut, rows))
		return NULL;
	if (added)
		keep_before(cut);
	slice_order(cut, slices, update->type.rank, order);
	update = make_transpose(k, update, order);
	x = turned(k, cut, x);
	if (!x || !update)
		return NULL;
	if (added && how->set && !how->unique)
		last_of_each(k, rows, 0);
	if (added && how->set)
		x = set_rows(k, cut, x, rows, update);
	else if (added)
		x = make_scatter_add(k, x, as_vectors(k, rows), update, cut->before, rows->n);
	else if (how->set)
		x = hits_set(k, x, rows, &cut->along, update);
	else
		x = hits_combine(k, how->combiner, x, rows, &cut->along, update);
	return turned_back(k, cut, x);
}

bool
scatter_slices(Import *in, const SliceDims *says, const Scattered *how)
{
	Value *x = in->operands[0], *index = in->operands[1], *update = in->operands[2];
	int rank = update->type.rank, kept = 0;
	SliceDims slices = *says;
	int64_t sizes[MAX_RANK];
	Make k = in->make;
	Cut cut = {0};
	Rows rows;

	for (int d = 0; d < x->type.rank; d++) {
		bool one = numbers_have(&says->one, d) || numbers_have(&says->batch, d);
		int64_t at = one || kept >= says->window.n ? -1 : says->window.v[kept++];
		sizes[d] = at >= 0 && at < rank ? update->type.dims[at] : 1;
	}
	if (!cut_find(&cut, &x->type, says, sizes) || !slices_fit(k, &cut, says, index, rank))
		return false;
	drop_whole(k, &cut, &slices, true);
	batch_counted(&cut, &slices);
	if (!cut_find(&cut, &x->type, &slices, sizes) || !find_rows(k, &cut, true, &rows))
		return false;
	in->results[0] = scatter_batch(k, &cut, &slices, how, x, &rows, update);
	if (!in->results[0])
		in->results[0] = scatter_cut(k, &cut, &slices, how, x, &rows, update);
	return in->results[0] != NULL;
}
