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

static bool told;

static void
tell(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("shdc: internal error: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs("\nthis is a defect of shdc; please report it with the input\n", stderr);
	told = true;
}

void
defect(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(fmt, ap);
	va_end(ap);
}

bool
defect_told(void)
{
	return told;
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(fmt, ap);
	va_end(ap);
	exit(EXIT_INTERNAL);
}
