/*
 * progress.c - how far it is, on a terminal, of what takes more than two seconds:
 *
 *   shdc: annotation 12 of 64
 */
#include <time.h>
#include <unistd.h>

#include "driver.h"

double
seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Progress
progress_begin(const char *what)
{
	return (Progress){.what = what, .began = seconds_now(), .terminal = isatty(2)};
}

void
progress_show(void *progress, int i, int n)
{
	static const char erase[] = "\r\033[K";
	Progress *p = progress;

	if (!p->terminal || (!p->shown && seconds_now() - p->began < 2))
		return;
	if (i == n)
		fputs(p->shown ? erase : "", stderr);
	else
		fprintf(stderr, "%sshdc: %s %d of %d", erase, p->what, i + 1, n);
	fflush(stderr);
	p->shown = i < n;
}
