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
#include <string.h>
#include "ir/hlo.h"
#include "ir/ir.h"
#include "ir/read.h"
#include "ir/targets.h"

enum {
	MAX_CALLS = 64,			/* nested composites */
	MAX_DEVICES = 1 << 24,
};

/* ---- calls ---------------------------------------------------------- */

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
read_body(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
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
	Facts facts = facts_of(&instr->attrs);

	op->results[0]->range = op->range;
	op->requested = fact_is(&facts, "requested", "true");
	read_op_attrs(b, instr, &facts, op);
	if (op->kind == O_call)
		read_body(b, instr, &facts, op);
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
	Facts facts = facts_of(&instr->attrs);
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
		cursor_expect_end(&c);
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
	return &computation->instrs[computation->root];
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
	if (!tuple && block->parent) {	/* the root's own metadata is not ours */
		label = block->parent->label;
		range = block->parent->range;
	}
	Op *op = op_new(b->m, O_return, tuple ? root->noperands : 1, operands,
		0, NULL, range, label);
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
	cursor_expect_end(&c);
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
	for (size_t i = 0; i < sizeof module_facts / sizeof module_facts[0] &&
	    !b->r->failed; i++) {
		const Fact *f = find_fact(facts, module_facts[i].key);
		if (f)
			module_facts[i].read(b, f);
		else if (module_facts[i].needed)
			hlo_error(b->r, b->r->start, "the module's "
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
	cursor_expect_end(&c);
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
		if (find_kind(instr->opcode, NULL, &kind))
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
	Range where = b->r->start;

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
	Facts facts = facts_of(&r.attrs);
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
