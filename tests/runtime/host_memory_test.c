/*
 * What is left of the limits of control groups, from folders as the kernel shows
 * them; and how memory is told.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_memory.h"
#include "tap.h"

static char root[] = "/tmp/host_memory_XXXXXX";

static char *
path_of(const char *name)
{
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static void
put(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");
	if (!f)
		exit(99);
	fputs(text, f);
	fclose(f);
}

static void
is_left(uint64_t wanted, const char *group, int version, const char *what)
{
	uint64_t left = rt_memory_of_groups(root, group, version);
	ok(left == wanted, "%s: %llu", what, (unsigned long long)left);
}

static void
is_told(uint64_t bytes, const char *wanted)
{
	char text[MEMORY_TEXT];
	rt_memory_text(bytes, text);
	ok(!strcmp(text, wanted), "%llu bytes: %s", (unsigned long long)bytes, text);
}

int
main(void)
{
	static const char *const files[] = {"a/b/memory.max", "a/b/memory.current",
		"a/b/memory.stat", "a/memory.max", "a/memory.current",
		"a/memory.limit_in_bytes", "a/memory.usage_in_bytes", "a/memory.stat"};

	if (!mkdtemp(root))
		return 99;
	mkdir(path_of("a"), 0777);
	mkdir(path_of("a/b"), 0777);
	is_left(UINT64_MAX, "/a/b", 2, "no limits");
	put("a/b/memory.max", "max\n");
	put("a/b/memory.current", "500\n");
	is_left(UINT64_MAX, "/a/b", 2, "a limit that is none");
	put("a/b/memory.max", "1000\n");
	is_left(500, "/a/b", 2, "a limit");
	put("a/b/memory.stat", "anon 300\ninactive_file 150\nactive_file 50\n");
	is_left(700, "/a/b", 2, "pages of files are given back");
	put("a/memory.max", "800\n");
	put("a/memory.current", "600\n");
	is_left(200, "/a/b", 2, "the limit of a group around it");
	put("a/memory.current", "900\n");
	is_left(0, "/a/b", 2, "more than the limit");
	put("a/memory.limit_in_bytes", "4000\n");
	put("a/memory.usage_in_bytes", "3000\n");
	put("a/memory.stat", "total_inactive_file 500\n");
	is_left(1500, "/a/gone", 1, "version 1, in a group that is not to be seen");
	is_left(UINT64_MAX, "", 1, "the root");
	is_told(0, "0 B");
	is_told(1000, "1000 B");
	is_told(1023488, "1000 KiB");
	is_told(1536, "1.5 KiB");
	is_told((uint64_t)1 << 33, "8 GiB");
	is_told(UINT64_MAX, "16384 PiB");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(path_of(files[i]));
	rmdir(path_of("a/b"));
	rmdir(path_of("a"));
	rmdir(root);
	return done();
}
