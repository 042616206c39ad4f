/*
 * mesh.c - the mesh of the program, and sizes that the command line replaces.
 *
 *   mesh [X=2, Y=4] on "v5e:2x4";      shdc --mesh Y=8 --on v5p -D B=64
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"
#include "ir/layout.h"

/* ---- sizes */

/* An expression on the command line, read as the declaration it stands for; NULL after
   a message. */
static const Expr *
option_size(Elab *e, const char *form, const Override *given)
{
	const char *text = arena_printf(e->arena, "dim %s = %s;", given->name, given->text);
	bool named = is_identifier(given->name);
	const Program *program = !named
		? NULL
		: parse_file(e->session,
			source_add_text(e->session, given->option, text, (int)strlen(text)),
			DIAG_usage);
	bool right = named && program->right;
	const Decl *only = right && program->items.n == 1 ? program->items.v[0] : NULL;

	if (only != NULL && only->kind == DECL_dim)
		return only->value;
	if (right || !named)
		diag(e->session, DIAG_usage, nowhere, "%s takes %s, not '%s=%s'", given->option,
			form, given->name, given->text);
	return NULL;
}

bool
declared_size(Elab *e, const Decl *d, bool is_axis, int64_t *size)
{
	const Override *o = is_axis ? e->options->axes : e->options->dims;
	int n = is_axis ? e->options->naxes : e->options->ndims;
	const Override *override = NULL;
	const Expr *x = d->value;
	for (int i = 0; i < n; i++) /* the last one counts */
		if (strcmp(o[i].name, d->name.s) == 0) {
			e->on_command_line = true;
			x = NULL;
			override = &o[i];
		}
	if (override != NULL)
		x = option_size(e, "NAME=SIZE", override);
	bool right = x != NULL && eval_size(e, x, size);
	if (right && is_axis && (*size < 1 || *size > INT32_MAX)) {
		complain(e, DIAG_mesh, e->on_command_line ? nowhere : x->range,
			"axis %s has size %" PRId64 "; sizes are 1 to %d", d->name.s, *size,
			INT32_MAX);
		right = false;
	}
	e->on_command_line = false;
	int64_t own;
	if (right && is_axis && override != NULL
		&& (!eval_size(e, d->value, &own) || own != *size))
		e->resized = override->option;
	return right;
}

void
count_tokens(Elab *e)
{
	const Override given = {"tokens", e->options->tokens, "--tokens"};
	int64_t *tokens = &e->m->tokens;
	if (given.text == NULL)
		return;
	e->on_command_line = true;
	const Expr *x = option_size(e, "a size", &given);
	if (x != NULL && eval_size(e, x, tokens) && *tokens < 1)
		complain(e, DIAG_usage, nowhere,
			"--tokens: a run has at least one, not %" PRId64, *tokens);
	e->on_command_line = false;
}

/* Tells what is wrong with the names and calls in an expression, whatever their sizes. */
static bool
leaves_known(Elab *e, const Expr *x)
{
	int64_t size;
	if (x->kind != E_unary && x->kind != E_binary)
		return eval_size(e, x, &size);
	bool known = leaves_known(e, x->left);
	return (x->kind == E_unary || leaves_known(e, x->right)) && known;
}

bool
front_tokens(Session *s, const FrontOptions *options, const FrontNames *names)
{
	Elab e = {.session = s,
		.arena = s->arena,
		.options = options,
		.globals = table_new(s->arena),
		.functions = table_new(s->arena),
		.m = module_new(s, names->module),
		.on_command_line = true};
	Mesh *mesh = &e.m->mesh;
	const Override given = {"tokens", options->tokens, "--tokens"};
	if (given.text == NULL)
		return true;
	for (int i = 0; i < names->n; i++) {
		const Name name = {.s = names->names[i]};
		bool is_axis = i < names->naxes && mesh->naxes < MAX_AXES;
		Symbol *symbol = symbol_declare(&e, is_axis ? SYM_axis : SYM_dim, name);
		if (symbol != NULL)
			symbol->item = item_int(nowhere, is_axis ? mesh->naxes : 1);
		if (is_axis)
			mesh->axes[mesh->naxes++] = (MeshAxis){name.s, 1, nowhere, NULL};
	}
	const Expr *x = option_size(&e, "a size", &given);
	return x != NULL && leaves_known(&e, x);
}

/* ---- axes */

static void
declare_axis(Elab *e, const Decl *axis)
{
	Mesh *mesh = &e->m->mesh;
	int64_t size;
	if (!declared_size(e, axis, true, &size))
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
		complain(e, DIAG_mesh, axis->range, "a mesh has at most %d devices",
			MAX_DEVICES);
		mesh->ndevices = 1;
		return;
	}
	s->item = item_int(axis->name.range, mesh->naxes);
	mesh->axes[mesh->naxes++] = (MeshAxis){axis->name.s, size, axis->name.range, NULL};
}

/* ---- the mesh */

void
declare_mesh(Elab *e, const Decl *d)
{
	const FrontOptions *o = e->options;
	const char **names = NEW_ARRAY(e->arena, const char *, d->axes.n + 1);
	if (e->mesh_range.file != 0) {
		complain(e, DIAG_mesh, d->range, "a program has one mesh");
		diag_note(e->session, e->mesh_range, "the mesh");
		return;
	}
	e->mesh_range = d->range;
	for (int i = 0; i < d->axes.n; i++)
		names[i] = ((const Decl *)d->axes.v[i])->name.s;
	for (int i = 0; i < o->naxes; i++) {
		bool found = false;
		for (int k = 0; k < d->axes.n; k++)
			found |= strcmp(names[k], o->axes[i].name) == 0;
		if (found)
			continue;
		diag(e->session, DIAG_usage, d->range, "%s: the mesh has no axis '%s'",
			o->axes[i].option, o->axes[i].name);
		suggest(e, o->axes[i].name, names, d->axes.n);
	}
	for (int i = 0; i < d->axes.n; i++)
		declare_axis(e, d->axes.v[i]);

	bool right = true;
	if (o->target != NULL) {
		e->on_command_line = true;
		right = set_target(e, nowhere, o->target, false);
		e->on_command_line = false;
	} else if (d->target.s != NULL) {
		right = set_target(e, d->target.range, d->target.s, e->resized);
	}
	layout_default(&e->m->mesh);
	if (right)
		declare_layout(e, d);
}
