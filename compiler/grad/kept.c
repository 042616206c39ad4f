/*
 * kept.c - values of a forward body in the backward one.
 *
 *   forward   x' = while(i, x, W)       body: h = dot(x1, W1); return(i + 1, tanh(h), W1)
 *   backward  needs x1 and tanh(h) of each trip, and W
 *
 * What only one trip knows is kept by a result more of the forward op, here a stack
 * with a slice for each trip; what is the same around is an operand of the backward op.
 */
#include "grad/adjoint.h"
#include "ir/flow.h"

/* Of a body that is computed once more, and of what is in it, the copies are gone
   through, with what is known of the values that they are copies of. */
static void
know_copies(Gradients *g, const Op *op, const Op *copy)
{
	for (int i = 0; i < op->nresults; i++)
		know_like(g, copy->results[i], op->results[i]);
	for (int b = 0; b < op->nbodies; b++) {
		const Block *from = op->bodies[b], *to = copy->bodies[b];
		for (int i = 0; i < from->nparams; i++)
			know_like(g, to->params[i], from->params[i]);
		const Op *twin = to->first;
		for (const Op *o = from->first; o; o = o->next, twin = twin->next)
			know_copies(g, o, twin);
	}
}

Op *
forward_of(Adjoint *a, const Op *op)
{
	if (!a->cross.again)
		return (Op *)op;
	Op *copy = here(a, op->results[0])->def;
	know_copies(a->g, op, copy);
	return copy;
}

bool
loop_trips(const Op *loop, Trips *t)
{
	const Op *first = loop->noperands ? loop->operands[0]->def : NULL;

	if (!op_has(loop, A_trips) || !first || first->kind != O_constant)
		return false;
	*t = (Trips){op_int(first, A_value), op_int(loop, A_trips)};
	return true;
}

Value *
kept_here(Adjoint *a, Value *result, AxisSet varies)
{
	primal_of(a->g, result)->varies = varies;
	return a->cross.forward == a->cross.op ? here(a->outer, result) : result;
}

Value *
capture(Crossing *c, Value *v)
{
	Op *op = c->backward;

	op_add_operand(op, v);
	if (op_is_loop(op))
		op_add_result(op, v->name, &v->type);
	for (int b = 0; b < op->nbodies; b++)
		block_add_param(op->bodies[b], v->name, &v->type);
	const Block *body = op->bodies[c->body];
	return body->params[body->nparams - 1];
}
