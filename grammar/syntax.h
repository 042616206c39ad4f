/*
 * syntax.h - the wording of syntax errors (syntax.c).
 */
#ifndef SHDC_SYNTAX_H
#define SHDC_SYNTAX_H

#include "tree.h"

/* `found` and `expected` are token aliases; found NULL: nothing was read. */
void syntax_error(Parser *p, Range where, const char *found, int n, const char **expected);
/* Is a // with code before it all that stands before `where`? */
bool syntax_behind_slashes(const Parser *p, Range where);
/* ... one that may have been meant as a division? */
bool syntax_slashes(Parser *p, Range where);
/* The note on it, if so. */
void syntax_note_slashes(Parser *p, Range where);
/* These were meant as one. */
void syntax_division(Parser *p, Range slashes);
/* Is this a word of another language, told as one where it does not fit? */
bool syntax_is_habit(const Parser *p, Range word);
/* May a statement or a declaration begin with the token of this alias? */
bool syntax_begins(const char *token);
/* The parser gave up: its stack is full. */
void syntax_stuck(Parser *p, Range where, const char *why);

#endif
