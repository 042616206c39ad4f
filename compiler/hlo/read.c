/*
 * read.c - a module from HLO text that print.c wrote, perhaps edited since.
 *
 * Total: any text gives a module that is well-formed for its level, or
 * diagnostics.  Computations are built from the ENTRY on; those that reduce
 * are recognized by their form, the others become the bodies of calls.  What
 * the text says twice (groups of devices beside `axes`, windows, gathers)
 * must agree.  Tuples are how HLO writes several values: here they are lists
 * of values by name, and a get-tuple-element is the name of a value.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/hlo.h"
#include "ir/ir.h"
#include "hlo/read.h"
#include "ir/targets.h"

enum {
	MAX_CALLS = 600, /* nested; a program has 500 blocks */
};

/* ---- names in one computation --------------------------------------- */

typedef struct Tuple {
	int n;
	Value **v;
} Tuple;

/* The get-tuple-elements of one tuple. */
typedef struct Elements {
	int n;
	struct Element {
		const HloInstr *instr;
		int64_t index;
	} * a;
} Elements;

typedef struct Scope {
	Table *values;	 /* by name, Value */
	Table *tuples;	 /* by name, Tuple */
	Table *elements; /* by the tuple's name, Elements */
} Scope;

static bool
is_element(const HloInstr *instr)
{
	return !strcmp(instr->opcode, "get-tuple-element");
}

static void
note_element(Builder *b, Scope *scope, const HloInstr *instr)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "index");

	if (!attr || instr->noperands != 1) {
		hlo_error(b->r, instr->where,
			"get-tuple-element needs a tuple "
			"and an index");
		return;
	}
	Cursor c = attr->value;
	struct Element element = {instr, cursor_integer(&c, "an index")};
	Elements *of = table_get(scope->elements, instr->operands[0].name);
	if (!of) {
		of = NEW(b->r->arena, Elements);
		table_set(scope->elements, instr->operands[0].name, of);
	}
	APPEND(b->r->arena, of->a, of->n, element);
}

/* Values are named before the elements are read that name them. */
static Scope
scope_new(Builder *b, const HloComputation *computation, Table *values)
{
	Arena *a = b->r->arena;
	Scope scope = {values, table_new(a), table_new(a)};

	for (int i = 0; i < computation->n && !b->r->failed; i++)
		if (is_element(&computation->instrs[i]))
			note_element(b, &scope, &computation->instrs[i]);
	return scope;
}

/* For each part of a tuple the instruction that takes it out first, or
   `otherwise`. */
static const HloInstr **
elements_of(Builder *b, const Scope *scope, const char *tuple, int n, const HloInstr *otherwise)
{
	const HloInstr **found = NEW_ARRAY(b->r->arena, const HloInstr *, n + 1);
	const Elements *of = table_get(scope->elements, tuple);

	for (int i = 0; i < n; i++)
		found[i] = otherwise;
	for (int i = of ? of->n - 1 : -1; i >= 0; i--)
		if (of->a[i].index >= 0 && of->a[i].index < n)
			found[of->a[i].index] = of->a[i].instr;
	return found;
}

static void
define(Builder *b, const HloInstr *instr, Scope *scope, Value *v, Tuple *tuple)
{
	if (table_get(scope->values, instr->name) || table_get(scope->tuples, instr->name))
		hlo_error(b->r, instr->where, "%%%s is defined twice", instr->name);
	else if (v)
		table_set(scope->values, instr->name, v);
	else
		table_set(scope->tuples, instr->name, tuple);
	if (v)
		table_set(b->named, instr->name, v);
}

static void
define_tuple(Builder *b, const HloInstr *instr, Scope *scope, int n, Value **v)
{
	Tuple *tuple = NEW(b->r->arena, Tuple);

	*tuple = (Tuple){n, v};
	define(b, instr, scope, NULL, tuple);
}

static Value *
find_value(Builder *b, const HloOperand *o, const Scope *scope)
{
	Value *v = table_get(scope->values, o->name);

	if (!v && table_get(scope->tuples, o->name))
		hlo_error(b->r, o->where, "%%%s is a tuple", o->name);
	else if (!v)
		hlo_error(b->r, o->where, "%%%s is not defined before this", o->name);
	return v;
}

static Value **
find_operands(Builder *b, const HloInstr *instr, const Scope *scope)
{
	Value **operands = NEW_ARRAY(b->r->arena, Value *, instr->noperands);

	for (int i = 0; i < instr->noperands; i++)
		operands[i] = find_value(b, &instr->operands[i], scope);
	return operands;
}

static const Tuple *
find_tuple(Builder *b, const HloInstr *instr, int operand, const Scope *scope)
{
	const HloOperand *o = &instr->operands[operand];
	const Tuple *tuple = table_get(scope->tuples, o->name);

	if (!tuple)
		hlo_error(b->r, o->where,
			"%%%s is not a tuple defined before "
			"this",
			o->name);
	return tuple;
}

/* Another name for one of a tuple's values, perhaps the one that it has. */
static void
build_element(Builder *b, const HloInstr *instr, Scope *scope)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "index");
	const Tuple *tuple = find_tuple(b, instr, 0, scope);

	if (!tuple || !attr)
		return;
	Cursor c = attr->value;
	int64_t index = cursor_integer(&c, "an index");
	cursor_expect_end(&c);
	if (b->r->failed)
		return;
	if (index < 0 || index >= tuple->n || instr->tuple
		|| !type_equal(&tuple->v[index]->type, &instr->type)) {
		hlo_error(b->r, instr->where,
			"the tuple has no such element "
			"%lld",
			(long long)index);
		return;
	}
	define(b, instr, scope, tuple->v[index], NULL);
}

/* ---- bodies --------------------------------------------------------- */

static void
build_block(Builder *b, Block *block, const HloComputation *computation, Table *values);

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
		hlo_error(b->r, f->where, "'%s' is not the name of a composite", f->value);
	return name;
}

static void
read_body(Builder *b, const HloInstr *instr, Op *op, int i)
{
	HloComputation *computation = read_applied(b, instr, body_attrs[op->kind][i]);

	if (!computation)
		return;
	if (computation->used || computation->entry) {
		hlo_error(b->r, instr->where, "%s is applied twice", computation->name);
		return;
	}
	computation->used = true;
	if (++b->calls > MAX_CALLS) {
		hlo_error(b->r, instr->where, "more than %d nested calls", MAX_CALLS);
		return;
	}
	op->bodies[i] = block_new(b->m, op);
	op->nbodies = i + 1;
	build_block(b, op->bodies[i], computation, table_new(b->r->arena));
	b->calls--;
}

static void
read_bodies(Builder *b, const HloInstr *instr, const Facts *facts, Op *op)
{
	int n = ops[op->kind].bodies;

	if (op->kind == O_call)
		op->composite = composite_name(b, facts);
	op->bodies = NEW_ARRAY(b->r->arena, Block *, n);
	for (int i = 0; i < n && !b->r->failed; i++)
		read_body(b, instr, op, i);
}

/* ---- ops ------------------------------------------------------------ */

static bool
find_kind(const char *opcode, const char *target, OpKind *kind)
{
	for (int k = 0; k < OP_COUNT; k++) {
		if (strcmp(ops[k].hlo, opcode) || (target != NULL) != (ops[k].target != NULL)
			|| (target && strcmp(ops[k].target, target)))
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
	hlo_error(b->r, instr->where, "no op of shdc is spelled '%s%s%s'", instr->opcode,
		target ? " " : "", target ? target : "");
	return false;
}

/* op_name="main/relu" source_file="ffn.shd" source_line=3 */
static void
read_metadata(Builder *b, const HloAttrs *attrs, const char **label, Range *range)
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
			range->line = line < 0 || line > INT32_MAX ? 0 : (int)line;
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
		bool ours = !strncmp(value, b->m->entry_name, entry) && value[entry] == '/';
		*label = ours ? value + entry + 1 : value;
	}
}

static void
remember(Builder *b, const void *line, const HloInstr *instr)
{
	Built built = {line, instr};

	APPEND(b->r->arena, b->built, b->nbuilt, built);
}

/* while(%tuple); conditional(%p, %tuple, %tuple) */
static Value **
find_carried(Builder *b, const HloInstr *instr, const Scope *scope, bool choice, int *n)
{
	int wanted = choice ? 3 : 1;

	if (instr->noperands != wanted) {
		hlo_error(b->r, instr->where, "%s has %d operands, not %d", instr->opcode,
			wanted, instr->noperands);
		return NULL;
	}
	const Tuple *tuple = find_tuple(b, instr, choice, scope);
	if (choice && tuple && find_tuple(b, instr, 2, scope) != tuple)
		hlo_error(b->r, instr->where,
			"the two sides of %s are given "
			"different tuples",
			instr->opcode);
	if (!choice)
		*n = tuple ? tuple->n : 0;
	if (!choice || b->r->failed)
		return tuple ? tuple->v : NULL;
	*n = tuple->n + 1;
	Value **operands = NEW_ARRAY(b->r->arena, Value *, *n);
	operands[0] = find_value(b, &instr->operands[0], scope);
	for (int i = 0; i < tuple->n; i++)
		operands[i + 1] = tuple->v[i];
	return operands;
}

/* The names and placements of several results are those of the elements. */
static void
build_results(Builder *b, Op *op, const HloInstr *instr, Scope *scope)
{
	const HloInstr **elements = elements_of(b, scope, instr->name, instr->ntypes, instr);

	for (int i = 0; i < instr->ntypes; i++) {
		const HloInstr *e = elements[i];
		const char *label = NULL;
		Facts facts = facts_of(&e->attrs);
		Value *v = op_add_result(op, e == instr ? ops[op->kind].name : e->name,
			&instr->types[i]);
		v->range = op->range;
		read_metadata(b, &e->attrs, &label, &v->range);
		read_placement(b, e, &facts, v);
	}
	define_tuple(b, instr, scope, op->nresults, op->results);
}

static void
build_result(Builder *b, Op *op, const HloInstr *instr, Scope *scope)
{
	Facts facts = facts_of(&instr->attrs);
	Value *v = op_add_result(op, instr->name, &instr->type);

	v->range = op->range;
	op->requested = fact_is(&facts, "requested", "true");
	read_placement(b, instr, &facts, v);
	define(b, instr, scope, v, NULL);
}

static void
build_op(Builder *b, Block *block, const HloInstr *instr, Scope *scope)
{
	Facts facts = facts_of(&instr->attrs);
	const char *label = NULL;
	int n = instr->noperands;
	Range range = {0};
	OpKind kind;

	if (!instr_kind(b, instr, &kind))
		return;
	Value **operands = ops[kind].bodies == 2
		? find_carried(b, instr, scope, kind == O_if, &n)
		: find_operands(b, instr, scope);
	if (ops[kind].operands >= 0 && n != ops[kind].operands)
		hlo_error(b->r, instr->where, "%s has %d operands, not %d", instr->opcode,
			ops[kind].operands, n);
	if (instr->tuple ? !ops[kind].many : ops[kind].bodies == 2)
		hlo_error(b->r, instr->where, "%s makes %s tuple", instr->opcode,
			instr->tuple ? "a" : "no");
	read_metadata(b, &instr->attrs, &label, &range);
	if (b->r->failed)
		return;
	Op *op = op_new(b->m, kind, n, operands, 0, NULL, range, label);
	op->mode = fact_is(&facts, "mode", "explicit") ? MODE_explicit : MODE_auto;
	op_append(block, op);
	remember(b, op, instr);
	if (instr->tuple)
		build_results(b, op, instr, scope);
	else
		build_result(b, op, instr, scope);
	read_op_attrs(b, instr, &facts, op);
	if (ops[kind].bodies)
		read_bodies(b, instr, &facts, op);
}

/* ---- computations --------------------------------------------------- */

static Value *
build_param(Builder *b, Block *block, const HloInstr *instr, const char *name, const Type *type)
{
	Facts facts = facts_of(&instr->attrs);
	const char *label = NULL;
	Value *v = block_add_param(block, name, type);

	read_metadata(b, &instr->attrs, &label, &v->range);
	remember(b, v, instr);
	read_placement(b, instr, &facts, v);
	return v;
}

/* The parameters of a while's or an if's body are the elements of one. */
static void
build_param_tuple(Builder *b, Block *block, const HloInstr *instr, Scope *scope)
{
	const HloInstr **elements = elements_of(b, scope, instr->name, instr->ntypes, instr);

	for (int i = 0; i < instr->ntypes; i++)
		build_param(b, block, elements[i],
			elements[i] == instr ? "carried" : elements[i]->name, &instr->types[i]);
	define_tuple(b, instr, scope, block->nparams, block->params);
}

/* Parameters may come in any order; each number once, from 0 on. */
static void
build_params(Builder *b, Block *block, const HloComputation *computation, Scope *scope)
{
	const HloInstr **params = NEW_ARRAY(b->r->arena, const HloInstr *, computation->n);
	bool tuple = body_takes_tuple(block);
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
		if (index < 0 || index >= (tuple ? 1 : computation->n) || params[index]
			|| instr->tuple != tuple) {
			hlo_error(b->r, instr->where, "parameter %lld is out of turn",
				(long long)index);
			return;
		}
		params[index] = instr;
		n++;
	}
	if (tuple && !n)
		hlo_error(b->r, computation->where, "%s has no parameter", computation->name);
	else if (tuple)
		build_param_tuple(b, block, params[0], scope);
	for (int i = 0; i < n && !tuple && !b->r->failed; i++)
		if (params[i])
			define(b, params[i], scope,
				build_param(b, block, params[i], params[i]->name,
					&params[i]->type),
				NULL);
		else
			hlo_error(b->r, computation->where, "parameter %d of %s is missing", i,
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
	return instr == root_of(computation) && !strcmp(instr->opcode, "tuple");
}

static void
build_return(Builder *b, Block *block, const HloComputation *computation, const Scope *scope)
{
	const HloInstr *root = root_of(computation);
	bool tuple = is_tuple_root(computation, root);
	const HloOperand self = {root->name, root->where};
	const char *label = NULL;
	Range range = {0};
	Value *value = NULL;
	Value **operands = tuple ? find_operands(b, root, scope) : &value;

	if (!tuple)
		value = find_value(b, &self, scope);
	read_metadata(b, &root->attrs, &label, &range);
	if (b->r->failed)
		return;
	if (!tuple && block->parent) { /* the root's own metadata is not ours */
		label = block->parent->label;
		range = block->parent->range;
	}
	Op *op = op_new(b->m, O_return, tuple ? root->noperands : 1, operands, 0, NULL, range,
		label);
	op_append(block, op);
	remember(b, op, root);
}

static void
build_instr(Builder *b, Block *block, const HloInstr *instr, Scope *scope)
{
	if (is_element(instr))
		build_element(b, instr, scope);
	else if (!strcmp(instr->opcode, "tuple"))
		define_tuple(b, instr, scope, instr->noperands, find_operands(b, instr, scope));
	else if (strcmp(instr->opcode, "parameter"))
		build_op(b, block, instr, scope);
}

static void
build_block(Builder *b, Block *block, const HloComputation *computation, Table *values)
{
	Scope scope = scope_new(b, computation, values);

	build_params(b, block, computation, &scope);
	for (int i = 0; i < computation->n && !b->r->failed; i++)
		if (!is_tuple_root(computation, &computation->instrs[i]))
			build_instr(b, block, &computation->instrs[i], &scope);
	if (!b->r->failed)
		build_return(b, block, computation, &scope);
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
		"window",
		"offset_dims",
		"start_index_map",
		"index_vector_dim",
		"slice_sizes",
		"update_window_dims",
		"scatter_dims_to_operand_dims",
		"replica_groups",
		"source_target_pairs",
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
				"%%%s say: %.*s",
				derived[i], instr->name, want->value.end - want->value.pos,
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
		cursor_error(&c,
			"num_partitions=%lld for a mesh of %lld "
			"devices",
			(long long)n, (long long)b->m->mesh.ndevices);
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
	b.named = table_new(s->arena);
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
