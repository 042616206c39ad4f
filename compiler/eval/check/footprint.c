/*
 * footprint.c - what memory --check will take, or --interpret, from the program alone: the
 * interpreter's walk, with sizes in place of tensors.
 *
 *   e = exp(x)         the value, and 8 samples in f64: 68 bytes for each element in f32
 *   r = e * sin(x)     ... of e and of sin(x), a pair of the samples of r; then r alone
 *
 * What rounds has samples, and what is made of it; integers and preds have none
 * that last, for rounding seldom changes them.
 */
#include "eval/check/check.h"

#include <stdlib.h>

#include "ir/flow.h"
#include "ir/numbers.h"

typedef struct Footprint {
	bool samples;	     /* else values alone */
	bool *inexact;	     /* by value id, as the others */
	const Op **last_use; /* within the value's block */
	int64_t copies;	     /* of each value: on so many devices */
	double live, peak;   /* bytes */
} Footprint;

static double
elements(const Footprint *f, const Value *v)
{
	return (double)type_elements(&v->type) * (double)f->copies;
}

static double
value_bytes(const Footprint *f, const Value *v)
{
	return elements(f, v) * dtypes[v->type.dtype].bytes;
}

static double
sample_bytes(const Footprint *f, const Value *v)
{
	Type type = lane_type(&v->type, 1);
	return f->samples && f->inexact[v->id]
		? SAMPLES * elements(f, v) * dtypes[type.dtype].bytes
		: 0;
}

static double
all_bytes(const Footprint *f, const Value *v)
{
	return value_bytes(f, v) + sample_bytes(f, v);
}

static void
reach(Footprint *f, double more)
{
	if (f->live + more > f->peak)
		f->peak = f->live + more;
}

/* ---- ops ---------------------------------------------------------------- */

static const bool sums[OP_COUNT] = {
	[O_dot] = true,
	[O_grouped_dot] = true,
	[O_grouped_outer] = true,
	[O_reduce] = true,
	[O_cumsum] = true,
	[O_scatter_add] = true,
	[O_all_reduce] = true,
	[O_reduce_scatter] = true,
};

/* Of exact operands, too.  Where elements are chosen nothing is added. */
static bool
rounds(const Op *op)
{
	DType from = op->noperands ? op->operands[0]->type.dtype : D_pred;
	DType to = op->results[0]->type.dtype;
	bool chooses = op_has(op, A_combiner) && op_int(op, A_combiner) != C_add
		&& op_int(op, A_combiner) != C_mul;
	if (op->kind == O_convert)
		return dtypes[to].range < dtypes[from].range || dtype_is_integer(from);
	return op->kind == O_extern || (sums[op->kind] && !chooses)
		|| (op->noperands && numbers[op->kind].ulps > 0);
}

static bool
any_inexact(const Footprint *f, const Op *op)
{
	bool any = false;
	for (int i = 0; i < op->noperands; i++)
		any = any || f->inexact[op->operands[i]->id];
	return any;
}

static bool
dies(const Footprint *f, const Op *op, const Value *v)
{
	return f->last_use[v->id] == op;
}

/* Beside values and samples: pictures of what a sum adds; what is exact, in f64. */
static double
aside(const Footprint *f, const Op *op)
{
	double result = 8 * elements(f, op->results[0]), pictures = 0;
	for (int i = 0; i < op->noperands; i++)
		if (dtype_is_float(op->operands[i]->type.dtype))
			pictures += 8 * elements(f, op->operands[i]);
	return sums[op->kind] ? pictures + 4 * result : result;
}

/* The results take the place of the operands a pair of samples at a time, in ops of one
   result on one device. */
static void
leaf(Footprint *f, const Op *op)
{
	bool inexact = rounds(op) || any_inexact(f, op),
	     paired = op->nresults == 1 && !op->axes;
	double values = 0, made = 0, dying = 0, seen = 0;
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		f->inexact[v->id] = inexact && dtype_is_float(v->type.dtype);
		values += value_bytes(f, v);
		made += sample_bytes(f, v);
	}
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		dying += paired && dies(f, op, v) ? sample_bytes(f, v) : 0;
		seen += dtype_is_float(v->type.dtype) && !f->inexact[v->id] ? 8 * elements(f, v)
									    : 0;
	}
	double beside = f->samples && inexact && op->nresults ? aside(f, op) : 0;
	double pairs = SAMPLES / 2, first = made / pairs, last = made - dying + dying / pairs;
	reach(f, values + beside);
	reach(f,
		values + (made > 0 ? beside / (sums[op->kind] ? 4 : 1) + seen : 0)
			+ (!paired		       ? made
					: first > last ? first
						       : last));
}

/* ---- bodies ---------------------------------------------------------------- */

static void walk(Footprint *f, const Block *b);

/* Whether what flows along is inexact where it arrives; true if that is news. */
static bool
flow_along(Footprint *f, const Op *op)
{
	bool news = false;
	for (Flow flow = {.op = op}; flow_next(&flow);)
		if (f->inexact[flow.from->id] && !f->inexact[flow.to->id])
			news = f->inexact[flow.to->id] = true;
	return news;
}

/* A region's operands are cut in parts, what a loop carries is there twice. */
static double
entering(const Footprint *f, const Op *op)
{
	double bytes = 0;
	for (int i = 0; op->specs && i < op->bodies[0]->nparams; i++)
		bytes += all_bytes(f, op->bodies[0]->params[i]);
	for (int i = 0; op_is_loop(op) && i < op->nresults; i++)
		bytes += loop_hands_on(op, i) ? 0 : all_bytes(f, op->results[i]);
	return bytes;
}

/* Params are lent; what a body returns goes to the results of the op. */
static void
bodies(Footprint *f, const Op *op)
{
	int64_t outside = f->copies;
	double before = f->live;
	flow_along(f, op);
	f->copies = op->specs ? op->module->mesh.ndevices : outside;
	do {
		f->live = before + entering(f, op);
		reach(f, 0);
		for (int i = 0; i < op->nbodies; i++)
			walk(f, op->bodies[i]);
	} while (flow_along(f, op));
	f->copies = outside;
	for (int i = 0; op->specs && i < op->nresults; i++)
		reach(f, all_bytes(f, op->results[i]));
	f->live = before;
}

/* Behind the block nothing is live but what was before. */
static void
walk(Footprint *f, const Block *b)
{
	double before = f->live;
	for (const Op *op = b->first; op && op != b->last; op = op->next) {
		(op->nbodies ? bodies : leaf)(f, op);
		for (int i = 0; i < op->nresults; i++)
			if (f->last_use[op->results[i]->id])
				f->live += all_bytes(f, op->results[i]);
		for (int i = 0; i < op->noperands; i++) {
			const Value *v = op->operands[i];
			bool again = false;
			for (int k = 0; k < i; k++)
				again = again || op->operands[k] == v;
			if (v->def && dies(f, op, v) && !again)
				f->live -= all_bytes(f, v);
		}
		reach(f, 0);
	}
	if (!b->parent)
		for (int i = 0; i < b->last->noperands; i++) /* bounds */
			reach(f, 8 * elements(f, b->last->operands[i]));
	f->live = before;
}

int64_t
eval_footprint(Module *m, bool samples)
{
	module_number(m);
	Footprint f = {.samples = samples,
		.copies = m->level < L_device ? 1 : m->mesh.ndevices};
	f.inexact = calloc((size_t)m->nvalues + 1, sizeof *f.inexact);
	f.last_use = calloc((size_t)m->nvalues + 1, sizeof *f.last_use);
	for (Op *op = m->entry->first; f.last_use && op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++)
			f.last_use[op->operands[i]->id] = op;
	if (f.inexact && f.last_use)
		walk(&f, m->entry);
	free(f.inexact);
	free(f.last_use);
	return f.peak < 0x1p62 ? (int64_t)f.peak : INT64_MAX;
}
