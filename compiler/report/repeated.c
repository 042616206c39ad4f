/*
 * repeated.c - products, sorts and other kernels of their own that devices along an axis
 * compute each for itself.
 *
 *   einsum 'bf,fd->bd', line 13: 4 times over, by each device along Y, 524 kFLOP and 3 us
 *     planned for 5 us with its moves, 2 kB; split over Y it would be 7 us, 6 kB
 *
 * What was compared are the prices that `partition` had for the op with all that moves
 * for it.  Copies that calls and unrolled loops made are told once, together.
 *
 * requires  L_resharded, with the ledger of `partition`
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
