/*
 * timeline.c - --emit=timeline: one run of the entry in a picture, as text or SVG.
 *
 *                   0 us      5 us      10 us
 *   device          |einsum--|einsum--
 *   links of Y                        |all-reduce########
 *
 *   65 %  9.04 us  exposed all-reduce over Y
 *   ...
 *
 * A row for each track (rows.h).  Of a loop there is the first trip; the others are a
 * gap as wide as any other, so that a layer can be seen where there are a hundred.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/tracks.h"
#include "report/hidden.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/svg.h"

enum {
	TEXT_WIDTH = 80, /* characters of the time axis */
	TEXT_NAME = 18,	 /* and of the names of tracks */
	TEXT_GAP = 16,
	SVG_WIDTH = 780, /* pixels, the same */
	SVG_NAME = 132,
	SVG_GAP = 108,
	TRACK_HEIGHT = 22,
	ROW_HEIGHT = 18, /* of text */
	MOST_PARTS = 8,
};

/* Trips of loops that are not shown. */
typedef struct Gap {
	int64_t start, end;
	const char *label;
} Gap;

/* All that takes its time in one way: `time` is what it adds to the run. */
typedef struct Part {
	const char *what;
	const char *bound;
	int64_t time;
} Part;

typedef struct Drawing {
	const Timeline *timeline;
	const StepRow *rows;
	const Parts *parts_of; /* of each step */
	Arena *arena;
	Text *text;
	Gap *gaps;
	int ngaps;
	Part *parts; /* the largest first */
	int nparts;
	double gap;   /* the width of each */
	double scale; /* of a picosecond */
} Drawing;

/* ---- what is shown ---------------------------------------------------------------- */

/* "31 more trips": of the outermost loop that ends there. */
static const char *
gap_label(const Drawing *d, int64_t end)
{
	for (int i = 0; i < d->timeline->nspans; i++) {
		const TimelineSpan *span = &d->timeline->spans[i];
		const Ints *trips = op_ints(span->op, A_trips);
		if (span->start + span->time == end && trips->n && trips->v[0] > 1)
			return arena_printf(d->arena, "%lld more trip%s",
				(long long)trips->v[0] - 1, trips->v[0] > 2 ? "s" : "");
	}
	return "more trips";
}

static void
find_gaps(Drawing *d)
{
	const Stretch *gaps = timeline_gaps(d->timeline, d->arena, &d->ngaps);

	d->gaps = NEW_ARRAY(d->arena, Gap, d->ngaps + 1);
	for (int i = 0; i < d->ngaps; i++)
		d->gaps[i] = (Gap){gaps[i].start, gaps[i].end, gap_label(d, gaps[i].end)};
}

static int64_t
within(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

static void
fit(Drawing *d, double width, double gap)
{
	int64_t shown = d->timeline->time;

	for (int i = 0; i < d->ngaps; i++)
		shown -= d->gaps[i].end - d->gaps[i].start;
	d->gap = d->ngaps && gap * d->ngaps > width / 2 ? width / 2 / d->ngaps : gap;
	d->scale = shown > 0 ? (width - d->gap * d->ngaps) / (double)shown : 0;
}

/* How far to the right a time is. */
static double
place(const Drawing *d, int64_t time)
{
	double x = 0;
	int64_t shown = time;

	for (int i = 0; i < d->ngaps && d->gaps[i].start < time; i++) {
		const Gap *gap = &d->gaps[i];
		int64_t inside = (time < gap->end ? time : gap->end) - gap->start;
		x += d->gap * (double)inside / (double)(gap->end - gap->start);
		shown -= inside;
	}
	return x + (double)shown * d->scale;
}

/* The time between marks that are at least so far apart: 1, 2 or 5 and zeros. */
static int64_t
mark_step(const Drawing *d, double apart)
{
	static const int64_t digits[] = {1, 2, 5};

	for (int64_t power = 1; power < INT64_MAX / 100; power *= 10)
		for (int i = 0; i < 3; i++)
			if ((double)(digits[i] * power) * d->scale >= apart)
				return digits[i] * power;
	return INT64_MAX;
}

/* The mark behind that one which is not in a gap; -1: there is none. */
static int64_t
next_mark(const Drawing *d, int64_t time, int64_t step)
{
	int64_t end = d->timeline->time;

	if (step > end - time)
		return -1;
	time += step;
	for (int i = 0; i < d->ngaps; i++) {
		const Gap *gap = &d->gaps[i];
		if (time > gap->start && time < gap->end) {
			int64_t beyond = (step - gap->end % step) % step;
			if (beyond > end - gap->end)
				return -1;
			time = gap->end + beyond;
		}
	}
	return time;
}

/* The first of what is known of a step that is short enough; "". */
static const char *
box_label(const Drawing *d, const StepRow *row, double characters)
{
	const char *kind = ops[row->step->op->kind].hlo;
	const char *const words[] = {
		row->step->moves ? arena_printf(d->arena, "%s of %s", kind, row->value)
				 : row->label,
		row->step->moves ? kind : row->label,
		row->named ? row->value : "",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((double)strlen(words[i]) <= characters)
			return words[i];
	return "";
}

/* ---- where the time goes ----------------------------------------------------------- */

static Part
part_of(const Drawing *d, const StepRow *row)
{
	const TimelineStep *s = row->step;
	const char *bound = resource_names[s->cost.bound];
	Text what = {0};

	if (!s->moves)
		text_printf(&what, "computing, bound by %s", bound);
	else
		text_printf(&what, "exposed %s", ops[s->op->kind].hlo);
	if (row->transfer) {
		text_add(&what, " over ");
		text_axes(&what, &s->op->module->mesh, &row->transfer->axes);
	}
	return (Part){text_take(&what, d->arena), bound, step_share(s)};
}

static int
longer(const void *a, const void *b)
{
	const Part *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? 1 : -1;
	return strcmp(one->what, other->what);
}

static void
find_parts(Drawing *d)
{
	for (int i = 0; i < d->timeline->n; i++) {
		Part part = part_of(d, &d->rows[i]);
		int k = 0;
		while (k < d->nparts && strcmp(d->parts[k].what, part.what) != 0)
			k++;
		if (k < d->nparts)
			d->parts[k].time = add_picoseconds(d->parts[k].time, part.time);
		else if (part.time)
			APPEND(d->arena, d->parts, d->nparts, part);
	}
	if (d->nparts)
		qsort(d->parts, (size_t)d->nparts, sizeof *d->parts, longer);
}

static const char *
part_text(const Drawing *d, const Part *part)
{
	Text t = {0}, share = {0};

	text_percent(&share, (double)part->time, (double)d->timeline->time);
	text_printf(&t, "%5s  ", share.s);
	text_free(&share);
	size_t start = t.n;
	text_picoseconds(&t, part->time);
	text_printf(&t, "%*s%s", 10 - (int)(t.n - start), "", part->what);
	return text_take(&t, d->arena);
}

/* ---- text ---------------------------------------------------------------------------- */

static void
text_row(Text *t, const char *name, const char *line)
{
	int n = (int)strlen(line);

	while (n && line[n - 1] == ' ')
		n--;
	text_printf(t, "  %-*s%.*s\n", TEXT_NAME, name, n, line);
}

static void
text_marks(const Drawing *d)
{
	char line[TEXT_WIDTH + 16];
	const char *last = "";
	int64_t step = mark_step(d, 12);
	int free = 0;

	memset(line, ' ', sizeof line);
	line[sizeof line - 1] = 0;
	for (int64_t time = 0; time >= 0; time = next_mark(d, time, step)) {
		Text label = {0};
		text_picoseconds(&label, time);
		const char *s = text_take(&label, d->arena);
		int at = (int)place(d, time), n = (int)strlen(s);
		if (at < free || strcmp(s, last) == 0)
			continue;
		if (at + n < (int)sizeof line)
			memcpy(line + at, s, (size_t)n);
		last = s;
		free = at + n + 2;
	}
	text_row(d->text, "", line);
}

/* From `begin` to `end`, one at least for each of these parts. */
static void
mark_parts(const Drawing *d, const Parts *parts, bool hidden, char *line, int begin, int end)
{
	for (int i = 0; i < parts->n; i++) {
		const Stretch *part = &parts->v[i];
		int from = (int)lround(place(d, part->start));
		int to = (int)lround(place(d, part->end));
		if (part->hidden != hidden)
			continue;
		if (to <= from)
			from = (int)place(d, part->start);
		from = (int)within(from, begin, end - 1);
		to = (int)within(to, from + 1, end);
		memset(line + from, hidden ? '=' : '#', (size_t)(to - from));
	}
}

/* In the longest of the stretches of equal marks, and not in all of it. */
static void
text_label(const Drawing *d, const StepRow *row, char *line, int begin, int end)
{
	int longest = begin, n = 0;

	for (int from = begin, to; from < end; from = to) {
		for (to = from + 1; to < end && line[to] == line[from]; to++)
			;
		if (to - from > n) {
			longest = from;
			n = to - from;
		}
	}
	const char *label = box_label(d, row, n - 1);
	memcpy(line + longest, label, strlen(label));
}

/* - computes, # exposed, = behind other work */
static void
text_box(const Drawing *d, int i, char *line)
{
	const TimelineStep *s = &d->timeline->steps[i];
	const Parts *parts = &d->parts_of[i];
	int begin = (int)place(d, s->start), end = (int)place(d, s->start + s->lasts);

	begin = (int)within(begin, 0, TEXT_WIDTH - 1);
	end = (int)within(end, begin + 1, TEXT_WIDTH);
	if (end - begin > (parts->n > 1 ? 2 : 1))
		line[begin++] = '|';
	size_t n = (size_t)(end - begin);
	memset(line + begin, '-', n);
	if (s->moves) {
		mark_parts(d, parts, false, line, begin, end);
		mark_parts(d, parts, true, line, begin, end);
		if (s->exposed && !memchr(line + begin, '#', n))
			line[end - 1] = '#';
	}
	text_label(d, &d->rows[i], line, begin, end);
}

static void
text_track(const Drawing *d, int track)
{
	char line[TEXT_WIDTH + 1];

	memset(line, ' ', sizeof line);
	line[TEXT_WIDTH] = 0;
	for (int i = 0; i < d->ngaps; i++) {
		int begin = (int)ceil(place(d, d->gaps[i].start)),
		    end = (int)place(d, d->gaps[i].end);
		const char *label = track == DEVICE_TRACK ? d->gaps[i].label : "";
		int n = (int)strlen(label), middle = begin + (end - begin - n) / 2;
		for (int k = begin; k < end && k < TEXT_WIDTH; k++)
			line[k] = '.';
		if (n <= end - begin)
			memcpy(line + middle, label, (size_t)n);
	}
	for (int i = 0; i < d->timeline->n; i++)
		if (d->timeline->steps[i].each && step_on_track(&d->timeline->steps[i], track))
			text_box(d, i, line);
	text_row(d->text, track_name(d->timeline->module, track, d->arena), line);
}

static void
text_timeline(Drawing *d)
{
	fit(d, TEXT_WIDTH, TEXT_GAP);
	text_add(d->text, "\n");
	text_marks(d);
	for (int track = 0; track < MOST_TRACKS; track++)
		if (track_used(d->timeline, track))
			text_track(d, track);
	text_add(d->text,
		"\n  - computes, # exposed, = behind what computes; names are in front of "
		"their marks\n\n");
	for (int i = 0; i < d->nparts; i++)
		text_printf(d->text, "  %s\n", part_text(d, &d->parts[i]));
}

/* ---- SVG ----------------------------------------------------------------------------- */

/* One bar, and what is in it. */
static int64_t
svg_parts(const Drawing *d, int64_t y)
{
	const double width = SVG_NAME + SVG_WIDTH;
	double x = MARGIN, all = 1e-9;

	for (int i = 0; i < d->nparts; i++)
		all += (double)d->parts[i].time;
	for (int i = 0; i < d->nparts; i++) {
		double w = width * (double)d->parts[i].time / all;
		svg_rect(d->text, x, (double)y, w > 3 ? w - 1 : w, TRACK_HEIGHT,
			d->parts[i].bound);
		x += w;
	}
	y += TRACK_HEIGHT + 6;
	for (int i = 0; i < d->nparts && i < MOST_PARTS; i++, y += ROW_HEIGHT) {
		svg_rect(d->text, MARGIN, (double)y + 3, 11, 11, d->parts[i].bound);
		svg_text(d->text, MARGIN + 18, y + 13, "start", part_text(d, &d->parts[i]));
	}
	return y;
}

static void
svg_marks(const Drawing *d, int64_t top, int64_t bottom)
{
	int64_t step = mark_step(d, 80);
	const char *last = "";
	double free = 0;

	for (int64_t time = 0; time >= 0; time = next_mark(d, time, step)) {
		double x = place(d, time);
		Text label = {0};
		text_picoseconds(&label, time);
		const char *s = text_take(&label, d->arena);
		if (x >= free && strcmp(s, last) != 0) {
			svg_rect(d->text, MARGIN + SVG_NAME + x, (double)top, 1,
				(double)(bottom - top), "line");
			if (x + CHARACTER * (double)strlen(s) < SVG_WIDTH)
				svg_text(d->text, MARGIN + SVG_NAME + (int64_t)x + 3, top + 11,
					"start", s);
			last = s;
			free = x + CHARACTER * (double)strlen(s) + 16;
		}
	}
}

static void
svg_gaps(const Drawing *d, int64_t top, int64_t bottom)
{
	for (int i = 0; i < d->ngaps; i++) {
		double x = place(d, d->gaps[i].start), width = d->gap;
		svg_rect(d->text, MARGIN + SVG_NAME + x, (double)top, width,
			(double)(bottom - top), "card");
		if (CHARACTER * (double)strlen(d->gaps[i].label) < width)
			svg_text(d->text, MARGIN + SVG_NAME + (int64_t)(x + width / 2),
				top + TRACK_HEIGHT / 2 + 4, "middle", d->gaps[i].label);
	}
}

/* What is on a track from one place to another. */
typedef struct Box {
	double x, end;
	const Parts *parts; /* NULL: it is all alike, or too narrow to see more */
	bool pale;	    /* all of it, or the widest part: behind other work */
	double label_x;	    /* there */
	const char *class, *label;
} Box;

/* A box that is less wide is not one beside the next. */
enum { NARROW = 3 };

/* What of it is behind `x`, where those before it end. */
static Box
box_of(const Drawing *d, int i, double x)
{
	const TimelineStep *s = &d->timeline->steps[i];
	const Parts *parts = &d->parts_of[i];
	Box box = {.x = place(d, s->start), .end = place(d, s->start + s->lasts)};
	double widest = -1;

	box.x = box.x < x ? x : box.x;
	box.class = resource_names[s->cost.bound];
	box.parts = parts->n > 1 && box.end - box.x >= NARROW ? parts : NULL;
	for (int k = 0; k < parts->n; k++) {
		double from = place(d, parts->v[k].start), to = place(d, parts->v[k].end);
		from = from < box.x ? box.x : from;
		if (to - from > widest) {
			widest = to - from;
			box.label_x = from;
			box.pale = parts->v[k].hidden;
		}
	}
	box.label = box_label(d, &d->rows[i], (widest - 6) / CHARACTER);
	return box;
}

/* From one place to another, and at least to be seen. */
static void
svg_bar(const Drawing *d, double x, double end, int64_t y, const char *class, bool pale)
{
	text_add(d->text, pale ? "<g fill-opacity=\".4\">" : "");
	svg_rect(d->text, MARGIN + SVG_NAME + x, (double)y, end - x < 0.5 ? 0.5 : end - x,
		TRACK_HEIGHT - 4, class);
	text_add(d->text, pale ? "</g>" : "");
}

/* Its parts, but those too narrow to be seen beside the one before. */
static void
svg_parts_of(const Drawing *d, const Box *box, double end, int64_t y)
{
	double x = box->x;
	bool pale = box->parts->v[0].hidden;

	for (int k = 0; k < box->parts->n; k++) {
		const Stretch *part = &box->parts->v[k];
		double from = place(d, part->start);
		if (part->hidden == pale || place(d, part->end) - from < 1)
			continue;
		if (from > x) {
			svg_bar(d, x, from, y, box->class, pale);
			x = from;
		}
		pale = part->hidden;
	}
	if (end > x)
		svg_bar(d, x, end, y, box->class, pale);
}

static void
svg_box(const Drawing *d, const Box *box, int64_t y)
{
	double end = box->end - box->x > NARROW ? box->end - 1 : box->end;

	if (box->parts)
		svg_parts_of(d, box, end, y);
	else
		svg_bar(d, box->x, end, y, box->class, box->pale);
	if (!*box->label)
		return;
	text_printf(d->text, "<g class=\"%s\">", box->pale ? "text" : "ink");
	svg_text(d->text, MARGIN + SVG_NAME + (int64_t)box->label_x + 4, y + 13, "start",
		box->label);
	text_add(d->text, "</g>");
}

/* Is the next box too narrow to be seen beside the last, or one with it? */
static bool
is_one_box(const Box *last, const Box *next)
{
	double width = next->end - next->x;

	return last->class && !last->parts && !*last->label && width < NARROW
		&& next->x - last->end < NARROW
		&& (width < 1 || (last->class == next->class && last->pale == next->pale));
}

static void
svg_track(const Drawing *d, int track, int64_t y)
{
	Box last = {0};

	svg_text(d->text, MARGIN, y + 13, "start",
		track_name(d->timeline->module, track, d->arena));
	for (int i = 0; i < d->timeline->n; i++) {
		const TimelineStep *s = &d->timeline->steps[i];
		if (!s->each || !step_on_track(s, track))
			continue;
		Box box = box_of(d, i, last.end);
		if (s->moves && box.end <= last.end)
			continue;
		if (is_one_box(&last, &box)) {
			last.end = box.end;
			continue;
		}
		if (last.class)
			svg_box(d, &last, y);
		last = box;
	}
	if (last.class)
		svg_box(d, &last, y);
}

static void
svg_timeline(Drawing *d, const char *heading)
{
	int64_t y = MARGIN, width = SVG_NAME + SVG_WIDTH + 2 * MARGIN;
	int tracks = 0;

	fit(d, SVG_WIDTH, SVG_GAP);
	y = svg_lines(d->text, heading, y, &width) + 8;
	y = svg_parts(d, y) + 14;
	for (int track = 0; track < MOST_TRACKS; track++)
		tracks += track_used(d->timeline, track);
	int64_t bottom = y + ROW_HEIGHT + tracks * TRACK_HEIGHT;
	svg_marks(d, y, bottom);
	y += ROW_HEIGHT;
	svg_gaps(d, y, bottom);
	for (int track = 0; track < MOST_TRACKS; track++) {
		if (!track_used(d->timeline, track))
			continue;
		svg_track(d, track, y + 2);
		y += TRACK_HEIGHT;
	}
	Text body = *d->text;
	*d->text = (Text){0};
	svg_begin(d->text, width, bottom + MARGIN);
	text_addn(d->text, body.s, body.n);
	svg_end(d->text);
	text_free(&body);
}

void
emit_timeline(const Timeline *timeline, const Plan *plan, const char *format, Text *t)
{
	Drawing d = {.timeline = timeline, .arena = arena_new(), .text = t};
	Text heading = {0};

	d.rows = step_rows(timeline, d.arena);
	find_gaps(&d);
	d.parts_of = timeline_parts(timeline, d.arena);
	find_parts(&d);
	text_outcome(timeline, plan, &heading);
	if (strcmp(format, "svg") == 0) {
		svg_timeline(&d, heading.s);
	} else {
		text_add(t, heading.s);
		text_timeline(&d);
	}
	text_free(&heading);
	arena_free(d.arena);
}
