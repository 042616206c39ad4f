/*
 * Runs a fuzz target on every file of a folder, without a fuzzer: what was
 * once found stays found.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* In memory of exactly the file's size, so that a sanitizer sees its end. */
static void
replay(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0) {
		perror(path);
		exit(1);
	}
	long size = ftell(f);
	rewind(f);
	size_t n = size > 0 ? (size_t)size : 0;
	uint8_t *data = malloc(n ? n : 1);
	if (!data || fread(data, 1, n, f) != n) {
		perror(path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
}

int
main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	int count = 0;
	if (!folder) {
		fprintf(stderr, "usage: replay FOLDER\n");
		return 2;
	}
	for (struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.') {
			replay(argv[1], entry->d_name);
			printf("ok %d - %s\n", ++count, entry->d_name);
		}
	closedir(folder);
	printf("1..%d\n", count);
	return 0;
}
