/*
 * expressions.c - which values a line of Python makes, so that it can place them.
 *
 *   return jax.nn.relu(x @ w + b) @ v     of each @ and the +, what it makes
 *
 * An op belongs to an expression by its innermost frame.  What an expression makes is the
 * last that was lowered for it.  What the program asks for gradients has more for one that
 * is not linear, in no certain order, so those are left out; and what is computed backward
 * has the frames of what it is the gradient of.  Inside of vmap a value has a dim more than
 * the expression.  Text that does not say where an expression ends does not tell them apart.
 */
#include <string.h>

#include "import/reader.h"

static bool
is_linear(OpKind kind)
{
	static const OpKind kinds[] = {O_dot, O_add, O_sub, O_convert, O_take, O_transpose,
		O_reshape, O_concatenate};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

void
expression_note(Import *in, const MlirOp *op)
{
	Value *v = op->types.n == 1 ? in->results[0] : NULL;
	Value *last = in->expression;
	Range range = in->make.range;
	bool made = v && v->def && v->type.rank && v->block == in->block
		&& range.end > range.begin && range_equal(v->def->range, range);

	if (!made || in->manual.n || !place_is_written(in, op->place))
		return;
	if (last && last->block == v->block && range_equal(last->range, range))
		last->range = nowhere;
	in->expression = NULL;
	if (!is_linear(v->def->kind))
		return;
	v->range = range;
	v->untyped = UNTYPED_let;
	in->expression = v;
}
