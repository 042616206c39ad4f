/*
 * grouped.c - products of rows with the matrices of their groups, and sums of such.
 *
 *   x[batch, rows, k], w[batch, groups, k, n], group[batch, rows]
 *     y[b, r, :] = x[b, r, :] w[b, group[b, r], :, :]; 0 of a group that is not there
 *
 * Summed in f32, f64 or 64 bits, in the order of k or of rows, rounded once.
 */
#include <string.h>

#include "shdrt_kernels.h"
#include "shdrt_math.h"

enum { TILE = 512 }; /* columns whose sums are kept at once */

#define READ(name, type, convert) \
	case SHDRT_##name: \
		for (int64_t i = 0; i < n; i++) \
			to[i] = convert(((const type *)from)[first + i]); \
		break;
#define WRITE(name, type, convert) \
	case SHDRT_##name: \
		for (int64_t i = 0; i < n; i++) \
			((type *)to)[first + i] = (type)convert(from[i]); \
		break;
#define READ_NARROW(name, type) READ(name, type, shdrt_f32_from_##name)
#define WRITE_NARROW(name, type) WRITE(name, type, shdrt_##name##_from_f32)
#define INTEGERS(X) \
	X(i8, int8_t, (uint64_t)) \
	X(i16, int16_t, (uint64_t)) \
	X(i32, int32_t, (uint64_t)) \
	X(i64, int64_t, (uint64_t)) \
	X(u8, uint8_t, ) \
	X(u16, uint16_t, ) \
	X(u32, uint32_t, ) \
	X(u64, uint64_t, )

/* n elements from `first` on. */
#define MOVE(name, wide, READS, WRITES) \
	static void load_##name(shdrt_dtype dtype, const void *from, int64_t first, int64_t n, \
		wide *to) \
	{ \
		switch ((int)dtype) { \
			READS \
		} \
	} \
\
	static void store_##name(shdrt_dtype dtype, void *to, int64_t first, int64_t n, \
		const wide *from) \
	{ \
		switch ((int)dtype) { \
			WRITES \
		} \
	}
MOVE(float, float, SHDRT_NARROW_FLOATS(READ_NARROW) READ(f32, float, ),
	SHDRT_NARROW_FLOATS(WRITE_NARROW) WRITE(f32, float, ))
MOVE(double, double, SHDRT_NARROW_FLOATS(READ_NARROW) READ(f32, float, ) READ(f64, double, ),
	WRITE(f64, double, ))
MOVE(integer, uint64_t, INTEGERS(READ) READ(i4, int8_t, (uint64_t)) READ(u4, uint8_t, ),
	INTEGERS(WRITE) WRITE(i4, int8_t, shdrt_wrap_i4) WRITE(u4, uint8_t, shdrt_wrap_u4))

static int64_t
width_of(int64_t n, int64_t j)
{
	return n - j < TILE ? n - j : TILE;
}

/* sum += a[at] * rows of b from `first` on */
#define ADD(name, wide) \
	static void add_##name(shdrt_dtype in, const void *a, int64_t at, const void *b, \
		int64_t first, int64_t n, wide *sum) \
	{ \
		wide x = 0, row[TILE] = {0}; \
\
		load_##name(in, a, at, 1, &x); \
		load_##name(in, b, first, n, row); \
		for (int64_t i = 0; i < n; i++) \
			sum[i] += x * row[i]; \
	} \
\
	static void dot_##name(const shdrt_groups *d, const void *x, const void *w, \
		const int32_t *group, void *y) \
	{ \
		wide sum[TILE]; \
\
		for (int64_t r = 0; r < d->batch * d->rows; r++) \
			for (int64_t j = 0; j < d->n; j += TILE) { \
				int64_t n = width_of(d->n, j), g = group[r]; \
				int64_t k = g < 0 || g >= d->groups ? 0 : d->k; \
				int64_t matrix = (r / d->rows * d->groups + g) * d->k; \
				memset(sum, 0, sizeof sum); \
				for (int64_t i = 0; i < k; i++) \
					add_##name(d->in, x, r *k + i, w, \
						(matrix + i) * d->n + j, n, sum); \
				store_##name(d->out, y, r * d->n + j, n, sum); \
			} \
	} \
\
	static void outer_##name(const shdrt_groups *d, const void *x, const void *y, \
		const int32_t *group, void *result) \
	{ \
		wide sum[TILE]; \
\
		for (int64_t at = 0; at < d->batch * d->groups * d->k; at++) { \
			int64_t b = at / d->k / d->groups, g = at / d->k % d->groups; \
			for (int64_t j = 0; j < d->n; j += TILE) { \
				int64_t n = width_of(d->n, j); \
				memset(sum, 0, sizeof sum); \
				for (int64_t r = b * d->rows; r < (b + 1) * d->rows; r++) \
					if (group[r] == g) \
						add_##name(d->in, x, r * d->k + at % d->k, y, \
							r * d->n + j, n, sum); \
				store_##name(d->out, result, at * d->n + j, n, sum); \
			} \
		} \
	}
ADD(float, float)
ADD(double, double)
ADD(integer, uint64_t)

typedef void Run(const shdrt_groups *, const void *, const void *, const int32_t *, void *);

void
shdrt_grouped_dot(const shdrt_groups *d, const void *x, const void *w, const void *group,
	void *y)
{
	Run *run = d->out == SHDRT_f64 ? dot_double
		: d->out <= SHDRT_u64  ? dot_integer
				       : dot_float;

	run(d, x, w, group, y);
}

void
shdrt_grouped_outer(const shdrt_groups *d, const void *x, const void *y, const void *group,
	void *result)
{
	Run *run = d->out == SHDRT_f64 ? outer_double
		: d->out <= SHDRT_u64  ? outer_integer
				       : outer_float;

	run(d, x, y, group, result);
}
