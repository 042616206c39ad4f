/*
 * atoms.c - what differs between two placements, cut into atoms.
 */
#include <string.h>
#include "shard/reshard/reshard.h"

enum { MAX_BOUNDARIES = 4 * MAX_PIECES + 2 };

/* Where pieces of one axis start and end, as sizes of the more major part. */
typedef struct Boundaries {
	int n;
	int64_t at[MAX_BOUNDARIES];
} Boundaries;

static void
boundary_add(Boundaries *b, int64_t at)
{
	int i = b->n;

	for (int k = 0; k < b->n; k++)
		if (b->at[k] == at)
			return;
	for (; i > 0 && b->at[i - 1] > at; i--)
		b->at[i] = b->at[i - 1];
	b->at[i] = at;
	b->n++;
}

static void
boundaries_of(Boundaries *b, const Placement *p, int axis)
{
	for (int d = 0; d <= p->rank; d++) {
		AxisList l = placement_axes(p, d);
		for (int i = 0; i < l.n; i++)
			if (l.a[i].axis == axis) {
				boundary_add(b, l.a[i].pre);
				boundary_add(b, (int64_t)l.a[i].pre * l.a[i].size);
			}
	}
}

bool
axis_cuts_nest(int axis, const Placement *from, const Placement *to)
{
	Boundaries b = {0};

	boundaries_of(&b, from, axis);
	boundaries_of(&b, to, axis);
	for (int i = 1; i < b.n; i++)
		if (b.at[i] % b.at[i - 1])
			return false;
	return true;
}

/* Is the atom among what this placement does not share with the other? */
static bool
differs_in(const Search *s, const Placement *p, AxisRef a)
{
	for (int d = 0; d <= p->rank; d++) {
		AxisList l = placement_axes(p, d);
		if (d < p->rank)
			l = axes_drop_prefix(&l, &s->prefix[d]);
		for (int i = 0; i < l.n; i++)
			if (axis_contains(l.a[i], a))
				return true;
	}
	return false;
}

/*
 * While the search stays small, atoms that could stand for a part of another
 * are cut to match, so that only a part needs to move: of sizes 4 and 2 the
 * first becomes two of 2.
 */
static void
match_atom_sizes(Search *s)
{
	for (int a = 0; a < s->natoms; a++)
		for (int b = 0; b < s->natoms; b++) {
			AxisRef whole = s->atoms[a];
			int64_t size = gcd_i64(whole.size, s->atoms[b].size);
			if (size == 1 || size == whole.size)
				continue;
			if (s->natoms == FREE_SEARCH_ATOMS)
				return;
			memmove(s->atoms + a + 1, s->atoms + a,
				(size_t)(s->natoms - a) * sizeof s->atoms[0]);
			s->natoms++;
			s->atoms[a].size = (int32_t)size;
			s->atoms[a + 1].pre = (int32_t)(whole.pre * size);
			s->atoms[a + 1].size = (int32_t)(whole.size / size);
			b = -1;
		}
}

/* The atoms of a list, which is a union of them. */
static int
atoms_of(const Search *s, const AxisList *l, uint8_t *atoms)
{
	int n = 0;

	for (int i = 0; i < l->n; i++)
		for (int a = 0; a < s->natoms; a++)
			if (axis_contains(l->a[i], s->atoms[a]))
				atoms[n++] = (uint8_t)a;
	return n;
}

State
reshard_state(const Search *s, const Placement *p)
{
	State st = {0};
	AxisList unreduced = placement_unreduced(p);
	uint8_t atoms[MAX_ATOMS];

	for (int d = 0; d < p->rank; d++) {
		AxisList all = placement_dim(p, d);
		AxisList rest = axes_drop_prefix(&all, &s->prefix[d]);
		st.n[d] = (uint8_t)atoms_of(s, &rest, st.atom[d]);
	}
	for (int i = atoms_of(s, &unreduced, atoms); i-- > 0;)
		st.partial |= 1u << atoms[i];
	return st;
}

void
reshard_atoms(Search *s, const Placement *from, const Placement *to)
{
	s->rank = s->type->rank;
	for (int d = 0; d < s->rank; d++) {
		AxisList a = placement_dim(from, d), b = placement_dim(to, d);
		s->prefix[d] = axes_common_prefix(&a, &b);
		s->active[d] = !axes_equal(&a, &b);
		s->size[d] = s->type->dims[d] / axes_size(&s->prefix[d]);
	}
	for (int axis = 0; axis < s->mesh->naxes; axis++) {
		Boundaries b = {0};
		boundaries_of(&b, from, axis);
		boundaries_of(&b, to, axis);
		for (int i = 0; i + 1 < b.n; i++) {
			AxisRef a = {(int16_t)axis, (int32_t)b.at[i],
				(int32_t)(b.at[i + 1] / b.at[i])};
			if (!differs_in(s, from, a) && !differs_in(s, to, a))
				continue;
			if (s->natoms == MAX_ATOMS)
				die("a reshard of more than %d axis pieces", MAX_ATOMS);
			s->atoms[s->natoms++] = a;
		}
	}
	match_atom_sizes(s);
	s->goal = reshard_state(s, to);
}
