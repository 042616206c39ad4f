/*
 * trials_test.c - programs that are tried otherwise: the compiler may fail on one, by a
 * message or by a signal, or have no memory for it; the others are told all the same.
 *
 * plan_build() is wrapped by the linker: it fails as the trial at hand says.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/pipeline.h"

static const char program[] = "HloModule t, num_partitions=2, frontend_attributes={"
			      "level=\"global\", mesh=\"X=2\"}\n"
			      "ENTRY %main {\n"
			      "  %x = f32[4,16] parameter(0)\n"
			      "  ROOT %out = f32[4,16] negate(%x)\n"
			      "}\n";

/* Larger than any memory, and nothing in it is used twice. */
static const char large[] = "HloModule t, num_partitions=2, frontend_attributes={"
			    "level=\"global\", mesh=\"X=2\"}\n"
			    "ENTRY %main {\n"
			    "  %x = f32[1048576,1048577] parameter(0)\n"
			    "  ROOT %out = f32[1048576,1048577] negate(%x)\n"
			    "}\n";

static int tests;
static int *planned; /* programs, by all processes */

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* By what is left of x on a device, and by whether it is kept. */
Plan *__real_plan_build(Module *m);
Plan *__wrap_plan_build(Module *m);

Plan *
__wrap_plan_build(Module *m)
{
	const Type *x = &m->entry->params[0]->type;

	++*planned;
	if (x->dims[0] == 2 && m->keep_inputs)
		raise(SIGKILL); /* as the system does where memory is short */
	if (x->dims[0] == 2)
		die("a dim is split");
	if (x->dims[1] == 8)
		raise(SIGSEGV);
	if (m->keep_inputs)
		out_of_memory();
	return __real_plan_build(m);
}

static void
try_large(void)
{
	const Module as_is = {0};
	Trial trial = {.change = {0}}, *all = &trial;

	*planned = 0;
	what_ifs(&(WhatIfs){.text = large, .n = strlen(large), .as_is = &as_is}, &all, 1);
	ok(trial.end == TRIAL_through && *planned == 1,
		"what does not fit, and shares nothing, is not tried with less shared");
}

/* x, split along a dim. */
static Placed
placed(int dim)
{
	static const Value x = {.name = "x"};
	AxisList axes = {1, {{.axis = 0, .pre = 1, .size = 2}}};
	Placed p = {&x, placement_none(2)};

	placement_set_dim(&p.placement, dim, &axes);
	return p;
}

int
main(void)
{
	static const char *const unknown[] = {"y"};
	Placed rows = placed(0), columns = placed(1);
	Trial trials[] = {
		{.change = {0}},
		{.change = {.placed = &rows, .nplaced = 1}},
		{.change = {.placed = &columns, .nplaced = 1}},
		{.change = {.toggle_inputs = true}},
		{.change = {.placed = &rows, .nplaced = 1, .toggle_inputs = true}},
		{.change = {.unplaced = unknown, .nunplaced = 1}},
		{.change = {0}},
	};
	enum { N = sizeof trials / sizeof *trials };
	Trial *all[N];

	for (int i = 0; i < N; i++)
		all[i] = &trials[i];
	planned = shared_new(sizeof *planned);
	what_ifs(&(WhatIfs){.text = program, .n = strlen(program), .as_is = &(Module){0}}, all,
		N);
	ok(trials[1].end == TRIAL_defect, "the compiler may find an internal error");
	ok(trials[2].end == TRIAL_defect, "... or die by a signal");
	ok(trials[3].end == TRIAL_no_memory, "it may have no memory");
	ok(trials[4].end == TRIAL_no_memory, "... and be ended for that");
	ok(trials[5].end == TRIAL_refused, "what can't be is refused");
	ok(trials[0].end == TRIAL_through && trials[6].end == TRIAL_through
			&& trials[0].outcome.peak > 0
			&& trials[0].outcome.peak == trials[6].outcome.peak,
		"the others are told");
	try_large();
	ok(trials_of_long(&(Module){.nvalues = 16000}, 64) == 64
			&& trials_of_long(&(Module){.nvalues = 32000}, 64) == 32
			&& trials_of_long(&(Module){.nvalues = 1000000}, 64) == 8,
		"of a long program fewer are made, as long as all of a short one");
	ok(!defect_told(), "and this process has found none");
	defect("of which there is more to tell");
	ok(defect_told(), "one is remembered, and the rest goes on");
	printf("1..%d\n", tests);
	return 0;
}
