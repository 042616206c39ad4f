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

#include "elaborate.h"

/* ---- parameters */

static int
param_index(const FnDecl *fn, const char *name)
{
	for (int i = 0; i < fn->params.n; i++)
		if (strcmp(((Param *)fn->params.v[i])->name.s, name) == 0)
			return i;
	return -1;
}

static void
note_signature(Elab *e, const FnDecl *fn)
{
	diag_note(e->session, fn->name.range, "'%s' is declared here", fn->name.s);
}

/* f(a, b=1), not f(b=1, a): what would a be? */
bool
by_position_first(Elab *e, const Expr *call, int i)
{
	const Arg *arg = call->args.v[i];
	const Arg *before = i > 0 ? call->args.v[i - 1] : NULL;
	if (arg->name.s != NULL || before == NULL || before->name.s == NULL)
		return true;
	complain(e, DIAG_arguments, arg->range,
		"arguments without a name come "
		"before those with one");
	return false;
}

/* The argument expressions in the order of the parameters. */
static bool
match_arguments(Elab *e, FnDecl *fn, const Expr *call, const Arg **args)
{
	for (int i = 0; i < call->args.n; i++) {
		const Arg *arg = call->args.v[i];
		int at = i;
		if (!by_position_first(e, call, i))
			return false;
		if (arg->name.s != NULL) {
			at = param_index(fn, arg->name.s);
			if (at < 0 || args[at] != NULL) {
				complain(e, DIAG_arguments, arg->name.range,
					at < 0 ? "'%s' has no parameter '%s'"
					       : "'%s' is given '%s' twice",
					fn->name.s, arg->name.s);
				note_signature(e, fn);
				return false;
			}
		}
		if (at >= fn->params.n)
			break;
		args[at] = arg;
	}
	int given = 0;
	for (int i = 0; i < fn->params.n; i++)
		given += args[i] != NULL;
	if (given == fn->params.n && call->args.n == fn->params.n)
		return true;
	complain(e, DIAG_arguments, call->range,
		"'%s' takes %d argument%s, "
		"not %d",
		fn->name.s, fn->params.n, fn->params.n == 1 ? "" : "s", call->args.n);
	note_signature(e, fn);
	return false;
}

static bool
eval_arguments(Elab *e, FnDecl *fn, const Expr *call, Item *items)
{
	const Arg **args = NEW_ARRAY(e->arena, const Arg *, fn->params.n + call->args.n);
	if (!match_arguments(e, fn, call, args))
		return false;
	bool right = true;
	for (int i = 0; i < fn->params.n; i++) {
		items[i] = eval_value(e, args[i]->value);
		right &= items[i].kind != IT_error;
	}
	return right;
}

/* The name of a size that the call says; NULL: dim `d` says it itself. */
static const Expr *
unbound_size(Elab *e, const TypeSpec *type, int d)
{
	const Expr *size = ((const DimSpec *)type->dims.v[d])->size;
	return size != NULL && size->kind == E_name && symbol_find(e, size->name) == NULL
		? size
		: NULL;
}

static bool
lacks_dims(Elab *e, const TypeSpec *type, const Param *param, const Item *x)
{
	complain(e, DIAG_call_mismatch, x->range,
		"argument '%s' is %s; a "
		"tensor of %d dim%s is declared",
		param->name.s, show_item(e, x), type->dims.n, type->dims.n == 1 ? "" : "s");
	diag_label(e->session, type->range, "declared here");
	return false;
}

/* x: f32[b, d] says what b and d are; false after a message. */
static bool
bind_sizes(Elab *e, const Param *param, const Item *x)
{
	const TypeSpec *type = param->type;
	bool fits = x->kind == IT_tensor && type->dims.n == x->value->type.rank;
	for (int d = 0; type->has_dims && d < type->dims.n; d++) {
		const Expr *size = unbound_size(e, type, d);
		if (size == NULL)
			continue;
		if (!fits)
			return lacks_dims(e, type, param, x);
		Symbol *s = symbol_declare(e, SYM_value, (Name){size->name, size->range});
		s->item = item_int(x->range, x->value->type.dims[d]);
		s->used = true;
	}
	return true;
}

static void
bind_param(Elab *e, const FnDecl *fn, const Param *param, Item x)
{
	if (param->type != NULL) {
		const char *what = arena_printf(e->arena, "argument '%s'", param->name.s);
		Site s = {x.range, param->name.s, AS_call};
		x = item_tensor(x.range,
			(fn->mode == FN_explicit ? annotation_apply_exactly
						 : annotation_apply)(e, s, param->type, &x,
				DIAG_call_mismatch, what));
	}
	Symbol *symbol = symbol_declare(e, SYM_value, param->name);
	if (symbol == NULL)
		return;
	symbol->item = x;
	if (x.kind == IT_tensor)
		symbol->named = name_value(e, param->name,
			param->type ? UNTYPED_no : UNTYPED_param, x.value);
}

/* ---- results */

static bool
check_results(Elab *e, FnDecl *fn, int n, Range where)
{
	if (!fn->has_results || fn->results.n == n)
		return true;
	complain(e, DIAG_results, where,
		"'%s' returns %d value%s, its "
		"signature names %d",
		fn->name.s, n, n == 1 ? "" : "s", fn->results.n);
	diag_label(e->session, fn->results_range, "declared here");
	return false;
}

/* The type of an explicit function's result asks for nothing. */
static Item
expected_result(Elab *e, const Param *result, const char *what, Item x)
{
	Annotation a;
	Site s = {x.range, "return", AS_call};
	Value *v = annotation_fit(e, s, result->type, &x, &a, DIAG_results, what);
	if (v == NULL || e->frame->unlisted)
		return item_tensor(x.range, v);
	Expect expect = {v, result->name.s != NULL ? result->name.s : "out", a.placement,
		result->type->range};
	APPEND(e->arena, e->m->expects, e->m->nexpects, expect);
	return item_tensor(x.range, v);
}

static Item
typed_result(Elab *e, FnDecl *fn, int i, Item x)
{
	const Param *result = fn->has_results ? fn->results.v[i] : NULL;
	if (result == NULL || result->type == NULL)
		return x;
	const char *what = result->name.s == NULL
		? "the result"
		: arena_printf(e->arena, "result '%s'", result->name.s);
	if (fn->mode == FN_explicit)
		return expected_result(e, result, what, x);
	Site s = {x.range, "return", AS_call};
	return item_tensor(x.range,
		annotation_apply(e, s, result->type, &x, DIAG_results, what));
}

static Item
returned(Elab *e, FnDecl *fn, Range call)
{
	int n;
	Item *items;
	if (!run_body(e, fn, &n, &items))
		return item_error(call);
	if (!check_results(e, fn, n, items[0].range))
		return item_error(call);
	for (int i = 0; i < n; i++) {
		items[i] = typed_result(e, fn, i, items[i]);
		if (items[i].kind == IT_error)
			return item_error(call);
	}
	return n == 1 ? items[0] : item_tuple(e, call, n, items);
}

/* ---- calls */

static bool
may_inline(Elab *e, FnDecl *fn, const Expr *call)
{
	if (fn->mode == FN_explicit && e->manual != NULL) {
		complain(e, DIAG_manual, call->range,
			"'%s' is explicit, and "
			"what calls it is manual; a function of one device's "
			"tensors is a plain fn",
			fn->name.s);
		note_signature(e, fn);
		return false;
	}
	if (fn->active) {
		complain(e, DIAG_recursion, call->range,
			"'%s' calls itself; "
			"functions are inlined",
			fn->name.s);
		return false;
	}
	if (fn->mode == FN_manual && e->manual != NULL && !may_nest(e, fn, call->range))
		return false;
	if (exceeds(e, call->range, &e->ncalls, MAX_CALLS, "calls"))
		return false;
	if (e->frame->depth < MAX_INLINING)
		return true;
	complain(e, DIAG_inlining, call->range, "calls are nested more than %d deep",
		MAX_INLINING);
	return false;
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
	f->unlisted = e->frame->unlisted;
	f->prefix = ++fn->instances == 1
		? arena_printf(e->arena, "%s.", fn->name.s)
		: arena_printf(e->arena, "%s.%d.", fn->name.s, fn->instances);
	return f;
}

static Item
run_inlined(Elab *e, FnDecl *fn, const Item *args, Range call)
{
	for (int i = 0; i < fn->params.n; i++) {
		const Param *param = fn->params.v[i];
		if (param->type != NULL && !bind_sizes(e, param, &args[i]))
			return item_error(call);
	}
	if (fn->mode == FN_manual)
		return call_manual(e, fn, args, call);
	if (fn->mode == FN_extern)
		return call_extern(e, fn, args, call);
	for (int i = 0; i < fn->params.n; i++)
		bind_param(e, fn, fn->params.v[i], args[i]);
	OpMode mode = e->mode;
	if (fn->mode == FN_explicit)
		e->mode = MODE_explicit;
	Item result = returned(e, fn, call);
	e->mode = mode;
	return result;
}

Item
call_function(Elab *e, FnDecl *fn, const Expr *call)
{
	Item *args = NEW_ARRAY(e->arena, Item, fn->params.n);
	if (!may_inline(e, fn, call) || !eval_arguments(e, fn, call, args))
		return item_error(call->range);
	Frame *caller = e->frame;
	int errors = diag_errors(e->session);
	e->frame = frame_new(e, fn, call->range);
	fn->active = true;
	Item result = run_inlined(e, fn, args, call->range);
	fn->active = false;
	if (fn->instances == 1 && diag_errors(e->session) == errors)
		symbols_warn_unused(e, e->frame);
	e->frame = caller;
	return result;
}

/* What the language has and this release has not. */
static const char *const later[] = {
	"grad",
	"value_and_grad",
};

static bool
comes_later(const char *name)
{
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}

/* vmap(f)(x), but not grad(f)(x) */
static bool
calls_unknown(Elab *e, const Expr *callee)
{
	const char *name = callee->left->name;
	return callee->left->kind == E_name && !comes_later(name) && builtin_find(name) == NULL
		&& table_get(e->functions, name) == NULL;
}

static Item
unknown_call(Elab *e, const Expr *x)
{
	const Expr *callee = x->left;
	if (callee->kind == E_member)
		return eval(e, callee);
	if (callee->kind == E_call && calls_unknown(e, callee))
		report_unknown_function(e, callee->left->range, callee->left->name);
	else if (callee->kind == E_call)
		complain(e, DIAG_unsupported, x->range,
			"calling the result of "
			"a call is not part of this release");
	else if (callee->kind != E_error)
		complain(e, DIAG_unknown_function, callee->range, "this is not a function");
	return item_error(x->range);
}

/* One function of the prelude calls another. */
static Item
call_in_prelude(Elab *e, const Expr *x, const char *name)
{
	Item args[MAX_PARAMS];
	for (int i = 0; i < x->args.n && i < MAX_PARAMS; i++)
		args[i] = eval(e, ((const Arg *)x->args.v[i])->value);
	return call_prelude(e, e->frame->site, name, false, x->args.n, args);
}

static Item
call_by_name(Elab *e, const Expr *x, const char *name)
{
	bool prelude = e->frame->prelude;
	FnDecl *fn = prelude ? NULL : table_get(e->functions, name);
	if (fn != NULL)
		return call_function(e, fn, x);
	const Builtin *b = builtin_find(name);
	if (b != NULL && (prelude || b->place != PLACE_internal))
		return builtin_call(e, b, x);
	if (prelude)
		return call_in_prelude(e, x, name);
	if (comes_later(name))
		complain(e, DIAG_unsupported, x->left->range,
			"'%s' is not part of this release", name);
	else
		report_unknown_function(e, x->left->range, name);
	return item_error(x->range);
}

/* random.normal, unless the program has a value of that name */
static bool
is_qualified(Elab *e, const Expr *callee)
{
	return callee->kind == E_member && callee->left->kind == E_name
		&& strcmp(callee->left->name, "random") == 0
		&& symbol_find(e, callee->left->name) == NULL && e->frame != NULL;
}

Item
eval_call(Elab *e, const Expr *x)
{
	const Expr *callee = x->left;
	if (e->frame == NULL && callee->kind == E_name
		&& strcmp(callee->name, "axis_size") != 0) {
		complain(e, DIAG_argument_kind, x->range,
			"outside functions "
			"only axis_size(X) can be called");
		return item_error(x->range);
	}
	if (callee->kind == E_name)
		return e->frame != NULL ? call_by_name(e, x, callee->name)
					: builtin_call(e, builtin_find(callee->name), x);
	if (is_qualified(e, callee))
		return call_by_name(e, x,
			arena_printf(e->arena, "%s.%s", callee->left->name, callee->name));
	bool grad = callee->kind == E_call && callee->left->kind == E_name
		&& comes_later(callee->left->name);
	if (!grad)
		return unknown_call(e, x);
	complain(e, DIAG_unsupported, callee->left->range, "'%s' is not part of this release",
		callee->left->name);
	return item_error(x->range);
}

/* ---- the prelude */

static void
bind_prelude(Elab *e, const FnDecl *fn, int n, const Item *args)
{
	for (int i = 0; i < n; i++) {
		const Param *param = fn->params.v[i];
		Symbol *s = symbol_declare(e, SYM_value, param->name);
		s->item = args[i];
	}
}

static Frame *
prelude_frame(Elab *e, FnDecl *fn, Site s)
{
	Frame *f = NEW(e->arena, Frame);
	f->fn = fn;
	f->caller = e->frame;
	f->call = s.range;
	f->names = table_new(e->arena);
	f->depth = e->frame->depth + 1;
	f->unlisted = true;
	f->prelude = true;
	f->prefix = "";
	f->site = e->frame->prelude ? e->frame->site : s;
	return f;
}

static Item
run_prelude(Elab *e, FnDecl *fn, Site s, int n, const Item *args)
{
	Frame *caller = e->frame;
	e->frame = prelude_frame(e, fn, s);
	bind_prelude(e, fn, n, args);
	Item result = returned(e, fn, s.range);
	e->frame = caller;
	return result;
}

/* random.normal is random_normal, for a dot separates parts of names. */
static const char *
composite_name(Elab *e, const char *label)
{
	char *name = arena_strndup(e->arena, label, strlen(label));
	for (char *c = name; *c != '\0'; c++)
		if (*c == '.')
			*c = '_';
	return name;
}

/* The tensors among the arguments become parameters of the call's body. */
static Item
run_composite(Elab *e, FnDecl *fn, Site s, int n, const Item *args)
{
	Value *operands[MAX_PARAMS] = {NULL};
	Item inner[MAX_PARAMS];
	int noperands = 0;
	for (int i = 0; i < n; i++)
		if (args[i].kind == IT_tensor)
			operands[noperands++] = args[i].value;
	Op *call = make_begin(at(e, s), O_call, noperands, operands);
	if (call == NULL)
		return item_error(s.range);
	Block *outer = e->block;
	call->composite = composite_name(e, s.label);
	call->bodies = NEW_ARRAY(e->arena, Block *, 1);
	call->nbodies = 1;
	e->block = call->bodies[0] = block_new(e->m, call);
	for (int i = 0; i < n; i++) {
		const Param *param = fn->params.v[i];
		inner[i] = args[i];
		if (args[i].kind == IT_tensor)
			inner[i].value =
				block_add_param(e->block, param->name.s, &args[i].value->type);
	}
	Item result = run_prelude(e, fn, s, n, inner);
	if (result.kind == IT_tensor)
		make_return(e->block, 1, &result.value, s.range, s.label);
	e->block = outer;
	if (result.kind != IT_tensor)
		return item_error(s.range);
	call->results[0]->type = result.value->type;
	return item_tensor(s.range, make_end(at(e, s), call));
}

Item
call_prelude(Elab *e, Site s, const char *name, bool composite, int n, const Item *args)
{
	FnDecl *fn = table_get(e->prelude, name);
	if (fn == NULL || fn->params.n != n)
		die("prelude: no function %s of %d parameters", name, n);
	if (composite && !e->frame->prelude)
		return run_composite(e, fn, s, n, args);
	return run_prelude(e, fn, s, n, args);
}
