/*
 * sort.c - rows in the order of their keys, by merging runs.
 *
 * Keys of every type become unsigned integers that compare as they do: every NaN is the
 * same and the greatest; ascending, both zeros are equal, descending, 0 is before -0.
 * Descending is ascending of the complement, so equal elements keep their order either way.
 */
#include <string.h>
#include "shdrt_kernels.h"
#include "shdrt_math.h"

typedef struct Entry {
	uint64_t key;
	int64_t at;
} Entry;

/* Sorted by insertion; longer runs are merged. */
enum { RUN = SHDRT_SORT_RUN };

static const uint64_t SIGN = (uint64_t)1 << 63;

/* ---- keys --------------------------------------------------------------- */

static uint64_t
unsigned_key(uint64_t v, uint64_t flip)
{
	return v ^ flip;
}

static uint64_t
signed_key(int64_t v, uint64_t flip)
{
	return (uint64_t)v ^ SIGN ^ flip;
}

static uint64_t
float_key(double v, uint64_t flip)
{
	uint64_t bits;

	if (v != v)
		return UINT64_MAX ^ flip;
	if (!flip)
		v += 0.0; /* -0 becomes 0 */
	memcpy(&bits, &v, sizeof bits);
	return (bits & SIGN ? ~bits : bits | SIGN) ^ flip;
}

#define PLAIN(x) (x)
#define KEYS(dtype, type, key, value) \
	static void keys_##dtype(Entry *row, int64_t n, const void *in, int64_t stride, \
		uint64_t flip) \
	{ \
		const type *x = in; \
		for (int64_t i = 0; i < n; i++, x += stride) \
			row[i] = (Entry){key(value(*x), flip), i}; \
	}
KEYS(pred, uint8_t, unsigned_key, PLAIN)
KEYS(i4, int8_t, signed_key, PLAIN)
KEYS(u4, uint8_t, unsigned_key, PLAIN)
KEYS(i8, int8_t, signed_key, PLAIN)
KEYS(i16, int16_t, signed_key, PLAIN)
KEYS(i32, int32_t, signed_key, PLAIN)
KEYS(i64, int64_t, signed_key, PLAIN)
KEYS(u8, uint8_t, unsigned_key, PLAIN)
KEYS(u16, uint16_t, unsigned_key, PLAIN)
KEYS(u32, uint32_t, unsigned_key, PLAIN)
KEYS(u64, uint64_t, unsigned_key, PLAIN)
#define X(name, type) KEYS(name, type, float_key, shdrt_f32_from_##name)
SHDRT_NARROW_FLOATS(X)
#undef X
KEYS(f32, float, float_key, PLAIN)
KEYS(f64, double, float_key, PLAIN)

typedef void Keys(Entry *row, int64_t n, const void *in, int64_t stride, uint64_t flip);

static Keys *const keys[SHDRT_DTYPE_COUNT] = {
#define X(name, bytes) keys_##name,
	SHDRT_DTYPES(X)
#undef X
};

/* ---- merging ------------------------------------------------------------ */

static void
insert_run(Entry *row, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		Entry e = row[i];
		int64_t j = i;
		for (; j > 0 && row[j - 1].key > e.key; j--)
			row[j] = row[j - 1];
		row[j] = e;
	}
}

/* from[0, middle) and from[middle, n) into to; the left wins a tie. */
static void
merge(const Entry *from, int64_t middle, int64_t n, Entry *to)
{
	int64_t left = 0, right = middle;

	for (int64_t i = 0; i < n; i++) {
		int second = left == middle || (right < n && from[right].key < from[left].key);
		to[i] = from[second ? right++ : left++];
	}
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Sorts row[0, n), with as much room behind it if that is more than one run; returns
   where it ended up. */
static const Entry *
sort_row(Entry *row, int64_t n)
{
	Entry *other = row + n;

	for (int64_t i = 0; i < n; i += RUN)
		insert_run(row + i, least(RUN, n - i));
	for (int64_t run = RUN; run < n; run *= 2) {
		for (int64_t i = 0; i < n; i += 2 * run)
			merge(row + i, least(run, n - i), least(2 * run, n - i), other + i);
		Entry *swap = row;
		row = other;
		other = swap;
	}
	return row;
}

/* ---- rows --------------------------------------------------------------- */

#define GATHER(type) \
	{ \
		const type *x = in; \
		type *y = out; \
		for (int64_t i = 0; i < n; i++) \
			y[i * stride] = x[row[i].at * stride]; \
		break; \
	}

static void
gather(const Entry *row, int64_t n, int64_t stride, int bytes, const void *in, void *out)
{
	switch (bytes) {
	case 1:
		GATHER(uint8_t)
	case 2:
		GATHER(uint16_t)
	case 4:
		GATHER(uint32_t)
	case 8:
		GATHER(uint64_t)
	}
}

void
shdrt_sort_run(const shdrt_sort *s, const void *const *in, void *const *out, void *scratch)
{
	uint64_t flip = s->descending ? UINT64_MAX : 0;
	size_t key_bytes = (size_t)s->bytes[0];

	for (int64_t r = 0; r < s->outer * s->inner; r++) {
		size_t first = (size_t)(r / s->inner * s->size * s->inner + r % s->inner);
		Entry *row = scratch;
		keys[s->key](row, s->size, (const char *)in[0] + first * key_bytes, s->inner,
			flip);
		const Entry *sorted = sort_row(row, s->size);
		for (int i = 0; i < s->n; i++) {
			size_t at = first * (size_t)s->bytes[i];
			if (out[i])
				gather(sorted, s->size, s->inner, s->bytes[i],
					(const char *)in[i] + at, (char *)out[i] + at);
		}
	}
}

void
shdrt_swap(void *a, void *b, int64_t bytes)
{
	char block[4096], *x = a, *y = b;

	for (int64_t i = 0; i < bytes; i += (int64_t)sizeof block) {
		size_t n = (size_t)least((int64_t)sizeof block, bytes - i);
		memcpy(block, x + i, n);
		memcpy(x + i, y + i, n);
		memcpy(y + i, block, n);
	}
}
