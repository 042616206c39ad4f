/*
 * moves.c - moving values to where they are wanted.
 *
 * A move is made from the cheapest form and becomes a form itself, so equal moves are
 * shared and a move back is no move.
 */
#include "shard/partition/partition.h"

/* The user's, at the operand if dumps know more than the op's line; of a partial sum
   that of the op that made it, behind the linear ops by which it was delayed. */
static Reason
reason_of(const Value *v, const Op *user, int operand, bool requested)
{
	Reason r = {user->label, user->range, requested};

	if (user->operand_ranges && user->operand_ranges[operand].file == user->range.file
		&& user->operand_ranges[operand].line == user->range.line)
		r.range = user->operand_ranges[operand];
	for (const Value *source = v->placement.nunreduced ? v : NULL; source && source->def;) {
		const Op *maker = source->def;
		r.label = maker->label;
		r.range = maker->range;
		/* a body that makes some, else an operand */
		Flow f = {.to = (Value *)source};
		for (source = NULL; flow_next_to(&f);)
			if (f.kind == FLOW_out && f.from->def && f.from->placement.nunreduced)
				source = f.from;
		for (int i = maker->noperands - 1; i >= 0 && !source; i--)
			if (maker->operands[i]->placement.nunreduced && maker->operands[i]->def)
				source = maker->operands[i];
	}
	return r;
}

Value *
insert_reshard(Partitioner *p, Value *v, const Placement *to, Op *before, Reason why)
{
	/* of what has no place of its own, as a carried value: where it is needed */
	Make k = {.module = p->module,
		.before = before,
		.range = why.range.file ? why.range : before->range,
		.label = why.label,
		.mode = before->mode == MODE_backward ? MODE_backward : MODE_auto,
		.name = v->name};
	Value *moved = make_unary(k, O_reshard, v);

	moved->placement = *to;
	moved->range = v->range;
	moved->unpadded = v->unpadded;
	moved->def->requested = why.requested;
	return moved;
}

Value *
move_behind(Partitioner *p, Value *v, const Placement *from, Op *before, Reason why)
{
	Placement to = v->placement;

	v->placement = *from;
	Value *moved = insert_reshard(p, v, &to, before, why);
	moved->uses = v->uses;
	v->uses = 1;
	return moved;
}

void
use_instead(Op *first, const Value *old, Value *new)
{
	for (Op *op = first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == old)
				op->operands[i] = new;
}

void
move_for_all(Partitioner *p, Value *v, const Placement *from, Op *before, Reason why)
{
	Value *moved = move_behind(p, v, from, before, why);

	use_instead(moved->def->next, v, moved);
}

Value *
recompute(Value *v, const Placement *to, Op *before)
{
	Op *copy = op_clone(v->def);

	copy->results[0]->placement = *to;
	op_insert_before(before, copy);
	return copy->results[0];
}

/* Where another user will want it is made now, if it goes from there to `to`; who wants
   it in `to` will find it. */
static void
make_wanted(Partitioner *p, Value *v, const Placement *to, Op *user, int operand,
	bool requested)
{
	Source *s = source_of(p, v);
	Want *wants = s->wants;
	Form *form;
	const ReshardPlan *plan = cheapest_form(p, v, to, &form);
	MovePrice price = {plan->bytes, plan->seconds, plan->collectives};

	for (Want *w = wants; w; w = w->next)
		w->again |= placement_equal(&w->at, to);
	const Want *way = share_price(p, v, to, &price);
	s->wants = NULL;
	p->swayed |= way != NULL;
	if (way)
		value_in(p, v, &way->at, user, operand, requested || way->requested);
	s->wants = wants;
}

/* What was converted to more bytes, padded, is windows or a view, made when what it is made of
   is there. */
static Value *
made_in(Partitioner *p, Value *v, const Placement *to, Op *user, int operand, bool requested)
{
	Placement at;

	if (!made_of_place(p, v, to, &at))
		die("%%%s is moved as what it is made of, which cannot be there", v->name);
	Value *from = made_of(p, v), *before;
	Value *narrow = value_in(p, from, &at, user, operand, requested);
	Value *moved = recompute(v, to, user), *wide = moved;
	Placement place = *to;

	while ((before = before_moves(wide->def->operands[0])) != from) {
		view_place(wide->def, &place, &place);
		wide->def->operands[0] = recompute(before, &place, wide->def);
		wide = wide->def->operands[0];
	}
	wide->def->operands[0] = narrow;
	add_form(p, source_of(p, v), moved);
	return moved;
}

/* The value's form in `to`, made before op `user` if there is none. */
Value *
value_in(Partitioner *p, Value *v, const Placement *to, Op *user, int operand, bool requested)
{
	Source *s = source_of(p, v);
	Form *form = NULL;
	Value *moved;
	const ReshardPlan *plan = cheapest_form(p, v, to, &form);

	if (!is_form_of(p, form, v))
		return made_in(p, v, to, user, operand, requested);
	if (placement_equal(&form->value->placement, to))
		return form->value;
	requested |= s->sum_requested && placement_equal(to, &s->final);
	if (value_is_literal(v) && !to->nunreduced) {
		moved = recompute(v, to, user);
	} else {
		const ReshardPlan *settled =
			reshard_plan(p->resharder, &v->type, &s->final, to);
		/* many users: settle once where propagation put it */
		if (v->uses > 1 && !s->at_final && settled->bytes < plan->bytes
			&& !placement_equal(&s->final, to))
			value_in(p, v, &s->final, user, operand, requested);
		make_wanted(p, v, to, user, operand, requested);
		plan = cheapest_form(p, v, to, &form);
		if (!is_form_of(p, form, v))
			return made_in(p, v, to, user, operand, requested);
		if (placement_equal(&form->value->placement, to))
			return form->value;
		moved = plan->bytes > 0 ? hoisted(p, v, to, requested) : NULL;
		if (!moved)
			moved = insert_reshard(p, form->value, to, user,
				reason_of(form->value, user, operand, requested));
	}
	add_form(p, s, moved);
	return moved;
}

void
set_operand(Partitioner *p, Op *op, int i, const Placement *to, bool requested)
{
	/* the move may append to the op's operands (see hoisted()) */
	Value *v = value_in(p, op->operands[i], to, op, i, requested);

	op->operands[i] = v;
}
