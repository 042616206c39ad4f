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
bool
view_lanes(const Inexact *x, int64_t n, int lane, Tensor *views)
{
	bool ok = true;
	for (int64_t i = 0; i < n; i++) {
		Tensor *view = &views[i];
		*view = (Tensor){.data = NULL};
		if (!ok || !x[i].lanes)
			continue;
		const Tensor *value = value_of(&x[i]), *own = lane_of(&x[i], lane);
		Type type = lane_type(&value->type, lane);
		bool same = type.dtype == value->type.dtype && lane != SPREAD;
		*view = tensor_lend(same && !own->data ? value : own);
		if (view->data)
			continue;
		ok = tensor_new(&type, view);
		double *d = view->data;
		for (int64_t k = type_elements(&type) - 1; ok && k >= 0; k--) {
			d[k] = tensor_double(value, k);
			d[k] = lane == SPREAD && d[k] < 0 ? -d[k] : d[k];
		}
	}
	return ok;
}

void
tensors_free(Tensor *t, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		tensor_free(&t[i]);
}
