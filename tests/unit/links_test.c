/*
 * links_test.c - the price of transfers on a torus: closed forms where starting and
 * hops take no time, and sends from neighbour to neighbour, link by link.
 *
 * The network here knows nothing of the formulas: in a slot of time each link takes
 * one chunk that has arrived, of those that wait the one with the longest way.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cost.h"
#include "cost/tracks.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

/* ---- targets and meshes --------------------------------------------------------- */

static const double LINK = 1e9; /* bytes/s */

typedef struct Override {
	const char *fact, *value;
} Override;

/* v5e with other facts, read as --on reads a file; the last of equal ones counts. */
static const Target *
target_with(Session *s, const Override *more, int n)
{
	static const Override free_of_latency[] = {{"link_bandwidth", "1e9"},
		{"link_efficiency", "1"}, {"hop_seconds", "0"}, {"collective_seconds", "0"},
		{"wrap_size", "0"}, {"wrap_multiple", "0"}, {"dcn_seconds", "0"},
		{"dcn_bandwidth", "1e8"}, {"core_bandwidth", "1e10"}};
	enum { COUNT = sizeof free_of_latency / sizeof *free_of_latency };
	Text t = {0};

	for (int i = 0; i < target_nfacts; i++) {
		const TargetFact *fact = &target_facts[i];
		const char *value = NULL;
		for (int k = 0; k < COUNT; k++)
			if (strcmp(free_of_latency[k].fact, fact->name) == 0)
				value = free_of_latency[k].value;
		for (int k = 0; k < n; k++)
			if (strcmp(more[k].fact, fact->name) == 0)
				value = more[k].value;
		text_printf(&t, "%s = ", fact->name);
		if (value)
			text_add(&t, value);
		else
			text_fact(&t, target_default(), fact);
		text_add(&t, "\n");
	}
	const char *text = text_take(&t, s->arena);
	return target_read(s, source_add_text(s, "test.target", text, (int)strlen(text)),
		DIAG_target_file, "test");
}

static const Target *
ideal(Session *s)
{
	return target_with(s, NULL, 0);
}

static const Target *
wrapping(Session *s)
{
	return target_with(s, &(Override){"wrap_multiple", "1"}, 1);
}

/* One axis for each physical dim: X along x, Y along y, Z along z. */
static Mesh
mesh_on(const Target *target, int64_t x, int64_t y, int64_t z)
{
	static const char *const names[] = {"X", "Y", "Z"};
	int64_t sizes[] = {x, y, z};
	Mesh m = {.ndevices = x * y * z, .target = target, .slices = 1};

	for (int i = 0; i < 3 && sizes[i]; i++) {
		m.ndevices = i ? m.ndevices * sizes[i] : sizes[i];
		m.topology[m.topology_rank++] = sizes[i];
		m.axes[m.naxes] = (MeshAxis){.name = names[i], .size = sizes[i]};
		m.layout[m.naxes++] = (AxisLayout){1, {{(PhysicalAxis)i, 1, sizes[i]}}, false};
	}
	return m;
}

static void
add_axis(Mesh *m, const char *name, PhysicalAxis along, int64_t size)
{
	m->axes[m->naxes] = (MeshAxis){.name = name, .size = size};
	m->layout[m->naxes++] = (AxisLayout){1, {{along, 1, size}}, false};
	m->ndevices *= size;
}

static AxisList
all_axes(const Mesh *m)
{
	AxisList l = {0};

	for (int i = 0; i < m->naxes; i++)
		axes_append(&l, axis_whole(m, i));
	return l;
}

/* Of an array of so many bytes in the group. */
static double
seconds(const Mesh *m, OpKind kind, AxisList axes, double whole)
{
	bool part = kind == O_all_gather || kind == O_all_to_all;

	return transfer_cost(m, kind, &axes, NULL, NULL,
		part ? whole / (double)axes_size(&axes) : whole)
		.seconds;
}

/* ---- closed forms ---------------------------------------------------------------- */

static void
test_ring(Session *s, int64_t n)
{
	Mesh m = mesh_on(wrapping(s), n, 0, 0);
	AxisList x = all_axes(&m);
	double V = 1e6, N = (double)n, W = n > 2 ? 2 * LINK : LINK;
	double gather = seconds(&m, O_all_gather, x, V);
	double exchange = n == 2 ? V / 4 / LINK
		: n % 2		 ? V * (N * N - 1) / (4 * N * N * W)
				 : V / (4 * W);

	ok(near(gather, V * (N - 1) / (N * W)), "a gather over a ring: V (N-1) / (N W)");
	ok(near(gather * N / (N - 1), V / W), "... times N / (N-1) whatever N is");
	ok(near(seconds(&m, O_reduce_scatter, x, V), gather), "a reduce-scatter is as long");
	ok(near(seconds(&m, O_all_reduce, x, V), 2 * gather), "an all-reduce is two");
	ok(near(seconds(&m, O_all_to_all, x, V), exchange), "an all-to-all: V / (4 W)");
}

static void
test_line(Session *s, int64_t n)
{
	Mesh m = mesh_on(ideal(s), n, 0, 0);
	AxisList x = all_axes(&m);
	double V = 1e6, N = (double)n, low = floor(N / 2);

	ok(near(seconds(&m, O_all_gather, x, V), V * (N - 1) / (N * LINK)),
		"a gather over a line: V (N-1) / (N w)");
	ok(near(seconds(&m, O_all_to_all, x, V), V * low * (N - low) / (N * N * LINK)),
		"an all-to-all over a line: what crosses its middle");
}

static void
test_torus(Session *s)
{
	Mesh m = mesh_on(wrapping(s), 4, 8, 16);
	AxisList all = all_axes(&m);
	double V = 1e6, W = 2 * LINK;

	ok(near(seconds(&m, O_all_gather, all, V), V * 511 / 512 / (3 * W)),
		"three rings: three times the speed");
	ok(near(seconds(&m, O_all_to_all, all, V), V * 16 / (4 * 512 * W)),
		"an all-to-all on A x B x C: V max(A, B, C) / (4 N W)");
	m = mesh_on(ideal(s), 2, 2, 2);
	all = all_axes(&m);
	ok(near(seconds(&m, O_all_gather, all, V), V * 7 / 8 / (3 * LINK)),
		"a 2x2x2: three links");
}

/* Every fourth chip of a ring, or of a block of a line. */
static void
test_shares(Session *s)
{
	Mesh ring = mesh_on(wrapping(s), 16, 0, 0), line = mesh_on(ideal(s), 16, 0, 0);
	AxisList major = {1, {{0, 1, 4}}}, minor = {1, {{0, 4, 4}}},
		 ends = {2, {{0, 1, 2}, {0, 8, 2}}};
	double V = 1e6;

	ok(near(seconds(&ring, O_all_gather, major, V), V * 3 / 4 / (2 * LINK / 4)),
		"four groups take turns all round a ring");
	ok(near(seconds(&ring, O_all_gather, minor, V), V * 3 / 4 / LINK),
		"four neighbours of a ring are a line");
	ok(near(seconds(&line, O_all_gather, major, V), V * 3 / 4 / (LINK / 4)),
		"four groups take turns along a line");
	ok(near(seconds(&line, O_all_gather, ends, V), V * 3 / 4 / (LINK / 4)),
		"two digits of a dim are one line");
}

static void
test_tiers(Session *s)
{
	Mesh m = mesh_on(target_with(s, &(Override){"devices_per_chip", "2"}, 1), 4, 0, 0);
	double V = 1e6, torus, between;

	add_axis(&m, "C", PHYSICAL_core, 2);
	torus = V * 3 / 4 / (LINK / 2);
	ok(near(seconds(&m, O_all_gather, (AxisList){1, {{0, 1, 4}}}, V), torus),
		"the devices of a chip share its links");
	ok(near(seconds(&m, O_all_gather, all_axes(&m), V), V / 2 / 1e10 + torus / 2),
		"within the chip, then each device its half between chips");
	m = mesh_on(ideal(s), 4, 0, 0);
	m.slices = 3;
	add_axis(&m, "S", PHYSICAL_slice, 3);
	torus = V * 3 / 4 / LINK;
	between = V / 4 * 2 / 3 / 1e8;
	ok(near(seconds(&m, O_all_gather, all_axes(&m), V), torus + between),
		"between slices goes what a member of each has");
	ok(near(seconds(&m, O_all_reduce, all_axes(&m), V), 2 * (torus + between)),
		"an all-reduce over two tiers");
}

static void
test_latency(Session *s)
{
	Override sum[] = {{"hop_seconds", "1e-6"}, {"collective_seconds", "5e-6"}};
	Override longer[] = {{"hop_seconds", "1e-6"}, {"hops_hidden", "yes"}};
	Mesh m = mesh_on(target_with(s, sum, 2), 4, 8, 0);
	Mesh hidden = mesh_on(target_with(s, longer, 2), 4, 8, 0);
	AxisList all = all_axes(&m);
	double bytes = 1e6 * 31 / 32 / (2 * LINK);

	ok(near(seconds(&m, O_all_gather, all, 0), 15e-6),
		"no bytes: the start and 3 + 7 hops");
	ok(near(seconds(&m, O_all_gather, all, 1e6), 15e-6 + bytes), "... and the bytes");
	ok(near(seconds(&m, O_all_reduce, all, 0), 25e-6), "an all-reduce goes there and back");
	ok(near(seconds(&hidden, O_all_gather, all, 1e6), bytes), "hops are hidden by bytes");
	ok(near(seconds(&hidden, O_all_gather, all, 10), 10e-6), "bytes are hidden by hops");
}

/* One dim after the other: the bytes take as long as on each in turn. */
static void
test_in_turn(Session *s)
{
	Override in_turn[] = {{"dims_at_once", "no"}};
	Mesh m = mesh_on(target_with(s, in_turn, 1), 4, 8, 0);
	AxisList x = {1, {{0, 1, 4}}}, all = all_axes(&m);
	double V = 1e6, share = V / 32 / LINK;

	ok(near(seconds(&m, O_all_gather, all, V), 31 * share),
		"one dim after the other: as long as on one link");
	ok(near(seconds(&m, O_reduce_scatter, all, V), 31 * share), "a reduce-scatter, too");
	ok(near(seconds(&m, O_all_reduce, all, V), 62 * share), "an all-reduce twice that");
	ok(near(seconds(&m, O_all_gather, x, V), V * 3 / 4 / LINK),
		"one dim is as it is otherwise");
}

/* Every kind over every part of a mesh: more bytes take longer. */
static void
test_monotone(Session *s)
{
	static const OpKind kinds[] = {O_all_gather, O_all_reduce, O_reduce_scatter,
		O_all_to_all, O_collective_permute, O_ragged_all_to_all};
	Mesh m = mesh_on(wrapping(s), 8, 4, 2);
	bool good = true;

	for (int k = 0; k < 6; k++)
		for (int32_t pre = 1; pre <= 4; pre *= 2) {
			AxisList axes = {3, {{0, (uint32_t)pre & 15, 2}, {1, 1, 4}, {2, 1, 2}}};
			double last = -1;
			for (double bytes = 0; bytes < 1e9; bytes = bytes * 3 + 16) {
				double now = seconds(&m, kinds[k], axes, bytes);
				good &= now > last;
				last = now;
			}
		}
	ok(good, "more bytes take longer");
}

/* ---- rows of the book's checks ------------------------------------------------------ */

static void
test_book(Session *s)
{
	Override v5e[] = {{"link_bandwidth", "4.5e10"}, {"hop_seconds", "1e-6"},
		{"hops_hidden", "yes"}};
	Override v4[] = {{"link_bandwidth", "4.5e10"}, {"hop_seconds", "1e-6"},
		{"hops_hidden", "yes"}, {"wrap_multiple", "4"}};
	Mesh flat = mesh_on(target_with(s, v5e, 3), 8, 4, 0);
	Mesh cube = mesh_on(target_with(s, v4, 4), 4, 4, 4);
	AxisList x = {1, {{0, 1, 4}}}, y = {1, {{1, 1, 4}}}, xy = {2, {{0, 1, 4}, {1, 1, 4}}};
	int64_t source[16];

	ok(near(seconds(&flat, O_all_gather, y, 2048.0 * 8192 * 2), 559.2405333333334e-6),
		"S9: a gather over 4 without a wrap");
	ok(near(seconds(&cube, O_all_gather, x, 2.0 * 1024 * 4096 / 4) * 4 / 3,
		   23.30168888888889e-6),
		"S13: a gather over X, of any length");
	ok(near(seconds(&cube, O_all_gather, xy, 2.0 * 1024 * 4096) * 16 / 15,
		   46.60337777777778e-6),
		"S14: ... over X and Y");
	ok(near(seconds(&cube, O_all_reduce, x, 2.0 * 1024 * 4096 / 16) * 4 / 3,
		   11.650844444444445e-6),
		"S15: an all-reduce over one axis");
	ok(near(seconds(&cube, O_all_gather, x, 256), 2e-6), "S16: two hops");
	Mesh square = mesh_on(target_with(s, v5e, 3), 4, 4, 0);
	AxisList all = all_axes(&square);
	for (int i = 0; i < 16; i++)
		source[i] = -1;
	source[15] = 0;
	TransferCost send = transfer_cost(&square, O_collective_permute, &all, NULL, source,
		8.0 * 128 * 8192 * 2);
	ok(near(send.seconds, 186.41351111111112e-6),
		"T7: from corner to corner, by both links");
	ok(send.hops == 6, "T7: six hops");
}

/* ---- a network, slot by slot --------------------------------------------------------- */

typedef struct Edge {
	int link, parent; /* of the chunk's tree; -1: it is there from the start */
	int height;	  /* links after this one */
	bool done;
} Edge;

typedef struct Network {
	const Mesh *mesh;
	Edge *edges;
	int n, capacity;
	double *load; /* by link: chunks */
} Network;

enum { WAYS = 2, MOST_LINKS = 64 * 3 * WAYS };

static int
place(const Mesh *m, int node, int dim)
{
	for (int d = m->topology_rank - 1; d > dim; d--)
		node /= (int)m->topology[d];
	return node % (int)m->topology[dim];
}

/* One chip on along the dim, round it where that is needed. */
static int
neighbour(const Mesh *m, int node, int dim, int way)
{
	int size = (int)m->topology[dim], stride = 1;
	int at = place(m, node, dim), to = (at + (way ? size - 1 : 1)) % size;

	for (int d = m->topology_rank - 1; d > dim; d--)
		stride *= (int)m->topology[d];
	return node + (to - at) * stride;
}

/* Sends a chunk on; where the network ends it isn't called. */
static int
send(Network *net, int *node, int dim, int way, int parent)
{
	if (net->n == net->capacity) {
		net->capacity = net->capacity * 2 + 64;
		net->edges = realloc(net->edges, sizeof(Edge) * (size_t)net->capacity);
	}
	net->edges[net->n] = (Edge){(*node * 3 + dim) * WAYS + way, parent, 0, false};
	net->load[net->edges[net->n].link]++;
	for (int i = parent, h = 1; i >= 0; i = net->edges[i].parent, h++)
		if (net->edges[i].height < h)
			net->edges[i].height = h;
	*node = neighbour(net->mesh, *node, dim, way);
	return net->n++;
}

/* Slots until all is there: each link carries one chunk at a time. */
static int
run(Network *net)
{
	int slots = 0;

	for (int left = net->n; left; slots++) {
		int chosen[MOST_LINKS];
		memset(chosen, -1, sizeof chosen);
		for (int i = 0; i < net->n; i++) {
			const Edge *e = &net->edges[i];
			int *other = &chosen[e->link];
			if (e->done || (e->parent >= 0 && !net->edges[e->parent].done))
				continue;
			if (*other < 0 || net->edges[*other].height < e->height)
				*other = i;
		}
		for (int i = 0; i < MOST_LINKS; i++)
			if (chosen[i] >= 0) {
				net->edges[chosen[i]].done = true;
				left--;
			}
	}
	return slots;
}

static double
busiest(const Network *net)
{
	double most = 0;

	for (int i = 0; i < MOST_LINKS; i++)
		most = net->load[i] > most ? net->load[i] : most;
	return most;
}

static Network
network_new(const Mesh *m)
{
	return (Network){.mesh = m, .load = calloc(MOST_LINKS, sizeof(double))};
}

static void
network_free(Network *net)
{
	free(net->edges);
	free(net->load);
}

/* A group: along each dim every step[d]-th chip; `order`: dims, the first first. */
typedef struct Group {
	int step[3], order[3];
	bool wraps;
} Group;

/* Copies go along the first dim of the order, both ways, and from each member on. */
static void
spread(Network *net, const Group *g, int node, int parent, int from, int flip)
{
	const Mesh *m = net->mesh;

	if (from == m->topology_rank)
		return;
	int dim = g->order[from], step = g->step[dim], members = (int)m->topology[dim] / step;
	int at = place(m, node, dim) / step;
	bool ring = g->wraps && m->topology[dim] > 2;
	spread(net, g, node, parent, from + 1, flip);
	for (int way = 0; way < WAYS; way++) {
		int reach = ring ? (members - (flip == way)) / 2 : way ? at : members - 1 - at;
		int here = node, edge = parent;
		for (int k = 0; k < reach; k++) {
			for (int i = 0; i < step; i++)
				edge = send(net, &here, dim, way, edge);
			spread(net, g, here, edge, from + 1, flip);
		}
	}
}

/* ---- gathers, chunk by chunk ----------------------------------------------------------- */

/* Of `chunks` of each device so many go along the dims in the other order. */
static double
gather_slots(const Mesh *m, Group g, int chunks, int other)
{
	Network net = network_new(m);
	int last = m->topology_rank - 1;

	for (int c = 0; c < chunks; c++) {
		Group turned = g;
		for (int d = 0; d <= last && last == 2; d++)
			turned.order[d] = (d + c) % 3;
		if (last == 1 && c < other) {
			turned.order[0] = 1;
			turned.order[1] = 0;
		}
		for (int node = 0; node < m->ndevices; node++)
			spread(&net, &turned, node, -1, 0, (last == 2 ? c / 3 : c) & 1);
	}
	int slots = run(&net);
	network_free(&net);
	return slots;
}

/* In slots, each of which carries 1000 bytes. */
static double
predicted(const Mesh *m, OpKind kind, const Group *g, double chunks)
{
	AxisList axes = {0};

	for (int d = 0; d < m->naxes; d++)
		axes_append(&axes,
			(AxisRef){(uint32_t)d & 15, 1,
				(int32_t)(m->axes[d].size / g->step[d])});
	return transfer_cost(m, kind, &axes, NULL, NULL, chunks * 1000).seconds / (1000 / LINK);
}

static void
test_gathers(Session *s)
{
	bool exact = true;

	for (int wraps = 0; wraps < 2; wraps++)
		for (int n = 2; n <= 16; n++)
			for (int step = 1; step <= n / 2; step++) {
				Mesh m = mesh_on(wraps ? wrapping(s) : ideal(s), n, 0, 0);
				Group g = {{step, 1, 1}, {0, 1, 2}, wraps};
				if (n % step)
					continue;
				double slots = gather_slots(&m, g, 4, 0);
				double wanted = predicted(&m, O_all_gather, &g, 4);
				exact &= near(slots, wanted);
			}
	ok(exact, "gathers of 2 to 16 chips, of all or some: as many slots");
}

/* How many chunks of 48 go along y first for both dims to be as busy; groups of every
   step-th chip along y. */
static void
test_plane(Session *s, bool wraps, int x, int y, int step, int other)
{
	Mesh m = mesh_on(wraps ? wrapping(s) : ideal(s), x, y, 0);
	Group g = {{1, step, 1}, {0, 1, 2}, wraps};
	double slots = gather_slots(&m, g, 48, other),
	       wanted = predicted(&m, O_all_gather, &g, 48);

	ok(slots > wanted - 1e-6 && slots < wanted + 1.5, "a gather on a plane");
}

static void
test_cubes(Session *s)
{
	for (int n = 2; n <= 4; n++) {
		Mesh m = mesh_on(wrapping(s), n, n, n);
		Group g = {{1, 1, 1}, {0, 1, 2}, true};
		double slots = gather_slots(&m, g, 6, 0);
		double wanted = predicted(&m, O_all_gather, &g, 6);
		ok(near(slots, wanted), "a gather on a cube");
	}
}

/* ---- messages from each to one ----------------------------------------------------------- */

/* The way of a message, the dims in order, beginning with one; how far. */
static int
go(Network *net, int node, int to, int first, int flip, bool wraps)
{
	int rank = net->mesh->topology_rank, edge = -1, hops = 0;

	for (int k = 0; k < rank; k++) {
		int dim = (first + k) % rank, size = (int)net->mesh->topology[dim];
		int up =
			(place(net->mesh, to, dim) - place(net->mesh, node, dim) + size) % size;
		bool ring = wraps && size > 2;
		int way = ring ? (2 * up == size ? flip : 2 * up > size)
			       : place(net->mesh, to, dim) < place(net->mesh, node, dim);
		for (int i = way ? size - up : up; up && i > 0; i--, hops++)
			edge = send(net, &node, dim, way, edge);
	}
	return hops;
}

static void
test_exchange(Session *s, bool wraps, int x, int y, int z)
{
	Mesh m = mesh_on(wraps ? wrapping(s) : ideal(s), x, y, z);
	Group g = {{1, 1, 1}, {0, 1, 2}, wraps};
	Network net = network_new(&m);

	for (int from = 0; from < m.ndevices; from++)
		for (int to = 0; to < m.ndevices; to++)
			for (int flip = 0; flip < 2; flip++)
				go(&net, from, to, 0, flip, wraps);
	double wanted = predicted(&m, O_all_to_all, &g, 2.0 * (double)m.ndevices);
	double slots = run(&net);
	ok(near(busiest(&net), wanted), "an all-to-all: the busiest link");
	ok(slots < wanted * 1.1, "... is busy nearly all the time");
	network_free(&net);
}

/* Any permutation: what the busiest link carries, and the longest way. */
static void
test_permutes(Session *s, bool wraps, int x, int y, int z)
{
	Mesh m = mesh_on(wraps ? wrapping(s) : ideal(s), x, y, z);
	AxisList all = all_axes(&m);
	int64_t source[64];
	bool good = true;

	for (int round = 0; round < 50; round++) {
		Network net = network_new(&m);
		int hops = 0, rank = m.topology_rank;
		for (int i = 0; i < m.ndevices; i++) {
			int k = rand() % (i + 1);
			source[i] = source[k];
			source[k] = i;
		}
		/* A chunk is a 12th of a message: each way round, from each dim on. */
		for (int i = 0; i < m.ndevices; i++)
			for (int k = 0; k < 12; k++) {
				int needed[3], n = 0;
				for (int d = 0; d < rank; d++)
					if (place(&m, i, d) != place(&m, (int)source[i], d))
						needed[n++] = d;
				int way = n ? go(&net, (int)source[i], i, needed[k % n], k / 6,
						  wraps)
					    : 0;
				hops = way > hops ? way : hops;
			}
		TransferCost cost =
			transfer_cost(&m, O_collective_permute, &all, NULL, source, 12000);
		good &= near(cost.links, busiest(&net) * 1000 / LINK) && cost.hops == hops;
		network_free(&net);
	}
	ok(good, "permutations: the busiest link and the longest way");
}

/* ---- layouts ---------------------------------------------------------------------------- */

static Mesh
mesh_laid_out(const Target *target, TorusDims topology, int64_t x, int64_t y)
{
	Mesh m = {.naxes = 2, .ndevices = x * y, .target = target, .slices = 1};

	m.topology_rank = topology.n;
	memcpy(m.topology, topology.v, sizeof topology.v);
	m.axes[0] = (MeshAxis){.name = "X", .size = x};
	m.axes[1] = (MeshAxis){.name = "Y", .size = y};
	layout_default(&m);
	return m;
}

static Mesh
speeds(Mesh m, const Target *ideal)
{
	m.target = ideal;
	return m;
}

/* Each chip of such a slice sends to the next one of its number. */
static void
test_numbered(Session *s, const char *target, TorusDims topology)
{
	int64_t n = topology.v[0] * topology.v[1] * topology.v[2], source[16];
	Mesh m = speeds(mesh_laid_out(target_by_name(target), topology, n, 1), ideal(s));
	AxisList all = all_axes(&m);

	for (int64_t i = 0; i < n; i++)
		source[i] = (i + n - 1) % n;
	TransferCost shift = transfer_cost(&m, O_collective_permute, &all, NULL, source, 1e6);
	ok(m.ring && shift.hops == 1 && near(shift.links, 1e6 / LINK),
		"the chips of a small slice are numbered along a ring");
}

static int
node_of(const Mesh *m, int64_t device)
{
	int64_t at[PHYSICAL_COUNT];
	int node = 0;

	mesh_coordinates(m, device, at);
	for (int d = 0; d < m->topology_rank; d++)
		node = node * (int)m->topology[d] + (int)at[d];
	return node;
}

/* Two devices a chip, of which those of a host are numbered along a ring: permutations
   of the chips, both devices alike.  Round a ring is one way to begin with where x and y
   are two: with z, the loads differ. */
static void
test_hosts(Session *s, const char *target, TorusDims topology)
{
	int64_t chips = topology.v[0] * topology.v[1] * topology.v[2], source[32];
	Mesh m = speeds(mesh_laid_out(target_by_name(target), topology, 2 * chips, 1),
		target_with(s, &(Override){"devices_per_chip", "2"}, 1));
	AxisList all = all_axes(&m);
	bool good = m.ring;

	for (int i = 0; i < chips; i++)
		source[2 * i] = i;
	for (int round = 0; round < 50; round++) {
		Network net = network_new(&m);
		int hops = 0;
		for (int i = 0; i < chips; i++) {
			int k = rand() % (i + 1);
			int64_t chip = source[2 * k];
			source[2 * k] = source[2 * i];
			source[2 * i] = chip;
		}
		int64_t devices[32];
		for (int i = 0; i < 2 * chips; i++) {
			devices[i] = source[i - i % 2] * 2 + i % 2;
			int from = node_of(&m, devices[i]), to = node_of(&m, i);
			for (int k = 0; k < 12; k++) {
				int needed[3], n = 0;
				for (int d = 0; d < m.topology_rank; d++)
					if (place(&m, from, d) != place(&m, to, d))
						needed[n++] = d;
				int way = n ? go(&net, from, to, needed[k % n], 0, false) : 0;
				hops = way > hops ? way : hops;
			}
		}
		TransferCost cost =
			transfer_cost(&m, O_collective_permute, &all, NULL, devices, 12000);
		good &= hops == cost.hops;
		good &= chips > 4 || near(cost.links, busiest(&net) * 1000 / LINK);
		network_free(&net);
	}
	ok(good, "two devices a chip: the busiest link and the longest way");
}

static void
test_parts_of_hosts(Session *s)
{
	Override hops[] = {{"devices_per_chip", "2"}, {"hop_seconds", "1"}};
	Mesh m = speeds(mesh_laid_out(target_by_name("v7x"), (TorusDims){3, {2, 2, 1}}, 8, 1),
		target_with(s, hops, 2));
	AxisList across = {1, {{0, 1, 2}}}, beside = {1, {{0, 2, 2}}}, chips = {1, {{0, 1, 4}}};

	ok(near(seconds(&m, O_all_gather, across, 0), 2), "corners of a host: two hops");
	ok(near(seconds(&m, O_all_gather, beside, 0), 1), "chips beside each other: one");
	ok(near(seconds(&m, O_all_gather, chips, 0), 2), "all of a host: two");
	ok(near(seconds(&m, O_all_gather, across, 1e6) - 2, 0.5e6 / (LINK / 2)),
		"corners of a host: each half by its own way");
}

static void
test_parts_of_ring(Session *s)
{
	const Target *fast = ideal(s);
	AxisList x = {1, {{0, 1, 4}}}, y = {1, {{0, 4, 4}}}, side = {1, {{0, 2, 4}}};
	Mesh m = speeds(mesh_laid_out(target_by_name("v5e"), (TorusDims){2, {4, 4, 1}}, 16, 1),
		fast);
	double V = 1e6;

	ok(near(seconds(&m, O_all_gather, y, V), V * 3 / 4 / LINK), "a row of a 4x4 is a line");
	ok(near(seconds(&m, O_all_gather, x, V), V * 3 / 4 / (LINK / 2)),
		"every fourth of its ring: four take turns");
	ok(near(seconds(&m, O_all_gather, all_axes(&m), V), V * 15 / 16 / (2 * LINK)),
		"all of it is two lines");
	m = speeds(mesh_laid_out(target_by_name("v5p"), (TorusDims){3, {2, 2, 2}}, 8, 1), fast);
	ok(near(seconds(&m, O_all_gather, side, V), V * 3 / 4 / (2 * LINK)),
		"a side of a 2x2x2 has two links a chip");
	m = mesh_on(fast, 3, 4, 0);
	m.naxes = 1;
	m.axes[0].size = 12;
	m.layout[0] = (AxisLayout){2, {{PHYSICAL_x, 1, 3}, {PHYSICAL_y, 1, 4}}, false};
	ok(near(seconds(&m, O_all_gather, (AxisList){1, {{0, 2, 2}}}, V), V / 2 / (LINK / 6)),
		"a part across dims: a line through all chips, of which six take turns");
}

/* ---- loads ------------------------------------------------------------------------------ */

static void
test_loads(Session *s)
{
	Mesh m = mesh_on(wrapping(s), 4, 4, 0);
	AxisList x = {1, {{0, 1, 4}}};
	int64_t up[] = {3, 0, 1, 2};
	TransferCost gather = transfer_cost(&m, O_all_gather, &x, NULL, NULL, 1000);
	TransferCost shift = transfer_cost(&m, O_collective_permute, &x, NULL, up, 1000);

	ok(near(gather.loads.up[PHYSICAL_x], gather.seconds)
			&& near(gather.loads.down[PHYSICAL_x], gather.seconds)
			&& gather.loads.up[PHYSICAL_y] == 0,
		"a gather along x loads the links of x, both ways");
	ok(near(shift.loads.up[PHYSICAL_x], 1000 / LINK) && shift.loads.down[PHYSICAL_x] == 0,
		"a shift loads those of one way");
}

/* ---- at once ---------------------------------------------------------------------------- */

static TransferCost
gather(const Mesh *m, AxisList axes)
{
	return transfer_cost(m, O_all_gather, &axes, NULL, NULL, 1e6);
}

/* Of members of the axes, from one to the other. */
static TransferCost
send_one(const Mesh *m, AxisList axes, int from, int to)
{
	int64_t source[16];

	for (int i = 0; i < 16; i++)
		source[i] = i == to ? from : -1;
	return transfer_cost(m, O_collective_permute, &axes, NULL, source, 1e6);
}

/* From each to the one so many on, of 16 or fewer. */
static TransferCost
shift(const Mesh *m, AxisList axes, int64_t by)
{
	int64_t source[16], n = axes_size(&axes);

	for (int64_t i = 0; i < n; i++)
		source[i] = (i - by + n) % n;
	return transfer_cost(m, O_collective_permute, &axes, NULL, source, 1e6);
}

static Task
start(const TransferCost *cost)
{
	int64_t bytes = picoseconds(cost->links + cost->network);

	return (Task){
		.kind = TASK_start,
		.moves = true,
		.picoseconds = bytes,
		.shared = bytes,
		.links = &cost->loads.used,
	};
}

static void
at_once(TransferCost a, TransferCost b, bool shares, const char *name)
{
	Task tasks[] = {start(&a), start(&b)};
	int64_t one = tasks[0].shared, other = tasks[1].shared;
	int64_t longer = one > other ? one : other;
	Arena *arena = arena_new();
	int64_t is = tracks_run(tasks, 2, NULL, arena);

	arena_free(arena);
	ok(longer > 0 && is == (shares ? one + other : longer), name);
}

static void
test_dims_at_once(Session *s)
{
	AxisList x = {1, {{0, 1, 4}}}, y = {1, {{1, 1, 4}}}, minor = {1, {{0, 4, 4}}};
	Mesh square = mesh_on(wrapping(s), 4, 4, 0), line = mesh_on(ideal(s), 16, 0, 0);
	Mesh ring = mesh_on(wrapping(s), 16, 0, 0);
	AxisList all = all_axes(&line), plane = all_axes(&square);

	at_once(gather(&square, x), gather(&square, y), false, "dims do not slow each other");
	at_once(gather(&square, x), gather(&square, plane), true, "all dims and one of them");
	at_once(gather(&ring, x), gather(&ring, minor), true, "two axes on one dim share it");
	at_once(gather(&line, x), gather(&line, minor), true, "... that does not wrap, too");
	at_once(shift(&ring, all, 1), shift(&ring, all, 15), false, "round a ring, and back");
	at_once(shift(&ring, all, 1), shift(&ring, all, 1), true, "round a ring, twice");
	at_once(shift(&ring, all, 1), gather(&ring, minor), true, "round a ring, and a gather");
	at_once(send_one(&line, all, 0, 1), send_one(&line, all, 2, 3), false, "two places");
	at_once(send_one(&line, all, 0, 2), send_one(&line, all, 1, 3), true, "one between");
	at_once(send_one(&line, all, 0, 2), send_one(&line, all, 3, 1), false, "and back");
	at_once(gather(&line, minor), send_one(&line, all, 3, 4), false, "from group to group");
	at_once(gather(&line, minor), send_one(&line, all, 4, 5), true, "within a group");
}

static void
test_tiers_at_once(Session *s)
{
	Mesh slices = mesh_on(ideal(s), 4, 0, 0), large = mesh_on(wrapping(s), 256, 256, 0);
	Mesh plain = mesh_on(ideal(s), 4, 4, 0);
	AxisList x = {1, {{0, 1, 4}}}, y = {1, {{1, 1, 4}}};

	slices.slices = 4;
	add_axis(&slices, "S", PHYSICAL_slice, 4);
	at_once(gather(&slices, x), gather(&slices, y), false, "in slices and between them");
	at_once(gather(&slices, y), gather(&slices, y), true, "twice between slices");
	at_once(send_one(&slices, y, 0, 1), send_one(&slices, y, 2, 3), false,
		"between some, and others");
	at_once(send_one(&slices, y, 0, 1), send_one(&slices, y, 0, 3), true, "from one slice");
	at_once(send_one(&slices, y, 0, 1), send_one(&slices, y, 1, 2), false,
		"what comes does not slow what goes");
	plain.topology_rank = 0;
	at_once(gather(&plain, x), gather(&plain, y), false, "each axis a ring of its own");
	at_once(shift(&plain, x, 1), shift(&plain, x, 3), false, "... round it, and back");
	at_once(gather(&large, (AxisList){1, {{0, 1, 256}}}),
		gather(&large, (AxisList){1, {{1, 1, 256}}}), false, "65,536 chips");
	Mesh m = mesh_laid_out(target_by_name("v5e"), (TorusDims){2, {4, 4, 1}}, 16, 1);
	AxisList all = {1, {{0, 1, 16}}};
	at_once(shift(&m, all, 1), shift(&m, all, 15), false,
		"round a numbered ring, and back");
	at_once(send_one(&m, all, 0, 1), send_one(&m, all, 4, 5), false, "two places of it");
	at_once(send_one(&m, all, 0, 3), send_one(&m, all, 2, 5), true, "one between, of it");
}

/* Messages between members, step chips apart, and between those of all groups: the bits
   are those of the links that carry something. */
static void
test_link_sets(Session *s, bool wraps, int n, int size, int step)
{
	Mesh m = mesh_on(wraps ? wrapping(s) : ideal(s), n, 0, 0);
	AxisList axes = {1, {{0, n / size / step, size}}};
	int64_t source[16];
	bool exact = true;

	for (int round = 0; round < 50; round++) {
		Network net = network_new(&m);
		LinkParts up = 0, down = 0;
		for (int i = 0; i < size; i++)
			source[i] = rand() % 3 ? -1 : rand() % size;
		for (int i = 0; i < n * 2; i++) {
			int member = i / 2 / step % size;
			if (source[member] < 0)
				continue;
			int from = i / 2 + ((int)source[member] - member) * step;
			go(&net, from, i / 2, 0, i & 1, wraps && size * step == n);
		}
		for (int i = 0; i < net.n; i++) {
			LinkParts bit = (LinkParts)(1 << net.edges[i].link / 3 / WAYS);
			*(net.edges[i].link % WAYS ? &down : &up) |= bit;
		}
		LinkSet used =
			transfer_cost(&m, O_collective_permute, &axes, NULL, source, 12000)
				.loads.used;
		exact &= used.row[0] == up && used.row[1] == down;
		network_free(&net);
	}
	ok(exact, "messages: the links that they use");
}

int
main(void)
{
	Session *s = session_new();

	for (int64_t n = 2; n <= 9; n++) {
		test_ring(s, n);
		test_line(s, n);
	}
	test_torus(s);
	test_shares(s);
	test_tiers(s);
	test_latency(s);
	test_in_turn(s);
	test_monotone(s);
	test_book(s);
	test_gathers(s);
	test_plane(s, true, 4, 4, 1, 24);
	test_plane(s, false, 2, 2, 1, 24);
	test_plane(s, false, 4, 2, 1, 8);
	test_plane(s, true, 3, 3, 1, 24);
	test_plane(s, false, 2, 8, 2, 48);
	test_cubes(s);
	test_exchange(s, true, 8, 0, 0);
	test_exchange(s, true, 7, 0, 0);
	test_exchange(s, true, 4, 6, 0);
	test_exchange(s, true, 3, 4, 5);
	test_exchange(s, false, 4, 5, 0);
	test_exchange(s, false, 2, 2, 4);
	test_permutes(s, true, 4, 6, 0);
	test_permutes(s, false, 3, 5, 0);
	test_permutes(s, true, 4, 4, 4);
	test_numbered(s, "v5e", (TorusDims){2, {2, 2, 1}});
	test_numbered(s, "v5e", (TorusDims){2, {2, 4, 1}});
	test_numbered(s, "v5e", (TorusDims){2, {4, 2, 1}});
	test_numbered(s, "v5e", (TorusDims){2, {4, 4, 1}});
	test_numbered(s, "v5p", (TorusDims){3, {2, 2, 2}});
	test_hosts(s, "v2", (TorusDims){2, {2, 2, 1}});
	test_hosts(s, "v7x", (TorusDims){3, {2, 2, 1}});
	test_hosts(s, "v7x", (TorusDims){3, {2, 2, 2}});
	test_hosts(s, "v7x", (TorusDims){3, {2, 2, 4}});
	test_parts_of_hosts(s);
	test_parts_of_ring(s);
	test_loads(s);
	test_dims_at_once(s);
	test_tiers_at_once(s);
	for (int size = 2; size <= 16; size *= 2)
		for (int step = 1; step * size <= 16; step *= 2) {
			test_link_sets(s, true, 16, size, step);
			test_link_sets(s, false, 16, size, step);
		}
	session_free(s);
	printf("1..%d\n", tests);
	return 0;
}
