/*
 * repeated.c - what devices along an axis compute each for itself.
 *
 *   einsum 'bf,fd->bd', line 13: 4 times over, by each device along Y, 524 kFLOP and 3 us
 *     planned for 5 us with its moves, 2 kB; split over Y it would be 7 us, 6 kB
 *
 * Of products, sorts and other kernels of their own what was compared are the prices that
 * `partition` had for the op with all that moves for it.  Copies that calls and unrolled
 * loops made are told once, together.
 *
 *   rms_norm, line 9: 4 times over, by each device along Y, 12 us of a run
 *     split over Y it would be 4.2 us, and what then moves
 *
 * What else is computed takes time only where it is fused; so it is told of the steps
 * of a run, those of one line together.
 */
#include <stdlib.h>
#include "cost/ledger.h"
#include "report/report.h"

enum { MOST_TOLD = 8 };

typedef struct Told {
	const Repeated *first;
	int copies;
	double seconds; /* of all copies and trips */
} Told;

static int
by_seconds(const void *a, const void *b)
{
	const Told *x = *(Told *const *)a, *y = *(Told *const *)b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Those of one place in the source and of one axis; what takes longest first. */
static Told **
find_told(const Module *m, const Ledger *l, int *n)
{
	Table *by_place = table_new(m->arena);
	Told **told = NEW_ARRAY(m->arena, Told *, l->nrepeated + 1);

	*n = 0;
	for (int i = 0; i < l->nrepeated; i++) {
		const Repeated *r = &l->repeated[i];
		const Range *at = &r->op->range;
		const char *place = arena_printf(m->arena, "%d:%d:%d-%d %s %d %.9g %lld",
			at->file, at->line, at->begin, at->end, r->op->label, (int)r->axis.axis,
			r->seconds, (long long)r->trips);
		Told *of = table_get(by_place, place);
		if (!of) {
			told[(*n)++] = of = NEW(m->arena, Told);
			of->first = r;
			table_set(by_place, place, of);
		}
		of->copies++;
		of->seconds += r->seconds * (double)r->trips;
	}
	qsort(told, (size_t)*n, sizeof *told, by_seconds);
	return told;
}

static void
text_price(Text *t, const Price *price)
{
	text_seconds(t, price->seconds);
	text_add(t, ", ");
	text_traffic(t, price->bytes);
}

void
text_repeated(Text *t, Module *m)
{
	const Ledger *l = module_ledger(m);
	int n = 0;
	Told **told = l ? find_told(m, l, &n) : NULL;

	text_add(t, n ? "\nrepeated work\n" : "");
	for (int i = 0; i < n && i < MOST_TOLD; i++) {
		const Repeated *r = told[i]->first;
		Text axis = {0};
		text_axis(&axis, &m->mesh, r->axis);
		text_printf(t, "  %s", r->op->label);
		text_line(t, m, ", ", r->op->range, "");
		text_printf(t, ": %d times over, by each device along %s, ", (int)r->axis.size,
			axis.s);
		if (r->flops > 0) {
			text_flops(t, r->flops);
			text_add(t, " and ");
		}
		text_seconds(t, r->seconds);
		if (!r->counted)
			text_add(t, ", on every trip");
		else if (r->trips != 1)
			text_printf(t, ", %lld times", (long long)r->trips);
		if (told[i]->copies > 1)
			text_printf(t, ", in each of %d copies", told[i]->copies);
		text_add(t, "\n    ");
		if (r->here.known) {
			text_add(t, "planned for ");
			text_price(t, &r->here);
			text_add(t, " with its moves; ");
		}
		if (r->split.known) {
			text_printf(t, "split over %s it would be ", axis.s);
			text_price(t, &r->split);
		} else {
			text_printf(t, "nothing that it reads or makes is split over %s",
				axis.s);
		}
		text_add(t, "\n");
		text_free(&axis);
	}
	if (n > MOST_TOLD)
		text_printf(t, "  and %d more that take less\n", n - MOST_TOLD);
}

/* ---- fused steps ------------------------------------------------------------------- */

typedef struct Steps {
	const TimelineStep *first;
	AxisRef axis;
	int64_t picoseconds; /* of a run, all of one line */
	double split;	     /* ... in seconds, if each device computed its part of it */
} Steps;

/* What would take so much less. */
static double
gain_of(const Steps *of)
{
	return (double)of->picoseconds * 1e-12 - of->split;
}

static int
by_gain(const void *a, const void *b)
{
	const Steps *x = *(Steps *const *)a, *y = *(Steps *const *)b;

	if (gain_of(x) != gain_of(y))
		return gain_of(x) < gain_of(y) ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Is one computed that is told of before, with its moves? */
static bool
is_told_alone(const Op *op)
{
	bool alone = op_is_alone(op) || step_product(op);

	for (int i = 0; i < op->nbodies && !alone; i++)
		for (const Op *o = op->bodies[i]->first; o && !alone; o = o->next)
			alone = op_is_alone(o);
	return alone;
}

/* The same on all devices along the axis.  What depends on which device it is, and all of a
   manual region, has no placement. */
static bool
is_same_along(const Value *v, AxisRef axis)
{
	return !v->no_placement && !placement_uses(&v->placement, axis);
}

static bool
could_split(const Value *v, AxisRef axis)
{
	for (int d = 0; d < v->type.rank; d++)
		if (v->type.dims[d] % axis.size == 0)
			return true;
	return false;
}

/* Of its time once, without what moves then: a launch takes as long. */
static double
share_if_split(const StepCost *cost, AxisRef axis)
{
	double launch = cost->busy[RESOURCE_latency];

	return (launch + (cost->seconds - launch) / axis.size) / cost->seconds;
}

static bool
is_repeated_step(const TimelineStep *s, AxisRef axis)
{
	const Op *op = s->op;
	bool could = false;

	if (s->moves || !(s->cost.flops > 0) || is_told_alone(op))
		return false;
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Value *v =
			i < op->noperands ? op->operands[i] : op->results[i - op->noperands];
		if (!is_same_along(v, axis))
			return false;
		could |= could_split(v, axis);
	}
	return could;
}

/* Those of one line and of one axis; where most is to be gained first. */
static Steps **
find_steps(const Timeline *timeline, Arena *a, int *n)
{
	const Mesh *mesh = &timeline->module->mesh;
	Table *by_place = table_new(a);
	Steps **found = NEW_ARRAY(a, Steps *, timeline->n * mesh->naxes + 1);

	for (int i = 0; i < timeline->n * mesh->naxes; i++) {
		const TimelineStep *s = &timeline->steps[i / mesh->naxes];
		AxisRef axis = axis_whole(mesh, i % mesh->naxes);
		if (axis.size == 1 || !is_repeated_step(s, axis))
			continue;
		const char *place = arena_printf(a, "%d:%d %s %d", s->op->range.file,
			s->op->range.line, s->op->label, axis.axis);
		Steps *of = table_get(by_place, place);
		if (!of) {
			found[(*n)++] = of = NEW(a, Steps);
			*of = (Steps){.first = s, .axis = axis};
			table_set(by_place, place, of);
		}
		of->picoseconds = add_picoseconds(of->picoseconds, step_share(s));
		of->split += (double)step_share(s) * 1e-12 * share_if_split(&s->cost, axis);
	}
	qsort(found, (size_t)*n, sizeof *found, by_gain);
	return found;
}

void
text_repeated_steps(Text *t, Module *m, bool headed)
{
	Arena *a = arena_new();
	int n = 0;
	Steps **found = find_steps(timeline_walk(m, a), a, &n);

	text_add(t, n && !headed ? "\nrepeated work\n" : "");
	for (int i = 0; i < n && i < MOST_TOLD; i++) {
		const Steps *of = found[i];
		Text axis = {0};
		text_axis(&axis, &m->mesh, of->axis);
		text_printf(t, "  %s", of->first->op->label);
		text_line(t, m, ", ", of->first->op->range, "");
		text_printf(t, ": %d times over, by each device along %s, ", (int)of->axis.size,
			axis.s);
		text_picoseconds(t, of->picoseconds);
		text_printf(t, " of a run\n    split over %s it would be ", axis.s);
		text_seconds(t, of->split);
		text_add(t, ", and what then moves\n");
		text_free(&axis);
	}
	if (n > MOST_TOLD)
		text_printf(t, "  and %d more where less is to be gained\n", n - MOST_TOLD);
	arena_free(a);
}
