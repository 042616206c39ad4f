/*
 * place.h - where a value or an op is told to be.
 */
#ifndef SHDC_PLACE_H
#define SHDC_PLACE_H

#include "ir/ir.h"

/* Of its name, else of the op that makes it; of a JAX program of the op, where that has a line
   of Python. */
Range value_place(const Module *m, const Value *v);
/* As m->columns has it, of places on a line that has several ops of one name. */
const char *range_key(Arena *a, Range r);
/* ":13" where the line alone does not say what is meant, else "". */
const char *column_text(const Module *m, Range r);

#endif
