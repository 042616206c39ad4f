/*
 * constraints.c - what a constraint says of other values than its result.
 *
 * A constraint is an identity op with a fixed result.  A closed one, that leaves nothing open,
 * on what an op makes says where that op should compute: its placement is copied.  On what a
 * loop carries, or a branch leaves, which others flow into, too, it is what all users use.
 * Of several on one value, one behind the other, what comes later uses the last.
 */
#include "shard/propagate/propagate.h"

/* NULL of what is no constraint. */
static const Placement *
asked_for(const Op *op)
{
	return op->kind == O_constraint ? &op->results[0]->placement : NULL;
}

/* A constraint that leaves nothing open. */
static bool
is_closed(const Op *op)
{
	const Placement *wanted = asked_for(op);

	return wanted && op->results[0]->annotated && !wanted->open;
}

/* Does it go into a body, or come out of one?  Others decide, too, where that is. */
static bool
flows_on(const Value *v)
{
	return v->def ? v->def->nbodies > 0 : v->block->parent != NULL;
}

/* Of what a loop carries, or a branch leaves, and nothing else places: is it so? */
static bool
is_joined(const Value *v)
{
	const Op *op = v->def ? v->def : v->block->parent;

	return op && !v->annotated && (op_is_loop(op) || (v->def && op_is_branch(op)));
}

/* By value id: the constraint that is on it, if that is a closed one, of no parts, and no other
   differs.  In explicit code each use says itself where it is. */
static Op **
constraints_on_joined(Propagation *g)
{
	Op **on = NEW_ARRAY(g->arena, Op *, g->module->nvalues + 1);
	bool *disputed = NEW_ARRAY(g->arena, bool, g->module->nvalues + 1);

	for (Op *op = g->module->entry->first; op; op = op_following(op, g->module->entry)) {
		const Value *v = op->noperands ? op->operands[0] : NULL;
		if (!asked_for(op) || !is_joined(v) || op->mode == MODE_explicit)
			continue;
		disputed[v->id] |= !is_closed(op) || asked_for(op)->nunreduced > 0
			|| (on[v->id] && !placement_same(asked_for(op), asked_for(on[v->id])));
		on[v->id] = on[v->id] ? on[v->id] : op;
	}
	for (int i = 0; i < g->module->nvalues; i++)
		if (disputed[i])
			on[i] = NULL;
	return on;
}

static void
rewire(Propagation *g, Op *op, int operand, const Op *constraint)
{
	Rewired rewired = {.op = op, .operand = operand, .original = op->operands[operand]};

	APPEND(g->arena, g->rewired, g->nrewired, rewired);
	op->operands[operand] = constraint->results[0];
}

/* Directly behind what it is on. */
static void
move_behind_operand(Propagation *g, Op *op)
{
	const Value *v = op->operands[0];
	Rewired moved = {.op = op, .operand = -1, .next = op->next};

	APPEND(g->arena, g->rewired, g->nrewired, moved);
	op_remove(op);
	op_insert_before(v->def ? v->def->next : v->block->first, op);
}

/* Does a loop hand it on as it is? */
static bool
hands_on(const Op *op, int i)
{
	const Value *v = op->operands[i];

	return op == v->block->last && !v->def && i == v->index;
}

/* while(x) { return x * x[Y, _] }  ->  while(x) { y = x[Y, _]; return y * y } */
void
use_constrained(Propagation *g)
{
	Block *entry = g->module->entry;
	Op **on = constraints_on_joined(g);

	for (Op *op = entry->first; op; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++) {
			const Op *constraint = on[op->operands[i]->id];
			if (constraint && constraint != op && !hands_on(op, i))
				rewire(g, op, i, constraint);
		}
	for (int i = 0; i < g->module->nvalues; i++)
		if (on[i])
			move_behind_operand(g, on[i]);
	module_number(g->module);
}

/* How often each value is used, and by how many constraints and manual regions; by its id. */
typedef struct Uses {
	int *all, *placed;
} Uses;

static Uses
count_uses(Propagation *g)
{
	Block *entry = g->module->entry;
	int n = g->module->nvalues + 1;
	Uses uses = {NEW_ARRAY(g->arena, int, n), NEW_ARRAY(g->arena, int, n)};

	for (Op *op = entry->first; op; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++) {
			uses.all[op->operands[i]->id]++;
			uses.placed[op->operands[i]->id] +=
				asked_for(op) || op->kind == O_manual;
		}
	return uses;
}

/* What an op makes that a chain of constraints is on, this the last of several, and nothing
   else places: of each but the last only the next is a user.  Else NULL. */
static Value *
chained(const Op *last, const Uses *uses)
{
	int n = 1;

	if (!asked_for(last) || last->mode != MODE_auto || uses->placed[last->results[0]->id])
		return NULL;
	Value *v = last->operands[0];
	for (; v->def && asked_for(v->def) && v->def->mode == MODE_auto;
		v = v->def->operands[0]) {
		if (uses->all[v->id] != 1)
			return NULL;
		n++;
	}
	return n > 1 && v->def && v->def->block == last->block && uses->placed[v->id] == 1
		? v
		: NULL;
}

/* y = x[X]; z = y[Y]; return x + z  ->  y = x[X]; z = y[Y]; return z + z */
void
use_last_of_chains(Propagation *g)
{
	Block *entry = g->module->entry;
	Uses uses = count_uses(g);
	/* By value id: the last of its chain, once that is passed. */
	const Op **last_of = NEW_ARRAY(g->arena, const Op *, g->module->nvalues + 1);

	for (Op *op = entry->first; op; op = op_following(op, entry)) {
		bool gives = op->kind == O_output || op == op->block->last;
		for (int i = 0; i < op->noperands && !gives; i++) {
			const Op *last = last_of[op->operands[i]->id];
			if (last)
				rewire(g, op, i, last);
		}
		const Value *v = chained(op, &uses);
		if (v)
			last_of[v->id] = op;
	}
}

void
undo_rewired(Propagation *g)
{
	while (g->nrewired > 0) {
		const Rewired *r = &g->rewired[--g->nrewired];
		if (r->operand >= 0) {
			r->op->operands[r->operand] = r->original;
		} else {
			op_remove(r->op);
			op_insert_before(r->next, r->op);
		}
	}
}

/* If nothing else holds the producer, and no other constraint asks for something else. */
void
copy_constraints(Propagation *g)
{
	for (int i = 0; i < g->nops; i++) {
		Op *op = g->ops[i].op;
		const Placement *wanted = asked_for(op);
		if (!is_closed(op))
			continue;
		Cluster *c = cluster_of(g, op->operands[0]);
		bool disputed = c->annotated || c->copied_from || flows_on(op->operands[0]);
		for (int k = 0; k < c->ntouches && !disputed; k++) {
			const Op *other = g->ops[g->touches[c->first_touch + k]].op;
			const Placement *others = asked_for(other);
			disputed = others && cluster_of(g, other->operands[0]) == c
				&& !placement_same(others, wanted);
		}
		if (disputed)
			continue;
		write_placement(g, c, wanted);
		c->copied_from = op;
	}
}
