/*
 * complex_functions.c - functions of complex numbers, as formulas of their parts.
 *
 *   z = x + i y, |z| = r
 *   sqrt(z)    (t, u) with t = sqrt((r + |x|) / 2), u = y / 2t; where x < 0 (|u|, t) with the
 *              sign of y
 *   log1p(z)   (log1p(x (2 + x) + y^2) / 2, atan2(y, 1 + x)); log(1 + z) where z is large
 *   expm1(z)   (expm1(x) cos y - 2 sin^2(y / 2), e^x sin y)
 *   tanh(z)    (sinh x cosh x, sin y cos y) / (sinh^2 x + cos^2 y): of |x| up to 20, for it is
 *              1 from there on
 *   sinh(z)    (sinh x cos y, cosh x sin y)
 *   z^w        e^(w log z); of 0 it is 0, but 1 where w is 0
 */
#include "import/builders.h"
#include "import/complex.h"

static Value *
half(Make k, Value *x)
{
	return with(k, O_mul, x, 0.5);
}

/* By the larger part, so that no square is too large. */
Value *
complex_length(Make k, Complex z)
{
	Value *x = make_unary(k, O_abs, z.real), *y = make_unary(k, O_abs, z.imaginary);

	if (!x || !y)
		return NULL;
	Value *large = make_binary(k, O_maximum, x, y),
	      *small = make_binary(k, O_minimum, x, y);
	Value *ratio = make_binary(k, O_div, small, large);
	Value *length = with(k, O_add, make_binary(k, O_mul, ratio, ratio), 1);
	length = make_binary(k, O_mul, large, make_unary(k, O_sqrt, length));
	return make_select(k, compare_with(k, DIR_EQ, large, 0), large, length);
}

Complex
complex_product(Make k, Complex a, Complex b)
{
	Value *real = make_binary(k, O_mul, a.real, b.real);
	Value *squared = make_binary(k, O_mul, a.imaginary, b.imaginary);
	Value *first = make_binary(k, O_mul, a.real, b.imaginary);
	Value *second = make_binary(k, O_mul, a.imaginary, b.real);
	Complex product = {.real = make_binary(k, O_sub, real, squared)};

	product.imaginary = make_binary(k, O_add, first, second);
	return product;
}

/* Both parts by a number, or 0 where that is 0. */
static Complex
divided(Make k, Complex z, Value *x)
{
	Value *none = compare_with(k, DIR_EQ, x, 0), *zero = number_like(k, x, 0);
	Value *real = make_binary(k, O_div, z.real, x);
	Value *imaginary = make_binary(k, O_div, z.imaginary, x);

	return (Complex){make_select(k, none, zero, real),
		make_select(k, none, zero, imaginary)};
}

Complex
complex_exp(Make k, Complex z)
{
	Value *length = make_unary(k, O_exp, z.real);
	Value *real = make_binary(k, O_mul, length, make_unary(k, O_cos, z.imaginary));

	return (Complex){real,
		make_binary(k, O_mul, length, make_unary(k, O_sin, z.imaginary))};
}

Complex
complex_log(Make k, Complex z)
{
	Value *real = make_unary(k, O_log, complex_length(k, z));

	return (Complex){real, make_binary(k, O_atan2, z.imaginary, z.real)};
}

Complex
complex_sqrt(Make k, Complex z)
{
	Value *size = make_unary(k, O_abs, z.real), *zero = number_like(k, size, 0);
	Value *sum = half(k, complex_length(k, z));
	sum = make_binary(k, O_add, sum, half(k, size));
	Value *root = make_unary(k, O_sqrt, sum);
	Value *other = make_binary(k, O_div, half(k, z.imaginary), root);
	other = make_select(k, compare_with(k, DIR_EQ, root, 0), zero, other);
	Value *down = compare_with(k, DIR_LT, z.imaginary, 0);
	Value *turned = make_select(k, down, make_unary(k, O_neg, root), root);
	Value *left = compare_with(k, DIR_LT, z.real, 0);
	Value *real = make_select(k, left, make_unary(k, O_abs, other), root);

	return (Complex){real, make_select(k, left, turned, other)};
}

Complex
complex_rsqrt(Make k, Complex z)
{
	Complex root = complex_sqrt(k, z);
	Value *length = complex_length(k, z);

	root.real = make_binary(k, O_div, root.real, length);
	root.imaginary = make_binary(k, O_div, make_unary(k, O_neg, root.imaginary), length);
	return root;
}

Complex
complex_log1p(Make k, Complex z)
{
	Complex more = {with(k, O_add, z.real, 1), z.imaginary}, far = complex_log(k, more);
	Value *square = make_binary(k, O_mul, z.imaginary, z.imaginary);
	Value *sum = make_binary(k, O_mul, z.real, with(k, O_add, z.real, 2));
	sum = make_binary(k, O_add, sum, square);
	Value *near = half(k, make_unary(k, O_log1p, sum));
	Value *small = compare_with(k, DIR_LT, complex_length(k, z), 0.5);

	return (Complex){make_select(k, small, near, far.real), far.imaginary};
}

Complex
complex_expm1(Make k, Complex z)
{
	Value *sine = make_unary(k, O_sin, half(k, z.imaginary));
	Value *down = with(k, O_mul, make_binary(k, O_mul, sine, sine), 2);
	Value *less = make_unary(k, O_expm1, z.real);
	Value *real = make_binary(k, O_mul, less, make_unary(k, O_cos, z.imaginary));
	Complex power = complex_exp(k, z);

	return (Complex){make_binary(k, O_sub, real, down), power.imaginary};
}

typedef struct Hyperbolic {
	Value *sine, *cosine;
} Hyperbolic;

static Hyperbolic
hyperbolic(Make k, Value *x)
{
	return (Hyperbolic){formula_sinh(k, x), formula_cosh(k, x)};
}

Complex
complex_tanh(Make k, Complex z)
{
	Value *low = with(k, O_maximum, z.real, -20), *x = with(k, O_minimum, low, 20);
	Hyperbolic h = hyperbolic(k, x);
	Value *sine = make_unary(k, O_sin, z.imaginary);
	Value *cosine = make_unary(k, O_cos, z.imaginary);
	Value *square = make_binary(k, O_mul, cosine, cosine);
	Value *divisor = make_binary(k, O_mul, h.sine, h.sine);
	divisor = make_binary(k, O_add, divisor, square);
	Value *real = make_binary(k, O_mul, h.sine, h.cosine);
	Value *imaginary = make_binary(k, O_mul, sine, cosine);

	real = make_binary(k, O_div, real, divisor);
	return (Complex){real, make_binary(k, O_div, imaginary, divisor)};
}

/* tan(z) = -i tanh(i z) */
Complex
complex_tan(Make k, Complex z)
{
	Complex turned = {make_unary(k, O_neg, z.imaginary), z.real};
	Complex t = complex_tanh(k, turned);

	return (Complex){t.imaginary, make_unary(k, O_neg, t.real)};
}

Complex
complex_sinh(Make k, Complex z)
{
	Hyperbolic h = hyperbolic(k, z.real);
	Value *real = make_binary(k, O_mul, h.sine, make_unary(k, O_cos, z.imaginary));

	return (Complex){real,
		make_binary(k, O_mul, h.cosine, make_unary(k, O_sin, z.imaginary))};
}

Complex
complex_cosh(Make k, Complex z)
{
	Hyperbolic h = hyperbolic(k, z.real);
	Value *real = make_binary(k, O_mul, h.cosine, make_unary(k, O_cos, z.imaginary));

	return (Complex){real,
		make_binary(k, O_mul, h.sine, make_unary(k, O_sin, z.imaginary))};
}

/* sin(z) = -i sinh(i z) */
Complex
complex_sin(Make k, Complex z)
{
	Complex turned = {make_unary(k, O_neg, z.imaginary), z.real};
	Complex s = complex_sinh(k, turned);

	return (Complex){s.imaginary, make_unary(k, O_neg, s.real)};
}

Complex
complex_cos(Make k, Complex z)
{
	Complex turned = {make_unary(k, O_neg, z.imaginary), z.real};

	return complex_cosh(k, turned);
}

Complex
complex_sign(Make k, Complex z)
{
	return divided(k, z, complex_length(k, z));
}

Complex
complex_square(Make k, Complex z)
{
	return complex_product(k, z, z);
}

Complex
complex_pow(Make k, Complex z, Complex w)
{
	Complex power = complex_exp(k, complex_product(k, w, complex_log(k, z)));
	Value *none = compare_with(k, DIR_EQ, complex_length(k, z), 0);
	Value *zeroth = compare_with(k, DIR_EQ, complex_length(k, w), 0);
	Value *zero = number_like(k, power.real, 0), *one = number_like(k, power.real, 1);
	Value *of_zero = make_select(k, zeroth, one, zero);

	return (Complex){make_select(k, none, of_zero, power.real),
		make_select(k, none, zero, power.imaginary)};
}
