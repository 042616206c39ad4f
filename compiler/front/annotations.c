/*
 * annotations.c - types and placements against the values they describe.
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

Annotation *
annotation_of(Elab *e, Range r, const Type *type)
{
	static const TypeSpec spec;
	static const DimSpec dim;
	Annotation *a = NEW(e->arena, Annotation);
	*a = (Annotation){.spec = &spec, .range = r, .has_dtype = true, .has_dims = true};
	a->dtype = type->dtype;
	a->rank = type->rank;
	for (int d = 0; d < type->rank; d++) {
		a->dims[d] = type->dims[d];
		a->dim_specs[d] = &dim;
	}
	a->placement = placement_none(type->rank);
	return a;
}

bool
annotation_unify(Elab *e, Annotation *a, const Type *type, Range where, DiagCode code,
	const char *what)
{
	bool fits = !a->has_dtype || a->dtype == type->dtype;
	fits &= a->rank == type->rank;
	for (int d = 0; fits && d < a->rank; d++)
		fits &= a->dims[d] == 0 || a->dims[d] == type->dims[d];
	if (fits) {
		a->dtype = type->dtype;
		memcpy(a->dims, type->dims, sizeof a->dims);
		return true;
	}

	Text t = {0};
	text_printf(&t, "%s[", a->has_dtype ? dtypes[a->dtype].name : "");
	for (int d = 0; d < a->rank; d++) {
		text_add(&t, d > 0 ? ", " : "");
		if (a->dims[d] > 0)
			text_printf(&t, "%" PRId64, a->dims[d]);
		else
			text_add(&t, "_");
	}
	text_add(&t, "]");
	complain(e, code, where, "%s is %s, not %s as declared", what, show_type(e, type), t.s);
	diag_label(e->session, a->range, "declared here");
	text_free(&t);
	return false;
}

/* A device's part of a manual function is all of its tensor: in its signature,
   in its body, and in the plain functions that are called there. */
static bool
is_manual(const Elab *e)
{
	return e->manual != NULL || (e->frame != NULL && e->frame->fn->mode == FN_manual);
}

/* The sizes next to `size` that the axes divide, or to fill up: B@(X,Y) pad. */
static void
note_nearest(Elab *e, int64_t size, const AxisList *axes)
{
	int64_t ways = axes_size(axes), below = size / ways * ways, above;
	bool fits = add_i64(below, ways, &above);
	if (below > 0 && fits)
		diag_note(e->session, nowhere,
			"the nearest sizes that divide are %" PRId64 " and %" PRId64, below,
			above);
	else
		diag_note(e->session, nowhere, "the nearest size that divides is %" PRId64,
			below > 0 ? below : ways);
	if (fits && !is_manual(e))
		diag_note(e->session, nowhere,
			"or write %" PRId64 "@%s%s%s pad: %" PRId64 " where it is computed",
			size, axes->n > 1 ? "(" : "", show_axes(e, axes),
			axes->n > 1 ? ")" : "", above);
}

/* The first part of an axis that does divide: Kv@model:(1)8 of 32. */
static void
offer_part(Elab *e, const DimSpec *spec, int64_t size, const AxisList *axes)
{
	const Mesh *mesh = &e->m->mesh;
	int64_t part = gcd_i64(size, axes_size(axes));
	if (part == 1 || axes->n != 1 || !axis_is_whole(mesh, axes->a[0]) || is_manual(e))
		return;
	AxisList first = {1, {{axes->a[0].axis, 1, (int32_t)part}}};
	const char *edit = arena_printf(e->arena, "%s@%s",
		spec->size == NULL ? "_" : source_text(e->session, e->arena, spec->size->range),
		show_axes(e, &first));
	diag_choice(e->session, spec->range, edit, "choices:  %s", edit);
}

bool
annotation_check(Elab *e, const Annotation *a, const char *what)
{
	Combiner c = (Combiner)a->placement.combiner;
	bool right = !a->spec->unreduced || combiner_takes(c, a->dtype);
	if (!right)
		complain(e, DIAG_combiner, a->spec->unreduced_range,
			"partial results of %s cannot be combined by '%s'",
			dtypes[a->dtype].name, combiners[c].name);
	for (int d = 0; d < a->rank; d++) {
		const DimSpec *spec = a->dim_specs[d];
		AxisList axes = placement_dim(&a->placement, d);
		int64_t ways = axes_size(&axes);
		if (spec->pad && is_manual(e)) {
			right = complain(e, DIAG_manual, spec->pad_range,
				"a manual function takes and gives equal parts; there is no "
				"padding");
			diag_note(e->session, nowhere,
				"pad(x, ((0, n), ...)) before its call makes a dim one that "
				"divides, a slice after it takes the rest off");
			continue;
		}
		if (spec->pad && spec->axes.n == 0)
			complain(e, DIAG_pad_whole, spec->pad_range,
				"pad fills up nothing: no axis is written for this dim");
		if (spec->pad || a->dims[d] % ways == 0)
			continue; /* what is filled up is made to divide later (shard/pad/) */
		right = complain(e, DIAG_indivisible, spec->range,
			"dim %d of size %" PRId64
			"%s%s cannot be split over %s, which %s %" PRId64 " devices",
			d, a->dims[d], what != NULL ? " of " : "", what != NULL ? what : "",
			show_axes(e, &axes), axes.n > 1 ? "are" : "is", ways);
		note_nearest(e, a->dims[d], &axes);
		offer_part(e, spec, a->dims[d], &axes);
	}
	return right;
}

bool
annotation_type(Elab *e, const Annotation *a, const char *what, Type *type)
{
	if (!a->has_dtype || !a->has_dims)
		return complain(e, DIAG_type_form, a->range,
			"a full type is wanted here: a dtype, and a size for each dim");
	int64_t n = dtypes[a->dtype].bytes;
	for (int d = 0; d < a->rank; d++) {
		if (a->dims[d] == 0)
			return complain(e, DIAG_size, a->dim_specs[d]->range,
				"the size of this dim must be written");
		if (!mul_i64(n, a->dims[d], &n))
			return complain(e, DIAG_size, a->range,
				"a tensor of more bytes than 64 bits can count");
	}
	*type = type_of(a->dtype, a->rank, a->dims);
	return annotation_check(e, a, what);
}

/* A literal takes the dtype that is written. */
Value *
annotation_fit(Elab *e, Site s, Annotation *a, Item *item, DiagCode code, const char *what)
{
	if (item_is_number(item) && !a->has_dtype)
		return complain(e, DIAG_literal, item->range,
			"%s needs a dtype; write it as a cast: f32(...)", show_item(e, item));
	*item = item_typed(e, s, a->dtype, *item);
	if (item->kind == IT_tensor)
		return annotation_unify(e, a, &item->value->type, item->range, code, what)
				&& annotation_check(e, a, what)
			? item->value
			: NULL;
	if (item->kind != IT_error)
		complain(e, code, item->range, "%s is %s, not a tensor", what,
			show_item(e, item));
	return NULL;
}
