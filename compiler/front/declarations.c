/*
 * declarations.c - dims, types, functions and the mesh become known.
 */
#include <string.h>

#include "elaborate.h"

static void
declare_fn(Elab *e, const Decl *d)
{
	FnDecl *fn = d->fn;
	const Function *old = table_get(e->functions, fn->name.s);
	if (old != NULL) {
		complain(e, DIAG_duplicate, fn->name.range, "function '%s' is declared twice",
			fn->name.s);
		diag_note(e->session, old->decl->name.range, "'%s' was declared here",
			fn->name.s);
		return;
	}
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
	if (fn->mode == FN_extern && !fn->lost)
		check_extern(e, fn);
	Function *function = NEW(e->arena, Function);
	function->decl = fn;
	table_set(e->functions, fn->name.s, function);
}

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
	diag(e->session, DIAG_usage, nowhere, "-D: the program has no dim '%s'", name);
	if (found != NULL && found->kind == SYM_axis)
		diag_note(e->session, nowhere, "'%s' is an axis of the mesh: --mesh %s=SIZE",
			name, name);
	else
		suggest(e, name, dims, n);
}

void
declare_all(Elab *e, List items, int file)
{
	for (int i = 0; i < items.n; i++) {
		const Decl *d = items.v[i];
		int64_t value = 1;
		Symbol *symbol;
		switch (d->kind) {
		case DECL_mesh:
			declare_mesh(e, d);
			break;
		case DECL_dim: {
			bool right = declared_size(e, d, false, &value);
			symbol = symbol_declare(e, SYM_dim, d->name);
			if (symbol != NULL)
				symbol->item =
					right ? item_int(d->name.range, value) : item_error;
			break;
		}
		case DECL_type:
			symbol = symbol_declare(e, SYM_type, d->name);
			if (symbol != NULL)
				symbol->type = d->type;
			break;
		case DECL_fn:
			declare_fn(e, d);
			break;
		case DECL_import: /* load_items() has put its items here */
			break;
		}
	}
	for (int i = 0; i < table_count(e->functions); i++) {
		FnDecl *fn = ((const Function *)table_value(e->functions, i))->decl;
		check_same_as(e, fn);
		check_gradient_of(e, fn);
	}
	if (e->mesh_range.file == 0 && (e->lost & LOST_axes) == 0)
		diag(e->session, DIAG_mesh, (Range){file, 1, 0, 0},
			"the program has no mesh; write mesh [X=2, Y=4];");
	for (int i = 0; i < e->options->ndims; i++) {
		const char *name = e->options->dims[i].name;
		const Symbol *s = table_get(e->globals, name);
		if (s == NULL || s->kind != SYM_dim)
			report_no_dim(e, name, s);
	}
}
