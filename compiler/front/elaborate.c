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

/* ---- messages */

static void
note_calls(Elab *e)
{
	enum { MOST = 4 };
	int n = 0;
	for (const Frame *f = e->frame; f != NULL && f->caller != NULL; f = f->caller) {
		if (f->prelude)
			continue;
		if (++n > MOST)
			break;
		diag_note(e->session, f->call, "in this call of '%s'", f->fn->name.s);
	}
}

void
complain(Elab *e, DiagCode code, Range where, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(e->arena, fmt, ap);
	va_end(ap);
	if (e->frame != NULL && e->frame->prelude)
		where = e->frame->site.range;
	diag(e->session, e->on_command_line ? DIAG_usage : code, where, "%s", text);
	note_calls(e);
}

const char *
show_type(Elab *e, const Type *t)
{
	return type_shape(e->arena, t);
}

const char *
show_item(Elab *e, const Item *x)
{
	static const char *const words[] = {
		[IT_error] = "an error",
		[IT_absent] = "nothing",
		[IT_int] = "an integer literal",
		[IT_float] = "a float literal",
		[IT_bool] = "true or false",
		[IT_string] = "a string",
		[IT_type] = "a type",
		[IT_axis] = "a mesh axis",
	};
	if (x->kind == IT_tensor)
		return show_type(e, &x->value->type);
	if (x->kind == IT_tuple)
		return arena_printf(e->arena, "a tuple of %d", x->n);
	return words[x->kind];
}

/* ---- the command line's expressions */

static void
suggest(Elab *e, const char *name, const char *const *names, int n)
{
	const char *near = nearest_word(name, names, n);
	if (near != NULL)
		diag_note(e->session, (Range){0}, "did you mean '%s'?", near);
}

/* The expression of NAME=TEXT, read as the declaration it stands for. */
static const Expr *
parse_override(Elab *e, const char *option, const Override *o)
{
	Session *s = e->session;
	const Program *program = NULL;
	if (is_identifier(o->name)) {
		const char *text = arena_printf(e->arena, "dim %s = %s;", o->name, o->text);
		int file = source_add_text(s, option, text, (int)strlen(text));
		program = parse_file(s, file, DIAG_usage);
		if (program == NULL)
			return NULL;
	}
	const Decl *d = program != NULL && program->items.n == 1 ? program->items.v[0] : NULL;
	if (d != NULL && d->kind == DECL_dim)
		return d->value;
	diag(s, DIAG_usage, (Range){0}, "%s takes NAME=SIZE, not '%s=%s'", option, o->name,
		o->text);
	return NULL;
}

static bool
eval_override(Elab *e, const char *option, const Override *o, int64_t *value)
{
	const Expr *x = parse_override(e, option, o);
	e->on_command_line = true;
	bool right = x != NULL && eval_size(e, x, value);
	e->on_command_line = false;
	return right;
}

static const Override *
find_override(const Override *o, int n, const char *name)
{
	const Override *found = NULL;
	for (int i = 0; i < n; i++) /* the last one counts */
		if (strcmp(o[i].name, name) == 0)
			found = &o[i];
	return found;
}

/* ---- the mesh */

static bool
axis_size(Elab *e, const Decl *axis, int64_t *size)
{
	const FrontOptions *o = e->options;
	const Override *override = find_override(o->axes, o->naxes, axis->name.s);
	if (override == NULL ? !eval_size(e, axis->value, size)
			     : !eval_override(e, "--mesh", override, size))
		return false;
	if (*size >= 1 && *size <= INT32_MAX)
		return true;
	e->on_command_line = override != NULL;
	complain(e, DIAG_mesh, override != NULL ? (Range){0} : axis->value->range,
		"axis %s has size %" PRId64 "; sizes are 1 to %d", axis->name.s, *size,
		INT32_MAX);
	e->on_command_line = false;
	return false;
}

static void
declare_axis(Elab *e, const Decl *axis)
{
	Mesh *mesh = &e->m->mesh;
	int64_t size;
	if (!axis_size(e, axis, &size))
		return;
	if (mesh->naxes == MAX_AXES) {
		complain(e, DIAG_mesh, axis->name.range, "a mesh has at most %d axes",
			MAX_AXES);
		return;
	}
	Symbol *s = symbol_declare(e, SYM_axis, axis->name);
	if (s == NULL)
		return;
	if (!mul_i64(mesh->ndevices, size, &mesh->ndevices) || mesh->ndevices > MAX_DEVICES) {
		complain(e, DIAG_mesh, axis->range,
			"a mesh has at most %d "
			"devices",
			MAX_DEVICES);
		mesh->ndevices = 1;
		return;
	}
	s->item = item_int(axis->name.range, mesh->naxes);
	mesh->axes[mesh->naxes++] = (MeshAxis){axis->name.s, size, axis->name.range};
}

/* The "4x4x8" of a target; false when it is not that. */
static bool
parse_topology(const char *text, int64_t *dims, int *rank)
{
	*rank = 0;
	for (const char *c = text;; c++) {
		int64_t n = 0;
		if (*c < '1' || *c > '9' || *rank == 4)
			return false;
		for (; *c >= '0' && *c <= '9'; c++)
			if (!mul_i64(n, 10, &n) || !add_i64(n, *c - '0', &n))
				return false;
		dims[(*rank)++] = n;
		if (*c == '\0')
			return true;
		if (*c != 'x')
			return false;
	}
}

static void
complain_unknown_target(Elab *e, Range where, const char *name)
{
	Text t = {0};
	for (int i = 0; i < target_count(); i++)
		text_printf(&t, " %s", target_at(i)->name);
	complain(e, DIAG_target, where, "there is no target '%s'; there are%s", name, t.s);
	text_free(&t);
}

static bool
topology_fits(Elab *e, Range where, const char *text)
{
	Mesh *mesh = &e->m->mesh;
	int64_t chips = 1;
	bool fits = true;
	for (int i = 0; i < mesh->topology_rank; i++)
		fits = fits && mul_i64(chips, mesh->topology[i], &chips);
	if (mesh->topology_rank > mesh->target->torus_rank)
		complain(e, DIAG_target, where,
			"topology %s has %d dims; %s "
			"is a torus of %d",
			text, mesh->topology_rank, mesh->target->name,
			mesh->target->torus_rank);
	else if (!fits)
		complain(e, DIAG_target, where,
			"topology %s has more chips "
			"than fit in 64 bits",
			text);
	else if (chips != mesh->ndevices)
		complain(e, DIAG_target, where,
			"topology %s has %" PRId64 " chips, the mesh has %" PRId64 " devices",
			text, chips, mesh->ndevices);
	else
		return true;
	return false;
}

static void
set_target(Elab *e, Range where, const char *text, bool with_topology)
{
	Mesh *mesh = &e->m->mesh;
	const char *colon = strchr(text, ':');
	size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
	const char *name = arena_strndup(e->arena, text, n);
	const Target *target = target_by_name(name);
	if (target == NULL) {
		complain_unknown_target(e, where, name);
		return;
	}
	mesh->target = target;
	if (colon == NULL)
		return;
	if (!parse_topology(colon + 1, mesh->topology, &mesh->topology_rank))
		complain(e, DIAG_target, where,
			"'%s' is not a topology; it is "
			"written 4x4x8",
			colon + 1);
	else if (with_topology && topology_fits(e, where, colon + 1))
		return;
	mesh->topology_rank = 0;
}

static void
choose_target(Elab *e, const Decl *d)
{
	const FrontOptions *o = e->options;
	bool resized = o->naxes > 0;
	if (o->target != NULL) {
		e->on_command_line = true;
		set_target(e, (Range){0}, o->target, true);
		e->on_command_line = false;
		return;
	}
	if (d->target.s == NULL)
		return;
	set_target(e, d->target.range, d->target.s, !resized);
	if (resized && strchr(d->target.s, ':') != NULL)
		diag(e->session, DIAG_topology_dropped, d->target.range,
			"--mesh drops this topology: each axis is a ring of "
			"its own; --on gives another");
}

static void
report_no_axis(Elab *e, const Decl *d, const char *name)
{
	const char **names = NULL;
	int n = 0;
	for (int i = 0; i < d->axes.n; i++) {
		const Decl *axis = d->axes.v[i];
		APPEND(e->arena, names, n, axis->name.s);
	}
	diag(e->session, DIAG_usage, d->range, "--mesh: the mesh has no axis '%s'", name);
	suggest(e, name, names, n);
}

static void
check_axis_overrides(Elab *e, const Decl *d)
{
	const FrontOptions *o = e->options;
	for (int i = 0; i < o->naxes; i++) {
		bool found = false;
		for (int k = 0; k < d->axes.n; k++) {
			const Decl *axis = d->axes.v[k];
			found |= strcmp(axis->name.s, o->axes[i].name) == 0;
		}
		if (!found)
			report_no_axis(e, d, o->axes[i].name);
	}
}

static void
declare_mesh(Elab *e, const Decl *d)
{
	if (e->mesh_range.file != 0) {
		complain(e, DIAG_mesh, d->range, "a program has one mesh");
		diag_note(e->session, e->mesh_range, "the mesh");
		return;
	}
	e->mesh_range = d->range;
	check_axis_overrides(e, d);
	for (int i = 0; i < d->axes.n; i++)
		declare_axis(e, d->axes.v[i]);
	choose_target(e, d);
}

/* ---- other declarations */

static void
declare_dim(Elab *e, const Decl *d)
{
	const FrontOptions *o = e->options;
	const Override *override = find_override(o->dims, o->ndims, d->name.s);
	int64_t value = 1;
	bool right = override == NULL ? eval_size(e, d->value, &value)
				      : eval_override(e, "-D", override, &value);
	Symbol *s = symbol_declare(e, SYM_dim, d->name);
	if (s != NULL)
		s->item = right ? item_int(d->name.range, value) : item_error(d->name.range);
}

static void
declare_type(Elab *e, const Decl *d)
{
	Symbol *s = symbol_declare(e, SYM_type, d->name);
	if (s != NULL)
		s->type = d->type;
}

static void
check_params(Elab *e, const FnDecl *fn)
{
	Table *seen = table_new(e->arena);
	for (int i = 0; i < fn->params.n; i++) {
		const Param *p = fn->params.v[i];
		const Param *first = table_get(seen, p->name.s);
		if (first != NULL) {
			complain(e, DIAG_duplicate, p->name.range,
				"parameter '%s' is declared twice", p->name.s);
			diag_note(e->session, first->name.range, "first here");
		}
		table_set(seen, p->name.s, (void *)p);
	}
}

static void
declare_fn(Elab *e, const Decl *d)
{
	FnDecl *fn = d->fn;
	const FnDecl *old = table_get(e->functions, fn->name.s);
	if (old != NULL) {
		complain(e, DIAG_duplicate, fn->name.range, "function '%s' is declared twice",
			fn->name.s);
		diag_note(e->session, old->name.range, "'%s' was declared here", fn->name.s);
		return;
	}
	check_params(e, fn);
	if (fn->mode == FN_extern)
		check_extern(e, fn);
	table_set(e->functions, fn->name.s, fn);
}

/* ---- entry */

/* The last function is the likeliest: it may call all others. */
static void
offer_entry(Elab *e)
{
	for (int i = table_count(e->functions) - 1; i >= 0; i--) {
		const FnDecl *fn = table_value(e->functions, i);
		if (fn->mode == FN_extern)
			continue;
		diag_note(e->session, fn->name.range, "--entry=%s compiles this one",
			fn->name.s);
		return;
	}
}

static FnDecl *
find_entry(Elab *e, int file)
{
	const FrontOptions *o = e->options;
	const char *name = o->entry != NULL ? o->entry : "main";
	FnDecl *fn = table_get(e->functions, name);
	Range nowhere = {file, 1, 0, 0};
	if (fn == NULL && o->entry != NULL) {
		const char **names = NULL;
		int n = 0;
		for (int i = 0; i < table_count(e->functions); i++)
			APPEND(e->arena, names, n, table_key(e->functions, i));
		diag(e->session, DIAG_usage, (Range){0},
			"--entry: the program has no function '%s'", name);
		suggest(e, name, names, n);
		return NULL;
	}
	if (fn == NULL) {
		diag(e->session, DIAG_entry, nowhere, "the program has no function 'main'");
		offer_entry(e);
		return NULL;
	}
	if (fn->mode != FN_extern)
		return fn;
	complain(e, DIAG_entry, fn->mode_range,
		"the entry is extern; what runs "
		"is a function that calls it");
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
				"'%s' is not "
				"declared; the sizes of the entry are, as in "
				"dim %s = 8;",
				size->name, size->name);
		return false;
	}
	return true;
}

/* The parameter of the block; NULL after a message. */
static Value *
add_param(Elab *e, const Param *p)
{
	Annotation a;
	Type type;
	if (p->type == NULL || (p->type->name.s == NULL && !p->type->has_dtype)) {
		complain(e, DIAG_entry, p->range,
			"parameter '%s' of the entry "
			"needs a full type: f32[B, D@X]",
			p->name.s);
		return NULL;
	}
	if (!sizes_declared(e, p->type) || !annotation_resolve(e, p->type, &a)
		|| !annotation_type(e, &a, &type))
		return NULL;
	Value *v = block_add_param(e->block, p->name.s, &type);
	v->placement = a.placement;
	v->annotated = true;
	v->range = p->name.range;
	v->type_range = p->type->range;
	return v;
}

/* Its type does not see its name. */
static void
declare_param(Elab *e, const Param *p, bool is_entry)
{
	Value *v = add_param(e, p);
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
		if (table_get(seen, name) != NULL) {
			complain(e, DIAG_duplicate, p->range, "two results are named '%s'",
				name);
			return false;
		}
		table_set(seen, name, (void *)p);
	}
	return true;
}

/* The result as returned, checked against its annotation in `a`. */
static bool
check_result(Elab *e, const Param *p, Site s, Item *x, Annotation *a)
{
	if (p == NULL) {
		if (x->kind == IT_tensor)
			return true;
		complain(e, DIAG_literal, x->range,
			"the result is %s, which "
			"has no dtype; write it as a cast: f32(...)",
			show_item(e, x));
		return false;
	}
	if (!annotation_resolve(e, p->type, a))
		return false;
	if (item_is_number(x) && a->has_dtype)
		*x = item_tensor(x->range, item_constant(e, s, a->dtype, x));
	if (x->kind == IT_error)
		return false;
	if (x->kind != IT_tensor) {
		complain(e, DIAG_literal, x->range,
			"the result is %s, which "
			"has no dtype",
			show_item(e, x));
		return false;
	}
	return annotation_unify(e, a, &x->value->type, x->range, DIAG_results, "the result")
		&& annotation_check(e, a);
}

static Value *
add_output(Elab *e, FnDecl *fn, int i, int n, Item *x)
{
	Site s = {x->range, "return", AS_call};
	const Param *p = fn->has_results ? fn->results.v[i] : NULL;
	Annotation a = {0};
	if (!check_result(e, p, s, x, &a))
		return NULL;
	Value *v = make_unary(at(e, s), O_output, x->value);
	if (v == NULL)
		return NULL;
	const char *name = result_name(e, fn, i, n);
	v->name = module_unique_name(e->m, name);
	v->range = x->range;
	if (p != NULL) {
		v->placement = a.placement;
		v->annotated = true;
		v->type_range = p->type->range;
	}
	Named named = {name, v, v->type, v->placement};
	APPEND(e->arena, e->m->results, e->m->nresults, named);
	return v;
}

static bool
is_named(Elab *e, const char *name)
{
	return table_get(e->frame->names, name) != NULL;
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
	for (int i = 0; i < fn->params.n; i++)
		declare_param(e, fn->params.v[i], true);
	if (!run_declared(e, fn, &n, &results) || !result_names_differ(e, fn))
		return;
	if (fn->has_results && fn->results.n != n) {
		complain(e, DIAG_results, results[0].range,
			"'%s' returns %d "
			"value%s, its signature names %d",
			fn->name.s, n, n == 1 ? "" : "s", fn->results.n);
		diag_label(e->session, fn->results_range, "declared here");
		return;
	}
	Value **outputs = NEW_ARRAY(e->arena, Value *, n);
	bool right = true;
	for (int i = 0; i < n; i++) {
		outputs[i] = add_output(e, fn, i, n, &results[i]);
		right &= outputs[i] != NULL;
	}
	if (!right)
		return;
	Site s = {fn->name.range, "return", AS_call};
	make_return(e->block, n, outputs, s.range, s.label);
	for (int i = 0; i < n; i++)
		if (!is_named(e, e->m->results[i].name))
			APPEND(e->arena, e->m->named, e->m->nnamed, e->m->results[i]);
}

static void
elaborate_entry(Elab *e, FnDecl *fn)
{
	Frame frame = {.fn = fn, .names = table_new(e->arena), .prefix = "", .is_entry = true};
	int errors = diag_errors(e->session);
	e->frame = &frame;
	e->block = e->m->entry;
	e->mode = fn->mode == FN_explicit ? MODE_explicit : MODE_auto;
	fn->active = true;
	fn->instances++;
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

/* Elaborated into a block of its own, for its mistakes. */
static void
check_uncalled(Elab *e, FnDecl *fn)
{
	Frame frame = {.fn = fn, .names = table_new(e->arena), .prefix = "", .unlisted = true};
	int n;
	Item *results;
	e->frame = &frame;
	e->block = block_new(e->m, NULL);
	e->mode = fn->mode == FN_explicit ? MODE_explicit : MODE_auto;
	e->uncalled = fn->mode == FN_manual && fn->manual_axes.n > 0;
	fn->active = true;
	for (int i = 0; i < fn->params.n; i++)
		declare_param(e, fn->params.v[i], false);
	APPEND(e->arena, e->m->uncalled, e->m->nuncalled, e->block);
	if (run_declared(e, fn, &n, &results) && fn->has_results && fn->results.n != n)
		complain(e, DIAG_results, results[0].range,
			"'%s' returns %d "
			"value%s, its signature names %d",
			fn->name.s, n, n == 1 ? "" : "s", fn->results.n);
	fn->active = e->uncalled = false;
	fn->instances++;
	e->frame = NULL;
}

static void
check_functions(Elab *e)
{
	for (int i = 0; i < table_count(e->functions); i++) {
		FnDecl *fn = table_value(e->functions, i);
		bool known = fn->mode != FN_extern;
		if (fn->instances == 0 && known && is_closed(e, fn))
			check_uncalled(e, fn);
	}
}

/* ---- whole programs */

static void (*const declare[])(Elab *e, const Decl *d) = {
	[DECL_mesh] = declare_mesh,
	[DECL_dim] = declare_dim,
	[DECL_type] = declare_type,
	[DECL_fn] = declare_fn,
	[DECL_import] = NULL, /* load_items() has put its items here */
};

static void
report_no_dim(Elab *e, const char *name, const Symbol *found)
{
	const char **dims = NULL;
	int n = 0;
	for (int i = 0; i < table_count(e->globals); i++) {
		const Symbol *s = table_value(e->globals, i);
		if (s->kind == SYM_dim)
			APPEND(e->arena, dims, n, table_key(e->globals, i));
	}
	diag(e->session, DIAG_usage, (Range){0}, "-D: the program has no dim '%s'", name);
	if (found != NULL && found->kind == SYM_axis)
		diag_note(e->session, (Range){0},
			"'%s' is an axis of the "
			"mesh: --mesh %s=SIZE",
			name, name);
	else
		suggest(e, name, dims, n);
}

static void
declare_all(Elab *e, List items, int file)
{
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		if (declare[d->kind] != NULL)
			declare[d->kind](e, d);
	}
	if (e->mesh_range.file == 0)
		diag(e->session, DIAG_mesh, (Range){file, 1, 0, 0},
			"the program has no mesh; write mesh [X=2, Y=4];");
	for (int i = 0; i < e->options->ndims; i++) {
		const char *name = e->options->dims[i].name;
		const Symbol *s = table_get(e->globals, name);
		if (s == NULL || s->kind != SYM_dim)
			report_no_dim(e, name, s);
	}
}

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
front_compile(Session *s, int file, const FrontOptions *options)
{
	Elab elab = {.session = s, .arena = s->arena, .options = options};
	Elab *e = &elab;
	int errors = diag_errors(s);
	List items;
	e->globals = table_new(e->arena);
	e->functions = table_new(e->arena);
	e->m = module_new(s, module_name(e, file));
	e->m->mesh.target = target_default();
	load_prelude(e);
	if (!load_items(s, file, &items))
		return NULL;
	declare_all(e, items, file);
	FnDecl *entry = find_entry(e, file);
	if (entry == NULL || diag_errors(s) != errors)
		return NULL;
	e->m->entry_name = entry->name.s;
	elaborate_entry(e, entry);
	check_functions(e);
	return e->m;
}
