/*
 * extern.c - how far another execution of an extern function may be away.
 *
 * What is known of its accuracy: the same elements give the same results
 * within ULPS roundings, whatever the shape of the part they are in; and what
 * its rule sums over may be added in any order, so that with n terms a result
 * is off by n roundings of what the function makes of the magnitudes.
 */
#include "eval/check/check.h"

#include <math.h>
#include <stdlib.h>

enum { ULPS = 4 };

/* The terms that are added to one element. */
static double
summed_terms(const Op *op)
{
	double n = 1;
	const ExternRule *rule = &op->external->parsed;
	uint64_t seen = 0;
	for (int t = 0; t < op->noperands; t++)
		for (int d = 0; d < rule->terms[t].rank; d++) {
			int letter = rule->terms[t].dims[d].letters[0];
			if (!rule->terms[t].dims[d].n || seen >> letter & 1
				|| rule->kinds[letter] != EXTERN_reduction)
				continue;
			seen |= 1ull << letter;
			n *= (double)op->operands[t]->type.dims[d];
		}
	return n;
}

/*
 * A lane of all results: a sample, before rounding; or the spread, of a function that
 * sums: what it makes of the magnitudes of its operands.
 */
static bool
call_lane(const Op *op, const Inexact *x, int lane, const Inexact *results)
{
	Tensor *in = calloc((size_t)op->noperands, sizeof *in);
	Tensor *out = calloc((size_t)op->nresults, sizeof *out);
	int status = 1;
	bool ok = in && out, decides = false;
	for (int r = 0; ok && r < op->nresults; r++) {
		out[r] = *lane_of(&results[r], lane);
		decides = decides || !dtype_is_float(value_of(&results[r])->type.dtype);
	}
	for (int i = 0; ok && i < op->noperands; i++) {
		const Tensor *value = value_of(&x[i]);
		ok = lane == SPREAD ? view_lanes(&x[i], 1,
			     dtype_is_float(value->type.dtype) ? SPREAD : VALUE, &in[i])
				    : sample_operand(&x[i], value, lane - 1, decides, &in[i]);
	}
	ok = ok && extern_call(op, NULL, in, out, &status);
	for (int r = 0; ok && r < op->nresults; r++) {
		const Tensor *value = value_of(&results[r]);
		double *v = out[r].data;
		if (lane != SPREAD && status)
			copy_elements(value, &out[r]);
		for (int64_t i = type_elements(&value->type) - 1; lane == SPREAD && i >= 0;
			i--) {
			double own = fabs(tensor_double(value, i));
			v[i] = !status && fabs(v[i]) > own ? fabs(v[i]) : own;
		}
	}
	if (in)
		tensors_free(in, op->noperands);
	free(in);
	free(out);
	return ok;
}

/* Moves the samples by as much as rounding may. */
static bool
round_result(const Op *op, double terms, const Inexact *result)
{
	const Tensor *spread = spread_of(result), *value = value_of(result);
	DType d = value->type.dtype;
	double ulps = terms > 1 ? terms + ULPS : ULPS;
	Tensor rounding;
	if (!dtype_is_float(d))
		return true;
	if (!tensor_like(value, &rounding))
		return false;
	for (int64_t i = type_elements(&value->type) - 1; i >= 0; i--) {
		double size = fabs(tensor_double(spread->data ? spread : value, i));
		((double *)rounding.data)[i] =
			ulps * (precisions[d].unit * size + precisions[d].underflow);
	}
	for (int k = 0; k < SAMPLES; k++)
		perturb(op, k, d, &rounding, sample_of(result, k));
	tensor_free(&rounding);
	return true;
}

bool
sample_extern(const Op *op, const Inexact *x, const Inexact *results)
{
	double terms = summed_terms(op);
	bool ok = true;
	for (int r = 0; ok && r < op->nresults; r++)
		ok = (terms <= 1 || tensor_like(value_of(&results[r]), spread_of(&results[r])))
			&& new_samples(&results[r]);
	ok = ok && (terms <= 1 || call_lane(op, x, SPREAD, results));
	for (int k = 0; ok && k < SAMPLES; k++)
		ok = call_lane(op, x, 1 + k, results);
	for (int r = 0; ok && r < op->nresults; r++) {
		ok = round_result(op, terms, &results[r]);
		if (ok)
			drop_agreeing(&results[r]);
	}
	return ok;
}
