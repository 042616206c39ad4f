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

/* A convolution in phases votes as the one that it is: by what windows are of, and by all that
   the phases read and make, of which x is the same for all. */
static double
elements(const Op *op, int tensor)
{
	const Value *v = rule_tensor(op, tensor);

	if (!op_has(op, A_phases))
		return (double)type_elements(&v->type);
	return tensor ? (double)type_elements(&v->type) * (double)op_int(op, A_phases)
		      : (double)type_elements(&shown(v)->type);
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

/* The most votes, then the kind of factor, the larger additional split, the later
   factor. */
static Candidate *
winner(const Ballot *ballot, const Assignment *factors)
{
	const Factor *of = ballot->rule->factors;
	Candidate *best = NULL;

	for (int i = 0; i < ballot->n; i++) {
		Candidate *c = &ballot->candidates[i];
		if (c->dropped || !eligible(ballot, factors, c->factor))
			continue;
		bool beats = !best;
		if (best && (c->votes < best->votes || c->votes > best->votes)) {
			beats = c->votes > best->votes;
		} else if (best && of[c->factor].kind != of[best->factor].kind) {
			/* enum FactorKind is in order of precedence */
			beats = of[c->factor].kind < of[best->factor].kind;
		} else if (best) {
			int64_t more = axes_size(&c->axes) / axes_size(&factors[c->factor]);
			int64_t other =
				axes_size(&best->axes) / axes_size(&factors[best->factor]);
			beats = more > other || (more == other && c->factor > best->factor);
		}
		best = beats ? c : best;
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
			c->dropped |= !axes_can_coexist(&won->axes, c->axes.a[k]);
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

/* Factors that must be whole only held their axes against others, and give
   them to the first of those that all tensors have and that they divide.  Where elements
   are moved, but each stays in one piece, an exchange of rows will do, save where whole
   operands are put after each other; it may as well be gathered.

     cumsum along dim 0 of x: [8@X, 4], X=2     VOTE_gather [8, 4], VOTE_spread [8, 4@X] */
static void
clear_whole(const Ballot *ballot, VoteKind kind, Assignment *factors)
{
	const Rule *r = ballot->rule;

	for (int f = 0; f < r->nfactors; f++) {
		AxisList axes = factors[f];
		bool exchanged =
			r->factors[f].kind == F_permute && ballot->op->kind != O_concatenate;
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

/* Which of two tensors with dims stays, if there are just two and no factor needs care:
   no split permutation, more elements, more shards; the operand on a tie.  Else -1. */
static int
keep_of_pair(const Rule *r, const Op *op, const Placement *tensors)
{
	int n = 0, pair[2];

	for (int t = 0; t < r->ntensors; t++) {
		int rank = rule_tensor(op, t)->type.rank;
		if (rank && n == 2)
			return -1;
		if (rank)
			pair[n++] = t;
		for (int d = 0; d < rank; d++)
			if (r->dims[t][d].n > 1)
				return -1;
	}
	for (int f = 0; f < r->nfactors; f++)
		if (!factor_splittable(&r->factors[f]))
			return -1;
	if (n < 2)
		return -1;
	const Placement *one = &tensors[pair[0]], *other = &tensors[pair[1]];
	double size = elements(op, pair[0]), size_other = elements(op, pair[1]);
	bool permuted = splits_permuted(r, pair[0], one);
	if (permuted != splits_permuted(r, pair[1], other))
		return pair[permuted];
	if (size < size_other || size > size_other)
		return pair[size < size_other];
	return pair[placement_ways(other) > placement_ways(one)];
}

void
vote(const Rule *r, const Op *op, const Placement *tensors, VoteKind kind, Assignment *factors)
{
	Arena *scratch = arena_new();
	Assignment *of_tensor = NEW_ARRAY(scratch, Assignment, r->nfactors + 1);
	Ballot ballot = {.rule = r, .op = op, .arena = scratch};
	int keep = keep_of_pair(r, op, tensors);

	for (int f = 0; f < r->nfactors; f++)
		factors[f].n = 0;
	if (keep >= 0) {
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
