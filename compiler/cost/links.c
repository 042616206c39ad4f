/*
 * links.c - the links that the members of a group are joined by.
 *
 *   v5e, X=4 of a 4x4: the axis is a line of 4         45 GB/s, 3 hops
 *   v5e, X=16 of a 16x16: a ring, two ways round it    90 GB/s, 8 hops
 *   X:(1)4 of that ring, four chips apart: the four    22.5 GB/s, 8 hops
 *       groups like it take turns on each link
 *   X=16 on x=4 and y=4 of the 16x16: two lines        90 GB/s, 6 hops
 *
 * Where the program says nothing of a torus, every mesh axis is a ring of its own.
 */
#include <string.h>
#include "cost/links.h"
#include "ir/layout.h"

/* ---- the slice --------------------------------------------------------------- */

static Joint
joint_of(int along)
{
	return along == PHYSICAL_core	  ? JOINT_core
		: along == PHYSICAL_slice ? JOINT_slice
					  : JOINT_torus;
}

/* Of one link, one way, without others: the devices of a chip share what it has. */
static double
link_speed(const Mesh *mesh, Joint joint)
{
	const Target *target = mesh->target;
	double devices = mesh->topology_rank ? (double)target->devices_per_chip : 1;

	if (joint == JOINT_core)
		return target->core_bandwidth;
	if (joint == JOINT_slice)
		return target->dcn_bandwidth / devices;
	return target->link_bandwidth * target->link_efficiency / devices;
}

/* ---- the members of a group --------------------------------------------------- */

static int
wire_along(Wires *wires, int along, int64_t length, bool wraps)
{
	for (int i = 0; i < wires->nwires; i++)
		if (wires->wire[i].along == along)
			return i;
	wires->wire[wires->nwires] = (Wire){
		.joint = joint_of(along),
		.along = along,
		.length = length,
		.pre = length,
		.members = 1,
		.step = length,
		.ring = wraps,
	};
	return wires->nwires++;
}

/* The members have all places of digit (pre)size along the wire. */
static void
add_digit(Wires *wires, int i, int64_t pre, int64_t size)
{
	Wire *wire = &wires->wire[i];
	int64_t rest = wire->length / (pre * size);

	if (size == 1)
		return;
	wire->members *= size;
	wire->hops += (size - 1) * rest;
	wire->pre = pre < wire->pre ? pre : wire->pre;
	wire->step = rest < wire->step ? rest : wire->step;
	wires->digit[wires->ndigits++] = (Digit){i, size, rest, 0};
}

/* Are the boundaries of a piece of the axis where its parts can be cut? */
static bool
cuts_parts(const AxisLayout *layout, AxisRef a)
{
	int64_t low = a.pre, high = low * a.size, begin = 1;

	for (int i = 0; i < layout->n; i++) {
		int64_t end = begin * layout->part[i].size;
		int64_t from = low > begin ? low : begin, to = high < end ? high : end;
		if (from < to && (from % begin || to % from || end % to))
			return false;
		begin = end;
	}
	return true;
}

/* Of chips of several devices the 2x2 of a host are numbered along their ring. */
enum { HOST_SIDE = 2, HOST_CHIPS = HOST_SIDE * HOST_SIDE };

static bool
rings_are_hosts(const Mesh *mesh)
{
	return mesh->target->devices_per_chip > 1;
}

/* Of a chip's number along the ring of a slice: what a step along a dim counts.  As
   mesh_coordinates() has it. */
static int64_t
ring_stride(const Mesh *mesh, PhysicalAxis along)
{
	bool by_columns = mesh->topology[0] == 2 && mesh->topology[1] == 4;

	if (along == PHYSICAL_x)
		return by_columns ? mesh->topology[1] : 1;
	if (along == PHYSICAL_y)
		return by_columns ? 1 : mesh->topology[0];
	return mesh->topology[0] * mesh->topology[1];
}

static void
add_part(Wires *wires, const Mesh *mesh, LayoutPart part)
{
	int64_t length = physical_size(mesh, part.along);
	bool on_torus = part.along <= PHYSICAL_z, hosts = rings_are_hosts(mesh);
	bool in_host = wires->on_ring && hosts && part.along <= PHYSICAL_y
		&& part.pre * part.size == length && part.size % HOST_SIDE == 0;

	if (in_host) {
		int64_t pre = part.along == PHYSICAL_x ? HOST_SIDE : 1;
		part.size /= HOST_SIDE;
		if (part.size > 1)
			add_part(wires, mesh, part);
		add_digit(wires, wire_along(wires, RING, HOST_CHIPS, true), pre, HOST_SIDE);
		return;
	}
	if (on_torus && wires->on_ring && !hosts) {
		int64_t chips = slice_chips(mesh), stride = ring_stride(mesh, part.along);
		int64_t pre = chips / (length / part.pre * stride);
		add_digit(wires, wire_along(wires, RING, chips, true), pre, part.size);
		return;
	}
	bool wraps = on_torus && mesh->topology[part.along] > 2
		&& slice_wraps(mesh, (int)part.along);
	add_digit(wires, wire_along(wires, (int)part.along, length, wraps), part.pre,
		part.size);
}

static void
add_parts(Wires *wires, const Mesh *mesh, const AxisLayout *layout, AxisRef a)
{
	int64_t low = a.pre, high = low * a.size, begin = 1;

	for (int i = 0; i < layout->n; i++) {
		LayoutPart part = layout->part[i];
		int64_t end = begin * part.size;
		int64_t from = low > begin ? low : begin, to = high < end ? high : end;
		if (from < to)
			add_part(wires, mesh,
				(LayoutPart){part.along, part.pre * (from / begin), to / from});
		begin = end;
	}
}

/* A piece of the axis that no digits make up is on a line, there and back through all
   chips of the axis. */
static void
add_way(Wires *wires, const Mesh *mesh, const AxisLayout *layout, AxisRef a)
{
	int64_t length = mesh->axes[a.axis].size;
	Joint slowest = JOINT_torus;

	for (int i = 0; i < layout->n; i++) {
		LayoutPart part = layout->part[i];
		length *= physical_size(mesh, part.along) / (part.pre * part.size);
		slowest = part.along == PHYSICAL_slice ? JOINT_slice : slowest;
	}
	int wire = wire_along(wires, PHYSICAL_COUNT + (int)a.axis, length, false);
	wires->wire[wire].joint = slowest;
	add_digit(wires, wire, 1, a.size);
}

static void
add_axis(Wires *wires, const Mesh *mesh, AxisRef a)
{
	const AxisLayout *layout = &mesh->layout[a.axis];
	int64_t length = mesh->axes[a.axis].size;

	if (!mesh->topology_rank) {
		int wire = wire_along(wires, PHYSICAL_COUNT + (int)a.axis, length, length > 2);
		add_digit(wires, wire, a.pre, a.size);
	} else if (!cuts_parts(layout, a)) {
		add_way(wires, mesh, layout, a);
	} else {
		add_parts(wires, mesh, layout, a);
	}
}

/*
 * Groups like this one take turns on each link of their block: so many as there are
 * chips to a member.  Members all round a ring make a ring, in a part of one a line.
 */
static void
finish_wire(const Mesh *mesh, Wire *wire)
{
	double share = (double)wire->length / (double)wire->pre / (double)wire->members;

	wire->ring = wire->ring && wire->pre == 1;
	wire->link = link_speed(mesh, wire->joint);
	if (wire->joint == JOINT_torus)
		wire->link /= share;
	if (wire->ring)
		wire->hops = (int64_t)((double)(wire->members / 2) * share);
}

static Wires
wires_on(const Mesh *mesh, const AxisList *axes, bool on_ring)
{
	Wires wires = {.n = 1, .on_ring = on_ring};

	for (int i = 0; i < axes->n; i++)
		add_axis(&wires, mesh, axes->a[i]);
	for (int i = wires.ndigits; i-- > 0; wires.n *= wires.digit[i].size)
		wires.digit[i].stride = wires.n;
	for (int i = 0; i < wires.nwires; i++)
		finish_wire(mesh, &wires.wire[i]);
	return wires;
}

/* Has a group neighbours along the dim? */
static bool
has_neighbours(const Wires *wires, PhysicalAxis along)
{
	for (int i = 0; i < wires->nwires; i++)
		if (wires->wire[i].along == (int)along)
			return wires->wire[i].members > 1 && wires->wire[i].step == 1;
	return false;
}

/* Are the chips of such a group a grid though they are numbered along a ring?  That
   turns back at the end of a row, and of a 4x4 is a comb: only whole rows. */
static bool
is_grid(const Mesh *mesh, const Wires *wires)
{
	int64_t members[TORUS_RANK] = {1, 1, 1}, behind = 1;
	bool comb = mesh->topology[0] == 4 && mesh->topology[1] == 4;

	if (rings_are_hosts(mesh))
		return !has_neighbours(wires, PHYSICAL_y) || has_neighbours(wires, PHYSICAL_x);
	for (int i = 0; i < wires->nwires; i++)
		if (wires->wire[i].along <= (int)PHYSICAL_z)
			members[wires->wire[i].along] = wires->wire[i].members;
	for (int i = 0; i < mesh->topology_rank; i++) {
		behind = 1;
		for (int d = 0; d < mesh->topology_rank; d++)
			if (ring_stride(mesh, (PhysicalAxis)d)
				< ring_stride(mesh, (PhysicalAxis)i))
				behind *= mesh->topology[d] / members[d];
		if (members[i] > 1 && behind > 1)
			return false;
	}
	return !comb || members[1] == 1 || members[0] * members[1] == 16;
}

Wires
wires_in_order(const Mesh *mesh, const AxisList *axes)
{
	return wires_on(mesh, axes, mesh->ring);
}

Wires
wires_of(const Mesh *mesh, const AxisList *axes)
{
	Wires wires = wires_on(mesh, axes, false);

	return !mesh->ring || is_grid(mesh, &wires) ? wires : wires_in_order(mesh, axes);
}

double
transfer_seconds(const Mesh *mesh, double latency, double bytes_seconds)
{
	const Target *target = mesh->target;
	double most = latency > bytes_seconds ? latency : bytes_seconds;

	return target->collective_seconds
		+ (target->hops_hidden ? most : latency + bytes_seconds);
}

/* ---- classes of links ---------------------------------------------------------- */

bool
link_set_is_empty(const LinkSet *set)
{
	static const LinkSet empty;

	return memcmp(set, &empty, sizeof empty) == 0;
}

LinkParts
link_parts(int64_t length, int64_t from, int64_t n)
{
	int64_t parts = length < LINK_PARTS ? length : LINK_PARTS;
	uint32_t all = (1u << parts) - 1;

	if (n <= 0)
		return 0;
	if (n >= length)
		return (LinkParts)all;
	from = (from + length) % length;
	int64_t first = from * parts / length, last = (from + n - 1) % length * parts / length;
	uint32_t since = all & ~((1u << first) - 1), until = (2u << last) - 1;
	return (LinkParts)(from + n > length ? since | until : since & until);
}

/* A line's class may be that of several dims. */
static void
add_class(LinkLoads *loads, int class, WireLoad up, WireLoad down)
{
	loads->up[class] += up.seconds;
	loads->down[class] += down.seconds;
	loads->used.row[2 * class] |= up.seconds > 0 ? up.parts : 0;
	loads->used.row[2 * class + 1] |= down.seconds > 0 ? down.parts : 0;
}

void
link_loads_add(LinkLoads *loads, const Mesh *mesh, const Wire *wire, WireLoad up, WireLoad down)
{
	const LinkParts all = (LinkParts)-1;
	const AxisLayout *parts;

	if (!mesh->topology_rank) {
		add_class(loads, wire->along - PHYSICAL_COUNT, up, down);
		return;
	}
	if (wire->along == RING) {
		int rank = rings_are_hosts(mesh) ? 2 : mesh->topology_rank;
		for (int i = 0; i < rank; i++)
			add_class(loads, i, up, down);
		return;
	}
	/* Places along a dim are not those along the ring, or along a mesh axis. */
	if (mesh->ring || wire->along >= (int)PHYSICAL_COUNT)
		up.parts = down.parts = all;
	if (wire->along < (int)PHYSICAL_COUNT) {
		add_class(loads, wire->along, up, down);
		return;
	}
	parts = &mesh->layout[wire->along - PHYSICAL_COUNT];
	for (int i = 0; i < parts->n; i++)
		add_class(loads, (int)parts->part[i].along, up, down);
}

void
link_loads_fill(LinkLoads *loads, const Mesh *mesh, const Wire *wire, double seconds)
{
	int64_t block = wire->length / wire->pre;
	WireLoad up = {seconds, 0}, down = {seconds, 0};

	if (wire->ring || wire->joint == JOINT_slice || wire->pre > LINK_PARTS)
		up.parts = down.parts = link_parts(wire->length, 0, wire->length);
	else
		for (int64_t first = 0; first < wire->length; first += block) {
			up.parts |= link_parts(wire->length, first, block - 1);
			down.parts |= link_parts(wire->length, first + 1, block - 1);
		}
	link_loads_add(loads, mesh, wire, up, down);
}
