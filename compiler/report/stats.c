/*
 * stats.c - --emit=stats: what a fused program moves and computes, as JSON
 * with a fixed schema, for tests and scripts.
 *
 * Requires L_fused, with the placements that propagation left in
 * Module.named and Module.results.  Changes nothing.
 *
 * All but `async`, `pieces`, `combined` and memory is as before the program is scheduled: what
 * is done in pieces is told as the one that it was, what is combined as each that it is of, and
 * what a loop does for nothing in a trip, or no more where its trips are taken apart, as in
 * the loop.
 */
#include <math.h>

#include "report/report.h"
#include "cost/ledger.h"

static void
json_dims(Text *t, const Type *type)
{
	text_add(t, "[");
	text_numbers(t, type->rank, type->dims, ", ");
	text_add(t, "]");
}

/* By op id: transfers of several collectives have numbers, from 1 on; others 0. */
static int *
number_combined(Module *m)
{
	module_number(m);
	int *number = NEW_ARRAY(m->arena, int, m->nops + 1), n = 0;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op->combined)
			number[op->id] = n;
		else if (op_communicates(op) && combined_in_one(op) > 1)
			number[op->id] = ++n;
	return number;
}

static void
json_collective(Text *t, const Module *m, const Collective *collective, int combined)
{
	const PlannedMove *x = collective->x;

	text_printf(t, "\n    {\"kind\": \"%s\", \"axes\": [", ops[x->kind].hlo);
	for (int i = 0; i < x->axes.n; i++) {
		text_add(t, i ? ", \"" : "\"");
		text_axis(t, &m->mesh, x->axes.a[i]);
		text_add(t, "\"");
	}
	text_printf(t, "], \"dtype\": \"%s\", \"operand\": ", dtypes[x->operand.dtype].name);
	json_dims(t, &x->operand);
	text_add(t, ", \"result\": ");
	json_dims(t, &x->result);
	text_printf(t, ", \"wire_bytes\": %lld, \"trips\": ", (long long)x->bytes);
	if (x->counted)
		text_printf(t, "%lld", (long long)x->trips);
	else
		text_add(t, "null");
	text_printf(t, ", \"async\": %s, ", collective->async ? "true" : "false");
	if (collective_pieces(collective) > 1)
		text_printf(t, "\"pieces\": %lld, ", (long long)collective_pieces(collective));
	if (combined)
		text_printf(t, "\"combined\": %d, ", combined);
	text_add(t, "\"reason\": ");
	text_json(t, x->label);
	text_printf(t, ", \"line\": %d}", x->line);
}

static void
json_named(Text *t, const Mesh *mesh, const Named *named, int n, Table *seen)
{
	for (int i = 0; i < n; i++) {
		if (table_get(seen, named[i].name))
			continue;
		text_add(t, table_count(seen) ? ",\n    " : "\n    ");
		text_json(t, named[i].name);
		text_add(t, ": \"");
		text_type(t, mesh, &named[i].type, &named[i].placement);
		text_add(t, "\"");
		table_set(seen, named[i].name, (void *)named[i].name);
	}
}

void
emit_stats(Module *m, int64_t memory_peak, Text *t)
{
	Table *seen = table_new(m->arena);
	const int *combined = number_combined(m);
	const PlannedRun *planned;
	const Collective *all = planned_collectives(m, &planned);
	double flops =
		planned->flops == NOT_COUNTED ? module_ledger(m)->work.flops : planned->flops;

	text_add(t, "{\n  \"version\": 1,\n  \"mesh\": {");
	for (int i = 0; i < m->mesh.naxes; i++) {
		text_add(t, i ? ", " : "");
		text_json(t, m->mesh.axes[i].name);
		text_printf(t, ": %lld", (long long)m->mesh.axes[i].size);
	}
	text_printf(t, "},\n  \"devices\": %lld,\n  \"target\": ", (long long)m->mesh.ndevices);
	text_json(t, m->mesh.target->name);
	text_add(t, ",\n  \"collectives\": [");
	for (int i = 0; i < planned->n; i++) {
		text_add(t, i ? "," : "");
		json_collective(t, m, &all[i], all[i].move ? combined[all[i].move->id] : 0);
	}
	text_printf(t,
		"%s],\n  \"wire_bytes\": %lld,\n  \"flops\": %.0f,\n"
		"  \"memory_peak\": %lld,\n  \"values\": {",
		planned->n ? "\n  " : "", (long long)planned->received, floor(flops),
		(long long)memory_peak);
	json_named(t, &m->mesh, m->named, m->nnamed, seen);
	json_named(t, &m->mesh, m->results, m->nresults, seen);
	text_printf(t, "%s},\n  \"results\": {", table_count(seen) ? "\n  " : "");
	seen = table_new(m->arena);
	json_named(t, &m->mesh, m->results, m->nresults, seen);
	text_printf(t, "%s}\n}\n", table_count(seen) ? "\n  " : "");
}
