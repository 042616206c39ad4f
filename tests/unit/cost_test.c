/*
 * cost_test.c - prices of local steps: measured products, and what holds of all.
 */
#include <math.h>
#include <stdio.h>

#include "cost/cost.h"
#include "ir/make.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static bool
is_near(double value, double wanted, double tolerance)
{
	bool near = fabs(value / wanted - 1) <= tolerance;

	if (!near)
		printf("# %g, not %g: %+.1f %%\n", value, wanted, (value / wanted - 1) * 100);
	return near;
}

/* ---- steps ------------------------------------------------------------------ */

static Module *
module_on(Session *session, const Target *target)
{
	Module *m = module_new(session, "t");

	m->mesh.target = target;
	m->level = L_device;
	return m;
}

static Make
make_in(Module *m)
{
	return (Make){.module = m, .block = m->entry, .helper = true};
}

static Value *
param(Module *m, DType dtype, int64_t rows, int64_t columns)
{
	Type type = type_of(dtype, 2, (int64_t[]){rows, columns});
	Value *v = block_add_param(m->entry, module_unique_name(m, "x"), &type);

	v->placement = placement_none(2);
	return v;
}

static StepCost
cost_of(const Value *v)
{
	return step_cost(&v->def->module->mesh, v->def, NULL, NULL);
}

static StepCost
product(Module *m, DType dtype, int64_t rows, int64_t contracted, int64_t columns)
{
	DotDims dims = {.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {0}};

	return cost_of(make_dot(make_in(m), param(m, dtype, rows, contracted),
		param(m, dtype, contracted, columns), &dims, dtype));
}

/* ---- products ----------------------------------------------------------------- */

/* TFLOP/s of one device, launch and memory in it. */
static void
test_measured_products(Session *session)
{
	static const struct {
		const char *target;
		int64_t size;
		double tflops;
	} measured[] = {
		{"v7x", 128, 2.59},
		{"v7x", 256, 18.3},
		{"v7x", 512, 105.1},
		{"v7x", 1024, 349.7},
		{"v7x", 2048, 679.3},
		{"v7x", 4096, 892.9},
		{"v7x", 16384, 950.1},
		{"v7x", 32768, 956.4},
		{"v6e", 8192, 827.5},
	};
	bool near = true;

	for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
		int64_t n = measured[i].size;
		Module *m = module_on(session, target_by_name(measured[i].target));
		StepCost c = product(m, D_bf16, n, n, n);
		near &= is_near(c.flops / c.seconds / 1e12, measured[i].tflops, 0.1);
	}
	ok(near, "square products in bf16 run as fast as was measured, within 10 %");
}

/* Efficiencies of 1, nothing to launch, no head: what the book has. */
static Target
ideal(const char *name)
{
	Target t = *target_by_name(name);

	t.matrix_efficiency = t.hbm_efficiency = 1;
	t.launch_seconds = 0;
	t.on_chip_bytes = 0;
	return t;
}

static void
test_roofline(Session *session)
{
	Target target = ideal("v5e");
	Module *m = module_on(session, &target);
	double edge = target.bf16_flops / target.hbm_bandwidth; /* FLOP a byte: 243 */
	int64_t tile = target.matrix_tile, f32 = (int64_t)(6 * edge) / tile * tile;

	ok(product(m, D_f32, f32, f32, f32).bound == RESOURCE_hbm
			&& product(m, D_f32, f32 + tile, f32 + tile, f32 + tile).bound
				== RESOURCE_mxu,
		"square products in f32 are bound by memory below 1,459 rows");
	StepCost c = product(m, D_bf16, 4096, 4096, 4096);
	ok(is_near(c.seconds, 2 * pow(4096, 3) / target.bf16_flops, 1e-12),
		"a large product takes its FLOPs at the peak");
	c = product(m, D_bf16, 8, 4096, 4096);
	ok(is_near(c.seconds, 2 * (4096. * 4096 + 2 * 8 * 4096) / target.hbm_bandwidth, 1e-12),
		"a product with few rows takes as long as reading the weight");
}

static void
test_padding(Session *session)
{
	Target target = ideal("v5e");
	target.hbm_bandwidth = 1e16;
	Module *m = module_on(session, &target);
	int64_t tile = target.matrix_tile, rows = target.matrix_rows;
	double one = product(m, D_bf16, 1024, tile, 1024).seconds;

	ok(product(m, D_bf16, 1024, 100, 1024).seconds == one
			&& is_near(product(m, D_bf16, 1024, tile + 1, 1024).seconds, 2 * one,
				1e-12),
		"what is summed is padded to the tile");
	ok(product(m, D_bf16, rows - 1, 1024, 1024).seconds
				== product(m, D_bf16, rows, 1024, 1024).seconds
			&& product(m, D_bf16, 1024, 1024, rows - 1).seconds
				== product(m, D_bf16, rows, 1024, 1024).seconds,
		"the operand with few rows streams, on either side");
	ok(product(m, D_bf16, 1, 4096, 1).bound == RESOURCE_vpu,
		"the product of two vectors is no work for the matrix unit");
}

/* ---- of all ------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;

static int64_t
random_size(int64_t most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return 1 + (int64_t)(state % (uint64_t)most);
}

static bool
is_sound(const Target *target, const StepCost *c)
{
	bool sound = c->seconds >= c->flops / target->i8_flops
		&& c->seconds >= c->hbm_bytes / target->hbm_bandwidth;

	for (int r = 0; r < RESOURCE_COUNT; r++)
		sound &= c->busy[r] <= c->seconds;
	return sound && c->busy[c->bound] > 0;
}

static void
test_products_grow(Session *session)
{
	bool sound = true, grows = true;

	for (int i = 0; i < 2000; i++) {
		const Target *target = target_at(i % target_count());
		Module *m = module_on(session, target);
		int64_t n[3] = {random_size(3000), random_size(3000), random_size(3000)};
		StepCost c = product(m, D_bf16, n[0], n[1], n[2]);
		n[i % 3] += random_size(300);
		StepCost more = product(m, D_bf16, n[0], n[1], n[2]);
		sound &= is_sound(target, &c);
		grows &= more.seconds >= c.seconds;
	}
	ok(sound, "a product takes no less than any resource needs, nor than the roofline");
	ok(grows, "a larger product takes no less time");
}

int
main(void)
{
	Session *session = session_new();

	test_measured_products(session);
	test_roofline(session);
	test_padding(session);
	test_products_grow(session);
	printf("1..%d\n", tests);
	session_free(session);
	return 0;
}
