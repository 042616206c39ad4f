/*
 * print.c - modules as HLO text that XLA's parser accepts at every level.
 *
 *   %h = f32[8,64] dot(%x, %W), lhs_contracting_dims={1}, ...,
 *     sharding={mesh['X'=2], [{'X'}, {}]}, frontend_attributes={...},
 *     metadata={op_name="main/einsum 'bd,df->bf'" source_line=3}
 *
 * (on one line).  README.md says where each fact goes.  Works on modules that
 * are not well-formed too, for the verifier shows them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ir/hlo.h"
#include "ir/ir.h"
#include "ir/targets.h"

enum { LISTED_DEVICES = 64 };	/* replica groups in full up to here */

typedef struct Printer {
	Module *m;
	const char *mesh;	/* "mesh['X'=2,'Y'=4]" */
	Text done;		/* computations that are complete */
	int ncomputations, nchannels;
	bool reducers[COMBINER_COUNT][DTYPE_COUNT];
	LineNote *note;
	void *note_data;
} Printer;

/* One line being printed: facts without an HLO word collect beside it. */
typedef struct Line {
	Printer *p;
	Text *t;
	Text facts;
} Line;

/* ---- words ---------------------------------------------------------- */

static void
text_escaped(Text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			text_printf(t, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			text_printf(t, "\\%03o", c);
		else
			text_addn(t, s, 1);
	}
}

static void
text_key(Text *t, const char *key, const char *value)
{
	text_printf(t, "%s=\"", key);
	text_escaped(t, value);
	text_add(t, "\"");
}

static void
text_list(Text *t, int n, const int64_t *v)
{
	text_add(t, "{");
	text_numbers(t, n, v, ",");
	text_add(t, "}");
}

static void
text_hlo_type(Text *t, const Type *type)
{
	text_printf(t, "%s[", dtypes[type->dtype].hlo);
	text_numbers(t, type->rank, type->dims, ",");
	text_add(t, "]");
}

static void
fact(Line *l, const char *key, const char *value)
{
	if (l->facts.n)
		text_add(&l->facts, ",");
	text_key(&l->facts, key, value);
}

/* A fact whose value is the text in `value`, which is freed. */
static void
fact_text(Line *l, const char *key, Text *value)
{
	fact(l, key, value->s ? value->s : "");
	text_free(value);
}

static void
reducer_name(Text *t, Combiner c, DType d)
{
	text_printf(t, "%s_%s", combiners[c].name, dtypes[d].name);
}

/* ---- literals ------------------------------------------------------- */

/* Whether a number is infinite once it is rounded to the dtype. */
static bool
overflows(DType d, double v)
{
	if (d == D_f16)
		return fabs(v) >= 65520;
	if (d == D_bf16)
		return fabs(v) >= 0x1.ffp127;
	return d == D_f32 && isinf((float)v);
}

/* The shortest digits that read back as the same number. */
static void
text_float(Text *t, DType d, double v)
{
	char digits[40];

	if (isnan(v)) {
		text_add(t, "nan");
		return;
	}
	if (isinf(v) || overflows(d, v)) {
		text_add(t, v < 0 ? "-inf" : "inf");
		return;
	}
	for (int precision = 1; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, v);
		double back = strtod(digits, NULL);
		if (d == D_f32 ? (float)back == (float)v : back == v)
			break;
	}
	text_add(t, digits);
}

static void
text_literal(Text *t, DType d, int64_t payload)
{
	if (d == D_pred)
		text_add(t, payload ? "true" : "false");
	else if (dtype_is_float(d))
		text_float(t, d, payload_double(payload));
	else
		text_printf(t, "%lld", (long long)payload);
}

/* ---- groups of devices ---------------------------------------------- */

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
		if (l->a[i].axis == axis && l->a[i].pre == pre &&
		    l->a[i].size > 1)
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
			text_printf(t, "%s%lld", i ? "," : "", (long long)
				tiling_device(tile, g * tile->members + i));
		text_add(t, "}");
	}
	text_add(t, "}");
}

static void
text_iota_groups(Text *t, const Tiling *tile)
{
	text_printf(t, "[%lld,%lld]<=[", (long long)tile->groups,
		(long long)tile->members);
	text_numbers(t, tile->n, tile->dims, ",");
	text_add(t, "]");
	if (tile->n < 2)
		return;
	text_add(t, "T(");
	for (int i = 0; i < tile->n; i++)
		text_printf(t, "%s%d", i ? "," : "", tile->perm[i]);
	text_add(t, ")");
}

static void
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
	text_printf(t, "%s{%lld,%lld}", *first ? "" : ",", (long long)from,
		(long long)to);
	*first = false;
}

/* By the sender where everyone sends, else by the receiver. */
static void
text_pairs(Text *t, const Mesh *m, const Op *op)
{
	bool first = true;

	text_add(t, "{");
	for (int64_t d = 0; d < m->ndevices; d++) {
		int64_t from = op->from ? d : permute_source(m, op, d);
		if (op->from)
			text_pair(t, &first, d, axes_with_index(m, op->axes, d,
				axes_index(m, op->from, d)));
		else if (from >= 0)
			text_pair(t, &first, from, d);
	}
	text_add(t, "}");
}

/* ---- placements ----------------------------------------------------- */

/* False for the debris that only the verifier ever sees. */
static bool
axis_is_sane(const Mesh *m, AxisRef a)
{
	return (int)a.axis < m->naxes && a.size >= 1 && a.pre >= 1 &&
		m->axes[a.axis].size % ((int64_t)a.pre * a.size) == 0;
}

static bool
list_is_sane(const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		if (!axis_is_sane(m, l->a[i]))
			return false;
	return true;
}

static bool
group_is_sane(const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < i; k++)
			if (!axis_can_coexist(l->a[i], l->a[k]))
				return false;
	return list_is_sane(m, l);
}

static bool
placement_is_sane(const Mesh *m, const Placement *p)
{
	int n = p->nreplicated + p->nunreduced;

	if (p->rank < 0 || p->rank > MAX_RANK || p->combiner >= COMBINER_COUNT)
		return false;
	for (int d = 0; d < p->rank; d++)
		n += p->count[d];
	if (n > MAX_PIECES)
		return false;
	AxisList all = {.n = n};
	memcpy(all.a, p->pieces, sizeof all.a);
	return list_is_sane(m, &all);
}

/* 'X', 'Y':(1)2 */
static void
text_refs(Text *t, const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		AxisRef a = l->a[i];
		text_printf(t, "%s'%s'", i ? ", " : "", m->axes[a.axis].name);
		if (!axis_is_whole(m, a))
			text_printf(t, ":(%d)%d", a.pre, a.size);
	}
}

static void
text_sharding(Text *t, const Printer *p, const Placement *placement)
{
	const Mesh *m = &p->m->mesh;
	AxisList replicated = placement_replicated(placement);
	AxisList unreduced = placement_unreduced(placement);

	text_printf(t, ", sharding={%s, [", p->mesh);
	for (int d = 0; d < placement->rank; d++) {
		AxisList axes = placement_dim(placement, d);
		text_add(t, d ? ", {" : "{");
		text_refs(t, m, &axes);
		if (placement_is_open(placement, d))
			text_add(t, axes.n ? ", ?" : "?");
		text_add(t, "}");
	}
	text_add(t, "]");
	if (replicated.n) {
		text_add(t, ", replicated={");
		text_refs(t, m, &replicated);
		text_add(t, "}");
	}
	if (unreduced.n) {
		text_add(t, ", unreduced={");
		text_refs(t, m, &unreduced);
		text_add(t, "}");
	}
	text_add(t, "}");
}

/* What the named sharding of HLO has no word for. */
static void
placement_facts(Line *l, const Placement *p)
{
	Text priorities = {0};
	bool any = false;

	for (int d = 0; d < p->rank; d++) {
		any |= p->priority[d] != 0;
		text_printf(&priorities, "%s%d", d ? "," : "", p->priority[d]);
	}
	if (any)
		fact(l, "priority", priorities.s);
	text_free(&priorities);
	if (p->all_replicated)
		fact(l, "replicated", "all");
	if (p->nunreduced && p->combiner != C_add)
		fact(l, "unreduced.combiner", combiners[p->combiner].name);
}

/* Whether a value's placement is what the reader assumes without a word. */
static bool
placement_is_implied(const Printer *p, const Value *v)
{
	const Placement *placement = &v->placement;
	Placement implied = p->m->level == L_global ?
		placement_open(placement->rank) :
		placement_none(placement->rank);

	return (p->m->level == L_global || !placement->rank ||
		block_manual(v->block)) && placement_same(placement, &implied);
}

/* In a device program the tensor's placement, with the tensor's sizes: XLA
   would take a sharding there for one still to be applied. */
static void
device_placement(Line *l, const Value *v)
{
	Text spec = {0};

	if (v->no_placement || (placement_is_implied(l->p, v) &&
	    !v->unpadded) ||
	    v->placement.rank != v->type.rank)
		return;
	text_value_spec(&spec, &l->p->m->mesh, v);
	fact_text(l, "placement", &spec);
}

static void
fact_number(Line *l, const char *key, int64_t n)
{
	Text value = {0};

	text_printf(&value, "%lld", (long long)n);
	fact_text(l, key, &value);
}

static void
fact_list(Line *l, const char *key, int n, const int64_t *v)
{
	Text value = {0};

	text_numbers(&value, n, v, ",");
	fact_text(l, key, &value);
}

static void
line_placement(Line *l, const Value *v)
{
	bool global = l->p->m->level == L_global;

	if (!placement_is_sane(&l->p->m->mesh, &v->placement))
		fact(l, "placement", "broken");
	else if (l->p->m->level == L_device)
		device_placement(l, v);
	else if (!placement_is_implied(l->p, v) ||
	    (global && v->annotated)) {
		text_sharding(l->t, l->p, &v->placement);
		placement_facts(l, &v->placement);
	}
	/* Before propagation a placement is there because it was written. */
	if (v->annotated && !global)
		fact(l, "annotated", v->annotated_open ? "open" : "true");
	if (v->index_limit)
		fact_number(l, "index_limit", v->index_limit);
	if (v->unpadded && l->p->m->level != L_device)
		fact_list(l, "unpadded", v->type.rank, v->unpadded);
}

/* ---- attributes of ops ---------------------------------------------- */

static void
print_slice(Text *t, const Op *op)
{
	const Ints *start = op_ints(op, A_start);
	const Ints *limit = op_ints(op, A_limit);
	const Ints *stride = op_ints(op, A_stride);

	text_add(t, ", slice={");
	for (int d = 0; d < start->n && d < limit->n && d < stride->n; d++) {
		text_printf(t, "%s[%lld:%lld", d ? ", " : "",
			(long long)start->v[d], (long long)limit->v[d]);
		if (stride->v[d] != 1)
			text_printf(t, ":%lld", (long long)stride->v[d]);
		text_add(t, "]");
	}
	text_add(t, "}");
}

static void
print_padding(Text *t, const Op *op)
{
	const Ints *low = op_ints(op, A_low), *high = op_ints(op, A_high);

	text_add(t, ", padding=");
	for (int d = 0; d < low->n && d < high->n; d++)
		text_printf(t, "%s%lld_%lld", d ? "x" : "",
			(long long)low->v[d], (long long)high->v[d]);
}

static void
print_to_apply(Line *l, Combiner c, DType d)
{
	l->p->reducers[c][d] = true;
	text_add(l->t, ", to_apply=%");
	reducer_name(l->t, c, d);
}

static void
print_int_fact(Line *l, const char *key, const Ints *v)
{
	if (v->n)
		fact_list(l, key, v->n, v->v);
}

static void
print_attr(Line *l, const Op *op, AttrKind attr)
{
	const AttrInfo *info = &attr_table[attr];
	const Ints *v = op_ints(op, attr);
	bool needed = attr == A_dims || attr == A_sizes;

	switch (info->form) {
	case FORM_LIST:
		if (!v->n && !needed)
			break;
		text_printf(l->t, ", %s=", info->hlo);
		text_list(l->t, v->n, v->v);
		break;
	case FORM_ONE:
		if (v->n)
			text_printf(l->t, ", %s=%lld", info->hlo,
				(long long)v->v[0]);
		break;
	case FORM_DIRECTION:
		if (v->n && v->v[0] >= DIR_EQ && v->v[0] <= DIR_GE)
			text_printf(l->t, ", %s=%s", info->hlo,
				direction_names[v->v[0]]);
		break;
	case FORM_COMBINER:
		if (v->n && v->v[0] >= 0 && v->v[0] < COMBINER_COUNT)
			print_to_apply(l, (Combiner)v->v[0],
				op->operands[0]->type.dtype);
		break;
	case FORM_SLICE:
		if (attr == A_start)
			print_slice(l->t, op);
		break;
	case FORM_PAD:
		if (attr == A_low)
			print_padding(l->t, op);
		break;
	case FORM_FACT:
	case FORM_FACTS:
		print_int_fact(l, info->hlo, v);
		break;
	case FORM_VALUE:
		break;
	}
}

static void
print_attrs(Line *l, const Op *op)
{
	for (int a = 0; a < ATTR_COUNT; a++)
		if (ops[op->kind].attrs >> a & 1)
			print_attr(l, op, (AttrKind)a);
}

/* A window as long as the dim that ends at each element.  The dim is a fact
   of its own, for one of size 1 has no window to tell it by. */
static void
print_cumsum(Line *l, const Op *op)
{
	const Type *type = &op->operands[0]->type;
	int64_t dim = op_ints(op, A_dim)->n ? op_int(op, A_dim) : -1;
	bool trivial = true;
	Text pad = {0};

	text_add(l->t, ", window={size=");
	for (int d = 0; d < type->rank; d++) {
		int64_t size = d == dim ? type->dims[d] : 1;
		trivial &= size == 1;
		text_printf(l->t, "%s%lld", d ? "x" : "", (long long)size);
		text_printf(&pad, "%s%lld_0", d ? "x" : "",
			(long long)(size - 1));
	}
	if (!trivial)
		text_printf(l->t, " pad=%s", pad.s);
	text_add(l->t, "}");
	text_free(&pad);
	print_to_apply(l, C_add, type->dtype);
	text_printf(&pad, "%lld", (long long)dim);
	fact_text(l, "dim", &pad);
}

static void
print_take(Line *l, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	int index_rank = op->operands[1]->type.rank;
	const Ints *attr = op_ints(op, A_dim);
	int64_t dim = attr->n ? attr->v[0] : -1;
	int64_t offsets[MAX_RANK], sizes[MAX_RANK];
	int noffsets = 0;

	for (int d = 0; d < x->rank; d++) {
		sizes[d] = d == dim ? 1 : x->dims[d];
		if (d != dim)
			offsets[noffsets++] = d < dim ? d : d - 1 + index_rank;
	}
	text_add(l->t, ", offset_dims=");
	text_list(l->t, noffsets, offsets);
	text_printf(l->t, ", collapsed_slice_dims={%lld}, start_index_map="
		"{%lld}, index_vector_dim=%d, slice_sizes=", (long long)dim,
		(long long)dim, index_rank);
	text_list(l->t, x->rank, sizes);
}

static void
axes_fact(Line *l, const char *key, const AxisList *axes)
{
	Text t = {0};

	text_axes(&t, &l->p->m->mesh, axes);
	fact_text(l, key, &t);
}

static void
print_collective(Line *l, const Op *op)
{
	const Mesh *m = &l->p->m->mesh;
	static const AxisList none = {0};
	const AxisList *axes = op->axes ? op->axes : &none;
	const AxisList *from = op->from ? op->from : &none;
	bool permute = op->kind == O_collective_permute;
	bool sources = op_ints(op, A_source)->n == axes_size(axes);

	text_printf(l->t, ", channel_id=%d", ++l->p->nchannels);
	if (!group_is_sane(m, axes) || !group_is_sane(m, from) ||
	    (permute && !op->from && !sources))
		return;
	if (permute) {
		text_add(l->t, ", source_target_pairs=");
		text_pairs(l->t, m, op);
		if (op->from)
			axes_fact(l, "from", from);
	} else {
		text_add(l->t, ", replica_groups=");
		text_groups(l->t, m, axes);
		if (op->kind != O_all_to_all && op->kind != O_ragged_all_to_all)
			text_add(l->t, ", use_global_device_ids=true");
	}
	axes_fact(l, "axes", axes);
	print_attrs(l, op);
}

/* Updates x[dim] += upd: what is left of upd's dims lies as in x. */
static void
print_scatter(Line *l, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	int index_rank = op->operands[1]->type.rank;
	const Ints *attr = op_ints(op, A_dim);
	int64_t dim = attr->n ? attr->v[0] : -1;
	int64_t window[MAX_RANK];
	int n = 0;

	for (int d = 0; d < x->rank; d++)
		if (d != dim)
			window[n++] = d < dim ? d : d - 1 + index_rank;
	text_add(l->t, ", update_window_dims=");
	text_list(l->t, n, window);
	text_printf(l->t, ", inserted_window_dims={%lld}, "
		"scatter_dims_to_operand_dims={%lld}, index_vector_dim=%d",
		(long long)dim, (long long)dim, index_rank);
	print_to_apply(l, C_add, x->dtype);
}

/* Computations of their own are printed before. */
static void
computation_done(Printer *p, const Text *t)
{
	if (p->done.n)
		text_add(&p->done, "\n");
	text_addn(&p->done, t->s, t->n);
}

static void
print_sort(Line *l, const Op *op)
{
	Text name = {0}, t = {0};

	text_printf(&name, "compare.%d", ++l->p->ncomputations);
	print_attr(l, op, A_dim);
	text_printf(l->t, ", is_stable=true, to_apply=%%%s", name.s);
	if (op->noperands && op_has(op, A_direction)) {
		text_comparator(&t, name.s, op);
		computation_done(l->p, &t);
	}
	text_free(&t);
	text_free(&name);
}

static void print_computation(Printer *p, const Block *b, const char *name);

static void
print_call(Line *l, const Op *op)
{
	Text name = {0};

	text_printf(&name, "%s.%d", op->composite ? op->composite : "body",
		++l->p->ncomputations);
	text_printf(l->t, ", to_apply=%%%s", name.s);
	for (int i = 0; i < op->nbodies; i++)
		print_computation(l->p, op->bodies[i], name.s);
	text_free(&name);
	if (!op->composite)
		return;
	text_add(l->t, ", is_composite=true");
	text_printf(&name, "shd.%s", op->composite);
	fact_text(l, "composite.name", &name);
	text_add(&l->facts, ",composite.attributes={}");
	fact(l, "composite.version", "1");
}

static void
spec_fact(Line *l, const Op *op, int i, const Value *v)
{
	Text key = {0}, value = {0};

	text_printf(&key, "spec.%d", i);
	if (placement_is_sane(&l->p->m->mesh, &op->specs[i]) &&
	    op->specs[i].rank == v->type.rank)
		text_type(&value, &l->p->m->mesh, &v->type, &op->specs[i]);
	fact_text(l, key.s, &value);
	text_free(&key);
}

/* The body's tensors are those of one device. */
static void
print_manual(Line *l, const Op *op)
{
	Text name = {0};

	text_printf(&name, "manual.%d", ++l->p->ncomputations);
	text_printf(l->t, ", called_computations={%%%s}", name.s);
	for (int i = 0; i < op->nbodies; i++)
		print_computation(l->p, op->bodies[i], name.s);
	text_free(&name);
	if (!op->axes || !op->specs)
		return;
	if (group_is_sane(&l->p->m->mesh, op->axes))
		axes_fact(l, "axes", op->axes);
	for (int i = 0; i < op->noperands; i++)
		spec_fact(l, op, i, op->operands[i]);
	for (int i = 0; i < op->nresults; i++)
		spec_fact(l, op, op->noperands + i, op->results[i]);
}

/* extern.declared="samples/swish.shd:7" */
static void
print_extern(Line *l, const Op *op)
{
	const External *x = op->external;
	Text declared = {0};

	if (!x)
		return;
	fact(l, "extern.name", x->name);
	fact(l, "extern.symbol", x->symbol);
	fact(l, "extern.library", x->library);
	fact(l, "extern.rule", x->rule);
	if (!x->declared.file)
		return;
	text_printf(&declared, "%s:%d", source_file(l->p->m->session,
		x->declared.file)->path, x->declared.line);
	fact_text(l, "extern.declared", &declared);
}

static void
print_bodies(Line *l, const Op *op)
{
	static const char *const names[OP_COUNT][2] = {
		[O_while] = {"cond", "body"},
		[O_if] = {"then", "else"},
	};
	int number = ++l->p->ncomputations;

	for (int i = 0; i < op->nbodies && i < 2; i++) {
		Text name = {0};
		text_printf(&name, "%s.%d", names[op->kind][i], number);
		text_printf(l->t, ", %s=%%%s", body_attrs[op->kind][i],
			name.s);
		print_computation(l->p, op->bodies[i], name.s);
		text_free(&name);
	}
	print_attrs(l, op);
}

typedef void AttrPrinter(Line *l, const Op *op);
static AttrPrinter *const special_attrs[OP_COUNT] = {
	[O_cumsum] = print_cumsum,
	[O_take] = print_take,
	[O_scatter_add] = print_scatter,
	[O_sort] = print_sort,
	[O_extern] = print_extern,
	[O_call] = print_call,
	[O_manual] = print_manual,
	[O_while] = print_bodies,
	[O_if] = print_bodies,
	[O_all_gather] = print_collective,
	[O_all_reduce] = print_collective,
	[O_reduce_scatter] = print_collective,
	[O_all_to_all] = print_collective,
	[O_collective_permute] = print_collective,
	[O_ragged_all_to_all] = print_collective,
};

void
text_attrs(Module *m, const Op *op, Text *t)
{
	Printer p = {.m = m};
	Line l = {.p = &p, .t = t};

	if (special_attrs[op->kind] && op->kind != O_sort && !op->nbodies)
		special_attrs[op->kind](&l, op);
	text_free(&l.facts);
}

/* ---- lines ---------------------------------------------------------- */

static void
print_metadata(Line *l, Range range, const char *label)
{
	const SourceFile *file = range.file ?
		source_file(l->p->m->session, range.file) : NULL;

	if (!file && !label)
		return;
	text_add(l->t, ", metadata={");
	if (label) {
		Text name = {0};
		text_printf(&name, "%s/%s", l->p->m->entry_name, label);
		text_key(l->t, "op_name", name.s);
		text_free(&name);
	}
	if (file) {
		text_add(l->t, label ? " " : "");
		text_key(l->t, "source_file", file->path);
		text_printf(l->t, " source_line=%d", range.line);
	}
	text_add(l->t, "}");
}

/* `what` is said to be on this line, if anything. */
static void
line_end(Line *l, Range range, const char *label, const void *what)
{
	if (l->facts.n)
		text_printf(l->t, ", frontend_attributes={%s}", l->facts.s);
	text_free(&l->facts);
	print_metadata(l, range, label);
	text_add(l->t, "\n");
	if (l->p->note && what)
		l->p->note(what, l->t, l->p->note_data);
}

static void
line_start(Line *l, const Value *v, bool root)
{
	text_printf(l->t, "  %s%%%s = ", root ? "ROOT " : "", v->name);
	text_hlo_type(l->t, &v->type);
}

/* What HLO calls the tuple of a body's parameters. */
static const char param_tuple[] = "body..in";

static void
print_param(Printer *p, Text *t, const Value *v, bool root)
{
	Line l = {.p = p, .t = t};

	line_start(&l, v, root);
	if (body_takes_tuple(v->block))
		text_printf(t, " get-tuple-element(%%%s), index=%d",
			param_tuple, v->index);
	else
		text_printf(t, " parameter(%d)", v->index);
	line_placement(&l, v);
	line_end(&l, v->range, NULL, v);
}

static void
print_operands(Text *t, const Op *op)
{
	text_add(t, "(");
	if (op->kind == O_constant)
		text_literal(t, op->results[0]->type.dtype,
			op_ints(op, A_value)->n ? op_int(op, A_value) : 0);
	for (int i = 0; i < op->noperands; i++)
		text_printf(t, "%s%%%s", i ? ", " : "", op->operands[i]->name);
	text_add(t, ")");
}

static void
text_tuple_type(Text *t, int n, Value *const *values)
{
	text_add(t, "(");
	for (int i = 0; i < n; i++) {
		text_add(t, i ? ", " : "");
		text_hlo_type(t, &values[i]->type);
	}
	text_add(t, ")");
}

static void
text_tuple(Text *t, int n, Value *const *values)
{
	text_tuple_type(t, n, values);
	text_add(t, " tuple(");
	for (int i = 0; i < n; i++)
		text_printf(t, "%s%%%s", i ? ", " : "", values[i]->name);
	text_add(t, ")");
}

/* The opcode, its operands and attributes. */
static void
print_call_of(Line *l, const Op *op, const char *tuple)
{
	const OpInfo *info = &ops[op->kind];

	text_printf(l->t, " %s", info->hlo);
	if (op->kind == O_while)
		text_printf(l->t, "(%%%s..in)", tuple);
	else if (op->kind == O_if && op->noperands)
		text_printf(l->t, "(%%%s, %%%s..in, %%%s..in)",
			op->operands[0]->name, tuple, tuple);
	else
		print_operands(l->t, op);
	if (info->target)
		text_printf(l->t, ", custom_call_target=\"%s\"", info->target);
	if (special_attrs[op->kind])
		special_attrs[op->kind](l, op);
	else
		print_attrs(l, op);
	if (op->mode == MODE_explicit)
		fact(l, "mode", "explicit");
}

static void
print_one_result(Printer *p, Text *t, const Op *op, bool root)
{
	Line l = {.p = p, .t = t};

	line_start(&l, op->results[0], root);
	print_call_of(&l, op, NULL);
	line_placement(&l, op->results[0]);
	if (op->requested)
		fact(&l, "requested", "true");
	line_end(&l, op->range, op->label, op);
}

static const char *
tuple_name(Printer *p, const Op *op)
{
	if (op->nresults)
		return op->results[0]->name;
	return arena_printf(p->m->arena, "%s..%d", ops[op->kind].name,
		++p->ncomputations);
}

/* %h..in = (f32[8]) tuple(%x) */
static void
print_carried(Text *t, const Op *op, const char *name)
{
	int first = op->kind == O_if;

	if (ops[op->kind].bodies != 2 || op->noperands < first)
		return;
	text_printf(t, "  %%%s..in = ", name);
	text_tuple(t, op->noperands - first, op->operands + first);
	text_add(t, "\n");
}

/* Where v is from, if that is not where op is. */
static Range
own_range(const Op *op, const Value *v)
{
	bool same = v->range.file == op->range.file &&
		v->range.line == op->range.line;

	return same ? (Range){0} : v->range;
}

/*
 * Several results, and whatever bodies are given and give, are tuples in HLO.
 * Two dots keep the names of tuples apart from those of values.
 */
static void
print_results(Printer *p, Text *t, const Op *op, const Value *root)
{
	Line l = {.p = p, .t = t};
	const char *name = tuple_name(p, op);
	const char *part = op->kind == O_while ? "loop" : "out";

	print_carried(t, op, name);
	text_printf(t, "  %%%s..%s = ", name, part);
	text_tuple_type(t, op->nresults, op->results);
	print_call_of(&l, op, name);
	line_end(&l, op->range, op->label, op);
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		line_start(&l, v, v == root);
		text_printf(t, " get-tuple-element(%%%s..%s), index=%d", name,
			part, i);
		line_placement(&l, v);
		line_end(&l, own_range(op, v), NULL, NULL);
	}
}

static void
print_op(Printer *p, Text *t, const Op *op, const Value *root)
{
	if (ops[op->kind].bodies == 2 || op->nresults != 1)
		print_results(p, t, op, root);
	else
		print_one_result(p, t, op, op->results[0] == root);
}

static void
print_return(Printer *p, Text *t, const Op *op)
{
	Line l = {.p = p, .t = t};

	text_add(t, "  ROOT %return = ");
	text_tuple(t, op->noperands, op->operands);
	line_end(&l, op->range, op->label, op);
}

/* ---- computations --------------------------------------------------- */

bool
body_takes_tuple(const Block *b)
{
	return b->parent && ops[b->parent->kind].bodies == 2;
}

/* The value that a computation is, NULL where it is a tuple: the entry and
   the bodies of while, if and manual, even of one value. */
static const Value *
root_of(const Block *b)
{
	const Op *last = b->last, *parent = b->parent;
	bool condition = parent && parent->kind == O_while &&
		parent->bodies[0] == b;

	if (!parent || !last || last->kind != O_return ||
	    last->noperands != 1 || parent->kind == O_manual ||
	    (body_takes_tuple(b) && !condition))
		return NULL;
	return last->operands[0];
}

static void
print_signature(Text *t, const Block *b)
{
	const Op *last = b->last;
	const Value *root = root_of(b);

	if (body_takes_tuple(b)) {
		text_printf(t, " (%s: ", param_tuple);
		text_tuple_type(t, b->nparams, b->params);
	} else {
		text_add(t, " (");
		for (int i = 0; i < b->nparams; i++) {
			text_printf(t, "%s%s: ", i ? ", " : "",
				b->params[i]->name);
			text_hlo_type(t, &b->params[i]->type);
		}
	}
	text_add(t, ") -> ");
	if (root)
		text_hlo_type(t, &root->type);
	else if (last && last->kind == O_return)
		text_tuple_type(t, last->noperands, last->operands);
	else
		text_add(t, "()");
	text_add(t, " {\n");
}

static void
print_params(Printer *p, Text *t, const Block *b, const Value *root)
{
	if (body_takes_tuple(b)) {
		text_printf(t, "  %%%s = ", param_tuple);
		text_tuple_type(t, b->nparams, b->params);
		text_add(t, " parameter(0)\n");
	}
	for (int i = 0; i < b->nparams; i++)
		print_param(p, t, b->params[i], b->params[i] == root);
}

static void
print_computation(Printer *p, const Block *b, const char *name)
{
	const Value *root = root_of(b);
	Text t = {0};

	text_printf(&t, "%s%%%s", b->parent ? "" : "ENTRY ", name);
	print_signature(&t, b);
	print_params(p, &t, b, root);
	for (const Op *op = b->first; op; op = op->next) {
		if (op->kind != O_return)
			print_op(p, &t, op, root);
		else if (!root)
			print_return(p, &t, op);
		else if (p->note)
			p->note(op, &t, p->note_data);
	}
	text_add(&t, "}\n");
	computation_done(p, &t);
	text_free(&t);
}

static void
print_reducer(Text *t, Combiner c, DType d)
{
	Text name = {0};
	const char *type = dtypes[d].hlo;

	reducer_name(&name, c, d);
	text_printf(t, "\n%%%s (%s.a: %s[], %s.b: %s[]) -> %s[] {\n", name.s,
		name.s, type, name.s, type, type);
	text_printf(t, "  %%%s.a = %s[] parameter(0)\n", name.s, type);
	text_printf(t, "  %%%s.b = %s[] parameter(1)\n", name.s, type);
	text_printf(t, "  ROOT %%%s.of = %s[] %s(%%%s.a, %%%s.b)\n}\n",
		name.s, type, combiners[c].hlo, name.s, name.s);
	text_free(&name);
}

/* The name of the entry's computation; not that of a reducer. */
static void
entry_computation(Text *name, const Printer *p)
{
	text_add(name, p->m->entry_name);
	for (int c = 0; c < COMBINER_COUNT; c++)
		for (int d = 0; d < DTYPE_COUNT; d++) {
			Text reducer = {0};
			reducer_name(&reducer, (Combiner)c, (DType)d);
			if (!strcmp(reducer.s, p->m->entry_name))
				text_add(name, ".entry");
			text_free(&reducer);
		}
}

/* ---- the module ----------------------------------------------------- */

static const char *
mesh_text(Module *m)
{
	Text t = {0};

	text_add(&t, "mesh[");
	for (int i = 0; i < m->mesh.naxes; i++)
		text_printf(&t, "%s'%s'=%lld", i ? "," : "",
			m->mesh.axes[i].name,
			(long long)m->mesh.axes[i].size);
	text_add(&t, "]");
	return text_take(&t, m->arena);
}

/* Each fact of the module on a line of its own. */
static void
module_fact(Text *t, const char *key, const char *value)
{
	text_add(t, ",\n  ");
	text_key(t, key, value);
}

static void
mesh_facts(Text *t, const Mesh *m)
{
	Text value = {0};

	for (int i = 0; i < m->naxes; i++)
		text_printf(&value, "%s%s=%lld", i ? "," : "",
			m->axes[i].name, (long long)m->axes[i].size);
	module_fact(t, "mesh", value.s ? value.s : "");
	module_fact(t, "target", m->target->name);
	text_free(&value);
	if (!m->topology_rank)
		return;
	text_numbers(&value, m->topology_rank, m->topology, "x");
	module_fact(t, "topology", value.s);
	text_free(&value);
}

/* result.out="%out f32[8@X]"; without a value where its op is gone. */
static void
named_fact(Text *t, const Mesh *m, const char *kind, const Named *n)
{
	Text key = {0}, value = {0};

	text_printf(&key, "%s.%s", kind, n->name);
	if (n->value && n->value->block)
		text_printf(&value, "%%%s ", n->value->name);
	if (placement_is_sane(m, &n->placement))
		text_type(&value, m, &n->type, &n->placement);
	module_fact(t, key.s, value.s ? value.s : "");
	text_free(&key);
	text_free(&value);
}

/* expect.0="%h [8@X, 64] h ffn.shd:7" */
static void
expect_fact(Text *t, Module *m, int i)
{
	const Expect *e = &m->expects[i];
	Text key = {0}, value = {0};

	if (!e->value->block || !placement_is_sane(&m->mesh, &e->placement))
		return;
	text_printf(&key, "expect.%d", i);
	text_printf(&value, "%%%s ", e->value->name);
	text_type(&value, &m->mesh, &e->value->type, &e->placement);
	text_printf(&value, " as %s at %d", e->name, e->range.line);
	if (e->range.file)
		text_printf(&value, " %s",
			source_file(m->session, e->range.file)->path);
	module_fact(t, key.s, value.s);
	text_free(&key);
	text_free(&value);
}

static const char *const level_names[] = {
	[L_global] = "global", [L_sharded] = "sharded",
	[L_resharded] = "resharded", [L_device] = "device",
};

static void
print_header(Printer *p, Text *t)
{
	Module *m = p->m;

	text_printf(t, "HloModule %s, num_partitions=%lld, "
		"frontend_attributes={\n  ", m->name,
		(long long)m->mesh.ndevices);
	text_key(t, "level", level_names[m->level]);
	if (m->last_pass[0])
		module_fact(t, "last_pass", m->last_pass);
	module_fact(t, "entry", m->entry_name);
	mesh_facts(t, &m->mesh);
	for (int i = 0; i < m->nresults; i++)
		named_fact(t, &m->mesh, "result", &m->results[i]);
	for (int i = 0; i < m->nnamed; i++)
		named_fact(t, &m->mesh, "value", &m->named[i]);
	for (int i = 0; i < m->nexpects; i++)
		expect_fact(t, m, i);
	text_add(t, "}\n");
	if (p->note)
		p->note(NULL, t, p->note_data);
}

void
module_print_noted(Module *m, Text *t, LineNote *note, void *data)
{
	Printer p = {.m = m, .note = note, .note_data = data};
	Text entry = {0};

	p.mesh = mesh_text(m);
	entry_computation(&entry, &p);
	print_computation(&p, m->entry, entry.s);
	print_header(&p, t);
	for (int c = 0; c < COMBINER_COUNT; c++)
		for (int d = 0; d < DTYPE_COUNT; d++)
			if (p.reducers[c][d])
				print_reducer(t, (Combiner)c, (DType)d);
	text_add(t, "\n");
	text_addn(t, p.done.s, p.done.n);
	text_free(&p.done);
	text_free(&entry);
}

void
module_print(Module *m, Text *t)
{
	module_print_noted(m, t, NULL, NULL);
}
