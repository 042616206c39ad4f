/*
 * steps.c - scatters with a step of their own: what a region of scalars makes of the elements
 * that are hit, and of the updates.
 *
 *   x.at[i].apply(f)
 *     hits   i32, like x       how often each element is hit, by adding ones
 *     y = f(y) where t < hits, for t = 0, 1, ... up to the most
 *
 * A step that reads its update is one of indices that are unique: then each hit has one.
 */
#include <string.h>

#include "import/builders.h"

/* Does the region read its second parameter? */
static bool
reads_update(const MlirOp *op)
{
	const MlirBlock *block = op->regions.v[0];
	const MlirParam *update = block->params.v[1];

	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *step = block->ops.v[i];
		for (int k = 0; k < step->operands.n; k++)
			if (!strcmp(((const MlirUse *)step->operands.v[k])->name, update->name))
				return true;
	}
	return false;
}

/* Updates added to zeros like x, at the indices of the op; NULL: it is of no kind that is
   known. */
static Value *
added_up(Import *in, const MlirOp *op, Value *zeros, Value *update)
{
	Value *operands[] = {zeros, in->operands[1], update}, **own = in->operands;
	const Scattered adds = {.combiner = C_add};

	in->operands = operands;
	bool right = zeros && update && scatter_of(in, op, &adds);
	in->operands = own;
	return right ? in->results[0] : NULL;
}

/* The step where a device's elements are hit for the t-th time. */
static Value *
step_once(Import *in, const MlirOp *op, Value *x, Value *update, Value *hits, Value *turn)
{
	Value *made = read_lifted(in, op, x, update);
	Value *turns = make_splat(in->make, turn, &hits->type);

	return make_select(in->make, make_compare(in->make, DIR_GT, hits, turns), made, x);
}

/* As often as the element that is hit most. */
static Value *
step_often(Import *in, const MlirOp *op, Value *x, Value *hits)
{
	enum { TURN, ELEMENTS, HITS, MOST, CARRIED };
	Value *most = reduce_last(in->make, C_max, hits, 0);
	Value *carried[] = {make_constant(in->make, D_i32, 0), x, hits, most};
	Op *loop = make_begin(in->make, O_while, CARRIED, carried);

	if (!loop)
		return NULL;
	op_begin_bodies(loop, 2);
	for (int i = 1; i < CARRIED; i++)
		op_add_result(loop, carried[i]->name, &carried[i]->type);
	for (int b = 0; b < 2; b++)
		for (int i = 0; i < CARRIED; i++)
			block_add_param(loop->bodies[b], carried[i]->name, &carried[i]->type);
	Block *block = in->block, *body = loop->bodies[1];
	Make make = in->make;
	in->make.block = loop->bodies[0];
	Value **v = loop->bodies[0]->params;
	Value *more = make_compare(in->make, DIR_LT, v[TURN], v[MOST]);
	make_return(loop->bodies[0], 1, &more, loop->range, "return");
	in->block = in->make.block = body;
	v = body->params;
	Value *next[] = {with(in->make, O_add, v[TURN], 1), NULL, v[HITS], v[MOST]};
	next[ELEMENTS] = step_once(in, op, v[ELEMENTS], v[ELEMENTS], v[HITS], v[TURN]);
	in->block = block;
	in->make = make;
	if (!next[ELEMENTS])
		return NULL;
	make_return(body, CARRIED, next, loop->range, "return");
	return make_end(make, loop) ? loop->results[ELEMENTS] : NULL;
}

bool
scatter_steps(Import *in, const MlirOp *op, bool unique)
{
	static const char what[] = "stablehlo.scatter with a step of its own";
	Value *x = in->operands[0], *update = in->operands[2];
	bool reads = region_lifts(in, op, 1) && reads_update(op);

	if (!region_lifts(in, op, 1) || (reads && (!unique || x->type.dtype == D_pred)))
		return read_opaque(in, op, what);
	Type counts = type_of(D_i32, x->type.rank, x->type.dims);
	Type ones = type_of(D_i32, update->type.rank, update->type.dims);
	Value *none = make_full(in->make, &counts, 0);
	Value *hits = added_up(in, op, none, make_full(in->make, &ones, 1));
	if (reads && hits)
		update = added_up(in, op, number_like(in->make, x, 0), update);
	if (!hits || !update)
		return diag_errors(in->session) == 0 && read_opaque(in, op, what);
	Value *first = make_constant(in->make, D_i32, 0);
	in->results[0] = unique ? step_once(in, op, x, reads ? update : x, hits, first)
				: step_often(in, op, x, hits);
	return in->results[0] != NULL;
}
