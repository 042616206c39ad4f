/*
 * c_tables.c - what the runtime reads: descriptors of dots and collectives,
 * equal ones shared, and of the program with its parameters and results.
 */
#include <string.h>
#include "emit/c.h"
#include "cost/ledger.h"

const char *
c_share_row(Emitter *e, Text *rows, int *n, const Text *row)
{
	const char *fresh = arena_printf(e->step, "%d", *n), *index = c_share(e, row, fresh);

	if (index == fresh) {
		++*n;
		text_add(rows, row->s);
	}
	return index;
}

/* ---- dots --------------------------------------------------------------- */

static void
print_loops(Text *t, const DotView *v)
{
	text_printf(t, "\t\t.nloops = %d, .ncontract = %d", v->nloops, v->ncontract);
	if (v->nloops)
		text_add(t, ", .loops = (const shdrt_dot_loop[]){");
	for (int i = 0; i < v->nloops; i++)
		text_printf(t, "%s{%lld, %lld, %lld, %lld}", i ? ", " : "",
			(long long)v->loops[i].extent, (long long)v->loops[i].a,
			(long long)v->loops[i].b, (long long)v->loops[i].c);
	text_add(t, v->nloops ? "},\n" : ",\n");
}

static void
print_dot(Text *t, const DotView *v, DType in, DType out)
{
	text_printf(t,
		"\t{.in = SHDRT_%s, .out = SHDRT_%s, "
		".m = %lld, .n = %lld, .k = %lld,\n",
		dtypes[in].name, dtypes[out].name, (long long)v->m, (long long)v->n,
		(long long)v->k);
	text_printf(t,
		"\t\t.a_m = %lld, .a_k = %lld, .b_k = %lld, "
		".b_n = %lld, .c_m = %lld,\n",
		(long long)v->a_m, (long long)v->a_k, (long long)v->b_k, (long long)v->b_n,
		(long long)v->c_m);
	if (v->nloops)
		print_loops(t, v);
	if (v->block_m)
		text_printf(t,
			"\t\t.block_m = %lld, .block_n = %lld, "
			".block_k = %lld,\n",
			(long long)v->block_m, (long long)v->block_n, (long long)v->block_k);
	text_add(t, "\t},\n");
}

/* Where the operand starts, which may be known only when it runs. */
static void
print_operand(Emitter *e, const Op *op, const Node *x)
{
	c_address(e, &e->run, view_buffer(op, x->value), x->index->offset, true);
	for (const Term *t = x->index->terms; t; t = t->next) {
		const Value *at = view_buffer(op, t->at->args[0]->value);
		text_printf(&e->run, "\n%s\t+ %lld * shdrt_clamp_i64(0, *", e->indent,
			(long long)t->scale);
		c_address(e, &e->run, at, 0, true);
		text_printf(&e->run, ", %lld)", (long long)t->at->limit);
	}
}

void
emit_dot(Emitter *e, const Op *op, const Kernel *k)
{
	DotView v = dot_view(k);
	Text row = {0};

	print_dot(&row, &v, k->fills->operands[0]->type.dtype, op->results[0]->type.dtype);
	const char *index = c_share_row(e, &e->dots, &e->ndots, &row);
	text_free(&row);
	text_printf(&e->run, "%sshdrt_dot_run(&dots[%s], ", e->indent, index);
	print_operand(e, op, v.a);
	text_printf(&e->run, ",\n%s\t", e->indent);
	print_operand(e, op, v.b);
	text_add(&e->run, ", ");
	c_address(e, &e->run, op->results[0], 0, false);
	text_printf(&e->run, ", slab + %lld);\n", (long long)e->plan->total);
}

/* ---- collectives -------------------------------------------------------- */

static void
print_splits(Emitter *e, Text *t, const AxisList *axes)
{
	const Mesh *m = &e->module->mesh;

	if (!axes || !axes->n) {
		text_add(t, "{0}");
		return;
	}
	text_printf(t, "{%d, (const shdrt_split[]){", axes->n);
	for (int i = 0; i < axes->n; i++) {
		AxisRef r = axes->a[i];
		int64_t stride = m->axes[r.axis].size / ((int64_t)r.pre * r.size);
		for (int a = r.axis + 1; a < m->naxes; a++)
			stride *= m->axes[a].size;
		text_printf(t, "%s{%lld, %d}", i ? ", " : "", (long long)stride, (int)r.size);
	}
	text_add(t, "}}");
}

/* The operand as [outer, size, inner] around the dim that is split, gathered
   or sorted. */
static void
print_shape(Text *t, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	int64_t outer = 1, size = type_elements(x), inner = 1;

	if (op_ints(op, A_dim)->n) {
		int dim = (int)op_int(op, A_dim);
		size = x->dims[dim];
		for (int d = 0; d < dim; d++)
			outer *= x->dims[d];
		for (int d = dim + 1; d < x->rank; d++)
			inner *= x->dims[d];
	}
	text_printf(t, "\t\t.outer = %lld, .size = %lld, .inner = %lld,\n", (long long)outer,
		(long long)size, (long long)inner);
}

/* Of a permute: who sends to each member of the group. */
static void
print_senders(Text *t, const Op *op)
{
	const Ints *source = op_ints(op, A_source);

	if (!source->n)
		return;
	text_add(t, "\t\t.source = (const int64_t[]){");
	text_numbers(t, source->n, source->v, ", ");
	text_add(t, "},\n");
}

static void
print_source(Emitter *e, Text *t, const Op *op)
{
	const char *file = "";
	Text axes = {0};

	if (op->range.file)
		file = source_file(e->module->session, op->range.file)->path;
	text_axes(&axes, &e->module->mesh, op->axes);
	text_add(t, "\t\t.file = ");
	c_string(t, file, strlen(file));
	text_printf(t, ", .line = %d, .label = ", op->range.line);
	c_string(t, op->label ? op->label : "", op->label ? strlen(op->label) : 0);
	text_add(t, ", .axes = ");
	c_string(t, axes.n ? axes.s : "", axes.n);
	text_add(t, ",\n");
	text_free(&axes);
}

static void
print_collective(Emitter *e, Text *t, const Op *op)
{
	StepCost cost = step_cost(&e->module->mesh, op, NULL, NULL);

	text_printf(t, "\t{.kind = SHDRT_%s, .dtype = SHDRT_%s", ops[op->kind].name,
		dtypes[op->operands[0]->type.dtype].name);
	if (op_has(op, A_combiner))
		text_printf(t, ", .combiner = SHDRT_%s",
			combiners[op_int(op, A_combiner)].name);
	text_add(t, ",\n\t\t.group = ");
	print_splits(e, t, op->axes);
	if (op->from) {
		text_add(t, ", .from = ");
		print_splits(e, t, op->from);
	}
	text_add(t, ",\n");
	print_senders(t, op);
	print_shape(t, op);
	if (collectives[op->kind].base >= 0)
		text_printf(t, "\t\t.rows = %lld,\n", (long long)op->results[0]->type.dims[0]);
	print_source(e, t, op);
	text_printf(t, "\t\t.wire_bytes = %lld, .picoseconds = %lld,\n\t},\n",
		(long long)whole_bytes(cost.wire_bytes), (long long)picoseconds(cost.seconds));
}

void
emit_collective(Emitter *e, const Op *op)
{
	Text row = {0};

	print_collective(e, &row, op);
	const char *index = c_share_row(e, &e->collectives, &e->ncollectives, &row);
	text_free(&row);
	text_printf(&e->run, "%sshdrt_%s(dev, &collectives[%s], ", e->indent,
		ops[op->kind].name, index);
	for (int k = 0; k < op->noperands; k++) {
		if (k == op_base(op))
			continue; /* the result */
		c_address(e, &e->run, op->operands[k], -1, true);
		text_add(&e->run, ", ");
	}
	c_address(e, &e->run, op->results[0], -1, false);
	text_add(&e->run, ");\n");
}

/* ---- sorts -------------------------------------------------------------- */

static void
print_sort(Text *t, const Op *op)
{
	text_printf(t, "\t{.key = SHDRT_%s, .descending = %d, .n = %d,\n",
		dtypes[op->operands[0]->type.dtype].name, op_int(op, A_direction) == DIR_GT,
		op->noperands);
	print_shape(t, op);
	text_add(t, "\t\t.bytes = (const int[]){");
	for (int i = 0; i < op->noperands; i++)
		text_printf(t, "%s%d", i ? ", " : "",
			dtypes[op->operands[i]->type.dtype].bytes);
	text_add(t, "},\n\t},\n");
}

void
emit_sort(Emitter *e, const Op *op)
{
	Text row = {0};

	print_sort(&row, op);
	const char *index = c_share_row(e, &e->sorts, &e->nsorts, &row);
	text_free(&row);
	text_printf(&e->run,
		"%sshdrt_sort_run(&sorts[%s], "
		"(const void *const[]){",
		e->indent, index);
	for (int i = 0; i < op->noperands; i++) {
		text_add(&e->run, i ? ", " : "");
		c_address(e, &e->run, op->operands[i], -1, true);
	}
	text_printf(&e->run, "},\n%s\t(void *const[]){", e->indent);
	for (int i = 0; i < op->nresults; i++) {
		text_add(&e->run, i ? ", " : "");
		if (e->plan->buffer_of[op->results[i]->id] >= 0)
			c_address(e, &e->run, op->results[i], -1, false);
		else
			text_add(&e->run, "NULL");
	}
	text_printf(&e->run, "}, slab + %lld);\n", (long long)e->plan->total);
}

/* ---- parameters and results --------------------------------------------- */

/* Tensors of equal shape share the arrays that say so. */
static void
print_shared(Emitter *e, Text *t, const char *field, const char *type, const char *prefix,
	const Text *values)
{
	const char *name = table_get(e->by_text, values->s);

	if (!name) {
		name = arena_printf(e->arena, "%s_%d", prefix, e->narrays++);
		table_set(e->by_text, arena_strndup(e->arena, values->s, values->n),
			(void *)name);
		text_printf(&e->arrays, "static const %s %s[] = %s;\n", type, name, values->s);
	}
	text_printf(t, "\t\t.%s = %s,\n", field, name);
}

static void
print_dims(Emitter *e, Text *t, const char *field, const Type *type)
{
	Text dims = {0};

	text_add(&dims, "{");
	text_numbers(&dims, type->rank, type->dims, ", ");
	text_add(&dims, "}");
	if (type->rank)
		print_shared(e, t, field, "int64_t", "dims", &dims);
	text_free(&dims);
}

static void
print_placement(Emitter *e, Text *t, const Value *v)
{
	const Placement *p = &v->placement;
	AxisList unreduced = placement_unreduced(p);
	Text splits = {0};

	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(p, d);
		text_add(&splits, d ? ", " : "{");
		print_splits(e, &splits, &axes);
	}
	text_add(&splits, "}");
	if (v->type.rank)
		print_shared(e, t, "splits", "shdrt_splits", "splits", &splits);
	text_free(&splits);
	if (!unreduced.n)
		return;
	text_add(t, "\t\t.unreduced = ");
	print_splits(e, t, &unreduced);
	text_printf(t, ", .combiner = SHDRT_%s,\n", combiners[p->combiner].name);
}

static void
print_tensor(Emitter *e, Text *t, const char *name, const Value *v)
{
	Type global = value_whole_type(v);
	Text type = {0};

	text_type(&type, &e->module->mesh, &global, &v->placement);
	text_add(t, "\t{.name = ");
	c_string(t, name, strlen(name));
	text_add(t, ", .type_text = ");
	c_string(t, type.s, type.n);
	text_printf(t, ",\n\t\t.dtype = SHDRT_%s, .rank = %d,\n", dtypes[global.dtype].name,
		global.rank);
	print_dims(e, t, "dims", &global);
	print_dims(e, t, "local_dims", &v->type);
	print_placement(e, t, v);
	if (v->index_limit)
		text_printf(t, "\t\t.index_limit = %lld,\n", (long long)v->index_limit);
	text_printf(t, "\t\t.offset = %lld,\n\t},\n", (long long)plan_offset(e->plan, v));
	text_free(&type);
}

/* What the user called each value; by value id. */
static const char **
user_names(const Emitter *e)
{
	const Module *m = e->module;
	const char **names = NEW_ARRAY(e->arena, const char *, m->nvalues + 1);

	for (int i = m->nnamed - 1; i >= 0; i--)
		if (m->named[i].value)
			names[m->named[i].value->id] = m->named[i].name;
	return names;
}

static void
print_params(Emitter *e, Text *t)
{
	const Block *entry = e->plan->module->entry;
	const char **names = user_names(e);

	if (!entry->nparams)
		return;
	text_add(t, "static const shdrt_tensor params[] = {\n");
	for (int i = 0; i < entry->nparams; i++) {
		const Value *v = entry->params[i];
		print_tensor(e, t, names[v->id] ? names[v->id] : v->name, v);
	}
	text_add(t, "};\n\n");
}

static void
print_results(Emitter *e, Text *t)
{
	const Module *m = e->plan->module;
	const Op *end = m->entry->last;

	text_add(t, "static const shdrt_tensor results[] = {\n");
	for (int i = 0; i < end->noperands; i++)
		print_tensor(e, t,
			i < m->nresults ? m->results[i].name : end->operands[i]->name,
			end->operands[i]);
	text_add(t, "};\n\n");
}

static void
print_tensors(Emitter *e, Text *t)
{
	Text tensors = {0};

	print_params(e, &tensors);
	print_results(e, &tensors);
	if (e->arrays.n)
		text_printf(t, "%s\n", e->arrays.s);
	text_add(t, tensors.s);
	text_free(&tensors);
	text_free(&e->arrays);
}

/* ---- the program -------------------------------------------------------- */

/* One string a line, so that the text can be read in the C file too. */
static void
print_hlo(Text *t, const char *s, size_t n)
{
	text_add(t,
		"/* the unsharded program, for --check */\n"
		"static const char hlo[] =\n");
	for (size_t i = 0, end; i < n; i = end) {
		const char *newline = memchr(s + i, '\n', n - i);
		end = newline ? (size_t)(newline - s) + 1 : n;
		text_add(t, "\t");
		c_string(t, s + i, end - i);
		text_add(t, end < n ? "\n" : ";\n\n");
	}
	text_add(t,
		"int shdeval_check(const char *text, size_t n, "
		"const shdrt_check_io *io);\n\n");
}

static void
print_axes(Text *t, const Mesh *m)
{
	text_add(t, "static const shdrt_axis axes[] = {\n");
	for (int a = 0; a < m->naxes; a++) {
		text_add(t, "\t{");
		c_string(t, m->axes[a].name, strlen(m->axes[a].name));
		text_printf(t, ", %lld},\n", (long long)m->axes[a].size);
	}
	text_add(t, "};\n\n");
}

static void
print_totals(Emitter *e, Text *t)
{
	Work work = module_ledger(e->plan->module)->work;

	text_printf(t, "\t.slab_bytes = %lld,\n", (long long)plan_peak(e->plan));
	text_printf(t, "\t.flops = %.0f, .wire_bytes = %lld,\n", work.flops,
		(long long)work.wire_bytes);
}

static void
print_program(Emitter *e, Text *t)
{
	const Module *m = e->module;
	const char *source = "";

	if (m->session->nfiles)
		source = source_file(m->session, 1)->path;
	text_add(t,
		"static const shdrt_program program = {\n"
		"\t.abi = SHDRT_ABI,\n\t.name = ");
	c_string(t, m->name, strlen(m->name));
	text_add(t, ",\n\t.source = ");
	c_string(t, source, strlen(source));
	text_printf(t, ",\n\t.naxes = %d, .axes = %s, .ndevices = %lld,\n", m->mesh.naxes,
		m->mesh.naxes ? "axes" : "NULL", (long long)m->mesh.ndevices);
	text_printf(t, "\t.nparams = %d, .params = %s,\n", m->entry->nparams,
		m->entry->nparams ? "params" : "NULL");
	text_printf(t, "\t.nresults = %d, .results = results,\n", m->entry->last->noperands);
	if (e->ncollectives)
		text_printf(t,
			"\t.ncollectives = %d, "
			".collectives = collectives,\n",
			e->ncollectives);
	if (e->options->externs && e->options->externs->n)
		text_add(t, "\t.externs = &externs,\n");
	print_totals(e, t);
	text_printf(t, "\t.target = \"%s\", .target_memory = %lld,\n", m->mesh.target->name,
		(long long)m->mesh.target->hbm_bytes);
	text_add(t, "\t.run = run,\n");
	if (e->options->hlo)
		text_add(t,
			"\t.hlo = hlo, .hlo_bytes = sizeof hlo - 1, "
			".check = shdeval_check,\n");
	text_add(t, "};\n\n");
}

void
emit_program(Emitter *e, Text *t)
{
	print_tensors(e, t);
	if (e->module->mesh.naxes)
		print_axes(t, &e->module->mesh);
	if (e->options->hlo)
		print_hlo(t, e->options->hlo, e->options->hlo_bytes);
	print_program(e, t);
	text_add(t,
		"int\nmain(int argc, char **argv)\n{\n"
		"\treturn shdrt_main(&program, argc, argv);\n}\n");
}
