/*
 * manual.c - manual regions: every device runs the body, in lockstep, on its
 * parts of what goes in; what comes out is put together again.
 *
 * A program on whole tensors has one slot for each value, a region one for
 * each device: it is a machine of its own inside the other.  A region in a
 * region has as many as the one around it: there a tensor is whole on each
 * device, which takes its part of it, and gets it back from the devices that
 * differ from it along the inner region's axes only.
 */
#include "eval/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- into and out of a region ------------------------------------------- */

static int
lanes_of(const Machine *vm)
{
	return (int)(vm->nlanes / vm->ndevices);
}

static bool
enter_region(const Machine *outer, const Machine *inner, const Op *op, int i)
{
	const Placement *spec = &op->specs[i];
	for (int64_t d = 0; d < inner->ndevices; d++) {
		int64_t outside = outer->ndevices > 1 ? d : 0;
		Inexact whole = machine_value(outer, op->operands[i], outside);
		Inexact part = machine_value(inner, op->bodies[0]->params[i], d);
		for (int k = 0; inner->active[d] && k < lanes_of(inner); k++) {
			/* elsewhere a partial tensor's parts are not its own */
			if (!lane_of(&whole, k)->data || (k == SPREAD && spec->nunreduced))
				continue;
			if (!tensor_shard(&inner->module->mesh, spec, d, lane_of(&whole, k),
				    lane_of(&part, k)))
				return false;
		}
	}
	return true;
}

/* Partial results become whole, everywhere: the parts are those in `sums`. */
static bool
settle(Machine *inner, const Op *op, const Placement *spec, Inexact *parts, Tensor *sums)
{
	int64_t n = inner->ndevices;
	AxisList axes = placement_unreduced(spec);
	Op all = {.kind = O_all_reduce,
		.noperands = 1,
		.id = op->id,
		.label = op->label,
		.module = inner->module,
		.axes = &axes};
	Inexact *out = calloc((size_t)n, sizeof *out);
	bool ok = out;
	op_set_int(&all, A_combiner, spec->combiner);
	for (int64_t d = 0; ok && d < n; d++) {
		if (!parts[d].lanes)
			continue;
		out[d] = (Inexact){.lanes = &sums[d], .stride = n};
		ok = tensor_new(&value_of(&parts[d])->type, value_of(&out[d]));
	}
	ok = ok && machine_group(inner, &all, all_reduce, parts, out);
	if (ok)
		memcpy(parts, out, (size_t)n * sizeof *parts);
	free(out);
	return ok;
}

static bool
join(const Machine *inner, const Op *op, const Placement *spec, const Inexact *parts,
	const Type *type, const Inexact *whole)
{
	const Module *m = inner->module;

	Placement settled = *spec;
	AxisList none = {0};
	int64_t disagree = -1, n = inner->ndevices;
	Tensor *views = calloc((size_t)n, sizeof *views);
	bool ok = views;
	placement_set_unreduced(&settled, &none, C_add);
	for (int k = 0; ok && k < lanes_of(inner); k++) {
		Type as = lane_type(type, k);
		if (!any_lane(parts, n, k))
			continue;
		ok = view_lanes(parts, n, k, views)
			&& tensor_unshard(&m->mesh, &settled, &as, views, lane_of(whole, k),
				&disagree);
		if (ok && k == VALUE && disagree >= 0)
			fprintf(stderr,
				"%s:%d: '%s' returns something else on device "
				"%lld than on others that should have the same\n",
				source_path(m->session, op->range.file), op->range.line,
				op->label, (long long)disagree);
		tensors_free(views, n);
	}
	free(views);
	return ok;
}

static bool
leave_region(const Machine *outer, Machine *inner, const Op *op, int i)
{
	const Placement *spec = &op->specs[op->noperands + i];
	const Value *v = op->bodies[0]->last->operands[i];
	const Mesh *mesh = &inner->module->mesh;
	int64_t n = inner->ndevices;
	Inexact *parts = calloc(2 * (size_t)n, sizeof *parts);
	Tensor *sums = calloc((size_t)inner->nlanes, sizeof *sums);
	bool ok = parts && sums;
	for (int64_t d = 0; ok && d < n; d++)
		if (inner->active[d])
			parts[d] = machine_value(inner, v, d);
	if (ok && spec->nunreduced)
		ok = settle(inner, op, spec, parts, sums);
	for (int64_t d = 0; ok && d < outer->ndevices; d++) {
		Inexact whole = machine_value(outer, op->results[i], d);
		const Inexact *from = parts;
		if (outer->ndevices > 1) {
			/* in the place of each other device what that has which differs
			   from it along the region's axes only, as the other does */
			if (!parts[d].lanes)
				continue;
			for (int64_t k = 0; k < n; k++)
				parts[n + k] = parts[axes_with_index(mesh, op->axes, d,
					axes_index(mesh, op->axes, k))];
			from = parts + n;
		}
		ok = join(inner, op, spec, from, &op->results[i]->type, &whole);
	}
	if (sums)
		tensors_free(sums, inner->nlanes);
	free(parts);
	free(sums);
	return ok;
}

bool
machine_manual(Machine *vm, const Op *op)
{
	Block *body = op->bodies[0];
	bool nested = vm->ndevices > 1;
	Machine inner;
	if (nested && !machine_meet(vm, op))
		return false;
	bool ok = machine_inside(&inner, vm, op, vm->module->mesh.ndevices);
	if (ok && nested)
		machine_activate(&inner, vm->active);
	for (int i = 0; ok && i < body->nparams; i++)
		ok = enter_region(vm, &inner, op, i);
	ok = ok && machine_block(&inner, body) && machine_ends(&inner);
	for (int i = 0; ok && i < op->nresults; i++)
		ok = leave_region(vm, &inner, op, i);
	vm->failure = inner.failure;
	machine_free(&inner);
	return ok;
}
