/*
 * A program written by hand: w[8@X] -> w[8] + add, on four devices.  For
 * --steps, where w goes round, and --check, which believes that add is 1.
 */
#include <string.h>

#include "shdrt.h"

static const shdrt_axis axes[] = {{"X", 4}};
static const shdrt_split x[] = {{1, 4}};
static const int64_t dims[] = {8}, part[] = {2};
static const shdrt_splits split[] = {{1, x}}, whole[] = {{0, NULL}};

static const shdrt_tensor params[] = {
	{"w", "f32[8@X]", SHDRT_f32, 1, dims, part, split, {0, NULL}, SHDRT_add, 0, 0, 0, 0, 0},
	{"add", "i32[]", SHDRT_i32, 0, NULL, NULL, NULL, {0, NULL}, SHDRT_add, 64, 0, 0, 0, 0},
};
static const shdrt_tensor results[] = {
	{"w", "f32[8]", SHDRT_f32, 1, dims, dims, whole, {0, NULL}, SHDRT_add, 128, 0, 0, 0, 0},
};
static const shdrt_step steps[] = {
	{"w", "all-gather", "X", "counter.shd", 3, 3000000, 0, 40, 24, 128, "ici"},
	{"add", "fusion", NULL, "counter.shd", 4, 1500000, 8, 64, 0, 128, "hbm"},
};
static const shdrt_collective collectives[] = {
	{SHDRT_all_gather, SHDRT_f32, SHDRT_add, {1, x}, {0, NULL}, NULL, 1, 2, 1, 0, 0, 0,
		&steps[0], 0},
};

static void
run(shdrt_device *dev, char *slab)
{
	float *w = (float *)(void *)(slab + 128);
	int32_t add;
	shdrt_all_gather(dev, &collectives[0], slab, w);
	memcpy(&add, slab + 64, sizeof add);
	for (int i = 0; i < 8; i++)
		w[i] += (float)add;
	memset(slab, 0, 64); /* parameters may be overwritten */
	shdrt_tick(dev, &steps[1]);
}

static int
check(const char *hlo, size_t n, const shdrt_check_io *io)
{
	const float *in = io->params[0].data, *out = io->results[0].data;
	shdrt_verdict *v = io->verdicts;
	if (n != 3 || memcmp(hlo, "hlo", 3) != 0)
		return SHDRT_INTERNAL;
	v->elements = 8;
	for (int i = 8; i-- > 0;)
		if (out[i] != in[i] + 1) {
			v->mismatches++;
			v->worst = i;
			v->got = out[i];
			v->wanted = in[i] + 1;
			v->error = v->got - v->wanted;
		}
	return SHDRT_OK;
}

int
main(int argc, char **argv)
{
	static const shdrt_program program = {
		.abi = SHDRT_ABI,
		.name = "counter",
		.source = "counter.shd",
		.naxes = 1,
		.axes = axes,
		.ndevices = 4,
		.nparams = 2,
		.nresults = 1,
		.params = params,
		.results = results,
		.nsteps = 2,
		.steps = steps,
		.ncollectives = 1,
		.collectives = collectives,
		.slab_bytes = 192,
		.target = "v5e",
		.target_memory = 1 << 30,
		.flops = 8,
		.wire_bytes = 24,
		.run = run,
		.hlo = "hlo",
		.hlo_bytes = 3,
		.check = check,
	};
	return shdrt_main(&program, argc, argv);
}
