/*
 * shdrt_extern.h - the contract between a program and a user's C function.
 *
 *   extern fn swish(x: f32[b, d], beta: f32) -> f32[b, d]
 *     = "swish" in "libswish.so" rule "bd,->bd";
 *
 *   int swish(const shdrt_view *x, const shdrt_view *beta,
 *           const shdrt_view *result)
 *   {
 *           const float *in = x->data, *b = beta->data;
 *           float *out = result->data;
 *           for (int64_t i = 0; i < shdrt_view_elements(x); i++)
 *                   out[i] = in[i] / (1 + expf(-*b * in[i]));
 *           return 0;
 *   }
 *
 * A view for each parameter, then for each result, in the order of the
 * signature.  It is called on each device with that device's parts of the
 * tensors, which are split as the rule allows; with the whole tensors by
 * --check.  It may be called at the same time by several threads, and any
 * number of times, so it is a function of its parameters alone.  Parameters
 * are read only; results have no contents yet, overlap nothing, and must be
 * written whole.  Where a split letter of the rule is summed over, it makes
 * the sum over its part.  0 is success; anything else ends the program.
 *
 * Needs no library.  f16 and bf16 are 16-bit patterns, pred is a byte 0 or 1.
 */
#ifndef SHDRT_EXTERN_H
#define SHDRT_EXTERN_H

#include <stdint.h>

/* Element types, with their size and name. */
/* clang-format off */
#define SHDRT_DTYPES(X) \
	X(pred, 1) \
	X(i4, 1) X(u4, 1) \
	X(i8, 1) X(i16, 2) X(i32, 4) X(i64, 8) X(u8, 1) X(u16, 2) X(u32, 4) X(u64, 8) \
	X(f8e5m2, 1) X(f8e4m3, 1) X(f8e3m4, 1) X(f8e4m3fn, 1) \
	X(f8e5m2fnuz, 1) X(f8e4m3fnuz, 1) X(f8e4m3b11fnuz, 1) X(f8e8m0fnu, 1) X(f4e2m1fn, 1) \
	X(f16, 2) X(bf16, 2) X(f32, 4) X(f64, 8)
/* clang-format on */

typedef enum shdrt_dtype {
#define X(name, bytes) SHDRT_##name,
	SHDRT_DTYPES(X)
#undef X
		SHDRT_DTYPE_COUNT
} shdrt_dtype;

/* Element [i, j, ...] is at data + (i*strides[0] + j*strides[1] + ...) *
   the size of an element.  Today's programs pass row-major parts. */
typedef struct shdrt_view {
	void *data;
	shdrt_dtype dtype;
	int rank;		/* 0: a scalar */
	const int64_t *dims;	/* of this part */
	const int64_t *strides; /* in elements */
} shdrt_view;

static inline int64_t
shdrt_view_elements(const shdrt_view *v)
{
	int64_t n = 1;
	for (int d = 0; d < v->rank; d++)
		n *= v->dims[d];
	return n;
}

#endif
