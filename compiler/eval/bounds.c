/*
 * bounds.c - how far a correct execution may be from the interpreter's: sums,
 * data movement, and the table of who bounds what.
 *
 * A sum of n terms, in any order, is off by at most n * u * sum |term|, u
 * being the rounding unit; twice that is between two executions.  In f16 and
 * bf16, which add up in f32, each device rounds its part of the sum and each
 * step of combining the parts rounds again: u of the narrow type times the
 * sum of the parts' magnitudes, which sum |term| bounds.  That quantity stays
 * with the value as its `spread`, since later linear ops may run on the parts.
 */
#include "eval/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
inexact_free(Inexact *x)
{
	tensor_free(&x->value);
	tensor_free(&x->error);
	tensor_free(&x->spread);
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
	return tensor_copy(&x->value, &copy->value) &&
		tensor_copy(&x->error, &copy->error) &&
		tensor_copy(&x->spread, &copy->spread);
}

bool
tensor_like(const Tensor *t, Tensor *result)
{
	Type type = t->type;
	type.dtype = D_f64;
	return tensor_new(&type, result);
}

/* ---- f64 pictures of an operand ----------------------------------------- */

typedef enum Aspect {
	ASPECT_value, ASPECT_magnitude, ASPECT_error, ASPECT_spread,
	ASPECT_reach,		/* magnitude + error */
	ASPECT_nonzero,		/* 1 unless certainly zero */
	ASPECT_high, ASPECT_low, /* value +- error; of pred within 0..1 */
	ASPECT_excess, ASPECT_deficit, /* reach at least 1, at most 1 */
} Aspect;

static double
aspect_of(Aspect aspect, const Type *t, double v, double error, double spread)
{
	double high = isinf(error) ? error : v + error;
	double low = isinf(error) ? -error : v - error;
	double reach = fabs(v) + error;
	if (t->dtype == D_pred) {
		high = high > 1 ? 1 : high;
		low = low < 0 ? 0 : low;
	}
	const double aspects[] = {
		[ASPECT_value] = v,
		[ASPECT_magnitude] = fabs(v),
		[ASPECT_error] = error,
		[ASPECT_spread] = spread,
		[ASPECT_reach] = reach,
		[ASPECT_nonzero] = v != 0 || error > 0,
		[ASPECT_high] = high,
		[ASPECT_low] = low,
		[ASPECT_excess] = reach > 1 ? reach : 1,
		[ASPECT_deficit] = reach < 1 ? reach : 1,
	};
	return aspects[aspect];
}

static bool
picture(const Inexact *x, Aspect aspect, Tensor *result)
{
	int64_t n = type_elements(&x->value.type);
	const double *error = x->error.data, *spread = x->spread.data;
	if (!tensor_like(&x->value, result))
		return false;
	double *r = result->data;
	Chunk in, v;
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t count = n - i < CHUNK ? n - i : CHUNK;
		convert_wide(x->value.type.dtype,
			view_wide(&x->value, i, count, &in), D_f64, &v, count);
		for (int64_t k = 0; k < count; k++)
			r[i + k] = aspect_of(aspect, &x->value.type, v.d[k],
				error ? error[i + k] : 0,
				spread ? spread[i + k] : fabs(v.d[k]));
	}
	return true;
}

static bool
any_error(const Op *op, const Inexact *operands)
{
	for (int i = 0; i < op->noperands; i++)
		if (operands[i].error.data)
			return true;
	return false;
}

/* ---- movement ----------------------------------------------------------- */

/* The op on one aspect of its operands. */
static bool
move_aspect(const Op *op, const Inexact *operands, Aspect aspect,
	const Tensor *shape, Tensor *result)
{
	size_t n = (size_t)op->noperands;
	Tensor *in = calloc(n, sizeof *in);
	bool ok = in && tensor_like(shape, result);
	for (size_t i = 0; ok && i < n; i++)
		ok = picture(&operands[i], aspect, &in[i]);
	ok = ok && op_kernel(op->kind)(NULL, op, in, result);
	for (size_t i = 0; in && i < n; i++)
		tensor_free(&in[i]);
	free(in);
	return ok;
}

static bool
bound_move(const Module *m, const Op *op, const Inexact *operands,
	Inexact *result)
{
	bool parts = false;
	(void)m;
	for (int i = 0; i < op->noperands; i++)
		parts = parts || operands[i].spread.data;
	if (any_error(op, operands) && !move_aspect(op, operands, ASPECT_error,
	    &result->value, &result->error))
		return false;
	return ops[op->kind].partial != PARTIAL_move || !parts ||
		move_aspect(op, operands, ASPECT_spread, &result->value,
			&result->spread);
}

static bool
bound_leaf(const Module *m, const Op *op, const Inexact *operands,
	Inexact *result)
{
	(void)m, (void)op, (void)operands, (void)result;
	return true;
}

/* Where the index is uncertain, so is what was taken, without limit. */
static bool
bound_take(const Module *m, const Op *op, const Inexact *operands,
	Inexact *result)
{
	const double *index_error = operands[1].error.data;
	Tensor in[2] = {{.data = NULL}, operands[1].value};
	(void)m;
	if (!any_error(op, operands))
		return true;
	bool ok = picture(&operands[0], ASPECT_error, &in[0]) &&
		tensor_like(&result->value, &result->error) &&
		take(NULL, op, in, &result->error);
	tensor_free(&in[0]);
	if (!ok || !index_error)
		return ok;
	int64_t inner = 1, n = type_elements(&result->value.type);
	int64_t indices = type_elements(&operands[1].value.type);
	const Type *x = &operands[0].value.type;
	for (int64_t d = op_int(op, A_dim) + 1; d < x->rank; d++)
		inner *= x->dims[d];
	for (int64_t i = 0; i < n; i++)
		if (index_error[i / inner % indices] > 0)
			((double *)result->error.data)[i] = INFINITY;
	return true;
}

/* ---- sums --------------------------------------------------------------- */

/* Roundings to the result's dtype: at the end of each device's part, and of
   each step that combines parts. */
static int
stages(const Module *m)
{
	int n = 1;
	for (int64_t devices = m->mesh.ndevices; devices > 1; devices /= 2)
		n++;
	return m->mesh.ndevices > 1 ? n + 1 : n;
}

/* What is known about a sum, per element of the result. */
typedef struct Sum {
	Tensor magnitude;	/* sum |term| */
	Tensor error;		/* from the operands; no data: none */
	Tensor terms;		/* how many are not zero */
	bool products;		/* rounded before they are added */
	bool integers;		/* every term, exactly */
} Sum;

static double
sum_error(const Module *m, const Sum *s, int64_t i, double y, DType d)
{
	const Precision *p = &precisions[d];
	DType wide = d == D_f64 ? D_f64 : D_f32;
	double magnitude = ((double *)s->magnitude.data)[i];
	double terms = ((double *)s->terms.data)[i] - !s->products;
	double error = s->error.data ? ((double *)s->error.data)[i] : 0;
	if (!dtype_is_float(d))
		return error > 0 && !(magnitude + error <= p->greatest) ?
			INFINITY : error;
	if (!isfinite(y) && !s->error.data && !isfinite(magnitude))
		return 0;	/* an exact infinity or NaN among the terms */
	if (!(magnitude + error <= p->greatest))
		return INFINITY;	/* some order may overflow */
	if (terms <= 0)
		return error;
	if (!(s->integers && magnitude <= precisions[wide].integers))
		error += 2 * terms * precisions[wide].unit * magnitude
			+ (s->products && magnitude > 0 ?
			2 * terms * precisions[wide].underflow : 0);
	if (d != wide && !(s->integers && magnitude <= p->integers))
		error += 2 * stages(m) * (p->unit * magnitude + (d == D_f16 ?
			p->underflow * (double)m->mesh.ndevices : 0));
	return error;
}

static void
sum_free(Sum *s)
{
	tensor_free(&s->magnitude);
	tensor_free(&s->error);
	tensor_free(&s->terms);
}

/* Fills error and, if its parts may travel, spread of the result. */
static bool
bound_sum(const Module *m, Sum *s, bool parts, Inexact *result)
{
	DType d = result->value.type.dtype;
	int64_t n = type_elements(&result->value.type);
	if (!tensor_like(&result->value, &result->error))
		return false;
	for (int64_t i = 0; i < n; i++)
		((double *)result->error.data)[i] = sum_error(m, s, i,
			tensor_double(&result->value, i), d);
	if (parts && m->mesh.ndevices > 1 && dtype_is_float(d)) {
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
	if (x->error.data)
		return false;
	for (int64_t i = 0; i < n; i++) {
		double v = tensor_double(&x->value, i);
		if (v != rint(v) || isinf(v))
			return false;
	}
	return true;
}

/* dot of one aspect of each operand, in f64; added to `result` if it is there. */
static bool
dot_aspects(const Op *op, const Inexact *x, Aspect left, Aspect right,
	const Tensor *shape, Tensor *result)
{
	Tensor in[2] = {{.data = NULL}}, product = {.data = NULL};
	bool ok = picture(&x[0], left, &in[0]) && picture(&x[1], right, &in[1])
		&& tensor_like(shape, &product) && dot(NULL, op, in, &product);
	tensor_free(&in[0]);
	tensor_free(&in[1]);
	if (!ok || !result->data) {
		*result = product;
		return ok;
	}
	double *sum = result->data, *more = product.data;
	for (int64_t i = type_elements(&product.type) - 1; i >= 0; i--)
		sum[i] += more[i];
	tensor_free(&product);
	return true;
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
	if (has_zero(&x[0].value) || has_zero(&x[1].value))
		return dot_aspects(op, x, ASPECT_nonzero, ASPECT_nonzero, shape,
			result);
	for (int i = 0; i < contract->n; i++)
		terms *= (double)x[0].value.type.dims[contract->v[i]];
	if (!tensor_like(shape, result))
		return false;
	tensor_fill_payload(result, double_payload(terms));
	return true;
}

/* |ab - a'b'| <= |a| eb + ea |b| + ea eb */
static bool
bound_dot(const Module *m, const Op *op, const Inexact *x, Inexact *result)
{
	Sum s = {.products = true};
	const Tensor *shape = &result->value;
	bool ok = true;
	if (!dtype_is_float(shape->type.dtype) && !any_error(op, x))
		return true;
	s.integers = is_whole(&x[0]) && is_whole(&x[1]);
	if (x[1].error.data)
		ok = dot_aspects(op, x, ASPECT_reach, ASPECT_error, shape,
			&s.error);
	if (ok && x[0].error.data)
		ok = dot_aspects(op, x, ASPECT_error, ASPECT_magnitude, shape,
			&s.error);
	ok = ok && dot_magnitude(op, x, shape, &s.magnitude) &&
		dot_terms(op, x, shape, &s.terms) &&
		bound_sum(m, &s, true, result);
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

static bool
bound_reduce_add(const Module *m, const Op *op, const Inexact *x,
	Inexact *result)
{
	Sum s = {.integers = is_whole(&x[0])};
	const Tensor *shape = &result->value;
	bool ok = true;
	if (x[0].error.data)
		ok = reduce_aspect(op, x, ASPECT_error, C_add, shape, &s.error);
	ok = ok && reduce_aspect(op, x, ASPECT_spread, C_add, shape,
		&s.magnitude) && reduce_aspect(op, x, ASPECT_nonzero, C_add,
		shape, &s.terms) && bound_sum(m, &s, true, result);
	sum_free(&s);
	return ok;
}

/* Between the results of the highest operands and of the lowest. */
static double
order_error(double y, double high, double low, DType d)
{
	double up = high - y, down = y - low;
	double error = up > down ? up : down;
	if ((y == high && y == low) || (y != y && high != high && low != low))
		return 0;
	if (d == D_pred || up != up || down != down)
		return INFINITY;
	return error;
}

/* max, min, and, or */
static bool
bound_reduce_order(const Op *op, const Inexact *x, Combiner c,
	Inexact *result)
{
	Tensor high = {0}, low = {0};
	const Tensor *shape = &result->value;
	Combiner order = c == C_max || c == C_or ? C_max : C_min;
	bool ok = reduce_aspect(op, x, ASPECT_high, order, shape, &high) &&
		reduce_aspect(op, x, ASPECT_low, order, shape, &low) &&
		tensor_like(shape, &result->error);
	double *error = result->error.data;
	for (int64_t i = type_elements(&shape->type) - 1; ok && i >= 0; i--)
		error[i] = order_error(tensor_double(shape, i),
			((double *)high.data)[i], ((double *)low.data)[i],
			shape->type.dtype);
	tensor_free(&high);
	tensor_free(&low);
	return ok;
}

/* |prod (x + e) - prod x| <= prod (|x| + e) - prod |x|, and a rounding for
   each factor. */
static double
product_error(double reach, double magnitude, double excess, double deficit,
	double terms, DType d, int rounds)
{
	const Precision *p = &precisions[d];
	DType wide = d == D_f64 ? D_f64 : D_f32;
	double units = terms * precisions[wide].unit +
		(d == wide ? 0 : rounds * p->unit);
	/* Parts of the product may overflow or vanish where it doesn't. */
	if (!(excess <= p->greatest))
		return INFINITY;
	double error = reach - magnitude + 2 * units * reach;
	return deficit < p->normal ? error + 2 * p->underflow * excess : error;
}

static bool
bound_reduce_mul(const Module *m, const Op *op, const Inexact *x,
	Inexact *result)
{
	static const Aspect aspects[] = {ASPECT_reach, ASPECT_magnitude,
		ASPECT_excess, ASPECT_deficit, ASPECT_nonzero};
	Tensor t[5] = {{.data = NULL}};
	DType d = result->value.type.dtype;
	bool ok = tensor_like(&result->value, &result->error);
	for (int k = 0; ok && k < 5; k++)
		ok = reduce_aspect(op, x, aspects[k],
			aspects[k] == ASPECT_nonzero ? C_add : C_mul,
			&result->value, &t[k]);
	int64_t n = type_elements(&result->value.type);
	for (int64_t i = 0; ok && i < n; i++) {
		double v[5], error;
		for (int k = 0; k < 5; k++)
			v[k] = ((double *)t[k].data)[i];
		error = product_error(v[0], v[1], v[2], v[3], v[4], d,
			stages(m));
		if (!dtype_is_float(d) && error > 0)
			error = v[0] <= precisions[d].greatest ? error :
				INFINITY;
		((double *)result->error.data)[i] = error == error ? error :
			INFINITY;
	}
	for (int k = 0; k < 5; k++)
		tensor_free(&t[k]);
	return ok;
}

static bool
bound_reduce(const Module *m, const Op *op, const Inexact *x, Inexact *result)
{
	Combiner c = (Combiner)op_int(op, A_combiner);
	bool ordering = c != C_add && c != C_mul;
	if (!any_error(op, x) &&
	    (ordering || !dtype_is_float(result->value.type.dtype)))
		return true;
	if (ordering)
		return bound_reduce_order(op, x, c, result);
	return c == C_add ? bound_reduce_add(m, op, x, result) :
		bound_reduce_mul(m, op, x, result);
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
bound_cumsum(const Module *m, const Op *op, const Inexact *x, Inexact *result)
{
	Sum s = {.integers = is_whole(&x[0])};
	bool ok = true;
	if (!dtype_is_float(result->value.type.dtype) && !any_error(op, x))
		return true;
	if (x[0].error.data)
		ok = cumsum_aspect(op, x, ASPECT_error, &s.error);
	ok = ok && cumsum_aspect(op, x, ASPECT_magnitude, &s.magnitude) &&
		cumsum_aspect(op, x, ASPECT_nonzero, &s.terms) &&
		bound_sum(m, &s, false, result);
	sum_free(&s);
	return ok;
}

/* ---- the table ---------------------------------------------------------- */

typedef bool Bound(const Module *m, const Op *op, const Inexact *operands,
	Inexact *result);

/* Ops without a row are pointwise. */
static Bound *const special[OP_COUNT] = {
	[O_constant] = bound_leaf,
	[O_iota] = bound_leaf,
	[O_broadcast] = bound_move,
	[O_reshape] = bound_move,
	[O_transpose] = bound_move,
	[O_slice] = bound_move,
	[O_concatenate] = bound_move,
	[O_pad] = bound_move,
	[O_reverse] = bound_move,
	[O_constraint] = bound_move,
	[O_reshard] = bound_move,
	[O_barrier] = bound_move,
	[O_shard_like] = bound_move,
	[O_output] = bound_move,
	[O_dot] = bound_dot,
	[O_reduce] = bound_reduce,
	[O_cumsum] = bound_cumsum,
	[O_take] = bound_take,
};

/* An array of zeros is no array: the value is exact. */
static void
drop_zeros(Inexact *x)
{
	const double *error = x->error.data;
	if (!error)
		return;
	for (int64_t i = type_elements(&x->value.type) - 1; i >= 0; i--)
		if (error[i] != 0)
			return;
	tensor_free(&x->error);
}

bool
bound(const Module *m, const Op *op, const Inexact *operands, Inexact *result)
{
	Bound *f = special[op->kind] ? special[op->kind] : bound_pointwise;
	bool ok = f(m, op, operands, result);
	if (ok)
		drop_zeros(result);
	return ok;
}

/* ---- comparing ---------------------------------------------------------- */

static double
difference(const Tensor *a, const Tensor *b, int64_t i)
{
	double x = tensor_double(a, i), y = tensor_double(b, i);
	if (x == y || (x != x && y != y))
		return dtype_is_float(a->type.dtype) ? 0 :
			tensor_integer(a, i) != tensor_integer(b, i);
	double distance = fabs(x - y);
	return distance == distance ? distance : INFINITY;
}

/* An integer that may differ at all does so by a decision; a float's finite
   bound covers what decisions do to it. */
static bool
is_undecided(DType d, double distance, double bound_here)
{
	return distance > 0 && distance <= bound_here &&
		(isinf(bound_here) || !dtype_is_float(d));
}

static double
ratio(double error, double bound_here)
{
	return error == 0 ? 0 : error / bound_here;
}

static void
compare_element(Comparison *c, const Tensor *expected, double bound_here,
	const Tensor *actual, int64_t i)
{
	double distance = difference(expected, actual, i);
	if (is_undecided(expected->type.dtype, distance, bound_here)) {
		c->undecided++;
		return;
	}
	c->mismatches += distance > bound_here;
	if (i && ratio(distance, bound_here) <= ratio(c->error, c->bound))
		return;
	c->worst = i;
	c->got = tensor_double(actual, i);
	c->wanted = tensor_double(expected, i);
	c->error = distance;
	c->bound = bound_here;
}

Comparison
tensor_compare(const Tensor *expected, const double *bounds,
	const Tensor *actual)
{
	Comparison c = {.elements = type_elements(&expected->type)};
	for (int64_t i = 0; i < c.elements; i++)
		compare_element(&c, expected, bounds ? bounds[i] : 0, actual,
			i);
	return c;
}
