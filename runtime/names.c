/*
 * names.c - one name in two spellings: params['w'][0] of Python, params.w_0 of ours.
 *
 * A dot of ours may be a step of Python's path or stand in a key; two that are both spelled
 * as Python does are the same only if their steps are: p['a.b'] is not p['a']['b'].
 */
#include <stdbool.h>

#include "nearest.h"

typedef struct Path {
	const char *at;
	char quote; /* of the key that is being read; else 0 */
} Path;

/* Where a letter comes from: [ of Python, a key in quotes, or anything else. */
typedef enum Origin { STEP, KEY, PLAIN } Origin;

/* ['a'] is .a, [0] is _0; 0: there are no more. */
static char
next_letter(Path *p, Origin *origin)
{
	while (*p->at == ']' || *p->at == '\'' || *p->at == '"') {
		if (*p->at == p->quote && p->at[1] == ']')
			p->quote = 0;
		p->at++;
	}
	char letter = *p->at;
	*origin = p->quote ? KEY : letter == '[' ? STEP : PLAIN;
	p->at += letter != '\0';
	if (letter != '[')
		return letter;
	bool quoted = *p->at == '\'' || *p->at == '"';
	if (quoted && !p->quote)
		p->quote = *p->at;
	p->at += quoted;
	return quoted ? '.' : '_';
}

bool
rt_same_name(const char *a, const char *b)
{
	Path p = {a, 0}, q = {b, 0};
	Origin of_x, of_y;
	char x, y;
	do {
		x = next_letter(&p, &of_x);
		y = next_letter(&q, &of_y);
		if (x != y || (of_x == STEP && of_y == KEY) || (of_x == KEY && of_y == STEP))
			return false;
	} while (x);
	return true;
}
