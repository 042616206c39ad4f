/*
 * functions.c - functions of floats that are formulas of ours; those of 16 bits in f32.
 *
 *   sinh(x)   (e + e / (e + 1)) / 2 with e = e^x - 1 where |x| < 1, else of two powers of e
 *   asinh(x)  sign(x) log(a + sqrt(a^2 + 1)), a = |x|, as log1p; log 2a where a is large
 *   acosh(x)  log(x + sqrt(x^2 - 1)) likewise; the root of x + 1 alone: x < -1 has no number
 *   erfc(x)   1 - erf(x) where |x| < 1, else in f32 as Cephes has it (S. Moshier, ndtrf.c):
 *             e^(-x^2) / |x| P(1 / x^2), one P up to 2 and another from there; in f64
 *             e^(-x^2) P(|x|) / Q(|x|), up to 8 and from there (the same)
 *   lgamma    of Lanczos' series (g = 7, as XLA's math.cc has it) from 1/2 on, below that by
 *   digamma   reflection: sin(pi x)
 *   bessel_i1e  Chebyshev's series up to 8 and from there, as Cephes has it (i1f.c); in f32
 */
#include <math.h>

#include "import/builders.h"

#define LN_2 0.6931471805599453

typedef Value *Formula(Make, Value *);

/* e^x / 2, of what would be too large before it is halved, too */
static Value *
half_exp(Make k, Value *x)
{
	return make_unary(k, O_exp, with(k, O_add, x, -LN_2));
}

Value *
formula_cosh(Make k, Value *x)
{
	Value *up = half_exp(k, x);

	return make_binary(k, O_add, up, half_exp(k, make_unary(k, O_neg, x)));
}

Value *
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

/* P(a) / Q(a) */
static Value *
ratio(Make k, Value *v, const double *p, int np, const double *q, int nq)
{
	Value *above = polynomial(k, v, p, np);

	return make_binary(k, O_div, above, polynomial(k, v, q, nq));
}

static Value *
erfc_wide(Make k, Value *x)
{
	static const double p[] = {2.46196981473530512524e-10, 5.64189564831068821977e-1,
		7.46321056442269912687, 4.86371970985681366614e1, 1.96520832956077098242e2,
		5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
		5.57535335369399327526e2};
	static const double q[] = {1, 1.32281951154744992508e1, 8.67072140885989742329e1,
		3.54937778887819891062e2, 9.75708501743205489753e2, 1.82390916687909736289e3,
		2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2};
	static const double r[] = {5.64189583547755073984e-1, 1.27536670759978104416,
		5.01905042251180477414, 6.16021097993053585195, 7.40974269950448939160,
		2.97886665372100240670};
	static const double s[] = {1, 2.26052863220117276590, 9.39603524938001434673,
		1.20489539808096656605e1, 1.70814450747565897222e1, 9.60896809063285878198,
		3.36907645100081516050};
	Value *a = make_unary(k, O_abs, x), *outer = ratio(k, a, r, 6, s, 7);
	Value *inner = ratio(k, a, p, 9, q, 9), *beyond = compare_with(k, DIR_GE, a, 8);
	Value *bell = make_unary(k, O_exp, make_unary(k, O_neg, make_binary(k, O_mul, x, x)));
	Value *tail = make_binary(k, O_mul, bell, make_select(k, beyond, outer, inner));
	Value *zero = number_like(k, x, 0);
	/* where e^(-x^2) is 0, its quotient may be none */
	tail = make_select(k, compare_with(k, DIR_GT, a, 27.3), zero, tail);
	Value *left = with(k, O_add, make_unary(k, O_neg, tail), 2);
	Value *far = make_select(k, compare_with(k, DIR_GT, x, 0), tail, left);
	Value *near = with(k, O_add, make_unary(k, O_neg, make_unary(k, O_erf, x)), 1);

	return make_select(k, compare_with(k, DIR_GT, a, 1), far, near);
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
	if (x && x->type.dtype == D_f64)
		return erfc_wide(k, x);
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

/* ---- of the gamma function */

#define PI 3.141592653589793

/* Gamma(z + 1) = sqrt(2 pi) t^(z + 1/2) e^-t series, t = z + 7.5; below 1/2 of -x, which
   what Gamma(x) Gamma(1 - x) is makes good. */
typedef struct Lanczos {
	Value *below, *z, *t, *log_t, *more; /* log t = log 7.5 + more */
	Value *series, *slope; /* sum of c[i] / (z + i), 1 at z = 0, and its derivative */
} Lanczos;

static Lanczos
lanczos(Make k, Value *x)
{
	static const double first = 263.3831869810514; /* the series at z = 0 */
	static const double c[] = {676.520368121885098567009190444019,
		-1259.13921672240287047156078755283, 771.3234287776530788486528258894,
		-176.61502916214059906584551354, 12.507343278686904814458936853,
		-0.13857109526572011689554707, 9.984369578019570859563e-6,
		1.50563273514931155834e-7};
	Lanczos l = {.below = compare_with(k, DIR_LT, x, 0.5)};
	Value *above = with(k, O_sub, x, 1);

	l.z = make_select(k, l.below, make_unary(k, O_neg, x), above);
	l.series = number_like(k, x, 0.99999999999980993227684700473478 / first);
	l.slope = number_like(k, x, 0);
	for (int i = 0; i < 8; i++) {
		Value *at = with(k, O_add, l.z, i + 1);
		Value *term = make_binary(k, O_div, number_like(k, x, c[i] / first), at);
		l.series = make_binary(k, O_add, l.series, term);
		term = make_binary(k, O_div, term, at);
		l.slope = make_binary(k, O_sub, l.slope, term);
	}
	l.t = with(k, O_add, l.z, 7.5);
	l.more = make_unary(k, O_log1p, with(k, O_div, l.z, 7.5));
	l.log_t = with(k, O_add, l.more, 2.0149030205422647); /* log 7.5 */
	return l;
}

/* (z + 1/2) log t - t + log sqrt(2 pi) + log series, less what that is at z = 0, which is 0:
   near 1 and 2 numbers of 8 would leave one of 0.1. */
static Value *
formula_lgamma(Make k, Value *x)
{
	Lanczos l = lanczos(k, x);
	Value *power = with(k, O_add, l.more, 1.0149030205422647); /* log t - 1 */
	Value *y = make_binary(k, O_mul, l.z, power);
	y = make_binary(k, O_add, y, with(k, O_mul, l.more, 0.5));
	y = make_binary(k, O_add, y, make_unary(k, O_log, l.series));
	Value *a = make_unary(k, O_abs, x), *whole = make_unary(k, O_floor, a);
	Value *part = make_binary(k, O_sub, a, whole);
	Value *other = with(k, O_add, make_unary(k, O_neg, part), 1);
	part = make_select(k, compare_with(k, DIR_GT, part, 0.5), other, part);
	Value *sine = make_unary(k, O_log, make_unary(k, O_sin, with(k, O_mul, part, PI)));
	Value *reflected = make_binary(k, O_sub, make_unary(k, O_neg, sine), y);
	reflected = with(k, O_add, reflected, 1.1447298858494002); /* log pi */
	Value *pole = make_unary(k, O_neg, sine), *finite = make_unary(k, O_isfinite, sine);
	y = make_select(k, l.below, make_select(k, finite, reflected, pole), y);
	Value *infinite = compare_with(k, DIR_EQ, a, INFINITY);
	return make_select(k, infinite, a, y);
}

static Value *
formula_digamma(Make k, Value *x)
{
	Lanczos l = lanczos(k, x);
	Value *y = make_binary(k, O_div, l.slope, l.series);
	y = make_binary(k, O_add, l.log_t, y);
	y = make_binary(k, O_sub, y, make_binary(k, O_div, number_like(k, x, 7), l.t));
	Value *whole = make_unary(k, O_floor, x), *nearest = with(k, O_add, x, 0.5);
	nearest = make_unary(k, O_abs, make_unary(k, O_floor, nearest));
	Value *angle = with(k, O_mul, make_binary(k, O_add, x, nearest), PI);
	Value *cosine = with(k, O_mul, make_unary(k, O_cos, angle), PI);
	Value *cotangent = make_binary(k, O_div, cosine, make_unary(k, O_sin, angle));
	y = make_select(k, l.below, make_binary(k, O_sub, y, cotangent), y);
	Value *pole = make_compare(k, DIR_EQ, x, whole);
	pole = make_binary(k, O_and, pole, compare_with(k, DIR_LE, x, 0));
	return make_select(k, pole, number_like(k, x, NAN), y);
}

/* ---- of Bessel */

/* Of Chebyshev's polynomials, the last factor of T0; that one is halved. */
static Value *
chebyshev(Make k, Value *x, const double *factors, int n)
{
	Value *y = number_like(k, x, 0), *before = y, *last = y;

	for (int i = 0; i < n; i++) {
		last = before;
		before = y;
		y = make_binary(k, O_sub, make_binary(k, O_mul, x, before), last);
		y = with(k, O_add, y, factors[i]);
	}
	return with(k, O_mul, make_binary(k, O_sub, y, last), 0.5);
}

static Value *
formula_bessel_i1e(Make k, Value *x)
{
	static const double to_8[] = {9.38153738649577178388e-9, -4.44505912879632808065e-8,
		2.00329475355213526229e-7, -8.56872026469545474066e-7,
		3.47025130813767847674e-6, -1.32731636560394358279e-5,
		4.78156510755005422638e-5, -1.61760815825896745588e-4,
		5.12285956168575772895e-4, -1.51357245063125314899e-3,
		4.15642294431288815669e-3, -1.05640848946261981558e-2,
		2.47264490306265168283e-2, -5.29459812080949914269e-2,
		1.02643658689847095384e-1, -1.76416518357834055153e-1,
		2.52587186443633654823e-1};
	static const double from_8[] = {-3.83538038596423702205e-9, -2.63146884688951950684e-8,
		-2.51223623787020892529e-7, -3.88256480887769039346e-6,
		-1.10588938762623716291e-4, -9.76109749136146840777e-3,
		7.78576235018280120474e-1};
	Value *a = make_unary(k, O_abs, x);
	Value *near = chebyshev(k, with(k, O_sub, with(k, O_mul, a, 0.5), 2), to_8, 17);
	Value *part = with(k, O_sub, make_binary(k, O_div, number_like(k, x, 32), a), 2);
	Value *far = chebyshev(k, part, from_8, 7);
	far = make_binary(k, O_div, far, make_unary(k, O_sqrt, a));
	near = make_binary(k, O_mul, near, a);
	Value *inner = compare_with(k, DIR_LE, a, 8), *y = make_select(k, inner, near, far);

	return make_binary(k, O_mul, make_unary(k, O_sign, x), y);
}

/* Halves away from 0. */
static Value *
formula_round_away(Make k, Value *x)
{
	Value *a = make_unary(k, O_abs, x), *whole = make_unary(k, O_floor, a);
	Value *half = compare_with(k, DIR_GE, make_binary(k, O_sub, a, whole), 0.5);
	Value *next = with(k, O_add, whole, 1);
	Value *size = make_select(k, half, next, whole);
	Value *below = compare_with(k, DIR_LT, x, 0);

	return make_select(k, below, make_unary(k, O_neg, size), size);
}

bool
import_op_formula(Import *in, const MlirOp *op, int kind)
{
	static Formula *const formulas[] = {[FORMULA_sinh] = formula_sinh,
		[FORMULA_cosh] = formula_cosh,
		[FORMULA_asinh] = formula_asinh,
		[FORMULA_acosh] = formula_acosh,
		[FORMULA_atanh] = formula_atanh,
		[FORMULA_erfc] = formula_erfc,
		[FORMULA_lgamma] = formula_lgamma,
		[FORMULA_digamma] = formula_digamma,
		[FORMULA_bessel_i1e] = formula_bessel_i1e,
		[FORMULA_round_away] = formula_round_away};

	if (in->noperands != 1 || !dtype_is_float(in->operands[0]->type.dtype))
		return read_wrong(in, op->range, "%s takes 1 operand, of floats", op->name);
	Value *x = in->operands[0];
	if (kind == FORMULA_bessel_i1e && x->type.dtype == D_f64) /* of as many digits */
		return read_opaque(in, op, NULL);
	DType d = x->type.dtype, wide = dtypes[d].bytes < 4 ? D_f32 : d;
	Value *y = formulas[kind](in->make, make_convert(in->make, x, wide));
	in->results[0] = make_convert(in->make, y, d);
	return true;
}
