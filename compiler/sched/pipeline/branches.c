/*
 * branches.c - what both branches of an `if` gather is gathered before it.
 *
 *   if p  h = dot(h, all-gather(W))              W2 = all-gather(W)
 *   else  h = relu(dot(h, all-gather(W)))   ->   if p  h = dot(h, W2)
 *                                                else  h = relu(dot(h, W2))
 *
 * So in a loop it may be begun a trip early, before it is known which branch is taken.
 */
#include "ir/make.h"
#include "sched/fuse/fuse.h"
#include "sched/pipeline/pipeline.h"

enum { THEN, ELSE };

/* Do they move one value alike? */
static bool
move_alike(const Op *a, const Op *b)
{
	return op_same_rule(a, b) && axes_equal(a->axes, b->axes) && !a->from == !b->from
		&& (!a->from || axes_equal(a->from, b->from));
}

/* It moves what the branch is given, whatever else is done there. */
static bool
moves_param(const Op *op)
{
	return op_communicates(op) && op->noperands == 1 && op->nresults == 1
		&& !op->operands[0]->def;
}

/* Each of one branch with one of the other. */
static void
find_in(Op *choice, BranchMoves *moves)
{
	typedef struct Mover {
		Op *op;
		struct Mover *next;
	} Mover;
	const Block *one = choice->bodies[THEN], *other = choice->bodies[ELSE];
	Mover **movers = NEW_ARRAY(moves->arena, Mover *, other->nparams + 1);

	for (Op *op = other->last; op; op = op->prev) {
		if (!moves_param(op))
			continue;
		Mover *mover = NEW(moves->arena, Mover),
		      **first = &movers[op->operands[0]->index];
		*mover = (Mover){op, *first};
		*first = mover;
	}
	for (Op *op = one->first; op; op = op->next) {
		Mover **at = moves_param(op) ? &movers[op->operands[0]->index] : NULL;
		while (at && *at && !move_alike(op, (*at)->op))
			at = &(*at)->next;
		if (!at || !*at)
			continue;
		APPEND(moves->arena, moves->v, moves->n,
			((BranchMove){choice, {op, (*at)->op}}));
		*at = (*at)->next;
	}
}

/* In whose body it is, or in branches there; NULL: in no loop's. */
static const Op *
loop_of(const Op *choice)
{
	const Block *b = choice->block;

	while (b->parent && op_is_branch(b->parent))
		b = b->parent->block;
	bool within = b->parent && op_is_loop(b->parent) && b == b->parent->bodies[LOOP_BODY];
	return within ? b->parent : NULL;
}

void
branch_moves_find(Module *m, BranchMoves *moves)
{
	const Op *last = NULL; /* loop that was looked at */
	bool manual = false;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		const Op *loop = op_is_branch(op) ? loop_of(op) : NULL;
		if (!loop)
			continue;
		manual = loop == last ? manual : is_manual_loop(loop);
		last = loop;
		if (!manual)
			find_in(op, moves);
	}
}

/* A branch has it as a parameter; what its own was called that is. */
static void
take_from_outside(Op *op, Value *made)
{
	Block *b = op->block;
	Value *old = op->results[0], *param = block_add_param(b, old->name, &old->type);

	value_like(param, old);
	for (Op *user = op->next; user; user = user->next)
		for (int i = 0; i < user->noperands; i++)
			if (user->operands[i] == old)
				user->operands[i] = param;
	for (int i = 0; i < b->module->nnamed; i++)
		if (b->module->named[i].value == old)
			b->module->named[i].value = made;
	op_remove(op);
}

static void
apply(Module *m, const BranchMove *move)
{
	Op *op = move->ops[THEN], *other = move->ops[ELSE], *choice = move->choice;
	Op *before = op_clone(op);

	/* behind what chooses */
	before->operands[0] = choice->operands[1 + op->operands[0]->index];
	op_insert_before(choice, before);
	op_add_operand(choice, before->results[0]);
	if (m->planned && op->planned && other->planned)
		m->planned->moves[other->planned - 1].with = op->planned;
	take_from_outside(op, before->results[0]);
	take_from_outside(other, before->results[0]);
}

/* What was moved before an `if` may be in a branch that moves it like the other one. */
void
branch_moves_apply(Module *m, const BranchMoves *moves)
{
	BranchMoves next = *moves;

	while (next.n) {
		for (int i = 0; i < next.n; i++)
			apply(m, &next.v[i]);
		next = (BranchMoves){.arena = moves->arena};
		branch_moves_find(m, &next);
	}
	module_remove_dead(m);
}
