/*
 * limits.c - parameters whose elements are used as indices.
 *
 * Made-up inputs should be indices that exist, and the same on every mesh: so
 * what a parameter indexes is found in the program on whole tensors and stays
 * with it (Value.index_limit).
 */
#include "ir/flow.h"

/* The entry's parameter whose elements `v` holds in another order, or NULL;
   of what a loop carries, what it starts as. */
static Value *
parameter_behind(Value *v)
{
	while (v) {
		Flow in = {.to = v};
		OpKind kind = v->def ? v->def->kind : O_return;
		bool kept = kind == O_convert || kind == O_barrier || kind == O_reshard
			|| kind == O_shard_like || kind == O_dynamic_slice
			|| ops[kind].partial == PARTIAL_move;
		if (v->def)
			v = kept ? v->def->operands[0] : NULL;
		else if (flow_next_to(&in))
			v = in.from;
		else
			return v;
	}
	return NULL;
}

bool
module_limit_indices(Module *m)
{
	bool any = false;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (op->kind != O_take && op->kind != O_scatter_add)
			continue;
		Value *v = parameter_behind(op->operands[1]);
		int64_t n = op->operands[0]->type.dims[op_int(op, A_dim)];
		if (v && dtype_is_integer(v->type.dtype)
			&& (!v->index_limit || n < v->index_limit)) {
			v->index_limit = n;
			any = true;
		}
	}
	return any;
}
