/*
 * varying.c - what may differ between the devices of a manual function.
 *
 *   x: f32[8@X]            varies along X
 *   axis_index(Y)          varies along Y
 *   x + axis_index(Y)      along X and Y
 *   psum(..., X)           along Y only
 *
 * requires  the body of a manual region, complete, with the regions in it
 * leaves    messages: a result that its type says is the same along an axis
 *           must be so, and a collective under a condition must be reached by
 *           its whole group.  Both are proved from where values come from,
 *           not from what they are.
 */
#include "elaborate.h"

typedef uint32_t AxisSet; /* bit a: mesh axis a */

typedef struct Decision { /* a condition around an op */
	const struct Decision *outer;
	const Op *op; /* the `if` or `while` */
	AxisSet along;
} Decision;

typedef struct Varying {
	Elab *e;
	const Manual *outermost;
	const Manual *manual; /* the one that is being looked at */
	int nvalues;
	AxisSet *along; /* by value id */
	AxisSet *index; /* of what axis_index() made; else 0 */
	AxisSet every;	/* axis along which there are devices */
	bool report;	/* what is wrong, rather than iterate */
	bool right;
} Varying;

/* ---- numbers of values: the module's are given later */

static int
number_params(const Block *b, int n)
{
	for (int i = 0; i < b->nparams; i++)
		b->params[i]->id = n++;
	return n;
}

static void
number_values(Op *op, void *data)
{
	int *n = data;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->id = (*n)++;
	for (int i = 0; i < op->nbodies; i++)
		*n = number_params(op->bodies[i], *n);
}

/* ---- sets of axes */

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
	AxisList unreduced = placement_unreduced(spec);
	AxisSet set = axes_set(&unreduced);
	for (int d = 0; d < spec->rank; d++) {
		AxisList axes = placement_dim(spec, d);
		set |= axes_set(&axes);
	}
	return set;
}

static const char *
show_set(Elab *e, AxisSet set)
{
	const Mesh *mesh = &e->m->mesh;
	const char *s = "";
	for (int i = 0; i < mesh->naxes; i++)
		if (set >> i & 1)
			s = arena_printf(e->arena, "%s%s%s", s, *s != '\0' ? ", " : "",
				mesh->axes[i].name);
	return s;
}

/* As psum takes them: X, or (X, Y). */
static const char *
show_argument(Elab *e, AxisSet set)
{
	bool one = (set & (set - 1)) == 0;
	return one ? show_set(e, set) : arena_printf(e->arena, "(%s)", show_set(e, set));
}

static AxisSet
of(const Varying *w, const Value *v)
{
	return w->along[v->id];
}

/* True if that is news. */
static bool
add(const Varying *w, const Value *v, AxisSet set)
{
	AxisSet before = w->along[v->id];
	w->along[v->id] |= set;
	return w->along[v->id] != before;
}

static AxisSet
operands_set(const Varying *w, const Op *op)
{
	AxisSet set = 0;
	for (int i = 0; i < op->noperands; i++)
		set |= of(w, op->operands[i]);
	return set;
}

/* ---- collectives */

static void
check_reached(Varying *w, const Op *op, const Decision *under)
{
	AxisSet axes = axes_set(op->axes);
	Elab *e = w->e;
	while (under != NULL && (under->along & axes) == 0)
		under = under->outer;
	if (under == NULL || !w->report)
		return;
	const char *word = under->op->kind == O_if ? "if" : "while";
	const char *split = show_set(e, under->along & axes);
	complain(e, DIAG_divergent, op->range,
		"%s over %s waits for devices "
		"that may not come: the condition of this %s varies along %s",
		op->label, show_set(e, axes), word, split);
	diag_label(e->session, under->op->range,
		"each device along %s "
		"decides for itself",
		split);
	diag_note(e->session, (Range){0},
		"let them agree first: "
		"pmax(i32(...), %s) > 0",
		show_argument(e, under->along & axes));
	w->right = false;
}

/* ---- results */

static const Value *find_cause(const Varying *w, const Value *v, AxisSet set);

static const Manual *
manual_of(const Varying *w, const Op *op)
{
	for (int i = 0; i < w->outermost->ninner; i++)
		if (w->outermost->inner[i]->op == op)
			return w->outermost->inner[i];
	return w->outermost;
}

static void
tell_cause(const Varying *w, const Value *v, AxisSet set)
{
	Elab *e = w->e;
	const char *axes = show_set(e, set & of(w, v));
	if (v->def == NULL) {
		const Manual *m = manual_of(w, v->block->parent);
		const Param *p = m->fn->params.v[v->index];
		diag_note(e->session, v->range, "'%s' is split over %s", p->name.s, axes);
	} else {
		diag_note(e->session, v->def->range, "%s differs along %s", v->def->label,
			axes);
	}
}

static void
check_result(Varying *w, int i)
{
	Elab *e = w->e;
	const Op *op = w->manual->op;
	const Param *p = w->manual->fn->results.v[i];
	const Value *v = op->bodies[0]->last->operands[i];
	AxisSet set = of(w, v) & axes_set(op->axes) & ~spec_set(&op->specs[op->noperands + i]);
	if (set == 0)
		return;
	const char *axes = show_set(e, set);
	const char *what = p->name.s == NULL ? "the result"
					     : arena_printf(e->arena, "result '%s'", p->name.s);
	complain(e, DIAG_varying, w->manual->returned[i],
		"%s is the same "
		"along %s by its type, but this varies along %s",
		what, axes, axes);
	diag_label(e->session, p->type->range, "no dim is split over %s", axes);
	tell_cause(w, find_cause(w, v, set), set);
	diag_note(e->session, (Range){0},
		"psum(..., %s) adds up what the "
		"devices have; a dim of the type that is split over %s keeps "
		"each part",
		show_argument(e, set), axes);
	w->right = false;
}

/* ---- ops */

static void vary_block(Varying *w, const Block *b, const Decision *under);

/* The parameters of a body from the operands from `first` on. */
static bool
enter(const Varying *w, const Op *op, int body, int first)
{
	bool news = false;
	for (int i = first; i < op->noperands; i++)
		news |= add(w, op->bodies[body]->params[i - first], of(w, op->operands[i]));
	return news;
}

static void
vary_if(Varying *w, const Op *op, const Decision *under)
{
	Decision d = {under, op, of(w, op->operands[0])};
	for (int b = 0; b < 2; b++) {
		enter(w, op, b, 1);
		vary_block(w, op->bodies[b], &d);
		for (int i = 0; i < op->nresults; i++)
			add(w, op->results[i],
				d.along | of(w, op->bodies[b]->last->operands[i]));
	}
}

/* Once around: true if something now varies that did not. */
static bool
vary_trip(Varying *w, const Op *op, const Decision *under, Decision *d)
{
	const Block *condition = op->bodies[0], *body = op->bodies[1];
	bool news = false;
	vary_block(w, condition, under);
	*d = (Decision){under, op, of(w, condition->last->operands[0])};
	vary_block(w, condition, d);
	vary_block(w, body, d);
	for (int i = 0; i < op->nresults; i++) {
		AxisSet next = of(w, body->last->operands[i]) | d->along;
		news |= add(w, condition->params[i], next);
		news |= add(w, body->params[i], next);
		add(w, op->results[i], of(w, body->params[i]));
	}
	return news;
}

/* A device that leaves the loop early keeps what it carried. */
static void
vary_while(Varying *w, const Op *op, const Decision *under)
{
	bool report = w->report;
	Decision d;
	enter(w, op, 0, 0);
	enter(w, op, 1, 0);
	w->report = false;
	while (vary_trip(w, op, under, &d))
		;
	w->report = report;
	if (!report)
		return;
	vary_block(w, op->bodies[0], &d);
	vary_block(w, op->bodies[1], &d);
}

static void
vary_call(Varying *w, const Op *op, const Decision *under)
{
	enter(w, op, 0, 0);
	vary_block(w, op->bodies[0], under);
	for (int i = 0; i < op->nresults; i++)
		add(w, op->results[i], of(w, op->bodies[0]->last->operands[i]));
}

/* The body of a region: what goes in is cut along its axes. */
static void
vary_region(Varying *w, const Op *op, const Decision *under)
{
	const Block *body = op->bodies[0];
	const Manual *outer = w->manual;
	Frame *frame = w->e->frame;
	AxisSet every = w->every;
	w->manual = manual_of(w, op);
	w->e->frame = w->manual->frame;
	w->every |= axes_set(op->axes);
	for (int i = 0; i < body->nparams; i++)
		add(w, body->params[i], spec_set(&op->specs[i]));
	vary_block(w, body, under);
	for (int i = 0; i < body->last->noperands && w->report; i++)
		check_result(w, i);
	w->every = every;
	w->e->frame = frame;
	w->manual = outer;
}

/* Along its axes what comes out of it is put together. */
static void
vary_manual(Varying *w, const Op *op, const Decision *under)
{
	enter(w, op, 0, 0);
	vary_region(w, op, under);
	for (int i = 0; i < op->nresults; i++)
		add(w, op->results[i],
			of(w, op->bodies[0]->last->operands[i]) & ~axes_set(op->axes));
}

static void
vary_plain(Varying *w, const Op *op, const Decision *under)
{
	AxisSet set = operands_set(w, op);
	if (op->kind == O_partition_id)
		set = w->every;
	if (op_communicates(op)) {
		AxisSet axes = axes_set(op->axes);
		set = collectives[op->kind].varies ? set | axes : set & ~axes;
		check_reached(w, op, under);
	}
	for (int i = 0; i < op->nresults; i++)
		add(w, op->results[i], set);
}

/* What axis_index() made is a part of the device's id. */
static void
vary_index(const Varying *w, const Value *v)
{
	if (w->index[v->id] != 0)
		w->along[v->id] = w->index[v->id];
}

static void
vary_block(Varying *w, const Block *b, const Decision *under)
{
	static void (*const special[OP_COUNT])(Varying *, const Op *, const Decision *) = {
		[O_if] = vary_if,
		[O_while] = vary_while,
		[O_call] = vary_call,
		[O_manual] = vary_manual,
	};
	for (const Op *op = b->first; op->kind != O_return; op = op->next) {
		(special[op->kind] != NULL ? special[op->kind] : vary_plain)(w, op, under);
		for (int i = 0; i < op->nresults; i++)
			vary_index(w, op->results[i]);
	}
}

/* ---- where variation comes from */

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
	if ((of(s->w, from) & s->set) == 0)
		return false;
	if (!s->seen[from->id])
		s->next[s->n++] = from;
	s->seen[from->id] = true;
	return true;
}

static bool
look_at_returned(Search *s, const Block *b, int i)
{
	return look_at(s, b->last->operands[i]);
}

/* Into what a parameter of a body stands for. */
static bool
look_outside(Search *s, const Value *param)
{
	const Op *op = param->block->parent;
	if (op == s->w->outermost->op)
		return false;
	bool found = look_at(s, op->operands[param->index + (op->kind == O_if)]);
	return (op->kind == O_while && look_at_returned(s, op->bodies[1], param->index))
		|| found;
}

/* False where the variation begins. */
static bool
look_before(Search *s, const Value *v)
{
	const Op *op = v->def;
	bool found = false;
	if (op == NULL)
		return look_outside(s, v);
	if (s->w->index[v->id] != 0)
		return false;
	for (int i = op->noperands - 1; i >= 0; i--)
		if (op->nbodies == 0 || (op->kind == O_if && i == 0))
			found |= look_at(s, op->operands[i]);
	for (int i = op->kind == O_while; i < op->nbodies; i++)
		found |= look_at_returned(s, op->bodies[i], v->index);
	if (op->kind == O_while)
		found |= look_at_returned(s, op->bodies[0], 0);
	return found;
}

static const Value *
find_cause(const Varying *w, const Value *v, AxisSet set)
{
	Arena *a = w->e->arena;
	Search s = {w, set, NEW_ARRAY(a, bool, w->nvalues), 0,
		NEW_ARRAY(a, const Value *, w->nvalues)};
	look_at(&s, v);
	while (s.n > 0) {
		v = s.next[--s.n];
		if (!look_before(&s, v))
			break;
	}
	return v;
}

bool
check_varying(Elab *e, const Manual *m)
{
	Block *body = m->op->bodies[0];
	int n = number_params(body, 0);
	Varying w = {.e = e, .outermost = m, .report = true, .right = true};
	block_walk(body, number_values, &n);
	w.nvalues = n;
	w.along = NEW_ARRAY(e->arena, AxisSet, n + 1);
	w.index = NEW_ARRAY(e->arena, AxisSet, n + 1);
	for (int i = 0; i < m->nindices; i++)
		if (m->indices[i].value->id >= 0) /* it is still there */
			w.index[m->indices[i].value->id] = m->indices[i].along;
	vary_region(&w, m->op, NULL);
	return w.right;
}
