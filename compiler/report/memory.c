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

/* "the start to relu (line 4)" */
static void
text_live(Text *t, const Plan *plan, const Buffer *b)
{
	for (int i = 0; i < 2; i++) {
		int step = i ? b->last : b->first;
		bool inside = step >= 0 && step < plan->lives->n;
		const Op *op = inside ? plan->lives->step[step] : NULL;
		text_add(t, i ? " to " : "");
		if (op)
			text_printf(t, "%s (line %d)",
				op->label ? op->label : ops[op->kind].name, op->range.line);
		else
			text_add(t, step < 0 ? "the start" : "the end");
	}
}

static const char *
shape_text(const Plan *plan, const Buffer *b)
{
	return type_shape(plan->module->arena, &b->value->type);
}

static void
memory_text(const Plan *plan, Text *t)
{
	const Target *target = plan->module->mesh.target;
	Buffer **order = plan_largest_first(plan);

	text_add(t, "memory of one device: ");
	text_memory(t, (double)plan_peak(plan));
	text_add(t, " of ");
	text_memory(t, (double)target->hbm_bytes);
	text_printf(t, " (%s)\nlargest live set:     ", target->name);
	text_memory(t, (double)plan->live);
	if (plan->scratch) {
		text_add(t, "\nscratch of a step:    ");
		text_memory(t, (double)plan->scratch);
		text_add(t, ", at the end");
	}
	text_printf(t, "\n\n%12s %12s  %-32s live\n", "bytes", "offset", "buffer");
	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = order[i];
		const char *what = arena_printf(plan->module->arena, "%s %s", b->value->name,
			shape_text(plan, b));
		text_printf(t, "%12lld %12lld  %-32s ", (long long)b->bytes,
			(long long)b->offset, what);
		text_live(t, plan, b);
		text_add(t, "\n");
	}
}

/* For scripts, as JSON or as a table. */
static void
memory_rows(const Plan *plan, bool json, Text *t)
{
	const Target *target = plan->module->mesh.target;

	if (json)
		text_printf(t,
			"{ \"version\": 1, \"target\": \"%s\", \"limit\": %lld,\n"
			"  \"peak\": %lld, \"live\": %lld, \"scratch\": %lld, \"steps\": %d,\n"
			"  \"buffers\": [",
			target->name, (long long)target->hbm_bytes, (long long)plan_peak(plan),
			(long long)plan->live, (long long)plan->scratch, plan->lives->n);
	else
		text_add(t, "name,type,bytes,offset,first,last\n");
	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		text_add(t, i && json ? "," : "");
		text_printf(t,
			json ? "\n    { \"name\": \"%s\", \"type\": \"%s\", "
			       "\"bytes\": %lld, \"offset\": %lld, \"first\": %d, \"last\": %d "
			       "}"
			     : "%s,\"%s\",%lld,%lld,%d,%d\n",
			b->value->name, shape_text(plan, b), (long long)b->bytes,
			(long long)b->offset, b->first, b->last);
	}
	text_add(t, json ? " ] }\n" : "");
}

void
emit_memory(const Plan *plan, const char *format, Text *t)
{
	bool json = !strcmp(format, "json");

	if (json || !strcmp(format, "csv"))
		memory_rows(plan, json, t);
	else
		memory_text(plan, t);
}

bool
check_memory(const Plan *plan)
{
	enum { TOLD = 8 };
	Session *s = plan->module->session;
	const Target *target = plan->module->mesh.target;
	Buffer **order = plan_largest_first(plan);
	Text t = {0};

	if (plan_peak(plan) <= target->hbm_bytes)
		return true;
	text_add(&t, plan->uncounted ? "more than " : "");
	text_memory(&t, (double)plan_peak(plan));
	text_printf(&t, " of memory; %s has ", target->name);
	text_memory(&t, (double)target->hbm_bytes);
	diag(s, DIAG_out_of_memory, order[0]->value->range, "a device needs %s", t.s);
	for (int i = 0; i < plan->n && i < TOLD; i++) {
		const Buffer *b = order[i];
		t.n = 0;
		text_memory(&t, (double)b->bytes);
		const char *size = text_take(&t, plan->module->arena);
		text_live(&t, plan, b);
		diag_line(s, "%12s  %s %s, live from %s", size, b->value->name,
			shape_text(plan, b), t.s);
	}
	text_free(&t);
	diag_flush(s);
	return false;
}
