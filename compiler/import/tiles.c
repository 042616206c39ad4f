/*
 * tiles.c - placements without names of axes, as older text has them: mhlo.sharding.
 *
 *   {devices=[2,1,4]<=[8] last_tile_dim_replicate}            dim 0 in 2, each on 4 devices
 *   {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}    dim 0 in 4: 0 4, 1 5, ..
 *   {devices=[2,2]0,2,1,3}                                    devices one by one
 *
 * The number of a device has digits; what a dim is split along is some of them.  The digits of
 * all placements together are the mesh, whose axes are called x0, x1, ..., the outermost first.
 */
#include <stdlib.h>
#include <string.h>

#include "import/reader.h"

enum { MOST_DIGITS = 32, MOST_TILE_DIMS = MAX_RANK + 4, MOST_TILED = 1 << 16 };

/* Of the device's number: number / stride % size. */
typedef struct Digit {
	int64_t size, stride;
} Digit;

typedef struct Tiles {
	bool manual, whole; /* {manual}, {replicated} */
	int n;		    /* dims, those behind the tensor's too */
	int64_t dims[MOST_TILE_DIMS];
	int nbehind;
	bool is_manual[MOST_TILE_DIMS]; /* of dims behind the tensor's */
	int ndigits;			/* outermost first, as they are counted through */
	Digit digits[MOST_DIGITS];
	int64_t ndevices;
} Tiles;

/* ---- text */

int
tiles_list(const char **text, int64_t *v, int most)
{
	int n = 0;

	while (n < most) {
		char *end;
		v[n] = strtoll(*text, &end, 10);
		if (end == *text || v[n] < 0 || v[n] > MOST_TILED)
			return -1;
		n++;
		*text = end + (*end == ',');
		if (*end != ',')
			return n;
	}
	return -1;
}

static bool
skip(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

/* [2,4]T(1,0): 0, 1, ... as such a table, with its dims in that order. */
static bool
read_table(const char **text, Tiles *tiles)
{
	int64_t sizes[MOST_DIGITS], order[MOST_DIGITS], strides[MOST_DIGITS], all = 1;
	int n = tiles_list(text, sizes, MOST_DIGITS);
	bool turned = n > 0 && skip(text, "]T("), seen[MOST_DIGITS] = {false};

	for (int i = 0; i < n; i++)
		order[i] = i;
	if (n < 1 || (turned && tiles_list(text, order, MOST_DIGITS) != n)
		|| !skip(text, turned ? ")" : "]"))
		return false;
	for (int i = n - 1; i >= 0; i--) {
		strides[i] = all;
		if (sizes[i] < 1 || !mul_i64(all, sizes[i], &all) || all > MOST_TILED)
			return false;
	}
	for (int i = 0; i < n; i++) {
		if (order[i] >= n || seen[order[i]])
			return false;
		seen[order[i]] = true;
		if (sizes[order[i]] > 1)
			tiles->digits[tiles->ndigits++] =
				(Digit){sizes[order[i]], strides[order[i]]};
	}
	tiles->ndevices = all;
	return true;
}

/* Devices one by one, as a table: the innermost digit counts as far as steps are alike. */
static bool
read_devices(Import *in, const char **text, Tiles *tiles)
{
	int64_t n = tiles->ndevices, *v = NEW_ARRAY(in->arena, int64_t, n + 1);
	Digit digits[MOST_DIGITS];
	int found = 0;

	if (tiles_list(text, v, (int)n) != n || v[0] != 0)
		return false;
	for (int64_t run = 1, more; run < n; run *= more) {
		int64_t stride = v[run];
		for (more = 1; (more + 1) * run <= n && v[more * run] == more * stride;)
			more++;
		while (n % (more * run))
			more--;
		if (more < 2 || found == MOST_DIGITS || stride < 1)
			return false;
		for (int64_t i = run; i < more * run; i++)
			if (v[i] != v[i % run] + i / run * stride)
				return false;
		digits[found++] = (Digit){more, stride};
	}
	while (found > 0)
		tiles->digits[tiles->ndigits++] = digits[--found];
	return true;
}

/* What dims behind those of the tensor are: copies, or parts of a manual region. */
static bool
read_behind(const char **text, Tiles *tiles)
{
	if (skip(text, " last_tile_dim_replicate"))
		tiles->nbehind = 1;
	else if (skip(text, " last_tile_dims={")) {
		while (tiles->nbehind < tiles->n) {
			tiles->is_manual[tiles->nbehind] = skip(text, "manual");
			if (!tiles->is_manual[tiles->nbehind] && !skip(text, "replicated"))
				return false;
			tiles->nbehind++;
			if (!skip(text, ", ") && !skip(text, ","))
				break;
		}
		if (!skip(text, "}"))
			return false;
	}
	return !strcmp(*text, "}") && tiles->nbehind <= tiles->n;
}

bool
tiles_group(const MlirAttr *attr, int64_t *group)
{
	const char *text = attr->kind == MLIR_string ? attr->text : "";
	bool grouped = skip(&text, "{unknown shard_as ") || skip(&text, "{unknown shard_like ");

	return grouped && tiles_list(&text, group, 2) == 1 && !strcmp(text, "}");
}

/* Done on one device: a call of the host.  It says nothing of where its results are. */
static bool
is_maximal(const MlirAttr *tiles)
{
	return tiles && tiles->kind == MLIR_string && !strncmp(tiles->text, "{maximal", 8);
}

static bool
tiles_read(Import *in, const MlirAttr *attr, Tiles *tiles)
{
	const char *text = attr->text;
	int64_t group[2];

	*tiles = (Tiles){.ndevices = 1};
	if (attr->kind != MLIR_string)
		return read_wrong(in, attr->range, "this is no sharding");
	if (is_maximal(attr))
		return read_wrong(in, attr->range,
			"this tensor is on one device, which shdc has no placement for");
	tiles->whole = !strcmp(text, "{replicated}");
	tiles->manual = !strcmp(text, "{manual}");
	if (tiles->whole || tiles->manual || tiles_group(attr, group))
		return true;
	bool right = skip(&text, "{devices=[");
	tiles->n = right ? tiles_list(&text, tiles->dims, MOST_TILE_DIMS) : -1;
	right = tiles->n > 0 && skip(&text, "]");
	for (int d = 0; d < tiles->n && right; d++)
		right = tiles->dims[d] > 0
			&& mul_i64(tiles->ndevices, tiles->dims[d], &tiles->ndevices)
			&& tiles->ndevices <= MOST_TILED;
	int64_t n = tiles->ndevices;
	right = right
		&& (skip(&text, "<=[") ? read_table(&text, tiles) && tiles->ndevices == n
				       : read_devices(in, &text, tiles))
		&& read_behind(&text, tiles);
	return right
		|| read_wrong(in, attr->range, "this sharding cannot be read: %.80s",
			attr->text);
}

/* ---- digits */

/* The digits of each dim: `of` gets the place of the first behind dim d's.  A digit of which
   a dim has a part becomes two. */
static bool
digits_of_dims(Tiles *tiles, int *of)
{
	int at = 0;

	for (int d = 0; d < tiles->n; d++) {
		int64_t left = tiles->dims[d];
		for (; left > 1 && at < tiles->ndigits; at++) {
			Digit *digit = &tiles->digits[at];
			if (left % digit->size == 0) {
				left /= digit->size;
				continue;
			}
			if (digit->size % left || tiles->ndigits == MOST_DIGITS)
				return false;
			memmove(digit + 1, digit,
				(size_t)(tiles->ndigits++ - at) * sizeof *digit);
			digit[1].size /= left;
			digit[0] = (Digit){left, digit[1].stride * digit[1].size};
			left = 1;
		}
		if (left > 1)
			return false;
		of[d] = at;
	}
	return true;
}

/* ---- the mesh */

static void
add_end(Import *in, int64_t end)
{
	int at = 0;

	while (at < in->nends && in->ends[at] < end)
		at++;
	if ((at < in->nends && in->ends[at] == end) || in->nends == MOST_ENDS)
		return;
	memmove(in->ends + at + 1, in->ends + at,
		(size_t)(in->nends++ - at) * sizeof in->ends[0]);
	in->ends[at] = end;
}

/* Its digits begin and end where axes do. */
static bool
note_tiles(Import *in, const MlirAttr *attr)
{
	int of[MOST_TILE_DIMS];
	Tiles tiles;

	if (!tiles_read(in, attr, &tiles))
		return false;
	if (!digits_of_dims(&tiles, of))
		return read_wrong(in, attr->range, "no axes make this sharding: %.80s",
			attr->text);
	for (int i = 0; i < tiles.ndigits; i++) {
		add_end(in, tiles.digits[i].stride);
		add_end(in, tiles.digits[i].stride * tiles.digits[i].size);
	}
	in->tiled = in->tiled ? in->tiled : attr;
	return true;
}

static bool
note_entries(Import *in, List entries)
{
	const MlirAttr *tiles = mlir_attribute(in->program, entries, "mhlo.sharding");

	return !tiles || note_tiles(in, tiles);
}

/* Of arguments and results. */
static bool
note_list(Import *in, const MlirOp *op, const char *name)
{
	const MlirAttr *list = attr_of(in, op, name);

	for (int i = 0; list && list->kind == MLIR_list && i < list->items.n; i++) {
		const MlirAttr *own = list->items.v[i];
		if (own->kind == MLIR_dict && !note_entries(in, own->items))
			return false;
	}
	return true;
}

static bool
note_op(Import *in, const MlirOp *op)
{
	return is_maximal(attr_of(in, op, "mhlo.sharding")) || note_entries(in, op->attributes);
}

static bool
note_block(Import *in, const MlirBlock *block)
{
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *op = block->ops.v[i];
		if (!note_op(in, op) || !note_list(in, op, "arg_attrs")
			|| !note_list(in, op, "res_attrs"))
			return false;
		for (int k = 0; k < op->regions.n; k++)
			if (!note_block(in, op->regions.v[k]))
				return false;
	}
	return true;
}

/* Where all of them are {replicated} or {manual}, the module says how many devices there are:
   one axis, of which collectives may take parts. */
static void
note_partitions(Import *in)
{
	int64_t n = integer_of(in, in->program->module, "mhlo.num_partitions", 1);

	if (in->nends || !in->tiled || n < 2 || n > MOST_TILED)
		return;
	add_end(in, 1);
	add_end(in, n);
}

bool
tiles_mesh(Import *in)
{
	Arena *a = in->session->arena;
	MlirAttr *mesh = NEW(a, MlirAttr);

	if (!note_block(in, in->program->module->regions.v[0]))
		return false;
	note_partitions(in);
	if (in->nends < 2)
		return true;
	*mesh = (MlirAttr){.kind = MLIR_mesh, .range = in->tiled->range};
	for (int i = in->nends - 1; i > 0; i--) {
		if (in->ends[i] % in->ends[i - 1])
			return read_wrong(in, in->tiled->range,
				"the shardings of this text are not along axes of one mesh");
		MlirAxis *axis = NEW(a, MlirAxis);
		*axis = (MlirAxis){.name = arena_printf(a, "x%d", in->nends - 1 - i),
			.size = in->ends[i] / in->ends[i - 1],
			.range = in->tiled->range};
		APPEND(a, mesh->items.v, mesh->items.n, axis);
	}
	in->mesh = mesh;
	return true;
}

/* ---- as Shardy has them */

static void
add_axis(Import *in, int i, List *axes)
{
	const MlirAxis *axis = in->mesh->items.v[i];
	MlirAxis *use = NEW(in->session->arena, MlirAxis);

	*use = (MlirAxis){.name = axis->name, .range = axis->range};
	APPEND(in->session->arena, axes->v, axes->n, use);
}

/* The axes of digits first .. end - 1. */
static void
add_digit_axes(Import *in, const Tiles *tiles, int first, int end, List *axes)
{
	for (int i = first; i < end; i++) {
		const Digit *digit = &tiles->digits[i];
		for (int k = in->nends - 1; k > 0; k--)
			if (in->ends[k] <= digit->stride * digit->size
				&& in->ends[k - 1] >= digit->stride)
				add_axis(in, in->nends - 1 - k, axes);
	}
}

const MlirAttr *
tiles_sharding(Import *in, const MlirAttr *attr, int rank, const Numbers *open)
{
	Arena *a = in->session->arena;
	MlirAttr *made = NEW(a, MlirAttr);
	int of[MOST_TILE_DIMS];
	Tiles tiles;

	if (!tiles_read(in, attr, &tiles) || !digits_of_dims(&tiles, of))
		return NULL;
	bool split = !tiles.whole && !tiles.manual;
	if (split && !in->tiled) {
		read_wrong(in, attr->range, "tiles, where the mesh has names");
		return NULL;
	}
	if (split && tiles.n - tiles.nbehind != rank) {
		read_wrong(in, attr->range, "a sharding of %d dims, of a tensor of %d",
			tiles.n - tiles.nbehind, rank);
		return NULL;
	}
	*made = (MlirAttr){.kind = MLIR_sharding, .range = attr->range};
	made->sharding = NEW(a, MlirSharding);
	*made->sharding = (MlirSharding){.mesh = "mesh"};
	for (int d = 0; d < rank; d++) {
		MlirDim *dim = NEW(a, MlirDim);
		*dim = (MlirDim){.open = numbers_have(open, d), .range = attr->range};
		if (split)
			add_digit_axes(in, &tiles, d ? of[d - 1] : 0, of[d], &dim->axes);
		APPEND(a, made->sharding->dims.v, made->sharding->dims.n, dim);
	}
	return made;
}

bool
tiles_manual(Import *in, const MlirAttr *attr, List *axes)
{
	int of[MOST_TILE_DIMS];
	Tiles tiles;

	if (!attr || !tiles_read(in, attr, &tiles) || !digits_of_dims(&tiles, of))
		return false;
	for (int i = 0; tiles.manual && in->mesh && i < in->mesh->items.n; i++)
		add_axis(in, i, axes);
	for (int i = 0; i < tiles.nbehind; i++) {
		int d = tiles.n - tiles.nbehind + i;
		if (tiles.is_manual[i])
			add_digit_axes(in, &tiles, d ? of[d - 1] : 0, of[d], axes);
	}
	return axes->n > 0;
}
