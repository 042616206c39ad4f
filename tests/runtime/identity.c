/*
 * A program written by hand, as the compiler would write it: a parameter of
 * each dtype, split over both axes of mesh [X=2, Y=2]; results the same, each
 * under another placement of its own.  For files_test.py.
 */
#include <string.h>

#include "shdrt.h"

enum { ROWS = 4, COLUMNS = 6, BYTES = ROWS * COLUMNS * 8 };

static const shdrt_axis axes[] = {{"X", 2}, {"Y", 2}};
static const shdrt_split x[] = {{2, 2}}, y[] = {{1, 2}};
static const int64_t dims[] = {ROWS, COLUMNS}, parts[] = {2, 3}, none[] = {0};
static const shdrt_splits split[] = {{1, x}, {1, y}};
static const shdrt_splits whole[] = {{0, NULL}, {0, NULL}};

#define TENSOR(name, dtype, number, first, end) \
	{ \
		name, #dtype "[4@X, 6@Y]", SHDRT_##dtype, 2, dims, parts, split, {0, NULL}, \
			SHDRT_add, (number)*BYTES, first, end, 0, 0 \
	}
/* partial sums along Y; partial maxima along X */
#define PARTIAL(name, dtype, number, combiner) \
	{ \
		name, #dtype "[4, 6] unreduced(Y)", SHDRT_##dtype, 2, dims, dims, whole, \
			{1, y}, SHDRT_##combiner, (number)*BYTES, 0, 0, 0, 0 \
	}
#define SCALAR(name, number) \
	{ \
		name, "f32[]", SHDRT_f32, 0, none, none, whole, {0, NULL}, SHDRT_add, \
			(number)*BYTES, 0, 0, 0, 0 \
	}

static const shdrt_tensor tensors[] = {
	TENSOR("p", pred, 0, 0, 0),
	TENSOR("b", i8, 1, 0, 0),
	TENSOR("i", i32, 2, 0, 0),
	TENSOR("l", i64, 3, 0, 0),
	TENSOR("ub", u8, 4, 0, 0),
	TENSOR("u", u32, 5, 0, 0),
	TENSOR("h", f16, 6, 0, 0),
	TENSOR("w", bf16, 7, 0, 0),
	TENSOR("f", f32, 8, 0, 0),
	TENSOR("d", f64, 9, 0, 0),
	TENSOR("index", i32, 10, 0, 5),
	PARTIAL("sum", f32, 11, add),
	PARTIAL("least", bf16, 12, min),
	SCALAR("scalar", 13),
};
enum { NTENSORS = sizeof tensors / sizeof *tensors };

static const shdrt_step step = {.what = "nothing",
	.kind = "fusion",
	.file = "identity.shd",
	.bound = "hbm",
	.picoseconds = 1};

static void
run(shdrt_device *dev, char *slab)
{
	/* Parameters and results share their buffers. */
	(void)slab;
	shdrt_tick(dev, &step);
}

int
main(int argc, char **argv)
{
	static const shdrt_program program = {
		.abi = SHDRT_ABI,
		.name = "identity",
		.source = "identity.shd",
		.naxes = 2,
		.axes = axes,
		.ndevices = 4,
		.nparams = NTENSORS,
		.nresults = NTENSORS,
		.params = tensors,
		.results = tensors,
		.nsteps = 1,
		.steps = &step,
		.slab_bytes = NTENSORS * BYTES,
		.target = "v5e",
		.target_memory = 1 << 30,
		.run = run,
	};
	return shdrt_main(&program, argc, argv);
}
