/*
 * wait.c - barriers of a team, and finding out who will never arrive.
 *
 * A waiter spins while every device has a core of its own, then gives its
 * core away, and sleeps on a futex when nothing moved for a while: waking a
 * sleeper costs some ten times a yield, but a sleeper costs nothing.
 *
 * Devices that sleep are counted under the machine's lock.  Only an awake
 * device can complete a barrier, so when everybody sleeps and nobody's
 * barrier is complete, nobody will ever go on: that is told at once.  Two
 * sleepers that wait for each other in different teams are told as what they
 * are: collectives that do not agree.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "internal.h"
#include "collectives.h"

enum {
	SPINS = 20000,	    /* pauses; some 0.2 ms */
	YIELDS_A_LOOK = 16, /* between looks at the clock */
};
static const double AWAKE = 200e-6; /* seconds of yielding before sleep */

double
rt_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	sched_yield();
#endif
}

static bool
completed(Team *team, unsigned phase)
{
	return atomic_load_explicit(&team->phase, memory_order_acquire) != phase;
}

static void
sleep_on(Team *team, unsigned phase)
{
#if defined(__linux__)
	atomic_fetch_add(&team->sleepers, 1);
	syscall(SYS_futex, (unsigned *)&team->phase, FUTEX_WAIT_PRIVATE, phase, NULL, NULL, 0);
	atomic_fetch_sub(&team->sleepers, 1);
#else
	struct timespec little = {0, 100000};
	if (!completed(team, phase))
		nanosleep(&little, NULL);
#endif
}

static void
wake(Team *team)
{
#if defined(__linux__)
	if (atomic_load(&team->sleepers))
		syscall(SYS_futex, (unsigned *)&team->phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
			NULL, 0);
#else
	(void)team;
#endif
}

/* ---- who is stuck; the lock is held ---- */

/* Has this sleeper's barrier not been completed since?  Of what was begun (transfers.c)
   an odd phase is one in which somebody who is awake moves it. */
static bool
stuck(const shdrt_device *dev)
{
	const Team *team = dev->asleep_in;
	return team && !(team->slot && dev->asleep_phase % 2)
		&& !completed(dev->asleep_in, dev->asleep_phase);
}

/* Has the device begun what others of the team wait for? */
static bool
has_begun(const shdrt_device *dev, const Team *team)
{
	return team->slot && dev->flights[team->slot - 1].team == team;
}

static const shdrt_collective *
collective_of(const shdrt_device *dev)
{
	const Team *team = dev->asleep_in;
	for (int i = 0; i < team->n; i++)
		if (team->members[i] == dev)
			return team->slots[i].collective;
	return NULL;
}

void
rt_device_doing(const shdrt_device *dev, char *text, size_t n)
{
	const shdrt_collective *c = dev->asleep_in ? collective_of(dev) : NULL;
	const shdrt_extern_call *call = atomic_load_explicit(&dev->calls, memory_order_relaxed);
	const shdrt_place *loop = atomic_load_explicit(&dev->loop, memory_order_relaxed);
	char where[380];
	if (call) {
		snprintf(text, n, "is in extern function '%s' (%s:%d)", call->name, call->file,
			call->line);
	} else if (c) {
		rt_collective_text(c, where, sizeof where);
		snprintf(text, n, "waits at %s", where);
	} else if (loop && !dev->asleep_in) {
		snprintf(text, n, "goes round the loop of %s:%d", loop->file, loop->line);
	} else {
		snprintf(text, n, "%s",
			dev->asleep_in			    ? "waits to start"
				: dev->ended		    ? "has ended its program"
				: atomic_load(&dev->filled) ? "computes"
							    : "gets its parameters");
	}
}

static bool
team_has(const Team *team, const shdrt_device *dev)
{
	for (int i = 0; i < team->n; i++)
		if (team->members[i] == dev)
			return true;
	return false;
}

/* A member of the sleeper's team that has not come, or NULL. */
static const shdrt_device *
missing_member(const shdrt_device *dev)
{
	const Team *team = dev->asleep_in;
	for (int i = 0; i < team->n; i++) {
		const shdrt_device *other = team->members[i];
		if (!has_begun(other, team) && (other->asleep_in != team || !stuck(other)))
			return other;
	}
	return NULL;
}

/* Does a member of dev's team wait for dev elsewhere? */
static void
look_for_mismatch(const shdrt_device *dev)
{
	const Team *team = dev->asleep_in;
	if (team == &dev->machine->everyone) /* no run has started */
		return;
	for (int i = 0; i < team->n; i++) {
		const shdrt_device *other = team->members[i];
		if (other->asleep_in && other->asleep_in != team && stuck(other)
			&& team_has(other->asleep_in, dev) && !has_begun(other, team)
			&& !has_begun(dev, other->asleep_in)) {
			char a[400], b[400];
			rt_device_doing(dev, a, sizeof a);
			rt_device_doing(other, b, sizeof b);
			rt_fail(SHDRT_MISMATCH,
				"collectives do not agree: "
				"device %lld %s, device %lld %s",
				(long long)dev->id, a, (long long)other->id, b);
		}
	}
}

/* Everybody who has not ended sleeps: can anyone go on? */
static void
look_for_deadlock(Machine *m)
{
	const shdrt_device *dev = NULL;
	for (int64_t i = 0; i < m->ndevices; i++) {
		const shdrt_device *d = &m->devices[i];
		if (d->asleep_in && !stuck(d))
			return;
		if (d->asleep_in && !dev)
			dev = d;
	}
	if (!dev)
		return;
	const shdrt_device *other = missing_member(dev);
	char a[400], b[400];
	rt_device_doing(dev, a, sizeof a);
	if (!other)
		rt_fail(SHDRT_INTERNAL, "lost a wake-up: device %lld %s", (long long)dev->id,
			a);
	rt_device_doing(other, b, sizeof b);
	rt_fail(SHDRT_DEADLOCK,
		"deadlock: device %lld %s for device %lld, "
		"which %s",
		(long long)dev->id, a, (long long)other->id, b);
}

static void
everybody_asleep(Machine *m)
{
	if (m->asleep && m->asleep + m->ended == m->ndevices)
		look_for_deadlock(m);
}

static void
fall_asleep(shdrt_device *dev, Team *team, unsigned phase)
{
	Machine *m = dev->machine;
	pthread_mutex_lock(&m->lock);
	dev->asleep_in = team;
	dev->asleep_phase = phase;
	m->asleep++;
	if (stuck(dev)) {
		look_for_mismatch(dev);
		everybody_asleep(m);
	}
	pthread_mutex_unlock(&m->lock);
}

static void
get_up(shdrt_device *dev)
{
	Machine *m = dev->machine;
	pthread_mutex_lock(&m->lock);
	dev->asleep_in = NULL;
	m->asleep--;
	pthread_mutex_unlock(&m->lock);
}

void
rt_device_ends(shdrt_device *dev)
{
	Machine *m = dev->machine;
	pthread_mutex_lock(&m->lock);
	dev->ended = true;
	m->ended++;
	everybody_asleep(m);
	if (m->ended == m->ndevices)
		pthread_cond_signal(&m->done);
	pthread_mutex_unlock(&m->lock);
}

/* ---- the barrier ---- */

/* Spins, then yields, for a while; true if the barrier is complete. */
static bool
wait_awake(shdrt_device *dev, Team *team, unsigned phase)
{
	if (dev->machine->spins)
		for (int i = 0; i < SPINS; i++) {
			if (completed(team, phase))
				return true;
			relax();
		}
	for (double end = rt_now() + AWAKE; rt_now() < end;)
		for (int i = 0; i < YIELDS_A_LOOK; i++) {
			if (completed(team, phase))
				return true;
			sched_yield();
		}
	return completed(team, phase);
}

void
rt_team_wait_phase(shdrt_device *dev, Team *team, unsigned phase)
{
	if (wait_awake(dev, team, phase))
		return;
	fall_asleep(dev, team, phase);
	while (!completed(team, phase))
		sleep_on(team, phase);
	get_up(dev);
}

bool
rt_team_arrive(shdrt_device *dev, Team *team)
{
	unsigned before = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
	if (!atomic_load_explicit(&dev->loop, memory_order_relaxed))
		rt_clock_progress(dev);
	if (before + 1 < (unsigned)team->n)
		return false;
	atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
	return true;
}

void
rt_team_advance(Team *team, unsigned phase)
{
	atomic_store(&team->phase, phase + 1);
	wake(team);
}

void
rt_team_wait(shdrt_device *dev, Team *team, void (*meet)(Team *))
{
	/* Cannot change before this member has arrived. */
	unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
	if (!rt_team_arrive(dev, team)) {
		rt_team_wait_phase(dev, team, phase);
		return;
	}
	if (meet)
		meet(team);
	rt_team_advance(team, phase);
}
