/*
 * outputs.c - where results are written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

static bool
same_status(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The directory that a file is or will be in, to be freed. */
static char *
parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!parent)
		rt_fail(SHDRT_MEMORY, "out of memory");
	return parent;
}

static bool
same_parent(const char *a, const char *b)
{
	struct stat x, y;
	char *of_a = parent_of(a), *of_b = parent_of(b);
	bool same = stat(of_a, &x) == 0 && stat(of_b, &y) == 0 && same_status(&x, &y);
	free(of_a);
	free(of_b);
	return same;
}

static const char *
name_in_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool
rt_same_output(const char *a, const char *b)
{
	struct stat x, y;
	bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
	if (has_a || has_b)
		return has_a && has_b && S_ISREG(x.st_mode) && same_status(&x, &y);
	return strcmp(name_in_parent(a), name_in_parent(b)) == 0 && same_parent(a, b);
}

/* Before the run: a directory that cannot be had is told at once. */
static void
make_directory(const char *path)
{
	struct stat status;
	if (mkdir(path, 0777) == 0)
		rt_fail_made(path);
	else if (errno != EEXIST)
		rt_fail(SHDRT_IO, "%s: cannot be made: %s", path, strerror(errno));
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		rt_fail(SHDRT_IO, "%s: not a directory", path);
}

/* So is a file that nothing can be written beside. */
static void
check_output(const char *path)
{
	struct stat status;
	char *parent = parent_of(path);
	bool exists = stat(path, &status) == 0;
	if (exists && S_ISDIR(status.st_mode))
		rt_fail(SHDRT_IO, "%s: cannot be written: it is a directory", path);
	if ((!exists || S_ISREG(status.st_mode)) && access(parent, W_OK) != 0)
		rt_fail(SHDRT_IO, "%s: cannot be written: %s", path, strerror(errno));
	free(parent);
}

void
rt_outputs_check(const Settings *s)
{
	if (s->out_directory)
		make_directory(s->out_directory);
	for (int i = 0; i < s->program->nresults; i++)
		if (s->out_files[i])
			check_output(s->out_files[i]);
}

void
rt_output_write(const Settings *s, int i, void *data)
{
	const shdrt_tensor *t = &s->program->results[i];
	shdrt_array a = rt_array_of(t, data);
	if (s->out_directory) {
		size_t room = strlen(s->out_directory) + strlen(t->name) + 8;
		char *path = rt_get_memory(1, room);
		snprintf(path, room, "%s/%s.npy", s->out_directory, t->name);
		rt_npy_write(path, &a);
		free(path);
	}
	if (s->out_files[i])
		rt_npy_write(s->out_files[i], &a);
}
