/*
 * read.c - a module from HLO text that print.c wrote, perhaps edited since.
 *
 * Total: any text gives a module that is well-formed for its level, or
 * diagnostics.  Computations are built from the ENTRY on; those that reduce
 * are recognized by their form, the others become the bodies of calls.  What
 * the text says twice (groups of devices beside `axes`, windows, gathers)
 * must agree.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ir/hlo.h"
#include "ir/ir.h"
#include "ir/read.h"
#include "ir/targets.h"

enum {
	MAX_CALLS = 64,			/* nested composites */
	MAX_LITERAL = 400,
	MAX_DEVICES = 1 << 24,
};

/* An op or a parameter of the module and where it was read. */
typedef struct Built {
	const void *line;
	const HloInstr *instr;
} Built;

typedef struct Builder {
	Reading *r;
	Module *m;
	Table *values;		/* of the entry, by their name in the text */
	Built *built;
	int nbuilt, calls;
} Builder;

/* ---- facts: the strings of frontend_attributes ---------------------- */

typedef struct Fact {
	const char *key, *value;	/* value "" for an unquoted one */
	int length;
	Range where;
} Fact;

typedef struct Facts {
	int n;
	Fact *a;
} Facts;

static void
read_fact(Cursor *c, Facts *facts)
{
	Fact f = {.key = cursor_word(c, "a key"), .value = ""};

	if (!cursor_expect(c, "="))
		return;
	cursor_at_end(c);
	f.where = cursor_range(c);
	if (cursor_accept(c, "{"))
		cursor_expect(c, "}");
	else
		f.value = cursor_string(c, &f.length);
	f.where.end = c->pos;
	APPEND(c->r->arena, facts->a, facts->n, f);
}

static Facts
read_facts(const HloAttrs *attrs)
{
	const HloAttr *attr = hlo_attr(attrs, "frontend_attributes");
	Facts facts = {0};

	if (!attr)
		return facts;
	Cursor c = attr->value;
	if (!cursor_expect(&c, "{") || cursor_accept(&c, "}"))
		return facts;
	do
		read_fact(&c, &facts);
	while (cursor_accept(&c, ","));
	cursor_expect(&c, "}");
	return facts;
}

static const Fact *
find_fact(const Facts *facts, const char *key)
{
	for (int i = 0; i < facts->n; i++)
		if (!strcmp(facts->a[i].key, key))
			return &facts->a[i];
	return NULL;
}

static bool
fact_is(const Facts *facts, const char *key, const char *value)
{
	const Fact *f = find_fact(facts, key);

	return f && !strcmp(f->value, value);
}

static Cursor
fact_cursor(Builder *b, const Fact *f)
{
	return cursor_of_text(b->r, f->value, f->length, f->where);
}

static void
expect_end(Cursor *c)
{
	if (!cursor_at_end(c))
		cursor_error(c, "something follows the value");
}

/* ---- placements ----------------------------------------------------- */

/* :(1)2 after the name of an axis. */
static void
read_part(Cursor *c, const MeshAxis *axis, AxisRef *a)
{
	cursor_expect(c, "(");
	int64_t pre = cursor_integer(c, "the size of the part before");
	cursor_expect(c, ")");
	int64_t size = cursor_integer(c, "the size of the part");
	if (c->r->failed)
		return;
	if (pre < 1 || size < 2 || pre > axis->size || size > axis->size ||
	    axis->size % (pre * size)) {
		cursor_error(c, "axis %s of size %lld has no part (%lld)%lld",
			axis->name, (long long)axis->size, (long long)pre,
			(long long)size);
		return;
	}
	a->pre = (int32_t)pre;
	a->size = (int32_t)size;
}

static AxisRef
read_axis(Builder *b, Cursor *c)
{
	const Mesh *m = &b->m->mesh;
	AxisRef a = {0, 1, 1};
	bool quoted = cursor_accept(c, "'");
	const char *name = cursor_word(c, "an axis");

	if (quoted)
		cursor_expect(c, "'");
	for (int i = 0; i < m->naxes && !c->r->failed; i++)
		if (!strcmp(m->axes[i].name, name)) {
			a = axis_whole(m, i);
			if (cursor_accept(c, ":"))
				read_part(c, &m->axes[i], &a);
			return a;
		}
	cursor_error(c, "the mesh has no axis '%s'", name);
	return a;
}

/* X,Y:(1)2 up to `close`, which is taken; `?` sets *open. */
static AxisList
read_axes(Builder *b, Cursor *c, const char *close, bool *open)
{
	AxisList l = {0};

	while (!c->r->failed && !cursor_accept(c, close)) {
		if ((l.n || (open && *open)) && !cursor_expect(c, ","))
			break;
		if (open && cursor_accept(c, "?")) {
			*open = true;
			continue;
		}
		if (l.n == MAX_PIECES) {
			cursor_error(c, "more than %d axes", MAX_PIECES);
			break;
		}
		axes_append(&l, read_axis(b, c));
	}
	return l;
}

/* A list to the end of the text. */
static AxisList
read_all_axes(Builder *b, Cursor *c)
{
	AxisList l = {0};

	if (cursor_at_end(c))
		return l;
	do {
		if (l.n == MAX_PIECES)
			cursor_error(c, "more than %d axes", MAX_PIECES);
		else
			axes_append(&l, read_axis(b, c));
	} while (cursor_accept(c, ","));
	expect_end(c);
	return l;
}

static bool
has_room(Cursor *c, const Placement *p, int more)
{
	int n = more + p->nreplicated + p->nunreduced;

	for (int d = 0; d < p->rank; d++)
		n += p->count[d];
	if (n > MAX_PIECES)
		cursor_error(c, "more than %d axes in one placement",
			MAX_PIECES);
	return !c->r->failed;
}

static void
set_dim(Cursor *c, Placement *p, int dim, const AxisList *axes, bool open)
{
	if (!has_room(c, p, axes->n))
		return;
	placement_set_dim(p, dim, axes);
	if (open)
		p->open |= (uint16_t)(1u << dim);
}

static void
set_replicated(Cursor *c, Placement *p, const AxisList *axes)
{
	if (has_room(c, p, axes->n))
		placement_set_replicated(p, axes);
}

static void
set_unreduced(Cursor *c, Placement *p, const AxisList *axes, Combiner combiner)
{
	if (has_room(c, p, axes->n))
		placement_set_unreduced(p, axes, combiner);
}

/* 'X'=2,'Y'=4] must be the module's mesh. */
static void
check_mesh_text(Builder *b, Cursor *c)
{
	const Mesh *m = &b->m->mesh;

	for (int i = 0; i < m->naxes; i++) {
		if (i)
			cursor_expect(c, ",");
		cursor_expect(c, "'");
		const char *name = cursor_word(c, "an axis");
		cursor_expect(c, "'");
		cursor_expect(c, "=");
		int64_t size = cursor_integer(c, "its size");
		if (!c->r->failed && (strcmp(name, m->axes[i].name) ||
		    size != m->axes[i].size))
			cursor_error(c, "another mesh than the module's");
	}
	cursor_expect(c, "]");
}

/* {mesh['X'=2], [{'X', ?}, {}], replicated={'Y'}, unreduced={'Z'}} */
static Placement
read_sharding(Builder *b, Cursor *c, int rank)
{
	Placement p = placement_none(rank);

	cursor_expect(c, "{");
	if (!cursor_accept(c, "mesh")) {
		cursor_error(c, "a sharding is read in its named form only: "
			"{mesh['X'=2], [{'X'}]}");
		return p;
	}
	cursor_expect(c, "[");
	check_mesh_text(b, c);
	cursor_expect(c, ",");
	cursor_expect(c, "[");
	for (int d = 0; d < rank && !c->r->failed; d++) {
		bool open = false;
		if (d)
			cursor_expect(c, ",");
		cursor_expect(c, "{");
		AxisList axes = read_axes(b, c, "}", &open);
		set_dim(c, &p, d, &axes, open);
	}
	cursor_expect(c, "]");
	while (cursor_accept(c, ",")) {
		bool unreduced = cursor_accept(c, "unreduced");
		if (!unreduced)
			cursor_expect(c, "replicated");
		cursor_expect(c, "=");
		cursor_expect(c, "{");
		AxisList axes = read_axes(b, c, "}", NULL);
		if (unreduced)
			set_unreduced(c, &p, &axes, C_add);
		else
			set_replicated(c, &p, &axes);
	}
	cursor_expect(c, "}");
	return p;
}

static void
read_priorities(Builder *b, const Fact *f, Placement *p)
{
	Cursor c = fact_cursor(b, f);

	for (int d = 0; d < p->rank; d++) {
		if (d)
			cursor_expect(&c, ",");
		int64_t priority = cursor_integer(&c, "a priority");
		if (priority < 0 || priority > UINT8_MAX)
			cursor_error(&c, "a priority of %lld",
				(long long)priority);
		p->priority[d] = (uint8_t)priority;
	}
	expect_end(&c);
}

static void
read_placement_facts(Builder *b, const Facts *facts, Placement *p)
{
	const Fact *f = find_fact(facts, "priority");
	Combiner combiner;

	if (f)
		read_priorities(b, f, p);
	p->all_replicated = fact_is(facts, "replicated", "all");
	f = find_fact(facts, "unreduced.combiner");
	if (!f)
		return;
	if (!combiner_by_name(f->value, &combiner))
		hlo_error(b->r, f->where, "unknown combiner '%s'", f->value);
	else if (p->nunreduced)
		p->combiner = (uint8_t)combiner;
}

/* ---- placements as the language writes them ------------------------- */

/* @X  @(X,?)  !1 */
static void
read_spec_axes(Builder *b, Cursor *c, Placement *p, int dim)
{
	bool open = false;
	AxisList axes = {0};

	if (!cursor_accept(c, "@"))
		return;
	if (cursor_accept(c, "("))
		axes = read_axes(b, c, ")", &open);
	else if (cursor_accept(c, "?"))
		open = true;
	else
		axes_append(&axes, read_axis(b, c));
	set_dim(c, p, dim, &axes, open);
	if (!cursor_accept(c, "!"))
		return;
	int64_t priority = cursor_integer(c, "a priority");
	if (priority < 0 || priority > UINT8_MAX)
		cursor_error(c, "a priority of %lld", (long long)priority);
	p->priority[dim] = (uint8_t)priority;
}

/* (Y) or (Y, max) after `unreduced` */
static void
read_spec_unreduced(Builder *b, Cursor *c, Placement *p)
{
	AxisList axes = {0};
	Combiner combiner = C_add;

	cursor_expect(c, "(");
	while (!c->r->failed) {
		Cursor word = *c;
		const char *name = cursor_word(&word, "an axis");
		if (axes.n && combiner_by_name(name, &combiner)) {
			*c = word;
			break;
		}
		if (axes.n == MAX_PIECES)
			cursor_error(c, "more than %d axes", MAX_PIECES);
		else
			axes_append(&axes, read_axis(b, c));
		if (!cursor_accept(c, ","))
			break;
	}
	cursor_expect(c, ")");
	set_unreduced(c, p, &axes, combiner);
}

/* [8@X, 64@(Y,?)] replicated(Z) unreduced(Y, max) */
static Placement
read_spec(Builder *b, Cursor *c, Type *type)
{
	Placement p = placement_none(0);
	int64_t bytes = dtypes[type->dtype].bytes;

	type->rank = 0;
	cursor_expect(c, "[");
	while (!c->r->failed && !cursor_accept(c, "]")) {
		if (type->rank && !cursor_expect(c, ","))
			break;
		int64_t size = cursor_integer(c, "a size");
		if (type->rank == MAX_RANK || size < 1 ||
		    !mul_i64(bytes, size, &bytes)) {
			cursor_error(c, "sizes no tensor has");
			break;
		}
		type->dims[type->rank] = size;
		p.rank = (int8_t)(type->rank + 1);
		read_spec_axes(b, c, &p, type->rank++);
	}
	if (cursor_accept(c, "replicated")) {
		p.all_replicated = !cursor_accept(c, "(");
		if (!p.all_replicated) {
			AxisList axes = read_axes(b, c, ")", NULL);
			set_replicated(c, &p, &axes);
		}
	}
	if (cursor_accept(c, "unreduced"))
		read_spec_unreduced(b, c, &p);
	return p;
}

/* f32[8@X, 64] */
static Placement
read_typed_spec(Builder *b, Cursor *c, Type *type)
{
	Cursor start = *c;
	const char *name = cursor_word(c, "a type");

	*type = type_of(D_pred, 0, NULL);
	if (!c->r->failed && !dtype_by_name(name, &type->dtype))
		cursor_error(&start, "unknown dtype '%s'", name);
	return read_spec(b, c, type);
}

/* In a device program: the tensor's sizes are the shard's times the ways. */
static void
read_device_placement(Builder *b, const Facts *facts, Value *v)
{
	const Fact *f = find_fact(facts, "placement");
	Type tensor = v->type;

	v->placement = placement_none(v->type.rank);
	v->no_placement = !f && v->type.rank > 0;
	if (!f)
		return;
	Cursor c = fact_cursor(b, f);
	Placement p = read_spec(b, &c, &tensor);
	expect_end(&c);
	if (b->r->failed)
		return;
	bool fits = p.rank == v->type.rank;
	for (int d = 0; d < p.rank && fits; d++) {
		int64_t ways = placement_dim_ways(&p, d);
		fits = tensor.dims[d] % ways == 0 &&
			tensor.dims[d] / ways == v->type.dims[d];
	}
	if (fits)
		v->placement = p;
	else
		hlo_error(b->r, f->where, "a shard of %s has another shape "
			"than %s", f->value, v->name);
}

static void
read_placement(Builder *b, const HloInstr *instr, const Facts *facts, Value *v)
{
	const HloAttr *sharding = hlo_attr(&instr->attrs, "sharding");

	v->annotated = fact_is(facts, "annotated", "true");
	if (b->m->level == L_device) {
		read_device_placement(b, facts, v);
		return;
	}
	v->placement = b->m->level == L_global ?
		placement_open(v->type.rank) : placement_none(v->type.rank);
	if (sharding) {
		Cursor c = sharding->value;
		v->placement = read_sharding(b, &c, v->type.rank);
	}
	read_placement_facts(b, facts, &v->placement);
}

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
				cursor_error(c, "more than %d numbers",
					MAX_RANK);
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

	if (computation->n != 3 || strcmp(instr[0].opcode, "parameter") ||
	    strcmp(instr[1].opcode, "parameter") || instr[2].noperands != 2)
		return false;
	const HloOperand *operand = instr[2].operands;
	bool straight = !strcmp(operand[0].name, instr[0].name) &&
		!strcmp(operand[1].name, instr[1].name);
	bool swapped = !strcmp(operand[0].name, instr[1].name) &&
		!strcmp(operand[1].name, instr[0].name);
	for (int i = 0; i < COMBINER_COUNT && (straight || swapped); i++)
		if (!strcmp(combiners[i].hlo, instr[2].opcode)) {
			*combiner = (Combiner)i;
			return true;
		}
	return false;
}

static HloComputation *
read_to_apply(Builder *b, const HloInstr *instr)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "to_apply");

	if (!attr) {
		hlo_error(b->r, instr->where, "%s without to_apply",
			instr->opcode);
		return NULL;
	}
	Cursor c = attr->value;
	cursor_accept(&c, "%");
	const char *name = cursor_word(&c, "a computation");
	HloComputation *computation = table_get(b->r->computations, name);
	if (!computation)
		cursor_error(&c, "no computation is called %s", name);
	return computation;
}

static void
read_combiner(Builder *b, const HloInstr *instr, Op *op)
{
	const HloComputation *computation = read_to_apply(b, instr);
	Combiner combiner;

	if (!computation)
		return;
	if (is_reducer(computation, &combiner))
		op_set_int(op, A_combiner, combiner);
	else
		hlo_error(b->r, instr->where, "%s does not combine two numbers "
			"in a way known here", computation->name);
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
		stride[n] = cursor_accept(c, ":") ?
			cursor_integer(c, "a step") : 1;
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
		if (cursor_accept(c, "_") &&
		    cursor_integer(c, "the padding between"))
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
	int64_t v = cursor_integer(c, d == D_pred ? "true or false" :
		"an integer");
	expect_end(c);
	return v;
}

static int64_t
read_float_literal(Cursor *c)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {
		{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN},
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

	op_set_int(op, A_value, dtype_is_float(d) ? read_float_literal(&c) :
		read_integer_literal(&c, d));
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
	const HloAttr *attr = hlo_attr(&instr->attrs, info->hlo);
	bool may_lack = op->kind == O_dot;
	if (!attr && may_lack)
		op_set_ints(op, kind, 0, NULL);
	else if (!attr)
		hlo_error(b->r, instr->where, "%s without %s", instr->opcode,
			info->hlo);
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
	expect_end(&c);
}

/* ---- ops that read in their own way --------------------------------- */

static void
read_cumsum(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const Fact *f = find_fact(facts, "dim");
	Combiner combiner = C_add;
	const HloComputation *computation = read_to_apply(b, instr);

	if (!f) {
		hlo_error(b->r, instr->where, "reduce-window without the fact "
			"'dim': only cumsum is read");
		return;
	}
	Cursor c = fact_cursor(b, f);
	op_set_int(op, A_dim, cursor_integer(&c, "a dim"));
	expect_end(&c);
	if (computation && (!is_reducer(computation, &combiner) ||
	    combiner != C_add))
		hlo_error(b->r, instr->where, "a reduce-window that does not "
			"add");
}

static void
read_take(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "collapsed_slice_dims");

	(void)facts;
	if (!attr) {
		hlo_error(b->r, instr->where, "gather without "
			"collapsed_slice_dims");
		return;
	}
	Cursor c = attr->value;
	read_list(&c, op, A_dim);
	expect_end(&c);
}

static AxisList *
read_axes_fact(Builder *b, const HloInstr *instr, const Facts *facts,
	const char *key)
{
	const Fact *f = find_fact(facts, key);
	AxisList *l = NEW(b->r->arena, AxisList);

	if (!f) {
		hlo_error(b->r, instr->where, "%s without the fact '%s'",
			instr->opcode, key);
		return l;
	}
	Cursor c = fact_cursor(b, f);
	*l = read_all_axes(b, &c);
	return l;
}

static void
read_collective(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	op->axes = read_axes_fact(b, instr, facts, "axes");
	if (op->kind == O_collective_permute)
		op->from = read_axes_fact(b, instr, facts, "from");
	for (int a = 0; a < ATTR_COUNT; a++)
		if (ops[op->kind].attrs >> a & 1)
			read_attr(b, instr, op, (AttrKind)a);
}

static void build_block(Builder *b, Block *block,
	const HloComputation *computation, Table *scope);

/* "shd.softmax" */
static const char *
composite_name(Builder *b, const Facts *facts)
{
	static const char prefix[] = "shd.";
	const Fact *f = find_fact(facts, "composite.name");

	if (!f)
		return NULL;
	const char *name = f->value;
	if (!strncmp(name, prefix, sizeof prefix - 1))
		name += sizeof prefix - 1;
	bool clean = isalpha((unsigned char)*name);
	for (const char *s = name; *s; s++)
		clean &= isalnum((unsigned char)*s) || *s == '_';
	if (!clean)
		hlo_error(b->r, f->where, "'%s' is not the name of a composite",
			f->value);
	return name;
}

static void
read_call(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	HloComputation *computation = read_to_apply(b, instr);

	op->composite = composite_name(b, facts);
	if (!computation)
		return;
	if (computation->used || computation->entry) {
		hlo_error(b->r, instr->where, "%s is applied twice",
			computation->name);
		return;
	}
	computation->used = true;
	if (++b->calls > MAX_CALLS) {
		hlo_error(b->r, instr->where, "more than %d nested calls",
			MAX_CALLS);
		return;
	}
	op->nbodies = 1;
	op->bodies = NEW_ARRAY(b->r->arena, Block *, 1);
	op->bodies[0] = block_new(b->m, op);
	build_block(b, op->bodies[0], computation, table_new(b->r->arena));
	b->calls--;
}

typedef void SpecialReader(Builder *b, const HloInstr *instr,
	const Facts *facts, Op *op);
static SpecialReader *const special_readers[OP_COUNT] = {
	[O_cumsum] = read_cumsum,
	[O_take] = read_take,
	[O_call] = read_call,
	[O_all_gather] = read_collective,
	[O_all_reduce] = read_collective,
	[O_reduce_scatter] = read_collective,
	[O_all_to_all] = read_collective,
	[O_collective_permute] = read_collective,
};

/* ---- ops ------------------------------------------------------------ */

static bool
find_kind(const char *opcode, const char *target, OpKind *kind)
{
	for (int k = 0; k < OP_COUNT; k++) {
		if (strcmp(ops[k].hlo, opcode) ||
		    (target != NULL) != (ops[k].target != NULL) ||
		    (target && strcmp(ops[k].target, target)))
			continue;
		*kind = (OpKind)k;
		return true;
	}
	return false;
}

static bool
instr_kind(Builder *b, const HloInstr *instr, OpKind *kind)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "custom_call_target");
	const char *target = NULL;
	int length;

	if (attr) {
		Cursor c = attr->value;
		target = cursor_string(&c, &length);
	}
	if (b->r->failed)
		return false;
	if (find_kind(instr->opcode, target, kind) && *kind != O_return)
		return true;
	hlo_error(b->r, instr->where, "no op of shdc is spelled '%s%s%s'",
		instr->opcode, target ? " " : "", target ? target : "");
	return false;
}

/* op_name="main/relu" source_file="ffn.shd" source_line=3 */
static void
read_metadata(Builder *b, const HloAttrs *attrs, const char **label,
	Range *range)
{
	const HloAttr *attr = hlo_attr(attrs, "metadata");
	size_t entry = strlen(b->m->entry_name);
	int length;

	if (!attr)
		return;
	Cursor c = attr->value;
	cursor_expect(&c, "{");
	while (!b->r->failed && !cursor_accept(&c, "}")) {
		const char *key = cursor_word(&c, "a key");
		cursor_expect(&c, "=");
		if (!strcmp(key, "source_line")) {
			int64_t line = cursor_integer(&c, "a line");
			range->line = line < 0 || line > INT32_MAX ? 0 :
				(int)line;
			continue;
		}
		if (!cursor_at_end(&c) && c.s[c.pos] != '"') {
			cursor_word(&c, "a value");
			continue;
		}
		const char *value = cursor_string(&c, &length);
		if (!strcmp(key, "source_file"))
			range->file = source_add_name(b->r->session, value);
		if (strcmp(key, "op_name"))
			continue;
		bool ours = !strncmp(value, b->m->entry_name, entry) &&
			value[entry] == '/';
		*label = ours ? value + entry + 1 : value;
	}
}

static void
remember(Builder *b, const void *line, const HloInstr *instr)
{
	Built built = {line, instr};

	APPEND(b->r->arena, b->built, b->nbuilt, built);
}

static Value **
find_operands(Builder *b, const HloInstr *instr, const Table *scope)
{
	Value **operands = NEW_ARRAY(b->r->arena, Value *, instr->noperands);

	for (int i = 0; i < instr->noperands; i++) {
		const HloOperand *o = &instr->operands[i];
		operands[i] = table_get(scope, o->name);
		if (!operands[i])
			hlo_error(b->r, o->where,
				"%%%s is not defined before this", o->name);
	}
	return operands;
}

static void
define(Builder *b, const HloInstr *instr, Table *scope, Value *v)
{
	if (table_get(scope, instr->name))
		hlo_error(b->r, instr->where, "%%%s is defined twice",
			instr->name);
	table_set(scope, instr->name, v);
}

static void
read_op_facts(Builder *b, const HloInstr *instr, Op *op)
{
	Facts facts = read_facts(&instr->attrs);

	op->results[0]->range = op->range;
	op->requested = fact_is(&facts, "requested", "true");
	if (special_readers[op->kind])
		special_readers[op->kind](b, instr, &facts, op);
	else
		for (int a = 0; a < ATTR_COUNT && !b->r->failed; a++)
			if (ops[op->kind].attrs >> a & 1)
				read_attr(b, instr, op, (AttrKind)a);
	read_placement(b, instr, &facts, op->results[0]);
}

static void
build_op(Builder *b, Block *block, const HloInstr *instr, Table *scope)
{
	const char *label = NULL;
	Range range = {0};
	OpKind kind;

	if (!instr_kind(b, instr, &kind))
		return;
	Value **operands = find_operands(b, instr, scope);
	if (ops[kind].operands >= 0 && instr->noperands != ops[kind].operands)
		hlo_error(b->r, instr->where, "%s has %d operands, not %d",
			instr->opcode, ops[kind].operands, instr->noperands);
	if (instr->tuple)
		hlo_error(b->r, instr->where, "%s makes a tuple",
			instr->opcode);
	read_metadata(b, &instr->attrs, &label, &range);
	if (b->r->failed)
		return;
	Op *op = op_new(b->m, kind, instr->noperands, operands, 1,
		instr->name, range, label);
	op->results[0]->type = instr->type;
	op_append(block, op);
	remember(b, op, instr);
	define(b, instr, scope, op->results[0]);
	read_op_facts(b, instr, op);
}

/* ---- computations --------------------------------------------------- */

static void
build_param(Builder *b, Block *block, const HloInstr *instr, Table *scope)
{
	Facts facts = read_facts(&instr->attrs);
	const char *label = NULL;
	Value *v = block_add_param(block, instr->name, &instr->type);

	read_metadata(b, &instr->attrs, &label, &v->range);
	remember(b, v, instr);
	define(b, instr, scope, v);
	read_placement(b, instr, &facts, v);
}

/* Parameters may come in any order; each number once, from 0 on. */
static void
build_params(Builder *b, Block *block, const HloComputation *computation,
	Table *scope)
{
	const HloInstr **params = NEW_ARRAY(b->r->arena, const HloInstr *,
		computation->n);
	int n = 0;

	for (int i = 0; i < computation->n; i++) {
		const HloInstr *instr = &computation->instrs[i];
		if (strcmp(instr->opcode, "parameter"))
			continue;
		Cursor c = instr->literal;
		int64_t index = cursor_integer(&c, "a number");
		expect_end(&c);
		if (b->r->failed)
			return;
		if (index < 0 || index >= computation->n || params[index] ||
		    instr->tuple) {
			hlo_error(b->r, instr->where,
				"parameter %lld is out of turn",
				(long long)index);
			return;
		}
		params[index] = instr;
		n++;
	}
	for (int i = 0; i < n && !b->r->failed; i++)
		if (params[i])
			build_param(b, block, params[i], scope);
		else
			hlo_error(b->r, computation->where,
				"parameter %d of %s is missing", i,
				computation->name);
}

static const HloInstr *
root_of(const HloComputation *computation)
{
	for (int i = 0; i < computation->n; i++)
		if (computation->instrs[i].root)
			return &computation->instrs[i];
	return &computation->instrs[computation->n - 1];
}

static bool
is_tuple_root(const HloComputation *computation, const HloInstr *instr)
{
	return instr == root_of(computation) &&
		!strcmp(instr->opcode, "tuple");
}

static void
build_return(Builder *b, Block *block, const HloComputation *computation,
	const Table *scope)
{
	const HloInstr *root = root_of(computation);
	bool tuple = is_tuple_root(computation, root);
	const char *label = NULL;
	Range range = {0};
	Value *value = table_get(scope, root->name);
	Value **operands = tuple ? find_operands(b, root, scope) : &value;

	read_metadata(b, &root->attrs, &label, &range);
	if (b->r->failed)
		return;
	Op *op = op_new(b->m, O_return, tuple ? root->noperands : 1, operands,
		0, NULL, range, tuple ? label : NULL);
	op_append(block, op);
	remember(b, op, root);
}

static void
build_block(Builder *b, Block *block, const HloComputation *computation,
	Table *scope)
{
	build_params(b, block, computation, scope);
	for (int i = 0; i < computation->n && !b->r->failed; i++) {
		const HloInstr *instr = &computation->instrs[i];
		if (strcmp(instr->opcode, "parameter") &&
		    !is_tuple_root(computation, instr))
			build_op(b, block, instr, scope);
	}
	if (!b->r->failed)
		build_return(b, block, computation, scope);
	/* A call whose body broke off has no result type to look at. */
	if (!b->r->failed && block->parent &&
	    block->last->noperands != block->parent->nresults)
		hlo_error(b->r, computation->where, "%s returns %d values",
			computation->name, block->last->noperands);
}

/* ---- the module's own facts ----------------------------------------- */

static bool
is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

/* X=2,Y=4 */
static void
read_mesh(Builder *b, const Fact *f)
{
	Mesh *m = &b->m->mesh;
	Cursor c = fact_cursor(b, f);

	m->naxes = 0;
	while (!cursor_at_end(&c)) {
		if (m->naxes)
			cursor_expect(&c, ",");
		MeshAxis axis = {.name = cursor_word(&c, "an axis")};
		cursor_expect(&c, "=");
		axis.size = cursor_integer(&c, "its size");
		if (b->r->failed)
			return;
		if (!is_identifier(axis.name) || m->naxes == MAX_AXES ||
		    axis.size < 1 || axis.size > MAX_DEVICES ||
		    m->ndevices * axis.size > MAX_DEVICES) {
			cursor_error(&c, "no mesh has such an axis %s",
				axis.name);
			return;
		}
		for (int i = 0; i < m->naxes; i++)
			if (!strcmp(m->axes[i].name, axis.name))
				cursor_error(&c, "axis %s is there twice",
					axis.name);
		m->ndevices *= axis.size;
		m->axes[m->naxes++] = axis;
	}
}

static void
read_topology(Builder *b, const Fact *f)
{
	Mesh *m = &b->m->mesh;
	Cursor c = fact_cursor(b, f);
	int64_t chips = 1;

	do {
		int64_t size = cursor_integer(&c, "a size");
		if (b->r->failed)
			return;
		if (m->topology_rank == 4 || size < 1 ||
		    !mul_i64(chips, size, &chips)) {
			cursor_error(&c, "no such topology");
			return;
		}
		m->topology[m->topology_rank++] = size;
	} while (cursor_accept(&c, "x"));
	expect_end(&c);
	if (!b->r->failed && chips != m->ndevices)
		cursor_error(&c, "the topology has %lld chips for %lld devices",
			(long long)chips, (long long)m->ndevices);
}

static void
read_level(Builder *b, const Fact *f)
{
	static const char *const levels[] = {
		[L_global] = "global", [L_sharded] = "sharded",
		[L_resharded] = "resharded", [L_device] = "device",
	};

	for (int i = L_global; i <= L_device; i++)
		if (!strcmp(levels[i], f->value)) {
			b->m->level = (Level)i;
			return;
		}
	hlo_error(b->r, f->where, "unknown level '%s'", f->value);
}

static void
read_target(Builder *b, const Fact *f)
{
	const Target *target = target_by_name(f->value);

	if (target)
		b->m->mesh.target = target;
	else
		hlo_error(b->r, f->where, "unknown target '%s'", f->value);
}

static void
read_entry_name(Builder *b, const Fact *f)
{
	if (is_identifier(f->value))
		b->m->entry_name = f->value;
	else
		hlo_error(b->r, f->where, "'%s' is not the name of a function",
			f->value);
}

static void
read_last_pass(Builder *b, const Fact *f)
{
	b->m->last_pass = f->value;
}

/* In the order in which they depend on each other. */
static const struct {
	const char *key;
	void (*read)(Builder *b, const Fact *f);
	bool needed;
} module_facts[] = {
	{"level", read_level, true},
	{"entry", read_entry_name, false},
	{"last_pass", read_last_pass, false},
	{"mesh", read_mesh, true},
	{"target", read_target, false},
	{"topology", read_topology, false},
};

static void
read_module_facts(Builder *b, const Facts *facts)
{
	Range start = {b->r->file, 1, 0, 9};

	for (size_t i = 0; i < sizeof module_facts / sizeof module_facts[0] &&
	    !b->r->failed; i++) {
		const Fact *f = find_fact(facts, module_facts[i].key);
		if (f)
			module_facts[i].read(b, f);
		else if (module_facts[i].needed)
			hlo_error(b->r, start, "the module's "
				"frontend_attributes do not give its %s",
				module_facts[i].key);
	}
}

/* %h, or nothing. */
static Value *
read_value_name(Builder *b, Cursor *c)
{
	if (!cursor_accept(c, "%"))
		return NULL;
	const char *name = cursor_word(c, "a value");
	Value *v = table_get(b->values, name);
	if (!v)
		cursor_error(c, "the entry has no %%%s", name);
	return v;
}

/* result.out="%out f32[8@X]" */
static Named
read_named(Builder *b, const Fact *f, const char *prefix)
{
	Cursor c = fact_cursor(b, f);
	Named n = {.name = f->key + strlen(prefix)};

	n.value = read_value_name(b, &c);
	n.placement = read_typed_spec(b, &c, &n.type);
	expect_end(&c);
	if (!b->r->failed && n.value && n.value->type.rank != n.type.rank)
		hlo_error(b->r, f->where, "%s has another rank than %%%s",
			n.name, n.value->name);
	return n;
}

/* expect.0="%h f32[8@X] as h at 7 ffn.shd" */
static void
read_expect(Builder *b, const Fact *f)
{
	Cursor c = fact_cursor(b, f);
	Expect e = {0};
	Type type;

	e.value = read_value_name(b, &c);
	e.placement = read_typed_spec(b, &c, &type);
	cursor_expect(&c, "as");
	e.name = cursor_word(&c, "a name");
	cursor_expect(&c, "at");
	int64_t line = cursor_integer(&c, "a line");
	if (b->r->failed)
		return;
	if (!e.value || e.placement.rank != e.value->type.rank) {
		hlo_error(b->r, f->where, "nothing of that rank to expect it "
			"of");
		return;
	}
	e.range.line = line > 0 && line < INT32_MAX ? (int)line : 0;
	if (!cursor_at_end(&c))
		e.range.file = source_add_name(b->r->session, c.s + c.pos);
	APPEND(b->r->arena, b->m->expects, b->m->nexpects, e);
}

/* Results in the order of the return, whatever the order of the facts. */
static void
order_results(Builder *b, const Table *results)
{
	const Op *last = b->m->entry->last;

	for (int i = 0; i < last->noperands; i++) {
		Value *v = last->operands[i];
		const Named *found = table_get(results, v->name);
		Named n = {.value = v, .type = v->type,
			.placement = v->placement};
		if (found)
			n = *found;
		else
			n.name = last->noperands == 1 ? "out" :
				arena_printf(b->r->arena, "out%d", i);
		APPEND(b->r->arena, b->m->results, b->m->nresults, n);
	}
}

static void
read_names(Builder *b, const Facts *facts)
{
	Table *results = table_new(b->r->arena);

	for (int i = 0; i < facts->n && !b->r->failed; i++) {
		const Fact *f = &facts->a[i];
		if (!strncmp(f->key, "value.", 6)) {
			Named n = read_named(b, f, "value.");
			APPEND(b->r->arena, b->m->named, b->m->nnamed, n);
		} else if (!strncmp(f->key, "expect.", 7)) {
			read_expect(b, f);
		} else if (!strncmp(f->key, "result.", 7)) {
			Named *n = NEW(b->r->arena, Named);
			*n = read_named(b, f, "result.");
			if (n->value)
				table_set(results, n->value->name, n);
		}
	}
	if (!b->r->failed)
		order_results(b, results);
}

/* ---- what the text says twice --------------------------------------- */

static bool
same_but_space(Cursor a, Cursor b)
{
	while (!cursor_at_end(&a) && !cursor_at_end(&b))
		if (a.s[a.pos++] != b.s[b.pos++])
			return false;
	return cursor_at_end(&a) && cursor_at_end(&b);
}

/* Attributes that follow from others must be what would be printed. */
static void
check_derived(Builder *b, const Op *op, const HloInstr *instr)
{
	static const char *const derived[] = {
		"window", "offset_dims", "start_index_map", "index_vector_dim",
		"slice_sizes", "replica_groups", "source_target_pairs",
	};
	HloAttrs wanted = {0};
	Text t = {0};

	text_attrs(b->m, op, &t);
	Cursor c = cursor_of_text(b->r, t.s, (int)t.n, instr->where);
	hlo_read_attrs(&c, &wanted);
	for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
		const HloAttr *seen = hlo_attr(&instr->attrs, derived[i]);
		const HloAttr *want = hlo_attr(&wanted, derived[i]);
		if (seen && want && !same_but_space(seen->value, want->value))
			hlo_error(b->r, cursor_range(&seen->value),
				"%s differs from what the other attributes of "
				"%%%s say: %.*s", derived[i], instr->name,
				want->value.end - want->value.pos,
				want->value.s + want->value.pos);
	}
	text_free(&t);
}

static void
check_all_derived(Builder *b)
{
	for (int i = 0; i < b->nbuilt && !b->r->failed; i++) {
		const HloInstr *instr = b->built[i].instr;
		OpKind kind;
		if (find_kind(instr->opcode, NULL, &kind) &&
		    special_readers[kind] && kind != O_call)
			check_derived(b, b->built[i].line, instr);
	}
}

/* ---- the whole ------------------------------------------------------ */

enum { MAX_REPORTS = 100 };

typedef struct Reports {
	Builder *b;
	int n;
} Reports;

/* A failed check of a module from a file is the user's mistake. */
static void
report_invalid(const void *line, const char *message, void *data)
{
	Reports *reports = data;
	Builder *b = reports->b;
	Range where = {b->r->file, 1, 0, 9};

	b->r->failed = true;
	if (reports->n++ >= MAX_REPORTS)
		return;
	for (int i = 0; i < b->nbuilt; i++)
		if (b->built[i].line == line)
			where = b->built[i].instr->where;
	diag(b->r->session, DIAG_hlo_invalid, where, "%s", message);
}

static void
check_partitions(Builder *b)
{
	const HloAttr *attr = hlo_attr(&b->r->attrs, "num_partitions");

	if (!attr)
		return;
	Cursor c = attr->value;
	int64_t n = cursor_integer(&c, "the number of partitions");
	if (!b->r->failed && n != b->m->mesh.ndevices)
		cursor_error(&c, "num_partitions=%lld for a mesh of %lld "
			"devices", (long long)n,
			(long long)b->m->mesh.ndevices);
}

Module *
module_read(Session *s, int file)
{
	Reading r = {.session = s, .arena = s->arena, .file = file};
	Builder b = {.r = &r};
	Reports reports = {.b = &b};

	hlo_read_text(&r);
	if (r.failed)
		return NULL;
	b.m = module_new(s, r.name);
	b.values = table_new(s->arena);
	Facts facts = read_facts(&r.attrs);
	read_module_facts(&b, &facts);
	check_partitions(&b);
	if (!r.failed)
		build_block(&b, b.m->entry, r.entry, b.values);
	if (!r.failed)
		read_names(&b, &facts);
	if (!r.failed)
		module_check(b.m, report_invalid, &reports);
	check_all_derived(&b);
	return r.failed ? NULL : b.m;
}
