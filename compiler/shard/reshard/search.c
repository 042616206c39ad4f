/*
 * search.c - Dijkstra's search over states: which atoms split which
 * dim, and which hold partial sums.
 */
#include <string.h>
#include "shard/reshard/reshard.h"

/* ---- states -------------------------------------------------------------- */

static int64_t
ways(const Search *s, const State *st, int dim)
{
	int64_t n = 1;

	for (int i = 0; i < st->n[dim]; i++)
		n *= s->atoms[st->atom[dim][i]].size;
	return n;
}

uint32_t
state_atoms(const Search *s, const State *st)
{
	uint32_t used = st->partial;

	for (int d = 0; d < s->rank; d++)
		for (int i = 0; i < st->n[d]; i++)
			used |= 1u << st->atom[d][i];
	return used;
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
heap_before(const Search *s, int a, int b)
{
	if (node_before(&s->nodes[a], &s->nodes[b]))
		return true;
	return !node_before(&s->nodes[b], &s->nodes[a]) && a < b;
}

static void
heap_push(Search *s, int node)
{
	s->heap = arena_grow(s->arena, s->heap, (size_t)s->nheap, sizeof *s->heap);
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
		if (child + 1 < s->nheap && heap_before(s, s->heap[child + 1], s->heap[child]))
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
	return a->partial == b->partial && !memcmp(a->n, b->n, (size_t)s->rank)
		&& !memcmp(a->atom, b->atom, (size_t)s->rank * MAX_ATOMS);
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

/* A copy of `parent` to be changed into a successor. */
static Node
successor(const Search *s, int parent, OpKind kind)
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

/* The node is one move from its parent, which is being expanded. */
static void
offer(Search *s, Node n)
{
	uint64_t i = state_hash(s, &n.state);
	int64_t members = 1;
	int known;

	for (int a = 0; a < s->natoms; a++)
		if (n.group >> a & 1)
			members *= s->atoms[a].size;
	n.bytes += wire_bytes(n.kind, members, s->local_bytes);
	n.collectives += collectives[n.kind].turns != 0;
	for (; (known = s->buckets[i % (uint64_t)s->nbuckets]); i++) {
		Node *old = &s->nodes[known - 1];
		if (!state_equal(s, &old->state, &n.state))
			continue;
		if (!old->closed && node_before(&n, old)) {
			*old = n;
			heap_push(s, known - 1);
		}
		return;
	}
	if (2 * (s->nnodes + 1) > s->nbuckets)
		buckets_grow(s);
	APPEND(s->arena, s->nodes, s->nnodes, n);
	bucket_add(s, s->nnodes - 1);
	heap_push(s, s->nnodes - 1);
}

/* ---- moves --------------------------------------------------------------- */

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
	return n < s->goal.n[dim] && s->goal.atom[dim][n] == atom
		&& !memcmp(st->atom[dim], s->goal.atom[dim], (size_t)n);
}

/* Each atom of the set as the next of each dim: a slice, or the scatter of its
   partial sums. */
static void
try_appending(Search *s, int at, OpKind kind, uint32_t set)
{
	State st = s->nodes[at].state;

	for (int a = 0; a < s->natoms; a++)
		for (int d = 0; d < s->rank; d++) {
			if (!(set >> a & 1) || !s->active[d]
				|| !divides(s, &st, d, s->atoms[a].size)
				|| !towards_goal(s, &st, d, a))
				continue;
			Node n = successor(s, at, kind);
			n.group = st.partial & 1u << a;
			n.dim = d;
			n.state.partial &= ~n.group;
			push_atom(&n.state, d, a);
			offer(s, n);
		}
}

/* Fills dims from `dim` on with any free atoms whose product stays `ways`. */
static void
try_permutes_from(Search *s, int at, Node *n, int dim, int64_t left, uint32_t available)
{
	const State *old = &s->nodes[at].state;

	while (dim < s->rank && left == 1)
		left = ++dim < s->rank ? ways(s, old, dim) : 1;
	if (dim == s->rank) {
		if (!state_equal(s, &n->state, old))
			offer(s, *n);
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

/* Of a directed search only one: every dim that can have its goal's atoms at
   once gets them. */
static void
try_permutes(Search *s, int at)
{
	const State *old = &s->nodes[at].state;
	Node n = successor(s, at, O_collective_permute);
	uint32_t taken = old->partial, all = (1u << s->natoms) - 1;

	n.group = all;
	if (!s->directed) {
		memset(n.state.n, 0, sizeof n.state.n);
		memset(n.state.atom, 0, sizeof n.state.atom);
		try_permutes_from(s, at, &n, 0, s->rank ? ways(s, old, 0) : 1, all & ~taken);
		return;
	}
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
try_exchanges_from(Search *s, int at, const Node *base, uint32_t dims)
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
					try_exchanges_from(s, at, &n,
						dims | 1u << from | 1u << to);
			}
		}
}

/* Offers what is one move away.  Of equal nodes the first is taken, so the order
   is that of preference. */
static void
expand(Search *s, int at)
{
	State st = s->nodes[at].state;
	uint32_t unused = ((1u << s->natoms) - 1) & ~state_atoms(s, &st);
	uint32_t extra = st.partial & ~s->goal.partial;

	s->local_bytes = s->bytes;
	for (int d = 0; d < s->rank; d++)
		s->local_bytes /= (double)ways(s, &st, d);
	try_appending(s, at, O_dynamic_slice, unused);
	for (int a = 0; a < s->natoms; a++)
		if (s->goal.partial & unused & 1u << a) {
			Node n = successor(s, at, O_select);
			n.group = 1u << a;
			n.state.partial |= n.group;
			offer(s, n);
		}
	try_permutes(s, at);
	Node base = successor(s, at, O_all_to_all);
	try_exchanges_from(s, at, &base, 0);
	for (int d = 0; d < s->rank; d++) {
		Node n = successor(s, at, O_all_gather);
		n.dim = d;
		while (n.state.n[d]) {
			n.group |= 1u << pop_atom(&n.state, d);
			offer(s, n);
		}
	}
	for (uint32_t set = extra; set; set = (set - 1) & extra) {
		Node n = successor(s, at, O_all_reduce);
		n.group = set;
		n.state.partial &= ~set;
		offer(s, n);
	}
	try_appending(s, at, O_reduce_scatter, extra);
}

int
reshard_search(Search *s, const State *start)
{
	Node first = {.state = *start, .parent = -1, .kind = O_dynamic_slice};

	s->nnodes = s->nheap = s->nbuckets = s->expanded = 0;
	s->nodes = NULL;
	s->heap = NULL;
	s->local_bytes = 0;
	buckets_grow(s);
	offer(s, first);
	while (s->nheap) {
		int at = heap_pop(s);
		if (s->nodes[at].closed)
			continue;
		if (state_equal(s, &s->nodes[at].state, &s->goal))
			return at;
		s->nodes[at].closed = true;
		if (++s->expanded > MAX_EXPANDED && !s->directed)
			return -1;
		expand(s, at);
	}
	die("no reshard plan");
}
