/*
 * tree_print.c - the syntax tree as text, for --emit=ast.
 *
 * A program again, in which every operator has its parentheses and every list
 * one form, so that what was parsed can be read off it.
 */
#include <inttypes.h>
#include <string.h>

#include "tree.h"

static const char *const spellings[] = {
#define OPERATOR(id, spelling, op, direction, takes) spelling,
#include "operators.def"
#undef OPERATOR
};

typedef void Writer(Text *t, const void *item);

/* "open", the items with commas between them, "close" */
static void
text_list(Text *t, const char *open, List items, Writer *write, const char *close)
{
	text_add(t, open);
	for (int i = 0; i < items.n; i++) {
		text_add(t, i > 0 ? ", " : "");
		write(t, items.v[i]);
	}
	text_add(t, close);
}

static void
text_string(Text *t, const char *before, const char *s)
{
	text_printf(t, "%s\"", before);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			text_add(t, "\\");
		text_add(t, *s == '\n' ? "\\n" : (char[]){*s, '\0'});
	}
	text_add(t, "\"");
}

static Writer text_expr;

/* ---- types */

static void
text_axis_spec(Text *t, const void *item)
{
	const AxisSpec *a = item;
	text_add(t, a->name.s);
	if (a->sub)
		text_printf(t, ":(%" PRId64 ")%" PRId64, a->pre, a->size);
}

static void
text_dim_spec(Text *t, const void *item)
{
	const DimSpec *dim = item;
	if (dim->size != NULL)
		text_expr(t, dim->size);
	else
		text_add(t, "_");
	if (dim->placed) {
		text_list(t, "@(", dim->axes, text_axis_spec, "");
		text_add(t, dim->open && dim->axes.n > 0 ? ", " : "");
		text_add(t, dim->open ? "?)" : ")");
	}
	if (dim->priority_range.file != 0)
		text_printf(t, "!%" PRId64, dim->priority);
	text_add(t, dim->pad ? " pad" : "");
}

static void
text_type_spec(Text *t, const TypeSpec *type)
{
	if (type->name.s != NULL)
		text_add(t, type->name.s);
	if (type->has_dtype)
		text_add(t, dtypes[type->dtype].name);
	if (type->has_dims)
		text_list(t, "[", type->dims, text_dim_spec, "]");
	text_add(t, type->open ? " @?" : "");
	text_add(t, type->replicated ? " replicated" : "");
	if (type->replicated && type->replicated_axes.n > 0)
		text_list(t, "(", type->replicated_axes, text_axis_spec, ")");
	if (type->unreduced)
		text_list(t, " unreduced(", type->unreduced_axes, text_axis_spec, ")");
}

/* ---- expressions */

static void
text_arg(Text *t, const void *item)
{
	const Arg *a = item;
	if (a->name.s != NULL)
		text_printf(t, "%s=", a->name.s);
	text_expr(t, a->value);
}

/* A part of a slice, of a range or of none; it may be left out. */
static void
text_bound(Text *t, const char *before, const Expr *x)
{
	text_add(t, before);
	if (x != NULL)
		text_expr(t, x);
}

static void
text_index(Text *t, const void *item)
{
	const Index *index = item;
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

static void
text_expr(Text *t, const void *item)
{
	const Expr *x = item;
	switch (x->kind) {
	case E_name:
		text_add(t, x->name);
		break;
	case E_int:
		text_printf(t, "%" PRId64, x->integer);
		break;
	case E_float:
		text_printf(t, "%#.17g", x->real);
		break;
	case E_bool:
		text_add(t, x->integer ? "true" : "false");
		break;
	case E_string:
		text_string(t, "", x->name);
		break;
	case E_type:
		text_type_spec(t, x->type);
		break;
	case E_unary:
		text_printf(t, "(%s", spellings[x->op]);
		text_expr(t, x->left);
		text_add(t, ")");
		break;
	case E_binary:
		text_bound(t, "(", x->left);
		text_printf(t, " %s ", spellings[x->op]);
		text_bound(t, "", x->right);
		text_add(t, ")");
		break;
	case E_tuple:
		text_list(t, "(", x->args, text_expr, x->args.n == 1 ? ",)" : ")");
		break;
	case E_cast:
		text_add(t, dtypes[x->dtype].name);
		text_list(t, "(", x->args, text_arg, ")");
		break;
	case E_call:
		text_expr(t, x->left);
		text_list(t, "(", x->args, text_arg, ")");
		break;
	case E_index:
		text_expr(t, x->left);
		text_list(t, "[", x->args, text_index, "]");
		break;
	case E_member:
		text_expr(t, x->left);
		text_printf(t, ".%s", x->name);
		break;
	case E_error:
		break;
	}
}

const char *
tree_text(Arena *a, const Expr *x)
{
	Text t = {0};
	text_expr(&t, x);
	return text_take(&t, a);
}

/* ---- statements */

/* A name and a type; only one of them may be there. */
static void
text_param(Text *t, const void *item)
{
	const Param *p = item;
	text_add(t, p->name.s != NULL ? p->name.s : "_");
	text_add(t, p->type != NULL ? ": " : "");
	if (p->type != NULL)
		text_type_spec(t, p->type);
}

static void
text_result(Text *t, const void *item)
{
	const Param *p = item;
	if (p->name.s != NULL)
		text_param(t, p);
	else
		text_type_spec(t, p->type);
}

static void
text_targets(Text *t, const Stmt *stmt)
{
	text_list(t, stmt->tuple ? "(" : "", stmt->targets, text_param, stmt->tuple ? ")" : "");
}

static void
text_body(Text *t, List body, int indent)
{
	text_add(t, "{\n");
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		text_printf(t, "%*s", 2 * (indent + 1), "");
		switch (s->kind) {
		case S_let:
		case S_var:
			text_add(t, s->kind == S_let ? "let " : "var ");
			text_targets(t, s);
			text_bound(t, " = ", s->value);
			break;
		case S_assign:
			text_expr(t, s->target);
			text_bound(t, " = ", s->value);
			break;
		case S_return:
			text_list(t, "return ", s->values, text_expr, "");
			break;
		case S_expect:
			text_bound(t, "expect ", s->target);
			text_add(t, ": ");
			text_type_spec(t, s->type);
			break;
		case S_expr:
			text_expr(t, s->value);
			break;
		case S_for:
			text_add(t, s->unroll ? "for unroll " : "for ");
			if (s->index.s != NULL)
				text_printf(t, "%s, ", s->index.s);
			text_targets(t, s);
			text_bound(t, " in ", s->value);
			text_bound(t, s->stop != NULL ? ".." : "", s->stop);
			break;
		case S_while:
		case S_if:
			text_bound(t, s->kind == S_if ? "if " : "while ", s->value);
			break;
		case S_lost:
			break;
		}
		if (s->kind == S_for || s->kind == S_while || s->kind == S_if) {
			text_add(t, " ");
			text_body(t, s->body, indent + 1);
			if (s->otherwise.n > 0) {
				text_add(t, " else ");
				text_body(t, s->otherwise, indent + 1);
			}
		} else {
			text_add(t, ";");
		}
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
		[FN_manual] = "manual ",
		[FN_extern] = "extern ",
	};
	text_add(t, fn->checkpoint ? "checkpoint " : "");
	if (fn->mode == FN_manual && fn->manual_axes.n > 0)
		text_list(t, "manual(", fn->manual_axes, text_axis_spec, ") ");
	else
		text_add(t, modes[fn->mode]);
	text_printf(t, "fn %s", fn->name.s);
	text_list(t, "(", fn->params, text_param, ")");
	if (fn->has_results)
		text_list(t, " -> (", fn->results, text_result, ")");
	if (fn->same_as.s != NULL)
		text_printf(t, " same as %s", fn->same_as.s);
	if (fn->mode == FN_extern) {
		text_string(t, " = ", fn->symbol.s);
		text_string(t, " in ", fn->library.s);
		text_string(t, " rule ", fn->rule.s);
	}
	if (fn->gradient.s != NULL)
		text_printf(t, " gradient %s", fn->gradient.s);
	text_add(t, fn->mode == FN_extern ? ";" : " ");
	if (fn->mode != FN_extern)
		text_body(t, fn->body, 0);
}

static void
text_mesh_axis(Text *t, const void *item)
{
	const Decl *axis = item;
	text_printf(t, "%s=", axis->name.s);
	text_expr(t, axis->value);
}

static void
text_laid_axis(Text *t, const void *item)
{
	const LaidAxis *laid = item;
	bool several = laid->parts.n > 1;
	text_printf(t, "%s=", laid->name.s);
	text_list(t, several ? "(" : "", laid->parts, text_axis_spec, several ? ")" : "");
}

bool
tree_print(Session *s, int file, Text *t)
{
	const Program *program = parse_file(s, file, DIAG_syntax);
	for (int i = 0; program->right && i < program->items.n; i++) {
		const Decl *d = program->items.v[i];
		switch (d->kind) {
		case DECL_fn:
			text_fn(t, d->fn);
			break;
		case DECL_mesh:
			text_list(t, "mesh [", d->axes, text_mesh_axis, "]");
			if (d->target.s != NULL)
				text_string(t, " on ", d->target.s);
			if (d->layout.n > 0)
				text_list(t, " layout (", d->layout, text_laid_axis, ")");
			text_add(t, ";");
			break;
		case DECL_import:
			text_string(t, "import ", d->name.s);
			text_add(t, ";");
			break;
		case DECL_dim:
			text_printf(t, "dim %s = ", d->name.s);
			text_expr(t, d->value);
			text_add(t, ";");
			break;
		case DECL_type:
			text_printf(t, "type %s = ", d->name.s);
			text_type_spec(t, d->type);
			text_add(t, ";");
			break;
		}
		text_add(t, "\n");
	}
	return program->right;
}
