/*
 * externs.c - the libraries of extern functions: where they are, and whether
 * they have what the program declares.
 *
 * "lib/f.so" is looked for as f.so in the directories of -L, then from where
 * the file is that declares it; "f.so" also where the system looks.
 */
#define _GNU_SOURCE /* dlinfo() */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

/* DIR/NAME if there is such a file, as an absolute path; else NULL. */
static const char *
file_in(Session *s, const char *directory, int length, const char *name)
{
	const char *path =
		arena_printf(s->arena, "%.*s%s%s", length, directory, length ? "/" : "", name);
	char *real = access(path, F_OK) == 0 ? realpath(path, NULL) : NULL;

	path = real ? arena_strndup(s->arena, real, strlen(real)) : NULL;
	free(real);
	return path;
}

static const char *
find_file(const Compilation *c, const External *x)
{
	Session *s = c->session;
	const BuildOptions *o = &c->options->build;
	const char *last = strrchr(x->library, '/'), *path = NULL;
	const char *source = source_path(s, x->declared.file);
	const char *slash = x->library[0] == '/' ? NULL : strrchr(source, '/');

	for (int i = 0; i < o->ndirectories && !path; i++)
		path = file_in(s, o->directories[i], (int)strlen(o->directories[i]),
			last ? last + 1 : x->library);
	return path ? path : file_in(s, source, slash ? (int)(slash - source) : 0, x->library);
}

static void
complain_missing(const Compilation *c, const External *x, const char *why)
{
	diag(c->session, DIAG_extern_library, x->declared,
		"the library of extern function '%s' cannot be loaded: %s", x->name, why);
	diag_line(c->session,
		"it is looked for in the directories of -L, then from where this file is%s",
		strchr(x->library, '/') ? "" : ", then where the system looks");
}

/* The path of what was loaded, NULL after a diagnostic. */
static const char *
try_library(Compilation *c, const External *x)
{
	Session *s = c->session;
	struct link_map *map;

	if (!*x->library) {
		diag(s, DIAG_jax_run, x->declared, "shdc does not know what %s computes",
			x->symbol);
		return NULL;
	}
	const char *path = find_file(c, x);

	if (!path && strchr(x->library, '/')) {
		complain_missing(c, x, arena_printf(s->arena, "there is no %s", x->library));
		return NULL;
	}
	void *library = dlopen(path ? path : x->library, RTLD_NOW | RTLD_LOCAL);
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
		complain_missing(c, x, dlerror());
		return NULL;
	}
	if (!dlsym(library, x->symbol)) {
		diag(s, DIAG_extern_library, x->declared, "%s has no function '%s'",
			path ? path : x->library, x->symbol);
		return NULL;
	}
	return path ? path : file_in(s, "", 0, map->l_name);
}

bool
externs_find(Compilation *c)
{
	Externs *all = &c->externs;
	bool good = true;

	all->paths = NEW_ARRAY(c->session->arena, const char *, all->n);
	for (int i = 0; i < all->n; i++) {
		all->paths[i] = try_library(c, all->v[i]);
		good = good && all->paths[i];
	}
	return good;
}
