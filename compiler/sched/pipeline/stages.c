/*
 * stages.c - which loops are counted, which of their collectives may run a trip early
 * or late, and the stage of each op.
 *
 *   W = all-gather(Ws[i])        early: it needs the counter and what the loop hands on
 *   V = all-gather(v); v = f(v)  early: what is carried to it is, too
 *   s = s + all-reduce(f(h))     late: what needs it is a sum that is only carried on
 *   h = all-reduce(dot(h, W))    neither: the next trip's product needs it; but if that trip
 *                                has another, the loop may be cut: late
 *
 * Slices of what the loop hands on, and numbers made of the counter, have no stage: they
 * are made anew wherever they are used, so that nothing of them has to be kept.
 */
#include "sched/pipeline/pipeline.h"

/* What is known of values, by id. */
typedef enum Known {
	KNOWN_no,
	KNOWN_before,  /* of what the trip before ends with, and no work of this one */
	KNOWN_carried, /* of what is carried, no work being needed for that in any trip */
	KNOWN_early,   /* without what a trip before it made */
	KNOWN_any,     /* ... and for nothing */
} Known;

/* An op that reads a value, as that operand. */
typedef struct User {
	Op *op;
	int operand;
	struct User *next;
} User;

typedef struct Search {
	Arena *arena;
	Block *body;
	Known *known; /* by value id */
	User **users;
	Value **waiting; /* a worklist */
	int nwaiting;
	bool *reached; /* values that were on it */
} Search;

/* ---- counters -------------------------------------------------------------------- */

static bool
is_number(const Value *v, int64_t *n)
{
	if (!v->def || v->def->kind != O_constant || v->type.rank
		|| !dtype_is_integer(v->type.dtype))
		return false;
	*n = op_int(v->def, A_value);
	return true;
}

/* first, first + step, ... as often as the loop says, below a limit. */
bool
loop_is_counted(const Op *loop, Staged *s)
{
	const Block *condition = loop->bodies[LOOP_CONDITION], *body = loop->bodies[LOOP_BODY];
	const Op *more = condition->last->operands[0]->def;
	int64_t limit;

	if (!op_has(loop, A_trips) || !loop->noperands || !more || more->kind != O_compare
		|| op_int(more, A_direction) != DIR_LT)
		return false;
	const Op *next = body->last->operands[0]->def;
	if (!next || next->kind != O_add || next->operands[0] != body->params[0]
		|| !is_number(next->operands[1], &s->step)
		|| !is_number(loop->operands[0], &s->first)
		|| more->operands[0] != condition->params[0]
		|| !is_number(more->operands[1], &limit))
		return false;
	s->trips = op_int(loop, A_trips);
	return s->step == 1 && s->trips == limit - s->first;
}

/* ---- what is known without the trip before ----------------------------------------- */

/* It moves elements, or is a number, or numbers that are known. */
static bool
is_for_nothing(const Op *op)
{
	return op_is_offset(op) || op_takes_part(op) || op_renames(op)
		|| op->kind == O_transpose || op->kind == O_reverse || op->kind == O_windows
		|| value_is_literal(op->results[0]);
}

/* What needs it is not put off. */
static bool
stays(const Op *op)
{
	return op_is_product(op) || op_is_grouped(op) || op_communicates(op) || op->nbodies
		|| op->external || op->kind == O_fence || op->kind == O_sort;
}

static Known
known_of(const Search *search, const Op *op)
{
	Known known = KNOWN_any;

	/* fences that wait for each other stay together */
	if (op->nbodies || op->nresults != 1 || is_one_of_fences(op))
		return KNOWN_no;
	for (int i = 0; i < op->noperands; i++) {
		Known of = search->known[op->operands[i]->id];
		known = of < known ? of : known;
	}
	if (known < KNOWN_early && stays(op) && !op_communicates(op))
		return KNOWN_no;
	return known == KNOWN_any && !is_for_nothing(op) ? KNOWN_early : known;
}

static void
reach(Search *search, Value *v)
{
	if (search->reached[v->id])
		return;
	search->reached[v->id] = true;
	search->waiting[search->nwaiting++] = v;
}

enum { MOST_SWEEPS = 16 }; /* of a body: each may know less of one carried value */

/* Carried values are known as what is carried on; false if one is now known less. */
static bool
find_known(Search *search)
{
	const Block *body = search->body;
	bool same = true;

	for (const Op *op = body->first; op; op = op->next) {
		Known known = known_of(search, op);
		for (int i = 0; i < op->nresults; i++)
			search->known[op->results[i]->id] = known;
	}
	for (int i = 0; i < body->nparams; i++) {
		Known *known = &search->known[body->params[i]->id];
		if (*known != KNOWN_carried
			|| search->known[body->last->operands[i]->id] >= KNOWN_carried)
			continue;
		*known = KNOWN_before;
		same = false;
	}
	return same;
}

/* What hands on so much from one to the next is not followed. */
static void
forget_carried(Search *search)
{
	for (int i = 0; i < search->body->nparams; i++) {
		Known *known = &search->known[search->body->params[i]->id];
		if (*known == KNOWN_carried)
			*known = KNOWN_before;
	}
}

static Search
search_begin(Arena *a, const Op *loop)
{
	Block *body = loop->bodies[LOOP_BODY];
	Module *m = body->module;

	block_number(body);
	Search search = {.arena = a,
		.body = body,
		.known = NEW_ARRAY(a, Known, m->nvalues + 1),
		.users = NEW_ARRAY(a, User *, m->nvalues + 1),
		.waiting = NEW_ARRAY(a, Value *, m->nvalues + 1),
		.reached = NEW_ARRAY(a, bool, m->nvalues + 1)};
	for (int i = 0; i < body->nparams; i++)
		search.known[body->params[i]->id] =
			!i || loop_hands_on(loop, i) ? KNOWN_any : KNOWN_carried;
	for (Op *op = body->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			User *user = NEW(a, User);
			*user = (User){op, i, search.users[op->operands[i]->id]};
			search.users[op->operands[i]->id] = user;
		}
	for (int sweeps = 0; !find_known(&search); sweeps++)
		if (sweeps == MOST_SWEEPS)
			forget_carried(&search);
	return search;
}

/* ---- late --------------------------------------------------------------------------- */

/* Reaches all that something is made of which is not put off, in this trip or before. */
static void
reach_needed(Search *search)
{
	const Block *body = search->body;

	for (Op *op = body->first; op != body->last; op = op->next)
		for (int i = 0; i < op->noperands && stays(op); i++)
			reach(search, op->operands[i]);
	while (search->nwaiting) {
		const Value *v = search->waiting[--search->nwaiting];
		if (!v->def)
			reach(search, body->last->operands[v->index]);
		for (int i = 0; v->def && i < v->def->noperands; i++)
			reach(search, v->def->operands[i]);
	}
}

/* Reaches all that is made of what is waiting, in this trip or, if `later`, later. */
static void
reach_made(Search *search, bool later)
{
	const Block *body = search->body;

	while (search->nwaiting) {
		const Value *v = search->waiting[--search->nwaiting];
		for (const User *user = search->users[v->id]; user; user = user->next) {
			if (user->op == body->last && later)
				reach(search, body->params[user->operand]);
			for (int i = 0; i < user->op->nresults; i++)
				reach(search, user->op->results[i]);
		}
	}
}

/* ---- stages ---------------------------------------------------------------------------- */

static void
reach_taken(Search *search, const PipelinedLoop *loop, bool early, bool cut)
{
	for (int i = 0; i < loop->n; i++) {
		const Pipelined *c = &loop->candidates[i];
		if (c->taken && c->early == early && c->cut == cut)
			reach(search, c->op->results[0]);
	}
}

/* Early is what early collectives are made of, in this trip or, but where a loop is cut,
   before. */
static void
set_early(Search *search, Staged *s, bool cut)
{
	reach_taken(search, s->loop, true, cut);
	while (search->nwaiting) {
		const Value *v = search->waiting[--search->nwaiting];
		if (search->known[v->id] == KNOWN_any)
			continue;
		if (v->def)
			s->stage[v->def->id] = STAGE_early;
		else if (!cut)
			reach(search, s->body->last->operands[v->index]);
		for (int i = 0; v->def && i < v->def->noperands; i++)
			reach(search, v->def->operands[i]);
	}
}

/* Late is what is made of late collectives, and these. */
static void
set_late(Search *search, Staged *s)
{
	search->reached = NEW_ARRAY(s->arena, bool, s->body->module->nvalues + 1);
	for (int cut = 0; cut < 2; cut++) {
		reach_taken(search, s->loop, false, cut);
		reach_made(search, !cut);
	}
	for (const Op *op = s->body->first; op != s->body->last; op = op->next)
		if (op->nresults && search->reached[op->results[0]->id])
			s->stage[op->id] = STAGE_late;
}

/* Is a value read so many stages behind that one? */
static bool
is_read_behind(const Search *search, const Staged *s, const Value *v, int stage)
{
	for (const User *user = search->users[v->id]; user; user = user->next)
		if (user->op != s->body->last && s->stage[user->op->id] > stage)
			return true;
	return false;
}

/* What is changed in place is read by nothing of a later stage, nor as what the trip before
   made by one that is later still: that would read it changed. */
static bool
keeps_places(const Search *search, const Staged *s)
{
	for (const Op *op = s->body->first; op != s->body->last; op = op->next) {
		const Value *v = op_changes(op) ? op->operands[0] : NULL;
		int stage = s->stage[op->id];
		if (!v)
			continue;
		if (is_read_behind(search, s, v, stage))
			return false;
		if (!v->def
			&& is_read_behind(search, s, s->body->last->operands[v->index],
				stage + 1))
			return false;
	}
	return true;
}

/* Nothing is used before it is there: in its trip by what has an earlier stage, or, late, by
   what the next trip does early. */
static bool
keeps_uses(const Staged *s)
{
	for (const Op *op = s->body->first; op != s->body->last; op = op->next)
		for (int i = 0; i < op->noperands && s->stage[op->id] != STAGE_any; i++) {
			const Value *v = op->operands[i];
			bool before = !v->def && !is_handed_on(s, v);
			const Op *def =
				before ? s->body->last->operands[v->index]->def : v->def;
			if (def && s->stage[def->id] > s->stage[op->id] + before)
				return false;
		}
	return true;
}

bool
stages_find(Staged *s)
{
	const Op *loop = s->loop->op;
	bool taken = false;

	for (int i = 0; i < s->loop->n; i++)
		taken |= s->loop->candidates[i].taken;
	if ((!taken && !s->loop->first_before) || !loop_is_counted(loop, s))
		return false;
	Search search = search_begin(s->arena, loop);
	s->body = search.body;
	s->stage = NEW_ARRAY(s->arena, int, s->body->module->nops + 1);
	for (const Op *op = s->body->first; op != s->body->last; op = op->next)
		s->stage[op->id] =
			op->nresults == 1 && search.known[op->results[0]->id] == KNOWN_any
			? STAGE_any
			: STAGE_trip;
	set_early(&search, s, false);
	set_early(&search, s, true);
	set_late(&search, s);
	s->least = s->most = STAGE_trip;
	for (const Op *op = s->body->first; op != s->body->last; op = op->next) {
		int stage = s->stage[op->id];
		s->least = stage >= 0 && stage < s->least ? stage : s->least;
		s->most = stage > s->most ? stage : s->most;
	}
	return s->loop->first_before
		|| (s->least < s->most && s->trips > s->most - s->least && keeps_uses(s)
			&& keeps_places(&search, s));
}

bool
pipelining_take(const PipelinedLoop *loop, Pipelined *candidate)
{
	Arena *a = arena_new();
	Staged s = {.arena = a, .loop = loop};

	candidate->taken = true;
	candidate->taken = stages_find(&s);
	arena_free(a);
	return candidate->taken;
}

/* ---- the loops of a module ------------------------------------------------------------ */

/* Reaches all that is made in its trip of what is waiting, or, if `early`, that this is made
   of. */
static void
reach_in_trip(Search *search, bool early)
{
	if (!early)
		reach_made(search, false);
	while (search->nwaiting) {
		const Value *v = search->waiting[--search->nwaiting];
		for (int i = 0; v->def && i < v->def->noperands; i++)
			reach(search, v->def->operands[i]);
	}
}

/* Is there a product in the trip before that it is not made of, if it is early, or in the next
   one that is not made of it? */
static bool
has_work_beside(Search search, const Op *op, bool early, Arena *a)
{
	const Block *body = search.body;
	const size_t n = (size_t)body->module->nvalues + 1;
	const bool *own = search.reached = NEW_ARRAY(a, bool, n);

	reach(&search, op->results[0]);
	reach_in_trip(&search, early);
	search.reached = NEW_ARRAY(a, bool, n);
	for (int i = 0; i < body->nparams; i++) {
		Value *param = body->params[i], *next = body->last->operands[i];
		if (own[early ? param->id : next->id])
			reach(&search, early ? next : param);
	}
	reach_in_trip(&search, early);
	for (op = body->first; op != body->last; op = op->next)
		if ((op_is_product(op) || op_is_grouped(op) || op_is_loop(op))
			&& !search.reached[op->results[0]->id])
			return true;
	return false;
}

/* Does it move what a fence in its trip hands on, or a part of that? */
static bool
is_fenced(const Op *op)
{
	const Op *from = op->operands[0]->def;

	while (from && from->kind != O_fence && (op_renames(from) || op_takes_part(from)))
		from = from->operands[0]->def;
	return from && from->kind == O_fence;
}

static bool
is_placed(const Value *v)
{
	return v->type.rank && !v->no_placement;
}

/* It is of a manual function, which stays as it is written, but for its permutes: no tensor
   that it carries or makes is placed. */
bool
is_manual_loop(const Op *loop)
{
	Block *body = loop->bodies[LOOP_BODY];
	bool placed = false;

	for (int i = 0; i < body->nparams; i++)
		placed |= is_placed(body->params[i]);
	for (const Op *op = body->first; op && !placed; op = op_following(op, body))
		for (int i = 0; i < op->nresults; i++)
			placed |= is_placed(op->results[i]);
	return !placed;
}

static void
add_candidates(const Search *search, PipelinedLoop *loop, Arena *a)
{
	const Block *body = search->body;
	bool manual = is_manual_loop(loop->op);

	for (Op *op = body->first; op != body->last; op = op->next) {
		if (!op_communicates(op) || op->nresults != 1)
			continue;
		if (manual && op->kind != O_collective_permute) {
			op->trip = op->trip ? op->trip : TRIP_manual;
			continue;
		}
		const Value *v = op->results[0];
		Known known = search->known[v->id];
		bool needed = search->reached[v->id], carried = known == KNOWN_carried;
		Pipelined c = {.op = op,
			.early = known >= KNOWN_early || (carried && needed),
			.carried = carried};
		if (c.early || !needed) {
			APPEND(a, loop->candidates, loop->n, c);
			continue;
		}
		if (!op->trip) /* else a copy, beside another trip of a loop within */
			op->trip = is_fenced(op)	? TRIP_fenced
				: known == KNOWN_before ? TRIP_before
							: TRIP_needed;
		c.cut = true;
		c.early = known == KNOWN_before;
		if (has_work_beside(*search, op, c.early, a))
			APPEND(a, loop->candidates, loop->n, c);
	}
}

/* In its branches, too. */
static void
tell_of_all(const Block *b, OtherTrip trip)
{
	for (Op *op = b->first; op; op = op->next) {
		if (op_communicates(op))
			op->trip = trip;
		for (int i = 0; op_is_branch(op) && i < op->nbodies; i++)
			tell_of_all(op->bodies[i], trip);
	}
}

/* What is moved in a branch of a trip is left there. */
static void
tell_of_branches(const Block *b, bool inside)
{
	for (Op *op = b->first; op; op = op->next) {
		if (inside && op_communicates(op) && !op->trip)
			op->trip = TRIP_branch;
		for (int i = 0; op_is_branch(op) && i < op->nbodies; i++)
			tell_of_branches(op->bodies[i], true);
	}
}

/* Are all of these to be taken? */
static bool
can_take(Staged *s, bool late, bool carried)
{
	for (int i = 0; i < s->loop->n; i++) {
		Pipelined *c = &s->loop->candidates[i];
		c->taken = !c->cut && (c->early ? carried || !c->carried : late);
	}
	return stages_find(s);
}

/* If all can't be taken, those can't that are made of what is carried, or those that would be
   late, or neither. */
static void
keep_possible(PipelinedLoop *loop, Arena *a)
{
	Staged s = {.arena = a, .loop = loop};
	bool possible = can_take(&s, true, true);
	OtherTrip why = s.trips > s.most - s.least ? TRIP_in_place : TRIP_few;
	int kept = 0;

	if (!possible && !can_take(&s, true, false) && !can_take(&s, false, true))
		can_take(&s, false, false);
	for (int i = 0; i < loop->n; i++) {
		Pipelined c = loop->candidates[i];
		c.taken |= c.cut;
		if (c.taken)
			loop->candidates[kept++] =
				(Pipelined){c.op, c.early, c.carried, c.cut, false};
		else
			c.op->trip = why;
	}
	loop->n = kept;
}

/* Right before it, and handed to its first trip; NULL: none is. */
static Op *
find_before(const Op *loop)
{
	for (int i = 0; i < loop->noperands; i++) {
		Op *def = loop->operands[i]->def;
		if (def && def->block == loop->block && op_communicates(def)
			&& def->nresults == 1)
			return def;
	}
	return NULL;
}

/* Is it around one of these, and none of them? */
static bool
is_around(const Op *loop, const Pipelining *inner)
{
	bool around = false;

	for (int i = 0; i < inner->n; i++) {
		if (inner->loops[i].op == loop)
			return false;
		around |= inner->loops[i].around == loop;
	}
	return around;
}

/* Ops of a block once each loop in it is written again, which is so many copies of its body. */
static int64_t
ops_with_copies(const Block *b, int64_t copies)
{
	int64_t n = 0;

	for (const Op *op = b->first; op; op = op->next) {
		n++;
		for (int i = 0; i < op->nbodies; i++) {
			int64_t inside = ops_with_copies(op->bodies[i], copies);
			int64_t times = op_is_loop(op) ? copies : 1;
			n = inside > (INT32_MAX - n) / times ? INT32_MAX : n + times * inside;
		}
	}
	return n;
}

/* Of loops in each other each has copies of those in it: the deeper they are, the more. */
static bool
is_too_long(const Pipelining *p, const Op *loop, bool again)
{
	enum { COPIES = 4, MOST_TIMES = COPIES * COPIES, SHORT = 4000 };
	const Block *body = loop->bodies[LOOP_BODY];
	int64_t most = greater(SHORT, MOST_TIMES * p->ops);

	return COPIES * ops_with_copies(body, again ? 1 : COPIES) > most;
}

/* All, or those around some. */
static void
find_loops(Module *m, const Pipelining *inner, Pipelining *p)
{
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		Staged s;
		PipelinedLoop loop = {.op = op, .around = op->block->parent};
		if (!op_is_loop(op) || (inner && !is_around(op, inner)))
			continue;
		bool counted = loop_is_counted(op, &s);
		if (inner && (!counted || s.trips < 2))
			continue;
		if (!counted || s.trips < 2) {
			tell_of_all(op->bodies[LOOP_BODY], counted ? TRIP_few : TRIP_uncounted);
			continue;
		}
		if (is_too_long(p, op, inner != NULL)) {
			if (!inner)
				tell_of_all(op->bodies[LOOP_BODY], TRIP_long);
			continue;
		}
		Arena *a = arena_new();
		Search search = search_begin(a, op);
		reach_needed(&search);
		tell_of_branches(search.body, false);
		add_candidates(&search, &loop, p->arena);
		keep_possible(&loop, a);
		loop.begins_with = loop.n || is_manual_loop(op) ? NULL : find_before(op);
		if (loop.n || loop.begins_with)
			APPEND(p->arena, p->loops, p->n, loop);
		arena_free(a);
	}
}

void
pipelining_find(Module *m, Pipelining *p)
{
	p->ops = ops_with_copies(m->entry, 1);
	find_loops(m, NULL, p);
}

void
pipelining_find_around(Module *m, const Pipelining *inner, Pipelining *p)
{
	p->ops = inner->ops;
	find_loops(m, inner, p);
}
