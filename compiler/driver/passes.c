/*
 * passes.c - runs the passes of passes.def in order.
 *
 * After every pass, always, the module is verified: a module that is not
 * well-formed is our own bug and ends in die(), with the module printed and
 * each message under its line.
 */
#include <string.h>
#include <time.h>

#include "driver.h"
#include "shard/shard.h"

static bool
run_pad_dims(Compilation *c)
{
	return pad_dims(c->module, c->options->pad_remarks);
}

static bool
run_propagate(Compilation *c)
{
	return propagate(c->module);
}

static bool
run_partition(Compilation *c)
{
	PartitionOptions options = {
		.remarks = c->options->remarks,
		.strict = c->options->strict,
		.global_text = c->global.s,
		.global_length = c->global.n,
	};

	return partition(c->module, &options);
}

static bool
run_localize(Compilation *c)
{
	return localize(c->module);
}

static const Pass passes[] = {
#define PASS(name, before, after, sentence) {#name, run_##name, before, after, sentence},
#include "passes.def"
#undef PASS
};
enum { NPASSES = sizeof passes / sizeof *passes };

static const char *const level_names[] = {
	[L_global] = "global",
	[L_sharded] = "sharded",
	[L_resharded] = "resharded",
	[L_device] = "device",
};

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

static double
seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void
time_start(Compilation *c)
{
	c->started = seconds_now();
}

void
time_stop(Compilation *c, const char *name)
{
	double now = seconds_now();

	if (c->options->time_passes)
		text_printf(&c->timings, "%10.3f ms  %s\n", (now - c->started) * 1e3, name);
	c->started = now;
}

static void
print_module(Compilation *c, const char *after)
{
	Text t = {0};

	module_print(c->module, &t);
	fprintf(c->session->err, "// ----- after %s\n", after);
	fwrite(t.s, 1, t.n, c->session->err);
	text_free(&t);
}

static bool
run_pass(Compilation *c, const Pass *pass)
{
	const char *wanted = c->options->print_after;

	time_start(c);
	module_free_names(c->module);
	pass->run(c);
	time_stop(c, pass->name);
	if (diag_errors(c->session))
		return false;
	c->module->last_pass = pass->name;
	if (!module_verify(c->module, c->session->err))
		die("the module is not well-formed after %s", pass->name);
	time_stop(c, "  verify");
	if (c->module->level != pass->after)
		die("%s left the module at the wrong level", pass->name);
	if (wanted && (strcmp(wanted, pass->name) == 0 || strcmp(wanted, "all") == 0))
		print_module(c, pass->name);
	return true;
}

bool
passes_advance(Compilation *c, Level level)
{
	const char *stop = c->options->stop_after;

	for (int i = 0; i < NPASSES; i++) {
		bool last = stop && strcmp(stop, passes[i].name) == 0;
		bool wanted = c->module->level < level || (last && passes[i].after == level);

		if (passes[i].before == c->module->level && wanted && !run_pass(c, &passes[i]))
			return false;
		if (last)
			break;
	}
	return true;
}
