/*
 * move.c - ops that move elements along a padded dim: of sizes that their
 * axes divide, so that neighbours exchange boundary rows (halo.h).
 *
 *   n = 7 elements, computed with N = 8
 *   flip     roll(flip(x), n)          what was padding comes last again
 *   roll     select(iota < shift, roll(x, shift + N - n), roll(x, shift))
 *   concat   select(iota < 7, x, y with 7 before it), and so on: each operand
 *            made as long as the result; it is trimmed as before if the padding
 *            of one would reach beyond that
 *
 * Between two devices this would move more than gathering what is trimmed, so
 * there what is rolled or flipped is trimmed, too.
 */
#include "shard/pad/pad.h"

/* ---- roll and flip ------------------------------------------------------------ */

static bool
is_far(const Padder *p, const Op *op, int dim)
{
	return pad_multiple(p, op->results[0], dim) > 2;
}

/* The op is one of true sizes. */
static void
trim(Padder *p, Op *op, int dim)
{
	uint16_t bit = (uint16_t)(1u << dim);

	op->operands[0] = pad_trim(p, op->operands[0], bit);
	pad_value(p, op->results[0])->direct &= (uint16_t)~bit;
}

Value *
pad_move_roll(Padder *p, Op *op)
{
	Value *x = op->operands[0];
	int dim = (int)op_int(op, A_along);
	int64_t shift = op_int(op, A_shift), size = x->type.dims[dim];
	int64_t padding = size - pad_true_size(x, dim);

	if (!padding)
		return NULL;
	if (!is_far(p, op, dim)) {
		trim(p, op, dim);
		return NULL;
	}
	Value *rest = make_roll(named(p->make, "rolled"), x, dim, shift);
	Value *wrapped = make_roll(named(p->make, "rolled"), x, dim, (shift + padding) % size);
	return pad_before(p, dim, shift, wrapped, rest);
}

Value *
pad_move_reverse(Padder *p, Op *op)
{
	const Ints *dims = op_ints(op, A_dims);
	Value *x = op->operands[0], *v = NULL;
	bool far = true;

	for (int i = 0; i < dims->n; i++)
		far &= !pad_is_padded(x, (int)dims->v[i]) || is_far(p, op, (int)dims->v[i]);
	for (int i = 0; i < dims->n; i++) {
		int dim = (int)dims->v[i];
		if (!pad_is_padded(x, dim))
			continue;
		if (!far) {
			trim(p, op, dim);
			continue;
		}
		v = v ? v : make_reverse(named(p->make, "flipped"), x, dims->n, dims->v);
		v = make_roll(named(p->make, "rolled"), v, dim, pad_true_size(x, dim));
	}
	return v;
}

/* ---- concat ------------------------------------------------------------------- */

/* Where something is padded, it all fits, and along other dims operands are padded as
   the result is to be. */
Value *
pad_move_concatenate(Padder *p, Op *op)
{
	int dim = (int)op_int(op, A_dim);
	int64_t size = pad_size(p, op->results[0], dim), start = 0;
	bool padded = false;
	Value *v = NULL;

	for (int i = 0; i < op->noperands; i++) {
		const Value *part = op->operands[i];
		for (int d = 0; d < part->type.rank; d++)
			if (d == dim ? start + part->type.dims[d] > size
				     : part->type.dims[d] != pad_size(p, op->results[0], d))
				return NULL;
		padded |= pad_is_padded(part, dim);
		start += pad_true_size(part, dim);
	}
	start = 0;
	for (int i = 0; i < op->noperands && padded; i++) {
		Value *part = op->operands[i];
		part = make_pad_dim(named(p->make, "placed"), part, dim, start,
			size - start - part->type.dims[dim]);
		v = v ? pad_before(p, dim, start, v, part) : part;
		start += pad_true_size(op->operands[i], dim);
	}
	return v;
}

/* ---- what stands for an op ------------------------------------------------------- */

bool
pad_move(Padder *p, Op *op)
{
	Module *m = p->module;
	Value *v = pad_ops[op->kind].move ? pad_ops[op->kind].move(p, op) : NULL;

	if (!v)
		return false;
	Value *result = op->results[0];
	value_take_name(v, result);
	pad_set_unpadded(p, v, result->type.dims);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == result)
			m->named[i].value = v;
	pad_value(p, result)->now = v;
	op_remove(op);
	return true;
}
