/*
 * why.c - why a dim is not split further.
 *
 * Requires L_sharded.  Looks once more at the ops around a value: an axis that
 * one of their other tensors has on a shared factor, and the value has not,
 * was kept away by something, which is named.  Computed when asked for;
 * propagation records nothing for it.
 */
#include <string.h>
#include "shard/propagate/propagate.h"
#include "report/report.h"

enum {
	MOST_OPS = 64,	  /* looked at for one dim */
	MOST_HOPS = 16,	  /* back to where an axis was stopped */
	MOST_REASONS = 3, /* told of one dim */
};

struct Why {
	Propagation g;
};

Why *
why_new(Module *m)
{
	Why *w = NEW(m->arena, Why);
	Propagation *g = &w->g;

	module_number(m);
	g->module = m;
	g->arena = m->arena;
	g->clusters = NEW_ARRAY(g->arena, Cluster, m->nvalues + 1);
	g->cluster_of = NEW_ARRAY(g->arena, int, m->nvalues + 1);
	g->nclusters = m->nvalues;
	collect_ops(g);
	Value **values = module_values(m, g->arena);
	for (int i = 0; i < m->nvalues; i++) {
		const Placement *written = values[i]->written;
		Placement *now = &g->clusters[i].now;
		g->cluster_of[i] = i;
		*now = values[i]->placement;
		now->open = placement_open(values[i]->type.rank).open;
		if (written) {
			AxisList replicated = placement_replicated(written);
			now->open = written->open;
			now->all_replicated = written->all_replicated;
			placement_set_replicated(now, &replicated);
		}
	}
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (Flow f = {.op = op}; op_is_loop(op) && flow_next(&f);)
			g->cluster_of[f.to->id] = op->results[f.index]->id;
	index_touches(g);
	return w;
}

/* ---- reasons ---------------------------------------------------------------- */

typedef struct Reasons {
	Text *t;
	const Module *m;
	int n;
} Reasons;

static void
reason(Reasons *told, const char *text)
{
	if (told->n++ < MOST_REASONS)
		text_printf(told->t, "    no further: %s\n", text);
}

static void
text_through(Text *t, const Module *m, const Op *op)
{
	text_printf(t, "%s", op->label);
	text_line(t, m, ", ", op->range, "");
}

/* The first piece of `theirs` beyond what both begin with; false if none. */
static bool
first_beyond(const AxisList *ours, const AxisList *theirs, AxisRef *axis)
{
	AxisList common = axes_common_prefix(ours, theirs);
	AxisList rest = axes_drop_prefix(theirs, &common);

	if (rest.n)
		*axis = rest.a[0];
	return rest.n > 0;
}

static const Value *
holder_value(const Projection *p, const Holder *h)
{
	return p->tensors[h->tensor];
}

/* A dim that is the factor alone could be padded. */
static void
text_indivisible(Text *t, const Module *m, const Value *v, const Holder *h, AxisRef a)
{
	AxisList axes = h->axes;

	axes_append(&axes, a);
	text_printf(t, "does not divide %lld", (long long)h->size);
	if (v->type.dims[h->dim] != h->size)
		return;
	text_printf(t, "; %lld@%s", (long long)h->size, axes.n > 1 ? "(" : "");
	text_axes(t, &m->mesh, &axes);
	text_printf(t, "%s pad would be split", axes.n > 1 ? ")" : "");
}

/* What kept `a`, which holder `other` has, from holder `h`? */
static void
text_obstacle(Text *t, const Module *m, const Projection *p, const Holder *h,
	const Holder *other, AxisRef a)
{
	const Value *v = holder_value(p, h);
	int64_t ways = axes_size(&h->axes);
	AxisRef next;
	int taken = dim_of_axis(&v->placement, a);

	text_axis(t, &m->mesh, a);
	text_printf(t, " of '%s' (", value_source_name(holder_value(p, other)));
	text_through(t, m, p->op);
	text_add(t, ") ");
	if (taken >= 0 && taken != h->dim)
		text_printf(t, "is taken by dim %d", taken);
	else if (axes_overlap(&p->barred[h->tensor], a))
		text_add(t, "may not be used on this tensor");
	else if (h->size % ways || h->size / ways % a.size)
		text_indivisible(t, m, v, h, a);
	else if (first_beyond(&other->axes, &h->axes, &next)) {
		text_add(t, "conflicts with ");
		text_axis(t, &m->mesh, next);
		text_add(t, ", which is here");
	} else if (!h->minor_most || h->dim != other->dim
		|| p->rule->factors[h->factor].kind != F_pass)
		text_add(t, "does not pass through this op");
	else
		text_add(t, "conflicts with what another tensor has there");
}

/* What the neighbour next to the holder has more of, or two that pull in different
   directions. */
static void
tell_holder(Reasons *told, const Projection *p, const Holder *h)
{
	const Placement *ours = &holder_value(p, h)->placement;
	const Holder *next = NULL, *first = NULL, *second = NULL;
	AxisRef missing, a, b;
	Text t = {0};

	for (int i = p->factor_first[h->factor]; i < p->factor_first[h->factor + 1]; i++) {
		const Holder *other = &p->holders[p->by_factor[i]];
		if (other == h || !first_beyond(&h->axes, &other->axes, &b))
			continue;
		if (!next) {
			next = other;
			missing = b;
		}
		if (dim_of_axis(ours, b) >= 0)
			continue;
		if (first && !axis_equal(a, b)) {
			second = other;
			break;
		}
		if (!first) {
			first = other;
			a = b;
		}
	}
	if (!next)
		return;
	if (second) {
		text_axis(&t, &told->m->mesh, a);
		text_printf(&t, " of '%s' and ", value_source_name(holder_value(p, first)));
		text_axis(&t, &told->m->mesh, b);
		text_printf(&t, " of '%s' conflict (",
			value_source_name(holder_value(p, second)));
		text_through(&t, told->m, p->op);
		text_add(&t, "): neither wins");
	} else {
		text_obstacle(&t, told->m, p, h, next, missing);
	}
	reason(told, t.s);
	text_free(&t);
}

static void
tell_neighbours(Why *w, Reasons *told, const Value *v, int dim)
{
	const Cluster *c = cluster_of(&w->g, v);
	Projection *p = &w->g.projection;

	for (int i = 0; i < c->ntouches && i < MOST_OPS; i++) {
		OpState *o = &w->g.ops[w->g.touches[c->first_touch + i]];
		const Op *op = o->op;
		const OpInfo *info = &ops[op->kind];
		if (info->blocked
			&& info->operands == 1) { /* matters if its other side is split */
			const Value *other =
				op->operands[0] == v ? op->results[0] : op->operands[0];
			AxisList ours = placement_dim(&v->placement, dim);
			AxisList theirs = placement_dim(&other->placement, dim);
			AxisRef a;
			if (first_beyond(&ours, &theirs, &a)) {
				Text t = {0};
				text_axis(&t, &told->m->mesh, a);
				text_printf(&t, " of '%s' does not pass a %s",
					value_source_name(other), info->name);
				text_line(&t, told->m, " (", op->range, ")");
				reason(told, t.s);
				text_free(&t);
			}
		}
		if (!o->rule)
			o->rule = op_rule(w->g.arena, o->op);
		if (!o->rule)
			continue;
		project(p, &w->g, o);
		for (int k = 0; k < p->nholders; k++) {
			const Holder *h = &p->holders[k];
			if (h->dim == dim && cluster_of(&w->g, holder_value(p, h)) == c)
				tell_holder(told, p, h);
		}
	}
}

/* Into and out of a body; NULL elsewhere. */
static const Value *
same_value(const Value *v)
{
	const Value *same = NULL;

	for (Flow f = {.to = (Value *)v}; flow_next_to(&f);)
		if (f.kind != FLOW_round)
			same = f.from;
	return same;
}

/* The operand and dim that a dim of an op's result is made of, if one. */
static const Value *
made_of(Why *w, const Value *v, int *dim)
{
	OpState *o = v->def ? &w->g.ops[w->g.state_of[v->def->id]] : NULL;
	Projection *p = &w->g.projection;
	const Holder *h = NULL;

	if (same_value(v))
		return same_value(v);
	if (!o || !o->rule)
		return NULL;
	project(p, &w->g, o);
	for (int i = p->first[p->rule->noperands]; i < p->nholders; i++)
		if (!h && p->holders[i].dim == *dim && holder_value(p, &p->holders[i]) == v)
			h = &p->holders[i];
	if (!h)
		return NULL;
	const Holder *from = &p->holders[p->by_factor[p->factor_first[h->factor]]];
	if (from->tensor >= p->rule->noperands)
		return NULL;
	*dim = from->dim;
	return holder_value(p, from);
}

static void
tell_written(Reasons *told, const Value *v, const char *what)
{
	Text t = {0};

	text_add(&t, what);
	text_line(&t, told->m, " (", v->type_range, ")");
	reason(told, t.s);
	text_free(&t);
}

void
text_blocked(Why *w, const Value *v, int dim, Text *t)
{
	Reasons told = {t, w->g.module, 0};
	const Cluster *c = cluster_of(&w->g, v);

	if (v->type.dims[dim] == placement_dim_ways(&v->placement, dim))
		return; /* one element a device: nothing to split */
	if (v->annotated && !v->written)
		return;	   /* from a dump, which does not say */
	bool free = false; /* is there something to split it along? */
	for (int i = 0; i < told.m->mesh.naxes; i++)
		free |= told.m->mesh.axes[i].size > 1
			&& !placement_uses(&v->placement, axis_whole(&told.m->mesh, i));
	if (!free)
		return;
	if (c->now.all_replicated) {
		tell_written(&told, v, "replicated where it is written");
		return;
	}
	if (v->written && !placement_is_open(&c->now, dim)) {
		tell_written(&told, v,
			v->annotated ? "closed where it is written"
				: v->def && v->def->mode == MODE_explicit
				? "explicit: it follows from the operands"
				: "closed by the constraint it computes");
		return;
	}
	tell_neighbours(w, &told, v, dim);
	/* Nothing around it: an axis may have been stopped further up. */
	int up = dim;
	const Value *from = v;
	for (int hop = 0; hop < MOST_HOPS && !told.n; hop++) {
		from = made_of(w, from, &up);
		if (!from || from->annotated)
			break;
		tell_neighbours(w, &told, from, up);
	}
	if (!told.n && placement_dim_ways(&v->placement, dim) == 1)
		reason(&told, "no other axis reaches it");
}
