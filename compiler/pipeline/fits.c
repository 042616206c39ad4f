/*
 * fits.c - may equal ops be merged, or would a device then need too much memory?
 *
 * The program is read back from its text and compiled, merged and as it is, as far as
 * buffers are known, which is done once if it fits.  That is not needed where all values,
 * whole, are a fraction of what the target has.
 */
#include "hlo/hlo.h"
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

/* Bytes that a device needs; at most INT64_MAX. */
static int64_t
peak_of(const char *text, size_t n, MayMerge *may_merge)
{
	PipelineOptions options = {.may_merge = may_merge};
	Session *s = session_new();
	int64_t peak = INT64_MAX;

	s->err = NULL;
	Module *m = module_read(s, source_add_text(s, "<merge>", text, (int)n));
	if (m && m->level == L_resharded) /* no pass after it merges */
		merge(m, may_merge);
	if (m && pipeline_run(m, L_fused, &options)) {
		const Plan *plan = plan_build(m);
		peak = plan->uncounted ? INT64_MAX : plan_peak(plan);
	}
	session_free(s);
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
	module_print(m, &t);
	int64_t merged = peak_of(t.s, t.n, always);
	m->merged_fits = merged <= limit;
	bool fits = m->merged_fits || merged <= (as_it_is = peak_of(t.s, t.n, never));
	t.n = 0;
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
