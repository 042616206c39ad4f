/*
 * Random collectives on 64 devices that are delayed at random: as long as
 * they agree there is no alarm and every number is right; where one device
 * does something else, that is told at once, with the status and the lines
 * that a simulation of the waiting finds, long before --stall.  So it is with
 * collectives that are begun, two at once where they agree.
 *
 *     delays_test [COLLECTIVES [FAULTS [SEED]]]
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "child.h"
#include "tap.h"

enum {
	DEVICES = 64,
	GROUPS = 7,
	WORDS = 32, /* of a device's operand */
	FIRST_LINE = 100,
	FAULTY_STEPS = 300,
	KINDS = SHDRT_COLLECTIVE_COUNT - 1, /* all but the last, the ragged one */
	PLAIN = GROUPS * KINDS,		    /* ... then the same on other lines, ... */
	TWINS = 2 * PLAIN,		    /* ... then the same of other sizes */
	ALL = 3 * PLAIN,
	SLOTS = 2, /* ... then all of it in each */
};

/* Whether collectives are begun; of each other, until the next one is. */
typedef enum Begun { B_none, B_each, B_two } Begun;

static const shdrt_axis axes[] = {{"X", 4}, {"Y", 4}, {"Z", 4}};
static const shdrt_split splits[GROUPS][3] = {
	{{16, 4}},
	{{4, 4}},
	{{1, 4}},
	{{16, 4}, {4, 4}},
	{{16, 4}, {1, 4}},
	{{4, 4}, {1, 4}},
	{{16, 4}, {4, 4}, {1, 4}},
};
static const int nsplits[GROUPS] = {1, 1, 1, 2, 2, 2, 3};
static const char *const names[GROUPS] = {
	"X",
	"Y",
	"Z",
	"X,Y",
	"X,Z",
	"Y,Z",
	"X,Y,Z",
};
static int64_t next_member[GROUPS][DEVICES];
static shdrt_collective table[(SLOTS + 1) * ALL];
static shdrt_step steps[ALL];

/* What device `culprit` does at step `at` that the others do not. */
typedef enum Fault { F_none, F_line, F_size, F_other, F_skip, F_swap, F_end, F_COUNT } Fault;
static const char *const faults[F_COUNT] = {
	"nothing",
	"another line",
	"another size",
	"another collective",
	"one left out",
	"two swapped",
	"an early end",
};

static struct {
	uint64_t seed;
	int nsteps;
	int *step; /* numbers in the table */
	Begun begun;
	Fault fault;
	int culprit, at, instead;
} script;

/* splitmix64's finalizer of a place in a sequence */
static uint64_t
draw(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = script.seed + a * 0x9e3779b97f4a7c15u + b * 0xd1342543de82ef95u
		+ c * 0xaf251af3b0f025b5u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int64_t
members(int group)
{
	return nsplits[group] == 1 ? 4 : nsplits[group] == 2 ? 16 : 64;
}

static void
make_table(void)
{
	for (int i = 0; i < ALL; i++) {
		int group = i % GROUPS, kind = i / GROUPS % KINDS;
		int64_t n = members(group);
		bool shares = kind == SHDRT_reduce_scatter || kind == SHDRT_all_to_all;
		table[i] = (shdrt_collective){kind, SHDRT_i32, SHDRT_add,
			{nsplits[group], splits[group]}, {nsplits[group], splits[group]}, NULL,
			1, (shares ? n : 4) * (i < TWINS ? 1 : 2), 1, 0, 0, 0, &steps[i], 0};
		steps[i] = (shdrt_step){"", "collective", names[group], "t.shd", FIRST_LINE + i,
			1000, 0, 0, 64, 0, "ici"};
		if (kind == SHDRT_collective_permute)
			table[i].source = next_member[group];
	}
	for (int i = ALL; i < (SLOTS + 1) * ALL; i++) {
		table[i] = table[i % ALL];
		table[i].slot = i / ALL;
	}
	for (int g = 0; g < GROUPS; g++)
		for (int64_t k = 0; k < members(g); k++)
			next_member[g][k] = (k + 1) % members(g);
}

/* Each of a device's collectives, in order; -1 at the end. */
static int
number_at(int device, int i)
{
	bool odd = device == script.culprit;
	if (odd && script.fault == F_end && i >= script.at)
		return -1;
	if (odd && script.fault == F_skip && i >= script.at)
		i++;
	else if (odd && script.fault == F_swap && i == script.at)
		i++;
	else if (odd && script.fault == F_swap && i == script.at + 1)
		i--;
	else if (odd && script.fault != F_none && script.fault < F_skip && i == script.at)
		return script.instead;
	return i < script.nsteps ? script.step[i] : -1;
}

/* ---- one device ---- */

static int32_t
word(int64_t device, int step, int64_t i)
{
	return (int32_t)(draw((uint64_t)device, (uint64_t)step, 7) >> 40) + (int32_t)i;
}

/* The device that is member `k` of the device's group. */
static int64_t
member(int64_t device, const shdrt_splits *group, int64_t k)
{
	for (int i = group->n - 1; i >= 0; i--) {
		const shdrt_split *s = &group->split[i];
		device += (k % s->size - device / s->stride % s->size) * s->stride;
		k /= s->size;
	}
	return device;
}

static int32_t
expected(const shdrt_collective *c, int64_t device, int step, int64_t i)
{
	int64_t n = members((int)((c - table) % GROUPS)), part = c->size / n;
	int64_t own = shdrt_index(device, c->group.n, c->group.split);
	int64_t from = 0, at = i;
	uint32_t sum = 0;

	if (c->kind == SHDRT_all_gather)
		from = i / c->size, at = i % c->size;
	else if (c->kind == SHDRT_all_to_all)
		from = i / part, at = own * part + i % part;
	else if (c->kind == SHDRT_collective_permute)
		from = c->source[own];
	else if (c->kind == SHDRT_reduce_scatter)
		at += own * part;
	if (c->kind != SHDRT_all_reduce && c->kind != SHDRT_reduce_scatter)
		return word(member(device, &c->group, from), step, at);
	for (int64_t k = 0; k < n; k++)
		sum += (uint32_t)word(member(device, &c->group, k), step, at);
	return (int32_t)sum;
}

typedef void
Collective(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out);
static Collective *const collective[] = {
	[SHDRT_all_gather] = shdrt_all_gather,
	[SHDRT_all_reduce] = shdrt_all_reduce,
	[SHDRT_reduce_scatter] = shdrt_reduce_scatter,
	[SHDRT_all_to_all] = shdrt_all_to_all,
	[SHDRT_collective_permute] = shdrt_collective_permute,
};
_Static_assert(sizeof collective / sizeof *collective == KINDS, "a kind is missing");

/* One of 256 steps of a device takes up to 200 us longer, asleep or busy. */
static void
dawdle(int64_t device, int step)
{
	uint64_t r = draw((uint64_t)device, (uint64_t)step, 3);
	long us = (long)(r >> 8) % 200;

	if (r % 256 == 0) {
		nanosleep(&(struct timespec){0, us * 1000}, NULL);
	} else if (r % 256 == 1) {
		for (double end = child_clock() + (double)us * 1e-6; child_clock() < end;)
			sched_yield();
	}
}

enum { OPERAND = 4 * WORDS, BUFFERS = 36 * WORDS }; /* words of a step */

/* The operand of a step, behind which is its result. */
static int32_t *
buffers(char *slab, int step)
{
	return (int32_t *)slab + step % SLOTS * BUFFERS;
}

static void
look(const shdrt_device *dev, char *slab, const shdrt_collective *c, int step)
{
	int64_t id = shdrt_device_id(dev);
	int64_t k = (int64_t)(draw((uint64_t)id, (uint64_t)step, 5) % 4);
	const int32_t *out = buffers(slab, step) + OPERAND;

	if (c->kind == SHDRT_reduce_scatter)
		k = 0;
	if (script.fault == F_none && out[k] != expected(c, id, step, k)) {
		fprintf(stderr, "step %d, device %d: %s is wrong\n", step, (int)id,
			c->step->axes);
		_exit(99);
	}
}

static void
end_step(shdrt_device *dev, char *slab, const shdrt_collective *c, int step)
{
	shdrt_done(dev, c, c->step);
	look(dev, slab, c, step);
}

static void
follow_script(shdrt_device *dev, char *slab)
{
	int64_t id = shdrt_device_id(dev);
	const shdrt_collective *last = NULL;
	int32_t number;

	for (int i = 0; (number = number_at((int)id, i)) >= 0; i++) {
		int slot = !script.begun ? 0 : script.begun == B_each ? 1 : 1 + i % SLOTS;
		const shdrt_collective *c = &table[slot * ALL + number];
		int32_t *in = buffers(slab, i);
		for (int64_t k = 0; k < c->size; k++)
			in[k] = word(id, i, k);
		dawdle(id, i);
		collective[c->kind](dev, c, in, in + OPERAND);
		if (script.begun == B_each)
			shdrt_done(dev, c, c->step);
		if (script.begun != B_two)
			look(dev, slab, c, i);
		else if (last)
			end_step(dev, slab, last, i - 1);
		last = c;
	}
	if (script.begun == B_two && last)
		end_step(dev, slab, last, script.nsteps - 1);
}

/* ---- what has to happen ---- */

typedef struct State {
	int at[DEVICES];    /* steps done */
	int stuck[DEVICES]; /* number in the table; -1: has ended */
	int status;
} State;

static bool
waits_for(const State *s, int a, int b)
{
	if (s->stuck[a] < 0)
		return false;
	const shdrt_splits *g = &table[s->stuck[a]].group;
	return member(a, g, shdrt_index(b, g->n, g->split)) == b;
}

/* Do two devices wait for each other at different collectives? */
static bool
disagree(const State *s, int a, int b)
{
	return waits_for(s, a, b) && waits_for(s, b, a) && s->stuck[a] != s->stuck[b];
}

/* All whom the device waits for are there, at the same collective. */
static bool
is_complete(const State *s, int device)
{
	const shdrt_collective *c = &table[s->stuck[device]];

	for (int64_t k = 0; k < members(s->stuck[device] % GROUPS); k++)
		if (s->stuck[member(device, &c->group, k)] != s->stuck[device])
			return false;
	return true;
}

/* One group goes on, if any can. */
static bool
advance(State *s)
{
	for (int d = 0; d < DEVICES; d++) {
		if (s->stuck[d] < 0 || !is_complete(s, d))
			continue;
		const shdrt_splits *g = &table[s->stuck[d]].group;
		int64_t n = members(s->stuck[d] % GROUPS);
		for (int64_t k = 0; k < n; k++) {
			int64_t m = member(d, g, k);
			s->at[m]++;
			s->stuck[m] = number_at((int)m, s->at[m]);
		}
		return true;
	}
	return false;
}

/* Which devices go on first changes nothing: where all end is one state. */
static void
simulate(State *s)
{
	*s = (State){.status = SHDRT_OK};
	for (int d = 0; d < DEVICES; d++)
		s->stuck[d] = number_at(d, 0);
	while (advance(s))
		continue;
	for (int a = 0; a < DEVICES; a++) {
		if (s->stuck[a] >= 0 && s->status == SHDRT_OK)
			s->status = SHDRT_DEADLOCK;
		for (int b = 0; b < a; b++)
			if (disagree(s, a, b))
				s->status = SHDRT_MISMATCH;
	}
}

/* "device 3 ... (t.shd:117)": as it is in the simulation? */
static const char *
next_device(const State *s, const char *text, int *device)
{
	const char *name = strstr(text, "device ");
	const char *line = name ? strstr(name, "t.shd:") : NULL;
	const char *ended = name ? strstr(name, "has ended") : NULL;

	if (!name)
		return NULL;
	*device = atoi(name + strlen("device "));
	if (*device < 0 || *device >= DEVICES)
		return NULL;
	if (s->stuck[*device] < 0)
		return ended && !line ? ended : NULL;
	if (!line || atoi(line + strlen("t.shd:")) != FIRST_LINE + s->stuck[*device])
		return NULL;
	return line;
}

static bool
tells_both(const State *s, const char *text)
{
	int a, b;
	const char *rest = next_device(s, text, &a);

	/* "device 3 waits at ... for device 5, which waits at ..." */
	if (!rest || !next_device(s, rest, &b))
		return false;
	return s->status == SHDRT_MISMATCH ? disagree(s, a, b)
					   : waits_for(s, a, b) && s->stuck[a] != s->stuck[b];
}

/* ---- programs ---- */

static shdrt_program program = {.abi = SHDRT_ABI,
	.name = "t",
	.source = "t.shd",
	.naxes = 3,
	.axes = axes,
	.ndevices = DEVICES,
	.collectives = table,
	.ncollectives = sizeof table / sizeof *table,
	.nslots = SLOTS,
	.slab_bytes = SLOTS * BUFFERS * sizeof(int32_t),
	.target = "v5e",
	.target_memory = 1 << 20,
	.run = follow_script};

/* Mostly of few devices: one of all of them takes much longer. */
static int
some_collective(int step)
{
	uint64_t r = draw((uint64_t)step, 0, 1);
	int group = (int)(r % 128 < 122 ? r % 3 : r % 128 < 127 ? 3 + r % 3 : 6);

	return group + GROUPS * (int)((r >> 8) % KINDS);
}

static void
write_script(int nsteps)
{
	script.nsteps = nsteps;
	script.fault = F_none;
	script.culprit = -1;
	script.step = realloc(script.step, (size_t)nsteps * sizeof *script.step);
	if (!script.step)
		exit(99);
	for (int i = 0; i < nsteps; i++)
		script.step[i] = some_collective(i);
}

static void
add_fault(void)
{
	uint64_t r = draw(0, 0, 2);

	script.fault = (Fault)(1 + r % (F_COUNT - 1));
	script.culprit = (int)((r >> 8) % DEVICES);
	script.at = (int)((r >> 16) % (uint64_t)(script.nsteps - 1));
	int number = script.step[script.at];
	script.instead = script.fault == F_line ? number + PLAIN
		: script.fault == F_size
		? number + TWINS
		: (number + 1 + (int)((r >> 40) % (PLAIN - 1))) % PLAIN;
}

static void
test_agreement(int nsteps, Begun begun, char *helper)
{
	char limit[] = "--stall=60s";
	Ending e;

	script.begun = begun;
	write_script(nsteps);
	child_run(&program, limit, helper, &e);
	if (!ok(e.status == 0 && !e.text[0],
		    "%d collectives of each of %d "
		    "devices, %d under way, %s",
		    nsteps, DEVICES, begun, helper))
		printf("# status %d: %s\n", e.status, e.text);
	printf("# in %.1f s\n", e.seconds);
}

/* The seconds that it took to be told. */
static double
test_fault(uint64_t seed)
{
	char limit[] = "--stall=600s", on[] = "--helper=on";
	State s;
	Ending e;

	script.seed = seed;
	script.begun = seed % 2 ? B_each : B_none;
	write_script(FAULTY_STEPS);
	add_fault();
	simulate(&s);
	child_run(&program, limit, on, &e);
	bool told = s.status == SHDRT_OK ? !e.text[0] : tells_both(&s, e.text);
	if (!ok(e.status == s.status && told && e.seconds < 60,
		    "seed %llu: %s, by device %d at step %d: status %d",
		    (unsigned long long)seed, faults[script.fault], script.culprit, script.at,
		    s.status))
		printf("# status %d after %.1f s: %s\n", e.status, e.seconds, e.text);
	return e.seconds;
}

int
main(int argc, char **argv)
{
	int nsteps = argc > 1 ? atoi(argv[1]) : SANITIZED ? 1000 : 25000;
	int nfaults = argc > 2 ? atoi(argv[2]) : SANITIZED ? 8 : 50;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	double longest = 0;
	char on[] = "--helper=on", off[] = "--helper=off";

	make_table();
	script.seed = seed;
	test_agreement(nsteps, B_none, off);
	test_agreement(nsteps / 4, B_two, on);
	test_agreement(nsteps / 4, B_two, off);
	for (int i = 0; i < nfaults; i++) {
		double seconds = test_fault(seed + 1 + (uint64_t)i);
		longest = seconds > longest ? seconds : longest;
	}
	printf("# faults were told after at most %.3f s\n", longest);
	free(script.step);
	return done();
}
