/*
 * regions.c - ops with bodies: the placements at their boundaries.
 *
 * A body is closed: its params have one placement each, the operands are moved
 * there, and what it returns is moved to where the results are wanted.
 *
 * Out of a loop goes what need not be in it:
 *   - a move of a value that does not change (an invariant) is made once,
 *     before the loop, and carried as one more invariant
 *     (hoist.c: also of what is computed from such values);
 *   - acc = acc + all_reduce(x), where nothing else looks at acc, becomes
 *     acc = acc + x with acc partial, and one all-reduce after the loop
 *     (accumulate.c).
 */
#include "shard/partition/partition.h"

/* ---- boundaries ----------------------------------------------------------------- */

/* What a loop carries now, which is partitioned next. */
static Loop *
loop_new(Partitioner *p, Op *op)
{
	Loop *loop = NEW(p->arena, Loop);
	int n = op->noperands;

	*loop = (Loop){.op = op, .n = n, .parent = p->loop};
	loop->outer = NEW_ARRAY(p->arena, Value *, n + 1);
	loop->invariant = NEW_ARRAY(p->arena, bool, n + 1);
	for (int i = 0; i < n; i++) {
		loop->outer[i] = op->operands[i];
		loop->invariant[i] = loop_hands_on(op, i);
	}
	return loop;
}

/* What chooses a branch is the same scalar everywhere, and what is asked of its
   result is asked of what makes it.  A composite, and a region along the other
   axes, is a program like any.  Results are where the last body returns them. */
void
partition_region(Partitioner *p, Op *op)
{
	const Block *last = op->bodies[op->nbodies - 1];
	Placement whole = placement_none(0);
	Loop *around = p->loop;
	int n = op->nresults; /* in the program */

	if (op_is_branch(op))
		set_operand(p, op, 0, &whole, false);
	if (op_is_loop(op))
		around = loop_new(p, op);
	/* Operands go where the first body's params want them.  Those of a manual region
	   are cut as the specs say; as the signature has it but for its open dims, which
	   ask for nothing. */
	for (Flow f = {.op = op}; flow_next(&f);) {
		if (f.kind != FLOW_in || f.to->block != op->bodies[0])
			continue;
		const Placement *spec = flow_spec(&f);
		Placement to = placement_close(f.to->placement);
		if (spec)
			to = manual_whole(spec, &to);
		set_operand(p, op, f.operand, &to, spec && !f.to->annotated_open);
	}
	p->loop = around;
	for (Flow f = {.op = op}; op_is_branch(op) && flow_next(&f);)
		if (f.kind == FLOW_out && source_of(p, f.to)->requested)
			draw_in(p, f.from, &source_of(p, f.to)->final, true);
	for (int i = 0; i < op->nbodies; i++)
		for (int k = 0; k < op->bodies[i]->nparams; k++)
			partition_param(p, op->bodies[i]->params[k]);
	for (int i = 0; i < op->nbodies; i++)
		partition_block(p, op->bodies[i]);
	if (op_is_loop(op)) {
		p->loop = around->parent;
		reduce_after(p, op, n);
	}
	if (op_is_branch(op))
		reduce_after_branches(p, op);
	for (Flow f = {.op = op}; flow_next(&f);) {
		if (f.kind != FLOW_out || f.user->block != last || f.index >= n)
			continue;
		f.to->placement = f.from->placement;
		if (flow_spec(&f))
			f.to->placement = manual_whole(flow_spec(&f), &f.from->placement);
		add_form(p, source_of(p, f.to), f.to);
	}
}

/* A body's results go where the op's results are wanted; a condition is a
   scalar; the entry's are `output`s, which are there. */
void
partition_return(Partitioner *p, Op *op)
{
	const Block *b = op->block;
	const Op *owner = b->parent;
	bool condition = owner && op_is_loop(owner) && b == owner->bodies[LOOP_CONDITION];
	bool manual = owner && owner->specs;

	for (int i = 0; i < op->noperands; i++) {
		if (op->operands[i]->id < 0) /* hoisted into the loop */
			continue;
		const Value *wanted = owner && !condition ? owner->results[i] : op->operands[i];
		const Source *s = source_of(p, wanted);
		Placement to = manual ? manual_inside(owner->axes, &s->final) : s->final;
		set_operand(p, op, i, &to,
			owner && (s->requested || (manual && !wanted->annotated_open)));
	}
}

/* ---- hoisting -------------------------------------------------------------------- */

Value *
carry(Op *loop, Value *outer, const Block *b)
{
	Value *params[2];
	Value *result;

	for (int i = LOOP_CONDITION; i <= LOOP_BODY; i++) {
		params[i] = block_add_param(loop->bodies[i], outer->name, &outer->type);
		params[i]->placement = outer->placement;
		params[i]->range = loop->range; /* it is carried for the loop */
		params[i]->unpadded = outer->unpadded;
	}
	op_add_operand(loop, outer);
	op_add_operand(loop->bodies[LOOP_BODY]->last, params[LOOP_BODY]);
	result = op_add_result(loop, outer->name, &outer->type);
	result->placement = outer->placement;
	result->unpadded = outer->unpadded;
	return params[b == loop->bodies[LOOP_BODY] ? LOOP_BODY : LOOP_CONDITION];
}

Value *
hoisted(Partitioner *p, Value *param, const Placement *to, bool requested)
{
	Loop *loop = loop_of(p, param), *inner = p->loop;
	Value *moved;

	if (!loop || param->index >= loop->n || !loop->invariant[param->index])
		return NULL;
	p->loop = loop->parent;
	moved = value_in(p, loop->outer[param->index], to, loop->op, param->index, requested);
	p->loop = inner;
	return carry(loop->op, moved, param->block);
}
