/*
 * syntax.h - the wording of syntax errors (syntax.c).
 */
#ifndef SHDC_SYNTAX_H
#define SHDC_SYNTAX_H

#include "tree.h"

/* `found` and `expected` are token aliases; found NULL: nothing was read. */
void syntax_error(Parser *p, Range where, const char *found, int n, const char **expected);
/* The parser gave up: its stack is full. */
void syntax_stuck(Parser *p, Range where, const char *why);

#endif
