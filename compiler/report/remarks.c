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
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "cost/ledger.h"
#include "hlo/hlo.h"
#include "shard/partition/partition.h"
#include "pipeline/pipeline.h"
#include "report/proposals.h"
#include "report/report.h"
#include "report/rows.h"
#include "shard/reshard/halo.h"

enum {
	MAX_PROPOSALS = 50, /* transfers that get some */
	MOST_READERS = 8,   /* that are asked why a value has to move */
	LEAST_TRIALS = 8,   /* so many are made of a program, however long it is */
};

/* Of what one place in the source makes move; in all copies that calls and unrolled
   loops made of it. */
typedef struct Told {
	const Transfer **copies;
	int n;
	bool moves; /* or it is an exchange of rows */
	bool last;  /* of the op */
	int place;  /* in Remarks.asked */
	Proposals proposals;
} Told;

typedef struct Remarks {
	Module *module;
	const RemarkOptions *options;
	Arena *arena;
	Table *told;   /* in order */
	Table *places; /* Told, by place: of copies of which the first made what others move */
	Trials trials; /* the first is of the program as it is */
	AskedPlace *asked; /* where what gets proposals is from */
	int nasked;
	const Exposure *exposures;
	int nexposures;
} Remarks;

/* ---- the words of the source ------------------------------------------------- */

/* The name the user gave it, else what was written to compute it; of an operator, which
   the caret need not point at: "subtract (line 6)". */
static const char *
known_name(const Module *m, const Value *v)
{
	const Op *op = v->def;
	Text t = {0};

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			return m->named[i].name;
	if (!op || (op->label && isalpha((unsigned char)op->label[0])))
		return op ? op->label : value_source_name(v);
	text_add(&t, ops[op->kind].hlo);
	text_line(&t, m, " (", op->range, ")");
	return text_take(&t, m->arena);
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

/* The dim of the result that has a dim of operand k; -1: it is summed up, or one of several. */
static int
dim_behind(Arena *a, const Op *op, int k, int dim)
{
	const Rule *r = op_rule(a, op);
	const DimFactors *from = r ? &r->dims[k][dim] : NULL;

	for (int d = 0; from && from->n == 1 && d < op->results[0]->type.rank; d++) {
		const DimFactors *to = &r->dims[r->noperands][d];
		if (to->n == 1 && to->f[0] == from->f[0])
			return d;
	}
	return -1;
}

/* Are both ops of one einsum? */
static bool
is_written_with(const Op *op, const Op *maker)
{
	return op && maker && (op_is_product(op) || op->kind == O_transpose || op_is_move(op))
		&& range_equal(op->range, maker->range) && !strcmp(op->label, maker->label);
}

static bool
is_step_of_einsum(const Transfer *x)
{
	const Op *user = user_of(x->op);

	return is_written_with(user, x->value->def) && op_is_product(user);
}

/*
 * The dims of a moved value in the order in which they were written, those that were not at
 * the end: `einsum("gte,gtd->egd", ...)` is a dot, moved as [g, e, d], and a transpose, one of
 * three operands two dots and a transpose.
 */
static void
written_order(const Remarks *remarks, const Transfer *x, int *order)
{
	const Op *maker = x->value->def;
	const Value *v = x->op->results[0];
	int rank = v->type.rank, place[MAX_RANK];

	for (int d = 0; d < rank; d++)
		place[d] = order[d] = d;
	for (const Op *op = user_of(x->op); is_written_with(op, maker); op = user_of(op)) {
		int k = op_operand_of(op, v);
		for (int d = 0; d < rank && !op_is_move(op); d++)
			place[d] =
				place[d] < 0 ? -1 : dim_behind(remarks->arena, op, k, place[d]);
		v = op->results[0];
	}
	for (int i = 1; i < rank; i++)
		for (int k = i; k > 0 && place[order[k]] >= 0
			&& (place[order[k - 1]] < 0 || place[order[k]] < place[order[k - 1]]);
			k--) {
			int before = order[k];
			order[k] = order[k - 1];
			order[k - 1] = before;
		}
}

static void
text_as_written(Text *t, const Remarks *remarks, const Transfer *x, const Placement *placement)
{
	Type type = value_whole_type(x->value), written = type;
	Placement at = *placement;
	int order[MAX_RANK];

	written_order(remarks, x, order);
	for (int d = 0; d < type.rank; d++) {
		AxisList axes = placement_dim(placement, order[d]);
		placement_set_dim(&at, d, &axes);
		written.dims[d] = type.dims[order[d]];
	}
	text_spec(t, &remarks->module->mesh, &written, &at);
}

static int
dim_as_written(const Remarks *remarks, const Transfer *x, int dim)
{
	int order[MAX_RANK], d = 0;

	written_order(remarks, x, order);
	while (order[d] != dim)
		d++;
	return d;
}

/* ---- why ------------------------------------------------------------------------ */

/* Has the dim, as the reader sees it, a factor that is not `good`? */
static bool
needs(const Rule *r, const Reader *reader, int dim, bool (*good)(const Factor *f))
{
	const DimFactors *factors = r ? &r->dims[reader->operand][dim] : NULL;

	for (int k = 0; factors && k < factors->n; k++)
		if (!good(&r->factors[factors->f[k]]))
			return true;
	return false;
}

/* What a reader does with a dim that its axes can't stay: the stronger reason behind. */
typedef enum Hold { HOLD_none, HOLD_rows, HOLD_uneven, HOLD_whole } Hold;

static Hold
reader_holds(Remarks *remarks, const Transfer *x, int dim, const Reader *reader)
{
	const Rule *rule = op_rule(remarks->arena, reader->op);

	if (needs(rule, reader, dim, factor_splittable))
		return HOLD_whole;
	if (leaves_remainder(reader->op, x->value, dim))
		return HOLD_uneven;
	/* what is asked for needs no such reason */
	bool moves = !x->op->requested && needs(rule, reader, dim, factor_stays);
	return moves ? HOLD_rows : HOLD_none;
}

static void
text_hold(Text *t, const Remarks *remarks, const Transfer *x, int dim, const Op *user,
	Hold hold)
{
	int64_t size = dim < user->results[0]->type.rank ? user->results[0]->type.dims[dim] : 0;
	Text name = {0};

	text_add(&name, user->label);
	if (user->block != x->op->block || user->range.line != x->op->range.line)
		text_line(&name, remarks->module, " (", user->range, ")");
	if (hold == HOLD_whole)
		text_printf(t, "; %s works along dim %d and needs it whole", name.s, dim);
	else if (hold == HOLD_uneven)
		text_printf(t,
			"; %s leaves %lld along dim %d, and %lld is not a multiple of %lld",
			name.s, (long long)size, dim, (long long)size,
			(long long)placement_dim_ways(&x->value->placement, dim));
	else
		text_printf(t,
			"; %s moves elements along dim %d, where no exchange of boundary rows "
			"moves less",
			name.s, dim);
	text_free(&name);
}

/* Where an axis that is gathered or exchanged came from, and why it can't stay. */
static void
text_axis_why(Remarks *remarks, Text *t, const Transfer *x, int dim, AxisRef a)
{
	const Value *v = x->value;
	Readers readers = {0};

	if (!value_origin(v, dim, a) && v->def) {
		text_axis(t, &remarks->module->mesh, a);
		text_printf(t, ": %s is computed split so, along dim %d", v->def->label,
			dim_as_written(remarks, x, dim));
		return;
	}
	text_origin(t, remarks->module, v, dim, a);
	add_readers(&readers, remarks->arena, x->op->results[0], MOST_READERS);
	Hold strongest = HOLD_none;
	int at = 0;
	for (int i = 0; i < readers.n; i++) {
		Hold hold = reader_holds(remarks, x, dim, &readers.all[i]);
		at = hold > strongest ? i : at;
		strongest = hold > strongest ? hold : strongest;
	}
	if (strongest != HOLD_none)
		text_hold(t, remarks, x, dim, readers.all[at].op, strongest);
}

/* The slice that takes parts of the sum out of what is split, if that makes them. */
static const Op *
slice_in_parts(const Value *v)
{
	const Op *op = v->def;

	while (op && op->noperands && v->placement.nunreduced && !op_has(op, A_parts)
		&& (op_is_one_to_one(op) || op_is_move(op))) {
		v = op->operands[0];
		op = v->def;
	}
	return op && op_has(op, A_parts) ? op : NULL;
}

/* What parts of a sum are, and where their axes come from where a slice made them. */
static void
text_parts(Text *t, const Remarks *remarks, const Transfer *x)
{
	const Op *slice = slice_in_parts(x->value);

	for (int i = 0; slice && i < x->axes.n; i++) {
		const Value *from = unmoved(slice->operands[0]);
		int dim = dim_of_axis(&from->placement, x->axes.a[i]);
		if (dim < 0)
			continue;
		text_add(t, t->n ? "; " : "");
		text_origin(t, remarks->module, from, dim, x->axes.a[i]);
	}
	text_add(t,
		t->n ? "; each device has what is among its rows, and zeros"
		     : "each device holds a partial result");
}

/* Of a move: why it is needed; of an exchange of rows: where the axes of the dims
   came from. */
static void
label_transfer(Remarks *remarks, const Transfer *x, bool moves)
{
	const Value *from = x->op->operands[0];
	Text t = {0};

	if (moves && ops[x->kind].attrs & AT(combiner))
		text_parts(&t, remarks, x);
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

/* ---- transfers ------------------------------------------------------------------ */

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
			text_picoseconds(t, e->exposed);
			text_add(t, " of ");
			text_picoseconds(t, e->total);
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
		text_printf(t, ": %s%s ", is_step_of_einsum(x) ? "a step of " : "", name);
		text_as_written(t, remarks, x, &x->before);
		text_add(t, " -> ");
		text_as_written(t, remarks, x, &x->after);
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
	const Transfer *first = told->copies[0];
	const Op *op = first->op;
	bool wrong = remarks->options->strict && !op->requested;
	Text t = {0};

	text_transfer(remarks, &t, first, known_name(remarks->module, first->value));
	if (told->n > 1)
		text_printf(&t, ", in each of %d copies", told->n);
	text_add(&t,
		op->requested	? "; asked for"
			: wrong ? "; --strict allows only moves that are asked for"
				: "");
	diag(remarks->module->session, wrong ? DIAG_unasked_collective : DIAG_reshard,
		op->range, "%s", t.s);
	text_free(&t);
}

/* ---- what avoids it ---------------------------------------------------------------- */

/* Those that the compiler broke on, as they would be written, from the first of these trials
   on; the rest is told all the same. */
static void
tell_defects(const Remarks *remarks, int first)
{
	for (int i = first; i < remarks->trials.n; i++) {
		const Trial *trial = remarks->trials.all[i];
		Text t = {0};
		if (trial->end != TRIAL_defect)
			continue;
		text_proposal(&t, remarks->module, trial->change.placed, trial->change.nplaced);
		if (t.n)
			defect("trying the program with %s", t.s);
		else
			defect("trying the program as it is");
		text_free(&t);
	}
}

static bool
same_place(const AskedPlace *x, const AskedPlace *y)
{
	return x->kind == y->kind && x->line == y->line && axes_equal(&x->axes, &y->axes)
		&& !strcmp(x->label, y->label);
}

static int
place_asked(Remarks *remarks, const Transfer *x)
{
	const Op *op = x->op;
	AskedPlace place = {.kind = x->kind, .label = op->label, .axes = x->axes};
	int column, i = 0;

	source_position(remarks->module->session, op->range, &place.line, &column);
	while (i < remarks->nasked && !same_place(&remarks->asked[i], &place))
		i++;
	if (i == remarks->nasked)
		APPEND(remarks->arena, remarks->asked, remarks->nasked, place);
	return i;
}

/* For the first moves, in the order of the program. */
static void
find_proposals(Remarks *remarks)
{
	const RemarkOptions *o = remarks->options;
	int n = 0;

	for (int i = 0; i < table_count(remarks->told) && o->global_text; i++) {
		Told *told = table_value(remarks->told, i);
		if (!told->last || n++ >= MAX_PROPOSALS)
			continue;
		told->proposals = proposals_find(remarks->module, remarks->arena, told->copies,
			told->n, o->annotations);
		told->place = place_asked(remarks, told->copies[0]);
	}
}

static double
told_seconds(const Told *told)
{
	return told->copies[0]->seconds * (double)told->copies[0]->trips * told->n;
}

/* What takes longest first. */
static int
by_told_seconds(const void *a, const void *b)
{
	const Told *x = *(Told *const *)a, *y = *(Told *const *)b;

	if (told_seconds(x) != told_seconds(y))
		return told_seconds(x) < told_seconds(y) ? 1 : -1;
	return (x->copies[0] > y->copies[0]) - (x->copies[0] < y->copies[0]);
}

/* Those of the moves that were not tried yet, and, first of all, the program as it is; of a
   long program not all, if there is `less`: then the first. */
static void
try_proposals(Remarks *remarks, Told *const *told, int n, bool less)
{
	const RemarkOptions *o = remarks->options;
	Arena *a = remarks->arena;
	Trials *trials = &remarks->trials;
	int tried = trials->n;

	if (!tried)
		APPEND(a, trials->all, trials->n, NEW(a, Trial));
	for (int i = 0; i < n; i++)
		proposals_try(&told[i]->proposals, a, trials);
	if (trials->n == (tried ? tried : 1)) {
		trials->n = tried;
		return;
	}
	int all = trials->n - tried, made = all;
	if (less && all > LEAST_TRIALS)
		made = (int)greater(trials_of_long(remarks->module, all), LEAST_TRIALS);
	for (int i = tried + made; i < trials->n; i++)
		trials->all[i]->end = TRIAL_left;
	WhatIfs asked = {o->global_text, o->global_length, remarks->module, remarks->asked,
		remarks->nasked, a, &o->progress};
	what_ifs(&asked, trials->all + tried, made);
	tell_defects(remarks, tried);
}

/* "; memory 2 GiB, now 1 GiB", unless it is the same as it is told. */
static void
text_change(Text *t, const char *what, const char *of, void (*unit)(Text *t, double amount),
	double then, double now)
{
	Text one = {0}, other = {0};

	unit(&one, then);
	unit(&other, now);
	if (strcmp(one.s, other.s) != 0)
		text_printf(t, "%s%s%s, now %s", what, one.s, of, other.s);
	text_free(&one);
	text_free(&other);
}

/* "  (a device then receives 2 kB in all, now 3 kB"; the difference, if that reads alike. */
static void
text_received(Text *t, double then, double now)
{
	size_t n = t->n;

	text_change(t, "  (a device then receives ", " in all", text_traffic, then, now);
	if (t->n > n)
		return;
	text_add(t, "  (a device then receives ");
	if (then == now) {
		text_add(t, "as much, ");
	} else {
		text_traffic(t, then < now ? now - then : then - now);
		text_add(t, then < now ? " less, of " : " more than ");
	}
	text_traffic(t, now);
	text_add(t, " in all");
}

/* "x: [8, 8]  (a device then receives 2 kB in all, now 3 kB; a run takes 2 us, now 3 us)" */
static void
text_choice(Text *t, const Remarks *remarks, const Proposal *proposal)
{
	const Outcome *then = &proposal->trial->outcome;
	const Outcome *now = &remarks->trials.all[0]->outcome;

	text_proposal(t, remarks->module, proposal->placed, proposal->n);
	text_received(t, (double)then->wire_bytes, (double)now->wire_bytes);
	text_change(t, "; a run takes ", "", text_run_time, (double)then->picoseconds,
		(double)now->picoseconds);
	text_change(t, "; memory ", "", text_memory, (double)then->peak, (double)now->peak);
	text_add(t, ")");
}

static void
line_proposal(const Remarks *remarks, const char *begin, const Proposal *proposal)
{
	Text t = {0};

	text_add(&t, begin);
	text_choice(&t, remarks, proposal);
	diag_line(remarks->module->session, "%s", t.s);
	text_free(&t);
}

/* By more than 1 %. */
static bool
is_slower(const Trial *then, const Trial *now)
{
	int64_t most = now->outcome.picoseconds;

	return then->outcome.picoseconds - most > most / 100;
}

/* Does it need more memory than a device has, and than it needs now? */
static bool
is_too_large(const Module *m, const Outcome *then, const Outcome *now)
{
	return then->peak > m->mesh.target->hbm_bytes && then->peak > now->peak;
}

/* Did something that might avoid it, or the program as it is, end so? */
static bool
is_any(const Remarks *remarks, const Told *told, TrialEnd end)
{
	bool any = told->proposals.n && remarks->trials.all[0]->end == end;

	for (int i = 0; i < told->proposals.n; i++)
		any |= told->proposals.all[i].trial->end == end;
	return any;
}

/* Why not all was tried that might avoid it; NULL: it was. */
static const char *
why_untried(const Remarks *remarks, const Told *told)
{
	return is_any(remarks, told, TRIAL_no_memory) ? "there is too little memory"
		: is_any(remarks, told, TRIAL_left)   ? "the program is long"
						      : NULL;
}

/* Of those that are tried, what takes least time and is no larger than there is memory for;
   NULL: there is none. */
static const Proposal *
quickest(const Remarks *remarks, const Told *told)
{
	const Outcome *now = &remarks->trials.all[0]->outcome;
	const Proposal *best = NULL;

	for (int i = 0; i < told->proposals.n; i++) {
		const Proposal *p = &told->proposals.all[i];
		const Outcome *then = &p->trial->outcome;
		if (p->trial->end == TRIAL_through && !is_too_large(remarks->module, then, now)
			&& (!best || then->picoseconds < best->trial->outcome.picoseconds))
			best = p;
	}
	return best;
}

/* What is quicker than the program as it is, and than what avoids it, `best`, though no less
   moves; where there is neither, what was tried. */
static void
line_tried(const Remarks *remarks, const Told *told, const Proposal *best, bool avoided)
{
	const Proposal *quick = quickest(remarks, told);
	const Trial *now = remarks->trials.all[0], *bound = best ? best->trial : now;

	if (quick && quick != best && is_slower(bound, quick->trial)
		&& is_slower(now, quick->trial))
		line_proposal(remarks, "quicker: ", quick);
	else if (quick && !avoided)
		line_proposal(remarks, "tried, and no better: ", quick);
	else if (!avoided && !why_untried(remarks, told))
		diag_line(remarks->module->session,
			"tried: %d other placement%s, refused or too large", told->proposals.n,
			told->proposals.n == 1 ? "" : "s");
}

/* Is less received by collectives as the one that is told, not only by others? */
static bool
avoids(const Told *told, const Trial *then, const Trial *now)
{
	return then->received[told->place] < now->received[told->place];
}

/* The best that moves less than the program as it is, here too, of those that are not slower if
   there are any, else of those that do not need more memory besides.  Where a dim is not
   divided also what exchanges rows, though it may move more: it needs less memory than the
   whole. */
static void
line_avoid(const Remarks *remarks, const Told *told)
{
	const Trial *now = told->proposals.n ? remarks->trials.all[0] : NULL;
	const Proposal *best = NULL, *padded = NULL;
	bool slow = false; /* the best is */

	const char *untried = why_untried(remarks, told);

	if (untried)
		diag_line(remarks->module->session,
			"something that might avoid it was not tried: %s", untried);
	if (!now || now->end != TRIAL_through)
		return;
	for (int i = 0; i < told->proposals.n && !(best && best->padded && !slow); i++) {
		const Proposal *p = &told->proposals.all[i];
		if (p->trial->end != TRIAL_through
			|| is_too_large(remarks->module, &p->trial->outcome, &now->outcome))
			continue;
		bool slower = is_slower(p->trial, now);
		if (p->padded)
			padded = p;
		if (slower && p->trial->outcome.peak > now->outcome.peak)
			continue;
		/* what is not slower goes before all that is */
		const Trial *bound = best && slower == slow ? best->trial : now;
		if (p->trial->outcome.wire_bytes < bound->outcome.wire_bytes
			&& avoids(told, p->trial, now) && (!best || slow || !slower)) {
			best = p;
			slow = slower;
		}
	}
	if (best)
		line_proposal(remarks,
			slow ? "moves less, but is slower: " : "avoid it: ", best);
	if (padded && padded != best)
		line_proposal(remarks, "exchange rows: ", padded);
	line_tried(remarks, told, best, best || padded);
}

/* ---- all of them ------------------------------------------------------------------- */

/* Which operand of the op that needs it is moved: in the bodies of loops before which that
   is done. */
static int
operand_moved(const Remarks *remarks, const Transfer *x)
{
	Readers readers = {0};
	int at = 0;

	if (op_is_move(x->op)) {
		add_readers(&readers, remarks->arena, x->op->results[0], 1);
		return readers.n ? readers.all[0].operand : 0;
	}
	while (at < x->op->noperands && x->op->operands[at] != x->value)
		at++;
	return at;
}

/* Equal for copies: the place in the source of the op, which operand moves, and all that is
   told but its name. */
static const char *
place_key(const Remarks *remarks, const Transfer *x)
{
	const Op *op = x->op;
	Text t = {0};

	text_printf(&t, "%d:%d:%d-%d %d %s %d: ", op->range.file, op->range.line,
		op->range.begin, op->range.end, op->requested, op->label,
		operand_moved(remarks, x));
	text_transfer(remarks, &t, x, "");
	return text_take(&t, remarks->arena);
}

/* ... and the place of what moves, unless that is a parameter. */
static const char *
copies_key(const Remarks *remarks, const Transfer *x, const char *place)
{
	const Value *v = x->value;
	Range from = v->def && v->range.file ? v->range : v->def ? v->def->range : nowhere;

	return arena_printf(remarks->arena, "%d:%d:%d-%d %s", from.file, from.line, from.begin,
		from.end, place);
}

/* Is it made of what the op makes, looking at so many ops? */
static bool
is_made_of(const Value *v, const Op *op, int *looked)
{
	const Op *def = v->def;

	if (!def || def->block != op->block || --*looked < 0)
		return false;
	for (int i = 0; i < def->noperands; i++)
		if (def->operands[i]->def == op || is_made_of(def->operands[i], op, looked))
			return true;
	return false;
}

/*
 * What is told of the copies that a transfer is one of.  Copies may move what the first of
 * them has made: of `for unroll i in 0..3 { y = y + roll(y, 1, dim=0); }` the first moves
 * what y was before.
 */
static Told *
told_of(Remarks *remarks, const Transfer *x)
{
	const char *place = place_key(remarks, x), *key = copies_key(remarks, x, place);
	Told *of = table_get(remarks->told, key), *first = table_get(remarks->places, place);
	int looked = 64;

	if (!of && first && is_made_of(x->value, first->copies[0]->op, &looked)) {
		table_set(remarks->places, key, first);
		return first;
	}
	if (!of)
		of = table_get(remarks->places, key);
	if (of)
		return of;
	of = NEW(remarks->arena, Told);
	of->moves = op_is_move(x->op);
	table_set(remarks->told, key, of);
	if (!first)
		table_set(remarks->places, place, of);
	return of;
}

static void
find_told(Remarks *remarks, const Ledger *l)
{
	for (int i = 0; l && i < l->n; i++) {
		const Transfer *x = &l->transfers[i];
		if (!remarks->options->remarks && x->op->requested)
			continue;
		Told *of = told_of(remarks, x);
		if (!of->n)
			of->last = i + 1 == l->n || x[1].op != x->op;
		APPEND(remarks->arena, of->copies, of->n, x);
	}
}

/* In the order of the program. */
static Told **
all_told(const Remarks *remarks)
{
	int n = table_count(remarks->told);
	Told **all = NEW_ARRAY(remarks->arena, Told *, n + 1);

	for (int i = 0; i < n; i++)
		all[i] = table_value(remarks->told, i);
	return all;
}

void
tell_transfers(Module *m, const RemarkOptions *options)
{
	Remarks r = {.module = m, .options = options, .arena = arena_new()};
	const Ledger *l = module_ledger(m);
	Text text = {0};

	r.told = table_new(r.arena);
	r.places = table_new(r.arena);
	if (l && l->n) {
		module_print(m, &text);
		r.exposures = exposures_of(text.s, text.n, r.arena, &r.nexposures);
		text_free(&text);
	}
	find_told(&r, l);
	find_proposals(&r);
	Told **all = all_told(&r), **order = all_told(&r);
	qsort(order, (size_t)table_count(r.told), sizeof *order, by_told_seconds);
	try_proposals(&r, order, table_count(r.told), true);
	for (int i = 0; i < table_count(r.told); i++) {
		remark(&r, all[i]);
		label_transfer(&r, all[i]->copies[0], all[i]->moves);
		line_avoid(&r, all[i]);
	}
	arena_free(r.arena);
}

/* ---- as part of an explanation ------------------------------------------------------ */

enum { MOST_MOVES = 8, MOST_CHOICES = 4 };

/* The quickest first. */
static int
by_run_time(const void *a, const void *b)
{
	const Proposal *x = a, *y = b;
	int64_t one = x->trial->outcome.picoseconds, other = y->trial->outcome.picoseconds;

	if (one != other)
		return one < other ? -1 : 1;
	return x->kind - y->kind;
}

/* Those that the program can be compiled with, each trial once; how many were not told
   of another move. */
static int
text_choices_of(Text *t, const Remarks *remarks, Told *told, Table *shown)
{
	Proposals *found = &told->proposals;
	int n = 0;

	qsort(found->all, (size_t)found->n, sizeof *found->all, by_run_time);
	for (int i = 0; i < found->n && n < MOST_CHOICES; i++) {
		const Trial *trial = found->all[i].trial;
		const char *key = arena_printf(remarks->arena, "%p", (const void *)trial);
		if (trial->end != TRIAL_through || !table_add(shown, key, told))
			continue;
		text_add(t, "    ");
		text_choice(t, remarks, &found->all[i]);
		text_add(t, "\n");
		n++;
	}
	return n;
}

/* What moves, if there is another choice that was not told of another move. */
static bool
text_move(Text *t, const Remarks *remarks, Told *told, Table *shown)
{
	const Module *m = remarks->module;
	const Transfer *x = told->copies[0];
	Text choices = {0};
	int n = text_choices_of(&choices, remarks, told, shown);

	if (n) {
		text_printf(t, "  %s over ", ops[x->kind].hlo);
		text_axes(t, &m->mesh, &x->axes);
		text_printf(t, " of %s", known_name(m, x->value));
		text_line(t, m, ", ", x->op->range, "\n");
		text_addn(t, choices.s, choices.n);
	}
	text_free(&choices);
	return n;
}

/* As many moves as may be told are tried at once, until so many are; of a long program
   fewer. */
void
text_choices(Text *t, Module *m, const RemarkOptions *options)
{
	Remarks r = {.module = m, .options = options, .arena = arena_new()};
	Table *shown = table_new(r.arena);
	Text moves = {0};
	int told = 0, n = 0, most_told = trials_of_long(m, MOST_MOVES);

	r.told = table_new(r.arena);
	r.places = table_new(r.arena);
	find_told(&r, module_ledger(m));
	find_proposals(&r);
	Told **order = all_told(&r);
	for (int i = 0; i < table_count(r.told); i++)
		if (order[i]->proposals.n)
			order[n++] = order[i];
	if (n)
		qsort(order, (size_t)n, sizeof *order, by_told_seconds);
	int tried = 0;
	for (int most; tried < n && told < most_told; tried += most) {
		most = tried + most_told - told < n ? most_told - told : n - tried;
		try_proposals(&r, order + tried, most, false);
		for (int k = 0; k < most && r.trials.all[0]->end == TRIAL_through; k++)
			told += text_move(&moves, &r, order[tried + k], shown);
	}
	if (told)
		text_add(t, "\nother choices, each tried\n");
	text_addn(t, moves.s, moves.n);
	if (told && tried < n && most_told < MOST_MOVES)
		text_printf(t, "  of a program as long as this, of no more than %d move%s\n",
			most_told, most_told == 1 ? "" : "s");
	text_free(&moves);
	arena_free(r.arena);
}
