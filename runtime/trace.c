/*
 * trace.c - --trace: the last run as Chrome trace events (JSON), for Perfetto and
 * the like.
 *
 *   emulated time on v5e   device 0  |einsum 'bd,df->bf'|relu|all-reduce over Y ...|
 *                          device 1  |...
 *   time here              device 0  |...
 *
 * A process for each clock, a thread for each device, a span for each step.  The
 * emulated time of a collective begins when the last of its members is there, time
 * here when the device itself is.  One that is begun is, in emulated time, beside what
 * its device does meanwhile, and an arrow leads to what waits for it; here, a part of it
 * is where it was moved: with the helper, or within the waiting of a device.  A counter
 * has what memory each device needs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "options.h"

enum { EMULATED = 1, HERE = 2 }; /* processes */

/* How far the devices' records go. */
typedef struct Extent {
	int64_t devices;       /* that have one */
	size_t spans, missing; /* of the device that did most */
	double start;	       /* of the run, host seconds */
} Extent;

static Extent
extent_of(const Machine *m)
{
	Extent e = {.start = m->devices[0].started};
	for (int64_t id = 0; id < m->ndevices; id++) {
		const shdrt_device *dev = &m->devices[id];
		const Record *r = dev->record;
		e.start = dev->started < e.start ? dev->started : e.start;
		if (!r->room)
			continue;
		e.devices++;
		e.spans = r->n > e.spans ? r->n : e.spans;
		e.missing = r->n > r->room && r->n - r->room > e.missing ? r->n - r->room
									 : e.missing;
	}
	return e;
}

static void
put_name(FILE *f, int process, int64_t thread, const char *what, const char *key,
	const char *format, ...)
{
	char text[200];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(f,
		"{\"ph\": \"M\", \"pid\": %d, \"tid\": %" PRId64
		", \"name\": \"%s\", \"args\": {\"%s\": \"",
		process, thread, what, key);
	rt_json_put(f, text);
	fprintf(f, "\"}},\n");
}

/* Of a device: in emulated time one more for each slot, beside which it goes on.  Here
   the helper comes after the devices. */
static int64_t
thread_of(const Machine *m, int process, int64_t device, int slot)
{
	return process == EMULATED ? device * (m->program->nslots + 1) + slot + 1 : device + 1;
}

static void
put_names(FILE *f, const Machine *m, const Extent *e)
{
	const shdrt_program *p = m->program;
	put_name(f, EMULATED, 0, "process_name", "name", "emulated time on %s", p->target);
	put_name(f, HERE, 0, "process_name", "name",
		p->launch ? "time here, interpreted" : "time here");
	for (int process = EMULATED; process <= HERE; process++) {
		if (e->devices < m->ndevices)
			put_name(f, process, 0, "process_labels", "labels",
				"the first %" PRId64 " of %" PRId64 " devices", e->devices,
				m->ndevices);
		for (int64_t id = 0; id < e->devices; id++) {
			put_name(f, process, thread_of(m, process, id, 0), "thread_name",
				"name", "device %" PRId64, id);
			for (int i = 1; process == EMULATED && i <= p->nslots; i++)
				put_name(f, process, thread_of(m, process, id, i),
					"thread_name", "name", "device %" PRId64 ", under way",
					id);
		}
	}
	if (m->helper.there)
		put_name(f, HERE, thread_of(m, HERE, m->ndevices, 0), "thread_name", "name",
			"helper");
}

/* Perfetto takes whole nanoseconds, and drops a span that ends behind the begin of the next:
   what is at one time is so when it is rounded, too. */
static uint64_t
rounded(uint64_t picoseconds)
{
	return (picoseconds + 500) / 1000 * 1000;
}

/* Times in picoseconds. */
static void
put_span(FILE *f, int process, int64_t thread, const shdrt_step *s, uint64_t start,
	uint64_t end)
{
	char name[STEP_TEXT], from[US_TEXT], us[US_TEXT];
	rt_step_text(s, name);
	rt_us_text(from, rounded(start));
	rt_us_text(us, rounded(end) - rounded(start));
	fprintf(f,
		",\n{\"ph\": \"X\", \"pid\": %d, \"tid\": %" PRId64
		", \"ts\": %s, \"dur\": %s, \"name\": \"",
		process, thread, from, us);
	rt_json_put(f, name);
	fprintf(f, "\", \"cat\": \"%s\", \"args\": {\"file\": \"", s->kind);
	rt_json_put(f, s->file);
	fprintf(f,
		"\", \"line\": %d, \"flops\": %.17g, \"hbm_bytes\": %" PRId64
		", \"wire_bytes\": %" PRId64 ", \"bound\": \"%s\"}}",
		s->line, s->flops, s->hbm_bytes, s->wire_bytes, s->bound);
}

/* Host times are whole nanoseconds: one span ends where the next begins. */
static uint64_t
since(const Extent *e, double seconds)
{
	double nanoseconds = rint((seconds - e->start) * 1e9);
	return nanoseconds > 0 ? (uint64_t)nanoseconds * 1000 : 0;
}

static void
put_emulated(FILE *f, const Machine *m, const shdrt_device *dev)
{
	const Record *r = dev->record;
	for (size_t i = 0; i < r->n && i < r->room; i++) {
		const StepSpan *s = &r->spans[i];
		put_span(f, EMULATED, thread_of(m, EMULATED, dev->id, s->slot), s->step,
			s->start, s->end);
	}
}

/* What the device needs as it goes on, where that changes; so with what it begins beside. */
static void
put_memory(FILE *f, const Machine *m, const shdrt_device *dev)
{
	const Record *r = dev->record;
	int64_t told = -1, needed = 0;
	for (size_t i = 0; i < r->n && i < r->room; i++) {
		const StepSpan *s = &r->spans[i];
		char us[US_TEXT];
		needed = s->step->memory > needed ? s->step->memory : needed;
		if (s->slot)
			continue;
		rt_us_text(us, rounded(s->start));
		if (needed != told)
			fprintf(f,
				",\n{\"ph\": \"C\", \"pid\": %d, \"tid\": %" PRId64
				", \"ts\": %s, \"name\": \"live memory of device %" PRId64
				"\", \"args\": {\"bytes\": %" PRId64 "}}",
				EMULATED, thread_of(m, EMULATED, dev->id, 0), us, dev->id,
				needed);
		told = needed;
		needed = 0;
	}
}

/* An end of an arrow. */
static void
put_end(FILE *f, const char *phase, int64_t thread, uint64_t at, int64_t id)
{
	char us[US_TEXT];
	rt_us_text(us, rounded(at));
	fprintf(f,
		",\n{\"ph\": \"%s\", \"pid\": %d, \"tid\": %" PRId64
		", \"ts\": %s, \"id\": %" PRId64
		", \"cat\": \"overlap\", \"name\": \"waits\"%s}",
		phase, EMULATED, thread, us, id, *phase == 'f' ? ", \"bp\": \"e\"" : "");
}

/* From each collective that was begun to what waits for it, which is recorded next; where
   nothing has to wait, to what the device does then. */
static void
put_flows(FILE *f, const Machine *m, const shdrt_device *dev)
{
	const Record *r = dev->record;
	size_t n = r->n < r->room ? r->n : r->room;
	for (size_t i = 0; i < n; i++) {
		const StepSpan *s = &r->spans[i];
		size_t next = i + 1;
		while (next < n
			&& (r->spans[next].slot || r->spans[next].end == r->spans[next].start))
			next++;
		if (!s->slot || s->end == s->start || next == n)
			continue;
		int64_t id = (int64_t)i * m->ndevices + dev->id;
		put_end(f, "s", thread_of(m, EMULATED, dev->id, s->slot), s->start, id);
		put_end(f, "f", thread_of(m, EMULATED, dev->id, 0), r->spans[next].start, id);
	}
}

/* ---- time here ---------------------------------------------------------------------- */

typedef struct HereSpan {
	const shdrt_step *step;
	int64_t thread;
	uint64_t from, to;
	size_t i; /* as recorded */
} HereSpan;

/* By threads, then as they begin, what is around others first. */
static int
by_start(const void *a, const void *b)
{
	const HereSpan *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to > y->to ? -1 : 1;
	return x->i < y->i ? -1 : 1;
}

/* What a device waited for is recorded with it, though another thread moved it, of which
   there may be no record. */
static size_t
find_here(const Machine *m, const Extent *e, HereSpan *spans)
{
	size_t n = 0;
	for (int64_t id = 0; id < e->devices; id++) {
		const Record *r = m->devices[id].record;
		for (size_t i = 0; i < r->n && i < r->room; i++) {
			const StepSpan *s = &r->spans[i];
			int64_t by = s->by == HELPER ? m->ndevices : s->by;
			if (s->by != HELPER && by >= e->devices)
				continue;
			spans[n] = (HereSpan){s->step, thread_of(m, HERE, by, 0),
				since(e, s->from), since(e, s->to), n};
			n++;
		}
	}
	return n;
}

static void
put_here(FILE *f, const Machine *m, const Extent *e)
{
	HereSpan *spans =
		rt_get_memory((size_t)e->devices * (e->spans - e->missing), sizeof *spans);
	size_t n = find_here(m, e, spans);
	qsort(spans, n, sizeof *spans, by_start);
	for (size_t i = 0; i < n; i++)
		put_span(f, HERE, spans[i].thread, spans[i].step, spans[i].from, spans[i].to);
	free(spans);
}

/* What is put last needs no comma. */
static bool
put_trace(FILE *f, const char *path, const void *data)
{
	const Machine *m = data;
	const shdrt_program *p = m->program;
	Extent e = extent_of(m);
	char us[US_TEXT];
	(void)path;
	fprintf(f,
		"{\"displayTimeUnit\": \"ns\", \"otherData\": {\"version\": 1, \"program\": "
		"\"");
	rt_json_put(f, p->name);
	fprintf(f, "\", \"source\": \"");
	rt_json_put(f, p->source);
	rt_us_text(us, rt_clock_slowest(m)->clock);
	fprintf(f,
		"\", \"target\": \"%s\", \"devices\": %" PRId64 ", \"devices_shown\": %" PRId64
		", \"steps_left_out\": %zu, \"emulated_us\": %s},\n\"traceEvents\": [\n",
		p->target, p->ndevices, e.devices, e.missing, us);
	put_names(f, m, &e);
	fprintf(f,
		"{\"ph\": \"M\", \"pid\": %d, \"tid\": 0, \"name\": \"process_sort_index\", "
		"\"args\": {\"sort_index\": %d}}",
		EMULATED, EMULATED);
	for (int64_t id = 0; id < e.devices; id++) {
		put_emulated(f, m, &m->devices[id]);
		put_flows(f, m, &m->devices[id]);
		put_memory(f, m, &m->devices[id]);
	}
	put_here(f, m, &e);
	return fprintf(f, "\n]}\n") > 0 && !ferror(f);
}

void
rt_trace_write(const Machine *m, const char *path)
{
	Extent e = extent_of(m);
	rt_output_write(path, put_trace, m);
	if (e.missing)
		fprintf(stderr,
			"%s: --trace: %s has the first %zu of the %zu steps that a device "
			"did\n",
			m->program->name, path, e.spans - e.missing, e.spans);
}
