/*
 * factors.c - axes of dims to axes of factors, and back (factors.h).
 */
#include "ir/factors.h"

AxisList
axes_fill(AxisList *rest, int64_t size)
{
	AxisList taken = {0}, major, minor;

	while (rest->n) {
		int64_t part = gcd_i64(size, rest->a[0].size);
		if (part == 1)
			break;
		if (!axes_take(rest, part, &major, &minor))
			die("cannot split an axis by a divisor of its size");
		axes_append_all(&taken, &major);
		*rest = minor;
		size /= part;
	}
	return taken;
}

/* The dims of a tensor from `dim` to `end`. */
static int
project_dims(const Rule *r, int tensor, int dim, int end, const Placement *p, Holder *to)
{
	Holder *h = to;

	for (; dim < end; dim++) {
		const DimFactors *factors = &r->dims[tensor][dim];
		bool closed = !placement_is_open(p, dim);
		AxisList rest;
		rest.n = 0; /* most dims have no axes: nothing else is read then */
		if (p->count[dim]) {
			rest = placement_dim(p, dim);
			if (rest.n > 1 || rest.a[0].size == 1)
				rest = axes_moving(&rest);
		}
		for (int k = 0; k < factors->n; k++, h++) {
			h->tensor = tensor;
			h->dim = dim;
			h->factor = factors->f[k];
			h->size = factors->n == 1 ? factors->size : r->factors[h->factor].size;
			h->minor_most = k == factors->n - 1;
			h->closed = closed;
			h->axes.n = h->overflow.n = 0;
			if (!rest.n)
				continue;
			if (h->minor_most) {
				h->axes = rest;
				continue;
			}
			h->axes = axes_fill(&rest, h->size);
			if (rest.n && axes_size(&h->axes) < h->size) {
				h->overflow = rest;
				rest.n = 0;
				closed = true;
			}
		}
	}
	return (int)(h - to);
}

int
project_dim(const Rule *r, int tensor, int dim, const Placement *p, Holder *to)
{
	return project_dims(r, tensor, dim, dim + 1, p, to);
}

int
project_tensor(const Rule *r, int tensor, const Placement *p, Holder *to)
{
	return project_dims(r, tensor, 0, r->rank[tensor], p, to);
}

AxisList
holders_axes(const Holder *h, int n)
{
	AxisList axes = {0};

	for (int i = 0; i < n; i++) {
		axes_append_all(&axes, &h[i].axes);
		axes_append_all(&axes, &h[i].overflow);
		if (h[i].overflow.n || axes_size(&h[i].axes) < h[i].size)
			break;
	}
	return axes;
}

bool
factors_place(const Rule *r, int tensor, const AxisList *axes, Placement *p, int *misfit)
{
	*p = placement_none(r->rank[tensor]);
	for (int d = 0; d < p->rank; d++) {
		const DimFactors *factors = &r->dims[tensor][d];
		bool full = true; /* factors so far, in all */
		int naxes = 0;
		for (int i = 0; i < factors->n; i++)
			naxes += axes[factors->f[i]].n;
		if (!naxes) /* most dims have none */
			continue;
		AxisList all = {0};
		for (int i = 0; i < factors->n; i++) {
			const AxisList *mine = &axes[factors->f[i]];
			int64_t size = r->factors[factors->f[i]].size, ways = axes_size(mine);
			bool room = placement_has_room(p, all.n + mine->n);
			if (mine->n && (!full || size % ways || !room)) {
				if (misfit)
					*misfit = factors->f[i];
				return false;
			}
			axes_append_all(&all, mine);
			full &= ways == size;
		}
		placement_set_dim(p, d, &all);
	}
	return true;
}
