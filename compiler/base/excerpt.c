/*
 * excerpt.c - the lines of source that a message is about.
 *
 *       7 |   return einsum("bd,df->bf", h, W);
 *         |                   ^~ label
 *
 * Columns are those of a terminal; long lines are clipped around the caret.
 */
#include <string.h>

#include "diag.h"

enum {
	TAB = 4,	       /* columns an excerpt gives a tab */
	GUTTER = 8,	       /* "    7 | " */
	MAX_LINE_BYTES = 4096, /* of a line, around its caret */
};

/*
 * A line of source as it is shown: bytes begin..end of the file, where
 * column[i] is the display column of byte begin + i.
 */
typedef struct Line {
	const SourceFile *file;
	int number, begin, end;
	int column[MAX_LINE_BYTES + 1];
	int first, last; /* columns shown: [first, last) */
} Line;

static void
measure(Line *l)
{
	int column = 0;

	for (int i = l->begin; i < l->end;) {
		uint32_t code = 0;
		const char *c = l->file->text + i;
		int n = utf8_length(c, l->end - i, &code);
		int width = n == 0	   ? 1
			: *c == '\t'	   ? TAB - column % TAB
			: is_control(code) ? 1
					   : code_width(code);

		n = n ? n : 1;
		for (int k = 0; k < n; k++)
			l->column[i + k - l->begin] = column;
		column += width;
		i += n;
	}
	l->column[l->end - l->begin] = column;
}

static int
column_at(const Line *l, int offset)
{
	int i = offset < l->begin ? 0 : offset > l->end ? l->end - l->begin : offset - l->begin;

	return l->column[i];
}

/* The line holding `where`; its bytes are limited around that place, its columns to
   those around the caret that fit the terminal. */
static void
line_open(Line *l, const Session *s, Range where)
{
	const SourceFile *f = source_file(s, where.file);
	int ignored, room = s->width - GUTTER;

	l->file = f;
	source_position(s, where, &l->number, &ignored);
	l->begin = f->line_starts[l->number - 1];
	l->end = l->number < f->nlines ? f->line_starts[l->number] - 1 : f->length;
	if (l->end > l->begin && f->text[l->end - 1] == '\r')
		l->end--;
	if (l->end - l->begin > MAX_LINE_BYTES) {
		int begin = where.begin - MAX_LINE_BYTES / 2;
		if (begin > l->begin)
			l->begin = begin;
		if (l->end - l->begin > MAX_LINE_BYTES)
			l->end = l->begin + MAX_LINE_BYTES;
	}
	measure(l);

	int caret = column_at(l, where.begin), total = column_at(l, l->end);
	l->first = 0;
	l->last = total;
	if (s->width == 0 || total <= room)
		return;
	if (caret > room / 2)
		l->first = caret - room / 2;
	if (l->first > total - room)
		l->first = total - room;
	l->last = l->first + room;
}

static void
print_source_line(Text *t, const Line *l)
{
	const char *text = l->file->text;

	text_printf(t, "%5d | ", l->number);
	for (int i = l->begin; i < l->end;) {
		uint32_t code = 0;
		int n = utf8_length(text + i, l->end - i, &code);
		int column = column_at(l, i);
		int next = column_at(l, i + (n ? n : 1));
		bool dots = (l->first > 0 && column < l->first + 3)
			|| (l->last < column_at(l, l->end) && next > l->last - 3);

		if (column >= l->first && next <= l->last) {
			if (dots || text[i] == '\t')
				text_printf(t, "%*s", next - column, dots ? "." : "");
			else if (n == 0 || is_control(code))
				text_add(t, "?");
			else
				text_addn(t, text + i, (size_t)n);
		}
		i += n ? n : 1;
	}
	while (t->n && t->s[t->n - 1] == ' ')
		t->s[--t->n] = '\0';
	text_add(t, "\n");
}

/* Column in the excerpt, kept inside what is shown. */
static int
shown_column(const Line *l, int offset)
{
	int column = column_at(l, offset);

	if (column < l->first)
		column = l->first;
	if (column > l->last)
		column = l->last;
	return column - l->first;
}

static bool
on_line(const Session *s, const Mark *m, const Line *l)
{
	int line, column;

	if (source_file(s, m->where.file) != l->file)
		return false;
	source_position(s, m->where, &line, &column);
	return line == l->number;
}

static void
print_row(const Session *s, Text *t, const char *row, const char *words)
{
	text_printf(t, "      | %s%s%s", s->color ? "\033[1;32m" : "", row, *words ? " " : "");
	add_clean(t, words);
	text_printf(t, "%s\n", s->color ? "\033[0m" : "");
}

/*
 * All carets of the line in one row, the rightmost one's words after it;
 * every other one's words in a row of their own, under their caret.
 */
static void
print_carets(const Session *s, Text *t, const Line *l, const Mark *marks, int n)
{
	Text row = {0};
	int last = -1;

	for (int i = 0; i < n; i++) {
		Range where = marks[i].where;
		int from = shown_column(l, where.begin), to = shown_column(l, where.end);
		if (!on_line(s, &marks[i], l))
			continue;
		while (row.n < (size_t)(to > from ? to : from + 1))
			text_add(&row, " ");
		for (int k = from + 1; k < to; k++)
			if (row.s[k] == ' ')
				row.s[k] = '~';
		row.s[from] = '^';
		if (last < 0 || where.begin >= marks[last].where.begin)
			last = i;
	}
	print_row(s, t, row.s, last < 0 ? "" : marks[last].text);
	text_free(&row);
	for (int i = n - 1; i >= 0; i--) {
		if (i == last || !*marks[i].text || !on_line(s, &marks[i], l))
			continue;
		text_printf(&row, "%*s", shown_column(l, marks[i].where.begin), "");
		add_clean(&row, marks[i].text);
		print_row(s, t, row.s, "");
		text_free(&row);
	}
}

void
add_place(const Session *s, Text *t, Range where)
{
	const SourceFile *f = source_file(s, where.file);
	int line, column;

	if (!f) {
		text_add(t, "shdc: ");
		return;
	}
	source_position(s, where, &line, &column);
	add_clean(t, f->path);
	if (line)
		text_printf(t, ":%d", line);
	if (column)
		text_printf(t, ":%d", column);
	text_add(t, ": ");
}

void
print_excerpt(const Session *s, Text *t, const Mark *marks, int n)
{
	static Line line;

	for (int i = 0; i < n; i++) {
		const SourceFile *f = source_file(s, marks[i].where.file);
		bool done = false;

		if (!f || !f->text || marks[i].where.line > f->nlines)
			continue;
		line_open(&line, s, marks[i].where);
		for (int k = 0; k < i; k++)
			done = done || on_line(s, &marks[k], &line);
		if (done)
			continue;
		if (marks[i].where.file != marks[0].where.file) {
			text_add(t, "  in ");
			add_place(s, t, marks[i].where);
			text_add(t, "\n");
		}
		print_source_line(t, &line);
		print_carets(s, t, &line, marks, n);
	}
}
