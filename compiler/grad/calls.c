/*
 * calls.c - gradients of what has a body that runs once.
 */
#include "grad/adjoint.h"

/* ---- computed once more ------------------------------------------------------ */

/* What a checkpoint computes once more is of its operands behind the cotangents: it is
   neither kept nor merged with what was computed before. */
static Value *
fenced(Adjoint *a, const Op *op, Value *v)
{
	return v && op->kind == O_checkpoint ? make_unary(a->k, O_fence, v) : v;
}

/* Is it for a checkpoint, or for a composite inside of one, that this is computed again? */
static bool
is_in_checkpoint(const Adjoint *a)
{
	for (; a; a = a->outer)
		if (a->cross.op && a->cross.op->kind == O_checkpoint)
			return true;
	return false;
}

/* Of an explicit function, too: what it makes of what was kept follows from nothing written. */
static void
go_backward(Op *op, bool again)
{
	op->mode = MODE_backward;
	op->again |= again;
	for (int i = 0; i < op->nbodies; i++)
		for (Op *o = op->bodies[i]->first; o; o = o->next)
			go_backward(o, again);
}

/* What the body computes, here: each op when it is asked for, of what is asked for then. */
static Value *
compute_again(Adjoint *a, Value *v)
{
	Crossing *c = &a->cross;

	if (!v->def)
		return fenced(a, c->op, here_operand(a->outer, c->op, v->index));
	if (v->def->kind == O_save) {
		op_add_operand(c->forward->bodies[0]->last, v);
		Value *saved = op_add_result(c->forward, "saved", &v->type);
		return fenced(a, c->op, kept_here(a, saved, primal_of(a->g, v)->varies));
	}
	Op *copy = op_clone(v->def);
	go_backward(copy, is_in_checkpoint(a));
	for (int i = 0; i < copy->noperands; i++)
		copy->operands[i] = here(a, v->def->operands[i]);
	make_place(a->k, copy);
	for (int i = 0; i < copy->nresults; i++)
		primal_of(a->g, v->def->results[i])->here = copy->results[i];
	return copy->results[v->index];
}

/* Of a composite, and of a checkpoint. */
void
gradient_again(Adjoint *a, const Op *op)
{
	Adjoint inner = {.g = a->g,
		.outer = a,
		.k = a->k,
		.cross = {compute_again, op, (Op *)op, NULL, 0, true, NULL}};
	const Block *body = op->bodies[0];

	for (int i = 0; i < op->nresults && i < body->last->noperands; i++) {
		const Value *result = op->results[i], *returned = body->last->operands[i];
		inner.along = primal_of(a->g, result)->varies;
		if (op->kind == O_checkpoint)
			give(&inner, returned, fenced(a, op, cotangent_of(a, result)));
		else
			hand_over(result, &inner, returned);
	}
	adjoint_block(&inner, body);
	for (int i = 0; i < op->noperands; i++)
		hand_over(body->params[i], a, op->operands[i]);
}

/* ---- by a rule of its own ------------------------------------------------------ */

static bool
is_used(const Value *param)
{
	for (const Op *op = param->block->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == param)
				return true;
	return false;
}

/* Along which axes what body 1 gives differs: it is a part of a cotangent where the operand
   is the same, unless the body has summed it up. */
static const AxisSet *
variation_of_rule(Adjoint *a, const Op *op)
{
	Block *rule = op->bodies[1];
	AxisSet *params = NEW_ARRAY(a->g->arena, AxisSet, rule->nparams + 1);
	int n = 0;

	for (int i = 0; i < op->noperands; i++)
		params[n++] = primal_of(a->g, op->operands[i])->varies;
	for (int i = 0; i < op->nresults; i++)
		params[n++] = primal_of(a->g, op->results[i])->varies;
	for (int i = 0; i < op->nresults; i++)
		if (type_is_smooth(a->g, op->results[i]->type.dtype))
			params[n++] = primal_of(a->g, op->results[i])->varies;
	block_number(rule);
	return variation_solve(a->g->arena, rule, params, true);
}

/* Body 1, of operands, results and the cotangents of those that have some; what it does
   not look at need not be here. */
void
gradient_ruled(Adjoint *a, const Op *op)
{
	const Block *rule = op->bodies[1];
	Value **given = NEW_ARRAY(a->g->arena, Value *, rule->nparams + 1);
	int n = 0;

	for (int i = 0; i < op->noperands; i++, n++)
		if (is_used(rule->params[n]))
			given[n] = here_operand(a, op, i);
	for (int i = 0; i < op->nresults; i++, n++)
		if (is_used(rule->params[n]))
			given[n] = here(a, op->results[i]);
	for (int i = 0; i < op->nresults; i++)
		if (type_is_smooth(a->g, op->results[i]->type.dtype))
			given[n++] = cotangent_or_zeros(a, op->results[i]);
	Value *const *gradients = make_body(a->k, rule, given);
	const AxisSet *vary = variation_of_rule(a, op);
	n = 0;
	for (int i = 0; i < op->noperands; i++)
		if (type_is_smooth(a->g, op->operands[i]->type.dtype)) {
			a->along = vary[rule->last->operands[n]->id];
			give(a, op->operands[i], gradients[n++]);
		}
}

void
gradient_extern(Adjoint *a, const Op *op)
{
	refuse(a, op, "'%s' is extern and says nothing of its gradient", op->external->name);
}
