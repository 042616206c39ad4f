/*
 * imports.c - the declarations of a file and of all it imports, in order.
 *
 * Each file is read once, whatever paths lead to it; an import's items stand
 * where the import stands.  It is looked for beside the file that imports it,
 * then in the library, then in the directories of -I.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elaborate.h"
#include "front/config.h"

typedef struct Loader {
	Session *session;
	const FrontOptions *options;
	Table *files; /* canonical path -> Opened */
	List items;
	unsigned lost; /* Lost */
	int depth;
} Loader;

typedef struct Opened {
	bool active;  /* its imports are being read */
	Range import; /* where it was first imported */
} Opened;

static const char *
canonical_path(Loader *loader, const char *path)
{
	char *real = realpath(path, NULL);
	if (real == NULL)
		return path;
	const char *copy = arena_strndup(loader->session->arena, real, strlen(real));
	free(real);
	return copy;
}

/* share/shdc/ of what is installed, else samples/library/ of the sources. */
static const char *
library_directory(Session *s)
{
	const char *installed =
		arena_printf(s->arena, "%s/../" SHDC_DATADIR "/shdc", own_directory(s->arena));
	return access(installed, R_OK) == 0 ? installed : SHDC_LIBRARY;
}

/* DIR/NAME if there is such a file, else NULL. */
static const char *
file_in(Session *s, const char *directory, const char *name)
{
	const char *path = arena_printf(s->arena, "%s/%s", directory, name);
	return access(path, F_OK) == 0 ? path : NULL;
}

/* Where it is; if nowhere, where it would be beside the file that imports it. */
static const char *
find_import(const Loader *loader, const Decl *d)
{
	Session *s = loader->session;
	const FrontOptions *o = loader->options;
	const char *name = d->name.s, *path = NULL;
	const char *from = source_file(s, d->name.range.file)->path;
	const char *slash = name[0] == '/' ? NULL : strrchr(from, '/');
	const char *beside = slash
		? arena_printf(s->arena, "%.*s/%s", (int)(slash - from), from, name)
		: name;
	if (name[0] == '/' || access(beside, F_OK) == 0)
		return beside;
	path = file_in(s, library_directory(s), name);
	for (int i = 0; i < o->nimports && path == NULL; i++)
		path = file_in(s, o->imports[i], name);
	return path != NULL ? path : beside;
}

static bool load(Loader *loader, int file);

static bool
import(Loader *loader, const Decl *d)
{
	enum { MAX_IMPORT_DEPTH = 64 };
	const char *path = find_import(loader, d);
	const char *real = canonical_path(loader, path);
	Opened *o = table_get(loader->files, real);
	if (o != NULL && o->active) {
		diag(loader->session, DIAG_import_cycle, d->name.range,
			"'%s' imports itself, directly or through others", d->name.s);
		if (o->import.file != 0)
			diag_note(loader->session, o->import, "it was imported here");
		return false;
	}
	if (o != NULL)
		return true;
	if (table_count(loader->files) >= MAX_IMPORTS || loader->depth >= MAX_IMPORT_DEPTH) {
		diag(loader->session, DIAG_nesting, d->name.range,
			"imports are nested more than %d deep, or there are more than %d files",
			MAX_IMPORT_DEPTH, MAX_IMPORTS);
		return false;
	}
	int file = source_open(loader->session, path, d->name.range);
	if (file == 0 && d->name.s[0] != '/')
		diag_line(loader->session,
			"it is looked for beside this file, then in the library (%s), then in "
			"the directories of -I",
			library_directory(loader->session));
	if (file == 0)
		return false;
	o = NEW(loader->session->arena, Opened);
	o->active = true;
	o->import = d->name.range;
	table_set(loader->files, real, o);
	bool right = load(loader, file);
	o->active = false;
	return right;
}

static bool
load(Loader *loader, int file)
{
	const Program *p = parse_file(loader->session, file, DIAG_syntax);
	if (!p->whole)
		return false;
	bool right = true;
	loader->lost |= p->lost;
	loader->depth++;
	for (int i = 0; i < p->items.n; i++) {
		Decl *d = p->items.v[i];
		if (d->kind == DECL_import)
			right &= import(loader, d);
		else
			APPEND(loader->session->arena, loader->items.v, loader->items.n, d);
	}
	loader->depth--;
	return right;
}

bool
load_items(Session *s, int file, const FrontOptions *options, List *items, unsigned *lost)
{
	Loader l = {.session = s, .options = options, .files = table_new(s->arena)};
	Opened *self = NEW(s->arena, Opened);
	self->active = true;
	table_set(l.files, canonical_path(&l, source_file(s, file)->path), self);
	bool right = load(&l, file);
	*items = l.items;
	*lost = l.lost;
	return right;
}

const char *
module_name(Session *s, int file)
{
	const char *path = source_file(s, file)->path;
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t n = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
	char *name = arena_strndup(s->arena, base, n);
	for (char *c = name; *c != '\0'; c++)
		if (!is_identifier((char[]){'_', *c, '\0'}))
			*c = '_';
	return is_identifier(name) ? name : arena_printf(s->arena, "m%s", name);
}

bool
front_names(Session *s, int file, const FrontOptions *options, FrontNames *names)
{
	List items;
	unsigned lost;

	*names = (FrontNames){.module = module_name(s, file)};
	if (!load_items(s, file, options, &items, &lost)
		|| (lost & (LOST_axes | LOST_names)) != 0)
		return false;
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		for (int k = 0; d->kind == DECL_mesh && k < d->axes.n; k++)
			APPEND(s->arena, names->names, names->n,
				((const Decl *)d->axes.v[k])->name.s);
		if (d->kind == DECL_mesh && d->layout.n > 0)
			names->layout = layout_range(d->layout);
	}
	names->naxes = names->n;
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		if (d->kind == DECL_dim)
			APPEND(s->arena, names->names, names->n, d->name.s);
	}
	return true;
}
