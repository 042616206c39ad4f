/*
 * shardings.c - the mesh and placements, as Shardy writes them.
 *
 *   <@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"z"}>
 *
 * Axes of size 1 move nothing: the module does not have them.  An axis that is called by
 * other than letters and digits, "mesh-x", has _ in their place, and a number behind where
 * another is called so.  A second mesh is of the same devices: its axes are parts of the
 * first one's.
 *
 *   @mesh <["x"=2, "y"=4]>    @other <["a"=4, "b"=2]>      a is x, y:(1)2, and b is y:(2)2
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

/* Of those that the module declares the first with most axes. */
static const MlirAttr *
find_mesh(Import *in)
{
	const MlirBlock *top = in->program->module->regions.v[0];
	const MlirAttr *found = NULL;

	in->meshes = table_new(in->arena);
	for (int i = 0; i < top->ops.n; i++) {
		const MlirOp *op = top->ops.v[i];
		const MlirAttr *mesh =
			strcmp(op->name, "sdy.mesh") ? NULL : attr_of(in, op, "mesh");
		if (mesh)
			table_set(in->meshes, word_of(in, op, "sym_name"), (void *)op);
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
	int64_t ndevices = 1;
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
		if (axes[i].size > MAX_DEVICES
			|| (!options->nsized && (ndevices *= axes[i].size) > MAX_DEVICES))
			return read_wrong(in, axes[i].range, "a mesh has at most %d devices",
				MAX_DEVICES);
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

/* The part of an axis of n devices that the text means; false after a message. */
static bool
part_read(Import *in, const MlirAxis *from, int64_t n, int64_t *pre, int64_t *size)
{
	int64_t parts;

	*pre = from->size ? from->pre : 1;
	*size = from->size ? from->size : n;
	return !from->size
		|| (from->pre > 0 && from->size > 1 && mul_i64(from->pre, from->size, &parts)
			&& parts <= n && n % parts == 0)
		|| read_wrong(in, from->range,
			"axis \"%s\" has no such part: it has %lld devices", from->name,
			(long long)n);
}

static bool
add_part(Import *in, const MlirAxis *from, AxisRef a, AxisList *l)
{
	if (axes_overlap(&in->manual, a))
		return true;
	if (axes_overlap(l, a) || !axes_can_coexist(l, a) || l->n >= MAX_PIECES / 2)
		return read_wrong(in, from->range, "axis \"%s\" stands here twice", from->name);
	axes_append(l, a);
	return true;
}

static bool
add_axis(Import *in, const MlirAxis *from, AxisList *l)
{
	const Mesh *mesh = &in->module->mesh;
	int axis = mesh_axis(mesh, axis_name(in, from->name));
	int64_t pre, size;

	if (axis < 0)
		return is_short(in, from->name)
			|| read_wrong(in, from->range, "the mesh has no axis \"%s\"",
				from->name);
	AxisRef a = axis_whole(mesh, axis);
	if (!part_read(in, from, a.size, &pre, &size))
		return false;
	a.pre = (uint32_t)pre & ((1u << 28) - 1);
	a.size = (int32_t)size;
	return add_part(in, from, a, l);
}

/* ---- a second mesh */

static bool
same_devices(List a, List b)
{
	bool same = a.n == b.n;

	for (int i = 0; i < a.n && same; i++)
		same = ((const MlirAttr *)a.v[i])->integer
			== ((const MlirAttr *)b.v[i])->integer;
	return same;
}

/* Of the axis in the other mesh, its size and how far its neighbours are apart. */
static const MlirAxis *
other_axis(const MlirAttr *mesh, const char *name, int64_t *stride, int64_t *ndevices)
{
	const MlirAxis *found = NULL;

	*ndevices = *stride = 1;
	for (int i = mesh->items.n; i-- > 0;) {
		const MlirAxis *axis = mesh->items.v[i];
		if (!strcmp(axis->name, name)) {
			found = axis;
			*stride = *ndevices;
		}
		if (axis->size < 1 || !mul_i64(*ndevices, axis->size, ndevices))
			return NULL;
	}
	return found;
}

/* Devices of a part differ in what their number has between `low` and `high`: parts of the
   first mesh's axes. */
static bool
add_between(Import *in, const MlirAxis *from, int64_t low, int64_t high, AxisList *l)
{
	const Mesh *mesh = &in->written;

	for (int i = 0; i < mesh->naxes; i++) {
		AxisRef a = axis_whole(mesh, i);
		int64_t begin = axis_ref_stride(mesh, a), end = begin * a.size;
		int64_t first = low > begin ? low : begin, last = high < end ? high : end;
		if (first >= last)
			continue;
		if (last % first || end % last || first % begin)
			return read_wrong(in, from->range,
				"axis \"%s\" of a second mesh is no part of the axes of the "
				"first",
				from->name);
		a.pre = (uint32_t)(end / last) & ((1u << 28) - 1);
		a.size = (int32_t)(last / first);
		if (!add_part(in, from, a, l))
			return false;
	}
	return true;
}

static bool
add_other_axis(Import *in, const MlirOp *other, const MlirAxis *from, AxisList *l)
{
	const MlirAttr *mesh = attr_of(in, other, "mesh");
	const char *name = word_of(in, other, "sym_name");
	int64_t stride, ndevices, pre, size;
	const MlirAxis *axis = other_axis(mesh, from->name, &stride, &ndevices);
	int same = mesh_axis(&in->module->mesh, axis_name(in, from->name));

	if (!axis)
		return read_wrong(in, from->range, "the mesh @%s has no axis \"%s\"", name,
			from->name);
	if (ndevices != in->written.ndevices || !same_devices(mesh->ids, in->mesh->ids))
		return read_wrong(in, from->range,
			"the mesh @%s is not of the same devices, in the same order, as the "
			"first",
			name);
	if (same >= 0 && in->written.axes[same].size == axis->size
		&& axis_ref_stride(&in->written, axis_whole(&in->written, same)) == stride)
		return add_axis(in, from, l);
	if (in->resized)
		return read_wrong(in, from->range,
			"the text has a second mesh, @%s: --mesh cannot give axes other sizes",
			name);
	if (!part_read(in, from, axis->size, &pre, &size))
		return false;
	int64_t high = stride * axis->size / pre;
	return add_between(in, from, high / size, high, l);
}

bool
axes_read(Import *in, const char *mesh, List axes, AxisList *l)
{
	const MlirOp *other = mesh ? table_get(in->meshes, mesh) : NULL;
	bool first = !other || attr_of(in, other, "mesh") == in->mesh;

	*l = (AxisList){0};
	if (axes.n && mesh && !other && table_count(in->meshes))
		return read_wrong(in, ((const MlirAxis *)axes.v[0])->range,
			"there is no mesh @%.40s", mesh);
	for (int i = 0; i < axes.n; i++)
		if (!(first ? add_axis(in, axes.v[i], l)
			    : add_other_axis(in, other, axes.v[i], l)))
			return false;
	return true;
}

bool
sharding_read(Import *in, const MlirAttr *attr, int rank, bool pair, Placement *p)
{
	const MlirSharding *from = attr->sharding;
	AxisList axes, used = {0};

	if (attr->kind != MLIR_sharding)
		return read_wrong(in, attr->range, "this is no sharding");
	*p = placement_none(rank);
	rank -= pair; /* which is never split */
	if (from->dims.n != rank)
		return from->dims.n == 0
			|| read_wrong(in, attr->range,
				"a sharding of %d dims, of a tensor of %d", from->dims.n, rank);
	for (int d = 0; d < rank; d++) {
		const MlirDim *dim = from->dims.v[d];
		if (!axes_read(in, from->mesh, dim->axes, &axes))
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
	if (!axes_read(in, from->mesh, from->replicated, &axes))
		return false;
	placement_set_replicated(p, &axes);
	if (!axes_read(in, from->mesh, from->unreduced, &axes))
		return false;
	placement_set_unreduced(p, &axes, C_add);
	return placement_is_sound(p)
		|| read_wrong(in, attr->range, "an axis stands twice in this sharding");
}
