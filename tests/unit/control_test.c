/*
 * control_test.c - the interpreter on loops, choices and ops with run-time
 * indices: programs in HLO text, against values worked out by hand.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "eval/eval.h"
#include "eval/kernels.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* ---- running a program in text -------------------------------------------- */

enum { MAX_PARAMS = 3, MAX_RESULTS = 2, MAX_ELEMENTS = 8, DEVICES = 4 };

typedef struct Case {
	const char *name;
	const char *bodies; /* computations before the entry */
	const char *entry;  /* its instructions */
	double in[MAX_PARAMS][MAX_ELEMENTS];
	double out[MAX_RESULTS][MAX_ELEMENTS];
} Case;

static Module *
read_case(Session *s, const Case *c, const char *level)
{
	const char *text = arena_printf(s->arena,
		"HloModule t, "
		"frontend_attributes={level=\"%s\",mesh=\"X=2,Y=2\"}\n"
		"%%sum (a: s32[], b: s32[]) -> s32[] {\n"
		" %%a = s32[] parameter(0)\n %%b = s32[] parameter(1)\n"
		" ROOT %%of = s32[] add(%%a, %%b)\n}\n"
		"%%sum_f (a: f32[], b: f32[]) -> f32[] {\n"
		" %%a = f32[] parameter(0)\n %%b = f32[] parameter(1)\n"
		" ROOT %%of = f32[] add(%%a, %%b)\n}\n"
		"%s\nENTRY %%main {\n%s\n}\n",
		level, c->bodies, c->entry);
	Module *m = module_read(s, source_add_text(s, c->name, text, (int)strlen(text)));

	diag_flush(s);
	return m;
}

static Tensor
tensor_of(const Type *type, const double *values)
{
	Tensor t;

	if (!tensor_new(type, &t))
		exit(1);
	for (int64_t i = 0; i < type_elements(type); i++) {
		int64_t payload = dtype_is_float(type->dtype) ? double_payload(values[i])
							      : (int64_t)values[i];
		Tensor one = {.type = type_of(type->dtype, 0, NULL),
			.data = (char *)t.data + i * dtypes[type->dtype].bytes};
		tensor_fill_payload(&one, payload);
	}
	return t;
}

static bool
equals(const Tensor *t, const double *values)
{
	bool same = true;

	for (int64_t i = 0; i < type_elements(&t->type); i++) {
		double v = tensor_double(t, i);
		same = same && (v == values[i] || (v != v && values[i] != values[i]));
	}
	for (int64_t i = 0; i < type_elements(&t->type) && !same; i++)
		printf("# element %d: %g, not %g\n", (int)i, tensor_double(t, i), values[i]);
	return same;
}

static void
inputs_of(const Module *m, const Case *c, Tensor *in)
{
	for (int i = 0; i < m->entry->nparams; i++)
		in[i] = tensor_of(&m->entry->params[i]->type, c->in[i]);
}

static void
free_tensors(Tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		tensor_free(&t[i]);
}

static void
run_whole(const Case *c)
{
	Session *s = session_new();
	Module *m = read_case(s, c, "global");
	Tensor in[MAX_PARAMS], out[MAX_RESULTS];
	bool good = m != NULL;

	if (good) {
		inputs_of(m, c, in);
		good = eval_global(m, in, out);
		for (int i = 0; good && i < m->nresults; i++)
			good = equals(&out[i], c->out[i]);
		free_tensors(in, m->entry->nparams);
		free_tensors(out, m->nresults);
	}
	ok(good, c->name);
	session_free(s);
}

/* The same inputs on every device; result i of device d is out[i][d], or the
   devices are stuck. */
static void
run_devices(const Case *c, bool is_stuck)
{
	Session *s = session_new();
	Module *m = read_case(s, c, "device");
	Tensor in[MAX_PARAMS], out[DEVICES][MAX_RESULTS];
	Tensor *inputs[DEVICES], *outputs[DEVICES];
	EvalFailure failure = {.collective = NULL};
	bool good = m != NULL;

	for (int d = 0; d < DEVICES; d++) {
		inputs[d] = in;
		outputs[d] = out[d];
	}
	if (good) {
		inputs_of(m, c, in);
		bool ran = eval_device(m, inputs, outputs, &failure);
		good = ran == !is_stuck && is_stuck == (failure.collective != NULL);
		for (int d = 0; ran && d < DEVICES; d++) {
			for (int i = 0; i < m->nresults; i++)
				good = good && equals(&out[d][i], &c->out[i][d]);
			free_tensors(out[d], m->nresults);
		}
		free_tensors(in, m->entry->nparams);
	}
	ok(good, c->name);
	session_free(s);
}

/* ---- whole tensors ---------------------------------------------------------- */

#define COUNT_TO(n, type) \
	"%cond (c: (s32[], " type ")) -> pred[] {\n" \
	" %c = (s32[], " type ") parameter(0)\n" \
	" %ci = s32[] get-tuple-element(%c), index=0\n" \
	" %n = s32[] constant(" n ")\n" \
	" ROOT %less = pred[] compare(%ci, %n), direction=LT\n}\n"
#define BODY(type, lines, next) \
	"%body (b: (s32[], " type ")) -> (s32[], " type ") {\n" \
	" %b = (s32[], " type ") parameter(0)\n" \
	" %i = s32[] get-tuple-element(%b), index=0\n" \
	" %x = " type " get-tuple-element(%b), index=1\n" \
	" %one = s32[] constant(1)\n %i1 = s32[] add(%i, %one)\n" lines \
	" ROOT %r = (s32[], " type ") tuple(%i1, " next ")\n}\n"
#define LOOP(type) \
	" %zero = s32[] constant(0)\n" \
	" %in = (s32[], " type ") tuple(%zero, %x0)\n" \
	" %loop = (s32[], " type ") while(%in), condition=%cond, body=%body\n" \
	" %k = s32[] get-tuple-element(%loop), index=0\n" \
	" %y = " type " get-tuple-element(%loop), index=1\n"
#define RETURN2(a, b) " ROOT %out = (s32[], s32[]) tuple(" a ", " b ")"

static const Case loops[] = {
	{"a loop doubles four times",
		COUNT_TO("4", "f32[2]") BODY("f32[2]", " %x2 = f32[2] add(%x, %x)\n", "%x2"),
		" %x0 = f32[2] parameter(0)\n" LOOP(
			"f32[2]") " ROOT %out = (f32[2], s32[]) tuple(%y, %k)",
		{{1, 3}}, {{16, 48}, {4}}},
	{"a loop that does not run",
		COUNT_TO("0", "f32[2]") BODY("f32[2]", " %x2 = f32[2] add(%x, %x)\n", "%x2"),
		" %x0 = f32[2] parameter(0)\n" LOOP(
			"f32[2]") " ROOT %out = (f32[2], s32[]) tuple(%y, %k)",
		{{1, 3}}, {{1, 3}, {0}}},
	{"what a loop only reads stays", COUNT_TO("3", "f32[2]") BODY("f32[2]", "", "%x"),
		" %x0 = f32[2] parameter(0)\n" LOOP(
			"f32[2]") " ROOT %out = (f32[2], s32[]) tuple(%y, %k)",
		{{1, 3}}, {{1, 3}, {3}}},
	{"carried values change places",
		"%cond (c: (s32[], s32[], s32[])) -> pred[] {\n"
		" %c = (s32[], s32[], s32[]) parameter(0)\n"
		" %ca = s32[] get-tuple-element(%c), index=0\n"
		" %n = s32[] constant(20)\n"
		" ROOT %less = pred[] compare(%ca, %n), direction=LT\n}\n"
		"%body (b: (s32[], s32[], s32[])) -> (s32[], s32[], s32[]) {\n"
		" %b = (s32[], s32[], s32[]) parameter(0)\n"
		" %ba = s32[] get-tuple-element(%b), index=0\n"
		" %bb = s32[] get-tuple-element(%b), index=1\n"
		" %bc = s32[] get-tuple-element(%b), index=2\n"
		" %next = s32[] add(%ba, %bb)\n"
		" ROOT %r = (s32[], s32[], s32[]) tuple(%bb, %next, %bb)\n}\n",
		" %a0 = s32[] parameter(0)\n %b0 = s32[] parameter(1)\n"
		" %in = (s32[], s32[], s32[]) tuple(%a0, %b0, %a0)\n"
		" %loop = (s32[], s32[], s32[]) while(%in), condition=%cond, "
		"body=%body\n"
		" %y = s32[] get-tuple-element(%loop), index=1\n"
		" %z = s32[] get-tuple-element(%loop), index=2\n" RETURN2("%y", "%z"),
		{{0}, {1}}, {{34}, {21}}},
	{"a loop in a loop",
		COUNT_TO("3",
			"s32[]") "%cond2 (c2: (s32[], s32[])) -> pred[] {\n"
				 " %c2 = (s32[], s32[]) parameter(0)\n"
				 " %j = s32[] get-tuple-element(%c2), index=0\n"
				 " %m = s32[] constant(5)\n"
				 " ROOT %less2 = pred[] compare(%j, %m), direction=LT\n}\n"
				 "%body2 (b2: (s32[], s32[])) -> (s32[], s32[]) {\n"
				 " %b2 = (s32[], s32[]) parameter(0)\n"
				 " %j2 = s32[] get-tuple-element(%b2), index=0\n"
				 " %v = s32[] get-tuple-element(%b2), index=1\n"
				 " %step = s32[] constant(1)\n %j3 = s32[] add(%j2, %step)\n"
				 " %v2 = s32[] add(%v, %j2)\n"
				 " ROOT %r2 = (s32[], s32[]) tuple(%j3, %v2)\n}\n" BODY("s32[]",
					 " %in2 = (s32[], s32[]) tuple(%i, %x)\n"
					 " %loop2 = (s32[], s32[]) while(%in2), "
					 "condition=%cond2, "
					 "body=%body2\n"
					 " %w = s32[] get-tuple-element(%loop2), index=1\n",
					 "%w"),
		" %x0 = s32[] parameter(0)\n" LOOP("s32[]")
			RETURN2("%y", "%k"), /* 10 + 10 + 9 */
		{{100}}, {{129}, {3}}},
};

#define BRANCHES \
	"%then (t: (s32[])) -> (s32[], s32[]) {\n %t = (s32[]) parameter(0)\n" \
	" %v = s32[] get-tuple-element(%t), index=0\n" \
	" %v2 = s32[] add(%v, %v)\n" \
	" ROOT %r = (s32[], s32[]) tuple(%v2, %v)\n}\n" \
	"%else (e: (s32[])) -> (s32[], s32[]) {\n %e = (s32[]) parameter(0)\n" \
	" %u = s32[] get-tuple-element(%e), index=0\n" \
	" %u2 = s32[] negate(%u)\n" \
	" ROOT %r = (s32[], s32[]) tuple(%u, %u2)\n}\n"
#define CHOOSE \
	" %p = pred[] parameter(0)\n %x0 = s32[] parameter(1)\n" \
	" %in = (s32[]) tuple(%x0)\n" \
	" %if = (s32[], s32[]) conditional(%p, %in, %in), " \
	"true_computation=%then, false_computation=%else\n" \
	" %y = s32[] get-tuple-element(%if), index=0\n" \
	" %z = s32[] get-tuple-element(%if), index=1\n" RETURN2("%y", "%z")

static const Case choices[] = {
	{"one branch", BRANCHES, CHOOSE, {{1}, {7}}, {{14}, {7}}},
	{"the other branch", BRANCHES, CHOOSE, {{0}, {7}}, {{7}, {-7}}},
};

#define COMPARATOR(type, direction) \
	"%less (a.0: " type ", b.0: " type ", a.1: s32[], b.1: s32[]) -> " \
	"pred[] {\n" \
	" %a.0 = " type " parameter(0)\n %b.0 = " type " parameter(1)\n" \
	" %a.1 = s32[] parameter(2)\n %b.1 = s32[] parameter(3)\n"
#define FLOAT_KEYS \
	" %z = f32[] constant(0)\n %nan = f32[] constant(nan)\n" \
	" %az = pred[] compare(%a.0, %z), direction=EQ\n" \
	" %a1 = f32[] select(%az, %z, %a.0)\n" \
	" %an = pred[] compare(%a1, %a1), direction=NE\n" \
	" %ak = f32[] select(%an, %nan, %a1)\n" \
	" %bz = pred[] compare(%b.0, %z), direction=EQ\n" \
	" %b1 = f32[] select(%bz, %z, %b.0)\n" \
	" %bn = pred[] compare(%b1, %b1), direction=NE\n" \
	" %bk = f32[] select(%bn, %nan, %b1)\n" \
	" ROOT %o = pred[] compare(%ak, %bk), direction="
#define FLOATS_AS_THEY_ARE \
	" %nan = f32[] constant(nan)\n" \
	" %an = pred[] compare(%a.0, %a.0), direction=NE\n" \
	" %ak = f32[] select(%an, %nan, %a.0)\n" \
	" %bn = pred[] compare(%b.0, %b.0), direction=NE\n" \
	" %bk = f32[] select(%bn, %nan, %b.0)\n" \
	" ROOT %o = pred[] compare(%ak, %bk), direction="
#define SORT_WITH(type, n, index_type) \
	" %x = " type " parameter(0)\n" \
	" %at = " index_type " iota(), iota_dimension=0\n" \
	" %s = (" type ", " index_type ") sort(%x, %at), dimensions={" n "}, " \
	"is_stable=true, to_apply=%less\n" \
	" %v = " type " get-tuple-element(%s), index=0\n" \
	" %o = " index_type " get-tuple-element(%s), index=1\n" \
	" ROOT %out = (" type ", " index_type ") tuple(%v, %o)"

static const Case indexed[] = {
	{"a part is read, clamped", "",
		" %x = s32[2,4] parameter(0)\n %i = s32[] parameter(1)\n"
		" %j = s32[] parameter(2)\n"
		" %y = s32[1,2] dynamic-slice(%x, %i, %j), "
		"dynamic_slice_sizes={1,2}\n ROOT %out = (s32[1,2]) tuple(%y)",
		{{0, 1, 2, 3, 4, 5, 6, 7}, {-9}, {3}}, {{2, 3}}},
	{"a part is written, clamped", "",
		" %x = s32[4] parameter(0)\n %u = s32[2] parameter(1)\n"
		" %i = s32[] parameter(2)\n"
		" %y = s32[4] dynamic-update-slice(%x, %u, %i)\n"
		" ROOT %out = (s32[4]) tuple(%y)",
		{{0, 1, 2, 3}, {10, 11}, {7}}, {{0, 1, 10, 11}}},
	{"updates add up, and are dropped outside", "",
		" %x = s32[3,2] parameter(0)\n %at = s32[4] parameter(1)\n"
		" %u = s32[4,2] parameter(2)\n"
		" %y = s32[3,2] scatter(%x, %at, %u), update_window_dims={1}, "
		"inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
		"index_vector_dim=1, to_apply=%sum\n"
		" ROOT %out = (s32[3,2]) tuple(%y)",
		{{0, 1, 2, 3, 4, 5}, {2, -1, 2, 3}, {10, 11, 20, 21, 30, 31, 40, 41}},
		{{0, 1, 2, 3, 44, 47}}},
	{"updates along the last dim", "",
		" %x = f32[2,3] parameter(0)\n %at = s32[2] parameter(1)\n"
		" %u = f32[2,2] parameter(2)\n"
		" %y = f32[2,3] scatter(%x, %at, %u), update_window_dims={0}, "
		"inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
		"index_vector_dim=1, to_apply=%sum_f\n"
		" ROOT %out = (f32[2,3]) tuple(%y)",
		{{0, 1, 2, 3, 4, 5}, {2, 0}, {10, 20, 30, 40}}, {{20, 1, 12, 43, 4, 35}}},
	{"an ascending sort is stable, NaN last",
		COMPARATOR("f32[]", "LT") FLOAT_KEYS "LT, type=TOTALORDER\n}\n",
		SORT_WITH("f32[6]", "0", "s32[6]"), {{2, NAN, 0, -1, -0.0, 2}},
		{{-1, 0, 0, 2, 2, NAN}, {3, 2, 4, 0, 5, 1}}},
	{"a descending sort is stable, NaN first, 0 before -0",
		COMPARATOR("f32[]", "GT") FLOATS_AS_THEY_ARE "GT, type=TOTALORDER\n}\n",
		SORT_WITH("f32[6]", "0", "s32[6]"), {{-0.0, NAN, 0, -NAN, -0.0, INFINITY}},
		{{NAN, NAN, INFINITY, 0, 0, 0}, {1, 3, 5, 2, 0, 4}}},
	{"a sort along the first of two dims",
		COMPARATOR("s32[]",
			"LT") " ROOT %o = pred[] compare(%a.0, %b.0), direction=LT\n}\n",
		SORT_WITH("s32[3,2]", "0", "s32[3,2]"), {{5, -1, 4, 9, 3, 0}},
		{{3, -1, 4, 0, 5, 9}, {2, 0, 1, 2, 0, 1}}},
	{"bits of i8", "",
		" %x = s8[4] parameter(0)\n %n = s8[4] parameter(1)\n"
		" %a = s8[4] shift-left(%x, %n)\n"
		" %b = s8[4] shift-right-logical(%x, %n)\n"
		" ROOT %out = (s8[4], s8[4]) tuple(%a, %b)",
		{{-1, 1, 65, -128}, {1, 7, 8, -1}}, {{-2, -128, 0, 0}, {127, 0, 0, 0}}},
	{"bits of u32", "",
		" %x = u32[3] parameter(0)\n %n = u32[3] parameter(1)\n"
		" %a = u32[3] xor(%x, %n)\n"
		" %b = u32[3] shift-left(%x, %n)\n"
		" ROOT %out = (u32[3], u32[3]) tuple(%a, %b)",
		{{4294967295, 6, 3}, {1, 31, 32}}, {{4294967294, 25, 35}, {4294967294, 0, 0}}},
};

/* ---- devices in lockstep ---------------------------------------------------- */

#define OWN_ID " %id = u32[] partition-id()\n %d = s32[] convert(%id)\n"
#define DIGIT(operation) \
	" %two = s32[] constant(2)\n" \
	" %digit = s32[] " operation "(%d, %two)\n"
/* (i, limit, x): while i < limit, x = the lines' %x2. */
#define TO_LIMIT(lines) \
	"%cond (c: (s32[], s32[], s32[])) -> pred[] {\n" \
	" %c = (s32[], s32[], s32[]) parameter(0)\n" \
	" %ci = s32[] get-tuple-element(%c), index=0\n" \
	" %cn = s32[] get-tuple-element(%c), index=1\n" \
	" ROOT %less = pred[] compare(%ci, %cn), direction=LT\n}\n" \
	"%body (b: (s32[], s32[], s32[])) -> (s32[], s32[], s32[]) {\n" \
	" %b = (s32[], s32[], s32[]) parameter(0)\n" \
	" %i = s32[] get-tuple-element(%b), index=0\n" \
	" %n = s32[] get-tuple-element(%b), index=1\n" \
	" %x = s32[] get-tuple-element(%b), index=2\n" \
	" %one = s32[] constant(1)\n %i1 = s32[] add(%i, %one)\n" lines \
	" ROOT %r = (s32[], s32[], s32[]) tuple(%i1, %n, %x2)\n}\n"
#define LIMITED_LOOP(limit) \
	" %zero = s32[] constant(0)\n" \
	" %in = (s32[], s32[], s32[]) tuple(%zero, " limit ", %d)\n" \
	" %loop = (s32[], s32[], s32[]) while(%in), condition=%cond, " \
	"body=%body\n" \
	" %y = s32[] get-tuple-element(%loop), index=2\n" \
	" ROOT %out = (s32[]) tuple(%y)"
#define ADD_OVER(axis) \
	" %x2 = s32[] all-reduce(%x), to_apply=%sum, " \
	"frontend_attributes={axes=\"" axis "\"}\n"
#define SHIFT_OVER_Y \
	" %x2 = s32[] collective-permute(%x), " \
	"frontend_attributes={axes=\"X,Y\",from=\"Y,X\"}\n"

static const Case lockstep[] = {
	{"each device loops as often as it wants", TO_LIMIT(" %x2 = s32[] add(%x, %one)\n"),
		OWN_ID LIMITED_LOOP("%d"), {{0}}, {{0, 2, 4, 6}}},
	{"devices of a group loop together", TO_LIMIT(ADD_OVER("Y")), /* twice where X is 1 */
		OWN_ID DIGIT("divide") " %n0 = s32[] add(%digit, %digit)\n" LIMITED_LOOP("%n0"),
		{{0}}, {{0, 1, 10, 10}}},
	{"a permutation that all reach", TO_LIMIT(SHIFT_OVER_Y),
		OWN_ID " %n0 = s32[] constant(1)\n" LIMITED_LOOP("%n0"), {{0}}, {{0, 2, 1, 3}}},
};

static const Case deadlocks[] = {
	{"a group whose loops differ in length is stuck", TO_LIMIT(ADD_OVER("X")),
		OWN_ID DIGIT("divide") LIMITED_LOOP("%digit"), {{0}}, {{0}}},
	{"a permutation that some do not reach is stuck", TO_LIMIT(SHIFT_OVER_Y),
		OWN_ID DIGIT("remainder") LIMITED_LOOP("%digit"), {{0}}, {{0}}},
};

#define REDUCING_BRANCHES(axis) \
	"%then (t: (s32[])) -> (s32[]) {\n %t = (s32[]) parameter(0)\n" \
	" %x = s32[] get-tuple-element(%t), index=0\n" ADD_OVER( \
		axis) " ROOT %r = (s32[]) tuple(%x2)\n}\n" \
		      "%else (e: (s32[])) -> (s32[]) {\n %e = (s32[]) parameter(0)\n" \
		      " %u = s32[] get-tuple-element(%e), index=0\n" \
		      " %u2 = s32[] negate(%u)\n" \
		      " ROOT %r = (s32[]) tuple(%u2)\n}\n"
#define CHOOSE_BY_DIGIT(operation) \
	OWN_ID \
	DIGIT(operation) \
	" %zero = s32[] constant(0)\n" \
	" %p = pred[] compare(%digit, %zero), direction=GT\n" \
	" %in = (s32[]) tuple(%d)\n" \
	" %if = (s32[]) conditional(%p, %in, %in), true_computation=%then, " \
	"false_computation=%else\n" \
	" %y = s32[] get-tuple-element(%if), index=0\n" \
	" ROOT %out = (s32[]) tuple(%y)"

static const Case grouped_choice = {"a group that chooses alike reduces",
	REDUCING_BRANCHES("Y"), CHOOSE_BY_DIGIT("divide"), {{0}}, {{0, -1, 5, 5}}};
static const Case split_choice = {"a group that chooses differently is stuck",
	REDUCING_BRANCHES("Y"), CHOOSE_BY_DIGIT("remainder"), {{0}}, {{0}}};

/* ---- bounds ------------------------------------------------------------------ */

/* The bound of element i of result r; 0 where it is exact. */
static double
bound_at(const Case *c, int r, int64_t i)
{
	Session *s = session_new();
	Module *m = read_case(s, c, "global");
	Tensor in[MAX_PARAMS], out[MAX_RESULTS];
	double *bounds[MAX_RESULTS] = {NULL}, b = -1;

	if (m) {
		inputs_of(m, c, in);
		if (eval_global_bounds(m, in, out, bounds, NULL))
			b = bounds[r] ? bounds[r][i] : 0;
		for (int k = 0; k < m->nresults; k++)
			free(bounds[k]);
		free_tensors(in, m->entry->nparams);
		free_tensors(out, m->nresults);
	}
	session_free(s);
	return b;
}

static void
test_loop_bounds(void)
{
	const Case once = {"a loop with rounding",
		COUNT_TO("1", "f32[1]")
			BODY("f32[1]", " %x2 = f32[1] multiply(%x, %x)\n", "%x2"),
		" %x0 = f32[1] parameter(0)\n" LOOP(
			"f32[1]") " ROOT %out = (f32[1], s32[]) tuple(%y, %k)",
		{{1.1}}, {{0}}};
	Case more = once;

	more.bodies = COUNT_TO("5", "f32[1]")
		BODY("f32[1]", " %x2 = f32[1] multiply(%x, %x)\n", "%x2");
	double first = bound_at(&once, 0, 0), last = bound_at(&more, 0, 0);
	ok(first > 0 && last > 16 * first && last < 1e4 * first,
		"rounding grows from round to round");
	ok(bound_at(&more, 1, 0) == 0, "the index stays exact");
}

/* exp(x) is compared with what it is, so that rounding decides. */
#define HALVE_UNTIL(limit) \
	"%cond (c: (f32[], f32[])) -> pred[] {\n" \
	" %c = (f32[], f32[]) parameter(0)\n" \
	" %ci = f32[] get-tuple-element(%c), index=0\n" \
	" %n = f32[] constant(" limit ")\n" \
	" ROOT %more = pred[] compare(%ci, %n), direction=GT\n}\n" \
	"%body (b: (f32[], f32[])) -> (f32[], f32[]) {\n" \
	" %b = (f32[], f32[]) parameter(0)\n" \
	" %x = f32[] get-tuple-element(%b), index=0\n" \
	" %y = f32[] get-tuple-element(%b), index=1\n" \
	" %half = f32[] constant(0.5)\n" \
	" %x2 = f32[] multiply(%x, %half)\n" \
	" ROOT %r = (f32[], f32[]) tuple(%x2, %y)\n}\n"
#define HALVED \
	" %x0 = f32[] parameter(0)\n %e = f32[] exponential(%x0)\n" \
	" %in = (f32[], f32[]) tuple(%e, %x0)\n" \
	" %loop = (f32[], f32[]) while(%in), condition=%cond, body=%body\n" \
	" %k = f32[] get-tuple-element(%loop), index=0\n" \
	" %l = f32[] get-tuple-element(%loop), index=1\n" \
	" ROOT %out = (f32[], f32[]) tuple(%k, %l)"
#define DOUBT \
	" %x0 = f32[] parameter(0)\n %e = f32[] exponential(%x0)\n" \
	" %n = f32[] constant(2.7182817)\n" \
	" %p = pred[] compare(%e, %n), direction=GT\n %i = s32[] parameter(1)\n"

static void
test_decision_bounds(void)
{
	const Case sure = {"sure", HALVE_UNTIL("0.5"), HALVED, {{1}}, {{0}}};
	const Case unsure = {"unsure", HALVE_UNTIL("0.67957044"), HALVED, {{1}}, {{0}}};
	const Case choice = {"choice", BRANCHES,
		DOUBT " %in = (s32[]) tuple(%i)\n"
		      " %if = (s32[], s32[]) conditional(%p, %in, %in), "
		      "true_computation=%then, false_computation=%else\n"
		      " %y = s32[] get-tuple-element(%if), index=0\n"
		      " ROOT %out = (s32[]) tuple(%y)",
		{{1}, {7}}, {{0}}};
	const Case place = {"place", "",
		DOUBT " %at = s32[] convert(%p)\n %x = f32[3] parameter(2)\n"
		      " %y = f32[1] dynamic-slice(%x, %at), dynamic_slice_sizes={1}\n"
		      " ROOT %out = (f32[1]) tuple(%y)",
		{{1}, {0}, {1, 1, 1}}, {{0}}};

	double b = bound_at(&sure, 0, 0);
	ok(b > 0 && b < 1e-5, "a loop whose length is sure");
	ok(isinf(bound_at(&unsure, 0, 0)), "rounding decides how long a loop runs");
	ok(bound_at(&unsure, 1, 0) == 0, "what such a loop only reads is exact");
	ok(isinf(bound_at(&choice, 0, 0)), "rounding decides a branch");
	ok(isinf(bound_at(&place, 0, 0)), "rounding decides where to read");
}

static void
test_indexed_bounds(void)
{
	const Case sorted = {"sorted",
		COMPARATOR("f32[]", "LT") FLOAT_KEYS "LT, type=TOTALORDER\n}\n",
		" %x0 = f32[4] parameter(0)\n"
		" %x = f32[4] exponential(%x0)\n"
		" %at = s32[4] iota(), iota_dimension=0\n"
		" %s = (f32[4], s32[4]) sort(%x, %at), dimensions={0}, "
		"is_stable=true, to_apply=%less\n"
		" %v = f32[4] get-tuple-element(%s), index=0\n"
		" %o = s32[4] get-tuple-element(%s), index=1\n"
		" ROOT %out = (f32[4], s32[4]) tuple(%v, %o)",
		{{2, 1, 1.00000012, 0}}, {{0}}};
	const Case added = {"added", "",
		" %x = f32[2] parameter(0)\n %at = s32[4] parameter(1)\n"
		" %u = f32[4] parameter(2)\n"
		" %y = f32[2] scatter(%x, %at, %u), update_window_dims={}, "
		"inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
		"index_vector_dim=1, to_apply=%sum_f\n"
		" ROOT %out = (f32[2]) tuple(%y)",
		{{0.1, 5}, {0, 0, 9, 0}, {0.2, 0.7, 1, 1e4}}, {{0}}};

	double b = bound_at(&sorted, 0, 1);
	ok(b > 0 && b < 1e-5, "a sorted value is near");
	ok(bound_at(&sorted, 1, 0) == 0 && bound_at(&sorted, 1, 3) == 0,
		"an order that is sure");
	ok(isinf(bound_at(&sorted, 1, 1)), "an order that rounding decides");
	b = bound_at(&added, 0, 0);
	ok(b > 1e4 * 0x1p-24 && b < 1e4 * 0x1p-18, "sums of updates round");
	ok(bound_at(&added, 0, 1) == 0, "what nothing is added to is exact");
}

#define EACH(cases, call) \
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) \
	call

int
main(void)
{
	EACH(loops, run_whole(&loops[i]));
	EACH(choices, run_whole(&choices[i]));
	EACH(indexed, run_whole(&indexed[i]));
	EACH(lockstep, run_devices(&lockstep[i], false));
	EACH(deadlocks, run_devices(&deadlocks[i], true));
	run_devices(&grouped_choice, false);
	run_devices(&split_choice, true);
	test_loop_bounds();
	test_decision_bounds();
	test_indexed_bounds();
	printf("1..%d\n", tests);
	return 0;
}
