/*
 * accumulate.c - sums that are only added up in a loop, or in the branches of an `if`, are
 * taken after it.
 *
 *   acc = acc + all_reduce(x)   becomes   acc = acc + x, acc partial
 *
 * From what a round makes of a carried value the way back to what it began with
 * is followed: a chain of values that nothing else uses.  On it are additions, factors that
 * are finite, branches, and loops inside.  If all that is added is partial alike, or whole,
 * each device adds what it has, one of them what is whole, and one all-reduce after the loop
 * is enough: acc = acc * 0.9 + all_reduce(x) + r becomes acc * 0.9 + x + r.  Where it begins
 * with a sum of such parts, it begins with the parts.  The same holds for maxima and the like,
 * for slices that are written each in its place, for rows that are added where indices say,
 * and for
 *
 *   acc = acc + reduce_scatter(x)      acc split
 *
 * if there is room for what is whole then: a quarter of a device's memory for all; and not
 * if acc was written to be split.  Slices of a stack are so where a loop around adds up the
 * stacks, and so needs one sum for all of its rounds.  No more may move for it: few slices of
 * much are less than all of it, and a sum that is the same in every round leaves the loop by
 * itself (hoist.c).
 *
 * So are sums that all branches of an `if` make, or add to parts; a branch that moves
 * nothing goes on doing so, but where what it leaves as it is was a sum of such parts.
 */
#include <math.h>
#include "ir/make.h"
#include "shard/partition/partition.h"

/* Something to be done once the whole chain is known to be one. */
typedef struct Step {
	Op *move;	/* a reshard that goes, or NULL */
	Value *partial; /* what becomes partial, or NULL */
	Op *beside;	/* an op on parts whose operand 1 - `part` is none of these, or NULL */
	int part;
	struct Step *next;
} Step;

typedef struct Chain {
	Partitioner *p;
	bool known;	/* is `partial` set? */
	bool requested; /* some sum was asked for */
	bool scattered; /* `whole` is split along axes that are summed over */
	bool slices;	/* of what is carried, each is written once */
	Placement partial, whole;
	Reason why;
	Step *steps;
} Chain;

static void
add_step(Chain *chain, Op *move, Value *partial)
{
	Step *s = NEW(chain->p->scratch, Step);

	*s = (Step){.move = move, .partial = partial, .next = chain->steps};
	chain->steps = s;
}

/* The op makes parts of its operand `part`, whatever the other one is. */
static void
add_beside(Chain *chain, Op *op, int part)
{
	add_step(chain, NULL, op->results[0]);
	chain->steps->beside = op;
	chain->steps->part = part;
}

static void
take_move(Chain *chain, Op *move)
{
	if (move->operands[0]->placement.nunreduced) {
		chain->requested |= move->requested;
		chain->why = (Reason){move->label, move->range, false};
	}
	add_step(chain, move, NULL);
}

/* ---- following a chain ----------------------------------------------------- */

/* An all-reduce, or the other way round; a reduce-scatter.  All sums of a chain are over
   the same axes. */
static bool
is_sum(Chain *chain, const Op *op, bool reduces)
{
	if (!op || !op_is_move(op))
		return false;
	const Placement *from = &op->operands[0]->placement, *to = &op->results[0]->placement;
	const Placement *partial = reduces ? from : to, *whole = reduces ? to : from;
	bool scattered;
	if (!combines_into(partial, whole, &scattered))
		return false;
	if (!chain->known) {
		chain->known = true;
		chain->scattered = scattered;
		chain->partial = *partial;
		chain->whole = *whole;
	}
	return placement_equal(&chain->partial, partial)
		&& chain->partial.combiner == partial->combiner
		&& placement_equal(&chain->whole, whole);
}

/* The sums of `inner` are handed on by an op that places them otherwise.  False if they
   are not those of the chain. */
static bool
join_sum(Chain *chain, const Chain *inner, const Placement *partial, const Placement *whole)
{
	if (chain->known
		&& !(placement_equal(&chain->partial, partial)
			&& chain->partial.combiner == partial->combiner
			&& placement_equal(&chain->whole, whole)))
		return false;
	*chain = *inner;
	chain->partial = *partial;
	chain->whole = *whole;
	return true;
}

static bool
combines_parts(const Chain *chain, const Op *op)
{
	return partial_through(op, 0, (Combiner)chain->partial.combiner) == THROUGH_together;
}

/* The same number everywhere: it is made anew where it is wanted. */
static Value *
as_splat(Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	bool splat = v->def && v->def->kind == O_broadcast && !v->def->operands[0]->type.rank;
	return splat ? v : NULL;
}

/* Parts that the op has its operand k of become parts of its result, unless that is split
   along their axes.  What is split further than these are is whole then: of such element by
   element, by one number at most. */
static bool
hand_on(Chain *chain, const Chain *inner, Op *op, int k)
{
	Value *v = op->results[0];
	AxisList over = placement_unreduced(&inner->partial);
	Placement partial = v->placement;
	bool factor = op->noperands == 2;

	if (!hands_on_parts(chain->p, op, k, (Combiner)inner->partial.combiner)
		|| (inner->scattered
			&& (!ops[op->kind].pointwise
				|| (factor && !as_splat(op->operands[1 - k])))))
		return false;
	if (inner->scattered)
		partial = inner->partial;
	else
		placement_set_unreduced(&partial, &over, (Combiner)inner->partial.combiner);
	if (!placement_is_sound(&partial) || !join_sum(chain, inner, &partial, &v->placement))
		return false;
	add_beside(chain, op, k);
	return true;
}

/* Is it a sum, or made of one by what hands on parts: a larger float, a dim of size 1
   more, a quotient?  Then all of these become partial. */
static bool
take_sum(Chain *chain, const Block *b, Value *v)
{
	Op *op = v->def;

	if (v->uses != 1 || v->block != b || !op)
		return false;
	if (is_sum(chain, op, true)) {
		take_move(chain, op);
		return true;
	}
	for (int k = 0; k < op->noperands && k < 2 && op->nresults == 1; k++) {
		Chain inner = *chain;
		inner.known = false;
		if (ops[op->kind].partial != PARTIAL_move
			&& !hands_on_parts(chain->p, op, k, C_add))
			continue;
		if (take_sum(&inner, b, op->operands[k]) && hand_on(chain, &inner, op, k))
			return true;
	}
	return false;
}

static void take_other(Chain *chain, const Block *b, Op *op, int part);

/* ... or such a one and what is added to it? */
static bool
take_sums(Chain *chain, const Block *b, Value *v)
{
	Op *op = v->def;

	if (take_sum(chain, b, v))
		return true;
	if (v->uses != 1 || v->block != b || !op || !ops[op->kind].pointwise)
		return false;
	for (int k = 0; k < 2 && op->noperands == 2; k++) {
		Chain before = *chain;
		if (take_sums(chain, b, op->operands[k]) && combines_parts(chain, op)
			&& !chain->scattered) {
			take_other(chain, b, op, k);
			return true;
		}
		*chain = before;
	}
	return false;
}

/* Operand `part` is parts.  So may the other one be; else it goes beside them. */
static void
take_other(Chain *chain, const Block *b, Op *op, int part)
{
	Chain before = *chain;

	if (op->noperands == 2 && take_sums(chain, b, op->operands[1 - part])
		&& combines_parts(chain, op)) {
		add_step(chain, NULL, op->results[0]);
		return;
	}
	*chain = before;
	add_beside(chain, op, part);
}

static const Value *follow(Chain *chain, const Block *b, const Value *start, Value *v);

/* Of an op element by element one operand is the chain, the other one a sum, parts, or what
   is added to these, or multiplies them. */
static const Value *
follow_pointwise(Chain *chain, const Block *b, const Value *start, Op *op)
{
	for (int k = 0; k < op->noperands; k++) {
		Chain before = *chain;
		const Value *end = follow(chain, b, start, op->operands[k]);
		if (!end) {
			*chain = before;
			continue;
		}
		take_other(chain, b, op, k);
		return end;
	}
	return NULL;
}

/*
 * A slice that is written in its place is a sum; what was there before is the chain.  It
 * stays split along the dims that the slice has a part of only, and so can't be partial
 * over the axes of these:
 *
 *   g[i] = all_reduce(h)   h partial over Y, g [L@X, D]   g [L@X, D] partial over Y
 *                          h partial over X, g [L@X, D]   no
 */
static const Value *
follow_update(Chain *chain, const Block *b, const Value *start, Op *op)
{
	const Value *stack = op->results[0], *slice = op->operands[1];
	Chain inner = *chain;

	inner.known = false;
	if (!take_sum(&inner, b, op->operands[1]))
		return NULL;
	Placement partial = inner.partial, whole = inner.whole;
	for (int d = 0; d < whole.rank; d++) {
		AxisList axes = placement_dim(&stack->placement, d);
		if (slice->type.dims[d] == stack->type.dims[d])
			continue;
		placement_set_dim(&partial, d, &axes);
		placement_set_dim(&whole, d, &axes);
	}
	if (!placement_is_sound(&partial) || !join_sum(chain, &inner, &partial, &whole))
		return NULL;
	chain->slices = true;
	return follow(chain, b, start, op->operands[0]);
}

/* The parameter that a branch leaves as it is; -1: none does. */
static int
handed_on(const Op *op, int result)
{
	for (int k = 0; k < op->nbodies; k++) {
		const Value *v = op->bodies[k]->last->operands[result];
		if (!v->def)
			return v->index;
	}
	return -1;
}

/* Each branch adds to the same one of its params, or leaves it.  Which one is known from
   a branch that leaves it, else from the first. */
static const Value *
follow_branches(Chain *chain, const Block *b, const Value *start, const Op *op, int result)
{
	int param = handed_on(op, result);

	for (int k = 0; k < op->nbodies; k++) {
		Block *body = op->bodies[k];
		const Value *end = follow(chain, body, param < 0 ? NULL : body->params[param],
			body->last->operands[result]);
		if (!end)
			return NULL;
		param = end->index;
		add_step(chain, NULL, body->params[param]);
	}
	return follow(chain, b, start, op->operands[param + 1]);
}

/* A round adds to what it began with. */
static const Value *
follow_rounds(Chain *chain, const Block *b, const Value *start, const Op *op, int result)
{
	Value *next = op->bodies[LOOP_BODY]->last->operands[result];

	for (int k = LOOP_CONDITION; k <= LOOP_BODY; k++)
		add_step(chain, NULL, op->bodies[k]->params[result]);
	if (op->bodies[LOOP_CONDITION]->params[result]->uses
		|| !follow(chain, op->bodies[LOOP_BODY], op->bodies[LOOP_BODY]->params[result],
			next))
		return NULL;
	return follow(chain, b, start, op->operands[result]);
}

/* What v, of block b, was before sums were added: `start`, or if that is NULL some
   parameter of b; NULL if v is no such chain. */
static const Value *
follow(Chain *chain, const Block *b, const Value *start, Value *v)
{
	Op *op = v->def;

	if (v->block != b || v->uses != 1)
		return NULL;
	if (!op)
		return !start || v == start ? v : NULL;
	if (ops[op->kind].pointwise && op->noperands <= 2 && !op_is_move(op))
		return follow_pointwise(chain, b, start, op);
	add_step(chain, NULL, v);
	if (op->kind == O_dynamic_update_slice)
		return follow_update(chain, b, start, op);
	if (op_is_branch(op))
		return follow_branches(chain, b, start, op, v->index);
	if (chain->known && placement_equal(&chain->partial, &v->placement)
		&& (op_is_loop(op) || op->kind == O_scatter_add)) /* treated already */
		return follow(chain, b, start, op->operands[op_is_loop(op) ? v->index : 0]);
	if (op_is_loop(op))
		return follow_rounds(chain, b, start, op, v->index);
	if (!is_sum(chain, op, true) && !is_sum(chain, op, false))
		return NULL;
	take_move(chain, op);
	return follow(chain, b, start, op->operands[0]);
}

/* Where the result of an op on parts is then. */
static Placement
in_parts(const Chain *chain, const Op *op)
{
	AxisList over = placement_unreduced(&chain->partial);
	Placement to = chain->scattered ? chain->partial : op->results[0]->placement;

	placement_set_unreduced(&to, &over, (Combiner)chain->partial.combiner);
	return to;
}

static bool
is_placed(const Value *v, const Placement *at)
{
	return placement_equal(&v->placement, at) && v->placement.combiner == at->combiner;
}

static double
bytes_between(Partitioner *p, const Value *v, const Placement *from, const Placement *to)
{
	return reshard_plan(p->resharder, &v->type, from, to)->bytes;
}

/* What is whole is added on one device, which moves nothing; of what is split each adds what it
   has.  It multiplies parts if it is finite, and everywhere where these are. */
static bool
goes_beside(const Chain *chain, const Op *op, int part)
{
	Placement to = in_parts(chain, op);
	const Value *other = op->noperands == 2 ? op->operands[1 - part] : NULL;

	if (!placement_is_sound(&to))
		return false;
	if (other && combines_parts(chain, op))
		return is_placed(other, &to)
			|| (!other->placement.nunreduced
				&& !(bytes_between(chain->p, other, &other->placement, &to)
					> 0));
	return hands_on_parts(chain->p, op, part, (Combiner)chain->partial.combiner)
		&& (!other
			|| (!other->placement.nunreduced
				&& (!chain->scattered || as_splat(op->operands[1 - part]))));
}

/* Is it a chain of sums, and does all else on it go with parts? */
static bool
is_whole_chain(const Chain *chain)
{
	bool goes = chain->known;

	for (const Step *s = chain->steps; s && goes; s = s->next)
		goes = !s->beside || goes_beside(chain, s->beside, s->part);
	return goes;
}

/* ---- changing it ------------------------------------------------------------ */

static void
set_beside(const Chain *chain, Op *op, int part)
{
	Value **other = &op->operands[1 - part];
	Placement to = in_parts(chain, op), whole = to;
	AxisList none = {0};

	placement_set_unreduced(&whole, &none, C_add);
	if (!combines_parts(chain, op) && chain->scattered)
		*other = recompute(as_splat(*other), &whole, op);
	else if (combines_parts(chain, op) && !is_placed(*other, &to))
		*other = insert_reshard(chain->p, *other, &to, op, chain->why);
}

static void
take_steps(Chain *chain)
{
	AxisList over = placement_unreduced(&chain->partial);

	for (Step *s = chain->steps; s; s = s->next) {
		if (s->beside && s->beside->noperands == 2)
			set_beside(chain, s->beside, s->part);
		if (s->partial && chain->scattered)
			s->partial->placement = chain->partial;
		else if (s->partial)
			placement_set_unreduced(&s->partial->placement, &over,
				(Combiner)chain->partial.combiner);
		if (!s->move)
			continue;
		/* The only use of its result becomes one of its operand. */
		bool found = false;
		for (Op *op = s->move->next; op && !found; op = op->next)
			for (int i = 0; i < op->noperands; i++)
				if (op->operands[i] == s->move->results[0]) {
					op->operands[i] = s->move->operands[0];
					found = true;
				}
		op_remove(s->move);
	}
}

/* The parts that it is the sum of, if nobody asked for that; NULL: none, or others than
   `partial`, where that is not NULL. */
static Value *
as_parts(Value *v, const Placement *partial)
{
	while (partial ? !is_placed(v, partial) : !v->placement.nunreduced) {
		if (!v->def || !op_is_move(v->def) || v->def->requested)
			return NULL;
		v = v->def->operands[0];
	}
	return v;
}

/* Zeros, wherever they are. */
static bool
is_zeros(const Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	if (!value_is_literal(v) || v->def->kind == O_iota)
		return false;
	const Op *number = v->def->kind == O_broadcast ? v->def->operands[0]->def : v->def;
	const Ints *values = op_ints(number, A_value);
	return values->n == 1 && values->v[0] == 0;
}

/* Is there room for it whole? */
static bool
has_room(Partitioner *p, const Chain *chain, const Value *v)
{
	Type whole = placement_local(&v->type, &chain->partial);
	Type part = placement_local(&v->type, &chain->whole);
	int64_t more = type_bytes(&whole) - type_bytes(&part);

	if (more > room_left(p))
		return false;
	p->accumulated += more;
	return true;
}

/* May what is split be whole until then?  Not where it was written to be split; of slices
   that are written each in its place only where that spares some of the sums. */
static bool
may_be_whole(Partitioner *p, const Op *loop, int i, const Chain *chain)
{
	return !chain->requested
		&& (!chain->slices || trips_for_one_sum(loop, i, chain->scattered) > 1)
		&& has_room(p, chain, loop->bodies[LOOP_BODY]->params[i]);
}

static double
bytes_moved(Partitioner *p, const Op *move)
{
	const Value *from = move->operands[0], *to = move->results[0];

	return bytes_between(p, from, &from->placement, &to->placement);
}

/* As many as are known. */
static double
rounds_of(const Op *loop)
{
	return op_ints(loop, A_trips)->n ? (double)op_int(loop, A_trips) : 1;
}

/* How many sums one after the loop spares, where that is one for so many runs of the loop.  A
   sum of what a loop does not change leaves it, and the loops around that do not, either. */
static double
times_made(const Partitioner *p, const Op *loop, const Op *move, double runs)
{
	int depth = loops_around(move->block), changing = loops_changing(p, move->operands[0]);
	const Block *b = move->block;
	bool leaves = true;
	double times = 1;

	for (; b != loop->block; b = b->parent->block) {
		leaves &= op_is_loop(b->parent) && changing < depth;
		if (!leaves && op_is_loop(b->parent))
			times *= rounds_of(b->parent);
		depth -= op_is_loop(b->parent);
	}
	if (!leaves || changing >= depth)
		return times * runs;
	for (; b->parent && op_is_loop(b->parent) && changing < depth--; b = b->parent->block)
		times /= rounds_of(b->parent);
	return times;
}

/* Does the one sum after the loop move at most what those in it do? */
static bool
moves_no_more(Partitioner *p, const Op *loop, const Chain *chain, int i)
{
	const Value *v = loop->bodies[LOOP_BODY]->params[i];
	double runs = trips_for_one_sum(loop, i, chain->scattered), bytes = 0;

	for (const Step *s = chain->steps; s; s = s->next)
		if (s->move)
			bytes += bytes_moved(p, s->move) * times_made(p, loop, s->move, runs);
	return bytes_between(p, v, &chain->partial, &chain->whole) <= bytes;
}

/* What is added to, operand i of an op with bodies, as parts. */
static Value *
start_in_parts(Partitioner *p, Op *op, int i, const Chain *chain)
{
	Value *start = op->operands[i], *parts = as_parts(start, &chain->partial);

	/* What nothing else wanted is not made: nor does it count as a use of the parts. */
	while (parts && parts->uses == 1 && start != parts) {
		Op *move = start->def;
		start = move->operands[0];
		op_remove(move);
	}
	if (parts)
		return parts;
	if (chain->scattered && is_zeros(start)) {
		Make k = make_before(op);
		Value *zero = make_constant(k, start->type.dtype, 0);
		start = make_splat(k, zero, &start->type);
		start->placement = placement_none(start->type.rank);
	}
	return insert_reshard(p, start, &chain->partial, op, chain->why);
}

/* What plans counted on is counted anew. */
static void
take_promise(Partitioner *p, const Value *carried)
{
	Source *s = source_of(p, carried);

	p->accumulated -= s->promised;
	s->promised = 0;
}

void
reduce_after(Partitioner *p, Op *loop, int n)
{
	Block *body = loop->bodies[LOOP_BODY], *condition = loop->bodies[LOOP_CONDITION];

	/* moves in the loop have been made since the last count */
	block_count_uses(condition);
	block_count_uses(body);
	for (int i = 0; i < n; i++) {
		Value *next = body->last->operands[i];
		Chain chain = {.p = p};
		take_promise(p, body->params[i]);
		if (next != body->params[i] && !condition->params[i]->uses
			&& follow(&chain, body, body->params[i], next) && is_whole_chain(&chain)
			&& moves_no_more(p, loop, &chain, i)
			&& (!chain.scattered || may_be_whole(p, loop, i, &chain))) {
			take_steps(&chain);
			body->params[i]->placement = chain.partial;
			condition->params[i]->placement = chain.partial;
			loop->operands[i] = start_in_parts(p, loop, i, &chain);
			source_of(p, loop->results[i])->sum_requested = chain.requested;
		}
		arena_reset(p->scratch);
	}
}

/* ---- branches ------------------------------------------------------------------ */

/* What the branches of an `if` make of one result. */
typedef struct Branches {
	int param;	/* that they add to; -1: none does */
	uint32_t added; /* bit k: body k does, or leaves it */
	double fewest;	/* bytes of the sums of a branch */
} Branches;

/* Adds to the chain what body k sums up, by itself or onto a parameter.  False: it makes
   something else.  Parts that come in may be summed outside, too, so once for both. */
static bool
take_branch(Chain *chain, const Op *op, int k, int result, Branches *all)
{
	Block *body = op->bodies[k];
	const Step *before = chain->steps;
	double bytes = 0;

	if (!take_sum(chain, body, body->last->operands[result])) {
		const Value *start = all->param < 0 ? NULL : body->params[all->param];
		const Value *end = follow(chain, body, start, body->last->operands[result]);
		if (!end)
			return false;
		all->param = end->index;
		all->added |= 1u << k;
	}
	for (const Step *s = chain->steps; s != before; s = s->next)
		if (s->move && s->move->block == body && s->move->operands[0]->def)
			bytes += bytes_moved(chain->p, s->move);
	all->fewest = fmin(all->fewest, bytes);
	return true;
}

/* What they add to becomes partial; false if a branch uses it otherwise. */
static bool
take_params(Chain *chain, const Op *op, const Branches *all)
{
	for (int k = 0; k < op->nbodies && all->param >= 0; k++) {
		Value *v = op->bodies[k]->params[all->param];
		if (v->uses && !(all->added >> k & 1))
			return false;
		add_step(chain, NULL, v);
	}
	return true;
}

/* All branches make sums of the same parts, or add some to these parts, or leave them.  Does
   one sum after the `if` move no more than what is summed now, whatever branch is taken? */
static bool
follow_result(Chain *chain, const Op *op, int result, Branches *all)
{
	Value *parts = NULL;
	double before = 0;

	*all = (Branches){.param = handed_on(op, result), .fewest = INFINITY};
	if (all->param >= 0 && !as_parts(op->operands[all->param + 1], NULL))
		return false;
	for (int k = 0; k < op->nbodies; k++)
		if (!take_branch(chain, op, k, result, all))
			return false;
	if (!is_whole_chain(chain) || !take_params(chain, op, all))
		return false;
	if (all->param >= 0)
		parts = as_parts(op->operands[all->param + 1], &chain->partial);
	if (parts && parts->uses == 1
		&& loops_changing(chain->p, parts) == loops_around(op->block))
		before = bytes_between(chain->p, parts, &chain->partial, &chain->whole);
	return bytes_between(chain->p, op->results[result], &chain->partial, &chain->whole)
		<= all->fewest + before
		&& (!chain->scattered
			|| (before > 0 && has_room(chain->p, chain, op->results[result])));
}

void
reduce_after_branches(Partitioner *p, Op *op)
{
	for (int k = 0; k < op->nbodies; k++)
		block_count_uses(op->bodies[k]);
	for (int i = 0; i < op->nresults; i++) {
		Chain chain = {.p = p};
		Branches all;
		if (follow_result(&chain, op, i, &all)) {
			take_steps(&chain);
			if (all.param >= 0)
				op->operands[all.param + 1] =
					start_in_parts(p, op, all.param + 1, &chain);
			source_of(p, op->results[i])->sum_requested = chain.requested;
		}
		arena_reset(p->scratch);
	}
}
