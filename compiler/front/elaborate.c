/*
 * elaborate.c - from source files to a module: declarations, then the entry.
 *
 * requires  a readable file
 * leaves    a module of level L_global: calls inlined, sizes known,
 *           placements as written; every name listed in module.named
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

/* ---- entry */

/* Without one, the last function is the likeliest: it may call all others. */
static FnDecl *
find_entry(Elab *e, int file)
{
	const FrontOptions *o = e->options;
	const char *name = o->entry != NULL ? o->entry : "main";
	const char **names = NULL;
	const FnDecl *last = NULL;
	int n = 0;
	FnDecl *fn = table_get(e->functions, name);
	if (fn != NULL && fn->mode != FN_extern)
		return fn;
	if (fn != NULL)
		return complain(e, DIAG_entry, fn->mode_range,
			"the entry is extern; what runs is a function that calls it");
	for (int i = 0; i < table_count(e->functions); i++) {
		const FnDecl *other = table_value(e->functions, i);
		APPEND(e->arena, names, n, table_key(e->functions, i));
		if (other->mode != FN_extern)
			last = other;
	}
	if (o->entry != NULL) {
		diag(e->session, DIAG_usage, (Range){0},
			"--entry: the program has no function '%s'", name);
		suggest(e, name, names, n);
		return NULL;
	}
	diag(e->session, DIAG_entry, (Range){file, 1, 0, 0},
		"the program has no function 'main'");
	if (last != NULL)
		diag_note(e->session, last->name.range, "--entry=%s compiles this one",
			last->name.s);
	return NULL;
}

/* f32[b, d]: elsewhere the call says what b is; nobody calls the entry. */
static bool
sizes_declared(Elab *e, const TypeSpec *type)
{
	for (int d = 0; d < type->dims.n; d++) {
		const Expr *size = ((const DimSpec *)type->dims.v[d])->size;
		if (size == NULL || size->kind != E_name || symbol_find(e, size->name) != NULL)
			continue;
		if (strcmp(size->name, "None") == 0)
			report_none(e, size->range);
		else
			complain(e, DIAG_entry, size->range,
				"'%s' is not declared; the sizes of the entry are, as in dim "
				"%s = 8;",
				size->name, size->name);
		return false;
	}
	return true;
}

/* A parameter of the block.  Its type does not see its name. */
static void
declare_param(Elab *e, const Param *p, bool is_entry)
{
	Annotation a;
	Type type;
	Value *v = NULL;
	if (p->type == NULL || (p->type->name.s == NULL && !p->type->has_dtype)) {
		complain(e, DIAG_entry, p->range,
			"parameter '%s' of the entry needs a full type: f32[B, D@X]",
			p->name.s);
	} else if (sizes_declared(e, p->type) && annotation_resolve(e, p->type, &a)
		&& annotation_type(e, &a, &type)) {
		v = block_add_param(e->block, p->name.s, &type);
		v->placement = a.placement;
		v->annotated = true;
		v->range = p->name.range;
		v->type_range = p->type->range;
	}
	Symbol *s = symbol_declare(e, SYM_value, p->name);
	if (s != NULL)
		s->item = item_tensor(p->name.range, v);
	if (is_entry)
		name_value(e, p->name, UNTYPED_no, v);
}

static const char *
result_name(Elab *e, const FnDecl *fn, int i, int n)
{
	const Param *p = fn->has_results ? fn->results.v[i] : NULL;
	if (p != NULL && p->name.s != NULL)
		return p->name.s;
	return n == 1 ? "out" : arena_printf(e->arena, "out%d", i);
}

static bool
result_names_differ(Elab *e, const FnDecl *fn)
{
	Table *seen = table_new(e->arena);
	for (int i = 0; fn->has_results && i < fn->results.n; i++) {
		const Param *p = fn->results.v[i];
		const char *name = result_name(e, fn, i, fn->results.n);
		if (table_get(seen, name) != NULL)
			return complain(e, DIAG_duplicate, p->range,
				"two results are named '%s'", name);
		table_set(seen, name, (void *)p);
	}
	return true;
}

/* The i-th result as returned, checked against its type; NULL after a message. */
static Value *
add_output(Elab *e, FnDecl *fn, int i, int n, Item *item)
{
	Site s = {item->range, "return", AS_call};
	const Param *p = fn->has_results ? fn->results.v[i] : NULL;
	const char *name = result_name(e, fn, i, n);
	Annotation a = {0};
	Value *v = item->value;
	if (p == NULL && item->kind != IT_tensor)
		return complain(e, DIAG_literal, item->range,
			"the result is %s, which has no dtype; write it as a cast: f32(...)",
			show_item(e, item));
	if (p != NULL)
		v = item->kind != IT_error && annotation_resolve(e, p->type, &a)
			? annotation_fit(e, s, &a, item, DIAG_results, "the result")
			: NULL;
	v = make_unary(at(e, s), O_output, v);
	if (v == NULL)
		return NULL;
	v->name = module_unique_name(e->m, name);
	v->range = item->range;
	if (p != NULL) {
		v->placement = a.placement;
		v->annotated = true;
		v->type_range = p->type->range;
	}
	Named named = {name, v, v->type, v->placement};
	APPEND(e->arena, e->m->results, e->m->nresults, named);
	return v;
}

/* The values of the results, from parameters that are whole tensors. */
static bool
run_declared(Elab *e, FnDecl *fn, int *n, Item **results)
{
	Value **args = NEW_ARRAY(e->arena, Value *, fn->params.n + 1);
	if (fn->mode != FN_manual)
		return run_body(e, fn, n, results);
	for (int i = 0; i < fn->params.n; i++) {
		const Param *p = fn->params.v[i];
		args[i] = symbol_local(e, p->name.s)->item.value;
		if (args[i] == NULL)
			return false;
	}
	return run_manual(e, fn, fn->name.range, args, n, results);
}

static void
run_entry(Elab *e, FnDecl *fn)
{
	int n;
	Item *results;
	bool right = true;
	for (int i = 0; i < fn->params.n; i++)
		declare_param(e, fn->params.v[i], true);
	if (!run_declared(e, fn, &n, &results) || !result_names_differ(e, fn))
		return;
	Value **outputs = NEW_ARRAY(e->arena, Value *, n);
	for (int i = 0; i < n; i++) {
		outputs[i] = add_output(e, fn, i, n, &results[i]);
		right &= outputs[i] != NULL;
	}
	if (!right)
		return;
	make_return(e->block, n, outputs, fn->name.range, "return");
	for (int i = 0; i < n; i++) {
		const Named *result = &e->m->results[i];
		if (table_get(e->frame->names, result->name) == NULL)
			APPEND(e->arena, e->m->named, e->m->nnamed, *result);
	}
}

/* What a function is elaborated in that nobody calls. */
static void
enter(Elab *e, FnDecl *fn, Frame *frame, Block *block)
{
	frame->fn = fn;
	frame->names = table_new(e->arena);
	frame->prefix = "";
	e->frame = frame;
	e->block = block;
	e->mode = fn->mode == FN_explicit ? MODE_explicit : MODE_auto;
	fn->active = true;
	fn->instances++;
}

static void
elaborate_entry(Elab *e, FnDecl *fn)
{
	Frame frame = {.is_entry = true};
	int errors = diag_errors(e->session);
	enter(e, fn, &frame, e->m->entry);
	run_entry(e, fn);
	fn->active = false;
	if (diag_errors(e->session) == errors)
		symbols_warn_unused(e, &frame);
	e->frame = NULL;
}

/* ---- functions nobody calls */

/* Every parameter has a full type without undeclared sizes. */
static bool
is_closed(Elab *e, const FnDecl *fn)
{
	for (int i = 0; i < fn->params.n; i++) {
		const Param *p = fn->params.v[i];
		if (p->type == NULL || (!p->type->has_dtype && p->type->name.s == NULL))
			return false;
		for (int d = 0; d < p->type->dims.n; d++) {
			const DimSpec *dim = p->type->dims.v[d];
			if (dim->size == NULL)
				return false;
			if (dim->size->kind == E_name
				&& table_get(e->globals, dim->size->name) == NULL)
				return false;
		}
	}
	return true;
}

/* Each is elaborated into a block of its own, for its mistakes. */
static void
check_uncalled(Elab *e)
{
	for (int i = 0; i < table_count(e->functions); i++) {
		FnDecl *fn = table_value(e->functions, i);
		Frame frame = {.unlisted = true};
		int n;
		Item *results;
		if (fn->instances > 0 || fn->mode == FN_extern || !is_closed(e, fn))
			continue;
		enter(e, fn, &frame, block_new(e->m, NULL));
		e->uncalled = fn->mode == FN_manual && fn->manual_axes.n > 0;
		for (int k = 0; k < fn->params.n; k++)
			declare_param(e, fn->params.v[k], false);
		APPEND(e->arena, e->m->uncalled, e->m->nuncalled, e->block);
		run_declared(e, fn, &n, &results);
		fn->active = e->uncalled = false;
		e->frame = NULL;
	}
}

/* ---- whole programs */

static void
load_prelude(Elab *e)
{
	static const char text[] =
#include "prelude.inc"
		;
	int file = source_add_text(e->session, "<prelude>", text, (int)sizeof text - 1);
	const Program *p = parse_file(e->session, file, DIAG_syntax);
	if (p == NULL)
		die("prelude: syntax error");
	e->prelude = table_new(e->arena);
	for (int i = 0; i < p->items.n; i++) {
		const Decl *d = p->items.v[i];
		table_set(e->prelude, d->fn->name.s, d->fn);
	}
}

/* The file's name without directory and suffix. */
static const char *
module_name(Elab *e, int file)
{
	const char *path = source_file(e->session, file)->path;
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t n = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
	char *name = arena_strndup(e->arena, base, n);
	for (char *c = name; *c != '\0'; c++)
		if (!is_identifier((char[]){'_', *c, '\0'}))
			*c = '_';
	return is_identifier(name) ? name : arena_printf(e->arena, "m%s", name);
}

Module *
front_compile(Session *session, int file, const FrontOptions *options)
{
	Elab elab = {.session = session, .arena = session->arena, .options = options};
	Elab *e = &elab;
	int errors = diag_errors(session);
	List items;
	e->globals = table_new(e->arena);
	e->functions = table_new(e->arena);
	e->m = module_new(session, module_name(e, file));
	e->m->mesh.target = target_default();
	load_prelude(e);
	if (!load_items(session, file, &items))
		return NULL;
	declare_all(e, items, file);
	FnDecl *entry = find_entry(e, file);
	if (entry == NULL || diag_errors(session) != errors)
		return NULL;
	e->m->entry_name = entry->name.s;
	elaborate_entry(e, entry);
	check_uncalled(e);
	return e->m;
}
