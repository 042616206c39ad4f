/*
 * plan.c - the memory of one device: a fixed offset in one slab for every
 * buffer, reused when its value is dead.
 *
 * Buffers are placed in the order of their first step, each in the tightest gap
 * among those that are live then.  Where that takes more than the largest live
 * set, and buffers are not so many that time would matter, they are also placed
 * largest first, and the smaller plan is kept.  A kernel that reads an operand
 * only at the element it is about to store writes over it if it dies there.
 * A result that becomes the parameter of its name in the next step is put where that is,
 * if nothing else is there and the plan is no larger for it: then nothing is copied.
 *
 * Requires L_fused.  Leaves the module as it is.
 */
#include <stdlib.h>
#include <string.h>
#include "memory/plan.h"
#include "memory/strips.h"

static const int64_t ABSURD = (int64_t)1 << 56;

enum { MANY_BUFFERS = 1000, SEEN = 256 }; /* above it in order only; a 256th is a gain */

static int64_t
scratch_of(const Op *op)
{
	return op_has(op, A_scratch) ? plan_aligned(op_int(op, A_scratch)) : 0;
}

/* ---- live ranges -------------------------------------------------------- */

static int
by_first(const void *a, const void *b)
{
	const Buffer *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->value->id > y->value->id) - (x->value->id < y->value->id);
}

static void
note_buffer(const Plan *plan, const Shared *s, int number)
{
	for (int i = 0; i < s->n; i++)
		plan->buffer_of[s->lives[i].value->id] = number;
	for (const Shared *part = s->parts; part; part = part->next)
		note_buffer(plan, part, number);
}

/* In the order in which they are written first. */
static void
find_buffers(Plan *plan)
{
	const Lives *l = plan->lives;
	const Module *m = plan->module;

	for (int i = 0; i < m->nvalues; i++) {
		const Shared *s = lives_buffer(l, i);
		if (!s)
			continue;
		LifeSpan span = lives_span(s);
		Buffer b = {.value = s->lives[0].value,
			.bytes = type_bytes(&s->lives[0].value->type),
			.first = span.from,
			.last = span.to,
			.kept = span.to};
		APPEND(l->arena, plan->buffers, plan->n, b);
	}
	if (plan->n)
		qsort(plan->buffers, (size_t)plan->n, sizeof *plan->buffers, by_first);
	plan_part_hosted(plan);
	for (int i = 0; i < m->nvalues; i++)
		plan->buffer_of[i] = -1;
	for (int i = 0; i < plan->n + plan->nhosted; i++)
		note_buffer(plan, l->shared[plan->buffers[i].value->id], i);
}

/* Of results: where the parameters of their names are, whose places are kept until then. */
static void
find_homes(const Plan *plan)
{
	const Module *m = plan->module;
	Table *params = table_new(plan->lives->arena);

	for (int i = 0; i < m->entry->nparams; i++)
		table_set(params, m->entry->params[i]->name, m->entry->params[i]);
	for (int i = 0; i < m->nresults && i < m->entry->last->noperands; i++) {
		const Value *v = m->entry->last->operands[i];
		const Value *param = table_get(params, m->results[i].name);
		int at = plan->buffer_of[v->id], to = param ? plan->buffer_of[param->id] : -1;
		if (at >= 0 && to >= 0 && at < plan->n && to < plan->n && at != to
			&& !plan->lives->shared[v->id]->within
			&& plan->buffers[at].bytes == plan->buffers[to].bytes) {
			Buffer *result = &plan->buffers[at], *home = &plan->buffers[to];
			result->home = home;
			home->kept = (int)greater(home->kept, result->first - 1);
		}
	}
}

/* False where sizes are so far beyond any memory that sums of them could overflow. */
static bool
find_live(Plan *plan)
{
	int n = plan->lives->n + 3;
	int64_t *change = NEW_ARRAY(plan->lives->arena, int64_t, n), live = 0, sum = 0;

	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		if (b->bytes > ABSURD || (sum += b->bytes) > ABSURD)
			return false;
		change[b->first + 1] += b->bytes;
		change[b->last + 2] -= b->bytes;
	}
	for (int i = 0; i < n; i++) {
		live += change[i];
		if (live > plan->live) {
			plan->live = live;
			plan->fullest = i - 1;
		}
	}
	return true;
}

/* ---- placement: largest first ------------------------------------------- */

static int
by_size(const void *a, const void *b)
{
	const Buffer *x = *(Buffer *const *)a, *y = *(Buffer *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x > y) - (x < y);
}

/* Into buffers in order of offset. */
static void
insert_by_offset(Buffer **placed, int n, Buffer *placing)
{
	int at = n;

	for (; at && placed[at - 1]->offset > placing->offset; at--)
		placed[at] = placed[at - 1];
	placed[at] = placing;
}

static bool
is_free(Buffer *const *busy, int n, int64_t offset, int64_t bytes)
{
	for (int i = 0; i < n; i++)
		if (busy[i]->offset < offset + bytes
			&& offset < busy[i]->offset + plan_aligned(busy[i]->bytes))
			return false;
	return true;
}

/* The tightest gap between buffers in order of offset; else after them. */
static int64_t
tightest_gap(Buffer *const *busy, int n, int64_t bytes)
{
	int64_t end = 0, best = -1, waste = INT64_MAX;

	for (int i = 0; i < n; i++) {
		int64_t gap = busy[i]->offset - end;
		if (gap >= bytes && gap - bytes < waste) {
			best = end;
			waste = gap - bytes;
		}
		int64_t after = busy[i]->offset + plan_aligned(busy[i]->bytes);
		end = after > end ? after : end;
	}
	return best >= 0 ? best : end;
}

static int64_t
place_by_size(Plan *plan, bool homes)
{
	Arena *a = plan->lives->arena;
	Buffer **order = NEW_ARRAY(a, Buffer *, plan->n + 1);
	Buffer **placed = NEW_ARRAY(a, Buffer *, plan->n + 1); /* in order of offset */
	Buffer **busy = NEW_ARRAY(a, Buffer *, plan->n + 1);
	int64_t total = 0;

	for (int i = 0; i < plan->n; i++)
		order[i] = &plan->buffers[i];
	qsort(order, (size_t)plan->n, sizeof *order, by_size);
	for (int i = 0; i < plan->n; i++) {
		Buffer *b = order[i];
		int nbusy = 0;
		for (int j = 0; j < i; j++)
			if (placed[j]->first <= b->until && placed[j]->until >= b->first)
				busy[nbusy++] = placed[j];
		if (homes && b->home
			&& is_free(busy, nbusy, b->home->offset, plan_aligned(b->bytes)))
			b->offset = b->home->offset;
		else
			b->offset = tightest_gap(busy, nbusy, plan_aligned(b->bytes));
		insert_by_offset(placed, i, b);
		int64_t end = b->offset + plan_aligned(b->bytes);
		total = end > total ? end : total;
	}
	return total;
}

/* ---- placement: in order ------------------------------------------------ */

typedef struct Gap {
	int64_t offset, bytes;
	struct Gap *next; /* in order of offset */
} Gap;

static int64_t
take_gap(Gap **gaps, int64_t bytes)
{
	Gap **best = NULL;

	for (Gap **g = gaps; *g; g = &(*g)->next)
		if ((*g)->bytes >= bytes && (!best || (*g)->bytes < (*best)->bytes))
			best = g;
	int64_t offset = (*best)->offset;
	(*best)->offset += bytes;
	(*best)->bytes -= bytes;
	if (!(*best)->bytes)
		*best = (*best)->next;
	return offset;
}

/*
 * Joined with the gaps on both sides, where they touch.
 *
 *   gaps [0, 64) [192, ...), given [64, 128)     [0, 128) [192, ...)
 *   and then [128, 192)                          [0, ...)
 */
static void
give_gap(Arena *a, Gap **gaps, int64_t offset, int64_t bytes)
{
	Gap **g = gaps;

	while (*g && (*g)->offset + (*g)->bytes < offset)
		g = &(*g)->next;
	if (*g && (*g)->offset + (*g)->bytes == offset) {
		(*g)->bytes += bytes;
	} else if (*g && offset + bytes == (*g)->offset) {
		(*g)->offset = offset;
		(*g)->bytes += bytes;
		return;
	} else {
		Gap *new = NEW(a, Gap);
		*new = (Gap){offset, bytes, *g};
		*g = new;
	}
	Gap *next = (*g)->next;
	if (next && (*g)->offset + (*g)->bytes == next->offset) {
		(*g)->bytes += next->bytes;
		(*g)->next = next->next;
	}
}

/* What is there, if all of it is free. */
static bool
take_at(Arena *a, Gap **gaps, int64_t offset, int64_t bytes)
{
	Gap **g = gaps;

	while (*g && (*g)->offset + (*g)->bytes <= offset)
		g = &(*g)->next;
	if (!*g || (*g)->offset > offset || (*g)->offset + (*g)->bytes < offset + bytes)
		return false;
	Gap behind = {offset + bytes, (*g)->offset + (*g)->bytes - offset - bytes, (*g)->next};
	(*g)->bytes = offset - (*g)->offset;
	if (behind.bytes)
		(*g)->next = arena_copy(a, &behind, sizeof behind);
	if (!(*g)->bytes)
		*g = (*g)->next;
	return true;
}

/* Buffers are numbered by their first step already. */
static int64_t
place_in_order(Plan *plan, bool homes)
{
	Arena *a = plan->lives->arena;
	int *dying = NEW_ARRAY(a, int, plan->lives->n + 2); /* by last step + 1: from 1 on */
	int *next = NEW_ARRAY(a, int, plan->n + 1);	    /* ... and the one after it */
	Gap *gaps = NEW(a, Gap);
	int64_t total = 0;
	int step = -1;

	gaps->bytes = INT64_MAX / 2;
	for (int i = plan->n - 1; i >= 0; i--) {
		int *first = &dying[plan->buffers[i].until + 1];
		next[i] = *first;
		*first = i + 1;
	}
	for (int i = 0; i < plan->n; i++) {
		Buffer *b = &plan->buffers[i];
		for (; step < b->first; step++)
			for (int k = dying[step + 1]; k; k = next[k - 1])
				give_gap(a, &gaps, plan->buffers[k - 1].offset,
					plan_aligned(plan->buffers[k - 1].bytes));
		if (homes && b->home
			&& take_at(a, &gaps, b->home->offset, plan_aligned(b->bytes)))
			b->offset = b->home->offset;
		else
			b->offset = take_gap(&gaps, plan_aligned(b->bytes));
		int64_t end = b->offset + plan_aligned(b->bytes);
		total = end > total ? end : total;
	}
	return total;
}

/* In order with homes, by size with homes; without. */
enum { WAYS = 4 };

static int64_t
place(Plan *plan, int way)
{
	bool homes = way < 2;

	for (int i = 0; i < plan->n; i++)
		plan->buffers[i].until = homes ? plan->buffers[i].kept : plan->buffers[i].last;
	return way % 2 ? place_by_size(plan, homes) : place_in_order(plan, homes);
}

/* The first of so many bytes, or else the smallest there is; of those that are as small the
   first.  Without homes, which --steps would have to move back, it has to be smaller to see. */
static void
place_well(Plan *plan, int64_t enough)
{
	int best = 0, last = 0;

	plan->total = INT64_MAX;
	for (int way = 0; way < WAYS && plan->total > greater(plan->live, enough); way++) {
		if (way % 2 && plan->n > MANY_BUFFERS)
			continue;
		int64_t total = place(plan, way), gain = way < 2 ? 0 : plan->total / SEEN;
		if (total < plan->total - gain) {
			plan->total = total;
			best = way;
		}
		last = way;
	}
	if (best != last)
		place(plan, best);
}

Lives *
lives_planned(Module *m, const bool *apart, Arena *a)
{
	Lives *l = lives_find(m, a);
	int npairs;
	const Pair *pairs = lives_pairs(l, &npairs);

	for (int i = 0; i < npairs; i++) {
		const Value *x = pairs[i].op->operands[pairs[i].i];
		if (!lives_join(l, x, pairs[i].with))
			die("%s and %s cannot share a buffer", x->name, pairs[i].with->name);
	}
	for (int i = 0; i < l->n; i++)
		if (op_is_joint(l->step[i]) && !lives_join_parts(l, l->step[i]))
			die("%s cannot be where its parts are", l->step[i]->results[0]->name);
	for (int i = 0; i < l->n; i++)
		lives_join_dying(l, l->step[i], apart);
	return l;
}

Plan *
plan_within(Module *m, int64_t enough, Arena *a)
{
	Plan *p = NEW(a, Plan);
	Lives *l = lives_planned(m, NULL, a);

	p->module = m;
	p->lives = l;
	p->storage = 1;
	for (int i = 0; i < m->nvalues; i++)
		if (l->shared[i] && dtypes[l->shared[i]->lives[0].value->type.dtype].bits < 8)
			p->storage = 2;
	p->buffer_of = NEW_ARRAY(a, int, m->nvalues + 1);
	find_buffers(p);
	if (!find_live(p)) {
		p->live = p->total = ABSURD;
		p->fullest = -2;
		p->uncounted = true;
		return p;
	}
	for (int i = 0; i < l->n; i++)
		p->scratch = greater(p->scratch, scratch_of(l->step[i]));
	find_homes(p);
	place_well(p, enough - p->scratch);
	return p;
}

int64_t
plan_most(const Lives *l)
{
	int64_t bytes = 0, scratch = 0;

	for (int i = 0; i < l->module->nvalues; i++) {
		const Shared *s = lives_buffer(l, i);
		if (!s)
			continue;
		int64_t own = type_bytes(&s->lives[0].value->type);
		if (own > ABSURD || (bytes += plan_aligned(own)) > ABSURD)
			return INT64_MAX;
	}
	for (int i = 0; i < l->n; i++)
		scratch = greater(scratch, scratch_of(l->step[i]));
	return bytes + scratch;
}

Plan *
plan_build(Module *m)
{
	module_number(m);
	return plan_within(m, 0, m->arena);
}

int64_t
plan_peak(const Plan *plan)
{
	return plan->total + plan->scratch;
}

bool
plan_shares(const Plan *plan, const Value *a, const Value *b)
{
	return plan->lives->shared[a->id] == plan->lives->shared[b->id];
}

int64_t
plan_offset(const Plan *plan, const Value *v)
{
	int number = plan->buffer_of[v->id];
	int64_t offset = plan->buffers[number].offset * plan->storage;
	Strip strip;

	if (number >= plan->n)
		offset += plan_scratch_offset(plan) + plan->scratch;
	if (strip_find(v, &strip))
		offset += strip.at * dtypes[v->type.dtype].bytes;
	for (const Shared *s = plan->lives->shared[v->id]; s->within; s = s->within)
		offset += s->at;
	return offset;
}

int64_t
plan_scratch_offset(const Plan *plan)
{
	return plan->total * plan->storage;
}

int64_t
plan_slab(const Plan *plan)
{
	return plan_scratch_offset(plan) + plan->scratch + plan->hosted * plan->storage;
}

bool
plan_keeps(const Plan *plan, const Value *v)
{
	const Lives *l = plan->lives;
	const Shared *s = l->shared[v->id];
	const Buffer *b = &plan->buffers[plan->buffer_of[v->id]];

	if (s->parts)
		return false;
	for (int i = 0; i < s->n; i++)
		if (l->root[s->lives[i].value->id] != l->root[v->id])
			return false;
	for (int i = 0; i < plan->n && b < plan->buffers + plan->n; i++) {
		const Buffer *x = &plan->buffers[i];
		if (x != b && x->offset < b->offset + b->bytes
			&& b->offset < x->offset + x->bytes)
			return false;
	}
	return true;
}

Buffer **
plan_largest_first(const Plan *plan)
{
	Buffer **order = NEW_ARRAY(plan->lives->arena, Buffer *, plan->n + 1);

	for (int i = 0; i < plan->n; i++)
		order[i] = &plan->buffers[i];
	qsort(order, (size_t)plan->n, sizeof *order, by_size);
	return order;
}

/* At the peak also what lies unused between buffers. */
int64_t *
plan_needed(const Plan *plan, bool (*timed)(const Op *op), Arena *a)
{
	const Lives *l = plan->lives;
	int64_t *needed = NEW_ARRAY(a, int64_t, plan->module->nops + 1);
	/* more than at the step before; before the first, and behind the last */
	int64_t *more = NEW_ARRAY(a, int64_t, l->n + 3), live = 0, before = 0;
	int64_t *most = &before;

	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		more[b->first + 1] += b->bytes;
		more[b->last + 2] -= b->bytes;
	}
	for (int i = -1; i <= l->n; i++) {
		const Op *op = i >= 0 && i < l->n ? l->step[i] : NULL;
		live += more[i + 1];
		if (op && timed(op)) {
			needed[op->id] = most == &before ? before : 0;
			most = &needed[op->id];
		}
		int64_t now = (live == plan->live ? plan->total : live) + plan->scratch;
		*most = now > *most ? now : *most;
	}
	return needed;
}
