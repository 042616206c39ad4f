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

Assignment *
result_assignment(Partitioner *p, const Op *op, const Placement *to,
	bool (*may)(const Factor *factor))
{
	const Rule *r = rule_book_get(p->rules, op);
	Assignment *factors = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	AxisList over = placement_unreduced(to);
	Placement there;

	tensor_assignment(r, r->noperands, to, factors);
	for (int f = 0; f < r->nfactors; f++)
		if (factors[f].n && !may(&r->factors[f]))
			return NULL;
	if (!factors_place(r, r->noperands, factors, &there, NULL))
		return NULL;
	placement_set_unreduced(&there, &over, (Combiner)to->combiner);
	return placement_equal(&there, to) ? factors : NULL;
}
