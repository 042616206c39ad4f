/*
 * partition_test.c - every case of matmul placement.
 *
 * A[i,k] B[k,j] -> C[i,j] on a 2x4 mesh, each of the three tensors in each of
 * its 11 placements: 1,331 programs, propagated, partitioned and localized.
 * Each gives the right numbers on all devices, and a device receives at most
 * the bytes of the plan that Shardy's vote on element counts would choose,
 * worked out here for the three factors of a matmul.
 */
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "eval/eval.h"
#include "cost/ledger.h"
#include "shard/shard.h"

enum { NSPECS = 11, I = 0, J = 1, K = 2, NFACTORS = 3 };

static Sharing
share_all(Module *m)
{
	(void)m;
	return SHARE_all;
}

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static Mesh
mesh_2x4(void)
{
	Mesh m = {.naxes = 2, .ndevices = 8, .target = target_default()};

	m.axes[0] = (MeshAxis){.name = "X", .size = 2};
	m.axes[1] = (MeshAxis){.name = "Y", .size = 4};
	return m;
}

/* The 11 placements of a matrix: axes of dim 0, then of dim 1. */
static Placement
spec(const Mesh *mesh, int n)
{
	static const char *const specs[NSPECS][2] = {
		{"", ""},
		{"X", ""},
		{"Y", ""},
		{"", "X"},
		{"", "Y"},
		{"XY", ""},
		{"YX", ""},
		{"", "XY"},
		{"", "YX"},
		{"X", "Y"},
		{"Y", "X"},
	};
	Placement p = placement_none(2);

	for (int d = 0; d < 2; d++) {
		AxisList l = {0};
		for (const char *s = specs[n][d]; *s; s++)
			axes_append(&l, axis_whole(mesh, *s - 'X'));
		placement_set_dim(&p, d, &l);
	}
	return p;
}

/* ---- the yardstick ---------------------------------------------------------- */

/* factor of each dim of A, B, C */
static const int factor_of[3][2] = {{I, K}, {K, J}, {I, J}};

typedef struct Entry { /* a candidate of the vote */
	int factor;
	AxisList axes;
	double votes;
	bool out;
} Entry;

static void
ballot(Entry *entries, int *n, int factor, AxisList axes, double votes)
{
	for (int i = 0; i < *n; i++)
		if (entries[i].factor == factor && axes_equal(&entries[i].axes, &axes)) {
			entries[i].votes += votes;
			return;
		}
	entries[(*n)++] = (Entry){factor, axes, votes, false};
}

static bool
prefer(const Entry *a, const Entry *b, const AxisList *chosen)
{
	int64_t more_a = axes_size(&a->axes) / axes_size(&chosen[a->factor]);
	int64_t more_b = axes_size(&b->axes) / axes_size(&chosen[b->factor]);

	if (a->votes > b->votes || a->votes < b->votes)
		return a->votes > b->votes;
	if ((a->factor == K) != (b->factor == K))
		return b->factor == K;
	if (more_a != more_b)
		return more_a > more_b;
	return a->factor > b->factor;
}

static void
reference_vote(const Type *types, const Placement *specs, AxisList *chosen)
{
	Entry entries[64], *best;
	int n = 0;

	memset(chosen, 0, NFACTORS * sizeof *chosen);
	for (int t = 0; t < 3; t++)
		for (int d = 0; d < 2; d++) {
			AxisList l = placement_dim(&specs[t], d), prefix = {0};
			for (int i = 0; i < l.n; i++) {
				prefix.a[prefix.n++] = l.a[i];
				ballot(entries, &n, factor_of[t][d], prefix,
					(double)type_elements(&types[t]));
			}
		}
	do {
		best = NULL;
		for (int i = 0; i < n; i++)
			if (!entries[i].out && (!best || prefer(&entries[i], best, chosen)))
				best = &entries[i];
		if (!best)
			break;
		chosen[best->factor] = best->axes;
		for (int i = 0; i < n; i++) {
			Entry *e = &entries[i];
			for (int k = 0; k < best->axes.n; k++)
				e->out |= e->factor != best->factor
					&& axes_overlap(&e->axes, best->axes.a[k]);
			e->out |= e->factor == best->factor
				&& (e->axes.n <= best->axes.n
					|| !axes_is_prefix(&best->axes, &e->axes));
		}
	} while (best);
}

static double
reference_bytes(Resharder *r, const Type *types, const Placement *specs)
{
	AxisList chosen[NFACTORS];
	double bytes = 0;

	reference_vote(types, specs, chosen);
	for (int t = 0; t < 3; t++) {
		Placement p = placement_none(2);
		for (int d = 0; d < 2; d++)
			placement_set_dim(&p, d, &chosen[factor_of[t][d]]);
		if (t == 2) {
			placement_set_unreduced(&p, &chosen[K], C_add);
			bytes += reshard_plan(r, &types[t], &p, &specs[t])->bytes;
		} else {
			bytes += reshard_plan(r, &types[t], &specs[t], &p)->bytes;
		}
	}
	return bytes;
}

/* ---- our program ------------------------------------------------------------- */

static Module *
matmul_module(Session *s, const Mesh *mesh, const Type *types, const Placement *specs)
{
	Module *m = module_new(s, "matmul");
	Block *b = m->entry = m->entry ? m->entry : block_new(m, NULL);
	Value *v[2];

	m->mesh = *mesh;
	m->entry_name = "main";
	m->last_pass = "";
	for (int t = 0; t < 2; t++) {
		v[t] = block_add_param(b, t ? "B" : "A", &types[t]);
		v[t]->placement = specs[t];
		v[t]->annotated = true;
	}
	Op *dot = op_new(m, O_dot, 2, v, 1, "C", nowhere, "einsum 'ik,kj->ij'");
	op_set_ints(dot, A_lhs_batch, 0, NULL);
	op_set_ints(dot, A_rhs_batch, 0, NULL);
	op_set_int(dot, A_lhs_contract, 1);
	op_set_int(dot, A_rhs_contract, 0);
	op_append(b, dot);
	op_infer(dot);
	Op *output = op_new(m, O_output, 1, dot->results, 1, "out", nowhere, "return");
	op_append(b, output);
	op_infer(output);
	output->results[0]->placement = specs[2];
	output->results[0]->annotated = true;
	Named result = {"out", output->results[0], types[2], specs[2]};
	APPEND(m->arena, m->results, m->nresults, result);
	op_append(b, op_new(m, O_return, 1, output->results, 0, NULL, nowhere, "return"));
	return m;
}

static Tensor
numbers(const Type *type, int step)
{
	Tensor t;

	if (!tensor_new(type, &t))
		abort();
	for (int64_t i = 0; i < type_elements(type); i++)
		((int32_t *)t.data)[i] = (int32_t)(i * step % 17 - 8);
	return t;
}

static Tensor
product(const Tensor *a, const Tensor *b, const Type *type)
{
	Tensor c;
	int64_t n = type->dims[1], depth = a->type.dims[1];

	if (!tensor_new(type, &c))
		abort();
	for (int64_t i = 0; i < type->dims[0]; i++)
		for (int64_t k = 0; k < depth; k++)
			for (int64_t j = 0; j < n; j++)
				((int32_t *)c.data)[i * n + j] +=
					((int32_t *)a->data)[i * depth + k]
					* ((int32_t *)b->data)[k * n + j];
	return c;
}

static bool
gives_product(Module *m, const Type *types, const Placement *specs)
{
	Tensor a = numbers(&types[0], 5), b = numbers(&types[1], 7);
	Tensor want = product(&a, &b, &types[2]), got, locals[8];
	Tensor inputs[8][2], *in[8], outputs[8], *out[8];
	int64_t disagree;
	bool good;

	for (int d = 0; d < 8; d++) {
		in[d] = inputs[d];
		out[d] = &outputs[d];
		if (!tensor_shard(&m->mesh, &specs[0], d, &a, &inputs[d][0])
			|| !tensor_shard(&m->mesh, &specs[1], d, &b, &inputs[d][1]))
			abort();
	}
	if (!eval_device(m, in, out, NULL))
		abort();
	for (int d = 0; d < 8; d++)
		locals[d] = outputs[d];
	if (!tensor_unshard(&m->mesh, &specs[2], &types[2], locals, &got, &disagree))
		abort();
	good = disagree < 0 && !memcmp(got.data, want.data, (size_t)type_bytes(&types[2]));
	for (int d = 0; d < 8; d++) {
		tensor_free(&inputs[d][0]);
		tensor_free(&inputs[d][1]);
		tensor_free(&outputs[d]);
	}
	tensor_free(&a);
	tensor_free(&b);
	tensor_free(&want);
	tensor_free(&got);
	return good;
}

/* ---- all of them --------------------------------------------------------------- */

typedef struct Tally {
	int programs, wrong, unverified, costly, cheaper;
} Tally;

static void
describe(const Mesh *mesh, const Type *types, const Placement *specs, double ours,
	double reference)
{
	Text t = {0};

	for (int i = 0; i < 3; i++)
		text_spec(&t, mesh, &types[i], &specs[i]);
	printf("# %s: %.0f bytes, the vote %.0f\n", t.s, ours, reference);
	text_free(&t);
}

static void
try_program(const Mesh *mesh, Resharder *r, const Type *types, const Placement *specs,
	Tally *tally)
{
	double ours, reference = reference_bytes(r, types, specs);
	Session *s = session_new();
	Module *m = matmul_module(s, mesh, types, specs);

	propagate(m);
	tally->unverified += !module_verify(m, stdout);
	partition(m, share_all, &(Foresight){.sums = true, .wants = true}, NULL);
	tally->unverified += !module_verify(m, stdout);
	localize(m);
	tally->unverified += !module_verify(m, stdout);
	ours = (double)module_ledger(m)->work.wire_bytes;
	tally->programs++;
	tally->wrong += !gives_product(m, types, specs);
	if (ours > reference + 0.5 && tally->costly++ < 5)
		describe(mesh, types, specs, ours, reference);
	tally->cheaper += ours < reference - 0.5;
	session_free(s);
}

static void
try_sizes(const char *name, int64_t i, int64_t k, int64_t j)
{
	Mesh mesh = mesh_2x4();
	Type types[3] = {
		type_of(D_i32, 2, (int64_t[]){i, k}),
		type_of(D_i32, 2, (int64_t[]){k, j}),
		type_of(D_i32, 2, (int64_t[]){i, j}),
	};
	Arena *arena = arena_new();
	Resharder *r = resharder_new(arena, &mesh);
	Tally tally = {0};

	for (int a = 0; a < NSPECS; a++)
		for (int b = 0; b < NSPECS; b++)
			for (int c = 0; c < NSPECS; c++) {
				Placement specs[3] = {spec(&mesh, a), spec(&mesh, b),
					spec(&mesh, c)};
				try_program(&mesh, r, types, specs, &tally);
			}
	printf("# %s: %d programs, %d move less than the vote\n", name, tally.programs,
		tally.cheaper);
	ok(tally.programs == 1331 && !tally.unverified, "all verify");
	ok(!tally.wrong, "the product is right on all devices");
	ok(!tally.costly, "no plan moves more than the vote's");
	arena_free(arena);
}

int
main(void)
{
	try_sizes("square", 16, 16, 16);
	try_sizes("tall", 64, 8, 8);
	try_sizes("deep", 8, 64, 8);
	try_sizes("wide", 8, 16, 64);
	printf("1..%d\n", tests);
	return 0;
}
