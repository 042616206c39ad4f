/*
 * latest.c - each transfer begins as late as it may.
 *
 *   begin W3   dot 1   dot 2   done W3          dot 1   begin W3   dot 2   done W3
 *
 * What is there long before it is waited for takes memory for nothing.  From the last
 * to the first, a transfer is moved so that it ends when it is waited for, or when
 * another begins that uses its links.
 */
#include <stdlib.h>
#include "sched/overlap/overlap.h"

typedef struct Latest {
	const Order *order;
	int n;
	int *done;		  /* by place of a begin: of its done */
	int *place;		  /* ... where it may stand: before that job */
	int64_t taken[LINK_ROWS]; /* links: from then on */
} Latest;

/* When the links are taken for something later, or the data are wanted. */
static int64_t
deadline(const Latest *l, int i)
{
	const Task *task = &l->order->tasks[i];
	int64_t end = l->order->tasks[l->done[i]].from;

	for (int row = 0; row < LINK_ROWS; row++)
		if (task->links.row[row])
			end = lesser(end, l->taken[row]);
	return end;
}

/* The last place to which the thread comes by then. */
static int
place_by(const Latest *l, int from, int to, int64_t time)
{
	while (from < to) {
		int middle = from + (to - from + 1) / 2;
		if (l->order->tasks[middle].from <= time)
			from = middle;
		else
			to = middle - 1;
	}
	return from;
}

static void
place_latest(Latest *l, int i)
{
	const Task *task = &l->order->tasks[i];
	int64_t begin = deadline(l, i) - (task->to - task->from);

	l->place[i] = place_by(l, i, l->done[i], greater(begin, task->from));
	for (int row = 0; row < LINK_ROWS; row++)
		if (task->links.row[row])
			l->taken[row] = l->order->tasks[l->place[i]].from;
}

typedef struct Placed {
	int place, was; /* what is moved stands before what was there */
} Placed;

static int
by_place(const void *a, const void *b)
{
	const Placed *x = a, *y = b;
	bool moved_x = x->place != x->was, moved_y = y->place != y->was;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return moved_x != moved_y ? moved_y - moved_x : x->was - y->was;
}

/* The jobs at their places. */
static Order
replaced(const Latest *l, Arena *a)
{
	Order order = {NEW_ARRAY(a, Job *, l->n + 1), NEW_ARRAY(a, Task, l->n + 1), 0};
	Placed *placed = NEW_ARRAY(a, Placed, l->n + 1);
	int *now = NEW_ARRAY(a, int, l->n + 1);

	for (int i = 0; i < l->n; i++)
		placed[i] = (Placed){l->place[i], i};
	if (l->n)
		qsort(placed, (size_t)l->n, sizeof *placed, by_place);
	for (int i = 0; i < l->n; i++) {
		int was = placed[i].was;
		now[was] = i;
		order.jobs[i] = l->order->jobs[was];
		order.tasks[i] = order.jobs[i]->task;
		if (order.tasks[i].kind == TASK_done)
			order.tasks[i].start = now[l->order->tasks[was].start];
	}
	order.time = tracks_run(order.tasks, l->n, a);
	return order;
}

void
begin_latest(const Graph *g, Order *order)
{
	Arena *a = g->arena;
	Latest l = {.order = order,
		.n = g->n,
		.done = NEW_ARRAY(a, int, g->n + 1),
		.place = NEW_ARRAY(a, int, g->n + 1)};

	for (int row = 0; row < LINK_ROWS; row++)
		l.taken[row] = INT64_MAX;
	for (int i = 0; i < g->n; i++) {
		l.place[i] = i;
		if (order->tasks[i].kind == TASK_done)
			l.done[order->tasks[i].start] = i;
	}
	for (int i = g->n - 1; i >= 0; i--)
		if (order->tasks[i].kind == TASK_start)
			place_latest(&l, i);
	Order later = replaced(&l, a);
	if (later.time <= order->time)
		*order = later;
}
