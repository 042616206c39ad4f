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
	Step *s = NEW(chain->p->scratch, Step);

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

static const Value *follow(Chain *chain, const Block *b, const Value *start, Value *v);

/* Of an addition, a maximum and the like one operand is the chain, the other one a
   sum, or a part where both are. */
static const Value *
follow_combining(Chain *chain, const Block *b, const Value *start, Op *op)
{
	for (int k = 1; k >= 0; k--) {
		Value *other = op->operands[k];
		Chain before = *chain;
		const Value *end = NULL;
		bool sum = other->uses == 1 && other->block == b
			&& is_sum(chain, other->def, true);
		bool part = chain->known && placement_equal(&other->placement, &chain->partial);
		if (sum)
			add_step(chain, other->def, NULL);
		if ((sum || part)
			&& partial_through(op, 0, (Combiner)chain->partial.combiner)
				== THROUGH_together)
			end = follow(chain, b, start, op->operands[1 - k]);
		if (end)
			return end;
		*chain = before;
	}
	return NULL;
}

/* The parameter that a branch leaves as it is; -1: none does. */
static int
handed_on(const Op *op, int result)
{
	for (int k = 0; k < op->nbodies; k++) {
		const Value *v = op->bodies[k]->last->operands[result];
		if (!v->def)
			return v->index;
	}
	return -1;
}

/* Each branch adds to the same one of its params, or leaves it.  Which one is known from
   a branch that leaves it, else from the first. */
static const Value *
follow_branches(Chain *chain, const Block *b, const Value *start, const Op *op, int result)
{
	int param = handed_on(op, result);

	for (int k = 0; k < op->nbodies; k++) {
		Block *body = op->bodies[k];
		const Value *end = follow(chain, body, param < 0 ? NULL : body->params[param],
			body->last->operands[result]);
		if (!end)
			return NULL;
		param = end->index;
		add_step(chain, NULL, body->params[param]);
	}
	return follow(chain, b, start, op->operands[param + 1]);
}

/* What v, of block b, was before sums were added: `start`, or if that is NULL some
   parameter of b; NULL if v is no such chain. */
static const Value *
follow(Chain *chain, const Block *b, const Value *start, Value *v)
{
	Op *op = v->def;

	if (v->block != b || v->uses != 1)
		return NULL;
	if (!op)
		return !start || v == start ? v : NULL;
	add_step(chain, NULL, v);
	if (ops[op->kind].pointwise && op->noperands == 2)
		return follow_combining(chain, b, start, op);
	if (op_is_branch(op))
		return follow_branches(chain, b, start, op, v->index);
	if (op_is_loop(op)) /* it carries parts: treated already */
		return chain->known && placement_equal(&chain->partial, &v->placement)
			? follow(chain, b, start, op->operands[v->index])
			: NULL;
	if (!is_sum(chain, op, true) && !is_sum(chain, op, false))
		return NULL;
	add_step(chain, op, NULL);
	return follow(chain, b, start, op->operands[0]);
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
		if (next != body->params[i] && !condition->params[i]->uses
			&& follow(&chain, body, body->params[i], next) && chain.known) {
			take_steps(&chain);
			body->params[i]->placement = chain.partial;
			condition->params[i]->placement = chain.partial;
			loop->operands[i] = insert_reshard(p, loop->operands[i], &chain.partial,
				loop, chain.why);
			source_of(p, loop->results[i])->sum_requested = chain.requested;
		}
		arena_reset(p->scratch);
	}
}
