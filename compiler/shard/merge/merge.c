/*
 * merge.c - equal ops are computed once.
 *
 * example     f(x, 1) + f(x, 2) with f(x, i) = roll(x, 3) * i: one roll
 * requires    L_sharded
 * leaves      L_sharded: of values that are equal the first has the users, unless
 *             they want them in different ways
 *
 * Values get the number of the first that is equal, block by block; then uses are
 * replaced, and what was needed and is no longer goes.
 */
#include <math.h>
#include "shard/merge/merge.h"
#include "shard/partition/partition.h"

/* ---- numbers --------------------------------------------------------------------- */

/* Made element by element, and of nothing that had to be read. */
static bool
is_cheap(const Merger *mg, const Op *op)
{
	bool cheap = ops[op->kind].leaf || op->kind == O_broadcast
		|| (op_is_one_to_one(op) && !op_is_identity(op));

	for (int i = 0; i < op->noperands; i++)
		cheap &= !op->operands[i]->type.rank || mg->cheap[op->operands[i]->id];
	return cheap;
}

static int
count_values(const Op *op)
{
	int n = op->nresults;

	for (int i = 0; i < op->nbodies; i++) {
		n += op->bodies[i]->nparams;
		for (const Op *inner = op->bodies[i]->first; inner; inner = inner->next)
			n += count_values(inner);
	}
	return n;
}

/* Values of equal ops are numbered alike, in their bodies too. */
static void
number_as(Merger *mg, const Op *op, const Op *equal)
{
	int base = op->results[0]->id, distance = base - equal->results[0]->id;

	for (int i = base + count_values(op) - 1; i >= base; i--) {
		mg->first[i] = mg->first[i - distance];
		mg->cheap[i] = mg->cheap[i - distance];
	}
}

static bool
is_needed(const Merger *mg, const Op *op)
{
	bool needed = !op->nresults;

	for (int i = 0; i < op->nresults && op->results[i]->id >= 0; i++)
		needed |= mg->needed[op->results[i]->id];
	return needed;
}

/* A branch is handed what is around it, and so is a loop what it does not change; that is of
   use once moves are there. */
static void
number_params(Merger *mg, const Op *op, const Block *b)
{
	int before = op_is_branch(op);

	for (int i = 0; i < b->nparams && mg->resharder; i++)
		if (op_is_branch(op) || (op_is_loop(op) && loop_hands_on(op, i)))
			mg->first[b->params[i]->id] = mg->first[op->operands[before + i]->id];
}

/* Whether ops were equal that are worth keeping. */
static bool
number_block(Merger *mg, const Block *b)
{
	bool any = false;

	for (const Op *op = b->first; op; op = op->next) {
		const Op *equal = is_needed(mg, op) ? find_equal(mg, op) : NULL;
		if (equal) {
			number_as(mg, op, equal);
			any |= !mg->cheap[op->results[0]->id];
			continue;
		}
		for (int i = 0; i < op->nbodies && !op->specs; i++) {
			number_params(mg, op, op->bodies[i]);
			any |= number_block(mg, op->bodies[i]);
		}
		if (op->nresults == 1)
			mg->cheap[op->results[0]->id] = is_cheap(mg, op);
	}
	return any;
}

/* ---- uses ------------------------------------------------------------------------- */

/* The value in a block of the same, or of branches and loops inside it. */
static Value *
bring_in(Value *v, Block *b)
{
	Op *op = b->parent;
	Value *outer, *param = NULL;

	if (v->block == b)
		return v;
	outer = bring_in(v, op->block);
	for (int i = 0; i < b->nparams; i++)
		if (op->operands[op_is_branch(op) + i] == outer
			&& (op_is_branch(op) || loop_hands_on(op, i)))
			return b->params[i];
	if (op_is_loop(op))
		return carry(op, outer, b);
	op_add_operand(op, outer);
	for (int i = 0; i < op->nbodies; i++) {
		Value *inner = block_add_param(op->bodies[i], outer->name, &outer->type);
		inner->placement = outer->placement;
		inner->range = outer->range;
		inner->unpadded = outer->unpadded;
		if (op->bodies[i] == b)
			param = inner;
	}
	return param;
}

/* What stands for the value from now on, or the value. */
static Value *
stand_in(const Merger *mg, Value *v)
{
	if (v->id < 0) /* carried for others */
		return v;
	Value *first = mg->first[v->id];
	bool stays = !v->def || !block_hands_to(first->block, v->block) || mg->cheap[v->id]
		|| mg->own[first->id];

	return stays ? v : first;
}

/* Whether there are uses of values for which others stand; of the entry's results
   each is a value of its own. */
static bool
replace_uses(Merger *mg, bool really)
{
	Block *entry = mg->module->entry;
	bool any = false;

	for (Op *op = entry->first; op != entry->last; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++) {
			Value *v = stand_in(mg, op->operands[i]);
			any |= v != op->operands[i];
			if (!really || v == op->operands[i])
				continue;
			if (op_is_move(v->def) && op->operands[i]->def->requested)
				v->def->requested = true;
			op->operands[i] = bring_in(v, op->block);
		}
	return any;
}

/* ---- what goes ---------------------------------------------------------------------- */

static void
note_needed(Merger *mg)
{
	module_find_needed(mg->module);
	for (int i = 0; i < mg->module->nvalues; i++)
		mg->needed[i] = mg->values[i]->uses > 0;
}

/* Users first: what nobody needs as it was before stays, with all that it uses. */
static void
remove_unneeded(const Merger *mg, Block *b)
{
	for (Op *op = b->last, *previous; op; op = previous) {
		bool stays = !op->nresults || !is_needed(mg, op);
		previous = op->prev;
		for (int i = 0; i < op->nresults; i++)
			stays |= op->results[i]->uses > 0;
		if (!stays)
			op_remove(op);
		for (int i = 0; i < op->noperands && stays; i++)
			op->operands[i]->uses++;
		for (int i = 0; i < op->nbodies && stays; i++)
			remove_unneeded(mg, op->bodies[i]);
	}
}

/* Of equal values one that is still there, by the first's id. */
static Value **
find_left(const Merger *mg)
{
	const Module *m = mg->module;
	Value **left = NEW_ARRAY(mg->arena, Value *, m->nvalues + 1);

	for (int i = 0; i < m->nvalues; i++) {
		Value **of = &left[mg->first[i]->id];
		if (!*of && mg->needed[i] && !value_is_gone(mg->values[i]))
			*of = mg->values[i];
	}
	return left;
}

/* What stays takes the names of what goes; its own is that of the user if he gave
   it one, to whichever of them. */
static void
move_names(const Merger *mg)
{
	Module *m = mg->module;
	Value **left = find_left(mg);
	bool *named = NEW_ARRAY(mg->arena, bool, m->nvalues + 1);

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			named[m->named[i].value->id] = true;
	for (int i = 0; i < m->nnamed; i++) {
		Value *old = m->named[i].value;
		if (!old || !value_is_gone(old))
			continue;
		Value *v = left[mg->first[old->id]->id];
		m->named[i].value = v;
		if (v && !named[v->id]) {
			value_take_name(v, old);
			named[v->id] = true;
		}
	}
	for (int i = 0; i < m->nexpects; i++)
		if (value_is_gone(m->expects[i].value))
			m->expects[i].value = left[mg->first[m->expects[i].value->id]->id];
}

/* ---- the pass ----------------------------------------------------------------------- */

/* What is equal is numbered. */
static void
begin(Merger *mg, Module *m, bool once)
{
	bool resharded = m->level == L_resharded;

	module_number(m);
	*mg = (Merger){.module = m, .arena = arena_new(), .once = once};
	mg->seen = lookup_new(mg->arena);
	mg->inside = NEW_ARRAY(mg->arena, Inside, m->nops + 1);
	mg->values = module_values(m, mg->arena);
	mg->first = arena_copy(mg->arena, mg->values,
		sizeof *mg->values * (size_t)(m->nvalues + 1));
	mg->needed = NEW_ARRAY(mg->arena, bool, m->nvalues + 1);
	mg->cheap = NEW_ARRAY(mg->arena, bool, m->nvalues + 1);
	mg->own = NEW_ARRAY(mg->arena, bool, m->nvalues + 1);
	if (resharded)
		mg->resharder = module_precedents(m)->resharder;
	note_needed(mg);
	mg->equal = number_block(mg, m->entry);
	if (mg->equal && !resharded)
		find_own_ways(mg);
}

/* Of all that others stand for: without that a device might need so much less, at most. */
static void
count_shared(Merger *mg)
{
	Module *m = mg->module;

	for (int i = 0; i < m->nvalues; i++) {
		Value *v = mg->values[i];
		if (mg->needed[i] && stand_in(mg, v) != v)
			m->shared += shard_bytes(v);
	}
}

static void
take_firsts(Merger *mg)
{
	replace_uses(mg, true);
	module_find_needed(mg->module);
	remove_unneeded(mg, mg->module->entry);
	move_names(mg);
}

bool
merge(Module *m, ChooseSharing *decide)
{
	bool resharded = m->level == L_resharded, far = resharded && gather_apart(m, false);
	Merger mg;

	begin(&mg, m, false);
	bool merges = mg.equal && replace_uses(&mg, false);
	bool rows = resharded && share_rows(&mg, false);
	if (merges)
		count_shared(&mg);
	if (rows)
		m->shared = INFINITY;
	Sharing sharing = merges || rows || far ? decide(m) : SHARE_all;
	merges &= sharing != SHARE_none;
	rows &= sharing != SHARE_none;
	if (merges)
		take_firsts(&mg);
	if (rows)
		share_rows(&mg, true);
	arena_free(mg.arena);
	far = resharded && sharing != SHARE_all && gather_apart(m, true);
	return merges || rows || far;
}

bool
merge_sums(Module *m, bool really)
{
	Merger mg;

	begin(&mg, m, true);
	bool merges = mg.equal && m->sharing != SHARE_none && replace_uses(&mg, false);
	if (merges && really) {
		count_shared(&mg);
		take_firsts(&mg);
	}
	arena_free(mg.arena);
	return merges;
}
