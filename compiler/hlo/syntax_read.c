/*
 * syntax_read.c - from bytes to computations and instructions.
 *
 * The subset of XLA's text that we print, and what XLA itself makes of it:
 * layouts and operand types are skipped, % may be left out.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/read.h"

/* , name=value, name=value; a value is a string, brackets, or what stands
   before the next comma, with the brackets in it. */
void
hlo_read_attrs(Cursor *c, HloAttrs *attrs)
{
	int length;

	while (cursor_accept(c, ",")) {
		HloAttr attr = {.name = cursor_word(c, "an attribute")};
		if (!cursor_expect(c, "="))
			return;
		bool string = cursor_is(c, '"');
		attr.value = *c;
		if (string)
			cursor_string(c, &length);
		while (!string && c->pos < c->end) {
			char ch = c->s[c->pos];
			if (isspace((unsigned char)ch) || ch == ',' || ch == '}' || ch == ')'
				|| ch == ']')
				break;
			if (ch == '{' || ch == '[' || ch == '(')
				cursor_skip_brackets(c);
			else
				c->pos++;
		}
		if (c->pos == attr.value.pos)
			cursor_error(c, "expected a value");
		attr.value.end = c->pos;
		APPEND(c->rd->arena, attrs->a, attrs->n, attr);
	}
}

const HloAttr *
hlo_attr(const HloAttrs *attrs, const char *name)
{
	for (int i = 0; i < attrs->n; i++)
		if (!strcmp(attrs->a[i].name, name))
			return &attrs->a[i];
	return NULL;
}

static const char *
read_name(Cursor *c, Range *where)
{
	cursor_at_end(c);
	*where = cursor_range(c);
	cursor_accept(c, "%");
	const char *name = cursor_word(c, "a name");
	if (!c->copied)
		where->end = c->pos;
	return name;
}

/* The types in a tuple, from its bracket on.  What a collective begins has a tuple in it, or
   two, of several: `instr` is told what it receives; else a tuple in it is an error. */
static void
read_tuple_type(Cursor *c, HloInstr *instr, Type **types, int *n, bool inner)
{
	bool tuple;
	Type type;

	cursor_expect(c, "(");
	while (cursor_item(c, *n, ")")) {
		Cursor at = *c;
		if (cursor_type(c, &type, &tuple) && tuple) {
			bool received = *n == 1 && instr->nested;
			if (inner || (*n && !received))
				cursor_error(&at, "a tuple in a tuple");
			else if (received)
				read_tuple_type(&at, instr, &instr->received, &instr->nreceived,
					true);
			instr->nested = true;
		}
		APPEND(c->rd->arena, *types, *n, type);
	}
}

/* ROOT %h = f32[8,64] dot(%x, %W), attributes.  Its type may be a tuple of types,
   (f32[8], s32[]); operands may have theirs, (f32[8]{0} %x); what parameter(0) and
   constant(1.5) hold are no values, but the literal. */
static HloInstr
read_instr(Cursor *c)
{
	HloInstr instr = {.root = cursor_accept(c, "ROOT")};
	bool tuple;
	Type type;

	instr.name = read_name(c, &instr.where);
	cursor_expect(c, "=");
	Cursor inside = *c;
	cursor_type(c, &instr.type, &instr.tuple);
	if (instr.tuple)
		read_tuple_type(&inside, &instr, &instr.types, &instr.ntypes, false);
	instr.opcode = cursor_word(c, "an opcode");
	cursor_at_end(c);
	instr.literal = *c;
	bool literal = !strcmp(instr.opcode, "parameter") || !strcmp(instr.opcode, "constant");
	if (literal && cursor_is(c, '(')) {
		cursor_skip_brackets(c);
		instr.literal.pos++;
		instr.literal.end = c->pos - 1;
	} else {
		cursor_expect(c, "(");
	}
	for (int n = 0; !literal && cursor_item(c, n, ")"); n++) {
		HloOperand operand;
		Cursor start = *c;
		operand.name = read_name(c, &operand.where);
		if (c->pos < c->end && c->s[c->pos] == '[') {
			*c = start;
			if (cursor_type(c, &type, &tuple))
				operand.name = read_name(c, &operand.where);
		}
		APPEND(c->rd->arena, instr.operands, instr.noperands, operand);
	}
	hlo_read_attrs(c, &instr.attrs);
	return instr;
}

static void
read_computation(Cursor *c)
{
	Reading *rd = c->rd;
	HloComputation *computation = NEW(rd->arena, HloComputation);
	Type type;
	bool tuple;

	computation->root = -1;
	computation->entry = cursor_accept(c, "ENTRY");
	computation->name = read_name(c, &computation->where);
	/* (a: f32[], b: f32[]) -> f32[]; the instructions say it again. */
	if (cursor_is(c, '('))
		cursor_skip_brackets(c);
	if (cursor_accept(c, "->"))
		cursor_type(c, &type, &tuple);

	cursor_expect(c, "{");
	while (!rd->failed && !cursor_accept(c, "}")) {
		if (cursor_at_end(c)) {
			cursor_error(c, "expected '}' before the end");
			return;
		}
		HloInstr instr = read_instr(c);
		if (instr.root)
			computation->root = computation->n;
		APPEND(rd->arena, computation->instrs, computation->n, instr);
	}
	if (computation->root < 0)
		computation->root = computation->n - 1;
	if (!computation->n)
		hlo_error(rd, computation->where, "computation %s is empty", computation->name);
	if (!table_add(rd->computations, computation->name, computation))
		hlo_error(rd, computation->where, "a second computation called %s",
			computation->name);
	if (computation->entry && rd->entry)
		hlo_error(rd, computation->where, "a second ENTRY");
	if (computation->entry)
		rd->entry = computation;
}

/* What XLA prints is of another program: parts of it are read, others are not. */
static bool
is_dump(Reading *rd, const SourceFile *file)
{
	if (!strstr(file->text, "entry_computation_layout=") || strstr(file->text, "level=\""))
		return true;
	hlo_error(rd, rd->start, "this is HLO as XLA prints it, and no dump of shdc");
	diag_note(rd->session, nowhere,
		"shdc reads what JAX lowers to: lowered.as_text(debug_info=True), or what "
		"JAX_DUMP_IR_TO=ir python train.py writes");
	diag_note(rd->session, nowhere,
		"what XLA dumped goes with --xla=, beside that program, after it was "
		"partitioned (after_spmd-partitioning)");
	return false;
}

void
hlo_read_text(Reading *rd)
{
	const SourceFile *file = source_file(rd->session, rd->file);
	Cursor c = {.rd = rd, .s = file->text, .end = file->length};

	rd->computations = table_new(rd->arena);
	if (!cursor_expect(&c, "HloModule"))
		return;
	rd->start = (Range){rd->file, 0, c.pos - 9, c.pos};
	if (!is_dump(rd, file))
		return;
	rd->name = cursor_word(&c, "the module's name");
	hlo_read_attrs(&c, &rd->attrs);
	while (!rd->failed && !cursor_at_end(&c))
		read_computation(&c);
	if (!rd->entry)
		cursor_error(&c, "a module without an ENTRY");
}
