/*
 * verify_print.c - a module that is not well-formed, each failure under its line.
 *
 *   %y = f32[8,16] negate(%x), sharding={mesh['X'=2], [{'X'}, {}]}, ...
 *   // ^ dim 1 of x is split over 'Y' where another tensor of the op has ''
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
	Failures *failures = data;

	if (failures->n < SHOWN_FAILURES) {
		failures->line[failures->n] = line;
		failures->message[failures->n] = message;
	}
	failures->n++;
}

static void
print_failures(const void *line, Text *t, void *data)
{
	const Failures *failures = data;

	for (int i = 0; i < failures->n && i < SHOWN_FAILURES; i++)
		if (failures->line[i] == line)
			text_printf(t, "  // ^ %s\n", failures->message[i]);
}

bool
module_verify(Module *m, FILE *out)
{
	Failures failures = {0};
	Text t = {0};

	module_check(m, keep_failure, &failures);
	if (!failures.n || !out)
		return !failures.n;
	module_print_noted(m, &t, print_failures, &failures);
	text_printf(&t, "// %d failures after '%s'\n", failures.n, m->last_pass);
	fputs(t.s, out);
	text_free(&t);
	return false;
}
