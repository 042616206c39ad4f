/*
 * together.c - sums that are added to each other are combined once, behind the additions.
 *
 *   g = all_reduce(a) + all_reduce(b)   becomes   g = all_reduce(a + b)
 *
 * Products that are added up are drawn to that before they are planned (sums.c).  What is left
 * are sums of which the planner does not know that they will be parts, for a loop or a branch
 * makes them: gradients of microbatches, one loop over the layers each.  So once all moves are
 * there, the additions behind each are followed (chain.c).  A value that was written to be
 * where it is stays there.  Nothing leaves its block, and less moves, or nothing is changed.
 * Before, what is combined for an `if` alone is combined in its branches, where one does not
 * read it, or adds it to another sum.
 */
#include "shard/partition/chain.h"

enum { MAX_ADDED = 512 }; /* ops behind one sum */

/* Of a value that is used once, as its block was before sums were combined in it. */
typedef struct OnlyUse {
	const Value *value;
	Op *user;
	int operand;
} OnlyUse;

static bool
same_value(const void *use, const void *value)
{
	return ((const OnlyUse *)use)->value == value;
}

/* By value, of those that ops of the block make; a gradient may be added far behind. */
static Lookup *
find_only_uses(Partitioner *p, const Block *b)
{
	Lookup *uses = lookup_new(p->arena);

	for (Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			const Value *v = op->operands[i];
			OnlyUse use = {v, op, i};
			if (v->uses == 1 && v->def)
				lookup_add(uses, value_hash(v),
					arena_copy(p->arena, &use, sizeof use));
		}
	return uses;
}

/* The op that uses the only use of the value, its operand *k, of an op behind which it
   stands; or NULL. */
static Op *
user_behind(const Lookup *uses, const Value *v, int *k)
{
	const OnlyUse *use =
		v->uses == 1 ? lookup_find(uses, value_hash(v), same_value, v) : NULL;

	if (use && use->user->block && use->operand < use->user->noperands
		&& use->user->operands[use->operand] == v) {
		*k = use->operand;
		return use->user;
	}
	for (Op *op = v->uses == 1 ? v->def->next : NULL; op; op = op->next)
		for (*k = 0; *k < op->noperands; ++*k)
			if (op->operands[*k] == v)
				return op;
	return NULL;
}

/* What is made of the sum by additions, and what else goes with parts. */
static Value *
added_up(const Chain *chain, const Lookup *uses, Value *v)
{
	Value *root = v;
	const Op *user;
	int k;

	for (int n = 0; n < MAX_ADDED && (user = user_behind(uses, v, &k)); n++) {
		Combiner combiner = (Combiner)chain->partial.combiner;
		bool adds = combines(user, combiner);
		if (user->nresults != 1 || op_is_identity(user) || user->mode == MODE_explicit
			|| !(adds || hands_on_parts(chain->p, user, k, combiner)))
			break;
		v = user->results[0];
		root = adds ? v : root;
	}
	return root;
}

/* Does less move if they are combined once? */
static bool
moves_less(const Chain *chain, const Value *root)
{
	double bytes = 0;
	int n = 0;

	for (const Step *s = chain->steps; s; s = s->next)
		if (s->move) {
			bytes += bytes_moved(chain->p, s->move);
			n++;
		}
	return n > 1 && bytes_between(chain->p, root, &chain->partial, &chain->whole) < bytes;
}

static void
combine_root(Chain *chain, Value *root)
{
	Placement whole = root->placement;

	take_steps(chain);
	root->placement = whole; /* a step may have been there */
	chain->why.requested = chain->requested;
	move_for_all(chain->p, root, &chain->partial, root->def->next, chain->why);
}

/* Are there sums that it is made of by additions, and pays it to combine them there?  Whoever
   uses it needs it whole. */
static bool
follow_root(Chain *chain, Value *root)
{
	int uses = root->uses;
	bool sums;

	do {
		chain->steps = NULL;
		chain->widened = false;
		root->uses = 1;
		sums = take_sums(chain, root->block, root);
		root->uses = uses;
	} while (sums && chain->widened);
	return sums && is_whole_chain(chain) && moves_less(chain, root)
		&& (!chain->scattered || chain_has_room(chain->p, chain, root));
}

static void
combine_with_others(Partitioner *p, const Lookup *uses, Op *move)
{
	Chain first = {.p = p}, chain = first, narrow = {.p = p, .narrow = true};
	Value *v = move->results[0], *root;

	if (v->uses != 1 || !is_sum(&first, move, true)
		|| (root = added_up(&first, uses, v)) == v)
		return;
	if (follow_root(&chain, root))
		combine_root(&chain, root);
	else if (follow_root(&narrow, root))
		combine_root(&narrow, root);
}

/* ---- into branches --------------------------------------------------------------- */

/* Is it only added to a sum over there that comes from the same place? */
static bool
meets_sum(Partitioner *p, const Value *param, const Op *move)
{
	Combiner combiner = (Combiner)move->operands[0]->placement.combiner;

	for (Op *op = param->uses == 1 ? param->block->first : NULL; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			Chain chain = {.p = p};
			if (op->operands[i] != param)
				continue;
			return combines(op, combiner)
				&& take_sums(&chain, param->block, op->operands[1 - i])
				&& placement_equal(&chain.whole, &param->placement)
				&& chain.partial.combiner == combiner;
		}
	return false;
}

/* An all-reduce for the `if` alone, which one of the branches does not read, or adds to
   another sum. */
static bool
belongs_inside(Partitioner *p, const Op *branch, int operand)
{
	const Op *move = branch->operands[operand]->def;
	bool scattered, gains = false;

	if (!move || !op_is_move(move) || move->results[0]->uses != 1
		|| !combines_into(&move->operands[0]->placement, &move->results[0]->placement,
			&scattered)
		|| scattered)
		return false;
	for (int k = 0; k < branch->nbodies; k++) {
		const Value *param = branch->bodies[k]->params[operand - 1];
		gains |= !param->uses || meets_sum(p, param, move);
	}
	return gains;
}

static void
move_inside(Partitioner *p, Op *branch, int operand)
{
	Op *move = branch->operands[operand]->def;
	Reason why = {move->label, move->range, move->requested};

	for (int k = 0; k < branch->nbodies; k++) {
		Block *body = branch->bodies[k];
		Value *param = body->params[operand - 1];
		const Placement *parts = &move->operands[0]->placement;
		if (param->uses)
			move_for_all(p, param, parts, body->first, why);
		else
			param->placement = *parts;
	}
	branch->operands[operand] = move->operands[0];
	op_remove(move);
}

/* What is inside may be what another meets there. */
static void
move_sums_inside(Partitioner *p, Op *branch)
{
	bool more = true;

	while (more) {
		more = false;
		for (int i = 1; i < branch->noperands; i++)
			if (belongs_inside(p, branch, i)) {
				move_inside(p, branch, i);
				more = true;
			}
	}
}

/* ---- before loops ------------------------------------------------------------------- */

static bool
takes_parts(const Op *user, const Placement *parts)
{
	return op_is_move(user) && is_placed(user->results[0], parts);
}

/* An all-reduce for the loop alone, of what no round changes, and takes in parts. */
static bool
belongs_in_rounds(const Op *loop, int i)
{
	const Op *move = loop->operands[i]->def;
	const Block *body = loop->bodies[LOOP_BODY];
	bool scattered, taken = false;

	if (!move || !op_is_move(move) || move->results[0]->uses != 1 || !loop_hands_on(loop, i)
		|| loop->results[i]->uses || loop->bodies[LOOP_CONDITION]->params[i]->uses
		|| !combines_into(&move->operands[0]->placement, &move->results[0]->placement,
			&scattered))
		return false;
	for (const Op *op = body->first; op; op = op->next)
		for (int k = 0; k < op->noperands; k++) {
			if (op->operands[k] != body->params[i] || (!op->next && k == i))
				continue;
			if (!takes_parts(op, &move->operands[0]->placement))
				return false;
			taken = true;
		}
	return taken;
}

static void
hand_in_parts(Op *loop, int i)
{
	Op *move = loop->operands[i]->def;
	Value *param = loop->bodies[LOOP_BODY]->params[i], *parts = move->operands[0];

	for (Op *op = loop->bodies[LOOP_BODY]->first, *next; op; op = next) {
		next = op->next;
		if (!op->noperands || op->operands[0] != param || !next)
			continue;
		param->uses += op->results[0]->uses - 1;
		use_instead(next, op->results[0], param);
		op_remove(op);
	}
	for (int k = LOOP_CONDITION; k <= LOOP_BODY; k++)
		loop->bodies[k]->params[i]->placement = parts->placement;
	loop->results[i]->placement = parts->placement;
	loop->operands[i] = parts;
	op_remove(move);
}

/* ---- all of them --------------------------------------------------------------------- */

static void
combine_in(Partitioner *p, Block *b)
{
	Op **moves = NULL;
	int n = 0;

	sink_moves(p, b);
	for (Op *op = b->first; op; op = op->next) {
		if (op_is_branch(op))
			move_sums_inside(p, op);
		for (int i = 0; i < op->noperands && op_is_loop(op); i++)
			if (belongs_in_rounds(op, i))
				hand_in_parts(op, i);
		for (int i = 0; i < op->nbodies; i++)
			combine_in(p, op->bodies[i]);
		if (op_is_move(op))
			APPEND(p->arena, moves, n, op);
	}
	const Lookup *uses = n ? find_only_uses(p, b) : NULL;
	for (int i = 0; i < n; i++) {
		if (moves[i]->block)
			combine_with_others(p, uses, moves[i]);
		arena_reset(p->scratch);
	}
	combine_shared(p, b, COMBINE_first);
	combine_shared(p, b, COMBINE_wide);
}

void
combine_added(Partitioner *p)
{
	module_remove_dead(p->module);
	module_count_uses(p->module);
	/* What was asked to be there is used there. */
	p->asked = lookup_new(p->arena);
	for (int i = 0; i < p->nsources; i++) {
		Value *v = p->sources[i].alias;
		if (!v)
			continue;
		v->uses++;
		lookup_add(p->asked, value_hash(v), v);
	}
	combine_in(p, p->module->entry);
}
