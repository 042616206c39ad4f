/*
 * links.c - the wires that a group of devices is joined by.
 *
 *   v5e, X=4 of a 4x4: the axis is a line of 4         45 GB/s, 3 hops
 *   v5e, X=16 of a 16x16: a ring, two ways round it    90 GB/s, 8 hops
 *
 * Device ids are laid over the torus row-major, as the mesh does; where the
 * program says nothing of a torus, every mesh axis is a ring of its own.
 */
#include "cost/links.h"

/* ---- the wires of axes -------------------------------------------------------- */

/* Does dim d of the slice's torus have wrap-around links? */
static bool
topology_wraps(const Mesh *mesh, int d)
{
	int64_t multiple = mesh->target->wrap_multiple;

	if (mesh->topology[d] == mesh->target->wrap_size)
		return true;
	for (int i = 0; i < mesh->topology_rank; i++)
		if (!multiple || mesh->topology[i] % multiple)
			return false;
	return true;
}

/*
 * Lays the device ids over the torus row-major, as the mesh does, and adds up
 * the torus dims that digit [low, high) of the id runs along: whole dims that
 * wrap are rings, anything else a line.
 */
static Wires
wires_on_torus(const Mesh *mesh, int64_t low, int64_t high)
{
	Wires w = {0, 0, true};
	int64_t stride = 1;

	for (int d = mesh->topology_rank - 1; d >= 0; d--) {
		int64_t end = stride * mesh->topology[d];
		int64_t from = low > stride ? low : stride;
		int64_t to = high < end ? high : end;
		if (from < to) {
			int64_t size = to / from;
			bool ring = topology_wraps(mesh, d) && size > 2
				&& size == mesh->topology[d];
			double share = (double)stride / (double)from;
			w.bandwidth += mesh->target->link_bandwidth * (ring ? 2 : share);
			w.hops += ring ? (double)(size / 2) : (double)(size - 1) / share;
			w.ring &= ring;
		}
		stride = end;
	}
	return w;
}

/* Without a topology every mesh axis is a ring of its own. */
static Wires
wires_on_ring(const Mesh *mesh, AxisRef a)
{
	bool ring = axis_is_whole(mesh, a) && a.size > 2;
	int64_t rest = mesh->axes[a.axis].size / ((int64_t)a.pre * a.size);
	double link = mesh->target->link_bandwidth;

	if (ring)
		return (Wires){2 * link, (double)(a.size / 2), true};
	return (Wires){link / (double)rest, (double)(a.size - 1) * (double)rest, false};
}

Wires
wires_of(const Mesh *mesh, const AxisList *axes)
{
	Wires all = {0, 0, true};

	for (int i = 0; i < axes->n; i++) {
		AxisRef a = axes->a[i];
		int64_t stride = axis_ref_stride(mesh, a);
		Wires w = mesh->topology_rank ? wires_on_torus(mesh, stride, stride * a.size)
					      : wires_on_ring(mesh, a);
		all.bandwidth += w.bandwidth;
		all.hops += w.hops;
		all.ring &= w.ring;
	}
	return all;
}

uint64_t
links_used(const Mesh *mesh, const AxisList *axes)
{
	const uint64_t both_ways = 3;
	uint64_t used = 0;

	for (int i = 0; i < axes->n; i++) {
		AxisRef a = axes->a[i];
		int64_t low = axis_ref_stride(mesh, a), high = low * a.size, stride = 1;
		if (a.size > 1 && !mesh->topology_rank)
			used |= both_ways << 2 * a.axis;
		for (int d = mesh->topology_rank - 1; d >= 0; d--) {
			int64_t end = stride * mesh->topology[d];
			if (low < end && stride < high && a.size > 1 && stride < end)
				used |= both_ways << 2 * d;
			stride = end;
		}
	}
	return used;
}

/* ---- permutes, link by link ---------------------------------------------- */

Links
links_new(Arena *a, const Mesh *mesh, const AxisList *axes)
{
	Links links = {.naxes = axes->n, .n = axes_size(axes)};
	int64_t stride = 1;

	for (int i = axes->n - 1; i >= 0; i--) {
		AxisRef axis = axes->a[i];
		Wires w = wires_of(mesh, &(AxisList){1, {axis}});
		int64_t farthest = w.ring ? axis.size / 2 : axis.size - 1;
		links.axis[i] = (AxisLinks){
			.size = axis.size,
			.stride = stride,
			.ring = w.ring,
			.bandwidth = w.ring ? w.bandwidth / 2 : w.bandwidth,
			.latency = farthest ? HOP_SECONDS * w.hops / (double)farthest : 0,
			.up = NEW_ARRAY(a, double, links.n + 1),
			.down = NEW_ARRAY(a, double, links.n + 1),
		};
		stride *= axis.size;
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

/* From digit to digit of one axis, on the line of member `index`: the hops. */
static int64_t
load_axis(AxisLinks *x, int64_t index, int64_t from, int64_t to, double bytes)
{
	int64_t line = index / (x->stride * x->size) * x->stride + index % x->stride;
	int64_t up = (to - from + x->size) % x->size, down = x->size - up;
	bool is_up = x->ring ? up <= down : to > from;

	if (from == to)
		return 0;
	if (is_up)
		load_links(x->up + line * x->size, x->size, from, up, bytes);
	else
		load_links(x->down + line * x->size, x->size, (to + 1) % x->size, down, bytes);
	return is_up ? up : down;
}

void
links_permute(Links *links, const int64_t *source, double bytes)
{
	for (int64_t i = 0; i < links->n; i++) {
		int64_t hops = 0, from = source[i];
		double latency = 0;
		for (int k = 0; k < links->naxes && source[i] >= 0; k++) {
			AxisLinks *x = &links->axis[k];
			int64_t digit = from / x->stride % x->size;
			int64_t wanted = i / x->stride % x->size;
			int64_t way = load_axis(x, from, digit, wanted, bytes);
			hops += way;
			latency += (double)way * x->latency;
			from += (wanted - digit) * x->stride;
		}
		links->hops = hops > links->hops ? hops : links->hops;
		links->latency = latency > links->latency ? latency : links->latency;
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

double
links_seconds(const Links *links)
{
	double seconds = links->latency;

	for (int i = 0; i < links->naxes; i++) {
		const AxisLinks *x = &links->axis[i];
		double up = busiest(x->up, links->n), down = busiest(x->down, links->n);
		double transfer = (up > down ? up : down) / x->bandwidth;
		seconds = transfer > seconds ? transfer : seconds;
	}
	return seconds;
}
