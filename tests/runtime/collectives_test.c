/*
 * Every collective, dtype and combiner over many groups of many meshes,
 * against a sequential model: the same bits are wanted.
 *
 * For each mesh and group one program is made whose run() executes every case
 * once, each in its own place of the slab; operands are hashes of the case,
 * the device and the element.  Then the same once more with collectives that are
 * begun, a few under way at once, with a helper and without.
 */
#define _GNU_SOURCE /* sched_setaffinity() */
#include <sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "shdrt_math.h"
#include "tap.h"

enum {
	MAX_CASES = 1000,
	SLOTS = 3,
};

static shdrt_collective cases[MAX_CASES];
static shdrt_step steps[MAX_CASES];
static size_t in_at[MAX_CASES], out_at[MAX_CASES];
static int ncases;
static size_t slab_bytes;
static shdrt_program program;

/* ---- elements, by the book ---- */

static uint64_t
hash(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

static bool
is_narrow(shdrt_dtype d)
{
	return rt_is_float(d) && shdrt_dtype_bytes[d] < 4;
}

/* Of a narrow float. */
static uint16_t
narrow_bits(shdrt_dtype d, float f)
{
#define X(name, type) \
	if (d == SHDRT_##name) \
		return shdrt_##name##_from_f32(f);
	SHDRT_NARROW_FLOATS(X)
#undef X
	return 0;
}

/* Of integers of less than a byte the low bits. */
static uint64_t
low_bits(shdrt_dtype d, uint64_t bits)
{
	return d == SHDRT_i4	? (uint64_t)(int64_t)shdrt_wrap_i4((int64_t)bits)
		: d == SHDRT_u4 ? shdrt_wrap_u4((int64_t)bits)
				: bits;
}

static void
put(shdrt_dtype d, char *data, size_t i, uint64_t bits)
{
	float f = (float)(int)(bits % 2001) / 128 - 7;
	if (d == SHDRT_f8e8m0fnu) /* of those there are, no sign and no zero */
		f = f < 0 ? 1 - f : f + 0.5F;
	double wide = f;
	uint16_t narrow = narrow_bits(d, f);
	uint8_t truth = bits & 1;
	bits = low_bits(d, bits);
	const void *from = d == SHDRT_f32 ? (void *)&f
		: d == SHDRT_f64	  ? (void *)&wide
		: is_narrow(d)		  ? (void *)&narrow
		: d == SHDRT_pred	  ? (void *)&truth
					  : (void *)&bits;
	memcpy(data + i * shdrt_dtype_bytes[d], from, shdrt_dtype_bytes[d]);
}

static bool
is_float(shdrt_dtype d)
{
	return is_narrow(d) || d == SHDRT_f32 || d == SHDRT_f64;
}

static double
float_step(shdrt_combiner c, double a, double b)
{
	switch (c) {
	case SHDRT_add:
		return a + b;
	case SHDRT_mul:
		return a * b;
	case SHDRT_max:
		return a > b || (a == b && signbit(b)) ? a : b;
	case SHDRT_min:
		return a < b || (a == b && signbit(a)) ? a : b;
	case SHDRT_and:
	case SHDRT_or:
	case SHDRT_COMBINER_COUNT:
		break;
	}
	abort();
}

static uint64_t
bits_step(shdrt_dtype d, shdrt_combiner c, uint64_t a, uint64_t b)
{
	int shift = 64 - 8 * (int)shdrt_dtype_bytes[d];
	bool is_signed = shdrt_dtype_names[d][0] == 'i';
	/* At the top of 64 bits, signs and orders are what they should be. */
	bool less = is_signed ? (int64_t)(a << shift) < (int64_t)(b << shift)
			      : a << shift < b << shift;
	if (d == SHDRT_pred && c == SHDRT_add)
		c = SHDRT_or;
	switch (c) {
	case SHDRT_add:
		return a + b;
	case SHDRT_mul:
		return a * b;
	case SHDRT_max:
		return less ? b : a;
	case SHDRT_min:
		return less ? a : b;
	case SHDRT_and:
		return a & b;
	case SHDRT_or:
		return a | b;
	case SHDRT_COMBINER_COUNT:
		break;
	}
	abort();
}

/* out[o] = in[0][i], in[1][i], ... combined in that order */
static void
model_reduce(const shdrt_collective *c, char **in, int n, size_t i, char *out, size_t o)
{
	size_t bytes = shdrt_dtype_bytes[c->dtype];
	if (is_float(c->dtype)) {
		double sum = rt_element_double(c->dtype, in[0], i);
		for (int k = 1; k < n; k++) {
			sum = float_step(c->combiner, sum,
				rt_element_double(c->dtype, in[k], i));
			if (c->dtype != SHDRT_f64)
				sum = (float)sum;
		}
		float f = (float)sum;
		uint16_t narrow = narrow_bits(c->dtype, f);
		memcpy(out + o * bytes,
			is_narrow(c->dtype)		? (void *)&narrow
				: c->dtype == SHDRT_f32 ? (void *)&f
							: (void *)&sum,
			bytes);
		return;
	}
	uint64_t sum = 0;
	memcpy(&sum, in[0] + i * bytes, bytes);
	for (int k = 1; k < n; k++) {
		uint64_t next = 0;
		memcpy(&next, in[k] + i * bytes, bytes);
		sum = bits_step(c->dtype, c->combiner, sum, next);
	}
	sum = low_bits(c->dtype, sum);
	memcpy(out + o * bytes, &sum, bytes);
}

/* ---- the model of one member ---- */

static size_t
elements(const shdrt_collective *c)
{
	return (size_t)(c->outer * c->size * c->inner);
}

/* Where element i of an operand is. */
static size_t
place(const shdrt_collective *c, size_t i)
{
	size_t run = (size_t)c->run;
	return run ? i / run * (size_t)c->run_step + i % run : i;
}

static size_t
result_elements(const shdrt_collective *c, int n)
{
	return c->kind == SHDRT_all_gather	  ? elements(c) * (size_t)n
		: c->kind == SHDRT_reduce_scatter ? elements(c) / (size_t)n
						  : elements(c);
}

static void
model(const shdrt_collective *c, char **in, int n, int self, int source, char *out)
{
	size_t bytes = shdrt_dtype_bytes[c->dtype];
	size_t outer = (size_t)c->outer, row = (size_t)(c->size * c->inner);
	size_t part = row / (size_t)n;
	for (size_t o = 0; o < outer; o++)
		for (size_t k = 0; k < row; k++) {
			size_t i = o * row + k;
			if (c->kind == SHDRT_all_reduce)
				model_reduce(c, in, n, i, out, i);
			else if (c->kind == SHDRT_reduce_scatter && k < part)
				model_reduce(c, in, n, o * row + (size_t)self * part + k, out,
					o * part + k);
			else if (c->kind == SHDRT_all_to_all)
				memcpy(out + i * bytes,
					in[k / part]
						+ place(c,
							  o * row + (size_t)self * part
								  + k % part)
							* bytes,
					bytes);
			else if (c->kind == SHDRT_collective_permute && source >= 0)
				memcpy(out + i * bytes, in[source] + place(c, i) * bytes,
					bytes);
			else if (c->kind == SHDRT_collective_permute)
				memset(out + i * bytes, 0, bytes);
			else if (c->kind == SHDRT_all_gather)
				for (int m = 0; m < n; m++)
					memcpy(out
							+ ((o * (size_t)n + (size_t)m) * row
								  + k)
								* bytes,
						in[m] + place(c, i) * bytes, bytes);
		}
}

/* ---- running ---- */

static void
fill(shdrt_device *dev, void *data)
{
	(void)data;
	for (int k = 0; k < ncases; k++)
		for (size_t i = 0; i < elements(&cases[k]); i++)
			put(cases[k].dtype, dev->slab + in_at[k], place(&cases[k], i),
				hash(hash((uint64_t)k * 1000 + (uint64_t)dev->id) + i));
}

static void
run(shdrt_device *dev, char *slab)
{
	static void (*const call[])(shdrt_device *, const shdrt_collective *, const void *,
		void *) = {
		shdrt_all_gather,
		shdrt_all_reduce,
		shdrt_reduce_scatter,
		shdrt_all_to_all,
		shdrt_collective_permute,
	};
	_Static_assert(sizeof call / sizeof *call == SHDRT_COLLECTIVE_COUNT - 1,
		"all but the last, the ragged one");
	for (int k = 0; k < ncases; k++) {
		const shdrt_collective *c = &cases[k];
		shdrt_step work = {.picoseconds = (uint64_t)(dev->id * 7 % 5)};
		shdrt_tick(dev, &work);
		if (c->slot && k >= SLOTS)
			shdrt_done(dev, &cases[k - SLOTS], &work);
		call[c->kind](dev, c, slab + in_at[k], slab + out_at[k]);
		if (c->slot && (dev->id + k) % 7 == 0)
			sched_yield();
	}
	for (int k = ncases > SLOTS ? ncases - SLOTS : 0; k < ncases; k++)
		if (cases[k].slot)
			shdrt_done(dev, &cases[k], cases[k].step);
}

static void
add_case(shdrt_collective_kind kind, shdrt_dtype d, shdrt_combiner combiner, shdrt_splits group,
	int64_t outer, int64_t size, int64_t inner, int n)
{
	shdrt_collective *c = &cases[ncases];
	*c = (shdrt_collective){.kind = kind,
		.dtype = d,
		.combiner = combiner,
		.group = group,
		.from = group,
		.outer = outer,
		.size = size,
		.inner = inner,
		.step = &steps[ncases]};
	steps[ncases] = (shdrt_step){.what = "",
		.kind = "collective",
		.axes = "",
		.file = "t.shd",
		.line = ncases + 1,
		.picoseconds = 10};
	size_t bytes = shdrt_dtype_bytes[d];
	in_at[ncases] = slab_bytes;
	slab_bytes = (slab_bytes + elements(c) * bytes + 63) / 64 * 64;
	out_at[ncases] = slab_bytes;
	slab_bytes = (slab_bytes + result_elements(c, n) * bytes + 63) / 64 * 64;
	ncases++;
}

/* Of operands in runs of so many elements, as far apart as they are long. */
static void
add_case_in_runs(shdrt_collective_kind kind, shdrt_dtype d, shdrt_splits group, int64_t run,
	int n)
{
	shdrt_collective *c = &cases[ncases];
	add_case(kind, d, SHDRT_add, group, 4, 2 * n, 5, n);
	c->run = run;
	c->run_step = 2 * run;
	in_at[ncases - 1] = slab_bytes;
	slab_bytes = (slab_bytes + 2 * elements(c) * shdrt_dtype_bytes[d] + 63) / 64 * 64;
}

static int
group_size(shdrt_splits group)
{
	int64_t n = 1;
	for (int i = 0; i < group.n; i++)
		n *= group.split[i].size;
	return (int)n;
}

/* Who sends to the device, by the definition in shdrt.h; -1 nobody. */
static int64_t
find_source(const shdrt_collective *c, int64_t ndevices, int64_t id)
{
	int64_t want = shdrt_index(id, c->group.n, c->group.split);
	shdrt_splits along = c->from;
	if (c->source) {
		want = c->source[want];
		along = c->group;
	}
	for (int64_t s = 0; s < ndevices && want >= 0; s++) {
		int64_t a = s, b = id;
		for (int i = 0; i < along.n; i++) {
			int64_t stride = along.split[i].stride;
			int64_t size = along.split[i].size;
			a -= a / stride % size * stride;
			b -= b / stride % size * stride;
		}
		if (a == b && shdrt_index(s, along.n, along.split) == want)
			return s;
	}
	return -1;
}

/* The members of the device's team, in order. */
static int
find_members(shdrt_splits group, int64_t ndevices, int64_t id, int64_t *members)
{
	int n = group_size(group);
	for (int64_t d = 0; d < ndevices; d++) {
		int64_t a = d, b = id;
		for (int i = 0; i < group.n; i++) {
			int64_t stride = group.split[i].stride;
			int64_t size = group.split[i].size;
			a -= a / stride % size * stride;
			b -= b / stride % size * stride;
		}
		if (a == b)
			members[shdrt_index(d, group.n, group.split)] = d;
	}
	return n;
}

static bool
device_right(const Machine *m, int k, int64_t id, char *wanted)
{
	const shdrt_collective *c = &cases[k];
	int64_t members[64];
	char *in[64];
	int self = (int)shdrt_index(id, c->group.n, c->group.split);
	int n = find_members(c->group, m->ndevices, id, members), source = -1;
	if (c->kind == SHDRT_collective_permute) {
		members[0] = find_source(c, m->ndevices, id);
		source = members[0] < 0 ? -1 : 0;
		n = source + 1;
	}
	for (int i = 0; i < n; i++)
		in[i] = m->devices[members[i]].slab + in_at[k];
	if (c->kind == SHDRT_collective_permute)
		n = 1;
	model(c, in, n, self, source, wanted);
	return memcmp(wanted, m->devices[id].slab + out_at[k],
		       result_elements(c, n) * shdrt_dtype_bytes[c->dtype])
		== 0;
}

static const char *const moved_by[] = {
	[HELPS_where_spare] = "",
	[HELPS_on] = ", begun, with a helper",
	[HELPS_off] = ", begun",
};

/* ... begun, if it is said who may help with that. */
static uint64_t
run_cases_so(const char *what, int64_t ndevices, Helps helps)
{
	for (int k = 0; k < ncases; k++)
		cases[k].slot = helps == HELPS_where_spare ? 0 : k % SLOTS + 1;
	program = (shdrt_program){.abi = SHDRT_ABI,
		.name = "test",
		.ndevices = ndevices,
		.ncollectives = ncases,
		.collectives = cases,
		.slab_bytes = (int64_t)slab_bytes,
		.nslots = cases[0].slot ? SLOTS : 0,
		.target = "none",
		.run = run};
	Machine *m = rt_machine_new(&program, 30, RECORD_nothing, helps);
	rt_machine_run(m, fill, NULL);
	char *wanted = rt_get_memory(1, slab_bytes);
	int wrong = 0;
	for (int k = 0; k < ncases; k++)
		for (int64_t id = 0; id < ndevices; id++)
			if (!device_right(m, k, id, wanted) && wrong++ == 0)
				printf("# first wrong: %s of %s, %s, case %d, "
				       "device %lld\n",
					shdrt_dtype_names[cases[k].dtype],
					shdrt_combiner_names[cases[k].combiner], what, k,
					(long long)id);
	uint64_t clock = rt_clock_slowest(m)->clock;
	rt_machine_run(m, fill, NULL);
	ok(wrong == 0, "%s, %lld devices: %d collectives%s", what, (long long)ndevices, ncases,
		moved_by[helps]);
	ok(clock == rt_clock_slowest(m)->clock,
		"%s, %lld devices: the emulated clock repeats%s", what, (long long)ndevices,
		moved_by[helps]);
	free(wanted);
	rt_machine_free(m);
	return clock;
}

static void
run_cases(const char *what, int64_t ndevices)
{
	uint64_t plain = run_cases_so(what, ndevices, HELPS_where_spare);
	uint64_t helped = run_cases_so(what, ndevices, HELPS_on);
	uint64_t begun = run_cases_so(what, ndevices, HELPS_off);
	ok(plain >= 10 * (uint64_t)ncases && helped == begun && begun <= plain,
		"%s, %lld devices: whoever moves, the emulated clock is the same", what,
		(long long)ndevices);
	ncases = 0;
	slab_bytes = 0;
}

static void
test_group(const char *what, int64_t ndevices, shdrt_splits group)
{
	static const shdrt_collective_kind moves[] = {
		SHDRT_all_gather,
		SHDRT_all_to_all,
		SHDRT_collective_permute,
	};
	int n = group_size(group);
	for (int d = 0; d < SHDRT_DTYPE_COUNT; d++) {
		for (int k = 0; k < 3; k++) {
			add_case(moves[k], (shdrt_dtype)d, SHDRT_add, group, 1, n, 1, n);
			add_case(moves[k], (shdrt_dtype)d, SHDRT_add, group, 3, 2 * n, 5, n);
			/* runs of a block, and of two */
			for (int run = 5; run <= 20 * n; run *= 4 * n)
				add_case_in_runs(moves[k], (shdrt_dtype)d, group, run, n);
		}
		for (int c = 0; c < SHDRT_COMBINER_COUNT; c++) {
			if (c >= SHDRT_and && is_float((shdrt_dtype)d))
				continue;
			add_case(SHDRT_all_reduce, (shdrt_dtype)d, (shdrt_combiner)c, group, 1,
				1, 1, n);
			add_case(SHDRT_all_reduce, (shdrt_dtype)d, (shdrt_combiner)c, group, 3,
				7, 19, n);
			add_case(SHDRT_reduce_scatter, (shdrt_dtype)d, (shdrt_combiner)c, group,
				2, 3 * n, 11, n);
		}
	}
	run_cases(what, ndevices);
}

#ifdef __SANITIZE_THREAD__
enum { LEFT_OUT = 1 };
#else
enum { LEFT_OUT = 0 };
#endif

/* Sizes on both sides of every switch between algorithms.  The largest go past the caches,
   which changes nothing about who waits for whom, and take a thread sanitizer minutes. */
static void
test_sizes(void)
{
	static const shdrt_split x[] = {{1, 4}};
	shdrt_splits group = {1, x};
	static const int64_t sizes[] = {1 << 10, 1 << 14, 1 << 16, 1 << 18, (1 << 20) + 4,
		(1 << 22) + 4};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes - LEFT_OUT; i++) {
		for (int k = 0; k < SHDRT_ragged_all_to_all; k++) {
			add_case((shdrt_collective_kind)k, SHDRT_f32, SHDRT_add, group, 1,
				sizes[i], 1, 4);
			if (i < 4)
				add_case((shdrt_collective_kind)k, SHDRT_bf16, SHDRT_add, group,
					16, sizes[i] / 64 * 4, 1, 4);
		}
		char what[60];
		snprintf(what, sizeof what, "%lld elements", (long long)sizes[i]);
		run_cases(what, 4);
	}
}

/* Permutes between different groups, and by a table with gaps. */
static void
test_permutes(void)
{
	static const shdrt_split xy[] = {{4, 2}, {1, 4}};
	static const shdrt_split yx[] = {{1, 4}, {4, 2}};
	static const shdrt_split y_parts[] = {{2, 2}, {4, 2}, {1, 2}};
	static const shdrt_split x[] = {{4, 2}}, y_major[] = {{2, 2}};
	static const int64_t shift[] = {3, 0, 1, 2};
	static const int64_t gaps[] = {-1, 0, 1, -1};
	shdrt_splits y = {1, xy + 1};
	static const struct {
		shdrt_splits to, from;
	} pairs[] = {
		{{2, xy}, {2, yx}},
		{{2, yx}, {2, xy}},
		{{2, xy}, {3, y_parts}},
		{{3, y_parts}, {2, yx}},
		{{1, x}, {1, y_major}},
		{{1, y_major}, {1, x}},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		add_case(SHDRT_collective_permute, SHDRT_i32, SHDRT_add, pairs[i].to, 3, 1, 5,
			1);
		cases[ncases - 1].from = pairs[i].from;
	}
	for (int i = 0; i < 2; i++) {
		add_case(SHDRT_collective_permute, SHDRT_f64, SHDRT_add, y, 3, 1, 5, 1);
		cases[ncases - 1].source = i ? gaps : shift;
	}
	run_cases("permutes between groups", 8);
}

static bool
is_helped(const shdrt_program *p, Helps helps)
{
	Machine *m = rt_machine_new(p, 30, RECORD_nothing, helps);
	bool there = m->helper.there;
	rt_machine_free(m);
	return there;
}

/* A helper is there where a core is to spare, or where it is asked for. */
static void
test_helper(void)
{
	shdrt_program p = {.ndevices = 1,
		.nslots = 1,
		.slab_bytes = 64,
		.target = "none",
		.run = run};
	bool spare = rt_cores() > 1;
	ok(is_helped(&p, HELPS_where_spare) == spare, "one device, %d cores", rt_cores());
	ok(is_helped(&p, HELPS_on) && !is_helped(&p, HELPS_off), "a helper is there, or not");
	p.ndevices = rt_cores();
	ok(!is_helped(&p, HELPS_where_spare), "a device for each core: no helper");
	p.ndevices = 1;
	p.nslots = 0;
	ok(!is_helped(&p, HELPS_on), "nothing is begun: no helper");
#if defined(__linux__)
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	p.nslots = 1;
	ok(sched_setaffinity(0, sizeof one, &one) == 0 && rt_cores() == 1
			&& !is_helped(&p, HELPS_where_spare),
		"one core of this machine: no helper");
#endif
}

int
main(void)
{
	static const shdrt_split alone[] = {{1, 1}};
	static const shdrt_split two[] = {{1, 2}}, three[] = {{1, 3}};
	static const shdrt_split eight[] = {{1, 8}}, sixteen[] = {{1, 16}};
	/* [X=2, Y=3, Z=2], and [Y=8] in parts */
	static const shdrt_split x[] = {{6, 2}}, y[] = {{2, 3}}, z[] = {{1, 2}};
	static const shdrt_split xz[] = {{6, 2}, {1, 2}};
	static const shdrt_split zyx[] = {{1, 2}, {2, 3}, {6, 2}};
	static const shdrt_split major[] = {{4, 2}}, minor[] = {{1, 4}};
	static const shdrt_split outer_parts[] = {{1, 2}, {4, 2}};
	test_group("one device", 1, (shdrt_splits){1, alone});
	test_group("no axes", 2, (shdrt_splits){0, NULL});
	test_group("X=2", 2, (shdrt_splits){1, two});
	test_group("X=3", 3, (shdrt_splits){1, three});
	test_group("X=8", 8, (shdrt_splits){1, eight});
	test_group("XZ of XYZ", 12, (shdrt_splits){2, xz});
	test_group("minor part of Y", 8, (shdrt_splits){1, minor});
	test_group("parts of Y, minor first", 8, (shdrt_splits){2, outer_parts});
	if (!SANITIZED) { /* other numbers, the same ways to wait */
		test_group("X=16", 16, (shdrt_splits){1, sixteen});
		test_group("X of XYZ", 12, (shdrt_splits){1, x});
		test_group("Y of XYZ", 12, (shdrt_splits){1, y});
		test_group("Z of XYZ", 12, (shdrt_splits){1, z});
		test_group("ZYX of XYZ", 12, (shdrt_splits){3, zyx});
		test_group("major part of Y", 8, (shdrt_splits){1, major});
	}
	test_permutes();
	test_sizes();
	test_helper();
	return done();
}
