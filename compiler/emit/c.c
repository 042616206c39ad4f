/*
 * c.c - the device program as one C file.
 *
 *   kernels      static functions, equal ones shared; they take pointers
 *   steps[]      what takes time, and how much
 *   dots[]       matrix products, collectives[] communication, sorts[]:
 *                descriptors
 *   externs[]    functions of the user's libraries, and where each is called
 *   run()        the program: what it calls in order, the same on every device
 *   program      parameters, results and sizes, for the runtime
 *
 * Requires L_fused and its plan.  Nothing the user wrote becomes anything
 * but a string or a comment.
 */
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

/* "ffn.shd:7 einsum 'bd,df->bf': h bf16[8@X, 2048@Y] from x, W" */
void
c_origin(Emitter *e, Text *t, const char *indent, const Op *op, bool reads)
{
	Text line = {0};
	bool loop = op_is_loop(op);
	int n = 0, nread = 0;
	int operands = !reads || loop ? 0 : op_is_branch(op) ? 1 : op->noperands;

	if (op->range.file)
		text_printf(&line, "%s:%d ", source_path(e->module->session, op->range.file),
			op->range.line);
	text_add(&line, op->label ? op->label : ops[op->kind].name);
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		if ((loop && loop_hands_on(op, i)) || n++ >= MAX_LISTED)
			continue;
		text_printf(&line, "%s%s %s", n > 1 ? ", " : ": ", v->name,
			dtypes[v->type.dtype].name);
		if (!v->no_placement && v->placement.rank == v->type.rank)
			text_value_spec(&line, &e->module->mesh, v);
	}
	if (n > MAX_LISTED)
		text_printf(&line, " and %d more", n - MAX_LISTED);

	/* Whose buffers are read, for the pointers in the call. */
	for (int i = 0; i < operands; i++) {
		const Value *v = value_around(op->operands[i]);
		if (e->plan->buffer_of[op->operands[i]->id] < 0 || nread++ >= MAX_LISTED)
			continue;
		while (v->def && op_is_name(v->def))
			v = value_around(v->def->operands[0]);
		text_printf(&line, "%s%s", nread > 1 ? ", " : " from ", v->name);
	}
	if (nread > MAX_LISTED)
		text_printf(&line, " and %d more", nread - MAX_LISTED);
	if (loop && op_ints(op, A_trips)->n)
		text_printf(&line, ", %lld times", (long long)op_int(op, A_trips));
	text_printf(t, "%s/* ", indent);
	c_comment(t, line.s);
	text_add(t, " */\n");
	text_free(&line);
}

const char *
c_offset(Emitter *e, const Value *v)
{
	v = value_around(v);
	if (op_has(v->def, A_value))
		return c_constant(e->step, v->type.dtype, op_int(v->def, A_value));
	return arena_printf(e->step, "s%d", v->id);
}

static void
emit_offset(Emitter *e, const Op *op)
{
	const Value *v = op->results[0];
	const char *args[3] = {"", "", ""};
	const char *type = dtypes[v->type.dtype].compute;

	if (op_has(op, A_value))
		return; /* written where it is used */
	for (int i = 0; i < op->noperands; i++)
		args[i] = c_offset(e, op->operands[i]);
	text_printf(&e->run, "\tconst %s s%d = ", type, v->id);
	if (!op->noperands) {
		text_printf(&e->run, "(%s)shdrt_device_id(dev);\n", type);
	} else if (ops[op->kind].pointwise) {
		text_printf(&e->run, "%s;\n", c_pointwise(e->step, op, args));
	} else { /* an element of a table */
		const Value *table = value_around(op->operands[0]);
		const char *at = args[1];
		long long last = (long long)table->type.dims[0] - 1;
		text_printf(&e->run, "%s[%s < 0 ? 0 : %s > %lld ? %lld : %s];\n",
			c_array(e, table->def), at, at, last, last, at);
	}
}

/* The step at hand is done. */
static void
emit_tick(Emitter *e, const Op *op)
{
	text_printf(&e->run, "%sshdrt_tick(dev, &steps[", e->indent);
	c_number(&e->run, c_step(e, op));
	text_add(&e->run, "]);\n");
}

static void
emit_fusion(Emitter *e, const Op *op)
{
	bool nothing = op_has(op, A_unset) || e->sums.done[op->id];
	const Kernel *k = nothing ? NULL : view_kernels(e->view, op->results[0]->def);

	if (!k && !nothing)
		die("%s is not one loop nest", op->results[0]->name);
	for (; k; k = k->next)
		(k->kind == KERNEL_dot ? emit_dot : emit_kernel)(e, op, k);
}

static void
begin_step(Emitter *e, const Op *op, bool origin)
{
	e->step_from = e->run.n;
	if (!origin)
		return;
	c_step_comment(e, op);
	if (e->options->debug && op->range.file) {
		text_printf(&e->run, "#line %d", op->range.line);
		c_quoted(&e->run, " ", source_path(e->module->session, op->range.file));
		text_add(&e->run, "\n");
	}
}

static void
emit_step(Emitter *e, const Op *op)
{
	bool copy = op_is_identity(op) || op_is_hosted(op) || (op->nbodies && op->nresults > 1);
	Emit *emit = op_communicates(op) ? emit_collective
		: op->kind == O_done	 ? emit_done
		: copy			 ? emit_copy
		: op->kind == O_sort	 ? emit_sort
		: op_is_grouped(op)	 ? emit_grouped
		: op->external		 ? emit_extern
					 : emit_fusion;

	begin_step(e, op, !copy);
	emit(e, op);
	if (!op_communicates(op) && op->kind != O_done)
		emit_tick(e, op);
	c_note_step(e, op, e->depth, e->depth);
}

static void emit_block(Emitter *e, const Block *b);

static void
emit_bodies(Emitter *e, const Op *op)
{
	for (int part = 0; part <= op->nbodies; part++) {
		int depth = e->depth, low;
		begin_step(e, op, part == 0);
		emit_control(e, op, part);
		low = depth < e->depth ? depth : e->depth;
		c_note_step(e, op, depth, low - (op_is_branch(op) && part == 1));
		if (part < op->nbodies)
			emit_block(e, op->bodies[part]);
	}
}

static void
emit_block(Emitter *e, const Block *b)
{
	for (const Op *op = b->first; op != b->last; op = op->next) {
		arena_reset(e->step);
		if (op_is_step(op))
			emit_step(e, op);
		else if (op_is_branch(op) || op_is_loop(op))
			emit_bodies(e, op);
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
		"clock by a step's time.\n */\n",
		(long long)e->plan->total);
	text_add(t,
		"#include \"shdrt.h\"\n#include \"shdrt_math.h\"\n"
		"#include \"shdrt_kernels.h\"\n\n"
		"/* A program may well ask for maximum(x, x). */\n"
		"#pragma GCC diagnostic ignored \"-Wtautological-compare\""
		"\n\n");
	text_free(&line);
}

void
emit_c(const Plan *plan, const EmitOptions *options, Text *t)
{
	const Module *m = plan->module;
	Emitter e = {.plan = plan,
		.needed = plan_needed(plan, op_is_step, m->arena),
		.view = view_new(m),
		.module = m,
		.options = options,
		.arena = m->arena,
		.step = arena_new(),
		.by_text = table_new(m->arena),
		.flights = flights_find(plan->module, m->arena),
		.collective = NEW_ARRAY(m->arena, int, m->nops + 1),
		.indent = "\t"};

	find_sums(&e);
	for (int i = 0; i < plan->lives->n; i++)
		if (op_is_offset(plan->lives->step[i]))
			emit_offset(&e, plan->lives->step[i]);
	c_note_step(&e, NULL, 0, 0);
	emit_block(&e, m->entry);

	print_heading(&e, t);
	text_add(t, e.kernels.n ? e.kernels.s : "");
	print_rows(&e, t);
	print_externs(&e, t);
	text_add(t,
		"static SHDRT_PLAIN void\nrun(shdrt_device *dev, char *slab)\n{\n"
		"\t(void)dev, (void)slab;\n");
	c_run(&e, t);
	text_printf(t, "}\n\n%s", options->debug ? "#line 1 \"tables\"\n" : "");
	emit_program(&e, t);
	view_free(e.view);
	arena_free(e.step);
	text_free(&e.kernels);
	text_free(&e.run);
}
