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
 * the collectives that the program came to need.  Of equal copies, as calls and
 * unrolled loops make, the first is told, and how many there are.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/place.h"
#include "cost/ledger.h"
#include "report/report.h"
#include "report/rows.h"

typedef struct Explainer {
	Module *m;
	const char *name; /* NULL: all */
	Text *t;
	Why *why;
	int found;
} Explainer;

const Named **
told_values(const Module *m, int *n)
{
	const Named **told = NEW_ARRAY(m->arena, const Named *, m->nnamed + m->nresults + 1);

	*n = 0;
	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (!v || !v->def || v->def->kind != O_output)
			told[(*n)++] = &m->named[i];
	}
	for (int i = 0; i < m->nresults; i++)
		told[(*n)++] = &m->results[i];
	return told;
}

/* ---- where it is, and why ------------------------------------------------- */

/* "a device: f32[4, 16], 256 B", and how much of that is padding. */
static void
explain_shard(Explainer *e, const Value *v)
{
	const Mesh *mesh = &e->m->mesh;
	Type local = placement_local(&v->type, &v->placement);
	Type type = value_whole_type(v);
	Placement none = placement_none(type.rank);
	int64_t all = type_bytes(&v->type), wasted = all - type_bytes(&type);

	text_add(e->t, "  a device: ");
	text_shape(e->t, &local);
	text_add(e->t, ", ");
	text_memory(e->t, (double)type_bytes(&local));
	if (wasted) {
		text_add(e->t, ", of which ");
		text_percent(e->t, (double)wasted, (double)all);
		text_add(e->t, " is padding: ");
		text_spec(e->t, mesh, &type, &none);
		text_add(e->t, " became ");
		text_spec(e->t, mesh, &v->type, &none);
	}
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
explain_value(Explainer *e, const char *kind, const Named *n, const Value *v)
{
	const Mesh *mesh = &e->m->mesh;
	Text *t = e->t;

	text_printf(t, "%s%s: ", kind, n->name);
	text_type(t, mesh, &n->type, &n->placement);
	if (!v) {
		text_add(t, "\n  nothing uses it\n");
		return;
	}
	text_line(t, e->m, "  (", v->range.line ? value_place(e->m, v) : v->range, ")");
	text_add(t, "\n");

	/* In a manual region a tensor is one device's along the region's axes. */
	const Op *manual = block_manual(v->block);
	if (manual) {
		AxisList axes = block_manual_axes(v->block);
		text_add(t, "  of each device along ");
		text_axes(t, mesh, &axes);
		text_printf(t, ", in %s\n", manual->label);
	}
	explain_shard(e, v);
	AxisList partial = placement_unreduced(&v->placement);
	if (partial.n) {
		text_add(t, "  unreduced over ");
		text_axes(t, mesh, &partial);
		text_printf(t, ": each device along it holds a part, to be combined by %s\n",
			combiners[v->placement.combiner].name);
	}

	if (v->type.rank && v->annotated && v->written && !v->written->open)
		text_add(t, "  exact: every dim is closed where it is written\n");
	else
		for (int d = 0; d < v->type.rank; d++)
			explain_dim(e, v, d);
}

/* ---- what moves ------------------------------------------------------------- */

/* The transfer moves a value of that name, or a sum of products with it, or is a
   part of making it. */
static bool
involves(const Explainer *e, const Ledger *l, const Transfer *x)
{
	const Module *m = e->m;
	const Op *made = x->value->def;

	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (!v || !rt_same_name(m->named[i].name, e->name))
			continue;
		if (x->value == v || x->becomes == v)
			return true;
		for (int k = 0; made && !made->nbodies && k < made->noperands; k++)
			if (l->sources[made->operands[k]->id] == v)
				return true;
	}
	return false;
}

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const char *
text_of_copies(Arena *a, const char *text)
{
	static const char through[] = " through ";
	Text t = {0};

	while (*text) {
		if (!strncmp(text, through, strlen(through))) {
			text += strcspn(text, "\n");
			continue;
		}
		size_t n = strspn(text, LETTERS DIGITS "_");
		bool name = n && !isdigit((unsigned char)*text);
		n += !n;
		text_addn(&t, text, n);
		text += n;
		while (name && *text == '.' && (n = strspn(text + 1, DIGITS)) > 0)
			text += n + 1;
	}
	return text_take(&t, a);
}

/* What is told once of all copies. */
typedef struct Told {
	const char *text;
	const Transfer *transfer; /* the first of a move */
	int n;
} Told;

/* The one of such a text, which is new if its `n` is 0. */
static Told *
told_once(Explainer *e, Table *all, const char *text)
{
	const char *key = text_of_copies(e->m->arena, text);
	Told *told = table_get(all, key);

	if (!told) {
		told = NEW(e->m->arena, Told);
		told->text = text;
		table_set(all, key, told);
	}
	return told;
}

static double
all_seconds(const Told *told)
{
	const Transfer *x = told->transfer;

	return x->seconds * (double)x->trips * told->n;
}

/* What takes longest first, else in program order. */
static int
by_seconds(const void *a, const void *b)
{
	const Told *x = *(const Told *const *)a, *y = *(const Told *const *)b;

	if (all_seconds(x) != all_seconds(y))
		return all_seconds(x) < all_seconds(y) ? 1 : -1;
	return (x->transfer > y->transfer) - (x->transfer < y->transfer);
}

/* Of a loop or a branch, not of an op in it. */
static bool
is_block_word(const char *label)
{
	return !strcmp(label, "for") || !strcmp(label, "while") || !strcmp(label, "if");
}

/* "all-gather over Y: W f32[64, 16] -> f32[64, 64], 12.3 kB received, 7.15 us" */
static void
text_move(const Explainer *e, const Transfer *x, Text *t)
{
	const Op *op = x->op;

	text_printf(t, "%s over ", ops[x->kind].hlo);
	text_axes(t, &e->m->mesh, op->axes);
	text_printf(t, ": %s ", op->operands[0]->name);
	text_shape(t, &op->operands[0]->type);
	text_add(t, " -> ");
	text_shape(t, &op->results[0]->type);
	text_add(t, ", ");
	text_traffic(t, x->bytes);
	text_add(t, " received");
	if (x->hops)
		text_printf(t, " over %lld hop%s", (long long)x->hops, x->hops == 1 ? "" : "s");
	text_add(t, ", ");
	text_seconds(t, x->seconds);
}

/* ", 10 times, for einsum 'bd,df->bf', line 7" */
static void
text_cause(const Explainer *e, const Transfer *x, Text *t)
{
	const Op *op = x->op;
	bool block = is_block_word(op->label);

	if (!x->counted)
		text_add(t, ", on every trip");
	else if (x->trips != 1)
		text_printf(t, ", %lld times", (long long)x->trips);
	text_printf(t, block ? ", for the '%s'" : ", for %s", op->label);
	text_line(t, e->m, block ? " of " : ", ", op->range, "");
}

/* Those of unrolled layers once: "3 x all-gather over Y: ..., 7.15 us each, for ..." */
static void
explain_moves(Explainer *e)
{
	const Ledger *l = module_ledger(e->m);
	Told **order = NEW_ARRAY(e->m->arena, Told *, l->n + 1);
	Table *all = table_new(e->m->arena);
	Text t = {0};

	for (int i = 0; i < l->n; i++) {
		const Transfer *x = &l->transfers[i];
		if (e->name && !involves(e, l, x))
			continue;
		text_move(e, x, &t);
		text_cause(e, x, &t);
		text_printf(&t, " %d-%d", x->op->range.begin, x->op->range.end);
		Told *told = told_once(e, all, text_take(&t, e->m->arena));
		if (!told->n++) {
			told->transfer = x;
			order[table_count(all) - 1] = told;
		}
	}
	e->found = table_count(all);
	if (!e->name && e->found)
		qsort(order, (size_t)e->found, sizeof *order, by_seconds);
	for (int i = 0; i < e->found; i++) {
		text_add(e->t, i ? "  " : "\nmoves\n  ");
		if (order[i]->n > 1)
			text_printf(e->t, "%d x ", order[i]->n);
		text_move(e, order[i]->transfer, e->t);
		text_add(e->t, order[i]->n > 1 ? " each" : "");
		text_cause(e, order[i]->transfer, e->t);
		text_add(e->t, "\n");
	}
	if (!e->found && !e->name)
		text_add(e->t, "\nnothing moves\n");
}

/* "ffn main on 8 v5e: 3 collectives, 12 kB received a device, 3 us; a run 14 us, of
   which 3 us exposed; memory 36 KiB of 16 GiB" */
static void
text_totals(Text *t, Module *m, const Outcome *run)
{
	text_printf(t, "%s %s on %lld %s", m->name, m->entry_name, (long long)m->mesh.ndevices,
		m->mesh.target->name);
	if (m->mesh.target->devices_per_chip > 1)
		text_add(t, m->mesh.ndevices == 1 ? " device" : " devices");
	text_printf(t, ": %d collective%s", run->collectives, run->collectives == 1 ? "" : "s");
	if (run->collectives) {
		text_add(t, ", ");
		text_traffic(t, (double)run->wire_bytes);
		text_add(t, " received a device, ");
		text_run_time(t, (double)run->communication);
	}
	bool endless = run->picoseconds == INT64_MAX;
	text_add(t, run->counted || endless ? "; a run " : "; a run at least ");
	text_run_time(t, (double)run->picoseconds);
	if (run->exposed) {
		text_add(t, ", of which ");
		text_picoseconds(t, run->exposed);
		text_add(t, " exposed");
	}
	text_add(t, "; memory ");
	text_memory(t, (double)run->peak);
	text_add(t, " of ");
	text_memory(t, (double)m->mesh.target->hbm_bytes);
	text_add(t, "\n");
}

/* Of a function that is called: attention.scores for scores. */
static const char *
inner_name(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(names[i], '.');
		if (dot && strcmp(dot + 1, name) == 0)
			return names[i];
	}
	return NULL;
}

/* Is there a value of that name?  False after a diagnostic. */
static bool
is_known(const Module *m, const char *name)
{
	const char **names = NEW_ARRAY(m->arena, const char *, m->nnamed + 1);
	bool known = false;

	for (int i = 0; i < m->nnamed; i++) {
		names[i] = m->named[i].name;
		known |= rt_same_name(names[i], name);
	}
	for (int i = 0; i < m->nresults; i++)
		known |= rt_same_name(m->results[i].name, name);
	if (known)
		return true;
	const char *near = inner_name(names, m->nnamed, name);
	if (!near)
		near = rt_nearest_word(name, names, m->nnamed);
	diag(m->session, DIAG_usage, nowhere,
		"--explain=%s: the program has no value of that name%s%s%s", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return false;
}

/* Those of unrolled layers once: "block.h: f32[64@X, 64]  (line 6) and 2 alike". */
static void
explain_values(Explainer *e)
{
	const Module *m = e->m;
	Table *all = table_new(m->arena);
	Text *to = e->t, t = {0};
	int n;
	const Named **told = told_values(m, &n);

	e->why = why_new(e->m);
	e->t = &t;
	for (int i = 0; i < n; i++) {
		int result = i - (n - m->nresults);
		if (e->name && !rt_same_name(e->name, told[i]->name))
			continue;
		explain_value(e, result < 0 ? "" : "result ", told[i],
			result < 0 ? told[i]->value : m->entry->last->operands[result]);
		told_once(e, all, text_take(&t, m->arena))->n++;
	}
	e->t = to;
	for (int i = 0; i < table_count(all); i++) {
		const Told *one = table_value(all, i);
		int head = (int)strcspn(one->text, "\n");
		text_printf(to, "%s%.*s", i ? "\n" : "", head, one->text);
		if (one->n > 1)
			text_printf(to, " and %d alike", one->n - 1);
		text_add(to, one->text + head);
	}
}

bool
emit_explain(Module *m, const ExplainOptions *options, Text *t)
{
	Explanation *told = options->told;
	Explainer e = {.m = m, .name = options->name};

	if (m->level == L_sharded) {
		if (options->name && !is_known(m, options->name))
			return false;
		e.t = &told->values;
		explain_values(&e);
	} else if (m->level == L_resharded && !options->name) {
		RemarkOptions tries = {.remarks = true,
			.global_text = options->global_text,
			.global_length = options->global_length,
			.annotations = options->annotations,
			.progress = options->progress};
		text_repeated(&told->repeated, m);
		text_choices(&told->choices, m, &tries);
	} else if (m->level == L_device) {
		e.t = &told->moves;
		explain_moves(&e);
	}
	t->n = 0;
	if (options->name) {
		text_addn(t, told->values.s, told->values.n);
		text_addn(t, told->moves.s, told->moves.n);
		return true;
	}
	if (m->level == L_scheduled)
		text_totals(t, m, &options->outcome);
	text_addn(t, told->moves.s, told->moves.n);
	text_addn(t, told->repeated.s, told->repeated.n);
	if (m->level == L_scheduled)
		text_repeated_steps(t, m, told->repeated.n > 0);
	text_addn(t, told->choices.s, told->choices.n);
	if (m->level == L_scheduled && options->annotations)
		text_annotations(t, m, options);
	text_add(t, t->n ? "\nvalues\n\n" : "");
	text_addn(t, told->values.s, told->values.n);
	return true;
}
