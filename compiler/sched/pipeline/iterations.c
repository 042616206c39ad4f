/*
 * iterations.c - a loop written again, parts of different trips beside each other.
 *
 *   iteration   0      1      2      3      4      5      6
 *   early       W[0]   W[1]   W[2]   W[3]   W[4]   W[5]
 *   the trip           h[0]   h[1]   h[2]   h[3]   h[4]   h[5]
 *               head   loop: 1 and 2, 3 and 4 . . . .    tail: 5 and 6
 *
 * An iteration runs the late part of a trip, the middle of the next, the early part of
 * that after it; first comes what is late, for it changes what the next trip carries on.
 * The loop has two iterations a round: what is made in the first for the second has a
 * buffer, what is made in the second another, which the first of the next round frees.
 * Where only the first trip is before the loop, nothing is, and a round is one iteration.
 *
 * Trips in the loop are counted as in its first round: W[2] is made in it and carried on as
 * W[1], which the first iteration reads.  After the last round, n of them, W[1] is W[1 + 2n].
 */
#include "ir/make.h"
#include "sched/fuse/fuse.h"
#include "sched/pipeline/pipeline.h"

enum { ALWAYS = -1 /* in place of a trip: what the loop hands on */ };

/* What the ops of a trip have become. */
typedef struct Trip {
	int64_t number;
	Value **values; /* by value id */
	int64_t *made;	/* ... of STAGE_any: in which iteration, from 1 on */
	struct Trip *next;
} Trip;

/* One of head, loop and tail. */
typedef struct Part {
	Make k;
	Trip *trips;
	int64_t begin, now; /* iterations: the first, and that being written */
} Part;

/* A value of a trip, and where the loop carries it. */
typedef struct Carried {
	Value *value;
	int64_t trip;
} Carried;

typedef struct Writing {
	const Staged *s;
	Arena *arena;
	Part head, round, tail;
	Op *loop;		    /* NULL: too few trips for one */
	int64_t rounds, round_size; /* iterations of a round */
	Carried *carried;
	int ncarried;
} Writing;

static Value *value_of(Writing *w, Part *part, Value *v, int64_t trip);

/* ---- trips ------------------------------------------------------------------------- */

static Trip *
trip_of(Writing *w, Part *part, int64_t number)
{
	int n = w->s->body->module->nvalues; /* numbered by stages_find(); no pass runs here */
	Trip *trip = part->trips;

	while (trip && trip->number != number)
		trip = trip->next;
	if (trip)
		return trip;
	trip = NEW(w->arena, Trip);
	*trip = (Trip){number, NEW_ARRAY(w->arena, Value *, n + 1),
		NEW_ARRAY(w->arena, int64_t, n + 1), part->trips};
	return part->trips = trip;
}

/* ---- what the loop carries ------------------------------------------------------------ */

static int
carry(Writing *w, Value *v, int64_t trip)
{
	Value **param = &trip_of(w, &w->round, trip)->values[v->id];
	Value *first = NULL;

	if (*param)
		return (*param)->index;
	if (trip == ALWAYS)
		first = w->s->loop->op->operands[v->index];
	else
		first = value_of(w, &w->head, v, trip);
	op_add_operand(w->loop, first);
	value_like(op_add_result(w->loop, v->name, &v->type), v);
	for (int i = 0; i < w->loop->nbodies; i++) {
		*param = block_add_param(w->loop->bodies[i], v->name, &v->type);
		value_like(*param, v);
	}
	APPEND(w->arena, w->carried, w->ncarried, ((Carried){v, trip}));
	return (*param)->index;
}

/* A value of before the part: of before the loop it is carried, of before the tail it is
   what the loop leaves. */
static Value *
from_before(Writing *w, const Part *part, Value *v, int64_t trip)
{
	if (part == &w->head)
		die("pipeline: %s of trip %lld is not there", v->name, (long long)trip);
	int i = carry(w, v, part == &w->tail ? trip - w->rounds * w->round_size : trip);
	return part == &w->tail ? w->loop->results[i] : w->loop->bodies[LOOP_BODY]->params[i];
}

/* ---- values ---------------------------------------------------------------------------- */

/* The counter of a trip. */
static Value *
counter_of(Writing *w, Part *part, int64_t trip)
{
	const Staged *s = w->s;
	const Value *counter = s->body->params[0];
	Make k = named(part->k, counter->name);
	DType dtype = counter->type.dtype;

	if (part != &w->round)
		return make_constant(k, dtype, s->first + trip * s->step);
	Value *now = w->loop->bodies[LOOP_BODY]->params[0];
	int64_t more = (trip - part->begin) * s->step;
	return more ? make_binary(k, O_add, now, make_constant(named(k, NULL), dtype, more))
		    : now;
}

static Value *
param_of(Writing *w, Part *part, Value *v, int64_t trip)
{
	const Op *loop = w->s->loop->op;
	bool first = trip == (part == &w->tail ? w->rounds * w->round_size : 0);

	if (is_handed_on(w->s, v))
		return part == &w->round ? from_before(w, part, v, ALWAYS)
					 : loop->operands[v->index];
	if (!first)
		return value_of(w, part, w->s->body->last->operands[v->index], trip - 1);
	return part == &w->head ? loop->operands[v->index] : from_before(w, part, v, trip);
}

/* Is it one that was taken for its stage, and is there another trip beside it? */
static bool
is_beside(const Writing *w, const Part *part, const Op *op)
{
	const Staged *s = w->s;
	int64_t middle = part->now - (STAGE_trip - s->least);
	bool moved = op_communicates(op) && s->stage[op->id] != STAGE_trip;

	return moved && middle >= 0 && middle < s->trips;
}

static void
write_op(Writing *w, Part *part, Op *op, int64_t trip)
{
	Op *copy = op_clone(op);

	if (is_beside(w, part, op))
		copy->trip = w->s->stage[op->id] == STAGE_early ? TRIP_early : TRIP_late;
	for (int i = 0; i < op->noperands; i++)
		copy->operands[i] = value_of(w, part, op->operands[i], trip);
	make_place(part->k, copy);
	Trip *in = trip_of(w, part, trip);
	for (int i = 0; i < op->nresults; i++) {
		in->values[op->results[i]->id] = copy->results[i];
		in->made[op->results[i]->id] = part->now + 1;
	}
}

static Value *
value_of(Writing *w, Part *part, Value *v, int64_t trip)
{
	Trip *in = trip_of(w, part, trip);
	Value **known = &in->values[v->id];
	bool counter = !v->def && !v->index;
	int stage = counter ? STAGE_any : v->def ? w->s->stage[v->def->id] : STAGE_trip;

	if (*known && (stage != STAGE_any || in->made[v->id] == part->now + 1))
		return *known;
	if (counter) {
		*known = counter_of(w, part, trip);
		in->made[v->id] = part->now + 1;
	} else if (!v->def) {
		return param_of(w, part, v, trip);
	} else if (stage == STAGE_any) {
		write_op(w, part, v->def, trip);
	} else {
		return from_before(w, part, v, trip);
	}
	return *known;
}

/* ---- iterations ------------------------------------------------------------------------ */

/* Up to `end`. */
static void
write_iterations(Writing *w, Part *part, int64_t end)
{
	const Staged *s = w->s;

	for (; part->now < end; part->now++)
		for (int stage = s->most; stage >= s->least; stage--) {
			int64_t trip = part->now - (stage - s->least);
			if (trip < 0 || trip >= s->trips)
				continue;
			for (Op *op = s->body->first; op != s->body->last; op = op->next)
				if (s->stage[op->id] == stage)
					write_op(w, part, op, trip);
		}
}

/* The loop, its counter alone being carried. */
static void
begin_loop(Writing *w)
{
	const Staged *s = w->s;
	const Op *old = s->loop->op;
	Value *counter = s->body->params[0];
	Value *first = counter_of(w, &w->head, w->head.now);

	w->loop = op_new(old->module, old->kind, 1, &first, 1, old->results[0]->name,
		old->range, old->label);
	w->loop->mode = old->mode;
	w->loop->form = old->form;
	w->loop->again = old->again;
	value_like(w->loop->results[0], old->results[0]);
	op_begin_bodies(w->loop, old->nbodies);
	for (int i = 0; i < old->nbodies; i++)
		value_like(block_add_param(w->loop->bodies[i], counter->name, &counter->type),
			counter);
	op_set_int(w->loop, A_trips, w->rounds);
	make_place(w->head.k, w->loop);
	w->round = w->head;
	w->round.k.before = NULL;
	w->round.k.block = w->loop->bodies[LOOP_BODY];
	w->round.trips = NULL;
	w->round.begin = w->head.now;
}

/* What the next round begins with is what this one has two trips on. */
static void
end_loop(Writing *w)
{
	const Staged *s = w->s;
	Block *condition = w->loop->bodies[LOOP_CONDITION], *body = w->loop->bodies[LOOP_BODY];
	Make k = w->round.k;
	int64_t end = w->round.begin + w->rounds * w->round_size;
	Value **next = NULL;
	int n = 0;

	APPEND(w->arena, next, n, counter_of(w, &w->round, w->round.begin + w->round_size));
	for (int i = 0; i < w->ncarried; i++) {
		const Carried *c = &w->carried[i];
		int64_t trip = c->trip == ALWAYS ? ALWAYS : c->trip + w->round_size;
		APPEND(w->arena, next, n,
			c->trip == ALWAYS ? body->params[i + 1]
					  : value_of(w, &w->round, c->value, trip));
	}
	make_return(body, n, next, k.range, k.label);
	k.block = condition;
	Value *counter = condition->params[0];
	Value *limit = make_constant(k, counter->type.dtype, s->first + end * s->step);
	Value *more = make_compare(k, DIR_LT, counter, limit);
	make_return(condition, 1, &more, k.range, k.label);
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* Copies have the names of what they are copies of; where there is none the name stays. */
static void
name_copies(const Writing *w, Named name, Module *m)
{
	const Part *const parts[] = {&w->head, &w->round, &w->tail};
	int id = name.value->id, before = m->nnamed;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const Trip *trip = parts[i]->trips; trip; trip = trip->next) {
			name.value = trip->values[id];
			if (name.value)
				APPEND(m->arena, m->named, m->nnamed, name);
		}
	name.value = NULL;
	if (m->nnamed == before)
		APPEND(m->arena, m->named, m->nnamed, name);
}

static void
rename_values(const Writing *w, Value *const *results)
{
	Module *m = w->s->body->module;
	const Named *names = m->named;
	int n = m->nnamed;

	m->named = NULL;
	m->nnamed = 0;
	for (int i = 0; i < n; i++) {
		Named name = names[i];
		if (name.value && name.value->block == w->s->body) {
			name_copies(w, name, m);
			continue;
		}
		if (name.value && name.value->def == w->s->loop->op)
			name.value = results[name.value->index];
		APPEND(m->arena, m->named, m->nnamed, name);
	}
}

/* Is it gathered for a product, or the sum of one? */
static bool
is_of_product(const Pipelined *c)
{
	const Value *v = c->early ? c->op->results[0] : c->op->operands[0];
	bool product = !c->early && v->def && op_is_product(v->def);

	for (const Op *op = c->op->next; c->early && op && !product; op = op->next)
		product = op_is_product(op) && (op->operands[0] == v || op->operands[1] == v);
	return product;
}

/* If so asked for, the first product is in one block with what is gathered for it, before the
   loop, and the last with its sum, behind it: so many iterations more. */
static int
apart(const Staged *s, bool early)
{
	bool any = false;

	for (int i = 0; i < s->loop->n && s->loop->apart; i++) {
		const Pipelined *c = &s->loop->candidates[i];
		any |= c->taken && c->early == early && is_of_product(c);
	}
	return any;
}

void
iterations_write(const Staged *s)
{
	Op *old = s->loop->op;
	Module *m = old->module;
	Writing w = {.s = s, .arena = s->arena, .head = {.k = make_before(old)}};
	int64_t ahead = s->most - s->least, end = s->trips + ahead;
	int64_t begin = ahead + (s->loop->first_before || apart(s, true));
	int64_t rest = ahead + apart(s, false);
	Part *last = &w.head;

	w.round_size = ahead ? 2 : 1; /* nothing has two buffers that take turns */
	w.rounds = end > begin + rest ? (end - begin - rest) / w.round_size : 0;
	if (w.rounds > 1) {
		write_iterations(&w, &w.head, begin);
		begin_loop(&w);
		write_iterations(&w, &w.round, begin + w.round_size);
		w.tail = w.head;
		w.tail.trips = NULL;
		w.tail.now = w.tail.begin = begin + w.rounds * w.round_size;
		last = &w.tail;
	}
	write_iterations(&w, last, end);
	Value **results = NEW_ARRAY(w.arena, Value *, old->nresults + 1);
	for (int i = 0; i < old->nresults; i++) {
		results[i] = make_placed(make_before(old),
			value_of(&w, last, s->body->params[i], s->trips), old->results[i]);
		value_replace_uses(m, old->results[i], results[i]);
	}
	if (w.loop)
		end_loop(&w);
	rename_values(&w, results);
	op_remove(old);
}
