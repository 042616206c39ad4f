/*
 * slice.c - what chips a slice of a target has, and which slices there are.
 *
 *   v5p:4x4x8     128 chips, a torus of 4 by 4 by 8
 */
#include <string.h>

#include "ir/layout.h"

const char *const physical_names[PHYSICAL_COUNT] = {"x", "y", "z", "core", "slice"};

int64_t
physical_size(const Mesh *mesh, PhysicalAxis along)
{
	if (!mesh->topology_rank)
		return 1;
	if (along == PHYSICAL_core)
		return mesh->target->devices_per_chip;
	if (along == PHYSICAL_slice)
		return mesh->slices;
	return (int)along < mesh->topology_rank ? mesh->topology[along] : 1;
}

int64_t
slice_chips(const Mesh *mesh)
{
	int64_t chips = 1;

	for (int i = 0; i < mesh->topology_rank; i++)
		chips *= mesh->topology[i];
	return chips;
}

bool
slice_wraps(const Mesh *mesh, int d)
{
	int64_t multiple = mesh->target->wrap_multiple;
	bool cubes = multiple > 0;

	for (int i = 0; i < mesh->topology_rank; i++)
		cubes = cubes && mesh->topology[i] % multiple == 0;
	return cubes || mesh->topology[d] == mesh->target->wrap_size;
}

void
text_topology(Text *t, const Mesh *mesh)
{
	if (mesh->slices > 1)
		text_printf(t, "%lld*", (long long)mesh->slices);
	text_numbers(t, mesh->topology_rank, mesh->topology, "x");
}

/* Longest first. */
static TorusDims
sorted(TorusDims dims)
{
	for (int i = 1; i < dims.n; i++)
		for (int k = i; k > 0 && dims.v[k - 1] < dims.v[k]; k--) {
			int64_t size = dims.v[k];
			dims.v[k] = dims.v[k - 1];
			dims.v[k - 1] = size;
		}
	return dims;
}

/* The dim that is longer than the pod's, the dims compared in any order; 0. */
static int64_t
too_long(const Target *target, const TorusDims *slice)
{
	TorusDims pod = sorted(target->pod), dims = sorted(*slice);

	for (int i = 0; i < dims.n; i++)
		if (dims.v[i] > pod.v[i])
			return dims.v[i];
	return 0;
}

static TorusDims
slice_dims(const Mesh *mesh)
{
	TorusDims dims = {.n = mesh->topology_rank};

	for (int i = 0; i < dims.n; i++)
		dims.v[i] = mesh->topology[i];
	return dims;
}

static const char *
size_fault(const Mesh *mesh, Arena *a)
{
	int64_t each = mesh->target->devices_per_chip, chips = slice_chips(mesh), devices;
	Text t = {0};

	if (mul_i64(chips, mesh->slices, &chips) && mul_i64(chips, each, &devices)
		&& devices == mesh->ndevices)
		return NULL;
	if (mesh->slices > 1)
		text_printf(&t, "%lld slices of ", (long long)mesh->slices);
	else
		text_add(&t, "topology ");
	text_numbers(&t, mesh->topology_rank, mesh->topology, "x");
	text_printf(&t, " %s %lld chip%s", mesh->slices > 1 ? "have" : "has", (long long)chips,
		chips == 1 ? "" : "s");
	if (each > 1)
		text_printf(&t, " of %lld devices each", (long long)each);
	text_printf(&t, ", the mesh has %lld device%s", (long long)mesh->ndevices,
		mesh->ndevices == 1 ? "" : "s");
	return text_take(&t, a);
}

const char *
dims_fault(const Target *target, const TorusDims *dims, Arena *a)
{
	Text t = {0};
	int64_t chips = 1;

	text_numbers(&t, dims->n, dims->v, "x");
	const char *topology = text_take(&t, a);
	if (dims->n != target->pod.n)
		return arena_printf(a, "%s has %d dim%s; %s is a torus of %d", topology,
			dims->n, dims->n == 1 ? "" : "s", target->name, target->pod.n);
	int64_t longest = too_long(target, dims);
	if (longest) {
		text_numbers(&t, target->pod.n, target->pod.v, "x");
		return arena_printf(a,
			"%s is too long for %s: a dim of %lld, and its pod is %s", topology,
			target->name, (long long)longest, text_take(&t, a));
	}
	for (int i = 0; i < dims->n; i++)
		if (!mul_i64(chips, dims->v[i], &chips) || chips > target->pod_chips)
			return arena_printf(a, "%s is too large for %s: its pod has %lld chips",
				topology, target->name, (long long)target->pod_chips);
	return NULL;
}

const char *
slice_fault(const Mesh *mesh, Arena *a)
{
	TorusDims dims = slice_dims(mesh);
	const char *fault = dims_fault(mesh->target, &dims, a);

	return fault ? arena_printf(a, "topology %s", fault) : size_fault(mesh, a);
}

/* ---- what the cloud offers ----------------------------------------------------- */

/* Slices of whole cubes, where all dims wrap. */
static bool
has_cubes(const Target *target)
{
	return target->wrap_multiple > 0 && target->cloud_slices.n > 0;
}

bool
slice_is_offered(const Mesh *mesh)
{
	const Slices *offered = &mesh->target->cloud_slices;
	TorusDims dims = sorted(slice_dims(mesh));
	bool cubes = has_cubes(mesh->target);

	for (int i = 0; i < dims.n; i++)
		cubes = cubes && dims.v[i] % mesh->target->wrap_multiple == 0;
	for (int i = 0; i < offered->n; i++) {
		TorusDims one = sorted(offered->v[i]);
		if (one.n == dims.n
			&& memcmp(one.v, dims.v, (size_t)dims.n * sizeof *dims.v) == 0)
			return true;
	}
	return cubes || offered->n == 0;
}

/* Of the boxes of so many cubes that fit into the pod the one of the least sum of
   sides, which ascend. */
static bool
box_of_cubes(const Target *target, int64_t cubes, TorusDims *slice)
{
	int64_t cube = target->wrap_multiple, least = INT64_MAX;

	for (int64_t i = 1; i * i * i <= cubes; i++)
		for (int64_t k = i; cubes % i == 0 && i * k * k <= cubes; k++) {
			TorusDims box = {3, {i * cube, k * cube, cubes / (i * k) * cube}};
			int64_t sum = box.v[0] + box.v[1] + box.v[2];
			if (cubes % (i * k) || sum >= least || too_long(target, &box))
				continue;
			least = sum;
			*slice = box;
		}
	return least < INT64_MAX;
}

bool
slice_of_chips(const Target *target, int64_t chips, TorusDims *slice)
{
	int64_t cube = target->wrap_multiple * target->wrap_multiple * target->wrap_multiple;

	if (chips < 1 || chips > target->pod_chips)
		return false;
	for (int i = 0; i < target->cloud_slices.n; i++) {
		int64_t here = 1;
		*slice = target->cloud_slices.v[i];
		for (int k = 0; k < slice->n; k++)
			here *= slice->v[k];
		if (here == chips)
			return true;
	}
	return has_cubes(target) && target->pod.n == 3 && chips % cube == 0
		&& box_of_cubes(target, chips / cube, slice);
}
