/*
 * origin.c - the story of an axis: who wrote it, and which ops carried it.
 *
 *   'h' is split over Y in dim 1: Y is written at W (line 3) and came through
 *   einsum 'bd,df->bf' (line 6), relu (line 6)
 */
#include <string.h>
#include "ir/place.h"
#include "ir/ir.h"

/* A story longer than this is cut in the middle of nowhere; every value has
   one, and all of them together should stay linear in the program. */
enum { LONGEST_STORY = 64, TOLD_HOPS = 4 };

const Origin *
value_origin(const Value *v, int dim, AxisRef a)
{
	for (const Origin *o = v->origins; o; o = o->next)
		if (o->dim == dim && axis_overlap(o->axis, a))
			return o;
	return NULL;
}

const char *
range_key(Arena *a, Range r)
{
	return arena_printf(a, "%d:%d:%d", r.file, r.line, r.begin);
}

/* Of Python that is not there to be read, ranges are columns (import/places.c). */
const char *
column_text(const Module *m, Range r)
{
	int line, column;

	if (!m->columns || r.file <= 1 || !table_get(m->columns, range_key(m->arena, r)))
		return "";
	source_position(m->session, r, &line, &column);
	return arena_printf(m->arena, ":%d", column ? column : r.begin + 1);
}

const char *
written_key(Arena *a, const Value *v, Range use)
{
	return arena_printf(a, "%s %s", v->name, range_key(a, use));
}

bool
argument_written(const Module *m, const Value *v, Range use, Range *at)
{
	const Range *found =
		m->columns ? table_get(m->columns, written_key(m->arena, v, use)) : NULL;

	*at = found ? *found : nowhere;
	return at->line > 0;
}

void
text_line(Text *t, const Module *m, const char *before, Range r, const char *after)
{
	const SourceFile *f = r.file ? source_file(m->session, r.file) : NULL;
	const char *slash = f ? strrchr(f->path, '/') : NULL;

	if (!r.line)
		return;
	text_add(t, before);
	if (r.file > 1 && f)
		text_printf(t, "%s:%d%s", f->path, r.line, column_text(m, r));
	else if (m->python && f) /* an argument has no line of Python, but one of the text */
		text_printf(t, "%s:%d", slash ? slash + 1 : f->path, r.line);
	else
		text_printf(t, "line %d", r.line);
	text_add(t, after);
}

Range
value_place(const Module *m, const Value *v)
{
	bool python = m->python && v->def && v->def->range.file > 1;

	return v->def && (python || !v->range.line) ? v->def->range : v->range;
}

/* Hops were collected from the value back to the source: tell them in the
   order the axis travelled. */
static void
text_hops(Text *t, const Module *m, Op *const *hops, int n)
{
	int told = n < TOLD_HOPS ? n : TOLD_HOPS;

	for (int i = n - 1; i >= 0; i--) {
		int position = n - 1 - i;
		if (n > TOLD_HOPS && position == TOLD_HOPS - 1 && i > 0) {
			text_printf(t, ", ... (%d more)", n - told);
			i = 0;
		}
		bool loop = hops[i]->kind == O_while;
		if (!position || loop != (hops[i + 1]->kind == O_while))
			text_printf(t, "%s %s ", position ? "," : "",
				loop ? "carried by" : "through");
		else
			text_add(t, ", ");
		text_add(t, loop ? "the loop" : hops[i]->label);
		text_line(t, m, " (", hops[i]->range, ")");
	}
}

void
text_origin(Text *t, const Module *m, const Value *v, int dim, AxisRef a)
{
	const Origin *o = value_origin(v, dim, a);
	const Value *at = v;
	Op *hops[LONGEST_STORY];
	int n = 0;

	text_axis(t, &m->mesh, a);
	if (!o) {
		text_add(t, ": origin not recorded");
		return;
	}
	while (o && o->kind == ORIGIN_op && o->from && n < LONGEST_STORY) {
		const Op *last = n ? hops[n - 1] : NULL, *op = o->through;
		/* one expression of the user's may be several ops */
		if (op
			&& !(last && last->range.file == op->range.file
				&& last->range.line == op->range.line
				&& !strcmp(last->label, op->label)))
			hops[n++] = o->through;
		at = o->from;
		/* where that had it from before, in whatever dim; values that are one by
		   definition have it at one step */
		const Origin *next = at->origins;
		while (next
			&& !(axis_overlap(next->axis, a) && next->step < o->step + !o->through))
			next = next->next;
		if (!next)
			break;
		o = next;
	}
	if (at == v) {
		text_add(t, ": written here");
		text_line(t, m, " (", o->where, ")");
		return;
	}
	text_add(t, n == LONGEST_STORY ? ": carried from " : ": from ");
	text_printf(t, "'%s'", value_source_name(at));
	text_line(t, m, " (", o->kind == ORIGIN_written ? o->where : at->range, ")");
	text_hops(t, m, hops, n);
}
