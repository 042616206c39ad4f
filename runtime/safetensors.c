/*
 * safetensors.c - one tensor of a .safetensors file.
 *
 *   length (8 bytes, little-endian)
 *   {"w": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...}
 *   data; offsets count from here
 *
 * The JSON is read in one pass and without memory of its own: entries of
 * other tensors are skipped, and nothing is believed that was not checked.
 */
#include <string.h>

#include "header_text.h"

static const char *const safetensors_names[SHDRT_DTYPE_COUNT] = {
	[SHDRT_pred] = "BOOL", [SHDRT_i8] = "I8", [SHDRT_i32] = "I32",
	[SHDRT_i64] = "I64", [SHDRT_u8] = "U8", [SHDRT_u32] = "U32",
	[SHDRT_f16] = "F16", [SHDRT_bf16] = "BF16", [SHDRT_f32] = "F32",
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
			while (c->at < c->end && !strchr(",:{}[]\" \t\r\n",
			    *c->at))
				c->at++;
			if (c->at < c->end && *c->at == 0)
				return false;
		}
	} while (depth > 0);
	return true;
}

static bool
is(const char *text, size_t n, const char *wanted)
{
	return strlen(wanted) == n && memcmp(text, wanted, n) == 0;
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
	snprintf(why, WHY, "the tensor's dtype '%.*s' is none of BOOL I8 I32 "
		"I64 U8 U32 F16 BF16 F32 F64", n > 40 ? 40 : (int)n, text);
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
			if (!take_sizes(c, SHDRT_MAX_RANK, view->dims,
			    &view->rank))
				return wrong(why, "the tensor has no readable "
					"shape of at most 16 dims");
		} else if (is(key, n, "data_offsets")) {
			seen |= 4;
			if (!take_sizes(c, 2, offsets, &count) || count != 2)
				return wrong(why, "the tensor has no readable "
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
		snprintf(names + used, room - used, "%s%.*s",
			used ? ", " : "", (int)n, key);
	else if (used >= 3 && used + 6 < room
	    && strcmp(names + used - 3, "...") != 0)
		snprintf(names + used, room - used, ", ...");
}

/* An entry that is not the wanted one; its data may be the last. */
static bool
skip_entry(Cursor *c, bool metadata, int64_t *end, char why[WHY])
{
	int64_t offsets[2];
	if (metadata)
		return skip_value(c) || wrong(why, "its header cannot be read");
	if (!take_entry(c, NULL, offsets, why))
		return false;
	if (offsets[1] > *end)
		*end = offsets[1];
	return true;
}

/* Finds the key's entry; *end is where the data of all of them end. */
static bool
find_entry(Cursor *c, const char *key, TensorView *view, int64_t offsets[2],
	int64_t *end, char why[WHY])
{
	char names[120] = "";
	const char *text;
	size_t n;
	bool found = false;
	if (!take(c, '{'))
		return wrong(why, "its header is not a JSON object");
	if (!take(c, '}')) {
		do {
			if (!take_string(c, &text, &n) || !take(c, ':'))
				return wrong(why, "its header cannot be read");
			bool metadata = is(text, n, "__metadata__");
			if (is(text, n, key) && !metadata) {
				if (found)
					return wrong(why, "its header names the "
						"tensor twice");
				found = true;
				if (!take_entry(c, view, offsets, why))
					return false;
			} else if (!skip_entry(c, metadata, end, why)) {
				return false;
			}
			if (!metadata)
				note_name(names, sizeof names, text, n);
		} while (take(c, ','));
		if (!take(c, '}'))
			return wrong(why, "its header cannot be read");
	}
	skip_blanks(c);
	if (c->at < c->end)
		return wrong(why, "its header goes on behind the object");
	if (!found)
		snprintf(why, WHY, "it has no tensor '%.60s', but %s", key,
			*names ? names : "none at all");
	return found;
}

static uint64_t
little_endian(const unsigned char *bytes)
{
	uint64_t value = 0;
	for (int i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

bool
rt_safetensors_parse(const unsigned char *bytes, size_t n, const char *key,
	TensorView *view, char why[WHY])
{
	int64_t offsets[2] = {0, 0}, end = 0;
	uint64_t wanted;
	memset(view, 0, sizeof *view);
	if (n < 8)
		return wrong(why, "it is not a .safetensors file");
	uint64_t length = little_endian(bytes);
	if (length > n - 8)
		return wrong(why, "it ends in its header");
	size_t data = 8 + (size_t)length, room = n - data;
	Cursor c = {.at = (const char *)bytes + 8,
		.end = (const char *)bytes + data};
	if (!find_entry(&c, key, view, offsets, &end, why))
		return false;
	if (!rt_view_row_major(view, &wanted))
		return wrong(why, "the tensor's shape is too large");
	if (offsets[0] > offsets[1] || (uint64_t)offsets[1] > room
	    || (uint64_t)(offsets[1] - offsets[0]) != wanted) {
		snprintf(why, WHY, "the tensor needs %llu bytes, its "
			"data_offsets are [%lld, %lld] of %zu",
			(unsigned long long)wanted, (long long)offsets[0],
			(long long)offsets[1], room);
		return false;
	}
	if (end < offsets[1])
		end = offsets[1];
	if ((uint64_t)end != room) {
		snprintf(why, WHY, "its header says %lld bytes of data, it has "
			"%zu", (long long)end, room);
		return false;
	}
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	view->swapped = shdrt_dtype_bytes[view->dtype] > 1;
#endif
	view->data = bytes + data + offsets[0];
	return true;
}
