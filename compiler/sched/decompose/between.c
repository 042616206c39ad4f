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
#include "sched/decompose/cuts.h"
#include "sched/decompose/ring.h"

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
piece_of_op(const Ring *r, const Pass *pass, Which which, Op *op, Op *before)
{
	const CutValue *of = cut_of(pass, op->results[0]);
	Make k = make_piece(before, op->results[0]);
	Value **operands = NEW_ARRAY(pass->einsum->arena, Value *, op->noperands);
	Type shape = op->results[0]->type;

	for (int i = 0; i < op->noperands; i++) {
		const CutValue *from = cut_of(pass, op->operands[i]);
		operands[i] =
			from ? from->piece : take_piece(r, k, which, op->operands[i], of->cut);
	}
	shape.dims[of->cut.dim] /= pass->n;
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
	Pass pass = {.einsum = e, .n = r->n};

	if (!pass_all(&pass, first))
		die("what is between has no such pieces");
	pass.v[0].piece = piece;
	for (int i = 0; i < e->nbetween; i++) {
		Op *op = e->between[i], *dot = e->dots[0];
		Op *before = e->behind ? e->collective : op->id < dot->id ? dot : op;
		CutValue *of = cut_of(&pass, op->results[0]);
		of->piece = piece_of_op(r, &pass, which, op, before);
	}
	for (int i = 0; i < e->ndots; i++)
		last[i] = cut_of(&pass, last_value(e, i))->piece;
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
	Pass pass = {.einsum = e, .n = n};
	int i = 0;

	note_cut(&pass, e->collective->results[0], *cut);
	for (; i < e->nafter && e->after[i]->block && pass_op(&pass, e->after[i]); i++) {
		const Value *v = e->after[i]->results[0];
		if (v->type.rank + 2 > MAX_RANK)
			break;
		*cut = cut_of(&pass, v)->cut;
	}
	return i;
}

Value *
after_build(const Ring *r, Which which, Cut first, int n, Value *piece)
{
	const Einsum *e = r->einsum;
	Pass pass = {.einsum = e, .n = r->n};

	note_cut(&pass, e->collective->results[0], first);
	pass.v[0].piece = piece;
	for (int i = 0; i < n; i++) {
		Op *op = e->after[i];
		pass_op(&pass, op);
		CutValue *of = cut_of(&pass, op->results[0]);
		of->piece = piece = piece_of_op(r, &pass, which, op, op);
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
replace_call(const Einsum *e, Op *call, Value *v)
{
	const Value *old = call->results[0];

	for (int i = 0; i < e->ndots; i++)
		replace_operand(e->dots[i], old, v);
	replace_operand(e->collective, old, v);
	op_remove(call);
}

void
between_open(const Ring *r, Einsum *e)
{
	bool any = true;

	for (int opened = 0; any; opened++) { /* calls in calls have no number */
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
			if (!opened)
				r->rings->becomes[op->results[0]->id] = v;
			replace_call(e, op, v);
		}
	}
}
