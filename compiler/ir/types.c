/*
 * types.c - what the result of each op is, or why the op is wrong.
 *
 * A type function is a row's `types` column in ops.def.  It reads operands
 * and attributes only, but for the ops whose result is not determined by
 * them (a constant's dtype, a reshape's dims, ...): those find the wanted
 * type in results[0].  The messages reach users: they say what was seen and
 * what was wanted.  The same functions serve whole tensors and shards.
 */
#include <math.h>
#include <string.h>
#include "ir/ir.h"
#include "ir/types.h"

/* ---- types as values ------------------------------------------------ */

int64_t
type_elements(const Type *t)
{
	int64_t n = 1;

	for (int d = 0; d < t->rank; d++)
		n *= t->dims[d];
	return n;
}

int64_t
type_bytes(const Type *t)
{
	return type_elements(t) * dtypes[t->dtype].bytes;
}

bool
type_equal(const Type *a, const Type *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
		!memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]);
}

Type
type_of(DType d, int rank, const int64_t *dims)
{
	Type t = {0};

	t.dtype = d;
	t.rank = rank;
	if (rank)
		memcpy(t.dims, dims, (size_t)rank * sizeof dims[0]);
	return t;
}

bool
dtype_is_float(DType d)
{
	return dtypes[d].class == DC_float;
}

bool
dtype_is_integer(DType d)
{
	return dtypes[d].class == DC_signed || dtypes[d].class == DC_unsigned;
}

bool
dtype_by_name(const char *name, DType *d)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(dtypes[i].name, name)) {
			*d = (DType)i;
			return true;
		}
	return false;
}

bool
combiner_by_name(const char *name, Combiner *c)
{
	for (int i = 0; i < COMBINER_COUNT; i++)
		if (!strcmp(combiners[i].name, name)) {
			*c = (Combiner)i;
			return true;
		}
	return false;
}

/* ---- payloads of constants ------------------------------------------ */

double
payload_double(int64_t v)
{
	double d;

	memcpy(&d, &v, sizeof d);
	return d;
}

int64_t
double_payload(double d)
{
	int64_t v;

	memcpy(&v, &d, sizeof v);
	return v;
}

static int64_t
integer_limit(DType d, bool greatest)
{
	int bits = dtypes[d].bytes * 8;

	if (dtypes[d].class == DC_pred)
		return greatest;
	if (dtypes[d].class == DC_unsigned)
		return greatest ? (int64_t)((1ull << bits) - 1) : 0;
	int64_t most = (int64_t)((1ull << (bits - 1)) - 1);
	return greatest ? most : -most - 1;
}

/* The identity of one combiner, in the two classes of dtype. */
static double
float_identity(Combiner c)
{
	if (c == C_max)
		return -INFINITY;
	if (c == C_min)
		return INFINITY;
	return c == C_mul;
}

int64_t
combiner_identity(Combiner c, DType d)
{
	if (dtype_is_float(d))
		return double_payload(float_identity(c));
	if (c == C_max)
		return integer_limit(d, false);
	if (c == C_min)
		return integer_limit(d, true);
	if (c == C_and)
		return dtypes[d].class == DC_signed ? -1 :
			integer_limit(d, true);
	return c == C_mul;
}

/* ---- words for messages --------------------------------------------- */

static const Type *
operand_type(const Op *op, int i)
{
	return &op->operands[i]->type;
}

static const Type *
wanted_type(const Op *op)
{
	return &op->results[0]->type;
}

/* NULL if the tensor can exist at all. */
static const char *
check_size(Arena *a, const Type *t)
{
	int64_t n = dtypes[t->dtype].bytes;

	for (int d = 0; d < t->rank; d++) {
		if (t->dims[d] < 1)
			return arena_printf(a, "dim %d of the result would "
				"have size %lld; sizes start at 1", d,
				(long long)t->dims[d]);
		if (!mul_i64(n, t->dims[d], &n))
			return arena_printf(a, "the result %s has more bytes "
				"than 64 bits can count", type_shape(a, t));
	}
	return NULL;
}

static const char *
check_dim(const Op *op, Arena *a, int64_t dim, int rank)
{
	if (dim >= 0 && dim < rank)
		return NULL;
	return arena_printf(a, "%s along dim %lld of a tensor that has %d dims",
		ops[op->kind].name, (long long)dim, rank);
}

/* Each of a list of dims exists and appears once. */
static const char *
check_dims(const Op *op, Arena *a, AttrKind attr, int rank)
{
	const Ints *dims = op_ints(op, attr);
	uint32_t seen = 0;

	for (int i = 0; i < dims->n; i++) {
		const char *wrong = check_dim(op, a, dims->v[i], rank);
		if (wrong)
			return wrong;
		if (seen >> dims->v[i] & 1)
			return arena_printf(a, "%s names dim %lld twice",
				ops[op->kind].name, (long long)dims->v[i]);
		seen |= 1u << dims->v[i];
	}
	return NULL;
}

/* An attribute with one entry for each of `rank` dims. */
static const char *
check_count(const Op *op, Arena *a, AttrKind attr, int rank)
{
	if (op_ints(op, attr)->n == rank)
		return NULL;
	return arena_printf(a, "%s needs an entry for each of %d dims, not %d",
		ops[op->kind].name, rank, op_ints(op, attr)->n);
}

static const char *
check_scalar(const Op *op, Arena *a, int i, DType dtype)
{
	const Type *t = operand_type(op, i);

	if (t->rank == 0 && t->dtype == dtype)
		return NULL;
	return arena_printf(a, "%s needs a scalar %s as operand %d, not %s",
		ops[op->kind].name, dtypes[dtype].name, i + 1, type_shape(a, t));
}

static const char *
check_equal(const Op *op, Arena *a, int first)
{
	for (int i = first + 1; i < op->noperands; i++)
		if (!type_equal(operand_type(op, first), operand_type(op, i)))
			return arena_printf(a, "%s needs operands of one type, "
				"not %s and %s", ops[op->kind].name,
				type_shape(a, operand_type(op, first)),
				type_shape(a, operand_type(op, i)));
	return NULL;
}

/* ---- leaves --------------------------------------------------------- */

const char *
type_constant(const Op *op, Arena *a, Type *result)
{
	*result = *wanted_type(op);
	if (result->rank)
		return arena_printf(a, "a constant is a scalar, not %s",
			type_shape(a, result));
	if (dtype_is_float(result->dtype))
		return NULL;
	int64_t v = op_int(op, A_value);
	if (v < integer_limit(result->dtype, false) ||
	    v > integer_limit(result->dtype, true))
		return arena_printf(a, "%lld is not a value of %s",
			(long long)v, dtypes[result->dtype].name);
	return NULL;
}

const char *
type_iota(const Op *op, Arena *a, Type *result)
{
	*result = *wanted_type(op);
	if (result->dtype == D_pred)
		return "iota counts; it has no pred form";
	const char *wrong = check_size(a, result);
	return wrong ? wrong :
		check_dim(op, a, op_int(op, A_iota_dim), result->rank);
}

const char *
type_partition_id(const Op *op, Arena *a, Type *result)
{
	(void)op;
	(void)a;
	*result = type_of(D_u32, 0, NULL);
	return NULL;
}

/* ---- pointwise ------------------------------------------------------ */

const char *
type_same(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	return check_equal(op, a, 0);
}

const char *
type_same_number(const Op *op, Arena *a, Type *result)
{
	if (operand_type(op, 0)->dtype == D_pred)
		return arena_printf(a, "%s needs numbers, not pred",
			ops[op->kind].name);
	return type_same(op, a, result);
}

const char *
type_same_integer(const Op *op, Arena *a, Type *result)
{
	if (!dtype_is_integer(operand_type(op, 0)->dtype))
		return arena_printf(a, "%s needs integers, not %s",
			ops[op->kind].name,
			dtypes[operand_type(op, 0)->dtype].name);
	return type_same(op, a, result);
}

const char *
type_same_float(const Op *op, Arena *a, Type *result)
{
	if (!dtype_is_float(operand_type(op, 0)->dtype))
		return arena_printf(a, "%s needs floats, not %s",
			ops[op->kind].name,
			dtypes[operand_type(op, 0)->dtype].name);
	return type_same(op, a, result);
}

const char *
type_same_pred(const Op *op, Arena *a, Type *result)
{
	if (operand_type(op, 0)->dtype != D_pred)
		return arena_printf(a, "%s needs pred, not %s",
			ops[op->kind].name,
			dtypes[operand_type(op, 0)->dtype].name);
	return type_same(op, a, result);
}

const char *
type_pred_float(const Op *op, Arena *a, Type *result)
{
	const char *wrong = type_same_float(op, a, result);

	result->dtype = D_pred;
	return wrong;
}

const char *
type_pred(const Op *op, Arena *a, Type *result)
{
	int64_t direction = op_int(op, A_direction);

	*result = *operand_type(op, 0);
	result->dtype = D_pred;
	if (direction < DIR_EQ || direction > DIR_GE)
		return "there is no such comparison";
	return check_equal(op, a, 0);
}

const char *
type_convert(const Op *op, Arena *a, Type *result)
{
	(void)a;
	*result = *operand_type(op, 0);
	result->dtype = wanted_type(op)->dtype;
	return NULL;
}

const char *
type_select(const Op *op, Arena *a, Type *result)
{
	const Type *p = operand_type(op, 0);
	Type as_pred = *operand_type(op, 1);

	*result = as_pred;
	as_pred.dtype = D_pred;
	if (!type_equal(p, &as_pred))
		return arena_printf(a, "select needs %s as its condition, "
			"not %s", type_shape(a, &as_pred), type_shape(a, p));
	return check_equal(op, a, 1);
}

const char *
type_clamp(const Op *op, Arena *a, Type *result)
{
	if (operand_type(op, 0)->dtype == D_pred)
		return "clamp needs numbers, not pred";
	return type_same(op, a, result);
}

/* ---- shape ---------------------------------------------------------- */

const char *
type_broadcast(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	*result = *wanted_type(op);
	result->dtype = x->dtype;
	const char *wrong = check_count(op, a, A_dims, x->rank);
	if (!wrong)
		wrong = check_dims(op, a, A_dims, result->rank);
	if (wrong)
		return wrong;
	for (int i = 0; i < x->rank; i++) {
		if (i && dims->v[i] < dims->v[i - 1])
			return "broadcast keeps the order of dims";
		if (x->dims[i] != result->dims[dims->v[i]])
			return arena_printf(a, "broadcast puts dim %d of %s in "
				"dim %lld of %s", i, type_shape(a, x),
				(long long)dims->v[i], type_shape(a, result));
	}
	return check_size(a, result);
}

const char *
type_reshape(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);

	*result = *wanted_type(op);
	result->dtype = x->dtype;
	const char *wrong = check_size(a, result);
	if (wrong)
		return wrong;
	if (type_elements(result) != type_elements(x))
		return arena_printf(a, "reshape of %s (%lld elements) to %s "
			"(%lld elements)", type_shape(a, x),
			(long long)type_elements(x), type_shape(a, result),
			(long long)type_elements(result));
	return NULL;
}

const char *
type_transpose(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	const char *wrong = check_count(op, a, A_dims, x->rank);
	if (!wrong)
		wrong = check_dims(op, a, A_dims, x->rank);
	if (wrong)
		return wrong;
	*result = *x;
	for (int i = 0; i < dims->n; i++)
		result->dims[i] = x->dims[dims->v[i]];
	return NULL;
}

const char *
type_reverse(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	return check_dims(op, a, A_dims, result->rank);
}

const char *
type_roll(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	if (!op_ints(op, A_along)->n || !op_ints(op, A_shift)->n)
		return "roll needs 'along' and 'shift'";
	int64_t dim = op_int(op, A_along), shift = op_int(op, A_shift);
	const char *wrong = check_dim(op, a, dim, result->rank);
	if (!wrong && (shift < 1 || shift >= result->dims[dim]))
		wrong = arena_printf(a, "roll by %lld along dim %lld, which "
			"has size %lld", (long long)shift, (long long)dim,
			(long long)result->dims[dim]);
	return wrong;
}

const char *
type_slice(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *start = op_ints(op, A_start);
	const Ints *limit = op_ints(op, A_limit);
	const Ints *stride = op_ints(op, A_stride);

	if (start->n != x->rank || limit->n != x->rank ||
	    stride->n != x->rank)
		return check_count(op, a, start->n != x->rank ? A_start :
			limit->n != x->rank ? A_limit : A_stride, x->rank);
	*result = *x;
	for (int d = 0; d < x->rank; d++) {
		if (start->v[d] < 0 || start->v[d] >= limit->v[d] ||
		    limit->v[d] > x->dims[d] || stride->v[d] < 1)
			return arena_printf(a, "slice [%lld:%lld:%lld] of dim "
				"%d, which has size %lld",
				(long long)start->v[d], (long long)limit->v[d],
				(long long)stride->v[d], d,
				(long long)x->dims[d]);
		result->dims[d] = (limit->v[d] - start->v[d] - 1) /
			stride->v[d] + 1;
	}
	return NULL;
}

const char *
type_concatenate(const Op *op, Arena *a, Type *result)
{
	if (!op->noperands)
		return "concatenate needs an operand";
	int64_t dim = op_int(op, A_dim);
	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, a, dim, result->rank);
	if (wrong)
		return wrong;
	for (int i = 1; i < op->noperands; i++) {
		const Type *x = operand_type(op, i);
		Type expected = *operand_type(op, 0);
		if (x->rank == expected.rank)
			expected.dims[dim] = x->dims[dim];
		if (!type_equal(x, &expected))
			return arena_printf(a, "concatenate of %s and %s along "
				"dim %lld", type_shape(a, operand_type(op, 0)),
				type_shape(a, x), (long long)dim);
		if (!add_i64(result->dims[dim], x->dims[dim],
		    &result->dims[dim]))
			return "concatenate makes a dim longer than 64 bits "
				"can count";
	}
	return check_size(a, result);
}

const char *
type_pad(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *low = op_ints(op, A_low), *high = op_ints(op, A_high);

	*result = *x;
	if (!x->rank)
		return "pad needs a tensor with dims, not a scalar";
	if (low->n != x->rank || high->n != x->rank)
		return check_count(op, a, low->n != x->rank ? A_low : A_high,
			x->rank);
	for (int d = 0; d < x->rank; d++) {
		int64_t *size = &result->dims[d];
		if (low->v[d] < 0 || high->v[d] < 0)
			return arena_printf(a, "pad of (%lld, %lld) in dim %d: "
				"padding is not negative",
				(long long)low->v[d], (long long)high->v[d], d);
		if (!add_i64(*size, low->v[d], size) ||
		    !add_i64(*size, high->v[d], size))
			return arena_printf(a, "pad makes dim %d longer than "
				"64 bits can count", d);
	}
	const char *wrong = check_scalar(op, a, 1, x->dtype);
	return wrong ? wrong : check_size(a, result);
}

/* ---- contraction, reduction, gather --------------------------------- */

/* The dims of one operand that a pair of dot attributes name, each once. */
static const char *
check_dot_dims(const Op *op, Arena *a, AttrKind batch, AttrKind contract,
	int rank)
{
	const Ints *b = op_ints(op, batch), *c = op_ints(op, contract);

	const char *wrong = check_dims(op, a, batch, rank);
	if (!wrong)
		wrong = check_dims(op, a, contract, rank);
	for (int i = 0; i < b->n && !wrong; i++)
		if (ints_contain(c, b->v[i]))
			wrong = arena_printf(a, "dim %lld of a dot's operand "
				"is both batch and contracting",
				(long long)b->v[i]);
	return wrong;
}

static const char *
check_dot_pairs(const Op *op, Arena *a, AttrKind lhs, AttrKind rhs)
{
	const Ints *l = op_ints(op, lhs), *r = op_ints(op, rhs);
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);

	if (l->n != r->n)
		return arena_printf(a, "dot pairs %d dims with %d", l->n, r->n);
	for (int i = 0; i < l->n; i++)
		if (x->dims[l->v[i]] != y->dims[r->v[i]])
			return arena_printf(a, "dot pairs dim %lld of %s with "
				"dim %lld of %s", (long long)l->v[i],
				type_shape(a, x), (long long)r->v[i], type_shape(a, y));
	return NULL;
}

static const char *
check_dot(const Op *op, Arena *a)
{
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);
	const char *wrong;

	if (x->dtype != y->dtype)
		return arena_printf(a, "dot needs operands of one dtype, not "
			"%s and %s", dtypes[x->dtype].name,
			dtypes[y->dtype].name);
	if (x->dtype == D_pred)
		return "dot needs numbers, not pred";
	wrong = check_dot_dims(op, a, A_lhs_batch, A_lhs_contract, x->rank);
	if (!wrong)
		wrong = check_dot_dims(op, a, A_rhs_batch, A_rhs_contract,
			y->rank);
	if (!wrong)
		wrong = check_dot_pairs(op, a, A_lhs_batch, A_rhs_batch);
	if (!wrong)
		wrong = check_dot_pairs(op, a, A_lhs_contract, A_rhs_contract);
	return wrong;
}

/* Appends the dims of an operand that are neither batch nor contracted. */
static bool
append_rest(Type *result, const Type *x, const Ints *batch, const Ints *contract)
{
	for (int d = 0; d < x->rank; d++) {
		if (ints_contain(batch, d) || ints_contain(contract, d))
			continue;
		if (result->rank == MAX_RANK)
			return false;
		result->dims[result->rank++] = x->dims[d];
	}
	return true;
}

/* A dot may keep its sums in a wider dtype of the same class than its
   operands (einsum's `dtype=`). */
static DType
dot_dtype(DType operand, DType wanted)
{
	bool wider = dtypes[wanted].class == dtypes[operand].class &&
		dtypes[wanted].bytes > dtypes[operand].bytes;

	return wider ? wanted : operand;
}

const char *
type_dot(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);
	const Ints *batch = op_ints(op, A_lhs_batch);

	const char *wrong = check_dot(op, a);
	if (wrong)
		return wrong;
	*result = type_of(dot_dtype(x->dtype, wanted_type(op)->dtype), 0, NULL);
	for (int i = 0; i < batch->n; i++)
		result->dims[result->rank++] = x->dims[batch->v[i]];
	if (!append_rest(result, x, batch, op_ints(op, A_lhs_contract)) ||
	    !append_rest(result, y, op_ints(op, A_rhs_batch),
	    op_ints(op, A_rhs_contract)))
		return arena_printf(a, "dot of %s and %s has more than %d dims",
			type_shape(a, x), type_shape(a, y), MAX_RANK);
	return check_size(a, result);
}

/* and, or are for pred; the others for numbers (max and min for both). */
static const char *
check_combiner(const Op *op, Arena *a, DType d)
{
	int64_t c = op_int(op, A_combiner);

	if (c < 0 || c >= COMBINER_COUNT)
		return "there is no such combiner";
	bool logical = c == C_and || c == C_or;
	bool number = c == C_add || c == C_mul;
	if ((logical && d != D_pred) || (number && d == D_pred))
		return arena_printf(a, "%s with '%s' needs %s, not %s",
			ops[op->kind].name, combiners[c].name,
			logical ? "pred" : "numbers", dtypes[d].name);
	return NULL;
}

const char *
type_reduce(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	const char *wrong = check_dims(op, a, A_dims, x->rank);
	if (!wrong)
		wrong = check_combiner(op, a, x->dtype);
	if (!wrong)
		wrong = check_scalar(op, a, 1, x->dtype);
	*result = type_of(x->dtype, 0, NULL);
	for (int d = 0; d < x->rank; d++)
		if (!ints_contain(dims, d))
			result->dims[result->rank++] = x->dims[d];
	return wrong;
}

const char *
type_cumsum(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, a, op_int(op, A_dim), result->rank);
	if (wrong)
		return wrong;
	if (result->dtype == D_pred)
		return "cumsum needs numbers, not pred";
	return check_scalar(op, a, 1, result->dtype);
}

const char *
type_take(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0), *index = operand_type(op, 1);
	int64_t dim = op_int(op, A_dim);

	const char *wrong = check_dim(op, a, dim, x->rank);
	if (wrong)
		return wrong;
	if (!dtype_is_integer(index->dtype))
		return arena_printf(a, "take needs integer indices, not %s",
			type_shape(a, index));
	if (x->rank - 1 + index->rank > MAX_RANK)
		return arena_printf(a, "take of %s at %s has more than %d dims",
			type_shape(a, x), type_shape(a, index), MAX_RANK);
	*result = type_of(x->dtype, 0, NULL);
	for (int d = 0; d < x->rank; d++) {
		if (d != dim) {
			result->dims[result->rank++] = x->dims[d];
			continue;
		}
		for (int i = 0; i < index->rank; i++)
			result->dims[result->rank++] = index->dims[i];
	}
	return check_size(a, result);
}

/* What take(x, idx, dim) would give is what scatter_add() adds to x. */
const char *
type_scatter_add(const Op *op, Arena *a, Type *result)
{
	const Type *x = operand_type(op, 0), *update = operand_type(op, 2);
	Type taken;

	*result = *x;
	const char *wrong = type_take(op, a, &taken);
	if (wrong)
		return wrong;
	if (x->dtype == D_pred)
		return "scatter_add needs numbers, not pred";
	if (!type_equal(update, &taken))
		return arena_printf(a, "scatter_add needs updates %s, not %s",
			type_shape(a, &taken), type_shape(a, update));
	return NULL;
}

/* Operands `first` on: a start for each dim of operand 0. */
static const char *
check_starts(const Op *op, Arena *a, int first)
{
	const Type *x = operand_type(op, 0);

	if (op->noperands != first + x->rank)
		return arena_printf(a, "%s of %s needs %d starts, not %d",
			ops[op->kind].name, type_shape(a, x), x->rank,
			op->noperands - first);
	for (int d = 0; d < x->rank; d++) {
		const Type *start = operand_type(op, first + d);
		if (start->rank || !dtype_is_integer(start->dtype))
			return arena_printf(a, "%s needs integer scalars as "
				"starts, not %s", ops[op->kind].name,
				type_shape(a, start));
		if (start->dtype != operand_type(op, first)->dtype)
			return arena_printf(a, "%s needs starts of one dtype",
				ops[op->kind].name);
	}
	return NULL;
}

const char *
type_dynamic_slice(const Op *op, Arena *a, Type *result)
{
	if (!op->noperands)
		return "dynamic_slice needs an operand";
	const Type *x = operand_type(op, 0);
	const Ints *sizes = op_ints(op, A_sizes);
	const char *wrong = check_count(op, a, A_sizes, x->rank);
	if (!wrong)
		wrong = check_starts(op, a, 1);
	if (wrong)
		return wrong;
	*result = *x;
	for (int d = 0; d < x->rank; d++) {
		if (sizes->v[d] < 1 || sizes->v[d] > x->dims[d])
			return arena_printf(a, "dynamic_slice of %lld elements "
				"of dim %d, which has size %lld",
				(long long)sizes->v[d], d,
				(long long)x->dims[d]);
		result->dims[d] = sizes->v[d];
	}
	return NULL;
}

const char *
type_dynamic_update_slice(const Op *op, Arena *a, Type *result)
{
	if (op->noperands < 2)
		return "dynamic_update_slice needs a tensor and its update";
	const Type *x = operand_type(op, 0), *update = operand_type(op, 1);
	*result = *x;
	if (update->rank != x->rank || update->dtype != x->dtype)
		return arena_printf(a, "dynamic_update_slice of %s needs an "
			"update of its dtype and as many dims, not %s",
			type_shape(a, x), type_shape(a, update));
	for (int d = 0; d < x->rank; d++)
		if (update->dims[d] > x->dims[d])
			return arena_printf(a, "dynamic_update_slice puts %s "
				"in the smaller %s", type_shape(a, update),
				type_shape(a, x));
	return check_starts(op, a, 2);
}

static bool
same_dims(const Type *x, const Type *y)
{
	Type other = *y;

	other.dtype = x->dtype;
	return type_equal(x, &other);
}

const char *
type_sort(const Op *op, Arena *a, Type *results)
{
	int64_t direction = op_int(op, A_direction);

	if (!op->noperands || op->nresults != op->noperands)
		return arena_printf(a, "sort of %d tensors has %d results",
			op->noperands, op->nresults);
	const Type *key = operand_type(op, 0);
	for (int i = 0; i < op->noperands; i++) {
		results[i] = *operand_type(op, i);
		if (!same_dims(key, &results[i]))
			return arena_printf(a, "sort needs operands of equal "
				"dims, not %s and %s", type_shape(a, key),
				type_shape(a, &results[i]));
	}
	if (direction != DIR_LT && direction != DIR_GT)
		return "sort is ascending (LT) or descending (GT)";
	return check_dim(op, a, op_int(op, A_dim), key->rank);
}

/* "operand 2", "result 1" */
static const char *
tensor_words(Arena *a, const Op *op, int tensor)
{
	bool operand = tensor < op->noperands;

	return arena_printf(a, "%s %d", operand ? "operand" : "result", 1 +
		(operand ? tensor : tensor - op->noperands));
}

/* Each letter of the rule has one size. */
static const char *
check_letters(const Op *op, Arena *a, const ExternRule *r)
{
	int64_t sizes[RULE_LETTERS] = {0};
	int first[RULE_LETTERS];

	for (int t = 0; t < r->nterms; t++) {
		const Type *type = &rule_tensor(op, t)->type;
		for (int d = 0; d < type->rank; d++) {
			int letter = r->terms[t].letters[d];
			if (letter == WHOLE_DIM || sizes[letter] == type->dims[d])
				continue;
			if (sizes[letter])
				return arena_printf(a, "'%c' of the rule \"%s\" "
					"has size %lld in %s and %lld in %s",
					extern_rule_letter(letter),
					op->external->rule,
					(long long)sizes[letter],
					tensor_words(a, op, first[letter]),
					(long long)type->dims[d],
					tensor_words(a, op, t));
			sizes[letter] = type->dims[d];
			first[letter] = t;
		}
	}
	return NULL;
}

/* The types of the results are given. */
const char *
type_extern(const Op *op, Arena *a, Type *results)
{
	ExternRule r;
	int at;

	if (!op->external)
		return "extern without its function";
	const char *rule = op->external->rule;
	const char *wrong = extern_rule_parse(a, rule, &r, &at);
	if (wrong)
		return wrong;
	if (r.noperands != op->noperands ||
	    r.nterms != op->noperands + op->nresults)
		return arena_printf(a, "the rule \"%s\" is of %d operands and "
			"%d results, not %d and %d", rule, r.noperands,
			r.nterms - r.noperands, op->noperands, op->nresults);
	for (int t = 0; t < r.nterms; t++)
		if (rule_tensor(op, t)->type.rank != r.terms[t].rank)
			return arena_printf(a, "the rule \"%s\" gives %s %d "
				"dims; it has %d", rule, tensor_words(a, op, t),
				r.terms[t].rank, rule_tensor(op, t)->type.rank);
	for (int i = 0; i < op->nresults; i++) {
		results[i] = op->results[i]->type;
		wrong = check_size(a, &results[i]);
		if (wrong)
			return wrong;
	}
	return check_letters(op, a, &r);
}

/* ---- structure ------------------------------------------------------ */

/* Body `b` is there, ends, and has a parameter for each operand from `first`
   on. */
static const char *
check_body_form(const Op *op, Arena *a, int b, int first)
{
	const char *name = ops[op->kind].name;

	if (op->nbodies != ops[op->kind].bodies)
		return arena_printf(a, "%s needs %d bodies, not %d", name,
			ops[op->kind].bodies, op->nbodies);
	const Block *body = op->bodies[b];
	if (!body->last || body->last->kind != O_return)
		return arena_printf(a, "%s needs a body that returns", name);
	if (body->nparams != op->noperands - first)
		return arena_printf(a, "%s passes %d values for %d parameters",
			name, op->noperands - first, body->nparams);
	return NULL;
}

/* ... of the operand's type. */
static const char *
check_body(const Op *op, Arena *a, int b, int first)
{
	const char *name = ops[op->kind].name;
	const char *wrong = check_body_form(op, a, b, first);

	if (wrong)
		return wrong;
	const Block *body = op->bodies[b];
	for (int i = 0; i < body->nparams; i++) {
		const Value *param = body->params[i];
		if (!type_equal(operand_type(op, first + i), &param->type))
			return arena_printf(a, "%s passes %s for parameter "
				"%s, a %s", name,
				type_shape(a, operand_type(op, first + i)),
				param->name, type_shape(a, &param->type));
	}
	return NULL;
}

/* Body `b` returns a value for each result, of the types in `results`. */
static const char *
check_returned(const Op *op, Arena *a, int b, const Type *results)
{
	const Op *last = op->bodies[b]->last;
	const char *name = ops[op->kind].name;

	if (last->noperands != op->nresults)
		return arena_printf(a, "%s has %d results, its body %d", name,
			op->nresults, last->noperands);
	for (int i = 0; i < op->nresults; i++)
		if (!type_equal(operand_type(last, i), &results[i]))
			return arena_printf(a, "a body of %s returns %s as "
				"value %d, which is %s", name,
				type_shape(a, operand_type(last, i)), i,
				type_shape(a, &results[i]));
	return NULL;
}

/* The results are what body 0 returns. */
static void
returned_types(const Op *op, Type *results)
{
	const Op *last = op->bodies[0]->last;

	for (int i = 0; i < op->nresults && i < last->noperands; i++)
		results[i] = *operand_type(last, i);
}

const char *
type_call(const Op *op, Arena *a, Type *results)
{
	const char *wrong = check_body(op, a, 0, 0);

	if (wrong)
		return wrong;
	returned_types(op, results);
	return check_returned(op, a, 0, results);
}

static const char *
check_condition(const Op *op, Arena *a)
{
	const Op *last = op->bodies[0]->last;
	const Type scalar = type_of(D_pred, 0, NULL);

	if (last->noperands == 1 &&
	    type_equal(operand_type(last, 0), &scalar))
		return NULL;
	return arena_printf(a, "the condition of a while returns one scalar "
		"pred, not %s", last->noperands == 1 ?
		type_shape(a, operand_type(last, 0)) : "several values");
}

const char *
type_while(const Op *op, Arena *a, Type *results)
{
	const char *wrong = check_body(op, a, 0, 0);

	if (!wrong)
		wrong = check_body(op, a, 1, 0);
	if (!wrong)
		wrong = check_condition(op, a);
	if (wrong)
		return wrong;
	if (op->noperands != op->nresults)
		return arena_printf(a, "while carries %d values and has %d "
			"results", op->noperands, op->nresults);
	for (int i = 0; i < op->nresults; i++)
		results[i] = *operand_type(op, i);
	return check_returned(op, a, 1, results);
}

const char *
type_if(const Op *op, Arena *a, Type *results)
{
	if (!op->noperands)
		return "if needs a condition";
	const char *wrong = check_scalar(op, a, 0, D_pred);
	for (int b = 0; b < 2 && !wrong; b++)
		wrong = check_body(op, a, b, 1);
	if (wrong)
		return wrong;
	returned_types(op, results);
	for (int b = 0; b < 2 && !wrong; b++)
		wrong = check_returned(op, a, b, results);
	return wrong;
}

/* A tensor of which each device has a `local` as the spec says. */
static const char *
joined_type(const Op *op, Arena *a, const Type *local, const Placement *spec,
	Type *whole)
{
	*whole = *local;
	if (spec->rank != local->rank)
		return arena_printf(a, "%s has a spec of %d dims for %s",
			ops[op->kind].name, spec->rank, type_shape(a, local));
	for (int d = 0; d < local->rank; d++)
		if (!mul_i64(local->dims[d], placement_dim_ways(spec, d),
		    &whole->dims[d]))
			return "a dim is longer than 64 bits can count";
	return check_size(a, whole);
}

const char *
type_manual(const Op *op, Arena *a, Type *results)
{
	const char *wrong = check_body_form(op, a, 0, 0);
	Type whole;

	if (wrong)
		return wrong;
	const Block *body = op->bodies[0];
	for (int i = 0; i < body->nparams && !wrong; i++) {
		wrong = joined_type(op, a, &body->params[i]->type,
			&op->specs[i], &whole);
		if (!wrong && !type_equal(&whole, operand_type(op, i)))
			wrong = arena_printf(a, "manual takes %s, but shards "
				"such as its %s make %s",
				type_shape(a, operand_type(op, i)),
				body->params[i]->name, type_shape(a, &whole));
	}
	if (wrong)
		return wrong;
	if (body->last->noperands != op->nresults)
		return arena_printf(a, "manual has %d results, its body %d",
			op->nresults, body->last->noperands);
	for (int i = 0; i < op->nresults && !wrong; i++)
		wrong = joined_type(op, a, operand_type(body->last, i),
			&op->specs[op->noperands + i], &results[i]);
	return wrong;
}

const char *
type_none(const Op *op, Arena *a, Type *result)
{
	(void)op;
	(void)a;
	*result = type_of(D_pred, 0, NULL);
	return NULL;
}

/* ---- device programs ------------------------------------------------ */

static int64_t
group_size(const Op *op)
{
	return op->axes ? axes_size(op->axes) : 1;
}

const char *
type_all_gather(const Op *op, Arena *a, Type *result)
{
	int64_t dim = op_int(op, A_dim);

	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, a, dim, result->rank);
	if (wrong)
		return wrong;
	if (!mul_i64(result->dims[dim], group_size(op), &result->dims[dim]))
		return "all_gather makes a dim longer than 64 bits can count";
	return check_size(a, result);
}

const char *
type_all_reduce(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	return check_combiner(op, a, result->dtype);
}

/* NULL if a dim of the operand is a multiple of the group. */
static const char *
check_group_divides(const Op *op, Arena *a)
{
	const Type *x = operand_type(op, 0);
	int64_t dim = op_int(op, A_dim), n = group_size(op);

	const char *wrong = check_dim(op, a, dim, x->rank);
	if (!wrong && x->dims[dim] % n)
		wrong = arena_printf(a, "%s over %lld devices of dim %lld, "
			"which has size %lld", ops[op->kind].name,
			(long long)n, (long long)dim, (long long)x->dims[dim]);
	return wrong;
}

const char *
type_reduce_scatter(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	const char *wrong = check_group_divides(op, a);
	if (!wrong)
		wrong = check_combiner(op, a, result->dtype);
	if (!wrong)
		result->dims[op_int(op, A_dim)] /= group_size(op);
	return wrong;
}

/* Each member has one sender at most, and sends to one at most. */
const char *
type_permute(const Op *op, Arena *a, Type *result)
{
	const Ints *source = op_ints(op, A_source);

	*result = *operand_type(op, 0);
	if (!op_has(op, A_source))
		return NULL;
	if (source->n != group_size(op))
		return arena_printf(a, "a permute of %lld devices has %d "
			"sources", (long long)group_size(op), source->n);
	bool *sends = NEW_ARRAY(a, bool, source->n);
	for (int i = 0; i < source->n; i++) {
		int64_t from = source->v[i];
		if (from < -1 || from >= source->n)
			return arena_printf(a, "a permute of %d devices has "
				"no source %lld", source->n, (long long)from);
		if (from >= 0 && sends[from])
			return arena_printf(a, "device %lld of a permute sends "
				"twice", (long long)from);
		if (from >= 0)
			sends[from] = true;
	}
	return NULL;
}

const char *
type_all_to_all(const Op *op, Arena *a, Type *result)
{
	*result = *operand_type(op, 0);
	return check_group_divides(op, a);
}

/* Operands 0 and 1: rows that are sent, and where rows go. */
static const char *
check_rows(const Op *op, Arena *a)
{
	const Type *x = operand_type(op, 0), *to = operand_type(op, 1);
	bool alike = x->dtype == to->dtype && x->rank == to->rank &&
		x->rank > 0;

	for (int d = 1; alike && d < x->rank; d++)
		alike = x->dims[d] == to->dims[d];
	return alike ? NULL : arena_printf(a, "ragged_all_to_all moves rows "
		"between tensors that are alike but in dim 0, not from %s to "
		"%s", type_shape(a, x), type_shape(a, to));
}

const char *
type_ragged(const Op *op, Arena *a, Type *result)
{
	int64_t n = group_size(op);
	const Type table = type_of(D_i32, 1, &n);

	*result = *operand_type(op, 1);
	const char *wrong = check_rows(op, a);
	if (!wrong && op_int(op, A_dim) != 0)
		wrong = "ragged_all_to_all moves rows of dim 0";
	for (int i = 2; i < op->noperands && !wrong; i++)
		if (!type_equal(operand_type(op, i), &table))
			wrong = arena_printf(a, "ragged_all_to_all over %lld "
				"devices needs a number for each, %s, not %s",
				(long long)n, type_shape(a, &table),
				type_shape(a, operand_type(op, i)));
	return wrong;
}
