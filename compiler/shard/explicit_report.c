/*
 * explicit_report.c - what is ambiguous in explicit code, and what to write.
 *
 *   error[SHD0201]: contracting letter 'd' is split over Y in both operands;
 *   say what becomes of the partial sums
 *     choices:  out=[8@X, 16]                all-reduce  Y  8.4 MB  186 us
 *               out=[8@X, 16] unreduced(Y)   none
 *
 * Every choice is text to be pasted; those that would leave the op ambiguous
 * are not offered.
 */
#include <string.h>
#include "shard/explicit.h"

enum { MAX_CHOICES = 12, LONGEST_EXPRESSION = 40 };

typedef struct Choice {
	const char *text;
	const ReshardPlan *plan;
} Choice;

typedef struct Choices {
	Explicit *e;
	int n;
	Choice of[MAX_CHOICES];
} Choices;

/* ---- choices --------------------------------------------------------------- */

static void
add_choice(Choices *c, const char *form, const char *what, const Value *v,
	const Placement *from, const Placement *to)
{
	Arena *a = c->e->g.arena;
	Text spec = {0};

	if (c->n == MAX_CHOICES)
		return;
	text_spec(&spec, &c->e->g.module->mesh, &v->type, to);
	Choice *choice = &c->of[c->n];
	choice->text = what ? arena_printf(a, form, what, spec.s) :
		arena_printf(a, form, spec.s);
	choice->plan = reshard_plan(c->e->resharder, &v->type, from, to);
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->of[i].text, choice->text))
			c->n--;	/* as that one */
	c->n++;
	text_free(&spec);
}

static void
text_moves(Text *t, const Mesh *mesh, const ReshardPlan *plan)
{
	int told = 0;

	for (int i = 0; i < plan->n; i++) {
		const Move *move = &plan->moves[i];
		if (move->bytes == 0)
			continue;
		text_printf(t, "%s%s ", told++ ? ", " : "",
			move_name(move->kind));
		text_axes(t, mesh, &move->axes);
	}
	if (!told) {
		text_add(t, "none");
		return;
	}
	text_add(t, "  ");
	text_bytes(t, plan->bytes);
	text_add(t, "  ");
	text_seconds(t, plan->seconds);
}

static void
print_choices(const Choices *c)
{
	const Module *m = c->e->g.module;
	int width = 0;

	for (int i = 0; i < c->n; i++)
		if ((int)strlen(c->of[i].text) > width)
			width = (int)strlen(c->of[i].text);
	for (int i = 0; i < c->n; i++) {
		Text t = {0};
		text_moves(&t, &m->mesh, c->of[i].plan);
		diag_line(m->session, "%-9s %-*s  %s", i ? "" : "choices:",
			width, c->of[i].text, t.s);
		text_free(&t);
	}
}

/* ---- words -------------------------------------------------------------------- */

static const char *
axes_text(const Explicit *e, const AxisList *l)
{
	Text t = {0};

	text_axes(&t, &e->g.module->mesh, l);
	const char *s = arena_printf(e->g.arena, "%s", t.s ? t.s : "");
	text_free(&t);
	return s;
}

static const char *
spec_text(Explicit *e, const Value *v, const Placement *p)
{
	Text t = {0};

	text_spec(&t, &e->g.module->mesh, &v->type, p);
	const char *s = arena_printf(e->g.arena, "%s", t.s);
	text_free(&t);
	return s;
}

static bool
has_text(const Explicit *e, Range r)
{
	return r.file && r.end > r.begin && source_file(e->g.module->session,
		r.file)->text;
}

static Range
operand_range(const Op *op, int i)
{
	return op->operand_ranges ? op->operand_ranges[i] : (Range){0};
}

static const char *
source_text(const Explicit *e, Range r)
{
	if (!has_text(e, r) || r.end - r.begin > LONGEST_EXPRESSION)
		return NULL;
	return arena_strndup(e->g.arena, source_file(e->g.module->session,
		r.file)->text + r.begin, (size_t)(r.end - r.begin));
}

/* "relu", "+"; of an index what is written, for it has no name. */
static const char *
op_text(const Explicit *e, const Op *op)
{
	const char *text = op->label[0] == '[' ? source_text(e, op->range) :
		NULL;

	return text ? text : op->label;
}

static bool
takes_out(const Op *op)
{
	return !strncmp(op->label, "einsum", 6) ||
		!strncmp(op->label, "matmul", 6);
}

/* A value that has a name of its own by it, others as they are written. */
static const char *
value_text(const Explicit *e, const Value *v)
{
	const char *text = v->def && (!v->range.file || strchr(v->name, '.')) ?
		source_text(e, v->def->range) : NULL;

	return text ? text : value_source_name(v);
}

/* The operand as it is written, or the name of its value. */
static const char *
operand_text(const Explicit *e, const Op *op, int i)
{
	const Value *v = op->operands[i];
	const char *text = source_text(e, operand_range(op, i));

	if (!text && op->kind == O_output)
		text = source_text(e, op->range);
	return text ? text : value_text(e, v);
}

/* The equation in the label of an einsum, up to its closing quote. */
static const char *
equation_of(const Op *op)
{
	const char *quote = strchr(op->label, '\'');

	return op->kind == O_dot && quote && !strncmp(op->label, "einsum", 6) &&
		!strstr(quote, "...") ? quote + 1 : NULL;
}

/* Where the letters of operand i begin in an equation of two operands; -1 if
   its dims are not one letter each. */
static int
letters_of(const char *equation, const Op *op, int i)
{
	const char *comma = strchr(equation, ',');
	const char *arrow = strstr(equation, "->");

	if (!comma || !arrow || strchr(comma + 1, ','))
		return -1;
	long n = i ? arrow - comma - 1 : comma - equation;
	if (n != op->operands[i]->type.rank)
		return -1;
	return i ? (int)(comma - equation) + 1 : 0;
}

/* The letter of a dim of an einsum's operand and its place; '\0' if none. */
static char
letter_of(const Explicit *e, const Op *op, int i, int dim, Range *where)
{
	const char *equation = equation_of(op);
	int at = equation ? letters_of(equation, op, i) : -1;

	*where = (Range){0};
	if (at < 0)
		return 0;
	at += dim;
	if (has_text(e, op->range)) {
		const char *text = source_file(e->g.module->session,
			op->range.file)->text;
		for (int k = op->range.begin; k < op->range.end; k++)
			if (text[k] == '"') {
				*where = op->range;
				where->begin = k + 1 + at;
				where->end = where->begin + 1;
				break;
			}
	}
	return equation[at];
}

static const char *
dim_text(const Explicit *e, const Op *op, const Holder *h)
{
	Range where;
	char letter = letter_of(e, op, h->tensor, h->dim, &where);

	if (letter)
		return arena_printf(e->g.arena, "letter '%c'", letter);
	return arena_printf(e->g.arena, "dim %d of '%s'", h->dim,
		operand_text(e, op, h->tensor));
}

/* A caret at the letter of an einsum, else at the operand. */
static void
label_holder(Explicit *e, const Op *op, const Holder *h)
{
	Session *s = e->g.module->session;
	const Value *v = op->operands[h->tensor];
	const char *spec = spec_text(e, v, explicit_placement(e, v));
	Range where;

	if (!letter_of(e, op, h->tensor, h->dim, &where) || !where.file)
		where = operand_range(op, h->tensor);
	if (!where.file)
		where = v->range;
	if (where.file)
		diag_label(s, where, "'%s' is %s",
			operand_text(e, op, h->tensor), spec);
	else
		diag_note(s, (Range){0}, "'%s' is %s",
			operand_text(e, op, h->tensor), spec);
}

static const char *
where_text(const Explicit *e, const Op *op, const Holder *h)
{
	Range where;

	if (!letter_of(e, op, h->tensor, h->dim, &where))
		return "";
	return arena_printf(e->g.arena, " in '%s'",
		operand_text(e, op, h->tensor));
}

/* ---- partial sums ---------------------------------------------------------------- */

/* The first operand dim whose split made the sums partial. */
static bool
summed_holder(Explicit *e, const Op *op, Holder *first, int *nsplit)
{
	OpState *o = &e->g.ops[e->g.state_of[op->id]];
	Projection *p = &e->g.projection;

	*nsplit = 0;
	project(p, &e->g, o);
	for (int i = 0; i < p->nholders; i++) {
		const Holder *h = &p->holders[i];
		if (h->tensor >= o->noperands || !h->axes.n ||
				p->rule->factors[h->factor].kind != F_reduce)
			continue;
		if (!*nsplit)
			*first = *h;
		*nsplit += h->factor == first->factor;
	}
	return *nsplit > 0;
}

static int64_t
placement_ways(const Placement *p)
{
	int64_t ways = 1;

	for (int d = 0; d < p->rank; d++)
		ways *= placement_dim_ways(p, d);
	return ways;
}

static void
add_settlements(Choices *c, const Op *maker, const Value *v,
	const Placement *partial)
{
	bool has_out = takes_out(maker);
	const char *what = v->range.file ? value_source_name(v) : "v";
	AxisList axes = placement_unreduced(partial), none = {0};
	Placement whole = *partial;

	if (has_out)
		what = NULL;
	const char *form = has_out ? "out=%s" : "let %s: %s";
	placement_set_unreduced(&whole, &none, C_add);
	/* without any @ a let says nothing about placement */
	bool silent = !has_out && placement_ways(&whole) == 1;
	add_choice(c, silent ? "let %s: %s replicated" : form, what, v,
		partial, &whole);
	for (int d = 0; d < v->type.rank; d++) {
		Placement to = whole;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, &axes);
		placement_set_dim(&to, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			add_choice(c, form, what, v, partial, &to);
	}
	add_choice(c, form, what, v, partial, partial);
}

void
report_partial(Explicit *e, const Op *maker, const Value *v)
{
	Session *s = e->g.module->session;
	Choices c = {.e = e};
	Holder h;
	int nsplit;
	const Placement partial = *explicit_placement(e, v);
	AxisList axes = placement_unreduced(&partial);

	if (e->quiet)
		return;
	if (!summed_holder(e, maker, &h, &nsplit)) {
		diag(s, DIAG_explicit_partial, maker->range, "%s leaves partial "
			"sums over %s; say what becomes of them", maker->label,
			axes_text(e, &axes));
	} else {
		Range where;
		bool letter = letter_of(e, maker, h.tensor, h.dim, &where);
		diag(s, DIAG_explicit_partial, maker->range, "%s%s is split "
			"over %s%s; say what becomes of the partial sums",
			letter ? "contracting " : "", dim_text(e, maker, &h),
			axes_text(e, &h.axes), nsplit > 1 ?
			" in both operands" : letter ? arena_printf(e->g.arena,
			" in '%s'", operand_text(e, maker, h.tensor)) : "");
		const Projection *p = &e->g.projection;
		for (int i = p->factor_first[h.factor];
				i < p->factor_first[h.factor + 1]; i++)
			label_holder(e, maker, &p->holders[p->by_factor[i]]);
	}
	add_settlements(&c, maker, v, &partial);
	print_choices(&c);
}

/* ---- other findings --------------------------------------------------------------- */

/* Offers reshard(operand, ...) if the op could then go on. */
static void
try_placement(Choices *c, OpState *o, int operand, const Placement *to)
{
	Explicit *e = c->e;
	const Value *v = o->tensors[operand];
	Placement *now = explicit_placement(e, v), from = *now;
	Placement *results = NEW_ARRAY(e->g.arena, Placement,
		o->ntensors + 1);

	*now = *to;
	Finding left = derive(e, o, results);
	*now = from;
	if (!left.fault || left.tensor != operand)
		add_choice(c, "reshard(%s, %s)", operand_text(e, o->op,
			operand), v, &from, to);
}

/* The dim of `h` split over `axes` (NULL: without `h`'s from `drop` on). */
static void
try_dim(Choices *c, OpState *o, const Holder *h, const AxisList *axes,
	AxisRef drop)
{
	Placement to = *explicit_placement(c->e, o->tensors[h->tensor]);
	AxisList l = placement_dim(&to, h->dim);
	int n = 0;

	while (n < l.n && !axis_overlap(l.a[n], drop))
		n++;
	l.n = n;
	placement_set_dim(&to, h->dim, axes ? axes : &l);
	try_placement(c, o, h->tensor, &to);
}

static void
report_disagree(Explicit *e, OpState *o, const Finding *f, Choices *c)
{
	const char *place = where_text(e, o->op, &f->a);

	diag(e->g.module->session, DIAG_explicit_disagree, o->op->range,
		"%s: %s is split over %s%s%s%s over %s%s",
		op_text(e, o->op), dim_text(e, o->op, &f->a),
		axes_text(e, &f->a.axes), place, place[0] ? " and" : ", ",
		place[0] ? "" : dim_text(e, o->op, &f->b),
		axes_text(e, &f->b.axes), where_text(e, o->op, &f->b));
	label_holder(e, o->op, &f->a);
	label_holder(e, o->op, &f->b);
	try_dim(c, o, &f->b, &f->a.axes, f->axis);
	try_dim(c, o, &f->a, &f->b.axes, f->axis);
	try_dim(c, o, &f->b, NULL, f->b.axes.a[0]);
	try_dim(c, o, &f->a, NULL, f->a.axes.a[0]);
}

static void
report_twice(Explicit *e, OpState *o, const Finding *f, Choices *c)
{
	AxisList axis = {1, {f->axis}};

	diag(e->g.module->session, DIAG_explicit_twice, o->op->range,
		"%s: %s would split both %s and %s",
		op_text(e, o->op),
		axes_text(e, &axis), dim_text(e, o->op, &f->a),
		dim_text(e, o->op, &f->b));
	label_holder(e, o->op, &f->a);
	label_holder(e, o->op, &f->b);
	try_dim(c, o, &f->a, NULL, f->axis);
	try_dim(c, o, &f->b, NULL, f->axis);
}

/* Every operand that has the factor split must be gathered. */
static void
try_whole(Choices *c, OpState *o, const Finding *f)
{
	const Projection *p = &c->e->g.projection;
	Holder split[MAX_CHOICES];
	int n = 0;

	for (int i = 0; i < p->nholders && n < MAX_CHOICES; i++)
		if (p->holders[i].factor == f->a.factor &&
				p->holders[i].tensor < o->noperands &&
				p->holders[i].axes.n)
			split[n++] = p->holders[i];
	for (int i = 0; i < n; i++)
		try_dim(c, o, &split[i], NULL, split[i].axes.a[0]);
}

static void
report_whole(Explicit *e, OpState *o, const Finding *f, Choices *c)
{
	diag(e->g.module->session, DIAG_explicit_whole, o->op->range,
		f->fault == FAULT_strided ?
		"%s: no device's part of %s, split over %s, is one block of "
		"the result" : "%s works along %s, which is split over %s",
		op_text(e, o->op), dim_text(e, o->op, &f->a),
		axes_text(e, f->a.axes.n ? &f->a.axes : &f->a.overflow));
	label_holder(e, o->op, &f->a);
	if (f->fault == FAULT_whole)
		try_whole(c, o, f);
	else
		try_dim(c, o, &f->a, NULL, f->axis);
}

static void
report_refused(Explicit *e, OpState *o, const Finding *f, Choices *c)
{
	const Value *v = o->tensors[f->tensor];
	Placement to = *explicit_placement(e, v);
	AxisList axes = placement_unreduced(&to), none = {0};

	diag(e->g.module->session, DIAG_explicit_refused, o->op->range,
		"%s does not take partial results, and '%s' is unreduced over "
		"%s", op_text(e, o->op), operand_text(e, o->op, f->tensor),
		axes_text(e, &axes));
	placement_set_unreduced(&to, &none, C_add);
	try_placement(c, o, f->tensor, &to);
	for (int d = 0; d < v->type.rank; d++) {
		Placement scattered = to;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, &axes);
		placement_set_dim(&scattered, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			try_placement(c, o, f->tensor, &scattered);
	}
}

void
report_finding(Explicit *e, OpState *o, const Finding *f)
{
	Choices c = {.e = e};

	if (e->quiet)
		return;
	switch (f->fault) {
	case FAULT_disagree: report_disagree(e, o, f, &c); break;
	case FAULT_twice: report_twice(e, o, f, &c); break;
	case FAULT_whole:
	case FAULT_strided: report_whole(e, o, f, &c); break;
	case FAULT_refused: report_refused(e, o, f, &c); break;
	case FAULT_none: break;
	}
	print_choices(&c);
}

/* ---- composites -------------------------------------------------------------------- */

/* Each split dim of each operand whole: does the body go on then? */
static bool
try_operand(Choices *c, Op *call, int operand)
{
	const Value *v = call->operands[operand];
	Placement *now = explicit_placement(c->e, v), from = *now;
	AxisList none = {0};
	int before = c->n;

	for (int d = 0; d < v->type.rank; d++) {
		Placement to = from;
		placement_set_dim(&to, d, &none);
		if (placement_equal(&to, &from))
			continue;
		*now = to;
		bool clear = body_is_clear(c->e, call);
		*now = from;
		if (clear)
			add_choice(c, "reshard(%s, %s)", operand_text(c->e,
				call, operand), v, &from, &to);
	}
	return c->n > before;
}

void
report_call(Explicit *e, Op *call)
{
	Choices c = {.e = e};
	Session *s = e->g.module->session;
	int blamed = 0;

	if (e->quiet)
		return;
	for (int i = call->noperands - 1; i >= 0; i--)
		if (try_operand(&c, call, i))
			blamed = i;
	const Value *v = call->operands[blamed];
	diag(s, DIAG_explicit_whole, call->range, "%s needs whole a dim of "
		"'%s' that is split: it is %s", call->label,
		operand_text(e, call, blamed), spec_text(e, v,
		explicit_placement(e, v)));
	print_choices(&c);
}

/* ---- what is declared ---------------------------------------------------------------- */

void
report_unknown(Explicit *e, const Op *op, int operand)
{
	const Value *v = op->operands[operand];
	Session *s = e->g.module->session;

	if (e->quiet)
		return;
	diag(s, DIAG_explicit_unknown, op->range, v->annotated ?
		"%s: '%s' has open dims; in an explicit function each dim says "
		"how it is split" : "%s: where '%s' is placed is not written "
		"and not inferred yet; give the parameter a type", op->label,
		operand_text(e, op, operand));
	if (v->type_range.file)
		diag_label(s, v->type_range, "here");
}

/* "einsum(..., out=[8@X])" without its out=. */
static const char *
without_out(const Explicit *e, const char *text)
{
	const char *out = strstr(text, ", out=");

	return out ? arena_printf(e->g.arena, "%.*s)", (int)(out - text),
		text) : text;
}

void
report_move(Explicit *e, const Op *op, const Placement *to)
{
	const Value *v = op->operands[0];
	const Placement *from = explicit_placement(e, v);
	const char *text = without_out(e, operand_text(e, op, 0));
	bool result = op->kind == O_output;
	Session *s = e->g.module->session;
	Choices c = {.e = e};

	if (e->quiet)
		return;
	diag(s, DIAG_explicit_move, op->range, "'%s' is %s, not %s: %s",
		result ? value_source_name(op->results[0]) : text,
		spec_text(e, v, from), spec_text(e, v, to), result ?
		"a result's type is checked, and moves nothing" : takes_out(op)
		? "out= settles partial sums, and moves nothing else" :
		"a placed let settles partial sums, and moves nothing else");
	if (op->results[0]->type_range.file)
		diag_label(s, op->results[0]->type_range, "written here");
	add_choice(&c, "reshard(%s, %s)", text, v, from, to);
	if (result)
		add_choice(&c, "-> %s%s", dtypes[v->type.dtype].name, v, from,
			from);
	print_choices(&c);
}

void
report_carried(Explicit *e, const Op *op, const Value *start,
	const Value *returned)
{
	static const char *const wrong[OP_COUNT] = {
		[O_while] = "the loop carries '%s' in as %s and out as %s",
		[O_if] = "one branch makes '%s' %s, the other %s",
		[O_shard_like] = "shard_like of '%s', which is %s, and a value "
			"that is %s",
	};
	const Placement *from = explicit_placement(e, start);
	const Placement *to = explicit_placement(e, returned);
	Choices c = {.e = e};

	if (e->quiet)
		return;
	diag(e->g.module->session, DIAG_explicit_carried, op->range,
		wrong[op->kind], value_source_name(start),
		spec_text(e, start, from), spec_text(e, start, to));
	add_choice(&c, "reshard(%s, %s)", value_text(e, start), start, from,
		to);
	add_choice(&c, "reshard(%s, %s)", value_text(e, returned), returned,
		to, from);
	print_choices(&c);
}
