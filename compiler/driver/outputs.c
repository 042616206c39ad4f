/*
 * outputs.c - what is printed where: --emit and --explain, -o, standard output.
 *
 *   --emit=viz=p.svg,hlo -o prog.hlo    two files
 *
 * An output replaces neither the program nor another output.  All are written
 * at the end, when nothing is wrong.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "driver.h"
#include "import/import.h"

static bool
has_format(Session *s, const Kind *kind, const char *format)
{
	return strstr(arena_printf(s->arena, " %s ", kind->formats),
		arena_printf(s->arena, " %s ", format));
}

/* KIND[.FORMAT][=PATH] */
static bool
add_output(Session *s, Options *o, char *item)
{
	char *path = item, *format = item;
	int n;

	strsep(&path, "=");
	if (path && !*path)
		return usage(s, "--emit=%s= needs a path", item);
	strsep(&format, ".");
	const Kind *kind = kind_by_name(item);
	const char *const *names = kind_names(&n);
	if (!kind)
		return unknown_word(s, "kind of output", item, names, n);
	if (format && !*kind->formats)
		return usage(s, "'%s' has one format, without a name", item);
	if (format && !has_format(s, kind, format))
		return usage(s, "'%s' has no format '%s'; it has: %s", item, format,
			kind->formats);
	if (path && strcmp(path, "-") == 0)
		path = NULL; /* standard output */
	Output out = {kind, format ? format : "", path};
	APPEND(s->arena, o->outputs, o->noutputs, out);
	return true;
}

bool
outputs_add(CommandLine *line, const char *items)
{
	char *rest = arena_strndup(line->session->arena, items, strlen(items)), *item;

	while ((item = strsep(&rest, ",")))
		if (!add_output(line->session, line->options, item))
			return false;
	return set_action(line, ACT_emit, "--emit");
}

bool
outputs_add_missing(CommandLine *line, const char *name)
{
	const Options *o = line->options;

	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind == kind_by_name(name))
			return true;
	return outputs_add(line, name);
}

bool
outputs_explain(CommandLine *line, const char *name)
{
	line->options->explain = name;
	return outputs_add_missing(line, "explain");
}

/* ---- where they go ------------------------------------------------------- */

/* A regular file; what does not exist yet is known by its directory and its name in
   that.  False: neither. */
static bool
find_place(Session *s, const char *path, struct stat *at, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = "";
	if (stat(path, at) == 0)
		return S_ISREG(at->st_mode);
	*name = slash ? slash + 1 : path;
	return stat(slash ? arena_strndup(s->arena, path, (size_t)(slash - path) + 1) : ".", at)
		== 0;
}

static bool
same_file(Session *s, const char *a, const char *b)
{
	struct stat of_a, of_b;
	const char *name_a, *name_b;

	return find_place(s, a, &of_a, &name_a) && find_place(s, b, &of_b, &name_b)
		&& of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino
		&& strcmp(name_a, name_b) == 0;
}

/* The executable has the input's name, without .shd or .hlo; of another it is asked for once
   it is known what the input is. */
static bool
place_executable(Session *s, Options *o)
{
	const char *slash = strrchr(o->input, '/'), *base = slash ? slash + 1 : o->input;
	size_t n = strlen(base);

	if (o->stop_after)
		return true;
	if (o->output)
		return strcmp(o->output, "-") != 0
			|| usage(s, "an executable does not go to standard output: -o NAME");
	if (n > 4 && (strcmp(base + n - 4, ".shd") == 0 || strcmp(base + n - 4, ".hlo") == 0))
		o->output = arena_strndup(s->arena, o->input, strlen(o->input) - 4);
	return true;
}

/* --emit=viz=p.svg: the path says which, where nothing else does. */
static void
format_of_path(Session *s, Output *out)
{
	const char *ending = out->path ? strrchr(out->path, '.') : NULL;

	if (ending && !*out->format && has_format(s, out->kind, ending + 1))
		out->format = ending + 1;
}

bool
outputs_place(Session *s, Options *o)
{
	bool emits = o->action == ACT_emit, report = false, others = false;

	for (int i = 0; i < o->noutputs; i++) {
		report |= o->outputs[i].kind == kind_by_name("report");
		others |= o->outputs[i].kind != kind_by_name("report")
			&& o->outputs[i].kind != kind_by_name("cost");
	}
	if (versus_wanted(o) && !report)
		return usage(s, "%s is for --emit=report=FILE.html",
			o->versus		 ? "--versus"
				: o->versus_axes ? "--versus-mesh"
						 : "--versus-on");
	if (o->nsweeps && (!emits || others))
		return usage(s,
			"--sweep goes with --emit=cost and --emit=report, and with no other "
			"output");
	if (o->sort && !o->nsweeps)
		return usage(s, "--sort is for --sweep");

	/* -o names the one output that --emit has no path for. */
	if (emits && o->output && o->noutputs != 1)
		return usage(s, "-o names one output; write --emit=KIND=PATH for several");
	if (emits && o->output && o->outputs[0].path)
		return usage(s, "-o %s and --emit=%s=%s both name the output", o->output,
			o->outputs[0].kind->name, o->outputs[0].path);
	if (emits && o->output && strcmp(o->output, "-") != 0)
		o->outputs[0].path = o->output;
	if (o->output && same_file(s, o->output, o->input))
		return usage(s, "the output would replace the program, %s", o->input);
	for (int i = 0; i < o->noutputs; i++) {
		const char *path = o->outputs[i].path, *name = o->outputs[i].kind->name;

		format_of_path(s, &o->outputs[i]);
		if (!path && o->outputs[i].kind->path != PATH_optional)
			return usage(s, "'%s' needs a path: --emit=%s=PATH", name, name);
		if (path && same_file(s, path, o->input))
			return usage(s, "the output would replace the program, %s", o->input);
		for (int k = 0; path && k < i; k++)
			if (o->outputs[k].path && same_file(s, path, o->outputs[k].path))
				return usage(s, "two outputs go to %s", path);
	}
	return o->action != ACT_build || place_executable(s, o);
}

/* ---- writing ------------------------------------------------------------- */

bool
write_standard(Session *s, const Text *t)
{
	if (t->n == 0 || (fwrite(t->s, 1, t->n, stdout) == t->n && fflush(stdout) == 0))
		return true;
	int error = errno;
	if (error == EPIPE)
		pipe_broken();
	diag(s, DIAG_unwritable, nowhere, "cannot write to standard output: %s",
		strerror(error));
	return false;
}

/* Files first: standard output is the one that cannot be taken back. */
bool
outputs_write(Session *s, const Options *o, const Text *texts)
{
	Text standard = {0};
	int nstandard = 0;
	bool good = true;

	for (int i = 0; i < o->noutputs; i++)
		nstandard += !o->outputs[i].path;
	for (int i = 0; i < o->noutputs; i++) {
		const Output *out = &o->outputs[i];
		const Text *t = &texts[i];

		if (out->path && out->kind->path != PATH_written)
			good = good && file_write(s, out->path, t->n ? t->s : "", t->n);
		if (out->path)
			continue;
		if (nstandard > 1)
			text_printf(&standard, "// ----- %s\n", out->kind->name);
		text_addn(&standard, t->n ? t->s : "", t->n);
	}
	good = good && write_standard(s, &standard);
	text_free(&standard);
	return good;
}
