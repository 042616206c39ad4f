/*
 * shared.c - sums that are added to several others are combined where that moves least.
 *
 *   return all_reduce(x) + all_reduce(z), all_reduce(y) + all_reduce(z)
 *   return all_reduce(x + z), all_reduce(y + z)
 *
 * Trees of additions of which each value has one use are known before (sums.c, together.c).
 * Where values have several, or go through a product (x W + all_reduce(x A) B), the additions
 * of a block are a graph: its sources are the sums that are combined, its sinks the values
 * that something else needs whole.  Each way from a source to
 * a sink has a value that is combined, so those that move least are the lightest vertices
 * that separate the two.  A sum over other axes of what is in parts (sum(x) beside x + z) is
 * in parts of both, and a move that combines it may be over all of them.
 * What is before them is added up in parts, of what is whole one
 * device's.  Parts of what is scattered take more room than its shards: where there is none,
 * it is left as it is.
 */
#include "shard/partition/chain.h"

enum { MAX_NODES = 4096 }; /* of one graph; larger ones stay as they are */

typedef struct Node {
	Value *value; /* whole: what a move combines, or made of such by additions */
	Placement partial;
	bool sum;	/* a move that combines it; else made of such */
	bool adds;	/* it adds parts up, or puts them together: as it is placed now */
	bool scattered; /* it is split along axes of the sum */
	bool ends;	/* it was asked to be whole: combined by then */
	const struct Node *moved; /* of a move that is no sum of its own here: what it moves */
	Reason why;
	int uses;	     /* by other nodes */
	struct Node *twin;   /* the first that is equal, which will be merged; itself */
	int vertex;	     /* of that, in the graph that it is of */
	struct Node *leader; /* of that graph, up from here; itself */
	struct Node *next;   /* in that graph, in the order of the block */
	struct Node *first;  /* of a leader */
	int n;		     /* ... how many */
	bool shared;	     /* ... of which one has several uses */
	bool wide;	     /* ... or one is a sum over other axes */
} Node;

typedef struct Twin {
	Value *value, *first; /* that is equal, and will be merged */
} Twin;

typedef struct Graph {
	Partitioner *p;
	CombineWhere where; /* behind: not what was asked for */
	Node **nodes;	    /* in the order of the block */
	int n;
	Lookup *of;    /* by value */
	Lookup *made;  /* ops, of what may be equal; by what they are made of */
	Lookup *twins; /* by value; of those that are equal to others */
} Graph;

/* ---- equal ones ------------------------------------------------------------------ */

static bool
is_twin_of(const void *item, const void *value)
{
	return ((const Twin *)item)->value == value;
}

/* The first that is equal; itself. */
static Value *
first_equal(const Graph *g, Value *v)
{
	const Twin *twin = lookup_find(g->twins, value_hash(v), is_twin_of, v);

	return twin ? twin->first : v;
}

typedef struct Made {
	const Graph *graph;
	const Op *op;
} Made;

static bool
has_equal_operands(const Graph *g, const Op *a, const Op *b, bool swapped)
{
	for (int k = 0; k < a->noperands; k++)
		if (first_equal(g, a->operands[k])
			!= first_equal(g, b->operands[swapped ? 1 - k : k]))
			return false;
	return true;
}

static bool
are_made_alike(const void *item, const void *key)
{
	const Made *x = key;
	const Op *a = item, *b = x->op;

	return op_same_rule(a, b) && is_placed(a->results[0], &b->results[0]->placement)
		&& (has_equal_operands(x->graph, a, b, false)
			|| (ops[a->kind].symmetric
				&& has_equal_operands(x->graph, a, b, true)));
}

/* Merging comes later: what is made alike of the same, which may be such, is equal. */
static void
find_twin(Graph *g, const Op *op)
{
	Made key = {g, op};
	uint64_t hash = op_rule_hash(op);

	if (op->nresults != 1 || op->nbodies || op->external || op->kind == O_fence
		|| op->mode == MODE_explicit)
		return;
	for (int k = 0; k < op->noperands; k++)
		hash += value_hash(first_equal(g, op->operands[k]));
	const Op *first = lookup_find(g->made, hash, are_made_alike, &key);
	if (!first) {
		lookup_add(g->made, hash, (void *)op);
		return;
	}
	Twin *twin = NEW(g->p->scratch, Twin);
	*twin = (Twin){op->results[0], first_equal(g, first->results[0])};
	lookup_add(g->twins, value_hash(twin->value), twin);
}

/* ---- nodes -------------------------------------------------------------------------- */

static bool
is_of_value(const void *node, const void *value)
{
	return ((const Node *)node)->value == value;
}

static Node *
node_of(const Graph *g, const Value *v)
{
	return lookup_find(g->of, value_hash(v), is_of_value, v);
}

static bool
is_split_over(const Placement *at, const AxisList *over)
{
	Placement parts = partial_over(at, over, C_add);

	for (int d = 0; d < at->rank; d++) {
		AxisList axes = placement_dim(at, d), kept = placement_dim(&parts, d);
		if (!axes_equal(&axes, &kept))
			return true;
	}
	return false;
}

/* Is it whole along these, not split either? */
static bool
is_apart_from(const Placement *at, const AxisList *over)
{
	return !is_split_over(at, over) && !at->nunreduced;
}

static bool
are_alike(const Placement *a, const Placement *b)
{
	return placement_equal(a, b) && a->combiner == b->combiner;
}

static Node *
add_node(Graph *g, Value *v, const Placement *partial, bool sum, Reason why)
{
	Arena *a = g->p->scratch;
	AxisList over = placement_unreduced(partial);
	Node *node = NEW(a, Node);

	*node = (Node){.value = v,
		.partial = *partial,
		.sum = sum,
		.adds = adds_up(v->def, (Combiner)partial->combiner),
		.scattered = is_split_over(&v->placement, &over),
		.why = why,
		.wide = v->placement.nunreduced > 0,
		.n = 1};
	node->twin = node;
	node->leader = node;
	APPEND(a, g->nodes, g->n, node);
	lookup_add(g->of, value_hash(v), node);
	return node;
}

static void
know_twin(const Graph *g, Node *node)
{
	const Node *first = node_of(g, first_equal(g, node->value));

	if (first && first->sum == node->sum && are_alike(&first->partial, &node->partial))
		node->twin = first->twin;
}

/* Is the factor whole along these, or made anew? */
static bool
goes_beside(const Op *op, Value *factor, const AxisList *over)
{
	return is_apart_from(&factor->placement, over)
		|| (ops[op->kind].pointwise && as_splat(factor));
}

/* Of what is made of parts of `from`, those; they are also of its own sums.  False if there is
   no such placement. */
static bool
parts_of(const Value *v, const Node *from, Placement *partial)
{
	AxisList over = placement_unreduced(&from->partial),
		 own = placement_unreduced(&v->placement);

	if ((own.n && v->placement.combiner != from->partial.combiner)
		|| !placement_has_room(&v->placement, over.n) || !axes_unite(&over, &own))
		return false;
	*partial = partial_over(&v->placement, &over, (Combiner)from->partial.combiner);
	return placement_is_sound(partial);
}

/* Operand k is a node; the others are nodes that are partial alike, or whole: do parts go
   through?  Then the result is so. */
static bool
goes_on_parts(const Graph *g, const Op *op, int k, Placement *partial)
{
	const Node *node = node_of(g, op->operands[k]);
	AxisList over = placement_unreduced(&node->partial);
	Combiner combiner = (Combiner)node->partial.combiner;
	bool adds = adds_up(op, combiner), goes;

	goes = parts_of(op->results[0], node, partial)
		&& (adds ? are_alike(&node->partial, partial)
			 : passes_parts(g->p, op, k, combiner));
	for (int i = 0; i < op->noperands && goes; i++) {
		Value *other = op->operands[i];
		const Node *also = node_of(g, other);
		if (i == k || (adds && also && are_alike(&also->partial, partial)))
			continue;
		goes = adds ? becomes_freely(g->p, other, partial)
			    : !also && goes_beside(op, other, &over);
	}
	return goes;
}

/* Of the axes of `all` those that `some` has not. */
static AxisList
axes_left(const AxisList *all, const AxisList *some)
{
	AxisList left = {0};

	for (int i = 0; i < all->n; i++)
		if (axes_can_coexist(some, all->a[i]))
			left.a[left.n++] = all->a[i];
	return left;
}

/* The op sums some of what its operand is in parts over; the parts of its result are over the
   others.  False if there are none, or it needs their axes itself. */
static bool
leaves_parts(const Op *op, const Node *from, Placement *partial)
{
	const Placement *to = &op->results[0]->placement;
	AxisList own = placement_unreduced(&op->operands[0]->placement);
	AxisList over = placement_unreduced(&from->partial), left = axes_left(&over, &own);

	if (!left.n || is_split_over(to, &left) || !placement_has_room(to, left.n))
		return false;
	*partial = *to;
	placement_set_unreduced(partial, &left, (Combiner)from->partial.combiner);
	return true;
}

/* A move that combines is a sum.  That of what is in parts of others, too, may leave these,
   or be over all axes. */
static void
find_sum(Graph *g, Op *op)
{
	Placement partial = op->operands[0]->placement;
	const Node *before = node_of(g, op->operands[0]);
	bool scattered;

	if (!combines_into(&partial, &op->results[0]->placement, &scattered)
		|| (g->where == COMBINE_behind && (scattered || op->requested)))
		return;
	bool sum = !before || !leaves_parts(op, before, &partial);
	Node *node = add_node(g, op->results[0], &partial, sum,
		(Reason){op->label, op->range, op->requested});
	node->moved = sum ? NULL : before;
	node->ends = !sum && op->requested;
}

static void
find_node(Graph *g, Op *op)
{
	Placement partial;

	if (op_is_move(op)) {
		find_sum(g, op);
		return;
	}
	if (op->nresults != 1 || op->nbodies || op_is_identity(op) || op->mode == MODE_explicit
		|| (op->results[0]->placement.nunreduced && g->where != COMBINE_wide))
		return;
	/* Where sums over different axes meet, what is scattered is so before. */
	for (int k = 0; k < 2 * op->noperands; k++) {
		const Node *node = node_of(g, op->operands[k % op->noperands]);
		if (node && node->scattered == (k >= op->noperands)
			&& goes_on_parts(g, op, k % op->noperands, &partial)) {
			add_node(g, op->results[0], &partial, false, node->why);
			return;
		}
	}
}

/* False: none of them is worth a look. */
static bool
find_nodes(Graph *g, const Block *b)
{
	bool any = false;

	for (Op *op = b->first; op; op = op->next)
		find_node(g, op);
	for (int i = 0; i < g->n; i++)
		any |= g->where != COMBINE_wide || g->nodes[i]->wide;
	return any;
}

static void
find_twins(Graph *g, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next)
		find_twin(g, op);
	for (int i = 0; i < g->n; i++)
		know_twin(g, g->nodes[i]);
}

/* ---- graphs ------------------------------------------------------------------------- */

static Node *
leader_of(Node *node)
{
	while (node->leader != node)
		node = node->leader = node->leader->leader;
	return node;
}

static void
join(Node *from, Node *user)
{
	Node *a = leader_of(from), *b = leader_of(user);

	a->shared |= b->shared || from->uses > 1;
	a->wide |= b->wide;
	if (a == b)
		return;
	b->leader = a;
	a->n += b->n;
}

/* Operand k of the node, if it takes that in parts. */
static Node *
node_taken(const Graph *g, const Node *node, int k)
{
	const Op *op = node->value->def;
	Node *from = node->sum ? NULL : node_of(g, op->operands[k]);
	bool adds = from && node->adds;

	return adds && !are_alike(&from->partial, &node->partial) ? NULL : from;
}

/* ... and that is one of the graph.  Behind what is needed whole parts need not be known: the
   graph ends there. */
static Node *
node_before(const Graph *g, const Node *node, int k)
{
	Node *from = node_taken(g, node, k);

	return from && from->uses == from->value->uses ? from : NULL;
}

static void
link_nodes(Graph *g)
{
	for (int i = 0; i < g->n; i++) {
		const Node *node = g->nodes[i];
		for (int k = 0; k < node->value->def->noperands; k++) {
			Node *from = node_taken(g, node, k);
			if (from)
				from->uses++;
		}
	}
	for (int i = 0; i < g->n; i++) {
		Node *node = g->nodes[i];
		for (int k = 0; k < node->value->def->noperands; k++) {
			Node *from = node_before(g, node, k);
			if (from)
				join(from, node);
		}
		if (node->twin != node)
			join(node->twin, node);
	}
	for (int i = g->n; i-- > 0;) {
		Node *node = g->nodes[i], *leader = leader_of(node);
		node->next = leader->first;
		leader->first = node;
	}
}

/* What a round adds to what it began with is combined once for all of them (accumulate.c). */
static int64_t
rounds_added(const Value *v)
{
	const Op *loop = v->block->parent, *end = v->block->last;

	for (int i = 0; i < end->noperands && v->uses == 1; i++)
		for (int k = 0; end->operands[i] == v && k < v->def->noperands; k++)
			if (v->def->operands[k] == v->block->params[i] && op_has(loop, A_trips))
				return op_int(loop, A_trips);
	return 1;
}

typedef enum Measure { IN_BYTES, IN_PICOSECONDS } Measure;

static double
cost_between(const Graph *g, const Value *v, const Placement *from, Measure measure)
{
	const ReshardPlan *plan = reshard_plan(g->p->resharder, &v->type, from, &v->placement);

	return measure == IN_BYTES ? plan->bytes : plan->seconds * 1e12;
}

/* What it takes to combine a node, 1 at least.  A move over other axes is then over all. */
static int64_t
cost_to_combine(const Graph *g, const Node *node, Measure measure)
{
	const Value *v = node->value;
	double cost = cost_between(g, v, node->moved ? &node->moved->partial : &node->partial,
		measure);

	if (node->moved)
		cost -= cost_between(g, v, &node->moved->value->placement, measure);
	if (g->where == COMBINE_behind && !node->sum)
		cost /= (double)rounds_added(v);
	return cost > 1 ? (int64_t)cost : 1; /* of no elements, or of a part of a round */
}

/* Of the nodes of one graph. */
static VertexCut *
cut_of(const Graph *g, Node *leader, int64_t *now)
{
	VertexCut *cut = vertex_cut_new(g->p->scratch);
	Measure measure = g->where == COMBINE_wide ? IN_PICOSECONDS : IN_BYTES;

	for (Node *node = leader->first; node; node = node->next) {
		int64_t cost = cost_to_combine(g, node, measure);
		if (node->twin == node)
			node->vertex = vertex_cut_add(cut, cost, node->sum);
		*now += node->sum && node->twin == node ? cost : 0;
	}
	for (Node *node = leader->first; node; node = node->next) {
		if (node->ends || node->uses < node->value->uses)
			vertex_cut_sink(cut, node->twin->vertex);
		for (int k = 0; k < node->value->def->noperands; k++) {
			const Node *from = node_before(g, node, k);
			if (from)
				vertex_cut_edge(cut, from->twin->vertex, node->twin->vertex);
		}
	}
	return cut;
}

/* ---- changing it -------------------------------------------------------------------- */

/* Of an op on parts, which is whole along their axes, not along those of its own sums. */
static void
take_factor(const Node *node, Value **factor, Op *user)
{
	AxisList all = placement_unreduced(&node->partial), none = {0};
	AxisList own = placement_unreduced(&node->value->placement);
	AxisList over = axes_left(&all, &own);
	Placement whole = node->partial;

	placement_set_unreduced(&whole, &none, C_add);
	if (!is_apart_from(&(*factor)->placement, &over))
		*factor = recompute(as_splat(*factor), &whole, user);
}

/* What stays in parts is taken so; of what is whole, and added, one device's. */
static void
take_parts(const Graph *g, const VertexCut *cut, const Node *node)
{
	Op *op = node->value->def;

	for (int k = 0; k < op->noperands; k++) {
		const Node *from = node_before(g, node, k);
		bool before = from && vertex_cut_side(cut, from->twin->vertex) == CUT_before;
		if (before && from->sum) {
			op->operands[k] = from->value->def->operands[0];
			op->operands[k]->uses++;
		} else if (!before && node->adds
			&& !is_placed(op->operands[k], &node->partial)) {
			op->operands[k] = insert_reshard(g->p, op->operands[k], &node->partial,
				op, node->why);
		} else if (!from && !node->adds) {
			take_factor(node, &op->operands[k], op);
		}
	}
}

static void
combine_at(const Graph *g, const VertexCut *cut, Node *leader)
{
	for (Node *node = leader->first; node; node = node->next) {
		CutSide side = vertex_cut_side(cut, node->twin->vertex);
		if (node->sum || side == CUT_behind)
			continue;
		take_parts(g, cut, node);
		if (side == CUT_on && node->moved)
			continue; /* over all axes */
		if (side == CUT_on && !is_placed(node->value, &node->partial))
			move_for_all(g->p, node->value, &node->partial, node->value->def->next,
				node->why);
		else
			node->value->placement = node->partial;
	}
	for (Node *node = leader->first; node; node = node->next)
		if (node->sum && vertex_cut_side(cut, node->twin->vertex) == CUT_before) {
			node->value->def->operands[0]->uses--;
			op_remove(node->value->def);
		}
}

/* Is there room for what stays in parts, whole along the axes that it was scattered over?
   Then that is taken. */
static bool
parts_have_room(const Graph *g, const VertexCut *cut, const Node *leader)
{
	int64_t more = 0;

	for (const Node *node = leader->first; node; node = node->next) {
		const Value *v = node->value;
		Type parts = placement_local(&v->type, &node->partial);
		Type whole = placement_local(&v->type, &v->placement);
		if (!node->sum && vertex_cut_side(cut, node->twin->vertex) != CUT_behind)
			more += type_bytes(&parts) - type_bytes(&whole);
	}
	if (more > room_left(g->p))
		return false;
	g->p->accumulated += more;
	return true;
}

/* What takes less time may move more. */
static bool
moves_no_more(const Graph *g, const VertexCut *cut, const Node *leader)
{
	int64_t now = 0, then = 0;

	for (const Node *node = leader->first; node; node = node->next) {
		int64_t bytes = node->twin == node ? cost_to_combine(g, node, IN_BYTES) : 0;
		now += node->sum ? bytes : 0;
		then += vertex_cut_side(cut, node->twin->vertex) == CUT_on ? bytes : 0;
	}
	return then <= now;
}

void
combine_shared(Partitioner *p, Block *b, CombineWhere where)
{
	bool behind = where == COMBINE_behind;
	Graph g = {.p = p,
		.where = where,
		.of = lookup_new(p->scratch),
		.made = lookup_new(p->scratch),
		.twins = lookup_new(p->scratch)};

	if (find_nodes(&g, b))
		find_twins(&g, b);
	else
		g.n = 0;
	link_nodes(&g);
	for (int i = 0; i < g.n; i++) {
		Node *leader = g.nodes[i];
		int64_t now = 0;
		if (leader_of(leader) != leader || leader->n > MAX_NODES
			|| (behind && !leader->shared)
			|| (where == COMBINE_wide && !leader->wide))
			continue;
		VertexCut *cut = cut_of(&g, leader, &now);
		if (vertex_cut_find(cut, behind) < now + behind
			&& (where != COMBINE_wide || moves_no_more(&g, cut, leader))
			&& parts_have_room(&g, cut, leader))
			combine_at(&g, cut, leader);
	}
	arena_reset(p->scratch);
}
