/*
 * chain.c - sums that are added up are followed, and then become partial.
 *
 * From what a round of a loop makes of a carried value the way back to what it began with is
 * followed: a chain of values that nothing else uses.  On it are additions, factors that are
 * finite, choices, branches, and loops inside; what it began with may have several uses, all
 * of them on the chain: acc + (all_reduce(x) - acc) / 8, or where(p, acc + all_reduce(x),
 * acc).  If all that is added is partial alike, or whole, each device adds what it has, one
 * of them what is whole, and one all-reduce after the chain is enough: acc = acc * 0.9 +
 * all_reduce(x) + r becomes acc * 0.9 + x + r.  All-reduces and reduce-scatters over
 * different axes become one over all of them, for parts over some are parts over all: one
 * device along the others has them, the others zeros; where that does not pay, or there is
 * no room, only those over the axes of the first do.  The same holds for maxima and the
 * like, for slices that are written each in its place, and for rows that are added where
 * indices say.
 */
#include "shard/partition/chain.h"

void
add_step(Chain *chain, Op *move, Value *partial)
{
	Step *s = NEW(chain->p->scratch, Step);

	*s = (Step){.move = move, .partial = partial, .next = chain->steps};
	chain->steps = s;
}

/* The op makes parts of those of its operands that are, whatever the others are. */
static void
add_beside(Chain *chain, Op *op, bool *parts)
{
	add_step(chain, NULL, op->results[0]);
	chain->steps->beside = op;
	chain->steps->parts = parts;
}

/* One device has it then, or what is split each its own. */
static void
add_whole(Chain *chain, Op *user, int operand)
{
	add_step(chain, NULL, NULL);
	chain->steps->user = user;
	chain->steps->whole = operand;
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

/* Sums over some axes and sums over others of the same whole are sums over all of them, of
   which each device has what is split along these whole.  False if there is no such. */
static bool
widen(Chain *chain, const Placement *other)
{
	AxisList all = placement_unreduced(&chain->partial), more = placement_unreduced(other);
	Combiner combiner = (Combiner)other->combiner;
	Placement wide;

	if (chain->partial.combiner != combiner)
		return false;
	if (placement_equal(&chain->partial, other))
		return true;
	if (!axes_unite(&all, &more))
		return false;
	wide = partial_over(&chain->whole, &all, combiner);
	if (chain->narrow || !placement_is_sound(&wide))
		return false;
	chain->widened |= !placement_equal(&wide, &chain->partial);
	chain->partial = wide;
	return true;
}

/* An all-reduce, or the other way round; a reduce-scatter.  Those of a chain make the same,
   and become one over the axes of all. */
bool
is_sum(Chain *chain, const Op *op, bool reduces)
{
	if (!op || !op_is_move(op))
		return false;
	const Placement *from = &op->operands[0]->placement, *to = &op->results[0]->placement;
	const Placement *partial = reduces ? from : to, *whole = reduces ? to : from;
	bool scattered;
	if (!combines_into(partial, whole, &scattered)
		|| (chain->known && !placement_equal(&chain->whole, whole)))
		return false;
	if (!chain->known) {
		chain->known = true;
		chain->scattered = scattered;
		chain->partial = *partial;
		chain->whole = *whole;
	}
	if (!widen(chain, partial))
		return false;
	chain->widened |= scattered && !chain->scattered;
	chain->scattered |= scattered;
	return true;
}

/* The sums of `inner` are handed on by an op that places them otherwise.  False if they
   are not those of the chain. */
static bool
join_sum(Chain *chain, const Chain *inner, const Placement *partial, const Placement *whole)
{
	Chain joined = *inner;

	joined.partial = *partial;
	joined.whole = *whole;
	if (chain->known
		&& (chain->scattered != inner->scattered
			|| !placement_equal(&chain->whole, whole)
			|| !widen(&joined, &chain->partial)))
		return false;
	joined.widened = chain->widened
		|| (chain->known && !placement_equal(&joined.partial, &chain->partial));
	*chain = joined;
	return true;
}

static bool
combines_parts(const Chain *chain, const Op *op)
{
	return partial_through(op, op->noperands - 1, (Combiner)chain->partial.combiner)
		== THROUGH_together;
}

/* One by one, of one tensor or two. */
static bool
is_elementwise(const Op *op)
{
	return ops[op->kind].pointwise && !op_is_move(op)
		&& (op->noperands <= 2 || op->kind == O_select);
}

Value *
as_splat(Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	bool splat = v->def && v->def->kind == O_broadcast && !v->def->operands[0]->type.rank;
	return splat ? v : NULL;
}

static bool *
one_part(const Chain *chain, const Op *op, int k)
{
	bool *parts = NEW_ARRAY(chain->p->scratch, bool, op->noperands);

	parts[k] = true;
	return parts;
}

/* Element by element, and each of what goes beside parts, but for what `adds` to them, is one
   number? */
static bool
splats_beside(const Op *op, const bool *parts, bool adds)
{
	for (int i = 0; i < op->noperands; i++)
		if (!parts[i] && !(adds && partial_joins(op, i)) && !as_splat(op->operands[i]))
			return false;
	return ops[op->kind].pointwise;
}

/* Parts that the op has its operand k of become parts of its result, unless that is split
   along their axes.  What is split further than these are is whole then: of such element by
   element. */
static bool
hand_on(Chain *chain, const Chain *inner, Op *op, int k)
{
	Value *v = op->results[0];
	AxisList over = placement_unreduced(&inner->partial);
	Placement partial = v->placement;
	bool *parts = one_part(chain, op, k);

	if (!goes_through_parts(chain->p, op, k, (Combiner)inner->partial.combiner)
		|| (inner->scattered && !splats_beside(op, parts, false)))
		return false;
	if (inner->scattered)
		partial = inner->partial;
	else
		placement_set_unreduced(&partial, &over, (Combiner)inner->partial.combiner);
	if (!placement_is_sound(&partial) || !join_sum(chain, inner, &partial, &v->placement))
		return false;
	add_beside(chain, op, parts);
	return true;
}

/*
 * A slice that is written in its place is a sum; what was there before is the chain.  It
 * stays split along the dims that the slice has a part of only, and so can't be partial
 * over the axes of these:
 *
 *   g[i] = all_reduce(h)   h partial over Y, g [L@X, D]   g [L@X, D] partial over Y
 *                          h partial over X, g [L@X, D]   no
 */
static bool
take_slice(Chain *chain, const Block *b, const Op *op)
{
	const Value *stack = op->results[0], *slice = op->operands[1];
	Chain inner = *chain;

	inner.known = false;
	if (!take_sum(&inner, b, op->operands[1]))
		return false;
	Placement partial = inner.partial, whole = inner.whole;
	for (int d = 0; d < whole.rank; d++) {
		AxisList axes = placement_dim(&stack->placement, d);
		if (slice->type.dims[d] == stack->type.dims[d])
			continue;
		placement_set_dim(&partial, d, &axes);
		placement_set_dim(&whole, d, &axes);
	}
	if (!placement_is_sound(&partial) || !join_sum(chain, &inner, &partial, &whole))
		return false;
	chain->slices = true;
	return true;
}

int
handed_on(const Op *op, int result)
{
	for (int k = 0; k < op->nbodies; k++) {
		const Value *v = op->bodies[k]->last->operands[result];
		if (!v->def)
			return v->index;
	}
	return -1;
}

/* Some branches make sums; what others make is whole. */
static bool
take_branches(Chain *chain, const Op *op, int result)
{
	const Value *v = op->results[result];
	bool sums = false;

	add_step(chain, NULL, op->results[result]);
	for (int k = 0; k < op->nbodies; k++) {
		Op *end = op->bodies[k]->last;
		Chain before = *chain;
		if (take_sums(chain, end->block, end->operands[result])) {
			sums = true;
			continue;
		}
		*chain = before;
		if (!placement_equal(&end->operands[result]->placement, &v->placement))
			return false;
		add_whole(chain, end, result);
	}
	return sums;
}

/* What a branch alone is handed, if that is one. */
static bool
take_handed(Chain *chain, const Value *v)
{
	const Op *op = v->block->parent;

	if (!op || !op_is_branch(op))
		return false;
	for (int k = 0; k < op->nbodies; k++)
		if (op->bodies[k]->params[v->index] != v
			&& op->bodies[k]->params[v->index]->uses)
			return false;
	if (!take_sum(chain, op->block, op->operands[v->index + 1]))
		return false;
	for (int k = 0; k < op->nbodies; k++)
		add_step(chain, NULL, op->bodies[k]->params[v->index]);
	return true;
}

bool
take_sum(Chain *chain, const Block *b, Value *v)
{
	Op *op = v->def;

	if (v->uses != 1 || v->block != b)
		return false;
	if (!op)
		return take_handed(chain, v);
	if (is_sum(chain, op, true)) {
		take_move(chain, op);
		chain->steps->leaf = true;
		return true;
	}
	if (op_is_branch(op))
		return take_branches(chain, op, v->index);
	if (op->kind == O_dynamic_update_slice) {
		add_step(chain, NULL, v);
		add_whole(chain, op, 0);
		return value_is_literal(op->operands[0]) && take_slice(chain, b, op);
	}
	for (int k = 0; k < op->noperands && k < 3 && op->nresults == 1; k++) {
		Chain inner = *chain;
		inner.known = false;
		if (ops[op->kind].partial != PARTIAL_move
			&& !goes_through_parts(chain->p, op, k, C_add))
			continue;
		if (take_sum(&inner, b, op->operands[k]) && hand_on(chain, &inner, op, k))
			return true;
	}
	return false;
}

static void take_others(Chain *chain, const Block *b, const Value *start, Op *op, int part);

bool
take_sums(Chain *chain, const Block *b, Value *v)
{
	Op *op = v->def;

	if (take_sum(chain, b, v))
		return true;
	if (v->uses != 1 || v->block != b || !op || op_is_move(op)
		|| !(is_elementwise(op) || adds_up(op, C_add)))
		return false;
	for (int k = 0; k < op->noperands; k++) {
		Chain before = *chain;
		if (take_sums(chain, b, op->operands[k])) {
			take_others(chain, b, NULL, op, k);
			return true;
		}
		*chain = before;
	}
	return false;
}

static const Value *follow(Chain *chain, const Block *b, const Value *start, Value *v);

/* What the chain began with is so once more where that has several uses. */
static bool
take_start(Chain *chain, const Block *b, const Value *start, Value *v)
{
	Chain before = *chain;

	if (start && start->uses > 1 && follow(chain, b, start, v))
		return true;
	*chain = before;
	return false;
}

/* Operand `part` is parts.  So may others be; else they go beside them. */
static void
take_others(Chain *chain, const Block *b, const Value *start, Op *op, int part)
{
	bool *parts = one_part(chain, op, part);

	for (int k = 0; k < op->noperands; k++) {
		Chain before = *chain;
		if (k == part)
			continue;
		if ((take_start(chain, b, start, op->operands[k])
			    || take_sums(chain, b, op->operands[k]))
			&& combines_parts(chain, op))
			parts[k] = true;
		else
			*chain = before;
	}
	add_beside(chain, op, parts);
}

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
		take_others(chain, b, start, op, k);
		return end;
	}
	return NULL;
}

/* Each branch adds to the same one of its params, or leaves it.  Which one is known from
   a branch that leaves it, else from the first. */
static const Value *
follow_branches(Chain *chain, const Block *b, const Value *start, const Op *op, int result)
{
	int param = handed_on(op, result);

	for (int k = 0; k < op->nbodies; k++) {
		Block *body = op->bodies[k];
		const Value *end = follow_chain(chain, body,
			param < 0 ? NULL : body->params[param], body->last->operands[result]);
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
		|| !follow_chain(chain, op->bodies[LOOP_BODY],
			op->bodies[LOOP_BODY]->params[result], next))
		return NULL;
	return follow(chain, b, start, op->operands[result]);
}

/* ... and counts how often it comes to `start`, if that has several uses. */
static const Value *
follow(Chain *chain, const Block *b, const Value *start, Value *v)
{
	Op *op = v->def;

	if (v->block != b || (v->uses != 1 && v != start))
		return NULL;
	if (!op && start && v != start)
		return NULL;
	if (!op) {
		chain->reached++;
		return v;
	}
	if (is_elementwise(op))
		return follow_pointwise(chain, b, start, op);
	add_step(chain, NULL, v);
	if (op->kind == O_dynamic_update_slice)
		return take_slice(chain, b, op) ? follow(chain, b, start, op->operands[0])
						: NULL;
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

const Value *
follow_chain(Chain *chain, const Block *b, const Value *start, Value *v)
{
	int before = chain->reached;

	chain->reached = 0;
	const Value *end = follow(chain, b, start, v);
	bool all = end && chain->reached == end->uses;
	chain->reached = before;
	return all ? end : NULL;
}

bool
is_placed(const Value *v, const Placement *at)
{
	return placement_equal(&v->placement, at) && v->placement.combiner == at->combiner;
}

double
bytes_between(Partitioner *p, const Value *v, const Placement *from, const Placement *to)
{
	return reshard_plan(p->resharder, &v->type, from, to)->bytes;
}

bool
becomes_freely(Partitioner *p, const Value *v, const Placement *to)
{
	return is_placed(v, to)
		|| ((!v->placement.nunreduced || v->placement.combiner == to->combiner)
			&& !(bytes_between(p, v, &v->placement, to) > 0));
}

/* Where it is in parts of all sums of the chain, if it is whole or in parts of some. */
static Placement
wide_parts(const Chain *chain, const Placement *at)
{
	AxisList over = placement_unreduced(&chain->partial);
	Placement to = *at;

	placement_set_unreduced(&to, &over, (Combiner)chain->partial.combiner);
	return to;
}

/* Where the result of an op on parts is then. */
static Placement
in_parts(const Chain *chain, const Op *op)
{
	return wide_parts(chain,
		chain->scattered ? &chain->partial : &op->results[0]->placement);
}

/* What is whole is added on one device, which moves nothing; of what is split each adds what it
   has.  It multiplies parts if it is finite, and everywhere where these are. */
static bool
goes_beside(const Chain *chain, const Op *op, const bool *parts)
{
	Placement to = in_parts(chain, op);
	bool adds = combines_parts(chain, op), goes = placement_is_sound(&to);

	for (int k = 0; k < op->noperands && goes; k++) {
		const Value *v = op->operands[k];
		if (parts[k])
			goes = (adds && partial_joins(op, k))
				|| hands_on_parts(chain->p, op, k,
					(Combiner)chain->partial.combiner);
		else
			goes = adds && partial_joins(op, k) ? becomes_freely(chain->p, v, &to)
							    : !v->placement.nunreduced;
	}
	return goes && (!chain->scattered || splats_beside(op, parts, adds));
}

/* Where the move of what is added leads then. */
static Placement
leaf_parts(const Chain *chain, const Op *move)
{
	AxisList over = placement_unreduced(&chain->partial);

	return partial_over(&move->results[0]->placement, &over,
		(Combiner)chain->partial.combiner);
}

/* Does what is added become parts over all axes of the chain, and what is made of it? */
static bool
goes_wide(const Chain *chain, const Step *step)
{
	Placement to = chain->partial;

	if (step->leaf)
		to = leaf_parts(chain, step->move);
	else if (step->partial && !chain->scattered)
		to = wide_parts(chain, &step->partial->placement);
	return placement_is_sound(&to)
		&& (!step->leaf || becomes_freely(chain->p, step->move->operands[0], &to));
}

static Placement
whole_parts(const Chain *chain, const Step *step)
{
	return chain->scattered
		? chain->partial
		: wide_parts(chain, &step->user->operands[step->whole]->placement);
}

static bool
goes_whole(const Chain *chain, const Step *step)
{
	Placement to = whole_parts(chain, step);

	return placement_is_sound(&to)
		&& becomes_freely(chain->p, step->user->operands[step->whole], &to);
}

bool
is_whole_chain(const Chain *chain)
{
	bool goes = chain->known;

	for (const Step *s = chain->steps; s && goes; s = s->next)
		goes = goes_wide(chain, s) && (!s->user || goes_whole(chain, s))
			&& (!s->beside || goes_beside(chain, s->beside, s->parts));
	return goes;
}

/* ---- changing it ------------------------------------------------------------ */

static void
set_beside(const Chain *chain, Op *op, const bool *parts)
{
	Placement to = in_parts(chain, op), whole = to;
	bool adds = combines_parts(chain, op);
	AxisList none = {0};

	placement_set_unreduced(&whole, &none, C_add);
	for (int k = 0; k < op->noperands; k++) {
		Value **other = &op->operands[k];
		if (parts[k])
			continue;
		bool joins = adds && partial_joins(op, k);
		if (!joins && chain->scattered)
			*other = recompute(as_splat(*other), &whole, op);
		else if (joins && !is_placed(*other, &to))
			*other = insert_reshard(chain->p, *other, &to, op, chain->why);
	}
}

static void
set_whole(const Chain *chain, const Step *step)
{
	Value **v = &step->user->operands[step->whole];
	Placement to = whole_parts(chain, step);

	if (!is_placed(*v, &to))
		*v = insert_reshard(chain->p, *v, &to, step->user, chain->why);
}

/* What is added in parts over fewer axes is moved to parts over all; of the others the only
   use of the move's result becomes one of its operand. */
static void
take_sum_away(const Chain *chain, const Step *step)
{
	Value *from = step->move->operands[0], *to = step->move->results[0];
	Placement wide = step->leaf ? leaf_parts(chain, step->move) : from->placement;

	if (!is_placed(from, &wide)) {
		to->placement = wide;
		step->move->requested = false;
		return;
	}
	use_instead(step->move->next, to, from);
	op_remove(step->move);
}

void
take_steps(Chain *chain)
{
	for (Step *s = chain->steps; s; s = s->next) {
		if (s->beside)
			set_beside(chain, s->beside, s->parts);
		if (s->partial && chain->scattered)
			s->partial->placement = chain->partial;
		else if (s->partial)
			s->partial->placement = wide_parts(chain, &s->partial->placement);
		if (s->user)
			set_whole(chain, s);
		if (s->move)
			take_sum_away(chain, s);
	}
}

double
bytes_moved(Partitioner *p, const Op *move)
{
	const Value *from = move->operands[0], *to = move->results[0];

	return bytes_between(p, from, &from->placement, &to->placement);
}

bool
chain_has_room(Partitioner *p, const Chain *chain, const Value *v)
{
	Type whole = placement_local(&v->type, &chain->partial);
	Type part = placement_local(&v->type, &chain->whole);
	int64_t more = type_bytes(&whole) - type_bytes(&part);

	if (more > room_left(p))
		return false;
	p->accumulated += more;
	return true;
}
