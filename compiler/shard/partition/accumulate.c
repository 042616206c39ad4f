/*
 * accumulate.c - sums that are only added up in a loop are taken
 * after it.
 *
 *   acc = acc + all_reduce(x)   becomes   acc = acc + x, acc partial
 *
 * From what a round makes of a carried value the way back to what it began with
 * is followed: a chain of values that nothing else uses.  On it are additions,
 * branches, and loops inside that were treated so already.  If all that is
 * added is partial alike, each device adds what it has, and one all-reduce
 * after the loop is enough.  The same holds for maxima and the like.
 */
#include "shard/partition/partition.h"

/* Something to be done once the whole chain is known to be one. */
typedef struct Step {
	Op *move;	/* a reshard that goes, or NULL */
	Value *partial; /* what becomes partial, or NULL */
	struct Step *next;
} Step;

typedef struct Chain {
	Partitioner *p;
	bool known;	/* is `partial` set? */
	bool requested; /* some sum was asked for */
	Placement partial, whole;
	Reason why;
	Step *steps;
} Chain;

static void
add_step(Chain *chain, Op *move, Value *partial)
{
	Step *s = NEW(chain->p->arena, Step);

	*s = (Step){move, partial, chain->steps};
	chain->steps = s;
}

/* ---- following a chain ----------------------------------------------------- */

/* All sums of a chain are over the same axes. */
static bool
is_partial(Chain *chain, const Placement *partial, const Placement *whole)
{
	Placement reduced = *partial;
	AxisList none = {0};

	placement_set_unreduced(&reduced, &none, C_add);
	if (!partial->nunreduced || !placement_equal(&reduced, whole))
		return false;
	if (!chain->known) {
		chain->known = true;
		chain->partial = *partial;
		chain->whole = *whole;
	}
	return placement_equal(&chain->partial, partial)
		&& chain->partial.combiner == partial->combiner
		&& placement_equal(&chain->whole, whole);
}

/* An all-reduce, or the other way round. */
static bool
is_sum(Chain *chain, const Op *op, bool reduces)
{
	if (!op || op->kind != O_reshard)
		return false;
	const Placement *from = &op->operands[0]->placement;
	const Placement *to = &op->results[0]->placement;
	return reduces ? is_partial(chain, from, to) : is_partial(chain, to, from);
}

static bool follow(Chain *chain, Block *b, const Value *start, Value *v);

/* Of an addition, a maximum and the like one operand is the chain, the other one a
   sum, or a part where both are. */
static bool
follow_combining(Chain *chain, Op *op, const Value *start)
{
	for (int k = 1; k >= (op->kind == O_sub); k--) {
		Value *other = op->operands[k];
		Chain before = *chain;
		bool sum = is_sum(chain, other->def, true) && other->def->block == op->block
			&& other->uses == 1;
		bool part = chain->known && placement_equal(&other->placement, &chain->partial);
		if (sum)
			add_step(chain, other->def, NULL);
		if ((sum || part)
			&& partial_through(op, 0, (Combiner)chain->partial.combiner)
				== THROUGH_together
			&& follow(chain, op->block, start, op->operands[1 - k]))
			return true;
		*chain = before;
	}
	return false;
}

/* Each branch adds to its param i, or leaves it. */
static bool
follow_bodies(Chain *chain, Op *op, int i, int result)
{
	for (int k = 0; k < op->nbodies; k++) {
		Block *b = op->bodies[k];
		add_step(chain, NULL, b->params[i]);
		if (!follow(chain, b, b->params[i], b->last->operands[result]))
			return false;
	}
	return true;
}

static bool
follow_branches(Chain *chain, Op *op, const Value *start, int result)
{
	for (int i = 0; i < op->bodies[0]->nparams; i++) {
		Chain before = *chain;
		if (follow_bodies(chain, op, i, result)
			&& follow(chain, op->block, start, op->operands[i + 1]))
			return true;
		*chain = before;
	}
	return false;
}

static bool
follow_op(Chain *chain, Op *op, const Value *start, int result)
{
	if (ops[op->kind].pointwise && op->noperands == 2)
		return follow_combining(chain, op, start);
	if (op->kind == O_if)
		return follow_branches(chain, op, start, result);
	if (op_is_loop(op)) /* it carries parts: treated already */
		return chain->known
			&& placement_equal(&chain->partial, &op->results[result]->placement)
			&& follow(chain, op->block, start, op->operands[result]);
	if (!is_sum(chain, op, true) && !is_sum(chain, op, false))
		return false;
	add_step(chain, op, NULL);
	return follow(chain, op->block, start, op->operands[0]);
}

/* Is v what was `start`, with sums added? */
static bool
follow(Chain *chain, Block *b, const Value *start, Value *v)
{
	if (v->block != b || v->uses != 1)
		return false;
	if (v == start)
		return true;
	add_step(chain, NULL, v);
	return v->def && follow_op(chain, v->def, start, v->index);
}

/* ---- changing it ------------------------------------------------------------ */

static void
take_steps(Chain *chain)
{
	for (Step *s = chain->steps; s; s = s->next) {
		if (s->partial)
			s->partial->placement = chain->partial;
		if (!s->move)
			continue;
		if (is_sum(chain, s->move, true)) {
			chain->requested |= s->move->requested;
			chain->why = (Reason){s->move->label, s->move->range, false};
		}
		/* The only use of its result becomes one of its operand. */
		bool found = false;
		for (Op *op = s->move->next; op && !found; op = op->next)
			for (int i = 0; i < op->noperands; i++)
				if (op->operands[i] == s->move->results[0]) {
					op->operands[i] = s->move->operands[0];
					found = true;
				}
		op_remove(s->move);
	}
}

static void
reduce_one(Partitioner *p, Op *loop, int i)
{
	Block *body = loop->bodies[LOOP_BODY], *condition = loop->bodies[LOOP_CONDITION];
	Value *next = body->last->operands[i];
	Chain chain = {.p = p};

	if (next == body->params[i] || condition->params[i]->uses
		|| !follow(&chain, body, body->params[i], next) || !chain.known)
		return;
	take_steps(&chain);
	body->params[i]->placement = chain.partial;
	condition->params[i]->placement = chain.partial;
	loop->operands[i] =
		insert_reshard(p, loop->operands[i], &chain.partial, loop, chain.why);
	source_of(p, loop->results[i])->sum_requested = chain.requested;
}

void
reduce_after(Partitioner *p, Op *loop, int n)
{
	/* moves in the loop have been made since the last count */
	block_count_uses(loop->bodies[LOOP_CONDITION]);
	block_count_uses(loop->bodies[LOOP_BODY]);
	for (int i = 0; i < n; i++)
		reduce_one(p, loop, i);
}
