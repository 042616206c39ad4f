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
 * that separate the two.  What is before them is added up in parts, of what is whole one
 * device's.  Parts of what is scattered take more room than its shards: where there is none,
 * it is left as it is.
 */
#include "shard/partition/chain.h"

enum { MAX_NODES = 4096 }; /* of one graph; larger ones stay as they are */

typedef struct Node {
	Value *value; /* whole: what a move combines, or made of such by additions */
	Placement partial;
	bool scattered; /* it is split along axes of the sum */
	Reason why;
	int uses;	     /* by other nodes */
	struct Node *twin;   /* the first that is equal, which will be merged; itself */
	int vertex;	     /* of that, in the graph that it is of */
	struct Node *leader; /* of that graph, up from here; itself */
	struct Node *next;   /* in that graph, in the order of the block */
	struct Node *first;  /* of a leader */
	int n;		     /* ... how many */
	bool shared;	     /* ... of which one has several uses */
} Node;

typedef struct Graph {
	Partitioner *p;
	bool behind;  /* combined there if that moves as much; not what was asked for */
	Node **nodes; /* in the order of the block */
	int n;
	Lookup *of;   /* by value */
	Lookup *sums; /* of two, by these */
} Graph;

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

/* Is it whole along these, not split either? */
static bool
is_apart_from(const Placement *at, const AxisList *over)
{
	Placement parts = partial_over(at, over, C_add);

	for (int d = 0; d < at->rank; d++) {
		AxisList axes = placement_dim(at, d), kept = placement_dim(&parts, d);
		if (!axes_equal(&axes, &kept))
			return false;
	}
	return !at->nunreduced;
}

static Node *
add_node(Graph *g, Value *v, const Placement *partial, Reason why)
{
	Arena *a = g->p->scratch;
	AxisList over = placement_unreduced(partial);
	Node *node = NEW(a, Node);

	*node = (Node){.value = v,
		.partial = *partial,
		.scattered = !is_apart_from(&v->placement, &over),
		.why = why,
		.n = 1};
	node->leader = node->twin = node;
	APPEND(a, g->nodes, g->n, node);
	lookup_add(g->of, value_hash(v), node);
	return node;
}

static bool
are_alike(const Placement *a, const Placement *b)
{
	return placement_equal(a, b) && a->combiner == b->combiner;
}

/* Is the factor whole along these, or made anew? */
static bool
goes_beside(const Op *op, Value *factor, const AxisList *over)
{
	return is_apart_from(&factor->placement, over)
		|| (ops[op->kind].pointwise && as_splat(factor));
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

	*partial = partial_over(&op->results[0]->placement, &over, combiner);
	goes = placement_is_sound(partial)
		&& (adds ? are_alike(&node->partial, partial)
			 : goes_through_parts(g->p, op, k, combiner));
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

/* ---- equal ones ------------------------------------------------------------------ */

static const Value *
twin_value(const Graph *g, const Value *v)
{
	const Node *node = node_of(g, v);

	return node ? node->twin->value : v;
}

typedef struct Addition {
	const Graph *graph;
	const Op *op;
} Addition;

static bool
is_equal_addition(const void *item, const void *key)
{
	const Addition *x = key;
	const Op *a = ((const Node *)item)->value->def, *b = x->op;
	const Value *of_a[2], *of_b[2];

	for (int k = 0; k < 2; k++) {
		of_a[k] = twin_value(x->graph, a->operands[k]);
		of_b[k] = twin_value(x->graph, b->operands[k]);
	}
	return a->kind == b->kind
		&& ((of_a[0] == of_b[0] && of_a[1] == of_b[1])
			|| (ops[a->kind].symmetric && of_a[0] == of_b[1]
				&& of_a[1] == of_b[0]));
}

/* Merging comes later: equal additions are made of the same two, which may be such. */
static void
find_twin(Graph *g, Node *node)
{
	const Op *op = node->value->def;

	if (!combines(op, (Combiner)node->partial.combiner))
		return;
	Addition key = {g, op};
	uint64_t hash = value_hash(twin_value(g, op->operands[0]))
		+ value_hash(twin_value(g, op->operands[1]));
	Node *twin = lookup_find(g->sums, hash, is_equal_addition, &key);
	if (twin)
		node->twin = twin;
	else
		lookup_add(g->sums, hash, node);
}

static void
find_node(Graph *g, Op *op)
{
	Placement partial;
	bool scattered;

	if (op_is_move(op)) {
		const Placement *from = &op->operands[0]->placement;
		if (combines_into(from, &op->results[0]->placement, &scattered)
			&& !(g->behind && (scattered || op->requested)))
			add_node(g, op->results[0], from,
				(Reason){op->label, op->range, op->requested});
		return;
	}
	if (op->nresults != 1 || op->nbodies || op_is_identity(op) || op->mode == MODE_explicit
		|| op->results[0]->placement.nunreduced)
		return;
	/* Where sums over different axes meet, what is scattered is so before. */
	for (int k = 0; k < 2 * op->noperands; k++) {
		const Node *node = node_of(g, op->operands[k % op->noperands]);
		if (node && node->scattered == (k >= op->noperands)
			&& goes_on_parts(g, op, k % op->noperands, &partial)) {
			find_twin(g, add_node(g, op->results[0], &partial, node->why));
			return;
		}
	}
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
	if (a == b)
		return;
	b->leader = a;
	a->n += b->n;
}

static bool
is_sum_move(const Node *node)
{
	return op_is_move(node->value->def);
}

/* Operand k of the node, if it takes that in parts. */
static Node *
node_taken(const Graph *g, const Node *node, int k)
{
	const Op *op = node->value->def;
	Node *from = is_sum_move(node) ? NULL : node_of(g, op->operands[k]);
	bool adds = from && adds_up(op, (Combiner)node->partial.combiner);

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

/* Of the nodes of one graph; what it takes to combine each. */
static VertexCut *
cut_of(const Graph *g, Node *leader, int64_t *now)
{
	VertexCut *cut = vertex_cut_new(g->p->scratch);

	for (Node *node = leader->first; node; node = node->next) {
		const Value *v = node->value;
		bool source = is_sum_move(node);
		int64_t bytes = (int64_t)bytes_between(g->p, v, &node->partial, &v->placement);
		if (g->behind && !source)
			bytes /= rounds_added(v);
		bytes = bytes > 1 ? bytes : 1; /* of no elements, or of a part of a round */
		if (node->twin == node)
			node->vertex = vertex_cut_add(cut, bytes, source);
		*now += source ? bytes : 0;
	}
	for (Node *node = leader->first; node; node = node->next) {
		if (node->uses < node->value->uses)
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

/* Of an op on parts, which is whole along their axes. */
static void
take_factor(const Node *node, Value **factor, Op *user)
{
	AxisList over = placement_unreduced(&node->partial), none = {0};
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
	bool adds = adds_up(op, (Combiner)node->partial.combiner);

	for (int k = 0; k < op->noperands; k++) {
		const Node *from = node_before(g, node, k);
		bool before = from && vertex_cut_side(cut, from->twin->vertex) == CUT_before;
		if (before && is_sum_move(from)) {
			op->operands[k] = from->value->def->operands[0];
			op->operands[k]->uses++;
		} else if (!before && adds && !is_placed(op->operands[k], &node->partial)) {
			op->operands[k] = insert_reshard(g->p, op->operands[k], &node->partial,
				op, node->why);
		} else if (!from && !adds) {
			take_factor(node, &op->operands[k], op);
		}
	}
}

static void
combine_at(const Graph *g, const VertexCut *cut, Node *leader)
{
	for (Node *node = leader->first; node; node = node->next) {
		CutSide side = vertex_cut_side(cut, node->twin->vertex);
		if (is_sum_move(node) || side == CUT_behind)
			continue;
		take_parts(g, cut, node);
		if (side == CUT_on)
			move_for_all(g->p, node->value, &node->partial, node->value->def->next,
				node->why);
		else
			node->value->placement = node->partial;
	}
	for (Node *node = leader->first; node; node = node->next)
		if (is_sum_move(node)
			&& vertex_cut_side(cut, node->twin->vertex) == CUT_before) {
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
		if (!is_sum_move(node)
			&& vertex_cut_side(cut, node->twin->vertex) != CUT_behind)
			more += type_bytes(&parts) - type_bytes(&whole);
	}
	if (more > room_left(g->p))
		return false;
	g->p->accumulated += more;
	return true;
}

void
combine_shared(Partitioner *p, Block *b, bool behind)
{
	Graph g = {.p = p,
		.behind = behind,
		.of = lookup_new(p->scratch),
		.sums = lookup_new(p->scratch)};

	for (Op *op = b->first; op; op = op->next)
		find_node(&g, op);
	link_nodes(&g);
	for (int i = 0; i < g.n; i++) {
		Node *leader = g.nodes[i];
		int64_t now = 0;
		if (leader_of(leader) != leader || leader->n > MAX_NODES
			|| (behind && !leader->shared))
			continue;
		VertexCut *cut = cut_of(&g, leader, &now);
		if (vertex_cut_find(cut, behind) < now + behind
			&& parts_have_room(&g, cut, leader))
			combine_at(&g, cut, leader);
	}
	arena_reset(p->scratch);
}
