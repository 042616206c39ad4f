/*
 * region.c - the bodies of loops and branches: blocks that see nothing of what
 * is around them.
 *
 *   let w = ...;                       x.2 = while(0, x, w)
 *   for i in 0..4 { x = x * w; }       body(i, x, w.2) { mul(x, w.2) ... }
 *
 * What a body uses from outside becomes the operand of the op and a parameter
 * of each of its bodies, behind those there are.
 */
#include "elaborate.h"
#include "ir/flow.h"

Value *
captured_param(const Region *r, const Block *body, int i)
{
	return body->params[body->nparams - r->ncaptured + i];
}

/* A composite's body needs nothing but its parameters; a literal is a constant of
   each use. */
Value *
region_value(Elab *e, Value *v)
{
	Region *r = e->region;
	Block *inner = e->block;
	if (r == NULL || v->block == inner || inner->parent != r->op)
		return v;
	if (v->def != NULL && v->def->kind == O_constant) {
		Op *op = op_clone(v->def);
		op->mode = e->mode;
		op_append(inner, op);
		return op->results[0];
	}
	for (int i = 0; i < r->ncaptured; i++)
		if (r->captured[i] == v)
			return captured_param(r, inner, i);
	e->block = r->around;
	e->region = r->outer;
	op_add_operand(r->op, region_value(e, v));
	e->block = inner;
	e->region = r;
	if (op_is_loop(r->op))
		op_add_result(r->op, v->name, &v->type);
	for (int i = 0; i < r->op->nbodies; i++)
		block_add_param(r->op->bodies[i], v->name, &v->type);
	APPEND(e->arena, r->captured, r->ncaptured, v);
	return captured_param(r, inner, r->ncaptured - 1);
}

bool
region_sees(const Elab *e, const Value *v, const Value *here)
{
	const Region *r = e->region;
	if (v == here)
		return true;
	if (r == NULL || here->block != e->block || e->block->parent != r->op
		|| here->def != NULL)
		return false;
	int i = here->index - (e->block->nparams - r->ncaptured);
	return i >= 0 && r->captured[i] == v;
}

void
region_begin(Elab *e, Region *r, Op *op, int nbodies)
{
	*r = (Region){.outer = e->region, .op = op, .around = e->block};
	op_begin_bodies(op, nbodies);
	e->region = r;
}

void
region_end(Elab *e, const Region *r)
{
	e->block = r->around;
	e->region = r->outer;
}

void
end_body(Elab *e, const Op *op, Block *body, int n, const Item *items)
{
	Value **values = NEW_ARRAY(e->arena, Value *, n + 1);
	for (int i = 0; i < n; i++)
		values[i] = items[i].value;
	Op *end = make_return(body, n, values, op->range, op->label);
	for (int i = 0; i < n; i++)
		op_set_operand_range(end, i, items[i].range);
}
