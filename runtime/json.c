/*
 * json.c - text in JSON files: any bytes in, valid UTF-8 out.
 */
#include "internal.h"

/* Bytes of the UTF-8 character that the text begins with; 0: it is none. */
static int
character_bytes(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)*text;
	int n = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
	uint32_t code = n > 1 ? c & (0x7fu >> n) : c;
	for (int i = 1; i < n; i++) {
		c = (unsigned char)text[i];
		if ((c & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code < 0xe000;
	return !n || code < least[n] || surrogate || code > 0x10ffff ? 0 : n;
}

void
rt_json_put(FILE *f, const char *text)
{
	for (int n; *text; text += n ? n : 1) {
		n = character_bytes(text);
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || !n)
			fprintf(f, "\\u%04x", n ? *text : 0xfffd);
		else
			fwrite(text, 1, (size_t)n, f);
	}
}
