/*
 * shdrt_kernels.h - tensor kernels that generated code calls rather than
 * contains: dots and sorts.
 */
#ifndef SHDRT_KERNELS_H
#define SHDRT_KERNELS_H

#include <string.h>
#include "shdrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* run() only calls: a long one is not worth the compiler's time. */
#if defined(__clang__)
#define SHDRT_PLAIN __attribute__((noinline, optnone))
#elif defined(__GNUC__)
#define SHDRT_PLAIN __attribute__((noinline, optimize("O0")))
#else
#define SHDRT_PLAIN
#endif

typedef struct shdrt_dot_loop {
	int64_t extent;
	int64_t a, b, c; /* strides */
} shdrt_dot_loop;

/*
 * c[m, n] = sum over k of a[m, k] b[k, n], for every index of the loops; the
 * last ncontract loops are summed over too.  Strides are in elements; c has
 * stride 1 along n.
 *
 * Floats: blocks 0 means that a and b are of the type of c, f32 or f64, and
 * that BLAS can read them: one of their strides is 1.  Else blocks of them
 * are converted into scratch memory, sums are kept in f32 (f64 if c is f64)
 * and rounded once.  Integers wrap in the type of c.  With `add` the product
 * is added to what is in c, after it is rounded where it is.
 */
typedef struct shdrt_dot {
	shdrt_dtype in, out;
	int64_t m, n, k;
	int64_t a_m, a_k, b_k, b_n, c_m;
	int nloops, ncontract;
	const shdrt_dot_loop *loops;
	int64_t block_m, block_n, block_k;
	int add;
} shdrt_dot;

/*
 * Scratch, 64-aligned, may be NULL where there are no blocks: a block of c, of
 * a and of b in f32 (f64 if c is), each rounded up to 64 bytes.  Where a 16-bit
 * matrix multiplies a vector only the vector is converted: k and no elements
 * in place of the blocks of a and b.
 */
void shdrt_dot_run(const shdrt_dot *d, const void *a, const void *b, void *c, void *scratch);

/*
 * x[batch, rows, k], w[batch, groups, k, n], group[batch, rows] -> y[batch, rows, n]: each row
 * times the matrix of its group, 0 where there is no such group.
 * x[batch, rows, k], y[batch, rows, n], group -> [batch, groups, k, n]: of each group the sum
 * of x[r, k] y[r, n]; what is of no group is dropped.  No result may be an operand.
 */
typedef struct shdrt_groups {
	shdrt_dtype in, out;
	int64_t batch, rows, groups, k, n;
} shdrt_groups;

void shdrt_grouped_dot(const shdrt_groups *d, const void *x, const void *w, const void *group,
	void *y);
void shdrt_grouped_outer(const shdrt_groups *d, const void *x, const void *y, const void *group,
	void *result);

enum { SHDRT_SORT_RUN = 16 };

/*
 * Operands of shape [outer, size, inner], each row in the order of operand 0:
 * stable, NaN the greatest, of zeros 0 before -0 where it descends.  A result that nobody
 * wants is NULL; none may be an operand.  Scratch: 64-aligned, 32 bytes for each element of
 * a row, or 16 if there are at most SHDRT_SORT_RUN.
 */
typedef struct shdrt_sort {
	shdrt_dtype key;
	int descending;
	int n; /* operands, and results */
	int64_t outer, size, inner;
	const int *bytes; /* of an element of each */
} shdrt_sort;

void
shdrt_sort_run(const shdrt_sort *s, const void *const *in, void *const *out, void *scratch);

/* Two buffers change places. */
void shdrt_swap(void *a, void *b, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
