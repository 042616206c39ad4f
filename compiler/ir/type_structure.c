/*
 * type_structure.c - the types of ops with bodies, and of collectives.
 */
#include "ir/types.h"

/* ---- structure ------------------------------------------------------ */

/* Body `b` is there, ends, and has a parameter for each operand from `first`
   on. */
static const char *
check_body_form(const Op *op, Arena *a, int b, int first)
{
	const char *name = ops[op->kind].name;

	if (op->nbodies != ops[op->kind].bodies)
		return arena_printf(a, "%s needs %d bodies, not %d", name, ops[op->kind].bodies,
			op->nbodies);
	const Block *body = op->bodies[b];
	if (!body->last || body->last->kind != O_return)
		return arena_printf(a, "%s needs a body that returns", name);
	if (body->nparams != op->noperands - first)
		return arena_printf(a, "%s passes %d values for %d parameters", name,
			op->noperands - first, body->nparams);
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
			return arena_printf(a,
				"%s passes %s for parameter "
				"%s, a %s",
				name, type_shape(a, operand_type(op, first + i)), param->name,
				type_shape(a, &param->type));
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
		return arena_printf(a, "%s has %d results, its body %d", name, op->nresults,
			last->noperands);
	for (int i = 0; i < op->nresults; i++)
		if (!type_equal(operand_type(last, i), &results[i]))
			return arena_printf(a,
				"a body of %s returns %s as "
				"value %d, which is %s",
				name, type_shape(a, operand_type(last, i)), i,
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

	if (last->noperands == 1 && type_equal(operand_type(last, 0), &scalar))
		return NULL;
	return arena_printf(a,
		"the condition of a while returns one scalar "
		"pred, not %s",
		last->noperands == 1 ? type_shape(a, operand_type(last, 0)) : "several values");
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
		return arena_printf(a,
			"while carries %d values and has %d "
			"results",
			op->noperands, op->nresults);
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
joined_type(const Op *op, Arena *a, const Type *local, const Placement *spec, Type *whole)
{
	*whole = *local;
	if (spec->rank != local->rank)
		return arena_printf(a, "%s has a spec of %d dims for %s", ops[op->kind].name,
			spec->rank, type_shape(a, local));
	for (int d = 0; d < local->rank; d++)
		if (!mul_i64(local->dims[d], placement_dim_ways(spec, d), &whole->dims[d]))
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
		wrong = joined_type(op, a, &body->params[i]->type, &op->specs[i], &whole);
		if (!wrong && !type_equal(&whole, operand_type(op, i)))
			wrong = arena_printf(a,
				"manual takes %s, but shards "
				"such as its %s make %s",
				type_shape(a, operand_type(op, i)), body->params[i]->name,
				type_shape(a, &whole));
	}
	if (wrong)
		return wrong;
	if (body->last->noperands != op->nresults)
		return arena_printf(a, "manual has %d results, its body %d", op->nresults,
			body->last->noperands);
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
		wrong = arena_printf(a,
			"%s over %lld devices of dim %lld, "
			"which has size %lld",
			ops[op->kind].name, (long long)n, (long long)dim,
			(long long)x->dims[dim]);
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
		return arena_printf(a,
			"a permute of %lld devices has %d "
			"sources",
			(long long)group_size(op), source->n);
	bool *sends = NEW_ARRAY(a, bool, source->n);
	for (int i = 0; i < source->n; i++) {
		int64_t from = source->v[i];
		if (from < -1 || from >= source->n)
			return arena_printf(a,
				"a permute of %d devices has "
				"no source %lld",
				source->n, (long long)from);
		if (from >= 0 && sends[from])
			return arena_printf(a,
				"device %lld of a permute sends "
				"twice",
				(long long)from);
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
	bool alike = x->dtype == to->dtype && x->rank == to->rank && x->rank > 0;

	for (int d = 1; alike && d < x->rank; d++)
		alike = x->dims[d] == to->dims[d];
	return alike ? NULL
		     : arena_printf(a,
			     "ragged_all_to_all moves rows "
			     "between tensors that are alike but in dim 0, not from %s to "
			     "%s",
			     type_shape(a, x), type_shape(a, to));
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
			wrong = arena_printf(a,
				"ragged_all_to_all over %lld "
				"devices needs a number for each, %s, not %s",
				(long long)n, type_shape(a, &table),
				type_shape(a, operand_type(op, i)));
	return wrong;
}
