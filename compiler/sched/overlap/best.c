/*
 * best.c - the quickest of a few orders.
 *
 *   at least 33.7    as the program has it 52.7    by the longest tail 39.1    38.7
 *
 * Lists are made to a few tastes, some with what is farthest from the end in an order that is
 * made from there first, and, of what is not near the least that any order
 * takes, with decisions changed by chance, the same each time.  Then as the best of these, but
 * that some transfers do not begin as soon as they can: what nobody waits for has no links of
 * what all wait for.  How many jobs are put in order by chance is bounded, so that a small
 * graph is tried often and a large one takes a time that grows with it; of a large one fewer
 * tastes are tried.
 */
#include <string.h>
#include "sched/overlap/overlap.h"

enum {
	TASTES = 10,
	FROM_END = 2,  /* of those the first whose order is made from the end */
	SHAKEN = 6,    /* of those from the second on, that do not keep the program's order */
	ALWAYS = 5,    /* of those, for a graph of any size */
	LARGE = 2000,  /* jobs of a graph of which, where its thread is held back, those from */
	HELD_FROM = 3, /* ... here on are tried first with what is last in the program first */
	BY_CHANCE = 6000, /* jobs put in order by chance, */
	LATER = 6000,	  /* ... and as in the best order, some transfers later */
	WORTH = 100,	  /* what it has to gain, of the time: its order is harder to read */
};

/* As the program has it, nothing beside it. */
static Order
plain_order(const Graph *g)
{
	Arena *a = g->own;
	Order order = {NEW_ARRAY(a, Job *, g->n + 1), NEW_ARRAY(a, Task, g->n + 1), 0};

	for (int i = 0; i < g->n; i++) {
		order.jobs[i] = &g->jobs[i];
		order.tasks[i] = g->jobs[i].task;
		if (order.tasks[i].kind == TASK_done)
			order.tasks[i].start = i - 1;
	}
	order.time = tracks_run(order.tasks, g->n, NULL, a);
	return order;
}

static const Order *
plain_known(Graph *g)
{
	if (!g->plain.jobs)
		g->plain = plain_order(g);
	return &g->plain;
}

static Order
copy_order(const Graph *g, Order order)
{
	size_t n = (size_t)g->n + 1;

	order.jobs = arena_copy(g->arena, order.jobs, n * sizeof(Job *));
	order.tasks = arena_copy(g->arena, order.tasks, n * sizeof(Task));
	return order;
}

/* No order takes less: the longest way, the thread's work, that of the busiest link. */
static int64_t
least_time(Graph *g)
{
	if (g->least)
		return g->least;
	g->least = greater(graph_work(g)->thread, graph_work(g)->link);
	for (int i = 0; i < g->n; i++)
		g->least = greater(g->least, g->jobs[i].path);
	return g->least;
}

/* Nearer to the least than anybody would see. */
static bool
is_good(const Order *order, int64_t least)
{
	return order->time - least <= least / 200;
}

static void
keep(Order *best, const Order *order, const Graph *g)
{
	if (best->jobs == g->plain.jobs) {
		*best = copy_order(g, *order);
		return;
	}
	best->time = order->time;
	memcpy(best->jobs, order->jobs, (size_t)g->n * sizeof *best->jobs);
	memcpy(best->tasks, order->tasks, (size_t)g->n * sizeof *best->tasks);
}

/* The i-th taste; beyond those that are written here decisions are changed by chance. */
static Taste
taste_of(int i)
{
	static const Taste tastes[TASTES] = {
		{FIRST_program, SHARE_never, false, 0, 0},
		{FIRST_path, SHARE_soon, true, 0, 0},
		{FIRST_from_end, SHARE_soon, false, 0, 0},
		{FIRST_from_end, SHARE_never, false, 0, 0},
		{FIRST_from_end, SHARE_soon, false, 0, 0},
		{FIRST_tail, SHARE_never, false, 0, 0},
		{FIRST_tail, SHARE_always, true, 0, 0},
		{FIRST_order, SHARE_never, false, 0, 0},
		{FIRST_program, SHARE_always, false, 0, 0},
		{FIRST_from_end, SHARE_pressing, false, 0, 0},
	};
	Taste taste = tastes[i < TASTES ? i : 1 + i % SHAKEN];

	taste.shake = i < TASTES ? 0 : i;
	return taste;
}

/* The tastes that a graph is put in order to. */
typedef struct Tries {
	int n; /* all; then as in the best order, but some transfers later: */
	int later;
	bool large;
	bool program; /* all with what is last in the program first from its end */
} Tries;

/* Where the thread is held back, orders are near the program's: its own from the end. */
static Tries
tries_of(const Graph *g, First first)
{
	Tries tries = {.large = g->n > LARGE && first < FIRST_program};

	if (tries.large && (g->ahead || g->held)) {
		tries.program = true;
		tries.n = ALWAYS - HELD_FROM;
		return tries;
	}
	tries.n = (first < FIRST_program ? ALWAYS : TASTES) + (g->n ? BY_CHANCE / g->n : 0);
	tries.later = g->n && !g->held && !tries.large ? LATER / g->n : 0;
	return tries;
}

/* In a large graph little is to be had from the end of what was made from the end. */
static bool
is_enough(Tries tries, int i, Taste of_best)
{
	return tries.large && i == FROM_END + 1 && of_best.first == FIRST_from_end;
}

/* Where transfers begin later, each other time nothing else is by chance. */
static Taste
taste_tried(Tries tries, int i, Taste of_best)
{
	Taste taste = i >= tries.n ? of_best
		: tries.program	   ? taste_of(ALWAYS - 1 - i)
				   : taste_of(i);

	taste.later = i < tries.n ? 0 : i;
	if (taste.later && i % 2)
		taste.shake = 0;
	return taste;
}

/* What is last in it comes first from the end; NULL: what has the longest way there. */
static const Order *
order_for_end(const Graph *g, Tries tries, int i, const Order *best)
{
	if (tries.program)
		return &g->plain;
	if (i == FROM_END)
		return NULL;
	return best->jobs == g->plain.jobs ? &g->plain : best;
}

Order
best_order(Graph *g, First first, int64_t within)
{
	Order best = *plain_known(g);
	Listing *list = listing_of(g);
	int64_t bound = least_time(g);
	Tries tries = tries_of(g, first);
	Taste of_best = taste_of(0);
	bool newer = true;

	for (int i = 0; i < tries.n + tries.later && bound < within && !is_good(&best, bound)
		&& !is_enough(tries, i, of_best);
		i++) {
		Taste taste = taste_tried(tries, i, of_best);
		if (taste.first < first)
			continue;
		if (taste.first == FIRST_from_end && (newer || tries.program)) {
			graph_find_from_end(g, order_for_end(g, tries, i, &best));
			newer = tries.program || i == FROM_END;
		}
		int64_t worth = taste.shake && !taste.later ? best.time / WORTH : 0;
		const Order *order =
			list_schedule(list, taste, lesser(within, best.time - worth));
		if (!order && tries.program && within < INT64_MAX)
			break; /* the first is mostly the quickest of these */
		if (!order)
			continue;
		keep(&best, order, g);
		listing_keep(list);
		newer = true;
		of_best = taste;
	}
	bool plain = best.jobs == g->plain.jobs;
	return plain && best.time <= within ? copy_order(g, best) : best;
}
