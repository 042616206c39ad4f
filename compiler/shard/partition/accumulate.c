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

/* An all-reduce, or the other way round.  All sums of a chain are over the same axes. */
static bool
is_sum(Chain *chain, const Op *op, bool reduces)
{
	if (!op || !op_is_move(op))
		return false;
	const Placement *from = &op->operands[0]->placement, *to = &op->results[0]->placement;
	const Placement *partial = reduces ? from : to, *whole = reduces ? to : from;
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

static bool follow(Chain *chain, const Value *start, Value *v);

/* Of an addition, a maximum and the like one operand is the chain, the other one a
   sum, or a part where both are. */
static bool
follow_combining(Chain *chain, const Value *start, Op *op)
{
	for (int k = 1; k >= 0; k--) {
		Value *other = op->operands[k];
		Chain before = *chain;
		bool sum = other->uses == 1 && other->block == start->block
			&& is_sum(chain, other->def, true);
		bool part = chain->known && placement_equal(&other->placement, &chain->partial);
		if (sum)
			add_step(chain, other->def, NULL);
		if ((sum || part)
			&& partial_through(op, 0, (Combiner)chain->partial.combiner)
				== THROUGH_together
			&& follow(chain, start, op->operands[1 - k]))
			return true;
		*chain = before;
	}
	return false;
}

/* Each branch adds to one of its params, or leaves it. */
static bool
follow_branches(Chain *chain, const Value *start, const Op *op, int result)
{
	for (int i = 0; i < op->bodies[0]->nparams; i++) {
		Chain before = *chain;
		bool all = true;
		for (int k = 0; all && k < op->nbodies; k++) {
			Block *b = op->bodies[k];
			add_step(chain, NULL, b->params[i]);
			all = follow(chain, b->params[i], b->last->operands[result]);
		}
		if (all && follow(chain, start, op->operands[i + 1]))
			return true;
		*chain = before;
	}
	return false;
}

/* Is v what `start`, of the same block, was, with sums added? */
static bool
follow(Chain *chain, const Value *start, Value *v)
{
	Op *op = v->def;

	if (v->block != start->block || v->uses != 1)
		return false;
	if (v == start)
		return true;
	add_step(chain, NULL, v);
	if (!op)
		return false;
	if (ops[op->kind].pointwise && op->noperands == 2)
		return follow_combining(chain, start, op);
	if (op_is_branch(op))
		return follow_branches(chain, start, op, v->index);
	if (op_is_loop(op)) /* it carries parts: treated already */
		return chain->known && placement_equal(&chain->partial, &v->placement)
			&& follow(chain, start, op->operands[v->index]);
	if (!is_sum(chain, op, true) && !is_sum(chain, op, false))
		return false;
	add_step(chain, op, NULL);
	return follow(chain, start, op->operands[0]);
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

void
reduce_after(Partitioner *p, Op *loop, int n)
{
	Block *body = loop->bodies[LOOP_BODY], *condition = loop->bodies[LOOP_CONDITION];

	/* moves in the loop have been made since the last count */
	block_count_uses(condition);
	block_count_uses(body);
	for (int i = 0; i < n; i++) {
		Value *next = body->last->operands[i];
		Chain chain = {.p = p};
		if (next == body->params[i] || condition->params[i]->uses
			|| !follow(&chain, body->params[i], next) || !chain.known)
			continue;
		take_steps(&chain);
		body->params[i]->placement = chain.partial;
		condition->params[i]->placement = chain.partial;
		loop->operands[i] =
			insert_reshard(p, loop->operands[i], &chain.partial, loop, chain.why);
		source_of(p, loop->results[i])->sum_requested = chain.requested;
	}
}
