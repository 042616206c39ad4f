/*
 * collectives.c - what a collective moves, and how long that takes.
 *
 * With V the bytes of the whole array in the group, N its size, w the bandwidth of a
 * link one way and W = 2w:
 *     all-gather, reduce-scatter   V (N-1) / (N W)    on an open line  / (N w)
 *     all-reduce                   twice that
 *     all-to-all                   V / (4 W)          on an open line  V / (4 w)
 *       of an odd number           V (N^2-1) / (4 N^2 W)
 *     ragged-all-to-all            the same: as if every row were sent, evenly
 * as in "How to Scale Your Model", of one wire.  README.md says what several do.
 */
#include "cost/cost.h"

enum { MAX_NAMED = 256 }; /* members of a reshard's permute that are looked at one by one */

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

/* ---- bytes on wires -------------------------------------------------------------- */

/* The wires of one joint, slowest first; `busy` are seconds of a link, each way. */
typedef struct Tier {
	int n;
	const Wire *wire[MAX_WIRES];
	double busy[MAX_WIRES];
	double members;
} Tier;

static double
ways(const Wire *wire)
{
	return wire->ring ? 2 * wire->link : wire->link;
}

static Tier
tier_of(const Wires *wires, Joint joint)
{
	Tier tier = {.members = 1};

	for (int i = 0; i < wires->nwires; i++) {
		const Wire *wire = &wires->wire[i];
		int at = tier.n;
		if (wire->joint != joint)
			continue;
		tier.members *= (double)wire->members;
		for (tier.n++; at > 0 && ways(tier.wire[at - 1]) > ways(wire); at--)
			tier.wire[at] = tier.wire[at - 1];
		tier.wire[at] = wire;
	}
	return tier;
}

/*
 * Chunks go over the wires in different orders, so that all are busy to the end: what
 * a device gets, (P - 1)/P of the bytes, at their speeds together.  But where a few
 * are slow, these have to carry what those behind the others can't do without: with C
 * of the P members along the slowest, (C - 1)/P of the bytes at the speed of these.
 * One wire after the other, the slowest carries its own (C - 1)/P, those behind it more.
 */
static void
gather_over(Tier *tier, bool at_once, double bytes)
{
	double members = tier->members;

	for (int first = 0, cut; first < tier->n; first = cut) {
		double most = -1, among = 1, speed = 0, best = 1;
		cut = first + 1;
		for (int i = first; i < (at_once ? tier->n : first + 1); i++) {
			among *= (double)tier->wire[i]->members;
			speed += ways(tier->wire[i]);
			double seconds = bytes * (among - 1) / (members * speed);
			if (seconds >= most) {
				most = seconds;
				best = among;
				cut = i + 1;
			}
		}
		for (int i = first; i < cut; i++)
			tier->busy[i] = most;
		members /= best;
	}
}

/* Each member sends so many bytes, as many to each: the links in the middle are the
   busiest, of a ring all. */
static void
exchange_over(Tier *tier, double bytes)
{
	for (int i = 0; i < tier->n; i++) {
		double members = (double)tier->wire[i]->members;
		int64_t half = tier->wire[i]->members / 2;
		double crossing = (double)half * (members - (double)half);
		if (tier->wire[i]->joint == JOINT_slice)
			crossing = members - 1;
		else if (tier->wire[i]->ring)
			crossing /= 2;
		tier->busy[i] = bytes * crossing / (members * tier->wire[i]->link);
	}
}

/* Each sends to one, whoever that is: by way of all, in two exchanges, at most; nor is
   it done before a link has carried what one sends. */
static void
permute_over(Tier *tier, double bytes)
{
	exchange_over(tier, 2 * bytes);
	for (int i = 0; i < tier->n; i++) {
		double one = tier->wire[i]->members > 1 ? bytes / tier->wire[i]->link : 0;
		bool far = tier->wire[i]->joint == JOINT_slice;
		tier->busy[i] = far || one > tier->busy[i] ? one : tier->busy[i];
	}
}

static double
tier_latency(const Mesh *mesh, const Tier *tier)
{
	double seconds = 0;

	for (int i = 0; i < tier->n; i++)
		if (tier->wire[i]->joint == JOINT_torus)
			seconds += mesh->target->hop_seconds * (double)tier->wire[i]->hops;
		else if (tier->wire[i]->joint == JOINT_slice)
			seconds += mesh->target->dcn_seconds;
	return seconds;
}

/* One tier after the other: of a gather the inner ones get what those outside got. */
static TransferCost
tiers_cost(const Mesh *mesh, OpKind kind, const Wires *wires, double bytes)
{
	const CollectiveInfo *c = &collectives[kind];
	double n = (double)wires->n, latency = 0;
	bool at_once = c->route != ROUTE_ring || mesh->target->dims_at_once;
	TransferCost cost = {0};

	if (c->route == ROUTE_ring)
		bytes = wire_bytes(kind, wires->n, bytes) * n / (n - 1);
	for (Joint joint = JOINT_core; joint <= JOINT_slice; joint++) {
		Tier tier = tier_of(wires, joint);
		double most = 0, sum = 0;
		if (c->route == ROUTE_ring)
			gather_over(&tier, at_once, bytes);
		else if (c->route == ROUTE_across)
			exchange_over(&tier, bytes);
		else
			permute_over(&tier, bytes);
		for (int i = 0; i < tier.n; i++) {
			most = tier.busy[i] > most ? tier.busy[i] : most;
			sum += tier.busy[i];
			link_loads_fill(&cost.loads, mesh, tier.wire[i], tier.busy[i]);
		}
		*(joint == JOINT_slice ? &cost.network : &cost.links) += at_once ? most : sum;
		latency += c->turns * tier_latency(mesh, &tier);
		if (c->route == ROUTE_ring)
			bytes /= tier.members;
	}
	cost.seconds = transfer_seconds(mesh, latency, cost.links + cost.network);
	return cost;
}

/* ---- permutes --------------------------------------------------------------------- */

static TransferCost
permute_cost(const Mesh *mesh, const AxisList *axes, const int64_t *source, double bytes)
{
	Arena *scratch = arena_new();
	Links links = links_new(scratch, mesh, axes);
	TransferCost cost = {0};

	links_permute(&links, source, bytes);
	cost.seconds = links_seconds(&links);
	cost.hops = links.hops;
	links_busy(&links, &cost.loads, &cost.links, &cost.network);
	arena_free(scratch);
	return cost;
}

/* Member i gets what the device has whose index in `from` is i. */
static TransferCost
reordering_cost(const Mesh *mesh, const AxisList *axes, const AxisList *from, double bytes)
{
	int64_t source[MAX_NAMED], n = axes_size(axes);

	for (int64_t i = 0; i < n; i++)
		source[i] = axes_index(mesh, axes, axes_with_index(mesh, from, 0, i));
	return permute_cost(mesh, axes, source, bytes);
}

/* ---- collectives ------------------------------------------------------------------ */

TransferCost
transfer_cost(const Mesh *mesh, OpKind kind, const AxisList *axes, const AxisList *from,
	const int64_t *source, double bytes)
{
	int64_t n = axes_size(axes);

	if (n == 1)
		return (TransferCost){0};
	if (source)
		return permute_cost(mesh, axes, source, bytes);
	if (from && n <= MAX_NAMED)
		return reordering_cost(mesh, axes, from, bytes);
	Wires wires = wires_of(mesh, axes);
	return tiers_cost(mesh, kind, &wires, bytes);
}
