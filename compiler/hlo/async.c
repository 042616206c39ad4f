/*
 * async.c - what HLO calls the halves of an asynchronous collective.
 *
 *   %g = (f32[2,64], f32[8,64]) all-gather-start(%x), ...
 *   %g.2 = f32[8,64] all-gather-done(%g)
 *
 * The type of the first says what it reads, too, in a form of its kind
 * (collectives.def); here its value has that of the result alone.  Of several in one it is
 * of two tuples.
 *
 *   %g..out = ((f32[2], f32[4]), (f32[8], f32[16])) all-gather-start(%x, %y), ...
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

void
text_result_type(Text *t, const Value *v)
{
	const Op *start = v->def && v->def->async ? v->def : NULL;
	StartType form = start ? collectives[start->kind].start : START_result;

	if (form != START_result)
		text_add(t, "(");
	if (form == START_wrapped)
		text_tuple_type(t, start->noperands, start->operands);
	else if (form == START_pair)
		text_hlo_type(t, &start->operands[0]->type);
	if (form != START_result)
		text_add(t, ", ");
	text_hlo_type(t, &v->type);
	if (form != START_result)
		text_add(t, ")");
}

void
text_transfer_type(Text *t, const Op *first, int n, Value *const *from, Value *const *to)
{
	bool both = first->async && collectives[first->kind].start != START_result;

	if (both) {
		text_add(t, "(");
		text_tuple_type(t, n, from);
		text_add(t, ", ");
	}
	text_tuple_type(t, n, to);
	text_add(t, both ? ")" : "");
}

static bool
has_ending(const char *opcode, const char *ending, size_t *length)
{
	size_t n = strlen(opcode), end = strlen(ending);

	*length = n - end;
	return n > end && !strcmp(opcode + *length, ending);
}

bool
read_half(const HloInstr *instr, OpKind *kind, bool *start)
{
	size_t length;

	*start = has_ending(instr->opcode, opcode_start, &length);
	if (!*start && !has_ending(instr->opcode, opcode_done, &length))
		return false;
	for (int k = 0; k < OP_COUNT; k++)
		if (collectives[k].turns && !strncmp(ops[k].hlo, instr->opcode, length)
			&& !ops[k].hlo[length]) {
			*kind = *start ? (OpKind)k : O_done;
			return true;
		}
	return false;
}

const Type *
start_type(const ReadLine *in, OpKind kind)
{
	static const char *const wanted[] = {[START_result] = "what it receives",
		[START_pair] = "a tuple of what it reads and what it receives",
		[START_wrapped] = "a tuple of the tuple that it reads and what it receives"};
	const HloInstr *instr = in->instr;
	StartType form = collectives[kind].start;
	bool tuple = form != START_result;

	if (instr->tuple == tuple && instr->nested == (form == START_wrapped)
		&& (!tuple || instr->ntypes == 2))
		return tuple ? &instr->types[1] : &instr->type;
	line_error(in, "the type of %s is %s", instr->opcode, wanted[form]);
	return NULL;
}

void
check_done(const ReadLine *in, const Op *done)
{
	if (strcmp(op_opcode(in->rd->arena, done), in->instr->opcode))
		line_error(in, "%%%s is not what %s waits for", done->operands[0]->name,
			in->instr->opcode);
}
