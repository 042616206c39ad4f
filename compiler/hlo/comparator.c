/*
 * comparator.c - the computation by which an HLO sort compares two elements.
 *
 *   %compare.3 (...) -> pred[] {
 *     %a.0, %b.0, %a.1, %b.1, ...           an element of each operand, twice
 *     ROOT %... = pred[] compare(%a.0, %b.0), direction=LT
 *   }
 *
 * Floats are first made keys, so that both zeros are one and every NaN is the
 * same, greater than infinity, and then compared in the total order.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

enum { A = -2, B = -1, NONE = -3 }; /* operands of the first operand */

/* After the parameters: an opcode, what it is of (steps count from 0). */
typedef struct Step {
	const char *opcode, *literal, *type; /* type NULL: the key's */
	int of[3];
	const char *direction;
} Step;

static const Step float_steps[] = {
	{"constant", "0", NULL, {NONE, NONE, NONE}, NULL},
	{"constant", "nan", NULL, {NONE, NONE, NONE}, NULL},
	{"compare", NULL, "pred", {A, 0, NONE}, "EQ"},
	{"select", NULL, NULL, {2, 0, A}, NULL},
	{"compare", NULL, "pred", {3, 3, NONE}, "NE"},
	{"select", NULL, NULL, {4, 1, 3}, NULL},
	{"compare", NULL, "pred", {B, 0, NONE}, "EQ"},
	{"select", NULL, NULL, {6, 0, B}, NULL},
	{"compare", NULL, "pred", {7, 7, NONE}, "NE"},
	{"select", NULL, NULL, {8, 1, 7}, NULL},
};

/* The last one's direction is that of the sort. */
static const Step float_last = {"compare", NULL, "pred", {5, 9, NONE}, NULL};
static const Step other_last = {"compare", NULL, "pred", {A, B, NONE}, NULL};

static int
step_count(DType key)
{
	return dtype_is_float(key) ? 1 + (int)(sizeof float_steps / sizeof float_steps[0]) : 1;
}

static const Step *
step_at(DType key, int i)
{
	if (i < step_count(key) - 1)
		return &float_steps[i];
	return dtype_is_float(key) ? &float_last : &other_last;
}

static bool
is_total_order(DType key, int step)
{
	return dtype_is_float(key) && step == step_count(key) - 1;
}

/* ---- printing -------------------------------------------------------- */

static void
text_name(Text *t, int of)
{
	if (of < 0)
		text_add(t, of == A ? "%a.0" : "%b.0");
	else
		text_printf(t, "%%step.%d", of);
}

void
text_comparator(Text *t, const char *name, const Op *op)
{
	DType key = op->operands[0]->type.dtype;
	const char *direction =
		direction_names[op_int(op, A_direction) == DIR_GT ? DIR_GT : DIR_LT];

	text_printf(t, "%%%s (", name);
	for (int i = 0; i < 2 * op->noperands; i++)
		text_printf(t, "%s%c.%d: %s[]", i ? ", " : "", "ab"[i % 2], i / 2,
			dtypes[op->operands[i / 2]->type.dtype].hlo);
	text_add(t, ") -> pred[] {\n");
	for (int i = 0; i < 2 * op->noperands; i++)
		text_printf(t, "  %%%c.%d = %s[] parameter(%d)\n", "ab"[i % 2], i / 2,
			dtypes[op->operands[i / 2]->type.dtype].hlo, i);
	for (int i = 0; i < step_count(key); i++) {
		const Step *step = step_at(key, i);
		bool last = i == step_count(key) - 1;
		text_add(t, last ? "  ROOT " : "  ");
		text_name(t, i);
		text_printf(t, " = %s[] %s(%s", step->type ? step->type : dtypes[key].hlo,
			step->opcode, step->literal ? step->literal : "");
		for (int k = 0; k < 3 && step->of[k] != NONE; k++) {
			text_add(t, k ? ", " : "");
			text_name(t, step->of[k]);
		}
		text_add(t, ")");
		if (last || step->direction)
			text_printf(t, ", direction=%s", last ? direction : step->direction);
		text_add(t, is_total_order(key, i) ? ", type=TOTALORDER\n" : "\n");
	}
	text_add(t, "}\n");
}

/* ---- reading --------------------------------------------------------- */

/* Whether the text is there and nothing else; NULL: not there either. */
static bool
says(const Cursor *value, const char *text)
{
	if (!value || !text)
		return !value && !text;
	Cursor c = *value;
	return cursor_accept(&c, text) && cursor_at_end(&c);
}

static bool
attr_is(const HloInstr *instr, const char *name, const char *text)
{
	const HloAttr *attr = hlo_attr(&instr->attrs, name);

	return says(attr ? &attr->value : NULL, text);
}

static bool
is_scalar(const HloInstr *instr, const char *opcode, const char *hlo_type)
{
	return !strcmp(instr->opcode, opcode) && !instr->tuple && !instr->type.rank
		&& !strcmp(dtypes[instr->type.dtype].hlo, hlo_type);
}

/* `instrs` are the computation's, `first` of them parameters. */
static bool
is_step(const HloInstr *instrs, int first, DType key, int i, const char *direction)
{
	const Step *step = step_at(key, i);
	const HloInstr *instr = &instrs[first + i];
	int n = 0;

	for (; n < 3 && step->of[n] != NONE; n++) {
		int of = step->of[n];
		int at = of < 0 ? of - A : first + of;
		if (n >= instr->noperands
			|| strcmp(instr->operands[n].name, instrs[at].name) != 0)
			return false;
	}
	return instr->noperands == n
		&& is_scalar(instr, step->opcode, step->type ? step->type : dtypes[key].hlo)
		&& (!step->literal || says(&instr->literal, step->literal))
		&& attr_is(instr, "direction", direction)
		&& attr_is(instr, "type", is_total_order(key, i) ? "TOTALORDER" : NULL);
}

bool
read_comparator(const HloComputation *computation, const Op *op, Direction *direction)
{
	const HloInstr *instrs = computation->instrs;
	DType key = op->operands[0]->type.dtype;
	int first = 2 * op->noperands, n = step_count(key);

	if (computation->n != first + n || computation->root != computation->n - 1)
		return false;
	for (int i = 0; i < first; i++) {
		Cursor c = instrs[i].literal;
		DType d = op->operands[i / 2]->type.dtype;
		if (!is_scalar(&instrs[i], "parameter", dtypes[d].hlo)
			|| cursor_integer(&c, "a number") != i)
			return false;
	}
	*direction = DIR_LT;
	if (attr_is(&instrs[computation->root], "direction", direction_names[DIR_GT]))
		*direction = DIR_GT;
	for (int i = 0; i < n; i++)
		if (!is_step(instrs, first, key, i,
			    i == n - 1 ? direction_names[*direction]
				       : step_at(key, i)->direction))
			return false;
	return true;
}
