/*
 * least.c - what a run takes at least if trips of loops are beside each other.
 *
 * A loop that is written again so may have a step less, as a slice whose place is known is not
 * copied.  What `--overlap=none` and `xla` tell is a bound of that program, too: so copies of
 * this process write loops again, and fuse that: all that can be, and those that `async` takes.
 * With all apart there may be more steps than async has, as fewer ops of two trips are the
 * same; but what async takes fits the memory, and that need not.
 */
#include "ir/planned.h"
#include "pipeline/pipeline.h"

typedef struct Least {
	Module *module;
	int64_t *found; /* both processes have it; NOT_COUNTED: nothing was found */
} Least;

static void
take_all(const Pipelining *p)
{
	for (int i = 0; i < p->n; i++) {
		PipelinedLoop *loop = &p->loops[i];
		loop->first_before = loop->begins_with;
		for (int c = 0; c < loop->n; c++)
			loop->candidates[c].taken = !loop->candidates[c].cut;
	}
}

/* What may be begun early or end late, and first trips before their loops; false: there is
   none. */
static bool
put_trips_apart(Module *m)
{
	Pipelining p = {.arena = m->arena}, around = {.arena = m->arena};
	BranchMoves moves = {.arena = m->arena};
	bool changed = false;

	branch_moves_find(m, &moves);
	if (moves.n)
		branch_moves_apply(m, &moves);
	pipelining_find(m, &p);
	for (; p.n; p = around) {
		take_all(&p);
		around = (Pipelining){.arena = m->arena};
		if (!pipelining_apply(&p))
			break;
		pipelining_find_around(m, &p, &around);
		changed = true;
	}
	return changed;
}

static void
note_lower(const Least *l, const char *start_at)
{
	if (pipeline_run(l->module, L_scheduled,
		    &(PipelineOptions){.start_at = start_at, .verified = true}))
		*l->found = timeline_build(l->module, l->module->arena)->lower;
}

/* In a copy of this process the module is nobody else's. */
static void
with_all(void *data, int64_t i)
{
	const Least *l = data;

	(void)i;
	module_hide(l->module);
	l->module->overlap = OVERLAP_none;
	if (put_trips_apart(l->module))
		note_lower(l, "fuse");
}

static void
with_what_pays(void *data, int64_t i)
{
	const Least *l = data;

	(void)i;
	module_hide(l->module);
	l->module->overlap = OVERLAP_async;
	note_lower(l, "pipeline");
}

static int64_t
least_so(Module *m, void (*find)(void *data, int64_t i))
{
	Least l = {m, shared_new(sizeof(int64_t))};

	if (!l.found)
		out_of_memory();
	*l.found = NOT_COUNTED;
	if (!work_apart(find, &l))
		out_of_memory();
	const int64_t found = *l.found;
	shared_free(l.found, sizeof(int64_t));
	return found;
}

int64_t
least_of_trips_apart(Module *m)
{
	const int64_t all = least_so(m, with_all), taken = least_so(m, with_what_pays);

	if (taken == NOT_COUNTED)
		die("what a run takes with trips apart was not found out");
	return all == NOT_COUNTED ? taken : lesser(all, taken);
}
