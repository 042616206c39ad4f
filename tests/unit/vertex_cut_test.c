/*
 * vertex_cut_test.c - the lightest cut of random graphs, against all cuts there are.
 */
#include <stdlib.h>
#include "base/base.h"
#include "../runtime/tap.h"

enum { MOST = 9, GRAPHS = 20000 };

typedef struct Graph {
	int n;
	int64_t weights[MOST];
	bool source[MOST], sink[MOST], edge[MOST][MOST]; /* edges lead to later ones */
} Graph;

static uint32_t
draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % n;
}

static Graph
draw_graph(uint32_t *seed)
{
	Graph g = {.n = 1 + (int)draw(seed, MOST)};

	for (int i = 0; i < g.n; i++) {
		g.weights[i] = 1 + draw(seed, 5);
		g.source[i] = !draw(seed, 3);
		g.sink[i] = !draw(seed, 3);
		for (int k = i + 1; k < g.n; k++)
			g.edge[i][k] = !draw(seed, 3);
	}
	return g;
}

/* What is reached from a source if nothing passes through vertices of the set. */
static unsigned
reached_from_sources(const Graph *g, unsigned set)
{
	unsigned reached = 0;

	for (int i = 0; i < g->n; i++) {
		reached |= (unsigned)g->source[i] << i;
		for (int k = i + 1; k < g->n && (reached & ~set) >> i & 1; k++)
			reached |= (unsigned)g->edge[i][k] << k;
	}
	return reached;
}

/* Is no sink then reached, other than those of the set? */
static bool
separates(const Graph *g, unsigned set)
{
	unsigned reached = reached_from_sources(g, set) & ~set;

	for (int i = 0; i < g->n; i++)
		if (g->sink[i] && reached >> i & 1)
			return false;
	return true;
}

static int64_t
weight_of(const Graph *g, unsigned set)
{
	int64_t weight = 0;

	for (int i = 0; i < g->n; i++)
		weight += set >> i & 1 ? g->weights[i] : 0;
	return weight;
}

static int64_t
least_of_all(const Graph *g)
{
	int64_t least = INT64_MAX;

	for (unsigned set = 0; set < 1u << g->n; set++)
		if (separates(g, set))
			least = lesser(least, weight_of(g, set));
	return least;
}

/* The weight is the least, what is said to be on the cut is one that weighs as much and
   has no vertex for nothing, and before it is what is reached from a source. */
static bool
is_right(const Graph *g, bool near_sinks)
{
	Arena *a = arena_new();
	VertexCut *cut = vertex_cut_new(a);
	unsigned set = 0, before = 0;

	for (int i = 0; i < g->n; i++) {
		vertex_cut_add(cut, g->weights[i], g->source[i]);
		if (g->sink[i])
			vertex_cut_sink(cut, i);
	}
	for (int i = 0; i < g->n; i++)
		for (int k = i + 1; k < g->n; k++)
			if (g->edge[i][k])
				vertex_cut_edge(cut, i, k);
	int64_t weight = vertex_cut_find(cut, near_sinks);
	for (int i = 0; i < g->n; i++) {
		set |= (unsigned)(vertex_cut_side(cut, i) == CUT_on) << i;
		before |= (unsigned)(vertex_cut_side(cut, i) == CUT_before) << i;
	}
	arena_free(a);
	bool needed = true;
	for (int i = 0; i < g->n; i++)
		needed &= !(set >> i & 1) || !separates(g, set & ~(1u << i));
	return weight == least_of_all(g) && separates(g, set) && weight_of(g, set) == weight
		&& needed && before == (reached_from_sources(g, set) & ~set);
}

int
main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	int wrong = 0;

	printf("# seed %u\n", seed);
	for (int i = 0; i < GRAPHS; i++) {
		Graph g = draw_graph(&seed);
		wrong += !is_right(&g, false) || !is_right(&g, true);
	}
	ok(!wrong, "%d of %d cuts are the lightest", GRAPHS - wrong, GRAPHS);
	return done();
}
