/*
 * viz_slice.c - the torus of a slice, with the mesh coordinates of each chip.
 *
 *   v5e:4x4, X=y,Y=x: X,Y of each chip
 *            x 0    1     2     3
 *       y 0    0,0 - 0,1 - 0,2 - 0,3
 *               |     |     |     |
 *         1    1,0 - 1,1 - 1,2 - 1,3
 *
 * x goes to the right, y down, and there is a panel for each z.  A tilde is a link
 * from the end of a line round to its beginning.
 */
#include <string.h>

#include "ir/layout.h"
#include "report/viz.h"

typedef struct Torus {
	const Mesh *mesh;
	Arena *arena;
	Line columns, rows, panels;
	bool around[3];	     /* x, y, z */
	int width;	     /* of a chip's text */
	const double *loads; /* of the links along x, y, z, 0 to 1; NULL: not asked for */
} Torus;

/* "0,3": the mesh coordinates of the devices of a chip. */
static const char *
text_chip(const Torus *torus, int64_t x, int64_t y, int64_t z)
{
	const Mesh *mesh = torus->mesh;
	Text t = {0};

	if (x == ELLIPSIS || y == ELLIPSIS)
		return "...";
	for (int64_t core = 0; core < mesh->target->devices_per_chip; core++) {
		const int64_t at[PHYSICAL_COUNT] = {x, y, z, core, 0};
		int64_t device = mesh_device_at(mesh, at), stride = mesh->ndevices;
		text_add(&t, core ? " " : "");
		for (int i = 0; i < mesh->naxes; i++) {
			stride /= mesh->axes[i].size;
			text_printf(&t, "%s%lld", i ? "," : "",
				(long long)(device / stride % mesh->axes[i].size));
		}
	}
	return text_take(&t, torus->arena);
}

/* Layers of z are alike but for who is there: with loads one will do. */
static Torus
torus_of(const Mesh *mesh, const double *loads, Arena *a)
{
	Torus torus = {.mesh = mesh, .arena = a, .loads = loads};
	int64_t layers = physical_size(mesh, PHYSICAL_z);

	torus.columns = line_of(physical_size(mesh, PHYSICAL_x), MOST_LINES);
	torus.rows = line_of(physical_size(mesh, PHYSICAL_y), MOST_LINES);
	torus.panels = line_of(loads ? 1 : layers, FEW_LINES);
	for (int d = 0; d < mesh->topology_rank; d++)
		torus.around[d] = slice_wraps(mesh, d) && mesh->topology[d] > 2;
	for (int r = 0; r < torus.rows.n; r++)
		for (int c = 0; c < torus.columns.n; c++)
			for (int p = 0; p < torus.panels.n; p++) {
				const char *s = text_chip(&torus, torus.columns.shown[c],
					torus.rows.shown[r],
					torus.panels.shown[p] == ELLIPSIS
						? 0
						: torus.panels.shown[p]);
				int n = (int)strlen(s);
				torus.width = n > torus.width ? n : torus.width;
			}
	return torus;
}

static void
text_title(Text *t, const Torus *torus)
{
	const Mesh *mesh = torus->mesh;

	text_printf(t, "a slice of %s, ", mesh->target->name);
	text_numbers(t, mesh->topology_rank, mesh->topology, "x");
	if (mesh->slices > 1)
		text_printf(t, ", the first of %lld", (long long)mesh->slices);
	text_add(t, ": ");
	for (int i = 0; i < mesh->naxes; i++)
		text_printf(t, "%s%s", i ? "," : "", mesh->axes[i].name);
	text_printf(t, " of each %s, ",
		mesh->target->devices_per_chip > 1 ? "chip's two devices" : "chip");
	text_layout(t, mesh);
	text_add(t, mesh->ring ? ", along a ring" : "");
	for (int d = 0, n = 0; d < mesh->topology_rank; d++)
		if (torus->around[d])
			text_printf(t, "%s%s", n++ ? "," : "; wraps along ", physical_names[d]);
	if (torus->loads && physical_size(mesh, PHYSICAL_z) > 1)
		text_add(t, "; the layer z 0");
}

/* "z 4", where there is more than one. */
static bool
text_panel(Text *t, const Torus *torus, int panel)
{
	int64_t z = torus->panels.shown[panel];

	if (z == ELLIPSIS)
		text_add(t, "...");
	else if (torus->panels.n > 1)
		text_printf(t, "z %lld", (long long)z);
	return z != ELLIPSIS;
}

/* ---- text ---------------------------------------------------------------------- */

enum { LABEL = 6 }; /* "y 12  " */

/* What is between two rows, or beyond the last: a mark under each chip. */
static void
text_links(Text *t, const Torus *torus, const char *mark)
{
	text_printf(t, "%*s", LABEL + 2, "");
	for (int c = 0; c < torus->columns.n; c++) {
		bool last = c == torus->columns.n - 1;
		text_printf(t, "%*s%s%*s", torus->width / 2, "", mark,
			last ? 0 : torus->width - torus->width / 2 - 1 + 3, "");
	}
	text_add(t, "\n");
}

static void
text_row(Text *t, const Torus *torus, int r, int64_t z)
{
	int64_t y = torus->rows.shown[r];
	const char *end = torus->around[PHYSICAL_x] && y != ELLIPSIS ? "~" : "";
	size_t start = t->n;

	text_printf(t, r ? "  " : "y ");
	if (y != ELLIPSIS)
		text_printf(t, "%lld", (long long)y);
	text_printf(t, "%*s%-2s", LABEL - (int)(t->n - start), "", end);
	for (int c = 0; c < torus->columns.n; c++) {
		bool last = c == torus->columns.n - 1;
		const char *chip = text_chip(torus, torus->columns.shown[c], y, z);
		int n = (int)strlen(chip), left = (torus->width - n) / 2;
		text_printf(t, "%*s%s%*s%s", left, "", chip,
			last && !*end ? 0 : torus->width - n - left, "",
			last			? ""
				: y == ELLIPSIS ? "   "
						: " - ");
	}
	text_printf(t, "%s%s\n", *end ? " " : "", end);
}

static void
text_columns(Text *t, const Torus *torus)
{
	text_printf(t, "%*s", LABEL + 2, "");
	for (int c = 0; c < torus->columns.n; c++) {
		size_t start = t->n;
		int64_t x = torus->columns.shown[c];
		text_printf(t, "%*s", (torus->width - 1) / 2 - (c == 0 ? 2 : 0), "");
		if (x == ELLIPSIS)
			text_add(t, "...");
		else
			text_printf(t, "%s%lld", c ? "" : "x ", (long long)x);
		if (c < torus->columns.n - 1)
			text_printf(t, "%*s", torus->width + 3 - (int)(t->n - start), "");
	}
	text_add(t, "\n");
}

void
slice_text(Text *t, const Mesh *mesh, const double *loads)
{
	Arena *a = arena_new();
	Torus torus = torus_of(mesh, loads, a);

	torus.width = torus.width < 5 ? 5 : torus.width;
	text_title(t, &torus);
	text_add(t, "\n");
	for (int p = 0; p < torus.panels.n; p++) {
		if (torus.panels.n > 1) {
			bool shown = text_panel(t, &torus, p);
			text_add(t, "\n");
			if (!shown)
				continue;
		}
		text_columns(t, &torus);
		if (torus.around[PHYSICAL_y])
			text_links(t, &torus, "~");
		for (int r = 0; r < torus.rows.n; r++) {
			if (r)
				text_links(t, &torus, "|");
			text_row(t, &torus, r, torus.panels.shown[p]);
		}
		if (torus.around[PHYSICAL_y])
			text_links(t, &torus, "~");
	}
	arena_free(a);
}

/* ---- SVG ------------------------------------------------------------------------ */

enum { LINK = 18, LOOSE_END = 10 };

/* A link, or one that leaves the picture; the thicker the more it carries. */
static void
svg_link(Text *t, const Torus *torus, PhysicalAxis along, int64_t x, int64_t y, int64_t dx,
	int64_t dy)
{
	bool loose = dx * dx + dy * dy < LINK * LINK;
	double load = torus->loads ? torus->loads[along] : 0;

	text_printf(t, "<path d=\"M%lld %lldl%lld %lld\" class=\"%s\"", (long long)x,
		(long long)y, (long long)dx, (long long)dy, load > 0 ? "ici" : "faint");
	if (load > 0)
		text_printf(t, " stroke-width=\"%.1f\"", 1.5 + 6.5 * load);
	text_add(t, loose ? " stroke-dasharray=\"2 2\"/>\n" : "/>\n");
}

/* The links that leave a chip to the right and down, to the next layer, and round the
   torus. */
static void
svg_links(Text *t, const Torus *torus, int r, int c, int64_t x, int64_t y, int64_t width)
{
	int64_t middle = y + CELL_HEIGHT / 2, center = x + width / 2;

	if (c < torus->columns.n - 1)
		svg_link(t, torus, PHYSICAL_x, x + width, middle, LINK, 0);
	else if (torus->around[PHYSICAL_x])
		svg_link(t, torus, PHYSICAL_x, x + width, middle, LOOSE_END, 0);
	if (c == 0 && torus->around[PHYSICAL_x])
		svg_link(t, torus, PHYSICAL_x, x, middle, -LOOSE_END, 0);
	if (r < torus->rows.n - 1)
		svg_link(t, torus, PHYSICAL_y, center, y + CELL_HEIGHT, 0, LINK);
	else if (torus->around[PHYSICAL_y])
		svg_link(t, torus, PHYSICAL_y, center, y + CELL_HEIGHT, 0, LOOSE_END);
	if (r == 0 && torus->around[PHYSICAL_y])
		svg_link(t, torus, PHYSICAL_y, center, y, 0, -LOOSE_END);
	if (torus->loads && physical_size(torus->mesh, PHYSICAL_z) > 1)
		svg_link(t, torus, PHYSICAL_z, x + width - 2, y + 2, LOOSE_END, -LOOSE_END);
}

/* A hue for each coordinate along the first axis, a shade for those of the second. */
static void
svg_chip(Text *t, const Torus *torus, const int64_t at[PHYSICAL_COUNT], int64_t x, int64_t y,
	int64_t width)
{
	const Mesh *mesh = torus->mesh;
	const char *s = text_chip(torus, at[0], at[1], at[2]);
	int64_t device = mesh_device_at(mesh, at), first = 0, second = 0;

	if (mesh->naxes) {
		int64_t rest = mesh->ndevices / mesh->axes[0].size;
		first = device / rest;
		second = mesh->naxes > 1 ? device % rest / (rest / mesh->axes[1].size) : 0;
	}
	text_add(t, "<g>");
	if (!torus->loads) {
		text_printf(t, "<title>TPU %lld at", (long long)device);
		for (int d = 0; d < mesh->topology_rank; d++)
			text_printf(t, " %s=%lld", physical_names[d], (long long)at[d]);
		text_add(t, "</title>");
	}
	text_printf(t,
		"<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%d\" rx=\"4\" "
		"style=\"fill:hsl(%lld,60%%,55%%)\" fill-opacity=\"%s\" "
		"stroke=\"currentColor\"/>\n",
		(long long)x, (long long)y, (long long)width, CELL_HEIGHT,
		(long long)(first * 13751 / 100 % 360), second % 2 ? ".45" : ".25");
	svg_text(t, x + width / 2, y + CELL_HEIGHT * 5 / 8, "middle", s);
	text_add(t, "</g>\n");
}

static void
svg_panel(Text *t, const Torus *torus, int64_t z, int64_t left, int64_t top)
{
	int64_t width = torus->width * CHARACTER + MARGIN;

	for (int r = 0; r < torus->rows.n; r++)
		for (int c = 0; c < torus->columns.n; c++) {
			int64_t x = left + c * (width + LINK),
				y = top + r * (CELL_HEIGHT + LINK);
			const int64_t at[PHYSICAL_COUNT] = {torus->columns.shown[c],
				torus->rows.shown[r], z};
			if (at[0] == ELLIPSIS || at[1] == ELLIPSIS) {
				svg_text(t, x + width / 2, y + CELL_HEIGHT * 5 / 8, "middle",
					"...");
				continue;
			}
			svg_links(t, torus, r, c, x, y, width);
			svg_chip(t, torus, at, x, y, width);
		}
}

int64_t
slice_svg(Text *t, const Mesh *mesh, const double *loads, int64_t top, int64_t *right)
{
	Arena *a = arena_new();
	Torus torus = torus_of(mesh, loads, a);
	int64_t left = MARGIN + LOOSE_END, end = left;
	Text line = {0};

	text_title(&line, &torus);
	svg_text(t, MARGIN, top + LINE_HEIGHT * 2 / 3, "start", line.s);
	end = MARGIN * 2 + (int64_t)line.n * CHARACTER;
	top += LINE_HEIGHT;
	int64_t width = torus.columns.n * (torus.width * CHARACTER + MARGIN + LINK) - LINK;
	int64_t height = torus.rows.n * (CELL_HEIGHT + LINK) - LINK;
	int64_t above = (torus.panels.n > 1 ? LINE_HEIGHT : 0) + LOOSE_END;
	for (int p = 0; p < torus.panels.n; p++) {
		line.n = 0;
		bool shown = text_panel(&line, &torus, p);
		if (line.n)
			svg_text(t, left, top + LINE_HEIGHT * 2 / 3, "start", line.s);
		if (shown)
			svg_panel(t, &torus, torus.panels.shown[p], left, top + above);
		left += shown ? width + LOOSE_END * 2 + MARGIN : 4 * CHARACTER;
	}
	end = left > end ? left : end;
	*right = end > *right ? end : *right;
	text_free(&line);
	arena_free(a);
	return top + above + height + LOOSE_END + MARGIN;
}
