/*
 * comparator.c - the computation by which an HLO sort compares two elements.
 *
 *   %compare.3 (...) -> pred[] {
 *     %a.0, %b.0, %a.1, %b.1, ...           an element of each operand, twice
 *     ROOT %... = pred[] compare(%a.0, %b.0), direction=LT
 *   }
 *
 * Floats are first made keys, so that every NaN is the same, greater than infinity, and,
 * where the order ascends, both zeros are one; and then compared in the total order.
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

typedef struct Steps {
	const Step *steps; /* the last one's direction is that of the sort */
	int n;
} Steps;

static const Step ascending[] = {
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
	{"compare", NULL, "pred", {5, 9, NONE}, NULL},
};
static const Step descending[] = {
	{"constant", "nan", NULL, {NONE, NONE, NONE}, NULL},
	{"compare", NULL, "pred", {A, A, NONE}, "NE"},
	{"select", NULL, NULL, {1, 0, A}, NULL},
	{"compare", NULL, "pred", {B, B, NONE}, "NE"},
	{"select", NULL, NULL, {3, 0, B}, NULL},
	{"compare", NULL, "pred", {2, 4, NONE}, NULL},
};
static const Step no_float[] = {{"compare", NULL, "pred", {A, B, NONE}, NULL}};

static Steps
steps_of(DType key, Direction direction)
{
	if (!dtype_is_float(key))
		return (Steps){no_float, 1};
	if (direction == DIR_GT)
		return (Steps){descending, (int)(sizeof descending / sizeof descending[0])};
	return (Steps){ascending, (int)(sizeof ascending / sizeof ascending[0])};
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
	Direction direction = op_int(op, A_direction) == DIR_GT ? DIR_GT : DIR_LT;
	Steps steps = steps_of(key, direction);

	text_printf(t, "%%%s (", name);
	for (int i = 0; i < 2 * op->noperands; i++)
		text_printf(t, "%s%c.%d: %s[]", i ? ", " : "", "ab"[i % 2], i / 2,
			dtypes[op->operands[i / 2]->type.dtype].hlo);
	text_add(t, ") -> pred[] {\n");
	for (int i = 0; i < 2 * op->noperands; i++)
		text_printf(t, "  %%%c.%d = %s[] parameter(%d)\n", "ab"[i % 2], i / 2,
			dtypes[op->operands[i / 2]->type.dtype].hlo, i);
	for (int i = 0; i < steps.n; i++) {
		const Step *step = &steps.steps[i];
		bool last = i == steps.n - 1;
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
			text_printf(t, ", direction=%s",
				last ? direction_names[direction] : step->direction);
		text_add(t, last && dtype_is_float(key) ? ", type=TOTALORDER\n" : "\n");
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

/* Step i of these, which make an order of this direction?  `instrs` are the
   computation's, `first` of them parameters. */
static bool
is_step(const HloInstr *instrs, int first, DType key, Steps steps, int i, Direction order)
{
	const Step *step = &steps.steps[i];
	const HloInstr *instr = &instrs[first + i];
	bool last = i == steps.n - 1;
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
		&& attr_is(instr, "direction", last ? direction_names[order] : step->direction)
		&& attr_is(instr, "type", last && dtype_is_float(key) ? "TOTALORDER" : NULL);
}

bool
read_comparator(const HloComputation *computation, const Op *op, Direction *direction)
{
	const HloInstr *instrs = computation->instrs;
	DType key = op->operands[0]->type.dtype;
	int first = 2 * op->noperands;

	*direction = DIR_LT;
	if (computation->root == computation->n - 1
		&& attr_is(&instrs[computation->root], "direction", direction_names[DIR_GT]))
		*direction = DIR_GT;
	Steps steps = steps_of(key, *direction);
	if (computation->n != first + steps.n || computation->root != computation->n - 1)
		return false;
	for (int i = 0; i < first; i++) {
		Cursor c = instrs[i].literal;
		DType d = op->operands[i / 2]->type.dtype;
		if (!is_scalar(&instrs[i], "parameter", dtypes[d].hlo)
			|| cursor_integer(&c, "a number") != i)
			return false;
	}
	for (int i = 0; i < steps.n; i++)
		if (!is_step(instrs, first, key, steps, i, *direction))
			return false;
	return true;
}
