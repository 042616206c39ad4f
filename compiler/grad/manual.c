/*
 * manual.c - gradients of manual regions, and of what their devices exchange.
 *
 *   y = manual(x, W)                  forward: h, which only a device knows, is kept
 *     body(x1, W1): y1 = ... h ...      y, hs = manual(x, W): hs is h with a dim more,
 *                                       split over the axes along which it differs
 *   dx, dW = manual(dy, hs, W)        backward
 *     body(dy1, h1, W2): ...            the cotangent of each as its primal is cut
 *
 * A value that is the same along X has a cotangent that is: what devices have to add
 * to it is summed up (`Partial`, adjoint.h), inside or, of an operand, by who takes it
 * (`unreduced(X)`).  So the gradient of psum is the identity.
 */
#include <string.h>
#include "grad/adjoint.h"

/* ---- regions ---------------------------------------------------------------- */

/* How the operands and the results of the backward region are cut. */
typedef struct Region {
	int nin, nout;
	Placement *in, *out;
} Region;

/* Another operand of the backward region; the part of it that is in there. */
static Value *
enter(Adjoint *a, Value *v, const Placement *spec)
{
	Region *r = a->cross.data;
	Type part = placement_local(&v->type, spec);

	op_add_operand(a->cross.backward, v);
	APPEND(a->g->arena, r->in, r->nin, *spec);
	return block_add_param(a->k.block, v->name, &part);
}

/* A result of a region is where its spec says, and along axes that are left to the
   compiler where that finds best. */
static void
place_result(Value *v, const Op *region, const Placement *spec)
{
	AxisList manual = block_manual_axes(region->bodies[0]), barred = {0};

	v->placement = *spec;
	v->annotated = true;
	if (manual.n == region->module->mesh.naxes)
		return;
	v->placement.open = placement_open(spec->rank).open;
	for (int i = 0; i < region->axes->n; i++)
		if (!placement_uses(spec, region->axes->a[i]))
			axes_append(&barred, region->axes->a[i]);
	placement_set_replicated(&v->placement, &barred);
}

/* Another result of the forward region: what each device has of v, along a dim that is
   new, or v itself where all have the same. */
static Value *
keep_of_region(Op *op, Value *v, const AxisList *axes)
{
	Op *end = op->bodies[0]->last;
	const char *name = v->name;
	Placement spec = placement_none(v->type.rank + (axes->n > 0));
	Placement *specs =
		NEW_ARRAY(op->module->arena, Placement, op->noperands + op->nresults + 1);
	int64_t dims[MAX_RANK] = {1};

	if (axes->n) {
		memcpy(dims + 1, v->type.dims, (size_t)v->type.rank * sizeof dims[0]);
		v = make_reshape(make_backward(end), v, spec.rank, dims);
		placement_set_dim(&spec, 0, axes);
	}
	op_add_operand(end, v);
	Value *result = op_add_result(op, name, &v->type);
	if (axes->n)
		result->type.dims[0] = axes_size(axes);
	memcpy(specs, op->specs, (size_t)(op->noperands + result->index) * sizeof *specs);
	specs[op->noperands + result->index] = spec;
	op->specs = specs;
	place_result(result, op, &spec);
	return result;
}

static Value *
fetch_from_region(Adjoint *a, Value *v)
{
	Crossing *c = &a->cross;
	Op *op = c->forward;
	AxisSet varies = primal_of(a->g, v)->varies;
	AxisList axes = axes_within(op->axes, varies);

	if (!v->def)
		return enter(a, here_operand(a->outer, c->op, v->index), &op->specs[v->index]);
	Value *kept = keep_of_region(op, v, &axes);
	const Placement *spec = &op->specs[op->noperands + kept->index];
	kept = kept_here(a, kept, varies & ~axes_set(op->axes));
	return make_reshape(a->k, enter(a, kept, spec), v->type.rank, v->type.dims);
}

/* What parts of a sum go in or come out: of a sum that comes out each device's part has
   its cotangent; what goes in is no function of the sum. */
static bool
takes_sums(Adjoint *a, const Op *op)
{
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Placement *spec = &op->specs[i];
		bool in = i < op->noperands;
		if (spec->nunreduced && (in ? wants(a, op, i) : spec->combiner != C_add))
			return true;
	}
	return false;
}

/* The cotangent of a result goes in as that came out. */
static void
enter_cotangent(Adjoint *inner, const Op *op, int i)
{
	const Value *result = op->results[i];
	const Placement *cut = &op->specs[op->noperands + i];
	Placement spec = *cut;
	AxisList none = {0};

	placement_set_unreduced(&spec, &none, C_add);
	Value *d =
		make_unary(inner->outer->k, O_constraint, cotangent_of(inner->outer, result));
	d->placement = result->placement;
	placement_set_unreduced(&d->placement, &none, C_add);
	d->annotated = true;
	d->type_range = result->type_range;
	inner->along = primal_of(inner->g, result)->varies | spec_set(cut);
	give(inner, inner->cross.forward->bodies[0]->last->operands[i], enter(inner, d, &spec));
}

/* The cotangent of an operand comes out as the parts of it that devices have, if they have
   no more: where they are added up is then chosen as for every other gradient. */
static Value *
leave(Adjoint *inner, const Value *param, Placement *spec)
{
	Primal *p = primal_of(inner->g, param);
	AxisList around = block_manual_axes(inner->outer->k.block);

	join_parts(inner, param);
	if (around.n || p->cotangent || !p->partials || p->partials->next)
		return cotangent_or_zeros(inner, param);
	AxisList over = axes_within(inner->cross.backward->axes, p->partials->over);
	placement_set_unreduced(spec, &over, C_add);
	return p->partials->sum;
}

/* Of the operands that are active; those that they are given. */
static void
end_region(Adjoint *inner, const Op *op)
{
	Op *back = inner->cross.backward;
	Region *r = inner->cross.data;
	const Block *from = inner->cross.forward->bodies[0];
	Value **values = NEW_ARRAY(inner->g->arena, Value *, op->noperands);

	for (int i = 0; i < op->noperands; i++) {
		if (!wants(inner->outer, op, i))
			continue;
		if (r->nout > 0)
			op_add_result(back, "gradient", &op->operands[i]->type);
		Placement spec = op->specs[i];
		values[r->nout] = leave(inner, from->params[i], &spec);
		APPEND(inner->g->arena, r->out, r->nout, spec);
	}
	make_return(inner->k.block, r->nout, values, inner->k.range, inner->k.label);
	back->specs = NEW_ARRAY(back->module->arena, Placement, r->nin + r->nout);
	memcpy(back->specs, r->in, (size_t)r->nin * sizeof *r->in);
	memcpy(back->specs + r->nin, r->out, (size_t)r->nout * sizeof *r->out);
	make_end(inner->outer->k, back);
	for (int i = 0; i < r->nout; i++)
		place_result(back->results[i], back, &r->out[i]);
}

void
gradient_manual(Adjoint *a, const Op *op)
{
	Region r = {0};

	if (takes_sums(a, op)) {
		refuse(a, op, "%s has parts of a sum go in, or of another than a sum come out",
			op->label);
		return;
	}
	Op *forward = forward_of(a, op);
	Op *back = make_begin(named(a->k, "gradient"), O_manual, 0, NULL);
	back->axes = op->axes;
	op_begin_bodies(back, 1);
	Adjoint inner = {.g = a->g,
		.outer = a,
		.k = a->k,
		.cross = {fetch_from_region, op, forward, back, 0, false, &r}};
	inner.k.before = NULL;
	inner.k.block = back->bodies[0];
	for (int i = 0; i < op->nresults; i++)
		if (has_cotangent(a, op->results[i]))
			enter_cotangent(&inner, op, i);
	adjoint_block(&inner, forward->bodies[0]);
	end_region(&inner, op);
	for (int i = 0, n = 0; i < op->noperands; i++) {
		a->along = primal_of(a->g, op->operands[i])->varies;
		if (wants(a, op, i))
			give(a, op->operands[i], back->results[n++]);
	}
}

/* ---- collectives -------------------------------------------------------------- */

static Value *
index_along(Make k, const AxisList *axes, int64_t scale)
{
	Value *id = make_convert(k, make_op(k, O_partition_id, 0, NULL), D_i32);

	return make_axes_index(k, id, axes, scale);
}

/* Each device has its slice.  Where the result was used by each in its own way, these
   are slices of a sum, which a reduce-scatter makes. */
void
gradient_all_gather(Adjoint *a, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	Primal *y = primal_of(a->g, op->results[0]);
	int dim = (int)op_int(op, A_dim);
	AxisSet over = axes_set(op->axes);
	Value *start[MAX_RANK] = {NULL};

	for (Partial **at = &y->partials; *at;) {
		Partial *part = *at;
		if (over & ~part->over) {
			at = &part->next;
			continue;
		}
		*at = part->next;
		a->along = y->varies | part->over;
		give(a, op->operands[0],
			make_collective(a->k, O_reduce_scatter, part->sum, op->axes, dim,
				C_add));
	}
	if (!has_cotangent(a, op->results[0]))
		return;
	Value *dy = cotangent_of(a, op->results[0]);
	start[dim] = index_along(a->k, op->axes, x->dims[dim]);
	a->along = y->varies | over;
	give(a, op->operands[0], make_dynamic_slice(a->k, dy, start, x->dims));
}

static void
refuse_extreme(Adjoint *a, const Op *op)
{
	refuse(a, op,
		"%s has no gradient: no device knows alone whose element it is; where it may "
		"be taken for a constant, write stop_gradient(%s(...))",
		op->label, op->label);
}

/* Of a sum: what differs was added up, and each summand has the cotangent. */
void
gradient_all_reduce(Adjoint *a, const Op *op)
{
	(op_int(op, A_combiner) == C_add ? gradient_same : refuse_extreme)(a, op);
}

static void
give_collective(Adjoint *a, const Op *op, OpKind kind)
{
	Value *dy = cotangent_of(a, op->results[0]);

	give(a, op->operands[0],
		make_collective(a->k, kind, dy, op->axes, (int)op_int(op, A_dim), C_add));
}

void
gradient_reduce_scatter(Adjoint *a, const Op *op)
{
	if (op_int(op, A_combiner) == C_add)
		give_collective(a, op, O_all_gather);
	else
		refuse_extreme(a, op);
}

/* Part i of device j was part j of device i. */
void
gradient_all_to_all(Adjoint *a, const Op *op)
{
	give_collective(a, op, O_all_to_all);
}

/* From who got it; of what nobody got, nothing. */
void
gradient_collective_permute(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);
	const Ints *source = op_ints(op, A_source);
	int64_t *back = NEW_ARRAY(a->g->arena, int64_t, source->n + 1);

	for (int i = 0; i < source->n; i++)
		back[i] = -1;
	for (int i = 0; i < source->n; i++)
		if (source->v[i] >= 0)
			back[source->v[i]] = i;
	give(a, op->operands[0],
		op->from ? make_permute(a->k, dy, op->from, op->axes, NULL)
			 : make_permute(a->k, dy, op->axes, NULL, back));
}

/* The mean of what they have, for all have the same. */
void
gradient_uniform(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	if (!dtype_is_float(dy->type.dtype)) {
		gradient_none(a, op);
		return;
	}
	Value *n = make_number(a->k, &dy->type, (double)axes_size(op->axes));
	give(a, op->operands[0], make_binary(a->k, O_div, dy, n));
}
