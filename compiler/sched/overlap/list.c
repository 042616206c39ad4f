/*
 * list.c - an order of a block, by list scheduling on true times.
 *
 *   thread   | dot 0 . . . | dot 1 . . . |
 *   links    | gather 1 |    | gather 2 |
 *
 * The thread is handed one node after the other.  Before it computes, transfers are
 * begun that can be, the one with the longest way before it first: those whose links
 * are idle, and behind them as much as these links carry while it computes.  If nothing
 * can be computed, it waits for what is there first.
 */
#include "sched/overlap/overlap.h"

enum { MOST_HELD = 8 }; /* transfers looked at behind the first that has to wait */

/* Nodes that can be next, the best on top: a heap. */
typedef struct Ready {
	Node **nodes;
	int n;
	First first;
} Ready;

typedef struct Listing {
	Graph *graph;
	Order order;
	int n;
	Tracks *tracks;
	Ready runs, starts, instant; /* the last take no time */
	Node **flights;		     /* begun, not yet waited for */
	int nflights;
	int *begun; /* by number of a start: its place in the order */
} Listing;

/* ---- the heap -------------------------------------------------------------------- */

static bool
is_before(First first, const Node *a, const Node *b)
{
	if (first == FIRST_path && a->path != b->path)
		return a->path > b->path;
	return a->number < b->number;
}

static void
put(Ready *r, Node *node)
{
	int i = r->n++;

	for (; i && is_before(r->first, node, r->nodes[(i - 1) / 2]); i = (i - 1) / 2)
		r->nodes[i] = r->nodes[(i - 1) / 2];
	r->nodes[i] = node;
}

static Node *
take(Ready *r)
{
	Node *best = r->nodes[0], *last = r->nodes[--r->n];
	int i = 0;

	for (int child = 1; child < r->n; child = 2 * i + 1) {
		if (child + 1 < r->n
			&& is_before(r->first, r->nodes[child + 1], r->nodes[child]))
			child++;
		if (!is_before(r->first, r->nodes[child], last))
			break;
		r->nodes[i] = r->nodes[child];
		i = child;
	}
	r->nodes[i] = last;
	return best;
}

/* ---- one node after the other ---------------------------------------------------- */

static void
make_ready(Listing *list, Node *node)
{
	if (node->task.kind == TASK_done)
		list->flights[list->nflights++] = node;
	else if (node->task.kind == TASK_start)
		put(&list->starts, node);
	else
		put(node->task.picoseconds ? &list->runs : &list->instant, node);
}

static void
add(Listing *list, Node *node)
{
	Task *task = &list->order.tasks[list->n];

	*task = node->task;
	if (task->kind == TASK_done)
		task->start = list->begun[node->number - 1];
	if (task->kind == TASK_start)
		list->begun[node->number] = list->n;
	list->order.nodes[list->n++] = node;
	tracks_add(list->tracks, list->order.tasks, task);
	for (const struct Edge *e = node->after; e; e = e->next)
		if (!--e->to->waits)
			make_ready(list, e->to);
}

static const Task *
flight_of(const Listing *list, const Node *done)
{
	return &list->order.tasks[list->begun[done->number - 1]];
}

/* The done of what is there soonest, if that is within so long; NULL: none. */
static Node *
take_done(Listing *list, int64_t within)
{
	int best = -1;

	for (int i = 0; i < list->nflights; i++) {
		int64_t left = tracks_left(list->tracks, flight_of(list, list->flights[i]));
		if (left <= within) {
			within = left ? left - 1 : 0;
			best = i;
		}
	}
	if (best < 0)
		return NULL;
	Node *node = list->flights[best];
	list->flights[best] = list->flights[--list->nflights];
	return node;
}

/* What can be begun while the thread is busy for so long. */
static void
begin_transfers(Listing *list, int64_t busy)
{
	Node *held[MOST_HELD];
	int n = 0;

	while (list->starts.n && n < MOST_HELD) {
		Node *node = take(&list->starts);
		int64_t before = tracks_busy(list->tracks, &node->task.links);
		if (before && add_picoseconds(before, node->task.picoseconds) > busy)
			held[n++] = node;
		else
			add(list, node);
	}
	while (n)
		put(&list->starts, held[--n]);
}

Order
list_schedule(Graph *g, First first)
{
	Arena *a = g->arena;
	Listing list = {.graph = g,
		.order = {NEW_ARRAY(a, Node *, g->n + 1), NEW_ARRAY(a, Task, g->n + 1), 0},
		.tracks = tracks_new(a, g->n),
		.runs = {NEW_ARRAY(a, Node *, g->n + 1), 0, first},
		.starts = {NEW_ARRAY(a, Node *, g->n + 1), 0, FIRST_path},
		.instant = {NEW_ARRAY(a, Node *, g->n + 1), 0, FIRST_program},
		.flights = NEW_ARRAY(a, Node *, g->n + 1),
		.begun = NEW_ARRAY(a, int, g->n + 1)};

	for (int i = 0; i < g->n; i++)
		g->nodes[i].waits = g->nodes[i].before;
	for (int i = 0; i < g->n; i++)
		if (!g->nodes[i].before)
			make_ready(&list, &g->nodes[i]);
	while (list.n < g->n) {
		Node *done = take_done(&list, 0);
		if (list.instant.n || done) {
			add(&list, done ? done : take(&list.instant));
			continue;
		}
		begin_transfers(&list, list.runs.n ? list.runs.nodes[0]->task.picoseconds : 0);
		add(&list, list.runs.n ? take(&list.runs) : take_done(&list, INT64_MAX));
	}
	list.order.time = tracks_end(list.tracks);
	return list.order;
}

Order
plain_schedule(Graph *g)
{
	Arena *a = g->arena;
	Order order = {NEW_ARRAY(a, Node *, g->n + 1), NEW_ARRAY(a, Task, g->n + 1), 0};

	for (int i = 0; i < g->n; i++) {
		order.nodes[i] = &g->nodes[i];
		order.tasks[i] = g->nodes[i].task;
		if (order.tasks[i].kind == TASK_done)
			order.tasks[i].start = i - 1;
	}
	order.time = tracks_run(order.tasks, g->n, a);
	return order;
}
