/*
 * types.c - types and placements as written, worked out against the mesh.
 *
 *   f32[B@X, D@(Y,Z,?)]    dims {8, 64}, placement {[X], [Y,Z] open}
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
		"there is no 'None' here: a dim that is not split is its size alone, as D in "
		"f32[B@X, D]");
}

/* ---- axes */

bool
axis_resolve(Elab *e, const AxisSpec *spec, AxisRef *axis)
{
	const Mesh *mesh = &e->m->mesh;
	Name name = spec->name;
	const Symbol *s = table_get(e->globals, name.s);
	const char *names[MAX_AXES];
	if (s == NULL || s->kind != SYM_axis) {
		if (strcmp(name.s, "None") == 0) {
			report_none(e, name.range);
			return false;
		}
		if (e->lost & LOST_axes) {
			if (s == NULL)
				declare_lost_axis(e, name);
			return false;
		}
		for (int i = 0; i < mesh->naxes; i++)
			names[i] = mesh->axes[i].name;
		complain(e, DIAG_unknown_axis, name.range, "the mesh has no axis '%s'", name.s);
		const char *near = rt_nearest_word(name.s, names, mesh->naxes);
		if (near != NULL)
			diag_note(e->session, e->mesh_range, "did you mean '%s'?", near);
		else
			diag_note(e->session, e->mesh_range, "the mesh");
		return false;
	}
	if (s->item.kind == IT_error)
		return false;
	*axis = axis_whole(mesh, (int)s->item.integer);
	if (!spec->sub)
		return true;
	int64_t whole = mesh->axes[axis->axis].size;
	bool exists = spec->pre >= 1 && spec->size > 1 && spec->size <= whole
		&& spec->pre <= whole / spec->size && whole % (spec->pre * spec->size) == 0;
	if (!exists)
		return complain(e, DIAG_sub_axis, spec->range,
			"axis %s of size %" PRId64 " has no part :(%" PRId64 ")%" PRId64
			"; in :(m)k, k > 1 and m*k divides the size",
			name.s, whole, spec->pre, spec->size);
	axis->pre = (int32_t)spec->pre;
	axis->size = (int32_t)spec->size;
	return true;
}

/* The axes seen so far in one type, to find the one used twice. */
typedef struct Used {
	int n;
	AxisRef a[MAX_PIECES];
	Range at[MAX_PIECES];
} Used;

static bool
resolve_axes(Elab *e, Used *used, List specs, AxisList *axes)
{
	*axes = (AxisList){0};
	for (int i = 0; i < specs.n; i++) {
		const AxisSpec *spec = specs.v[i];
		AxisRef a;
		bool known = axis_resolve(e, spec, &a);
		if (!known && (e->lost & LOST_axes))
			continue;
		if (!known)
			return false;
		for (int k = 0; k < used->n; k++) {
			AxisRef before = used->a[k];
			bool apart = !axis_overlap(before, a) && axis_can_coexist(before, a);
			if (apart || before.axis != a.axis)
				continue;
			complain(e, DIAG_axis_twice, spec->range,
				"axis %s is used twice in one tensor", spec->name.s);
			diag_label(e->session, used->at[k], "first here");
			return false;
		}
		if (used->n == MAX_PIECES)
			return complain(e, DIAG_axis_twice, spec->range,
				"a placement has at most %d axes and parts of axes",
				MAX_PIECES);
		used->a[used->n] = a;
		used->at[used->n++] = spec->range;
		axes_append(axes, a);
	}
	return true;
}

/* ---- placements */

/* What has no axis and gets none is never placed, first or last. */
static bool
check_priority(Elab *e, const DimSpec *dim, bool open)
{
	if (dim->priority < 0 || dim->priority > MAX_PRIORITY)
		return complain(e, DIAG_priority, dim->priority_range, "priorities are 0 to %d",
			MAX_PRIORITY);
	if (dim->priority_range.file == 0 || dim->axes.n > 0 || dim->open || open)
		return true;
	complain(e, DIAG_priority, dim->priority_range,
		"a priority says when axes are placed; this dim names none");
	diag_note(e->session, nowhere,
		"leave it out, or open the dim: @?!%" PRId64
		" lets the compiler place axes here, after those of lower priorities",
		dim->priority);
	return false;
}

static bool
place(Elab *e, Annotation *a)
{
	const TypeSpec *spec = a->spec;
	Used used = {0};
	AxisList axes;
	bool right = true;
	a->placement = placement_none(a->rank);
	a->placed = spec->open || spec->replicated || spec->unreduced;
	for (int d = 0; d < a->rank; d++) {
		const DimSpec *dim = a->dim_specs[d];
		if (!resolve_axes(e, &used, dim->axes, &axes))
			return false;
		placement_set_dim(&a->placement, d, &axes);
		if (dim->open || spec->open)
			a->placement.open |= (uint16_t)(1u << d);
		right &= check_priority(e, dim, spec->open);
		a->placement.priority[d] = (uint8_t)dim->priority;
		a->placed |= dim->placed;
	}
	if (!right || !resolve_axes(e, &used, spec->replicated_axes, &axes))
		return false;
	placement_set_replicated(&a->placement, &axes);
	a->placement.all_replicated = spec->replicated && axes.n == 0;
	if (!spec->unreduced)
		return true;

	/* unreduced(Y, max): the last name may be a combiner's. */
	List partial = spec->unreduced_axes;
	const AxisSpec *last = partial.v[partial.n - 1];
	const Symbol *s = table_get(e->globals, last->name.s);
	bool is_axis = s != NULL && s->kind == SYM_axis;
	Combiner c = C_add;
	if (!is_axis && !last->sub && partial.n > 1) {
		if (!combiner_by_name(last->name.s, &c))
			return complain(e, DIAG_combiner, last->range,
				"'%s' is neither an axis nor a combiner (add, max, min, mul, "
				"and, or)",
				last->name.s);
		partial.n--;
	}
	if (!resolve_axes(e, &used, partial, &axes))
		return false;
	placement_set_unreduced(&a->placement, &axes, c);
	return true;
}

/* ---- types */

const Expr *
undeclared_size(Elab *e, const TypeSpec *type, int dim)
{
	const Expr *size = ((const DimSpec *)type->dims.v[dim])->size;
	bool named = size != NULL && size->kind == E_name;
	return named && symbol_find(e, size->name) == NULL ? size : NULL;
}

/* Follows declared names to the type that is written out. */
static const TypeSpec *
written_type(Elab *e, const TypeSpec *spec)
{
	for (int i = 0; i < MAX_TYPE_NAMES; i++) {
		Name name = spec->name;
		if (name.s == NULL)
			return spec;
		Symbol *s = symbol_find(e, name.s);
		const char *ours = dtype_habit(name.s);
		if (s != NULL && s->kind == SYM_type && !spec->has_dims) {
			spec = s->type;
			continue;
		}
		if (s != NULL && s->kind == SYM_type)
			complain(e, DIAG_type_form, spec->range,
				"'%s' is a whole type and takes no dims", name.s);
		else if (ours != NULL)
			complain(e, DIAG_habit, name.range, "'%s' is written %s", name.s, ours);
		else if (s != NULL)
			complain(e, DIAG_type_form, name.range, "'%s' is not a type", name.s);
		else if ((e->lost & LOST_names) == 0 && (e->frame == NULL || !e->frame->lost))
			complain(e, DIAG_unknown_name, name.range, "type '%s' is not declared",
				name.s);
		return NULL;
	}
	return complain(e, DIAG_type_form, spec->range,
		"the declaration of type '%s' leads back to itself", spec->name.s);
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
	a->rank = spec->dims.n;
	if (a->rank > MAX_USER_RANK)
		return complain(e, DIAG_rank, spec->dims_range,
			"a type with %d dims; at most %d are allowed", a->rank, MAX_USER_RANK);
	bool right = true;
	for (int d = 0; d < a->rank; d++) {
		const DimSpec *dim = a->dim_specs[d] = spec->dims.v[d];
		if (dim->size == NULL)
			continue;
		bool known = eval_size(e, dim->size, &a->dims[d]);
		if (known && a->dims[d] < 1)
			complain(e, DIAG_size, dim->size->range,
				a->dims[d] == -1 ? "a dim of size %" PRId64
						   "; the size that follows is written _"
						 : "a dim of size %" PRId64
						   "; sizes start at 1",
				a->dims[d]);
		right &= known && a->dims[d] >= 1;
	}
	return right && place(e, a) && (e->manual == NULL || check_manual_placement(e, a));
}

Value *
annotation_apply(Elab *e, Site s, const TypeSpec *spec, bool exactly, Item *item, DiagCode code,
	const char *what)
{
	Annotation a;
	if (item->kind == IT_error || !annotation_resolve(e, spec, &a))
		return NULL;
	Value *v = annotation_fit(e, s, &a, item, code, what);
	return v != NULL && (exactly || a.placed) ? emit_placed(e, s, v, &a, false) : v;
}
