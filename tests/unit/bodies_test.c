/*
 * bodies_test.c - loops as one task, beside the same trips one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include "link_tasks.h"

enum { MOST_TASKS = 16, LOOPS = 1000 };

static int tests;
static uint64_t state = 1;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static int64_t
draw(int64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((state >> 33) % (uint64_t)n);
}

static Task
loop_of(const Task *tasks, int n, int64_t trips, Arena *a)
{
	Body body = body_of(arena_copy(a, tasks, (size_t)n * sizeof *tasks), n, a);

	body.times = trips;
	return bodies_task(body, (Body){0}, a);
}

/* ---- random loops --------------------------------------------------------------------- */

typedef struct Example {
	Task body[MOST_TASKS]; /* the last is an inner loop, if there is one */
	int n;
	Task inner[MOST_TASKS];
	int ninner;
	int64_t trips, inner_trips;
	Task beside[2], behind;
	int nbeside;
} Example;

static int
draw_body(Task *tasks)
{
	int n = 0, start = -1;

	for (int i = 2 + (int)draw(5); i; i--) {
		int64_t time = 1000 + draw(1000) * 10;
		int kind = (int)draw(4);
		if (start >= 0 && draw(2)) {
			tasks[n++] = done(start);
			start = -1;
		}
		if (kind == 3 && start < 0) {
			start = n;
			tasks[n++] = move(TASK_start, time, 1 + draw(3));
		} else {
			tasks[n++] = kind < 2 ? run(time) : move(TASK_run, time, 1 + draw(3));
		}
	}
	if (start >= 0)
		tasks[n++] = done(start);
	return n;
}

static int64_t
time_of(const Task *tasks, int n)
{
	int64_t time = 0;

	for (int i = 0; i < n; i++)
		time += tasks[i].picoseconds;
	return time;
}

static Example
draw_example(bool nested)
{
	Example e = {.trips = 4 << draw(4), .inner_trips = 2 + draw(3)};

	e.n = draw_body(e.body);
	e.ninner = nested ? draw_body(e.inner) : 0;
	int64_t trip = time_of(e.body, e.n) + time_of(e.inner, e.ninner) * e.inner_trips;
	e.nbeside = 1 + (int)draw(2);
	for (int i = 0; i < e.nbeside; i++)
		e.beside[i] = move(TASK_start, 1000 + draw(trip * e.trips), 1 + draw(3));
	e.behind = run(1000 + draw(trip));
	return e;
}

/* With the loop, or all its trips, between what begins and what waits. */
static int
whole(const Example *e, const Task *within, int n, Task *tasks)
{
	int all = 0;

	for (int i = 0; i < e->nbeside; i++)
		tasks[all++] = e->beside[i];
	for (int i = 0; i < n; i++)
		tasks[all++] = within[i];
	tasks[all++] = e->behind;
	for (int i = 0; i < e->nbeside; i++)
		tasks[all++] = done(i);
	return all;
}

static int
repeat(const Task *from, int n, int64_t times, Task *to, int at, int before)
{
	for (int64_t k = 0; k < times; k++)
		for (int first = at, i = 0; i < n; i++) {
			to[at] = from[i];
			if (from[i].kind == TASK_done)
				to[at].start += first + before;
			at++;
		}
	return at;
}

static int64_t
folded(const Example *e, Arena *a)
{
	Task body[MOST_TASKS + 1], tasks[8];
	int n = e->n;

	memcpy(body, e->body, sizeof e->body);
	if (e->ninner)
		body[n++] = loop_of(e->inner, e->ninner, e->inner_trips, a);
	Task loop = loop_of(body, n, e->trips, a);
	return tracks_run(tasks, whole(e, &loop, 1, tasks), NULL, a);
}

static int64_t
unrolled(const Example *e, Arena *a)
{
	enum { ROOM = 64 * MOST_TASKS * 5 };
	Task *trips = NEW_ARRAY(a, Task, ROOM), *tasks = NEW_ARRAY(a, Task, ROOM + 8);
	int n = 0;

	for (int64_t k = 0; k < e->trips; k++) {
		n = repeat(e->body, e->n, 1, trips, n, e->nbeside);
		n = repeat(e->inner, e->ninner, e->inner_trips, trips, n, e->nbeside);
	}
	return tracks_run(tasks, whole(e, trips, n, tasks), NULL, a);
}

/* All that is done on the thread and by transfers; on one link. */
static int64_t
all_work(const Example *e, int64_t bit)
{
	int64_t work = bit ? 0 : e->behind.picoseconds;

#define ADD(tasks, n, times) \
	for (int i = 0; i < (n); i++) \
		if (!bit || ((tasks)[i].links && (int64_t)(tasks)[i].links->word[0] & bit)) \
			work += (tasks)[i].picoseconds * (times);
	ADD(e->body, e->n, e->trips)
	ADD(e->inner, e->ninner, e->trips * e->inner_trips)
	ADD(e->beside, e->nbeside, 1)
#undef ADD
	return work;
}

static void
compare(bool nested, const char *name)
{
	int near = 0, serial = 0, busy = 0;

	for (int i = 0; i < LOOPS; i++) {
		Arena *a = arena_new();
		Example e = draw_example(nested);
		int64_t is = folded(&e, a), was = unrolled(&e, a);
		near += llabs(is - was) <= was / 25;
		serial += is <= all_work(&e, 0) + 8; /* shares are rounded up */
		busy += is >= all_work(&e, 1) && is >= all_work(&e, 2);
		arena_free(a);
	}
	printf("# %d of %d within 4 %%\n", near, LOOPS);
	ok(near >= LOOPS * 19 / 20, name);
	ok(serial == LOOPS, "... none longer than one step after the other");
	ok(busy == LOOPS, "... and no link has more to do than there is time");
}

int
main(void)
{
	Arena *a = arena_new();
	const Task trip[] = {run(2000), move(TASK_run, 1000, 1)};
	const Task hidden[] = {move(TASK_start, 1000, 1), run(2000), done(0)};

	{
		Task t[] = {move(TASK_start, 12000, 1), loop_of(trip, 2, 8, a), done(0)};
		int64_t end = tracks_run(t, 3, NULL, a);
		ok(end == 28000, "a loop takes longer for what is beside half its trips");
		ok(t[2].from == end && t[0].to < end, "... which is over before");
		ok(!t[0].exposed, "... and hidden");
		Body *body = &t[1].bodies->body[0];
		tracks_run(body->tasks, body->n, t[1].bodies->beside, a);
		ok(body->tasks[1].to == 3500, "in each trip what moves takes as much longer");
	}
	{
		Task t[] = {move(TASK_start, 40000, 1), loop_of(trip, 2, 8, a), done(0)};
		ok(tracks_run(t, 3, NULL, a) == 48000,
			"what is not over has the links to itself behind it");
		ok(t[1].to == 32000, "... beside all trips");
	}
	{
		Task t[] = {move(TASK_start, 12000, 2), loop_of(trip, 2, 8, a), done(0)};
		ok(tracks_run(t, 3, NULL, a) == 24000 && t[0].to == 12000,
			"other links are not shared");
	}
	{
		Task t[] = {move(TASK_start, 4000, 1), loop_of(hidden, 3, 8, a), done(0)};
		ok(tracks_run(t, 3, NULL, a) == 16000, "what is hidden in a loop still is");
		ok(t[0].to == 8000, "... and what is beside has the other half of the link");
	}
	{
		const int64_t trips = 1000000000000;
		Task t[] = {move(TASK_start, 12000, 1), loop_of(trip, 2, trips, a), done(0)};
		ok(tracks_run(t, 3, NULL, a) <= trips * 3000 + 12000,
			"many trips are one task");
	}
	compare(false, "19 loops of 20 are within 4 % of their trips one by one");
	compare(true, "... and loops in loops");
	arena_free(a);
	printf("1..%d\n", tests);
	return 0;
}
