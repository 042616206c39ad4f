/*
 * search.c - Dijkstra's search over states: which atoms split which
 * dim, and which hold partial sums.
 */
#include <string.h>
#include "shard/reshard/reshard.h"

/* ---- states -------------------------------------------------------------- */

static void
push_atom(State *st, int dim, int atom)
{
	st->atom[dim][st->n[dim]++] = (uint8_t)atom;
}

static int
pop_atom(State *st, int dim)
{
	int atom = st->atom[dim][--st->n[dim]];

	st->atom[dim][st->n[dim]] = 0; /* equal states have equal bytes */
	return atom;
}

/* ---- the queue ----------------------------------------------------------- */

static bool
node_before(const Node *n, const Node *other)
{
	/* sums of the same terms in another order differ in the last bits */
	double tolerance = 1e-9 * (n->bytes + other->bytes);

	if (n->bytes < other->bytes - tolerance || n->bytes > other->bytes + tolerance)
		return n->bytes < other->bytes;
	if (n->collectives != other->collectives)
		return n->collectives < other->collectives;
	return n->moves < other->moves;
}

/* Equal nodes leave in the order in which they were found. */
static bool
heap_before(const Node *n, const Node *other)
{
	return node_before(n, other) || (!node_before(other, n) && n->number < other->number);
}

static Node *
heap_pop(Search *s)
{
	Node *top = s->heap[0], *last = s->heap[--s->nheap];
	int i = 0;

	for (int child; (child = 2 * i + 1) < s->nheap; i = child) {
		if (child + 1 < s->nheap && heap_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!heap_before(s->heap[child], last))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = last;
	return top;
}

/* Equal states have equal bytes. */
static bool
same_state(const void *node, const void *state)
{
	return !memcmp(&((const Node *)node)->state, state, sizeof(State));
}

/* A copy of `parent` to be changed into a successor. */
static Node
successor(Node *parent, OpKind kind)
{
	Node n = *parent;

	n.parent = parent;
	n.kind = kind;
	n.group = 0;
	n.nexchanges = 0;
	n.closed = false;
	n.moves++;
	return n;
}

/* The node is one move from its parent, which is being expanded.  What moves more, with
   what is still to move, than a known path would leave the queue after the goal. */
static void
offer(Search *s, Node n)
{
	uint64_t hash = n.state.partial;
	int64_t members = 1;

	for (int a = 0; a < s->natoms; a++)
		if (n.group >> a & 1)
			members *= s->atoms[a].size;
	n.bytes += wire_bytes(n.kind, members, s->local_bytes);
	if (n.bytes + state_least_bytes(s, &n.state) > s->limit * (1 + 4e-9))
		return;
	if (same_state(&n, &s->goal))
		s->limit = n.bytes;
	for (int d = 0; d < s->rank; d++) {
		hash = hash_mix(hash, n.state.n[d]);
		for (int i = 0; i < n.state.n[d]; i++)
			hash = hash_mix(hash, n.state.atom[d][i]);
	}
	n.collectives += collectives[n.kind].turns != 0;
	Node *known = lookup_find(s->known, hash, same_state, &n.state);
	if (known && (known->closed || !node_before(&n, known)))
		return;
	n.number = known ? known->number : s->nnodes++;
	if (!known) {
		known = NEW(s->arena, Node);
		lookup_add(s->known, hash, known);
	}
	*known = n;
	s->heap = arena_grow(s->arena, s->heap, (size_t)s->nheap, sizeof *s->heap);
	int i = s->nheap++;
	for (; i && heap_before(known, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = known;
}

/* ---- moves --------------------------------------------------------------- */

static bool
divides(const Search *s, const State *st, int dim, int64_t more)
{
	return s->size[dim] % (state_ways(s, st, dim) * more) == 0;
}

/* Would appending the atom to the dim agree with the goal so far? */
static bool
towards_goal(const Search *s, const State *st, int dim, int atom)
{
	int n = st->n[dim];

	if (!s->directed)
		return true;
	return n < s->goal.n[dim] && s->goal.atom[dim][n] == atom
		&& !memcmp(st->atom[dim], s->goal.atom[dim], (size_t)n);
}

/* Each atom of the set as the next of each dim: a slice, or the scatter of its
   partial sums. */
static void
try_appending(Search *s, Node *at, OpKind kind, uint32_t set)
{
	const State *st = &at->state;

	for (int a = 0; a < s->natoms; a++)
		for (int d = 0; d < s->rank; d++) {
			if (!(set >> a & 1) || !s->active[d]
				|| !divides(s, st, d, s->atoms[a].size)
				|| !towards_goal(s, st, d, a))
				continue;
			Node n = successor(at, kind);
			n.group = st->partial & 1u << a;
			n.dim = d;
			n.state.partial &= ~n.group;
			push_atom(&n.state, d, a);
			offer(s, n);
		}
}

/* Shards as parts of a sum: each device has zeros where others have theirs. */
static void
try_widening(Search *s, Node *at)
{
	for (int d = 0; d < s->rank; d++) {
		Node n = successor(at, O_dynamic_update_slice);
		n.dim = d;
		while (n.state.n[d]) {
			uint32_t atom = 1u << pop_atom(&n.state, d);
			if (!(s->goal.partial & atom))
				break;
			n.state.partial |= atom;
			offer(s, n);
		}
	}
}

/* Fills dims from `dim` on with any free atoms whose product stays `ways`. */
static void
try_permutes_from(Search *s, const State *old, Node *n, int dim, int64_t left,
	uint32_t available)
{
	while (dim < s->rank && left == 1)
		left = ++dim < s->rank ? state_ways(s, old, dim) : 1;
	if (dim == s->rank) {
		if (!same_state(n, old))
			offer(s, *n);
		return;
	}
	for (int a = 0; a < s->natoms; a++) {
		if (!(available >> a & 1) || left % s->atoms[a].size)
			continue;
		push_atom(&n->state, dim, a);
		try_permutes_from(s, old, n, dim, left / s->atoms[a].size,
			available & ~(1u << a));
		pop_atom(&n->state, dim);
	}
}

/* States that are one permute apart: those with the same sums, and dims split into as
   many. */
typedef struct Class {
	int64_t partial, ways[MAX_RANK];
} Class;

static bool
same_class(const void *one, const void *other)
{
	return !memcmp(one, other, sizeof(Class));
}

/* Has another of its class been expanded, which left no later than this one? */
static bool
was_permuted(Search *s, const State *st)
{
	Class class = {.partial = st->partial};
	uint64_t hash = hash_mix(0, class.partial);

	for (int d = 0; d < s->rank; d++) {
		class.ways[d] = state_ways(s, st, d);
		hash = hash_mix(hash, class.ways[d]);
	}
	if (lookup_find(s->permuted, hash, same_class, &class))
		return true;
	lookup_add(s->permuted, hash, arena_copy(s->arena, &class, sizeof class));
	return false;
}

/* Of a directed search only one: every dim that can have its goal's atoms at
   once gets them. */
static void
try_permutes(Search *s, Node *at)
{
	const State *old = &at->state;
	Node n = successor(at, O_collective_permute);
	uint32_t taken = old->partial, all = (1u << s->natoms) - 1;

	n.group = all;
	if (!s->directed) {
		if (was_permuted(s, old))
			return;
		memset(n.state.n, 0, sizeof n.state.n);
		memset(n.state.atom, 0, sizeof n.state.atom);
		try_permutes_from(s, old, &n, 0, s->rank ? state_ways(s, old, 0) : 1,
			all & ~taken);
		return;
	}
	for (int d = 0; d < s->rank; d++) {
		bool match = state_ways(s, old, d) == state_ways(s, &s->goal, d);
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
	if (!same_state(&n, old))
		offer(s, n);
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

/* [x,y,-] -> [-,x,y]: up to two exchanges of different dims are one op. */
static void
try_exchanges_from(Search *s, const Node *base, uint32_t dims)
{
	for (int from = 0; from < s->rank; from++)
		for (int to = 0; to < s->rank; to++) {
			if (from == to || !s->active[to] || dims >> from & 1 || dims >> to & 1)
				continue;
			int most = base->state.n[from];
			for (int count = 1; count <= most; count++) {
				Node n = *base;
				if (!exchange(s, &n, from, to, count))
					continue;
				offer(s, n);
				if (n.nexchanges < MAX_EXCHANGES)
					try_exchanges_from(s, &n, dims | 1u << from | 1u << to);
			}
		}
}

/* Offers what is one move away.  Of equal nodes the first is taken, so the order
   is that of preference. */
static void
expand(Search *s, Node *at)
{
	const State *st = &at->state;
	uint32_t unused = ((1u << s->natoms) - 1) & ~state_atoms(s, st);
	uint32_t extra = st->partial & ~s->goal.partial;

	s->local_bytes = 1;
	for (int d = 0; d < s->rank; d++)
		s->local_bytes /= (double)state_ways(s, st, d);
	try_appending(s, at, O_dynamic_slice, unused);
	for (int a = 0; a < s->natoms; a++)
		if (s->goal.partial & unused & 1u << a) {
			Node n = successor(at, O_select);
			n.group = 1u << a;
			n.state.partial |= n.group;
			offer(s, n);
		}
	try_widening(s, at);
	try_permutes(s, at);
	Node base = successor(at, O_all_to_all);
	try_exchanges_from(s, &base, 0);
	for (int d = 0; d < s->rank; d++) {
		Node n = successor(at, O_all_gather);
		n.dim = d;
		while (n.state.n[d]) {
			n.group |= 1u << pop_atom(&n.state, d);
			offer(s, n);
		}
	}
	/* any of the sums, unless there are too many sets of them: then all */
	bool all = s->natoms > MAX_SET_ATOMS;
	for (uint32_t set = extra; set; set = all ? 0 : (set - 1) & extra) {
		Node n = successor(at, O_all_reduce);
		n.group = set;
		n.state.partial &= ~set;
		offer(s, n);
	}
	try_appending(s, at, O_reduce_scatter, extra);
}

const Node *
reshard_search(Search *s, const State *start)
{
	s->known = lookup_new(s->arena);
	s->permuted = lookup_new(s->arena);
	s->nnodes = s->nheap = s->expanded = 0;
	s->heap = NULL;
	s->local_bytes = 0;
	offer(s, (Node){.state = *start, .kind = O_dynamic_slice});
	while (s->nheap) {
		Node *at = heap_pop(s);
		if (at->closed)
			continue;
		if (same_state(at, &s->goal))
			return at;
		at->closed = true;
		if (++s->expanded > MAX_EXPANDED && !s->directed)
			return NULL;
		expand(s, at);
	}
	die("no reshard plan");
}
