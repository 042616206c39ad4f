/*
 * lanes.c - a value, its samples and its spread, one lane each.
 */
#include "eval/kernels.h"

#include <math.h>

Type
lane_type(const Type *value, int lane)
{
	Type type = *value;
	if (lane == SPREAD || (lane != VALUE && dtype_is_float(value->dtype)))
		type.dtype = D_f64;
	return type;
}

bool
any_lane(const Inexact *x, int64_t n, int lane)
{
	for (int64_t i = 0; i < n; i++)
		if (x[i].lanes && lane_of(&x[i], lane)->data)
			return true;
	return false;
}

/* What a value has, or has without saying so: samples as it is, a spread of its
   magnitude. */
static bool
view_lane(const Inexact *x, int lane, Tensor *view)
{
	const Tensor *value = value_of(x);
	Type type = lane_type(&value->type, lane);
	bool same = type.dtype == value->type.dtype && lane != SPREAD;
	*view = tensor_lend(same && !lane_of(x, lane)->data ? value : lane_of(x, lane));
	if (view->data)
		return true;
	if (!tensor_new(&type, view))
		return false;
	double *d = view->data;
	for (int64_t i = type_elements(&type) - 1; i >= 0; i--) {
		d[i] = tensor_double(value, i);
		d[i] = lane == SPREAD && d[i] < 0 ? -d[i] : d[i];
	}
	return true;
}

bool
view_lanes(const Inexact *x, int64_t n, int lane, Tensor *views)
{
	bool ok = true;
	for (int64_t i = 0; i < n; i++) {
		views[i] = (Tensor){.data = NULL};
		ok = ok && (!x[i].lanes || view_lane(&x[i], lane, &views[i]));
	}
	return ok;
}

void
tensors_free(Tensor *t, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		tensor_free(&t[i]);
}
