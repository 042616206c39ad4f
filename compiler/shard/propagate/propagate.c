/*
 * propagate.c - from the placements that are written to those of all values.
 *
 *   fn main(x: f32[8@X, 16], w: f32[16, 32] @?) -> (r: f32[8, 32@Y] @?)
 *   h = dot(x, w)        h: [8@X, 32@Y] from x and r; w: [16, 32@Y] from h
 *
 * Requires L_global.  Leaves L_sharded: every value has a closed placement and
 * the origin of each of its axes; no data movement is decided yet.
 *
 * User priorities are rounds around the levels of order.c: a dim of
 * a later priority is closed and empty until its turn, and its axes are
 * barred from the rest of its tensor so that nothing takes them.
 *
 * Backward passes take no part in that.  When all is done, what does not depend on them
 * stays as it is, and everything is gone through once more with them.
 */
#include <string.h>
#include "shard/propagate/propagate.h"
#include "shard/shard.h"

/* ---- user priorities ------------------------------------------------------- */

/* Dims of priorities after `now` are closed, empty, and keep their axes. */
static void
show_until(Cluster *c, int now)
{
	const Placement *written = c->written;
	AxisList barred = placement_replicated(written), none = {0};

	placement_set_replicated(&c->now, &none); /* until it is known what they bar */
	for (int d = 0; d < written->rank; d++) {
		AxisList axes = placement_dim(written, d);
		if (written->priority[d] > now) {
			axes_append_all(&barred, &axes);
			placement_set_dim(&c->now, d, &none);
			c->now.open &= (uint16_t) ~(1u << d);
		} else if (written->priority[d] == now && now > 0) {
			placement_set_dim(&c->now, d, &axes);
			c->now.open |= (uint16_t)(written->open & 1u << d);
		}
	}
	placement_set_replicated(&c->now, &barred);
}

static void
run_priorities(Propagation *g)
{
	bool used[UINT8_MAX + 1] = {true};

	for (int i = 0; i < g->nclusters; i++) {
		const Placement *written = g->clusters[i].written;
		for (int d = 0; written && d < written->rank; d++)
			used[written->priority[d]] = true;
	}
	for (int priority = 0; priority <= UINT8_MAX; priority++) {
		if (!used[priority])
			continue;
		for (int i = 0; i < g->nclusters; i++) {
			Cluster *c = &g->clusters[i];
			int highest = 0;
			for (int d = 0; c->written && d < c->written->rank; d++)
				if (c->written->priority[d] > highest)
					highest = c->written->priority[d];
			if (!highest || highest < priority)
				continue;
			show_until(c, priority);
			unsettle(g, c);
		}
		run_levels(g);
	}
}

/* ---- backward passes --------------------------------------------------------- */

static void
follow_backward(Dataflow *d, const Op *op)
{
	Facts depends = op->mode == MODE_backward;

	for (int i = 0; i < op->noperands && !op->nbodies; i++)
		depends |= d->of[op->operands[i]->id];
	for (int i = 0; i < op->nresults && (!op->nbodies || op->mode == MODE_backward); i++)
		dataflow_add(d, op->results[i], depends);
	for (int i = 0; i < op->noperands && op->specs && depends; i++)
		dataflow_add(d, op->bodies[0]->params[i], depends);
}

/* False: there is no backward pass. */
static bool
close_forward(Propagation *g)
{
	Dataflow d = {.op = follow_backward};
	bool any = false;

	for (int i = 0; i < g->nops && !any; i++)
		any = g->ops[i].op->mode == MODE_backward;
	if (!any)
		return false;
	dataflow_solve(&d, g->arena, g->module->entry);
	for (int i = 0; i < g->module->nvalues; i++)
		if (!d.of[i])
			cluster_of(g, g->values[i])->now.open = 0;
	return true;
}

static void
run_backward(Propagation *g)
{
	if (!close_forward(g))
		return;
	g->uses = g->uses_everywhere;
	plan_levels(g, true);
	for (int i = 0; i < g->nclusters; i++)
		unsettle(g, &g->clusters[i]);
	run_levels(g);
}

static bool
is_wish(const Op *op)
{
	return op && op->kind == O_shard_like
		&& (op->mode == MODE_backward || op_has(op, A_wish));
}

/* Of a cotangent that is where it was asked to be, whole or in parts of a sum, no more is
   asked: it may go on from there as parts. */
static bool
is_met(const Op *op)
{
	AxisList none = {0};

	if (!op || op->kind != O_constraint || op->mode != MODE_backward)
		return false;
	Placement is = op->operands[0]->placement;
	placement_set_unreduced(&is, &none, C_add);
	return placement_same(&is, &op->results[0]->placement);
}

/* Has the op dims that are to be whole, and are split? */
static bool
has_to_gather(const Op *op)
{
	const Ints *whole = op_ints(op, A_whole);
	bool split = false;

	for (int i = 0; i < whole->n; i++)
		split |= placement_dim_ways(&op->results[0]->placement, (int)whole->v[i]) > 1;
	return split;
}

/* An op that changes nothing, not even where it is. */
static bool
is_same(const Op *op)
{
	return op && op_changes_nothing(op) && !has_to_gather(op)
		&& placement_equal(&op->operands[0]->placement, &op->results[0]->placement);
}

/* Does nothing come of it but its operand? */
static bool
is_idle(const Op *op)
{
	return is_wish(op) || is_met(op) || is_same(op);
}

/* The value that wished to be where another is, or is it. */
static Value *
granted(Value *v)
{
	while (is_idle(v->def))
		v = v->def->operands[0];
	return v;
}

/* It has the name of the wish, if the user gave that one and it has none. */
static void
name_granted(Propagation *g)
{
	Module *m = g->module;
	bool *listed = NEW_ARRAY(g->arena, bool, m->nvalues + 1);

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			listed[m->named[i].value->id] = true;
	for (int i = 0; i < m->nnamed; i++) {
		Value *wish = m->named[i].value, *v = wish ? granted(wish) : NULL;
		if (v != wish && v->def && !listed[v->id]) {
			value_take_name(v, wish);
			listed[v->id] = true;
		}
		m->named[i].value = v;
	}
	for (int i = 0; i < m->nexpects; i++)
		m->expects[i].value = granted(m->expects[i].value);
}

/* A gradient is placed as what it is taken by where nothing else says where it is; what
   wished so goes. */
static void
grant_wishes(Propagation *g)
{
	Block *entry = g->module->entry;

	name_granted(g);
	for (Op *op = entry->first; op; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = granted(op->operands[i]);
	for (int i = 0; i < g->nops; i++)
		if (is_idle(g->ops[i].op) && g->ops[i].op->block) /* no copy that is merged */
			op_remove(g->ops[i].op);
}

/* Where each value is; the module is not told. */
static void
place_clusters(Propagation *g)
{
	split_constants(g);
	module_number(g->module);
	use_constrained(g);
	use_last_of_chains(g);
	g->rules = module_precedents(g->module)->rules;
	collect_ops(g);
	g->stack = NEW_ARRAY(g->arena, int, g->nops + 1);
	build_clusters(g);
	plan_levels(g, false);
	copy_constraints(g);
	run_priorities(g);
	run_backward(g);
}

Placement **
placed_unevenly(Module *m)
{
	Propagation g = {.module = m, .arena = arena_new(), .projection.uneven = true};

	place_clusters(&g);
	undo_rewired(&g);
	undo_copies(&g);
	Value **values = g.values;
	int n = m->nvalues;
	for (int i = 0; i < n; i++)
		values[i]->id = -1;
	module_number(m);
	Placement **placed = NEW_ARRAY(m->arena, Placement *, m->nvalues + 1);
	for (int i = 0; i < n; i++) {
		const Value *v = values[i];
		if (v->id < 0)
			continue;
		Placement is = placement_close(g.clusters[g.cluster_of[i]].now);
		for (int d = 0; d < v->type.rank; d++)
			if (v->type.dims[d] % placement_dim_ways(&is, d))
				placed[v->id] = arena_copy(m->arena, &is, sizeof is);
	}
	arena_free(g.arena);
	return placed;
}

bool
propagate(Module *m)
{
	Propagation g = {.module = m, .arena = arena_new()};

	module_limit_indices(m);
	place_clusters(&g);
	finish_propagation(&g);
	check_carried(&g);
	merge_constants(&g); /* while the users that were given a copy are there */
	grant_wishes(&g);
	module_number(m);
	m->level = L_sharded;
	arena_free(g.arena);
	return true;
}
