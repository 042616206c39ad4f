/*
 * floats.c - the numbers that the formats of floats.def hold, and their bits:
 * [sign | exponent | fraction], one wider than the numbers below the least normal one.
 */
#include <math.h>

#include "ir/ir.h"

const FloatInfo float_formats[DTYPE_COUNT] = {
#define FLOAT(id, digits, normal, greatest, kind, subnormal) \
	[D_##id] = {digits, normal, greatest, FLOAT_##kind, SUBNORMALS_##subnormal},
#include "ir/floats.def"
#undef FLOAT
};

/* Each dtype of the class has its row. */
enum {
#define FLOAT(id, ...) FORMAT_##id,
#include "ir/floats.def"
#undef FLOAT
	FORMATS,
#define DTYPE(id, hlo, bits, bytes, range, class, ...) FLOATS_##id = DC_##class == DC_float,
#include "ir/dtypes.def"
#undef DTYPE
	FLOATS = 0
#define DTYPE(id, ...) +FLOATS_##id
#include "ir/dtypes.def"
#undef DTYPE
};
_Static_assert((int)FORMATS == (int)FLOATS, "a float without a row in floats.def");

/* What a number becomes that is too large. */
static double
beyond(const FloatInfo *format, double v)
{
	switch (format->kind) {
	case FLOAT_ieee:
		return copysign(INFINITY, v);
	case FLOAT_all:
		return copysign(format->greatest, v);
	case FLOAT_fn:
	case FLOAT_fnuz:
	case FLOAT_scale:
		break;
	}
	return NAN;
}

double
float_rounded(DType d, double v)
{
	const FloatInfo *f = &float_formats[d];
	int exponent, least;

	if (f->kind == FLOAT_scale && !(v > 0))
		return NAN;
	if (f->kind == FLOAT_all && isnan(v))
		return -0.0;
	if (d == D_f64 || isnan(v))
		return v;
	if (v == 0)
		return f->kind == FLOAT_fnuz ? 0 : v;
	if (isfinite(v)) {
		frexp(v, &exponent);
		frexp(f->normal, &least);
		double quantum = ldexp(1, (exponent < least ? least : exponent) - f->digits);
		double given = v;
		v = nearbyint(v / quantum) * quantum;
		if (v == 0 && f->kind == FLOAT_fnuz)
			return 0;
		if (f->kind == FLOAT_scale)
			v = given > f->normal ? fmax(v, 2 * f->normal) : f->normal;
	}
	return fabs(v) > f->greatest ? beyond(f, v) : v;
}

/* 0 where nothing has a sign. */
static uint64_t
sign_bit(DType d)
{
	return float_formats[d].kind == FLOAT_scale ? 0 : (uint64_t)1 << (dtypes[d].bits - 1);
}

/* The bits of what is beyond the numbers, without a sign. */
static uint64_t
infinity_bits(DType d)
{
	int fraction = float_formats[d].digits - 1;

	return sign_bit(d) - ((uint64_t)1 << fraction);
}

static uint64_t
nan_bits(DType d)
{
	uint64_t sign = sign_bit(d);

	switch (float_formats[d].kind) {
	case FLOAT_ieee:
		return infinity_bits(d) | (uint64_t)1 << (float_formats[d].digits - 2);
	case FLOAT_fn:
		return sign - 1;
	case FLOAT_scale:
		return ((uint64_t)1 << dtypes[d].bits) - 1;
	case FLOAT_fnuz:
	case FLOAT_all:
		break;
	}
	return sign;
}

uint64_t
float_bits_of(DType d, double v)
{
	const FloatInfo *f = &float_formats[d];
	uint64_t sign = signbit(v) ? sign_bit(d) : 0;
	int exponent, least;

	v = float_rounded(d, v);
	if (isnan(v))
		return nan_bits(d) | sign;
	if (isinf(v))
		return infinity_bits(d) | sign;
	if (v == 0)
		return signbit(v) ? sign_bit(d) : 0;
	frexp(v, &exponent);
	frexp(f->normal, &least);
	if (f->kind == FLOAT_scale)
		return (uint64_t)(exponent - least);
	exponent = exponent < least ? least : exponent;
	uint64_t fraction = (uint64_t)ldexp(fabs(v), f->digits - exponent);
	return sign | (((uint64_t)(exponent - least) << (f->digits - 1)) + fraction);
}

double
float_of_bits(DType d, uint64_t bits)
{
	const FloatInfo *f = &float_formats[d];
	uint64_t sign = sign_bit(d);
	uint64_t magnitude = bits & (sign - 1), one = (uint64_t)1 << (f->digits - 1);
	int least, exponent = (int)(magnitude >> (f->digits - 1));
	double v;

	if (f->kind == FLOAT_scale)
		return bits == nan_bits(d) ? NAN : ldexp(f->normal, (int)bits);
	frexp(f->normal, &least);
	if (f->kind == FLOAT_ieee && magnitude >= infinity_bits(d))
		v = magnitude > infinity_bits(d) ? NAN : INFINITY;
	else if (f->kind != FLOAT_ieee && f->kind != FLOAT_all
		&& (bits == nan_bits(d) || magnitude == nan_bits(d)))
		v = NAN;
	else if (exponent == 0)
		v = ldexp((double)magnitude, least - f->digits);
	else
		v = ldexp((double)((magnitude & (one - 1)) | one),
			least + exponent - 1 - f->digits);
	return bits & sign && !(f->kind == FLOAT_fnuz && isnan(v)) ? -v : v;
}
