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
/* Where a JAX program calls an argument by its name on the way to an op there; false: nowhere
   that is known (import/names.c). */
bool argument_written(const Module *m, const Value *v, Range use, Range *at);
/* As m->columns has that. */
const char *written_key(Arena *a, const Value *v, Range use);

#endif
