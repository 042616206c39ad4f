/*
 * functions.c - functions of floats that are formulas of ours; those of 16 bits in f32.
 *
 *   sinh(x)   (e + e / (e + 1)) / 2 with e = e^x - 1 where |x| < 1, else of two powers of e
 *   asinh(x)  sign(x) log(a + sqrt(a^2 + 1)), a = |x|, as log1p; log 2a where a is large
 *   acosh(x)  log(x + sqrt(x^2 - 1)) likewise; the root of x + 1 alone: x < -1 has no number
 *   erfc(x)   1 - erf(x) where |x| < 1, else in f32 as Cephes has it (S. Moshier, ndtrf.c):
 *             e^(-x^2) / |x| P(1 / x^2), one P up to 2 and another from there
 */
#include "import/builders.h"

#define LN_2 0.6931471805599453

typedef Value *Formula(Make, Value *);

/* e^x / 2, of what would be too large before it is halved, too */
static Value *
half_exp(Make k, Value *x)
{
	return make_unary(k, O_exp, with(k, O_add, x, -LN_2));
}

static Value *
formula_cosh(Make k, Value *x)
{
	Value *up = half_exp(k, x);

	return make_binary(k, O_add, up, half_exp(k, make_unary(k, O_neg, x)));
}

static Value *
formula_sinh(Make k, Value *x)
{
	Value *e = make_unary(k, O_expm1, x);
	Value *near = make_binary(k, O_add, e, make_binary(k, O_div, e, with(k, O_add, e, 1)));
	Value *up = half_exp(k, x), *down = half_exp(k, make_unary(k, O_neg, x));
	Value *far = make_binary(k, O_sub, up, down);
	Value *large = compare_with(k, DIR_GT, make_unary(k, O_abs, x), 1);

	return make_select(k, large, far, with(k, O_mul, near, 0.5));
}

static Value *
formula_asinh(Make k, Value *x)
{
	Value *a = make_unary(k, O_abs, x), *square = make_binary(k, O_mul, a, a);
	Value *root = with(k, O_add, make_unary(k, O_sqrt, with(k, O_add, square, 1)), 1);
	Value *more = make_binary(k, O_add, a, make_binary(k, O_div, square, root));
	Value *large = with(k, O_add, make_unary(k, O_log, a), LN_2);
	Value *beyond = compare_with(k, DIR_GT, a, 1e9);
	Value *y = make_select(k, beyond, large, make_unary(k, O_log1p, more));

	return make_binary(k, O_mul, make_unary(k, O_sign, x), y);
}

static Value *
formula_acosh(Make k, Value *x)
{
	Value *below = with(k, O_add, x, -1);
	Value *left = make_unary(k, O_sqrt, below);
	Value *root = make_binary(k, O_mul, left, make_unary(k, O_sqrt, with(k, O_add, x, 1)));
	Value *large = with(k, O_add, make_unary(k, O_log, x), LN_2),
	      *beyond = compare_with(k, DIR_GT, x, 1e9);
	Value *sum = make_binary(k, O_add, below, root);

	return make_select(k, beyond, large, make_unary(k, O_log1p, sum));
}

static Value *
formula_atanh(Make k, Value *x)
{
	Value *down = make_unary(k, O_log1p, make_unary(k, O_neg, x));

	return with(k, O_mul, make_binary(k, O_sub, make_unary(k, O_log1p, x), down), 0.5);
}

static Value *
polynomial(Make k, Value *x, const double *factors, int n)
{
	Value *y = number_like(k, x, factors[0]);

	for (int i = 1; i < n; i++)
		y = with(k, O_add, make_binary(k, O_mul, y, x), factors[i]);
	return y;
}

static Value *
formula_erfc(Make k, Value *x)
{
	static const double to_2[] = {2.326819970068386e-2, -1.387039388740657e-1,
		3.687424674597105e-1, -5.824733027278666e-1, 6.210004621745983e-1,
		-4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1,
		5.638259427386472e-1};
	static const double from_2[] = {-1.047766399936249e+1, 1.297719955372516e+1,
		-7.495518717768503, 2.921019019210786, -1.015265279202700, 4.218463358204948e-1,
		-2.820767439740514e-1, 5.641895067754075e-1};
	Value *a = make_unary(k, O_abs, x), *square = make_binary(k, O_mul, x, x);
	Value *part = make_binary(k, O_div, number_like(k, x, 1), a);
	Value *q = make_binary(k, O_mul, part, part);
	Value *beyond = compare_with(k, DIR_GT, a, 2), *outer = polynomial(k, q, from_2, 8);
	Value *p = make_select(k, beyond, outer, polynomial(k, q, to_2, 9));
	Value *bell = make_unary(k, O_exp, make_unary(k, O_neg, square));
	Value *tail = make_binary(k, O_mul, make_binary(k, O_mul, bell, part), p);
	Value *left = with(k, O_add, make_unary(k, O_neg, tail), 2);
	Value *far = make_select(k, compare_with(k, DIR_GT, x, 0), tail, left);

	Value *near = with(k, O_add, make_unary(k, O_neg, make_unary(k, O_erf, x)), 1);

	return make_select(k, compare_with(k, DIR_GT, a, 1), far, near);
}

bool
import_op_formula(Import *in, const MlirOp *op, int kind)
{
	static Formula *const formulas[] = {[FORMULA_sinh] = formula_sinh,
		[FORMULA_cosh] = formula_cosh,
		[FORMULA_asinh] = formula_asinh,
		[FORMULA_acosh] = formula_acosh,
		[FORMULA_atanh] = formula_atanh,
		[FORMULA_erfc] = formula_erfc};

	if (in->noperands != 1 || !dtype_is_float(in->operands[0]->type.dtype))
		return read_wrong(in, op->range, "%s takes 1 operand, of floats", op->name);
	Value *x = in->operands[0];
	DType d = x->type.dtype, wide = dtypes[d].bytes < 4 ? D_f32 : d;
	if (kind == FORMULA_erfc && d == D_f64) /* more bits than the polynomials have */
		return read_opaque(in, op, NULL);
	Value *y = formulas[kind](in->make, make_convert(in->make, x, wide));
	in->results[0] = make_convert(in->make, y, d);
	return true;
}
