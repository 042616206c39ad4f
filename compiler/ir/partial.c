/*
 * partial.c - which ops partial results may pass through (partial.h).
 */
#include "ir/flow.h"
#include "ir/partial.h"

/* Of which combiners. */
typedef enum Which { WHICH_none, WHICH_any, WHICH_one, WHICH_own } Which;

static const struct {
	Which which;
	Combiner combiner;
	Through first, others;
} partials[] = {
#define PARTIAL(id, which, combiner, first, others) \
	[PARTIAL_##id] = {WHICH_##which, C_##combiner, THROUGH_##first, THROUGH_##others},
#include "ir/partials.def"
#undef PARTIAL
};

/* Do ops of that kind pass on partial results of the combiner, at some operand? */
static bool
partial_combines(PartialKind kind, Combiner c)
{
	return partials[kind].which == WHICH_any
		|| (partials[kind].which == WHICH_one && partials[kind].combiner == c);
}

/* What changes nothing that it is combined with, in each element. */
static bool
is_identity_of(const Value *v, Combiner c)
{
	DType dtype = v->type.dtype;
	int64_t identity = combiner_identity(c, dtype);

	while (v->def && (v->def->kind == O_broadcast || v->def->kind == O_reshape))
		v = v->def->operands[0];
	if (!v->def || v->def->kind != O_constant || v->type.rank)
		return false;
	int64_t value = op_int(v->def, A_value);
	return dtype_is_float(dtype) ? payload_double(value) == payload_double(identity)
				     : value == identity;
}

/* ---- what is never zero ------------------------------------------------------- */

enum { SIGN_DEPTH = 4, COUNTED_MOST = 1 << 30 }; /* the sum of two such is an i32 */

typedef enum Sign { SIGN_any, SIGN_not_negative, SIGN_positive } Sign;

static Sign
sign_of_constant(const Op *op)
{
	int64_t payload = op_int(op, A_value);
	bool is_float = dtype_is_float(op->results[0]->type.dtype);
	double number = is_float ? payload_double(payload) : (double)payload;

	if (op->results[0]->type.rank || (!is_float && payload >= COUNTED_MOST))
		return SIGN_any;
	return number > 0 ? SIGN_positive : number >= 0 ? SIGN_not_negative : SIGN_any;
}

/* Is it the index of a loop, from 0 or more, which is no large number? */
static bool
counts_up(const Value *v)
{
	const Op *loop = v->def ? NULL : v->block->parent;

	if (!loop || !op_is_loop(loop) || !op_ints(loop, A_trips)->n)
		return false;
	const Block *body = loop->bodies[LOOP_BODY];
	const Op *next = body->last->operands[v->index]->def;
	const Op *start = value_around(loop->operands[v->index])->def;
	const Op *by = next && next->kind == O_add ? next->operands[1]->def : NULL;
	return by && by->kind == O_constant && op_int(by, A_value) == 1
		&& next->operands[0] == body->params[v->index] && start
		&& start->kind == O_constant && sign_of_constant(start) != SIGN_any
		&& op_int(start, A_value) + op_int(loop, A_trips) < COUNTED_MOST;
}

/* What is made of v without another number, but for roundings that make no zero. */
static const Value *
as_wide(const Value *v)
{
	v = value_around(v);
	for (const Op *op = v->def; op; op = v->def) {
		bool same = op->kind == O_broadcast || op->kind == O_reshape
			|| (op->kind == O_reshard && !op->operands[0]->placement.nunreduced);
		DType from = op->noperands ? op->operands[0]->type.dtype : v->type.dtype;
		if (!same && op->kind != O_convert)
			return v;
		if (!same && dtypes[from].bits >= dtypes[v->type.dtype].bits
			&& !(dtype_is_integer(from) && dtype_is_float(v->type.dtype)))
			return v;
		v = value_around(op->operands[0]);
	}
	return v;
}

/* Of integers sums are an index and a constant, which do not wrap round. */
static Sign
sign_of(const Value *v, int depth)
{
	v = as_wide(v);
	const Op *op = v->def;
	bool is_float = dtype_is_float(v->type.dtype);

	if (!op)
		return counts_up(v) ? SIGN_not_negative : SIGN_any;
	if (op->kind == O_constant)
		return sign_of_constant(op);
	if (depth == 0 || (op->kind != O_maximum && op->kind != O_add))
		return SIGN_any;
	if (op->kind == O_add && !is_float
		&& !(counts_up(value_around(op->operands[0])) && op->operands[1]->def
			&& op->operands[1]->def->kind == O_constant))
		return SIGN_any;
	Sign a = sign_of(op->operands[0], depth - 1), b = sign_of(op->operands[1], depth - 1);
	Sign larger = a > b ? a : b;
	return op->kind == O_add && (a == SIGN_any || b == SIGN_any) ? SIGN_any : larger;
}

bool
is_never(const Value *v, double number)
{
	if (!dtype_is_float(v->type.dtype))
		return false;
	if (number <= 0 && sign_of(v, SIGN_DEPTH) == SIGN_positive)
		return true;
	v = as_wide(v);
	if (v->type.rank || counts_up(v)) /* from 0, or it was positive */
		return false;
	return !v->def || v->def->kind != O_constant || !dtype_is_float(v->type.dtype)
		|| payload_double(op_int(v->def, A_value)) != number;
}

bool
partial_written(const Op *op)
{
	if (op->kind != O_dynamic_update_slice)
		return false;
	const Placement *whole = &op->operands[0]->placement,
			*part = &op->operands[1]->placement;
	AxisList of_whole = placement_unreduced(whole), of_part = placement_unreduced(part);

	return of_whole.n && axes_equal(&of_whole, &of_part)
		&& whole->combiner == part->combiner;
}

bool
partial_joins(const Op *op, int operand)
{
	PartialKind kind = ops[op->kind].partial;

	return (operand ? partials[kind].others : partials[kind].first) != THROUGH_no;
}

Through
partial_through(const Op *op, int operand, Combiner c)
{
	PartialKind kind = ops[op->kind].partial;
	DType from = op->operands[operand]->type.dtype, to = op->results[0]->type.dtype;

	/* integers wrap at their width, and bf16 rounds: within one dtype, or a larger one */
	if (from != to
		&& !(kind == PARTIAL_widen && dtype_is_float(from) && dtype_is_float(to)
			&& dtypes[from].bits < dtypes[to].bits))
		return THROUGH_no;
	if (!(partials[kind].which == WHICH_own && op_int(op, A_combiner) == (int64_t)c)
		&& !partial_combines(kind, c))
		return THROUGH_no;
	/* integers are rounded by a division */
	if (kind == PARTIAL_scale && !(dtype_is_float(to) && is_never(op->operands[1], 0)))
		return THROUGH_no;
	if (kind == PARTIAL_pad && !is_identity_of(op->operands[1], c))
		return THROUGH_no;
	if (kind == PARTIAL_choice && operand)
		return is_identity_of(op->operands[3 - operand], c) ? THROUGH_alone
								    : THROUGH_together;
	return operand ? partials[kind].others : partials[kind].first;
}
