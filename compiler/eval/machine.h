/*
 * machine.h - the interpreter while it runs: what its files share.
 *
 * Every value has a lane for each device (one in all for a global module).  A
 * machine with a sampler has more: for each device those of Inexact, so that
 * lane `device + k * ndevices` is sample k of what the device has, counted from
 * 1, and the last ones are spreads.  Lanes that are not needed have no data.
 *
 * A lane's tensor is freed after the last op that reads it, so the memory in
 * use is that of the live values.  Parameters are lent: by the caller, or by
 * the op that the block is a body of.
 *
 * Devices run in lockstep.  Those that wait, because their loop has ended or
 * their condition chose the other branch, are not active: their lanes are
 * left as they are.  Nor are those that are stuck, which they stay.
 */
#ifndef SHDC_EVAL_MACHINE_H
#define SHDC_EVAL_MACHINE_H

#include "eval/kernels.h"

enum { GROUP_OPERANDS = 6 }; /* of a collective, at most */

typedef struct Machine Machine;

/* Fills the lanes behind the values of an op's results, which are there
   (check/samples.c).  False: no memory. */
typedef struct Sampler {
	bool (*op)(const Module *m, const Op *op, const Inexact *operands,
		const Inexact *results);
	/* Operands are [operand * devices + device]; `lanes` NULL: not there. */
	bool (*group)(Machine *vm, const Op *op, GroupKernel *kernel, const Inexact *operands,
		const Inexact *results);
	/* Every element may be anything: a decision was doubtful. */
	bool (*doubt)(const Inexact *result);
} Sampler;

struct Machine {
	Module *module;
	int64_t ndevices;
	const Sampler *sampler; /* NULL: values alone */
	int64_t nlanes;		/* of a value */
	bool *active;		/* by device */
	const Op **stuck;	/* by device: the collective that it waits in
				   for ever, or NULL */
	int first, nvalues;	/* the ids that it has lanes for */
	Tensor *lanes;		/* [(id - first) * nlanes + lane] */
	const Op **last_use;	/* by value id, within the value's block */
	int most;		/* operands or results of an op */
	Tensor *operands;	/* of the op at hand: by operand, or operand
				   and device */
	Tensor *results;	/* by result, or device */
	Inexact *inexact;	/* by operand, then by result */
	EvalFailure failure;
	BrokenVouch *broken; /* the run's; NULL: nobody asks */
};

/* eval.c */
Tensor *machine_lane(const Machine *vm, const Value *v, int64_t lane);
Inexact machine_value(const Machine *vm, const Value *v, int64_t device);
static inline bool
lane_is_active(const Machine *vm, int64_t lane)
{
	return vm->active[lane % vm->ndevices];
}
void machine_forget(const Machine *vm, const Value *v);
/* The value leaves its lane, if the lane's block is done with it. */
bool machine_take(const Machine *vm, const Value *v, const Block *done, int64_t lane,
	Tensor *result);
/* All but the return, whose operands the caller takes. */
bool machine_block(Machine *vm, const Block *b);
/* The results of a collective, which have room for the values. */
bool machine_group(Machine *vm, const Op *op, GroupKernel *kernel, const Inexact *operands,
	const Inexact *results);
/* A machine for the bodies of an op, on so many devices; to be freed even
   where there is no memory for it. */
bool machine_inside(Machine *inner, const Machine *vm, const Op *op, int64_t ndevices);
void machine_free(Machine *vm);
/* A whole program: *outputs is [result * lanes + lane], malloc'ed. */
bool machine_execute(Module *m, int64_t ndevices, const Sampler *sampler, Tensor *const *inputs,
	Tensor **outputs, EvalFailure *failure, BrokenVouch *broken);
typedef bool RunOp(Machine *vm, const Op *op);
RunOp machine_partition_id;

/* stuck.c */
/* Devices whose group is not complete are stuck.  False if that is the end. */
bool machine_meet(Machine *vm, const Op *op);
/* Behind the last op: false if there are any. */
bool machine_ends(Machine *vm);
/* These are active from now on, but for the stuck. */
void machine_activate(Machine *vm, const bool *active);

RunOp machine_call, machine_while, machine_if; /* control.c */
RunOp machine_manual;			       /* manual.c */
/* uniform.c: whether the value is what is vouched; false: no memory. */
RunOp machine_vouch;

#endif
