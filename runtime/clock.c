/*
 * clock.c - the emulated clock of a device: a step takes the time that its row
 * says, and a collective begins when the last of its members is there.
 *
 *   device 0  |dot 12 us      |           |all-gather 5 us|
 *   device 1  |dot 12 us      |add 1.5 us |all-gather 5 us|
 *
 * Where somebody asks, a device notes how often it did each step (--stats), and
 * when (--trace).  What it notes lies in memory of its own that is there before
 * the run.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
	TRACED_DEVICES = 64,
	TRACED_STEPS = 1 << 18, /* of all devices together: 8 MiB */
};

/* ---- what is noted ---- */

static void
note_span(shdrt_device *dev, const StepSpan *span, uint64_t spent)
{
	Record *r = dev->record;
	ptrdiff_t number = span->step - dev->machine->program->steps;
	r->times[number]++;
	r->spent[number] += spent;
	if (r->n < r->room)
		r->spans[r->n] = *span;
	r->n++;
}

/* What the device itself did since the last. */
static void
note(shdrt_device *dev, const shdrt_step *step, uint64_t start)
{
	Record *r = dev->record;
	StepSpan span = {step, start, dev->clock, r->last, 0, dev->id, 0};
	rt_clock_mark(dev);
	span.to = r->last;
	note_span(dev, &span, dev->clock - start);
}

void
rt_clock_mark(shdrt_device *dev)
{
	Record *r = dev->record;
	if (r && r->room)
		r->last = rt_now();
}

void
rt_clock_moved(shdrt_device *dev, Slot *slot)
{
	Record *r = dev->record;
	slot->mover = dev->id;
	slot->moved_from = r ? r->last : 0;
	rt_clock_mark(dev);
	slot->moved_to = r ? r->last : 0;
}

void
rt_clock_record(Machine *m, bool spans)
{
	size_t devices = (size_t)m->ndevices, steps = (size_t)m->program->nsteps;
	size_t traced = !spans ? 0 : devices < TRACED_DEVICES ? devices : TRACED_DEVICES;
	size_t size = devices * sizeof *m->records;
	if (posix_memalign((void **)&m->records, LINE, size))
		rt_fail(SHDRT_MEMORY, "out of memory: records of %zu devices", devices);
	memset(m->records, 0, size);
	m->times = rt_get_zeroed(devices, (steps ? steps : 1) * sizeof *m->times);
	m->spent = rt_get_zeroed(devices, (steps ? steps : 1) * sizeof *m->spent);
	if (traced)
		m->spans = rt_get_zeroed(TRACED_STEPS, sizeof *m->spans);
	for (size_t id = 0; id < devices; id++) {
		Record *r = &m->records[id];
		r->times = m->times + id * steps;
		r->spent = m->spent + id * steps;
		if (id < traced) {
			r->room = TRACED_STEPS / traced;
			r->spans = m->spans + id * r->room;
		}
		m->devices[id].record = r;
	}
}

void
rt_clock_start(shdrt_device *dev)
{
	Record *r = dev->record;
	size_t steps = (size_t)dev->machine->program->nsteps;
	dev->clock = 0;
	dev->started = rt_now();
	if (!r)
		return;
	memset(r->times, 0, steps * sizeof *r->times);
	memset(r->spent, 0, steps * sizeof *r->spent);
	r->n = 0;
	r->last = dev->started;
}

/* ---- the clock ---- */

static uint64_t
end_of(uint64_t start, const shdrt_step *step)
{
	uint64_t end = start + step->picoseconds;
	return end < INT64_MAX ? end : INT64_MAX;
}

void
rt_clock_step(shdrt_device *dev, uint64_t start, const shdrt_step *step)
{
	dev->clock = end_of(start, step);
	if (dev->record)
		note(dev, step, start);
}

void
rt_clock_wait(shdrt_device *dev, uint64_t start, const Slot *slot, const shdrt_step *step)
{
	const shdrt_collective *c = slot->collective;
	uint64_t waits = dev->clock, end = end_of(start, c->step);
	if (end > waits)
		dev->clock = end;
	if (!dev->record)
		return;
	note_span(dev,
		&(StepSpan){c->step, start, end, slot->moved_from, slot->moved_to, slot->mover,
			c->slot},
		0);
	note(dev, step, waits);
}

/* Nobody else writes it. */
void
rt_clock_progress(shdrt_device *dev)
{
	unsigned long long n = atomic_load_explicit(&dev->progress, memory_order_relaxed);
	atomic_store_explicit(&dev->progress, n + 1, memory_order_relaxed);
}

void
shdrt_tick(shdrt_device *dev, const shdrt_step *step)
{
	rt_clock_step(dev, dev->clock, step);
	if (!atomic_load_explicit(&dev->loop, memory_order_relaxed))
		rt_clock_progress(dev);
}

const shdrt_device *
rt_clock_slowest(const Machine *m)
{
	const shdrt_device *slowest = &m->devices[0];
	for (int64_t id = 1; id < m->ndevices; id++)
		if (m->devices[id].clock > slowest->clock)
			slowest = &m->devices[id];
	return slowest;
}

void
rt_clock_free(Machine *m)
{
	free(m->records);
	free(m->times);
	free(m->spent);
	free(m->spans);
}
