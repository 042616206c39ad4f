/*
 * facts.c - what HLO has no word for: the strings of frontend_attributes.
 *
 *   frontend_attributes={axes="X,Y:(1)2",placement="[8@X, 64]"}
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

/* ---- printing -------------------------------------------------------- */

void
text_key(Text *t, const char *key, const char *value)
{
	text_printf(t, "%s=\"", key);
	for (const char *s = value; *s; s++) {
		unsigned char ch = (unsigned char)*s;
		if (ch == '"' || ch == '\\')
			text_printf(t, "\\%c", ch);
		else if (ch < ' ' || ch >= 0x7f)
			text_printf(t, "\\%03o", ch);
		else
			text_addn(t, s, 1);
	}
	text_add(t, "\"");
}

void
line_fact(Line *line, const char *key, const char *value)
{
	if (line->facts.n)
		text_add(&line->facts, ",");
	text_key(&line->facts, key, value);
}

void
line_fact_text(Line *line, const char *key, Text *value)
{
	line_fact(line, key, value->s ? value->s : "");
	text_free(value);
}

void
line_fact_numbers(Line *line, const char *key, int n, const int64_t *v)
{
	Text value = {0};

	text_numbers(&value, n, v, ",");
	line_fact_text(line, key, &value);
}

/* ---- reading --------------------------------------------------------- */

Facts
facts_of(const HloAttrs *attrs)
{
	const HloAttr *attr = hlo_attr(attrs, "frontend_attributes");
	Facts facts = {0};

	if (!attr)
		return facts;
	Cursor c = attr->value;
	cursor_expect(&c, "{");
	while (cursor_item(&c, facts.n, "}")) {
		Fact f = {.key = cursor_word(&c, "a key"), .value = ""};
		cursor_expect(&c, "=");
		cursor_at_end(&c);
		f.where = cursor_range(&c);
		if (cursor_accept(&c, "{")) /* composite.attributes={} */
			cursor_expect(&c, "}");
		else
			f.value = cursor_string(&c, &f.length);
		f.where.end = c.pos;
		APPEND(c.rd->arena, facts.a, facts.n, f);
	}
	return facts;
}

const Fact *
find_fact(const Facts *facts, const char *key)
{
	for (int i = 0; i < facts->n; i++)
		if (!strcmp(facts->a[i].key, key))
			return &facts->a[i];
	return NULL;
}

const char *
fact_value(const Facts *facts, const char *key)
{
	const Fact *f = find_fact(facts, key);

	return f ? f->value : NULL;
}

bool
fact_is(const Facts *facts, const char *key, const char *value)
{
	const char *found = fact_value(facts, key);

	return found && !strcmp(found, value);
}

Cursor
fact_cursor(Reading *rd, const Fact *f)
{
	return cursor_of_text(rd, f->value, f->length, f->where);
}

ReadLine
line_read(Reading *rd, const HloInstr *instr)
{
	return (ReadLine){rd, instr, facts_of(&instr->attrs)};
}

const Fact *
line_needs_fact(const ReadLine *in, const char *key)
{
	const Fact *f = find_fact(&in->facts, key);

	if (!f)
		line_error(in, "%s without the fact '%s'", in->instr->opcode, key);
	return f;
}

const HloAttr *
line_needs_attr(const ReadLine *in, const char *name)
{
	const HloAttr *attr = hlo_attr(&in->instr->attrs, name);

	if (!attr)
		line_error(in, "%s without %s", in->instr->opcode, name);
	return attr;
}
