/*
 * shard_map.c - regions for one device, as older text has them, become as newer text has them.
 *
 *   %1 = custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,4]<=[8]}"}
 *   %2 = custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"}
 *   %3 = call @shmap_body(%2)                      %5 = sdy.manual_computation(%1)
 *   %4 = custom_call @Sharding(%3) {"{manual}"}      in_shardings out_shardings manual_axes
 *   %5 = custom_call @SPMDShardToFullShape(%4)       { the body }
 */
#include <string.h>

#include "import/builders.h"

/* Of a block: where values are made and read. */
typedef struct Around {
	Import *in;
	MlirBlock *block;
	Table *makers;	/* by name: MlirOp */
	Table *readers; /* ... the last MlirOp that reads the value */
} Around;

static bool
is_custom(Import *in, const MlirOp *op, const char *target)
{
	return op && !strcmp(op->name, "stablehlo.custom_call")
		&& !strcmp(word_of(in, op, "call_target_name"), target);
}

static const char *
value_name(Import *in, const MlirUse *use)
{
	return arena_printf(in->arena, "%s#%d", use->name, use->number);
}

static void
look_around(Around *around)
{
	for (int i = 0; i < around->block->ops.n; i++) {
		MlirOp *op = around->block->ops.v[i];
		for (int k = 0; k < op->operands.n; k++)
			table_set(around->readers, value_name(around->in, op->operands.v[k]),
				op);
		for (int k = 0; k < op->results.n; k++)
			table_set(around->makers, ((MlirUse *)op->results.v[k])->name, op);
	}
}

static MlirOp *
operand_maker(Around *around, const MlirOp *op, int i)
{
	return i < op->operands.n
		? table_get(around->makers, ((const MlirUse *)op->operands.v[i])->name)
		: NULL;
}

static void
add_entry(Import *in, MlirOp *op, const char *name, MlirAttr *value)
{
	MlirEntry *entry = NEW(in->session->arena, MlirEntry);

	*entry = (MlirEntry){name, value};
	APPEND(in->session->arena, op->attributes.v, op->attributes.n, entry);
}

static MlirAttr *
add_list(Import *in, MlirOp *op, const char *name, MlirKind kind)
{
	MlirAttr *list = NEW(in->session->arena, MlirAttr);

	*list = (MlirAttr){.kind = kind, .range = op->range};
	add_entry(in, op, name, list);
	return list;
}

/* Dims that are left open: unspecified_dims=[0,1] in the text of its configuration. */
static Numbers
open_dims(Import *in, const MlirOp *op)
{
	const MlirAttr *config = attr_of(in, op, "backend_config");
	static const char field[] = "unspecified_dims=[";
	const char *text =
		config && config->kind == MLIR_string ? strstr(config->text, field) : NULL;
	Numbers open = {0};

	if (!text)
		return open;
	text += sizeof field - 1;
	int n = tiles_list(&text, open.v, MAX_RANK);
	open.n = greater(n, 0);
	return open;
}

/* The sharding of the op, of the type, at the end of the list. */
static bool
add_sharding(Import *in, MlirAttr *list, const MlirOp *op, const MlirType *type)
{
	const MlirAttr *tiles = attr_of(in, op, "mhlo.sharding");
	Numbers open = open_dims(in, op);
	const MlirAttr *sharding = tiles ? tiles_sharding(in, tiles, type->rank, &open) : NULL;

	if (sharding)
		APPEND(in->session->arena, list->items.v, list->items.n, (void *)sharding);
	return sharding != NULL;
}

/* Of what the body returns, as it is told to be of one device: its placement as a part, of
   which the placement as a whole is made.  NULL: it is not. */
static const MlirOp *
returned_part(Around *around, const MlirOp *call, int i)
{
	if (call->results.n != 1)
		return NULL;
	const MlirUse use = {.name = ((const MlirUse *)call->results.v[0])->name, .number = i};
	const MlirOp *part = table_get(around->readers, value_name(around->in, &use));
	return is_custom(around->in, part, "Sharding") && part->results.n == 1 ? part : NULL;
}

static const MlirOp *
made_whole(Around *around, const MlirOp *part)
{
	if (!part)
		return NULL;
	const MlirUse use = {.name = ((const MlirUse *)part->results.v[0])->name, .number = 0};
	const MlirOp *whole = table_get(around->readers, value_name(around->in, &use));
	return is_custom(around->in, whole, "SPMDShardToFullShape") ? whole : NULL;
}

/* What the body takes is each a part of something. */
static bool
add_arguments(Around *around, const MlirOp *call, MlirOp *manual, List *axes)
{
	Import *in = around->in;
	MlirAttr *list = add_list(in, manual, "in_shardings", MLIR_list);

	for (int i = 0; i < call->operands.n; i++) {
		const MlirOp *part = operand_maker(around, call, i);
		const MlirOp *whole = is_custom(in, part, "SPMDFullToShardShape")
			? operand_maker(around, part, 0)
			: NULL;
		if (!is_custom(in, whole, "Sharding") || whole->types.n != 1)
			return false;
		if (!add_sharding(in, list, whole, whole->types.v[0]))
			return false;
		if (!axes->n && !tiles_manual(in, attr_of(in, part, "mhlo.sharding"), axes))
			return false;
		APPEND(in->session->arena, manual->operands.v, manual->operands.n,
			part->operands.v[0]);
	}
	return true;
}

/* What it returns is each a part of something. */
static bool
add_returned(Around *around, const MlirOp *call, MlirOp *manual, List *axes)
{
	Import *in = around->in;
	MlirAttr *list = add_list(in, manual, "out_shardings", MLIR_list);

	for (int i = 0; i < call->types.n; i++) {
		const MlirOp *part = returned_part(around, call, i);
		const MlirOp *whole = made_whole(around, part);
		if (!whole || whole->types.n != 1
			|| !add_sharding(in, list, whole, whole->types.v[0]))
			return false;
		if (!axes->n && !tiles_manual(in, attr_of(in, part, "mhlo.sharding"), axes))
			return false;
		APPEND(in->session->arena, manual->results.v, manual->results.n,
			whole->results.v[0]);
		APPEND(in->session->arena, manual->types.v, manual->types.n, whole->types.v[0]);
	}
	return true;
}

/* The call becomes the region. */
static bool
replace_call(Around *around, MlirOp *call)
{
	Import *in = around->in;
	const MlirOp *body = table_get(in->functions, word_of(in, call, "callee"));
	MlirOp *manual = NEW(in->session->arena, MlirOp);

	*manual = (MlirOp){.name = "sdy.manual_computation",
		.range = call->range,
		.place = call->place};
	List *axes = &add_list(in, manual, "manual_axes", MLIR_mesh)->items;
	if (!body || !add_arguments(around, call, manual, axes)
		|| !add_returned(around, call, manual, axes))
		return diag_errors(in->session) > 0
			|| read_wrong(in, call->range,
				"this works on parts of devices in a way that is not known");
	manual->regions = body->regions;
	*call = *manual;
	return true;
}

/* Is it of one device, and gone with the call? */
static bool
is_between(Around *around, const MlirOp *op)
{
	Import *in = around->in;

	return is_custom(in, op, "SPMDFullToShardShape")
		|| is_custom(in, op, "SPMDShardToFullShape")
		|| (is_custom(in, op, "Sharding") && op->results.n == 1
			&& made_whole(around, op));
}

/* One that takes nothing is known by what it returns. */
static bool
is_region(Around *around, const MlirOp *op)
{
	if (strcmp(op->name, "func.call") != 0)
		return false;
	return op->operands.n
		? is_custom(around->in, operand_maker(around, op, 0), "SPMDFullToShardShape")
		: made_whole(around, returned_part(around, op, 0)) != NULL;
}

static bool
replace_calls(Import *in, MlirBlock *block)
{
	Around around = {in, block, table_new(in->arena), table_new(in->arena)};
	bool any = false;
	int n = 0;

	look_around(&around);
	for (int i = 0; i < block->ops.n; i++) {
		MlirOp *op = block->ops.v[i];
		if (is_region(&around, op)) {
			any = true;
			if (!replace_call(&around, op))
				return false;
			continue;
		}
		for (int k = 0; k < op->regions.n; k++)
			if (!replace_calls(in, op->regions.v[k]))
				return false;
	}
	for (int i = 0; i < block->ops.n && any; i++)
		if (!is_between(&around, block->ops.v[i]))
			block->ops.v[n++] = block->ops.v[i];
	block->ops.n = any ? n : block->ops.n;
	return true;
}

bool
shard_maps_read(Import *in)
{
	return !in->tiled || replace_calls(in, in->program->module->regions.v[0]);
}

/* A custom call is what it calls: a row of that name. */
bool
import_op_custom_call(Import *in, const MlirOp *op, int detail)
{
	const char *target = word_of(in, op, "call_target_name");
	const ImportRow *row = table_get(in->rows, arena_printf(in->arena, "@%s", target));

	(void)detail;
	return row ? row->build(in, op, row->detail) : read_opaque(in, op, NULL);
}

bool
import_op_sharding(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *tiles = attr_of(in, op, "mhlo.sharding");
	Numbers open = open_dims(in, op);
	int64_t group[2];

	(void)detail;
	if (!tiles || in->noperands != 1 || op->types.n != 1)
		return read_opaque(in, op, NULL);
	if (tiles_group(tiles, group))
		return (in->results[0] = like_group(in, group[0], in->operands[0])) != NULL;
	const MlirType *type = op->types.v[0];
	const MlirAttr *sharding = tiles_sharding(in, tiles, type->rank, &open);
	return sharding && constrain(in, op, sharding);
}
