/*
 * halo_test.c - every roll, pad, concat, slice and reverse along a split dim
 * of 6 to 16 rows, and every pad that puts up to 3 between them, over 2 to 8
 * devices: one axis, several, parts of axes.
 *
 * Each program is partitioned, localized and run on all devices.  Its numbers
 * are those of the same program on whole tensors, bit for bit; what a device
 * receives is at most the boundary rows times the hops, which is worked out
 * here from the op's meaning, row by row, and at most what gathering would
 * move.
 */
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "eval/eval.h"
#include "cost/ledger.h"
#include "shard/shard.h"

enum { COLUMNS = 3, MOST_DEVICES = 8, MOST_PARTS = 2 };

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

/* ---- meshes ----------------------------------------------------------- */

typedef struct Layout {
	const char *name;
	int64_t sizes[3]; /* of axes X, Y, Z; 0: not there */
	AxisList axes;	  /* that split the dim */
} Layout;

static const Layout layouts[] = {
	{"X=2", {2}, {1, {{0, 1, 2}}}},
	{"X=3", {3}, {1, {{0, 1, 3}}}},
	{"X=4", {4}, {1, {{0, 1, 4}}}},
	{"X=5", {5}, {1, {{0, 1, 5}}}},
	{"X=6", {6}, {1, {{0, 1, 6}}}},
	{"X=7", {7}, {1, {{0, 1, 7}}}},
	{"X=8", {8}, {1, {{0, 1, 8}}}},
	{"Y of X=2,Y=4", {2, 4}, {1, {{1, 1, 4}}}},
	{"(X,Y) of 2x3", {2, 3}, {2, {{0, 1, 2}, {1, 1, 3}}}},
	{"(Y,X) of 2x4", {2, 4}, {2, {{1, 1, 4}, {0, 1, 2}}}},
	{"(Z,X) of 2x2x2", {2, 2, 2}, {2, {{2, 1, 2}, {0, 1, 2}}}},
	{"X:(2)2 of X=4", {4}, {1, {{0, 2, 2}}}},
	{"(Y,X:(1)2) of 4x2", {4, 2}, {2, {{1, 1, 2}, {0, 1, 2}}}},
};
enum { NLAYOUTS = sizeof layouts / sizeof layouts[0] };

static Mesh
mesh_of(const Layout *layout)
{
	static const char *const names[] = {"X", "Y", "Z"};
	Mesh m = {.ndevices = 1, .target = target_default()};

	for (int i = 0; i < 3 && layout->sizes[i]; i++) {
		m.axes[m.naxes++] = (MeshAxis){.name = names[i], .size = layout->sizes[i]};
		m.ndevices *= layout->sizes[i];
	}
	return m;
}

static Placement
split_rows(const Layout *layout)
{
	Placement p = placement_none(2);

	placement_set_dim(&p, 0, &layout->axes);
	return p;
}

/* ---- ops and what they mean ------------------------------------------- */

typedef struct Case {
	OpKind kind;
	int64_t rows[MOST_PARTS]; /* of the operands */
	int64_t a, b, c;	  /* roll: shift; pad: low, high, between;
				   slice: start, limit, stride */
	int64_t result;		  /* rows */
	const Layout *layout;
	int64_t ways;
} Case;

typedef struct From {
	int operand; /* -1: none, padding */
	int64_t row;
} From;

/* Where row o of the result comes from. */
static From
comes_from(const Case *c, int64_t o)
{
	int64_t n = c->rows[0];

	switch ((int)c->kind) {
	case O_roll:
		return (From){0, (o - c->a + n) % n};
	case O_reverse:
		return (From){0, n - 1 - o};
	case O_slice:
		return (From){0, c->a + o * c->c};
	case O_pad:
		if (o < c->a || (o - c->a) % (c->c + 1) || (o - c->a) / (c->c + 1) >= n)
			return (From){-1, 0};
		return (From){0, (o - c->a) / (c->c + 1)};
	default:
		return o < n ? (From){0, o} : (From){1, o - n};
	}
}

static int
operands_of(const Case *c)
{
	return c->kind == O_concatenate ? 2 : 1;
}

/* ---- the yardstick ---------------------------------------------------- */

/* Towards one side, how many rows are needed of one shard at most, and of how
   far away; round the ring for a roll. */
static int64_t
boundary_times_hops(const Case *c, int64_t (*pairs)[MOST_DEVICES], int side)
{
	int64_t boundary = 0, hops = 0;

	for (int64_t q = 0; q < c->ways; q++)
		for (int64_t r = 0; r < c->ways; r++) {
			int64_t distance = (q - r) * side;
			if (c->kind == O_roll)
				distance = (distance + c->ways) % c->ways;
			if (!pairs[q][r] || distance <= 0
				|| (c->kind == O_roll && distance * 2 > c->ways - (side < 0)))
				continue;
			int64_t rows = pairs[q][r];
			boundary = rows > boundary ? rows : boundary;
			hops = distance > hops ? distance : hops;
		}
	return boundary * hops;
}

typedef struct Yardstick {
	int64_t bound;	/* boundary rows times hops, both sides */
	int64_t least;	/* rows that some device has to receive */
	int64_t gather; /* rows received when operands are gathered */
} Yardstick;

static Yardstick
measure(const Case *c)
{
	Yardstick y = {0};
	int64_t received[MOST_DEVICES] = {0};

	for (int i = 0; i < operands_of(c); i++) {
		/* rows [of][by] */
		int64_t pairs[MOST_DEVICES][MOST_DEVICES] = {0};
		int64_t shard = c->rows[i] / c->ways;
		for (int64_t o = 0; o < c->result; o++) {
			From from = comes_from(c, o);
			int64_t r = o / (c->result / c->ways);
			int64_t q = from.row / shard;
			if (from.operand != i)
				continue;
			pairs[q][r]++;
			received[r] += q != r;
		}
		y.bound += boundary_times_hops(c, pairs, 1) + boundary_times_hops(c, pairs, -1);
		y.gather += shard * (c->ways - 1);
	}
	for (int64_t r = 0; r < c->ways; r++)
		y.least = received[r] > y.least ? received[r] : y.least;
	return y;
}

/* ---- the program ------------------------------------------------------ */

static void
set_attrs(const Case *c, Op *op)
{
	if (c->kind == O_roll) {
		op_set_int(op, A_along, 0);
		op_set_int(op, A_shift, c->a);
	} else if (c->kind == O_reverse) {
		op_set_int(op, A_dims, 0);
	} else if (c->kind == O_slice) {
		op_set_ints(op, A_start, 2, (int64_t[]){c->a, 0});
		op_set_ints(op, A_limit, 2, (int64_t[]){c->b, COLUMNS});
		op_set_ints(op, A_stride, 2, (int64_t[]){c->c, 1});
	} else if (c->kind == O_pad) {
		op_set_ints(op, A_low, 2, (int64_t[]){c->a, 0});
		op_set_ints(op, A_high, 2, (int64_t[]){c->b, 0});
		if (c->c)
			op_set_ints(op, A_inner, 2, (int64_t[]){c->c, 0});
	} else {
		op_set_int(op, A_dim, 0);
	}
}

static Op *
append(Module *m, OpKind kind, int n, Value *const *operands, const char *name)
{
	Op *op = op_new(m, kind, n, operands, kind != O_return, name, (Range){0},
		name ? name : "return");

	op_append(m->entry, op);
	return op;
}

static Module *
module_of(Session *s, const Case *c)
{
	Module *m = module_new(s, "halo");
	Value *v[MOST_PARTS];
	int n = operands_of(c);

	m->entry = m->entry ? m->entry : block_new(m, NULL);
	m->mesh = mesh_of(c->layout);
	m->entry_name = "main";
	m->last_pass = "";
	for (int i = 0; i < n; i++) {
		Type type = type_of(D_i32, 2, (int64_t[]){c->rows[i], COLUMNS});
		v[i] = block_add_param(m->entry, i ? "b" : "a", &type);
		v[i]->placement = split_rows(c->layout);
		v[i]->annotated = true;
	}
	if (c->kind == O_pad) {
		Op *nine = append(m, O_constant, 0, NULL, "nine");
		op_set_int(nine, A_value, 9);
		nine->results[0]->type = type_of(D_i32, 0, NULL);
		v[n++] = nine->results[0];
	}
	Op *op = append(m, c->kind, n, v, "moved");
	set_attrs(c, op);
	op_infer(op);
	Op *output = append(m, O_output, 1, op->results, "out");
	op_infer(output);
	output->results[0]->placement = split_rows(c->layout);
	output->results[0]->annotated = true;
	Named result = {"out", output->results[0], output->results[0]->type,
		split_rows(c->layout)};
	APPEND(m->arena, m->results, m->nresults, result);
	append(m, O_return, 1, output->results, NULL);
	return m;
}

/* ---- its numbers ------------------------------------------------------ */

static Tensor
new_tensor(int64_t rows)
{
	Type type = type_of(D_i32, 2, (int64_t[]){rows, COLUMNS});
	Tensor t;

	if (!tensor_new(&type, &t))
		abort();
	return t;
}

static Tensor
numbered(int64_t rows, int32_t from)
{
	Tensor t = new_tensor(rows);

	for (int32_t i = 0; i < rows * COLUMNS; i++)
		((int32_t *)t.data)[i] = from + i;
	return t;
}

static Tensor
wanted(const Case *c, const Tensor *operands)
{
	Tensor t = new_tensor(c->result);

	for (int64_t o = 0; o < c->result; o++)
		for (int64_t k = 0; k < COLUMNS; k++) {
			From from = comes_from(c, o);
			((int32_t *)t.data)[o * COLUMNS + k] = from.operand < 0
				? 9
				: ((int32_t *)operands[from.operand]
						.data)[from.row * COLUMNS + k];
		}
	return t;
}

static bool
equal(const Tensor *a, const Tensor *b)
{
	return type_equal(&a->type, &b->type)
		&& !memcmp(a->data, b->data, (size_t)type_bytes(&a->type));
}

static bool
right_globally(Module *m, const Tensor *operands, const Tensor *want)
{
	Tensor got;
	bool good;

	if (!eval_global(m, operands, &got))
		abort();
	good = equal(&got, want);
	tensor_free(&got);
	return good;
}

static bool
right_on_devices(Module *m, const Case *c, const Tensor *operands, const Tensor *want)
{
	Placement p = split_rows(c->layout);
	Tensor inputs[MOST_DEVICES][MOST_PARTS], *in[MOST_DEVICES];
	Tensor outputs[MOST_DEVICES], *out[MOST_DEVICES], got;
	int64_t disagree, devices = m->mesh.ndevices;
	bool good;

	for (int64_t d = 0; d < devices; d++) {
		in[d] = inputs[d];
		out[d] = &outputs[d];
		for (int i = 0; i < operands_of(c); i++)
			if (!tensor_shard(&m->mesh, &p, d, &operands[i], &inputs[d][i]))
				abort();
	}
	if (!eval_device(m, in, out, NULL)
		|| !tensor_unshard(&m->mesh, &p, &want->type, outputs, &got, &disagree))
		abort();
	good = disagree < 0 && equal(&got, want);
	for (int64_t d = 0; d < devices; d++) {
		for (int i = 0; i < operands_of(c); i++)
			tensor_free(&inputs[d][i]);
		tensor_free(&outputs[d]);
	}
	tensor_free(&got);
	return good;
}

/* ---- all of them ------------------------------------------------------ */

typedef struct Tally {
	const char *name;
	int programs, still, gathered, least;
	int unverified, wrong, costly;
	int64_t rows, bound, gather;
} Tally;

static void
describe(const Case *c, int64_t rows, const Yardstick *y)
{
	printf("# %s of %lld on %s (%lld, %lld, %lld): %lld rows, not %lld "
	       "(gather %lld)\n",
		ops[c->kind].name, (long long)c->rows[0], c->layout->name, (long long)c->a,
		(long long)c->b, (long long)c->c, (long long)rows, (long long)y->bound,
		(long long)y->gather);
}

static void
count_rows(Module *m, const Case *c, Tally *t)
{
	int64_t bytes = module_ledger(m)->work.wire_bytes;
	int64_t rows = bytes / (COLUMNS * 4);
	Yardstick y = measure(c);
	bool gathered = false;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		gathered |= op->kind == O_all_gather;
	t->programs++;
	t->still += !rows;
	t->gathered += gathered;
	t->least += rows == y.least;
	t->rows += rows;
	t->bound += y.bound;
	t->gather += y.gather;
	if ((rows > y.bound || rows > y.gather) && t->costly++ < 5)
		describe(c, rows, &y);
}

static void
run(Tally *t, Case c)
{
	Session *s = session_new();
	Module *m = module_of(s, &c);
	Tensor operands[MOST_PARTS] = {numbered(c.rows[0], 100), numbered(c.rows[1], 1000)};
	Tensor want = wanted(&c, operands);

	t->wrong += !right_globally(m, operands, &want);
	propagate(m);
	t->unverified += !module_verify(m, stdout);
	partition(m, share_all, &(Foresight){.sums = true, .wants = true}, NULL);
	t->unverified += !module_verify(m, stdout);
	localize(m);
	t->unverified += !module_verify(m, stdout);
	count_rows(m, &c, t);
	if (!right_on_devices(m, &c, operands, &want) && t->wrong++ < 5)
		describe(&c, -1, &(Yardstick){0});
	for (int i = 0; i < MOST_PARTS; i++)
		tensor_free(&operands[i]);
	tensor_free(&want);
	session_free(s);
}

static void
run_slices(Tally *t, Case c)
{
	int64_t n = c.rows[0];

	for (c.c = 1; c.c < n; c.c++)
		for (c.a = 0; c.a < n; c.a++)
			for (c.b = c.a + 1; c.b <= n; c.b += c.c) {
				c.result = (c.b - c.a - 1) / c.c + 1;
				if (c.result % c.ways == 0 && c.result < n)
					run(t, c);
			}
}

static void
run_pads(Tally *t, Case c)
{
	int64_t n = c.rows[0];

	for (c.a = 1 - n; c.a <= n; c.a++)
		for (c.b = 1 - n; c.b <= n; c.b++) {
			c.result = n + c.a + c.b;
			bool pads = c.a > 0 || c.b > 0;
			if (pads && c.result > 0 && c.result % c.ways == 0)
				run(t, c);
		}
}

/* Of those that leave a row. */
static void
run_spreads(Tally *t, Case c)
{
	int64_t n = c.rows[0];

	for (c.c = 1; c.c <= 3; c.c++)
		for (c.a = 2 - n; c.a <= 5; c.a++)
			for (c.b = 3 - 2 * n; c.b <= 4; c.b++) {
				int64_t low = c.a, high = c.b;
				c.result = n + (n - 1) * c.c + c.a + c.b;
				if (pad_kept(n, c.c, &low, &high, NULL) > 0
					&& c.result % c.ways == 0)
					run(t, c);
			}
}

static void
run_rolls(Tally *t, Case c)
{
	c.result = c.rows[0];
	for (c.a = 1; c.a < c.rows[0]; c.a++)
		run(t, c);
}

static void
run_reverse(Tally *t, Case c)
{
	c.result = c.rows[0];
	run(t, c);
}

static void
run_concats(Tally *t, Case c)
{
	for (c.rows[1] = 6; c.rows[1] <= 16; c.rows[1]++) {
		c.result = c.rows[0] + c.rows[1];
		if (c.rows[1] % c.ways == 0)
			run(t, c);
	}
}

static void
run_sizes(Tally *t, OpKind kind, void (*cases)(Tally *t, Case c))
{
	for (int i = 0; i < NLAYOUTS; i++) {
		const Layout *layout = &layouts[i];
		int64_t ways = axes_size(&layout->axes);
		for (int64_t n = 6; n <= 16; n++)
			if (n % ways == 0)
				cases(t,
					(Case){.kind = kind,
						.rows = {n, 1},
						.layout = layout,
						.ways = ways});
	}
	printf("# %-8s %8d %8d %8d %8d %10lld %10lld %10lld\n", t->name, t->programs, t->still,
		t->least, t->gathered, (long long)t->rows, (long long)t->bound,
		(long long)t->gather);
}

int
main(void)
{
	static const struct {
		const char *name;
		OpKind kind;
		void (*cases)(Tally *t, Case c);
		int programs;
	} table[] = {
		{"roll", O_roll, run_rolls, 200},
		{"pad", O_pad, run_pads, 500},
		{"spread", O_pad, run_spreads, 5000},
		{"concat", O_concatenate, run_concats, 50},
		{"slice", O_slice, run_slices, 1500},
		{"reverse", O_reverse, run_reverse, 20},
	};

	printf("# programs; that move nothing; no more than some device must "
	       "get; gather;\n# rows received in all; boundary rows x hops; "
	       "rows if gathered\n");
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		Tally t = {.name = table[i].name};
		run_sizes(&t, table[i].kind, table[i].cases);
		ok(t.programs >= table[i].programs && !t.unverified, "all verify");
		ok(!t.wrong, "the numbers are right on all devices");
		ok(!t.costly, "no more bytes than boundary rows x hops");
	}
	printf("1..%d\n", tests);
	return 0;
}
