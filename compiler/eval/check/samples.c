/*
 * samples.c - how far a correct execution may be from the interpreter's.
 *
 * Adding up worst cases over a deep program gives bounds that no wrong result
 * would exceed.  So the program runs SAMPLES more times beside the reference,
 * in f64, and in each run every op's result is moved by as much as rounding
 * may move it there: a sum of n terms by sqrt(n) * u * sum |term| or so
 * (sums.c), a pointwise op by the ulps of its function.  The direction is drawn
 * for each element, or for a whole tensor at once, since constant inputs make
 * errors agree.  How far the results then lie apart is what rounding does to this
 * program, correlations and cancellations included.  (Stochastic arithmetic:
 * Vignes, "Discrete stochastic arithmetic for validating results of numerical
 * software", 2004.)
 *
 * Decisions (compare, floor, float to integer) are taken on samples moved
 * EXAGGERATION times as far from the reference, to either side.  If they come
 * out the same, they are certain; else the samples go different ways from
 * there on.  Those on what every execution makes alike are: on random numbers, say.
 * Where an element may be anything (an operand may have crossed a
 * pole, a sum may overflow in some order) the odd samples are NaN and the even
 * ones are not, so that one of them differs from the reference.
 *
 * Integers and preds are sampled too, as themselves: where the samples
 * differ, so may correct executions.
 */
#include "eval/check/check.h"
#include "ir/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXAGGERATION = 4, SLACK = 2 };

/* ---- tensors with samples ----------------------------------------------- */

bool
tensor_like(const Tensor *t, Tensor *result)
{
	Type type = t->type;
	type.dtype = D_f64;
	return tensor_new(&type, result);
}

bool
all_exact(const Op *op, const Inexact *x)
{
	for (int i = 0; i < op->noperands; i++)
		if (!is_exact(&x[i]))
			return false;
	return true;
}

/* ---- what is the same in every execution ---------------------------------- */

/* Does the op make the same bits of the same ones, on whatever mesh?  A sum has an order, a
   function a runtime, and a narrow float may not be rounded at once. */
static bool
computes_alike(const Op *op)
{
	DType d = op->results[0]->type.dtype;
	if (!op->noperands)
		return ops[op->kind].leaf;
	if (op->nbodies || op->kind == O_extern)
		return false;
	if (!dtype_is_float(d) || op_is_identity(op)
		|| numbers[op->kind].elements == ELEMENTS_moved)
		return true;
	return ops[op->kind].pointwise && numbers[op->kind].ulps <= 0.5
		&& (numbers[op->kind].ulps == 0 || d == D_f32 || d == D_f64);
}

static bool
all_compute_alike(const Block *body)
{
	for (const Op *op = body->first; op && op->next; op = op->next)
		if (!computes_alike(op))
			return false;
	return true;
}

/* As the ops tell, not looking far: it is made of inputs by such ops alone. */
static bool
is_alike(const Value *v, int far)
{
	const Op *op = v->def, *around = op ? NULL : v->block->parent;
	if (!op && !around)
		return !v->placement.nunreduced;
	if (around && around->kind == O_call)
		return far && is_alike(around->operands[v->index], far - 1);
	bool alike = op && far
		&& (op->kind == O_call ? all_compute_alike(op->bodies[0]) : computes_alike(op));
	for (int i = 0; alike && i < op->noperands; i++)
		alike = is_alike(op->operands[i], far - 1);
	return alike;
}

/* ---- decisions ---------------------------------------------------------- */

static bool
is_decision(const Op *op)
{
	Jumps jumps = numbers[op->kind].jumps;
	if (jumps == JUMPS_whole)
		return dtype_is_float(op->operands[0]->type.dtype)
			&& !dtype_is_float(op->results[0]->type.dtype);
	return jumps == JUMPS_steps || jumps == JUMPS_equality || jumps == JUMPS_quotient;
}

/*
 * Sample k of an operand: `fixed` if it is exact.  For a decision samples 2j and
 * 2j + 1 lie on either side of the reference, as far away as EXAGGERATION times
 * sample 2j.
 */
bool
sample_operand(const Inexact *x, const Tensor *fixed, int k, bool decides, Tensor *in)
{
	int64_t n = type_elements(&value_of(x)->type);
	*in = tensor_lend(is_exact(x) ? fixed : sample_of(x, k));
	if (is_exact(x) || !decides || in->type.dtype != D_f64)
		return true;
	const double *s = sample_of(x, k & ~1)->data, *own = in->data;
	double times = k & 1 ? -EXAGGERATION : EXAGGERATION;
	if (!tensor_like(value_of(x), in))
		return false;
	double *r = in->data;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count)
		load_doubles(value_of(x), i, count, r + i);
	for (int64_t i = 0; i < n; i++)
		r[i] = isfinite(r[i]) && isfinite(s[i]) && isfinite(own[i])
			? r[i] + times * (s[i] - r[i])
			: own[i];
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
	bool value = isnan(tensor_double(value_of(x), i));
	return isnan(tensor_double(sample_of(x, k & ~1), i)) != value
		|| isnan(tensor_double(sample_of(x, k | 1), i)) != value;
}

/* Integers and preds that may be anything take their extremes in turn. */
static void
set_extreme(Tensor *t, int64_t i, int k)
{
	int64_t extreme = combiner_identity(k & 1 ? C_max : C_min, t->type.dtype);
	store_wide(t->type.dtype, &extreme, t->data, i, 1);
}

/* No sample will be equal by chance: == and != are open where the samples'
   distance has another sign than the reference's. */
static void
decide_equality(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	int64_t n = op_int(op, A_direction) <= DIR_NE ? type_elements(&result->type) : 0;
	for (int64_t i = 0; i < n; i++) {
		double was =
			tensor_double(value_of(&x[0]), i) - tensor_double(value_of(&x[1]), i);
		double is = tensor_double(&in[0], i) - tensor_double(&in[1], i);
		if (was * is < 0)
			set_extreme(result, i, k);
	}
}

/* An element that may be anything, of a sample of any dtype. */
static void
set_anything(Tensor *t, int64_t i, int k)
{
	double *v = t->data;
	if (t->type.dtype == D_f64)
		v[i] = wild(v[i], k);
	else
		set_extreme(t, i, k);
}

/* An uncertain integer as a float, or what it is the index of: anything. */
static void
mark_uncertain(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	(void)in;
	int index = numbers[op->kind].first_index;
	const Inexact *integer = &x[index];
	DType d = value_of(integer)->type.dtype;
	int64_t n = type_elements(&result->type);
	Lookup look = index ? op_lookup(op) : (Lookup){.n = 1};
	int64_t inner =
		index ? type_elements_from(&value_of(&x[0])->type, look.first + look.n) : 1;
	int64_t integers = type_elements(&value_of(integer)->type);
	if (is_exact(integer) || !dtype_is_integer(d))
		return;
	for (int64_t i = 0; i < n * look.n; i++) {
		int64_t at = (i / look.n / inner * look.n + i % look.n) % integers;
		int64_t own = tensor_integer(value_of(integer), at);
		if (tensor_integer(sample_of(integer, k & ~1), at) != own
			|| tensor_integer(sample_of(integer, k | 1), at) != own)
			set_anything(result, i / look.n, k);
	}
}

/* What is read or written at an uncertain place may be anything. */
static void
mark_places(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	(void)in;
	const NumberInfo *row = &numbers[op->kind];
	bool uncertain = false;
	for (int i = row->first_index; i < row->end_index && i < op->noperands; i++)
		uncertain = uncertain || !is_exact(&x[i]);
	for (int64_t i = type_elements(&result->type) - 1; i >= 0 && uncertain; i--)
		set_anything(result, i, k);
}

/* ---- poles -------------------------------------------------------------- */

/* As the ops tell, not looking far. */
static bool
never_negative(const Value *v, int far)
{
	const Op *op = v->def;
	if (!op || !far)
		return false;
	if (op_has(op, A_value))
		return dtype_is_float(v->type.dtype) && !v->type.rank
			&& payload_double(op_int(op, A_value)) >= 0;
	Sign sign = numbers[op->kind].sign;
	if (sign == SIGN_yes || (sign == SIGN_square && op->operands[0] == op->operands[1]))
		return true;
	bool all = sign != SIGN_any;
	for (int i = 0; all && i < op->noperands; i++)
		all = never_negative(op->operands[i], far - 1);
	return all;
}

static void
mark_poles(const Op *op, const Inexact *x, int k, Tensor *result)
{
	const Pole *pole = &numbers[op->kind].pole;
	const Inexact *operand = &x[pole->operand];
	double *r = result->data;
	if (!pole->is || result->type.dtype != D_f64 || is_exact(operand))
		return;
	const double *s = sample_of(operand, k)->data;
	bool one_side = never_negative(op->operands[pole->operand], 8);
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--) {
		double v = tensor_double(value_of(operand), i);
		bool away = (one_side && v > 0 && s[i] > 0) || v == s[i]
			|| fabs(v - pole->at) > EXAGGERATION * fabs(s[i] - v);
		if (is_wild(operand, k, i) || !away)
			r[i] = wild(r[i], k);
	}
}

/* A remainder whose quotient may be another integer may be anything. */
static void
mark_remainders(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	(void)op;
	double *r = result->data;
	if (result->type.dtype != D_f64)
		return;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--) {
		double was = trunc(
			tensor_double(value_of(&x[0]), i) / tensor_double(value_of(&x[1]), i));
		double is = trunc(tensor_double(&in[0], i) / tensor_double(&in[1], i));
		if (was != is && (was == was || is == is))
			r[i] = wild(r[i], k);
	}
}

/* sin and cos of something uncertain by a good part of a period. */
static void
mark_periods(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	(void)op, (void)in;
	const double *s = sample_of(x, k)->data;
	double *r = result->data;
	if (is_exact(x))
		return;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--)
		if (EXAGGERATION * fabs(s[i] - tensor_double(value_of(x), i)) > 1)
			r[i] = wild(r[i], k);
}

/*
 * relu(x) is 0 in all samples of an x of -1 that are near it, and nothing tells what decides
 * by relu(x) > 0 that x may be above 0 elsewhere.  So where an operand as far away as that of a
 * decision would matter, one sample of each pair is on the other side of the corner.
 */
static void
mark_corners(const Op *op, const Inexact *x, const Tensor *in, int k, Tensor *result)
{
	FloatFunction *of = numbers[op->kind].of_floats;
	double *r = result->data;
	if (result->type.dtype != D_f64 || k & 1)
		return;
	for (int64_t i = type_elements(&result->type) - 1; i >= 0; i--) {
		double was[3] = {0}, away[3] = {0}, v;
		for (int o = 0; o < op->noperands; o++) {
			int64_t at = in[o].type.rank ? i : 0;
			was[o] = tensor_double(value_of(&x[o]), at);
			away[o] = EXAGGERATION * (tensor_double(&in[o], at) - was[o]);
		}
		v = of(was[0], was[1], was[2]);
		for (int side = -1; side <= 1; side += 2) {
			double there = of(was[0] + side * away[0], was[1] + side * away[1],
				was[2] + side * away[2]);
			if (r[i] == v && isfinite(there))
				r[i] += (there - v) / EXAGGERATION;
		}
	}
}

/* ---- samples ------------------------------------------------------------ */

bool
new_samples(const Inexact *x)
{
	Type type = lane_type(&value_of(x)->type, 1);
	bool ok = true;
	for (int k = 0; k < SAMPLES; k++)
		ok = ok && tensor_new(&type, sample_of(x, k));
	return ok;
}

static uint64_t
mix(uint64_t x) /* splitmix64 */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Of two neighbours, one sees subnormals flushed to zero, and overflow, which
   a narrow float that isn't rounded at once would escape. */
static double
perturbed(double s, double rounding, double sign, DType d, int k)
{
	const Precision *p = &precisions[d];
	bool narrow = dtype_is_narrow(d);
	if (!isfinite(rounding)) /* finite, if the even sample is */
		return wild(fmax(-p->greatest, fmin(s, p->greatest)), k);
	if (!isfinite(s))
		return s;
	s += sign * SLACK * rounding;
	if (fabs(s) > p->greatest)
		return narrow && !(k & 1) ? s : s > 0 ? INFINITY : -INFINITY;
	if (k & 1 && p->underflow == p->normal && fabs(s) < p->normal)
		return 0;
	return s;
}

/* The direction: of each element its own, or up or down for all, or away from zero or
   toward it for all. */
void
perturb(const Op *op, int k, DType d, const Tensor *rounding, Tensor *sample)
{
	uint64_t seed = mix((uint64_t)op->id * SAMPLES + (uint64_t)k);
	const double *amount = rounding->data;
	double *s = sample->data, same = seed & 4 ? 1 : -1;
	int64_t n = type_elements(&sample->type);
	int mode = seed & 3;
	for (int64_t i = 0; i < n; i++) {
		double sign = mode < 2		? (mix(seed + (uint64_t)i) & 1 ? 1 : -1)
			: mode == 3 && s[i] < 0 ? -same
						: same;
		s[i] = perturbed(s[i], amount ? amount[i] : 0, sign, d, k);
	}
}

/* What the kernel, run on the operands `in` of sample k, doesn't see. */
static void
adjust(const Op *op, const Inexact *x, int k, const Tensor *in, const Tensor *rounding,
	const Inexact *result)
{
	static void (*const marks[])(const Op *, const Inexact *, const Tensor *, int,
		Tensor *) = {
		[JUMPS_equality] = decide_equality,
		[JUMPS_whole] = mark_uncertain,
		[JUMPS_quotient] = mark_remainders,
		[JUMPS_period] = mark_periods,
		[JUMPS_index] = mark_uncertain,
		[JUMPS_place] = mark_places,
		[JUMPS_corner] = mark_corners,
	};
	DType d = value_of(result)->type.dtype;
	Tensor *s = sample_of(result, k);
	Jumps jumps = numbers[op->kind].jumps;
	mark_poles(op, x, k, s);
	if (dtype_is_float(d))
		perturb(op, k, d, rounding, s);
	if (marks[jumps])
		marks[jumps](op, x, in, k, s);
	if (!is_decision(op) || dtype_is_float(d))
		return;
	for (int i = 0; i < op->noperands; i++)
		for (int64_t e = type_elements(&s->type) - 1; !is_exact(&x[i]) && e >= 0; e--)
			if (is_wild(&x[i], k, e))
				set_extreme(s, e, k);
}

/* Samples that all agree with the reference are no news. */
void
drop_agreeing(const Inexact *x)
{
	const Tensor *value = value_of(x);
	bool floats = dtype_is_float(value->type.dtype);
	int64_t n = type_elements(&value->type);
	for (int k = 0; k < SAMPLES; k++) {
		const Tensor *s = sample_of(x, k);
		for (int64_t i = 0; i < n; i++) {
			double a = tensor_double(s, i), b = tensor_double(value, i);
			if ((a != b && (a == a || b == b))
				|| (!floats
					&& tensor_integer(s, i) != tensor_integer(value, i)))
				return;
		}
	}
	for (int k = 0; k < SAMPLES; k++)
		tensor_free(sample_of(x, k));
}

/* ---- sorts, and decisions of loops and choices ------------------------------ */

/* In the order of the keys' sample k: of the keys themselves, of what they may be
   for others; of which each is anything, where it may be another's. */
static bool
sort_sample(const Op *op, const Inexact *x, int i, int k, const int64_t *sure,
	const Inexact *result)
{
	Tensor keys, from = {.data = NULL}, *s = sample_of(result, k);
	bool ok = sample_operand(&x[0], value_of(&x[0]), k, i > 0, &keys);
	int64_t *order = ok ? sort_order(op, &keys) : NULL;
	ok = order && view_lanes(&x[i], 1, 1 + k, &from);
	if (ok)
		take_order(&from, order, s);
	for (int64_t e = type_elements(&s->type) - 1; ok && i && e >= 0; e--)
		if (order[e] != sure[e])
			set_anything(s, e, k);
	tensor_free(&keys);
	tensor_free(&from);
	free(order);
	return ok;
}

bool
sample_sort(const Op *op, const Inexact *x, const Inexact *results)
{
	int64_t *sure = sort_order(op, value_of(&x[0]));
	bool ok = sure != NULL;
	for (int i = 0; ok && i < op->noperands; i++) {
		if (is_exact(&x[0]) && is_exact(&x[i]))
			continue;
		ok = new_samples(&results[i]);
		for (int k = 0; ok && k < SAMPLES; k++)
			ok = sort_sample(op, x, i, k, sure, &results[i]);
		if (ok)
			drop_agreeing(&results[i]);
	}
	free(sure);
	return ok;
}

bool
sample_anything(const Inexact *x)
{
	int64_t n = type_elements(&value_of(x)->type);
	bool ok = !is_exact(x) || new_samples(x);
	for (int k = 0; ok && k < SAMPLES; k++)
		for (int64_t i = 0; i < n; i++)
			set_anything(sample_of(x, k), i, k);
	return ok;
}

/* ---- every op ----------------------------------------------------------------- */

static const struct SampledOp {
	Rounding *rounding;
	Sample *samples;
} sampled[OP_COUNT] = {
#define POINTWISE(op, ...) [O_##op] = {.rounding = round_pointwise},
#define OTHER(op, runs, kernel, bound, by, ...) [O_##op] = {.bound = by},
#include "ir/numbers.def"
#undef POINTWISE
#undef OTHER
};

/* Samples k - 1 and k of what nobody reads any more: the results have room in their
   place. */
static void
free_pair(const Inexact *x, int n, int k)
{
	for (int i = 0; i < n; i++)
		for (int pair = k - 1; x[i].dies && pair <= k; pair++)
			tensor_free(sample_of(&x[i], pair));
}

/* The op on samples; if operands are all exact, one result is all of theirs. */
bool
sample_op(const Module *m, const Op *op, const Inexact *x, const Inexact *results)
{
	const struct SampledOp *row = &sampled[op->kind];
	Kernel *kernel = op_kernel(op->kind);
	Tensor rounding = {0}, same = {0};
	int n = op->noperands;
	if (row->samples)
		return row->samples(op, x, results);
	if (n == 0)
		return true; /* leaves are exact */
	if (is_decision(op) && numbers[op->kind].jumps != JUMPS_quotient
		&& is_alike(op->results[0], 8))
		return true;
	bool exact = all_exact(op, x);
	bool ok = find_rounding(m, op, row->rounding, x, results, &rounding);
	if (!ok || (exact && !rounding.data)) {
		tensor_free(&rounding);
		return ok;
	}
	Tensor *fixed = calloc(2 * (size_t)n, sizeof *fixed), *in = fixed + n;
	Type type = lane_type(&value_of(results)->type, 1);
	ok = fixed && view_lanes(x, n, 1, fixed);
	if (ok && exact)
		ok = tensor_new(&type, &same) && kernel(op, fixed, &same);
	for (int k = 0; ok && k < SAMPLES; k++) {
		Tensor *s = sample_of(results, k);
		ok = tensor_new(&type, s);
		for (int i = 0; ok && i < n; i++)
			ok = sample_operand(&x[i], &fixed[i], k, is_decision(op), &in[i]);
		ok = ok && (exact ? identity(op, &same, s) : kernel(op, in, s));
		if (ok)
			adjust(op, x, k, in, &rounding, results);
		tensors_free(in, n);
		if (k & 1)
			free_pair(x, n, k);
	}
	if (ok)
		drop_agreeing(results);
	if (fixed)
		tensors_free(fixed, n);
	free(fixed);
	tensor_free(&same);
	tensor_free(&rounding);
	return ok;
}
