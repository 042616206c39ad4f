/*
 * reshard.c - the cheapest sequence of slice, collective-permute, all-to-all,
 * all-gather, all-reduce and reduce-scatter between any two placements.
 *
 * What differs between the placements is cut into atoms: pieces of mesh axes
 * on whose boundaries both agree.  A state says, for each dim, which atoms
 * split it (major to minor), and which atoms hold partial sums; the others are
 * free.  Dijkstra's search over states finds the plan of fewest bytes; ties go
 * to fewer collectives, then to fewer moves, then to the order in which
 * Shardy tries the kinds: slice, permute, all-to-all, all-gather.
 *
 *   [x] -> [y]         permute
 *   [x,-] -> [-,x]     all-to-all
 *   [x,y] -> [y]       permute to [y,x], gather x
 *
 * Gathering what differs and slicing is one of the paths searched, so no plan
 * moves more than that.  Plans are kept by pair of placements.
 */
#include <stdlib.h>
#include <string.h>
#include "shard/shard.h"

enum {
	MAX_ATOMS = 24,		/* pieces of at least 2 of at most 2^24 devices */
	FREE_SEARCH_ATOMS = 5,	/* above, only moves towards the target */
	MAX_EXPANDED = 20000,	/* states; then moves towards the target */
};

typedef struct State {
	uint32_t partial;		/* bit a: atom a holds partial sums */
	uint8_t n[MAX_RANK];
	uint8_t atom[MAX_RANK][MAX_ATOMS];
} State;

typedef struct Node {
	State state;
	double bytes;
	int collectives, moves;
	int parent;			/* index, -1 at the start */
	MoveKind kind;
	int dim;
	uint32_t group;			/* atoms of the move's group */
	int nexchanges;
	struct { int8_t from, to, count; } exchanges[MAX_EXCHANGES];
	bool closed;
} Node;

typedef struct Search {
	Arena *arena;
	const Mesh *mesh;
	const Type *type;
	int rank;
	int natoms;
	AxisRef atoms[MAX_ATOMS];
	AxisList prefix[MAX_RANK];	/* what both placements share */
	int64_t size[MAX_RANK];		/* of a dim after its prefix */
	bool active[MAX_RANK];		/* dims whose split differs */
	double bytes;			/* of the tensor after the prefixes */
	State goal;
	bool directed;			/* only moves towards the goal */
	Node *nodes;
	int nnodes;
	int *heap, nheap;
	int *buckets, nbuckets;		/* hash of states -> node + 1 */
	int expanded;
} Search;

/* ---- states --------------------------------------------------------------- */

static int64_t
ways(const Search *s, const State *st, int dim)
{
	int64_t n = 1;

	for (int i = 0; i < st->n[dim]; i++)
		n *= s->atoms[st->atom[dim][i]].size;
	return n;
}

static double
local_bytes(const Search *s, const State *st)
{
	double bytes = s->bytes;

	for (int d = 0; d < s->rank; d++)
		bytes /= (double)ways(s, st, d);
	return bytes;
}

static uint32_t
used_atoms(const Search *s, const State *st)
{
	uint32_t used = st->partial;

	for (int d = 0; d < s->rank; d++)
		for (int i = 0; i < st->n[d]; i++)
			used |= 1u << st->atom[d][i];
	return used;
}

static int64_t
group_size(const Search *s, uint32_t group)
{
	int64_t n = 1;

	for (int a = 0; a < s->natoms; a++)
		if (group >> a & 1)
			n *= s->atoms[a].size;
	return n;
}

static void
push_atom(State *st, int dim, int atom)
{
	st->atom[dim][st->n[dim]++] = (uint8_t)atom;
}

static int
pop_atom(State *st, int dim)
{
	int atom = st->atom[dim][--st->n[dim]];

	st->atom[dim][st->n[dim]] = 0;	/* equal states have equal bytes */
	return atom;
}

/* ---- the queue ------------------------------------------------------------ */

static bool
node_before(const Node *a, const Node *b)
{
	/* sums of the same terms in another order differ in the last bits */
	double tolerance = 1e-9 * (a->bytes + b->bytes);

	if (a->bytes < b->bytes - tolerance || a->bytes > b->bytes + tolerance)
		return a->bytes < b->bytes;
	if (a->collectives != b->collectives)
		return a->collectives < b->collectives;
	return a->moves < b->moves;
}

/* Equal nodes leave in the order in which they were found. */
static bool
heap_before(const Search *s, int a, int b)
{
	if (node_before(&s->nodes[a], &s->nodes[b]))
		return true;
	return !node_before(&s->nodes[b], &s->nodes[a]) && a < b;
}

static void
heap_push(Search *s, int node)
{
	s->heap = arena_grow(s->arena, s->heap, (size_t)s->nheap,
		sizeof *s->heap);
	int i = s->nheap++;
	while (i && heap_before(s, node, s->heap[(i - 1) / 2])) {
		s->heap[i] = s->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	s->heap[i] = node;
}

static int
heap_pop(Search *s)
{
	int top = s->heap[0], last = s->heap[--s->nheap], i = 0;

	for (;;) {
		int child = 2 * i + 1;
		if (child >= s->nheap)
			break;
		if (child + 1 < s->nheap &&
		    heap_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!heap_before(s, s->heap[child], last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	if (s->nheap)
		s->heap[i] = last;
	return top;
}

static bool
state_equal(const Search *s, const State *a, const State *b)
{
	return a->partial == b->partial &&
		!memcmp(a->n, b->n, (size_t)s->rank) &&
		!memcmp(a->atom, b->atom, (size_t)s->rank * MAX_ATOMS);
}

static uint64_t
state_hash(const Search *s, const State *st)
{
	uint64_t h = 1469598103934665603u ^ st->partial;

	for (int d = 0; d < s->rank; d++) {
		h = (h ^ st->n[d]) * 1099511628211u;
		for (int i = 0; i < st->n[d]; i++)
			h = (h ^ st->atom[d][i]) * 1099511628211u;
	}
	return h;
}

static void
bucket_add(Search *s, int node)
{
	uint64_t i = state_hash(s, &s->nodes[node].state);

	while (s->buckets[i % (uint64_t)s->nbuckets])
		i++;
	s->buckets[i % (uint64_t)s->nbuckets] = node + 1;
}

static void
buckets_grow(Search *s)
{
	s->nbuckets = s->nbuckets ? 2 * s->nbuckets : 256;
	s->buckets = NEW_ARRAY(s->arena, int, s->nbuckets);
	for (int i = 0; i < s->nnodes; i++)
		bucket_add(s, i);
}

/* The best node known for a state, -1 if none. */
static int
bucket_find(const Search *s, const State *st)
{
	uint64_t i = state_hash(s, st);

	for (int n; (n = s->buckets[i % (uint64_t)s->nbuckets]); i++)
		if (state_equal(s, &s->nodes[n - 1].state, st))
			return n - 1;
	return -1;
}

/* A copy of `parent` to be changed into a successor. */
static Node
successor(const Search *s, int parent, MoveKind kind)
{
	Node n = s->nodes[parent];

	n.parent = parent;
	n.kind = kind;
	n.group = 0;
	n.nexchanges = 0;
	n.closed = false;
	n.moves++;
	return n;
}

static void
offer(Search *s, Node n, double bytes, bool collective)
{
	n.bytes += bytes;
	n.collectives += collective;
	int known = bucket_find(s, &n.state);
	if (known >= 0) {
		Node *old = &s->nodes[known];
		if (old->closed || !node_before(&n, old))
			return;
		*old = n;
		heap_push(s, known);
		return;
	}
	if (2 * (s->nnodes + 1) > s->nbuckets)
		buckets_grow(s);
	APPEND(s->arena, s->nodes, s->nnodes, n);
	bucket_add(s, s->nnodes - 1);
	heap_push(s, s->nnodes - 1);
}

/* ---- moves ----------------------------------------------------------------- */

static bool
divides(const Search *s, const State *st, int dim, int64_t more)
{
	return s->size[dim] % (ways(s, st, dim) * more) == 0;
}

/* Would appending the atom to the dim agree with the goal so far? */
static bool
towards_goal(const Search *s, const State *st, int dim, int atom)
{
	int n = st->n[dim];

	if (!s->directed)
		return true;
	return n < s->goal.n[dim] && s->goal.atom[dim][n] == atom &&
		!memcmp(st->atom[dim], s->goal.atom[dim], (size_t)n);
}

static void
try_slices(Search *s, int at)
{
	State st = s->nodes[at].state;
	uint32_t used = used_atoms(s, &st);

	for (int a = 0; a < s->natoms; a++)
		for (int d = 0; d < s->rank; d++) {
			if (used >> a & 1 || !s->active[d] ||
			    !divides(s, &st, d, s->atoms[a].size) ||
			    !towards_goal(s, &st, d, a))
				continue;
			Node n = successor(s, at, MOVE_slice);
			push_atom(&n.state, d, a);
			offer(s, n, 0, false);
		}
}

static void
try_unreduce(Search *s, int at)
{
	uint32_t used = used_atoms(s, &s->nodes[at].state);
	uint32_t wanted = s->goal.partial & ~used;

	for (int a = 0; a < s->natoms; a++)
		if (wanted >> a & 1) {
			Node n = successor(s, at, MOVE_unreduce);
			n.state.partial |= 1u << a;
			n.group = 1u << a;
			offer(s, n, 0, false);
		}
}

/* Fills dims from `dim` on with any free atoms whose product stays `ways`. */
static void
try_permutes_from(Search *s, int at, Node *n, int dim, int64_t left,
	uint32_t available)
{
	const State *old = &s->nodes[at].state;

	while (dim < s->rank && left == 1)
		left = ++dim < s->rank ? ways(s, old, dim) : 1;
	if (dim == s->rank) {
		if (!state_equal(s, &n->state, old))
			offer(s, *n, local_bytes(s, old), true);
		return;
	}
	for (int a = 0; a < s->natoms; a++) {
		if (!(available >> a & 1) || left % s->atoms[a].size)
			continue;
		push_atom(&n->state, dim, a);
		try_permutes_from(s, at, n, dim, left / s->atoms[a].size,
			available & ~(1u << a));
		pop_atom(&n->state, dim);
	}
}

/* Every dim that can have its goal's atoms at once gets them. */
static void
try_directed_permute(Search *s, int at)
{
	const State *old = &s->nodes[at].state;
	Node n = successor(s, at, MOVE_permute);
	uint32_t taken = old->partial;

	for (int d = 0; d < s->rank; d++) {
		bool match = ways(s, old, d) == ways(s, &s->goal, d);
		for (int i = 0; match && i < s->goal.n[d]; i++)
			match = !(old->partial >> s->goal.atom[d][i] & 1);
		const State *source = match ? &s->goal : old;
		n.state.n[d] = source->n[d];
		memcpy(n.state.atom[d], source->atom[d], MAX_ATOMS);
		for (int i = 0; i < source->n[d]; i++) {
			if (taken >> source->atom[d][i] & 1)
				return;
			taken |= 1u << source->atom[d][i];
		}
	}
	if (!state_equal(s, &n.state, old))
		offer(s, n, local_bytes(s, old), true);
}

static void
try_permutes(Search *s, int at)
{
	Node n = successor(s, at, MOVE_permute);
	uint32_t all = (1u << s->natoms) - 1;

	if (s->directed) {
		try_directed_permute(s, at);
		return;
	}
	memset(n.state.n, 0, sizeof n.state.n);
	memset(n.state.atom, 0, sizeof n.state.atom);
	try_permutes_from(s, at, &n, 0, s->rank ? ways(s,
		&s->nodes[at].state, 0) : 1,
		all & ~s->nodes[at].state.partial);
}

/* Moves the last `count` atoms of one dim to the end of another. */
static bool
exchange(const Search *s, Node *n, int from, int to, int count)
{
	State *st = &n->state;
	int moved[MAX_ATOMS];
	int64_t more = 1;

	for (int i = count; i-- > 0;) {
		moved[i] = pop_atom(st, from);
		more *= s->atoms[moved[i]].size;
	}
	if (!divides(s, st, to, more))
		return false;
	for (int i = 0; i < count; i++) {
		if (!towards_goal(s, st, to, moved[i]))
			return false;
		push_atom(st, to, moved[i]);
		n->group |= 1u << moved[i];
	}
	n->exchanges[n->nexchanges].from = (int8_t)from;
	n->exchanges[n->nexchanges].to = (int8_t)to;
	n->exchanges[n->nexchanges++].count = (int8_t)count;
	return true;
}

static void
try_exchanges_from(Search *s, int at, const Node *base, uint32_t dims)
{
	double bytes = local_bytes(s, &s->nodes[at].state);

	for (int from = 0; from < s->rank; from++)
		for (int to = 0; to < s->rank; to++) {
			if (from == to || !s->active[to] ||
			    dims >> from & 1 || dims >> to & 1)
				continue;
			int most = base->state.n[from];
			for (int count = 1; count <= most; count++) {
				Node n = *base;
				if (!exchange(s, &n, from, to, count))
					continue;
				offer(s, n, wire_bytes(K_all_to_all,
					group_size(s, n.group), bytes), true);
				if (n.nexchanges < MAX_EXCHANGES)
					try_exchanges_from(s, at, &n, dims |
						1u << from | 1u << to);
			}
		}
}

static void
try_gathers(Search *s, int at)
{
	double bytes = local_bytes(s, &s->nodes[at].state);

	for (int d = 0; d < s->rank; d++) {
		Node n = successor(s, at, MOVE_all_gather);
		n.dim = d;
		while (n.state.n[d]) {
			n.group |= 1u << pop_atom(&n.state, d);
			offer(s, n, wire_bytes(K_all_gather,
				group_size(s, n.group), bytes), true);
		}
	}
}

static void
try_reductions(Search *s, int at)
{
	State st = s->nodes[at].state;
	uint32_t extra = st.partial & ~s->goal.partial;
	double bytes = local_bytes(s, &st);

	if (!extra)
		return;
	for (uint32_t set = extra; set; set = (set - 1) & extra) {
		Node n = successor(s, at, MOVE_all_reduce);
		n.group = set;
		n.state.partial &= ~set;
		offer(s, n, wire_bytes(K_all_reduce, group_size(s, set),
			bytes), true);
	}
	for (int a = 0; a < s->natoms; a++)
		for (int d = 0; d < s->rank; d++) {
			if (!(extra >> a & 1) || !s->active[d] ||
			    !divides(s, &st, d, s->atoms[a].size) ||
			    !towards_goal(s, &st, d, a))
				continue;
			Node n = successor(s, at, MOVE_reduce_scatter);
			n.group = 1u << a;
			n.dim = d;
			n.state.partial &= ~n.group;
			push_atom(&n.state, d, a);
			offer(s, n, wire_bytes(K_reduce_scatter,
				s->atoms[a].size, bytes), true);
		}
}

/* Index of the goal's node. */
static int
search(Search *s, const State *start)
{
	Node first = {.state = *start, .parent = -1};

	s->nnodes = s->nheap = s->nbuckets = s->expanded = 0;
	s->nodes = NULL;
	s->heap = NULL;
	buckets_grow(s);
	offer(s, first, 0, false);
	while (s->nheap) {
		int at = heap_pop(s);
		if (s->nodes[at].closed)
			continue;
		if (state_equal(s, &s->nodes[at].state, &s->goal))
			return at;
		s->nodes[at].closed = true;
		if (++s->expanded > MAX_EXPANDED && !s->directed)
			return -1;
		try_slices(s, at);
		try_unreduce(s, at);
		try_permutes(s, at);
		Node base = successor(s, at, MOVE_all_to_all);
		try_exchanges_from(s, at, &base, 0);
		try_gathers(s, at);
		try_reductions(s, at);
	}
	die("no reshard plan");
}

/* ---- setting up the atoms -------------------------------------------------- */

enum { MAX_BOUNDARIES = 4 * MAX_PIECES + 2 };

/* Where pieces of one axis start and end, as sizes of the more major part. */
typedef struct Boundaries {
	int n;
	int64_t at[MAX_BOUNDARIES];
} Boundaries;

static void
boundary_add(Boundaries *b, int64_t at)
{
	int i = b->n;

	for (int k = 0; k < b->n; k++)
		if (b->at[k] == at)
			return;
	for (; i > 0 && b->at[i - 1] > at; i--)
		b->at[i] = b->at[i - 1];
	b->at[i] = at;
	b->n++;
}

static void
boundaries_of_list(Boundaries *b, const AxisList *l, int axis)
{
	for (int i = 0; i < l->n; i++)
		if (l->a[i].axis == axis) {
			boundary_add(b, l->a[i].pre);
			boundary_add(b, (int64_t)l->a[i].pre * l->a[i].size);
		}
}

static void
boundaries_of(Boundaries *b, const Placement *p, int axis)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		boundaries_of_list(b, &l, axis);
	}
	boundaries_of_list(b, &unreduced, axis);
}

/* Can the axis be cut so that the pieces of both are unions of cuts? */
static bool
boundaries_nest(const Boundaries *b)
{
	for (int i = 1; i < b->n; i++)
		if (b->at[i] % b->at[i - 1])
			return false;
	return true;
}

static bool
covers(const AxisList *l, AxisRef a)
{
	for (int i = 0; i < l->n; i++)
		if (axis_contains(l->a[i], a))
			return true;
	return false;
}

static bool
differs_in(const Search *s, const Placement *p, AxisRef a)
{
	AxisList unreduced = placement_unreduced(p);

	if (covers(&unreduced, a))
		return true;
	for (int d = 0; d < p->rank; d++) {
		AxisList all = placement_dim(p, d);
		AxisList rest = axes_drop_prefix(&all, &s->prefix[d]);
		if (covers(&rest, a))
			return true;
	}
	return false;
}

static void
add_atoms(Search *s, const Placement *from, const Placement *to)
{
	for (int axis = 0; axis < s->mesh->naxes; axis++) {
		Boundaries b = {0};
		boundaries_of(&b, from, axis);
		boundaries_of(&b, to, axis);
		for (int i = 0; i + 1 < b.n; i++) {
			AxisRef a = {(int16_t)axis, (int32_t)b.at[i],
				(int32_t)(b.at[i + 1] / b.at[i])};
			if (!differs_in(s, from, a) && !differs_in(s, to, a))
				continue;
			if (s->natoms == MAX_ATOMS)
				die("a reshard of more than %d axis pieces",
					MAX_ATOMS);
			s->atoms[s->natoms++] = a;
		}
	}
}

/* Cuts atom a into a more-major part of `size` and the rest. */
static void
split_atom(Search *s, int a, int64_t size)
{
	AxisRef whole = s->atoms[a];

	memmove(s->atoms + a + 1, s->atoms + a,
		(size_t)(s->natoms - a) * sizeof s->atoms[0]);
	s->natoms++;
	s->atoms[a].size = (int32_t)size;
	s->atoms[a + 1].pre = (int32_t)(whole.pre * size);
	s->atoms[a + 1].size = (int32_t)(whole.size / size);
}

/* While the search stays small, atoms that could stand for a part of another
   (4 and 2) are cut to match, so that only a part needs to move. */
static void
match_atom_sizes(Search *s)
{
	for (int a = 0; a < s->natoms; a++)
		for (int b = 0; b < s->natoms; b++) {
			int64_t size = gcd_i64(s->atoms[a].size,
				s->atoms[b].size);
			if (size == 1 || size == s->atoms[a].size)
				continue;
			if (s->natoms == FREE_SEARCH_ATOMS)
				return;
			split_atom(s, a, size);
			b = -1;
		}
}

/* The atoms of a list, which is a union of them. */
static int
atoms_of(const Search *s, const AxisList *l, uint8_t *atoms)
{
	int n = 0;

	for (int i = 0; i < l->n; i++)
		for (int a = 0; a < s->natoms; a++)
			if (axis_contains(l->a[i], s->atoms[a]))
				atoms[n++] = (uint8_t)a;
	return n;
}

static State
state_of(const Search *s, const Placement *p)
{
	State st = {0};
	AxisList unreduced = placement_unreduced(p);
	uint8_t atoms[MAX_ATOMS];

	for (int d = 0; d < p->rank; d++) {
		AxisList all = placement_dim(p, d);
		AxisList rest = axes_drop_prefix(&all, &s->prefix[d]);
		st.n[d] = (uint8_t)atoms_of(s, &rest, st.atom[d]);
	}
	for (int i = atoms_of(s, &unreduced, atoms); i-- > 0;)
		st.partial |= 1u << atoms[i];
	return st;
}

static void
search_init(Search *s, const Placement *from, const Placement *to)
{
	s->rank = s->type->rank;
	s->bytes = (double)type_bytes(s->type);
	for (int d = 0; d < s->rank; d++) {
		AxisList a = placement_dim(from, d), b = placement_dim(to, d);
		s->prefix[d] = axes_common_prefix(&a, &b);
		s->active[d] = !axes_equal(&a, &b);
		s->size[d] = s->type->dims[d] / axes_size(&s->prefix[d]);
		s->bytes /= (double)axes_size(&s->prefix[d]);
	}
	add_atoms(s, from, to);
	match_atom_sizes(s);
	s->goal = state_of(s, to);
	s->directed = s->natoms > FREE_SEARCH_ATOMS;
}

/* ---- from the path to moves ------------------------------------------------- */

static Placement
placement_of(const Search *s, const State *st, Combiner combiner)
{
	Placement p = placement_none(s->rank);
	AxisList partial = {0};

	for (int d = 0; d < s->rank; d++) {
		AxisList l = s->prefix[d];
		for (int i = 0; i < st->n[d]; i++)
			axes_append(&l, s->atoms[st->atom[d][i]]);
		placement_set_dim(&p, d, &l);
	}
	for (int a = 0; a < s->natoms; a++)
		if (st->partial >> a & 1)
			axes_append(&partial, s->atoms[a]);
	placement_set_unreduced(&p, &partial, combiner);
	return p;
}

static void
append_atoms(const Search *s, AxisList *l, const State *st, int dim, int from)
{
	for (int i = from; i < st->n[dim]; i++)
		axes_append(l, s->atoms[st->atom[dim][i]]);
}

/* Appends the atoms that split a tensor in `st` but not in `other`. */
static void
append_missing(const Search *s, AxisList *l, const State *st,
	const State *other)
{
	uint32_t missing = used_atoms(s, st) & ~used_atoms(s, other);

	for (int a = 0; a < s->natoms; a++)
		if (missing >> a & 1)
			axes_append(l, s->atoms[a]);
}

/* Shards before, then what only the target uses; and the other way round. */
static void
permute_move(const Search *s, Move *move, const State *before,
	const State *after)
{
	for (int d = 0; d < s->rank; d++) {
		if (before->n[d] == after->n[d] && !memcmp(before->atom[d],
				after->atom[d], MAX_ATOMS))
			continue;
		append_atoms(s, &move->from, before, d, 0);
		append_atoms(s, &move->axes, after, d, 0);
	}
	append_missing(s, &move->from, after, before);
	append_missing(s, &move->axes, before, after);
}

static void
exchange_move(const Search *s, Move *move, const Node *n, const State *before)
{
	move->nexchanges = n->nexchanges;
	for (int i = 0; i < n->nexchanges; i++) {
		Exchange *e = &move->exchanges[i];
		e->from_dim = n->exchanges[i].from;
		e->to_dim = n->exchanges[i].to;
		append_atoms(s, &e->axes, before, e->from_dim,
			before->n[e->from_dim] - n->exchanges[i].count);
		for (int k = 0; k < e->axes.n; k++)
			move->axes.a[move->axes.n++] = e->axes.a[k];
	}
}

static void
group_move(const Search *s, Move *move, uint32_t group)
{
	for (int a = 0; a < s->natoms; a++)
		if (group >> a & 1)
			axes_append(&move->axes, s->atoms[a]);
}

static CollectiveKind
move_collective(MoveKind kind)
{
	switch (kind) {
	case MOVE_permute: return K_collective_permute;
	case MOVE_all_to_all: return K_all_to_all;
	case MOVE_all_gather: return K_all_gather;
	case MOVE_all_reduce: return K_all_reduce;
	case MOVE_reduce_scatter: return K_reduce_scatter;
	case MOVE_slice:
	case MOVE_unreduce:
		break;
	}
	return COLLECTIVE_COUNT;
}

static Move
make_move(const Search *s, const Node *n, Combiner combiner)
{
	const State *before = &s->nodes[n->parent].state;
	Move move = {.kind = n->kind, .dim = n->dim};

	move.before = placement_of(s, before, combiner);
	move.after = placement_of(s, &n->state, combiner);
	if (n->kind == MOVE_permute)
		permute_move(s, &move, before, &n->state);
	else if (n->kind == MOVE_all_to_all)
		exchange_move(s, &move, n, before);
	else if (n->kind == MOVE_all_gather)
		append_atoms(s, &move.axes, before, n->dim, n->state.n[n->dim]);
	else
		group_move(s, &move, n->group);
	return move;
}

/* Steps that one op can do: slices, and scatters onto one dim. */
static bool
move_merge(Move *last, const Move *next)
{
	if (last->kind != next->kind)
		return false;
	if (next->kind == MOVE_reduce_scatter && last->dim != next->dim)
		return false;
	if (next->kind != MOVE_slice && next->kind != MOVE_unreduce &&
	    next->kind != MOVE_reduce_scatter)
		return false;
	axes_append_all(&last->axes, &next->axes);
	last->after = next->after;
	return true;
}

static void
move_price(const Search *s, Move *move)
{
	CollectiveKind kind = move_collective(move->kind);
	double bytes;

	if (kind == COLLECTIVE_COUNT)
		return;
	Type local = placement_local(s->type, &move->before);
	bytes = (double)type_bytes(&local);
	move->bytes = wire_bytes(kind, axes_size(&move->axes), bytes);
	move->seconds = collective_seconds(s->mesh, kind, &move->axes, bytes);
}

/* Room for the moves that lead to a node, behind those there are. */
static void
plan_make_room(Arena *a, ReshardPlan *plan, const Node *n)
{
	Move *moves = NEW_ARRAY(a, Move, plan->n + n->moves);

	if (plan->n)
		memcpy(moves, plan->moves, sizeof *moves * (size_t)plan->n);
	plan->moves = moves;
}

static void
plan_append(const Search *s, ReshardPlan *plan, int node, Combiner combiner)
{
	const Node *n = &s->nodes[node];

	if (n->parent < 0)
		return;
	plan_append(s, plan, n->parent, combiner);
	Move move = make_move(s, n, combiner);
	if (plan->n && move_merge(&plan->moves[plan->n - 1], &move))
		return;
	plan->moves[plan->n++] = move;
}

/* ---- plans -------------------------------------------------------------------- */

/* A plan that was made, in a table by hash. */
typedef struct Entry {
	Type type;
	Placement from, to;
	ReshardPlan *plan;
} Entry;

struct Resharder {
	Arena *arena;
	const Mesh *mesh;
	Lookup *entries;
};

Resharder *
resharder_new(Arena *a, const Mesh *m)
{
	Resharder *r = NEW(a, Resharder);

	r->arena = a;
	r->mesh = m;
	r->entries = lookup_new(a);
	return r;
}

static void
plan_between(Resharder *r, ReshardPlan *plan, const Type *global,
	const Placement *from, const Placement *to)
{
	Arena *scratch = arena_new();
	Search s = {.arena = scratch, .mesh = r->mesh, .type = global};
	Combiner combiner = from->nunreduced ? (Combiner)from->combiner :
		(Combiner)to->combiner;
	int first = plan->n, found;

	search_init(&s, from, to);
	State start = state_of(&s, from);
	found = search(&s, &start);
	if (found < 0) {
		s.directed = true;
		found = search(&s, &start);
	}
	plan_make_room(r->arena, plan, &s.nodes[found]);
	plan_append(&s, plan, found, combiner);
	for (int i = first; i < plan->n; i++)
		move_price(&s, &plan->moves[i]);
	arena_free(scratch);
}

static void
drop_axis(AxisList *l, int axis)
{
	AxisList kept = {0};

	for (int i = 0; i < l->n; i++)
		if (l->a[i].axis != axis)
			axes_append(&kept, l->a[i]);
	*l = kept;
}

static void
placement_drop_axis(Placement *p, int axis)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		drop_axis(&l, axis);
		placement_set_dim(p, d, &l);
	}
	drop_axis(&unreduced, axis);
	placement_set_unreduced(p, &unreduced, (Combiner)p->combiner);
}

/*
 * Two placements that cannot be cut into common atoms (pieces of 2 and of 3
 * of one axis of 6), or whose partial sums combine differently, are planned in
 * two parts.  Leaves in `out` the way point by `p`, one of the two, without
 * what does not fit the other; false where none is needed.
 */
static bool
way_point(const Mesh *m, const Placement *from, const Placement *to,
	const Placement *p, Placement *out)
{
	bool needed = from->nunreduced && to->nunreduced &&
		from->combiner != to->combiner;
	AxisList none = {0};

	*out = *p;
	if (needed)
		placement_set_unreduced(out, &none, C_add);
	for (int axis = 0; axis < m->naxes; axis++) {
		Boundaries b = {0};
		boundaries_of(&b, from, axis);
		boundaries_of(&b, to, axis);
		if (boundaries_nest(&b))
			continue;
		needed = true;
		placement_drop_axis(out, axis);
	}
	return needed;
}

static void
plan_total(ReshardPlan *plan)
{
	for (int i = 0; i < plan->n; i++) {
		plan->bytes += plan->moves[i].bytes;
		plan->seconds += plan->moves[i].seconds;
		plan->collectives += move_collective(plan->moves[i].kind) !=
			COLLECTIVE_COUNT;
	}
}

static uint64_t
hash_axes(uint64_t h, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		h = hash_mix(h, (int64_t)l->a[i].axis << 32 | l->a[i].pre);
		h = hash_mix(h, l->a[i].size);
	}
	return hash_mix(h, -1);
}

static uint64_t
hash_placement(uint64_t h, const Placement *p)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		h = hash_axes(h, &l);
	}
	return hash_axes(h, &unreduced);
}

static uint64_t
hash_of(const Entry *e)
{
	uint64_t h = e->type.dtype;

	for (int d = 0; d < e->type.rank; d++)
		h = hash_mix(h, e->type.dims[d]);
	return hash_placement(hash_placement(h, &e->from), &e->to);
}

static bool
same_entry(const void *item, const void *key)
{
	const Entry *a = item, *b = key;

	return type_equal(&a->type, &b->type) &&
		placement_equal(&a->from, &b->from) &&
		placement_equal(&a->to, &b->to);
}

/* Through a way point near either end, whichever moves less. */
static ReshardPlan *
plan_through(Resharder *r, const Type *global, const Placement *from,
	const Placement *to)
{
	const Placement *ends[2] = {to, from};
	ReshardPlan *best = NULL;

	for (int i = 0; i < 2; i++) {
		ReshardPlan *plan = NEW(r->arena, ReshardPlan);
		Placement between;
		way_point(r->mesh, from, to, ends[i], &between);
		plan_between(r, plan, global, from, &between);
		plan_between(r, plan, global, &between, to);
		plan_total(plan);
		if (!best || plan->bytes < best->bytes)
			best = plan;
	}
	return best;
}

static ReshardPlan *
plan_new(Resharder *r, const Type *global, const Placement *from,
	const Placement *to)
{
	ReshardPlan *plan;
	Placement between;

	if (way_point(r->mesh, from, to, to, &between))
		return plan_through(r, global, from, to);
	plan = NEW(r->arena, ReshardPlan);
	plan_between(r, plan, global, from, to);
	plan_total(plan);
	return plan;
}

const ReshardPlan *
reshard_plan(Resharder *r, const Type *global, const Placement *from,
	const Placement *to)
{
	static const ReshardPlan nothing;

	if (placement_equal(from, to))
		return &nothing;
	Entry key = {*global, placement_moving(*from), placement_moving(*to),
		NULL};
	uint64_t hash = hash_of(&key);
	Entry *e = lookup_find(r->entries, hash, same_entry, &key);
	if (!e) {
		e = arena_copy(r->arena, &key, sizeof key);
		e->plan = plan_new(r, global, &e->from, &e->to);
		lookup_add(r->entries, hash, e);
	}
	return e->plan;
}
