/*
 * copied.c - the bytes that a fused program only moves from one buffer to another.
 *
 *   y = fusion(a, b): concatenate(a, b)      all of y
 *   c2 = fusion(c, x): c with x in a part    x
 */
#include "ir/flow.h"
#include "sched/decompose/decompose.h"

/* What no step computes: elements that move, and numbers that say where. */
static bool
only_moves(const Op *op)
{
	return op == op->block->last || op_has(op, A_value) || !op->results[0]->type.rank
		|| op_has_starts(op) || ops[op->kind].partial == PARTIAL_move;
}

static int64_t
written_bytes(const Op *fusion)
{
	const Op *root = fusion->bodies[0]->last->operands[0]->def;
	bool moves = fusion->nresults == 1 && root && !op_has(fusion, A_unset);

	for (const Op *op = fusion->bodies[0]->first; op && moves; op = op->next)
		moves = only_moves(op);
	if (!moves || !root->results[0]->type.rank)
		return 0;
	int part = op_changed_part(root);
	return type_bytes(part < 0 ? &root->results[0]->type : &root->operands[part]->type);
}

int64_t
copied_bytes(const Module *m)
{
	int64_t bytes = 0, trips;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		const Op *around = op->block->parent;
		bool copy = op->kind == O_output && op->results[0]->type.rank
			&& !(around && op_is_fusion(around));
		int64_t n = op_is_fusion(op) ? written_bytes(op)
			: copy		     ? type_bytes(&op->results[0]->type)
					     : 0;
		op_trips(op, &trips);
		if (!mul_i64(n, trips, &n) || !add_i64(bytes, n, &bytes))
			return INT64_MAX;
	}
	return bytes;
}
