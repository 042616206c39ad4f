/*
 * child.h - runs a program in a process of its own: how it ended, what it
 * said and how long it took.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shdrt.h"

typedef struct Ending {
	int status; /* negative: the signal */
	double seconds;
	char text[4096]; /* standard error */
} Ending;

static double
child_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
child_run(const shdrt_program *p, char *option, char *helper, Ending *e)
{
	int ends[2], status = 0;
	char name[] = "t", *argv[] = {name, option, helper, NULL};
	*e = (Ending){.status = -1, .seconds = child_clock()};
	if (pipe(ends) != 0)
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 2);
		_exit(shdrt_main(p, helper ? 3 : 2, argv));
	}
	close(ends[1]);
	size_t used = 0;
	ssize_t n;
	while (used + 1 < sizeof e->text
		&& (n = read(ends[0], e->text + used, sizeof e->text - 1 - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	waitpid(child, &status, 0);
	e->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	e->seconds = child_clock() - e->seconds;
}

#endif
