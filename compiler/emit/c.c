/*
 * c.c - the device program as one C file.
 *
 *   kernels      static functions, equal ones shared; they take pointers
 *   dots[]       matrix products, collectives[] communication, sorts[]:
 *                descriptors
 *   externs[]    functions of the user's libraries, and where each is called
 *   run()        the program: what it calls in order, the same on every device
 *   program      parameters, results and sizes, for the runtime
 *
 * Requires L_fused and its plan.  Nothing the user wrote becomes anything
 * but a string or a comment.
 */
#include <math.h>
#include <string.h>
#include "emit/c.h"
#include "ir/flow.h"
#include "cost/cost.h"

enum { MAX_LISTED = 6 }; /* results or buffers read in a comment */

void
c_address(Emitter *e, Text *t, const Value *v, int64_t element, bool constant)
{
	const DTypeInfo *d = &dtypes[v->type.dtype];
	int64_t offset = plan_offset(e->plan, v);

	/* Collectives take any pointer. */
	if (element < 0) {
		text_add(t, "slab + ");
		c_number(t, offset);
		return;
	}
	text_printf(t, "(%s%s *)(slab + ", constant ? "const " : "", d->storage);
	c_number(t, offset + element * d->bytes);
	text_add(t, ")");
}

/* ---- run() -------------------------------------------------------------- */

static const char *
source_path(const Emitter *e, const Op *op)
{
	return source_file(e->module->session, op->range.file)->path;
}

static void
print_type(Emitter *e, Text *t, const Value *v)
{
	text_add(t, dtypes[v->type.dtype].name);
	if (!v->no_placement && v->placement.rank == v->type.rank)
		text_value_spec(t, &e->module->mesh, v);
}

/* Whose buffers are read: " from x, W", for the pointers in the call. */
static void
print_reads(const Emitter *e, Text *t, const Op *op)
{
	int n = 0, listed = op->kind == O_while ? 0 : op->kind == O_if ? 1 : op->noperands;

	for (int i = 0; i < listed; i++) {
		const Value *v = op->operands[i], *def = value_around(v);
		if (e->plan->buffer_of[v->id] < 0)
			continue;
		while (def->def && def->def->kind == O_reshape)
			def = value_around(def->def->operands[0]);
		if (n++ < MAX_LISTED)
			text_printf(t, "%s%s", n > 1 ? ", " : " from ", def->name);
	}
	if (n > MAX_LISTED)
		text_printf(t, " and %d more", n - MAX_LISTED);
}

static void
print_made(Emitter *e, Text *t, const Op *op)
{
	int n = 0;

	for (int i = 0; i < op->nresults; i++) {
		if ((op->kind == O_while && loop_hands_on(op, i)) || n++ >= MAX_LISTED)
			continue;
		text_printf(t, "%s%s ", n > 1 ? ", " : ": ", op->results[i]->name);
		print_type(e, t, op->results[i]);
	}
	if (n > MAX_LISTED)
		text_printf(t, " and %d more", n - MAX_LISTED);
}

/* "ffn.shd:7 einsum 'bd,df->bf': h bf16[8@X, 2048@Y] from x, W" */
void
c_origin(Emitter *e, Text *t, const char *indent, const Op *op, bool reads)
{
	Text line = {0};

	if (op->range.file)
		text_printf(&line, "%s:%d ", source_path(e, op), op->range.line);
	text_add(&line, op->label ? op->label : ops[op->kind].name);
	print_made(e, &line, op);
	if (reads)
		print_reads(e, &line, op);
	if (op->kind == O_while && op_ints(op, A_trips)->n)
		text_printf(&line, ", %lld times", (long long)op_int(op, A_trips));
	text_printf(t, "%s/* ", indent);
	c_comment(t, line.s);
	text_add(t, " */\n");
	text_free(&line);
}

static void
print_line(Emitter *e, const Op *op)
{
	if (!e->options->debug || !op->range.file)
		return;
	const char *path = source_path(e, op);
	text_printf(&e->run, "#line %d ", op->range.line);
	c_string(&e->run, path, strlen(path));
	text_add(&e->run, "\n");
}

const char *
c_offset(Emitter *e, const Value *v)
{
	v = value_around(v);
	if (v->def->kind == O_constant)
		return c_constant(e->step, v->type.dtype, op_int(v->def, A_value));
	return arena_printf(e->step, "s%d", v->id);
}

static void
emit_offset(Emitter *e, const Op *op)
{
	const Value *v = op->results[0];
	const char *args[3] = {"", "", ""};
	const char *type = compute_type(v->type.dtype);

	if (op->kind == O_constant)
		return;
	text_printf(&e->run, "\tconst %s s%d = ", type, v->id);
	if (op->kind == O_partition_id) {
		text_printf(&e->run, "(%s)shdrt_device_id(dev);\n", type);
		return;
	}
	if (op->kind == O_take) {
		const Value *table = value_around(op->operands[0]);
		const char *at = c_offset(e, op->operands[1]);
		long long last = (long long)table->type.dims[0] - 1;
		text_printf(&e->run, "%s[%s < 0 ? 0 : %s > %lld ? %lld : %s];\n",
			c_array(e, table->def), at, at, last, last, at);
		return;
	}
	for (int i = 0; i < op->noperands; i++)
		args[i] = c_offset(e, op->operands[i]);
	text_printf(&e->run, "%s;\n", c_pointwise(e->step, op, args));
}

/* The emulated clock matters where devices meet. */
static void
emit_tick(Emitter *e)
{
	if (e->seconds > 0) {
		text_printf(&e->run, "%sshdrt_tick(dev, ", e->indent);
		c_number(&e->run, picoseconds(e->seconds));
		text_add(&e->run, ");\n");
	}
	e->seconds = 0;
}

/* Where devices meet and where control turns, the clock must be right. */
static void
emit_turn(Emitter *e, const Op *op, void (*emit)(Emitter *e, const Op *op), bool origin)
{
	int depth = e->depth, low;

	e->step_from = e->run.n;
	emit_tick(e);
	if (origin) {
		c_step_comment(e, op);
		print_line(e, op);
	}
	emit(e, op);
	low = depth < e->depth ? depth : e->depth;
	c_note_step(e, op, depth, emit == emit_else ? low - 1 : low);
}

static void
emit_fusion(Emitter *e, Op *op)
{
	const Kernel *k = view_kernels(e->view, op);

	if (!k)
		die("%s is not one loop nest", op->results[0]->name);
	if (k->kind == KERNEL_dot)
		emit_dot(e, op, k);
	for (; k && k->kind != KERNEL_dot; k = k->next)
		emit_kernel(e, op, k);
}

static void
emit_local(Emitter *e, Op *op)
{
	bool copied = op->kind == O_output, swapped = op->nresults > 1 && op->nbodies;

	e->step_from = e->run.n;
	if (!copied && !swapped) {
		c_step_comment(e, op);
		print_line(e, op);
	}
	if (copied)
		emit_copy(e, op);
	else if (swapped)
		emit_swap(e, op);
	else if (op->kind == O_sort)
		emit_sort(e, op);
	else if (op->kind == O_extern)
		emit_extern(e, op);
	else
		emit_fusion(e, op);
	c_note_step(e, op, e->depth, e->depth);
	if (!copied || e->run.n > e->step_from)
		e->seconds += step_cost(&e->module->mesh, op, NULL, NULL).seconds;
}

static void
emit_block(Emitter *e, const Block *b)
{
	for (Op *op = b->first; op && op->kind != O_return; op = op->next) {
		arena_reset(e->step);
		if (op->kind == O_while) {
			emit_turn(e, op, emit_loop, true);
			emit_block(e, op->bodies[0]);
			emit_turn(e, op, emit_test, false);
			emit_block(e, op->bodies[1]);
			emit_turn(e, op, emit_end, false);
		} else if (op->kind == O_if) {
			emit_turn(e, op, emit_if, true);
			emit_block(e, op->bodies[0]);
			emit_turn(e, op, emit_else, false);
			emit_block(e, op->bodies[1]);
			emit_turn(e, op, emit_end, false);
		} else if (op_communicates(op)) {
			emit_turn(e, op, emit_collective, true);
		} else if (op->kind != O_reshape && !op_is_offset(op)) {
			emit_local(e, op);
		}
	}
}

/* ---- the file ----------------------------------------------------------- */

static void
print_heading(Emitter *e, Text *t)
{
	const Mesh *m = &e->module->mesh;
	Text line = {0};

	text_printf(&line, "%s on %lld device%s [", e->module->name, (long long)m->ndevices,
		m->ndevices == 1 ? "" : "s");
	for (int a = 0; a < m->naxes; a++)
		text_printf(&line, "%s%s=%lld", a ? ", " : "", m->axes[a].name,
			(long long)m->axes[a].size);
	text_printf(&line, "] of %s: the program of each device.", m->target->name);
	text_add(t, "/*\n * ");
	c_comment(t, line.s);
	text_printf(t,
		"\n * Generated by shdc.  A device's slab holds %lld "
		"bytes of buffers.\n * shdrt_tick() advances the emulated "
		"clock, in picoseconds.\n */\n",
		(long long)e->plan->total);
	text_add(t,
		"#include \"shdrt.h\"\n#include \"shdrt_math.h\"\n"
		"#include \"shdrt_kernels.h\"\n\n"
		"/* A program may well ask for maximum(x, x). */\n"
		"#pragma GCC diagnostic ignored \"-Wtautological-compare\""
		"\n\n");
	text_free(&line);
}

static void
print_table(Text *t, const char *type, const char *name, const Text *rows)
{
	if (rows->n)
		text_printf(t, "static const %s %s[] = {\n%s};\n\n", type, name, rows->s);
}

static void
print_run(Emitter *e, Text *t)
{
	text_add(t,
		"static SHDRT_PLAIN void\nrun(shdrt_device *dev, char *slab)\n{\n"
		"\t(void)dev, (void)slab;\n");
	c_run(e, t);
	text_add(t, "}\n\n");
	if (e->options->debug)
		text_add(t, "#line 1 \"tables\"\n");
}

void
emit_c(const Plan *plan, const EmitOptions *o, Text *t)
{
	const Module *m = plan->module;
	Emitter e = {.plan = plan,
		.view = view_new(m),
		.module = m,
		.options = o,
		.arena = m->arena,
		.step = arena_new(),
		.by_text = table_new(m->arena),
		.indent = "\t"};

	for (int i = 0; i < plan->lives->n; i++)
		if (op_is_offset(plan->lives->step[i]))
			emit_offset(&e, plan->lives->step[i]);
	c_note_step(&e, NULL, 0, 0);
	emit_block(&e, m->entry);
	e.step_from = e.run.n;
	emit_tick(&e);
	c_note_step(&e, NULL, 0, 0);
	view_free(e.view);
	arena_free(e.step);
	print_heading(&e, t);
	text_add(t, e.kernels.n ? e.kernels.s : "");
	print_table(t, "shdrt_dot", "dots", &e.dots);
	print_table(t, "shdrt_collective", "collectives", &e.collectives);
	print_table(t, "shdrt_sort", "sorts", &e.sorts);
	print_table(t, "shdrt_place", "loops", &e.loops);
	print_externs(&e, t);
	print_run(&e, t);
	emit_program(&e, t);
	text_free(&e.kernels);
	text_free(&e.dots);
	text_free(&e.collectives);
	text_free(&e.sorts);
	text_free(&e.calls);
	text_free(&e.loops);
	text_free(&e.run);
}
