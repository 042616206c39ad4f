/*
 * unset.c - tensors of which a loop writes every element before any is read: what they
 * are filled with is never seen, and so it is not written.
 *
 *   s = fusion()                  zeros; unset
 *   s' = while(0, s)              as many trips as s has slices
 *     body(i, s1)                 s1 with slice i changed; nothing else reads s1
 */
#include "ir/flow.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

/* scale * index + offset */
typedef struct Linear {
	int64_t scale, offset;
} Linear;

/* Of an integer as the steps of a loop's body compute it from the loop's index. */
static bool
find_linear(const Value *v, const Value *index, Linear *line)
{
	const Op *op;
	Linear left, right;

	if (v == index) {
		*line = (Linear){1, 0};
		return true;
	}
	v = value_around(v);
	op = v->def;
	if (!op) {
		const Op *fusion = v->block->parent;
		return fusion && op_is_fusion(fusion)
			&& find_linear(fusion->operands[v->index], index, line);
	}
	if (op_is_fusion(op) && op->nresults == 1)
		return find_linear(op->bodies[0]->last->operands[0], index, line);
	if (op_is_identity(op))
		return find_linear(op->operands[0], index, line);
	if (op->kind == O_constant && !v->type.rank) {
		*line = (Linear){0, op_int(op, A_value)};
		return true;
	}
	if ((op->kind != O_add && op->kind != O_sub)
		|| !find_linear(op->operands[0], index, &left)
		|| !find_linear(op->operands[1], index, &right))
		return false;
	int64_t sign = op->kind == O_add ? 1 : -1;
	*line = (Linear){left.scale + sign * right.scale, left.offset + sign * right.offset};
	return true;
}

/* The slices of the first dim, each in the trip whose turn it is, first or last to last or
   first. */
static bool
writes_all_slices(const Op *loop, const Op *fusion)
{
	const Op *update = fusion->bodies[0]->last->operands[0]->def;
	const Type *stack = &update->results[0]->type, *slice = &update->operands[1]->type;
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *index = body->params[0];
	int64_t trips = op_has(loop, A_trips) ? op_int(loop, A_trips) : -1;
	Linear start, first, next;

	for (int d = 0; d < stack->rank; d++)
		if (slice->dims[d] != (d ? stack->dims[d] : 1))
			return false;
	if (!stack->rank || stack->dims[0] != trips || !dtype_is_integer(index->type.dtype)
		|| !find_linear(update->operands[2], index, &start)
		|| !find_linear(loop->operands[0], NULL, &first)
		|| !find_linear(body->last->operands[0], index, &next))
		return false;
	int64_t begin = start.scale * first.offset + start.offset;
	return next.scale == 1 && next.offset == 1
		&& ((start.scale == 1 && begin == 0)
			|| (start.scale == -1 && begin == trips - 1));
}

/* What fills it, if nobody sees that; else NULL. */
static Op *
find_fill(const Op *loop, int i)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *param = body->params[i], *next = body->last->operands[i];
	Op *fill = loop->operands[i]->def, *fusion = next->def;
	int base = fusion && op_is_fusion(fusion) ? op_base(fusion) : -1;

	if (!fill || !op_is_fusion(fill) || fill->noperands || loop->operands[i]->uses != 1
		|| base < 0 || fusion->operands[base] != param || param->uses != 1
		|| next->uses != 1 || loop->bodies[LOOP_CONDITION]->params[i]->uses)
		return NULL;
	bool alone = fusion->bodies[0]->params[base]->uses == 1
		&& fusion->bodies[0]->last->operands[0]->def->kind == O_dynamic_update_slice;
	return alone && writes_all_slices(loop, fusion) ? fill : NULL;
}

bool *
unset_find(Module *m, Arena *a)
{
	bool *unset = NEW_ARRAY(a, bool, m->nops + 1);

	module_count_uses(m);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 1; op_is_loop(op) && i < op->noperands; i++) {
			const Op *fill = find_fill(op, i);
			if (fill)
				unset[fill->id] = true;
		}
	return unset;
}
