/*
 * partition_remark.c - -Rreshard and --strict: every collective that nobody
 * asked for, in the words of the source.
 *
 *   remark[-Rreshard]: all-gather over Y: h [8@X, 64@Y] -> [8@X, 64]  (12 KB,
 *   1.0 us on v5e, exposed)
 */
#include <string.h>
#include "shard/partition.h"

static const char *const step_names[] = {
	[STEP_slice] = "slice",
	[STEP_unreduce] = "unreduce",
	[STEP_permute] = "collective-permute",
	[STEP_all_to_all] = "all-to-all",
	[STEP_all_gather] = "all-gather",
	[STEP_all_reduce] = "all-reduce",
	[STEP_reduce_scatter] = "reduce-scatter",
};

void
text_bytes(Text *t, double bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	int unit = 0;

	for (; bytes >= 1000 && unit < 4; unit++)
		bytes /= 1000;
	text_printf(t, bytes < 10 && unit ? "%.1f %s" : "%.0f %s", bytes,
		units[unit]);
}

void
text_seconds(Text *t, double seconds)
{
	double us = seconds * 1e6;

	if (us < 1000)
		text_printf(t, us < 10 ? "%.1f us" : "%.0f us", us);
	else
		text_printf(t, us < 1e4 ? "%.1f ms" : "%.0f ms", us / 1000);
}

/* The name the user knows a value by: its own or that of what it came from. */
static const Value *
known_value(const Value *v)
{
	while (v->def && (v->def->kind == O_reshard) && !v->range.file)
		v = v->def->operands[0];
	return v;
}

/* The dim that the axis splits, -1 if none. */
static int
dim_of_axis(const Placement *p, AxisRef axis)
{
	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		if (axes_overlap(&l, axis))
			return d;
	}
	return -1;
}

static void
label_why(Partitioner *p, const Op *reshard, const Value *v, const Step *step)
{
	Text t = {0};

	if (v->placement.nunreduced)
		text_add(&t, "each device holds a partial result");
	for (int i = 0; i < step->axes.n && !v->placement.nunreduced; i++) {
		int dim = dim_of_axis(&v->placement, step->axes.a[i]);
		if (dim < 0)
			continue;
		text_add(&t, t.n ? "; " : "");
		text_origin(&t, p->module, v, dim, step->axes.a[i]);
	}
	if (t.n)
		diag_label(p->module->session, reshard->range, "%s", t.s);
	text_free(&t);
}

/* What to write so that this move is not needed. */
static void
line_avoid(Partitioner *p, const Value *v, const Step *step)
{
	const Mesh *mesh = &p->module->mesh;
	Placement to = step->after;
	Text t = {0};

	if (step->kind == STEP_all_reduce) {
		text_add(&t, "avoid it: place the result ");
		text_spec(&t, mesh, &v->type, &step->before);
	} else {
		text_printf(&t, "avoid it: %s: ", v->name);
		text_spec(&t, mesh, &v->type, &to);
	}
	diag_line(p->module->session, "%s", t.s);
	text_free(&t);
}

static void
remark_step(Partitioner *p, const Op *reshard, const Step *step)
{
	const Mesh *mesh = &p->module->mesh;
	const Value *v = known_value(reshard->operands[0]);
	const char *strict = p->options->strict ?
		"; --strict allows only moves that are asked for" : "";
	Text t = {0};

	text_printf(&t, "%s over ", step_names[step->kind]);
	text_axes(&t, mesh, &step->axes);
	text_printf(&t, ": %s ", v->name);
	text_spec(&t, mesh, &v->type, &step->before);
	text_add(&t, " -> ");
	text_spec(&t, mesh, &v->type, &step->after);
	text_add(&t, "  (");
	text_bytes(&t, step->bytes);
	text_add(&t, ", ");
	text_seconds(&t, step->seconds);
	text_printf(&t, " on %s, exposed)%s", mesh->target->name, strict);
	diag(p->module->session, p->options->strict ? DIAG_unasked_collective :
		DIAG_reshard, reshard->range, "%s", t.s);
	text_free(&t);
	label_why(p, reshard, v, step);
	line_avoid(p, v, step);
}

void
remark_reshard(Partitioner *p, const Op *reshard)
{
	const Value *from = reshard->operands[0];
	const ReshardPlan *plan;

	if (reshard->requested)
		return;
	plan = reshard_plan(p->resharder, &from->type, &from->placement,
		&reshard->results[0]->placement);
	for (int i = 0; i < plan->n; i++)
		if (plan->steps[i].bytes > 0)
			remark_step(p, reshard, &plan->steps[i]);
}
