/*
 * factors.c - from placements to factors and back.
 */
#include <string.h>
#include "shard/partition/partition.h"

bool
factor_splittable(const Factor *f)
{
	return f->kind != F_replicate;
}

bool
factor_stays(const Factor *f)
{
	return f->kind == F_pass || f->kind == F_reduce;
}

/* The most major axes of `l` that split `size` elements evenly. */
static AxisList
take_fitting(const AxisList *l, int64_t size, AxisList *rest)
{
	AxisList major = {0};
	int i = 0;

	for (; i < l->n && size % l->a[i].size == 0; i++) {
		major.a[major.n++] = l->a[i];
		size /= l->a[i].size;
	}
	*rest = (AxisList){0};
	if (i < l->n && size > 1) {
		int64_t part = gcd_i64(size, l->a[i].size);
		if (part == size) { /* the rest belongs to the next */
			AxisRef a = l->a[i];
			major.a[major.n] = a;
			major.a[major.n++].size = (int32_t)part;
			rest->a[rest->n++] = (AxisRef){a.axis, (int32_t)(a.pre * part),
				(int32_t)(a.size / part)};
			i++;
		} else { /* nothing minor may be split */
			return major;
		}
	}
	if (size == 1 || rest->n)
		for (; i < l->n; i++)
			rest->a[rest->n++] = l->a[i];
	return major;
}

void
project_tensor(const Rule *r, int tensor, const Placement *p, Assignment *factors)
{
	Placement moving = placement_moving(*p);

	memset(factors, 0, (size_t)r->nfactors * sizeof *factors);
	for (int d = 0; d < p->rank; d++) {
		const DimFactors *df = &r->dims[tensor][d];
		AxisList rest = placement_dim(&moving, d);
		for (int i = 0; i < df->n && rest.n; i++)
			factors[df->f[i]] =
				take_fitting(&rest, r->factors[df->f[i]].size, &rest);
	}
}

bool
assigned_placement(const Rule *r, const Op *op, int tensor, const Assignment *factors,
	Placement *p)
{
	const Type *t = &rule_tensor(op, tensor)->type;

	*p = placement_none(t->rank);
	for (int d = 0; d < t->rank; d++) {
		const DimFactors *df = &r->dims[tensor][d];
		AxisList l = {0};
		bool full = true; /* factors so far, in all */
		for (int i = 0; i < df->n; i++) {
			const AxisList *axes = &factors[df->f[i]];
			int64_t size = axes_size(axes);
			int64_t whole = r->factors[df->f[i]].size;
			if (axes->n && (!full || whole % size))
				return false;
			axes_append_all(&l, axes);
			full &= size == whole;
		}
		if (t->dims[d] % axes_size(&l))
			return false;
		placement_set_dim(p, d, &l);
	}
	return true;
}

bool
assignment_disjoint(const Rule *r, const Assignment *factors)
{
	AxisList seen = {0};

	for (int f = 0; f < r->nfactors; f++)
		for (int i = 0; i < factors[f].n; i++) {
			for (int k = 0; k < seen.n; k++)
				if (!axis_can_coexist(seen.a[k], factors[f].a[i]))
					return false;
			if (seen.n == MAX_PIECES)
				return false;
			seen.a[seen.n++] = factors[f].a[i];
		}
	return true;
}
