/*
 * rounding.c - how far a result may be from the same by another compiler.
 *
 *   g = f32(bf16(x) * bf16(y))     narrow
 *   v = 0.9 * v0 + g * g           narrow
 *   w = w0 - m / (sqrt(v) + 1e-8)  narrow, over a root
 */
#include "ir/rounding.h"

#include "ir/flow.h"

enum { NARROW = 1, OF_ROOT = 2, OVER_ROOT = 4 };

/* What is only moved is as exact as it was. */
static bool
rounds_to_few(const Op *op)
{
	bool computes = ops[op->kind].flops || op_has(op, A_combiner) || op->kind == O_extern;

	return dtype_is_narrow(op->results[0]->type.dtype) && computes && !op->nbodies;
}

static void
find_of(Dataflow *d, const Op *op)
{
	Facts facts = 0;

	for (int i = 0; i < op->noperands && !op->nbodies; i++)
		facts |= d->of[op->operands[i]->id];
	if (op->kind == O_sqrt)
		facts |= OF_ROOT;
	if (op->kind == O_rsqrt || (op->kind == O_div && d->of[op->operands[1]->id] & OF_ROOT))
		facts |= OVER_ROOT;
	for (int i = 0; i < op->nresults; i++)
		if (dtype_is_float(op->results[i]->type.dtype))
			dataflow_add(d, op->results[i],
				facts | (rounds_to_few(op) ? NARROW : 0));
}

static bool
has_parameter_like(const Block *entry, const Value *result)
{
	Type type = value_whole_type(result);

	for (int i = 0; i < entry->nparams; i++) {
		Type whole = value_whole_type(entry->params[i]);
		if (type_equal(&whole, &type))
			return true;
	}
	return false;
}

const double *
allowed_rounding(Arena *a, const Module *m)
{
	const Op *results = m->entry->last;
	double *within = NEW_ARRAY(a, double, results->noperands + 1);
	Dataflow d = {.op = find_of};

	dataflow_solve(&d, a, m->entry);
	for (int i = 0; i < results->noperands; i++) {
		const Value *v = results->operands[i];
		if (v->type.dtype != D_f32)
			continue;
		if (d.of[v->id] & NARROW)
			within[i] = 1e-2;
		else if (d.of[v->id] & OVER_ROOT && has_parameter_like(m->entry, v))
			within[i] = 1e-3;
	}
	return within;
}
