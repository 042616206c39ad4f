/*
 * copies.c - copies of what should share a buffer and cannot.
 *
 *   while (x): a                   what comes in, what a round leaves and the
 *     return b = f(a)              result are one buffer
 *
 * x is copied first if it is read later, b if `a` is read after b is there.  What is
 * only filled with numbers is filled once more instead, where each needs it.
 * At the end of a round every carried value takes its next one, all at once, and so
 * do the results of a branch: a buffer that another copy reads is written after it, and
 * those that read each other in a circle change places two by two.
 *
 *   y = concatenate(a, b)          a and b are made where they lie in y, and it is a joint; or
 *                                  it is a fusion, which copies both
 *
 * The first where nothing else is in their places from when they are made on, none of them is
 * read later, and memory is not full.
 */
#include "ir/make.h"
#include "ir/targets.h"
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

Op *
copy_new(Value *v, const Op *of)
{
	Op *copy = op_new(of->module, O_output, 1, &v, 1, v->name, of->range, of->label);

	value_like(copy->results[0], v);
	return copy;
}

Op *
fusion_new(const Op *of)
{
	Op *op = op_new(of->module, O_fusion, 0, NULL, 0, NULL, of->range, of->label);

	op->of = of->of;
	if (of->mode == MODE_backward)
		op->mode = of->mode;
	op_begin_bodies(op, 1);
	return op;
}

static void
copy_operand(Op *op, int i)
{
	Op *copy = copy_new(op->operands[i], op);

	op_insert_before(op, copy);
	op->operands[i] = copy->results[0];
}

/* a, b = b, a: the fusion of both, each in the place of the other. */
static Op *
swap(Op *before, Value *a, Value *b)
{
	Value *const given[] = {a, b};
	Op *op = fusion_new(before);
	Block *body = op->bodies[0];

	for (int i = 0; i < 2; i++) {
		Value *other = given[!i];
		op_add_operand(op, given[i]);
		value_like(block_add_param(body, given[i]->name, &given[i]->type), given[i]);
		value_like(op_add_result(op, other->name, &other->type), other);
	}
	make_return(body, 2, (Value *const[]){body->params[1], body->params[0]}, op->range,
		op->label);
	op_set_ints(op, A_in_place, 2, (const int64_t[]){0, 1});
	op_insert_before(before, op);
	return op;
}

/* Of the copies at the end of a body, by what is returned: */
typedef struct Round {
	Op *last;
	bool *copied; /* still to be */
	int *reads;   /* the one in whose buffer it is now, or -1 */
	int *readers; /* copies to come that read that buffer */
} Round;

/* i reads the next one, that the one after it, ... and the last reads i:
 *
 *   a, b, c = b, c, a        c, b = b, c    then    a, b = b, a (what was c)
 */
static void
swap_circle(Round *round, int i)
{
	Op *last = round->last;
	int end = i;

	while (round->reads[end] != i)
		end = round->reads[end];
	Value *moved = last->operands[end];
	for (; i != end; i = round->reads[i]) {
		Op *op = swap(last, moved, last->operands[i]);
		last->operands[i] = op->results[0];
		moved = op->results[1];
		round->copied[i] = false;
	}
	last->operands[end] = moved;
	round->copied[end] = false;
}

/* Where operand i of what a loop or a branch returns goes. */
static Shared *
shared_of_next(const Lives *l, const Op *last, int i)
{
	const Op *parent = last->block->parent;
	const Value *v = op_is_loop(parent) ? last->block->params[i] : parent->results[i];

	return l->shared[v->id];
}

static void
end_round(const Lives *l, Op *last, bool *copied)
{
	int n = last->noperands;
	Round round = {last, copied, NEW_ARRAY(l->arena, int, n), NEW_ARRAY(l->arena, int, n)};

	for (int i = 0; i < n; i++)
		if (copied[i])
			shared_of_next(l, last, i)->taker = i + 1;
	for (int i = 0; i < n; i++) {
		const Shared *now = copied[i] ? l->shared[last->operands[i]->id] : NULL;
		int taker = now ? now->taker - 1 : -1;
		round.reads[i] = taker != i ? taker : -1;
		if (round.reads[i] >= 0)
			round.readers[round.reads[i]]++;
	}
	for (int i = 0; i < n; i++)
		if (copied[i])
			shared_of_next(l, last, i)->taker = 0;
	for (int i = 0; i < n; i++)
		for (int k = i; k >= 0 && copied[k] && !round.readers[k];) {
			copy_operand(last, k);
			copied[k] = false;
			k = round.reads[k];
			if (k >= 0)
				round.readers[k]--;
		}
	for (int i = 0; i < n; i++)
		if (copied[i])
			swap_circle(&round, i);
}

/* Ops that begin with one fill get one each, if there are any such. */
static bool
fill_each(Module *m, const Lives *l)
{
	int n;
	const Pair *pairs = lives_pairs(l, &n);
	bool any = false;

	block_count_uses(m->entry);
	for (int k = 0; k < n; k++) {
		Op *op = pairs[k].op;
		Value *v = op->operands[pairs[k].i];
		bool fill = v->def && v->def->kind == O_fusion && !v->def->noperands
			&& v->def->nresults == 1;
		if (!fill || v->uses == 1 || op->block != v->block)
			continue;
		Op *own = op_clone(v->def);
		value_like(own->results[0], v);
		op_insert_before(op, own);
		op->operands[pairs[k].i] = own->results[0];
		any = true;
	}
	return any;
}

/* ---- joints ------------------------------------------------------------------------ */

Room
room_find(const Lives *l, Arena *a)
{
	Room room = {l, NEW_ARRAY(a, int64_t, l->n + 3), l->module->mesh.target->hbm_bytes / 2};

	for (int i = 0; i < l->module->nvalues; i++) {
		const Shared *s = lives_buffer(l, i);
		if (!s)
			continue;
		int64_t bytes = type_bytes(&s->lives[0].value->type);
		const LifeSpan span = lives_span(s);
		room.bytes[span.from + 1] += bytes;
		room.bytes[span.to + 2] -= bytes;
	}
	for (int i = 0; i < l->n + 2; i++) {
		room.bytes[i] += i ? room.bytes[i - 1] : 0;
		room.most = greater(room.most, room.bytes[i]);
	}
	return room;
}

/* If joints are fusions. */
static Room
room_without(Module *m, Arena *a)
{
	Lives *l = lives_find(m, a);
	int n;
	const Pair *pairs = lives_pairs(l, &n);

	for (int i = 0; i < n; i++)
		lives_join(l, pairs[i].op->operands[pairs[i].i], pairs[i].with);
	for (int i = 0; i < l->n; i++)
		lives_join_dying(l, l->step[i], NULL);
	return room_find(l, a);
}

/* Is a buffer of an operand for something that is still there after the joint? */
static bool
is_read_later(const Lives *l, const Op *joint)
{
	bool later = false;

	for (int i = 0; i < joint->noperands; i++) {
		const Shared *s = l->shared[joint->operands[i]->id];
		later |= s->lives[s->longest[s->n - 1]].to > l->at[joint->id];
	}
	return later;
}

/* Its result is there from the first of its operands on: is never more needed then than may
   be? */
static bool
take_room(Room *room, const Op *joint)
{
	Shared **shared = room->lives->shared;
	int end = shared[joint->results[0]->id]->lives[0].from, first = end;

	for (int i = 0; i < joint->noperands; i++)
		first = (int)lesser(first, shared[joint->operands[i]->id]->lives[0].from);
	int64_t *more = NEW_ARRAY(room->lives->arena, int64_t, end - first + 1);
	more[0] = type_bytes(&joint->results[0]->type);
	for (int i = 0; i < joint->noperands; i++) {
		const Value *x = joint->operands[i];
		int from = shared[x->id]->lives[0].from;
		if (from < end)
			more[from - first] -= type_bytes(&x->type);
	}
	for (int i = 0; i < end - first; i++) {
		more[i] += i ? more[i - 1] : 0;
		if (room->bytes[first + i + 1] + more[i] > room->most)
			return false;
	}
	for (int i = 0; i < end - first; i++)
		room->bytes[first + i + 1] += more[i];
	return true;
}

/* What it does not have in its place it reads. */
static void
fuse_joint(Op *op)
{
	Op *fusion = fusion_new(op), *root = op_clone(op);
	Block *body = fusion->bodies[0];

	for (int i = 0; i < op->noperands; i++) {
		Value *x = op->operands[i];
		op_add_operand(fusion, x);
		root->operands[i] = block_add_param(body, x->name, &x->type);
		value_like(root->operands[i], x);
	}
	op_append(body, root);
	make_return(body, 1, root->results, op->range, op->label);
	op_insert_before(op, fusion);
	op_remove(op);
	fusion->results = op->results;
	fusion->nresults = 1;
	fusion->results[0]->def = fusion;
	fusion->results[0]->block = fusion->block;
}

/* Those whose operands cannot be where they are become fusions. */
static void
keep_joints(Module *m, Lives *l)
{
	Room room = {0};

	for (int i = 0; i < l->n; i++) {
		Op *op = l->step[i];
		if (!op_is_joint(op))
			continue;
		if (!room.lives)
			room = room_without(m, l->arena);
		if (is_read_later(l, op) || !take_room(&room, op) || !lives_join_parts(l, op))
			fuse_joint(op);
	}
}

void
copies_insert(Module *m)
{
	Arena *a = arena_new();
	module_number(m);
	Lives *l = lives_find(m, a);
	if (fill_each(m, l)) {
		module_number(m);
		l = lives_find(m, a);
	}
	int n;
	const Pair *pairs = lives_pairs(l, &n);
	bool *copied = NEW_ARRAY(a, bool, n + 1);

	for (int k = 0; k < n; k++)
		copied[k] = !lives_join(l, pairs[k].op->operands[pairs[k].i], pairs[k].with);
	keep_joints(m, l);
	for (int k = 0; k < n; k++) {
		Op *op = pairs[k].op;
		if (op->next) {
			if (copied[k])
				copy_operand(op, pairs[k].i);
			continue;
		}
		bool *returned = NEW_ARRAY(a, bool, op->noperands + 1);
		for (; k < n && pairs[k].op == op; k++)
			returned[pairs[k].i] = copied[k];
		end_round(l, op, returned);
		k--;
	}
	arena_free(a);
}
