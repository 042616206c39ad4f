/*
 * varying.c - what may differ between the devices of a manual region.
 *
 *   x: f32[8@X]            varies along X
 *   axis_index(Y)          varies along Y
 *   x + axis_index(Y)      along X and Y
 *   psum(..., X)           along Y only
 *   uniform(..., X)        along Y only: so it is vouched
 *
 * requires  L_global, as a front end made it
 * leaves    messages: a result that its spec says is the same along an axis
 *           must be so, and a collective under a condition must be reached by
 *           its whole group.  Both are proved from where values come from,
 *           not from what they are; uniform() is believed.
 */
#include "ir/flow.h"
#include "shard/shard.h"

/* The facts of a value: bit a, it may differ along mesh axis a. */
typedef Facts AxisSet;

typedef struct Varying {
	Module *module;
	const Op *outermost;  /* the region that is looked at, with those in it */
	const AxisSet *along; /* by value id */
	int ntold;
	Range *told; /* where something is wrong: once for all calls of a function */
} Varying;

/* ---- sets of axes --------------------------------------------------------- */

static AxisSet
axes_set(const AxisList *axes)
{
	AxisSet set = 0;

	for (int i = 0; i < axes->n; i++)
		if (axes->a[i].size > 1)
			set |= 1u << axes->a[i].axis;
	return set;
}

/* Those along which a tensor in this placement may differ. */
static AxisSet
spec_set(const Placement *spec)
{
	AxisList axes = placement_unreduced(spec);
	AxisSet set = axes_set(&axes);

	for (int d = 0; d < spec->rank; d++) {
		axes = placement_dim(spec, d);
		set |= axes_set(&axes);
	}
	return set;
}

static const char *
show_set(const Module *m, AxisSet set)
{
	const char *s = "";

	for (int i = 0; i < m->mesh.naxes; i++)
		if (set >> i & 1)
			s = arena_printf(m->arena, "%s%s%s", s, *s ? ", " : "",
				m->mesh.axes[i].name);
	return s;
}

/* As psum takes them: X, or (X, Y). */
static const char *
show_argument(const Module *m, AxisSet set)
{
	bool one = !(set & (set - 1));

	return one ? show_set(m, set) : arena_printf(m->arena, "(%s)", show_set(m, set));
}

/* ---- facts ------------------------------------------------------------------ */

/* What a value is of the device's id: (id % high) / low.  High is 0 if it is
   something else.

     axis_index(Y) on X=2, Y=4, Z=8     id / 8 % 4     low 8, high 32 */
typedef struct IdPart {
	int64_t low, high;
} IdPart;

static IdPart
id_part(const IdPart *parts, const Op *op)
{
	const Value *by = op->noperands == 2 ? op->operands[1] : NULL;
	IdPart part = op->noperands ? parts[op->operands[0]->id] : (IdPart){0}, none = {0};

	if (op->kind == O_partition_id)
		return (IdPart){1, op->module->mesh.ndevices};
	if (op->kind == O_convert && op->results[0]->type.dtype == D_i32)
		return part;
	bool divides = op->kind == O_div;
	if ((!divides && op->kind != O_rem) || !part.high || !by->def
		|| !op_has(by->def, A_value))
		return none;
	int64_t n = op_int(by->def, A_value);
	if (n <= 0 || n > MAX_DEVICES || part.low * n > part.high)
		return none;
	if (divides)
		return (IdPart){part.low * n, part.high};
	return part.high % (part.low * n) ? none : (IdPart){part.low, part.low * n};
}

/* What goes into a region is cut along its axes. */
static void
enter(Dataflow *d, const Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		d->of[op->bodies[0]->params[i]->id] |= spec_set(&op->specs[i]);
}

static void
vary(Dataflow *d, const Op *op)
{
	const Mesh *mesh = &op->module->mesh;
	AxisSet set = 0, axes = op->axes ? axes_set(op->axes) : 0;
	IdPart *parts = d->data;

	if (op->specs)
		enter(d, op);
	if (op->nbodies)
		return;
	IdPart part = id_part(parts, op);
	for (int i = 0; i < op->noperands; i++)
		set |= d->of[op->operands[i]->id];
	if (part.high && !op->noperands) { /* the id itself */
		AxisList every = block_manual_axes(op->block);
		set = axes_set(&every);
	}
	if (op_communicates(op))
		set = collectives[op->kind].varies ? set | axes : set & ~axes;
	if (op->kind == O_uniform)
		set &= ~axes;
	/* part of the id are the digits of some axes */
	for (int i = 0; i < mesh->naxes && part.high; i++) {
		AxisRef a = axis_whole(mesh, i);
		int64_t stride = axis_ref_stride(mesh, a);
		if (part.low % (stride * a.size) == 0 || stride % part.high == 0)
			set &= ~((AxisSet)1 << i);
	}
	for (int i = 0; i < op->nresults; i++) {
		parts[op->results[i]->id] = part;
		dataflow_add(d, op->results[i], set);
	}
}

/* What comes out of a region is put together along its axes. */
static Facts
vary_along(const Dataflow *d, const Flow *f)
{
	bool together = flow_spec(f) && f->kind == FLOW_out;

	return d->of[f->from->id] & ~(together ? axes_set(f->op->axes) : 0);
}

/* ---- where variation comes from ---------------------------------------------- */

/* Values to be looked at; each once. */
typedef struct Search {
	const Varying *w;
	AxisSet set;
	bool *seen; /* by value id */
	int n;
	const Value **next; /* the last first */
} Search;

/* True if v's variation may come from `from`. */
static bool
look_at(Search *s, const Value *from)
{
	if (!(s->w->along[from->id] & s->set))
		return false;
	if (!s->seen[from->id])
		s->next[s->n++] = from;
	s->seen[from->id] = true;
	return true;
}

/* Back from v, as far as its variation goes. */
static Value *
find_cause(const Varying *w, Value *v, AxisSet set)
{
	const Module *m = w->module;
	Search s = {w, set, NEW_ARRAY(m->arena, bool, m->nvalues), 0,
		NEW_ARRAY(m->arena, const Value *, m->nvalues)};
	bool found = look_at(&s, v);

	while (found && s.n > 0) {
		v = (Value *)s.next[--s.n];
		const Op *op = v->def;
		found = false;
		for (int i = op && !op->nbodies ? op->noperands : 0; i-- > 0;)
			found |= look_at(&s, op->operands[i]);
		for (Flow f = {.to = v}; flow_next_to(&f) && f.op != w->outermost;)
			found |= look_at(&s, f.from);
		if (op && op_decision(op))
			found |= look_at(&s, op_decision(op));
	}
	return v;
}

/* ---- messages ------------------------------------------------------------------ */

/* False if that place was complained of already. */
static bool
begin_complaint(Varying *w, Range where)
{
	for (int i = 0; i < w->ntold; i++)
		if (where.line && w->told[i].file == where.file
			&& w->told[i].begin == where.begin && w->told[i].end == where.end
			&& w->told[i].line == where.line)
			return false;
	APPEND(w->module->arena, w->told, w->ntold, where);
	return true;
}

/* How the region around came to be called. */
static void
note_calls(const Varying *w, const Op *region)
{
	enum { MOST = 4 };
	const CallSite *c = region->signature ? region->signature->call : NULL;

	for (int n = 0; c && n < MOST; c = c->outer, n++)
		diag_note(w->module->session, c->range, "in this call of '%s'", c->function);
}

typedef struct Decision { /* around an op */
	const struct Decision *outer;
	const Op *op; /* the `if` or `while` */
	AxisSet along;
} Decision;

static void
check_reached(Varying *w, const Op *op, const Decision *under)
{
	const Module *m = w->module;
	AxisSet axes = axes_set(op->axes);

	while (under && !(under->along & axes))
		under = under->outer;
	if (!under || !begin_complaint(w, op->range))
		return;
	const char *split = show_set(m, under->along & axes);
	diag(m->session, DIAG_divergent, op->range,
		"%s over %s waits for devices that may not come: the condition of this %s "
		"varies along %s",
		op->label, show_set(m, axes), ops[under->op->kind].name, split);
	note_calls(w, block_manual(op->block));
	diag_label(m->session, under->op->range, "each device along %s decides for itself",
		split);
	split = show_argument(m, under->along & axes);
	diag_note(m->session, nowhere,
		"let them agree first: pmax(i32(...), %s) > 0; uniform(..., %s) vouches that "
		"they do",
		split, split);
}

/* What comes out of a region. */
static void
check_results(Varying *w, const Op *op)
{
	const Module *m = w->module;
	const Signature *written = op->signature;

	for (Flow f = {.op = op}; flow_next(&f);) {
		if (f.kind != FLOW_out)
			continue;
		AxisSet set =
			w->along[f.from->id] & axes_set(op->axes) & ~spec_set(flow_spec(&f));
		Range where =
			f.user->operand_ranges ? f.user->operand_ranges[f.operand] : op->range;
		if (!set || !begin_complaint(w, where))
			continue;
		const char *axes = show_set(m, set);
		const char *name = written ? written->names[f.index] : NULL;
		diag(m->session, DIAG_varying, where,
			"%s is the same along %s by its type, but this varies along %s",
			name ? arena_printf(m->arena, "result '%s'", name) : "the result", axes,
			axes);
		note_calls(w, op);
		if (written)
			diag_label(m->session, written->types[f.index],
				"no dim is split over %s", axes);
		const Value *v = find_cause(w, f.from, set);
		const char *some = show_set(m, set & w->along[v->id]);
		if (v->def)
			diag_note(m->session, v->def->range, "%s differs along %s",
				v->def->label, some);
		else
			diag_note(m->session, v->range, "'%s' is split over %s",
				value_source_name(v), some);
		diag_note(m->session, nowhere,
			"psum(..., %s) adds up what the devices have; a dim of the type that "
			"is split over %s keeps each part; uniform(..., %s) vouches that all "
			"have the same",
			show_argument(m, set), axes, show_argument(m, set));
	}
}

static void
check_block(Varying *w, const Block *b, const Decision *under)
{
	for (const Op *op = b->first; op; op = op->next) {
		const Value *decision = op_decision(op);
		Decision d = {under, op, decision ? w->along[decision->id] : 0};
		if (op_communicates(op))
			check_reached(w, op, under);
		for (int i = 0; i < op->nbodies; i++)
			check_block(w, op->bodies[i], decision ? &d : under);
		if (op->specs)
			check_results(w, op);
	}
}

/* Each region that has none around it, to whose values nothing comes that varies. */
static void
check_outermost(Varying *w, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nbodies && !op->specs; i++)
			check_outermost(w, op->bodies[i]);
		if (!op->specs)
			continue;
		Arena *a = arena_new();
		Block *body = op->bodies[0];
		Dataflow d = {.op = vary, .along = vary_along, .decided = true};
		block_number(body);
		d.data = NEW_ARRAY(a, IdPart, w->module->nvalues + 1);
		d.of = NEW_ARRAY(a, Facts, w->module->nvalues + 1);
		enter(&d, op);
		dataflow_solve(&d, a, body);
		w->outermost = op;
		w->along = d.of;
		check_block(w, body, NULL);
		check_results(w, op);
		arena_free(a);
	}
}

void
check_varying(Module *m, const Block *b)
{
	Varying w = {.module = m};

	check_outermost(&w, b);
}
