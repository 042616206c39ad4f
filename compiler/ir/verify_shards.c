/*
 * verify_shards.c - whether ops can run on shards as they are placed: what the
 * factors of each need, and what goes in and out of bodies.
 */
#include "ir/factors.h"
#include "ir/flow.h"
#include "ir/partial.h"
#include "ir/verify.h"

/* ---- factors: what an op needs to run on shards --------------------- */

static void
append_pieces(AxisList *l, const AxisList *more)
{
	for (int i = 0; i < more->n && l->n < MAX_PIECES; i++)
		l->a[l->n++] = more->a[i];
}

typedef struct FactorAxes {
	bool known;
	AxisList axes;
} FactorAxes;

/* One answer for a factor over all tensors that have it. */
static void
meet_tensor(Checker *c, const Rule *r, const Op *op, int tensor, FactorAxes *factors)
{
	const Value *v = rule_tensor(op, tensor);
	Holder holders[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++) {
		int n = project_dim(r, tensor, d, &v->placement, holders);
		for (int i = 0; i < n; i++) {
			const Holder *h = &holders[i];
			FactorAxes *met = &factors[h->factor];
			int64_t size = r->factors[h->factor].size;
			if (h->overflow.n || size % axes_size(&h->axes)) {
				AxisList axes = placement_dim(&v->placement, d);
				verify_fail(c, "dim %d of %s cannot be split over '%s' here", d,
					v->name, axes_text(c, &axes));
				break;
			}
			if (size > 1 && met->known && !axes_equal(&met->axes, &h->axes))
				verify_fail(c,
					"dim %d of %s is split over '%s' where another tensor "
					"of the op has '%s'",
					d, v->name, axes_text(c, &h->axes),
					axes_text(c, &met->axes));
			else if (size > 1)
				*met = (FactorAxes){true, h->axes};
		}
	}
}

/* The axes of partial results; over an axis of size 1 they are whole. */
static AxisList
partial_axes(const Placement *p)
{
	AxisList axes = placement_unreduced(p);

	return axes_moving(&axes);
}

/* Operand i is the first that is partial: what the others have to be. */
static void
check_others(Checker *c, const Op *op, int i, Through through)
{
	AxisList mine = partial_axes(&op->operands[i]->placement);

	for (int k = 0; k < op->noperands; k++) {
		AxisList other = partial_axes(&op->operands[k]->placement);
		bool same = pieces_cover_all(&mine, &other) && pieces_cover_all(&other, &mine);
		if (through == THROUGH_together && !(partial_joins(op, k) ? same : !other.n))
			verify_fail(c, "%s and %s are not unreduced alike",
				op->operands[i]->name, op->operands[k]->name);
		if (through == THROUGH_alone && k != i && other.n)
			verify_fail(c, "%s of two partial results", ops[op->kind].name);
	}
}

/* Partial results neither vanish in an op nor come out of nothing. */
static void
check_partials(Checker *c, const Op *op, const Rule *r, const FactorAxes *factors)
{
	const Placement *result = &op->results[0]->placement;
	AxisList left = partial_axes(result), sources = {0};
	bool first = true;

	for (int i = 0; i < r->nfactors; i++)
		if (r->factors[i].kind == F_reduce)
			append_pieces(&sources, &factors[i].axes);
	for (int i = 0; i < op->noperands; i++) {
		const Placement *p = &op->operands[i]->placement;
		AxisList partial = partial_axes(p);
		if (i == r->once) {
			/* what is added to on several devices is zero on all but one */
			bool alike = pieces_cover_all(&partial, &sources)
				&& pieces_cover_all(&sources, &partial);
			if (!alike)
				verify_fail(c,
					"%s is unreduced over '%s', its updates are split over "
					"'%s'",
					op->operands[i]->name, axes_text(c, &partial),
					axes_text(c, &sources));
			else if (partial.n && p->combiner != C_add)
				verify_fail(c, "%s is partial, but not a sum",
					op->operands[i]->name);
			continue;
		}
		if (!partial.n)
			continue;
		bool written = i < 2 && partial_written(op);
		Through through = partial_through(op, i, (Combiner)p->combiner);
		if (through == THROUGH_no && !written)
			verify_fail(c, "%s is partial, which %s does not take",
				op->operands[i]->name, ops[op->kind].name);
		else if (!pieces_cover_all(&left, &partial) || result->combiner != p->combiner)
			verify_fail(c, "the partial results over %s are lost",
				axes_text(c, &partial));
		if (first && !written)
			check_others(c, op, i, through);
		first = false;
		if (!pieces_cover_all(&sources, &partial))
			append_pieces(&sources, &partial);
	}
	if (!pieces_cover_all(&sources, &left))
		verify_fail(c, "%s is unreduced over %s for no reason", op->results[0]->name,
			axes_text(c, &left));
}

void
check_local(Checker *c, const Op *op)
{
	const Rule *r = ops[op->kind].leaf ? NULL : rule_book_get(c->rules, op);

	if (!r)
		return;
	const Placement *result = &op->results[0]->placement;
	AxisList unreduced = placement_unreduced(result);
	FactorAxes *factors = NEW_ARRAY(c->scratch, FactorAxes, r->nfactors);
	for (int i = 0; i < r->ntensors; i++)
		meet_tensor(c, r, op, i, factors);
	for (int i = 0; i < r->nfactors; i++) {
		const AxisList *axes = &factors[i].axes;
		if (r->factors[i].kind == F_replicate && axes->n)
			verify_fail(c, "%s along a dim split over %s", ops[op->kind].name,
				axes_text(c, axes));
		/* splitting a reduction leaves partial results */
		if (r->factors[i].kind == F_reduce && axes->n
			&& (!pieces_cover_all(&unreduced, axes)
				|| result->combiner != r->combiner))
			verify_fail(c, "the partial results over %s are lost",
				axes_text(c, axes));
	}
	check_partials(c, op, r, factors);
}

/* ---- what goes in and out of bodies ---------------------------------- */

static void
check_alike(Checker *c, const Value *v, const Value *other)
{
	if (!placement_equal(&v->placement, &other->placement))
		verify_fail(c, "%s is not placed as %s", v->name, other->name);
}

/* What a body is given and gives back is placed as outside; a carried value has
   one placement for good.  Of a spec's tensor, what is inside is a part; after
   partitioning also placed as that. */
void
check_bodies(Checker *c, const Op *op)
{
	bool resharded = c->m->level == L_resharded;
	const Value *decision = resharded ? op_decision(op) : NULL;
	AxisList partial = decision ? partial_axes(&decision->placement) : (AxisList){0};

	if (partial.n) /* every device must come to the same */
		verify_fail(c, "%s decides, but is partial", decision->name);
	for (Flow f = {.op = op}; flow_next(&f);) {
		bool in = f.kind == FLOW_in, out = f.kind == FLOW_out;
		const Placement *spec = flow_spec(&f);
		const Value *v = in ? f.from : f.to, *inside = in ? f.to : f.from;
		if (!spec && in && op->kind == O_while)
			check_alike(c, op->results[f.index], inside);
		if (!spec && resharded && (in || out))
			check_alike(c, v, inside);
		if (!spec || !(out || resharded))
			continue;
		Placement rest = manual_inside(op->axes, &v->placement), whole = rest;
		if (placement_has_room(spec, placement_pieces(&rest)))
			whole = manual_whole(spec, &rest);
		if (!placement_equal(&v->placement, &whole))
			verify_fail(c, "%s is not placed as its spec says", v->name);
		else if (resharded && !placement_equal(&rest, &inside->placement))
			verify_fail(c, "%s is not placed as %s", inside->name, v->name);
	}
}
