/*
 * finite.c - which values may be infinite.
 *
 * Infinity times a part of a sum may be NaN, as 0 * inf is, or inf - inf when
 * the parts are added, where the whole sum times infinity is infinite.  So a
 * partial sum is only multiplied by what is not infinite: what is made of
 * finite inputs without an op that has poles, or grows as fast as exp.
 * Overflow of sums and products is left out: what overflows does so in some
 * order of a sum.  NaN does no harm, for it is NaN in both.
 */
#include <math.h>
#include "shard/partition/partition.h"

typedef enum Effect {
	EFFECT_spread,	/* infinite if an operand is */
	EFFECT_first,	/* ... if the first operand is */
	EFFECT_bounded, /* never, whatever the operands are */
	EFFECT_pole,	/* of finite operands, too */
} Effect;

static const Effect effects[OP_COUNT] = {
	[O_reduce] = EFFECT_first,
	[O_cumsum] = EFFECT_first,
	[O_tanh] = EFFECT_bounded,
	[O_sigmoid] = EFFECT_bounded,
	[O_erf] = EFFECT_bounded,
	[O_sin] = EFFECT_bounded,
	[O_cos] = EFFECT_bounded,
	[O_sign] = EFFECT_bounded,
	[O_rem] = EFFECT_bounded,
	[O_exp] = EFFECT_pole,
	[O_expm1] = EFFECT_pole,
	[O_log] = EFFECT_pole,
	[O_log1p] = EFFECT_pole,
	[O_rsqrt] = EFFECT_pole,
	[O_pow] = EFFECT_pole,
	[O_extern] = EFFECT_pole,
};

/* f16 ends at 65504. */
static bool
is_pole(const Op *op)
{
	if (op->kind == O_div)
		return !is_never_zero(op->operands[1]);
	if (op->kind == O_convert)
		return op->results[0]->type.dtype == D_f16
			&& dtype_is_integer(op->operands[0]->type.dtype);
	return effects[op->kind] == EFFECT_pole;
}

/* A composite (softmax, a norm) is finite where its operands are, whatever it
   is made of. */
static void
find_of(Dataflow *d, const Op *op)
{
	Effect effect = effects[op->kind];
	int n = effect == EFFECT_bounded ? 0 : effect == EFFECT_first ? 1 : op->noperands;
	bool infinite = is_pole(op);

	if (op->nbodies && op->kind != O_call)
		return;
	if (op->kind == O_constant)
		infinite = isinf(payload_double(op_int(op, A_value)));
	for (int i = 0; i < n; i++)
		infinite |= d->of[op->operands[i]->id] != 0;
	for (int i = 0; i < op->nresults; i++)
		if (infinite && dtype_is_float(op->results[i]->type.dtype))
			dataflow_add(d, op->results[i], true);
}

static Facts
find_along(const Dataflow *d, const Flow *f)
{
	return f->op->kind == O_call && f->kind == FLOW_out ? 0 : d->of[f->from->id];
}

const Facts *
find_infinite(Arena *a, const Module *m)
{
	Dataflow d = {.op = find_of, .along = find_along};

	dataflow_solve(&d, a, m->entry);
	return d.of;
}
