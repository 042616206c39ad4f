/*
 * layout.h - slices of targets, and how the axes of a mesh lie on their chips.
 *
 *   mesh [data=16, model=16] on "v4:4x8x8"
 *       layout (model=(x, y:(4)2, z:(4)2), data=(y:(1)4, z:(1)4));
 */
#ifndef SHDC_LAYOUT_H
#define SHDC_LAYOUT_H

#include "ir/ir.h"
#include "ir/targets.h"

/* ---- slices (slice.c) */

extern const char *const physical_names[PHYSICAL_COUNT];
/* How long the mesh's slices are along it; 1 where they have no such axis. */
int64_t physical_size(const Mesh *mesh, PhysicalAxis along);
int64_t slice_chips(const Mesh *mesh);
/* Has dim d of its torus links from its end to its beginning? */
bool slice_wraps(const Mesh *mesh, int d);
/* 2*4x4x8 */
void text_topology(Text *t, const Mesh *mesh);
/* Why no slice of the target's has such dims, or so many chips; NULL. */
const char *dims_fault(const Target *target, const TorusDims *dims, Arena *a);
/* Why the mesh's slices cannot be, or are no slices for so many devices; NULL. */
const char *slice_fault(const Mesh *mesh, Arena *a);
/* Can they be had in the cloud?  Yes, where nothing is known of that. */
bool slice_is_offered(const Mesh *mesh);
/* The one of so many chips that the cloud offers. */
bool slice_of_chips(const Target *target, int64_t chips, TorusDims *slice);

/* ---- layouts (layout.c) */

/* Where in the layout a fault is: part -1 for all of an axis, axis -1 for all. */
typedef struct LayoutPlace {
	int axis, part;
} LayoutPlace;
/* Why it is none: physical axes are used twice or not at all, ...; NULL. */
const char *layout_fault(const Mesh *mesh, Arena *a, LayoutPlace *where);
/* X=(x,y:(4)2),Y=y:(1)4: axes of size 1 are left out. */
void text_layout(Text *t, const Mesh *mesh);
/* Where a device is: of each physical axis the place along it. */
void mesh_coordinates(const Mesh *mesh, int64_t device, int64_t coordinates[PHYSICAL_COUNT]);
/* The device there. */
int64_t mesh_device_at(const Mesh *mesh, const int64_t coordinates[PHYSICAL_COUNT]);
/* Could its chips be numbered along a ring? */
bool slice_has_ring(const Mesh *mesh);
/* Sets what follows from the parts. */
void layout_finish(Mesh *mesh);

/* ---- where the program says nothing of it (layout_default.c) */
void layout_default(Mesh *mesh);

#endif
