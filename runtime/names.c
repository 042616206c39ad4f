/*
 * names.c - one name in two spellings: params['w'][0] of Python, params.w_0 of ours.
 */
#include "internal.h"

/* ['a'] is .a, [0] is _0: the next letter of such a path, and the text behind it. */
static char
next_letter(const char **text)
{
	const char *c = *text;
	while (*c == ']' || *c == '\'' || *c == '"')
		c++;
	*text = *c ? c + 1 : c;
	if (*c != '[')
		return *c;
	return c[1] == '\'' || c[1] == '"' ? '.' : '_';
}

bool
rt_same_name(const char *a, const char *b)
{
	char x, y;
	do {
		x = next_letter(&a);
		y = next_letter(&b);
	} while (x == y && x);
	return x == y;
}
