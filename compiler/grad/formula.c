/*
 * formula.c - formulas, as text, become pointwise ops.
 *
 *   formula    sum [("==" | ">=" | ">") sum]
 *   sum        term {("+" | "-") term}
 *   term       factor {("*" | "/") factor}
 *   factor     number | name | name "(" formula {"," formula} ")"
 *              | "-" factor | "(" formula ")"
 *
 * A name with arguments is an op of ops.def.  Ops are made in the order of the text, the
 * same whoever compiles this.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "grad/adjoint.h"

typedef struct Reader {
	const Formula *f;
	const char *text, *at;
} Reader;

static Value *parse_formula(Reader *r);

static bool
accept(Reader *r, const char *what)
{
	r->at += strspn(r->at, " ");
	size_t n = strlen(what);
	if (strncmp(r->at, what, n) != 0)
		return false;
	r->at += n;
	return true;
}

static void
expect(Reader *r, const char *what)
{
	if (!accept(r, what))
		die("formula '%s': '%s' is wanted at '%s'", r->text, what, r->at);
}

static OpKind
op_named(const Reader *r, const char *name)
{
	for (int kind = 0; kind < OP_COUNT; kind++)
		if (ops[kind].pointwise && strcmp(ops[kind].name, name) == 0)
			return (OpKind)kind;
	die("formula '%s': there is no op %s", r->text, name);
}

static Value *
parse_call(Reader *r, const char *name)
{
	OpKind kind = op_named(r, name);
	Value *operands[3];
	int n = 0;

	do
		operands[n++] = parse_formula(r);
	while (n < ops[kind].operands && accept(r, ","));
	expect(r, ")");
	return make_op(r->f->k, kind, n, operands);
}

static Value *
parse_name(Reader *r)
{
	char name[16];
	size_t n = 0;

	while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
		n++;
	if (n == 0 || n >= sizeof name)
		die("formula '%s': a name is wanted at '%s'", r->text, r->at);
	memcpy(name, r->at, n);
	name[n] = '\0';
	r->at += n;
	return accept(r, "(") ? parse_call(r, name) : r->f->leaf(r->f->data, name);
}

static Value *
parse_factor(Reader *r)
{
	if (accept(r, "-"))
		return make_unary(r->f->k, O_neg, parse_factor(r));
	if (accept(r, "(")) {
		Value *v = parse_formula(r);
		expect(r, ")");
		return v;
	}
	if (!isdigit((unsigned char)*r->at))
		return parse_name(r);
	char *end;
	double number = strtod(r->at, &end);
	r->at = end;
	return make_number(r->f->k, r->f->type, number);
}

typedef struct Sign {
	const char *text;
	OpKind kind;
} Sign;

/* Parts with one of two signs between them, from left to right. */
static Value *
parse_chain(Reader *r, const Sign *signs, Value *(*parse_part)(Reader *r))
{
	Value *v = parse_part(r);

	for (;;) {
		int i = 0;
		while (i < 2 && !accept(r, signs[i].text))
			i++;
		if (i == 2)
			return v;
		Value *next = parse_part(r);
		v = make_binary(r->f->k, signs[i].kind, v, next);
	}
}

static Value *
parse_term(Reader *r)
{
	static const Sign signs[] = {{"/", O_div}, {"*", O_mul}};

	return parse_chain(r, signs, parse_factor);
}

static Value *
parse_sum(Reader *r)
{
	static const Sign signs[] = {{"-", O_sub}, {"+", O_add}};

	return parse_chain(r, signs, parse_term);
}

static Value *
parse_formula(Reader *r)
{
	static const struct {
		const char *sign;
		Direction direction;
	} signs[] = {{"==", DIR_EQ}, {">=", DIR_GE}, {">", DIR_GT}};
	Value *v = parse_sum(r);

	for (int i = 0; i < 3; i++)
		if (accept(r, signs[i].sign)) {
			Value *with = parse_sum(r);
			return make_compare(r->f->k, signs[i].direction, v, with);
		}
	return v;
}

Value *
formula_make(const Formula *f, const char *text)
{
	Reader r = {f, text, text};
	Value *v = parse_formula(&r);

	if (*r.at)
		die("formula '%s': nothing is wanted at '%s'", text, r.at);
	return v;
}
