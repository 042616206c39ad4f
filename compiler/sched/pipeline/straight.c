/*
 * straight.c - a loop of one trip is no loop, and a part at a number that is known a slice.
 *
 *   i2, h2 = while(0, h): 1 trip             W = slice(Ws), [0:1]
 *     W = dynamic-slice(Ws, i)         ->    h2 = dot(h, W)
 *     return i + 1, dot(h, W)
 *
 * What was in the loop is in one block with what is around it, and may be beside that.
 */
#include "ir/interval.h"
#include "ir/make.h"
#include "sched/fuse/fuse.h"
#include "sched/pipeline/pipeline.h"

/* What v has become, placed as the result of the op was for which it stands. */
static Value *
standing_for(const Value *result, Value *v, Value *const *becomes)
{
	while (v->id >= 0 && becomes[v->id])
		v = becomes[v->id];
	return make_placed(make_before(result->def), v, result);
}

/* ---- one trip ---------------------------------------------------------------------- */

/* The ops of its body stand in its place. */
static void
open_loop(Op *loop, Value **becomes)
{
	Block *body = loop->bodies[LOOP_BODY];

	for (int i = 0; i < body->nparams; i++)
		becomes[body->params[i]->id] = loop->operands[i];
	for (Op *op = body->first, *next; op != body->last; op = next) {
		next = op->next;
		op_remove(op);
		op_insert_before(loop, op);
		for (int i = 0; i < op->nresults; i++)
			op->results[i]->block = op->block;
	}
	for (int i = 0; i < loop->nresults; i++)
		becomes[loop->results[i]->id] =
			standing_for(loop->results[i], body->last->operands[i], becomes);
	op_remove(loop);
}

bool
loops_open(Module *m)
{
	Arena *a = arena_new();
	bool any = false;

	module_number(m);
	Value **becomes = NEW_ARRAY(a, Value *, m->nvalues + 1);
	for (Op *op = m->entry->first, *next; op; op = next) {
		Staged s;
		bool one = op_is_loop(op) && loop_is_counted(op, &s) && s.trips == 1;
		next = one ? op->bodies[LOOP_BODY]->first : op_following(op, m->entry);
		if (!one)
			continue;
		if (next == op->bodies[LOOP_BODY]->last)
			next = op_following(next, m->entry);
		open_loop(op, becomes);
		any = true;
	}
	if (any)
		module_replace(m, becomes);
	arena_free(a);
	return any;
}

/* ---- known numbers ------------------------------------------------------------------- */

/* Are all starts known?  Then these are the bounds. */
static bool
find_bounds(const Op *part, const Known *known, int64_t *start, int64_t *limit)
{
	const Type *all = &part->operands[0]->type, *type = &part->results[0]->type;

	for (int d = 0; d < all->rank; d++) {
		const Interval in = known[part->operands[1 + d]->id].in;
		int64_t last = all->dims[d] - type->dims[d];
		if (last && in.low != in.high)
			return false;
		start[d] = last ? greater(0, lesser(in.low, last)) : 0;
		limit[d] = start[d] + type->dims[d];
	}
	return true;
}

/* The part as a slice, or what is written over all of something; NULL: it is neither. */
static Value *
known_part(Op *op, const Known *known)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	Value *x = op->nresults ? op->results[0] : NULL, *v = NULL;

	if (op->kind == O_dynamic_update_slice && type_equal(&op->operands[1]->type, &x->type))
		return op->operands[1];
	if (op->kind != O_dynamic_slice || !find_bounds(op, known, start, limit))
		return NULL;
	for (int d = 0; d < x->type.rank; d++)
		stride[d] = 1;
	v = make_slice(named(make_before(op), x->name), op->operands[0], start, limit, stride);
	if (v != op->operands[0])
		value_like(v, x);
	return v;
}

bool
parts_at_known(Module *m)
{
	Arena *a = arena_new();
	bool any = false;

	module_number(m);
	const Known *known = module_known(m, a);
	Value **becomes = NEW_ARRAY(a, Value *, m->nvalues + 1);
	for (Op *op = m->entry->first, *next; op; op = next) {
		next = op_following(op, m->entry);
		Value *v = known_part(op, known);
		if (!v)
			continue;
		becomes[op->results[0]->id] = standing_for(op->results[0], v, becomes);
		op_remove(op);
		any = true;
	}
	if (any)
		module_replace(m, becomes);
	arena_free(a);
	return any;
}
