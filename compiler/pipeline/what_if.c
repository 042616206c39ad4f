/*
 * what_if.c - the program once more, with one value placed otherwise.
 *
 * A remark that proposes an annotation has tried it: the global program is
 * read back from its text, the value placed, and the passes run; what a device
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

bool
what_if(const char *global_text, size_t n, const char *name, const Placement *p,
	double *wire_bytes)
{
	static const PipelineOptions silent;
	Session *s = session_new();
	Value *found = NULL;
	int failures = 0;
	bool tried = false;

	s->err = NULL;
	Module *m = module_read(s, source_add_text(s, "<what if>", global_text, (int)n));
	for (Op *op = m && name ? m->entry->first : NULL; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults; i++)
			if (!strcmp(op->results[i]->name, name))
				found = op->results[i];
	for (int i = 0; m && name && i < m->entry->nparams; i++)
		if (!strcmp(m->entry->params[i]->name, name))
			found = m->entry->params[i];
	if (m && (!name || (found && found->type.rank == p->rank))) {
		Value *v = found;
		if (v && v->def) { /* unlike a parameter, it gets a constraint */
			Make k = {.module = m,
				.before = v->def->next,
				.label = "let",
				.name = v->name};
			v = make_unary(k, O_constraint, found);
			value_replace_uses(m, found, v);
			v->def->operands[0] = found;
		}
		if (v) {
			v->placement = *p;
			v->annotated = true;
		}
		m->nexpects = 0;
		module_check(m, count_failure, &failures);
		tried = !failures && pipeline_run(m, L_device, &silent);
		if (tried)
			*wire_bytes = (double)module_ledger(m)->work.wire_bytes;
	}
	session_free(s);
	return tried;
}
