/*
 * stuck.c - collectives that not all members of a group reach.
 *
 * Programs that the front accepts have none; a dump that somebody edited may.
 * Its devices wait there for ever, and the others go on without them, to where
 * they wait in turn, or end.  So what is told is what a built program finds at
 * the rendezvous: two devices that wait for each other in different
 * collectives do not agree; any other end of this kind is a deadlock.  What
 * lockstep cannot do is to have devices meet in different rounds of a loop, or
 * in two collectives of one line, which at the rendezvous are alike.
 */
#include "eval/machine.h"

#include <string.h>

static int64_t
members(const Op *op)
{
	return op->axes ? axes_size(op->axes) : 1;
}

static int64_t
member(const Machine *vm, const Op *op, int64_t device, int64_t i)
{
	static const AxisList none;

	return axes_with_index(&vm->module->mesh, op->axes ? op->axes : &none, device, i);
}

static bool
waits_for(const Machine *vm, int64_t device, int64_t other)
{
	const Op *op = vm->stuck[device];

	for (int64_t i = 0; op && i < members(op); i++)
		if (member(vm, op, device, i) == other)
			return true;
	return false;
}

static void
tell(Machine *vm, int64_t device, int64_t other, bool mismatch)
{
	vm->failure = (EvalFailure){.collective = vm->stuck[device],
		.other = vm->stuck[other],
		.device = device,
		.other_device = other,
		.mismatch = mismatch};
}

bool
machine_meet(Machine *vm, const Op *op)
{
	bool incomplete = false;

	for (int64_t d = 0; d < vm->ndevices; d++)
		for (int64_t i = 0; vm->active[d] && i < members(op); i++)
			if (!vm->active[member(vm, op, d, i)]) {
				vm->stuck[d] = op;
				incomplete = true;
			}
	if (!incomplete)
		return true;
	machine_activate(vm, vm->active);
	/* do two devices wait for each other in different collectives? */
	for (int64_t d = 0; d < vm->ndevices; d++)
		for (int64_t i = 0; vm->stuck[d] == op && i < members(op); i++) {
			int64_t other = member(vm, op, d, i);
			if (vm->stuck[other] != op && waits_for(vm, other, d)) {
				tell(vm, d, other, true);
				return false;
			}
		}
	return true;
}

bool
machine_ends(Machine *vm)
{
	for (int64_t d = 0; d < vm->ndevices; d++) {
		const Op *op = vm->stuck[d];
		int64_t missing = d;
		if (!op)
			continue;
		for (int64_t i = 0; i < members(op) && vm->stuck[missing] == op; i++)
			missing = member(vm, op, d, i);
		tell(vm, d, missing, false);
		return false;
	}
	return true;
}

void
machine_activate(Machine *vm, const bool *active)
{
	for (int64_t d = 0; d < vm->ndevices; d++)
		vm->active[d] = active[d] && !vm->stuck[d];
}
