/*
 * table.c - string to pointer, in order of insertion.
 *
 *   entries  [ {"h", ...}, {"W", ...} ]     in order
 *   slots    [ 0 2 0 1 ... ]                entry number + 1, 0 free, with a
 *                                           part of the hash: most slots are
 *                                           passed without a look at the entry
 *
 * Open addressing over a power of two of slots, at most half full.
 */
#include <string.h>

#include "base.h"

typedef struct Entry {
	const char *key;
	void *value;
	uint64_t hash;
} Entry;

typedef struct Slot {
	uint32_t entry, hash;
} Slot;

struct Table {
	Arena *arena;
	Entry *entries;
	int n;
	Slot *slots;
	size_t nslots;
};

/* FNV-1a */
static uint64_t
hash_string(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h ^ h >> 32;
}

Table *
table_new(Arena *a)
{
	Table *t = NEW(a, Table);

	t->arena = a;
	t->nslots = 16;
	t->slots = NEW_ARRAY(a, Slot, t->nslots);
	t->entries = NEW_ARRAY(a, Entry, t->nslots / 2);
	return t;
}

void
table_clear(Table *t)
{
	memset(t->slots, 0, sizeof *t->slots * t->nslots);
	t->n = 0;
}

/* The slot of the key, or the free one where it would go. */
static Slot *
find_slot(const Table *t, const char *key, uint64_t hash)
{
	size_t mask = t->nslots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		Slot *slot = &t->slots[i];

		if (!slot->entry)
			return slot;
		if (slot->hash == hash >> 32 &&
		    strcmp(t->entries[slot->entry - 1].key, key) == 0)
			return slot;
	}
}

static void
fill_slot(Slot *slot, int entry, uint64_t hash)
{
	*slot = (Slot){(uint32_t)entry + 1, (uint32_t)(hash >> 32)};
}

static void
grow(Table *t)
{
	Entry *entries = NEW_ARRAY(t->arena, Entry, t->nslots);

	memcpy(entries, t->entries, sizeof *entries * (size_t)t->n);
	t->entries = entries;
	t->nslots *= 2;
	t->slots = NEW_ARRAY(t->arena, Slot, t->nslots);
	for (int i = 0; i < t->n; i++) {
		const Entry *e = &t->entries[i];

		fill_slot(find_slot(t, e->key, e->hash), i, e->hash);
	}
}

void *
table_get(const Table *t, const char *key)
{
	const Slot *slot = find_slot(t, key, hash_string(key));

	return slot->entry ? t->entries[slot->entry - 1].value : NULL;
}

/* The key's entry, a new one if there is none. */
static Entry *
put(Table *t, const char *key, bool *known)
{
	uint64_t hash = hash_string(key);

	if ((size_t)t->n * 2 == t->nslots)
		grow(t);
	Slot *slot = find_slot(t, key, hash);
	*known = slot->entry;
	if (!*known) {
		fill_slot(slot, t->n, hash);
		t->entries[t->n++] = (Entry){key, NULL, hash};
	}
	return &t->entries[slot->entry - 1];
}

void
table_set(Table *t, const char *key, void *value)
{
	bool known;

	put(t, key, &known)->value = value;
}

bool
table_add(Table *t, const char *key, void *value)
{
	bool known;
	Entry *e = put(t, key, &known);

	if (!known)
		e->value = value;
	return !known;
}

int
table_count(const Table *t)
{
	return t->n;
}

const char *
table_key(const Table *t, int i)
{
	return t->entries[i].key;
}

void *
table_value(const Table *t, int i)
{
	return t->entries[i].value;
}
