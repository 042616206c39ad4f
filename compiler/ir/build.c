/*
 * build.c - making and changing programs.
 *
 * Nothing here checks that an op is right (verify.c does) but op_infer(),
 * which has no result to give otherwise.  Every walk over a module is linear
 * in its ops.
 */
#include <ctype.h>
#include <string.h>
#include "ir/ir.h"
#include "ir/targets.h"

/* ---- modules, blocks, names ----------------------------------------- */

/* What HLO takes as a name: letters, digits, '_' and '.', no digit first, no
   word that it knows as a type.  Two dots are for the tuples of dumps; behind one at the
   end there may be a number to come. */
static char *
clean_name(Arena *a, const char *wanted)
{
	char *name = arena_alloc(a, strlen(wanted) + sizeof "__"), *end = name;

	if (!isalpha((unsigned char)wanted[0]) && wanted[0] != '_')
		*end++ = '_';
	for (const char *c = wanted; *c; c++)
		*end++ = isalnum((unsigned char)*c) || (*c == '.' && c[1] && c[1] != '.') ? *c
											  : '_';
	if (hlo_reserved(wanted))
		*end++ = '_';
	*end = '\0';
	return name;
}

/* The tuple at the end of the entry is called "return" in dumps. */
static const char reserved_name[] = "return";

Block *
block_new(Module *m, Op *parent)
{
	Block *b = NEW(m->arena, Block);

	b->module = m;
	b->parent = parent;
	return b;
}

/* Length of the name without a trailing ".2". */
static size_t
stem_length(const char *name)
{
	size_t n = strlen(name), end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end == n || end < 2 || name[end - 1] != '.')
		return n;
	return end - 1;
}

/*
 * The table maps each used name to the number tried last after it, so that
 * a thousand values called "dot" do not look a thousand times each; most names
 * are never tried again and share `untried`.
 */
static int untried;

const char *
module_unique_name(Module *m, const char *wanted)
{
	char *name = clean_name(m->arena, wanted);

	if (m->unnamed || table_add(m->names, name, &untried))
		return name;
	size_t length = stem_length(name);
	const char *stem = arena_strndup(m->arena, name, length);
	int *last = table_get(m->names, stem);
	if (!last || last == &untried) {
		last = NEW(m->arena, int);
		*last = 1;
		table_set(m->names, stem, last);
	}
	/* by hand, for most values of a long program have a number */
	name = arena_alloc(m->arena, length + sizeof ".2147483647");
	memcpy(name, stem, length);
	name[length] = '.';
	do {
		char *end = &name[length + 1];
		for (int rest = ++*last; rest; rest /= 10)
			*++end = '\0';
		for (int rest = *last; rest; rest /= 10)
			*--end = (char)('0' + rest % 10);
	} while (!table_add(m->names, name, &untried));
	return name;
}

const char *
value_source_name(const Value *v)
{
	const Op *maker = v->def ? v->def : v->block->parent;
	bool result = v->def && maker->kind == O_output;

	if (!result && (!maker || !maker->nbodies || (v->def && maker->kind == O_call)))
		return v->name;
	return arena_strndup(maker->module->arena, v->name, stem_length(v->name));
}

Module *
module_new(Session *s, const char *name)
{
	/* what HLO does not take as a module's name, which stands there without a % */
	static const char *const keywords[] = {"true", "false", "inf", "nan", "HloModule",
		"ENTRY", "ROOT", "maximal", "replicated", "manual", "last_tile_dim_replicate",
		"shard_as", "shard_like", "unknown", "unreduced"};
	Module *m = NEW(s->arena, Module);

	m->session = s;
	m->arena = s->arena;
	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
		if (!strcmp(keywords[i], name))
			name = arena_printf(s->arena, "%s_", name);
	m->name = clean_name(s->arena, name);
	m->entry_name = "main";
	m->last_pass = "";
	m->names = table_new(m->arena);
	table_add(m->names, reserved_name, &untried);
	m->entry = block_new(m, NULL);
	m->mesh.ndevices = 1;
	m->mesh.target = target_default();
	return m;
}

static Value *
value_new(Module *m, const char *name, Op *def, Block *b, int index)
{
	Value *v = pool_alloc(&m->value_pool, m->arena, sizeof *v);

	v->name = module_unique_name(m, name);
	v->def = def;
	v->block = b;
	v->index = index;
	v->id = -1;
	return v;
}

Value *
block_add_param(Block *b, const char *name, const Type *type)
{
	Module *m = b->module;
	Value *v = value_new(m, name, NULL, b, b->nparams);

	v->type = *type;
	v->placement = placement_open(type->rank);
	APPEND(m->arena, b->params, b->nparams, v);
	return v;
}

/* ---- ops ------------------------------------------------------------ */

Op *
op_new(Module *m, OpKind kind, int noperands, Value *const *operands, int nresults,
	const char *result_name, Range range, const char *label)
{
	/* side by side, for whoever looks at an op looks at its values */
	size_t narrays = (size_t)noperands + (size_t)nresults;
	Op *op = pool_alloc(&m->op_pool, m->arena,
		sizeof *op + narrays * sizeof op->operands[0]);

	op->kind = kind;
	op->module = m;
	op->noperands = noperands;
	op->nresults = nresults;
	op->range = range;
	op->label = label ? label : ops[kind].name;
	op->operands = (Value **)(op + 1);
	op->results = op->operands + noperands;
	if (noperands)
		memcpy(op->operands, operands, (size_t)noperands * sizeof operands[0]);
	for (int i = 0; i < nresults; i++)
		op->results[i] =
			value_new(m, result_name ? result_name : ops[kind].name, op, NULL, i);
	return op;
}

void
op_begin_bodies(Op *op, int n)
{
	op->nbodies = n;
	op->bodies = NEW_ARRAY(op->module->arena, Block *, n);
	for (int i = 0; i < n; i++)
		op->bodies[i] = block_new(op->module, op);
}

/* A loop may capture thousands, one by one: room for twice as many. */
static Value **
values_with(Arena *a, Value **values, int n, int *room, Value *more)
{
	enum { FIRST = 4 };

	if (n >= *room) {
		*room = n < FIRST ? FIRST : 2 * n;
		Value **all = NEW_ARRAY(a, Value *, *room);
		if (n)
			memcpy(all, values, (size_t)n * sizeof values[0]);
		values = all;
	}
	values[n] = more;
	return values;
}

Value *
op_add_result(Op *op, const char *name, const Type *type)
{
	Module *m = op->module;
	Value *v = value_new(m, name, op, op->block, op->nresults);

	v->type = *type;
	v->placement = placement_open(type->rank);
	op->results = values_with(m->arena, op->results, op->nresults++, &op->result_room, v);
	return v;
}

/* For as many operands as there is room for. */
static Range *
ranges_with_room(const Op *op, int n)
{
	int room = op->operand_room > op->noperands ? op->operand_room : op->noperands;
	Range *ranges = NEW_ARRAY(op->module->arena, Range, room);

	if (op->operand_ranges)
		memcpy(ranges, op->operand_ranges, (size_t)n * sizeof *ranges);
	return ranges;
}

void
op_set_operand_range(Op *op, int operand, Range where)
{
	if (!op->operand_ranges)
		op->operand_ranges = ranges_with_room(op, 0);
	op->operand_ranges[operand] = where;
}

void
op_add_operand(Op *op, Value *v)
{
	int n = op->noperands++, room = op->operand_room;

	op->operands = values_with(op->module->arena, op->operands, n, &op->operand_room, v);
	if (op->operand_ranges && op->operand_room != room)
		op->operand_ranges = ranges_with_room(op, n);
}

/* Links a detached op between two neighbours, either of which may be NULL. */
static void
op_link(Block *b, Op *op, Op *prev, Op *next)
{
	op->block = b;
	op->prev = prev;
	op->next = next;
	*(prev ? &prev->next : &b->first) = op;
	*(next ? &next->prev : &b->last) = op;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->block = b;
}

void
op_append(Block *b, Op *op)
{
	op_link(b, op, b->last, NULL);
}

void
op_insert_before(Op *where, Op *op)
{
	op_link(where->block, op, where->prev, where);
}

void
op_remove(Op *op)
{
	Block *b = op->block;

	*(op->prev ? &op->prev->next : &b->first) = op->next;
	*(op->next ? &op->next->prev : &b->last) = op->prev;
	op->block = NULL;
	op->prev = op->next = NULL;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->block = NULL;
}

/* ---- attributes ----------------------------------------------------- */

/* How many attributes of `has` come before this one. */
static int
attr_index(uint64_t has, AttrKind attr)
{
	int n = 0;

	for (has &= ((uint64_t)1 << attr) - 1; has; has &= has - 1)
		n++;
	return n;
}

void
op_set_ints(Op *op, AttrKind attr, int n, const int64_t *v)
{
	Ints *ints = arena_alloc(op->module->arena, sizeof *ints + (size_t)n * sizeof v[0]);
	int count = attr_index(op->has, ATTR_COUNT), at = attr_index(op->has, attr);
	int known = op_has(op, attr);
	/* copies of ops share theirs */
	const Ints **attrs = NEW_ARRAY(op->module->arena, const Ints *, count + 1);

	ints->n = n;
	if (n)
		memcpy(ints->v, v, (size_t)n * sizeof v[0]);
	for (int i = 0; i < at; i++)
		attrs[i] = op->attrs[i];
	attrs[at] = ints;
	for (int i = at + known; i < count; i++)
		attrs[i + 1 - known] = op->attrs[i];
	op->attrs = attrs;
	op->has |= (uint64_t)1 << attr;
}

void
op_copy_attrs(Op *op, const Op *from)
{
	op->has = from->has;
	op->attrs = from->attrs;
}

void
op_set_int(Op *op, AttrKind attr, int64_t v)
{
	op_set_ints(op, attr, 1, &v);
}

bool
op_has(const Op *op, AttrKind attr)
{
	return op->has >> attr & 1;
}

const Ints *
op_ints(const Op *op, AttrKind attr)
{
	static const Ints none = {0};

	return op_has(op, attr) ? op->attrs[attr_index(op->has, attr)] : &none;
}

int64_t
op_inner(const Op *op, int dim)
{
	return op_has(op, A_inner) ? op_ints(op, A_inner)->v[dim] : 0;
}

int64_t
pad_kept(int64_t n, int64_t inner, int64_t *low, int64_t *high, int64_t *first)
{
	int64_t step = inner + 1, before = 0, behind = 0;

	if (*low < 0) {
		before = (-*low - 1) / step + 1;
		*low = (step - -*low % step) % step;
	}
	if (*high < 0) {
		behind = (-*high - 1) / step + 1;
		*high = (step - -*high % step) % step;
	}
	if (first)
		*first = before;
	return n - before - behind;
}

int
ints_find(const Ints *list, int64_t v)
{
	for (int i = 0; i < list->n; i++)
		if (list->v[i] == v)
			return i;
	return -1;
}

bool
ints_contain(const Ints *list, int64_t v)
{
	return ints_find(list, v) >= 0;
}

int64_t
op_int(const Op *op, AttrKind attr)
{
	const Ints *ints = op_ints(op, attr);

	if (!ints->n)
		die("%s has no attribute %d", ops[op->kind].name, attr);
	return ints->v[0];
}

int64_t
permute_source(const Mesh *mesh, const Op *op, int64_t device)
{
	int64_t index = axes_index(mesh, op->axes, device);

	if (op->from)
		return axes_with_index(mesh, op->from, device, index);
	int64_t from = op_ints(op, A_source)->v[index];
	return from < 0 ? -1 : axes_with_index(mesh, op->axes, device, from);
}

const Op *
block_manual(const Block *b)
{
	while (b && b->parent && b->parent->kind != O_manual)
		b = b->parent->block;
	return b ? b->parent : NULL;
}

AxisList
block_manual_axes(const Block *b)
{
	AxisList axes = {0};

	for (const Op *op = block_manual(b); op; op = block_manual(op->block))
		if (op->axes)
			axes_append_all(&axes, op->axes);
	return axes;
}

/* ---- changing programs ---------------------------------------------- */

/* In the ops from `op` on, and in their bodies. */
static void
replace_from(Op *op, Value *old, Value *new)
{
	for (; op; op = op->next) {
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == old)
				op->operands[i] = new;
		for (int i = 0; i < op->nbodies; i++)
			replace_from(op->bodies[i]->first, old, new);
	}
}

/* A use comes after its definition, so the walk starts there. */
void
value_take_name(Value *v, const Value *from)
{
	v->name = from->name;
	v->range = from->range;
	v->untyped = from->untyped;
	v->pair = from->pair;
}

void
value_replace_uses(Module *m, Value *old, Value *new)
{
	if (old->block)
		replace_from(old->def && old->def->block ? old->def->next : old->block->first,
			old, new);
	for (int i = 0; i < m->nresults; i++)
		if (m->results[i].value == old)
			m->results[i].value = new;
}

/* ---- walks over the whole module ------------------------------------ */

Op *
op_following(const Op *op, const Block *within)
{
	int done = 0; /* of its bodies */

	for (;;) {
		for (int i = done; i < op->nbodies; i++)
			if (op->bodies[i]->first)
				return op->bodies[i]->first;
		if (op->next || op->block == within)
			return op->next;
		const Block *body = op->block;
		op = body->parent;
		for (done = 1; op->bodies[done - 1] != body; done++)
			;
	}
}

int
block_length(const Block *b)
{
	int n = 0;

	for (const Op *op = b->first; op; op = op->next)
		n++;
	return n;
}

/* Calls `visit` with the block's parameters, then of each op with its results and the
   parameters of its bodies. */
static void
each_value(Block *b, void (*visit)(Value *v, void *data), void *data)
{
	for (int i = 0; i < b->nparams; i++)
		visit(b->params[i], data);
	for (Op *op = b->first; op; op = op_following(op, b)) {
		for (int i = 0; i < op->nresults; i++)
			visit(op->results[i], data);
		for (int i = 0; i < op->nbodies; i++)
			for (int k = 0; k < op->bodies[i]->nparams; k++)
				visit(op->bodies[i]->params[k], data);
	}
}

static void
take_name(Value *v, void *data)
{
	Module *m = data;

	table_add(m->names, v->name, &untried);
}

void
module_free_names(Module *m)
{
	if (m->unnamed)
		return;
	table_clear(m->names);
	table_add(m->names, reserved_name, &untried);
	each_value(m->entry, take_name, m);
}

void
module_hide(Module *m)
{
	m->session->err = NULL;
	m->unnamed = true;
}

static void
list_value(Value *v, void *data)
{
	((Value **)data)[v->id] = v;
}

Value **
module_values(Module *m, Arena *a)
{
	Value **values = NEW_ARRAY(a, Value *, m->nvalues + 1);

	each_value(m->entry, list_value, values);
	return values;
}

/* In the order of each_value(), whatever the block looks like: the verifier has
   not seen it. */
static void
number(Block *b)
{
	Module *m = b->module;

	for (Op *op = b->first; op; op = op->next) {
		op->id = m->nops++;
		for (int i = 0; i < op->nresults; i++)
			op->results[i]->id = m->nvalues++;
		for (int i = 0; i < op->nbodies; i++)
			for (int k = 0; k < op->bodies[i]->nparams; k++)
				op->bodies[i]->params[k]->id = m->nvalues++;
		for (int i = 0; i < op->nbodies; i++)
			number(op->bodies[i]);
	}
}

static void
clear_uses(Value *v, void *data)
{
	(void)data;
	v->uses = 0;
}

void
block_number(Block *b)
{
	Module *m = b->module;

	m->nvalues = m->nops = 0;
	for (int i = 0; i < b->nparams; i++)
		b->params[i]->id = m->nvalues++;
	number(b);
}

void
module_number(Module *m)
{
	module_forget_gone(m);
	block_number(m->entry);
}

void
module_clear_uses(Module *m)
{
	each_value(m->entry, clear_uses, NULL);
}

void
block_count_uses(Block *b)
{
	each_value(b, clear_uses, NULL);
	for (Op *op = b->first; op; op = op_following(op, b))
		for (int i = 0; i < op->noperands; i++)
			op->operands[i]->uses++;
}

void
module_count_uses(Module *m)
{
	block_count_uses(m->entry);
}

bool
value_is_literal(const Value *v)
{
	const Op *op = v->def;

	if (op && op->kind == O_broadcast && !op->operands[0]->type.rank)
		op = op->operands[0]->def;
	return op && (op->kind == O_constant || op->kind == O_iota);
}

bool
op_is_move(const Op *op)
{
	return op->kind == O_constraint || op->kind == O_reshard;
}

bool
op_is_identity(const Op *op)
{
	return op_is_move(op) || op->kind == O_output || op->kind == O_barrier
		|| op->kind == O_shard_like || op->kind == O_uniform;
}

static bool
is_fused_alone(const Op *op)
{
	const Op *parent = op->block->parent;

	return op->module->level >= L_fused && !(parent && parent->kind == O_fusion);
}

bool
op_is_joint(const Op *op)
{
	return op->kind == O_concatenate && is_fused_alone(op);
}

bool
op_is_strip(const Op *op)
{
	return op->kind == O_slice && is_fused_alone(op);
}

bool
op_is_in_ranges(const Op *concatenate)
{
	const Type *whole = &concatenate->results[0]->type;
	int bits = dtypes[whole->dtype].bits;

	for (int d = 0; d < op_int(concatenate, A_dim); d++)
		if (whole->dims[d] != 1)
			return false;
	for (int i = 0; i < concatenate->noperands; i++) {
		int64_t n = type_elements(&concatenate->operands[i]->type);
		if (!n || (bits < 8 && n * bits % 8))
			return false;
	}
	return true;
}

int
op_changed_part(const Op *op)
{
	return op->kind == O_dynamic_update_slice ? 1 : op->kind == O_scatter_add ? 2 : -1;
}

bool
op_looks_up(const Op *op)
{
	return op->kind == O_take || op->kind == O_scatter_add;
}

Lookup
op_lookup(const Op *op)
{
	const Ints *dims = op_ints(op, A_dim), *counted = op_ints(op, A_counted);
	Lookup look = {(int)op_int(op, A_dim), dims->n,
		op->operands[1]->type.rank - (dims->n > 1), {0}};

	for (int i = 0; i < look.n; i++)
		look.counts[i] = -1;
	for (int i = 0; i < counted->n; i++)
		if (ints_contain(dims, counted->v[i]))
			look.counts[counted->v[i] - look.first] = i;
	return look;
}

bool
op_is_one_to_one(const Op *op)
{
	return ops[op->kind].pointwise || op->kind == O_reshape || op->kind == O_transpose;
}

bool
op_has_starts(const Op *op)
{
	return op->kind == O_dynamic_slice || op->kind == O_dynamic_update_slice;
}

int
op_operand_of(const Op *op, const Value *v)
{
	int k = 0;

	while (op->operands[k] != v)
		k++;
	return k;
}

bool
op_takes_part(const Op *op)
{
	return op->kind == O_slice || op->kind == O_dynamic_slice;
}

bool
loop_hands_on(const Op *loop, int i)
{
	const Block *body = loop->bodies[1];

	return body->last && i < body->last->noperands && i < body->nparams
		&& body->last->operands[i] == body->params[i];
}

const char opcode_start[] = "-start", opcode_done[] = "-done";

const char *
op_opcode(Arena *a, const Op *op)
{
	const Op *begun = op->kind == O_done ? op->operands[0]->def : NULL;

	if (begun)
		return arena_printf(a, "%s%s", ops[begun->kind].hlo, opcode_done);
	return op->async ? arena_printf(a, "%s%s", ops[op->kind].hlo, opcode_start)
			 : ops[op->kind].hlo;
}

bool
op_is_combined(const Op *op)
{
	const Op *begun = op->kind == O_done ? op->operands[0]->def : NULL;

	return begun ? begun->combined : op->combined;
}

static bool
same_int(const Op *a, const Op *b, AttrKind attr)
{
	return op_has(a, attr) == op_has(b, attr)
		&& (!op_has(a, attr) || op_int(a, attr) == op_int(b, attr));
}

/* Of permutes: do the same send to the same? */
static bool
same_pairs(const Op *a, const Op *b)
{
	const Ints *from = op_ints(a, A_source), *to = op_ints(b, A_source);

	if (!a->from != !b->from || (a->from && !axes_equal(a->from, b->from)))
		return false;
	return from->n == to->n
		&& (!from->n || !memcmp(from->v, to->v, (size_t)from->n * sizeof *from->v));
}

bool
ops_combine(const Op *a, const Op *b)
{
	Combines how = collectives[a->kind].combines;

	return a->kind == b->kind && how != COMBINES_no && a->async == b->async
		&& axes_equal(a->axes, b->axes) && same_pairs(a, b)
		&& (how == COMBINES_lines || same_int(a, b, A_dim))
		&& same_int(a, b, A_combiner)
		&& a->operands[0]->type.dtype == b->operands[0]->type.dtype;
}

int
combined_in_one(const Op *first)
{
	int n = 1;

	for (const Op *op = first->next; op && op_is_combined(op); op = op->next)
		n++;
	return n;
}

static bool
same_place(const Op *a, const Op *b)
{
	return a->mode == b->mode && a->range.file == b->range.file
		&& a->range.line == b->range.line && !a->label == !b->label
		&& (!a->label || !strcmp(a->label, b->label));
}

static bool
joins_fences(const Op *op, const Op *first)
{
	const Op *from = op->operands[0]->def;

	return op->kind == O_fence && same_place(op, first)
		&& !(from && from->kind == O_fence && same_place(from, first));
}

int
fences_in_one(const Op *first)
{
	int n = 1;

	for (const Op *op = first->next; op && op->noperands && joins_fences(op, first);
		op = op->next)
		n++;
	return n;
}

bool
is_one_of_fences(const Op *op)
{
	const Op *before = op->prev, *next = op->next;

	return op->kind == O_fence
		&& ((next && next->noperands && joins_fences(next, op))
			|| (before && before->kind == O_fence && joins_fences(op, before)));
}
