/*
 * typing.c - the types of the results of ops, by the functions that ops.def
 * names.
 */
#include "ir/types.h"

static TypeFunction *const typing[OP_COUNT] = {
#define OP(id, hlo, operands, attrs, types, ...) [O_##id] = type_##types,
#include "ops.def"
#undef OP
};

const char *
op_types(const Op *op, Type *results)
{
	return typing[op->kind](op, results);
}

const char *
op_try_infer(Op *op)
{
	Type one = {0},
	     *types = op->nresults <= 1 ? &one
					: NEW_ARRAY(op->module->arena, Type, op->nresults);
	const char *wrong = op_types(op, types);

	if (wrong)
		return wrong;
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		v->type = types[i];
		if (v->placement.rank != types[i].rank)
			v->placement = placement_open(types[i].rank);
	}
	return NULL;
}

void
op_infer(Op *op)
{
	const char *wrong = op_try_infer(op);

	if (wrong)
		die("%s: %s", op->nresults ? op->results[0]->name : ops[op->kind].name, wrong);
}
