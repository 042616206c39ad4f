/*
 * usage.c - what is wrong with a command line.
 */
#include <stdarg.h>

#include "driver.h"

bool
usage(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag(s, DIAG_usage, nowhere, "%s", arena_vprintf(s->arena, fmt, ap));
	va_end(ap);
	return false;
}

bool
unknown_word(Session *s, const char *what, const char *word, const char *const *words, int n)
{
	const char *nearest = rt_nearest_word(word, words, n);
	Text known = {0};

	usage(s, "unknown %s '%s'", what, word);
	if (nearest)
		diag_line(s, "did you mean '%s'?", nearest);
	for (int i = 0; i < n; i++)
		text_printf(&known, "%s%s", i ? " " : "", words[i]);
	diag_line(s, "known: %s", known.s);
	text_free(&known);
	return false;
}
