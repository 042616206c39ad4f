/*
 * sched.h - a device program as what one device does, one after the other.
 *
 *   fuse        L_device -> L_fused         ops of one loop nest become a fusion
 *   overlap     L_fused -> L_scheduled      collectives beside what does not need them
 */
#ifndef SHDC_SCHED_H
#define SHDC_SCHED_H

#include "ir/ir.h"

/* Requires L_device; leaves L_fused (README.md).  Always true. */
bool fuse(Module *m);
/* Requires L_fused; leaves L_scheduled.  Always true. */
bool overlap(Module *m);
/* From L_fused on, of a program that was read: false after diagnostics, at `where`. */
bool fused_check(Module *m, Range where);

#endif
