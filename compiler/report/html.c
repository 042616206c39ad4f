/*
 * html.c - --emit=report: one page that tells all there is to tell of a program.
 *
 * The page draws itself (page.js) from one JSON object, which is made of what the
 * other reports print for scripts; no part of it comes from anywhere else.
 */
#include <string.h>

#include "cost/ledger.h"
#include "ir/layout.h"
#include "ir/targets.h"
#include "report/folded.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/svg.h"

static const char page_css[] =
#include "page_css.inc"
	;
static const char page_js[] =
#include "page_js.inc"
	;

/* ---- the data ------------------------------------------------------------------- */

/* The file that is shown: of a JAX program, the Python in which a run takes longest. */
static int
shown_file(const Timeline *timeline, Arena *a)
{
	const Module *m = timeline->module;
	int64_t *times = NEW_ARRAY(a, int64_t, m->session->nfiles + 1);
	int shown = 1;

	for (int i = 0; i < timeline->n && m->python; i++) {
		int file = timeline->steps[i].op->range.file;
		times[file] = add_picoseconds(times[file], timeline->steps[i].total);
		if (file && times[file] > times[shown])
			shown = file;
	}
	return shown;
}

/* The lines of the program as it was written. */
static void
print_source(const Timeline *timeline, Text *t)
{
	Arena *a = arena_new();
	const Module *m = timeline->module;
	int file = shown_file(timeline, a);
	const SourceFile *source = source_file(m->session, file);

	text_add(t, "\"source\": {\"path\": ");
	text_json(t, source_path(m->session, file));
	text_add(t, ", \"lines\": [");
	for (int i = 0; source && source->text && i < source->nlines; i++) {
		int begin = source->line_starts[i];
		int end = i + 1 < source->nlines ? source->line_starts[i + 1] - 1
						 : source->length;
		if (i + 1 == source->nlines && begin == end)
			break;
		text_add(t, i ? ",\n" : "\n");
		text_json(t, arena_strndup(a, source->text + begin, (size_t)(end - begin)));
	}
	text_add(t, "]}");
	arena_free(a);
}

/* Those of the target that are numbers. */
static void
print_facts(const Target *target, Text *t)
{
	int n = 0;

	text_add(t, "\"facts\": {");
	for (int i = 0; i < target_nfacts; i++) {
		if (target_facts[i].type != FACT_REAL && target_facts[i].type != FACT_COUNT)
			continue;
		text_printf(t, "%s\"%s\": ", n++ ? ", " : "", target_facts[i].name);
		text_fact(t, target, &target_facts[i]);
	}
	text_add(t, "}");
}

/* Every value that the user named, as in --emit=stats. */
static void
print_values(Module *m, Text *t)
{
	Arena *a = arena_new();
	int n;
	const Named **told = told_values(m, &n);
	Folded all = folded_new(a, "\"name\"");
	Table *seen = table_new(a);
	Text type = {0}, sort = {0}, name = {0};

	for (int i = 0; i < n; i++) {
		if (!told[i]->value || !table_add(seen, told[i]->name, (void *)told[i]))
			continue;
		text_value(&type, &m->mesh, told[i]->value);
		text_add(&sort, "\"type\": ");
		text_json(&sort, text_take(&type, a));
		text_json(&name, told[i]->name);
		folded_add(&all, text_take(&sort, a), text_take(&name, a));
	}
	text_add(t, "\"values\": ");
	text_folded(t, &all);
	arena_free(a);
}

/* ---- how the mesh lies ------------------------------------------------------------- */

/* "x, y:(4)2" */
static void
text_lies_on(Text *t, const Mesh *mesh, int axis)
{
	const AxisLayout *layout = &mesh->layout[axis];

	for (int i = 0; i < layout->n; i++) {
		const LayoutPart *part = &layout->part[i];
		text_printf(t, "%s%s", i ? ", " : "", physical_names[part->along]);
		if (part->size != physical_size(mesh, part->along))
			text_printf(t, ":(%lld)%lld", (long long)part->pre,
				(long long)part->size);
	}
	if (!layout->n)
		text_add(t, mesh->axes[axis].size > 2 ? "a ring of its own" : "a link");
}

/* The directed links that something moves on. */
static void
print_links(const Timeline *timeline, Text *t)
{
	Arena *a = arena_new();
	int n = 0;

	text_add(t, "\"links\": [");
	for (int row = 0; row < LINK_ROWS; row++)
		if (link_row_used(timeline, row)) {
			text_printf(t, "%s{\"row\": %d, \"name\": ", n++ ? ", " : "", row);
			text_json(t, link_row_name(timeline->module, row, a));
			text_add(t, "}");
		}
	text_add(t, "]");
	arena_free(a);
}

static void
print_torus(Module *m, const Timeline *timeline, Text *t)
{
	const Mesh *mesh = &m->mesh;
	Text layout = {0};

	text_add(t, "\"torus\": {\"axes\": [");
	for (int a = 0; a < mesh->naxes; a++) {
		text_printf(t, "%s{\"name\": ", a ? ", " : "");
		text_json(t, mesh->axes[a].name);
		text_printf(t, ", \"size\": %lld, \"layout\": ", (long long)mesh->axes[a].size);
		text_lies_on(&layout, mesh, a);
		text_json(t, text_take(&layout, m->arena));
		text_add(t, "}");
	}
	text_add(t, "], \"dims\": [");
	text_numbers(t, mesh->topology_rank, mesh->topology, ", ");
	text_add(t, "], \"wraps\": [");
	for (int d = 0; d < mesh->topology_rank; d++)
		text_printf(t, "%s%s", d ? ", " : "", slice_wraps(mesh, d) ? "true" : "false");
	text_add(t, "], \"links\": [");
	for (int d = 0; d < PHYSICAL_COUNT && mesh->topology_rank; d++) {
		text_printf(t, "%s{\"dim\": \"%s\", \"seconds\": ", d ? ", " : "",
			physical_names[d]);
		text_exact_seconds(t, track_time(timeline, LINK_TRACK + d));
		text_add(t, "}");
	}
	text_add(t, "]}");
	text_free(&layout);
}

/* ---- the page ----------------------------------------------------------------------- */

/* JSON in a page: no '<', which might end or open what it stands in. */
static void
text_inert(Text *t, const char *json, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json[i] == '<')
			text_add(t, "\\u003c");
		else
			text_addn(t, &json[i], 1);
}

void
emit_report(const ReportOptions *options, Text *t)
{
	static const ColourFormat variable = {"--", ": ", "; "};
	Module *m = options->plan->module;
	Text data = {0};

	text_add(&data, "{\"version\": ");
	text_json(&data, options->version);
	text_add(&data, ", \"command\": ");
	text_json(&data, options->command);
	text_add(&data, ",\n");
	print_source(options->timeline, &data);
	text_add(&data, ",\n");
	print_facts(m->mesh.target, &data);
	text_add(&data, ",\n");
	print_values(m, &data);
	text_add(&data, ",\n");
	print_torus(m, options->timeline, &data);
	text_add(&data, ",\n");
	print_links(options->timeline, &data);
	text_add(&data, ",\n\"cost\": ");
	emit_cost(options->timeline, options->plan, "folded", &data);
	text_add(&data, ",\n\"memory\": ");
	emit_memory(options->plan, &(MemoryNotes){.otherwise = -1}, "folded", &data);
	text_add(&data, ",\n\"remarks\": [");
	text_add(&data, options->remarks ? options->remarks : "");
	text_add(&data, "],\n\"sweep\": ");
	text_add(&data, options->sweep ? options->sweep : "null");
	text_add(&data, ",\n\"versus\": ");
	if (options->versus) {
		text_add(&data, "{\"title\": ");
		text_json(&data, options->versus_title);
		text_printf(&data, ", \"cost\": %s}", options->versus);
	} else {
		text_add(&data, "null");
	}
	text_add(&data, "}");

	text_add(t,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>");
	text_escaped(t, m->name);
	text_add(t, "</title>\n<style>\n:root, :root.paper {color-scheme: light dark; ");
	text_colours(t, &variable, false);
	text_add(t, "}\n@media (prefers-color-scheme: dark) { :root {");
	text_colours(t, &variable, true);
	text_add(t, "} }\n");
	text_add(t, page_css);
	text_add(t,
		"</style>\n</head>\n<body>\n<script type=\"application/json\" id=\"data\">\n");
	text_inert(t, data.s, data.n);
	text_add(t, "\n</script>\n<script>\n");
	text_add(t, page_js);
	text_add(t, "</script>\n</body>\n</html>\n");
	text_free(&data);
}
