/*
 * wide.c - between the storage of a dtype and the type its arithmetic is
 * done in: float for f16, bf16 and f32, double for f64, uint64 for u64, int64 for the
 * rest.
 */
#include "eval/kernels.h"

#include <math.h>

#include "eval/scalar.h"

Wide
wide_of(DType d)
{
	if (d == D_f64)
		return W_double;
	if (d == D_u64)
		return W_word;
	return dtypes[d].class == DC_float ? W_float : W_int;
}

size_t
wide_bytes(DType d)
{
	return wide_of(d) == W_float ? sizeof(float) : sizeof(int64_t);
}

/* LOOPS(name, storage, wide, how to widen s, how to narrow w) */
#define LOOPS(name, storage, wide, widen, narrow) \
	static void load_##name(const void *data, int64_t first, int64_t n, void *result) \
	{ \
		const storage *from = (const storage *)data + first; \
		wide *to = result; \
		for (int64_t i = 0; i < n; i++) { \
			storage s = from[i]; \
			to[i] = widen; \
		} \
	} \
	static void store_##name(const void *values, void *data, int64_t first, int64_t n) \
	{ \
		const wide *from = values; \
		storage *to = (storage *)data + first; \
		for (int64_t i = 0; i < n; i++) { \
			wide w = from[i]; \
			to[i] = narrow; \
		} \
	}
LOOPS(pred, uint8_t, int64_t, s, w != 0)
LOOPS(i4, int8_t, int64_t, s, (int8_t)((int8_t)((uint64_t)w << 4) >> 4))
LOOPS(u4, uint8_t, int64_t, s, (uint8_t)(w & 15))
LOOPS(i8, int8_t, int64_t, s, (int8_t)w)
LOOPS(i16, int16_t, int64_t, s, (int16_t)w)
LOOPS(i32, int32_t, int64_t, s, (int32_t)w)
LOOPS(i64, int64_t, int64_t, s, w)
LOOPS(u8, uint8_t, int64_t, s, (uint8_t)w)
LOOPS(u16, uint16_t, int64_t, s, (uint16_t)w)
LOOPS(u32, uint32_t, int64_t, s, (uint32_t)w)
LOOPS(u64, uint64_t, uint64_t, s, w)
#define BYTE(name) \
	LOOPS(name, uint8_t, float, (float)float_of_bits(D_##name, s), \
		(uint8_t)float_bits_of(D_##name, (double)w))
BYTE(f8e5m2)
BYTE(f8e4m3)
BYTE(f8e3m4)
BYTE(f8e4m3fn)
BYTE(f8e5m2fnuz)
BYTE(f8e4m3fnuz)
BYTE(f8e4m3b11fnuz)
BYTE(f8e8m0fnu)
BYTE(f4e2m1fn)
#undef BYTE
LOOPS(f16, uint16_t, float, f16_to_float(s), float_to_f16(w))
LOOPS(bf16, uint16_t, float, bf16_to_float(s), float_to_bf16(w))
LOOPS(f32, float, float, s, w)
LOOPS(f64, double, double, s, w)
#undef LOOPS

typedef struct Format {
	void (*load)(const void *data, int64_t first, int64_t n, void *wide);
	void (*store)(const void *wide, void *data, int64_t first, int64_t n);
	/* of another dtype, by its wide type */
	void (*from[WIDE_COUNT])(const struct Format *f, const void *wide, int64_t n,
		void *result);
	int64_t least, greatest; /* of integers */
} Format;

/* CONVERSIONS(to, wide, how a whole number v gets there, how a word and how a float or a
   double does) */
#define CONVERSION(name, from_wide, to_wide, number) \
	static void name(const Format *f, const void *values, int64_t n, void *result) \
	{ \
		const from_wide *from = values; \
		to_wide *to = result; \
		(void)f; \
		for (int64_t i = 0; i < n; i++) { \
			from_wide v = from[i]; \
			to[i] = number; \
		} \
	}
#define CONVERSIONS(to, wide, of_integer, of_word, of_float) \
	CONVERSION(to##_of_int, int64_t, wide, of_integer) \
	CONVERSION(to##_of_word, uint64_t, wide, of_word) \
	CONVERSION(to##_of_float, float, wide, of_float) \
	CONVERSION(to##_of_double, double, wide, of_float)
#define FROM(to) \
	{ \
		[W_float] = to##_of_float, [W_double] = to##_of_double, [W_int] = to##_of_int, \
		[W_word] = to##_of_word \
	}
CONVERSIONS(pred, int64_t, v != 0, v != 0, v != 0)
CONVERSIONS(integer, int64_t, v, (int64_t)v, double_to_integer(v, f->least, f->greatest))
CONVERSIONS(word, uint64_t, (uint64_t)v, v, double_to_word(v))
CONVERSIONS(double, double, (double)v, (double)v, v)
CONVERSIONS(float, float, (float)v, (float)v, (float)v)
/* storing rounds once more */
CONVERSIONS(narrow, float, integer_to_float_odd(v), word_to_float_odd(v),
	double_to_float_odd(v))
#undef CONVERSIONS
#undef CONVERSION

static const Format formats[DTYPE_COUNT] = {
	[D_pred] = {load_pred, store_pred, FROM(pred), 0, 1},
	[D_i4] = {load_i4, store_i4, FROM(integer), -8, 7},
	[D_u4] = {load_u4, store_u4, FROM(integer), 0, 15},
	[D_i8] = {load_i8, store_i8, FROM(integer), INT8_MIN, INT8_MAX},
	[D_i16] = {load_i16, store_i16, FROM(integer), INT16_MIN, INT16_MAX},
	[D_i32] = {load_i32, store_i32, FROM(integer), INT32_MIN, INT32_MAX},
	[D_i64] = {load_i64, store_i64, FROM(integer), INT64_MIN, INT64_MAX},
	[D_u8] = {load_u8, store_u8, FROM(integer), 0, UINT8_MAX},
	[D_u16] = {load_u16, store_u16, FROM(integer), 0, UINT16_MAX},
	[D_u32] = {load_u32, store_u32, FROM(integer), 0, UINT32_MAX},
	[D_u64] = {load_u64, store_u64, FROM(word), 0, 0},
	[D_f8e5m2] = {load_f8e5m2, store_f8e5m2, FROM(narrow), 0, 0},
	[D_f8e4m3] = {load_f8e4m3, store_f8e4m3, FROM(narrow), 0, 0},
	[D_f8e3m4] = {load_f8e3m4, store_f8e3m4, FROM(narrow), 0, 0},
	[D_f8e4m3fn] = {load_f8e4m3fn, store_f8e4m3fn, FROM(narrow), 0, 0},
	[D_f8e5m2fnuz] = {load_f8e5m2fnuz, store_f8e5m2fnuz, FROM(narrow), 0, 0},
	[D_f8e4m3fnuz] = {load_f8e4m3fnuz, store_f8e4m3fnuz, FROM(narrow), 0, 0},
	[D_f8e4m3b11fnuz] = {load_f8e4m3b11fnuz, store_f8e4m3b11fnuz, FROM(narrow), 0, 0},
	[D_f8e8m0fnu] = {load_f8e8m0fnu, store_f8e8m0fnu, FROM(narrow), 0, 0},
	[D_f4e2m1fn] = {load_f4e2m1fn, store_f4e2m1fn, FROM(narrow), 0, 0},
	[D_f16] = {load_f16, store_f16, FROM(narrow), 0, 0},
	[D_bf16] = {load_bf16, store_bf16, FROM(narrow), 0, 0},
	[D_f32] = {load_f32, store_f32, FROM(float), 0, 0},
	[D_f64] = {load_f64, store_f64, FROM(double), 0, 0},
};
#undef FROM

void
load_wide(DType d, const void *data, int64_t first, int64_t n, void *wide)
{
	formats[d].load(data, first, n, wide);
}

void
store_wide(DType d, const void *wide, void *data, int64_t first, int64_t n)
{
	formats[d].store(wide, data, first, n);
}

const void *
view_wide(const Tensor *t, int64_t first, int64_t n, Chunk *buffer)
{
	DType d = t->type.dtype;
	if (d == D_f32 || d == D_f64 || d == D_i64 || d == D_u64)
		return (const char *)t->data + first * dtypes[d].bytes;
	load_wide(d, t->data, first, n, buffer);
	return buffer;
}

static double
wide_double(Wide w, const void *values, int64_t i)
{
	if (w == W_float)
		return ((const float *)values)[i];
	if (w == W_double)
		return ((const double *)values)[i];
	if (w == W_word)
		return (double)((const uint64_t *)values)[i];
	return (double)((const int64_t *)values)[i];
}

void
convert_wide(DType from, const void *wide, DType to, void *result, int64_t n)
{
	const Format *f = &formats[to];
	f->from[wide_of(from)](f, wide, n, result);
}

double
tensor_double(const Tensor *t, int64_t i)
{
	Chunk wide;
	load_wide(t->type.dtype, t->data, i, 1, &wide);
	return wide_double(wide_of(t->type.dtype), &wide, 0);
}

int64_t
tensor_integer(const Tensor *t, int64_t i)
{
	Chunk wide;
	load_wide(t->type.dtype, t->data, i, 1, &wide);
	return wide.i[0];
}

/* One number as the wide type of a dtype. */
static void
wide_payload(DType d, int64_t payload, void *wide)
{
	double value = payload_double(payload);
	if (dtype_is_float(d))
		convert_wide(D_f64, &value, d, wide, 1);
	else
		convert_wide(D_i64, &payload, d, wide, 1);
}

void
tensor_set_payload(Tensor *t, int64_t i, int64_t payload)
{
	Chunk wide;
	wide_payload(t->type.dtype, payload, &wide);
	store_wide(t->type.dtype, &wide, t->data, i, 1);
}

void
tensor_fill_payload(Tensor *t, int64_t payload)
{
	DType d = t->type.dtype;
	int64_t n = type_elements(&t->type);
	Chunk wide;
	for (int i = 0; i < CHUNK && i < n; i++)
		wide_payload(d, payload, (char *)&wide + (size_t)i * wide_bytes(d));
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count)
		store_wide(d, &wide, t->data, i, count);
}

void
load_doubles(const Tensor *t, int64_t first, int64_t n, double *result)
{
	Chunk buffer;
	if (t->type.rank) {
		convert_wide(t->type.dtype, view_wide(t, first, n, &buffer), D_f64, result, n);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		result[i] = tensor_double(t, 0);
}
