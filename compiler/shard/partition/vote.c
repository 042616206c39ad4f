/*
 * vote.c - the reference: Shardy's insert-explicit-reshards.
 *
 * A vote on global element counts.  A candidate is a factor with a prefix of
 * the axes some tensor splits it along; it gets the elements of every tensor
 * split that way or further.  Winners in turn: most votes, then the kind of
 * factor (pass-through, reduction, permutation, need-replication), then the
 * larger additional split, then the later factor.  With only two tensors one
 * is kept as it is.  Axes of a factor that must be whole may then be spread over
 * others.  The partitioner takes no plan that moves more bytes.
 */
#include "shard/partition/partition.h"

typedef struct Candidate {
	int factor;
	AxisList axes;
	double votes;
	bool dropped;
} Candidate;

typedef struct Ballot {
	const Rule *rule;
	const Op *op;
	Candidate *candidates;
	int n;
	Arena *arena;
} Ballot;

static double
elements(const Op *op, int tensor)
{
	return (double)type_elements(&rule_tensor(op, tensor)->type);
}

/* For each prefix of the axes. */
static void
vote_prefixes(Ballot *ballot, int factor, const AxisList *axes, double votes)
{
	AxisList prefix = {0};

	for (int i = 0; i < axes->n; i++) {
		int k = 0;
		prefix.a[prefix.n++] = axes->a[i];
		while (k < ballot->n
			&& (ballot->candidates[k].factor != factor
				|| !axes_equal(&ballot->candidates[k].axes, &prefix)))
			k++;
		if (k == ballot->n)
			APPEND(ballot->arena, ballot->candidates, ballot->n,
				((Candidate){factor, prefix, 0, false}));
		ballot->candidates[k].votes += votes;
	}
}

/* Every factor before this one in a dim is already split into single
   elements (otherwise the shards would lie in strides). */
static bool
eligible(const Ballot *ballot, const Assignment *factors, int factor)
{
	const Rule *r = ballot->rule;

	for (int t = 0; t < r->ntensors; t++)
		for (int d = 0; d < rule_tensor(ballot->op, t)->type.rank; d++) {
			const DimFactors *df = &r->dims[t][d];
			bool full = true;
			for (int i = 0; i < df->n; i++) {
				if (df->f[i] == factor && !full)
					return false;
				full &= axes_size(&factors[df->f[i]])
					== r->factors[df->f[i]].size;
			}
		}
	return true;
}

static bool
beats(const Ballot *ballot, const Assignment *factors, const Candidate *one,
	const Candidate *other)
{
	/* enum FactorKind is in order of precedence */
	FactorKind ka = ballot->rule->factors[one->factor].kind;
	FactorKind kc = ballot->rule->factors[other->factor].kind;
	int64_t more_a = axes_size(&one->axes) / axes_size(&factors[one->factor]);
	int64_t more_c = axes_size(&other->axes) / axes_size(&factors[other->factor]);

	if (one->votes > other->votes || one->votes < other->votes)
		return one->votes > other->votes;
	if (ka != kc)
		return ka < kc;
	if (more_a != more_c)
		return more_a > more_c;
	return one->factor > other->factor;
}

static Candidate *
winner(const Ballot *ballot, const Assignment *factors)
{
	Candidate *best = NULL;

	for (int i = 0; i < ballot->n; i++) {
		Candidate *c = &ballot->candidates[i];
		if (c->dropped || !eligible(ballot, factors, c->factor))
			continue;
		if (!best || beats(ballot, factors, c, best))
			best = c;
	}
	return best;
}

/* Drops what the winner makes impossible. */
static void
drop_losers(Ballot *ballot, const Candidate *won)
{
	for (int i = 0; i < ballot->n; i++) {
		Candidate *c = &ballot->candidates[i];
		if (c->factor == won->factor) {
			c->dropped |= !axes_is_prefix(&won->axes, &c->axes)
				|| axes_equal(&won->axes, &c->axes);
			continue;
		}
		for (int k = 0; k < c->axes.n; k++)
			for (int l = 0; l < won->axes.n; l++)
				c->dropped |= !axis_can_coexist(c->axes.a[k], won->axes.a[l]);
	}
}

static bool
in_every_tensor(const Ballot *ballot, int factor)
{
	const Rule *r = ballot->rule;

	for (int t = 0; t < r->ntensors; t++) {
		int rank = rule_tensor(ballot->op, t)->type.rank, n = 0;
		for (int d = 0; d < rank; d++)
			for (int i = 0; i < r->dims[t][d].n; i++)
				n += r->dims[t][d].f[i] == factor;
		if (rank && !n)
			return false;
	}
	return true;
}

/* Its elements are moved, but each stays in one piece: an exchange of rows will
   do, save where whole operands are put after each other. */
static bool
is_exchanged(const Ballot *ballot, int f)
{
	return ballot->rule->factors[f].kind == F_permute && ballot->op->kind != O_concatenate;
}

/* Factors that must be whole only held their axes against others, and give
   them to the first of those that all tensors have and that they divide.  What is
   exchanged may as well be gathered. */
static void
clear_whole(const Ballot *ballot, VoteKind kind, Assignment *factors)
{
	const Rule *r = ballot->rule;

	for (int f = 0; f < r->nfactors; f++) {
		AxisList axes = factors[f];
		bool exchanged = is_exchanged(ballot, f);
		bool spread = kind == VOTE_spread && !exchanged && in_every_tensor(ballot, f);
		if (factor_stays(&r->factors[f]) || (kind == VOTE_exchange && exchanged))
			continue;
		factors[f].n = 0;
		for (int i = 0; spread && i < axes.n; i++)
			for (int to = 0; to < r->nfactors; to++) {
				int64_t ways = axes_size(&factors[to]) * axes.a[i].size;
				if (r->factors[to].kind != F_pass
					|| !in_every_tensor(ballot, to)
					|| r->factors[to].size % ways
					|| !eligible(ballot, factors, to))
					continue;
				axes_append(&factors[to], axes.a[i]);
				break;
			}
	}
}

/* The tensors with dims, when there are just two and no factor needs care. */
static bool
is_unary(const Rule *r, const Op *op, int pair[2])
{
	int n = 0;

	for (int t = 0; t < r->ntensors; t++) {
		int rank = rule_tensor(op, t)->type.rank;
		if (rank && n == 2)
			return false;
		if (rank)
			pair[n++] = t;
		for (int d = 0; d < rank; d++)
			if (r->dims[t][d].n > 1)
				return false;
	}
	for (int f = 0; f < r->nfactors; f++)
		if (r->factors[f].kind == F_replicate)
			return false;
	return n == 2;
}

static bool
splits_permuted(const Rule *r, int tensor, const Placement *placement)
{
	for (int d = 0; d < placement->rank; d++)
		for (int i = 0; i < r->dims[tensor][d].n; i++) {
			int f = r->dims[tensor][d].f[i];
			if (r->factors[f].kind == F_permute
				&& placement_dim_ways(placement, d) > 1)
				return true;
		}
	return false;
}

/* Which of two tensors stays: no split permutation, more elements, more
   shards; the operand on a tie. */
static int
keep_of_pair(const Rule *r, const Op *op, const Placement *tensors, const int pair[2])
{
	const Placement *a = &tensors[pair[0]], *ballot = &tensors[pair[1]];
	bool permuted_a = splits_permuted(r, pair[0], a);
	bool permuted_b = splits_permuted(r, pair[1], ballot);
	double size_a = elements(op, pair[0]), size_b = elements(op, pair[1]);

	if (permuted_a != permuted_b)
		return permuted_a ? pair[1] : pair[0];
	if (size_a < size_b || size_a > size_b)
		return size_b > size_a ? pair[1] : pair[0];
	return placement_ways(ballot) > placement_ways(a) ? pair[1] : pair[0];
}

void
vote(const Rule *r, const Op *op, const Placement *tensors, VoteKind kind, Assignment *factors)
{
	Arena *scratch = arena_new();
	Assignment *of_tensor = NEW_ARRAY(scratch, Assignment, r->nfactors + 1);
	Ballot ballot = {.rule = r, .op = op, .arena = scratch};
	int pair[2];

	for (int f = 0; f < r->nfactors; f++)
		factors[f].n = 0;
	if (is_unary(r, op, pair)) {
		int keep = keep_of_pair(r, op, tensors, pair);
		tensor_assignment(r, keep, &tensors[keep], factors);
	} else {
		for (int t = 0; t < r->ntensors; t++) {
			tensor_assignment(r, t, &tensors[t], of_tensor);
			for (int f = 0; f < r->nfactors; f++)
				vote_prefixes(&ballot, f, &of_tensor[f], elements(op, t));
		}
		for (Candidate *c; (c = winner(&ballot, factors));) {
			factors[c->factor] = c->axes;
			drop_losers(&ballot, c);
		}
	}
	clear_whole(&ballot, kind, factors);
	arena_free(scratch);
}
