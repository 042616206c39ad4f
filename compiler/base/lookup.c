/*
 * lookup.c - from a hash to things of the caller's, which knows when two are
 * the same.
 *
 * Open addressing over a power of two of slots, at most half full.
 */
#include <string.h>

#include "base.h"

typedef struct Slot {
	uint64_t hash;
	void *item; /* NULL: free */
} Slot;

struct Lookup {
	Arena *arena;
	Slot *slots;
	size_t nslots, n;
};

uint64_t
hash_mix(uint64_t h, int64_t v)
{
	h = (h ^ (uint64_t)v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

Lookup *
lookup_new(Arena *a)
{
	Lookup *x = NEW(a, Lookup);

	x->arena = a;
	x->nslots = 64;
	x->slots = NEW_ARRAY(a, Slot, x->nslots);
	return x;
}

void *
lookup_find(const Lookup *x, uint64_t hash, LookupSame *same, const void *key)
{
	for (size_t i = hash;; i++) {
		const Slot *slot = &x->slots[i & (x->nslots - 1)];
		if (!slot->item)
			return NULL;
		if (slot->hash == hash && same(slot->item, key))
			return slot->item;
	}
}

static void
fill(Lookup *x, Slot s)
{
	size_t i = s.hash & (x->nslots - 1);

	while (x->slots[i].item)
		i = (i + 1) & (x->nslots - 1);
	x->slots[i] = s;
}

void
lookup_add(Lookup *x, uint64_t hash, void *item)
{
	if (2 * ++x->n > x->nslots) {
		Slot *old = x->slots, *end = old + x->nslots;
		x->nslots *= 2;
		x->slots = NEW_ARRAY(x->arena, Slot, x->nslots);
		for (Slot *s = old; s < end; s++)
			if (s->item)
				fill(x, *s);
	}
	fill(x, (Slot){hash, item});
}

void
lookup_clear(Lookup *x)
{
	memset(x->slots, 0, sizeof *x->slots * x->nslots);
	x->n = 0;
}
