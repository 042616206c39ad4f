/*
 * outputs.c - where results are written: each to a file of its own, as .npy or
 * the bytes of a .txt, or several by name to a .safetensors or .npz file.
 *
 * Files are written beside their targets and renamed when the last one is there:
 * all are there as a whole, or as they were before.  A target that is not a regular
 * file is written in place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

static bool
same_status(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The directory that a file is or will be in, with its slash, to be freed. */
static char *
parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
	if (!parent)
		rt_fail(SHDRT_MEMORY, "out of memory");
	return parent;
}

/* To be freed. */
static char *
joined(const char *directory, const char *name, const char *ending)
{
	size_t room = strlen(directory) + strlen(name) + strlen(ending) + 1;
	char *path = rt_get_memory(1, room);
	snprintf(path, room, "%s%s%s", directory, name, ending);
	return path;
}

/* Where the links of a file lead that may not be there yet, to be freed. */
static char *
behind_links(const char *path)
{
	enum { MOST_LINKS = 40 };
	char link[4096], *at = joined("", path, "");
	for (int i = 0; i < MOST_LINKS; i++) {
		ssize_t n = readlink(at, link, sizeof link - 1);
		if (n <= 0)
			break;
		link[n] = 0;
		char *parent = parent_of(at);
		free(at);
		at = joined(*link == '/' ? "" : parent, link, "");
		free(parent);
	}
	return at;
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
rt_is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* M.NPZ is what m.npz is. */
bool
rt_has_ending(const char *path, const char *ending)
{
	size_t n = strlen(path), k = strlen(ending);
	return n > k && strcasecmp(path + n - k, ending) == 0;
}

bool
rt_holds_many(const char *path)
{
	return rt_has_ending(path, ".safetensors") || rt_has_ending(path, ".npz");
}

bool
rt_same_output(const char *a, const char *b)
{
	struct stat x, y;
	if (rt_is_standard(a) || rt_is_standard(b))
		return strcmp(a, b) == 0;
	bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
	if (has_a || has_b)
		return has_a && has_b && S_ISREG(x.st_mode) && same_status(&x, &y);
	char *of_a = behind_links(a), *of_b = behind_links(b);
	bool same = strcmp(name_in_parent(of_a), name_in_parent(of_b)) == 0
		&& same_parent(of_a, of_b);
	free(of_a);
	free(of_b);
	return same;
}

bool
rt_is_output(const Settings *s, const char *path)
{
	bool is = s->out_whole && rt_same_output(s->out_whole, path);
	for (int i = 0; i < s->program->nresults; i++)
		is |= s->out_files[i] && rt_same_output(s->out_files[i], path);
	return is;
}

/* In the directory of all results, to be freed; a name leads nowhere else. */
static char *
path_of_result(const Settings *s, int i)
{
	char *directory = joined(s->out_directory, "/", "");
	char *name = joined("", s->program->results[i].name, "");
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	char *path = joined(directory, name, ".npy");
	free(directory);
	free(name);
	return path;
}

/* Names that differ where a path cannot. */
static void
check_names(const Settings *s)
{
	int n = s->program->nresults;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i && strchr(s->program->results[i].name, '/'); k++) {
			char *a = path_of_result(s, i), *b = path_of_result(s, k);
			if (strcmp(a, b) == 0)
				rt_fail(SHDRT_USAGE, "--out: two results, %s and %s, into %s",
					s->program->results[k].name,
					s->program->results[i].name, a);
			free(a);
			free(b);
		}
}

/* A result that has a file of its own, which is another's of the directory. */
static void
check_directory(const Settings *s)
{
	int n = s->program->nresults;
	for (int i = 0; i < n; i++) {
		char *path = path_of_result(s, i);
		for (int k = 0; k < n; k++)
			if (k != i && s->out_files[k] && rt_same_output(s->out_files[k], path))
				rt_fail(SHDRT_USAGE, "--out: two results, %s and %s, into %s",
					s->program->results[i].name,
					s->program->results[k].name, path);
		free(path);
	}
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
	if (s->out_directory) {
		check_names(s);
		make_directory(s->out_directory);
		check_directory(s);
	}
	if (s->out_whole)
		check_output(s->out_whole);
	if (s->trace)
		check_output(s->trace);
	if (s->log)
		check_output(s->log);
	for (int i = 0; i < s->program->nresults; i++)
		if (s->out_files[i] && !rt_is_standard(s->out_files[i]))
			check_output(s->out_files[i]);
}

/* ---- writing ---- */

/* The stream is closed. */
static void
put_all(FILE *f, const char *path, Put *put, const void *data)
{
	errno = 0;
	bool good = put(f, path, data) && fflush(f) == 0;
	int error = errno;
	if (fclose(f) != 0 || !good)
		rt_fail(SHDRT_IO, "%s: cannot be written: %s", path,
			strerror(good ? errno : error));
}

static FILE *
create(const char *path, const char *shown, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f)
		rt_fail(SHDRT_IO, "%s: cannot be written: %s", shown, strerror(errno));
	return f;
}

typedef struct Written {
	struct Written *next;
	char *beside, *target; /* through links: it is the file that is replaced */
} Written;

/* Beside its place, where there can be something; added to the list. */
static void
write_beside(Written **written, const char *path, Put *put, const void *data)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;
	if (exists && S_ISDIR(status.st_mode))
		rt_fail(SHDRT_IO, "%s: cannot be written: it is a directory", path);
	if (exists && !S_ISREG(status.st_mode)) {
		put_all(create(path, path, 0), path, put, data);
		return;
	}
	char ending[32];
	Written *w = rt_get_memory(1, sizeof *w);
	snprintf(ending, sizeof ending, ".%ld.tmp", (long)getpid());
	*w = (Written){.next = *written, .target = behind_links(path)};
	w->beside = joined("", w->target, ending);
	*written = w;
	FILE *f = create(w->beside, path, O_CREAT | O_EXCL);
	rt_fail_remove(w->beside);
	put_all(f, path, put, data);
}

static void
rename_all(Written *w)
{
	for (Written *next; w; w = next) {
		next = w->next;
		if (rename(w->beside, w->target) != 0)
			rt_fail(SHDRT_IO, "%s: cannot be written: %s", w->target,
				strerror(errno));
		free(w->beside);
		free(w->target);
		free(w);
	}
	rt_fail_forget();
}

void
rt_output_write(const char *path, Put *put, const void *data)
{
	Written *written = NULL;
	write_beside(&written, path, put, data);
	rename_all(written);
}

typedef struct Arrays {
	int n;
	const shdrt_array *arrays;
} Arrays;

/* What the target's name asks for. */
static bool
put_arrays(FILE *f, const char *path, const void *data)
{
	const Arrays *a = data;
	size_t bytes = rt_array_bytes(a->arrays);
	if (rt_has_ending(path, ".txt"))
		return fwrite(a->arrays->data, 1, bytes, f) == bytes;
	if (rt_has_ending(path, ".npz"))
		return rt_npz_put(f, a->n, a->arrays);
	return rt_has_ending(path, ".safetensors") ? rt_safetensors_put(f, a->n, a->arrays)
						   : rt_npy_put(f, a->arrays);
}

static void
write_file(Written **written, const char *path, int n, const shdrt_array *arrays)
{
	write_beside(written, path, put_arrays, &(Arrays){n, arrays});
}

/* Result i and those after it that go into the same file; nothing, if one before
   it does. */
static void
write_shared(Written **written, const Settings *s, int i, const shdrt_array *results)
{
	int n = 0;
	for (int k = 0; k < i; k++)
		if (s->out_files[k] == s->out_files[i])
			return;
	shdrt_array *some = rt_get_memory((size_t)s->program->nresults, sizeof *some);
	for (int k = i; k < s->program->nresults; k++)
		if (s->out_files[k] == s->out_files[i])
			some[n++] = results[k];
	write_file(written, s->out_files[i], n, some);
	free(some);
}

/* Standard output comes behind all files, which are there when that is. */
void
rt_outputs_write(const Settings *s, const shdrt_array *results)
{
	int n = s->program->nresults;
	Written *written = NULL;
	for (int i = 0; i < n && s->out_directory; i++) {
		char *path = path_of_result(s, i);
		write_file(&written, path, 1, &results[i]);
		free(path);
	}
	if (s->out_whole)
		write_file(&written, s->out_whole, n, results);
	for (int i = 0; i < n; i++)
		if (s->out_files[i] && !rt_is_standard(s->out_files[i]))
			write_shared(&written, s, i, results);
	for (int i = 0; i < n; i++)
		if (s->out_files[i] && rt_is_standard(s->out_files[i])
			&& (!rt_npy_put(stdout, &results[i]) || fflush(stdout) != 0))
			rt_fail(SHDRT_IO, "standard output: %s", strerror(errno));
	rename_all(written);
}
