/*
 * closed.c - ops whose bodies see the tensors among their arguments, and nothing else of
 * what is around them: composites, and functions that gradients are taken of.
 *
 *   softmax(x, dim=1)     y = call(x), body(x): ...; the 1 is known in it
 */
#include "elaborate.h"

Op *
closed_begin(Elab *e, Site s, OpKind kind, int n, const Item *args)
{
	Value **operands = NEW_ARRAY(e->arena, Value *, n + 1);
	int noperands = 0;
	for (int i = 0; i < n; i++)
		if (args[i].kind == IT_tensor)
			operands[noperands++] = args[i].value;
	Make k = kind == O_call ? at(e, s) : named(at(e, s), s.label);
	Op *op = make_begin(k, kind, noperands, operands);
	if (op != NULL)
		op->bodies = NEW_ARRAY(e->arena, Block *, ops[kind].bodies);
	return op;
}

void
closed_body(Elab *e, Op *op, const FnDecl *fn, const Item *args, Item *inner)
{
	Block *b = op->bodies[op->nbodies++] = block_new(e->m, op);
	for (int i = 0; i < fn->params.n; i++) {
		inner[i] = args[i];
		if (args[i].kind == IT_tensor)
			inner[i].value = block_add_param(b,
				((const Param *)fn->params.v[i])->name.s, &args[i].value->type);
	}
	e->block = b;
}

bool
closed_return(Elab *e, Site s, const Item *result)
{
	const Item *items = result->kind == IT_tuple ? result->items : result;
	int n = result->kind == IT_tuple ? result->n : 1;
	Value **values = NEW_ARRAY(e->arena, Value *, n + 1);
	for (int i = 0; i < n; i++) {
		if (items[i].kind == IT_error)
			return false;
		if (items[i].kind != IT_tensor)
			return complain(e, DIAG_literal, items[i].range,
				"the result is %s, which has no dtype; write it as a cast: "
				"f32(...)",
				show_item(e, &items[i]));
		values[i] = items[i].value;
	}
	make_return(e->block, n, values, s.range, s.label);
	return true;
}

Item
closed_end(Elab *e, Site s, Op *op)
{
	const Op *end = op->bodies[0]->last;
	Item *items = NEW_ARRAY(e->arena, Item, end->noperands + 1);
	for (int i = 0; i < end->noperands; i++) {
		if (i > 0)
			op_add_result(op, end->operands[i]->name, &end->operands[i]->type);
		op->results[i]->type = end->operands[i]->type;
	}
	if (make_end(at(e, s), op) == NULL)
		return item_error;
	for (int i = 0; i < end->noperands; i++)
		items[i] = item_tensor(s.range, op->results[i]);
	return end->noperands == 1 ? items[0] : item_tuple(e, s.range, end->noperands, items);
}
