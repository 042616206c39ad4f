/*
 * planned.c - what a run does without a schedule.
 *
 * How often something is computed fusion decides, which comes behind the passes that write
 * loops again and take products apart.  So a copy of this process fuses the program as it is.
 */
#include "cost/ledger.h"
#include "pipeline/pipeline.h"

typedef struct Count {
	Module *module;
	Work *work; /* shared by both */
} Count;

/* In a copy of this process the module is nobody else's. */
static void
count(void *data, int64_t i)
{
	const Count *c = data;
	Module *m = c->module;

	(void)i;
	m->session->err = NULL;
	m->overlap = OVERLAP_none;
	if (pipeline_run(m, L_fused, &(PipelineOptions){.start_at = "fuse", .verified = true}))
		*c->work = module_ledger(m)->work;
}

void
planned_by_fusing(Module *m, PlannedRun *planned)
{
	Count c = {m, shared_new(sizeof(Work))};

	if (!c.work)
		out_of_memory();
	c.work->flops = NOT_COUNTED;
	if (!work_apart(count, &c))
		out_of_memory();
	if (c.work->flops == NOT_COUNTED)
		die("what is computed without a schedule was not found out");
	planned->flops = c.work->flops;
	planned->received = c.work->wire_bytes;
	shared_free(c.work, sizeof(Work));
}
