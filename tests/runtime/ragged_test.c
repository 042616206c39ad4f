/*
 * The ragged exchange: random parcels of rows between the members of many
 * groups, round after round with random delays, against a sequential model;
 * then every way in which what the members say does not fit together.  All of it
 * once more where the exchange is begun, with a helper and without.
 */
#include <sched.h>
#include <stdlib.h>

#include "child.h"
#include "internal.h"
#include "tap.h"

enum {
	MOST_MEMBERS = 16,
	MOST_DEVICES = 16,
	PARCEL = 3,	   /* rows, at most */
	ROOM = PARCEL + 1, /* rows of a result for each sender */
	ROUNDS = 60,
	LISTS = 4,   /* starts, sizes, to, from */
	WRITTEN = 5, /* bytes of the rows that are new each round */
};

/* ---- what is sent ----------------------------------------------------- */

typedef struct Parcel {
	int32_t start, n, to;
} Parcel;

static uint64_t
hash(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A number below n that belongs to a place. */
static int32_t
draw(int64_t a, int64_t b, int64_t c, int64_t d, int64_t n)
{
	uint64_t x = (uint64_t)a * 0x9e3779b97f4a7c15u + (uint64_t)b;
	x = hash(x) * 0xd1342543de82ef95u + (uint64_t)c;
	x = hash(x) * 0xaf251af3b0f025b5u + (uint64_t)d;
	return (int32_t)(hash(x) % (uint64_t)n);
}

/* From one device, member i of so many, to another.  Who sends nothing may say
   anything of where. */
static Parcel
parcel(int round, int64_t from, int64_t to, int i, int members)
{
	int32_t rows = ROOM * members;
	int32_t n = draw(round, from, to, 0, 2 * PARCEL) - PARCEL + 1;
	if (n <= 0)
		return (Parcel){-7, 0, rows + 5};
	int32_t place = (i + draw(round, to, 0, 1, members)) % members;
	return (Parcel){draw(round, from, to, 2, rows - n + 1), n,
		place * ROOM + draw(round, from, to, 3, ROOM - n + 1)};
}

/* ---- one device ------------------------------------------------------- */

static const char *const moved_by[] = {
	[HELPS_where_spare] = "",
	[HELPS_on] = ", begun, with a helper",
	[HELPS_off] = ", begun",
};
static shdrt_collective exchange;
static const shdrt_step step = {"", "ragged-all-to-all", "", "t.shd", 3, 10, 0, 0, 0, 0, "ici"};
static shdrt_program program;
static int nmembers;

static int64_t
member(int64_t device, int k)
{
	for (int i = exchange.group.n - 1; i >= 0; i--) {
		const shdrt_split *s = &exchange.group.split[i];
		device += (k % s->size - device / s->stride % s->size) * s->stride;
		k /= (int)s->size;
	}
	return device;
}

static size_t
buffer_bytes(void)
{
	return (size_t)(exchange.rows * exchange.inner) * shdrt_dtype_bytes[exchange.dtype];
}

/* Something new in each round, at the head of the operand. */
static void
scribble(char *in, int64_t device, int round)
{
	for (int i = 0; i < WRITTEN; i++)
		in[i] = (char)draw(device, round, i, 4, 256);
}

static void
fill_lists(int32_t *list, int64_t device, int round)
{
	int self = (int)shdrt_index(device, exchange.group.n, exchange.group.split);
	for (int k = 0; k < nmembers; k++) {
		int64_t other = member(device, k);
		Parcel p = parcel(round, device, other, self, nmembers);
		list[k] = p.start;
		list[nmembers + k] = p.n;
		list[2 * nmembers + k] = p.to;
		list[3 * nmembers + k] = parcel(round, other, device, k, nmembers).n;
	}
}

/* The result of a round is the operand of the next. */
static void
run_rounds(shdrt_device *dev, char *slab)
{
	int64_t id = shdrt_device_id(dev);
	size_t bytes = buffer_bytes();
	int32_t *list = (int32_t *)(void *)(slab + 2 * bytes);
	for (int round = 0; round < ROUNDS; round++) {
		char *in = slab + (round % 2 ? bytes : 0);
		char *out = slab + (round % 2 ? 0 : bytes);
		scribble(in, id, round);
		fill_lists(list, id, round);
		for (int n = draw(id, round, 0, 5, 8); n > 6; n--)
			sched_yield();
		shdrt_step work = {.picoseconds = (uint64_t)draw(id, round, 0, 6, 5)};
		shdrt_tick(dev, &work);
		shdrt_ragged_all_to_all(dev, &exchange, in, list, list + nmembers,
			list + 2 * nmembers, list + 3 * nmembers, out);
		if (exchange.slot)
			shdrt_done(dev, &exchange, &step);
		/* Nobody reads them any more. */
		memset(list, 0x55, LISTS * (size_t)nmembers * sizeof *list);
	}
}

/* ---- the model -------------------------------------------------------- */

static void
first_values(char *slab, int64_t device)
{
	for (size_t i = 0; i < 2 * buffer_bytes(); i++)
		slab[i] = (char)draw(device, (int64_t)i, 0, 7, 256);
}

static void
fill(shdrt_device *dev, void *data)
{
	(void)data;
	first_values(dev->slab, dev->id);
}

static void
model_round(char **slabs, int64_t ndevices, int round)
{
	size_t bytes = buffer_bytes(), row = bytes / (size_t)exchange.rows;
	size_t from = round % 2 ? bytes : 0, to = round % 2 ? 0 : bytes;
	for (int64_t d = 0; d < ndevices; d++)
		scribble(slabs[d] + from, d, round);
	for (int64_t d = 0; d < ndevices; d++)
		for (int k = 0; k < nmembers; k++) {
			int64_t other = member(d, k);
			int self = (int)shdrt_index(d, exchange.group.n, exchange.group.split);
			Parcel p = parcel(round, d, other, self, nmembers);
			if (p.n)
				memcpy(slabs[other] + to + (size_t)p.to * row,
					slabs[d] + from + (size_t)p.start * row,
					(size_t)p.n * row);
		}
}

static int
count_wrong(const Machine *m)
{
	char *slabs[MOST_DEVICES];
	int wrong = 0;
	for (int64_t d = 0; d < m->ndevices; d++) {
		slabs[d] = rt_get_memory(2, buffer_bytes());
		first_values(slabs[d], d);
	}
	for (int round = 0; round < ROUNDS; round++)
		model_round(slabs, m->ndevices, round);
	for (int64_t d = 0; d < m->ndevices; d++) {
		wrong += memcmp(slabs[d], m->devices[d].slab, 2 * buffer_bytes()) != 0;
		free(slabs[d]);
	}
	return wrong;
}

/* Begun, if it is said who may help with that. */
static void
test_rounds(const char *what, Helps helps)
{
	exchange.slot = helps != HELPS_where_spare;
	Machine *m = rt_machine_new(&program, 30, RECORD_nothing, helps);
	rt_machine_run(m, fill, NULL);
	int wrong = count_wrong(m);
	ok(!wrong, "%s, rows of %lld %s: %d rounds%s", what, (long long)exchange.inner,
		shdrt_dtype_names[exchange.dtype], ROUNDS, moved_by[helps]);
	uint64_t clock = rt_clock_slowest(m)->clock;
	ok(clock >= 10 * ROUNDS && clock <= (10 + 4) * ROUNDS, "%s: the emulated clock%s", what,
		moved_by[helps]);
	rt_machine_free(m);
}

static void
test_group(const char *what, int64_t ndevices, shdrt_splits group, shdrt_dtype dtype,
	int64_t inner)
{
	nmembers = 1;
	for (int i = 0; i < group.n; i++)
		nmembers *= (int)group.split[i].size;
	int64_t rows = ROOM * nmembers;
	exchange = (shdrt_collective){.kind = SHDRT_ragged_all_to_all,
		.dtype = dtype,
		.group = group,
		.from = group,
		.outer = 1,
		.size = rows,
		.inner = inner,
		.rows = rows,
		.step = &step};
	size_t bytes = (2 * buffer_bytes() + 3) / 4 * 4;
	program = (shdrt_program){.abi = SHDRT_ABI,
		.name = "test",
		.ndevices = ndevices,
		.ncollectives = 1,
		.collectives = &exchange,
		.nslots = 1,
		.target = "none",
		.run = run_rounds,
		.slab_bytes = (int64_t)(bytes + LISTS * sizeof(int32_t) * (size_t)nmembers)};
	test_rounds(what, HELPS_where_spare);
	test_rounds(what, HELPS_on);
	test_rounds(what, HELPS_off);
}

static void
test_groups(void)
{
	static const shdrt_split alone[] = {{1, 1}}, two[] = {{1, 2}};
	static const shdrt_split three[] = {{1, 3}}, sixteen[] = {{1, 16}};
	/* [X=2, Y=3, Z=2] */
	static const shdrt_split y[] = {{2, 3}}, xz[] = {{6, 2}, {1, 2}};
	static const shdrt_split zyx[] = {{1, 2}, {2, 3}, {6, 2}};
	test_group("one device", 1, (shdrt_splits){1, alone}, SHDRT_i32, 1);
	test_group("no axes", 2, (shdrt_splits){0, NULL}, SHDRT_f32, 2);
	test_group("X=2", 2, (shdrt_splits){1, two}, SHDRT_pred, 4);
	test_group("X=3", 3, (shdrt_splits){1, three}, SHDRT_bf16, 6);
	test_group("X=16", 16, (shdrt_splits){1, sixteen}, SHDRT_f64, 33);
	test_group("Y of XYZ", 12, (shdrt_splits){1, y}, SHDRT_i8, 8);
	test_group("XZ of XYZ", 12, (shdrt_splits){2, xz}, SHDRT_u32, 5);
	test_group("ZYX of XYZ", 12, (shdrt_splits){3, zyx}, SHDRT_i64, 1);
}

/* ---- what does not fit together --------------------------------------- */

/* mesh [X=2, Y=2]: each device sends 2 of its 4 rows to either member along Y,
   whose results have 6. */
static const shdrt_split along_x[] = {{2, 2}}, along_y[] = {{1, 2}};
static const shdrt_axis axes[] = {{"X", 2}, {"Y", 2}};

#define ENTRY(kind, split, line) \
	{ \
		kind, SHDRT_f32, SHDRT_add, {1, split}, {1, split}, NULL, 1, 4, 1, 0, 0, 6, \
			&(const shdrt_step){"", "collective", #split, "t.shd", line, 0, 0, 0, \
				0, 0, "ici"}, \
			0 \
	}
enum { ROWS = 4 };
static shdrt_collective table[2 * ROWS] = {
	ENTRY(SHDRT_ragged_all_to_all, along_y, 3),
	ENTRY(SHDRT_ragged_all_to_all, along_y, 5),
	ENTRY(SHDRT_all_reduce, along_y, 7),
	ENTRY(SHDRT_ragged_all_to_all, along_x, 9),
};

typedef enum List { NONE, STARTS, SIZES, TO, FROM, PLACE } List;

/* One number of one device is another. */
typedef struct Change {
	int device;
	List list;
	int member;
	int32_t value;
} Change;

static const struct {
	const char *name;
	Change changes[2];
	int status;
	const char *says[2];
} wrongs[] = {
	{"nothing wrong", {{0, NONE, 0, 0}}, 0, {""}},
	{"nothing sent, from nowhere", {{3, SIZES, 0, 0}, {2, FROM, 1, 0}}, 0, {""}},
	{"a negative number", {{2, SIZES, 1, -1}}, 11,
		{"device 2 sends -1 rows"
		 " from row 2 to row 0 of device 3, a negative number",
			"t.shd:3"}},
	{"another number than expected", {{3, FROM, 0, 1}}, 11,
		{"device 2 sends 2 rows from row 2 to row 0 of device 3, which "
		 "expects 1 from it",
			"t.shd:3"}},
	{"less sent than expected", {{1, SIZES, 0, 0}}, 11,
		{"device 1 sends 0 "
		 "rows",
			"of device 0, which expects 2 from it"}},
	{"from behind the operand", {{0, STARTS, 1, 3}}, 11,
		{"device 0 sends "
		 "2 rows from row 3 to row 0 of device 1, but its operand has 4 "
		 "rows"}},
	{"from before the operand", {{0, STARTS, 0, -1}}, 11,
		{"from row -1 to "
		 "row 0 of device 0, but its operand has 4 rows"}},
	{"from far behind", {{0, STARTS, 0, INT32_MAX}}, 11,
		{"from row 2147483647 to row 0 of device 0, but its operand"}},
	{"behind the result", {{3, TO, 0, 5}}, 11,
		{"device 3 sends 2 rows from "
		 "row 0 to row 5 of device 2, which has 6 rows"}},
	{"before the result", {{3, TO, 1, -2}}, 11,
		{"to row -2 of device 3, "
		 "which has 6 rows"}},
	{"over each other", {{1, TO, 0, 1}}, 11,
		{"device 1 sends 2 rows from "
		 "row 0 to row 1 of device 0, where rows of device 0 go, too"}},
	{"on another line", {{2, PLACE, 0, 1}}, 11, {"do not agree", "t.shd:5"}},
	{"another collective", {{1, PLACE, 0, 2}}, 11, {"do not agree", "t.shd:7"}},
	{"along other axes", {{1, PLACE, 0, 3}}, 10, {"deadlock", "t.shd:9"}},
	{"in a circle", {{1, PLACE, 0, 3}, {2, PLACE, 0, 3}}, 10, {"deadlock", "t.shd:9"}},
};

static const Change *changes;
static bool begun; /* the second half of the table, which has slots */

static void
exchange_once(shdrt_device *dev, char *slab)
{
	int64_t id = shdrt_device_id(dev);
	int32_t list[PLACE + 1][2];
	for (int k = 0; k < 2; k++) {
		list[STARTS][k] = 2 * k;
		list[SIZES][k] = list[FROM][k] = 2;
		list[TO][k] = 2 * (int)(id % 2);
		list[PLACE][k] = 0;
	}
	for (int i = 0; i < 2; i++)
		if (changes[i].list && changes[i].device == id)
			list[changes[i].list][changes[i].member] = changes[i].value;
	const shdrt_collective *c = &table[begun * ROWS + list[PLACE][0]];
	if (c->kind == SHDRT_ragged_all_to_all)
		shdrt_ragged_all_to_all(dev, c, slab, list[STARTS], list[SIZES], list[TO],
			list[FROM], slab + 256);
	else
		shdrt_all_reduce(dev, c, slab, slab + 256);
	if (begun)
		shdrt_done(dev, c, c->step);
}

static void
test_wrongs(char *helper, const char *how)
{
	static const shdrt_program p = {.abi = SHDRT_ABI,
		.name = "t",
		.source = "t.shd",
		.naxes = 2,
		.axes = axes,
		.ndevices = 4,
		.collectives = table,
		.ncollectives = sizeof table / sizeof *table,
		.nslots = 1,
		.slab_bytes = 4096,
		.target = "v5e",
		.target_memory = 1 << 20,
		.run = exchange_once};
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		char limit[] = "--stall=30s";
		Ending e;
		changes = wrongs[i].changes;
		child_run(&p, limit, helper, &e);
		bool good = e.status == wrongs[i].status && e.seconds < 15;
		for (int k = 0; k < 2 && wrongs[i].says[k]; k++)
			good = good && strstr(e.text, wrongs[i].says[k]);
		if (!ok(good, "%s%s: status %d", wrongs[i].name, how, wrongs[i].status))
			printf("# status %d: %s\n", e.status, e.text);
	}
}

int
main(void)
{
	char on[] = "--helper=on", off[] = "--helper=off";
	for (int i = 0; i < ROWS; i++) {
		table[ROWS + i] = table[i];
		table[ROWS + i].slot = 1;
	}
	test_wrongs(on, moved_by[HELPS_where_spare]);
	begun = true;
	test_wrongs(on, moved_by[HELPS_on]);
	test_wrongs(off, moved_by[HELPS_off]);
	test_groups();
	return done();
}
