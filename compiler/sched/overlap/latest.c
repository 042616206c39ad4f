/*
 * latest.c - what a transfer brings is there as late as it may be.
 *
 *   begin W3   done W3   dot 1   dot 2        dot 1   begin W3   dot 2   done W3
 *
 * What is there long before it is used takes memory for nothing.  A done goes to just
 * before the first that needs it.  From the last to the first, a transfer is then moved
 * so that it ends when it is waited for, or when another begins that uses its links.
 * One that brings no more than it reads, and nothing reads after it, stays: until it is done
 * what it reads is kept.
 */
#include "sched/overlap/overlap.h"

typedef struct Latest {
	const Graph *graph;
	const Order *order;
	int n;
	int *at;		  /* by number of a job: its place */
	int *place;		  /* by place: where it may stand, before what is there */
	int64_t taken[LINK_ROWS]; /* links: from then on */
} Latest;

static int64_t
time_at(const Latest *l, int place)
{
	return place < l->n ? l->order->tasks[place].from : l->order->time;
}

/* The first that needs it. */
static int
first_user(const Latest *l, const Job *done)
{
	int first = l->n;

	for (const struct Edge *e = done->after; e; e = e->next)
		first = (int)lesser(first, l->at[job_number(l->graph, e->to)]);
	return first;
}

/* When the links are taken for something later, or the data are wanted. */
static int64_t
deadline(const Latest *l, const Task *task, int done)
{
	int64_t end = time_at(l, l->place[done]);

	for (int row = 0; row < LINK_ROWS; row++)
		if (task->links->row[row])
			end = lesser(end, l->taken[row]);
	return end;
}

/* The last place to which the thread comes by then. */
static int
place_by(const Latest *l, int from, int to, int64_t time)
{
	while (from < to) {
		int middle = from + (to - from + 1) / 2;
		if (time_at(l, middle) <= time)
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
	int done = l->at[job_number(l->graph, l->order->jobs[i]) + 1];

	if (l->order->jobs[i]->grows) {
		int64_t begin = deadline(l, task, done) - (task->to - task->from);
		l->place[i] = place_by(l, i, l->place[done], greater(begin, task->from));
	}
	for (int row = 0; row < LINK_ROWS; row++)
		if (task->links->row[row])
			l->taken[row] = time_at(l, l->place[i]);
}

/* The jobs at their places, what is moved before what was there. */
static Order
replaced(const Latest *l, Arena *a)
{
	Order order = {NEW_ARRAY(a, Job *, l->n + 1), NEW_ARRAY(a, Task, l->n + 1), 0};
	int *moved = NEW_ARRAY(a, int, l->n + 1); /* by place: the first, from 1 on, */
	int *next = NEW_ARRAY(a, int, l->n + 1);  /* ... and the one after it */
	int *now = NEW_ARRAY(a, int, l->n + 1);
	int n = 0;

	for (int i = l->n - 1; i >= 0; i--)
		if (l->place[i] != i) {
			next[i] = moved[l->place[i]];
			moved[l->place[i]] = i + 1;
		}
	for (int place = 0; place <= l->n; place++) {
		for (int i = moved[place]; i; i = next[i - 1])
			now[i - 1] = n++;
		if (place < l->n && l->place[place] == place)
			now[place] = n++;
	}
	for (int i = 0; i < l->n; i++) {
		Task *task = &order.tasks[now[i]];
		order.jobs[now[i]] = l->order->jobs[i];
		*task = l->order->tasks[i];
		task->critical = false;
		if (task->kind == TASK_done)
			task->start = now[l->order->tasks[i].start];
	}
	order.time = tracks_run(order.tasks, l->n, NULL, a);
	return order;
}

/* False: it would take longer, and stays. */
static bool
replace(const Latest *l, Order *order, Arena *a)
{
	Order later = replaced(l, a);
	bool good = later.time <= order->time;

	if (good)
		*order = later;
	return good;
}

void
begin_latest(const Graph *g, Order *order)
{
	Arena *a = g->arena;
	const Order was = *order;
	Latest l = {.graph = g,
		.order = &was,
		.n = g->n,
		.at = NEW_ARRAY(a, int, g->n + 1),
		.place = NEW_ARRAY(a, int, g->n + 1)};

	for (int i = 0; i < g->n; i++)
		l.at[job_number(g, order->jobs[i])] = l.place[i] = i;
	for (int i = 0; i < g->n; i++)
		if (was.tasks[i].kind == TASK_done && was.jobs[was.tasks[i].start]->grows)
			l.place[i] = first_user(&l, was.jobs[i]);
	replace(&l, order, a);
	for (int row = 0; row < LINK_ROWS; row++)
		l.taken[row] = INT64_MAX;
	for (int i = g->n - 1; i >= 0; i--)
		if (was.tasks[i].kind == TASK_start)
			place_latest(&l, i);
	replace(&l, order, a);
}
