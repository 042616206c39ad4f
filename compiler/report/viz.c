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
 * A picture is a grid of the last two dims, one panel for each block of the
 * leading ones.  A cell is a block; devices that hold copies of it share the
 * cell.  Long grids and long lists are shown by their beginning and end, so a
 * picture costs the same on 8 devices and on 65,536.
 *
 * Requires L_sharded, changes nothing.
 */
#include <string.h>

#include "report/report.h"

enum {
	MOST_LINES = 8, /* rows or columns of a grid, panels */
	FEW_LINES = 4,	/* columns of a grid that would be too wide */
	MOST_RUNS = 3,	/* runs of device ids in a cell */
	PAGE = 100,	/* characters a grid should fit in */
	ELLIPSIS = -1,
};

/* Which indices of a long line are shown, in order; ELLIPSIS for a gap. */
typedef struct Line {
	int n;
	int64_t shown[MOST_LINES];
} Line;

typedef struct Picture {
	const Module *m;
	const char *name;
	AxisList manual; /* in a manual region: it is each device's own
				   along these */
	const Type *type;
	Type padded; /* what is cut into blocks */
	const Placement *placement;
	AxisList dims[MAX_RANK];
	AxisList copies; /* pieces that no dim uses: who shares a cell */
	Line rows, columns;
	int64_t panels;
} Picture;

/* ---- what is in the picture -------------------------------------------------- */

static Line
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

static int
row_dim(const Picture *pic)
{
	return pic->type->rank < 2 ? -1 : pic->type->rank - 2;
}

static int
column_dim(const Picture *pic)
{
	return pic->type->rank - 1;
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

static Picture
picture_of(const Module *m, const Named *n)
{
	Picture pic = {.m = m,
		.name = n->name,
		.type = &n->type,
		.padded = n->value ? n->value->type : n->type,
		.placement = &n->placement,
		.panels = 1};

	if (n->value)
		pic.manual = block_manual_axes(n->value->block);
	for (int d = 0; d < n->type.rank; d++) {
		pic.dims[d] = placement_dim(&n->placement, d);
		/* padded so that its axes divide it, and further where another value
		   that it belongs to needs more */
		int64_t ways = axes_size(&pic.dims[d]);
		pic.padded.dims[d] = (pic.padded.dims[d] + ways - 1) / ways * ways;
		if (d < n->type.rank - 2)
			pic.panels *= axes_size(&pic.dims[d]);
	}
	pic.copies = unused_pieces(&pic);
	pic.rows = line_of(dim_ways(&pic, row_dim(&pic)), MOST_LINES);
	pic.columns = line_of(dim_ways(&pic, column_dim(&pic)), MOST_LINES);
	return pic;
}

/* The block of each leading dim in a panel, last dim fastest. */
static void
panel_index(const Picture *pic, int64_t panel, int64_t *index)
{
	for (int d = pic->type->rank - 3; d >= 0; d--) {
		index[d] = panel % dim_ways(pic, d);
		panel /= dim_ways(pic, d);
	}
}

/* ---- devices of a cell --------------------------------------------------------- */

/* The lowest device that holds the block. */
static int64_t
first_device(const Picture *pic, const int64_t *index)
{
	int64_t id = 0;

	for (int d = 0; d < pic->type->rank; d++)
		id = axes_with_index(&pic->m->mesh, &pic->dims[d], id, index[d]);
	return id;
}

/*
 * The copies as runs of neighbouring ids: pieces whose strides follow each
 * other from 1 make the run, the others say where runs start.
 */
static int64_t
run_length(const Picture *pic, AxisList *starts)
{
	int64_t run = 1;

	*starts = pic->copies;
	for (bool found = true; found;) {
		found = false;
		for (int i = 0; i < starts->n; i++) {
			AxisRef a = starts->a[i];
			if (axis_ref_stride(&pic->m->mesh, a) != run)
				continue;
			run *= a.size;
			memmove(&starts->a[i], &starts->a[i + 1],
				(size_t)(starts->n - i - 1) * sizeof starts->a[0]);
			starts->n--;
			found = true;
			break;
		}
	}
	/* mesh order is the order of strides, so runs come in order */
	return run;
}

static void
text_devices(Text *t, const Picture *pic, const int64_t *index)
{
	AxisList starts;
	int64_t run = run_length(pic, &starts), n = axes_size(&starts);
	int64_t first = first_device(pic, index);

	text_add(t, "TPU ");
	for (int64_t i = 0; i < n; i++) {
		if (i == MOST_RUNS && n > MOST_RUNS + 1) {
			text_add(t, ",...");
			i = n - 1;
		}
		text_add(t, i ? "," : "");
		int64_t at = axes_with_index(&pic->m->mesh, &starts, first, i);
		text_printf(t, "%lld", (long long)at);
		if (run > 1)
			text_printf(t, "%c%lld", run == 2 ? ',' : '-',
				(long long)(at + run - 1));
	}
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

/* Where the padding starts there is nothing to see. */
static int64_t
at_most(const Picture *pic, int dim, int64_t index)
{
	return index < pic->type->dims[dim] ? index : pic->type->dims[dim];
}

/* name[0:4, 1024:2048]: the elements of a block; panels show no cell's. */
static void
text_block(Text *t, const Picture *pic, const int64_t *index, int dims)
{
	text_printf(t, "%s[", pic->name);
	for (int d = 0; d < pic->type->rank; d++) {
		int64_t size = pic->padded.dims[d] / dim_ways(pic, d);
		int64_t begin = at_most(pic, d, index[d] * size);
		text_add(t, d ? ", " : "");
		if (d < dims)
			text_printf(t, "%lld:%lld", (long long)begin,
				(long long)at_most(pic, d, (index[d] + 1) * size));
		else
			text_add(t, ":");
	}
	text_add(t, "]");
}

/* Row and column of the grid as block indices; false for a gap. */
static bool
cell_index(const Picture *pic, int row, int column, int64_t *index)
{
	int64_t r = pic->rows.shown[row], c = pic->columns.shown[column];

	if (r == ELLIPSIS || c == ELLIPSIS)
		return false;
	if (row_dim(pic) >= 0)
		index[row_dim(pic)] = r;
	if (column_dim(pic) >= 0)
		index[column_dim(pic)] = c;
	return true;
}

static void
text_cell(Text *t, const Picture *pic, int row, int column, int64_t *index)
{
	if (cell_index(pic, row, column, index))
		text_devices(t, pic, index);
	else
		text_add(t, "...");
}

/* ---- text ------------------------------------------------------------------------- */

/* Corners by position: top, middle, bottom; and the two lines. */
typedef struct Frame {
	const char *left[3], *cross[3], *right[3], *flat, *upright;
} Frame;

static const Frame plain = {{"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}, "-", "|"};
static const Frame boxes = {{"┌", "├", "└"}, {"┬", "┼", "┴"}, {"┐", "┤", "┘"}, "─", "│"};

static void
text_rule_line(Text *t, const Frame *f, int position, int columns, size_t width)
{
	text_add(t, f->left[position]);
	for (int c = 0; c < columns; c++) {
		for (size_t i = 0; i < width + 2; i++)
			text_add(t, f->flat);
		text_add(t, c < columns - 1 ? f->cross[position] : f->right[position]);
	}
	text_add(t, "\n");
}

static size_t
cell_width(const Picture *pic, int64_t *index)
{
	size_t width = 0;
	Text cell = {0};

	for (int r = 0; r < pic->rows.n; r++)
		for (int c = 0; c < pic->columns.n; c++) {
			cell.n = 0;
			text_cell(&cell, pic, r, c, index);
			if (cell.n > width)
				width = cell.n;
		}
	text_free(&cell);
	return width;
}

static void
text_grid(Text *t, const Picture *pic, const VizOptions *o, int64_t *index)
{
	/* Dark enough for white text, far enough apart for neighbours. */
	static const int colors[] = {24, 88, 22, 94, 54, 23, 125, 58, 60, 130, 30, 90};
	const Frame *f = o->unicode ? &boxes : &plain;
	size_t width = cell_width(pic, index);
	Text cell = {0};

	for (int r = 0; r < pic->rows.n; r++) {
		text_rule_line(t, f, r > 0, pic->columns.n, width);
		text_add(t, f->upright);
		for (int c = 0; c < pic->columns.n; c++) {
			bool colored = o->color && cell_index(pic, r, c, index);
			cell.n = 0;
			text_cell(&cell, pic, r, c, index);
			if (colored)
				text_printf(t, "\033[48;5;%d;97m",
					colors[first_device(pic, index)
						% (int64_t)(sizeof colors / sizeof *colors)]);
			text_printf(t, " %-*s ", (int)width, cell.s);
			text_add(t, colored ? "\033[0m" : "");
			text_add(t, f->upright);
		}
		text_add(t, "\n");
	}
	text_rule_line(t, f, 2, pic->columns.n, width);
	text_free(&cell);
}

static void
text_picture(Text *t, const Picture *pic, const VizOptions *o)
{
	Line panels = line_of(pic->panels, MOST_LINES);
	int64_t index[MAX_RANK] = {0};

	text_header(t, pic);
	text_add(t, "\n");
	for (int i = 0; i < panels.n; i++) {
		if (panels.shown[i] == ELLIPSIS) {
			text_add(t, "...\n");
			continue;
		}
		panel_index(pic, panels.shown[i], index);
		if (pic->type->rank > 2) {
			text_block(t, pic, index, pic->type->rank - 2);
			text_add(t, "\n");
		}
		text_grid(t, pic, o, index);
	}
}

/* ---- SVG and HTML -------------------------------------------------------------------- */

enum {
	CELL_HEIGHT = 34,
	CHARACTER = 8, /* width, about, of 13px monospace */
	LINE_HEIGHT = 24,
	MARGIN = 12,
};

static void
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

static void
svg_text(Text *t, int64_t x, int64_t y, const char *anchor, const char *s)
{
	text_printf(t, "<text x=\"%lld\" y=\"%lld\" text-anchor=\"%s\">", (long long)x,
		(long long)y, anchor);
	text_escaped(t, s);
	text_add(t, "</text>\n");
}

/* Hues a golden angle apart: neighbours differ, every id has its own. */
static void
svg_cell(Text *t, const Picture *pic, int row, int column, int64_t *index, int64_t x, int64_t y,
	int64_t width)
{
	Text cell = {0}, block = {0};
	bool is_block = cell_index(pic, row, column, index);
	int64_t device = is_block ? first_device(pic, index) : 0;

	text_cell(&cell, pic, row, column, index);
	if (is_block) {
		text_block(&block, pic, index, pic->type->rank);
		text_add(t, "<g><title>");
		text_escaped(t, block.s);
		text_add(t, " on ");
		text_escaped(t, cell.s);
		text_printf(t,
			"</title><rect x=\"%lld\" y=\"%lld\" "
			"width=\"%lld\" height=\"%d\" fill=\"hsl(%lld,60%%,%s)\" "
			"stroke=\"#444\"/>\n",
			(long long)x, (long long)y, (long long)width, CELL_HEIGHT,
			(long long)(device * 13751 / 100 % 360),
			device / 8 % 2 ? "70%" : "82%");
	}
	svg_text(t, x + width / 2, y + CELL_HEIGHT * 5 / 8, "middle", cell.s);
	text_add(t, is_block ? "</g>\n" : "");
	text_free(&cell);
	text_free(&block);
}

/* The y below the grid; *right grows to its edge. */
static int64_t
svg_grid(Text *t, const Picture *pic, int64_t *index, int64_t y, int64_t *right)
{
	int64_t width = (int64_t)cell_width(pic, index) * CHARACTER + MARGIN * 2;

	for (int r = 0; r < pic->rows.n; r++)
		for (int c = 0; c < pic->columns.n; c++)
			svg_cell(t, pic, r, c, index, MARGIN + c * width, y + r * CELL_HEIGHT,
				width);
	if (MARGIN * 2 + pic->columns.n * width > *right)
		*right = MARGIN * 2 + pic->columns.n * width;
	return y + pic->rows.n * CELL_HEIGHT + MARGIN;
}

static int64_t
svg_label(Text *t, const char *s, int64_t y, int64_t *right)
{
	int64_t width = (int64_t)strlen(s) * CHARACTER + MARGIN * 2;

	svg_text(t, MARGIN, y + LINE_HEIGHT * 2 / 3, "start", s);
	if (width > *right)
		*right = width;
	return y + LINE_HEIGHT;
}

static int64_t
svg_picture(Text *t, const Picture *pic, int64_t y, int64_t *right)
{
	Line panels = line_of(pic->panels, MOST_LINES);
	int64_t index[MAX_RANK] = {0};
	Text label = {0};

	text_header(&label, pic);
	y = svg_label(t, label.s, y, right);
	for (int i = 0; i < panels.n; i++) {
		if (panels.shown[i] == ELLIPSIS) {
			y = svg_label(t, "...", y, right);
			continue;
		}
		panel_index(pic, panels.shown[i], index);
		if (pic->type->rank > 2) {
			label.n = 0;
			text_block(&label, pic, index, pic->type->rank - 2);
			y = svg_label(t, label.s, y, right);
		}
		y = svg_grid(t, pic, index, y, right);
	}
	text_free(&label);
	return y + MARGIN;
}

/* ---- everything the user can name ------------------------------------------------------ */

typedef struct Gallery {
	const Module *m;
	const VizOptions *o;
	Text *t;
	Text body; /* SVG: the size comes first, known last */
	int64_t y, right;
	int pictures;
} Gallery;

static void
show(Gallery *g, const Named *n)
{
	Picture pic = picture_of(g->m, n);
	int64_t index[MAX_RANK] = {0};

	if (pic.columns.n * ((int)cell_width(&pic, index) + 3) > PAGE)
		pic.columns = line_of(dim_ways(&pic, column_dim(&pic)), FEW_LINES);
	if (g->o->format == VIZ_text) {
		text_add(g->t, g->pictures++ ? "\n" : "");
		text_picture(g->t, &pic, g->o);
	} else {
		g->y = svg_picture(&g->body, &pic, g->y, &g->right);
	}
}

static void
svg_document(Gallery *g)
{
	bool html = g->o->format == VIZ_html;

	if (html) {
		text_add(g->t,
			"<!DOCTYPE html>\n<html lang=\"en\">\n<head>"
			"<meta charset=\"utf-8\"><title>placements of ");
		text_escaped(g->t, g->m->name);
		text_add(g->t, "</title></head>\n<body>\n");
	}
	text_printf(g->t,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%lld\" height=\"%lld\" font-family=\"monospace\" "
		"font-size=\"13\">\n",
		(long long)g->right, (long long)g->y);
	text_add(g->t,
		"<rect width=\"100%\" height=\"100%\" "
		"fill=\"white\"/>\n");
	if (g->body.n)
		text_addn(g->t, g->body.s, g->body.n);
	text_add(g->t, html ? "</svg>\n</body>\n</html>\n" : "</svg>\n");
}

void
emit_viz(Module *m, const VizOptions *o, Text *t)
{
	Gallery g = {.m = m, .o = o, .t = t, .y = MARGIN, .right = MARGIN};

	/* Results come last, under the names of the signature. */
	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (!v || !v->def || v->def->kind != O_output)
			show(&g, &m->named[i]);
	}
	for (int i = 0; i < m->nresults; i++)
		show(&g, &m->results[i]);
	if (o->format != VIZ_text)
		svg_document(&g);
	text_free(&g.body);
}
