/*
 * How programs end that cannot go on: each is run in a process of its own,
 * whose status and one message are looked at, and how long it took.  Then the
 * same once more with collectives that are begun, with a helper and without.
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
			1, 0, 0, 0, \
			&(const shdrt_step){"", name, #splits, "t.shd", line, 0, 0, 0, 0, 0, \
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

/* The same that are waited for, then in two slots. */
enum {
	ROWS = sizeof collectives / sizeof *collectives,
	SLOTS = 2,
	LINE_OF_NOBODY = 64, /* an address */
};
static shdrt_collective table[(SLOTS + 1) * ROWS];
static bool begun;

static const shdrt_collective *
in_slot(int number, int slot)
{
	return &table[slot * ROWS + number];
}

static void
begin(shdrt_device *dev, int number, int slot, char *slab)
{
	const shdrt_collective *c = in_slot(number, slot);
	(c->kind == SHDRT_all_gather ? shdrt_all_gather : shdrt_all_reduce)(dev, c, slab,
		slab + 256 * (slot + 1));
}

static void
end(shdrt_device *dev, int number, int slot)
{
	if (slot)
		shdrt_done(dev, in_slot(number, slot), &work);
}

static void
meet(shdrt_device *dev, int number, char *slab)
{
	begin(dev, number, begun, slab);
	end(dev, number, begun);
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

/* Whoever moves it; the helper speaks for the device. */
static void
writes_nowhere(shdrt_device *dev, char *slab)
{
	const shdrt_collective *c = in_slot(0, begun);
	char *out = shdrt_device_id(dev) == 1 ? (char *)LINE_OF_NOBODY : slab + 256;
	shdrt_all_reduce(dev, c, slab, out);
	end(dev, 0, begun);
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

/* Between begin and done. */
static void
exits_meanwhile(shdrt_device *dev, char *slab)
{
	begin(dev, 0, begun, slab);
	if (shdrt_device_id(dev) == 2)
		pthread_exit(NULL);
	end(dev, 0, begun);
	meet(dev, 1, slab);
}

/* What the one has begun does not need it any more. */
static void
computes_meanwhile(shdrt_device *dev, char *slab)
{
	begin(dev, 0, begun, slab);
	while (shdrt_device_id(dev) == 1)
		sched_yield();
	end(dev, 0, begun);
}

/* All have begun both but one, who is late: some wait for the one, some for the other. */
static void
crosses(shdrt_device *dev, char *slab)
{
	struct timespec little = {0, 50000000};
	int64_t id = shdrt_device_id(dev);
	int first = begun ? 1 + id % 2 : 0, second = begun ? SLOTS + 1 - first : 0;
	for (int i = 0; i < 3; i++) {
		if (id == 3)
			nanosleep(&little, NULL);
		begin(dev, 0, begun, slab);
		begin(dev, 1, begun ? SLOTS : 0, slab);
		end(dev, first != 1, first);
		end(dev, first == 1, second);
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
	{"a crash of whoever moves", writes_nowhere, 4096, 1 << 20, 13,
		{" was lost", "invalid memory access"}, true},
	{"no progress", computes_forever, 4096, 1 << 20, 10,
		{"no progress for 0.3 s", "device 0 waits at all-reduce", "device 1 computes"},
		false},
	{"slow progress", computes_slowly, 4096, 1 << 20, 0, {""}, false},
	{"an endless loop with collectives", goes_round, 4096, 1 << 20, 10,
		{"no progress for 0.3 s", "the loop of t.shd:12"}, false},
	{"loops that end", leaves_loops, 4096, 1 << 20, 0, {""}, false},
	{"a thread that exits meanwhile", exits_meanwhile, 4096, 1 << 20, 13,
		{"device 2 was lost"}, false},
	{"no progress meanwhile", computes_meanwhile, 4096, 1 << 20, 10,
		{"no progress for 0.3 s", "device 0 has ended", "device 1 computes"}, false},
	{"waits that cross", crosses, 4096, 1 << 20, 0, {""}, false},
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

static void
run_cases(char *helper, const char *how)
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
			.collectives = table,
			.ncollectives = sizeof table / sizeof *table,
			.nslots = SLOTS,
			.steps = &work,
			.nsteps = 1,
			.slab_bytes = cases[i].slab,
			.target = "v5e",
			.target_memory = cases[i].memory,
			.run = cases[i].run};
		char limit[] = "--stall=300ms";
		Ending e;
		child_run(&p, limit, helper, &e);
		bool good = e.status == cases[i].status
			&& count_lines(e.text, "t: ") == (e.status != 0) && e.seconds < 20;
		for (int k = 0; k < 3 && cases[i].says[k]; k++)
			good = good && strstr(e.text, cases[i].says[k]);
		if (!ok(good, "%s%s: status %d", cases[i].name, how, cases[i].status))
			printf("# status %d: %s\n", e.status, e.text);
	}
}

int
main(void)
{
	char on[] = "--helper=on", off[] = "--helper=off";
	for (int i = 0; i < (SLOTS + 1) * ROWS; i++) {
		table[i] = collectives[i % ROWS];
		table[i].slot = i / ROWS;
	}
	run_cases(on, "");
	begun = true;
	run_cases(on, ", begun, with a helper");
	run_cases(off, ", begun");
	return done();
}
