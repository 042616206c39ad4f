/*
 * How long collectives take: 8 devices, 1 KiB to 64 MiB.
 *
 *   collectives [DEVICES] [LARGEST_BYTES]
 *
 * For each size: microseconds, the least and the median of 11 batches, and
 * bytes written by all devices over the median, in GB/s, beside those of a
 * memcpy of 64 MiB on as many threads as there are cores.  Bytes are those of
 * the operand of all-reduce and of the result of all others.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

enum { BATCHES = 11 };

static shdrt_collective collective;
static int repeats;
static size_t largest = 64u << 20;
static double starts[1024], stops[1024];

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
	for (int i = 0; i < repeats; i++)
		call[collective.kind](dev, &collective, slab, slab + largest);
}

static void
fill(shdrt_device *dev, void *data)
{
	(void)data;
	float *in = (float *)(void *)dev->slab;
	for (size_t i = 0; i < largest / 4; i += 16)
		in[i] = (float)dev->id;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void *
copy_thread(void *data)
{
	size_t n = 64u << 20, self = (size_t)(uintptr_t)data;
	char *from = malloc(n), *to = malloc(n);
	memset(from, 1, n);
	memset(to, 1, n);
	starts[self] = rt_now();
	for (int i = 0; i < 8; i++)
		memcpy(to, from, n);
	stops[self] = rt_now();
	if (to[n / 2] != 1)
		abort();
	free(from);
	free(to);
	return NULL;
}

/* GB/s written by memcpy on every core at once. */
static double
copy_bandwidth(void)
{
	size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[1024];
	double slowest = 0;
	cores = cores > 1024 ? 1024 : cores;
	for (size_t i = 0; i < cores; i++)
		pthread_create(&threads[i], NULL, copy_thread, (void *)i);
	for (size_t i = 0; i < cores; i++) {
		pthread_join(threads[i], NULL);
		double seconds = stops[i] - starts[i];
		slowest = seconds > slowest ? seconds : slowest;
	}
	return 8.0 * (64u << 20) * (double)cores / slowest * 1e-9;
}

/* [outer 1, size, inner 1] of f32 so that `bytes` are the larger side. */
static void
measure(Machine *m, shdrt_collective_kind kind, size_t bytes, double copy)
{
	static const char *const names[] = {"all-gather", "all-reduce", "reduce-scatter",
		"all-to-all", "permute"};
	double times[BATCHES];
	int64_t n = m->ndevices, elements = (int64_t)bytes / 4;
	collective.kind = kind;
	collective.size = kind == SHDRT_all_gather ? elements / n : elements;
	repeats = bytes < 1u << 16 ? 400 : bytes < 1u << 22 ? 40 : 3;
	rt_machine_run(m, fill, NULL);
	for (int i = 0; i < BATCHES; i++)
		times[i] = rt_machine_run(m, fill, NULL) / repeats;
	qsort(times, BATCHES, sizeof *times, by_size);
	double median = times[BATCHES / 2];
	double written =
		(double)bytes * (double)n / (kind == SHDRT_reduce_scatter ? (double)n : 1);
	printf("%-15s %10zu bytes %10.2f us min %10.2f us median %7.2f GB/s "
	       "(%.2f of memcpy)\n",
		names[kind], bytes, times[0] * 1e6, median * 1e6, written / median * 1e-9,
		written / median * 1e-9 / copy);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int64_t n = argc > 1 ? atoll(argv[1]) : 8;
	if (argc > 2)
		largest = (size_t)atoll(argv[2]);
	const shdrt_split all[] = {{1, n}};
	static const shdrt_step step = {"", "collective", "", "bench", 0, 0, 0, 0, 0, ""};
	collective = (shdrt_collective){.dtype = SHDRT_f32,
		.group = {1, all},
		.from = {1, all},
		.outer = 1,
		.inner = 1,
		.step = &step};
	shdrt_program program = {.name = "bench",
		.ndevices = n,
		.ncollectives = 1,
		.collectives = &collective,
		.slab_bytes = 2 * (int64_t)largest,
		.target = "none",
		.run = run};
	double copy = copy_bandwidth();
	printf("memcpy %.2f GB/s written\n", copy);
	Machine *m = rt_machine_new(&program, 0, RECORD_nothing, HELPS_off);
	for (int kind = 0; kind < SHDRT_ragged_all_to_all; kind++)
		for (size_t bytes = 1024; bytes <= largest; bytes *= 4)
			measure(m, (shdrt_collective_kind)kind, bytes, copy);
	rt_machine_free(m);
	return 0;
}
