/*
 * targets.h - the emulated hardware a mesh is laid out on.
 *
 * A fact of a program's mesh, so it lives with the IR; what things cost there
 * is cost/cost.h.
 */
#ifndef SHDC_TARGETS_H
#define SHDC_TARGETS_H

#include "base/base.h"

typedef struct Target {
	const char *name;
	double bf16_flops, int8_flops;
	int64_t hbm_bytes;
	double hbm_bandwidth;
	double link_bandwidth; /* one way */
	int torus_rank;
	int wrap; /* see targets.def */
	int64_t pod;
} Target;

const Target *target_by_name(const char *name); /* NULL if unknown */
const Target *target_default(void);		/* v5e */
int target_count(void);
const Target *target_at(int i);

#endif
