/*
 * die.c - ends that are nobody's mistake in a program: our own defects, and
 * memory that is not there.
 */
#include <stdlib.h>

#include "base.h"

void
out_of_memory(void)
{
	fprintf(stderr, "shdc: error: out of memory\n");
	exit(EXIT_MEMORY);
}

void
die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("shdc: internal error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nthis is a defect of shdc; please report it with the input\n", stderr);
	exit(EXIT_INTERNAL);
}
