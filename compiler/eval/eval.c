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
EvalListener eval_listener;

static const struct EvalOp {
	Kernel *device;	    /* on one device */
	GroupKernel *group; /* between devices */
	RunOp *machine;
} kernels[OP_COUNT] = {
#define POINTWISE(op, place, signature, kernel, ...) [O_##op] = {.device = kernel},
#define OTHER(op, runs, kernel, ...) [O_##op] = {.runs = kernel},
#define COLLECTIVE(id, ...) [O_##id] = {.group = id},
#include "ir/collectives.def"
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
#undef COLLECTIVE
};

Kernel *
op_kernel(OpKind kind)
{
	return kernels[kind].device;
}

/* ---- lanes -------------------------------------------------------------- */

Tensor *
machine_lane(const Machine *vm, const Value *v, int64_t lane)
{
	return &vm->lanes[(v->id - vm->first) * vm->nlanes + lane];
}

Inexact
machine_value(const Machine *vm, const Value *v, int64_t device)
{
	return (Inexact){.lanes = machine_lane(vm, v, device), .stride = vm->ndevices};
}

void
machine_forget(const Machine *vm, const Value *v)
{
	tensors_free(machine_lane(vm, v, 0), vm->nlanes);
}

bool
machine_take(const Machine *vm, const Value *v, const Block *done, int64_t lane, Tensor *result)
{
	Tensor *t = machine_lane(vm, v, lane);
	if (t->data && (t->lent || v->block != done))
		return tensor_copy(t, result);
	*result = *t;
	t->lent = true;
	return true;
}

/* ---- ops ---------------------------------------------------------------- */

bool
machine_group(Machine *vm, const Op *op, GroupKernel *kernel, const Inexact *operands,
	const Inexact *results)
{
	static const Tensor absent;
	for (int64_t i = 0; i < vm->ndevices * op->noperands; i++)
		vm->operands[i] = operands[i].lanes ? *value_of(&operands[i]) : absent;
	for (int64_t d = 0; d < vm->ndevices; d++)
		vm->results[d] = results[d].lanes ? *value_of(&results[d]) : absent;
	if (op->kind == O_ragged_all_to_all) {
		const char *wrong = ragged_wrong(vm->module, op, vm->operands);
		if (wrong)
			vm->failure = (EvalFailure){.collective = op, .what = wrong};
		if (wrong)
			return false;
	}
	return kernel(vm->module, op, vm->operands, vm->results)
		&& (!vm->sampler || vm->sampler->group(vm, op, kernel, operands, results));
}

/* Room for the values of the results, where the op runs. */
static bool
make_results(const Machine *vm, const Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		for (int64_t d = 0; d < vm->ndevices; d++)
			if (vm->active[d]
				&& !tensor_new(&op->results[i]->type,
					machine_lane(vm, op->results[i], d)))
				return false;
	return true;
}

static bool
run_devices(Machine *vm, const Op *op, Kernel *kernel)
{
	Inexact *operands = vm->inexact, *results = operands + op->noperands;
	bool ok = make_results(vm, op);
	for (int64_t d = 0; ok && d < vm->ndevices; d++) {
		if (!vm->active[d])
			continue;
		for (int i = 0; i < op->noperands; i++) {
			operands[i] = machine_value(vm, op->operands[i], d);
			operands[i].dies = vm->last_use[op->operands[i]->id] == op;
			vm->operands[i] = *value_of(&operands[i]);
		}
		for (int i = 0; i < op->nresults; i++) {
			results[i] = machine_value(vm, op->results[i], d);
			vm->results[i] = *value_of(&results[i]);
		}
		ok = kernel(op, vm->operands, vm->results)
			&& (!vm->sampler || vm->sampler->op(vm->module, op, operands, results));
	}
	return ok;
}

static bool
run_group(Machine *vm, const Op *op, GroupKernel *kernel)
{
	int64_t n = vm->ndevices;
	if (!make_results(vm, op))
		return false;
	if (!machine_meet(vm, op))
		return false;
	Inexact *results = calloc((size_t)n * (GROUP_OPERANDS + 1), sizeof *results);
	Inexact *operands = results ? results + n : NULL;
	for (int64_t d = 0; results && d < n; d++) {
		if (!vm->active[d])
			continue;
		results[d] = machine_value(vm, op->results[0], d);
		for (int i = 0; i < op->noperands; i++)
			operands[i * n + d] = machine_value(vm, op->operands[i], d);
	}
	bool ok = results && machine_group(vm, op, kernel, operands, results);
	free(results);
	return ok;
}

bool
machine_partition_id(Machine *vm, const Op *op)
{
	for (int64_t d = 0; d < vm->ndevices; d++) {
		Tensor *result = machine_lane(vm, op->results[0], d);
		if (!vm->active[d])
			continue;
		if (!tensor_new(&op->results[0]->type, result))
			return false;
		store_wide(D_u32, &d, result->data, 0, 1);
	}
	return true;
}

/* Bodies are closed: every use is in the value's own block. */
bool
machine_block(Machine *vm, const Block *b)
{
	for (const Op *op = b->first; op && op != b->last; op = op->next) {
		const struct EvalOp *e = &kernels[op->kind];
		if (op->kind == O_uniform && vm->broken
			&& (!machine_vouch(vm, op) || (vm->broken->op && !vm->sampler)))
			return false;
		if (!(e->machine	       ? e->machine(vm, op)
				    : e->group ? run_group(vm, op, e->group)
					       : run_devices(vm, op, e->device)))
			return false;
		for (int64_t d = 0; eval_listener.done && d < vm->ndevices; d++)
			if (vm->active[d])
				eval_listener.done(eval_listener.data, op, d);
		for (int i = 0; i < op->noperands; i++)
			if (vm->last_use[op->operands[i]->id] == op)
				machine_forget(vm, op->operands[i]);
		for (int i = 0; i < op->nresults; i++)
			if (!vm->last_use[op->results[i]->id])
				machine_forget(vm, op->results[i]);
	}
	return true;
}

/* ---- machines ----------------------------------------------------------- */

/* Room for the values `first`, first + 1, ... */
static bool
machine_new(Machine *vm)
{
	int64_t lanes;
	size_t room = (size_t)vm->most + (size_t)vm->ndevices * GROUP_OPERANDS;
	if (!mul_i64(vm->ndevices, vm->sampler ? LANES : 1, &vm->nlanes)
		|| !mul_i64(vm->nlanes, vm->nvalues + 1, &lanes))
		return false;
	vm->lanes = calloc((size_t)lanes, sizeof *vm->lanes);
	vm->operands = calloc(room, sizeof *vm->operands);
	vm->results = calloc(room, sizeof *vm->results);
	vm->inexact = calloc(2 * (size_t)vm->most, sizeof *vm->inexact);
	vm->active = malloc((size_t)vm->ndevices);
	vm->stuck = calloc((size_t)vm->ndevices, sizeof *vm->stuck);
	if (!vm->lanes || !vm->operands || !vm->results || !vm->inexact || !vm->active
		|| !vm->stuck)
		return false;
	memset(vm->active, true, (size_t)vm->ndevices);
	return true;
}

void
machine_free(Machine *vm)
{
	if (vm->lanes)
		tensors_free(vm->lanes, vm->nlanes * (vm->nvalues + 1));
	free(vm->lanes);
	free(vm->operands);
	free(vm->results);
	free(vm->inexact);
	free(vm->active);
	free(vm->stuck);
}

/* Those of an op's bodies come right after its results. */
bool
machine_inside(Machine *inner, const Machine *vm, const Op *op, int64_t ndevices)
{
	*inner = (Machine){.module = vm->module,
		.ndevices = ndevices,
		.sampler = vm->sampler,
		.last_use = vm->last_use,
		.most = vm->most,
		.broken = vm->broken};
	inner->first = op->results[op->nresults - 1]->id + 1;
	for (int i = 0; i < op->nbodies; i++) {
		const Block *body = op->bodies[i];
		inner->nvalues += body->nparams;
		for (const Op *o = body->first; o; o = op_following(o, body)) {
			inner->nvalues += o->nresults;
			for (int k = 0; k < o->nbodies; k++)
				inner->nvalues += o->bodies[k]->nparams;
		}
	}
	return machine_new(inner);
}

bool
machine_execute(Module *m, int64_t ndevices, const Sampler *sampler, Tensor *const *inputs,
	Tensor **outputs, EvalFailure *failure, BrokenVouch *broken)
{
	module_number(m);
	Machine vm = {.module = m,
		.ndevices = ndevices,
		.sampler = sampler,
		.most = 1,
		.nvalues = m->nvalues,
		.broken = broken};
	int64_t n = m->entry->last->noperands;
	vm.last_use = calloc((size_t)m->nvalues + 1, sizeof *vm.last_use);
	for (Op *op = m->entry->first; vm.last_use && op; op = op_following(op, m->entry)) {
		int most = op->noperands > op->nresults ? op->noperands : op->nresults;
		vm.most = most > vm.most ? most : vm.most;
		for (int i = 0; i < op->noperands; i++)
			vm.last_use[op->operands[i]->id] = op;
	}
	bool ok = vm.last_use && machine_new(&vm);
	*outputs = ok ? calloc((size_t)(n * vm.nlanes) + 1, sizeof **outputs) : NULL;
	for (int64_t d = 0; *outputs && d < ndevices; d++)
		for (int i = 0; i < m->entry->nparams; i++)
			*machine_lane(&vm, m->entry->params[i], d) = tensor_lend(&inputs[d][i]);
	ok = *outputs && machine_block(&vm, m->entry) && machine_ends(&vm);
	for (int64_t k = 0; ok && k < n * vm.nlanes; k++)
		ok = machine_take(&vm, m->entry->last->operands[k / vm.nlanes], m->entry,
			k % vm.nlanes, &(*outputs)[k]);
	if (*outputs && !ok) {
		tensors_free(*outputs, n * vm.nlanes);
		free(*outputs);
	}
	if (failure)
		*failure = vm.failure;
	machine_free(&vm);
	free(vm.last_use);
	return ok;
}

bool
eval_device(Module *m, Tensor *const *inputs, Tensor **outputs, EvalFailure *failure)
{
	int64_t n = m->mesh.ndevices;
	Tensor *results;
	if (!machine_execute(m, n, NULL, inputs, &results, failure, NULL))
		return false;
	for (int64_t d = 0; d < n; d++)
		for (int i = 0; i < m->entry->last->noperands; i++)
			outputs[d][i] = results[i * n + d];
	free(results);
	return true;
}

bool
eval_global(Module *m, const Tensor *inputs, Tensor *outputs)
{
	Tensor *in = (Tensor *)inputs; /* read only */
	Tensor *results;
	if (!machine_execute(m, 1, NULL, &in, &results, NULL, NULL))
		return false;
	for (int i = 0; i < m->entry->last->noperands; i++)
		outputs[i] = results[i];
	free(results);
	return true;
}
