/*
 * lifted.c - regions of scalars, read as what they make of tensors element by element.
 *
 *   ^bb0(%a: tensor<f32>, %b: tensor<f32>):      of two f32[8,16]
 *     %c = stablehlo.maximum %a, %b              f32[8,16] maximum
 */
#include <string.h>

#include "import/builders.h"

static bool
is_elementwise(Import *in, const MlirOp *op)
{
	static Builder *const builders[] = {import_op_pointwise, import_op_exclusive,
		import_op_sum, import_op_square, import_op_compare, import_op_select,
		import_op_clamp, import_op_convert, import_op_same, import_op_constant,
		import_op_constraint};
	const ImportRow *row = table_get(in->rows, op->name);

	for (size_t i = 0; row && i < sizeof builders / sizeof *builders; i++)
		if (row->build == builders[i])
			return true;
	return false;
}

/* Its parameters, or what an op of it makes. */
static bool
is_of_block(const MlirBlock *block, const char *name)
{
	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		if (param->name && !strcmp(param->name, name))
			return true;
	}
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *op = block->ops.v[i];
		for (int r = 0; r < op->results.n; r++)
			if (!strcmp(((const MlirUse *)op->results.v[r])->name, name))
				return true;
	}
	return false;
}

bool
region_lifts(Import *in, const MlirOp *op)
{
	const MlirBlock *block = op->regions.n > 0 ? op->regions.v[0] : NULL;

	if (!block || block->params.n != 2)
		return false;
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *step = block->ops.v[i];
		if (i + 1 < block->ops.n && !is_elementwise(in, step))
			return false;
		for (int k = 0; k < step->operands.n; k++)
			if (!is_of_block(block, ((const MlirUse *)step->operands.v[k])->name))
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
