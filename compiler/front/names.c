/*
 * names.c - what names mean: axes, dims, types and values in one namespace.
 *
 * A function's names are in its frame, everything else is global; the
 * prelude's functions do not see the program's names, whatever they are.
 */
#include <string.h>

#include "functions/builtins.h"

static Symbol *
find_global(Elab *e, const char *name)
{
	if (e->frame != NULL && e->frame->prelude)
		return NULL;
	return table_get(e->globals, name);
}

bool
is_axis(Elab *e, const char *name)
{
	const Symbol *s = find_global(e, name);
	return s != NULL && s->kind == SYM_axis;
}

Symbol *
symbol_local(Elab *e, const char *name)
{
	return e->frame != NULL ? table_get(e->frame->names, name) : NULL;
}

Symbol *
symbol_find(Elab *e, const char *name)
{
	Symbol *s = symbol_local(e, name);
	if (s == NULL)
		s = find_global(e, name);
	if (s != NULL)
		s->used = true;
	return s;
}

/* h2, unless the name is taken; for what would be bound to the name of another value. */
static const char *
other_name(Elab *e, const char *name)
{
	const char *other;
	int n = 2;
	do
		other = arena_printf(e->arena, "%s%d", name, n++);
	while (symbol_local(e, other) != NULL || find_global(e, other) != NULL);
	return other;
}

/* var l = lhs; its first letter, if that is free */
void
note_bound(Elab *e, const Symbol *symbol)
{
	const char *copy = arena_printf(e->arena, "%.1s", symbol->name);
	if (symbol->as == NULL) {
		diag_note(e->session, symbol->range, "'%s' was declared here", symbol->name);
		return;
	}
	if (symbol_local(e, copy) != NULL || find_global(e, copy) != NULL
		|| !is_identifier(copy))
		copy = other_name(e, symbol->name);
	diag_note(e->session, symbol->range,
		"it is %s here; to assign again, write var %s = %s;", symbol->as, copy,
		symbol->name);
}

/* Of another type than the value of this name, which cannot become it? */
static bool
is_of_other_type(const Symbol *old, const Item *item)
{
	return item != NULL && item->kind == IT_tensor && old->item.kind == IT_tensor
		&& !type_equal(&item->value->type, &old->item.value->type);
}

/* A value is bound to the name of another. */
static void
report_bound(Elab *e, Name name, const Symbol *old, const Item *item)
{
	const char *is = old->as != NULL ? old->as : old->is_var ? "a var" : "bound";
	if (is_of_other_type(old, item)) {
		complain(e, DIAG_duplicate, name.range,
			"'%s' is %s already, of another type; write let %s = ...;", name.s, is,
			other_name(e, name.s));
		diag_note(e->session, old->range, "'%s' is %s", name.s,
			show_item(e, &old->item));
		return;
	}
	complain(e, DIAG_duplicate, name.range,
		old->is_var	  ? "'%s' is %s already; to assign again, write %s = ...;"
			: old->as ? "'%s' is %s already"
				  : "'%s' is %s already; to assign again, declare it with var",
		name.s, is, name.s);
	note_bound(e, old);
}

Symbol *
symbol_declare(Elab *e, SymbolKind kind, Name name)
{
	return symbol_bind(e, kind, name, NULL);
}

Symbol *
symbol_bind(Elab *e, SymbolKind kind, Name name, const Item *item)
{
	static const char *const kind_words[] = {
		[SYM_axis] = "a mesh axis",
		[SYM_dim] = "a dim",
		[SYM_type] = "a type",
		[SYM_value] = "a value",
	};
	Symbol *old = find_global(e, name.s);
	if (old == NULL)
		old = symbol_local(e, name.s);
	if (old != NULL) {
		bool values = old->kind == SYM_value && kind == SYM_value;
		if (values)
			report_bound(e, name, old, item);
		else if (old->kind == kind)
			complain(e, DIAG_duplicate, name.range, "'%s' is declared twice",
				name.s);
		else
			complain(e, DIAG_duplicate, name.range,
				"'%s' is %s already; axes, dims, types and values share one "
				"namespace",
				name.s, kind_words[old->kind]);
		if (!values)
			note_bound(e, old);
		if (e->frame == NULL)
			return NULL;
	}
	Symbol *s = NEW(e->arena, Symbol);
	s->kind = kind;
	s->name = name.s;
	s->range = name.range;
	s->named = -1;
	s->hidden = symbol_local(e, name.s);
	table_set(e->frame != NULL ? e->frame->names : e->globals, name.s, s);
	if (e->frame == NULL)
		return s;
	s->used = e->frame->repeated; /* one warning is enough */
	APPEND(e->arena, e->frame->symbols, e->frame->nsymbols, s);
	return s;
}

void
declare_lost_axis(Elab *e, Name name)
{
	Symbol *s = NEW(e->arena, Symbol);
	*s = (Symbol){.kind = SYM_axis, .name = name.s, .range = name.range, .named = -1};
	s->item = item_error;
	table_set(e->globals, name.s, s);
}

void
scope_leave(Elab *e, int scope)
{
	const Frame *f = e->frame;
	for (int i = f->nsymbols - 1; i >= scope; i--)
		table_set(f->names, f->symbols[i]->name, f->symbols[i]->hidden);
}

static bool
is_parameter(const FnDecl *fn, const Symbol *symbol)
{
	for (int i = 0; i < fn->params.n; i++)
		if (((const Param *)fn->params.v[i])->range.begin == symbol->range.begin)
			return true;
	return false;
}

void
symbols_warn_unused(Elab *e, const Frame *frame)
{
	const Function *function = table_get(e->functions, frame->fn->name.s);

	for (int i = 0; i < frame->nsymbols && !e->repaired; i++) {
		const Symbol *s = frame->symbols[i];
		bool given = function && function->gives_gradient && is_parameter(frame->fn, s);
		if (!s->used && s->name[0] != '_' && !given)
			diag(e->session, DIAG_unused, s->range, "'%s' is never used", s->name);
	}
}

/* What other languages call the dtypes. */
static const Habit dtype_habits[] = {
	{"f8", "f8e4m3fn"},
	{"fp8", "f8e4m3fn"},
	{"float4_e2m1fn", "f4e2m1fn"},
	{"float8", "f8e4m3fn"},
	{"float8_e3m4", "f8e3m4"},
	{"float8_e4m3", "f8e4m3"},
	{"float8_e4m3b11fnuz", "f8e4m3b11fnuz"},
	{"float8_e4m3fn", "f8e4m3fn"},
	{"float8_e4m3fnuz", "f8e4m3fnuz"},
	{"float8_e5m2", "f8e5m2"},
	{"float8_e5m2fnuz", "f8e5m2fnuz"},
	{"float8_e8m0fnu", "f8e8m0fnu"},
	{"float16", "f16"},
	{"half", "f16"},
	{"bfloat16", "bf16"},
	{"float32", "f32"},
	{"float", "f32"},
	{"float64", "f64"},
	{"double", "f64"},
	{"int4", "i4"},
	{"uint4", "u4"},
	{"int8", "i8"},
	{"int16", "i16"},
	{"int32", "i32"},
	{"int", "i32"},
	{"int64", "i64"},
	{"uint8", "u8"},
	{"uint16", "u16"},
	{"uint32", "u32"},
	{"uint64", "u64"},
	{"bool", "pred"},
	{"s8", "i8"},
	{"s16", "i16"},
	{"s32", "i32"},
	{"s64", "i64"},
};

const char *
dtype_habit(const char *name)
{
	return HABIT(dtype_habits, name);
}

static const Habit constant_habits[] = {
	{"True", "it is written true"},
	{"False", "it is written false"},
	{"None", "leave the argument out; x[:, new] inserts a dim"},
	{"newaxis", "x[:, new] inserts a dim"},
	{"break", "a loop ends at its bound, or by the condition of a while"},
	{"continue", "an if holds what is not always done"},
	{"pass", "leave it out"},
	{"jnp", "functions are built in and need no module: exp(x)"},
	{"np", "functions are built in and need no module: exp(x)"},
	{"jax", "functions are built in and need no module: exp(x)"},
	{"tf", "functions are built in and need no module: exp(x)"},
	{"torch", "functions are built in and need no module: exp(x)"},
	{"lax", "functions are built in and need no module: exp(x)"},
};

bool
is_habit(const char *name)
{
	return HABIT(constant_habits, name) != NULL;
}

void
report_unknown_name(Elab *e, Range where, const char *name)
{
	enum { MAX_HINTS = 100 };
	const char *hint = HABIT(constant_habits, name), **words = NULL;
	int n = 0;
	if (e->frame != NULL && e->frame->lost)
		return;
	if (hint != NULL) {
		complain(e, DIAG_habit, where, "there is no '%s' here: %s", name, hint);
		return;
	}
	if (dtype_habit(name) != NULL) {
		complain(e, DIAG_habit, where, "'%s' is written %s", name, dtype_habit(name));
		return;
	}
	if (e->lost & LOST_names)
		return;
	if (table_get(e->functions, name) != NULL || builtin_find(name) != NULL) {
		complain(e, DIAG_unknown_name, where,
			"'%s' is a function; its arguments are missing", name);
		return;
	}
	if (e->frame != NULL && e->frame->unbound != NULL
		&& table_get(e->frame->unbound, name) != NULL)
		return;
	complain(e, DIAG_unknown_name, where, "'%s' is not declared", name);
	/* The nearest of all names in sight; not for each of 100,000 mistakes. */
	if (name[1] == '\0' || diag_errors(e->session) > MAX_HINTS)
		return;
	for (int i = 0; e->frame != NULL && i < table_count(e->frame->names); i++)
		if (table_value(e->frame->names, i) != NULL)
			APPEND(e->arena, words, n, table_key(e->frame->names, i));
	for (int i = 0; i < table_count(e->globals); i++)
		APPEND(e->arena, words, n, table_key(e->globals, i));
	suggest(e, name, words, n);
}

static const Habit function_habits[] = {
	{"P", "placements are written in types: f32[B@X, D@(Y,Z), F]"},
	{"PartitionSpec", "placements are written in types: f32[B@X, D@(Y,Z), F]"},
	{"NamedSharding", "placements are written in types: f32[B@X, D@(Y,Z), F]"},
	{"with_sharding_constraint", "use a placed let: let h: [B@X, F] = ...;"},
	{"dot", "use matmul(a, b) or an einsum"},
	{"astype", "a cast is a call of the dtype: f32(x)"},
	{"arange", "use iota(i32[N])"},
	{"concatenate", "use concat((a, b), dim=0)"},
	{"power", "use pow(a, b)"},
	{"absolute", "use abs(x)"},
	{"broadcast_to", "use broadcast(x, [B, D])"},
	{"moveaxis", "use transpose(x, (1, 0))"},
	{"ravel", "use reshape(x, [_])"},
	{"flatten", "use reshape(x, [_])"},
	{"expand_dims", "index with new: x[:, new]"},
	{"squeeze", "index with 0: x[:, 0]"},
	{"shape", "the size of dim d is size(x, d)"},
	{"len", "the size of dim d is size(x, d)"},
	{"select", "use where(p, a, b)"},
	{"norm", "use rms_norm(x), layer_norm(x) or sqrt(sum(square(x)))"},
	{"zeros_like", "use zeros(f32[...])"},
	{"ones_like", "use ones(f32[...])"},
	{"range", "a range is written 0..N"},
	{"clip", "use clamp(lo, x, hi)"},
	{"std", "use sqrt(var(x))"},
	{"isnan", "use x != x"},
	{"isinf", "use abs(x) == inf"},
	{"logical_and", "it is written a && b"},
	{"logical_or", "it is written a || b"},
	{"logical_not", "it is written !a"},
	{"mod", "the remainder is a % b"},
	{"remainder", "the remainder is a % b"},
	{"negative", "it is written -x"},
	{"swish", "use silu(x)"},
	{"hstack", "use concat((a, b), dim=1)"},
	{"vstack", "use concat((a, b), dim=0)"},
	{"tile", "use concat((x, x), dim=0); repeat(x, n) gives a a b b"},
	{"eye", "compare indices: f32(iota(i32[N, N]) == iota(i32[N, N], 1))"},
	{"tril", "compare indices: where(iota(T) >= iota(T, dim=1), x, 0)"},
	{"triu", "compare indices: where(iota(T) <= iota(T, dim=1), x, 0)"},
	{"full_like", "use full(f32[...], v)"},
	{"swapaxes", "use transpose(x, (1, 0))"},
	{"jit", "a program is compiled as a whole"},
	{"vmap", "write the dim: tensors have it, and einsum names it"},
	{"pmap", "declare the function manual fn, and call it"},
	{"fori_loop", "a loop is for i in 0..n { ... }, and assigns vars"},
	{"while_loop", "a loop is while p { ... }, and assigns vars"},
	{"unroll", "an unrolled loop is for unroll i in 0..n { ... }"},
	{"scan", "a loop is for w in Ws { ... }, over dim 0, and assigns vars"},
	{"cond", "a branch is if p { ... } else { ... }, or where(p, a, b)"},
	{"take_along_axis", "use take_along(x, idx, dim=1)"},
	{"linspace", "use a + iota(f32[N]) * ((b - a) / (N - 1))"},
	{"normalize", "use x / sqrt(sum(square(x), dim=-1, keep=true)), or layer_norm(x)"},
	{"dropout", "use where(random.uniform(f32[B, D], seed) < p, x / p, 0)"},
	{"shard_map", "declare the function manual fn, and call it"},
	{"checkpoint", "what is computed once more is a function: checkpoint fn f(x) { ... }"},
	{"remat", "what is computed once more is a function: checkpoint fn f(x) { ... }"},
	{"checkpoint_name", "in a checkpoint fn, save(x) says what is kept"},
	{"custom_vjp", "a function says its rule: fn f(x) gradient f_back { ... }"},
	{"custom_jvp", "a function says its rule: fn f(x) gradient f_back { ... }"},
	{"custom_gradient", "a function says its rule: fn f(x) gradient f_back { ... }"},
	{"jvp", "gradients go backward: vjp(f)(x)(dy)"},
	{"jacfwd", "a row of it is vjp(f)(x)(dy), for dy with a 1 in one place"},
	{"jacrev", "a row of it is vjp(f)(x)(dy), for dy with a 1 in one place"},
	{"hessian",
		"times v, it is the gradient of fn g(x, v) { return sum(grad(f)(x) * v); }"},
	{"gradient", "use grad(f, wrt=(W))(x, W)"},
	{"stop_grad", "use stop_gradient(x)"},
	{"no_grad", "use stop_gradient(x), of each value that is to be a constant"},
	{"detach", "use stop_gradient(x)"},
	{"tree_map", "there are no trees: write it for each gradient, W1 - g1 * rate"},
	{"random.key", "a seed is an integer: random.uniform(f32[B], 0)"},
	{"random.PRNGKey", "a seed is an integer: random.uniform(f32[B], 0)"},
	{"random.split", "a seed is an integer: random.uniform(f32[B], 0)"},
};

void
report_unknown_function(Elab *e, Range where, const char *name)
{
	const char *hint = HABIT(function_habits, name);
	const Symbol *bound = symbol_find(e, name);
	if (bound != NULL && bound->kind == SYM_value && bound->item.kind == IT_error)
		return; /* let f = lambda ...: told there */
	if (hint != NULL) {
		complain(e, DIAG_habit, where, "there is no function '%s' here: %s", name,
			hint);
		return;
	}
	if (dtype_habit(name) != NULL) {
		complain(e, DIAG_habit, where, "'%s' is written %s: %s(x)", name,
			dtype_habit(name), dtype_habit(name));
		return;
	}
	if (e->lost & LOST_functions)
		return;
	complain(e, DIAG_unknown_function, where, "there is no function '%s'", name);
	const char **words = NULL;
	int n = 0;
	for (int i = 0; i < table_count(e->functions); i++) /* of equally near ones first */
		APPEND(e->arena, words, n, table_key(e->functions, i));
	for (int i = 0; i < nbuiltins; i++)
		if (builtins[i].place != PLACE_internal)
			APPEND(e->arena, words, n, builtins[i].name);
	suggest(e, name, words, n);
}

void
report_unknown_member(Elab *e, const Expr *module, const Expr *x)
{
	bool other = is_habit(module->name);
	if (other && HABIT(function_habits, x->name) != NULL)
		report_unknown_function(e, x->range, x->name);
	else if (other && x != module && builtin_find(x->name) != NULL)
		complain(e, DIAG_habit, module->range,
			"there is no '%s' here: functions are built in and need no module: "
			"%s(x)",
			module->name, x->name);
	else
		report_unknown_name(e, module->range, module->name);
}

static const char *
full_name(Elab *e, Name name)
{
	return arena_printf(e->arena, "%s%s", e->frame->prefix, name.s);
}

void
give_name(Elab *e, Name name, Value *v)
{
	if (v->range.file != 0 || e->frame->prelude)
		return;
	v->name = module_unique_name(e->m, full_name(e, name));
	v->range = name.range;
}

int
name_value(Elab *e, Name name, Untyped untyped, Value *v)
{
	const Frame *f = e->frame;
	if (v == NULL || f->prelude)
		return -1;
	if (v->range.file == 0)
		v->untyped = untyped;
	give_name(e, name, v);
	if (f->unlisted || f->repeated)
		return -1;
	const char *full = full_name(e, name);
	Named named = {full, v, v->type, v->placement};
	APPEND(e->arena, e->m->named, e->m->nnamed, named);
	return e->m->nnamed - 1;
}
