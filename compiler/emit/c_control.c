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

static void
indent(Emitter *e, int change)
{
	Text t = {0};

	e->depth += change;
	for (int i = 0; i <= e->depth; i++)
		text_add(&t, "\t");
	e->indent = text_take(&t, e->arena);
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
	while (op && (op->kind != O_while || op_ints(op, A_trips)->n))
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
	const char *path =
		loop->range.file ? source_file(e->module->session, loop->range.file)->path : "";
	text_add(&row, "\t{");
	c_string(&row, path, strlen(path));
	text_printf(&row, ", %d},\n", loop->range.line);
	text_printf(&e->run, "%sshdrt_in_loop(dev, &loops[%d]);\n", e->indent,
		c_share_row(e, &e->loops, &e->nloops, &row));
	text_free(&row);
}

void
emit_loop(Emitter *e, const Step *s)
{
	if (endless(s->op) == s->op)
		note_loop(e, s->op);
	text_printf(&e->run, "%sfor (;;) {\n", e->indent);
	indent(e, 1);
}

void
emit_test(Emitter *e, const Step *s)
{
	text_add(&e->run, e->indent);
	print_offset(e, "if (!slab[", s->reads[0]);
	text_printf(&e->run, "])\n%s\tbreak;\n", e->indent);
}

void
emit_if(Emitter *e, const Step *s)
{
	text_add(&e->run, e->indent);
	print_offset(e, "if (slab[", s->reads[0]);
	text_add(&e->run, "]) {\n");
	indent(e, 1);
}

void
emit_else(Emitter *e, const Step *s)
{
	(void)s;
	indent(e, -1);
	e->else_from = e->run.n;
	text_printf(&e->run, "%s} else {\n", e->indent);
	e->else_to = e->run.n;
	indent(e, 1);
}

void
emit_end(Emitter *e, const Step *s)
{
	indent(e, -1);
	if (s->kind == STEP_endif && e->run.n == e->else_to)
		e->run.n = e->step_from = e->else_from; /* nothing to do there */
	text_printf(&e->run, "%s}\n", e->indent);
	if (s->kind == STEP_repeat && endless(s->op) == s->op)
		note_loop(e, endless(s->op->block->parent));
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

void
c_copy(Emitter *e, const Value *to, const Value *from)
{
	if (!c_same_buffer(e, to, from))
		call_with_buffers(e, "memcpy", to, from);
}

void
emit_copy(Emitter *e, const Step *s)
{
	c_copy(e, s->result, s->reads[0]);
}

void
emit_swap(Emitter *e, const Step *s)
{
	call_with_buffers(e, "shdrt_swap", s->result, s->reads[0]);
}
