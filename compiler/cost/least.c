/*
 * least.c - how long the work of each resource takes at least, whatever the order.
 *
 * No step begins before its head, and behind each step comes its tail (chains.h); a
 * resource does its work one after the other, or at shares that are no quicker (turns.h).
 */
#include <stdlib.h>
#include "cost/least.h"
#include "cost/turns.h"

/* ---- all --------------------------------------------------------------------------- */

/* A step, and when it can begin. */
typedef struct Start {
	int64_t head;
	const TimelineStep *step;
	int depth; /* in how many bodies it is */
} Start;

typedef struct Least {
	const Timeline *timeline;
	const int64_t *tails;
	Start *starts; /* the earliest first */
	Turns turns;
} Least;

static int
earlier_first(const void *a, const void *b)
{
	const Start *one = a, *other = b;

	return one->head != other->head ? (one->head > other->head) - (one->head < other->head)
					: (one->step > other->step) - (one->step < other->step);
}

static int
depth_of(const Op *op)
{
	int depth = 0;

	for (const Op *around = op->block->parent; around; around = around->block->parent)
		depth++;
	return depth;
}

/* On one link, of all trips: those between slices carry what the network does. */
static int64_t
link_time(const Timeline *t, const TimelineStep *step, int row)
{
	bool network = t->module->mesh.topology_rank && row / 2 == PHYSICAL_slice;
	int64_t time = picoseconds(step->cost.busy[network ? RESOURCE_dcn : RESOURCE_ici]);

	return repeat_picoseconds(lesser(time, step->each), step->trips);
}

/* `row` < 0: the device.  What is under way beside a body and what moves in it do not slow
   each other: of transfers those of one depth. */
static int64_t
least_of(Least *least, int depth, int row, int part)
{
	int n = 0;

	for (int i = 0; i < least->timeline->n; i++) {
		const Start *start = &least->starts[i];
		const TimelineStep *step = start->step;
		bool takes = row < 0 ? !step->moves
				     : step->moves && start->depth == depth
				&& step->cost.links.row[row] >> part & 1;
		Work work = {start->head, 0, least->tails[step->op->id]};
		if (takes)
			work.time =
				row < 0 ? step->total : link_time(least->timeline, step, row);
		if (work.time)
			least->turns.works[n++] = work;
	}
	return work_in_turns(&least->turns, n);
}

static int64_t
busiest_link(Least *least, int depth)
{
	LinkMerge merge = {0};
	int64_t most = 0;

	for (int i = 0; i < least->timeline->n; i++)
		if (least->starts[i].step->moves && least->starts[i].depth == depth)
			links_note(&merge, &least->starts[i].step->cost.links);
	links_choose(&merge);
	for (int row = 0; row < LINK_ROWS; row++)
		for (int part = 0; part < LINK_PARTS; part++)
			if (merge.first.row[row] >> part & 1)
				most = greater(most, least_of(least, depth, row, part));
	return most;
}

int64_t
busiest_resource(const Timeline *t, const int64_t *heads, const int64_t *tails, Arena *a)
{
	Least least = {.timeline = t,
		.tails = tails,
		.starts = NEW_ARRAY(a, Start, t->n + 1),
		.turns = {NEW_ARRAY(a, Work, t->n + 1), NEW_ARRAY(a, Work, t->n + 1), 0}};
	int depth = 0;

	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		least.starts[i] = (Start){heads[step->op->id], step, depth_of(step->op)};
		depth = least.starts[i].depth > depth ? least.starts[i].depth : depth;
	}
	qsort(least.starts, (size_t)t->n, sizeof *least.starts, earlier_first);
	int64_t most = least_of(&least, 0, -1, 0);
	for (; depth >= 0; depth--)
		most = greater(most, busiest_link(&least, depth));
	return most;
}
