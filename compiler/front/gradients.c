/*
 * gradients.c - grad(f, wrt=(W))(x, W), value_and_grad, vjp.
 *
 *   let (l, dW) = value_and_grad(loss, wrt=(W))(x, W);
 *
 *   l, dW = grad(x, W, 1.0)     cotangents = [0]: 1.0 is that of result 0
 *     body(x, W, d): the ops of loss; return(l, W)
 *
 * The body is a block of its own, as that of a composite: it sees the arguments alone.
 * compiler/grad/ makes the backward pass of it.
 */
#include <limits.h>
#include <string.h>

#include "functions/builtins.h"

static const char *const forms[] = {
	[FORM_grad] = "grad",
	[FORM_value] = "value_and_grad",
	[FORM_vjp] = "vjp",
};

static int
form_of(const char *name)
{
	for (int i = 0; name != NULL && i <= FORM_vjp; i++)
		if (strcmp(forms[i], name) == 0)
			return i;
	return -1;
}

static const char *
callee_name(const Expr *x)
{
	return x->kind == E_call && x->left->kind == E_name ? x->left->name : NULL;
}

/* grad(f) of grad(f)(x), vjp(f) of vjp(f)(x)(dy). */
const Expr *
gradient_maker(const Expr *x)
{
	const Expr *once = x->left, *twice = once->kind == E_call ? once->left : NULL;
	if (twice != NULL && form_of(callee_name(twice)) == FORM_vjp)
		return twice;
	int form = form_of(callee_name(once));
	return form >= 0 && form != FORM_vjp ? once : NULL;
}

void
gradient_note(Elab *e, const Expr *x)
{
	const Expr *maker = x->kind == E_call ? gradient_maker(x) : NULL;
	if (maker == NULL)
		return;
	diag_note(e->session, nowhere,
		form_of(maker->left->name) == FORM_value
			? "value_and_grad gives the results of the function, all of them, then "
			  "a "
			  "gradient for each of wrt"
			: "there is a gradient for each of wrt; left out, for each parameter "
			  "of "
			  "floats");
}

/* jax.grad(f) of jax.grad(f)(x) */
static bool
is_of_module(Elab *e, const Expr *x)
{
	const Expr *made = x->left->kind == E_call ? x->left->left : x->left;
	if (made->kind != E_member || made->left->kind != E_name || form_of(made->name) < 0
		|| symbol_find(e, made->left->name) != NULL)
		return false;
	complain(e, DIAG_habit, made->range,
		"functions are built in and need no module: %s(f, wrt=(W))(x, W)", made->name);
	return true;
}

bool
gradient_unapplied(Elab *e, const Expr *x, const char *name)
{
	int form = form_of(name);
	if (is_of_module(e, x))
		return true;
	if (form < 0)
		return false;
	complain(e, DIAG_gradient, x->range,
		form == FORM_vjp ? "vjp(f, wrt=(W))(x, W)(dy) is called with the arguments of "
				   "f, then with a cotangent for each of its float results"
				 : "%s(f, wrt=(W))(x, W) is called with the arguments of f",
		name);
	return true;
}

/* ---- the function, and what it is differentiated by ------------------------- */

/* "wrt=(x, W)", of the parameters whose numbers x is; of no number, the first one's name. */
static const char *
named_wrt(Elab *e, const FnDecl *fn, const Expr *x)
{
	int n = x->kind == E_tuple ? x->args.n : 1, nwritten = 0;
	Text t = {0};
	text_add(&t, "wrt=(");
	for (int i = 0; i < n; i++) {
		const Expr *number = x->kind == E_tuple ? x->args.v[i] : x;
		if (number->kind == E_int && number->integer >= 0
			&& number->integer < fn->params.n) {
			const Param *param = fn->params.v[number->integer];
			text_printf(&t, "%s%s", nwritten++ ? ", " : "", param->name.s);
		}
	}
	if (nwritten == 0)
		text_add(&t, fn->params.n ? ((const Param *)fn->params.v[0])->name.s : "W");
	text_add(&t, ")");
	return text_take(&t, e->arena);
}

static const Habit maker_habits[] = {
	{"has_aux", "value_and_grad gives the results, all of them, then the gradients"},
	{"holomorphic", "leave it out: there are no complex numbers"},
	{"allow_int", "leave it out: integers have no gradients, and wrt names floats"},
	{"reduce_axes", "leave it out: sums over devices are made where they are needed"},
};

/* Behind the function stands wrt=... and nothing else. */
static bool
check_maker_argument(const Gradient *g, int i)
{
	Elab *e = g->elab;
	const Arg *arg = g->maker->args.v[i];
	const char *form = forms[g->form], *name = arg->name.s;
	const FnDecl *fn = g->function->decl;
	const char *hint = name != NULL ? HABIT(maker_habits, name) : NULL;
	if (hint != NULL)
		return complain(e, DIAG_habit, arg->range, "%s has no '%s': %s", form, name,
			hint);
	if (name == NULL || strcmp(name, "argnums") == 0 || strcmp(name, "argnames") == 0)
		return complain(e, DIAG_habit, arg->range,
			"what a gradient is taken by is named: %s(%s, %s)", form, fn->name.s,
			named_wrt(e, fn, arg->value));
	if (strcmp(name, "wrt") != 0)
		return complain(e, DIAG_gradient, arg->range,
			"%s has no '%s'; it takes a function and wrt: %s(%s, %s)", form, name,
			form, fn->name.s, named_wrt(e, fn, arg->value));
	return i == 1
		|| complain(e, DIAG_gradient, arg->range,
			"wrt stands once, with all that the gradient is taken by: wrt=(a, b)");
}

/* What stands where the function's name should. */
static bool
refuse_function(Elab *e, const char *form, const Expr *x)
{
	const Expr *callee = x->kind == E_call ? x->left : NULL;
	if (callee != NULL && callee->kind == E_name && form_of(callee->name) >= 0)
		return complain(e, DIAG_gradient, x->range,
			"%s takes the name of a function; one of the gradient is declared: "
			"fn g(x) { return sum(%s(f)(x)); }",
			form, callee->name);
	if (callee != NULL && callee->kind == E_name)
		return complain(e, DIAG_gradient, x->range,
			"this is a value, and %s takes the function: %s(%s)(...)", form, form,
			callee->name);
	return complain(e, DIAG_gradient, x->range,
		"%s takes the name of a function of the program", form);
}

static bool
refuse_name(Elab *e, const char *form, const Expr *x)
{
	const char **words = NULL;
	int n = 0;
	if (builtin_find(x->name) != NULL)
		return complain(e, DIAG_gradient, x->range,
			"'%s' is built in; %s takes a function of the program: "
			"fn f(x) { return %s(x); }",
			x->name, form, x->name);
	if (symbol_find(e, x->name) != NULL)
		return complain(e, DIAG_gradient, x->range,
			"'%s' is a value; %s takes a function, and wrt what of its parameters: "
			"%s(f, wrt=(%s))",
			x->name, form, form, x->name);
	complain(e, DIAG_gradient, x->range,
		"'%s' is no function of the program, which %s differentiates", x->name, form);
	for (int i = 0; i < table_count(e->functions); i++)
		APPEND(e->arena, words, n, table_key(e->functions, i));
	suggest(e, x->name, words, n);
	return false;
}

bool
gradient_begin(Gradient *g, Elab *e, const Expr *x, const Expr *maker)
{
	GradientForm of = (GradientForm)form_of(maker->left->name);
	*g = (Gradient){.elab = e,
		.maker = maker,
		.form = of,
		.call = of == FORM_vjp ? x->left : x,
		.site = {x->range, maker->left->name, AS_call}};
	const List *args = &g->maker->args;
	const Arg *first = args->n > 0 ? args->v[0] : NULL;
	const char *form = forms[g->form];
	if (first == NULL)
		return complain(e, DIAG_gradient, g->maker->range,
			"%s takes the name of a function of the program", form);
	if (first->name.s != NULL)
		return complain(e, DIAG_gradient, first->range,
			"the function comes first, then wrt: %s(f, wrt=(W))", form);
	if (first->value->kind != E_name)
		return refuse_function(e, form, first->value);
	g->function = table_get(e->functions, first->value->name);
	if (g->function == NULL)
		return refuse_name(e, form, first->value);
	for (int i = 1; i < args->n; i++)
		if (!check_maker_argument(g, i))
			return false;
	return true;
}

static int
find_param(const FnDecl *fn, const char *name)
{
	for (int i = 0; i < fn->params.n; i++)
		if (strcmp(((const Param *)fn->params.v[i])->name.s, name) == 0)
			return i;
	return -1;
}

static bool
is_smooth(const Item *item)
{
	return item->kind == IT_tensor && dtype_is_float(item->value->type.dtype);
}

/* No parameter has that name. */
static bool
refuse_parameter(const Gradient *g, const Expr *x)
{
	Elab *e = g->elab;
	const FnDecl *fn = g->function->decl;
	const char **words = NULL;
	int n = 0;
	complain(e, DIAG_gradient, x->range, "'%s' has no parameter '%s'", fn->name.s, x->name);
	diag_note(e->session, fn->name.range, "'%s' is declared here", fn->name.s);
	if (x->name[1] == '\0')
		return false;
	for (int i = 0; i < fn->params.n; i++)
		APPEND(e->arena, words, n, ((const Param *)fn->params.v[i])->name.s);
	suggest(e, x->name, words, n);
	return false;
}

static bool
add_wrt(Gradient *g, const Expr *x)
{
	Elab *e = g->elab;
	const FnDecl *fn = g->function->decl;
	if (x->kind == E_string)
		return complain(e, DIAG_habit, x->range,
			"wrt names parameters, which have no quotes: wrt=(%s)", x->name);
	if (x->kind != E_name)
		return complain(e, DIAG_gradient, x->range, "wrt names parameters of '%s': %s",
			fn->name.s, named_wrt(e, fn, x));
	int at = find_param(fn, x->name);
	if (at < 0)
		return refuse_parameter(g, x);
	if (g->taken[at])
		return complain(e, DIAG_gradient, x->range, "wrt names '%s' twice", x->name);
	if (!is_smooth(&g->args[at]))
		return complain(e, DIAG_gradient, x->range,
			"'%s' is %s here; what a gradient is taken by is a tensor of floats",
			x->name, show_item(e, &g->args[at]));
	g->wrt[g->nwrt++] = at;
	g->taken[at] = true;
	return true;
}

/* Left out: every parameter that is a tensor of floats. */
static bool
read_wrt(Gradient *g)
{
	const Expr *wrt =
		g->maker->args.n > 1 ? ((const Arg *)g->maker->args.v[1])->value : NULL;
	int nparams = g->function->decl->params.n;
	bool right = true;
	int most = wrt != NULL && wrt->kind == E_tuple ? wrt->args.n : 1;
	g->wrt = NEW_ARRAY(g->elab->arena, int, nparams + most);
	g->taken = NEW_ARRAY(g->elab->arena, bool, nparams + 1);
	for (int i = 0; wrt == NULL && i < nparams; i++)
		if (is_smooth(&g->args[i]))
			g->wrt[g->nwrt++] = i;
	if (wrt != NULL && wrt->kind != E_tuple)
		right = add_wrt(g, wrt);
	for (int i = 0; wrt != NULL && wrt->kind == E_tuple && i < wrt->args.n; i++)
		right &= add_wrt(g, wrt->args.v[i]);
	if (wrt != NULL && wrt->kind == E_tuple && wrt->args.n == 0)
		return complain(g->elab, DIAG_gradient, wrt->range,
			"wrt names what the gradient is taken by, and nothing stands here; "
			"left "
			"out, it is every parameter of floats");
	if (right && g->nwrt == 0)
		return complain(g->elab, DIAG_gradient, g->maker->range,
			"'%s' has no argument of floats to be differentiated by",
			g->function->decl->name.s);
	return right;
}

bool
check_gradient_count(Elab *e, const FnDecl *fn, int least, int most)
{
	const FnDecl *gradient = ((Function *)table_get(e->functions, fn->gradient.s))->decl;
	int n = gradient->params.n;
	if (least <= n && n <= most)
		return true;
	const char *given = least == most ? arena_printf(e->arena, "%d", least)
		: most == INT_MAX	  ? arena_printf(e->arena, "%d or more", least)
					  : arena_printf(e->arena, "%d to %d", least, most);
	return complain(e, DIAG_gradient, fn->gradient.range,
		"'%s' takes %d argument%s; the gradient of '%s' is given %s: the arguments, "
		"the "
		"results, and a cotangent for each result of floats",
		gradient->name.s, n, n == 1 ? "" : "s", fn->name.s, given);
}

/* One of the results at least is of floats; where none is written there is one at least. */
static bool
may_take_gradient(Elab *e, const FnDecl *fn)
{
	int n = fn->params.n, nresults = fn->results.n;
	return fn->has_results ? check_gradient_count(e, fn, n + nresults + 1, n + 2 * nresults)
			       : check_gradient_count(e, fn, n + 2, INT_MAX);
}

void
check_gradient_of(Elab *e, FnDecl *fn)
{
	Name name = fn->gradient;
	Function *gradient = name.s != NULL ? table_get(e->functions, name.s) : NULL;
	if (name.s == NULL)
		return;
	if (gradient == NULL) {
		report_unknown_function(e, name.range, name.s);
		fn->gradient = (Name){0}; /* it may be lost */
	} else if (gradient->decl == fn)
		complain(e, DIAG_gradient, name.range, "'%s' cannot be its own gradient",
			name.s);
	else if (fn->checkpoint)
		complain(e, DIAG_gradient, name.range,
			"'%s' is a checkpoint, which is computed once more, and has a gradient "
			"of its own; one of the two",
			fn->name.s);
	else
		gradient->gives_gradient |= may_take_gradient(e, fn);
}

/* ---- the body ------------------------------------------------------------------ */

/* The op, not ended yet, and its body, in which the block being built is from here on. */
bool
gradient_open(Gradient *g)
{
	Elab *e = g->elab;
	int n = g->function->decl->params.n;
	if (!read_wrt(g))
		return false;
	g->around = e->block;
	g->op = closed_begin(e, g->site, O_grad, n, g->args);
	if (g->op == NULL)
		return false;
	closed_body(e, g->op, g->function->decl, g->args, g->args);
	e->differentiated++;
	return true;
}

/* Of grad and value_and_grad 1, of the first result; of vjp as given. */
static bool
check_results(const Gradient *g, const Item *results, int n)
{
	Elab *e = g->elab;
	const FnDecl *fn = g->function->decl;
	for (int i = 0; i < n; i++) {
		const Item *item = &results[i];
		bool scalar = is_smooth(item) && item->value->type.rank == 0;
		if (item->kind != IT_tensor)
			return complain(e, DIAG_gradient, g->maker->range,
				"result %d of '%s' is %s, which has no gradient", i, fn->name.s,
				show_item(e, item));
		if (g->form == FORM_vjp || i > 0 || scalar)
			continue;
		complain(e, DIAG_gradient, g->maker->range,
			"%s differentiates a scalar of floats, and the first result of '%s' is "
			"%s",
			forms[g->form], fn->name.s, show_item(e, item));
		if (is_smooth(item))
			diag_note(e->session, nowhere,
				"vjp(%s)(...)(dy) takes the cotangent of a tensor", fn->name.s);
		else if (item->value->type.rank == 0)
			diag_note(e->session, nowhere,
				"integers change by steps: what is summed up is converted "
				"first, "
				"f32(n)");
		return false;
	}
	return true;
}

/* The cotangent of a result: 1, or what is given, which has its type. */
static Value *
cotangent(const Gradient *g, Item *given, const Type *type)
{
	Elab *e = g->elab;
	Item one = item_float(g->site.range, 1);
	if (given == NULL)
		return item_typed(e, g->site, type->dtype, one).value;
	return annotation_fit(e, g->site, annotation_of(e, given->range, type), given,
		DIAG_call_mismatch, "the cotangent");
}

/* What is behind the arguments: a cotangent for each result that they are given. */
static bool
add_cotangents(Gradient *g, const Item *results, int n)
{
	Elab *e = g->elab;
	int64_t *of = NEW_ARRAY(e->arena, int64_t, n + 1);
	int nof = 0;
	bool given = g->form == FORM_vjp;
	for (int i = 0; i < n; i++)
		if (is_smooth(&results[i]) && (given || i == 0))
			of[nof++] = i;
	if (given && g->ncotangents != nof)
		return complain(e, DIAG_gradient, g->site.range,
			"'%s' has %d result%s of floats, and %d cotangent%s given",
			g->function->decl->name.s, nof, nof == 1 ? "" : "s", g->ncotangents,
			g->ncotangents == 1 ? " is" : "s are");
	for (int i = 0; i < nof; i++) {
		const Type *type = &results[of[i]].value->type;
		Value *v = cotangent(g, given ? &g->cotangents[i] : NULL, type);
		if (v == NULL)
			return false;
		op_add_operand(g->op, region_value(e, v));
		block_add_param(g->op->bodies[0], "d", type);
	}
	op_set_ints(g->op, A_cotangents, nof, of);
	return true;
}

/* What the body returns: the results, and the parameters that stand for gradients. */
static bool
end_op(const Gradient *g, const Item *results, int n)
{
	Elab *e = g->elab;
	Op *op = g->op;
	Value **values = NEW_ARRAY(e->arena, Value *, n + g->nwrt);
	for (int i = 0; i < n; i++)
		values[i] = results[i].value;
	for (int i = 0; i < g->nwrt; i++)
		values[n + i] = g->args[g->wrt[i]].value;
	for (int i = 1; i < n + g->nwrt; i++)
		op_add_result(op, i < n ? "value" : "gradient", &values[i]->type);
	make_return(op->bodies[0], n + g->nwrt, values, g->site.range, g->site.label);
	op_set_int(op, A_gradients, g->nwrt);
	return make_end(at(e, g->site), op) != NULL;
}

Item
gradient_close(Gradient *g, Item result)
{
	Elab *e = g->elab;
	const Item *results = result.kind == IT_tuple ? result.items : &result;
	int n = result.kind == IT_tuple ? result.n : 1;
	e->differentiated--;
	e->block = g->around;
	if (result.kind == IT_error || !check_results(g, results, n)
		|| !add_cotangents(g, results, n) || !end_op(g, results, n))
		return item_error;
	int first = g->form == FORM_value ? 0 : n, count = n + g->nwrt - first;
	Item *items = NEW_ARRAY(e->arena, Item, count);
	for (int i = 0; i < count; i++)
		items[i] = item_tensor(g->site.range, g->op->results[first + i]);
	return count == 1 ? items[0] : item_tuple(e, g->site.range, count, items);
}
