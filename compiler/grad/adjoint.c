/*
 * adjoint.c - the walk backward through a block.
 */
#include <stdarg.h>
#include <string.h>
#include "grad/adjoint.h"

/* ---- what is known of values ------------------------------------------- */

/* Values that came after the numbering are known from their first use on. */
Primal *
primal_of(Gradients *g, const Value *v)
{
	Primal *p = v->id >= 0 && v->id < g->nknown ? g->known[v->id] : NULL;

	if (p && p->value == v)
		return p;
	p = NEW(g->arena, Primal);
	p->value = v;
	((Value *)v)->id = g->nknown;
	APPEND(g->arena, g->known, g->nknown, p);
	return p;
}

void
know_like(Gradients *g, const Value *v, const Value *x)
{
	const Primal *like = primal_of(g, x);
	Primal *p = primal_of(g, v);

	p->active = like->active;
	p->varies = like->varies;
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
	k.again = false;
	return k;
}

Value *
make_zeros(Make k, const Type *type)
{
	return make_number(k, type, 0);
}

/* Of what the devices along these axes have. */
static Value *
sum_over(Make k, Value *part, AxisSet over)
{
	AxisList axes = {0};

	for (int i = 0; i < k.module->mesh.naxes; i++)
		axes_append(&axes, axis_whole(&k.module->mesh, i));
	axes = axes_within(&axes, over);
	return make_collective(k, O_all_reduce, part, &axes, 0, C_add);
}

bool
has_cotangent(const Adjoint *a, const Value *v)
{
	const Primal *p = primal_of(a->g, v);

	return p->cotangent || p->partials || p->nparts;
}

static void
add_to(Make k, Value **sum, Value *more)
{
	*sum = *sum ? make_binary(k, O_add, *sum, more) : more;
}

/* Of what differs along these axes, and the value does not. */
static Value **
sum_of(Adjoint *a, Primal *primal, AxisSet over)
{
	Partial **at = &primal->partials;

	if (!over)
		return &primal->cotangent;
	while (*at && (*at)->over != over)
		at = &(*at)->next;
	if (!*at) {
		*at = NEW(a->g->arena, Partial);
		(*at)->over = over;
	}
	return &(*at)->sum;
}

void
join_parts(Adjoint *a, const Value *v)
{
	Primal *p = primal_of(a->g, v);
	Part *alike = p->nparts ? NEW_ARRAY(a->g->arena, Part, p->nparts) : NULL;

	while (p->nparts) {
		AxisSet over = p->parts[0].over;
		int n = 0, rest = 0;
		for (int i = 0; i < p->nparts; i++)
			if (p->parts[i].over == over)
				alike[n++] = p->parts[i];
			else
				p->parts[rest++] = p->parts[i];
		p->nparts = rest;
		add_to(a->k, sum_of(a, p, over), parts_together(a->k, &v->type, n, alike));
	}
}

Value *
cotangent_of(Adjoint *a, const Value *v)
{
	Primal *p = primal_of(a->g, v);

	join_parts(a, v);
	for (; p->partials; p->partials = p->partials->next)
		add_to(a->k, &p->cotangent,
			sum_over(a->k, p->partials->sum, p->partials->over));
	return p->cotangent;
}

Value *
cotangent_or_zeros(Adjoint *a, const Value *v)
{
	Value *d = cotangent_of(a, v);

	return d ? d : make_zeros(a->k, &v->type);
}

Value **
cotangent_sum(Adjoint *a, const Value *v)
{
	Primal *p = primal_of(a->g, v);

	return sum_of(a, p, a->along & ~p->varies);
}

void
give(Adjoint *a, const Value *v, Value *more)
{
	if (is_active(a, v) && more)
		add_to(a->k, cotangent_sum(a, v), more);
}

void
give_slice(Adjoint *a, const Value *v, Value *more, const int64_t *start)
{
	Primal *p = primal_of(a->g, v);
	Part part = {.value = more, .over = a->along & ~p->varies};

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
	Value **sum = cotangent_sum(a, v);
	if (*sum) {
		Value *before = make_dynamic_slice(a->k, *sum, start, more->type.dims);
		more = make_binary(a->k, O_add, before, more);
	} else {
		*sum = make_zeros(a->k, &v->type);
	}
	*sum = make_dynamic_update_slice(a->k, *sum, more, start);
}

void
hand_over(const Value *v, Adjoint *a, const Value *x)
{
	const Primal *p = primal_of(a->g, v);

	join_parts(a, v);
	a->along = p->varies;
	give(a, x, p->cotangent);
	for (const Partial *part = p->partials; part; part = part->next) {
		a->along = p->varies | part->over;
		give(a, x, part->sum);
	}
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
 * Of what stands behind a fence its operand is kept, which may be there for others, too.
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
	if (op->kind == O_fence) {
		p->again = 1;
		return true;
	}
	bool simple = op_takes_part(op) || op_is_one_to_one(op) || op->kind == O_broadcast;
	bool again = ops[op->kind].leaf || (simple && !op->nbodies);
	for (int i = 0; i < op->noperands && again; i++)
		again = is_made_again(a, op->operands[i]);
	p->again = again || op->kind == O_broadcast ? 1 : -1;
	return p->again > 0;
}

static Value *
made_again(Adjoint *a, const Value *v)
{
	const Op *op = v->def;

	if (op->kind == O_fence)
		return make_unary(a->k, O_fence, here_operand(a, op, v->index));
	Op *copy = op_clone(op);

	copy->mode = a->k.mode;
	for (int i = 0; i < op->noperands; i++)
		copy->operands[i] = here(a, op->operands[i]);
	make_place(a->k, copy);
	return copy->results[0];
}

Value *
here(Adjoint *a, Value *v)
{
	Primal *p = primal_of(a->g, v);

	if (!p->here && a->cross.backward && v->def && is_made_again(a, v))
		p->here = made_again(a, v);
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

static bool
is_carried(const Value *v)
{
	return !v->def && v->block->parent && op_is_loop(v->block->parent);
}

/*
 * What devices add to the cotangent of the result may stay as it is, each device's part,
 * if it is all there is: the rule makes parts of the operands' cotangents of it.  That
 * is done where these are no larger, or trips of a loop add slices to them:
 *   y = broadcast(x), y.2 = y + z    y and x are the same along X, z differs
 *   dx = psum(sum(dy.2), X)          and not sum(psum(dy.2, X))
 */
static bool
stays_partial(const Adjoint *a, const Op *op)
{
	const Primal *p = primal_of(a->g, op->results[0]);
	int64_t bytes = type_bytes(&op->results[0]->type);

	if (op->nbodies || op->axes || op->nresults > 1 || p->cotangent || !p->partials
		|| p->partials->next)
		return false;
	if (op_takes_part(op) && is_carried(op->operands[0]))
		return true;
	for (int i = 0; i < op->noperands; i++)
		bytes -= wants(a, op, i) ? type_bytes(&op->operands[i]->type) : 0;
	return bytes >= 0;
}

/* Along which axes what the op gives to its operands differs: those of the result, and
   those along which it takes from other devices. */
static AxisSet
along_op(const Adjoint *a, const Op *op)
{
	AxisSet along = op->axes && !op->specs ? axes_set(op->axes) : 0;

	for (int i = 0; i < op->nresults; i++)
		along |= primal_of(a->g, op->results[i])->varies;
	return along;
}

static void
adjoint_op(Adjoint *a, const Op *op)
{
	bool matters = false, active = false;

	for (int i = 0; i < op->nresults; i++)
		matters |= has_cotangent(a, op->results[i]);
	for (int i = 0; i < op->noperands; i++)
		active |= is_active(a, op->operands[i]);
	if (!matters || !active || a->g->refused)
		return;
	a->k.range = op->range;
	a->k.label = arena_printf(a->g->module->arena, "gradient of %s", op->label);
	a->along = along_op(a, op);
	for (int i = 0; i < op->nresults; i++)
		join_parts(a, op->results[i]);
	if (stays_partial(a, op)) {
		Primal *p = primal_of(a->g, op->results[0]);
		a->along |= p->partials->over;
		p->cotangent = p->partials->sum;
		p->partials = NULL;
	}
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
