/*
 * collectives.c - what a collective moves, and how long that takes.
 *
 * Formulas: "How to Scale Your Model", chapters on sharding and TPUs.  With V
 * the bytes of the whole array in the group, N its size, w the bandwidth of a
 * link one way and W = 2w:
 *     all-gather, reduce-scatter   V (N-1) / (N W)    on an open line  / (N w)
 *     all-reduce                   twice that
 *     all-to-all                   V / (4 W)          on an open line  / (4 w)
 *     ragged-all-to-all            the same: as if every row were sent, evenly
 * each at least the latency of its hops.  Several axes add their bandwidth.
 */
#include "cost/cost.h"
#include "cost/links.h"

double
wire_bytes(OpKind kind, int64_t n, double bytes)
{
	const CollectiveInfo *c = &collectives[kind];
	double others = (double)(n - 1);

	if (n == 1)
		return 0;
	return bytes * (others * c->per_member + c->whole)
		+ bytes * others * c->per_rest / (double)n;
}

double
collective_seconds(const Mesh *mesh, OpKind kind, const AxisList *axes, double bytes)
{
	const CollectiveInfo *c = &collectives[kind];
	Wires w = wires_of(mesh, axes);
	double n = (double)axes_size(axes), latency, transfer;

	if (n <= 1)
		return 0;
	latency = HOP_SECONDS * w.hops * c->turns;
	if (c->route == ROUTE_ring) {
		transfer = wire_bytes(kind, (int64_t)n, bytes) / w.bandwidth;
	} else {
		/* A quarter of all crosses the middle of the ring, if pairs are far
		   apart; a neighbour's link carries what one device sends. */
		double near = bytes / (w.ring ? w.bandwidth / 2 : w.bandwidth);
		transfer = bytes * n / (4 * w.bandwidth);
		if (c->route == ROUTE_pairs && near > transfer)
			transfer = near;
	}
	return latency > transfer ? latency : transfer;
}

double
permute_seconds(const Mesh *mesh, const AxisList *axes, const int64_t *source, double bytes,
	int64_t *hops)
{
	Arena *scratch = arena_new();
	Links links = links_new(scratch, mesh, axes);

	links_permute(&links, source, bytes);
	double seconds = links_seconds(&links);
	*hops = links.hops;
	arena_free(scratch);
	return seconds;
}
