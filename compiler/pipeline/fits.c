/*
 * fits.c - may equal ops be merged, or would a device then need too much memory?
 *
 * A copy of this process compiles the program merged, and another one as it is, as far as
 * buffers are known, which is done once if it fits.  That is not needed where all values,
 * whole, are a fraction of what the target has.
 */
#include "ir/targets.h"
#include "memory/plan.h"
#include "pipeline/pipeline.h"

enum { FORMS = 4 }; /* of an operand on one device: moved, and on the way there */

static bool
always(Module *m)
{
	(void)m;
	return true;
}

static bool
never(Module *m)
{
	(void)m;
	return false;
}

/* All operands and results, as if nothing were split or shared. */
static double
unshared_bytes(const Module *m)
{
	double bytes = 0;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands + op->nresults; i++)
			bytes += (double)type_bytes(&rule_tensor(op, i)->type);
	return bytes;
}

/* Bytes that a device needs, if it is compiled from here on so; at most INT64_MAX. */
static int64_t
compiled_peak(Module *m, MayMerge *may_merge)
{
	const PipelineOptions options = {.may_merge = may_merge, .verified = true};

	if (m->level == L_resharded) /* no pass after it merges */
		merge(m, may_merge);
	if (!pipeline_run(m, L_fused, &options))
		return INT64_MAX;
	const Plan *plan = plan_build(m);
	return plan->uncounted ? INT64_MAX : plan_peak(plan);
}

typedef struct Attempt {
	Module *module;
	MayMerge *may_merge;
	int64_t *peak;
} Attempt;

/* In a copy of this process the module is nobody else's. */
static void
attempt(void *data, int64_t i)
{
	const Attempt *t = data;

	(void)i;
	t->module->session->err = NULL;
	*t->peak = compiled_peak(t->module, t->may_merge);
}

static int64_t
peak_of(Module *m, MayMerge *may_merge)
{
	int64_t *told = shared_new(sizeof *told);
	Attempt t = {m, may_merge, told};

	if (!told || !work_apart(attempt, &t))
		out_of_memory();
	int64_t peak = *told;
	shared_free(told, sizeof *told);
	if (!peak)
		die("what the program needs was not found out");
	return peak;
}

bool
merged_fits(Module *m)
{
	const Target *target = m->mesh.target;
	int64_t limit = target->hbm_bytes, as_it_is;
	Text t = {0};

	if (m->merged_fits || unshared_bytes(m) * FORMS <= (double)limit)
		return true;
	int64_t merged = peak_of(m, always);
	m->merged_fits = merged <= limit;
	bool fits = m->merged_fits || merged <= (as_it_is = peak_of(m, never));
	if (!fits && as_it_is <= limit) {
		text_add(&t, merged == INT64_MAX ? "more than " : "");
		text_memory(&t, (double)merged);
		text_printf(&t, " of memory if equal ops were computed once; %s has ",
			target->name);
		text_memory(&t, (double)limit);
		diag(m->session, DIAG_not_merged, nowhere, "a device would need %s", t.s);
	}
	text_free(&t);
	return fits;
}
