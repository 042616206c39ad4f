/*
 * lifted.c - regions of scalars, read as what they make of tensors element by element.
 *
 *   ^bb0(%a: tensor<f32>, %b: tensor<f32>):      of two f32[8,16]
 *     %c = stablehlo.maximum %a, %b              f32[8,16] maximum
 *
 * A reduction by one is a tree of them: neighbours together, again and again.
 */
#include <string.h>

#include "import/builders.h"

bool
region_lifts(Import *in, const MlirOp *op, int ntensors)
{
	const MlirBlock *block = op->regions.n > 0 ? op->regions.v[0] : NULL;

	if (!block || block->params.n != 2 * ntensors || regions_capture(in, op))
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

/* Of 2 n tensors of one shape, n; NULL after a message. */
static Value **
read_sides(Import *in, const MlirOp *op, Value **sides, int n)
{
	Scope inside = {table_new(in->arena), in->scope};
	Value **results = in->results, **operands = in->operands;
	const Type *outer = in->lifted;
	int noperands = in->noperands, nmade = 0;
	Make make = in->make;

	for (int i = 0; i < 2 * n; i++)
		if (!sides[i])
			return NULL;
	in->lifted = &sides[0]->type;
	in->scope = &inside;
	Value **made = read_block(in, op->regions.v[0], sides, &nmade);
	in->lifted = outer;
	in->scope = inside.outer;
	in->results = results;
	in->operands = operands;
	in->noperands = noperands;
	in->make = make;
	if (made && nmade != n)
		read_wrong(in, op->range, "a step of %s makes %d values of %d", op->name, nmade,
			n);
	return nmade == n ? made : NULL;
}

Value *
read_lifted(Import *in, const MlirOp *op, Value *a, Value *b)
{
	Value **made = read_sides(in, op, (Value *[]){a, b}, 1);

	return made ? made[0] : NULL;
}

/* ---- reductions by such a region */

/* Element 0 with 1, 2 with 3, ...; the last stays, if it has none beside it. */
static bool
combine_neighbours(Import *in, const MlirOp *op, Value **x, int n, int dim)
{
	int64_t size = x[0]->type.dims[dim], end = size / 2 * 2;
	Value **sides = NEW_ARRAY(in->arena, Value *, 2 * n);

	for (int i = 0; i < 2 * n; i++)
		sides[i] = make_slice_dim(in->make, x[i % n], dim, i / n, end, 2);
	Value **made = read_sides(in, op, sides, n);
	for (int i = 0; made && i < n; i++) {
		Value *all[] = {made[i], NULL};
		if (end < size)
			all[1] = make_slice_dim(in->make, x[i], dim, end, size, 1);
		x[i] = all[1] ? make_concatenate(in->make, 2, all, dim) : made[i];
		if (!x[i])
			return false;
	}
	return made;
}

bool
reduce_lifted(Import *in, const MlirOp *op, const Numbers *dims)
{
	int n = in->noperands / 2;
	Value **sides = NEW_ARRAY(in->arena, Value *, 2 * n), **x = sides + n;
	Type type = in->operands[0]->type;

	memcpy(x, in->operands, (size_t)n * sizeof *x);
	for (int i = 0; i < dims->n; i++)
		while (x[0]->type.dims[dims->v[i]] > 1)
			if (!combine_neighbours(in, op, x, n, (int)dims->v[i]))
				return false;
	for (int i = 0; i < n; i++)
		sides[i] = make_splat(in->make, in->operands[n + i], &x[i]->type);
	Value **made = read_sides(in, op, sides, n);
	for (int d = type.rank; made && d-- > 0;)
		if (numbers_have(dims, d))
			memmove(&type.dims[d], &type.dims[d + 1],
				(size_t)(--type.rank - d) * sizeof type.dims[d]);
	for (int i = 0; made && i < n; i++)
		in->results[i] = make_reshape(in->make, made[i], type.rank, type.dims);
	return made;
}
