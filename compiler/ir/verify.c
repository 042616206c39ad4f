/*
 * verify.c - whether a module is what its level promises.
 *
 * Every failure is collected; module_verify() prints the module with each
 * message under its line.  After a pass a failure is our bug; of a module
 * that was read from a file the same checks are the user's diagnostics, so
 * nothing here trusts what it has not checked.
 *
 * What each level adds is in README.md.  Linear in ops.
 */
#include <ctype.h>
#include <string.h>
#include "ir/hlo.h"
#include "ir/ir.h"

typedef struct Checker {
	Module *m;
	Report *report;
	void *data;
	Arena *arena;		/* for this check only */
	Arena *scratch;		/* for one op */
	RuleBook *rules;
	Table *names;
	Value **seen;		/* by id: values defined so far */
	const void *line;	/* what is being checked */
	AxisList manual;	/* axes of the regions around */
	int failures;
} Checker;

static void fail(Checker *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void
fail(Checker *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	c->report(c->line, arena_vprintf(c->m->arena, fmt, ap), c->data);
	va_end(ap);
	c->failures++;
}

/* ---- axes and placements -------------------------------------------- */

static const char *
axes_text(Checker *c, const AxisList *l)
{
	Text t = {0};

	text_axes(&t, &c->m->mesh, l);
	const char *s = arena_strndup(c->m->arena, t.s ? t.s : "", t.n);
	text_free(&t);
	return s;
}

static bool
check_axis(Checker *c, const char *what, AxisRef a)
{
	const Mesh *m = &c->m->mesh;

	if ((int)a.axis >= m->naxes) {
		fail(c, "%s: the mesh has no axis %d", what, a.axis);
		return false;
	}
	if (a.pre >= 1 && a.size >= 1 &&
	    m->axes[a.axis].size % ((int64_t)a.pre * a.size) == 0 &&
	    (a.size > 1 || axis_is_whole(m, a)))
		return true;
	fail(c, "%s: %s:(%d)%d is not a part of an axis of size %lld", what,
		m->axes[a.axis].name, a.pre, a.size,
		(long long)m->axes[a.axis].size);
	return false;
}

/* Each axis, or part of one, at most once; parts on one common refinement. */
static bool
check_axes(Checker *c, const char *what, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		if (!check_axis(c, what, l->a[i]))
			return false;
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < i; k++)
			if (!axis_can_coexist(l->a[k], l->a[i])) {
				AxisList both = {2, {l->a[k], l->a[i]}};
				fail(c, "%s: %s cannot be used together",
					what, axes_text(c, &both));
				return false;
			}
	return true;
}

/* The axes themselves, whatever the tensor. */
static bool
check_placement(Checker *c, const char *name, const Placement *p, int rank)
{
	if (p->rank != rank) {
		fail(c, "%s has %d dims, its placement %d", name, rank,
			p->rank);
		return false;
	}
	AxisList all = {.n = placement_pieces(p)};
	if (all.n > MAX_PIECES || p->combiner >= COMBINER_COUNT) {
		fail(c, "the placement of %s is broken", name);
		return false;
	}
	memcpy(all.a, p->pieces, sizeof all.a);
	return check_axes(c, name, &all);
}

static void
check_divides(Checker *c, const Value *v)
{
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(&v->placement, d);
		if (v->type.dims[d] % axes_size(&axes))
			fail(c, "dim %d of %s has size %lld, which %s (%lld "
				"ways) does not divide", d, v->name,
				(long long)v->type.dims[d],
				axes_text(c, &axes),
				(long long)axes_size(&axes));
	}
}

static void
check_value_placement(Checker *c, const Value *v)
{
	if (c->m->level == L_device && v->no_placement)
		return;
	if (!check_placement(c, v->name, &v->placement, v->type.rank))
		return;
	if (c->m->level != L_global && v->placement.open)
		fail(c, "%s has an open dim after propagation", v->name);
	if (c->m->level == L_sharded || c->m->level == L_resharded)
		check_divides(c, v);
	for (int i = 0; i < c->manual.n; i++)
		if (placement_uses(&v->placement, c->manual.a[i]))
			fail(c, "%s is one device's along %s, which places it",
				v->name, axes_text(c, &c->manual));
}

/* ---- values --------------------------------------------------------- */

static void
check_type(Checker *c, const char *name, const Type *t)
{
	if (t->rank < 0 || t->rank > MAX_RANK || t->dtype >= DTYPE_COUNT) {
		fail(c, "the type of %s is broken", name);
		return;
	}
	int64_t bytes = dtypes[t->dtype].bytes;
	for (int d = 0; d < t->rank; d++)
		if (t->dims[d] < 1 || !mul_i64(bytes, t->dims[d], &bytes)) {
			fail(c, "%s: dim %d has size %lld", name, d,
				(long long)t->dims[d]);
			return;
		}
}

static bool
name_is_clean(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (const char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' &&
		    (*s != '.' || s[1] == '.'))
			return false;
	return !hlo_reserved(name);
}

static void
check_value(Checker *c, Value *v, const Op *def, const Block *block, int index)
{
	if (!v->name || !name_is_clean(v->name)) {
		fail(c, "'%s' is not a name", v->name ? v->name : "");
		return;
	}
	if (!table_add(c->names, v->name, v))
		fail(c, "the name %s is used twice", v->name);
	if (v->def != def || v->block != block || v->index != index)
		fail(c, "%s does not know where it is defined", v->name);
	int before = c->failures;
	check_type(c, v->name, &v->type);
	if (c->failures == before)
		check_value_placement(c, v);
	c->seen[v->id] = v;
}

/* Defined earlier in the op's own block, for bodies are closed. */
static bool
is_visible(const Checker *c, const Op *op, const Value *v)
{
	return v->id >= 0 && v->id < c->m->nvalues && c->seen[v->id] == v &&
		v->block == op->block;
}

/* ---- ops by the table ----------------------------------------------- */

static void
check_operands(Checker *c, const Op *op)
{
	int wanted = ops[op->kind].operands;

	if (wanted >= 0 && op->noperands != wanted)
		fail(c, "%s has %d operands, not %d", ops[op->kind].name,
			op->noperands, wanted);
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (!v)
			fail(c, "operand %d is missing", i);
		else if (!is_visible(c, op, v))
			fail(c, "operand %d, %s, is not defined before this",
				i, v->name);
	}
}

static void
check_attrs(Checker *c, const Op *op)
{
	for (int a = 0; a < ATTR_COUNT; a++) {
		bool wanted = ops[op->kind].attrs >> a & 1;
		AttrForm form = attr_table[a].form;
		bool one = form == FORM_ONE || form == FORM_DIRECTION ||
			form == FORM_COMBINER || form == FORM_VALUE ||
			form == FORM_FACT || a == A_dim;
		bool optional = form == FORM_FACT || form == FORM_FACTS;
		if (wanted && optional && !op_has(op, a))
			continue;
		if (wanted != op_has(op, a))
			fail(c, "%s %s attribute %s", ops[op->kind].name,
				wanted ? "lacks its" : "has no",
				attr_table[a].name);
		else if (wanted && one && op_ints(op, a)->n != 1)
			fail(c, "attribute %s has %d entries, not 1",
				attr_table[a].name, op_ints(op, a)->n);
	}
}

static void
check_counts(Checker *c, const Op *op)
{
	bool is_return = op->kind == O_return;
	if (!ops[op->kind].many && op->nresults != !is_return)
		fail(c, "%s has %d results", ops[op->kind].name, op->nresults);
	if (op->nbodies != ops[op->kind].bodies)
		fail(c, "%s has %d bodies, not %d", ops[op->kind].name,
			op->nbodies, ops[op->kind].bodies);
	if (is_return && op->next)
		fail(c, "something follows the return of its block");
	if (!is_return && !op->next)
		fail(c, "the block ends without a return");
}

static void
check_result_types(Checker *c, const Op *op)
{
	Type *types = NEW_ARRAY(c->scratch, Type, op->nresults + 1);
	const char *wrong = ops[op->kind].types(op, c->scratch, types);

	if (wrong)
		fail(c, "%s", wrong);
	for (int i = 0; i < op->nresults && !wrong; i++)
		if (!type_equal(&types[i], &op->results[i]->type))
			fail(c, "%s makes %s, but %s is %s",
				ops[op->kind].name, type_shape(c->scratch, &types[i]),
				op->results[i]->name,
				type_shape(c->scratch,
				&op->results[i]->type));
}

/* ---- ops by the level ----------------------------------------------- */

static bool
is_device_only(const OpInfo *info, OpKind kind)
{
	return info->collective || kind == O_partition_id;
}

static bool
is_placement_op(OpKind kind)
{
	return kind == O_constraint || kind == O_reshard ||
		kind == O_barrier || kind == O_shard_like;
}

static void
check_level(Checker *c, const Op *op)
{
	const OpInfo *info = &ops[op->kind];

	bool device = c->m->level == L_device;

	if (device && (is_placement_op(op->kind) || op->kind == O_manual ||
	    op->kind == O_roll))
		fail(c, "%s in a device program", info->name);
	if (!device && !block_manual(op->block) && is_device_only(info, op->kind))
		fail(c, "%s outside a device program", info->name);
}

/* A spec is closed and uses no axes but the region's. */
static void
check_spec(Checker *c, const Op *op, const char *name, const Value *v,
	const Placement *spec)
{
	if (!check_placement(c, name, spec, v->type.rank))
		return;
	if (spec->open)
		fail(c, "the spec of %s is open", name);
	for (int a = 0; a < c->m->mesh.naxes; a++) {
		AxisRef axis = axis_whole(&c->m->mesh, a);
		if (placement_uses(spec, axis) && !axes_overlap(op->axes, axis))
			fail(c, "the spec of %s has axis %s, which is not "
				"manual", name, c->m->mesh.axes[a].name);
	}
}

static void
check_manual(Checker *c, const Op *op)
{
	if (!op->axes || !op->specs) {
		fail(c, "manual without its axes and specs");
		return;
	}
	if (!check_axes(c, "axes", op->axes))
		return;
	for (int i = 0; i < op->axes->n; i++)
		if (axes_overlap(&c->manual, op->axes->a[i]))
			fail(c, "manual along %s, and so is a region around it",
				axes_text(c, op->axes));
	for (int i = 0; i < op->noperands; i++)
		check_spec(c, op, op->operands[i]->name, op->operands[i],
			&op->specs[i]);
	for (int i = 0; i < op->nresults; i++)
		check_spec(c, op, op->results[i]->name, op->results[i],
			&op->specs[op->noperands + i]);
}

/* Marks the devices' digits that a list covers: two lists that cover the same
   ones permute the same group. */
static bool
covers(const AxisList *l, AxisRef a)
{
	int64_t covered = 1;

	for (int i = 0; i < l->n; i++) {
		if (l->a[i].axis != a.axis)
			continue;
		int64_t from = l->a[i].pre > a.pre ? l->a[i].pre : a.pre;
		int64_t end = (int64_t)l->a[i].pre * l->a[i].size;
		int64_t limit = (int64_t)a.pre * a.size;
		if (end > limit)
			end = limit;
		if (end > from)
			covered *= end / from;
	}
	return covered >= a.size;
}

static bool
covers_all(const AxisList *l, const AxisList *wanted)
{
	for (int i = 0; i < wanted->n; i++)
		if (!covers(l, wanted->a[i]))
			return false;
	return true;
}

static void
append_pieces(AxisList *l, const AxisList *more)
{
	for (int i = 0; i < more->n && l->n < MAX_PIECES; i++)
		l->a[l->n++] = more->a[i];
}

static void
check_collective(Checker *c, const Op *op)
{
	bool permute = op->kind == O_collective_permute;

	if (!op->axes || (permute && !op->from == !op_has(op, A_source))) {
		fail(c, "%s without its axes", ops[op->kind].name);
		return;
	}
	if (!check_axes(c, "axes", op->axes) || !op->from ||
	    !check_axes(c, "from", op->from))
		return;
	if (axes_size(op->axes) != axes_size(op->from))
		fail(c, "axes and from have different sizes");
	for (int i = 0; i < op->from->n; i++)
		if (!covers(op->axes, op->from->a[i]))
			fail(c, "axes and from do not move the same axes");
}

/* ---- factors: what an op needs to run on shards --------------------- */

/* Axes of size 1 split nothing; the parts of an axis that one stood between
   are joined. */
static AxisList
drop_unit_axes(const AxisList *l)
{
	AxisList rest = {0};

	for (int i = 0; i < l->n; i++)
		if (l->a[i].size > 1)
			axes_append(&rest, l->a[i]);
	return rest;
}

/* The axes of a dim shared out among its factors, major to minor. */
static bool
project_dim(const Rule *r, const DimFactors *dim, AxisList axes,
	AxisList *of_factor)
{
	for (int i = 0; i < dim->n; i++) {
		int64_t size = r->factors[dim->f[i]].size;
		AxisList *mine = &of_factor[i];
		AxisList rest = {0};
		if (size % axes_size(&axes) == 0) {
			*mine = axes;
			axes = rest;
		} else if (axes_take(&axes, size, mine, &rest)) {
			axes = rest;
		} else {
			return false;
		}
	}
	return axes_size(&axes) == 1;
}

typedef struct FactorAxes {
	bool known;
	AxisList axes;
} FactorAxes;

/* One answer for a factor over all tensors that have it. */
static void
meet_factor(Checker *c, FactorAxes *f, const AxisList *axes,
	const char *tensor, int dim)
{
	if (!f->known) {
		f->known = true;
		f->axes = *axes;
	} else if (!axes_equal(&f->axes, axes)) {
		fail(c, "dim %d of %s is split over '%s' where another tensor "
			"of the op has '%s'", dim, tensor, axes_text(c, axes),
			axes_text(c, &f->axes));
	}
}


static void
meet_tensor(Checker *c, const Rule *r, const Op *op, int tensor, FactorAxes *f)
{
	const Value *v = rule_tensor(op, tensor);
	AxisList of_factor[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++) {
		const DimFactors *dim = &r->dims[tensor][d];
		AxisList axes = placement_dim(&v->placement, d);
		axes = drop_unit_axes(&axes);
		memset(of_factor, 0, (size_t)dim->n * sizeof of_factor[0]);
		if (!project_dim(r, dim, axes, of_factor)) {
			fail(c, "dim %d of %s cannot be split over '%s' here",
				d, v->name, axes_text(c, &axes));
			continue;
		}
		for (int i = 0; i < dim->n; i++)
			if (r->factors[dim->f[i]].size > 1)
				meet_factor(c, &f[dim->f[i]], &of_factor[i],
					v->name, d);
	}
}

/* Splitting a reduction leaves partial results. */
static void
check_factor(Checker *c, const Op *op, const Rule *r, const Factor *factor,
	const AxisList *axes)
{
	const Placement *result = &op->results[0]->placement;
	AxisList unreduced = placement_unreduced(result);

	if (factor->kind == F_replicate) {
		if (axes->n)
			fail(c, "%s along a dim split over %s",
				ops[op->kind].name, axes_text(c, axes));
		return;
	}
	if (factor->kind != F_reduce)
		return;
	for (int i = 0; i < axes->n; i++)
		if (!covers(&unreduced, axes->a[i]) ||
		    result->combiner != r->combiner)
			fail(c, "the partial results over %s are lost",
				axes_text(c, axes));
}

/* Which operands may hold partial sums, and of which combiner. */
static bool
takes_partial(const Op *op, int operand, Combiner *combiner)
{
	static const struct {
		bool first_only, any;
		Combiner combiner;
	} kinds[] = {
		[PARTIAL_none] = {.any = false},
		[PARTIAL_move] = {.any = true},
		[PARTIAL_add] = {.combiner = C_add},
		[PARTIAL_scale] = {.first_only = true, .combiner = C_add},
		[PARTIAL_bilinear] = {.combiner = C_add},
		[PARTIAL_max] = {.combiner = C_max},
		[PARTIAL_min] = {.combiner = C_min},
		[PARTIAL_and] = {.combiner = C_and},
		[PARTIAL_or] = {.combiner = C_or},
		[PARTIAL_reduce] = {.first_only = true},
	};
	PartialKind kind = ops[op->kind].partial;
	Combiner own = (Combiner)op->operands[operand]->placement.combiner;

	*combiner = kinds[kind].any ? own : kind == PARTIAL_reduce ?
		(Combiner)op_int(op, A_combiner) : kinds[kind].combiner;
	return kind != PARTIAL_none && (!operand || !kinds[kind].first_only);
}

/* The axes of partial results; over an axis of size 1 they are whole. */
static AxisList
partial_axes(const Placement *p)
{
	AxisList axes = placement_unreduced(p);

	return drop_unit_axes(&axes);
}

/* All operands together, or either of two. */
static void
check_partial_operands(Checker *c, const Op *op)
{
	PartialKind kind = ops[op->kind].partial;
	AxisList first = partial_axes(&op->operands[0]->placement);
	bool together = kind == PARTIAL_add || kind == PARTIAL_max ||
		kind == PARTIAL_min || kind == PARTIAL_and ||
		kind == PARTIAL_or || op->kind == O_concatenate;

	for (int i = 1; i < op->noperands; i++) {
		AxisList other = partial_axes(
			&op->operands[i]->placement);
		bool same = covers_all(&first, &other) &&
			covers_all(&other, &first);
		if (together && !same)
			fail(c, "%s and %s are not unreduced alike",
				op->operands[0]->name, op->operands[i]->name);
		if (kind == PARTIAL_bilinear && first.n && other.n)
			fail(c, "%s of two partial results",
				ops[op->kind].name);
	}
}

/* Where an op adds to an operand on several devices, all but one of them add
   to zero. */
static void
check_once(Checker *c, const Op *op, const AxisList *partial,
	const AxisList *sources)
{
	const Value *v = op->operands[rule_book_get(c->rules, op)->once];

	if (!covers_all(partial, sources) || !covers_all(sources, partial))
		fail(c, "%s is unreduced over '%s', its updates are split over "
			"'%s'", v->name, axes_text(c, partial),
			axes_text(c, sources));
	else if (partial->n && v->placement.combiner != C_add)
		fail(c, "%s is partial, but not a sum", v->name);
}

/* Partial results neither vanish in an op nor come out of nothing. */
static void
check_partials(Checker *c, const Op *op, const Rule *r, const FactorAxes *f)
{
	const Placement *result = &op->results[0]->placement;
	AxisList left = partial_axes(result), sources = {0};
	Combiner combiner = C_add;

	for (int i = 0; i < r->nfactors; i++)
		if (r->factors[i].kind == F_reduce)
			append_pieces(&sources, &f[i].axes);
	for (int i = 0; i < op->noperands; i++) {
		const Placement *p = &op->operands[i]->placement;
		AxisList partial = partial_axes(p);
		if (i == r->once)
			check_once(c, op, &partial, &sources);
		if (!partial.n || i == r->once)
			continue;
		if (!takes_partial(op, i, &combiner) || p->combiner != combiner)
			fail(c, "%s is partial, which %s does not take",
				op->operands[i]->name, ops[op->kind].name);
		else if (!covers_all(&left, &partial) ||
		    result->combiner != combiner)
			fail(c, "the partial results over %s are lost",
				axes_text(c, &partial));
		if (!covers_all(&sources, &partial))
			append_pieces(&sources, &partial);
	}
	if (!covers_all(&sources, &left))
		fail(c, "%s is unreduced over %s for no reason",
			op->results[0]->name, axes_text(c, &left));
	if (op->noperands)
		check_partial_operands(c, op);
}

static void
check_local(Checker *c, const Op *op)
{
	const Rule *r = ops[op->kind].leaf ? NULL :
		rule_book_get(c->rules, op);

	if (!r)
		return;
	FactorAxes *f = NEW_ARRAY(c->scratch, FactorAxes, r->nfactors);
	for (int i = 0; i < r->ntensors; i++)
		meet_tensor(c, r, op, i, f);
	for (int i = 0; i < r->nfactors; i++)
		check_factor(c, op, r, &r->factors[i], &f[i].axes);
	check_partials(c, op, r, f);
}

/* ---- what goes in and out of bodies ---------------------------------- */

static void
check_alike(Checker *c, const Value *v, const Value *other)
{
	if (!placement_equal(&v->placement, &other->placement))
		fail(c, "%s is not placed as %s", v->name, other->name);
}

/* What a body is given and gives back is placed as outside. */
static void
check_boundary(Checker *c, const Op *op, int body, int first, bool results)
{
	const Block *b = op->bodies[body];

	for (int i = 0; i < b->nparams; i++)
		check_alike(c, op->operands[first + i], b->params[i]);
	for (int i = 0; i < op->nresults && results; i++)
		check_alike(c, op->results[i], b->last->operands[i]);
}

/* Every device must come to the same decision. */
static void
check_decision(Checker *c, const Value *v)
{
	Placement moving = placement_moving(v->placement);

	if (placement_unreduced(&moving).n)
		fail(c, "%s decides, but is partial", v->name);
}

/* A carried value has one placement for good. */
static void
check_carried(Checker *c, const Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		check_alike(c, op->results[i], op->bodies[0]->params[i]);
		check_alike(c, op->results[i], op->bodies[1]->params[i]);
	}
}

/* Of the spec's tensor, `inside` is a part; after partitioning also placed as
   that. */
static void
check_at_spec(Checker *c, const Op *op, const Value *v, const Value *inside,
	const Placement *spec)
{
	Placement rest = manual_inside(op->axes, &v->placement);
	Placement whole = rest;

	if (placement_pieces(spec) + placement_pieces(&rest) <= MAX_PIECES)
		whole = manual_whole(spec, &rest);
	if (!placement_equal(&v->placement, &whole))
		fail(c, "%s is not placed as its spec says", v->name);
	else if (c->m->level == L_resharded &&
		 !placement_equal(&rest, &inside->placement))
		fail(c, "%s is not placed as %s", inside->name, v->name);
}

static void
check_specs(Checker *c, const Op *op)
{
	const Block *body = op->bodies[0];

	for (int i = 0; i < op->nresults; i++)
		check_at_spec(c, op, op->results[i], body->last->operands[i],
			&op->specs[op->noperands + i]);
	for (int i = 0; i < op->noperands && c->m->level == L_resharded; i++)
		check_at_spec(c, op, op->operands[i], body->params[i],
			&op->specs[i]);
}

static void
check_bodies(Checker *c, const Op *op)
{
	if (op->kind == O_manual) {
		check_specs(c, op);
		return;
	}
	if (op->kind == O_while)
		check_carried(c, op);
	if (c->m->level != L_resharded)
		return;
	if (op->kind == O_while)
		check_decision(c, op->bodies[0]->last->operands[0]);
	if (op->kind == O_if)
		check_decision(c, op->operands[0]);
	for (int i = 0; i < op->nbodies; i++)
		check_boundary(c, op, i, op->kind == O_if,
			op->kind != O_while || i == 1);
}

/* ---- blocks --------------------------------------------------------- */

static void check_block(Checker *c, Block *b);

static void
check_op(Checker *c, Op *op)
{
	int before = c->failures;

	c->line = op;
	check_counts(c, op);
	check_operands(c, op);
	check_attrs(c, op);
	if (op->kind == O_manual)
		check_manual(c, op);
	bool shaped = c->failures == before;
	check_level(c, op);
	if (ops[op->kind].collective)
		check_collective(c, op);
	const AxisList around = c->manual;
	if (op->kind == O_manual && shaped)
		axes_append_all(&c->manual, op->axes);
	for (int i = 0; i < op->nbodies; i++)
		check_block(c, op->bodies[i]);
	c->manual = around;
	c->line = op;
	for (int i = 0; i < op->nresults; i++)
		check_value(c, op->results[i], op, op->block, i);
	if (shaped)
		check_result_types(c, op);
	if (c->failures != before || c->m->level == L_global ||
	    c->m->level == L_device)
		return;
	if (op->nbodies)
		check_bodies(c, op);
	else if (c->m->level == L_resharded)
		check_local(c, op);
}

static void
check_block(Checker *c, Block *b)
{
	for (int i = 0; i < b->nparams; i++) {
		c->line = b->params[i];
		check_value(c, b->params[i], NULL, b, i);
	}
	c->line = b->parent;
	if (b->module != c->m)
		fail(c, "a block belongs to another module");
	if (!b->first)
		fail(c, "a block has no return");
	for (Op *op = b->first; op; op = op->next) {
		c->line = op;
		if (op->block != b || (op->next ? op->next->prev : b->last) !=
		    op)
			fail(c, "an op is linked wrongly");
		check_op(c, op);
		arena_reset(c->scratch);
	}
}

/* ---- the module ----------------------------------------------------- */

static void
check_mesh(Checker *c)
{
	const Mesh *m = &c->m->mesh;
	int64_t n = 1;

	if (m->naxes < 0 || m->naxes > MAX_AXES || !m->target) {
		fail(c, "the mesh is broken");
		return;
	}
	for (int i = 0; i < m->naxes; i++)
		if (m->axes[i].size < 1 || !mul_i64(n, m->axes[i].size, &n))
			fail(c, "mesh axis %s has size %lld", m->axes[i].name,
				(long long)m->axes[i].size);
	if (n != m->ndevices)
		fail(c, "the mesh has %lld devices, not %lld", (long long)n,
			(long long)m->ndevices);
}

static void
check_results(Checker *c)
{
	const Module *m = c->m;
	const Op *last = m->entry->last;

	if (!last || last->kind != O_return)
		return;
	if (last->noperands != m->nresults)
		fail(c, "the entry returns %d values and has %d results",
			last->noperands, m->nresults);
	for (int i = 0; i < m->nresults && i < last->noperands; i++)
		if (last->operands[i] != m->results[i].value)
			fail(c, "result %s is not what the entry returns",
				m->results[i].name);
}

void
module_check(Module *m, Report *report, void *data)
{
	Checker c = {.m = m, .report = report, .data = data};

	check_mesh(&c);
	if (c.failures)
		return;
	module_number(m);
	c.arena = arena_new();
	c.scratch = arena_new();
	c.rules = rule_book_new(c.arena);
	c.names = table_new(c.arena);
	c.seen = NEW_ARRAY(c.arena, Value *, m->nvalues);
	check_block(&c, m->entry);
	c.line = NULL;
	check_results(&c);
	arena_free(c.scratch);
	arena_free(c.arena);
}

/* ---- showing the failures ------------------------------------------- */

enum { SHOWN_FAILURES = 50 };

typedef struct Failures {
	int n;
	const void *line[SHOWN_FAILURES];
	const char *message[SHOWN_FAILURES];
} Failures;

static void
keep_failure(const void *line, const char *message, void *data)
{
	Failures *f = data;

	if (f->n < SHOWN_FAILURES) {
		f->line[f->n] = line;
		f->message[f->n] = message;
	}
	f->n++;
}

static void
print_failures(const void *line, Text *t, void *data)
{
	const Failures *f = data;

	for (int i = 0; i < f->n && i < SHOWN_FAILURES; i++)
		if (f->line[i] == line)
			text_printf(t, "  // ^ %s\n", f->message[i]);
}

bool
module_verify(Module *m, FILE *out)
{
	Failures failures = {0};
	Text t = {0};

	module_check(m, keep_failure, &failures);
	if (!failures.n)
		return true;
	module_print_noted(m, &t, print_failures, &failures);
	text_printf(&t, "// %d failures after '%s'\n", failures.n,
		m->last_pass);
	fputs(t.s, out);
	text_free(&t);
	return false;
}
