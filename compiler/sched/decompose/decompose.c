/*
 * decompose.c - einsums as rings of pieces, where the program is quicker for it.
 *
 *   all-gather of x 89 us, dot 223 us     312 us
 *   a ring of 4, one way                  238 us     taken
 *   both ways                             240 us
 *
 * Einsums that are alike are one class.  Of the program as it is, and with all of a class
 * done in one of the ways, a copy of this process says what a run takes once it is fused
 * and in order.  Classes are tried one after the other, the one with the most exposed time
 * first; what is quickest, if it fits the memory of the target and copies no more than the
 * program as it was, stays.  Of a long program with many of a class a few places are tried
 * before, by themselves: what is no quicker there is not tried with all.
 */
#include <string.h>
#include "cost/timeline.h"
#include "ir/flow.h"
#include "ir/targets.h"
#include "sched/decompose/trials.h"
#include "sched/sched.h"

enum {
	PLACES = 3, /* of a long one, */
	MANY = 8,   /* einsums of a class */
	VARIANTS = 2 * WAYS,
};

/* ---- remarks ------------------------------------------------------------- */

static void
text_class(Text *t, const Class *class)
{
	const Einsum *e = class->first;
	const Op *dot = e->dots[0];

	text_printf(t, "%s", dot->label ? dot->label : ops[dot->kind].name);
	if (e->ndots > 1)
		text_printf(t, " and %d more", e->ndots - 1);
	text_printf(t, " with its %s%s over ", einsum_side(e), ops[e->collective->kind].hlo);
	text_axes(t, &dot->module->mesh, e->collective->axes);
	if (class->n > 1)
		text_printf(t, ", %d times", class->n);
}

/* A collective's label is that of what it is made for. */
static void
text_op(Text *t, const Op *op)
{
	if (op_communicates(op))
		text_printf(t, "another %s", ops[op->kind].hlo);
	else
		text_add(t, op->label ? op->label : ops[op->kind].name);
	text_line(t, op->module, " (", op->range, ")");
}

/* Is it made of the device's number, a few steps back? */
static bool
is_of_device(const Value *v, int steps)
{
	const Op *op = v->def;
	bool is = op && op->kind == O_partition_id;

	for (int i = 0; op && op_is_offset(op) && i < op->noperands && steps && !is; i++)
		is = is_of_device(op->operands[i], steps - 1);
	return is;
}

/* Of what each device has whole its own part. */
static bool
takes_own_part(const Op *op)
{
	enum { STEPS = 8 };
	bool own = false;

	for (int i = 1; op->kind == O_dynamic_slice && i < op->noperands; i++)
		own |= is_of_device(op->operands[i], STEPS);
	return own;
}

/* What stands between a collective and its product, or reads what the product does. */
static void
text_stop(Text *t, const Op *stop, bool beside)
{
	bool own = takes_own_part(stop);

	if (own)
		text_printf(t, "each device takes its own part%s for ",
			beside ? " of it, too," : " between them,");
	text_op(t, stop);
	if (!own)
		text_add(t, beside ? " reads it, too" : " is between them");
}

/* ---- classes ------------------------------------------------------------- */

/* Nothing of it is exposed as it is. */
static bool
is_hidden(const Einsum *e, const int64_t *exposed)
{
	return exposed && !*exposed && (e->nbetween || e->collective->kind == O_all_to_all);
}

/* Of those that were not tried the class with the most exposed time; false: all were. */
static bool
next_class(const Decomposing *d, Einsums all, Class *best)
{
	Table *classes = table_new(d->arena);

	*best = (Class){0};
	for (int i = 0; i < all.n; i++) {
		const Einsum *e = &all.v[i];
		const int64_t *exposed = table_get(d->exposed, op_key(d->arena, e->collective));
		if (table_get(d->seen, e->key) || is_hidden(e, exposed))
			continue;
		Class *class = table_get(classes, e->key);
		if (!class) {
			class = NEW(d->arena, Class);
			class->first = e;
			table_set(classes, e->key, class);
		}
		class->n++;
		class->exposed = add_picoseconds(class->exposed, exposed ? *exposed : 0);
	}
	for (int i = 0; i < table_count(classes); i++) {
		const Class *class = table_value(classes, i);
		if (!best->n || class->exposed > best->exposed)
			*best = *class;
	}
	return best->n;
}

/* ---- places of a long program --------------------------------------------- */

static Op *
go_back(Op *op, int n)
{
	while (n-- && op->prev)
		op = op->prev;
	return op;
}

static Op *
go_on(Op *op, int n)
{
	while (n-- && op->next)
		op = op->next;
	return op;
}

/* What is around some of a class, at even distances; false: they are few, or in bodies. */
static bool
find_places(const Decomposing *d, Einsums all, const Class *class, Span *places)
{
	Op **line = NEW_ARRAY(d->arena, Op *, all.n); /* of products, also of what is hidden */
	int n = 0;

	for (int i = 0; i < all.n; i++)
		if (!strcmp(all.v[i].key, class->first->key)
			&& all.v[i].collective->block == d->module->entry)
			line[n++] = all.v[i].dots[0];
	if (n < class->n || n < MANY || !is_long(d))
		return false;
	for (int i = 0; i < PLACES; i++) {
		Op *middle = line[(2 * i + 1) * n / (2 * PLACES)];
		places[i] = (Span){go_back(middle, REACH), go_on(middle, REACH)};
	}
	return true;
}

/* Of each variant how long all places take. */
static void
try_places(const Span *places, const Trial *variants, int n, int64_t *times)
{
	Trial *trials = NEW_ARRAY(variants->d->arena, Trial, n * PLACES);

	for (int i = 0; i < n * PLACES; i++) {
		trials[i] = variants[i / PLACES];
		trials[i].span = places[i % PLACES];
	}
	run_trials(trials, n * PLACES);
	for (int i = 0; i < n * PLACES; i++)
		times[i / PLACES] = add_picoseconds(times[i / PLACES], trials[i].outcome->time);
}

/* ---- ways ------------------------------------------------------------------ */

/* All that a class can be done in, behind the program as it is; of parts the halves. */
static int
list_variants(Decomposing *d, Einsums all, const Einsum *e, Trial *variants)
{
	int n = 0;

	variants[n++] = (Trial){.d = d, .einsums = all};
	for (Way way = 0; way <= WAY_halves; way++)
		for (int joined = 0; joined < 2 && ring_goes(e, way); joined++)
			if (!joined || (d->done.n && way < WAY_loop))
				variants[n++] = trial_of(d, all, (Form){e->key, way, joined});
	return n;
}

/* Leaves those that are quicker at the places, and says of the others what they take. */
static int
leave_out_slow(Text *t, const Span *places, Trial *variants, int n)
{
	int64_t times[VARIANTS + 1] = {0};
	int left = 1;

	try_places(places, variants, n, times);
	for (int i = 1; i < n; i++)
		if (times[i] < times[0]) {
			variants[left++] = variants[i];
		} else if (!variants[i].forms->joined) {
			text_add(t, ", ");
			text_way(t, variants[i].forms->way, false);
			text_add(t, " ");
			text_picoseconds(t, times[i]);
			text_add(t, " instead of ");
			text_picoseconds(t, times[0]);
			text_printf(t, " at %d places", PLACES);
		}
	return left;
}

/* The best way so far, and what is said of all. */
typedef struct Choice {
	Text *text;
	int64_t time, peak;
	int64_t parts; /* what those take that were tried last; 0: none were, or they copy */
	bool any;
	bool copies[WAYS];
	Form form;
} Choice;

static void
weigh(Choice *best, const Trial *trial)
{
	const Outcome *o = trial->outcome;
	const Form *form = trial->forms;
	Decomposing *d = trial->d;
	bool fits = o->peak <= d->limit;
	int64_t copied = o->copied - d->copied;

	text_add(best->text, ", ");
	text_way(best->text, form->way, form->joined);
	text_add(best->text, " ");
	text_picoseconds(best->text, o->time);
	text_needs(best->text, d, o->peak, copied);
	if (way_parts(form->way))
		best->parts = copied > 0 ? 0 : o->time;
	best->copies[form->way] |= copied > 0;
	d->lacks_memory |= goes_together(form->way) && (!fits || o->lacks_memory);
	if (!fits || copied > 0 || !outcome_is_better(d, o, best->time, best->peak))
		return;
	best->time = o->time;
	best->peak = o->peak;
	best->any = true;
	best->form = *form;
}

/* If one can't be joined to the rings before it, none of its class can. */
static void
try_ways(Choice *best, Trial *variants, int n)
{
	Decomposing *d = variants->d;
	Trial *apart = NEW_ARRAY(d->arena, Trial, n);
	int napart = 0;
	bool joins = true;

	for (int i = 0; i < n; i++)
		if (!variants[i].forms->joined)
			apart[napart++] = variants[i];
	if (napart)
		run_trials(apart, napart);
	d->tries += napart;
	for (int i = 0, k = 0; i < n; i++)
		if (!variants[i].forms->joined) {
			weigh(best, &apart[k++]);
		} else if (joins) {
			run_trials(&variants[i], 1);
			d->tries++;
			joins = variants[i].outcome->joins;
			if (joins)
				weigh(best, &variants[i]);
		}
}

/* More parts, as long as that is quicker than fewer, or not much slower beside what is
   exposed: what each begin more costs the next may gain. */
static void
try_more_parts(Choice *best, Decomposing *d, Einsums all, const Class *class)
{
	const Einsum *e = class->first;
	int64_t before = d->time;

	for (Way way = WAY_halves + 1; way < WAYS && ring_goes(e, way); way++) {
		Trial trial = trial_of(d, all, (Form){e->key, way, false});
		if (!best->parts || best->parts >= before + class->exposed / 4)
			break;
		before = best->parts;
		try_ways(best, &trial, 1);
	}
}

/* What there is to try. */
static void
text_pieces(Text *t, const Einsum *e)
{
	bool parts = ring_goes(e, WAY_halves);

	for (Way way = 0; way < WAY_halves; way++)
		if (ring_goes(e, way)) {
			text_printf(t, "; in %lld pieces", (long long)ring_pieces(e));
			return;
		}
	const Op *stop = parts ? NULL : between_stop(e);
	if (stop) {
		text_add(t, "; ");
		text_stop(t, stop, false);
	} else if (!parts) {
		text_add(t, "; it has no equal parts");
	}
}

static const char *
text_done(Decomposing *d, const Choice *best)
{
	Text done = {0};

	text_add(&done, best->any ? "done " : "left as it is");
	if (best->any)
		text_way(&done, best->form.way, best->form.joined);
	return text_take(&done, d->arena);
}

/* What is told of a class once it is known what is done with others. */
static void
note_tried(Decomposing *d, const Einsum *e, const Choice *best)
{
	Tried tried = {.key = e->key, .where = e->dots[0]->range, .left = !best->any};
	Text name = {0};

	text_class(&name, &(Class){.first = e, .n = 1});
	for (Way way = 0; way < WAYS; way++)
		tried.goes[way] = goes_together(way) && ring_goes(e, way) && !best->copies[way]
			&& !(way_parts(way) && best->copies[WAY_halves]);
	tried.name = text_take(&name, d->arena);
	tried.told = text_take(best->text, d->arena);
	tried.done = text_done(d, best);
	APPEND(d->arena, d->tried, d->ntried, tried);
}

/* ... and where it was left as it is before that was done which was done last. */
static void
note_tried_again(Decomposing *d, Tried *tried, const Choice *best)
{
	const char *last = d->done.v[d->done.n - 1].key;
	Text t = {0};

	if (!best->text->n)
		return;
	text_printf(&t, "%s; with %s in pieces ", tried->told, tried_of(d, last)->name);
	text_picoseconds(&t, d->time);
	text_printf(&t, " a run%s", best->text->s);
	tried->told = text_take(&t, d->arena);
	tried->done = text_done(d, best);
	tried->left = !best->any;
}

/* What may have to be undone is kept. */
static void
take(Decomposing *d, Einsums all, const Choice *best)
{
	const Module *m = d->module;

	if (!d->done.n && (d->lacks_memory || d->peak > m->mesh.target->hbm_bytes / 2))
		d->before = arena_image(m->arena);
	if (best->form.way < WAY_loop)
		note_again(d, all, best->form.key);
	form_build(d, all, &best->form);
	APPEND(d->arena, d->done.v, d->done.n, best->form);
	d->time = best->time;
	d->peak = best->peak;
}

static void
try_class(Decomposing *d, Einsums all, const Class *class)
{
	const Einsum *e = class->first;
	Text t = {0};
	Choice best = {.text = &t, .time = d->time, .peak = d->peak};
	Trial variants[VARIANTS + 1];
	Span places[PLACES];

	text_class(&t, class);
	text_add(&t, ": ");
	text_picoseconds(&t, d->time);
	text_add(&t, " a run as it is");
	text_needs(&t, d, d->peak, 0);
	text_pieces(&t, e);
	int n = list_variants(d, all, e, variants);
	if (find_places(d, all, class, places))
		n = leave_out_slow(&t, places, variants, n);
	if (n > 1)
		try_ways(&best, variants + 1, n - 1);
	try_more_parts(&best, d, all, class);
	note_tried(d, e, &best);
	if (best.any)
		take(d, all, &best);
}

/* Joined to what was done since it was left as it is. */
static void
try_again(Decomposing *d, Einsums all, Tried *tried)
{
	Text t = {0};
	Choice best = {.text = &t, .time = d->time, .peak = d->peak};
	Trial variants[VARIANTS + 1] = {{.d = d, .einsums = all}};
	Class class = {0};
	Span places[PLACES];
	int n = 1;

	for (int i = 0; i < all.n; i++)
		if (!strcmp(all.v[i].key, tried->key) && !class.n++)
			class.first = &all.v[i];
	for (Way way = 0; way < WAY_loop; way++)
		if (class.n && ring_goes(class.first, way))
			variants[n++] = trial_of(d, all, (Form){tried->key, way, true});
	if (n > 1 && find_places(d, all, &class, places))
		n = leave_out_slow(&t, places, variants, n);
	if (n > 1)
		try_ways(&best, variants + 1, n - 1);
	note_tried_again(d, tried, &best);
	text_free(&t);
	if (best.any)
		take(d, all, &best);
}

/* ---- the pass ------------------------------------------------------------ */

static DType
index_dtype(const Module *m)
{
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults; i++)
			for (int d = 0; d < op->results[i]->type.rank; d++)
				if (op->results[i]->type.dims[d] > INT32_MAX / 2)
					return D_i64;
	return D_i32;
}

/* What is exposed of those that are asked for. */
static void
start(Decomposing *d, Einsums all)
{
	enum { ALMOST = 8 }; /* full, but for such a part */
	const int64_t most = d->module->mesh.target->hbm_bytes;
	Trial trial = {.d = d, .einsums = all};

	for (int i = 0; i < d->stopped.n; i++)
		APPEND(d->arena, trial.einsums.v, trial.einsums.n, d->stopped.v[i]);
	run_trials(&trial, 1);
	const Outcome *plain = trial.outcome;

	for (int i = 0; i < trial.einsums.n; i++)
		table_set(d->exposed, op_key(d->arena, trial.einsums.v[i].collective),
			(void *)&plain->exposed[i]);
	d->time = plain->time;
	d->copied = plain->copied;
	d->lower = plain->lower;
	d->peak = plain->peak;
	d->limit = greater(most, plain->peak);
	d->lacks_memory = plain->lacks_memory
		|| (plain->peak < INT64_MAX && plain->peak > most - most / ALMOST);
}

/* Where memory is short what does not pay by itself may pay with others. */
static void
tell_or_try_together(Decomposing *d, const Outcome *plain)
{
	Text t = {0};
	bool better = d->lacks_memory && d->ntried > 1 && (d->before || !d->done.n)
		&& try_together(d, plain, &t);

	for (int i = 0; i < d->ntried && d->remarks; i++)
		diag(d->module->session, DIAG_schedule, d->tried[i].where, "%s: %s%s",
			d->tried[i].told, better ? "by itself " : "", d->tried[i].done);
	if (d->remarks && t.n)
		diag(d->module->session, DIAG_schedule, d->tried[0].where, "%s", t.s);
	text_free(&t);
}

static void
tell_stopped_class(const Class *class)
{
	const Einsum *e = class->first;
	Text t = {0};

	text_class(&t, class);
	text_add(&t, ": left as it is, ");
	text_stop(&t, e->stop, e->beside);
	diag(e->collective->module->session, DIAG_schedule, e->dots[0]->range, "%s", t.s);
	text_free(&t);
}

/* Those of one place in the source of which the same is told. */
static const char *
stopped_key(Arena *a, const Einsum *e)
{
	const Op *dot = e->dots[0];
	Text t = {0};

	text_printf(&t, "%d:%d:%d ", dot->range.file, dot->range.begin, dot->range.line);
	text_class(&t, &(Class){.first = e, .n = 1});
	text_stop(&t, e->stop, e->beside);
	return text_take(&t, a);
}

/* Of what nothing hides, once for all copies of a place. */
static void
tell_stopped(const Decomposing *d)
{
	Table *known = table_new(d->arena);
	Class **all = NULL;
	int n = 0;

	for (int i = 0; i < d->stopped.n; i++) {
		const Einsum *e = &d->stopped.v[i];
		const int64_t *exposed = table_get(d->exposed, op_key(d->arena, e->collective));
		if (!exposed || !*exposed)
			continue;
		const char *key = stopped_key(d->arena, e);
		Class *class = table_get(known, key);
		if (!class) {
			class = NEW(d->arena, Class);
			class->first = e;
			table_set(known, key, class);
			APPEND(d->arena, all, n, class);
		}
		class->n++;
	}
	for (int i = 0; i < n; i++)
		tell_stopped_class(all[i]);
}

/* The next class, or one that could be joined now; false: all were tried. */
static bool
try_next(Decomposing *d, Einsums all)
{
	Tried *again = next_again(d);
	Class class;

	if (again) {
		try_again(d, all, again);
		return true;
	}
	if (!next_class(d, all, &class))
		return false;
	table_set(d->seen, class.first->key, (void *)class.first->key);
	try_class(d, all, &class);
	return true;
}

bool
decompose(Module *m, bool remarks)
{
	Arena *a = arena_new();
	Decomposing d = {
		.module = m,
		.arena = a,
		.remarks = remarks,
		.rings = {.arena = a, .offsets = table_new(a), .index = index_dtype(m)},
		.exposed = table_new(a),
		.seen = table_new(a),
		.ops = block_length(m->entry),
	};
	Einsums all = {0};

	if (overlaps[m->overlap].divides) {
		all = einsums_find(m, a);
		d.stopped = remarks ? einsums_stopped(m, a) : (Einsums){0};
	}
	if (all.n || d.stopped.n)
		start(&d, all);
	const Outcome plain = {.time = d.time, .peak = d.peak};
	tell_stopped(&d);
	while (d.tries < MOST_TRIES && try_next(&d, all))
		all = einsums_find(m, a);
	tell_or_try_together(&d, &plain);
	if (d.done.n) {
		m->least = d.lower;
		module_remove_dead(m);
	}
	bool changed = d.done.n > 0;
	if (d.before)
		arena_image_free(d.before);
	arena_free(a);
	return changed;
}
