/*
 * usage.c - what is wrong with a command line.
 */
#include <stdarg.h>

#include "driver.h"
#include "import/import.h"

bool
usage(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag(s, DIAG_usage, nowhere, "%s", arena_vprintf(s->arena, fmt, ap));
	va_end(ap);
	return false;
}

bool
unknown_word(Session *s, const char *what, const char *word, const char *const *words, int n)
{
	const char *nearest = rt_nearest_word(word, words, n);
	Text known = {0};

	usage(s, "unknown %s '%s'", what, word);
	if (nearest)
		diag_line(s, "did you mean '%s'?", nearest);
	for (int i = 0; i < n; i++)
		text_printf(&known, "%s%s", i ? " " : "", words[i]);
	diag_line(s, "known: %s", known.s);
	text_free(&known);
	return false;
}

/* What a JAX program has none of. */
static const char *
asked_of_ours(Session *s, const Options *o)
{
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->level == L_source)
			return arena_printf(s->arena, "--emit=%s", o->outputs[i].kind->name);
	return o->front.entry ? "--entry" : o->front.ndims ? "-D" : NULL;
}

bool
program_suits(Session *s, int file, const Options *o)
{
	bool jax = import_knows(source_file(s, file));
	const char *theirs = o->nplaces ? "--place" : o->xla ? "--xla" : NULL;
	const char *what = jax ? asked_of_ours(s, o) : theirs;

	if (what && jax)
		usage(s, "%s is for a .shd program; %s is what JAX has lowered", what,
			o->input);
	else if (what)
		usage(s, "%s is for what JAX has lowered, not for %s", what, o->input);
	return !what;
}
