/*
 * overlap_test.c - orders of small random graphs, against the best there is.
 *
 *   overlap_test [SEED [COUNT]]
 *
 * The best is found by trying: a prefix that takes as long as the best order so far is
 * not gone on with.
 */
#include <stdio.h>
#include <stdlib.h>
#include "sched/overlap/overlap.h"

enum { MOST = 10, ROWS = 3 };

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static uint64_t state;

static int
draw(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (uint64_t)n);
}

static Task
random_task(Arena *a, bool moves)
{
	LinkSet *links = NEW(a, LinkSet);

	Task task = {.picoseconds = 1 + draw(moves ? 40 : 30), .moves = moves};

	if (!moves)
		return task;
	task.kind = TASK_start;
	task.shared = task.picoseconds - draw(2);
	task.links = links;
	links->row[draw(ROWS)] = 1;
	if (!draw(4))
		links->row[draw(ROWS)] = 1;
	return task;
}

/* Steps and transfers, of which a later one may need an earlier one. */
static Graph *
random_graph(Arena *a, int steps)
{
	Graph *g = NEW(a, Graph);
	int last[MOST], first[MOST];

	*g = (Graph){.arena = a, .jobs = NEW_ARRAY(a, Job, 2 * MOST)};
	for (int i = 0; i < steps; i++) {
		Task task = random_task(a, draw(5) < 2);
		first[i] = last[i] = graph_add_job(g, NULL, task);
		if (task.moves) {
			g->jobs[g->n - 1].grows = draw(2);
			last[i] = graph_add_job(g, NULL, (Task){.kind = TASK_done});
			graph_add_edge(g, first[i], last[i]);
		}
		for (int k = 0; k < i; k++)
			if (!draw(3))
				graph_add_edge(g, last[k], first[i]);
	}
	graph_find_paths(g);
	return g;
}

/* ---- the best ------------------------------------------------------------------------ */

typedef struct Search {
	Graph *graph;
	Task tasks[2 * MOST];
	int at[2 * MOST + 1]; /* by number: its place */
	int n;
	int64_t best;
} Search;

/* Of the jobs in order the last has come to its end, transfers may go on. */
static int64_t
time_so_far(Search *search)
{
	Arena *a = arena_new();
	Tracks *tracks = tracks_new(a, NULL);

	for (int i = 0; i < search->n; i++)
		tracks_add(tracks, search->tasks, &search->tasks[i]);
	int64_t time = search->n == search->graph->n ? tracks_end(tracks) : tracks_now(tracks);
	arena_free(a);
	return time;
}

static void
search_on(Search *search)
{
	Graph *g = search->graph;
	int64_t time = time_so_far(search);

	if (time >= search->best)
		return;
	if (search->n == g->n)
		search->best = time;
	for (int i = 0; i < g->n && search->n < g->n; i++) {
		Job *job = &g->jobs[i];
		if (job->waits || search->at[job->number])
			continue;
		Task *task = &search->tasks[search->n++];
		*task = job->task;
		if (task->kind == TASK_done)
			task->start = search->at[job->number - 1] - 1;
		search->at[job->number] = search->n;
		for (struct Edge *e = job->after; e; e = e->next)
			e->to->waits--;
		search_on(search);
		for (struct Edge *e = job->after; e; e = e->next)
			e->to->waits++;
		search->at[job->number] = 0;
		search->n--;
	}
}

static int64_t
best_time(Graph *g)
{
	Search search = {.graph = g, .best = INT64_MAX};

	for (int i = 0; i < g->n; i++)
		g->jobs[i].waits = g->jobs[i].before;
	search_on(&search);
	return search.best;
}

/* ---- orders --------------------------------------------------------------------------- */

static bool
is_an_order(const Graph *g, const Order *order)
{
	int *at = NEW_ARRAY(g->arena, int, g->n + 1);

	for (int i = 0; i < g->n; i++)
		at[order->jobs[i]->number] = i + 1;
	for (int i = 0; i < g->n; i++)
		for (const struct Edge *e = g->jobs[i].after; e; e = e->next)
			if (!at[i + 1] || at[i + 1] >= at[e->to->number])
				return false;
	return true;
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int count = argc > 2 ? atoi(argv[2]) : 2000, near = 0, orders = 0;
	double worst = 1;

	state = seed;
	for (int i = 0; i < count; i++) {
		Arena *a = arena_new();
		Graph *g = random_graph(a, 3 + draw(4));
		Order order = best_order(g, FIRST_path, INT64_MAX), latest = order;
		begin_latest(g, &latest);
		int64_t best = best_time(g);
		double ratio = (double)latest.time / (double)best;
		orders += is_an_order(g, &order) && is_an_order(g, &latest)
			&& latest.time <= order.time && best <= latest.time;
		near += ratio <= 1.02;
		worst = ratio > worst ? ratio : worst;
		arena_free(a);
	}
	printf("# seed %llu: %d of %d within 2 %% of the best, the worst %.3f of it\n",
		(unsigned long long)seed, near, count, worst);
	ok(orders == count, "all are orders, no better than the best");
	ok(near >= count * 95 / 100, "19 of 20 are within 2 % of the best");
	ok(worst <= 1.15, "none is beyond 15 %");
	printf("1..%d\n", tests);
	return orders < count || near < count * 95 / 100 || worst > 1.15;
}
