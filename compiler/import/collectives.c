/*
 * collectives.c - what shard_map asks for: groups of devices become axes.
 *
 *   mesh x=2, y=4      [[0, 1, 2, 3], [4, 5, 6, 7]] is y, [[0, 4], [1, 5], ...] is x
 */
#include <string.h>

#include "import/builders.h"

/* A table of device ids, of rank 2. */
static bool
read_table(Import *in, const MlirAttr *attr, Dense *table, int64_t *width)
{
	if (!attr || attr->kind != MLIR_dense || !attr->type || attr->type->rank != 2)
		return false;
	if (!dense_read(in, attr, D_i64, table))
		return false;
	*width = attr->type->dims[1];
	if (*width < 1 || table->n < 1 || table->n % *width)
		return read_wrong(in, attr->range, "groups of %lld devices, of %lld in all",
			(long long)*width, (long long)table->n);
	for (int64_t i = 0; i < table->n; i++)
		if (table->v[i] < 0 || table->v[i] >= in->written.ndevices)
			return read_wrong(in, attr->range, "the mesh has no device %lld",
				(long long)table->v[i]);
	return true;
}

/* Of a row of devices equally far apart, the largest part of an axis that the first `size`
   can be; size 0: none. */
static AxisRef
part_of_stride(const Mesh *mesh, int64_t stride, int64_t size)
{
	for (int i = 0; i < mesh->naxes; i++) {
		int64_t whole = mesh->axes[i].size;
		int64_t unit = axis_ref_stride(mesh, axis_whole(mesh, i));
		if (stride < unit || stride % unit || whole % (stride / unit))
			continue;
		for (int64_t part = whole / (stride / unit); part > 1; part--)
			if (size % part == 0 && whole / (stride / unit) % part == 0) {
				AxisRef a = axis_whole(mesh, i);
				a.pre = (uint32_t)(whole / (stride / unit) / part)
					& ((1u << 28) - 1);
				a.size = (int32_t)part;
				return a;
			}
	}
	return (AxisRef){0};
}

/* How many of the group, `apart` members from each other, are equally far apart. */
static int64_t
row_length(const int64_t *group, int64_t width, int64_t apart)
{
	int64_t n = 1, stride = group[apart] - group[0];

	while (n * apart < width && group[n * apart] - group[0] == n * stride)
		n++;
	while (width % (n * apart))
		n--;
	return n;
}

/*
 * The axes, or parts of axes, along which every group is, major to minor: the next-door
 * neighbours of the first tell the minor one, those beyond it the next.
 *
 *   mesh y=4    [[0, 1], [2, 3]] is y:(2)2, [[0, 2], [1, 3]] is y:(1)2
 */
static bool
find_axes(Import *in, const MlirAttr *attr, AxisList *axes)
{
	const Mesh *mesh = &in->written;
	AxisRef found[MAX_AXES];
	int64_t width, covered = 1;
	int n = 0;
	Dense groups;

	*axes = (AxisList){0};
	if (!read_table(in, attr, &groups, &width))
		return false;
	while (covered < width && n < MAX_AXES) {
		AxisRef a = part_of_stride(mesh, groups.v[covered] - groups.v[0],
			row_length(groups.v, width, covered));
		if (!a.size)
			return false;
		found[n++] = a;
		covered *= a.size;
	}
	while (n > 0) {
		AxisRef a = found[--n];
		if (axes_overlap(axes, a) || !axes_can_coexist(axes, a))
			return false;
		axes_append(axes, a);
	}
	for (int64_t i = 0; i < groups.n; i++) {
		int64_t first = groups.v[i - i % width];
		if (groups.v[i] != axes_with_index(mesh, axes, first, i % width)
			|| axes_index(mesh, axes, first) != 0)
			return false;
	}
	return covered == width && axes_keep_sizes(in, axes, in->make.range);
}

/* No groups of a product of axes: what they are is told, the first of them. */
static bool
lacks_axes(Import *in, const MlirOp *op, const MlirAttr *attr)
{
	Text t = {0};
	Dense groups;
	int64_t width, shown = 0;

	if (diag_errors(in->session))
		return false;
	text_add(&t,
		"a collective whose groups are not along axes of the mesh, or parts of them");
	if (read_table(in, attr, &groups, &width)) {
		text_add(&t, ": ");
		for (; shown < groups.n && shown < 8; shown++)
			text_printf(&t, "%s%lld",
				shown % width	? ", "
					: shown ? "], ["
						: "[[",
				(long long)groups.v[shown]);
		text_add(&t, shown < groups.n ? ", ..." : "]]");
	}
	return diag_errors(in->session) == 0
		&& read_lacks(in, op, text_take(&t, in->session->arena));
}

/* Outside of a region there is no device of which this is a part. */
static bool
is_inside(Import *in, const MlirOp *op, int n)
{
	if (!in->manual.n)
		return read_wrong(in, op->range,
			"%s stands outside of a manual_computation; such text is one device's "
			"program",
			op->name);
	return n < 0 || in->noperands == n
		|| read_wrong(in, op->range, "%s takes %d operands", op->name, n);
}

/* Of a region along axes of size 1 JAX leaves nothing but what is in it: outside of regions,
   groups of one device each, or what each device sends to itself. */
static bool
is_alone(Import *in, const MlirOp *op, const char *devices)
{
	Dense table;
	int64_t width;
	bool alone = !in->manual.n && in->noperands == 1 && op->types.n == 1
		&& read_table(in, attr_of(in, op, devices), &table, &width);

	for (int64_t i = 0; alone && i < table.n; i++)
		alone = table.v[i] == table.v[i - i % width];
	return alone;
}

/* Then the result is the operand, while these axes are of size 1. */
static bool
pass_on(Import *in)
{
	AxisList axes = {0};

	for (int i = 0; i < in->written.naxes; i++)
		if (in->written.axes[i].size == 1)
			axes_append(&axes, axis_whole(&in->written, i));
	in->results[0] = in->operands[0];
	return axes_keep_sizes(in, &axes, in->make.range);
}

/* What is made of a device's number takes it for one of the mesh in the text. */
static bool
counts_as_written(Import *in)
{
	for (int a = 0; a < in->manual.n; a++)
		if (axis_ref_stride(&in->module->mesh, in->manual.a[a])
			!= axis_ref_stride(&in->written, in->manual.a[a]))
			return read_wrong(in, in->make.range,
				"this counts devices of the mesh in the text: --mesh cannot "
				"give an axis behind %s another size",
				in->module->mesh.axes[in->manual.a[a].axis].name);
	return true;
}

bool
import_op_partition_id(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	if (!is_inside(in, op, 0) || !counts_as_written(in))
		return false;
	in->results[0] = make_op(in->make, O_partition_id, 0, NULL);
	return true;
}

bool
import_op_collective(Import *in, const MlirOp *op, int kind)
{
	static const char *const dims[OP_COUNT] =
		{[O_all_gather] = "all_gather_dim", [O_reduce_scatter] = "scatter_dimension"};
	Combiner c = C_add;
	AxisList axes;

	if (is_alone(in, op, "replica_groups"))
		return pass_on(in);
	if (!is_inside(in, op, -1))
		return false;
	if (op->types.n != in->noperands)
		return read_wrong(in, op->range, "%s of %d tensors makes %d", op->name,
			in->noperands, op->types.n);
	if (!find_axes(in, attr_of(in, op, "replica_groups"), &axes))
		return lacks_axes(in, op, attr_of(in, op, "replica_groups"));
	if (kind != O_all_gather && !region_combiner(in, op, &c))
		return read_lacks(in, op,
			"a collective whose step is no sum, product, greatest, least, and, or");
	int64_t dim = dims[kind] ? integer_of(in, op, dims[kind], -1) : 0;
	Make make = in->make;
	make.requested = true;
	for (int i = 0; i < in->noperands; i++) {
		if (dims[kind] && (dim < 0 || dim >= in->operands[i]->type.rank))
			return read_wrong(in, op->range, "%s: there is no dim %lld", op->name,
				(long long)dim);
		in->results[i] = make_collective(make, (OpKind)kind, in->operands[i], &axes,
			(int)dim, c);
	}
	return true;
}

bool
import_op_all_to_all(Import *in, const MlirOp *op, int detail)
{
	Exchange exchange = {(int)integer_of(in, op, "concat_dimension", -1),
		(int)integer_of(in, op, "split_dimension", -1), {0}};

	(void)detail;
	if (is_alone(in, op, "replica_groups"))
		return pass_on(in);
	if (!is_inside(in, op, 1))
		return false;
	int rank = in->operands[0]->type.rank;
	if (!find_axes(in, attr_of(in, op, "replica_groups"), &exchange.axes))
		return lacks_axes(in, op, attr_of(in, op, "replica_groups"));
	if (exchange.from_dim < 0 || exchange.from_dim >= rank || exchange.to_dim < 0
		|| exchange.to_dim >= rank || rank + 1 > MAX_RANK
		|| in->operands[0]->type.dims[exchange.to_dim] % axes_size(&exchange.axes))
		return read_wrong(in, op->range, "this all_to_all does not fit its operand");
	Make make = in->make;
	make.requested = true;
	in->results[0] = make_exchange(make, in->operands[0], &exchange.axes, 1, &exchange);
	return true;
}

/* Its groups are in the configuration of the call. */
bool
import_op_ragged_exchange(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *config = attr_of(in, op, "backend_config");
	const MlirAttr *groups = field_of(in, config, "replica_groups");
	AxisList axes;

	(void)detail;
	if (!is_inside(in, op, 6))
		return false;
	if (!find_axes(in, groups, &axes))
		return lacks_axes(in, op, groups);
	Value *operands[6];
	for (int i = 0; i < 6; i++)
		operands[i] = i < 2 ? in->operands[i]
				    : make_convert(in->make, in->operands[i], D_i32);
	Make make = in->make;
	make.requested = true;
	in->results[0] = make_ragged(make, &axes, operands);
	return true;
}

/* The axes along which some pair differs. */
static AxisList
axes_of_pairs(const Mesh *mesh, const Dense *pairs)
{
	AxisList axes = {0};

	for (int a = 0; a < mesh->naxes; a++) {
		AxisList one = {0};
		bool moves = false;
		axes_append(&one, axis_whole(mesh, a));
		for (int64_t i = 0; i < pairs->n && !moves; i += 2)
			moves = axes_index(mesh, &one, pairs->v[i])
				!= axes_index(mesh, &one, pairs->v[i + 1]);
		if (moves)
			axes_append(&axes, one.a[0]);
	}
	return axes;
}

/* In each group the same: source[t] is who sends to member t. */
bool
import_op_permute(Import *in, const MlirOp *op, int detail)
{
	const Mesh *mesh = &in->written;
	Dense pairs;
	int64_t width;

	(void)detail;
	if (is_alone(in, op, "source_target_pairs"))
		return pass_on(in);
	if (!is_inside(in, op, 1))
		return false;
	if (!read_table(in, attr_of(in, op, "source_target_pairs"), &pairs, &width)
		|| width != 2)
		return diag_errors(in->session) == 0
			&& read_lacks(in, op, "a permute without pairs of devices");
	AxisList axes = axes_of_pairs(mesh, &pairs);
	if (!axes_keep_sizes(in, &axes, in->make.range))
		return false;
	int64_t n = axes_size(&axes);
	int64_t *source = NEW_ARRAY(in->arena, int64_t, n);
	for (int64_t i = 0; i < n; i++)
		source[i] = -1;
	for (int64_t i = 0; i < pairs.n; i += 2) {
		int64_t from = axes_index(mesh, &axes, pairs.v[i]);
		int64_t to = axes_index(mesh, &axes, pairs.v[i + 1]);
		if (source[to] >= 0 && source[to] != from)
			return read_lacks(in, op,
				"a permute that is not the same in each group");
		source[to] = from;
	}
	Make make = in->make;
	make.requested = true;
	in->results[0] = make_permute(make, in->operands[0], &axes, NULL, source);
	return true;
}
