/*
 * candidates.c - how operands could be placed so that an op can go on.
 *
 *   x + y      x: [8@(X,Z), 4]   y: [8@(X,Y), 4]     dim 0 is split in two ways
 *
 *   as x has it     y: [8@(X,Z), 4]     the others take the axes of one,
 *                   y: [8@X, 4]         or keep what begins them of their own
 *   as y has it     x: [8@(X,Y), 4]
 *                   x: [8@X, 4]
 *   less            not needed here: all split less, until it is little enough
 *
 * Each candidate is tried: the op is derived again (of a call, the body).  What
 * gets it going is offered; where nothing does, what gets it past this finding to
 * another one.
 */
#include <string.h>
#include "shard/explicit/report.h"

/* Operands that are placed otherwise, all at once. */
typedef struct Candidate {
	const Placement **to; /* by operand; NULL: as it is */
	bool any, impossible; /* an operand would be in two places, or has no room */
} Candidate;

typedef struct Search {
	Choices *c;
	Choices past;	 /* what only leads to another finding, */
	bool past_is_no; /* ... of which there are some already */
	OpState *o;
	const Finding *stuck; /* NULL: in the body of a call */
	Holder *holders;      /* of the operands */
	int nholders;
	Candidate *right; /* which were offered */
	int nright;
} Search;

static Candidate
candidate(Search *s)
{
	return (Candidate){
		.to = NEW_ARRAY(s->c->e->g.arena, const Placement *, s->o->noperands + 1)};
}

/* An operand that stands twice, s * s, is in one place. */
static void
place(Search *s, Candidate *k, int operand, Placement to)
{
	const Placement *copy = arena_copy(s->c->e->g.arena, &to, sizeof to);

	k->any = true;
	if (k->to[operand])
		k->impossible |= !placement_equal(k->to[operand], &to);
	else
		for (int i = 0; i < s->o->noperands; i++)
			if (s->o->tensors[i] == s->o->tensors[operand])
				k->to[i] = copy;
}

/* ---- trying ------------------------------------------------------------------ */

/* In the order in which they are written; what stands twice is moved twice. */
static bool
offer_candidate(Search *s, Choices *c, const Candidate *k, const Settled *settled)
{
	Explicit *e = c->e;
	Written *w = NEW_ARRAY(e->g.arena, Written, s->o->noperands);
	Placement *to = NEW_ARRAY(e->g.arena, Placement, s->o->noperands);
	int n = 0;

	for (int i = 0; i < s->o->noperands; i++) {
		if (!k->to[i])
			continue;
		Written operand = written_operand(e, s->o->op, i);
		int at = n++;
		for (; at && w[at - 1].where.begin > operand.where.begin; at--) {
			w[at] = w[at - 1];
			to[at] = to[at - 1];
		}
		w[at] = operand;
		to[at] = *k->to[i];
	}
	return offer_reshards(c, n, w, to, settled);
}

/* The operands are where the candidate has them; where they were. */
static const Placement *
put(Search *s, const Candidate *k)
{
	int n = s->o->noperands;
	Placement *before = NEW_ARRAY(s->c->e->g.arena, Placement, n + 1);

	for (int i = 0; i < n; i++) {
		Placement *now = explicit_placement(s->c->e, s->o->tensors[i]);
		before[i] = *now;
		*now = k->to[i] ? *k->to[i] : *now;
	}
	return before;
}

static void
put_back(Search *s, const Placement *before)
{
	for (int i = s->o->noperands; i-- > 0;)
		*explicit_placement(s->c->e, s->o->tensors[i]) = before[i];
}

/* True if the op could go on, and it can be written; or if one does that moves no more. */
static bool
consider(Search *s, const Candidate *k)
{
	Explicit *e = s->c->e;
	int n = s->o->noperands;
	Placement *results = NEW_ARRAY(e->g.arena, Placement, s->o->ntensors + 1);
	const Finding *stuck = s->stuck;
	bool goes_on, past;

	if (k->impossible || !k->any)
		return false;
	for (int i = 0; i < s->nright; i++) {
		const Placement **less = s->right[i].to;
		bool includes = true;
		for (int m = 0; m < n; m++)
			includes &=
				!less[m] || (k->to[m] && placement_equal(k->to[m], less[m]));
		if (includes)
			return true;
	}
	const Placement *before = put(s, k);
	if (stuck) {
		Finding f = derive(e, s->o, results);
		goes_on = !f.fault;
		past = f.fault != stuck->fault || f.tensor != stuck->tensor
			|| f.a.factor != stuck->a.factor || f.b.tensor != stuck->b.tensor
			|| f.b.factor != stuck->b.factor;
	} else {
		past = goes_on = body_is_clear(e, s->o->op);
	}
	put_back(s, before);
	if (!goes_on && past && !s->past_is_no)
		offer_candidate(s, &s->past, k, NULL);
	if (!goes_on || !offer_candidate(s, s->c, k, NULL))
		return false;
	APPEND(e->g.arena, s->right, s->nright, *k);
	return true;
}

/* ---- factors -------------------------------------------------------------------- */

/* The holder's operand with other axes for its factor.  What stands behind it in
   its dim goes where it would be strided. */
static Placement
with_axes(const Search *s, const Holder *h, const AxisList *axes)
{
	Placement to = *explicit_placement(s->c->e, s->o->tensors[h->tensor]);
	Holder dim[MAX_RANK];
	int n = project_dim(s->o->rule, h->tensor, h->dim, &to, dim);

	for (int i = 0; i < n; i++) {
		dim[i].overflow.n = 0;
		if (dim[i].factor == h->factor)
			dim[i].axes = *axes;
	}
	AxisList all = holders_axes(dim, n);
	placement_set_dim(&to, h->dim, &all);
	return to;
}

/* One answer for the factor, of which an operand may have less: those that have
   something else take it, or keep what begins it. */
static bool
agree_with(Search *s, int factor, const AxisList *answer, bool take)
{
	Candidate k = candidate(s);

	for (int i = 0; i < s->nholders; i++) {
		const Holder *h = &s->holders[i];
		if (h->factor != factor || (axes_is_prefix(&h->axes, answer) && !h->overflow.n))
			continue;
		AxisList axes = take ? *answer : axes_common_prefix(&h->axes, answer);
		k.impossible |= h->size % axes_size(&axes) != 0;
		place(s, &k, h->tensor, with_axes(s, h, &axes));
	}
	return consider(s, &k);
}

static void
factor_ways(Search *s, int factor)
{
	AxisList less = {0};
	bool found = false;

	for (int i = 0; i < s->nholders; i++) {
		const Holder *h = &s->holders[i];
		if (h->factor != factor || !h->axes.n)
			continue;
		found |= agree_with(s, factor, &h->axes, true);
		found |= agree_with(s, factor, &h->axes, false);
		if (h->axes.n > less.n)
			less = h->axes;
	}
	s->past_is_no = s->past.n > 0;
	for (; !found && less.n >= 0; less.n--)
		found = agree_with(s, factor, &less, false);
}

/* ---- operands -------------------------------------------------------------------- */

static bool
consider_one(Search *s, int operand, const Placement *to)
{
	Candidate k = candidate(s);

	place(s, &k, operand, *to);
	return consider(s, &k);
}

/* Of an operand that would be `now`, each dim split less, or all of them whole. */
static bool
dims_ways(Search *s, int operand, Placement now)
{
	Placement whole = placement_none(now.rank);
	AxisList partial = placement_unreduced(&now);
	bool found = false;

	for (int d = 0; d < now.rank; d++) {
		AxisList all = placement_dim(&now, d), less = axes_moving(&all);
		for (bool enough = false; !enough && less.n--;) {
			Placement to = now;
			placement_set_dim(&to, d, &less);
			enough = consider_one(s, operand, &to);
			found |= enough;
		}
	}
	placement_set_unreduced(&whole, &partial, (Combiner)now.combiner);
	if (!found && placement_ways(&now) > 1)
		found = consider_one(s, operand, &whole);
	return found;
}

static bool
sums_ways(Search *s, int operand)
{
	const Value *v = s->o->tensors[operand];
	const Placement now = *explicit_placement(s->c->e, v);
	Placement ways[MAX_RANK + 1];
	int n = now.nunreduced ? settled_ways(v, &now, ways) : 0;
	bool found = false;

	for (int i = 0; i < n; i++)
		found |= consider_one(s, operand, &ways[i]);
	return found;
}

/* ---- what helps ------------------------------------------------------------------ */

/* The sums of an operand or of all, and no split along their axes. */
static void
ways_of_refused(Search *s)
{
	const Value *refused = s->o->tensors[s->stuck->tensor];
	AxisList partial = placement_unreduced(explicit_placement(s->c->e, refused));
	AxisRef axis;
	bool found = false;

	for (int i = 0; i < s->o->noperands; i++)
		found |= sums_ways(s, i);
	for (int i = 0; i < s->nholders; i++)
		if (axes_clash(&partial, &s->holders[i].axes, &axis))
			factor_ways(s, s->holders[i].factor);
	if (found)
		return;
	Candidate all = candidate(s);
	for (int i = 0; i < s->o->noperands; i++) {
		Placement to = *explicit_placement(s->c->e, s->o->tensors[i]);
		AxisList none = {0};
		if (!to.nunreduced)
			continue;
		placement_set_unreduced(&to, &none, C_add);
		place(s, &all, i, to);
	}
	consider(s, &all);
}

static Search
search_around(Choices *c, OpState *o, const Finding *stuck)
{
	const Projection *p = &c->e->g.projection;
	Search s = {.c = c, .past.e = c->e, .o = o, .stuck = stuck};

	s.nholders = p->first[o->noperands];
	s.holders = arena_copy(c->e->g.arena, p->holders, (size_t)s.nholders * sizeof(Holder));
	return s;
}

void
offer_ways(Choices *c, OpState *o, const Finding *stuck)
{
	Search s = search_around(c, o, stuck);

	if (stuck->fault == FAULT_refused)
		ways_of_refused(&s);
	else
		factor_ways(&s, stuck->a.factor);
	if (stuck->fault == FAULT_twice)
		factor_ways(&s, stuck->b.factor);
	if (!c->n)
		*c = s.past;
}

Blame
offer_call_ways(Choices *c, OpState *o)
{
	Search s = {.c = c, .past.e = c->e, .o = o};
	Blame blame = {0};

	for (int i = o->noperands - 1; i >= 0; i--) {
		Placement settled = *explicit_placement(c->e, o->tensors[i]);
		AxisList none = {0};
		bool dims = dims_ways(&s, i, settled), sums = sums_ways(&s, i);
		if (!dims && !sums && settled.nunreduced) {
			placement_set_unreduced(&settled, &none, C_add);
			dims = dims_ways(&s, i, settled);
		}
		if (dims || sums)
			blame = (Blame){i, sums};
	}
	return blame;
}

/* Is the factor split in some operands that have it, and whole in others, or in no other of
   an einsum? */
static bool
is_split_in_some(const Search *s, int factor)
{
	int split = 0, whole = 0;

	for (int i = 0; i < s->nholders; i++)
		if (s->holders[i].factor == factor)
			s->holders[i].axes.n ? split++ : whole++;
	return split && (whole || (split == 1 && op_forms[s->o->op->form].out));
}

/*
 * Where one operand alone makes sums partial, the others have the rest of it.
 *
 *   dot(x, w)   x: [8, 64@X]  w: [64, 16]     x: [8, 64], and no sums are partial
 */
void
offer_gathered(Choices *c, OpState *o)
{
	const Finding nothing = {0};
	Search s = search_around(c, o, &nothing);
	Candidate k = candidate(&s);
	AxisList none = {0};

	for (int i = 0; i < o->noperands; i++) {
		Placement to = *explicit_placement(c->e, o->tensors[i]);
		bool gathers = false;
		for (int m = 0; m < s.nholders; m++) {
			const Holder *h = &s.holders[m];
			if (h->tensor != i || !h->axes.n
				|| o->rule->factors[h->factor].kind != F_reduce)
				continue;
			if (!is_split_in_some(&s, h->factor))
				return;
			placement_set_dim(&to, h->dim, &none);
			gathers = true;
		}
		if (gathers)
			place(&s, &k, i, to);
	}
	consider(&s, &k);
}

/* The shortest list of axes that splits the factor in an operand; none if it is whole in
   one. */
static AxisList
least_split(const Search *s, int factor)
{
	AxisList least = {0};
	bool any = false;

	for (int i = 0; i < s->nholders; i++) {
		const Holder *h = &s->holders[i];
		if (h->factor == factor && (!any || h->axes.n < least.n))
			least = h->axes;
		any |= h->factor == factor;
	}
	return least;
}

/* Bytes of moving the operands, and then combining what sums the result is parts of. */
static double
bytes_combined(const Search *s, const Candidate *k, const Placement *result)
{
	Explicit *e = s->c->e;
	const Value *v = s->o->op->results[0];
	Placement ways[MAX_RANK + 1];

	settled_ways(v, result, ways);
	double bytes = reshard_plan(e->resharder, &v->type, result, &ways[0])->bytes;
	for (int i = 0; i < s->o->noperands; i++) {
		const Value *operand = s->o->tensors[i];
		if (k && k->to[i])
			bytes += reshard_plan(e->resharder, &operand->type,
				explicit_placement(e, operand), k->to[i])
					 ->bytes;
	}
	return bytes;
}

/*
 * Where operands split what is summed over, and one does so more than another, all do as
 * the latter, and what is left of the partial sums is settled, if that moves less.
 *
 *   dot(x, w)   x: [8, 8@(X,Y)]  w: [8@X, 4096]     x: [8, 8@X], and out=[8, 4096@X]
 */
void
offer_agreed(Choices *c, OpState *o)
{
	const Finding nothing = {0};
	Search s = search_around(c, o, &nothing);
	Candidate k = candidate(&s);
	Placement *results = NEW_ARRAY(c->e->g.arena, Placement, o->ntensors + 1);
	Settled settled = {.op = o->op};
	Placement ways[MAX_RANK + 1];

	for (int i = 0; i < s.nholders; i++) {
		const Holder *h = &s.holders[i];
		AxisList least = least_split(&s, h->factor);
		if (o->rule->factors[h->factor].kind == F_reduce && least.n
			&& h->axes.n > least.n)
			place(&s, &k, h->tensor, with_axes(&s, h, &least));
	}
	if (!k.any || k.impossible)
		return;
	const Placement *before = put(&s, &k);
	Finding f = derive(c->e, o, results);
	put_back(&s, before);
	const Value *v = o->op->results[0];
	if (f.fault
		|| bytes_combined(&s, &k, &results[0])
			>= bytes_combined(&s, NULL, explicit_placement(c->e, v)))
		return;
	settled.from = results[0];
	for (int i = 0, n = settled_ways(v, &results[0], ways); i < n; i++) {
		settled.to = ways[i];
		offer_candidate(&s, c, &k, &settled);
	}
}
