/*
 * messages.c - what is wrong with the program, where it is written.
 */
#include <string.h>

#include "elaborate.h"

/* Is all that is known in the function written in it, whoever calls it?  A plain one is
   what its caller is, and what is in a manual or explicit one depends on that. */
static bool
says_all(const Elab *e, const Frame *frame)
{
	const FnDecl *fn = frame->fn;
	bool all = fn->mode == FN_manual || fn->mode == FN_explicit;
	for (const Frame *f = frame->caller; all && f != NULL; f = f->caller)
		all = f->fn->mode == FN_auto;
	for (int i = 0; all && i < fn->params.n; i++) {
		const Param *p = fn->params.v[i];
		all = has_full_type(p);
		for (int d = 0; all && d < p->type->dims.n; d++) {
			const Expr *size = ((const DimSpec *)p->type->dims.v[d])->size;
			all = size != NULL
				&& (size->kind != E_name
					|| table_get(e->globals, size->name) != NULL);
		}
	}
	return all;
}

void *
complain(Elab *e, DiagCode code, Range where, const char *fmt, ...)
{
	enum { MOST_CALLS = 4 };
	va_list ap;
	int n = 0;
	va_start(ap, fmt);
	const char *text = arena_vprintf(e->arena, fmt, ap);
	va_end(ap);
	if (e->frame != NULL && e->frame->prelude)
		where = e->frame->site.range;
	diag(e->session, e->on_command_line ? DIAG_usage : code, where, "%s", text);
	for (Frame *f = e->frame; f != NULL && f->caller != NULL && !says_all(e, f);
		f = f->caller)
		if (!f->prelude && n++ < MOST_CALLS)
			diag_note_once(e->session, f->call, "in this call of '%s'",
				f->fn->name.s);
	return NULL;
}

const char *
show_type(Elab *e, const Type *type)
{
	return type_shape(e->arena, type);
}

const char *
show_item(Elab *e, const Item *item)
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
	if (item->kind == IT_tensor)
		return show_type(e, &item->value->type);
	if (item->kind == IT_tuple)
		return arena_printf(e->arena, "a tuple of %d", item->n);
	return words[item->kind];
}

void
suggest(Elab *e, const char *name, const char *const *names, int n)
{
	const char *near = rt_nearest_word(name, names, n);
	if (near != NULL)
		diag_note(e->session, nowhere, "did you mean '%s'?", near);
}

const char *
show_axes(Elab *e, const AxisList *axes)
{
	Text t = {0};
	text_axes(&t, &e->m->mesh, axes);
	return text_take(&t, e->arena);
}

const char *
habit_of(const Habit *habits, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(habits[i].theirs, name) == 0)
			return habits[i].ours;
	return NULL;
}
