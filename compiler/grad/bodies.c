/*
 * bodies.c - gradients of loops and branches.
 *
 *   x' = while(i, x, W)              forward: x1 of each trip is kept
 *     body(i, x1, W1)                  xs = while(..., x1s): x1s[i] = x1
 *   dx, dW = while(t, dx', 0, xs, W)  backward, from the last trip to the first
 *     body(t, d, dW, xs1, W2)          x1 = xs1[n - 1 - t]; what the body adds to d, dW
 */
#include <string.h>
#include "grad/adjoint.h"
#include "ir/flow.h"

/* ---- loops ----------------------------------------------------------------- */

/* A cotangent that the backward loop carries: carried value `at` of it is that of the
   forward loop's `of`.  Of what the loop only reads it begins with zeros, and trips add
   to it; devices each have a part of it along `over`, until it leaves the loop. */
typedef struct Carry {
	int of, at;
	bool reads;
	AxisSet over;
	Value *next; /* what the next trip gets */
} Carry;

typedef struct Loop {
	Trips counts;
	Value *index; /* of the forward loop, in the backward body */
	int n;
	Carry *carries;
} Loop;

static Value *
at_trip(Make k, Value *stack, Value *trip, const Type *type)
{
	int64_t size[MAX_RANK];
	Value *start[MAX_RANK] = {trip};

	memcpy(size, stack->type.dims, sizeof size);
	size[0] = 1;
	Value *part = make_dynamic_slice(k, stack, start, size);
	return make_reshape(k, part, type->rank, type->dims);
}

/* The trip that an index belongs to: 0 for the first. */
static Value *
trip_of(Make k, Value *index, const Loop *l)
{
	return l->counts.first
		? make_binary(k, O_sub, index, make_constant(k, D_i32, l->counts.first))
		: index;
}

/* It is told of where it was made. */
static Make
kept_as(Make k, const Value *v)
{
	if (v->def) {
		k.range = v->def->range;
		k.label = v->def->label;
	}
	return named(k, v->name);
}

/* Another carried value of a loop: in trip i its slice i becomes v. */
static Value *
keep_stacked(Op *op, Value *v, const Loop *l)
{
	Block *body = op->bodies[LOOP_BODY];
	Type stack = v->type, slice = v->type;
	Value *start[MAX_RANK] = {NULL};

	slice.rank = stack.rank = v->type.rank + 1;
	memmove(stack.dims + 1, v->type.dims, (size_t)v->type.rank * sizeof stack.dims[0]);
	stack.dims[0] = l->counts.trips;
	memcpy(slice.dims, stack.dims, sizeof slice.dims);
	slice.dims[0] = 1;

	Make around = kept_as(make_backward(op), v);
	op_add_operand(op, make_zeros(around, &stack));
	Value *result = op_add_result(op, v->name, &stack);
	block_add_param(op->bodies[LOOP_CONDITION], v->name, &stack);
	Value *so_far = block_add_param(body, v->name, &stack);
	Make k = kept_as(make_backward(body->last), v);
	start[0] = trip_of(k, body->params[0], l);
	v = make_reshape(k, v, slice.rank, slice.dims);
	op_add_operand(body->last, make_dynamic_update_slice(k, so_far, v, start));
	return result;
}

static bool
is_slice_of(const Type *slice, const Type *stack, const Loop *l)
{
	return slice->dims[0] == 1 && stack->dims[0] == l->counts.trips
		&& type_elements(stack) == l->counts.trips * type_elements(slice);
}

static bool
is_reshape_of(const Value *v, const Value *source)
{
	while (v != source && v->def && v->def->kind == O_reshape)
		v = v->def->operands[0];
	return v == source;
}

/* A result of the loop of which trip i makes slice i v already, as where its gradient was
   taken before; NULL: none is. */
static Value *
stacked_before(const Adjoint *a, const Op *op, const Value *v, const Loop *l)
{
	const Block *body = op->bodies[LOOP_BODY];

	for (int i = 1; i < body->nparams; i++) {
		const Op *update = body->last->operands[i]->def;
		Value *result = op->results[i];
		if (update && update->kind == O_dynamic_update_slice
			&& update->operands[0] == body->params[i]
			&& update->operands[2] == body->params[0] && l->counts.first == 0
			&& is_slice_of(&update->operands[1]->type, &result->type, l)
			&& is_reshape_of(update->operands[1], v)
			&& primal_of(a->g, result)->varies == primal_of(a->g, v)->varies)
			return result;
	}
	return NULL;
}

static Value *
fetch_from_loop(Adjoint *a, Value *v)
{
	Crossing *c = &a->cross;
	Loop *l = c->data;
	bool carried = !v->def;

	if (carried && v->index == 0)
		return l->index;
	if (carried && loop_hands_on(c->forward, v->index))
		return capture(c, here_operand(a->outer, c->op, v->index));
	AxisSet varies = primal_of(a->g, v)->varies;
	Value *stack = stacked_before(a, c->forward, v, l);
	stack = kept_here(a, stack ? stack : keep_stacked(c->forward, v, l), varies);
	return at_trip(a->k, capture(c, stack), trip_of(a->k, l->index, l), &v->type);
}

/* What is made is the cotangent of a value: d_W of layer.W. */
static Make
of_value(Make k, const Value *v)
{
	const char *name = value_source_name(v), *dot = strrchr(name, '.');

	return named(k, arena_printf(k.module->arena, "d_%s", dot ? dot + 1 : name));
}

/* The axes along which what the loop carries differs. */
static AxisSet
carried_along(const Adjoint *a, const Block *body)
{
	AxisSet along = 0;

	for (int i = 1; i < body->nparams; i++)
		if (is_active(a, body->params[i]))
			along |= primal_of(a->g, body->params[i])->varies;
	return along;
}

/* `while`, begun: the trip, and a cotangent for each active value that the forward loop
   carries. */
static Op *
begin_loop(Adjoint *a, const Op *op, const Op *forward, Loop *l)
{
	const Block *from = forward->bodies[LOOP_BODY];
	Value *trip = make_constant(a->k, D_i32, 0);
	Op *back = make_begin(a->k, O_while, 1, &trip);
	Crossing c = {.backward = back, .body = LOOP_BODY};
	AxisSet along = carried_along(a, from);

	op_begin_bodies(back, 2);
	for (int b = 0; b < 2; b++)
		block_add_param(back->bodies[b], trip->name, &trip->type);
	for (int i = 1; i < op->nresults; i++) {
		if (!is_active(a, from->params[i]))
			continue;
		bool reads = loop_hands_on(forward, i);
		Value *d = reads
			? make_zeros(of_value(a->k, from->params[i]), &op->results[i]->type)
			: cotangent_or_zeros(a, op->results[i]);
		Carry carry = {.of = i,
			.at = capture(&c, d)->index,
			.reads = reads,
			.over = reads ? along & ~primal_of(a->g, from->params[i])->varies : 0};
		APPEND(a->g->arena, l->carries, l->n, carry);
	}
	return back;
}

/* What a trip begins with. */
static void
begin_trip(Adjoint *inner, const Loop *l)
{
	const Block *from = inner->cross.forward->bodies[LOOP_BODY];
	const Block *to = inner->cross.backward->bodies[LOOP_BODY];

	for (int i = 0; i < l->n; i++) {
		const Carry *c = &l->carries[i];
		inner->along = primal_of(inner->g, from->params[c->of])->varies | c->over;
		give(inner, from->last->operands[c->of], to->params[c->at]);
	}
}

/* Of what the loop only reads, a sum that no trip began with. */
static void
carry_more(Adjoint *inner, Loop *l, int of, AxisSet over, Value *sum)
{
	Value *zeros = make_zeros(inner->outer->k, &sum->type);
	Value *so_far = capture(&inner->cross, zeros);
	Carry carry = {.of = of,
		.at = so_far->index,
		.reads = true,
		.over = over,
		.next = make_binary(inner->k, O_add, so_far, sum)};

	APPEND(inner->g->arena, l->carries, l->n, carry);
}

/* What the next one begins with. */
static void
end_trip(Adjoint *inner, Loop *l)
{
	const Block *from = inner->cross.forward->bodies[LOOP_BODY];
	int n = l->n;

	for (int i = 0; i < n; i++) {
		Carry *c = &l->carries[i];
		const Carry carry = *c;
		const Value *param = from->params[carry.of];
		const Primal *p = primal_of(inner->g, param);
		join_parts(inner, param);
		inner->along = p->varies | carry.over;
		c->next = carry.reads ? *cotangent_sum(inner, param)
				      : cotangent_or_zeros(inner, param);
		if (carry.reads && carry.over && p->cotangent)
			carry_more(inner, l, carry.of, 0, p->cotangent);
		for (const Partial *part = p->partials; part; part = part->next)
			if (part->over != carry.over)
				carry_more(inner, l, carry.of, part->over, part->sum);
	}
}

/* The condition, and the round: the next trip, the cotangents, and what is captured. */
static void
end_loop(Adjoint *inner, const Loop *l)
{
	Op *op = inner->cross.backward;
	Block *condition = op->bodies[LOOP_CONDITION], *body = op->bodies[LOOP_BODY];
	Make k = inner->k;
	Value **all = NEW_ARRAY(op->module->arena, Value *, body->nparams);

	memcpy(all, body->params, (size_t)body->nparams * sizeof *all);
	all[0] = make_binary(k, O_add, all[0], make_constant(k, D_i32, 1));
	for (int i = 0; i < l->n; i++)
		all[l->carries[i].at] = l->carries[i].next;
	make_return(body, body->nparams, all, k.range, k.label);
	k.block = condition;
	Value *end = make_constant(k, D_i32, l->counts.trips);
	Value *more = make_compare(k, DIR_LT, condition->params[0], end);
	make_return(condition, 1, &more, k.range, k.label);
	op_set_int(op, A_trips, l->counts.trips);
	make_end(inner->outer->k, op);
}

/* No trip: all carried values are what they were. */
static void
pass_on(Adjoint *a, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		hand_over(op->results[i], a, op->operands[i]);
}

void
gradient_loop(Adjoint *a, const Op *op)
{
	Loop l = {0};

	if (!loop_trips(op, &l.counts)) {
		refuse(a, op,
			"a gradient through a loop needs to know how often that runs, and "
			"the run decides it here");
		return;
	}
	if (l.counts.trips == 0) {
		pass_on(a, op);
		return;
	}
	Op *forward = forward_of(a, op), *back = begin_loop(a, op, forward, &l);
	const Block *from = forward->bodies[LOOP_BODY];
	Adjoint inner = {.g = a->g,
		.outer = a,
		.k = a->k,
		.cross = {fetch_from_loop, op, forward, back, LOOP_BODY, false, &l}};

	inner.k.before = NULL;
	inner.k.block = back->bodies[LOOP_BODY];
	Value *last = make_constant(inner.k, D_i32, l.counts.first + l.counts.trips - 1);
	l.index = make_binary(inner.k, O_sub, last, inner.k.block->params[0]);
	begin_trip(&inner, &l);
	adjoint_block(&inner, from);
	end_trip(&inner, &l);
	end_loop(&inner, &l);
	for (int i = 1; i < op->noperands; i++)
		if (loop_hands_on(forward, i))
			hand_over(op->results[i], a, op->operands[i]);
	for (int i = 0; i < l.n; i++) {
		const Carry *c = &l.carries[i];
		bool same = c->next == inner.k.block->params[c->at]; /* zeros, still */
		a->along = primal_of(a->g, from->params[c->of])->varies | c->over;
		if (!c->reads || !same)
			give(a, op->operands[c->of], back->results[c->at]);
	}
}

/* ---- branches --------------------------------------------------------------- */

/* Another result of an `if`: of one body v, of the other one nothing. */
static Value *
keep_of_branch(Op *op, int body, Value *v)
{
	for (int b = 0; b < 2; b++) {
		Op *end = op->bodies[b]->last;
		op_add_operand(end, b == body ? v : make_zeros(make_backward(end), &v->type));
	}
	return op_add_result(op, v->name, &v->type);
}

static Value *
fetch_from_branch(Adjoint *a, Value *v)
{
	Crossing *c = &a->cross;

	if (!v->def)
		return capture(c, here_operand(a->outer, c->op, v->index + 1));
	AxisSet varies = primal_of(a->g, v)->varies;
	return capture(c, kept_here(a, keep_of_branch(c->forward, c->body, v), varies));
}

/* One side: the cotangents of those of its parameters whose operands are active. */
static void
branch_back(Adjoint *a, Crossing cross)
{
	Adjoint inner = {.g = a->g, .outer = a, .k = a->k, .cross = cross};
	const Op *op = cross.op;
	const Block *from = cross.forward->bodies[cross.body];
	Value **values = NEW_ARRAY(a->g->arena, Value *, op->noperands);
	int n = 0;

	inner.k.before = NULL;
	inner.k.block = cross.backward->bodies[cross.body];
	for (int i = 0; i < op->nresults; i++) {
		inner.along = primal_of(a->g, op->results[i])->varies;
		if (has_cotangent(a, op->results[i]))
			give(&inner, from->last->operands[i],
				capture(&inner.cross, cotangent_of(a, op->results[i])));
	}
	adjoint_block(&inner, from);
	for (int i = 1; i < op->noperands; i++)
		if (wants(a, op, i))
			values[n++] = cotangent_or_zeros(&inner, from->params[i - 1]);
	make_return(inner.k.block, n, values, inner.k.range, inner.k.label);
}

void
gradient_branch(Adjoint *a, const Op *op)
{
	Op *forward = forward_of(a, op);
	Value *which = here_operand(a, op, 0);
	Op *back = make_begin(a->k, O_if, 1, &which);
	int n = 0;

	op_begin_bodies(back, 2);
	for (int i = 1; i < op->noperands; i++)
		if (wants(a, op, i) && n++ > 0)
			op_add_result(back, "gradient", &op->operands[i]->type);
	for (int b = 0; b < 2; b++)
		branch_back(a,
			(Crossing){fetch_from_branch, op, forward, back, b, false, NULL});
	make_end(a->k, back);
	n = 0;
	for (int i = 1; i < op->noperands; i++) {
		a->along = primal_of(a->g, forward->bodies[0]->params[i - 1])->varies;
		if (wants(a, op, i))
			give(a, op->operands[i], back->results[n++]);
	}
}
