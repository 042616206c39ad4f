/*
 * dot.c - a dot as the matrix products that a BLAS library computes.
 *
 * Of the loops over lhs, rhs and contracted dims (merged by nest.c where they
 * count on) one each becomes m, n and k; the others stand around the product.
 * Operands that BLAS cannot read in place (16-bit floats; no stride of 1)
 * are converted block by block into scratch memory.
 *
 *   "bmd,df->bmf"    loops b (batch), m (lhs), f (rhs), d (contract); b and m count on
 *                    in x and y and are one: y[m, n] += x[m, k] W[k, n], m < B M
 *   "bqhk,bshk->bhqs"    m q, n s, k k, within loops b and h
 */
#include <string.h>
#include "sched/fuse/kernel.h"

enum {
	BLOCK_M = 512,
	BLOCK_N = 512,
	BLOCK_K = 512,
	BLOCK_THIN = 4096, /* of a matrix times a vector */
	SCRATCH_ALIGNMENT = 64,
};

/* Position of the loop of a group with the largest extent, or of the last, along
   which the result is contiguous; -1: none. */
static int
loop_of(const Kernel *k, LoopGroup group, bool last)
{
	int best = -1;

	for (int p = 0; p < k->norder; p++) {
		const Loop *loop = &k->loops[k->order[p]];
		if (loop->group == group
			&& (last || best < 0 || loop->extent > k->loops[k->order[best]].extent))
			best = p;
	}
	return best;
}

static DotLoop
loop_at(const Kernel *k, const DotView *dot, int position)
{
	if (position < 0)
		return (DotLoop){.extent = 1};
	int l = k->order[position];
	return (DotLoop){k->loops[l].extent, dot->a->index->coef[l], dot->b->index->coef[l],
		k->store.coef[l]};
}

static void
add_loops(const Kernel *k, DotView *dot, bool contract, int m, int n, int c)
{
	for (int p = 0; p < k->norder; p++) {
		bool is = k->loops[k->order[p]].group == LOOP_contract;
		if (is != contract || p == m || p == n || p == c)
			continue;
		dot->loops[dot->nloops++] = loop_at(k, dot, p);
		dot->ncontract += contract;
	}
}

/*
 * Rows or columns of unit stride, and a leading dimension BLAS accepts; its
 * integers have 32 bits.
 */
static bool
blas_reads(int64_t rows, int64_t columns, int64_t row, int64_t column)
{
	if (rows > INT32_MAX || columns > INT32_MAX || row > INT32_MAX || column > INT32_MAX)
		return false;
	bool by_rows = (column == 1 || columns == 1) && (rows == 1 || row >= columns);
	bool by_columns = (row == 1 || rows == 1) && (columns == 1 || column >= rows);

	return by_rows || by_columns;
}

/* A matrix of narrow floats times a vector: only the vector is converted. */
static bool
is_thin(const Kernel *k, const DotView *dot)
{
	const Op *op = k->root->op;
	DType a = op->operands[0]->type.dtype;

	return dtype_is_narrow(a) && (dot->m == 1 || dot->n == 1)
		&& op->results[0]->type.dtype != D_f64;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

DotView
dot_view(const Kernel *k)
{
	const Op *op = k->root->op;
	DType from = op->operands[0]->type.dtype, to = op->results[0]->type.dtype;
	DotView v = {.a = k->root->args[0], .b = k->root->args[1]};
	int m = loop_of(k, LOOP_lhs, false), n = loop_of(k, LOOP_rhs, true);
	int c = loop_of(k, LOOP_contract, false);
	DotLoop row = loop_at(k, &v, m), column = loop_at(k, &v, n);
	DotLoop inner = loop_at(k, &v, c);

	v.m = row.extent, v.n = column.extent, v.k = inner.extent;
	v.a_m = row.a, v.c_m = row.c, v.b_n = column.b;
	v.a_k = inner.a, v.b_k = inner.b;
	add_loops(k, &v, false, m, n, c);
	add_loops(k, &v, true, m, n, c);

	bool read = (to == D_f32 || to == D_f64) && from == to
		&& blas_reads(v.m, v.k, v.a_m, v.a_k) && blas_reads(v.k, v.n, v.b_k, v.b_n)
		&& v.c_m <= INT32_MAX;
	if (dtype_is_float(to) && !read) {
		bool thin = is_thin(k, &v);
		v.block_m = least(v.m, thin ? BLOCK_THIN : BLOCK_M);
		v.block_n = least(v.n, thin ? BLOCK_THIN : BLOCK_N);
		v.block_k = least(v.k, thin ? BLOCK_THIN : BLOCK_K);
	}
	return v;
}

static int64_t
aligned(int64_t bytes)
{
	return (bytes + SCRATCH_ALIGNMENT - 1) & -(int64_t)SCRATCH_ALIGNMENT;
}

int64_t
dot_scratch(const Kernel *k)
{
	DotView v = dot_view(k);
	int64_t size = k->root->op->results[0]->type.dtype == D_f64 ? 8 : 4;
	bool thin = is_thin(k, &v);

	return aligned(v.block_m * v.block_n * size)
		+ aligned((thin ? 1 : v.block_m) * v.block_k * size)
		+ aligned((thin ? 0 : v.block_k) * v.block_n * size);
}
