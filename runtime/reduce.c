/*
 * reduce.c - combining elements of several operands, in a fixed order.
 *
 * A block of results is kept near while the operands pass by, one after the
 * other: the loop inside is a plain one over two arrays, which vectorises.
 * Narrow floats are widened to f32 on the way in and rounded once at the end.
 */
#include <string.h>

#include "internal.h"
#include "shdrt_math.h"
#include "wide.h"

const size_t shdrt_dtype_bytes[SHDRT_DTYPE_COUNT] = {
#define X(name, bytes) bytes,
	SHDRT_DTYPES(X)
#undef X
};

const char *const shdrt_dtype_names[SHDRT_DTYPE_COUNT] = {
#define X(name, bytes) #name,
	SHDRT_DTYPES(X)
#undef X
};

const char *const shdrt_combiner_names[SHDRT_COMBINER_COUNT] = {
#define X(name) #name,
	SHDRT_COMBINERS(X)
#undef X
};

/* into[i] = into[i] (combined with) from[i] */
typedef void Step(void *into, const void *from, size_t n);
/* Widens an operand, rounds a result. */
typedef void Load(void *wide, const void *in, size_t n);
typedef void Store(void *out, const void *wide, size_t n);

#define STEP(name, type, load, compute) \
	WIDE static void name(void *into, const void *from, size_t n) \
	{ \
		compute *restrict x = into; \
		const type *restrict y = from; \
		for (size_t i = 0; i < n; i++) { \
			compute a = x[i], b = load(y[i]); \
			x[i] = (compute)(STEP_C); \
		} \
	}
#define AS_IS(x) (x)

#define STEP_C a + b
STEP(add_i8, uint8_t, AS_IS, uint8_t)
STEP(add_i16, uint16_t, AS_IS, uint16_t)
STEP(add_i32, uint32_t, AS_IS, uint32_t)
STEP(add_i64, uint64_t, AS_IS, uint64_t)
STEP(add_f32, float, AS_IS, float)
STEP(add_f64, double, AS_IS, double)
#define X(name, type) STEP(add_##name, type, shdrt_f32_from_##name, float)
SHDRT_NARROW_FLOATS(X)
#undef X
#undef STEP_C
/* Products of narrow unsigned numbers would be computed in signed int. */
#define STEP_C (1u * a) * b
STEP(mul_i8, uint8_t, AS_IS, uint8_t)
STEP(mul_i16, uint16_t, AS_IS, uint16_t)
STEP(mul_i32, uint32_t, AS_IS, uint32_t)
STEP(mul_i64, uint64_t, AS_IS, uint64_t)
#undef STEP_C
#define STEP_C a *b
STEP(mul_f32, float, AS_IS, float)
STEP(mul_f64, double, AS_IS, double)
#define X(name, type) STEP(mul_##name, type, shdrt_f32_from_##name, float)
SHDRT_NARROW_FLOATS(X)
#undef X
#undef STEP_C
#define STEP_C a > b ? a : b
STEP(max_i8, int8_t, AS_IS, int8_t)
STEP(max_i16, int16_t, AS_IS, int16_t)
STEP(max_i32, int32_t, AS_IS, int32_t)
STEP(max_i64, int64_t, AS_IS, int64_t)
STEP(max_u8, uint8_t, AS_IS, uint8_t)
STEP(max_u16, uint16_t, AS_IS, uint16_t)
STEP(max_u32, uint32_t, AS_IS, uint32_t)
STEP(max_u64, uint64_t, AS_IS, uint64_t)
#undef STEP_C
#define STEP_C a < b ? a : b
STEP(min_i8, int8_t, AS_IS, int8_t)
STEP(min_i16, int16_t, AS_IS, int16_t)
STEP(min_i32, int32_t, AS_IS, int32_t)
STEP(min_i64, int64_t, AS_IS, int64_t)
STEP(min_u8, uint8_t, AS_IS, uint8_t)
STEP(min_u16, uint16_t, AS_IS, uint16_t)
STEP(min_u32, uint32_t, AS_IS, uint32_t)
STEP(min_u64, uint64_t, AS_IS, uint64_t)
#undef STEP_C
#define STEP_C shdrt_max_f64(a, b)
STEP(max_f64, double, AS_IS, double)
#undef STEP_C
#define STEP_C shdrt_max_f32(a, b)
STEP(max_f32, float, AS_IS, float)
#define X(name, type) STEP(max_##name, type, shdrt_f32_from_##name, float)
SHDRT_NARROW_FLOATS(X)
#undef X
#undef STEP_C
#define STEP_C shdrt_min_f64(a, b)
STEP(min_f64, double, AS_IS, double)
#undef STEP_C
#define STEP_C shdrt_min_f32(a, b)
STEP(min_f32, float, AS_IS, float)
#define X(name, type) STEP(min_##name, type, shdrt_f32_from_##name, float)
SHDRT_NARROW_FLOATS(X)
#undef X
#undef STEP_C
#define STEP_C a &b
STEP(and_8, uint8_t, AS_IS, uint8_t)
STEP(and_16, uint16_t, AS_IS, uint16_t)
STEP(and_32, uint32_t, AS_IS, uint32_t)
STEP(and_64, uint64_t, AS_IS, uint64_t)
#undef STEP_C
#define STEP_C a | b
STEP(or_8, uint8_t, AS_IS, uint8_t)
STEP(or_16, uint16_t, AS_IS, uint16_t)
STEP(or_32, uint32_t, AS_IS, uint32_t)
STEP(or_64, uint64_t, AS_IS, uint64_t)
#undef STEP_C

#define CONVERT_LOOP(name, from, to, convert) \
	WIDE static void name(void *out, const void *in, size_t n) \
	{ \
		to *restrict y = out; \
		const from *restrict x = in; \
		for (size_t i = 0; i < n; i++) \
			y[i] = convert(x[i]); \
	}
#define X(name, type) \
	CONVERT_LOOP(load_##name, type, float, shdrt_f32_from_##name) \
	CONVERT_LOOP(store_##name, float, type, shdrt_##name##_from_f32)
SHDRT_NARROW_FLOATS(X)
#undef X

/* Sums and products of 8 bits have the low ones of 4. */
CONVERT_LOOP(load_4, uint8_t, uint8_t, AS_IS)
CONVERT_LOOP(store_i4, uint8_t, int8_t, shdrt_wrap_i4)
CONVERT_LOOP(store_u4, uint8_t, uint8_t, shdrt_wrap_u4)

/* dtype: the steps by combiner (add max min mul and or), widening */
static const struct {
	Step *step[SHDRT_COMBINER_COUNT];
	Load *load;
	Store *store;
} reducers[SHDRT_DTYPE_COUNT] = {
	/* Of truth values, the sum and the greatest are "or". */
	[SHDRT_pred] = {{or_8, or_8, and_8, and_8, and_8, or_8}, NULL, NULL},
	[SHDRT_i4] = {{add_i8, max_i8, min_i8, mul_i8, and_8, or_8}, load_4, store_i4},
	[SHDRT_u4] = {{add_i8, max_u8, min_u8, mul_i8, and_8, or_8}, load_4, store_u4},
	[SHDRT_i8] = {{add_i8, max_i8, min_i8, mul_i8, and_8, or_8}, NULL, NULL},
	[SHDRT_i16] = {{add_i16, max_i16, min_i16, mul_i16, and_16, or_16}, NULL, NULL},
	[SHDRT_i32] = {{add_i32, max_i32, min_i32, mul_i32, and_32, or_32}, NULL, NULL},
	[SHDRT_i64] = {{add_i64, max_i64, min_i64, mul_i64, and_64, or_64}, NULL, NULL},
	[SHDRT_u8] = {{add_i8, max_u8, min_u8, mul_i8, and_8, or_8}, NULL, NULL},
	[SHDRT_u16] = {{add_i16, max_u16, min_u16, mul_i16, and_16, or_16}, NULL, NULL},
	[SHDRT_u32] = {{add_i32, max_u32, min_u32, mul_i32, and_32, or_32}, NULL, NULL},
	[SHDRT_u64] = {{add_i64, max_u64, min_u64, mul_i64, and_64, or_64}, NULL, NULL},
#define X(name, type) \
	[SHDRT_##name] = {{add_##name, max_##name, min_##name, mul_##name, NULL, NULL}, \
		load_##name, store_##name},
	SHDRT_NARROW_FLOATS(X)
#undef X
		[SHDRT_f32] = {{add_f32, max_f32, min_f32, mul_f32, NULL, NULL}, NULL, NULL},
	[SHDRT_f64] = {{add_f64, max_f64, min_f64, mul_f64, NULL, NULL}, NULL, NULL},
};

void
rt_reduce(shdrt_dtype dtype, shdrt_combiner combiner, int n, const char *const *in,
	size_t offset, size_t count, char *out)
{
	_Alignas(LINE) char wide[REDUCE_BLOCK * 8];
	size_t bytes = shdrt_dtype_bytes[dtype];
	Step *step = reducers[dtype].step[combiner];
	Load *load = reducers[dtype].load;
	if (!step)
		rt_fail(SHDRT_INTERNAL, "no %s of %s", shdrt_combiner_names[combiner],
			shdrt_dtype_names[dtype]);
	for (size_t at = 0; at < count; at += REDUCE_BLOCK) {
		size_t block = count - at < REDUCE_BLOCK ? count - at : REDUCE_BLOCK;
		size_t from = (offset + at) * bytes;
		if (load)
			load(wide, in[0] + from, block);
		else
			memcpy(wide, in[0] + from, block * bytes);
		for (int i = 1; i < n; i++)
			step(wide, in[i] + from, block);
		if (load)
			reducers[dtype].store(out + at * bytes, wide, block);
		else
			memcpy(out + at * bytes, wide, block * bytes);
	}
}

/* ---- what changes nothing, no sign of a -0: the bytes of an element, by combiner ---- */

static const uint64_t neutral[SHDRT_DTYPE_COUNT][SHDRT_COMBINER_COUNT] = {
	/*               add  max                 min            mul  and  or */
	[SHDRT_pred] = {0, 0, 1, 1, 1, 0},
	[SHDRT_i4] = {0, 0xf8, 7, 1, 0xff, 0},
	[SHDRT_u4] = {0, 0, 0xf, 1, 0xf, 0},
	[SHDRT_i8] = {0, 0x80, 0x7f, 1, 0xff, 0},
	[SHDRT_i16] = {0, 0x8000, 0x7fff, 1, 0xffff, 0},
	[SHDRT_i32] = {0, 0x80000000, 0x7fffffff, 1, 0xffffffff, 0},
	[SHDRT_i64] = {0, 0x8000000000000000, INT64_MAX, 1, UINT64_MAX, 0},
	[SHDRT_u8] = {0, 0, 0xff, 1, 0xff, 0},
	[SHDRT_u16] = {0, 0, 0xffff, 1, 0xffff, 0},
	[SHDRT_u32] = {0, 0, 0xffffffff, 1, 0xffffffff, 0},
	[SHDRT_u64] = {0, 0, UINT64_MAX, 1, UINT64_MAX, 0},
	/* Where nothing is infinite, the greatest numbers. */
	[SHDRT_f8e5m2] = {0x80, 0xfc, 0x7c, 0x3c, 0, 0},
	[SHDRT_f8e4m3] = {0x80, 0xf8, 0x78, 0x38, 0, 0},
	[SHDRT_f8e3m4] = {0x80, 0xf0, 0x70, 0x30, 0, 0},
	[SHDRT_f8e4m3fn] = {0x80, 0xfe, 0x7e, 0x38, 0, 0},
	[SHDRT_f8e5m2fnuz] = {0, 0xff, 0x7f, 0x40, 0, 0},
	[SHDRT_f8e4m3fnuz] = {0, 0xff, 0x7f, 0x40, 0, 0},
	[SHDRT_f8e4m3b11fnuz] = {0, 0xff, 0x7f, 0x58, 0, 0},
	[SHDRT_f8e8m0fnu] = {0xff, 0, 0xfe, 0x7f, 0, 0},
	[SHDRT_f4e2m1fn] = {8, 0xf, 7, 2, 0, 0},
	[SHDRT_f16] = {0x8000, 0xfc00, 0x7c00, 0x3c00, 0, 0},
	[SHDRT_bf16] = {0x8000, 0xff80, 0x7f80, 0x3f80, 0, 0},
	[SHDRT_f32] = {0x80000000, 0xff800000, 0x7f800000, 0x3f800000, 0, 0},
	[SHDRT_f64] = {0x8000000000000000, 0xfff0000000000000, 0x7ff0000000000000,
		0x3ff0000000000000, 0, 0},
};

void
rt_fill_neutral(shdrt_dtype dtype, shdrt_combiner combiner, void *out, size_t count)
{
	size_t bytes = shdrt_dtype_bytes[dtype];
	uint64_t bits = neutral[dtype][combiner];
	unsigned char one[8];
	for (size_t i = 0; i < bytes; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		one[i] = (unsigned char)(bits >> 8 * i);
#else
		one[bytes - 1 - i] = (unsigned char)(bits >> 8 * i);
#endif
	}
	for (size_t i = 0; i < count; i++)
		memcpy((char *)out + i * bytes, one, bytes);
}

#define AT(type, i) (((const type *)data)[i])

bool
rt_is_float(shdrt_dtype d)
{
	static const bool floats[SHDRT_DTYPE_COUNT] = {
#define X(name, type) [SHDRT_##name] = true,
		SHDRT_NARROW_FLOATS(X)
#undef X
			[SHDRT_f32] = true,
		[SHDRT_f64] = true,
	};

	return floats[d];
}

double
rt_element_double(shdrt_dtype dtype, const void *data, size_t i)
{
	switch (dtype) {
	case SHDRT_pred:
		return AT(uint8_t, i) != 0;
	case SHDRT_i4:
	case SHDRT_i8:
		return AT(int8_t, i);
	case SHDRT_i16:
		return AT(int16_t, i);
	case SHDRT_i32:
		return AT(int32_t, i);
	case SHDRT_i64:
		return (double)AT(int64_t, i);
	case SHDRT_u4:
	case SHDRT_u8:
		return AT(uint8_t, i);
	case SHDRT_u16:
		return AT(uint16_t, i);
	case SHDRT_u32:
		return AT(uint32_t, i);
	case SHDRT_u64:
		return (double)AT(uint64_t, i);
#define X(name, type) \
	case SHDRT_##name: \
		return shdrt_f32_from_##name(AT(type, i));
		SHDRT_NARROW_FLOATS(X)
#undef X
	case SHDRT_f32:
		return AT(float, i);
	case SHDRT_f64:
		return AT(double, i);
	case SHDRT_DTYPE_COUNT:
		break;
	}
	return 0;
}
