/*
 * cost_test.c - prices of local steps: measured products, and what holds of all.
 */
#include <math.h>
#include <stdio.h>

#include "cost/residency.h"
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
	t.on_chip_bytes = t.head_bytes = 0;
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

/* ---- other steps -------------------------------------------------------------- */

static void
test_copies(Session *session)
{
	Module *m = module_on(session, target_by_name("v6e"));
	Value *x = param(m, D_f32, 8192, 1024);
	StepCost c = cost_of(make_op(make_in(m), O_output, 1, &x));

	ok(is_near(c.seconds, 49.36e-6, 0.02) && c.bound == RESOURCE_hbm,
		"a copy of 33.5 MB on a v6e takes what was measured");
	x = param(m, D_f32, 1, 1);
	c = cost_of(make_op(make_in(m), O_output, 1, &x));
	ok(c.bound == RESOURCE_latency && c.seconds > m->mesh.target->launch_seconds,
		"a small step takes its launch");
}

/* Half of 1 MB stays on the chip, a byte a second of memory, an operation a second. */
static Target
slow(void)
{
	Target t = ideal("v5e");

	t.hbm_bandwidth = t.vector_flops = 1;
	t.on_chip_bytes = 1 << 20;
	return t;
}

static bool
takes(const Value *v, double bytes, double operations)
{
	StepCost c = cost_of(v);
	bool right = c.hbm_bytes == bytes && c.busy[RESOURCE_vpu] == operations;

	if (!right)
		printf("# %s: %g bytes, %g operations\n", ops[v->def->kind].name, c.hbm_bytes,
			c.busy[RESOURCE_vpu]);
	return right;
}

static Value *
sorted(Module *m, DType dtype, int64_t rows, int64_t columns)
{
	Value *x = param(m, dtype, rows, columns);
	Op *op = make_begin(make_in(m), O_sort, 1, &x);

	op_set_int(op, A_dim, 1);
	op_set_int(op, A_direction, DIR_LT);
	return make_end(make_in(m), op);
}

static void
test_pointwise(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);
	Make k = make_in(m);
	Value *x = param(m, D_f32, 64, 100), *h = param(m, D_bf16, 64, 100);
	Value *d = param(m, D_f64, 64, 100);

	ok(takes(make_binary(k, O_add, x, x), 3 * 25600, 6400),
		"add: both operands, and the sum");
	ok(takes(make_unary(k, O_neg, h), 2 * 12800, 6400), "bf16 is half the bytes");
	ok(takes(make_unary(k, O_exp, x), 2 * 25600, 6 * 6400), "exp is several operations");
	ok(takes(make_unary(k, O_neg, d), 2 * 51200, 20 * 6400), "f64 is made of f32");
	ok(takes(make_convert(k, x, D_f64), 3 * 25600, 20 * 6400),
		"a conversion is the wider's");
	ok(takes(make_reduce(k, C_add, x, 1, (int64_t[]){1}), 25600 + 4 + 256, 6400),
		"a reduction works on each element that it reads");
}

static void
test_moves(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);
	Make k = make_in(m);
	Value *x = param(m, D_f32, 64, 100), *i = make_index(k, 3);
	Value *start[] = {i, i}, *both[] = {x, x};

	ok(takes(make_transpose(k, x, (int64_t[]){1, 0}), 2 * 25600, 16 * 6400), "transpose");
	ok(takes(make_slice_dim(k, x, 0, 0, 16, 1), 2 * 6400, 1600), "slice: the part only");
	ok(takes(make_dynamic_slice(k, x, start, (int64_t[]){16, 100}), 2 * 6400 + 8, 1600),
		"dynamic_slice: the part, and where it starts");
	ok(takes(make_dynamic_update_slice(k, x, param(m, D_f32, 16, 100), start), 2 * 6400 + 8,
		   1600),
		"dynamic_update_slice: the rest stays where it is");
	ok(takes(make_concatenate(k, 2, both, 0), 4 * 25600, 12800), "concatenate");
	ok(takes(make_pad_dim(k, x, 0, 1, 1), 25600 + 4 + 66 * 400, 6600), "pad");
	ok(cost_of(make_reshape(k, x, 1, (int64_t[]){6400})).seconds == 0,
		"a reshape is a name");
}

static void
test_rows(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);
	Make k = make_in(m);
	Type ten = type_of(D_i32, 1, (int64_t[]){10});
	Value *index = make_iota(k, &ten, 0);

	ok(takes(make_take(k, param(m, D_f32, 100000, 4), index, 0), 10 * 512 + 40 + 160, 40),
		"take: a short row is read as 512 bytes");
	ok(takes(make_take(k, param(m, D_f32, 100000, 400), index, 0), 2 * 16000 + 40, 4000),
		"take: a long one as it is");
	ok(takes(make_take(k, param(m, D_f32, 20, 4), index, 0), 320 + 40 + 160, 40),
		"take: all of a small table, once");
	Value *added[] = {param(m, D_f32, 100000, 4), index, param(m, D_f32, 10, 4)};
	Op *op = make_begin(k, O_scatter_add, 3, added);
	op_set_int(op, A_dim, 0);
	ok(takes(make_end(k, op), 2 * 10 * 512 + 40 + 160, 40),
		"scatter_add: rows are read and written");
}

/* 64 rows of 8 groups, of which a device has all, or two. */
static void
test_groups(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);
	Make k = make_in(m);
	Type rows = type_of(D_i32, 1, (int64_t[]){64}),
	     matrices = type_of(D_f32, 3, (int64_t[]){8, 16, 32});
	Value *group = make_iota(k, &rows, 0), *x = param(m, D_f32, 64, 16);

	Value *all = make_full(k, &matrices, 0);
	Value *y = make_grouped_dot(k, x, all, group, D_f32);
	ok(cost_of(y).flops == 2. * 64 * 16 * 32, "grouped_dot: each row times one matrix");
	matrices.dims[0] = 2;
	Value *part = make_grouped_dot(k, x, make_full(k, &matrices, 0), group, D_f32);
	op_set_int(part->def, A_of_groups, 8);
	ok(cost_of(part).flops == 2. * 16 * 16 * 32, "grouped_dot: rows of the groups here");
	Value *sum = make_grouped_outer(k, x, y, group, 8, D_f32);
	ok(cost_of(sum).flops == 2. * 64 * 16 * 32, "grouped_outer: each row once");
}

static void
test_sorts(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);

	ok(takes(sorted(m, D_f32, 10, 1024), 2 * 40960, 16 * 10240 * 55),
		"sort: 55 stages of 1,024 elements, one pass over memory");
	ok(takes(sorted(m, D_f32, 1, 1 << 18), 2 * (1 << 20) * 3., 16. * (1 << 18) * 171),
		"a line of twice what stays on the chip is merged: two passes more");
}

/* ---- on the chip ---------------------------------------------------------------- */

static Value *
times(Module *m, Value *x)
{
	DotDims dims = {.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {0}};
	int64_t n = x->type.dims[1];

	return make_dot(make_in(m), x, param(m, D_f32, n, n), &dims, D_f32);
}

static void
test_residency(Session *session)
{
	Target target = slow();
	Module *m = module_on(session, &target);
	Value *x = param(m, D_f32, 256, 256), *v[5] = {x};
	m->level = L_fused;

	/* 256 KiB each: two have room, and v[2] needs v[1] */
	for (int i = 1; i < 5; i++)
		v[i] = times(m, v[i - 1]);
	Value *sum = make_binary(make_in(m), O_add, v[2], v[4]);
	make_return(m->entry, 1, &sum, (Range){0}, NULL);
	module_number(m);
	residency_find(m, NULL);
	ok(!x->on_chip && v[1]->on_chip && v[2]->on_chip && !sum->on_chip,
		"what later steps read stays on the chip; parameters and results do not");
	ok(v[3]->on_chip && !v[4]->on_chip, "as many as have room in half of it");
	double bytes = 256 * 256 * 4;
	ok(cost_of(v[1]).hbm_bytes == 2 * bytes && cost_of(v[3]).hbm_bytes == bytes
			&& cost_of(v[4]).hbm_bytes == 2 * bytes
			&& cost_of(sum).hbm_bytes == 2 * bytes,
		"and are neither written to memory nor read from there");
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

static void
test_others_grow(Session *session)
{
	bool sound = true, grows = true;

	for (int i = 0; i < 2000; i++) {
		const Target *target = target_at(i % target_count());
		Module *m = module_on(session, target);
		int64_t n[2] = {random_size(3000), random_size(3000)};
		StepCost c[2][4];
		for (int k = 0; k < 2; k++) {
			Value *x = param(m, D_f32, n[0], n[1]);
			c[k][0] = cost_of(make_unary(make_in(m), O_exp, x));
			c[k][1] = cost_of(
				make_reduce(make_in(m), C_max, x, 1, (int64_t[]){i & 1}));
			c[k][2] = cost_of(sorted(m, D_f32, n[0], n[1]));
			c[k][3] =
				cost_of(make_take(make_in(m), x, param(m, D_i32, 2, n[1]), 0));
			n[i % 2] += random_size(300);
		}
		for (int k = 0; k < 4; k++) {
			sound &= is_sound(target, &c[0][k]);
			grows &= c[1][k].seconds >= c[0][k].seconds;
		}
	}
	ok(sound, "other steps take no less than any resource needs");
	ok(grows, "larger ones take no less time");
}

int
main(void)
{
	Session *session = session_new();

	test_measured_products(session);
	test_roofline(session);
	test_padding(session);
	test_copies(session);
	test_pointwise(session);
	test_moves(session);
	test_rows(session);
	test_groups(session);
	test_sorts(session);
	test_residency(session);
	test_products_grow(session);
	test_others_grow(session);
	printf("1..%d\n", tests);
	session_free(session);
	return 0;
}
