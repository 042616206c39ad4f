/*
 * between.c - what stands between a collective and its product, a piece at a time.
 *
 *   x2 = all-gather(x), dim 0          x3 = all-gather(x[:m/2])
 *   h  = relu(x2)                ->    h3 = relu(x3)
 *   y  = dot(h, W)                     y0 = dot(h3, W), ...
 *
 * What works element by element along the dim that is cut is done with each piece, and other
 * operands are cut as it is.  A reshape may put the dim behind others in one: of m rows of
 * each of four devices, [4, m] as [4 m], a part is a range of each of the four (Cut).
 */
#include <string.h>
#include "ir/flow.h"
#include "sched/decompose/ring.h"

/* Values that are cut: where, and what there is of the piece. */
typedef struct CutValue {
	const Value *value;
	Cut cut;
	Value *piece;
} CutValue;

typedef struct Pass {
	const Einsum *einsum;
	int64_t n;
	CutValue *v;
	int nv;
} Pass;

static CutValue *
cut_of(const Pass *p, const Value *v)
{
	for (int i = p->nv; i-- > 0;)
		if (p->v[i].value == v)
			return &p->v[i];
	return NULL;
}

static void
note_cut(Pass *p, const Value *v, Cut cut)
{
	APPEND(p->einsum->arena, p->v, p->nv, ((CutValue){v, cut, NULL}));
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

static bool pass_block(Pass *p, Op *first, const Op *end);

/* A call's result is cut as what its body returns. */
static bool
pass_call(Pass *p, const Op *call)
{
	const Block *body = call->bodies[0];

	for (int i = 0; i < call->noperands; i++) {
		const CutValue *from = cut_of(p, call->operands[i]);
		if (from)
			note_cut(p, body->params[i], from->cut);
	}
	if (!pass_block(p, body->first, body->last))
		return false;
	const CutValue *from = cut_of(p, body->last->operands[0]);
	if (from)
		note_cut(p, call->results[0], from->cut);
	return from;
}

/* What reads nothing that is cut is whole. */
static bool
pass_op(Pass *p, const Op *op)
{
	Cut cut = {-1, 0}, now;

	for (int i = 0; i < op->noperands; i++) {
		const CutValue *from = cut_of(p, op->operands[i]);
		if (!from)
			continue;
		if (!may_be_between(op))
			return false;
		if (op_is_composite(op))
			return pass_call(p, op);
		if (!cut_behind(op, i, from->cut, p->n, &now)
			|| (cut.dim >= 0 && (cut.dim != now.dim || cut.outer != now.outer)))
			return false;
		cut = now;
	}
	if (cut.dim >= 0)
		note_cut(p, op->results[0], cut);
	return true;
}

static bool
pass_block(Pass *p, Op *first, const Op *end)
{
	for (Op *op = first; op != end; op = op->next)
		if (!pass_op(p, op))
			return false;
	return true;
}

static const Value *
first_value(const Einsum *e)
{
	return e->behind ? e->dots[0]->results[0] : e->collective->results[0];
}

static Value *
last_value(const Einsum *e, int i)
{
	return e->behind ? e->collective->operands[0]
			 : e->dots[i]->operands[gathered_operand(e, e->dots[i])];
}

/* The first that needs it whole; NULL: nothing does. */
static const Op *
pass_between(Pass *p, Cut first)
{
	note_cut(p, first_value(p->einsum), first);
	for (int i = 0; i < p->einsum->nbetween; i++)
		if (!pass_op(p, p->einsum->between[i]))
			return p->einsum->between[i];
	return NULL;
}

static bool
pass_all(Pass *p, Cut first)
{
	const Value *v = first_value(p->einsum);

	return v->type.dims[first.dim] % (first.outer * p->n) == 0 && !pass_between(p, first);
}

bool
may_be_between(const Op *op)
{
	return op->nresults == 1
		&& (ops[op->kind].pointwise || op->kind == O_broadcast
			|| op->kind == O_transpose || op->kind == O_reshape
			|| op->kind == O_reduce || op_is_composite(op));
}

bool
between_cut(const Einsum *e, Cut first, int64_t n, Cut *last)
{
	Pass p = {.einsum = e, .n = n};

	if (!pass_all(&p, first))
		return false;
	for (int i = 0; i < e->ndots; i++)
		last[i] = cut_of(&p, last_value(e, i))->cut;
	return true;
}

const Op *
between_stop(const Einsum *e)
{
	Pass p = {.einsum = e, .n = 1};
	const Op *stop = NULL;

	for (int d = 0; d < first_value(e)->type.rank && !stop; d++)
		stop = pass_between(&p, (Cut){d, 1});
	return stop;
}

/* ---- pieces ------------------------------------------------------------------ */

static bool
is_aside(const Einsum *e, const Op *op)
{
	for (int i = 0; i < e->naside; i++)
		if (e->aside[i] == op)
			return true;
	return false;
}

/* The same op of other operands. */
static Value *
op_with(Make k, const Op *op, Value *const *operands, const Type *type)
{
	Op *piece = op_clone(op);

	piece->of = k.of;
	memcpy(piece->operands, operands, sizeof *operands * (size_t)op->noperands);
	piece->results[0]->type = *type;
	piece->results[0]->no_placement = true;
	op_infer(piece);
	make_place(k, piece);
	return piece->results[0];
}

static Value *take_piece(const Ring *r, Make k, Which which, Value *x, Cut cut);

/* Of each of its operands a piece; `whole`: they are as they are. */
static Value *
take_op(const Ring *r, Make k, Which which, const Op *op, Cut cut, bool whole)
{
	Value **operands = NEW_ARRAY(r->rings->arena, Value *, op->noperands);
	Type shape = op->results[0]->type;

	if (!whole)
		shape.dims[cut.dim] /= r->n;
	for (int i = 0; i < op->noperands; i++)
		operands[i] =
			whole ? op->operands[i] : take_piece(r, k, which, op->operands[i], cut);
	return op_with(k, op, operands, &shape);
}

/* What only slices is read where it lies if each piece has it for itself. */
static Value *
slice_again(const Ring *r, Make k, Value *x)
{
	const Op *def = x->def;
	bool again = def && def->kind == O_dynamic_slice && is_aside(r->einsum, def);

	return again ? take_op(r, k, (Which){0}, def, (Cut){0, 1}, true) : x;
}

/* Of what is spread along other dims, less is spread; what is computed for this alone is
   computed of pieces. */
static Value *
take_piece(const Ring *r, Make k, Which which, Value *x, Cut cut)
{
	const Op *def = x->def;
	Type shape = x->type;

	k.name = x->name;
	if (!x->type.rank)
		return x;
	shape.dims[cut.dim] /= r->n;
	if (def && def->kind == O_broadcast && !ints_contain(op_ints(def, A_dims), cut.dim)) {
		Value *small = slice_again(r, k, def->operands[0]);
		return make_broadcast(k, small, &shape, op_ints(def, A_dims)->v);
	}
	if (def && ops[def->kind].pointwise && is_aside(r->einsum, def))
		return take_op(r, k, which, def, cut, false);
	x = slice_again(r, k, x);
	if (which.turns)
		return piece_of(r, k, x, cut.dim, which.step);
	if (cut.outer == 1)
		return part_of_dim(r, k, x, cut.dim, which.part);
	x = range_of_each(r, k, x, cut, which.part);
	return make_reshape(k, x, shape.rank, shape.dims);
}

/* With its operands in pieces. */
static Value *
piece_of_op(const Ring *r, const Pass *p, Which which, Op *op, Op *before)
{
	const CutValue *of = cut_of(p, op->results[0]);
	Make k = make_piece(before, op->results[0]);
	Value **operands = NEW_ARRAY(p->einsum->arena, Value *, op->noperands);
	Type shape = op->results[0]->type;

	for (int i = 0; i < op->noperands; i++) {
		const CutValue *from = cut_of(p, op->operands[i]);
		operands[i] =
			from ? from->piece : take_piece(r, k, which, op->operands[i], of->cut);
	}
	shape.dims[of->cut.dim] /= p->n;
	k.name = op->results[0]->name;
	if (op->kind == O_broadcast)
		return make_broadcast(k, operands[0], &shape, op_ints(op, A_dims)->v);
	if (op->kind == O_reshape)
		return make_reshape(k, operands[0], shape.rank, shape.dims);
	return op_with(k, op, operands, &shape);
}

void
between_build(const Ring *r, Which which, Cut first, Value *piece, Value **last)
{
	const Einsum *e = r->einsum;
	Pass p = {.einsum = e, .n = r->n};

	if (!pass_all(&p, first))
		die("what is between has no such pieces");
	p.v[0].piece = piece;
	for (int i = 0; i < e->nbetween; i++) {
		Op *op = e->between[i], *dot = e->dots[0];
		Op *before = e->behind ? e->collective : op->id < dot->id ? dot : op;
		CutValue *of = cut_of(&p, op->results[0]);
		of->piece = piece_of_op(r, &p, which, op, before);
	}
	for (int i = 0; i < e->ndots; i++)
		last[i] = cut_of(&p, last_value(e, i))->piece;
}

void
between_remove(const Einsum *e)
{
	for (int i = e->nbetween; i-- > 0;)
		op_remove(e->between[i]);
}

int
after_cut(const Einsum *e, int64_t n, Cut *cut)
{
	Pass p = {.einsum = e, .n = n};
	int i = 0;

	note_cut(&p, e->collective->results[0], *cut);
	for (; i < e->nafter && e->after[i]->block && pass_op(&p, e->after[i]); i++) {
		const Value *v = e->after[i]->results[0];
		if (v->type.rank + 2 > MAX_RANK)
			break;
		*cut = cut_of(&p, v)->cut;
	}
	return i;
}

Value *
after_build(const Ring *r, Which which, Cut first, int n, Value *piece)
{
	const Einsum *e = r->einsum;
	Pass p = {.einsum = e, .n = r->n};

	note_cut(&p, e->collective->results[0], first);
	p.v[0].piece = piece;
	for (int i = 0; i < n; i++) {
		Op *op = e->after[i];
		pass_op(&p, op);
		CutValue *of = cut_of(&p, op->results[0]);
		of->piece = piece = piece_of_op(r, &p, which, op, op);
	}
	return piece;
}

/* ---- calls ------------------------------------------------------------------- */

static void
replace_operand(Op *op, const Value *old, Value *new)
{
	for (int i = 0; i < op->noperands; i++)
		if (op->operands[i] == old)
			op->operands[i] = new;
}

/* What of the opened call is made of what is cut. */
static void
append_opened(Einsum *e, Op *first, const Op *end)
{
	for (Op *op = first; op != end; op = op->next) {
		bool any = false;
		for (int i = 0; i < op->noperands; i++) {
			const Op *def = op->operands[i]->def;
			any |= op->operands[i] == first_value(e);
			for (int j = 0; j < e->nbetween && def; j++)
				any |= e->between[j] == def;
		}
		op->id = end->id;
		if (any)
			APPEND(e->arena, e->between, e->nbetween, op);
	}
}

/* The ops of its body in its place.  All that reads it is of the einsum. */
static Value *
open_call(Op *call)
{
	Make k = make_before(call);

	k.helper = true;
	return make_body(k, call->bodies[0], call->operands)[0];
}

static void
replace_call(const Ring *r, const Einsum *e, Op *call, Value *v)
{
	Value *old = call->results[0];

	if (!call->of)
		r->rings->becomes[old->id] = v;
	for (int i = 0; i < e->ndots; i++)
		replace_operand(e->dots[i], old, v);
	replace_operand(e->collective, old, v);
	op_remove(call);
}

void
between_open(const Ring *r, Einsum *e)
{
	bool any = true;

	while (any) {
		Op **all = e->between;
		int n = e->nbetween;
		any = false;
		e->between = NULL;
		e->nbetween = 0;
		for (int i = 0; i < n; i++) {
			Op *op = all[i], *before = op->prev;
			if (!op_is_composite(op)) {
				APPEND(e->arena, e->between, e->nbetween, op);
				continue;
			}
			any = true;
			Value *v = open_call(op);
			append_opened(e, before ? before->next : op->block->first, op);
			for (int j = i + 1; j < n; j++)
				replace_operand(all[j], op->results[0], v);
			replace_call(r, e, op, v);
		}
	}
}
