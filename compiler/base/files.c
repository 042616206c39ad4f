/*
 * files.c - outputs that are complete or absent.
 *
 * A regular file is written under a temporary name in its own directory and
 * renamed.  Temporary files and directories are "doomed": on a list that is
 * swept at exit and by the handler of the signals that end a program, so the
 * handler only reads the list and calls async-signal-safe functions.
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

enum { MAX_DOOMED = 64 };

static char *doomed[MAX_DOOMED]; /* slots are never moved */
static bool sweeping;

static void
remove_files(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
}

/* The files of a flat directory, then itself; nothing if it is none. */
static void
remove_directory(const char *path)
{
	DIR *d = opendir(path);

	if (!d)
		return;
	remove_files(d);
	closedir(d);
	rmdir(path);
}

static void
sweep(void)
{
	for (int i = 0; i < MAX_DOOMED; i++) {
		if (!doomed[i])
			continue;
		if (unlink(doomed[i]) != 0)
			remove_directory(doomed[i]);
	}
}

/* The program is over: what readdir() allocates no longer matters. */
static void
sweep_on_signal(int number)
{
	process_end();
	sweep();
	signal(number, SIG_DFL);
	raise(number);
}

static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
enum { NENDINGS = sizeof endings / sizeof *endings };

static void
start_sweeping(void)
{
	if (sweeping)
		return;
	sweeping = true;
	atexit(sweep);
	for (int i = 0; i < NENDINGS; i++)
		if (signal(endings[i], sweep_on_signal) == SIG_IGN)
			signal(endings[i], SIG_IGN);
}

void
endings_hold(sigset_t *before)
{
	sigset_t set;

	start_sweeping();
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

/* Kept in malloc'ed memory: it outlives the session. */
static void
doom(const char *path)
{
	for (int i = 0; i < MAX_DOOMED; i++)
		if (!doomed[i]) {
			doomed[i] = strdup(path);
			return;
		}
	die("more than %d temporary files", MAX_DOOMED);
}

static void
pardon(const char *path)
{
	for (int i = 0; i < MAX_DOOMED; i++)
		if (doomed[i] && strcmp(doomed[i], path) == 0) {
			free(doomed[i]);
			doomed[i] = NULL;
		}
}

static bool
cannot_write(Session *s, const char *path)
{
	diag(s, DIAG_unwritable, (Range){0}, "cannot write %s: %s", path, strerror(errno));
	return false;
}

/* A device, a pipe; or a link to nothing, for open() to follow or refuse. */
static bool
is_special(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return !S_ISREG(st.st_mode);
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
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

/* As open() would have made it: 0666 less the umask, or what it replaces. */
static void
set_mode(int fd, const char *path)
{
	struct stat st;
	mode_t mask = umask(0);

	umask(mask);
	fchmod(fd, stat(path, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask);
}

/* Other programs are to take its name for a name, not for an option. */
static char *
open_beside(Session *s, const char *path, int *fd)
{
	const char *target = real_target(s, path);
	char *temporary =
		arena_printf(s->arena, "%s%s.XXXXXX", *target == '-' ? "./" : "", target);
	sigset_t before;

	endings_hold(&before);
	*fd = mkstemp(temporary);
	if (*fd >= 0)
		doom(temporary);
	endings_release(&before);
	if (*fd < 0) {
		cannot_write(s, path);
		return NULL;
	}
	set_mode(*fd, target);
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
	pardon(temporary);
	return true;
}

static bool
write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, data, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		data += written;
		n -= (size_t)written;
	}
	return true;
}

static bool
write_in_place(Session *s, const char *path, const char *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0666);
	bool good = fd >= 0 && write_all(fd, data, n);

	if (!good)
		cannot_write(s, path);
	if (fd >= 0 && close(fd) != 0 && good)
		good = cannot_write(s, path);
	return good;
}

bool
file_write(Session *s, const char *path, const char *data, size_t n)
{
	char *temporary;
	bool good;
	int fd;

	if (is_special(path))
		return write_in_place(s, path, data, n);
	temporary = open_beside(s, path, &fd);
	if (!temporary)
		return false;
	good = write_all(fd, data, n);
	if (!good)
		cannot_write(s, path);
	if (close(fd) != 0 && good)
		good = cannot_write(s, path);
	if (!good) {
		unlink(temporary);
		pardon(temporary);
		return false;
	}
	return file_keep(s, temporary, path);
}

/* ---- private directories --------------------------------------------- */

/*
 * A file in it is locked while its maker lives, so a directory with the file
 * but no lock is left over from a process that was killed.  A new one is let
 * alone: its maker may not have come to lock it.
 */
enum { NEW_SECONDS = 60 };
static const char private_prefix[] = "shdc-", lock_name[] = ".shdc-lock";

static int
open_lock(int directory, int flags)
{
	return openat(directory, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

static bool
is_left_over(int directory)
{
	int fd = open_lock(directory, 0);
	struct stat st;
	bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid()
		&& time(NULL) - st.st_mtime > NEW_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return left;
}

static void
remove_left_over(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d && is_left_over(fd)) {
		remove_files(d);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static void
remove_left_overs(const char *parent)
{
	size_t prefix = sizeof private_prefix - 1;
	DIR *d = opendir(parent);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, private_prefix, prefix) == 0
			&& strlen(e->d_name) == prefix + 6)
			remove_left_over(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}

/* Until the process ends. */
static void
lock_directory(const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = directory < 0 ? -1 : open_lock(directory, O_CREAT);

	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	if (directory >= 0)
		close(directory);
}

const char *
directory_private(Session *s)
{
	const char *wanted = getenv("TMPDIR");
	const char *parent = wanted && *wanted ? wanted : "/tmp";
	char *path = arena_printf(s->arena, "%s%s/%sXXXXXX", *parent == '-' ? "./" : "", parent,
		private_prefix);

	sigset_t before;
	bool made;

	remove_left_overs(parent);
	endings_hold(&before);
	made = mkdtemp(path) != NULL;
	if (made)
		doom(path);
	endings_release(&before);
	if (!made) {
		cannot_write(s, path);
		return NULL;
	}
	lock_directory(path);
	return path;
}
