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
outcome_of(Module *m, const Plan *plan)
{
	const Ledger *l = module_ledger(m);

	return (Outcome){
		.collectives = l->n,
		.wire_bytes = l->work.wire_bytes,
		.picoseconds = picoseconds(l->work.seconds),
		.peak = plan->uncounted ? INT64_MAX : plan_peak(plan),
	};
}

bool
what_if(const char *text, size_t n, const Change *change, Outcome *outcome)
{
	static const PipelineOptions silent;
	Session *s = session_new();
	int failures = 0;

	s->err = NULL;
	Module *m = module_read(s, source_add_text(s, "<what if>", text, (int)n));
	bool tried = m != NULL;
	for (int i = 0; i < change->nplaced && tried; i++)
		tried = place(m, &change->placed[i]);
	for (int i = 0; i < change->nunplaced && tried; i++)
		tried = unplace(m, change->unplaced[i]);
	if (tried) {
		m->nexpects = 0;
		m->keep_inputs ^= change->toggle_inputs;
		module_check(m, count_failure, &failures);
		tried = !failures && pipeline_run(m, L_fused, &silent);
	}
	if (tried)
		*outcome = outcome_of(m, plan_build(m));
	session_free(s);
	return tried;
}
