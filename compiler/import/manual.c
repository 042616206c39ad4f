/*
 * manual.c - placements that are asked for, and regions for one device (shard_map).
 */
#include <string.h>

#include "import/builders.h"
#include "ir/variation.h"

static Value *
place_value(Import *in, Value *x, const Placement *p)
{
	Value *v = x ? make_unary(in->make, O_constraint, x) : NULL;

	if (v) {
		v->placement = *p;
		v->annotated = true;
	}
	return v;
}

/* Of a scalar there is nothing to place. */
bool
constrain(Import *in, const MlirOp *op, const MlirAttr *attr)
{
	bool pair = op->types.n && type_is_complex(op->types.v[0]);
	Placement p;

	if (!sharding_read(in, attr, in->operands[0]->type.rank, pair, &p))
		return false;
	bool says = p.rank > 0 && (p.open != (1u << p.rank) - 1 || placement_pieces(&p));
	in->results[0] = says ? place_value(in, in->operands[0], &p) : in->operands[0];
	return true;
}

/* In explicit mode JAX writes the type of what each op makes as a constraint behind it, which
   has the name and the place of that op; so it does of jnp.zeros(..., device=sharding). */
static bool
is_of_type(Import *in, const MlirOp *op)
{
	const char *label = place_label(in, op->place);
	const Op *made = in->operands[0]->def;

	return label && made && made->label && !strcmp(label, made->label)
		&& range_equal(made->range, in->make.range)
		&& strcmp(label, "broadcast_in_dim") != 0;
}

bool
import_op_constraint(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *attr = attr_of(in, op, "sharding");

	(void)detail;
	if (in->noperands != 1 || !attr)
		return read_wrong(in, op->range, "a constraint has an operand and a sharding");
	if (in->lifted) /* of a scalar */
		return import_op_same(in, op, 0);
	if (!constrain(in, op, attr))
		return false;
	bool says = in->results[0] != in->operands[0] && !in->manual.n;
	in->module->typed |= says && is_of_type(in, op);
	return true;
}

/* ---- groups: shard_alike */

/* The first of its group in a block, for bodies see nothing of what is around.  Numbers and
   pairs of them, which have a dim more, have groups of their own. */
static Value *
first_of_group(Import *in, int64_t id, Value *v)
{
	const char *name = arena_printf(in->arena, "%lld of %d dims in %p", (long long)id,
		v->type.rank, (const void *)v->block);

	table_add(in->groups, name, v);
	return table_get(in->groups, name);
}

/* From here on the name is that of the value placed like the first. */
static void
rebind(Import *in, const MlirUse *use, Value *v)
{
	const Defined *was = scope_find(in->scope, use->name);
	Value **values = NEW_ARRAY(in->arena, Value *, was->n);

	memcpy(values, was->values, (size_t)was->n * sizeof values[0]);
	values[use->number] = v;
	scope_bind(in, use->name, was->n, values);
}

Value *
like_group(Import *in, int64_t id, Value *v)
{
	if (!v->type.rank || in->lifted)
		return v;
	Value *first = first_of_group(in, id, v);
	if (first == v)
		return v;
	first = make_convert(in->make, first, v->type.dtype);
	return make_binary(in->make, O_shard_like, v, first);
}

bool
import_op_group(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *id = attr_of(in, op, "group_id");
	Value *v = in->noperands == 1 ? in->operands[0] : NULL;

	(void)detail;
	if (op->operands.n == 1 && (!id || id->kind != MLIR_integer))
		return read_wrong(in, op->range, "this group has no number");
	in->results[0] = v;
	Value *alike = v ? like_group(in, id->integer, v) : NULL;
	if (alike && alike != v)
		rebind(in, op->operands.v[0], alike);
	return alike || !v;
}

/* ---- regions */

/* How a tensor is cut along the axes of the region, closed. */
static Placement
spec_of(const Placement *p, const AxisList *axes)
{
	Placement spec = placement_close(*p);

	for (int d = 0; d < p->rank; d++) {
		AxisList all = placement_dim(p, d), part = {0};
		for (int i = 0; i < all.n; i++)
			if (axes_overlap(axes, all.a[i]))
				axes_append(&part, all.a[i]);
		placement_set_dim(&spec, d, &part);
	}
	return spec;
}

/* Propagation may fill open dims, but not with the region's axes. */
static void
bar_axes(Placement *p, const AxisList *axes)
{
	AxisList barred = placement_replicated(p);

	for (int i = 0; i < axes->n && p->open; i++)
		if (!placement_uses(p, axes->a[i]) && !axes_overlap(&barred, axes->a[i]))
			axes_append(&barred, axes->a[i]);
	placement_set_replicated(p, &barred);
}

/* The shardings of operands or results, each with its spec. */
static bool
read_placements(Import *in, const MlirOp *op, const char *name, int n, const Type *types,
	const bool *pairs, const AxisList *axes, Placement *written, Placement *specs)
{
	const MlirAttr *list = attr_of(in, op, name);

	if (!list || list->kind != MLIR_list || list->items.n != n)
		return read_wrong(in, op->range, "%s does not have %d shardings", name, n);
	for (int i = 0; i < n; i++) {
		if (!sharding_read(in, list->items.v[i], types[i].rank, pairs[i], &written[i]))
			return false;
		specs[i] = spec_of(&written[i], axes);
		bar_axes(&written[i], axes);
	}
	return true;
}

/* Of operands, then of results, and which of them are complex. */
static bool
read_types(Import *in, const MlirOp *op, Type *types, bool *pairs)
{
	const MlirBlock *block = op->regions.v[0];
	int n = in->noperands;

	for (int i = 0; i < n; i++) {
		const MlirParam *param = block->params.v[i];
		types[i] = in->operands[i]->type;
		pairs[i] = type_is_complex(param->type);
	}
	for (int i = 0; i < op->types.n; i++) {
		pairs[n + i] = type_is_complex(op->types.v[i]);
		if (!type_result(in, op, i, &types[n + i]))
			return false;
	}
	return true;
}

/* Parameters are the parts that a device has. */
static bool
read_region(Import *in, const MlirOp *op, Op *region, const Placement *written, bool whole)
{
	const MlirBlock *block = op->regions.v[0];
	Block *body = region->bodies[0], *around = in->block;
	Scope *scope = in->scope, own = {table_new(in->arena), NULL};
	AxisList manual = in->manual;
	int n = 0;

	for (int i = 0; i < region->noperands; i++) {
		const MlirParam *param = block->params.v[i];
		Type type;
		if (!type_read(in, op, param->type, &type))
			return false;
		Value *v = block_add_param(body, region->operands[i]->name, &type);
		v->annotated = !whole;
		if (!whole)
			v->placement = manual_inside(region->axes, &written[i]);
	}
	axes_append_all(&in->manual, region->axes);
	in->block = body;
	in->scope = &own;
	in->make.block = body;
	Value **returned = read_block(in, block, body->params, &n);
	in->manual = manual;
	in->block = around;
	in->scope = scope;
	if (!returned)
		return false;
	if (n != op->types.n)
		return read_wrong(in, op->range, "this region returns %d values, not %d", n,
			op->types.n);
	make_return(body, n, returned, region->range, "return");
	return true;
}

/* One without operands is of those around it. */
static bool
inline_region(Import *in, const MlirOp *op)
{
	Scope *scope = in->scope, own = {table_new(in->arena), scope};
	Value **results = in->results;
	int n = 0;

	in->scope = &own;
	Value **returned = read_block(in, op->regions.v[0], NULL, &n);
	in->scope = scope;
	if (!returned || n != op->types.n)
		return false;
	memcpy(results, returned, (size_t)n * sizeof results[0]);
	return true;
}

/* The mesh of the first sharding that there is. */
static const char *
mesh_of_region(Import *in, const MlirOp *op)
{
	static const char *const lists[] = {"in_shardings", "out_shardings"};

	for (int i = 0; i < 2; i++) {
		const MlirAttr *list = attr_of(in, op, lists[i]);
		const MlirAttr *first = list && list->items.n ? list->items.v[0] : NULL;
		if (first && first->kind == MLIR_sharding)
			return first->sharding->mesh;
	}
	return NULL;
}

bool
import_op_manual(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *names = attr_of(in, op, "manual_axes");
	const MlirBlock *block = op->regions.n == 1 ? op->regions.v[0] : NULL;
	int n = in->noperands, nresults = op->types.n;
	AxisList axes;

	(void)detail;
	if (!block || block->params.n != n || !names || names->kind != MLIR_mesh || !nresults)
		return read_wrong(in, op->range, "this region is not complete");
	if (!axes_read(in, mesh_of_region(in, op), names->items, &axes))
		return false;
	if (!n && in->manual.n)
		return inline_region(in, op);
	if (!axes_keep_sizes(in, &axes, in->make.range))
		return false;

	Type *types = NEW_ARRAY(in->arena, Type, n + nresults + 1);
	bool *pairs = NEW_ARRAY(in->arena, bool, n + nresults + 1);
	Placement *written = NEW_ARRAY(in->arena, Placement, n + nresults + 1);
	Placement *specs = NEW_ARRAY(in->arena, Placement, n + nresults + 1);
	if (!read_types(in, op, types, pairs)
		|| !read_placements(in, op, "in_shardings", n, types, pairs, &axes, written,
			specs)
		|| !read_placements(in, op, "out_shardings", nresults, types + n, pairs + n,
			&axes, written + n, specs + n))
		return false;
	Value **results = in->results, **placed = NEW_ARRAY(in->arena, Value *, n + 1);
	for (int i = 0; i < n; i++)
		placed[i] = place_value(in, in->operands[i], &written[i]);
	Make make = in->make;
	Op *region = make_begin(make, O_manual, n, placed);
	if (!region)
		return false;
	region->axes = arena_copy(in->module->arena, &axes, sizeof axes);
	region->specs =
		arena_copy(in->module->arena, specs, (size_t)(n + nresults) * sizeof specs[0]);
	op_begin_bodies(region, 1);
	for (int i = 1; i < nresults; i++)
		op_add_result(region, region->results[0]->name, &types[n + i]);
	AxisList all = in->manual;
	axes_append_all(&all, &axes);
	if (!read_region(in, op, region, written, axes_size(&all) == in->module->mesh.ndevices)
		|| !make_end(make, region))
		return false;
	in->make = make;
	for (int i = 0; i < nresults; i++) {
		region->results[i]->placement = written[n + i];
		region->results[i]->annotated = true;
		results[i] = region->results[i];
	}
	return true;
}

/* ---- results that vary */

static void
vouch_of(const Op *region, const AxisSet *along)
{
	Op *end = region->bodies[0]->last;

	for (int i = 0; i < end->noperands; i++) {
		Value *v = end->operands[i];
		AxisSet cut = spec_set(&region->specs[region->noperands + i]);
		AxisList axes = axes_within(region->axes, along[v->id] & ~cut);
		if (axes.n)
			end->operands[i] = make_uniform(make_before(end), v, &axes);
	}
}

/* A result that varies along an axis that does not split it: JAX would have refused it, had it
   not been told to take the author's word (check_vma=False), of which the text says nothing. */
void
vouch_results(Module *m)
{
	Block *entry = m->entry;

	for (const Op *op = entry->first; op; op = op_following(op, entry)) {
		if (!op->specs || block_manual(op->block))
			continue;
		Arena *a = arena_new();
		Block *body = op->bodies[0];
		block_number(body);
		const AxisSet *along = variation_solve(a, body, NULL, false);
		for (const Op *inner = body->first; inner; inner = op_following(inner, body))
			if (inner->specs)
				vouch_of(inner, along);
		vouch_of(op, along);
		arena_free(a);
	}
}
