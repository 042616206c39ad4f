/*
 * sums.c - what one op's rounding may add to its result: sums here, pointwise
 * ops in rounding.c.
 *
 * A sum of n terms, in any order, is off by at most n * u * sum |term|, u
 * being the rounding unit.  In f16 and bf16 each device rounds its part of a
 * sum, too, and each step of combining the parts: that is u of the narrow type
 * times the sum of the parts' magnitudes, which sum |term| bounds.
 *
 * Later linear ops may run on the parts, so the sum of their magnitudes stays
 * with the value as its `spread`.  For that, sum |term| is too much: through a
 * chain of products it would grow by the square root of their lengths each
 * time.  There are no more parts than devices, and the sum of p random parts is
 * near sqrt(p * sum term^2); where terms agree, it is the value itself.
 */
#include "eval/check/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- f64 pictures of an operand ----------------------------------------- */

/* What is infinite or NaN is no part of a magnitude: it makes a sum infinite
   or NaN in any order, while finite terms may overflow in some. */
typedef enum Aspect {
	ASPECT_magnitude,
	ASPECT_spread,
	ASPECT_one,
	ASPECT_nonzero, /* 1 unless zero */
	ASPECT_excess,
	ASPECT_deficit, /* magnitude, at least 1, at most 1 */
	ASPECT_square,
	ASPECT_parts, /* square of the spread, or of what it would be
				   if the mesh's devices had random parts */
} Aspect;

static double
aspect_of(const Module *m, Aspect aspect, double v, double spread)
{
	double magnitude = isfinite(v) ? fabs(v) : 0;
	double square = magnitude * magnitude;
	const double aspects[] = {
		[ASPECT_magnitude] = magnitude,
		[ASPECT_spread] = isfinite(v) ? fmax(spread, magnitude) : 0,
		[ASPECT_square] = square,
		[ASPECT_parts] = fmax(spread * spread, square * (double)m->mesh.ndevices),
		[ASPECT_one] = 1,
		[ASPECT_nonzero] = v != 0,
		[ASPECT_excess] = magnitude > 1 ? magnitude : 1,
		[ASPECT_deficit] = magnitude < 1 ? magnitude : 1,
	};
	return aspects[aspect];
}

static bool
picture(const Module *m, const Inexact *x, Aspect aspect, Tensor *result)
{
	int64_t n = type_elements(&value_of(x)->type);
	const double *spread = spread_of(x)->data;
	if (!tensor_like(value_of(x), result))
		return false;
	double *r = result->data;
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t count = chunk(n - i);
		load_doubles(value_of(x), i, count, r + i);
		for (int64_t k = i; k < i + count; k++)
			r[k] = aspect_of(m, aspect, r[k], spread ? spread[k] : 0);
	}
	return true;
}

/* ---- sums: how much rounding adds --------------------------------------- */

typedef struct Sum {
	Tensor magnitude; /* sum |term| */
	Tensor squares;	  /* sum term^2, of the parts; no data: they are
				   always added up before they are used */
	Tensor terms;	  /* how many are not zero */
	bool products;	  /* rounded before they are added */
	bool integers;	  /* every term, exactly */
} Sum;

static double
sum_rounding(const Module *m, const Sum *sum, int64_t i, double parts, DType d)
{
	const Precision *p = &precisions[d];
	const Precision *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	double magnitude = ((double *)sum->magnitude.data)[i];
	double terms = ((double *)sum->terms.data)[i] - !sum->products;
	double error = 0;
	if (!(magnitude <= p->greatest))
		return INFINITY; /* some order may overflow */
	if (terms <= 0)
		return 0;
	if (!(sum->integers && magnitude <= wide->integers))
		error = terms
			* (wide->unit * magnitude
				+ (sum->products && magnitude > 0 ? wide->underflow : 0));
	if (p != wide && !(sum->integers && magnitude <= p->integers))
		error += p->unit * parts
			+ (d == D_f16 ? p->underflow * (double)m->mesh.ndevices : 0);
	return error;
}

static void
sum_free(Sum *sum)
{
	tensor_free(&sum->magnitude);
	tensor_free(&sum->squares);
	tensor_free(&sum->terms);
}

/* If its parts may travel, what they are replaces their squares. */
static bool
round_sum(const Module *m, Sum *sum, const Inexact *result, Tensor *rounding)
{
	const Tensor *y = value_of(result);
	double *spread = sum->squares.data;
	if (!tensor_like(y, rounding))
		return false;
	for (int64_t i = type_elements(&y->type) - 1; i >= 0; i--) {
		/* the sum of the parts' magnitudes, about */
		double parts = ((double *)sum->magnitude.data)[i];
		if (spread)
			parts = fmin(parts, fmax(sqrt(spread[i]), fabs(tensor_double(y, i))));
		((double *)rounding->data)[i] = sum_rounding(m, sum, i, parts, y->type.dtype);
		if (spread)
			spread[i] = parts;
	}
	*spread_of(result) = sum->squares;
	sum->squares.data = NULL;
	return true;
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

static bool
dot_aspects(const Module *m, const Op *op, const Inexact *x, Aspect left, Aspect right,
	const Tensor *shape, Tensor *result)
{
	Tensor in[2] = {{.data = NULL}};
	bool ok = picture(m, &x[0], left, &in[0]) && picture(m, &x[1], right, &in[1])
		&& tensor_like(shape, result) && dot(op, in, result);
	tensor_free(&in[0]);
	tensor_free(&in[1]);
	return ok;
}

/* Of the parts of one operand, or of the other, with the whole of the other. */
static bool
dot_parts(const Module *m, const Op *op, const Inexact *x, Aspect parts, Aspect whole,
	const Tensor *shape, Tensor *result)
{
	Tensor other = {0};
	if (!dot_aspects(m, op, x, parts, whole, shape, result))
		return false;
	if (!spread_of(&x[1])->data)
		return true;
	bool ok = dot_aspects(m, op, x, whole, parts, shape, &other);
	double *most = result->data, *more = other.data;
	for (int64_t i = type_elements(&shape->type) - 1; ok && i >= 0; i--)
		most[i] = fmax(more[i], most[i]);
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
dot_terms(const Module *m, const Op *op, const Inexact *x, const Tensor *shape, Tensor *result)
{
	const Ints *contract = op_ints(op, A_lhs_contract);
	double terms = 1;
	if (is_exact(&x[0]) && is_exact(&x[1])
		&& (has_zero(value_of(&x[0])) || has_zero(value_of(&x[1]))))
		return dot_aspects(m, op, x, ASPECT_nonzero, ASPECT_nonzero, shape, result);
	for (int i = 0; i < contract->n; i++)
		terms *= (double)value_of(&x[0])->type.dims[contract->v[i]];
	if (!tensor_like(shape, result))
		return false;
	tensor_fill_payload(result, double_payload(terms));
	return true;
}

bool
round_dot(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	Sum s = {.products = true};
	const Tensor *shape = value_of(result);
	s.integers = is_whole(&x[0]) && is_whole(&x[1]);
	bool ok = dot_parts(m, op, x, ASPECT_spread, ASPECT_magnitude, shape, &s.magnitude)
		&& dot_terms(m, op, x, shape, &s.terms)
		&& (m->mesh.ndevices == 1
			|| dot_parts(m, op, x, ASPECT_parts, ASPECT_square, shape, &s.squares))
		&& round_sum(m, &s, result, rounding);
	sum_free(&s);
	return ok;
}

/* One aspect reduced, in f64. */
static bool
reduce_aspect(const Module *m, const Op *op, const Inexact *x, Aspect aspect, Combiner c,
	const Tensor *shape, Tensor *result)
{
	Type scalar = type_of(D_f64, 0, NULL);
	Tensor in = {0}, init = {0};
	bool ok = picture(m, x, aspect, &in) && tensor_new(&scalar, &init)
		&& tensor_like(shape, result);
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
round_add(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	Sum s = {.integers = is_whole(&x[0])};
	const Tensor *shape = value_of(result);
	bool ok = reduce_aspect(m, op, x, ASPECT_spread, C_add, shape, &s.magnitude)
		&& reduce_aspect(m, op, x, counted(x), C_add, shape, &s.terms)
		&& (m->mesh.ndevices == 1
			|| reduce_aspect(m, op, x, ASPECT_parts, C_add, shape, &s.squares))
		&& round_sum(m, &s, result, rounding);
	sum_free(&s);
	return ok;
}

/* Parts of a product may overflow or vanish where the whole doesn't. */
static double
product_rounding(double y, double terms, double excess, double deficit, int64_t ndevices,
	DType d)
{
	const Precision *p = &precisions[d];
	const Precision *wide = &precisions[d == D_f64 ? D_f64 : D_f32];
	double units = terms * wide->unit;
	if (!(excess <= p->greatest))
		return INFINITY;
	if (terms <= 1 || !isfinite(y))
		return 0;
	if (p != wide)
		units += p->unit * log2(2 * (double)ndevices);
	return units * fabs(y) + (deficit < p->normal ? p->underflow * excess : 0);
}

static bool
round_mul(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	static const Aspect aspects[] = {ASPECT_excess, ASPECT_deficit, ASPECT_one};
	Tensor t[3] = {{.data = NULL}};
	const Tensor *shape = value_of(result);
	bool ok = tensor_like(shape, rounding);
	for (int k = 0; ok && k < 3; k++)
		ok = reduce_aspect(m, op, x, aspects[k],
			aspects[k] == ASPECT_one ? C_add : C_mul, shape, &t[k]);
	for (int64_t i = type_elements(&shape->type) - 1; ok && i >= 0; i--)
		((double *)rounding->data)[i] = product_rounding(tensor_double(shape, i),
			((double *)t[2].data)[i], ((double *)t[0].data)[i],
			((double *)t[1].data)[i], m->mesh.ndevices, shape->type.dtype);
	for (int k = 0; k < 3; k++)
		tensor_free(&t[k]);
	return ok;
}

/* max, min, and, or don't round. */
bool
round_reduce(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	int64_t c = op_int(op, A_combiner);
	if (c == C_add)
		return round_add(m, op, x, result, rounding);
	return c != C_mul || round_mul(m, op, x, result, rounding);
}

static bool
cumsum_aspect(const Module *m, const Op *op, const Inexact *x, Aspect aspect, Tensor *result)
{
	Type scalar = type_of(D_f64, 0, NULL);
	Tensor in[2] = {{.data = NULL}};
	bool ok = picture(m, x, aspect, &in[0]) && tensor_new(&scalar, &in[1])
		&& tensor_like(value_of(x), result) && cumsum(op, in, result);
	tensor_free(&in[0]);
	tensor_free(&in[1]);
	return ok;
}

bool
round_cumsum(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	Sum s = {.integers = is_whole(&x[0])};
	bool ok = cumsum_aspect(m, op, x, ASPECT_spread, &s.magnitude)
		&& cumsum_aspect(m, op, x, counted(x), &s.terms)
		&& round_sum(m, &s, result, rounding);
	sum_free(&s);
	return ok;
}

/* The rows of two aspects, added to each other as the values are. */
static bool
scatter_aspect(const Module *m, const Op *op, const Inexact *x, Aspect base, Aspect added,
	Tensor *result)
{
	Tensor in[3] = {{.data = NULL}, *value_of(&x[1]), {.data = NULL}};
	bool ok = picture(m, &x[0], base, &in[0]) && picture(m, &x[2], added, &in[2])
		&& tensor_like(value_of(&x[0]), result) && scatter_add(op, in, result);
	tensor_free(&in[0]);
	tensor_free(&in[2]);
	return ok;
}

bool
round_scatter_add(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	Sum s = {.integers = is_whole(&x[0]) && is_whole(&x[2])};
	bool ok = scatter_aspect(m, op, x, ASPECT_spread, ASPECT_spread, &s.magnitude)
		&& scatter_aspect(m, op, x, counted(&x[0]), counted(&x[2]), &s.terms)
		&& (m->mesh.ndevices == 1
			|| scatter_aspect(m, op, x, ASPECT_parts, ASPECT_parts, &s.squares))
		&& round_sum(m, &s, result, rounding);
	sum_free(&s);
	return ok;
}

/* ---- what rounding adds, and where parts go ----------------------------- */

/* The spreads of the operands of data movement, moved too, by indices as they
   are. */
static bool
move_spread(const Module *m, const Op *op, const Inexact *x, const Inexact *result)
{
	size_t n = (size_t)op->noperands;
	Tensor *in = calloc(n, sizeof *in);
	bool ok = in && tensor_like(value_of(result), spread_of(result));
	for (size_t i = 0; ok && i < n; i++) {
		if (dtype_is_float(value_of(&x[i])->type.dtype))
			ok = picture(m, &x[i], ASPECT_spread, &in[i]);
		else
			in[i] = tensor_lend(value_of(&x[i]));
	}
	ok = ok && op_kernel(op->kind)(op, in, spread_of(result));
	if (in)
		tensors_free(in, op->noperands);
	free(in);
	return ok;
}

bool
round_none(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	(void)m, (void)op, (void)x, (void)result, (void)rounding;
	return true;
}

bool
round_move(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	bool parts = false;
	(void)rounding;
	for (int i = 0; i < op->noperands; i++)
		parts = parts || spread_of(&x[i])->data;
	return !parts || move_spread(m, op, x, result);
}

/* Along a dim that is read at a place not known, each device may have what is
   among its elements, and zeros: parts, to be added up later. */
bool
round_read(const Module *m, const Op *op, const Inexact *x, const Inexact *result,
	Tensor *rounding)
{
	(void)rounding;
	return m->mesh.ndevices == 1 || move_spread(m, op, x, result);
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
