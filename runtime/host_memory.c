/*
 * host_memory.c - how much memory this machine can give a program.
 *
 * The least of what is free without swapping (MemAvailable), what is left of the
 * limits of the program's control groups, and of its address space (ulimit -v).
 * Pages of files that a group holds are given back when they are needed.
 */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"

int
rt_cores(void)
{
#if defined(__linux__)
	cpu_set_t may;
	if (sched_getaffinity(0, sizeof may, &may) == 0)
		return CPU_COUNT(&may);
#endif
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (int)n : 1;
}

/* The files of a control group, of versions 1 and 2. */
static const struct GroupFiles {
	const char *limit, *used;
	const char *inactive, *active; /* pages of files: lines of memory.stat */
} group_files[] = {
	{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
		"total_active_file "},
	{"memory.max", "memory.current", "inactive_file ", "active_file "},
};

/* The number behind `key` at the beginning of a line; false: there is none. */
static bool
read_number(const char *folder, const char *file, const char *key, uint64_t *number)
{
	char path[4200], line[256];
	bool found = false;
	snprintf(path, sizeof path, "%s/%s", folder, file);
	FILE *f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = strncmp(line, key, strlen(key)) == 0
			&& sscanf(line + strlen(key), "%" SCNu64, number) == 1;
	if (f)
		fclose(f);
	return found;
}

static uint64_t
left_of(uint64_t limit, uint64_t used)
{
	return used < limit ? limit - used : 0;
}

uint64_t
rt_memory_of_groups(const char *root, const char *group, int version)
{
	const struct GroupFiles *files = &group_files[version - 1];
	uint64_t least = UINT64_MAX;
	char folder[4096];
	if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, group) >= sizeof folder)
		return least;
	for (;;) {
		uint64_t limit, used, inactive = 0, active = 0;
		if (read_number(folder, files->limit, "", &limit)
			&& read_number(folder, files->used, "", &used)) {
			read_number(folder, "memory.stat", files->inactive, &inactive);
			read_number(folder, "memory.stat", files->active, &active);
			uint64_t left = left_of(limit, left_of(used, inactive + active));
			least = left < least ? left : least;
		}
		char *slash = strrchr(folder, '/');
		if (strlen(folder) <= strlen(root) || !slash)
			return least;
		*slash = 0;
	}
}

/* Lines of /proc/self/cgroup: "4:memory:/a/b" of version 1, "0::/a/b" of 2. */
static uint64_t
memory_of_groups(void)
{
	uint64_t least = UINT64_MAX;
	char line[4096];
	FILE *f = fopen("/proc/self/cgroup", "r");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*controllers++ = *group++ = 0;
		uint64_t left = UINT64_MAX;
		if (!*controllers)
			left = rt_memory_of_groups("/sys/fs/cgroup", group, 2);
		else if (strstr(controllers, "memory"))
			left = rt_memory_of_groups("/sys/fs/cgroup/memory", group, 1);
		least = left < least ? left : least;
	}
	if (f)
		fclose(f);
	return least;
}

static uint64_t
memory_of_space(void)
{
	struct rlimit limit;
	uint64_t pages = 0;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	read_number("/proc/self", "statm", "", &pages);
	return left_of(limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

uint64_t
rt_memory_available(const char **of)
{
	uint64_t kib = 0, least = UINT64_MAX;
	if (read_number("/proc", "meminfo", "MemAvailable:", &kib))
		least = kib * 1024;
	*of = "free on this machine";
	uint64_t left = memory_of_groups();
	if (left < least) {
		least = left;
		*of = "left of the limit of its control group";
	}
	left = memory_of_space();
	if (left < least) {
		least = left;
		*of = "left of the limit of its address space (ulimit -v)";
	}
	return least;
}

/* As everywhere: three digits. */
void
rt_memory_text(uint64_t bytes, char text[MEMORY_TEXT])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double amount = (double)bytes;
	int unit = 0;
	for (; amount >= 1023.5 && unit < 5; unit++)
		amount /= 1024;
	snprintf(text, MEMORY_TEXT, amount < 999.5 ? "%.3g %s" : "%.0f %s", amount,
		units[unit]);
}

/* Bytes that there are, and of what; NULL: enough, as far as `needed` goes. */
static const char *
falls_short(uint64_t needed, uint64_t *available)
{
	enum { LITTLE = 16 * 1024 * 1024 }; /* looking takes longer than touching it */
	const char *of = NULL;
	if (needed <= LITTLE)
		return NULL;
	*available = rt_memory_available(&of);
	return needed > *available ? of : NULL;
}

void
rt_memory_check_run(const shdrt_program *p, uint64_t whole)
{
	uint64_t needed, available;
	char a[MEMORY_TEXT], b[MEMORY_TEXT], c[MEMORY_TEXT], d[MEMORY_TEXT], e[MEMORY_TEXT];
	if (__builtin_mul_overflow((uint64_t)p->slab_bytes, (uint64_t)p->ndevices, &needed)
		|| __builtin_add_overflow(needed, whole, &needed)
		|| __builtin_add_overflow(needed, (uint64_t)p->launch_bytes, &needed))
		needed = UINT64_MAX;
	const char *of = falls_short(needed, &available);
	if (!of)
		return;
	rt_memory_text(needed, a);
	rt_memory_text((uint64_t)p->slab_bytes, b);
	rt_memory_text(whole, c);
	rt_memory_text(available, d);
	rt_memory_text((uint64_t)p->launch_bytes, e);
	rt_fail(SHDRT_MEMORY,
		"out of memory: %s are needed (%lld device%s of %s, %s%s%s for whole tensors), "
		"%s are %s\n"
		"  smaller sizes or a smaller mesh need less (shdc -D, --mesh); shdc "
		"--emit=memory shows what takes most",
		a, (long long)p->ndevices, p->ndevices == 1 ? "" : "s", b, p->launch ? e : "",
		p->launch ? " for values of the interpreter, and " : "and ", c, d, of);
}

void
rt_memory_check_reference(const shdrt_program *p, uint64_t whole)
{
	uint64_t needed, available;
	char a[MEMORY_TEXT], b[MEMORY_TEXT], c[MEMORY_TEXT], d[MEMORY_TEXT];
	if (__builtin_add_overflow((uint64_t)p->check_bytes, whole, &needed))
		needed = UINT64_MAX;
	const char *of = falls_short(needed, &available);
	if (!of)
		return;
	rt_memory_text(needed, a);
	rt_memory_text(whole, b);
	rt_memory_text((uint64_t)p->check_bytes, c);
	rt_memory_text(available, d);
	rt_fail(SHDRT_MEMORY,
		"out of memory: %s are needed by --check (%s for inputs and results, and %s "
		"for "
		"values of the unsharded program, nine times over where they are inexact), %s "
		"are "
		"%s\n  smaller sizes need less (shdc -D); without --check there is enough",
		a, b, c, d, of);
}
