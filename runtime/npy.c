/*
 * npy.c - numpy's .npy files, versions 1 to 3.
 *
 *   \x93NUMPY major minor length { 'descr': '<f4', 'fortran_order': False,
 *   'shape': (3, 4), } padding data
 *
 * Reads both orders of dims and of bytes; writes version 1, row-major.  What
 * numpy has no dtype for is what it makes of that: bf16 two bytes without a meaning, '<V2',
 * floats of a byte '|V1', which are of whatever such dtype is wanted.  A complex number is
 * two, in a dim more, the last.
 */
#include <string.h>

#include "header_text.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER '<'
#define OTHER_ORDER '>'
#else
#define HOST_ORDER '>'
#define OTHER_ORDER '<'
#endif

/* What numpy calls them, without the byte order. */
static const char *const npy_names[SHDRT_DTYPE_COUNT] = {
	[SHDRT_pred] = "b1",
	[SHDRT_i4] = "V1",
	[SHDRT_u4] = "V1",
	[SHDRT_i8] = "i1",
	[SHDRT_i16] = "i2",
	[SHDRT_i32] = "i4",
	[SHDRT_i64] = "i8",
	[SHDRT_u8] = "u1",
	[SHDRT_u16] = "u2",
	[SHDRT_u32] = "u4",
	[SHDRT_u64] = "u8",
	[SHDRT_f8e5m2] = "V1",
	[SHDRT_f8e4m3] = "V1",
	[SHDRT_f8e3m4] = "V1",
	[SHDRT_f8e4m3fn] = "V1",
	[SHDRT_f8e5m2fnuz] = "V1",
	[SHDRT_f8e4m3fnuz] = "V1",
	[SHDRT_f8e4m3b11fnuz] = "V1",
	[SHDRT_f8e8m0fnu] = "V1",
	[SHDRT_f4e2m1fn] = "V1",
	[SHDRT_f16] = "f2",
	[SHDRT_bf16] = "V2",
	[SHDRT_f32] = "f4",
	[SHDRT_f64] = "f8",
};

/* 'text' or "text", without escapes: no name of ours has any */
static bool
take_string(Cursor *c, const char **text, size_t *n)
{
	skip_blanks(c);
	if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
		return false;
	char quote = *c->at++;
	*text = c->at;
	while (c->at < c->end && *c->at != quote)
		c->at++;
	*n = (size_t)(c->at - *text);
	if (c->at == c->end)
		return false;
	c->at++;
	return true;
}

static bool
take_word(Cursor *c, const char *word)
{
	size_t n = strlen(word);
	skip_blanks(c);
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
		return false;
	c->at += n;
	return true;
}

/* Python 2 wrote long integers with an L. */
static bool
take_python_size(Cursor *c, int64_t *size)
{
	if (!take_size(c, size))
		return false;
	if (c->at < c->end && *c->at == 'L')
		c->at++;
	return true;
}

bool
rt_name_dtype(const char *name, size_t n, const char *const *names, shdrt_dtype *dtype)
{
	for (int i = 0; i < SHDRT_DTYPE_COUNT; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) {
			*dtype = (shdrt_dtype)i;
			return true;
		}
	return false;
}

static bool
is_key(const char *text, size_t n, const char *key)
{
	return strlen(key) == n && memcmp(text, key, n) == 0;
}

static bool
take_descr(Cursor *c, shdrt_dtype wanted, TensorView *view)
{
	const char *text;
	size_t n;
	skip_blanks(c);
	if (c->at < c->end && *c->at == '[')
		return wrong(c->why, "its elements are records");
	if (!take_string(c, &text, &n))
		return wrong(c->why, "its header has no readable 'descr'");
	if (n == 8 && memcmp(text, "bfloat16", 8) == 0) {
		view->dtype = SHDRT_bf16;
		return true;
	}
	if (n && strchr("<>|=", *text)) {
		view->swapped = *text == OTHER_ORDER;
		text++, n--;
	}
	view->pairs = n && *text == 'c';
	if (view->pairs && (is_key(text, n, "c8") || is_key(text, n, "c16"))) {
		view->dtype = n == 2 ? SHDRT_f32 : SHDRT_f64;
		return true;
	}
	if (n == 2 && memcmp(text, "f1", 2) == 0) { /* as ml_dtypes registers it */
		view->dtype = SHDRT_f8e5m2;
		return true;
	}
	if (!rt_name_dtype(text, n, npy_names, &view->dtype)) {
		snprintf(c->why, WHY,
			"its dtype '%.*s' is none of b1 i1 i2 i4 "
			"i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 V1 (f8e4m3fn ..) V2 (bf16)",
			n > 40 ? 40 : (int)n, text);
		return false;
	}
	if (strcmp(npy_names[wanted], npy_names[view->dtype]) == 0)
		view->dtype = wanted;
	view->swapped = view->swapped && shdrt_dtype_bytes[view->dtype] > 1;
	return true;
}

static bool
take_shape(Cursor *c, TensorView *view)
{
	if (!take(c, '('))
		return wrong(c->why, "its header has no readable 'shape'");
	view->rank = 0;
	while (!take(c, ')')) {
		if (view->rank == SHDRT_MAX_RANK)
			return wrong(c->why, "it has more than 16 dims");
		if (!take_python_size(c, &view->dims[view->rank]))
			return wrong(c->why,
				"its header has no readable "
				"'shape'");
		view->rank++;
		if (!take(c, ',')) {
			if (!take(c, ')'))
				return wrong(c->why,
					"its header has no "
					"readable 'shape'");
			break;
		}
	}
	return true;
}

static bool
take_order(Cursor *c, bool *fortran)
{
	*fortran = take_word(c, "True");
	if (!*fortran && !take_word(c, "False"))
		return wrong(c->why,
			"its header has no readable "
			"'fortran_order'");
	return true;
}

/* The dictionary; each of its three keys once, in any order. */
static bool
take_header(Cursor *c, shdrt_dtype wanted, TensorView *view, bool *fortran)
{
	unsigned seen = 0;
	const char *key;
	size_t n;
	if (!take(c, '{'))
		return wrong(c->why, "its header is not a dictionary");
	while (!take(c, '}')) {
		if (!take_string(c, &key, &n) || !take(c, ':'))
			return wrong(c->why, "its header cannot be read");
		unsigned which = is_key(key, n, "descr")  ? 1
			: is_key(key, n, "fortran_order") ? 2
			: is_key(key, n, "shape")	  ? 4
							  : 0;
		if (which == 0 || seen & which)
			return wrong(c->why,
				"its header has other keys than "
				"'descr', 'fortran_order' and 'shape'");
		seen |= which;
		if (!(which == 1		 ? take_descr(c, wanted, view)
				    : which == 2 ? take_order(c, fortran)
						 : take_shape(c, view)))
			return false;
		if (!take(c, ',') && (c->at == c->end || *c->at != '}'))
			return wrong(c->why, "its header cannot be read");
	}
	if (seen != 7)
		return wrong(c->why,
			"its header lacks 'descr', "
			"'fortran_order' or 'shape'");
	skip_blanks(c);
	return c->at == c->end || wrong(c->why, "its header goes on after the dictionary");
}

bool
rt_view_row_major(TensorView *view, uint64_t *bytes)
{
	int64_t size = (int64_t)shdrt_dtype_bytes[view->dtype];
	bool empty = false;
	for (int i = view->rank; i-- > 0;) {
		view->strides[i] = size;
		empty |= view->dims[i] == 0;
		if (!empty && __builtin_mul_overflow(size, view->dims[i], &size))
			return false;
	}
	*bytes = empty ? 0 : (uint64_t)size;
	return true;
}

size_t
rt_array_bytes(const shdrt_array *a)
{
	size_t bytes = shdrt_dtype_bytes[a->dtype];
	for (int i = 0; i < a->rank; i++)
		bytes *= (size_t)a->dims[i];
	return bytes;
}

static void
view_column_major(TensorView *view)
{
	int64_t size = (int64_t)shdrt_dtype_bytes[view->dtype];
	int rank = view->rank - view->pairs; /* the parts of a number lie together */
	if (view->pairs) {
		view->strides[rank] = size;
		size *= 2;
	}
	for (int i = 0; i < rank; i++) {
		view->strides[i] = size;
		size *= view->dims[i];
	}
}

/* The header's text, after magic, version and length. */
static bool
find_header(const unsigned char *bytes, size_t n, Cursor *c, size_t *data)
{
	if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
		return wrong(c->why, "it is not a .npy file");
	if (bytes[6] < 1 || bytes[6] > 3) {
		snprintf(c->why, WHY,
			"its format version is %d.%d; 1 to 3 "
			"can be read",
			bytes[6], bytes[7]);
		return false;
	}
	size_t width = bytes[6] == 1 ? 2 : 4, length = 0;
	if (n < 8 + width)
		return wrong(c->why, "it ends in its header");
	for (size_t i = 0; i < width; i++)
		length |= (size_t)bytes[8 + i] << 8 * i;
	if (length > n - 8 - width)
		return wrong(c->why, "it ends in its header");
	c->at = (const char *)bytes + 8 + width;
	c->end = c->at + length;
	*data = 8 + width + length;
	return true;
}

bool
rt_npy_parse(const unsigned char *bytes, size_t n, shdrt_dtype wanted, TensorView *view,
	char why[WHY])
{
	Cursor c = {.why = why};
	size_t data = 0;
	bool fortran = false;
	uint64_t size;
	memset(view, 0, sizeof *view);
	if (!find_header(bytes, n, &c, &data) || !take_header(&c, wanted, view, &fortran))
		return false;
	if (view->pairs && view->rank == SHDRT_MAX_RANK)
		return wrong(why, "it has more than 16 dims");
	if (view->pairs)
		view->dims[view->rank++] = 2;
	if (!rt_view_row_major(view, &size))
		return wrong(why, "its shape is too large");
	if (size != n - data) {
		snprintf(why, WHY,
			"its header says %llu bytes of data, it "
			"has %llu",
			(unsigned long long)size, (unsigned long long)(n - data));
		return false;
	}
	if (fortran && size)
		view_column_major(view);
	view->data = bytes + data;
	return true;
}

/* ---- writing ---- */

size_t
rt_npy_header(const shdrt_array *a, char header[NPY_HEADER])
{
	char text[NPY_HEADER - 64];
	int n = snprintf(text, sizeof text,
		"{'descr': '%c%s', "
		"'fortran_order': False, 'shape': (",
		shdrt_dtype_bytes[a->dtype] == 1 ? '|' : HOST_ORDER, npy_names[a->dtype]);
	for (int i = 0; i < a->rank; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%lld,%s",
			(long long)a->dims[i], i + 1 < a->rank ? " " : "");
	n += snprintf(text + n, sizeof text - (size_t)n, "), }");
	size_t total = (10 + (size_t)n + 1 + 63) / 64 * 64;
	memset(header, ' ', total);
	memcpy(header, "\x93NUMPY\x01\x00", 8);
	header[8] = (char)((total - 10) & 0xff);
	header[9] = (char)((total - 10) >> 8);
	memcpy(header + 10, text, (size_t)n);
	header[total - 1] = '\n';
	return total;
}

bool
rt_npy_put(FILE *f, const shdrt_array *a)
{
	char header[NPY_HEADER];
	size_t head = rt_npy_header(a, header), bytes = rt_array_bytes(a);
	return fwrite(header, 1, head, f) == head && fwrite(a->data, 1, bytes, f) == bytes;
}
