/*
 * together.c - classes of einsums that pay in pieces only if others are in pieces, too.
 *
 *   memory for 1.4 gathered weights     as it is       4.68 ms
 *   the first products in quarters      the other weights are whole: nothing is gathered early
 *   the second ones                     likewise
 *   both                                2.84 ms
 *
 * Where memory is short, all classes are tried in one way at once, in each way that several
 * can be done in; then of the best of these each class in turn otherwise, or as it was.
 */
#include <string.h>
#include "sched/decompose/trials.h"

/* The best so far. */
typedef struct Together {
	Decomposing *d;
	Einsums all;
	Forms forms;
	bool any;
	int64_t time, peak;
} Together;

/* In that way, or in the most parts below, or, if it goes round no ring, in halves; WAYS: it
   can't be. */
static Way
way_below(const Tried *tried, Way way)
{
	while (!tried->goes[way] && way > WAY_halves)
		way--;
	if (!tried->goes[way])
		way = WAY_halves;
	return tried->goes[way] ? way : WAYS;
}

/* All classes in that way, as far as they can be; none, if that is one or none. */
static Forms
all_forms(const Decomposing *d, Way way)
{
	Forms forms = {0};
	int there = 0;

	for (int i = 0; i < d->ntried; i++) {
		const Tried *tried = &d->tried[i];
		Way below = way_below(tried, way);
		there += below == way;
		if (below != WAYS)
			APPEND(d->arena, forms.v, forms.n, ((Form){tried->key, below, false}));
	}
	return there && forms.n > 1 ? forms : (Forms){0};
}

/* The best of all, with what is told of them. */
static void
weigh_all(Together *best, Trial *trials, int n)
{
	Decomposing *d = best->d;

	run_trials(trials, n);
	d->tries += n;
	for (int i = 0; i < n; i++) {
		const Outcome *o = trials[i].outcome;
		if (o->peak > d->limit || o->copied > d->copied)
			continue;
		if (best->any && !outcome_is_better(d, o, best->time, best->peak))
			continue;
		best->any = true;
		best->time = o->time;
		best->peak = o->peak;
		best->forms = (Forms){(Form *)trials[i].forms, trials[i].nforms};
	}
}

static void
tell_trial(Text *t, const Trial *trial, Way way)
{
	const Decomposing *d = trial->d;
	const Outcome *o = trial->outcome;

	text_add(t, ", ");
	text_way(t, way, false);
	text_add(t, " ");
	text_picoseconds(t, o->time);
	text_needs(t, d, o->peak, o->copied - d->copied);
}

/* All in each way at once, but one way round; of a long program parts alone, and more as long
   as that is quicker. */
static void
try_all(Together *best, Text *t)
{
	Decomposing *d = best->d;
	Trial trials[WAYS];
	Way ways[WAYS];
	int n = 0;

	for (Way way = is_long(d) ? WAY_halves : WAY_both; way < WAYS; way++) {
		Forms forms = goes_together(way) ? all_forms(d, way) : (Forms){0};
		if (!forms.n)
			continue;
		trials[n] = (Trial){.d = d,
			.einsums = best->all,
			.forms = forms.v,
			.nforms = forms.n};
		ways[n++] = way;
		if (!is_long(d))
			continue;
		weigh_all(best, &trials[n - 1], 1);
		if (best->forms.v != forms.v)
			break;
	}
	if (n && !is_long(d))
		weigh_all(best, trials, n);
	for (int i = 0; i < n && trials[i].outcome; i++)
		tell_trial(t, &trials[i], ways[i]);
}

/* With that class otherwise; WAYS: as it was. */
static Forms
changed(const Together *best, const Tried *tried, Way way)
{
	Arena *a = best->d->arena;
	Forms forms = {0};
	bool there = false;

	for (int i = 0; i < best->forms.n; i++) {
		Form form = best->forms.v[i];
		if (!strcmp(form.key, tried->key)) {
			there = true;
			form.way = way;
		}
		if (form.way != WAYS)
			APPEND(a, forms.v, forms.n, form);
	}
	if (!there && way != WAYS)
		APPEND(a, forms.v, forms.n, ((Form){tried->key, way, false}));
	return forms;
}

static Way
way_now(const Together *best, const Tried *tried)
{
	for (int i = 0; i < best->forms.n; i++)
		if (!strcmp(best->forms.v[i].key, tried->key))
			return best->forms.v[i].way;
	return WAYS;
}

/* As it was, or in fewer parts or more; what is left or goes round in halves or quarters. */
static void
try_otherwise(Together *best, const Tried *tried)
{
	const Way now = way_now(best, tried);
	const bool parts = now >= WAY_halves && now < WAYS;
	Trial trials[WAYS + 1];
	int n = 0;

	for (Way way = WAY_halves; way <= WAYS; way++) {
		bool near = parts ? way + 1 == now || way == now + 1 : way <= WAY_quarters;
		if (way == now || (way < WAYS && !(near && tried->goes[way])))
			continue;
		Forms forms = changed(best, tried, way);
		if (forms.n)
			trials[n++] = (Trial){.d = best->d,
				.einsums = best->all,
				.forms = forms.v,
				.nforms = forms.n};
	}
	if (n)
		weigh_all(best, trials, n);
}

/* Could it be better than what was done, once each class is tried otherwise? */
static bool
is_near(const Together *best)
{
	enum { NEAR = 8 };
	const Decomposing *d = best->d;
	Outcome o = {.time = best->time - d->time / NEAR, .peak = best->peak};

	return best->any && outcome_is_better(d, &o, d->time, d->peak);
}

static void
tell_done(Text *t, const Together *best)
{
	const Decomposing *d = best->d;

	text_add(t, ": done with ");
	for (int i = 0, n = 0; i < d->ntried; i++) {
		Way way = way_now(best, &d->tried[i]);
		if (way == WAYS)
			continue;
		text_printf(t, "%s%s ", n++ ? ", " : "", d->tried[i].name);
		text_way(t, way, false);
	}
	text_add(t, ", ");
	text_picoseconds(t, best->time);
}

/* The module is as it was before anything was done in pieces. */
static void
undo(Decomposing *d)
{
	if (d->before)
		arena_restore(d->module->arena, d->before);
	d->rings.offsets = table_new(d->arena);
}

/* Those that are done with others. */
static int
count(const Decomposing *d)
{
	int n = 0;

	for (int i = 0; i < d->ntried; i++) {
		bool goes = false;
		for (Way way = 0; way < WAYS; way++)
			goes |= d->tried[i].goes[way];
		n += goes;
	}
	return n;
}

bool
try_together(Decomposing *d, const Outcome *plain, Text *told)
{
	Together best = {.d = d};

	undo(d);
	best.all = einsums_find(d->module, d->arena);
	text_printf(told, "%d classes of products together, as memory is short: ", count(d));
	text_picoseconds(told, plain->time);
	text_add(told, " a run as it is");
	text_needs(told, d, plain->peak, 0);
	try_all(&best, told);
	for (int i = 0; i < d->ntried && is_near(&best) && !is_long(d); i++)
		if (d->tries < 2 * MOST_TRIES)
			try_otherwise(&best, &d->tried[i]);
	const Outcome o = {.time = best.time, .peak = best.peak};
	bool better = best.any && outcome_is_better(d, &o, d->time, d->peak);
	if (better) {
		d->done = best.forms;
		d->time = best.time;
		d->peak = best.peak;
		tell_done(told, &best);
	} else {
		text_add(told, ": not better");
	}
	forms_build(d, best.all, d->done.v, d->done.n);
	return better;
}
