/*
 * xla_groups.c - groups of devices as XLA writes them.
 *
 *   {{0,2},{1,3}}                      lists of devices
 *   [2,4]<=[4,2]T(1,0)                 0..7 as [4,2], transposed, in rows of 4
 *   mesh['a'=4,'b'=2] {'b'}            along axes of a mesh of XLA's own
 *   mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}     ... of devices in this order
 */
#include <stdlib.h>
#include <string.h>

#include "import/xla.h"

enum { MOST_DEVICES = 1 << 22, MOST_DIMS = 2 * MAX_AXES };

/* Numbers between commas, to a closing bracket; -1: there are too many, or something else. */
static int
read_numbers(const char **text, char close, int64_t *v, int most)
{
	int n = 0;

	for (const char *c = *text; *c; c++) {
		char *end;
		if (*c == close) {
			*text = c + 1;
			return n;
		}
		if (*c == ',' || *c == ' ')
			continue;
		int64_t number = strtoll(c, &end, 10);
		if (end == c || number < 0 || number > MOST_DEVICES || n == most)
			return -1;
		v[n++] = number;
		c = end - 1;
	}
	return -1;
}

/* What lies behind each step along a dim. */
static bool
strides_of(int rank, const int64_t *sizes, int64_t ndevices, int64_t *strides)
{
	int64_t all = 1;

	for (int d = rank; d-- > 0;) {
		strides[d] = all;
		if (sizes[d] < 1 || !mul_i64(all, sizes[d], &all) || all > ndevices)
			return false;
	}
	return all == ndevices;
}

/* The first n of the numbers 0, 1, ... as a table of these sizes and strides. */
static int64_t *
first_of(Arena *a, int rank, const int64_t *sizes, const int64_t *strides, int64_t n)
{
	int64_t *ids = NEW_ARRAY(a, int64_t, n + 1);

	for (int64_t i = 0; i < n; i++) {
		int64_t rest = i;
		for (int d = rank; d-- > 0; rest /= sizes[d])
			ids[i] += rest % sizes[d] * strides[d];
	}
	return ids;
}

/* [4,2]T(1,0): 0, 1, ... as a table of these sizes, with its dims in another order. */
typedef struct Turned {
	int rank;
	int64_t sizes[MOST_DIMS], strides[MOST_DIMS];
} Turned;

/* From behind the bracket on; false: it is something else. */
static bool
read_turned(const char **text, int64_t ndevices, Turned *turned)
{
	int64_t sizes[MOST_DIMS], order[MOST_DIMS], strides[MOST_DIMS];
	int rank = turned->rank = read_numbers(text, ']', sizes, MOST_DIMS);

	if (rank < 1 || !strides_of(rank, sizes, ndevices, strides))
		return false;
	bool transposed = !strncmp(*text, "T(", 2);
	*text += transposed ? 2 : 0;
	if (transposed && read_numbers(text, ')', order, MOST_DIMS) != rank)
		return false;
	for (int d = 0; d < rank; d++) {
		int64_t from = transposed ? order[d] : d;
		if (from >= rank)
			return false;
		turned->sizes[d] = sizes[from];
		turned->strides[d] = strides[from];
	}
	return true;
}

/* [2,4]<=[4,2]T(1,0) */
static const int64_t *
read_iota(Arena *a, const char *text, int64_t ndevices, int64_t *n)
{
	int64_t rows[2];
	const char *c = text + 1;
	Turned turned;

	if (read_numbers(&c, ']', rows, 2) != 2 || strncmp(c, "<=[", 3))
		return NULL;
	c += 3;
	if (!read_turned(&c, ndevices, &turned) || rows[1] < 1 || rows[1] > ndevices)
		return NULL;
	*n = rows[1];
	return first_of(a, turned.rank, turned.sizes, turned.strides, *n);
}

/* Which devices the places of a mesh are: ([2,4]T(1,0)), or (0,2,1,3); NULL: it is something
   else. */
static const int64_t *
read_devices(Arena *a, const char **text, int64_t ndevices)
{
	bool table = **text == '[';
	Turned turned;

	*text += table;
	if (table)
		return read_turned(text, ndevices, &turned) && *(*text)++ == ')'
			? first_of(a, turned.rank, turned.sizes, turned.strides, ndevices)
			: NULL;
	int64_t *ids = NEW_ARRAY(a, int64_t, ndevices + 1);
	bool right = read_numbers(text, ')', ids, (int)ndevices) == ndevices;
	for (int64_t i = 0; i < ndevices; i++)
		right &= ids[i] < ndevices;
	return right ? ids : NULL;
}

/* mesh['a'=4,'b'=2] {'b', 'a':(1)2} */
static const int64_t *
read_mesh(Arena *a, const char *text, int64_t ndevices, int64_t *n)
{
	const char *names[MOST_DIMS], *c = strchr(text, '[') + 1;
	int64_t sizes[MOST_DIMS], strides[MOST_DIMS], along[MOST_DIMS], by[MOST_DIMS];
	static const char with_devices[] = "], device_ids=(";
	int rank = 0, naxes = 0;

	for (; *c == '\'' && rank < MOST_DIMS; rank++) {
		size_t length = strcspn(++c, "'");
		names[rank] = arena_strndup(a, c, length);
		c += length;
		if (strncmp(c, "'=", 2))
			return NULL;
		sizes[rank] = strtoll(c + 2, (char **)&c, 10);
		c += strspn(c, ", ");
	}
	if (*c != ']' || !strides_of(rank, sizes, ndevices, strides))
		return NULL;
	const int64_t *devices = NULL;
	if (!strncmp(c, with_devices, strlen(with_devices))) {
		c += strlen(with_devices);
		devices = read_devices(a, &c, ndevices);
		if (!devices || strncmp(c, " {", 2))
			return NULL;
		c += 2;
	} else if (!strncmp(c, "] {", 3)) {
		c += 3;
	} else {
		return NULL;
	}
	*n = 1;
	for (; *c == '\'' && naxes < MOST_DIMS; naxes++) {
		size_t length = strcspn(++c, "'");
		int d = 0;
		while (d < rank && (strlen(names[d]) != length || strncmp(names[d], c, length)))
			d++;
		if (d == rank)
			return NULL;
		c += length + (c[length] == '\'');
		along[naxes] = sizes[d];
		by[naxes] = strides[d];
		if (!strncmp(c, ":(", 2)) {
			int64_t pre = strtoll(c + 2, (char **)&c, 10);
			int64_t size = *c == ')' ? strtoll(c + 1, (char **)&c, 10) : 0;
			if (pre < 1 || size < 1 || pre > sizes[d] || size > sizes[d]
				|| sizes[d] % (pre * size))
				return NULL;
			along[naxes] = size;
			by[naxes] *= sizes[d] / (pre * size);
		}
		if (!mul_i64(*n, along[naxes], n) || *n > ndevices)
			return NULL;
		c += strspn(c, ", ");
	}
	if (*c != '}')
		return NULL;
	int64_t *ids = first_of(a, naxes, along, by, *n);
	for (int64_t i = 0; i < *n && devices; i++)
		ids[i] = devices[ids[i]];
	return ids;
}

const int64_t *
xla_group(Arena *a, const char *text, int64_t ndevices, int64_t *n)
{
	int64_t one = 1;

	if (ndevices > MOST_DEVICES)
		return NULL;
	if (!strncmp(text, "mesh[", 5))
		return read_mesh(a, text, ndevices, n);
	if (*text == '[')
		return read_iota(a, text, ndevices, n);
	if (!strncmp(text, "{}", 2)) {
		*n = ndevices;
		return first_of(a, 1, &ndevices, &one, ndevices);
	}
	if (strncmp(text, "{{", 2))
		return NULL;
	text += 2;
	int64_t *ids = NEW_ARRAY(a, int64_t, ndevices + 1);
	*n = read_numbers(&text, '}', ids, (int)ndevices);
	for (int64_t i = 0; i < *n; i++)
		if (ids[i] >= ndevices)
			return NULL;
	return *n > 0 ? ids : NULL;
}

/* The devices that the i-th step along some axes, or parts of them, leads to. */
AxisList
xla_axes(const Mesh *mesh, const int64_t *ids, int64_t n)
{
	const AxisList none = {0};
	AxisList minor_first = {0}, axes = {0};
	int64_t covered = 1;

	while (covered < n) {
		int64_t apart = ids[covered] - ids[0], size = 2;
		int axis = -1;
		for (int i = 0; i < mesh->naxes && axis < 0; i++) {
			int64_t stride = axis_ref_stride(mesh, axis_whole(mesh, i));
			if (apart >= stride && apart < stride * mesh->axes[i].size
				&& apart % stride == 0)
				axis = i;
		}
		while (covered * size < n && ids[covered * size] - ids[0] == apart * size)
			size++;
		if (axis < 0 || n % (covered * size))
			return none;
		AxisRef whole = axis_whole(mesh, axis);
		int64_t rest = apart / axis_ref_stride(mesh, whole),
			longest = whole.size / rest;
		size = size > longest ? longest : size;
		if (size < 2 || whole.size % (rest * size) || minor_first.n >= MAX_PIECES / 2)
			return none;
		AxisRef part = whole;
		part.pre = (uint32_t)(whole.size / (rest * size)) & ((1u << 28) - 1);
		part.size = (int32_t)size;
		if (axes_overlap(&minor_first, part))
			return none;
		minor_first.a[minor_first.n++] = part;
		covered *= size;
	}
	for (int i = minor_first.n; i-- > 0;)
		axes_append(&axes, minor_first.a[i]);
	for (int64_t i = 0; i < n; i++)
		if (covered != n || ids[i] != axes_with_index(mesh, &axes, ids[0], i))
			return none;
	return axes;
}

const int64_t *
xla_pairs(Arena *a, const char *text, const Mesh *mesh, AxisList *axes)
{
	int64_t *pairs = NULL, pair[2];
	int n = 0;

	*axes = (AxisList){0};
	for (const char *c = strchr(text, '{'); c && (c = strchr(c + 1, '{'));) {
		c++;
		if (read_numbers(&c, '}', pair, 2) != 2 || pair[0] >= mesh->ndevices
			|| pair[1] >= mesh->ndevices)
			return NULL;
		APPEND(a, pairs, n, pair[0]);
		APPEND(a, pairs, n, pair[1]);
		if (*c != ',')
			break;
		c--;
	}
	for (int i = 0; i < mesh->naxes; i++) {
		AxisList one = {0};
		bool moves = false;
		axes_append(&one, axis_whole(mesh, i));
		for (int k = 0; k + 1 < n; k += 2)
			moves |= axes_index(mesh, &one, pairs[k])
				!= axes_index(mesh, &one, pairs[k + 1]);
		if (moves)
			axes_append(axes, one.a[0]);
	}
	int64_t members = axes_size(axes);
	int64_t *source = NEW_ARRAY(a, int64_t, members + 1);
	for (int64_t i = 0; i < members; i++)
		source[i] = -1;
	for (int k = 0; k + 1 < n; k += 2)
		source[axes_index(mesh, axes, pairs[k + 1])] = axes_index(mesh, axes, pairs[k]);
	return source;
}
