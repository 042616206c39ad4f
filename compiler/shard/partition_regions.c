/*
 * partition_regions.c - ops with bodies: the placements at their boundaries.
 */
#include "shard/partition.h"

void
partition_call(Partitioner *p, Op *op)
{
	Block *body = op->bodies[0];
	Value *v = op->results[0];

	for (int i = 0; i < op->noperands; i++) {
		Placement to = placement_close(body->params[i]->placement);
		set_operand(p, op, i, &to, false);
		partition_param(p, body->params[i]);
	}
	partition_block(p, body);
	v->placement = body->last->operands[0]->placement;
	add_form(p, source_of(p, v), v);
}

/* A body's result goes where the call's result is wanted. */
void
partition_return(Partitioner *p, Op *op)
{
	const Op *call = op->block->parent;

	for (int i = 0; i < op->noperands; i++) {
		Source *s = source_of(p, call ? call->results[i] :
			op->operands[i]);
		set_operand(p, op, i, &s->final, false);
	}
}
