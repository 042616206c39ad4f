/*
 * externs.c - functions of the user's libraries: finding them before anything
 * runs, and whose fault it is when one of them does not return.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Where it was when the program was built; else where the system looks. */
static void *
open_library(const shdrt_extern *x)
{
	const char *slash = strrchr(x->path, '/');
	bool gone = slash && access(x->path, F_OK) != 0;
	return dlopen(gone ? slash + 1 : x->path, RTLD_NOW | RTLD_LOCAL);
}

void
rt_externs_load(const shdrt_externs *e)
{
	for (int i = 0; e && i < e->n; i++) {
		const shdrt_extern *x = &e->externs[i];
		void *library = open_library(x);
		if (!library)
			rt_fail(SHDRT_IO,
				"the library of an extern function of "
				"%s cannot be loaded: %s",
				x->file, dlerror());
		void *symbol = dlsym(library, x->symbol);
		if (!symbol)
			rt_fail(SHDRT_IO,
				"%s has no function '%s', which %s "
				"declares",
				x->path, x->symbol, x->file);
		memcpy(&e->functions[i], &symbol, sizeof symbol);
	}
}

/* The watchdog looks at what a device does from another thread. */
static void
note(shdrt_device *dev, const shdrt_extern_call *c)
{
	rt_fail_thread_call(c);
	if (dev)
		atomic_store_explicit(&dev->calls, c, memory_order_relaxed);
}

void
shdrt_extern_enter(shdrt_device *dev, const shdrt_extern_call *c)
{
	note(dev, c);
}

void
shdrt_extern_leave(shdrt_device *dev, const shdrt_extern_call *c, int status)
{
	char where[40] = "";

	note(dev, NULL);
	if (status == 0)
		return;
	if (dev)
		snprintf(where, sizeof where, " on device %lld", (long long)dev->id);
	rt_fail(SHDRT_IO, "%s:%d: extern function '%s' failed%s: it returned %d", c->file,
		c->line, c->name, where, status);
}
