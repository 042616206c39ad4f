/*
 * int64.c - 64-bit arithmetic that reports overflow.
 */
#include "base.h"

bool
mul_i64(int64_t a, int64_t b, int64_t *result)
{
	return !__builtin_mul_overflow(a, b, result);
}

bool
add_i64(int64_t a, int64_t b, int64_t *result)
{
	return !__builtin_add_overflow(a, b, result);
}

/* Of absolute values; gcd(0, b) = |b|.  Unsigned inside: |INT64_MIN|. */
int64_t
gcd_i64(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;

	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return (int64_t)x;
}
