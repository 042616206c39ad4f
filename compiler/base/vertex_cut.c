/*
 * vertex_cut.c - the lightest vertices of a graph that separate its sources from its sinks.
 *
 * What they weigh is what can flow from sources to sinks where each vertex lets through its
 * weight (Menger; Ford and Fulkerson 1956): flow goes the shortest way there is room on
 * until there is none (Edmonds and Karp 1972).  A vertex is two points, the arc between
 * them has its weight.
 */
#include "base.h"

typedef struct Arc {
	int to, next; /* a point; the next arc from where this one is from, or -1 */
	int64_t room; /* the arc back stands beside it, at the number ^ 1 */
} Arc;

typedef struct Point {
	int arcs; /* the newest, or -1 */
	int by;	  /* the arc that the search came by; AT_SOURCE, UNSEEN */
	bool source, sink;
} Point;

enum { AT_SOURCE = -1, UNSEEN = -2, REACHED = -3 };

struct VertexCut {
	Arena *arena;
	Point *points; /* 2 v: into vertex v, 2 v + 1: out of it */
	Arc *arcs;
	int *queue;
	int npoints, narcs;
};

VertexCut *
vertex_cut_new(Arena *a)
{
	VertexCut *cut = NEW(a, VertexCut);

	cut->arena = a;
	return cut;
}

static void
add_arc(VertexCut *cut, int from, int to, int64_t room)
{
	int ends[] = {from, to};

	for (int back = 0; back < 2; back++) {
		Point *p = &cut->points[ends[back]];
		Arc arc = {ends[1 - back], p->arcs, back ? 0 : room};
		p->arcs = cut->narcs;
		APPEND(cut->arena, cut->arcs, cut->narcs, arc);
	}
}

static bool
is_arc_back(int arc)
{
	return arc & 1;
}

int
vertex_cut_add(VertexCut *cut, int64_t weight, bool source)
{
	Point in = {-1, UNSEEN, source, false}, out = {-1, UNSEEN, false, false};
	int into = cut->npoints;

	APPEND(cut->arena, cut->points, cut->npoints, in);
	APPEND(cut->arena, cut->points, cut->npoints, out);
	add_arc(cut, into, into + 1, weight);
	return into / 2;
}

void
vertex_cut_sink(VertexCut *cut, int vertex)
{
	cut->points[2 * vertex + 1].sink = true;
}

void
vertex_cut_edge(VertexCut *cut, int from, int to)
{
	add_arc(cut, 2 * from + 1, 2 * to, INT64_MAX);
}

/* The nearest sink that there is room on the way to; -1: none. */
static int
search_sink(VertexCut *cut)
{
	int n = 0;

	for (int i = 0; i < cut->npoints; i++) {
		cut->points[i].by = cut->points[i].source ? AT_SOURCE : UNSEEN;
		if (cut->points[i].source)
			cut->queue[n++] = i;
	}
	for (int k = 0; k < n; k++) {
		const Point *p = &cut->points[cut->queue[k]];
		if (p->sink)
			return cut->queue[k];
		for (int a = p->arcs; a >= 0; a = cut->arcs[a].next)
			if (cut->arcs[a].room && cut->points[cut->arcs[a].to].by == UNSEEN) {
				cut->points[cut->arcs[a].to].by = a;
				cut->queue[n++] = cut->arcs[a].to;
			}
	}
	return -1;
}

/* As much as there is room for on the way that the search came; how much that is. */
static int64_t
let_flow(VertexCut *cut, int sink)
{
	int64_t flow = INT64_MAX;

	for (int a = cut->points[sink].by; a >= 0; a = cut->points[cut->arcs[a ^ 1].to].by)
		flow = lesser(flow, cut->arcs[a].room);
	for (int a = cut->points[sink].by; a >= 0; a = cut->points[cut->arcs[a ^ 1].to].by) {
		if (cut->arcs[a].room != INT64_MAX)
			cut->arcs[a].room -= flow;
		if (cut->arcs[a ^ 1].room != INT64_MAX)
			cut->arcs[a ^ 1].room += flow;
	}
	return flow;
}

/* Those from which a sink is still to be reached are behind the cut: UNSEEN; all others are
   AT_SOURCE. */
static void
search_back(VertexCut *cut)
{
	int n = 0;

	for (int i = 0; i < cut->npoints; i++) {
		cut->points[i].by = cut->points[i].sink ? UNSEEN : AT_SOURCE;
		if (cut->points[i].sink)
			cut->queue[n++] = i;
	}
	for (int k = 0; k < n; k++)
		for (int a = cut->points[cut->queue[k]].arcs; a >= 0; a = cut->arcs[a].next) {
			Point *from = &cut->points[cut->arcs[a].to];
			if (!cut->arcs[a ^ 1].room || from->by == UNSEEN)
				continue;
			from->by = UNSEEN;
			cut->queue[n++] = cut->arcs[a].to;
		}
}

/* What is not behind the cut is before it if a source leads there, else behind it. */
static void
search_on(VertexCut *cut)
{
	int n = 0;

	for (int i = 0; i < cut->npoints; i++)
		if (cut->points[i].source && cut->points[i].by == AT_SOURCE) {
			cut->points[i].by = REACHED;
			cut->queue[n++] = i;
		}
	for (int k = 0; k < n; k++)
		for (int a = cut->points[cut->queue[k]].arcs; a >= 0; a = cut->arcs[a].next) {
			Point *to = &cut->points[cut->arcs[a].to];
			if (is_arc_back(a) || to->by != AT_SOURCE)
				continue;
			to->by = REACHED;
			cut->queue[n++] = cut->arcs[a].to;
		}
	for (int i = 0; i < cut->npoints; i++)
		if (cut->points[i].by == AT_SOURCE)
			cut->points[i].by = UNSEEN;
}

int64_t
vertex_cut_find(VertexCut *cut, bool near_sinks)
{
	int64_t weight = 0;
	int sink;

	cut->queue = NEW_ARRAY(cut->arena, int, cut->npoints + 1);
	while ((sink = search_sink(cut)) >= 0)
		weight += let_flow(cut, sink);
	if (near_sinks) {
		search_back(cut);
		search_on(cut);
	}
	return weight;
}

CutSide
vertex_cut_side(const VertexCut *cut, int vertex)
{
	if (cut->points[2 * vertex].by == UNSEEN)
		return CUT_behind;
	return cut->points[2 * vertex + 1].by == UNSEEN ? CUT_on : CUT_before;
}
