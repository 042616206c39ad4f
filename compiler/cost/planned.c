/*
 * planned.c - the collectives of a program as they are before it is scheduled.
 *
 *   for 4 turns: collective-permute, dot     ->  one all-gather, done in pieces
 *   the first, the other trips of a loop     ->  one all-reduce, as often as in the loop
 *
 * `pipeline`, the first pass that schedules, notes them (Module.planned); ops say which they
 * do (Op.planned).  A module of which nothing is noted has those that are in it.
 */
#include "cost/ledger.h"
#include "ir/flow.h"

/* A row of the ledger. */
static PlannedMove
move_of(const Module *m, const Transfer *x)
{
	int column;
	PlannedMove move = {
		.kind = x->kind,
		.axes = x->axes,
		.operand = x->op->operands[0]->type,
		.result = x->op->results[0]->type,
		.bytes = whole_bytes(x->bytes),
		.trips = x->trips,
		.counted = x->counted,
		.label = x->op->label,
	};

	source_position(m->session, x->op->range, &move.line, &column);
	return move;
}

static PlannedRun *
planned_of(Module *m)
{
	const Ledger *l = module_ledger(m);
	PlannedRun *planned = NEW(m->arena, PlannedRun);

	*planned = (PlannedRun){
		.moves = NEW_ARRAY(m->arena, PlannedMove, l->n + 1),
		.n = l->n,
		.received = l->work.wire_bytes,
		.flops = NOT_COUNTED,
	};
	for (int i = 0; i < l->n; i++)
		planned->moves[i] = move_of(m, &l->transfers[i]);
	return planned;
}

void
module_note_planned(Module *m)
{
	int n = 0;

	m->planned = planned_of(m);
	m->ledger = NULL; /* it is about to change */
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op_communicates(op))
			op->planned = ++n;
	if (n != m->planned->n)
		die("collectives of the ledger are not those of the program");
}

/* Is there work between its begin and its done? */
static bool
has_work_beside(const Op *move)
{
	for (const Op *op = move->async ? move->next : NULL; op; op = op->next) {
		if (op->kind == O_done && op->operands[0]->def == move)
			return false;
		if (op_has_blocks(op) || (op_is_step(op) && !op_communicates(op)))
			return true;
	}
	return false;
}

/* An op does a move, or some of it. */
static void
note_move(Collective *collective, const Transfer *x)
{
	if (!collective->move)
		collective->move = x->op;
	collective->async |= has_work_beside(x->op);
	collective->in_ring |= x->op->whole && x->kind != collective->x->kind;
	if (x->kind == collective->x->kind)
		collective->times += lesser(x->trips, INT64_MAX - collective->times);
}

/* Each device's part goes round by itself; else it is cut, or done of a slice in each trip.
   How often a loop turns that nobody counts is not told of its copies either. */
int64_t
collective_pieces(const Collective *collective)
{
	const PlannedMove *x = collective->x;

	if (collective->in_ring)
		return axes_size(&x->axes);
	return x->counted ? collective->times / greater(x->trips, 1) : 1;
}

Collective *
planned_collectives(Module *m, const PlannedRun **planned)
{
	const Ledger *l = module_ledger(m);
	bool noted = m->planned;
	const PlannedRun *p = *planned = noted ? m->planned : planned_of(m);
	Collective *all = NEW_ARRAY(m->arena, Collective, p->n + 1);

	for (int i = 0; i < p->n; i++)
		all[i].x = &p->moves[i];
	for (int i = 0; i < l->n; i++) {
		const Op *op = l->transfers[i].op;
		int number = op->whole ? op->whole->planned : op->planned;
		if (!noted)
			note_move(&all[i], &l->transfers[i]);
		else if (number)
			note_move(&all[number - 1], &l->transfers[i]);
	}
	for (int i = 0; i < p->n; i++)
		if (p->moves[i].with) {
			all[i].move = all[p->moves[i].with - 1].move;
			all[i].async = all[p->moves[i].with - 1].async;
			all[i].in_ring = all[p->moves[i].with - 1].in_ring;
			all[i].times = all[p->moves[i].with - 1].times;
		}
	return all;
}
