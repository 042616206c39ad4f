/*
 * report.c - what a program tells about itself and its results.  Once, not
 * once a device; the same run gives the same text, but for host times.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { SHOWN = 6 }; /* values of a result */

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

void
rt_report_value(FILE *out, shdrt_dtype dtype, const void *data, size_t i, int digits)
{
	double x = rt_element_double(dtype, data, i);
	if (dtype == SHDRT_pred)
		fputs(x != 0 ? "true" : "false", out);
	else if (dtype == SHDRT_i64)
		fprintf(out, "%" PRId64, ((const int64_t *)data)[i]);
	else if (dtype == SHDRT_u64)
		fprintf(out, "%" PRIu64, ((const uint64_t *)data)[i]);
	else if (rt_is_float(dtype))
		fprintf(out, "%.*g", digits, x == 0 ? 0 : x);
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
		else if (t->dtype == SHDRT_u64)
			integers += ((const uint64_t *)data)[i];
		else if (rt_is_float(t->dtype))
			floats += rt_element_double(t->dtype, data, i);
		else
			integers += (int64_t)rt_element_double(t->dtype, data, i);
	if (rt_is_float(t->dtype))
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
		rt_report_value(out, t->dtype, data, i, 6);
	}
	fprintf(out, "%s", n > SHOWN ? " ..." : "");
	if (n > 1) {
		fprintf(out, "  sum ");
		print_sum(out, t, data, n);
	}
	fputc('\n', out);
}

/* ---- --stats ---- */

/* Steps that people would read the same, and how often a device did them. */
typedef struct Line {
	const shdrt_step *step; /* the first of them */
	uint64_t times, spent;
} Line;

static int
compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int
compare_steps(const shdrt_step *a, const shdrt_step *b)
{
	int order = compare_texts(a->file, b->file);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = compare_texts(a->kind, b->kind);
	if (!order)
		order = compare_texts(a->axes, b->axes);
	if (!order)
		order = compare_texts(a->what, b->what);
	if (!order)
		order = compare_texts(a->bound, b->bound);
	if (!order)
		order = (a->picoseconds > b->picoseconds) - (a->picoseconds < b->picoseconds);
	return order ? order
		     : (a->wire_bytes > b->wire_bytes) - (a->wire_bytes < b->wire_bytes);
}

static int
by_what(const void *a, const void *b)
{
	const Line *x = a, *y = b;
	int order = compare_steps(x->step, y->step);
	return order ? order : (x->step > y->step) - (x->step < y->step);
}

static int
by_place(const void *a, const void *b)
{
	const Line *x = a, *y = b;
	return (x->step > y->step) - (x->step < y->step);
}

static int
by_time(const void *a, const void *b)
{
	const Line *l = a, *k = b;
	uint64_t x = l->spent, y = k->spent;
	return x != y ? (x < y) - (x > y) : by_place(a, b);
}

static void
add_line(Line *to, const Line *line)
{
	to->times += line->times;
	to->spent += line->spent;
}

/* What the device did, in the order of the program; to be freed. */
static Line *
lines_of(const shdrt_program *p, const Record *r, int *n)
{
	Line *lines = rt_get_memory((size_t)p->nsteps, sizeof *lines);
	for (int i = 0; i < p->nsteps; i++)
		lines[i] = (Line){&p->steps[i], (uint64_t)r->times[i], r->spent[i]};
	qsort(lines, (size_t)p->nsteps, sizeof *lines, by_what);
	*n = 0;
	for (int i = 0; i < p->nsteps; i++)
		if (*n && !compare_steps(lines[*n - 1].step, lines[i].step))
			add_line(&lines[*n - 1], &lines[i]);
		else
			lines[(*n)++] = lines[i];
	qsort(lines, (size_t)*n, sizeof *lines, by_place);
	return lines;
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
		for (int i = 0; i < p->nsteps; i++)
			sum += m->records[id].times[i] * p->steps[i].wire_bytes;
		if (sum > *bytes) {
			*bytes = sum;
			busiest = id;
		}
	}
	return busiest;
}

/* A line for those that are told alike; their bytes add up to those of the device. */
static void
print_collectives(const shdrt_program *p, const Record *r, int64_t bytes, FILE *out)
{
	uint64_t count = 0;
	double time = 0;
	int n;
	Line *lines = lines_of(p, r, &n);
	fprintf(out, "%-18s  %-8s  %7s  %12s  %12s  %10s  %10s  %s\n", "collective", "over",
		"times", "bytes each", "bytes", "us each", "us", "for");
	for (int i = 0; i < n; i++) {
		const shdrt_step *s = lines[i].step;
		uint64_t times = lines[i].times;
		double us = (double)s->picoseconds * 1e-6;
		if (!s->axes)
			continue;
		fprintf(out,
			"%-18s  %-8s  %7" PRIu64 "  %12" PRId64 "  %12" PRId64
			"  %10.3f  %10.3f  %s:%d%s%s\n",
			s->kind, s->axes, times, s->wire_bytes, (int64_t)times * s->wire_bytes,
			us, (double)times * us, s->file, s->line, *s->what ? " " : "", s->what);
		count += times;
		time += (double)times * us;
	}
	fprintf(out, "%-18s  %-8s  %7" PRIu64 "  %12s  %12" PRId64 "  %10s  %10.3f\n", "all",
		"", count, "", bytes, "", time);
	free(lines);
}

void
rt_us_text(char text[US_TEXT], uint64_t picoseconds)
{
	snprintf(text, US_TEXT, "%" PRIu64 ".%06" PRIu64, picoseconds / 1000000,
		picoseconds % 1000000);
}

void
rt_step_text(const shdrt_step *s, char text[STEP_TEXT])
{
	if (s->axes)
		snprintf(text, STEP_TEXT, "%s over %s%s%s", s->kind, s->axes,
			*s->what ? " for " : "", s->what);
	else
		snprintf(text, STEP_TEXT, "%s", *s->what ? s->what : s->kind);
}

/* A number of the program's own file, else with the file. */
static void
place_text(const shdrt_program *p, const shdrt_step *s, char *text, size_t n)
{
	if (strcmp(s->file, p->source) == 0)
		snprintf(text, n, "%d", s->line);
	else
		snprintf(text, n, "%s:%d", s->file, s->line);
}

enum { PERCENT_TEXT = 32 };

/* "0.4 %", "12 %", as everywhere */
static void
percent_text(char text[PERCENT_TEXT], double part, double all)
{
	snprintf(text, PERCENT_TEXT, "%.*f %%",
		part<0.0995 * all, all> 0 ? 100 * part / all : 0);
}

static void
print_step(const char *place, int width, const char *what, uint64_t times, const char *each,
	uint64_t picoseconds, uint64_t all, const char *bound, FILE *out)
{
	char us[US_TEXT], share[PERCENT_TEXT];
	rt_us_text(us, picoseconds);
	percent_text(share, (double)picoseconds, (double)all);
	fprintf(out, "%6s  %-*s  %7" PRIu64 "  %14s  %14s  %5s%s%s\n", place, width, what,
		times, each, us, share, *bound ? "  " : "", bound);
}

/* The emulated time in which the device did nothing. */
static uint64_t
waited(const shdrt_program *p, const shdrt_device *dev)
{
	uint64_t time = dev->clock;
	for (int i = 0; i < p->nsteps; i++)
		time -= dev->record->spent[i];
	return time;
}

/* Of those that end last the one that others waited for. */
static const shdrt_device *
slowest_device(const Machine *m)
{
	const shdrt_device *slowest = rt_clock_slowest(m);
	for (int64_t id = slowest->id + 1; id < m->ndevices; id++) {
		const shdrt_device *dev = &m->devices[id];
		if (dev->clock == slowest->clock
			&& waited(m->program, dev) < waited(m->program, slowest))
			slowest = dev;
	}
	return slowest;
}

/* Columns that the names of what ran take. */
static int
what_width(const Line *lines, int n)
{
	int width = 40;
	for (int i = 0; i < n; i++) {
		char what[STEP_TEXT];
		rt_step_text(lines[i].step, what);
		if (lines[i].times && (int)strlen(what) > width)
			width = (int)strlen(what);
	}
	return width;
}

/* The most costly first; all add up to the device's clock. */
static void
print_steps(const shdrt_program *p, const shdrt_device *dev, FILE *out)
{
	uint64_t count = 0, clock = dev->clock, waiting = waited(p, dev);
	int n;
	Line *lines = lines_of(p, dev->record, &n);
	qsort(lines, (size_t)n, sizeof *lines, by_time);
	int width = what_width(lines, n);
	fprintf(out, "%6s  %-*s  %7s  %14s  %14s  %5s  %s\n", "line", width, "what", "times",
		"us each", "us", "share", "bound by");
	for (int i = 0; i < n; i++) {
		if (!lines[i].times)
			continue;
		char place[STEP_TEXT], what[STEP_TEXT], each[US_TEXT];
		uint64_t time = lines[i].spent;
		place_text(p, lines[i].step, place, sizeof place);
		rt_step_text(lines[i].step, what);
		rt_us_text(each, lines[i].step->picoseconds);
		print_step(place, width, what, lines[i].times, each, time, clock,
			lines[i].step->bound, out);
		count += lines[i].times;
	}
	if (waiting)
		print_step("", width, "waiting for other devices", 0, "", waiting, clock, "",
			out);
	print_step("", width, "all", count, "", clock, clock, "", out);
	free(lines);
}

void
rt_report_stats(const Machine *m, double seconds, FILE *out)
{
	const shdrt_program *p = m->program;
	const shdrt_device *slowest = slowest_device(m);
	int64_t bytes, busiest = busiest_device(m, &bytes);
	char us[US_TEXT];
	print_mesh(p, out);
	fprintf(out,
		"a device: %" PRId64 " bytes of memory, %" PRId64 " flops, %" PRId64
		" bytes received\n",
		p->device_bytes ? p->device_bytes : p->slab_bytes, p->flops, bytes);
	if (!p->launch)
		fprintf(out, "memory touched: %" PRId64 " bytes of %" PRId64 "\n",
			rt_machine_touched(m), p->slab_bytes);
	rt_us_text(us, slowest->clock);
	fprintf(out, "time on %s: %s us (emulated%s)\n", p->target, us,
		p->nslots ? "" : ", nothing overlaps");
	fprintf(out, "time here: %.3f us\n", seconds * 1e6);
	print_steps(p, slowest, out);
	if (p->ncollectives)
		print_collectives(p, &m->records[busiest], bytes, out);
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
		if (rt_is_float(t->dtype))
			fprintf(out, " (error %.3g, bound %.3g)", v->error, v->bound);
	} else if (rt_is_float(t->dtype)) {
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
