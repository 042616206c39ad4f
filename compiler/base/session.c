/*
 * session.c - one run of the compiler: its memory, and the files it reads.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

/* Byte offsets are ints; a dump of 100,000 ops is some 50 MB. */
enum { MAX_SOURCE_BYTES = 512 * 1024 * 1024 };

Session *
session_new(void)
{
	Arena *arena = arena_new();
	Session *s = NEW(arena, Session);

	s->arena = arena;
	s->lasting = arena_new();
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
	arena_free(s->lasting);
	arena_free(s->arena);
}

int
source_open(Session *s, const char *path, Range where)
{
	static char buffer[1 << 16];
	bool standard = !where.file && strcmp(path, "-") == 0;
	const char *shown = standard ? "<stdin>" : path;
	FILE *in = standard ? stdin : fopen(path, "rb");
	bool good = in != NULL, large = false;
	Text t = {0};
	int file = 0;

	for (size_t n = 1; good && n && !large; large = t.n > MAX_SOURCE_BYTES) {
		n = fread(buffer, 1, sizeof buffer, in);
		text_addn(&t, buffer, n);
		good = !ferror(in);
	}
	if (large) {
		diag(s, DIAG_source_too_large, where, "%s is larger than %d bytes", shown,
			MAX_SOURCE_BYTES);
	} else if (!good) {
		/* A missing import is the program's fault, a missing input the caller's. */
		diag(s, where.file ? DIAG_import_unreadable : DIAG_unreadable, where,
			"cannot read %s: %s", shown, strerror(errno));
	} else {
		/* What some editors put before the first line of UTF-8. */
		size_t mark = t.n >= 3 && memcmp(t.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
		file = source_add_text(s, shown, t.s + mark, (int)(t.n - mark));
	}
	if (in && !standard)
		fclose(in);
	text_free(&t);
	return file;
}

int
source_try(Session *s, const char *path)
{
	int known = source_known(s, path);
	struct stat status;
	bool readable = !known && stat(path, &status) == 0 && S_ISREG(status.st_mode)
		&& status.st_size < MAX_SOURCE_BYTES && access(path, R_OK) == 0;

	return readable ? source_open(s, path, nowhere) : source_add_name(s, path);
}
