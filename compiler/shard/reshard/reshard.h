/*
 * reshard.h - a search for the moves between two placements.
 *
 *   [8@(X,Y), 4] -> [8@Y, 4@X], X=2, Y=4     atoms X, Y
 *   states   dim 0: X Y   dim 1: -            start
 *            dim 0: Y X   dim 1: -            after a permute
 *            dim 0: Y     dim 1: X            after an all-to-all: the goal
 */
#ifndef SHDC_RESHARD_H
#define SHDC_RESHARD_H

#include "shard/shard.h"

enum {
	MAX_ATOMS = 24,	       /* pieces of at least 2 of at most 2^24 devices */
	FREE_SEARCH_ATOMS = 5, /* above, only moves towards the target */
	MAX_SET_ATOMS = 8,     /* above, partial sums are combined all at once */
	MAX_EXPANDED = 20000,  /* states; then moves towards the target */
};

typedef struct State {
	uint32_t partial; /* bit a: atom a holds partial sums */
	uint8_t n[MAX_RANK];
	uint8_t atom[MAX_RANK][MAX_ATOMS];
} State;

typedef struct Node {
	State state;
	double bytes;
	int collectives, moves;
	struct Node *parent; /* NULL at the start */
	int number;	     /* in the order in which they were found */
	OpKind kind;
	int dim;
	uint32_t group; /* atoms of the move's group */
	int nexchanges;
	struct {
		int8_t from, to, count;
	} exchanges[MAX_EXCHANGES];
	bool closed;
} Node;

typedef struct Search {
	Arena *arena;
	const Mesh *mesh;
	const Type *type;
	int rank;
	int natoms;
	AxisRef atoms[MAX_ATOMS];
	AxisList prefix[MAX_RANK]; /* what both placements share */
	int64_t size[MAX_RANK];	   /* of a dim after its prefix */
	bool active[MAX_RANK];	   /* dims whose split differs */
	State goal;
	bool directed;	  /* only moves towards the goal */
	Lookup *known;	  /* nodes by state */
	Lookup *permuted; /* classes of states that a permute has led to already */
	int nnodes;
	Node **heap;
	int nheap;
	int expanded;
	double local_bytes; /* of the state that is being expanded */
	double limit;	    /* bytes of a path that is known; infinite: none is */
} Search;

/* atoms.c: fills in atoms, goal and what both placements share. */
void reshard_atoms(Search *s, const Placement *from, const Placement *to);
State reshard_state(const Search *s, const Placement *p);
/* Can the axis be cut so that the pieces of both are unions of cuts? */
bool axis_cuts_nest(int axis, const Placement *from, const Placement *to);

/* states.c */
int64_t state_ways(const Search *s, const State *st, int dim);
uint32_t state_atoms(const Search *s, const State *st); /* those in use */
/* Of a tensor of 1 byte, on the way to the goal. */
double state_least_bytes(const Search *s, const State *st);

/* paths.c: the goal's node, whose parents lead back to the start. */
const Node *reshard_path(const Search *s, const State *start);

/* search.c: the same, of a tensor of 1 byte; NULL if it takes
   too long.  A directed search always succeeds. */
const Node *reshard_search(Search *s, const State *start);

#endif
