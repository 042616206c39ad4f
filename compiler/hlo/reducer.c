/*
 * reducer.c - combiners, as the computations by which HLO names them.
 *
 *   %add_f32 (add_f32.a: f32[], add_f32.b: f32[]) -> f32[] {
 *     %add_f32.a = f32[] parameter(0)
 *     %add_f32.b = f32[] parameter(1)
 *     ROOT %add_f32.of = f32[] add(%add_f32.a, %add_f32.b)
 *   }
 *
 * Read by its form, whatever its name.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

static void
text_reducer(Text *t, Combiner combiner, DType d)
{
	text_printf(t, "%s_%s", combiners[combiner].name, dtypes[d].name);
}

void
print_to_apply(Line *line, Combiner combiner, DType d)
{
	line->pr->reducers[combiner][d] = true;
	text_add(line->t, ", to_apply=%");
	text_reducer(line->t, combiner, d);
}

void
print_reducers(const Printer *pr, Text *t)
{
	for (int i = 0; i < COMBINER_COUNT * DTYPE_COUNT; i++) {
		Combiner combiner = (Combiner)(i / DTYPE_COUNT);
		DType d = (DType)(i % DTYPE_COUNT);
		const char *type = dtypes[d].hlo;
		Text name = {0};
		if (!pr->reducers[combiner][d])
			continue;
		text_reducer(&name, combiner, d);
		text_printf(t, "\n%%%s (%s.a: %s[], %s.b: %s[]) -> %s[] {\n", name.s, name.s,
			type, name.s, type, type);
		text_printf(t, "  %%%s.a = %s[] parameter(0)\n", name.s, type);
		text_printf(t, "  %%%s.b = %s[] parameter(1)\n", name.s, type);
		text_printf(t, "  ROOT %%%s.of = %s[] %s(%%%s.a, %%%s.b)\n}\n", name.s, type,
			combiners[combiner].hlo, name.s, name.s);
		text_free(&name);
	}
}

bool
is_reducer_name(const char *name)
{
	for (int i = 0; i < COMBINER_COUNT * DTYPE_COUNT; i++) {
		Text reducer = {0};
		text_reducer(&reducer, (Combiner)(i / DTYPE_COUNT), (DType)(i % DTYPE_COUNT));
		bool same = !strcmp(reducer.s, name);
		text_free(&reducer);
		if (same)
			return true;
	}
	return false;
}

HloComputation *
read_applied(const ReadLine *in, const char *name)
{
	const HloAttr *attr = line_needs_attr(in, name);

	if (!attr)
		return NULL;
	Cursor c = attr->value;
	bool listed = cursor_accept(&c, "{"); /* called_computations */
	cursor_accept(&c, "%");
	const char *applied = cursor_word(&c, "a computation");
	if (listed)
		cursor_expect(&c, "}");
	HloComputation *computation = table_get(in->rd->computations, applied);
	if (!computation)
		cursor_error(&c, "no computation is called %s", applied);
	return computation;
}

/* Two parameters, and one op of both, in either order. */
Combiner
read_combiner(const ReadLine *in)
{
	const HloComputation *computation = read_applied(in, "to_apply");

	if (!computation)
		return C_add;
	const HloInstr *instr = computation->instrs;
	if (computation->n == 3 && !strcmp(instr[0].opcode, "parameter")
		&& !strcmp(instr[1].opcode, "parameter") && instr[2].noperands == 2) {
		const HloOperand *operand = instr[2].operands;
		int first = !strcmp(operand[0].name, instr[1].name);
		bool both = !strcmp(operand[0].name, instr[first].name)
			&& !strcmp(operand[1].name, instr[1 - first].name);
		for (int i = 0; i < COMBINER_COUNT && both; i++)
			if (!strcmp(combiners[i].hlo, instr[2].opcode))
				return (Combiner)i;
	}
	line_error(in, "%s does not combine two numbers in a way known here",
		computation->name);
	return C_add;
}
