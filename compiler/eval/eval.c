/*
 * eval.c - walks a module's blocks and calls each op's kernel, found in a
 * table by its kind.
 */
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "eval/machine.h"

const Op *_Atomic eval_loop;
atomic_ullong eval_progress;

typedef bool RunOp(Machine *vm, const Op *op);
typedef struct EvalOp {
	Kernel *device;	    /* on one device */
	GroupKernel *group; /* between devices */
	RunOp *bodies;
} EvalOp;

static const EvalOp kernels[OP_COUNT] = {
#define POINTWISE(op, place, signature, kernel, ...) [O_##op] = {.device = kernel},
#define OTHER(op, runs, kernel, ...) [O_##op] = {.runs = kernel},
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
#define COLLECTIVE(id, ...) [O_##id] = {.group = id},
#include "ir/collectives.def"
#undef COLLECTIVE
};

Kernel *
op_kernel(OpKind kind)
{
	return kernels[kind].device;
}

/* ---- slots -------------------------------------------------------------- */

Slot *
slot(const Machine *vm, const Value *v, int64_t device)
{
	return &vm->slots[(v->id - vm->first) * vm->ndevices + device];
}

void
slot_free(const Machine *vm, const Value *v)
{
	for (int64_t d = 0; d < vm->ndevices; d++) {
		Slot *s = slot(vm, v, d);
		if (!s->borrowed)
			inexact_free(&s->is);
		memset(s, 0, sizeof *s);
	}
}

bool
slot_take(const Machine *vm, const Value *v, const Block *done, int64_t device, Inexact *result)
{
	Slot *s = slot(vm, v, device);
	if (s->borrowed || v->block != done)
		return inexact_copy(&s->is, result);
	*result = s->is;
	s->borrowed = true;
	return true;
}

/* ---- lifetimes ---------------------------------------------------------- */

/* Bodies are closed: every use is in the value's own block. */
static void
note_uses(Op *op, void *data)
{
	Machine *vm = data;
	for (int i = 0; i < op->noperands; i++)
		vm->last_use[op->operands[i]->id] = op;
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

/* Ops of several results. */
typedef bool BoundMany(const Op *op, const Inexact *x, Inexact *const *results);
static BoundMany *const bound_many[OP_COUNT] = {
	[O_sort] = bound_sort,
	[O_extern] = bound_extern,
};

static bool
bound_results(Machine *vm, const Op *op, int64_t device)
{
	for (int i = 0; i < op->noperands; i++)
		vm->inexact[i] = slot(vm, op->operands[i], device)->is;
	Inexact *first = &slot(vm, op->results[0], device)->is;
	if (!bound_many[op->kind])
		return bound(vm->module, op, vm->inexact, first);
	Inexact **results = calloc((size_t)op->nresults, sizeof *results);
	for (int i = 0; results && i < op->nresults; i++)
		results[i] = &slot(vm, op->results[i], device)->is;
	bool ok = results && bound_many[op->kind](op, vm->inexact, results);
	free(results);
	return ok;
}

static bool
run_local(Machine *vm, const Op *op, Kernel *kernel, int64_t device)
{
	Context c = {device};
	for (int i = 0; i < op->noperands; i++)
		vm->operands[i] = slot(vm, op->operands[i], device)->is.value;
	for (int i = 0; i < op->nresults; i++)
		vm->results[i] = slot(vm, op->results[i], device)->is.value;
	return kernel(&c, op, vm->operands, vm->results)
		&& (!vm->bounds || bound_results(vm, op, device));
}

static bool
check_ragged(Machine *vm, const Op *op)
{
	const char *wrong = ragged_wrong(vm->module, op, vm->operands);
	if (wrong)
		vm->failure = (EvalFailure){.collective = op, .what = wrong};
	return !wrong;
}

static bool
run_group(Machine *vm, const Op *op, GroupKernel *kernel)
{
	if (!machine_meet(vm, op))
		return false;
	for (int64_t d = 0; d < vm->ndevices; d++) {
		vm->results[d] = (Tensor){.data = NULL};
		for (int i = 0; i < op->noperands; i++)
			vm->operands[i * vm->ndevices + d] = vm->results[d];
		if (!vm->active[d])
			continue;
		vm->results[d] = slot(vm, op->results[0], d)->is.value;
		for (int i = 0; i < op->noperands; i++)
			vm->operands[i * vm->ndevices + d] =
				slot(vm, op->operands[i], d)->is.value;
	}
	if (op->kind == O_ragged_all_to_all && !check_ragged(vm, op))
		return false;
	return kernel(vm->module, op, vm->operands, vm->results)
		&& (!vm->bounds || machine_bound_group(vm, op, kernel));
}

static bool
new_results(const Machine *vm, const Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		for (int64_t d = 0; d < vm->ndevices; d++)
			if (vm->active[d]
				&& !tensor_new(&op->results[i]->type,
					&slot(vm, op->results[i], d)->is.value))
				return false;
	return true;
}

static bool
run_op(Machine *vm, const Op *op)
{
	const EvalOp *e = &kernels[op->kind];
	if (e->bodies)
		return e->bodies(vm, op);
	if (!new_results(vm, op))
		return false;
	eval_progress += e->group != NULL;
	if (e->group)
		return run_group(vm, op, e->group);
	for (int64_t d = 0; d < vm->ndevices; d++)
		if (vm->active[d] && !run_local(vm, op, e->device, d))
			return false;
	return true;
}

bool
machine_block(Machine *vm, const Block *b)
{
	for (const Op *op = b->first; op && op->kind != O_return; op = op->next) {
		if (!run_op(vm, op))
			return false;
		free_dead(vm, op);
	}
	return true;
}

/* ---- machines ----------------------------------------------------------- */

static void
most_values(Op *op, void *data)
{
	int *most = data;
	int n = op->noperands > op->nresults ? op->noperands : op->nresults;
	if (n > *most)
		*most = n;
}

/* Room for the values `first`, first + 1, ... */
static bool
machine_new(Machine *vm)
{
	int64_t slots;
	size_t room = (size_t)vm->most + (size_t)vm->ndevices * GROUP_OPERANDS;
	if (!mul_i64(vm->ndevices, vm->nvalues + 1, &slots))
		return false;
	vm->slots = calloc((size_t)slots, sizeof *vm->slots);
	vm->operands = calloc(room, sizeof *vm->operands);
	vm->results = calloc(room, sizeof *vm->results);
	vm->inexact = calloc((size_t)vm->most, sizeof *vm->inexact);
	vm->active = malloc((size_t)vm->ndevices);
	vm->stuck = calloc((size_t)vm->ndevices, sizeof *vm->stuck);
	if (!vm->slots || !vm->operands || !vm->results || !vm->inexact || !vm->active
		|| !vm->stuck)
		return false;
	memset(vm->active, true, (size_t)vm->ndevices);
	return true;
}

void
machine_free(Machine *vm)
{
	int64_t n = vm->slots ? vm->ndevices * (vm->nvalues + 1) : 0;
	for (int64_t i = 0; i < n; i++)
		if (!vm->slots[i].borrowed)
			inexact_free(&vm->slots[i].is);
	free(vm->slots);
	free(vm->operands);
	free(vm->results);
	free(vm->inexact);
	free(vm->active);
	free(vm->stuck);
}

static void
count_values(Op *op, void *data)
{
	int *n = data;
	*n += op->nresults;
	for (int i = 0; i < op->nbodies; i++)
		*n += op->bodies[i]->nparams;
}

/* Those of an op's bodies come right after its results. */
bool
machine_inside(Machine *inner, const Machine *vm, const Op *op, int64_t ndevices)
{
	*inner = (Machine){.module = vm->module,
		.ndevices = ndevices,
		.bounds = vm->bounds,
		.last_use = vm->last_use,
		.most = vm->most};
	inner->first = op->results[op->nresults - 1]->id + 1;
	for (int i = 0; i < op->nbodies; i++) {
		inner->nvalues += op->bodies[i]->nparams;
		block_walk(op->bodies[i], count_values, &inner->nvalues);
	}
	return machine_new(inner);
}

static bool
machine_start(Machine *vm, Module *m, int64_t ndevices)
{
	module_number(m);
	*vm = (Machine){.module = m, .ndevices = ndevices, .most = 1, .nvalues = m->nvalues};
	module_walk(m, most_values, &vm->most);
	vm->last_use = calloc((size_t)m->nvalues + 1, sizeof *vm->last_use);
	if (!vm->last_use || !machine_new(vm))
		return false;
	module_walk(m, note_uses, vm);
	return true;
}

static void
machine_end(Machine *vm)
{
	machine_free(vm);
	free(vm->last_use);
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
	if (!machine_block(vm, entry) || !machine_ends(vm))
		return false;
	for (int64_t d = 0; d < vm->ndevices; d++)
		for (int i = 0; i < n; i++)
			if (!slot_take(vm, entry->last->operands[i], entry, d,
				    &outputs[d * n + i]))
				return false;
	return true;
}

/* NULL after a failure.  Outputs are [device * results + i]. */
static Inexact *
run(Module *m, int64_t ndevices, bool bounds, Tensor *const *inputs, EvalFailure *failure)
{
	Machine vm;
	size_t n = (size_t)ndevices * (size_t)m->entry->last->noperands;
	Inexact *outputs = calloc(n + 1, sizeof *outputs);
	bool ok = machine_start(&vm, m, ndevices);
	vm.bounds = bounds;
	ok = ok && outputs && machine_run(&vm, inputs, outputs);
	if (failure)
		*failure = vm.failure;
	machine_end(&vm);
	if (ok)
		return outputs;
	for (size_t i = 0; outputs && i < n; i++)
		inexact_free(&outputs[i]);
	free(outputs);
	return NULL;
}

bool
eval_device(Module *m, Tensor *const *inputs, Tensor **outputs, EvalFailure *failure)
{
	int n = m->entry->last->noperands;
	Inexact *results = run(m, m->mesh.ndevices, false, inputs, failure);
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
	Tensor *in = (Tensor *)inputs; /* read only, as in run() */
	Inexact *results = run(m, 1, bounds, &in, NULL);
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
eval_global_bounds(Module *m, const Tensor *inputs, Tensor *outputs, double **bounds)
{
	return eval_whole(m, inputs, outputs, bounds);
}
