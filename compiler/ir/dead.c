/*
 * dead.c - removing what nobody uses: ops, and what goes in and out of bodies
 * for nothing.
 *
 * Last op first, so that one walk also takes what only dead ops used.
 */
#include "ir/ir.h"

/* ---- uses ----------------------------------------------------------- */

/* A use of the value, and of the ops in whose bodies it is. */
static void
count_use(Value *v)
{
	v->uses++;
	for (const Block *b = v->block; b && b->parent; b = b->parent->block)
		if (b->parent->nresults)
			b->parent->results[0]->uses++;
}

/* The user may ask for the placement of what has a name. */
static void
count_named(Module *m)
{
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			count_use(m->named[i].value);
	for (int i = 0; i < m->nexpects; i++)
		count_use(m->expects[i].value);
}

static void
drop_uses(Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		op->operands[i]->uses--;
	for (int i = 0; i < op->nbodies; i++)
		for (Op *inner = op->bodies[i]->first; inner; inner = inner->next)
			drop_uses(inner);
}

static bool
op_is_dead(const Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		if (op->results[i]->uses)
			return false;
	return op->kind != O_return;
}

/* ---- bodies --------------------------------------------------------- */

/* What of a body is needed: each value once, in the order it was found. */
typedef struct Needs {
	const Op *loop;
	Table *values;
	bool *live; /* by carried value */
} Needs;

static void
need(Needs *n, Value *v)
{
	table_add(n->values, v->name, v);
}

static void
need_carried(Needs *n, int i)
{
	n->live[i] = true;
	need(n, n->loop->bodies[1]->last->operands[i]);
}

/* What it is made of, this round or one before. */
static void
need_sources(Needs *n, const Value *v)
{
	for (int i = 0; v->def && i < v->def->noperands; i++)
		need(n, v->def->operands[i]);
	if (!v->def)
		need_carried(n, v->index);
}

/* Which carried values matter (from L_sharded on: before that, names in the
   body may be asked for): results that are used, what the condition looks
   at, and what these are made of, this round or a later one. */
static bool *
live_carried(const Op *loop)
{
	Arena *a = loop->module->arena;
	Needs n = {loop, table_new(a), NEW_ARRAY(a, bool, loop->nresults + 1)};

	for (int i = 0; i < loop->nresults; i++)
		if (loop->results[i]->uses || loop->bodies[0]->params[i]->uses)
			need_carried(&n, i);
	for (int i = 0; i < table_count(n.values); i++)
		need_sources(&n, table_value(n.values, i));
	return n.live;
}

/* Values [i + first] for which keep[i] is false leave the array. */
static int
drop_values(Value **values, int n, int first, const bool *keep)
{
	int kept = first;

	for (int i = first; i < n; i++)
		if (keep[i - first])
			values[kept++] = values[i];
	return kept;
}

static void
drop_operands(Op *op, int first, const bool *keep)
{
	int kept = first;

	for (int i = first; i < op->noperands; i++)
		if (!keep[i - first])
			op->operands[i]->uses--;
		else if (op->operand_ranges)
			op->operand_ranges[kept++] = op->operand_ranges[i];
	op->noperands = drop_values(op->operands, op->noperands, first, keep);
}

/* The same of results or parameters, which know their places. */
static int
drop_defined(Value **values, int n, const bool *keep)
{
	for (int i = 0; i < n; i++)
		if (!keep[i])
			values[i]->block = NULL;
	int kept = drop_values(values, n, 0, keep);
	for (int i = 0; i < kept; i++)
		values[i]->index = i;
	return kept;
}

static bool
all_true(const bool *keep, int n)
{
	for (int i = 0; i < n; i++)
		if (!keep[i])
			return false;
	return true;
}

static void
drop_params(Op *op, const bool *keep)
{
	for (int b = 0; b < op->nbodies; b++)
		op->bodies[b]->nparams =
			drop_defined(op->bodies[b]->params, op->bodies[b]->nparams, keep);
}

static bool remove_dead_in(Block *b);

static bool
remove_dead_while(Op *op)
{
	bool changed = remove_dead_in(op->bodies[0]);
	const bool *keep = live_carried(op);

	if (op->module->level > L_global && !all_true(keep, op->nresults)) {
		changed = true;
		drop_operands(op->bodies[1]->last, 0, keep);
		drop_operands(op, 0, keep);
		drop_params(op, keep);
		op->nresults = drop_defined(op->results, op->nresults, keep);
	}
	return remove_dead_in(op->bodies[1]) || changed;
}

/* Results that nobody wants, then operands that no branch looks at. */
static bool
remove_dead_if(Op *op)
{
	int n = op->nresults > op->noperands ? op->nresults : op->noperands;
	bool *keep = NEW_ARRAY(op->module->arena, bool, n + 1);
	int before = op->nresults + op->noperands;
	bool changed = false;

	for (int i = 0; i < op->nresults; i++)
		keep[i] = op->results[i]->uses;
	for (int b = 0; b < 2; b++)
		drop_operands(op->bodies[b]->last, 0, keep);
	op->nresults = drop_defined(op->results, op->nresults, keep);
	for (int b = 0; b < 2; b++)
		changed |= remove_dead_in(op->bodies[b]);
	for (int i = 0; i < op->noperands - 1; i++)
		keep[i] = op->bodies[0]->params[i]->uses || op->bodies[1]->params[i]->uses;
	drop_operands(op, 1, keep);
	drop_params(op, keep);
	return changed || op->nresults + op->noperands != before;
}

static bool
remove_dead_bodies(Op *op)
{
	bool changed = false;

	if (op->kind == O_while)
		return remove_dead_while(op);
	if (op->kind == O_if)
		return remove_dead_if(op);
	for (int i = 0; i < op->nbodies; i++)
		changed |= remove_dead_in(op->bodies[i]);
	return changed;
}

/* ---- ops ------------------------------------------------------------ */

static bool
remove_dead_in(Block *b)
{
	bool changed = false;

	for (Op *op = b->last, *prev; op; op = prev) {
		prev = op->prev;
		if (op_is_dead(op)) {
			drop_uses(op);
			op_remove(op);
			changed = true;
		} else {
			changed |= remove_dead_bodies(op);
		}
	}
	return changed;
}

/* Its op was removed, or an op in whose body it is. */
static bool
is_gone(const Value *v)
{
	const Block *b = v->block;

	while (b && b->parent)
		b = b->parent->block;
	return !b;
}

static void
forget_removed(Module *m)
{
	int kept = 0;

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value && is_gone(m->named[i].value))
			m->named[i].value = NULL;
	for (int i = 0; i < m->nexpects; i++)
		if (!is_gone(m->expects[i].value))
			m->expects[kept++] = m->expects[i];
	m->nexpects = kept;
}

bool
module_remove_dead(Module *m)
{
	module_count_uses(m);
	if (m->level == L_global)
		count_named(m);
	bool changed = remove_dead_in(m->entry);
	if (changed)
		forget_removed(m);
	return changed;
}
