/*
 * varying.c - what must be the same on all devices of a manual region is (variation.h).
 *
 * requires  L_global, as a front end made it
 * leaves    messages: a result that its spec says is the same along an axis
 *           must be so, and a collective under a condition must be reached by
 *           its whole group; uniform() is believed
 */
#include "ir/variation.h"
#include "shard/shard.h"

typedef struct Varying {
	Module *module;
	const Op *outermost;  /* the region that is looked at, with those in it */
	const AxisSet *along; /* by value id */
	int ntold;
	Range *told; /* where something is wrong: once for all calls of a function */
} Varying;

/* ---- words ----------------------------------------------------------------- */

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

/* ... of JAX, which has names of axes in quotes. */
static const char *
show_python(const Module *m, AxisSet set)
{
	Text t = {0};
	int n = 0;

	for (int i = 0; i < m->mesh.naxes; i++)
		if (set >> i & 1)
			text_printf(&t, "%s\"%s\"", n++ ? ", " : "",
				m->mesh.axes[i].written ? m->mesh.axes[i].written
							: m->mesh.axes[i].name);
	const char *names = text_take(&t, m->arena);

	return n > 1 ? arena_printf(m->arena, "(%s)", names) : names;
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
	if (m->python)
		diag_note(m->session, nowhere,
			"let them agree first: jax.lax.pmax(jnp.int32(...), %s) > 0",
			show_python(m, under->along & axes));
	else
		diag_note(m->session, nowhere,
			"let them agree first: pmax(i32(...), %s) > 0; uniform(..., %s) "
			"vouches that they do",
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
		block_number(body);
		w->outermost = op;
		w->along = variation_solve(a, body, NULL, false);
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
