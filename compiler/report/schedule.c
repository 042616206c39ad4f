/*
 * schedule.c - -Rschedule: of each collective what hides it, or what waits for it.
 *
 *   all-gather over chip of W  (3.98 ms): hidden beside matmul (line 11), in each of 3 copies
 *   all-gather over chip of W  (3.98 ms): exposed, matmul (line 11) waits for it
 *   all-reduce over X of dW  (2 ms): 0.4 ms exposed, relu (line 9) waits for it; the rest is
 *   beside einsum 'bd,df->bf' (line 7)
 *
 *   all-reduce over X of norm  (9 us and 3 more in one; one by one 36 us): hidden beside ...
 *
 * Copies of one place that fare alike are told once.
 */
#include "cost/tracks.h"
#include "ir/flow.h"
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
	Arena *arena;
	Told **all;
	int n;
	Table *known; /* Told, by text */
} Telling;

static void
text_place(Text *t, const StepRow *row)
{
	text_printf(t, "%s (line %d)", row->label, row->line);
}

/* Of what is computed while it is under way, the step that takes most of that time. */
static const StepRow *
find_beside(const Telling *telling, int i)
{
	enum { LOOKED_AT = 256 };
	const TimelineStep *s = &telling->timeline->steps[i];
	int64_t most = 0, end = add_picoseconds(s->start, s->lasts);
	const StepRow *beside = NULL;

	for (int k = i + 1; k < telling->timeline->n && k <= i + LOOKED_AT; k++) {
		const TimelineStep *other = &telling->timeline->steps[k];
		int64_t until = add_picoseconds(other->start, other->total);
		if (other->start >= end)
			break;
		int64_t shared = (until < end ? until : end) - other->start;
		if (!other->moves && shared > most) {
			most = shared;
			beside = &telling->rows[k];
		}
	}
	return beside;
}

/* The step that the device comes to when it has waited for it. */
static const StepRow *
find_waiting(const Telling *telling, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	int64_t end = s->awaited ? s->awaited : add_picoseconds(s->start, s->lasts);

	for (int k = i + 1; k < telling->timeline->n; k++) {
		const TimelineStep *other = &telling->timeline->steps[k];
		if (other->op->block == s->op->block && !other->moves && other->start >= end)
			return &telling->rows[k];
	}
	return NULL;
}

static void
text_fate(const Telling *telling, Text *t, int i)
{
	const TimelineStep *s = &telling->timeline->steps[i];
	const StepRow *beside = s->exposed < s->total ? find_beside(telling, i) : NULL;
	const StepRow *waiting = s->exposed ? find_waiting(telling, i) : NULL;

	text_add(t, trips[s->op->trip].begin);
	if (s->exposed && s->exposed < s->total) {
		text_picoseconds(t, s->exposed);
		text_add(t, " exposed");
	} else {
		text_add(t, s->exposed ? "exposed" : "hidden");
	}
	if (waiting) {
		text_add(t, ", ");
		text_place(t, waiting);
		text_add(t, " waits for it");
	}
	if (beside) {
		text_add(t, s->exposed ? "; the rest is beside " : " beside ");
		text_place(t, beside);
	}
	if (s->exposed)
		text_add(t, trips[s->op->trip].end);
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

static void
tell(Telling *telling, int i)
{
	const StepRow *row = &telling->rows[i];
	const TimelineStep *s = row->step;
	Text t = {0};

	text_printf(&t, "%s over ", ops[s->op->kind].hlo);
	text_axes(&t, &s->op->module->mesh, s->op->axes);
	text_printf(&t, " of %s  (", row->named ? row->value : row->label);
	text_picoseconds(&t, s->total);
	if (combined_in_one(s->op) > 1)
		text_combined(&t, s);
	text_add(&t, "): ");
	text_fate(telling, &t, i);
	const char *text = text_take(&t, telling->arena);
	const char *key = arena_printf(telling->arena, "%d:%d:%s", s->op->range.file,
		s->op->range.begin, text);
	Told *told = table_get(telling->known, key);
	if (!told) {
		told = NEW(telling->arena, Told);
		*told = (Told){text, s->op->range, 0};
		table_set(telling->known, key, told);
		APPEND(telling->arena, telling->all, telling->n, told);
	}
	told->n++;
}

void
tell_schedule(const Timeline *timeline)
{
	Arena *a = arena_new();
	Telling telling = {.timeline = timeline,
		.rows = step_rows(timeline, a),
		.arena = a,
		.known = table_new(a)};

	for (int i = 0; i < timeline->n; i++)
		if (timeline->steps[i].moves && timeline->steps[i].total)
			tell(&telling, i);
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
