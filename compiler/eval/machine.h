/*
 * machine.h - the interpreter while it runs: what eval.c and control.c share.
 *
 * Every value has one slot per device (one in all for a global module).  A
 * slot's tensor is freed after the last op that reads it, so the memory in
 * use is that of the live values.  Parameters are borrowed: of the caller's
 * inputs, or of what an op hands to its body.
 *
 * Devices run in lockstep.  Those that wait, because their loop has ended or
 * their condition chose the other branch, are not active: their slots are
 * left as they are.  Nor are those that are stuck, which they stay.
 */
#ifndef SHDC_EVAL_MACHINE_H
#define SHDC_EVAL_MACHINE_H

#include "eval/kernels.h"

enum { GROUP_OPERANDS = 6 }; /* of a collective, at most */

typedef struct Slot {
	Inexact is; /* samples and spread only with bounds */
	bool borrowed;
} Slot;

typedef struct Machine {
	Module *module;
	int64_t ndevices;
	bool bounds;	     /* samples too; on one device */
	bool *active;	     /* by device */
	const Op **stuck;    /* by device: the collective that it waits in
				   for ever, or NULL */
	int first, nvalues;  /* the ids that it has slots for */
	Slot *slots;	     /* [(id - first) * ndevices + device] */
	const Op **last_use; /* by value id, within the value's block */
	int most;	     /* operands or results of an op */
	Tensor *operands;    /* of the op at hand: by operand, or operand
				   and device */
	Tensor *results;     /* by result, or device */
	Inexact *inexact;    /* by operand, with bounds */
	EvalFailure failure;
} Machine;

/* eval.c */
Slot *slot(const Machine *vm, const Value *v, int64_t device);
void slot_free(const Machine *vm, const Value *v);
/* The value leaves its slot, if the slot's block is done with it. */
bool slot_take(const Machine *vm, const Value *v, const Block *done, int64_t device,
	Inexact *result);
/* All but the return, whose operands the caller takes. */
bool machine_block(Machine *vm, const Block *b);
/* A machine for the bodies of an op, on so many devices; to be freed even
   where there is no memory for it. */
bool machine_inside(Machine *inner, const Machine *vm, const Op *op, int64_t ndevices);
void machine_free(Machine *vm);

/* stuck.c */
/* Devices whose group is not complete are stuck.  False if that is the end. */
bool machine_meet(Machine *vm, const Op *op);
/* Behind the last op: false if there are any. */
bool machine_ends(Machine *vm);
/* These are active from now on, but for the stuck. */
void machine_activate(Machine *vm, const bool *active);

/* control.c */
bool machine_call(Machine *vm, const Op *op);
bool machine_while(Machine *vm, const Op *op);
bool machine_if(Machine *vm, const Op *op);

/* manual.c */
bool machine_manual(Machine *vm, const Op *op);
/* Samples and spread of a collective's results, whose values are there. */
bool machine_bound_group(Machine *vm, const Op *op, GroupKernel *kernel);

#endif
