/*
 * pointwise.c - gradients of pointwise ops: most are formulas (pointwise.def).
 */
#include <string.h>
#include "grad/adjoint.h"

static const char *const formulas[OP_COUNT][2] = {
#define GRADIENT(op, da, db) [O_##op] = {da, db},
#include "grad/pointwise.def"
#undef GRADIENT
};

typedef struct Names {
	Adjoint *a;
	const Op *op;
} Names;

/* a, b: an operand; y: the result; dy: its cotangent. */
static Value *
named_value(void *data, const char *name)
{
	const Names *n = data;

	if (strcmp(name, "dy") == 0)
		return cotangent_of(n->a, n->op->results[0]);
	return here(n->a, *name == 'y' ? n->op->results[0] : n->op->operands[*name - 'a']);
}

static Value *
by_formula(Adjoint *a, const Op *op, const char *text)
{
	Names names = {a, op};
	Formula f = {a->k, named_value, &names, &op->results[0]->type};

	return formula_make(&f, text);
}

void
gradient_formula(Adjoint *a, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		if (wants(a, op, i))
			give(a, op->operands[i], by_formula(a, op, formulas[op->kind][i]));
}

/* It changes by steps, or not at all. */
void
gradient_zero(Adjoint *a, const Op *op)
{
	(void)a;
	(void)op;
}

void
gradient_none(Adjoint *a, const Op *op)
{
	refuse(a, op, "%s has no gradient", op->label);
}

/* The same elements. */
void
gradient_same(Adjoint *a, const Op *op)
{
	give(a, op->operands[0], cotangent_of(a, op->results[0]));
}

void
gradient_convert(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	give(a, op->operands[0], make_convert(a->k, dy, op->operands[0]->type.dtype));
}

void
gradient_select(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	for (int i = 1; i < 3; i++) {
		if (!wants(a, op, i))
			continue;
		Value *where = here_operand(a, op, 0), *zeros = make_zeros(a->k, &dy->type);
		give(a, op->operands[i],
			make_select(a->k, where, i == 1 ? dy : zeros, i == 1 ? zeros : dy));
	}
}

/* maximum, minimum: to the operand that is the result; half to each where both are. */
static Value *
share_of(Adjoint *a, Value *mine, Value *other, Value *y, Value *dy)
{
	Value *half = make_binary(a->k, O_mul, dy, make_number(a->k, &dy->type, 0.5));
	Value *is_other = make_compare(a->k, DIR_EQ, other, y);
	Value *share = make_select(a->k, is_other, half, dy);
	Value *is_mine = make_compare(a->k, DIR_EQ, mine, y);

	return make_select(a->k, is_mine, share, make_zeros(a->k, &dy->type));
}

void
gradient_extreme(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	for (int i = 0; i < 2; i++)
		if (wants(a, op, i)) {
			Value *mine = here_operand(a, op, i);
			Value *other = here_operand(a, op, 1 - i);
			Value *y = here(a, op->results[0]);
			give(a, op->operands[i], share_of(a, mine, other, y, dy));
		}
}

/* minimum(maximum(x, low), high) */
void
gradient_clamp(Adjoint *a, const Op *op)
{
	enum { LOW, X, HIGH };
	Value *dy = cotangent_of(a, op->results[0]);
	Value *low = here_operand(a, op, LOW), *x = here_operand(a, op, X);
	Value *high = here_operand(a, op, HIGH), *y = here(a, op->results[0]);
	Value *raised = make_binary(a->k, O_maximum, x, low);
	Value *below = share_of(a, raised, high, y, dy);

	if (wants(a, op, HIGH))
		give(a, op->operands[HIGH], share_of(a, high, raised, y, dy));
	if (wants(a, op, X))
		give(a, op->operands[X], share_of(a, x, low, raised, below));
	if (wants(a, op, LOW))
		give(a, op->operands[LOW], share_of(a, low, x, raised, below));
}
