/*
 * extern_activation.c - the activation of extern_activation.shd: swish, with a
 * steepness for each feature.
 */
#include <math.h>

#include "shdrt_extern.h"

int swish(const shdrt_view *x, const shdrt_view *steepness, const shdrt_view *result);

/* result[i, j] = x[i, j] / (1 + exp(-steepness[j] x[i, j])) */
int
swish(const shdrt_view *x, const shdrt_view *steepness, const shdrt_view *result)
{
	const float *in = x->data, *steep = steepness->data;
	float *out = result->data;

	if (x->dtype != SHDRT_f32 || x->rank != 2)
		return 1;
	for (int64_t i = 0; i < x->dims[0]; i++)
		for (int64_t j = 0; j < x->dims[1]; j++) {
			float v = in[i * x->strides[0] + j * x->strides[1]];
			float s = steep[j * steepness->strides[0]];
			out[i * result->strides[0] + j * result->strides[1]] =
				v / (1 + expf(-s * v));
		}
	return 0;
}
