/*
 * equal.c - when two ops are equal.
 *
 * Operands are compared by the first values equal to them.  In a body, which is
 * closed, the i-th value of one stands for the i-th of the other: values are numbered
 * in the order of the text, so that it has the same distance to the first value of
 * its op.
 */
#include <string.h>
#include "shard/merge/merge.h"
#include "shard/reshard/halo.h"

/* A composite of numbers alone is one of random numbers. */
static bool
is_never_equal(const Op *op)
{
	bool tensors = false;

	for (int i = 0; i < op->noperands; i++)
		tensors |= op->operands[i]->type.rank > 0;
	return op->mode == MODE_explicit || !op->nresults || op->kind == O_extern
		|| op->kind == O_barrier || op->kind == O_fence || op->kind == O_output
		|| (op_is_composite(op) && !tensors);
}

/* ---- by themselves ------------------------------------------------------------- */

static bool
values_alike(const Value *a, const Value *b)
{
	size_t size = (size_t)a->type.rank * sizeof *a->unpadded;
	bool padded = a->unpadded != NULL;

	return type_equal(&a->type, &b->type) && placement_same(&a->placement, &b->placement)
		&& a->annotated == b->annotated && a->annotated_open == b->annotated_open
		&& padded == (b->unpadded != NULL)
		&& (!padded || !memcmp(a->unpadded, b->unpadded, size));
}

static bool
axes_alike(const AxisList *a, const AxisList *b)
{
	return !a || !b ? a == b : axes_equal(a, b);
}

/* Of manual regions, those of calls of one function: reports call them by its name. */
static bool
specs_alike(const Op *a, const Op *b)
{
	if (!a->specs || !b->specs)
		return a->specs == b->specs;
	for (int i = 0; i < a->noperands + a->nresults; i++)
		if (!placement_same(&a->specs[i], &b->specs[i]))
			return false;
	return !strcmp(a->label, b->label);
}

/* But for operands and what is in bodies. */
static bool
ops_alike(const Op *a, const Op *b)
{
	bool moved = a->kind == O_reshard; /* whoever asks for it */

	if (!op_same_rule(a, b) || (a->mode == MODE_explicit) != (b->mode == MODE_explicit)
		|| !a->composite != !b->composite || (!moved && a->requested != b->requested))
		return false;
	if (a->composite && strcmp(a->composite, b->composite))
		return false;
	if (!axes_alike(a->axes, b->axes) || !axes_alike(a->from, b->from)
		|| !specs_alike(a, b))
		return false;
	for (int i = 0; i < a->nresults; i++)
		if (!values_alike(a->results[i], b->results[i]))
			return false;
	return true;
}

/* ---- bodies ---------------------------------------------------------------------- */

static int
base_of(const Op *op)
{
	return op->results[0]->id;
}

static const Inside *
inside_of(Merger *mg, const Op *owner)
{
	Inside *inside = &mg->inside[owner->id];

	if (inside->known)
		return inside;
	inside->known = true;
	for (int i = 0; i < owner->nbodies; i++) {
		const Block *b = owner->bodies[i];
		inside->hash = hash_mix(inside->hash, b->nparams);
		for (const Op *op = b->first; op; op = op->next) {
			uint64_t hash = hash_mix(inside->hash, (int64_t)op_rule_hash(op));
			for (int k = 0; k < op->noperands; k++)
				hash = hash_mix(hash, op->operands[k]->id - base_of(owner));
			if (op != b->last)
				inside->never |= is_never_equal(op);
			if (op->nbodies && !inside->never) {
				const Inside *more = inside_of(mg, op);
				inside->never |= more->never;
				hash = hash_mix(hash, (int64_t)more->hash);
			}
			inside->hash = hash;
		}
	}
	return inside;
}

static bool bodies_equal(const Op *a, const Op *b);

/* `base` and `other` are the first values of the ops whose bodies they are. */
static bool
blocks_equal(const Block *a, int base, const Block *b, int other)
{
	const Op *x = a->first, *y = b->first;

	if (a->nparams != b->nparams)
		return false;
	for (int i = 0; i < a->nparams; i++)
		if (!values_alike(a->params[i], b->params[i]))
			return false;
	for (; x && y; x = x->next, y = y->next) {
		if (!ops_alike(x, y))
			return false;
		for (int i = 0; i < x->noperands; i++)
			if (x->operands[i]->id - base != y->operands[i]->id - other)
				return false;
		if (x->nbodies && !bodies_equal(x, y))
			return false;
	}
	return !x && !y;
}

static bool
bodies_equal(const Op *a, const Op *b)
{
	for (int i = 0; i < a->nbodies; i++)
		if (!blocks_equal(a->bodies[i], base_of(a), b->bodies[i], base_of(b)))
			return false;
	return true;
}

/* ---- the table --------------------------------------------------------------------- */

typedef struct Key {
	const Merger *merger;
	const Op *op;
} Key;

/* Does it get something from other devices? */
static bool
communicates(const Merger *mg, const Op *op)
{
	const Value *from = op->noperands ? op->operands[0] : NULL;
	const Block *body = op->specs ? op->bodies[0] : NULL;

	for (const Op *inner = body ? body->first : NULL; inner;
		inner = op_following(inner, body))
		if (op_communicates(inner))
			return true;
	if (op_is_move(op))
		return reshard_plan(mg->resharder, &from->type, &from->placement,
			       &op->results[0]->placement)
			       ->bytes
			> 0;
	return op_halo(&mg->module->mesh, mg->arena, op).bytes > 0;
}

/* May its bodies take more values from around it? */
static bool
is_handed_values(const Op *op)
{
	return op_is_branch(op) || op_is_loop(op);
}

bool
block_hands_to(const Block *outer, const Block *b)
{
	while (b != outer && b->parent && is_handed_values(b->parent))
		b = b->parent->block;
	return b == outer;
}

/* The block around it from which the body may take values; NULL: there is none. */
static const Block *
block_around(const Merger *mg, const Block *b)
{
	return mg->resharder && b->parent && is_handed_values(b->parent) ? b->parent->block
									 : NULL;
}

/* Of an op in the block: what is equal in bodies that have nothing to do with each other is
   not met there. */
static uint64_t
hash_in(uint64_t hash, const Block *b)
{
	int body = 0;

	while (b->parent && b->parent->bodies[body] != b)
		body++;
	return b->parent ? hash_mix(hash_mix(hash, body), b->parent->id) : hash;
}

static bool
stands_before(const Merger *mg, const Op *seen, const Op *op)
{
	if (seen->block == op->block)
		return true;
	return mg->resharder && (mg->cheap[seen->results[0]->id] || communicates(mg, op));
}

/* The first value equal to an operand; of operands whose order does not matter the first
   in the program comes first. */
static const Value *
first_of(const Merger *mg, const Op *op, int operand)
{
	const Value *v = mg->first[op->operands[operand]->id];
	const Value *other =
		ops[op->kind].symmetric ? mg->first[op->operands[1 - operand]->id] : v;

	return (v->id < other->id) == (operand == 0) ? v : other;
}

static bool
is_equal(const void *seen, const void *key)
{
	const Op *a = seen, *b = ((const Key *)key)->op;
	const Merger *mg = ((const Key *)key)->merger;

	if (!block_hands_to(a->block, b->block) || !ops_alike(a, b) || !stands_before(mg, a, b))
		return false;
	for (int i = 0; i < a->noperands; i++)
		if (first_of(mg, a, i) != first_of(mg, b, i))
			return false;
	return bodies_equal(a, b);
}

const Op *
find_equal(Merger *mg, const Op *op)
{
	Key key = {mg, op};

	if (is_never_equal(op) || (op->nbodies && inside_of(mg, op)->never))
		return NULL;
	uint64_t hash = op_rule_hash(op);
	for (int i = 0; i < op->noperands; i++)
		hash = hash_mix(hash, first_of(mg, op, i)->id);
	if (op->nbodies)
		hash = hash_mix(hash, (int64_t)mg->inside[op->id].hash);
	const Op *equal = NULL;
	for (const Block *b = op->block; b && !equal; b = block_around(mg, b))
		equal = lookup_find(mg->seen, hash_in(hash, b), is_equal, &key);
	if (!equal)
		lookup_add(mg->seen, hash_in(hash, op->block), (void *)op);
	return equal;
}
