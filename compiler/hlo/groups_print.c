/*
 * groups_print.c - who takes part in a collective: replica groups and pairs.
 */
#include "hlo/print.h"

enum { LISTED_DEVICES = 64 }; /* replica groups in full up to here */

/*
 * Devices 0, 1, ... reshaped to dims[] and transposed by perm[]: the iota form
 * of replica groups.  The group's segments are the last of perm.
 */
typedef struct Tiling {
	int n;
	int64_t dims[2 * MAX_PIECES + MAX_AXES];
	int perm[2 * MAX_PIECES + MAX_AXES];
	int64_t groups, members;
} Tiling;

/* Where the group's pieces cut a mesh axis, ascending: 1, ..., size. */
static int
axis_cuts(const Mesh *m, int axis, const AxisList *l, int64_t *cuts)
{
	int n = 0;

	cuts[n++] = 1;
	cuts[n++] = m->axes[axis].size;
	for (int i = 0; i < l->n; i++) {
		if (l->a[i].axis != axis)
			continue;
		cuts[n++] = l->a[i].pre;
		cuts[n++] = (int64_t)l->a[i].pre * l->a[i].size;
	}
	for (int i = 1; i < n; i++)
		for (int k = i; k && cuts[k] < cuts[k - 1]; k--) {
			int64_t swap = cuts[k];
			cuts[k] = cuts[k - 1];
			cuts[k - 1] = swap;
		}
	return n;
}

/* Which piece of the list starts at this cut of this axis, or -1. */
static int
piece_at(const AxisList *l, int axis, int64_t pre)
{
	for (int i = 0; i < l->n; i++)
		if (l->a[i].axis == axis && l->a[i].pre == pre && l->a[i].size > 1)
			return i;
	return -1;
}

static Tiling
tiling_of(const Mesh *m, const AxisList *l)
{
	Tiling tile = {.groups = 1, .members = axes_size(l)};
	int64_t cuts[2 * MAX_PIECES + 2];
	int piece[MAX_PIECES];
	int nfree = 0;

	for (int axis = 0; axis < m->naxes; axis++) {
		int n = axis_cuts(m, axis, l, cuts);
		for (int i = 1; i < n; i++) {
			if (cuts[i] == cuts[i - 1])
				continue;
			int which = piece_at(l, axis, cuts[i - 1]);
			tile.dims[tile.n] = cuts[i] / cuts[i - 1];
			if (which >= 0) {
				piece[which] = tile.n;
			} else {
				tile.groups *= tile.dims[tile.n];
				tile.perm[nfree++] = tile.n;
			}
			tile.n++;
		}
	}
	for (int i = 0; i < l->n; i++)
		if (l->a[i].size > 1)
			tile.perm[nfree++] = piece[i];
	return tile;
}

/* Dims that stay neighbours under the permutation become one. */
static void
tiling_merge(Tiling *tile)
{
	for (int i = 1; i < tile->n; i++) {
		int first = tile->perm[i - 1], second = tile->perm[i];
		if (second != first + 1)
			continue;
		tile->dims[first] *= tile->dims[second];
		tile->n--;
		for (int d = second; d < tile->n; d++)
			tile->dims[d] = tile->dims[d + 1];
		for (int k = i; k < tile->n; k++)
			tile->perm[k] = tile->perm[k + 1];
		for (int k = 0; k < tile->n; k++)
			tile->perm[k] -= tile->perm[k] > first;
		i--;
	}
	if (!tile->n) {
		tile->dims[tile->n] = 1;
		tile->perm[tile->n++] = 0;
	}
}

static int64_t
tiling_device(const Tiling *tile, int64_t k)
{
	int64_t stride[2 * MAX_PIECES + MAX_AXES];
	int64_t device = 0;

	for (int64_t i = tile->n - 1, s = 1; i >= 0; i--) {
		stride[i] = s;
		s *= tile->dims[i];
	}
	for (int i = tile->n - 1; i >= 0; i--) {
		int d = tile->perm[i];
		device += k % tile->dims[d] * stride[d];
		k /= tile->dims[d];
	}
	return device;
}

static void
text_listed_groups(Text *t, const Tiling *tile)
{
	text_add(t, "{");
	for (int64_t g = 0; g < tile->groups; g++) {
		text_add(t, g ? ",{" : "{");
		for (int64_t i = 0; i < tile->members; i++)
			text_printf(t, "%s%lld", i ? "," : "",
				(long long)tiling_device(tile, g * tile->members + i));
		text_add(t, "}");
	}
	text_add(t, "}");
}

static void
text_iota_groups(Text *t, const Tiling *tile)
{
	text_printf(t, "[%lld,%lld]<=[", (long long)tile->groups, (long long)tile->members);
	text_numbers(t, tile->n, tile->dims, ",");
	text_add(t, "]");
	if (tile->n < 2)
		return;
	text_add(t, "T(");
	for (int i = 0; i < tile->n; i++)
		text_printf(t, "%s%d", i ? "," : "", tile->perm[i]);
	text_add(t, ")");
}

void
text_groups(Text *t, const Mesh *m, const AxisList *axes)
{
	Tiling tile = tiling_of(m, axes);

	tiling_merge(&tile);
	if (m->ndevices <= LISTED_DEVICES)
		text_listed_groups(t, &tile);
	else
		text_iota_groups(t, &tile);
}

static void
text_pair(Text *t, bool *first, int64_t from, int64_t to)
{
	text_printf(t, "%s{%lld,%lld}", *first ? "" : ",", (long long)from, (long long)to);
	*first = false;
}

/* By the sender where everyone sends, else by the receiver. */
void
text_pairs(Text *t, const Mesh *m, const Op *op)
{
	bool first = true;

	text_add(t, "{");
	for (int64_t d = 0; d < m->ndevices; d++) {
		int64_t from = op->from ? d : permute_source(m, op, d);
		if (op->from)
			text_pair(t, &first, d,
				axes_with_index(m, op->axes, d, axes_index(m, op->from, d)));
		else if (from >= 0)
			text_pair(t, &first, from, d);
	}
	text_add(t, "}");
}
