/*
 * memory.c - --emit=memory, and the error of a program that does not fit.
 *
 *   memory of one device: 1.5 KiB of 16 GiB (v5e)
 *     parameters               512 B
 *     temporaries              1 KiB
 *
 *   most is live at relu (line 5):
 *          bytes       offset  kind         line  buffer           live
 *           1024            0  temporaries     4  h f32[16, 16]    dot (line 4) to the end
 */
#include <string.h>
#include "ir/place.h"
#include "ir/targets.h"
#include "memory/peak.h"
#include "report/folded.h"
#include "report/report.h"

/* "line 7"; of an imported file "layers.shd:7", and of Python "train.py:7". */
static const char *
line_text(const Module *m, Range at, const char *before)
{
	const char *path = source_path(m->session, at.file), *slash = strrchr(path, '/');
	bool imported = at.file > 1 && (m->python || source_file(m->session, at.file)->text);

	return imported ? arena_printf(m->arena, "%s:%d%s", slash ? slash + 1 : path, at.line,
		       column_text(m, at))
			: arena_printf(m->arena, "%s%d", before, at.line);
}

void
text_at_step(Text *t, const Plan *plan, int step)
{
	bool inside = step >= 0 && step < plan->lives->n;
	const Op *op = inside ? plan->lives->step[step] : NULL;

	if (op)
		text_printf(t, "%s (%s)", op->label ? op->label : ops[op->kind].name,
			line_text(plan->module, op->range, "line "));
	else
		text_add(t, step < 0 ? "the start" : "the end");
}

static void
text_live(Text *t, const Plan *plan, const Buffer *b)
{
	text_at_step(t, plan, b->first);
	text_add(t, " to ");
	text_at_step(t, plan, b->last);
}

/* Has any step a line of Python? */
static bool
has_python_lines(const Plan *plan)
{
	bool found = false;

	for (int i = 0; plan->module->python && i < plan->lives->n && !found; i++)
		found = plan->lives->step[i] && plan->lives->step[i]->range.file > 1;
	return found;
}

/* Beside lines of Python what is handed to the program has none. */
static const char *
buffer_line(const Plan *plan, const Buffer *b, bool python)
{
	Range at = value_place(plan->module, b->value);

	return at.file <= 1 && !b->value->def && python ? "-" : line_text(plan->module, at, "");
}

/* Of the column of lines. */
static int
line_width(const Plan *plan, Buffer *const *buffers, int n, bool python)
{
	int width = 4;

	for (int i = 0; i < n; i++) {
		int length = (int)strlen(buffer_line(plan, buffers[i], python));
		width = length > width ? length : width;
	}
	return width;
}

static const char *
shape_text(const Plan *plan, const Buffer *b)
{
	return type_shape(plan->module->arena, &b->value->type);
}

/* What it is for at the peak; the numbers add up to that. */
static void
text_kinds(Text *t, const Plan *plan, const Peak *peak)
{
	for (int k = 0; k < MEMORY_KINDS; k++) {
		if (!peak->bytes[k])
			continue;
		text_printf(t, "  %-24s ", memory_kind_titles[k]);
		text_memory(t, (double)peak->bytes[k]);
		text_add(t, "\n");
	}
	text_add(t, "largest live set:     ");
	text_memory(t, (double)plan->live);
	text_add(t, "\n");
	if (!plan->nhosted)
		return;
	text_add(t, "in the host's memory: ");
	text_memory(t, (double)plan->hosted);
	text_add(t, "\n");
}

/* "relu.3 f32[8, 32, 256]" */
static const char *
buffer_text(const Plan *plan, const Buffer *b)
{
	return arena_printf(plan->module->arena, "%s %s", b->value->name, shape_text(plan, b));
}

/* Equal for copies: all that is told of one but the numbers in its name and its offset. */
static const char *
buffer_key(const Plan *plan, const Peak *peak, const Buffer *b, bool python)
{
	Text t = {0};

	text_printf(&t, "%s %lld %d %s ", buffer_text(plan, b), (long long)b->bytes,
		peak->kinds[b - plan->buffers], buffer_line(plan, b, python));
	text_live(&t, plan, b);
	const char *key = text_of_copies(plan->module->arena, t.s);
	text_free(&t);
	return key;
}

/* Of copies, as of unrolled layers, the first. */
static void
text_buffers(Text *t, const Plan *plan, const Peak *peak, Buffer *const *buffers, int n)
{
	bool python = has_python_lines(plan);
	int width = line_width(plan, buffers, n, python);
	Table *told = table_new(plan->module->arena);
	int *alike = NEW_ARRAY(plan->module->arena, int, n + 1);

	for (int i = 0; i < n; i++) {
		const char *key = buffer_key(plan, peak, buffers[i], python);
		if (!table_add(told, key, &alike[i]))
			++*(int *)table_get(told, key);
		else
			alike[i] = 1;
	}
	text_printf(t, "%12s %12s  %-11s  %*s  %-32s live\n", "bytes", "offset", "kind", width,
		"line", "buffer");
	for (int i = 0; i < n; i++) {
		const Buffer *b = buffers[i];
		if (!alike[i])
			continue;
		text_printf(t, "%12lld %12lld  %-11s  %*s  %-32s ", (long long)b->bytes,
			(long long)b->offset, memory_kind_names[peak->kinds[b - plan->buffers]],
			width, buffer_line(plan, b, python), buffer_text(plan, b));
		text_live(t, plan, b);
		if (alike[i] > 1)
			text_printf(t, ", and %d alike", alike[i] - 1);
		text_add(t, "\n");
	}
}

/* "inputs may be overwritten; --keep-inputs: 1.2 GiB more" */
static void
text_inputs(Text *t, const Plan *plan, int64_t otherwise)
{
	bool kept = plan->module->keep_inputs;
	int64_t more = otherwise - plan_peak(plan);

	text_add(t,
		kept			       ? "inputs are kept"
			: plan->module->python ? "donated inputs may be overwritten"
					       : "inputs may be overwritten");
	if (otherwise >= 0 && !plan->uncounted) {
		text_add(t, kept ? "; without --keep-inputs: " : "; --keep-inputs: ");
		if (more)
			text_memory(t, (double)(more < 0 ? -more : more));
		text_add(t, !more ? "as much" : more < 0 ? " less" : " more");
	}
	text_add(t, "\n");
}

/* What is kept for backward where most of it is, and in which functions, were they
   checkpoints, it would not be. */
static void
text_kept(Text *t, const Plan *plan, const Peak *peak, const MemoryNotes *notes)
{
	bool python = has_python_lines(plan);
	int width = line_width(plan, peak->kept, peak->nkept, python);

	text_add(t, "\nkept for backward: ");
	text_memory(t, (double)peak->bytes_kept);
	text_printf(t, "\n%12s  %*s  %-32s not kept with\n", "bytes", width, "line", "buffer");
	for (int i = 0; i < peak->nkept; i++) {
		const Buffer *b = peak->kept[i];
		const char *before = "";
		text_printf(t, "%12lld  %*s  %-32s ", (long long)b->bytes, width,
			buffer_line(plan, b, python), buffer_text(plan, b));
		for (int k = 0; k < notes->ncheckpoints; k++) {
			const Checkpoint *c = &notes->checkpoints[k];
			if (!c->avoids[b - plan->buffers])
				continue;
			text_printf(t, "%scheckpoint fn %s", before, c->function);
			before = ", or ";
		}
		text_add(t, *before ? "\n" : "-\n");
	}
	for (int k = 0; k < notes->ncheckpoints; k++) {
		const Checkpoint *c = &notes->checkpoints[k];
		text_printf(t, "checkpoint fn %s, %s: ", c->function,
			line_text(plan->module, c->declared, "line "));
		text_memory(t, (double)c->kept);
		text_add(t, " kept, ");
		text_memory(t, (double)c->peak);
		text_add(t, " in all\n");
	}
}

static void
memory_text(const Plan *plan, const MemoryNotes *notes, Text *t)
{
	const Module *m = plan->module;
	const Target *target = m->mesh.target;
	const Peak *peak = plan_at_peak(plan);
	Buffer **order = plan_largest_first(plan);
	int n = 0;

	text_add(t, "memory of one device: ");
	text_memory(t, (double)plan_peak(plan));
	text_add(t, " of ");
	text_memory(t, (double)target->hbm_bytes);
	text_printf(t, " (%s)\n", target->name);
	text_kinds(t, plan, peak);
	text_inputs(t, plan, notes->otherwise);
	if (peak->n) {
		text_add(t, "\nmost is live at ");
		text_at_step(t, plan, plan->fullest);
		text_add(t, ":\n");
		text_buffers(t, plan, peak, peak->live, peak->n);
	}
	for (int i = 0; i < plan->n; i++)
		if (order[i]->first > plan->fullest || order[i]->last < plan->fullest)
			order[n++] = order[i];
	if (peak->nkept)
		text_kept(t, plan, peak, notes);
	if (n) {
		text_add(t, "\nat other times:\n");
		text_buffers(t, plan, peak, order, n);
	}
}

/* Up to its buffers. */
static void
json_sums(const Plan *plan, const Peak *peak, int64_t otherwise, Text *t)
{
	const Target *target = plan->module->mesh.target;

	text_printf(t,
		"{ \"version\": 1, \"target\": \"%s\", \"limit\": %lld,\n"
		"  \"peak\": %lld, \"live\": %lld, \"scratch\": %lld, \"steps\": %d,\n"
		"  \"inputs\": \"%s\", \"peak_otherwise\": %s,\n"
		"  \"at\": { \"step\": %d, \"line\": %d, \"what\": ",
		target->name, (long long)target->hbm_bytes, (long long)plan_peak(plan),
		(long long)plan->live, (long long)plan->scratch, plan->lives->n,
		plan->module->keep_inputs      ? "kept"
			: plan->module->python ? "kept where they are not donated"
					       : "overwritten",
		otherwise < 0 ? "null"
			      : arena_printf(plan->module->arena, "%lld", (long long)otherwise),
		plan->fullest, peak->op ? peak->op->range.line : 0);
	text_json(t, peak->op ? peak->op->label : "");
	text_add(t, " },\n  \"kinds\": {");
	for (int k = 0; k < MEMORY_KINDS; k++)
		text_printf(t, "%s\"%s\": %lld", k ? ", " : " ", memory_kind_names[k],
			(long long)peak->bytes[k]);
	text_add(t, " },\n");
}

/* The kinds in words, and the buffers: those of equal layers are equal but for their
   names, and where and when they lie. */
static void
folded_buffers(const Plan *plan, const Peak *peak, Text *t)
{
	Arena *a = arena_new();
	Folded all = folded_new(a, "\"name\", \"offset\", \"first\", \"last\"");

	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		folded_add(&all,
			arena_printf(a,
				"\"type\": \"%s\", \"bytes\": %lld, \"kind\": \"%s\", "
				"\"line\": %d",
				shape_text(plan, b), (long long)b->bytes,
				memory_kind_names[peak->kinds[i]],
				value_place(plan->module, b->value).line),
			arena_printf(a, "\"%s\", %lld, %d, %d", b->value->name,
				(long long)b->offset, b->first, b->last));
	}
	text_add(t, "  \"titles\": {");
	for (int k = 0; k < MEMORY_KINDS; k++)
		text_printf(t, "%s\"%s\": \"%s\"", k ? ", " : " ", memory_kind_names[k],
			memory_kind_titles[k]);
	text_add(t, " },\n  \"buffers\": ");
	text_folded(t, &all);
	arena_free(a);
}

/* For scripts, as JSON or as a table. */
static void
memory_rows(const Plan *plan, const Peak *peak, bool json, Text *t)
{
	text_add(t,
		json ? "  \"buffers\": ["
		     : "name,type,bytes,offset,first,last,kind,line,at_peak\n");
	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		bool live = b->first <= plan->fullest && b->last >= plan->fullest;
		text_add(t, i && json ? "," : "");
		text_printf(t,
			json ? "\n    { \"name\": \"%s\", \"type\": \"%s\", "
			       "\"bytes\": %lld, \"offset\": %lld, \"first\": %d, \"last\": "
			       "%d, \"kind\": \"%s\", \"line\": %d, \"at_peak\": %s }"
			     : "%s,\"%s\",%lld,%lld,%d,%d,%s,%d,%s\n",
			b->value->name, shape_text(plan, b), (long long)b->bytes,
			(long long)b->offset, b->first, b->last,
			memory_kind_names[peak->kinds[i]],
			value_place(plan->module, b->value).line, live ? "true" : "false");
	}
	text_add(t, json ? " ]" : "");
}

void
emit_memory(const Plan *plan, const MemoryNotes *notes, const char *format, Text *t)
{
	bool json = !strcmp(format, "json"), folded = !strcmp(format, "folded");
	const Peak *peak = plan_at_peak(plan);

	if (json || folded)
		json_sums(plan, peak, notes->otherwise, t);
	if (folded)
		folded_buffers(plan, peak, t);
	else if (json || !strcmp(format, "csv"))
		memory_rows(plan, peak, json, t);
	else
		memory_text(plan, notes, t);
	text_add(t, json || folded ? " }\n" : "");
}

bool
check_memory(const Plan *plan)
{
	enum { TOLD = 8 };
	Session *s = plan->module->session;
	const Target *target = plan->module->mesh.target;
	Text t = {0};

	if (plan_peak(plan) <= target->hbm_bytes)
		return true;
	const Peak *peak = plan_at_peak(plan);
	Buffer **order = peak->n ? peak->live : plan_largest_first(plan);
	int n = peak->n ? peak->n : plan->n;
	text_add(&t, plan->uncounted ? "more than " : "");
	text_memory(&t, (double)plan_peak(plan));
	text_printf(&t, " of memory; %s has ", target->name);
	text_memory(&t, (double)target->hbm_bytes);
	diag(s, DIAG_out_of_memory, value_place(plan->module, order[0]->value),
		"a device needs %s", t.s);
	for (int i = 0; i < n && i < TOLD; i++) {
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
