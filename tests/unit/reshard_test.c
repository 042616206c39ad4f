/*
 * reshard_test.c - moving between any two placements.
 *
 * Every ordered pair of placements of a rank-3 tensor on four meshes, then
 * random pairs with sub-axes and partial sums: the plan, localized, run on all
 * devices by the interpreter, gives the tensor in its new placement, and a
 * device receives at most the bytes of gathering what is moved.
 *
 *   reshard_test            TAP
 *   reshard_test --list     also the plans
 */
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "eval/eval.h"
#include "shard/shard.h"

enum { MAX_PLACEMENTS = 256 };

static int tests;
static bool list_plans;

static void
ok(bool good, const char *name, const char *detail)
{
	printf("%s %d - %s%s%s\n", good ? "ok" : "not ok", ++tests, name, detail ? ": " : "",
		detail ? detail : "");
}

static Mesh
mesh_of(int n, const int64_t *sizes)
{
	static const char *const names[] = {"x", "y", "z", "w"};
	Mesh m = {.naxes = n, .ndevices = 1, .target = target_default()};

	for (int i = 0; i < n; i++) {
		m.axes[i].name = names[i];
		m.axes[i].size = sizes[i];
		m.ndevices *= sizes[i];
	}
	return m;
}

/* ---- one pair ------------------------------------------------------------ */

static Module *
reshard_module(Session *s, const Mesh *mesh, const Type *type, const Placement *from,
	const Placement *to)
{
	Module *m = module_new(s, "pair");
	Block *b = m->entry = m->entry ? m->entry : block_new(m, NULL);
	Value *v = block_add_param(b, "a", type);

	m->mesh = *mesh;
	m->entry_name = "main";
	m->last_pass = "";
	v->placement = *from;
	Op *move = op_new(m, O_reshard, 1, &v, 1, "b", nowhere, "reshard");
	op_append(b, move);
	op_infer(move);
	move->results[0]->placement = *to;
	Op *output = op_new(m, O_output, 1, move->results, 1, "out", nowhere, "return");
	op_append(b, output);
	op_infer(output);
	output->results[0]->placement = *to;
	Named result = {"out", output->results[0], *type, *to};
	APPEND(m->arena, m->results, m->nresults, result);
	op_append(b, op_new(m, O_return, 1, output->results, 0, NULL, nowhere, "return"));
	m->level = L_resharded;
	return m;
}

static Tensor
counted(const Type *type)
{
	Tensor t;

	if (!tensor_new(type, &t))
		abort();
	for (int64_t i = 0; i < type_elements(type); i++)
		((int32_t *)t.data)[i] = (int32_t)i + 1;
	return t;
}

/* What arrived on each device against what should have. */
static bool
devices_agree(const Module *m, const Type *type, const Placement *to, Tensor **outputs,
	const Tensor *whole)
{
	const Mesh *mesh = &m->mesh;
	Placement dims_only = *to;
	AxisList none = {0};
	bool good = true;

	if (to->nunreduced) {
		Tensor *locals = calloc((size_t)mesh->ndevices, sizeof *locals);
		Tensor got;
		int64_t disagree;
		for (int64_t d = 0; d < mesh->ndevices; d++)
			locals[d] = outputs[d][0];
		if (!tensor_unshard(mesh, to, type, locals, &got, &disagree))
			abort();
		good = disagree < 0 && !memcmp(got.data, whole->data, (size_t)type_bytes(type));
		tensor_free(&got);
		free(locals);
		return good;
	}
	placement_set_unreduced(&dims_only, &none, C_add);
	for (int64_t d = 0; d < mesh->ndevices; d++) {
		Tensor want;
		if (!tensor_shard(mesh, &dims_only, d, whole, &want))
			abort();
		good &= type_equal(&want.type, &outputs[d][0].type)
			&& !memcmp(want.data, outputs[d][0].data,
				(size_t)type_bytes(&want.type));
		tensor_free(&want);
	}
	return good;
}

static bool
runs_right(Module *m, const Type *type, const Placement *from, const Placement *to)
{
	int64_t n = m->mesh.ndevices;
	Tensor whole = counted(type);
	Tensor **inputs = calloc((size_t)n, sizeof *inputs);
	Tensor **outputs = calloc((size_t)n, sizeof *outputs);
	bool good;

	for (int64_t d = 0; d < n; d++) {
		inputs[d] = calloc(1, sizeof **inputs);
		outputs[d] = calloc(1, sizeof **outputs);
		if (!tensor_shard(&m->mesh, from, d, &whole, inputs[d]))
			abort();
	}
	if (!eval_device(m, inputs, outputs, NULL))
		abort();
	good = devices_agree(m, type, to, outputs, &whole);
	for (int64_t d = 0; d < n; d++) {
		tensor_free(inputs[d]);
		tensor_free(outputs[d]);
		free(inputs[d]);
		free(outputs[d]);
	}
	tensor_free(&whole);
	free(inputs);
	free(outputs);
	return good;
}

/* Gathering, dim by dim, what is not a common prefix, and reducing what is
   partial; the slices that follow are free. */
static double
gather_bytes(const Mesh *mesh, const Type *type, const Placement *from, const Placement *to)
{
	Type local = placement_local(type, from);
	double bytes = (double)type_bytes(&local);
	double total = 0;
	AxisList partial = placement_unreduced(from);
	int64_t members = 1, reduced = 1;

	(void)mesh;
	for (int i = 0; i < partial.n; i++) {
		AxisList kept = placement_unreduced(to);
		reduced *= partial.a[i].size;
		for (int k = 0; k < kept.n; k++)
			if (axis_contains(partial.a[i], kept.a[k]))
				reduced /= kept.a[k].size;
	}
	total += wire_bytes(O_all_reduce, reduced, bytes);
	for (int d = 0; d < type->rank; d++) {
		AxisList a = placement_dim(from, d), b = placement_dim(to, d);
		AxisList shared = axes_common_prefix(&a, &b);
		members *= axes_size(&a) / axes_size(&shared);
	}
	return total + wire_bytes(O_all_gather, members, bytes);
}

static void
list_plan(const Mesh *mesh, const Type *type, const Placement *from, const Placement *to,
	const ReshardPlan *plan)
{
	Text t = {0};

	text_spec(&t, mesh, type, from);
	text_add(&t, " -> ");
	text_spec(&t, mesh, type, to);
	for (int k = 0; k < plan->n; k++) {
		text_printf(&t, "  %s ", ops[plan->moves[k].kind].name);
		text_spec(&t, mesh, type, &plan->moves[k].after);
	}
	printf("# %g bytes  %s\n", plan->bytes, t.s);
	text_free(&t);
}

/* "" when right, else what is wrong */
static const char *
check_pair(const Mesh *mesh, Resharder *r, const Type *type, const Placement *from,
	const Placement *to)
{
	const ReshardPlan *plan = reshard_plan(r, type, from, to);
	double most = gather_bytes(mesh, type, from, to);
	Session *s = session_new();
	Module *m = reshard_module(s, mesh, type, from, to);
	const char *wrong = "";

	if (list_plans)
		list_plan(mesh, type, from, to, plan);
	if (plan->bytes > most * (1 + 1e-9))
		wrong = "moves more than gathering";
	localize(m);
	if (!module_verify(m, stdout))
		wrong = "does not verify";
	else if (!runs_right(m, type, from, to))
		wrong = "wrong numbers";
	session_free(s);
	return wrong;
}

/* ---- every pair -------------------------------------------------------------- */

/* All ways to put axes from `axis` on into the dims, in any order. */
static void
enumerate(const Mesh *mesh, Placement p, unsigned used, Placement *out, int *n)
{
	bool known = false;

	for (int i = 0; i < *n && !known; i++)
		known = placement_equal(&out[i], &p);
	if (known)
		return;
	out[(*n)++] = p;
	for (int axis = 0; axis < mesh->naxes; axis++)
		for (int d = 0; d < p.rank && !(used >> axis & 1); d++) {
			Placement q = p;
			AxisList l = placement_dim(&q, d);
			axes_append(&l, axis_whole(mesh, axis));
			placement_set_dim(&q, d, &l);
			enumerate(mesh, q, used | 1u << axis, out, n);
		}
}

static void
report_pair(const Mesh *mesh, const Type *type, const Placement *from, const Placement *to,
	const char *wrong)
{
	Text t = {0};

	text_spec(&t, mesh, type, from);
	text_add(&t, " -> ");
	text_spec(&t, mesh, type, to);
	printf("# %s: %s\n", t.s, wrong);
	text_free(&t);
}

static int
check_mesh(int naxes, const int64_t *sizes)
{
	static Placement all[MAX_PLACEMENTS];
	Mesh mesh = mesh_of(naxes, sizes);
	int64_t n = mesh.ndevices;
	Type type = type_of(D_i32, 3, (int64_t[]){n, n, n});
	Arena *a = arena_new();
	Resharder *r = resharder_new(a, &mesh);
	int count = 0, failed = 0;
	char name[80];

	enumerate(&mesh, placement_none(3), 0, all, &count);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < count; k++) {
			const char *wrong = check_pair(&mesh, r, &type, &all[i], &all[k]);
			if (*wrong && failed++ < 5)
				report_pair(&mesh, &type, &all[i], &all[k], wrong);
		}
	snprintf(name, sizeof name, "%d pairs on %d axes, %lld devices", count * count, naxes,
		(long long)n);
	ok(!failed, name, NULL);
	arena_free(a);
	return count * count;
}

/* ---- random pairs -------------------------------------------------------------- */

static uint64_t seed;

static int
below(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

/* Pieces of the axes in random dims, or partial, or unused. */
static Placement
random_placement(const Mesh *mesh, const Type *type, bool partial)
{
	Placement p = placement_none(type->rank);
	AxisList unreduced = {0};

	for (int axis = 0; axis < mesh->naxes; axis++) {
		int32_t left = (int32_t)mesh->axes[axis].size, pre = 1;
		while (left > 1) {
			int32_t size = 2 + below(left - 1);
			while (left % size)
				size++;
			AxisRef a = {(int16_t)axis, pre, size};
			int d = below(type->rank + 2);
			pre *= size;
			left /= size;
			if (d == type->rank && partial)
				axes_append(&unreduced, a);
			if (d >= type->rank)
				continue;
			AxisList l = placement_dim(&p, d);
			axes_append(&l, a);
			if (type->dims[d] % axes_size(&l) == 0)
				placement_set_dim(&p, d, &l);
		}
	}
	placement_set_unreduced(&p, &unreduced, C_add);
	return p;
}

static void
check_random(int naxes, const int64_t *sizes, int pairs)
{
	Mesh mesh = mesh_of(naxes, sizes);
	Type type = type_of(D_i32, 3, (int64_t[]){24, 16, 12});
	Arena *a = arena_new();
	Resharder *r = resharder_new(a, &mesh);
	int failed = 0;
	char name[80];

	for (int i = 0; i < pairs; i++) {
		Placement from = random_placement(&mesh, &type, true);
		Placement to = random_placement(&mesh, &type, i % 4 == 0);
		const char *wrong = check_pair(&mesh, r, &type, &from, &to);
		if (*wrong && failed++ < 5)
			report_pair(&mesh, &type, &from, &to, wrong);
	}
	snprintf(name, sizeof name, "%d random pairs on %lld devices", pairs,
		(long long)mesh.ndevices);
	ok(!failed, name, NULL);
	arena_free(a);
}

int
main(int argc, char **argv)
{
	int pairs = 0;
	char detail[32];

	list_plans = argc > 1 && !strcmp(argv[1], "--list");
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	printf("# seed %llu\n", (unsigned long long)seed);
	pairs += check_mesh(3, (int64_t[]){2, 2, 2});
	pairs += check_mesh(2, (int64_t[]){4, 2});
	pairs += check_mesh(2, (int64_t[]){2, 3});
	pairs += check_mesh(1, (int64_t[]){8});
	snprintf(detail, sizeof detail, "%d", pairs);
	ok(pairs == 11974, "all pairs were tried", detail);
	check_random(2, (int64_t[]){4, 4}, 400);
	check_random(2, (int64_t[]){6, 2}, 400);
	check_random(3, (int64_t[]){4, 2, 2}, 300);
	printf("1..%d\n", tests);
	return 0;
}
