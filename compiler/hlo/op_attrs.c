/*
 * op_attrs.c - ops that HLO spells in a way of their own.
 *
 * Each has a row below, with both directions.  What follows from other
 * attributes (windows, the other dims of a gather) is printed and not read:
 * program_read.c compares it with what would be printed.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

const char composite_prefix[] = "shd.";

const BodyWords *
body_words(OpKind kind)
{
	static const BodyWords words[] = {
		{O_call, {"to_apply"}, {"body"}, false},
		{O_manual, {"called_computations"}, {"manual"}, true},
		{O_fusion, {"calls"}, {"fused"}, false},
		{O_while, {"condition", "body"}, {"cond", "body"}, false},
		{O_if, {"true_computation", "false_computation"}, {"then", "else"}, false},
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].kind == kind)
			return &words[i];
	die("no words for the bodies of %s", ops[kind].name);
}

bool
body_takes_tuple(const Block *b)
{
	return b->parent && ops[b->parent->kind].bodies == 2;
}

/* The dim an op works along; -1: it does not say. */
static int64_t
attr_dim(const Op *op)
{
	return op_ints(op, A_dim)->n ? op_int(op, A_dim) : -1;
}

static void
read_adder(const ReadLine *in)
{
	if (read_combiner(in) != C_add)
		line_error(in, "a %s that does not add", in->instr->opcode);
}

/*
 * reduce-window(%x, %zero), window={size=1x8 pad=0_0x7_0}, to_apply=%add_f32,
 *   frontend_attributes={dim="1"}
 *
 * A window as long as the dim that ends at each element.  The dim is a fact
 * of its own, for one of size 1 has no window to tell it by.
 */
static void
print_cumsum(Line *line, const Op *op)
{
	const Type *type = &op->operands[0]->type;
	int64_t dim = attr_dim(op);
	bool trivial = true;
	Text pad = {0};

	text_add(line->t, ", window={size=");
	for (int d = 0; d < type->rank; d++) {
		int64_t size = d == dim ? type->dims[d] : 1;
		trivial &= size == 1;
		text_printf(line->t, "%s%lld", d ? "x" : "", (long long)size);
		text_printf(&pad, "%s%lld_0", d ? "x" : "", (long long)(size - 1));
	}
	if (!trivial)
		text_printf(line->t, " pad=%s", pad.s);
	text_add(line->t, "}");
	text_free(&pad);
	print_to_apply(line, (Combiner)op_int(op, A_combiner), type->dtype);
	line_fact_numbers(line, "dim", 1, &dim);
}

static void
read_cumsum(const ReadLine *in, Op *op)
{
	const Fact *f = line_needs_fact(in, "dim");

	op_set_int(op, A_combiner, read_combiner(in));
	if (f)
		op_set_int(op, A_dim, cursor_only(fact_cursor(in->rd, f), "a dim"));
}

/* Where the other dims of x are in take(x, idx, dim), or in such updates. */
static void
print_kept_dims(Line *line, const char *attr, const Op *op)
{
	Lookup look = op_lookup(op);
	int64_t kept[MAX_RANK];
	int n = 0;

	for (int d = 0; d < look.first; d++)
		kept[n++] = d;
	for (int d = look.first + look.n; d < op->operands[0]->type.rank; d++)
		kept[n++] = d - look.n + look.rank;
	text_printf(line->t, ", %s=", attr);
	text_list(line->t, n, kept);
}

/* The dims of x that are looked up, twice, and where an index of each is. */
static void
print_looked_up(Line *line, const Op *op, const char *attr, const char *again)
{
	const Ints *dims = op_ints(op, A_dim);

	text_printf(line->t, ", %s=", attr);
	text_list(line->t, dims->n, dims->v);
	text_printf(line->t, ", %s=", again);
	text_list(line->t, dims->n, dims->v);
	text_printf(line->t, ", index_vector_dim=%d", op_lookup(op).rank);
}

/* gather(%x, %idx) of whole slices along collapsed_slice_dims. */
static void
print_take(Line *line, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	int64_t sizes[MAX_RANK];

	for (int d = 0; d < x->rank; d++)
		sizes[d] = ints_contain(op_ints(op, A_dim), d) ? 1 : x->dims[d];
	print_kept_dims(line, "offset_dims", op);
	print_looked_up(line, op, "collapsed_slice_dims", "start_index_map");
	text_add(line->t, ", slice_sizes=");
	text_list(line->t, x->rank, sizes);
	print_attr(line, op, A_counted);
}

static void
read_take(const ReadLine *in, Op *op)
{
	read_list(in, "collapsed_slice_dims", op, A_dim);
	read_attr(in, op, A_counted);
}

/* scatter(%x, %idx, %updates) of whole slices along inserted_window_dims. */
static void
print_scatter(Line *line, const Op *op)
{
	print_kept_dims(line, "update_window_dims", op);
	print_looked_up(line, op, "inserted_window_dims", "scatter_dims_to_operand_dims");
	print_to_apply(line, C_add, op->operands[0]->type.dtype);
	print_attr(line, op, A_counted);
}

static void
read_scatter(const ReadLine *in, Op *op)
{
	read_list(in, "inserted_window_dims", op, A_dim);
	read_attr(in, op, A_counted);
	read_adder(in);
}

static void
print_sort(Line *line, const Op *op)
{
	Text t = {0};
	const char *name =
		arena_printf(line->pr->arena, "compare.%d", ++line->pr->ncomputations);

	print_attr(line, op, A_dim);
	print_attr(line, op, A_scratch);
	text_printf(line->t, ", is_stable=true, to_apply=%%%s", name);
	if (op->noperands && op_has(op, A_direction)) {
		text_comparator(&t, name, op);
		computation_done(line->pr, &t);
	}
	text_free(&t);
}

static void
read_sort(const ReadLine *in, Op *op)
{
	const HloAttr *stable = hlo_attr(&in->instr->attrs, "is_stable");
	const HloComputation *computation = read_applied(in, "to_apply");
	Direction direction = DIR_LT;

	read_attr(in, op, A_dim);
	read_attr(in, op, A_scratch);
	if (in->rd->failed)
		return;
	Cursor c = stable ? stable->value : in->instr->literal;
	if (!stable || !cursor_accept(&c, "true"))
		line_error(in, "a sort that is not stable");
	else if (!op->noperands || !read_comparator(computation, op, &direction))
		line_error(in, "%s does not compare in a way known here", computation->name);
	op_set_int(op, A_direction, direction);
}

static void
print_manual(Line *line, const Op *op)
{
	const Mesh *mesh = &line->pr->m->mesh;

	if (!op->axes || !op->specs)
		return;
	if (group_is_sane(mesh, op->axes))
		line_axes(line, "axes", op->axes);
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Type *type = &rule_tensor(op, i)->type;
		Text value = {0};
		if (placement_is_sane(mesh, &op->specs[i]) && op->specs[i].rank == type->rank)
			text_type(&value, mesh, type, &op->specs[i]);
		line_fact_text(line, arena_printf(line->pr->arena, "spec.%d", i), &value);
	}
}

static void
read_manual(const ReadLine *in, Op *op)
{
	Reading *rd = in->rd;
	int n = op->noperands + op->nresults;

	op->axes = read_axes_fact(in, "axes");
	op->specs = NEW_ARRAY(rd->arena, Placement, n + 1);
	for (int i = 0; i < n && !rd->failed; i++) {
		const Value *v = rule_tensor(op, i);
		const Fact *f = line_needs_fact(in, arena_printf(rd->arena, "spec.%d", i));
		Type type;
		if (!f)
			return;
		Cursor c = fact_cursor(rd, f);
		op->specs[i] = read_typed_spec(&c, &type);
		cursor_expect_end(&c);
		if (!rd->failed && !type_equal(&type, &v->type))
			hlo_error(rd, f->where, "%s is not the type of %%%s", f->value,
				v->name);
	}
}

/* axes="X,Y" */
static void
print_uniform(Line *line, const Op *op)
{
	if (op->axes && group_is_sane(&line->pr->m->mesh, op->axes))
		line_axes(line, "axes", op->axes);
}

static void
read_uniform(const ReadLine *in, Op *op)
{
	op->axes = read_axes_fact(in, "axes");
}

/* extern.name="swish" ... extern.declared="act.shd:7" */
static void
print_extern(Line *line, const Op *op)
{
	const External *x = op->external;
	Text declared = {0};

	if (!x)
		return;
	line_fact(line, "extern.name", x->name);
	line_fact(line, "extern.symbol", x->symbol);
	line_fact(line, "extern.library", x->library);
	line_fact(line, "extern.rule", x->rule);
	if (x->priced) {
		Text costs = {0};
		text_printf(&costs, "%lld,%lld,%lld", (long long)x->flops, (long long)x->bytes,
			(long long)x->transcendentals);
		line_fact_text(line, "extern.costs", &costs);
	}
	if (!x->declared.file)
		return;
	text_printf(&declared, "%s:%d", source_path(line->pr->m->session, x->declared.file),
		x->declared.line);
	line_fact_text(line, "extern.declared", &declared);
}

/* extern.costs="1000,2000,0": of one call the operations, bytes and transcendentals */
static void
read_costs(const ReadLine *in, External *x)
{
	const Fact *f = find_fact(&in->facts, "extern.costs");
	int64_t *costs[] = {&x->flops, &x->bytes, &x->transcendentals};

	x->priced = f != NULL;
	if (!f)
		return;
	Cursor c = cursor_of_text(in->rd, f->value, (int)strlen(f->value), f->where);
	for (int i = 0; i < 3; i++) {
		if (i)
			cursor_expect(&c, ",");
		*costs[i] = cursor_integer(&c, "a cost");
		if (*costs[i] < 0)
			cursor_error(&c, "a cost is not negative");
	}
	cursor_expect_end(&c);
}

static void
read_extern(const ReadLine *in, Op *op)
{
	Reading *rd = in->rd;
	External *x = NEW(rd->arena, External);
	const struct {
		const char *key, **value;
	} texts[] = {{"extern.name", &x->name}, {"extern.symbol", &x->symbol},
		{"extern.library", &x->library}, {"extern.rule", &x->rule}};
	const Fact *f = find_fact(&in->facts, "extern.declared");
	const char *colon = f ? strrchr(f->value, ':') : NULL;

	op->external = x;
	if (colon) {
		Cursor c = cursor_of_text(rd, colon + 1, (int)strlen(colon + 1), f->where);
		x->declared.line = cursor_line(&c);
		cursor_expect_end(&c);
		x->declared.file = source_add_name(rd->session,
			arena_strndup(rd->arena, f->value, (size_t)(colon - f->value)));
	}
	for (int i = 0; i < 4; i++) {
		f = line_needs_fact(in, texts[i].key);
		*texts[i].value = f ? f->value : "";
		if (f && !*f->value && texts[i].value != &x->library) /* opaque */
			line_error(in, "the fact '%s' is empty", f->key);
	}
	read_costs(in, x);
	int at;
	const char *wrong = extern_rule_parse(rd->arena, x->rule, &x->parsed, &at);
	if (!wrong && x->parsed.sized && *x->library)
		wrong = "only of an op that is nobody's a rule says sizes";
	if (wrong && !rd->failed)
		hlo_error(rd, find_fact(&in->facts, "extern.rule")->where, "%s", wrong);
}

static const struct OpSpelling {
	OpKind kind;
	bool derived; /* something of it follows from other attributes */
	void (*print)(Line *line, const Op *op);
	void (*read)(const ReadLine *in, Op *op);
} spellings[] = {
	{O_cumsum, true, print_cumsum, read_cumsum},
	{O_take, true, print_take, read_take},
	{O_scatter_add, true, print_scatter, read_scatter},
	{O_sort, false, print_sort, read_sort},
	{O_extern, false, print_extern, read_extern},
	{O_manual, false, print_manual, read_manual},
	{O_uniform, false, print_uniform, read_uniform},
};

/* NULL: an op whose attributes are what its row in ops.def says. */
static const struct OpSpelling *
spelling_of(const Op *op)
{
	static const struct OpSpelling collective = {O_return, true, print_group, read_group};

	if (op_communicates(op))
		return &collective;
	for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
		if (spellings[i].kind == op->kind)
			return &spellings[i];
	return NULL;
}

void
print_op_attrs(Line *line, const Op *op)
{
	const struct OpSpelling *spelling = spelling_of(op);

	if (spelling)
		spelling->print(line, op);
	else
		print_attrs(line, op);
}

void
read_op_attrs(const ReadLine *in, Op *op)
{
	const struct OpSpelling *spelling = spelling_of(op);

	if (spelling)
		spelling->read(in, op);
	else
		read_attrs(in, op);
}

void
check_derived(const ReadLine *in, const Op *op)
{
	static const char *const derived[] = {"window", "offset_dims", "start_index_map",
		"index_vector_dim", "slice_sizes", "update_window_dims",
		"scatter_dims_to_operand_dims", "replica_groups", "source_target_pairs"};
	const struct OpSpelling *spelling = spelling_of(op);
	Printer pr = {.m = in->rd->m, .arena = in->rd->arena};
	HloAttrs wanted = {0};
	Text t = {0};
	Line line = {.pr = &pr, .t = &t};

	if (!spelling || !spelling->derived)
		return;
	spelling->print(&line, op);
	Cursor c = cursor_of_text(in->rd, t.s, (int)t.n, in->instr->where);
	hlo_read_attrs(&c, &wanted);
	for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
		const HloAttr *seen = hlo_attr(&in->instr->attrs, derived[i]);
		const HloAttr *want = hlo_attr(&wanted, derived[i]);
		if (!seen || !want)
			continue;
		Cursor said = seen->value;
		if (!cursor_same(&said, want->value) || !cursor_at_end(&said))
			hlo_error(in->rd, cursor_range(&seen->value),
				"%s differs from what the other attributes of %%%s say: %.*s",
				derived[i], in->instr->name, want->value.end - want->value.pos,
				want->value.s + want->value.pos);
	}
	text_free(&line.facts);
	text_free(&t);
}
