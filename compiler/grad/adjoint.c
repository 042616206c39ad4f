/*
 * adjoint.c - the walk backward through a block.
 */
#include <stdarg.h>
#include <string.h>
#include "grad/adjoint.h"
#include "ir/flow.h"

/* ---- what is known of values ------------------------------------------- */

/* Values that came after the numbering are known from their first use on. */
Primal *
primal_of(Gradients *g, const Value *v)
{
	if (v->id >= 0 && v->id < g->nknown && g->known[v->id]->value == v)
		return g->known[v->id];
	Primal *p = NEW(g->arena, Primal);
	p->value = v;
	((Value *)v)->id = g->nknown;
	APPEND(g->arena, g->known, g->nknown, p);
	return p;
}

bool
type_is_smooth(const Gradients *g, DType dtype)
{
	return dtype_is_float(dtype) || (g->ring && dtype_is_integer(dtype));
}

bool
is_active(const Adjoint *a, const Value *v)
{
	return primal_of(a->g, v)->active;
}

bool
wants(const Adjoint *a, const Op *op, int operand)
{
	return is_active(a, op->operands[operand]);
}

/* ---- cotangents -------------------------------------------------------- */

Make
make_backward(Op *op)
{
	Make k = make_before(op);

	k.mode = MODE_backward;
	return k;
}

Value *
make_number(Make k, const Type *type, double number)
{
	bool real = dtype_is_float(type->dtype);
	int64_t payload = real ? double_payload(number) : (int64_t)number;

	return make_splat(k, make_constant(k, type->dtype, payload), type);
}

Value *
make_zeros(Make k, const Type *type)
{
	return make_number(k, type, 0);
}

Value *
cotangent_of(Adjoint *a, const Value *v)
{
	Primal *p = primal_of(a->g, v);
	int n = p->nparts;

	p->nparts = 0;
	if (n)
		give(a, v, parts_together(a->k, &v->type, n, p->parts));
	return p->cotangent;
}

Value *
cotangent_or_zeros(Adjoint *a, const Value *v)
{
	Value *d = cotangent_of(a, v);

	return d ? d : make_zeros(a->k, &v->type);
}

void
give(Adjoint *a, const Value *v, Value *more)
{
	Primal *p = primal_of(a->g, v);

	if (!p->active || !more)
		return;
	p->cotangent = p->cotangent ? make_binary(a->k, O_add, p->cotangent, more) : more;
}

void
give_slice(Adjoint *a, const Value *v, Value *more, const int64_t *start)
{
	Primal *p = primal_of(a->g, v);
	Part part = {.value = more};

	if (!p->active)
		return;
	memcpy(part.start, start, (size_t)v->type.rank * sizeof *start);
	APPEND(a->g->arena, p->parts, p->nparts, part);
}

void
give_part(Adjoint *a, const Value *v, Value *more, Value *const *start)
{
	if (!is_active(a, v))
		return;
	Value *before = cotangent_of(a, v);
	if (before) {
		Value *part = make_dynamic_slice(a->k, before, start, more->type.dims);
		more = make_binary(a->k, O_add, part, more);
	}
	Value *all = cotangent_or_zeros(a, v);
	primal_of(a->g, v)->cotangent = make_dynamic_update_slice(a->k, all, more, start);
}

/* ---- forward values ---------------------------------------------------- */

/* Is what a body's parameter holds the same outside? */
static bool
is_around(const Adjoint *a, const Value *param)
{
	const Op *op = a->cross.op;

	return !op_is_loop(op) || param->index == 0 || loop_hands_on(op, param->index);
}

/*
 * Is it made again where it is asked for, and not kept?  So is what costs nothing, and
 * what is made, in a few steps, of values that are the same around: a slice of weights.
 */
static bool
is_made_again(Adjoint *a, const Value *v)
{
	Primal *p = primal_of(a->g, v);
	const Op *op = v->def;

	if (p->again)
		return p->again > 0;
	if (!op) {
		p->again = is_around(a, v) ? 1 : -1;
		return p->again > 0;
	}
	bool simple = ops[op->kind].pointwise || op_takes_part(op) || op_is_one_to_one(op)
		|| op->kind == O_broadcast;
	bool again = ops[op->kind].leaf || (simple && !op->nbodies);
	for (int i = 0; i < op->noperands && again; i++)
		again = is_made_again(a, op->operands[i]);
	p->again = again || op->kind == O_broadcast ? 1 : -1;
	return p->again > 0;
}

static Value *
made_again(Adjoint *a, const Op *op)
{
	Op *copy = op_clone(op);

	copy->mode = a->k.mode;
	for (int i = 0; i < op->noperands; i++)
		copy->operands[i] = here(a, op->operands[i]);
	if (a->k.before)
		op_insert_before(a->k.before, copy);
	else
		op_append(a->k.block, copy);
	return copy->results[0];
}

Value *
here(Adjoint *a, Value *v)
{
	Primal *p = primal_of(a->g, v);

	if (!p->here && a->cross.backward && v->def && is_made_again(a, v))
		p->here = made_again(a, v->def);
	if (!p->here)
		p->here = a->cross.fetch(a, v);
	return p->here;
}

Value *
here_operand(Adjoint *a, const Op *op, int operand)
{
	return here(a, op->operands[operand]);
}

/* ---- the walk ---------------------------------------------------------- */

void
refuse(Adjoint *a, const Op *op, const char *fmt, ...)
{
	va_list ap;
	Text t = {0};

	if (!a->g->refused) {
		va_start(ap, fmt);
		text_vprintf(&t, fmt, ap);
		va_end(ap);
		diag(a->g->module->session, DIAG_no_gradient, op->range, "%s", t.s);
		text_free(&t);
	}
	a->g->refused = true;
}

static void
adjoint_op(Adjoint *a, const Op *op)
{
	bool matters = false, active = false;

	for (int i = 0; i < op->nresults; i++)
		matters |= cotangent_of(a, op->results[i]) != NULL;
	for (int i = 0; i < op->noperands; i++)
		active |= is_active(a, op->operands[i]);
	if (!matters || !active || a->g->refused)
		return;
	a->k.range = op->range;
	a->k.label = arena_printf(a->g->module->arena, "gradient of %s", op->label);
	a->g->rules[op->kind](a, op);
}

void
adjoint_block(Adjoint *a, const Block *b)
{
	for (const Op *op = b->last->prev, *before; op; op = before) {
		before = op->prev;
		adjoint_op(a, op);
	}
}
