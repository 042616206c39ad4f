/*
 * tensors.c - whole tensors and the parts of them that devices have.
 *
 * Made-up values depend on the tensor's name, the seed and the element's
 * index in the whole tensor, and on nothing else: every mesh and placement
 * sees the same tensor.  Element i of a tensor named N is
 *
 *   bits = mix(mix(fnv1a(N) ^ mix(seed)) + i * 0x9e3779b97f4a7c15)
 *
 * with mix() the finalizer of splitmix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators") and fnv1a the 64-bit hash.  The
 * highest bits become the value: see below.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "shdrt_math.h"

int64_t
rt_tensor_elements(const shdrt_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		if (__builtin_mul_overflow(n, t->dims[i], &n))
			rt_fail(SHDRT_MEMORY, "%s: has too many elements", t->name);
	return n;
}

size_t
rt_tensor_bytes(const shdrt_tensor *t)
{
	size_t n;
	if (__builtin_mul_overflow((size_t)rt_tensor_elements(t), shdrt_dtype_bytes[t->dtype],
		    &n))
		rt_fail(SHDRT_MEMORY, "%s: has too many bytes", t->name);
	return n;
}

shdrt_array
rt_array_of(const shdrt_tensor *t, void *data)
{
	return (shdrt_array){t->name, t->dtype, t->rank, t->dims, data};
}

/* ---- the rows of a part ---- */

/*
 * A device's part is visited in runs along its last dim (along several, where
 * they lie one after the other both here and there).  `outside` is an offset
 * in the whole tensor, by strides of its owner's choice.
 */
typedef struct Rows {
	int rank;
	int64_t counts[SHDRT_MAX_RANK], index[SHDRT_MAX_RANK];
	int64_t local_strides[SHDRT_MAX_RANK], outside_strides[SHDRT_MAX_RANK];
	int64_t local, outside; /* offsets of the run */
	int64_t run;		/* its elements */
	int64_t step;		/* between them, outside */
	bool padded;		/* the part reaches beyond the whole */
	bool done;
} Rows;

static void
rows_merge(Rows *r)
{
	while (r->rank > 1) {
		int last = r->rank - 1;
		int64_t n = r->counts[last];
		if (r->local_strides[last - 1] != r->local_strides[last] * n
			|| r->outside_strides[last - 1] != r->outside_strides[last] * n)
			return;
		r->counts[last - 1] *= n;
		r->local_strides[last - 1] = r->local_strides[last];
		r->outside_strides[last - 1] = r->outside_strides[last];
		r->rank--;
	}
}

static void
rows_begin(Rows *r, const shdrt_tensor *t, int64_t device, const int64_t *outside_strides)
{
	int64_t stride = 1;
	memset(r, 0, sizeof *r);
	r->rank = t->rank;
	for (int i = t->rank; i-- > 0;) {
		int64_t local = t->local_dims[i];
		int64_t start = local * shdrt_index(device, t->splits[i].n, t->splits[i].split);
		int64_t left = t->dims[i] - start;
		r->counts[i] = left < 0 ? 0 : left < local ? left : local;
		r->padded |= r->counts[i] < local;
		r->done |= r->counts[i] == 0;
		r->local_strides[i] = stride;
		r->outside_strides[i] = outside_strides[i];
		r->outside += start * outside_strides[i];
		stride *= local;
	}
	rows_merge(r);
	r->run = r->rank ? r->counts[r->rank - 1] : 1;
	r->step = r->rank ? r->outside_strides[r->rank - 1] : 1;
}

static void
rows_next(Rows *r)
{
	for (int i = r->rank - 1; i-- > 0;) {
		r->local += r->local_strides[i];
		r->outside += r->outside_strides[i];
		if (++r->index[i] < r->counts[i])
			return;
		r->local -= r->local_strides[i] * r->counts[i];
		r->outside -= r->outside_strides[i] * r->counts[i];
		r->index[i] = 0;
	}
	r->done = true;
}

/* Strides of the whole tensor, row-major, in elements. */
static void
whole_strides(const shdrt_tensor *t, int64_t strides[SHDRT_MAX_RANK])
{
	int64_t stride = 1;
	for (int i = t->rank; i-- > 0;) {
		strides[i] = stride;
		stride *= t->dims[i];
	}
}

static int64_t
part_elements(const shdrt_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		n *= t->local_dims[i];
	return n;
}

size_t
rt_part_bytes(const shdrt_tensor *t)
{
	return (size_t)part_elements(t) * shdrt_dtype_bytes[t->dtype];
}

/* ---- made-up values ---- */

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t
key_of(const char *name, uint64_t seed)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (const char *s = name; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
	return mix(hash ^ mix(seed));
}

static uint64_t
bits_of(uint64_t key, int64_t i)
{
	return mix(key + (uint64_t)i * 0x9e3779b97f4a7c15u);
}

/*
 * dtype, storage; from random bits; from a (linear) index.  Floats are
 * multiples of a power of two in [-1, 1), as fine as the dtype holds exactly;
 * signed integers in [-8, 8), unsigned ones in [0, 8).
 * A dtype of powers of two alone has those from 2^-7 to 1.
 */
#define MADE_UP(X) \
	X(pred, uint8_t, (uint8_t)(bits >> 63), (uint8_t)(i & 1)) \
	X(i4, int8_t, (int8_t)((int)(bits >> 60) - 8), shdrt_i4_from_i64(i)) \
	X(u4, uint8_t, (uint8_t)(bits >> 61), shdrt_u4_from_i64(i)) \
	X(i8, int8_t, (int8_t)((int)(bits >> 60) - 8), (int8_t)i) \
	X(i16, int16_t, (int16_t)((int)(bits >> 60) - 8), (int16_t)i) \
	X(i32, int32_t, (int32_t)(bits >> 60) - 8, (int32_t)i) \
	X(i64, int64_t, (int64_t)(bits >> 60) - 8, (int64_t)i) \
	X(u8, uint8_t, (uint8_t)(bits >> 61), (uint8_t)i) \
	X(u16, uint16_t, (uint16_t)(bits >> 61), (uint16_t)i) \
	X(u32, uint32_t, (uint32_t)(bits >> 61), (uint32_t)i) \
	X(u64, uint64_t, bits >> 61, (uint64_t)i) \
	X(f8e5m2, uint8_t, shdrt_f8e5m2_from_f32((float)(bits >> 61) * 0x1p-2f - 1), \
		shdrt_f8e5m2_from_i64(i)) \
	X(f8e4m3, uint8_t, shdrt_f8e4m3_from_f32((float)(bits >> 60) * 0x1p-3f - 1), \
		shdrt_f8e4m3_from_i64(i)) \
	X(f8e3m4, uint8_t, shdrt_f8e3m4_from_f32((float)(bits >> 59) * 0x1p-4f - 1), \
		shdrt_f8e3m4_from_i64(i)) \
	X(f8e4m3fn, uint8_t, shdrt_f8e4m3fn_from_f32((float)(bits >> 60) * 0x1p-3f - 1), \
		shdrt_f8e4m3fn_from_i64(i)) \
	X(f8e5m2fnuz, uint8_t, shdrt_f8e5m2fnuz_from_f32((float)(bits >> 61) * 0x1p-2f - 1), \
		shdrt_f8e5m2fnuz_from_i64(i)) \
	X(f8e4m3fnuz, uint8_t, shdrt_f8e4m3fnuz_from_f32((float)(bits >> 60) * 0x1p-3f - 1), \
		shdrt_f8e4m3fnuz_from_i64(i)) \
	X(f8e4m3b11fnuz, uint8_t, \
		shdrt_f8e4m3b11fnuz_from_f32((float)(bits >> 60) * 0x1p-3f - 1), \
		shdrt_f8e4m3b11fnuz_from_i64(i)) \
	X(f8e8m0fnu, uint8_t, (uint8_t)(127 - (int)(bits >> 61)), shdrt_f8e8m0fnu_from_i64(i)) \
	X(f4e2m1fn, uint8_t, shdrt_f4e2m1fn_from_f32((float)(bits >> 62) * 0.5f - 1), \
		shdrt_f4e2m1fn_from_i64(i)) \
	X(f16, uint16_t, shdrt_f16_from_f32((float)(bits >> 53) * 0x1p-10f - 1), \
		shdrt_f16_from_i64(i)) \
	X(bf16, uint16_t, shdrt_bf16_from_f32((float)(bits >> 56) * 0x1p-7f - 1), \
		shdrt_bf16_from_i64(i)) \
	X(f32, float, (float)(bits >> 40) * 0x1p-23f - 1, (float)i) \
	X(f64, double, (double)(bits >> 11) * 0x1p-52 - 1, (double)i)

typedef void Make(const Source *s, uint64_t key, int64_t first, int64_t n, void *out);

#define X(name, type, random, counted) \
	static void make_##name(const Source *s, uint64_t key, int64_t first, int64_t n, \
		void *out) \
	{ \
		type *to = out; \
		for (int64_t k = 0; k < n; k++) { \
			int64_t i = s->kind == FROM_ones ? 1 : first + k; \
			uint64_t bits = bits_of(key, i); \
			to[k] = s->kind == FROM_random ? (type)(random) : (type)(counted); \
		} \
	}
MADE_UP(X)
#undef X

static Make *const makers[SHDRT_DTYPE_COUNT] = {
#define X(name, type, random, counted) [SHDRT_##name] = make_##name,
	MADE_UP(X)
#undef X
};

/* Positions, of which there are as many as `range` has; ones and iota begin again where
   they end. */
static void
make_positions(const Source *s, shdrt_dtype dtype, const ValueRange *range, uint64_t key,
	int64_t first, int64_t n, char *out)
{
	int64_t one = range->first < 1 ? 1 - range->first : 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t counted = s->kind == FROM_ones ? one : first + i;
		uint64_t bits =
			s->kind == FROM_random ? bits_of(key, first + i) : (uint64_t)counted;
		rt_range_value(range, dtype, bits, out + (size_t)i * shdrt_dtype_bytes[dtype]);
	}
}

static void
make_in_range(const Source *s, shdrt_dtype dtype, uint64_t key, int64_t first, int64_t n,
	char *out)
{
	for (int64_t i = 0; i < n; i++)
		rt_range_value(&s->range, dtype, bits_of(key, first + i),
			out + (size_t)i * shdrt_dtype_bytes[dtype]);
}

/* ---- filling a part ---- */

static void
swap_bytes(char *out, size_t bytes, int64_t n)
{
	for (int64_t i = 0; i < n; i++, out += bytes)
		for (size_t k = 0; k < bytes / 2; k++) {
			char byte = out[k];
			out[k] = out[bytes - 1 - k];
			out[bytes - 1 - k] = byte;
		}
}

/* Any byte but 0 counts as true; of numbers of 4 bits only those count: what is computed
   with has no others. */
static void
normalize(shdrt_dtype dtype, char *out, int64_t n)
{
	if (dtype == SHDRT_pred)
		for (int64_t i = 0; i < n; i++)
			out[i] = out[i] != 0;
	if (dtype == SHDRT_i4)
		for (int64_t i = 0; i < n; i++)
			out[i] = (char)shdrt_wrap_i4(out[i]);
	if (dtype == SHDRT_u4)
		for (int64_t i = 0; i < n; i++)
			out[i] = (char)shdrt_wrap_u4(out[i]);
}

static void
copy_strided(char *out, const char *in, int64_t step, size_t bytes, int64_t n)
{
	if (step == (int64_t)bytes)
		memcpy(out, in, (size_t)n * bytes);
	else
		for (int64_t i = 0; i < n; i++)
			memcpy(out + (size_t)i * bytes, in + i * step, bytes);
}

/* Bytes become i32. */
static void
copy_widened(char *out, const char *in, int64_t step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t element = (unsigned char)in[i * step];
		memcpy(out + (size_t)i * sizeof element, &element, sizeof element);
	}
}

static void
fill_from_file(const shdrt_tensor *t, const TensorView *view, int64_t device, char *out)
{
	size_t bytes = shdrt_dtype_bytes[t->dtype];
	Rows r;
	for (rows_begin(&r, t, device, view->strides); !r.done; rows_next(&r)) {
		char *to = out + (size_t)r.local * bytes;
		const char *from = (const char *)view->data + r.outside;
		if (view->widened)
			copy_widened(to, from, r.step, r.run);
		else
			copy_strided(to, from, r.step, bytes, r.run);
		if (view->swapped)
			swap_bytes(to, bytes, r.run);
		normalize(t->dtype, to, r.run);
	}
}

static void
fill_made_up(const shdrt_tensor *t, const Source *s, int64_t device, char *out)
{
	size_t bytes = shdrt_dtype_bytes[t->dtype];
	uint64_t key = key_of(t->name, s->seed);
	int64_t strides[SHDRT_MAX_RANK];
	ValueRange positions = {.first = t->first_position,
		.count = (uint64_t)(t->end_position - t->first_position)};
	Rows r;
	whole_strides(t, strides);
	for (rows_begin(&r, t, device, strides); !r.done; rows_next(&r)) {
		char *to = out + (size_t)r.local * bytes;
		if (s->kind == FROM_memory)
			memcpy(to, (const char *)s->memory + (size_t)r.outside * bytes,
				(size_t)r.run * bytes);
		else if (s->range.given)
			make_in_range(s, t->dtype, key, r.outside, r.run, to);
		else if (positions.count)
			make_positions(s, t->dtype, &positions, key, r.outside, r.run, to);
		else
			makers[t->dtype](s, key, r.outside, r.run, to);
	}
}

void
rt_tensor_fill_part(const shdrt_tensor *t, const Source *s, int64_t device, char *out)
{
	size_t n = (size_t)part_elements(t);
	int64_t strides[SHDRT_MAX_RANK];
	Rows r;
	if (shdrt_index(device, t->unreduced.n, t->unreduced.split) != 0) {
		rt_fill_neutral(t->dtype, t->combiner, out, n);
		return;
	}
	whole_strides(t, strides);
	rows_begin(&r, t, device, strides);
	if (r.padded)
		memset(out, 0, n * shdrt_dtype_bytes[t->dtype]);
	if (s->kind == FROM_file)
		fill_from_file(t, &s->file.view, device, out);
	else
		fill_made_up(t, s, device, out);
}

/* What of a part lies beyond the whole. */
static void
clear_padding(const shdrt_tensor *t, int64_t device, char *part)
{
	size_t block = rt_part_bytes(t), blocks = 1;
	for (int i = 0; i < t->rank && block; i++) {
		int64_t local = t->local_dims[i];
		int64_t start = local * shdrt_index(device, t->splits[i].n, t->splits[i].split);
		int64_t left = t->dims[i] - start;
		int64_t count = left < 0 ? 0 : left < local ? left : local;
		size_t kept = block / (size_t)local * (size_t)count;
		for (size_t k = 0; k < blocks && kept < block; k++)
			memset(part + k * block + kept, 0, block - kept);
		blocks *= (size_t)local;
		block /= (size_t)local;
	}
}

void
rt_tensor_move_part(const shdrt_tensor *from, const shdrt_tensor *to, int64_t device,
	char *slab)
{
	if (from->offset != to->offset)
		memmove(slab + to->offset, slab + from->offset, rt_part_bytes(to));
	clear_padding(to, device, slab + to->offset);
}

void
rt_tensor_fill_whole(const shdrt_tensor *t, const Source *s, void *out)
{
	/* The same tensor on one device. */
	static const shdrt_splits unsplit[SHDRT_MAX_RANK];
	shdrt_tensor whole = *t;
	whole.local_dims = t->dims;
	whole.splits = unsplit;
	whole.unreduced.n = 0;
	rt_tensor_fill_part(&whole, s, 0, out);
}

/* ---- collecting parts ---- */

/* Number of the part a device has, of those that make up the whole. */
static int64_t
part_number(const shdrt_tensor *t, int64_t device)
{
	int64_t number = 0;
	for (int i = 0; i < t->rank; i++) {
		for (int k = 0; k < t->splits[i].n; k++)
			number *= t->splits[i].split[k].size;
		number += shdrt_index(device, t->splits[i].n, t->splits[i].split);
	}
	return number;
}

static int64_t
ways(const shdrt_splits *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->n; i++)
		n *= s->split[i].size;
	return n;
}

/* One part, from the devices that hold its partial results, in order. */
static void
collect_part(const shdrt_tensor *t, const Machine *m, const int64_t *devices, int n, char *out)
{
	size_t bytes = shdrt_dtype_bytes[t->dtype];
	const char **in = rt_get_memory((size_t)n, sizeof *in);
	int64_t strides[SHDRT_MAX_RANK];
	Rows r;
	for (int i = 0; i < n; i++)
		in[i] = m->devices[devices[i]].slab + t->offset;
	whole_strides(t, strides);
	for (rows_begin(&r, t, devices[0], strides); !r.done; rows_next(&r)) {
		char *to = out + (size_t)r.outside * bytes;
		if (n == 1)
			memcpy(to, in[0] + (size_t)r.local * bytes, (size_t)r.run * bytes);
		else
			rt_reduce(t->dtype, t->combiner, n, in, (size_t)r.local, (size_t)r.run,
				to);
	}
	free(in);
}

/* What a device has: which part of the whole, and which partial result. */
static int64_t
slot_of(const shdrt_tensor *t, int64_t device)
{
	return part_number(t, device) * ways(&t->unreduced)
		+ shdrt_index(device, t->unreduced.n, t->unreduced.split);
}

static int64_t
part_count(const shdrt_tensor *t)
{
	int64_t parts = 1;
	for (int i = 0; i < t->rank; i++)
		parts *= ways(&t->splits[i]);
	return parts;
}

/* Of each slot the first device that has it. */
static int64_t *
first_devices(const shdrt_tensor *t, const Machine *m)
{
	int64_t slots = part_count(t) * ways(&t->unreduced);
	int64_t *first = rt_get_zeroed((size_t)slots, sizeof *first);
	for (int64_t id = m->ndevices; id-- > 0;)
		first[slot_of(t, id)] = id;
	return first;
}

void
rt_tensor_collect(const shdrt_tensor *t, const Machine *m, void *out)
{
	int64_t partials = ways(&t->unreduced), parts = part_count(t);
	int64_t *first = first_devices(t, m);
	for (int64_t i = 0; i < parts; i++)
		collect_part(t, m, first + i * partials, (int)partials, out);
	free(first);
}

static bool
same_part(const shdrt_tensor *t, const Machine *m, int64_t a, int64_t b)
{
	size_t bytes = shdrt_dtype_bytes[t->dtype];
	const char *x = m->devices[a].slab + t->offset;
	const char *y = m->devices[b].slab + t->offset;
	int64_t strides[SHDRT_MAX_RANK];
	bool same = true;
	Rows r;
	whole_strides(t, strides);
	for (rows_begin(&r, t, a, strides); same && !r.done; rows_next(&r)) {
		size_t at = (size_t)r.local * bytes;
		same = memcmp(x + at, y + at, (size_t)r.run * bytes) == 0;
	}
	return same;
}

bool
rt_tensor_disagrees(const shdrt_tensor *t, const Machine *m, int64_t pair[2])
{
	int64_t *first = first_devices(t, m);
	bool found = false;
	for (int64_t id = 0; !found && id < m->ndevices; id++) {
		int64_t other = first[slot_of(t, id)];
		found = other != id && !same_part(t, m, other, id);
		pair[0] = other;
		pair[1] = id;
	}
	free(first);
	return found;
}
