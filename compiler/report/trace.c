/*
 * trace.c - --emit=trace: the timeline as Chrome trace events, for Perfetto.
 *
 *   one of 16 v5e devices
 *     device      | einsum 'bd,df->bf' |                  | einsum ... |
 *     links of X                       | all-gather of W1 |
 *     live memory ______/-------------------------------\____________
 *
 * A process for the devices, which are all alike; a track for what a device does, and
 * one for the links of each axis, with as many lanes as transfers are under way on it at
 * once.  In a transfer is an event "hidden" for each part that is behind other work, and an
 * arrow leads from one that was begun early to what waits for it.  Of a loop
 * there is the first trip, in an event as long as all of them.  What moves along several
 * axes is an event on each of their tracks, of one number, `step`: that of the step among
 * the ops of --emit=cost.json.
 */
#include "cost/tracks.h"
#include "report/hidden.h"
#include "report/report.h"
#include "report/rows.h"

/* Spans that are under way at once lie beside each other. */
typedef struct Lanes {
	int n;
	int64_t *end; /* of the last span of each */
} Lanes;

typedef struct Trace {
	const Timeline *timeline;
	const Plan *plan;
	Arena *arena;
	Text *text;
	bool any; /* event yet */
	Lanes lanes[MOST_TRACKS];
	int64_t *waits; /* by number of an arrow: when what it leads to begins */
	int narrows;
} Trace;

/* ---- events ---------------------------------------------------------------------- */

/* Perfetto takes whole nanoseconds, and drops a span that ends behind the begin of the next:
   what is at one time is so when it is rounded, too. */
static int64_t
rounded_ns(int64_t picoseconds)
{
	return picoseconds / 1000 + (picoseconds % 1000 >= 500);
}

/* Traces count in microseconds. */
static void
text_us(Text *t, int64_t nanoseconds)
{
	text_printf(t, "%lld.%03lld", (long long)(nanoseconds / 1000),
		(long long)(nanoseconds % 1000));
}

/* {"ph": "X", "pid": 0, "tid": 1, of which the rest follows. */
static Text *
begin_event(Trace *tr, const char *phase, int track)
{
	text_printf(tr->text, "%s\n  {\"ph\": \"%s\", \"pid\": 0, \"tid\": %d",
		tr->any ? "," : "", phase, track);
	tr->any = true;
	return tr->text;
}

static void
name_event(Trace *tr, const char *what, int track, const char *name)
{
	Text *t = begin_event(tr, "M", track);

	text_printf(t, ", \"name\": \"%s\", \"args\": {\"name\": ", what);
	text_json(t, name);
	text_add(t, "}}");
}

static Text *
begin_span(Trace *tr, int track, int64_t start, int64_t time, const char *category)
{
	Text *t = begin_event(tr, "X", track);

	int64_t from = rounded_ns(start), to = rounded_ns(add_picoseconds(start, time));
	text_add(t, ", \"ts\": ");
	text_us(t, from);
	text_add(t, ", \"dur\": ");
	text_us(t, to - from);
	text_printf(t, ", \"cat\": \"%s\", \"name\": ", category);
	return t;
}

/* ---- tracks ---------------------------------------------------------------------- */

static void
print_names(Trace *tr)
{
	const Module *m = tr->timeline->module;
	const Mesh *mesh = &m->mesh;

	name_event(tr, "process_name", DEVICE_TRACK,
		arena_printf(tr->arena, "%s, one of %lld %s devices", m->name,
			(long long)mesh->ndevices, mesh->target->name));
	for (int track = 0; track < MOST_TRACKS; track++)
		if (track_used(tr->timeline, track))
			name_event(tr, "thread_name", track, track_name(m, track, tr->arena));
}

/* The thread of a span: the first lane of the track that is free. */
static int
take_lane(Trace *tr, int track, int64_t start, int64_t time)
{
	Lanes *lanes = &tr->lanes[track];
	int lane = 0;

	while (lane < lanes->n && lanes->end[lane] > start)
		lane++;
	int thread = track + lane * MOST_TRACKS;
	if (lane == lanes->n) {
		APPEND(tr->arena, lanes->end, lanes->n, 0);
		if (lane)
			name_event(tr, "thread_name", thread,
				arena_printf(tr->arena, "%s, %d",
					track_name(tr->timeline->module, track, tr->arena),
					lane + 1));
	}
	lanes->end[lane] = add_picoseconds(start, time);
	return thread;
}

/* ---- arrows ---------------------------------------------------------------------- */

static bool
is_within(const TimelineSpan *span, int64_t time)
{
	return span && span->start <= time && time < add_picoseconds(span->start, span->time);
}

/* When what waits for a transfer begins: the next that the device computes; where the trip
   ends before, the loop.  False: nothing does. */
static bool
find_waiting(const Timeline *timeline, const TimelineStep *s, int64_t *time)
{
	const TimelineSpan *loop = NULL;
	const TimelineStep *next = s + 1, *end = timeline->steps + timeline->n;

	for (int i = 0; i < timeline->nspans; i++)
		if (is_within(&timeline->spans[i], s->awaited))
			loop = &timeline->spans[i];
	while (next < end && (!next->each || next->moves || next->start < s->awaited))
		next++;
	bool leaves = next == end || (loop && !is_within(loop, next->start));
	*time = leaves ? s->awaited : next->start;
	return loop || !leaves;
}

static void
print_end(Trace *tr, const char *phase, int thread, int64_t time, int id)
{
	Text *t = begin_event(tr, phase, thread);

	text_add(t, ", \"ts\": ");
	text_us(t, rounded_ns(time));
	text_printf(t, ", \"id\": %d, \"cat\": \"overlap\", \"name\": \"waits\"%s}", id,
		*phase == 'f' ? ", \"bp\": \"e\"" : "");
}

/* Of a transfer that was begun early.  Both ends come behind the events that they are in:
   the other when all of these are there. */
static void
begin_arrow(Trace *tr, const TimelineStep *s, int thread)
{
	int64_t time;

	if (!s->awaited || !find_waiting(tr->timeline, s, &time))
		return;
	print_end(tr, "s", thread, s->start, tr->narrows);
	APPEND(tr->arena, tr->waits, tr->narrows, time);
}

static void
end_arrows(Trace *tr)
{
	for (int i = 0; i < tr->narrows; i++)
		print_end(tr, "f", DEVICE_TRACK, tr->waits[i], i);
}

/* ---- what is on them ------------------------------------------------------------- */

/* In the event of the transfer; viewers that know the name show it in grey. */
static void
print_hidden(Trace *tr, int thread, const Parts *parts)
{
	for (int i = 0; i < parts->n; i++) {
		const Stretch *part = &parts->v[i];
		if (!part->hidden)
			continue;
		Text *t =
			begin_span(tr, thread, part->start, part->end - part->start, "hidden");
		text_add(t, "\"hidden\", \"cname\": \"grey\"}");
	}
}

static void
print_step(Trace *tr, const StepRow *row, const Parts *parts, int number)
{
	const TimelineStep *s = row->step;

	for (int track = 0; track < MOST_TRACKS && s->each; track++) {
		if (!step_on_track(s, track))
			continue;
		int thread = s->moves ? take_lane(tr, track, s->start, s->lasts) : track;
		Text *t = begin_span(tr, thread, s->start, s->lasts,
			s->moves ? "communication" : "compute");
		text_json(t,
			s->moves ? arena_printf(tr->arena, "%s of %s", ops[s->op->kind].hlo,
				row->named ? row->value : row->label)
				 : row->label);
		text_printf(t, ", \"args\": {\"step\": %d, ", number);
		json_step(row, row->value, t);
		text_add(t, ", ");
		json_work(row, t);
		text_add(t, "}}");
		if (s->moves) {
			print_hidden(tr, thread, parts);
			begin_arrow(tr, s, thread);
		}
	}
}

static void
print_loop(Trace *tr, const TimelineSpan *span)
{
	const Op *op = span->op;
	const char *label = op->label ? op->label : ops[op->kind].name;
	const Ints *trips = op_ints(op, A_trips);

	if (!span->time)
		return;
	Text *t = begin_span(tr, DEVICE_TRACK, span->start, span->time, "control");
	text_json(t,
		trips->n ? arena_printf(tr->arena, "%s, %lld trips, the first of them", label,
			(long long)trips->v[0])
			 : label);
	text_add(t, ", \"args\": {\"trips\": ");
	if (trips->n)
		text_printf(t, "%lld}}", (long long)trips->v[0]);
	else
		text_add(t, "null}}");
}

/* As they start, a loop before what is in it. */
static void
print_events(Trace *tr)
{
	const Timeline *timeline = tr->timeline;
	const StepRow *rows = step_rows(timeline, tr->arena);
	const Parts *parts = timeline_parts(timeline, tr->arena);
	int next = 0;

	for (int i = 0; i <= timeline->n; i++) {
		while (next < timeline->nspans
			&& (i == timeline->n
				|| timeline->spans[next].start <= timeline->steps[i].start))
			print_loop(tr, &timeline->spans[next++]);
		if (i < timeline->n)
			print_step(tr, &rows[i], &parts[i], i);
	}
}

/* ---- memory ---------------------------------------------------------------------- */

static void
print_live(Trace *tr, int64_t time, int64_t bytes)
{
	Text *t = begin_event(tr, "C", DEVICE_TRACK);

	text_add(t, ", \"name\": \"live memory\", \"ts\": ");
	text_us(t, rounded_ns(time));
	text_printf(t, ", \"args\": {\"bytes\": %lld}}", (long long)bytes);
}

/* What is needed from each step on, where that changes. */
static void
print_memory(Trace *tr)
{
	const Timeline *timeline = tr->timeline;
	const int64_t *needed = plan_needed(tr->plan, op_is_step, tr->arena);
	int64_t told = -1;

	for (int i = 0; i < timeline->n; i++) {
		const TimelineStep *s = &timeline->steps[i];
		if (op_is_step(s->op) && needed[s->op->id] != told)
			print_live(tr, s->start, told = needed[s->op->id]);
	}
}

void
emit_trace(const Timeline *timeline, const Plan *plan, const char *format, Text *t)
{
	Trace tr = {.timeline = timeline, .plan = plan, .arena = arena_new(), .text = t};
	const Module *m = timeline->module;

	(void)format; /* it has one */
	text_add(t, "{\n\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"program\": ");
	text_json(t, m->name);
	text_add(t, ", \"target\": ");
	text_json(t, m->mesh.target->name);
	text_printf(t, ", \"devices\": %lld, \"seconds\": ", (long long)m->mesh.ndevices);
	text_exact_seconds(t, timeline->time);
	text_add(t, "},\n\"traceEvents\": [");
	print_names(&tr);
	print_events(&tr);
	end_arrows(&tr);
	print_memory(&tr);
	text_add(t, "\n]\n}\n");
	arena_free(tr.arena);
}
