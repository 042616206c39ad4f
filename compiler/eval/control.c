/*
 * control.c - ops with bodies: composites, loops and choices.
 *
 * With samples, a decision that rounding may make otherwise leaves anything in
 * the results.
 */
#include "eval/machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- in and out of bodies ----------------------------------------------- */

/* The parameters see `args`, [parameter * lanes + lane]. */
static void
lend(const Machine *vm, const Block *body, const Tensor *args)
{
	for (int i = 0; i < body->nparams; i++)
		for (int64_t k = 0; k < vm->nlanes; k++)
			if (lane_is_active(vm, k))
				*machine_lane(vm, body->params[i], k) =
					tensor_lend(&args[i * vm->nlanes + k]);
}

/* The operands from `first` on, for the values to be. */
static Tensor *
arguments(const Machine *vm, const Op *op, int first)
{
	size_t n = (size_t)(op->noperands - first) * (size_t)vm->nlanes;
	Tensor *args = calloc(n + 1, sizeof *args);
	for (int i = first; args && i < op->noperands; i++)
		for (int64_t k = 0; k < vm->nlanes; k++)
			args[(i - first) * vm->nlanes + k] =
				tensor_lend(machine_lane(vm, op->operands[i], k));
	return args;
}

/* What a body returned is gone from its lanes. */
static void
leave(const Machine *vm, const Block *body)
{
	for (int i = 0; i < body->last->noperands; i++)
		machine_forget(vm, body->last->operands[i]);
	for (int i = 0; i < body->nparams; i++)
		machine_forget(vm, body->params[i]);
}

/* Runs a body and gives its results to those of the op. */
static bool
run_body(Machine *vm, const Op *op, const Block *body, const Tensor *args)
{
	lend(vm, body, args);
	if (!machine_block(vm, body))
		return false;
	for (int i = 0; i < op->nresults; i++)
		for (int64_t k = 0; k < vm->nlanes; k++)
			if (lane_is_active(vm, k)
				&& !machine_take(vm, body->last->operands[i], body, k,
					machine_lane(vm, op->results[i], k)))
				return false;
	leave(vm, body);
	return true;
}

bool
machine_call(Machine *vm, const Op *op)
{
	Tensor *args = arguments(vm, op, 0);
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
		chosen[d] = vm->active[d] && tensor_integer(machine_lane(vm, v, d), 0);
		any = any || chosen[d];
	}
	return any;
}

static bool
is_doubtful(const Machine *vm, const Value *v)
{
	Inexact x = machine_value(vm, v, 0);
	return vm->sampler && !is_exact(&x);
}

static bool
doubt(const Machine *vm, const Value *v)
{
	Inexact x = machine_value(vm, v, 0);
	return vm->sampler->doubt(&x);
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
	Tensor *carried; /* [value * lanes + lane] */
	Tensor *next;
	int64_t n;
	bool doubtful; /* how often it runs */
} Loop;

/* What the body returned is carried from now on, where it ran. */
static bool
carry_next(const Machine *vm, Loop *loop)
{
	const Block *body = loop->op->bodies[1];
	memset(loop->next, 0, (size_t)loop->n * sizeof *loop->next);
	for (int64_t k = 0; k < loop->n; k++) {
		int i = (int)(k / vm->nlanes);
		int64_t lane = k % vm->nlanes;
		if (!lane_is_active(vm, lane) || loop_hands_on(loop->op, i))
			continue;
		if (!machine_take(vm, body->last->operands[i], body, lane, &loop->next[k]))
			return false;
	}
	for (int64_t k = 0; k < loop->n; k++) {
		if (!lane_is_active(vm, k % vm->nlanes)
			|| loop_hands_on(loop->op, (int)(k / vm->nlanes)))
			continue;
		tensor_free(&loop->carried[k]);
		loop->carried[k] = loop->next[k];
		loop->next[k].lent = true;
	}
	leave(vm, body);
	return true;
}

static bool
keep_results(const Machine *vm, Loop *loop)
{
	for (int i = 0; i < loop->op->nresults; i++) {
		const Value *v = loop->op->results[i];
		for (int64_t k = 0; k < vm->nlanes; k++) {
			Tensor *from = &loop->carried[i * vm->nlanes + k];
			Tensor *to = machine_lane(vm, v, k);
			if (!lane_is_active(vm, k) || !from->data)
				continue;
			if (!from->lent)
				*to = *from;
			else if (!tensor_copy(from, to))
				return false;
			from->lent = true;
		}
		if (loop->doubtful && !loop_hands_on(loop->op, i) && !doubt(vm, v))
			return false;
	}
	return true;
}

/* In each round, the devices for which the condition holds. */
bool
machine_while(Machine *vm, const Op *op)
{
	const Block *condition = op->bodies[0], *body = op->bodies[1];
	const Value *decision = condition->last->operands[0];
	Loop loop = {.op = op, .carried = arguments(vm, op, 0)};
	bool *active = copy_active(vm), more = true;
	loop.n = op->noperands * vm->nlanes;
	loop.next = calloc((size_t)loop.n + 1, sizeof *loop.next);
	bool ok = loop.carried && loop.next && active;
	const Op *around = eval_loop;
	if (!op_ints(op, A_trips)->n)
		eval_loop = op;
	while (ok && more) {
		lend(vm, condition, loop.carried);
		ok = machine_block(vm, condition);
		if (!ok)
			break;
		loop.doubtful |= is_doubtful(vm, decision);
		more = any_true(vm, decision, vm->active);
		leave(vm, condition);
		if (more) {
			lend(vm, body, loop.carried);
			ok = machine_block(vm, body) && carry_next(vm, &loop);
		}
	}
	eval_loop = around;
	eval_progress += !around;
	if (active)
		machine_activate(vm, active);
	ok = ok && keep_results(vm, &loop);
	if (loop.carried)
		tensors_free(loop.carried, loop.n);
	if (loop.next)
		tensors_free(loop.next, loop.n);
	free(loop.carried);
	free(loop.next);
	free(active);
	return ok;
}

/* ---- choices ------------------------------------------------------------ */

bool
machine_if(Machine *vm, const Op *op)
{
	Tensor *args = arguments(vm, op, 1);
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
