/*
 * called.h - what remarks call a value that moves.
 *
 *   let g: [_, _] = x[0:8]      all-gather of x, not of let
 */
#ifndef SHDC_CALLED_H
#define SHDC_CALLED_H

#include "ir/ir.h"

/* By value id the first name that the user gave it, or what is received of it; `called`, if
   not NULL, has it by the value's.  Requires module_number(). */
const char **user_names(const Module *m, Arena *a, Table *called);
/* What a collective moves: its label, if that says what is computed; of one that places or
   takes a part the name of what it moves, or makes, or the op that computes that, with its
   line. */
const char *called(const Op *collective, const char *const *names, Arena *a);

#endif
