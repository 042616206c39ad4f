/*
 * viz.h - what the pictures of --emit=viz have in common.
 */
#ifndef SHDC_VIZ_H
#define SHDC_VIZ_H

#include "ir/ir.h"
#include "report/svg.h"

enum {
	MOST_LINES = 8, /* rows or columns of a grid, panels */
	FEW_LINES = 4,	/* columns of a grid that would be too wide */
	ELLIPSIS = -1,
	CELL_HEIGHT = 34, /* of SVG */
};

/* Which indices of a long line are shown, in order; ELLIPSIS for a gap. */
typedef struct Line {
	int n;
	int64_t shown[MOST_LINES];
} Line;
Line line_of(int64_t n, int most);

/* viz_slice.c: the chips of a slice, their links, and who is where; with what the links
   along x, y and z carry, 0 to 1 each, unless that is NULL. */
void slice_text(Text *t, const Mesh *mesh, const double *loads);
/* From `top` down to what is returned. */
int64_t slice_svg(Text *t, const Mesh *mesh, const double *loads, int64_t top, int64_t *right);

#endif
