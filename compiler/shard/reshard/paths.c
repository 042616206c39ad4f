/*
 * paths.c - the cheapest path from one state to another, searched for once.
 *
 *   f32[64@X, 16, 8] -> [64, 16, 8@X]      atoms X
 *   bf16[4, 32@Y]    -> [4@Y, 32]          the same, if Y is as large and divides 4
 *
 * A path depends on the sizes of the atoms, on the two states, and on which products of
 * atoms divide which dim; not on the bytes, nor on the axes, nor on dims that stay as they
 * are.  So what is searched is that problem alone, and its path is kept in memory that this
 * process shares with its copies: layers, trials and rows of a sweep meet the same few
 * problems again and again.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "shard/reshard/reshard.h"

enum {
	MAX_PATHS = 1 << 14, /* that are kept, */
	MAX_STEPS = 8,	     /* of at most so many moves */
	MAX_PROBES = 16,
};

/* Equal problems have equal bytes. */
typedef struct Problem {
	int64_t atoms[MAX_ATOMS]; /* their sizes, then zeros */
	int64_t dims[MAX_RANK];	  /* what of the dims' sizes products of atoms may divide */
	int32_t natoms, rank;
	State start, goal;
} Problem;

typedef struct Path {
	atomic_int kept; /* KEPT_ */
	int n;
	Problem problem;
	Node nodes[MAX_STEPS + 1]; /* from the start to the goal */
} Path;

/* A process that ends on the way leaves a path that nobody takes. */
enum { KEPT_not, KEPT_soon, KEPT_wholly };

/* `dims`: of each dim of the problem, that of the tensor. */
static Problem
problem_of(const Search *s, const State *start, int *dims)
{
	Problem problem;
	int64_t product = 1;

	memset(&problem, 0, sizeof problem);
	problem.natoms = s->natoms;
	for (int a = 0; a < s->natoms; a++)
		product *= problem.atoms[a] = s->atoms[a].size;
	problem.start.partial = start->partial;
	problem.goal.partial = s->goal.partial;
	for (int d = 0; d < s->rank; d++) {
		int k = problem.rank;
		if (!s->active[d])
			continue;
		dims[problem.rank++] = d;
		problem.dims[k] = gcd_i64(s->size[d], product);
		problem.start.n[k] = start->n[d];
		problem.goal.n[k] = s->goal.n[d];
		memcpy(problem.start.atom[k], start->atom[d], MAX_ATOMS);
		memcpy(problem.goal.atom[k], s->goal.atom[d], MAX_ATOMS);
	}
	return problem;
}

/* Can no path move less, in fewer collectives?  Parts of a sum may be made in several ways
   that move nothing, not all in as few ops. */
static bool
is_least(const Search *s, const Node *last, const State *start)
{
	return !s->goal.partial && last->collectives <= 1
		&& last->bytes <= state_least_bytes(s, start) * (1 + 4e-9);
}

/* The path's last node, in `a`.  A free search looks at nothing that moves more than what the
   directed one found. */
static const Node *
search_new(Arena *a, const Problem *problem)
{
	Search s = {.arena = a,
		.rank = problem->rank,
		.natoms = problem->natoms,
		.goal = problem->goal,
		.directed = true,
		.limit = INFINITY};

	for (int i = 0; i < s.natoms; i++)
		s.atoms[i] = (AxisRef){0, 1, (int32_t)problem->atoms[i]};
	for (int d = 0; d < s.rank; d++) {
		s.active[d] = true;
		s.size[d] = problem->dims[d];
	}
	const Node *directed = reshard_search(&s, &problem->start), *free = NULL;
	bool least = is_least(&s, directed, &problem->start);
	if (!least && problem->natoms <= FREE_SEARCH_ATOMS) {
		s.directed = false;
		free = reshard_search(&s, &problem->start);
	}
	return free ? free : directed;
}

static uint64_t
problem_hash(const Problem *problem)
{
	uint64_t hash = 0;
	int64_t word;

	for (size_t i = 0; i < sizeof *problem; i += sizeof word) {
		memcpy(&word, (const char *)problem + i, sizeof word);
		hash = word ? hash_mix(hash, word + (int64_t)i) : hash;
	}
	return hash;
}

/* The path that is kept, or NULL; then *room is where it may be, unless that is NULL, too. */
static const Path *
path_find(const Problem *problem, Path **room)
{
	static Path *all;
	uint64_t hash = problem_hash(problem);

	*room = NULL;
	if (!all)
		all = shared_new(MAX_PATHS * sizeof *all);
	for (uint64_t i = 0; all && i < MAX_PROBES; i++) {
		Path *path = &all[(hash + i) % MAX_PATHS];
		int kept = atomic_load(&path->kept);
		if (kept == KEPT_wholly && !memcmp(&path->problem, problem, sizeof *problem))
			return path;
		if (kept == KEPT_not) {
			*room = path;
			break;
		}
	}
	return NULL;
}

static void
path_keep(Path *room, const Problem *problem, const Node *last)
{
	int not = KEPT_not;

	if (!room || last->moves > MAX_STEPS
		|| !atomic_compare_exchange_strong(&room->kept, &not, KEPT_soon))
		return;
	room->problem = *problem;
	room->n = last->moves;
	for (int i = room->n; last; last = last->parent)
		room->nodes[i--] = *last;
	atomic_store(&room->kept, KEPT_wholly);
}

/* The node as one of the tensor's. */
static Node *
node_in(const Search *s, const Node *node, const Problem *problem, const int *dims)
{
	Node *n = arena_copy(s->arena, node, sizeof *node);

	memset(&n->state, 0, sizeof n->state);
	n->state.partial = node->state.partial;
	for (int k = 0; k < problem->rank; k++) {
		n->state.n[dims[k]] = node->state.n[k];
		memcpy(n->state.atom[dims[k]], node->state.atom[k], MAX_ATOMS);
	}
	n->dim = dims[node->dim];
	for (int i = 0; i < node->nexchanges; i++) {
		n->exchanges[i].from = (int8_t)dims[node->exchanges[i].from];
		n->exchanges[i].to = (int8_t)dims[node->exchanges[i].to];
	}
	return n;
}

const Node *
reshard_path(const Search *s, const State *start)
{
	int dims[MAX_RANK] = {0};
	Problem problem = problem_of(s, start, dims);
	Path *room;
	const Path *path = path_find(&problem, &room);
	const Node *found = path ? &path->nodes[path->n] : search_new(s->arena, &problem);
	Node *last = NULL, **parent = &last;

	if (!path)
		path_keep(room, &problem, found);
	for (; found; found = !found->parent ? NULL : path ? found - 1 : found->parent) {
		*parent = node_in(s, found, &problem, dims);
		parent = &(*parent)->parent;
	}
	return last;
}
