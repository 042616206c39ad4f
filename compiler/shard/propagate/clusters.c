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

/* ---- constants: a copy for each use -------------------------------------- */

static bool
is_constant(const Value *v)
{
	return v->def && (v->def->kind == O_constant || v->def->kind == O_iota);
}

/* Tensors that cost nothing to make again: two users of one must not force
   one placement on each other. */
static bool
is_splittable(const Value *v)
{
	if (v->annotated || !v->type.rank || !v->def)
		return false;
	return is_constant(v)
		|| (v->def->kind == O_broadcast && v->def->operands[0]->type.rank == 0
			&& is_constant(v->def->operands[0]));
}

static Value *
copy_constant(Propagation *g, Value *v, Op *user)
{
	Op *op = op_clone(v->def);

	op_insert_before(user, op);
	/* a body is closed: the scalar of a broadcast comes along */
	if (op->noperands && v->block != user->block)
		op->operands[0] = copy_constant(g, op->operands[0], op);
	return op->results[0];
}

/* What a body's parameter is called outside; NULL for what a loop carries
   and for other values. */
static Value *
outer_value(Value *v)
{
	Flow f = {.to = v};
	bool named = !v->def && flow_next_to(&f) && flow_renames(&f) && f.op->kind != O_call;

	return named ? f.from : NULL;
}

static Value *
constant_behind(Value *v)
{
	for (Value *outer = v; outer; outer = outer_value(v))
		v = outer;
	return is_splittable(v) ? v : NULL;
}

/* `uses` serves as a mark: the first use keeps the original. */
static void
split_constants_of(Op *op, void *data)
{
	Propagation *g = data;

	for (int i = 0; i < op->noperands; i++) {
		Value *v = op->operands[i], *constant = constant_behind(v);
		if (!constant || (v != constant && !is_use(op, i)) || v->uses++ == 0)
			continue;
		op->operands[i] = copy_constant(g, constant, op);
		Copy c = {op, i, v, op->operands[i]};
		APPEND(g->arena, g->copies, g->ncopies, c);
	}
}

void
split_constants(Propagation *g)
{
	module_clear_uses(g->module);
	module_walk(g->module, split_constants_of, g);
}

static void
remove_constant(Value *copy, const Value *original)
{
	Op *op = copy->def;

	op_remove(op);
	if (op->noperands && !original->def) /* a parameter: see above */
		op_remove(op->operands[0]->def);
}

/* Copies that ended where their original did are undone. */
void
merge_constants(Propagation *g)
{
	for (int i = 0; i < g->ncopies; i++) {
		Copy *c = &g->copies[i];
		if (!placement_equal(&c->original->placement, &c->copy->placement))
			continue;
		c->user->operands[c->operand] = c->original;
		remove_constant(c->copy, c->original);
		c->copy->name = c->original->name; /* in the story */
	}
}

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

/* Bodies as if they were written in place of their op. */
static void
unite_inlined(Op *op, void *data)
{
	for (Flow f = {.op = op}; flow_next(&f);)
		if (flow_renames(&f))
			unite(data, f.from, f.to);
}

/* What a loop carries is one value: a result, and a parameter of each body. */
static void
unite_carried(Op *op, void *data)
{
	for (Flow f = {.op = op}; op->kind == O_while && flow_next(&f);)
		unite(data, op->results[f.index], f.to);
}

static void
count_root_uses(Op *op, void *data)
{
	Propagation *g = data;

	for (int i = 0; i < op->noperands; i++)
		if (is_use(op, i))
			g->uses[find(g, op->operands[i]->id)]++;
}

static void
count_uses(Propagation *g)
{
	module_walk(g->module, count_root_uses, g);
	for (int i = g->module->nvalues - 1; i >= 0; i--)
		g->uses[i] = g->uses[find(g, i)];
}

/* ---- clusters --------------------------------------------------------------- */

/* What is written about each root's values; while uniting. */
typedef struct Written {
	Value *by; /* NULL: nothing */
	const Placement *placement;
} Written;

typedef struct Annotations {
	Propagation *g;
	Written *of; /* by value id */
} Annotations;

static void
note_annotation(Value *v, void *data)
{
	Annotations *a = data;
	Written *of = &a->of[find(a->g, v->id)];

	if ((v->annotated || v->follows) && !of->by)
		*of = (Written){v, &v->placement};
}

/* Where one begins like the other and is open, the longer; else false. */
static bool
join_dim(Placement *joined, const Placement *x, const Placement *y, int dim)
{
	AxisList a = placement_dim(x, dim), b = placement_dim(y, dim);
	bool extend_a = placement_is_open(x, dim) && axes_is_prefix(&a, &b);
	bool extend_b = placement_is_open(y, dim) && axes_is_prefix(&b, &a);

	if (!axes_equal(&a, &b) && !extend_a && !extend_b)
		return false;
	if (y->priority[dim] < x->priority[dim])
		joined->priority[dim] = y->priority[dim];
	placement_set_dim(joined, dim, extend_a ? &b : &a);
	return true;
}

/* What satisfies both annotations; false if nothing does. */
static bool
join(const Placement *x, const Placement *y, Placement *joined)
{
	AxisList ux = placement_unreduced(x), uy = placement_unreduced(y);
	AxisList barred = placement_replicated(x);
	AxisList more = placement_replicated(y);

	*joined = *x;
	if (!axes_equal(&ux, &uy) || x->combiner != y->combiner)
		return false;
	for (int d = 0; d < x->rank; d++)
		if (!join_dim(joined, x, y, d))
			return false;
	for (int i = 0; i < more.n; i++)
		if (!axes_overlap(&barred, more.a[i]))
			axes_append(&barred, more.a[i]);
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
		"shard_like cannot give '%s' "
		"and '%s' one placement: both say where they are",
		x->name, y->name);
	if (x->type_range.file)
		diag_label(s, x->type_range, "'%s' is %s", x->name, a.s);
	if (y->type_range.file)
		diag_label(s, y->type_range, "'%s' is %s", y->name, b.s);
	text_free(&a);
	text_free(&b);
}

static void
unite_alike(Annotations *a, const Op *op, const Value *v, const Value *w)
{
	Propagation *g = a->g;
	Written x = a->of[find(g, v->id)], y = a->of[find(g, w->id)];
	Placement joined;

	if (find(g, v->id) == find(g, w->id))
		return;
	if (x.by && y.by) {
		if (!join(x.placement, y.placement, &joined)) {
			warn_group(g, op, x.by, y.by);
			return;
		}
		x.placement = arena_copy(g->arena, &joined, sizeof joined);
	}
	unite(g, v, w);
	a->of[find(g, v->id)] = x.by ? x : y;
}

static void
unite_group(Op *op, void *data)
{
	if (op->kind != O_shard_like)
		return;
	unite_alike(data, op, op->operands[0], op->results[0]);
	unite_alike(data, op, op->operands[0], op->operands[1]);
}

static void
write_placement(Propagation *g, Cluster *c, const Placement *p)
{
	c->written = arena_copy(g->module->arena, p, sizeof *p);
	c->now = *p;
}

static void
add_value(Value *v, void *data)
{
	Annotations *a = data;
	Propagation *g = a->g;

	if (find(g, v->id) == v->id) {
		Cluster *c = &g->clusters[g->nclusters];
		g->cluster_of[v->id] = g->nclusters++;
		c->annotated = a->of[v->id].by;
		c->now = placement_open(v->type.rank);
		if (c->annotated)
			write_placement(g, c, a->of[v->id].placement);
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

void
build_clusters(Propagation *g)
{
	Module *m = g->module;
	Annotations a = {g, NEW_ARRAY(g->arena, Written, m->nvalues + 1)};

	g->parent = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->uses = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->cluster_of = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->clusters = NEW_ARRAY(g->arena, Cluster, m->nvalues + 1);
	for (int i = 0; i < m->nvalues; i++)
		g->parent[i] = i;
	module_walk(m, unite_inlined, g);
	count_uses(g);
	module_walk(m, unite_carried, g);
	module_walk_values(m, note_annotation, &a);
	module_walk(m, unite_group, &a);
	module_walk_values(m, add_value, &a);
	index_touches(g);
}

/* ---- constraints ---------------------------------------------------------------- */

/* Do all constraints on the operand's cluster ask for the same? */
static bool
undisputed(const Propagation *g, const Cluster *c, const Op *constraint)
{
	const Placement *wanted = &constraint->results[0]->placement;

	for (int i = 0; i < c->ntouches; i++) {
		const Op *op = g->ops[g->touches[c->first_touch + i]].op;
		if (op->kind == O_constraint && cluster_of(g, op->operands[0]) == c
			&& !placement_same(&op->results[0]->placement, wanted))
			return false;
	}
	return true;
}

/*
 * A constraint that leaves nothing open is where its producer should compute:
 * if nothing else holds the producer, it gets the placement itself.  Any other
 * constraint is an identity op with a fixed result.
 */
void
copy_constraints(Propagation *g)
{
	for (int i = 0; i < g->nops; i++) {
		Op *op = g->ops[i].op;
		if (op->kind != O_constraint || !op->results[0]->annotated
			|| op->results[0]->placement.open)
			continue;
		Cluster *c = cluster_of(g, op->operands[0]);
		if (c->annotated || c->copied_from || !undisputed(g, c, op))
			continue;
		write_placement(g, c, &op->results[0]->placement);
		c->copied_from = op;
	}
}
