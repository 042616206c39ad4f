/*
 * safetensors.c - one tensor of a .safetensors file; writing one.
 *
 *   length (8 bytes, little-endian)
 *   {"w": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...}
 *   data; offsets count from here
 *
 * The JSON is read in one pass, which lists names and where the data are, that may
 * neither overlap nor leave gaps; the entry of a tensor is read when it is asked for.
 * Nothing is believed that was not checked.
 */
#include <stdlib.h>
#include <string.h>

#include "header_text.h"

static const char *const safetensors_names[SHDRT_DTYPE_COUNT] = {
	[SHDRT_pred] = "BOOL",
	[SHDRT_i4] = "I4",
	[SHDRT_u4] = "U4",
	[SHDRT_i8] = "I8",
	[SHDRT_i16] = "I16",
	[SHDRT_i32] = "I32",
	[SHDRT_i64] = "I64",
	[SHDRT_u8] = "U8",
	[SHDRT_u16] = "U16",
	[SHDRT_u32] = "U32",
	[SHDRT_u64] = "U64",
	[SHDRT_f8e5m2] = "F8_E5M2",
	[SHDRT_f8e4m3] = "F8_E4M3_IEEE",
	[SHDRT_f8e3m4] = "F8_E3M4",
	[SHDRT_f8e4m3fn] = "F8_E4M3",
	[SHDRT_f8e5m2fnuz] = "F8_E5M2FNUZ",
	[SHDRT_f8e4m3fnuz] = "F8_E4M3FNUZ",
	[SHDRT_f8e4m3b11fnuz] = "F8_E4M3B11FNUZ",
	[SHDRT_f8e8m0fnu] = "F8_E8M0",
	[SHDRT_f4e2m1fn] = "F4_E2M1FN",
	[SHDRT_f16] = "F16",
	[SHDRT_bf16] = "BF16",
	[SHDRT_f32] = "F32",
	[SHDRT_f64] = "F64",
};

/* The text between the quotes, escapes as they stand. */
static bool
take_string(Cursor *c, const char **text, size_t *n)
{
	if (!take(c, '"'))
		return false;
	*text = c->at;
	while (c->at < c->end && *c->at != '"') {
		if (*c->at == '\\' && ++c->at == c->end)
			return false;
		c->at++;
	}
	*n = (size_t)(c->at - *text);
	return take(c, '"');
}

/* [1, 2, 3] of at most `most` sizes */
static bool
take_sizes(Cursor *c, int most, int64_t *sizes, int *n)
{
	*n = 0;
	if (!take(c, '['))
		return false;
	if (take(c, ']'))
		return true;
	do {
		if (*n == most || !take_size(c, &sizes[*n]))
			return false;
		++*n;
	} while (take(c, ','));
	return take(c, ']');
}

/*
 * Over a value of any kind, without recursion: all that matters is where it
 * ends.  Brackets of the two kinds are not told apart.
 */
static bool
skip_value(Cursor *c)
{
	size_t depth = 0;
	const char *text;
	size_t n;
	do {
		skip_blanks(c);
		if (c->at == c->end)
			return false;
		if (*c->at == '"') {
			if (!take_string(c, &text, &n))
				return false;
		} else if (*c->at == '{' || *c->at == '[') {
			depth++;
			c->at++;
		} else if (*c->at == '}' || *c->at == ']') {
			if (depth == 0)
				return false;
			depth--;
			c->at++;
		} else if (*c->at == ',' || *c->at == ':') {
			if (depth == 0)
				return false;
			c->at++;
		} else {
			while (c->at < c->end && !strchr(",:{}[]\" \t\r\n", *c->at))
				c->at++;
			if (c->at < c->end && *c->at == 0)
				return false;
		}
	} while (depth > 0);
	return true;
}

/* ---- names ---- */

/* The four digits behind \u; -1: they are none. */
static int
take_unit(const char *at, const char *end)
{
	int unit = 0;
	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = at[i] ? strchr(digits, at[i]) : NULL;
		if (!digit)
			return -1;
		int value = (int)(digit - digits);
		unit = unit * 16 + (value < 16 ? value : value - 6);
	}
	return unit;
}

static size_t
encode(uint32_t code, char out[4])
{
	static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(code | marks[n]);
	return n;
}

/* The character behind \u and, of a pair, behind the next one; 0: none. */
static size_t
take_code(const char **at, const char *end, char out[4])
{
	int unit = take_unit(*at, end), low = -1;
	if (unit < 0)
		return 0;
	*at += 4;
	if (unit < 0xd800 || unit > 0xdfff)
		return encode((uint32_t)unit, out);
	if (end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u')
		low = take_unit(*at + 2, end);
	if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff)
		return 0;
	*at += 6;
	return encode(0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00),
		out);
}

/* The next character of a string with escapes; 0: it is none. */
static size_t
take_character(const char **at, const char *end, char out[4])
{
	static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	out[0] = *(*at)++;
	if (out[0] != '\\')
		return 1;
	char c = *(*at)++;
	if (c == 'u')
		return take_code(at, end, out);
	const char *escape = c ? strchr(escapes, c) : NULL;
	if (escape)
		out[0] = meant[escape - escapes];
	return escape != NULL;
}

static bool
is(const char *text, size_t n, const char *wanted)
{
	for (const char *end = text + n; text < end;) {
		char out[4];
		size_t k = take_character(&text, end, out);
		if (k == 0 || out[0] == 0 || strncmp(wanted, out, k) != 0)
			return false;
		wanted += k;
	}
	return *wanted == 0;
}

/* The name as it is meant, into so many bytes and a NUL; false: no name is. */
static bool
decode(const char *text, size_t n, char *name)
{
	for (const char *end = text + n; text < end;) {
		char out[4];
		size_t k = take_character(&text, end, out);
		if (k == 0 || out[0] == 0)
			return false;
		memcpy(name, out, k);
		name += k;
	}
	*name = 0;
	return true;
}

/* ---- where the data are ---- */

typedef struct Span {
	int64_t begin, end;
} Span;

typedef struct Spans {
	Span *span;
	size_t n, room;
} Spans;

static void
add_span(Spans *s, const int64_t offsets[2])
{
	if (s->n == s->room) {
		Span *more = rt_get_memory(s->room = 2 * s->room + 8, sizeof *more);
		if (s->n)
			memcpy(more, s->span, s->n * sizeof *more);
		free(s->span);
		s->span = more;
	}
	s->span[s->n++] = (Span){offsets[0], offsets[1]};
}

static int
by_place(const void *a, const void *b)
{
	const Span *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The data of all tensors are all that follows the header. */
static bool
spans_fill(Spans *s, size_t room, char why[WHY])
{
	int64_t at = 0;
	if (s->n)
		qsort(s->span, s->n, sizeof *s->span, by_place);
	for (size_t i = 0; i < s->n; i++) {
		const Span *x = &s->span[i];
		if (x->begin == at && x->end >= at) {
			at = x->end;
			continue;
		}
		snprintf(why, WHY,
			"data_offsets [%lld, %lld] %s what is before "
			"them, which ends at %lld",
			(long long)x->begin, (long long)x->end,
			x->begin > at ? "leave a gap behind" : "overlap", (long long)at);
		return false;
	}
	if ((uint64_t)at == room)
		return true;
	snprintf(why, WHY, "its header says %lld bytes of data, it has %zu", (long long)at,
		room);
	return false;
}

static bool
take_dtype(Cursor *c, TensorView *view, char why[WHY])
{
	const char *text;
	size_t n;
	if (!take_string(c, &text, &n))
		return wrong(why, "its header cannot be read");
	if (rt_name_dtype(text, n, safetensors_names, &view->dtype))
		return true;
	snprintf(why, WHY,
		"the tensor's dtype '%.*s' is none of BOOL I8 I16 I32 "
		"I64 U8 U16 U32 U64 F8_E5M2 F8_E4M3 F16 BF16 F32 F64",
		n > 40 ? 40 : (int)n, text);
	return false;
}

/*
 * {"dtype": ..., "shape": ..., "data_offsets": ...}; of a tensor that is not
 * wanted (no `view`) only where its data are, for it may have any dtype.
 */
static bool
take_entry(Cursor *c, TensorView *view, int64_t offsets[2], char why[WHY])
{
	unsigned needed = view ? 7 : 4;
	unsigned seen = 0;
	const char *key;
	size_t n;
	int count = 0;
	if (!take(c, '{'))
		return wrong(why, "its header cannot be read");
	do {
		if (!take_string(c, &key, &n) || !take(c, ':'))
			return wrong(why, "its header cannot be read");
		if (view && is(key, n, "dtype")) {
			seen |= 1;
			if (!take_dtype(c, view, why))
				return false;
		} else if (view && is(key, n, "shape")) {
			seen |= 2;
			if (!take_sizes(c, SHDRT_MAX_RANK, view->dims, &view->rank))
				return wrong(why,
					"the tensor has no readable "
					"shape of at most 16 dims");
		} else if (is(key, n, "data_offsets")) {
			seen |= 4;
			if (!take_sizes(c, 2, offsets, &count) || count != 2)
				return wrong(why,
					"the tensor has no readable "
					"data_offsets");
		} else if (!skip_value(c)) {
			return wrong(why, "its header cannot be read");
		}
	} while (take(c, ','));
	return (take(c, '}') && seen == needed)
		|| wrong(why, "the tensor lacks dtype, shape or data_offsets");
}

/* Names of what is there, for the message that the key is not. */
static void
note_name(char *names, size_t room, const char *key, size_t n)
{
	size_t used = strlen(names);
	if (used + n + 6 < room)
		snprintf(names + used, room - used, "%s%.*s", used ? ", " : "", (int)n, key);
	else if (used >= 3 && used + 6 < room && strcmp(names + used - 3, "...") != 0)
		snprintf(names + used, room - used, ", ...");
}

static Parsed
broken(char why[WHY], const char *text)
{
	wrong(why, text);
	return PARSED_broken;
}

/* ---- the header ---- */

typedef struct Entry {
	const char *name;  /* in `names` */
	const char *value; /* {"dtype": ...} */
} Entry;

struct Safetensors {
	const unsigned char *bytes;
	size_t size, data; /* where the data begin */
	Entry *entries;	   /* by name */
	size_t n, room;
	char *names, *end_of_names; /* no longer than the header */
	char shown[120];	    /* some of them */
	Spans spans;
	bool filled; /* the spans are all there is */
};

static uint64_t
little_endian(const unsigned char *bytes)
{
	uint64_t value = 0;
	for (int i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static int
by_name(const void *a, const void *b)
{
	const Entry *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* A name that cannot be meant has data all the same. */
static void
add_entry(Safetensors *s, const char *text, size_t n, const char *value)
{
	char *name = s->end_of_names;
	note_name(s->shown, sizeof s->shown, text, n);
	if (!decode(text, n, name))
		return;
	s->end_of_names += strlen(name) + 1;
	if (s->n == s->room) {
		Entry *more = rt_get_memory(s->room = 2 * s->room + 8, sizeof *more);
		if (s->n)
			memcpy(more, s->entries, s->n * sizeof *more);
		free(s->entries);
		s->entries = more;
	}
	s->entries[s->n++] = (Entry){name, value};
}

/* "name": {...} */
static bool
index_entry(Safetensors *s, Cursor *c, char why[WHY])
{
	const char *text;
	size_t n;
	int64_t offsets[2];
	if (!take_string(c, &text, &n) || !take(c, ':'))
		return wrong(why, "its header cannot be read");
	if (is(text, n, "__metadata__"))
		return skip_value(c) || wrong(why, "its header cannot be read");
	add_entry(s, text, n, c->at);
	if (!take_entry(c, NULL, offsets, why))
		return false;
	add_span(&s->spans, offsets);
	return true;
}

static bool
index_header(Safetensors *s, char why[WHY])
{
	if (s->size < 8)
		return wrong(why, "it is not a .safetensors file");
	uint64_t length = little_endian(s->bytes);
	if (length > s->size - 8)
		return wrong(why, "it ends in its header");
	s->data = 8 + (size_t)length;
	s->names = s->end_of_names = rt_get_memory(s->data, 1);
	Cursor c = {.at = (const char *)s->bytes + 8, .end = (const char *)s->bytes + s->data};
	if (!take(&c, '{'))
		return wrong(why, "its header is not a JSON object");
	if (!take(&c, '}')) {
		do
			if (!index_entry(s, &c, why))
				return false;
		while (take(&c, ','));
		if (!take(&c, '}'))
			return wrong(why, "its header cannot be read");
	}
	skip_blanks(&c);
	if (c.at < c.end)
		return wrong(why, "its header goes on behind the object");
	if (s->n)
		qsort(s->entries, s->n, sizeof *s->entries, by_name);
	return true;
}

Safetensors *
rt_safetensors_index(const unsigned char *bytes, size_t n, char why[WHY])
{
	Safetensors *s = rt_get_zeroed(1, sizeof *s);
	s->bytes = bytes;
	s->size = n;
	if (index_header(s, why))
		return s;
	rt_safetensors_free(s);
	return NULL;
}

void
rt_safetensors_free(Safetensors *s)
{
	if (!s)
		return;
	free(s->entries);
	free(s->names);
	free(s->spans.span);
	free(s);
}

/* ---- a tensor ---- */

static Parsed
find_entry(const Safetensors *s, const char *key, const Entry **entry, char why[WHY])
{
	const Entry wanted = {.name = key};
	*entry = s->n ? bsearch(&wanted, s->entries, s->n, sizeof wanted, by_name) : NULL;
	for (size_t i = 0; i < s->n && !*entry; i++)
		if (rt_same_name(s->entries[i].name, key))
			*entry = &s->entries[i];
	if (!*entry) {
		snprintf(why, WHY, "it has no tensor '%.60s', but %s", key,
			*s->shown ? s->shown : "none at all");
		return PARSED_absent;
	}
	if ((*entry > s->entries && by_name(*entry - 1, *entry) == 0)
		|| (*entry + 1 < s->entries + s->n && by_name(*entry, *entry + 1) == 0))
		return broken(why, "its header names the tensor twice");
	return PARSED_good;
}

Parsed
rt_safetensors_find(Safetensors *s, const char *key, TensorView *view, char why[WHY])
{
	int64_t offsets[2] = {0, 0};
	uint64_t wanted;
	size_t room = s->size - s->data;
	const Entry *entry;
	memset(view, 0, sizeof *view);
	Parsed found = find_entry(s, key, &entry, why);
	if (found != PARSED_good)
		return found;
	Cursor c = {.at = entry->value, .end = (const char *)s->bytes + s->data};
	if (!take_entry(&c, view, offsets, why))
		return PARSED_broken;
	if (!rt_view_row_major(view, &wanted))
		return broken(why, "the tensor's shape is too large");
	if (offsets[0] > offsets[1] || (uint64_t)offsets[1] > room
		|| (uint64_t)(offsets[1] - offsets[0]) != wanted) {
		snprintf(why, WHY,
			"the tensor needs %llu bytes, its "
			"data_offsets are [%lld, %lld] of %zu",
			(unsigned long long)wanted, (long long)offsets[0],
			(long long)offsets[1], room);
		return PARSED_broken;
	}
	if (!s->filled && !(s->filled = spans_fill(&s->spans, room, why)))
		return PARSED_broken;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	view->swapped = shdrt_dtype_bytes[view->dtype] > 1;
#endif
	view->data = s->bytes + s->data + offsets[0];
	return PARSED_good;
}

Parsed
rt_safetensors_parse(const unsigned char *bytes, size_t n, const char *key, TensorView *view,
	char why[WHY])
{
	Safetensors *s = rt_safetensors_index(bytes, n, why);
	Parsed parsed = s ? rt_safetensors_find(s, key, view, why) : PARSED_broken;
	rt_safetensors_free(s);
	return parsed;
}

/* ---- writing ---- */

/* The entry of a tensor whose data begin at `at`. */
static void
put_entry(FILE *f, const shdrt_array *a, size_t at)
{
	fputc('"', f);
	rt_json_put(f, a->name);
	fprintf(f, "\": {\"dtype\": \"%s\", \"shape\": [", safetensors_names[a->dtype]);
	for (int i = 0; i < a->rank; i++)
		fprintf(f, "%s%lld", i ? ", " : "", (long long)a->dims[i]);
	fprintf(f, "], \"data_offsets\": [%zu, %zu]}", at, at + rt_array_bytes(a));
}

static bool
put_data(FILE *f, const shdrt_array *a)
{
	size_t n = rt_array_bytes(a);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return fwrite(a->data, 1, n, f) == n;
#else
	size_t size = shdrt_dtype_bytes[a->dtype];
	const unsigned char *data = a->data;
	for (size_t i = 0; i < n; i += size)
		for (size_t k = size; k-- > 0;)
			if (fputc(data[i + k], f) == EOF)
				return false;
	return true;
#endif
}

/* The largest elements first: then all begin at a multiple of their size. */
bool
rt_safetensors_put(FILE *f, int n, const shdrt_array *arrays)
{
	const shdrt_array **sorted = rt_get_memory((size_t)n, sizeof(shdrt_array *));
	char *header = NULL;
	size_t length = 0, at = 0;
	int count = 0;
	for (size_t size = 8; size > 0; size /= 2)
		for (int i = 0; i < n; i++)
			if (shdrt_dtype_bytes[arrays[i].dtype] == size)
				sorted[count++] = &arrays[i];
	FILE *text = open_memstream(&header, &length);
	if (!text)
		rt_fail(SHDRT_MEMORY, "out of memory");
	fputc('{', text);
	for (int i = 0; i < n; i++) {
		fputs(i ? ", " : "", text);
		put_entry(text, sorted[i], at);
		at += rt_array_bytes(sorted[i]);
	}
	fputc('}', text);
	fflush(text);
	fprintf(text, "%*s", (int)(-length & 7), "");
	if (fclose(text) != 0)
		rt_fail(SHDRT_MEMORY, "out of memory");
	bool good = true;
	for (int i = 0; i < 8; i++)
		good = good && fputc((int)(length >> 8 * i & 0xff), f) != EOF;
	good = good && fwrite(header, 1, length, f) == length;
	for (int i = 0; i < n; i++)
		good = good && put_data(f, sorted[i]);
	free(header);
	free(sorted);
	return good;
}
