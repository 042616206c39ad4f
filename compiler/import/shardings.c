/*
 * shardings.c - the mesh and placements, as Shardy writes them.
 *
 *   <@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"z"}>
 *
 * Axes of size 1 move nothing: the module does not have them.  An axis that is called by
 * other than letters and digits, "mesh-x", has _ in their place, and a number behind where
 * another is called so.
 */
#include <ctype.h>
#include <string.h>

#include "import/reader.h"

static bool
is_sized(const ImportOptions *options, const char *name)
{
	for (int i = 0; i < options->nsized; i++)
		if (!strcmp(options->sized[i], name))
			return true;
	return options->all_axes;
}

/* What our text may call it. */
static const char *
spelled(Import *in, const char *name)
{
	size_t n = strlen(name);

	if (is_identifier(name))
		return name;
	char *own = arena_strndup(in->session->arena, name, n);
	for (size_t i = 0; i < n; i++)
		if (!isascii((unsigned char)own[i]) || !isalnum((unsigned char)own[i]))
			own[i] = '_';
	return is_identifier(own) ? own : arena_printf(in->session->arena, "x%s", own);
}

/* Axes keep names that we can spell; of others that come to one, the second is told. */
static void
name_axes(Import *in, const MlirAttr *mesh)
{
	Table *taken = table_new(in->arena);

	in->axes = table_new(in->arena);
	for (int others = 0; others < 2; others++)
		for (int i = 0; mesh && i < mesh->items.n; i++) {
			const MlirAxis *axis = mesh->items.v[i];
			const char *plain = spelled(in, axis->name), *own = plain;
			if (others == is_identifier(axis->name)
				|| table_get(in->axes, axis->name))
				continue;
			for (int k = 2; !table_add(taken, own, in); k++)
				own = arena_printf(in->session->arena, "%s_%d", plain, k);
			table_set(in->axes, axis->name, (void *)own);
			if (own != plain)
				diag(in->session, DIAG_jax_axis, axis->range,
					"axis \"%s\" is called %s here: there is another %s",
					axis->name, own, plain);
		}
}

/* What is called so on the command line may be in no text. */
static const char *
axis_name(Import *in, const char *name)
{
	const char *own = table_get(in->axes, name);

	return own ? own : spelled(in, name);
}

/* The axes of a mesh of more than one device that are longer than 1, or could be. */
static int
long_axes(Import *in, const MlirAttr *mesh, const ImportOptions *options, MeshAxis *axes)
{
	int n = 0;

	for (int i = 0; i < mesh->items.n; i++) {
		const MlirAxis *axis = mesh->items.v[i];
		const char *name = axis_name(in, axis->name);
		if ((axis->size != 1 || is_sized(options, name)) && n <= MAX_AXES)
			axes[n++ % (MAX_AXES + 1)] =
				(MeshAxis){name, axis->size, axis->range, axis->name};
	}
	return n;
}

/* The first op of the module that declares the one with most axes. */
static const MlirAttr *
find_mesh(Import *in)
{
	const MlirBlock *top = in->program->module->regions.v[0];
	const MlirAttr *found = NULL;

	for (int i = 0; i < top->ops.n; i++) {
		const MlirOp *op = top->ops.v[i];
		const MlirAttr *mesh =
			strcmp(op->name, "sdy.mesh") ? NULL : attr_of(in, op, "mesh");
		if (mesh && mesh->kind == MLIR_mesh
			&& (!found || mesh->items.n > found->items.n))
			found = mesh;
	}
	return found;
}

bool
mesh_read(Import *in, const ImportOptions *options)
{
	MeshAxis axes[MAX_AXES + 1];
	const MlirAttr *named = find_mesh(in), *mesh = named ? named : in->mesh;
	Range where = mesh ? mesh->range : nowhere;
	int n;

	in->tiled = named ? NULL : in->tiled;
	in->mesh = mesh;
	name_axes(in, mesh);
	n = mesh ? long_axes(in, mesh, options, axes) : 0;
	if (n > MAX_AXES)
		return read_wrong(in, where, "a mesh has at most %d axes longer than 1",
			MAX_AXES);
	for (int i = 0; i < n; i++) {
		if (axes[i].size < 1)
			return read_wrong(in, axes[i].range, "an axis has at least one device");
		for (int j = 0; j < i; j++)
			if (!strcmp(axes[j].name, axes[i].name))
				return read_wrong(in, axes[i].range,
					"two axes are called %.40s", axes[i].name);
	}
	if (!options->mesh(options->data, in->module, n, axes, where))
		return false;
	in->written = in->module->mesh;
	in->written.ndevices = 1;
	for (int i = 0; i < n; i++) {
		in->resized |= in->module->mesh.axes[i].size != axes[i].size;
		in->written.axes[i].size = axes[i].size;
		in->module->mesh.axes[i].written = axes[i].written;
		in->written.ndevices *= axes[i].size;
	}
	return true;
}

/* Of size 1, in the mesh of the text. */
static bool
is_short(Import *in, const char *name)
{
	const MlirAttr *mesh = in->mesh;

	for (int i = 0; mesh && i < mesh->items.n; i++) {
		const MlirAxis *axis = mesh->items.v[i];
		if (!strcmp(axis->name, name))
			return axis->size == 1;
	}
	return false;
}

bool
axis_is_known(Import *in, const char *name)
{
	return mesh_axis(&in->module->mesh, axis_name(in, name)) >= 0 || is_short(in, name);
}

bool
axes_keep_sizes(Import *in, const AxisList *l, Range where)
{
	const Mesh *now = &in->module->mesh, *written = &in->written;

	for (int i = 0; i < l->n; i++) {
		int axis = l->a[i].axis;
		if (now->axes[axis].size != written->axes[axis].size)
			return read_wrong(in, where,
				"this runs on each device by itself along %s, of which the "
				"text has %lld: --mesh cannot give that another size",
				now->axes[axis].name, (long long)written->axes[axis].size);
	}
	return true;
}

static bool
add_axis(Import *in, const MlirAxis *from, AxisList *l)
{
	const Mesh *mesh = &in->module->mesh;
	int axis = mesh_axis(mesh, axis_name(in, from->name));

	if (axis < 0)
		return is_short(in, from->name)
			|| read_wrong(in, from->range, "the mesh has no axis \"%s\"",
				from->name);
	AxisRef a = axis_whole(mesh, axis);
	int64_t whole = a.size, parts;
	if (from->size) {
		bool divides = from->pre > 0 && from->size > 1
			&& mul_i64(from->pre, from->size, &parts) && parts <= whole
			&& whole % parts == 0;
		if (!divides)
			return read_wrong(in, from->range,
				"axis \"%s\" has no such part: it has %lld devices", from->name,
				(long long)whole);
		a.pre = (uint32_t)from->pre & ((1u << 28) - 1);
		a.size = (int32_t)from->size;
	}
	if (axes_overlap(&in->manual, a))
		return true;
	if (axes_overlap(l, a) || !axes_can_coexist(l, a) || l->n >= MAX_PIECES / 2)
		return read_wrong(in, from->range, "axis \"%s\" stands here twice", from->name);
	axes_append(l, a);
	return true;
}

bool
axes_read(Import *in, List axes, AxisList *l)
{
	*l = (AxisList){0};
	for (int i = 0; i < axes.n; i++)
		if (!add_axis(in, axes.v[i], l))
			return false;
	return true;
}

bool
sharding_read(Import *in, const MlirAttr *attr, int rank, Placement *p)
{
	const MlirSharding *from = attr->sharding;
	AxisList axes, used = {0};

	if (attr->kind != MLIR_sharding)
		return read_wrong(in, attr->range, "this is no sharding");
	*p = placement_none(rank);
	rank -= in->pairs && from->dims.n + 1 == rank; /* a pair is never split */
	if (from->dims.n != rank)
		return from->dims.n == 0
			|| read_wrong(in, attr->range,
				"a sharding of %d dims, of a tensor of %d", from->dims.n, rank);
	for (int d = 0; d < rank; d++) {
		const MlirDim *dim = from->dims.v[d];
		if (!axes_read(in, dim->axes, &axes))
			return false;
		for (int i = 0; i < axes.n; i++) {
			if (axes_overlap(&used, axes.a[i]) || used.n == MAX_PIECES / 2)
				return read_wrong(in, dim->range,
					"axis \"%s\" stands here twice",
					in->module->mesh.axes[axes.a[i].axis].written);
			axes_append(&used, axes.a[i]);
		}
		placement_set_dim(p, d, &axes);
		p->priority[d] = (uint8_t)dim->priority;
		p->open |= (uint16_t)(dim->open ? 1u << d : 0);
	}
	if (!axes_read(in, from->replicated, &axes))
		return false;
	placement_set_replicated(p, &axes);
	if (!axes_read(in, from->unreduced, &axes))
		return false;
	placement_set_unreduced(p, &axes, C_add);
	return placement_is_sound(p)
		|| read_wrong(in, attr->range, "an axis stands twice in this sharding");
}
