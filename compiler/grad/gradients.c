/*
 * gradients.c - each `grad` becomes what its body computes and the backward pass of that;
 * then all goes that is there for gradients only.
 *
 * An op that was dissolved has the values that its results became as operands, and its
 * body those that its parameters became as parameters.
 */
#include "grad/adjoint.h"
#include "grad/grad.h"
#include "ir/flow.h"

static GradientRule *const rules[OP_COUNT] = {
#define OP(id, hlo, operands, attrs, types, rule, partial, where, bodies, gradient, ...) \
	[O_##id] = gradient_##gradient,
#include "ir/ops.def"
#undef OP
};

static bool
is_dissolved(const Op *op)
{
	return op && !op->block && ops[op->kind].where == WHERE_begun;
}

/* The value that it became, if its op was dissolved, or that whose parameter it was. */
static Value *
standing(Value *v)
{
	for (;;) {
		const Op *around = v->def || !v->block ? NULL : v->block->parent;
		if (is_dissolved(v->def))
			v = v->def->operands[v->index];
		else if (is_dissolved(around) && v->block == around->bodies[0])
			v = v->block->params[v->index];
		else
			return v;
	}
}

static void
stand(Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = standing(op->operands[i]);
}

static void
dissolve(Op *op, int n, Value *const *values)
{
	op_remove(op);
	op->noperands = n;
	op->operands = arena_copy(op->module->arena, values, (size_t)n * sizeof *values);
}

/* The ops of a body go to before `where`, with the operands of op for its parameters. */
static void
move_body(const Op *op, Op *where)
{
	Block *body = op->bodies[0];

	for (Op *o = body->first, *next; o; o = next) {
		next = o->next;
		for (int i = 0; i < o->noperands; i++) {
			const Value *v = o->operands[i];
			if (!v->def && v->block == body)
				o->operands[i] = op->operands[v->index];
		}
		if (o->kind == O_return)
			continue;
		op_remove(o);
		op_insert_before(where, o);
	}
	for (int i = 0; i < body->nparams; i++)
		body->params[i] = op->operands[i];
}

/* ---- activity ------------------------------------------------------------------ */

/* Does a change of the operand change the result smoothly? */
static void
be_active(Dataflow *d, const Op *op)
{
	const Gradients *g = d->data;
	Facts active = 0;

	if ((op->nbodies && op->kind != O_ruled) || rules[op->kind] == gradient_zero)
		return;
	for (int i = 0; i < op->noperands; i++)
		active |= d->of[op->operands[i]->id];
	for (int i = 0; i < op->nresults; i++)
		if (type_is_smooth(g, op->results[i]->type.dtype))
			dataflow_add(d, op->results[i], active);
}

static Facts
active_along(const Dataflow *d, const Flow *flow)
{
	return type_is_smooth(d->data, flow->to->type.dtype) ? d->of[flow->from->id] : 0;
}

typedef struct Known {
	Facts *active;
	AxisSet *varies;
} Known;

static void
know(Gradients *g, const Value *v, const Known *of)
{
	Primal *p = NEW(g->arena, Primal);

	*p = (Primal){.value = v,
		.active = of->active[v->id] != 0,
		.varies = of->varies[v->id]};
	g->known[v->id] = p;
}

static void
know_block(Gradients *g, const Block *b, const Known *of)
{
	for (int i = 0; i < b->nparams; i++)
		know(g, b->params[i], of);
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nresults; i++)
			know(g, op->results[i], of);
		for (int i = 0; i < op->nbodies; i++)
			know_block(g, op->bodies[i], of);
	}
}

/* The body of the outermost manual region around: what comes into it differs as it is
   cut.  Where there is none, the block itself. */
static Block *
outermost_body(Block *b)
{
	for (const Op *op = block_manual(b); op; op = block_manual(op->block))
		b = op->bodies[0];
	return b;
}

/* All values of the body, which are active where a gradient is asked for or one flows. */
static void
know_body(Gradients *g, Block *body, int nwrt, Value *const *wrt)
{
	Dataflow d = {.op = be_active, .along = active_along, .data = g};
	Block *around = outermost_body(body);

	block_number(around);
	block_count_uses(around);
	g->nknown = 0;
	while (g->nknown < g->module->nvalues)
		APPEND(g->arena, g->known, g->nknown, NULL);
	d.of = NEW_ARRAY(g->arena, Facts, g->nknown + 1);
	for (int i = 0; i < nwrt; i++)
		d.of[wrt[i]->id] = 1;
	dataflow_solve(&d, g->arena, body);
	know_block(g, body, &(Known){d.of, variation_solve(g->arena, around, NULL, true)});
}

/* ---- one gradient --------------------------------------------------------------- */

/* The forward ops will stand where the backward ones are. */
static Value *
fetch_inlined(Adjoint *a, Value *v)
{
	return v->def ? v : a->cross.op->operands[v->index];
}

/* By a parameter; it is placed as the argument, unless something else says where.  In
   explicit code it is. */
static Value *
gradient_by(Adjoint *a, const Op *op, const Value *param)
{
	Value *dx = cotangent_or_zeros(a, param);

	a->k.range = op->range;
	a->k.label = op->label;
	Make k = a->k;
	if (op->mode == MODE_explicit) {
		k.mode = MODE_explicit;
		k.form = AS_gradient;
	}
	return make_binary(k, O_shard_like, dx, op->operands[param->index]);
}

static void
expand(Gradients *g, Op *op)
{
	Block *body = op->bodies[0];
	const Ints *of = op_ints(op, A_cotangents);
	Op *end = body->last, *before = op->prev;
	int nresults = end->noperands, nwrt = (int)op_int(op, A_gradients);
	Adjoint a = {.g = g,
		.k = make_backward(op),
		.cross = {.fetch = fetch_inlined, .op = op}};

	Value **values = NEW_ARRAY(g->arena, Value *, nresults);
	int nplain = nresults - nwrt, first = op->noperands - of->n;
	know_body(g, body, nwrt, end->operands + nplain);
	for (int i = 0; i < of->n; i++) {
		const Value *result = end->operands[of->v[i]], *d = body->params[first + i];
		a.along = primal_of(g, result)->varies | primal_of(g, d)->varies;
		give(&a, result, op->operands[first + i]);
	}
	adjoint_block(&a, body);
	for (int i = 0; i < nwrt; i++)
		values[nplain + i] = gradient_by(&a, op, end->operands[nplain + i]);
	Op *backward = before ? before->next : op->block->first;
	move_body(op, backward);
	for (int i = 0; i < nplain; i++)
		values[i] = end->operands[i];
	dissolve(op, nresults, values);
}

/* Inner ones first: what they become is differentiated with the rest. */
static void
expand_block(Gradients *g, Block *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		stand(op);
		for (int i = 0; i < op->nbodies; i++)
			expand_block(g, op->bodies[i]);
		if (op->kind == O_grad && !g->refused)
			expand(g, op);
	}
}

/* ---- what is left ------------------------------------------------------------------ */

static void
dissolve_rest(Block *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		stand(op);
		bool marks = ops[op->kind].where == WHERE_begun;
		for (int i = 0; i < (marks && op->nbodies ? 1 : op->nbodies); i++)
			dissolve_rest(op->bodies[i]);
		if (!marks)
			continue;
		if (op->nbodies) {
			move_body(op, op);
			dissolve(op, op->nresults, op->bodies[0]->last->operands);
		} else {
			dissolve(op, 1, op->operands);
		}
	}
}

/* What the user has named is what it became; a gradient has the name of the result. */
static void
rename_standing(Module *m)
{
	for (int i = 0; i < m->nnamed; i++) {
		Value *old = m->named[i].value;
		Value *v = old ? standing(old) : NULL;
		m->named[i].value = v;
		if (v != old && v->range.file == 0 && v->def) {
			v->name = old->name;
			v->range = old->range;
		}
	}
	for (int i = 0; i < m->nresults; i++)
		m->results[i].value = standing(m->results[i].value);
	for (int i = 0; i < m->nexpects; i++)
		m->expects[i].value = standing(m->expects[i].value);
}

static bool
differentiate(Module *m, bool ring)
{
	Gradients g = {.module = m, .arena = arena_new(), .ring = ring, .rules = rules};

	expand_block(&g, m->entry);
	if (!g.refused)
		dissolve_rest(m->entry);
	if (!g.refused)
		rename_standing(m);
	arena_free(g.arena);
	return !g.refused;
}

bool
module_differentiate(Module *m)
{
	return differentiate(m, false);
}

bool
module_differentiate_ring(Module *m)
{
	return differentiate(m, true);
}
