/*
 * sums.c - what one op's rounding may add to its result: sums here, pointwise
 * ops in rounding.c.
 *
 * A sum of n terms, in any order, is off by at most n * u * sum |term|, u
 * being the rounding unit.  It may be where terms repeat, for their roundings
 * agree.  The roundings of terms that have nothing to do with each other add up
 * as sqrt(n) (Higham and Mary, "A new approach to probabilistic rounding error
 * analysis", 2019), and a bound of n would let wrong results pass.  Which of
 * the two it is the reference tells: its own sums in f32 are compared with
 * those in f64.
 *
 * In f16 and bf16 each device rounds its part of a sum, too, and each step of
 * combining the parts: that is u of the narrow type times the sum of the parts'
 * magnitudes, which sum |term| bounds.
 *
 * Later linear ops may run on the parts, so the sum of their magnitudes stays
 * with the value as its `spread`.  For that, sum |term| is too much: through a
 * chain of products it would grow by the square root of their lengths each
 * time.  There are no more parts than devices, and the sum of p random parts is
 * near sqrt(p * sum term^2); where terms agree, it is the value itself.
 */
#include "eval/check/check.h"
#include "ir/interval.h"

#include <math.h>
#include <stdlib.h>

/* ---- f64 pictures of an operand ----------------------------------------- */

/* Zero in every sample, and in all parts. */
static bool
is_sure_zero(const Inexact *x, double value, int64_t i)
{
	const double *spreads = spread_of(x)->data;
	bool zero = value == 0 && !(spreads && spreads[i] > 0);
	for (int k = 0; zero && k < SAMPLES && !is_exact(x); k++)
		zero = tensor_double(sample_of(x, k), i) == 0;
	return zero;
}

/* What is infinite or NaN is no part of a magnitude: it makes a sum infinite
   or NaN in any order, while finite terms may overflow in some. */
typedef enum Aspect {
	ASPECT_itself,
	ASPECT_magnitude,
	ASPECT_spread,
	ASPECT_nonzero, /* 1 unless zero, for sure */
	ASPECT_excess,
	ASPECT_deficit, /* magnitude, at least 1, at most 1 */
	ASPECT_square,
	ASPECT_parts, /* square of the spread, or of what it would be
				   if the mesh's devices had random parts */
} Aspect;

static bool
picture(const Module *m, const Inexact *x, Aspect aspect, Tensor *result)
{
	int64_t n = type_elements(&value_of(x)->type);
	const double *spreads = spread_of(x)->data;
	if (!tensor_like(value_of(x), result))
		return false;
	double *r = result->data;
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count)
		load_doubles(value_of(x), i, count, r + i);
	for (int64_t i = 0; i < n; i++) {
		double magnitude = isfinite(r[i]) ? fabs(r[i]) : 0,
		       square = magnitude * magnitude;
		double spread = spreads ? spreads[i] : 0;
		const double aspects[] = {
			[ASPECT_itself] = r[i],
			[ASPECT_magnitude] = magnitude,
			[ASPECT_spread] = isfinite(r[i]) ? fmax(spread, magnitude) : 0,
			[ASPECT_square] = square,
			[ASPECT_parts] =
				fmax(spread * spread, square * (double)m->mesh.ndevices),
			[ASPECT_nonzero] =
				aspect == ASPECT_nonzero && !is_sure_zero(x, r[i], i),
			[ASPECT_excess] = magnitude > 1 ? magnitude : 1,
			[ASPECT_deficit] = magnitude < 1 ? magnitude : 1,
		};
		r[i] = aspects[aspect];
	}
	return true;
}

/*
 * What the op makes of these aspects of its operands (NULL: of their spreads), in f64;
 * of integers, which say where, as they are.
 *
 *   dot of x and y   {spread, magnitude}    sum of |term|, a part of x at a time
 *   reduce           {nonzero, itself}      how many terms there are
 */
static bool
made_of(const Module *m, const Op *op, const Inexact *x, const Aspect *aspects,
	const Inexact *result, Tensor *made)
{
	Tensor *in = calloc((size_t)op->noperands, sizeof *in);
	bool ok = in && tensor_like(value_of(result), made);
	for (int i = 0; ok && i < op->noperands; i++)
		if (dtype_is_float(value_of(&x[i])->type.dtype))
			ok = picture(m, &x[i], aspects ? aspects[i] : ASPECT_spread, &in[i]);
		else
			in[i] = tensor_lend(value_of(&x[i]));
	ok = ok && op_kernel(op->kind)(op, in, made);
	if (in)
		tensors_free(in, op->noperands);
	free(in);
	return ok;
}

/* ---- sums: how much rounding adds --------------------------------------- */

typedef struct Sum {
	Tensor magnitude; /* sum |term| */
	Tensor squares;	  /* sum term^2, of the parts; no data: they are
				   always added up before they are used */
	Tensor terms;	  /* how many are not zero */
	Tensor exact;	  /* of f32, the sum in f64 */
	bool products;	  /* rounded before they are added */
	bool integers;	  /* every term, exactly */
} Sum;

/* By how many units of sum |term| the reference's own sums are off, at most. */
static double
most_off(const Sum *sum, const Tensor *y)
{
	const double *exact = sum->exact.data, *magnitudes = sum->magnitude.data;
	double most = 0;
	for (int64_t i = exact ? type_elements(&y->type) - 1 : -1; i >= 0; i--) {
		double units = fabs(tensor_double(y, i) - exact[i])
			/ (precisions[D_f32].unit * magnitudes[i]);
		if (isfinite(units) && units > most)
			most = units;
	}
	return most;
}

/* How many units of sum |term| the roundings of so many terms may add up to.  Samples and
   bounds are wider by a factor of 4, so that the random part is some 9 standard
   deviations of equal terms of one sign. */
static double
growth(double terms, double off, DType d)
{
	static const double random = 0.75, seen = 2;
	double grown = fmax(random * sqrt(terms), seen * off);
	return d == D_f32 && grown < terms ? grown : terms;
}

/* Frees the sum, which is all there if `ok`.  If its parts may travel, what they are
   replaces their squares. */
static bool
round_sum(const Module *m, Sum *sum, bool ok, const Inexact *result, Tensor *rounding)
{
	const Tensor *y = value_of(result);
	DType d = y->type.dtype;
	const Precision *p = &precisions[d], *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	const double *magnitudes = sum->magnitude.data, *counts = sum->terms.data;
	double *spread = sum->squares.data;
	double off = ok ? most_off(sum, y) : 0;
	ok = ok && tensor_like(y, rounding);
	for (int64_t i = type_elements(&y->type) - 1; ok && i >= 0; i--) {
		double magnitude = magnitudes[i], terms = counts[i] - !sum->products, error = 0;
		double parts = magnitude; /* the sum of the parts' magnitudes, about */
		if (spread)
			parts = fmin(parts, fmax(sqrt(spread[i]), fabs(tensor_double(y, i))));
		if (terms > 0 && !(sum->integers && magnitude <= wide->integers))
			error = growth(terms, off, d) * wide->unit * magnitude
				+ (sum->products && magnitude > 0 ? terms * wide->underflow
								  : 0);
		if (terms > 0 && p != wide && !(sum->integers && magnitude <= p->integers))
			error += p->unit * parts
				+ (p->underflow < p->normal
						? p->underflow * (double)m->mesh.ndevices
						: 0);
		/* beyond that, some order may overflow */
		((double *)rounding->data)[i] = magnitude <= p->greatest ? error : INFINITY;
		if (spread)
			spread[i] = parts;
	}
	if (ok)
		*spread_of(result) = sum->squares;
	else
		tensor_free(&sum->squares);
	tensor_free(&sum->magnitude);
	tensor_free(&sum->terms);
	tensor_free(&sum->exact);
	return ok;
}

/* Every element a whole number, exactly. */
static bool
is_whole(const Inexact *x)
{
	int64_t n = type_elements(&value_of(x)->type);
	if (!is_exact(x))
		return false;
	for (int64_t i = 0; i < n; i++) {
		double v = tensor_double(value_of(x), i);
		if (v != rint(v) || isinf(v))
			return false;
	}
	return true;
}

/* Of the parts of one operand, or of the other, with the whole of the other. */
static bool
dot_parts(const Module *m, const Op *op, const Inexact *x, Aspect parts, Aspect whole,
	const Inexact *result, Tensor *made)
{
	Tensor other = {0};
	if (!made_of(m, op, x, (Aspect[]){parts, whole, ASPECT_itself}, result, made))
		return false;
	if (!spread_of(&x[1])->data)
		return true;
	bool ok = made_of(m, op, x, (Aspect[]){whole, parts, ASPECT_itself}, result, &other);
	double *most = made->data, *more = other.data;
	for (int64_t i = type_elements(&made->type) - 1; ok && i >= 0; i--)
		most[i] = fmax(more[i], most[i]);
	tensor_free(&other);
	return ok;
}

static bool
exact_sum(const Module *m, const Op *op, const Inexact *x, const Inexact *result, Sum *sum)
{
	static const Aspect themselves[] = {ASPECT_itself, ASPECT_itself, ASPECT_itself};
	return value_of(result)->type.dtype != D_f32
		|| made_of(m, op, x, themselves, result, &sum->exact);
}

bool
round_dot(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	Sum s = {.products = true, .integers = is_whole(&x[0]) && is_whole(&x[1])};
	bool ok = dot_parts(m, op, x, ASPECT_spread, ASPECT_magnitude, result, &s.magnitude)
		&& (m->mesh.ndevices == 1
			|| dot_parts(m, op, x, ASPECT_parts, ASPECT_square, result, &s.squares))
		&& made_of(m, op, x, (Aspect[]){ASPECT_nonzero, ASPECT_nonzero, ASPECT_itself},
			result, &s.terms)
		&& exact_sum(m, op, x, result, &s);
	return round_sum(m, &s, ok, result, rounding);
}

/* Operands 0 and 2 are added up; 1 is what a sum begins with, or says where. */
static bool
round_added(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding, bool travels)
{
	bool two = op->noperands > 2;
	Sum s = {.integers = is_whole(&x[0]) && (!two || is_whole(&x[2]))};
	const Aspect magnitudes[] = {ASPECT_spread, ASPECT_itself, ASPECT_spread};
	const Aspect parts[] = {ASPECT_parts, ASPECT_itself, ASPECT_parts};
	const Aspect counts[] = {ASPECT_nonzero, ASPECT_itself, ASPECT_nonzero};
	bool ok = made_of(m, op, x, magnitudes, result, &s.magnitude)
		&& (!travels || m->mesh.ndevices == 1
			|| made_of(m, op, x, parts, result, &s.squares))
		&& made_of(m, op, x, counts, result, &s.terms)
		&& exact_sum(m, op, x, result, &s);
	return round_sum(m, &s, ok, result, rounding);
}

/* max, min, and, or don't round.  Parts of a product may overflow or vanish where the
   whole doesn't. */
bool
round_reduce(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	const Tensor *y = value_of(result);
	DType d = y->type.dtype;
	const Precision *p = &precisions[d], *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	int64_t c = op_int(op, A_combiner), n = type_elements(&y->type);
	if (c != C_mul)
		return c != C_add || round_added(m, op, x, result, rounding, true);
	double terms = (double)op_combined(op);
	double units = terms * wide->unit
		+ (p != wide ? p->unit * log2(2 * (double)m->mesh.ndevices) : 0);
	Tensor excess = {0}, deficit = {0};
	bool ok = tensor_like(y, rounding)
		&& made_of(m, op, x, (Aspect[]){ASPECT_excess, ASPECT_itself}, result, &excess)
		&& made_of(m, op, x, (Aspect[]){ASPECT_deficit, ASPECT_itself}, result,
			&deficit);
	double *r = rounding->data, *most = excess.data, *least = deficit.data;
	for (int64_t i = 0; ok && i < n; i++) {
		double v = fabs(tensor_double(y, i));
		if (!(most[i] <= p->greatest))
			r[i] = INFINITY;
		else if (terms > 1 && isfinite(v))
			r[i] = units * v + (least[i] < p->normal ? p->underflow * most[i] : 0);
	}
	tensor_free(&excess);
	tensor_free(&deficit);
	return ok;
}

bool
round_cumsum(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	return op_int(op, A_combiner) == C_add ? round_added(m, op, x, result, rounding, false)
					       : round_reduce(m, op, x, result, rounding);
}

bool
round_scatter_add(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	return round_added(m, op, x, result, rounding, true);
}

/* ---- what rounding adds, and where parts go ----------------------------- */

bool
round_none(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	(void)m, (void)op, (void)x, (void)result, (void)rounding;
	return true;
}

/* Spreads move as the values do; what is asked to be in parts is in such from then on. */
bool
round_move(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	bool parts = op->results[0]->placement.nunreduced && m->mesh.ndevices > 1;
	(void)rounding;
	for (int i = 0; i < op->noperands; i++)
		parts = parts || spread_of(&x[i])->data;
	return !parts || made_of(m, op, x, NULL, result, spread_of(result));
}

/* Along a dim that is read at a place not known, each device may have what is
   among its elements, and zeros: parts, to be added up later. */
bool
round_read(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	(void)rounding;
	return m->mesh.ndevices == 1 || made_of(m, op, x, NULL, result, spread_of(result));
}

bool
find_rounding(const Module *m, const Op *op, Rounding *by, const Inexact *x,
	const Inexact *result, Tensor *rounding)
{
	if (!dtype_is_float(value_of(result)->type.dtype))
		return true;
	if (!by(m, op, x, result, rounding))
		return false;
	const double *v = rounding->data;
	int64_t n = v ? type_elements(&rounding->type) : 0;
	for (int64_t i = 0; i < n; i++)
		if (v[i] != 0)
			return true;
	tensor_free(rounding);
	return true;
}
