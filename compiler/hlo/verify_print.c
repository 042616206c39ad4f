/*
 * verify_print.c - a module that is not well-formed, each failure under its line.
 */
#include "hlo/hlo.h"

enum { SHOWN_FAILURES = 50 };

typedef struct Failures {
	int n;
	const void *line[SHOWN_FAILURES];
	const char *message[SHOWN_FAILURES];
} Failures;

static void
keep_failure(const void *line, const char *message, void *data)
{
	Failures *f = data;

	if (f->n < SHOWN_FAILURES) {
		f->line[f->n] = line;
		f->message[f->n] = message;
	}
	f->n++;
}

static void
print_failures(const void *line, Text *t, void *data)
{
	const Failures *f = data;

	for (int i = 0; i < f->n && i < SHOWN_FAILURES; i++)
		if (f->line[i] == line)
			text_printf(t, "  // ^ %s\n", f->message[i]);
}

bool
module_verify(Module *m, FILE *out)
{
	Failures failures = {0};
	Text t = {0};

	module_check(m, keep_failure, &failures);
	if (!failures.n)
		return true;
	module_print_noted(m, &t, print_failures, &failures);
	text_printf(&t, "// %d failures after '%s'\n", failures.n, m->last_pass);
	fputs(t.s, out);
	text_free(&t);
	return false;
}
