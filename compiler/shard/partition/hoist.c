/*
 * hoist.c - out of a loop goes what moves the same in every round.
 *
 * A move whose operand is computed from what the loop does not change leaves
 * it, and so does all that it is computed from.  What a loop carries for it
 * is the result, and of the others only those that something in the loop
 * still uses.  Nothing else leaves: it would only take memory.
 */
#include "shard/partition/partition.h"

/* One body of a loop; its ops are numbered from 0. */
typedef struct Body {
	Op *loop;
	Block *block;
	int n;
	bool *fixed; /* computed from invariants alone */
	bool *leaves;
	Value ***carried; /* of an op that left: its results inside */
} Body;

static bool
moves(Partitioner *p, Op *op)
{
	const Value *from = op->noperands ? op->operands[0] : NULL;

	return op_is_move(op) ? reshard_plan(p->resharder, &from->type, &from->placement,
					&op->results[0]->placement)
					->bytes
			> 0
			      : op_halo(&p->module->mesh, p->arena, op).bytes > 0;
}

/* Does it, or what is in it, get something from other devices? */
static bool
communicates(Partitioner *p, Op *op)
{
	bool found = moves(p, op);

	for (int i = 0; i < op->nbodies; i++)
		for (Op *o = op->bodies[i]->first; o && !found;
			o = op_following(o, op->bodies[i]))
			found = moves(p, o);
	return found;
}

/* Is what it makes the same whenever its operands are? */
static bool
is_fixed_by_operands(const Op *op)
{
	return !op->external && !op->axes && op->kind != O_fence
		&& (!op->nbodies || op_is_composite(op));
}

void
find_changes(Partitioner *p, const Block *b, int depth)
{
	for (const Op *op = b->first; op; op = op->next) {
		int last = is_fixed_by_operands(op) ? 0 : depth;
		for (int i = 0; i < op->noperands; i++) {
			int changing = p->changes[op->operands[i]->id];
			last = changing > last ? changing : last;
		}
		for (int i = 0; i < op->nresults; i++)
			p->changes[op->results[i]->id] = last;
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_in)
				p->changes[f.to->id] =
					op_is_loop(op) && !loop_hands_on(op, f.index)
					? depth + 1
					: p->changes[f.from->id];
		for (int i = 0; i < op->nbodies; i++)
			find_changes(p, op->bodies[i], depth + op_is_loop(op));
	}
}

/* Of a loop's body, by op->id from now on: does the op give the same in every round?  It
   depends on operands alone, and these are fixed. */
static bool *
fixed_ops(Partitioner *p, const Op *loop, const Block *b)
{
	bool *all = NULL;
	int n = 0;

	for (Op *op = b->first; op; op = op->next)
		op->id = n++;
	all = NEW_ARRAY(p->arena, bool, n);
	for (Op *op = b->first; op->next; op = op->next) {
		bool fixed = is_fixed_by_operands(op);
		for (int i = 0; i < op->noperands && fixed; i++) {
			const Value *v = op->operands[i];
			fixed = v->def ? all[v->def->id] : loop_hands_on(loop, v->index);
		}
		all[op->id] = fixed;
	}
	return all;
}

/* What is fixed and moves leaves, with all that it is made of.  False if everything
   stays. */
static bool
mark(Partitioner *p, Body *body)
{
	bool any = false;

	body->fixed = fixed_ops(p, body->loop, body->block);
	body->n = body->block->last->id + 1;
	body->leaves = NEW_ARRAY(p->arena, bool, body->n);
	for (Op *op = body->block->last; op; op = op->prev) {
		if (body->fixed[op->id] && communicates(p, op))
			body->leaves[op->id] = true;
		/* Constants stay, and are made anew outside. */
		for (int i = 0; i < op->noperands && body->leaves[op->id]; i++) {
			const Value *v = op->operands[i];
			if (v->def && !value_is_literal(v))
				body->leaves[v->def->id] = true;
		}
		any |= body->leaves[op->id];
	}
	return any;
}

/* What a body's value is before the loop; a constant is made before `user`. */
static Value *
outside(const Body *body, Value *v, Op *user)
{
	if (!v->def)
		return body->loop->operands[v->index];
	if (v->block != body->block)
		return v;
	v = recompute(v, &v->placement, user);
	for (int i = 0; i < v->def->noperands; i++)
		v->def->operands[i] = outside(body, v->def->operands[i], v->def);
	return v;
}

static void
hoist_from(Partitioner *p, Op *loop, Block *b)
{
	Body body = {.loop = loop, .block = b};

	if (!mark(p, &body))
		return;
	body.carried = NEW_ARRAY(p->arena, Value **, body.n);
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		if (!body.leaves[op->id])
			continue;
		op_remove(op);
		op_insert_before(loop, op);
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = outside(&body, op->operands[i], op);
	}
	for (Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			Value *v = op->operands[i];
			if (!v->def || v->block == b)
				continue;
			Value ***results = &body.carried[v->def->id], **carried;
			if (!*results)
				*results = NEW_ARRAY(p->arena, Value *, v->def->nresults);
			carried = &(*results)[v->index];
			if (!*carried) /* may append to operands */
				*carried = carry(loop, v, b);
			op->operands[i] = *carried;
		}
}

void
hoist_moves(Partitioner *p, Block *b)
{
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nbodies; i++)
			hoist_moves(p, op->bodies[i]);
		for (int i = 0; op_is_loop(op) && i < op->nbodies; i++)
			hoist_from(p, op, op->bodies[i]);
	}
}
