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

static bool
an_operand_is(const bool *infinite, const Op *op)
{
	int n = effects[op->kind] == EFFECT_first ? 1 : op->noperands;

	for (int i = 0; i < n; i++)
		if (infinite[op->operands[i]->id])
			return true;
	return false;
}

static void
mark(bool *infinite, const Value *v, bool is)
{
	infinite[v->id] = is && dtype_is_float(v->type.dtype);
}

static void find_in(bool *infinite, const Block *b);

/* What the bodies see, and what comes of them; operand 0 of an if decides. */
static void
find_in_bodies(bool *infinite, const Op *op)
{
	int skip = op->kind == O_if;

	for (int b = 0; b < op->nbodies; b++) {
		const Block *body = op->bodies[b];
		for (int i = 0; i < body->nparams; i++)
			mark(infinite, body->params[i], infinite[op->operands[i + skip]->id]);
		find_in(infinite, body);
		for (int i = 0; i < op->nresults; i++)
			mark(infinite, op->results[i],
				infinite[op->results[i]->id]
					|| infinite[body->last->operands[i]->id]);
	}
}

/* Again, until it carries nothing that it did not carry before. */
static void
find_in_loop(bool *infinite, const Op *op)
{
	const Block *body = op->bodies[1];
	bool more = true;

	for (int i = 0; i < op->nresults; i++)
		mark(infinite, op->results[i], infinite[op->operands[i]->id]);
	while (more) {
		more = false;
		for (int b = 0; b < op->nbodies; b++) {
			for (int i = 0; i < op->nresults; i++)
				mark(infinite, op->bodies[b]->params[i],
					infinite[op->results[i]->id]);
			find_in(infinite, op->bodies[b]);
		}
		for (int i = 0; i < op->nresults; i++) {
			bool *carried = &infinite[op->results[i]->id];
			bool next = infinite[body->last->operands[i]->id];
			more |= next && !*carried;
			*carried |= next;
		}
	}
}

/* A composite (softmax, a norm) is finite where its operands are, whatever
   it is made of. */
static void
find_of(bool *infinite, const Op *op)
{
	bool is = effects[op->kind] != EFFECT_bounded
		&& (is_pole(op) || an_operand_is(infinite, op));

	if (op->kind == O_constant)
		is = dtype_is_float(op->results[0]->type.dtype)
			&& isinf(payload_double(op_int(op, A_value)));
	for (int i = 0; i < op->nresults; i++)
		mark(infinite, op->results[i], op->nbodies ? false : is);
	if (op->kind == O_while)
		find_in_loop(infinite, op);
	else if (op->nbodies)
		find_in_bodies(infinite, op);
	for (int i = 0; i < op->nresults && op->kind == O_call; i++)
		mark(infinite, op->results[i], is);
}

static void
find_in(bool *infinite, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next)
		find_of(infinite, op);
}

bool *
find_infinite(Arena *a, const Module *m)
{
	bool *infinite = NEW_ARRAY(a, bool, m->nvalues + 1);

	find_in(infinite, m->entry);
	return infinite;
}
