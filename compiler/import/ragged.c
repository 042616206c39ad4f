/*
 * ragged.c - products of which the rows are in groups, as many in each as a tensor says.
 *
 *   ragged_dot x[m, k], w[g, k, n], sizes[g]
 *     ends     i32[g]    where each group ends, cumsum(sizes)
 *     group    i32[m]    how many of them are not behind the row
 *     grouped_dot(x, w, group)
 *
 *   ragged along m, which x alone has     grouped_dot          [b.., m.., n..]
 *   ragged along k, which is summed       grouped_outer        [g, b.., m.., n..]
 *   ragged along a batch                  a product like any   [b.., m.., n..]
 */
#include <string.h>

#include "import/builders.h"

typedef struct Ragged {
	Numbers batch, other_batch, contract, other_contract;
	int64_t ragged, groups; /* dims, of the first and the second operand; or -1 */
	Numbers rows, rest; /* of the first: those that are rows; the others, but the batch */
} Ragged;

static Numbers
dims_but(int rank, const Numbers *a, const Numbers *b)
{
	Numbers left = {0};

	for (int d = 0; d < rank; d++)
		if (!numbers_have(a, d) && !numbers_have(b, d))
			left.v[left.n++] = d;
	return left;
}

static bool
are_below(const Numbers *dims, int rank)
{
	for (int i = 0; i < dims->n; i++)
		if (dims->v[i] < 0 || dims->v[i] >= rank)
			return false;
	return true;
}

/* Each of so many dims once: batch, contracted, others. */
static bool
are_all(int rank, const Numbers *batch, const Numbers *contract, int others)
{
	Numbers left = dims_but(rank, batch, contract);

	return are_below(batch, rank) && are_below(contract, rank)
		&& batch->n + contract->n + left.n == rank && left.n >= others;
}

static bool
read_ragged(Import *in, const MlirOp *op, Ragged *rg)
{
	const MlirAttr *numbers = attr_of(in, op, "ragged_dot_dimension_numbers");
	Numbers ragged = field_numbers(in, numbers, "lhs_ragged_dimensions");
	Numbers groups = field_numbers(in, numbers, "rhs_group_dimensions");

	*rg = (Ragged){.batch = field_numbers(in, numbers, "lhs_batching_dimensions"),
		.other_batch = field_numbers(in, numbers, "rhs_batching_dimensions"),
		.contract = field_numbers(in, numbers, "lhs_contracting_dimensions"),
		.other_contract = field_numbers(in, numbers, "rhs_contracting_dimensions"),
		.ragged = ragged.n == 1 ? ragged.v[0] : -1,
		.groups = groups.n == 1 ? groups.v[0] : -1};
	int rank = in->operands[0]->type.rank, other = in->operands[1]->type.rank;
	bool own = !numbers_have(&rg->batch, rg->ragged)
		&& !numbers_have(&rg->contract, rg->ragged);
	rg->rows = own ? dims_but(rank, &rg->batch, &rg->contract) : rg->contract;
	rg->rest = own ? rg->contract : dims_but(rank, &rg->batch, &rg->contract);
	return rg->batch.n == rg->other_batch.n && rg->contract.n == rg->other_contract.n
		&& rg->ragged >= 0 && rg->ragged < rank && own == (rg->groups >= 0)
		&& !numbers_have(&rg->other_batch, rg->groups)
		&& !numbers_have(&rg->other_contract, rg->groups) && rg->groups < other
		&& are_all(rank, &rg->batch, &rg->contract, own)
		&& are_all(other, &rg->other_batch, &rg->other_contract, own);
}

/* Dims in this order; those of `rows` become one. */
static Value *
arranged(Make k, Value *x, const Numbers *batch, const Numbers *rows, const Numbers *rest,
	const Numbers *last)
{
	const Numbers *parts[] = {batch, rows, rest, last};
	int64_t order[MAX_RANK], dims[MAX_RANK], all = 1;
	int n = 0, rank = 0;

	for (int p = 0; p < 4; p++)
		for (int i = 0; parts[p] && i < parts[p]->n; i++) {
			int64_t size = x->type.dims[parts[p]->v[i]];
			order[n++] = parts[p]->v[i];
			if (p != 1) {
				dims[rank++] = size;
				continue;
			}
			all *= size;
			if (i == rows->n - 1)
				dims[rank++] = all;
		}
	return make_reshape(k, make_transpose(k, x, order), rank, dims);
}

/* Of the batch and the rows of x, and with `groups` behind them. */
static Type
type_of_rows(const Ragged *rg, const Type *type, int64_t groups)
{
	Type made = type_of(D_i32, 0, NULL);

	for (int i = 0; i < rg->batch.n; i++)
		made.dims[made.rank++] = type->dims[rg->batch.v[i]];
	for (int i = 0; i < rg->rows.n; i++)
		made.dims[made.rank++] = type->dims[rg->rows.v[i]];
	if (groups)
		made.dims[made.rank++] = groups;
	return made;
}

/* i32[b.., rows]: of which group each is; sizes[b.., rows before the ragged one, g], or [g]. */
static Value *
groups_of_rows(Make k, const Ragged *rg, const Type *type, Value *sizes)
{
	int at = 0, before, last = sizes->type.rank - 1;
	int64_t groups = last >= 0 ? sizes->type.dims[last] : 0, to[MAX_RANK], rows = 1;

	while (at < rg->rows.n && rg->rows.v[at] != rg->ragged)
		at++;
	before = rg->batch.n + at;
	if (rg->batch.n + rg->rows.n >= MAX_RANK)
		return NULL;
	Type wide = type_of_rows(rg, type, groups), shape = type_of_rows(rg, type, 0);
	if (groups < 1 || (last != 0 && last != before))
		return NULL;
	for (int d = 0; d < last; d++)
		if (sizes->type.dims[d] != wide.dims[d])
			return NULL;
		else
			to[d] = d;
	to[last] = wide.rank - 1;
	Value *ends = make_convert(k, sizes, D_i32);
	ends = make_cumsum(k, C_add, ends, last);
	ends = make_broadcast(k, ends, &wide, to);
	Value *row = make_iota(k, &wide, before);
	Value *behind = make_convert(k, make_compare(k, DIR_GE, row, ends), D_i32);
	Value *group = reduce_last(k, C_add, behind, shape.rank);
	for (int d = rg->batch.n; d < shape.rank; d++)
		rows *= shape.dims[d];
	shape.dims[rg->batch.n] = rows;
	return make_reshape(k, group, rg->batch.n + 1, shape.dims);
}

/* [b.., g, ..] as [g, b.., ..] */
static Value *
groups_first(Make k, Value *v, int batch)
{
	int64_t order[MAX_RANK];

	for (int d = 0; v && d < v->type.rank; d++)
		order[d] = d == 0 ? batch : d <= batch ? d - 1 : d;
	return v ? make_transpose(k, v, order) : NULL;
}

bool
import_op_ragged_dot(Import *in, const MlirOp *op, int detail)
{
	Make k = in->make;
	Ragged rg;
	Type type;

	(void)detail;
	if (in->noperands == 4)
		return read_opaque(in, op, "chlo.ragged_dot from a group on");
	if (in->noperands != 3 || !read_ragged(in, op, &rg) || !type_result(in, op, 0, &type))
		return read_wrong(in, op->range, "the dims of this ragged_dot do not match");
	Value *x = in->operands[0], *y = in->operands[1];
	DType d = dtypes[x->type.dtype].bits >= dtypes[y->type.dtype].bits ? x->type.dtype
									   : y->type.dtype;
	x = make_convert(k, x, d);
	y = make_convert(k, y, d);
	if (numbers_have(&rg.batch, rg.ragged)) {
		in->results[0] = dot_of(k, x, y, &rg.batch, &rg.other_batch, &rg.contract,
			&rg.other_contract, type.dtype);
		return true;
	}
	Value *group = groups_of_rows(k, &rg, &x->type, in->operands[2]);
	if (!group)
		return read_opaque(in, op, "chlo.ragged_dot with sizes of another shape");
	Numbers of_groups = {1, {rg.groups}}, taken = rg.other_contract;
	bool outer = rg.groups < 0;
	if (!outer)
		taken.v[taken.n++] = rg.groups;
	Numbers columns = dims_but(y->type.rank, &rg.other_batch, &taken);
	x = arranged(k, x, &rg.batch, &rg.rows, &rg.rest, NULL);
	y = arranged(k, y, &rg.other_batch, outer ? &rg.other_contract : &of_groups,
		outer ? &columns : &rg.other_contract, outer ? NULL : &columns);
	int64_t groups = in->operands[2]->type.dims[in->operands[2]->type.rank - 1];
	Value *v = outer ? make_grouped_outer(k, x, y, group, groups, type.dtype)
			 : make_grouped_dot(k, x, y, group, type.dtype);
	v = outer ? groups_first(k, v, rg.batch.n) : v;
	v = v ? make_reshape(k, v, type.rank, type.dims) : NULL;
	in->results[0] = make_convert(k, v, type.dtype);
	return true;
}
