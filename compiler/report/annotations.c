/*
 * annotations.c - what each annotation of the program changed, against the program
 * without it.
 *
 *   let h: [16@X, 256@Y]  (line 12)
 *     1 collective more, 2 kB more received, 1.2 us less, 3 KiB less memory
 *   Y of W1, W2 together  (line 10)
 *     2 collectives more, 4 kB more received, 12 us less, 6 KiB less memory
 *
 * An annotation is a placement in the type of a parameter, a result or a let, or in
 * out=.  It is left out where it stands, and so in all copies that calls and unrolled
 * loops made of it; that of a parameter also of all parameters alike, as the weights of
 * equal layers are.  What one of a layer's weights says often follows from the others; so
 * of parameters whose types name the same axes each axis is also left out of all at once.
 * The program without it is compiled as far as buffers are known.
 *
 * requires  L_global to find them, L_fused to tell
 */
#include <string.h>
#include "report/report.h"

enum { MOST_TRIED = 64, MOST_NAMED = 6, NANOSECOND = 1000 };

typedef struct Written {
	const char *name; /* "h" */
	const char *text; /* "let h: [16@X, 256@Y]" */
	Range range;
	const char **names; /* of the values that it places */
	int n;
	int alike;	/* more of them, at other places */
	Placed *placed; /* as written: `n` of them */
	bool given;	/* of parameters */
	bool named;	/* behind a name */
} Written;

struct Annotations {
	Written *written;
	int n;
};

/* A var's own: what it is called at first may be listed only as what a function has of it. */
static const char *
written_name(const Module *m, const Value *v)
{
	if (v->def && !strcmp(v->def->label, "var"))
		return v->name;
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			return m->named[i].name;
	return value_source_name(v);
}

/* "In: [16@X, 64]", "let h: ...", "result y: ...", "out=[...]"; of a function that is
   called "layer.h: ..." and "return ...". */
static const char *
written_text(const Module *m, const Value *v, const char *result)
{
	const Op *op = v->def;
	const char *name = written_name(m, v);
	Text t = {0};

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

/* Found so far, by the places where they are written. */
typedef struct Finding {
	const Module *module;
	Annotations *all;
	Table *by_place;
	Text *uses; /* of each parameter of the entry, by number */
} Finding;

/* Equal for what is one annotation: of a place in the source; of parameters of equal
   types also that all which use them are copies of one place each. */
static const char *
place_key(const Finding *found, const Value *v, Range range, const char *result)
{
	const Module *m = found->module;
	const Text *uses = v->def ? NULL : &found->uses[v->id];
	Text t = {0};

	if (uses && uses->n) {
		text_value(&t, &m->mesh, v);
		text_add(&t, uses->s);
	} else {
		text_printf(&t, "%d:%d-%d %d", range.file, range.begin, range.end,
			result ? found->all->n : -1);
	}
	return text_take(&t, m->arena);
}

/* Where the type is written, else what makes it. */
static Range
place_of(const Value *v)
{
	return v->type_range.line ? v->type_range : v->def ? v->def->range : v->range;
}

/* As it is now: what an op makes may be gone when it is asked for. */
static const Value *
value_written(const Module *m, const Value *v)
{
	Value *copy = NEW(m->arena, Value);

	copy->name = v->name;
	copy->type = v->type;
	copy->placement = v->placement;
	copy->range = place_of(v);
	return copy;
}

static void
add_written(Finding *found, const Value *v, const char *result)
{
	const Module *m = found->module;
	Annotations *all = found->all;
	Placement plain = placement_none(v->type.rank);
	Range range = place_of(v);
	bool typed = !v->def || v->def->kind == O_output; /* it has one, placed or not */
	Written *w;

	if (!v->type.rank || !v->annotated || (typed && placement_same(&v->placement, &plain)))
		return;
	const char *place = place_key(found, v, range, result);
	int *at = table_get(found->by_place, place);
	if (!at) {
		at = NEW(m->arena, int);
		*at = all->n;
		table_set(found->by_place, place, at);
		Written new = {.name = written_name(m, v),
			.text = written_text(m, v, result),
			.range = range};
		APPEND(m->arena, all->written, all->n, new);
	}
	w = &all->written[*at];
	w->alike += w->n && !v->def;
	w->given = !v->def;
	w->named = w->given || is_type_of_name(v->def);
	int n = w->n;
	Placed placed = {v->def ? value_written(m, v) : v, v->placement};
	APPEND(m->arena, w->placed, n, placed);
	APPEND(m->arena, w->names, w->n, v->name);
}

/* " + 1:12-20 0": which operand of which op in the source. */
static void
find_uses(Finding *found)
{
	const Module *m = found->module;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		Range range = op->nresults ? place_of(op->results[0]) : op->range;
		for (int i = 0; i < op->noperands; i++)
			if (!op->operands[i]->def && op->operands[i]->block == m->entry)
				text_printf(&found->uses[op->operands[i]->id],
					" %s %d:%d-%d %d", op->label, range.file, range.begin,
					range.end, i);
	}
}

Annotations *
annotations_find(Module *m)
{
	Finding found = {m, NEW(m->arena, Annotations), table_new(m->arena), NULL};

	module_number(m);
	found.uses = NEW_ARRAY(m->arena, Text, m->nvalues + 1);
	find_uses(&found);
	bool *given = NEW_ARRAY(m->arena, bool, m->nvalues + 1); /* as a manual function asks */
	for (int i = 0; i < m->entry->nparams; i++)
		add_written(&found, m->entry->params[i], NULL);
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
			add_written(&found, v, result);
	}
	for (int i = 0; i < m->nvalues; i++)
		text_free(&found.uses[i]);
	return found.all;
}

const Placed *
annotations_asking(const Annotations *all, const Type *type, const Placement *there, int *n)
{
	for (int i = 0; i < all->n; i++) {
		const Written *written = &all->written[i];
		if (written->named && !written->given
			&& type_equal(&written->placed->value->type, type)
			&& placement_equal(&written->placed->placement, there)) {
			*n = written->n;
			return written->placed;
		}
	}
	return NULL;
}

/* ", 2 kB less received"; nothing, if they are the same.  At least so much, where one of
   them is more than is counted. */
static void
text_difference(Text *t, const char *what, int64_t with, int64_t without,
	void (*amount)(Text *t, double amount), double unit)
{
	int64_t difference = with > without ? with - without : without - with;

	if (!difference)
		return;
	text_add(t, t->n ? ", " : "");
	text_add(t, with == INT64_MAX || without == INT64_MAX ? "at least " : "");
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
	int64_t later = with->picoseconds - without->picoseconds;
	if (later <= -NANOSECOND || later >= NANOSECOND) /* less is what rounding makes */
		text_difference(t, "", with->picoseconds, without->picoseconds, text_seconds,
			1e-12);
	text_difference(t, " memory", with->peak, without->peak, text_memory, 1);
	bool endless = with->picoseconds == INT64_MAX && without->picoseconds == INT64_MAX;
	text_add(t,
		t->n		  ? ""
			: endless ? "changes nothing that is counted"
				  : "changes nothing");
}

/* ---- what is left out, and what that changes ---------------------------------- */

/* An annotation, or an axis in several. */
typedef struct LeftOut {
	const char *text;
	Range range;
	int alike;
	Trial trial;
} LeftOut;

typedef struct Trying {
	const Module *module;
	const Annotations *all;
	LeftOut **left_out;
	int n, most;
	int nalone; /* annotations, each by itself */
} Trying;

static void
leave_out(Trying *trying, const Written *written, const char *text, Change change)
{
	Arena *a = trying->module->arena;
	LeftOut *new = NEW(a, LeftOut);

	*new = (LeftOut){text, written->range, change.nplaced ? 0 : written->alike,
		{.change = change}};
	APPEND(a, trying->left_out, trying->n, new);
}

/* By their numbers, those of a parameter's dims. */
static unsigned
axes_named(const Written *written)
{
	unsigned axes = 0;

	for (int d = 0; written->given && d < written->placed->placement.rank; d++) {
		AxisList list = placement_dim(&written->placed->placement, d);
		for (int i = 0; i < list.n; i++)
			axes |= 1u << list.a[i].axis;
	}
	return axes;
}

static Placement
placement_without(Placement p, int axis)
{
	for (int d = 0; d < p.rank; d++) {
		AxisList list = placement_dim(&p, d), kept = {0};
		for (int i = 0; i < list.n; i++)
			if (list.a[i].axis != axis)
				axes_append(&kept, list.a[i]);
		placement_set_dim(&p, d, &kept);
	}
	return p;
}

/* The axis in all types that name the same axes as the one at `first`, if there is no
   such type before it and more than one. */
static void
leave_out_axis(Trying *trying, int first, int axis)
{
	const Annotations *all = trying->all;
	Arena *a = trying->module->arena;
	unsigned axes = axes_named(&all->written[first]);
	Placed *placed = NULL;
	int nplaced = 0, types = 0;
	Text text = {0};

	for (int i = 0; i < first; i++)
		if (axes_named(&all->written[i]) == axes)
			return;
	text_printf(&text, "%s of ", trying->module->mesh.axes[axis].name);
	for (int i = first; i < all->n; i++) {
		const Written *written = &all->written[i];
		if (axes_named(written) != axes)
			continue;
		for (int k = 0; k < written->n; k++) {
			Placed without = written->placed[k];
			without.placement = placement_without(without.placement, axis);
			APPEND(a, placed, nplaced, without);
		}
		if (types++ >= MOST_NAMED)
			continue;
		text_printf(&text, "%s%s", types > 1 ? ", " : "", written->name);
		if (written->alike)
			text_printf(&text, " with %d alike", written->alike);
	}
	if (types > MOST_NAMED)
		text_printf(&text, " and %d more", types - MOST_NAMED);
	text_add(&text, " together");
	if (types > 1)
		leave_out(trying, &all->written[first], text_take(&text, a),
			(Change){.placed = placed, .nplaced = nplaced});
	text_free(&text);
}

/* Each axis of several. */
static void
leave_out_axes(Trying *trying)
{
	const Annotations *all = trying->all;
	const Mesh *mesh = &trying->module->mesh;

	for (int i = 0; i < all->n; i++)
		for (int axis = 0; axis < mesh->naxes && trying->n < trying->most; axis++)
			if (mesh->axes[axis].size > 1
				&& axes_named(&all->written[i]) >> axis & 1)
				leave_out_axis(trying, i, axis);
}

/* Each annotation, then each axis of several, at most so many of all; of a long program, of
   which there are fewer, the axes say more, and half of them may be that. */
static void
leave_out_all(Trying *trying)
{
	const Annotations *all = trying->all;
	Trying axes = *trying;

	trying->most = trials_of_long(trying->module, MOST_TRIED);
	axes.most = trying->most < MOST_TRIED ? trying->most / 2 : 0;
	leave_out_axes(&axes);
	for (int i = 0; i < all->n && trying->n < trying->most - axes.n; i++) {
		const Written *written = &all->written[i];
		leave_out(trying, written, written->text,
			(Change){.unplaced = written->names, .nunplaced = written->n});
		trying->nalone++;
	}
	leave_out_axes(trying);
}

static void
text_left_out(Text *t, const Module *m, const LeftOut *left, const Outcome *with)
{
	Text changes = {0};

	text_printf(t, "  %s", left->text);
	text_line(t, m, "  (", left->range, ")");
	if (left->alike)
		text_printf(t, " and %d alike", left->alike);
	switch (left->trial.end) {
	case TRIAL_through:
		text_changes(&changes, with, &left->trial.outcome);
		break;
	case TRIAL_refused:
		text_add(&changes, "needed: without it the program is refused");
		break;
	case TRIAL_left:
		break;
	case TRIAL_no_memory:
		text_add(&changes, "not tried: there is too little memory");
		break;
	case TRIAL_defect:
		defect("trying the program without %s", left->text);
		text_add(&changes, "not tried: an internal error");
		break;
	}
	text_printf(t, "\n    %s\n", changes.s);
	text_free(&changes);
}

void
text_annotations(Text *t, Module *m, const ExplainOptions *options)
{
	const Annotations *all = options->annotations;
	Trying trying = {.module = m, .all = all};

	if (!all->n)
		return;
	leave_out_all(&trying);
	Trial **trials = NEW_ARRAY(m->arena, Trial *, trying.n);
	for (int i = 0; i < trying.n; i++)
		trials[i] = &trying.left_out[i]->trial;
	WhatIfs asked = {options->global_text, options->global_length, m,
		.progress = &options->progress};
	what_ifs(&asked, trials, trying.n);
	text_add(t, "\nannotations, against the program without each\n");
	for (int i = 0; i < trying.n; i++)
		text_left_out(t, m, trying.left_out[i], &options->outcome);
	if (all->n > trying.nalone) {
		text_printf(t, "  and %d more, from %s", all->n - trying.nalone,
			all->written[trying.nalone].text);
		text_line(t, m, " (", all->written[trying.nalone].range, ") on");
		text_printf(t, ": only the first %d are tried\n", trying.nalone);
	}
}
