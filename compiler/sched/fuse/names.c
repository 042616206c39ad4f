/*
 * names.c - what each value of a device program is a name of, through calls,
 * loops and branches, and which values are offsets.
 *
 *   call softmax(x): p            p is x, the call's result what it returns
 *   while (x, w): a, b            a has a place of its own, also as the result;
 *     return f(a), b              b is w, for the loop only hands it on
 *   if (p, x): c                  c is x
 *   out = output(h)               out is h
 */
#include "sched/fuse/fuse.h"

Value *
source_value(const Fuse *f, const Value *v)
{
	if (!f->source)
		return (Value *)v;
	while (f->source[v->id] != v)
		v = f->source[v->id];
	return f->source[v->id];
}

Value *
elements_of(const Fuse *f, const Value *v)
{
	v = source_value(f, v);
	while (v->def && op_renames(v->def))
		v = operand(f, v->def, 0);
	return source_value(f, v);
}

static void
is(Fuse *f, const Value *v, const Value *other)
{
	f->source[v->id] = source_value(f, other);
}

/* A result in a place of its own is copied there: what comes in stays. */
static void
name_output(Fuse *f, const Op *op)
{
	const Value *out = op->results[0], *elements = elements_of(f, op->operands[0]);
	Value *x = operand(f, op, 0);

	if (!elements->def && elements->block == f->module->entry)
		return;
	if (x->no_placement) {
		x->placement = out->placement;
		x->no_placement = out->no_placement;
		x->unpadded = out->unpadded;
	}
	Type whole = value_whole_type(x), wanted = value_whole_type(out);
	if (placement_equal(&x->placement, &out->placement) && type_equal(&whole, &wanted))
		is(f, out, x);
}

static void name_block(Fuse *f, const Block *b);

static void
name_while(Fuse *f, const Op *op)
{
	const Block *condition = op->bodies[0], *body = op->bodies[1];

	for (int i = 0; i < body->nparams; i++) {
		f->source[body->params[i]->id] = body->params[i];
		f->source[condition->params[i]->id] = body->params[i];
	}
	name_block(f, condition);
	name_block(f, body);
	for (int i = 0; i < body->nparams; i++) {
		if (elements_of(f, body->last->operands[i]) == body->params[i])
			is(f, body->params[i], op->operands[i]);
		is(f, op->results[i], body->params[i]);
	}
}

static void
name_block(Fuse *f, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nresults; i++)
			f->source[op->results[i]->id] = op->results[i];
		if (op_is_loop(op)) {
			name_while(f, op);
			continue;
		}
		for (Flow in = {.op = op}; flow_next(&in);)
			if (in.kind == FLOW_in)
				is(f, in.to, in.from);
		for (int i = 0; i < op->nbodies; i++)
			name_block(f, op->bodies[i]);
		for (int i = 0; i < op->nresults && op_is_composite(op); i++)
			is(f, op->results[i], op->bodies[0]->last->operands[i]);
		if (op_is_identity(op))
			name_output(f, op);
	}
}

static void
note_change(Fuse *f, const Value *v, const Op *op)
{
	const Op **first = &f->changes[elements_of(f, v)->id];

	*first = *first ? *first : op;
}

/* What shares its buffer with what is made of it: by a change of a part, in rounds of a loop,
   as the result of a branch. */
static void
note_changes(Fuse *f, const Op *op)
{
	int carries = op_is_loop(op) ? op->noperands : op_changes(op);

	for (int i = 0; i < carries; i++)
		if (!op_is_loop(op) || !loop_hands_on(op, i))
			note_change(f, op->operands[i], op);
	for (int b = 0; op_is_branch(op) && b < op->nbodies; b++) {
		const Op *last = op->bodies[b]->last;
		for (int i = 0; i < last->noperands; i++)
			note_change(f, last->operands[i], op);
	}
}

/*
 * Offsets are of rank 0 and made of this device's id and constants alone, or what a
 * table has for this device.  Such a value is an ordinary C variable of run().
 */
void
names_find(Fuse *f)
{
	const Block *entry = f->module->entry;

	for (int i = 0; i < entry->nparams; i++)
		f->source[entry->params[i]->id] = entry->params[i];
	name_block(f, entry);
	for (const Op *op = entry->first; op; op = op_following(op, entry)) {
		note_changes(f, op);
		bool id = op->kind == O_partition_id, any = id;
		bool all =
			id || (op_is_offset(op) && op->noperands && !op->results[0]->type.rank);
		for (int i = 0; i < op->noperands && all; i++) {
			const Value *v = operand(f, op, i);
			any |= f->offset[v->id];
			all = f->offset[v->id] || (v->def && op_has(v->def, A_value));
		}
		if (any && all)
			f->offset[op->results[0]->id] = true;
	}
}
