/*
 * statements.c - the statements of a body, one after the other.
 *
 * A name belongs to the block that declares it: what a loop or a branch
 * declares is forgotten at its end.  Loops and branches are control.c's.
 */
#include <string.h>

#include "elaborate.h"

/* ---- let and var */

/* Binds one name of a let to an item, which is given that name. */
void
bind(Elab *e, const Stmt *stmt, const Param *target, Item item)
{
	const char *name = target->name.s != NULL ? target->name.s : "_";
	if (target->type != NULL) {
		const char *what = arena_printf(e->arena, "'%s'", name);
		Site site = {stmt->value->range, stmt->kind == S_let ? "let" : "var", AS_call};
		item = item_tensor(item.range,
			annotation_apply(e, site, target->type, false, &item, DIAG_shape,
				what));
	}
	if (target->name.s == NULL)
		return;
	Symbol *symbol = symbol_bind(e, SYM_value, target->name, &item);
	const Symbol *hidden = symbol->hidden; /* that it is bound again was told */
	bool hides_size = hidden != NULL && hidden->as != NULL && hidden->item.kind == IT_int;
	symbol->item = hides_size ? item_error : item;
	symbol->is_var = stmt->kind == S_var || (hidden != NULL && hidden->is_var);
	symbol->as = stmt->kind == S_for ? "bound by a loop" : NULL;
	symbol->type = target->type;
	if (item.kind == IT_tensor)
		symbol->named = name_value(e, target->name,
			target->type || stmt->tuple   ? UNTYPED_no
				: stmt->kind == S_let ? UNTYPED_let
				: stmt->kind == S_var ? UNTYPED_var
						      : UNTYPED_no,
			item.value);
	if (stmt->kind == S_var && item.kind != IT_tensor && item.kind != IT_error) {
		complain(e, DIAG_literal, item.range,
			"a var is a tensor, not %s; a number is made one by a cast: %s(...)",
			show_item(e, &item), item.kind == IT_int ? "i32" : "f32");
		symbol->item = item_error;
	}
}

/* ---- assignment */

/* The var of this name; NULL, and a message, if that is something else. */
Symbol *
assigned_var(Elab *e, const Expr *target)
{
	Symbol *s = symbol_local(e, target->name);
	if (s != NULL && s->is_var)
		return s;
	if (s == NULL && table_get(e->globals, target->name) == NULL) {
		if (e->frame->lost)
			return NULL;
		int errors = diag_errors(e->session);
		report_unknown_name(e, target->range, target->name);
		if (diag_errors(e->session) == errors)
			return NULL;
		diag_note(e->session, nowhere, "a new name is bound with let: let %s = ...;",
			target->name);
		if (e->frame->unbound == NULL)
			e->frame->unbound = table_new(e->arena);
		table_set(e->frame->unbound, target->name, e);
		return NULL;
	}
	complain(e, DIAG_assign, target->range,
		s != NULL && s->as != NULL ? "'%s' is %s and cannot be assigned to"
					   : "'%s' cannot be assigned to; declare it with var",
		target->name, s != NULL ? s->as : NULL);
	if (s != NULL)
		note_bound(e, s);
	return NULL;
}

/* A name that is not declared is as if it were, by `var`.  What one is that was refused
   another value is not known, if that has another type. */
static void
take_refused(Elab *e, const Expr *name, const Item *value)
{
	Symbol *s = symbol_local(e, name->name);
	if (s == NULL && table_get(e->globals, name->name) == NULL) {
		s = symbol_declare(e, SYM_value, (Name){name->name, name->range});
		s->is_var = s->used = true;
		s->item = *value;
	} else if (s != NULL && s->item.kind == IT_tensor
		&& (value->kind != IT_tensor
			|| !type_equal(&value->value->type, &s->item.value->type)))
		s->item = item_error;
}

/* The var is `value` from here on, made at `from`; its type stays. */
void
assign_var(Elab *e, Symbol *var, Range where, Range from, Value *v)
{
	var->item = item_tensor(from, v);
	if (!v->range.file)
		v->untyped = UNTYPED_assigned;
	give_name(e, (Name){var->name, where}, v);
	if (var->named >= 0)
		e->m->named[var->named].value = v;
}

/* A var that is declared with a placement has it always. */
static void
assign_placed(Elab *e, Symbol *var, Range where, Range from, Item value)
{
	Site s = {value.range, "=", AS_call};
	Value *v = value.value;
	if (var->type != NULL)
		v = annotation_apply(e, s, var->type, false, &value, DIAG_shape, var->name);
	if (v != NULL)
		assign_var(e, var, where, from, v);
}

static void
run_assign(Elab *e, const Stmt *stmt)
{
	const Expr *target = stmt->target;
	const Expr *name = target->kind == E_index ? target->left : target;
	Symbol *var = name->kind == E_name ? assigned_var(e, name) : NULL;
	Item value = eval_value(e, stmt->value);
	const IndexItem *indices = target->kind == E_index ? eval_indices(e, target) : NULL;
	if (var == NULL && target->kind == E_name)
		take_refused(e, name, &value);
	if (var == NULL || value.kind == IT_error || var->item.kind != IT_tensor)
		return;
	const Type *type = &var->item.value->type;
	if (target->kind == E_index) {
		Value *whole = update_part(e, target, indices, var->item.value, &value);
		if (whole != NULL)
			assign_placed(e, var, name->range, nowhere,
				item_tensor(target->range, whole));
		return;
	}
	if (type->rank == 0)
		value = item_typed(e, (Site){value.range, "=", AS_call}, type->dtype, value);
	if (value.kind == IT_tensor && type_equal(&value.value->type, type)) {
		assign_placed(e, var, name->range, value.range, value);
	} else if (value.kind != IT_error) {
		complain(e, DIAG_shape, value.range, "'%s' is %s and cannot become %s",
			var->name, show_item(e, &var->item), show_item(e, &value));
		diag_note(e->session, var->range, "'%s' is declared here", var->name);
		var->item = item_error; /* either may be what is meant */
	}
}

/* ---- the others */

static void
run_expect(Elab *e, const Stmt *stmt)
{
	Item x = eval_value(e, stmt->target);
	Annotation a;
	if (x.kind == IT_error || !annotation_resolve(e, stmt->type, &a))
		return;
	if (x.kind != IT_tensor) {
		complain(e, DIAG_argument_kind, x.range, "expect is about tensors; '%s' is %s",
			stmt->target->name, show_item(e, &x));
		return;
	}
	const char *what = arena_printf(e->arena, "'%s'", stmt->target->name);
	if (!annotation_unify(e, &a, &x.value->type, x.range, DIAG_shape, what)
		|| !annotation_check(e, &a, what) || e->frame->unlisted)
		return;
	Expect expect = {x.value, stmt->target->name, a.placement, stmt->range};
	APPEND(e->arena, e->m->expects, e->m->nexpects, expect);
}

static void
run_statement(Elab *e, const Stmt *stmt)
{
	switch (stmt->kind) {
	case S_let:
	case S_var: {
		Item value = eval_value(e, stmt->value);
		bool fits =
			!stmt->tuple || (value.kind == IT_tuple && value.n == stmt->targets.n);
		if (value.kind != IT_error && !fits) {
			complain(e, DIAG_unpack, stmt->range, "%d names for %s",
				stmt->targets.n, show_item(e, &value));
			gradient_note(e, stmt->value);
		}
		for (int i = 0; i < stmt->targets.n; i++)
			bind(e, stmt, stmt->targets.v[i],
				!fits		      ? item_error
					: stmt->tuple ? value.items[i]
						      : value);
		break;
	}
	case S_assign:
		run_assign(e, stmt);
		break;
	case S_for:
		run_for(e, stmt);
		break;
	case S_while:
		run_while(e, stmt);
		break;
	case S_if:
		run_if(e, stmt);
		break;
	case S_expect:
		run_expect(e, stmt);
		break;
	case S_return:
		if (e->frame->fn->unclosed)
			break;
		complain(e, DIAG_results, stmt->range,
			"a function returns at its end, not from a loop or a branch; assign "
			"the result to a var");
		e->frame->early = true;
		break;
	case S_lost:
		e->frame->lost = true;
		break;
	case S_expr:
		if (eval_value(e, stmt->value).kind != IT_error)
			complain(e, DIAG_unused_value, stmt->range,
				"this value is not used; bind it with let, or return it");
		break;
	}
}

/* The statements of a loop or a branch. */
void
run_block(Elab *e, List body)
{
	int scope = e->frame->nsymbols;
	for (int i = 0; i < body.n; i++)
		run_statement(e, body.v[i]);
	scope_leave(e, scope);
}

/* ---- results */

/* False when a result could not be made; the messages say why.  `return a, b;`
   and `return (a, b);` are the same. */
static bool
run_statements(Elab *e, FnDecl *fn, int *n, Item **results)
{
	const Stmt *s = NULL;
	int at = 0;
	while (at < fn->body.n && (s = fn->body.v[at++])->kind != S_return
		&& !(s->kind == S_expr && at == fn->body.n))
		run_statement(e, s);
	if (s != NULL && s->kind == S_expr)
		return eval_value(e, s->value).kind != IT_error
			&& complain(e, DIAG_results, s->range,
				"'%s' ends without a return; return this value, or bind it "
				"with let",
				fn->name.s);
	if (s == NULL || s->kind != S_return)
		return !e->frame->lost && !e->frame->early && !fn->unclosed
			&& complain(e, DIAG_results, fn->end, "'%s' ends without a return",
				fn->name.s);
	Item *items = NEW_ARRAY(e->arena, Item, s->values.n);
	for (int i = at; i < fn->body.n; i++) /* more values, maybe */
		e->frame->lost |= ((const Stmt *)fn->body.v[i])->kind == S_lost;
	bool right = !e->frame->lost;
	for (int i = 0; i < s->values.n; i++) {
		items[i] = eval_value(e, s->values.v[i]);
		right &= items[i].kind != IT_error;
	}
	bool tuple = s->values.n == 1 && items[0].kind == IT_tuple;
	*n = tuple ? items[0].n : s->values.n;
	*results = tuple ? items[0].items : items;
	if (right && *n == 0)
		right = complain(e, DIAG_results, s->range,
			"a function returns at least one value");
	for (int i = 0; right && i < *n; i++)
		if ((*results)[i].kind == IT_tuple)
			right = complain(e, DIAG_results, (*results)[i].range,
				"a result cannot be a tuple");
	if (right && fn->has_results && fn->results.n != *n) {
		right = complain(e, DIAG_results, (*results)[0].range,
			"'%s' returns %d value%s, its signature names %d", fn->name.s, *n,
			*n == 1 ? "" : "s", fn->results.n);
		diag_label(e->session, fn->results_range, "declared here");
	}
	if (at == fn->body.n || e->frame->lost)
		return right;
	const Stmt *next = fn->body.v[at];
	return complain(e, DIAG_results, next->range, "nothing behind a return is executed");
}

bool
run_body(Elab *e, FnDecl *fn, int *n, Item **results)
{
	e->checkpoints += fn->checkpoint;
	bool right = run_statements(e, fn, n, results);
	e->checkpoints -= fn->checkpoint;
	return right;
}
