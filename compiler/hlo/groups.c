/*
 * groups.c - who takes part in a collective.
 *
 *   all-reduce(%x), channel_id=1, replica_groups={{0,2},{1,3}},
 *     frontend_attributes={axes="X"}
 *
 * The axes are what is read; the groups follow from them (program_read.c
 * compares).  Up to 64 devices are listed; of more, groups are the iota form
 * [2,64]<=[64,2]T(1,0), and a permute's pairs are listed whatever their number.
 */
#include "hlo/print.h"
#include "hlo/read.h"

enum { LISTED_DEVICES = 64, MAX_DIGITS = 2 * MAX_PIECES + MAX_AXES };

/*
 * Devices 0, 1, ... reshaped to dims[] and transposed by perm[], the group's
 * members last:
 *
 *   axes="X", X=2, Y=4     dims 2,4     perm 1,0     4 groups of 2
 */
typedef struct Tiling {
	int n;
	int64_t dims[MAX_DIGITS];
	int perm[MAX_DIGITS];
	int64_t groups, members;
} Tiling;

/* Where the pieces of a list cut a mesh axis, ascending: 1, ..., size. */
static int
axis_cuts(const Mesh *mesh, int axis, const AxisList *l, int64_t *cuts)
{
	int n = 0;

	cuts[n++] = 1;
	cuts[n++] = mesh->axes[axis].size;
	for (int i = 0; i < l->n; i++)
		if (l->a[i].axis == axis) {
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

static Tiling
tiling_of(const Mesh *mesh, const AxisList *l)
{
	Tiling tile = {.groups = 1, .members = axes_size(l)};
	int64_t cuts[2 * MAX_PIECES + 2];
	int piece[MAX_PIECES], nfree = 0;

	for (int axis = 0; axis < mesh->naxes; axis++) {
		int ncuts = axis_cuts(mesh, axis, l, cuts);
		for (int i = 1; i < ncuts; i++) {
			int which = 0;
			if (cuts[i] == cuts[i - 1])
				continue;
			while (which < l->n
				&& (l->a[which].axis != axis || l->a[which].pre != cuts[i - 1]
					|| l->a[which].size == 1))
				which++;
			tile.dims[tile.n] = cuts[i] / cuts[i - 1];
			if (which < l->n) {
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

/*
 * Dims that stay neighbours under the permutation become one:
 *
 *   dims 2,3,4  perm 1,2,0    dims 2,12  perm 1,0
 *   dims 2,4    perm 0,1      dims 8     perm 0
 */
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

/* Place k of the transposed devices is that whose digits along perm are those
   of k. */
static void
text_groups(Text *t, const Mesh *mesh, const AxisList *axes)
{
	Tiling tile = tiling_of(mesh, axes);
	int64_t stride[MAX_DIGITS];

	tiling_merge(&tile);
	for (int64_t i = tile.n - 1, s = 1; i >= 0; i--) {
		stride[i] = s;
		s *= tile.dims[i];
	}
	if (mesh->ndevices <= LISTED_DEVICES) {
		for (int64_t k = 0; k < tile.groups * tile.members; k++) {
			int64_t device = 0, rest = k;
			for (int i = tile.n - 1; i >= 0; i--) {
				int d = tile.perm[i];
				device += rest % tile.dims[d] * stride[d];
				rest /= tile.dims[d];
			}
			text_printf(t, "%s%lld",
				k % tile.members ? ","
					: k	 ? "},{"
						 : "{{",
				(long long)device);
		}
		text_add(t, "}}");
		return;
	}
	text_printf(t, "[%lld,%lld]<=[", (long long)tile.groups, (long long)tile.members);
	text_numbers(t, tile.n, tile.dims, ",");
	for (int i = 0; i < tile.n && tile.n > 1; i++)
		text_printf(t, "%s%d", i ? "," : "]T(", tile.perm[i]);
	text_add(t, tile.n > 1 ? ")" : "]");
}

/* A permute by the sender where everyone sends, else by the receiver. */
void
print_group(Line *line, const Op *op)
{
	const Mesh *mesh = &line->pr->m->mesh;
	static const AxisList none = {0};
	const AxisList *axes = op->axes ? op->axes : &none;
	const AxisList *from = op->from ? op->from : &none;
	bool permute = collectives[op->kind].route == ROUTE_pairs;
	bool sources = op_ints(op, A_source)->n == axes_size(axes);
	const char *between = "";
	Text *t = line->t;

	text_printf(t, ", channel_id=%d", ++line->pr->nchannels);
	if (!group_is_sane(mesh, axes) || !group_is_sane(mesh, from)
		|| (permute && !op->from && !sources))
		return;
	if (permute) {
		text_add(t, ", source_target_pairs={");
		for (int64_t d = 0; d < mesh->ndevices; d++) {
			int64_t source = op->from ? d : permute_source(mesh, op, d), to = d;
			if (op->from)
				to = axes_with_index(mesh, axes, d, axes_index(mesh, from, d));
			if (source < 0)
				continue;
			text_printf(t, "%s{%lld,%lld}", between, (long long)source,
				(long long)to);
			between = ",";
		}
		text_add(t, "}");
		if (op->from)
			line_axes(line, "from", from);
	} else {
		text_add(t, ", replica_groups=");
		text_groups(t, mesh, axes);
		if (collectives[op->kind].global)
			text_add(t, ", use_global_device_ids=true");
	}
	line_axes(line, "axes", axes);
	print_attrs(line, op);
}

void
read_group(const ReadLine *in, Op *op)
{
	op->axes = read_axes_fact(in, "axes");
	if (collectives[op->kind].route == ROUTE_pairs && !find_fact(&in->facts, "source"))
		op->from = read_axes_fact(in, "from");
	read_attrs(in, op);
}
