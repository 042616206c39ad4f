/*
 * memory.c - --emit=memory, and the error of a program that does not fit.
 *
 *   memory of one device: 1.5 KiB of 16 GiB (v5e)
 *
 *          bytes       offset  buffer                           live
 *           1024            0  h f32[16, 16]                    dot (line 4) to the end
 */
#include <string.h>
#include "ir/targets.h"
#include "report/report.h"

/* "relu (line 4)", "the start" */
static void
text_moment(Text *t, const Plan *p, int step)
{
	if (step < 0 || step >= p->steps->n) {
		text_add(t, step < 0 ? "the start" : "the end");
		return;
	}
	const Op *op = p->steps->step[step].op;
	text_printf(t, "%s (line %d)", op->label ? op->label : ops[op->kind].name,
		op->range.line);
}

static void
text_live(Text *t, const Plan *p, const Buffer *b)
{
	text_moment(t, p, b->first);
	text_add(t, " to ");
	text_moment(t, p, b->last);
}

static const char *
shape_text(const Plan *p, const Buffer *b)
{
	return type_shape(p->module->arena, &b->value->type);
}

static void
memory_text(const Plan *p, Text *t)
{
	const Target *target = p->module->mesh.target;
	Buffer **order = plan_largest_first(p);

	text_add(t, "memory of one device: ");
	text_memory(t, (double)plan_peak(p));
	text_add(t, " of ");
	text_memory(t, (double)target->hbm_bytes);
	text_printf(t, " (%s)\nlargest live set:     ", target->name);
	text_memory(t, (double)p->live);
	if (p->scratch) {
		text_add(t, "\nscratch of a step:    ");
		text_memory(t, (double)p->scratch);
		text_add(t, ", at the end");
	}
	text_printf(t, "\n\n%12s %12s  %-32s live\n", "bytes", "offset", "buffer");
	for (int i = 0; i < p->n; i++) {
		const Buffer *b = order[i];
		const char *what = arena_printf(p->module->arena, "%s %s", b->value->name,
			shape_text(p, b));
		text_printf(t, "%12lld %12lld  %-32s ", (long long)b->bytes,
			(long long)b->offset, what);
		text_live(t, p, b);
		text_add(t, "\n");
	}
}

static void
memory_json(const Plan *p, Text *t)
{
	text_printf(t,
		"{ \"version\": 1, \"target\": \"%s\", \"limit\": %lld,\n"
		"  \"peak\": %lld, \"live\": %lld, \"scratch\": %lld, \"steps\": %d,\n"
		"  \"buffers\": [",
		p->module->mesh.target->name, (long long)p->module->mesh.target->hbm_bytes,
		(long long)plan_peak(p), (long long)p->live, (long long)p->scratch,
		p->steps->n);
	for (int i = 0; i < p->n; i++) {
		const Buffer *b = &p->buffers[i];
		text_printf(t,
			"%s\n    { \"name\": \"%s\", \"type\": \"%s\", "
			"\"bytes\": %lld, \"offset\": %lld, \"first\": %d, \"last\": %d }",
			i ? "," : "", b->value->name, shape_text(p, b), (long long)b->bytes,
			(long long)b->offset, b->first, b->last);
	}
	text_add(t, " ] }\n");
}

static void
memory_csv(const Plan *p, Text *t)
{
	text_add(t, "name,type,bytes,offset,first,last\n");
	for (int i = 0; i < p->n; i++) {
		const Buffer *b = &p->buffers[i];
		text_printf(t, "%s,\"%s\",%lld,%lld,%d,%d\n", b->value->name, shape_text(p, b),
			(long long)b->bytes, (long long)b->offset, b->first, b->last);
	}
}

void
emit_memory(const Plan *p, const char *format, Text *t)
{
	if (!strcmp(format, "json"))
		memory_json(p, t);
	else if (!strcmp(format, "csv"))
		memory_csv(p, t);
	else
		memory_text(p, t);
}

bool
check_memory(const Plan *p)
{
	enum { TOLD = 8 };
	Session *s = p->module->session;
	const Target *target = p->module->mesh.target;
	Buffer **order = plan_largest_first(p);
	Text t = {0};

	if (plan_peak(p) <= target->hbm_bytes)
		return true;
	text_add(&t, p->uncounted ? "more than " : "");
	text_memory(&t, (double)plan_peak(p));
	text_printf(&t, " of memory; %s has ", target->name);
	text_memory(&t, (double)target->hbm_bytes);
	diag(s, DIAG_out_of_memory, order[0]->value->range, "a device needs %s", t.s);
	for (int i = 0; i < p->n && i < TOLD; i++) {
		const Buffer *b = order[i];
		t.n = 0;
		text_memory(&t, (double)b->bytes);
		const char *size = text_take(&t, p->module->arena);
		text_live(&t, p, b);
		diag_line(s, "%12s  %s %s, live from %s", size, b->value->name,
			shape_text(p, b), t.s);
	}
	text_free(&t);
	diag_flush(s);
	return false;
}
