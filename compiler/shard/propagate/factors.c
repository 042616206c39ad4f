/*
 * factors.c - placements as factors: what each axis of each dim
 * means to an op.
 *
 * A dim made of one factor hands all its axes to it.  A dim made of several
 * (only reshapes have them) hands them out major to minor, splitting an axis
 * where a factor is full; axes that fit neither the factor nor leave it full
 * "overflow": they stay where they are and seal the dim.
 */
#include <string.h>
#include "shard/propagate/propagate.h"

static AxisList
without_unit_axes(const AxisList *l)
{
	AxisList kept = {0};

	for (int i = 0; i < l->n; i++)
		if (l->a[i].size > 1)
			axes_append(&kept, l->a[i]);
	return kept;
}

/* Moves axes from `rest` to a factor until it is full or nothing fits. */
static void
fill_factor(Holder *h, AxisList *rest, int64_t size)
{
	while (rest->n) {
		int64_t part = gcd_i64(size, rest->a[0].size);
		AxisList major, minor;
		if (part == 1)
			break;
		if (!axes_take(rest, part, &major, &minor))
			die("cannot split an axis by a divisor of its size");
		axes_append_all(&h->axes, &major);
		*rest = minor;
		size /= part;
	}
	if (size > 1 && rest->n) {
		h->overflow = *rest;
		rest->n = 0;
	}
}

static void
project_dim(Projection *p, int tensor, int dim, const Placement *now)
{
	const DimFactors *factors = &p->rule->dims[tensor][dim];
	AxisList rest;
	bool sealed = false;

	rest.n = 0; /* most dims have no axes: nothing else is read then */
	if (now->count[dim]) {
		AxisList written = placement_dim(now, dim);
		rest = without_unit_axes(&written);
	}
	for (int k = 0; k < factors->n; k++) {
		Holder *h = &p->holders[p->nholders++];
		h->tensor = tensor;
		h->dim = dim;
		h->factor = factors->f[k];
		/* a moved dim (slice, concatenate) may differ from its
		   factor: its own size is what must divide */
		h->size = factors->n == 1 ? factors->size : p->rule->factors[h->factor].size;
		h->minor_most = k == factors->n - 1;
		h->closed = sealed || !placement_is_open(now, dim);
		h->grown = false;
		h->axes.n = h->overflow.n = 0;
		if (!rest.n)
			continue;
		if (h->minor_most)
			h->axes = rest;
		else
			fill_factor(h, &rest, h->size);
		sealed |= h->overflow.n > 0;
	}
}

static void
project_tensor(Projection *p, int tensor, const Placement *now)
{
	p->first[tensor] = p->nholders;
	p->grown[tensor] = false;
	p->barred[tensor].n = 0;
	if (now->nreplicated + now->nunreduced) {
		AxisList unreduced = placement_unreduced(now);
		p->barred[tensor] = placement_replicated(now);
		axes_append_all(&p->barred[tensor], &unreduced);
	}
	p->sealed[tensor] = now->all_replicated;
	for (int d = 0; d < p->rule->rank[tensor]; d++)
		project_dim(p, tensor, d, now);
}

/* Sizes of tensors as the op sees them: where a dim changes its size (slice,
   concatenate), its larger one counts on both sides. */
static void
count_elements(Projection *p)
{
	for (int f = 0; f < p->rule->nfactors; f++)
		p->extent[f] = 1;
	for (int i = 0; i < p->nholders; i++)
		if (p->holders[i].size > p->extent[p->holders[i].factor])
			p->extent[p->holders[i].factor] = p->holders[i].size;
	for (int t = 0; t < p->rule->ntensors; t++) {
		p->elements[t] = 1;
		for (int i = p->first[t]; i < p->first[t + 1]; i++)
			p->elements[t] *= (double)p->extent[p->holders[i].factor];
	}
}

/* Counting sort of the holders by factor. */
static void
index_by_factor(Projection *p)
{
	int n = p->rule->nfactors;

	memset(p->factor_first, 0, sizeof(int) * (size_t)(n + 1));
	for (int i = 0; i < p->nholders; i++)
		p->factor_first[p->holders[i].factor + 1]++;
	for (int f = 0; f < n; f++)
		p->factor_first[f + 1] += p->factor_first[f];
	for (int i = 0; i < p->nholders; i++)
		p->by_factor[p->factor_first[p->holders[i].factor]++] = i;
	for (int f = n; f > 0; f--)
		p->factor_first[f] = p->factor_first[f - 1];
	p->factor_first[0] = 0;
}

static int
count_holders(const Rule *r)
{
	int n = 0;

	for (int t = 0; t < r->ntensors; t++)
		for (int d = 0; d < r->rank[t]; d++)
			n += r->dims[t][d].n;
	return n;
}

/* The projection is scratch space that only ever grows. */
static void
make_room(Projection *p, Arena *a, const Rule *r)
{
	int holders = count_holders(r), tensors = r->ntensors;
	int factors = r->nfactors;

	if (holders > p->room_holders) {
		p->room_holders = 2 * holders;
		p->holders = NEW_ARRAY(a, Holder, p->room_holders);
		p->by_factor = NEW_ARRAY(a, int, p->room_holders);
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
	make_room(p, g->arena, o->rule);
	p->rule = o->rule;
	p->op = o->op;
	p->tensors = o->tensors;
	p->nholders = 0;
	for (int t = 0; t < o->rule->ntensors; t++)
		project_tensor(p, t, &tensor_cluster(g, o, t)->now);
	p->first[o->rule->ntensors] = p->nholders;
	index_by_factor(p);
	count_elements(p);
}

/*
 * Factors after one that is not full would be strided: they are left out, so
 * that what remains is always one block a device.
 */
AxisList
projection_dim(const Projection *p, int tensor, int dim)
{
	AxisList axes = {0};

	for (int i = p->first[tensor]; i < p->first[tensor + 1]; i++) {
		const Holder *h = &p->holders[i];
		if (h->dim != dim)
			continue;
		axes_append_all(&axes, &h->axes);
		axes_append_all(&axes, &h->overflow);
		if (h->overflow.n || axes_size(&h->axes) < h->size)
			break;
	}
	return axes;
}
