/*
 * sched.h - a device program as what one device does, one after the other.
 *
 *   fuse        L_device -> L_fused         ops of one loop nest become a fusion
 */
#ifndef SHDC_SCHED_H
#define SHDC_SCHED_H

#include "ir/ir.h"

/* Requires L_device; leaves L_fused (README.md).  Always true. */
bool fuse(Module *m);
/* Of L_fused that was read: false after diagnostics, at `where`. */
bool fused_check(Module *m, Range where);

#endif
