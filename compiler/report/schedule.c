/*
 * schedule.c - -Rschedule: of each collective what hides it, or what waits for it.
 *
 *   all-gather over chip of W  (3.98 ms): hidden beside matmul (line 11), in each of 3 copies
 *   all-gather over chip of W  (3.98 ms): exposed, matmul (line 11) waits for it
 *   all-reduce over X of dW  (2 ms): 0.4 ms exposed, relu (line 9) waits for it; the rest is
 *   beside einsum 'bd,df->bf' (line 7)
 *
 *   all-reduce over X of norm  (9 us and 3 more in one; one by one 36 us): hidden beside ...
 *   all-gather over Y of h  (7 us): 3.5 us exposed, relu (line 9) waits for it; the rest is
 *   told of all-reduce (line 7), under way with it
 *   all-gather over X of q  (7 us): exposed, matmul (line 6) waits for it; the fence (line 5)
 *   lets it begin no earlier
 *
 * Copies of one place that fare alike are told once.
 */
#include "cost/called.h"
#include "cost/tracks.h"
#include "ir/flow.h"
#include "report/hidden.h"
#include "report/report.h"
#include "report/rows.h"

static const struct {
	const char *begin, *end;
} trips[OTHER_TRIPS] = {
#define OTHER_TRIP(id, begin, end) {begin, end},
#include "ir/other_trips.def"
#undef OTHER_TRIP
};

/* A remark, and how many collectives it is about. */
typedef struct Told {
	const char *text;
	Range range;
	int n;
} Told;

typedef struct Telling {
	const Timeline *timeline;
	const StepRow *rows;
	const Parts *parts; /* of each step */
	int64_t *ends;	    /* by op id: of a step, a loop or a branch */
	const char **names; /* user_names() */
	Arena *arena;
	Told **all;
	int n;
	Table *known; /* Told, by text */
} Telling;

/* What a remark names beside its collective; without a label nothing. */
typedef struct Place {
	const char *label;
	const Op *op;
} Place;

enum { LOOKED_AT = 256 }; /* steps or ops around a collective */

static void
text_place(Text *t, Place place)
{
	text_add(t, place.label);
	text_line(t, place.op->module, " (", place.op->range, ")");
}

static Place
place_of_row(const StepRow *row)
{
	return (Place){row->label, row->step->op};
}

static Place
place_of_op(const Op *op)
{
	return (Place){op->label, op};
}

/* ---- what it is beside ------------------------------------------------------------- */

static int64_t
shared_time(const TimelineStep *s, int64_t start, int64_t time)
{
	int64_t end = lesser(add_picoseconds(s->start, s->lasts), add_picoseconds(start, time));

	return end - greater(s->start, start);
}

/* The loop or branch around it in time, of its block. */
static Place
find_span(const Telling *telling, const TimelineStep *s)
{
	const Timeline *timeline = telling->timeline;
	int64_t most = 0;
	Place place = {0};

	for (int i = 0; i < timeline->nspans; i++) {
		const TimelineSpan *span = &timeline->spans[i];
		int64_t shared = shared_time(s, span->start, span->time);
		if (span->op->block == s->op->block && shared > most) {
			most = shared;
			place = place_of_op(span->op);
		}
	}
	return place;
}

/* Of what is computed while it is under way, the step that takes most of that time; else the
   loop that it is beside, whose first step may move something. */
static Place
find_beside(const Telling *telling, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	int64_t most = 0, end = add_picoseconds(s->start, s->lasts);
	Place beside = {0};

	for (int k = i + 1; k < telling->timeline->n && k <= i + LOOKED_AT; k++) {
		const TimelineStep *other = &telling->timeline->steps[k];
		if (other->start >= end)
			break;
		int64_t shared = shared_time(s, other->start, other->total);
		if (!other->moves && shared > most) {
			most = shared;
			beside = place_of_row(&telling->rows[k]);
		}
	}
	return beside.label ? beside : find_span(telling, s);
}

/* The other transfer that is under way with it for longest. */
static Place
find_with(const Telling *telling, int i)
{
	const Timeline *timeline = telling->timeline;
	const TimelineStep *s = &timeline->steps[i];
	int64_t most = 0;
	Place with = {0};

	for (int k = greater(i - LOOKED_AT, 0); k < timeline->n && k <= i + LOOKED_AT; k++) {
		const TimelineStep *other = &timeline->steps[k];
		int64_t shared = shared_time(s, other->start, other->lasts);
		if (k != i && other->moves && other->exposed && shared > most) {
			most = shared;
			with = (Place){ops[other->op->kind].hlo, other->op};
		}
	}
	return with;
}

/* ---- what waits for it, and what it waits for ----------------------------------------- */

/* The first of those that are one with it. */
static const Op *
first_of_fences(const Op *fence)
{
	const Op *first = fence;

	while (first->prev && first->prev->kind == O_fence && fences_in_one(first->prev) > 1)
		first = first->prev;
	return first;
}

/* What waits for others, too, and has the value. */
static bool
is_fence_of(const Op *op, const Value *v)
{
	return op->kind == O_fence && op->operands[0] == v && is_one_of_fences(op);
}

/* A fence may come to it before what needs it does. */
static const Op *
find_fence_behind(const Op *op)
{
	const Value *v = op->results[0];
	int n = 0;

	for (const Op *next = op->next; next && n < LOOKED_AT; next = next->next, n++)
		if (next->kind == O_done && next->operands[0] == op->results[0])
			v = next->results[0];
		else if (is_fence_of(next, v))
			return next;
	return NULL;
}

/* The first loop or branch of its block that does not begin before that. */
static const TimelineSpan *
next_span(const Timeline *timeline, const Op *op, int64_t from)
{
	const TimelineSpan *next = NULL;

	for (int i = 0; i < timeline->nspans; i++) {
		const TimelineSpan *span = &timeline->spans[i];
		if (span->op->block == op->block && span->start >= from
			&& (!next || span->start < next->start))
			next = span;
	}
	return next;
}

/* The step that the device comes to when it has waited for it. */
static Place
find_waiting(const Telling *telling, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	int64_t end = s->awaited ? s->awaited : add_picoseconds(s->start, s->lasts);
	const Op *fence = find_fence_behind(s->op);

	if (fence)
		return place_of_op(fence);
	const TimelineSpan *span = next_span(telling->timeline, s->op, end);
	for (int k = i + 1; k < telling->timeline->n; k++) {
		const TimelineStep *other = &telling->timeline->steps[k];
		if (span && other->start >= span->start)
			break;
		if (other->op->block == s->op->block && !other->moves && other->start >= end)
			return place_of_row(&telling->rows[k]);
	}
	/* ... or the end of a trip */
	const Op *next = span ? span->op : s->op->block->parent;
	return next ? place_of_op(next) : (Place){0};
}

/* When it is there; of what is not known to take time 0. */
static int64_t
ready(const Telling *telling, const Value *v)
{
	while (v->def && op_is_name(v->def) && v->def->kind != O_fence)
		v = v->def->operands[0];
	return v->def ? telling->ends[v->def->id] : 0;
}

/* One that it is behind, and for which it was not begun when what it moves was there. */
static const Op *
find_fence_before(const Telling *telling, const TimelineStep *s)
{
	const Value *v = s->op->operands[0];
	int64_t others = 0;

	while (v->def && op_is_name(v->def) && v->def->kind != O_fence)
		v = v->def->operands[0];
	if (!v->def || v->def->kind != O_fence)
		return NULL;
	const Op *fence = v->def, *op = first_of_fences(fence);
	for (int n = fences_in_one(op); n; n--, op = op->next)
		others = greater(others, ready(telling, op->operands[0]));
	bool held = others > ready(telling, fence->operands[0]) && s->start <= others;
	return held ? fence : NULL;
}

/* ---- the remark ------------------------------------------------------------------------- */

/* For which nothing is computed, each time; a part of it is told of others. */
static int64_t
bare_time(const Telling *telling, int i)
{
	const Parts *parts = &telling->parts[i];
	int64_t bare = 0;

	for (int k = 0; k < parts->n; k++)
		if (!parts->v[k].hidden)
			bare += parts->v[k].end - parts->v[k].start;
	return bare;
}

/* Where the rest of its time is told, if a part is exposed. */
static void
text_rest(const Telling *telling, Text *t, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	int64_t bare = bare_time(telling, i);
	/* an equal share of it is that of each that is under way */
	bool shared = bare - s->exposed / greater(s->trips, 1) > bare / LOOKED_AT;
	Place with = shared ? find_with(telling, i) : (Place){0};
	Place beside = bare < s->lasts ? find_beside(telling, i) : (Place){0};

	if (beside.label) {
		text_add(t, "; the rest is beside ");
		text_place(t, beside);
	}
	if (with.label) {
		text_add(t, beside.label ? ", or told of " : "; the rest is told of ");
		text_place(t, with);
		text_add(t, ", under way with it");
	}
}

static void
text_exposed(const Telling *telling, Text *t, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	const Place waiting = find_waiting(telling, i);
	const Op *fence = find_fence_before(telling, s);

	if (s->exposed < s->total) {
		text_picoseconds(t, s->exposed);
		text_add(t, " ");
	}
	text_add(t, "exposed");
	if (waiting.label) {
		text_add(t, ", ");
		text_place(t, waiting);
		text_add(t, " waits for it");
	}
	if (s->exposed < s->total)
		text_rest(telling, t, i);
	if (fence) {
		text_add(t, "; the ");
		text_place(t, place_of_op(fence));
		text_add(t, " lets it begin no earlier");
	}
	text_add(t, trips[s->op->trip].end);
}

static void
text_fate(const Telling *telling, Text *t, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];

	text_add(t, trips[s->op->trip].begin);
	if (s->exposed) {
		text_exposed(telling, t, i);
	} else {
		Place beside = find_beside(telling, i);
		text_add(t, beside.label ? "hidden beside " : "hidden");
		if (beside.label)
			text_place(t, beside);
	}
	if (overlaps[s->op->module->overlap].begins == BEGINS_default
		&& !op_may_begin_early(s->op))
		text_printf(t, "; by default XLA begins no %s early", ops[s->op->kind].hlo);
}

/* Of what is one transfer with others, and what they would take one by one. */
static void
text_combined(Text *t, const TimelineStep *s)
{
	const Op *first = s->op;
	double apart = 0;
	int n = 0;

	for (const Op *op = first; op && (op == first || op->combined); op = op->next, n++)
		apart += transfer_of_bytes(op, (double)type_bytes(&op->operands[0]->type))
				 .seconds;
	text_printf(t, " and %d more in one; one by one ", n - 1);
	text_seconds(t, apart * (double)s->trips);
}

/* Once for all of one place of which the same is said. */
static void
say(Telling *telling, const Op *op, Text *t)
{
	const char *text = text_take(t, telling->arena);
	const char *key =
		arena_printf(telling->arena, "%d:%d:%s", op->range.file, op->range.begin, text);
	Told *told = table_get(telling->known, key);

	if (!told) {
		told = NEW(telling->arena, Told);
		*told = (Told){text, op->range, 0};
		table_set(telling->known, key, told);
		APPEND(telling->arena, telling->all, telling->n, told);
	}
	told->n++;
}

static void
tell(Telling *telling, int i)
{
	const StepRow *row = &telling->rows[i];
	const TimelineStep *s = row->step;
	Text t = {0};

	text_printf(&t, "%s over ", ops[s->op->kind].hlo);
	text_axes(&t, &s->op->module->mesh, s->op->axes);
	text_printf(&t, " of %s  (",
		row->named ? row->value : called(s->op, telling->names, telling->arena));
	text_picoseconds(&t, s->total);
	if (combined_in_one(s->op) > 1)
		text_combined(&t, s);
	text_add(&t, "): ");
	text_fate(telling, &t, i);
	say(telling, s->op, &t);
}

/* Of what no step is told. */
static void
tell_without_time(Telling *telling)
{
	const Timeline *timeline = telling->timeline;
	const Module *m = timeline->module;
	bool *told = NEW_ARRAY(telling->arena, bool, m->nops + 1);

	for (int i = 0; i < timeline->n; i++)
		told[timeline->steps[i].op->id] = true;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		Text t = {0};
		if (!op_communicates(op) || told[op->id] || op->combined)
			continue;
		text_printf(&t, "%s over ", ops[op->kind].hlo);
		text_axes(&t, &m->mesh, op->axes);
		text_printf(&t,
			" of %s: in a branch that takes less than the other, or never runs; "
			"no time is told of it",
			called(op, telling->names, telling->arena));
		say(telling, op, &t);
	}
}

/* Of a done that of its transfer. */
static int64_t *
find_ends(const Timeline *timeline, Arena *a)
{
	int64_t *ends = NEW_ARRAY(a, int64_t, timeline->module->nops + 1);

	for (int i = 0; i < timeline->nspans; i++)
		ends[timeline->spans[i].op->id] =
			add_picoseconds(timeline->spans[i].start, timeline->spans[i].time);
	for (int i = 0; i < timeline->n; i++) {
		const TimelineStep *s = &timeline->steps[i];
		ends[s->op->id] = s->awaited ? s->awaited : add_picoseconds(s->start, s->lasts);
	}
	for (const Op *op = timeline->module->entry->first; op;
		op = op_following(op, timeline->module->entry))
		if (op->kind == O_done)
			ends[op->id] = ends[op->operands[0]->def->id];
	return ends;
}

void
tell_schedule(const Timeline *timeline)
{
	Arena *a = arena_new();
	Telling telling = {.timeline = timeline,
		.rows = step_rows(timeline, a),
		.parts = timeline_parts(timeline, a),
		.ends = find_ends(timeline, a),
		.names = user_names(timeline->module, a, NULL),
		.arena = a,
		.known = table_new(a)};

	for (int i = 0; i < timeline->n; i++)
		if (timeline->steps[i].moves && timeline->steps[i].total)
			tell(&telling, i);
	tell_without_time(&telling);
	for (int i = 0; i < telling.n; i++) {
		const Told *told = telling.all[i];
		Text copies = {0};
		if (told->n > 1)
			text_printf(&copies, ", in each of %d copies", told->n);
		diag(timeline->module->session, DIAG_schedule, told->range, "%s%s", told->text,
			copies.n ? copies.s : "");
		text_free(&copies);
	}
	arena_free(a);
}
