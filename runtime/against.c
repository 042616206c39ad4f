/*
 * against.c - --against: results beside those that something else computed, JAX for one.
 *
 * Of floats the largest difference counts, over the largest magnitude of the result that
 * the file has; what is NaN or infinite there has to be so here.  Integers are the same.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

struct Against {
	Source *wanted; /* of each result */
};

/* What rounding in another order may come to: about one unit in the last place of narrow
   floats, or what the compiler knows of its making; 0: nothing. */
static double
bound_of(const shdrt_tensor *t)
{
	static const double narrow[] = {[1] = 0.25, [2] = 1e-2};
	int bytes = shdrt_dtype_bytes[t->dtype];

	return !rt_is_float(t->dtype) ? 0 : bytes < 4 ? narrow[bytes] : fmax(1e-5, t->within);
}

Against *
rt_against_open(const Settings *s)
{
	const shdrt_program *p = s->program;
	FileOfMany many = {.path = s->against, .what = "result"};
	char why[WHY];
	if (!s->against)
		return NULL;
	Against *a = rt_get_memory(1, sizeof *a);
	a->wanted = rt_get_zeroed((size_t)p->nresults, sizeof *a->wanted);
	for (int i = 0; i < p->nresults; i++) {
		Source *from = &a->wanted[i];
		from->kind = FROM_file;
		if (!rt_tensor_file_find(&from->file, &many, &p->results[i], true, why))
			rt_fail(SHDRT_IO, "%s: holds no result '%s': %s", s->against,
				p->results[i].name, why);
	}
	rt_file_of_many_close(&many);
	return a;
}

/* Of a whole result. */
typedef struct Distance {
	int64_t elements, differing; /* integers, or what is not finite in both */
	double largest, magnitude;
} Distance;

static Distance
distance_of(const shdrt_tensor *t, const void *got, const void *wanted)
{
	Distance d = {.elements = rt_tensor_elements(t)};
	size_t bytes = shdrt_dtype_bytes[t->dtype];
	for (int64_t i = 0; i < d.elements; i++) {
		size_t at = (size_t)i * bytes;
		if (!rt_is_float(t->dtype)) {
			d.differing +=
				memcmp((const char *)got + at, (const char *)wanted + at, bytes)
				!= 0;
			continue;
		}
		double x = rt_element_double(t->dtype, got, (size_t)i);
		double y = rt_element_double(t->dtype, wanted, (size_t)i);
		if (!isfinite(x) || !isfinite(y)) {
			d.differing += x != y && !(isnan(x) && isnan(y));
			continue;
		}
		d.largest = fmax(d.largest, fabs(x - y));
		d.magnitude = fmax(d.magnitude, fabs(y));
	}
	return d;
}

/* "against y: ok, 64 elements, largest difference 3e-08, 2.5e-08 of 1.2 (within 1e-05)" */
static bool
differs(const Settings *s, const shdrt_tensor *t, const void *got, const void *wanted)
{
	Distance d = distance_of(t, got, wanted);
	double bound = bound_of(t);
	bool exact = bound == 0;
	if (!exact && s->within > 0)
		bound = s->within;
	bool wrong = d.differing || d.largest > bound * d.magnitude;
	fprintf(s->reports, "against %s: %s, %" PRId64 " element%s", t->name,
		wrong ? "WRONG" : "ok", d.elements, d.elements == 1 ? "" : "s");
	if (d.differing)
		fprintf(s->reports, ", %" PRId64 " %s", d.differing,
			exact ? "differ" : "are finite in one of them only");
	else if (exact)
		fprintf(s->reports, ", exact");
	if (!exact)
		fprintf(s->reports, ", largest difference %.3g, %.3g of %.3g (within %.3g)",
			d.largest, d.largest > 0 ? d.largest / d.magnitude : 0, d.magnitude,
			bound);
	fputc('\n', s->reports);
	return wrong;
}

bool
rt_against_differs(Against *a, const Settings *s, const void *const *results)
{
	const shdrt_program *p = s->program;
	bool any = false;
	for (int i = 0; i < p->nresults; i++) {
		const shdrt_tensor *t = &p->results[i];
		void *wanted = rt_get_memory(1, rt_tensor_bytes(t));
		rt_tensor_fill_whole(t, &a->wanted[i], wanted);
		any |= differs(s, t, results[i], wanted);
		free(wanted);
		rt_tensor_file_close(&a->wanted[i].file);
	}
	free(a->wanted);
	free(a);
	return any;
}
