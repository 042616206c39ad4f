/*
 * fft.c - Fourier transforms, as products with matrices of roots of unity.
 *
 *   y[k] = sum_j x[j] w^(j k), w = exp(-2 pi i / n)
 *
 * A long one is one over n1 and one over n2, n = n1 n2 (Cooley and Tukey, "An algorithm for
 * the machine calculation of complex Fourier series"):
 *
 *   x[.., n1 n2] as [.., j1, j2]   products with the roots of n1 along j1: [.., j2, k1]
 *   times w^(j2 k1)                transform of n2 along j2: [.., k1, k2]
 *   k = k1 + n1 k2                 [.., k2, k1] as [.., n]
 *
 * Dims that are not transformed are a batch of each product, and may be split.  One that is,
 * is whole on each device before its first product, which both parts of what is made read: x
 * moves once, and before it is transformed along another dim, where that moves less.  What is
 * made is placed as x is.
 */
#include <string.h>

#include "import/builders.h"
#include "import/complex.h"

enum {
	LONGEST = 128,	   /* done as one product: a tile of the matrix unit */
	MOST_ROOTS = 2048, /* ... of a length that has no factors */
};

/* ---- roots of unity */

/* w^(j k) of rows j and columns k, in the direction `sign`. */
static Complex
roots(Make k, DType dtype, int64_t rows, int64_t columns, int64_t n, int sign)
{
	Type whole = type_of(D_i64, 2, (int64_t[]){rows, columns});
	Value *row = make_iota(k, &whole, 0);
	Value *at = make_binary(k, O_mul, row, make_iota(k, &whole, 1));

	at = make_convert(k, with(k, O_rem, at, (double)n), dtype);
	Value *angle = with(k, O_mul, at, 2 * 3.14159265358979323846 * sign / (double)n);
	Complex root = {.real = make_whole(k, make_unary(k, O_cos, angle), 1)};
	root.imaginary = make_whole(k, make_unary(k, O_sin, angle), 1);
	return root;
}

static Value *
product(Make k, Value *x, Value *root, int dim)
{
	DotDims dims = {.ncontract = 1, .lhs_contract = {dim}, .rhs_contract = {0}};

	Value *y = x && root ? make_dot(k, x, root, &dims, x->type.dtype) : NULL;
	if (y)
		op_set_int(y->def, A_phases, 2); /* its two parts read x */
	return y;
}

/* Dim `dim` of x becomes the columns of w, behind all others.  No imaginary part: it is 0. */
static Complex
transform_dim(Make k, Complex x, Complex w, int dim)
{
	Complex y = {.real = product(k, x.real, w.real, dim)};

	y.imaginary = product(k, x.real, w.imaginary, dim);
	if (!x.imaginary)
		return y;
	Value *more = product(k, x.imaginary, w.imaginary, dim);
	y.real = make_binary(k, O_sub, y.real, more);
	more = product(k, x.imaginary, w.real, dim);
	y.imaginary = make_binary(k, O_add, y.imaginary, more);
	return y;
}

/* ---- shapes of both parts */

static Complex
reshaped(Make k, Complex x, int rank, const int64_t *dims)
{
	x.real = make_reshape(k, x.real, rank, dims);
	if (x.imaginary)
		x.imaginary = make_reshape(k, x.imaginary, rank, dims);
	return x;
}

/* Dims a and b trade places. */
static Complex
swapped(Make k, Complex x, int a, int b)
{
	int64_t order[MAX_RANK];

	if (!x.real || a == b)
		return x;
	for (int d = 0; d < x.real->type.rank; d++)
		order[d] = d == a ? b : d == b ? a : d;
	x.real = make_transpose(k, x.real, order);
	if (x.imaginary)
		x.imaginary = make_transpose(k, x.imaginary, order);
	return x;
}

/* ---- transforms of the last dim */

/* The largest divisor of n that is no larger than LONGEST, nor than its root where that is;
   1 of a prime. */
static int64_t
first_factor(int64_t n)
{
	int64_t best = 1;

	for (int64_t f = 2; f <= LONGEST && f * f <= n; f++)
		if (n % f == 0)
			best = f;
	return best;
}

/* The first `count` of its elements. */
static Complex
transform(Make k, Complex x, int sign, int64_t count)
{
	if (!x.real)
		return x;
	Type type = x.real->type;
	int rank = type.rank, last = rank - 1;
	int64_t n = type.dims[last], n1 = n <= LONGEST ? 1 : first_factor(n), n2 = n / n1;

	if (n1 == 1 || rank == MAX_RANK)
		return transform_dim(k, x, roots(k, type.dtype, n, count, n, sign), last);
	type.dims[last] = n1, type.dims[rank] = n2;
	x = reshaped(k, x, rank + 1, type.dims);
	x = transform_dim(k, x, roots(k, type.dtype, n1, n1, n1, sign), last);
	Complex w = roots(k, type.dtype, n2, n1, n, sign);
	if (!x.real)
		return x;
	w.real = make_spread(k, w.real, last, &x.real->type);
	w.imaginary = make_spread(k, w.imaginary, last, &x.real->type);
	x = transform(k, swapped(k, complex_product(k, x, w), last, rank), sign, n2);
	x = swapped(k, x, last, rank);
	type.dims[last] = n;
	x = reshaped(k, x, rank, type.dims);
	x.real = make_slice_dim(k, x.real, last, 0, count, 1);
	x.imaginary = make_slice_dim(k, x.imaginary, last, 0, count, 1);
	return x;
}

/* The last dim is whole on each device before anything is computed of it. */
static Complex
whole(Make k, Complex x)
{
	int last = x.real ? x.real->type.rank - 1 : 0;

	x.real = make_whole(k, x.real, last);
	if (x.imaginary)
		x.imaginary = make_whole(k, x.imaginary, last);
	return x;
}

/* y is placed as x is, if nothing says otherwise. */
static Value *
like(Make k, Value *y, Value *x)
{
	y = make_binary(k, O_shard_like, y, x);
	if (y)
		op_set_int(y->def, A_wish, 1);
	return y;
}

/* x[.., n / 2 + 1] and what is conjugate to it: [.., n] */
static Complex
hermitian(Make k, Complex x, int64_t n)
{
	if (!x.real || n < 3)
		return x;
	int last = x.real->type.rank - 1;
	int64_t dim[] = {last}, behind = (n + 1) / 2;
	Value *real = make_reverse(k, make_slice_dim(k, x.real, last, 1, behind, 1), 1, dim);
	Value *other =
		make_reverse(k, make_slice_dim(k, x.imaginary, last, 1, behind, 1), 1, dim);

	x.real = make_concatenate(k, 2, (Value *[]){x.real, real}, last);
	other = make_unary(k, O_neg, other);
	x.imaginary = make_concatenate(k, 2, (Value *[]){x.imaginary, other}, last);
	return x;
}

/* Are the matrices small? */
static bool
is_short(int64_t n)
{
	while (n > LONGEST && first_factor(n) > 1)
		n /= first_factor(n);
	return n <= MOST_ROOTS;
}

/* The lengths are those of the last dims of x; of a half, of what it is a half of. */
static bool
lengths_fit(const Type *type, int rank, const Numbers *length, bool half)
{
	for (int i = 0; i < length->n; i++) {
		int64_t n = length->v[i], dim = type->dims[rank - length->n + i];
		bool last = half && i + 1 == length->n;
		if (n < 1 || dim != (last ? n / 2 + 1 : n))
			return false;
	}
	return true;
}

static Complex
along(Make k, Complex x, int dim, int sign)
{
	int last = x.real ? x.real->type.rank - 1 : 0;

	int64_t n = x.real ? x.real->type.dims[dim] : 0;
	Complex y = transform(k, whole(k, swapped(k, x, dim, last)), sign, n);
	y = swapped(k, y, dim, last);
	y.real = like(k, y.real, x.real);
	y.imaginary = like(k, y.imaginary, x.imaginary ? x.imaginary : x.real);
	return y;
}

typedef enum Kind { FFT, IFFT, RFFT, IRFFT, KINDS } Kind;
static const char *const kinds[KINDS] = {"FFT", "IFFT", "RFFT", "IRFFT"};

/* The last of them first: of a real x about half of that is made. */
static Complex
along_all(Make k, Complex x, Kind kind, int rank, const Numbers *length)
{
	int sign = kind == IFFT || kind == IRFFT ? 1 : -1, last = rank - 1;
	int64_t n = length->v[length->n - 1];
	double count = 1;

	if (kind == RFFT) /* the rest is conjugate */
		x = transform(k, whole(k, x), sign, n / 2 + 1);
	for (int d = last; d >= rank - length->n; d--) {
		count *= (double)length->v[d - rank + length->n];
		if (d < last || kind == FFT || kind == IFFT)
			x = along(k, x, d, sign);
	}
	if (kind == IRFFT)
		x = transform(k, hermitian(k, whole(k, x), n), sign, n);
	if (sign > 0) {
		x.real = with(k, O_mul, x.real, 1 / count);
		x.imaginary = with(k, O_mul, x.imaginary, 1 / count);
	}
	return x;
}

bool
import_op_fft(Import *in, const MlirOp *op, int detail)
{
	Numbers length = numbers_of(in, op, "fft_length");
	const char *type = word_of(in, op, "fft_type");
	Make k = in->make;
	int kind = 0;

	(void)detail;
	while (kind < KINDS && strcmp(type, kinds[kind]))
		kind++;
	bool pairs = kind != RFFT;
	int rank = in->noperands == 1 ? in->operands[0]->type.rank - pairs : 0;
	if (kind == KINDS || length.n < 1 || length.n > rank
		|| (pairs && in->operands[0]->type.dims[rank] != 2)
		|| !lengths_fit(&in->operands[0]->type, rank, &length, kind == IRFFT))
		return read_wrong(in, op->range, "%s takes 1 operand, a kind and lengths",
			op->name);
	for (int i = 0; i < length.n; i++)
		if (!is_short(length.v[i]) || rank + 1 >= MAX_RANK)
			return read_opaque(in, op, NULL);
	Complex x = {.real = pairs ? part_of(k, in->operands[0], 0) : in->operands[0]};
	x.imaginary = pairs ? part_of(k, in->operands[0], 1) : NULL;
	x = along_all(k, x, (Kind)kind, rank, &length);
	in->results[0] = kind == IRFFT ? x.real : pair_of(k, x.real, x.imaginary);
	return in->results[0] != NULL;
}
