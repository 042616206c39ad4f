/*
 * clusters.c - which values share a placement, and what they start
 * with.
 *
 * A composite's body is seen as if it were written in place of the call: its
 * parameters are the operands, its results the call's.  A branch, and a loop
 * with what it does not change, sees the values outside as they are; what a
 * loop carries has one placement in the condition, the body and the result.
 * Members of a shard_like are one cluster too, unless their annotations
 * disagree (a warning; then they stay apart).
 */
#include <string.h>
#include "shard/propagate/propagate.h"

/* ---- union-find ------------------------------------------------------------ */

static int
find(Propagation *g, int id)
{
	while (g->parent[id] != id) {
		g->parent[id] = g->parent[g->parent[id]];
		id = g->parent[id];
	}
	return id;
}

/* The lower id, the value defined first, represents both. */
static void
unite(Propagation *g, const Value *a, const Value *b)
{
	int x = find(g, a->id), y = find(g, b->id);

	if (x < y)
		g->parent[y] = x;
	else
		g->parent[x] = y;
}

/* ---- clusters --------------------------------------------------------------- */

/* What satisfies both annotations; false if nothing does.  Where one begins like the
   other and is open, it is the longer. */
static bool
join(const Placement *x, const Placement *y, Placement *joined)
{
	AxisList ux = placement_unreduced(x), uy = placement_unreduced(y);
	AxisList barred = placement_replicated(x);
	AxisList more = placement_replicated(y);

	*joined = *x;
	if (!axes_equal(&ux, &uy) || x->combiner != y->combiner)
		return false;
	for (int d = 0; d < x->rank; d++) {
		AxisList a = placement_dim(x, d), b = placement_dim(y, d);
		bool extend_a = placement_is_open(x, d) && axes_is_prefix(&a, &b);
		bool extend_b = placement_is_open(y, d) && axes_is_prefix(&b, &a);
		if (!axes_equal(&a, &b) && !extend_a && !extend_b)
			return false;
		if (extend_a && !placement_has_room(joined, b.n - a.n))
			return false;
		if (y->priority[d] < x->priority[d])
			joined->priority[d] = y->priority[d];
		placement_set_dim(joined, d, extend_a ? &b : &a);
	}
	for (int i = 0; i < more.n; i++)
		if (!axes_overlap(&barred, more.a[i])) {
			if (!placement_has_room(joined, i + 1))
				return false;
			axes_append(&barred, more.a[i]);
		}
	placement_set_replicated(joined, &barred);
	joined->open = x->open & y->open;
	joined->all_replicated = x->all_replicated || y->all_replicated;
	return placement_is_sound(joined);
}

static void
warn_group(const Propagation *g, const Op *op, const Value *x, const Value *y)
{
	Session *s = g->module->session;
	Text a = {0}, b = {0};

	text_placed(&a, &g->module->mesh, x, &x->placement);
	text_placed(&b, &g->module->mesh, y, &y->placement);
	diag(s, DIAG_group_conflict, op->range,
		"%s cannot give '%s' "
		"and '%s' one placement: both say where they are",
		g->module->python ? "shard_alike" : "shard_like", x->name, y->name);
	if (x->type_range.file)
		diag_label(s, x->type_range, "'%s' is %s", x->name, a.s);
	if (y->type_range.file)
		diag_label(s, y->type_range, "'%s' is %s", y->name, b.s);
	text_free(&a);
	text_free(&b);
}

static void
unite_alike(Propagation *g, const Op *op, const Value *v, const Value *other)
{
	int a = find(g, v->id), b = find(g, other->id);
	Annotation x = g->annotations[a], y = g->annotations[b];
	Placement joined;

	if (a == b)
		return;
	if (x.by && y.by) {
		if (!join(x.placement, y.placement, &joined)) {
			warn_group(g, op, x.by, y.by);
			return;
		}
		x.placement = arena_copy(g->arena, &joined, sizeof joined);
	}
	unite(g, v, other);
	g->annotations[find(g, v->id)] = x.by ? x : y;
}

void
write_placement(Propagation *g, Cluster *c, const Placement *written)
{
	c->written = arena_copy(g->module->arena, written, sizeof *written);
	c->now = *written;
}

/*
 * A cluster for each representative, in the order of the program.
 *
 *   a loop carries acc: it has a parameter in the condition and one in the body
 *
 *   values  x 0   i 1   acc 2   acc' 3   acc (condition) 4   acc (body) 5
 *   roots     0     1       2        3                   3              3
 *   clusters  0     1       2        3                   3              3
 */
static void
add_value(Propagation *g, const Value *v)
{
	if (find(g, v->id) == v->id) {
		Cluster *c = &g->clusters[g->nclusters];
		g->cluster_of[v->id] = g->nclusters++;
		c->annotated = g->annotations[v->id].by;
		c->now = placement_open(v->type.rank);
		if (c->annotated)
			write_placement(g, c, g->annotations[v->id].placement);
	}
	/* a representative has the lowest id, so it is done already */
	g->cluster_of[v->id] = g->cluster_of[find(g, v->id)];
}

/* ---- ops around clusters ------------------------------------------------------ */

static bool
tensor_seen_before(const OpState *o, int tensor)
{
	/* a long operand list is not worth a quadratic search: a repeated
	   touch only costs a second look */
	for (int i = 0; i < tensor && i < 4; i++)
		if (o->cluster[i] == o->cluster[tensor])
			return true;
	return false;
}

void
locate_tensors(Propagation *g)
{
	for (int i = 0; i < g->nops; i++) {
		OpState *o = &g->ops[i];
		for (int t = 0; t < o->ntensors; t++)
			o->cluster[t] = g->cluster_of[o->tensors[t]->id];
	}
}

void
index_touches(Propagation *g)
{
	int total = 0;

	locate_tensors(g);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < g->nops; i++) {
			const OpState *o = &g->ops[i];
			for (int t = 0; t < o->ntensors; t++) {
				Cluster *c = tensor_cluster(g, o, t);
				if (tensor_seen_before(o, t))
					continue;
				if (pass)
					g->touches[c->first_touch + c->ntouches] = i;
				c->ntouches++;
			}
		}
		if (pass)
			break;
		for (int i = 0; i < g->nclusters; i++) {
			g->clusters[i].first_touch = total;
			total += g->clusters[i].ntouches;
			g->clusters[i].ntouches = 0;
		}
		g->touches = NEW_ARRAY(g->arena, int, total + 1);
	}
}

/* NULL: of an edge. */
static Op *
own_op(const Propagation *g, int i)
{
	return g->ops[i].edge ? NULL : g->ops[i].op;
}

void
build_clusters(Propagation *g)
{
	Module *m = g->module;

	g->annotations = NEW_ARRAY(g->arena, Annotation, m->nvalues + 1);
	g->parent = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->uses = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->uses_everywhere = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->cluster_of = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->clusters = NEW_ARRAY(g->arena, Cluster, m->nvalues + 1);
	for (int i = 0; i < m->nvalues; i++)
		g->parent[i] = i;
	/* bodies as if they were written in place of their op: uses are counted so */
	for (int i = 0; i < g->nops; i++)
		for (Flow f = {.op = own_op(g, i)}; f.op && flow_next(&f);)
			if (flow_renames(&f))
				unite(g, f.from, f.to);
	for (int i = 0; i < g->nops; i++) {
		const Op *op = own_op(g, i);
		for (int k = 0; op && k < op->noperands; k++) {
			if (!is_use(op, k))
				continue;
			int root = find(g, op->operands[k]->id);
			g->uses_everywhere[root]++;
			g->uses[root] += op->mode != MODE_backward;
		}
	}
	for (int i = m->nvalues - 1; i >= 0; i--) {
		g->uses[i] = g->uses[find(g, i)];
		g->uses_everywhere[i] = g->uses_everywhere[find(g, i)];
	}

	/* what a loop carries is one value: a result, and a parameter of each body */
	for (int i = 0; i < g->nops; i++) {
		Op *op = own_op(g, i);
		for (Flow f = {.op = op}; op && op_is_loop(op) && flow_next(&f);)
			unite(g, op->results[f.index], f.to);
	}
	g->values = module_values(m, g->arena);
	for (int i = 0; i < m->nvalues; i++) {
		Value *v = g->values[i];
		Annotation *of = &g->annotations[find(g, i)];
		if ((v->annotated || v->follows) && !of->by)
			*of = (Annotation){v, &v->placement};
		for (const Origin *o = v->origins; o;
			o = o->next) /* explicit code came first */
			g->step = o->step > g->step ? o->step : g->step;
	}
	for (int i = 0; i < g->nops; i++) {
		const Op *op = own_op(g, i);
		if (!op || op->kind != O_shard_like || op->mode == MODE_backward
			|| op_has(op, A_wish))
			continue;
		g->ops[i].alike = true;
		unite_alike(g, op, op->operands[0], op->results[0]);
		unite_alike(g, op, op->operands[0], op->operands[1]);
	}
	for (int i = 0; i < m->nvalues; i++)
		add_value(g, g->values[i]);
	index_touches(g);
}
