/*
 * endings.c - how the program ends: nothing half made is left behind.
 *
 * Temporary files and directories are "doomed": on a list that is swept at
 * exit and by the handler of the signals that end a program, so the handler
 * only reads the list and calls async-signal-safe functions.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

enum { MAX_DOOMED = 64 };

static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
enum { NENDINGS = sizeof endings / sizeof *endings };

static struct Doomed {
	char *path;
	pid_t by;     /* a worker that ends leaves ours alone */
} doomed[MAX_DOOMED]; /* slots are never moved */
static bool sweeping;
static bool ignored;			  /* broken pipes, by who started us */
static volatile sig_atomic_t child;	  /* running, 0 none */
static volatile sig_atomic_t child_leads; /* a group of its own */

void
directory_remove(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(fd, e->d_name, 0);
	closedir(d);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void
sweep(void)
{
	for (int i = 0; i < MAX_DOOMED; i++) {
		const struct Doomed *d = &doomed[i];
		if (d->path && d->by == getpid() && unlink(d->path) != 0)
			directory_remove(AT_FDCWD, d->path);
	}
}

/*
 * A program that runs tidies up for itself; a tool is killed with all it
 * started, and is gone when we are, so that it makes no file behind our back.
 * What readdir() allocates no longer matters.
 */
static void
end_on_signal(int number)
{
	if (child && !child_leads)
		kill((pid_t)child, SIGTERM);
	else if (child && kill(-(pid_t)child, SIGKILL) == 0)
		waitpid((pid_t)child, NULL, 0);
	sweep();
	signal(number, SIG_DFL);
	raise(number);
}

void
endings_hold(sigset_t *before)
{
	sigset_t set;

	if (!sweeping) {
		sweeping = true;
		atexit(sweep);
		for (int i = 0; i < NENDINGS; i++)
			if (signal(endings[i], end_on_signal) == SIG_IGN)
				signal(endings[i], SIG_IGN);
	}
	sigemptyset(&set);
	for (int i = 0; i < NENDINGS; i++)
		sigaddset(&set, endings[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

void
endings_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void
pipes_ignore(void)
{
	ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
}

bool
pipes_ignored(void)
{
	return ignored;
}

void
pipes_restore(void)
{
	if (!ignored)
		signal(SIGPIPE, SIG_DFL);
}

void
pipe_broken(void)
{
	if (ignored)
		return;
	sweep();
	pipes_restore();
	raise(SIGPIPE);
}

void
endings_child(int pid, bool leads)
{
	child_leads = leads;
	child = pid;
}

void
path_doom(const char *path)
{
	for (int i = 0; i < MAX_DOOMED; i++)
		if (!doomed[i].path) {
			doomed[i].by = getpid();
			doomed[i].path = strdup(path);
			return;
		}
	die("more than %d temporary files", MAX_DOOMED);
}

void
path_pardon(const char *path)
{
	for (int i = 0; i < MAX_DOOMED; i++)
		if (doomed[i].path && strcmp(doomed[i].path, path) == 0) {
			free(doomed[i].path);
			doomed[i].path = NULL;
		}
}
