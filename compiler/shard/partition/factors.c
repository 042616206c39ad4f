/*
 * factors.c - what an op's plan says of factors: assignments.
 */
#include "ir/factors.h"
#include "shard/partition/partition.h"

bool
factor_splittable(const Factor *factor)
{
	return factor->kind != F_replicate;
}

bool
factor_stays(const Factor *factor)
{
	return factor->kind == F_pass || factor->kind == F_reduce;
}

void
tensor_assignment(const Rule *r, int tensor, const Placement *placement, Assignment *factors)
{
	Holder holders[MAX_RANK];

	for (int f = 0; f < r->nfactors; f++)
		factors[f].n = 0;
	for (int d = 0; d < placement->rank; d++) {
		if (!placement->count[d])
			continue;
		int n = project_dim(r, tensor, d, placement, holders);
		for (int i = 0; i < n; i++)
			factors[holders[i].factor] =
				axes_fill(&holders[i].axes, r->factors[holders[i].factor].size);
	}
}
