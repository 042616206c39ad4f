/*
 * annotations.c - what each annotation of the program changed, against the program
 * without it.
 *
 *   let h: [16@X, 256@Y]  (line 12)
 *     1 collective more, 2 kB more received, 1.2 us less, 3 KiB less memory
 *
 * An annotation is a placement in the type of a parameter, a result or a let, or in
 * out=.  It is left out where it stands, and so in all copies that calls and unrolled
 * loops made of it; the program without it is compiled as far as buffers are known.
 *
 * requires  L_global to find them, L_fused to tell
 */
#include <string.h>
#include "report/report.h"

enum { MOST_TRIED = 64 };

typedef struct Written {
	const char *text; /* "let h: [16@X, 256@Y]" */
	Range range;
	const char **names; /* of the values that it places */
	int n;
} Written;

struct Annotations {
	Written *written;
	int n;
};

/* "In: [16@X, 64]", "let h: ...", "result y: ...", "out=[...]"; of a function that is
   called "layer.h: ..." and "return ...". */
static const char *
written_text(const Module *m, const Value *v, const char *result)
{
	const Op *op = v->def;
	const char *name = value_source_name(v);
	Text t = {0};

	for (int i = m->nnamed - 1; i >= 0; i--)
		if (m->named[i].value == v)
			name = m->named[i].name;
	if (result)
		text_printf(&t, "result %s: ", result);
	else if (op && op->kind == O_reshard)
		text_add(&t, "reshard to ");
	else if (op && op->form == AS_out)
		text_add(&t, "out=");
	else if (op && !strcmp(op->label, "return"))
		text_add(&t, "return ");
	else
		text_printf(&t, "%s%s: ", op && !strcmp(op->label, "let") ? "let " : "", name);
	text_placed(&t, &m->mesh, v, &v->placement);
	return text_take(&t, m->arena);
}

static void
add_written(Annotations *all, Table *by_place, const Module *m, const Value *v,
	const char *result)
{
	Placement plain = placement_none(v->type.rank);
	Range range = v->type_range.line ? v->type_range : v->def ? v->def->range : v->range;
	const char *place = arena_printf(m->arena, "%d:%d-%d %d", range.file, range.begin,
		range.end, result ? all->n : -1);
	bool typed = !v->def || v->def->kind == O_output; /* it has one, placed or not */
	Written *w;

	if (!v->type.rank || !v->annotated || (typed && placement_same(&v->placement, &plain)))
		return;
	int *at = table_get(by_place, place);
	if (!at) {
		at = NEW(m->arena, int);
		*at = all->n;
		table_set(by_place, place, at);
		Written new = {.text = written_text(m, v, result), .range = range};
		APPEND(m->arena, all->written, all->n, new);
	}
	w = &all->written[*at];
	APPEND(m->arena, w->names, w->n, v->name);
}

Annotations *
annotations_find(Module *m)
{
	Annotations *all = NEW(m->arena, Annotations);
	Table *by_place = table_new(m->arena);

	module_number(m);
	bool *given = NEW_ARRAY(m->arena, bool, m->nvalues + 1); /* as a manual function asks */
	for (int i = 0; i < m->entry->nparams; i++)
		add_written(all, by_place, m, m->entry->params[i], NULL);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; op->kind == O_manual && i < op->noperands; i++)
			given[op->operands[i]->id] = true;
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (op->kind != O_constraint && op->kind != O_reshard && op->kind != O_output)
			continue;
		const Value *v = op->results[0];
		const char *result = NULL;
		for (int i = 0; i < m->nresults && op->kind == O_output; i++)
			if (m->results[i].value == v)
				result = m->results[i].name;
		if (!given[v->id])
			add_written(all, by_place, m, v, result);
	}
	return all;
}

/* ", 2 kB less received"; nothing, if it is less than what three digits show. */
static void
text_difference(Text *t, const char *what, int64_t with, int64_t without,
	void (*amount)(Text *t, double amount), double unit)
{
	int64_t difference = with > without ? with - without : without - with;

	if (difference <= with / 1000)
		return;
	text_add(t, t->n ? ", " : "");
	amount(t, (double)difference * unit);
	text_printf(t, " %s%s", with > without ? "more" : "less", what);
}

static void
text_changes(Text *t, const Outcome *with, const Outcome *without)
{
	int more = with->collectives - without->collectives;
	int n = more < 0 ? -more : more;

	if (n)
		text_printf(t, "%d collective%s %s", n, n == 1 ? "" : "s",
			more > 0 ? "more" : "fewer");
	text_difference(t, " received", with->wire_bytes, without->wire_bytes, text_traffic, 1);
	text_difference(t, "", with->picoseconds, without->picoseconds, text_seconds, 1e-12);
	text_difference(t, " memory", with->peak, without->peak, text_memory, 1);
	text_add(t, t->n ? "" : "changes nothing");
}

void
text_annotations(Text *t, Module *m, const ExplainOptions *options)
{
	const Annotations *all = options->annotations;
	int tried = all->n < MOST_TRIED ? all->n : MOST_TRIED;

	if (!all->n)
		return;
	text_add(t, "\nannotations, against the program without each\n");
	for (int i = 0; i < tried; i++) {
		const Written *w = &all->written[i];
		Change change = {.unplaced = w->names, .nunplaced = w->n};
		Outcome without;
		Text changes = {0};
		if (options->progress)
			options->progress(options->data, i, tried);
		text_printf(t, "  %s", w->text);
		text_line(t, m, "  (", w->range, ")");
		if (what_if(options->global_text, options->global_length, &change, &without))
			text_changes(&changes, &options->outcome, &without);
		else
			text_add(&changes, "needed: without it the program is refused");
		text_printf(t, "\n    %s\n", changes.s);
		text_free(&changes);
	}
	if (options->progress)
		options->progress(options->data, tried, tried);
	if (all->n > tried)
		text_printf(t, "  and %d more, not tried\n", all->n - tried);
}
