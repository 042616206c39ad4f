/*
 * finite.c - which values may be infinite.
 *
 * Infinity times a part of a sum may be NaN, as 0 * inf is, or inf - inf when
 * the parts are added, where the whole sum times infinity is infinite.  So a
 * partial sum is only multiplied by what is not infinite: what is made of finite
 * inputs without an op that has poles, or grows as fast as exp, or converts to a
 * smaller range (f16 ends at 65504).  Overflow of sums and products is left out:
 * what overflows does so in some order of a sum.  NaN does no harm, for it is NaN
 * in both.
 */
#include <math.h>
#include "ir/numbers.h"
#include "ir/partial.h"
#include "shard/shard.h"

/* May it be infinite, of finite operands, too, or of what operands are?  A composite
   (softmax, a norm) is finite where its operands are, whatever it is made of. */
static void
find_of(Dataflow *d, const Op *op)
{
	const NumberInfo *row = &numbers[op->kind];
	Infinite when = row->infinite;
	int n = when == INFINITE_never ? 0 : when == INFINITE_first ? 1 : op->noperands;
	bool infinite = when == INFINITE_growth;

	if (op->nbodies && !op_is_composite(op))
		return;
	if (when == INFINITE_pole)
		infinite = !is_never(op->operands[row->pole.operand], row->pole.at);
	if (when == INFINITE_range)
		infinite = dtypes[op->operands[0]->type.dtype].range
			> dtypes[op->results[0]->type.dtype].range;
	if (op_has(op, A_value)) /* a constant */
		infinite =
			op->results[0]->type.rank || isinf(payload_double(op_int(op, A_value)));
	for (int i = 0; i < n; i++)
		infinite |= d->of[op->operands[i]->id] != 0;
	for (int i = 0; i < op->nresults; i++)
		if (infinite && dtype_is_float(op->results[i]->type.dtype))
			dataflow_add(d, op->results[i], true);
}

static Facts
find_along(const Dataflow *d, const Flow *flow)
{
	return op_is_composite(flow->op) && flow->kind == FLOW_out ? 0 : d->of[flow->from->id];
}

const Facts *
find_infinite(Arena *a, const Module *m)
{
	Dataflow d = {.op = find_of, .along = find_along};

	dataflow_solve(&d, a, m->entry);
	return d.of;
}
