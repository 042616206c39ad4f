/*
 * bounds.c - how far a correct execution may be from the interpreter's.
 *
 * Adding up worst cases over a deep program gives bounds that no wrong result
 * would exceed.  So the program runs SAMPLES more times beside the reference,
 * in f64, and in each run every op's result is moved by as much as rounding
 * may move it there: by n * u * sum |term| for a sum of n terms, by the ulps
 * of its function for a pointwise op.  The direction is drawn for each
 * element, or for a whole tensor at once, since constant inputs make errors
 * agree.  How far the results then lie apart is what rounding does to this
 * program, correlations and cancellations included; FACTOR times that is the
 * bound.  (Stochastic arithmetic: Vignes, "Discrete stochastic arithmetic for
 * validating results of numerical software", 2004.)
 *
 * Decisions (compare, floor, float to integer) are taken on samples moved
 * EXAGGERATION times as far from the reference, to either side.  If they come
 * out the same, they are certain; else the samples go different ways from
 * there on.  Where an element may be anything (an operand may have crossed a
 * pole, a sum may overflow in some order) the odd samples are NaN and the even
 * ones are not, so that one of them differs from the reference.
 *
 * Integers and preds are sampled too, as themselves: where the samples
 * differ, so may correct executions.
 *
 * In f16 and bf16 each device rounds its part of a sum, too, and each step of
 * combining the parts: that is u of the narrow type times the sum of the
 * parts' magnitudes, which sum |term| bounds.  It stays with the value as its
 * `spread`, since later linear ops may run on the parts.
 */
#include "eval/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTOR = 2, EXAGGERATION = 4, SLACK = 2 };

/* ---- tensors with samples ----------------------------------------------- */

void
inexact_free(Inexact *x)
{
	tensor_free(&x->value);
	tensor_free(&x->spread);
	for (int k = 0; k < SAMPLES; k++)
		tensor_free(&x->samples[k]);
}

static bool
tensor_copy(const Tensor *t, Tensor *copy)
{
	*copy = (Tensor){0};
	if (!t->data)
		return true;
	return tensor_new(&t->type, copy) && identity(NULL, NULL, t, copy);
}

bool
inexact_copy(const Inexact *x, Inexact *copy)
{
	bool ok = tensor_copy(&x->value, &copy->value) &&
		tensor_copy(&x->spread, &copy->spread);
	for (int k = 0; ok && k < SAMPLES; k++)
		ok = tensor_copy(&x->samples[k], &copy->samples[k]);
	return ok;
}

bool
tensor_like(const Tensor *t, Tensor *result)
{
	Type type = t->type;
	type.dtype = D_f64;
	return tensor_new(&type, result);
}

static bool
is_exact(const Inexact *x)
{
	return !x->samples[0].data;
}

static bool
all_exact(const Op *op, const Inexact *x)
{
	for (int i = 0; i < op->noperands; i++)
		if (!is_exact(&x[i]))
			return false;
	return true;
}

/* ---- f64 pictures of an operand ----------------------------------------- */

typedef enum Aspect {
	ASPECT_value, ASPECT_magnitude, ASPECT_spread,
	ASPECT_one,
	ASPECT_nonzero,		/* 1 unless zero */
	ASPECT_excess, ASPECT_deficit, /* magnitude, at least 1, at most 1 */
} Aspect;

static double
aspect_of(Aspect aspect, double v, double spread)
{
	double magnitude = fabs(v);
	const double aspects[] = {
		[ASPECT_value] = v,
		[ASPECT_magnitude] = magnitude,
		[ASPECT_spread] = spread > magnitude ? spread : magnitude,
		[ASPECT_one] = 1,
		[ASPECT_nonzero] = v != 0,
		[ASPECT_excess] = magnitude > 1 ? magnitude : 1,
		[ASPECT_deficit] = magnitude < 1 ? magnitude : 1,
	};
	return aspects[aspect];
}

static bool
picture(const Inexact *x, Aspect aspect, Tensor *result)
{
	int64_t n = type_elements(&x->value.type);
	const double *spread = x->spread.data;
	if (!tensor_like(&x->value, result))
		return false;
	double *r = result->data;
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t count = n - i < CHUNK ? n - i : CHUNK;
		load_doubles(&x->value, i, count, r + i);
		for (int64_t k = i; k < i + count; k++)
			r[k] = aspect_of(aspect, r[k], spread ? spread[k] : 0);
	}
	return true;
}

/* ---- sums: how much rounding adds --------------------------------------- */

typedef struct Sum {
	Tensor magnitude;	/* sum |term| */
	Tensor terms;		/* how many are not zero */
	bool products;		/* rounded before they are added */
	bool integers;		/* every term, exactly */
} Sum;

static double
sum_rounding(const Module *m, const Sum *s, int64_t i, DType d)
{
	const Precision *p = &precisions[d];
	const Precision *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	double magnitude = ((double *)s->magnitude.data)[i];
	double terms = ((double *)s->terms.data)[i] - !s->products;
	double error = 0;
	if (!(magnitude <= p->greatest))
		return INFINITY;	/* some order may overflow */
	if (terms <= 0)
		return 0;
	if (!(s->integers && magnitude <= wide->integers))
		error = terms * (wide->unit * magnitude + (s->products &&
			magnitude > 0 ? wide->underflow : 0));
	if (p != wide && !(s->integers && magnitude <= p->integers))
		error += p->unit * magnitude + (d == D_f16 ?
			p->underflow * (double)m->mesh.ndevices : 0);
	return error;
}

static void
sum_free(Sum *s)
{
	tensor_free(&s->magnitude);
	tensor_free(&s->terms);
}

/* If its parts may travel, the sum's magnitude becomes the result's spread. */
static bool
round_sum(const Module *m, Sum *s, bool parts, Inexact *result,
	Tensor *rounding)
{
	DType d = result->value.type.dtype;
	int64_t n = type_elements(&result->value.type);
	if (!tensor_like(&result->value, rounding))
		return false;
	for (int64_t i = 0; i < n; i++)
		((double *)rounding->data)[i] = sum_rounding(m, s, i, d);
	if (parts && m->mesh.ndevices > 1) {
		result->spread = s->magnitude;
		s->magnitude.data = NULL;
	}
	return true;
}

/* Every element a whole number, exactly. */
static bool
is_whole(const Inexact *x)
{
	int64_t n = type_elements(&x->value.type);
	if (!is_exact(x))
		return false;
	for (int64_t i = 0; i < n; i++) {
		double v = tensor_double(&x->value, i);
		if (v != rint(v) || isinf(v))
			return false;
	}
	return true;
}

static bool
dot_aspects(const Op *op, const Inexact *x, Aspect left, Aspect right,
	const Tensor *shape, Tensor *result)
{
	Tensor in[2] = {{.data = NULL}};
	bool ok = picture(&x[0], left, &in[0]) && picture(&x[1], right, &in[1])
		&& tensor_like(shape, result) && dot(NULL, op, in, result);
	tensor_free(&in[0]);
	tensor_free(&in[1]);
	return ok;
}

/* The parts are those of one operand, or of the other. */
static bool
dot_magnitude(const Op *op, const Inexact *x, const Tensor *shape,
	Tensor *result)
{
	Tensor other = {0};
	if (!dot_aspects(op, x, ASPECT_spread, ASPECT_magnitude, shape, result))
		return false;
	if (!x[1].spread.data)
		return true;
	bool ok = dot_aspects(op, x, ASPECT_magnitude, ASPECT_spread, shape,
		&other);
	double *most = result->data, *more = other.data;
	for (int64_t i = type_elements(&shape->type) - 1; ok && i >= 0; i--)
		most[i] = more[i] > most[i] ? more[i] : most[i];
	tensor_free(&other);
	return ok;
}

static bool
has_zero(const Tensor *t)
{
	for (int64_t i = type_elements(&t->type) - 1; i >= 0; i--)
		if (tensor_double(t, i) == 0)
			return true;
	return false;
}

/* How many products are not zero: the contracted size, where all are. */
static bool
dot_terms(const Op *op, const Inexact *x, const Tensor *shape, Tensor *result)
{
	const Ints *contract = op_ints(op, A_lhs_contract);
	double terms = 1;
	if (is_exact(&x[0]) && is_exact(&x[1]) &&
	    (has_zero(&x[0].value) || has_zero(&x[1].value)))
		return dot_aspects(op, x, ASPECT_nonzero, ASPECT_nonzero, shape,
			result);
	for (int i = 0; i < contract->n; i++)
		terms *= (double)x[0].value.type.dims[contract->v[i]];
	if (!tensor_like(shape, result))
		return false;
	tensor_fill_payload(result, double_payload(terms));
	return true;
}

static bool
round_dot(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	Sum s = {.products = true};
	const Tensor *shape = &result->value;
	s.integers = is_whole(&x[0]) && is_whole(&x[1]);
	bool ok = dot_magnitude(op, x, shape, &s.magnitude) &&
		dot_terms(op, x, shape, &s.terms) &&
		round_sum(m, &s, true, result, rounding);
	sum_free(&s);
	return ok;
}

/* One aspect reduced, in f64. */
static bool
reduce_aspect(const Op *op, const Inexact *x, Aspect aspect, Combiner c,
	const Tensor *shape, Tensor *result)
{
	Type scalar = type_of(D_f64, 0, NULL);
	Tensor in = {0}, init = {0};
	bool ok = picture(x, aspect, &in) && tensor_new(&scalar, &init) &&
		tensor_like(shape, result);
	if (ok) {
		tensor_fill_payload(&init, combiner_identity(c, D_f64));
		ok = reduce_dims(op_ints(op, A_dims), c, &in, &init, result);
	}
	tensor_free(&in);
	tensor_free(&init);
	return ok;
}

/* A zero that may be something else counts as a term. */
static Aspect
counted(const Inexact *x)
{
	return is_exact(x) ? ASPECT_nonzero : ASPECT_one;
}

static bool
round_add(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	Sum s = {.integers = is_whole(&x[0])};
	const Tensor *shape = &result->value;
	bool ok = reduce_aspect(op, x, ASPECT_spread, C_add, shape,
		&s.magnitude) && reduce_aspect(op, x, counted(x), C_add, shape,
		&s.terms) && round_sum(m, &s, true, result, rounding);
	sum_free(&s);
	return ok;
}

/* Parts of a product may overflow or vanish where the whole doesn't. */
static double
product_rounding(double y, double terms, double excess, double deficit,
	int64_t ndevices, DType d)
{
	const Precision *p = &precisions[d];
	const Precision *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	double units = terms * wide->unit;
	if (!(excess <= p->greatest))
		return INFINITY;
	if (terms <= 1)
		return 0;
	if (p != wide)
		units += p->unit * log2(2 * (double)ndevices);
	return units * fabs(y) + (deficit < p->normal ?
		p->underflow * excess : 0);
}

static bool
round_mul(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	static const Aspect aspects[] = {ASPECT_excess, ASPECT_deficit,
		ASPECT_one};
	Tensor t[3] = {{.data = NULL}};
	const Tensor *shape = &result->value;
	bool ok = tensor_like(shape, rounding);
	for (int k = 0; ok && k < 3; k++)
		ok = reduce_aspect(op, x, aspects[k], aspects[k] == ASPECT_one ?
			C_add : C_mul, shape, &t[k]);
	for (int64_t i = type_elements(&shape->type) - 1; ok && i >= 0; i--)
		((double *)rounding->data)[i] = product_rounding(
			tensor_double(shape, i), ((double *)t[2].data)[i],
			((double *)t[0].data)[i], ((double *)t[1].data)[i],
			m->mesh.ndevices, shape->type.dtype);
	for (int k = 0; k < 3; k++)
		tensor_free(&t[k]);
	return ok;
}

/* max, min, and, or don't round. */
static bool
round_reduce(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	int64_t c = op_int(op, A_combiner);
	if (c == C_add)
		return round_add(m, op, x, result, rounding);
	return c != C_mul || round_mul(m, op, x, result, rounding);
}

static bool
cumsum_aspect(const Op *op, const Inexact *x, Aspect aspect, Tensor *result)
{
	Type scalar = type_of(D_f64, 0, NULL);
	Tensor in[2] = {{.data = NULL}};
	bool ok = picture(x, aspect, &in[0]) && tensor_new(&scalar, &in[1]) &&
		tensor_like(&x->value, result) && cumsum(NULL, op, in, result);
	tensor_free(&in[0]);
	tensor_free(&in[1]);
	return ok;
}

static bool
round_cumsum(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	Sum s = {.integers = is_whole(&x[0])};
	bool ok = cumsum_aspect(op, x, ASPECT_spread, &s.magnitude) &&
		cumsum_aspect(op, x, counted(x), &s.terms) &&
		round_sum(m, &s, false, result, rounding);
	sum_free(&s);
	return ok;
}

/* ---- what rounding adds, and where parts go ----------------------------- */

typedef bool Rounding(const Module *m, const Op *op, const Inexact *x,
	Inexact *result, Tensor *rounding);
static Rounding *const sums[OP_COUNT] = {
	[O_dot] = round_dot,
	[O_reduce] = round_reduce,
	[O_cumsum] = round_cumsum,
};

/* The spreads of the operands of data movement, moved too. */
static bool
move_spread(const Op *op, const Inexact *x, Inexact *result)
{
	size_t n = (size_t)op->noperands;
	Tensor *in = calloc(n, sizeof *in);
	bool ok = in && tensor_like(&result->value, &result->spread);
	for (size_t i = 0; ok && i < n; i++)
		ok = picture(&x[i], ASPECT_spread, &in[i]);
	ok = ok && op_kernel(op->kind)(NULL, op, in, &result->spread);
	for (size_t i = 0; in && i < n; i++)
		tensor_free(&in[i]);
	free(in);
	return ok;
}

static void
drop_zeros(Tensor *t)
{
	const double *v = t->data;
	if (!v)
		return;
	for (int64_t i = type_elements(&t->type) - 1; i >= 0; i--)
		if (v[i] != 0)
			return;
	tensor_free(t);
}

/* `rounding` stays without data if there is none. */
static bool
find_rounding(const Module *m, const Op *op, const Inexact *x, Inexact *result,
	Tensor *rounding)
{
	bool ok = true, parts = false;
	if (!dtype_is_float(result->value.type.dtype))
		return true;
	for (int i = 0; i < op->noperands; i++)
		parts = parts || x[i].spread.data;
	if (sums[op->kind])
		ok = sums[op->kind](m, op, x, result, rounding);
	else if (op_rounds(op->kind) || (parts && op_passes_parts(op->kind)))
		ok = pointwise_rounding(op, x, all_exact(op, x), result,
			rounding);
	else if (parts && ops[op->kind].partial == PARTIAL_move)
		ok = move_spread(op, x, result);
	drop_zeros(rounding);
	return ok;
}

/* ---- decisions ---------------------------------------------------------- */

static const bool decides[OP_COUNT] = {
	[O_compare] = true, [O_floor] = true, [O_ceil] = true,
	[O_round] = true, [O_sign] = true, [O_isfinite] = true,
	[O_rem] = true,
};

static bool
is_decision(const Op *op)
{
	return decides[op->kind] || (op->kind == O_convert &&
		dtype_is_float(op->operands[0]->type.dtype) &&
		!dtype_is_float(op->results[0]->type.dtype));
}

/* Samples 2j and 2j + 1 lie on either side of the reference, as far away as
   EXAGGERATION times sample 2j. */
static bool
exaggerate(const Inexact *x, int k, Tensor *result)
{
	int64_t n = type_elements(&x->value.type);
	const double *s = x->samples[k & ~1].data, *own = x->samples[k].data;
	double times = k & 1 ? -EXAGGERATION : EXAGGERATION;
	if (!tensor_like(&x->value, result))
		return false;
	double *r = result->data;
	for (int64_t i = 0; i < n; i += CHUNK)
		load_doubles(&x->value, i, n - i < CHUNK ? n - i : CHUNK,
			r + i);
	for (int64_t i = 0; i < n; i++)
		r[i] = isfinite(r[i]) && isfinite(s[i]) && isfinite(own[i]) ?
			r[i] + times * (s[i] - r[i]) : own[i];
	return true;
}

/* An element that may be anything, of sample k, as told at the top. */
static double
wild(double sample, int k)
{
	if (k & 1)
		return NAN;
	return isfinite(sample) ? sample : 0;
}

static bool
is_wild(const Inexact *x, int k, int64_t i)
{
	bool value = isnan(tensor_double(&x->value, i));
	return isnan(tensor_double(&x->samples[k & ~1], i)) != value ||
		isnan(tensor_double(&x->samples[k | 1], i)) != value;
}

/* Integers and preds that may be anything take their extremes in turn. */
static void
set_extreme(Tensor *t, int64_t i, int k)
{
	int64_t extreme = combiner_identity(k & 1 ? C_max : C_min,
		t->type.dtype);
	store_wide(t->type.dtype, &extreme, t->data, i, 1);
}

static void
decide_wild(const Inexact *x, int k, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	if (is_exact(x))
		return;
	for (int64_t i = 0; i < n; i++)
		if (is_wild(x, k, i))
			set_extreme(result, i, k);
}

/* No sample will be equal by chance: == and != are open where the samples'
   distance has another sign than the reference's. */
static void
decide_equality(const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	int64_t n = type_elements(&result->type);
	for (int64_t i = 0; i < n; i++) {
		double was = tensor_double(&x[0].value, i)
			- tensor_double(&x[1].value, i);
		double is = tensor_double(&in[0], i) - tensor_double(&in[1], i);
		if (was * is < 0)
			set_extreme(result, i, k);
	}
}

static bool
pair_differs(const Inexact *x, int k, int64_t i)
{
	int64_t value = tensor_integer(&x->value, i);
	return tensor_integer(&x->samples[k & ~1], i) != value ||
		tensor_integer(&x->samples[k | 1], i) != value;
}

/* An uncertain integer as a float, or what it is the index of: anything. */
static void
mark_uncertain(const Op *op, const Inexact *x, int k, Tensor *result)
{
	const Inexact *integer = &x[op->kind == O_take];
	DType d = integer->value.type.dtype;
	int64_t n = type_elements(&result->type), inner = 1;
	int64_t integers = type_elements(&integer->value.type);
	if (is_exact(integer) || !dtype_is_integer(d))
		return;
	for (int64_t dim = op->kind == O_take ? op_int(op, A_dim) + 1 :
	    x[0].value.type.rank; dim < x[0].value.type.rank; dim++)
		inner *= x[0].value.type.dims[dim];
	for (int64_t i = 0; i < n; i++) {
		int64_t at = i / inner % integers;
		if (!pair_differs(integer, k, at))
			continue;
		if (result->type.dtype == D_f64)
			((double *)result->data)[i] = wild(
				((double *)result->data)[i], k);
		else
			set_extreme(result, i, k);
	}
}

/* ---- poles -------------------------------------------------------------- */

/* Beyond `at`, operand `operand` gives something else altogether. */
typedef struct Pole {
	bool is;
	int operand;
	double at;
} Pole;

static const Pole poles[OP_COUNT] = {
	[O_sqrt] = {true, 0, 0}, [O_rsqrt] = {true, 0, 0},
	[O_log] = {true, 0, 0}, [O_log1p] = {true, 0, -1},
	[O_div] = {true, 1, 0}, [O_rem] = {true, 1, 0},
	[O_pow] = {true, 0, 0},
};

static bool
crosses(double value, double sample, double at)
{
	double step = EXAGGERATION * fabs(sample - value);
	return value != sample && !(fabs(value - at) > step);
}

static void
mark_poles(const Op *op, const Inexact *x, int k, Tensor *result)
{
	const Pole *pole = &poles[op->kind];
	const Inexact *operand = &x[pole->operand];
	double *r = result->data;
	if (!pole->is || result->type.dtype != D_f64 || is_exact(operand))
		return;
	const double *s = operand->samples[k].data;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--)
		if (is_wild(operand, k, i) || crosses(tensor_double(
		    &operand->value, i), s[i], pole->at))
			r[i] = wild(r[i], k);
}

/* A remainder whose quotient may be another integer may be anything. */
static void
mark_remainders(const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	double *r = result->data;
	if (result->type.dtype != D_f64)
		return;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--) {
		double was = trunc(tensor_double(&x[0].value, i)
			/ tensor_double(&x[1].value, i));
		double is = trunc(tensor_double(&in[0], i)
			/ tensor_double(&in[1], i));
		if (was != is && (was == was || is == is))
			r[i] = wild(r[i], k);
	}
}

/* sin and cos of something uncertain by a good part of a period. */
static void
mark_periods(const Inexact *x, int k, Tensor *result)
{
	const double *s = x->samples[k].data;
	double *r = result->data;
	if (is_exact(x))
		return;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--)
		if (EXAGGERATION * fabs(s[i] - tensor_double(&x->value, i)) > 1)
			r[i] = wild(r[i], k);
}

/* ---- samples ------------------------------------------------------------ */

static uint64_t
mix(uint64_t x)		/* splitmix64 */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* +1 or -1: for each element of its own, or away from zero or toward it for
   all, or up or down for all. */
static double
direction(uint64_t seed, int64_t i, double sample)
{
	int mode = seed & 3;
	double same = seed & 4 ? 1 : -1;
	if (mode == 2)
		return same;
	if (mode == 3)
		return sample < 0 ? -same : same;
	return mix(seed + (uint64_t)i) & 1 ? 1 : -1;
}

/* Of two neighbours, one sees subnormals flushed to zero, and overflow, which
   a narrow float that isn't rounded at once would escape. */
static double
perturbed(double s, double rounding, double sign, DType d, int k)
{
	const Precision *p = &precisions[d];
	bool narrow = d == D_f16 || d == D_bf16;
	if (!isfinite(s))
		return s;
	if (!isfinite(rounding))
		return wild(s, k);
	s += sign * SLACK * rounding;
	if (fabs(s) > p->greatest)
		return narrow && !(k & 1) ? s : s > 0 ? INFINITY : -INFINITY;
	if (k & 1 && d != D_f16 && fabs(s) < p->normal)
		return 0;
	return s;
}

static void
perturb(const Op *op, int k, DType d, const Tensor *rounding, Tensor *sample)
{
	uint64_t seed = mix((uint64_t)op->id * SAMPLES + (uint64_t)k);
	const double *amount = rounding->data;
	double *s = sample->data;
	int64_t n = type_elements(&sample->type);
	for (int64_t i = 0; i < n; i++)
		s[i] = perturbed(s[i], amount ? amount[i] : 0,
			direction(seed, i, s[i]), d, k);
}

/* The operands of sample k: `fixed` where they are exact. */
static bool
sample_operands(const Op *op, const Inexact *x, const Tensor *fixed, int k,
	Tensor *in, Tensor *owned)
{
	for (int i = 0; i < op->noperands; i++) {
		owned[i].data = NULL;
		in[i] = is_exact(&x[i]) ? fixed[i] : x[i].samples[k];
		if (is_exact(&x[i]) || !is_decision(op) ||
		    in[i].type.dtype != D_f64)
			continue;
		if (!exaggerate(&x[i], k, &owned[i]))
			return false;
		in[i] = owned[i];
	}
	return true;
}

/* What the kernel, run on the samples `in`, doesn't see. */
static void
adjust(const Op *op, const Inexact *x, int k, const Tensor *in,
	const Tensor *rounding, Inexact *result)
{
	Tensor *s = &result->samples[k];
	mark_poles(op, x, k, s);
	if (dtype_is_float(result->value.type.dtype))
		perturb(op, k, result->value.type.dtype, rounding, s);
	if (op->kind == O_rem)
		mark_remainders(x, in, k, s);
	if (op->kind == O_sin || op->kind == O_cos)
		mark_periods(x, k, s);
	if (op->kind == O_take || op->kind == O_convert)
		mark_uncertain(op, x, k, s);
	if (op->kind == O_compare && op_int(op, A_direction) <= DIR_NE)
		decide_equality(x, in, k, s);
	if (is_decision(op) && !dtype_is_float(result->value.type.dtype))
		for (int i = 0; i < op->noperands; i++)
			decide_wild(&x[i], k, s);
}

static bool
sample(const Op *op, const Inexact *x, const Tensor *fixed, int k,
	const Tensor *rounding, Tensor *scratch, Inexact *result)
{
	Tensor *in = scratch, *owned = scratch + op->noperands;
	DType d = result->value.type.dtype;
	Type type = result->value.type;
	Tensor *s = &result->samples[k];
	if (dtype_is_float(d))
		type.dtype = D_f64;
	bool ok = sample_operands(op, x, fixed, k, in, owned) &&
		tensor_new(&type, s) && op_kernel(op->kind)(NULL, op, in, s);
	if (ok)
		adjust(op, x, k, in, rounding, result);
	for (int i = 0; i < op->noperands; i++)
		tensor_free(&owned[i]);
	return ok;
}

/* Exact operands: floats in f64, the rest as they are. */
static bool
fix_operands(const Op *op, const Inexact *x, Tensor *fixed)
{
	for (int i = 0; i < op->noperands; i++) {
		if (!is_exact(&x[i]))
			continue;
		if (!dtype_is_float(x[i].value.type.dtype))
			fixed[i] = x[i].value;
		else if (!picture(&x[i], ASPECT_value, &fixed[i]))
			return false;
	}
	return true;
}

static bool
agrees(const Inexact *x, const Tensor *s)
{
	bool floats = dtype_is_float(x->value.type.dtype);
	for (int64_t i = type_elements(&s->type) - 1; i >= 0; i--) {
		double a = tensor_double(s, i), b = tensor_double(&x->value, i);
		if (a != b && (a == a || b == b))
			return false;
		if (!floats && tensor_integer(s, i) !=
		    tensor_integer(&x->value, i))
			return false;
	}
	return true;
}

/* Samples that all agree with the reference are no news. */
static void
drop_agreeing(Inexact *x)
{
	for (int k = 0; k < SAMPLES; k++)
		if (!agrees(x, &x->samples[k]))
			return;
	for (int k = 0; k < SAMPLES; k++)
		tensor_free(&x->samples[k]);
}

static bool
take_samples(const Op *op, const Inexact *x, const Tensor *rounding,
	Inexact *result)
{
	size_t n = (size_t)op->noperands;
	Tensor *fixed = calloc(3 * n + 1, sizeof *fixed);
	bool ok = fixed && fix_operands(op, x, fixed);
	for (int k = 0; ok && k < SAMPLES; k++)
		ok = sample(op, x, fixed, k, rounding, fixed + n, result);
	for (size_t i = 0; fixed && i < n; i++)
		if (fixed[i].data != x[i].value.data)
			tensor_free(&fixed[i]);
	free(fixed);
	if (ok)
		drop_agreeing(result);
	return ok;
}

bool
bound(const Module *m, const Op *op, const Inexact *operands, Inexact *result)
{
	Tensor rounding = {0};
	if (op->noperands == 0)
		return true;	/* leaves are exact */
	bool ok = find_rounding(m, op, operands, result, &rounding);
	if (ok && (rounding.data || !all_exact(op, operands)))
		ok = take_samples(op, operands, &rounding, result);
	tensor_free(&rounding);
	return ok;
}

/* ---- from samples to bounds --------------------------------------------- */

static double
deviation(const Inexact *x, int64_t i)
{
	double v = tensor_double(&x->value, i), most = 0;
	for (int k = 0; k < SAMPLES; k++) {
		double s = tensor_double(&x->samples[k], i);
		double away = s == v || (s != s && v != v) ? 0 : fabs(s - v);
		if (!(away <= most))
			most = away == away ? away : INFINITY;
	}
	if (most > 0 && !dtype_is_float(x->value.type.dtype))
		return INFINITY;
	return most;
}

static double
finite_mean(const double *v, int64_t n)
{
	double sum = 0;
	int64_t finite = 0;
	for (int64_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		sum += v[i];
		finite++;
	}
	return finite ? sum / (double)finite : 0;
}

/* That all samples of an element lie close by may be chance: its neighbours'
   deviations count too, unless it is exact. */
static void
widen_row(double *bounds, int64_t n)
{
	double least = finite_mean(bounds, n) / 2;
	for (int64_t i = 0; i < n; i++) {
		if (bounds[i] > 0 && bounds[i] < least)
			bounds[i] = least;
		bounds[i] *= FACTOR;
	}
}

bool
inexact_bounds(const Inexact *x, double **bounds)
{
	const Type *t = &x->value.type;
	int64_t n = type_elements(t), row = t->rank ? t->dims[t->rank - 1] : 1;
	*bounds = NULL;
	if (is_exact(x))
		return true;
	*bounds = calloc((size_t)n + !n, sizeof **bounds);
	if (!*bounds)
		return false;
	for (int64_t i = 0; i < n; i++)
		(*bounds)[i] = deviation(x, i);
	for (int64_t i = 0; i < n; i += row)
		widen_row(*bounds + i, row);
	return true;
}
