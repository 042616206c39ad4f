/*
 * reference.c - functions that must equal others.
 *
 *   manual fn f(x: f32[8@X], y: f32[8]) -> f32[8@X] same as g { ... }
 *
 * The program is elaborated a second time, to be what --check compares with.  There f is
 *
 *   fn f(x: f32[8@X], y: f32[8]) -> f32[8@X] { return g(x, y); }
 *
 * so that whatever does not agree is told as it is of any call.  What gradient of f the
 * program says is left out: there it is that of g, which may say one.
 */
#include "functions/builtins.h"

void
check_same_as(Elab *e, const FnDecl *fn)
{
	static const char *const modes[] = {
		[FN_explicit] = "explicit",
		[FN_manual] = "manual",
		[FN_extern] = "extern",
	};
	Name name = fn->same_as;
	const Function *other = name.s != NULL ? table_get(e->functions, name.s) : NULL;
	if (name.s == NULL)
		return;
	if (fn->mode != FN_manual) {
		complain(e, DIAG_same_as, name.range,
			"'%s' is not manual: it is what it computes on whole tensors",
			fn->name.s);
	} else if (other == NULL && builtin_find(name.s) == NULL) {
		report_unknown_function(e, name.range, name.s);
	} else if (other != NULL && other->decl->mode != FN_auto) {
		complain(e, DIAG_same_as, name.range,
			"'%s' is %s; what a manual function is the same as is a plain fn",
			name.s, modes[other->decl->mode]);
		diag_note(e->session, other->decl->name.range, "'%s' is declared here", name.s);
	} else if (other != NULL && other->decl->params.n != fn->params.n && !fn->lost
		&& !other->decl->lost) {
		int n = other->decl->params.n;
		complain(e, DIAG_same_as, name.range, "'%s' takes %d argument%s, '%s' %d",
			name.s, n, n == 1 ? "" : "s", fn->name.s, fn->params.n);
		diag_note(e->session, other->decl->name.range, "'%s' is declared here", name.s);
		diag_note(e->session, nowhere,
			"both have the same parameters and results, as whole tensors");
	}
}

/* g(x, y) */
static Expr *
call_of_reference(Elab *e, const FnDecl *fn)
{
	Range r = fn->same_as.range;
	Expr *call = NEW(e->arena, Expr);
	call->left = NEW(e->arena, Expr);
	*call->left = (Expr){.kind = E_name, .range = r, .name = fn->same_as.s};
	call->kind = E_call;
	call->range = r;
	for (int i = 0; i < fn->params.n; i++) {
		Arg *arg = NEW(e->arena, Arg);
		arg->range = r;
		arg->value = NEW(e->arena, Expr);
		*arg->value = (Expr){.kind = E_name,
			.range = r,
			.name = ((Param *)fn->params.v[i])->name.s};
		APPEND(e->arena, call->args.v, call->args.n, (void *)arg);
	}
	return call;
}

bool
replace_by_references(Elab *e)
{
	bool any = false;
	for (int i = 0; i < table_count(e->functions); i++) {
		Function *function = table_value(e->functions, i);
		FnDecl *fn = NEW(e->arena, FnDecl);
		Stmt *stmt = NEW(e->arena, Stmt);
		*fn = *function->decl;
		if (fn->same_as.s == NULL)
			continue;
		*stmt = (Stmt){.kind = S_return, .range = fn->same_as.range};
		APPEND(e->arena, stmt->values.v, stmt->values.n,
			(void *)call_of_reference(e, fn));
		fn->mode = FN_auto;
		fn->gradient = (Name){0};
		fn->body = (List){0};
		APPEND(e->arena, fn->body.v, fn->body.n, (void *)stmt);
		function->decl = fn;
		function->instances = 0; /* it is looked at even if nobody calls it */
		any = true;
	}
	return any;
}
