/*
 * memo.c - ops that look alike get one plan.
 *
 * A plan depends on the op's kind and attributes, the types around it, where
 * each operand is and where results are wanted.  These are written down as a
 * key; the plan of an op with an equal key is taken as it is, so the layers of
 * a deep network are planned once, and so is what a program that is tried otherwise
 * has in common with the program as it is.
 */
#include <string.h>
#include "shard/partition/partition.h"

typedef struct Entry {
	const char *key;
	size_t n;
	Choice choice;
	bool asked, swayed; /* it would be another if nobody else wanted the operands */
} Entry;

/* ---- keys --------------------------------------------------------------------- */

static void
put(Text *t, int64_t n)
{
	text_addn(t, (const char *)&n, sizeof n);
}

/* The first of the operands that are this one. */
static int
first_alike(const Op *op, int operand)
{
	const Value *v = op->operands[operand];
	int first = v->uses > 1 ? 0 : operand;

	while (op->operands[first] != v)
		first++;
	return first;
}

static void
put_axes(Text *t, const AxisList *l)
{
	int64_t words[1 + 2 * MAX_PIECES];
	size_t n = 0;

	words[n++] = l->n;
	for (int i = 0; i < l->n; i++) {
		words[n++] = l->a[i].axis;
		words[n++] = (int64_t)l->a[i].pre << 32 | l->a[i].size;
	}
	text_addn(t, (const char *)words, n * sizeof *words);
}

/* How many pieces each dim has, then these. */
static void
put_placement(Text *t, const Placement *placement)
{
	AxisList partial = placement_unreduced(placement);
	uint8_t counts[MAX_RANK + sizeof(int64_t)] = {placement->rank, placement->combiner};
	int n = 0;

	for (int d = 0; d < placement->rank; d++) {
		counts[sizeof(int64_t) + d] = placement->count[d];
		n += placement->count[d];
	}
	text_addn(t, (const char *)counts, sizeof counts);
	text_addn(t, (const char *)placement->pieces, (size_t)n * sizeof placement->pieces[0]);
	put_axes(t, &partial);
}

/* Where there is little room, whose it is matters, and how much is taken; so it is of this run
   alone. */
static void
put_later(const Partitioner *p, const Value *v, Text *t)
{
	const Source *s = source_of(p, v);
	int64_t bytes = 0, rounds;

	if (!s->later) {
		put(t, -1);
		return;
	}
	memcpy(&rounds, &s->later->rounds, sizeof rounds);
	put(t, rounds);
	put(t, s->later->combiner << 2 | s->later->splits << 1 | s->later_here);
	for (const Later *l = s->later; l; l = l->outer) {
		put_placement(t, &l->carried->placement);
		bytes += type_bytes(&l->carried->type);
	}
	bool ample = bytes <= room_left(p);
	put(t, ample ? -1 : v->id);
	put(t, ample ? 0 : p->accumulated);
	put(t, ample ? 0 : p->run);
}

/* What may be moved instead. */
static void
put_made_of(const Partitioner *p, const Value *v, int level, Text *t)
{
	const Value *from = level < NARROWER_LEVELS ? made_of(p, v) : NULL, *before = v;
	const Op *op = NULL;

	put(t, -1);
	if (!from)
		return;
	for (; before != from; before = before_moves(op->operands[0])) {
		op = before->def;
		put(t, op->kind);
		for (int d = 0; d < op->results[0]->type.rank; d++)
			put(t,
				op->kind == O_transpose ? op_ints(op, A_dims)->v[d]
							: op->results[0]->type.dims[d]);
	}
	/* its rows, and which dims it moves along */
	bool rows = op_is_windows(op) || op->kind == O_reverse;
	put(t, rows ? (intptr_t)rule_book_get(p->rules, op) : -1);
	put(t, from->type.dtype);
	for (int d = 0; d < from->type.rank; d++)
		put(t, from->type.dims[d]);
	for (const Form *form = source_of(p, from)->forms; form; form = form->next)
		put_placement(t, &form->value->placement);
	put_made_of(p, from, level + 1, t);
}

/* Ops of one rule are alike in kind, attributes and types. */
static void
write_key(const Partitioner *p, const Op *op, Text *t)
{
	t->n = 0;
	put(t, (intptr_t)p->rule);
	if (op->axes)
		put_axes(t, op->axes);
	put(t, p->op->mode);
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		const Source *s = source_of(p, v);
		put(t, first_alike(op, i));
		put(t,
			(v->uses > 1) | s->at_final << 1 | value_is_literal(v) << 2
				| is_never(v, 0) << 3 | p->infinite[v->id] << 4);
		put_placement(t, &s->final);
		for (const Form *form = s->forms; form; form = form->next)
			put_placement(t, &form->value->placement);
		put_made_of(p, v, 0, t);
		put(t, type_elements(&shown(v)->type)); /* vote.c */
		for (const Want *w = p->alone ? NULL : wants_of(p, v); w; w = w->next)
			put_placement(t, &w->at);
		put(t, -1);
		put(t, (int64_t)rounds_served(p, op, i));
		put_later(p, v, t);
	}
	for (int i = 0; i < op->nresults; i++) {
		const Source *s = source_of(p, op->results[i]);
		put_placement(t, &s->final);
		put_placement(t, s->drawn ? &s->inferred : &s->final);
		put_later(p, op->results[i], t);
	}
}

/* ---- plans --------------------------------------------------------------------- */

static bool
same_key(const void *entry, const void *key)
{
	const Entry *e = entry;
	const Text *k = key;

	return e->n == k->n && !memcmp(e->key, k->s, k->n);
}

static bool
has_wants(const Partitioner *p)
{
	bool wants = op_has(p->op, A_phases);

	for (int i = 0; i < p->op->noperands; i++)
		wants |= wants_of(p, p->op->operands[i]) != NULL;
	return wants && !p->alone;
}

/* Is it another plan than if nobody else wanted the operands?  Its price does not matter. */
static bool
is_swayed(Partitioner *p, const Choice *with)
{
	p->alone = true;
	Choice without = choose(p);
	p->alone = false;
	for (int f = 0; f < p->rule->nfactors; f++)
		if (!axes_equal(&without.factors[f], &with->factors[f]))
			return true;
	return !axes_equal(&without.partial, &with->partial)
		|| without.combiner != with->combiner || without.whole != with->whole;
}

Choice
choose_once(Partitioner *p)
{
	Text *key = &p->key;
	Entry *e;

	write_key(p, p->op, key);
	uint64_t hash = key->n;
	/* Keys are made of whole numbers. */
	for (size_t i = 0; i < key->n; i += sizeof(int64_t)) {
		int64_t n;
		memcpy(&n, key->s + i, sizeof n);
		hash = hash_mix(hash, n);
	}
	e = lookup_find(p->memo, hash, same_key, key);
	if (!e) {
		e = NEW(p->lasting, Entry);
		e->key = arena_copy(p->lasting, key->s, key->n);
		e->n = key->n;
		e->choice = choose(p);
		lookup_add(p->memo, hash, e);
	}
	if (!p->with.decided && !p->swayed && has_wants(p)) {
		e->swayed = e->asked ? e->swayed : is_swayed(p, &e->choice);
		e->asked = true;
		p->swayed |= e->swayed;
	}
	arena_reset(p->scratch);
	return e->choice;
}
