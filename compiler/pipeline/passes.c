/*
 * passes.c - runs the passes of passes.def in order.
 */
#include <string.h>

#include "grad/grad.h"
#include "hlo/hlo.h"
#include "pipeline/pipeline.h"
#include "sched/sched.h"

#define PASS(name, arguments, ...) \
	static bool run_##name(Module *m, const PipelineOptions *o) \
	{ \
		(void)o; \
		return name arguments; \
	}
#include "passes.def"
#undef PASS

static const Pass passes[] = {
#define PASS(name, arguments, before, after, sentence) \
	{#name, run_##name, before, after, sentence},
#include "passes.def"
#undef PASS
};
enum { NPASSES = sizeof passes / sizeof *passes };

const Pass *
pass_by_name(const char *name)
{
	for (int i = 0; i < NPASSES; i++)
		if (strcmp(passes[i].name, name) == 0)
			return &passes[i];
	return NULL;
}

const char *const *
pass_names(int *n)
{
	static const char *names[NPASSES];

	for (int i = 0; i < NPASSES; i++)
		names[i] = passes[i].name;
	*n = NPASSES;
	return names;
}

void
list_passes(Text *t)
{
	for (int i = 0; i < NPASSES; i++)
		text_printf(t, "%-10s %-9s -> %-9s  %s\n", passes[i].name,
			level_names[passes[i].before], level_names[passes[i].after],
			passes[i].sentence);
}

static void
time_stop(const PipelineOptions *o, const char *name)
{
	if (o->stop)
		o->stop(o->data, name);
}

bool
pipeline_accept(Module *m)
{
	check_varying(m, m->entry);
	for (int i = 0; i < m->nuncalled; i++)
		check_varying(m, m->uncalled[i]);
	m->nuncalled = 0;
	if (diag_errors(m->session))
		return false;
	if (!module_differentiate(m))
		return false;
	if (m->reference && !module_differentiate(m->reference)) {
		diag_note(m->session, nowhere,
			"--check takes the gradient of what a function is `same as`; that may "
			"say one, too: same as g, fn g(..) gradient ..");
		return false;
	}
	module_remove_dead(m);
	if (m->reference)
		module_remove_dead(m->reference);
	return true;
}

/* As --print-after asks. */
static void
print_after(const Pass *pass, Module *m, const PipelineOptions *o)
{
	const char *wanted = o->print_after;
	Text t = {0};

	if (!wanted || (strcmp(wanted, pass->name) != 0 && strcmp(wanted, "all") != 0))
		return;
	module_print(m, &t);
	fprintf(m->session->err, "// ----- after %s\n%s", pass->name, t.s);
	text_free(&t);
}

bool
pipeline_run(Module *m, Level level, const PipelineOptions *o)
{
	Session *s = m->session;
	const Pass *start = o->start_at ? pass_by_name(o->start_at) : passes;
	const Pass *stop = o->stop_after ? pass_by_name(o->stop_after) : NULL;
	const Pass *last = stop ? stop : &passes[NPASSES - 1];
	bool stays = stop && stop->after == level; /* a pass may leave the level as it is */
	bool verified = o->verified;

	for (const Pass *pass = start; pass <= last; pass++) {
		if (pass->before != m->level || (m->level >= level && !stays))
			continue;
		if (o->start)
			o->start(o->data);
		module_free_names(m);
		m->ledger = NULL;
		verified &= !pass->run(m, o) || o->verified;
		time_stop(o, pass->name);
		if (diag_errors(s))
			return false;
		m->last_pass = pass->name;
		if (!verified && !module_verify(m, s->err))
			die("the module is not well-formed after %s", pass->name);
		if (!verified)
			time_stop(o, "  verify");
		verified = true;
		if (m->level != pass->after)
			die("%s left the module at the wrong level", pass->name);
		print_after(pass, m, o);
	}
	return true;
}
