/*
 * least.c - what a run takes at least if trips of loops are beside each other.
 *
 * A loop that is written again so may have a step less, as a slice whose place is known is not
 * copied.  What `--overlap=none` and `xla` tell is a bound of that program, too: so a copy of
 * this process writes all loops again that can be, and fuses that.
 */
#include "pipeline/pipeline.h"

typedef struct Least {
	Module *module;
	int64_t *least; /* both processes have it */
} Least;

/* All that may be begun early or end late, and first trips before their loops; false: there is
   none. */
static bool
put_trips_apart(Module *m)
{
	Pipelining p = {.arena = m->arena};
	BranchMoves moves = {.arena = m->arena};

	branch_moves_find(m, &moves);
	if (moves.n)
		branch_moves_apply(m, &moves);
	pipelining_find(m, &p);
	for (int i = 0; i < p.n; i++) {
		p.loops[i].first_before = p.loops[i].begins_with;
		for (int c = 0; c < p.loops[i].n; c++)
			p.loops[i].candidates[c].taken = true;
	}
	return pipelining_apply(&p);
}

/* In a copy of this process the module is nobody else's. */
static void
find_least(void *data, int64_t i)
{
	const Least *l = data;
	Module *m = l->module;

	(void)i;
	module_hide(m);
	m->overlap = OVERLAP_none;
	if (put_trips_apart(m)
		&& pipeline_run(m, L_scheduled,
			&(PipelineOptions){.start_at = "fuse", .verified = true}))
		*l->least = timeline_build(m, m->arena)->lower;
}

int64_t
least_of_trips_apart(Module *m)
{
	Least l = {m, shared_new(sizeof(int64_t))};

	if (!l.least || !work_apart(find_least, &l))
		out_of_memory();
	int64_t least = *l.least;
	shared_free(l.least, sizeof(int64_t));
	return least;
}
