/*
 * hlo.h - a module as HLO text, and back.
 *
 * X_print.c and X_read.c are the two directions of one thing.
 */
#ifndef SHDC_HLO_H
#define SHDC_HLO_H

#include "ir/ir.h"

/* ---- the text as a whole ------------------------------------------------- */

/* README.md says how each fact is spelled. */
void module_print(Module *m, Text *t);
/* NULL after diagnostics. */
Module *module_read(Session *s, int file);

/* verify_print.c: true if well-formed for its level; else prints the module
   with each message under its line to `out`. */
bool module_verify(Module *m, FILE *out);
/* Called after each line: `line` is the Op or the parameter's Value on it, or
   NULL for the module's own. */
typedef void LineNote(const void *line, Text *t, void *data);
void module_print_noted(Module *m, Text *t, LineNote *note, void *data);

/* The attributes of ops whose HLO form follows from other facts: windows,
   gathers, groups of devices.  ", name=value, name=value"; attrs_print.c. */
void text_attrs(Module *m, const Op *op, Text *t);

/* The computation that compares two elements in a sort; comparator.c. */
void text_comparator(Text *t, const char *name, const Op *op);

/* Whether a body is given its parameters as one tuple: of while and if. */
bool body_takes_tuple(const Block *b); /* print.c */

#endif
