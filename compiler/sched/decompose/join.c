/*
 * join.c - a ring that takes its pieces from those of the ring before it.
 *
 *   y = y0, with p1 = dot(x1, W) at piece me + 1          h1 = relu(p1)
 *   h = relu(y)                                    ->     s = dot(h1, V), ...
 *   s = dot(slice of h at piece me + 1, V), ...
 *
 * What is computed element by element between them is computed of each piece.  So the
 * second ring begins before the first ends.
 */
#include <string.h>
#include "ir/flow.h"
#include "sched/decompose/decompose.h"

typedef struct Joining {
	Arena *arena;
	Op *slice;
	int dim;	  /* that it cuts */
	Table *parts;	  /* Value *, by where they begin and of what; or... */
	const char *none; /* ... this: there is no such part */
} Joining;

static Value *part_of(Joining *j, Value *v);

/* Only one dim is cut; else -1. */
static int
cut_dim(const Op *slice)
{
	const Type *all = &slice->operands[0]->type, *part = &slice->results[0]->type;
	int dim = -1;

	for (int d = 0; d < all->rank; d++) {
		if (all->dims[d] == part->dims[d])
			continue;
		if (dim >= 0)
			return -1;
		dim = d;
	}
	return dim;
}

/* What was written there, of the pieces of one ring. */
static Value *
written_part(const Joining *j, const Op *update)
{
	const char *of = update->of;
	const Value *start = j->slice->operands[1 + j->dim];

	while (update && update->kind == O_dynamic_update_slice && update->of && of
		&& !strcmp(update->of, of)) {
		const Type *part = &update->operands[1]->type;
		if (memcmp(part->dims, j->slice->results[0]->type.dims,
			    sizeof *part->dims * (size_t)part->rank)
			!= 0)
			return NULL;
		if (update->operands[2 + j->dim] == start)
			return update->operands[1];
		update = update->operands[0]->def;
	}
	return NULL;
}

/* Spread along the dim, it is spread less far. */
static Value *
spread_part(const Joining *j, const Op *op)
{
	const Ints *to = op_ints(op, A_dims);
	Type shape = op->results[0]->type;
	Make k = make_before(j->slice);

	if (ints_contain(to, j->dim))
		return NULL;
	k.helper = true;
	k.of = j->slice->of;
	shape.dims[j->dim] = j->slice->results[0]->type.dims[j->dim];
	return make_broadcast(k, op->operands[0], &shape, to->v);
}

/* The same of what lies there whole: numbers are as they are. */
static Value *
sliced_part(const Joining *j, Value *v)
{
	const Op *slice = j->slice;
	Make k = make_before(j->slice);

	if (!v->type.rank)
		return v;
	k.helper = true;
	return make_dynamic_slice(named(k, v->name), v, slice->operands + 1,
		slice->results[0]->type.dims);
}

/* Some operands are made of pieces. */
static Value *
computed_part(Joining *j, const Op *op)
{
	Value **operands = NEW_ARRAY(j->arena, Value *, op->noperands + 1);
	bool any = false;

	for (int i = 0; i < op->noperands; i++) {
		const Op *from = op->operands[i]->def;
		operands[i] = part_of(j, op->operands[i]);
		any |= operands[i] && from->kind != O_broadcast;
	}
	if (!any)
		return NULL;
	for (int i = 0; i < op->noperands; i++)
		if (!operands[i])
			operands[i] = sliced_part(j, op->operands[i]);
	Op *part = op_clone(op);
	Value *v = part->results[0];
	part->of = j->slice->of;
	memcpy(part->operands, operands, sizeof *operands * (size_t)op->noperands);
	v->type.dims[j->dim] = j->slice->results[0]->type.dims[j->dim];
	v->no_placement = true;
	op_infer(part);
	make_place(make_before(j->slice), part);
	return v;
}

/* NULL: it is not made of pieces. */
static Value *
part_of(Joining *j, Value *v)
{
	const Op *op = v->def;
	const Value *start = j->slice->operands[1 + j->dim];
	const char *key = arena_printf(j->arena, "%p %p", (const void *)start, (void *)v);
	void *known = table_get(j->parts, key);

	if (known)
		return known == j->none ? NULL : known;
	bool same = op && v->type.rank == j->slice->operands[0]->type.rank;
	Value *part = !same			     ? NULL
		: op->kind == O_dynamic_update_slice ? written_part(j, op)
		: op->kind == O_broadcast	     ? spread_part(j, op)
		: ops[op->kind].pointwise	     ? computed_part(j, op)
						     : NULL;
	table_set(j->parts, key, part ? (void *)part : (void *)j->none);
	return part;
}

int
rings_join(Module *m, Arena *a)
{
	Joining j = {.arena = a, .parts = table_new(a), .none = "none"};
	int n = 0;

	for (Op *op = m->entry->first, *next; op; op = next) {
		next = op_following(op, m->entry);
		if (op->kind != O_dynamic_slice || !op->of)
			continue;
		j.slice = op;
		j.dim = cut_dim(op);
		Value *part = j.dim >= 0 ? part_of(&j, op->operands[0]) : NULL;
		if (!part)
			continue;
		value_replace_uses(m, op->results[0], part);
		op_remove(op);
		n++;
	}
	return n;
}
