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
	Table *table = NEW(a, Table);

	table->arena = a;
	table->by_key = lookup_new(a);
	return table;
}

void
table_clear(Table *table)
{
	lookup_clear(table->by_key);
	table->n = 0;
}

static Entry *
find(const Table *table, const char *key)
{
	return lookup_find(table->by_key, hash_string(key), same_key, key);
}

void *
table_get(const Table *table, const char *key)
{
	const Entry *e = find(table, key);

	return e ? e->value : NULL;
}

bool
table_add(Table *table, const char *key, void *value)
{
	uint64_t hash = hash_string(key);

	if (lookup_find(table->by_key, hash, same_key, key))
		return false;
	if (table->n == table->room)
		APPEND(table->arena, table->entries, table->room, NEW(table->arena, Entry));
	Entry *e = table->entries[table->n++];
	*e = (Entry){key, value};
	lookup_add(table->by_key, hash, e);
	return true;
}

void
table_set(Table *table, const char *key, void *value)
{
	if (!table_add(table, key, value))
		find(table, key)->value = value;
}

int
table_count(const Table *table)
{
	return table->n;
}

const char *
table_key(const Table *table, int i)
{
	return table->entries[i]->key;
}

void *
table_value(const Table *table, int i)
{
	return table->entries[i]->value;
}
