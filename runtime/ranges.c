/*
 * ranges.c - made-up values of a range: --random NAME=LOW..HIGH.
 *
 * Integers are LOW + bits % (HIGH - LOW), floats LOW and HIGH weighted by the upper 53
 * bits, rounded to the dtype; what that rounds up to HIGH is LOW.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "shdrt_math.h"

/* dtype, storage; of integers least and greatest value; of floats from a double, and the
   greatest number */
#define WHOLE(X) \
	X(pred, uint8_t, 0, 1) \
	X(i4, int8_t, -8, 7) \
	X(u4, uint8_t, 0, 15) \
	X(i8, int8_t, INT8_MIN, INT8_MAX) \
	X(i16, int16_t, INT16_MIN, INT16_MAX) \
	X(i32, int32_t, INT32_MIN, INT32_MAX) \
	X(i64, int64_t, INT64_MIN, INT64_MAX) \
	X(u8, uint8_t, 0, UINT8_MAX) \
	X(u16, uint16_t, 0, UINT16_MAX) \
	X(u32, uint32_t, 0, UINT32_MAX) \
	X(u64, uint64_t, 0, INT64_MAX) /* as far as LOW and HIGH go */
#define REAL(X) \
	X(f8e5m2, uint8_t, shdrt_f8e5m2_from_f64, 57344) \
	X(f8e4m3, uint8_t, shdrt_f8e4m3_from_f64, 240) \
	X(f8e3m4, uint8_t, shdrt_f8e3m4_from_f64, 15.5) \
	X(f8e4m3fn, uint8_t, shdrt_f8e4m3fn_from_f64, 448) \
	X(f8e5m2fnuz, uint8_t, shdrt_f8e5m2fnuz_from_f64, 57344) \
	X(f8e4m3fnuz, uint8_t, shdrt_f8e4m3fnuz_from_f64, 240) \
	X(f8e4m3b11fnuz, uint8_t, shdrt_f8e4m3b11fnuz_from_f64, 30) \
	X(f8e8m0fnu, uint8_t, shdrt_f8e8m0fnu_from_f64, 0x1p127) \
	X(f4e2m1fn, uint8_t, shdrt_f4e2m1fn_from_f64, 6) \
	X(f16, uint16_t, shdrt_f16_from_f64, 65504) \
	X(bf16, uint16_t, shdrt_bf16_from_f64, 0x1.FEp127) \
	X(f32, float, (float), FLT_MAX) \
	X(f64, double, (double), DBL_MAX)

typedef struct Limits {
	bool whole;
	int64_t least, greatest;
	double finite; /* of floats the greatest number */
} Limits;

static const Limits limits[SHDRT_DTYPE_COUNT] = {
#define X(name, type, least, greatest) [SHDRT_##name] = {true, least, greatest, 0},
	WHOLE(X)
#undef X
#define X(name, type, from, greatest) [SHDRT_##name] = {false, 0, 0, greatest},
		REAL(X)
#undef X
};

/* ---- what is given */

static bool
to_integer(const char *text, int64_t *n)
{
	char *end;
	errno = 0;
	*n = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool
to_double(const char *text, double *x)
{
	char *end;
	*x = strtod(text, &end);
	return end != text && !*end && isfinite(*x);
}

/* Has it no value, as rounded? */
static bool
is_empty(const ValueRange *r, shdrt_dtype dtype)
{
#define X(name, type, from, greatest) \
	if (dtype == SHDRT_##name) { \
		type low = from(r->low), high = from(r->high); \
		return r->low >= r->high || memcmp(&low, &high, sizeof low) == 0; \
	}
	REAL(X)
#undef X
	return r->count == 0;
}

static bool
parse(const char *low, const char *high, bool whole, ValueRange *r)
{
	int64_t end;
	if (!whole)
		return to_double(low, &r->low) && to_double(high, &r->high);
	if (!to_integer(low, &r->first) || !to_integer(high, &end))
		return false;
	r->count = end > r->first ? (uint64_t)end - (uint64_t)r->first : 0;
	return true;
}

ValueRange
rt_range_parse(const shdrt_tensor *t, const char *text)
{
	const Limits *l = &limits[t->dtype];
	const char *dots = strstr(text, "..");
	char *low = strndup(text, dots ? (size_t)(dots - text) : 0);
	ValueRange r = {.given = true};
	if (!low)
		rt_fail(SHDRT_MEMORY, "out of memory");
	if (!dots || !parse(low, dots + 2, l->whole, &r))
		rt_fail(SHDRT_USAGE, "--random %s=%s: LOW..HIGH is wanted, two %snumbers of %s",
			t->name, text, l->whole ? "whole " : "", t->type_text);
	free(low);
	if (is_empty(&r, t->dtype))
		rt_fail(SHDRT_USAGE, "--random %s=%s: an empty range of %s; HIGH is not in it",
			t->name, text, t->type_text);
	if (l->whole
		&& (r.first < l->least || r.first > l->greatest
			|| r.count - 1 > (uint64_t)l->greatest - (uint64_t)r.first))
		rt_fail(SHDRT_USAGE,
			"--random %s=%s: %s holds numbers from %" PRId64 " to %" PRId64,
			t->name, text, t->type_text, l->least, l->greatest);
	if (!l->whole && (r.low < -l->finite || r.high > l->finite))
		rt_fail(SHDRT_USAGE, "--random %s=%s: %s holds numbers from %.6g to %.6g",
			t->name, text, t->type_text, -l->finite, l->finite);
	return r;
}

/* ---- the values */

void
rt_range_value(const ValueRange *r, shdrt_dtype dtype, uint64_t bits, void *out)
{
	double u = (double)(bits >> 11) * 0x1p-53;
#define X(name, type, least, greatest) \
	if (dtype == SHDRT_##name) \
		*(type *)out = (type)((uint64_t)r->first + bits % r->count);
	WHOLE(X)
#undef X
#define X(name, type, from, greatest) \
	if (dtype == SHDRT_##name) { \
		type high = from(r->high); \
		*(type *)out = from(r->low * (1 - u) + r->high * u); \
		if (memcmp(out, &high, sizeof high) == 0) \
			*(type *)out = from(r->low); \
	}
	REAL(X)
#undef X
}
