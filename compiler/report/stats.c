/*
 * stats.c - --emit=stats: what a device program moves and computes, as JSON
 * with a fixed schema, for tests and scripts.
 *
 * Requires L_device, with the placements that propagation left in
 * Module.named and Module.results.  Changes nothing.
 */
#include <math.h>

#include "report/report.h"
#include "cost/cost.h"

typedef struct Totals {
	Text *out;
	const Module *module;
	int collectives;
} Totals;

static void
json_string(Text *t, const char *s)
{
	text_add(t, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			text_printf(t, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			text_printf(t, "\\u%04x", (unsigned)*s);
		else
			text_addn(t, s, 1);
	}
	text_add(t, "\"");
}

static void
json_mesh(Text *t, const Mesh *mesh)
{
	text_add(t, "{");
	for (int i = 0; i < mesh->naxes; i++) {
		text_add(t, i ? ", " : "");
		json_string(t, mesh->axes[i].name);
		text_printf(t, ": %lld", (long long)mesh->axes[i].size);
	}
	text_add(t, "}");
}

static void
json_dims(Text *t, const Type *type)
{
	text_add(t, "[");
	text_numbers(t, type->rank, type->dims, ", ");
	text_add(t, "]");
}

/* ---- the axes of a permute ------------------------------------------- */

/* The minor part of exactly `size`; `a` keeps the rest. */
static AxisRef
split_minor(AxisRef *a, int32_t size)
{
	AxisRef minor = {a->axis, a->pre * (a->size / size), size};

	a->size /= size;
	return minor;
}

/*
 * A device t receives from the s whose digits in `from` are t's in `axes`:
 * where both lists have the same piece in the same position, that coordinate
 * stays.  Walks them from the minor end, split into pieces of equal size;
 * where the sizes have no common pieces, all that is left moves.
 */
static AxisList
permuted_axes(const Op *op)
{
	AxisList to = *op->axes, from = *op->from, moved = {0};

	while (to.n > 0 && from.n > 0 && moved.n < MAX_PIECES) {
		AxisRef *a = &to.a[to.n - 1], *b = &from.a[from.n - 1];
		int32_t size = a->size < b->size ? a->size : b->size;
		AxisRef piece;

		if (a->size % size || b->size % size)
			break;
		piece = split_minor(a, size);
		if (!axis_equal(piece, split_minor(b, size)))
			moved.a[moved.n++] = piece;
		to.n -= a->size == 1;
		from.n -= b->size == 1;
	}
	for (int i = 0; i < to.n && moved.n < MAX_PIECES; i++)
		moved.a[moved.n++] = to.a[i];
	return moved;
}

/* The axes along which some device sends to another coordinate. */
static AxisList
sent_axes(const Op *op)
{
	const Ints *source = op_ints(op, A_source);
	AxisList moved = {0};

	for (int i = 0; i < op->axes->n; i++) {
		int64_t below = 1, size = op->axes->a[i].size;
		bool moves = false;
		for (int k = i + 1; k < op->axes->n; k++)
			below *= op->axes->a[k].size;
		for (int k = 0; k < source->n; k++)
			moves |= source->v[k] >= 0
				&& source->v[k] / below % size != k / below % size;
		if (moves)
			moved.a[moved.n++] = op->axes->a[i];
	}
	return moved;
}

static AxisList
moved_axes(const Op *op)
{
	return op->from ? permuted_axes(op) : sent_axes(op);
}

/* In the order of the mesh, neighbouring pieces joined. */
static AxisList
in_mesh_order(AxisList l)
{
	AxisList sorted = {0};

	for (int i = 1; i < l.n; i++)
		for (int k = i; k > 0; k--) {
			AxisRef a = l.a[k - 1], b = l.a[k];

			if (a.axis < b.axis || (a.axis == b.axis && a.pre <= b.pre))
				break;
			l.a[k - 1] = b;
			l.a[k] = a;
		}
	for (int i = 0; i < l.n; i++)
		axes_append(&sorted, l.a[i]);
	return sorted;
}

static void
json_axes(Text *t, const Mesh *mesh, const Op *op)
{
	AxisList axes =
		op->kind == O_collective_permute ? in_mesh_order(moved_axes(op)) : *op->axes;

	text_add(t, "[");
	for (int i = 0; i < axes.n; i++) {
		text_add(t, i ? ", \"" : "\"");
		text_axis(t, mesh, axes.a[i]);
		text_add(t, "\"");
	}
	text_add(t, "]");
}

/* ---- ops ------------------------------------------------------------- */

static void
json_trips(Text *t, const Op *op)
{
	int64_t trips;

	if (op_trips(op, &trips))
		text_printf(t, "\"trips\": %lld, ", (long long)trips);
	else
		text_add(t, "\"trips\": null, ");
}

static void
json_collective(Totals *totals, const Op *op)
{
	Text *t = totals->out;
	const Type *operand = &op->operands[0]->type;
	int64_t bytes =
		whole_bytes(step_cost(&totals->module->mesh, op, NULL, NULL).wire_bytes);
	int line, column;

	source_position(totals->module->session, op->range, &line, &column);
	text_printf(t,
		"%s\n    {\"kind\": \"%s\", \"axes\": ", totals->collectives++ ? "," : "",
		ops[op->kind].hlo);
	json_axes(t, &totals->module->mesh, op);
	text_printf(t, ", \"dtype\": \"%s\", \"operand\": ", dtypes[operand->dtype].name);
	json_dims(t, operand);
	text_add(t, ", \"result\": ");
	json_dims(t, &op->results[0]->type);
	text_printf(t, ", \"wire_bytes\": %lld, ", (long long)bytes);
	json_trips(t, op);
	text_add(t, "\"async\": false, \"reason\": ");
	json_string(t, op->label);
	text_printf(t, ", \"line\": %d}", line);
}

static void
list_collective(Op *op, void *data)
{
	if (op_communicates(op))
		json_collective(data, op);
}

static void
json_named(Text *t, const Mesh *mesh, const Named *named, int n, Table *seen)
{
	for (int i = 0; i < n; i++) {
		if (table_get(seen, named[i].name))
			continue;
		text_add(t, table_count(seen) ? ",\n    " : "\n    ");
		json_string(t, named[i].name);
		text_add(t, ": \"");
		text_type(t, mesh, &named[i].type, &named[i].placement);
		text_add(t, "\"");
		table_set(seen, named[i].name, (void *)named[i].name);
	}
}

void
emit_stats(Module *m, int64_t memory_peak, Text *t)
{
	Totals totals = {.out = t, .module = m};
	Table *seen = table_new(m->arena);
	Work work = module_work(m);

	text_add(t, "{\n  \"version\": 1,\n  \"mesh\": ");
	json_mesh(t, &m->mesh);
	text_printf(t, ",\n  \"devices\": %lld,\n  \"target\": ", (long long)m->mesh.ndevices);
	json_string(t, m->mesh.target->name);
	text_add(t, ",\n  \"collectives\": [");
	module_walk(m, list_collective, &totals);
	text_printf(t,
		"%s],\n  \"wire_bytes\": %lld,\n  \"flops\": %.0f,\n"
		"  \"memory_peak\": %lld,\n  \"values\": {",
		totals.collectives ? "\n  " : "", (long long)work.wire_bytes, floor(work.flops),
		(long long)memory_peak);
	json_named(t, &m->mesh, m->named, m->nnamed, seen);
	json_named(t, &m->mesh, m->results, m->nresults, seen);
	text_printf(t, "%s},\n  \"results\": {", table_count(seen) ? "\n  " : "");
	seen = table_new(m->arena);
	json_named(t, &m->mesh, m->results, m->nresults, seen);
	text_printf(t, "%s}\n}\n", table_count(seen) ? "\n  " : "");
}
