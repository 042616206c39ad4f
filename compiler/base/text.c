/*
 * text.c - a string that grows.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base.h"

/* Makes room for `more` bytes and the final NUL. */
static void
reserve(Text *t, size_t more)
{
	size_t wanted = t->n + more + 1;
	size_t capacity = t->capacity ? t->capacity : 64;

	if (wanted <= t->capacity)
		return;
	while (capacity < wanted)
		capacity *= 2;
	t->s = realloc(t->s, capacity);
	if (!t->s)
		out_of_memory();
	t->capacity = capacity;
}

void
text_addn(Text *t, const char *s, size_t n)
{
	reserve(t, n);
	if (n)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void
text_add(Text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void
text_vprintf(Text *t, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		die("a format that cannot be printed: %s", fmt);
	reserve(t, (size_t)n);
	vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
	t->n += (size_t)n;
	va_end(again);
}

void
text_printf(Text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(t, fmt, ap);
	va_end(ap);
}

void
text_free(Text *t)
{
	free(t->s);
	*t = (Text){0};
}

char *
text_take(Text *t, Arena *a)
{
	char *s = arena_strndup(a, t->s ? t->s : "", t->n);

	text_free(t);
	return s;
}

void
text_numbers(Text *t, int n, const int64_t *v, const char *between)
{
	for (int i = 0; i < n; i++)
		text_printf(t, "%s%lld", i ? between : "", (long long)v[i]);
}

bool
is_identifier(const char *s)
{
	if (isdigit((unsigned char)*s))
		return false;
	for (const char *c = s; *c; c++)
		if (*c != '_' && (*c & 0x80 || !isalnum((unsigned char)*c)))
			return false;
	return *s != '\0';
}
