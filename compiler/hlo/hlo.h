/*
 * hlo.h - a module as HLO text, and back.
 */
#ifndef SHDC_HLO_H
#define SHDC_HLO_H

#include "ir/ir.h"

/* README.md says how each fact is spelled. */
void module_print(Module *m, Text *t);
/* NULL after diagnostics. */
Module *module_read(Session *s, int file);

/* Called after each line: `line` is the Op or the parameter's Value on it, or
   NULL for the module's own. */
typedef void LineNote(const void *line, Text *t, void *data);
void module_print_noted(Module *m, Text *t, LineNote *note, void *data);
/* verify_print.c: true if well-formed for its level; else prints the module
   with each message under its line to `out`. */
bool module_verify(Module *m, FILE *out);

#endif
