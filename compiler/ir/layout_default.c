/*
 * layout_default.c - where the axes of a mesh lie if the program does not say.
 *
 * As create_device_mesh(..., allow_split_physical_axes=True) of JAX 0.10.2 has it:
 * from the last axis to the first, each takes whole physical axes of its size, as
 * many as possible; if one finds none, each takes the best parts.  Some small slices
 * are numbered along a ring of links.  Of several slices each is laid out like that;
 * which slice is the major part of the first axis that their number divides, as
 * create_hybrid_device_mesh() would be asked for it.
 */
#include <string.h>

#include "ir/layout.h"

enum { MAX_PHYSICAL = 4 };

/* The devices of a slice as a box, and the sizes of the mesh in it. */
typedef struct Box {
	int n;
	PhysicalAxis along[MAX_PHYSICAL];
	int64_t size[MAX_PHYSICAL];
	int naxes;
	int64_t wanted[MAX_AXES];
	int64_t given[MAX_AXES][MAX_PHYSICAL]; /* of each physical axis to each axis */
} Box;

/* ---- whole physical axes ------------------------------------------------------- */

/* `most` of the axes that are left, the first such choice of the right size. */
static bool
take_whole(Box *box, int axis, int most, bool *taken)
{
	/* the first axis is the highest bit, so that choices go down */
	for (int set = (1 << box->n) - 1; set > 0; set--) {
		int64_t size = 1;
		int n = 0;
		for (int p = 0; p < box->n; p++)
			if (set >> (box->n - 1 - p) & 1) {
				n++;
				size *= taken[p] ? 0 : box->size[p];
			}
		if (n != most || size != box->wanted[axis])
			continue;
		for (int p = 0; p < box->n; p++)
			if (set >> (box->n - 1 - p) & 1) {
				taken[p] = true;
				box->given[axis][p] = box->size[p];
			}
		return true;
	}
	return false;
}

static bool
assign_whole(Box *box)
{
	bool taken[MAX_PHYSICAL] = {false};

	for (int axis = box->naxes - 1; axis >= 0; axis--) {
		bool found = false;
		for (int most = box->n; most > 0 && !found; most--)
			found = take_whole(box, axis, most, taken);
		if (!found && box->wanted[axis] > 1)
			return false;
	}
	return true;
}

/* ---- parts of them ------------------------------------------------------------- */

/* What speaks for a choice, in the order of its weight. */
typedef struct Merit {
	int64_t v[3 + MAX_PHYSICAL];
} Merit;

typedef struct Choice {
	const Box *box;
	int64_t used[MAX_PHYSICAL]; /* by the axes that have chosen */
	int64_t now[MAX_PHYSICAL], best[MAX_PHYSICAL];
	Merit merit;
	bool found;
} Choice;

static Merit
merit_of(const Choice *choice)
{
	Merit m = {{1, 0, 1}};

	for (int p = 0; p < choice->box->n; p++) {
		bool whole = choice->now[p] == choice->box->size[p];
		m.v[0] *= whole ? choice->now[p] : 1;
		m.v[1] += whole && choice->now[p] > 1;
		m.v[2] *= choice->used[p] > 1 ? choice->now[p] : 1;
		m.v[3 + p] = choice->now[p];
	}
	return m;
}

static bool
is_better(const Merit *a, const Merit *b)
{
	for (int i = 0; i < 3 + MAX_PHYSICAL; i++)
		if (a->v[i] != b->v[i])
			return a->v[i] > b->v[i];
	return false;
}

/* Every way to make `rest` of physical axis p and those behind it. */
static void
choose(Choice *choice, int p, int64_t rest)
{
	if (p == choice->box->n) {
		Merit merit = merit_of(choice);
		if (rest > 1 || (choice->found && !is_better(&merit, &choice->merit)))
			return;
		choice->found = true;
		choice->merit = merit;
		memcpy(choice->best, choice->now, sizeof choice->best);
		return;
	}
	int64_t free = choice->box->size[p] / choice->used[p];
	for (int64_t size = 1; size <= free && size <= rest; size++)
		if (free % size == 0 && rest % size == 0) {
			choice->now[p] = size;
			choose(choice, p + 1, rest / size);
		}
}

static void
assign_parts(Box *box)
{
	Choice choice = {.box = box, .used = {1, 1, 1, 1}};

	for (int axis = box->naxes - 1; axis >= 0; axis--) {
		choice.found = false;
		choose(&choice, 0, box->wanted[axis]);
		if (!choice.found)
			die("a mesh of another size than its slices");
		for (int p = 0; p < box->n; p++) {
			box->given[axis][p] = choice.best[p];
			choice.used[p] *= choice.best[p];
		}
	}
}

static void
add_part(AxisLayout *layout, PhysicalAxis along, int64_t pre, int64_t size)
{
	if (size > 1)
		layout->part[layout->n++] = (LayoutPart){along, pre, size};
}

/* Of a physical axis that several share the last has the neighbours. */
static void
lay_on_torus(Mesh *mesh, Box *box)
{
	int64_t pre[MAX_PHYSICAL] = {1, 1, 1, 1};

	for (int axis = 0; axis < box->naxes; axis++)
		for (int p = 0; p < box->n; p++)
			box->given[axis][p] = 1;
	if (!assign_whole(box))
		assign_parts(box);
	for (int axis = 0; axis < box->naxes; axis++)
		for (int p = 0; p < box->n; p++) {
			add_part(&mesh->layout[axis], box->along[p], pre[p],
				box->given[axis][p]);
			pre[p] *= box->given[axis][p];
		}
}

/* ---- along rings, and host by host ----------------------------------------------- */

/* Digits of a device's number in its slice, major to minor. */
typedef struct Digits {
	int n;
	LayoutPart v[MAX_PHYSICAL + 1];
} Digits;

static void
add_digit(Digits *digits, PhysicalAxis along, int64_t pre, int64_t size)
{
	digits->v[digits->n++] = (LayoutPart){along, pre, size};
}

/* The last axis has the last digits; false where that is no part of a digit. */
static bool
lay_on_digits(Mesh *mesh, const Box *box, Digits digits)
{
	for (int axis = box->naxes - 1; axis >= 0; axis--) {
		AxisLayout *layout = &mesh->layout[axis], found = {0};
		int64_t rest = box->wanted[axis];
		while (rest > 1) {
			LayoutPart *last = &digits.v[digits.n - 1];
			int64_t size = last->size < rest ? last->size : rest;
			if (rest % size || last->size % size)
				return false;
			last->size /= size;
			add_part(&found, last->along, last->pre * last->size, size);
			digits.n -= last->size == 1;
			rest /= size;
		}
		while (found.n)
			layout->part[layout->n++] = found.part[--found.n];
	}
	return true;
}

bool
slice_has_ring(const Mesh *mesh)
{
	const Slices *rings = &mesh->target->ring_slices;
	const int64_t *size = mesh->topology;
	bool cores = mesh->target->devices_per_chip > 1, found = false;

	if (mesh->topology_rank < 2 || !rings->n)
		return false;
	for (int i = 0; i < rings->n; i++) {
		const TorusDims *one = &rings->v[i];
		bool same = one->n == mesh->topology_rank;
		for (int k = 2; k < one->n && same; k++)
			same = one->v[k] == size[k];
		found |= same
			&& ((one->v[0] == size[0] && one->v[1] == size[1])
				|| (one->n == 2 && one->v[0] == size[1]
					&& one->v[1] == size[0]));
	}
	if (mesh->topology_rank == 2 && cores)
		return size[0] % 2 == 0 && size[1] % 2 == 0;
	if (mesh->topology_rank == 2)
		return found && slice_chips(mesh) <= 16 && size[0] > 1 && size[1] > 1
			&& size[0] % 2 == 0 && size[1] % 2 == 0;
	return found && size[0] == 2 && size[1] == 2 && (cores || size[2] == 2);
}

/* Are this mesh's devices numbered along it? */
static bool
follows_ring(const Mesh *mesh, const Box *box)
{
	int64_t chips = slice_chips(mesh), most = 1;

	for (int axis = 0; axis < box->naxes; axis++)
		most = box->wanted[axis] > most ? box->wanted[axis] : most;
	if (!slice_has_ring(mesh))
		return false;
	if (mesh->topology_rank == 2 && mesh->target->devices_per_chip > 1)
		return chips == 4 || (box->naxes && box->wanted[box->naxes - 1] == 8);
	return chips < 16 || mesh->topology_rank > 2 || most == chips;
}

/* Of a host's 2 x 2 chips of a larger torus first the place of the host. */
static Digits
digits_of(const Mesh *mesh)
{
	int64_t x = mesh->topology[0], y = mesh->topology[1];
	int64_t cores = mesh->target->devices_per_chip;
	bool hosts = mesh->topology_rank == 2 && cores > 1, upright = !hosts && x < y;
	Digits digits = {0};

	if (mesh->topology_rank > 2)
		add_digit(&digits, PHYSICAL_z, 1, mesh->topology[2]);
	if (hosts) {
		add_digit(&digits, PHYSICAL_y, 1, y / 2);
		add_digit(&digits, PHYSICAL_x, 1, x / 2);
	}
	if (upright)
		add_digit(&digits, PHYSICAL_x, 1, x);
	add_digit(&digits, PHYSICAL_y, hosts ? y / 2 : 1, hosts ? 2 : y);
	if (!upright)
		add_digit(&digits, PHYSICAL_x, hosts ? x / 2 : 1, hosts ? 2 : x);
	add_digit(&digits, PHYSICAL_core, 1, cores);
	return digits;
}

/* ---- all of it ----------------------------------------------------------------------- */

/* Which slice: of the first axis that can say it all, else of several. */
static void
lay_slices(Mesh *mesh, Box *box)
{
	int64_t pre = 1;

	for (int pass = 0; pass < 2; pass++)
		for (int axis = 0; axis < box->naxes; axis++) {
			int64_t here = box->wanted[axis], rest = mesh->slices / pre,
				common = rest;
			while (here % common) { /* Euclid */
				int64_t next = here % common;
				here = common;
				common = next;
			}
			if (pass == 0 && common < rest)
				continue;
			add_part(&mesh->layout[axis], PHYSICAL_slice, pre, common);
			box->wanted[axis] /= common;
			pre *= common;
		}
}

static Box
box_of(const Mesh *mesh)
{
	Box box = {.naxes = mesh->naxes};
	bool cores = mesh->target->devices_per_chip > 1;

	for (int axis = 0; axis < mesh->naxes; axis++)
		box.wanted[axis] = mesh->axes[axis].size;
	for (int p = PHYSICAL_x; p <= PHYSICAL_core; p++)
		if (p == PHYSICAL_core		  ? cores
				: p == PHYSICAL_z ? mesh->topology_rank > 2 || !cores
						  : p < mesh->topology_rank) {
			box.along[box.n] = (PhysicalAxis)p;
			box.size[box.n++] = physical_size(mesh, (PhysicalAxis)p);
		}
	return box;
}

void
layout_default(Mesh *mesh)
{
	AxisLayout slices[MAX_AXES];

	memset(mesh->layout, 0, sizeof mesh->layout);
	mesh->ring = false;
	if (!mesh->topology_rank)
		return;
	Box box = box_of(mesh);
	lay_slices(mesh, &box);
	memcpy(slices, mesh->layout, sizeof slices);
	bool ring = follows_ring(mesh, &box);
	bool hosts = mesh->topology_rank == 2 && mesh->target->devices_per_chip > 1
		&& slice_has_ring(mesh);
	if ((ring || hosts) && lay_on_digits(mesh, &box, digits_of(mesh))) {
		mesh->ring = ring;
	} else {
		memcpy(mesh->layout, slices, sizeof slices);
		lay_on_torus(mesh, &box);
	}
	layout_finish(mesh);
}
