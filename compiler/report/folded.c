/*
 * folded.c - JSON in which what equal things have in common is told once.
 */
#include "report/folded.h"

Folded
folded_new(Arena *a, const char *fields)
{
	return (Folded){.fields = fields, .arena = a, .sorts = table_new(a)};
}

void
folded_add(Folded *all, const char *sort, const char *own)
{
	int *number = table_get(all->sorts, sort);

	if (!number) {
		number = NEW(all->arena, int);
		*number = table_count(all->sorts);
		table_set(all->sorts, sort, number);
	}
	text_printf(&all->rows, "%s\n[%d, %s]", all->rows.n ? "," : "", *number, own);
}

void
text_folded(Text *t, Folded *all)
{
	text_printf(t, "{\"fields\": [%s], \"sorts\": [", all->fields);
	for (int i = 0; i < table_count(all->sorts); i++)
		text_printf(t, "%s\n{%s}", i ? "," : "", table_key(all->sorts, i));
	text_add(t, "],\n\"rows\": [");
	text_addn(t, all->rows.s, all->rows.n);
	text_add(t, "]}");
	text_free(&all->rows);
}
