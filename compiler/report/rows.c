/*
 * rows.c - the steps of a timeline in the words of the source: where, what, of which
 * value, and what they do in all trips.
 */
#include "cost/tracks.h"
#include "ir/layout.h"
#include "report/rows.h"

static StepRow *
rows_of(Module *m, const TimelineStep *steps, int n, Arena *a)
{
	const Ledger *l = module_ledger(m);
	Table *called = table_new(a);
	const char **names = user_names(m, a, called);
	const Transfer **transfers = NEW_ARRAY(a, const Transfer *, m->nops + 1);
	StepRow *rows = NEW_ARRAY(a, StepRow, n + 1);

	for (int i = 0; i < l->n; i++)
		transfers[l->transfers[i].op->id] = &l->transfers[i];
	for (int i = 0; i < n; i++) {
		const TimelineStep *s = &steps[i];
		const Transfer *x = transfers[s->op->id];
		const Value *v = x ? x->value : s->op->results[0];
		double trips = (double)s->trips;
		const char *of = s->op->of ? table_get(called, s->op->of) : NULL;
		int column, file = s->op->range.file;
		if (x && x->becomes && !names[v->id])
			v = x->becomes;
		rows[i] = (StepRow){
			.step = s,
			.transfer = x,
			.label = s->op->label ? s->op->label : ops[s->op->kind].name,
			.value = names[v->id] ? names[v->id] : v->name,
			.named = names[v->id] != NULL,
			.of = of ? of : s->op->of,
			.file = file ? source_path(m->session, file) : NULL,
			.flops = trips * s->cost.flops,
			.hbm_bytes = trips * s->cost.hbm_bytes,
			.wire_bytes = trips * (double)whole_bytes(s->cost.wire_bytes),
		};
		source_position(m->session, s->op->range, &rows[i].line, &column);
	}
	return rows;
}

StepRow *
step_rows(const Timeline *timeline, Arena *a)
{
	return rows_of(timeline->module, timeline->steps, timeline->n, a);
}

StepRow *
other_rows(const Timeline *timeline, Arena *a)
{
	return rows_of(timeline->module, timeline->others, timeline->nothers, a);
}

/* ---- tracks ---------------------------------------------------------------------- */

/* Both directions of an axis are a pair of links. */
bool
step_on_track(const TimelineStep *s, int track)
{
	const LinkParts *row = s->cost.links.row;
	int class = track - LINK_TRACK;

	if (link_set_is_empty(&s->cost.links))
		return track == DEVICE_TRACK;
	return track >= LINK_TRACK && (row[2 * class] || row[2 * class + 1]);
}

bool
track_used(const Timeline *timeline, int track)
{
	for (int i = 0; i < timeline->n; i++)
		if (step_on_track(&timeline->steps[i], track))
			return true;
	return track == DEVICE_TRACK;
}

const char *
track_name(const Module *m, int track, Arena *a)
{
	int axis = track - LINK_TRACK;

	if (track == DEVICE_TRACK)
		return "device";
	if (m->mesh.topology_rank && axis == PHYSICAL_core)
		return "inside a chip";
	if (m->mesh.topology_rank && axis == PHYSICAL_slice)
		return "between slices";
	if (m->mesh.topology_rank)
		return arena_printf(a, "links along %s", physical_names[axis]);
	return arena_printf(a, "links of %s", m->mesh.axes[axis].name);
}

bool
link_row_used(const Timeline *timeline, int row)
{
	for (int i = 0; i < timeline->n; i++)
		if (timeline->steps[i].cost.links.row[row])
			return true;
	return false;
}

const char *
link_row_name(const Module *m, int row, Arena *a)
{
	return arena_printf(a, "%s, %s", track_name(m, LINK_TRACK + row / 2, a),
		row % 2 ? "down" : "up");
}

int64_t
track_time(const Timeline *timeline, int track)
{
	int64_t time = 0;

	for (int i = 0; i < timeline->n; i++)
		if (step_on_track(&timeline->steps[i], track))
			time = add_picoseconds(time, timeline->steps[i].total);
	return time;
}

/* ---- times --------------------------------------------------------------------- */

void
text_run_time(Text *t, double picoseconds)
{
	if (picoseconds < (double)INT64_MAX)
		text_seconds(t, picoseconds * 1e-12);
	else
		text_add(t, "more than " MOST_TIME);
}

/* ---- as JSON --------------------------------------------------------------------- */

void
text_exact_seconds(Text *t, int64_t picoseconds)
{
	const int64_t second = 1000000000000;

	text_printf(t, "%lld.%012lld", (long long)(picoseconds / second),
		(long long)(picoseconds % second));
}

void
json_step(const StepRow *row, const char *value, Text *t)
{
	const TimelineStep *s = row->step;

	if (row->file && s->op->module->python) {
		text_add(t, "\"file\": ");
		text_json(t, row->file);
		text_add(t, ", ");
	}
	text_printf(t, "\"line\": %d, \"what\": ", row->line);
	text_json(t, row->label);
	if (value) {
		text_add(t, ", \"value\": ");
		text_json(t, value);
	}
	text_printf(t, ", \"kind\": \"%s\", \"axes\": [", ops[s->op->kind].hlo);
	for (int i = 0; row->transfer && i < row->transfer->axes.n; i++) {
		text_add(t, i ? ", \"" : "\"");
		text_axis(t, &s->op->module->mesh, row->transfer->axes.a[i]);
		text_add(t, "\"");
	}
	text_add(t, "], \"trips\": ");
	if (s->counted)
		text_printf(t, "%lld", (long long)s->trips);
	else
		text_add(t, "null");
}

void
json_work(const StepRow *row, Text *t)
{
	const TimelineStep *s = row->step;

	text_add(t, "\"seconds\": ");
	text_exact_seconds(t, s->total);
	text_add(t, ", \"exposed_seconds\": ");
	text_exact_seconds(t, s->exposed);
	text_printf(t, ", \"bound\": \"%s\", ", resource_names[s->cost.bound]);
	text_printf(t, "\"flops\": %.0f, \"hbm_bytes\": %lld, \"wire_bytes\": %lld", row->flops,
		(long long)whole_bytes(row->hbm_bytes),
		(long long)whole_bytes(row->wire_bytes));
}
