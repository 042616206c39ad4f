/*
 * svg.c - the beginning of every picture, and what they are made of.
 *
 * A picture has the colours of both a light and a dark page, and shows those that its
 * reader prefers.
 */
#include <string.h>

#include "report/svg.h"

static const struct {
	const char *name, *light, *dark;
} colours[] = {
#define COLOUR(name, light, dark) {#name, light, dark},
#include "colours.def"
#undef COLOUR
};

void
text_colours(Text *t, const ColourFormat *format, bool dark)
{
	for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
		text_printf(t, "%s%s%s%s%s", format->before, colours[i].name, format->between,
			dark ? colours[i].dark : colours[i].light, format->behind);
}

void
svg_begin(Text *t, int64_t width, int64_t height)
{
	static const ColourFormat class = {".", "{color:", "}"};

	text_printf(t,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
		"viewBox=\"0 0 %lld %lld\" font-family=\"monospace\" font-size=\"13\">\n"
		"<style>text{white-space:pre}text,rect{fill:currentColor}path{stroke:"
		"currentColor;fill:none}\n",
		(long long)width, (long long)height, (long long)width, (long long)height);
	text_add(t, "svg{color-scheme:light dark}");
	text_colours(t, &class, false);
	text_add(t, "\n@media(prefers-color-scheme:dark){");
	text_colours(t, &class, true);
	text_add(t,
		"}</style>\n<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n"
		"<g class=\"text\">\n");
}

void
svg_end(Text *t)
{
	text_add(t, "</g>\n</svg>\n");
}

/* Of a line what is not too wide, up to a semicolon. */
static size_t
part_of_line(const char *line)
{
	enum { WIDE = 115 };
	size_t n = strcspn(line, "\n"), part = 0;

	for (size_t i = 0; n > WIDE && i < WIDE; i++)
		if (line[i] == ';')
			part = i + 1;
	return part ? part : n;
}

int64_t
svg_lines(Text *t, const char *lines, int64_t y, int64_t *right)
{
	enum { HEIGHT = 18 };
	Arena *a = arena_new();

	while (*lines) {
		size_t n = part_of_line(lines);
		int64_t width = (int64_t)n * CHARACTER + 2 * MARGIN;
		svg_text(t, MARGIN, y + 13, "start", arena_strndup(a, lines, n));
		*right = width > *right ? width : *right;
		y += HEIGHT;
		lines += n + (lines[n] == '\n');
	}
	arena_free(a);
	return y;
}

void
svg_text(Text *t, int64_t x, int64_t y, const char *anchor, const char *s)
{
	text_printf(t, "<text x=\"%lld\" y=\"%lld\" text-anchor=\"%s\">", (long long)x,
		(long long)y, anchor);
	text_escaped(t, s);
	text_add(t, "</text>\n");
}

void
svg_rect(Text *t, double x, double y, double width, double height, const char *class)
{
	text_printf(t,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n",
		x, y, width, height, class);
}

void
text_escaped(Text *t, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '<':
			text_add(t, "&lt;");
			break;
		case '>':
			text_add(t, "&gt;");
			break;
		case '&':
			text_add(t, "&amp;");
			break;
		case '"':
			text_add(t, "&quot;");
			break;
		default:
			text_addn(t, s, 1);
		}
}
