/*
 * manual.c - placements at the boundary of a manual region.
 *
 *   manual(X), Y automatic     x: f32[8@(X,Y), 4]    spec [8@X, 4]
 *                              in the body f32[4@Y, 4]
 *
 * Along the region's axes a spec says how a tensor is cut; the body sees the
 * parts and nothing of those axes.  All other axes go through: in each dim the
 * manual ones are major, so what is left of a dim is that of the part.
 */
#include "ir/ir.h"

static AxisList
without(const AxisList *l, const AxisList *manual)
{
	AxisList rest = {0};

	for (int i = 0; i < l->n; i++)
		if (!axes_overlap(manual, l->a[i]))
			axes_append(&rest, l->a[i]);
	return rest;
}

Placement
manual_inside(const AxisList *manual, const Placement *whole)
{
	Placement inside = *whole;
	AxisList l = placement_replicated(whole);

	l = without(&l, manual);
	placement_set_replicated(&inside, &l);
	l = placement_unreduced(whole);
	l = without(&l, manual);
	placement_set_unreduced(&inside, &l, (Combiner)whole->combiner);
	for (int d = 0; d < whole->rank; d++) {
		l = placement_dim(whole, d);
		l = without(&l, manual);
		placement_set_dim(&inside, d, &l);
		/* A priority of nothing: no text has it. */
		if (l.n == 0 && !(inside.open >> d & 1))
			inside.priority[d] = 0;
	}
	return inside;
}

Placement
manual_whole(const Placement *spec, const Placement *inside)
{
	Placement whole = *inside;
	AxisList l = placement_unreduced(spec);
	AxisList more = placement_unreduced(inside);

	Combiner c = (Combiner)(l.n ? spec->combiner : inside->combiner);
	axes_append_all(&l, &more);
	placement_set_unreduced(&whole, &l, c);
	for (int d = 0; d < spec->rank; d++) {
		l = placement_dim(spec, d);
		more = placement_dim(inside, d);
		axes_append_all(&l, &more);
		placement_set_dim(&whole, d, &l);
	}
	return whole;
}
