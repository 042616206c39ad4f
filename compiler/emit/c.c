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
 * Requires L_device and its plan.  Nothing the user wrote becomes anything
 * but a string or a comment.
 */
#include <math.h>
#include <string.h>
#include "emit/c.h"
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

bool
c_same_buffer(const Emitter *e, const Value *a, const Value *b)
{
	const Plan *p = e->plan;

	return p->buffer_of[steps_home(e->steps, a)->id]
		== p->buffer_of[steps_home(e->steps, b)->id];
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
print_reads(Text *t, const Step *s)
{
	for (int i = 0; i < s->nreads && i < MAX_LISTED; i++)
		text_printf(t, "%s%s", i ? ", " : " from ", s->reads[i]->name);
	if (s->nreads > MAX_LISTED)
		text_printf(t, " and %d more", s->nreads - MAX_LISTED);
}

/* "ffn.shd:7 einsum 'bd,df->bf': h bf16[8@X, 2048@Y] from x, W" */
void
c_origin(Emitter *e, Text *t, const char *indent, const Op *op, const Step *s)
{
	Text line = {0};

	if (op->range.file)
		text_printf(&line, "%s:%d ", source_path(e, op), op->range.line);
	text_add(&line, op->label ? op->label : ops[op->kind].name);
	for (int i = 0; i < op->nresults && i < MAX_LISTED; i++) {
		text_printf(&line, "%s%s ", i ? ", " : ": ", op->results[i]->name);
		print_type(e, &line, op->results[i]);
	}
	if (op->nresults > MAX_LISTED)
		text_printf(&line, " and %d more", op->nresults - MAX_LISTED);
	if (s)
		print_reads(&line, s);
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

static const char *
scalar_argument(Emitter *e, const Value *v)
{
	Text t = {0};

	v = steps_source(e->steps, v);
	if (v->def->kind != O_constant)
		return arena_printf(e->arena, "s%d", v->id);
	c_constant(&t, v->type.dtype, op_int(v->def, A_value));
	return text_take(&t, e->arena);
}

static void
emit_scalar(Emitter *e, const Op *op)
{
	const Value *v = op->results[0];
	const char *args[3] = {"", "", ""};
	const char *type = compute_type(v->type.dtype);

	text_printf(&e->run, "\tconst %s s%d = ", type, v->id);
	if (op->kind == O_partition_id) {
		text_printf(&e->run, "(%s)shdrt_device_id(dev);\n", type);
		return;
	}
	if (op->kind == O_take) {
		const Value *table = steps_source(e->steps, op->operands[0]);
		const char *at = scalar_argument(e, op->operands[1]);
		long long last = (long long)table->type.dims[0] - 1;
		text_printf(&e->run, "%s[%s < 0 ? 0 : %s > %lld ? %lld : %s];\n",
			c_array(e, table->def), at, at, last, last, at);
		return;
	}
	for (int i = 0; i < op->noperands; i++)
		args[i] = scalar_argument(e, op->operands[i]);
	c_pointwise(&e->run, op, args);
	text_add(&e->run, ";\n");
}

/* Of a part of a buffer, as much as the kernel's loops can touch. */
static double
touched_bytes(const Step *s, const Value *v)
{
	const Kernel *k = s->kernel;
	double bytes = dtypes[v->type.dtype].bytes;
	double all = (double)type_bytes(&v->type);

	for (int p = 0; k && p < k->norder; p++)
		bytes *= (double)k->loops[k->order[p]].extent;
	return k && bytes < all ? bytes : all;
}

/* An operand that is changed in place is not copied first. */
static double
moved_bytes(const Emitter *e, const Step *s)
{
	double bytes = 0;

	for (int i = 0; i < s->nresults; i++)
		bytes += touched_bytes(s, s->results[i]);
	for (int i = 0; i < s->nreads; i++)
		bytes += touched_bytes(s, s->reads[i]);
	if (s->base && !c_same_buffer(e, s->result, s->base))
		bytes += 2 * (double)type_bytes(&s->result->type);
	return bytes;
}

/* The slower of its arithmetic and its traffic, on the target. */
static double
step_seconds(const Emitter *e, const Step *s)
{
	const Mesh *m = &e->module->mesh;

	if (s->kind == STEP_dot) {
		return step_cost(m, s->op, NULL, &s->result->type).seconds;
	}
	if (s->kind == STEP_copy && c_same_buffer(e, s->result, s->reads[0]))
		return 0;
	return kernel_cost(m, moved_bytes(e, s)).seconds;
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
static bool
keeps_time(const Step *s)
{
	return s->kind == STEP_collective || s->kind >= STEP_loop;
}

static void
emit_step(Emitter *e, const Step *s)
{
	typedef void EmitStep(Emitter *, const Step *);
	static const struct {
		EmitStep *emit;
		bool origin; /* is said */
	} rows[] = {
		[STEP_kernel] = {emit_kernel, true},
		[STEP_dot] = {emit_dot, true},
		[STEP_collective] = {emit_collective, true},
		[STEP_sort] = {emit_sort, true},
		[STEP_extern] = {emit_extern, true},
		[STEP_copy] = {emit_copy, false},
		[STEP_swap] = {emit_swap, false},
		[STEP_loop] = {emit_loop, true},
		[STEP_test] = {emit_test, false},
		[STEP_repeat] = {emit_end, false},
		[STEP_if] = {emit_if, true},
		[STEP_else] = {emit_else, false},
		[STEP_endif] = {emit_end, false},
	};

	int depth = e->depth;

	e->step_from = e->run.n;
	if (keeps_time(s))
		emit_tick(e);
	if (rows[s->kind].origin) {
		c_step_comment(e, s);
		print_line(e, s->op);
	}
	rows[s->kind].emit(e, s);
	c_note_step(e, s, depth);
	if (!keeps_time(s))
		e->seconds += step_seconds(e, s);
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
		.steps = plan->steps,
		.module = m,
		.options = o,
		.arena = m->arena,
		.by_text = table_new(m->arena),
		.indent = "\t"};

	for (int i = 0; i < e.steps->nscalars; i++)
		emit_scalar(&e, e.steps->scalars[i]);
	c_note_step(&e, NULL, 0);
	for (int i = 0; i < e.steps->n; i++)
		emit_step(&e, &e.steps->step[i]);
	e.step_from = e.run.n;
	emit_tick(&e);
	c_note_step(&e, NULL, 0);
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
