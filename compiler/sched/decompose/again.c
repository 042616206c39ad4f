/*
 * again.c - classes that were left as they are, and could be joined to what is done now.
 *
 *   h = relu(matmul(x, w))     gains nothing in pieces while h is needed whole: left
 *   y = matmul(h, v)           done in pieces: each could be made of one of the first
 */
#include <string.h>
#include "ir/flow.h"
#include "sched/decompose/trials.h"

enum { MOST_FOLLOWED = 32 }; /* ops between two products */

typedef struct Back {
	const bool *from; /* by op id: products, ... */
	bool *reached;	  /* ... and those that were come to */
	Op *ops[MOST_FOLLOWED];
	int n;
} Back;

/* What a value is computed of element by element, or the product that it is. */
static bool
follow(Back *back, const Value *v)
{
	Op *op = v->def;

	if (!op)
		return false;
	if (op_is_product(op)) {
		back->reached[op->id] = true;
		return back->from[op->id];
	}
	for (int i = 0; i < back->n; i++)
		if (back->ops[i] == op)
			return false;
	if (ops[op->kind].pointwise && back->n < MOST_FOLLOWED)
		back->ops[back->n++] = op;
	return false;
}

/* Is an operand of the product made of one of those, with what a join goes through between? */
static bool
is_made_of(const Op *dot, const bool *from, bool *reached)
{
	Back back = {.from = from, .reached = reached};
	bool is = false;

	for (int i = 0; i < dot->noperands; i++)
		is |= follow(&back, dot->operands[i]);
	for (int i = 0; i < back.n; i++)
		for (int k = 0; k < back.ops[i]->noperands; k++)
			is |= follow(&back, back.ops[i]->operands[k]);
	return is;
}

Tried *
tried_of(const Decomposing *d, const char *key)
{
	for (int i = 0; i < d->ntried; i++)
		if (!strcmp(d->tried[i].key, key))
			return &d->tried[i];
	return NULL;
}

void
note_again(Decomposing *d, Einsums all, const char *key)
{
	bool *done = NEW_ARRAY(d->arena, bool, d->module->nops + 1);
	bool *reached = NEW_ARRAY(d->arena, bool, d->module->nops + 1);
	bool *unused = NEW_ARRAY(d->arena, bool, d->module->nops + 1);

	for (int i = 0; i < all.n; i++)
		for (int k = 0; k < all.v[i].ndots && !strcmp(all.v[i].key, key); k++)
			done[all.v[i].dots[k]->id] = true;
	for (int i = 0; i < all.n; i++)
		for (int k = 0; k < all.v[i].ndots && !strcmp(all.v[i].key, key); k++)
			is_made_of(all.v[i].dots[k], done, reached);
	for (int i = 0; i < all.n; i++) {
		Tried *tried = tried_of(d, all.v[i].key);
		for (int k = 0; tried && tried->left && k < all.v[i].ndots; k++)
			tried->again |= reached[all.v[i].dots[k]->id]
				|| is_made_of(all.v[i].dots[k], done, unused);
	}
}

Tried *
next_again(Decomposing *d)
{
	for (int i = 0; i < d->ntried; i++)
		if (d->tried[i].again) {
			d->tried[i].again = false;
			return &d->tried[i];
		}
	return NULL;
}
