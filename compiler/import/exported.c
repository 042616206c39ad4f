/*
 * exported.c - ops of CHLO that jax.export writes as calls or, with 0.10, as composites, so
 * that later versions read them.
 *
 *   %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64}}
 *   %1 = stablehlo.custom_call @mhlo.sinh(%y)
 *   %2 = stablehlo.composite "chlo.sinh" %y {decomposition = @chlo.sinh.impl}
 *     %0:2 = chlo.top_k(%x, k = 3)      %1 = chlo.sinh %y      %2 = chlo.sinh %y
 *
 * They become those ops in the tree, before it is checked.
 */
#include <string.h>

#include "import/reader.h"

/* Those that CHLO calls otherwise. */
static const struct Renamed {
	const char *called, *op;
} renamed[] = {
	{"topk", "chlo.top_k"},
};

/* The op whose name stands behind that beginning; NULL: there is none. */
static const char *
op_called(Import *in, const char *target, const char *beginning)
{
	size_t before = strlen(beginning);
	const char *own = target + before;

	if (strncmp(target, beginning, before) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (!strcmp(renamed[i].called, own))
			return renamed[i].op;
	own = arena_printf(in->arena, "chlo.%s", own);
	return table_get(in->rows, own) ? own : NULL;
}

/* The k least are none of CHLO's. */
static bool
asks_least(Import *in, List says)
{
	const MlirAttr *largest = mlir_attribute(in->program, says, "largest");

	return largest && largest->text && strcmp(largest->text, "true") != 0;
}

/* What the op is said to have is in one of its attributes. */
static void
replace(Import *in, MlirOp *op, const char *name, const char *attributes)
{
	const MlirAttr *says = attr_of(in, op, attributes);
	List said = says && says->kind == MLIR_dict ? says->items : (List){0}, own = {0};

	if (!name || asks_least(in, said))
		return;
	for (int i = 0; i < said.n; i++)
		APPEND(in->arena, own.v, own.n, said.v[i]);
	for (int i = 0; i < op->attributes.n; i++) {
		MlirEntry *entry = op->attributes.v[i];
		if (!strncmp(entry->name, "sdy.", 4) || !strcmp(entry->name, "mhlo.sharding"))
			APPEND(in->arena, own.v, own.n, entry);
	}
	op->name = name;
	op->attributes = own;
}

static void
replace_calls(Import *in, const MlirBlock *block)
{
	for (int i = 0; i < block->ops.n; i++) {
		MlirOp *op = block->ops.v[i];
		for (int k = 0; k < op->regions.n; k++)
			replace_calls(in, op->regions.v[k]);
		if (!strcmp(op->name, "stablehlo.custom_call"))
			replace(in, op,
				op_called(in, word_of(in, op, "call_target_name"), "mhlo."),
				"mhlo.attributes");
		else if (!strcmp(op->name, "stablehlo.composite"))
			replace(in, op, op_called(in, word_of(in, op, "name"), "chlo."),
				"composite_attributes");
	}
}

void
exported_read(Import *in)
{
	const MlirOp *module = in->program->module;

	for (int i = 0; i < module->regions.n; i++)
		replace_calls(in, module->regions.v[i]);
}
