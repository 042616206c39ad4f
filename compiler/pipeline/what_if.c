/*
 * what_if.c - the program once more, otherwise: what would a run of that take?
 *
 * A remark that proposes an annotation has tried it: the global program is
 * read back from its text, the values placed, and the passes run; what a device
 * then receives is compared with what it receives now.
 */
#include <string.h>
#include "cost/ledger.h"
#include "hlo/hlo.h"
#include "pipeline/pipeline.h"

static void
count_failure(const void *line, const char *message, void *data)
{
	(void)line, (void)message;
	++*(int *)data;
}

static Value *
value_of_name(const Module *m, const char *name)
{
	for (int i = 0; i < m->entry->nparams; i++)
		if (!strcmp(m->entry->params[i]->name, name))
			return m->entry->params[i];
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults; i++)
			if (!strcmp(op->results[i]->name, name))
				return op->results[i];
	return NULL;
}

/* Unlike a parameter, what an op makes gets a constraint. */
static bool
place(Module *m, const Placed *placed)
{
	Value *found = value_of_name(m, placed->value->name), *v = found;

	if (!found || found->type.rank != placed->placement.rank)
		return false;
	if (found->def) {
		Make k = {.module = m,
			.before = found->def->next,
			.label = "let",
			.name = found->name};
		v = make_unary(k, O_constraint, found);
		value_replace_uses(m, found, v);
		v->def->operands[0] = found;
	}
	v->placement = placed->placement;
	v->annotated = true;
	return true;
}

/* A parameter or result is whole then, as its type says without axes; what was placed
   on its way is as it comes. */
static bool
unplace(Module *m, const char *name)
{
	Value *v = value_of_name(m, name);

	if (!v)
		return false;
	if (!v->def || v->def->kind == O_output) {
		v->placement = placement_none(v->type.rank);
		return true;
	}
	Value *x = v->def->operands[0];
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			m->named[i].value = x;
	value_replace_uses(m, v, x);
	op_remove(v->def);
	return true;
}

Outcome
outcome_of(Module *m, const Plan *plan, const Timeline *timeline)
{
	const Ledger *l = module_ledger(m);

	return (Outcome){
		.collectives = l->n,
		.wire_bytes = l->work.wire_bytes,
		.picoseconds = timeline->time,
		.exposed = timeline->exposed,
		.peak = plan->uncounted ? INT64_MAX : plan_peak(plan),
	};
}

/* The program of that text with the change, at L_fused; NULL if it can't be. */
static Module *
compile_changed(Session *s, const char *text, size_t n, const Change *change)
{
	static const PipelineOptions silent;
	int failures = 0;

	s->err = NULL;
	Module *m = module_read(s, source_add_text(s, "<what if>", text, (int)n));
	for (int i = 0; i < change->nplaced && m; i++)
		if (!place(m, &change->placed[i]))
			return NULL;
	for (int i = 0; i < change->nunplaced && m; i++)
		if (!unplace(m, change->unplaced[i]))
			return NULL;
	if (!m)
		return NULL;
	m->nexpects = 0;
	m->keep_inputs ^= change->toggle_inputs;
	module_check(m, count_failure, &failures);
	return !failures && pipeline_run(m, L_fused, &silent) ? m : NULL;
}

bool
what_if(const char *text, size_t n, const Change *change, Outcome *outcome)
{
	Session *s = session_new();
	Module *m = compile_changed(s, text, n, change);

	if (m)
		*outcome = outcome_of(m, plan_build(m), timeline_build(m, m->arena));
	session_free(s);
	return m != NULL;
}

static void
add_exposure(Arena *a, Exposure **all, int *n, const Session *s, const TimelineStep *step)
{
	const Op *op = step->op;
	const char *path = op->range.file ? source_path(s, op->range.file) : "";
	int i = 0;

	while (i < *n
		&& ((*all)[i].kind != op->kind || (*all)[i].line != op->range.line
			|| strcmp((*all)[i].label, op->label) != 0
			|| strcmp((*all)[i].path, path) != 0))
		i++;
	if (i == *n) {
		Exposure new = {op->kind, arena_printf(a, "%s", op->label),
			arena_printf(a, "%s", path), op->range.line, 0, 0};
		APPEND(a, *all, *n, new);
	}
	(*all)[i].total += step->total;
	(*all)[i].exposed += step->exposed;
}

const Exposure *
exposures_of(const char *text, size_t n, Arena *a, int *nexposures)
{
	Session *s = session_new();
	Module *m = compile_changed(s, text, n, &(Change){0});
	const Timeline *timeline = m ? timeline_build(m, m->arena) : NULL;
	Exposure *all = NULL;

	*nexposures = 0;
	for (int i = 0; timeline && i < timeline->n; i++)
		if (timeline->steps[i].moves)
			add_exposure(a, &all, nexposures, s, &timeline->steps[i]);
	session_free(s);
	return all;
}
