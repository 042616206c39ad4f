/*
 * imports.c - the declarations of a file and of all it imports, in order.
 *
 * Each file is read once, whatever paths lead to it; an import's items stand
 * where the import stands.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "elaborate.h"

typedef struct Loader {
	Session *session;
	Table *files; /* canonical path -> Opened */
	List items;
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

static bool load(Loader *loader, int file);

static bool
import(Loader *loader, const Decl *d)
{
	enum { MAX_IMPORT_DEPTH = 64 };
	const char *path = d->name.s; /* from the directory of the importing file */
	const char *from = source_file(loader->session, d->name.range.file)->path;
	const char *slash = strrchr(from, '/');
	if (path[0] != '/' && slash != NULL)
		path = arena_printf(loader->session->arena, "%.*s/%s", (int)(slash - from),
			from, path);
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
load_items(Session *s, int file, List *items)
{
	Loader l = {.session = s, .files = table_new(s->arena)};
	Opened *self = NEW(s->arena, Opened);
	self->active = true;
	table_set(l.files, canonical_path(&l, source_file(s, file)->path), self);
	bool right = load(&l, file);
	*items = l.items;
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
front_names(Session *s, int file, FrontNames *names)
{
	List items;

	*names = (FrontNames){.module = module_name(s, file)};
	if (!load_items(s, file, &items))
		return false;
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		for (int k = 0; d->kind == DECL_mesh && k < d->axes.n; k++)
			APPEND(s->arena, names->names, names->n,
				((const Decl *)d->axes.v[k])->name.s);
	}
	names->naxes = names->n;
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		if (d->kind == DECL_dim)
			APPEND(s->arena, names->names, names->n, d->name.s);
	}
	return true;
}
