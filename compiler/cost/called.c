/*
 * called.c - what remarks call a value that moves.
 */
#include <string.h>
#include "cost/called.h"
#include "ir/flow.h"

const char **
user_names(const Module *m, Arena *a, Table *called)
{
	const char **names = NEW_ARRAY(a, const char *, m->nvalues + 1);

	for (int i = 0; i < m->nnamed + m->nresults; i++) {
		const Named *named = i < m->nnamed ? &m->named[i] : &m->results[i - m->nnamed];
		const Value *v =
			i < m->nnamed ? named->value : m->entry->last->operands[i - m->nnamed];
		if (v && !names[v->id]) {
			names[v->id] = named->name;
			if (called)
				table_set(called, v->name, (void *)named->name);
		}
	}
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op->kind == O_done && !names[op->operands[0]->id])
			names[op->operands[0]->id] = names[op->results[0]->id];
	return names;
}

/* It has other elements of its operand, or the same ones elsewhere. */
static bool
takes_elements(const Op *op)
{
	return op_renames(op) || op_takes_part(op) || op->kind == O_transpose;
}

/* The words of the language that say where something goes, or which part, and not what. */
static bool
says_nothing(const char *label)
{
	static const char *const words[] = {"let", "var", "[]", "return", ""};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!label || !strcmp(label, words[i]))
			return true;
	return false;
}

/* The operand of a fusion of which it takes elements; of one that computes NULL. */
static const Value *
part_taken(const Op *fusion)
{
	const Value *v = fusion->bodies[0]->last->operands[0];

	while (v->def && takes_elements(v->def))
		v = v->def->operands[0];
	if (!v->def)
		return fusion->operands[v->index];
	/* or puts parts together, the last behind what is there */
	for (int i = fusion->noperands - 1; i >= 0 && says_nothing(fusion->label); i--)
		if (fusion->operands[i]->type.rank)
			return fusion->operands[i];
	return NULL;
}

/* What its elements are of; NULL: it computes them, or there is no op. */
static const Value *
moved_from(const Op *op)
{
	if (op && op_is_fusion(op))
		return op->nresults == 1 ? part_taken(op) : NULL;
	bool moves = op && (takes_elements(op) || op_communicates(op) || op->kind == O_done);
	return moves ? op->operands[0] : NULL;
}

/* A part of what is done in pieces has the name of the whole. */
static const char *
name_of_whole(const Op *op, const char *const *names, const Module *m)
{
	for (int i = 0; op->of && i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (v && names[v->id] && !strcmp(v->name, op->of))
			return names[v->id];
	}
	return NULL;
}

const char *
called(const Op *collective, const char *const *names, Arena *a)
{
	const Value *v = collective->operands[0], *from = v;
	const char *name = NULL;
	Text t = {0};

	if (!says_nothing(collective->label))
		return collective->label;
	while (!name && from) {
		v = value_around(from);
		name = names[v->id];
		from = moved_from(v->def);
	}
	if (!name && collective->nresults)
		name = names[collective->results[0]->id];
	if (!name)
		name = name_of_whole(collective, names, collective->module);
	if (name || !v->def)
		return name ? name : v->name;
	text_add(&t, says_nothing(v->def->label) ? ops[v->def->kind].name : v->def->label);
	text_line(&t, collective->module, " (", v->def->range, ")");
	return text_take(&t, a);
}
