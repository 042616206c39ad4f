/*
 * constants.c - the text between the brackets of dense<...>.
 *
 *   1.0   [[1, 2], [3, 4]]   true   0x7F800000, the bits of a float   "0x0000803F", bytes
 */
#include <stdlib.h>
#include <string.h>

#include "import/reader.h"

static int64_t
payload_of_bits(DType dtype, uint64_t bits)
{
	int unused = 64 - dtypes[dtype].bits;

	if (dtype_is_float(dtype))
		return double_payload(float_of_bits(dtype, bits));
	if (dtypes[dtype].class == DC_signed)
		return (int64_t)(bits << unused) >> unused;
	return (int64_t)(bits << unused >> unused);
}

/* One element at *c, before `end`, which goes behind it. */
static bool
read_element(const char **c, const char *end, DType dtype, int64_t *payload)
{
	char word[64], *rest;
	size_t n = 0;

	while (*c < end && !strchr(",[] ()", **c) && n < sizeof word - 1)
		word[n++] = *(*c)++;
	word[n] = '\0';
	rest = word + n;
	if (!strcmp(word, "true") || !strcmp(word, "false"))
		*payload = word[0] == 't';
	else if (!strncmp(word, "0x", 2))
		*payload = payload_of_bits(dtype, strtoull(word, &rest, 16));
	else if (dtype_is_float(dtype))
		*payload = double_payload(strtod(word, &rest));
	else
		*payload = word[0] == '-' ? strtoll(word, &rest, 10)
					  : (int64_t)strtoull(word, &rest, 10);
	return n && *rest == '\0' && payload_fits(dtype, *payload);
}

static int
hex_digit(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
				       : -1;
}

/* "0x0000803F0000..": the bytes of each element, the lowest first. */
static bool
read_bytes(Import *in, const char *c, const char *end, DType dtype, Dense *dense)
{
	int bytes = dtypes[dtype].bytes;

	dense->n = (end - c) / 2 / bytes;
	if (dense->n > MAX_LITERALS || (end - c) % (2 * bytes))
		return false;
	dense->v = NEW_ARRAY(in->arena, int64_t, dense->n + 1);
	for (int64_t i = 0; i < dense->n; i++) {
		uint64_t bits = 0;
		for (int k = 0; k < bytes; k++, c += 2) {
			int high = hex_digit(c[0]), low = hex_digit(c[1]);
			if (high < 0 || low < 0)
				return false;
			bits |= (uint64_t)(high * 16 + low) << (8 * k);
		}
		dense->v[i] = payload_of_bits(dtype, bits);
	}
	return true;
}

bool
dense_read(Import *in, const MlirAttr *attr, DType dtype, Dense *dense)
{
	const char *c = attr->text, *end = c + attr->length;
	int64_t payload;
	int n = 0;

	*dense = (Dense){0};
	if (attr->length > 4 && !strncmp(c, "\"0x", 3) && end[-1] == '"')
		return read_bytes(in, c + 3, end - 1, dtype, dense)
			|| read_wrong(in, attr->range,
				"the bytes of this constant cannot be read");
	while (c < end) {
		if (strchr(",[] ()", *c)) {
			c++;
			continue;
		}
		if (n == MAX_LITERALS || !read_element(&c, end, dtype, &payload))
			return read_wrong(in, attr->range,
				"an element of this constant cannot be read");
		APPEND(in->arena, dense->v, n, payload);
	}
	dense->n = n;
	return true;
}
