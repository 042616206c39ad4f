/*
 * what_if.c - the program once more, with one value placed otherwise.
 *
 * A remark that proposes an annotation has tried it: the global program is
 * read back from its text, the value placed, and the passes run; what all
 * devices' programs then receive is compared with what they receive now.
 */
#include <string.h>
#include "hlo/hlo.h"
#include "shard/shard.h"

static void
add_traffic(Op *op, void *data)
{
	Traffic *t = data;
	StepCost cost = step_cost(&op->module->mesh, op, NULL, NULL);
	int64_t bytes = whole_bytes(cost.wire_bytes), trips;

	op_trips(op, &trips);
	t->bytes += (double)bytes * (double)trips;
	t->collectives += bytes > 0;
}

Traffic
module_traffic(Module *m)
{
	Traffic t = {0};

	module_walk(m, add_traffic, &t);
	return t;
}

typedef struct Wanted {
	const char *name;
	Value *found;
} Wanted;

static void
find_value(Op *op, void *data)
{
	Wanted *w = data;

	for (int i = 0; i < op->nresults; i++)
		if (!strcmp(op->results[i]->name, w->name))
			w->found = op->results[i];
}

static Value *
value_named(Module *m, const char *name)
{
	Wanted w = {name, NULL};

	for (int i = 0; i < m->entry->nparams; i++)
		if (!strcmp(m->entry->params[i]->name, name))
			return m->entry->params[i];
	module_walk(m, find_value, &w);
	return w.found;
}

/* A parameter takes the placement; anything else gets a constraint. */
static void
place_value(Module *m, Value *v, const Placement *p)
{
	if (v->def) {
		Make k = {.module = m, .before = v->def->next, .label = "let", .name = v->name};
		Value *placed = make_unary(k, O_constraint, v);
		value_replace_uses(m, v, placed);
		placed->def->operands[0] = v;
		v = placed;
	}
	v->placement = *p;
	v->annotated = true;
}

bool
what_if(const char *global_text, size_t n, const char *name, const Placement *p,
	Traffic *traffic)
{
	PartitionOptions silent = {0};
	Session *s = session_new();
	Module *m;
	Value *v;
	bool tried = false;

	s->err = NULL;
	m = module_read(s, source_add_text(s, "<what if>", global_text, (int)n));
	v = m && name ? value_named(m, name) : NULL;
	if (m && (!name || (v && v->type.rank == p->rank))) {
		if (v)
			place_value(m, v, p);
		m->nexpects = 0;
		pad_dims(m, false);
		if (explicit(m) && propagate(m) && !diag_errors(s)) {
			partition(m, &silent);
			localize(m);
			*traffic = module_traffic(m);
			tried = true;
		}
	}
	session_free(s);
	return tried;
}
