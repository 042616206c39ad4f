/*
 * type_structure.c - the types of ops with bodies, and of collectives.
 */
#include <string.h>
#include "ir/flow.h"
#include "ir/types.h"

/* ---- structure ------------------------------------------------------ */

/* The bodies are there and end, with a parameter for each operand that is passed
   on and a value for each result. */
const char *
check_form(const Op *op)
{
	const char *name = ops[op->kind].name;
	bool loop = ops[op->kind].run == BODIES_loop;
	int passed = op->noperands - (ops[op->kind].run == BODIES_choice);

	if (op->nbodies != ops[op->kind].bodies)
		return op_wrong(op, "%s needs %d bodies, not %d", name, ops[op->kind].bodies,
			op->nbodies);
	if (passed < 0)
		return op_wrong(op, "%s needs a condition", name);
	if (loop && passed != op->nresults)
		return op_wrong(op, "%s carries %d values and has %d results", name, passed,
			op->nresults);
	bool ruled = ops[op->kind].run == BODIES_ruled;
	for (int i = 0; i < (ruled ? 1 : op->nbodies); i++) {
		const Block *body = op->bodies[i];
		if (!body->last || body->last->kind != O_return)
			return op_wrong(op, "%s needs a body that returns", name);
		if (body->nparams != passed)
			return op_wrong(op, "%s passes %d values for %d parameters", name,
				passed, body->nparams);
		if (loop && i == LOOP_CONDITION ? body->last->noperands != 1
						: body->last->noperands != op->nresults)
			return op_wrong(op, "%s has %d results, its body %d", name,
				op->nresults, body->last->noperands);
	}
	return NULL;
}

/* What goes along has one type, which that of a result is; into a manual region
   and out of it goes a part: of the tensor, each device has one as the spec says. */
static const char *
check_flow(const Op *op, const Flow *f, Type *results)
{
	const char *name = ops[op->kind].name, *wrong = NULL;
	const Placement *spec = flow_spec(f);
	bool to_result = f->to->def != NULL;
	Flow first = {.to = f->to};
	Type from = f->from->type, to = f->to->type, *local = to_result ? &from : &to;

	flow_next_to(&first);
	if (spec && spec->rank != local->rank)
		return op_wrong(op, "%s has a spec of %d dims for %s", name, spec->rank,
			shape_of(op, local));
	for (int d = 0; spec && d < local->rank; d++)
		if (!mul_i64(local->dims[d], placement_dim_ways(spec, d), &local->dims[d]))
			return "a dim is longer than 64 bits can count";
	if (spec)
		wrong = check_size(op, local);
	if (wrong)
		return wrong;
	if (to_result && first.user == f->user)
		results[f->index] = from;
	if (to_result)
		to = results[f->index];
	if (type_equal(&from, &to))
		return NULL;
	if (f->kind == FLOW_in)
		return op_wrong(op,
			spec ? "%s takes %s, but shards such as its %s make %s"
			     : "%s passes %s for parameter %s, a %s",
			name, shape_of(op, &from), f->to->name, shape_of(op, &to));
	return op_wrong(op, "a body of %s returns %s as value %d, which is %s", name,
		shape_of(op, &from), f->index, shape_of(op, &to));
}

const char *
type_bodies(const Op *op, Type *results)
{
	const char *wrong = check_form(op);
	const Value *decision = wrong ? NULL : op_decision(op);

	if (decision && (decision->type.rank || decision->type.dtype != D_pred))
		wrong = op_wrong(op, "the condition of %s is a scalar pred, not %s",
			ops[op->kind].name, shape_of(op, &decision->type));
	for (Flow f = {.op = op}; !wrong && flow_next(&f);)
		wrong = check_flow(op, &f, results);
	return wrong;
}

const char *
type_none(const Op *op, Type *result)
{
	(void)op;
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
type_all_gather(const Op *op, Type *result)
{
	int64_t dim = op_int(op, A_dim);

	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, dim, result->rank);
	if (wrong)
		return wrong;
	if (!mul_i64(result->dims[dim], group_size(op), &result->dims[dim]))
		return "all_gather makes a dim longer than 64 bits can count";
	return check_size(op, result);
}

const char *
type_all_reduce(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	return check_combiner(op, result->dtype);
}

/* NULL if a dim of the operand is a multiple of the group. */
static const char *
check_group_divides(const Op *op)
{
	const Type *x = operand_type(op, 0);
	int64_t dim = op_int(op, A_dim), n = group_size(op);

	const char *wrong = check_dim(op, dim, x->rank);
	if (!wrong && x->dims[dim] % n)
		wrong = op_wrong(op,
			"%s over %lld devices of dim %lld, "
			"which has size %lld",
			ops[op->kind].name, (long long)n, (long long)dim,
			(long long)x->dims[dim]);
	return wrong;
}

const char *
type_reduce_scatter(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	const char *wrong = check_group_divides(op);
	if (!wrong)
		wrong = check_combiner(op, result->dtype);
	if (!wrong)
		result->dims[op_int(op, A_dim)] /= group_size(op);
	return wrong;
}

/* A member that sends to two; -1: none does.  Looks at so many members at a time, in
   another walk over the list each, which does without memory for all. */
static int64_t
sends_twice(const Ints *source)
{
	enum { MEMBERS = 1 << 14 };
	uint64_t sends[MEMBERS / 64];

	for (int64_t first = 0; first < source->n; first += MEMBERS) {
		memset(sends, 0, sizeof sends);
		for (int i = 0; i < source->n; i++) {
			int64_t member = source->v[i] - first;
			if (member < 0 || member >= MEMBERS)
				continue;
			if (sends[member / 64] >> member % 64 & 1)
				return source->v[i];
			sends[member / 64] |= (uint64_t)1 << member % 64;
		}
	}
	return -1;
}

/* Each member has one sender at most, and sends to one at most. */
const char *
type_permute(const Op *op, Type *result)
{
	const Ints *source = op_ints(op, A_source);

	*result = *operand_type(op, 0);
	if (!op_has(op, A_source))
		return NULL;
	if (source->n != group_size(op))
		return op_wrong(op,
			"a permute of %lld devices has %d "
			"sources",
			(long long)group_size(op), source->n);
	for (int i = 0; i < source->n; i++) {
		int64_t from = source->v[i];
		if (from < -1 || from >= source->n)
			return op_wrong(op,
				"a permute of %d devices has "
				"no source %lld",
				source->n, (long long)from);
	}
	int64_t twice = sends_twice(source);
	if (twice >= 0)
		return op_wrong(op, "device %lld of a permute sends twice", (long long)twice);
	return NULL;
}

const char *
type_all_to_all(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	return check_group_divides(op);
}

/* Operands 0 and 1: rows that are sent, and where rows go. */
const char *
type_ragged(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *to = operand_type(op, 1);
	int64_t n = group_size(op);
	const Type table = type_of(D_i32, 1, &n);
	Type rows = *x;

	*result = *to;
	if (rows.rank)
		rows.dims[0] = to->dims[0];
	if (!rows.rank || !type_equal(&rows, to))
		return op_wrong(op,
			"ragged_all_to_all moves rows between tensors that are alike but in "
			"dim 0, not from %s to %s",
			shape_of(op, x), shape_of(op, to));
	if (op_int(op, A_dim) != 0)
		return "ragged_all_to_all moves rows of dim 0";
	for (int i = 2; i < op->noperands; i++)
		if (!type_equal(operand_type(op, i), &table))
			return op_wrong(op,
				"ragged_all_to_all over %lld devices needs a number for each, "
				"%s, not %s",
				(long long)n, shape_of(op, &table),
				shape_of(op, operand_type(op, i)));
	return NULL;
}
