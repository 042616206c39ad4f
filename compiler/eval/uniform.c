/*
 * uniform.c - uniform(x, X) under --check: what each device has is compared, bit by
 * bit, with what the first device of its group has that is there.
 */
#include <stdlib.h>
#include <string.h>
#include "eval/machine.h"

/* The value without what it was padded with, which nobody vouches for. */
static bool
own_part(const Value *v, const Tensor *value, Tensor *own)
{
	static const int64_t start[MAX_RANK];
	Type type = value_whole_type(v);
	bool ok = tensor_new(&type, own);

	if (ok)
		copy_out(value, start, own);
	return ok;
}

static bool
compare_with(Machine *vm, const Op *op, int64_t device, int64_t other)
{
	const Value *v = op->operands[0];
	Tensor own, others = {.data = NULL};
	bool ok = own_part(v, machine_lane(vm, v, device), &own)
		&& own_part(v, machine_lane(vm, v, other), &others);
	size_t bytes = (size_t)dtypes[v->type.dtype].bytes;
	int64_t n = ok ? type_elements(&own.type) : 0, i = 0;

	while (i < n
		&& !memcmp((char *)own.data + (size_t)i * bytes,
			(char *)others.data + (size_t)i * bytes, bytes))
		i++;
	if (i < n)
		*vm->broken = (BrokenVouch){op, device, other, i, tensor_double(&own, i),
			tensor_double(&others, i)};
	tensor_free(&own);
	tensor_free(&others);
	return ok;
}

/* The first device of d's group that is there. */
static int64_t
first_member(const Machine *vm, const Op *op, int64_t d)
{
	const Mesh *mesh = &vm->module->mesh;
	int64_t i = 0;

	while (!vm->active[axes_with_index(mesh, op->axes, d, i)])
		i++;
	return axes_with_index(mesh, op->axes, d, i);
}

bool
machine_vouch(Machine *vm, const Op *op)
{
	bool ok = true;

	for (int64_t d = 0; ok && d < vm->ndevices && !vm->broken->op; d++)
		ok = !vm->active[d] || compare_with(vm, op, d, first_member(vm, op, d));
	return ok;
}

/* Devices that wait for each other although everything holds do so when the program is
   executed, too. */
bool
eval_global_vouches(Module *m, const Tensor *inputs, BrokenVouch *broken)
{
	Tensor *in = (Tensor *)inputs; /* read only */
	Tensor *results;
	EvalFailure failure = {.collective = NULL};

	if (machine_execute(m, 1, NULL, &in, &results, &failure, broken)) {
		tensors_free(results, m->entry->last->noperands);
		free(results);
		return true;
	}
	return broken->op || failure.collective;
}
