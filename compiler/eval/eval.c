/*
 * eval.c - walks a module's blocks and calls each op's kernel, found in a
 * table by its kind.
 *
 * Every value has one slot per device (one in all for a global module).  A
 * slot's tensor is freed after the last op that reads it, so the memory in
 * use is that of the live values.  Parameters are borrowed: of the caller's
 * inputs, or of the operands of a call.
 */
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "eval/kernels.h"

typedef struct Slot {
	Inexact is;		/* samples and spread only with bounds */
	bool borrowed;
} Slot;

typedef struct Machine {
	Module *module;
	int64_t ndevices;
	bool bounds;		/* samples too; on one device */
	Slot *slots;		/* [value id * ndevices + device] */
	const Op **last_use;	/* by value id, within the value's block */
	Tensor *operands;	/* of the op at hand: by operand, or device */
	Tensor *results;	/* by device */
	Inexact *inexact;	/* by operand, with bounds */
} Machine;

typedef struct EvalOp {
	Kernel *local;		/* on one device */
	GroupKernel *group;	/* between devices */
} EvalOp;

static const EvalOp kernels[OP_COUNT] = {
	[O_constant] = {constant, NULL},
	[O_iota] = {iota, NULL},
	[O_partition_id] = {partition_id, NULL},
#define FLOAT_UNARY(op, f) [O_##op] = {elementwise, NULL},
#define UNARY(op, f, i) [O_##op] = {elementwise, NULL},
#define BINARY(op, f, i) [O_##op] = {elementwise, NULL},
#define TERNARY(op, f, i) [O_##op] = {elementwise, NULL},
#include "eval/pointwise.def"
#undef FLOAT_UNARY
#undef UNARY
#undef BINARY
#undef TERNARY
	[O_isfinite] = {is_finite, NULL},
	[O_compare] = {compare, NULL},
	[O_convert] = {convert, NULL},
	[O_select] = {select_elements, NULL},
	[O_broadcast] = {broadcast, NULL},
	[O_reshape] = {identity, NULL},
	[O_transpose] = {transpose, NULL},
	[O_slice] = {slice, NULL},
	[O_concatenate] = {concatenate, NULL},
	[O_pad] = {pad, NULL},
	[O_reverse] = {reverse, NULL},
	[O_dot] = {dot, NULL},
	[O_reduce] = {reduce, NULL},
	[O_cumsum] = {cumsum, NULL},
	[O_take] = {take, NULL},
	[O_dynamic_slice] = {dynamic_slice, NULL},
	[O_constraint] = {identity, NULL},
	[O_reshard] = {identity, NULL},
	[O_barrier] = {identity, NULL},
	[O_shard_like] = {identity, NULL},
	[O_output] = {identity, NULL},
	[O_all_gather] = {NULL, all_gather},
	[O_all_reduce] = {NULL, all_reduce},
	[O_reduce_scatter] = {NULL, reduce_scatter},
	[O_all_to_all] = {NULL, all_to_all},
	[O_collective_permute] = {NULL, collective_permute},
};

Kernel *
op_kernel(OpKind kind)
{
	return kernels[kind].local;
}

/* ---- slots -------------------------------------------------------------- */

static Slot *
slot(const Machine *vm, const Value *v, int64_t device)
{
	return &vm->slots[v->id * vm->ndevices + device];
}

static void
slot_free(const Machine *vm, const Value *v)
{
	for (int64_t d = 0; d < vm->ndevices; d++) {
		Slot *s = slot(vm, v, d);
		if (!s->borrowed)
			inexact_free(&s->is);
		memset(s, 0, sizeof *s);
	}
}

/* The value leaves its slot, if the slot's block is done with it. */
static bool
slot_take(const Machine *vm, const Value *v, const Block *done, int64_t device,
	Inexact *result)
{
	Slot *s = slot(vm, v, device);
	if (s->borrowed || v->block != done)
		return inexact_copy(&s->is, result);
	*result = s->is;
	s->borrowed = true;
	return true;
}

/* ---- lifetimes ---------------------------------------------------------- */

/* Where an op in a nested block reads a value of an outer one, the use
   counts for the op that owns the nested block. */
static void
note_uses(Op *op, void *data)
{
	Machine *vm = data;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		const Op *user = op;
		while (user->block != v->block)
			user = user->block->parent;
		vm->last_use[v->id] = user;
	}
}

static void
free_dead(const Machine *vm, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		if (vm->last_use[op->operands[i]->id] == op)
			slot_free(vm, op->operands[i]);
	for (int i = 0; i < op->nresults; i++)
		if (!vm->last_use[op->results[i]->id])
			slot_free(vm, op->results[i]);
}

/* ---- ops ---------------------------------------------------------------- */

static bool run_block(Machine *vm, const Block *b);

static bool
run_call(Machine *vm, const Op *op)
{
	const Block *body = op->bodies[0];
	for (int i = 0; i < op->noperands; i++) {
		for (int64_t d = 0; d < vm->ndevices; d++) {
			Slot *param = slot(vm, body->params[i], d);
			param->is = slot(vm, op->operands[i], d)->is;
			param->borrowed = true;
		}
	}
	if (!run_block(vm, body))
		return false;
	for (int i = 0; i < op->nresults; i++)
		for (int64_t d = 0; d < vm->ndevices; d++)
			if (!slot_take(vm, body->last->operands[i], body, d,
			    &slot(vm, op->results[i], d)->is))
				return false;
	for (int i = 0; i < op->nresults; i++)
		if (body->last->operands[i]->block == body)
			slot_free(vm, body->last->operands[i]);
	return true;
}

static bool
run_local(Machine *vm, const Op *op, Kernel *kernel, int64_t device)
{
	Context c = {device};
	Inexact *result = &slot(vm, op->results[0], device)->is;
	for (int i = 0; i < op->noperands; i++)
		vm->operands[i] = slot(vm, op->operands[i], device)->is.value;
	if (!kernel(&c, op, vm->operands, &result->value))
		return false;
	if (!vm->bounds)
		return true;
	for (int i = 0; i < op->noperands; i++)
		vm->inexact[i] = slot(vm, op->operands[i], device)->is;
	return bound(vm->module, op, vm->inexact, result);
}

static bool
run_group(Machine *vm, const Op *op, GroupKernel *kernel)
{
	for (int64_t d = 0; d < vm->ndevices; d++) {
		vm->operands[d] = slot(vm, op->operands[0], d)->is.value;
		vm->results[d] = slot(vm, op->results[0], d)->is.value;
	}
	return kernel(vm->module, op, vm->operands, vm->results);
}

static bool
run_kernel(Machine *vm, const Op *op)
{
	const EvalOp *e = &kernels[op->kind];
	if (!e->local && !e->group)
		die("the interpreter has no %s", ops[op->kind].name);
	for (int64_t d = 0; d < vm->ndevices; d++)
		if (!tensor_new(&op->results[0]->type,
		    &slot(vm, op->results[0], d)->is.value))
			return false;
	if (e->group)
		return run_group(vm, op, e->group);
	for (int64_t d = 0; d < vm->ndevices; d++)
		if (!run_local(vm, op, e->local, d))
			return false;
	return true;
}

/* All but the return, whose operands the caller takes. */
static bool
run_block(Machine *vm, const Block *b)
{
	for (const Op *op = b->first; op && op->kind != O_return;
	    op = op->next) {
		bool ok = op->kind == O_call ? run_call(vm, op) :
			run_kernel(vm, op);
		if (!ok)
			return false;
		free_dead(vm, op);
	}
	return true;
}

/* ---- machines ----------------------------------------------------------- */

static void
most_operands(Op *op, void *data)
{
	int *most = data;
	if (op->noperands > *most)
		*most = op->noperands;
}

static bool
machine_start(Machine *vm, Module *m, int64_t ndevices)
{
	int most = 1;
	int64_t slots;
	module_number(m);
	module_walk(m, most_operands, &most);
	*vm = (Machine){.module = m, .ndevices = ndevices};
	if (!mul_i64(ndevices, m->nvalues + 1, &slots))
		return false;
	vm->slots = calloc((size_t)slots, sizeof *vm->slots);
	vm->last_use = calloc((size_t)m->nvalues + 1, sizeof *vm->last_use);
	vm->operands = calloc((size_t)most + (size_t)ndevices,
		sizeof *vm->operands);
	vm->results = calloc((size_t)ndevices, sizeof *vm->results);
	vm->inexact = calloc((size_t)most, sizeof *vm->inexact);
	if (!vm->slots || !vm->last_use || !vm->operands || !vm->results ||
	    !vm->inexact)
		return false;
	module_walk(m, note_uses, vm);
	return true;
}

static void
machine_end(Machine *vm)
{
	int64_t n = vm->slots ? vm->ndevices * (vm->module->nvalues + 1) : 0;
	for (int64_t i = 0; i < n; i++)
		if (!vm->slots[i].borrowed)
			inexact_free(&vm->slots[i].is);
	free(vm->slots);
	free(vm->last_use);
	free(vm->operands);
	free(vm->results);
	free(vm->inexact);
}

static bool
machine_run(Machine *vm, Tensor *const *inputs, Inexact *outputs)
{
	const Block *entry = vm->module->entry;
	int n = entry->last->noperands;
	for (int64_t d = 0; d < vm->ndevices; d++) {
		for (int i = 0; i < entry->nparams; i++) {
			Slot *param = slot(vm, entry->params[i], d);
			param->is.value = inputs[d][i];
			param->borrowed = true;
		}
	}
	if (!run_block(vm, entry))
		return false;
	for (int64_t d = 0; d < vm->ndevices; d++)
		for (int i = 0; i < n; i++)
			if (!slot_take(vm, entry->last->operands[i], entry, d,
			    &outputs[d * n + i]))
				return false;
	return true;
}

/* NULL: no memory.  Outputs are [device * results + i]. */
static Inexact *
run(Module *m, int64_t ndevices, bool bounds, Tensor *const *inputs)
{
	Machine vm;
	size_t n = (size_t)ndevices * (size_t)m->entry->last->noperands;
	Inexact *outputs = calloc(n + 1, sizeof *outputs);
	bool ok = machine_start(&vm, m, ndevices);
	vm.bounds = bounds;
	ok = ok && outputs && machine_run(&vm, inputs, outputs);
	machine_end(&vm);
	if (ok)
		return outputs;
	for (size_t i = 0; outputs && i < n; i++)
		inexact_free(&outputs[i]);
	free(outputs);
	return NULL;
}

bool
eval_device(Module *m, Tensor *const *inputs, Tensor **outputs)
{
	int n = m->entry->last->noperands;
	Inexact *results = run(m, m->mesh.ndevices, false, inputs);
	if (!results)
		return false;
	for (int64_t d = 0; d < m->mesh.ndevices; d++)
		for (int i = 0; i < n; i++)
			outputs[d][i] = results[d * n + i].value;
	free(results);
	return true;
}

static bool
eval_whole(Module *m, const Tensor *inputs, Tensor *outputs, double **bounds)
{
	Tensor *in = (Tensor *)inputs;	/* read only, as in run() */
	Inexact *results = run(m, 1, bounds, &in);
	bool ok = true;
	if (!results)
		return false;
	for (int i = 0; i < m->entry->last->noperands; i++) {
		ok = ok && (!bounds || inexact_bounds(&results[i], &bounds[i]));
		outputs[i] = results[i].value;
		results[i].value.data = NULL;
		inexact_free(&results[i]);
	}
	free(results);
	return ok;
}

bool
eval_global(Module *m, const Tensor *inputs, Tensor *outputs)
{
	return eval_whole(m, inputs, outputs, NULL);
}

bool
eval_global_bounds(Module *m, const Tensor *inputs, Tensor *outputs,
	double **bounds)
{
	return eval_whole(m, inputs, outputs, bounds);
}
