/*
 * cuts.c - where what is cut along a dim is cut behind an op, and the op after that.
 *
 *   x2 = all-gather(x)         [4 m, k]     of each of 4 devices a range: Cut {0, 4}
 *   h  = reshape(x2)           [4, m, k]    Cut {1, 1}
 *   t  = transpose(h)          [m, 4, k]    Cut {0, 1}
 *   r  = reduce(t), dim 0                   it needs all of it: false
 */
#include "ir/flow.h"
#include "sched/decompose/cuts.h"

CutValue *
cut_of(const Pass *pass, const Value *v)
{
	for (int i = pass->nv; i-- > 0;)
		if (pass->v[i].value == v)
			return &pass->v[i];
	return NULL;
}

void
note_cut(Pass *pass, const Value *v, Cut cut)
{
	APPEND(pass->einsum->arena, pass->v, pass->nv, ((CutValue){v, cut, NULL}));
}

/* ---- cuts -------------------------------------------------------------------- */

/* The same elements as a dim of another shape, if there they are one of each outer, too. */
static bool
cut_reshaped(const Type *from, const Type *to, Cut cut, int64_t n, Cut *now)
{
	int64_t before = cut.outer, outer = 1;

	for (int d = 0; d < cut.dim; d++)
		before *= from->dims[d];
	for (int d = 0; d < to->rank; outer *= to->dims[d++]) {
		*now = (Cut){d, before / outer};
		if (before % outer)
			return false;
		if (to->dims[d] % (now->outer * n) == 0)
			return true;
	}
	return false;
}

static int
count_less(const Ints *dims, int64_t dim)
{
	int n = 0;

	for (int i = 0; i < dims->n; i++)
		n += dims->v[i] < dim;
	return n;
}

/* Where the result has what is cut of an operand; false: it needs it whole. */
static bool
cut_behind(const Op *op, int operand, Cut cut, int64_t n, Cut *now)
{
	const Type *from = &op->operands[operand]->type, *to = &op->results[0]->type;
	const Ints *dims = op_ints(op, A_dims);

	*now = cut;
	if (ops[op->kind].pointwise)
		return from->rank == to->rank;
	if (op->kind == O_reshape)
		return cut_reshaped(from, to, cut, n, now);
	if (op->kind == O_broadcast)
		now->dim = (int)dims->v[cut.dim];
	else if (op->kind == O_transpose)
		now->dim = ints_find(dims, cut.dim);
	else
		now->dim -= count_less(dims, cut.dim);
	return op->kind != O_reduce || (operand == 0 && !ints_contain(dims, cut.dim));
}

static bool pass_block(Pass *pass, Op *first, const Op *end);

/* A call's result is cut as what its body returns. */
static bool
pass_call(Pass *pass, const Op *call)
{
	const Block *body = call->bodies[0];

	for (int i = 0; i < call->noperands; i++) {
		const CutValue *from = cut_of(pass, call->operands[i]);
		if (from)
			note_cut(pass, body->params[i], from->cut);
	}
	if (!pass_block(pass, body->first, body->last))
		return false;
	const CutValue *from = cut_of(pass, body->last->operands[0]);
	if (from)
		note_cut(pass, call->results[0], from->cut);
	return from;
}

/* What reads nothing that is cut is whole. */
bool
pass_op(Pass *pass, const Op *op)
{
	Cut cut = {-1, 0}, now;

	for (int i = 0; i < op->noperands; i++) {
		const CutValue *from = cut_of(pass, op->operands[i]);
		if (!from)
			continue;
		if (!may_be_between(op))
			return false;
		if (op_is_composite(op))
			return pass_call(pass, op);
		if (!cut_behind(op, i, from->cut, pass->n, &now)
			|| (cut.dim >= 0 && (cut.dim != now.dim || cut.outer != now.outer)))
			return false;
		cut = now;
	}
	if (cut.dim >= 0)
		note_cut(pass, op->results[0], cut);
	return true;
}

static bool
pass_block(Pass *pass, Op *first, const Op *end)
{
	for (Op *op = first; op != end; op = op->next)
		if (!pass_op(pass, op))
			return false;
	return true;
}

int
gathered_operand(const Einsum *e, const Op *dot)
{
	const Value *v = dot->operands[0];
	bool first = v == e->collective->results[0];

	for (int i = 0; i < e->nbetween && !first; i++)
		first = v->def == e->between[i];
	return !first;
}

const Value *
first_value(const Einsum *e)
{
	return e->behind ? e->dots[0]->results[0] : e->collective->results[0];
}

Value *
last_value(const Einsum *e, int i)
{
	return e->behind ? e->collective->operands[0]
			 : e->dots[i]->operands[gathered_operand(e, e->dots[i])];
}

/* The first that needs it whole; NULL: nothing does. */
static const Op *
pass_between(Pass *pass, Cut first)
{
	note_cut(pass, first_value(pass->einsum), first);
	for (int i = 0; i < pass->einsum->nbetween; i++)
		if (!pass_op(pass, pass->einsum->between[i]))
			return pass->einsum->between[i];
	return NULL;
}

bool
pass_all(Pass *pass, Cut first)
{
	const Value *v = first_value(pass->einsum);

	return v->type.dims[first.dim] % (first.outer * pass->n) == 0
		&& !pass_between(pass, first);
}

bool
may_be_between(const Op *op)
{
	return op->nresults == 1 && op->kind != O_output && !op_is_hosted(op)
		&& (ops[op->kind].pointwise || op->kind == O_broadcast
			|| op->kind == O_transpose || op->kind == O_reshape
			|| op->kind == O_reduce || op_is_composite(op));
}

bool
between_cut(const Einsum *e, Cut first, int64_t n, Cut *last)
{
	Pass pass = {.einsum = e, .n = n};

	if (!pass_all(&pass, first))
		return false;
	for (int i = 0; i < e->ndots; i++)
		last[i] = cut_of(&pass, last_value(e, i))->cut;
	return true;
}

const Op *
between_stop(const Einsum *e)
{
	Pass pass = {.einsum = e, .n = 1};
	const Op *stop = NULL;

	for (int d = 0; d < first_value(e)->type.rank && !stop; d++)
		stop = pass_between(&pass, (Cut){d, 1});
	return stop;
}
