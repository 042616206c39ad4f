/*
 * program_read.c - ops and values, from computations and their instructions.
 *
 * Built from the ENTRY on; computations that reduce or compare are recognized
 * by their form, the others become the bodies of ops.  Tuples are how HLO
 * writes several values: here they are lists of values by name, and a
 * get-tuple-element is the name of a value.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

enum {
	MAX_CALLS = 600, /* nested; a program has 500 blocks */
};

/* ---- names in one computation ---------------------------------------- */

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

/* For each part of a tuple the instruction that takes it out first, or its
   own. */
static const HloInstr **
elements_of(Reading *rd, const Scope *scope, const HloInstr *tuple)
{
	const HloInstr **found = NEW_ARRAY(rd->arena, const HloInstr *, tuple->ntypes + 1);
	const Elements *of = table_get(scope->elements, tuple->name);

	for (int i = 0; i < tuple->ntypes; i++)
		found[i] = tuple;
	for (int i = of ? of->n - 1 : -1; i >= 0; i--)
		if (of->a[i].index >= 0 && of->a[i].index < tuple->ntypes)
			found[of->a[i].index] = of->a[i].instr;
	return found;
}

/* A value or a tuple. */
static void
define(Reading *rd, const HloInstr *instr, Scope *scope, Value *v, Tuple *tuple)
{
	if (table_get(scope->values, instr->name) || table_get(scope->tuples, instr->name))
		hlo_error(rd, instr->where, "%%%s is defined twice", instr->name);
	else if (v)
		table_set(scope->values, instr->name, v);
	else
		table_set(scope->tuples, instr->name, tuple);
	if (v)
		table_set(rd->named, instr->name, v);
}

static void
define_tuple(Reading *rd, const HloInstr *instr, Scope *scope, int n, Value **v)
{
	Tuple *tuple = NEW(rd->arena, Tuple);

	*tuple = (Tuple){n, v};
	define(rd, instr, scope, NULL, tuple);
}

static Value *
find_value(Reading *rd, const HloOperand *operand, const Scope *scope)
{
	Value *v = table_get(scope->values, operand->name);

	if (!v && table_get(scope->tuples, operand->name))
		hlo_error(rd, operand->where, "%%%s is a tuple", operand->name);
	else if (!v)
		hlo_error(rd, operand->where, "%%%s is not defined before this", operand->name);
	return v;
}

static Value **
find_operands(Reading *rd, const HloInstr *instr, const Scope *scope)
{
	Value **operands = NEW_ARRAY(rd->arena, Value *, instr->noperands);

	for (int i = 0; i < instr->noperands; i++)
		operands[i] = find_value(rd, &instr->operands[i], scope);
	return operands;
}

static const Tuple *
find_tuple(Reading *rd, const HloOperand *operand, const Scope *scope)
{
	const Tuple *tuple = table_get(scope->tuples, operand->name);

	if (!tuple)
		hlo_error(rd, operand->where, "%%%s is not a tuple defined before this",
			operand->name);
	return tuple;
}

/* ---- ops ------------------------------------------------------------- */

/* {op_name="main/relu" source_file="ffn.shd" source_line=3}; the label, or
   NULL. */
static const char *
read_metadata(Reading *rd, const HloInstr *instr, Range *range)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, "metadata");
	size_t entry = strlen(rd->m->entry_name);
	const char *label = NULL;
	int length;

	if (!attr)
		return NULL;
	Cursor c = attr->value;
	cursor_expect(&c, "{");
	while (!rd->failed && !cursor_accept(&c, "}")) {
		const char *key = cursor_word(&c, "a key");
		cursor_expect(&c, "=");
		if (!strcmp(key, "source_line")) {
			range->line = cursor_line(&c);
			continue;
		}
		if (!cursor_is(&c, '"')) {
			cursor_word(&c, "a value");
			continue;
		}
		const char *value = cursor_string(&c, &length);
		if (!strcmp(key, "source_file"))
			range->file = source_add_name(rd->session, value);
		if (strcmp(key, "op_name"))
			continue;
		bool ours = !strncmp(value, rd->m->entry_name, entry) && value[entry] == '/';
		label = ours ? value + entry + 1 : value;
	}
	return label;
}

static bool
read_kind(const ReadLine *in, OpKind *kind, bool *async)
{
	const HloAttr *attr = hlo_attr(&in->instr->attrs, "custom_call_target");
	const char *opcode = in->instr->opcode, *target = NULL;
	int length;

	if (attr) {
		Cursor c = attr->value;
		target = cursor_string(&c, &length);
	}
	if (!target && read_half(in->instr, kind, async))
		return true;
	for (int k = 0; k < OP_COUNT && !in->rd->failed; k++) {
		if (k == O_return || k == O_done || ops[k].where == WHERE_begun
			|| strcmp(ops[k].hlo, opcode) || !target != !ops[k].target
			|| (target && strcmp(ops[k].target, target)))
			continue;
		*kind = (OpKind)k;
		return true;
	}
	line_error(in, "no op of shdc is spelled '%s%s%s'", opcode, target ? " " : "",
		target ? target : "");
	return false;
}

/* while(%tuple); conditional(%p, %tuple, %tuple) */
static Value **
find_carried(const ReadLine *in, const Scope *scope, bool choice, int *n)
{
	const HloOperand *operands = in->instr->operands;
	int wanted = choice ? 3 : 1;

	if (in->instr->noperands != wanted) {
		line_error(in, "%s has %d operands, not %d", in->instr->opcode, wanted,
			in->instr->noperands);
		return NULL;
	}
	const Tuple *tuple = find_tuple(in->rd, &operands[choice], scope);
	if (choice && tuple && find_tuple(in->rd, &operands[2], scope) != tuple)
		line_error(in, "the two sides of %s are given different tuples",
			in->instr->opcode);
	if (in->rd->failed)
		return NULL;
	Value **carried = NEW_ARRAY(in->rd->arena, Value *, tuple->n + 1);
	if (choice)
		carried[0] = find_value(in->rd, &operands[0], scope);
	for (int i = 0; i < tuple->n; i++)
		carried[choice + i] = tuple->v[i];
	*n = choice + tuple->n;
	return carried;
}

/* The name and placement of a result: of several, those of its element. */
static void
read_results(const ReadLine *in, Op *op, Scope *scope)
{
	Reading *rd = in->rd;
	const HloInstr *instr = in->instr;

	if (!instr->tuple || op->async) {
		const Type *type = op->async ? start_type(in, op->kind) : &instr->type;
		if (!type)
			return;
		Value *v = op_add_result(op, instr->name, type);
		v->range = op->range;
		op->requested = fact_is(&in->facts, "requested", "true");
		read_placement(in, v);
		define(rd, instr, scope, v, NULL);
		return;
	}
	const HloInstr **elements = elements_of(rd, scope, instr);
	for (int i = 0; i < instr->ntypes; i++) {
		const ReadLine element = line_read(rd, elements[i]);
		Value *v = op_add_result(op,
			elements[i] == instr ? ops[op->kind].name : elements[i]->name,
			&instr->types[i]);
		v->range = op->range;
		read_metadata(rd, elements[i], &v->range);
		read_placement(&element, v);
	}
	define_tuple(rd, instr, scope, op->nresults, op->results);
}

static void read_block(Reading *rd, Block *b, const HloComputation *computation);

static void
read_bodies(const ReadLine *in, Op *op)
{
	const BodyWords *words = body_words(op->kind);
	const Fact *f = find_fact(&in->facts, "composite.name");
	size_t prefix = strlen(composite_prefix);
	Reading *rd = in->rd;

	if (op->kind == O_call && f) {
		op->composite =
			f->value + (strncmp(f->value, composite_prefix, prefix) ? 0 : prefix);
		if (!is_identifier(op->composite))
			hlo_error(rd, f->where, "'%s' is not the name of a composite",
				f->value);
	}
	op->bodies = NEW_ARRAY(rd->arena, Block *, ops[op->kind].bodies);
	for (int i = 0; i < ops[op->kind].bodies && !rd->failed; i++) {
		HloComputation *computation = read_applied(in, words->attr[i]);
		if (!computation)
			return;
		if (computation->used || computation->entry)
			line_error(in, "%s is applied twice", computation->name);
		else if (rd->calls == MAX_CALLS)
			line_error(in, "more than %d nested calls", MAX_CALLS);
		else {
			computation->used = true;
			op->bodies[i] = block_new(rd->m, op);
			op->nbodies = i + 1;
			rd->calls++;
			read_block(rd, op->bodies[i], computation);
			rd->calls--;
		}
	}
}

static void
remember(Reading *rd, const void *line, const Op *op, const HloInstr *instr)
{
	Built built = {line, op, instr};

	APPEND(rd->arena, rd->built, rd->nbuilt, built);
}

/* The bytes of its expression, where a file is but a name: ops that have the same are
   of one. */
static void
read_span(const ReadLine *in, Range *range)
{
	const Fact *f = find_fact(&in->facts, "span");
	const SourceFile *file = source_file(in->rd->session, range->file);

	if (!f || !file || file->text)
		return;
	Cursor c = fact_cursor(in->rd, f);
	int64_t begin = cursor_integer(&c, "a byte");
	cursor_expect(&c, ",");
	int64_t end = cursor_integer(&c, "a byte");
	cursor_expect_end(&c);
	if (begin < 0 || begin > end || end > INT32_MAX)
		hlo_error(in->rd, f->where, "no source has bytes '%s'", f->value);
	else
		*range = (Range){range->file, range->line, (int)begin, (int)end};
}

static OpForm
read_form(const ReadLine *in)
{
	const Fact *f = find_fact(&in->facts, "form");

	if (!f)
		return AS_call;
	for (int form = 0; form < OP_FORM_COUNT; form++)
		if (!strcmp(f->value, op_forms[form].name))
			return (OpForm)form;
	hlo_error(in->rd, f->where, "'%s' is no form of an op", f->value);
	return AS_call;
}

static void
read_letters(const ReadLine *in, Op *op)
{
	const Fact *f = find_fact(&in->facts, "letters");
	int rank = op->operands[0]->type.rank, n = rank + op->operands[1]->type.rank;

	if (!f)
		return;
	op->letters = NEW_ARRAY(in->rd->arena, Letter, n + 1);
	bool fits = f->length == n + 1 && f->value[rank] == ',';
	for (int d = 0; d < n && fits; d++) {
		op->letters[d].name = f->value[d + (d >= rank)];
		fits = isalpha((unsigned char)op->letters[d].name)
			|| op->letters[d].name == '.';
	}
	if (!fits)
		hlo_error(in->rd, f->where, "'%s' has no letter for each dim of the operands",
			f->value);
}

static void
read_mode(const ReadLine *in, Op *op)
{
	for (OpMode mode = MODE_explicit; mode <= MODE_backward; mode++)
		if (fact_is(&in->facts, "mode", mode_names[mode]))
			op->mode = mode;
}

/* What the op is for. */
static void
read_history(const ReadLine *in, Op *op)
{
	read_mode(in, op);
	for (int i = 0; i < OTHER_TRIPS && op_communicates(op); i++)
		if (fact_is(&in->facts, "trip", other_trip_names[i]))
			op->trip = (OtherTrip)i;
	if (collectives[op->kind].combines == COMBINES_lines)
		op->combined = fact_is(&in->facts, "combined", "true");
	op->again = fact_is(&in->facts, "again", "true");
	op->of = fact_value(&in->facts, "of");
	read_gone(in, op);
}

/* Of a tuple: one for each. */
static void
read_fences(Reading *rd, Block *b, const HloInstr *instr, Scope *scope)
{
	const ReadLine in = line_read(rd, instr);
	const HloInstr **elements = elements_of(rd, scope, instr);
	Range range = {0};
	const Tuple *from =
		instr->noperands == 1 ? find_tuple(rd, &instr->operands[0], scope) : NULL;

	if (!rd->failed && (!from || from->n != instr->ntypes))
		line_error(&in, "%s makes a tuple of a tuple", instr->opcode);
	const char *label = read_metadata(rd, instr, &range);
	if (rd->failed)
		return;
	Value **results = NEW_ARRAY(rd->arena, Value *, from->n + 1);
	for (int i = 0; i < from->n; i++) {
		const ReadLine element = line_read(rd, elements[i]);
		const char *name = elements[i] == instr ? ops[O_fence].name : elements[i]->name;
		Op *op = op_new(rd->m, O_fence, 1, &from->v[i], 0, NULL, range, label);
		read_mode(&in, op);
		op_append(b, op);
		remember(rd, op, op, instr);
		results[i] = op_add_result(op, name, &instr->types[i]);
		results[i]->range = op->range;
		read_placement(&element, results[i]);
	}
	define_tuple(rd, instr, scope, from->n, results);
}

/* ---- collectives that are one transfer ------------------------------------------------ */

/* Does the line have several collectives, or wait for several? */
static bool
reads_combined(const HloInstr *instr, OpKind kind)
{
	return kind == O_done
		? instr->tuple
		: collectives[kind].combines == COMBINES_operands && instr->noperands > 1;
}

/* What they receive: NULL with an error. */
static const Type *
received_types(const ReadLine *in, OpKind kind, bool async, int n)
{
	const HloInstr *instr = in->instr;
	bool both = async && collectives[kind].start != START_result;

	if (instr->tuple && (both ? instr->nreceived : instr->ntypes) == n
		&& instr->nested == both)
		return both ? instr->received : instr->types;
	line_error(in, "the type of %s is not that of %d in one", instr->opcode, n);
	return NULL;
}

/* Of a tuple that what only begins has the name goes on with "..out". */
static const char *
begun_name(Reading *rd, const HloInstr *instr)
{
	static const char ending[] = "..out";
	size_t n = strlen(instr->name), end = sizeof ending - 1;
	bool ends = n > end && !strcmp(instr->name + n - end, ending);

	return arena_printf(rd->arena, "%.*s", (int)(ends ? n - end : n), instr->name);
}

/* What is said of it where its value is taken out of the tuple. */
static void
read_taken_out(Reading *rd, const HloInstr *element, Op *op)
{
	Op *moves = op->kind == O_done ? op->operands[0]->def : op;
	const ReadLine in = line_read(rd, element);

	moves->label = op->label = read_metadata(rd, element, &op->range);
	moves->range = op->range;
	read_history(&in, moves);
	moves->requested = fact_is(&in.facts, "requested", "true");
	read_placement(&in, op->results[0]);
	moves->results[0]->placement = op->results[0]->placement;
	moves->results[0]->no_placement = op->results[0]->no_placement;
	moves->results[0]->range = op->range;
	if (moves == op)
		return;
	op->mode = moves->mode;
	op->again = moves->again;
	const char *name = arena_printf(rd->arena, "%s.start", element->name);
	if (strcmp(moves->results[0]->name, name) != 0)
		moves->results[0]->name = module_unique_name(rd->m, name);
}

/* One of them, or what waits for it. */
static Value *
read_member(const ReadLine *in, Block *b, Op *op, const HloInstr *element, const Type *type)
{
	Reading *rd = in->rd;
	bool named = !op->async && element != in->instr;
	const char *name = named ? element->name : begun_name(rd, in->instr);
	Value *v = op_add_result(op, name, type);

	op_append(b, op);
	remember(rd, op, op, in->instr);
	if (named)
		read_taken_out(rd, element, op);
	v->range = op->range;
	read_op_attrs(in, op);
	if (op->kind == O_done)
		check_done(in, op);
	return v;
}

static bool
all_begun(const ReadLine *in, const Tuple *begun)
{
	for (int i = 0; i < begun->n; i++)
		if (!begun->v[i]->def || !begun->v[i]->def->async)
			line_error(in, "nothing has begun %%%s", begun->v[i]->name);
	return !in->rd->failed;
}

static void
read_combined(const ReadLine *in, Block *b, Scope *scope, OpKind kind, bool async)
{
	Reading *rd = in->rd;
	const HloInstr *instr = in->instr;
	const Tuple *begun = NULL;
	Range range = {0};

	if (kind == O_done && instr->noperands != 1)
		line_error(in, "%s waits for one tuple", instr->opcode);
	else if (kind == O_done)
		begun = find_tuple(rd, &instr->operands[0], scope);
	if (rd->failed || (begun && !all_begun(in, begun)))
		return;
	int n = begun ? begun->n : instr->noperands;
	Value **from = begun ? begun->v : find_operands(rd, instr, scope);
	const Type *types = received_types(in, kind, async, n);
	const char *label = read_metadata(rd, instr, &range);
	const HloInstr **elements = elements_of(rd, scope, instr);
	Value **results = NEW_ARRAY(rd->arena, Value *, n + 1);
	for (int i = 0; i < n && !rd->failed; i++) {
		Op *op = op_new(rd->m, kind, 1, &from[i], 0, NULL, range, label);
		op->async = async;
		op->combined = i && kind != O_done;
		results[i] = read_member(in, b, op, async ? instr : elements[i], &types[i]);
	}
	define_tuple(rd, instr, scope, n, results);
}

/* ---- any op ------------------------------------------------------------------------------ */

static void
read_op(Reading *rd, Block *b, const HloInstr *instr, Scope *scope)
{
	const ReadLine in = line_read(rd, instr);
	int n = instr->noperands;
	Range range = {0};
	bool async = false;
	OpKind kind;

	if (!read_kind(&in, &kind, &async))
		return;
	if (kind == O_fence && instr->tuple) {
		read_fences(rd, b, instr, scope);
		return;
	}
	if (reads_combined(instr, kind)) {
		read_combined(&in, b, scope, kind, async);
		return;
	}
	bool carries = ops[kind].bodies == 2;
	Value **operands = carries ? find_carried(&in, scope, kind == O_if, &n)
				   : find_operands(rd, instr, scope);
	if (ops[kind].operands >= 0 && n != ops[kind].operands)
		line_error(&in, "%s has %d operands, not %d", instr->opcode, ops[kind].operands,
			n);
	if (instr->nested && !async)
		line_error(&in, "a tuple in a tuple");
	else if (!async && (instr->tuple ? !ops[kind].many : carries))
		line_error(&in, "%s makes %s tuple", instr->opcode, instr->tuple ? "a" : "no");
	const char *label = read_metadata(rd, instr, &range);
	if (rd->failed)
		return;
	Op *op = op_new(rd->m, kind, n, operands, 0, NULL, range, label);
	read_history(&in, op);
	op->async = async;
	op->form = read_form(&in);
	read_span(&in, &op->range);
	if (kind == O_dot)
		read_letters(&in, op);
	op_append(b, op);
	remember(rd, op, op, instr);
	read_results(&in, op, scope);
	if (kind == O_done)
		check_done(&in, op);
	read_op_attrs(&in, op);
	if (ops[kind].bodies)
		read_bodies(&in, op);
}

/* ---- computations ---------------------------------------------------- */

static Value *
read_param(Reading *rd, Block *b, const HloInstr *instr, const char *name, const Type *type)
{
	const ReadLine in = line_read(rd, instr);
	Value *v = block_add_param(b, name, type);

	read_metadata(rd, instr, &v->range);
	remember(rd, v, NULL, instr);
	read_placement(&in, v);
	return v;
}

/* Parameters may come in any order; each number once, from 0 on.  Those of a
   while's or an if's body are the elements of one. */
static void
read_params(Reading *rd, Block *b, const HloComputation *computation, Scope *scope)
{
	const HloInstr **params = NEW_ARRAY(rd->arena, const HloInstr *, computation->n);
	bool tuple = body_takes_tuple(b);
	int n = 0;

	for (int i = 0; i < computation->n; i++) {
		const HloInstr *instr = &computation->instrs[i];
		if (strcmp(instr->opcode, "parameter"))
			continue;
		int64_t index = cursor_only(instr->literal, "a number");
		if (rd->failed)
			return;
		if (index < 0 || index >= (tuple ? 1 : computation->n) || params[index]
			|| instr->tuple != tuple) {
			hlo_error(rd, instr->where, "parameter %lld is out of turn",
				(long long)index);
			return;
		}
		params[index] = instr;
		n++;
	}
	if (tuple && !n) {
		hlo_error(rd, computation->where, "%s has no parameter", computation->name);
	} else if (tuple) {
		const HloInstr *whole = params[0], **part = elements_of(rd, scope, whole);
		for (int i = 0; i < whole->ntypes; i++)
			read_param(rd, b, part[i], part[i] == whole ? "carried" : part[i]->name,
				&whole->types[i]);
		define_tuple(rd, whole, scope, b->nparams, b->params);
		return;
	}
	for (int i = 0; i < n && !rd->failed; i++) {
		const HloInstr *param = params[i];
		if (param)
			define(rd, param, scope,
				read_param(rd, b, param, param->name, &param->type), NULL);
		else
			hlo_error(rd, computation->where, "parameter %d of %s is missing", i,
				computation->name);
	}
}

/* Another name for one of a tuple's values, perhaps the one that it has. */
static void
read_element(Reading *rd, const HloInstr *instr, Scope *scope)
{
	const Tuple *tuple = find_tuple(rd, &instr->operands[0], scope);
	int64_t index = cursor_only(hlo_attr(&instr->attrs, "index")->value, "an index");

	if (rd->failed)
		return;
	if (index < 0 || index >= tuple->n || instr->tuple
		|| !type_equal(&tuple->v[index]->type, &instr->type))
		hlo_error(rd, instr->where, "the tuple has no such element %lld",
			(long long)index);
	else
		define(rd, instr, scope, tuple->v[index], NULL);
}

static void
read_return(Reading *rd, Block *b, const HloInstr *root, bool tuple, const Scope *scope)
{
	const HloOperand self = {root->name, root->where};
	Range range = {0};
	const char *label = read_metadata(rd, root, &range);
	Value *value = tuple ? NULL : find_value(rd, &self, scope);
	Value **operands = tuple ? find_operands(rd, root, scope) : &value;

	if (rd->failed)
		return;
	if (!tuple && b->parent) { /* the root's own metadata is not ours */
		label = b->parent->label;
		range = b->parent->range;
	}
	Op *op = op_new(rd->m, O_return, tuple ? root->noperands : 1, operands, 0, NULL, range,
		label);
	op_append(b, op);
	remember(rd, op, op, root);
}

static void
read_block(Reading *rd, Block *b, const HloComputation *computation)
{
	Scope scope = {table_new(rd->arena), table_new(rd->arena), table_new(rd->arena)};
	const HloInstr *root = &computation->instrs[computation->root];
	bool tuple_root = !strcmp(root->opcode, "tuple");

	/* values are named before the elements are read that name them */
	for (int i = 0; i < computation->n && !rd->failed; i++) {
		const HloInstr *instr = &computation->instrs[i];
		const HloAttr *attr = hlo_attr(&instr->attrs, "index");
		if (!is_element(instr))
			continue;
		if (!attr || instr->noperands != 1) {
			hlo_error(rd, instr->where,
				"get-tuple-element needs a tuple and an index");
			break;
		}
		struct Element element = {instr, cursor_only(attr->value, "an index")};
		Elements *of = table_get(scope.elements, instr->operands[0].name);
		if (!of) {
			of = NEW(rd->arena, Elements);
			table_set(scope.elements, instr->operands[0].name, of);
		}
		APPEND(rd->arena, of->a, of->n, element);
	}
	read_params(rd, b, computation, &scope);
	for (int i = 0; i < computation->n && !rd->failed; i++) {
		const HloInstr *instr = &computation->instrs[i];
		if (instr == root && tuple_root)
			continue;
		if (is_element(instr))
			read_element(rd, instr, &scope);
		else if (!strcmp(instr->opcode, "tuple"))
			define_tuple(rd, instr, &scope, instr->noperands,
				find_operands(rd, instr, &scope));
		else if (strcmp(instr->opcode, "parameter"))
			read_op(rd, b, instr, &scope);
	}
	if (!rd->failed)
		read_return(rd, b, root, tuple_root, &scope);
}

void
read_program(Reading *rd)
{
	read_block(rd, rd->m->entry, rd->entry);
}
