/*
 * early.c - a move that leaves less is made as soon as there is what it moves.
 *
 *   g1 = dot(a, x1)                   g1 = dot(a, x1)
 *   g0 = dot(b, x0)                   r1 = reshape(g1)
 *   r1 = reshape(g1)          ->      s1 = reshard(r1)     an eighth of it
 *   s1 = reshard(r1)                  g0 = dot(b, x0)
 *
 * What is joined is often made long before: gradients of the layers of a model that is
 * unrolled are made one after the other, and joined behind all of them.  Each would be kept
 * whole until then.
 */
#include "shard/partition/partition.h"

static int64_t
bytes_held(const Value *v)
{
	Type local = placement_local(&v->type, &v->placement);

	return type_bytes(&local);
}

/* The first of the ops that give the only use of a value another shape, until the move. */
static Op *
first_of_move(Op *move)
{
	Op *first = move;

	for (;;) {
		const Value *v = first->operands[0];
		if (!v->def || v->block != move->block || v->uses != 1)
			return NULL;
		if (v->def->kind != O_reshape)
			return first;
		first = v->def;
	}
}

static void
move_back(Op *move)
{
	Op *first = first_of_move(move);
	Op *made = first ? first->operands[0]->def : NULL;

	if (!made || made->next == move)
		return;
	for (Op *op = move, *before = made->next;; before = op, op = op->operands[0]->def) {
		op_remove(op);
		op_insert_before(before, op);
		if (op == first)
			return;
	}
}

void
move_early(Module *m)
{
	module_count_uses(m);
	for (Op *next, *op = m->entry->first; op; op = next) {
		next = op_following(op, m->entry);
		if (op->kind == O_reshard && op->mode != MODE_explicit
			&& bytes_held(op->results[0]) < bytes_held(op->operands[0]))
			move_back(op);
	}
}
