/*
 * types.c - types and the payloads of constants, as values.
 */
#include <math.h>
#include <string.h>
#include "ir/ir.h"
#include "ir/types.h"

/* ---- types as values ------------------------------------------------ */

int64_t
type_elements_from(const Type *type, int64_t dim)
{
	int64_t n = 1;

	for (; dim < type->rank; dim++)
		n *= type->dims[dim];
	return n;
}

int64_t
type_elements(const Type *type)
{
	return type_elements_from(type, 0);
}

int64_t
type_bytes(const Type *type)
{
	int bits = dtypes[type->dtype].bits;
	int64_t n = type_elements(type);

	return bits < 8 ? (n * bits + 7) / 8 : n * (bits / 8);
}

int64_t
type_stored(const Type *type)
{
	return type_elements(type) * dtypes[type->dtype].bytes;
}

bool
type_can_be(const Type *type)
{
	int64_t n = dtypes[type->dtype].bytes;

	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] < 1 || !mul_i64(n, type->dims[d], &n))
			return false;
	return true;
}

bool
type_equal(const Type *a, const Type *b)
{
	return a->dtype == b->dtype && a->rank == b->rank
		&& !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]);
}

Type
type_of(DType d, int rank, const int64_t *dims)
{
	Type t = {0};

	t.dtype = d;
	t.rank = rank;
	if (rank)
		memcpy(t.dims, dims, (size_t)rank * sizeof dims[0]);
	return t;
}

bool
dtype_is_float(DType d)
{
	return dtypes[d].class == DC_float;
}

bool
dtype_is_narrow(DType d)
{
	return dtype_is_float(d) && dtypes[d].bytes < dtypes[D_f32].bytes;
}

bool
dtype_is_integer(DType d)
{
	return dtypes[d].class == DC_signed || dtypes[d].class == DC_unsigned;
}

bool
dtype_is_index(DType d)
{
	return dtype_is_integer(d) && d != D_u64;
}

bool
dtype_by_name(const char *name, DType *dtype)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(dtypes[i].name, name)) {
			*dtype = (DType)i;
			return true;
		}
	return false;
}

bool
combiner_by_name(const char *name, Combiner *combiner)
{
	for (int i = 0; i < COMBINER_COUNT; i++)
		if (!strcmp(combiners[i].name, name)) {
			*combiner = (Combiner)i;
			return true;
		}
	return false;
}

/* ---- payloads of constants ------------------------------------------ */

double
payload_double(int64_t v)
{
	double d;

	memcpy(&d, &v, sizeof d);
	return d;
}

int64_t
double_payload(double d)
{
	int64_t v;

	memcpy(&v, &d, sizeof v);
	return v;
}

int64_t
integer_limit(DType d, bool greatest)
{
	int bits = dtypes[d].bits;

	if (dtypes[d].class == DC_pred)
		return greatest;
	if (dtypes[d].class == DC_unsigned)
		return greatest ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
	int64_t most = (int64_t)((1ull << (bits - 1)) - 1);
	return greatest ? most : -most - 1;
}

bool
payload_fits(DType d, int64_t payload)
{
	return dtype_is_float(d) || d == D_u64
		|| (payload >= integer_limit(d, false) && payload <= integer_limit(d, true));
}

static int64_t
identity_payload(Identity identity, DType d)
{
	bool real = dtype_is_float(d);
	const FloatInfo *f = &float_formats[d];
	double most = f->kind == FLOAT_ieee ? INFINITY : f->greatest;
	double least = f->kind == FLOAT_scale ? f->normal : -most;

	switch (identity) {
	case IDENTITY_zero:
		return 0;
	case IDENTITY_minus_zero:
		return real && f->kind != FLOAT_fnuz && f->kind != FLOAT_scale
			? double_payload(-0.0)
			: 0;
	case IDENTITY_one:
		return real ? double_payload(1) : 1;
	case IDENTITY_least:
		return real ? double_payload(least) : integer_limit(d, false);
	case IDENTITY_greatest:
		return real ? double_payload(most) : integer_limit(d, true);
	case IDENTITY_ones:
		break;
	}
	return dtypes[d].class == DC_signed ? -1 : integer_limit(d, true);
}

int64_t
combiner_identity(Combiner c, DType d)
{
	return identity_payload(combiners[c].identity, d);
}

int64_t
combiner_neutral(Combiner c, DType d)
{
	return identity_payload(combiners[c].neutral, d);
}
