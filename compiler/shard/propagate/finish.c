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

/* Is each dim left open, whatever may split it? */
static bool
says_nothing(const Placement *written)
{
	return written->open && !placement_pieces(written)
		&& written->open == placement_open(written->rank).open;
}

static void
finish_value(Propagation *g, Value *v)
{
	const Cluster *c = cluster_of(g, v);

	v->written = c->written;
	v->annotated_open = v->annotated && says_nothing(c->written);
	v->placement = placement_close(c->now);
	if (v->follows || v->origins)
		return; /* explicit mode has told where from */

	/* A member that was not itself the target has its axis from the one that
	   was; `through` is NULL then: they are one by definition. */
	for (const Arrival *arrival = c->arrivals; arrival; arrival = arrival->next) {
		Origin o = arrival->origin;
		if (arrival->target != v) {
			o.from = arrival->target;
			o.through = NULL;
		}
		add_origin(g, v, o);
	}

	/* the axes that stood there before anything moved */
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
	}
	for (o.dim = 0; c->written && o.dim < c->written->rank; o.dim++) {
		AxisList axes = placement_dim(c->written, o.dim);
		for (int i = 0; i < axes.n; i++) {
			o.axis = axes.a[i];
			add_origin(g, v, o);
		}
	}
}

/* ---- expect ------------------------------------------------------------------ */

/* An axis of size 1 splits nothing: --mesh X=1 keeps every promise.  An open dim of
   an expectation only says how the axes begin. */
static bool
as_expected(const Expect *e)
{
	Placement wanted = placement_moving(e->placement);
	Placement got = placement_moving(e->value->placement);
	AxisList none = {0};

	for (int d = 0; d < e->value->type.rank; d++) {
		AxisList want = placement_dim(&wanted, d), have = placement_dim(&got, d);
		axes_normalize(&want);
		axes_normalize(&have);
		if (!(placement_is_open(&wanted, d) ? axes_is_prefix(&want, &have)
						    : axes_equal(&want, &have)))
			return false;
		placement_set_dim(&wanted, d, &none);
		placement_set_dim(&got, d, &none);
	}
	return placement_equal(&wanted, &got);
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
	for (int d = 0; d < e->value->type.rank; d++) {
		AxisList axes = placement_dim(&e->value->placement, d);
		for (int i = 0; i < axes.n; i++) {
			Text story = {0};
			text_origin(&story, m, e->value, d, axes.a[i]);
			diag_note(m->session, nowhere, "%s", story.s);
			text_free(&story);
		}
	}

	/* a result's type may become what the result is */
	const SourceFile *file = source_file(m->session, e->range.file);
	if (file && file->text && strncmp(file->text + e->range.begin, "expect", 6)) {
		const char *arrow = arena_printf(m->arena, "-> %s%s",
			dtypes[e->value->type.dtype].name, got.s);
		diag_choice(m->session, e->range, arrow + 3, "choices:  %s", arrow);
	}
	text_free(&got);
	text_free(&wanted);
}

void
finish_propagation(Propagation *g)
{
	Module *m = g->module;

	for (int i = 0; i < m->nvalues; i++)
		finish_value(g, g->values[i]);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			m->named[i].placement = m->named[i].value->placement;
	for (int i = 0; i < m->nresults; i++)
		m->results[i].placement = m->entry->last->operands[i]->placement;
	for (int i = 0; i < m->nexpects; i++)
		check_expect(g, &m->expects[i]);
}
