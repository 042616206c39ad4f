/*
 * folded.h - JSON of many things of which most are like others, as the steps of equal
 * layers are: what equal ones have in common is told once.
 *
 *   {"fields": ["value", "start"],              what each has of its own
 *    "sorts": [{"line": 7, "what": "+"}, ...],  what it shares
 *    "rows": [[0, "h", 0.000001], ...]}         the sort, and the fields
 */
#ifndef SHDC_FOLDED_H
#define SHDC_FOLDED_H

#include "base/base.h"

typedef struct Folded {
	const char *fields; /* "\"value\", \"start\"" */
	Arena *arena;
	Table *sorts;
	Text rows;
} Folded;

Folded folded_new(Arena *a, const char *fields);
/* `sort`: the fields with their names, no braces; `own`: the others without. */
void folded_add(Folded *all, const char *sort, const char *own);
void text_folded(Text *t, Folded *all);

#endif
