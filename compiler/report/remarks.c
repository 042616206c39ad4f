/*
 * remarks.c - -Rreshard and --strict: each transfer that `partition` decided on, in
 * the words of the source; those that nobody asked for are the errors of
 * --strict.
 *
 *   remark[-Rreshard]: all-gather over Y: h [8@X, 64@Y] -> [8@X, 64]  (12 kB,
 *   1 us on v5e, exposed)
 *
 * What is proposed to avoid one has been tried: the program was compiled with it.
 *
 * requires  L_resharded, with the ledger of `partition`
 */
#include <string.h>
#include "cost/ledger.h"
#include "hlo/hlo.h"
#include "ir/factors.h"
#include "pipeline/pipeline.h"
#include "report/report.h"
#include "shard/partition/partition.h"
#include "shard/reshard/halo.h"

enum {
	MAX_PROPOSALS = 50, /* each runs the passes again */
	MOST_PLACED = 4,    /* values at once, in one */
};

typedef struct Proposal {
	int n;
	Placed placed[MOST_PLACED];
	bool can_be;
	Outcome outcome; /* of the program with it */
} Proposal;

typedef struct Remarks {
	Module *module;
	const RemarkOptions *options;
	Arena *arena;
	Outcome now;	 /* of the program as it is, for proposals, */
	bool know_now;	 /* ... once it was needed */
	int proposals;	 /* tried so far */
	Proposal best;	 /* for the transfer that is being told, */
	Proposal padded; /* ... and what exchanges rows, if anything does */
	const Exposure *exposures;
	int nexposures;
} Remarks;

/* ---- the words of the source ------------------------------------------------- */

/* The value before it was moved. */
static const Value *
unmoved(const Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	return v;
}

/* The name the user gave it, else what was written to compute it. */
static const char *
known_name(const Module *m, const Value *v)
{
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			return m->named[i].name;
	return v->def ? v->def->label : value_source_name(v);
}

int
dim_of_axis(const Placement *placement, AxisRef axis)
{
	for (int d = 0; d < placement->rank; d++) {
		AxisList l = placement_dim(placement, d);
		if (axes_overlap(&l, axis))
			return d;
	}
	return -1;
}

/* The first op that uses a reshard's result. */
static const Op *
user_of(const Op *reshard)
{
	for (const Op *op = reshard->next; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == reshard->results[0])
				return op;
	return NULL;
}

/* Where a moved value and its dims stand in what was written: `einsum("gte,gtd->egd", ...)`
   is a dot, moved as [g, e, d], and a transpose. */
static const Value *
as_written(const Transfer *x)
{
	const Op *user = user_of(x->op), *maker = x->value->def;
	bool reorders = user && maker && user->kind == O_transpose
		&& range_equal(user->range, maker->range) && !strcmp(user->label, maker->label);

	return reorders ? user->results[0] : x->value;
}

static void
text_as_written(Text *t, const Mesh *mesh, const Transfer *x, const Placement *placement)
{
	const Value *v = as_written(x);
	Placement written = *placement;

	for (int d = 0; d < v->type.rank && v != x->value; d++) {
		AxisList axes = placement_dim(placement, (int)op_ints(v->def, A_dims)->v[d]);
		placement_set_dim(&written, d, &axes);
	}
	text_placed(t, mesh, v, &written);
}

static int
dim_as_written(const Transfer *x, int dim)
{
	const Value *v = as_written(x);

	for (int d = 0; d < v->type.rank && v != x->value; d++)
		if (op_ints(v->def, A_dims)->v[d] == dim)
			return d;
	return dim;
}

/* ---- why ------------------------------------------------------------------------ */

/* Has the dim, as the user sees it, a factor that is not `good`? */
static bool
needs(const Rule *r, const Op *user, const Value *moved, int dim, bool (*good)(const Factor *f))
{
	for (int i = 0; r && i < user->noperands; i++) {
		const DimFactors *factors = &r->dims[i][dim];
		for (int k = 0; user->operands[i] == moved && k < factors->n; k++)
			if (!good(&r->factors[factors->f[k]]))
				return true;
	}
	return false;
}

/* Does the op move elements along a dim, to a size that is not a multiple of the ways
   in which its operand is split? */
static bool
leaves_remainder(const Op *op, const Value *operand, int dim)
{
	if (!op || !halo_kind(op->kind)
		|| !halo_moves(op, dim, op->operands[0]->type.dims[dim]))
		return false;
	return op->results[0]->type.dims[dim] % placement_dim_ways(&operand->placement, dim)
		!= 0;
}

/* Where an axis that is gathered or exchanged came from, and why it can't stay. */
static void
text_axis_why(Remarks *remarks, Text *t, const Transfer *x, int dim, AxisRef a)
{
	const Value *v = x->value, *moved = x->op->results[0];
	const Op *user = user_of(x->op);

	if (!value_origin(v, dim, a) && v->def) {
		text_axis(t, &remarks->module->mesh, a);
		text_printf(t, ": %s is computed split so, along dim %d", v->def->label,
			dim_as_written(x, dim));
		return;
	}
	text_origin(t, remarks->module, v, dim, a);
	const Rule *rule = user ? op_rule(remarks->arena, user) : NULL;
	if (needs(rule, user, moved, dim, factor_splittable))
		text_printf(t, "; %s works along dim %d and needs it whole", user->label, dim);
	else if (leaves_remainder(user, v, dim))
		text_printf(t,
			"; %s leaves %lld along dim %d, and %lld is not a multiple of %lld",
			user->label, (long long)user->results[0]->type.dims[dim], dim,
			(long long)user->results[0]->type.dims[dim],
			(long long)placement_dim_ways(&v->placement, dim));
	else if (needs(rule, user, moved, dim, factor_stays))
		text_printf(t,
			"; %s moves elements along dim %d, where no exchange of boundary rows "
			"moves less",
			user->label, dim);
}

/* Of a move: why it is needed; of an exchange of rows: where the axes of the dims
   came from. */
static void
label_transfer(Remarks *remarks, const Transfer *x, bool moves)
{
	const Value *from = x->op->operands[0];
	Text t = {0};

	if (moves && ops[x->kind].attrs & AT(combiner))
		text_add(&t, "each device holds a partial result");
	else
		for (int i = 0; i < x->axes.n; i++) {
			AxisRef a = x->axes.a[i];
			int dim = dim_of_axis(&(moves ? x->value : from)->placement, a);
			if (dim < 0)
				continue;
			text_add(&t, t.n ? "; " : "");
			if (moves)
				text_axis_why(remarks, &t, x, dim, a);
			else
				text_origin(&t, remarks->module, unmoved(from), dim, a);
		}
	if (t.n || !moves)
		diag_label(remarks->module->session, x->op->range, "%s",
			t.n ? t.s : x->op->label);
	text_free(&t);
}

/* ---- what to write so that a move is not needed ------------------------------ */

/* Has it no name, but an expression on one line, which was not copied by a call or a
   loop? */
static bool
can_be_named(const Module *m, const Value *v)
{
	int made = 0;

	if (v->range.file || !v->def || !source_has_text(m->session, v->def->range)
		|| strchr(source_text(m->session, m->arena, v->def->range), '\n'))
		return false;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		made += op->kind == v->def->kind && range_equal(op->range, v->def->range);
	return made == 1;
}

/* Can a type be written behind the name that it was given?  Not if it is one of a
   function that is called twice. */
static bool
can_be_placed(const Module *m, const Value *v)
{
	bool local = false, own = false, again = false;

	for (int i = 0; i < m->nnamed; i++) {
		const Named *n = &m->named[i];
		bool inner = strchr(n->name, '.') != NULL;
		if (n->value == v) {
			own |= !inner;
			local |= inner && v->untyped == UNTYPED_let;
		} else if (n->value) {
			again |= range_equal(n->value->range, v->range);
		}
	}
	return own || (local && !again);
}

/* Tries one, if some of what is placed is elsewhere. */
static bool
try_proposal(Remarks *remarks, Proposal *proposal)
{
	const RemarkOptions *o = remarks->options;
	bool differs = false;

	for (int i = 0; i < proposal->n; i++) {
		const Placed *placed = &proposal->placed[i];
		differs |= !placement_equal(&placed->value->placement, &placed->placement);
	}
	proposal->can_be = differs
		&& what_if(o->global_text, o->global_length,
			&(Change){.placed = proposal->placed, .nplaced = proposal->n},
			&proposal->outcome);
	if (!proposal->can_be
		|| proposal->outcome.wire_bytes >= remarks->best.outcome.wire_bytes)
		return false;
	remarks->best = *proposal;
	return true;
}

/* The value before moves has a name, if anything has. */
static void
propose(Remarks *remarks, const Value *v, const Placement *to)
{
	Proposal p = {.n = 1, .placed = {{unmoved(v), *to}}};

	if (can_be_placed(remarks->module, p.placed[0].value))
		try_proposal(remarks, &p);
}

static void
remove_overlap(AxisList *list, const AxisList *axes, int n)
{
	AxisList kept = {0};

	for (int i = 0; i < list->n; i++) {
		bool used = false;
		for (int k = 0; k < n; k++)
			used |= axes_overlap(&axes[k], list->a[i]);
		if (!used)
			axes_append(&kept, list->a[i]);
	}
	*list = kept;
}

/* The axes at the end of each dim of `base` that they divide. */
static void
propose_dims(Remarks *remarks, const Value *v, const Placement *base, const AxisList *axes)
{
	for (int d = 0; d < v->type.rank; d++) {
		Placement to = *base;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, axes);
		placement_set_dim(&to, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			propose(remarks, v, &to);
	}
}

/* Partial sums scattered over a dim; another value as it is wanted, or what it
   meets as it is: each other operand split as the moved one is. */
static void
propose_move(Remarks *remarks, const Op *reshard)
{
	const Value *v = reshard->operands[0], *moved = reshard->results[0];
	const Op *user = user_of(reshard);
	const Rule *rule = user ? op_rule(remarks->arena, user) : NULL;
	AxisList partial = placement_unreduced(&v->placement), none = {0};
	int at = 0;

	if (partial.n) {
		Placement reduced = v->placement;
		placement_set_unreduced(&reduced, &none, C_add);
		propose_dims(remarks, v, &reduced, &partial);
	} else {
		propose(remarks, v, &moved->placement);
	}
	if (!rule)
		return;
	while (user->operands[at] != moved)
		at++;
	AxisList *ours = NEW_ARRAY(remarks->arena, AxisList, rule->nfactors + 1);
	AxisList *theirs = NEW_ARRAY(remarks->arena, AxisList, rule->nfactors + 1);
	tensor_assignment(rule, at, &v->placement, ours);
	for (int i = 0; i < user->noperands; i++) {
		Placement to, now = user->operands[i]->placement;
		if (i == at)
			continue;
		tensor_assignment(rule, i, &now, theirs);
		for (int f = 0; f < rule->nfactors; f++) {
			if (ours[f].n)
				theirs[f] = ours[f];
			else
				remove_overlap(&theirs[f], ours, rule->nfactors);
		}
		if (factors_place(rule, i, theirs, &to, NULL))
			propose(remarks, user->operands[i], &to);
	}
}

/* The axes of the dim on another dim, or on none. */
static void
propose_elsewhere(Remarks *remarks, const Value *v, const AxisList *axes)
{
	Placement whole = v->placement;

	for (int d = 0; d < v->type.rank; d++) {
		AxisList l = placement_dim(&whole, d);
		remove_overlap(&l, axes, 1);
		placement_set_dim(&whole, d, &l);
	}
	propose_dims(remarks, v, &whole, axes);
	propose(remarks, v, &whole);
}

/* What is made of the moved value with a remainder, split as that was, and padded. */
static bool
propose_padded(Remarks *remarks, const Op *reshard)
{
	const Value *v = reshard->operands[0];
	Proposal p = {0};

	for (const Op *op = reshard->next; op && p.n < MOST_PLACED; op = op->next) {
		bool uses = false, uneven = false;
		for (int i = 0; i < op->noperands; i++)
			uses |= op->operands[i] == reshard->results[0];
		if (!uses || !halo_kind(op->kind))
			continue;
		Placement to = op->results[0]->placement;
		for (int d = 0; d < v->type.rank; d++) {
			AxisList axes = placement_dim(&v->placement, d);
			if (!leaves_remainder(op, v, d))
				continue;
			placement_set_dim(&to, d, &axes);
			uneven = true;
		}
		if (!uneven)
			continue;
		const Value *made = op->results[0];
		bool written = can_be_placed(remarks->module, made)
			|| can_be_named(remarks->module, made);
		if (!written || !placement_is_sound(&to))
			return false;
		p.placed[p.n++] = (Placed){made, to};
	}
	bool better = p.n && try_proposal(remarks, &p);
	if (p.can_be)
		remarks->padded = p;
	return better;
}

/* "p: [18@rows pad, 8]", "let NAME: [15@rows pad, 8] = x[1:]".
   On a let, a type that names no axis says nothing about
   placement. */
static void
text_proposed(Text *t, const Module *m, const Placed *placed)
{
	const Value *v = placed->value;
	Placement to = placed->placement;
	bool whole = v->def && !to.nunreduced;

	for (int d = 0; d < v->type.rank; d++)
		whole &= !placement_dim(&to, d).n;
	to.all_replicated |= whole;
	bool named = v->range.file || !v->def;
	text_printf(t, "%s: ", named ? v->name : "let NAME");
	text_placed(t, &m->mesh, v, &to);
	if (!named)
		text_printf(t, " = %s", source_text(m->session, m->arena, v->def->range));
}

static void
line_proposal(const Remarks *remarks, const char *begin, const Proposal *proposal)
{
	Text t = {0};

	text_add(&t, begin);
	for (int i = 0; i < proposal->n; i++) {
		text_add(&t, i ? ", " : "");
		text_proposed(&t, remarks->module, &proposal->placed[i]);
	}
	text_add(&t, "  (a device then receives ");
	text_traffic(&t, (double)proposal->outcome.wire_bytes);
	text_add(&t, " in all, now ");
	text_traffic(&t, (double)remarks->now.wire_bytes);
	text_add(&t, ")");
	diag_line(remarks->module->session, "%s", t.s);
	text_free(&t);
}

/* The best that moves less than the program as it is; what that moves is worked
   out when the first is made.  Where a dim is not divided also what exchanges rows,
   though it may move more: it needs less memory than the whole. */
static void
line_avoid(Remarks *remarks, const Transfer *x, bool moves)
{
	const RemarkOptions *o = remarks->options;

	if (remarks->proposals++ >= MAX_PROPOSALS || !o->global_text)
		return;
	if (!remarks->know_now)
		remarks->know_now =
			what_if(o->global_text, o->global_length, &(Change){0}, &remarks->now);
	if (!remarks->know_now)
		return;
	remarks->best = (Proposal){.outcome = remarks->now};
	remarks->padded = (Proposal){0};
	if (moves && !propose_padded(remarks, x->op))
		propose_move(remarks, x->op);
	for (int i = 0; !moves && i < x->op->noperands; i++)
		propose_elsewhere(remarks, x->op->operands[i], &x->axes);
	if (!moves)
		propose_elsewhere(remarks, x->op->results[0], &x->axes);
	if (remarks->best.n)
		line_proposal(remarks, "avoid it: ", &remarks->best);
	if (remarks->padded.n
		&& remarks->padded.outcome.wire_bytes > remarks->best.outcome.wire_bytes)
		line_proposal(remarks, "exchange rows: ", &remarks->padded);
}

/* ---- transfers ------------------------------------------------------------------ */

/* Of what one place in the source makes move; in all copies that calls and unrolled
   loops made of it. */
typedef struct Told {
	const Transfer *x; /* of the first copy */
	bool moves;	   /* or it is an exchange of rows */
	bool last;	   /* of the op */
	int copies;
} Told;

/* How much of the time nothing is computed, in all that moves for one place in the
   source: ", exposed", ", exposed 4.8 ms of 9.5 ms", ", hidden". */
static void
text_exposed(const Remarks *remarks, Text *t, const Transfer *x)
{
	const Op *op = x->op;
	const char *path =
		op->range.file ? source_path(remarks->module->session, op->range.file) : "";

	for (int i = 0; i < remarks->nexposures; i++) {
		const Exposure *e = &remarks->exposures[i];
		if (e->kind != x->kind || e->line != op->range.line
			|| strcmp(e->label, op->label) != 0 || strcmp(e->path, path) != 0)
			continue;
		text_add(t, e->exposed ? ", exposed" : ", hidden");
		if (e->exposed && e->exposed < e->total) {
			text_add(t, " ");
			text_seconds(t, (double)e->exposed * 1e-12);
			text_add(t, " of ");
			text_seconds(t, (double)e->total * 1e-12);
		}
		return;
	}
}

/* What moves from where to where, and what that costs. */
static void
text_transfer(const Remarks *remarks, Text *t, const Transfer *x, const char *name)
{
	const Mesh *mesh = &remarks->module->mesh;
	const Value *v = x->op->results[0];

	text_printf(t, "%s over ", ops[x->kind].hlo);
	text_axes(t, mesh, &x->axes);
	if (op_is_move(x->op)) {
		text_printf(t, ": %s ", name);
		text_as_written(t, mesh, x, &x->before);
		text_add(t, " -> ");
		text_as_written(t, mesh, x, &x->after);
	} else {
		text_printf(t, ": %s of %s -> ", x->op->label, name);
		text_placed(t, mesh, v, &v->placement);
		text_printf(t, " exchanges %lld row%s, %lld hop%s at most", (long long)x->rows,
			x->rows == 1 ? "" : "s", (long long)x->hops, x->hops == 1 ? "" : "s");
	}
	text_add(t, "  (");
	text_traffic(t, x->bytes);
	text_add(t, ", ");
	text_seconds(t, x->seconds);
	text_printf(t, " on %s", mesh->target->name);
	text_exposed(remarks, t, x);
	text_add(t, ")");
	if (!x->counted)
		text_add(t, ", in every round");
	else if (x->trips != 1)
		text_printf(t, ", %lld times", (long long)x->trips);
}

static void
remark(Remarks *remarks, const Told *told)
{
	const Op *op = told->x->op;
	bool wrong = remarks->options->strict && !op->requested;
	Text t = {0};

	text_transfer(remarks, &t, told->x, known_name(remarks->module, told->x->value));
	if (told->copies > 1)
		text_printf(&t, ", in each of %d copies", told->copies);
	text_add(&t,
		op->requested	? "; asked for"
			: wrong ? "; --strict allows only moves that are asked for"
				: "");
	diag(remarks->module->session, wrong ? DIAG_unasked_collective : DIAG_reshard,
		op->range, "%s", t.s);
	text_free(&t);
}

/* "ffn.2.h" is the h of another call than "ffn.h". */
static const char *
name_in_source(Arena *a, const char *name)
{
	char *short_name = arena_strndup(a, name, strlen(name)), *end = short_name;

	while (*name) {
		size_t digits = *name == '.' ? strspn(name + 1, "0123456789") : 0;
		if (digits && (name[1 + digits] == '.' || !name[1 + digits]))
			name += 1 + digits;
		else
			*end++ = *name++;
	}
	*end = '\0';
	return short_name;
}

/* Equal for copies: the place in the source, and all that is told of the move. */
static const char *
copies_key(const Remarks *remarks, const Transfer *x)
{
	const Op *op = x->op;
	const char *name = known_name(remarks->module, x->value);
	Text t = {0};

	text_printf(&t, "%d:%d:%d-%d %d %s: ", op->range.file, op->range.line, op->range.begin,
		op->range.end, op->requested, op->label);
	text_transfer(remarks, &t, x, name_in_source(remarks->arena, name));
	return text_take(&t, remarks->arena);
}

void
tell_transfers(Module *m, const RemarkOptions *options)
{
	Remarks r = {.module = m, .options = options, .arena = arena_new()};
	const Ledger *l = module_ledger(m);
	Table *told = table_new(r.arena); /* in order */
	Text text = {0};

	if (l && l->n) {
		module_print(m, &text);
		r.exposures = exposures_of(text.s, text.n, r.arena, &r.nexposures);
		text_free(&text);
	}
	for (int i = 0; l && i < l->n; i++) {
		const Transfer *x = &l->transfers[i];
		bool last = i + 1 == l->n || x[1].op != x->op;
		if (!options->remarks && x->op->requested)
			continue;
		const char *key = copies_key(&r, x);
		Told *of = table_get(told, key);
		if (!of) {
			of = NEW(r.arena, Told);
			*of = (Told){x, op_is_move(x->op), last, 0};
			table_set(told, key, of);
		}
		of->copies++;
	}
	for (int i = 0; i < table_count(told); i++) {
		const Told *of = table_value(told, i);
		remark(&r, of);
		label_transfer(&r, of->x, of->moves);
		if (of->last)
			line_avoid(&r, of->x, of->moves);
	}
	arena_free(r.arena);
}
