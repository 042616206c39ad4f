/*
 * finish.c - what propagation leaves behind: closed placements, the
 * origin of every axis, the answers to names, and the verdict on `expect`s.
 */
#include <string.h>
#include "shard/propagate/propagate.h"

/* ---- origins ---------------------------------------------------------------- */

static void
add_origin(Propagation *g, Value *v, Origin origin)
{
	Origin *o = NEW(g->module->arena, Origin);

	*o = origin;
	o->next = v->origins;
	v->origins = o;
}

/* The axes that stood there before anything moved. */
static void
add_written_origins(Propagation *g, Value *v, const Cluster *c)
{
	Origin o = {.kind = ORIGIN_written};

	if (v == c->annotated) {
		o.where = v->type_range;
	} else if (c->copied_from) {
		o.kind = ORIGIN_op;
		o.through = c->copied_from;
		o.from = c->copied_from->results[0];
		o.where = c->copied_from->range;
	} else if (c->annotated) {
		o.kind = ORIGIN_op;
		o.from = c->annotated;
		o.where = c->annotated->type_range;
	} else {
		return;
	}
	for (o.dim = 0; o.dim < c->written->rank; o.dim++) {
		AxisList axes = placement_dim(c->written, o.dim);
		for (int i = 0; i < axes.n; i++) {
			o.axis = axes.a[i];
			add_origin(g, v, o);
		}
	}
}

/* A member that was not itself the target has its axis from the one that
   was; `through` is NULL then: they are one by definition. */
static void
add_arrivals(Propagation *g, Value *v, const Cluster *c)
{
	for (const Arrival *a = c->arrivals; a; a = a->next) {
		Origin o = a->origin;
		if (a->target != v) {
			o.from = a->target;
			o.through = NULL;
		}
		add_origin(g, v, o);
	}
}

static void
finish_value(Value *v, void *data)
{
	Propagation *g = data;
	const Cluster *c = cluster_of(g, v);

	v->written = c->written;
	v->annotated_open = v->annotated && c->written->open;
	v->placement = placement_close(c->now);
	if (v->follows || v->origins)
		return; /* explicit mode has told where from */
	add_arrivals(g, v, c);
	add_written_origins(g, v, c);
}

/* ---- expect ------------------------------------------------------------------ */

/* An open dim of an expectation only says how the axes begin. */
static bool
dim_as_expected(const Placement *wanted, const Placement *got, int dim)
{
	AxisList w = placement_dim(wanted, dim), v = placement_dim(got, dim);

	axes_normalize(&w);
	axes_normalize(&v);
	return placement_is_open(wanted, dim) ? axes_is_prefix(&w, &v) : axes_equal(&w, &v);
}

/* An axis of size 1 splits nothing: --mesh X=1 keeps every promise. */
static bool
as_expected(const Expect *e)
{
	Placement wanted = placement_moving(e->placement);
	Placement got = placement_moving(e->value->placement);
	AxisList none = {0};

	for (int d = 0; d < e->value->type.rank; d++) {
		if (!dim_as_expected(&wanted, &got, d))
			return false;
		placement_set_dim(&wanted, d, &none);
		placement_set_dim(&got, d, &none);
	}
	return placement_equal(&wanted, &got);
}

static void
tell_story(Session *s, const Module *m, const Value *v)
{
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(&v->placement, d);
		for (int i = 0; i < axes.n; i++) {
			Text t = {0};
			text_origin(&t, m, v, d, axes.a[i]);
			diag_note(s, (Range){0}, "%s", t.s);
			text_free(&t);
		}
	}
}

/* A result's type may become what the result is. */
static void
offer_result(const Module *m, const Expect *e, const char *got)
{
	const SourceFile *f = source_file(m->session, e->range.file);

	if (!f || !f->text || !strncmp(f->text + e->range.begin, "expect", 6))
		return;
	const char *arrow =
		arena_printf(m->arena, "-> %s%s", dtypes[e->value->type.dtype].name, got);
	diag_choice(m->session, e->range, arrow + 3, "choices:  %s", arrow);
}

static void
check_expect(Propagation *g, const Expect *e)
{
	const Module *m = g->module;
	Text got = {0}, wanted = {0};

	if (as_expected(e))
		return;
	text_placed(&got, &m->mesh, e->value, &e->value->placement);
	text_placed(&wanted, &m->mesh, e->value, &e->placement);
	diag(m->session, DIAG_expect_failed, e->range, "'%s' is placed %s, not %s", e->name,
		got.s, wanted.s);
	tell_story(m->session, m, e->value);
	offer_result(m, e, got.s);
	text_free(&got);
	text_free(&wanted);
}

void
finish_propagation(Propagation *g)
{
	Module *m = g->module;

	module_walk_values(m, finish_value, g);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			m->named[i].placement = m->named[i].value->placement;
	for (int i = 0; i < m->nresults; i++)
		m->results[i].placement = m->entry->last->operands[i]->placement;
	for (int i = 0; i < m->nexpects; i++)
		check_expect(g, &m->expects[i]);
}
