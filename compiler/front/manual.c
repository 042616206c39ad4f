/*
 * manual.c - functions written for one device.
 *
 *   manual fn f(x: f32[8@X]) -> (y: f32[2]) { return psum(x, X); }
 *
 *   f(a)     a.2 = constraint(a)            a placed as x says: [8@X]
 *            y = manual(a.2), axes X,       specs [8@X] and [2]
 *              body(x: f32[2]) { all_reduce(x) }
 *
 * The signature is in terms of whole tensors, the body in terms of shards.
 * The body sees nothing of what is around the call.
 *
 *   manual(X) fn f(x: f32[8@(X,Y), 4@?]) ...      on a mesh [X=2, Y=2]
 *
 *   f(a)     a.2 = constraint(a)            [8@(X,Y), 4@?] replicated(X)
 *            y = manual(a.2), axes X,       spec [8@X, 4]
 *              body(x: f32[4@Y, 4@?])       what is left of the placement
 *
 * Along the axes that it does not name, the body is automatic.  So it may call
 * a function that is manual along some of them: what is whole there is what one
 * device along X has, and the region of the call is in the body of its own.
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

/* ---- signatures */

/* The axes that the function is manual along: all, or those that it names. */
static bool
manual_axes(Elab *e, const FnDecl *fn, AxisList *axes)
{
	const Mesh *mesh = &e->m->mesh;
	*axes = (AxisList){0};
	if (fn->lost || (e->lost & LOST_axes))
		return false;
	for (int i = 0; i < mesh->naxes && fn->manual_axes.n == 0; i++)
		axes_append(axes, axis_whole(mesh, i));
	for (int i = 0; i < fn->manual_axes.n; i++) {
		const AxisSpec *spec = fn->manual_axes.v[i];
		AxisRef a;
		if (!axis_resolve(e, spec, &a))
			return false;
		if (spec->sub || axes_overlap(axes, a))
			return complain(e, DIAG_manual, spec->range,
				"a function is manual along whole axes, each named once");
		axes_append(axes, a);
	}
	return true;
}

/* The function whose body is being built that is manual along this axis. */
static const Manual *
manual_along(const Elab *e, AxisRef a)
{
	const Manual *m = e->manual;
	while (!axes_overlap(m->op->axes, a))
		m = m->outer;
	return m;
}

/* A device is told from others along an axis once. */
bool
may_nest(Elab *e, const FnDecl *fn, Range call)
{
	const Mesh *mesh = &e->m->mesh;
	AxisList axes, left = {0};
	int at = 0;
	if (!manual_axes(e, fn, &axes))
		return false;
	while (at < axes.n && !axes_overlap(&e->manual->along, axes.a[at]))
		at++;
	if (at == axes.n)
		return true;

	const Manual *m = manual_along(e, axes.a[at]);
	complain(e, DIAG_manual, call,
		"'%s' is manual along %s, and so is '%s', in which it is called", fn->name.s,
		mesh->axes[axes.a[at].axis].name, m->fn->name.s);
	diag_note(e->session, fn->name.range, "'%s' is manual along %s", fn->name.s,
		show_axes(e, &axes));
	diag_note(e->session, m->fn->name.range, "'%s' is manual along %s", m->fn->name.s,
		show_axes(e, m->op->axes));
	for (int i = 0; i < mesh->naxes; i++)
		if (!axes_overlap(&e->manual->along, axis_whole(mesh, i)))
			axes_append(&left, axis_whole(mesh, i));
	if (left.n > 0)
		diag_note(e->session, nowhere,
			"'%s' may be manual along what is left, %s, as in manual(%s) fn",
			fn->name.s, show_axes(e, &left), show_axes(e, &left));
	diag_note(e->session, nowhere, "a function of one device's tensors is a plain fn");
	return false;
}

/* The manual ones of a list, which come first; false if they do not. */
static bool
manual_part(const AxisList *list, const AxisList *manual, AxisList *part)
{
	bool ordered = true;
	*part = (AxisList){0};
	for (int i = 0; i < list->n; i++) {
		if (!axes_overlap(manual, list->a[i]))
			continue;
		ordered &= part->n == i;
		axes_append(part, list->a[i]);
	}
	return ordered;
}

/* Every axis of the mesh is manual: nothing is left to the compiler. */
static bool
all_manual(const Elab *e, const AxisList *manual)
{
	return manual->n == e->m->mesh.naxes;
}

/* Propagation may fill open dims, but with automatic axes only. */
static void
bar_manual(Placement *p, const AxisList *manual)
{
	AxisList barred = placement_replicated(p);
	for (int i = 0; i < manual->n && p->open && !p->all_replicated; i++)
		if (!placement_uses(p, manual->a[i]) && !axes_overlap(&barred, manual->a[i]))
			axes_append(&barred, manual->a[i]);
	placement_set_replicated(p, &barred);
}

/* How a tensor is cut along the manual axes, closed; false after a message. */
static bool
find_spec(Elab *e, const Annotation *a, const AxisList *manual, Placement *spec)
{
	const Placement *p = &a->placement;
	AxisList axes = placement_unreduced(p), part;
	bool ordered = true;
	*spec = placement_close(*p);
	manual_part(&axes, manual, &part);
	placement_set_unreduced(spec, &part, (Combiner)p->combiner);
	for (int d = 0; d < p->rank; d++) {
		axes = placement_dim(p, d);
		ordered &= manual_part(&axes, manual, &part);
		placement_set_dim(spec, d, &part);
	}
	if (!ordered)
		complain(e, DIAG_manual, a->range,
			"in each dim the axes that the function is manual along come first");
	return ordered;
}

/* Exact along the manual axes: a device's part follows from it. */
static bool
resolve_spec(Elab *e, const Param *param, const char *what, const AxisList *manual,
	Annotation *a)
{
	if (param->type == NULL)
		return complain(e, DIAG_manual, param->range,
			"%s of a manual function needs a type, which says where it is", what);
	if (!annotation_resolve(e, param->type, a))
		return false;
	const char *wrong = NULL;
	for (int d = -1; d < a->rank; d++) {
		AxisList axes = d < 0 ? placement_unreduced(&a->placement)
				      : placement_dim(&a->placement, d);
		for (int i = 0; i < axes.n; i++)
			if (axes_overlap(manual, axes.a[i])
				&& !axis_is_whole(&e->m->mesh, axes.a[i]))
				wrong = "a part of an axis";
	}
	if (a->placement.open && all_manual(e, manual))
		wrong = "an open dim (?)";
	return wrong == NULL
		|| complain(e, DIAG_manual, a->range,
			"the signature of a manual function says where every dim is; it has no "
			"place for %s",
			wrong);
}

/* ---- the body */

/* What later messages say of the region. */
static const Signature *
signature_of(Elab *e, const FnDecl *fn)
{
	Signature *s = NEW(e->arena, Signature);
	CallSite **next = &s->call;
	s->names = NEW_ARRAY(e->arena, const char *, fn->results.n + 1);
	s->types = NEW_ARRAY(e->arena, Range, fn->results.n + 1);
	for (int i = 0; i < fn->results.n; i++) {
		const Param *p = fn->results.v[i];
		s->names[i] = p->name.s;
		s->types[i] = p->type->range;
	}
	for (const Frame *f = e->frame; f != NULL && f->caller != NULL; f = f->caller) {
		if (f->prelude)
			continue;
		*next = NEW(e->arena, CallSite);
		**next = (CallSite){f->fn->name.s, f->call, NULL};
		next = &(*next)->outer;
	}
	return s;
}

/* The axes along which a dim has so many parts: those that it has, those that the value
   has, or one of the mesh besides, that is not used; false: there are none. */
static bool
find_axes(const Mesh *mesh, int64_t ways, const AxisList *value, const AxisList *used,
	AxisList *axes)
{
	bool free = axes->n == 0 && axes_size(value) == ways;
	if (ways % axes_size(axes) != 0)
		return false;
	ways /= axes_size(axes);
	if (ways == 1)
		return true;
	for (int i = 0; i < value->n; i++)
		free = free && !axes_overlap(used, value->a[i]);
	if (free)
		axes_append_all(axes, value);
	for (int i = 0; i < mesh->naxes && !free; i++) {
		AxisRef axis = axis_whole(mesh, i);
		free = !axes_overlap(used, axis) && axis.size == ways;
		if (free)
			axes_append(axes, axis);
	}
	return free;
}

/* Where sizes are those of a device's part: the type with the axes along which there are as
   many parts as are missing, if there are some for each dim.  `value`: where the argument
   is; NULL: of a result, of which a device has `parts`. */
static void
note_whole(Elab *e, const Annotation *a, const Type *whole, const int64_t *parts,
	const Placement *value)
{
	Text t = {0};
	AxisList used = {0}, axes;
	int rank = whole->rank;
	bool fits = a->rank == rank && rank > 0;
	for (int d = 0; fits && d < rank; d++) {
		axes = placement_dim(&a->placement, d);
		axes_append_all(&used, &axes);
	}
	text_printf(&t, "%s[", a->has_dtype ? dtypes[a->dtype].name : "");
	for (int d = 0; fits && d < rank; d++) {
		int64_t size = whole->dims[d];
		AxisList has = value != NULL ? placement_dim(value, d) : (AxisList){0};
		axes = placement_dim(&a->placement, d);
		if (size != parts[d] || value == NULL)
			fits = parts[d] > 0 && size % parts[d] == 0
				&& find_axes(&e->m->mesh, size / parts[d], &has, &used, &axes);
		fits = fits && size % axes_size(&axes) == 0;
		axes_append_all(&used, &axes);
		text_printf(&t, d > 0 ? ", %" PRId64 : "%" PRId64, size);
		if (axes.n > 0)
			text_printf(&t, axes.n > 1 ? "@(%s)" : "@%s", show_axes(e, &axes));
	}
	if (fits)
		diag_note(e->session, nowhere,
			"a manual signature is of whole tensors: %s] would fit", t.s);
	text_free(&t);
}

/* The statements, and a return of what they make: what the parts that the devices
   return are together has the type of the result. */
static bool
build_body(Elab *e, FnDecl *fn, Annotation *results, const Placement *specs, Item **items)
{
	int n;
	if (!run_body(e, fn, &n, items))
		return false;
	bool right = true;
	Value **values = NEW_ARRAY(e->arena, Value *, n);
	Range *returned = NEW_ARRAY(e->arena, Range, n);
	for (int i = 0; i < n; i++) {
		Item *x = &(*items)[i];
		Annotation *a = &results[i];
		returned[i] = x->range;
		if (a->has_dtype)
			*x = item_typed(e, (Site){x->range, "return", AS_call}, a->dtype, *x);
		values[i] = x->value;
		if (x->kind == IT_error) {
			right = false;
			continue;
		}
		if (x->kind != IT_tensor) {
			right = complain(e, DIAG_literal, x->range,
				"the result is %s, which has no dtype", show_item(e, x));
			continue;
		}
		Type whole = values[i]->type;
		for (int d = 0; d < whole.rank && d < a->rank; d++)
			if (!mul_i64(whole.dims[d], placement_dim_ways(&specs[i], d),
				    &whole.dims[d]))
				whole = values[i]->type;
		const char *what = type_equal(&whole, &values[i]->type)
			? "the result"
			: arena_printf(e->arena, "the result, %s on each device,",
				show_type(e, &values[i]->type));
		if (!annotation_unify(e, a, &whole, x->range, DIAG_results, what)) {
			/* it is written as each device has it, or lacks axes */
			const Type *local = &values[i]->type;
			bool part = a->rank == whole.rank
				&& !memcmp(a->dims, local->dims,
					(size_t)a->rank * sizeof *a->dims);
			Type declared = whole;
			memcpy(declared.dims, a->dims, sizeof a->dims);
			note_whole(e, a, part ? &whole : &declared, local->dims, NULL);
			right = false;
		}
		right = right && annotation_check(e, a, NULL);
	}
	if (!right)
		return false;
	Op *op = make_return(e->block, n, values, returned[0], "return");
	op->operand_ranges = returned;
	return true;
}

static Manual *
manual_begin(Elab *e, const FnDecl *fn, Range where, Value *const *args, const AxisList *axes)
{
	Site s = {where, fn->name.s, AS_call};
	Op *op = make_begin(at(e, s), O_manual, fn->params.n, args);
	if (op == NULL)
		return NULL;
	Manual *m = NEW(e->arena, Manual);
	*m = (Manual){.op = op,
		.fn = fn,
		.outer = e->manual,
		.along = *axes,
		.around = e->block,
		.region = e->region,
		.mode = e->mode};
	if (m->outer != NULL)
		axes_append_all(&m->along, &m->outer->along);
	m->whole = all_manual(e, &m->along);
	op->axes = arena_copy(e->arena, axes, sizeof *axes);
	op_begin_bodies(op, 1);
	e->block = op->bodies[0];
	e->region = NULL;
	e->mode = MODE_auto;
	e->manual = m;
	return m;
}

/* The region's op and its results, placed as the signature says. */
static bool
finish_op(Elab *e, const FnDecl *fn, Op *op, const Annotation *results, Item *items)
{
	for (int i = 0; i < fn->results.n; i++) {
		const Param *p = fn->results.v[i];
		const char *name =
			p->name.s == NULL || e->frame->is_entry ? fn->name.s : p->name.s;
		Type unknown = type_of(D_pred, 0, NULL);
		if (i == 0)
			op->results[0]->name = module_unique_name(e->m, name);
		else
			op_add_result(op, name, &unknown);
	}
	if (make_end(at(e, (Site){op->range, op->label, op->form}), op) == NULL)
		return false;
	for (int i = 0; i < fn->results.n; i++) {
		Value *v = op->results[i];
		v->placement = results[i].placement;
		v->annotated = true;
		v->type_range = results[i].range;
		bar_manual(&v->placement, op->axes);
		items[i] = item_tensor(items[i].range, v);
	}
	return true;
}

bool
run_manual(Elab *e, FnDecl *fn, Range where, Value *const *args, int *n, Item **results)
{
	int nparams = fn->params.n;
	AxisList axes;
	Annotation *declared = NEW_ARRAY(e->arena, Annotation, fn->results.n + 1);
	Annotation *written = NEW_ARRAY(e->arena, Annotation, nparams + 1);
	Placement *specs = NEW_ARRAY(e->arena, Placement, nparams + fn->results.n + 1);
	*n = fn->results.n;
	if (!manual_axes(e, fn, &axes))
		return false;
	if (!fn->has_results)
		return complain(e, DIAG_manual, fn->name.range,
			"a manual function says where its results are, as in -> f32[8@X]");
	bool right = true;
	for (int i = 0; i < *n; i++) {
		Annotation *a = &declared[i];
		bool resolved = resolve_spec(e, fn->results.v[i], "a result", &axes, a);
		right &= resolved;
		/* Of explicit code everything is known, so what it calls says where it is. */
		if (resolved && a->placement.open && e->mode == MODE_explicit)
			right = complain(e, DIAG_manual, a->range,
				"an open dim (?) in a result of a manual function that "
				"explicit code calls; say where it is");
	}
	for (int i = 0; right && i < nparams; i++)
		right = resolve_spec(e, fn->params.v[i], "a parameter", &axes, &written[i])
			&& find_spec(e, &written[i], &axes, &specs[i]);
	for (int i = 0; right && i < *n; i++)
		right = find_spec(e, &declared[i], &axes, &specs[nparams + i]);
	Manual *m = right ? manual_begin(e, fn, where, args, &axes) : NULL;
	if (m == NULL)
		return false;
	m->op->specs = specs;
	m->op->signature = signature_of(e, fn);

	/* A parameter's name stands for the device's part from here on, placed as is
	   written along the automatic axes. */
	for (int i = 0; i < nparams; i++) {
		const Param *p = fn->params.v[i];
		Type local = placement_local(&args[i]->type, &specs[i]);
		Value *v = block_add_param(e->block, p->name.s, &local);
		v->range = p->name.range;
		v->annotated = !m->whole;
		if (v->annotated) {
			v->placement = manual_inside(m->op->axes, &written[i].placement);
			v->type_range = written[i].range;
		}
		symbol_local(e, p->name.s)->item = item_tensor(v->range, v);
	}
	right = build_body(e, fn, declared, specs + nparams, results);
	e->block = m->around;
	e->region = m->region;
	e->mode = m->mode;
	e->manual = m->outer;
	return right && finish_op(e, fn, m->op, declared, *results);
}

/* The arguments are placed, and named as the function does. */
Item
call_manual(Elab *e, FnDecl *fn, const Item *args, Range call)
{
	Value **values = NEW_ARRAY(e->arena, Value *, fn->params.n + 1);
	int n;
	Item *results;
	AxisList manual;
	Annotation a;
	bool right = true;
	if (!manual_axes(e, fn, &manual))
		return item_error;
	for (int i = 0; i < fn->params.n; i++) {
		const Param *p = fn->params.v[i];
		const char *what = arena_printf(e->arena, "argument '%s'", p->name.s);
		Item x = args[i];
		Site site = {x.range, p->name.s, AS_call};
		Value *v = NULL;
		bool resolved = x.kind != IT_error && resolve_spec(e, p, what, &manual, &a);
		if (resolved)
			v = annotation_fit(e, site, &a, &x, DIAG_call_mismatch, what);
		if (resolved && v == NULL && x.kind == IT_tensor)
			note_whole(e, &a, &x.value->type, a.dims, &x.value->placement);
		if (v != NULL)
			v = emit_placed(e, site, v, &a, false);
		if (v != NULL)
			bar_manual(&v->placement, &manual);
		values[i] = v;
		Symbol *s = symbol_declare(e, SYM_value, p->name);
		s->as = "a parameter";
		s->item = item_tensor(x.range, v);
		right &= v != NULL;
		if (right)
			s->named = name_value(e, p->name, UNTYPED_no, v);
	}
	if (!right || !run_manual(e, fn, call, values, &n, &results))
		return item_error;
	return n == 1 ? results[0] : item_tuple(e, call, n, results);
}

/* ---- placements in the body */

bool
check_manual_placement(Elab *e, const Annotation *a)
{
	const AxisList *manual = &e->manual->along;
	AxisList barred = placement_replicated(&a->placement);
	if (!a->placed)
		return true;
	if (e->manual->whole)
		return complain(e, DIAG_manual, a->range,
			"in a manual function every tensor is on one device: only the "
			"signature says what is split");
	for (int i = 0; i < manual->n; i++) {
		AxisList axis = {1, {manual->a[i]}};
		if (!placement_uses(&a->placement, manual->a[i])
			&& !axes_overlap(&barred, manual->a[i]))
			continue;
		return complain(e, DIAG_manual, a->range,
			"'%s' is manual along %s: a tensor in it is what one device along %s "
			"has, and is placed along other axes only",
			manual_along(e, manual->a[i])->fn->name.s, show_axes(e, &axis),
			show_axes(e, &axis));
	}
	return true;
}
