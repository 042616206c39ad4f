/*
 * svg.h - what pictures and the report's page share.
 */
#ifndef SHDC_SVG_H
#define SHDC_SVG_H

#include "base/base.h"

enum {		       /* pixels */
	CHARACTER = 8, /* width, at most, of 13px monospace */
	LINE_HEIGHT = 24,
	MARGIN = 12,
};

/* The colours as they are on a light page and on a dark one: before, between and behind
   each name and colour stand these; `dark` picks. */
typedef struct ColourFormat {
	const char *before, *between, *behind;
} ColourFormat;
void text_colours(Text *t, const ColourFormat *format, bool dark);

/* An <svg> of that size, whose classes are the colours' names: of text and what is filled,
   and of the strokes of <path>; and the background. */
void svg_begin(Text *t, int64_t width, int64_t height);
void svg_end(Text *t);
/* One below the other, from y down to what is returned; `right` is at least where they
   end. */
int64_t svg_lines(Text *t, const char *lines, int64_t y, int64_t *right);
void svg_text(Text *t, int64_t x, int64_t y, const char *anchor, const char *s);
void svg_rect(Text *t, double x, double y, double width, double height, const char *class);
void text_escaped(Text *t, const char *s);

#endif
