/*
 * sched.h - a device program as what one device does, one after the other.
 *
 *   pipeline    L_device -> L_device        trips of a loop beside each other
 *   decompose   L_device -> L_device        einsums a piece at a time, beside their transfers
 *   fuse        L_device -> L_fused         ops of one loop nest become a fusion
 *   overlap     L_fused -> L_scheduled      collectives beside what does not need them
 */
#ifndef SHDC_SCHED_H
#define SHDC_SCHED_H

#include "ir/ir.h"
#include "ir/planned.h"

/* A collective of a loop that may be begun a trip before it is needed, or left to the next. */
typedef struct Pipelined {
	Op *op;
	bool early;   /* or late */
	bool carried; /* it is made of what the trip before hands on to it */
	bool cut;     /* it is between work of two trips, beside which there is other work */
	bool taken;
} Pipelined;

typedef struct PipelinedLoop {
	Op *op;
	const Op *around; /* whose body it is in */
	Pipelined *candidates;
	int n;
	bool apart; /* einsums of the first trip and the last are outside of it */
	/* Of one without candidates: a collective right before it that it begins with, and
	   whether the first trip is before the loop, beside that. */
	Op *begins_with;
	bool first_before;
} PipelinedLoop;

/* The loops of a module that have some, an outer one before those in it. */
typedef struct Pipelining {
	Arena *arena;
	PipelinedLoop *loops;
	int n;
	int64_t ops; /* of the module, before any loop was written again */
} Pipelining;

/* Takes it too, if the loop can be written so with what is taken. */
bool pipelining_take(const PipelinedLoop *loop, Pipelined *candidate);
/* Says which of the candidates are taken. */
typedef void ChoosePipelining(Module *m, Pipelining *p);

/* A sum over devices of a stack that a loop fills, slice by slice, which each trip could do of
   its slice; or of what is put together of parts, which could be done of each. */
typedef struct StackSum {
	Op *collective;
	Op *join; /* that puts the parts together; NULL: a loop fills the stack */
	Op *loop;
	Op *update;    /* that writes the slice */
	int index;     /* of the stack, among what the loop carries */
	int64_t trips; /* or parts */
	bool taken;
} StackSum;

typedef struct StackSums {
	Arena *arena;
	StackSum *v;
	int n;
} StackSums;

/* Says which are taken, if asked for with a remark for each kind. */
typedef void ChooseStackSums(Module *m, StackSums *sums, bool remarks);

/* A collective of a value that both branches of an `if` in a loop move alike. */
typedef struct BranchMove {
	Op *choice, *ops[2];
} BranchMove;

typedef struct BranchMoves {
	Arena *arena;
	BranchMove *v;
	int n;
} BranchMoves;

/* Are all to be done before their branches?  If not, they say why. */
typedef bool ChooseBranchMoves(Module *m, const BranchMoves *moves);

/* What a run does without a schedule, as counted of the fused program: flops, bytes. */
typedef void CountPlanned(Module *m, PlannedRun *planned);

/* What a run takes at least, in picoseconds, if trips of loops are beside each other. */
typedef int64_t CountLeast(Module *m);

/* Requires L_device, and leaves it; notes what is planned, counted if `count` is there, and, if
   `least` is there, where trips stay as they are what those beside each other take at least.
   Stacks only with --overlap=auto. */
bool pipeline(Module *m, CountPlanned *count, CountLeast *least, ChooseStackSums *choose_sums,
	ChooseBranchMoves *choose_moves, ChoosePipelining *choose, bool remarks);
/* Its parts: what branches move, and that before them. */
void branch_moves_find(Module *m, BranchMoves *moves);
void branch_moves_apply(Module *m, const BranchMoves *moves);
/* ... the stacks; those summed in the loop that are taken.  Finding counts uses. */
void stack_sums_find(Module *m, StackSums *sums);
bool stack_sums_apply(Module *m, const StackSums *sums);
/* ... the loops; those written again of which something is taken. */
void pipelining_find(Module *m, Pipelining *p);
/* Loops around those that were written again: the first gathers of a loop's head are now of a
   trip of the loop around it, and may be beside the trip before. */
void pipelining_find_around(Module *m, const Pipelining *inner, Pipelining *p);
bool pipelining_apply(const Pipelining *p);

/* Requires L_device; leaves it so.  With --overlap=auto alone; if asked for, a remark for
   each class of einsums that could be done in pieces. */
bool decompose(Module *m, bool remarks);
/* Requires L_device; leaves L_fused (README.md), numbered.  Always true. */
bool fuse(Module *m);
/* Requires L_fused and module_number(); leaves L_scheduled.  Always true.  If asked for, a
   remark for collectives that could be one transfer and are not. */
bool overlap(Module *m, bool remarks);
/* The same; would a run be quicker, to see, if a device had more memory? */
bool overlap_lacks_memory(Module *m);
/* From L_fused on, of a program that was read: false after diagnostics, at `where`. */
bool fused_check(Module *m, Range where);

#endif
