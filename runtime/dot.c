/*
 * dot.c - sums of products: through CBLAS where it was found when the runtime was
 * built (SHDRT_CBLAS), else by plain loops.  One library thread a device.
 */
#include <string.h>
#include "shdrt_kernels.h"
#include "shdrt_math.h"
#include "wide.h"

/* One matrix product with both operands as BLAS wants them. */
typedef struct Product {
	int64_t m, n, k;
	int64_t a_m, a_k, b_k, b_n, c_m;
	int add; /* to what is in c */
} Product;

#ifdef SHDRT_CBLAS
/* ---- CBLAS --------------------------------------------------------------- */

#include <cblas.h>
#include <semaphore.h>

/*
 * OpenBLAS has a fixed number of work areas and complains, or ends the
 * program, when more calls than that are under way.
 */
enum { MAX_CALLS = 64 };
static sem_t calls;

__attribute__((constructor)) static void
start_library(void)
{
	sem_init(&calls, 0, MAX_CALLS);
#ifdef OPENBLAS_VERSION
	openblas_set_num_threads(1);
#endif
}

static void
enter(void)
{
	while (sem_wait(&calls))
		; /* interrupted by a signal */
}

static void
leave(void)
{
	sem_post(&calls);
}

/* Which stride is 1 says how a matrix is stored; the other leads. */
static int64_t
leading(int64_t rows, int64_t columns, int64_t row, int64_t column, CBLAS_TRANSPOSE *transpose)
{
	int by_rows = (column == 1 || columns == 1) && (rows == 1 || row >= columns);
	int64_t least = by_rows ? columns : rows;
	int64_t stride = by_rows ? row : column;

	*transpose = by_rows ? CblasNoTrans : CblasTrans;
	return stride > least ? stride : least;
}

/* y[rows] = matrix x[columns], with x and y anywhere along a stride. */
#define GEMV(type, prefix) \
	static void gemv_##type(int64_t rows, int64_t columns, const type *matrix, \
		int64_t row, int64_t column, const type *x, int64_t x_stride, type *y, \
		int64_t y_stride, int add) \
	{ \
		CBLAS_TRANSPOSE transpose; \
		int64_t lead = leading(rows, columns, row, column, &transpose); \
		int flip = transpose == CblasTrans; \
		cblas_##prefix##gemv(CblasRowMajor, transpose, (int)(flip ? columns : rows), \
			(int)(flip ? rows : columns), 1, matrix, (int)lead, x, (int)x_stride, \
			add ? 1 : 0, y, (int)y_stride); \
	}
GEMV(float, s)
GEMV(double, d)

#define PRODUCT(type, prefix) \
	static void product_##type(const Product *p, const type *a, const type *b, type *c) \
	{ \
		CBLAS_TRANSPOSE ta, tb; \
		int64_t lda = leading(p->m, p->k, p->a_m, p->a_k, &ta); \
		int64_t ldb = leading(p->k, p->n, p->b_k, p->b_n, &tb); \
		if (p->n == 1) \
			gemv_##type(p->m, p->k, a, p->a_m, p->a_k, b, p->k == 1 ? 1 : p->b_k, \
				c, p->m == 1 ? 1 : p->c_m, p->add); \
		else if (p->m == 1) \
			gemv_##type(p->n, p->k, b, p->b_n, p->b_k, a, p->k == 1 ? 1 : p->a_k, \
				c, 1, p->add); \
		else \
			cblas_##prefix##gemm(CblasRowMajor, ta, tb, (int)p->m, (int)p->n, \
				(int)p->k, 1, a, (int)lda, b, (int)ldb, p->add ? 1 : 0, c, \
				(int)p->c_m); \
	}
PRODUCT(float, s)
PRODUCT(double, d)

#else
/* ---- plain loops --------------------------------------------------------- */

static void
enter(void)
{
}
static void
leave(void)
{
}

enum { ROWS = 4, COLUMNS = 64, DEPTH = 256 };

/* A few rows of c by a block of columns, kept in registers or near them. */
#define TILE(type) \
	static void tile_##type(const Product *p, const type *a, const type *b, type *c, \
		int64_t rows, int64_t columns, int64_t depth, int add) \
	{ \
		type sum[ROWS][COLUMNS] = {{0}}; \
		for (int64_t k = 0; k < depth; k++) \
			for (int64_t i = 0; i < rows; i++) { \
				type x = a[i * p->a_m + k * p->a_k]; \
				for (int64_t j = 0; j < columns; j++) \
					sum[i][j] += x * b[k * p->b_k + j * p->b_n]; \
			} \
		for (int64_t i = 0; i < rows; i++) \
			for (int64_t j = 0; j < columns; j++) \
				c[i * p->c_m + j] = sum[i][j] + (add ? c[i * p->c_m + j] : 0); \
	}
TILE(float)
TILE(double)

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#define PRODUCT(type) \
	static void product_##type(const Product *p, const type *a, const type *b, type *c) \
	{ \
		for (int64_t k = 0; k < p->k; k += DEPTH) \
			for (int64_t j = 0; j < p->n; j += COLUMNS) \
				for (int64_t i = 0; i < p->m; i += ROWS) \
					tile_##type(p, a + i * p->a_m + k * p->a_k, \
						b + k * p->b_k + j * p->b_n, \
						c + i * p->c_m + j, least(p->m - i, ROWS), \
						least(p->n - j, COLUMNS), \
						least(p->k - k, DEPTH), p->add || k > 0); \
	}
PRODUCT(float)
PRODUCT(double)
#endif

/* ---- loops around products ------------------------------------------------- */

typedef struct Place {
	int64_t a, b, c; /* elements from the start */
	int add;	 /* not the first of its sum */
} Place;

static Place
place_at(const shdrt_dot *d, int nloops, const int64_t *index)
{
	Place p = {.add = d->add};

	for (int i = 0; i < nloops; i++) {
		p.a += index[i] * d->loops[i].a;
		p.b += index[i] * d->loops[i].b;
		p.c += index[i] * d->loops[i].c;
		p.add |= i >= d->nloops - d->ncontract && index[i] > 0;
	}
	return p;
}

/* Counts loops [from, to) on; 0 when they are through. */
static int
step_loops(const shdrt_dot *d, int from, int to, int64_t *index)
{
	for (int i = to - 1; i >= from; i--) {
		if (++index[i] < d->loops[i].extent)
			return 1;
		index[i] = 0;
	}
	return 0;
}

enum { MAX_LOOPS = 64 };

typedef void Matrix(const shdrt_dot *d, const void *a, const void *b, void *c, int add);

/* The innermost loop apart: batches of small products are many. */
static void
for_all_loops(const shdrt_dot *d, Matrix *matrix, const char *a, const char *b, char *c)
{
	int64_t index[MAX_LOOPS] = {0};
	int64_t in = (int64_t)shdrt_dtype_bytes[d->in];
	int64_t out = (int64_t)shdrt_dtype_bytes[d->out];
	int outer = d->nloops > 0 ? d->nloops - 1 : 0;
	shdrt_dot_loop inner = d->nloops > 0 ? d->loops[outer] : (shdrt_dot_loop){1, 0, 0, 0};

	do {
		Place p = place_at(d, outer, index);
		const char *ai = a + p.a * in, *bi = b + p.b * in;
		char *ci = c + p.c * out;
		for (int64_t i = 0; i < inner.extent; i++) {
			matrix(d, ai, bi, ci, p.add || (d->ncontract && i > 0));
			ai += inner.a * in;
			bi += inner.b * in;
			ci += inner.c * out;
		}
	} while (step_loops(d, 0, outer, index));
}

static Product
whole_product(const shdrt_dot *d, int add)
{
	return (Product){d->m, d->n, d->k, d->a_m, d->a_k, d->b_k, d->b_n, d->c_m, add};
}

static void
direct_f32(const shdrt_dot *d, const void *a, const void *b, void *c, int add)
{
	Product p = whole_product(d, add);

	product_float(&p, a, b, c);
}

static void
direct_f64(const shdrt_dot *d, const void *a, const void *b, void *c, int add)
{
	Product p = whole_product(d, add);

	product_double(&p, a, b, c);
}

/* ---- integers --------------------------------------------------------------- */

#define INTEGER_DOT(in, in_type, out, out_type) \
	static void integer_##in##_##out(const shdrt_dot *d, const void *av, const void *bv, \
		void *cv, int add) \
	{ \
		const in_type *a = av, *b = bv; \
		out_type *c = cv; \
		for (int64_t i = 0; i < d->m; i++) { \
			out_type *row = c + i * d->c_m; \
			if (!add) \
				memset(row, 0, sizeof *row *(size_t)d->n); \
			for (int64_t k = 0; k < d->k; k++) { \
				uint64_t x = (uint64_t)a[i * d->a_m + k * d->a_k]; \
				const in_type *y = b + k * d->b_k; \
				for (int64_t j = 0; j < d->n; j++) \
					row[j] = shdrt_##out##_from_u64((uint64_t)row[j] \
						+ x * (uint64_t)y[j * d->b_n]); \
			} \
		} \
	}
/* clang-format off */
#define INTEGER_PAIRS(X) \
	X(i4, int8_t, i4, int8_t) \
	X(i4, int8_t, i8, int8_t) \
	X(i4, int8_t, i16, int16_t) \
	X(i4, int8_t, i32, int32_t) \
	X(i4, int8_t, i64, int64_t) \
	X(u4, uint8_t, u4, uint8_t) \
	X(u4, uint8_t, u8, uint8_t) \
	X(u4, uint8_t, u16, uint16_t) \
	X(u4, uint8_t, u32, uint32_t) \
	X(u4, uint8_t, u64, uint64_t) \
	X(i8, int8_t, i8, int8_t) \
	X(i8, int8_t, i16, int16_t) \
	X(i8, int8_t, i32, int32_t) \
	X(i8, int8_t, i64, int64_t) \
	X(i16, int16_t, i16, int16_t) \
	X(i16, int16_t, i32, int32_t) \
	X(i16, int16_t, i64, int64_t) \
	X(i32, int32_t, i32, int32_t) \
	X(i32, int32_t, i64, int64_t) \
	X(i64, int64_t, i64, int64_t) \
	X(u8, uint8_t, u8, uint8_t) \
	X(u8, uint8_t, u16, uint16_t) \
	X(u8, uint8_t, u32, uint32_t) \
	X(u8, uint8_t, u64, uint64_t) \
	X(u16, uint16_t, u16, uint16_t) \
	X(u16, uint16_t, u32, uint32_t) \
	X(u16, uint16_t, u64, uint64_t) \
	X(u32, uint32_t, u32, uint32_t) \
	X(u32, uint32_t, u64, uint64_t) \
	X(u64, uint64_t, u64, uint64_t)
/* clang-format on */
INTEGER_PAIRS(INTEGER_DOT)

static Matrix *
integer_matrix(shdrt_dtype in, shdrt_dtype out)
{
	static Matrix *const table[SHDRT_DTYPE_COUNT][SHDRT_DTYPE_COUNT] = {
#define ROW(in, in_type, out, out_type) [SHDRT_##in][SHDRT_##out] = integer_##in##_##out,
		INTEGER_PAIRS(ROW)
#undef ROW
	};

	return table[in][out];
}

/* ---- floats through scratch ------------------------------------------------- */

/* A block of a matrix, row-major after packing unless flipped. */
typedef struct Block {
	int64_t rows, columns, row, column; /* counts, strides */
} Block;

/* Columns are read in order when they are the ones that lie together. */
static int
is_flipped(const Block *b)
{
	return b->column != 1 && b->row == 1;
}

#define PACK(in, in_type, to, to_type) \
	WIDE static void pack_##in##_##to(const Block *b, const void *from, void *packed) \
	{ \
		const in_type *x = from; \
		to_type *restrict y = packed; \
		int flip = is_flipped(b); \
		int64_t lines = flip ? b->columns : b->rows; \
		int64_t n = flip ? b->rows : b->columns; \
		int64_t line = flip ? b->column : b->row; \
		int64_t each = flip ? b->row : b->column; \
		for (int64_t i = 0; i < lines; i++, x += line, y += n) { \
			if (each == 1) \
				for (int64_t j = 0; j < n; j++) \
					y[j] = shdrt_##to##_from_##in(x[j]); \
			else \
				for (int64_t j = 0; j < n; j++) \
					y[j] = shdrt_##to##_from_##in(x[j * each]); \
		} \
	}
#define FLOAT_INS(X) SHDRT_NARROW_FLOATS(X) X(f32, float) X(f64, double)
#define X(in, type) PACK(in, type, f32, float) PACK(in, type, f64, double)
FLOAT_INS(X)
#undef X

typedef void Pack(const Block *b, const void *from, void *packed);

static Pack *
packer(shdrt_dtype in, int wide)
{
	static Pack *const table[SHDRT_DTYPE_COUNT][2] = {
#define X(in, type) [SHDRT_##in] = {pack_##in##_f32, pack_##in##_f64},
		FLOAT_INS(X)
#undef X
	};

	return table[in][wide];
}

/* A row of finished sums, rounded once; then, it may be, added to what is in c. */
typedef void Store(const void *sums, int64_t n, void *c, int add);

#define STORE(name, type, wide, wide_type) \
	WIDE static void store_##name(const void *sums, int64_t n, void *c, int add) \
	{ \
		const wide_type *restrict from = sums; \
		type *restrict to = c; \
		for (int64_t j = 0; !add && j < n; j++) \
			to[j] = shdrt_##name##_from_##wide(from[j]); \
		for (int64_t j = 0; add && j < n; j++) { \
			type sum = shdrt_##name##_from_##wide(from[j]); \
			to[j] = shdrt_##name##_from_##wide(shdrt_##wide##_from_##name(to[j]) \
				+ shdrt_##wide##_from_##name(sum)); \
		} \
	}
#define X(name, type) STORE(name, type, f32, float)
SHDRT_NARROW_FLOATS(X)
#undef X
STORE(f32, float, f32, float)
STORE(f64, double, f64, double)

static Store *const stores[SHDRT_DTYPE_COUNT] = {
#define X(name, type) [SHDRT_##name] = store_##name,
	FLOAT_INS(X)
#undef X
};

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

typedef struct Packed {
	const shdrt_dot *d;
	Pack *pack;
	int wide;	    /* sums in f64 */
	int64_t in, sum;    /* bytes of an element */
	char *a, *b, *c;    /* scratch */
	const char *a_from; /* what the scratch of a holds was packed from here */
	Block a_block;
} Packed;

static int64_t
aligned(int64_t bytes)
{
	return (bytes + 63) & -(int64_t)64;
}

/*
 * A matrix of narrow floats times a vector is bound by memory: converted on the way,
 * never stored.  Sums along memory go into 16 partial sums.
 */
enum { LANES = 16 };

#define THIN(in, type) \
	static float along_##in(const type *row, const float *x, int64_t n) \
	{ \
		float sum[LANES] = {0}; \
		int64_t k = 0; \
		for (; k + LANES <= n; k += LANES) \
			_Pragma("GCC unroll 1") for (int l = 0; l < LANES; l++) sum[l] += \
				x[k + l] * shdrt_f32_from_##in(row[k + l]); \
		for (int l = 0; k < n; k++, l++) \
			sum[l] += x[k] * shdrt_f32_from_##in(row[k]); \
		for (int w = LANES / 2; w > 0; w /= 2) \
			for (int l = 0; l < w; l++) \
				sum[l] += sum[l + w]; \
		return sum[0]; \
	} \
	WIDE static void thin_##in(const Block *b, const void *from, const float *x, \
		float *sum) \
	{ \
		const type *matrix = from; \
		if (b->column == 1) { \
			for (int64_t j = 0; j < b->rows; j++) \
				sum[j] += along_##in(matrix + j * b->row, x, b->columns); \
			return; \
		} \
		for (int64_t k = 0; k < b->columns; k++, matrix += b->column) { \
			float f = x[k]; \
			if (b->row == 1) \
				for (int64_t j = 0; j < b->rows; j++) \
					sum[j] += f * shdrt_f32_from_##in(matrix[j]); \
			else \
				for (int64_t j = 0; j < b->rows; j++) \
					sum[j] += f * shdrt_f32_from_##in(matrix[j * b->row]); \
		} \
	}
SHDRT_NARROW_FLOATS(THIN)

typedef void Thin(const Block *b, const void *matrix, const float *x, float *sum);

/* NULL: of other dtypes */
static Thin *const thin_products[SHDRT_DTYPE_COUNT] = {
#define X(name, type) [SHDRT_##name] = thin_##name,
	SHDRT_NARROW_FLOATS(X)
#undef X
};

static int
is_thin(const Packed *s)
{
	const shdrt_dot *d = s->d;

	return thin_products[d->in] && !s->wide && (d->m == 1 || d->n == 1);
}

static void
thin_product(const Packed *s, int64_t m, int64_t n, int64_t k, const char *a, const char *b,
	int add)
{
	const shdrt_dot *d = s->d;
	int row = d->m == 1; /* the vector is on the left */
	Block matrix = row ? (Block){n, k, d->b_n, d->b_k} : (Block){m, k, d->a_m, d->a_k};
	Block vector = {1, k, 0, row ? d->a_k : d->b_k};

	s->pack(&vector, row ? a : b, s->a);
	if (!add)
		memset(s->c, 0, sizeof(float) * (size_t)(m * n));
	thin_products[d->in](&matrix, row ? b : a, (float *)s->a, (float *)s->c);
}

/* Where a has one block, the columns of b pass by it. */
static void
pack_left(Packed *s, const Block *left, const char *a)
{
	if (a == s->a_from && !memcmp(left, &s->a_block, sizeof *left))
		return;
	s->pack(left, a, s->a);
	s->a_from = a;
	s->a_block = *left;
}

static void
packed_product(Packed *s, int64_t m, int64_t n, int64_t k, const char *a, const char *b,
	int add)
{
	const shdrt_dot *d = s->d;
	Block left = {m, k, d->a_m, d->a_k}, right = {k, n, d->b_k, d->b_n};
	int flip_a = is_flipped(&left), flip_b = is_flipped(&right);
	Product p = {m, n, k, flip_a ? 1 : k, flip_a ? m : 1, flip_b ? 1 : n, flip_b ? k : 1, n,
		add};

	if (is_thin(s)) {
		thin_product(s, m, n, k, a, b, add);
		return;
	}
	pack_left(s, &left, a);
	s->pack(&right, b, s->b);
	if (s->wide)
		product_double(&p, (double *)s->a, (double *)s->b, (double *)s->c);
	else
		product_float(&p, (float *)s->a, (float *)s->b, (float *)s->c);
}

/* One block of c: every product that adds to it, then its rows are stored. */
static void
packed_block(Packed *s, int64_t *index, int64_t i, int64_t j, const char *a, const char *b,
	char *c)
{
	const shdrt_dot *d = s->d;
	int64_t m = smaller(d->block_m, d->m - i);
	int64_t n = smaller(d->block_n, d->n - j);
	int64_t out = (int64_t)shdrt_dtype_bytes[d->out];
	Place p;
	int add = 0;

	do {
		p = place_at(d, d->nloops, index);
		for (int64_t k = 0; k < d->k; k += d->block_k, add = 1)
			packed_product(s, m, n, smaller(d->block_k, d->k - k),
				a + (p.a + i * d->a_m + k * d->a_k) * s->in,
				b + (p.b + k * d->b_k + j * d->b_n) * s->in, add);
	} while (step_loops(d, d->nloops - d->ncontract, d->nloops, index));
	for (int64_t r = 0; r < m; r++)
		stores[d->out](s->c + r * n * s->sum, n, c + (p.c + (i + r) * d->c_m + j) * out,
			d->add);
}

static void
run_packed(const shdrt_dot *d, const char *a, const char *b, char *c, char *scratch)
{
	int64_t index[MAX_LOOPS] = {0};
	Packed s = {.d = d,
		.wide = d->out == SHDRT_f64,
		.in = (int64_t)shdrt_dtype_bytes[d->in]};

	s.sum = s.wide ? 8 : 4;
	s.pack = packer(d->in, s.wide);
	s.c = scratch;
	s.a = s.c + aligned(d->block_m * d->block_n * s.sum);
	s.b = s.a + aligned((is_thin(&s) ? 1 : d->block_m) * d->block_k * s.sum);
	do {
		for (int64_t j = 0; j < d->n; j += d->block_n)
			for (int64_t i = 0; i < d->m; i += d->block_m)
				packed_block(&s, index, i, j, a, b, c);
	} while (step_loops(d, 0, d->nloops - d->ncontract, index));
}

void
shdrt_dot_run(const shdrt_dot *d, const void *a, const void *b, void *c, void *scratch)
{
	if (!d->block_m && d->out != SHDRT_f32 && d->out != SHDRT_f64) {
		for_all_loops(d, integer_matrix(d->in, d->out), a, b, c);
		return;
	}
	enter();
	if (d->block_m)
		run_packed(d, a, b, c, scratch);
	else
		for_all_loops(d, d->out == SHDRT_f32 ? direct_f32 : direct_f64, a, b, c);
	leave();
}
