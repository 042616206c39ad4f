/*
 * source.c - source files and places in them.
 *
 * A file's text is read whole, with a NUL after it and a table of line
 * starts, so that a byte offset becomes a line and a column by bisection.
 */
#include <string.h>

#include "base.h"

static int
add_file(Session *s, SourceFile file)
{
	int n = s->nfiles + 1;

	APPEND(s->arena, s->files, n, file);
	return ++s->nfiles;
}

int
source_add_text(Session *s, const char *path, const char *text, int n)
{
	SourceFile f = {
		.path = arena_strndup(s->arena, path, strlen(path)),
		.text = arena_strndup(s->arena, text, (size_t)n),
		.length = n,
		.nlines = 1,
	};

	for (int i = 0; i < n; i++)
		f.nlines += f.text[i] == '\n';
	f.line_starts = NEW_ARRAY(s->arena, int, f.nlines);
	f.nlines = 1;
	for (int i = 0; i < n; i++)
		if (f.text[i] == '\n')
			f.line_starts[f.nlines++] = i + 1;
	return add_file(s, f);
}

/* The last one is looked at first: a reader asks for one name many times. */
int
source_known(const Session *s, const char *path)
{
	for (int i = s->nfiles; i > 0; i--)
		if (strcmp(s->files[i].path, path) == 0)
			return i;
	return 0;
}

int
source_add_name(Session *s, const char *path)
{
	SourceFile f = {0};
	int known = source_known(s, path);

	if (known)
		return known;
	f.path = arena_strndup(s->arena, path, strlen(path));
	return add_file(s, f);
}

const SourceFile *
source_file(const Session *s, int file)
{
	return file > 0 && file <= s->nfiles ? &s->files[file] : NULL;
}

const char *
source_path(const Session *s, int file)
{
	const SourceFile *f = source_file(s, file);

	return f ? f->path : "";
}

/*
 * Line and column of the range's first byte, both from 1.  A column is a
 * character, whatever its bytes; 0 where only the line is known, of text that is
 * not there or no longer has so many.  The line is the last that starts at or before
 * the byte.
 */
void
source_position(const Session *s, Range r, int *line, int *column)
{
	const SourceFile *f = source_file(s, r.file);
	int low = 0;

	*line = r.line;
	*column = 0;
	if (!f || !f->text || r.line > f->nlines)
		return;
	for (int high = f->nlines - 1; low < high;) {
		int middle = low + (high - low + 1) / 2;
		if (f->line_starts[middle] <= r.begin)
			low = middle;
		else
			high = middle - 1;
	}
	*line = low + 1;
	*column = 1;
	for (int i = f->line_starts[low]; i < r.begin && i < f->length; i++)
		*column += ((unsigned char)f->text[i] & 0xC0) != 0x80;
}

bool
source_has_text(const Session *s, Range r)
{
	const SourceFile *f = source_file(s, r.file);

	return f && f->text && r.end > r.begin;
}

const char *
source_text(const Session *s, Arena *a, Range r)
{
	return arena_strndup(a, source_file(s, r.file)->text + r.begin,
		(size_t)(r.end - r.begin));
}

const Range nowhere;

bool
range_equal(Range a, Range b)
{
	return a.file == b.file && a.line == b.line && a.begin == b.begin && a.end == b.end;
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
