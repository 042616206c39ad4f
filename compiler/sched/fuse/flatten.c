/*
 * flatten.c - a device program in one line: calls are opened, loops and
 * branches become the items around their bodies' ops.
 *
 * What a loop carries has one place: the body's parameter.  It is copied
 * there before the loop and at the end of each round, which costs nothing
 * where the plan finds that it is there already.  What a loop only passes
 * through is the value outside, and has no place of its own.
 */
#include "sched/fuse/kernel.h"

typedef struct Flatten {
	Steps *steps;
	Arena *arena;
	Item *items;
	int n;
} Flatten;

static void flatten_block(Flatten *f, Block *b);

bool
op_is_alias(const Op *op)
{
	return op->kind == O_reshape || op->kind == O_output || op->kind == O_constraint
		|| op->kind == O_barrier || op->kind == O_shard_like;
}

static void
add(Flatten *f, Item item)
{
	APPEND(f->arena, f->items, f->n, item);
}

static void
mark(Flatten *f, StepKind kind, Op *op)
{
	add(f, (Item){.kind = kind, .op = op});
}

static void
is(Flatten *f, const Value *v, Value *other)
{
	f->steps->source[v->id] = steps_source(f->steps, other);
}

/* ---- calls -------------------------------------------------------------- */

static void
flatten_call(Flatten *f, Op *op)
{
	Block *body = op->bodies[0];

	for (int i = 0; i < body->nparams; i++)
		is(f, body->params[i], op->operands[i]);
	flatten_block(f, body);
	for (int i = 0; i < op->nresults; i++)
		is(f, op->results[i], body->last->operands[i]);
}

/* ---- loops -------------------------------------------------------------- */

Value *
steps_elements(const Steps *s, const Value *v)
{
	v = steps_source(s, v);
	while (v->def && op_is_alias(v->def))
		v = steps_source(s, v->def->operands[0]);
	return s->source[v->id];
}

static bool
is_carried(const Flatten *f, const Block *body, int i)
{
	return f->steps->source[body->params[i]->id] == body->params[i];
}

/*
 * At the end of a round every carried value takes its next one, all at once:
 * one that is read by another copy is written after it, and those that read
 * each other in a circle change places two by two.
 */
typedef struct Round {
	Op *op;
	Block *body;
	Value **next; /* by carried value */
	int *reads;   /* the carried value that is its next, or -1 */
	int *readers; /* copies to come that read it */
	bool *done;
} Round;

static void
find_reads(const Flatten *f, Round *r)
{
	for (int i = 0; i < r->body->nparams; i++) {
		const Value *v = r->next[i];
		bool param = !v->def && v->block == r->body;
		r->done[i] = !is_carried(f, r->body, i);
		r->reads[i] = -1;
		if (r->done[i] || !param || v->index == i)
			continue;
		r->reads[i] = v->index;
		r->readers[v->index]++;
	}
}

static void
copy_next(Flatten *f, Round *r, int i)
{
	while (i >= 0 && !r->done[i] && !r->readers[i]) {
		add(f, (Item){STEP_copy, r->op, r->body->params[i], r->next[i], false});
		r->done[i] = true;
		i = r->reads[i];
		if (i >= 0)
			r->readers[i]--;
	}
}

static void
swap_circle(Flatten *f, Round *r, int i)
{
	for (; !r->done[r->reads[i]]; i = r->reads[i]) {
		r->done[i] = true;
		if (!r->done[r->reads[i]])
			add(f, (Item){STEP_swap, r->op, r->body->params[i], r->next[i], false});
	}
	r->done[i] = true;
}

static void
end_round(Flatten *f, Op *op)
{
	Block *body = op->bodies[1];
	int n = body->nparams;
	Round r = {op, body, NEW_ARRAY(f->arena, Value *, n + 1),
		NEW_ARRAY(f->arena, int, n + 1), NEW_ARRAY(f->arena, int, n + 1),
		NEW_ARRAY(f->arena, bool, n + 1)};

	for (int i = 0; i < n; i++)
		r.next[i] = steps_elements(f->steps, body->last->operands[i]);
	for (int i = 0; i < n; i++)
		if (r.next[i] == body->params[i])
			is(f, body->params[i], op->operands[i]);
	find_reads(f, &r);
	for (int i = 0; i < n; i++)
		copy_next(f, &r, i);
	for (int i = 0; i < n; i++)
		if (!r.done[i])
			swap_circle(f, &r, i);
}

static void
flatten_while(Flatten *f, Op *op)
{
	Block *condition = op->bodies[0], *body = op->bodies[1];

	for (int i = 0; i < body->nparams; i++) {
		f->steps->source[body->params[i]->id] = body->params[i];
		f->steps->source[condition->params[i]->id] = body->params[i];
		add(f, (Item){STEP_copy, op, body->params[i], op->operands[i], true});
	}
	mark(f, STEP_loop, op);
	flatten_block(f, condition);
	mark(f, STEP_test, op);
	flatten_block(f, body);
	end_round(f, op);
	mark(f, STEP_repeat, op);
	for (int i = 0; i < op->nresults; i++)
		is(f, op->results[i], body->params[i]);
}

/* ---- branches ----------------------------------------------------------- */

static void
flatten_branch(Flatten *f, Op *op, Block *branch)
{
	for (int i = 0; i < branch->nparams; i++)
		is(f, branch->params[i], op->operands[1 + i]);
	flatten_block(f, branch);
	for (int i = 0; i < op->nresults; i++)
		add(f, (Item){STEP_copy, op, op->results[i], branch->last->operands[i], false});
}

static void
flatten_if(Flatten *f, Op *op)
{
	mark(f, STEP_if, op);
	flatten_branch(f, op, op->bodies[0]);
	mark(f, STEP_else, op);
	flatten_branch(f, op, op->bodies[1]);
	mark(f, STEP_endif, op);
}

/* ---- the walk ----------------------------------------------------------- */

static void
flatten_op(Flatten *f, Op *op)
{
	mark(f, STEP_kernel, op);
}

static void
flatten_block(Flatten *f, Block *b)
{
	typedef void FlattenOp(Flatten *, Op *);
	static FlattenOp *const functions[OP_COUNT] = {
		[O_call] = flatten_call,
		[O_while] = flatten_while,
		[O_if] = flatten_if,
	};

	for (Op *op = b->first; op && op->kind != O_return; op = op->next)
		(functions[op->kind] ? functions[op->kind] : flatten_op)(f, op);
}

static void
own_source(Op *op, void *data)
{
	Value **source = data;

	for (int i = 0; i < op->nresults; i++)
		source[op->results[i]->id] = op->results[i];
}

Item *
steps_flatten(Steps *s, int *n)
{
	Module *m = s->module;
	Flatten f = {.steps = s, .arena = m->arena};

	for (int i = 0; i < m->entry->nparams; i++)
		s->source[m->entry->params[i]->id] = m->entry->params[i];
	module_walk(m, own_source, s->source);
	flatten_block(&f, m->entry);
	*n = f.n;
	return f.items;
}
