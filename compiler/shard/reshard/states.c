/*
 * states.c - what a state of the search says: how far dims are split, which atoms are in use,
 * and what is still to be received at least.
 */
#include "shard/reshard/reshard.h"

int64_t
state_ways(const Search *s, const State *st, int dim)
{
	int64_t n = 1;

	for (int i = 0; i < st->n[dim]; i++)
		n *= s->atoms[st->atom[dim][i]].size;
	return n;
}

uint32_t
state_atoms(const Search *s, const State *st)
{
	uint32_t used = st->partial;

	for (int d = 0; d < s->rank; d++)
		for (int i = 0; i < st->n[d]; i++)
			used |= 1u << st->atom[d][i];
	return used;
}

/*
 * What each device receives at least on the way to the goal, of a tensor of 1 byte: what of
 * its shard there is not in its shard now.  Of two splits of a dim, no more than a shard of
 * the finer one is in both:
 *
 *   [x, -] -> [-, y]    1 / y is wanted, 1 / (x y) may be there already
 *
 * And of n parts of a sum (n - 1) / n of a shard, which is no smaller than all atoms that
 * hold no parts can make it.
 */
double
state_least_bytes(const Search *s, const State *st)
{
	double wanted = 1, there = 1, shard = 1, parts = 1;

	for (int d = 0; d < s->rank; d++) {
		int64_t now = state_ways(s, st, d), goal = state_ways(s, &s->goal, d);
		wanted /= (double)goal;
		there /= (double)(now > goal ? now : goal);
	}
	for (int a = 0; a < s->natoms; a++)
		if (!(st->partial >> a & 1))
			shard /= (double)s->atoms[a].size;
		else if (!(s->goal.partial >> a & 1))
			parts *= (double)s->atoms[a].size;
	double sums = (parts - 1) / parts * shard, rest = s->goal.partial ? 0 : wanted - there;
	return sums > rest ? sums : rest;
}
