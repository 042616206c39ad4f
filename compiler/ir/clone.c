/*
 * clone.c - ops once more.
 *
 *   %c = f32[] constant(2)      ->      %c.2 = f32[] constant(2), not in a block yet
 *
 * A copy has the op's operands and says of itself what the op says: attributes,
 * label, range, placement.
 */
#include "ir/ir.h"

Op *
op_clone(const Op *op)
{
	Op *copy = op_new(op->module, op->kind, op->noperands, op->operands, op->nresults,
		op->nresults ? op->results[0]->name : NULL, op->range, op->label);

	op_copy_attrs(copy, op);
	copy->mode = op->mode;
	copy->form = op->form;
	for (int i = 0; i < op->nresults; i++) {
		Value *v = copy->results[i];
		const Value *from = op->results[i];
		v->type = from->type;
		v->placement = from->placement;
		v->no_placement = from->no_placement;
		v->unpadded = from->unpadded;
		v->range = from->range;
	}
	return copy;
}
