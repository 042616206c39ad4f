/*
 * bounds_test.c - random programs in a narrow float against the same programs
 * in f64: whatever the f64 execution gives must lie within the bound of the
 * narrow one, decisions (compare, floor, max) included.  Programs that leave
 * the range of the narrow type are left out: there f64 is no correct execution.
 *
 *   bounds_test [PROGRAMS [SEED]]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "eval/check/check.h"

static uint64_t state;

static uint32_t
draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

enum { ROWS = 3, COLUMNS = 5, MAX_VALUES = 40 };

typedef struct Program {
	Session *session;
	Module *m;
	DType dtype;
	Value *values[MAX_VALUES]; /* all [ROWS, COLUMNS] */
	int n;
} Program;

static Type
matrix(DType d)
{
	return type_of(d, 2, (int64_t[]){ROWS, COLUMNS});
}

static Op *
append(Program *p, OpKind kind, int n, Value *a, Value *b, Value *c)
{
	Value *operands[3] = {a, b, c};
	Op *op = op_new(p->m, kind, n, operands, 1, NULL, (Range){0}, NULL);

	op_append(p->m->entry, op);
	return op;
}

static Value *
typed(Op *op, Type wanted)
{
	op->results[0]->type = wanted;
	op_infer(op);
	return op->results[0];
}

static Value *
pick(const Program *p)
{
	/* The newest more often, so that programs are deep. */
	return p->values[draw(2) ? p->n - 1 : (int)draw((uint32_t)p->n)];
}

static Value *
number(Program *p, double v)
{
	Op *op = append(p, O_constant, 0, NULL, NULL, NULL);

	op_set_int(op, A_value, double_payload(v));
	return typed(op, type_of(p->dtype, 0, NULL));
}

static Value *
spread_over(Program *p, Value *x, int n, const int64_t *dims)
{
	Op *op = append(p, O_broadcast, 1, x, NULL, NULL);

	op_set_ints(op, A_dims, n, dims);
	return typed(op, matrix(p->dtype));
}

/* ---- steps: each leaves a matrix ------------------------------------------ */

static Value *
step_unary(Program *p)
{
	static const OpKind kinds[] = {
#define FUNCTION(op, ...) O_##op,
#define POINTWISE(...)
#define OTHER(...)
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
		O_abs,
		O_neg,
		O_sign,
	};
	OpKind kind = kinds[draw(sizeof kinds / sizeof kinds[0])];

	return typed(append(p, kind, 1, pick(p), NULL, NULL), matrix(p->dtype));
}

static Value *
step_binary(Program *p)
{
	static const OpKind kinds[] = {O_add, O_sub, O_mul, O_div, O_rem, O_pow, O_maximum,
		O_minimum, O_add, O_mul};
	OpKind kind = kinds[draw(sizeof kinds / sizeof kinds[0])];

	return typed(append(p, kind, 2, pick(p), pick(p), NULL), matrix(p->dtype));
}

static Value *
step_clamp(Program *p)
{
	Value *low = spread_over(p, number(p, -0.75), 0, NULL);
	Value *high = spread_over(p, number(p, 1.5), 0, NULL);

	return typed(append(p, O_clamp, 3, low, pick(p), high), matrix(p->dtype));
}

static Value *
step_select(Program *p)
{
	Op *test = append(p, O_compare, 2, pick(p), pick(p), NULL);

	op_set_int(test, A_direction, draw(6));
	Value *is = typed(test, matrix(D_pred));
	return typed(append(p, O_select, 3, is, pick(p), pick(p)), matrix(p->dtype));
}

static Value *
step_integer(Program *p)
{
	Value *whole = typed(append(p, O_convert, 1, pick(p), NULL, NULL), matrix(D_i32));
	Value *twice = typed(append(p, O_add, 2, whole, whole, NULL), matrix(D_i32));

	return typed(append(p, O_convert, 1, twice, NULL, NULL), matrix(p->dtype));
}

static Value *
step_reduce(Program *p)
{
	static const Combiner combiners_used[] = {C_add, C_add, C_max, C_min, C_mul};
	Combiner c = combiners_used[draw(5)];
	int64_t dim = draw(2), kept = 1 - dim;
	Value *x = pick(p), *init = number(p, payload_double(combiner_identity(c, p->dtype)));
	Op *op = append(p, O_reduce, 2, x, init, NULL);

	op_set_int(op, A_dims, dim);
	op_set_int(op, A_combiner, c);
	return spread_over(p, typed(op, matrix(p->dtype)), 1, &kept);
}

static Value *
step_cumsum(Program *p)
{
	Value *x = pick(p);
	Op *op = append(p, O_cumsum, 2, x, number(p, 0), NULL);

	op_set_int(op, A_dim, draw(2));
	op_set_int(op, A_combiner, C_add);
	return typed(op, matrix(p->dtype));
}

/* (x y^T) x: two dots with a transpose in between */
static Value *
step_dot(Program *p)
{
	Value *x = pick(p), *y = pick(p);
	Op *outer = append(p, O_dot, 2, x, y, NULL);

	op_set_int(outer, A_lhs_contract, 1);
	op_set_int(outer, A_rhs_contract, 1);
	Op *again = append(p, O_dot, 2, typed(outer, matrix(p->dtype)), x, NULL);
	op_set_int(again, A_lhs_contract, 1);
	op_set_int(again, A_rhs_contract, 0);
	return typed(again, matrix(p->dtype));
}

static Value *
step_move(Program *p)
{
	Op *op = append(p, O_reverse, 1, pick(p), NULL, NULL);

	op_set_int(op, A_dims, draw(2));
	return typed(op, matrix(p->dtype));
}

static Value *
step_take(Program *p)
{
	Value *x = pick(p),
	      *index = typed(append(p, O_convert, 1, pick(p), NULL, NULL), matrix(D_i32));
	Op *row = append(p, O_slice, 1, index, NULL, NULL);

	op_set_ints(row, A_start, 2, (int64_t[]){1, 0});
	op_set_ints(row, A_limit, 2, (int64_t[]){2, COLUMNS});
	op_set_ints(row, A_stride, 2, (int64_t[]){1, 1});
	Op *flat = append(p, O_reshape, 1, typed(row, matrix(D_i32)), NULL, NULL);
	Value *indices = typed(flat, type_of(D_i32, 1, (int64_t[]){COLUMNS}));
	Op *take_op = append(p, O_take, 2, x, indices, NULL);
	op_set_int(take_op, A_dim, 1);
	return typed(take_op, matrix(p->dtype));
}

typedef Value *Step(Program *p);
static Step *const steps[] = {step_unary, step_unary, step_binary, step_binary, step_binary,
	step_clamp, step_select, step_integer, step_reduce, step_cumsum, step_dot, step_move,
	step_take};

/* The same draws give the same program in any dtype. */
static Program
generate(DType d, uint64_t seed, int64_t devices)
{
	Program p = {.session = session_new(), .dtype = d};
	Type type = matrix(d);

	p.m = module_new(p.session, "random");
	p.m->mesh.ndevices = devices;
	for (; p.n < 3; p.n++)
		p.values[p.n] = block_add_param(p.m->entry, "x", &type);
	state = seed;
	for (uint32_t n = 1 + draw(10); n > 0; n--) {
		Step *step = steps[draw(sizeof steps / sizeof steps[0])];
		p.values[p.n] = step(&p);
		p.n++;
	}
	op_append(p.m->entry, op_new(p.m, O_return, p.n, p.values, 0, NULL, (Range){0}, NULL));
	return p;
}

/* ---- inputs and comparison --------------------------------------------------- */

/* Values that the narrow dtype has, among them small integers and ties. */
static void
make_inputs(DType d, Tensor *narrow, Tensor *wide)
{
	for (int i = 0; i < 3; i++) {
		Type type = matrix(d), wide_type = matrix(D_f64);
		if (!tensor_new(&type, &narrow[i]) || !tensor_new(&wide_type, &wide[i]))
			exit(1);
		for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
			double v = (draw(3) ? draw(2000) / 500. - 2 : (double)draw(5) - 2);
			Chunk c;
			convert_wide(D_f64, &v, d, &c, 1);
			store_wide(d, &c, narrow[i].data, k, 1);
			((double *)wide[i].data)[k] = tensor_double(&narrow[i], k);
		}
	}
}

typedef struct Tally {
	int64_t elements, infinite, wrong;
	double worst; /* error / bound */
} Tally;

static bool
in_range(DType d, const Tensor *t)
{
	const Precision *p = &precisions[d];

	for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
		double v = fabs(((double *)t->data)[i]);
		if ((isfinite(v) && v > p->greatest / 2) || (v != 0 && v < p->normal * 2))
			return false;
	}
	return true;
}

static void
compare_runs(Tally *t, uint64_t seed, const Tensor *narrow, const double *bounds,
	const Tensor *wide)
{
	for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
		double a = tensor_double(narrow, i), b = tensor_double(wide, i);
		double bound_here = bounds ? bounds[i] : 0;
		double error = a == b || (a != a && b != b) ? 0 : fabs(a - b);
		t->elements++;
		if (isinf(bound_here)) {
			t->infinite++;
			continue;
		}
		double own = isfinite(b) ? 1e-13 * fabs(b) : 0; /* f64's */
		if (error <= bound_here + own) {
			double ratio = bound_here > 0 ? error / bound_here : 0;
			t->worst = ratio > t->worst ? ratio : t->worst;
			continue;
		}
		t->wrong++;
		printf("# seed %llu [%d]: %.9g, in f64 %.17g, bound %.3g\n",
			(unsigned long long)seed, (int)i, a, b, bound_here);
	}
}

static void
free_all(Tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		tensor_free(&t[i]);
}

static void
run_one(DType d, uint64_t seed, int64_t devices, Tally *t)
{
	Program a = generate(d, seed, devices), b = generate(D_f64, seed, 1);
	Tensor narrow[3], wide[3], out[MAX_VALUES], exact[MAX_VALUES];
	double *bounds[MAX_VALUES];
	bool usable = true;

	make_inputs(d, narrow, wide);
	if (!eval_global_bounds(a.m, narrow, out, bounds, NULL)
		|| !eval_global(b.m, wide, exact))
		exit(1);
	for (int i = 0; i < b.n; i++)
		usable = usable && in_range(d, &exact[i]);
	for (int i = 0; i < b.n; i++) {
		if (usable)
			compare_runs(t, seed, &out[i], bounds[i], &exact[i]);
		free(bounds[i]);
	}
	free_all(narrow, 3);
	free_all(wide, 3);
	free_all(out, a.n);
	free_all(exact, b.n);
	session_free(a.session);
	session_free(b.session);
}

int
main(int argc, char **argv)
{
	static const DType narrow[] = {D_f32, D_bf16, D_f16};
	long programs = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (int k = 0; k < 3; k++) {
		Tally t = {0};
		for (long i = 0; i < programs; i++)
			run_one(narrow[k], seed * 1000003 + (uint64_t)i, i % 2 ? 8 : 1, &t);
		printf("# %s: %lld elements, %lld without a bound, "
		       "worst error %.3g of its bound\n",
			dtypes[narrow[k]].name, (long long)t.elements, (long long)t.infinite,
			t.worst);
		printf("%s %d - %s stays within its bounds\n", t.wrong ? "not ok" : "ok", k + 1,
			dtypes[narrow[k]].name);
	}
	printf("1..3\n");
	return 0;
}
