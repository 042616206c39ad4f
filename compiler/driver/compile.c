/*
 * compile.c - from a program to what was asked for.
 *
 * The module is brought from level to level; each output is printed when its
 * level is reached, and all are written at the end, in the order they were
 * asked for: nothing is written when something is wrong.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "import/import.h"
#include "hlo/hlo.h"
#include "driver.h"
#include "eval/eval.h"
#include "eval/interpret.h"
#include "host_memory.h"
#include "memory/plan.h"
#include "sched/sched.h"
#include "sweep.h"

/* What it is started for takes until it is stopped, under a name: --time-passes. */
static void
time_start(void *compilation)
{
	((Compilation *)compilation)->started = seconds_now();
}

static void
time_stop(void *compilation, const char *name)
{
	Compilation *c = compilation;
	double before = c->started;

	c->started = seconds_now();
	if (c->options->time_passes)
		text_printf(&c->timings, "%10.3f ms  %s\n", (c->started - before) * 1e3, name);
}

const Plan *
compilation_plan(Compilation *c)
{
	if (!c->plan) {
		time_start(c);
		c->plan = plan_build(c->module);
		time_stop(c, "plan");
	}
	return c->plan;
}

const Timeline *
compilation_any_timeline(Compilation *c)
{
	if (!c->timeline) {
		time_start(c);
		c->timeline = timeline_build(c->module, c->session->arena);
		time_stop(c, "timeline");
	}
	return c->timeline;
}

const Timeline *
compilation_timeline(Compilation *c)
{
	const Timeline *timeline = compilation_any_timeline(c);

	if (timeline_is_endless(timeline) && !c->endless_told)
		diag(c->session, DIAG_too_long, nowhere, TOO_LONG);
	c->endless_told = true;
	return timeline;
}

/* By --check. */
static const Text *
compared_with(const Compilation *c)
{
	return c->reference.n ? &c->reference : &c->global;
}

/* What holds of its manual functions, --check sees before it runs. */
static const Text *
vouched(const Compilation *c)
{
	static const Text none;

	return c->vouches ? &c->global : &none;
}

static bool
has_vouches(const Module *m)
{
	const Op *op = m->entry->first;

	while (op && op->kind != O_uniform)
		op = op_following(op, m->entry);
	return op;
}

/* One after the other: what uniform() vouches for, and the comparison. */
static int64_t
bytes_to_check(Module *m, bool vouches)
{
	int64_t looks = vouches ? eval_footprint(m, false) : 0;
	int64_t compares = eval_footprint(m->reference ? m->reference : m, true);

	return looks > compares ? looks : compares;
}

bool
compilation_c(Compilation *c, Text *t)
{
	const Plan *plan = compilation_plan(c);
	EmitOptions options = {
		.debug = c->options->build.debug,
		.hlo = compared_with(c)->s,
		.hlo_bytes = compared_with(c)->n,
		.vouched = vouched(c)->s,
		.vouched_bytes = vouched(c)->n,
		.check_bytes = c->check_bytes,
		.externs = &c->externs,
	};

	if (!check_memory(plan))
		return false;
	time_start(c);
	emit_c(plan, &options, t);
	time_stop(c, "emit c");
	return true;
}

/* ---- the module ------------------------------------------------------ */

/* At L_global the passes behind pad_dims take it for done; later levels promise it. */
static bool
can_start(Compilation *c, const Pass *start)
{
	Module *m = c->module;
	const char *input = c->options->input, *name = m->last_pass;

	if (start->before != m->level)
		return usage(c->session, "'%s' does not start where %s stopped (after '%s')",
			start->name, input, *name ? name : "elaboration");
	if (m->level != L_global || start == pass_by_name("pad_dims"))
		return true;
	const Value *uneven = uneven_value(m);
	return !uneven
		|| usage(c->session,
			"'%s' comes after 'pad_dims', which has something to do in %s: an axis "
			"does not divide a dim of '%s'",
			start->name, input, uneven->name);
}

/* A dump of ours has behind it the source and what is given to that, some passes,
   and the outputs before its level.  Its last pass is text, which may have been
   edited. */
static bool
read_dump(Compilation *c)
{
	Session *s = c->session;
	const Options *o = c->options;
	const Pass *start = o->start_at ? pass_by_name(o->start_at) : NULL;
	const Pass *stop = o->stop_after ? pass_by_name(o->stop_after) : NULL;
	Range top = {.file = c->file, .line = 1, .end = 1};

	if (o->source_option)
		return usage(s,
			"%s is for a .shd program; %s has its sizes, mesh and entry already",
			o->source_option, o->input);
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->level == L_source)
			return usage(s, "%s is past '%s' already", o->input,
				o->outputs[i].kind->name);
	time_start(c);
	c->module = module_read(s, c->file);
	time_stop(c, "read");
	if (!c->module)
		return false;

	const char *name = c->module->last_pass;
	const Pass *last = pass_by_name(name);
	if (*name && (!last || last->after != c->module->level)) {
		diag(s, DIAG_hlo_invalid, top,
			last ? "this is not what the pass '%s' leaves"
			     : "there is no pass '%s'; --list-passes shows them",
			name);
		return false;
	}
	if (start && !can_start(c, start))
		return false;
	if (stop && last && stop < last)
		return usage(s, "%s is past the pass '%s' already (after '%s')", o->input,
			stop->name, last->name);
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->level < (int)c->module->level)
			return usage(s, "%s is past '%s' already (after the pass '%s')",
				o->input, o->outputs[i].kind->name, name);
	if (o->keep_inputs && c->module->level >= L_fused && !c->module->keep_inputs)
		return usage(s, "--keep-inputs: %s is past 'fuse', which copies what is kept",
			o->input);
	bool ordered = c->module->level == L_scheduled && o->overlap >= 0;
	if (ordered && (Overlap)o->overlap != c->module->overlap)
		return usage(s, "--overlap=%s: %s is past 'overlap' already, with --overlap=%s",
			overlaps[o->overlap].name, o->input, overlaps[c->module->overlap].name);
	return c->module->level < L_fused || fused_check(c->module, top);
}

/* ---- outputs --------------------------------------------------------- */

/* What is printed at this level. */
static bool
emit_level(Compilation *c, int level)
{
	const Options *o = c->options;

	for (int i = 0; i < o->noutputs; i++) {
		const Output *out = &o->outputs[i];
		bool swept = o->nsweeps && out->kind == kind_by_name("cost"); /* it is there */

		if (!swept && level >= out->kind->level && level <= out->kind->last
			&& !out->kind->emit(c, out, &c->texts[i]))
			return false;
	}
	return true;
}

/* ---- actions --------------------------------------------------------- */

/* The level that the options ask for. */
static int
wanted_level(const Options *o)
{
	int level = L_source;

	if (o->stop_after)
		return pass_by_name(o->stop_after)->after;
	if (o->action != ACT_emit)
		return L_scheduled;
	if (o->remarks & REMARK_pad)
		level = L_sharded;
	if (o->remarks & REMARK_reshard || o->strict)
		level = L_resharded;
	if (o->remarks & REMARK_schedule)
		level = L_scheduled;
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->last > level)
			level = o->outputs[i].kind->last;
	return level;
}

static bool
emits(const Options *o, const char *kind)
{
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind == kind_by_name(kind))
			return true;
	return false;
}

/* Reports need no reference to check against, nor a program to try
   annotations on. */
static bool
needs_whole_program(const Options *o)
{
	bool needs = o->remarks & REMARK_reshard || o->strict
		|| (o->action != ACT_emit && o->action != ACT_check);

	return needs || emits(o, "c") || emits(o, "obj") || (emits(o, "explain") && !o->explain)
		|| emits(o, "report");
}

/* Stats tell of the program without its schedule, and so does one that may be read again. */
static bool
tells_planned(const Options *o)
{
	return emits(o, "stats") || emits(o, "schedule") || emits(o, "fused") || o->print_after
		|| o->stop_after;
}

/* From its source to L_global. */
static bool
read_program(Compilation *c)
{
	Session *s = c->session;

	if (c->options->start_at)
		return usage(s, "--start-at is for a .hlo input");
	time_start(c);
	c->is_source = !import_knows(source_file(s, c->file));
	c->module = program_compile(s, c->file, c->options);
	bool accepted = c->module && pipeline_accept(c->module);
	time_stop(c, "front");
	if (!accepted)
		return false;
	const Module *reference = c->module->reference;
	if (!module_verify(c->module, s->err)
		|| (reference && !module_verify(c->module->reference, s->err)))
		die("the module is not well-formed after elaboration");
	return true;
}

/* A dump is known by its name, or by how it begins. */
static bool
is_dump(const SourceFile *f)
{
	const char *ending = strrchr(f->path, '.');

	return (ending && ending > f->path && strcmp(ending, ".hlo") == 0)
		|| strncmp(f->text, "HloModule", 9) == 0;
}

/* What --check compares with, and what is tried otherwise: as it is before any pass. */
static void
keep_whole_program(Compilation *c)
{
	Module *m = c->module;

	module_print(m, &c->global);
	c->vouches = has_vouches(m);
	c->check_bytes = bytes_to_check(m, c->vouches);
	if (m->reference)
		module_print(m->reference, &c->reference);
	if (m->level == L_global)
		c->annotations = annotations_find(m);
}

/* To the level that the options ask for. */
static bool
advance(Compilation *c)
{
	Session *s = c->session;
	const Options *o = c->options;
	PipelineOptions pipeline = {
		.pad_remarks = o->remarks & REMARK_pad,
		.schedule_remarks = o->remarks & REMARK_schedule,
		.count_planned = tells_planned(o),
		.count_least = tells_planned(o) || emits(o, "cost") || emits(o, "report"),
		.print_after = o->print_after,
		.stop_after = o->stop_after,
		.start_at = o->start_at,
		.start = time_start,
		.stop = time_stop,
		.data = c,
	};
	int wanted = wanted_level(o);
	Progress progress = progress_begin("proposal");
	RemarkOptions remarks = {
		.remarks = o->remarks & REMARK_reshard,
		.strict = o->strict,
		.progress = {progress_show, &progress},
	};
	bool dump = is_dump(source_file(s, c->file));

	if (dump && !read_dump(c))
		return false;
	if (!dump) {
		if (!emit_level(c, L_source))
			return false;
		if (wanted == L_source)
			return true;
		if (!read_program(c))
			return false;
	}
	program_ask(c->module, o);
	c->externs = module_externs(c->module);
	if (c->module->level < L_device && wanted >= L_resharded && needs_whole_program(o))
		keep_whole_program(c);
	remarks.global_text = c->global.s;
	remarks.global_length = c->global.n;
	remarks.annotations = c->annotations;
	for (int level = c->module->level; level <= wanted; level++) {
		if (!pipeline_run(c->module, (Level)level, &pipeline))
			return false;
		if (c->module->level == L_resharded && (remarks.remarks || o->strict))
			tell_transfers(c->module, &remarks);
		if (c->module->level == L_scheduled && o->remarks & REMARK_schedule)
			tell_schedule(compilation_any_timeline(c));
		if (c->module->level == L_device && emits(o, "memory"))
			module_print(c->module, &c->unfused);
		if (diag_errors(s) || !emit_level(c, level))
			return false;
	}
	return !diag_errors(s);
}

static bool
build(Compilation *c, const char *output)
{
	Text source = {0};
	bool good = externs_find(c) && compilation_c(c, &source);

	time_start(c);
	good = good
		&& build_program(c->session, &source, output, &c->options->build, &c->externs);
	time_stop(c, "cc");
	text_free(&source);
	return good;
}

/* Did a program that we started have as much as half of what there is now? */
static bool
children_filled_memory(void)
{
	struct rusage use;
	const char *of;

	return getrusage(RUSAGE_CHILDREN, &use) == 0
		&& (uint64_t)use.ru_maxrss * 1024 >= rt_memory_available(&of) / 2;
}

/* --run: its own directory, gone afterwards; its status is ours. */
static int
build_and_run(Compilation *c)
{
	Session *s = c->session;
	const Options *o = c->options;
	const char *directory = directory_private(s);
	const char **argv;
	int status;

	if (!directory)
		return EXIT_IO;
	argv = NEW_ARRAY(s->arena, const char *, o->narguments + 2);
	argv[0] = arena_printf(s->arena, "%s/%s", directory, "program");
	for (int i = 0; i < o->narguments; i++)
		argv[i + 1] = o->arguments[i];
	if (!build(c, argv[0]))
		return diag_status(s);
	diag_flush(s);
	if (!process_run(s, argv, NULL, &status))
		return diag_status(s);
	if (status < 128)
		return status;
	if (status == 128 + SIGPIPE)
		pipe_broken();
	bool short_of_memory = status == 128 + SIGKILL && children_filled_memory();
	diag(s, DIAG_tool_failed, nowhere, "the program was killed by signal %d (%s)",
		status - 128, strsignal(status - 128));
	if (short_of_memory)
		diag_line(s,
			"this machine most likely ran out of memory: smaller sizes or a "
			"smaller mesh need less (-D, --mesh)");
	return short_of_memory ? EXIT_MEMORY : EXIT_INTERNAL;
}

/* What follows once the module has its level; the exit status. */
static int
act(Compilation *c)
{
	const Options *o = c->options;
	Session *s = c->session;
	bool good = true;

	if (o->stop_after && o->noutputs == 0) {
		bool to_file = o->output && strcmp(o->output, "-") != 0;
		Text t = {0};

		module_print(c->module, &t);
		good = to_file ? file_write(s, o->output, t.s, t.n) : write_standard(s, &t);
		text_free(&t);
		return good ? EXIT_OK : diag_status(s);
	}
	switch (o->action) {
	case ACT_emit:
		good = outputs_write(s, o, c->texts);
		break;
	case ACT_check:
		good = check_memory(compilation_plan(c));
		break;
	case ACT_build:
		good = build(c, o->output);
		break;
	case ACT_run:
		return build_and_run(c);
	case ACT_interpret:
		pipes_restore();
		if (externs_find(c))
			return interpret(c->module, compilation_plan(c),
				&(Unsharded){compared_with(c), vouched(c), c->check_bytes},
				&c->externs, o->narguments, o->arguments);
		good = false;
		break;
	case ACT_answer:
		die("an action without an actor");
	}
	return good ? EXIT_OK : diag_status(s);
}

static bool
executable_is_named(Session *s, const Options *o)
{
	return o->action != ACT_build || o->stop_after || o->output
		|| usage(s, "what to call the executable of '%s'? -o NAME says it", o->input);
}

/* Done if a row could be.  A report has the program as it stands, too. */
static int
compile_sweep(Compilation *c)
{
	bool good;

	if (!sweep(c, &good) || (emits(c->options, "report") && !advance(c))
		|| !outputs_write(c->session, c->options, c->texts))
		return diag_status(c->session);
	return good ? EXIT_OK : EXIT_WRONG;
}

int
compile(Session *s, const Options *o)
{
	Compilation c = {.session = s, .options = o};
	int status;

	if (o->action == ACT_answer)
		return write_standard(s, &o->answer) ? EXIT_OK : EXIT_IO;
	c.texts = NEW_ARRAY(s->arena, Text, o->noutputs + 1);
	c.file = source_open(s, o->input, nowhere);
	if (c.file && (!program_suits(s, c.file, o) || !executable_is_named(s, o)))
		status = EXIT_USAGE;
	else if (c.file && o->nsweeps && !is_dump(source_file(s, c.file)))
		status = compile_sweep(&c);
	else
		status = c.file && advance(&c) ? act(&c) : diag_status(s);
	for (int i = 0; i < o->noutputs; i++)
		text_free(&c.texts[i]);
	diag_flush(s);
	if (c.timings.n)
		fwrite(c.timings.s, 1, c.timings.n, s->err);
	text_free(&c.timings);
	text_free(&c.global);
	text_free(&c.reference);
	text_free(&c.unfused);
	text_free(&c.remarks);
	text_free(&c.swept);
	text_free(&c.explanation.values);
	text_free(&c.explanation.moves);
	text_free(&c.explanation.repeated);
	text_free(&c.explanation.choices);
	return status;
}
