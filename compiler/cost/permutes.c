/*
 * permutes.c - permutes, link by link.
 *
 *   (0,0) of a 4x4 sends to (3,3): half of it along x, then y, half along y, then x
 *
 * A wire stands for the lines of all members that differ in other digits only; it
 * has a place for each chip that can be one of a member's, and of the groups that
 * take turns each loads its links as this one does.
 */
#include "cost/links.h"

static int64_t
places(const Wire *wire)
{
	return wire->length / wire->pre / wire->step;
}

Links
links_new(Arena *a, const Mesh *mesh, const AxisList *axes)
{
	Links links = {.mesh = mesh, .wires = wires_in_order(mesh, axes)};

	for (int i = 0; i < links.wires.nwires; i++) {
		const Wire *wire = &links.wires.wire[i];
		size_t n = (size_t)(links.wires.n / wire->members * places(wire) + 1);
		links.up[i] = NEW_ARRAY(a, double, n);
		links.down[i] = NEW_ARRAY(a, double, n);
	}
	return links;
}

/* `length` links from one on, round the ring of n that starts at `ring`. */
static void
load_links(double *ring, int64_t n, int64_t from, int64_t length, double bytes)
{
	int64_t end = from + length;

	ring[from] += bytes;
	if (end > n) {
		ring[n] -= bytes;
		ring[0] += bytes;
		end -= n;
	}
	ring[end] -= bytes;
}

/* From place to place of a line; how far. */
static int64_t
load_line(const Wire *wire, double *up_links, double *down_links, int64_t from, int64_t to,
	double bytes)
{
	int64_t n = places(wire), up = (to - from + n) % n, down = n - up;
	double up_bytes = bytes;

	if (wire->joint == JOINT_slice) {
		/* What a device sends, and what one receives. */
		load_links(up_links, n, from, 1, bytes);
		load_links(down_links, n, to, 1, bytes);
		return 1;
	}
	if (!wire->ring)
		up_bytes = to > from ? bytes : 0;
	else if (up >= down)
		up_bytes = up == down ? bytes / 2 : 0;
	if (up_bytes > 0)
		load_links(up_links, n, from, up, up_bytes);
	if (up_bytes < bytes)
		load_links(down_links, n, (to + 1) % n, down, bytes - up_bytes);
	return up_bytes > 0 ? up : down;
}

/* A member on its way to another. */
typedef struct Leg {
	int wire;
	int64_t line, from, to; /* places on the line */
	int64_t moves;		/* added to the member's index */
} Leg;

static Leg
leg_along(const Wires *wires, int wire, int64_t at, int64_t to)
{
	Leg leg = {.wire = wire};
	int64_t step = wires->wire[wire].step;

	for (int i = 0; i < wires->ndigits; i++) {
		const Digit *digit = &wires->digit[i];
		int64_t here = at / digit->stride % digit->size;
		int64_t there = to / digit->stride % digit->size;
		if (digit->wire != wire) {
			leg.line = leg.line * digit->size + here;
			continue;
		}
		leg.from += here * (digit->rest / step);
		leg.to += there * (digit->rest / step);
		leg.moves += (there - here) * digit->stride;
	}
	return leg;
}

/* Along the wires in order, beginning with the first of them that `turn` names. */
static void
load_message(Links *links, const int *wires, int n, int turn, int64_t from, int64_t to,
	double bytes)
{
	const Target *target = links->mesh->target;
	int64_t hops = 0;
	double latency = 0;

	for (int k = 0; k < n; k++) {
		Leg leg = leg_along(&links->wires, wires[(turn + k) % n], from, to);
		const Wire *wire = &links->wires.wire[leg.wire];
		int64_t first = leg.line * places(wire);
		int64_t way = wire->step
			* load_line(wire, links->up[leg.wire] + first,
				links->down[leg.wire] + first, leg.from, leg.to, bytes);
		hops += way;
		if (wire->joint == JOINT_slice)
			latency += target->dcn_seconds;
		else if (wire->joint == JOINT_torus)
			latency += (double)way * target->hop_seconds;
		from += leg.moves;
	}
	links->hops = hops > links->hops ? hops : links->hops;
	links->latency = latency > links->latency ? latency : links->latency;
}

void
links_permute(Links *links, const int64_t *source, double bytes)
{
	int wires[MAX_WIRES];

	for (int64_t i = 0; i < links->wires.n; i++) {
		int n = 0;
		links->used |= source[i] >= 0 && source[i] != i;
		for (int w = 0; w < links->wires.nwires && source[i] >= 0; w++)
			if (leg_along(&links->wires, w, source[i], i).moves)
				wires[n++] = w;
		for (int turn = 0; turn < n; turn++)
			load_message(links, wires, n, turn, source[i], i, bytes / n);
	}
}

static double
busiest(const double *more, int64_t n)
{
	double bytes = 0, most = 0;

	for (int64_t i = 0; i < n; i++) {
		bytes += more[i];
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* A link from place to place is some of the wire's, and groups that begin at the chips
   between use those from there on.  Up from the place, or down from it. */
static LinkParts
parts_from(const Wire *wire, int64_t place, bool down)
{
	int64_t step = wire->step, from = down ? (place - 1) * step + 1 : place * step;
	LinkParts parts = 0;

	for (int64_t block = 0; block < wire->pre; block++)
		parts |= link_parts(wire->length, block * (wire->length / wire->pre) + from,
			wire->joint == JOINT_slice ? step : 2 * step - 1);
	return parts;
}

/* What the lines put on a wire. */
static WireLoad
load_of(const Links *links, int i, bool down)
{
	const Wire *wire = &links->wires.wire[i];
	const double *more = down ? links->down[i] : links->up[i];
	int64_t n = places(wire), lines = links->wires.n / wire->members;
	double bytes = 0, most = busiest(more, lines * n);
	bool all = wire->members < n || wire->pre > LINK_PARTS;
	LinkParts whole = link_parts(wire->length, 0, wire->length);
	WireLoad load = {most / wire->link, all ? whole : 0};

	for (int64_t k = 0; k < lines * n && load.parts != whole; k++) {
		bytes += more[k];
		if (bytes > most * 1e-9) /* what is left over of sums */
			load.parts |= parts_from(wire, k % n, down);
	}
	return load;
}

void
links_busy(const Links *links, LinkLoads *loads, double *chips, double *slices)
{
	*chips = *slices = 0;
	for (int i = 0; i < links->wires.nwires; i++) {
		const Wire *wire = &links->wires.wire[i];
		double *most = wire->joint == JOINT_slice ? slices : chips;
		WireLoad up = load_of(links, i, false), down = load_of(links, i, true);
		*most = up.seconds > *most ? up.seconds : *most;
		*most = down.seconds > *most ? down.seconds : *most;
		link_loads_add(loads, links->mesh, wire, up, down);
	}
}

double
links_seconds(const Links *links)
{
	LinkLoads loads = {0};
	double chips, slices;

	if (!links->used)
		return 0;
	links_busy(links, &loads, &chips, &slices);
	return transfer_seconds(links->mesh, links->latency, chips + slices);
}
