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
#include <string.h>
#include "emit/c.h"

static void
quoted(Text *t, const char *before, const char *s)
{
	text_add(t, before);
	c_string(t, s, strlen(s));
}

static const char *
path_of(const Emitter *e, Range r)
{
	return r.file ? source_file(e->module->session, r.file)->path : "";
}

static int
function_number(const Emitter *e, const External *x)
{
	const Externs *all = e->options->externs;

	for (int i = 0; i < all->n; i++)
		if (external_equal(e->module, all->v[i], x))
			return i;
	die("extern function '%s' is not in the program's table", x->name);
}

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

static void
print_view(Emitter *e, const Value *v)
{
	text_printf(&e->run, "%s\t\t&(const shdrt_view){", e->indent);
	c_address(e, &e->run, v, -1, false);
	text_printf(&e->run, ", SHDRT_%s, %d, ", dtypes[v->type.dtype].name, v->type.rank);
	print_numbers(&e->run, &v->type, false);
	text_add(&e->run, ", ");
	print_numbers(&e->run, &v->type, true);
	text_add(&e->run, "}");
}

void
emit_extern(Emitter *e, const Op *op)
{
	int function = function_number(e, op->external);
	int n = op->noperands + op->nresults;
	Text row = {0};

	text_printf(&row, "\t{.function = %d", function);
	quoted(&row, ", .name = ", op->external->name);
	quoted(&row, ", .file = ", path_of(e, op->range));
	text_printf(&row, ", .line = %d},\n", op->range.line);
	const char *call = c_share_row(e, &e->calls, &e->ncalls, &row);
	text_free(&row);
	text_printf(&e->run,
		"%sshdrt_extern_enter(dev, &extern_calls[%s]);\n"
		"%sshdrt_extern_leave(dev, &extern_calls[%s], ((int (*)(",
		e->indent, call, e->indent, call);
	for (int i = 0; i < n; i++)
		text_printf(&e->run, "%sconst shdrt_view *", i ? ", " : "");
	text_printf(&e->run, "))functions[%d])(\n", function);
	for (int i = 0; i < n; i++) {
		print_view(e, rule_tensor(op, i));
		text_add(&e->run, i < n - 1 ? ",\n" : "));\n");
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
		const External *x = all->v[i];
		quoted(t, "\t{.symbol = ", x->symbol);
		quoted(t, ", .library = ", x->library);
		quoted(t, ",\n\t\t.file = ", path_of(e, x->declared));
		quoted(t, ", .path = ", all->paths ? all->paths[i] : x->library);
		text_add(t, "},\n");
	}
	text_printf(t, "};\nstatic shdrt_function *functions[%d];\n", all->n);
	if (e->ncalls)
		text_printf(t,
			"static const shdrt_extern_call extern_calls[] "
			"= {\n%s};\n",
			e->calls.s);
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
