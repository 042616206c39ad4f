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

/* On one link, once: those between slices carry what the network does. */
static int64_t
link_time(const Timeline *t, const TimelineStep *step, int row)
{
	bool network = t->module->mesh.topology_rank && row / 2 == PHYSICAL_slice;
	int64_t time = picoseconds(step->cost.busy[network ? RESOURCE_dcn : RESOURCE_ici]);

	return lesser(time, step->each);
}

void
link_turns(const Timeline *t, const LinkSet **moves, int64_t *carried)
{
	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		const LinkSet *links = &step->cost.links;
		if (!step->moves || link_set_is_empty(links))
			continue;
		int64_t least = INT64_MAX;
		for (int row = 0; row < LINK_ROWS; row++)
			if (links->row[row])
				least = lesser(least, link_time(t, step, row));
		moves[step->op->id] = links;
		carried[step->op->id] = least;
	}
}

static void
add_link_times(LinkSums *sums, const Timeline *t, const TimelineStep *step, int64_t times)
{
	for (int row = 0; row < LINK_ROWS; row++) {
		LinkSet of_row = {0};
		of_row.row[row] = step->cost.links.row[row];
		if (of_row.row[row])
			links_add(sums, &of_row,
				repeat_picoseconds(link_time(t, step, row), times));
	}
}

void
busiest_links(const Timeline *t, int64_t *links, Arena *a)
{
	LinkSums **sums = NEW_ARRAY(a, LinkSums *, t->module->nops + 1); /* by op id */

	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		const Op *op = step->op->block->parent;
		int64_t times = 1;
		for (; step->moves && op; op = op->block->parent) {
			if (!op_is_loop(op))
				continue;
			if (!sums[op->id])
				sums[op->id] = NEW(a, LinkSums);
			add_link_times(sums[op->id], t, step, times);
			if (op_ints(op, A_trips)->n)
				times = repeat_picoseconds(times, op_int(op, A_trips));
		}
	}
	for (int i = 0; i < t->nspans; i++) {
		int id = t->spans[i].op->id;
		for (int bit = 0; sums[id] && bit < LINK_WORDS * 64; bit++)
			links[id] = greater(links[id], sums[id]->of[bit / 64][bit % 64]);
	}
}

static bool
moves(const Start *start)
{
	return start->step && start->step->moves;
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

/* `row`: STEPS or LOOPS, or of the link. */
static int64_t
least_of(Least *least, int row, int part)
{
	int n = 0;

	for (int i = 0; i < least->n; i++) {
		const Start *start = &least->starts[i];
		const TimelineStep *step = start->step;
		Work work = {start->head, device_time(start, row), start->tail};
		if (row >= 0 && moves(start) && step->cost.links.row[row] >> part & 1)
			work.time = repeat_picoseconds(link_time(least->timeline, step, row),
				step->trips);
		if (work.time)
			least->turns.works[n++] = work;
	}
	return work_in_turns(&least->turns, n);
}

static int64_t
busiest_link(Least *least)
{
	LinkMerge merge = {0};
	int64_t most = 0;

	for (int i = 0; i < least->n; i++)
		if (moves(&least->starts[i]))
			links_note(&merge, &least->starts[i].step->cost.links);
	links_choose(&merge);
	for (int row = 0; row < LINK_ROWS; row++)
		for (int part = 0; part < LINK_PARTS; part++)
			if (merge.first.row[row] >> part & 1)
				most = greater(most, least_of(least, row, part));
	return most;
}

/* Of a loop the head is that of its first step. */
static void
find_starts(Least *least, const Bounds *bounds, Start *loops)
{
	const Timeline *t = least->timeline;

	for (int i = 0; i < t->n; i++) {
		const TimelineStep *step = &t->steps[i];
		const Op *op = step->op, *loop = outermost_loop(op);
		Start start = {.head = bounds->heads[op->id],
			.tail = bounds->tails[op->id],
			.step = step};
		if (loop && !loops[loop->id].device)
			loops[loop->id] = (Start){.head = start.head,
				.tail = bounds->tails[loop->id],
				.device = bounds->loops[loop->id]};
		if (loop)
			loops[loop->id].head = lesser(loops[loop->id].head, start.head);
		else if (!step->moves)
			start.device = step->total;
		least->starts[least->n++] = start;
	}
}

int64_t
busiest_resource(const Timeline *t, const Bounds *bounds, Arena *a)
{
	int room = t->n + t->nspans + 1;
	Start *loops = NEW_ARRAY(a, Start, t->module->nops + 1); /* by op id */
	Least least = {.timeline = t,
		.starts = NEW_ARRAY(a, Start, room),
		.turns = {NEW_ARRAY(a, Work, room), NEW_ARRAY(a, Work, room), 0}};

	find_starts(&least, bounds, loops);
	for (int i = 0; i < t->nspans; i++)
		if (loops[t->spans[i].op->id].device)
			least.starts[least.n++] = loops[t->spans[i].op->id];
	qsort(least.starts, (size_t)least.n, sizeof *least.starts, earlier_first);
	int64_t most = greater(least_of(&least, STEPS, 0), least_of(&least, LOOPS, 0));
	return greater(most, busiest_link(&least));
}
