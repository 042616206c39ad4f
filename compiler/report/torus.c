/*
 * torus.c - --emit=torus: how the mesh lies on the machine, and how long its links are
 * busy in a run.
 *
 *   a slice of v5p, 8x8x4: data,model of each chip, ...
 *   ...
 *   links along x   13.3 ms   8.8 %
 *   links along z   39.3 ms  26.0 %   ####
 *
 * The links of a dim carry all the same; a picture has them as thick as they are busy.
 */
#include <string.h>

#include "ir/layout.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/viz.h"

enum { LOAD_HEIGHT = 18, NAMES = 150, TIMES = 160, BAR = 320 }; /* pixels */

typedef struct Load {
	const char *name, *time; /* "links along x", "13.3 ms, 8.8 %" */
	double share;		 /* of the busiest */
} Load;

typedef struct Loads {
	Load links[MAX_AXES];
	int n;
	double shares[PHYSICAL_COUNT]; /* of the busiest: of the dims of a torus */
} Loads;

static Loads
loads_of(const Timeline *timeline, Arena *a)
{
	const Module *m = timeline->module;
	Loads loads = {0};
	int64_t most = 1;
	int n = m->mesh.topology_rank ? PHYSICAL_COUNT : m->mesh.naxes;

	for (int i = 0; i < n; i++)
		if (track_time(timeline, LINK_TRACK + i) > most)
			most = track_time(timeline, LINK_TRACK + i);
	for (int i = 0; i < n; i++) {
		int64_t time = track_time(timeline, LINK_TRACK + i);
		Text t = {0};
		double share = (double)time / (double)most;
		if (m->mesh.topology_rank)
			loads.shares[i] = share;
		text_picoseconds(&t, time);
		text_add(&t, ", ");
		text_percent(&t, (double)time, (double)timeline->time);
		if (time || (m->mesh.topology_rank && physical_size(&m->mesh, i) > 1))
			loads.links[loads.n++] = (Load){track_name(m, LINK_TRACK + i, a),
				text_take(&t, a), share};
		text_free(&t);
	}
	return loads;
}

static void
text_torus(const Mesh *mesh, const Loads *loads, Text *t)
{
	enum { WIDEST = 40 };

	text_add(t, "\n");
	if (mesh->topology_rank)
		slice_text(t, mesh, loads->shares);
	text_add(t, mesh->topology_rank ? "\n" : "");
	for (int i = 0; i < loads->n; i++) {
		const Load *load = &loads->links[i];
		text_printf(t, "  %-16s  %-*s", load->name, load->share > 0 ? 16 : 0,
			load->time);
		for (int k = 0; k < (int)(load->share * WIDEST + 0.5); k++)
			text_add(t, "#");
		text_add(t, "\n");
	}
}

static void
svg_torus(const Mesh *mesh, const Loads *loads, const char *heading, Text *t)
{
	int64_t y = MARGIN, width = NAMES + TIMES + BAR + 2 * MARGIN;
	Text body = {0};

	y = svg_lines(&body, heading, y, &width) + MARGIN;
	if (mesh->topology_rank)
		y = slice_svg(&body, mesh, loads->shares, y, &width);
	for (int i = 0; i < loads->n; i++, y += LOAD_HEIGHT) {
		const Load *load = &loads->links[i];
		svg_text(&body, MARGIN, y + 13, "start", load->name);
		svg_text(&body, MARGIN + NAMES, y + 13, "start", load->time);
		svg_rect(&body, MARGIN + NAMES + TIMES, (double)y + 2, BAR * load->share,
			LOAD_HEIGHT - 4, "ici");
	}
	svg_begin(t, width, y + MARGIN);
	text_addn(t, body.s, body.n);
	svg_end(t);
	text_free(&body);
}

void
emit_torus(const Timeline *timeline, const Plan *plan, const char *format, Text *t)
{
	const Mesh *mesh = &timeline->module->mesh;
	Arena *a = arena_new();
	Loads loads = loads_of(timeline, a);
	Text heading = {0};

	text_outcome(timeline, plan, &heading);
	if (strcmp(format, "svg") == 0) {
		svg_torus(mesh, &loads, heading.s, t);
	} else {
		text_add(t, heading.s);
		text_torus(mesh, &loads, t);
	}
	text_free(&heading);
	arena_free(a);
}
