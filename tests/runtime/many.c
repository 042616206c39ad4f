/*
 * A program written by hand, with very many parameters, each a number: what is done once
 * for each of them must not go over all.  Its result is the last.  For files_test.py.
 */
#include <stdio.h>
#include <string.h>

#include "shdrt.h"

enum { N = 5000, ROOM = 64 }; /* bytes of each */

static const int64_t none[] = {0};
static const shdrt_splits whole[] = {{0, NULL}};
static const shdrt_step step = {.what = "nothing",
	.kind = "fusion",
	.file = "many.shd",
	.bound = "hbm",
	.picoseconds = 1};
static shdrt_tensor params[N];
static char names[N][8];

static void
run(shdrt_device *dev, char *slab)
{
	/* The result is where the parameter is. */
	(void)slab;
	shdrt_tick(dev, &step);
}

int
main(int argc, char **argv)
{
	for (int i = 0; i < N; i++) {
		snprintf(names[i], sizeof names[i], "p%d", i);
		params[i] = (shdrt_tensor){names[i], "f32[]", SHDRT_f32, 0, none, none, whole,
			{0, NULL}, SHDRT_add, (int64_t)i * ROOM, 0, 0, 0, 0};
	}
	const shdrt_program program = {
		.abi = SHDRT_ABI,
		.name = "many",
		.source = "many.shd",
		.naxes = 1,
		.axes = &(shdrt_axis){"X", 1},
		.ndevices = 1,
		.nparams = N,
		.nresults = 1,
		.params = params,
		.results = &params[N - 1],
		.nsteps = 1,
		.steps = &step,
		.slab_bytes = N * ROOM,
		.target = "v5e",
		.target_memory = 1 << 30,
		.run = run,
	};
	return shdrt_main(&program, argc, argv);
}
