/*
 * main.c - the built program as its user sees it: options in, tensors in,
 * runs, tensors out.
 *
 * Everything that can be wrong with the command line or the files is found
 * out before any memory is taken or thread started.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

/* ---- inputs ---- */

static bool
is_file_of_many(const Settings *s, const char *path)
{
	for (int i = 0; i < s->nin_files; i++)
		if (s->in_files[i] == path)
			return true;
	return false;
}

/* The parameters that the file has, but for those that are given by themselves. */
static void
open_file_of_many(Settings *s, const char *path)
{
	char why[WHY] = "the program has none";
	bool any = false;
	FileOfMany many = {.path = path, .what = "parameter"};
	for (int i = 0; i < s->program->nparams; i++) {
		const shdrt_tensor *t = &s->program->params[i];
		Source *source = &s->sources[i];
		bool file = source->kind == FROM_file;
		bool given = source->range.given || (file && !is_file_of_many(s, source->path));
		TensorFile found;
		if (!rt_tensor_file_find(&found, &many, t, !given, why))
			continue;
		any = true;
		if (given)
			continue;
		if (file)
			rt_fail(SHDRT_USAGE, "--in: '%s' is in %s and in %s", t->name,
				source->path, path);
		source->kind = FROM_file;
		source->path = path;
		source->file = found;
	}
	rt_file_of_many_close(&many);
	if (!any)
		rt_fail(SHDRT_IO, "%s: holds no parameter: %s", path, why);
}

/* A state that lacks a tensor is no state: who gives files of many learns what none has. */
static void
tell_made_up(const Settings *s)
{
	enum { MOST_NAMED = 8 };
	int n = 0;

	for (int i = 0; i < s->program->nparams; i++) {
		if (s->sources[i].kind == FROM_file || s->sources[i].range.given)
			continue;
		if (n++ < MOST_NAMED)
			fprintf(stderr, "%s%s",
				n == 1 ? "note: made up, since no --in has it: " : ", ",
				s->program->params[i].name);
	}
	if (n > MOST_NAMED)
		fprintf(stderr, " and %d more", n - MOST_NAMED);
	if (n)
		fputc('\n', stderr);
}

static void
open_sources(Settings *s)
{
	for (int i = 0; i < s->program->nparams; i++) {
		Source *source = &s->sources[i];
		const char *path = source->path;
		ValueRange range = source->range;
		*source = s->given;
		source->range = range;
		if (range.given)
			source->kind = FROM_random;
		if (path && range.given)
			rt_fail(SHDRT_USAGE, "--in and --random: both say what '%s' is",
				s->program->params[i].name);
		if (path) {
			source->kind = FROM_file;
			source->path = path;
			rt_tensor_file_open(&source->file, path, &s->program->params[i]);
		}
	}
	for (int i = 0; i < s->nin_files; i++)
		open_file_of_many(s, s->in_files[i]);
	if (s->nin_files && !s->made_by)
		tell_made_up(s);
	bool files = false;
	for (int i = 0; i < s->program->nparams; i++)
		files |= s->sources[i].kind == FROM_file;
	for (int i = 0; i < s->program->nparams && files && s->against; i++)
		if (s->sources[i].kind != FROM_file)
			rt_fail(SHDRT_IO, "--against: no --in has a '%s'",
				s->program->params[i].name);
}

static void
close_sources(Settings *s)
{
	for (int i = 0; i < s->program->nparams; i++)
		if (s->sources[i].path)
			rt_tensor_file_close(&s->sources[i].file);
}

/* ---- runs ---- */

/* One run to warm up, then N that count. */
static double
run_times(Settings *s, Machine *m, Whole *results)
{
	double *seconds = rt_get_memory((size_t)s->times, sizeof *seconds);
	rt_machine_run(m, rt_fill_device, s);
	for (int i = 0; i < s->times; i++)
		seconds[i] = rt_machine_run(m, s->keep_inputs ? NULL : rt_fill_device, s);
	rt_collect_results(s, m, results);
	double last = seconds[s->times - 1];
	rt_report_times(seconds, s->times, s->reports);
	free(seconds);
	return last;
}

/* ---- checking ---- */

static shdrt_array *
whole_params(const Settings *s)
{
	const shdrt_program *p = s->program;
	shdrt_array *in = rt_get_zeroed((size_t)p->nparams, sizeof *in);
	for (int i = 0; i < p->nparams; i++) {
		const shdrt_tensor *t = &p->params[i];
		in[i] = rt_array_of(t, rt_get_memory(1, rt_tensor_bytes(t)));
		rt_tensor_fill_whole(t, &s->sources[i], in[i].data);
	}
	return in;
}

static void
free_params(const Settings *s, shdrt_array *in)
{
	for (int i = 0; i < s->program->nparams; i++)
		free(in[i].data);
	free(in);
}

/* Does every uniform() hold of these inputs?  Before anything runs: devices that
   decide something else by a value that is vouched to be the same wait for ever. */
static bool
vouches_hold(const Settings *s)
{
	const shdrt_program *p = s->program;
	int broken = 0;
	shdrt_array *in = whole_params(s);
	shdrt_check_io io = {p->nparams, p->nresults, in, NULL, NULL, p->externs, &broken,
		rt_report_no_reference, s->reports};
	rt_watch_doing("looks at what uniform() vouches for", NULL);
	int status = p->check(p->vouched, p->vouched_bytes, &io);
	if (status != SHDRT_OK)
		rt_fail(status, "--check: what uniform() vouches for could not be looked at");
	free_params(s, in);
	return !broken;
}

static int
check_results(const Settings *s, const Whole *results)
{
	const shdrt_program *p = s->program;
	size_t nresults = (size_t)p->nresults;
	shdrt_array *in = whole_params(s);
	shdrt_array *out = rt_get_zeroed(nresults, sizeof *out);
	shdrt_verdict *verdicts = rt_get_zeroed(nresults, sizeof *verdicts);
	for (size_t i = 0; i < nresults; i++)
		out[i] = rt_array_of(&p->results[i], results[i].data);
	int broken = 0;
	shdrt_check_io io = {p->nparams, p->nresults, in, out, verdicts, p->externs, &broken,
		rt_report_no_reference, s->reports};
	int status = p->check(p->hlo, p->hlo_bytes, &io);
	if (status != SHDRT_OK)
		rt_fail(status,
			"--check: the unsharded program could not be "
			"executed");
	for (size_t i = 0; i < nresults; i++) {
		rt_report_verdict(&p->results[i], &verdicts[i], s->reports);
		if (results[i].disagree)
			rt_report_disagreement(&p->results[i], results[i].pair, s->reports);
		if (verdicts[i].mismatches || results[i].disagree)
			status = SHDRT_WRONG;
	}
	if (broken)
		status = SHDRT_WRONG;
	free_params(s, in);
	free(out);
	free(verdicts);
	return status;
}

static void
deliver(const Settings *s, const Whole *results)
{
	int n = s->program->nresults;
	shdrt_array *arrays = rt_get_memory((size_t)n, sizeof *arrays);
	for (int i = 0; i < n; i++)
		arrays[i] = rt_array_of(&s->program->results[i], results[i].data);
	if (s->writes)
		rt_outputs_write(s, arrays);
	for (int i = 0; i < n && !s->writes && !s->times && !s->against; i++)
		rt_report_result(&s->program->results[i], results[i].data, s->reports);
	free(arrays);
}

static bool
differs(const Settings *s, Against *against, const Whole *results)
{
	int n = s->program->nresults;
	const void **got = rt_get_memory((size_t)n, sizeof *got);
	for (int i = 0; i < n; i++)
		got[i] = results[i].data;
	bool differ = rt_against_differs(against, s, got);
	if (differ && !s->nin_files && !s->made_by)
		tell_made_up(s);
	free(got);
	return differ;
}

/* ---- the whole ---- */

/* Bytes of the tensors that are held as wholes: results, and what is fed back so. */
static uint64_t
whole_bytes(const Settings *s, const Carries *c)
{
	const shdrt_program *p = s->program;
	uint64_t sum = rt_carries_bytes(s, c);
	for (int i = 0; i < p->nresults; i++)
		sum += rt_tensor_bytes(&p->results[i]);
	return sum;
}

static uint64_t
parameter_bytes(const shdrt_program *p)
{
	uint64_t sum = 0;
	for (int i = 0; i < p->nparams; i++)
		sum += rt_tensor_bytes(&p->params[i]);
	return sum;
}

/* What devices have is gone when --check compares. */
static void
check_memory(const Settings *s, const Carries *c)
{
	const shdrt_program *p = s->program;
	uint64_t whole = whole_bytes(s, c);
	rt_memory_check_run(p, whole);
	if (s->check)
		rt_memory_check_reference(p, whole + parameter_bytes(p));
}

/* All that the devices do, and what is told of it. */
static int
execute(Settings *s, Whole *results, Carries *carries)
{
	const shdrt_program *p = s->program;
	Machine *m = rt_machine_new(p, s->stall,
		s->trace	   ? RECORD_spans
			: s->stats ? RECORD_times
				   : RECORD_nothing,
		s->helps);
	for (int i = 0; i < p->nresults; i++)
		results[i].data = rt_get_memory(1, rt_tensor_bytes(&p->results[i]));
	double seconds =
		s->times ? run_times(s, m, results) : rt_steps_run(s, m, carries, results);
	rt_watch_doing("writes the results", NULL);
	deliver(s, results);
	if (s->trace)
		rt_trace_write(m, s->trace);
	if (s->stats)
		rt_report_stats(m, seconds, s->reports);
	rt_machine_free(m);
	rt_watch_doing("compares with the unsharded program", NULL);
	int status = s->check ? check_results(s, results) : SHDRT_OK;
	bool looked = s->steps <= 1 || p->vouched == p->hlo; /* at these inputs */
	if (s->check && p->vouched && !looked && !vouches_hold(s))
		status = SHDRT_WRONG;
	return status;
}

static int
run(Settings *s)
{
	const shdrt_program *p = s->program;
	Whole *results = rt_get_zeroed((size_t)p->nresults, sizeof *results);
	Carries carries = {0};
	rt_watch_doing("looks at its files", NULL);
	rt_watch_start(s->timeout);
	if (s->steps)
		carries = rt_carries_find(p);
	open_sources(s);
	Against *against = rt_against_open(s);
	rt_externs_load(p->externs);
	rt_outputs_check(s);
	check_memory(s, &carries);
	bool broken = s->check && p->vouched && !vouches_hold(s);
	int status = broken ? SHDRT_WRONG : execute(s, results, &carries);
	if (against && !broken && differs(s, against, results) && status == SHDRT_OK)
		status = SHDRT_WRONG;
	rt_watch_stop();
	close_sources(s);
	for (int i = 0; i < p->nresults; i++)
		free(results[i].data);
	free(results);
	rt_carries_free(p, &carries);
	return status;
}

int
shdrt_main(const shdrt_program *p, int argc, char **argv)
{
	Settings s = {.program = p, .stall = 30, .reports = stdout};
	rt_fail_name(p->name);
	if (p->abi != SHDRT_ABI)
		rt_fail(SHDRT_INTERNAL,
			"was built for version %d of the runtime, "
			"this is version %d: build it again",
			p->abi, SHDRT_ABI);
	rt_fail_catch_signals();
	s.sources = rt_get_zeroed((size_t)p->nparams, sizeof *s.sources);
	s.out_files = rt_get_zeroed((size_t)p->nresults, sizeof *s.out_files);
	rt_options_parse(&s, argc, argv);
	int status = SHDRT_OK;
	if (s.help)
		rt_options_help(p, stdout);
	else if (s.version)
		rt_options_version(p, stdout);
	else if (s.list)
		rt_report_list(p, stdout);
	else
		status = run(&s);
	free(s.sources);
	free(s.out_files);
	free(s.in_files);
	if (fflush(stdout) != 0 || ferror(stdout))
		rt_fail(SHDRT_IO, "standard output: %s", strerror(errno));
	return status;
}
