/*
 * calls.c - calls of the program's functions, inlined.
 *
 * requires  the callee's syntax tree
 * leaves    its ops in the block being built, its names prefixed by "ffn."
 *           at the first call of ffn, "ffn.2." at the second, ...
 *
 * A parameter without a type takes anything; one with undeclared size names
 * (x: f32[b, d]) binds them at the call.  Both are known inside the body.
 */
#include <inttypes.h>
#include <string.h>

#include "functions/builtins.h"

/* ---- parameters */

/* ... of the message begun last, which is all there is: false. */
static bool
note_declared(Elab *e, const FnDecl *fn)
{
	diag_note(e->session, fn->name.range, "'%s' is declared here", fn->name.s);
	return false;
}

/* f(a, b=1), not f(b=1, a): what would a be? */
static bool
by_position_first(Elab *e, const Expr *call)
{
	for (int i = 1; i < call->args.n; i++) {
		const Arg *arg = call->args.v[i], *before = call->args.v[i - 1];
		if (arg->name.s != NULL || before->name.s == NULL)
			continue;
		return complain(e, DIAG_arguments, arg->range,
			"arguments without a name come before those with one");
	}
	return true;
}

/* Every argument, in the order they are written, whether or not the call is right: all
   mistakes in them are told, but for one that is to be left out.  builtin NULL: a function
   of the program is called, with values. */
static bool
eval_arguments(Elab *e, const Expr *call, const Builtin *builtin, Item *items)
{
	bool right = true;
	for (int i = 0; i < call->args.n; i++) {
		const Arg *arg = call->args.v[i];
		items[i] = builtin_leaves_out(e, builtin, arg) ? item_error
			: builtin != NULL		       ? eval(e, arg->value)
							       : eval_value(e, arg->value);
		right &= items[i].kind != IT_error;
	}
	return right;
}

/* To which parameter each argument goes. */
static bool
match_arguments(Elab *e, const FnDecl *fn, const Expr *call, int *to)
{
	bool *taken = NEW_ARRAY(e->arena, bool, fn->params.n + call->args.n);
	int given = 0;
	if (!by_position_first(e, call))
		return false;
	for (int i = 0; i < call->args.n; i++) {
		const Arg *arg = call->args.v[i];
		int at = arg->name.s == NULL ? i : 0;
		while (arg->name.s != NULL && at < fn->params.n
			&& strcmp(((Param *)fn->params.v[at])->name.s, arg->name.s) != 0)
			at++;
		bool unknown = at >= fn->params.n;
		if (arg->name.s != NULL && (unknown || taken[at])) {
			complain(e, DIAG_arguments, arg->name.range,
				unknown ? "'%s' has no parameter '%s'"
					: "'%s' is given '%s' twice",
				fn->name.s, arg->name.s);
			return note_declared(e, fn);
		}
		given += !unknown;
		taken[at] = true;
		to[i] = at;
	}
	if (given == fn->params.n && call->args.n == fn->params.n)
		return true;
	complain(e, DIAG_arguments, call->range, "'%s' takes %d argument%s, not %d", fn->name.s,
		fn->params.n, fn->params.n == 1 ? "" : "s", call->args.n);
	return note_declared(e, fn);
}

/* The arguments in the order of the parameters. */
static bool
take_arguments(Elab *e, const FnDecl *fn, const Expr *call, Item *items)
{
	Item *written = NEW_ARRAY(e->arena, Item, call->args.n);
	int *to = NEW_ARRAY(e->arena, int, call->args.n);
	bool right = eval_arguments(e, call, NULL, written);
	if (fn->lost || !match_arguments(e, fn, call, to) || !right)
		return false;
	for (int i = 0; i < call->args.n; i++)
		items[to[i]] = written[i];
	return true;
}

/* x: f32[b, d] says what the names b and d are, unless they are declared. */
static bool
bind_sizes(Elab *e, const Param *param, const Item *item)
{
	const TypeSpec *type = param->type;
	bool fits = item->kind == IT_tensor && type->dims.n == item->value->type.rank;
	for (int d = 0; type->has_dims && d < type->dims.n; d++) {
		const Expr *size = undeclared_size(e, type, d);
		if (size == NULL)
			continue;
		if (!fits) {
			complain(e, DIAG_call_mismatch, item->range,
				"argument '%s' is %s; a tensor of %d dim%s is declared",
				param->name.s, show_item(e, item), type->dims.n,
				type->dims.n == 1 ? "" : "s");
			diag_label(e->session, type->range, "declared here");
			return false;
		}
		Symbol *s = symbol_declare(e, SYM_value, (Name){size->name, size->range});
		s->as = "a size of an argument";
		s->item = item_int(item->range, item->value->type.dims[d]);
		s->used = true;
	}
	return true;
}

/* The argument, as the parameter declares it. */
static Item
placed_argument(Elab *e, const FnDecl *fn, const Param *param, Item x)
{
	const char *what = arena_printf(e->arena, "argument '%s'", param->name.s);
	Site s = {x.range, param->name.s, AS_call};
	if (param->lost)
		return item_error;
	if (param->type == NULL)
		return x;
	return item_tensor(x.range,
		annotation_apply(e, s, param->type, fn->mode == FN_explicit, &x,
			DIAG_call_mismatch, what));
}

/* ---- results */

/* What the body returns, as the types of the results declare it; those of an
   explicit function ask for nothing. */
static Item
returned(Elab *e, FnDecl *fn, Range call)
{
	int n;
	Item *items;
	if (!run_body(e, fn, &n, &items))
		return item_error;
	for (int i = 0; i < n; i++) {
		const Param *p = fn->has_results ? fn->results.v[i] : NULL;
		Item *x = &items[i];
		Annotation a;
		Value *v = NULL;
		if (x->kind == IT_error)
			return item_error;
		if (p == NULL || p->type == NULL)
			continue;
		const char *name = p->name.s;
		const char *what = name == NULL ? "the result"
						: arena_printf(e->arena, "result '%s'", name);
		Site s = {x->range, "return", AS_call};
		if (fn->mode != FN_explicit)
			v = annotation_apply(e, s, p->type, false, x, DIAG_results, what);
		else if (annotation_resolve(e, p->type, &a))
			v = annotation_fit(e, s, &a, x, DIAG_results, what);
		if (v == NULL)
			return item_error;
		if (fn->mode == FN_explicit && !e->frame->unlisted)
			APPEND(e->arena, e->m->expects, e->m->nexpects,
				((Expect){v, name != NULL ? name : "out", a.placement,
					p->type->range}));
		*x = item_tensor(x->range, v);
	}
	return n == 1 ? items[0] : item_tuple(e, call, n, items);
}

/* ---- calls */

static bool
may_inline(Elab *e, const Function *function, const Expr *call)
{
	const FnDecl *fn = function->decl;
	if (fn->mode == FN_explicit && e->manual != NULL) {
		complain(e, DIAG_manual, call->range,
			"'%s' is explicit, and what calls it is manual; a function of one "
			"device's tensors is a plain fn",
			fn->name.s);
		return note_declared(e, fn);
	}
	if (function->active)
		return complain(e, DIAG_recursion, call->range,
			"'%s' calls itself; functions are inlined", fn->name.s);
	if (function->backward)
		return complain(e, DIAG_recursion, call->range,
			"'%s' gives the gradient of '%s' and calls it, which takes '%s' again",
			fn->gradient.s, fn->name.s, fn->gradient.s);
	if (fn->mode == FN_manual && e->manual != NULL && !may_nest(e, fn, call->range))
		return false;
	if (exceeds(e, call->range, &e->ncalls, MAX_CALLS, "calls"))
		return false;
	return e->frame->depth < MAX_INLINING
		|| complain(e, DIAG_inlining, call->range, "calls are nested more than %d deep",
			MAX_INLINING);
}

static Frame *
frame_new(Elab *e, FnDecl *fn, Range call)
{
	Frame *f = NEW(e->arena, Frame);
	f->fn = fn;
	f->caller = e->frame;
	f->call = call;
	f->names = table_new(e->arena);
	f->depth = e->frame->depth + 1;
	f->prefix = "";
	f->lost = fn->lost;
	return f;
}

/* One op, whose arguments and results are placed as the types say. */
static Item
run_extern(Elab *e, FnDecl *fn, const Item *args, Range call)
{
	int n = fn->params.n, nresults = fn->results.n;
	Value **operands = NEW_ARRAY(e->arena, Value *, n);
	Annotation *results = NEW_ARRAY(e->arena, Annotation, nresults);
	Type *types = NEW_ARRAY(e->arena, Type, nresults);
	Item *items = NEW_ARRAY(e->arena, Item, nresults);
	External *x = NEW(e->arena, External);
	Site s = {call, fn->name.s, AS_call};
	ExternRule rule;
	int at_byte;
	if (extern_rule_parse(e->arena, fn->rule.s, &rule, &at_byte) != NULL)
		return item_error; /* said of the declaration */
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
		if (!annotation_type(e, &results[i], NULL, &types[i]))
			return item_error;
	Op *op = make_begin(at(e, s), O_extern, n, operands);
	if (op == NULL)
		return item_error;
	*x = (External){fn->name.s, fn->symbol.s, fn->library.s, fn->rule.s, fn->name.range,
		.parsed = rule};
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
			v = emit_placed(e, s, v, &results[i], false);
		items[i] = item_tensor(call, v);
		if (v == NULL)
			return item_error;
	}
	return nresults == 1 ? items[0] : item_tuple(e, call, nresults, items);
}

static Item
run_plain(Elab *e, FnDecl *fn, const Item *args, Range call)
{
	for (int i = 0; i < fn->params.n; i++) {
		const Param *param = fn->params.v[i];
		Item x = placed_argument(e, fn, param, args[i]);
		Symbol *symbol = symbol_declare(e, SYM_value, param->name);
		symbol->as = "a parameter";
		symbol->item = x;
		if (x.kind == IT_tensor)
			symbol->named = name_value(e, param->name,
				param->type ? UNTYPED_no : UNTYPED_param, x.value);
	}
	OpMode mode = e->mode;
	if (fn->mode == FN_explicit)
		e->mode = MODE_explicit;
	Item result = returned(e, fn, call);
	e->mode = mode;
	return result;
}

/* Its ops in the block being built. */
static Item
inline_plainly(Elab *e, Function *function, Range call, const Item *args)
{
	FnDecl *fn = function->decl;
	Item result = item_error;
	Frame *caller = e->frame;
	int errors = diag_errors(e->session);
	bool right = true;
	e->frame = frame_new(e, fn, call);
	e->frame->unlisted = caller->unlisted;
	e->frame->prefix = ++function->instances == 1
		? arena_printf(e->arena, "%s.", fn->name.s)
		: arena_printf(e->arena, "%s.%d.", fn->name.s, function->instances);
	function->active = true;
	for (int i = 0; right && i < fn->params.n; i++) {
		const Param *param = fn->params.v[i];
		right = param->type == NULL || bind_sizes(e, param, &args[i]);
	}
	if (right)
		result = (fn->mode == FN_manual		? call_manual
				: fn->mode == FN_extern ? run_extern
							: run_plain)(e, fn, args, call);
	function->active = false;
	if (function->instances == 1 && diag_errors(e->session) == errors)
		symbols_warn_unused(e, e->frame);
	e->frame = caller;
	return result;
}

/* Of the operands, the results, and a cotangent for each result of floats: a cotangent for
   each operand of floats. */
static Item
run_gradient(Elab *e, Function *function, Range call, const Op *op, int n, const Item *inner)
{
	const Op *end = op->bodies[0]->last;
	Function *gradient = table_get(e->functions, function->decl->gradient.s);
	int room = n + 2 * end->noperands, nall = n;
	Item *all = NEW_ARRAY(e->arena, Item, room);
	Block *b = e->block;
	memcpy(all, inner, (size_t)n * sizeof *all);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < end->noperands; i++) {
			const Type *type = &end->operands[i]->type;
			if (round == 0 || dtype_is_float(type->dtype))
				all[nall++] = item_tensor(call,
					block_add_param(b, round == 0 ? "result" : "d", type));
		}
	if (!check_gradient_count(e, function->decl, nall, nall))
		return item_error;
	bool unlisted = e->frame->unlisted, backward = function->backward;
	e->frame->unlisted = true; /* the backward pass has values of its own */
	function->backward = true;
	Item result = inline_plainly(e, gradient, call, all);
	function->backward = backward;
	e->frame->unlisted = unlisted;
	return result;
}

/* What the gradient function returns is a cotangent for each argument of floats. */
static bool
check_gradient(Elab *e, const Function *function, const Op *op)
{
	const Block *b = op->bodies[1];
	const FnDecl *fn = function->decl;
	int n = 0, given = b->last->noperands;
	for (int i = 0; i < op->noperands; i++) {
		const Type *type = &op->operands[i]->type;
		if (!dtype_is_float(type->dtype))
			continue;
		if (n < given && !type_equal(type, &b->last->operands[n]->type))
			return complain(e, DIAG_gradient, fn->gradient.range,
				"'%s' gives %s for an argument of '%s' that is %s",
				fn->gradient.s, show_type(e, &b->last->operands[n]->type),
				fn->name.s, show_type(e, type));
		n++;
	}
	return n == given
		|| complain(e, DIAG_gradient, fn->gradient.range,
			"'%s' gives %d cotangent%s; '%s' has %d argument%s of floats",
			fn->gradient.s, given, given == 1 ? "" : "s", fn->name.s, n,
			n == 1 ? "" : "s");
}

/* Inside of what is differentiated, what says how its gradient is made stays an op. */
static Item
inline_marked(Elab *e, Function *function, Range call, const Item *args)
{
	const FnDecl *fn = function->decl;
	Site s = {call, fn->name.s, AS_call};
	int n = fn->params.n;
	Item *inner = NEW_ARRAY(e->arena, Item, n + 1);
	Block *around = e->block;
	Op *op = closed_begin(e, s, fn->checkpoint ? O_checkpoint : O_ruled, n, args);
	if (op == NULL)
		return item_error;
	closed_body(e, op, fn, args, inner);
	Item result = inline_plainly(e, function, call, inner);
	bool right = result.kind != IT_error && closed_return(e, s, &result);
	if (right && !fn->checkpoint) {
		closed_body(e, op, fn, args, inner);
		result = run_gradient(e, function, call, op, n, inner);
		right = result.kind != IT_error && closed_return(e, s, &result)
			&& check_gradient(e, function, op);
	}
	e->block = around;
	return right ? closed_end(e, s, op) : item_error;
}

/* The function of these arguments. */
static Item
inline_function(Elab *e, Function *function, Range call, const Item *args)
{
	const FnDecl *fn = function->decl;
	bool marked = e->differentiated && (fn->checkpoint || fn->gradient.s != NULL);
	return (marked ? inline_marked : inline_plainly)(e, function, call, args);
}

static Item
call_function(Elab *e, Function *function, const Expr *call)
{
	Item *args = NEW_ARRAY(e->arena, Item, function->decl->params.n);
	bool right = take_arguments(e, function->decl, call, args);
	if (!may_inline(e, function, call) || !right)
		return item_error;
	return inline_function(e, function, call->range, args);
}

/* grad(f, wrt=(W))(x, W), vjp(f)(x, W)(dy) */
static Item
call_gradient(Elab *e, const Expr *x, const Expr *maker)
{
	Gradient g;
	if (!gradient_begin(&g, e, x, maker))
		return item_error;
	g.args = NEW_ARRAY(e->arena, Item, g.function->decl->params.n + 1);
	bool right = take_arguments(e, g.function->decl, g.call, g.args);
	if (g.form == FORM_vjp) {
		g.ncotangents = x->args.n;
		g.cotangents = NEW_ARRAY(e->arena, Item, x->args.n + 1);
		right &= eval_arguments(e, x, NULL, g.cotangents);
	}
	if (!may_inline(e, g.function, g.call) || !right || !gradient_open(&g))
		return item_error;
	return gradient_close(&g, inline_function(e, g.function, x->range, g.args));
}

/* ---- the prelude */

static Item
run_prelude(Elab *e, FnDecl *fn, Site s, int n, const Item *args)
{
	Frame *caller = e->frame;
	e->frame = frame_new(e, fn, s.range);
	e->frame->unlisted = e->frame->prelude = true;
	e->frame->site = caller->prelude ? caller->site : s;
	for (int i = 0; i < n; i++) {
		const Param *param = fn->params.v[i];
		symbol_declare(e, SYM_value, param->name)->item = args[i];
	}
	Item result = returned(e, fn, s.range);
	e->frame = caller;
	return result;
}

/* Its body is that of a call.  Of random.normal it is called random_normal, for a dot
   separates parts of names. */
static Item
run_composite(Elab *e, FnDecl *fn, Site s, int n, const Item *args)
{
	Item inner[MAX_PARAMS];
	Op *call = closed_begin(e, s, O_call, n, args);
	if (call == NULL)
		return item_error;
	Block *around = e->block;
	char *name = arena_strndup(e->arena, s.label, strlen(s.label));
	for (char *dot = name; (dot = strchr(dot, '.')) != NULL;)
		*dot = '_';
	call->composite = name;
	closed_body(e, call, fn, args, inner);
	Item result = run_prelude(e, fn, s, n, inner);
	bool right = result.kind == IT_tensor && closed_return(e, s, &result);
	e->block = around;
	return right ? closed_end(e, s, call) : item_error;
}

/* With its rule, f_gradient(x, ..., y, dy): a cotangent for each tensor of floats. */
static Item
run_with_rule(Elab *e, FnDecl *fn, FnDecl *rule, Site s, bool composite, int n,
	const Item *args)
{
	Item inner[MAX_PARAMS + 2];
	Op *op = closed_begin(e, s, O_ruled, n, args);
	if (op == NULL)
		return item_error;
	Block *around = e->block;
	closed_body(e, op, fn, args, inner);
	Item result = (composite ? run_composite : run_prelude)(e, fn, s, n, inner);
	bool right = result.kind == IT_tensor && closed_return(e, s, &result);
	if (right) {
		Type type = result.value->type;
		closed_body(e, op, fn, args, inner);
		inner[n] = item_tensor(s.range, block_add_param(e->block, "y", &type));
		inner[n + 1] = item_tensor(s.range, block_add_param(e->block, "dy", &type));
		result = run_prelude(e, rule, s, n + 2, inner);
		right = result.kind != IT_error && closed_return(e, s, &result);
	}
	e->block = around;
	return right ? closed_end(e, s, op) : item_error;
}

/* A function of the prelude: inlined, or as a composite call. */
static Item
call_prelude(Elab *e, Site s, const char *name, bool composite, int n, const Item *args)
{
	FnDecl *fn = table_get(e->prelude, name);
	const char *rule_name = arena_printf(e->arena, "%s_gradient", name);
	FnDecl *rule = e->differentiated ? table_get(e->prelude, rule_name) : NULL;
	if (fn == NULL || fn->params.n != n)
		die("prelude: no function %s of %d parameters", name, n);
	composite &= !e->frame->prelude;
	if (rule != NULL)
		return run_with_rule(e, fn, rule, s, composite, n, args);
	return (composite ? run_composite : run_prelude)(e, fn, s, n, args);
}

/* ---- built-in functions */

/* The parameters get their arguments. */
static void
give_arguments(Call *c, const Expr *x, const int *to, const Item *items)
{
	for (int i = 0; i < x->args.n; i++) {
		const Formal *formal = &c->formals->v[to[i]];
		if (formal->type == PARAM_placement) {
			c->placement = ((const Arg *)x->args.v[i])->range;
			if (i > 0)
				c->placement.begin = ((const Arg *)x->args.v[i - 1])->range.end;
			else if (x->args.n > 1)
				c->placement.end = ((const Arg *)x->args.v[1])->range.begin;
		}
		if (formal->rest)
			APPEND(c->elab->arena, c->rest, c->nrest, items[i]);
		else
			c->items[to[i]] = items[i];
	}
}

static Item
call_builtin(Elab *e, const Builtin *builtin, const Expr *x)
{
	Call c = {.elab = e, .builtin = builtin, .site = {x->range, builtin->name, AS_call}};
	Item *items = NEW_ARRAY(e->arena, Item, x->args.n);
	int *to = NEW_ARRAY(e->arena, int, x->args.n);
	bool right = eval_arguments(e, x, builtin, items);
	if (!by_position_first(e, x) || !builtin_match(&c, x, to) || !right)
		return item_error;
	give_arguments(&c, x, to, items);

	const Op *before = e->block != NULL ? e->block->last : NULL;
	Value *v = builtin_build(&c);
	Item result = c.prelude != NULL
		? call_prelude(e, c.site, c.prelude, c.composite, c.nitems, c.items)
		: v != NULL ? item_tensor(x->range, v)
			    : c.result;
	if (result.kind == IT_tensor && c.as != NULL) {
		v = make_convert(at(e, c.site), result.value, c.as->dtype);
		if (v != NULL && c.as->placed)
			v = emit_placed(e, c.site, v, c.as, false);
		result = item_tensor(x->range, v);
	}
	note_operands(e, before, c.nitems, c.items);
	note_operands(e, before, c.nrest, c.rest);
	note_product(e, c.site, c.nrest ? c.nrest : c.nitems, c.nrest ? c.rest : c.items);
	result.range = x->range;
	return result;
}

/* ---- by name */

static Item
call_by_name(Elab *e, const Expr *x, const char *name)
{
	bool prelude = e->frame->prelude;
	Function *function = prelude ? NULL : table_get(e->functions, name);
	const Builtin *b = builtin_find(name);
	if (function != NULL)
		return call_function(e, function, x);
	if (b != NULL && (prelude || b->place != PLACE_internal))
		return call_builtin(e, b, x);
	if (prelude) { /* one function of the prelude calls another */
		Item args[MAX_PARAMS];
		for (int i = 0; i < x->args.n && i < MAX_PARAMS; i++)
			args[i] = eval(e, ((const Arg *)x->args.v[i])->value);
		return call_prelude(e, e->frame->site, name, false, x->args.n, args);
	}
	if (gradient_unapplied(e, x, name))
		return item_error;
	report_unknown_function(e, x->left->range, name);
	return item_error;
}

/* axis_size(X) says that X is an axis, where the mesh is lost. */
static void
declare_lost_axes(Elab *e, const Expr *call)
{
	for (int i = 0; i < call->args.n; i++) {
		const Expr *axis = ((const Arg *)call->args.v[i])->value;
		if (axis->kind == E_name && symbol_find(e, axis->name) == NULL)
			declare_lost_axis(e, (Name){axis->name, axis->range});
	}
}

Item
eval_call(Elab *e, const Expr *x)
{
	const Expr *callee = x->left;
	bool named = callee->kind == E_name;
	if (named && (e->lost & LOST_axes) && strcmp(callee->name, "axis_size") == 0)
		declare_lost_axes(e, x);
	if (e->frame == NULL && named) {
		if (strcmp(callee->name, "axis_size") == 0)
			return call_builtin(e, builtin_find(callee->name), x);
		complain(e, DIAG_argument_kind, x->range,
			"outside functions only axis_size(X) can be called");
		return item_error;
	}
	if (named)
		return call_by_name(e, x, callee->name);
	/* random.normal, unless the program has a value of that name */
	if (e->frame != NULL && callee->kind == E_member && callee->left->kind == E_name
		&& strcmp(callee->left->name, "random") == 0
		&& symbol_find(e, callee->left->name) == NULL)
		return call_by_name(e, x,
			arena_printf(e->arena, "%s.%s", callee->left->name, callee->name));
	if (callee->kind == E_member)
		return gradient_unapplied(e, x, NULL) ? item_error : eval(e, callee);

	/* What is called has no name. */
	const Expr *made = callee->kind == E_call ? callee->left : NULL; /* grad(f)(x) */
	const char *name = made != NULL && made->kind == E_name ? made->name : NULL;
	const Expr *maker = gradient_maker(x);
	if (maker != NULL)
		return call_gradient(e, x, maker);
	if (gradient_unapplied(e, x, name))
		return item_error;
	if (name != NULL && builtin_find(name) == NULL && table_get(e->functions, name) == NULL)
		report_unknown_function(e, made->range, name);
	else if (made != NULL && made->kind == E_member)
		return eval(e, made);
	else if (made != NULL)
		complain(e, DIAG_unsupported, x->range,
			"calling the result of a call is not part of this release");
	else if (callee->kind != E_error)
		complain(e, DIAG_unknown_function, callee->range, "this is not a function");
	return item_error;
}
