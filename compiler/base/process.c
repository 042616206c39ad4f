/*
 * process.c - starting other programs.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base.h"

extern char **environ;

static volatile sig_atomic_t child;	/* running, 0 none */

void
process_end(void)
{
	if (child)
		kill((pid_t)child, SIGTERM);
}

/* The child gets back the signals that we ignore or handle. */
static int
spawn(const char *const *argv, pid_t *pid)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int error;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGTERM);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = posix_spawnp(pid, argv[0], NULL, &attributes,
		(char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
	return error;
}

bool
process_run(Session *s, const char *const *argv, int *status)
{
	int error, result;
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	error = spawn(argv, &pid);
	if (error) {
		diag(s, DIAG_tool_failed, (Range){0}, "cannot start %s: %s",
			argv[0], strerror(error));
		return false;
	}
	child = pid;
	while (waitpid(pid, &result, 0) < 0)
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	child = 0;
	*status = WIFEXITED(result) ? WEXITSTATUS(result)
		: 128 + WTERMSIG(result);
	return true;
}
