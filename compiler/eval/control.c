/*
 * control.c - ops with bodies: composites, loops and choices.
 *
 * With bounds, a decision that rounding may make otherwise leaves anything in
 * the results.
 */
#include "eval/machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- in and out of bodies ----------------------------------------------- */

/* The parameters see `args`, [parameter * ndevices + device]. */
static void
lend(const Machine *vm, const Block *body, const Slot *args)
{
	for (int i = 0; i < body->nparams; i++) {
		for (int64_t d = 0; d < vm->ndevices; d++) {
			if (!vm->active[d])
				continue;
			Slot *param = slot(vm, body->params[i], d);
			param->is = args[i * vm->ndevices + d].is;
			param->borrowed = true;
		}
	}
}

/* Views of the operands from `first` on, for the values to be. */
static Slot *
arguments(const Machine *vm, const Op *op, int first)
{
	size_t n = (size_t)(op->noperands - first) * (size_t)vm->ndevices;
	Slot *args = calloc(n + 1, sizeof *args);
	for (int i = first; args && i < op->noperands; i++) {
		for (int64_t d = 0; d < vm->ndevices; d++) {
			Slot *arg = &args[(i - first) * vm->ndevices + d];
			arg->is = slot(vm, op->operands[i], d)->is;
			arg->borrowed = true;
		}
	}
	return args;
}

static void
free_args(Slot *args, size_t n)
{
	for (size_t i = 0; args && i < n; i++)
		if (!args[i].borrowed)
			inexact_free(&args[i].is);
	free(args);
}

/* What a body returned is gone from its slots. */
static void
leave(const Machine *vm, const Block *body)
{
	for (int i = 0; i < body->last->noperands; i++)
		slot_free(vm, body->last->operands[i]);
	for (int i = 0; i < body->nparams; i++)
		slot_free(vm, body->params[i]);
}

/* Runs a body and gives its results to those of the op. */
static bool
run_body(Machine *vm, const Op *op, const Block *body, const Slot *args)
{
	lend(vm, body, args);
	if (!machine_block(vm, body))
		return false;
	for (int i = 0; i < op->nresults; i++)
		for (int64_t d = 0; d < vm->ndevices; d++)
			if (vm->active[d]
				&& !slot_take(vm, body->last->operands[i], body, d,
					&slot(vm, op->results[i], d)->is))
				return false;
	leave(vm, body);
	return true;
}

bool
machine_call(Machine *vm, const Op *op)
{
	Slot *args = arguments(vm, op, 0);
	bool ok = args && run_body(vm, op, op->bodies[0], args);
	free(args);
	return ok;
}

/* ---- decisions ---------------------------------------------------------- */

/* Where a device is active, whether the scalar is true there. */
static bool
any_true(const Machine *vm, const Value *v, bool *chosen)
{
	bool any = false;
	for (int64_t d = 0; d < vm->ndevices; d++) {
		chosen[d] = vm->active[d] && tensor_integer(&slot(vm, v, d)->is.value, 0);
		any = any || chosen[d];
	}
	return any;
}

static bool
is_doubtful(const Machine *vm, const Value *v)
{
	return vm->bounds && !is_exact(&slot(vm, v, 0)->is);
}

static bool
doubt(const Machine *vm, const Value *v)
{
	return inexact_anything(&slot(vm, v, 0)->is);
}

/* The devices that are active and those that wait, apart. */
static bool *
copy_active(const Machine *vm)
{
	size_t n = (size_t)vm->ndevices;
	bool *copy = malloc(n);
	if (copy)
		memcpy(copy, vm->active, n);
	return copy;
}

/* ---- loops -------------------------------------------------------------- */

typedef struct Loop {
	const Op *op;
	Slot *carried; /* [value * ndevices + device] */
	Slot *next;
	size_t n;
	bool doubtful; /* how often it runs */
} Loop;

static bool
take_next(const Machine *vm, Loop *loop)
{
	const Block *body = loop->op->bodies[1];
	memset(loop->next, 0, loop->n * sizeof *loop->next);
	for (int i = 0; i < body->nparams; i++)
		for (int64_t d = 0; d < vm->ndevices; d++)
			if (vm->active[d] && !loop_hands_on(loop->op, i)
				&& !slot_take(vm, body->last->operands[i], body, d,
					&loop->next[i * vm->ndevices + d].is))
				return false;
	return true;
}

static void
carry_next(const Machine *vm, Loop *loop)
{
	for (size_t k = 0; k < loop->n; k++) {
		if (!loop->next[k].is.value.data)
			continue;
		if (!loop->carried[k].borrowed)
			inexact_free(&loop->carried[k].is);
		loop->carried[k] = loop->next[k];
		loop->next[k] = (Slot){.borrowed = true};
	}
	leave(vm, loop->op->bodies[1]);
}

/* One round of the devices for which the condition holds. */
static bool
run_round(Machine *vm, Loop *loop, bool *more)
{
	const Block *condition = loop->op->bodies[0], *body = loop->op->bodies[1];
	const Value *decision = condition->last->operands[0];
	lend(vm, condition, loop->carried);
	if (!machine_block(vm, condition))
		return false;
	loop->doubtful |= is_doubtful(vm, decision);
	*more = any_true(vm, decision, vm->active);
	leave(vm, condition);
	if (!*more)
		return true;
	lend(vm, body, loop->carried);
	if (!machine_block(vm, body))
		return false;
	bool ok = take_next(vm, loop);
	carry_next(vm, loop);
	return ok;
}

static bool
keep_results(const Machine *vm, Loop *loop)
{
	for (int i = 0; i < loop->op->nresults; i++) {
		const Value *v = loop->op->results[i];
		for (int64_t d = 0; d < vm->ndevices; d++) {
			Slot *from = &loop->carried[i * vm->ndevices + d];
			Inexact *to = &slot(vm, v, d)->is;
			if (!vm->active[d])
				continue;
			if (!from->borrowed)
				*to = from->is;
			else if (!inexact_copy(&from->is, to))
				return false;
			from->borrowed = true;
		}
		if (loop->doubtful && !loop_hands_on(loop->op, i) && !doubt(vm, v))
			return false;
	}
	return true;
}

bool
machine_while(Machine *vm, const Op *op)
{
	Loop loop = {.op = op, .carried = arguments(vm, op, 0)};
	bool *active = copy_active(vm), more = true;
	loop.n = (size_t)op->noperands * (size_t)vm->ndevices;
	loop.next = calloc(loop.n + 1, sizeof *loop.next);
	bool ok = loop.carried && loop.next && active;
	const Op *around = eval_loop;
	if (!op_ints(op, A_trips)->n)
		eval_loop = op;
	while (ok && more)
		ok = run_round(vm, &loop, &more);
	eval_loop = around;
	eval_progress += !around;
	if (active)
		machine_activate(vm, active);
	ok = ok && keep_results(vm, &loop);
	free_args(loop.carried, loop.n);
	free_args(loop.next, loop.n);
	free(active);
	return ok;
}

/* ---- choices ------------------------------------------------------------ */

bool
machine_if(Machine *vm, const Op *op)
{
	Slot *args = arguments(vm, op, 1);
	bool *active = copy_active(vm), *chosen = copy_active(vm);
	bool ok = args && active && chosen;
	if (ok)
		any_true(vm, op->operands[0], chosen);
	for (int b = 0; ok && b < 2; b++) {
		bool any = false;
		for (int64_t d = 0; d < vm->ndevices; d++) {
			vm->active[d] = active[d] && !vm->stuck[d] && chosen[d] != (b == 1);
			any = any || vm->active[d];
		}
		ok = !any || run_body(vm, op, op->bodies[b], args);
	}
	if (active)
		machine_activate(vm, active);
	for (int i = 0; ok && i < op->nresults; i++)
		if (is_doubtful(vm, op->operands[0]))
			ok = doubt(vm, op->results[i]);
	free(args);
	free(active);
	free(chosen);
	return ok;
}
