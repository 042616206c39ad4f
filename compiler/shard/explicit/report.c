/*
 * report.c - what is ambiguous in explicit code, and what to write.
 *
 *   error[SHD0201]: contracting letter 'd' is split over Y in both operands;
 *   say what becomes of the partial sums
 *     choices:  out=[8@X, 16]                all-reduce  Y  8.4 MB  186 us
 *               out=[8@X, 16] unreduced(Y)   none
 *
 * Every choice is text to be pasted (choices.c); those that would
 * leave the op ambiguous are not offered.
 */
#include <string.h>
#include "shard/explicit/report.h"
#include "shard/reshard/halo.h"

enum { LONGEST_EXPRESSION = 40 };

/* ---- words -------------------------------------------------------------------- */

static const char *
axes_text(const Explicit *e, const AxisList *l)
{
	Text t = {0};

	text_axes(&t, &e->g.module->mesh, l);
	return text_take(&t, e->g.arena);
}

const char *
spec_text(const Explicit *e, const Value *v, const Placement *to)
{
	Text t = {0};

	text_placed(&t, &e->g.module->mesh, v, to);
	return text_take(&t, e->g.arena);
}

bool
has_text(const Explicit *e, Range r)
{
	return source_has_text(e->g.module->session, r);
}

const char *
range_text(const Explicit *e, Range r)
{
	return source_text(e->g.module->session, e->g.arena, r);
}

/* The operand as it is written, or the name of its value; a value that has no name
   of its own by what made it. */
static const char *
operand_text(Explicit *e, const Op *op, int i)
{
	Written w = written_operand(e, op, i);
	const Value *v = w.v ? w.v : op->operands[i];
	const Op *def = v->def;

	if (has_text(e, w.where))
		return one_line(e->g.arena, written_text(e, &w), LONGEST_EXPRESSION);
	if (def && same_expression(def, op))
		return "a step of it";
	if (def && has_text(e, def->range) && (!v->range.file || strchr(v->name, '.')))
		return one_line(e->g.arena, range_text(e, def->range), LONGEST_EXPRESSION);
	return value_source_name(v);
}

/* The letter of a dim of an einsum's operand; NULL if none. */
static const Letter *
letter_of(const Op *op, const Holder *h)
{
	int first = h->tensor ? op->operands[0]->type.rank : 0;
	const Letter *letter = op->letters ? &op->letters[first + h->dim] : NULL;

	return letter && letter->name != '.' ? letter : NULL;
}

static const char *
dim_text(Explicit *e, const Op *op, const Holder *h)
{
	const Letter *letter = letter_of(op, h);
	Written w = written_operand(e, op, h->tensor);

	if (letter)
		return arena_printf(e->g.arena, "letter '%c'", letter->name);
	return arena_printf(e->g.arena, "dim %d of '%s'", w.v ? w.dim[h->dim] : h->dim,
		operand_text(e, op, h->tensor));
}

/* A caret at the letter of an einsum, else at the operand. */
static void
label_holder(Explicit *e, const Op *op, const Holder *h)
{
	Session *session = e->g.module->session;
	Written w = written_operand(e, op, h->tensor);
	const Value *v = w.v ? w.v : op->operands[h->tensor];
	const char *spec = spec_text(e, v, explicit_placement(e, v));
	const Letter *letter = letter_of(op, h);
	Range where = letter ? letter->range : w.where;

	if (!where.file)
		where = v->range;
	if (where.file)
		diag_label(session, where, "'%s' is %s", operand_text(e, op, h->tensor), spec);
	else
		diag_note(session, nowhere, "'%s' is %s", operand_text(e, op, h->tensor), spec);
}

/* What is split over axes that cannot stand beside the partial ones. */
static void
label_clashes(Explicit *e, const OpState *o, const AxisList *partial)
{
	const Projection *p = &e->g.projection;
	AxisRef axis;

	for (int i = 0; i < p->first[o->noperands]; i++)
		if (axes_clash(partial, &p->holders[i].axes, &axis))
			label_holder(e, o->op, &p->holders[i]);
}

static const char *
where_text(Explicit *e, const Op *op, const Holder *h)
{
	if (!letter_of(op, h))
		return "";
	return arena_printf(e->g.arena, " in '%s'", operand_text(e, op, h->tensor));
}

/* ---- partial sums ---------------------------------------------------------------- */

static OpState *
projected(Explicit *e, const Op *op)
{
	OpState *o = &e->g.ops[e->g.state_of[op->id]];

	project(&e->g.projection, &e->g, o);
	return o;
}

/* The first operand dim whose split made the sums partial, of a letter the one that is split
   most; how many are split so. */
static bool
summed_holder(Explicit *e, const Op *op, Holder *first, int *nsplit)
{
	const OpState *o = projected(e, op);
	const Projection *p = &e->g.projection;

	*nsplit = 0;
	for (int i = 0; i < p->nholders; i++) {
		const Holder *h = &p->holders[i];
		if (h->tensor >= o->noperands || !h->axes.n
			|| p->rule->factors[h->factor].kind != F_reduce)
			continue;
		if (*nsplit && h->factor != first->factor)
			continue;
		if (!*nsplit || h->axes.n > first->axes.n) {
			*first = *h;
			*nsplit = 0;
		}
		*nsplit += axes_equal(&h->axes, &first->axes);
	}
	return *nsplit > 0;
}

/* Is the operand made on the way, by the expression that the op is of? */
static bool
is_step(const OpState *o, int operand)
{
	const Op *maker = o->tensors[operand]->def;

	return maker && same_expression(maker, o->op);
}

/* 'w', or the sum of 'w' where that is a step. */
static const char *
partial_text(Explicit *e, const OpState *o, int operand)
{
	const Op *maker = o->tensors[operand]->def;
	Holder h;
	int nsplit;
	bool sum = is_step(o, operand) && summed_holder(e, maker, &h, &nsplit);

	projected(e, o->op); /* as it was */
	if (!sum)
		return arena_printf(e->g.arena, "'%s'", operand_text(e, o->op, operand));
	return arena_printf(e->g.arena, "the sum of '%s'", operand_text(e, maker, h.tensor));
}

/* Are the partial sums of v those that `maker` leaves, and no others? */
static bool
are_all_its_own(Explicit *e, const Op *maker, const Value *v)
{
	AxisList all = placement_unreduced(explicit_placement(e, v));
	AxisList own = placement_unreduced(explicit_placement(e, maker->results[0]));
	bool given = false;

	for (int i = 0; i < maker->noperands; i++)
		given |= explicit_placement(e, maker->operands[i])->nunreduced > 0;
	return !given && axes_equal(&all, &own);
}

void
report_partial(Explicit *e, const Op *maker, const Value *v)
{
	Session *session = e->g.module->session;
	Choices c = {.e = e};
	Holder h;
	int nsplit;
	const Placement partial = *explicit_placement(e, v);
	AxisList axes = placement_unreduced(&partial);

	if (e->quiet)
		return;
	if (!summed_holder(e, maker, &h, &nsplit)) {
		diag(session, DIAG_explicit_partial, maker->range,
			"%s leaves partial "
			"sums over %s; say what becomes of them",
			maker->label, axes_text(e, &axes));
	} else {
		bool letter = letter_of(maker, &h) != NULL;
		diag(session, DIAG_explicit_partial, maker->range,
			"%s%s is split "
			"over %s%s; say what becomes of the partial sums",
			letter ? "contracting " : "", dim_text(e, maker, &h),
			axes_text(e, &h.axes),
			nsplit > 1	 ? " in both operands"
				: letter ? arena_printf(e->g.arena, " in '%s'",
					  operand_text(e, maker, h.tensor))
					 : "");
		const Projection *p = &e->g.projection;
		for (int i = p->factor_first[h.factor]; i < p->factor_first[h.factor + 1]; i++)
			label_holder(e, maker, &p->holders[p->by_factor[i]]);
	}
	if (are_all_its_own(e, maker, v)) {
		offer_gathered(&c, projected(e, maker));
		if (v == maker->results[0])
			offer_agreed(&c, projected(e, maker));
	}
	Placement ways[MAX_RANK + 2];
	int n = settled_ways(v, &partial, ways);
	ways[n++] = partial;
	for (int i = 0; i < n; i++)
		offer_settled(&c, maker, v, &partial, &ways[i]);
	print_choices(&c);
}

/* ---- other findings --------------------------------------------------------------- */

/* Would automatic code let the dim stay split, and exchange its rows? */
static bool
exchanges_rows(const Explicit *e, const Op *op, const Finding *f)
{
	return f->fault == FAULT_whole && halo_kind(op->kind)
		&& e->g.projection.rule->factors[f->a.factor].kind == F_permute;
}

/* ... and where the result would be. */
static void
note_exchange(Explicit *e, const Op *op, const Finding *f)
{
	Placement to = *explicit_placement(e, op->operands[f->a.tensor]);
	AxisList none = {0};

	placement_set_unreduced(&to, &none, C_add);
	diag_note(e->g.module->session, nowhere,
		"a function that is not explicit exchanges rows, and the result can be %s",
		spec_text(e, op->results[0], &to));
}

/* The op does not take parts of sums, and is called so. */
static void
tell_refused(Explicit *e, OpState *o, const Finding *f, const char *op)
{
	const Value *v = o->tensors[f->tensor];
	AxisList axes = placement_unreduced(explicit_placement(e, v));

	diag(e->g.module->session, DIAG_explicit_refused, o->op->range,
		"%s does not take partial results, and %s is unreduced over %s", op,
		partial_text(e, o, f->tensor), axes_text(e, &axes));
	label_clashes(e, o, &axes);
	if (f->by != f->tensor)
		diag_note(e->g.module->session, nowhere,
			"'%s' may be infinite, and infinity times a part of a "
			"sum may be NaN",
			operand_text(e, o->op, f->by));
}

void
report_finding(Explicit *e, OpState *o, const Finding *f)
{
	Session *session = e->g.module->session;
	const char *op = o->op->label, *place;
	AxisList axes = {1, {f->axis}};
	Choices c = {.e = e};

	if (e->quiet)
		return;
	if (op_forms[o->op->form].quoted && has_text(e, o->op->range))
		op = one_line(e->g.arena, range_text(e, o->op->range), LONGEST_EXPRESSION);
	switch (f->fault) {
	case FAULT_disagree:
		place = where_text(e, o->op, &f->a);
		diag(session, DIAG_explicit_disagree, o->op->range,
			"%s: %s is split over %s%s%s%s over %s%s", op,
			dim_text(e, o->op, &f->a), axes_text(e, &f->a.axes), place,
			place[0] ? " and" : ", ", place[0] ? "" : dim_text(e, o->op, &f->b),
			axes_text(e, &f->b.axes), where_text(e, o->op, &f->b));
		break;
	case FAULT_twice:
		diag(session, DIAG_explicit_twice, o->op->range,
			"%s: %s would split both %s and %s", op, axes_text(e, &axes),
			dim_text(e, o->op, &f->a), dim_text(e, o->op, &f->b));
		break;
	case FAULT_whole:
	case FAULT_strided:
		diag(session, DIAG_explicit_whole, o->op->range,
			f->fault == FAULT_strided
				? "%s: no device's part of %s, split over %s, is one block of "
				  "the result"
				: exchanges_rows(e, o->op, f)
				? "%s moves elements along %s, which is split over %s"
				: "%s works along %s, which is split over %s",
			op, dim_text(e, o->op, &f->a),
			axes_text(e, f->a.axes.n ? &f->a.axes : &f->a.overflow));
		break;
	case FAULT_refused:
		tell_refused(e, o, f, op);
		break;
	case FAULT_none:
		break;
	}
	if (f->fault != FAULT_refused)
		label_holder(e, o->op, &f->a);
	if (exchanges_rows(e, o->op, f))
		note_exchange(e, o->op, f);
	if (f->fault == FAULT_disagree || f->fault == FAULT_twice)
		label_holder(e, o->op, &f->b);
	offer_ways(&c, o, f);
	if (f->fault == FAULT_refused && is_step(o, f->tensor))
		offer_gathered(&c, projected(e, o->tensors[f->tensor]->def));
	print_choices(&c);
}

void
report_call(Explicit *e, OpState *o)
{
	Choices c = {.e = e};

	if (e->quiet)
		return;
	Blame blame = offer_call_ways(&c, o);
	const Value *v = o->tensors[blame.operand];
	const Placement *now = explicit_placement(e, v);
	const char *what = operand_text(e, o->op, blame.operand);
	AxisList partial = placement_unreduced(now);
	if (blame.sums || (partial.n && placement_ways(now) == 1))
		diag(e->g.module->session, DIAG_explicit_refused, o->op->range,
			"%s does not take partial results, and '%s' is unreduced over %s",
			o->op->label, what, axes_text(e, &partial));
	else
		diag(e->g.module->session, DIAG_explicit_whole, o->op->range,
			"%s needs whole a dim of "
			"'%s' that is split: it is %s",
			o->op->label, what, spec_text(e, v, now));
	print_choices(&c);
}

/* ---- what is declared ---------------------------------------------------------------- */

void
report_unknown(Explicit *e, const Op *op, int operand)
{
	const Value *v = op->operands[operand];
	Session *session = e->g.module->session;

	if (e->quiet)
		return;
	diag(session, DIAG_explicit_unknown, op->range,
		v->annotated ? "%s: '%s' has open dims; in an explicit function each dim says "
			       "how it is split"
			     : "%s: where '%s' is placed is not written "
			       "and not inferred yet; give the parameter a type",
		op->label, operand_text(e, op, operand));
	if (v->type_range.file)
		diag_label(session, v->type_range, "here");
	Choices c = {.e = e};
	offer_parameter(&c, v);
	print_choices(&c);
}

void
report_move(Explicit *e, const Op *op, const Placement *to)
{
	const Value *v = op->operands[0];
	const Placement *from = explicit_placement(e, v);
	Written w = written_operand(e, op, 0);
	bool result = op->kind == O_output;
	Session *session = e->g.module->session;
	Choices c = {.e = e};

	if (e->quiet)
		return;
	diag(session, DIAG_explicit_move, op->range, "'%s' is %s, not %s: %s",
		result ? value_source_name(op->results[0]) : operand_text(e, op, 0),
		spec_text(e, v, from), spec_text(e, v, to),
		result ? "a result's type is checked, and moves nothing"
			: op->form == AS_out
			? "out= settles partial sums, and moves nothing else"
			: "a placed let settles partial sums, and moves nothing else");
	if (op->results[0]->type_range.file)
		diag_label(session, op->results[0]->type_range, "written here");
	offer_reshards(&c, 1, &w, to, NULL);
	Range type = op->results[0]->type_range; /* -> f32[8@X, 16], as it is */
	if (result && (has_text(e, type) || !has_text(e, op->range))) {
		const char *arrow = arena_printf(e->g.arena, "-> %s%s",
			dtypes[v->type.dtype].name, spec_text(e, v, from));
		offer(&c, (Offer){arrow, type, arrow + 3}, v, from, from);
	}
	print_choices(&c);
}

void
report_condition(Explicit *e, const Op *op, const Op *user)
{
	const Value *v = user->operands[0];
	AxisList axes = placement_unreduced(explicit_placement(e, v));
	Placement whole = placement_none(0);
	Written w = written_operand(e, user, 0);
	Choices c = {.e = e};

	if (e->quiet)
		return;
	diag(e->g.module->session, DIAG_explicit_refused, op->range,
		"%s does not take partial results, and its condition '%s' is "
		"unreduced over %s",
		op->label, operand_text(e, user, 0), axes_text(e, &axes));
	offer_reshards(&c, 1, &w, &whole, NULL);
	print_choices(&c);
}

/* The value as it is where the op begins, or where its body ends. */
static void
offer_carried(Choices *c, const Op *op, const Op *end, int i, const Value *v, const Value *like)
{
	Written w = written_operand(c->e, end, i);
	const Placement *to = explicit_placement(c->e, like);

	if (end == op && op->nbodies && has_text(c->e, op->range)
		&& !has_text(c->e, operand_range(op, i)))
		offer_statement(c, op, v, to);
	else
		offer_reshards(c, 1, &w, to, NULL);
}

void
report_carried(Explicit *e, const Op *op, const Op *a, const Op *b, int i, int k)
{
	const Value *v = a->operands[i], *other = b->operands[k];
	Choices c = {.e = e};

	if (e->quiet)
		return;
	diag(e->g.module->session, DIAG_explicit_carried, op->range,
		op_is_loop(op) ? "the loop carries '%s' in as %s and out as %s"
			: op_is_branch(op)
			? "one branch makes '%s' %s, the other %s"
			: "shard_like of '%s', which is %s, and a value that is %s",
		value_source_name(v), spec_text(e, v, explicit_placement(e, v)),
		spec_text(e, other, explicit_placement(e, other)));
	offer_carried(&c, op, a, i, v, other);
	offer_carried(&c, op, b, k, other, v);
	print_choices(&c);
}
