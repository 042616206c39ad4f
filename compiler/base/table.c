/*
 * table.c - string to pointer, in order of insertion.
 *
 *   entries  [ {"h", ...}, {"W", ...} ]     in order
 *   by_key   hash -> entry                  lookup.c
 */
#include <string.h>

#include "base.h"

typedef struct Entry {
	const char *key;
	void *value;
} Entry;

struct Table {
	Arena *arena;
	Entry **entries;
	int n, room; /* entries in use, and made */
	Lookup *by_key;
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

static bool
same_key(const void *item, const void *key)
{
	const Entry *e = item;

	return strcmp(e->key, key) == 0;
}

Table *
table_new(Arena *a)
{
	Table *t = NEW(a, Table);

	t->arena = a;
	t->by_key = lookup_new(a);
	return t;
}

void
table_clear(Table *t)
{
	lookup_clear(t->by_key);
	t->n = 0;
}

static Entry *
find(const Table *t, const char *key)
{
	return lookup_find(t->by_key, hash_string(key), same_key, key);
}

void *
table_get(const Table *t, const char *key)
{
	const Entry *e = find(t, key);

	return e ? e->value : NULL;
}

bool
table_add(Table *t, const char *key, void *value)
{
	uint64_t hash = hash_string(key);

	if (lookup_find(t->by_key, hash, same_key, key))
		return false;
	if (t->n == t->room)
		APPEND(t->arena, t->entries, t->room, NEW(t->arena, Entry));
	Entry *e = t->entries[t->n++];
	*e = (Entry){key, value};
	lookup_add(t->by_key, hash, e);
	return true;
}

void
table_set(Table *t, const char *key, void *value)
{
	if (!table_add(t, key, value))
		find(t, key)->value = value;
}

int
table_count(const Table *t)
{
	return t->n;
}

const char *
table_key(const Table *t, int i)
{
	return t->entries[i]->key;
}

void *
table_value(const Table *t, int i)
{
	return t->entries[i]->value;
}
