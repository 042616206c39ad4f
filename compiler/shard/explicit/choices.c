/*
 * choices.c - what could be written, where, and what it costs.
 *
 *   y + b            y: [8@X, 16], b: [16@X], broadcast to [8, 16@X]
 *   choices:  reshard(b, [16])     all-gather X  ...     in place of `b`
 *             reshard(y, [8, 16])  all-gather X  ...     in place of `y`
 *
 * An operand of an op may be a view of what is written: a broadcast, a
 * transpose.  Choices are about what is written.  The cheapest comes first; last
 * what leaves partial sums, whose price is paid later.
 */
#include <ctype.h>
#include <string.h>
#include "shard/explicit/report.h"

enum { LONGEST_CHOICE = 200 };

/* ---- what is written -------------------------------------------------------- */

/*
 * Of an op that shows all elements of its operand in another shape or dtype: which dim
 * of the operand each dim of the result is, -1 where it is none.
 *
 *   broadcast b: [16] to [8, 16]     -1, 0
 *   reshape [4, 8] to [4, 1, 8]      0, -1, 1
 *   reshape [4, 8] to [32]           no
 */
static bool
match_view(const Explicit *e, const Op *op, int *from)
{
	const Rule *r = op->noperands == 1 ? op_rule(e->g.arena, op) : NULL;
	bool same = r && (ops[op->kind].partial == PARTIAL_move || op->kind == O_convert);

	for (int d = 0; same && d < r->rank[1]; d++) {
		const DimFactors *whole = &r->dims[1][d];
		from[d] = -1;
		same = whole->n < 2 && (!whole->n || r->factors[whole->f[0]].kind == F_pass);
		for (int k = 0; k < r->rank[0] && whole->n; k++)
			if (r->dims[0][k].n == 1 && r->dims[0][k].f[0] == whole->f[0])
				from[d] = k;
	}
	for (int k = 0; same && k < r->rank[0]; k++)
		same = r->dims[0][k].n < 2;
	return same;
}

/* The dim of operand k that a dim of the result is; -1: none. */
static int
dim_of_operand(const Rule *r, int k, int d)
{
	const DimFactors *whole = &r->dims[r->noperands][d];

	for (int i = 0; i < r->rank[k] && whole->n == 1; i++)
		if (r->dims[k][i].n == 1 && r->dims[k][i].f[0] == whole->f[0])
			return i;
	return -1;
}

/* The operand that alone splits what of a product is split; -1: none, or it is parts. */
static int
match_product(Explicit *e, const Op *op, int *from)
{
	const Rule *r = op_is_product(op) ? op_rule(e->g.arena, op) : NULL;
	const Placement *made = explicit_placement(e, op->results[0]);

	for (int k = 0; r && !made->nunreduced && k < r->noperands; k++) {
		bool alone = true;
		for (int d = 0; d < made->rank && alone; d++) {
			AxisList split = placement_dim(made, d);
			for (int i = 0; i < r->noperands && split.n; i++) {
				int at = dim_of_operand(r, i, d);
				const Placement *p = explicit_placement(e, op->operands[i]);
				AxisList own = at < 0 ? (AxisList){0} : placement_dim(p, at);
				alone &= axes_equal(&own, i == k ? &split : &(AxisList){0});
			}
			from[d] = dim_of_operand(r, k, d);
		}
		if (alone)
			return k;
	}
	return -1;
}

static Written
written_value(const Value *v, Range where)
{
	Written w = {.v = v, .where = where};

	for (int d = 0; d < v->type.rank; d++)
		w.dim[d] = d;
	return w;
}

Written
written_operand(Explicit *e, const Op *op, int i)
{
	const Value *v = op->operands[i];
	Range r = operand_range(op, i);
	const Op *maker = v->def;
	bool text = has_text(e, op->range); /* else it is called by its name */
	int from[MAX_RANK];

	if (has_text(e, r))
		return written_value(v, r);
	if (op_forms[op->form].around) {
		Written w = written_value(v, text ? op->range : nowhere);
		w.out = op->argument;
		return w;
	}
	/* what stands around an operand may not keep what it is given */
	if (text
		&& (!maker || !has_text(e, maker->range) || op_forms[maker->form].statement
			|| op_forms[maker->form].around))
		return (Written){0};
	bool step = maker && range_equal(maker->range, op->range)
		&& op->range.end > op->range.begin;
	if (!step)
		return written_value(v, text ? maker->range : nowhere);
	int operand = match_view(e, maker, from) ? 0 : match_product(e, maker, from);
	if (operand < 0)
		return (Written){0};
	Written inner = written_operand(e, maker, operand), w = inner;
	for (int d = 0; d < v->type.rank && inner.v; d++)
		w.dim[d] = from[d] < 0 ? -1 : inner.dim[from[d]];
	return w;
}

const char *
written_text(const Explicit *e, const Written *w)
{
	Range before = w->where, after = w->where;

	if (!has_text(e, w->out))
		return range_text(e, w->where);
	before.end = w->out.begin;
	after.begin = w->out.end;
	return arena_printf(e->g.arena, "%s%s", range_text(e, before), range_text(e, after));
}

/* ---- choices ------------------------------------------------------------------ */

const char *
one_line(Arena *a, const char *text, int longest)
{
	char *line = arena_strndup(a, text, strlen(text));
	size_t n = 0;

	for (size_t i = 0; text[i]; i++) {
		bool blank = isspace((unsigned char)text[i]);
		if (!blank || (n && line[n - 1] != ' '))
			line[n++] = blank ? ' ' : text[i];
	}
	line[n] = '\0';
	return (int)n <= longest ? line : arena_printf(a, "%.*s...", longest, line);
}

/* At most one of each text; of those of one price the first is first. */
static void
add_choice(Choices *c, Choice added)
{
	int at = c->n;

	added.offer.text = one_line(c->e->g.arena, added.offer.text, LONGEST_CHOICE);
	for (int i = 0; i < added.nplans; i++) {
		added.seconds += added.plans[i]->seconds;
		added.bytes += added.plans[i]->bytes;
	}
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->of[i].offer.text, added.offer.text))
			return;
	for (; at; at--) {
		const Choice *last = &c->of[at - 1];
		bool cheaper = added.seconds < last->seconds
			|| (added.seconds <= last->seconds && added.bytes < last->bytes);
		if (added.defers == last->defers ? !cheaper : added.defers)
			break;
		if (at < MAX_CHOICES)
			c->of[at] = *last;
	}
	if (at < MAX_CHOICES)
		c->of[at] = added;
	c->n += c->n < MAX_CHOICES;
}

void
offer(Choices *c, Offer o, const Value *v, const Placement *from, const Placement *to)
{
	const ReshardPlan **plans = NEW_ARRAY(c->e->g.arena, const ReshardPlan *, 1);

	plans[0] = reshard_plan(c->e->resharder, &v->type, from, to);
	bool defers = to->nunreduced && plans[0]->bytes <= 0;
	add_choice(c, (Choice){.offer = o, .nplans = 1, .plans = plans, .defers = defers});
}

/* What stands behind `all` to the end of the op's arguments, and out= behind it; false: there
   is no such text. */
static bool
add_out(const Explicit *e, const Settled *settled, const char **edit, Range *all)
{
	Range rest = settled->op->range;

	if (!op_forms[settled->op->form].out)
		return false;
	if (all->file) {
		if (rest.file != all->file || all->begin < rest.begin || all->end >= rest.end)
			return false;
		rest.begin = all->end;
		rest.end--;
		all->end = rest.end;
	}
	*edit = arena_printf(e->g.arena, "%s%s, out=%s", *edit,
		all->file ? range_text(e, rest) : "",
		spec_text(e, settled->op->results[0], &settled->to));
	return true;
}

bool
offer_reshards(Choices *c, int n, const Written *w, const Placement *operands,
	const Settled *settled)
{
	Explicit *e = c->e;
	Arena *a = e->g.arena;
	const ReshardPlan **plans = NEW_ARRAY(a, const ReshardPlan *, n + 1);
	const char *edit = "";
	Range all = w[0].where;

	for (int i = 0; i < n; i++) {
		if (!w[i].v || w[i].where.file != all.file || (i && w[i].where.begin < all.end))
			return false;
		const Placement *from = explicit_placement(e, w[i].v);
		AxisList axes = placement_unreduced(&operands[i]);
		Placement to = placement_close(*from); /* dims that the operand has not */
		placement_set_unreduced(&to, &axes, (Combiner)operands[i].combiner);
		for (int d = 0; d < operands[i].rank; d++) {
			axes = placement_dim(&operands[i], d);
			if (w[i].dim[d] >= 0)
				placement_set_dim(&to, w[i].dim[d], &axes);
		}
		/* its axes once each, and every dim a multiple of its own */
		bool fits = placement_is_sound(from) && placement_is_sound(&to);
		for (int d = 0; d < to.rank; d++)
			fits &= w[i].v->type.dims[d] % placement_dim_ways(&to, d) == 0;
		if (!fits || placement_equal(from, &to))
			return false;
		Range between = all;
		between.begin = i ? all.end : w[i].where.begin;
		between.end = w[i].where.begin;
		edit = arena_printf(a, "%s%sreshard(%s, %s)", edit,
			!all.file ? i ? ", " : "" : range_text(e, between),
			!all.file ? value_source_name(w[i].v) : written_text(e, &w[i]),
			spec_text(e, w[i].v, &to));
		plans[i] = reshard_plan(e->resharder, &w[i].v->type, from, &to);
		all.end = w[i].where.end;
	}
	if (settled) {
		if (!add_out(e, settled, &edit, &all))
			return false;
		plans[n++] = reshard_plan(e->resharder, &settled->op->results[0]->type,
			&settled->from, &settled->to);
	}
	add_choice(c, (Choice){.offer = {edit, all, edit}, .nplans = n, .plans = plans});
	return true;
}

/* ---- sums to be settled --------------------------------------------------------- */

int
settled_ways(const Value *v, const Placement *partial, Placement *ways)
{
	AxisList axes = placement_unreduced(partial), none = {0};
	int n = 0;

	ways[n] = *partial;
	placement_set_unreduced(&ways[n++], &none, C_add);
	for (int d = 0; d < v->type.rank; d++) {
		AxisList all = placement_dim(partial, d);
		axes_append_all(&all, &axes);
		ways[n] = ways[0];
		placement_set_dim(&ways[n], d, &all);
		n += v->type.dims[d] % axes_size(&all) == 0;
	}
	return n;
}

static Range
insertion(Range at, int offset)
{
	return (Range){at.file, at.line, offset, offset};
}

void
offer_settled(Choices *c, const Op *maker, const Value *v, const Placement *from,
	const Placement *to)
{
	Explicit *e = c->e;
	Arena *a = e->g.arena;
	const char *spec = spec_text(e, v, to), *edit;
	bool let = v->untyped == UNTYPED_let || v->untyped == UNTYPED_var;
	const Op *def = v->def ? v->def : maker;

	if (op_forms[maker->form].out) {
		edit = arena_printf(a, ", out=%s", spec);
		offer(c, (Offer){edit + 2, insertion(maker->range, maker->range.end - 1), edit},
			v, from, to);
	} else if (let && has_text(e, v->range)) {
		/* without any @ a let says nothing about placement */
		edit = arena_printf(a, ": %s%s", spec,
			placement_ways(to) == 1 && !to->nunreduced ? " replicated" : "");
		offer(c,
			(Offer){arena_printf(a, "%s %s%s",
					v->untyped == UNTYPED_let ? "let" : "var",
					value_source_name(v), edit),
				insertion(v->range, v->range.end), edit},
			v, from, to);
	} else {
		edit = arena_printf(a, "reshard(%s, %s)",
			has_text(e, def->range) ? range_text(e, def->range)
						: value_source_name(v),
			spec);
		offer(c, (Offer){edit, def->range, edit}, v, from, to);
	}
}

/* A var that a loop or a branch has made is moved in a statement before the
   op. */
void
offer_statement(Choices *c, const Op *op, const Value *v, const Placement *to)
{
	Explicit *e = c->e;
	const char *name = value_source_name(v);

	if (!v->def || !op_forms[v->def->form].statement || !has_text(e, op->range))
		return;
	const char *text = arena_printf(e->g.arena, "%s = reshard(%s, %s);", name, name,
		spec_text(e, v, to));
	const char *edit = arena_printf(e->g.arena, "%s\n", text);
	offer(c, (Offer){text, insertion(op->range, op->range.begin), edit}, v,
		explicit_placement(e, v), to);
}

/* The type of a parameter, with no dim open. */
void
offer_parameter(Choices *c, const Value *v)
{
	Explicit *e = c->e;
	Placement to = placement_close(v->placement);
	const char *type = arena_printf(e->g.arena, "%s%s", dtypes[v->type.dtype].name,
		spec_text(e, v, &to));
	const char *name =
		has_text(e, v->range) ? range_text(e, v->range) : value_source_name(v);
	const char *typed = arena_printf(e->g.arena, "%s: %s", name, type);

	if (has_text(e, v->type_range))
		offer(c, (Offer){typed, v->type_range, type}, v, &to, &to);
	else if (has_text(e, v->range) && v->untyped == UNTYPED_param)
		offer(c, (Offer){typed, v->range, typed}, v, &to, &to);
	else if (!has_text(e, v->range) && !v->def && !v->block->parent)
		offer(c, (Offer){typed, nowhere, NULL}, v, &to, &to);
}

/* ---- printing --------------------------------------------------------------------- */

/* "all-reduce  Y  8.4 MB  186 us"; "none" */
static void
text_moves(Text *t, const Mesh *mesh, const Choice *choice)
{
	int told = 0;

	for (int i = 0; i < choice->nplans; i++)
		for (int m = 0; m < choice->plans[i]->n; m++) {
			const Move *move = &choice->plans[i]->moves[m];
			if (move->bytes == 0)
				continue;
			text_printf(t, "%s%s ", told++ ? ", " : "", ops[move->kind].hlo);
			text_axes(t, mesh, &move->axes);
		}
	text_add(t, told ? "  " : "none");
	if (told) {
		text_traffic(t, choice->bytes);
		text_add(t, "  ");
		text_seconds(t, choice->seconds);
	}
}

void
print_choices(const Choices *c)
{
	const Module *m = c->e->g.module;
	int width = 0;

	for (int i = 0; i < c->n; i++)
		if ((int)strlen(c->of[i].offer.text) > width)
			width = (int)strlen(c->of[i].offer.text);
	for (int i = 0; i < c->n; i++) {
		Text t = {0};
		const Offer *o = &c->of[i].offer;
		text_moves(&t, &m->mesh, &c->of[i]);
		const SourceFile *f = source_file(m->session, o->where.file);
		diag_choice(m->session, o->where, f && f->text ? o->edit : NULL,
			"%-9s %-*s  %s", i ? "" : "choices:", width, o->text, t.s);
		text_free(&t);
	}
}
