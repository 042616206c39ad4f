/*
 * extern.c - functions in C of the user: one op each.
 *
 *   extern fn swish(x: f32[b, d], beta: f32) -> f32[b, d]
 *     = "swish" in "libswish.so" rule "bd,->bd";
 *
 * What the rule means is in ir/extern.c.
 */
#include "elaborate.h"

/* ---- the declaration */

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

static bool
check_signature(Elab *e, const FnDecl *fn)
{
	if (fn->params.n == 0 || !fn->has_results)
		return complain(e, DIAG_extern, fn->name.range,
			"'%s' has no %s; an extern function is given tensors and makes tensors",
			fn->name.s, fn->params.n == 0 ? "parameters" : "results");
	if (fn->symbol.s[0] == '\0' || fn->library.s[0] == '\0')
		return complain(e, DIAG_extern,
			fn->symbol.s[0] == '\0' ? fn->symbol.range : fn->library.range,
			"extern wants = \"symbol\" in \"library.so\"");
	return has_full_types(e, fn, fn->params, "a parameter")
		&& has_full_types(e, fn, fn->results, "a result");
}

/* What is declared by a type's name is known at the call. */
static void
check_rank(Elab *e, const FnDecl *fn, const ExternTerm *term, const Param *p)
{
	if (p->type->name.s != NULL || p->type->dims.n == term->rank)
		return;
	complain(e, DIAG_extern, fn->rule.range, "the rule gives %s %d dim%s, not %d",
		p->name.s != NULL ? p->name.s : "the result", term->rank,
		term->rank == 1 ? "" : "s", p->type->dims.n);
	diag_label(e->session, p->type->range, "declared here");
}

void
check_extern(Elab *e, const FnDecl *fn)
{
	ExternRule r;
	Range where = fn->rule.range;
	int at;
	if (!check_signature(e, fn))
		return;
	const char *wrong = extern_rule_parse(e->arena, fn->rule.s, &r, &at);
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

/* ---- calls */

Item
call_extern(Elab *e, FnDecl *fn, const Item *args, Range call)
{
	int n = fn->params.n, nresults = fn->results.n;
	Value **operands = NEW_ARRAY(e->arena, Value *, n);
	Annotation *results = NEW_ARRAY(e->arena, Annotation, nresults);
	Type *types = NEW_ARRAY(e->arena, Type, nresults);
	Item *items = NEW_ARRAY(e->arena, Item, nresults);
	External *x = NEW(e->arena, External);
	Site s = {call, fn->name.s, AS_call};
	for (int i = 0; i < n; i++) {
		operands[i] = placed_argument(e, fn, fn->params.v[i], args[i]).value;
		if (operands[i] == NULL)
			return item_error;
	}
	for (int i = 0; i < nresults; i++)
		if (!annotation_resolve(e, ((const Param *)fn->results.v[i])->type,
			    &results[i]))
			return item_error;
	for (int i = 0; i < nresults; i++)
		if (!annotation_type(e, &results[i], &types[i]))
			return item_error;
	Op *op = make_begin(at(e, s), O_extern, n, operands);
	if (op == NULL)
		return item_error;
	*x = (External){fn->name.s, fn->symbol.s, fn->library.s, fn->rule.s, fn->name.range};
	op->external = x;
	for (int i = 0; i < nresults; i++) {
		const Param *p = fn->results.v[i];
		const char *name = p->name.s != NULL ? p->name.s : fn->name.s;
		if (i > 0)
			op_add_result(op, name, &types[i]);
		else
			op->results[0]->name = module_unique_name(e->m, name);
		op->results[i]->type = types[i];
	}
	if (make_end(at(e, s), op) == NULL)
		return item_error;
	for (int i = 0; i < n; i++)
		op_set_operand_range(op, i, args[i].range);
	for (int i = 0; i < nresults; i++) {
		Value *v = op->results[i];
		if (results[i].placed)
			v = emit_placed(e, s, O_constraint, v, &results[i]);
		items[i] = item_tensor(call, v);
		if (v == NULL)
			return item_error;
	}
	return nresults == 1 ? items[0] : item_tuple(e, call, nresults, items);
}
