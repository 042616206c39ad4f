/*
 * attrs_print.c - the attributes of an op.
 */
#include "hlo/print.h"

static void
print_slice(Text *t, const Op *op)
{
	const Ints *start = op_ints(op, A_start);
	const Ints *limit = op_ints(op, A_limit);
	const Ints *stride = op_ints(op, A_stride);

	text_add(t, ", slice={");
	for (int d = 0; d < start->n && d < limit->n && d < stride->n; d++) {
		text_printf(t, "%s[%lld:%lld", d ? ", " : "", (long long)start->v[d],
			(long long)limit->v[d]);
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
		text_printf(t, "%s%lld_%lld", d ? "x" : "", (long long)low->v[d],
			(long long)high->v[d]);
}

static void
print_to_apply(Line *l, Combiner c, DType d)
{
	l->p->reducers[c][d] = true;
	text_add(l->t, ", to_apply=%");
	text_reducer(l->t, c, d);
}

static void
print_int_fact(Line *l, const char *key, const Ints *v)
{
	if (v->n)
		line_fact_list(l, key, v->n, v->v);
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
			text_printf(l->t, ", %s=%lld", info->hlo, (long long)v->v[0]);
		break;
	case FORM_DIRECTION:
		if (v->n && v->v[0] >= DIR_EQ && v->v[0] <= DIR_GE)
			text_printf(l->t, ", %s=%s", info->hlo, direction_names[v->v[0]]);
		break;
	case FORM_COMBINER:
		if (v->n && v->v[0] >= 0 && v->v[0] < COMBINER_COUNT)
			print_to_apply(l, (Combiner)v->v[0], op->operands[0]->type.dtype);
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

/* The dim an op works along; -1: it does not say. */
static int64_t
attr_dim(const Op *op)
{
	return op_ints(op, A_dim)->n ? op_int(op, A_dim) : -1;
}

/* A window as long as the dim that ends at each element.  The dim is a fact
   of its own, for one of size 1 has no window to tell it by. */
static void
print_cumsum(Line *l, const Op *op)
{
	const Type *type = &op->operands[0]->type;
	int64_t dim = attr_dim(op);
	bool trivial = true;
	Text pad = {0};

	text_add(l->t, ", window={size=");
	for (int d = 0; d < type->rank; d++) {
		int64_t size = d == dim ? type->dims[d] : 1;
		trivial &= size == 1;
		text_printf(l->t, "%s%lld", d ? "x" : "", (long long)size);
		text_printf(&pad, "%s%lld_0", d ? "x" : "", (long long)(size - 1));
	}
	if (!trivial)
		text_printf(l->t, " pad=%s", pad.s);
	text_add(l->t, "}");
	text_free(&pad);
	print_to_apply(l, C_add, type->dtype);
	text_printf(&pad, "%lld", (long long)dim);
	line_fact_text(l, "dim", &pad);
}

/* Where the other dims of x are in take(x, idx, dim), or in such updates. */
static void
print_kept_dims(Line *l, const char *attr, const Op *op)
{
	int index_rank = op->operands[1]->type.rank;
	int64_t kept[MAX_RANK], dim = attr_dim(op);
	int n = 0;

	for (int d = 0; d < op->operands[0]->type.rank; d++)
		if (d != dim)
			kept[n++] = d < dim ? d : d - 1 + index_rank;
	text_printf(l->t, ", %s=", attr);
	text_list(l->t, n, kept);
}

static void
print_take(Line *l, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	int index_rank = op->operands[1]->type.rank;
	int64_t dim = attr_dim(op);
	int64_t sizes[MAX_RANK];

	for (int d = 0; d < x->rank; d++)
		sizes[d] = d == dim ? 1 : x->dims[d];
	print_kept_dims(l, "offset_dims", op);
	text_printf(l->t,
		", collapsed_slice_dims={%lld}, start_index_map="
		"{%lld}, index_vector_dim=%d, slice_sizes=",
		(long long)dim, (long long)dim, index_rank);
	text_list(l->t, x->rank, sizes);
}

static void
axes_fact(Line *l, const char *key, const AxisList *axes)
{
	Text t = {0};

	text_axes(&t, &l->p->m->mesh, axes);
	line_fact_text(l, key, &t);
}

static void
print_collective(Line *l, const Op *op)
{
	const Mesh *m = &l->p->m->mesh;
	static const AxisList none = {0};
	const AxisList *axes = op->axes ? op->axes : &none;
	const AxisList *from = op->from ? op->from : &none;
	bool permute = collectives[op->kind].route == ROUTE_pairs;
	bool sources = op_ints(op, A_source)->n == axes_size(axes);

	text_printf(l->t, ", channel_id=%d", ++l->p->nchannels);
	if (!group_is_sane(m, axes) || !group_is_sane(m, from)
		|| (permute && !op->from && !sources))
		return;
	if (permute) {
		text_add(l->t, ", source_target_pairs=");
		text_pairs(l->t, m, op);
		if (op->from)
			axes_fact(l, "from", from);
	} else {
		text_add(l->t, ", replica_groups=");
		text_groups(l->t, m, axes);
		if (collectives[op->kind].global)
			text_add(l->t, ", use_global_device_ids=true");
	}
	axes_fact(l, "axes", axes);
	print_attrs(l, op);
}

static void
print_scatter(Line *l, const Op *op)
{
	int64_t dim = attr_dim(op);

	print_kept_dims(l, "update_window_dims", op);
	text_printf(l->t,
		", inserted_window_dims={%lld}, "
		"scatter_dims_to_operand_dims={%lld}, index_vector_dim=%d",
		(long long)dim, (long long)dim, op->operands[1]->type.rank);
	print_to_apply(l, C_add, op->operands[0]->type.dtype);
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
	line_fact_text(l, "composite.name", &name);
	text_add(&l->facts, ",composite.attributes={}");
	line_fact(l, "composite.version", "1");
}

static void
spec_fact(Line *l, const Op *op, int i, const Value *v)
{
	Text key = {0}, value = {0};

	text_printf(&key, "spec.%d", i);
	if (placement_is_sane(&l->p->m->mesh, &op->specs[i])
		&& op->specs[i].rank == v->type.rank)
		text_type(&value, &l->p->m->mesh, &v->type, &op->specs[i]);
	line_fact_text(l, key.s, &value);
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
	line_fact(l, "extern.name", x->name);
	line_fact(l, "extern.symbol", x->symbol);
	line_fact(l, "extern.library", x->library);
	line_fact(l, "extern.rule", x->rule);
	if (!x->declared.file)
		return;
	text_printf(&declared, "%s:%d", source_file(l->p->m->session, x->declared.file)->path,
		x->declared.line);
	line_fact_text(l, "extern.declared", &declared);
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
		text_printf(l->t, ", %s=%%%s", body_attrs[op->kind][i], name.s);
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
};

void
print_op_attrs(Line *l, const Op *op)
{
	AttrPrinter *special = special_attrs[op->kind];

	(op_communicates(op) ? print_collective : special ? special : print_attrs)(l, op);
}

void
text_attrs(Module *m, const Op *op, Text *t)
{
	Printer p = {.m = m};
	Line l = {.p = &p, .t = t};

	if (op_communicates(op))
		print_collective(&l, op);
	else if (special_attrs[op->kind] && op->kind != O_sort && !op->nbodies)
		special_attrs[op->kind](&l, op);
	text_free(&l.facts);
}
