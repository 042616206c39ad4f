/*
 * backward.c - how long before the end a job begins in an order that is made from there.
 *
 *   dots     e  d  c  b  a                  reductions of 3, one link
 *   from the end        A B C D E           e is 5 reductions from the end, though nothing
 *                                           but its own is on the longest way behind it
 *
 * The longest way to the end does not see that what is behind a job waits for links.  The same
 * graph is put in order from its end: what is waited for is begun, and edges are turned.
 */
#include "sched/overlap/overlap.h"

/* What the job is, seen from the end: what is waited for begins there. */
static Task
task_turned(const Job *job)
{
	Task task = job->task;

	if (task.kind == TASK_start)
		return (Task){.kind = TASK_done};
	if (task.kind == TASK_done) {
		task = job[-1].task;
		task.kind = TASK_start;
	}
	return task;
}

/* The job with the number i is the one with the number n + 1 - i. */
static Graph *
graph_turned(const Graph *g)
{
	Graph *from_end = NEW(g->own, Graph);

	*from_end = (Graph){.own = g->own,
		.work = g->work,
		.jobs = NEW_ARRAY(g->own, Job, g->n + 1)};
	for (int i = g->n - 1; i >= 0; i--)
		graph_add_job(from_end, g->jobs[i].op, task_turned(&g->jobs[i]));
	for (int i = 0; i < g->n; i++)
		for (const struct Edge *e = g->jobs[i].after; e; e = e->next)
			graph_add_edge(from_end, g->n + 1 - e->to->number,
				g->n + 1 - g->jobs[i].number);
	graph_find_paths(from_end);
	return from_end;
}

/* How long before its end, in an order from the other end how long after its begin, the job
   of the place begins. */
static int64_t
from_other_end(const Order *order, int place)
{
	const Task *task = &order->tasks[place];

	if (task->kind == TASK_done)
		return order->tasks[task->start].to;
	return task->kind == TASK_start ? task->from : task->to;
}

static void
find_from_end(Graph *g, const Order *order)
{
	Graph *turned = g->turned;

	if (!turned)
		turned = g->turned = graph_turned(g);
	turned->arena = g->arena;
	for (int i = 0; order && i < g->n; i++)
		turned->jobs[g->n - job_number(g, order->jobs[i])].from_end =
			from_other_end(order, i);
	const Order *from_end = list_schedule(listing_of(turned),
		(Taste){.first = order ? FIRST_from_end : FIRST_path, .share = SHARE_soon},
		INT64_MAX);
	for (int i = 0; i < g->n; i++)
		g->jobs[g->n - job_number(turned, from_end->jobs[i])].from_end =
			from_other_end(from_end, i);
}

/* Without an order, and for the program's, it is found once. */
void
graph_find_from_end(Graph *g, const Order *order)
{
	int64_t **known = !order ? &g->from_end : order == &g->plain ? &g->of_plain : NULL;
	FromEnd from = !order ? FROM_none : order == &g->plain ? FROM_plain : FROM_order;
	bool found = known && *known;

	if (found && g->found == from)
		return;
	g->found = from;
	if (!found)
		find_from_end(g, order);
	if (known && !found)
		*known = NEW_ARRAY(g->own, int64_t, g->n + 1);
	for (int i = 0; i < g->n && known; i++)
		if (found)
			g->jobs[i].from_end = (*known)[i];
		else
			(*known)[i] = g->jobs[i].from_end;
}
