/*
 * layout.c - the axes of a mesh on the physical axes of its slices.
 *
 *   X=(y:(1)4,x)   X = 4 times the place along x ... and which quarter of y
 *
 * A coordinate along a mesh axis is a number of mixed radix, a digit for each part.
 * Together the parts have every digit of every physical axis once, so that each
 * device has a chip of its own.
 */
#include <string.h>

#include "ir/layout.h"

/* ---- is it one? ---------------------------------------------------------------- */

static const char *
text_part(LayoutPart part, const Mesh *mesh, Arena *a)
{
	if (part.pre == 1 && part.size == physical_size(mesh, part.along))
		return physical_names[part.along];
	return arena_printf(a, "%s:(%lld)%lld", physical_names[part.along], (long long)part.pre,
		(long long)part.size);
}

/* Of one part, beside those of the axes before it. */
static const char *
part_fault(const Mesh *mesh, Arena *a, LayoutPlace here)
{
	LayoutPart part = mesh->layout[here.axis].part[here.part];
	const char *name = physical_names[part.along], *self = text_part(part, mesh, a);
	int64_t all = physical_size(mesh, part.along), end;
	bool there = part.along == PHYSICAL_core ? mesh->target->devices_per_chip > 1
		: part.along == PHYSICAL_slice	 ? mesh->slices > 1
						 : (int)part.along < mesh->topology_rank;

	if (!there)
		return arena_printf(a,
			part.along == PHYSICAL_slice ? "there is one slice: no axis %s"
				: part.along == PHYSICAL_core
				? "a chip is one device: no axis %s"
				: "the topology has no axis %s",
			name);
	if (part.pre < 1 || part.size < 1 || !mul_i64(part.pre, part.size, &end) || all % end)
		return arena_printf(a, "%s is no part of %s, which is %lld long", self, name,
			(long long)all);
	for (int x = 0; x <= here.axis; x++)
		for (int i = 0; i < (x < here.axis ? mesh->layout[x].n : here.part); i++) {
			LayoutPart other = mesh->layout[x].part[i];
			if (other.along != part.along || part.size == 1 || other.size == 1
				|| other.pre >= end || part.pre >= other.pre * other.size)
				continue;
			const char *first = text_part(other, mesh, a);
			return strcmp(first, self) == 0
				? arena_printf(a, "%s is used twice", self)
				: arena_printf(a, "%s and %s overlap", first, self);
		}
	return NULL;
}

const char *
layout_fault(const Mesh *mesh, Arena *a, LayoutPlace *where)
{
	int64_t used[PHYSICAL_COUNT] = {1, 1, 1, 1, 1};

	for (int x = 0; x < mesh->naxes; x++) {
		int64_t size = 1;
		for (int i = 0; i < mesh->layout[x].n; i++) {
			LayoutPart part = mesh->layout[x].part[i];
			*where = (LayoutPlace){x, i};
			const char *fault = part_fault(mesh, a, *where);
			if (fault)
				return fault;
			size *= part.size;
			used[part.along] *= part.size;
		}
		*where = (LayoutPlace){x, -1};
		if (!mesh->layout[x].n && mesh->axes[x].size > 1)
			return arena_printf(a, "axis %s of %lld devices is not laid out",
				mesh->axes[x].name, (long long)mesh->axes[x].size);
		if (size != mesh->axes[x].size)
			return arena_printf(a, "axis %s has %lld devices, its layout %lld",
				mesh->axes[x].name, (long long)mesh->axes[x].size,
				(long long)size);
	}
	*where = (LayoutPlace){-1, -1};
	for (int p = 0; p < PHYSICAL_COUNT; p++) {
		int64_t all = physical_size(mesh, (PhysicalAxis)p);
		if (used[p] != all)
			return used[p] == 1
				? arena_printf(a, "no axis lies along %s, which is %lld long",
					physical_names[p], (long long)all)
				: arena_printf(a, "axes lie along %lld of the %lld of %s",
					(long long)used[p], (long long)all, physical_names[p]);
	}
	return NULL;
}

void
text_layout(Text *t, const Mesh *mesh)
{
	const char *between = "";
	Arena *a = arena_new();

	for (int x = 0; x < mesh->naxes; x++) {
		const AxisLayout *layout = &mesh->layout[x];
		if (!layout->n)
			continue;
		text_printf(t, "%s%s=%s", between, mesh->axes[x].name,
			layout->n > 1 ? "(" : "");
		for (int i = 0; i < layout->n; i++)
			text_printf(t, "%s%s", i ? "," : "",
				text_part(layout->part[i], mesh, a));
		text_add(t, layout->n > 1 ? ")" : "");
		between = ",";
	}
	arena_free(a);
}

/* ---- coordinates --------------------------------------------------------------- */

/* In steps of `size`, backwards where the next axis is at an odd place. */
static int64_t
there_and_back(int64_t place, int64_t size, int64_t next)
{
	int64_t first = place - place % size;

	return next % 2 ? first + size - 1 - place % size : place;
}

/* From the row-major digits of a chip's number along the ring to the chip:
   neighbouring numbers are neighbouring chips, the last of them beside the first. */
static void
chip_on_ring(const Mesh *mesh, int64_t c[PHYSICAL_COUNT])
{
	static const int comb[16] = {0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4};
	int64_t x = c[PHYSICAL_x], y = c[PHYSICAL_y], z = c[PHYSICAL_z];
	bool cores = mesh->target->devices_per_chip > 1;

	if (mesh->topology[0] == 4 && mesh->topology[1] == 4 && !cores) {
		c[PHYSICAL_x] = comb[y * 4 + x] % 4;
		c[PHYSICAL_y] = comb[y * 4 + x] / 4;
	} else if (mesh->topology[0] == 2 && mesh->topology[1] == 4 && !cores) {
		c[PHYSICAL_y] = there_and_back(y, 4, x);
	} else {
		/* of several devices a chip, each 2 x 2 of a host is a ring */
		c[PHYSICAL_x] = there_and_back(x, cores ? 2 : mesh->topology[0], y);
		if (!cores)
			c[PHYSICAL_y] = there_and_back(y, mesh->topology[1], z);
	}
}

void
mesh_coordinates(const Mesh *mesh, int64_t device, int64_t coordinates[PHYSICAL_COUNT])
{
	memset(coordinates, 0, PHYSICAL_COUNT * sizeof *coordinates);
	for (int x = mesh->naxes - 1; x >= 0; x--) {
		int64_t index = device % mesh->axes[x].size;
		device /= mesh->axes[x].size;
		for (int i = mesh->layout[x].n - 1; i >= 0; i--) {
			LayoutPart part = mesh->layout[x].part[i];
			int64_t stride =
				physical_size(mesh, part.along) / (part.pre * part.size);
			coordinates[part.along] += index % part.size * stride;
			index /= part.size;
		}
	}
	if (mesh->ring)
		chip_on_ring(mesh, coordinates);
}

/* The digits that chip_on_ring() makes this chip of: a chip of the same host, or of
   the same small slice. */
static void
number_on_ring(const Mesh *mesh, int64_t c[PHYSICAL_COUNT])
{
	int64_t step = mesh->target->devices_per_chip > 1 ? 2 : 4;
	int64_t x = c[PHYSICAL_x] - c[PHYSICAL_x] % step;
	int64_t y = c[PHYSICAL_y] - c[PHYSICAL_y] % step;

	for (int64_t i = 0; i < step * step * 2; i++) {
		int64_t z = step == 2 || mesh->topology_rank < 3 ? c[PHYSICAL_z]
								 : i / (step * step);
		int64_t here[PHYSICAL_COUNT] = {x + i % step, y + i / step % step, z};
		int64_t there[PHYSICAL_COUNT] = {here[0], here[1], here[2]};
		if (here[PHYSICAL_x] >= mesh->topology[0]
			|| here[PHYSICAL_y] >= mesh->topology[1])
			continue;
		chip_on_ring(mesh, there);
		if (memcmp(there, c, 3 * sizeof *c) == 0) {
			memcpy(c, here, 3 * sizeof *c);
			return;
		}
	}
	die("a chip that is not on the ring");
}

int64_t
mesh_device_at(const Mesh *mesh, const int64_t coordinates[PHYSICAL_COUNT])
{
	int64_t c[PHYSICAL_COUNT], device = 0;

	memcpy(c, coordinates, sizeof c);
	if (mesh->ring)
		number_on_ring(mesh, c);
	for (int x = 0; x < mesh->naxes; x++)
		for (int i = 0; i < mesh->layout[x].n; i++) {
			LayoutPart part = mesh->layout[x].part[i];
			int64_t stride =
				physical_size(mesh, part.along) / (part.pre * part.size);
			device = device * part.size + c[part.along] / stride % part.size;
		}
	return device;
}

void
layout_finish(Mesh *mesh)
{
	int64_t cores = mesh->target->devices_per_chip;
	int64_t chips = cores > 1 ? 4 : slice_chips(mesh);

	for (int x = 0; x < mesh->naxes; x++) {
		AxisLayout *layout = &mesh->layout[x];
		int64_t here[PHYSICAL_COUNT] = {1, 1, 1, 1, 1};
		for (int i = 0; i < layout->n; i++)
			here[layout->part[i].along] *= layout->part[i].size;
		layout->ring = mesh->ring && here[PHYSICAL_slice] == 1
			&& here[PHYSICAL_x] * here[PHYSICAL_y] * here[PHYSICAL_z] == chips
			&& here[PHYSICAL_core] == cores;
	}
}
