/*
 * facts_read.c - facts: the strings of frontend_attributes, key by key.
 */
#include <string.h>
#include "hlo/read.h"

static void
read_fact(Cursor *c, Facts *facts)
{
	Fact f = {.key = cursor_word(c, "a key"), .value = ""};

	if (!cursor_expect(c, "="))
		return;
	cursor_at_end(c);
	f.where = cursor_range(c);
	if (cursor_accept(c, "{"))
		cursor_expect(c, "}");
	else
		f.value = cursor_string(c, &f.length);
	f.where.end = c->pos;
	APPEND(c->r->arena, facts->a, facts->n, f);
}

Facts
facts_of(const HloAttrs *attrs)
{
	const HloAttr *attr = hlo_attr(attrs, "frontend_attributes");
	Facts facts = {0};

	if (!attr)
		return facts;
	Cursor c = attr->value;
	if (!cursor_expect(&c, "{") || cursor_accept(&c, "}"))
		return facts;
	do
		read_fact(&c, &facts);
	while (cursor_accept(&c, ","));
	cursor_expect(&c, "}");
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

bool
fact_is(const Facts *facts, const char *key, const char *value)
{
	const Fact *f = find_fact(facts, key);

	return f && !strcmp(f->value, value);
}

Cursor
fact_cursor(Builder *b, const Fact *f)
{
	return cursor_of_text(b->r, f->value, f->length, f->where);
}
