/*
 * copies.c - what costs nothing to make again has a copy for each use.
 *
 * Two users of a constant must not force one placement on each other.  Copies that ended
 * where their original did are undone.
 */
#include "shard/propagate/propagate.h"

static Value *
copy_constant(Propagation *g, Value *v, Op *user)
{
	Op *op = op_clone(v->def);

	op_insert_before(user, op);
	/* a body is closed: the scalar of a broadcast comes along */
	if (op->noperands && v->block != user->block)
		op->operands[0] = copy_constant(g, op->operands[0], op);
	return op->results[0];
}

static bool
is_scalar_everywhere(const Value *v)
{
	const Op *op = v->def;

	return op && op->kind == O_broadcast && !op->operands[0]->type.rank && !v->follows;
}

/* The tensor that an operand is, if it costs nothing to make again: two users of one
   must not force one placement on each other.  A body's parameter is another name of
   what is outside, unless a loop carries it; of what a scalar is everywhere its uses in a
   body share one. */
static Value *
remade_from(Value *v)
{
	if (!v->annotated && v->type.rank && is_scalar_everywhere(v))
		return v;
	for (;;) {
		Flow f = {.to = v};
		if (v->def || !flow_next_to(&f) || !flow_renames(&f) || op_is_composite(f.op))
			break;
		v = f.from;
	}
	return !v->annotated && v->type.rank && value_is_literal(v) ? v : NULL;
}

/* `uses` serves as a mark: the first use keeps the original. */
void
split_constants(Propagation *g)
{
	const Block *entry = g->module->entry;

	module_clear_uses(g->module);
	for (Op *op = entry->first; op; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++) {
			Value *v = op->operands[i], *constant = remade_from(v);
			if (!constant || (v != constant && !is_use(op, i)) || v->uses++ == 0)
				continue;
			op->operands[i] = copy_constant(g, constant, op);
			Copy c = {op, i, v, op->operands[i]};
			APPEND(g->arena, g->copies, g->ncopies, c);
		}
}

static void
undo_copy(const Copy *made)
{
	made->user->operands[made->operand] = made->original;
	Op *op = made->copy->def;
	op_remove(op);
	if (op->noperands && !made->original->def) /* a parameter: see above */
		op_remove(op->operands[0]->def);
	made->copy->name = made->original->name; /* in the story */
}

/* Copies that ended where their original did are undone. */
void
merge_constants(Propagation *g)
{
	for (int i = 0; i < g->ncopies; i++)
		if (placement_equal(&g->copies[i].original->placement,
			    &g->copies[i].copy->placement))
			undo_copy(&g->copies[i]);
}

void
undo_copies(Propagation *g)
{
	for (int i = 0; i < g->ncopies; i++)
		undo_copy(&g->copies[i]);
}
