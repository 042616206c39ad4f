/*
 * attrs_read.c - the attributes of an op, each by its form in attrs.def.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/hlo.h"
#include "hlo/read.h"

enum { MAX_LITERAL = 400 }; /* digits of a constant */

/* ---- attributes by form --------------------------------------------- */

/* {1,0} or 1 */
static void
read_list(Cursor *c, Op *op, AttrKind attr)
{
	int64_t v[MAX_RANK];
	int n = 0;

	if (!cursor_accept(c, "{")) {
		v[n++] = cursor_integer(c, "a number");
	} else {
		while (!c->r->failed && !cursor_accept(c, "}")) {
			if (n)
				cursor_expect(c, ",");
			if (n == MAX_RANK) {
				cursor_error(c, "more than %d numbers", MAX_RANK);
				return;
			}
			v[n++] = cursor_integer(c, "a number");
		}
	}
	op_set_ints(op, attr, n, v);
}

static void
read_direction(Cursor *c, Op *op)
{
	const char *name = cursor_word(c, "a direction");

	for (int i = DIR_EQ; i <= DIR_GE; i++)
		if (!strcmp(direction_names[i], name)) {
			op_set_int(op, A_direction, i);
			return;
		}
	cursor_error(c, "unknown direction '%s'", name);
}

/* A computation of two scalars that is one combiner. */
static bool
is_reducer(const HloComputation *computation, Combiner *combiner)
{
	const HloInstr *instr = computation->instrs;

	if (computation->n != 3 || strcmp(instr[0].opcode, "parameter")
		|| strcmp(instr[1].opcode, "parameter") || instr[2].noperands != 2)
		return false;
	const HloOperand *operand = instr[2].operands;
	bool straight = !strcmp(operand[0].name, instr[0].name)
		&& !strcmp(operand[1].name, instr[1].name);
	bool swapped = !strcmp(operand[0].name, instr[1].name)
		&& !strcmp(operand[1].name, instr[0].name);
	for (int i = 0; i < COMBINER_COUNT && (straight || swapped); i++)
		if (!strcmp(combiners[i].hlo, instr[2].opcode)) {
			*combiner = (Combiner)i;
			return true;
		}
	return false;
}

HloComputation *
read_applied(Builder *b, const HloInstr *instr, const char *name)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, name);

	if (!attr) {
		hlo_error(b->r, instr->where, "%s without %s", instr->opcode, name);
		return NULL;
	}
	Cursor c = attr->value;
	bool listed = cursor_accept(&c, "{"); /* called_computations */
	cursor_accept(&c, "%");
	const char *applied = cursor_word(&c, "a computation");
	if (listed)
		cursor_expect(&c, "}");
	HloComputation *computation = table_get(b->r->computations, applied);
	if (!computation)
		cursor_error(&c, "no computation is called %s", applied);
	return computation;
}

static void
read_combiner(Builder *b, const HloInstr *instr, Op *op)
{
	const HloComputation *computation = read_applied(b, instr, "to_apply");
	Combiner combiner;

	if (!computation)
		return;
	if (is_reducer(computation, &combiner))
		op_set_int(op, A_combiner, combiner);
	else
		hlo_error(b->r, instr->where,
			"%s does not combine two numbers "
			"in a way known here",
			computation->name);
}

/* {[0:8:2], [0:16]} */
static void
read_slice(Cursor *c, Op *op)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	int n = 0;

	cursor_expect(c, "{");
	while (!c->r->failed && !cursor_accept(c, "}")) {
		if (n)
			cursor_expect(c, ",");
		if (n == MAX_RANK) {
			cursor_error(c, "more than %d dims", MAX_RANK);
			return;
		}
		cursor_expect(c, "[");
		start[n] = cursor_integer(c, "the first index");
		cursor_expect(c, ":");
		limit[n] = cursor_integer(c, "the last index");
		stride[n] = cursor_accept(c, ":") ? cursor_integer(c, "a step") : 1;
		cursor_expect(c, "]");
		n++;
	}
	op_set_ints(op, A_start, n, start);
	op_set_ints(op, A_limit, n, limit);
	op_set_ints(op, A_stride, n, stride);
}

/* 0_1x2_0 */
static void
read_padding(Cursor *c, Op *op)
{
	int64_t low[MAX_RANK], high[MAX_RANK];
	int n = 0;

	do {
		if (n == MAX_RANK) {
			cursor_error(c, "more than %d dims", MAX_RANK);
			return;
		}
		low[n] = cursor_integer(c, "the padding before");
		cursor_expect(c, "_");
		high[n] = cursor_integer(c, "the padding after");
		if (cursor_accept(c, "_") && cursor_integer(c, "the padding between"))
			cursor_error(c, "padding between elements");
		n++;
	} while (cursor_accept(c, "x"));
	op_set_ints(op, A_low, n, low);
	op_set_ints(op, A_high, n, high);
}

static int64_t
read_integer_literal(Cursor *c, DType d)
{
	if (cursor_accept(c, "true"))
		return 1;
	if (cursor_accept(c, "false"))
		return 0;
	int64_t v = cursor_integer(c, d == D_pred ? "true or false" : "an integer");
	cursor_expect_end(c);
	return v;
}

static int64_t
read_float_literal(Cursor *c)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {
		{"inf", INFINITY},
		{"-inf", -INFINITY},
		{"nan", NAN},
		{"-nan", NAN},
	};
	char digits[MAX_LITERAL];

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (cursor_accept(c, words[i].word))
			return double_payload(words[i].value);
	cursor_at_end(c);
	int n = c->end - c->pos;
	while (n && isspace((unsigned char)c->s[c->pos + n - 1]))
		n--;
	if (!n || n >= MAX_LITERAL) {
		cursor_error(c, "expected a number");
		return 0;
	}
	memcpy(digits, c->s + c->pos, (size_t)n);
	digits[n] = '\0';
	char *end;
	double v = strtod(digits, &end);
	if ((int)strspn(digits, "0123456789.eE+-") != n || *end || isinf(v)) {
		cursor_error(c, "'%s' is not a number", digits);
		return 0;
	}
	return double_payload(v);
}

static void
read_constant(const HloInstr *instr, Op *op)
{
	Cursor c = instr->literal;
	DType d = instr->type.dtype;

	op_set_int(op, A_value,
		dtype_is_float(d) ? read_float_literal(&c) : read_integer_literal(&c, d));
}

/* May be absent. */
static void
read_int_fact(Builder *b, const HloInstr *instr, Op *op, AttrKind kind)
{
	Facts facts = facts_of(&instr->attrs);
	const Fact *f = find_fact(&facts, attr_table[kind].hlo);

	if (!f)
		return;
	Cursor c = fact_cursor(b, f);
	op_set_int(op, kind, cursor_integer(&c, "a number"));
	cursor_expect_end(&c);
}

/* "1,2,-1"; may be absent. */
static void
read_int_facts(Builder *b, const HloInstr *instr, Op *op, AttrKind kind)
{
	Facts facts = facts_of(&instr->attrs);
	const Fact *f = find_fact(&facts, attr_table[kind].hlo);
	int64_t *v = NULL;
	int n = 0;

	if (!f)
		return;
	Cursor c = fact_cursor(b, f);
	do
		APPEND(b->r->arena, v, n, cursor_integer(&c, "a number"));
	while (!b->r->failed && cursor_accept(&c, ","));
	cursor_expect_end(&c);
	op_set_ints(op, kind, n, v);
}

static void
read_attr(Builder *b, const HloInstr *instr, Op *op, AttrKind kind)
{
	const AttrInfo *info = &attr_table[kind];
	bool follows = kind == A_limit || kind == A_stride || kind == A_high;

	if (info->form == FORM_COMBINER) {
		read_combiner(b, instr, op);
		return;
	}
	if (info->form == FORM_VALUE) {
		read_constant(instr, op);
		return;
	}
	if (info->form == FORM_FACT) {
		read_int_fact(b, instr, op, kind);
		return;
	}
	if (info->form == FORM_FACTS) {
		read_int_facts(b, instr, op, kind);
		return;
	}
	const HloAttr *attr = hlo_attr(&instr->attrs, info->hlo);
	bool may_lack = op->kind == O_dot;
	if (!attr && may_lack)
		op_set_ints(op, kind, 0, NULL);
	else if (!attr)
		hlo_error(b->r, instr->where, "%s without %s", instr->opcode, info->hlo);
	if (!attr || follows)
		return;
	Cursor c = attr->value;
	if (info->form == FORM_DIRECTION)
		read_direction(&c, op);
	else if (info->form == FORM_SLICE)
		read_slice(&c, op);
	else if (info->form == FORM_PAD)
		read_padding(&c, op);
	else
		read_list(&c, op, kind);
	cursor_expect_end(&c);
}

/* ---- ops that read in their own way --------------------------------- */

static void
read_cumsum(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const Fact *f = find_fact(facts, "dim");
	Combiner combiner = C_add;
	const HloComputation *computation = read_applied(b, instr, "to_apply");

	if (!f) {
		hlo_error(b->r, instr->where,
			"reduce-window without the fact "
			"'dim': only cumsum is read");
		return;
	}
	Cursor c = fact_cursor(b, f);
	op_set_int(op, A_dim, cursor_integer(&c, "a dim"));
	cursor_expect_end(&c);
	if (computation && (!is_reducer(computation, &combiner) || combiner != C_add))
		hlo_error(b->r, instr->where,
			"a reduce-window that does not "
			"add");
}

static void
read_take(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "collapsed_slice_dims");

	(void)facts;
	if (!attr) {
		hlo_error(b->r, instr->where,
			"gather without "
			"collapsed_slice_dims");
		return;
	}
	Cursor c = attr->value;
	read_list(&c, op, A_dim);
	cursor_expect_end(&c);
}

static void
read_scatter(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "inserted_window_dims");
	const HloComputation *computation = read_applied(b, instr, "to_apply");
	Combiner combiner = C_add;

	(void)facts;
	if (!attr) {
		hlo_error(b->r, instr->where,
			"scatter without "
			"inserted_window_dims");
		return;
	}
	Cursor c = attr->value;
	read_list(&c, op, A_dim);
	cursor_expect_end(&c);
	if (computation && (!is_reducer(computation, &combiner) || combiner != C_add))
		hlo_error(b->r, instr->where, "a scatter that does not add");
}

static void
read_sort(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const HloAttr *stable = hlo_attr(&instr->attrs, "is_stable");
	const HloComputation *computation = read_applied(b, instr, "to_apply");
	Direction direction = DIR_LT;

	(void)facts;
	read_attr(b, instr, op, A_dim);
	if (b->r->failed)
		return;
	Cursor c = stable ? stable->value : instr->literal;
	if (!stable || !cursor_accept(&c, "true"))
		hlo_error(b->r, instr->where, "a sort that is not stable");
	else if (!op->noperands || !read_comparator(computation, op, &direction))
		hlo_error(b->r, instr->where,
			"%s does not compare in a way "
			"known here",
			computation->name);
	op_set_int(op, A_direction, direction);
}

static AxisList *
read_axes_fact(Builder *b, const HloInstr *instr, const Facts *facts, const char *key)
{
	const Fact *f = find_fact(facts, key);
	AxisList *l = NEW(b->r->arena, AxisList);

	if (!f) {
		hlo_error(b->r, instr->where, "%s without the fact '%s'", instr->opcode, key);
		return l;
	}
	Cursor c = fact_cursor(b, f);
	*l = read_axis_list(b, &c);
	return l;
}

static void
read_collective(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	op->axes = read_axes_fact(b, instr, facts, "axes");
	if (collectives[op->kind].route == ROUTE_pairs && !find_fact(facts, "source"))
		op->from = read_axes_fact(b, instr, facts, "from");
	for (int a = 0; a < ATTR_COUNT; a++)
		if (ops[op->kind].attrs >> a & 1)
			read_attr(b, instr, op, (AttrKind)a);
}

/* spec.0="f32[8@X, 4]": of the operands, then the results. */
static void
read_manual(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	int n = op->noperands + op->nresults;

	op->axes = read_axes_fact(b, instr, facts, "axes");
	op->specs = NEW_ARRAY(b->r->arena, Placement, n + 1);
	for (int i = 0; i < n && !b->r->failed; i++) {
		const Value *v = rule_tensor(op, i);
		const char *key = arena_printf(b->r->arena, "spec.%d", i);
		const Fact *f = find_fact(facts, key);
		Type type;
		if (!f) {
			hlo_error(b->r, instr->where,
				"a manual region without "
				"the fact '%s'",
				key);
			return;
		}
		Cursor c = fact_cursor(b, f);
		op->specs[i] = read_typed_spec(b, &c, &type);
		cursor_expect_end(&c);
		if (!b->r->failed && !type_equal(&type, &v->type))
			hlo_error(b->r, f->where, "%s is not the type of %%%s", f->value,
				v->name);
	}
}

static const char *
read_text_fact(Builder *b, const HloInstr *instr, const Facts *facts, const char *key)
{
	const Fact *f = find_fact(facts, key);

	if (f && *f->value)
		return f->value;
	hlo_error(b->r, instr->where, "%s without the fact '%s'", instr->opcode, key);
	return "";
}

/* samples/swish.shd:7 */
static Range
read_declared(Builder *b, const Fact *f)
{
	const char *colon = f ? strrchr(f->value, ':') : NULL;
	Range r = {0};

	if (!colon)
		return r;
	Cursor c = cursor_of_text(b->r, colon + 1, (int)strlen(colon + 1), f->where);
	int64_t line = cursor_integer(&c, "a line");
	cursor_expect_end(&c);
	r.line = line < 0 || line > INT32_MAX ? 0 : (int)line;
	r.file = source_add_name(b->r->session,
		arena_strndup(b->r->arena, f->value, (size_t)(colon - f->value)));
	return r;
}

static void
read_extern(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	External *x = NEW(b->r->arena, External);

	x->name = read_text_fact(b, instr, facts, "extern.name");
	x->symbol = read_text_fact(b, instr, facts, "extern.symbol");
	x->library = read_text_fact(b, instr, facts, "extern.library");
	x->rule = read_text_fact(b, instr, facts, "extern.rule");
	x->declared = read_declared(b, find_fact(facts, "extern.declared"));
	op->external = x;
}

typedef void SpecialReader(Builder *b, const HloInstr *instr, const Facts *facts, Op *op);
static SpecialReader *const special_readers[OP_COUNT] = {
	[O_cumsum] = read_cumsum,
	[O_take] = read_take,
	[O_scatter_add] = read_scatter,
	[O_sort] = read_sort,
	[O_extern] = read_extern,
	[O_manual] = read_manual,
};

void
read_op_attrs(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	SpecialReader *special =
		op_communicates(op) ? read_collective : special_readers[op->kind];

	if (special) {
		special(b, instr, facts, op);
		return;
	}
	for (int a = 0; a < ATTR_COUNT && !b->r->failed; a++)
		if (ops[op->kind].attrs >> a & 1)
			read_attr(b, instr, op, (AttrKind)a);
}
