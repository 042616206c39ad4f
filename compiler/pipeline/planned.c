/*
 * planned.c - what a run does without a schedule.
 *
 * How often something is computed, and whether anybody needs it, fusion decides, which comes
 * behind the passes that write loops again and take products apart.  So a copy of this process
 * fuses the program as it is.
 */
#include "cost/ledger.h"
#include "pipeline/pipeline.h"

/* Both processes have it. */
typedef struct Found {
	Work work;
	int left[]; /* by number of a move: its new one; 0: nobody needs it */
} Found;

typedef struct Count {
	Module *module;
	Found *found;
} Count;

static void
number_left(const Module *m, int *left)
{
	int n = 0;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op->planned)
			left[op->planned] = 1;
	for (int i = 1; i <= m->planned->n; i++)
		if (left[i])
			left[i] = ++n;
}

/* In a copy of this process the module is nobody else's. */
static void
count(void *data, int64_t i)
{
	const Count *c = data;
	Module *m = c->module;

	(void)i;
	module_hide(m);
	m->overlap = OVERLAP_none;
	if (!pipeline_run(m, L_fused, &(PipelineOptions){.start_at = "fuse", .verified = true}))
		return;
	number_left(m, c->found->left);
	c->found->work = module_ledger(m)->work;
}

static void
leave_out(Module *m, PlannedRun *planned, const int *left)
{
	int n = 0;

	for (int i = 0; i < planned->n; i++)
		if (left[i + 1])
			planned->moves[n++] = planned->moves[i];
	planned->n = n;
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		op->planned = left[op->planned];
}

void
planned_by_fusing(Module *m, PlannedRun *planned)
{
	size_t bytes = sizeof(Found) + sizeof(int) * (size_t)(planned->n + 1);
	Count c = {m, shared_new(bytes)};

	if (!c.found)
		out_of_memory();
	c.found->work.flops = NOT_COUNTED;
	if (!work_apart(count, &c))
		out_of_memory();
	if (c.found->work.flops == NOT_COUNTED)
		die("what is computed without a schedule was not found out");
	planned->flops = c.found->work.flops;
	planned->received = c.found->work.wire_bytes;
	leave_out(m, planned, c.found->left);
	shared_free(c.found, bytes);
}
