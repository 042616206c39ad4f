/*
 * turns.c - how long a resource is busy at least, that does one thing at a time.
 */
#include "cost/tracks.h"
#include "cost/turns.h"

/* ---- what has come and is not done, the longest tail on top ------------------------- */

static void
put(Turns *turns, Work work)
{
	int i = turns->nheap++;

	for (; i && work.tail > turns->heap[(i - 1) / 2].tail; i = (i - 1) / 2)
		turns->heap[i] = turns->heap[(i - 1) / 2];
	turns->heap[i] = work;
}

static void
drop(Turns *turns)
{
	Work last = turns->heap[--turns->nheap];
	int i = 0;

	for (int child = 1; child < turns->nheap; child = 2 * i + 1) {
		if (child + 1 < turns->nheap
			&& turns->heap[child + 1].tail > turns->heap[child].tail)
			child++;
		if (turns->heap[child].tail <= last.tail)
			break;
		turns->heap[i] = turns->heap[child];
		i = child;
	}
	turns->heap[i] = last;
}

/* ---- turns --------------------------------------------------------------------------- */

int64_t
work_in_turns(Turns *turns, int n)
{
	int64_t now = 0, most = 0;

	turns->nheap = 0;
	for (int next = 0; next < n || turns->nheap;) {
		if (!turns->nheap)
			now = greater(now, turns->works[next].head);
		for (; next < n && turns->works[next].head <= now; next++)
			put(turns, turns->works[next]);
		Work *top = turns->heap;
		int64_t until = next < n ? turns->works[next].head : INT64_MAX;
		int64_t done = lesser(top->time, until - now);
		now = add_picoseconds(now, done);
		top->time -= done;
		if (top->time && now < INT64_MAX)
			continue;
		most = greater(most, add_picoseconds(now, top->tail));
		drop(turns);
	}
	return most;
}
