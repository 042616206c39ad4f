/*
 * residency.h - which values of a fused program stay in on-chip memory.
 */
#ifndef SHDC_RESIDENCY_H
#define SHDC_RESIDENCY_H

#include "ir/ir.h"

/* Values of which it is another now. */
typedef struct Changed {
	Arena *arena;
	Value **v;
	int n;
} Changed;

/* Sets `on_chip` of all values.  `changed` may be NULL.  Requires L_fused and
   module_number(). */
void residency_find(Module *m, Changed *changed);

#endif
