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

static void
indent(Emitter *e, int change)
{
	e->depth += change;
	e->indent = c_indent(e, e->depth);
}

/* "WORDS NUMBER": where v is. */
static void
print_offset(Emitter *e, const char *words, const Value *v)
{
	text_add(&e->run, words);
	c_number(&e->run, plan_offset(e->plan, v));
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

	if (!loop) {
		text_printf(&e->run, "%sshdrt_in_loop(dev, NULL);\n", e->indent);
		return;
	}
	c_quoted(&row, "\t{", c_path(e, loop->range));
	text_printf(&row, ", %d},\n", loop->range.line);
	text_printf(&e->run, "%sshdrt_in_loop(dev, &%s);\n", e->indent,
		c_row(e, ROWS_loops, &row));
}

void
emit_loop(Emitter *e, const Op *op)
{
	if (endless(op) == op)
		note_loop(e, op);
	text_printf(&e->run, "%sfor (;;) {\n", e->indent);
	indent(e, 1);
}

void
emit_test(Emitter *e, const Op *op)
{
	text_add(&e->run, e->indent);
	print_offset(e, "if (!slab[", op->bodies[0]->last->operands[0]);
	text_printf(&e->run, "])\n%s\tbreak;\n", e->indent);
}

void
emit_if(Emitter *e, const Op *op)
{
	text_add(&e->run, e->indent);
	print_offset(e, "if (slab[", op->operands[0]);
	text_add(&e->run, "]) {\n");
	indent(e, 1);
}

void
emit_else(Emitter *e, const Op *op)
{
	(void)op;
	indent(e, -1);
	e->else_from = e->run.n;
	text_printf(&e->run, "%s} else {\n", e->indent);
	e->else_to = e->run.n;
	indent(e, 1);
}

void
emit_end(Emitter *e, const Op *op)
{
	indent(e, -1);
	if (op_is_branch(op) && e->run.n == e->else_to)
		e->run.n = e->step_from = e->else_from; /* nothing to do there */
	text_printf(&e->run, "%s}\n", e->indent);
	if (op_is_loop(op) && endless(op) == op)
		note_loop(e, endless(op->block->parent));
}

/* ---- copies ------------------------------------------------------------- */

static void
call_with_buffers(Emitter *e, const char *function, const Value *a, const Value *b)
{
	text_printf(&e->run, "%s%s(", e->indent, function);
	print_offset(e, "slab + ", a);
	print_offset(e, ", slab + ", b);
	text_printf(&e->run, ", %lld);\n", (long long)type_bytes(&a->type));
}

/* An offset is stored; what is in the same buffer stays where it is. */
void
emit_copy(Emitter *e, const Op *op)
{
	const Value *to = op->results[0], *from = op->operands[0];

	if (e->plan->buffer_of[from->id] < 0) {
		text_printf(&e->run, "%s*", e->indent);
		c_address(e, &e->run, to, 0, false);
		text_add(&e->run, " = ");
		text_add(&e->run, c_store(e->step, to->type.dtype, c_offset(e, from)));
		text_add(&e->run, ";\n");
	} else if (!plan_shares(e->plan, to, from)) {
		call_with_buffers(e, "memcpy", to, from);
	}
}

void
emit_swap(Emitter *e, const Op *op)
{
	call_with_buffers(e, "shdrt_swap", op->operands[0], op->operands[1]);
}
