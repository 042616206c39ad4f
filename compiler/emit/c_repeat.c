/*
 * c_repeat.c - the body of run(), with equal layers as one loop.
 *
 *   mul_0((const float *)(slab + 64), (float *)(slab + 4096));
 *   mul_0((const float *)(slab + 96), (float *)(slab + 4096));
 *   ...
 *
 * becomes
 *
 *   for (int64_t n = 0; n < 96; n++) {
 *           mul_0((const float *)(slab + (64 + n * 32)), ...
 *
 * Steps are equal if they come from the same source line and their C differs
 * in nothing but numbers: where buffers are, and times.  In e->run these stand
 * between marks, and so do comments, of which the first is kept.
 */
#include <stdlib.h>
#include <string.h>
#include "emit/c.h"

enum {
	MIN_SAVED = 64, /* steps; fewer are easier to read one by one */
	MAX_TRIES = 16, /* lengths of a layer that are tried */
	NUMBERS_A_LINE = 8,
};

/* In e->run: NUMBER digits END, COMMENT text END. */
enum { NUMBER = 1, COMMENT, END };

/* Chunks first .. first + period * times - 1 are `times` equal layers. */
typedef struct Layers {
	int first, period, times;
} Layers;

typedef struct Repeats {
	Emitter *e;
	Text *t;
	int n;		/* chunks */
	int *id;	/* equal ones have the same */
	int *next;	/* chunk of the same id, or -1 */
	uint64_t *hash; /* of ids before chunk i */
	uint64_t *power;
} Repeats;

/* The numbers that differ between layers: column after column, a row for each layer. */
typedef struct Columns {
	int64_t *v;
	int rows, n;
	int *table; /* by column: its place in `at`, or -1 */
	int ntable;
} Columns;

/* ---- what is noted while run() is printed ---------------------------------- */

void
c_number(Text *t, int64_t n)
{
	text_printf(t, "%c%lld%c", NUMBER, (long long)n, END);
}

void
c_step_comment(Emitter *e, const Op *op)
{
	text_printf(&e->run, "%c", COMMENT);
	c_origin(e, &e->run, e->indent, op, true);
	text_printf(&e->run, "%c", END);
}

/* An empty else is taken back together with its chunk. */
void
c_note_step(Emitter *e, const Op *op, int depth, int low)
{
	Chunk c = {.from = e->step_from, .before = depth, .after = e->depth, .low = low};

	if (op)
		c.where = op->range;
	while (e->nchunks && e->chunks[e->nchunks - 1].from >= c.from)
		e->nchunks--;
	APPEND(e->arena, e->chunks, e->nchunks, c);
}

static size_t
chunk_end(const Repeats *r, int i)
{
	return i + 1 < r->n ? r->e->chunks[i + 1].from : r->e->run.n;
}

/* ---- which steps are equal -------------------------------------------------- */

/* Chunks from the same line whose C, but for numbers and comments, is the same. */
static void
find_equal(Repeats *r)
{
	Arena *a = r->e->arena;
	Table *ids = table_new(a);
	const char *s = r->e->run.s;

	r->id = NEW_ARRAY(a, int, r->n + 1);
	r->next = NEW_ARRAY(a, int, r->n + 1);
	r->hash = NEW_ARRAY(a, uint64_t, r->n + 1);
	r->power = NEW_ARRAY(a, uint64_t, r->n + 1);
	r->power[0] = 1;
	for (int i = 0; i < r->n; i++) {
		const Chunk *c = &r->e->chunks[i];
		Text key = {0};

		text_printf(&key, "%d:%d:", c->where.file, c->where.line);
		for (size_t k = c->from, end = chunk_end(r, i); k < end; k++) {
			text_addn(&key, &s[k], 1);
			if (s[k] == NUMBER || s[k] == COMMENT)
				while (s[k] != END)
					k++;
		}
		int *last = table_get(ids, key.s); /* of the same id */
		r->next[i] = -1;
		if (last) {
			r->id[i] = r->id[*last];
			r->next[*last] = i;
		} else {
			r->id[i] = table_count(ids);
			last = NEW(a, int);
			table_set(ids, arena_strndup(a, key.s, key.n), last);
		}
		*last = i;
		text_free(&key);
		r->hash[i + 1] = r->hash[i] * 1099511628211u + (uint64_t)r->id[i] + 1;
		r->power[i + 1] = r->power[i] * 1099511628211u;
	}
}

/* Of the ids of n chunks from i on. */
static uint64_t
hash_of(const Repeats *r, int i, int n)
{
	return r->hash[i + n] - r->hash[i] * r->power[n];
}

/* ---- layers ------------------------------------------------------------------ */

static int
saved(const Layers *l)
{
	return (l->times - 1) * l->period;
}

/* A layer ends at the depth at which it begins, and never leaves it.  Equal hashes
   may be those of different layers. */
static bool
are_layers(const Repeats *r, const Layers *l)
{
	const Chunk *c = &r->e->chunks[l->first];
	const int *id = &r->id[l->first];

	for (int i = 0; i < l->period; i++)
		if (c[i].low < c->before)
			return false;
	for (int i = l->period; i < l->period * l->times; i++)
		if (id[i] != id[i - l->period])
			return false;
	return c[l->period - 1].after == c->before;
}

/* Those from chunk i on that save the most lines. */
static Layers
layers_at(const Repeats *r, int i)
{
	Layers best = {i, 1, 1};

	for (int k = r->next[i], tries = 0; k >= 0 && tries < MAX_TRIES;
		k = r->next[k], tries++) {
		Layers l = {i, k - i, 1};
		uint64_t hash = hash_of(r, i, l.period);
		while (i + l.period * (l.times + 1) <= r->n
			&& hash_of(r, i + l.period * l.times, l.period) == hash)
			l.times++;
		if (saved(&l) > saved(&best) && saved(&l) >= MIN_SAVED && are_layers(r, &l))
			best = l;
	}
	return best;
}

/* ---- numbers ------------------------------------------------------------------ */

/* Columns that do not advance evenly are looked up; equal ones once. */
static Columns
layer_columns(const Repeats *r, const Layers *l)
{
	Columns columns = {.rows = l->times};
	Arena *a = r->e->arena;
	const char *s = r->e->run.s;
	size_t end = chunk_end(r, l->first + l->times * l->period - 1);
	int64_t *v = NULL;
	int n = 0, rows = l->times;

	for (size_t k = r->e->chunks[l->first].from; k < end; k++)
		if (s[k] == NUMBER)
			APPEND(a, v, n, strtoll(&s[k + 1], NULL, 10));
	columns.n = n / rows;
	columns.v = NEW_ARRAY(a, int64_t, n + 1);
	columns.table = NEW_ARRAY(a, int, columns.n + 1);
	for (int c = 0; c < columns.n; c++) {
		int64_t *column = &columns.v[c * rows];
		bool even = true;
		int same = 0;

		for (int row = 0; row < rows; row++) {
			column[row] = v[row * columns.n + c];
			even &= row < 2 || column[row] - column[row - 1] == column[1] - *column;
		}
		while (same < c
			&& (columns.table[same] < 0
				|| memcmp(&columns.v[same * rows], column,
					sizeof *column * (size_t)rows)))
			same++;
		columns.table[c] = even ? -1
			: same < c	? columns.table[same]
					: columns.ntable++;
	}
	return columns;
}

/*
 * The first layer often has its input, the last its output elsewhere: it is
 * better written out if the others then need fewer numbers.  False: so it is
 * with the first; the last is left out of l.
 */
static bool
trim_layers(const Repeats *r, Layers *l)
{
	Layers later = {l->first + l->period, l->period, l->times - 1};
	Layers earlier = {l->first, l->period, l->times - 1};
	int ntable = layer_columns(r, l).ntable;

	if (!ntable || saved(&later) < MIN_SAVED)
		return true;
	if (layer_columns(r, &earlier).ntable < ntable)
		*l = earlier;
	return layer_columns(r, &later).ntable >= ntable;
}

/* ---- printing ------------------------------------------------------------------ */

/* The lines of chunk i; in a loop, further in and with the columns from *column on. */
static void
print_chunk(const Repeats *r, int i, const Columns *columns, int *column)
{
	const char *s = r->e->run.s;
	Text *t = r->t;

	for (size_t k = r->e->chunks[i].from, end = chunk_end(r, i); k < end; k++) {
		if ((unsigned char)s[k] > END) {
			if (columns && s[k] != '#' && t->s[t->n - 1] == '\n')
				text_add(t, "\t");
			text_addn(t, &s[k], 1);
			continue;
		}
		if (!columns || s[k] != NUMBER)
			continue;
		while (s[k] != END)
			k++;
		const int64_t *v = &columns->v[*column * columns->rows];
		long long first = v[0], step = v[1] - v[0];
		int table = columns->table[(*column)++];
		if (table >= 0)
			text_printf(t, "at[%d]", table);
		else if (!step)
			text_printf(t, "%lld", first);
		else
			text_printf(t, "(%lld %c n * %lld)", first, step < 0 ? '-' : '+',
				step < 0 ? -step : step);
	}
}

static void
print_layers(const Repeats *r, const Layers *l)
{
	Columns columns = layer_columns(r, l);
	const char *indent = c_indent(r->e, r->e->chunks[l->first].before);
	int ntable = columns.ntable, column = 0;
	Text *t = r->t;

	text_printf(t, "%s/* %d times; the names are those of the first */\n", indent,
		l->times);
	if (ntable)
		text_printf(t, "%sstatic const int64_t at_%d[][%d] = {\n", indent,
			r->e->ntables, ntable);
	for (int row = 0; ntable && row < columns.rows; row++) {
		text_printf(t, "%s\t{", indent);
		for (int c = 0, i = 0; c < columns.n; c++) {
			if (columns.table[c] != i)
				continue; /* not looked up, or has been */
			if (i && i % NUMBERS_A_LINE == 0)
				text_printf(t, "\n%s\t\t", indent);
			else if (i)
				text_add(t, " ");
			text_printf(t, "%lld%s", (long long)columns.v[c * columns.rows + row],
				++i < ntable ? "," : "},\n");
		}
	}
	if (ntable)
		text_printf(t, "%s};\n", indent);
	text_printf(t, "%sfor (int64_t n = 0; n < %d; n++) {\n", indent, l->times);
	if (ntable)
		text_printf(t, "%s\tconst int64_t *at = at_%d[n];\n", indent, r->e->ntables++);
	for (int i = 0; i < l->period; i++)
		print_chunk(r, l->first + i, &columns, &column);
	text_printf(t, "%s}\n", indent);
}

void
c_run(Emitter *e, Text *t)
{
	Repeats r = {.e = e, .t = t, .n = e->nchunks};

	find_equal(&r);
	for (int i = 0; i < r.n;) {
		Layers l = layers_at(&r, i);
		bool loop = l.times > 1 && trim_layers(&r, &l);
		int n = loop ? l.period * l.times : l.period;
		if (loop)
			print_layers(&r, &l);
		for (int k = i; k < i + n && !loop; k++)
			print_chunk(&r, k, NULL, NULL);
		i += n;
	}
}
