/*
 * partial.c - which ops partial results may pass through (partial.h).
 */
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

/* A conversion to fewer bits may make zero of what is not. */
bool
is_never(const Value *v, double number)
{
	for (const Op *op = v->def; op && op->kind != O_constant; op = v->def) {
		bool same = op->kind == O_broadcast || op->kind == O_reshape;
		if (!same
			&& (op->kind != O_convert
				|| dtypes[op->operands[0]->type.dtype].bits
					>= dtypes[v->type.dtype].bits))
			return false;
		v = op->operands[0];
	}
	return v->def && !v->type.rank && dtype_is_float(v->type.dtype)
		&& payload_double(op_int(v->def, A_value)) != number;
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
