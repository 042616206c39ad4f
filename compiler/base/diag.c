/*
 * diag.c - messages for the user, as text with excerpts or as JSON lines.
 *
 * A message is collected (labels, notes and lines are added to it) and
 * printed when the next one begins or at diag_flush().  What the user wrote
 * may hold anything: control characters and broken UTF-8 never reach the
 * terminal.
 */
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum {
	TAB = 4,	       /* columns an excerpt gives a tab */
	GUTTER = 8,	       /* "    7 | " */
	MAX_LINE_BYTES = 4096, /* of a line, around its caret */
};

typedef struct DiagInfo {
	const char *number;
	Severity severity;
	int status;
	const char *title, *explanation;
} DiagInfo;

static const DiagInfo diags[DIAG_COUNT] = {
#define DIAG(id, number, severity, status, title, explanation) \
	{number, SEV_##severity, status, title, explanation},
#include "diags.def"
#undef DIAG
};

static const struct {
	const char *name, *color;
} severities[] = {
	[SEV_error] = {"error", "\033[1;31m"},
	[SEV_warning] = {"warning", "\033[1;35m"},
	[SEV_remark] = {"remark", "\033[1;36m"},
};

typedef struct Mark { /* a caret and its words */
	Range where;
	const char *text;
} Mark;

typedef struct Addition { /* a note, or a line as it stands */
	bool is_note;
	Range where;
	const char *text;
	const char *edit; /* a choice: what takes the place of `where` */
} Addition;

struct DiagState {
	bool pending; /* a message is being collected */
	bool muted;   /* the last one is not printed, nor collected */
	DiagCode code;
	const char *text;
	Mark *marks; /* marks[0] is the message's own place */
	int nmarks;
	Addition *additions;
	int nadditions;
	int errors, warnings, status;
};

static struct DiagState *
state(Session *s)
{
	if (!s->diagnostics)
		s->diagnostics = NEW(s->arena, struct DiagState);
	return s->diagnostics;
}

/* ---- characters ------------------------------------------------------ */

/* Length of the well-formed UTF-8 character at s, 0 if there is none. */
static int
utf8_length(const char *s, int available, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)*s;
	int n = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;

	if (n == 0 || n > available)
		return 0;
	*code = n == 1 ? c : c & (0x7Fu >> n);
	for (int i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xC0) != 0x80)
			return 0;
		*code = *code << 6 | ((unsigned char)s[i] & 0x3F);
	}
	if (*code < least[n] || *code > 0x10FFFF || *code >> 11 == 27)
		return 0;
	return n;
}

/* Columns a terminal gives the character: 0 combining, 2 East Asian wide. */
static int
code_width(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		int width;
	} ranges[] = {
		{0x300, 0x36F, 0},
		{0x1100, 0x115F, 2},
		{0x200B, 0x200F, 0},
		{0x2E80, 0xA4CF, 2},
		{0xAC00, 0xD7A3, 2},
		{0xF900, 0xFAFF, 2},
		{0xFE00, 0xFE0F, 0},
		{0xFE30, 0xFE6F, 2},
		{0xFF00, 0xFF60, 2},
		{0xFFE0, 0xFFE6, 2},
		{0x1F300, 0x1FAFF, 2},
		{0x20000, 0x3FFFD, 2},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return ranges[i].width;
	return 1;
}

static bool
is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7F && code < 0xA0)
		|| (code >= 0x202A && code <= 0x202E)  /* change of */
		|| (code >= 0x2066 && code <= 0x2069); /* direction */
}

/* The text with what a terminal would obey replaced by '?'. */
static void
add_clean(Text *t, const char *s)
{
	int left = (int)strlen(s);
	uint32_t code;

	while (left > 0) {
		int n = utf8_length(s, left, &code);

		if (n == 0 || is_control(code))
			text_add(t, "?");
		else
			text_addn(t, s, (size_t)n);
		n = n ? n : 1;
		s += n;
		left -= n;
	}
}

/* ---- excerpts -------------------------------------------------------- */

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

/* Columns around the caret that fit the terminal. */
static void
clip(Line *l, int caret, int width)
{
	int total = column_at(l, l->end);
	int room = width - GUTTER;

	l->first = 0;
	l->last = total;
	if (width == 0 || total <= room)
		return;
	if (caret > room / 2)
		l->first = caret - room / 2;
	if (l->first > total - room)
		l->first = total - room;
	l->last = l->first + room;
}

/* The line holding `where`; its bytes are limited around that place. */
static void
line_open(Line *l, const Session *s, Range where)
{
	const SourceFile *f = source_file(s, where.file);
	int ignored;

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
	clip(l, column_at(l, where.begin), s->width);
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

static void
draw_mark(Text *row, const Line *l, Range where)
{
	int from = shown_column(l, where.begin);
	int to = shown_column(l, where.end);

	while (row->n < (size_t)(to > from ? to : from + 1))
		text_add(row, " ");
	for (int i = from + 1; i < to; i++)
		if (row->s[i] == ' ')
			row->s[i] = '~';
	row->s[from] = '^';
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
		if (!on_line(s, &marks[i], l))
			continue;
		draw_mark(&row, l, marks[i].where);
		if (last < 0 || marks[i].where.begin >= marks[last].where.begin)
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

static bool
has_text(const Session *s, Range r)
{
	const SourceFile *f = source_file(s, r.file);

	return f && f->text;
}

static void
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

/* Each line that has a mark, once, in the order of the marks. */
static void
print_excerpt(const Session *s, Text *t, const Mark *marks, int n)
{
	static Line line;

	for (int i = 0; i < n; i++) {
		bool done = false;

		if (!has_text(s, marks[i].where))
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

/* ---- the two formats ------------------------------------------------- */

static void
print_text(const Session *s, const struct DiagState *d, Text *t)
{
	const DiagInfo *info = &diags[d->code];
	const char *bold = s->color ? "\033[1m" : "";
	const char *plain = s->color ? "\033[0m" : "";

	text_add(t, bold);
	add_place(s, t, d->marks[0].where);
	text_printf(t, "%s%s[%s]:%s%s ", s->color ? severities[info->severity].color : "",
		severities[info->severity].name, info->number, plain, bold);
	add_clean(t, d->text);
	text_printf(t, "%s\n", plain);
	print_excerpt(s, t, d->marks, d->nmarks);
	for (int i = 0; i < d->nadditions; i++) {
		const Addition *a = &d->additions[i];
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

static void
json_string(Text *t, const char *s)
{
	int left = (int)strlen(s);
	uint32_t code;

	text_add(t, "\"");
	while (left > 0) {
		int n = utf8_length(s, left, &code);

		if (n == 0)
			text_add(t, "\\ufffd");
		else if (code < 0x20 || code == '"' || code == '\\')
			text_printf(t, "\\u%04x", code);
		else
			text_addn(t, s, (size_t)n);
		n = n ? n : 1;
		s += n;
		left -= n;
	}
	text_add(t, "\"");
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
	json_string(t, f->path);
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

static void
json_marks(const Session *s, const struct DiagState *d, Text *t)
{
	text_add(t, ", \"labels\": [");
	for (int i = 0; i < d->nmarks; i++) {
		if (i == 0 && !*d->marks[0].text)
			continue;
		if (t->s[t->n - 1] != '[')
			text_add(t, ", ");
		text_add(t, "{");
		json_place(s, t, d->marks[i].where);
		text_add(t, ", \"text\": ");
		json_string(t, d->marks[i].text);
		text_add(t, "}");
	}
	text_add(t, "]");
}

static void
json_additions(const Session *s, const struct DiagState *d, bool notes, Text *t)
{
	text_printf(t, ", \"%s\": [", notes ? "notes" : "lines");
	for (int i = 0; i < d->nadditions; i++) {
		const Addition *a = &d->additions[i];

		if (a->is_note != notes)
			continue;
		if (t->s[t->n - 1] != '[')
			text_add(t, ", ");
		if (notes) {
			text_add(t, "{");
			json_place(s, t, a->where);
			text_add(t, ", \"text\": ");
		}
		json_string(t, a->text);
		if (notes)
			text_add(t, "}");
	}
	text_add(t, "]");
}

static void
json_choices(const Session *s, const struct DiagState *d, Text *t)
{
	text_add(t, ", \"choices\": [");
	for (int i = 0; i < d->nadditions; i++) {
		const Addition *a = &d->additions[i];

		if (!a->edit)
			continue;
		if (t->s[t->n - 1] != '[')
			text_add(t, ", ");
		text_add(t, "{");
		json_place(s, t, a->where);
		text_add(t, ", \"replacement\": ");
		json_string(t, a->edit);
		text_add(t, "}");
	}
	text_add(t, "]");
}

static void
print_json(const Session *s, const struct DiagState *d, Text *t)
{
	const DiagInfo *info = &diags[d->code];

	text_printf(t, "{\"severity\": \"%s\", \"code\": \"%s\", ",
		severities[info->severity].name, info->number);
	json_place(s, t, d->marks[0].where);
	text_add(t, ", \"message\": ");
	json_string(t, d->text);
	json_marks(s, d, t);
	json_additions(s, d, true, t);
	json_additions(s, d, false, t);
	json_choices(s, d, t);
	text_add(t, "}\n");
}

/* ---- collecting ------------------------------------------------------ */

void
diag_flush(Session *s)
{
	struct DiagState *d = state(s);
	Text t = {0};

	if (!d->pending)
		return;
	d->pending = false;
	if (s->json)
		print_json(s, d, &t);
	else
		print_text(s, d, &t);
	if (s->err)
		fwrite(t.s, 1, t.n, s->err);
	text_free(&t);
}

static void
add_mark(Session *s, Range where, const char *text)
{
	struct DiagState *d = state(s);
	Mark m = {where, text};

	APPEND(s->arena, d->marks, d->nmarks, m);
}

/* Is this one more than are printed?  Said once. */
static bool
is_too_many(Session *s, const char *what, int n)
{
	if (s->max_errors == 0 || n <= s->max_errors)
		return false;
	if (n == s->max_errors + 1 && !s->json && s->err)
		fprintf(s->err,
			"shdc: too many %s; --max-errors=N shows more "
			"than %d\n",
			what, s->max_errors);
	return true;
}

/* Counts the error or warning; those after the last that is printed are muted,
   and so is all that comes after the last error. */
static bool
is_muted(Session *s, const DiagInfo *info)
{
	struct DiagState *d = state(s);

	if (info->severity == SEV_error) {
		if (!d->status)
			d->status = info->status;
		return is_too_many(s, "errors", ++d->errors);
	}
	if (s->max_errors && d->errors > s->max_errors)
		return true;
	return info->severity == SEV_warning && is_too_many(s, "warnings", ++d->warnings);
}

void
diag(Session *s, DiagCode code, Range where, const char *fmt, ...)
{
	struct DiagState *d = state(s);
	va_list ap;

	diag_flush(s);
	d->muted = is_muted(s, &diags[code]);
	if (d->muted)
		return;
	d->pending = true;
	d->code = code;
	d->marks = NULL;
	d->additions = NULL;
	d->nmarks = d->nadditions = 0;
	va_start(ap, fmt);
	d->text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	add_mark(s, where, "");
}

void
diag_label(Session *s, Range where, const char *fmt, ...)
{
	struct DiagState *d = state(s);
	const char *text;
	va_list ap;

	if (d->muted)
		return;
	va_start(ap, fmt);
	text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	if (d->nmarks && where.file == d->marks[0].where.file
		&& where.begin == d->marks[0].where.begin && where.end == d->marks[0].where.end)
		d->marks[0].text = text;
	else
		add_mark(s, where, text);
}

static void
add_addition(Session *s, bool is_note, Range where, const char *edit, const char *fmt,
	va_list ap)
{
	struct DiagState *d = state(s);
	Addition a = {is_note, where, NULL, edit};

	if (d->muted)
		return;
	a.text = arena_vprintf(s->arena, fmt, ap);
	APPEND(s->arena, d->additions, d->nadditions, a);
}

void
diag_note(Session *s, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, true, where, NULL, fmt, ap);
	va_end(ap);
}

void
diag_line(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, false, (Range){0}, NULL, fmt, ap);
	va_end(ap);
}

void
diag_choice(Session *s, Range where, const char *edit, const char *fmt, ...)
{
	va_list ap;

	if (edit)
		edit = arena_strndup(s->arena, edit, strlen(edit));
	va_start(ap, fmt);
	add_addition(s, false, where, edit, fmt, ap);
	va_end(ap);
}

int
diag_errors(const Session *s)
{
	return s->diagnostics ? s->diagnostics->errors : 0;
}

int
diag_status(const Session *s)
{
	return s->diagnostics ? s->diagnostics->status : 0;
}

const char *
diag_explain(const char *number)
{
	static Text t;

	text_free(&t);
	for (int i = 0; i < DIAG_COUNT; i++)
		if (strcmp(diags[i].number, number) == 0) {
			text_printf(&t, "%s: %s\n\n%s", diags[i].number, diags[i].title,
				diags[i].explanation);
			return t.s;
		}
	return NULL;
}
