/*
 * c_tables.c - what the runtime reads: descriptors of dots and collectives,
 * equal ones shared, and of the program with its parameters and results.
 */
#include <stdlib.h>
#include <string.h>
#include "emit/c.h"
#include "cost/ledger.h"
#include "ir/rounding.h"
#include "memory/strips.h"

static const struct {
	const char *type, *name;
} tables[ROW_TABLES] = {
	[ROWS_steps] = {"shdrt_step", "steps"},
	[ROWS_dots] = {"shdrt_dot", "dots"},
	[ROWS_collectives] = {"shdrt_collective", "collectives"},
	[ROWS_sorts] = {"shdrt_sort", "sorts"},
	[ROWS_groups] = {"shdrt_groups", "groups"},
	[ROWS_loops] = {"shdrt_place", "loops"},
	[ROWS_extern_calls] = {"shdrt_extern_call", "extern_calls"},
};

/* In digits. */
static const char *
row_number(Emitter *e, RowTable table, Text *row)
{
	Rows *rows = &e->rows[table];
	const char *fresh = arena_printf(e->step, "%d", rows->n);
	const char *number = c_share(e, row, fresh);

	if (number == fresh) {
		rows->n++;
		text_add(&rows->text, row->s);
	}
	text_free(row);
	return number;
}

const char *
c_row(Emitter *e, RowTable table, Text *row)
{
	return arena_printf(e->step, "%s[%s]", tables[table].name, row_number(e, table, row));
}

void
print_rows(Emitter *e, Text *t)
{
	for (int i = 0; i < ROW_TABLES; i++) {
		if (e->rows[i].n)
			text_printf(t, "static const %s %s[] = {\n%s};\n\n", tables[i].type,
				tables[i].name, e->rows[i].text.s);
		text_free(&e->rows[i].text);
	}
}

/* Words with a number in place of each %. */
static void
fill_in(Text *t, const char *words, const int64_t *numbers)
{
	for (; *words; words++) {
		if (*words == '%')
			text_printf(t, "%lld", (long long)*numbers++);
		else
			text_addn(t, words, 1);
	}
}

/* ---- steps --------------------------------------------------------------- */

int64_t
c_step(Emitter *e, const Op *op)
{
	StepCost cost = step_cost(&e->module->mesh, op, NULL, NULL);
	int64_t time = flights_time(&e->flights, op, &cost);
	Text row = {0}, axes = {0};

	c_quoted(&row, "\t{.what = ", step_what(e->step, op));
	c_quoted(&row, ", .kind = ", step_opcode(e->step, op));
	if (op_communicates(op)) {
		text_axes(&axes, &e->module->mesh, op->axes);
		c_quoted(&row, ", .axes = ", text_take(&axes, e->step));
	}
	c_quoted(&row, ", .file = ", source_path(e->module->session, op->range.file));
	text_printf(&row, ", .line = %d,\n\t\t.picoseconds = %lld, .flops = %.17g, ",
		op->range.line, (long long)time, cost.flops);
	fill_in(&row, ".hbm_bytes = %, ", (int64_t[]){whole_bytes(cost.hbm_bytes)});
	if (op_communicates(op))
		fill_in(&row, ".wire_bytes = %, ", (int64_t[]){whole_bytes(cost.wire_bytes)});
	fill_in(&row, ".memory = %, ", &e->needed[op->id]);
	c_quoted(&row, "\n\t\t.bound = ", resource_names[cost.bound]);
	text_add(&row, "},\n");
	return atoll(row_number(e, ROWS_steps, &row));
}

/* ---- dots --------------------------------------------------------------- */

static void
print_start(Emitter *e, const Op *op, const Value *v, const Affine *index, bool constant);

/* The number that a start is: known, an offset, or in memory. */
static void
print_number(Emitter *e, const Op *op, const Node *at)
{
	bool looked_up = at->index->terms;

	if (at->kind == NODE_constant) {
		text_add(&e->run,
			c_constant(e->step, at->value->type.dtype, op_int(at->op, A_value)));
	} else if (at->kind == NODE_scalar) {
		text_add(&e->run, c_offset(e, view_buffer(op, at->value)));
	} else {
		text_add(&e->run, looked_up ? "*(" : "*");
		print_start(e, op, view_buffer(op, at->value), at->index, true);
		text_add(&e->run, looked_up ? ")" : "");
	}
}

/*
 * Where the operand starts, or the result, which may be known only when it runs: of
 * w[pick[i]] at an element of pick, which may be looked up itself.
 */
static void
print_start(Emitter *e, const Op *op, const Value *v, const Affine *index, bool constant)
{
	c_address(e, &e->run, v, index->offset, constant);
	for (const Term *t = index->terms; t; t = t->next) {
		text_printf(&e->run, "\n%s\t+ %lld * shdrt_clamp_i64(0, ", e->indent,
			(long long)t->scale);
		print_number(e, op, t->at->args[0]);
		text_printf(&e->run, ", %lld)", (long long)t->at->limit);
	}
}

void
emit_dot(Emitter *e, const Op *op, const Kernel *k)
{
	DotView v = dot_view(k);
	const Value *sum = e->sums.of[op->id];
	Text row = {0}, *t = &e->run;

	text_printf(&row, "\t{.in = SHDRT_%s, .out = SHDRT_%s, ",
		dtypes[k->root->op->operands[0]->type.dtype].name,
		dtypes[op->results[0]->type.dtype].name);
	fill_in(&row,
		".m = %, .n = %, .k = %,\n"
		"\t\t.a_m = %, .a_k = %, .b_k = %, .b_n = %, .c_m = %,\n",
		(int64_t[]){v.m, v.n, v.k, v.a_m, v.a_k, v.b_k, v.b_n, v.c_m});
	if (v.nloops)
		text_printf(&row,
			"\t\t.nloops = %d, .ncontract = %d, .loops = (const shdrt_dot_loop[]){",
			v.nloops, v.ncontract);
	for (int i = 0; i < v.nloops; i++)
		fill_in(&row, i ? ", {%, %, %, %}" : "{%, %, %, %}",
			(int64_t[]){v.loops[i].extent, v.loops[i].a, v.loops[i].b,
				v.loops[i].c});
	text_add(&row, v.nloops ? "},\n" : "");
	if (v.block_m)
		fill_in(&row, "\t\t.block_m = %, .block_n = %, .block_k = %,\n",
			(int64_t[]){v.block_m, v.block_n, v.block_k});
	text_add(&row, sum ? "\t\t.add = 1,\n\t},\n" : "\t},\n");
	text_printf(t, "%sshdrt_dot_run(&%s, ", e->indent, c_row(e, ROWS_dots, &row));
	print_start(e, op, view_buffer(op, v.a->value), v.a->index, true);
	text_printf(t, ",\n%s\t", e->indent);
	print_start(e, op, view_buffer(op, v.b->value), v.b->index, true);
	text_add(t, ", ");
	print_start(e, op, sum ? sum : op->results[0], &k->store, false);
	text_printf(t, ", slab + %lld);\n", (long long)plan_scratch_offset(e->plan));
}

/* ---- collectives and sorts ---------------------------------------------- */

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
		fill_in(t, i ? ", {%, %}" : "{%, %}", (int64_t[]){stride, r.size});
	}
	text_add(t, "}}");
}

/* The operand as [outer, size, inner] around the dim that is split, gathered
   or sorted. */
static void
print_shape(Text *t, const Op *op)
{
	const Type *type = &op->operands[0]->type;
	int64_t outer = 1, size = type_elements(type), inner = 1;

	if (op_ints(op, A_dim)->n) {
		int dim = (int)op_int(op, A_dim);
		size = type->dims[dim];
		for (int d = 0; d < dim; d++)
			outer *= type->dims[d];
		for (int d = dim + 1; d < type->rank; d++)
			inner *= type->dims[d];
	}
	fill_in(t, "\t\t.outer = %, .size = %, .inner = %,\n", (int64_t[]){outer, size, inner});
}

void
emit_collective(Emitter *e, const Op *op)
{
	const Ints *source = op_ints(op, A_source);
	Text row = {0};
	Strip strip;

	text_printf(&row, "\t{.kind = SHDRT_%s, .dtype = SHDRT_%s", ops[op->kind].name,
		dtypes[op->operands[0]->type.dtype].name);
	if (op_has(op, A_combiner))
		text_printf(&row, ", .combiner = SHDRT_%s",
			combiners[op_int(op, A_combiner)].name);
	text_add(&row, ",\n\t\t.group = ");
	print_splits(e, &row, op->axes);
	if (op->from) {
		text_add(&row, ", .from = ");
		print_splits(e, &row, op->from);
	}
	text_add(&row, ",\n");
	if (source->n) { /* who sends to each member of the group */
		text_add(&row, "\t\t.source = (const int64_t[]){");
		text_numbers(&row, source->n, source->v, ", ");
		text_add(&row, "},\n");
	}
	print_shape(&row, op);
	if (strip_find(op->operands[0], &strip) && strip.run < strip.step)
		fill_in(&row, "\t\t.run = %, .run_step = %,\n",
			(int64_t[]){strip.run, strip.step});
	if (collectives[op->kind].base >= 0)
		fill_in(&row, "\t\t.rows = %,\n", op->results[0]->type.dims);
	if (op->async)
		text_printf(&row, "\t\t.slot = %d,\n", e->flights.slot[op->id]);
	text_printf(&row, "\t\t.step = &steps[%lld],\n\t},\n", (long long)c_step(e, op));
	const char *number = row_number(e, ROWS_collectives, &row);
	e->collective[op->id] = atoi(number);
	text_printf(&e->run, "%sshdrt_%s(dev, &collectives[", e->indent, ops[op->kind].name);
	c_number(&e->run, e->collective[op->id]);
	text_add(&e->run, "], ");
	for (int k = 0; k < op->noperands; k++) {
		if (k == op_base(op))
			continue; /* the result */
		c_address(e, &e->run, op->operands[k], -1, true);
		text_add(&e->run, ", ");
	}
	c_address(e, &e->run, op->results[0], -1, false);
	text_add(&e->run, ");\n");
}

void
emit_done(Emitter *e, const Op *op)
{
	text_printf(&e->run, "%sshdrt_done(dev, &collectives[", e->indent);
	c_number(&e->run, e->collective[op->operands[0]->def->id]);
	text_add(&e->run, "], &steps[");
	c_number(&e->run, c_step(e, op));
	text_add(&e->run, "]);\n");
}

void
emit_sort(Emitter *e, const Op *op)
{
	Text row = {0}, *t = &e->run;

	text_printf(&row, "\t{.key = SHDRT_%s, .descending = %d, .n = %d,\n",
		dtypes[op->operands[0]->type.dtype].name, op_int(op, A_direction) == DIR_GT,
		op->noperands);
	print_shape(&row, op);
	text_add(&row, "\t\t.bytes = (const int[]){");
	for (int i = 0; i < op->noperands; i++)
		text_printf(&row, "%s%d", i ? ", " : "",
			dtypes[op->operands[i]->type.dtype].bytes);
	text_add(&row, "},\n\t},\n");
	text_printf(t, "%sshdrt_sort_run(&%s, (const void *const[]){", e->indent,
		c_row(e, ROWS_sorts, &row));
	for (int i = 0; i < op->noperands; i++) {
		text_add(t, i ? ", " : "");
		c_address(e, t, op->operands[i], -1, true);
	}
	text_printf(t, "},\n%s\t(void *const[]){", e->indent);
	for (int i = 0; i < op->nresults; i++) {
		text_add(t, i ? ", " : "");
		if (e->plan->buffer_of[op->results[i]->id] >= 0)
			c_address(e, t, op->results[i], -1, false);
		else
			text_add(t, "NULL");
	}
	text_printf(t, "}, slab + %lld);\n", (long long)plan_scratch_offset(e->plan));
}

void
emit_grouped(Emitter *e, const Op *op)
{
	const Type *x = &op->operands[0]->type, *other = &op->operands[1]->type;
	const Type *group = &op->operands[2]->type, *result = &op->results[0]->type;
	int last = group->rank - 1;
	bool outer = op->kind == O_grouped_outer;
	int64_t k = type_elements_from(x, last + 1);
	int64_t all = type_elements_from(outer ? result : other, last + 1);
	Text row = {0}, *t = &e->run;

	text_printf(&row, "\t{SHDRT_%s, SHDRT_%s, ", dtypes[x->dtype].name,
		dtypes[result->dtype].name);
	fill_in(&row, "%, %, %, %, %},\n",
		(const int64_t[]){type_elements(group) / group->dims[last], group->dims[last],
			(outer ? result : other)->dims[last], k, all / k});
	text_printf(t, "%sshdrt_%s(&%s, ", e->indent, ops[op->kind].name,
		c_row(e, ROWS_groups, &row));
	for (int i = 0; i < op->noperands; i++) {
		c_address(e, t, op->operands[i], -1, true);
		text_add(t, ", ");
	}
	c_address(e, t, op->results[0], -1, false);
	text_add(t, ");\n");
}

/* ---- parameters and results --------------------------------------------- */

/* "dims_3": an array; those of tensors of equal shape are one.  The text is freed. */
static const char *
share_array(Emitter *e, const char *type, const char *prefix, Text *values)
{
	const char *fresh = arena_printf(e->step, "%s_%d", prefix, e->narrays);
	const char *name = c_share(e, values, fresh);

	if (name == fresh) {
		e->narrays++;
		text_printf(&e->arrays, "static const %s %s[] = {%s};\n", type, name,
			values->s);
	}
	text_free(values);
	return name;
}

static void
print_dims(Emitter *e, Text *t, const char *field, const Type *type)
{
	Text dims = {0};

	if (!type->rank)
		return;
	text_numbers(&dims, type->rank, type->dims, ", ");
	text_printf(t, "\t\t.%s = %s,\n", field, share_array(e, "int64_t", "dims", &dims));
}

static void
print_tensor(Emitter *e, Text *t, const char *name, Text *type, const Value *v, bool param,
	double within)
{
	const Placement *p = &v->placement;
	AxisList unreduced = placement_unreduced(p);
	Type global = value_whole_type(v);
	Text splits = {0};

	c_quoted(t, "\t{.name = ", name);
	c_quoted(t, ", .type_text = ", text_take(type, e->step));
	text_printf(t, ",\n\t\t.dtype = SHDRT_%s, .rank = %d,\n", dtypes[global.dtype].name,
		global.rank);
	print_dims(e, t, "dims", &global);
	print_dims(e, t, "local_dims", &v->type);
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(p, d);
		text_add(&splits, d ? ", " : "");
		print_splits(e, &splits, &axes);
	}
	if (v->type.rank)
		text_printf(t, "\t\t.splits = %s,\n",
			share_array(e, "shdrt_splits", "splits", &splits));
	if (unreduced.n) {
		text_add(t, "\t\t.unreduced = ");
		print_splits(e, t, &unreduced);
		text_printf(t, ", .combiner = SHDRT_%s,\n", combiners[p->combiner].name);
	}
	if (v->positions.end > v->positions.first)
		text_printf(t, "\t\t.first_position = %lld, .end_position = %lld,\n",
			(long long)v->positions.first, (long long)v->positions.end);
	if (param && plan_keeps(e->plan, v))
		text_add(t, "\t\t.kept = 1,\n");
	if (within > 0)
		text_printf(t, "\t\t.within = %g,\n", within);
	text_printf(t, "\t\t.offset = %lld,\n\t},\n", (long long)plan_offset(e->plan, v));
}

static void
print_tensors(Emitter *e, Text *t)
{
	const Module *m = e->module;
	const Block *entry = m->entry;
	const char **names = NEW_ARRAY(e->step, const char *, m->nvalues + 1);
	const double *within = allowed_rounding(e->step, m);
	Text tensors = {0}, type = {0};

	/* What the user called each value. */
	for (int i = m->nnamed - 1; i >= 0; i--)
		if (m->named[i].value)
			names[m->named[i].value->id] = m->named[i].name;
	if (entry->nparams)
		text_add(&tensors, "static const shdrt_tensor params[] = {\n");
	for (int i = 0; i < entry->nparams; i++) {
		const Value *v = entry->params[i];
		text_value(&type, &m->mesh, v);
		print_tensor(e, &tensors, names[v->id] ? names[v->id] : v->name, &type, v, true,
			0);
	}
	if (entry->nparams)
		text_add(&tensors, "};\n\n");
	text_add(&tensors, "static const shdrt_tensor results[] = {\n");
	for (int i = 0; i < entry->last->noperands; i++) {
		const Value *v = entry->last->operands[i];
		text_declared(&type, m, i);
		print_tensor(e, &tensors, m->results[i].name, &type, v, false, within[i]);
	}
	if (e->arrays.n)
		text_printf(t, "%s\n", e->arrays.s);
	text_printf(t, "%s};\n\n", tensors.s);
	text_free(&tensors);
	text_free(&e->arrays);
}

/* ---- the program -------------------------------------------------------- */

/* One string a line, so that the text can be read in the C file too. */
static void
print_hlo(Text *t, const char *what, const char *name, const char *s, size_t n)
{
	text_printf(t, "/* the unsharded program%s, for --check */\nstatic const char %s[] =\n",
		what, name);
	for (size_t i = 0, end; i < n; i = end) {
		const char *newline = memchr(s + i, '\n', n - i);
		end = newline ? (size_t)(newline - s) + 1 : n;
		text_add(t, "\t");
		c_string(t, s + i, end - i);
		text_add(t, end < n ? "\n" : ";\n\n");
	}
}

/* What --check compares with, and where uniform() is looked at, if that is another. */
static void
print_unsharded(const EmitOptions *options, Text *t)
{
	if (!options->hlo)
		return;
	print_hlo(t, "", "hlo", options->hlo, options->hlo_bytes);
	if (options->vouched && options->vouched != options->hlo)
		print_hlo(t, " with its manual functions", "vouched", options->vouched,
			options->vouched_bytes);
	text_add(t,
		"int shdeval_check(const char *text, size_t n, "
		"const shdrt_check_io *io);\n\n");
}

void
emit_program(Emitter *e, Text *t)
{
	const Module *m = e->module;
	const Mesh *mesh = &m->mesh;
	const char *params = m->entry->nparams ? "params" : "NULL";
	const char *text = e->options->vouched == e->options->hlo ? "hlo" : "vouched";
	Work work = module_ledger(e->plan->module)->work;

	print_tensors(e, t);
	if (mesh->naxes)
		text_add(t, "static const shdrt_axis axes[] = {\n");
	for (int a = 0; a < mesh->naxes; a++) {
		c_quoted(t, "\t{", mesh->axes[a].name);
		fill_in(t, ", %},\n", &mesh->axes[a].size);
	}
	if (mesh->naxes)
		text_add(t, "};\n\n");
	print_unsharded(e->options, t);

	text_add(t, "static const shdrt_program program = {\n\t.abi = SHDRT_ABI,\n");
	c_quoted(t, "\t.name = ", m->name);
	c_quoted(t, ",\n\t.source = ", source_path(m->session, 1));
	text_printf(t, ",\n\t.naxes = %d, .axes = %s, .ndevices = %lld,\n", mesh->naxes,
		mesh->naxes ? "axes" : "NULL", (long long)mesh->ndevices);
	text_printf(t, "\t.nparams = %d, .params = %s,\n", m->entry->nparams, params);
	text_printf(t, "\t.nresults = %d, .results = results,\n", m->entry->last->noperands);
	if (e->rows[ROWS_steps].n)
		text_printf(t, "\t.nsteps = %d, .steps = steps,\n", e->rows[ROWS_steps].n);
	if (e->rows[ROWS_collectives].n)
		text_printf(t, "\t.ncollectives = %d, .collectives = collectives,\n",
			e->rows[ROWS_collectives].n);
	if (e->flights.n)
		text_printf(t, "\t.nslots = %d,\n", e->flights.n);
	if (e->options->externs && e->options->externs->n)
		text_add(t, "\t.externs = &externs,\n");
	fill_in(t, "\t.slab_bytes = %, .device_bytes = %,\n",
		(int64_t[]){plan_slab(e->plan), plan_peak(e->plan)});
	if (e->module->keep_inputs)
		text_add(t, "\t.keeps_inputs = 1,\n");
	text_printf(t, "\t.flops = %lld, .wire_bytes = %lld,\n",
		(long long)whole_bytes(work.flops), (long long)work.wire_bytes);
	text_printf(t, "\t.target = \"%s\", .target_memory = %lld,\n\t.run = run,\n",
		mesh->target->name, (long long)mesh->target->hbm_bytes);
	if (e->options->hlo)
		text_add(t,
			"\t.hlo = hlo, .hlo_bytes = sizeof hlo - 1, .check = shdeval_check,\n");
	if (e->options->hlo)
		fill_in(t, "\t.check_bytes = %,\n", (int64_t[]){e->options->check_bytes});
	if (e->options->vouched)
		text_printf(t, "\t.vouched = %s, .vouched_bytes = sizeof %s - 1,\n", text,
			text);
	text_add(t,
		"};\n\nint\nmain(int argc, char **argv)\n{\n"
		"\treturn shdrt_main(&program, argc, argv);\n}\n");
}
