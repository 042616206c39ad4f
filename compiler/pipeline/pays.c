/*
 * pays.c - which collectives of loops are begun a trip early, or end a trip late?
 *
 * Copies of this process compile the program, as it is and so; what is quicker and fits the
 * memory of the target, or needs no more than without, is taken.  First those that nothing
 * hides, then all; of loops in which nothing is exposed none.
 */
#include "ir/targets.h"
#include "pipeline/pipeline.h"

typedef struct Tried {
	bool through;
	int64_t time, peak;
	/* of the candidates, one loop after the other, where nothing is taken: else there are
	   copies of them */
	int64_t exposed[];
} Tried;

typedef struct Try {
	Module *module;
	const Pipelining *pipelining;
	bool spare; /* memory is not asked for */
	Tried *tried;
} Try;

/* In a copy of this process the module is nobody else's. */
static void
try_it(void *data, int64_t i)
{
	const Try *t = data;
	Module *m = t->module;
	const Pipelining *p = t->pipelining;
	int n = 0;

	(void)i;
	m->session->err = NULL;
	if (t->spare) {
		Target *target = arena_copy(m->arena, m->mesh.target, sizeof *target);
		target->hbm_bytes = INT64_MAX;
		m->mesh.target = target;
	}
	bool changed = pipelining_apply(p);
	if (!pipeline_run(m, L_scheduled,
		    &(PipelineOptions){.start_at = "fuse", .verified = true}))
		return;
	const Timeline *timeline = timeline_build(m, m->arena);
	const Plan *plan = plan_build(m);
	int64_t *exposed = NEW_ARRAY(m->arena, int64_t, m->nops + 1);
	for (int k = 0; k < timeline->n; k++)
		exposed[timeline->steps[k].op->id] = timeline->steps[k].exposed;
	for (int k = 0; k < p->n && !changed; k++)
		for (int c = 0; c < p->loops[k].n; c++)
			t->tried->exposed[n++] = exposed[p->loops[k].candidates[c].op->id];
	t->tried->time = timeline_is_endless(timeline) ? INT64_MAX : timeline->time;
	t->tried->peak = plan->uncounted ? INT64_MAX : plan_peak(plan);
	t->tried->through = true;
}

static size_t
tried_bytes(int n)
{
	return sizeof(Tried) + (size_t)n * sizeof(int64_t);
}

static Tried *
tried_new(Module *m, const Pipelining *p, int n, bool spare)
{
	Try t = {m, p, spare, shared_new(tried_bytes(n))};

	if (!t.tried || !work_apart(try_it, &t))
		out_of_memory();
	if (!t.tried->through)
		die("what the program takes was not found out");
	return t.tried;
}

static void
take(const Pipelining *p, const bool *taken)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			p->loops[i].candidates[c].taken = taken[n++];
}

/* Of what nothing hides, all being taken: would it be quicker if there were memory? */
static void
tell_why_not(Module *m, const Pipelining *p, const Tried *plain, int n)
{
	Tried *spare = tried_new(m, p, n, true);
	OtherTrip why = spare->time < plain->time ? TRIP_memory : TRIP_dearer;

	shared_free(spare, tried_bytes(n));
	n = 0;
	for (int i = 0; i < p->n; i++)
		for (int c = 0; c < p->loops[i].n; c++)
			if (plain->exposed[n++] && !p->loops[i].candidates[c].op->trip)
				p->loops[i].candidates[c].op->trip = why;
}

void
pipelining_that_pays(Module *m, Pipelining *p)
{
	enum { EXPOSED, ALL, TRIES };
	int n = 0, exposed = 0;

	for (int i = 0; i < p->n; i++)
		n += p->loops[i].n;
	Tried *plain = tried_new(m, p, n, false);
	int64_t least = plain->time, limit = greater(plain->peak, m->mesh.target->hbm_bytes);
	bool *best = NEW_ARRAY(p->arena, bool, n), *taken = NEW_ARRAY(p->arena, bool, n);
	for (int i = 0; i < n; i++)
		exposed += plain->exposed[i] > 0;
	for (int t = EXPOSED; exposed && t < (exposed < n ? TRIES : ALL); t++) {
		for (int i = 0; i < n; i++)
			taken[i] = t == ALL || plain->exposed[i] > 0;
		take(p, taken);
		Tried *tried = tried_new(m, p, n, false);
		if (tried->time < least && tried->peak <= limit) {
			least = tried->time;
			for (int i = 0; i < n; i++)
				best[i] = taken[i];
		}
		shared_free(tried, tried_bytes(n));
	}
	if (exposed && least == plain->time)
		tell_why_not(m, p, plain, n);
	take(p, best);
	shared_free(plain, tried_bytes(n));
}
