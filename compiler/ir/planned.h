/*
 * planned.h - what a run of one device does before the program is scheduled.
 *
 * What is scheduled does another: a loop whose trips are apart leaves out of the last what
 * nobody needs, sums of pieces are more to compute.  Module.planned is there from `pipeline`
 * on, where collectives overlap; Op.planned says which move a collective does, or a piece or
 * some trips of.
 */
#ifndef SHDC_PLANNED_H
#define SHDC_PLANNED_H

#include "ir/ir.h"

enum { NOT_COUNTED = -1 };

typedef struct PlannedMove {
	OpKind kind;
	AxisList axes; /* along which data goes */
	Type operand, result;
	int64_t bytes; /* a device receives, each time */
	int64_t trips;
	bool counted; /* the trips are known */
	const char *label;
	int line, with; /* the number of a move that is done for it, too; 0: itself */
} PlannedMove;

typedef struct PlannedRun {
	PlannedMove *moves; /* in program order */
	int n;
	int64_t received; /* bytes */
	double flops;	  /* NOT_COUNTED: nobody asked before the program was fused */
} PlannedRun;

#endif
