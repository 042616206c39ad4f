/*
 * program.c - a file to a module on whole tensors: a program in our language, or what JAX
 * has lowered one to.
 *
 * The mesh of a JAX program is written down as our language has it, and read as that is:
 * with its target, sizes and layout from the command line.
 */
#include <string.h>

#include "import/import.h"
#include "driver.h"

/* ---- the mesh of a JAX program */

typedef struct Given {
	Session *session;
	const Options *options;
	const char *path;
	FrontNames *names; /* only these are asked for */
} Given;

static bool
give_mesh(void *data, Module *m, int n, const MeshAxis *axes, Range where)
{
	const Given *given = data;
	Session *s = given->session;
	Text t = {0};

	(void)where;
	const char *name = "x"; /* longer than an axis that is called so */
	for (int i = 0; i < n; i++)
		while (!strncmp(name, axes[i].name, strlen(name)))
			name = arena_printf(s->arena, "%sx", name);
	text_add(&t, n ? "mesh [" : "mesh [device=1");
	for (int i = 0; i < n; i++)
		text_printf(&t, "%s%s=%lld", i ? ", " : "", axes[i].name,
			(long long)axes[i].size);
	text_printf(&t, "];\nfn main(%s: f32) -> f32 { return %s; }\n", name, name);
	const char *text = text_take(&t, s->arena);
	const char *path = arena_printf(s->arena, "<mesh of %s>", given->path);
	int file = source_add_text(s, path, text, (int)strlen(text));
	Module *stand_in = front_compile(s, file, &given->options->front);
	if (!stand_in)
		return false;
	m->mesh = stand_in->mesh;
	m->tokens = stand_in->tokens;
	return true;
}

/* Nothing is read further. */
static bool
note_names(void *data, Module *m, int n, const MeshAxis *axes, Range where)
{
	const Given *given = data;
	FrontNames *names = given->names;

	(void)where;
	names->module = m->name;
	for (int i = 0; i < n; i++)
		APPEND(given->session->arena, names->names, names->n, axes[i].name);
	names->naxes = names->n;
	return false;
}

/* ---- of either */

Module *
program_compile(Session *s, int file, const Options *o)
{
	const FrontOptions *front = &o->front;
	const SourceFile *f = source_file(s, file);
	Given given = {s, o, f->path, NULL};
	ImportOptions import = {.mesh = give_mesh,
		.data = &given,
		.places = o->places,
		.nplaces = o->nplaces,
		.explain = o->explain};
	const char **sized = NEW_ARRAY(s->arena, const char *, front->naxes + 1);

	for (int i = 0; i < front->naxes; i++)
		sized[import.nsized++] = front->axes[i].name;
	import.sized = sized;
	if (import_knows(f))
		return import_program(s, file, &import);
	return front_compile(s, file, front);
}

void
program_ask(Module *m, const Options *o)
{
	m->keep_inputs |= o->keep_inputs;
	if (o->overlap >= 0)
		m->overlap = (Overlap)o->overlap;
}

bool
program_names(Session *s, int file, const Options *o, FrontNames *names)
{
	const SourceFile *f = source_file(s, file);
	Given given = {s, o, f->path, names};

	if (!import_knows(f))
		return front_names(s, file, &o->front, names);
	*names = (FrontNames){0};
	import_program(s, file,
		&(ImportOptions){.mesh = note_names, .data = &given, .all_axes = true});
	return !diag_errors(s);
}
