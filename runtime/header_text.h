/*
 * header_text.h - the pieces that the text headers of tensor files are made
 * of.  Each take_ function steps over what it wants and returns true, or
 * returns false with the cursor somewhere before it.
 */
#ifndef SHDRT_HEADER_TEXT_H
#define SHDRT_HEADER_TEXT_H

#include <stdio.h>
#include "internal.h"

typedef struct Cursor {
	const char *at, *end;
	char *why; /* set once something is wrong; may be NULL */
} Cursor;

static inline bool
wrong(char why[WHY], const char *text)
{
	snprintf(why, WHY, "%s", text);
	return false;
}

static inline void
skip_blanks(Cursor *c)
{
	while (c->at < c->end
		&& (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
		c->at++;
}

static inline bool
take(Cursor *c, char wanted)
{
	skip_blanks(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static inline bool
take_size(Cursor *c, int64_t *size)
{
	skip_blanks(c);
	if (c->at == c->end || *c->at < '0' || *c->at > '9')
		return false;
	for (*size = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
		if (__builtin_mul_overflow(*size, 10, size)
			|| __builtin_add_overflow(*size, *c->at - '0', size))
			return false;
	return true;
}

#endif
