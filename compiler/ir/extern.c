/*
 * extern.c - the rules of extern functions, and which functions a module has.
 *
 *   "bd,df->bf"   a letter of operands and results may be split freely; one
 *                 of operands alone is summed over: parts make partial sums
 *   "b_->b_"      dims `_` are whole on each device
 */
#include <ctype.h>
#include <string.h>
#include "ir/ir.h"

char
extern_rule_letter(int letter)
{
	return (char)(letter < 26 ? 'a' + letter : 'A' + letter - 26);
}

static bool
has_letter(const ExternTerm *term, int letter)
{
	for (int d = 0; d < term->rank; d++)
		if (term->letters[d] == letter)
			return true;
	return false;
}

/* Letters and `_` up to the end of the term. */
static const char *
parse_term(Arena *a, const char *text, int *at, ExternTerm *term)
{
	for (; text[*at] && text[*at] != ',' && text[*at] != '-'; ++*at) {
		char c = text[*at];
		bool whole = c == '_';
		if (c == ' ')
			continue;
		if (!whole && !(isascii(c) && isalpha((unsigned char)c)))
			return arena_printf(a,
				"a dim of a rule is a letter, or "
				"_ where it stays whole");
		int letter = whole ? WHOLE_DIM : c >= 'a' ? c - 'a' : 26 + c - 'A';
		if (!whole && has_letter(term, letter))
			return arena_printf(a,
				"'%c' names two dims of one "
				"tensor; an axis can split only one of them",
				c);
		if (term->rank == MAX_RANK)
			return arena_printf(a, "a tensor of more than %d dims", MAX_RANK);
		term->letters[term->rank++] = (int8_t)letter;
	}
	return NULL;
}

bool
extern_rule_sums(const ExternRule *rule, int letter)
{
	for (int t = rule->noperands; t < rule->nterms; t++)
		if (has_letter(&rule->terms[t], letter))
			return false;
	return true;
}

const char *
extern_rule_parse(Arena *a, const char *text, ExternRule *rule, int *at)
{
	static const char form[] = "a rule is the dims of the operands, ->, and "
				   "those of the results: \"bd,df->bf\"";

	*rule = (ExternRule){.noperands = -1};
	*at = 0;
	for (;;) {
		ExternTerm term = {0};
		const char *wrong = parse_term(a, text, at, &term);
		if (wrong)
			return wrong;
		APPEND(a, rule->terms, rule->nterms, term);
		if (!text[*at])
			break;
		if (text[*at] == '-' && (text[*at + 1] != '>' || rule->noperands >= 0))
			return form;
		if (text[*at] == '-') {
			rule->noperands = rule->nterms;
			++*at;
		}
		++*at;
	}
	if (rule->noperands < 0)
		return form;
	/* of a letter that one result has and another lacks, parts of the one would be
	   sums for the other */
	for (int t = rule->noperands + 1; t < rule->nterms; t++)
		for (int letter = 0; letter < RULE_LETTERS; letter++)
			if (has_letter(&rule->terms[t - 1], letter)
				!= has_letter(&rule->terms[t], letter))
				return arena_printf(a,
					"'%c' is in one result and not in another; write _ "
					"if it stays whole",
					extern_rule_letter(letter));
	return NULL;
}

/* ---- the functions of a module ----------------------------------------- */

bool
external_equal(const Module *m, const External *a, const External *b)
{
	return !strcmp(a->symbol, b->symbol) && !strcmp(a->library, b->library)
		&& !strcmp(source_path(m->session, a->declared.file),
			source_path(m->session, b->declared.file));
}

static void
add_externs(const Module *m, Externs *found)
{
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		int i = 0;
		if (!op->external)
			continue;
		while (i < found->n && !external_equal(m, found->v[i], op->external))
			i++;
		if (i == found->n)
			APPEND(m->arena, found->v, found->n, op->external);
	}
}

Externs
module_externs(Module *m)
{
	Externs found = {0};

	add_externs(m, &found);
	if (m->reference)
		add_externs(m->reference, &found);
	return found;
}
