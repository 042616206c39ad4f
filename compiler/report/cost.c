/*
 * cost.c - --emit=cost: how long a run takes on the target, and each step of it.
 *
 *   ffn on 8 v5e chips (X=2 is one link, Y=4 is a ring): 3.19 us
 *     at least 3.04 us, one after the other 3.19 us;  compute 0.19 us, ...
 *
 *   line  what                          time       share  bound by ...
 *     13  all-reduce of out over Y      3 us        94 %  ici
 *
 * As text for people, the dearest first, equal steps in one row; for scripts every
 * step in the order in which they start, a device's bytes and FLOPs of all trips.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cost/links.h"
#include "ir/layout.h"
#include "cost/tracks.h"
#include "report/folded.h"
#include "report/report.h"
#include "report/rows.h"

/* In text several steps that are equal but for what they are of. */
typedef struct Row {
	const StepRow *first;
	int n;
	bool one;		/* they are of values of one name */
	int64_t exposed, share; /* of all of them; of the run */
} Row;

typedef struct CostReport {
	const Timeline *timeline;
	const Plan *plan;
	Arena *arena;
	const StepRow *rows;
	bool files; /* they are of several, which are told */
	Text *text;
} CostReport;

/* ---- for people ------------------------------------------------------------------- */

enum { COLUMNS = 10, MOST_ROWS = 30 };

static const char *const headings[COLUMNS] = {"line", "what", "time", "share", "bound by",
	"flops", "of peak", "HBM", "links", "exposed"};

/* "all-gather of W1 over X", "3 x einsum 'bd,df->bf'" */
static void
text_what(const CostReport *costs, const Row *row, Text *t)
{
	const StepRow *first = row->first;
	const TimelineStep *s = first->step;
	int64_t times = repeat_picoseconds(s->trips, row->n);

	if (!s->counted && row->n > 1)
		text_printf(t, "%d x ", row->n);
	if (!s->counted)
		text_add(t, "n x ");
	else if (times != 1)
		text_printf(t, "%lld x ", (long long)times);
	text_add(t, first->transfer ? ops[first->transfer->kind].hlo : first->label);
	if (first->named && row->one)
		text_printf(t, " of %s", first->value);
	else if (first->transfer)
		text_printf(t, " of %s", first->label);
	if (!first->transfer)
		return;
	text_add(t, " over ");
	text_axes(t, &costs->timeline->module->mesh, &first->transfer->axes);
}

/* "7", "train.py:7" */
static void
text_where(const CostReport *costs, const StepRow *row, Text *t)
{
	const char *slash = row->file ? strrchr(row->file, '/') : NULL;

	if (costs->files && row->file)
		text_printf(t, "%s:", slash ? slash + 1 : row->file);
	text_printf(t, "%d", row->line);
}

static bool
are_of_several_files(const StepRow *rows, int n)
{
	int file = 0;

	for (int i = 0; i < n; i++) {
		int of = rows[i].step->op->range.file;
		if (of && file && of != file)
			return true;
		file = of ? of : file;
	}
	return false;
}

static void
text_time(Text *t, int64_t picoseconds)
{
	text_picoseconds(t, picoseconds);
}

/* Equal work of one line in the source: unrolled layers, calls. */
static const char *
row_key(Arena *a, const StepRow *row)
{
	const TimelineStep *s = row->step;
	Text key = {0};

	text_printf(&key, "%d:%d %s %d %lld %lld %d %.0f %.0f %.0f ", s->op->range.file,
		row->line, row->label, s->op->kind, (long long)s->each, (long long)s->trips,
		s->counted, s->cost.flops, s->cost.hbm_bytes, s->cost.wire_bytes);
	if (row->transfer)
		text_axes(&key, &s->op->module->mesh, &row->transfer->axes);
	return text_take(&key, a);
}

static int64_t
row_time(const Row *row)
{
	return repeat_picoseconds(row->first->step->total, row->n);
}

/* FLOP/s of the matrix unit with the inputs of the step's product, or of what may be one;
   0: it has none. */
static double
step_peak(const TimelineStep *s)
{
	const Op *product = op_states_cost(s->op) ? s->op : step_product(s->op);

	return product && product->noperands
		? matrix_peak(s->op->module->mesh.target, product->operands[0]->type.dtype)
		: 0;
}

/* "83 %" of what the matrix unit does with such inputs. */
static void
text_of_peak(const Row *row, Text *t)
{
	double peak = step_peak(row->first->step);

	if (peak > 0)
		text_percent(t, row->n * row->first->flops,
			(double)row_time(row) * 1e-12 * peak);
}

/* The dearest first, then those that start first. */
static int
by_time(const void *a, const void *b)
{
	const Row *x = *(Row *const *)a, *y = *(Row *const *)b;
	int64_t one = row_time(x), other = row_time(y);

	if (one != other)
		return one < other ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* The first of each kind that takes time, with how many there are. */
static Row **
fold_rows(const CostReport *costs, int *n)
{
	Table *known = table_new(costs->arena);
	Row **folded = NEW_ARRAY(costs->arena, Row *, costs->timeline->n + 1);

	*n = 0;
	for (int i = 0; i < costs->timeline->n; i++) {
		const StepRow *step = &costs->rows[i];
		if (!step->step->each)
			continue;
		const char *key = row_key(costs->arena, step);
		Row *row = table_get(known, key);
		if (!row) {
			row = folded[(*n)++] = NEW(costs->arena, Row);
			*row = (Row){.first = step, .one = true};
			table_set(known, key, row);
		}
		row->n++;
		row->one &= strcmp(row->first->value, step->value) == 0;
		row->exposed = add_picoseconds(row->exposed, step->step->exposed);
		row->share = add_picoseconds(row->share, step_share(step->step));
	}
	qsort(folded, (size_t)*n, sizeof *folded, by_time);
	return folded;
}

static void
text_cell(const CostReport *costs, const Row *row, int column, Text *t)
{
	const StepRow *first = row->first;
	double n = row->n;

	switch (column) {
	case 0:
		text_where(costs, first, t);
		break;
	case 1:
		text_what(costs, row, t);
		break;
	case 2:
		text_time(t, row_time(row));
		break;
	case 3:
		text_percent(t, (double)row->share, (double)costs->timeline->time);
		break;
	case 4:
		text_add(t, resource_names[first->step->cost.bound]);
		break;
	case 5:
		if (first->flops > 0)
			text_count(t, n * first->flops);
		break;
	case 6:
		text_of_peak(row, t);
		break;
	case 7:
		if (first->hbm_bytes > 0)
			text_traffic(t, n * first->hbm_bytes);
		break;
	case 8:
		if (first->wire_bytes > 0)
			text_traffic(t, n * first->wire_bytes);
		break;
	case 9:
		if (row->exposed > 0)
			text_time(t, row->exposed);
		break;
	}
}

/* Columns as wide as what is in them; the lines to the right. */
static void
print_table(const CostReport *costs, Row **rows, int n)
{
	const char **cells = NEW_ARRAY(costs->arena, const char *, (n + 1) * COLUMNS);
	int width[COLUMNS] = {0};

	for (int i = 0; i <= n; i++)
		for (int k = 0; k < COLUMNS; k++) {
			Text t = {0};
			if (i)
				text_cell(costs, rows[i - 1], k, &t);
			else
				text_add(&t, headings[k]);
			text_add(&t, "");
			int wide = (int)t.n;
			width[k] = wide > width[k] ? wide : width[k];
			cells[i * COLUMNS + k] = text_take(&t, costs->arena);
		}
	for (int i = 0; i <= n; i++) {
		const char **cell = &cells[i * COLUMNS];
		int last = COLUMNS - 1;
		while (last > 0 && !*cell[last])
			last--;
		text_printf(costs->text, "  %*s", width[0], cell[0]);
		for (int k = 1; k <= last; k++)
			text_printf(costs->text, "  %-*s", k < last ? width[k] : 0, cell[k]);
		text_add(costs->text, "\n");
	}
}

static void
print_rows(const CostReport *costs)
{
	int n, shown;
	int64_t rest = 0;
	Row **rows = fold_rows(costs, &n);

	shown = n <= MOST_ROWS ? n : MOST_ROWS;
	text_add(costs->text, "\n");
	print_table(costs, rows, shown);
	for (int i = shown; i < n; i++)
		rest = add_picoseconds(rest, row_time(rows[i]));
	if (shown < n) {
		text_printf(costs->text, "  and %d more, ", n - shown);
		text_time(costs->text, rest);
		text_add(costs->text, "; --emit=cost.csv has all\n");
	}
}

/* Two devices on a line or ring of chips: "one link", "a pair 2 links apart" */
static void
text_pair(Text *t, const Wire *wire)
{
	if (wire->ring)
		text_printf(t, "a pair with two ways round a ring of %" PRId64, wire->length);
	else if (wire->hops > 1)
		text_printf(t, "a pair %" PRId64 " links apart", wire->hops);
	else
		text_add(t, "one link");
}

/* "a ring", "one link and on a chip", "2 lines in each of 4 slices" */
static void
text_wires(Text *t, const Wires *wires)
{
	const Wire *last = NULL;
	int rings = 0, lines = 0, sides = 0, cores = 0;
	int64_t slices = 1;

	for (int i = 0; i < wires->nwires; i++) {
		const Wire *wire = &wires->wire[i];
		if (wire->joint == JOINT_slice)
			slices = wire->members;
		cores += wire->joint == JOINT_core && wire->members > 1;
		if (wire->joint != JOINT_torus || wire->members == 1)
			continue;
		*(wire->ring ? &rings : &lines) += 1;
		sides += !wire->ring && wire->members == 2 && wire->hops == 1;
		last = wire;
	}
	if (rings == 0 && lines == 2 && sides == 2) {
		text_add(t, "a ring"); /* of four: their square */
	} else if (rings + lines == 1 && last->members == 2) {
		text_pair(t, last);
	} else {
		if (rings)
			text_printf(t, rings == 1 ? "a ring" : "%d rings", rings);
		if (rings && lines)
			text_add(t, " and ");
		if (lines)
			text_printf(t, lines == 1 ? "a line" : "%d lines", lines);
	}
	if (cores)
		text_add(t, rings + lines ? " and on a chip" : "on a chip");
	if (slices > 1)
		text_printf(t, "%s %" PRId64 " slices",
			rings + lines + cores ? " in each of" : "between", slices);
}

static int64_t
chips(const Mesh *mesh)
{
	int64_t each = mesh->target->devices_per_chip;

	return (mesh->ndevices + each - 1) / each;
}

/* Devices that share chips, in no slice that says how: links join each to others. */
static bool
is_by_device(const Mesh *mesh)
{
	return !mesh->topology_rank && mesh->target->devices_per_chip > 1;
}

/* What there is no slice of: one that is larger than a pod, or not of whole chips. */
static const char *
text_unreal(const Mesh *mesh, const char *between, Text *t)
{
	int64_t n = chips(mesh), devices = n * mesh->target->devices_per_chip;

	if (n > mesh->target->pod_chips) {
		text_printf(t, "%smore than a pod of %lld chips", between,
			(long long)mesh->target->pod_chips);
		between = "; ";
	}
	if (devices != mesh->ndevices) {
		text_printf(t, "%s%lld of the %lld of %lld chip%s", between,
			(long long)mesh->ndevices, (long long)devices, (long long)n,
			n == 1 ? "" : "s");
		between = "; ";
	}
	if (is_by_device(mesh) && mesh->ndevices > 1) {
		text_printf(t, "%sjoined as if each were a chip", between);
		between = "; ";
	}
	return between;
}

/* " (2x2x1; X=4 is a ring)", " (2 slices of 4x4x4; X=2 is between 2 slices)" */
static void
text_slice(const Mesh *mesh, Text *t)
{
	const char *between = " (";

	if (mesh->topology_rank) {
		text_add(t, between);
		if (mesh->slices > 1)
			text_printf(t, "%" PRId64 " slices of ", mesh->slices);
		text_numbers(t, mesh->topology_rank, mesh->topology, "x");
		between = "; ";
	} else {
		between = text_unreal(mesh, between, t);
	}
	for (int i = 0; i < mesh->naxes; i++) {
		const MeshAxis *axis = &mesh->axes[i];
		if (axis->size == 1)
			continue;
		Wires wires = wires_of(mesh, &(AxisList){1, {axis_whole(mesh, i)}});
		text_printf(t, "%s%s=%lld is ", between, axis->name, (long long)axis->size);
		if (mesh->layout[i].ring)
			text_add(t, "a ring");
		else
			text_wires(t, &wires);
		between = ", ";
	}
	text_add(t, strcmp(between, " (") ? ")" : "");
}

static double
per_second(const Timeline *timeline, double n)
{
	return timeline->time ? n / ((double)timeline->time * 1e-12) : 0;
}

double
peak_share(const Timeline *timeline)
{
	return per_second(timeline, timeline->dot_flops)
		/ timeline->module->mesh.target->bf16_flops;
}

double
tokens_per_second(const Timeline *timeline)
{
	return per_second(timeline, (double)timeline->module->tokens);
}

/* What its time holds of, where that depends on data. */
static const char *
depends(const Timeline *timeline)
{
	static const char *const words[2][2] = {
		{"loops whose trips only the run knows: one each",
			"loops whose trips only the run knows: one each; of each if the dearer "
			"branch"},
		{"", "of each if the dearer branch"},
	};

	return words[timeline->counted][timeline->decided];
}

void
text_outcome(const Timeline *timeline, const Plan *plan, Text *t)
{
	const Module *m = timeline->module;
	const Mesh *mesh = &m->mesh;
	int64_t n = is_by_device(mesh) ? mesh->ndevices : chips(mesh);

	text_printf(t, "%s on %lld %s %s%s", m->name, (long long)n, mesh->target->name,
		is_by_device(mesh) ? "device" : "chip", n == 1 ? "" : "s");
	text_slice(mesh, t);
	text_add(t, timeline->counted ? ": " : ": at least ");
	text_time(t, timeline->time);
	if (*depends(timeline))
		text_printf(t, " (%s)", depends(timeline));
	text_add(t, *depends(timeline) ? "\n  lower bound of that " : "\n  at least ");
	text_time(t, timeline->lower);
	text_add(t, ", one after the other ");
	text_time(t, timeline->serial);
	text_add(t, ";  compute ");
	text_time(t, timeline->compute);
	text_add(t, ", communication ");
	text_time(t, timeline->communication);
	text_add(t, ", of which ");
	text_time(t, timeline->exposed);
	text_add(t, " exposed");
	if (timeline->compute && timeline->exposed
		&& timeline->exposed == timeline->communication)
		text_add(t, ": nothing overlaps");
	text_add(t, "\n  ");
	text_percent(t, peak_share(timeline), 1);
	text_add(t, " of peak (");
	text_count(t,
		per_second(timeline,
			timeline->dot_flops * (double)mesh->ndevices / (double)chips(mesh)));
	text_add(t, "FLOP/s a chip);  memory ");
	text_memory(t, (double)plan_peak(plan));
	text_add(t, " of ");
	text_memory(t, (double)mesh->target->hbm_bytes);
	text_add(t, mesh->target->devices_per_chip > 1 ? " a device" : "");
	text_add(t, plan_peak(plan) > mesh->target->hbm_bytes ? ": does not fit" : "");
	if (m->tokens && timeline->time) {
		text_add(t, ";  ");
		text_count(t, tokens_per_second(timeline));
		text_add(t, "tokens/s");
	}
	text_add(t, "\n");
}

static void
print_assumed(const CostReport *costs)
{
	const Target *target = costs->timeline->module->mesh.target;
	Text *t = costs->text;

	text_printf(t, "\n  assumed of a %s%s: ", target->name,
		target->devices_per_chip > 1 ? " device" : "");
	text_count(t, target->bf16_flops);
	text_add(t, "FLOP/s bf16, ");
	text_traffic(t, target->hbm_bandwidth);
	text_add(t, "/s HBM, ");
	text_traffic(t, target->link_bandwidth);
	text_add(t, "/s a link and direction, ");
	text_seconds(t, target->hop_seconds);
	text_add(t, " a hop; --help=targets\n");
}

static double
row_share(const StepRow *row)
{
	return (double)step_share(row->step);
}

static double
row_bytes(const StepRow *row)
{
	return row->wire_bytes;
}

/* Of the steps that the resource bounds; RESOURCE_COUNT: of all. */
static double
sum_of(const CostReport *costs, Resource bound, double (*of)(const StepRow *row))
{
	double sum = 0;

	for (int i = 0; i < costs->timeline->n; i++)
		if (bound == RESOURCE_COUNT || costs->rows[i].step->cost.bound == bound)
			sum += of(&costs->rows[i]);
	return sum;
}

/* ": over tp 32.2 GB, over fsdp 1.1 GB", of the transfers among these. */
static void
text_over_axes(const CostReport *costs, Resource bound, double (*of)(const StepRow *row),
	void (*show)(const CostReport *costs, double sum))
{
	const Timeline *timeline = costs->timeline;
	Table *known = table_new(costs->arena);

	for (int i = 0; i < timeline->n; i++) {
		const StepRow *row = &costs->rows[i];
		if (!row->transfer
			|| (bound != RESOURCE_COUNT && row->step->cost.bound != bound))
			continue;
		Text axes = {0};
		text_axes(&axes, &timeline->module->mesh, &row->transfer->axes);
		const char *key = text_take(&axes, costs->arena);
		double *sum = table_get(known, key);
		if (!sum)
			table_set(known, key, sum = NEW(costs->arena, double));
		*sum += of(row);
	}
	for (int i = 0; i < table_count(known); i++) {
		text_printf(costs->text, "%s over %s ", i ? "," : ":", table_key(known, i));
		show(costs, *(const double *)table_value(known, i));
	}
}

static void
show_share(const CostReport *costs, double picoseconds)
{
	text_percent(costs->text, picoseconds, (double)costs->timeline->time);
}

static void
show_traffic(const CostReport *costs, double bytes)
{
	text_traffic(costs->text, bytes);
}

/* "  bound by ici, 65 % of the run: over tp 61 %, over fsdp 4.0 %" */
static void
print_bound(const CostReport *costs)
{
	Resource most = RESOURCE_latency;

	for (Resource r = RESOURCE_latency; r < RESOURCE_COUNT; r++)
		if (sum_of(costs, r, row_share) > sum_of(costs, most, row_share))
			most = r;
	text_printf(costs->text, "  bound by %s, ", resource_names[most]);
	show_share(costs, sum_of(costs, most, row_share));
	text_add(costs->text, " of the run");
	text_over_axes(costs, most, row_share, show_share);
}

/* ";  received 33.3 GB: over tp 32.2 GB, over fsdp 1.1 GB" */
static void
print_received(const CostReport *costs)
{
	text_add(costs->text, ";  received ");
	show_traffic(costs, sum_of(costs, RESOURCE_COUNT, row_bytes));
	text_over_axes(costs, RESOURCE_COUNT, row_bytes, show_traffic);
}

/* What bounds the run, what a device gets, and where it needs most memory. */
static void
print_causes(const CostReport *costs)
{
	Text *t = costs->text;

	if (costs->timeline->serial)
		print_bound(costs);
	else
		text_add(t, "  no step takes time");
	print_received(costs);
	text_add(t, ";  most memory at ");
	text_at_step(t, costs->plan, costs->plan->fullest);
	text_add(t, "\n");
}

/* ---- for scripts ------------------------------------------------------------------ */

static void
json_mesh(const Mesh *mesh, Text *t)
{
	text_printf(t, "\"devices\": %lld, \"chips\": %lld, \"slices\": %lld, \"topology\": ",
		(long long)mesh->ndevices, (long long)chips(mesh),
		(long long)(mesh->slices ? mesh->slices : 1));
	if (mesh->topology_rank) {
		text_add(t, "[");
		text_numbers(t, mesh->topology_rank, mesh->topology, ", ");
		text_add(t, "]");
	} else {
		text_add(t, "null");
	}
	text_add(t, ", \"mesh\": {");
	for (int i = 0; i < mesh->naxes; i++) {
		text_add(t, i ? ", " : "");
		text_json(t, mesh->axes[i].name);
		text_printf(t, ": %lld", (long long)mesh->axes[i].size);
	}
	text_add(t, "},\n");
}

static void
json_sums(const CostReport *costs)
{
	const Timeline *timeline = costs->timeline;
	const Work *work = &module_ledger(timeline->module)->work;
	int64_t tokens = timeline->module->tokens;
	Text *t = costs->text;
	const struct {
		const char *name;
		int64_t picoseconds;
	} times[] = {
		{"seconds", timeline->time},
		{"lower_seconds", timeline->lower},
		{"serial_seconds", timeline->serial},
		{"compute_seconds", timeline->compute},
		{"communication_seconds", timeline->communication},
		{"exposed_seconds", timeline->exposed},
	};

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		text_printf(t, "  \"%s\": ", times[i].name);
		text_exact_seconds(t, times[i].picoseconds);
		text_add(t, ",\n");
	}
	text_printf(t,
		"  \"flops\": %.0f, \"hbm_bytes\": %lld, \"wire_bytes\": %lld, \"mfu\": %.6f,\n"
		"  \"memory_peak\": %lld, \"memory_limit\": %lld, \"tokens\": ",
		work->flops, (long long)whole_bytes(timeline->hbm_bytes),
		(long long)work->wire_bytes, peak_share(timeline),
		(long long)plan_peak(costs->plan),
		(long long)timeline->module->mesh.target->hbm_bytes);
	if (tokens)
		text_printf(t, "%lld", (long long)tokens);
	else
		text_add(t, "null");
	text_add(t, ", \"tokens_per_second\": ");
	if (tokens && timeline->time)
		text_printf(t, "%.3f", tokens_per_second(timeline));
	else
		text_add(t, "null");
	text_add(t, ",\n");
}

static void
json_row(const StepRow *row, Text *t)
{
	const TimelineStep *s = row->step;

	text_add(t, "\n    {");
	json_step(row, row->value, t);
	text_add(t, ", \"start\": ");
	text_exact_seconds(t, s->start);
	text_add(t, ", ");
	if (row->of) {
		text_add(t, "\"of\": ");
		text_json(t, row->of);
		text_add(t, ", ");
	}
	json_work(row, t);
	text_add(t, "}");
}

/* Where a page draws it: ", "links": [0, 1], "lasts": 0.000002, "times": 1,
   "critical": true, "peak": 1.97e14, "whole": "all-gather"; times: the trips, one of a loop
   of which only the run knows; peak: of a product, in FLOP/s; whole: what it moves a piece
   of. */
static void
json_tracks(const TimelineStep *s, Text *t)
{
	int n = 0;

	text_add(t, ", \"links\": [");
	for (int row = 0; row < LINK_ROWS; row++)
		if (s->cost.links.row[row])
			text_printf(t, "%s%d", n++ ? ", " : "", row);
	text_add(t, "], \"lasts\": ");
	text_exact_seconds(t, s->lasts);
	text_printf(t, ", \"times\": %lld, \"critical\": %s", (long long)s->trips,
		s->critical ? "true" : "false");
	if (step_peak(s) > 0)
		text_printf(t, ", \"peak\": %.6g", step_peak(s));
	if (s->op->whole)
		text_printf(t, ", \"whole\": \"%s\"", ops[s->op->whole->kind].hlo);
}

/* Steps of equal layers are equal but for their values and when they start. */
static void
folded_rows(const CostReport *costs, const StepRow *rows, int n)
{
	Folded all = folded_new(costs->arena, "\"value\", \"start\"");
	Text sort = {0}, own = {0};

	for (int i = 0; i < n; i++) {
		const StepRow *row = &rows[i];
		json_step(row, NULL, &sort);
		text_add(&sort, ", ");
		json_work(row, &sort);
		json_tracks(row->step, &sort);
		text_json(&own, row->value);
		text_add(&own, ", ");
		text_exact_seconds(&own, row->step->start);
		folded_add(&all, text_take(&sort, costs->arena), text_take(&own, costs->arena));
	}
	text_folded(costs->text, &all);
}

/* "if, line 20: its first branch (line 21) takes 7.62 us, its second (line 23) 13.6 us,
   which counts" */
static void
text_if(const Timeline *timeline, int i, Text *t)
{
	static const char *const which[] = {"first branch", "second"};
	const TimelineIf *branches = &timeline->ifs[i];
	const Module *m = timeline->module;

	text_add(t, branches->op->label ? branches->op->label : "if");
	text_line(t, m, ", ", branches->op->range, "");
	text_add(t, ": its ");
	for (int k = 0; k < 2; k++) {
		const Block *b = branches->op->bodies[k];
		const Op *op = b->first;
		while (op != b->last && op->range.line == branches->op->range.line)
			op = op->next;
		text_printf(t, "%s%s", k ? ", its " : "", which[k]);
		if (op != b->last)
			text_line(t, m, " (", op->range, ")");
		text_add(t, k ? " " : " takes ");
		text_time(t, branches->time[k]);
		text_add(t, k == branches->counts ? ", which counts" : "");
	}
}

/* Each once; equal ones, as of equal layers, with how many there are. */
static const char **
if_texts(const CostReport *costs, int *n)
{
	const Timeline *timeline = costs->timeline;
	Arena *a = costs->arena;
	const char **texts = NEW_ARRAY(a, const char *, timeline->nifs + 1);
	int *times = NEW_ARRAY(a, int, timeline->nifs + 1);
	Table *seen = table_new(a);

	*n = 0;
	for (int i = 0; i < timeline->nifs; i++) {
		Text said = {0};
		text_if(timeline, i, &said);
		texts[*n] = text_take(&said, a);
		if (table_add(seen, texts[*n], &times[*n]))
			times[(*n)++] = 1;
		else
			++*(int *)table_get(seen, texts[*n]);
	}
	for (int i = 0; i < *n; i++)
		if (times[i] > 1)
			texts[i] = arena_printf(a, "%d x %s", times[i], texts[i]);
	return texts;
}

static void
print_ifs(const CostReport *costs)
{
	int n;
	const char **texts = if_texts(costs, &n);

	for (int i = 0; i < n; i++)
		text_printf(costs->text, "%s  %s\n", i ? "" : "\n", texts[i]);
}

static void
json_ifs(const CostReport *costs)
{
	int n;
	const char **texts = if_texts(costs, &n);

	text_add(costs->text, "  \"ifs\": [");
	for (int i = 0; i < n; i++) {
		text_add(costs->text, i ? ", " : "");
		text_json(costs->text, texts[i]);
	}
	text_add(costs->text, "],\n");
}

static void
print_json(const CostReport *costs, bool folded)
{
	const Module *m = costs->timeline->module;
	Text *t = costs->text;

	text_add(t, "{\n  \"version\": 1, \"program\": ");
	text_json(t, m->name);
	text_add(t, ", \"target\": ");
	text_json(t, m->mesh.target->name);
	text_add(t, ", ");
	json_mesh(&m->mesh, t);
	json_sums(costs);
	if (folded) {
		text_printf(t, "  \"depends\": \"%s\",\n", depends(costs->timeline));
		json_ifs(costs);
		text_add(t, "  \"others\": ");
		folded_rows(costs, other_rows(costs->timeline, costs->arena),
			costs->timeline->nothers);
		text_add(t, ",\n  \"ops\": ");
		folded_rows(costs, costs->rows, costs->timeline->n);
		text_add(t, "}\n");
		return;
	}
	text_add(t, "  \"ops\": [");
	for (int i = 0; i < costs->timeline->n; i++) {
		text_add(t, i ? "," : "");
		json_row(&costs->rows[i], t);
	}
	text_add(t, costs->timeline->n ? "\n  ]\n}\n" : "]\n}\n");
}

/* In quotes, those in it doubled. */
static void
csv_text(Text *t, const char *s)
{
	text_add(t, "\"");
	for (; *s; s++) {
		text_addn(t, s, 1);
		text_add(t, *s == '"' ? "\"" : "");
	}
	text_add(t, "\",");
}

static void
csv_row(const CostReport *costs, const StepRow *row)
{
	const TimelineStep *s = row->step;
	Text *t = costs->text, axes = {0};

	if (costs->timeline->module->python)
		csv_text(t, row->file ? row->file : "");
	text_printf(t, "%d,", row->line);
	csv_text(t, row->label);
	csv_text(t, row->value);
	text_printf(t, "%s,", ops[s->op->kind].hlo);
	if (row->transfer)
		text_axes(&axes, &costs->timeline->module->mesh, &row->transfer->axes);
	csv_text(t, axes.n ? axes.s : "");
	text_free(&axes);
	if (s->counted)
		text_printf(t, "%lld", (long long)s->trips);
	text_add(t, ",");
	text_exact_seconds(t, s->start);
	text_add(t, ",");
	text_exact_seconds(t, s->total);
	text_add(t, ",");
	text_exact_seconds(t, s->exposed);
	text_printf(t, ",%s,%.0f,%lld,%lld\n", resource_names[s->cost.bound], row->flops,
		(long long)whole_bytes(row->hbm_bytes),
		(long long)whole_bytes(row->wire_bytes));
}

static void
print_csv(const CostReport *costs)
{
	text_add(costs->text, costs->timeline->module->python ? "file," : "");
	text_add(costs->text,
		"line,what,value,kind,axes,trips,start,seconds,exposed_seconds,bound,flops,"
		"hbm_bytes,wire_bytes\n");
	for (int i = 0; i < costs->timeline->n; i++)
		csv_row(costs, &costs->rows[i]);
}

void
emit_cost(const Timeline *timeline, const Plan *plan, const char *format, Text *t)
{
	CostReport costs = {.timeline = timeline,
		.plan = plan,
		.arena = arena_new(),
		.text = t};

	costs.rows = step_rows(timeline, costs.arena);
	costs.files = are_of_several_files(costs.rows, timeline->n);
	if (!strcmp(format, "json") || !strcmp(format, "folded")) {
		print_json(&costs, !strcmp(format, "folded"));
	} else if (!strcmp(format, "csv")) {
		print_csv(&costs);
	} else {
		text_outcome(timeline, plan, t);
		print_causes(&costs);
		print_rows(&costs);
		print_ifs(&costs);
		print_assumed(&costs);
	}
	arena_free(costs.arena);
}
