/*
 * files.c - outputs that are complete or absent.
 *
 * A regular file is written under a temporary name in its own directory and
 * renamed.  Until then it is doomed, as a private directory always is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

static bool
cannot_write(Session *s, const char *path)
{
	diag(s, DIAG_unwritable, nowhere, "cannot write %s: %s", path, strerror(errno));
	return false;
}

/* What a symbolic link names is replaced, not the link. */
static const char *
real_target(Session *s, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = path;

	if (real)
		copy = arena_strndup(s->arena, real, strlen(real));
	free(real);
	return copy;
}

/* A new file beside `path`, with the mode that open() would have given it: 0666
   less the umask, or that of what it replaces. */
static char *
open_beside(Session *s, const char *path, int *fd)
{
	const char *target = real_target(s, path);
	/* Other programs are to take its name for a name, not for an option. */
	char *temporary =
		arena_printf(s->arena, "%s%s.XXXXXX", *target == '-' ? "./" : "", target);
	sigset_t before;
	struct stat st;

	endings_hold(&before);
	*fd = mkstemp(temporary);
	if (*fd >= 0)
		path_doom(temporary);
	endings_release(&before);
	if (*fd < 0) {
		cannot_write(s, path);
		return NULL;
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(*fd, stat(target, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask);
	return temporary;
}

const char *
file_beside(Session *s, const char *path)
{
	int fd;
	char *temporary = open_beside(s, path, &fd);

	if (temporary)
		close(fd);
	return temporary;
}

bool
file_keep(Session *s, const char *temporary, const char *path)
{
	if (rename(temporary, real_target(s, path)) != 0)
		return cannot_write(s, path);
	path_pardon(temporary);
	return true;
}

/* Also closes it. */
static bool
write_all(Session *s, const char *path, int fd, const char *data, size_t n)
{
	bool good = fd >= 0;

	while (good && n > 0) {
		ssize_t written = write(fd, data, n);
		if (written < 0 && errno == EINTR)
			continue;
		good = written >= 0;
		if (good) {
			data += written;
			n -= (size_t)written;
		}
	}
	if (!good)
		cannot_write(s, path);
	if (fd >= 0 && close(fd) != 0 && good)
		good = cannot_write(s, path);
	return good;
}

bool
file_write(Session *s, const char *path, const char *data, size_t n)
{
	struct stat st;
	int fd;
	/* A device, a pipe; or a link to nothing, for open() to follow or refuse. */
	bool special = stat(path, &st) == 0 ? !S_ISREG(st.st_mode)
					    : lstat(path, &st) == 0 && S_ISLNK(st.st_mode);

	if (special)
		return write_all(s, path, open(path, O_WRONLY | O_CREAT, 0666), data, n);
	char *temporary = open_beside(s, path, &fd);
	if (!temporary)
		return false;
	if (write_all(s, path, fd, data, n))
		return file_keep(s, temporary, path);
	unlink(temporary);
	path_pardon(temporary);
	return false;
}

/* ---- private directories --------------------------------------------- */

/*
 * A file in it is locked while its maker lives, so a directory with the file
 * but no lock is left over from a process that was killed.  A new one is let
 * alone: its maker may not have come to lock it.
 */
enum { NEW_SECONDS = 60 };
static const char private_prefix[] = "shdc-";

/* The file of the directory `name` that is locked, -1: it has none. */
static int
open_lock(int parent, const char *name, int flags)
{
	int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = -1;

	if (directory >= 0) {
		fd = openat(directory, ".shdc-lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags,
			0600);
		close(directory);
	}
	return fd;
}

static bool
is_left_over(int parent, const char *name)
{
	int fd = open_lock(parent, name, 0);
	struct stat st;
	bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid()
		&& time(NULL) - st.st_mtime > NEW_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return left;
}

const char *
directory_private(Session *s)
{
	const char *wanted = getenv("TMPDIR");
	const char *parent = wanted && *wanted ? wanted : "/tmp";
	char *path = arena_printf(s->arena, "%s%s/%sXXXXXX", *parent == '-' ? "./" : "", parent,
		private_prefix);
	size_t prefix = sizeof private_prefix - 1;
	DIR *d = opendir(parent);
	struct dirent *e;
	sigset_t before;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, private_prefix, prefix) == 0
			&& strlen(e->d_name) == prefix + 6 && is_left_over(dirfd(d), e->d_name))
			directory_remove(dirfd(d), e->d_name);
	if (d)
		closedir(d);

	endings_hold(&before);
	bool made = mkdtemp(path) != NULL;
	if (made)
		path_doom(path);
	endings_release(&before);
	if (!made) {
		cannot_write(s, path);
		return NULL;
	}
	int lock = open_lock(AT_FDCWD, path, O_CREAT); /* until the process ends */
	if (lock >= 0)
		flock(lock, LOCK_EX | LOCK_NB);
	return path;
}
