/*
 * ring.c - an einsum as a ring: partial products of the pieces as they come by.
 *
 *   x2 = all-gather(x), dim 0          y0 = dot(x, W), into rows of piece `me` of y
 *   y  = dot(x2, W)              ->    x1 = collective-permute(x)
 *                                      y1 = dot(x1, W), into those of piece me + 1, ...
 *
 *   p  = dot(x, W)                     s0 = dot(x, W), rows of x of piece me + 1
 *   y  = reduce-scatter(p), dim 0 ->   s1 = collective-permute(s0)
 *                                           + dot(x, W), of piece me + 2, ...
 *
 * Of n pieces the one k steps up the ring is (me + k) mod n.  A device gets from the one
 * after it; of a ring that goes both ways half of the pieces come from the one before.
 * Pieces of operands are read, and those of results written, where they lie.
 */
#include "sched/decompose/ring.h"

const char *const way_names[WAYS] = {[WAY_one] = "one way",
	[WAY_both] = "both ways",
	[WAY_loop] = "one way in a loop",
	[WAY_loop_both] = "both ways in a loop",
	[WAY_halves] = "in halves",
	[WAY_quarters] = "in quarters",
	[WAY_eighths] = "in eighths"};

enum { MOST_UNROLLED = 16 }; /* pieces */

int
way_parts(Way way)
{
	return way < WAY_halves ? 0 : 2 << (way - WAY_halves);
}

static bool
is_loop(Way way)
{
	return way == WAY_loop || way == WAY_loop_both;
}

int64_t
ring_pieces(const Einsum *e)
{
	return axes_size(e->collective->axes);
}

/* ---- pieces for values --------------------------------------------------- */

Make
make_piece(Op *before, const Value *of)
{
	Make k = make_before(before);

	k.helper = true;
	k.of = of->name;
	return k;
}

void
replace_result(const Ring *r, Op *old, Value *new)
{
	Value *v = old->results[0];
	const char *name = new->name;

	new->name = v->name;
	v->name = name;
	new->placement = v->placement;
	new->no_placement = v->no_placement;
	new->unpadded = v->unpadded;
	new->range = v->range;
	new->origins = v->origins;
	r->rings->becomes[v->id] = new;
	op_remove(old);
}

void
rings_begin(Rings *rings, const Module *m)
{
	rings->becomes = NEW_ARRAY(rings->arena, Value *, m->nvalues + 1);
}

void
rings_end(Rings *rings, Module *m)
{
	module_replace(m, rings->becomes);
}

/* ---- gathered ------------------------------------------------------------ */

/* What each dot has of the piece. */
static Value **
piece_at_dots(const Ring *r, Value *piece, int64_t at)
{
	const Einsum *e = r->einsum;
	Value **last = NEW_ARRAY(r->rings->arena, Value *, e->ndots);
	Which which = {.turns = true, .step = {.n = at}};

	between_build(r, which, (Cut){e->dim, 1}, piece, last);
	return last;
}

/* The product of the i-th dot with a piece, put to what there is of it. */
static Value *
add_piece(const Ring *r, int i, Value **const *pieces, int64_t at, Value *sum)
{
	Op *dot = r->einsum->dots[i];
	Value *other = dot->operands[!gathered_operand(r->einsum, dot)];
	Make k = make_piece(dot, dot->results[0]);

	return add_gathered(r, k, dot, other, pieces[at][i], (Step){.n = at}, sum);
}

/* Pieces as they come: 0, and from above, or from above and below in turns. */
static void
build_gathered(Ring *r)
{
	const Einsum *e = r->einsum;
	Make k = make_piece(e->dots[0], e->dots[0]->results[0]);
	Value **pieces = NEW_ARRAY(r->rings->arena, Value *, r->n);
	Value ***at_dots = NEW_ARRAY(r->rings->arena, Value **, r->n);
	Value **sums = NEW_ARRAY(r->rings->arena, Value *, e->ndots);
	int64_t below = r->both ? (r->n - 1) / 2 : 0, above = r->n - 1 - below;

	pieces[0] = e->collective->operands[0];
	for (int64_t s = 0; s <= above; s++) {
		int64_t up = s, down = (r->n - s) % r->n;
		if (s < above)
			pieces[s + 1] = pass_on(r, k, pieces[up], false);
		if (s < below)
			pieces[r->n - s - 1] = pass_on(r, k, pieces[down], true);
		at_dots[up] = piece_at_dots(r, pieces[up], up);
		sums[0] = add_piece(r, 0, at_dots, up, sums[0]);
		if (!s || s > below)
			continue;
		at_dots[down] = piece_at_dots(r, pieces[down], down);
		sums[0] = add_piece(r, 0, at_dots, down, sums[0]);
	}
	for (int i = 0; i < e->ndots; i++) {
		for (int64_t s = 0; i && s < r->n; s++)
			sums[i] = add_piece(r, i, at_dots, s, sums[i]);
		replace_result(r, e->dots[i], sums[i]);
	}
	between_remove(e);
	op_remove(e->collective);
}

static void
build_gathered_loop(Ring *r)
{
	Op *dot = r->einsum->dots[0];

	replace_result(r, dot, loop_gathered(r, make_piece(dot, dot->results[0])));
	op_remove(r->einsum->collective);
}

/* ---- summed -------------------------------------------------------------- */

/* What a device has for the one so many steps up. */
static Value *
part_for(const Ring *r, Make k, int64_t up)
{
	const Einsum *e = r->einsum;
	Which which = {.turns = true, .step = {.n = up}};
	Value *part = product_piece(r, k, e->dots[0]->operands, which.step);

	between_build(r, which, (Cut){e->dims[0], 1}, part, &part);
	return part;
}

/* Begun so many devices away, it comes here with a product of each on its way. */
static Value *
passed_sum(const Ring *r, Make k, int64_t away, bool back)
{
	const char *name = r->einsum->collective->results[0]->name;
	Value *sum = NULL;

	for (int64_t s = away; s; s--) {
		Value *part = part_for(r, k, back ? s : r->n - s);
		sum = sum ? make_binary(named(k, name), O_add, sum, part) : part;
		sum = pass_on(r, k, sum, back);
	}
	return sum;
}

/* What comes from both sides, and its own product. */
static Value *
sum_unrolled(const Ring *r, Make k)
{
	const Einsum *e = r->einsum;
	const char *name = e->collective->results[0]->name;
	int64_t below = r->both ? (r->n - 1) / 2 : 0;
	Value *above_sum = passed_sum(r, k, r->n - 1 - below, false);
	Value *below_sum = below ? passed_sum(r, k, below, true) : NULL;
	Value *v = part_for(r, k, 0);

	v = make_binary(named(k, name), O_add, above_sum, v);
	return below_sum ? make_binary(named(k, name), O_add, v, below_sum) : v;
}

Value *
finish_ring(const Ring *r, Make k, OpKind kind, Value *v)
{
	const Op *sum = r->einsum->collective;

	k.label = sum->label;
	k.range = sum->range;
	k.requested = sum->requested;
	k.of = NULL;
	k.name = sum->results[0]->name;
	return made_for(make_collective(k, kind, v, sum->axes, r->einsum->dim, C_add), sum);
}

Op *
before_collective(const Einsum *e)
{
	return e->nbetween ? e->collective : e->dots[0];
}

static void
build_summed(Ring *r, bool loop)
{
	const Einsum *e = r->einsum;
	Op *sum = e->collective;
	Make k = make_piece(before_collective(e), sum->results[0]);
	Value *v = loop ? loop_summed(r, k) : sum_unrolled(r, k);

	if (sum->kind == O_all_reduce)
		v = finish_ring(r, k, O_all_gather, v);
	replace_result(r, sum, v);
	between_remove(e);
	op_remove(e->dots[0]);
}

bool
ring_goes(const Einsum *e, Way way)
{
	int64_t n = ring_pieces(e);

	if (way_parts(way))
		return parts_go(e, way_parts(way));
	if (is_loop(way))
		return e->turns && n > MOST_UNROLLED && e->ndots == 1 && !e->nbetween;
	return e->turns && n <= MOST_UNROLLED && (way != WAY_both || n > 2);
}

void
ring_build(Rings *rings, const Einsum *e, Way way)
{
	Einsum opened = *e;
	Ring r = {
		.einsum = &opened,
		.rings = rings,
		.make = make_before(e->dots[0]),
		.block = e->collective->block,
		.n = way_parts(way) ? way_parts(way) : ring_pieces(e),
		.both = way == WAY_both || way == WAY_loop_both,
	};

	r.make.helper = true;
	between_open(&r, &opened);
	if (way_parts(way))
		parts_build(&r);
	else if (e->behind)
		build_summed(&r, is_loop(way));
	else if (is_loop(way))
		build_gathered_loop(&r);
	else
		build_gathered(&r);
}
