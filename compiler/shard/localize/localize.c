/*
 * localize.c - from tensors to shards.
 *
 * example     h: f32[8@X, 4] reshard -> f32[8, 4]     on X=2
 *             h: f32[4, 4]   all-gather over X, dim 0 -> f32[8, 4]
 * requires    L_resharded
 * leaves      L_device: types are those of one device; reshards are
 *             collectives and slices; offsets come from partition-id
 *
 * Whatever depends on where a device is gets global offsets first: the iota of
 * a shard starts at its own index, a lookup in a split table is masked where
 * the row lies elsewhere.
 */
#include <string.h>
#include "shard/reshard/halo.h"
#include "shard/localize/localize.h"

/* ---- where this device is --------------------------------------------------------- */

static Value *
cached(Localizer *l, const char *key, Value *v)
{
	table_set(l->offsets, arena_printf(l->arena, "%s", key), v);
	return v;
}

Value *
device_offset(Localizer *l, const AxisList *axes, int64_t scale)
{
	Text key = {0};
	Value *sum, *id = table_get(l->offsets, "");

	text_axes(&key, &l->module->mesh, axes);
	text_printf(&key, "*%lld", (long long)scale);
	sum = table_get(l->offsets, key.s);
	if (!sum && !id) {
		id = make_op(named(l->make, "partition"), O_partition_id, 0, NULL);
		id = cached(l, "", make_convert(l->make, id, l->index));
	}
	if (!sum)
		sum = cached(l, key.s, make_axes_index(l->make, id, axes, scale));
	text_free(&key);
	return sum;
}

Value *
number(Localizer *l, int64_t n)
{
	const char *key = arena_printf(l->arena, "=%lld", (long long)n);
	Value *v = table_get(l->offsets, key);

	return v ? v : cached(l, key, make_constant(l->make, l->index, n));
}

Value *
is_device(Localizer *l, const AxisList *axes, int64_t i)
{
	Text key = {0};

	text_axes(&key, &l->module->mesh, axes);
	text_printf(&key, "=%lld", (long long)i);
	Value *v = table_get(l->offsets, key.s);
	if (!v) {
		Value *index = device_offset(l, axes, 1);
		v = make_compare(l->make, DIR_EQ, index, number(l, i));
		v = cached(l, key.s, v);
	}
	text_free(&key);
	return v;
}

Value *
is_within(Localizer *l, Value *v, int64_t n)
{
	Make k = l->make;
	Value *low = make_full(k, &v->type, 0);
	Value *end = make_full(k, &v->type, n);
	Value *above = make_compare(k, DIR_GE, v, low);

	return make_binary(named(k, "here"), O_and, above, make_compare(k, DIR_LT, v, end));
}

/* ---- moves of a reshard -------------------------------------------------------------- */

/* Where what lies as `part`, of this type, begins in what lies as `whole`. */
static void
find_starts(Localizer *l, const Placement *whole, const Placement *part, const Type *local,
	Value **starts)
{
	for (int d = 0; d < local->rank; d++) {
		AxisList had = placement_dim(whole, d), has = placement_dim(part, d);
		AxisList more = axes_drop_prefix(&has, &had);
		starts[d] = more.n ? device_offset(l, &more, local->dims[d]) : number(l, 0);
	}
}

/* Of what lies as `before` the part that lies as `after`. */
static Value *
own_part(Localizer *l, Make k, Value *v, const Placement *before, const Placement *after,
	Type local)
{
	Value *starts[MAX_RANK];

	find_starts(l, before, after, &local, starts);
	return make_dynamic_slice(k, v, starts, local.dims);
}

/* Is it that number, everywhere? */
static bool
is_full_of(const Value *v, int64_t number)
{
	const Op *op = v->def;

	if (op && op->kind == O_broadcast)
		op = op->operands[0]->def;
	return op && op->kind == O_constant && op_ints(op, A_value)->n == 1
		&& op_int(op, A_value) == number;
}

/* A whole value as parts of a sum: what changes nothing where the index is not 0. */
static Value *
first_part(Localizer *l, Make k, Value *v, const Move *move)
{
	Combiner combiner = (Combiner)move->after.combiner;
	int64_t identity = combiner_identity(combiner, v->type.dtype);

	if (is_full_of(v, identity))
		return make_full(l->make, &v->type, identity);
	Value *none = make_neutral(l->make, combiner, v->type.dtype);
	none = make_splat(l->make, none, &v->type);
	Value *first = is_device(l, &move->axes, 0);
	return make_select(k, make_splat(l->make, first, &v->type), v, none);
}

/* A shard as a part of a sum: what changes nothing where others have theirs. */
static Value *
wide_part(Localizer *l, Make k, Value *v, const Move *move, Type wide)
{
	Value *none = make_neutral(l->make, (Combiner)move->after.combiner, v->type.dtype);
	Value *starts[MAX_RANK];

	find_starts(l, &move->after, &move->before, &v->type, starts);
	return make_dynamic_update_slice(k, make_splat(l->make, none, &wide), v, starts);
}

/* ---- ops -------------------------------------------------------------------------------- */

static Value *
resolved(const Localizer *l, Value *v)
{
	return v->id >= 0 && v->id < l->nalias && l->alias[v->id] ? l->alias[v->id] : v;
}

static void
follow_aliases(const Localizer *l, Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = resolved(l, op->operands[i]);
}

void
take_over(Localizer *l, Op *old, Value *new)
{
	Value *v = old->results[0];

	new->range = v->range;
	new->origins = v->origins;
	if (new != old->operands[0] && new->def) {
		const char *name = new->name;
		new->name = v->name;
		v->name = name;
	}
	l->alias[v->id] = new;
	op_remove(old);
}

void
stand_for(Localizer *l, Op *old, Value *new)
{
	new->placement = old->results[0]->placement;
	new->no_placement = false;
	take_over(l, old, new);
}

static void
localize_reshard(Localizer *l, Op *op)
{
	Value *v = op->operands[0];
	const Placement from = v->placement;
	const Type global = op->results[0]->type;
	const int64_t *unpadded = v->unpadded;
	const ReshardPlan *plan =
		reshard_plan(l->resharder, &global, &from, &op->results[0]->placement);

	for (int i = 0; i < plan->n; i++) {
		const Move *move = &plan->moves[i];
		Make k = named(l->make, v->name);
		if (move->kind == O_dynamic_slice) {
			v = own_part(l, k, v, &move->before, &move->after,
				placement_local(&global, &move->after));
		} else if (move->kind == O_select) {
			v = first_part(l, k, v, move);
		} else if (move->kind == O_dynamic_update_slice) {
			v = wide_part(l, k, v, move, placement_local(&global, &move->after));
		} else if (collectives[move->kind].route == ROUTE_pairs) {
			v = make_permute(k, v, &move->axes, &move->from, NULL);
		} else if (move->nexchanges) {
			v = make_exchange(k, v, &move->axes, move->nexchanges, move->exchanges);
		} else {
			v = make_collective(k, move->kind, v, &move->axes, move->dim,
				(Combiner)move->before.combiner);
		}
		v->placement = move->after;
		v->no_placement = false;
		v->unpadded = unpadded;
	}
	take_over(l, op, v);
}

/* A part of the table. */
static void
localize_constant(Localizer *l, Op *op)
{
	Value *v = op->results[0];
	Type local = placement_local(&v->type, &v->placement);
	Placement whole = placement_none(local.rank);

	if (type_equal(&local, &v->type))
		return;
	Value *table = make_array(l->make, &v->type, op_ints(op, A_value)->v);
	Value *part = own_part(l, named(l->make, v->name), table, &whole, &v->placement, local);
	part->unpadded = v->unpadded;
	stand_for(l, op, part);
}

/* Counts in integers wide enough, from the shard's own first index. */
static void
localize_iota(Localizer *l, Op *op)
{
	Value *v = op->results[0];
	int dim = (int)op_int(op, A_iota_dim);
	AxisList axes = placement_dim(&v->placement, dim);
	Type local = placement_local(&v->type, &v->placement), counted = local;

	if (axes_size(&axes) == 1) {
		v->type = local;
		return;
	}
	counted.dtype = v->type.dims[dim] > INT32_MAX ? D_i64 : D_i32;
	Value *count = make_iota(l->make, &counted, dim);
	Value *first =
		make_convert(l->make, device_offset(l, &axes, local.dims[dim]), counted.dtype);
	count = make_binary(named(l->make, "count"), O_add, count,
		make_splat(l->make, first, &counted));
	count = make_convert(l->make, count, local.dtype);
	count->unpadded = v->unpadded;
	count->placement = v->placement;
	count->no_placement = false;
	l->alias[v->id] = count;
	count->range = v->range;
	op_remove(op);
}

static void localize_block(Localizer *l, Block *b);

/* The region dissolves: its body is a device program, once the axes that are
   automatic in it are local too. */
static void
localize_manual(Localizer *l, Op *op)
{
	Block *body = op->bodies[0];
	const Op *last = body->last;

	localize_block(l, body);
	for (Op *o = body->first; o; o = op_following(o, body)) {
		for (int i = 0; i < o->nresults; i++)
			o->results[i]->no_placement = true;
		for (int i = 0; i < o->nbodies; i++)
			for (int k = 0; k < o->bodies[i]->nparams; k++)
				o->bodies[i]->params[k]->no_placement = true;
	}
	for (int i = 0; i < body->nparams; i++)
		l->alias[body->params[i]->id] = op->operands[i];
	for (Op *inner = body->first, *next; inner != last; inner = next) {
		next = inner->next;
		op_remove(inner);
		op_insert_before(op, inner);
		follow_aliases(l, inner);
	}
	/* What it returns has the result's users.  One that is an argument too, or
	   another result, may be placed there as a part of another tensor. */
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		l->alias[v->id] = make_placed(l->make, resolved(l, last->operands[i]), v);
	}
	op_remove(op);
}

static void
localize_op(Localizer *l, Op *op)
{
	static void (*const special[OP_COUNT])(Localizer *, Op *) = {
		[O_reshard] = localize_reshard,
		[O_constant] = localize_constant,
		[O_iota] = localize_iota,
		[O_take] = localize_take,
		[O_scatter_add] = localize_scatter_add,
		[O_grouped_dot] = localize_grouped,
		[O_grouped_outer] = localize_grouped,
		[O_slice] = localize_slice,
		[O_pad] = localize_pad,
		[O_concatenate] = localize_concatenate,
		[O_windows] = localize_windows,
		[O_frames] = localize_windows,
		[O_reverse] = localize_reverse,
		[O_roll] = localize_roll,
		[O_dynamic_slice] = localize_dynamic_slice,
		[O_dynamic_update_slice] = localize_dynamic_update_slice,
		[O_manual] = localize_manual,
	};

	l->make = make_before(op);
	if (op->mode == MODE_explicit)
		l->make.mode = MODE_auto;
	l->make.helper = true;
	l->make.requested = op->requested;
	follow_aliases(l, op);
	if (special[op->kind]) {
		special[op->kind](l, op);
		return;
	}
	for (int i = 0; i < op->nbodies; i++)
		localize_block(l, op->bodies[i]);
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->type =
			placement_local(&op->results[i]->type, &op->results[i]->placement);
}

static void
localize_block(Localizer *l, Block *b)
{
	Table *outer = l->offsets;
	Make make = l->make;

	l->offsets = table_new(l->arena);
	for (int i = 0; i < b->nparams; i++)
		b->params[i]->type =
			placement_local(&b->params[i]->type, &b->params[i]->placement);
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		localize_op(l, op);
	}
	l->offsets = outer;
	l->make = make;
}

bool
localize(Module *m)
{
	Localizer l = {.module = m, .index = D_i32};

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		/* where rows are exchanged, offsets may be some shards beside a dim */
		int64_t most = halo_kind(op->kind) ? INT32_MAX / 4 : INT32_MAX;
		for (int i = 0; i < op->noperands + op->nresults; i++) {
			const Type *t = &rule_tensor(op, i)->type;
			for (int d = 0; d < t->rank; d++)
				if (t->dims[d] > most)
					l.index = D_i64;
		}
	}
	module_number(m);
	l.arena = arena_new();
	l.resharder = resharder_new(l.arena, &m->mesh);
	l.nalias = m->nvalues;
	l.alias = NEW_ARRAY(l.arena, Value *, l.nalias + 1);
	localize_block(&l, m->entry);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value) /* a move, of a parameter of a region */
			m->named[i].value = resolved(&l, resolved(&l, m->named[i].value));
	m->level = L_device;
	module_remove_dead(m);
	arena_free(l.arena);
	return true;
}
