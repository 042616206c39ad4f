/*
 * utf8.c - characters of text that may hold anything.
 *
 * Control characters and broken UTF-8 never reach the terminal.
 */
#include <string.h>

#include "diag.h"

int
utf8_length(const char *s, int available, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)*s;
	int n = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;

	if (n == 0 || n > available)
		return 0;
	*code = n == 1 ? c : c & (0x7Fu >> n);
	for (int i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xC0) != 0x80)
			return 0;
		*code = *code << 6 | ((unsigned char)s[i] & 0x3F);
	}
	if (*code < least[n] || *code > 0x10FFFF || *code >> 11 == 27)
		return 0;
	return n;
}

int
code_width(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		int width;
	} ranges[] = {
		{0x300, 0x36F, 0},
		{0x1100, 0x115F, 2},
		{0x200B, 0x200F, 0},
		{0x2E80, 0xA4CF, 2},
		{0xAC00, 0xD7A3, 2},
		{0xF900, 0xFAFF, 2},
		{0xFE00, 0xFE0F, 0},
		{0xFE30, 0xFE6F, 2},
		{0xFF00, 0xFF60, 2},
		{0xFFE0, 0xFFE6, 2},
		{0x1F300, 0x1FAFF, 2},
		{0x20000, 0x3FFFD, 2},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return ranges[i].width;
	return 1;
}

bool
is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7F && code < 0xA0)
		|| (code >= 0x202A && code <= 0x202E)  /* change of */
		|| (code >= 0x2066 && code <= 0x2069); /* direction */
}

void
add_clean(Text *t, const char *s)
{
	int left = (int)strlen(s);
	uint32_t code;

	while (left > 0) {
		int n = utf8_length(s, left, &code);

		if (n == 0 || is_control(code))
			text_add(t, "?");
		else
			text_addn(t, s, (size_t)n);
		n = n ? n : 1;
		s += n;
		left -= n;
	}
}

void
text_json(Text *t, const char *s)
{
	int left = (int)strlen(s);
	uint32_t code;

	text_add(t, "\"");
	while (left > 0) {
		int n = utf8_length(s, left, &code);

		if (n == 0)
			text_add(t, "\\ufffd");
		else if (code == '"' || code == '\\')
			text_printf(t, "\\%c", (char)code);
		else if (code < 0x20)
			text_printf(t, "\\u%04x", code);
		else
			text_addn(t, s, (size_t)n);
		n = n ? n : 1;
		s += n;
		left -= n;
	}
	text_add(t, "\"");
}
