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

/* What differs between layers: numbers[row * width + column]. */
typedef struct Numbers {
	int64_t *v;
	int rows, width, n;
	int *table; /* by column: its place in `at`, or -1 */
	int ntable;
} Numbers;

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

static void
chunk_key(const Repeats *r, int i, Text *key)
{
	const Chunk *c = &r->e->chunks[i];
	const char *s = r->e->run.s;

	key->n = 0;
	text_printf(key, "%d:%d:", c->where.file, c->where.line);
	for (size_t k = c->from, end = chunk_end(r, i); k < end; k++) {
		text_addn(key, &s[k], 1);
		if (s[k] == NUMBER || s[k] == COMMENT)
			while (s[k] != END)
				k++;
	}
}

static int
chunk_id(Repeats *r, Table *ids, const Text *key)
{
	int *id = table_get(ids, key->s);

	if (!id) {
		id = NEW(r->e->arena, int);
		*id = table_count(ids);
		table_set(ids, arena_strndup(r->e->arena, key->s, key->n), id);
	}
	return *id;
}

static void
find_ids(Repeats *r)
{
	Arena *a = r->e->arena;
	Table *ids = table_new(a);
	Text key = {0};

	r->id = NEW_ARRAY(a, int, r->n + 1);
	for (int i = 0; i < r->n; i++) {
		chunk_key(r, i, &key);
		r->id[i] = chunk_id(r, ids, &key);
	}
	text_free(&key);
	int *last = NEW_ARRAY(a, int, table_count(ids) + 1);
	r->next = NEW_ARRAY(a, int, r->n + 1);
	for (int i = r->n - 1; i >= 0; i--) {
		r->next[i] = last[r->id[i]] - 1;
		last[r->id[i]] = i + 1;
	}
}

static void
find_hashes(Repeats *r)
{
	r->hash = NEW_ARRAY(r->e->arena, uint64_t, r->n + 1);
	r->power = NEW_ARRAY(r->e->arena, uint64_t, r->n + 1);
	r->power[0] = 1;
	for (int i = 0; i < r->n; i++) {
		r->hash[i + 1] = r->hash[i] * 1099511628211u + (uint64_t)r->id[i] + 1;
		r->power[i + 1] = r->power[i] * 1099511628211u;
	}
}

static bool
same_hash(const Repeats *r, int i, int k, int n)
{
	return r->hash[i + n] - r->hash[i] * r->power[n]
		== r->hash[k + n] - r->hash[k] * r->power[n];
}

/* ---- layers ------------------------------------------------------------------ */

/* A layer ends at the depth at which it begins, and never leaves it. */
static bool
is_balanced(const Repeats *r, int first, int n)
{
	const Chunk *c = &r->e->chunks[first];

	for (int i = 0; i < n; i++)
		if (c[i].low < c->before)
			return false;
	return c[n - 1].after == c->before;
}

static bool
are_equal(const Repeats *r, const Layers *l)
{
	for (int i = l->period; i < l->period * l->times; i++)
		if (r->id[l->first + i] != r->id[l->first + i - l->period])
			return false;
	return true;
}

static int
count_times(const Repeats *r, int first, int period)
{
	int times = 1;

	while (first + period * (times + 1) <= r->n
		&& same_hash(r, first, first + period * times, period))
		times++;
	return times;
}

static int
saved(const Layers *l)
{
	return (l->times - 1) * l->period;
}

/* Those from chunk i on that save the most lines. */
static Layers
layers_at(const Repeats *r, int i)
{
	Layers best = {i, 1, 1};

	for (int k = r->next[i], tries = 0; k >= 0 && tries < MAX_TRIES;
		k = r->next[k], tries++) {
		Layers l = {i, k - i, count_times(r, i, k - i)};
		if (saved(&l) > saved(&best) && saved(&l) >= MIN_SAVED
			&& is_balanced(r, i, l.period) && are_equal(r, &l))
			best = l;
	}
	return best;
}

/* ---- numbers ------------------------------------------------------------------ */

static void
read_numbers(const Repeats *r, int first, int last, Numbers *n)
{
	const char *s = r->e->run.s;

	for (size_t k = r->e->chunks[first].from; k < chunk_end(r, last); k++)
		if (s[k] == NUMBER)
			APPEND(r->e->arena, n->v, n->n, strtoll(&s[k + 1], NULL, 10));
}

static int64_t
number(const Numbers *n, int row, int column)
{
	return n->v[row * n->width + column];
}

static bool
is_evenly_spaced(const Numbers *n, int column)
{
	int64_t step = number(n, 1, column) - number(n, 0, column);

	for (int row = 2; row < n->rows; row++)
		if (number(n, row, column) - number(n, row - 1, column) != step)
			return false;
	return true;
}

static bool
is_same_column(const Numbers *n, int a, int b)
{
	for (int row = 0; row < n->rows; row++)
		if (number(n, row, a) != number(n, row, b))
			return false;
	return true;
}

/* Numbers of no simple form are looked up; equal columns once. */
static void
choose_columns(const Repeats *r, Numbers *n)
{
	n->table = NEW_ARRAY(r->e->arena, int, n->width + 1);
	for (int c = 0; c < n->width; c++) {
		n->table[c] = -1;
		if (is_evenly_spaced(n, c))
			continue;
		for (int other = 0; other < c && n->table[c] < 0; other++)
			if (n->table[other] >= 0 && is_same_column(n, other, c))
				n->table[c] = n->table[other];
		if (n->table[c] < 0)
			n->table[c] = n->ntable++;
	}
}

static Numbers
layer_numbers(const Repeats *r, const Layers *l)
{
	Numbers n = {.rows = l->times};

	for (int i = 0; i < l->times; i++)
		read_numbers(r, l->first + i * l->period, l->first + (i + 1) * l->period - 1,
			&n);
	n.width = n.n / n.rows;
	choose_columns(r, &n);
	return n;
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
	int ntable = layer_numbers(r, l).ntable;

	if (!ntable || saved(&later) < MIN_SAVED)
		return true;
	if (layer_numbers(r, &earlier).ntable < ntable)
		*l = earlier;
	return layer_numbers(r, &later).ntable >= ntable;
}

/* ---- printing ------------------------------------------------------------------ */

static void
print_number(Text *t, const Numbers *n, int column)
{
	long long first = number(n, 0, column);
	long long step = number(n, 1, column) - first;

	if (n->table[column] >= 0)
		text_printf(t, "at[%d]", n->table[column]);
	else if (!step)
		text_printf(t, "%lld", first);
	else
		text_printf(t, "(%lld %c n * %lld)", first, step < 0 ? '-' : '+',
			step < 0 ? -step : step);
}

static void
print_row(Text *t, const Repeats *r, const Numbers *n, int row, const char *indent)
{
	int64_t *v = NEW_ARRAY(r->e->arena, int64_t, n->ntable);

	for (int c = 0; c < n->width; c++)
		if (n->table[c] >= 0)
			v[n->table[c]] = number(n, row, c);
	for (int i = 0; i < n->ntable; i++) {
		const char *before = i ? " " : "{";
		if (i && i % NUMBERS_A_LINE == 0)
			before = arena_printf(r->e->arena, "\n%s\t\t", indent);
		text_printf(t, "%s%lld%s", before, (long long)v[i],
			i + 1 < n->ntable ? "," : "},\n");
	}
}

static void
print_table(const Repeats *r, const Numbers *n, const char *indent)
{
	if (!n->ntable)
		return;
	text_printf(r->t, "%sstatic const int64_t at_%d[][%d] = {\n", indent, r->e->ntables,
		n->ntable);
	for (int row = 0; row < n->rows; row++) {
		text_printf(r->t, "%s\t", indent);
		print_row(r->t, r, n, row, indent);
	}
	text_printf(r->t, "%s};\n", indent);
}

/* The lines of chunk i; `n` is NULL outside a loop. */
static void
print_chunk(const Repeats *r, Text *t, int i, const Numbers *n, int *column)
{
	const char *s = r->e->run.s;

	for (size_t k = r->e->chunks[i].from, end = chunk_end(r, i); k < end; k++) {
		if (n && s[k] == NUMBER) {
			print_number(t, n, (*column)++);
			while (s[k] != END)
				k++;
		} else if (s[k] > END) {
			text_addn(t, &s[k], 1);
		}
	}
}

static void
print_further_in(Text *t, const char *s)
{
	for (const char *end; *s; s = end + 1) {
		end = strchr(s, '\n');
		text_add(t, *s == '#' ? "" : "\t");
		text_addn(t, s, (size_t)(end - s) + 1);
	}
}

static void
print_layers(Repeats *r, const Layers *l)
{
	Numbers n = layer_numbers(r, l);
	Text body = {0}, indent = {0};
	int column = 0;

	for (int i = 0; i <= r->e->chunks[l->first].before; i++)
		text_add(&indent, "\t");
	for (int i = 0; i < l->period; i++)
		print_chunk(r, &body, l->first + i, &n, &column);
	text_printf(r->t, "%s/* %d times; the names are those of the first */\n", indent.s,
		l->times);
	print_table(r, &n, indent.s);
	text_printf(r->t, "%sfor (int64_t n = 0; n < %d; n++) {\n", indent.s, l->times);
	if (n.ntable)
		text_printf(r->t, "%s\tconst int64_t *at = at_%d[n];\n", indent.s,
			r->e->ntables++);
	print_further_in(r->t, body.s);
	text_printf(r->t, "%s}\n", indent.s);
	text_free(&body);
	text_free(&indent);
}

void
c_run(Emitter *e, Text *t)
{
	Repeats r = {.e = e, .t = t, .n = e->nchunks};

	find_ids(&r);
	find_hashes(&r);
	for (int i = 0; i < r.n;) {
		Layers l = layers_at(&r, i);
		bool loop = l.times > 1 && trim_layers(&r, &l);
		int n = loop ? l.period * l.times : l.period;
		if (loop)
			print_layers(&r, &l);
		for (int k = i; k < i + n && !loop; k++)
			print_chunk(&r, t, k, NULL, NULL);
		i += n;
	}
}
