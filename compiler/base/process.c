/*
 * process.c - starting other programs.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

extern char **environ;

const char *
own_directory(Arena *a)
{
	char own[PATH_MAX] = "./";
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);

	own[n < 0 ? 2 : n] = 0;
	return arena_strndup(a, own, (size_t)(strrchr(own, '/') - own));
}

/* Ours, but for the directory of temporary files. */
static char **
environment(Session *s, const char *directory)
{
	char **variables = NULL;
	int n = 0;

	for (int i = 0; environ[i]; i++)
		if (strncmp(environ[i], "TMPDIR=", 7) != 0)
			APPEND(s->arena, variables, n, environ[i]);
	APPEND(s->arena, variables, n, arena_printf(s->arena, "TMPDIR=%s", directory));
	APPEND(s->arena, variables, n, NULL);
	return variables;
}

/* The child gets back the signals that we ignore, handle or hold. */
static int
spawn(Session *s, const char *const *argv, const char *directory, const sigset_t *mask,
	pid_t *pid)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	int error;

	sigemptyset(&defaults);
	if (!pipes_ignored())
		sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGTERM);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, mask);
	if (directory)
		flags |= POSIX_SPAWN_SETPGROUP;
	posix_spawnattr_setflags(&attributes, flags);
	error = posix_spawnp(pid, argv[0], NULL, &attributes, (char *const *)argv,
		directory ? environment(s, directory) : environ);
	posix_spawnattr_destroy(&attributes);
	return error;
}

bool
process_run(Session *s, const char *const *argv, const char *directory, int *status)
{
	int error, result;
	sigset_t before;
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	endings_hold(&before);
	error = spawn(s, argv, directory, &before, &pid);
	endings_child(error ? 0 : pid, directory != NULL);
	endings_release(&before);
	if (error) {
		diag(s, DIAG_tool_failed, nowhere, "cannot start %s: %s", argv[0],
			strerror(error));
		return false;
	}
	while (waitpid(pid, &result, 0) < 0)
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	endings_child(0, false);
	*status = WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
	return true;
}
