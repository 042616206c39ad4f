/*
 * least.c - how long the work of each resource takes at least, whatever the order.
 *
 * No step begins before its head, and behind each step comes its tail (chains.h); a
 * resource does its work one after the other, or at shares that are no quicker (turns.h).
 * Of loops that the device comes to, too, one is over before the next begins:
 *
 *   for 24 layers: f, all-reduce, g          24 * (f + all-reduce + g), if g of one is what
 *   for 24 layers: u, all-reduce, v          f of the next needs; and as much again
 */
#include <stdlib.h>
#include "cost/least.h"
#include "cost/turns.h"
#include "ir/flow.h"

/* ---- all --------------------------------------------------------------------------- */

/* A step, or a loop that no other is around, and when it can begin. */
typedef struct Start {
	int64_t head, tail;
	int64_t device;		  /* so long it needs the device; 0: a loop around it does */
	const TimelineStep *step; /* NULL: a loop */
	int depth;		  /* in how many bodies it is */
} Start;

enum { STEPS = -2, LOOPS = -1 }; /* the device, for the row of a link */

typedef struct Least {
	const Timeline *timeline;
	Start *starts; /* the earliest first */
	int n;
	Turns turns;
} Least;

static int
earlier_first(const void *a, const void *b)
{
	const Start *one = a, *other = b;

	return one->head != other->head ? (one->head > other->head) - (one->head < other->head)
					: (one->step > other->step) - (one->step < other->step);
}

/* ---- loops ---------------------------------------------------------------------------- */

static const Op *
outermost_loop(const Op *op)
{
	const Op *outermost = NULL;

	for (; op; op = op->block->parent)
		if (op_is_loop(op))
			outermost = op;
	return outermost;
}

static int
depth_of(const Op *op)
{
	int depth = 0;

	for (const Op *around = op->block->parent; around; around = around->block->parent)
		depth++;
	return depth;
}

/* On one link, once: those between slices carry what the network does. */
static int64_t
link_time(const Timeline *t, const TimelineStep *step, int row)
{
	bool network = t->module->mesh.topology_rank && row / 2 == PHYSICAL_slice;
	int64_t time = picoseconds(step->cost.busy[network ? RESOURCE_dcn : RESOURCE_ici]);

	return lesser(time, step->each);
}

static void
add_link_times(LinkSums *sums, const Timeline *t, const TimelineStep *step)
{
	for (int row = 0; row < LINK_ROWS; row++) {
		LinkSet of_row = {0};
		of_row.row[row] = step->cost.links.row[row];
		if (of_row.row[row])
			links_add(sums, &of_row, link_time(t, step, row));
	}
}

void
busiest_links(const Timeline *t, int64_t *links, Arena *a)
{
	LinkSums **sums = NEW_ARRAY(a, LinkSums *, t->module->nops + 1); /* by op id */

	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		const Op *loop = step->op->block->parent;
		if (!step->moves || !loop || !op_is_loop(loop))
			continue;
		if (!sums[loop->id])
			sums[loop->id] = NEW(a, LinkSums);
		add_link_times(sums[loop->id], t, step);
	}
	for (int i = 0; i < t->nspans; i++) {
		int id = t->spans[i].op->id;
		for (int bit = 0; sums[id] && bit < LINK_WORDS * 64; bit++)
			links[id] = greater(links[id], sums[id]->of[bit / 64][bit % 64]);
	}
}

static bool
moves_at(const Start *start, int depth)
{
	return start->step && start->step->moves && start->depth == depth;
}

/* On the device: each step by itself, or loops as one. */
static int64_t
device_time(const Start *start, int row)
{
	bool computes = start->step && !start->step->moves;

	if (row == LOOPS)
		return start->device;
	return row == STEPS && computes ? start->step->total : 0;
}

/* `row`: STEPS or LOOPS, or of the link.  What is under way beside a body and what moves in it
   do not slow each other: of transfers those of one depth. */
static int64_t
least_of(Least *least, int depth, int row, int part)
{
	int n = 0;

	for (int i = 0; i < least->n; i++) {
		const Start *start = &least->starts[i];
		const TimelineStep *step = start->step;
		Work work = {start->head, device_time(start, row), start->tail};
		if (row >= 0 && moves_at(start, depth) && step->cost.links.row[row] >> part & 1)
			work.time = repeat_picoseconds(link_time(least->timeline, step, row),
				step->trips);
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

	for (int i = 0; i < least->n; i++)
		if (moves_at(&least->starts[i], depth))
			links_note(&merge, &least->starts[i].step->cost.links);
	links_choose(&merge);
	for (int row = 0; row < LINK_ROWS; row++)
		for (int part = 0; part < LINK_PARTS; part++)
			if (merge.first.row[row] >> part & 1)
				most = greater(most, least_of(least, depth, row, part));
	return most;
}

/* Of a loop the head is that of its first step.  Returns how many bodies the deepest is in. */
static int
find_starts(Least *least, const Bounds *bounds, Start *loops)
{
	const Timeline *t = least->timeline;
	int depth = 0;

	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		const Op *op = step->op, *loop = outermost_loop(op);
		Start start = {.head = bounds->heads[op->id],
			.tail = bounds->tails[op->id],
			.step = step,
			.depth = depth_of(op)};
		if (loop && !loops[loop->id].device)
			loops[loop->id] = (Start){.head = start.head,
				.tail = bounds->tails[loop->id],
				.device = bounds->loops[loop->id]};
		if (loop)
			loops[loop->id].head = lesser(loops[loop->id].head, start.head);
		else if (!step->moves)
			start.device = step->total;
		least->starts[least->n++] = start;
		depth = start.depth > depth ? start.depth : depth;
	}
	return depth;
}

int64_t
busiest_resource(const Timeline *t, const Bounds *bounds, Arena *a)
{
	int room = t->n + t->nspans + 1;
	Start *loops = NEW_ARRAY(a, Start, t->module->nops + 1); /* by op id */
	Least least = {.timeline = t,
		.starts = NEW_ARRAY(a, Start, room),
		.turns = {NEW_ARRAY(a, Work, room), NEW_ARRAY(a, Work, room), 0}};
	int depth = find_starts(&least, bounds, loops);

	for (int i = 0; i < t->nspans; i++)
		if (loops[t->spans[i].op->id].device)
			least.starts[least.n++] = loops[t->spans[i].op->id];
	qsort(least.starts, (size_t)least.n, sizeof *least.starts, earlier_first);
	int64_t most = greater(least_of(&least, 0, STEPS, 0), least_of(&least, 0, LOOPS, 0));
	for (; depth >= 0; depth--)
		most = greater(most, busiest_link(&least, depth));
	return most;
}
