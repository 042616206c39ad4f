/*
 * clone.c - ops once more.
 *
 *   %c = f32[] constant(2)      ->      %c.2 = f32[] constant(2), not in a block yet
 *
 * A copy has the op's operands and says of itself what the op says: attributes,
 * label, range, placement; and bodies of its own.
 */
#include "ir/make.h"

static void
value_describe(Value *v, const Value *from)
{
	v->type = from->type;
	v->placement = from->placement;
	v->annotated = from->annotated;
	v->no_placement = from->no_placement;
	v->unpadded = from->unpadded;
	v->range = from->range;
	v->type_range = from->type_range;
}

/* The copy of each op has copies as operands: of op number i, twins[i]. */
static Op **
copy_ops(const Block *from, Value *const *params, void (*place)(Op *copy, void *data),
	void *data)
{
	Op **twins;
	int n = 0;

	for (Op *op = from->first; op; op = op->next)
		op->id = n++;
	twins = NEW_ARRAY(from->module->arena, Op *, n + 1);
	for (const Op *op = from->first; op; op = op->next) {
		Op *copy = twins[op->id] = op_clone(op);
		for (int i = 0; i < copy->noperands; i++) {
			const Value *v = op->operands[i];
			copy->operands[i] = v->def ? twins[v->def->id]->results[v->index]
						   : params[v->index];
		}
		place(copy, data);
	}
	return twins;
}

static void
place_at_end(Op *copy, void *block)
{
	op_append(block, copy);
}

static Block *
block_clone(const Block *from, Op *parent)
{
	Block *b = block_new(from->module, parent);

	for (int i = 0; i < from->nparams; i++) {
		const Value *param = from->params[i];
		value_describe(block_add_param(b, param->name, &param->type), param);
	}
	copy_ops(from, b->params, place_at_end, b);
	return b;
}

Op *
op_clone(const Op *op)
{
	Module *m = op->module;
	Op *copy = op_new(m, op->kind, op->noperands, op->operands, op->nresults,
		op->nresults ? op->results[0]->name : NULL, op->range, op->label);

	op_copy_attrs(copy, op);
	copy->mode = op->mode;
	copy->form = op->form;
	copy->async = op->async;
	copy->again = op->again;
	copy->combined = op->combined;
	copy->trip = op->trip;
	copy->of = op->of;
	copy->whole = op->whole;
	copy->planned = op->planned;
	copy->axes = op->axes;
	copy->from = op->from;
	copy->specs = op->specs;
	copy->requested = op->requested;
	copy->composite = op->composite;
	copy->external = op->external;
	copy->signature = op->signature;
	copy->letters = op->letters;
	if (op->nbodies)
		copy->bodies = NEW_ARRAY(m->arena, Block *, op->nbodies);
	for (; copy->nbodies < op->nbodies; copy->nbodies++)
		copy->bodies[copy->nbodies] = block_clone(op->bodies[copy->nbodies], copy);
	for (int i = 0; i < op->nresults; i++)
		value_describe(copy->results[i], op->results[i]);
	return copy;
}

static void
place_made(Op *copy, void *make)
{
	const Make *k = make;

	copy->range = k->range;
	copy->label = k->label;
	copy->mode = k->mode;
	if (copy->kind != O_return)
		make_place(*k, copy);
}

Value *const *
make_body(Make k, const Block *body, Value *const *params)
{
	Op **twins = copy_ops(body, params, place_made, &k);

	return twins[body->last->id]->operands;
}
