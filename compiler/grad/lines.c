/*
 * lines.c - some lines of a function as one checkpoint, to find out what would be kept then.
 *
 *   4   a = relu(dot(x, V))          b = checkpoint(x, V, W)
 *   5   b = tanh(dot(a, W))            return tanh(dot(relu(dot(x1, V1)), W1))
 *   6   c = dot(b, U)                c = dot(b, U)
 *
 * Of line 4 that is up to line 5, the last in which something of line 4 is used: it need not
 * be there in between.
 */
#include "grad/adjoint.h"
#include "grad/grad.h"

static bool
same_line(const Op *a, const Op *b)
{
	return a->range.file == b->range.file && a->range.line == b->range.line;
}

static Op *
end_of_line(Op *op)
{
	const Op *end = op->block->last;

	while (op->next != end && same_line(op->next, op))
		op = op->next;
	return op;
}

/* Of a block that is numbered. */
static bool
is_made_in(const Value *v, const Lines *lines)
{
	return v->def && v->def->id >= lines->first->id && v->def->id <= lines->last->id;
}

static bool
uses_any(const Op *op, const Lines *lines)
{
	bool any = false;

	for (int i = 0; i < op->noperands; i++)
		any |= is_made_in(op->operands[i], lines);
	return any;
}

Lines
lines_of(Op *op)
{
	Lines line = {op, end_of_line(op)};

	while (line.first->prev && same_line(line.first->prev, op))
		line.first = line.first->prev;
	Lines all = line;
	block_number(op->block);
	for (Op *user = line.last->next; user != op->block->last; user = user->next)
		if (uses_any(user, &line))
			all.last = end_of_line(user);
	return all;
}

/* The checkpoint's parameter for what is made before it. */
static Value *
bring_in(Op *again, const Lines *lines, Value *v, Value **params)
{
	if (is_made_in(v, lines))
		return v;
	if (!params[v->id]) {
		op_add_operand(again, v);
		params[v->id] = block_add_param(again->bodies[0], v->name, &v->type);
		params[v->id]->range = v->range;
	}
	return params[v->id];
}

static void
move_in(Op *again, const Lines *lines, Value **params)
{
	Op *end = lines->last->next;

	for (Op *op = lines->first, *next; op != end; op = next) {
		next = op->next;
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = bring_in(again, lines, op->operands[i], params);
		op_remove(op);
		op_append(again->bodies[0], op);
	}
}

/* What is used behind the checkpoint is a result of it. */
static void
hand_out(Make k, Op *again, Op *behind, const Lines *lines, Value **results)
{
	Value **inner = NEW_ARRAY(k.module->arena, Value *, k.module->nvalues + 1);
	int n = 0;

	for (Op *op = behind; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			Value *v = op->operands[i];
			if (!is_made_in(v, lines))
				continue;
			if (!results[v->id]) {
				results[v->id] = n ? op_add_result(again, v->name, &v->type)
						   : again->results[0];
				results[v->id]->type = v->type;
				results[v->id]->range = v->range;
				inner[n++] = v;
			}
			op->operands[i] = results[v->id];
		}
	make_return(again->bodies[0], n, inner, k.range, k.label);
}

/* The first op behind them. */
static Op *
checkpoint_lines(Lines lines)
{
	Op *behind = lines.last->next;
	Make k = make_before(behind);

	block_number(behind->block);
	Value **others = NEW_ARRAY(k.module->arena, Value *, k.module->nvalues + 1);
	k.range = lines.first->range;
	k.label = lines.first->label;
	k.mode = lines.first->mode;
	Op *again = make_begin(k, O_checkpoint, 0, NULL);
	op_begin_bodies(again, 1);
	move_in(again, &lines, others);
	hand_out(k, again, behind, &lines, others);
	make_end(k, again);
	return behind;
}

/* In what is differentiated, and is no checkpoint already. */
static bool
checkpoint_in(Block *b, const Place *place, bool differentiated)
{
	bool any = false;

	for (Op *op = b->first, *next; op != b->last; op = next) {
		bool here = differentiated && op_is_at(op, place);
		bool closed = op->specs || op->kind == O_checkpoint;
		for (int i = 0; i < op->nbodies && !closed && !here; i++)
			any |= checkpoint_in(op->bodies[i], place,
				differentiated || op->kind == O_grad);
		next = here ? checkpoint_lines(lines_of(op)) : op->next;
		any |= here;
	}
	return any;
}

bool
module_checkpoint_lines(Module *m, const Place *place)
{
	bool any = checkpoint_in(m->entry, place, false);

	/* names of what is in a body may be of what is gone */
	m->nnamed = m->nexpects = 0;
	return any;
}
