/*
 * diag_print.c - a message as text with excerpts, or as a line of JSON.
 */
#include "diag.h"

static const struct {
	const char *name, *color;
} severities[] = {
	[SEV_error] = {"error", "\033[1;31m"},
	[SEV_warning] = {"warning", "\033[1;35m"},
	[SEV_remark] = {"remark", "\033[1;36m"},
};

void
print_text(const Session *s, const Message *message, Text *t)
{
	const DiagInfo *info = &diags[message->code];
	const char *bold = s->color ? "\033[1m" : "";
	const char *plain = s->color ? "\033[0m" : "";

	text_add(t, bold);
	add_place(s, t, message->marks[0].where);
	text_printf(t, "%s%s[%s]:%s%s ", s->color ? severities[info->severity].color : "",
		severities[info->severity].name, info->number, plain, bold);
	add_clean(t, message->text);
	text_printf(t, "%s\n", plain);
	print_excerpt(s, t, message->marks, message->nmarks);
	for (int i = 0; i < message->nadditions; i++) {
		const Addition *a = &message->additions[i];
		Mark m = {a->where, ""};

		if (!a->is_note || !a->where.file)
			text_add(t, "  ");
		else
			add_place(s, t, a->where);
		if (a->is_note)
			text_printf(t, "%snote:%s ", bold, plain);
		add_clean(t, a->text);
		text_add(t, "\n");
		if (a->is_note)
			print_excerpt(s, t, &m, 1);
	}
}

/* "file": ..., "line": ..., "column": ..., "end_line": ..., "end_column": */
static void
json_place(const Session *s, Text *t, Range where)
{
	const SourceFile *f = source_file(s, where.file);
	int line = 0, column = 0;

	text_add(t, "\"file\": ");
	if (!f) {
		text_add(t, "null");
		return;
	}
	text_json(t, f->path);
	source_position(s, where, &line, &column);
	if (line)
		text_printf(t, ", \"line\": %d", line);
	if (column) {
		text_printf(t, ", \"column\": %d", column);
		where.begin = where.end;
		source_position(s, where, &line, &column);
		text_printf(t, ", \"end_line\": %d, \"end_column\": %d", line, column);
	}
}

/* The next item of a list: a text, of a place under a key. */
static void
json_item(const Session *s, Text *t, Range where, const char *key, const char *text)
{
	if (t->s[t->n - 1] != '[')
		text_add(t, ", ");
	if (key) {
		text_add(t, "{");
		json_place(s, t, where);
		text_printf(t, ", \"%s\": ", key);
	}
	text_json(t, text);
	if (key)
		text_add(t, "}");
}

void
print_json(const Session *s, const Message *message, Text *t)
{
	const DiagInfo *info = &diags[message->code];
	const Addition *end = message->additions + message->nadditions;

	text_printf(t, "{\"severity\": \"%s\", \"code\": \"%s\", ",
		severities[info->severity].name, info->number);
	json_place(s, t, message->marks[0].where);
	text_add(t, ", \"message\": ");
	text_json(t, message->text);
	text_add(t, ", \"labels\": [");
	for (int i = 0; i < message->nmarks; i++)
		if (i > 0 || *message->marks[0].text)
			json_item(s, t, message->marks[i].where, "text",
				message->marks[i].text);
	text_add(t, "], \"notes\": [");
	for (const Addition *a = message->additions; a < end; a++)
		if (a->is_note)
			json_item(s, t, a->where, "text", a->text);
	text_add(t, "], \"lines\": [");
	for (const Addition *a = message->additions; a < end; a++)
		if (!a->is_note)
			json_item(s, t, a->where, NULL, a->text);
	text_add(t, "], \"choices\": [");
	for (const Addition *a = message->additions; a < end; a++)
		if (a->edit)
			json_item(s, t, a->where, "replacement", a->edit);
	text_add(t, "]}\n");
}
