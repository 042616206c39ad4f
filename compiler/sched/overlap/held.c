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
	int *number;   /* of it, from 1 on, where Held.of has it */
	int64_t bytes; /* 0: the order does not change it */
	int uses, left;
	bool held;
} Buffer;

struct Held {
	Arena *arena;
	const int *places; /* by value id */
	int *of;	   /* by place: its number in a block; of all blocks */
	Buffer *buffers;
	int n;
	int64_t now, most;
};

const int *
held_places(const Lives *lives, Arena *a)
{
	int n = lives->module->nvalues;
	int *places = NEW_ARRAY(a, int, n + 1);

	for (int i = 0; i < n; i++) {
		const Value *root = lives->root[i];
		const Shared *shared = root ? lives_outermost(lives->shared[root->id]) : NULL;
		places[i] = shared ? shared->lives[0].value->id : root ? root->id : -1;
	}
	return places;
}

/* NULL: it has no place in memory. */
static Buffer *
buffer_of(Held *h, const Value *v)
{
	int place = h->places[v->id];

	if (place < 0)
		return NULL;
	int *number = &h->of[place];
	if (!*number) {
		Buffer new = {.number = number};
		APPEND(h->arena, h->buffers, h->n, new);
		*number = h->n;
	}
	return &h->buffers[*number - 1];
}

static void
count_result(Held *h, const Value *v)
{
	Buffer *place = buffer_of(h, v);

	if (place) {
		place->uses++;
		place->bytes = greater(place->bytes, type_bytes(&v->type));
	}
}

Held *
held_new(const Block *b, const int *places, const Held *last, Arena *a)
{
	Held *h = NEW(a, Held);

	*h = (Held){.arena = a,
		.places = places,
		.of = last ? last->of : NEW_ARRAY(a, int, b->module->nvalues + 1)};
	for (int i = 0; last && i < last->n; i++)
		*last->buffers[i].number = 0;
	for (const Op *op = b->first; op != b->last; op = op->next)
		for (int i = 0; i < op->nresults; i++)
			count_result(h, op->results[i]);
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			const Op *def = op->operands[i]->def;
			Buffer *place = buffer_of(h, op->operands[i]);
			if (place)
				place->uses++;
			if (place && (!def || def->block != b))
				place->bytes = 0;
		}
	held_begin(h);
	return h;
}

void
held_begin(Held *h)
{
	h->now = h->most = 0;
	for (int i = 0; i < h->n; i++) {
		h->buffers[i].left = h->buffers[i].uses;
		h->buffers[i].held = false;
	}
}

int64_t
held_now(const Held *h)
{
	return h->now;
}

int64_t
held_with(Held *h, const Job *job)
{
	int64_t bytes = h->now;

	for (int k = 0; k < job->nops && job->task.kind != TASK_done; k++)
		for (int i = 0; i < job->ops[k]->nresults; i++) {
			const Buffer *place = buffer_of(h, job->ops[k]->results[i]);
			bytes += place && !place->held ? place->bytes : 0;
		}
	return bytes;
}

static void
let_go(Held *h, const Value *v)
{
	Buffer *place = buffer_of(h, v);

	if (place && !--place->left && place->held)
		h->now -= place->bytes;
}

void
held_add(Held *h, const Job *job)
{
	h->now = held_with(h, job);
	h->most = greater(h->most, h->now);
	for (int k = 0; k < job->nops; k++) {
		const Op *op = job->ops[k];
		for (int i = 0; i < op->nresults; i++) {
			Buffer *place = buffer_of(h, op->results[i]);
			if (place)
				place->held = true;
		}
		if (job->task.kind == TASK_start)
			continue;
		for (int i = 0; i < op->nresults; i++)
			let_go(h, op->results[i]);
		for (int i = 0; i < op->noperands; i++)
			let_go(h, op->operands[i]);
	}
}

int64_t
held_most(const Graph *g)
{
	held_begin(g->held);
	for (int i = 0; i < g->n; i++)
		held_add(g->held, &g->jobs[i]);
	return g->held->most;
}
