/*
 * trials.c - what a run takes with classes of einsums in pieces.
 *
 * Each trial is made in a copy of this process, as many at a time as there are processors.
 */
#include <string.h>
#include "cost/timeline.h"
#include "ir/flow.h"
#include "memory/plan.h"
#include "sched/decompose/trials.h"
#include "sched/sched.h"

/* A ring that was built before may have taken one of its dots. */
static bool
is_there(const Einsum *e)
{
	bool there = e->collective->block != NULL;

	for (int i = 0; i < e->ndots; i++)
		there &= e->dots[i]->block != NULL;
	for (int i = 0; i < e->nbetween; i++)
		there &= e->between[i]->block != NULL;
	return there;
}

int
form_build(Decomposing *d, Einsums all, const Form *form)
{
	rings_begin(&d->rings, d->module);
	for (int i = 0; i < all.n; i++)
		if (!strcmp(all.v[i].key, form->key) && is_there(&all.v[i]))
			ring_build(&d->rings, &all.v[i], form->way);
	rings_end(&d->rings, d->module);
	return form->joined ? rings_join(d->module, d->arena) : 0;
}

int
forms_build(Decomposing *d, Einsums all, const Form *forms, int n)
{
	int joins = 0;

	for (int i = 0; i < n; i++) {
		if (i)
			all = einsums_find(d->module, d->arena);
		joins += form_build(d, all, &forms[i]);
	}
	return joins;
}

Trial
trial_of(Decomposing *d, Einsums all, Form form)
{
	return (Trial){.d = d,
		.einsums = all,
		.forms = arena_copy(d->arena, &form, sizeof form),
		.nforms = 1};
}

const char *
op_key(Arena *a, const Op *collective)
{
	return arena_printf(a, "%p", (const void *)collective);
}

static void
note_exposed(const Trial *trial, const Timeline *timeline)
{
	Arena *a = timeline->module->arena;
	Table *numbers = table_new(a);

	for (int i = 0; i < trial->einsums.n; i++)
		table_set(numbers, op_key(a, trial->einsums.v[i].collective),
			&trial->outcome->exposed[i]);
	for (int i = 0; i < timeline->n; i++) {
		const TimelineStep *s = &timeline->steps[i];
		int64_t *exposed = s->moves ? table_get(numbers, op_key(a, s->op)) : NULL;
		if (exposed)
			*exposed = s->exposed;
	}
}

static bool
is_in(const Span *span, const Op *op)
{
	return op->id >= span->first->id && op->id < span->end->id;
}

static int
ops_within(const Span *span, Arena *a, Op ***list, int n)
{
	Op **kept = NEW_ARRAY(a, Op *, n + 1);
	int nkept = 0;

	for (int i = 0; i < n; i++)
		if (is_in(span, (*list)[i]))
			kept[nkept++] = (*list)[i];
	*list = kept;
	return nkept;
}

/* What there is of it: of the dots that read what is gathered those behind may be far away, as
   a gradient's are.  False: no product with its collective. */
static bool
is_within(const Span *span, Einsum *e, Arena *a)
{
	int *dims = NEW_ARRAY(a, int, e->ndots), n = 0;

	for (int i = 0; i < e->ndots; i++)
		if (is_in(span, e->dots[i]))
			dims[n++] = e->dims[i];
	e->dims = dims;
	e->ndots = ops_within(span, a, &e->dots, e->ndots);
	e->nbetween = ops_within(span, a, &e->between, e->nbetween);
	e->naside = ops_within(span, a, &e->aside, e->naside);
	e->nafter = ops_within(span, a, &e->after, e->nafter);
	return e->ndots && is_in(span, e->collective);
}

/* A sum that the program has far behind its product may be made as soon as that is. */
static void
bring_near(Span *span, const Einsum *e)
{
	Op *dot = e->dots[0], *sum = e->collective;

	if (sum->operands[0] != dot->results[0] || dot->id < span->first->id
		|| dot->id >= span->end->id || sum->id < span->end->id)
		return;
	if (span->end == sum)
		span->end = sum->next;
	op_remove(sum);
	op_insert_before(dot->next, sum);
	sum->id = dot->id;
}

/* The program is its span alone, and so are the einsums. */
static void
cut_to_span(Trial *trial)
{
	Decomposing *d = trial->d;
	Span *span = &trial->span;
	Einsums within = {0};

	for (int i = 0; i < trial->einsums.n; i++)
		bring_near(span, &trial->einsums.v[i]);
	for (int i = 0; i < trial->einsums.n; i++) {
		Einsum e = trial->einsums.v[i];
		if (is_within(span, &e, d->arena))
			APPEND(d->arena, within.v, within.n, e);
	}
	trial->einsums = within;
	d->rings.offsets = table_new(d->arena);
	window_cut(d->module, span->first, span->end);
}

/* Of the program as it is: what is exposed, and the least that a run takes. */
static void
note_plain(const Trial *trial)
{
	Module *m = trial->d->module;
	const Timeline *timeline = timeline_build(m, m->arena);

	note_exposed(trial, timeline);
	trial->outcome->lower = timeline->lower;
	trial->outcome->time = timeline_is_endless(timeline) ? INT64_MAX : timeline->time;
}

/* In a copy of this process the module is nobody else's. */
static void
attempt(void *data, int64_t i)
{
	Trial *trial = (Trial *)data + i;
	Module *m = trial->d->module;
	Outcome *outcome = trial->outcome;

	module_hide(m);
	if (trial->span.first)
		cut_to_span(trial);
	outcome->joins = forms_build(trial->d, trial->einsums, trial->forms, trial->nforms);
	fuse(m);
	outcome->copied = copied_bytes(m);
	outcome->lacks_memory = overlap_lacks_memory(m);
	const Plan *plan = plan_build(m);
	outcome->peak = plan->uncounted ? INT64_MAX : plan_peak(plan);
	if (trial->nforms || trial->span.first)
		outcome->time = timeline_time(m);
	else
		note_plain(trial);
}

void
run_trials(Trial *trials, int n)
{
	size_t each = sizeof(Outcome) + sizeof(int64_t) * (size_t)trials->einsums.n;
	char *outcomes = shared_new((size_t)n * each);

	if (!outcomes)
		out_of_memory();
	for (int i = 0; i < n; i++) {
		trials[i].outcome = (Outcome *)(outcomes + (size_t)i * each);
		trials[i].outcome->time = -1;
	}
	work_share(&(Workload){.n = n,
		.piece = attempt,
		.data = trials,
		.alone = true,
		.elsewhere = true});
	for (int i = 0; i < n; i++) {
		trials[i].outcome = arena_copy(trials->d->arena, trials[i].outcome, each);
		if (trials[i].outcome->time < 0)
			die("what a run takes was not found out");
	}
	shared_free(outcomes, (size_t)n * each);
}

bool
outcome_is_better(const Decomposing *d, const Outcome *o, int64_t time, int64_t peak)
{
	const int64_t most = d->module->mesh.target->hbm_bytes;
	bool fits = o->peak <= most;

	return fits == (peak <= most) ? o->time < time : fits;
}

bool
is_long(const Decomposing *d)
{
	return d->ops >= LONG;
}

bool
goes_together(Way way)
{
	return way == WAY_both || way_parts(way);
}

void
text_way(Text *t, Way way, bool joined)
{
	text_printf(t, "%s%s", way_names[way], joined ? " joined to the one before" : "");
}

void
text_needs(Text *t, const Decomposing *d, int64_t peak, int64_t copied)
{
	if (peak < INT64_MAX && peak > d->module->mesh.target->hbm_bytes)
		text_add(t, " and more than the memory");
	if (copied > 0) {
		text_add(t, " and copies ");
		text_traffic(t, (double)copied);
		text_add(t, " more");
	}
}
