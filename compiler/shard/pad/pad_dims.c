/*
 * pad_dims.c - dims that their axes do not divide, made larger.
 *
 * example     x: f32[7@X pad], sum(x)                          on X=2
 *             x: f32[8@X], reduce(select(iota < 7, x, 0))
 * requires    L_global, as written: an axis may leave a remainder
 * leaves      L_global: every axis that is written divides its dim; values
 *             remember the sizes without padding.  Idempotent.
 *
 * The padding is at the high end.  Parameters have zeros there, results are
 * trimmed when they are stored; what is in between is nobody's business but
 * that of ops which would let it reach a true element (ops.c).
 */
#include <string.h>
#include "shard/pad/pad.h"

/* ---- types ------------------------------------------------------------------- */

/* Dims in `direct` get their padded sizes. */
static void
set_type(Padder *p, Value *v, uint16_t direct)
{
	int64_t sizes[MAX_RANK];

	memcpy(sizes, v->type.dims, sizeof sizes);
	for (int d = 0; d < v->type.rank; d++)
		if (direct >> d & 1)
			v->type.dims[d] = pad_size(p, v, d);
	pad_set_unpadded(p, v, sizes);
}

/* ---- the program --------------------------------------------------------------- */

static void
follow(const Padder *p, Value **v)
{
	if (*v && pad_value(p, *v)->now)
		*v = pad_value(p, *v)->now;
}

/* Dims that its op could not make padded. */
static void
extend_result(Padder *p, Op *op, Value *v)
{
	uint16_t direct = pad_value(p, v)->direct;
	int64_t sizes[MAX_RANK];
	bool more = false;

	pad_make_before(p, op->next, op);
	for (int d = 0; d < v->type.rank; d++) {
		sizes[d] = direct >> d & 1 ? v->type.dims[d] : pad_size(p, v, d);
		more |= sizes[d] != v->type.dims[d];
	}
	if (more)
		pad_value(p, v)->now = pad_extend(p, v, sizes);
}

static void
pad_block(Padder *p, Block *b)
{
	Op *next;

	for (int i = 0; i < b->nparams; i++) {
		set_type(p, b->params[i], UINT16_MAX);
		pad_know_flows(p, b->params[i]);
		for (int d = 0; !b->parent && d < b->params[i]->type.rank; d++)
			pad_value(p, b->params[i])->padding[d] = CONTENT_zero;
	}
	for (Op *op = b->first; op; op = next) {
		next = op->next;
		for (int i = 0; i < op->noperands; i++)
			follow(p, &op->operands[i]);
		pad_make_before(p, op, op);
		if (pad_move(p, op))
			continue;
		if (op != b->last)
			pad_prepare(p, op);
		for (int i = 0; i < op->nbodies && !op->specs; i++)
			pad_block(p, op->bodies[i]);
		for (int i = 0; i < op->nresults; i++)
			set_type(p, op->results[i], pad_value(p, op->results[i])->direct);
		pad_know_results(p, op);
		for (int i = 0; i < op->nresults; i++)
			extend_result(p, op, op->results[i]);
	}
}

bool
pad_dims(Module *m, bool remarks, Padding how, ChoosePadding *choose)
{
	Padder p = {.module = m, .arena = m->arena, .how = how, .choose = choose};

	bool limited = module_limit_indices(m); /* from the true sizes */
	if (!pad_find_classes(&p))
		return limited;
	if (remarks)
		pad_tell_classes(&p);

	pad_block(&p, m->entry);
	for (int i = 0; i < m->nresults; i++)
		follow(&p, &m->results[i].value);
	for (int i = 0; i < m->nexpects; i++)
		follow(&p, &m->expects[i].value);
	return true;
}
