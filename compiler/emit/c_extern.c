/*
 * c_extern.c - calls of the user's C functions.
 *
 *   {.function = 0, .name = "swish", .file = "act.shd", .line = 7},
 *
 *   shdrt_extern_enter(dev, &extern_calls[0]);
 *   shdrt_extern_leave(dev, &extern_calls[0],
 *           ((int (*)(const shdrt_view *, const shdrt_view *))functions[0])(
 *                   &(shdrt_view){slab + 0, ...}, &(shdrt_view){...}));
 *
 * A function is never called by its symbol, which might be one of ours.
 */
#include "emit/c.h"

static void
print_numbers(Text *t, const Type *type, bool strides)
{
	int64_t v[MAX_RANK], stride = 1;

	for (int d = type->rank - 1; d >= 0; d--) {
		v[d] = strides ? stride : type->dims[d];
		stride *= type->dims[d];
	}
	text_add(t, "(const int64_t[]){");
	text_numbers(t, type->rank, v, ", ");
	text_add(t, type->rank ? "}" : "0}");
}

void
emit_extern(Emitter *e, const Op *op)
{
	const Externs *all = e->options->externs;
	const External *external = op->external;
	int n = op->noperands + op->nresults, function = 0;
	Text row = {0}, *t = &e->run;

	while (function < all->n && !external_equal(e->module, all->v[function], external))
		function++;
	if (function == all->n)
		die("extern function '%s' is not in the program's table", external->name);
	text_printf(&row, "\t{.function = %d", function);
	c_quoted(&row, ", .name = ", external->name);
	c_quoted(&row, ", .file = ", source_path(e->module->session, op->range.file));
	text_printf(&row, ", .line = %d},\n", op->range.line);
	const char *call = c_row(e, ROWS_extern_calls, &row);
	text_printf(t,
		"%sshdrt_extern_enter(dev, &%s);\n"
		"%sshdrt_extern_leave(dev, &%s, ((int (*)(",
		e->indent, call, e->indent, call);
	for (int i = 0; i < n; i++)
		text_printf(t, "%sconst shdrt_view *", i ? ", " : "");
	text_printf(t, "))functions[%d])(\n", function);
	for (int i = 0; i < n; i++) {
		const Value *v = rule_tensor(op, i);
		text_printf(t, "%s\t\t&(const shdrt_view){", e->indent);
		c_address(e, t, v, -1, false);
		text_printf(t, ", SHDRT_%s, %d, ", dtypes[v->type.dtype].name, v->type.rank);
		print_numbers(t, &v->type, false);
		text_add(t, ", ");
		print_numbers(t, &v->type, true);
		text_add(t, i < n - 1 ? "},\n" : "}));\n");
	}
}

void
print_externs(Emitter *e, Text *t)
{
	const Externs *all = e->options->externs;

	/* The unsharded program may call what this one has no use for. */
	if (!all || !all->n)
		return;
	text_add(t, "static const shdrt_extern extern_table[] = {\n");
	for (int i = 0; i < all->n; i++) {
		const External *external = all->v[i];
		c_quoted(t, "\t{.symbol = ", external->symbol);
		c_quoted(t, ", .library = ", external->library);
		c_quoted(t, ",\n\t\t.file = ",
			source_path(e->module->session, external->declared.file));
		c_quoted(t, ", .path = ", all->paths ? all->paths[i] : external->library);
		text_add(t, "},\n");
	}
	text_printf(t, "};\nstatic shdrt_function *functions[%d];\n", all->n);
	if (e->options->hlo)
		text_add(t,
			"int shdeval_call(shdrt_function *f, "
			"const shdrt_extern_call *place, int n,\n"
			"\tconst shdrt_view *views);\n");
	text_printf(t,
		"static const shdrt_externs externs = {%d, extern_table, "
		"functions, %s};\n\n",
		all->n, e->options->hlo ? "shdeval_call" : "NULL");
}
