/*
 * factors.c - the placements around one op as the holders of its factors
 * (ir/factors.h), found by tensor and by factor.
 */
#include <string.h>
#include "shard/propagate/propagate.h"

/* The projection is scratch space that only ever grows. */
static void
make_room(Projection *p, Arena *a, const Rule *r)
{
	int holders = 0, tensors = r->ntensors, factors = r->nfactors;

	for (int t = 0; t < tensors; t++)
		for (int d = 0; d < r->rank[t]; d++)
			holders += r->dims[t][d].n;
	if (holders > p->room_holders) {
		p->room_holders = 2 * holders;
		p->holders = NEW_ARRAY(a, Holder, p->room_holders);
		p->by_factor = NEW_ARRAY(a, int, p->room_holders);
		p->took = NEW_ARRAY(a, bool, p->room_holders);
	}
	if (tensors > p->room_tensors) {
		p->room_tensors = 2 * tensors;
		p->first = NEW_ARRAY(a, int, p->room_tensors + 1);
		p->barred = NEW_ARRAY(a, AxisList, p->room_tensors);
		p->sealed = NEW_ARRAY(a, bool, p->room_tensors);
		p->elements = NEW_ARRAY(a, double, p->room_tensors);
		p->grown = NEW_ARRAY(a, bool, p->room_tensors);
	}
	if (factors >= p->room_factors) {
		p->room_factors = 2 * factors + 1;
		p->factor_first = NEW_ARRAY(a, int, p->room_factors + 1);
		p->agreed = NEW_ARRAY(a, AxisList, p->room_factors);
		p->way = NEW_ARRAY(a, Way, p->room_factors);
		p->source = NEW_ARRAY(a, int, p->room_factors);
		p->extent = NEW_ARRAY(a, int64_t, p->room_factors);
		p->order = NEW_ARRAY(a, int, p->room_factors);
	}
}

void
project(Projection *p, Propagation *g, const OpState *o)
{
	const Rule *r = p->rule = o->rule;
	int n = r->nfactors;

	make_room(p, g->arena, r);
	p->op = o->op;
	p->tensors = o->tensors;
	p->nholders = 0;
	for (int t = 0; t < r->ntensors; t++) {
		const Placement *now = &tensor_cluster(g, o, t)->now;
		p->first[t] = p->nholders;
		p->grown[t] = false;
		p->sealed[t] = now->all_replicated;
		p->barred[t].n = 0;
		if (now->nreplicated + now->nunreduced) {
			AxisList unreduced = placement_unreduced(now);
			p->barred[t] = placement_replicated(now);
			axes_append_all(&p->barred[t], &unreduced);
		}
		p->nholders += project_tensor(r, t, now, &p->holders[p->nholders]);
	}
	p->first[r->ntensors] = p->nholders;
	if (p->nholders)
		memset(p->took, 0, (size_t)p->nholders);

	/* holders by factor: a counting sort */
	memset(p->factor_first, 0, sizeof(int) * (size_t)(n + 1));
	for (int i = 0; i < p->nholders; i++)
		p->factor_first[p->holders[i].factor + 1]++;
	for (int f = 0; f < n; f++) {
		p->factor_first[f + 1] += p->factor_first[f];
		p->extent[f] = 1;
	}
	for (int i = 0; i < p->nholders; i++)
		p->by_factor[p->factor_first[p->holders[i].factor]++] = i;
	for (int f = n; f > 0; f--)
		p->factor_first[f] = p->factor_first[f - 1];
	p->factor_first[0] = 0;

	/* elements as the op sees them: where a dim changes its size (slice,
	   concatenate), its larger one counts on both sides */
	for (int i = 0; i < p->nholders; i++)
		if (p->holders[i].size > p->extent[p->holders[i].factor])
			p->extent[p->holders[i].factor] = p->holders[i].size;
	for (int t = 0; t < r->ntensors; t++) {
		p->elements[t] = 1;
		for (int i = p->first[t]; i < p->first[t + 1]; i++)
			p->elements[t] *= (double)p->extent[p->holders[i].factor];
	}
}

AxisList
projection_dim(const Projection *p, int tensor, int dim)
{
	int from = p->first[tensor], n = p->rule->dims[tensor][dim].n;

	for (int d = 0; d < dim; d++)
		from += p->rule->dims[tensor][d].n;
	return holders_axes(&p->holders[from], n);
}
