/*
 * extern.c - the rules of extern functions, and which functions a module has.
 *
 *   "bd,df->bf"   a letter of operands and results may be split freely; one
 *                 of operands alone is summed over: parts make partial sums
 *   "b_->b_"      dims `_` are whole on each device
 *
 * Of an op that is nobody's, a rule may say more, as Shardy's do: the sizes of letters,
 * so that a dim is made of several, and what becomes of those that are not just passed on.
 *
 *   "(ab)c,cd->abd {a=4,b=8,c=16,d=64} reduction={c} permutation={d}"
 */
#include <ctype.h>
#include <string.h>
#include "ir/ir.h"
#include "ir/rules.h"

const char *const extern_kind_names[EXTERN_KINDS] = {"pass", "reduction", "permutation",
	"need_replication"};

char
extern_rule_letter(int letter)
{
	return (char)(letter < 26 ? 'a' + letter : 'A' + letter - 26);
}

/* -1: it is none */
static int
letter_number(char c)
{
	if (!isascii(c) || !isalpha((unsigned char)c))
		return -1;
	return c >= 'a' ? c - 'a' : 26 + c - 'A';
}

static bool
has_letter(const ExternTerm *term, int letter)
{
	for (int d = 0; d < term->rank; d++)
		for (int i = 0; i < term->dims[d].n; i++)
			if (term->dims[d].letters[i] == letter)
				return true;
	return false;
}

static bool
terms_have(const ExternRule *rule, int first, int end, int letter)
{
	for (int t = first; t < end; t++)
		if (has_letter(&rule->terms[t], letter))
			return true;
	return false;
}

/* ---- reading ------------------------------------------------------------ */

typedef struct RuleText {
	Arena *arena;
	const char *text;
	int *at;
} RuleText;

static char
peek(const RuleText *text)
{
	while (text->text[*text->at] == ' ')
		++*text->at;
	return text->text[*text->at];
}

static bool
accept(const RuleText *text, const char *word)
{
	peek(text);
	if (strncmp(text->text + *text->at, word, strlen(word)) != 0)
		return false;
	*text->at += (int)strlen(word);
	return true;
}

static const char *
parse_letter(const RuleText *text, ExternTerm *term, ExternDim *dim)
{
	char c = peek(text);
	int letter = letter_number(c);

	if (letter < 0)
		return arena_printf(text->arena,
			"a dim of a rule is a letter, or _ where it stays whole");
	if (has_letter(term, letter))
		return arena_printf(text->arena,
			"'%c' names two dims of one tensor; an axis can split only one of them",
			c);
	if (dim->n == MAX_RANK)
		return arena_printf(text->arena, "a dim of more than %d letters", MAX_RANK);
	dim->letters[dim->n++] = (int8_t)letter;
	++*text->at;
	return NULL;
}

/* Letters, `(ab)` and `_` up to the end of the term. */
static const char *
parse_term(const RuleText *text, ExternTerm *term)
{
	const char *wrong = NULL;

	for (char c; (c = peek(text)) && c != ',' && c != '-' && c != '{';) {
		if (term->rank == MAX_RANK)
			return arena_printf(text->arena, "a tensor of more than %d dims",
				MAX_RANK);
		ExternDim *dim = &term->dims[term->rank++];
		if (accept(text, "_"))
			continue;
		bool several = accept(text, "(");
		do
			wrong = parse_letter(text, term, dim);
		while (!wrong && several && !accept(text, ")"));
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *
parse_terms(const RuleText *text, ExternRule *rule)
{
	static const char form[] = "a rule is the dims of the operands, ->, and "
				   "those of the results: \"bd,df->bf\"";

	rule->noperands = -1;
	for (;;) {
		ExternTerm term = {0};
		const char *wrong = parse_term(text, &term);
		if (wrong)
			return wrong;
		APPEND(text->arena, rule->terms, rule->nterms, term);
		char c = peek(text);
		if (!c || c == '{')
			break;
		if (c == '-' && (text->text[*text->at + 1] != '>' || rule->noperands >= 0))
			return form;
		if (c == '-') {
			rule->noperands = rule->nterms;
			++*text->at;
		}
		++*text->at;
	}
	return rule->noperands < 0 ? form : NULL;
}

/* {a=4,b=8}, or {a,b}: of each letter take() hears the number, or 1. */
static bool
parse_letters(const RuleText *text, ExternRule *rule,
	void (*take)(ExternRule *rule, int letter, int64_t n, int kind), int kind)
{
	if (!accept(text, "{"))
		return false;
	while (!accept(text, "}")) {
		int letter = letter_number(peek(text)), digits = 0;
		int64_t n = 1;
		if (letter < 0)
			return false;
		++*text->at;
		if (accept(text, "=")) {
			for (n = 0; isdigit((unsigned char)peek(text)) && digits++ < 18;
				++*text->at)
				n = 10 * n + text->text[*text->at] - '0';
			if (n < 1)
				return false;
		}
		take(rule, letter, n, kind);
		if (peek(text) != '}' && !accept(text, ","))
			return false;
	}
	return true;
}

static void
take_size(ExternRule *rule, int letter, int64_t n, int kind)
{
	(void)kind;
	rule->sizes[letter] = n;
}

/* A letter that is summed is of operands alone: where a result has it, it stays whole. */
static void
take_kind(ExternRule *rule, int letter, int64_t n, int kind)
{
	(void)n;
	if (kind == EXTERN_KINDS)
		rule->blocked |= 1ull << letter;
	else if (kind == EXTERN_reduction
		&& terms_have(rule, rule->noperands, rule->nterms, letter))
		rule->kinds[letter] = EXTERN_need_replication;
	else
		rule->kinds[letter] = (uint8_t)kind;
}

static const char *
parse_facts(const RuleText *text, ExternRule *rule)
{
	static const char form[] =
		"behind its tensors a rule has sizes, {a=4,b=8}, and perhaps "
		"reduction={a}, permutation={a}, need_replication={a} or "
		"blocked_propagation={a}";

	rule->sized = true;
	if (!parse_letters(text, rule, take_size, 0))
		return form;
	while (peek(text)) {
		int kind = EXTERN_reduction;
		while (kind < EXTERN_KINDS && !accept(text, extern_kind_names[kind]))
			kind++;
		if (kind == EXTERN_KINDS && !accept(text, "blocked_propagation"))
			return form;
		if (!accept(text, "=") || !parse_letters(text, rule, take_kind, kind))
			return form;
	}
	for (int letter = 0; letter < RULE_LETTERS; letter++)
		if (!rule->sizes[letter] && terms_have(rule, 0, rule->nterms, letter))
			return arena_printf(text->arena, "'%c' has no size",
				extern_rule_letter(letter));
	return NULL;
}

/* Of a rule that says nothing of them. */
static const char *
infer_kinds(Arena *a, ExternRule *rule)
{
	for (int t = 0; t < rule->nterms; t++)
		for (int d = 0; d < rule->terms[t].rank; d++)
			if (rule->terms[t].dims[d].n > 1)
				return arena_printf(a,
					"a dim of a rule is a letter, or _ where "
					"it stays whole");
	/* of a letter that one result has and another lacks, parts of the one would be
	   sums for the other */
	for (int letter = 0; letter < RULE_LETTERS; letter++) {
		for (int t = rule->noperands + 1; t < rule->nterms; t++)
			if (has_letter(&rule->terms[t - 1], letter)
				!= has_letter(&rule->terms[t], letter))
				return arena_printf(a,
					"'%c' is in one result and not in another; write _ "
					"if it stays whole",
					extern_rule_letter(letter));
		if (!terms_have(rule, rule->noperands, rule->nterms, letter))
			rule->kinds[letter] = EXTERN_reduction;
	}
	return NULL;
}

const char *
extern_rule_parse(Arena *a, const char *text, ExternRule *rule, int *at)
{
	RuleText in = {a, text, at};

	*rule = (ExternRule){0};
	*at = 0;
	const char *wrong = parse_terms(&in, rule);
	if (wrong)
		return wrong;
	return peek(&in) ? parse_facts(&in, rule) : infer_kinds(a, rule);
}

/* ---- text --------------------------------------------------------------- */

static void
text_dim(Text *t, const ExternDim *dim)
{
	text_add(t, !dim->n ? "_" : dim->n > 1 ? "(" : "");
	for (int i = 0; i < dim->n; i++)
		text_printf(t, "%c", extern_rule_letter(dim->letters[i]));
	text_add(t, dim->n > 1 ? ")" : "");
}

static void
text_letters(Text *t, const char *name, uint64_t letters)
{
	const char *before = "";

	if (!letters)
		return;
	text_printf(t, " %s={", name);
	for (int letter = 0; letter < RULE_LETTERS; letter++)
		if (letters >> letter & 1) {
			text_printf(t, "%s%c", before, extern_rule_letter(letter));
			before = ",";
		}
	text_add(t, "}");
}

const char *
extern_rule_text(Arena *a, const ExternRule *rule)
{
	Text t = {0};
	const char *before = " {";

	for (int i = 0; i < rule->nterms; i++) {
		text_add(&t, i == rule->noperands ? "->" : i ? "," : "");
		for (int d = 0; d < rule->terms[i].rank; d++)
			text_dim(&t, &rule->terms[i].dims[d]);
	}
	if (!rule->sized)
		return text_take(&t, a);
	for (int letter = 0; letter < RULE_LETTERS; letter++)
		if (rule->sizes[letter]) {
			text_printf(&t, "%s%c=%lld", before, extern_rule_letter(letter),
				(long long)rule->sizes[letter]);
			before = ",";
		}
	text_add(&t, *before == ' ' ? " {}" : "}");
	for (int kind = EXTERN_reduction; kind < EXTERN_KINDS; kind++) {
		uint64_t letters = 0;
		for (int letter = 0; letter < RULE_LETTERS; letter++)
			letters |= (uint64_t)(rule->kinds[letter] == kind) << letter;
		text_letters(&t, extern_kind_names[kind], letters);
	}
	text_letters(&t, "blocked_propagation", rule->blocked);
	return text_take(&t, a);
}

/* ---- what it says to the passes ----------------------------------------- */

static FactorKind
extern_kind(const Op *op, int tensor, int letter)
{
	static const FactorKind kinds[] = {F_pass, F_reduce, F_permute, F_replicate};
	const ExternRule *rule = &op->external->parsed;
	bool made = tensor >= op->noperands && *op->external->library;

	return made ? F_replicate : kinds[rule->kinds[letter]];
}

/* Of each letter: the least of the dims that it makes alone, which may have been padded;
   where it is one of several, as the rule says. */
static void
extern_sizes(const Op *op, int64_t *sizes)
{
	const ExternRule *rule = &op->external->parsed;

	for (int t = 0; t < rule->nterms; t++)
		for (int d = 0; d < rule->terms[t].rank; d++) {
			const ExternDim *dim = &rule->terms[t].dims[d];
			int64_t size = rule_tensor(op, t)->type.dims[d];
			if (dim->n == 1 && size < sizes[dim->letters[0]])
				sizes[dim->letters[0]] = size;
		}
	for (int t = 0; t < rule->nterms; t++)
		for (int d = 0; d < rule->terms[t].rank; d++)
			for (int i = 0;
				rule->terms[t].dims[d].n > 1 && i < rule->terms[t].dims[d].n;
				i++) {
				int letter = rule->terms[t].dims[d].letters[i];
				sizes[letter] = rule->sizes[letter];
			}
}

/*
 * As the rule string says.  A letter of operands alone is summed; one of
 * results alone is made by the function, which cannot make a part of it; of an opaque
 * op, that is nobody's, the rule says that it can.
 */
void
rule_extern(Rule *r, const Op *op)
{
	const ExternRule *rule = &op->external->parsed;
	int factors[RULE_LETTERS];
	int64_t sizes[RULE_LETTERS];

	for (int i = 0; i < RULE_LETTERS; i++) {
		factors[i] = -1;
		sizes[i] = INT64_MAX;
	}
	extern_sizes(op, sizes);
	for (int t = 0; t < rule->nterms; t++)
		for (int d = 0; d < rule->terms[t].rank; d++) {
			const ExternDim *dim = &rule->terms[t].dims[d];
			if (!dim->n)
				rule_place(r, t, d,
					rule_factor(r, rule_tensor(op, t)->type.dims[d],
						F_replicate));
			for (int i = 0; i < dim->n; i++) {
				int letter = dim->letters[i];
				if (factors[letter] < 0)
					factors[letter] = rule_factor(r, sizes[letter],
						extern_kind(op, t, letter));
				r->factors[factors[letter]].blocked =
					rule->blocked >> letter & 1;
				rule_place(r, t, d, factors[letter]);
			}
		}
	r->combiner = C_add;
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
