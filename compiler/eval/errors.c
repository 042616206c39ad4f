/*
 * errors.c - error bounds of pointwise ops.
 *
 * x[i].error is how far operand i of another correct execution may be from
 * x[i].value; the bound of the result is
 *
 *   what the op makes of the operands' errors          (a Propagate function)
 *   + what rounding adds, in ours and in the other     (ulps, dtype)
 *
 * A decision (compare, floor, convert to integer) is exact when no operand
 * can cross it.  Otherwise the result is off by the height of the step where
 * that is known (select: the distance of the two), and infinitely where not:
 * a pred has error 0 or infinity.
 *
 * Linear ops may run on the parts of a sum before these are added up; each
 * part is rounded then, so what counts is the operands' spread.
 */
#include "eval/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "shdrt_math.h"

/* bf16 and f32 may flush subnormals to zero; f16 keeps them. */
const Precision precisions[DTYPE_COUNT] = {
	[D_pred] = {0, 0, 0, 1, 1},
	[D_i8] = {0, 0, 0, INT8_MAX, INT8_MAX},
	[D_i32] = {0, 0, 0, INT32_MAX, INT32_MAX},
	[D_i64] = {0, 0, 0, 0x1p63, 0x1p53},
	[D_u8] = {0, 0, 0, UINT8_MAX, UINT8_MAX},
	[D_u32] = {0, 0, 0, UINT32_MAX, UINT32_MAX},
	[D_f16] = {0x1p-11, 0x1p-14, 0x1p-25, 65504, 0x1p11},
	[D_bf16] = {0x1p-8, 0x1p-126, 0x1p-126, 0x1.fep127, 0x1p8},
	[D_f32] = {0x1p-24, 0x1p-126, 0x1p-126, FLT_MAX, 0x1p24},
	[D_f64] = {0x1p-53, 0x1p-1022, 0x1p-1022, DBL_MAX, 0x1p53},
};

typedef struct Element {
	double value, error, spread;
} Element;
typedef double Propagate(const Op *op, const Element *x);

/* How the parts of a sum pass through an op; 0: they don't. */
typedef double Spread(const Element *x);

typedef struct ErrorRow {
	Propagate *propagate;
	double ulps;		/* of the wide type's result; 0: no rounding */
	Spread *spread;
} ErrorRow;

/* ---- what becomes of the operands' errors ------------------------------- */

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

/* An increasing or decreasing function is furthest off at the ends. */
static double
monotone_step(UnaryDouble *f, const Element *x)
{
	double here = f(x->value);
	if (x->error == 0)
		return 0;
	if (isinf(x->error))
		return INFINITY;
	double up = fabs(f(x->value + x->error) - here);
	double down = fabs(f(x->value - x->error) - here);
	double step = larger(up, down);
	if (step > 0)
		step += 4 * DBL_EPSILON * fabs(here);
	return up == up && down == down ? step : INFINITY;
}

static double
monotone(const Op *op, const Element *x)
{
	return monotone_step(pointwise_double(op->kind), x);
}

/* Off by no more than the operand is. */
static double
contraction(const Op *op, const Element *x)
{
	(void)op;
	return x[0].error;
}

static double
periodic(const Op *op, const Element *x)
{
	(void)op;
	return isinf(x[0].error) || x[0].error < 2 ? x[0].error : 2;
}

static double
sum_error(const Op *op, const Element *x)
{
	(void)op;
	return x[0].error + x[1].error;
}

static bool
sign_certain(const Element *x)
{
	return fabs(x->value) > x->error;
}

static double
product_error(const Op *op, const Element *x)
{
	double a = fabs(x[0].value), b = fabs(x[1].value);
	double ea = x[0].error, eb = x[1].error;
	(void)op;
	if (isinf(a) || isinf(b))
		return (ea == 0 || sign_certain(&x[0])) &&
			(eb == 0 || sign_certain(&x[1])) ? 0 : INFINITY;
	if (isinf(ea) || isinf(eb))
		return INFINITY;
	return a * eb + b * ea + ea * eb;
}

static double
quotient_error(const Op *op, const Element *x)
{
	double a = x[0].value, b = fabs(x[1].value);
	double ea = x[0].error, eb = x[1].error;
	(void)op;
	if (ea == 0 && eb == 0)
		return 0;
	if (isinf(ea) || isinf(eb) || !sign_certain(&x[1]))
		return b == 0 && eb == 0 && sign_certain(&x[0]) ? 0 : INFINITY;
	if (isinf(a))
		return 0;
	return isinf(b) ? 0 : (ea + fabs(a) / b * eb) / (b - eb);
}

/* a - trunc(a/b) * b: off as a is, unless a/b crosses an integer. */
static double
remainder_error(const Op *op, const Element *x)
{
	double a = x[0].value, ea = x[0].error, b = x[1].value;
	(void)op;
	if (ea == 0 && x[1].error == 0)
		return 0;
	if (isinf(ea) || isinf(x[1].error) || !sign_certain(&x[1]))
		return INFINITY;	/* the divisor may be zero */
	bool same = x[1].error == 0 &&
		trunc((a - ea) / b) == trunc((a + ea) / b);
	return same ? ea : 2 * (fabs(b) + x[1].error);
}

/* Where the base is positive for certain, pow is monotone in each operand. */
static double
power_corners(const Element *x)
{
	double here = pow(x[0].value, x[1].value), most = 0;
	for (int corner = 0; corner < 4; corner++) {
		double a = x[0].value + (corner & 1 ? 1 : -1) * x[0].error;
		double b = x[1].value + (corner & 2 ? 1 : -1) * x[1].error;
		double step = fabs(pow(a, b) - here);
		if (!(step <= most))
			most = step == step ? step : INFINITY;
	}
	return most + 4 * DBL_EPSILON * fabs(here);
}

static double
power_error(const Op *op, const Element *x)
{
	double a = fabs(x[0].value), ea = x[0].error, b = x[1].value;
	(void)op;
	if (ea == 0 && x[1].error == 0)
		return 0;
	if (isinf(ea) || isinf(x[1].error))
		return INFINITY;
	if (x[0].value > ea)
		return power_corners(x);
	if (x[1].error != 0 || b != rint(b))
		return INFINITY;
	if (b >= 1)	/* |(a + d)^n - a^n| <= (|a| + |d|)^n - |a|^n */
		return pow(a + ea, b) - pow(a, b)
			+ 4 * DBL_EPSILON * pow(a + ea, b);
	return a > ea ? pow(a - ea, b) : INFINITY;
}

/* max and min: the one that is certainly chosen, else the worse. */
static double
extremum_error(const Op *op, const Element *x)
{
	double distance = x[0].value - x[1].value;
	if (op->kind == O_minimum)
		distance = -distance;
	if (distance > x[0].error + x[1].error)
		return x[0].error;
	if (-distance > x[0].error + x[1].error)
		return x[1].error;
	return larger(x[0].error, x[1].error);
}

static double
clamp_error(const Op *op, const Element *x)
{
	(void)op;
	return larger(larger(x[0].error, x[1].error), x[2].error);
}

static double
and_error(const Op *op, const Element *x)
{
	double deciding = op->kind == O_or;
	for (int i = 0; i < 2; i++)
		if (x[i].error == 0 && x[i].value == deciding)
			return 0;
	return larger(x[0].error, x[1].error);
}

static double
compare_error(const Op *op, const Element *x)
{
	double distance = fabs(x[0].value - x[1].value);
	(void)op;
	if (isinf(x[0].error) || isinf(x[1].error))
		return INFINITY;
	if (x[0].error + x[1].error == 0 || distance != distance)
		return 0;	/* a NaN, or infinities that are certain */
	return distance > x[0].error + x[1].error ? 0 : INFINITY;
}

static double
finite_error(const Op *op, const Element *x)
{
	(void)op;
	return isinf(x[0].error) ? INFINITY : 0;
}

/* Undecided: the other operand, too, is as good. */
static double
select_error(const Op *op, const Element *x)
{
	const Element *is = &x[x[0].value != 0 ? 1 : 2];
	const Element *other = &x[x[0].value != 0 ? 2 : 1];
	(void)op;
	if (x[0].error == 0)
		return is->error;
	double step = is->value == other->value ? 0 :
		fabs(is->value - other->value);
	double error = larger(is->error, step + other->error);
	return error == error ? error : INFINITY;
}

static double
convert_error(const Op *op, const Element *x)
{
	DType from = op->operands[0]->type.dtype;
	DType to = op->results[0]->type.dtype;
	if (x->error == 0)
		return 0;
	if (to == D_pred)
		return sign_certain(x) ? 0 : INFINITY;
	if (from == D_pred)
		return 1;
	if (dtype_is_float(from) && !dtype_is_float(to))
		return monotone_step(trunc, x);
	return x->error;
}

/* ---- what becomes of the parts of sums ---------------------------------- */

static double
spread_same(const Element *x)
{
	return x[0].spread;
}

static double
spread_sum(const Element *x)
{
	return x[0].spread + x[1].spread;
}

static double
spread_product(const Element *x)
{
	return larger(x[0].spread * fabs(x[1].value),
		fabs(x[0].value) * x[1].spread);
}

static double
spread_quotient(const Element *x)
{
	return x[0].spread / fabs(x[1].value);
}

/* ---- the table ---------------------------------------------------------- */

static const ErrorRow rows[OP_COUNT] = {
	[O_abs] = {contraction, 0, NULL},
	[O_neg] = {contraction, 0, spread_same},
	[O_sign] = {monotone, 0, NULL},
	[O_exp] = {monotone, SHDRT_ULP_exp, NULL},
	[O_expm1] = {monotone, SHDRT_ULP_expm1, NULL},
	[O_log] = {monotone, SHDRT_ULP_log, NULL},
	[O_log1p] = {monotone, SHDRT_ULP_log1p, NULL},
	[O_sqrt] = {monotone, 0.5, NULL},
	[O_rsqrt] = {monotone, 1.5, NULL},
	[O_sin] = {periodic, SHDRT_ULP_sin, NULL},
	[O_cos] = {periodic, SHDRT_ULP_cos, NULL},
	[O_tanh] = {monotone, SHDRT_ULP_tanh, NULL},
	[O_sigmoid] = {monotone, SHDRT_ULP_sigmoid, NULL},
	[O_erf] = {monotone, SHDRT_ULP_erf, NULL},
	[O_floor] = {monotone, 0, NULL},
	[O_ceil] = {monotone, 0, NULL},
	[O_round] = {monotone, 0, NULL},
	[O_isfinite] = {finite_error, 0, NULL},
	[O_not] = {contraction, 0, NULL},
	[O_convert] = {convert_error, 0.5, NULL},
	[O_add] = {sum_error, 0.5, spread_sum},
	[O_sub] = {sum_error, 0.5, spread_sum},
	[O_mul] = {product_error, 0.5, spread_product},
	[O_div] = {quotient_error, 0.5, spread_quotient},
	[O_rem] = {remainder_error, 0.5, NULL},
	[O_pow] = {power_error, SHDRT_ULP_pow, NULL},
	[O_maximum] = {extremum_error, 0, NULL},
	[O_minimum] = {extremum_error, 0, NULL},
	[O_and] = {and_error, 0, NULL},
	[O_or] = {and_error, 0, NULL},
	[O_compare] = {compare_error, 0, NULL},
	[O_select] = {select_error, 0, NULL},
	[O_clamp] = {clamp_error, 0, NULL},
};

/* ---- rounding and special values ---------------------------------------- */

/* The result in double, of the same operands. */
static double
in_double(const Op *op, const Element *x, double otherwise)
{
	if (op->kind == O_convert)
		return x[0].value;
	if (op->noperands == 1 && pointwise_double(op->kind))
		return pointwise_double(op->kind)(x[0].value);
	if (op->noperands == 2 && pointwise_double2(op->kind))
		return pointwise_double2(op->kind)(x[0].value, x[1].value);
	return otherwise;
}

static bool
all_exact(const Op *op, const Element *x)
{
	for (int i = 0; i < op->noperands; i++)
		if (x[i].error != 0)
			return false;
	return true;
}

static bool
all_integers(const Op *op, const Element *x)
{
	for (int i = 0; i < op->noperands; i++)
		if (x[i].value != rint(x[i].value))
			return false;
	return true;
}

/* Arithmetic on exact operands whose result needs no rounding: nor do sums
   of small integers, however they are split into parts. */
static bool
needs_no_rounding(const Op *op, const Element *x, double y, double spread,
	DType d)
{
	if (rows[op->kind].ulps > 0.5 || !all_exact(op, x))
		return false;
	if (y != in_double(op, x, y))
		return false;
	bool whole = true;
	for (int i = 0; i < op->noperands; i++)
		whole = whole && x[i].spread <= fabs(x[i].value);
	return whole || (op->kind != O_div && all_integers(op, x) &&
		y == rint(y) && spread <= precisions[d].integers);
}

/* Twice: ours and the other's. */
static double
rounding(const Op *op, const Element *x, double y, double spread, DType d)
{
	DType wide = d == D_f64 ? D_f64 : D_f32;
	const Precision *p = &precisions[d];
	double units = rows[op->kind].ulps * 2 * precisions[wide].unit;
	if (units == 0 || p->unit == 0 ||
	    needs_no_rounding(op, x, y, spread, d))
		return 0;
	if (d != wide)
		units += p->unit;
	double error = 2 * units * spread;
	return spread <= 2 * p->normal ? error + 2 * p->underflow : error;
}

/* An infinite or NaN result: exact if every execution must arrive there. */
static double
special_error(const Op *op, const Element *x, double y, double propagated)
{
	bool exact = all_exact(op, x);
	for (int i = 0; i < op->noperands; i++) {
		double v = x[i].value;
		if (x[i].error == 0 && (y != y ? v != v : isinf(v)) &&
		    isfinite(propagated))
			return 0;
	}
	if (y != y)
		return exact ? 0 : INFINITY;
	/* A pole is infinite in double too; overflow of the dtype isn't, and
	   an execution that rounds later may not see it. */
	return exact && isinf(in_double(op, x, 0)) ? 0 : INFINITY;
}

static double
element_error(const Op *op, const Element *x, double y, double spread, DType d)
{
	double error = rows[op->kind].propagate(op, x);
	if (error != error)
		error = INFINITY;
	if (d == D_pred)
		return error > 0 ? INFINITY : 0;
	if (!isfinite(y))
		return special_error(op, x, y, error);
	bool overflows = fabs(y) + error > precisions[d].greatest;
	if (dtype_is_float(d))
		error += rounding(op, x, y, spread, d);
	else if (error > 0 && (op->kind == O_div || op->kind == O_rem ||
	    op->kind == O_pow || trunc(in_double(op, x, y)) != y))
		return INFINITY;
	return error > 0 && overflows ? INFINITY : error;
}

/* ---- whole tensors ------------------------------------------------------ */

/* Elements of an operand in double; a scalar one is spread over all. */
static void
load_doubles(const Tensor *t, int64_t first, int64_t n, double *result)
{
	Chunk buffer;
	if (!t->type.rank) {
		double v = tensor_double(t, 0);
		for (int64_t i = 0; i < n; i++)
			result[i] = v;
		return;
	}
	convert_wide(t->type.dtype, view_wide(t, first, n, &buffer), D_f64,
		result, n);
}

typedef struct Operand {
	double value[CHUNK], error[CHUNK], spread[CHUNK];
} Operand;

static void
load_operand(const Inexact *x, int64_t first, int64_t n, Operand *o)
{
	load_doubles(&x->value, first, n, o->value);
	for (int64_t i = 0; i < n; i++) {
		o->error[i] = 0;
		o->spread[i] = fabs(o->value[i]);
	}
	if (x->error.data)
		load_doubles(&x->error, first, n, o->error);
	if (x->spread.data)
		load_doubles(&x->spread, first, n, o->spread);
}

static void
bound_chunk(const Op *op, const Operand *in, int64_t first, int64_t n,
	Inexact *result)
{
	DType d = result->value.type.dtype;
	const ErrorRow *row = &rows[op->kind];
	double *error = (double *)result->error.data + first;
	double *spreads = result->spread.data;
	double values[CHUNK];
	load_doubles(&result->value, first, n, values);
	for (int64_t i = 0; i < n; i++) {
		Element x[3];
		double spread = fabs(values[i]);
		for (int k = 0; k < op->noperands; k++)
			x[k] = (Element){in[k].value[i], in[k].error[i],
				in[k].spread[i]};
		if (spreads)
			spread = spreads[first + i] =
				larger(row->spread(x), spread);
		error[i] = element_error(op, x, values[i], spread, d);
	}
}

/* Only sums that may be split over devices have parts. */
static bool
has_spread(const Op *op, const Inexact *operands, const Inexact *result)
{
	if (!rows[op->kind].spread || !dtype_is_float(result->value.type.dtype))
		return false;
	for (int i = 0; i < op->noperands; i++)
		if (operands[i].spread.data)
			return true;
	return false;
}

static bool
is_exact(const Op *op, const Inexact *operands, const Inexact *result)
{
	for (int i = 0; i < op->noperands; i++)
		if (operands[i].error.data)
			return false;
	return !dtype_is_float(result->value.type.dtype) ||
		rows[op->kind].ulps == 0;
}

bool
bound_pointwise(const Module *m, const Op *op, const Inexact *operands,
	Inexact *result)
{
	int64_t n = type_elements(&result->value.type), count;
	bool spread = has_spread(op, operands, result);
	(void)m;
	if (!rows[op->kind].propagate)
		die("no error bound for %s", ops[op->kind].name);
	if (is_exact(op, operands, result) && !spread)
		return true;
	Operand *in = calloc(3, sizeof *in);
	bool ok = in && tensor_like(&result->value, &result->error) &&
		(!spread || tensor_like(&result->value, &result->spread));
	for (int64_t i = 0; ok && i < n; i += count) {
		count = n - i < CHUNK ? n - i : CHUNK;
		for (int k = 0; k < op->noperands; k++)
			load_operand(&operands[k], i, count, &in[k]);
		bound_chunk(op, in, i, count, result);
	}
	free(in);
	return ok;
}
