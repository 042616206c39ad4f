/*
 * choose.c - the plan of one op: which axes split which factor.
 *
 * Candidates are the axes that tensors around the op already use for a factor,
 * and parts of them, in every combination in which no axis is used twice.
 * Each is priced: moving the operands there, the local op, moving the result
 * to where propagation put it.  Partial sums may also stay partial through a
 * linear op.  Of the plans that move at most the bytes of the reference's
 * vote, the one of least predicted time, to 10 ns; ties by bytes, then fewer
 * collectives, then partial sums left for later, then the vote.  An op of
 * explicit code moves nothing, whatever that costs: bytes come first.
 */
#include <math.h>
#include <string.h>
#include "ir/factors.h"
#include "shard/partition/partition.h"

enum {
	MAX_LISTS = 8, /* candidates of one factor */
	MAX_COMBINATIONS = 4096,
};

/* ---- prices ------------------------------------------------------------------- */

/*
 * What an operand in `at` costs this op.  A value with several users was
 * priced at its final placement when it was made, so from there it is free; where others
 * will want it, the move is shared.  Parts of what is whole cost what it costs to have it
 * there.
 */
static void
price_operand(Partitioner *p, int operand, const Placement *at, Choice *c)
{
	const Value *v = p->op->operands[operand];
	double rounds = rounds_served(p, p->op, operand), once;
	Source *s = source_of(p, v);
	const ReshardPlan *plan, *settled;
	MovePrice price;
	Placement to = *at;
	AxisList none = {0};
	Form *form;

	if (value_is_literal(v))
		return;
	if (!s->forms->value->placement.nunreduced)
		placement_set_unreduced(&to, &none, C_add);
	plan = cheapest_form(p, v, &to, &form);
	if (v->uses > 1 && !s->at_final) {
		settled = reshard_plan(p->resharder, &v->type, &s->final, &to);
		if (settled->bytes < plan->bytes)
			plan = settled;
	}
	once = rounds_combined(p, v, &form->value->placement, &to, true);
	price = (MovePrice){plan->bytes / once, plan->seconds / once, plan->collectives};
	share_price_from(p, v, form, &to, &price);
	share_kernel(p, operand, &to, &price);
	c->bytes += price.bytes / rounds;
	c->seconds += price.seconds / rounds;
	c->collectives += price.collectives;
}

/* ---- placements of a choice -------------------------------------------------- */

Placement
choice_tensor(const Partitioner *p, const Choice *c, int tensor)
{
	const Rule *r = p->rule;
	bool result = tensor >= r->noperands;
	AxisList partial = {0};
	Placement to;

	if (!factors_place(r, tensor, c->factors, &to, NULL))
		die("%s: a choice that does not fit", p->op->label);
	/* an op of many operands takes all of them alike */
	if (result || tensor >= 32 || !(c->whole >> tensor & 1))
		partial = c->partial;
	for (int f = 0; f < r->nfactors && (result || r->once == tensor); f++)
		if (r->factors[f].kind == F_reduce)
			axes_append_all(&partial, &c->factors[f]);
	placement_set_unreduced(&to, &partial, c->combiner);
	return to;
}

/* Axes of all factors stand beside each other and beside the partial sums, and each
   tensor can be placed so. */
static bool
choice_fits(const Partitioner *p, const Choice *c)
{
	const Rule *r = p->rule;
	AxisList seen = c->partial;
	Placement to;

	for (int f = 0; f < r->nfactors; f++)
		for (int i = 0; i < c->factors[f].n; i++) {
			AxisRef a = c->factors[f].a[i];
			if (!axes_can_coexist(&seen, a) || seen.n == MAX_PIECES)
				return false;
			seen.a[seen.n++] = a;
		}
	for (int t = 0; t < r->ntensors; t++)
		if (!factors_place(r, t, c->factors, &to, NULL))
			return false;
	return true;
}

/* Is the operand an earlier one, too, wanted in the same place?  It is moved once. */
static bool
is_moved_already(const Partitioner *p, const Choice *c, int operand, const Placement *to)
{
	const Value *v = p->op->operands[operand];

	for (int i = 0; i < operand && v->uses > 1; i++) {
		if (p->op->operands[i] != v)
			continue;
		Placement at = choice_tensor(p, c, i);
		if (placement_equal(&at, to))
			return true;
	}
	return false;
}

/* Fills in bytes, seconds and collectives: moving the operands there, rows that
   the op gets as it runs, the op itself, moving the result to where it is wanted. */
static void
price(Partitioner *p, Choice *c)
{
	const Op *op = p->op;
	const Mesh *mesh = &p->module->mesh;
	Type *types = NEW_ARRAY(p->scratch, Type, op->noperands);

	c->bytes = c->seconds = 0;
	c->collectives = 0;
	c->valid = choice_fits(p, c);
	if (!c->valid)
		return;
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_tensor(p, c, i);
		types[i] = placement_local(&op->operands[i]->type, &to);
		if (!is_moved_already(p, c, i, &to))
			price_operand(p, i, &to, c);
	}
	Placement made = choice_tensor(p, c, op->noperands);
	Type result = placement_local(&op->results[0]->type, &made);
	HaloCost rows = halo_cost(mesh, op, types, &made);
	StepCost step = step_cost(mesh, op, types, &result);
	c->bytes += rows.bytes + step.wire_bytes; /* of a collective in a manual region */
	c->seconds += rows.at_once + step.seconds;
	c->collectives += rows.collectives;
	c->valid &= rows.collectives <= MAX_HALO * op->noperands;
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		made = choice_tensor(p, c, op->noperands + i);
		const Placement *final = &source_of(p, v)->final;
		const ReshardPlan *plan = reshard_plan(p->resharder, &v->type, &made, final);
		double once = rounds_combined(p, v, &made, final, false);
		c->bytes += plan->bytes / once;
		c->seconds += plan->seconds / once;
		c->collectives += plan->collectives;
	}
}

/* ---- partial sums that may stay ------------------------------------------------ */

/* The partial axes an operand has now, if this op is the only one to care. */
static AxisList
partial_axes(const Partitioner *p, int operand, Combiner *combiner)
{
	const Value *v = p->op->operands[operand];
	const Source *s = source_of(p, v);
	const Placement *now = s->forms ? &s->forms->value->placement : &s->final;

	*combiner = (Combiner)now->combiner;
	if (v->uses > 1 && !s->final.nunreduced)
		return (AxisList){0};
	return placement_unreduced(now);
}

/*
 * May operand i stay partial?  Fills c->partial, c->combiner and c->whole.
 *
 *   h: f32[8, 8] unreduced(X), so far where it was computed
 *   transpose(h)   together   partial over X; there are no other operands
 *   h * s          alone      if s is finite: inf times a part is not a part of inf
 *   h * h          no         the product of two parts is no part of the product
 *   h + g          together   if g is partial over X as well: one sum is saved
 *   relu(h)        no
 */
static bool
keep_partial(const Partitioner *p, int i, Choice *c)
{
	const Op *op = p->op;

	c->partial = partial_axes(p, i, &c->combiner);
	if (!c->partial.n)
		return false;
	switch (partial_through(op, i, c->combiner)) {
	case THROUGH_no:
		return false;
	case THROUGH_alone:
		c->whole = ~(1u << i);
		for (int k = 0; k < op->noperands && ops[op->kind].partial == PARTIAL_bilinear;
			k++)
			if (k != i
				&& (p->infinite[op->operands[k]->id]
					|| op->operands[k] == op->operands[i]))
				return false;
		return true;
	case THROUGH_together:
		c->whole = 0;
		for (int k = 0; k < op->noperands; k++) {
			Combiner combiner;
			if (!partial_joins(op, k)) {
				c->whole |= 1u << k;
				continue;
			}
			if (k < i)
				return false; /* all of them, once */
			AxisList axes = partial_axes(p, k, &combiner);
			if (!axes_equal(&axes, &c->partial) || combiner != c->combiner)
				return false;
		}
		return true;
	}
	return false;
}

/* ---- candidates ---------------------------------------------------------------- */

typedef struct Candidates {
	AxisList lists[MAX_LISTS]; /* the first is empty */
	int n;
} Candidates;

typedef struct Chooser {
	Partitioner *p;
	Candidates *of; /* [nfactors] */
	Choice current, best, vote;
	Price *split; /* of a kernel of its own, by mesh axis */
} Chooser;

static void
add_list(Candidates *known, const AxisList *list)
{
	for (int k = 0; k < known->n; k++)
		if (axes_equal(&known->lists[k], list))
			return;
	if (known->n < MAX_LISTS)
		known->lists[known->n++] = *list;
}

static void
add_prefixes(Chooser *ch, int factor, const AxisList *axes)
{
	AxisList prefix = {0};

	if (!factor_splittable(&ch->p->rule->factors[factor]))
		return;
	for (int i = 0; i < axes->n; i++) {
		prefix.a[prefix.n++] = axes->a[i];
		add_list(&ch->of[factor], &prefix);
	}
}

static void
add_placement(Chooser *ch, int tensor, const Placement *placement)
{
	const Rule *r = ch->p->rule;
	Assignment *factors = NEW_ARRAY(ch->p->scratch, Assignment, r->nfactors + 1);

	tensor_assignment(r, tensor, placement, factors);
	for (int f = 0; f < r->nfactors; f++)
		add_prefixes(ch, f, &factors[f]);
}

static void
collect_candidates(Chooser *ch)
{
	const Rule *r = ch->p->rule;

	ch->of = NEW_ARRAY(ch->p->scratch, Candidates, r->nfactors + 1);
	for (int f = 0; f < r->nfactors; f++)
		ch->of[f].n = 1;
	for (int t = 0; t < r->ntensors; t++) {
		const Source *s = source_of(ch->p, rule_tensor(ch->p->op, t));
		add_placement(ch, t, &s->final);
		if (s->drawn && t >= r->noperands)
			add_placement(ch, t, &s->inferred);
		for (Form *f = t < r->noperands ? s->forms : NULL; f; f = f->next)
			add_placement(ch, t, &f->value->placement);
		const Want *w = t < r->noperands && !ch->p->alone ? s->wants : NULL;
		for (; w; w = w->next)
			add_placement(ch, t, &w->at);
	}
}

static double
count_combinations(const Chooser *ch)
{
	double combinations = 1;

	for (int f = 0; f < ch->p->rule->nfactors; f++)
		combinations *= ch->of[f].n;
	return combinations;
}

/*
 * What several axes split, those behind the first may split alone, while that leaves
 * few enough combinations to try all.  Here only so is nothing computed twice:
 *
 *   h [B, F@X], W2 [F@(X,Y), D] -> y [B@(X,Y), D]    h [B@Y, F@X], y a sum over X
 */
static void
add_tails(Chooser *ch)
{
	const Rule *r = ch->p->rule;
	int *prefixes = NEW_ARRAY(ch->p->scratch, int, r->nfactors + 1);

	for (int f = 0; f < r->nfactors; f++) {
		prefixes[f] = ch->of[f].n;
		for (int i = 0; i < prefixes[f]; i++) {
			AxisList tail = ch->of[f].lists[i];
			while (tail.n > 1) {
				memmove(tail.a, tail.a + 1, (size_t)--tail.n * sizeof *tail.a);
				add_list(&ch->of[f], &tail);
			}
		}
	}
	for (int f = 0; f < r->nfactors && count_combinations(ch) > MAX_COMBINATIONS; f++)
		ch->of[f].n = prefixes[f];
}

/* ---- the best of them ------------------------------------------------------------ */

/* -1, 0 or 1 with room for the rounding of sums. */
static int
compare(double a, double b)
{
	double tolerance = 1e-9 * (a + b);

	return a < b - tolerance ? -1 : a > b + tolerance;
}

/* Times are compared in steps of so many seconds: of what prices tell apart less, bytes
   tell more. */
static const double TELLING = 10e-9;

bool
is_better(const Op *op, const Choice *a, const Choice *b)
{
	int order;

	if (!b->valid)
		return true;
	if (op->mode == MODE_explicit && (order = compare(a->bytes, b->bytes)))
		return order < 0;
	if ((order = compare(round(a->seconds / TELLING), round(b->seconds / TELLING))))
		return order < 0;
	if ((order = compare(a->bytes, b->bytes)))
		return order < 0;
	if (a->collectives != b->collectives)
		return a->collectives < b->collectives;
	if (a->partial.n != b->partial.n)
		return a->partial.n > b->partial.n;
	return compare(a->seconds, b->seconds) < 0;
}

/* Each choice has room of its own for factors. */
static void
keep(const Partitioner *p, Choice *kept, const Choice *c)
{
	Assignment *factors = kept->factors;

	memcpy(factors, c->factors, (size_t)p->rule->nfactors * sizeof *factors);
	*kept = *c;
	kept->factors = factors;
}

/* By axis, what the choice costs, if that is the least so far with the axis. */
static void
note_prices(Chooser *ch, const Choice *c)
{
	for (int f = 0; f < ch->p->rule->nfactors && ch->split; f++)
		for (int i = 0; i < c->factors[f].n; i++) {
			Price *least = &ch->split[c->factors[f].a[i].axis];
			if (!least->known || c->seconds < least->seconds)
				*least = (Price){c->bytes, c->seconds, true};
		}
}

static void
consider(Chooser *ch)
{
	Choice *c = &ch->current;

	price(ch->p, c);
	if (c->valid)
		note_prices(ch, c);
	if (c->valid && compare(c->bytes, ch->vote.bytes) <= 0
		&& is_better(ch->p->op, c, &ch->best))
		keep(ch->p, &ch->best, c);
}

static void
combine_from(Chooser *ch, int factor)
{
	if (factor == ch->p->rule->nfactors) {
		consider(ch);
		return;
	}
	for (int i = 0; i < ch->of[factor].n; i++) {
		ch->current.factors[factor] = ch->of[factor].lists[i];
		combine_from(ch, factor + 1);
	}
}

/* Where there are too many for that: the vote with one factor changed at a time,
   again from the best found until nothing improves. */
static void
try_all(Chooser *ch)
{
	const Rule *r = ch->p->rule;
	size_t size = (size_t)r->nfactors * sizeof(Assignment);

	if (count_combinations(ch) <= MAX_COMBINATIONS) {
		combine_from(ch, 0);
		return;
	}
	for (bool improved = true; improved;) {
		Choice before = ch->best;
		for (int f = 0; f < r->nfactors; f++)
			for (int i = 0; i < ch->of[f].n; i++) {
				memcpy(ch->current.factors, ch->best.factors, size);
				ch->current.factors[f] = ch->of[f].lists[i];
				consider(ch);
			}
		improved = is_better(ch->p->op, &ch->best, &before);
	}
}

/* The votes, of which the one that moves least counts; also for the placements that
   propagation found, where the only user of the result wants another. */
static void
vote_choice(Chooser *ch)
{
	Partitioner *p = ch->p;
	const Rule *r = p->rule;
	const Source *result = source_of(p, p->op->results[0]);
	Placement *tensors = NEW_ARRAY(p->scratch, Placement, r->ntensors + 1);
	Choice *c = &ch->current;

	for (int t = 0; t < r->ntensors; t++)
		tensors[t] = source_of(p, rule_tensor(p->op, t))->final;
	for (int inferred = 0; inferred <= result->drawn; inferred++) {
		if (inferred)
			tensors[r->noperands] = result->inferred;
		for (int kind = 0; kind < VOTE_COUNT; kind++) {
			vote(r, p->op, tensors, (VoteKind)kind, c->factors);
			price(p, c);
			if (!c->valid
				|| (ch->vote.valid && compare(c->bytes, ch->vote.bytes) >= 0))
				continue;
			keep(p, &ch->vote, c);
			for (int f = 0; f < r->nfactors; f++)
				add_prefixes(ch, f, &c->factors[f]);
		}
	}
	if (!ch->vote.valid) { /* nothing split always fits */
		memset(ch->vote.factors, 0, (size_t)r->nfactors * sizeof(Assignment));
		ch->vote.combiner = r->combiner;
		price(p, &ch->vote);
	}
}

/* Everything is where the result is wanted: nothing to weigh. */
static bool
already_agrees(Partitioner *p, Choice *c)
{
	const Rule *r = p->rule;
	Placement to;

	tensor_assignment(r, r->noperands, &source_of(p, p->op->results[0])->final, c->factors);
	for (int f = 0; f < r->nfactors; f++)
		if (c->factors[f].n && !factor_stays(&r->factors[f]))
			return false;
	for (int t = r->ntensors; t-- > 0;) {
		const Value *v = rule_tensor(p->op, t);
		const Source *s = source_of(p, v);
		bool operand = t < r->noperands;
		if (!factors_place(r, t, c->factors, &to, NULL)
			|| (!(operand && value_is_literal(v))
				&& !placement_equal(&to,
					operand ? &s->forms->value->placement : &s->final)))
			return false;
	}
	return true;
}

Choice
choose(Partitioner *p)
{
	const Rule *r = p->rule;
	int n = r->nfactors + 1;
	Chooser ch = {.p = p};
	Choice *all[] = {&ch.current, &ch.best, &ch.vote};

	for (int i = 0; i < 3; i++)
		all[i]->factors = NEW_ARRAY(p->scratch, Assignment, n);
	ch.current.combiner = r->combiner;
	if (already_agrees(p, &ch.current)) {
		keep(p, &ch.best, &ch.current);
	} else {
		if (op_is_alone(p->op))
			ch.split = NEW_ARRAY(p->lasting, Price, p->module->mesh.naxes);
		collect_candidates(&ch);
		vote_choice(&ch);
		add_tails(&ch);
		keep(p, &ch.best, &ch.vote);
		try_all(&ch);
		for (int i = 0; i < p->op->noperands; i++) {
			ch.current = (Choice){.factors = ch.current.factors};
			bool kept = keep_partial(p, i, &ch.current);
			/* The op's own partial sums must be of that combiner, too. */
			for (int f = 0; f < r->nfactors; f++)
				if (r->factors[f].kind == F_reduce)
					kept &= r->combiner == ch.current.combiner;
			if (kept)
				try_all(&ch);
		}
	}
	ch.best.factors =
		arena_copy(p->lasting, ch.best.factors, (size_t)n * sizeof *ch.best.factors);
	ch.best.split = ch.split;
	return ch.best;
}
