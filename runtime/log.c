/*
 * log.c - what is told of each step as it ends: a row of --log, and on a terminal a line
 * that the next one takes the place of.
 *
 *   step,seconds,loss,count
 *   1,0.000214,0.693147182,1
 *
 * A row is written at once, so that a program that is killed leaves whole ones; of one
 * that does not fit any more nothing stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "steps.h"

static const double LOOK = 0.1; /* seconds between lines on a terminal */

/* ---- rows ---- */

static void
put_row(StepLog *l, const char *row, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t some = write(l->file, row + done, n - done);
		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0) {
			int error = errno;
			bool whole = ftruncate(l->file, l->whole) == 0;
			rt_fail(SHDRT_IO, "%s: cannot be written%s: %s", l->settings->log,
				done && !whole ? " to the end of a row" : "", strerror(error));
		}
		done += (size_t)some;
	}
	l->whole += (off_t)n;
}

/* So many digits that reading gives the same number. */
static void
print_exactly(FILE *out, const shdrt_tensor *t, const Machine *m)
{
	double scalar; /* or what is as large at most */
	rt_tensor_collect(t, m, &scalar);
	rt_report_value(out, t->dtype, &scalar, 0, t->dtype == SHDRT_f64 ? 17 : 9);
}

/* A result that is called as a column of ours is has "result." before its name, which
   no name has. */
static void
print_column(FILE *out, const char *name)
{
	bool ours = strcmp(name, "step") == 0 || strcmp(name, "seconds") == 0;
	fprintf(out, "%s%s", ours ? "result." : "", name);
}

/* The header, of no step. */
static void
log_row(StepLog *l, const Machine *m, int step, double seconds)
{
	const shdrt_program *p = l->settings->program;
	char *row = NULL;
	size_t n = 0;
	FILE *text = open_memstream(&row, &n);
	if (!text)
		rt_fail(SHDRT_MEMORY, "out of memory");
	if (step)
		fprintf(text, "%d,%.9f", step, seconds);
	else
		fprintf(text, "step,seconds");
	for (int i = 0; i < p->nresults; i++) {
		if (p->results[i].rank)
			continue;
		fputc(',', text);
		if (step)
			print_exactly(text, &p->results[i], m);
		else
			print_column(text, p->results[i].name);
	}
	fputc('\n', text);
	if (fclose(text) != 0)
		rt_fail(SHDRT_MEMORY, "out of memory");
	put_row(l, row, n);
	free(row);
}

/* ---- a terminal ---- */

/* "1.23 ms", "45.6 us" */
static void
time_text(char *text, size_t n, double seconds)
{
	double x = seconds < 1e-3 ? seconds * 1e6 : seconds < 1 ? seconds * 1e3 : seconds;
	snprintf(text, n, "%.*f %s",
		x < 10		  ? 2
			: x < 100 ? 1
				  : 0,
		x,
		seconds < 1e-3	      ? "us"
			: seconds < 1 ? "ms"
				      : "s");
}

/* Is it what the next step begins with, as a number of steps? */
static bool
goes_on(const shdrt_program *p, const shdrt_tensor *result)
{
	for (int i = 0; i < p->nparams; i++)
		if (strcmp(p->params[i].name, result->name) == 0)
			return true;
	return false;
}

/* The first result that is a scalar and goes nowhere, which is what a loss is; else the first
   scalar; NULL: there is none. */
static const shdrt_tensor *
find_loss(const shdrt_program *p)
{
	const shdrt_tensor *first = NULL;
	for (int i = p->nresults - 1; i >= 0; i--) {
		const shdrt_tensor *t = &p->results[i];
		if (t->rank == 0 && (!first || goes_on(p, first) || !goes_on(p, t)))
			first = t;
	}
	return first;
}

static void
loss_text(char *text, size_t n, const Machine *m)
{
	const shdrt_tensor *loss = find_loss(m->program);
	double scalar;
	*text = 0;
	if (!loss)
		return;
	rt_tensor_collect(loss, m, &scalar);
	snprintf(text, n, "  %s %.6g", loss->name, rt_element_double(loss->dtype, &scalar, 0));
}

static int
terminal_width(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
									       : 80;
}

static void
show(StepLog *l, const Machine *m, int step, double now)
{
	char loss[100], each[40], line[200];
	int room = terminal_width() - 1;
	loss_text(loss, sizeof loss, m);
	time_text(each, sizeof each, (now - l->start) / step);
	int n = snprintf(line, sizeof line, "step %d of %d%s  %s a step", step,
		l->settings->steps, loss, each);
	n = n < room ? n : room;
	rt_fail_on_line(true);
	fprintf(stderr, "\r%.*s%*s", n, line, n < l->shown ? l->shown - n : 0, "");
	fflush(stderr);
	l->shown = n;
	l->last_shown = now;
}

/* ---- steps ---- */

StepLog
rt_log_begin(const Settings *s)
{
	StepLog l = {.settings = s, .file = -1};
	l.shows = s->steps && isatty(STDERR_FILENO);
	if (s->log) {
		l.file = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (l.file < 0)
			rt_fail(SHDRT_IO, "%s: cannot be written: %s", s->log, strerror(errno));
		log_row(&l, NULL, 0, 0);
	}
	l.start = l.last = rt_now();
	return l;
}

void
rt_log_step(StepLog *l, const Machine *m, int step)
{
	double now = rt_now();
	if (l->file >= 0)
		log_row(l, m, step, now - l->last);
	if (l->shows
		&& (step == 1 || step == l->settings->steps || now - l->last_shown >= LOOK))
		show(l, m, step, now);
	l->last = now;
}

void
rt_log_end(StepLog *l)
{
	if (l->file >= 0 && close(l->file) != 0)
		rt_fail(SHDRT_IO, "%s: cannot be written: %s", l->settings->log,
			strerror(errno));
	if (l->shown)
		fputc('\n', stderr);
	rt_fail_on_line(false);
}
