/*
 * step.c - one step at one op: which axes its tensors agree on,
 * factor by factor, and who may take them.
 *
 * BASIC gives every tensor the same answer and lets any conflict stop a
 * factor for everybody.  AGGRESSIVE answers tensor by tensor and settles
 * conflicts between factors by an order of preference.  Both only ever append
 * axes, hence termination.
 */
#include "shard/propagate/propagate.h"

/* ---- agreement within a factor ---------------------------------------- */

static bool
is_major_part(AxisRef part, AxisRef whole)
{
	return part.axis == whole.axis && part.pre == whole.pre && whole.size % part.size == 0;
}

static void
cut_and_add(AxisList *l, int n, AxisRef a)
{
	l->n = n;
	l->a[l->n++] = a;
}

/*
 * Merges what another tensor has into what was agreed so far: the longer of
 * the two where one begins with the other, else their common beginning, after
 * which nothing may be added any more (returns false).  Axes of a tensor that
 * may not extend only cut.
 *
 *   agreed X       more X,Y       X,Y, and more may follow
 *   agreed X,Y     more X,Z       X: they part there
 *   agreed X=4     more X:(1)2    X=4: the other only ends within it
 *   agreed X=4,Y   more X:(1)2,Z  X:(1)2: they part within X
 */
static bool
agree(AxisList *agreed, const AxisList *more, bool extend)
{
	int i = 0;

	while (i < agreed->n && i < more->n && axis_equal(agreed->a[i], more->a[i]))
		i++;
	if (i == more->n)
		return extend;
	if (i == agreed->n) {
		if (extend)
			*agreed = *more;
		return extend;
	}
	AxisRef ours = agreed->a[i], theirs = more->a[i];
	if (is_major_part(theirs, ours)) {
		if (i + 1 == more->n)
			return extend;
		cut_and_add(agreed, i, theirs);
	} else if (is_major_part(ours, theirs)) {
		if (i + 1 == agreed->n && extend) {
			*agreed = *more;
			return true;
		}
		cut_and_add(agreed, i, ours);
	} else {
		agreed->n = i;
	}
	return false;
}

static bool
is_operand(const Projection *p, const Holder *h)
{
	return h->tensor < p->rule->noperands;
}

/* Those that send along `way` extend; the others are only consulted. */
static AxisList
agreed_axes(const Projection *p, int factor, Way way)
{
	AxisList agreed = {0};
	bool extend = true;

	for (int pass = 0; pass < 2; pass++) {
		bool operands = (way == WAY_backward) == (pass == 1);
		for (int i = p->factor_first[factor]; i < p->factor_first[factor + 1]; i++) {
			const Holder *h = &p->holders[p->by_factor[i]];
			if (is_operand(p, h) == operands)
				extend = agree(&agreed, &h->axes, extend);
		}
		extend &= way == WAY_both;
	}
	return agreed;
}

static bool
may_receive(const Projection *p, const Holder *h, Way way)
{
	return way & (is_operand(p, h) ? WAY_backward : WAY_forward);
}

static bool
begins(const AxisList *less, const AxisList *more)
{
	return !axes_equal(less, more) && axes_is_prefix(less, more);
}

/* ---- limits of one tensor --------------------------------------------- */

static const AxisRef nothing = {0, 1, 1};

/* The longest major part of `a` that can stand beside all of `taken`: of X:(1)4
   beside X:(2)2 that is X:(1)2. */
static AxisRef
clear_of(AxisRef a, const AxisList *taken)
{
	for (int i = 0; i < taken->n && a.size > 1; i++) {
		AxisRef other = taken->a[i];
		if (axis_can_coexist(a, other))
			continue;
		if (other.pre <= a.pre || other.pre % a.pre || a.size % (other.pre / a.pre))
			return nothing;
		a.size = other.pre / a.pre;
	}
	return a;
}

/* What of `a` is free of the other holders of a tensor. */
static AxisRef
free_of_others(const Projection *p, int tensor, const Holder *self, AxisRef a)
{
	for (int i = p->first[tensor]; i < p->first[tensor + 1]; i++) {
		const Holder *h = &p->holders[i];
		if (h == self)
			continue;
		a = clear_of(a, &h->axes);
		a = clear_of(a, &h->overflow);
	}
	return a;
}

/*
 * What of `a` this holder may carry after `before` ways: what divides the rest of the
 * factor.  An axis that does not divide is dropped whole from the minor-most factor; a
 * factor with others after it takes the common part.
 *
 *   a = X=4, of a factor of 12     before 1: X         before 2 (6 are left): X:(1)2,
 *                                                      or nothing if it is minor-most
 */
static AxisRef
allowed_in(const Projection *p, const Holder *h, int64_t before, AxisRef a)
{
	a = clear_of(a, &p->barred[h->tensor]);
	if (a.size == 1)
		return nothing;
	for (int i = 0; i < h->axes.n; i++)
		if (axis_contains(h->axes.a[i], a))
			return a;
	if (!h->closed && !h->overflow.n && !p->sealed[h->tensor]) {
		AxisRef part = a;
		part.size = ways_for(p, h, before, a.size);
		if (part.size > 1 && (part.size == a.size || !h->minor_most))
			return part;
	}
	/* it cannot grow, but need not stop others at what it has */
	if (h->axes.n && is_major_part(h->axes.a[h->axes.n - 1], a))
		return h->axes.a[h->axes.n - 1];
	return nothing;
}

/* ---- basic -------------------------------------------------------------- */

static const Holder *
holder_of(const Projection *p, int tensor, int factor)
{
	for (int i = p->first[tensor]; i < p->first[tensor + 1]; i++)
		if (p->holders[i].factor == factor)
			return &p->holders[i];
	return NULL;
}

/* Keeps `l` up to its first axis of which only a part, or none, is `allowed`:
   true when the list ends there. */
static bool
cut_at(AxisList *l, int i, AxisRef allowed)
{
	if (axis_equal(l->a[i], allowed))
		return false;
	l->n = i;
	if (allowed.size > 1)
		l->a[l->n++] = allowed;
	return true;
}

static bool
grow(Projection *p, Holder *h, const AxisList *axes)
{
	if (!begins(&h->axes, axes))
		return false;
	h->axes = *axes;
	p->took[h - p->holders] = true;
	p->grown[h->tensor] = true;
	return true;
}

static bool
someone_could_grow(const Projection *p, int factor, Way way, const AxisList *agreed)
{
	for (int i = p->factor_first[factor]; i < p->factor_first[factor + 1]; i++) {
		const Holder *h = &p->holders[p->by_factor[i]];
		if (may_receive(p, h, way) && begins(&h->axes, agreed))
			return true;
	}
	return false;
}

/* What is agreed, as far as every tensor of the op can live with it. */
static bool
basic_factor(Projection *p, int factor, Way way)
{
	AxisList axes = agreed_axes(p, factor, way);
	int64_t before = 1;
	bool changed = false;

	if (!axes.n || !someone_could_grow(p, factor, way, &axes))
		return false;
	for (int i = 0; i < axes.n; i++) {
		AxisRef a = axes.a[i];
		for (int t = 0; t < p->rule->ntensors && a.size > 1; t++) {
			const Holder *h = holder_of(p, t, factor);
			a = free_of_others(p, t, h, a);
			if (h && a.size > 1)
				a = allowed_in(p, h, before, a);
		}
		if (cut_at(&axes, i, a))
			break;
		before *= a.size;
	}
	for (int i = p->factor_first[factor]; i < p->factor_first[factor + 1]; i++) {
		Holder *h = &p->holders[p->by_factor[i]];
		if (may_receive(p, h, way))
			changed |= grow(p, h, &axes);
	}
	return changed;
}

/* ---- aggressive --------------------------------------------------------- */

/* Should factor f choose before factor g? */
static bool
preferred(const Projection *p, int f, int g)
{
	int s = p->source[f], t = p->source[g];
	double a = s < 0 ? -1 : p->elements[s], b = t < 0 ? -1 : p->elements[t];

	if (a != b)
		return a > b;
	if (ops[p->op->kind].pointwise) {
		int64_t m = axes_size(&p->agreed[f]);
		int64_t n = axes_size(&p->agreed[g]);
		if (m != n)
			return m > n;
	}
	return s != t ? s < t : f < g;
}

/* Fills `order` with the factors that have something to give, and `source` with the
   largest tensor that already carries what was agreed; -1 if none. */
static int
sort_factors(Projection *p, const Way *way)
{
	int n = 0;

	for (int f = 0; f < p->rule->nfactors; f++) {
		AxisList *agreed = &p->agreed[f];
		agreed->n = 0;
		if (way[f] != WAY_none)
			*agreed = agreed_axes(p, f, way[f]);
		if (!agreed->n || !someone_could_grow(p, f, way[f], agreed))
			continue;
		int source = -1, i = n++;
		for (int k = p->factor_first[f]; k < p->factor_first[f + 1]; k++) {
			const Holder *h = &p->holders[p->by_factor[k]];
			if (axes_is_prefix(agreed, &h->axes)
				&& (source < 0 || p->elements[h->tensor] > p->elements[source]))
				source = h->tensor;
		}
		p->source[f] = source;
		for (; i > 0 && preferred(p, f, p->order[i - 1]); i--)
			p->order[i] = p->order[i - 1];
		p->order[i] = f;
	}
	return n;
}

/* Each holder takes of the agreed axes what it may, other factors considered. */
static bool
give(Projection *p, int factor, Way way, bool to_operands)
{
	bool changed = false;

	for (int i = p->factor_first[factor]; i < p->factor_first[factor + 1]; i++) {
		Holder *h = &p->holders[p->by_factor[i]];
		AxisList axes = p->agreed[factor];
		int64_t before = 1;
		if (is_operand(p, h) != to_operands || !may_receive(p, h, way))
			continue;
		for (int k = 0; k < axes.n; k++) {
			AxisRef a = allowed_in(p, h, before, axes.a[k]);
			if (a.size > 1)
				a = free_of_others(p, h->tensor, h, a);
			if (cut_at(&axes, k, a))
				break;
			before *= a.size;
		}
		/* operands of a pointwise op take no more than its result could: else a
		   closed result would leave two operands to gather instead of one */
		bool cut = to_operands && ops[p->op->kind].pointwise;
		for (int t = p->rule->noperands; cut && t < p->rule->ntensors; t++) {
			const Holder *result = holder_of(p, t, factor);
			if (result && begins(&result->axes, &axes))
				axes = result->axes;
		}
		changed |= grow(p, h, &axes);
	}
	return changed;
}

bool
step(Projection *p, Strategy strategy, const Way *way)
{
	bool changed = false;

	if (strategy == BASIC) {
		for (int f = 0; f < p->rule->nfactors; f++)
			if (way[f] != WAY_none)
				changed |= basic_factor(p, f, way[f]);
		return changed;
	}
	int n = sort_factors(p, way);
	for (int i = 0; i < n; i++) {
		int f = p->order[i];
		changed |= give(p, f, way[f], false);
		changed |= give(p, f, way[f], true);
	}
	return changed;
}
