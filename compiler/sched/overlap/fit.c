/*
 * fit.c - transfers are under way for a shorter time where memory is full.
 *
 *   begin W2   dot 1 *   dot 2   done W2          dot 1   begin W2   dot 2   done W2
 *
 * (* is full.)  From its begin on a transfer takes what it writes, and until it is done
 * it keeps what it reads.  Those that are waited for last give way first: one begins
 * after the last full step that it is beside, or is waited for before the first,
 * whichever frees more.  The order of all else stays.
 */
#include <stdlib.h>
#include "ir/flow.h"
#include "memory/plan.h"
#include "sched/overlap/overlap.h"

enum { ROUNDS = 5 }; /* gaps between buffers are others each time */

typedef struct Fit {
	const Plan *plan;
	int64_t most;  /* bytes that may be live: what is between buffers is beside it */
	int64_t *live; /* by step */
	/* by step that is not full: one before it and one behind it that have none between */
	int *before, *behind;
} Fit;

/* A transfer under way: bytes that it takes from its begin on, and keeps until it is
   done. */
typedef struct Held {
	Op *start, *done;
	int begin, end; /* steps */
	int64_t taken, kept;
} Held;

static int64_t *
live_bytes(const Plan *plan, Arena *a)
{
	int n = plan->lives->n;
	int64_t *live = NEW_ARRAY(a, int64_t, n + 2);

	for (int i = 0; i < plan->n; i++) {
		const Buffer *b = &plan->buffers[i];
		live[b->first > 0 ? b->first : 0] += b->bytes;
		if (b->last < n)
			live[b->last + 1] -= b->bytes;
	}
	for (int i = 1; i < n; i++)
		live[i] += live[i - 1];
	return live;
}

static Fit
fit_new(const Plan *plan, int64_t limit)
{
	Arena *a = plan->lives->arena;
	int n = plan->lives->n;
	Fit f = {plan, limit - (plan_peak(plan) - plan->live), live_bytes(plan, a),
		NEW_ARRAY(a, int, n + 1), NEW_ARRAY(a, int, n + 1)};

	for (int i = 0; i < n; i++) {
		f.before[i] = i - 1;
		f.behind[i] = i + 1;
	}
	return f;
}

/* The full step that is nearest to it, itself or on that way; one outside of all: there is
   none.  Of steps that are not full once none is full later, so ways grow. */
static int
nearest_full(const Fit *f, int step, int *way)
{
	int n = f->plan->lives->n, found = step;

	while (found >= 0 && found < n && f->live[found] <= f->most)
		found = way[found];
	while (step != found) {
		int next = way[step];
		way[step] = found;
		step = next;
	}
	return found;
}

static const Buffer *
buffer_of(const Plan *plan, const Value *v)
{
	int i = plan->buffer_of[v->id];

	return i < 0 ? NULL : &plan->buffers[i];
}

static Held
held_by(const Plan *plan, Op *done)
{
	Op *start = done->operands[0]->def;
	const Buffer *result = buffer_of(plan, done->results[0]);
	Held held = {.start = start,
		.done = done,
		.begin = plan->lives->at[start->id],
		.end = plan->lives->at[done->id]};

	if (result && result->first == held.begin)
		held.taken = result->bytes;
	for (int i = 0; i < start->noperands; i++) {
		const Buffer *b = buffer_of(plan, start->operands[i]);
		if (b && b != result && b->last == held.end)
			held.kept += b->bytes;
	}
	return held;
}

static int
last_end_first(const void *a, const void *b)
{
	const Held *x = a, *y = b;

	return x->end != y->end ? (x->end < y->end) - (x->end > y->end)
				: (x->begin < y->begin) - (x->begin > y->begin);
}

bool
is_one_of_several(const Op *op)
{
	return op_is_combined(op) || (op->next && op_is_combined(op->next));
}

static Held *
list_held(const Plan *plan, Arena *a, int *n)
{
	Held *held = NULL;

	*n = 0;
	for (int i = 0; i < plan->lives->n; i++)
		if (plan->lives->step[i]->kind == O_done
			&& !is_one_of_several(plan->lives->step[i]))
			APPEND(a, held, *n, held_by(plan, plan->lives->step[i]));
	if (*n)
		qsort(held, (size_t)*n, sizeof *held, last_end_first);
	return held;
}

/* The op of the block in which the step is; NULL: one that may have moved, or that goes with
   others. */
static Op *
fixed_op(const Plan *plan, int step, const Block *b)
{
	Op *op = plan->lives->step[step];

	while (op->block != b)
		op = op->block->parent;
	return op->async || op->kind == O_done || is_one_of_several(op) ? NULL : op;
}

static void
free_bytes(Fit *f, int from, int to, int64_t bytes)
{
	for (int i = from; i <= to; i++)
		f->live[i] -= bytes;
}

static void
begin_after(Fit *f, const Held *held, int step)
{
	Op *op = NULL;

	free_bytes(f, held->begin, step, held->taken);
	for (; step < held->end && !op; step++)
		op = fixed_op(f->plan, step, held->start->block);
	op_remove(held->start);
	op_insert_before(op ? op->next : held->done, held->start);
}

static void
wait_before(Fit *f, const Held *held, int step)
{
	Op *op = NULL;

	free_bytes(f, step, held->end, held->kept);
	for (; step > held->begin && !op; step--)
		op = fixed_op(f->plan, step, held->start->block);
	op_remove(held->done);
	op_insert_before(op ? op : held->start->next, held->done);
}

/* False: nothing is full beside it, or it holds nothing. */
static bool
give_way(Fit *f, const Held *held)
{
	int first = nearest_full(f, held->begin + 1, f->behind);
	int last = nearest_full(f, held->end - 1, f->before);

	if (first >= held->end || !(held->taken || held->kept))
		return false;
	if (held->taken >= held->kept)
		begin_after(f, held, last);
	else
		wait_before(f, held, first);
	return true;
}

void
join_transfer(Op *done)
{
	Op *op = done->operands[0]->def;

	op_remove(done);
	op->results = done->results;
	op->async = false;
	op->results[0]->def = op;
	op->results[0]->block = op->block;
}

/* What is live if all transfers that are beside a step give way, at the fullest. */
static int64_t
least_live(const Fit *f, const Held *held, int n, Arena *a)
{
	int steps = f->plan->lives->n;
	int64_t *freed = NEW_ARRAY(a, int64_t, steps + 2), least = 0;

	for (int i = 0; i < n; i++) {
		freed[held[i].begin] += held[i].taken + held[i].kept;
		freed[held[i].end + 1] -= held[i].taken + held[i].kept;
	}
	for (int i = 0; i < steps; i++) {
		freed[i + 1] += freed[i];
		least = greater(least, f->live[i] - freed[i]);
	}
	return least;
}

/* What ends where it begins is one op again. */
static bool
shorten(const Plan *plan, int64_t limit, int64_t *needs)
{
	Arena *a = plan->lives->arena;
	Fit f = fit_new(plan, limit);
	int n;
	const Held *held = list_held(plan, a, &n);
	bool any = false;

	*needs = greater(*needs, least_live(&f, held, n, a));
	for (int i = 0; i < n && *needs <= limit; i++)
		any |= give_way(&f, &held[i]);
	for (int i = 0; i < n && any; i++)
		if (held[i].done->prev == held[i].start)
			join_transfer(held[i].done);
	return any;
}

FitResult
fit_memory(Module *m, int64_t limit, int64_t *needs, Arena *scratch)
{
	FitResult result = FIT_as_it_is;

	for (int i = 0; i < ROUNDS; i++) {
		arena_reset(scratch);
		const Plan *plan = plan_within(m, limit, scratch);
		bool fits = !plan->uncounted && plan_peak(plan) <= limit;
		bool any = !fits && !plan->uncounted && shorten(plan, limit, needs);
		if (fits)
			return result;
		if (!any)
			return FIT_not;
		result = FIT_shortened;
	}
	return FIT_not;
}
