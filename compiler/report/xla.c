/*
 * xla.c - --xla: the collectives of XLA's program beside ours, by line of Python.
 *
 *   XLA     287 kB received, 402 us in 24 collectives
 *   here    156 kB received, 231 us in 27 collectives
 *
 *   train.py:19   XLA   98.3 kB  112 us  8 all-reduce over model
 *                 here  24.6 kB   36 us  4 all-reduce over model
 *
 * Both are priced by our links, one after the other. Where XLA receives more, an operand that
 * is moved here could be asked for there:
 *
 *   train.py:13: with_sharding_constraint(x, P(None, 'model'))
 *
 * What propagation finds is not told, as XLA has it, too, nor what XLA moves so unasked; and
 * what XLA then does, only XLA tells.
 */
#include <string.h>
#include "cost/ledger.h"
#include "cost/timeline.h"
#include "report/proposals.h"
#include "report/report.h"

enum { SIDES = 2, MOST_WRITTEN = 3 /* placements of a line */ };

/* Equal collectives of a line. */
typedef struct Kinds {
	OpKind kind;
	const char *axes;
	int64_t times;
} Kinds;

typedef struct Side {
	double bytes, seconds;
	int64_t times;
	Kinds *kinds;
	int nkinds;
} Side;

typedef struct Row {
	const char *path;
	int line;
	Side sides[SIDES]; /* XLA's, ours */
} Row;

typedef struct Beside {
	const Module *module;
	Row *rows;
	int n;
	Row all;
	bool uncounted, unpriced; /* loops without known trips; groups along no axes */
} Beside;

static const char *const side_names[SIDES] = {"XLA", "here"};

/* The last words of both, as one may be told from another folder. */
static bool
same_file(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b);
	const char *end = n > k ? a + n - k : b + k - n;
	const char *whole = n > k ? a : b;

	return !strcmp(end, n > k ? b : a) && (end == whole || end[-1] == '/');
}

static Row *
row_of(Beside *beside, const char *path, int line)
{
	path = path ? path : "";
	for (int i = 0; i < beside->n; i++)
		if (beside->rows[i].line == line && same_file(beside->rows[i].path, path))
			return &beside->rows[i];
	Row new = {.path = path, .line = line};
	APPEND(beside->module->arena, beside->rows, beside->n, new);
	return &beside->rows[beside->n - 1];
}

static void
add_to(Arena *a, Side *side, OpKind kind, const char *axes, double bytes, double seconds,
	int64_t times)
{
	int i = 0;

	side->bytes += bytes;
	side->seconds += seconds;
	side->times += times;
	while (i < side->nkinds
		&& (side->kinds[i].kind != kind || strcmp(side->kinds[i].axes, axes)))
		i++;
	if (i == side->nkinds) {
		Kinds new = {kind, axes, 0};
		APPEND(a, side->kinds, side->nkinds, new);
	}
	side->kinds[i].times += times;
}

static const char *
axes_text(const Module *m, const AxisList *axes)
{
	Text t = {0};

	text_add(&t, axes->n ? "" : "some devices");
	text_axes(&t, &m->mesh, axes);
	return text_take(&t, m->arena);
}

static void
add_theirs(Beside *beside, const XlaTransfer *theirs)
{
	const Module *m = beside->module;
	double times = (double)theirs->trips, seconds = 0;
	double bytes = times * wire_bytes(theirs->kind, theirs->n, theirs->bytes);

	if (theirs->axes.n)
		seconds = times
			* transfer_cost(&m->mesh, theirs->kind, &theirs->axes, NULL,
				theirs->source, theirs->bytes)
				  .seconds;
	beside->unpriced |= !theirs->axes.n;
	beside->uncounted |= !theirs->counted;
	const char *axes = axes_text(m, &theirs->axes);
	Row *row = row_of(beside, theirs->path, theirs->line);
	add_to(m->arena, &row->sides[0], theirs->kind, axes, bytes, seconds, theirs->trips);
	add_to(m->arena, &beside->all.sides[0], theirs->kind, axes, bytes, seconds,
		theirs->trips);
}

static void
add_ours(Beside *beside, const TimelineStep *step)
{
	const Module *m = beside->module;
	const Op *op = step->op;
	double times = (double)step->trips, bytes = step->cost.wire_bytes * times;
	double seconds = step->cost.seconds * times;

	beside->uncounted |= !step->counted;
	const char *axes = axes_text(m, op->axes);
	Row *row = row_of(beside, op->range.file ? source_path(m->session, op->range.file) : "",
		op->range.line);
	add_to(m->arena, &row->sides[1], op->kind, axes, bytes, seconds, step->trips);
	add_to(m->arena, &beside->all.sides[1], op->kind, axes, bytes, seconds, step->trips);
}

static Beside
beside_of(const Timeline *timeline, const XlaPlan *plan)
{
	Beside beside = {.module = timeline->module};

	for (int i = 0; i < plan->n; i++)
		add_theirs(&beside, &plan->all[i]);
	for (int i = 0; i < timeline->n; i++)
		if (timeline->steps[i].moves && op_communicates(timeline->steps[i].op))
			add_ours(&beside, &timeline->steps[i]);
	for (int i = 1; i < beside.n; i++)
		for (int k = i; k > 0; k--) {
			Row *a = &beside.rows[k - 1], *b = &beside.rows[k], held = *b;
			double x = a->sides[0].bytes + a->sides[1].bytes;
			if (x >= b->sides[0].bytes + b->sides[1].bytes)
				break;
			*b = *a;
			*a = held;
		}
	return beside;
}

/* ---- is it the same program? --------------------------------------------------------- */

static const char *
line_key(Arena *a, const char *path, int line)
{
	const char *slash = strrchr(path, '/');

	return arena_printf(a, "%s:%d", slash ? slash + 1 : path, line);
}

static Table *
lines_of(const Module *m)
{
	Table *lines = table_new(m->arena);
	const Range *last = NULL;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		const Range *r = &op->range;
		if (!r->file || (last && last->file == r->file && last->line == r->line))
			continue;
		table_add(lines, line_key(m->arena, source_path(m->session, r->file), r->line),
			lines);
		last = r;
	}
	return lines;
}

/* Of what XLA receives for lines of Python, most should be for those of this program. */
static void
text_match(Text *t, const Beside *beside)
{
	const Table *lines = lines_of(beside->module);
	Arena *a = beside->module->arena;
	double all = 0, known = 0;

	for (int i = 0; i < beside->n; i++) {
		const Row *row = &beside->rows[i];
		if (!row->line)
			continue;
		all += row->sides[0].bytes;
		known += table_get(lines, line_key(a, row->path, row->line))
			? row->sides[0].bytes
			: 0;
	}
	if (known < all / 2)
		text_printf(t,
			"%.0f %% of what XLA receives is for lines of this program: is the "
			"dump of another?\n\n",
			100 * known / all);
}

/* ---- what could bring XLA here --------------------------------------------------- */

/* That the value is there before it is used is news to XLA: propagation, which is Shardy's on
   both sides, has it elsewhere, and the program asks for nothing.  Parts of a sum are left
   out, as a constraint would say no more than where their sum is. */
static bool
is_news(const Module *m, const Transfer *transfer)
{
	const Op *op = transfer->op;
	const Op *made = transfer->value->def;

	return op->kind == O_reshard && !op->requested && op->range.line
		&& !(made && range_equal(made->range, op->range))
		&& !transfer->before.nunreduced && python_can_place(m, transfer->value)
		&& python_can_move(m, transfer->value, op->range)
		&& python_can_say(m, transfer->value, &transfer->after);
}

void
xla_note(XlaNotes *notes, Module *m)
{
	const Ledger *ledger = module_ledger(m);

	for (int i = 0; m->python && i < ledger->n; i++) {
		const Transfer *transfer = &ledger->transfers[i];
		const Range *at = &transfer->op->range;
		Placed placed = {transfer->value, transfer->after};
		Text t = {0};
		bool known = false;
		if (!is_news(m, transfer) || (i && transfer[-1].op == transfer->op))
			continue;
		text_python_moved(&t, m, &placed, *at);
		XlaNote new = {.path = source_path(m->session, at->file),
			.line = at->line,
			.text = text_take(&t, m->arena),
			.axes = axes_text(m, &transfer->axes),
			.kind = transfer->kind,
			.bytes = transfer->bytes};
		for (int k = 0; k < notes->n && !known; k++)
			known = !strcmp(notes->all[k].text, new.text);
		if (!known)
			APPEND(m->arena, notes->all, notes->n, new);
	}
}

/* Does XLA move as much in the same way for the line?  Then it does so unasked. */
static bool
is_theirs(const Module *m, const XlaPlan *plan, const XlaNote *note)
{
	for (int i = 0; i < plan->n; i++) {
		const XlaTransfer *x = &plan->all[i];
		if (x->kind != note->kind || x->line != note->line
			|| !same_file(x->path ? x->path : "", note->path))
			continue;
		double bytes = wire_bytes(x->kind, x->n, x->bytes);
		bool along = note->kind == O_collective_permute
			|| !strcmp(axes_text(m, &x->axes), note->axes);
		if (along && bytes >= note->bytes - 1 && bytes <= note->bytes + 1)
			return true;
	}
	return false;
}

static void
text_notes(Text *t, const Beside *beside, const XlaPlan *plan, const XlaNotes *notes)
{
	bool any = false;

	for (int i = 0; i < beside->n; i++) {
		const Row *row = &beside->rows[i];
		int written = 0;
		if (row->sides[0].bytes <= row->sides[1].bytes * 1.01)
			continue;
		for (int k = 0; k < notes->n && written < MOST_WRITTEN; k++) {
			const XlaNote *note = &notes->all[k];
			if (note->line != row->line || !same_file(note->path, row->path)
				|| is_theirs(beside->module, plan, note))
				continue;
			text_printf(t, "%s  %s\n",
				any ? ""
				    : "\nwhere XLA receives more, this is moved here before it "
				      "is used, and not so by XLA, which may do so if asked:\n",
				note->text);
			any = true;
			written++;
		}
	}
}

/* ---- as text, as JSON ------------------------------------------------------------- */

static void
text_side(Text *t, const Side *side)
{
	Text bytes = {0}, seconds = {0};

	text_traffic(&bytes, side->bytes);
	text_seconds(&seconds, side->seconds);
	text_printf(t, "%9s  %9s ", bytes.s, seconds.s);
	for (int i = 0; i < side->nkinds; i++)
		text_printf(t, "%s %lld %s over %s", i ? "," : "",
			(long long)side->kinds[i].times, ops[side->kinds[i].kind].hlo,
			side->kinds[i].axes);
	text_add(t, side->nkinds ? "\n" : " nothing moves\n");
	text_free(&bytes);
	text_free(&seconds);
}

static const char *
place_text(const Beside *beside, const Row *row)
{
	const char *slash = strrchr(row->path, '/');

	return row->line ? arena_printf(beside->module->arena, "%s:%d",
		       slash ? slash + 1 : row->path, row->line)
			 : "no line";
}

static void
text_rows(Text *t, const Beside *beside)
{
	int width = 4;

	for (int i = 0; i < beside->n; i++) {
		int n = (int)strlen(place_text(beside, &beside->rows[i]));
		width = n > width ? n : width;
	}
	for (int s = 0; s < SIDES; s++) {
		text_printf(t, "  %-*s  %-4s ", width, s ? "" : "all", side_names[s]);
		text_side(t, &beside->all.sides[s]);
	}
	text_add(t, "\n");
	for (int i = 0; i < beside->n; i++)
		for (int s = 0; s < SIDES; s++) {
			const Row *row = &beside->rows[i];
			text_printf(t, "  %-*s  %-4s ", width, s ? "" : place_text(beside, row),
				side_names[s]);
			text_side(t, &row->sides[s]);
		}
}

static void
json_side(Text *t, const Side *side, const char *name)
{
	text_printf(t, "\"%s\": { \"wire_bytes\": %.0f, \"seconds\": %.12f, \"collectives\": [",
		name, side->bytes, side->seconds);
	for (int i = 0; i < side->nkinds; i++) {
		text_printf(t, "%s{ \"kind\": \"%s\", \"axes\": ", i ? ", " : "",
			ops[side->kinds[i].kind].hlo);
		text_json(t, side->kinds[i].axes);
		text_printf(t, ", \"times\": %lld }", (long long)side->kinds[i].times);
	}
	text_add(t, "] }");
}

static void
json_row(Text *t, const Row *row)
{
	text_add(t, "{ \"file\": ");
	text_json(t, row->path ? row->path : "");
	text_printf(t, ", \"line\": %d,\n    ", row->line);
	json_side(t, &row->sides[0], "xla");
	text_add(t, ",\n    ");
	json_side(t, &row->sides[1], "shdc");
	text_add(t, " }");
}

static void
json_beside(Text *t, const Beside *beside)
{
	text_printf(t, "{ \"version\": 1, \"counted\": %s, \"priced\": %s,\n  \"all\": ",
		beside->uncounted ? "false" : "true", beside->unpriced ? "false" : "true");
	json_row(t, &beside->all);
	text_add(t, ",\n  \"lines\": [");
	for (int i = 0; i < beside->n; i++) {
		text_add(t, i ? ",\n   " : "\n   ");
		json_row(t, &beside->rows[i]);
	}
	text_add(t, "\n  ] }\n");
}

void
emit_xla(const Timeline *timeline, const XlaPlan *plan, const XlaNotes *notes,
	const char *format, Text *t)
{
	Beside beside = beside_of(timeline, plan);
	const Mesh *mesh = &beside.module->mesh;

	if (!strcmp(format, "json")) {
		json_beside(t, &beside);
		return;
	}
	text_printf(t,
		"what a device receives in %s, and XLA's plan beside it, priced for %s\n\n",
		beside.module->name, mesh->target->name);
	text_match(t, &beside);
	text_rows(t, &beside);
	if (beside.uncounted)
		text_add(t, "\nat least: loops that run until their data say so count once\n");
	if (beside.unpriced)
		text_add(t,
			"\ntransfers between some devices, along no axes, are not priced\n");
	text_notes(t, &beside, plan, notes);
}
