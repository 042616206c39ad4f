/*
 * layout.c - how the axes of the mesh lie on the chips, where the program says so.
 *
 *   mesh [data=16, model=16] on "v4:4x8x8" layout (model=(x, y:(4)2, z:(4)2), ...);
 *   shdc --layout='model=(x,y:(4)2,z:(4)2),data=(y:(1)4,z:(1)4)'
 */
#include <string.h>

#include "elaborate.h"
#include "ir/layout.h"

static bool
resolve_part(Elab *e, const AxisSpec *spec, LayoutPart *part)
{
	for (int p = 0; p < PHYSICAL_COUNT; p++) {
		if (strcmp(physical_names[p], spec->name.s) != 0)
			continue;
		int64_t all = physical_size(&e->m->mesh, (PhysicalAxis)p);
		*part = (LayoutPart){(PhysicalAxis)p, spec->pre, spec->sub ? spec->size : all};
		return true;
	}
	complain(e, DIAG_layout, spec->range,
		"there is no physical axis '%s'; there are x, y, z, core and slice",
		spec->name.s);
	return false;
}

/* Lays one axis; its number goes to *axis. */
static bool
resolve_axis(Elab *e, const LaidAxis *laid, int *axis)
{
	Mesh *mesh = &e->m->mesh;
	const char *names[MAX_AXES];

	*axis = mesh_axis(mesh, laid->name.s);
	if (*axis < 0) {
		for (int i = 0; i < mesh->naxes; i++)
			names[i] = mesh->axes[i].name;
		complain(e, DIAG_layout, laid->name.range, "the mesh has no axis '%s'",
			laid->name.s);
		suggest(e, laid->name.s, names, mesh->naxes);
		return false;
	}
	AxisLayout *layout = &mesh->layout[*axis];
	if (layout->n > 0) {
		complain(e, DIAG_layout, laid->range, "axis %s is laid out twice",
			laid->name.s);
		return false;
	}
	if (laid->parts.n > MAX_LAYOUT_PARTS) {
		complain(e, DIAG_layout, laid->range, "an axis has at most %d parts",
			MAX_LAYOUT_PARTS);
		return false;
	}
	for (int i = 0; i < laid->parts.n; i++)
		if (!resolve_part(e, laid->parts.v[i], &layout->part[layout->n++]))
			return false;
	return true;
}

/* The layout as it is written; false after a message. */
static bool
resolve_layout(Elab *e, List written, Range all)
{
	Mesh *mesh = &e->m->mesh;
	const LaidAxis *laid[MAX_AXES] = {NULL};
	LayoutPlace at;

	memset(mesh->layout, 0, sizeof mesh->layout);
	mesh->ring = false;
	for (int i = 0; i < written.n; i++) {
		int axis;
		if (!resolve_axis(e, written.v[i], &axis))
			return false;
		laid[axis] = written.v[i];
	}
	const char *fault = layout_fault(mesh, e->arena, &at);
	if (fault == NULL)
		return true;
	const LaidAxis *axis = at.axis < 0 ? NULL : laid[at.axis];
	if (axis != NULL)
		all = at.part < 0 ? axis->range
				  : ((const AxisSpec *)axis->parts.v[at.part])->range;
	complain(e, DIAG_layout, all, "%s", fault);
	return false;
}

Range
layout_range(List written)
{
	const LaidAxis *first = written.v[0], *last = written.v[written.n - 1];

	return range_join(first->range, last->range);
}

/* What --layout gives, read as a part of the mesh that it stands for. */
static List
read_option(Elab *e, const char *layout)
{
	const Mesh *mesh = &e->m->mesh;
	Text line = {0};

	for (int i = 0; i < mesh->naxes; i++)
		text_printf(&line, "%s%s=%lld", i ? ", " : "mesh [", mesh->axes[i].name,
			(long long)mesh->axes[i].size);
	text_printf(&line, "] layout (%s);", layout);
	const char *text = text_take(&line, e->arena);
	int file = source_add_text(e->session, "--layout", text, (int)strlen(text));
	const Program *program = parse_file(e->session, file, DIAG_usage);
	const Decl *only = program->right && program->items.n == 1 ? program->items.v[0] : NULL;

	if (only != NULL && only->kind == DECL_mesh)
		return only->layout;
	if (program->right)
		diag(e->session, DIAG_usage, nowhere, "--layout takes AXIS=PART,..., not '%s'",
			layout);
	return list_none();
}

void
declare_layout(Elab *e, const Decl *d)
{
	const FrontOptions *o = e->options;
	List written = o->layout != NULL ? read_option(e, o->layout) : d->layout;

	if (written.n == 0)
		return;
	if (o->layout == NULL && e->resized) {
		if (e->m->mesh.topology_rank != 0) /* else it was dropped, and told */
			diag(e->session, DIAG_topology_dropped, layout_range(written),
				"%s drops this layout; --layout gives another", e->resized);
		return;
	}
	e->on_command_line = o->layout != NULL || o->target != NULL;
	if (e->m->mesh.topology_rank == 0)
		complain(e, DIAG_layout, layout_range(written),
			"a layout needs a topology to lie on: on \"v5p:4x4x4\"");
	else if (resolve_layout(e, written, layout_range(written)))
		layout_finish(&e->m->mesh);
	else
		layout_default(&e->m->mesh);
	e->on_command_line = false;
}
