/*
 * extern.c - functions in C of the user, as they are declared.
 *
 *   extern fn swish(x: f32[b, d], beta: f32) -> f32[b, d]
 *     = "swish" in "libswish.so" rule "bd,->bd";
 *
 * What the rule means is in ir/extern.c.
 */
#include <string.h>
#include "elaborate.h"

/* Both are needed to know what the C function is given. */
static bool
has_full_types(Elab *e, const FnDecl *fn, List params, const char *what)
{
	for (int i = 0; i < params.n; i++) {
		const Param *p = params.v[i];
		if (has_full_type(p))
			continue;
		return complain(e, DIAG_extern, p->range,
			"%s of '%s' needs a full type, as in f32[b, d]", what, fn->name.s);
	}
	return true;
}

/* What is declared by a type's name is known at the call. */
static void
check_rank(Elab *e, const FnDecl *fn, const ExternTerm *term, const Param *param)
{
	if (param->type->name.s != NULL || param->type->dims.n == term->rank)
		return;
	complain(e, DIAG_extern, fn->rule.range, "the rule gives %s %d dim%s, not %d",
		param->name.s != NULL ? param->name.s : "the result", term->rank,
		term->rank == 1 ? "" : "s", param->type->dims.n);
	diag_label(e->session, param->type->range, "declared here");
}

void
check_extern(Elab *e, const FnDecl *fn)
{
	ExternRule r;
	Range where = fn->rule.range;
	int at;
	if (fn->params.n == 0 || !fn->has_results) {
		complain(e, DIAG_extern, fn->name.range,
			"'%s' has no %s; an extern function is given tensors and makes tensors",
			fn->name.s, fn->params.n == 0 ? "parameters" : "results");
		return;
	}
	if (fn->symbol.s[0] == '\0' || fn->library.s[0] == '\0') {
		complain(e, DIAG_extern,
			fn->symbol.s[0] == '\0' ? fn->symbol.range : fn->library.range,
			"extern wants = \"symbol\" in \"library.so\"");
		return;
	}
	if (!has_full_types(e, fn, fn->params, "a parameter")
		|| !has_full_types(e, fn, fn->results, "a result"))
		return;
	const char *wrong = extern_rule_parse(e->arena, fn->rule.s, &r, &at);
	if (wrong == NULL && r.sized) {
		at = (int)strcspn(fn->rule.s, "{");
		wrong = "a rule ends with the dims of the results";
	}
	if (wrong != NULL) { /* the byte, unless it was written with escapes */
		if (fn->rule.s[0] != '\0' && at < where.end - where.begin - 2) {
			where.begin += 1 + at;
			where.end = where.begin + 1;
		}
		complain(e, DIAG_extern, where, "%s", wrong);
		return;
	}
	bool operands = r.noperands != fn->params.n;
	int declared = operands ? fn->params.n : fn->results.n;
	int ruled = operands ? r.noperands : r.nterms - r.noperands;
	if (declared != ruled) {
		complain(e, DIAG_extern, where, "the rule is of %d %s%s, '%s' has %d", ruled,
			operands ? "operand" : "result", ruled == 1 ? "" : "s", fn->name.s,
			declared);
		diag_label(e->session, operands ? fn->name.range : fn->results_range,
			"declared here");
		return;
	}
	for (int i = 0; i < fn->params.n; i++)
		check_rank(e, fn, &r.terms[i], fn->params.v[i]);
	for (int i = 0; i < fn->results.n; i++)
		check_rank(e, fn, &r.terms[fn->params.n + i], fn->results.v[i]);
}
