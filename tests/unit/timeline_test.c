/*
 * timeline_test.c - tasks on tracks, as records made by hand.
 */
#include "link_tasks.h"
#include "cost/turns.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* Runs them and says so if they do not end at `end`. */
static void
ends(Task *tasks, int n, int64_t end, const char *name)
{
	Arena *a = arena_new();
	int64_t is = tracks_run(tasks, n, NULL, a);

	ok(is == end, name);
	if (is != end)
		printf("# ends at %lld, not %lld\n", (long long)is, (long long)end);
	arena_free(a);
}

/* Of how many tasks are critical, and how long they are together. */
static void
is_critical(const Task *tasks, int n, int critical, int64_t time, const char *name)
{
	int64_t all = 0;
	int found = 0;

	for (int i = 0; i < n; i++) {
		found += tasks[i].critical;
		all += tasks[i].critical ? tasks[i].to - tasks[i].from : 0;
	}
	ok(found == critical && all == time, name);
	if (found != critical || all != time)
		printf("# %d tasks of %lld\n", found, (long long)all);
}

/* Works in the order of their heads. */
static void
takes(const Work *works, int n, int64_t least, const char *name)
{
	Work own[4], heap[4];
	Turns turns = {own, heap, 0};

	for (int i = 0; i < n; i++)
		own[i] = works[i];
	ok(work_in_turns(&turns, n) == least, name);
}

int
main(void)
{
	{
		const Work gathers[] = {{0, 3, 6}, {0, 2, 4}, {5, 2, 0}};
		takes(gathers, 3, 9, "what has a long tail is done first, and is not all");
		const Work late[] = {{0, 9, 0}, {4, 1, 8}};
		takes(late, 2, 13, "... gives way to what comes with a longer one");
		const Work apart[] = {{1, 2, 0}, {10, 2, 0}};
		takes(apart, 2, 12, "... and nothing is done before its head");
	}
	{
		Task t[] = {run(3), move(TASK_run, 4, 1), run(2)};
		ends(t, 3, 9, "one after the other");
		ok(t[1].from == 3 && t[1].to == 7 && t[2].from == 7, "each begins at an end");
		ok(t[1].exposed == 4 && !t[0].exposed, "what nothing runs beside is exposed");
	}
	{
		Task t[] = {run(3), move(TASK_start, 4, 1), run(2), done(1), run(1)};
		ends(t, 5, 8, "a done waits for its start");
		ok(t[1].to == 7 && t[3].from == 5 && t[3].to == 7,
			"... from when it is reached");
		ok(t[1].exposed == 2, "what is waited for is exposed");
		is_critical(t, 5, 3, 8, "the way back from the end is over what is waited for");
		ok(!t[2].critical, "... not what runs beside it");
	}
	{
		Task t[] = {move(TASK_start, 4, 1), run(9), done(0)};
		ends(t, 3, 9, "a done behind the end of its start does not wait");
		ok(t[0].exposed == 0, "a hidden transfer is not exposed");
		ok(!t[0].critical && t[1].critical, "... and nothing waits for it");
	}
	{
		Task t[] = {move(TASK_start, 6, 1), move(TASK_start, 4, 2), done(0), done(1)};
		ends(t, 4, 6, "transfers on links of their own do not slow each other");
		ok(t[0].exposed == 4 && t[1].exposed == 2, "exposed time is shared equally");
	}
	{
		Task t[] = {move(TASK_start, 6, 1), move(TASK_start, 4, 1), done(0), done(1)};
		ends(t, 4, 10, "transfers on one link share it");
		ok(t[1].to == 8 && t[0].exposed == 6 && t[1].exposed == 4, "... equally");
	}
	{
		Task t[] = {move(TASK_start, 6, 1), run(2), move(TASK_start, 2, 3), done(0)};
		ends(t, 4, 8, "one over two links goes at the pace of the busier");
		ok(t[2].from == 2 && t[2].to == 6, "... as long as it is busy");
	}
	{
		Task t[] = {move(TASK_start, 6, 1), move(TASK_run, 4, 1), done(0)};
		ends(t, 3, 10, "what the thread moves shares links with what it started");
		ok(t[1].to == 8 && t[2].from == 8, "... and goes on when its own is there");
		is_critical(t, 3, 1, 10, "the first is all the way");
	}
	{
		Task t[] = {move(TASK_start, 6, 1), move(TASK_start, 6, 1), done(0), done(1)};
		t[0].shared = t[1].shared = 4;
		ends(t, 4, 10, "latency is not shared, bytes are");
	}
	{
		Task t[] = {move(TASK_start, 3, 1), move(TASK_start, 3, 1),
			move(TASK_start, 3, 1), run(1), move(TASK_start, 1, 1)};
		ends(t, 5, 10, "nothing is lost in shares of a third and a fourth");
		ok(t[2].critical && !t[3].critical, "what nobody waits for may end last");
	}
	{
		Task t[] = {move(TASK_start, 5, 1), run(1), run(0), done(0), done(0)};
		ends(t, 5, 5, "no time at all is a time");
	}
	{
		Task t[] = {run(INT64_MAX), move(TASK_run, INT64_MAX, 1), run(1)};
		ends(t, 3, INT64_MAX, "more than 64 bits count are as many as they do");
	}
	printf("1..%d\n", tests);
	return 0;
}
