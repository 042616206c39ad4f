/*
 * variation.c - what may differ between the devices of a manual region.
 */
#include "ir/variation.h"

/* ---- sets of axes --------------------------------------------------------- */

AxisSet
axes_set(const AxisList *axes)
{
	AxisSet set = 0;

	for (int i = 0; i < axes->n; i++)
		if (axes->a[i].size > 1)
			set |= 1u << axes->a[i].axis;
	return set;
}

AxisSet
spec_set(const Placement *spec)
{
	AxisList axes = placement_unreduced(spec);
	AxisSet set = axes_set(&axes);

	for (int d = 0; d < spec->rank; d++) {
		axes = placement_dim(spec, d);
		set |= axes_set(&axes);
	}
	return set;
}

AxisList
axes_within(const AxisList *axes, AxisSet set)
{
	AxisList within = {0};

	for (int i = 0; i < axes->n; i++)
		if (set >> axes->a[i].axis & 1)
			axes_append(&within, axes->a[i]);
	return within;
}

/* ---- facts ------------------------------------------------------------------ */

/* What a value is of the device's id: (id % high) / low.  High is 0 if it is
   something else.

     axis_index(Y) on X=2, Y=4, Z=8     id / 8 % 4     low 8, high 32 */
typedef struct IdPart {
	int64_t low, high;
} IdPart;

static IdPart
id_part(const IdPart *parts, const Op *op)
{
	const Value *by = op->noperands == 2 ? op->operands[1] : NULL;
	IdPart part = op->noperands ? parts[op->operands[0]->id] : (IdPart){0}, none = {0};

	if (op->kind == O_partition_id)
		return (IdPart){1, op->module->mesh.ndevices};
	if (op->kind == O_convert && op->results[0]->type.dtype == D_i32)
		return part;
	bool divides = op->kind == O_div;
	if ((!divides && op->kind != O_rem) || !part.high || !by->def
		|| !op_has(by->def, A_value))
		return none;
	int64_t n = op_int(by->def, A_value);
	if (n <= 0 || n > MAX_DEVICES || part.low * n > part.high)
		return none;
	if (divides)
		return (IdPart){part.low * n, part.high};
	return part.high % (part.low * n) ? none : (IdPart){part.low, part.low * n};
}

/* What goes into a region is cut along its axes. */
static void
enter(Dataflow *d, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		d->of[op->bodies[0]->params[i]->id] |= spec_set(&op->specs[i]);
}

static void
vary(Dataflow *d, const Op *op)
{
	const Mesh *mesh = &op->module->mesh;
	AxisSet set = 0, axes = op->axes ? axes_set(op->axes) : 0;
	IdPart *parts = d->data;

	if (op->specs)
		enter(d, op);
	if (op->nbodies)
		return;
	IdPart part = id_part(parts, op);
	for (int i = 0; i < op->noperands; i++)
		set |= d->of[op->operands[i]->id];
	if (part.high && !op->noperands) { /* the id itself */
		AxisList every = block_manual_axes(op->block);
		set = axes_set(&every);
	}
	if (op_communicates(op))
		set = collectives[op->kind].varies ? set | axes : set & ~axes;
	if (op->kind == O_uniform)
		set &= ~axes;
	/* part of the id are the digits of some axes */
	for (int i = 0; i < mesh->naxes && part.high; i++) {
		AxisRef a = axis_whole(mesh, i);
		int64_t stride = axis_ref_stride(mesh, a);
		if (part.low % (stride * a.size) == 0 || stride % part.high == 0)
			set &= ~((AxisSet)1 << i);
	}
	for (int i = 0; i < op->nresults; i++) {
		parts[op->results[i]->id] = part;
		dataflow_add(d, op->results[i], set);
	}
}

/* What comes out of a region is put together along its axes. */
static Facts
vary_along(const Dataflow *d, const Flow *f)
{
	bool together = flow_spec(f) && f->kind == FLOW_out;

	return d->of[f->from->id] & ~(together ? axes_set(f->op->axes) : 0);
}

static Facts
vary_in_branches(const Dataflow *d, const Flow *f)
{
	const Value *decision =
		op_is_branch(f->op) && f->kind == FLOW_in ? op_decision(f->op) : NULL;

	return vary_along(d, f) | (decision ? d->of[decision->id] : 0);
}

AxisSet *
variation_solve(Arena *a, Block *b, const AxisSet *params, bool in_branches)
{
	int n = b->module->nvalues;
	Dataflow d = {.op = vary,
		.along = in_branches ? vary_in_branches : vary_along,
		.decided = true,
		.data = NEW_ARRAY(a, IdPart, n + 1),
		.of = NEW_ARRAY(a, Facts, n + 1)};

	for (int i = 0; params && i < b->nparams; i++)
		d.of[b->params[i]->id] = params[i];
	if (!params && b->parent && b->parent->specs)
		enter(&d, b->parent);
	dataflow_solve(&d, a, b);
	return d.of;
}
