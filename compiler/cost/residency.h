/*
 * residency.h - which values of a fused program stay in on-chip memory.
 */
#ifndef SHDC_RESIDENCY_H
#define SHDC_RESIDENCY_H

#include "ir/ir.h"

/* Sets `on_chip` of all values; false: as it was.  `changed`, NULL or by value id: of which it
   is another now.  Requires L_fused and module_number(). */
bool residency_find(Module *m, bool *changed);

#endif
