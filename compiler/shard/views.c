/*
 * views.c - ops that show the same elements, each dim by itself.
 *
 *   f32[4,6] -> f32[6,4]      a transpose: at = {1, 0}
 *   f32[4,1,6] -> f32[4,6]    a reshape that leaves out dims of one element: {0, -1, 1}
 */
#include "shard/shard.h"

bool
view_dims(const Op *op, int *at)
{
	const Type *in = &op->operands[0]->type, *out = &op->results[0]->type;
	int d = 0;

	for (int i = 0; i < out->rank && op->kind == O_transpose; i++)
		at[op_ints(op, A_dims)->v[i]] = i;
	for (int i = 0; i < in->rank && op->kind == O_reshape; i++) {
		while (in->dims[i] > 1 && d < out->rank && out->dims[d] == 1)
			d++;
		at[i] = in->dims[i] > 1 ? d++ : -1;
		if (at[i] >= out->rank || (at[i] >= 0 && out->dims[at[i]] != in->dims[i]))
			return false;
	}
	return op->kind == O_transpose || op->kind == O_reshape;
}
