/*
 * explain.c - --emit=explain and --explain=NAME: why a value is where it is.
 *
 *   h: f32[8@X, 32@Y]  (line 6)
 *     a device: f32[4, 16], 256 B
 *     dim 0, 8@X
 *       X: from 'x' (line 3) through einsum 'bd,df->bf' (line 6)
 *       no further: Y is taken by dim 1
 *     moves: all-gather over Y, 256 B, 1 us, for einsum ... (line 7)
 *
 * Two halves.  At L_sharded: placements, origins and obstacles.  After that:
 * the collectives that the program came to need.
 */
#include <string.h>

#include "cost/ledger.h"
#include "report/report.h"

typedef struct Explainer {
	Module *m;
	const char *name; /* NULL: all */
	Text *t;
	Why *why;
	int found;
} Explainer;

static void
text_line_after(Text *t, const Module *m, Range r)
{
	if (!r.line)
		return;
	text_add(t, "  (");
	text_line(t, m, r);
	text_add(t, ")");
}

/* ---- where it is, and why ------------------------------------------------- */

static void
explain_padding(Explainer *e, const Value *v)
{
	Type type = value_whole_type(v);
	Placement none = placement_none(type.rank);
	int64_t all = type_bytes(&v->type), wasted = all - type_bytes(&type);

	if (!wasted)
		return;
	text_printf(e->t, ", of which %.3g%% is padding: ", (double)wasted * 100 / (double)all);
	text_spec(e->t, &e->m->mesh, &type, &none);
	text_add(e->t, " became ");
	text_spec(e->t, &e->m->mesh, &v->type, &none);
}

static void
explain_local(Explainer *e, const Value *v)
{
	Type local = placement_local(&v->type, &v->placement);

	text_add(e->t, "  a device: ");
	text_shape(e->t, &local);
	text_add(e->t, ", ");
	text_memory(e->t, (double)type_bytes(&local));
	explain_padding(e, v);
	text_add(e->t, "\n");
}

static void
explain_dim(Explainer *e, const Value *v, int dim)
{
	AxisList axes = placement_dim(&v->placement, dim);

	text_printf(e->t, "  dim %d, %lld", dim, (long long)value_whole_type(v).dims[dim]);
	if (axes.n) {
		text_add(e->t, axes.n > 1 ? "@(" : "@");
		text_axes(e->t, &e->m->mesh, &axes);
		text_add(e->t, axes.n > 1 ? ")" : "");
	}
	text_add(e->t, "\n");
	for (int i = 0; i < axes.n; i++) {
		text_add(e->t, "    ");
		text_origin(e->t, e->m, v, dim, axes.a[i]);
		text_add(e->t, "\n");
	}
	text_blocked(e->why, v, dim, e->t);
}

static void
explain_partial(Explainer *e, const Value *v)
{
	AxisList axes = placement_unreduced(&v->placement);

	if (!axes.n)
		return;
	text_add(e->t, "  unreduced over ");
	text_axes(e->t, &e->m->mesh, &axes);
	text_printf(e->t,
		": each device along it holds a part, to be combined "
		"by %s\n",
		combiners[v->placement.combiner].name);
}

/* Nothing to tell: it is as the user wrote it. */
static bool
is_exact(const Value *v)
{
	return v->type.rank && v->annotated && v->written && !v->written->open;
}

/* In a manual region a tensor is one device's along the region's axes. */
static void
explain_manual(Explainer *e, const Value *v)
{
	const Op *manual = block_manual(v->block);

	if (!manual)
		return;
	AxisList axes = block_manual_axes(v->block);
	text_add(e->t, "  of each device along ");
	text_axes(e->t, &e->m->mesh, &axes);
	text_printf(e->t, ", in %s\n", manual->label);
}

static void
explain_value(Explainer *e, const char *kind, const Named *n, const Value *v)
{
	if (e->name && strcmp(e->name, n->name) != 0)
		return;
	text_printf(e->t, "%s%s%s: ", e->found++ ? "\n" : "", kind, n->name);
	text_type(e->t, &e->m->mesh, &n->type, &n->placement);
	if (!v) {
		text_add(e->t, "\n  nothing uses it\n");
		return;
	}
	text_line_after(e->t, e->m, v->range);
	text_add(e->t, "\n");
	explain_manual(e, v);
	explain_local(e, v);
	explain_partial(e, v);
	if (is_exact(v)) {
		text_add(e->t,
			"  exact: every dim is closed where it is "
			"written\n");
		return;
	}
	for (int d = 0; d < v->type.rank; d++)
		explain_dim(e, v, d);
}

/* Told last, under the names of the signature. */
static bool
is_result(const Named *n)
{
	return n->value && n->value->def && n->value->def->kind == O_output;
}

static void
explain_placements(Explainer *e)
{
	const Module *m = e->m;

	e->why = why_new(e->m);
	for (int i = 0; i < m->nnamed; i++)
		if (!is_result(&m->named[i]))
			explain_value(e, "", &m->named[i], m->named[i].value);
	for (int i = 0; i < m->nresults; i++)
		explain_value(e, "result ", &m->results[i], m->entry->last->operands[i]);
}

/* ---- what moves ------------------------------------------------------------- */

/* The transfer moves a value of that name, or a sum of products with it, or is a
   part of making it. */
static bool
involves(const Explainer *e, const Transfer *x)
{
	const Module *m = e->m;
	const Ledger *l = module_ledger(e->m);
	const Op *made = x->value->def;

	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (!v || strcmp(m->named[i].name, e->name) != 0)
			continue;
		if (x->value == v || x->becomes == v)
			return true;
		for (int k = 0; made && !made->nbodies && k < made->noperands; k++)
			if (l->sources[made->operands[k]->id] == v)
				return true;
	}
	return false;
}

static void
explain_move(Explainer *e, const Transfer *x)
{
	const Op *op = x->op;
	const Value *from = op->operands[0], *to = op->results[0];

	if (e->name && !involves(e, x))
		return;
	text_add(e->t, e->found++ ? "" : "\nmoves\n");
	text_printf(e->t, "  %s over ", ops[x->kind].hlo);
	text_axes(e->t, &e->m->mesh, op->axes);
	text_printf(e->t, ": %s ", from->name);
	text_shape(e->t, &from->type);
	text_add(e->t, " -> ");
	text_shape(e->t, &to->type);
	text_add(e->t, ", ");
	text_traffic(e->t, x->bytes);
	text_add(e->t, " received");
	if (x->hops)
		text_printf(e->t, " over %lld hop%s", (long long)x->hops,
			x->hops == 1 ? "" : "s");
	text_add(e->t, ", ");
	text_seconds(e->t, x->seconds);
	if (!x->counted)
		text_add(e->t, ", on every trip");
	else if (x->trips != 1)
		text_printf(e->t, ", %lld times", (long long)x->trips);
	text_printf(e->t, ", for %s", op->label);
	if (op->range.line) {
		text_add(e->t, ", ");
		text_line(e->t, e->m, op->range);
	}
	text_add(e->t, "\n");
}

static void
explain_moves(Explainer *e)
{
	const Ledger *l = module_ledger(e->m);

	for (int i = 0; i < l->n; i++)
		explain_move(e, &l->transfers[i]);
	if (!e->found && !e->name)
		text_add(e->t, "\nnothing moves\n");
}

/* ---- names that are not there -------------------------------------------------- */

static bool
is_known(const Module *m, const char *name)
{
	for (int i = 0; i < m->nnamed; i++)
		if (strcmp(m->named[i].name, name) == 0)
			return true;
	for (int i = 0; i < m->nresults; i++)
		if (strcmp(m->results[i].name, name) == 0)
			return true;
	return false;
}

static void
unknown(const Module *m, const char *name)
{
	const char **names = NEW_ARRAY(m->arena, const char *, m->nnamed + 1);
	const char *near;

	for (int i = 0; i < m->nnamed; i++)
		names[i] = m->named[i].name;
	near = nearest_word(name, names, m->nnamed);
	diag(m->session, DIAG_usage, (Range){0},
		"--explain=%s: the program has no value of that name%s%s%s", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool
emit_explain(Module *m, const char *name, Text *t)
{
	Explainer e = {.m = m, .name = name, .t = t};

	if (name && !is_known(m, name)) {
		unknown(m, name);
		return false;
	}
	if (m->level == L_sharded)
		explain_placements(&e);
	else
		explain_moves(&e);
	return true;
}
