/*
 * parts.c - what is known of sums and their parts before anything moves: by the text, by
 * placements alone.
 */
#include "ir/targets.h"
#include "shard/partition/partition.h"

enum { MAX_ADDITIONS = 3 }; /* that are looked at behind a loop */

/* ---- ops -------------------------------------------------------------------------- */

bool
combines(const Op *op, Combiner combiner)
{
	return ops[op->kind].pointwise && op->noperands == 2
		&& partial_through(op, 0, combiner) == THROUGH_together;
}

/* Moves change nothing. */
static bool
may_be_infinite(const Partitioner *p, const Value *v)
{
	while (v->id < 0 && v->def && op_is_move(v->def))
		v = v->def->operands[0];
	return v->id < 0 || p->infinite[v->id];
}

bool
hands_on_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner)
{
	Through through = partial_through(op, operand, combiner);
	PartialKind kind = ops[op->kind].partial;

	if (kind == PARTIAL_pad || kind == PARTIAL_choice || kind == PARTIAL_linear
		|| kind == PARTIAL_running)
		return through == THROUGH_alone;
	if (op->noperands == 1)
		return through != THROUGH_no
			&& (ops[op->kind].pointwise || kind == PARTIAL_move);
	return op->noperands == 2 && ops[op->kind].pointwise && through == THROUGH_alone
		&& !may_be_infinite(p, op->operands[1 - operand]);
}

bool
passes_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner)
{
	if (hands_on_parts(p, op, operand, combiner))
		return true;
	return partial_through(op, operand, combiner) == THROUGH_alone
		&& (op_reduces(op)
			|| (op_is_product(op)
				&& !may_be_infinite(p, op->operands[1 - operand])));
}

bool
goes_through_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner)
{
	return op->results[0]->placement.nunreduced ? hands_on_parts(p, op, operand, combiner)
						    : passes_parts(p, op, operand, combiner);
}

bool
adds_up(const Op *op, Combiner combiner)
{
	bool alike = op->noperands > 1 && ops[op->kind].partial == PARTIAL_move;

	for (int k = 0; k < op->noperands && alike; k++)
		alike = placement_equal(&op->operands[k]->placement,
			&op->results[0]->placement);
	return alike || combines(op, combiner);
}

bool
makes_sums(Partitioner *p, const Op *op, Combiner *combiner)
{
	const Rule *r = op->nbodies ? NULL : rule_book_get(p->rules, op);
	bool reduces = false;

	for (int f = 0; r && f < r->nfactors; f++)
		reduces |= r->factors[f].kind == F_reduce;
	if (reduces)
		*combiner = r->combiner;
	return reduces;
}

/* ---- placements ------------------------------------------------------------------- */

/* What is left of an axis in front of those that it ends with: of X = 6 over X:(2)3 it is
   X:(1)2. */
static AxisRef
major_part(AxisRef axis, const AxisList *over)
{
	for (int i = 0; i < over->n; i++) {
		AxisRef end = over->a[i];
		if (axis_contains(axis, end)
			&& (int64_t)end.pre * end.size == (int64_t)axis.pre * axis.size)
			axis.size = (int32_t)(end.pre / axis.pre);
	}
	return axis;
}

Placement
partial_over(const Placement *at, const AxisList *over, Combiner combiner)
{
	Placement to = *at;

	for (int d = 0; d < to.rank; d++) {
		AxisList axes = placement_dim(&to, d), kept = {0};
		for (int i = 0; i < axes.n; i++) {
			AxisRef left = major_part(axes.a[i], over);
			if (left.size > 1 && axes_can_coexist(over, left))
				axes_append(&kept, left);
		}
		placement_set_dim(&to, d, &kept);
	}
	placement_set_unreduced(&to, over, combiner);
	return to;
}

/* Is it `reduced`, but for dims that are split further along some of the axes? */
static bool
is_scattered(const Placement *reduced, const Placement *whole, const AxisList *along)
{
	for (int d = 0; d < whole->rank; d++) {
		AxisList before = placement_dim(reduced, d), axes = placement_dim(whole, d);
		if (!axes_is_prefix(&before, &axes))
			return false;
		AxisList more = axes_drop_prefix(&axes, &before);
		for (int i = 0; i < more.n; i++)
			if (!axes_overlap(along, more.a[i]))
				return false;
	}
	return !whole->nunreduced;
}

bool
combines_into(const Placement *partial, const Placement *whole, bool *scattered)
{
	Placement reduced = *partial;
	AxisList none = {0}, along = placement_unreduced(partial);

	placement_set_unreduced(&reduced, &none, C_add);
	*scattered = !placement_equal(&reduced, whole);
	return along.n && (!*scattered || is_scattered(&reduced, whole, &along));
}

/* ---- loops ------------------------------------------------------------------------ */

int
loops_around(const Block *b)
{
	int n = 0;

	for (; b->parent; b = b->parent->block)
		n += op_is_loop(b->parent);
	return n;
}

int
loops_changing(const Partitioner *p, const Value *v)
{
	while (v->id < 0 && v->def && op_is_move(v->def))
		v = v->def->operands[0];
	return v->id < 0 ? 0 : p->changes[v->id];
}

/* The op that uses it, where there is one; it stands behind whatever makes it. */
static const Op *
only_user(const Value *v)
{
	const Op *behind = v->def ? v->def->next : v->block->first;

	for (const Op *op = behind; op && v->uses == 1; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == v)
				return op;
	return NULL;
}

/* Is it an operand of the op that parts of a sum go through, wherever they are split? */
static bool
goes_through(const Partitioner *p, const Op *op, const Value *v)
{
	int k = op->noperands == 2 && op->operands[1] == v;

	return op_is_identity(op)
		|| (ops[op->kind].pointwise && hands_on_parts(p, op, k, C_add)
			&& (op->noperands == 1 || value_is_literal(op->operands[1 - k])));
}

/* What is made of it, a larger float, a multiple, and only added to something; NULL: none
   is, or the sum may not be elsewhere than where it was written to be, if it was. */
static const Value *
only_added(const Partitioner *p, const Value *v, bool elsewhere)
{
	const Op *user = only_user(v);

	while (user && goes_through(p, user, v)) {
		v = user->results[0];
		user = only_user(v);
	}
	if (!user || user->kind != O_add)
		return NULL;
	user = only_user(user->results[0]);
	return !elsewhere || !user || !op_is_identity(user) || !user->results[0]->annotated
		? v
		: NULL;
}

double
trips_for_one_sum(const Partitioner *p, const Op *loop, int result, bool scattered,
	double *larger)
{
	const Op *around = loop->block->parent;
	const Value *v = loop->results[result], *added = NULL;

	if (around && op_is_loop(around) && op_ints(around, A_trips)->n)
		added = only_added(p, v, scattered);
	*larger = added ? (double)type_bytes(&added->type) / (double)type_bytes(&v->type) : 1;
	return added ? (double)op_int(around, A_trips) : 1;
}

/* Is it made of the result of another loop, by at most so many additions? */
static bool
is_made_of_loop(const Partitioner *p, const Value *v, const Op *loop, int additions)
{
	const Op *op = v->def;

	if (!op || op == loop)
		return false;
	if (op_is_loop(op))
		return v->uses == 1;
	for (int i = 0; i < op->noperands; i++)
		if ((op->kind == O_add ? additions > 0 : goes_through(p, op, op->operands[i]))
			&& is_made_of_loop(p, op->operands[i], loop,
				additions - (op->kind == O_add)))
			return true;
	return false;
}

bool
shares_one_sum(const Partitioner *p, const Op *loop, int result)
{
	const Value *v = loop->results[result], *added;
	double larger;

	if (trips_for_one_sum(p, loop, result, true, &larger) > 1)
		return true;
	for (int n = 0; n < MAX_ADDITIONS && (added = only_added(p, v, false)); n++) {
		const Op *op = only_user(added);
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] != added
				&& is_made_of_loop(p, op->operands[i], loop, 1))
				return true;
		v = op->results[0];
	}
	return false;
}

int64_t
room_left(const Partitioner *p)
{
	return p->module->mesh.target->hbm_bytes / 4 - p->accumulated;
}
