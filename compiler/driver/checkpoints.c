/*
 * checkpoints.c - what would be kept for backward if a function was a checkpoint fn.
 *
 * Of each function of the program's own file in which something that is kept is made, the
 * program is compiled once more with that function as a checkpoint.
 */
#include <string.h>
#include "driver.h"
#include "tree.h"
#include "memory/peak.h"

static Range
made_at(const Buffer *b)
{
	const Value *v = b->value;

	return v->range.line || !v->def ? v->range : v->def->range;
}

static bool
is_kept_alike(const Plan *plan, const Peak *peak, const Buffer *b)
{
	for (int i = 0; i < plan->n; i++) {
		const Buffer *other = &plan->buffers[i];
		if (peak->keeps[i] && made_at(other).line == made_at(b).line
			&& type_equal(&other->value->type, &b->value->type))
			return true;
	}
	return false;
}

/* Anything that is kept at the peak and made in the function? */
static bool
keeps_of(const Compilation *c, const Peak *peak, const FnDecl *fn)
{
	const Plan *plan = c->plan;

	for (int i = 0; i < peak->n; i++) {
		Range at = made_at(peak->live[i]);
		if (peak->kinds[peak->live[i] - plan->buffers] == MEMORY_backward
			&& at.file == c->file && at.begin >= fn->range.begin
			&& at.begin < fn->end.end)
			return true;
	}
	return false;
}

/* The program with that function as a checkpoint, fused; NULL if it can't be. */
static Module *
compile_with(const Compilation *c, Session *s, const FnDecl *fn)
{
	const SourceFile *f = source_file(c->session, c->file);
	const PipelineOptions pipeline = {0};
	FrontOptions front = c->options->front;

	s->err = NULL;
	front.checkpoint = fn->name.s;
	Module *m = front_compile(s, source_add_text(s, f->path, f->text, f->length), &front);
	if (!m || !pipeline_accept(m))
		return NULL;
	m->keep_inputs |= c->options->keep_inputs;
	return pipeline_run(m, L_fused, &pipeline) && !diag_errors(s) ? m : NULL;
}

/* Is less kept so, and less needed at the peak? */
static bool
try_checkpoint(const Compilation *c, const Peak *now, const FnDecl *fn, Checkpoint *found)
{
	Session *s = session_new();
	Module *m = compile_with(c, s, fn);
	bool *avoids = NEW_ARRAY(c->session->arena, bool, c->plan->n + 1), less = false;

	*found = (Checkpoint){.function = fn->name.s, .line = fn->range.line, .avoids = avoids};
	if (m) {
		const Plan *plan = plan_build(m);
		const Peak *peak = plan_at_peak(plan);
		found->kept = peak->bytes[MEMORY_backward];
		found->peak = plan_peak(plan);
		for (int i = 0; i < c->plan->n; i++)
			avoids[i] = now->kinds[i] == MEMORY_backward
				&& !is_kept_alike(plan, peak, &c->plan->buffers[i]);
		less = !plan->uncounted && found->kept < now->bytes[MEMORY_backward]
			&& found->peak < plan_peak(c->plan);
	}
	session_free(s);
	return less;
}

const Checkpoint *
checkpoints_find(const Compilation *c, int *n)
{
	const Peak *peak = plan_at_peak(c->plan);
	Checkpoint *all = NULL, found;
	const Program *p;

	*n = 0;
	if (!c->is_source || !peak->bytes[MEMORY_backward])
		return NULL;
	p = parse_file(c->session, c->file, DIAG_syntax);
	for (int i = 0; i < p->items.n; i++) {
		const FnDecl *fn = ((const Decl *)p->items.v[i])->fn;
		if (fn && fn->mode == FN_auto && !fn->checkpoint && keeps_of(c, peak, fn)
			&& try_checkpoint(c, peak, fn, &found))
			APPEND(c->session->arena, all, *n, found);
	}
	return all;
}
