/*
 * bounds.c - from samples to bounds: how far the samples of a result lie apart.
 *
 * FACTOR times that is the bound.
 */
#include "eval/check/check.h"
#include "eval/machine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { FACTOR = 2 };

static double
deviation(const Inexact *x, int64_t i)
{
	double v = tensor_double(value_of(x), i), most = 0;
	for (int k = 0; k < SAMPLES; k++) {
		double s = tensor_double(sample_of(x, k), i);
		double away = s == v || (s != s && v != v) ? 0 : fabs(s - v);
		if (!(away <= most))
			most = away == away ? away : INFINITY;
	}
	if (most > 0 && !dtype_is_float(value_of(x)->type.dtype))
		return INFINITY;
	return most;
}

/* What is not exact may be rounded to either side, if by a hair: half a unit in the last
   place of v.  Samples of f64 are no finer than the element itself: what moves them may be
   lost in all of them.  So a few units count, of the element or of its neighbours, which it
   may be what is left of. */
static double
least_deviation(DType d, double v, double neighbours)
{
	const Precision *p = &precisions[d];

	if (d == D_f64)
		return 4 * DBL_EPSILON * (isfinite(v) ? fmax(v, neighbours) : neighbours);
	if (!isfinite(v))
		return 0;
	return v > 2 * p->normal ? p->unit * v : p->underflow;
}

/* That all samples of an element lie close by may be chance: its neighbours'
   deviations count too, unless it is exact. */
static void
widen_row(const Inexact *x, int64_t first, double *bounds, int64_t n)
{
	DType d = value_of(x)->type.dtype;
	double sum = 0, neighbours = 0;
	int64_t finite = 0;
	for (int64_t i = 0; i < n; i++) {
		double v = fabs(tensor_double(value_of(x), first + i));
		neighbours += isfinite(v) ? v / (double)n : 0;
		sum += isfinite(bounds[i]) ? bounds[i] : 0;
		finite += isfinite(bounds[i]) != 0;
	}
	double least = finite ? sum / (double)finite / 2 : 0;
	for (int64_t i = 0; i < n; i++) {
		double v = fabs(tensor_double(value_of(x), first + i));
		if (bounds[i] > 0 && bounds[i] < least)
			bounds[i] = least;
		if (dtype_is_float(d) && (bounds[i] > 0 || d == D_f64))
			bounds[i] = fmax(bounds[i], least_deviation(d, v, neighbours));
		bounds[i] *= FACTOR;
	}
}

bool
eval_global_bounds(Module *m, const Tensor *inputs, Tensor *outputs, double **bounds,
	BrokenVouch *broken)
{
	static const Sampler sampler = {sample_op, sample_group, sample_anything};
	Tensor *in = (Tensor *)inputs; /* read only */
	Tensor *results;
	bool ok = true;
	if (!machine_execute(m, 1, &sampler, &in, &results, NULL, broken))
		return false;
	for (int i = 0; i < m->entry->last->noperands; i++) {
		Inexact x = {.lanes = &results[i * LANES], .stride = 1};
		const Type *t = &value_of(&x)->type;
		int64_t n = type_elements(t), row = t->rank ? t->dims[t->rank - 1] : 1;
		double *b = is_exact(&x) ? NULL : calloc((size_t)n + !n, sizeof *b);
		ok = ok && (b || is_exact(&x));
		for (int64_t e = 0; b && e < n; e++)
			b[e] = deviation(&x, e);
		for (int64_t e = 0; b && e < n; e += row)
			widen_row(&x, e, b + e, row);
		bounds[i] = b; /* NULL: exact */
		outputs[i] = *value_of(&x);
		tensors_free(x.lanes + 1, LANES - 1);
	}
	free(results);
	return ok;
}
