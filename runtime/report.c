/*
 * report.c - what a program tells about itself and its results.  Once, not
 * once a device; the same run gives the same text, but for host times.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "internal.h"

enum { SHOWN = 6 }; /* values of a result */

static const char *
text_of(const char *text)
{
	return text ? text : "";
}

static void
print_dims(FILE *out, shdrt_dtype dtype, int rank, const int64_t *dims)
{
	fprintf(out, "%s[", shdrt_dtype_names[dtype]);
	for (int i = 0; i < rank; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", dims[i]);
	fputc(']', out);
}

static void
list_tensors(const char *title, int n, const shdrt_tensor *tensors, FILE *out)
{
	size_t name = 0, type = 0;
	for (int i = 0; i < n; i++) {
		size_t a = strlen(tensors[i].name);
		size_t b = strlen(tensors[i].type_text);
		name = a > name ? a : name;
		type = b > type ? b : type;
	}
	fprintf(out, "%s\n", title);
	for (int i = 0; i < n; i++) {
		const shdrt_tensor *t = &tensors[i];
		fprintf(out, "  %-*s  %-*s  ", (int)name, t->name, (int)type, t->type_text);
		print_dims(out, t->dtype, t->rank, t->local_dims);
		fprintf(out, " a device\n");
	}
}

static void
print_mesh(const shdrt_program *p, FILE *out)
{
	fprintf(out, "mesh [");
	for (int i = 0; i < p->naxes; i++)
		fprintf(out, "%s%s=%" PRId64, i ? ", " : "", p->axes[i].name, p->axes[i].size);
	fprintf(out, "] on %s, %" PRId64 " device%s\n", p->target, p->ndevices,
		p->ndevices == 1 ? "" : "s");
}

void
rt_report_list(const shdrt_program *p, FILE *out)
{
	print_mesh(p, out);
	list_tensors("parameters", p->nparams, p->params, out);
	list_tensors("results", p->nresults, p->results, out);
}

static bool
is_float(shdrt_dtype d)
{
	return d == SHDRT_f16 || d == SHDRT_bf16 || d == SHDRT_f32 || d == SHDRT_f64;
}

static void
print_value(FILE *out, shdrt_dtype dtype, const void *data, size_t i)
{
	double x = rt_element_double(dtype, data, i);
	if (dtype == SHDRT_pred)
		fputs(x != 0 ? "true" : "false", out);
	else if (dtype == SHDRT_i64)
		fprintf(out, "%" PRId64, ((const int64_t *)data)[i]);
	else if (is_float(dtype))
		fprintf(out, "%.6g", x == 0 ? 0 : x);
	else
		fprintf(out, "%.0f", x);
}

static void
print_sum(FILE *out, const shdrt_tensor *t, const void *data, size_t n)
{
	/* Exact: 2^63 elements of 64 bits fit. */
	__int128 integers = 0;
	double floats = 0;
	for (size_t i = 0; i < n; i++)
		if (t->dtype == SHDRT_i64)
			integers += ((const int64_t *)data)[i];
		else if (is_float(t->dtype))
			floats += rt_element_double(t->dtype, data, i);
		else
			integers += (int64_t)rt_element_double(t->dtype, data, i);
	if (is_float(t->dtype))
		fprintf(out, "%.8g", floats == 0 ? 0 : floats);
	else if (integers >= INT64_MIN && integers <= INT64_MAX)
		fprintf(out, "%" PRId64, (int64_t)integers);
	else
		fprintf(out, "%.17g", (double)integers);
}

void
rt_report_result(const shdrt_tensor *t, const void *data, FILE *out)
{
	size_t n = (size_t)rt_tensor_elements(t);
	fprintf(out, "%s  %s ", t->name, t->type_text);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		fputc(' ', out);
		print_value(out, t->dtype, data, i);
	}
	fprintf(out, "%s", n > SHOWN ? " ..." : "");
	if (n > 1) {
		fprintf(out, "  sum ");
		print_sum(out, t, data, n);
	}
	fputc('\n', out);
}

/* Two of which people would read the same. */
static bool
same_line(const shdrt_collective *a, const shdrt_collective *b)
{
	return a->line == b->line && a->kind == b->kind && a->wire_bytes == b->wire_bytes
		&& a->picoseconds == b->picoseconds
		&& !strcmp(text_of(a->file), text_of(b->file))
		&& !strcmp(text_of(a->axes), text_of(b->axes))
		&& !strcmp(text_of(a->label), text_of(b->label));
}

/* The device that received most, and how much. */
static int64_t
busiest_device(const Machine *m, int64_t *bytes)
{
	const shdrt_program *p = m->program;
	int64_t busiest = 0;
	*bytes = 0;
	for (int64_t id = 0; id < p->ndevices; id++) {
		int64_t sum = 0;
		for (int i = 0; i < p->ncollectives; i++)
			sum += m->devices[id].times[i] * p->collectives[i].wire_bytes;
		if (sum > *bytes) {
			*bytes = sum;
			busiest = id;
		}
	}
	return busiest;
}

/* A line for those that are told alike; their bytes add up to those of the device. */
static void
print_collectives(const shdrt_program *p, const int64_t *times, int64_t bytes, FILE *out)
{
	int64_t count = 0;
	double time = 0;
	fprintf(out, "%-18s  %-8s  %7s  %12s  %12s  %10s  %10s  %s\n", "collective", "over",
		"times", "bytes each", "bytes", "us each", "us", "for");
	for (int i = 0; i < p->ncollectives; i++) {
		const shdrt_collective *c = &p->collectives[i];
		int64_t n = 0;
		int first = 0;
		while (!same_line(c, &p->collectives[first]))
			first++;
		if (first < i)
			continue;
		for (int k = i; k < p->ncollectives; k++)
			n += same_line(c, &p->collectives[k]) ? times[k] : 0;
		double us = (double)c->picoseconds * 1e-6;
		fprintf(out,
			"%-18s  %-8s  %7" PRId64 "  %12" PRId64 "  %12" PRId64
			"  %10.3f  %10.3f  %s:%d%s%s\n",
			rt_collective_names[c->kind], text_of(c->axes), n, c->wire_bytes,
			n * c->wire_bytes, us, (double)n * us, c->file ? c->file : "?", c->line,
			*text_of(c->label) ? " " : "", text_of(c->label));
		count += n;
		time += (double)n * us;
	}
	fprintf(out, "%-18s  %-8s  %7" PRId64 "  %12s  %12" PRId64 "  %10s  %10.3f\n", "all",
		"", count, "", bytes, "", time);
}

void
rt_report_stats(const Machine *m, double seconds, FILE *out)
{
	const shdrt_program *p = m->program;
	int64_t bytes, busiest = busiest_device(m, &bytes);
	print_mesh(p, out);
	fprintf(out,
		"a device: %" PRId64 " bytes of memory, %" PRId64 " flops, %" PRId64
		" bytes received\n",
		p->slab_bytes, p->flops, bytes);
	if (!p->launch)
		fprintf(out, "memory touched: %" PRId64 " bytes of %" PRId64 "\n",
			rt_machine_touched(m), p->slab_bytes);
	if (!p->launch)
		fprintf(out, "time on %s: %.3f us (emulated)\n", p->target,
			(double)rt_machine_clock(m) * 1e-6);
	fprintf(out, "time here: %.3f us\n", seconds * 1e6);
	if (p->ncollectives)
		print_collectives(p, m->devices[busiest].times, bytes, out);
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void
rt_report_times(double *seconds, int n, FILE *out)
{
	qsort(seconds, (size_t)n, sizeof *seconds, by_size);
	double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
	fprintf(out, "%d run%s: min %.3f us, median %.3f us\n", n, n == 1 ? "" : "s",
		seconds[0] * 1e6, median * 1e6);
}

/* "[3, 0, 7]" of a linear index */
static void
print_index(const shdrt_tensor *t, int64_t linear, FILE *out)
{
	int64_t index[SHDRT_MAX_RANK];
	for (int i = t->rank; i-- > 0;) {
		index[i] = linear % t->dims[i];
		linear /= t->dims[i];
	}
	fputc('[', out);
	for (int i = 0; i < t->rank; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", index[i]);
	fputc(']', out);
}

void
rt_report_verdict(const shdrt_tensor *t, const shdrt_verdict *v, FILE *out)
{
	const char *plural = v->elements == 1 ? "" : "s";

	fprintf(out, "check %s: ", t->name);
	if (v->undecided == v->elements) {
		/* nothing was compared: that is not ok */
		fprintf(out,
			"undecided: all %" PRId64 " elements hang on how "
			"inexact values compare or round\n",
			v->elements);
		return;
	}
	if (v->mismatches) {
		fprintf(out, "WRONG in %" PRId64 " of %" PRId64 " elements; at ", v->mismatches,
			v->elements);
		print_index(t, v->worst, out);
		fprintf(out, " got %.9g, wanted %.9g", v->got, v->wanted);
		if (is_float(t->dtype))
			fprintf(out, " (error %.3g, bound %.3g)", v->error, v->bound);
	} else if (is_float(t->dtype)) {
		fprintf(out,
			"ok, %" PRId64 " element%s, largest error %.3g "
			"(bound %.3g)",
			v->elements, plural, v->error, v->bound);
	} else {
		fprintf(out, "ok, %" PRId64 " element%s, exact", v->elements, plural);
	}
	if (v->undecided)
		fprintf(out,
			"; %" PRId64 " undecided: they hang on how inexact "
			"values compare or round",
			v->undecided);
	fputc('\n', out);
}

void
rt_report_no_reference(void *out, const char *function)
{
	fprintf(out, "%s compared with itself: no reference\n", function);
}

void
rt_report_disagreement(const shdrt_tensor *t, const int64_t pair[2], FILE *out)
{
	fprintf(out,
		"check %s: WRONG on device %" PRId64 ": it should have "
		"what device %" PRId64 " has\n",
		t->name, pair[1], pair[0]);
}
