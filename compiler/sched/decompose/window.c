/*
 * window.c - a part of a program, by itself.
 *
 *   layer 46  layer 47  layer 48  layer 49  layer 50        96 layers, of which all do alike
 *            [          is tried here       ]
 *
 * What is made before the window are its parameters, but for numbers that are known; what
 * nothing in it reads are its results.  Requires module_number().
 */
#include "sched/decompose/decompose.h"

typedef struct Window {
	Module *module;
	int from, to; /* ids of ops */
	Value **now;  /* by value id: of those from before */
	bool *read;   /* by value id */
} Window;

static bool
is_within(const Window *window, const Op *op)
{
	return op->id >= window->from && op->id < window->to;
}

/* Is it a number that each device makes of what it knows, not of its data? */
static bool
is_known(const Value *v)
{
	bool known =
		v->def && v->type.rank == 0 && !v->def->nbodies && !op_communicates(v->def);

	for (int i = 0; known && i < v->def->noperands; i++)
		known = is_known(v->def->operands[i]);
	return known || value_is_literal(v);
}

/* What stands for it in the window. */
static Value *
value_within(Window *window, Value *v, Op *first)
{
	const Op *def = v->def;

	if (window->now[v->id])
		return window->now[v->id];
	if (!is_known(v)) {
		Value *param = block_add_param(window->module->entry, v->name, &v->type);
		param->placement = v->placement;
		param->no_placement = v->no_placement;
		return window->now[v->id] = param;
	}
	Op *again = op_clone(def);
	for (int i = 0; i < again->noperands; i++)
		again->operands[i] = value_within(window, def->operands[i], first);
	op_insert_before(first, again);
	return window->now[v->id] = again->results[0];
}

/* What is read in it, and was made before it or around it. */
static void
replace_operands(Window *window, Op *first, const Op *end)
{
	const Block *entry = window->module->entry;

	for (Op *op = first; op != end; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++) {
			Value *v = op->operands[i];
			bool made = v->def
				? is_within(window, v->def)
				: v->block->parent && is_within(window, v->block->parent);
			if (!made)
				op->operands[i] = value_within(window, v, first);
			else
				window->read[v->id] = true;
		}
}

void
window_cut(Module *m, Op *first, Op *end)
{
	Arena *a = m->arena;
	Block *b = m->entry;
	Op *last = b->last, *before = first->prev;
	Window window = {m, first->id, end->id, NEW_ARRAY(a, Value *, m->nvalues + 1),
		NEW_ARRAY(a, bool, m->nvalues + 1)};

	while (last->noperands)
		last->operands[--last->noperands] = NULL;
	m->nresults = m->nnamed = m->nexpects = 0;
	b->nparams = 0;
	b->params = NULL;
	replace_operands(&window, first, end);
	for (const Op *op = first; op != end; op = op->next)
		for (int i = 0; i < op->nresults; i++)
			if (!window.read[op->results[i]->id])
				op_add_operand(last, op->results[i]);
	b->first = before ? before->next : b->first;
	b->first->prev = NULL;
	last->prev = end->prev;
	last->prev->next = last;
}
