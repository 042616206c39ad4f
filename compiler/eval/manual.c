/*
 * manual.c - manual regions: every device runs the body, in lockstep, on its
 * parts of what goes in; what comes out is put together again.
 *
 * A program on whole tensors has one slot for each value, a region one for
 * each device: it is a machine of its own inside the other.  A region in a
 * region has as many as the one around it: there a tensor is whole on each
 * device, which takes its part of it, and gets it back from the devices that
 * differ from it along the inner region's axes only.  With bounds,
 * collectives move samples and spreads as they move values; those that add up
 * are bounded as the sum of what the members have.
 */
#include "eval/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tensors of an Inexact ------------------------------------------ */

enum { VALUE, SPREAD, FIRST_SAMPLE, COMPONENTS = FIRST_SAMPLE + SAMPLES };

static Tensor *
component(Inexact *x, int c)
{
	return c == VALUE     ? &x->value
		: c == SPREAD ? &x->spread
			      : &x->samples[c - FIRST_SAMPLE];
}

static Type
component_type(const Type *value, int c)
{
	Type type = *value;
	if (c == SPREAD || (c != VALUE && dtype_is_float(value->dtype)))
		type.dtype = D_f64;
	return type;
}

static bool
any_has(Inexact *const *x, int64_t n, int c)
{
	for (int64_t i = 0; i < n; i++)
		if (x[i] && component(x[i], c)->data)
			return true;
	return false;
}

/* What an Inexact has, or has without saying so: into *made. */
static bool
view_component(Inexact *x, int c, Tensor *view, Tensor *made)
{
	Type type = component_type(&x->value.type, c);
	*view = *component(x, c);
	if (view->data)
		return true;
	if (!tensor_new(&type, made))
		return false;
	int64_t n = type_elements(&type);
	double *d = made->data;
	*view = *made;
	if (type.dtype == x->value.type.dtype && c != SPREAD)
		return identity(NULL, NULL, &x->value, made);
	for (int64_t i = 0; i < n; i++) {
		d[i] = tensor_double(&x->value, i);
		d[i] = c == SPREAD && d[i] < 0 ? -d[i] : d[i];
	}
	return true;
}

/* Component c of n Inexacts, NULL those that are not there.  *made are the
   views to free. */
static bool
view_all(Inexact *const *x, int64_t n, int c, Tensor *views, Tensor *made)
{
	bool ok = true;
	for (int64_t i = 0; i < n; i++) {
		views[i] = made[i] = (Tensor){.data = NULL};
		if (x[i])
			ok = ok && view_component(x[i], c, &views[i], &made[i]);
	}
	return ok;
}

static void
free_all(Tensor *t, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		tensor_free(&t[i]);
}

/* ---- sums over a group, with bounds ------------------------------------- */

/* All members' after each other along a new first dim. */
static bool
stack(Inexact *const *x, int64_t n, Inexact *all, Tensor *views, Tensor *made)
{
	bool ok = true;
	for (int c = 0; ok && c < COMPONENTS; c++) {
		if (!any_has(x, n, c))
			continue;
		Type part = component_type(&x[0]->value.type, c), type = part;
		type.rank++;
		memmove(type.dims + 1, part.dims, (size_t)part.rank * sizeof part.dims[0]);
		type.dims[0] = n;
		size_t bytes = (size_t)type_bytes(&part);
		ok = view_all(x, n, c, views, made) && tensor_new(&type, component(all, c));
		for (int64_t i = 0; ok && i < n; i++)
			memcpy((char *)component(all, c)->data + (size_t)i * bytes,
				views[i].data, bytes);
		free_all(made, n);
	}
	return ok;
}

/* The sum of n tensors that are alike, as a reduction of them all. */
static bool
sum_of(Machine *vm, const Op *op, Combiner combiner, Inexact *const *x, int64_t n, Inexact *sum)
{
	Op reduction = {.kind = O_reduce,
		.noperands = 2,
		.id = op->id,
		.module = vm->module,
		.label = op->label};
	Inexact in[2] = {{.value = {.data = NULL}}};
	const Type *type = &x[0]->value.type;
	Type scalar = type_of(type->dtype, 0, NULL);
	Tensor *views = calloc(2 * (size_t)n, sizeof *views);
	bool ok = views && tensor_new(&scalar, &in[1].value) && tensor_new(type, &sum->value)
		&& stack(x, n, &in[0], views, views + n);
	if (ok) {
		Tensor values[] = {in[0].value, in[1].value};
		op_set_int(&reduction, A_dims, 0);
		op_set_int(&reduction, A_combiner, combiner);
		tensor_fill_payload(&in[1].value, combiner_identity(combiner, type->dtype));
		ok = reduce(NULL, &reduction, values, &sum->value)
			&& bound(vm->module, &reduction, in, sum);
	}
	inexact_free(&in[0]);
	inexact_free(&in[1]);
	free(views);
	return ok;
}

/* A member's part of what the group has: all of it, or a part of dim `dim`. */
static bool
give_part(Inexact *sum, int64_t i, int dim, Inexact *result)
{
	for (int c = VALUE + 1; c < COMPONENTS; c++) {
		int64_t start[MAX_RANK] = {0};
		Tensor *to = component(result, c);
		Type type = component_type(&result->value.type, c);
		if (!component(sum, c)->data)
			continue;
		if (!tensor_new(&type, to))
			return false;
		start[dim] = i * type.dims[dim];
		copy_out(component(sum, c), start, to);
	}
	return true;
}

static bool
sum_group(Machine *vm, const Op *op, const int64_t *members, int64_t n, Inexact *const *in,
	Inexact *const *out, Inexact **scratch)
{
	Inexact sum = {.value = {.data = NULL}};
	int dim = op->kind == O_reduce_scatter ? (int)op_int(op, A_dim) : 0;
	for (int64_t i = 0; i < n; i++)
		scratch[i] = in[members[i]];
	bool ok = sum_of(vm, op, (Combiner)op_int(op, A_combiner), scratch, n, &sum);
	for (int64_t i = 0; ok && i < n; i++)
		ok = give_part(&sum, op->kind == O_reduce_scatter ? i : 0, dim,
			out[members[i]]);
	inexact_free(&sum);
	return ok;
}

static bool
bound_sums(Machine *vm, const Op *op, Inexact *const *in, Inexact *const *out)
{
	const Mesh *mesh = &vm->module->mesh;
	int64_t n = axes_size(op->axes);
	int64_t *members = calloc((size_t)n, sizeof *members);
	Inexact **scratch = calloc((size_t)n, sizeof *scratch);
	bool ok = members && scratch;
	for (int64_t d = 0; ok && d < vm->ndevices; d++) {
		if (!in[d] || axes_index(mesh, op->axes, d))
			continue; /* its group's member 0 does it */
		for (int64_t i = 0; i < n; i++)
			members[i] = axes_with_index(mesh, op->axes, d, i);
		ok = sum_group(vm, op, members, n, in, out, scratch);
	}
	free(members);
	free(scratch);
	return ok;
}

/* ---- movement over a group, with bounds --------------------------------- */

/* Operands that move are 0, and of a ragged exchange 1; then come sizes. */
static int
moving_operands(const Op *op)
{
	return op->noperands > 1 ? 2 : 1;
}

/* At which place something is may be in doubt. */
static bool
sizes_are_exact(const Machine *vm, const Op *op, Inexact *const *in)
{
	int64_t n = vm->ndevices, from = n * moving_operands(op);
	for (int64_t i = from; i < n * op->noperands; i++)
		if (in[i] && !is_exact(in[i]))
			return false;
	return true;
}

static bool
bound_moves(Machine *vm, const Op *op, GroupKernel *kernel, Inexact *const *in,
	Inexact *const *out)
{
	int64_t n = vm->ndevices, moving = n * moving_operands(op);
	Tensor *made = calloc((size_t)moving, sizeof *made);
	bool ok = made, exact = sizes_are_exact(vm, op, in);
	for (int64_t d = 0; ok && !exact && d < n; d++)
		ok = !in[d] || inexact_anything(out[d]);
	for (int c = VALUE + 1; ok && exact && c < COMPONENTS; c++) {
		if (!any_has(in, moving, c))
			continue;
		ok = view_all(in, moving, c, vm->operands, made);
		for (int64_t d = 0; ok && d < n; d++) {
			vm->results[d] = (Tensor){.data = NULL};
			if (!in[d])
				continue;
			Type type = component_type(&out[d]->value.type, c);
			ok = tensor_new(&type, component(out[d], c));
			vm->results[d] = *component(out[d], c);
		}
		ok = ok && kernel(vm->module, op, vm->operands, vm->results);
		free_all(made, moving);
	}
	free(made);
	return ok;
}

bool
machine_bound_group(Machine *vm, const Op *op, GroupKernel *kernel)
{
	size_t n = (size_t)vm->ndevices;
	Inexact **out = calloc(n * (GROUP_OPERANDS + 1), sizeof *out);
	Inexact **in = out ? out + n : NULL;
	for (int64_t d = 0; in && d < vm->ndevices; d++) {
		out[d] = &slot(vm, op->results[0], d)->is;
		for (int i = 0; vm->active[d] && i < op->noperands; i++)
			in[i * vm->ndevices + d] = &slot(vm, op->operands[i], d)->is;
	}
	bool ok = in
		&& (op_has(op, A_combiner) ? bound_sums(vm, op, in, out)
					   : bound_moves(vm, op, kernel, in, out));
	free(out);
	return ok;
}

/* ---- into and out of a region ------------------------------------------- */

/* What is whole outside, for a device of the region. */
static Inexact *
whole_of(const Machine *outer, const Value *v, int64_t device)
{
	return &slot(outer, v, outer->ndevices > 1 ? device : 0)->is;
}

static bool
shard(const Machine *inner, const Placement *spec, Inexact *whole, int64_t device,
	Inexact *part)
{
	bool ok = true;
	for (int c = 0; ok && c < COMPONENTS; c++) {
		/* elsewhere a partial tensor's parts are not its own */
		if (c == SPREAD && spec->nunreduced)
			continue;
		if (component(whole, c)->data)
			ok = tensor_shard(&inner->module->mesh, spec, device,
				component(whole, c), component(part, c));
	}
	return ok;
}

static bool
enter_region(const Machine *outer, const Machine *inner, const Op *op, int i)
{
	const Value *param = op->bodies[0]->params[i];
	bool ok = true;
	for (int64_t d = 0; ok && d < inner->ndevices; d++)
		ok = !inner->active[d]
			|| shard(inner, &op->specs[i], whole_of(outer, op->operands[i], d), d,
				&slot(inner, param, d)->is);
	return ok;
}

/* Partial results become whole, everywhere. */
static bool
settle(Machine *inner, const Op *op, const Placement *spec, Inexact **parts, Inexact *sums)
{
	static const Tensor absent = {.data = NULL};
	AxisList axes = placement_unreduced(spec);
	Op all = {.kind = O_all_reduce,
		.id = op->id,
		.label = op->label,
		.module = inner->module,
		.axes = &axes};
	Inexact **out = calloc((size_t)inner->ndevices, sizeof *out);
	bool ok = out;
	op_set_int(&all, A_combiner, spec->combiner);
	for (int64_t d = 0; ok && d < inner->ndevices; d++) {
		out[d] = parts[d] ? &sums[d] : NULL;
		ok = !parts[d] || tensor_new(&parts[d]->value.type, &sums[d].value);
	}
	for (int64_t d = 0; ok && d < inner->ndevices; d++) {
		inner->operands[d] = parts[d] ? parts[d]->value : absent;
		inner->results[d] = sums[d].value;
	}
	ok = ok && all_reduce(inner->module, &all, inner->operands, inner->results)
		&& (!inner->bounds || bound_sums(inner, &all, parts, out));
	for (int64_t d = 0; ok && d < inner->ndevices; d++)
		parts[d] = out[d];
	free(out);
	return ok;
}

static void
tell_disagreement(const Machine *inner, const Op *op, int64_t device)
{
	const SourceFile *file = source_file(inner->module->session, op->range.file);
	if (device >= 0)
		fprintf(stderr,
			"%s:%d: '%s' returns something else on device "
			"%lld than on others that should have the same\n",
			file ? file->path : "", op->range.line, op->label, (long long)device);
}

static bool
join(const Machine *inner, const Op *op, const Placement *spec, Inexact *const *parts,
	const Type *type, Inexact *whole)
{
	const Mesh *mesh = &inner->module->mesh;
	Placement settled = *spec;
	AxisList none = {0};
	int64_t disagree = -1, n = inner->ndevices;
	Tensor *views = calloc(2 * (size_t)n, sizeof *views);
	bool ok = views;
	placement_set_unreduced(&settled, &none, C_add);
	for (int c = 0; ok && c < COMPONENTS; c++) {
		Type as = component_type(type, c);
		if (!any_has(parts, n, c))
			continue;
		ok = view_all(parts, n, c, views, views + n)
			&& tensor_unshard(mesh, &settled, &as, views, component(whole, c),
				&disagree);
		if (ok && c == VALUE)
			tell_disagreement(inner, op, disagree);
		free_all(views + n, n);
	}
	free(views);
	return ok;
}

/* For a device outside: in the place of each other what that device has which
   differs from it along the region's axes only, as the other does. */
static void
parts_beside(const Machine *inner, const Op *op, int64_t device, Inexact *const *parts,
	Inexact **beside)
{
	const Mesh *mesh = &inner->module->mesh;
	for (int64_t d = 0; d < inner->ndevices; d++)
		beside[d] = parts[axes_with_index(mesh, op->axes, device,
			axes_index(mesh, op->axes, d))];
}

static bool
join_all(const Machine *outer, const Machine *inner, const Op *op, int i, Inexact *const *parts,
	Inexact **beside)
{
	const Placement *spec = &op->specs[op->noperands + i];
	const Value *v = op->results[i];
	bool ok = true;
	if (outer->ndevices == 1)
		return join(inner, op, spec, parts, &v->type, &slot(outer, v, 0)->is);
	for (int64_t d = 0; ok && d < outer->ndevices; d++) {
		if (!parts[d])
			continue;
		parts_beside(inner, op, d, parts, beside);
		ok = join(inner, op, spec, beside, &v->type, &slot(outer, v, d)->is);
	}
	return ok;
}

static bool
leave_region(const Machine *outer, Machine *inner, const Op *op, int i)
{
	const Placement *spec = &op->specs[op->noperands + i];
	const Value *v = op->bodies[0]->last->operands[i];
	size_t n = (size_t)inner->ndevices;
	Inexact **parts = calloc(2 * n, sizeof *parts);
	Inexact *sums = calloc(n, sizeof *sums);
	bool ok = parts && sums;
	for (size_t d = 0; ok && d < n; d++)
		if (inner->active[d])
			parts[d] = &slot(inner, v, (int64_t)d)->is;
	if (ok && spec->nunreduced)
		ok = settle(inner, op, spec, parts, sums);
	ok = ok && join_all(outer, inner, op, i, parts, parts + n);
	for (size_t d = 0; sums && d < n; d++)
		inexact_free(&sums[d]);
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
