/*
 * slices.c - gathers and scatters at several indices, or of several rows.
 *
 *   x[i, j], x: f32[4, 8, 16], i, j: i32[3]
 *     flat   f32[32, 16]    the indexed dims of x as one
 *     rows   i32[3]         i * 8 + j
 *     take(flat, rows)      f32[3, 16]
 *
 * Where a slice has several elements of an indexed dim, rows have a dim more for them.  A
 * gather moves slices inside, a scatter drops those that are not: row -1.  Dims of a batch
 * stay before the one of rows.
 */
#include <string.h>

#include "import/builders.h"

/* The dims of x: of a batch, those that indices are of, outermost first, and the others; of
   each how many elements a slice has; which are dims of the slices too, in their order. */
typedef struct Flat {
	const Type *shape;
	Numbers batch, indexed, rest, kept;
	Numbers along; /* the dims of rows that are those of the batch */
	int64_t sizes[MAX_RANK];
	int64_t rows;
} Flat;

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
flat_find(Flat *cut, const Type *shape, const SliceDims *slices, const int64_t *sizes)
{
	*cut = (Flat){.shape = shape,
		.batch = slices->batch,
		.indexed = slices->where,
		.along = slices->of_index,
		.rows = 1};
	memcpy(cut->sizes, sizes, (size_t)shape->rank * sizeof sizes[0]);
	for (int i = 0; i < slices->where.n; i++) {
		int64_t d = slices->where.v[i];
		for (int j = 0; j < i; j++)
			if (slices->where.v[j] == d)
				return false;
		if (d < 0 || d >= shape->rank || sizes[d] < 1 || sizes[d] > shape->dims[d]
			|| !mul_i64(cut->rows, shape->dims[d], &cut->rows)
			|| cut->rows > INT32_MAX)
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
		else if (sizes[d] != 1)
			return false;
	}
	for (int b = 0; b < cut->along.n; b++)
		cut->along.v[b] -= cut->along.v[b] > slices->vector;
	return are_dims(&slices->one, shape->rank) && are_dims(&slices->batch, shape->rank)
		&& cut->kept.n == slices->window.n;
}

/* Are the dims of the batch as large in the indices, and once there? */
static bool
batches_fit(const Flat *cut, const SliceDims *slices, const Type *index)
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

/* The dims of x: the batch, the indexed ones, the others. */
static void
flat_order(const Flat *cut, int64_t *order)
{
	const Numbers *parts[] = {&cut->batch, &cut->indexed, &cut->rest};
	int n = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < parts[i]->n; j++)
			order[n++] = parts[i]->v[j];
}

static Value *
flatten(Make k, const Flat *cut, Value *x)
{
	int64_t order[MAX_RANK], dims[MAX_RANK];
	int n = 0;

	flat_order(cut, order);
	for (int i = 0; i < cut->batch.n; i++)
		dims[n++] = cut->shape->dims[cut->batch.v[i]];
	dims[n++] = cut->rows;
	for (int i = 0; i < cut->rest.n; i++)
		dims[n++] = cut->shape->dims[cut->rest.v[i]];
	return make_reshape(k, make_transpose(k, x, order), n, dims);
}

static Value *
unflatten(Make k, const Flat *cut, Value *x)
{
	int64_t order[MAX_RANK], dims[MAX_RANK], inverse[MAX_RANK];
	int rank = cut->shape->rank;

	flat_order(cut, order);
	for (int d = 0; d < rank; d++) {
		dims[d] = cut->shape->dims[order[d]];
		inverse[order[d]] = d;
	}
	return make_transpose(k, make_reshape(k, x, rank, dims), inverse);
}

/* Index i of each vector. */
static Value *
index_at(Make k, Value *index, int64_t vector, int64_t i)
{
	int64_t dims[MAX_RANK];
	int n = 0;

	if (dtypes[index->type.dtype].bytes < 4)
		index = make_convert(k, index, D_i32);
	if (!index || vector >= index->type.rank)
		return index;
	for (int d = 0; d < index->type.rank; d++)
		if (d != vector)
			dims[n++] = index->type.dims[d];
	return make_reshape(k, make_slice_dim(k, index, (int)vector, i, i + 1, 1), n, dims);
}

/* The first row of each slice; `inside` says of which all are there. */
static Value *
first_rows(Make k, const Flat *cut, Value *index, int64_t vector, Value **inside)
{
	Value *rows = NULL;

	*inside = NULL;
	for (int i = 0; i < cut->indexed.n; i++) {
		int64_t d = cut->indexed.v[i];
		Value *at = index_at(k, index, vector, i);
		if (!at)
			return NULL;
		Value *low = number_like(k, at, 0);
		Value *high = number_like(k, at, (double)(cut->shape->dims[d] - cut->sizes[d]));
		Value *here = make_compare(k, DIR_GE, at, low);
		here = make_binary(k, O_and, here, make_compare(k, DIR_LE, at, high));
		*inside = *inside ? make_binary(k, O_and, *inside, here) : here;
		at = make_convert(k, make_clamp(k, low, at, high), D_i32);
		if (rows) {
			rows = with(k, O_mul, rows, (double)cut->shape->dims[d]);
			at = make_binary(k, O_add, rows, at);
		}
		rows = at;
	}
	return rows;
}

/* The rows of flat that slices are of: a dim more for each indexed dim that slices keep. */
static Value *
find_rows(Make k, const Flat *cut, Value *index, int64_t vector, bool drop)
{
	Value *inside, *first = first_rows(k, cut, index, vector, &inside), *rows = first;
	int64_t stride = cut->rows;

	if (!first)
		return NULL;
	Type type = first->type;
	for (int i = 0; i < cut->indexed.n; i++)
		if (numbers_have(&cut->kept, cut->indexed.v[i]))
			type.dims[type.rank++] = cut->sizes[cut->indexed.v[i]];
	rows = make_spread(k, first, 0, &type);
	int dim = first->type.rank;
	for (int i = 0; i < cut->indexed.n; i++) {
		int64_t d = cut->indexed.v[i];
		stride /= cut->shape->dims[d];
		if (!numbers_have(&cut->kept, d))
			continue;
		if (type.dims[dim] > 1) {
			Value *on = make_iota(k, &type, dim);
			on = with(k, O_mul, on, (double)stride);
			rows = make_binary(k, O_add, rows, on);
		}
		dim++;
	}
	if (drop) {
		Value *none = number_like(k, rows, -1);
		rows = make_select(k, make_spread(k, inside, 0, &type), rows, none);
	}
	return rows;
}

/* Of the dims of a slice tensor, each where it is among: those of the indices, indexed
   dims that are kept, the others. */
static void
slice_order(const Flat *cut, const SliceDims *slices, int rank, int64_t *order)
{
	int n = 0;

	for (int d = 0; d < rank; d++)
		if (!numbers_have(&slices->window, d))
			order[n++] = d;
	for (int pass = 0; pass < 2; pass++) {
		const Numbers *dims = pass ? &cut->rest : &cut->indexed;
		for (int i = 0; i < dims->n; i++)
			for (int j = 0; j < cut->kept.n; j++)
				if (cut->kept.v[j] == dims->v[i])
					order[n++] = slices->window.v[j];
	}
}

/* Do the slices have a dim for each of the indices and of what is kept? */
static bool
slices_fit(const Flat *cut, const SliceDims *slices, const Value *index, int rank)
{
	bool implicit = slices->vector == index->type.rank;
	int64_t indices = implicit ? 1 : index->type.dims[slices->vector];

	return are_dims(&slices->window, rank) && indices == slices->where.n
		&& index->type.rank - !implicit + cut->kept.n == rank && rank + 1 < MAX_RANK
		&& batches_fit(cut, slices, &index->type)
		&& hits_fit(rank - cut->rest.n, cut->batch.n + 1 + cut->rest.n, cut->batch.n);
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

/*
 * Of indices of which one counts the elements of a dim, as in x[arange(n), i], that dim is of a
 * batch: it stays split as it is, and so do the others.  What is left of the indices.
 */
static Value *
batch_counted(Import *in, SliceDims *slices, const Numbers *sizes, Value *index)
{
	const Op *made = index->def;
	int vector = (int)slices->vector;
	Value *left[MAX_RANK];
	int n = 0;

	if (!made || made->kind != O_concatenate || made->noperands != slices->where.n
		|| op_int(made, A_dim) != vector || slices->where.n > MAX_RANK)
		return index;
	for (int i = 0, at = 0; i < made->noperands; i++) {
		const Value *column = made->operands[i];
		int64_t dim = slices->where.v[at];
		int along = slices->where.n > 1 ? counted_dim(column) : -1, one = 0;
		while (one < slices->one.n && slices->one.v[one] != dim)
			one++;
		bool batch = along >= 0 && along != vector && one < slices->one.n
			&& sizes->v[dim] == 1 && !numbers_have(&slices->of_index, along)
			&& column->type.dims[along] == in->operands[0]->type.dims[dim];
		if (!batch) {
			left[n++] = made->operands[i];
			at++;
			continue;
		}
		add_batch(slices, dim, along);
		drop_number(&slices->one, one);
		drop_number(&slices->where, at);
	}
	return n < made->noperands ? make_concatenate(in->make, n, left, vector) : index;
}

bool
gather_slices(Import *in, const SliceDims *says, const Numbers *sizes, const Type *type)
{
	SliceDims slices = *says;
	Value *x = reached(in->make, says, sizes, in->operands[0]), *index = in->operands[1];
	int64_t order[MAX_RANK], inverse[MAX_RANK];
	Flat cut;

	if (!x || !flat_find(&cut, &x->type, says, sizes->v)
		|| !slices_fit(&cut, says, index, type->rank))
		return false;
	Value *left = batch_counted(in, &slices, sizes, index);
	Flat batches;
	if (left && flat_find(&batches, &x->type, &slices, sizes->v)
		&& slices_fit(&batches, &slices, left, type->rank)) {
		cut = batches;
		index = left;
	}
	Value *rows = find_rows(in->make, &cut, index, says->vector, false);
	Value *flat = flatten(in->make, &cut, x);
	if (!rows || !flat)
		return false;
	slice_order(&cut, &slices, type->rank, order);
	for (int d = 0; d < type->rank; d++)
		inverse[order[d]] = d;
	flat = cut.batch.n ? hits_take(in->make, flat, rows, &cut.along)
			   : make_take(in->make, flat, rows, 0);
	in->results[0] = make_transpose(in->make, flat, inverse);
	return true;
}

/* Of rows that are the same, all but the last are none: it is what a scatter that sets
   them leaves. */
static Value *
last_of_each(Make k, Value *rows)
{
	int64_t n = type_elements(&rows->type), one = 1;
	const Type pairs = type_of(D_i32, 2, (int64_t[]){n, n});
	Value *row = make_reshape(k, rows, 1, &n);
	Value *same = make_spread(k, row, 0, &pairs), *later = make_iota(k, &pairs, 0);
	same = make_compare(k, DIR_EQ, same, make_spread(k, row, 1, &pairs));
	later = make_compare(k, DIR_LT, later, make_iota(k, &pairs, 1));
	Value *again = make_reduce(k, C_or, make_binary(k, O_and, same, later), 1, &one);

	row = make_select(k, again, number_like(k, row, -1), row);
	return make_reshape(k, row, rows->type.rank, rows->type.dims);
}

/* What is set is added to zeros; how often says where. */
static Value *
set_rows(Import *in, Value *flat, Value *rows, Value *update)
{
	Make k = in->make;
	Type count = type_of(D_i32, 1, flat->type.dims);
	Value *none = make_full(k, &count, 0);
	Value *ones = number_like(k, rows, 1);
	Value *set = make_compare(k, DIR_GT, add_rows(in, none, rows, ones, 0), none);
	Value *sum = add_rows(in, number_like(k, flat, 0), rows, update, 0);

	return make_select(k, make_spread(k, set, 0, &flat->type), sum, flat);
}

bool
scatter_slices(Import *in, const SliceDims *slices, const Scattered *how)
{
	enum { MOST_PAIRED = 1024 };
	Value *x = in->operands[0], *index = in->operands[1], *update = in->operands[2];
	int64_t order[MAX_RANK], sizes[MAX_RANK];
	int rank = update->type.rank, kept = 0;
	Make k = in->make;
	Flat cut;

	for (int d = 0; d < x->type.rank; d++) {
		bool one = numbers_have(&slices->one, d) || numbers_have(&slices->batch, d);
		int64_t at = one || kept >= slices->window.n ? -1 : slices->window.v[kept++];
		sizes[d] = at >= 0 && at < rank ? update->type.dims[at] : 1;
	}
	if (!flat_find(&cut, &x->type, slices, sizes) || !slices_fit(&cut, slices, index, rank))
		return false;
	Value *flat = flatten(k, &cut, x);
	Value *rows = find_rows(k, &cut, index, slices->vector, true);
	slice_order(&cut, slices, rank, order);
	update = make_transpose(k, update, order);
	if (!flat || !rows || !update)
		return false;
	bool added = !cut.batch.n && x->type.dtype != D_pred;
	bool few = type_elements(&rows->type) <= MOST_PAIRED;
	if (how->set && added && (how->unique || few))
		flat = set_rows(in, flat, how->unique ? rows : last_of_each(k, rows), update);
	else if (how->set)
		flat = hits_set(k, flat, rows, &cut.along, update);
	else if (how->combiner == C_add && added)
		flat = add_rows(in, flat, rows, update, 0);
	else
		flat = hits_combine(k, how->combiner, flat, rows, &cut.along, update);
	in->results[0] = unflatten(k, &cut, flat);
	return true;
}
