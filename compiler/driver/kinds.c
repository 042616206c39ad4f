/*
 * kinds.c - what --emit can print, from the table emit.def.
 *
 * Each function appends its text; the module has the level that the table
 * asks for.  False after diagnostics.
 */
#include <string.h>
#include <unistd.h>

#include "hlo/hlo.h"
#include "driver.h"
#include "tree.h"
#include "memory/plan.h"

typedef bool Emit(Compilation *c, const Output *o, Text *t);

#define KIND(name, formats, level, again, binary, help) static Emit emit_kind_##name;
#include "emit.def"
#undef KIND

static const Kind kinds[] = {
#define KIND(name, formats, level, again, binary, help) \
	{#name, formats, level, again, binary, help, emit_kind_##name},
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
		text_add(t, "\n");
	}
	text_add(t,
		"\nSeveral without a PATH follow each other on standard "
		"output, each under a\nline `// ----- KIND`; a binary one "
		"needs a PATH.\n");
}

static bool
emit_module(Compilation *c, Text *t)
{
	module_print(c->module, t);
	return true;
}

static bool
emit_kind_ast(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return tree_print(c->session, c->file, t);
}

static bool
emit_kind_ir(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return emit_module(c, t);
}

static bool
emit_kind_sharded(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return emit_module(c, t);
}

static bool
emit_kind_hlo(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return emit_module(c, t);
}

static bool
emit_kind_fused(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return emit_module(c, t);
}

static bool
emit_kind_c(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return compilation_c(c, t);
}

static bool
emit_kind_obj(Compilation *c, const Output *o, Text *t)
{
	Text source = {0};
	bool good = compilation_c(c, &source);

	(void)t; /* the C compiler writes the file */
	good = good && build_object(c->session, &source, o->path, &c->options->build);
	text_free(&source);
	return good;
}

static bool
emit_kind_viz(Compilation *c, const Output *o, Text *t)
{
	bool terminal = !o->path && isatty(1);
	VizOptions viz = {
		.format = strcmp(o->format, "svg") == 0	 ? VIZ_svg
			: strcmp(o->format, "html") == 0 ? VIZ_html
							 : VIZ_text,
		.unicode = terminal,
		.color = !o->path && c->options->color_output,
	};

	emit_viz(c->module, &viz, t);
	return true;
}

static bool
emit_kind_explain(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	return emit_explain(c->module, c->options->explain, t);
}

static bool
emit_kind_memory(Compilation *c, const Output *o, Text *t)
{
	emit_memory(compilation_plan(c), o->format, t);
	return true;
}

static bool
emit_kind_stats(Compilation *c, const Output *o, Text *t)
{
	(void)o;
	emit_stats(c->module, plan_peak(compilation_plan(c)), t);
	return true;
}
