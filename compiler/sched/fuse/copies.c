/*
 * copies.c - copies of what should share a buffer and cannot.
 *
 *   while (x): a                   what comes in, what a round leaves and the
 *     return b = f(a)              result are one buffer
 *
 * x is copied first if it is read later, b if `a` is read after b is there.
 * At the end of a round every carried value takes its next one, all at once:
 * one that is read by another copy is written after it, and those that read
 * each other in a circle change places two by two.
 */
#include "ir/make.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

void
value_like(Value *to, const Value *from)
{
	to->type = from->type;
	to->placement = from->placement;
	to->no_placement = from->no_placement;
	to->unpadded = from->unpadded;
	to->range = from->def ? from->def->range : from->range;
}

static void
copy_operand(Op *op, int i)
{
	Value *x = op->operands[i];
	Op *copy = op_new(op->module, O_output, 1, &x, 1, x->name, op->range, op->label);

	value_like(copy->results[0], x);
	op_insert_before(op, copy);
	op->operands[i] = copy->results[0];
}

/* a, b = b, a: the fusion of both, each in the place of the other. */
static Op *
swap(Op *before, Value *a, Value *b)
{
	Value *const given[] = {a, b};
	Op *op = op_new(before->module, O_fusion, 2, given, 0, NULL, before->range,
		before->label);
	Block *body = block_new(before->module, op);
	Value *params[2];

	op->bodies = NEW_ARRAY(before->module->arena, Block *, 1);
	op->bodies[0] = body;
	op->nbodies = 1;
	for (int i = 0; i < 2; i++) {
		params[i] = block_add_param(body, given[i]->name, &given[i]->type);
		value_like(params[i], given[i]);
		value_like(op_add_result(op, given[!i]->name, &given[!i]->type), given[!i]);
	}
	make_return(body, 2, (Value *const[]){params[1], params[0]}, op->range, op->label);
	op_set_ints(op, A_in_place, 2, (const int64_t[]){0, 1});
	op_insert_before(before, op);
	return op;
}

/* Of the copies at the end of a round, by carried value: */
typedef struct Round {
	Op *last;
	bool *copied; /* still to be */
	int *reads;   /* the carried value that is its next, or -1 */
	int *readers; /* copies to come that read it */
} Round;

static void
copy_next(Round *r, int i)
{
	while (i >= 0 && r->copied[i] && !r->readers[i]) {
		copy_operand(r->last, i);
		r->copied[i] = false;
		i = r->reads[i];
		if (i >= 0)
			r->readers[i]--;
	}
}

/* i reads the next one, that the one after it, ... and the last reads i. */
static void
swap_circle(Round *r, int i)
{
	int end = i;
	Value *moved;

	while (r->reads[end] != i)
		end = r->reads[end];
	moved = r->last->operands[end];
	for (; i != end; i = r->reads[i]) {
		Op *op = swap(r->last, moved, r->last->operands[i]);
		r->last->operands[i] = op->results[0];
		moved = op->results[1];
		r->copied[i] = false;
	}
	r->last->operands[end] = moved;
	r->copied[end] = false;
}

static void
end_round(const Lives *l, Op *last, bool *copied)
{
	const Block *body = last->block;
	int n = body->nparams;
	Round r = {last, copied, NEW_ARRAY(l->arena, int, n), NEW_ARRAY(l->arena, int, n)};

	for (int i = 0; i < n; i++) {
		const Value *next = copied[i] ? l->root[last->operands[i]->id] : NULL;
		bool carried = next && !next->def && next->block == body && copied[next->index];
		r.reads[i] = carried && next->index != i ? next->index : -1;
		if (r.reads[i] >= 0)
			r.readers[r.reads[i]]++;
	}
	for (int i = 0; i < n; i++)
		copy_next(&r, i);
	for (int i = 0; i < n; i++)
		if (copied[i])
			swap_circle(&r, i);
}

void
copies_insert(Module *m)
{
	Arena *a = arena_new();
	Lives *l = lives_find(m, a);
	int n;
	const Pair *pairs = lives_pairs(l, &n);
	bool *copied = NEW_ARRAY(a, bool, n + 1);

	for (int k = 0; k < n; k++)
		copied[k] = !lives_join(l, pairs[k].op->operands[pairs[k].i], pairs[k].with);
	for (int k = 0; k < n; k++) {
		Op *op = pairs[k].op, *loop = op->block->parent;
		if (op->kind != O_return || loop->kind != O_while) {
			if (copied[k])
				copy_operand(op, pairs[k].i);
			continue;
		}
		bool *of_loop = NEW_ARRAY(a, bool, op->noperands + 1);
		for (; k < n && pairs[k].op == op; k++)
			of_loop[pairs[k].i] = copied[k];
		end_round(l, op, of_loop);
		k--;
	}
	arena_free(a);
}
