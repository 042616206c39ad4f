/*
 * tree_print.c - the syntax tree as text, for --emit=ast.
 *
 * A program again, in which every operator has its parentheses and every list
 * one form, so that what was parsed can be read off it.
 */
#include <inttypes.h>
#include <string.h>

#include "tree.h"

static void text_expr(Text *t, const Expr *x);
static void text_body(Text *t, List body, int indent);

static const char *const spellings[] = {
#define OPERATOR(id, spelling, op, direction) spelling,
#include "operators.def"
#undef OPERATOR
};

static void
comma(Text *t, int i)
{
	if (i > 0)
		text_add(t, ", ");
}

/* ---- types */

static void
text_axis_specs(Text *t, List axes)
{
	for (int i = 0; i < axes.n; i++) {
		const AxisSpec *a = axes.v[i];
		comma(t, i);
		text_add(t, a->name.s);
		if (a->sub)
			text_printf(t, ":(%" PRId64 ")%" PRId64, a->pre, a->size);
	}
}

static void
text_dim_spec(Text *t, const DimSpec *dim)
{
	if (dim->size != NULL)
		text_expr(t, dim->size);
	else
		text_add(t, "_");
	if (dim->placed) {
		text_add(t, "@(");
		text_axis_specs(t, dim->axes);
		comma(t, dim->open && dim->axes.n > 0);
		text_add(t, dim->open ? "?)" : ")");
	}
	if (dim->priority_range.file != 0)
		text_printf(t, "!%" PRId64, dim->priority);
	if (dim->pad)
		text_add(t, " pad");
}

static void
text_type_spec(Text *t, const TypeSpec *type)
{
	if (type->name.s != NULL)
		text_add(t, type->name.s);
	if (type->has_dtype)
		text_add(t, dtypes[type->dtype].name);
	if (type->has_dims) {
		text_add(t, "[");
		for (int i = 0; i < type->dims.n; i++) {
			comma(t, i);
			text_dim_spec(t, type->dims.v[i]);
		}
		text_add(t, "]");
	}
	if (type->open)
		text_add(t, " @?");
	if (type->replicated) {
		text_add(t, " replicated");
		if (type->replicated_axes.n > 0) {
			text_add(t, "(");
			text_axis_specs(t, type->replicated_axes);
			text_add(t, ")");
		}
	}
	if (type->unreduced) {
		text_add(t, " unreduced(");
		text_axis_specs(t, type->unreduced_axes);
		text_add(t, ")");
	}
}

/* ---- expressions */

static void
text_string(Text *t, const char *s)
{
	text_add(t, "\"");
	for (; *s != '\0'; s++) {
		if (*s == '\n') {
			text_add(t, "\\n");
			continue;
		}
		if (*s == '"' || *s == '\\')
			text_add(t, "\\");
		text_addn(t, s, 1);
	}
	text_add(t, "\"");
}

static void
text_args(Text *t, List args)
{
	text_add(t, "(");
	for (int i = 0; i < args.n; i++) {
		const Arg *a = args.v[i];
		comma(t, i);
		if (a->name.s != NULL)
			text_printf(t, "%s=", a->name.s);
		text_expr(t, a->value);
	}
	text_add(t, ")");
}

static void
text_bound(Text *t, const char *before, const Expr *x)
{
	text_add(t, before);
	if (x != NULL)
		text_expr(t, x);
}

static void
text_indices(Text *t, List indices)
{
	text_add(t, "[");
	for (int i = 0; i < indices.n; i++) {
		const Index *index = indices.v[i];
		comma(t, i);
		if (index->kind == INDEX_new)
			text_add(t, "new");
		else if (index->kind == INDEX_ellipsis)
			text_add(t, "...");
		else
			text_bound(t, "", index->start);
		if (index->kind == INDEX_range) {
			text_bound(t, ":", index->stop);
			text_bound(t, index->step != NULL ? ":" : "", index->step);
		}
	}
	text_add(t, "]");
}

static void
text_leaf(Text *t, const Expr *x)
{
	if (x->kind == E_name)
		text_add(t, x->name);
	else if (x->kind == E_int)
		text_printf(t, "%" PRId64, x->integer);
	else if (x->kind == E_float)
		text_printf(t, "%#.17g", x->real);
	else if (x->kind == E_bool)
		text_add(t, x->integer ? "true" : "false");
	else if (x->kind == E_string)
		text_string(t, x->name);
	else
		text_type_spec(t, x->type);
}

static void
text_operator(Text *t, const Expr *x)
{
	text_add(t, "(");
	if (x->kind == E_binary) {
		text_expr(t, x->left);
		text_printf(t, " %s ", spellings[x->op]);
		text_expr(t, x->right);
	} else {
		text_add(t, spellings[x->op]);
		text_expr(t, x->left);
	}
	text_add(t, ")");
}

static void
text_tuple(Text *t, const Expr *x)
{
	text_add(t, "(");
	for (int i = 0; i < x->args.n; i++) {
		comma(t, i);
		text_expr(t, x->args.v[i]);
	}
	text_add(t, x->args.n == 1 ? ",)" : ")");
}

static void
text_postfix(Text *t, const Expr *x)
{
	if (x->kind == E_cast)
		text_add(t, dtypes[x->dtype].name);
	else
		text_expr(t, x->left);
	if (x->kind == E_member)
		text_printf(t, ".%s", x->name);
	else if (x->kind == E_index)
		text_indices(t, x->args);
	else
		text_args(t, x->args);
}

static void (*const writers[])(Text *t, const Expr *x) = {
	[E_error] = text_leaf,
	[E_name] = text_leaf,
	[E_int] = text_leaf,
	[E_float] = text_leaf,
	[E_bool] = text_leaf,
	[E_string] = text_leaf,
	[E_type] = text_leaf,
	[E_unary] = text_operator,
	[E_binary] = text_operator,
	[E_tuple] = text_tuple,
	[E_call] = text_postfix,
	[E_cast] = text_postfix,
	[E_index] = text_postfix,
	[E_member] = text_postfix,
};

static void
text_expr(Text *t, const Expr *x)
{
	writers[x->kind](t, x);
}

/* ---- statements */

/* Names and types; `unnamed` stands for a missing name before a type or
   alone, or is NULL where the type stands alone. */
static void
text_params(Text *t, List params, const char *unnamed)
{
	for (int i = 0; i < params.n; i++) {
		const Param *p = params.v[i];
		const char *name = p->name.s != NULL ? p->name.s : unnamed;
		comma(t, i);
		text_add(t, name != NULL ? name : "");
		if (p->type != NULL) {
			text_add(t, name != NULL ? ": " : "");
			text_type_spec(t, p->type);
		}
	}
}

static void
text_targets(Text *t, const Stmt *s)
{
	text_add(t, s->tuple ? "(" : "");
	text_params(t, s->targets, "_");
	text_add(t, s->tuple ? ")" : "");
}

static void
text_let(Text *t, const Stmt *s, int indent)
{
	(void)indent;
	text_add(t, s->kind == S_let ? "let " : "var ");
	text_targets(t, s);
	text_add(t, " = ");
	text_expr(t, s->value);
	text_add(t, ";");
}

static void
text_assign(Text *t, const Stmt *s, int indent)
{
	(void)indent;
	text_expr(t, s->target);
	text_add(t, " = ");
	text_expr(t, s->value);
	text_add(t, ";");
}

static void
text_expr_stmt(Text *t, const Stmt *s, int indent)
{
	(void)indent;
	text_expr(t, s->value);
	text_add(t, ";");
}

static void
text_return(Text *t, const Stmt *s, int indent)
{
	(void)indent;
	text_add(t, "return ");
	for (int i = 0; i < s->values.n; i++) {
		comma(t, i);
		text_expr(t, s->values.v[i]);
	}
	text_add(t, ";");
}

static void
text_expect(Text *t, const Stmt *s, int indent)
{
	(void)indent;
	text_add(t, "expect ");
	text_expr(t, s->target);
	text_add(t, ": ");
	text_type_spec(t, s->type);
	text_add(t, ";");
}

static void
text_for(Text *t, const Stmt *s, int indent)
{
	text_add(t, s->unroll ? "for unroll " : "for ");
	if (s->index.s != NULL)
		text_printf(t, "%s, ", s->index.s);
	text_targets(t, s);
	text_add(t, " in ");
	text_expr(t, s->value);
	if (s->stop != NULL)
		text_bound(t, "..", s->stop);
	text_add(t, " ");
	text_body(t, s->body, indent);
}

static void
text_if(Text *t, const Stmt *s, int indent)
{
	text_add(t, s->kind == S_if ? "if " : "while ");
	text_expr(t, s->value);
	text_add(t, " ");
	text_body(t, s->body, indent);
	if (s->otherwise.n > 0) {
		text_add(t, " else ");
		text_body(t, s->otherwise, indent);
	}
}

static void (*const stmt_writers[])(Text *t, const Stmt *s, int indent) = {
	[S_let] = text_let,
	[S_var] = text_let,
	[S_assign] = text_assign,
	[S_for] = text_for,
	[S_while] = text_if,
	[S_if] = text_if,
	[S_return] = text_return,
	[S_expect] = text_expect,
	[S_expr] = text_expr_stmt,
};

static void
text_body(Text *t, List body, int indent)
{
	text_add(t, "{\n");
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		text_printf(t, "%*s", 2 * (indent + 1), "");
		stmt_writers[s->kind](t, s, indent + 1);
		text_add(t, "\n");
	}
	text_printf(t, "%*s}", 2 * indent, "");
}

/* ---- declarations */

static void
text_fn(Text *t, const FnDecl *fn)
{
	static const char *const modes[] = {
		[FN_auto] = "",
		[FN_explicit] = "explicit ",
		[FN_manual] = "manual",
		[FN_extern] = "extern ",
	};
	text_add(t, modes[fn->mode]);
	if (fn->mode == FN_manual) {
		text_add(t, fn->manual_axes.n > 0 ? "(" : "");
		text_axis_specs(t, fn->manual_axes);
		text_add(t, fn->manual_axes.n > 0 ? ") " : " ");
	}
	text_printf(t, "fn %s(", fn->name.s);
	text_params(t, fn->params, "_");
	text_add(t, ")");
	if (fn->has_results) {
		text_add(t, " -> (");
		text_params(t, fn->results, NULL);
		text_add(t, ")");
	}
	text_add(t, " ");
	if (fn->mode != FN_extern) {
		text_body(t, fn->body, 0);
		return;
	}
	text_add(t, "= ");
	text_string(t, fn->symbol.s);
	text_add(t, " in ");
	text_string(t, fn->library.s);
	text_add(t, " rule ");
	text_string(t, fn->rule.s);
	text_add(t, ";");
}

static void
text_mesh(Text *t, const Decl *d)
{
	text_add(t, "mesh [");
	for (int i = 0; i < d->axes.n; i++) {
		const Decl *axis = d->axes.v[i];
		comma(t, i);
		text_printf(t, "%s=", axis->name.s);
		text_expr(t, axis->value);
	}
	text_add(t, "]");
	if (d->target.s != NULL) {
		text_add(t, " on ");
		text_string(t, d->target.s);
	}
	text_add(t, ";");
}

static void
text_decl(Text *t, const Decl *d)
{
	if (d->kind == DECL_fn)
		text_fn(t, d->fn);
	else if (d->kind == DECL_mesh)
		text_mesh(t, d);
	if (d->kind == DECL_import) {
		text_add(t, "import ");
		text_string(t, d->name.s);
		text_add(t, ";");
	}
	if (d->kind == DECL_dim || d->kind == DECL_type)
		text_printf(t, "%s %s = ", d->kind == DECL_dim ? "dim" : "type", d->name.s);
	if (d->kind == DECL_dim)
		text_expr(t, d->value);
	if (d->kind == DECL_type)
		text_type_spec(t, d->type);
	text_add(t, d->kind == DECL_dim || d->kind == DECL_type ? ";\n" : "\n");
}

void
text_program(Text *t, const Program *program)
{
	for (int i = 0; i < program->items.n; i++)
		text_decl(t, program->items.v[i]);
}

bool
tree_print(Session *session, int file, Text *t)
{
	const Program *program = parse_file(session, file, DIAG_syntax);
	if (program == NULL)
		return false;
	text_program(t, program);
	return true;
}
