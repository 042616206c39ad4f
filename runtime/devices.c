/*
 * devices.c - the mesh: a thread, a slab and a clock for each device.
 *
 * Everything a run needs is made before it starts: slabs are mapped and
 * touched, and for each kind of group that the program's collectives name,
 * every device knows its team and its place in it.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum {
	STACK = 4 << 20, /* bytes of a device thread, mapped as used */
	SIGNAL_STACK = 64 << 10,
	UNTOUCHED = 0xa5, /* in every byte of a slab, where what is touched is counted */
};

/* ---- teams ---- */

bool
rt_same_splits(const shdrt_splits *a, const shdrt_splits *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->split[i].stride != b->split[i].stride
			|| a->split[i].size != b->split[i].size)
			return false;
	return true;
}

/* The device with all its coordinates in the list at zero. */
static int64_t
at_zero(int64_t id, const shdrt_splits *splits)
{
	for (int i = 0; i < splits->n; i++) {
		const shdrt_split *s = &splits->split[i];
		id -= id / s->stride % s->size * s->stride;
	}
	return id;
}

/* ... at the coordinates that the list numbers `index`. */
static int64_t
at_index(int64_t id, const shdrt_splits *splits, int64_t index)
{
	id = at_zero(id, splits);
	for (int i = splits->n - 1; i >= 0; i--) {
		const shdrt_split *s = &splits->split[i];
		id += index % s->size * s->stride;
		index /= s->size;
	}
	return id;
}

/* Who sends to a device in a permute; -1 nobody. */
static int64_t
source_of(const Kind *kind, int64_t id)
{
	int64_t index = shdrt_index(id, kind->group.n, kind->group.split);
	if (!kind->source)
		return at_index(id, &kind->from, index);
	index = kind->source[index];
	return index < 0 ? -1 : at_index(id, &kind->group, index);
}

static void
team_init(Team *team, int n)
{
	team->n = n;
	team->members = rt_get_zeroed((size_t)n, sizeof *team->members);
	team->in = rt_get_zeroed((size_t)n, sizeof *team->in);
	team->source = rt_get_memory((size_t)n, sizeof *team->source);
	if (posix_memalign((void **)&team->slots, LINE, (size_t)n * sizeof *team->slots))
		rt_fail(SHDRT_MEMORY, "out of memory: slots of %d devices", n);
	memset(team->slots, 0, (size_t)n * sizeof *team->slots);
	for (int i = 0; i < n; i++) {
		team->source[i] = -1;
		atomic_init(&team->slots[i].taken, (unsigned)-1);
	}
}

static void
team_free(Team *team)
{
	free(team->members);
	free(team->in);
	free(team->source);
	free(team->slots);
}

static int64_t
root_of(int64_t *parent, int64_t id)
{
	for (; parent[id] != id; id = parent[id])
		parent[id] = parent[parent[id]];
	return id;
}

/*
 * leader[id]: the same for all devices of a team, and a member of it.  In a
 * permute only those need to meet that a chain of senders connects.
 */
static void
find_leaders(const Machine *m, const Kind *kind, int64_t *leader)
{
	for (int64_t id = 0; id < m->ndevices; id++)
		leader[id] = kind->permute ? id : at_zero(id, &kind->group);
	if (!kind->permute)
		return;
	for (int64_t id = 0; id < m->ndevices; id++) {
		int64_t source = source_of(kind, id);
		if (source < 0)
			continue;
		int64_t a = root_of(leader, id), b = root_of(leader, source);
		leader[a > b ? a : b] = a < b ? a : b;
	}
	for (int64_t id = 0; id < m->ndevices; id++)
		leader[id] = root_of(leader, id);
}

/* Seats of permutes are in order of id, others in order of the group. */
static void
take_seats(Machine *m, Kind *kind, int number, const int64_t *leader,
	const int64_t *team_number)
{
	for (int64_t i = 0; i < kind->nteams; i++)
		kind->teams[i].n = 0;
	for (int64_t id = 0; id < m->ndevices; id++) {
		shdrt_device *dev = &m->devices[id];
		Seat *seat = &dev->seats[number];
		seat->team = &kind->teams[team_number[leader[id]]];
		int next = seat->team->n++;
		seat->index = kind->permute
			? next
			: (int)shdrt_index(id, kind->group.n, kind->group.split);
		seat->team->members[seat->index] = dev;
	}
	if (!kind->permute)
		return;
	for (int64_t id = 0; id < m->ndevices; id++) {
		int64_t source = source_of(kind, id);
		const Seat *seat = &m->devices[id].seats[number];
		if (source >= 0)
			seat->team->source[seat->index] =
				m->devices[source].seats[number].index;
	}
}

static void
kind_prepare(Machine *m, Kind *kind, int number)
{
	size_t n = (size_t)m->ndevices;
	int64_t *leader = rt_get_memory(n, sizeof *leader);
	int64_t *team_number = rt_get_memory(n, sizeof *team_number);
	int *members = rt_get_zeroed(n, sizeof *members);
	find_leaders(m, kind, leader);
	for (size_t id = 0; id < n; id++)
		if (members[leader[id]]++ == 0)
			team_number[leader[id]] = kind->nteams++;
	size_t size = (size_t)kind->nteams * sizeof *kind->teams;
	if (posix_memalign((void **)&kind->teams, LINE, size))
		rt_fail(SHDRT_MEMORY, "out of memory: teams of %zu devices", n);
	memset(kind->teams, 0, size);
	for (size_t id = 0; id < n; id++)
		if (members[id]) {
			team_init(&kind->teams[team_number[id]], members[id]);
			kind->teams[team_number[id]].slot = kind->slot;
		}
	take_seats(m, kind, number, leader, team_number);
	free(leader);
	free(team_number);
	free(members);
}

/* Of equal groups. */
static bool
same_source(const Kind *k, const shdrt_collective *c)
{
	size_t n = 1;
	for (int i = 0; i < c->group.n; i++)
		n *= (size_t)c->group.split[i].size;
	return k->source && !memcmp(k->source, c->source, n * sizeof *c->source);
}

/* The kind of a collective: an equal one, or a new one. */
static int
kind_find(Machine *m, const shdrt_collective *c)
{
	bool permute = c->kind == SHDRT_collective_permute;
	for (int i = 0; i < m->nkinds; i++) {
		const Kind *k = &m->kinds[i];
		if (k->permute == permute && k->slot == c->slot
			&& rt_same_splits(&k->group, &c->group)
			&& (!permute
				|| (c->source ? same_source(k, c)
					      : !k->source
							&& rt_same_splits(&k->from, &c->from))))
			return i;
	}
	m->kinds[m->nkinds] = (Kind){.group = c->group,
		.from = c->from,
		.source = c->source,
		.permute = permute,
		.slot = c->slot};
	return m->nkinds++;
}

static void
teams_prepare(Machine *m)
{
	const shdrt_program *p = m->program;
	size_t n = (size_t)p->ncollectives;
	m->kinds = rt_get_zeroed(n, sizeof *m->kinds);
	m->kind_of = rt_get_zeroed(n, sizeof *m->kind_of);
	for (size_t i = 0; i < n; i++)
		m->kind_of[i] = kind_find(m, &p->collectives[i]);
	size_t slots = p->nslots ? (size_t)p->nslots : 1;
	Flight *flights = rt_get_zeroed((size_t)m->ndevices, slots * sizeof *flights);
	size_t seats = m->nkinds ? (size_t)m->nkinds : 1;
	Seat *all = rt_get_zeroed((size_t)m->ndevices, seats * sizeof *all);
	for (int64_t id = 0; id < m->ndevices; id++)
		m->devices[id].seats = all + (size_t)id * seats;
	for (int64_t id = 0; id < m->ndevices; id++)
		m->devices[id].flights = flights + (size_t)id * slots;
	for (int i = 0; i < m->nkinds; i++)
		kind_prepare(m, &m->kinds[i], i);
	team_init(&m->everyone, (int)m->ndevices);
	for (int64_t id = 0; id < m->ndevices; id++)
		m->everyone.members[id] = &m->devices[id];
}

/* ---- slabs ---- */

static void
slabs_map(Machine *m)
{
	const shdrt_program *p = m->program;
	int64_t needed = p->device_bytes ? p->device_bytes : p->slab_bytes;
	if (p->target_memory && needed > p->target_memory)
		rt_fail(SHDRT_MEMORY,
			"out of memory: a device needs %lld bytes, "
			"one of %s has %lld",
			(long long)needed, p->target, (long long)p->target_memory);
	/* An odd number of lines apart: equal offsets in different slabs do
	   not compete for the same sets of the caches. */
	m->slab_stride = ((size_t)p->slab_bytes + LINE - 1) / LINE * LINE;
	m->slab_stride += m->slab_stride / LINE % 2 ? 0 : LINE;
	if (__builtin_mul_overflow(m->slab_stride, (size_t)m->ndevices, &m->slab_total))
		rt_fail(SHDRT_MEMORY, "out of memory: %lld devices of %lld bytes",
			(long long)m->ndevices, (long long)p->slab_bytes);
	void *at = mmap(NULL, m->slab_total, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		rt_fail(SHDRT_MEMORY,
			"out of memory: %zu bytes for %lld devices: "
			"%s",
			m->slab_total, (long long)m->ndevices, strerror(errno));
#if defined(MADV_HUGEPAGE)
	if (m->slab_stride >= 8u << 20)
		madvise(at, m->slab_total, MADV_HUGEPAGE);
#endif
	m->slabs = at;
	for (int64_t id = 0; id < m->ndevices; id++)
		m->devices[id].slab = m->slabs + (size_t)id * m->slab_stride;
}

/* By the thread that will use it: pages are mapped before any clock runs. */
static void
slab_touch(shdrt_device *dev)
{
	size_t bytes = (size_t)dev->machine->program->slab_bytes;
	if (dev->record)
		memset(dev->slab, UNTOUCHED, bytes);
	for (size_t at = 0; at < bytes; at += 4096)
		((volatile char *)dev->slab)[at] = dev->slab[at];
}

static bool
is_untouched(const char *line, const char *end)
{
	while (line < end && (unsigned char)*line == UNTOUCHED)
		line++;
	return line == end;
}

int64_t
rt_machine_touched(const Machine *m)
{
	int64_t most = 0, bytes = m->program->slab_bytes;
	for (int64_t id = 0; id < m->ndevices; id++) {
		const char *slab = m->devices[id].slab;
		int64_t end = bytes;
		while (end > most) {
			int64_t start = (end - 1) / LINE * LINE;
			if (!is_untouched(slab + start, slab + end))
				break;
			end = start;
		}
		most = end > most ? end : most;
	}
	return most;
}

/* ---- threads ---- */

/* Runs when a device's thread ends in the middle of its program. */
static void
device_lost(void *data)
{
	shdrt_device *dev = data;
	rt_fail(SHDRT_PEER_LOST,
		"device %lld was lost: its thread ended before "
		"its program did",
		(long long)dev->id);
}

static void
device_run(shdrt_device *dev)
{
	Machine *m = dev->machine;
	pthread_cleanup_push(device_lost, dev);
	if (m->fill)
		m->fill(dev, m->fill_data);
	atomic_store(&dev->filled, true);
	atomic_fetch_add(&m->filled, 1);
	rt_team_wait(dev, &m->everyone, NULL);
	rt_clock_start(dev);
	m->program->run(dev, dev->slab);
	dev->stopped = rt_now();
	rt_device_ends(dev);
	pthread_cleanup_pop(0);
}

/* True when there is another run, false when it is time to go. */
static bool
next_run(Machine *m, unsigned *generation)
{
	pthread_mutex_lock(&m->lock);
	while (m->generation == *generation)
		pthread_cond_wait(&m->start, &m->lock);
	*generation = m->generation;
	bool leave = m->leave;
	pthread_mutex_unlock(&m->lock);
	return !leave;
}

char *
rt_signal_stack_new(void)
{
	stack_t wanted = {.ss_size = SIGNAL_STACK}, old;
	if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE))
		return NULL;
	wanted.ss_sp = rt_get_memory(1, SIGNAL_STACK);
	sigaltstack(&wanted, NULL);
	return wanted.ss_sp;
}

void
rt_signal_stack_free(char *stack)
{
	stack_t none = {.ss_flags = SS_DISABLE};
	if (!stack)
		return;
	sigaltstack(&none, NULL);
	free(stack);
}

static void *
device_main(void *data)
{
	shdrt_device *dev = data;
	unsigned generation = 0;
	char *stack = rt_signal_stack_new();
	rt_fail_thread_device(dev->id);
	slab_touch(dev);
	while (next_run(dev->machine, &generation))
		device_run(dev);
	rt_fail_thread_device(-1);
	rt_signal_stack_free(stack);
	return NULL;
}

static void
threads_start(Machine *m)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (int64_t id = 0; id < m->ndevices; id++) {
		shdrt_device *dev = &m->devices[id];
		int error = pthread_create(&dev->thread, &attributes, device_main, dev);
		if (error)
			rt_fail(SHDRT_MEMORY,
				"this machine runs %lld of %lld "
				"device threads: %s",
				(long long)id, (long long)m->ndevices, strerror(error));
	}
	pthread_attr_destroy(&attributes);
}

static void
make_devices(Machine *m)
{
	size_t n = (size_t)m->ndevices;
	if (m->ndevices > INT_MAX / 2
		|| posix_memalign((void **)&m->devices, LINE, n * sizeof *m->devices))
		rt_fail(SHDRT_MEMORY, "out of memory: %zu devices", n);
	memset(m->devices, 0, n * sizeof *m->devices);
	for (int64_t id = 0; id < m->ndevices; id++) {
		m->devices[id].id = id;
		m->devices[id].machine = m;
	}
}

Machine *
rt_machine_new(const shdrt_program *p, double stall, Recorded recorded, Helps helps)
{
	Machine *m;
	if (posix_memalign((void **)&m, LINE, sizeof *m))
		rt_fail(SHDRT_MEMORY, "out of memory");
	memset(m, 0, sizeof *m);
	m->program = p;
	m->ndevices = p->ndevices;
	m->stall = stall;
	m->spins = p->ndevices <= rt_cores();
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->start, NULL);
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&m->done, &clock);
	pthread_condattr_destroy(&clock);
	make_devices(m);
	slabs_map(m);
	if (recorded != RECORD_nothing)
		rt_clock_record(m, recorded == RECORD_spans);
	teams_prepare(m);
	if (!p->launch) {
		rt_helper_start(m, helps);
		threads_start(m);
	}
	return m;
}

/* The program's own launch(), on this thread: the interpreter. */
static double
launch(Machine *m)
{
	const shdrt_program *p = m->program;
	char **slabs = rt_get_memory((size_t)m->ndevices, sizeof *slabs);
	shdrt_device **devices = rt_get_memory((size_t)m->ndevices, sizeof *devices);
	for (int64_t id = 0; id < m->ndevices; id++) {
		devices[id] = &m->devices[id];
		if (m->fill)
			m->fill(devices[id], m->fill_data);
		slabs[id] = devices[id]->slab;
	}
	for (int64_t id = 0; id < m->ndevices; id++)
		rt_clock_start(devices[id]);
	m->ended = 0;
	pthread_t watcher;
	bool watched = p->progress && m->stall > 0
		&& pthread_create(&watcher, NULL, rt_watch_launch, m) == 0;
	double started = rt_now();
	int status = p->launch(p, slabs, devices, p->data);
	double seconds = rt_now() - started;
	pthread_mutex_lock(&m->lock);
	m->ended = m->ndevices;
	pthread_cond_signal(&m->done);
	pthread_mutex_unlock(&m->lock);
	if (watched)
		pthread_join(watcher, NULL);
	free(slabs);
	free(devices);
	if (status)
		rt_fail(status, "the program could not be executed");
	return seconds;
}

double
rt_machine_run(Machine *m, Fill *fill, void *data)
{
	m->fill = fill;
	m->fill_data = data;
	if (m->program->launch) {
		rt_watch_doing("runs", m);
		double seconds = launch(m);
		rt_watch_doing("collects the results", NULL);
		return seconds;
	}
	pthread_mutex_lock(&m->lock);
	m->ended = 0;
	atomic_store(&m->filled, 0);
	for (int64_t id = 0; id < m->ndevices; id++) {
		m->devices[id].ended = false;
		atomic_store(&m->devices[id].filled, false);
	}
	m->generation++;
	pthread_cond_broadcast(&m->start);
	pthread_mutex_unlock(&m->lock);
	rt_watch_doing("runs", m);
	rt_watch_run(m);
	rt_watch_doing("collects the results", NULL);
	double first = m->devices[0].started, last = m->devices[0].stopped;
	for (int64_t id = 1; id < m->ndevices; id++) {
		const shdrt_device *dev = &m->devices[id];
		first = dev->started < first ? dev->started : first;
		last = dev->stopped > last ? dev->stopped : last;
	}
	return last - first;
}

static void
threads_end(Machine *m)
{
	pthread_mutex_lock(&m->lock);
	m->leave = true;
	m->generation++;
	pthread_cond_broadcast(&m->start);
	pthread_mutex_unlock(&m->lock);
	for (int64_t id = 0; id < m->ndevices; id++)
		pthread_join(m->devices[id].thread, NULL);
	rt_helper_end(m);
}

void
rt_machine_free(Machine *m)
{
	if (!m->program->launch)
		threads_end(m);
	for (int i = 0; i < m->nkinds; i++) {
		for (int64_t k = 0; k < m->kinds[i].nteams; k++)
			team_free(&m->kinds[i].teams[k]);
		free(m->kinds[i].teams);
	}
	team_free(&m->everyone);
	free(m->kinds);
	free(m->kind_of);
	rt_clock_free(m);
	free(m->devices[0].seats);
	free(m->devices[0].flights);
	free(m->devices);
	munmap(m->slabs, m->slab_total);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->start);
	pthread_cond_destroy(&m->done);
	free(m);
}
