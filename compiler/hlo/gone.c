/*
 * gone.c - of a collective that is done in pieces, what it was.
 *
 *   a piece of one          whole="all-gather f32[4,8] f32[16,8] 1"
 *
 * That is gone from the program; a number is one of them.  A piece has the axes, label
 * and place of its whole; of that only kind and types are said.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

/* ---- printing -------------------------------------------------------------------- */

static int
number_of(Printer *pr, const Op *op)
{
	const char *key = arena_printf(pr->arena, "%p", (const void *)op);

	if (!pr->gone)
		pr->gone = table_new(pr->arena);
	int *number = table_get(pr->gone, key);
	if (!number) {
		number = NEW(pr->arena, int);
		*number = table_count(pr->gone) + 1;
		table_set(pr->gone, key, number);
	}
	return *number;
}

void
print_gone(Line *line, const Op *op)
{
	int planned = op->whole ? op->whole->planned : op->planned;
	Text t = {0};

	if (op->whole) {
		text_printf(&t, "%s ", ops[op->whole->kind].hlo);
		text_hlo_type(&t, &op->whole->operands[0]->type);
		text_add(&t, " ");
		text_hlo_type(&t, &op->whole->results[0]->type);
		text_printf(&t, " %d", number_of(line->pr, op->whole));
		line_fact_text(line, "whole", &t);
	}
	if (planned && line->pr->m->planned)
		line_fact(line, "planned", arena_printf(line->pr->arena, "%d", planned));
}

/* ---- reading ----------------------------------------------------------------------- */

/* The one of that number, with the label and place of what it is said of. */
static Op *
gone(Reading *rd, int64_t number, OpKind kind, const Op *of)
{
	const char *key = arena_printf(rd->arena, "%lld", (long long)number);
	Op *op = table_get(rd->gone, key);

	if (!op) {
		op = op_new(rd->m, kind, 0, NULL, 0, NULL, of->range, of->label);
		table_set(rd->gone, key, op);
	}
	return op;
}

static Op *
read_whole(Reading *rd, const Fact *f, const Op *piece)
{
	Cursor c = fact_cursor(rd, f), at = c;
	const char *name = cursor_word(&c, "a collective");
	Type from, to;
	bool tuples[2];
	int kind = 0;

	while (kind < OP_COUNT && (!collectives[kind].turns || strcmp(ops[kind].hlo, name)))
		kind++;
	if (kind == OP_COUNT)
		cursor_error(&at, "'%s' is no collective", name);
	cursor_type(&c, &from, &tuples[0]);
	cursor_type(&c, &to, &tuples[1]);
	int64_t number = cursor_only(c, "a number");
	if (rd->failed || tuples[0] || tuples[1]) {
		hlo_error(rd, f->where, "%s is no collective with two types", f->value);
		return NULL;
	}
	Op *whole = gone(rd, number, (OpKind)kind, piece);
	if (!whole->nresults) {
		Op *made = op_new(rd->m, O_constant, 0, NULL, 0, NULL, piece->range, NULL);
		whole->kind = (OpKind)kind;
		op_add_operand(whole, op_add_result(made, "gone", &from));
		op_add_result(whole, "gone", &to);
	} else if (whole->kind != (OpKind)kind || !type_equal(&whole->operands[0]->type, &from)
		|| !type_equal(&whole->results[0]->type, &to)) {
		hlo_error(rd, f->where, "%s is another collective than before", f->value);
	}
	return whole;
}

void
read_gone(const ReadLine *in, Op *op)
{
	const Fact *whole = find_fact(&in->facts, "whole");
	Op *doer = op;
	int planned = op_communicates(op) ? read_planned_number(in) : 0;

	if (!op_communicates(op))
		return;
	if (whole)
		op->whole = doer = read_whole(in->rd, whole, op);
	if (doer && planned)
		doer->planned = planned;
}
