/*
 * workers.c - pieces of work that need nothing of each other, by as many processes as
 * there are processors.
 *
 * A worker is a copy of this process: what it changes nobody sees, but for the memory
 * that all share.  One that dies leaves its piece undone.
 */
#define _GNU_SOURCE /* sigtimedwait() */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

void *
shared_new(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void
shared_free(void *p, size_t bytes)
{
	munmap(p, bytes);
}

/* The next that nobody has; of a worker for one piece only that. */
static void
take_pieces(const Workload *w, atomic_llong *next)
{
	do {
		int64_t i = atomic_fetch_add(next, 1);
		if (i >= w->n)
			return;
		w->piece(w->data, i);
	} while (!w->alone);
}

/* Negative: there can be none. */
static pid_t
start_worker(const Workload *w, atomic_llong *next)
{
	pid_t parent = getpid();

	fflush(stdout); /* or a worker that dies would write it, too */
	pid_t pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		take_pieces(w, next);
	_exit(0);
}

/* Waits until one has ended, or a tenth of a second; how many have. */
static int
ended_workers(const Workload *w, const sigset_t *child_ends, int running)
{
	const struct timespec tenth = {.tv_nsec = 100000000};
	int ended = 0, status;

	sigtimedwait(child_ends, NULL, &tenth);
	while (ended < running) {
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			return running;
		if (pid <= 0)
			break;
		if (status && w->failed)
			w->failed(w->data, pid, status);
		ended++;
	}
	return ended;
}

void
work_share(const Workload *w)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	atomic_llong *next = shared_new(sizeof *next), own = 0;
	sigset_t child_ends, before;
	int running = 0;
	bool can_start = next;

	if (!next)
		next = &own;
	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ends, &before);
	while (running || atomic_load(next) < w->n) {
		int64_t begun = atomic_load(next);
		if (w->progress)
			w->progress(w->progress_data, (int)(begun < w->n ? begun : w->n - 1),
				(int)w->n);
		while (can_start && running < processors && running < w->n
			&& atomic_load(next) < w->n) {
			can_start = start_worker(w, next) > 0;
			running += can_start;
		}
		if (running)
			running -= ended_workers(w, &child_ends, running);
		else if (w->elsewhere)
			out_of_memory();
		else
			take_pieces(w, next);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (w->progress)
		w->progress(w->progress_data, (int)w->n, (int)w->n);
	if (next != &own)
		shared_free(next, sizeof *next);
}

bool
work_apart(void (*piece)(void *data, int64_t i), void *data)
{
	const Workload w = {.n = 1, .piece = piece, .data = data, .alone = true};
	atomic_llong next = 0;
	pid_t pid = start_worker(&w, &next);

	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0;
}
