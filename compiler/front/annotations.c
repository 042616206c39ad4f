/*
 * annotations.c - types and placements as written, against the mesh and
 * against the values they describe.
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

enum { MAX_PRIORITY = 255, MAX_TYPE_NAMES = 32 };

/* P(None, 'X') */
void
report_none(Elab *e, Range where)
{
	complain(e, DIAG_habit, where,
		"there is no 'None' here: a dim that is "
		"not split is its size alone, as D in f32[B@X, D]");
}

/* ---- axes */

static const Symbol *
find_axis(Elab *e, Name name)
{
	const Symbol *s = table_get(e->globals, name.s);
	if (s != NULL && s->kind == SYM_axis)
		return s;
	const char *names[MAX_AXES];
	if (strcmp(name.s, "None") == 0) {
		report_none(e, name.range);
		return NULL;
	}
	for (int i = 0; i < e->m->mesh.naxes; i++)
		names[i] = e->m->mesh.axes[i].name;
	complain(e, DIAG_unknown_axis, name.range, "the mesh has no axis '%s'", name.s);
	const char *near = nearest_word(name.s, names, e->m->mesh.naxes);
	if (near != NULL)
		diag_note(e->session, e->mesh_range, "did you mean '%s'?", near);
	else
		diag_note(e->session, e->mesh_range, "the mesh");
	return NULL;
}

static bool
sub_axis(Elab *e, const AxisSpec *spec, int64_t whole, AxisRef *a)
{
	bool exists = spec->pre >= 1 && spec->size > 1 && spec->size <= whole
		&& spec->pre <= whole / spec->size && whole % (spec->pre * spec->size) == 0;
	if (!exists) {
		complain(e, DIAG_sub_axis, spec->range,
			"axis %s of size %" PRId64 " has no part :(%" PRId64 ")%" PRId64
			"; in :(m)k, k > 1 "
			"and m*k divides the size",
			spec->name.s, whole, spec->pre, spec->size);
		return false;
	}
	a->pre = (int32_t)spec->pre;
	a->size = (int32_t)spec->size;
	return true;
}

bool
axis_resolve(Elab *e, const AxisSpec *spec, AxisRef *a)
{
	const Symbol *s = find_axis(e, spec->name);
	if (s == NULL)
		return false;
	*a = axis_whole(&e->m->mesh, (int)s->item.integer);
	if (!spec->sub)
		return true;
	return sub_axis(e, spec, e->m->mesh.axes[a->axis].size, a);
}

/* The axes seen so far in one type, to find the one used twice. */
typedef struct Used {
	int n;
	AxisRef a[MAX_PIECES];
	Range at[MAX_PIECES];
} Used;

static bool
use_axis(Elab *e, Used *used, AxisRef a, const AxisSpec *spec)
{
	for (int i = 0; i < used->n; i++) {
		if (!axis_overlap(used->a[i], a) && axis_can_coexist(used->a[i], a))
			continue;
		if (used->a[i].axis != a.axis)
			continue;
		complain(e, DIAG_axis_twice, spec->range, "axis %s is used twice in one tensor",
			spec->name.s);
		diag_label(e->session, used->at[i], "first here");
		return false;
	}
	if (used->n == MAX_PIECES) {
		complain(e, DIAG_axis_twice, spec->range,
			"a placement has at "
			"most %d axes and parts of axes",
			MAX_PIECES);
		return false;
	}
	used->a[used->n] = a;
	used->at[used->n++] = spec->range;
	return true;
}

static bool
resolve_axes(Elab *e, Used *used, List specs, AxisList *axes)
{
	*axes = (AxisList){0};
	for (int i = 0; i < specs.n; i++) {
		const AxisSpec *spec = specs.v[i];
		AxisRef a;
		if (!axis_resolve(e, spec, &a) || !use_axis(e, used, a, spec))
			return false;
		axes_append(axes, a);
	}
	return true;
}

/* ---- placements */

static bool
place_dim(Elab *e, Annotation *a, Used *used, int d)
{
	const DimSpec *spec = a->dim_specs[d];
	AxisList axes;
	if (!resolve_axes(e, used, spec->axes, &axes))
		return false;
	placement_set_dim(&a->placement, d, &axes);
	if (spec->open || a->spec->open)
		a->placement.open |= (uint16_t)(1u << d);
	if (spec->priority < 0 || spec->priority > MAX_PRIORITY) {
		complain(e, DIAG_priority, spec->priority_range, "priorities are 0 to %d",
			MAX_PRIORITY);
		return false;
	}
	a->placement.priority[d] = (uint8_t)spec->priority;
	a->placed |= spec->placed;
	return true;
}

/* unreduced(Y, max): the last name may be a combiner's. */
static bool
place_unreduced(Elab *e, Annotation *a, Used *used)
{
	List specs = a->spec->unreduced_axes;
	const AxisSpec *last = specs.v[specs.n - 1];
	const Symbol *s = table_get(e->globals, last->name.s);
	bool is_axis = s != NULL && s->kind == SYM_axis;
	Combiner c = C_add;
	if (!is_axis && !last->sub && specs.n > 1) {
		if (!combiner_by_name(last->name.s, &c)) {
			complain(e, DIAG_combiner, last->range,
				"'%s' is neither "
				"an axis nor a combiner (add, max, min, mul, and, "
				"or)",
				last->name.s);
			return false;
		}
		specs.n--;
	}
	AxisList axes;
	if (!resolve_axes(e, used, specs, &axes))
		return false;
	placement_set_unreduced(&a->placement, &axes, c);
	return true;
}

static bool
place(Elab *e, Annotation *a)
{
	const TypeSpec *spec = a->spec;
	Used used = {0};
	a->placement = placement_none(a->rank);
	a->placed = spec->open || spec->replicated || spec->unreduced;
	for (int d = 0; d < a->rank; d++)
		if (!place_dim(e, a, &used, d))
			return false;
	AxisList axes;
	if (!resolve_axes(e, &used, spec->replicated_axes, &axes))
		return false;
	placement_set_replicated(&a->placement, &axes);
	a->placement.all_replicated = spec->replicated && axes.n == 0;
	return !spec->unreduced || place_unreduced(e, a, &used);
}

/* ---- sizes */

static bool
resolve_size(Elab *e, const DimSpec *spec, int64_t *size)
{
	*size = 0;
	if (spec->size == NULL)
		return true;
	if (!eval_size(e, spec->size, size))
		return false;
	if (*size >= 1)
		return true;
	complain(e, DIAG_size, spec->size->range, "a dim of size %" PRId64 "; sizes start at 1",
		*size);
	return false;
}

static bool
resolve_dims(Elab *e, Annotation *a)
{
	List dims = a->spec->dims;
	if (dims.n > MAX_USER_RANK) {
		complain(e, DIAG_rank, a->spec->dims_range,
			"a type with %d "
			"dims; at most %d are allowed",
			dims.n, MAX_USER_RANK);
		return false;
	}
	a->rank = dims.n;
	bool right = true;
	for (int d = 0; d < dims.n; d++) {
		a->dim_specs[d] = dims.v[d];
		right &= resolve_size(e, a->dim_specs[d], &a->dims[d]);
	}
	return right;
}

/* ---- types */

static const TypeSpec *
unknown_type(Elab *e, const TypeSpec *spec, const Symbol *s)
{
	const char *ours = dtype_habit(spec->name.s);
	if (ours != NULL)
		complain(e, DIAG_habit, spec->name.range, "'%s' is written %s", spec->name.s,
			ours);
	else if (s != NULL)
		complain(e, DIAG_type_form, spec->name.range, "'%s' is not a type",
			spec->name.s);
	else
		complain(e, DIAG_unknown_name, spec->name.range, "type '%s' is not declared",
			spec->name.s);
	return NULL;
}

/* Follows declared names to the type that is written out. */
static const TypeSpec *
written_type(Elab *e, const TypeSpec *spec)
{
	for (int i = 0; i < MAX_TYPE_NAMES; i++) {
		if (spec->name.s == NULL)
			return spec;
		Symbol *s = symbol_find(e, spec->name.s);
		if (s == NULL || s->kind != SYM_type)
			return unknown_type(e, spec, s);
		if (spec->has_dims) {
			complain(e, DIAG_type_form, spec->range,
				"'%s' is a "
				"whole type and takes no dims",
				spec->name.s);
			return NULL;
		}
		spec = s->type;
	}
	complain(e, DIAG_type_form, spec->range,
		"the declaration of type '%s' leads back to itself", spec->name.s);
	return NULL;
}

bool
annotation_resolve(Elab *e, const TypeSpec *spec, Annotation *a)
{
	*a = (Annotation){.range = spec->range};
	a->spec = spec = written_type(e, spec);
	if (spec == NULL)
		return false;
	a->has_dtype = spec->has_dtype;
	a->dtype = spec->dtype;
	a->has_dims = spec->has_dims || spec->has_dtype;
	if (!resolve_dims(e, a) || !place(e, a))
		return false;
	return e->manual == NULL || check_manual_placement(e, a);
}

/* ---- against a value */

static void
complain_unfit(Elab *e, const Annotation *a, const Type *type, Range where, DiagCode code,
	const char *what)
{
	Text t = {0};
	if (a->has_dtype)
		text_add(&t, dtypes[a->dtype].name);
	text_add(&t, "[");
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
}

bool
annotation_unify(Elab *e, Annotation *a, const Type *type, Range where, DiagCode code,
	const char *what)
{
	bool fits = !a->has_dtype || a->dtype == type->dtype;
	fits &= a->rank == type->rank;
	for (int d = 0; fits && d < a->rank; d++)
		fits &= a->dims[d] == 0 || a->dims[d] == type->dims[d];
	if (!fits) {
		complain_unfit(e, a, type, where, code, what);
		return false;
	}
	a->dtype = type->dtype;
	memcpy(a->dims, type->dims, sizeof a->dims);
	return true;
}

/* A device's part of a manual function is all of its tensor: in its signature,
   in its body, and in the plain functions that are called there. */
static bool
is_manual(const Elab *e)
{
	return e->manual != NULL || (e->frame != NULL && e->frame->fn->mode == FN_manual);
}

/* B@(X,Y) pad */
static void
note_pad(Elab *e, const AxisList *axes, int64_t size, int64_t above)
{
	Text t = {0};
	text_axes(&t, &e->m->mesh, axes);
	diag_note(e->session, (Range){0},
		"or write %" PRId64 "@%s%s%s pad: "
		"%" PRId64 " where it is computed",
		size, axes->n > 1 ? "(" : "", t.s, axes->n > 1 ? ")" : "", above);
	text_free(&t);
}

/* The sizes next to `size` that the axes divide. */
static void
note_nearest(Elab *e, int64_t size, const AxisList *axes)
{
	int64_t ways = axes_size(axes), below = size / ways * ways, above;
	bool fits = add_i64(below, ways, &above);
	if (below > 0 && fits)
		diag_note(e->session, (Range){0},
			"the nearest sizes that "
			"divide are %" PRId64 " and %" PRId64,
			below, above);
	else
		diag_note(e->session, (Range){0},
			"the nearest size that "
			"divides is %" PRId64,
			below > 0 ? below : ways);
	if (fits && !is_manual(e))
		note_pad(e, axes, size, above);
}

/* The dim is made to divide later (shard/pad_dims.c). */
static bool
check_pad(Elab *e, const DimSpec *spec)
{
	if (is_manual(e)) {
		complain(e, DIAG_manual, spec->pad_range,
			"a manual function "
			"takes and gives equal parts; there is no padding");
		diag_note(e->session, (Range){0},
			"pad(x, ((0, n), ...)) "
			"before its call makes a dim one that divides, a slice "
			"after it takes the rest off");
		return false;
	}
	if (spec->axes.n == 0)
		complain(e, DIAG_pad_whole, spec->pad_range,
			"pad fills up "
			"nothing: no axis is written for this dim");
	return true;
}

static bool
dim_divides(Elab *e, const Annotation *a, int d)
{
	int64_t ways = placement_dim_ways(&a->placement, d);
	int64_t size = a->dims[d];
	const DimSpec *spec = a->dim_specs[d];
	if (spec->pad)
		return check_pad(e, spec);
	if (size % ways == 0)
		return true;
	AxisList axes = placement_dim(&a->placement, d);
	Text t = {0};
	text_axes(&t, &e->m->mesh, &axes);
	complain(e, DIAG_indivisible, spec->range,
		"dim %d of size %" PRId64 " cannot be split over %s, which %s %" PRId64
		" devices",
		d, size, t.s, axes.n > 1 ? "are" : "is", ways);
	note_nearest(e, size, &axes);
	text_free(&t);
	return false;
}

/* Sums are of numbers, conjunctions of pred; max and min of both. */
static bool
combiner_fits(Elab *e, const Annotation *a)
{
	if (!a->spec->unreduced)
		return true;
	Combiner c = (Combiner)a->placement.combiner;
	bool logical = c == C_and || c == C_or, pred = a->dtype == D_pred;
	if (c == C_max || c == C_min || logical == pred)
		return true;
	complain(e, DIAG_combiner, a->spec->unreduced_range,
		"partial results "
		"of %s cannot be combined by '%s'",
		dtypes[a->dtype].name, combiners[c].name);
	return false;
}

/* What can be said of a placement once sizes and dtype are known. */
bool
annotation_check(Elab *e, const Annotation *a)
{
	bool right = combiner_fits(e, a);
	for (int d = 0; d < a->rank; d++)
		right &= dim_divides(e, a, d);
	return right;
}

bool
annotation_type(Elab *e, Annotation *a, Type *type)
{
	if (!a->has_dtype || !a->has_dims) {
		complain(e, DIAG_type_form, a->range,
			"a full type is wanted "
			"here: a dtype, and a size for each dim");
		return false;
	}
	int64_t n = dtypes[a->dtype].bytes;
	for (int d = 0; d < a->rank; d++) {
		if (a->dims[d] == 0) {
			complain(e, DIAG_size, a->dim_specs[d]->range,
				"the size of this dim must be written");
			return false;
		}
		if (!mul_i64(n, a->dims[d], &n)) {
			complain(e, DIAG_size, a->range,
				"a tensor of more "
				"bytes than 64 bits can count");
			return false;
		}
	}
	*type = type_of(a->dtype, a->rank, a->dims);
	return annotation_check(e, a);
}

/* A literal takes the dtype that is written. */
static bool
literal_to_tensor(Elab *e, Site s, const Annotation *a, Item *x)
{
	if (!item_is_number(x))
		return true;
	if (!a->has_dtype) {
		complain(e, DIAG_literal, x->range,
			"%s needs a dtype; write "
			"it as a cast: f32(...)",
			show_item(e, x));
		return false;
	}
	*x = item_tensor(x->range, item_constant(e, s, a->dtype, x));
	return x->kind == IT_tensor;
}

Value *
annotation_fit(Elab *e, Site s, const TypeSpec *spec, Item *x, Annotation *a, DiagCode code,
	const char *what)
{
	if (x->kind == IT_error || !annotation_resolve(e, spec, a)
		|| !literal_to_tensor(e, s, a, x))
		return NULL;
	if (x->kind != IT_tensor) {
		complain(e, code, x->range, "%s is %s, not a tensor", what, show_item(e, x));
		return NULL;
	}
	if (!annotation_unify(e, a, &x->value->type, x->range, code, what)
		|| !annotation_check(e, a))
		return NULL;
	return x->value;
}

Value *
annotation_apply(Elab *e, Site s, const TypeSpec *spec, Item *x, DiagCode code,
	const char *what)
{
	Annotation a;
	Value *v = annotation_fit(e, s, spec, x, &a, code, what);
	if (v == NULL || !a.placed)
		return v;
	return emit_placed(e, s, O_constraint, v, &a);
}

Value *
annotation_apply_exactly(Elab *e, Site s, const TypeSpec *spec, Item *x, DiagCode code,
	const char *what)
{
	Annotation a;
	Value *v = annotation_fit(e, s, spec, x, &a, code, what);
	return v != NULL ? emit_placed(e, s, O_constraint, v, &a) : NULL;
}
