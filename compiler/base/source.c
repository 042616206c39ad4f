/*
 * source.c - the session and its source files.
 *
 * A file's text is read whole, with a NUL after it and a table of line
 * starts, so that a byte offset becomes a line and a column by bisection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

/* Byte offsets are ints; a dump of 100,000 ops is some 50 MB. */
enum { MAX_SOURCE_BYTES = 512 * 1024 * 1024 };

Session *
session_new(void)
{
	Arena *arena = arena_new();
	Session *s = NEW(arena, Session);

	s->arena = arena;
	s->max_errors = 20;
	s->err = stderr;
	APPEND(arena, s->files, s->nfiles, (SourceFile){0});
	s->nfiles = 0; /* files[0] is "nowhere" */
	return s;
}

void
session_free(Session *s)
{
	diag_flush(s);
	arena_free(s->arena);
}

static int
add_file(Session *s, SourceFile file)
{
	int n = s->nfiles + 1;

	APPEND(s->arena, s->files, n, file);
	return ++s->nfiles;
}

static void
find_lines(Session *s, SourceFile *f)
{
	int n = 1;

	for (int i = 0; i < f->length; i++)
		n += f->text[i] == '\n';
	f->line_starts = NEW_ARRAY(s->arena, int, n);
	f->nlines = n;
	n = 1;
	for (int i = 0; i < f->length; i++)
		if (f->text[i] == '\n')
			f->line_starts[n++] = i + 1;
}

int
source_add_text(Session *s, const char *path, const char *text, int n)
{
	SourceFile f = {
		.path = arena_strndup(s->arena, path, strlen(path)),
		.text = arena_strndup(s->arena, text, (size_t)n),
		.length = n,
	};

	find_lines(s, &f);
	return add_file(s, f);
}

/* The last one is looked at first: a reader asks for one name many times. */
int
source_add_name(Session *s, const char *path)
{
	SourceFile f = {0};

	for (int i = s->nfiles; i > 0; i--)
		if (strcmp(s->files[i].path, path) == 0)
			return i;
	f.path = arena_strndup(s->arena, path, strlen(path));
	return add_file(s, f);
}

/* False with errno set, or 0 when the file is too large. */
static bool
read_all(FILE *in, Text *t)
{
	static char buffer[1 << 16];
	size_t n;

	errno = 0;
	while ((n = fread(buffer, 1, sizeof buffer, in)) > 0) {
		text_addn(t, buffer, n);
		if (t->n > MAX_SOURCE_BYTES) {
			errno = 0;
			return false;
		}
	}
	return !ferror(in);
}

/* A missing import is the program's fault, a missing input the caller's. */
static void
cannot_read(Session *s, const char *path, Range where)
{
	int error = errno;
	DiagCode code = where.file ? DIAG_import_unreadable : DIAG_unreadable;

	if (error)
		diag(s, code, where, "cannot read %s: %s", path, strerror(error));
	else
		diag(s, DIAG_source_too_large, where, "%s is larger than %d bytes", path,
			MAX_SOURCE_BYTES);
}

/* What some editors put before the first line of UTF-8. */
static size_t
byte_order_mark(const Text *t)
{
	return t->n >= 3 && memcmp(t->s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

int
source_open(Session *s, const char *path, Range where)
{
	bool standard = !where.file && strcmp(path, "-") == 0;
	const char *shown = standard ? "<stdin>" : path;
	FILE *in = standard ? stdin : fopen(path, "rb");
	Text t = {0};
	int file = 0;

	if (!in) {
		cannot_read(s, shown, where);
		return 0;
	}
	if (read_all(in, &t)) {
		size_t mark = byte_order_mark(&t);
		file = source_add_text(s, shown, t.n ? t.s + mark : "", (int)(t.n - mark));
	} else
		cannot_read(s, shown, where);
	if (!standard)
		fclose(in);
	text_free(&t);
	return file;
}

const SourceFile *
source_file(const Session *s, int file)
{
	return file > 0 && file <= s->nfiles ? &s->files[file] : NULL;
}

/* 0-based line holding the byte offset. */
static int
line_of(const SourceFile *f, int offset)
{
	int low = 0, high = f->nlines - 1;

	while (low < high) {
		int middle = low + (high - low + 1) / 2;

		if (f->line_starts[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Line and column of the range's first byte, both from 1.  A column is a
 * character, whatever its bytes; 0 where only the line is known.
 */
void
source_position(const Session *s, Range r, int *line, int *column)
{
	const SourceFile *f = source_file(s, r.file);
	int n;

	*line = r.line;
	*column = 0;
	if (!f || !f->text)
		return;
	n = line_of(f, r.begin);
	*line = n + 1;
	*column = 1;
	for (int i = f->line_starts[n]; i < r.begin && i < f->length; i++)
		*column += ((unsigned char)f->text[i] & 0xC0) != 0x80;
}

Range
range_join(Range a, Range b)
{
	Range first = a.begin <= b.begin ? a : b;

	if (!a.file || a.file != b.file)
		return a.file ? a : b;
	first.end = a.end > b.end ? a.end : b.end;
	return first;
}
