/*
 * factors.c - the placements around one op as the holders of its factors
 * (ir/factors.h), found by tensor and by factor.
 */
#include <string.h>
#include "shard/propagate/propagate.h"
#include "shard/shard.h"

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

/* The dims of a view's operand as those of its result are called in `dims`; -1: by nothing. */
static bool
dims_before(const Op *op, int *dims)
{
	int at[MAX_RANK], before[MAX_RANK], rank = op->operands[0]->type.rank;

	if (!view_dims(op, at))
		return false;
	for (int i = 0; i < rank; i++)
		before[i] = at[i] < 0 ? -1 : dims[at[i]];
	memcpy(dims, before, sizeof before[0] * (size_t)rank);
	return true;
}

/* The windows that operand `t` of a dot is, and which dims of it theirs are; or NULL. */
static const Op *
windows_of(const Projection *p, int t, int *dims)
{
	const Op *op = p->tensors[t]->def;

	for (int d = 0; d < p->tensors[t]->type.rank; d++)
		dims[d] = d;
	while (op
		&& (op->kind == O_transpose || op->kind == O_reshape || op->kind == O_slice)) {
		if (op->kind != O_slice && !dims_before(op, dims))
			return NULL;
		op = op->operands[0]->def;
	}
	return op && op_is_windows(op) ? op : NULL;
}

/*
 * A product of windows and a kernel is a convolution, which moves them over n elements of a
 * dim: of p windows of k elements each it sees the greater, up to n, and of the lesser what is
 * left of n.
 *
 *   f32[4,12,12,4], kernel f32[3,3,4,8]: 12 windows of 3        12 and 1
 *   its gradient: f32[4,12,12,4], f32[4,12,12,8]: 3 of 12      1 and 12
 */
static void
see_convolution(Projection *p, int t)
{
	int dims[MAX_RANK];
	const Op *op = windows_of(p, t, dims);

	if (!op)
		return;
	const Value *over = op->operands[0];
	const Ints *windowed = op_ints(op, A_windowed), *sizes = op_ints(op, A_window);
	if (over->def && over->def->kind == O_pad)
		over = over->def->operands[0];
	for (int i = 0; i < windowed->n; i++) {
		int d = (int)windowed->v[i];
		int64_t n = over->type.dims[d], count = op->results[0]->type.dims[d];
		int at[2] = {dims[d], dims[op->operands[0]->type.rank + i]};
		int greater = sizes->v[i] > count;
		for (int which = greater, k = 0; k < 2; which = !which, k++) {
			if (at[which] < 0)
				continue;
			int64_t *extent = &p->extent[p->rule->dims[t][at[which]].f[0]];
			*extent = *extent < n ? *extent : n;
			n /= *extent;
		}
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
	for (int t = 0; o->op->kind == O_dot && t < o->noperands; t++)
		see_convolution(p, t);
	for (int t = 0; t < r->ntensors; t++) {
		p->elements[t] = 1;
		for (int i = p->first[t]; i < p->first[t + 1]; i++)
			p->elements[t] *= (double)p->extent[p->holders[i].factor];
	}
}

int32_t
ways_for(const Projection *p, const Holder *h, int64_t before, int32_t size)
{
	if (p->uneven && h->minor_most && before * size <= h->size)
		return size;
	return h->size % before ? 1 : (int32_t)gcd_i64(h->size / before, size);
}

AxisList
projection_dim(const Projection *p, int tensor, int dim)
{
	int from = p->first[tensor], n = p->rule->dims[tensor][dim].n;

	for (int d = 0; d < dim; d++)
		from += p->rule->dims[tensor][d].n;
	return holders_axes(&p->holders[from], n);
}
