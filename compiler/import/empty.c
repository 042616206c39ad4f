/*
 * empty.c - values that are no memory are taken out of the tree, before anything is read of
 * it: tokens, empty tuples, and tensors with a dim of size 0, which scans of pairs cut off and
 * put back.
 *
 *   %5 = stablehlo.concatenate %2, %4, dim = 0 : (.., tensor<0x8xf32>) -> ..    of %2 alone
 *   %6:2 = stablehlo.custom_call @f(%token, %x) : ..                           %6 = @f(%x)
 *
 * Parameters, operands, results and what is said of them in lists stay in their order.
 */
#include <string.h>

#include "import/reader.h"

/* Instead of a number. */
enum { NO_MEMORY = -1, NO_ELEMENTS = -2 };

/* What a name stands for: of each of its values the number that it gets, or why it has none. */
typedef struct Numbered {
	int n;
	int *at;
} Numbered;

typedef struct Names {
	MlirOp *function; /* around it all */
	Table *values;	  /* Numbered */
	const struct Names *outer;
} Names;

bool
type_is_nothing(const MlirType *type)
{
	return !strcmp(type->element, "!stablehlo.token") || !strcmp(type->element, "tuple<>");
}

static int
why_dropped(const MlirType *type)
{
	if (type_is_nothing(type))
		return NO_MEMORY;
	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] == 0)
			return NO_ELEMENTS;
	return 0;
}

/* The values of these types, by a name. */
static const Numbered *
number_values(Import *in, int n, void *const *types)
{
	Numbered *numbered = NEW(in->arena, Numbered);
	int kept = 0;

	*numbered = (Numbered){n, NEW_ARRAY(in->arena, int, n + 1)};
	for (int i = 0; i < n; i++) {
		int dropped = why_dropped(types[i]);
		numbered->at[i] = dropped ? dropped : kept++;
	}
	return numbered;
}

/* The items of the list that stay. */
static List
kept_of(Import *in, List list, const Numbered *numbered)
{
	List kept = {0};

	for (int i = 0; i < list.n; i++)
		if (i >= numbered->n || numbered->at[i] >= 0)
			APPEND(in->arena, kept.v, kept.n, list.v[i]);
	return kept;
}

/* ... of an attribute, where it is a list of as many. */
static void
keep_attributes(Import *in, MlirOp *op, const char *name, const Numbered *numbered)
{
	const MlirAttr *all = attr_of(in, op, name);

	if (!all || all->kind != MLIR_list || all->items.n != numbered->n)
		return;
	MlirAttr *kept = arena_copy(in->arena, all, sizeof *all);
	kept->items = kept_of(in, all->items, numbered);
	for (int i = 0; i < op->attributes.n; i++) {
		MlirEntry *entry = op->attributes.v[i];
		if (!strcmp(entry->name, name))
			entry->value = kept;
	}
}

/* ---- of an op */

/* Its operands, by the numbers that their values have now. */
static const Numbered *
drop_operands(Import *in, MlirOp *op, const Names *names)
{
	Numbered *numbered = NEW(in->arena, Numbered);
	List kept = {0};

	*numbered = (Numbered){op->operands.n, NEW_ARRAY(in->arena, int, op->operands.n + 1)};
	for (int i = 0; i < op->operands.n; i++) {
		MlirUse *use = arena_copy(in->arena, op->operands.v[i], sizeof *use);
		const Numbered *of = NULL;
		for (const Names *at = names; at && !of; at = at->outer)
			of = table_get(at->values, use->name);
		if (of && use->number < of->n && of->at[use->number] < 0) {
			numbered->at[i] = of->at[use->number];
			continue;
		}
		if (of && use->number < of->n)
			use->number = of->at[use->number];
		numbered->at[i] = kept.n;
		APPEND(in->arena, kept.v, kept.n, use);
	}
	op->operands = kept;
	return numbered;
}

static void
drop_results(Import *in, MlirOp *op, const Names *names, const Numbered *results)
{
	List kept = {0};

	for (int i = 0, first = 0; i < op->results.n; i++) {
		MlirUse *use = arena_copy(in->arena, op->results.v[i], sizeof *use);
		const Numbered *own = number_values(in, use->number, op->types.v + first);
		table_set(names->values, use->name, (void *)own);
		first += use->number;
		use->number = 0;
		for (int k = 0; k < own->n; k++)
			use->number += own->at[k] >= 0;
		if (use->number)
			APPEND(in->arena, kept.v, kept.n, use);
	}
	op->results = kept;
	op->types = kept_of(in, op->types, results);
}

static bool
has(const Numbered *numbered, int why)
{
	for (int i = 0; i < numbered->n; i++)
		if (numbered->at[i] == why)
			return true;
	return false;
}

/* Is there nothing left of it?  What makes tokens may do something beside. */
static bool
makes_nothing(const MlirOp *op, const Numbered *results)
{
	bool only_orders = !strcmp(op->name, "stablehlo.after_all")
		|| !strcmp(op->name, "stablehlo.create_token")
		|| !strcmp(op->name, "stablehlo.get_tuple_element");

	for (int i = 0; i < results->n; i++)
		if (results->at[i] >= 0)
			return false;
	return results->n > 0 && (only_orders || !has(results, NO_MEMORY));
}

/* What an op is without those of its operands that have no elements. */
typedef enum Without {
	THE_SAME,
	AROUND, /* operand 1 everywhere: what is put around, or a sum begins with */
	BEFORE, /* operand 0: nothing is written to it */
	AT_ALL, /* the same, or, of what is written at no index, without that */
} Without;

static const struct Rest {
	const char *op;
	Without without;
} rules[] = {
	{"func.call", THE_SAME},
	{"func.return", THE_SAME},
	{"return", THE_SAME},
	{"sdy.manual_computation", THE_SAME},
	{"sdy.return", THE_SAME},
	{"sdy.sharding_group", THE_SAME},
	{"stablehlo.concatenate", THE_SAME},
	{"stablehlo.custom_call", THE_SAME},
	{"stablehlo.dynamic_update_slice", BEFORE},
	{"stablehlo.optimization_barrier", THE_SAME},
	{"stablehlo.pad", AROUND},
	{"stablehlo.reduce", AROUND},
	{"stablehlo.return", THE_SAME},
	{"stablehlo.scatter", AT_ALL},
	{"stablehlo.while", THE_SAME},
};

/* The op becomes another, of one operand. */
static bool
become(Import *in, MlirOp *op, const char *name, const Numbered *operands, int operand)
{
	bool kept = operand < operands->n && operands->at[operand] >= 0 && op->types.n == 1;

	if (!kept)
		return false;
	MlirUse *use = op->operands.v[operands->at[operand]];
	op->name = name;
	op->operands = op->attributes = op->regions = (List){0};
	APPEND(in->arena, op->operands.v, op->operands.n, use);
	return true;
}

/* x.at[:].set(y): of three operands only the index has no elements. */
static bool
writes_at_no_index(const Numbered *operands)
{
	return operands->n == 3 && operands->at[0] >= 0 && operands->at[2] >= 0;
}

static bool
do_without(Import *in, MlirOp *op, const Numbered *operands)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (strcmp(rules[i].op, op->name) != 0)
			continue;
		Without without = rules[i].without;
		if (without == AT_ALL)
			without = writes_at_no_index(operands) ? THE_SAME : BEFORE;
		if (without == THE_SAME
			|| (without == AROUND && operands->n == 2
				&& become(in, op, "stablehlo.broadcast_in_dim", operands, 1))
			|| (without == BEFORE
				&& become(in, op, "stablehlo.optimization_barrier", operands,
					0)))
			return true;
	}
	return read_wrong(in, op->range, "%s of a tensor with a dim of size 0", op->name);
}

/* ---- blocks, functions */

static bool drop_in_block(Import *in, MlirBlock *block, MlirOp *function, const Names *outer);

/* What the function returns; that @main does not return a result is told. */
static void
drop_returned(Import *in, MlirOp *function, const Numbered *returned)
{
	const MlirAttr *all = attr_of(in, function, "res_attrs");

	for (int i = 0; i < returned->n; i++) {
		const MlirAttr *own = all && i < all->items.n ? all->items.v[i] : NULL;
		const MlirAttr *info = own && own->kind == MLIR_dict
			? mlir_attribute(in->program, own->items, "jax.result_info")
			: NULL;
		if (returned->at[i] == NO_ELEMENTS
			&& !strcmp(word_of(in, function, "sym_name"), "main"))
			diag(in->session, DIAG_jax_left_out, function->range,
				"%s of this program has no elements, and is left out",
				info && info->kind == MLIR_string && *info->text
					? info->text
					: arena_printf(in->arena, "result %d", i));
	}
	keep_attributes(in, function, "res_attrs", returned);
}

/* `stays`: there is something left of it. */
static bool
drop_in_op(Import *in, MlirOp *op, const Names *names, bool *stays)
{
	const Numbered *operands = drop_operands(in, op, names);
	const Numbered *results = number_values(in, op->types.n, op->types.v);

	*stays = !makes_nothing(op, results);
	drop_results(in, op, names, results);
	if (!*stays)
		return true;
	if (!strcmp(op->name, "sdy.manual_computation")) {
		keep_attributes(in, op, "in_shardings", operands);
		keep_attributes(in, op, "out_shardings", results);
	}
	if (has(operands, NO_ELEMENTS) && !do_without(in, op, operands))
		return false;
	if (!names->outer && ends_block(op))
		drop_returned(in, names->function, operands);
	for (int i = 0; i < op->regions.n; i++)
		if (!drop_in_block(in, op->regions.v[i], names->function, names))
			return false;
	return true;
}

static bool
drop_in_block(Import *in, MlirBlock *block, MlirOp *function, const Names *outer)
{
	Names own = {function, table_new(in->arena), outer};
	List params = {0};
	int n = 0;

	for (int i = 0; i < block->params.n; i++) {
		MlirParam *param = block->params.v[i];
		const Numbered *numbered =
			number_values(in, 1, (void *[]){(void *)param->type});
		table_set(own.values, param->name ? param->name : "", (void *)numbered);
		if (numbered->at[0] >= 0)
			APPEND(in->arena, params.v, params.n, param);
	}
	block->params = params;
	for (int i = 0; i < block->ops.n; i++) {
		bool stays;
		if (!drop_in_op(in, block->ops.v[i], &own, &stays))
			return false;
		if (stays)
			block->ops.v[n++] = block->ops.v[i];
	}
	block->ops.n = n;
	return true;
}

bool
empty_drop(Import *in)
{
	const MlirBlock *top = in->program->module->regions.v[0];

	for (int i = 0; i < top->ops.n; i++) {
		MlirOp *function = top->ops.v[i];
		if (strcmp(function->name, "func.func") || function->regions.n != 1)
			continue;
		MlirBlock *block = function->regions.v[0];
		List types = {0};
		for (int k = 0; k < block->params.n; k++)
			APPEND(in->arena, types.v, types.n,
				(void *)((const MlirParam *)block->params.v[k])->type);
		keep_attributes(in, function, "arg_attrs", number_values(in, types.n, types.v));
		if (!drop_in_block(in, block, function, NULL))
			return false;
	}
	return true;
}
