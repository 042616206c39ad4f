/*
 * pays.c - which collectives of loops are begun a trip early, or end a trip late?
 *
 * Copies of this process compile the program, as it is and so; what is quicker and fits the
 * memory of the target, or needs no more than without, is taken.  First those that nothing
 * hides, then all; of loops in which nothing is exposed none.  Then where a loop can be cut
 * between two trips, beside what is taken, and whether first trips are before their loops,
 * beside what these begin with.
 *
 * And which stacks that a loop fills are summed a slice in each trip?  Those of a type are
 * one kind, tried with what loops then begin early or end late; the largest first.
 *
 * And is what both branches of an `if` move moved before it?  All of it or nothing.
 */
#include "ir/targets.h"
#include "pipeline/pipeline.h"
#include "shard/shard.h"

typedef struct Tried {
	bool through;
	int64_t time, peak, bare; /* bare: something moves, and nothing is computed */
	/* of the candidates, one loop after the other, and what each loop begins with, where
	   nothing is taken: else there are copies of them */
	int64_t exposed[];
} Tried;

typedef struct Try {
	Module *module;
	const Pipelining *pipelining;
	bool spare;  /* memory is not asked for */
	bool pieces; /* products are done in pieces where that pays */
	Tried *tried;
} Try;

/* What it takes from that pass on; NULL: it can't be. */
static const Timeline *
find_out_from(const char *pass, Module *m, Tried *tried)
{
	if (!pipeline_run(m, L_scheduled,
		    &(PipelineOptions){.start_at = pass, .verified = true}))
		return NULL;
	const Timeline *timeline = timeline_walk(m, m->arena);
	const Plan *plan = plan_build(m);
	tried->time = timeline_is_endless(timeline) ? INT64_MAX : timeline->time;
	tried->peak = plan->uncounted ? INT64_MAX : plan_peak(plan);
	tried->bare = timeline->exposed;
	tried->through = true;
	return timeline;
}

static const Timeline *
find_out(Module *m, Tried *tried)
{
	return find_out_from("fuse", m, tried);
}

/* What is one with others waits as long as they all do. */
static int64_t
exposed_of(const int64_t *exposed, const Op *op)
{
	while (op->combined)
		op = op->prev;
	return exposed[op->id];
}

/* In a copy of this process the module is nobody else's. */
static void
try_it(void *data, int64_t i)
{
	const Try *t = data;
	Module *m = t->module;
	const Pipelining *p = t->pipelining;
	int n = 0;

	(void)i;
	module_hide(m);
	if (t->spare) {
		Target *target = arena_copy(m->arena, m->mesh.target, sizeof *target);
		target->hbm_bytes = INT64_MAX;
		m->mesh.target = target;
	}
	bool changed = pipelining_apply(p);
	const Timeline *timeline = find_out_from(t->pieces ? "decompose" : "fuse", m, t->tried);
	if (!timeline || changed || t->pieces)
		return;
	int64_t *exposed = NEW_ARRAY(m->arena, int64_t, m->nops + 1);
	for (int k = 0; k < timeline->n; k++)
		exposed[timeline->steps[k].op->id] = timeline->steps[k].exposed;
	for (int k = 0; k < p->n; k++)
		for (int c = 0; c < p->loops[k].n; c++)
			t->tried->exposed[n++] =
				exposed_of(exposed, p->loops[k].candidates[c].op);
	for (int k = 0; k < p->n; k++, n++)
		if (p->loops[k].begins_with)
			t->tried->exposed[n] = exposed_of(exposed, p->loops[k].begins_with);
}

static int
count_candidates(const Pipelining *p)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += p->loops[i].n;
	return n;
}

static size_t
tried_bytes(const Pipelining *p)
{
	return sizeof(Tried) + (size_t)(count_candidates(p) + p->n) * sizeof(int64_t);
}

static Tried *
tried_so(Try t)
{
	t.tried = shared_new(tried_bytes(t.pipelining));
	if (!t.tried || !work_apart(try_it, &t))
		out_of_memory();
	if (!t.tried->through)
		die("what the program takes was not found out");
	return t.tried;
}

static Tried *
tried_new(Module *m, const Pipelining *p, bool spare)
{
	return tried_so((Try){.module = m, .pipelining = p, .spare = spare});
}

/* With products in pieces. */
static Tried
tried_in_pieces(Module *m, const Pipelining *p)
{
	Tried *shared = tried_so((Try){.module = m, .pipelining = p, .pieces = true});
	Tried tried = {shared->through, shared->time, shared->peak, shared->bare};

	shared_free(shared, tried_bytes(p));
	return tried;
}

static void
take(const Pipelining *p, const bool *taken)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			p->loops[i].candidates[c].taken = taken[n++];
}

/* Of what nothing hides, all being taken: would it be quicker if there were memory? */
static void
tell_why_not(Module *m, const Pipelining *p, const Tried *plain, int n)
{
	Tried *spare = tried_new(m, p, true);
	OtherTrip why = spare->time < plain->time ? TRIP_memory : TRIP_dearer;

	shared_free(spare, tried_bytes(p));
	n = 0;
	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			if (plain->exposed[n++] && !p->loops[i].candidates[c].cut
				&& !p->loops[i].candidates[c].op->trip)
				p->loops[i].candidates[c].op->trip = why;
}

/* The quickest so far. */
typedef struct Best {
	int64_t time, peak, limit, bare;
	bool *taken; /* by candidate */
} Best;

/* Where products are done a piece at a time those of the first trip and the last are outside of
   their loops, if it takes no longer before any is. */
static void
choose_apart(Module *m, Pipelining *p, Best *best)
{
	bool any = false;

	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			any |= p->loops[i].candidates[c].taken;
	if (!any || !overlaps[m->overlap].divides)
		return;
	for (int i = 0; i < p->n; i++)
		p->loops[i].apart = true;
	Tried *tried = tried_new(m, p, false);
	bool pays = tried->time <= best->time && tried->peak <= best->limit;
	for (int i = 0; i < p->n; i++)
		p->loops[i].apart = pays;
	if (pays) {
		best->time = tried->time;
		best->peak = tried->peak;
		best->bare = tried->bare;
	}
	shared_free(tried, tried_bytes(p));
}

/* Of loops that begin with what is moved right before them, where nothing hides that, the first
   trips are before them if that is quicker: all or none. */
static void
choose_first_before(Module *m, Pipelining *p, const Tried *plain, Best *best)
{
	enum { WORTH_A_COPY = 1000 }; /* of the body: a part of a run */
	const int64_t *exposed = plain->exposed + count_candidates(p);
	bool any = false;

	for (int i = 0; i < p->n; i++)
		any |= p->loops[i].first_before = exposed[i] > 0;
	if (!any)
		return;
	Tried *tried = tried_new(m, p, false);
	bool pays = tried->time < best->time - best->time / WORTH_A_COPY
		&& tried->peak <= best->limit;
	for (int i = 0; i < p->n; i++)
		p->loops[i].first_before &= pays;
	if (pays) {
		best->time = tried->time;
		best->peak = tried->peak;
		best->bare = tried->bare;
	}
	shared_free(tried, tried_bytes(p));
}

/* What trips beside each other hold, pieces may lack, and what waits for a product of its own
   trip, only pieces hide: where memory is almost full or something is bare, and products are
   done in pieces, trips are left as they are if a run with pieces is quicker so. */
static void
keep_room(Module *m, Pipelining *p, const bool *best, int n, Tried taken, int64_t limit)
{
	enum { ALMOST = 16, LITTLE = 16 };
	bool *none = NEW_ARRAY(p->arena, bool, n), any = false;

	for (int i = 0; i < n; i++)
		any |= best[i];
	const bool full = taken.peak > limit - limit / ALMOST;
	if (!any || !overlaps[m->overlap].divides
		|| (!full && taken.bare <= taken.time / LITTLE))
		return;
	take(p, none);
	const Tried plain = tried_in_pieces(m, p);
	take(p, best);
	if (plain.time >= taken.time || plain.peak > limit)
		return;
	const Tried beside = tried_in_pieces(m, p);
	if (beside.peak <= limit && beside.time <= plain.time)
		return;
	take(p, none);
	n = 0;
	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			if (best[n++])
				p->loops[i].candidates[c].op->trip = TRIP_dearer;
}

/* ---- as they were decided ------------------------------------------------------------- */

static const char decided_taken[] = "taken", decided_left[] = "left";

/* A program that is tried otherwise was read from text, which has lines alone. */
static const char *
line_key(Arena *a, const Op *op)
{
	return arena_printf(a, "%s:%d", source_path(op->module->session, op->range.file),
		op->range.line);
}

static const char *
candidate_key(Arena *a, const PipelinedLoop *loop, const Pipelined *candidate)
{
	return arena_printf(a, "%s %s %d %s in %s", ops[candidate->op->kind].name,
		candidate->op->label, candidate->early, line_key(a, candidate->op),
		line_key(a, loop->op));
}

static const char *
apart_key(Arena *a, const PipelinedLoop *loop)
{
	return arena_printf(a, "apart %s", line_key(a, loop->op));
}

static const char *
first_key(Arena *a, const PipelinedLoop *loop)
{
	return arena_printf(a, "first before %s", line_key(a, loop->op));
}

static const char *
count_key(Arena *a, const Pipelining *p)
{
	return arena_printf(a, "%d in all", count_candidates(p));
}

/* Of the program as it is, for those that are tried otherwise.  Of alike ones all that one
   is. */
static void
note_decided(Module *m, const Pipelining *p)
{
	Precedents *known = module_precedents(m);
	Arena *a = known->arena;

	if (!known->trips)
		known->trips = table_new(a);
	table_set(known->trips, count_key(a, p), m);
	for (int i = 0; i < p->n; i++) {
		const PipelinedLoop *loop = &p->loops[i];
		for (int c = 0; c < loop->n; c++) {
			const char *key = candidate_key(a, loop, &loop->candidates[c]);
			bool taken = loop->candidates[c].taken;
			if (taken || !table_get(known->trips, key))
				table_set(known->trips, key,
					(void *)(taken ? decided_taken : decided_left));
		}
		if (loop->apart)
			table_set(known->trips, apart_key(a, loop), m);
		if (loop->first_before)
			table_set(known->trips, first_key(a, loop), m);
	}
}

static const char *
decided_of(const Precedents *known, const Pipelining *p, int loop, int candidate)
{
	const PipelinedLoop *of = &p->loops[loop];

	return table_get(known->trips, candidate_key(p->arena, of, &of->candidates[candidate]));
}

/* False, and nothing is taken, if the program as it is has others, or not as many. */
static bool
take_decided(const Precedents *known, Pipelining *p)
{
	bool all = table_get(known->trips, count_key(p->arena, p)) != NULL;

	for (int i = 0; i < p->n && all; i++)
		for (int c = 0; c < p->loops[i].n && all; c++)
			all = decided_of(known, p, i, c) != NULL;
	for (int i = 0; i < p->n && all; i++) {
		PipelinedLoop *loop = &p->loops[i];
		for (int c = 0; c < loop->n; c++)
			loop->candidates[c].taken = decided_of(known, p, i, c) == decided_taken;
		loop->apart = table_get(known->trips, apart_key(p->arena, loop)) != NULL;
		loop->first_before = table_get(known->trips, first_key(p->arena, loop)) != NULL;
	}
	return all;
}

/* False, where they are to be asked for. */
static bool
trips_were_decided(Module *m, Pipelining *p, Tried *takes)
{
	const Precedents *known = m->precedents;

	if (!known || !known->trips_stay || !known->trips || !take_decided(known, p))
		return false;
	if (!takes)
		return true;
	Tried *tried = tried_new(m, p, false);
	*takes = (Tried){.through = true, .time = tried->time, .peak = tried->peak};
	shared_free(tried, tried_bytes(p));
	return true;
}

/* What is taken of the candidates, if it is quicker and fits. */
static void
try_taken(Module *m, const Pipelining *p, Best *best)
{
	Tried *tried = tried_new(m, p, false);
	int n = 0;

	if (tried->time < best->time && tried->peak <= best->limit) {
		best->time = tried->time;
		best->peak = tried->peak;
		best->bare = tried->bare;
		for (int i = 0; i < p->n; i++)
			for (int c = 0; c < p->loops[i].n; c++)
				best->taken[n++] = p->loops[i].candidates[c].taken;
	}
	shared_free(tried, tried_bytes(p));
}

/* Where the loop may be cut and what nothing hides is not taken yet: the most exposed; -1:
   there is none. */
static int
next_cut(const PipelinedLoop *loop, const int64_t *exposed, const bool *seen)
{
	int next = -1;

	for (int i = 0; i < loop->n; i++)
		if (loop->candidates[i].cut && !seen[i] && exposed[i]
			&& (next < 0 || exposed[i] > exposed[next]))
			next = i;
	return next;
}

/* Beside what is taken as many of those as can be; false: none can. */
static bool
take_cuts(const Pipelining *p, const Tried *plain)
{
	const int64_t *exposed = plain->exposed;
	bool any = false;

	for (int i = 0; i < p->n; exposed += p->loops[i++].n) {
		PipelinedLoop *loop = &p->loops[i];
		bool *seen = NEW_ARRAY(p->arena, bool, loop->n);
		for (int c; (c = next_cut(loop, exposed, seen)) >= 0; seen[c] = true)
			any |= pipelining_take(loop, &loop->candidates[c]);
	}
	return any;
}

/* ... if that is quicker, where products are done in pieces also with these. */
static void
try_cuts(Module *m, const Pipelining *p, const Tried *plain, Best *best)
{
	Best cut = *best;

	cut.taken = NEW_ARRAY(p->arena, bool, count_candidates(p));
	take(p, best->taken);
	if (!take_cuts(p, plain))
		return;
	try_taken(m, p, &cut);
	if (cut.time == best->time)
		return;
	if (overlaps[m->overlap].divides) {
		const Tried beside = tried_in_pieces(m, p);
		take(p, best->taken);
		const Tried apart = tried_in_pieces(m, p);
		if (beside.time >= apart.time || beside.peak > best->limit)
			return;
	}
	*best = cut;
}

/* Those that nothing hides, or all, and no cuts; how many. */
static int
take_exposed(const Pipelining *p, const Tried *plain, bool all)
{
	int n = 0, k = 0;

	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++, k++) {
			Pipelined *one = &p->loops[i].candidates[c];
			one->taken = !one->cut && (all || plain->exposed[k] > 0);
			n += one->taken;
		}
	return n;
}

/* Into `takes` what a run then takes; NULL: what is not taken says why, unless nobody will
   see it. */
static void
choose_trips(Module *m, Pipelining *p, Tried *takes)
{
	int n = count_candidates(p);

	if (trips_were_decided(m, p, takes))
		return;
	Tried *plain = tried_new(m, p, false);
	Best best = {plain->time, plain->peak, greater(plain->peak, m->mesh.target->hbm_bytes),
		plain->bare, NEW_ARRAY(p->arena, bool, n)};
	int exposed = take_exposed(p, plain, false);
	if (exposed)
		try_taken(m, p, &best);
	if (exposed && exposed < take_exposed(p, plain, true))
		try_taken(m, p, &best);
	if (!takes && !m->unnamed && exposed && best.time == plain->time)
		tell_why_not(m, p, plain, n);
	try_cuts(m, p, plain, &best);
	take(p, best.taken);
	choose_first_before(m, p, plain, &best);
	choose_apart(m, p, &best);
	const Tried run = {.through = true,
		.time = best.time,
		.peak = best.peak,
		.bare = best.bare};
	if (takes)
		*takes = run;
	else
		keep_room(m, p, best.taken, n, run, best.limit);
	shared_free(plain, tried_bytes(p));
}

void
pipelining_that_pays(Module *m, Pipelining *p)
{
	choose_trips(m, p, NULL);
	if (!m->unnamed)
		note_decided(m, p);
}

/* What it takes with the trips that pay. */
static void
try_trips(Module *m, Tried *tried)
{
	Pipelining p = {.arena = m->arena};

	pipelining_find(m, &p);
	if (p.n)
		choose_trips(m, &p, tried);
	else
		find_out(m, tried);
}

/* ---- what branches move ------------------------------------------------------------- */

typedef struct TryMoves {
	Module *module;
	const BranchMoves *moves; /* NULL: where they are */
	Tried *tried;
} TryMoves;

static void
try_moves(void *data, int64_t i)
{
	const TryMoves *t = data;
	Module *m = t->module;

	(void)i;
	module_hide(m);
	if (t->moves)
		branch_moves_apply(m, t->moves);
	try_trips(m, t->tried);
}

static Tried
tried_moves(Module *m, const BranchMoves *moves)
{
	TryMoves t = {m, moves, shared_new(sizeof(Tried))};

	if (!t.tried || !work_apart(try_moves, &t))
		out_of_memory();
	Tried tried = {t.tried->through, t.tried->time, t.tried->peak, t.tried->bare};
	shared_free(t.tried, sizeof(Tried));
	if (!tried.through)
		die("what a run takes with branches as they are was not found out");
	return tried;
}

bool
branch_moves_that_pay(Module *m, const BranchMoves *moves)
{
	const Tried plain = tried_moves(m, NULL), before = tried_moves(m, moves);
	bool fits = before.peak <= greater(plain.peak, m->mesh.target->hbm_bytes);

	if (fits && before.time < plain.time)
		return true;
	for (int i = 0; i < moves->n; i++)
		for (int k = 0; k < 2; k++)
			moves->v[i].ops[k]->trip =
				before.time < plain.time ? TRIP_memory : TRIP_dearer;
	return false;
}

/* ---- sums of stacks ------------------------------------------------------------------ */

typedef struct TrySums {
	Module *module;
	const StackSums *sums;
	Tried *tried;
} TrySums;

static void
try_sums(void *data, int64_t i)
{
	const TrySums *t = data;
	Module *m = t->module;

	(void)i;
	module_hide(m);
	stack_sums_apply(m, t->sums);
	try_trips(m, t->tried);
}

/* With those that are taken. */
static const Tried *
tried_sums(Module *m, const StackSums *sums)
{
	TrySums t = {m, sums, shared_new(sizeof(Tried))};

	if (!t.tried || !work_apart(try_sums, &t))
		out_of_memory();
	const Tried *tried = arena_copy(sums->arena, t.tried, sizeof(Tried));
	shared_free(t.tried, sizeof(Tried));
	if (!tried->through)
		die("what sums of slices take was not found out");
	return tried;
}

static bool
are_alike(const StackSum *a, const StackSum *b)
{
	return a->collective->kind == b->collective->kind && a->trips == b->trips
		&& !a->join == !b->join && axes_equal(a->collective->axes, b->collective->axes)
		&& type_equal(&a->collective->operands[0]->type,
			&b->collective->operands[0]->type);
}

/* Of those that were not tried the largest; NULL: all were. */
static const StackSum *
next_sum(const StackSums *sums, const bool *seen)
{
	const StackSum *next = NULL;
	int64_t most = 0;

	for (int i = 0; i < sums->n; i++) {
		int64_t bytes = type_bytes(&sums->v[i].collective->operands[0]->type);
		if (!seen[i] && (!next || bytes > most)) {
			next = &sums->v[i];
			most = bytes;
		}
	}
	return next;
}

/* All that are alike, or none of them; how many they are. */
static int
take_alike(StackSums *sums, const StackSum *as, bool *seen, bool taken)
{
	int n = 0;

	for (int i = 0; i < sums->n; i++)
		if (are_alike(&sums->v[i], as)) {
			seen[i] = true;
			sums->v[i].taken = taken;
			n++;
		}
	return n;
}

static void
tell_sums(const StackSum *sum, int n, int64_t before, const Tried *tried, bool fits)
{
	const Op *op = sum->collective;
	Module *m = op->module;
	Text t = {0};

	text_printf(&t, "%s in %lld %s with its %s over ", op->label, (long long)sum->trips,
		sum->join ? "parts" : "trips", ops[op->kind].hlo);
	text_axes(&t, &m->mesh, op->axes);
	text_add(&t, sum->join ? " behind all" : " behind the loop");
	if (n > 1)
		text_printf(&t, ", %d times", n);
	text_add(&t, ": ");
	text_picoseconds(&t, before);
	text_add(&t,
		sum->join ? " a run as it is; each part by itself "
			  : " a run as it is; a slice in each trip ");
	text_picoseconds(&t, tried->time);
	text_add(&t, fits ? "" : " and more than the memory");
	text_add(&t,
		!fits || tried->time >= before ? ": left as it is"
			: sum->join	       ? ": done of each part"
					       : ": done in each trip");
	diag(m->session, DIAG_schedule, op->range, "%s", t.s);
	text_free(&t);
}

void
stack_sums_that_pay(Module *m, StackSums *sums, bool remarks)
{
	bool *seen = NEW_ARRAY(sums->arena, bool, sums->n);
	const StackSum *sum;
	const Tried *plain = tried_sums(m, sums);
	int64_t least = plain->time, limit = greater(plain->peak, m->mesh.target->hbm_bytes);

	while ((sum = next_sum(sums, seen))) {
		int n = take_alike(sums, sum, seen, true);
		const Tried *tried = tried_sums(m, sums);
		bool fits = tried->peak <= limit;
		if (remarks)
			tell_sums(sum, n, least, tried, fits);
		if (fits && tried->time < least)
			least = tried->time;
		else
			take_alike(sums, sum, seen, false);
	}
}
