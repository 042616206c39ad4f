/*
 * interpret.c - --interpret: fills the table that a built program has
 * (shdrt_program) and hands it to the runtime's main, with launch() in place
 * of device threads.
 *
 * Inputs, options, outputs and reports are the runtime's; only the execution
 * is ours: launch() views the parameters in each device's slab as tensors,
 * runs eval_device(), and copies the results to where a built program would
 * have left them.
 */
#include "eval/interpret.h"

#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "cost/flights.h"
#include "cost/ledger.h"
#include "ir/rounding.h"
#include "shdrt.h"

/* ---- the table ---------------------------------------------------------- */

static shdrt_splits
splits_of(const Module *m, const AxisList *axes)
{
	if (!axes || !axes->n)
		return (shdrt_splits){0};
	shdrt_split *split = NEW_ARRAY(m->arena, shdrt_split, axes->n);
	for (int i = 0; i < axes->n; i++)
		split[i] = (shdrt_split){
			axis_ref_stride(&m->mesh, axes->a[i]),
			axes->a[i].size,
		};
	return (shdrt_splits){axes->n, split};
}

static shdrt_tensor
describe(const Plan *plan, const char *name, Text *type, const Value *v)
{
	const Module *m = plan->module;
	const Placement *p = &v->placement;
	Type global = value_whole_type(v);
	AxisList partial = placement_unreduced(p);
	size_t dims = (size_t)global.rank * sizeof global.dims[0];
	shdrt_splits *splits = NEW_ARRAY(m->arena, shdrt_splits, global.rank + 1);
	for (int d = 0; d < global.rank; d++) {
		AxisList axes = placement_dim(p, d);
		splits[d] = splits_of(m, &axes);
	}
	return (shdrt_tensor){
		.name = name,
		.type_text = text_take(type, m->arena),
		.dtype = (shdrt_dtype)global.dtype,
		.rank = global.rank,
		.dims = arena_copy(m->arena, global.dims, dims),
		.local_dims = arena_copy(m->arena, v->type.dims, dims),
		.splits = splits,
		.unreduced = splits_of(m, &partial),
		.combiner = (shdrt_combiner)p->combiner,
		.offset = plan_offset(plan, v),
	};
}

/* Parameters of the entry, or what it returns; a parameter by its first. */
static const shdrt_tensor *
tensors(const Plan *plan, int n, Value *const *values, bool results)
{
	const Module *m = plan->module;
	shdrt_tensor *t = NEW_ARRAY(m->arena, shdrt_tensor, n + 1);
	const double *within = results ? allowed_rounding(m->arena, m) : NULL;
	for (int i = 0; i < n; i++) {
		const char *name = results ? m->results[i].name : values[i]->name;
		Text type = {0};
		/* the first of its names: later ones are lets that only rename it */
		for (int k = m->nnamed - 1; !results && k >= 0; k--)
			if (m->named[k].value == values[i])
				name = m->named[k].name;
		if (results)
			text_declared(&type, m, i);
		else
			text_value(&type, &m->mesh, values[i]);
		t[i] = describe(plan, name, &type, values[i]);
		t[i].first_position = results ? 0 : values[i]->positions.first;
		t[i].end_position = results ? 0 : values[i]->positions.end;
		t[i].kept = !results && plan_keeps(plan, values[i]);
		t[i].within = results ? within[i] : 0;
	}
	return t;
}

/* ---- what --stats lists ------------------------------------------------- */

static const shdrt_collective_kind collective_kinds[OP_COUNT] = {
#define COLLECTIVE(id, ...) [O_##id] = SHDRT_##id,
#include "ir/collectives.def"
#undef COLLECTIVE
};

static shdrt_step
step(const Module *m, const Op *op, const Flights *flights)
{
	StepCost cost = step_cost(&m->mesh, op, NULL, NULL);
	Text axes = {0};
	if (op_communicates(op))
		text_axes(&axes, &m->mesh, op->axes);
	return (shdrt_step){
		.what = step_what(m->arena, op),
		.kind = step_opcode(m->arena, op),
		.axes = op_communicates(op) ? text_take(&axes, m->arena) : NULL,
		.file = source_path(m->session, op->range.file),
		.line = op->range.line,
		.picoseconds = (uint64_t)flights_time(flights, op, &cost),
		.flops = cost.flops,
		.hbm_bytes = whole_bytes(cost.hbm_bytes),
		.wire_bytes = whole_bytes(cost.wire_bytes),
		.bound = resource_names[cost.bound],
	};
}

static shdrt_collective
collective(const Module *m, const Op *op, const shdrt_step *step)
{
	shdrt_collective c = {
		.kind = collective_kinds[op->kind],
		.dtype = (shdrt_dtype)op->operands[0]->type.dtype,
		.combiner = op_has(op, A_combiner) ? (shdrt_combiner)op_int(op, A_combiner)
						   : SHDRT_add,
		.group = splits_of(m, op->axes),
		.from = splits_of(m, op->from),
		.source = op_has(op, A_source) ? op_ints(op, A_source)->v : NULL,
		.rows = collectives[op->kind].base >= 0 ? op->results[0]->type.dims[0] : 0,
		.step = step,
	};
	/* the operand as [outer, size, inner] around the dim that is split */
	const Type *x = &op->operands[0]->type;
	bool split = op_ints(op, A_dim)->n > 0;
	int64_t dim = split ? op_int(op, A_dim) : 0;
	c.outer = c.inner = 1;
	c.size = split ? x->dims[dim] : type_elements(x);
	for (int64_t d = 0; d < x->rank && split; d++)
		*(d < dim ? &c.outer : &c.inner) *= d == dim ? 1 : x->dims[d];
	return c;
}

/* What launch() executes. */
typedef struct Launched {
	Module *module;
	shdrt_device *const *devices;
	shdrt_step *steps; /* of all ops that are */
	int nsteps;
	shdrt_collective *collectives;
	int ncollectives;
	Flights flights;
	int *row;	 /* by the id of an op's first result: its number from 1 among
			    steps */
	int *collective; /* likewise, among collectives: of one, or what waits for it */
} Launched;

static Launched
list_steps(Module *m, const Plan *plan)
{
	Launched l = {.module = m};
	const int64_t *needed = plan_needed(plan, op_is_step, m->arena);
	module_number(m);
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		l.nsteps += op_is_step(op);
		l.ncollectives += op_communicates(op);
	}
	l.steps = NEW_ARRAY(m->arena, shdrt_step, l.nsteps + 1);
	l.collectives = NEW_ARRAY(m->arena, shdrt_collective, l.ncollectives + 1);
	l.row = NEW_ARRAY(m->arena, int, m->nvalues + 1);
	l.collective = NEW_ARRAY(m->arena, int, m->nvalues + 1);
	l.flights = flights_find(m, m->arena);
	l.nsteps = l.ncollectives = 0;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (!op_is_step(op))
			continue;
		shdrt_step *s = &l.steps[l.nsteps++];
		*s = step(m, op, &l.flights);
		s->memory = needed[op->id];
		l.row[op->results[0]->id] = l.nsteps;
		if (op->kind == O_done)
			l.collective[op->results[0]->id] = l.collective[op->operands[0]->id];
		if (!op_communicates(op))
			continue;
		l.collectives[l.ncollectives] = collective(m, op, s);
		l.collectives[l.ncollectives].slot = l.flights.slot[op->id];
		l.collective[op->results[0]->id] = ++l.ncollectives;
	}
	return l;
}

/* ---- execution ---------------------------------------------------------- */

static Tensor **
device_tensors(int64_t ndevices, int n)
{
	Tensor **t = calloc((size_t)ndevices, sizeof *t);
	Tensor *all = calloc((size_t)ndevices * (size_t)n + 1, sizeof *all);
	if (!t || !all) {
		free(t);
		free(all);
		return NULL;
	}
	for (int64_t d = 0; d < ndevices; d++)
		t[d] = all + d * n;
	return t;
}

static void
free_device_tensors(Tensor **t)
{
	if (t)
		free(t[0]);
	free(t);
}

static uint64_t
progress(const char **doing)
{
	static char text[300];
	const Op *op = eval_loop;
	const SourceFile *file =
		op && op->range.file ? source_file(op->module->session, op->range.file) : NULL;
	const char *path = file ? file->path : "?";
	*doing = op ? text : NULL;
	if (op && op->external)
		snprintf(text, sizeof text, "is in extern function '%s' (%s:%d)",
			op->external->name, path, op->range.line);
	else if (op)
		snprintf(text, sizeof text, "goes round the loop of %s:%d", path,
			op->range.line);
	return eval_progress;
}

static const char *
op_text(const Module *m, const Op *op)
{
	const SourceFile *file = source_file(m->session, op->range.file);
	return arena_printf(m->arena, "%s of %s:%d", ops[op->kind].hlo, file ? file->path : "?",
		op->range.line);
}

/* As the runtime tells it. */
static int
report_failure(const Module *m, const EvalFailure *f)
{
	if (!f->collective) {
		fputs("the interpreter needs more memory than there is\n", stderr);
		return SHDRT_MEMORY;
	}
	const char *here = op_text(m, f->collective);
	if (f->what) {
		fprintf(stderr, "%s: %s\n", here, f->what);
		return SHDRT_MISMATCH;
	}
	const char *there = f->other
		? arena_printf(m->arena, "waits at %s", op_text(m, f->other))
		: "has ended its program";
	fprintf(stderr,
		f->mismatch ? "collectives do not agree: device %lld "
			      "waits at %s, device %lld %s\n"
			    : "deadlock: device %lld "
			      "waits at %s for device %lld, which %s\n",
		(long long)f->device, here, (long long)f->other_device, there);
	return f->mismatch ? SHDRT_MISMATCH : SHDRT_DEADLOCK;
}

static void
tell_device(void *data, const Op *op, int64_t device)
{
	const Launched *l = data;
	int row = op->nresults ? l->row[op->results[0]->id] : 0;
	if (!row)
		return;
	const shdrt_step *s = &l->steps[row - 1];
	const shdrt_collective *c = l->collectives + l->collective[op->results[0]->id] - 1;
	if (op->kind == O_done)
		shdrt_done(l->devices[device], c, s);
	else if (op_communicates(op))
		shdrt_meet(l->devices[device], c);
	else
		shdrt_tick(l->devices[device], s);
}

static int
launch(const shdrt_program *p, char *const *slabs, shdrt_device *const *devices, void *data)
{
	Launched *launched = data;
	Module *m = launched->module;
	Tensor **inputs = device_tensors(p->ndevices, p->nparams);
	Tensor **outputs = device_tensors(p->ndevices, p->nresults);
	EvalFailure failure = {.collective = NULL};
	bool ok = inputs && outputs;
	eval_use_externs(p->externs);
	for (int64_t d = 0; ok && d < p->ndevices; d++)
		for (int i = 0; i < p->nparams; i++)
			inputs[d][i] = (Tensor){
				.type = m->entry->params[i]->type,
				.data = slabs[d] + p->params[i].offset,
			};
	launched->devices = devices;
	eval_listener = (EvalListener){tell_device, launched};
	ok = ok && eval_device(m, inputs, outputs, &failure);
	eval_listener.done = NULL;
	for (int64_t d = 0; ok && d < p->ndevices; d++)
		for (int i = 0; i < p->nresults; i++) {
			Tensor *t = &outputs[d][i];
			memcpy(slabs[d] + p->results[i].offset, t->data,
				(size_t)type_stored(&t->type));
			tensor_free(t);
		}
	free_device_tensors(inputs);
	free_device_tensors(outputs);
	return ok ? SHDRT_OK : report_failure(m, &failure);
}

static const shdrt_externs *
extern_table(const Module *m, const Externs *all)
{
	shdrt_extern *rows = NEW_ARRAY(m->arena, shdrt_extern, all->n);
	shdrt_externs *table = NEW(m->arena, shdrt_externs);
	for (int i = 0; i < all->n; i++) {
		const External *x = all->v[i];
		rows[i] = (shdrt_extern){x->symbol, x->library,
			source_path(m->session, x->declared.file), all->paths[i]};
	}
	*table = (shdrt_externs){all->n, rows, NEW_ARRAY(m->arena, shdrt_function *, all->n),
		shdeval_call};
	return table;
}

int
interpret(Module *m, const Plan *plan, const Unsharded *unsharded, const Externs *externs,
	int narguments, const char **arguments)
{
	Launched launched = list_steps(m, plan);
	Work work = module_ledger(m)->work;
	shdrt_axis *axes = NEW_ARRAY(m->arena, shdrt_axis, m->mesh.naxes + 1);
	for (int i = 0; i < m->mesh.naxes; i++)
		axes[i] = (shdrt_axis){m->mesh.axes[i].name, m->mesh.axes[i].size};
	shdrt_program p = {
		.abi = SHDRT_ABI,
		.name = m->name,
		.source = source_path(m->session, 1),
		.naxes = m->mesh.naxes,
		.axes = axes,
		.ndevices = m->mesh.ndevices,
		.nparams = m->entry->nparams,
		.nresults = m->entry->last->noperands,
		.params = tensors(plan, m->entry->nparams, m->entry->params, false),
		.results = tensors(plan, m->entry->last->noperands, m->entry->last->operands,
			true),
		.nsteps = launched.nsteps,
		.steps = launched.steps,
		.ncollectives = launched.ncollectives,
		.collectives = launched.collectives,
		.nslots = launched.flights.n,
		.externs = externs->n ? extern_table(m, externs) : NULL,
		.slab_bytes = plan_slab(plan),
		.device_bytes = plan_peak(plan),
		.keeps_inputs = plan->module->keep_inputs,
		.target = m->mesh.target->name,
		.target_memory = m->mesh.target->hbm_bytes,
		.flops = (int64_t)work.flops,
		.wire_bytes = work.wire_bytes,
		.launch = launch,
		.launch_bytes = eval_footprint(m, false),
		.progress = progress,
		.data = &launched,
		.hlo = unsharded->global->s,
		.hlo_bytes = unsharded->global->n,
		.vouched = unsharded->vouched->s,
		.vouched_bytes = unsharded->vouched->n,
		.check_bytes = unsharded->bytes,
		.check = unsharded->global->n ? shdeval_check : NULL,
	};
	char **argv = NEW_ARRAY(m->arena, char *, narguments + 2);
	argv[0] = arena_printf(m->arena, "%s", m->name);
	for (int i = 0; i < narguments; i++)
		argv[i + 1] = arena_printf(m->arena, "%s", arguments[i]);
	return shdrt_main(&p, narguments + 1, argv);
}
