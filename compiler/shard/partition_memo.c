/*
 * partition_memo.c - ops that look alike get one plan.
 *
 * A plan depends on the op's kind and attributes, the types around it, where
 * each operand is and where results are wanted.  These are written down as a
 * key; the plan of an op with an equal key is taken as it is, so the layers of
 * a deep network are planned once.
 */
#include <string.h>
#include "shard/partition.h"

typedef struct Entry {
	const char *key;
	size_t n;
	uint64_t hash;
	Choice choice;
	struct Entry *next;
} Entry;

enum { BUCKETS = 1024 };

struct Memo {
	Entry *buckets[BUCKETS];
};

/* ---- keys --------------------------------------------------------------------- */

static void
put(Text *t, int64_t n)
{
	text_addn(t, (const char *)&n, sizeof n);
}

static void
put_type(Text *t, const Type *type)
{
	put(t, type->dtype);
	put(t, type->rank);
	for (int d = 0; d < type->rank; d++)
		put(t, type->dims[d]);
}

static void
put_axes(Text *t, const AxisList *l)
{
	put(t, l->n);
	for (int i = 0; i < l->n; i++) {
		put(t, l->a[i].axis);
		put(t, (int64_t)l->a[i].pre << 32 | l->a[i].size);
	}
}

static void
put_placement(Text *t, const Placement *p)
{
	AxisList unreduced = placement_unreduced(p);

	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		put_axes(t, &l);
	}
	put_axes(t, &unreduced);
	put(t, p->combiner);
}

static void
put_operand(Text *t, const Partitioner *p, const Value *v)
{
	const Source *s = source_of(p, v);

	put_type(t, &v->type);
	put(t, (v->uses > 1) | s->at_final << 1 | is_recomputed(v) << 2);
	put_placement(t, &s->final);
	for (const Form *f = s->forms; f; f = f->next)
		put_placement(t, &f->value->placement);
	put(t, -1);
}

static void
put_attrs(Text *t, const Op *op)
{
	put(t, op->has);
	for (int a = 0; a < ATTR_COUNT; a++) {
		const Ints *ints = op_ints(op, (AttrKind)a);
		if (op_has(op, (AttrKind)a))
			put(t, ints->n);
		for (int i = 0; i < ints->n; i++)
			put(t, ints->v[i]);
	}
}

static Text
key_of(const Partitioner *p, const Op *op)
{
	Text t = {0};

	put(&t, op->kind);
	put(&t, op->noperands);
	put_attrs(&t, op);
	for (int i = 0; i < op->noperands; i++)
		put_operand(&t, p, op->operands[i]);
	for (int i = 0; i < op->nresults; i++) {
		put_type(&t, &op->results[i]->type);
		put_placement(&t, &source_of(p, op->results[i])->final);
	}
	return t;
}

static uint64_t
hash_of(const Text *t)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < t->n; i++)
		h = (h ^ (unsigned char)t->s[i]) * 1099511628211u;
	return h;
}

/* ---- plans --------------------------------------------------------------------- */

Memo *
memo_new(Arena *a)
{
	return NEW(a, Memo);
}

static Entry *
find(const Memo *m, const Text *key, uint64_t hash)
{
	for (Entry *e = m->buckets[hash % BUCKETS]; e; e = e->next)
		if (e->hash == hash && e->n == key->n &&
		    !memcmp(e->key, key->s, key->n))
			return e;
	return NULL;
}

Choice
choose_once(Partitioner *p)
{
	Text key = key_of(p, p->op);
	uint64_t hash = hash_of(&key);
	Entry *e = find(p->memo, &key, hash);

	if (!e) {
		e = NEW(p->arena, Entry);
		e->key = arena_copy(p->arena, key.s, key.n);
		e->n = key.n;
		e->hash = hash;
		e->choice = choose(p);
		e->next = p->memo->buckets[hash % BUCKETS];
		p->memo->buckets[hash % BUCKETS] = e;
	}
	text_free(&key);
	return e->choice;
}
