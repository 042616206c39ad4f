/*
 * table.c - string to pointer, in order of insertion.
 *
 *   entries  [ {"h", ...}, {"W", ...} ]     in order
 *   slots    [ 0 2 0 1 ... ]                entry number + 1, 0 free
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

struct Table {
	Arena *arena;
	Entry *entries;
	int n;
	uint32_t *slots;
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
	t->slots = NEW_ARRAY(a, uint32_t, t->nslots);
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
static uint32_t *
find_slot(const Table *t, const char *key, uint64_t hash)
{
	size_t mask = t->nslots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &t->slots[i];
		const Entry *e = &t->entries[*slot - 1];

		if (*slot == 0)
			return slot;
		if (e->hash == hash && strcmp(e->key, key) == 0)
			return slot;
	}
}

static void
grow(Table *t)
{
	Entry *entries = NEW_ARRAY(t->arena, Entry, t->nslots);

	memcpy(entries, t->entries, sizeof *entries * (size_t)t->n);
	t->entries = entries;
	t->nslots *= 2;
	t->slots = NEW_ARRAY(t->arena, uint32_t, t->nslots);
	for (int i = 0; i < t->n; i++) {
		const Entry *e = &t->entries[i];

		*find_slot(t, e->key, e->hash) = (uint32_t)i + 1;
	}
}

void *
table_get(const Table *t, const char *key)
{
	uint32_t slot = *find_slot(t, key, hash_string(key));

	return slot ? t->entries[slot - 1].value : NULL;
}

void
table_set(Table *t, const char *key, void *value)
{
	uint64_t hash = hash_string(key);
	uint32_t *slot = find_slot(t, key, hash);

	if (*slot) {
		t->entries[*slot - 1].value = value;
		return;
	}
	t->entries[t->n++] = (Entry){key, value, hash};
	*slot = (uint32_t)t->n;
	if ((size_t)t->n * 2 == t->nslots)
		grow(t);
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
