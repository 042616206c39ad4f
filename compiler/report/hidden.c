/*
 * hidden.c - which parts of a transfer are behind other work.
 */
#include <stdlib.h>
#include "cost/tracks.h"
#include "report/hidden.h"

Stretch *
timeline_gaps(const Timeline *timeline, Arena *a, int *n)
{
	Stretch *gaps = NULL;
	int64_t end = 0;

	*n = 0;
	for (int i = 0; i <= timeline->n; i++) {
		int64_t start = i < timeline->n ? timeline->steps[i].start : timeline->time;
		if (i && start > end && timeline->steps[i - 1].trips > 1)
			APPEND(a, gaps, *n, ((Stretch){end, start, false}));
		if (i < timeline->n)
			end = greater(end, start + timeline->steps[i].lasts);
	}
	return gaps;
}

static int
earlier(const void *a, const void *b)
{
	const Stretch *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/* When something is computed; of a loop also all that follows its first trip. */
static Stretch *
busy_stretches(const Timeline *timeline, Arena *a, int *n)
{
	int count, merged = 0;
	const Stretch *gaps = timeline_gaps(timeline, a, &count);
	Stretch *all = NEW_ARRAY(a, Stretch, timeline->n + count + 1);

	for (int i = 0; i < count; i++)
		all[i] = gaps[i];
	for (int i = 0; i < timeline->n; i++) {
		const TimelineStep *s = &timeline->steps[i];
		if (!s->moves && s->lasts)
			all[count++] = (Stretch){s->start, s->start + s->lasts, false};
	}
	qsort(all, (size_t)count, sizeof *all, earlier);
	for (int i = 0; i < count; i++)
		if (merged && all[i].start <= all[merged - 1].end)
			all[merged - 1].end = greater(all[merged - 1].end, all[i].end);
		else
			all[merged++] = all[i];
	*n = merged;
	return all;
}

static void
add_part(Arena *a, Parts *parts, int64_t start, int64_t end, bool hidden)
{
	if (start < end)
		APPEND(a, parts->v, parts->n, ((Stretch){start, end, hidden}));
}

Parts *
timeline_parts(const Timeline *timeline, Arena *a)
{
	Parts *parts = NEW_ARRAY(a, Parts, timeline->n + 1);
	int n, first = 0;
	const Stretch *busy = busy_stretches(timeline, a, &n);

	for (int i = 0; i < timeline->n; i++) {
		const TimelineStep *s = &timeline->steps[i];
		int64_t at = s->start, end = s->start + s->lasts;
		while (first < n && busy[first].end <= at)
			first++;
		if (!s->moves || !s->exposed) {
			add_part(a, &parts[i], at, end, s->moves);
			continue;
		}
		for (int k = first; at < end; k++) {
			int64_t begins = k < n ? lesser(greater(busy[k].start, at), end) : end;
			int64_t ends = k < n ? lesser(greater(busy[k].end, at), end) : end;
			add_part(a, &parts[i], at, begins, false);
			add_part(a, &parts[i], begins, ends, true);
			at = ends;
		}
	}
	return parts;
}
