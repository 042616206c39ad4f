/*
 * mlir_make.c - the nodes of StableHLO's tree, and the tokens with a value.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mlir.tab.h"

enum { MOST_RESULTS = 1 << 20 };

/* ---- messages ---------------------------------------------------------------------- */

/* The first mistake is told: what follows may be because of it. */
void
mlir_wrong(MlirParser *parser, Range r, const char *fmt, ...)
{
	Text t = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	if (!parser->wrong)
		diag(parser->session, DIAG_stablehlo, r, "%s", t.s);
	parser->wrong = true;
	text_free(&t);
}

/* `expected`: as many as there are names for; n 0: more. */
void
mlir_unexpected(MlirParser *parser, Range where, const char *found, int n,
	const char *const *expected)
{
	Text t = {0};

	for (int i = 0; i < n; i++)
		text_printf(&t, strchr(expected[i], ' ') ? "%s%s" : "%s'%s'",
			!i		    ? ", expected "
				: i < n - 1 ? ", "
					    : " or ",
			expected[i]);
	mlir_wrong(parser, where, "unexpected %s%s", found == NULL ? "text" : found,
		t.n ? t.s : "");
	text_free(&t);
}

void
mlir_too_deep(MlirParser *parser, Range where)
{
	if (!parser->wrong)
		diag(parser->session, DIAG_nesting, where,
			"regions, lists or locations are nested too deeply here");
	parser->wrong = true;
}

/* ---- tokens ------------------------------------------------------------------------ */

static const struct MlirWord {
	const char *text;
	int token;
} words[] = {
	{"module", MT_MODULE},
	{"builtin.module", MT_MODULE},
	{"func.func", MT_FUNC},
	{"return", MT_RETURN},
	{"func.return", MT_RETURN},
	{"stablehlo.return", MT_RETURN},
	{"sdy.return", MT_RETURN},
	{"call", MT_CALL},
	{"func.call", MT_CALL},
	{"stablehlo.while", MT_WHILE},
	{"stablehlo.reduce", MT_REDUCE},
	{"stablehlo.custom_call", MT_CUSTOM_CALL},
	{"stablehlo.composite", MT_COMPOSITE},
	{"stablehlo.convolution", MT_CONVOLUTION},
	{"chlo.top_k", MT_TOP_K},
	{"stablehlo.get_tuple_element", MT_TUPLE_ELEMENT},
	{"sdy.mesh", MT_MESH},
	{"sdy.manual_computation", MT_MANUAL},
	{"loc", MT_LOC},
	{"callsite", MT_CALLSITE},
	{"fused", MT_FUSED},
	{"unknown", MT_UNKNOWN},
	{"at", MT_AT},
	{"to", MT_TO},
	{"attributes", MT_ATTRIBUTES},
	{"public", MT_PUBLIC},
	{"private", MT_PRIVATE},
	{"cond", MT_COND},
	{"do", MT_DO},
	{"applies", MT_APPLIES},
	{"across", MT_ACROSS},
	{"dimensions", MT_DIMENSIONS},
	{"init", MT_INIT},
	{"reducer", MT_REDUCER},
	{"in_shardings", MT_IN_SHARDINGS},
	{"out_shardings", MT_OUT_SHARDINGS},
	{"manual_axes", MT_MANUAL_AXES_ARE},
	{"replicated", MT_REPLICATED},
	{"unreduced", MT_UNREDUCED},
	{"x", MT_X},
};

static const char *
copied(MlirParser *parser, const char *text, size_t n)
{
	return arena_strndup(parser->session->arena, text, n);
}

int
mlir_scan_word(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	(void)r;
	value->text = copied(parser, text, strlen(text));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].text, text) == 0)
			return words[i].token;
	return MT_WORD;
}

/* %3, %3#1 */
int
mlir_scan_value(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	size_t n = strcspn(text, "#");
	long number = text[n] ? strtol(text + n + 1, NULL, 10) : 0;

	if (number > MOST_RESULTS) {
		mlir_wrong(parser, r, "no op has that many results");
		return MT_MALFORMED;
	}
	value->use = (MlirUse){copied(parser, text + 1, n - 1), (int)number, r};
	return MT_VALUE;
}

static int
hex_digit(char c)
{
	return isdigit((unsigned char)c)     ? c - '0'
		: isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					     : -1;
}

/* What \" \\ \n \t and \C3 stand for; *from goes to the last letter of it. */
static char
escaped(const char **from)
{
	int high = hex_digit((*from)[1]), low = high < 0 ? -1 : hex_digit((*from)[2]);

	++*from;
	if (low >= 0 && high * 16 + low) {
		++*from;
		return (char)(high * 16 + low);
	}
	return **from == 'n' ? '\n' : **from == 't' ? '\t' : **from;
}

/* Without quotes and escapes. */
static const char *
unquoted(MlirParser *parser, const char *text)
{
	char *s = arena_strndup(parser->session->arena, text + 1, strlen(text) - 2), *to = s;

	for (const char *from = s; *from; from++)
		*to++ = *from == '\\' && from[1] ? escaped(&from) : *from;
	*to = '\0';
	return s;
}

int
mlir_scan_symbol(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	(void)r;
	value->text = text[1] == '"' ? unquoted(parser, text + 1)
				     : copied(parser, text + 1, strlen(text + 1));
	return MT_SYMBOL;
}

int
mlir_scan_string(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	(void)r;
	value->text = unquoted(parser, text);
	return MT_STRING;
}

/* #stablehlo<precision DEFAULT> */
int
mlir_scan_choice(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	const char *word = strchr(text, ' ') + 1;

	(void)r;
	value->text = copied(parser, word, strlen(word) - 1);
	return MT_CHOICE;
}

int
mlir_scan_alias(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	value->text = copied(parser, text, strlen(text));
	table_add(parser->used, value->text, arena_copy(parser->session->arena, &r, sizeof r));
	return MT_ALIAS;
}

int
mlir_scan_other(MlirParser *parser, MLIR_STYPE *value, Range r)
{
	value->text = source_text(parser->session, parser->session->arena, r);
	return MT_OTHER_ATTRIBUTE;
}

/* Decimal, or the bits 0x.. of a float. */
int
mlir_scan_integer(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	bool hex = text[0] == '0' && text[1] == 'x';

	errno = 0;
	value->integer = hex ? (int64_t)strtoull(text, NULL, 16) : strtoll(text, NULL, 10);
	if (errno == 0)
		return MT_INTEGER;
	mlir_wrong(parser, r, "this integer does not fit in 64 bits");
	return MT_MALFORMED;
}

int
mlir_scan_float(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	(void)parser;
	(void)r;
	value->real = strtod(text, NULL);
	return MT_FLOAT;
}

int
mlir_scan_type(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text)
{
	value->type = mlir_type(parser, r, text);
	return value->type ? MT_TENSOR : MT_MALFORMED;
}

/* The text between < and > stays where it is. */
int
mlir_scan_dense(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text, size_t n)
{
	static const size_t before = sizeof "dense<" - 1;
	const SourceFile *f = source_file(parser->session, parser->file);
	MlirAttr *dense = NEW(parser->session->arena, MlirAttr);

	(void)text;
	dense->kind = MLIR_dense;
	dense->range = r;
	dense->text = f->text + r.begin + before;
	dense->length = (int)(n - before) - 1;
	value->attr = dense;
	return MT_DENSE;
}

/* ---- lists and numbers --------------------------------------------------------------- */

List
mlir_add(MlirParser *parser, List l, void *item)
{
	APPEND(parser->session->arena, l.v, l.n, item);
	return l;
}

List
mlir_join(MlirParser *parser, List l, List more)
{
	for (int i = 0; i < more.n; i++)
		l = mlir_add(parser, l, more.v[i]);
	return l;
}

/* A line, a column. */
int
mlir_small(MlirParser *parser, int64_t n, Range r)
{
	if (n < 0 || n > INT32_MAX)
		mlir_wrong(parser, r, "%" PRId64 " is no line or column", n);
	return (int)n;
}

/* How many results. */
int
mlir_count(MlirParser *parser, int64_t n, Range r)
{
	if (n >= 1 && n <= MOST_RESULTS)
		return (int)n;
	mlir_wrong(parser, r, "no op has %" PRId64 " results", n);
	return 1;
}

void
mlir_part(MlirParser *parser, const MlirAxis *axis)
{
	if (axis->pre < 1 || axis->size < 2)
		mlir_wrong(parser, axis->range, "axis \"%.40s\" has no such part", axis->name);
}

int
mlir_priority(MlirParser *parser, const char *text, Range r)
{
	char *end;
	long n = text[0] == 'p' ? strtol(text + 1, &end, 10) : -1;

	if (n >= 0 && n <= UINT8_MAX && *end == '\0')
		return (int)n;
	mlir_wrong(parser, r, "'%.40s' is not a priority; one is p0, p1, ...", text);
	return 0;
}

/* ---- types -------------------------------------------------------------------------- */

/* 2x3xf32: false after a message. */
static bool
read_shape(MlirParser *parser, Range r, const char *text, size_t n, MlirType *type)
{
	const char *end = text + n;

	while (text < end && *text >= '0' && *text <= '9') {
		int64_t size = 0;
		for (; *text >= '0' && *text <= '9'; text++)
			if (!mul_i64(size, 10, &size) || !add_i64(size, *text - '0', &size))
				mlir_wrong(parser, r, "a dim does not fit in 64 bits");
		if (type->rank == MAX_RANK)
			mlir_wrong(parser, r, "a tensor has at most %d dims", MAX_RANK);
		if (parser->wrong || *text != 'x')
			break;
		type->dims[type->rank++] = size;
		text++;
	}
	if (!parser->wrong && (*text == '?' || *text == '*'))
		mlir_wrong(parser, r, "a dim has no size; programs of JAX have all of them");
	size_t element = (size_t)(end - text);
	const char *encoding = memchr(text, ',', element);
	if (encoding && !memchr(text, '<', element))
		element = (size_t)(encoding - text);
	type->element = copied(parser, text, element);
	return !parser->wrong;
}

const MlirType *
mlir_type(MlirParser *parser, Range r, const char *text)
{
	static const size_t before = sizeof "tensor<" - 1;
	MlirType *type = table_get(parser->types, text);

	if (type)
		return type;
	type = NEW(parser->session->arena, MlirType);
	type->tensor = strncmp(text, "tensor<", before) == 0;
	if (!type->tensor)
		type->element = copied(parser, text, strlen(text));
	else if (!read_shape(parser, r, text + before, strlen(text) - before - 1, type))
		return NULL;
	table_set(parser->types, copied(parser, text, strlen(text)), type);
	return type;
}

const MlirType *
mlir_element(MlirParser *parser, const char *text)
{
	return mlir_type(parser, nowhere, text);
}

/* ---- the middle of an op ---------------------------------------------------------------- */

MlirItems
mlir_items(MlirParser *parser, MlirItems items, MlirItems more)
{
	items.values = mlir_join(parser, items.values, more.values);
	items.loose = mlir_join(parser, items.loose, more.loose);
	items.entries = mlir_join(parser, items.entries, more.entries);
	return items;
}

MlirItems
mlir_loose(MlirParser *parser, MlirAttr *value)
{
	return (MlirItems){.loose = mlir_add(parser, (List){0}, value)};
}

static MlirEntry *
entry_new(MlirParser *parser, const char *name, MlirAttr *value)
{
	return arena_copy(parser->session->arena, &(MlirEntry){name, value}, sizeof(MlirEntry));
}

static MlirAttr *
attr_new(MlirParser *parser, MlirAttr attr)
{
	return arena_copy(parser->session->arena, &attr, sizeof attr);
}

MlirItems
mlir_entry(MlirParser *parser, const char *name, MlirAttr *value)
{
	return (MlirItems){
		.entries = mlir_add(parser, (List){0}, entry_new(parser, name, value))};
}

/* [0:8:2], as a list of three. */
MlirAttr *
mlir_range(MlirParser *parser, Range r, int64_t from, int64_t to, int64_t step)
{
	const int64_t parts[] = {from, to, step};
	MlirAttr range = {.kind = MLIR_list, .range = r};

	for (int i = 0; i < 3; i++)
		range.items = mlir_add(parser, range.items,
			attr_new(parser,
				(MlirAttr){.kind = MLIR_integer,
					.range = r,
					.integer = parts[i]}));
	return attr_new(parser, range);
}

MlirItems
mlir_sliced(MlirParser *parser, MlirUse *value, List ranges)
{
	static const char *const names[] = {"start_indices", "limit_indices", "strides"};
	MlirItems items = {.values = mlir_add(parser, (List){0}, value)};

	for (int part = 0; part < 3; part++) {
		MlirAttr list = {.kind = MLIR_list, .range = value->range};
		for (int d = 0; d < ranges.n; d++)
			list.items = mlir_add(parser, list.items,
				((MlirAttr *)ranges.v[d])->items.v[part]);
		items.entries = mlir_add(parser, items.entries,
			entry_new(parser, names[part], attr_new(parser, list)));
	}
	return items;
}

MlirAttr *
mlir_pair(MlirParser *parser, MlirAttr *left, MlirAttr *right)
{
	List both = mlir_add(parser, mlir_add(parser, (List){0}, left), right);

	return attr_new(parser,
		(MlirAttr){.kind = MLIR_pair,
			.range = range_join(left->range, right->range),
			.items = both});
}

MlirAttr *
mlir_triple(MlirParser *parser, MlirAttr *left, MlirAttr *right, MlirAttr *result)
{
	MlirAttr *all = mlir_pair(parser, left, right);

	all->items = mlir_add(parser, all->items, result);
	return all;
}

/* ---- ops --------------------------------------------------------------------------- */

/* What the generic form calls an attribute. */
static const char *
generic_name(const char *op, const char *written)
{
	static const struct Form {
		const char *op, *written, *attribute;
	} forms[] = {
#define FORM(op, written, attribute) {op, written, attribute},
#include "mlir_forms.def"
#undef FORM
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (!strcmp(forms[i].op, op) && !strcmp(forms[i].written, written))
			return forms[i].attribute;
	return written;
}

void
mlir_give(MlirParser *parser, MlirOp *op, const char *name, MlirAttr *value)
{
	op->attributes = mlir_add(parser, op->attributes, entry_new(parser, name, value));
}

/*
 * batching_dims = [0] x [1], contracting_dims = [2] x [2] of a dot:
 *   dot_dimension_numbers = {lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], ..}
 */
static void
give_dot_numbers(MlirParser *parser, MlirOp *op)
{
	MlirAttr numbers = {.kind = MLIR_dict, .range = op->range};
	List rest = {0};

	for (int i = 0; i < op->attributes.n; i++) {
		MlirEntry *entry = op->attributes.v[i];
		List sides = entry->value->items;
		if (entry->value->kind != MLIR_pair) {
			rest = mlir_add(parser, rest, entry);
			continue;
		}
		for (int side = 0; side < 2; side++)
			numbers.items = mlir_add(parser, numbers.items,
				entry_new(parser,
					arena_printf(parser->session->arena, "%s_%s_dimensions",
						side ? "rhs" : "lhs", entry->name),
					sides.v[side]));
	}
	op->attributes = rest;
	mlir_give(parser, op, "dot_dimension_numbers", attr_new(parser, numbers));
}

/* window = {stride = [2, 2]} of a convolution is what it says. */
static void
give_entries(MlirParser *parser, MlirOp *op, List entries)
{
	bool convolves = !strcmp(op->name, "stablehlo.convolution");

	for (int i = 0; i < entries.n; i++) {
		const MlirEntry *entry = entries.v[i];
		bool window = convolves && !strcmp(entry->name, "window")
			&& entry->value->kind == MLIR_dict;
		List inside = entry->value->items;
		for (int j = 0; window && j < inside.n; j++) {
			const MlirEntry *e = inside.v[j];
			mlir_give(parser, op, generic_name(op->name, e->name), e->value);
		}
		if (!window)
			mlir_give(parser, op, generic_name(op->name, entry->name),
				entry->value);
	}
}

MlirOp *
mlir_op(MlirParser *parser, const char *name, Range r, const MlirItems *items, List attributes,
	List types)
{
	MlirOp *op = NEW(parser->session->arena, MlirOp);
	char position[] = "0";

	*op = (MlirOp){.name = name,
		.range = r,
		.operands = items->values,
		.attributes = attributes,
		.types = types};
	for (int i = 0; i < items->loose.n && i < 10; i++) {
		position[0] = (char)('0' + i);
		mlir_give(parser, op, generic_name(name, position), items->loose.v[i]);
	}
	give_entries(parser, op, items->entries);
	if (!strcmp(name, "stablehlo.dot_general"))
		give_dot_numbers(parser, op);
	return op;
}

List
mlir_alike(MlirParser *parser, const MlirOp *op, List types)
{
	int n = op->operands.n;
	bool choice = n == 3 && types.n == 2;
	List from = {0};

	if (!strcmp(op->name, "stablehlo.complex") || (types.n != 1 && types.n != n && !choice))
		return from;
	for (int i = 0; i < n; i++)
		from = mlir_add(parser, from, types.v[i < types.n ? i : types.n - 1]);
	return from;
}

/* The bodies have the same parameters. */
MlirOp *
mlir_while(MlirParser *parser, Range r, List carried, List types, MlirBlock *condition,
	MlirBlock *body)
{
	MlirOp *op = NEW(parser->session->arena, MlirOp);

	*op = (MlirOp){.name = "stablehlo.while", .range = r, .types = types};
	if (types.n != carried.n / 2)
		mlir_wrong(parser, r, "this loop carries %d values, and has %d types",
			carried.n / 2, types.n);
	for (int i = 0; i < carried.n / 2 && !parser->wrong; i++) {
		const MlirUse *name = carried.v[2 * i];
		MlirParam param = {.name = name->name,
			.type = types.v[i],
			.range = name->range};
		condition->params = mlir_add(parser, condition->params,
			arena_copy(parser->session->arena, &param, sizeof param));
		op->operands = mlir_add(parser, op->operands, carried.v[2 * i + 1]);
	}
	body->params = condition->params;
	op->regions = mlir_add(parser, mlir_add(parser, (List){0}, condition), body);
	return op;
}

MlirOp *
mlir_reduce(MlirParser *parser, Range r, List values, MlirAttr *dims, List types)
{
	MlirOp *op = NEW(parser->session->arena, MlirOp);

	*op = (MlirOp){.name = "stablehlo.reduce", .range = r, .types = types};
	for (int half = 0; half < 2; half++)
		for (int i = half; i < values.n; i += 2)
			op->operands = mlir_add(parser, op->operands, values.v[i]);
	mlir_give(parser, op, "dimensions", dims);
	return op;
}

List
mlir_halves(MlirParser *parser, List params)
{
	List halves = {0};

	for (int half = 0; half < 2; half++)
		for (int i = half; i < params.n; i += 2)
			halves = mlir_add(parser, halves, params.v[i]);
	return halves;
}

static bool
is_commutative(const char *name)
{
	static const char *const names[] = {"add", "multiply", "maximum", "minimum", "and",
		"or", "xor"};
	bool found = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		found |= !strncmp(name, "stablehlo.", 10) && !strcmp(name + 10, names[i]);
	return found;
}

/* ^bb0(%a, %b): %c = stablehlo.add %a, %b; return %c */
void
mlir_applies(MlirParser *parser, MlirOp *op, const char *name)
{
	Arena *a = parser->session->arena;
	MlirBlock *block = NEW(a, MlirBlock);
	MlirOp *step = NEW(a, MlirOp), *last = NEW(a, MlirOp);
	const MlirType *of = op->types.n ? op->types.v[0] : NULL;
	MlirType scalar = of ? (MlirType){.element = of->element, .tensor = true}
			     : (MlirType){.element = "f32"};
	const char *const names[] = {"applies.a", "applies.b", "applies.c"};
	const MlirType *type = arena_copy(a, &scalar, sizeof scalar);

	if (!is_commutative(name))
		mlir_wrong(parser, op->range,
			"a reduction applies add, multiply, maximum, "
			"minimum, and, or or xor; another step has a region");
	*step = (MlirOp){.name = name, .range = op->range};
	for (int i = 0; i < 2; i++) {
		MlirParam param = {.name = names[i], .type = type, .range = op->range};
		MlirUse use = {names[i], 0, op->range};
		block->params =
			mlir_add(parser, block->params, arena_copy(a, &param, sizeof param));
		step->operands =
			mlir_add(parser, step->operands, arena_copy(a, &use, sizeof use));
	}
	MlirUse result = {names[2], 1, op->range}, use = {names[2], 0, op->range};
	step->results = mlir_add(parser, (List){0}, arena_copy(a, &result, sizeof result));
	step->types = mlir_add(parser, (List){0}, (void *)type);
	*last = (MlirOp){.name = "return", .range = op->range};
	last->operands = mlir_add(parser, (List){0}, arena_copy(a, &use, sizeof use));
	block->ops = mlir_add(parser, mlir_add(parser, (List){0}, step), last);
	op->regions = mlir_add(parser, (List){0}, block);
}

/* A list of the attributes that each has. */
static MlirAttr *
attributes_of(MlirParser *parser, List params)
{
	MlirAttr all = {.kind = MLIR_list};

	for (int i = 0; i < params.n; i++) {
		const MlirParam *param = params.v[i];
		MlirAttr own = {.kind = MLIR_dict,
			.range = param->range,
			.items = param->attributes};
		all.items = mlir_add(parser, all.items, attr_new(parser, own));
	}
	return attr_new(parser, all);
}

MlirOp *
mlir_function(MlirParser *parser, Range r, const char *name, List params, List results,
	MlirBlock *body)
{
	MlirOp *op = NEW(parser->session->arena, MlirOp);
	MlirAttr symbol = {.kind = MLIR_string, .range = r, .text = name};
	MlirAttr type = {.kind = MLIR_function, .range = r};

	*op = (MlirOp){.name = "func.func", .range = r};
	body->params = params;
	op->regions = mlir_add(parser, (List){0}, body);
	for (int i = 0; i < params.n; i++)
		type.ids = mlir_add(parser, type.ids,
			(void *)((const MlirParam *)params.v[i])->type);
	for (int i = 0; i < results.n; i++)
		type.items = mlir_add(parser, type.items,
			(void *)((const MlirParam *)results.v[i])->type);
	mlir_give(parser, op, "sym_name", attr_new(parser, symbol));
	mlir_give(parser, op, "function_type", attr_new(parser, type));
	mlir_give(parser, op, "arg_attrs", attributes_of(parser, params));
	mlir_give(parser, op, "res_attrs", attributes_of(parser, results));
	return op;
}

/* %0[1], of a tuple of two types, is %0#1. */
static void
take_element(MlirParser *parser, MlirOp *op)
{
	const MlirAttr *index = mlir_attribute(parser->program, op->attributes, "index");
	int64_t i = index && index->kind == MLIR_integer ? index->integer : -1;

	if (op->operands.n != 1 || i < 0 || i >= op->from.n) {
		mlir_wrong(parser, op->range, "this tuple has no such element");
		return;
	}
	((MlirUse *)op->operands.v[0])->number = (int)i;
	op->from = (List){1, &op->from.v[i]};
}

/* select %p, %a, %b : tensor<i1>, tensor<f32> has one result, of the last type. */
static void
fit_types(MlirParser *parser, MlirOp *op)
{
	int64_t n = 0;

	for (int i = 0; i < op->results.n; i++)
		n += ((const MlirUse *)op->results.v[i])->number;
	if (n == op->types.n || n == 0)
		return;
	if (n == 1 && op->tuple)
		((MlirUse *)op->results.v[0])->number = op->types.n;
	else if (n == 1 && op->types.n > 1)
		op->types = (List){1, &op->types.v[op->types.n - 1]};
	else
		mlir_wrong(parser, op->range, "this op has %lld results, and %d types",
			(long long)n, op->types.n);
}

MlirOp *
mlir_finish(MlirParser *parser, MlirOp *op, List results, MlirPlace *place)
{
	op->results = results;
	op->place = place;
	if (!strcmp(op->name, "stablehlo.get_tuple_element"))
		take_element(parser, op);
	fit_types(parser, op);
	return op;
}

/* ---- aliases ---------------------------------------------------------------------------- */

void
mlir_define(MlirParser *parser, Table *aliases, const char *name, Range r, void *what)
{
	table_set(aliases, name, what);
	table_set(parser->aliases, name, arena_copy(parser->session->arena, &r, sizeof r));
}

/* The alias that is all of what another stands for, or in its place the first within it. */
static const char *
alias_behind(const MlirParser *parser, const char *name)
{
	const MlirPlace *place = table_get(parser->program->places, name);
	const MlirAttr *value = table_get(parser->program->values, name);

	while (place && place->kind != PLACE_alias)
		place = place->inner;
	if (place)
		return place->text;
	return value && value->kind == MLIR_alias ? value->text : NULL;
}

static bool
all_defined(MlirParser *parser)
{
	for (int i = 0; i < table_count(parser->used); i++) {
		const char *name = table_key(parser->used, i);
		if (!table_get(parser->aliases, name))
			mlir_wrong(parser, *(const Range *)table_value(parser->used, i),
				"nothing says what %.40s stands for", name);
	}
	return !parser->wrong;
}

/* Each is looked at once: those that the last walk came by lead nowhere new. */
void
mlir_check_aliases(MlirParser *parser)
{
	Table *seen = table_new(parser->session->arena);

	if (parser->wrong || !all_defined(parser))
		return;
	for (int i = 0; i < table_count(parser->aliases); i++) {
		const char *first = table_key(parser->aliases, i), *name = first;
		while (name && table_add(seen, name, (void *)first))
			name = alias_behind(parser, name);
		if (name && table_get(seen, name) == first) {
			mlir_wrong(parser, *(const Range *)table_get(parser->aliases, name),
				"%s stands for itself", name);
			return;
		}
	}
}

/* ---- for those who read the tree ------------------------------------------------------- */

const MlirAttr *
mlir_attribute(const MlirProgram *program, List attributes, const char *name)
{
	const MlirAttr *found = NULL;

	for (int i = 0; i < attributes.n; i++) {
		const MlirEntry *entry = attributes.v[i];
		if (strcmp(entry->name, name) == 0)
			found = entry->value;
	}
	/* an alias may stand for another; one in a circle for nothing */
	for (int hops = 0; found && found->kind == MLIR_alias && hops < 8; hops++)
		found = table_get(program->values, found->text);
	return found && found->kind == MLIR_alias ? NULL : found;
}

/* Behind comments and blanks. */
static const char *
first_word(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (text[0] != '/' || text[1] != '/')
			return text;
		text += strcspn(text, "\n");
	}
}

/* #name = ..., !name = ... */
static bool
is_alias(const char *text)
{
	size_t n = *text == '#' || *text == '!' ? 1 : 0;

	while (n && (isalnum((unsigned char)text[n]) || (text[n] && strchr("_$.-", text[n]))))
		n++;
	return n > 1 && text[n + strspn(text + n, " \t")] == '=';
}

/* What no program of ours begins with: also of one that lacks its module. */
bool
mlir_begins(const char *text)
{
	static const char *const beginnings[] = {"module @", "module {", "module attributes",
		"\"builtin.", "builtin.module", "\"func.", "func.", "\"sdy.", "sdy.",
		"\"stablehlo.", "stablehlo.", "%", "^"};
	const char *word = first_word(text);

	if (is_alias(word))
		return true;
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}
