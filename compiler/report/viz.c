/*
 * viz.c - --emit=viz: who holds which block of a tensor.
 *
 *   In  bf16[8@X, 2048@Y]  on 2x2  ->  bf16[4, 1024] a device, 8 KiB
 *   +-------+-------+
 *   | TPU 0 | TPU 1 |
 *   +-------+-------+
 *   | TPU 2 | TPU 3 |
 *   +-------+-------+
 *
 * A picture is a grid of two dims, the last two that are split, one panel for each block
 * of the others.  A cell is a block; devices that hold copies of it share the
 * cell.  Long grids and long lists are shown by their beginning and end, so a
 * picture costs the same on 8 devices and on 65,536.  Where there are more dims than two,
 * or a picture is asked for alone, the grid's dims and the elements of each row and column
 * stand beside it:
 *
 *                    4@tp
 *                    0:2     2:4
 *                  +-------+-------+
 *   32@fsdp  0:16  | TPU 0 | TPU 1 |
 *
 * Requires L_sharded, changes nothing.
 */
#include <string.h>

#include "report/report.h"
#include "report/viz.h"

enum {
	MOST_RUNS = 3, /* runs of device ids in a cell */
	PAGE = 100,    /* characters a grid should fit in */
};

/* A block, or a gap; by its lowest device. */
typedef struct Cell {
	bool gap;
	int64_t device;
	const char *text, *block; /* "TPU 0,1", "h[0:4, 0:8]" */
} Cell;

typedef struct Picture {
	const Module *m;
	Arena *arena;
	const char *name;
	AxisList manual; /* in a manual region: it is each device's own
				   along these */
	const Type *type;
	Type padded; /* what is cut into blocks */
	const Placement *placement;
	AxisList dims[MAX_RANK];
	AxisList copies;  /* pieces that no dim uses: who shares a cell */
	int down, across; /* the dims of the grid; -1: none */
	Line rows, columns, panels;
	int64_t index[MAX_RANK]; /* of the block that is looked at */
	/* of a panel */
	Cell cells[MOST_LINES][MOST_LINES];
	int width; /* of the longest text */
	bool labelled;
	int side; /* characters left of the grid: of its rows */
} Picture;

/* ---- what is in the picture -------------------------------------------------- */

Line
line_of(int64_t n, int most)
{
	Line l = {0};

	if (n <= most) {
		while (l.n < n) {
			l.shown[l.n] = l.n;
			l.n++;
		}
		return l;
	}
	for (; l.n < most - 2; l.n++)
		l.shown[l.n] = l.n;
	l.shown[l.n++] = ELLIPSIS;
	l.shown[l.n++] = n - 1;
	return l;
}

static int64_t
dim_ways(const Picture *pic, int dim)
{
	return dim < 0 ? 1 : axes_size(&pic->dims[dim]);
}

/* What lies between the used pieces of each axis: of X=8 split by X:(2)2, X:(1)2
   and X:(4)2. */
static AxisList
unused_pieces(const Picture *pic)
{
	AxisList unused = {0};

	for (int x = 0; x < pic->m->mesh.naxes; x++) {
		AxisList used = {0}; /* by position */
		int32_t at = 1, end = (int32_t)pic->m->mesh.axes[x].size;
		for (int d = 0; d < pic->type->rank; d++)
			for (int i = 0; i < pic->dims[d].n; i++) {
				AxisRef a = pic->dims[d].a[i];
				int k = used.n;
				if ((int)a.axis != x || a.size == 1)
					continue;
				for (; k > 0 && used.a[k - 1].pre > a.pre; k--)
					used.a[k] = used.a[k - 1];
				used.a[k] = a;
				used.n++;
			}
		for (int i = 0; i < used.n; i++) {
			AxisRef gap = {(int16_t)x, at, used.a[i].pre / at};
			axes_append(&unused, gap);
			at = used.a[i].pre * used.a[i].size;
		}
		axes_append(&unused, (AxisRef){(int16_t)x, at, end / at});
	}
	return unused;
}

/* The last two dims that are split; beside one of them, or none, the last that is not. */
static void
choose_grid(Picture *pic)
{
	int rank = pic->type->rank, n = 0, split[2] = {rank - 1, rank - 2};

	for (int d = rank - 1; d >= 0 && n < 2; d--)
		if (dim_ways(pic, d) > 1)
			split[n++] = d;
	if (n == 1)
		split[1] = split[0] == rank - 1 ? rank - 2 : rank - 1;
	pic->down = split[0] < split[1] ? split[0] : split[1];
	pic->across = split[0] < split[1] ? split[1] : split[0];
}

static Picture
picture_of(const Module *m, Arena *a, const Named *n, bool alone)
{
	Picture pic = {.m = m,
		.arena = a,
		.name = n->name,
		.type = &n->type,
		.padded = n->value ? n->value->type : n->type,
		.placement = &n->placement,
		.labelled = alone || n->type.rank > 2};
	int64_t panels = 1;

	if (n->value)
		pic.manual = block_manual_axes(n->value->block);
	for (int d = 0; d < n->type.rank; d++) {
		pic.dims[d] = placement_dim(&n->placement, d);
		/* padded so that its axes divide it, and further where another value
		   that it belongs to needs more */
		int64_t ways = axes_size(&pic.dims[d]);
		pic.padded.dims[d] = (pic.padded.dims[d] + ways - 1) / ways * ways;
		panels *= ways;
	}
	choose_grid(&pic);
	panels /= dim_ways(&pic, pic.down) * dim_ways(&pic, pic.across);
	pic.copies = unused_pieces(&pic);
	pic.rows = line_of(dim_ways(&pic, pic.down), MOST_LINES);
	pic.columns = line_of(dim_ways(&pic, pic.across), MOST_LINES);
	pic.panels = line_of(panels, MOST_LINES);
	return pic;
}

/* ---- cells --------------------------------------------------------------------- */

/* "TPU 0-3,8-11": the lowest device that holds the block, and its copies as runs
   of neighbouring ids. */
static void
text_devices(Text *t, const Picture *pic, int64_t first)
{
	const Mesh *mesh = &pic->m->mesh;
	AxisList starts = pic->copies;
	int64_t run = 1;

	/* Pieces whose strides follow each other from 1 make the run, the others say
	   where runs start.  Mesh order is the order of strides, so they come in
	   order. */
	for (int i = 0; i < starts.n;) {
		AxisRef a = starts.a[i];
		if (axis_ref_stride(mesh, a) != run) {
			i++;
			continue;
		}
		run *= a.size;
		memmove(&starts.a[i], &starts.a[i + 1],
			(size_t)(starts.n - i - 1) * sizeof starts.a[0]);
		starts.n--;
		i = 0;
	}
	int64_t n = axes_size(&starts);
	text_add(t, "TPU ");
	for (int64_t i = 0; i < n; i++) {
		if (i == MOST_RUNS && n > MOST_RUNS + 1) {
			text_add(t, ",...");
			i = n - 1;
		}
		int64_t at = axes_with_index(mesh, &starts, first, i);
		text_printf(t, "%s%lld", i ? "," : "", (long long)at);
		if (run > 1)
			text_printf(t, "%c%lld", run == 2 ? ',' : '-',
				(long long)(at + run - 1));
	}
}

/* "0:4": the elements of a dim in its block with that index.  Where the padding starts
   there is nothing to see. */
static void
text_range(Text *t, const Picture *pic, int dim, int64_t index)
{
	int64_t size = pic->padded.dims[dim] / dim_ways(pic, dim), all = pic->type->dims[dim];
	int64_t begin = index * size, end = begin + size;

	text_printf(t, "%lld:%lld", (long long)(begin < all ? begin : all),
		(long long)(end < all ? end : all));
}

/* name[0:4, 1024:2048]: the elements of a block; a panel's are all of the grid's dims. */
static void
text_block(Text *t, const Picture *pic, bool panel)
{
	text_printf(t, "%s[", pic->name);
	for (int d = 0; d < pic->type->rank; d++) {
		text_add(t, d ? ", " : "");
		if (!panel || (d != pic->down && d != pic->across))
			text_range(t, pic, d, pic->index[d]);
		else
			text_add(t, ":");
	}
	text_add(t, "]");
}

/* Of a row or a column: "0:4", "..."; "", if there are none. */
static const char *
line_label(const Picture *pic, int dim, int64_t index)
{
	Text t = {0};

	if (dim < 0)
		return "";
	if (index == ELLIPSIS)
		return "...";
	text_range(&t, pic, dim, index);
	return text_take(&t, pic->arena);
}

/* "32@fsdp"; "", if there is no such dim. */
static const char *
dim_label(const Picture *pic, int dim)
{
	const AxisList *axes = &pic->dims[dim < 0 ? 0 : dim];
	Text t = {0};

	if (dim < 0)
		return "";
	text_printf(&t, "%lld%s", (long long)pic->type->dims[dim],
		axes->n > 1	  ? "@("
			: axes->n ? "@"
				  : "");
	text_axes(&t, &pic->m->mesh, axes);
	text_add(&t, axes->n > 1 ? ")" : "");
	return text_take(&t, pic->arena);
}

/* Room for what stands beside the grid. */
static void
measure_labels(Picture *pic)
{
	int longest = 0;

	if (!pic->labelled)
		return;
	for (int r = 0; r < pic->rows.n; r++) {
		int n = (int)strlen(line_label(pic, pic->down, pic->rows.shown[r]));
		longest = n > longest ? n : longest;
	}
	for (int c = 0; c < pic->columns.n; c++) {
		int n = (int)strlen(line_label(pic, pic->across, pic->columns.shown[c]));
		pic->width = n > pic->width ? n : pic->width;
	}
	if (pic->down >= 0)
		pic->side = (int)strlen(dim_label(pic, pic->down)) + longest + 4;
}

/* What the panel shows; its number has the block of each dim that is not the grid's, the
   last one fastest. */
static void
fill_cells(Picture *pic, int64_t panel)
{
	int rank = pic->type->rank;
	Text t = {0};

	for (int d = rank - 1; d >= 0; d--) {
		if (d == pic->down || d == pic->across)
			continue;
		pic->index[d] = panel % dim_ways(pic, d);
		panel /= dim_ways(pic, d);
	}
	pic->width = 0;
	for (int r = 0; r < pic->rows.n; r++)
		for (int c = 0; c < pic->columns.n; c++) {
			Cell *cell = &pic->cells[r][c];
			int64_t row = pic->rows.shown[r], column = pic->columns.shown[c];
			*cell = (Cell){row == ELLIPSIS || column == ELLIPSIS, 0, "...", ""};
			if (!cell->gap) {
				if (pic->down >= 0)
					pic->index[pic->down] = row;
				if (pic->across >= 0)
					pic->index[pic->across] = column;
				for (int d = 0; d < rank; d++)
					cell->device = axes_with_index(&pic->m->mesh,
						&pic->dims[d], cell->device, pic->index[d]);
				text_devices(&t, pic, cell->device);
				cell->text = text_take(&t, pic->arena);
				text_block(&t, pic, false);
				cell->block = text_take(&t, pic->arena);
			}
			int width = (int)strlen(cell->text);
			if (width > pic->width)
				pic->width = width;
		}
	measure_labels(pic);
}

/* ---- headers --------------------------------------------------------------------- */

static void
text_header(Text *t, const Picture *pic)
{
	Type local = placement_local(&pic->padded, pic->placement);
	Placement none = placement_none(local.rank);

	text_printf(t, "%s  ", pic->name);
	text_type(t, &pic->m->mesh, pic->type, pic->placement);
	if (pic->manual.n) {
		text_add(t, " of each device along ");
		text_axes(t, &pic->m->mesh, &pic->manual);
	}
	text_add(t, "  on ");
	for (int i = 0; i < pic->m->mesh.naxes; i++)
		text_printf(t, "%s%lld", i ? "x" : "", (long long)pic->m->mesh.axes[i].size);
	text_add(t, pic->m->mesh.naxes ? "  ->  " : "1  ->  ");
	text_shape(t, &local);
	text_add(t, " a device, ");
	text_memory(t, (double)type_bytes(&local));
	if (type_equal(pic->type, &pic->padded))
		return;
	text_add(t, ", padded to ");
	text_spec(t, &pic->m->mesh, &pic->padded, &none);
}

/* ---- text ------------------------------------------------------------------------- */

/* Corners by position: top, middle, bottom; and the two lines. */
typedef struct Frame {
	const char *left[3], *cross[3], *right[3], *flat, *upright;
} Frame;

static const Frame plain = {{"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}, "-", "|"};
static const Frame boxes = {{"┌", "├", "└"}, {"┬", "┼", "┴"}, {"┐", "┤", "┘"}, "─", "│"};

static void
text_rule_line(Text *t, const Frame *f, int position, int columns, int width)
{
	text_add(t, f->left[position]);
	for (int c = 0; c < columns; c++) {
		for (int i = 0; i < width + 2; i++)
			text_add(t, f->flat);
		text_add(t, c < columns - 1 ? f->cross[position] : f->right[position]);
	}
	text_add(t, "\n");
}

/* The dim that goes across, and what of it each column has. */
static void
text_columns(Text *t, const Picture *pic)
{
	if (!pic->labelled || pic->across < 0)
		return;
	text_printf(t, "%*s  %s\n%*s", pic->side, "", dim_label(pic, pic->across), pic->side,
		"");
	for (int c = 0; c < pic->columns.n; c++) {
		const char *label = line_label(pic, pic->across, pic->columns.shown[c]);
		text_printf(t, "  %-*s", c + 1 < pic->columns.n ? pic->width + 1 : 0, label);
	}
	text_add(t, "\n");
}

/* Before a row, `r`, of the grid; before a line between rows, -1. */
static void
text_side(Text *t, const Picture *pic, int r)
{
	const char *dim = r == 0 ? dim_label(pic, pic->down) : "";

	if (!pic->side)
		return;
	text_printf(t, "%s%*s  ", dim, pic->side - 2 - (int)strlen(dim),
		r < 0 ? "" : line_label(pic, pic->down, pic->rows.shown[r]));
}

static void
text_grid(Text *t, const Picture *pic, const VizOptions *o)
{
	/* Dark enough for white text, far enough apart for neighbours. */
	static const int colors[] = {24, 88, 22, 94, 54, 23, 125, 58, 60, 130, 30, 90};
	const Frame *f = o->unicode ? &boxes : &plain;

	text_columns(t, pic);
	for (int r = 0; r < pic->rows.n; r++) {
		text_side(t, pic, -1);
		text_rule_line(t, f, r > 0, pic->columns.n, pic->width);
		text_side(t, pic, r);
		text_add(t, f->upright);
		for (int c = 0; c < pic->columns.n; c++) {
			const Cell *cell = &pic->cells[r][c];
			bool colored = o->color && !cell->gap;
			if (colored)
				text_printf(t, "\033[48;5;%d;97m",
					colors[cell->device
						% (int64_t)(sizeof colors / sizeof *colors)]);
			text_printf(t, " %-*s %s%s", pic->width, cell->text,
				colored ? "\033[0m" : "", f->upright);
		}
		text_add(t, "\n");
	}
	text_side(t, pic, -1);
	text_rule_line(t, f, 2, pic->columns.n, pic->width);
}

/* ---- SVG and HTML -------------------------------------------------------------------- */

/* What stands above a grid and left of it; from `top` down to what is returned. */
static int64_t
svg_labels(Text *t, const Picture *pic, int64_t top, int64_t left, int64_t width)
{
	if (!pic->labelled)
		return top;
	if (pic->across >= 0) {
		svg_text(t, left, top + LINE_HEIGHT * 2 / 3, "start",
			dim_label(pic, pic->across));
		top += 2 * LINE_HEIGHT;
	}
	for (int c = 0; c < pic->columns.n && pic->across >= 0; c++)
		svg_text(t, left + c * width + width / 2, top - LINE_HEIGHT / 3, "middle",
			line_label(pic, pic->across, pic->columns.shown[c]));
	for (int r = 0; r < pic->rows.n && pic->side; r++) {
		int64_t y = top + r * CELL_HEIGHT + CELL_HEIGHT * 5 / 8;
		if (r == 0)
			svg_text(t, MARGIN, y, "start", dim_label(pic, pic->down));
		svg_text(t, left - CHARACTER, y, "end",
			line_label(pic, pic->down, pic->rows.shown[r]));
	}
	return top;
}

/* From `top` down to what is returned.  Hues a golden angle apart: neighbours differ,
   every id has its own. */
static int64_t
svg_grid(Text *t, const Picture *pic, int64_t top)
{
	int64_t width = pic->width * CHARACTER + MARGIN * 2;
	int64_t left = MARGIN + pic->side * CHARACTER;

	top = svg_labels(t, pic, top, left, width);

	for (int r = 0; r < pic->rows.n; r++)
		for (int c = 0; c < pic->columns.n; c++) {
			const Cell *cell = &pic->cells[r][c];
			int64_t x = left + c * width, y = top + r * CELL_HEIGHT;
			if (!cell->gap) {
				text_add(t, "<g><title>");
				text_escaped(t, cell->block);
				text_add(t, " on ");
				text_escaped(t, cell->text);
				text_printf(t,
					"</title><rect x=\"%lld\" y=\"%lld\" "
					"width=\"%lld\" height=\"%d\" "
					"style=\"fill:hsl(%lld,60%%,55%%)\" "
					"fill-opacity=\"%s\" "
					"stroke=\"currentColor\"/>\n",
					(long long)x, (long long)y, (long long)width,
					CELL_HEIGHT,
					(long long)(cell->device * 13751 / 100 % 360),
					cell->device / 8 % 2 ? ".45" : ".25");
			}
			svg_text(t, x + width / 2, y + CELL_HEIGHT * 5 / 8, "middle",
				cell->text);
			text_add(t, cell->gap ? "" : "</g>\n");
		}
	return top + pic->rows.n * CELL_HEIGHT;
}

/* ---- everything the user can name ------------------------------------------------------ */

typedef struct Gallery {
	const VizOptions *o;
	Text t; /* SVG: its size comes before it, known last */
	int64_t y, right;
	int64_t x, bottom; /* of a row of pictures: where the next begins, where it ends */
	int pictures;
} Gallery;

static void
reach(Gallery *g, int64_t width)
{
	if (width + MARGIN * 2 > g->right)
		g->right = width + MARGIN * 2;
}

static void
show_line(Gallery *g, const char *s)
{
	if (g->o->format == VIZ_text) {
		text_printf(&g->t, "%s\n", s);
		return;
	}
	svg_text(&g->t, MARGIN, g->y + LINE_HEIGHT * 2 / 3, "start", s);
	reach(g, (int64_t)strlen(s) * CHARACTER);
	g->y += LINE_HEIGHT;
}

static void
show(Gallery *g, Module *m, const Named *n)
{
	Arena *arena = arena_new();
	Picture pic = picture_of(m, arena, n, g->o->name);
	Text line = {0};

	fill_cells(&pic, 0);
	if (pic.side + pic.columns.n * (pic.width + 3) > PAGE)
		pic.columns = line_of(dim_ways(&pic, pic.across), FEW_LINES);
	if (g->o->format == VIZ_text)
		text_add(&g->t, g->pictures++ ? "\n" : "");
	text_header(&line, &pic);
	show_line(g, line.s);
	for (int i = 0; i < pic.panels.n; i++) {
		if (pic.panels.shown[i] == ELLIPSIS) {
			show_line(g, "...");
			continue;
		}
		fill_cells(&pic, pic.panels.shown[i]);
		if (n->type.rank > 2) {
			line.n = 0;
			text_block(&line, &pic, true);
			show_line(g, line.s);
		}
		if (g->o->format == VIZ_text) {
			text_grid(&g->t, &pic, g->o);
			continue;
		}
		g->y = svg_grid(&g->t, &pic, g->y) + MARGIN;
		reach(g,
			pic.side * CHARACTER
				+ pic.columns.n * (pic.width * CHARACTER + MARGIN * 2));
	}
	g->y += MARGIN;
	text_free(&line);
	arena_free(arena);
}

/* A picture beside the one before it; below, where that would be too wide. */
static void
hang(Gallery *g, Gallery *one)
{
	enum { WALL = 1000 };

	if (g->x && g->x + one->right > WALL) {
		g->x = 0;
		g->y = g->bottom;
	}
	text_printf(&g->t, "<g transform=\"translate(%lld %lld)\">\n", (long long)g->x,
		(long long)g->y);
	text_addn(&g->t, one->t.s, one->t.n);
	text_add(&g->t, "</g>\n");
	g->x += one->right;
	g->right = g->x > g->right ? g->x : g->right;
	g->bottom = g->y + one->y > g->bottom ? g->y + one->y : g->bottom;
	text_free(&one->t);
}

/* The chips of a slice, above all else. */
static void
show_slice(Gallery *g, const Mesh *mesh)
{
	if (g->o->format == VIZ_text)
		slice_text(&g->t, mesh, NULL);
	else
		g->y = slice_svg(&g->t, mesh, NULL, g->y, &g->right) + MARGIN;
	g->pictures++;
}

void
emit_viz(Module *m, const VizOptions *o, Text *t)
{
	Gallery g = {.o = o, .y = MARGIN, .right = MARGIN};
	bool html = o->format == VIZ_html, svg = o->format != VIZ_text;
	int n;
	const Named **told = told_values(m, &n);

	if (m->mesh.topology_rank && !o->name)
		show_slice(&g, &m->mesh);
	g.bottom = g.y;
	for (int i = 0; i < n; i++) {
		Gallery one = {.o = o};
		if (o->name && !rt_same_name(told[i]->name, o->name))
			continue;
		show(svg ? &one : &g, m, told[i]);
		if (svg)
			hang(&g, &one);
	}
	if (html) {
		text_add(t,
			"<!DOCTYPE html>\n<html lang=\"en\">\n<head>"
			"<meta charset=\"utf-8\"><title>placements of ");
		text_escaped(t, m->name);
		text_add(t, "</title></head>\n<body>\n");
	}
	if (svg)
		svg_begin(t, g.right, g.bottom);
	text_addn(t, g.t.s, g.t.n);
	if (svg)
		svg_end(t);
	text_add(t, html ? "</body>\n</html>\n" : "");
	text_free(&g.t);
}
