/*
 * dead.c - removing what nobody needs: ops, and what goes in and out of bodies
 * for nothing.
 *
 *   i, n, x' = while(i, n, x)           only i is returned: x goes, with all
 *     condition: i < n                  that it is made of
 *     body:      i + 1, n, sqrt(x)
 *
 * From what the program returns the way back is followed through ops and flows;
 * what was not met goes. `uses` is the mark.
 */
#include "ir/flow.h"

/* ---- what is needed ------------------------------------------------- */

typedef struct Needs {
	Arena *arena;
	Value **values; /* each once, in the order they were found */
	int n;
} Needs;

static void
need(Needs *n, Value *v)
{
	if (!v->uses++)
		APPEND(n->arena, n->values, n->n, v);
}

static void
need_operands(Needs *n, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		need(n, op->operands[i]);
}

/* The user may ask for the placement of what has a name: it is needed, and so
   are the ops in whose bodies it is. */
static void
need_named(Needs *n, Value *v)
{
	need(n, v);
	for (const Block *b = v->block; b && b->parent; b = b->parent->block)
		if (b->parent->nresults)
			need(n, b->parent->results[0]);
}

/* May what goes into its bodies and comes out of them become less?  A function has what
   it was declared with, and names in a loop may be asked for, as long as the program is
   as written; a fusion reads whatever it has. */
static bool
may_shrink(const Op *op)
{
	return op_is_branch(op)
		|| (op->nbodies && !op_is_fusion(op) && op->module->level > L_global);
}

/* ---- what goes ------------------------------------------------------ */

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
		if (keep[i - first] && op->operand_ranges)
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

/* Of a manual region: those of its copies stay as they are. */
static void
drop_specs(Op *op, const bool *params, const bool *results)
{
	int n = op->noperands + op->nresults, kept = 0;
	Placement *specs = NEW_ARRAY(op->module->arena, Placement, n + 1);

	for (int i = 0; i < n; i++)
		if (i < op->noperands ? params[i] : results[i - op->noperands])
			specs[kept++] = op->specs[i];
	op->specs = specs;
}

static bool
a_body_needs(const Op *op, int param)
{
	bool needed = false;

	for (int b = 0; b < op->nbodies; b++)
		needed |= op->bodies[b]->params[param]->uses > 0;
	return needed;
}

/* Results that nobody wants, and operands that no body looks at; what a loop
   carries is both. */
static bool
shrink(Op *op)
{
	bool loop = op_is_loop(op);
	int nresults = op->nresults, nparams = op->bodies[0]->nparams;
	bool *results = NEW_ARRAY(op->module->arena, bool, nresults + nparams + 1);
	bool *params = results + nresults;

	for (int i = 0; i < nresults; i++)
		results[i] = op->results[i]->uses || (loop && a_body_needs(op, i));
	for (int i = 0; i < nparams; i++)
		params[i] = loop ? results[i] : a_body_needs(op, i);
	if (op->specs)
		drop_specs(op, params, results);
	for (int b = loop ? LOOP_BODY : 0; b < op->nbodies; b++)
		drop_operands(op->bodies[b]->last, 0, results);
	op->nresults = drop_defined(op->results, nresults, results);
	drop_operands(op, op->noperands - nparams, params);
	for (int b = 0; b < op->nbodies; b++)
		op->bodies[b]->nparams = drop_defined(op->bodies[b]->params, nparams, params);
	return op->nresults + op->bodies[0]->nparams < nresults + nparams;
}

static bool
remove_dead_in(Block *b)
{
	bool changed = false;

	for (Op *op = b->first, *next; op; op = next) {
		bool needed = op->kind == O_return;
		next = op->next;
		for (int i = 0; i < op->nresults; i++)
			needed |= op->results[i]->uses > 0;
		if (!needed) {
			op_remove(op);
			changed = true;
			continue;
		}
		if (may_shrink(op))
			changed |= shrink(op);
		for (int i = 0; i < op->nbodies; i++)
			changed |= remove_dead_in(op->bodies[i]);
	}
	return changed;
}

bool
value_is_gone(const Value *v)
{
	const Block *b = v->block;

	while (b && b->parent)
		b = b->parent->block;
	return !b;
}

/* What it is made of; of what a loop carries, this round or one before. */
static void
need_sources(Needs *n, const Value *v)
{
	const Op *op = v->def ? v->def : v->block->parent;

	if (op && may_shrink(op)) {
		for (Flow f = {.to = (Value *)v}; flow_next_to(&f);)
			need(n, f.from);
		if (op_decision(op))
			need(n, op_decision(op));
	} else if (v->def) {
		need_operands(n, op);
		for (int b = 0; b < op->nbodies; b++)
			need_operands(n, op->bodies[b]->last);
	}
}

void
module_find_needed(Module *m)
{
	Needs n = {.arena = m->arena};

	module_clear_uses(m);
	need_operands(&n, m->entry->last);
	for (int i = 0; i < m->nnamed && m->level == L_global; i++)
		if (m->named[i].value)
			need_named(&n, m->named[i].value);
	for (int i = 0; i < m->nexpects && m->level == L_global; i++)
		need_named(&n, m->expects[i].value);
	for (int i = 0; i < n.n; i++)
		need_sources(&n, n.values[i]);
}

void
module_replace_named(Module *m, Value *const *now)
{
	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (v && v->id >= 0 && now[v->id])
			m->named[i].value = now[v->id];
	}
	for (int i = 0; i < m->nexpects; i++) {
		const Value *v = m->expects[i].value;
		if (v->id >= 0 && now[v->id])
			m->expects[i].value = now[v->id];
	}
}

static Value *
last_of(Value *const *now, Value *v)
{
	while (v && v->id >= 0 && now[v->id])
		v = now[v->id];
	return v;
}

void
module_forget_gone(Module *m)
{
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value && value_is_gone(m->named[i].value))
			m->named[i].value = NULL;
}

void
module_replace(Module *m, Value **now)
{
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = last_of(now, op->operands[i]);
	for (int i = 0; i < m->nresults; i++)
		m->results[i].value = last_of(now, m->results[i].value);
	for (int i = 0; i < m->nvalues; i++)
		now[i] = last_of(now, now[i]);
	module_replace_named(m, now);
	module_forget_gone(m);
}

bool
module_remove_dead(Module *m)
{
	int kept = 0;

	module_find_needed(m);
	bool changed = remove_dead_in(m->entry);
	module_forget_gone(m);
	for (int i = 0; i < m->nexpects; i++)
		if (!value_is_gone(m->expects[i].value))
			m->expects[kept++] = m->expects[i];
	m->nexpects = kept;
	return changed;
}
