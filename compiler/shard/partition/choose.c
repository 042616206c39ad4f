/*
 * choose.c - the plan of one op: which axes split which factor.
 *
 * Candidates are the axes that tensors around the op already use for a factor,
 * and their prefixes, in every combination in which no axis is used twice.
 * Each is priced: moving the operands there, the local op, moving the result
 * to where propagation put it.  Partial sums may also stay partial through a
 * linear op.  Of the plans that move at most the bytes of the reference's
 * vote, the one of least predicted time; ties by bytes, then fewer
 * collectives, then partial sums left for later, then the vote.  An op of
 * explicit code moves nothing, whatever that costs: bytes come first.
 */
#include <string.h>
#include "ir/factors.h"
#include "shard/partition/partition.h"

enum {
	MAX_LISTS = 8, /* candidates of one factor */
	MAX_COMBINATIONS = 4096,
	MAX_HALO = 16, /* collectives of one op, an operand */
};

/* ---- prices ------------------------------------------------------------------- */

/*
 * What an operand in `to` costs this op.  A value with several users was
 * priced at its final placement when it was made, so from there it is free.
 */
static void
price_operand(Partitioner *p, int operand, const Placement *to, Choice *c)
{
	const Value *v = p->op->operands[operand];
	double rounds = rounds_served(p, p->op, operand);
	Source *s = source_of(p, v);
	const ReshardPlan *plan, *settled;
	Form *form;

	if (is_recomputed(v))
		return;
	plan = cheapest_form(p, v, to, &form);
	if (v->uses > 1 && !s->at_final) {
		settled = reshard_plan(p->resharder, &v->type, &s->final, to);
		if (settled->bytes < plan->bytes)
			plan = settled;
	}
	c->bytes += plan->bytes / rounds;
	c->seconds += plan->seconds / rounds;
	c->collectives += plan->collectives;
}

/* ---- placements of a choice -------------------------------------------------- */

static void
add_unreduced(Placement *p, const AxisList *axes, Combiner combiner)
{
	AxisList all = placement_unreduced(p);

	axes_append_all(&all, axes);
	placement_set_unreduced(p, &all, combiner);
}

/* What splits the factors that the op sums over. */
static void
add_reduced_axes(const Partitioner *p, Placement *to, const Choice *c)
{
	for (int f = 0; f < p->rule->nfactors; f++)
		if (p->rule->factors[f].kind == F_reduce)
			add_unreduced(to, &c->factors[f], c->combiner);
}

Placement
choice_operand(const Partitioner *p, const Choice *c, int operand)
{
	Placement to;

	if (!factors_place(p->rule, operand, c->factors, &to, NULL))
		die("%s: a choice that does not fit", p->op->label);
	if (c->partial.n && !(c->whole >> operand & 1))
		add_unreduced(&to, &c->partial, c->combiner);
	if (p->rule->once == operand)
		add_reduced_axes(p, &to, c);
	return to;
}

Placement
choice_result(const Partitioner *p, const Choice *c, int result)
{
	Placement to;

	if (!factors_place(p->rule, p->rule->noperands + result, c->factors, &to, NULL))
		die("%s: a choice that does not fit", p->op->label);
	add_unreduced(&to, &c->partial, c->combiner);
	add_reduced_axes(p, &to, c);
	return to;
}

/* Partial sums over a factor's axes stand beside the other factors' in the
   result. */
static bool
factor_coexists(const Partitioner *p, const Choice *c, int f)
{
	Placement made = choice_result(p, c, 0);
	const AxisList partial = placement_unreduced(&made);

	for (int i = 0; i < c->factors[f].n; i++)
		for (int k = 0; k < partial.n; k++)
			if (!axis_can_coexist(c->factors[f].a[i], partial.a[k]))
				return false;
	return true;
}

static bool
choice_fits(const Partitioner *p, const Choice *c)
{
	Placement to;

	for (int t = 0; t < p->rule->ntensors; t++)
		if (!factors_place(p->rule, t, c->factors, &to, NULL))
			return false;
	for (int f = 0; f < p->rule->nfactors; f++)
		for (int i = 0; i < c->factors[f].n; i++)
			if (axes_overlap(&c->partial, c->factors[f].a[i]))
				return false;
	for (int f = 0; f < p->rule->nfactors; f++)
		if (p->rule->factors[f].kind != F_reduce && !factor_coexists(p, c, f))
			return false;
	return true;
}

static void
price_result(Partitioner *p, const Value *v, Placement made, Choice *c)
{
	const ReshardPlan *plan =
		reshard_plan(p->resharder, &v->type, &made, &source_of(p, v)->final);

	c->bytes += plan->bytes;
	c->seconds += plan->seconds;
	c->collectives += plan->collectives;
}

/* Rows that an op gets from other devices as it runs. */
static void
price_halo(Partitioner *p, const Type *shards, const Placement *made, Choice *c)
{
	HaloCost cost = halo_cost(&p->module->mesh, p->op, shards, made);

	c->bytes += cost.bytes;
	c->seconds += cost.seconds;
	c->collectives += cost.collectives;
	c->valid &= cost.collectives <= MAX_HALO * p->op->noperands;
}

/* Fills in bytes, seconds and collectives. */
static void
price(Partitioner *p, Choice *c)
{
	const Op *op = p->op;
	Type local[8],
		*types =
			op->noperands <= 8 ? local : NEW_ARRAY(p->scratch, Type, op->noperands);

	c->bytes = c->seconds = 0;
	c->collectives = 0;
	c->valid = choice_fits(p, c);
	if (!c->valid)
		return;
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_operand(p, c, i);
		types[i] = placement_local(&op->operands[i]->type, &to);
		price_operand(p, i, &to, c);
	}
	for (int i = 0; i < op->nresults; i++)
		price_result(p, op->results[i], choice_result(p, c, i), c);
	Placement made = choice_result(p, c, 0);
	price_halo(p, types, &made, c);
	Type result_type = placement_local(&op->results[0]->type, &made);
	StepCost step = step_cost(&p->module->mesh, op, types, &result_type);
	c->seconds += step.seconds;
	c->bytes += step.wire_bytes; /* of a collective in a manual region */
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

/* All operands with dims hold partial sums over the same axes. */
static bool
all_partial(const Partitioner *p, const AxisList *axes, Combiner c)
{
	for (int i = 0; i < p->op->noperands; i++) {
		Combiner ci;
		AxisList l = partial_axes(p, i, &ci);
		if (!axes_equal(&l, axes) || ci != c)
			return false;
	}
	return true;
}

/*
 * May operand i be multiplied before it is summed?  By what is finite; and h * h
 * has to sum h in any case.
 */
static bool
can_multiply(const Partitioner *p, int i)
{
	const Op *op = p->op;

	for (int k = 0; k < op->noperands; k++)
		if (k != i
			&& (p->infinite[op->operands[k]->id]
				|| op->operands[k] == op->operands[i]))
			return false;
	return true;
}

/* May operand i stay partial?  Fills c->partial, c->combiner and c->whole. */
static bool
keep_partial(const Partitioner *p, int i, Choice *c)
{
	c->partial = partial_axes(p, i, &c->combiner);
	if (!c->partial.n)
		return false;
	switch (partial_through(p->op, i, c->combiner)) {
	case THROUGH_no:
		return false;
	case THROUGH_alone:
		c->whole = ~(1u << i);
		return ops[p->op->kind].partial != PARTIAL_bilinear || can_multiply(p, i);
	case THROUGH_together:
		c->whole = 0;
		return i == 0 && all_partial(p, &c->partial, c->combiner);
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
} Chooser;

static void
add_list(Candidates *c, const AxisList *l)
{
	for (int i = 0; i < c->n; i++)
		if (axes_equal(&c->lists[i], l))
			return;
	if (c->n < MAX_LISTS)
		c->lists[c->n++] = *l;
}

static void
add_prefixes(Chooser *ch, int factor, const AxisList *axes)
{
	AxisList prefix = {0};

	for (int i = 0; i < axes->n; i++) {
		prefix.a[prefix.n++] = axes->a[i];
		if (factor_splittable(&ch->p->rule->factors[factor]))
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
	}
}

static double
combinations(const Chooser *ch)
{
	double n = 1;

	for (int f = 0; f < ch->p->rule->nfactors; f++)
		n *= ch->of[f].n;
	return n;
}

/* ---- the best of them ------------------------------------------------------------ */

/* -1, 0 or 1 with room for the rounding of sums. */
static int
compare(double a, double b)
{
	double tolerance = 1e-9 * (a + b);

	return a < b - tolerance ? -1 : a > b + tolerance;
}

static bool
better(const Op *op, const Choice *a, const Choice *b)
{
	int order;

	if (!b->valid)
		return true;
	if (op->mode == MODE_explicit && (order = compare(a->bytes, b->bytes)))
		return order < 0;
	if ((order = compare(a->seconds, b->seconds)))
		return order < 0;
	if ((order = compare(a->bytes, b->bytes)))
		return order < 0;
	if (a->collectives != b->collectives)
		return a->collectives < b->collectives;
	return a->partial.n > b->partial.n;
}

static void
consider(Chooser *ch)
{
	const Rule *r = ch->p->rule;
	size_t size = (size_t)r->nfactors * sizeof(Assignment);
	Choice *c = &ch->current;

	if (!assignment_disjoint(r, c->factors))
		return;
	price(ch->p, c);
	if (!c->valid || compare(c->bytes, ch->vote.bytes) > 0
		|| !better(ch->p->op, c, &ch->best))
		return;
	Assignment *kept = ch->best.factors;
	memcpy(kept, c->factors, size);
	ch->best = *c;
	ch->best.factors = kept;
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

/* Too many to try all: the vote with one factor changed at a time, again
   from the best found until nothing improves. */
static void
improve_one_by_one(Chooser *ch)
{
	const Rule *r = ch->p->rule;
	size_t size = (size_t)r->nfactors * sizeof(Assignment);

	for (bool improved = true; improved;) {
		improved = false;
		Choice before = ch->best;
		for (int f = 0; f < r->nfactors; f++)
			for (int i = 0; i < ch->of[f].n; i++) {
				memcpy(ch->current.factors, ch->best.factors, size);
				ch->current.factors[f] = ch->of[f].lists[i];
				consider(ch);
			}
		improved = better(ch->p->op, &ch->best, &before);
	}
}

/* The combiner of the op's own partial results must be that of the kept. */
static bool
combiners_agree(const Partitioner *p, const Choice *c)
{
	for (int f = 0; f < p->rule->nfactors; f++)
		if (p->rule->factors[f].kind == F_reduce)
			return p->rule->combiner == c->combiner;
	return true;
}

static void
try_all(Chooser *ch)
{
	if (combinations(ch) <= MAX_COMBINATIONS)
		combine_from(ch, 0);
	else
		improve_one_by_one(ch);
}

/* A vote, if it moves less than what was voted for so far. */
static void
hold_vote(Chooser *ch, const Placement *tensors, VoteKind kind)
{
	Partitioner *p = ch->p;
	const Rule *r = p->rule;
	size_t size = (size_t)r->nfactors * sizeof(Assignment);
	Choice *c = &ch->current;
	Assignment *kept = ch->vote.factors;

	vote(r, p->op, tensors, kind, c->factors);
	price(p, c);
	if (!c->valid || (ch->vote.valid && compare(c->bytes, ch->vote.bytes) >= 0))
		return;
	memcpy(kept, c->factors, size);
	ch->vote = *c;
	ch->vote.factors = kept;
	for (int f = 0; f < r->nfactors; f++)
		add_prefixes(ch, f, &kept[f]);
}

/* Of the placements that propagation found, too, where the only user of the
   result wants another. */
static void
vote_choice(Chooser *ch)
{
	Partitioner *p = ch->p;
	const Rule *r = p->rule;
	Placement *tensors = NEW_ARRAY(p->scratch, Placement, r->ntensors + 1);

	for (int t = 0; t < r->ntensors; t++)
		tensors[t] = source_of(p, rule_tensor(p->op, t))->final;
	for (int kind = 0; kind < VOTE_COUNT; kind++)
		hold_vote(ch, tensors, (VoteKind)kind);
	const Source *result = source_of(p, p->op->results[0]);
	if (result->drawn) {
		tensors[r->noperands] = result->inferred;
		for (int kind = 0; kind < VOTE_COUNT; kind++)
			hold_vote(ch, tensors, (VoteKind)kind);
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
	int result = r->noperands;
	const Placement *final = &source_of(p, p->op->results[0])->final;
	Placement to;

	tensor_assignment(r, result, final, c->factors);
	for (int f = 0; f < r->nfactors; f++)
		if (c->factors[f].n && !factor_stays(&r->factors[f]))
			return false;
	for (int i = 0; i < p->op->nresults; i++) {
		final = &source_of(p, p->op->results[i])->final;
		if (!factors_place(r, result + i, c->factors, &to, NULL)
			|| !placement_equal(&to, final))
			return false;
	}
	for (int i = 0; i < result; i++) {
		const Value *v = p->op->operands[i];
		if (!factors_place(r, i, c->factors, &to, NULL))
			return false;
		if (!is_recomputed(v)
			&& !placement_equal(&to, &source_of(p, v)->forms->value->placement))
			return false;
	}
	return true;
}

static Choice
weigh(Partitioner *p, int n)
{
	Chooser ch = {.p = p};

	ch.current.factors = NEW_ARRAY(p->scratch, Assignment, n);
	ch.current.combiner = p->rule->combiner;
	if (already_agrees(p, &ch.current))
		return ch.current;
	ch.best.factors = NEW_ARRAY(p->scratch, Assignment, n);
	ch.vote.factors = NEW_ARRAY(p->scratch, Assignment, n);
	collect_candidates(&ch);
	vote_choice(&ch);
	memcpy(ch.best.factors, ch.vote.factors, (size_t)n * sizeof(Assignment));
	Assignment *kept = ch.best.factors;
	ch.best = ch.vote;
	ch.best.factors = kept;
	try_all(&ch);
	for (int i = 0; i < p->op->noperands; i++) {
		Assignment *room = ch.current.factors;
		ch.current = (Choice){.factors = room};
		if (keep_partial(p, i, &ch.current) && combiners_agree(p, &ch.current))
			try_all(&ch);
	}
	return ch.best;
}

Choice
choose(Partitioner *p)
{
	int n = p->rule->nfactors + 1;
	Choice c = weigh(p, n);

	c.factors = arena_copy(p->arena, c.factors, sizeof *c.factors * (size_t)n);
	arena_reset(p->scratch);
	return c;
}
