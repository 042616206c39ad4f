/*
 * least.c - what a run takes at least if trips of loops are beside each other.
 *
 * A loop that is written again so may have a step less, as a slice whose place is known is not
 * copied.  What `--overlap=none` and `xla` tell is a bound of that program, too: so a copy of
 * this process writes all loops again that can be, and fuses that.
 */
#include "pipeline/pipeline.h"

typedef struct Found {
	int64_t least;
	bool cuts; /* there are loops that may be cut elsewhere */
} Found;

typedef struct Least {
	Module *module;
	bool cuts;    /* these are taken */
	Found *found; /* both processes have it */
} Least;

/* All that may be, and as many cuts as can be beside that. */
static void
take_all(Pipelining *p, bool cuts, Found *found)
{
	for (int i = 0; i < p->n; i++) {
		PipelinedLoop *loop = &p->loops[i];
		loop->first_before = loop->begins_with;
		for (int c = 0; c < loop->n; c++) {
			loop->candidates[c].taken = !loop->candidates[c].cut;
			found->cuts |= loop->candidates[c].cut;
		}
		for (int c = 0; c < loop->n && cuts; c++)
			if (loop->candidates[c].cut)
				pipelining_take(loop, &loop->candidates[c]);
	}
}

/* What may be begun early or end late, and first trips before their loops; false: there is
   none. */
static bool
put_trips_apart(Module *m, bool cuts, Found *found)
{
	Pipelining p = {.arena = m->arena}, around = {.arena = m->arena};
	BranchMoves moves = {.arena = m->arena};
	bool changed = false;

	branch_moves_find(m, &moves);
	if (moves.n)
		branch_moves_apply(m, &moves);
	pipelining_find(m, &p);
	for (; p.n; p = around) {
		take_all(&p, cuts, found);
		around = (Pipelining){.arena = m->arena};
		if (!pipelining_apply(&p))
			break;
		pipelining_find_around(m, &p, &around);
		changed = true;
	}
	return changed;
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
	if (put_trips_apart(m, l->cuts, l->found)
		&& pipeline_run(m, L_scheduled,
			&(PipelineOptions){.start_at = "fuse", .verified = true}))
		l->found->least = timeline_build(m, m->arena)->lower;
}

static Found
least_so(Module *m, bool cuts)
{
	Least l = {m, cuts, shared_new(sizeof(Found))};

	if (!l.found || !work_apart(find_least, &l))
		out_of_memory();
	const Found found = *l.found;
	shared_free(l.found, sizeof(Found));
	return found;
}

int64_t
least_of_trips_apart(Module *m)
{
	const Found plain = least_so(m, false);
	const int64_t cut = plain.cuts ? least_so(m, true).least : 0;

	return cut && (!plain.least || cut < plain.least) ? cut : plain.least;
}
