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
static Function *
find_entry(Elab *e, int file)
{
	const FrontOptions *o = e->options;
	const char *name = o->entry != NULL ? o->entry : "main";
	const char **names = NULL;
	const FnDecl *last = NULL;
	int n = 0;
	Function *found = table_get(e->functions, name);
	if (found != NULL && found->decl->mode != FN_extern)
		return found;
	if (e->lost & LOST_functions)
		return NULL;
	if (found != NULL)
		return complain(e, DIAG_entry, found->decl->mode_range,
			"the entry is extern; what runs is a function that calls it");
	for (int i = 0; i < table_count(e->functions); i++) {
		const Function *other = table_value(e->functions, i);
		APPEND(e->arena, names, n, table_key(e->functions, i));
		if (other->decl->mode != FN_extern)
			last = other->decl;
	}
	if (o->entry != NULL) {
		diag(e->session, DIAG_usage, nowhere,
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

/* A parameter of the block.  Its type does not see its name, and its sizes are
   declared: elsewhere the call says what b is in f32[b, d], but here is none. */
static Value *
declare_param(Elab *e, const Param *param)
{
	Annotation a;
	Type type;
	Value *v = NULL;
	const Expr *open = NULL;
	const char *what = arena_printf(e->arena, "'%s'", param->name.s);
	for (int d = 0; has_full_type(param) && open == NULL && d < param->type->dims.n; d++)
		open = undeclared_size(e, param->type, d);
	if (param->lost) {
		; /* told already */
	} else if (!has_full_type(param)) {
		complain(e, DIAG_entry, param->range,
			"parameter '%s' of the entry needs a full type: f32[B, D@X]",
			param->name.s);
	} else if (open != NULL && strcmp(open->name, "None") == 0) {
		report_none(e, open->range);
	} else if (open != NULL && (e->lost & LOST_names) == 0) {
		complain(e, DIAG_entry, open->range,
			"size '%s' of the entry is not declared; write dim %s = 8;", open->name,
			open->name);
	} else if (open == NULL && annotation_resolve(e, param->type, &a)
		&& annotation_type(e, &a, what, &type)) {
		v = block_add_param(e->block, param->name.s, &type);
		v->placement = a.placement;
		v->annotated = true;
		v->range = param->name.range;
		v->type_range = param->type->range;
	}
	Symbol *s = symbol_declare(e, SYM_value, param->name);
	s->as = "a parameter";
	s->item = item_tensor(param->name.range, v);
	name_value(e, param->name, UNTYPED_no, v);
	return v;
}

static const char *
result_name(Elab *e, const FnDecl *fn, int i, int n)
{
	const Param *p = fn->has_results ? fn->results.v[i] : NULL;
	if (p != NULL && p->name.s != NULL)
		return p->name.s;
	return n == 1 ? "out" : arena_printf(e->arena, "out%d", i);
}

/* The i-th result as returned, checked against its type; NULL after a message. */
static Value *
add_output(Elab *e, FnDecl *fn, int i, int n, Item *item)
{
	Site s = {item->range, "return", AS_result};
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

/* What a function returns that nobody calls, on whole tensors. */
static bool
run_uncalled(Elab *e, Function *function, Frame *frame, Block *b, int *n, Item **results)
{
	FnDecl *fn = function->decl;
	Value **args = NEW_ARRAY(e->arena, Value *, fn->params.n + 1);
	bool right = true;
	*frame = (Frame){.fn = fn, .names = table_new(e->arena), .prefix = ""};
	frame->lost = fn->lost;
	frame->is_entry = b == e->m->entry;
	frame->unlisted = !frame->is_entry;
	e->frame = frame;
	e->block = b;
	e->mode = fn->mode == FN_explicit ? MODE_explicit : MODE_auto;
	function->active = true;
	function->instances++;
	for (int i = 0; i < fn->params.n; i++) {
		args[i] = declare_param(e, fn->params.v[i]);
		right &= args[i] != NULL;
	}
	if (fn->mode != FN_manual)
		right = run_body(e, fn, n, results);
	else
		right = right && run_manual(e, fn, fn->name.range, args, n, results);
	function->active = false;
	return right;
}

static void
run_entry(Elab *e, Function *function)
{
	FnDecl *fn = function->decl;
	Frame frame;
	int n, errors = diag_errors(e->session);
	Item *results;
	Table *seen = table_new(e->arena);
	bool right = run_uncalled(e, function, &frame, e->m->entry, &n, &results);
	for (int i = 0; right && fn->has_results && i < n; i++) {
		Param *p = fn->results.v[i];
		const char *name = result_name(e, fn, i, n);
		right = table_add(seen, name, p)
			|| complain(e, DIAG_duplicate, p->range, "two results are named '%s'",
				name);
	}
	Value **outputs = right ? NEW_ARRAY(e->arena, Value *, n) : NULL;
	for (int i = 0; outputs != NULL && i < n; i++) {
		outputs[i] = add_output(e, fn, i, n, &results[i]);
		right &= outputs[i] != NULL;
	}
	if (right)
		make_return(e->block, n, outputs, fn->name.range, "return");
	for (int i = 0; right && i < n; i++) {
		const Named *result = &e->m->results[i];
		if (table_get(frame.names, result->name) == NULL)
			APPEND(e->arena, e->m->named, e->m->nnamed, *result);
	}
	if (function->instances == 1 && diag_errors(e->session) == errors)
		symbols_warn_unused(e, &frame);
	e->frame = NULL;
}

/* Functions nobody calls, of which every parameter has a full type without
   undeclared sizes: each in a block of its own, for its mistakes. */
static void
check_uncalled(Elab *e)
{
	for (int i = 0; i < table_count(e->functions); i++) {
		Function *function = table_value(e->functions, i);
		const FnDecl *fn = function->decl;
		Frame frame;
		int n;
		Item *results;
		bool closed = function->instances == 0 && fn->mode != FN_extern;
		for (int k = 0; closed && k < fn->params.n; k++) {
			const Param *p = fn->params.v[k];
			closed = p->lost || has_full_type(p);
			for (int d = 0; closed && !p->lost && d < p->type->dims.n; d++)
				closed = ((const DimSpec *)p->type->dims.v[d])->size != NULL
					&& undeclared_size(e, p->type, d) == NULL;
		}
		if (!closed)
			continue;
		Block *block = block_new(e->m, NULL);
		APPEND(e->arena, e->m->uncalled, e->m->nuncalled, block);
		e->uncalled = fn->mode == FN_manual && fn->manual_axes.n > 0;
		run_uncalled(e, function, &frame, block, &n, &results);
		e->uncalled = false;
		e->frame = NULL;
	}
}

/* The program again, as --check compares with it. */
static void
build_reference(Elab *e, Function *entry)
{
	Module *m = e->m, *reference = module_new(e->session, m->name);
	int errors = diag_errors(e->session);
	reference->mesh = m->mesh;
	reference->entry_name = m->entry_name;
	e->m = reference;
	e->nops = e->nsteps = e->ncalls = 0;
	run_entry(e, entry);
	check_uncalled(e);
	reference->nnamed = reference->nexpects = reference->nuncalled = 0;
	e->m = m;
	if (diag_errors(e->session) == errors)
		m->reference = reference;
}

/* ---- whole programs */

static void
make_checkpoint(List items, const char *name)
{
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		if (d->kind == DECL_fn && strcmp(d->fn->name.s, name) == 0)
			d->fn->checkpoint = true;
	}
}

static Module *
compile(Session *s, int file, const FrontOptions *options)
{
	Elab elab = {.session = s, .arena = s->arena, .options = options};
	static const char prelude[] =
#include "prelude.inc"
		;
	Elab *e = &elab;
	List items;
	e->globals = table_new(e->arena);
	e->functions = table_new(e->arena);
	e->products = table_new(e->arena);
	e->product_lines = table_new(e->arena);
	e->m = module_new(s, module_name(s, file));
	e->m->mesh.target = target_default();
	e->prelude = table_new(e->arena);
	const Program *p = parse_file(s,
		source_add_text(s, "<prelude>", prelude, (int)sizeof prelude - 1), DIAG_syntax);
	if (!p->right)
		die("prelude: syntax error");
	for (int i = 0; i < p->items.n; i++) {
		FnDecl *fn = ((const Decl *)p->items.v[i])->fn;
		table_set(e->prelude, fn->name.s, fn);
	}
	int told = diag_errors(s);
	if (!load_items(s, file, options, &items, &e->lost))
		return NULL;
	if (options->checkpoint)
		make_checkpoint(items, options->checkpoint);
	int errors = diag_errors(s);
	e->repaired = errors != told;
	declare_all(e, items, file);
	count_tokens(e);
	Function *entry = find_entry(e, file);
	if (diag_errors(s) != errors)
		return NULL;
	if (entry != NULL) {
		e->m->entry_name = entry->decl->name.s;
		run_entry(e, entry);
	}
	label_products(e);
	check_uncalled(e);
	if (diag_errors(s) == errors && entry != NULL && replace_by_references(e))
		build_reference(e, entry);
	return e->m;
}

/* Syntax, signatures and bodies are looked at one after the other; told of is what is wrong
   in the order in which it is written. */
Module *
front_compile(Session *s, int file, const FrontOptions *options)
{
	diag_hold(s);
	Module *m = compile(s, file, options);
	diag_release(s);
	return m;
}
