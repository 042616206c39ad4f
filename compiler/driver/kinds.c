/*
 * kinds.c - what --emit can print, from the table emit.def.
 *
 * Each function appends its text; the module has the level that the table
 * asks for.  False after diagnostics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hlo/hlo.h"
#include "driver.h"
#include "tree.h"
#include "memory/plan.h"

typedef bool Emit(Compilation *c, const Output *out, Text *t);

#define KIND(name, printer, formats, level, last, path, help) static Emit print_##printer;
#include "emit.def"
#undef KIND

static const Kind kinds[] = {
#define KIND(name, printer, formats, level, last, path, help) \
	{#name, formats, level, last, PATH_##path, help, print_##printer},
#include "emit.def"
#undef KIND
};
enum { NKINDS = sizeof kinds / sizeof *kinds };

const Kind *
kind_by_name(const char *name)
{
	for (int i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const char *const *
kind_names(int *n)
{
	static const char *names[NKINDS];

	for (int i = 0; i < NKINDS; i++)
		names[i] = kinds[i].name;
	*n = NKINDS;
	return names;
}

void
list_kinds(Text *t)
{
	text_add(t, "--emit=KIND[.FORMAT][=PATH][,...]\n\n");
	for (int i = 0; i < NKINDS; i++) {
		text_printf(t, "  %-10s%s", kinds[i].name, kinds[i].help);
		if (strchr(kinds[i].formats, ' '))
			text_printf(t, " (%s)", kinds[i].formats);
		text_add(t, kinds[i].path == PATH_optional ? "" : "; needs a PATH");
		text_add(t, "\n");
	}
	text_add(t,
		"\nThe ending of a PATH may be the FORMAT: --emit=viz=p.svg.  Several without "
		"a PATH\n"
		"follow each other on standard output, each under a line `// ----- KIND`.\n");
}

static bool
print_ast(Compilation *c, const Output *out, Text *t)
{
	(void)out;
	return tree_print(c->session, c->file, t);
}

static bool
print_module(Compilation *c, const Output *out, Text *t)
{
	(void)out;
	module_print(c->module, t);
	return true;
}

static bool
print_c(Compilation *c, const Output *out, Text *t)
{
	(void)out;
	return compilation_c(c, t);
}

static bool
print_obj(Compilation *c, const Output *out, Text *t)
{
	Text source = {0};
	bool good = compilation_c(c, &source);

	(void)t; /* the C compiler writes the file */
	good = good && build_program(c->session, &source, out->path, &c->options->build, NULL);
	text_free(&source);
	return good;
}

static bool
print_viz(Compilation *c, const Output *out, Text *t)
{
	bool terminal = !out->path && isatty(1);
	VizOptions viz = {
		.format = strcmp(out->format, "svg") == 0  ? VIZ_svg
			: strcmp(out->format, "html") == 0 ? VIZ_html
							   : VIZ_text,
		.unicode = terminal,
		.color = !out->path && c->options->color_output,
		.name = c->options->explain,
	};

	emit_viz(c->module, &viz, t);
	return true;
}

static bool
print_explain(Compilation *c, const Output *out, Text *t)
{
	bool last = c->module->level == L_scheduled;
	Progress progress = progress_begin(last ? "annotation" : "proposal");
	ExplainOptions o = {
		.name = c->options->explain,
		.told = &c->explanation,
		.outcome = last ? outcome_of(c->module, compilation_plan(c),
				   compilation_any_timeline(c))
				: (Outcome){0},
		.global_text = c->global.s,
		.global_length = c->global.n,
		.annotations = c->annotations,
		.progress = {progress_show, &progress},
	};

	(void)out;
	return emit_explain(c->module, &o, t);
}

/* How one run goes, in one of the ways to tell it. */
#define RUN(kind) \
	static bool print_##kind(Compilation *c, const Output *out, Text *t) \
	{ \
		emit_##kind(compilation_timeline(c), compilation_plan(c), out->format, t); \
		return true; \
	}
RUN(cost)
RUN(trace)
RUN(timeline)
RUN(torus)
#undef RUN

static bool
print_memory(Compilation *c, const Output *out, Text *t)
{
	const Plan *plan = compilation_plan(c);
	const Change change = {.toggle_inputs = true};
	Outcome other;
	bool known = c->unfused.n && what_if(c->unfused.s, c->unfused.n, &change, &other);

	MemoryNotes notes = {.otherwise = known ? other.peak : -1};
	if (strcmp(out->format, "json") && strcmp(out->format, "csv"))
		notes.checkpoints = checkpoints_find(c, &notes.ncheckpoints);
	emit_memory(plan, &notes, out->format, t);
	return true;
}

/* What -Rreshard tells, as JSON. */
static void
note_remarks(Compilation *c)
{
	Session *s = c->session;
	Progress progress = progress_begin("proposal");
	RemarkOptions remarks = {
		.remarks = true,
		.progress = {progress_show, &progress},
		.global_text = c->global.s,
		.global_length = c->global.n,
		.annotations = c->annotations,
	};
	FILE *err = s->err;
	bool json = s->json;
	char *text = NULL;
	size_t n;

	diag_flush(s);
	s->err = open_memstream(&text, &n);
	s->json = true;
	tell_transfers(c->module, &remarks);
	diag_flush(s);
	fclose(s->err);
	s->err = err;
	s->json = json;
	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '\n')
			text[i] = ',';
	text_addn(&c->remarks, text, n);
	free(text);
}

static bool
print_report(Compilation *c, const Output *out, Text *t)
{
	Text versus = {0};
	bool good = true;

	(void)out;
	if (c->module->level == L_resharded)
		note_remarks(c);
	if (c->module->level != L_scheduled)
		return true;
	ReportOptions o = {
		.timeline = compilation_timeline(c),
		.plan = compilation_plan(c),
		.remarks = c->remarks.s,
		.command = c->options->command,
		.version = "shdc " SHDC_VERSION,
		.sweep = c->swept.s,
	};
	if (versus_wanted(c->options)) {
		good = versus_cost(c, &versus);
		o.versus = versus.s;
		o.versus_title = versus_title(c->options, c->session->arena);
	}
	if (good)
		emit_report(&o, t);
	text_free(&versus);
	return good;
}

static bool
print_xla(Compilation *c, const Output *out, Text *t)
{
	Module *m = c->module;

	if (!c->options->xla || !m->python)
		return usage(c->session,
			"--emit=xla goes with a JAX program and --xla=FILE: what XLA made of "
			"it");
	if (m->level == L_resharded)
		xla_note(&c->xla_notes, m);
	if (m->level != L_scheduled)
		return true;
	int file = source_open(c->session, c->options->xla, nowhere);
	const XlaPlan *plan = file ? xla_read(c->session, file, &m->mesh) : NULL;
	if (plan)
		emit_xla(compilation_timeline(c), plan, &c->xla_notes, out->format, t);
	return plan;
}

static bool
print_stats(Compilation *c, const Output *out, Text *t)
{
	(void)out;
	emit_stats(c->module, plan_peak(compilation_plan(c)), t);
	return true;
}
