/*
 * How programs end that cannot go on: each is run in a process of its own,
 * whose status and one message are looked at, and how long it took.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "child.h"
#include "tap.h"

/* mesh [X=2, Y=2] */
static const shdrt_split x[] = {{2, 2}}, y[] = {{1, 2}}, xy[] = {{2, 2}, {1, 2}};
static const shdrt_axis axes[] = {{"X", 2}, {"Y", 2}};

#define COLLECTIVE(kind, name, splits, count, size, line) \
	{ \
		kind, SHDRT_f32, SHDRT_add, {count, splits}, {count, splits}, NULL, 1, size, \
			1, 0, \
			&(const shdrt_step){"", name, #splits, "t.shd", line, 0, 0, 0, 0, \
				"ici"}, \
			0 \
	}
static const shdrt_step work = {.picoseconds = 1};
static const shdrt_collective collectives[] = {
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", xy, 2, 4, 3),
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", xy, 2, 4, 5),
	COLLECTIVE(SHDRT_all_gather, "all-gather", xy, 2, 4, 3),
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", xy, 2, 8, 3),
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", x, 1, 4, 7),
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", y, 1, 4, 9),
	COLLECTIVE(SHDRT_all_reduce, "all-reduce", xy, 2, 4, 3),
};

static void
meet(shdrt_device *dev, int number, char *slab)
{
	const shdrt_collective *c = &collectives[number];
	(c->kind == SHDRT_all_gather ? shdrt_all_gather : shdrt_all_reduce)(dev, c, slab,
		slab + 256);
}

static void
agree(shdrt_device *dev, char *slab)
{
	for (int i = 0; i < 1000; i++)
		meet(dev, (int)(i % 7), slab);
}

/* The same text twice: two places in the table, one in the program. */
static void
equal_text(shdrt_device *dev, char *slab)
{
	meet(dev, shdrt_device_id(dev) == 2 ? 6 : 0, slab);
}

static void
other_line(shdrt_device *dev, char *slab)
{
	meet(dev, shdrt_device_id(dev) == 2, slab);
}

static void
other_kind(shdrt_device *dev, char *slab)
{
	meet(dev, shdrt_device_id(dev) == 1 ? 2 : 0, slab);
}

static void
other_shape(shdrt_device *dev, char *slab)
{
	meet(dev, shdrt_device_id(dev) == 3 ? 3 : 0, slab);
}

static void
other_group(shdrt_device *dev, char *slab)
{
	meet(dev, shdrt_device_id(dev) == 0 ? 4 : 0, slab);
}

static void
one_returns(shdrt_device *dev, char *slab)
{
	if (shdrt_device_id(dev) != 3)
		meet(dev, 0, slab);
}

/* 0 waits for 1 along Y, 1 for 3 along X, 3 for 2 along Y, 2 for 0 along X */
static void
circle(shdrt_device *dev, char *slab)
{
	int64_t id = shdrt_device_id(dev);
	meet(dev, id == 0 || id == 3 ? 5 : 4, slab);
}

static void
thread_exits(shdrt_device *dev, char *slab)
{
	if (shdrt_device_id(dev) == 2)
		pthread_exit(NULL);
	meet(dev, 0, slab);
}

static void
thread_is_cancelled(shdrt_device *dev, char *slab)
{
	if (shdrt_device_id(dev) == 1) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	meet(dev, 0, slab);
}

static void
crashes(shdrt_device *dev, char *slab)
{
	if (shdrt_device_id(dev) == 1)
		raise(SIGSEGV);
	meet(dev, 0, slab);
}

static void
computes_forever(shdrt_device *dev, char *slab)
{
	while (shdrt_device_id(dev) == 1)
		sched_yield();
	meet(dev, 0, slab);
}

/* Longer than --stall in all, but never long without progress. */
static void
computes_slowly(shdrt_device *dev, char *slab)
{
	struct timespec little = {0, 20000000};
	for (int i = 0; i < 30 && shdrt_device_id(dev) == 1; i++) {
		nanosleep(&little, NULL);
		shdrt_tick(dev, &work);
	}
	meet(dev, 0, slab);
}

/* Devices that meet in every round of a loop that nobody leaves. */
static void
goes_round(shdrt_device *dev, char *slab)
{
	static const shdrt_place loop = {"t.shd", 12};
	shdrt_in_loop(dev, &loop);
	for (;;) {
		meet(dev, 0, slab);
		shdrt_tick(dev, &work);
	}
}

/* ... that is left now and then. */
static void
leaves_loops(shdrt_device *dev, char *slab)
{
	static const shdrt_place loop = {"t.shd", 12};
	struct timespec little = {0, 20000000};
	for (int i = 0; i < 30; i++) {
		shdrt_in_loop(dev, &loop);
		nanosleep(&little, NULL);
		meet(dev, 0, slab);
		shdrt_in_loop(dev, NULL);
	}
}

static void
nothing(shdrt_device *dev, char *slab)
{
	(void)dev, (void)slab;
}

static const struct {
	const char *name;
	void (*run)(shdrt_device *dev, char *slab);
	int64_t slab, memory;
	int status;
	const char *says[3];
	bool crash;
} cases[] = {
	{"devices that agree", agree, 4096, 1 << 20, 0, {""}, false},
	{"one collective twice in the table", equal_text, 4096, 1 << 20, 0, {""}, false},
	{"another line", other_line, 4096, 1 << 20, 11, {"do not agree", "t.shd:3", "t.shd:5"},
		false},
	{"another kind", other_kind, 4096, 1 << 20, 11,
		{"do not agree", "all-gather", "all-reduce"}, false},
	{"another shape", other_shape, 4096, 1 << 20, 11,
		{"do not agree", "[1,4,1]", "[1,8,1]"}, false},
	{"another group", other_group, 4096, 1 << 20, 11,
		{"do not agree", "t.shd:3", "t.shd:7"}, false},
	{"one device returns early", one_returns, 4096, 1 << 20, 10,
		{"deadlock", "t.shd:3", "device 3, which has ended"}, false},
	{"a circle", circle, 4096, 1 << 20, 10, {"deadlock", "t.shd:7", "t.shd:9"}, false},
	{"a thread that exits", thread_exits, 4096, 1 << 20, 13, {"device 2 was lost"}, false},
	{"a thread that is cancelled", thread_is_cancelled, 4096, 1 << 20, 13,
		{"device 1 was lost"}, false},
	{"a crash", crashes, 4096, 1 << 20, 13, {"device 1 was lost", "invalid memory access"},
		true},
	{"no progress", computes_forever, 4096, 1 << 20, 10,
		{"no progress for 0.3 s", "device 0 waits at all-reduce", "device 1 computes"},
		false},
	{"slow progress", computes_slowly, 4096, 1 << 20, 0, {""}, false},
	{"an endless loop with collectives", goes_round, 4096, 1 << 20, 10,
		{"no progress for 0.3 s", "the loop of t.shd:12"}, false},
	{"loops that end", leaves_loops, 4096, 1 << 20, 0, {""}, false},
	{"more memory than the target has", nothing, 4096, 4095, 5,
		{"out of memory", "4096", "4095"}, false},
	{"more memory than this machine has", nothing, (int64_t)1 << 60, INT64_MAX, 5,
		{"out of memory"}, false},
};

static int
count_lines(const char *text, const char *start)
{
	int n = 0;
	for (const char *at = text; (at = strstr(at, start)); at++)
		n += at == text || at[-1] == '\n';
	return n;
}

int
main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (cases[i].crash && SANITIZED)
			continue;
		shdrt_program p = {.abi = SHDRT_ABI,
			.name = "t",
			.source = "t.shd",
			.naxes = 2,
			.axes = axes,
			.ndevices = 4,
			.collectives = collectives,
			.ncollectives = sizeof collectives / sizeof *collectives,
			.slab_bytes = cases[i].slab,
			.target = "v5e",
			.target_memory = cases[i].memory,
			.run = cases[i].run};
		char limit[] = "--stall=300ms";
		Ending e;
		child_run(&p, limit, &e);
		bool good = e.status == cases[i].status
			&& count_lines(e.text, "t: ") == (e.status != 0) && e.seconds < 20;
		for (int k = 0; k < 3 && cases[i].says[k]; k++)
			good = good && strstr(e.text, cases[i].says[k]);
		if (!ok(good, "%s: status %d", cases[i].name, cases[i].status))
			printf("# status %d: %s\n", e.status, e.text);
	}
	return done();
}
