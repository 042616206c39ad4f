/*
 * axes.c - the algebra of mesh axes and their pieces.
 *
 * A piece X:(m)k covers the positions [m, m*k) of X's mixed-radix digits:
 * X = m (more major) * k * rest.  In terms of device ids, a piece is the digit
 * (id / stride) % k with stride = axis stride * rest.
 */
#include <string.h>
#include "ir/ir.h"

int64_t
axis_ref_stride(const Mesh *mesh, AxisRef a)
{
	int64_t stride = mesh->axes[a.axis].size / ((int64_t)a.pre * a.size);

	for (int i = mesh->naxes - 1; i > (int)a.axis; i--)
		stride *= mesh->axes[i].size;
	return stride;
}

int
mesh_axis(const Mesh *mesh, const char *name)
{
	for (int i = 0; i < mesh->naxes; i++)
		if (strcmp(mesh->axes[i].name, name) == 0)
			return i;
	return -1;
}

AxisRef
axis_whole(const Mesh *mesh, int axis)
{
	return (AxisRef){(int16_t)axis, 1, (int32_t)mesh->axes[axis].size};
}

bool
axis_is_whole(const Mesh *mesh, AxisRef a)
{
	return a.pre == 1 && a.size == mesh->axes[a.axis].size;
}

bool
axis_equal(AxisRef a, AxisRef b)
{
	return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}

static int64_t
axis_end(AxisRef a)
{
	return (int64_t)a.pre * a.size;
}

/* An axis of size 1 overlaps itself, though it has no digit to share. */
bool
axis_overlap(AxisRef a, AxisRef b)
{
	return axis_equal(a, b)
		|| (a.axis == b.axis && a.pre < axis_end(b) && b.pre < axis_end(a));
}

bool
axis_contains(AxisRef outer, AxisRef inner)
{
	return outer.axis == inner.axis && inner.pre % outer.pre == 0
		&& axis_end(outer) % axis_end(inner) == 0 && axis_end(inner) <= axis_end(outer);
}

/*
 * Two pieces of an axis can stand in one tensor if they do not overlap and
 * their boundaries divide each other: a:(1)2 and a:(3)2 of a = 6 cannot.
 */
bool
axis_can_coexist(AxisRef a, AxisRef b)
{
	if (a.axis != b.axis)
		return true;
	if (axis_overlap(a, b))
		return false;
	return a.pre < b.pre ? b.pre % axis_end(a) == 0 : a.pre % axis_end(b) == 0;
}

bool
axes_can_coexist(const AxisList *l, AxisRef a)
{
	for (int i = 0; i < l->n; i++)
		if (!axis_can_coexist(l->a[i], a))
			return false;
	return true;
}

/* Parts of an axis that together are one. */
static bool
axis_adjacent(AxisRef major, AxisRef minor)
{
	return major.axis == minor.axis && axis_end(major) == minor.pre;
}

void
axes_append(AxisList *l, AxisRef a)
{
	if (l->n && axis_adjacent(l->a[l->n - 1], a)) {
		l->a[l->n - 1].size *= a.size;
		return;
	}
	if (l->n == MAX_PIECES)
		die("more than %d axis pieces in one placement", MAX_PIECES);
	l->a[l->n++] = a;
}

void
axes_append_all(AxisList *l, const AxisList *more)
{
	for (int i = 0; i < more->n; i++)
		axes_append(l, more->a[i]);
}

bool
axes_unite(AxisList *l, const AxisList *more)
{
	for (int i = 0; i < more->n; i++) {
		bool known = false;
		for (int k = 0; k < l->n; k++)
			known |= axis_equal(l->a[k], more->a[i]);
		if (known)
			continue;
		if (l->n == MAX_PIECES || !axes_can_coexist(l, more->a[i]))
			return false;
		l->a[l->n++] = more->a[i];
	}
	return true;
}

void
axes_normalize(AxisList *l)
{
	AxisList merged = {0};

	axes_append_all(&merged, l);
	*l = merged;
}

AxisList
axes_moving(const AxisList *l)
{
	AxisList kept = {0};

	for (int i = 0; i < l->n; i++)
		if (l->a[i].size > 1)
			axes_append(&kept, l->a[i]);
	return kept;
}

bool
axes_equal(const AxisList *a, const AxisList *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!axis_equal(a->a[i], b->a[i]))
			return false;
	return true;
}

bool
axes_overlap(const AxisList *l, AxisRef a)
{
	for (int i = 0; i < l->n; i++)
		if (axis_overlap(l->a[i], a))
			return true;
	return false;
}

int64_t
axes_size(const AxisList *l)
{
	int64_t size = 1;

	for (int i = 0; i < l->n; i++)
		size *= l->a[i].size;
	return size;
}

AxisList
axes_common_prefix(const AxisList *a, const AxisList *b)
{
	AxisList prefix = {0};

	for (int i = 0; i < a->n && i < b->n; i++) {
		if (axis_equal(a->a[i], b->a[i])) {
			axes_append(&prefix, a->a[i]);
			continue;
		}
		/* where both start at the same place, the smaller if it divides the other,
		   else what divides both */
		AxisRef part = a->a[i];
		part.size = (int32_t)gcd_i64(part.size, b->a[i].size);
		if (part.axis == b->a[i].axis && part.pre == b->a[i].pre && part.size > 1)
			axes_append(&prefix, part);
		break;
	}
	return prefix;
}

bool
axes_is_prefix(const AxisList *prefix, const AxisList *l)
{
	AxisList common = axes_common_prefix(prefix, l);

	return axes_equal(&common, prefix);
}

/* What is left of `a` after its major part of `size` elements. */
static AxisRef
minor_part(AxisRef a, int64_t size)
{
	return (AxisRef){a.axis, (int32_t)(a.pre * size), (int32_t)(a.size / size)};
}

AxisList
axes_drop_prefix(const AxisList *l, const AxisList *prefix)
{
	AxisList rest = {0};
	int i = 0;

	if (!axes_is_prefix(prefix, l))
		die("axes_drop_prefix: not a prefix");
	while (i < prefix->n && axis_equal(prefix->a[i], l->a[i]))
		i++;
	if (i < prefix->n) {
		axes_append(&rest, minor_part(l->a[i], prefix->a[i].size));
		i++;
	}
	for (; i < l->n; i++)
		axes_append(&rest, l->a[i]);
	return rest;
}

bool
axes_take(const AxisList *l, int64_t size, AxisList *major, AxisList *rest)
{
	int i = 0;

	*major = *rest = (AxisList){0};
	for (; i < l->n && size > 1 && size % l->a[i].size == 0; i++) {
		axes_append(major, l->a[i]);
		size /= l->a[i].size;
	}
	if (i < l->n && size > 1) {
		AxisRef a = l->a[i++];
		if (a.size % size)
			return false;
		axes_append(major, (AxisRef){a.axis, a.pre, (int32_t)size});
		axes_append(rest, minor_part(a, size));
		size = 1;
	}
	for (; i < l->n; i++)
		axes_append(rest, l->a[i]);
	return size == 1;
}

int64_t
axes_index(const Mesh *mesh, const AxisList *l, int64_t id)
{
	int64_t index = 0;

	for (int i = 0; i < l->n; i++)
		index = index * l->a[i].size
			+ id / axis_ref_stride(mesh, l->a[i]) % l->a[i].size;
	return index;
}

int64_t
axes_with_index(const Mesh *mesh, const AxisList *l, int64_t id, int64_t index)
{
	for (int i = l->n - 1; i >= 0; i--) {
		int64_t size = l->a[i].size;
		int64_t stride = axis_ref_stride(mesh, l->a[i]);
		int64_t digit = id / stride % size;
		id += (index % size - digit) * stride;
		index /= size;
	}
	return id;
}
