/*
 * type_simple.c - the types of leaves, pointwise ops and shape ops.
 */
#include "ir/types.h"

/* ---- leaves --------------------------------------------------------- */

const char *
type_constant(const Op *op, Type *result)
{
	const Ints *values = op_ints(op, A_value);
	*result = *wanted_type(op);
	const char *wrong = check_size(op, result);
	if (wrong)
		return wrong;
	if (values->n != type_elements(result))
		return op_wrong(op, "a constant %s of %d numbers", shape_of(op, result),
			values->n);
	for (int i = 0; i < values->n; i++)
		if (!payload_fits(result->dtype, values->v[i]))
			return op_wrong(op, "%lld is not a value of %s",
				(long long)values->v[i], dtypes[result->dtype].name);
	return NULL;
}

const char *
type_iota(const Op *op, Type *result)
{
	*result = *wanted_type(op);
	if (result->dtype == D_pred)
		return "iota counts; it has no pred form";
	const char *wrong = check_size(op, result);
	return wrong ? wrong : check_dim(op, op_int(op, A_iota_dim), result->rank);
}

const char *
type_partition_id(const Op *op, Type *result)
{
	(void)op;
	*result = type_of(D_u32, 0, NULL);
	return NULL;
}

/* ---- pointwise ------------------------------------------------------ */

const char *
type_same(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	return check_equal(op, 0);
}

/* Operands of one type, whose dtypes are some. */
static const char *
same_of(const Op *op, Type *result, bool are, const char *wanted)
{
	if (!are)
		return op_wrong(op, "%s needs %s, not %s", ops[op->kind].name, wanted,
			dtypes[operand_type(op, 0)->dtype].name);
	return type_same(op, result);
}

const char *
type_same_number(const Op *op, Type *result)
{
	return same_of(op, result, operand_type(op, 0)->dtype != D_pred, "numbers");
}

const char *
type_same_integer(const Op *op, Type *result)
{
	return same_of(op, result, dtype_is_integer(operand_type(op, 0)->dtype), "integers");
}

const char *
type_same_float(const Op *op, Type *result)
{
	return same_of(op, result, dtype_is_float(operand_type(op, 0)->dtype), "floats");
}

const char *
type_same_bits(const Op *op, Type *result)
{
	return same_of(op, result, !dtype_is_float(operand_type(op, 0)->dtype),
		"pred or integers");
}

const char *
type_pred_float(const Op *op, Type *result)
{
	const char *wrong = type_same_float(op, result);

	result->dtype = D_pred;
	return wrong;
}

const char *
type_pred(const Op *op, Type *result)
{
	int64_t direction = op_int(op, A_direction);

	*result = *operand_type(op, 0);
	result->dtype = D_pred;
	if (direction < DIR_EQ || direction > DIR_GE)
		return "there is no such comparison";
	return check_equal(op, 0);
}

const char *
type_convert(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	result->dtype = wanted_type(op)->dtype;
	return NULL;
}

const char *
type_bitcast(const Op *op, Type *result)
{
	DType from = operand_type(op, 0)->dtype;

	type_convert(op, result);
	if (from == D_pred || result->dtype == D_pred
		|| dtypes[from].bits != dtypes[result->dtype].bits)
		return op_wrong(op, "the bits of %s are none of %s", dtypes[from].name,
			dtypes[result->dtype].name);
	return NULL;
}

const char *
type_select(const Op *op, Type *result)
{
	const Type *p = operand_type(op, 0);
	Type as_pred = *operand_type(op, 1);

	*result = as_pred;
	as_pred.dtype = D_pred;
	if (!type_equal(p, &as_pred))
		return op_wrong(op,
			"select needs %s as its condition, "
			"not %s",
			shape_of(op, &as_pred), shape_of(op, p));
	return check_equal(op, 1);
}

/* ---- shape ---------------------------------------------------------- */

const char *
type_broadcast(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	*result = *wanted_type(op);
	result->dtype = x->dtype;
	const char *wrong = check_count(op, A_dims, x->rank);
	if (!wrong)
		wrong = check_dims(op, A_dims, result->rank);
	if (wrong)
		return wrong;
	for (int i = 0; i < x->rank; i++) {
		if (i && dims->v[i] < dims->v[i - 1])
			return "broadcast keeps the order of dims";
		if (x->dims[i] != result->dims[dims->v[i]])
			return op_wrong(op,
				"broadcast puts dim %d of %s in "
				"dim %lld of %s",
				i, shape_of(op, x), (long long)dims->v[i],
				shape_of(op, result));
	}
	return check_size(op, result);
}

const char *
type_reshape(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);

	*result = *wanted_type(op);
	result->dtype = x->dtype;
	const char *wrong = check_size(op, result);
	if (wrong)
		return wrong;
	if (type_elements(result) != type_elements(x))
		return op_wrong(op,
			"reshape of %s (%lld elements) to %s "
			"(%lld elements)",
			shape_of(op, x), (long long)type_elements(x), shape_of(op, result),
			(long long)type_elements(result));
	return NULL;
}

const char *
type_transpose(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	const char *wrong = check_count(op, A_dims, x->rank);
	if (!wrong)
		wrong = check_dims(op, A_dims, x->rank);
	if (wrong)
		return wrong;
	*result = *x;
	for (int i = 0; i < dims->n; i++)
		result->dims[i] = x->dims[dims->v[i]];
	return NULL;
}

const char *
type_reverse(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	return check_dims(op, A_dims, result->rank);
}

const char *
type_roll(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	if (!op_ints(op, A_along)->n || !op_ints(op, A_shift)->n)
		return "roll needs 'along' and 'shift'";
	int64_t dim = op_int(op, A_along), shift = op_int(op, A_shift);
	const char *wrong = check_dim(op, dim, result->rank);
	if (!wrong && (shift < 1 || shift >= result->dims[dim]))
		wrong = op_wrong(op,
			"roll by %lld along dim %lld, which "
			"has size %lld",
			(long long)shift, (long long)dim, (long long)result->dims[dim]);
	return wrong;
}

/* How many windows of so many elements a dim of n has room for; 0 if none. */
static int64_t
windows_in(int64_t n, int64_t size, int64_t step, int64_t apart)
{
	int64_t length;

	if (size < 1 || step < 1 || apart < 1 || !mul_i64(size - 1, apart, &length)
		|| length >= n)
		return 0;
	return (n - 1 - length) / step + 1;
}

const char *
type_windows(const Op *op, Type *result)
{
	const Ints *dims = op_ints(op, A_windowed), *size = op_ints(op, A_window);
	const Ints *step = op_ints(op, A_step), *apart = op_ints(op, A_apart);
	const Ints *before = op_ints(op, A_before), *behind = op_ints(op, A_behind);
	bool around = op->kind == O_frames;

	*result = *operand_type(op, 0);
	const char *wrong = check_dims(op, A_windowed, result->rank);
	if (!wrong && around)
		wrong = check_scalar(op, 1, result->dtype);
	if (wrong)
		return wrong;
	if (size->n != dims->n || step->n != dims->n || apart->n != dims->n
		|| (around && (before->n != dims->n || behind->n != dims->n)))
		return op_wrong(op, "windows along %d dims need as many sizes, steps and gaps",
			dims->n);
	if (result->rank + dims->n > MAX_RANK)
		return op_wrong(op, "windows make more than %d dims", MAX_RANK);
	for (int i = 0; i < dims->n; i++) {
		int64_t *n = &result->dims[dims->v[i]];
		if (around
			&& (before->v[i] < 0 || behind->v[i] < -*n
				|| !add_i64(*n, before->v[i], n)
				|| !add_i64(*n, behind->v[i], n)))
			return op_wrong(op, "nothing can be that far around dim %lld",
				(long long)dims->v[i]);
		int64_t count = windows_in(*n, size->v[i], step->v[i], apart->v[i]);
		if (!count)
			return op_wrong(op,
				"windows of %lld elements, %lld apart, every %lld of "
				"dim %lld, which has size %lld",
				(long long)size->v[i], (long long)apart->v[i],
				(long long)step->v[i], (long long)dims->v[i], (long long)*n);
		*n = count;
		result->dims[result->rank++] = size->v[i];
	}
	return check_size(op, result);
}

const char *
type_slice(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *start = op_ints(op, A_start);
	const Ints *limit = op_ints(op, A_limit);
	const Ints *stride = op_ints(op, A_stride);

	const char *wrong = check_count(op, A_start, x->rank);
	if (!wrong)
		wrong = check_count(op, A_limit, x->rank);
	if (!wrong)
		wrong = check_count(op, A_stride, x->rank);
	if (wrong)
		return wrong;
	*result = *x;
	for (int d = 0; d < x->rank; d++) {
		if (start->v[d] < 0 || start->v[d] >= limit->v[d] || limit->v[d] > x->dims[d]
			|| stride->v[d] < 1)
			return op_wrong(op,
				"slice [%lld:%lld:%lld] of dim "
				"%d, which has size %lld",
				(long long)start->v[d], (long long)limit->v[d],
				(long long)stride->v[d], d, (long long)x->dims[d]);
		result->dims[d] = (limit->v[d] - start->v[d] - 1) / stride->v[d] + 1;
	}
	return op_has(op, A_parts) ? check_dims(op, A_parts, x->rank) : NULL;
}

const char *
type_concatenate(const Op *op, Type *result)
{
	if (!op->noperands)
		return "concatenate needs an operand";
	int64_t dim = op_int(op, A_dim);
	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, dim, result->rank);
	if (wrong)
		return wrong;
	for (int i = 1; i < op->noperands; i++) {
		const Type *x = operand_type(op, i);
		Type expected = *operand_type(op, 0);
		if (x->rank == expected.rank)
			expected.dims[dim] = x->dims[dim];
		if (!type_equal(x, &expected))
			return op_wrong(op,
				"concatenate of %s and %s along "
				"dim %lld",
				shape_of(op, operand_type(op, 0)), shape_of(op, x),
				(long long)dim);
		if (!add_i64(result->dims[dim], x->dims[dim], &result->dims[dim]))
			return "concatenate makes a dim longer than 64 bits "
			       "can count";
	}
	return check_size(op, result);
}

/* Elements of the operand with what is between them, in `size`; NULL or what is wrong. */
static const char *
check_inner(const Op *op, int d, int64_t *size)
{
	int64_t n = *size, inner = op_inner(op, d);

	if (inner < 0)
		return op_wrong(op, "pad puts %lld elements between those of dim %d",
			(long long)inner, d);
	if (inner == INT64_MAX || !mul_i64(n - 1, inner, size) || !add_i64(*size, n, size))
		return op_wrong(op, "pad makes dim %d longer than 64 bits can count", d);
	return NULL;
}

/* Does a pad that cuts so much keep an element? */
static bool
leaves_some(const Op *op, int d, int64_t n, int64_t size)
{
	int64_t low = op_ints(op, A_low)->v[d], high = op_ints(op, A_high)->v[d];

	if (low <= -size || high <= -size)
		return false;
	return pad_kept(n, op_inner(op, d), &low, &high, NULL) > 0;
}

const char *
type_pad(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *low = op_ints(op, A_low), *high = op_ints(op, A_high);

	*result = *x;
	if (!x->rank)
		return "pad needs a tensor with dims, not a scalar";
	if (low->n != x->rank || high->n != x->rank)
		return check_count(op, low->n != x->rank ? A_low : A_high, x->rank);
	if (op_has(op, A_inner) && op_ints(op, A_inner)->n != x->rank)
		return check_count(op, A_inner, x->rank);
	for (int d = 0; d < x->rank; d++) {
		int64_t *size = &result->dims[d];
		const char *wrong = check_inner(op, d, size);
		if (wrong)
			return wrong;
		if (!leaves_some(op, d, x->dims[d], *size))
			return op_wrong(op,
				"pad of (%lld, %lld) in dim %d leaves nothing "
				"of its %lld elements",
				(long long)low->v[d], (long long)high->v[d], d,
				(long long)x->dims[d]);
		if (!add_i64(*size, low->v[d], size) || !add_i64(*size, high->v[d], size))
			return op_wrong(op,
				"pad makes dim %d longer than "
				"64 bits can count",
				d);
	}
	const char *wrong = check_scalar(op, 1, x->dtype);
	return wrong ? wrong : check_size(op, result);
}
