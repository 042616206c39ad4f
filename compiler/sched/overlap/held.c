/*
 * held.c - the bytes that a block holds while its jobs are put in order.
 *
 *   begin W2        W2 is held from here on
 *   h = dot(x, W)   h is held, W is not any more
 *   done W2         what W2 was gathered from is read until here
 *
 * Buffers are those that the program shares (lives.h), each as large as the largest value in
 * it; those that what is around the block gives it, or that no job reads to the end, are as
 * they are, whatever the order.
 */
#include "sched/overlap/overlap.h"

/* A buffer, and how often jobs write or read it. */
typedef struct Buffer {
	int64_t bytes; /* 0: the order does not change it */
	int uses, left;
	int moving; /* transfers under way that read or write it */
	bool held;
	bool given; /* by what is around the block */
} Buffer;

struct Held {
	Arena *arena;
	const int *places; /* by value id, */
	int *numbers;	   /* ... by place: its number in the block, from 1 on */
	int *used;	   /* places of the buffers */
	Buffer *buffers;
	int n;
	int64_t now, most;
};

const int *
held_places(const Lives *lives, int n, Arena *a)
{
	int *places = NEW_ARRAY(a, int, n + 1);

	for (int i = 0; i < n; i++) {
		const Value *root = lives->root[i];
		const Shared *shared = root ? lives_outermost(lives->shared[root->id]) : NULL;
		places[i] = shared ? shared->lives[0].value->id : root ? root->id : -1;
	}
	return places;
}

/* From 0 on; -1: it has no place in memory. */
static int
number_of(Held *h, const Value *v)
{
	int place = h->places[v->id];

	if (place < 0)
		return -1;
	if (!h->numbers[place]) {
		h->used[h->n] = place;
		h->numbers[place] = ++h->n;
	}
	return h->numbers[place] - 1;
}

/* The op uses it; behind those that it has so far. */
static void
add_use(Held *h, int *uses, int *n, const Value *v)
{
	int number = number_of(h, v);

	if (number < 0)
		return;
	h->buffers[number].uses++;
	uses[(*n)++] = number;
}

static Holds
holds_of(Held *h, const Op *op)
{
	int *uses = NEW_ARRAY(h->arena, int, op->nresults + op->noperands + 1);
	Holds holds = {.v = uses};

	for (int i = 0; i < op->nresults; i++)
		add_use(h, uses, &holds.n, op->results[i]);
	holds.nresults = holds.n;
	for (int i = 0; i < op->noperands; i++)
		add_use(h, uses, &holds.n, op->operands[i]);
	return holds;
}

/* As large as the largest value that the block makes in it. */
static void
count_bytes(Held *h, const Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		int number = number_of(h, op->results[i]);
		if (number < 0)
			continue;
		int64_t *bytes = &h->buffers[number].bytes;
		*bytes = greater(*bytes, type_bytes(&op->results[i]->type));
	}
	for (int i = 0; i < op->noperands; i++) {
		const Op *def = op->operands[i]->def;
		int number = number_of(h, op->operands[i]);
		if (number >= 0 && (!def || def->block != op->block))
			h->buffers[number].given = true;
	}
}

static Holds
holds_counted(Held *h, const Op *op)
{
	Holds holds = holds_of(h, op);

	count_bytes(h, op);
	return holds;
}

static int
count_values(const Block *b)
{
	int n = 0;

	for (const Op *op = b->first; op; op = op->next)
		n += op->nresults + op->noperands;
	return n;
}

Held *
held_new(Graph *g, const int *places, int *numbers)
{
	Arena *a = g->own;
	const Block *b = g->block;
	int values = count_values(b);
	Held *h = NEW(a, Held);
	Holds *holds = NEW_ARRAY(a, Holds, g->n + 1);

	*h = (Held){.arena = a,
		.places = places,
		.numbers = numbers,
		.used = NEW_ARRAY(a, int, values + 1),
		.buffers = NEW_ARRAY(a, Buffer, values + 1)};
	for (int i = 0; i < g->n; i++) {
		Job *job = &g->jobs[i];
		job->holds = &holds[i];
		holds[i] =
			job->task.kind == TASK_done ? holds[i - 1] : holds_counted(h, job->op);
	}
	holds[g->n] = holds_counted(h, b->last);
	for (int i = 0; i < h->n; i++) {
		numbers[h->used[i]] = 0;
		if (h->buffers[i].given)
			h->buffers[i].bytes = 0; /* whatever the order */
	}
	return h;
}

void
held_begin(Held *h)
{
	h->now = h->most = 0;
	for (int i = 0; i < h->n; i++) {
		h->buffers[i].left = h->buffers[i].uses;
		h->buffers[i].moving = 0;
		h->buffers[i].held = false;
	}
}

int64_t
held_now(const Held *h)
{
	return h->now;
}

int64_t
held_with(const Held *h, const Job *job)
{
	int64_t bytes = h->now;

	for (int k = 0; k < job->nops && job->task.kind != TASK_done; k++)
		for (int i = 0; i < job->holds[k].nresults; i++) {
			const Buffer *place = &h->buffers[job->holds[k].v[i]];
			bytes += place->held ? 0 : place->bytes;
		}
	return bytes;
}

static void
let_go(Held *h, Buffer *place)
{
	if (!--place->left && place->held)
		h->now -= place->bytes;
}

void
held_add(Held *h, const Job *job)
{
	h->now = held_with(h, job);
	h->most = greater(h->most, h->now);
	for (int k = 0; k < job->nops; k++) {
		const Holds *holds = &job->holds[k];
		for (int i = 0; i < holds->nresults; i++)
			h->buffers[holds->v[i]].held = true;
		for (int i = 0; i < holds->n && job->task.kind != TASK_start; i++)
			let_go(h, &h->buffers[holds->v[i]]);
	}
}

/* Of each power of two of jobs the most from each on, from the half of so many. */
static void
find_peaks(Profile *profile, int n, Arena *a)
{
	for (int level = 1; 1 << level <= n; level++) {
		const int64_t *half = profile->most[level - 1];
		int64_t *most = NEW_ARRAY(a, int64_t, n + 1);
		for (int i = 1; i + (1 << level) <= n + 1; i++)
			most[i] = greater(half[i], half[i + (1 << (level - 1))]);
		profile->most[level] = most;
	}
}

Profile *
held_profile(const Graph *g)
{
	Profile *profile = NEW(g->own, Profile);
	Held *h = g->held;

	profile->before = NEW_ARRAY(g->own, int64_t, g->n + 2);
	profile->most[0] = NEW_ARRAY(g->own, int64_t, g->n + 2);
	held_begin(h);
	for (int i = 0; i < g->n; i++) {
		profile->before[i + 1] = h->now;
		profile->most[0][i + 1] = held_with(h, &g->jobs[i]);
		held_add(h, &g->jobs[i]);
	}
	profile->peak = h->most;
	find_peaks(profile, g->n, g->own);
	return profile;
}

int64_t
held_until(const Profile *profile, int from, int to)
{
	int level = 0;

	if (from >= to)
		return 0;
	while (2 << level <= to - from)
		level++;
	const int64_t *most = profile->most[level];
	return greater(most[from], most[to - (1 << level)]) - profile->before[from];
}

/* Bytes that are not moved alone any more, or are for the first time, by a transfer that is
   begun (1) or over (-1). */
static int64_t
move(Held *h, const Job *job, int more)
{
	int64_t bytes = 0;

	for (int k = 0; k < job->nops; k++)
		for (int i = 0; i < job->holds[k].n; i++) {
			Buffer *place = &h->buffers[job->holds[k].v[i]];
			int before = place->moving;
			place->moving += more;
			bytes += place->held && !before != !place->moving ? more * place->bytes
									  : 0;
		}
	return bytes;
}

/* What a transfer reads and writes may be there for a shorter time, all else is not. */
int64_t
held_least(const Graph *g, const Order *order)
{
	Held *h = g->holds;
	int64_t moving = 0, least = 0;

	held_begin(h);
	for (int i = 0; i < g->n; i++) {
		const Job *job = order->jobs[i];
		if (job->task.kind == TASK_done)
			moving += move(h, job, -1);
		held_add(h, job);
		if (job->task.kind == TASK_start)
			moving += move(h, job, 1);
		else if (job->task.kind == TASK_run)
			least = greater(least, h->now - moving);
	}
	return least;
}
