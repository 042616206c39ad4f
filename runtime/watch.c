/*
 * watch.c - programs that take too long.
 *
 *   no progress for 30 s (--stall; 0 waits for ever)
 *     device 0 waits at all-reduce of f32[1,4,1] over X (f.shd:4), in the loop of f.shd:2
 *     device 1 goes round the loop of f.shd:2
 *
 * A stall is that nothing gets on: whoever waits for the run to end looks a few
 * times a second.  What is done in a loop that runs until its data say so is no
 * progress before the loop is left; that it ends at all, nobody can know.  The
 * timeout counts from the start whatever the program is at, on a thread that
 * does nothing else.
 */
#include <time.h>

#include "internal.h"

enum { TOLD = 4 }; /* devices of a message */

/* What everybody is doing, a line each; m->lock is held. */
static void
tell_devices(const Machine *m, char *text, size_t room)
{
	char one[400], loop[400];
	size_t used = 0;
	for (int64_t i = 0; i < m->ndevices && i < TOLD; i++) {
		const shdrt_device *dev = &m->devices[i];
		const shdrt_place *at = atomic_load(&dev->loop);
		*loop = 0;
		rt_device_doing(dev, one, sizeof one);
		if (at && dev->asleep_in)
			snprintf(loop, sizeof loop, ", in the loop of %s:%d", at->file,
				at->line);
		int n = snprintf(text + used, room - used, "\n  device %lld %s%s", (long long)i,
			one, loop);
		used += n > 0 && (size_t)n < room - used ? (size_t)n : 0;
	}
	snprintf(text + used, room - used, "%s", m->ndevices > TOLD ? "\n  ..." : "");
}

/* ... of a launch(), which is one thread. */
static void
tell_launch(const Machine *m, char *text, size_t room)
{
	const char *doing = NULL;
	if (m->program->progress)
		m->program->progress(&doing);
	snprintf(text, room, "\n  the interpreter %s", doing ? doing : "computes");
}

static void
tell(const Machine *m, char *text, size_t room)
{
	(m->program->launch ? tell_launch : tell_devices)(m, text, room);
}

/* ---- no progress -------------------------------------------------------- */

/* m->lock is held. */
NORETURN static void
stalled(const Machine *m)
{
	char text[4000];
	tell(m, text, sizeof text);
	rt_fail(SHDRT_DEADLOCK, "no progress for %g s (--stall; 0 waits for ever)%s", m->stall,
		text);
}

static unsigned long long
total_progress(const Machine *m)
{
	unsigned long long sum = 0;
	for (int64_t id = 0; id < m->ndevices; id++)
		sum += atomic_load_explicit(&m->devices[id].progress, memory_order_relaxed);
	return sum;
}

/* Until the condition holds or it is time; the lock is held. */
static void
wait_for(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	time_t whole = (time_t)seconds;
	until.tv_sec += whole;
	until.tv_nsec += (long)((seconds - (double)whole) * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(condition, lock, &until);
}

static const double LOOK = 0.05; /* seconds between looks */

void
rt_watch_run(Machine *m)
{
	unsigned long long progress = total_progress(m);
	double since = rt_now();
	pthread_mutex_lock(&m->lock);
	while (m->ended < m->ndevices) {
		wait_for(&m->done, &m->lock, LOOK);
		unsigned long long latest = total_progress(m);
		/* How long files take to read is not the program's doing. */
		if (latest != progress || atomic_load(&m->filled) < m->ndevices) {
			progress = latest;
			since = rt_now();
		} else if (m->stall > 0 && m->ended < m->ndevices
			&& rt_now() - since >= m->stall) {
			stalled(m);
		}
	}
	pthread_mutex_unlock(&m->lock);
}

/* The other thread, which does the work, ends it. */
void *
rt_watch_launch(void *data)
{
	Machine *m = data;
	const char *doing = NULL;
	uint64_t before = 0;
	double since = rt_now();
	pthread_mutex_lock(&m->lock);
	while (m->ended < m->ndevices) {
		wait_for(&m->done, &m->lock, LOOK);
		uint64_t now = m->program->progress(&doing);
		if (now != before || !doing) {
			before = now;
			since = rt_now();
		} else if (rt_now() - since >= m->stall) {
			stalled(m);
		}
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* ---- out of time -------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t stop;
	pthread_t thread;
	bool started, stopped;
	double timeout, end;
	const char *doing;
	Machine *machine; /* that is running, or NULL */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *
watch_time(void *data)
{
	(void)data;
	pthread_mutex_lock(&watch.lock);
	for (double left; !watch.stopped && (left = watch.end - rt_now()) > 0;)
		wait_for(&watch.stop, &watch.lock, left);
	if (!watch.stopped) {
		char text[4000] = "";
		Machine *m = watch.machine;
		if (m) {
			pthread_mutex_lock(&m->lock);
			tell(m, text, sizeof text);
		}
		rt_fail(SHDRT_DEADLOCK, "not done after %g s (--timeout)%s%s%s", watch.timeout,
			m ? "" : "\n  it ", m ? "" : watch.doing, text);
	}
	pthread_mutex_unlock(&watch.lock);
	return NULL;
}

void
rt_watch_start(double timeout)
{
	pthread_condattr_t clock;
	if (timeout <= 0)
		return;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&watch.stop, &clock);
	pthread_condattr_destroy(&clock);
	watch.timeout = timeout;
	watch.end = rt_now() + timeout;
	watch.started = pthread_create(&watch.thread, NULL, watch_time, NULL) == 0;
	if (!watch.started)
		rt_fail(SHDRT_MEMORY, "this machine has no thread for --timeout");
}

void
rt_watch_stop(void)
{
	if (!watch.started)
		return;
	pthread_mutex_lock(&watch.lock);
	watch.stopped = true;
	pthread_cond_signal(&watch.stop);
	pthread_mutex_unlock(&watch.lock);
	pthread_join(watch.thread, NULL);
}

void
rt_watch_doing(const char *what, Machine *m)
{
	pthread_mutex_lock(&watch.lock);
	watch.doing = what;
	watch.machine = m;
	pthread_mutex_unlock(&watch.lock);
}
