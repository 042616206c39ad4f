/*
 * c_control.c - loops and branches of run(), and what is copied where they
 * begin and end.
 *
 *   shdrt_in_loop(dev, &loops[0]);
 *   for (;;) {
 *           less_0((const int32_t *)(slab + 64), (uint8_t *)(slab + 128));
 *           if (!slab[128])
 *                   break;
 *           ...
 *   }
 *   shdrt_in_loop(dev, NULL);
 *
 * The runtime is told of loops whose number of trips only the data know.
 */
#include <string.h>
#include "emit/c.h"
#include "ir/flow.h"

const char *
c_indent(Emitter *e, int depth)
{
	char *tabs = arena_alloc(e->arena, (size_t)depth + 2);

	return memset(tabs, '\t', (size_t)depth + 1);
}

/* The innermost loop of unknown length from this op outwards, or NULL. */
static const Op *
endless(const Op *op)
{
	while (op && (!op_is_loop(op) || op_ints(op, A_trips)->n))
		op = op->block->parent;
	return op;
}

static void
note_loop(Emitter *e, const Op *loop)
{
	Text row = {0};

	text_printf(&e->run, "%sshdrt_in_loop(dev, ", e->indent);
	if (loop) {
		c_quoted(&row, "\t{", source_path(e->module->session, loop->range.file));
		text_printf(&row, ", %d},\n", loop->range.line);
		text_printf(&e->run, "&%s);\n", c_row(e, ROWS_loops, &row));
	} else {
		text_add(&e->run, "NULL);\n");
	}
}

/* What stands before body `part` of a loop or a branch, or behind both. */
void
emit_control(Emitter *e, const Op *op, int part)
{
	Text *t = &e->run;
	bool loop = op_is_loop(op);

	if (part == 0) {
		if (endless(op) == op)
			note_loop(e, op);
		text_printf(t, "%s%s", e->indent, loop ? "for (;;) {\n" : "if (slab[");
		if (!loop) {
			c_number(t, plan_offset(e->plan, op->operands[0]));
			text_add(t, "]) {\n");
		}
		e->indent = c_indent(e, ++e->depth);
	} else if (part == 1 && loop) {
		text_printf(t, "%sif (!slab[", e->indent);
		c_number(t, plan_offset(e->plan, op_decision(op)));
		text_printf(t, "])\n%s\tbreak;\n", e->indent);
	} else if (part == 1) {
		e->else_from = t->n;
		text_printf(t, "%s} else {\n", c_indent(e, e->depth - 1));
		e->else_to = t->n;
	} else {
		e->indent = c_indent(e, --e->depth);
		if (!loop && t->n == e->else_to)
			t->n = e->step_from = e->else_from; /* nothing to do there */
		text_printf(t, "%s}\n", e->indent);
		if (endless(op) == op)
			note_loop(e, endless(op->block->parent));
	}
}

/* An offset is stored; what is in the same buffer stays where it is; values that
   change places are swapped. */
void
emit_copy(Emitter *e, const Op *op)
{
	bool swap = op->nresults > 1;
	const Value *from = op->operands[swap], *to = swap ? op->operands[0] : op->results[0];
	Text *t = &e->run;

	if (e->plan->buffer_of[from->id] < 0) {
		text_printf(t, "%s*", e->indent);
		c_address(e, t, to, 0, false);
		text_printf(t, " = %s;\n", c_store(e->step, to->type.dtype, c_offset(e, from)));
	} else if (swap || !plan_shares(e->plan, to, from)) {
		text_printf(t, "%s%s(", e->indent, swap ? "shdrt_swap" : "memcpy");
		c_address(e, t, to, -1, false);
		text_add(t, ", ");
		c_address(e, t, from, -1, false);
		text_printf(t, ", %lld);\n", (long long)type_stored(&to->type));
	}
}
