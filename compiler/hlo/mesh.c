/*
 * mesh.c - the mesh of a module: its axes, the hardware, and where on it they lie.
 *
 *     mesh="X=2,Y=4",
 *     target="v5e",
 *     topology="2x4",
 *     layout="X=x,Y=y"
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"
#include "ir/layout.h"

/* ---- printing -------------------------------------------------------- */

void
print_mesh(const Printer *pr, Text *t)
{
	const Mesh *mesh = &pr->m->mesh;
	Text value = {0};

	for (int i = 0; i < mesh->naxes; i++)
		text_printf(&value, "%s%s=%lld", i ? "," : "", mesh->axes[i].name,
			(long long)mesh->axes[i].size);
	module_fact(t, "mesh", text_take(&value, pr->arena));
	module_fact(t, "target", mesh->target->name);
	if (!mesh->target->built_in)
		module_fact(t, "facts", mesh->target->text);
	if (!mesh->topology_rank)
		return;
	text_topology(&value, mesh);
	module_fact(t, "topology", text_take(&value, pr->arena));
	text_layout(&value, mesh);
	module_fact(t, "layout", text_take(&value, pr->arena));
	if (mesh->ring)
		module_fact(t, "ring", "yes");
}

/* ---- reading --------------------------------------------------------- */

/* X=2,Y=4 */
void
read_mesh(Reading *rd, const Fact *f)
{
	Mesh *mesh = &rd->m->mesh;
	Cursor c = fact_cursor(rd, f);

	for (mesh->naxes = 0; cursor_item(&c, mesh->naxes, "");) {
		MeshAxis axis = {.name = cursor_word(&c, "an axis")};
		cursor_expect(&c, "=");
		axis.size = cursor_integer(&c, "its size");
		if (rd->failed)
			return;
		if (!is_identifier(axis.name) || mesh->naxes == MAX_AXES || axis.size < 1
			|| axis.size > MAX_DEVICES
			|| mesh->ndevices * axis.size > MAX_DEVICES) {
			cursor_error(&c, "no mesh has such an axis %s", axis.name);
			return;
		}
		for (int i = 0; i < mesh->naxes; i++)
			if (!strcmp(mesh->axes[i].name, axis.name))
				cursor_error(&c, "axis %s is there twice", axis.name);
		mesh->ndevices *= axis.size;
		mesh->axes[mesh->naxes++] = axis;
	}
	rd->mesh = mesh_text(mesh, rd->arena);
}

/* 2x4, or 3*2x4: of three slices */
void
read_topology(Reading *rd, const Fact *f)
{
	Mesh *mesh = &rd->m->mesh;
	Cursor c = fact_cursor(rd, f);
	int64_t size = cursor_integer(&c, "a size");

	mesh->slices = 1;
	if (cursor_accept(&c, "*")) {
		mesh->slices = size;
		size = cursor_integer(&c, "a size");
	}
	for (;; size = cursor_integer(&c, "a size")) {
		if (mesh->topology_rank == MAX_TOPOLOGY_RANK || size < 1 || mesh->slices < 1) {
			cursor_error(&c, "no such topology");
			return;
		}
		mesh->topology[mesh->topology_rank++] = size;
		if (!cursor_accept(&c, "x"))
			break;
	}
	cursor_expect_end(&c);
	const char *fault = slice_fault(mesh, rd->arena);
	if (fault)
		cursor_error(&c, "%s", fault);
	else
		layout_default(mesh); /* unless the dump says another */
}

/* The text of its file, of a target that is not built in. */
void
read_facts(Reading *rd, const Fact *f)
{
	int file = source_add_text(rd->session, "<facts>", f->value, f->length);
	const Target *target = target_read(rd->session, file, DIAG_hlo_invalid, "<facts>");

	if (target)
		rd->m->mesh.target = target;
	else
		hlo_error(rd, f->where, "the facts of the target are not right");
}

/* Its name, where there are facts. */
void
read_target(Reading *rd, const Fact *f)
{
	Mesh *mesh = &rd->m->mesh;
	Arena *a = rd->session->arena;

	if (!mesh->target->built_in) {
		Target *named = arena_copy(a, mesh->target, sizeof *mesh->target);
		named->name = arena_strndup(a, f->value, (size_t)f->length);
		mesh->target = named;
	} else if (target_by_name(f->value)) {
		mesh->target = target_by_name(f->value);
	} else {
		hlo_error(rd, f->where, "unknown target '%s'", f->value);
	}
}

/* y, or y:(2)4 */
static LayoutPart
read_part(Cursor *c)
{
	const Mesh *mesh = &c->rd->m->mesh;
	const char *name = cursor_word(c, "a physical axis");
	int p = 0;

	while (p < PHYSICAL_COUNT && strcmp(physical_names[p], name) != 0)
		p++;
	if (p == PHYSICAL_COUNT) {
		cursor_error(c, "no physical axis is called %s", name);
		return (LayoutPart){PHYSICAL_x, 1, 1};
	}
	LayoutPart part = {(PhysicalAxis)p, 1, physical_size(mesh, (PhysicalAxis)p)};
	if (cursor_accept(c, ":")) {
		cursor_expect(c, "(");
		part.pre = cursor_integer(c, "the size of the part before");
		cursor_expect(c, ")");
		part.size = cursor_integer(c, "the size of the part");
	}
	return part;
}

/* X=x,Y=(y,z:(1)2) */
void
read_layout(Reading *rd, const Fact *f)
{
	Mesh *mesh = &rd->m->mesh;
	Cursor c = fact_cursor(rd, f);
	LayoutPlace where;

	memset(mesh->layout, 0, sizeof mesh->layout);
	mesh->ring = false;
	for (int n = 0; cursor_item(&c, n, ""); n++) {
		const char *name = cursor_word(&c, "an axis");
		int axis = mesh_axis(mesh, name);
		cursor_expect(&c, "=");
		if (rd->failed || axis < 0 || mesh->layout[axis].n) {
			cursor_error(&c, "there is no axis %s to lay out", name);
			return;
		}
		AxisLayout *layout = &mesh->layout[axis];
		bool several = cursor_accept(&c, "(");
		do {
			if (layout->n == MAX_LAYOUT_PARTS)
				cursor_error(&c, "more than %d parts", MAX_LAYOUT_PARTS);
			else
				layout->part[layout->n++] = read_part(&c);
		} while (!rd->failed && several && cursor_accept(&c, ","));
		if (several)
			cursor_expect(&c, ")");
	}
	const char *fault = rd->failed ? NULL : layout_fault(mesh, rd->arena, &where);
	if (fault)
		hlo_error(rd, f->where, "%s", fault);
	else
		layout_finish(mesh);
}

void
read_ring(Reading *rd, const Fact *f)
{
	Mesh *mesh = &rd->m->mesh;

	if (strcmp(f->value, "yes") != 0 || !slice_has_ring(mesh)) {
		hlo_error(rd, f->where, "the chips of this slice are not along a ring");
		return;
	}
	mesh->ring = true;
	layout_finish(mesh);
}
