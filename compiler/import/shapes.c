/*
 * shapes.c - ops that move elements.
 */
#include <string.h>

#include "import/builders.h"

/* A message unless there are `n` operands, and as many numbers as the first has dims. */
static bool
fits(Import *in, const MlirOp *op, int n, const Numbers *numbers)
{
	if (in->noperands != n)
		return read_wrong(in, op->range, "%s takes %d operands", op->name, n);
	return !numbers || numbers->n == in->operands[0]->type.rank
		|| read_wrong(in, op->range, "%s says something of %d dims, of a tensor of %d",
			op->name, numbers->n, in->operands[0]->type.rank);
}

/* ... each of them a dim. */
static bool
are_dims(Import *in, const MlirOp *op, const Numbers *numbers, int rank)
{
	for (int i = 0; i < numbers->n; i++)
		if (numbers->v[i] < 0 || numbers->v[i] >= rank)
			return read_wrong(in, op->range, "%s: there is no dim %lld", op->name,
				(long long)numbers->v[i]);
	return true;
}

bool
import_op_iota(Import *in, const MlirOp *op, int detail)
{
	int64_t dim = integer_of(in, op, "iota_dimension", -1);
	Type type;

	(void)detail;
	if (!type_result(in, op, 0, &type))
		return false;
	if (dim < 0 || dim >= type.rank)
		return read_wrong(in, op->range, "%s: there is no dim %lld", op->name,
			(long long)dim);
	in->results[0] = make_iota(in->make, &type, (int)dim);
	return true;
}

/* The dims of x, so that the dims they become are in order. */
static Value *
in_order(Make k, Value *x, Numbers *becomes)
{
	int64_t order[MAX_RANK];
	bool sorted = true;

	for (int d = 0; d < becomes->n; d++) {
		int at = d;
		for (; at > 0 && becomes->v[order[at - 1]] > becomes->v[d]; at--)
			order[at] = order[at - 1];
		order[at] = d;
		sorted &= at == d;
	}
	if (sorted || !x)
		return x;
	Numbers before = *becomes;
	for (int d = 0; d < becomes->n; d++)
		becomes->v[d] = before.v[order[d]];
	return make_transpose(k, x, order);
}

/* A dim of size 1 that grows is dropped first. */
bool
import_op_broadcast(Import *in, const MlirOp *op, int detail)
{
	Numbers to = numbers_of(in, op, "broadcast_dimensions"), kept = {0}, sizes = {0};
	Type type;

	(void)detail;
	if (!fits(in, op, 1, &to) || !type_result(in, op, 0, &type)
		|| !are_dims(in, op, &to, type.rank))
		return false;
	const Type *from = &in->operands[0]->type;
	for (int d = 0; d < to.n; d++) {
		if (from->dims[d] != type.dims[to.v[d]])
			continue;
		kept.v[kept.n++] = to.v[d];
		sizes.v[sizes.n++] = from->dims[d];
	}
	Value *x = in_order(in->make, make_reshape(in->make, in->operands[0], sizes.n, sizes.v),
		&kept);
	in->results[0] = make_broadcast(in->make, x, &type, kept.v);
	return true;
}

bool
import_op_reshape(Import *in, const MlirOp *op, int detail)
{
	Type type;

	(void)detail;
	if (!fits(in, op, 1, NULL) || !type_result(in, op, 0, &type))
		return false;
	in->results[0] = make_reshape(in->make, in->operands[0], type.rank, type.dims);
	return true;
}

bool
import_op_transpose(Import *in, const MlirOp *op, int detail)
{
	Numbers order = numbers_of(in, op, "permutation");

	(void)detail;
	if (!fits(in, op, 1, &order))
		return false;
	in->results[0] = make_transpose(in->make, in->operands[0], order.v);
	return true;
}

bool
import_op_reverse(Import *in, const MlirOp *op, int detail)
{
	Numbers dims = numbers_of(in, op, "dimensions");

	(void)detail;
	if (!fits(in, op, 1, NULL))
		return false;
	in->results[0] = make_reverse(in->make, in->operands[0], dims.n, dims.v);
	return true;
}

/* Does the value have the elements of x from `start` on along the dim, one after the other,
   and all of the other dims? */
static bool
is_block(const Value *v, const Value *x, int dim, int64_t start)
{
	const Op *made = v->def;
	bool block = made && made->kind == O_slice && made->operands[0] == x;

	for (int d = 0; block && d < x->type.rank; d++)
		block = d != dim ? v->type.dims[d] == x->type.dims[d]
				 : op_ints(made, A_start)->v[d] == start
				&& (op_ints(made, A_stride)->v[d] == 1 || v->type.dims[d] == 1);
	return block;
}

/* The last elements of a tensor before its first, as jnp.roll() is lowered: by how many it is
   rolled; 0: it is not. */
static int64_t
rolled_by(const Import *in, int dim)
{
	const Value *last = in->operands[0], *first = in->operands[in->noperands - 1];

	if (in->noperands != 2 || !last->def || last->def->kind != O_slice
		|| dim >= last->type.rank || first->type.rank != last->type.rank)
		return 0;
	const Value *x = last->def->operands[0];
	int64_t by = last->type.dims[dim], rest = first->type.dims[dim];
	bool rolled = by + rest == x->type.dims[dim] && is_block(last, x, dim, rest)
		&& is_block(first, x, dim, 0);
	return rolled ? by : 0;
}

bool
import_op_concatenate(Import *in, const MlirOp *op, int detail)
{
	int64_t dim = integer_of(in, op, "dimension", -1);

	(void)detail;
	if (in->noperands < 1 || dim < 0 || dim >= MAX_RANK)
		return read_wrong(in, op->range, "%s takes operands and a dim", op->name);
	int64_t by = rolled_by(in, (int)dim);
	if (by) {
		Value *x = in->operands[0]->def->operands[0];
		in->results[0] = make_roll(in->make, x, (int)dim, by);
		return true;
	}
	in->results[0] = moved_together(in->make, in->noperands, in->operands, (int)dim);
	if (!in->results[0])
		in->results[0] =
			make_concatenate(in->make, in->noperands, in->operands, (int)dim);
	return true;
}

/* What is padded, if the elements from `start` to `limit` are all of it, whose own these bounds
   become. */
static Value *
inside_of_padding(const Op *pad, int64_t *start, int64_t *limit)
{
	const Type *x = &pad->operands[0]->type;
	const int64_t *low = op_ints(pad, A_low)->v;

	for (int d = 0; d < x->rank; d++)
		if (start[d] < low[d] || limit[d] > low[d] + x->dims[d] || op_inner(pad, d))
			return NULL;
	for (int d = 0; d < x->rank; d++)
		start[d] -= low[d], limit[d] -= low[d];
	return pad->operands[0];
}

/* What is sliced, if there are such elements of the slice, whose own these bounds become. */
static Value *
inside_of_slice(const Op *slice, int64_t *start, int64_t *limit, int64_t *stride)
{
	int rank = slice->results[0]->type.rank;

	for (int d = 0; d < rank; d++)
		if (start[d] < 0 || start[d] >= limit[d] || stride[d] < 1
			|| limit[d] > slice->results[0]->type.dims[d])
			return NULL;
	for (int d = 0; d < rank; d++) {
		int64_t first = op_ints(slice, A_start)->v[d];
		int64_t apart = op_ints(slice, A_stride)->v[d];
		int64_t last = start[d] + (limit[d] - 1 - start[d]) / stride[d] * stride[d];
		start[d] = first + start[d] * apart;
		limit[d] = first + last * apart + 1;
		stride[d] = limit[d] - start[d] > 1 ? stride[d] * apart : 1;
	}
	return slice->operands[0];
}

/* Of a concatenation the one part that the elements from `start` to `limit` are of, or what is
   padded or sliced, whose own these bounds become; NULL of others. */
static Value *
part_that_holds(const Value *x, int64_t *start, int64_t *limit, int64_t *stride)
{
	const Op *made = x->def;

	if (made && made->kind == O_slice)
		return inside_of_slice(made, start, limit, stride);
	if (made && made->kind == O_pad)
		return inside_of_padding(made, start, limit);
	if (!made || made->kind != O_concatenate)
		return NULL;
	int dim = (int)op_int(made, A_dim);
	int64_t at = 0;
	for (int i = 0; i < made->noperands; i++) {
		int64_t size = made->operands[i]->type.dims[dim];
		if (start[dim] >= at && start[dim] < limit[dim] && limit[dim] <= at + size) {
			start[dim] -= at, limit[dim] -= at;
			return made->operands[i];
		}
		at += size;
	}
	return NULL;
}

bool
import_op_slice(Import *in, const MlirOp *op, int detail)
{
	Numbers start = numbers_of(in, op, "start_indices");
	Numbers limit = numbers_of(in, op, "limit_indices");
	Numbers stride = numbers_of(in, op, "strides");

	(void)detail;
	if (!fits(in, op, 1, &start) || !fits(in, op, 1, &limit) || !fits(in, op, 1, &stride))
		return false;
	Value *x = in->operands[0], *part;
	while ((part = part_that_holds(x, start.v, limit.v, stride.v)))
		x = part;
	in->results[0] = make_slice(in->make, x, start.v, limit.v, stride.v);
	return true;
}

/* Of so many elements, with what is between, around them or cut, the size; false: there can be
   none. */
static bool
padded_size(int64_t *n, int64_t low, int64_t high, int64_t inner)
{
	static const int64_t most = (int64_t)1 << 62;
	int64_t between;

	return inner >= 0 && inner < INT32_MAX && mul_i64(*n - 1, inner, &between)
		&& add_i64(*n, between, n) && low > -most && high > -most && add_i64(*n, low, n)
		&& add_i64(*n, high, n) && *n >= 1;
}

/* Of a slice whose paddings are where what it leaves out would be: what it is of, with so much
   less around it. */
static Value *
without_slice(Value *x, int64_t *low, int64_t *high, const int64_t *inner)
{
	const Op *made = x->def;
	int rank = x->type.rank;

	if (!made || made->kind != O_slice)
		return x;
	const Type *whole = &made->operands[0]->type;
	int64_t before[MAX_RANK], behind[MAX_RANK];
	for (int d = 0; d < rank; d++) {
		int64_t start = op_ints(made, A_start)->v[d], size = whole->dims[d];
		int64_t end = size - op_ints(made, A_limit)->v[d];
		bool leaves = start == 0 || low[d] <= inner[d];
		leaves &= end == 0 || high[d] <= inner[d];
		if (!leaves || op_ints(made, A_stride)->v[d] != 1
			|| !mul_i64(start, -inner[d] - 1, &before[d])
			|| !mul_i64(end, -inner[d] - 1, &behind[d])
			|| !add_i64(before[d], low[d], &before[d])
			|| !add_i64(behind[d], high[d], &behind[d])
			|| !padded_size(&size, before[d], behind[d], inner[d]))
			return x;
	}
	memcpy(low, before, (size_t)rank * sizeof *low);
	memcpy(high, behind, (size_t)rank * sizeof *high);
	return made->operands[0];
}

/* A negative padding cuts; what cuts all there is leaves paddings. */
Value *
pad_around(Import *in, Value *x, Value *padding, const Padding *by)
{
	int64_t low[MAX_RANK], high[MAX_RANK];
	Type type = x->type;

	memcpy(low, by->low, sizeof low);
	memcpy(high, by->high, sizeof high);
	for (int d = 0; d < type.rank; d++)
		if (!padded_size(&type.dims[d], low[d], high[d], by->inner[d]))
			return NULL;
	if (!type_can_be(&type))
		return NULL;
	for (int d = 0; d < type.rank; d++) {
		int64_t before = low[d], behind = high[d];
		if (pad_kept(x->type.dims[d], by->inner[d], &before, &behind, NULL) <= 0)
			return make_splat(in->make, padding, &type);
	}
	Value *whole = without_slice(x, low, high, by->inner);
	return whole == x ? make_pad_between(in->make, x, padding, low, high, by->inner)
			  : make_pad_late(in->make, whole, padding, low, high, by->inner);
}

bool
import_op_pad(Import *in, const MlirOp *op, int detail)
{
	Numbers low = numbers_of(in, op, "edge_padding_low");
	Numbers high = numbers_of(in, op, "edge_padding_high");
	Numbers inner = numbers_of(in, op, "interior_padding");
	Padding by;

	(void)detail;
	if (!fits(in, op, 2, &low) || !fits(in, op, 2, &high) || !fits(in, op, 2, &inner))
		return false;
	memcpy(by.low, low.v, sizeof by.low);
	memcpy(by.high, high.v, sizeof by.high);
	memcpy(by.inner, inner.v, sizeof by.inner);
	in->results[0] = pad_around(in, in->operands[0], in->operands[1], &by);
	return in->results[0] || diag_errors(in->session) > 0
		|| read_wrong(in, op->range, "this padding cannot be");
}

/* The scalars that say where, i32 but where they are wider. */
static bool
are_starts(Import *in, const MlirOp *op, int first)
{
	int rank = in->noperands ? in->operands[0]->type.rank : 0;

	if (in->noperands != first + rank)
		return read_wrong(in, op->range, "%s needs a start for each dim", op->name);
	for (int i = first; i < in->noperands; i++)
		if (in->operands[i]->type.rank
			|| !dtype_is_integer(in->operands[i]->type.dtype))
			return read_wrong(in, op->range, "a start of %s is an integer",
				op->name);
	return true;
}

bool
import_op_dynamic_slice(Import *in, const MlirOp *op, int detail)
{
	Numbers sizes = numbers_of(in, op, "slice_sizes");

	(void)detail;
	if (!are_starts(in, op, 1) || !fits(in, op, in->noperands, &sizes))
		return false;
	in->results[0] =
		make_dynamic_slice(in->make, in->operands[0], in->operands + 1, sizes.v);
	return true;
}

bool
import_op_dynamic_update_slice(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	if (in->noperands < 2)
		return read_wrong(in, op->range, "%s lacks operands", op->name);
	if (!are_starts(in, op, 2))
		return false;
	if (in->operands[0]->type.rank != in->operands[1]->type.rank)
		return read_wrong(in, op->range, "the update of %s has another rank", op->name);
	in->results[0] = make_dynamic_update_slice(in->make, in->operands[0], in->operands[1],
		in->operands + 2);
	return true;
}
