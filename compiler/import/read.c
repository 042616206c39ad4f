/*
 * read.c - from the tree to ops: names, blocks, calls; what has no counterpart.
 */
#include <string.h>

#include "import/reader.h"
#include "import/builders.h"

/* ---- messages */

bool
read_wrong(Import *in, Range where, const char *fmt, ...)
{
	Text t = {0};
	va_list ap;

	if (diag_errors(in->session) > in->errors)
		return false;
	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	diag(in->session, DIAG_stablehlo, where, "%s", t.s);
	text_free(&t);
	return false;
}

/* Zeros stand for the results, so that what else is missing is found in one run. */
void
note_missing(Import *in, const char *what, Lack lack)
{
	Range r = in->make.range;
	const char *key = arena_printf(in->arena, "%s@%d:%d", what, r.file, r.line);
	Missing *missing = table_get(in->missing, key);

	if (!missing) {
		missing = NEW(in->arena, Missing);
		*missing = (Missing){what, r, 0, lack};
		table_set(in->missing, key, missing);
	}
	missing->n++;
}

bool
read_lacks(Import *in, const MlirOp *op, const char *what)
{
	note_missing(in, what, LACK_op);
	for (int i = 0; i < op->types.n; i++) {
		Type type;
		if (!type_result(in, op, i, &type))
			return false;
		in->results[i] = make_full(in->make, &type, 0);
	}
	return true;
}

/* ---- names */

void
scope_bind(Import *in, const char *name, int n, Value **values)
{
	Defined *defined = NEW(in->arena, Defined);

	*defined = (Defined){values, n};
	table_set(in->scope->names, name, defined);
}

const Defined *
scope_find(const Scope *scope, const char *name)
{
	const Defined *found = NULL;

	for (; scope && !found; scope = scope->outer)
		found = table_get(scope->names, name);
	return found;
}

/* ---- types */

static const struct ElementName {
	const char *theirs;
	DType dtype;
} elements[] = {
	{"i1", D_pred},
	{"i4", D_i4},
	{"ui4", D_u4},
	{"i8", D_i8},
	{"i16", D_i16},
	{"i32", D_i32},
	{"i64", D_i64},
	{"ui8", D_u8},
	{"ui16", D_u16},
	{"ui32", D_u32},
	{"ui64", D_u64},
	{"f8E5M2", D_f8e5m2},
	{"f8E4M3", D_f8e4m3},
	{"f8E3M4", D_f8e3m4},
	{"f8E4M3FN", D_f8e4m3fn},
	{"f8E5M2FNUZ", D_f8e5m2fnuz},
	{"f8E4M3FNUZ", D_f8e4m3fnuz},
	{"f8E4M3B11FNUZ", D_f8e4m3b11fnuz},
	{"f8E8M0FNU", D_f8e8m0fnu},
	{"f4E2M1FN", D_f4e2m1fn},
	{"f16", D_f16},
	{"bf16", D_bf16},
	{"f32", D_f32},
	{"f64", D_f64},
};

bool
type_is_complex(const MlirType *type)
{
	return !strncmp(type->element, "complex<", 8);
}

/* False after a message, of a dtype that there is none for too. */
bool
type_read(Import *in, const MlirOp *op, const MlirType *from, Type *type)
{
	Range where = op ? op->range : nowhere;
	bool pair = type_is_complex(from);
	const char *element = pair
		? arena_strndup(in->arena, from->element + 8, strcspn(from->element + 8, ">"))
		: from->element;
	size_t i = 0;

	if (!from->tensor)
		return read_wrong(in, where, "this has the type %.40s, which is no tensor",
			from->element);
	while (i < sizeof elements / sizeof *elements && strcmp(elements[i].theirs, element))
		i++;
	if (i == sizeof elements / sizeof *elements)
		return read_wrong(in, where, "shdc has no dtype for %.40s", from->element);
	bool lifts = in->lifted && !from->rank;
	*type = lifts ? *in->lifted : type_of(elements[i].dtype, from->rank, from->dims);
	type->dtype = elements[i].dtype;
	if (pair && !in->parts) {
		if (type->rank == MAX_RANK)
			return read_wrong(in, where, "a tensor of too many dims");
		type->dims[type->rank++] = 2;
	}
	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] < 1)
			return read_wrong(in, where, "a tensor with a dim of size 0");
	if (!type_can_be(type))
		return read_wrong(in, where, "a tensor of more bytes than 64 bits can count");
	return true;
}

bool
type_result(Import *in, const MlirOp *op, int i, Type *type)
{
	if (i >= op->types.n)
		return read_wrong(in, op->range, "%s has no result", op->name);
	return type_read(in, op, op->types.v[i], type);
}

/* ---- ops */

static bool
find_operands(Import *in, const MlirOp *op)
{
	in->noperands = op->operands.n;
	in->operands = NEW_ARRAY(in->arena, Value *, op->operands.n + 1);
	for (int i = 0; i < op->operands.n; i++) {
		const MlirUse *use = op->operands.v[i];
		const Defined *defined = scope_find(in->scope, use->name);
		if (!defined || use->number >= defined->n)
			return read_wrong(in, use->range, "no value %%%s is defined here",
				use->name);
		in->operands[i] = defined->values[use->number];
	}
	return true;
}

/* The values of its results, by their names; there are as many (mlir_make.c). */
static void
bind_results(Import *in, const MlirOp *op)
{
	int at = 0;

	for (int i = 0; i < op->results.n; i++) {
		const MlirUse *use = op->results.v[i];
		scope_bind(in, use->name, use->number, in->results + at);
		at += use->number;
	}
}

/* What the builder made has the types that the text says. */
static bool
check_results(Import *in, const MlirOp *op)
{
	for (int i = 0; i < op->types.n; i++) {
		Type type;
		if (!type_result(in, op, i, &type))
			return false;
		if (!in->results[i])
			return diag_errors(in->session) > 0
				|| read_wrong(in, op->range, "%s has fewer results", op->name);
		if (!type_equal(&type, &in->results[i]->type))
			return read_wrong(in, op->range, "%s makes %s of its operands, not %s",
				op->name, type_shape(in->arena, &in->results[i]->type),
				type_shape(in->arena, &type));
		in->results[i]->pair = type_is_complex(op->types.v[i]);
	}
	return true;
}

/* Ops that the table of the IR refuses are the text's mistakes. */
static void
refused(void *owner, DiagCode code, Range where, const char *why)
{
	Import *in = owner;

	(void)code;
	read_wrong(in, where, "%s", why);
}

static bool
entered(void *owner, Op *made)
{
	Import *in = owner;

	if (++in->nops == MAX_IMPORTED)
		diag(in->session, DIAG_too_large, made->range,
			"the program has more than %d operations", MAX_IMPORTED);
	return in->nops < MAX_IMPORTED;
}

Make
make_at(Import *in, const MlirOp *op)
{
	const char *dot = strchr(op->name, '.');
	const char *label = place_label(in, op->place);

	return (Make){.module = in->module,
		.block = in->block,
		.range = place_range(in, op->place, op->range),
		.label =
			label ? label : arena_printf(in->arena, "%s", dot ? dot + 1 : op->name),
		.enter = entered,
		.refuse = refused,
		.owner = in};
}

/* An op without a line of Python has that of what it is made of. */
static void
place_by_operands(Import *in, const MlirOp *op)
{
	bool own = !range_equal(in->make.range, op->range);

	for (int i = 0; i < in->noperands && !own; i++) {
		const Op *made = in->operands[i]->def;
		own = made && made->range.file && made->range.file != op->range.file;
		if (own)
			in->make.range = made->range;
	}
}

static bool
is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Does it hand on values as they are, those of other blocks, too? */
static bool
hands_on(const MlirOp *op)
{
	static const char *const names[] = {"func.call", "stablehlo.while", "stablehlo.case",
		"stablehlo.if", "stablehlo.custom_call", "sdy.manual_computation",
		"sdy.sharding_constraint", "sdy.sharding_group"};

	return is_one_of(op->name, names, sizeof names / sizeof *names);
}

/* Parts of tensors are read together with what is made of them (shifts.c, widen.c). */
static bool
is_part(const Value *v)
{
	const Op *made = v->def;

	return made
		&& (made->kind == O_slice || made->kind == O_concatenate
			|| made->kind == O_pad);
}

/* The result is the operand: it gets a placement of its own. */
static void
keep_result_apart(Import *in, int result, int operand)
{
	Value *v = in->operands[operand];

	if (in->results[result] == v && v->type.rank && !value_is_literal(v) && !is_part(v))
		in->results[result] = make_same(in->make, v);
}

/* What any other op makes is placed by itself, though it be what it is made of: a slice that
   is all of x, x padded with nothing, what is behind a barrier.  Of several results each is
   made of the operand in its place. */
static void
keep_apart(Import *in, const MlirOp *op)
{
	int n = op->types.n;

	if (in->lifted || hands_on(op))
		return;
	for (int k = 0; k < in->noperands && n == 1; k++)
		keep_result_apart(in, 0, k);
	for (int i = 0; i < n && i < in->noperands && n > 1; i++)
		keep_result_apart(in, i, i);
}

static bool
read_op(Import *in, const MlirOp *op)
{
	const ImportRow *row = table_get(in->rows, op->name);
	int errors = diag_errors(in->session);

	in->make = make_at(in, op);
	if (!find_operands(in, op))
		return false;
	place_by_operands(in, op);
	names_note(in, op);
	in->results = NEW_ARRAY(in->arena, Value *, op->types.n + 1);
	Value **results = in->results;
	bool right;
	if (!in->complex(in, op, row, &right))
		right = row ? row->build(in, op, row->detail) : read_opaque(in, op, NULL);
	in->results = results;
	if (right && row && in->results[0])
		keep_apart(in, op);
	right = right && diag_errors(in->session) == errors && check_results(in, op);
	if (right && !in->lifted)
		expression_note(in, op);
	right = right && (in->lifted || asked_place(in, op));
	if (right)
		bind_results(in, op);
	return right;
}

bool
ends_block(const MlirOp *op)
{
	static const char *const names[] = {"return", "func.return", "stablehlo.return",
		"sdy.return"};

	return is_one_of(op->name, names, sizeof names / sizeof *names);
}

Value **
read_block(Import *in, const MlirBlock *block, Value *const *args, int *n)
{
	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		Value **value = arena_copy(in->arena, &args[i], sizeof args[i]);
		scope_bind(in, param->name ? param->name : "", 1, value);
	}
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *op = block->ops.v[i];
		if (ends_block(op)) {
			if (!find_operands(in, op))
				return NULL;
			*n = in->noperands;
			return in->operands;
		}
		if (!read_op(in, op))
			return NULL;
	}
	read_wrong(in, block->range, "this block returns nothing");
	return NULL;
}
