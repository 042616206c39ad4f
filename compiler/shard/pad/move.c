/*
 * move.c - ops that move elements along a padded dim: of sizes that their
 * axes divide, so that neighbours exchange boundary rows (halo.h).
 *
 *   n = 7 elements, computed with N = 8
 *   flip     roll(flip(x), n)          what was padding comes last again
 *   roll     select(iota < shift, roll(x, shift + N - n), roll(x, shift))
 *   concat   select(iota < 7, x, y with 7 before it), and so on: each operand
 *            made as long as the result; it is trimmed as before if the padding
 *            of one that is not most of it would reach beyond that
 *   update   select(1 <= iota < 7, update with 1 before it, x)
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

/* Is it padded as the result is to be, along dims but this? */
static bool
fits_beside(const Padder *p, const Value *part, const Value *result, int dim)
{
	for (int d = 0; d < part->type.rank; d++)
		if (d != dim && part->type.dims[d] != pad_size(p, result, d))
			return false;
	return true;
}

/* Where something is padded, and it all fits, but for the padding of what is most of it. */
Value *
pad_move_concatenate(Padder *p, Op *op)
{
	int dim = (int)op_int(op, A_dim);
	const Value *result = op->results[0];
	int64_t size = pad_size(p, result, dim), start = 0;
	bool padded = size != result->type.dims[dim];
	Value *v = NULL;

	for (int i = 0; i < op->noperands; i++) {
		const Value *part = op->operands[i];
		bool most = 2 * pad_true_size(part, dim) > size;
		if ((start + part->type.dims[dim] > size && !most)
			|| !fits_beside(p, part, result, dim))
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

/* ---- update ------------------------------------------------------------------- */

/* Where an update stands, if that is known, and it is most of x along dims in which it is
   padded: there is no trimming it then. */
static bool
find_update(const Padder *p, const Op *op, int64_t *start)
{
	const Value *x = op->operands[0], *update = op->operands[1];
	bool padded = false;

	for (int d = 0; d < x->type.rank; d++) {
		const Op *at = op->operands[2 + d]->def;
		int64_t size = pad_true_size(update, d), most = pad_true_size(x, d) - size;
		if (!at || at->kind != O_constant
			|| x->type.dims[d] != pad_size(p, op->results[0], d))
			return false;
		start[d] = greater(lesser(op_int(at, A_value), most), 0);
		if (pad_is_padded(update, d) && most > 0 && 2 * size < pad_true_size(x, d))
			return false;
		padded |= pad_is_padded(update, d) && most > 0;
	}
	return padded;
}

/* select(1 <= iota < 15, update with 1 before it, x), along each dim that it is a part of. */
Value *
pad_move_update(Padder *p, Op *op)
{
	Value *x = op->operands[0], *update = op->operands[1];
	int64_t start[MAX_RANK], high[MAX_RANK];

	if (!find_update(p, op, start))
		return NULL;
	for (int d = 0; d < x->type.rank; d++)
		high[d] = x->type.dims[d] - start[d] - update->type.dims[d];
	Value *v = make_pad(named(p->make, "placed"), update, NULL, start, high);
	for (int d = 0; d < x->type.rank; d++) {
		int64_t end = start[d] + pad_true_size(update, d);
		v = pad_before(p, d, start[d], x, v);
		if (end < pad_true_size(x, d))
			v = pad_before(p, d, end, v, x);
	}
	return v;
}

/* ---- windows ------------------------------------------------------------------ */

/* Along a dim that windows move over, whose elements are as many as they are. */
static bool
shows_padding(const Padder *p, const Op *op, const Ints *dims)
{
	const Value *x = op->operands[0], *result = op->results[0];
	bool padded = false;

	for (int i = 0; i < dims->n; i++) {
		int d = (int)dims->v[i], element = x->type.rank + i;
		if (pad_size(p, result, element) != result->type.dims[element])
			return false;
		padded |= pad_is_padded(x, d) || pad_size(p, result, d) != result->type.dims[d];
	}
	return padded;
}

/* As many windows as are wanted, with what they show behind x, or without what x has there;
   what is around x is in its padding, too. */
Value *
pad_move_windows(Padder *p, Op *op)
{
	const Ints *dims = op_ints(op, A_windowed);
	Value *x = op->operands[0];
	bool around = op->kind == O_frames;
	Value *fill = around ? op->operands[1] : make_constant(p->make, x->type.dtype, 0);
	int64_t before[MAX_RANK] = {0}, behind[MAX_RANK] = {0};
	Windows w = {.n = dims->n};

	if (!shows_padding(p, op, dims))
		return NULL;
	for (int i = 0; i < dims->n; i++) {
		int d = w.dim[i] = (int)dims->v[i];
		w.size[i] = op_ints(op, A_window)->v[i];
		w.step[i] = op_ints(op, A_step)->v[i];
		w.apart[i] = op_ints(op, A_apart)->v[i];
		before[i] = around ? op_ints(op, A_before)->v[i] : 0;
		if (around && op_ints(op, A_behind)->v[i] && pad_is_padded(x, d))
			x = pad_mask(p, x, d, fill);
		int64_t last = (pad_size(p, op->results[0], d) - 1) * w.step[i];
		behind[i] =
			last + (w.size[i] - 1) * w.apart[i] + 1 - before[i] - x->type.dims[d];
	}
	return make_frames(named(p->make, "windows"), x, fill, &w, before, behind);
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
