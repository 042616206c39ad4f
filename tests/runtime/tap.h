/*
 * tap.h - results as TAP lines: ok(), then return done(); whether a sanitizer slows them.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool
ok(bool passed, const char *fmt, ...)
{
	va_list ap;
	printf("%s %d - ", passed ? "ok" : "not ok", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	tap_failed += !passed;
	return passed;
}

__attribute__((unused)) static int
done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
