/*
 * ops.c - one op after the other: its plan, and its operands moved to where the plan
 * wants them.
 */
#include "shard/partition/partition.h"

void
partition_param(Partitioner *p, Value *v)
{
	Source *s = source_of(p, v);

	s->final = placement_close(v->placement);
	v->placement = s->final;
	add_form(p, s, v);
}

/* constraint, reshard, barrier, shard_like: the operand in the result's
   placement. */
static void
partition_move(Partitioner *p, Op *op)
{
	Value *v = op->results[0], *moved;
	Source *s = source_of(p, v);
	bool requested = op->kind == O_constraint || op->kind == O_reshard;

	moved = value_in(p, op->operands[0], &s->final, op, 0, requested);
	if (moved->def && moved->def->kind == O_reshard && requested)
		moved->def->requested = true;
	add_form(p, s, moved);
	s->alias = moved;
	op_remove(op);
}

bool
asks_for_place(const Value *v)
{
	return v->annotated && !v->annotated_open;
}

static void
partition_output(Partitioner *p, Op *op)
{
	Value *v = op->results[0];
	Source *s = source_of(p, v);

	set_operand(p, op, 0, &s->final, asks_for_place(v));
	v->placement = s->final;
	add_form(p, s, v);
}

/* A partial sum that a placed let or result asks to be settled may be settled
   on the way there, before a linear op. */
static bool
settles_request(const Partitioner *p, const Op *op, int operand)
{
	const Source *s = source_of(p, op->operands[operand]);

	return op->nresults == 1 && source_of(p, op->results[0])->requested
		&& s->forms->value->placement.nunreduced;
}

static bool
moves_nothing(Partitioner *p, Source *s, const Placement *result)
{
	Placement final = s->final;

	s->final = *result;
	Choice c = choose_once(p);
	s->final = final;
	return c.bytes == 0;
}

/* Operands move only because the result is asked for elsewhere: where
   propagation put it, or where one of them is, nothing would. */
static bool
moves_on_request(Partitioner *p, const Op *op)
{
	Source *s = source_of(p, op->results[0]);

	if (op->nresults != 1 || !s->requested)
		return false;
	if (moves_nothing(p, s, &s->inferred))
		return true;
	if (!ops[op->kind].pointwise)
		return false;
	for (int i = 0; i < op->noperands; i++) {
		const Value *x = source_of(p, op->operands[i])->forms->value;
		if (x->placement.rank == s->inferred.rank && !x->placement.nunreduced
			&& moves_nothing(p, s, &x->placement))
			return true;
	}
	return false;
}

static void
partition_plain(Partitioner *p, Op *op)
{
	p->op = op;
	p->rule = rule_book_get(p->rules, op);
	Choice c = choose_once(p);
	bool asked = c.bytes > 0 && moves_on_request(p, op);
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		v->placement = choice_tensor(p, &c, op->noperands + i);
		add_form(p, source_of(p, v), v);
	}
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_tensor(p, &c, i);
		set_operand(p, op, i, &to, asked || settles_request(p, op, i));
	}
}

static void
partition_op(Partitioner *p, Op *op)
{
	static void (*const special[OP_COUNT])(Partitioner *, Op *) = {
		[O_return] = partition_return,
		[O_output] = partition_output,
		[O_call] = partition_region,
		[O_while] = partition_while,
		[O_if] = partition_region,
		[O_manual] = partition_region,
		[O_constraint] = partition_move,
		[O_reshard] = partition_move,
		[O_barrier] = partition_move,
		[O_shard_like] = partition_move,
	};

	(special[op->kind] ? special[op->kind] : partition_plain)(p, op);
}

void
partition_block(Partitioner *p, Block *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		for (int i = 0; i < op->nresults; i++)
			source_of(p, op->results[i])->final =
				placement_close(op->results[i]->placement);
		partition_op(p, op);
	}
}

/* What a loop carries has one placement in every round, a manual region's results
   are as its signature says, and explicit code moves what it says. */
void
draw_in(Partitioner *p, Value *v, const Placement *to, bool requested)
{
	Source *s = source_of(p, v);

	if (v->uses != 1 || !v->def || v->def->kind == O_constraint || v->def->kind == O_reshard
		|| v->def->kind == O_while || v->def->kind == O_manual
		|| v->def->mode == MODE_explicit)
		return;
	s->inferred = placement_close(v->placement);
	s->drawn = true;
	s->requested = requested;
	v->placement = *to;
}
