/*
 * lifted.c - regions of scalars, read as what they make of tensors element by element.
 *
 *   ^bb0(%a: tensor<f32>, %b: tensor<f32>):      of two f32[8,16]
 *     %c = stablehlo.maximum %a, %b              f32[8,16] maximum
 */
#include <string.h>

#include "import/builders.h"

bool
region_lifts(Import *in, const MlirOp *op)
{
	const MlirBlock *block = op->regions.n > 0 ? op->regions.v[0] : NULL;

	if (!block || block->params.n != 2 || regions_capture(in, op))
		return false;
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *step = block->ops.v[i];
		const ImportRow *row = table_get(in->rows, step->name);
		if (i + 1 < block->ops.n && !(row && row->reach == EACH))
			return false;
		for (int k = 0; k < step->types.n; k++)
			if (((const MlirType *)step->types.v[k])->rank)
				return false;
	}
	return true;
}

Value *
read_lifted(Import *in, const MlirOp *op, Value *a, Value *b)
{
	Scope inside = {table_new(in->arena), in->scope};
	Value **results = in->results, **operands = in->operands;
	const Type *outer = in->lifted;
	int noperands = in->noperands, n = 0;
	Make make = in->make;

	if (!a || !b)
		return NULL;
	in->lifted = &a->type;
	in->scope = &inside;
	Value **made = read_block(in, op->regions.v[0], (Value *[]){a, b}, &n);
	Value *result = made && n == 1 ? made[0] : NULL;
	in->lifted = outer;
	in->scope = inside.outer;
	in->results = results;
	in->operands = operands;
	in->noperands = noperands;
	in->make = make;
	return result;
}
