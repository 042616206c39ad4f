/*
 * sweep.c - compiles every combination of --sweep and tells what a run takes.
 *
 * The rows are in memory that all processes share.  A combination that a process dies
 * of stays untried, which is our own bug.
 */
#define _GNU_SOURCE /* strchrnul() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/ledger.h"
#include "cost/timeline.h"
#include "memory/plan.h"
#include "sweep.h"

typedef struct Sweep {
	const Options *options;
	const SourceFile *source;
	FrontNames names;
	SweepTable table;
} Sweep;

/* ---- one combination ------------------------------------------------------------- */

static bool
is_word(const char *word, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static Options
options_of(const Sweep *w, Arena *a, int64_t combination)
{
	Options o = *w->options;
	FrontOptions *front = &o.front;

	o.measured = true;
	front->keep_topology = true;

	for (int i = 0; i < w->table.naxes; i++) {
		const SweepAxis *axis = &w->table.axes[i];
		const char *const *values = sweep_value(&w->table, i, combination);
		for (int k = 0; k < axis->nnames; k++) {
			Override one = {axis->names[k], values[k], "--sweep"};
			if (strcmp(one.name, "on") == 0)
				front->target = one.text;
			else if (strcmp(one.name, "layout") == 0)
				front->layout = one.text;
			else if (is_word(one.name, w->names.names, w->names.naxes))
				override(a, &front->axes, &front->naxes, one);
			else
				override(a, &front->dims, &front->ndims, one);
		}
	}
	return o;
}

/* "ffn.shd:7:12: error[SHD0204]: words ... choices:  B@X:(1)2" ->
   "words (line 7); B@X:(1)2 can be [SHD0204]" */
static void
note_error(const Sweep *w, SweepRow *row, const char *messages)
{
	static const char offer[] = "  choices:  ";
	const char *number = strstr(messages, "error["), *words, *end;
	Text t = {0};

	if (!number || !(words = strstr(number, "]: "))) {
		snprintf(row->error, sizeof row->error, "it cannot be compiled");
		return;
	}
	const char *place = number, *path = w->source->path;
	while (place > messages && place[-1] != '\n')
		place--;
	end = strchrnul(words, '\n');
	text_addn(&t, words + 3, (size_t)(end - words - 3));
	bool here = strncmp(place, path, strlen(path)) == 0 && place[strlen(path)] == ':';
	if (here)
		text_printf(&t, " (line %d)", atoi(place + strlen(path) + 1));
	else if (place < number && strncmp(place, "shdc: ", 6) != 0)
		text_printf(&t, " (%.*s)", (int)(number - place - 2), place);
	const char *choice = strstr(end, offer);
	if (choice) {
		choice += strlen(offer);
		text_printf(&t, "; %.*s can be", (int)strcspn(choice, "\n"), choice);
	}
	number += strlen("error");
	text_printf(&t, " %.*s", (int)(words + 1 - number), number);
	snprintf(row->error, sizeof row->error, "%s", t.s);
	text_free(&t);
}

static void
note_costs(SweepRow *row, Module *m)
{
	const Target *target = m->mesh.target;
	const Timeline *timeline = timeline_build(m, m->arena);
	if (timeline_is_endless(timeline)) {
		snprintf(row->error, sizeof row->error, "%s", TOO_LONG);
		return;
	}
	const Plan *plan = plan_build(m);
	Text t = {0};

	row->measured = true;
	row->seconds = (double)timeline->time * 1e-12;
	row->lower_seconds = (double)timeline->lower * 1e-12;
	row->compute_seconds = (double)timeline->compute * 1e-12;
	row->communication_seconds = (double)timeline->communication * 1e-12;
	row->exposed_seconds = (double)timeline->exposed * 1e-12;
	row->mfu = peak_share(timeline);
	row->memory_peak = plan_peak(plan);
	row->wire_bytes = module_ledger(m)->work.wire_bytes;
	row->tokens_per_second = tokens_per_second(timeline);
	if (row->memory_peak <= target->hbm_bytes)
		return;
	text_add(&t, "needs ");
	text_memory(&t, (double)row->memory_peak);
	text_printf(&t, " of memory; %s has ", target->name);
	text_memory(&t, (double)target->hbm_bytes);
	snprintf(row->error, sizeof row->error, "%s", t.s);
	text_free(&t);
}

static void
try_combination(const Sweep *w, SweepRow *row)
{
	Session *s = session_new();
	char *messages = NULL;
	size_t n;

	s->err = open_memstream(&messages, &n);
	s->max_errors = 1;
	int file = source_add_text(s, w->source->path, w->source->text, w->source->length);
	Options options = options_of(w, s->arena, row->combination);
	Module *m = variant(s, file, &options);
	diag_flush(s);
	fflush(s->err);
	row->layout_dropped = m && strstr(messages, "remark[SHD0307]");
	if (m)
		note_costs(row, m);
	else
		note_error(w, row, messages);
	fclose(s->err);
	s->err = NULL;
	session_free(s);
	free(messages);
	row->tried = true;
}

/* ---- all of them ------------------------------------------------------------------ */

static void
try_piece(void *sweep, int64_t i)
{
	const Sweep *w = sweep;

	try_combination(w, &w->table.rows[i]);
}

/* Each name is a dim or an axis of the program, or `on`. */
static bool
names_are_known(Session *s, const Sweep *w)
{
	for (int i = 0; i < w->table.naxes; i++)
		for (int k = 0; k < w->table.axes[i].nnames; k++) {
			const char *name = w->table.axes[i].names[k];
			if (strcmp(name, "on") != 0 && strcmp(name, "layout") != 0
				&& !is_word(name, w->names.names, w->names.n))
				return unknown_word(s, "dim or axis", name, w->names.names,
					w->names.n);
		}
	return true;
}

/* Once, not for each of them. */
static void
tell_dropped(Session *s, const Sweep *w)
{
	const SweepTable *table = &w->table;
	long long dropped = 0;

	for (int64_t i = 0; i < table->n; i++)
		dropped += table->rows[i].layout_dropped;
	if (dropped)
		diag(s, DIAG_topology_dropped, w->names.layout,
			"%lld of %lld combinations have a mesh of other sizes and drop this "
			"layout; --layout or --sweep='layout=...' gives another",
			dropped, (long long)table->n);
	diag_flush(s);
}

bool
sweep(Compilation *c, bool *good)
{
	Session *s = c->session;
	const Options *o = c->options;
	Sweep w = {.options = o, .source = source_file(s, c->file)};
	Progress progress = progress_begin("combination");
	SweepTable *table = &w.table;

	table->path = source_path(s, c->file);
	table->tokens = o->front.tokens;
	if (!sweep_axes(s, o, table) || !program_names(s, c->file, o, &w.names)
		|| !names_are_known(s, &w) || !front_tokens(s, &o->front, &w.names))
		return false;
	table->program = w.names.module;
	const char *sort = o->sort ? o->sort : "seconds";
	if (!sweep_has_column(table, sort)) {
		int n;
		const char *const *names = sweep_columns(table, &n);
		return unknown_word(s, "column", sort, names, n);
	}
	size_t bytes = (size_t)table->n * sizeof *table->rows;
	table->rows = shared_new(bytes);
	if (!table->rows)
		return usage(s, "--sweep: no memory for %lld rows", (long long)table->n);
	for (int64_t i = 0; i < table->n; i++)
		table->rows[i].combination = i;
	*good = false;
	work_share(&(Workload){table->n, try_piece, &w, .progress = progress_show,
		.progress_data = &progress});
	for (int64_t i = 0; i < table->n; i++) {
		if (!table->rows[i].tried)
			die("a combination of --sweep was lost");
		*good |= !*table->rows[i].error;
	}
	tell_dropped(s, &w);
	sweep_sort(table, sort);
	for (int i = 0; i < o->noutputs; i++)
		if (strcmp(o->outputs[i].kind->name, "cost") == 0)
			emit_sweep(table, o->outputs[i].format, &c->texts[i]);
	emit_sweep(table, "page", &c->swept);
	shared_free(table->rows, bytes);
	return true;
}
