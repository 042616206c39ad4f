/*
 * chains.c - the longest chain of steps that wait for each other.
 *
 *   a = f(x)  3        b = g(y)  5        c = h(a, b)  2      c is there after 7
 *
 * A value is there when its operands are and the step is over.  Of a loop every
 * trip needs what the one before carries to it:
 *
 *   s, w = for 10 trips: s1 = step(s, w) 4          s: 40      w stands still
 *
 * One walk says when results are there after one trip.  A carried value that is
 * made of itself takes its own way round, cycle, until the last trip begins with it; this
 * is looked at for the largest few.  Every chain told is one of the program, so the longest
 * of them is no longer than the program's longest.
 *
 * Before a step all that it is made of is computed, one after the other (turns.h): of the
 * nearest MOST_WORKS steps on the ways to it.
 *
 *   n = norm(h)  2      q = dot(n)  3      k = dot(n)  3      s = dot(q, k)   s begins at 8
 *
 * So is all moved that it is made of, on each link one after the other:
 *
 *   y0 = dot 1     s0 = all-reduce(y0)  3
 *   y1 = dot 1     s1 = all-reduce(y1)  3      h = s0, s1 + x     h begins at 7
 *
 * A loop is one of these, too, as long as the least that its trips take: what it makes is there
 * when it is over, and before what is made of it all loops on the ways to it have run.
 *
 * The head of a step is when its operands are there at the earliest, in whichever trip:
 * what a trip hands on may be there before what the first trip was given.
 */
#include <stdlib.h>
#include "cost/chains.h"
#include "cost/timeline.h"
#include "cost/turns.h"
#include "ir/flow.h"

enum {
	MOST_CYCLES = 8,
	MOST_ROUNDS = 4,
	MOST_WORKS = 64,
	MOST_WAYS = 128, /* that are gone back at once */
};
static const int64_t NEVER = -1; /* does not wait for what is asked about */

/* Carried value i of a loop: */
typedef struct Cycle {
	int i;
	int64_t *to; /* from it to each carried value at the end of the trip */
} Cycle;

typedef struct Loop {
	int ncycles;
	Cycle cycles[MOST_CYCLES];
} Loop;

/* Of an op that a search has come to: how far it is from where that began. */
typedef struct Found {
	int search;
	int64_t away;
} Found;

typedef struct Chains {
	const StepTimes *times;
	Arena *arena;
	Loop **loops;	 /* by op id */
	int64_t *there;	 /* by value id: when */
	int64_t *heads;	 /* by op id; NEVER: not come to */
	int64_t *alone;	 /* by op id, of a loop: the least that its trips take */
	int64_t without; /* when what needs no operand can start */
	Found *found;	 /* by op id */
	int searches;
} Chains;

static int64_t block_chain(Chains *chains, const Block *b);
static int64_t trips_chain(Chains *chains, const Op *op, const int64_t *starts);

static int64_t
after(int64_t there, int64_t time)
{
	return there == NEVER ? NEVER : add_picoseconds(there, time);
}

static void
keep_earlier(int64_t *there, int64_t other)
{
	*there = other < *there ? other : *there;
}

static void
keep_later(int64_t *there, int64_t other)
{
	*there = other > *there ? other : *there;
}

/* ---- loops ---------------------------------------------------------------------- */

/* What the device does in a body, one step or loop after the other. */
static int64_t
block_work(const Chains *chains, const Block *b)
{
	const StepTimes *times = chains->times;
	int64_t time = 0;

	for (const Op *op = b->first; op != b->last; op = op->next)
		if (op_is_loop(op))
			time = add_picoseconds(time, chains->alone[op->id]);
		else if (op_is_branch(op))
			time = add_picoseconds(time,
				block_work(chains, op->bodies[times->branch[op->id]]));
		else if (!op_communicates(op))
			time = add_picoseconds(time, times->picoseconds[op->id]);
	return time;
}

/* In all trips of the busiest resource: the device or a link. */
static int64_t
busiest_in_loop(const Chains *chains, const Op *loop)
{
	int64_t condition = block_work(chains, loop->bodies[LOOP_CONDITION]);
	int64_t body = block_work(chains, loop->bodies[LOOP_BODY]);

	return loop_picoseconds(loop, condition, greater(body, chains->times->links[loop->id]));
}

/* The largest carried values that a trip changes. */
static void
choose_cycles(Loop *loop, const Op *op)
{
	for (int i = 0; i < op->nresults; i++) {
		int at = loop->ncycles;
		if (loop_hands_on(op, i))
			continue;
		while (at
			&& type_bytes(&op->results[loop->cycles[at - 1].i]->type)
				< type_bytes(&op->results[i]->type))
			at--;
		if (at == MOST_CYCLES)
			continue;
		loop->ncycles += loop->ncycles < MOST_CYCLES;
		for (int k = loop->ncycles - 1; k > at; k--)
			loop->cycles[k] = loop->cycles[k - 1];
		loop->cycles[at].i = i;
	}
}

/* How long a trip takes from carried value to carried value, and all of them: once for each
   loop. */
static void
find_cycles(Chains *chains, const Op *op)
{
	const Block *body = op->bodies[LOOP_BODY];
	int64_t without = chains->without;
	Loop *loop = chains->loops[op->id];

	if (loop)
		return;
	loop = chains->loops[op->id] = NEW(chains->arena, Loop);
	choose_cycles(loop, op);
	chains->without = NEVER;
	for (int k = 0; k < loop->ncycles; k++) {
		Cycle *cycle = &loop->cycles[k];
		cycle->to = NEW_ARRAY(chains->arena, int64_t, op->nresults);
		for (int i = 0; i < op->nresults; i++)
			chains->there[body->params[i]->id] = i == cycle->i ? 0 : NEVER;
		block_chain(chains, body);
		for (int i = 0; i < op->nresults; i++)
			cycle->to[i] = chains->there[body->last->operands[i]->id];
	}
	int64_t chain =
		trips_chain(chains, op, NEW_ARRAY(chains->arena, int64_t, op->nresults));
	chains->alone[op->id] = greater(chain, busiest_in_loop(chains, op));
	chains->without = without;
}

/* Heads in trips after the first, which has just been walked: with what is carried there
   as early as any trip hands it on. */
static void
walk_other_trips(Chains *chains, const Op *op)
{
	const Block *body = op->bodies[LOOP_BODY];
	bool earlier = true;

	for (int round = 1; earlier && round <= MOST_ROUNDS; round++) {
		earlier = false;
		for (int i = 0; i < op->nresults; i++) {
			int64_t *there = &chains->there[body->params[i]->id];
			int64_t handed_on = chains->there[body->last->operands[i]->id];
			if (loop_hands_on(op, i))
				continue;
			earlier |= handed_on < *there;
			keep_earlier(there, round < MOST_ROUNDS ? handed_on : 0);
		}
		if (earlier)
			block_chain(chains, body);
	}
}

/* When the last step of the last trip is over, if what is carried is there at those times; its
   results have theirs. */
static int64_t
trips_chain(Chains *chains, const Op *op, const int64_t *starts)
{
	const Loop *loop = chains->loops[op->id];
	const Block *body = op->bodies[LOOP_BODY];
	int64_t more = op_ints(op, A_trips)->n ? op_int(op, A_trips) - 1 : 0, latest;

	for (int i = 0; i < op->nresults; i++)
		chains->there[op->results[i]->id] = chains->there[body->params[i]->id] =
			starts[i];
	if (more < 0)
		return NEVER;
	latest = block_chain(chains, body);
	for (int i = 0; i < op->nresults; i++)
		chains->there[op->results[i]->id] = chains->there[body->last->operands[i]->id];
	for (int k = 0; k < loop->ncycles; k++) {
		const Cycle *cycle = &loop->cycles[k];
		int64_t start = starts[cycle->i];
		int64_t second = chains->there[body->last->operands[cycle->i]->id];
		int64_t round = cycle->to[cycle->i];
		if (round == NEVER || !more)
			continue;
		start = after(start, repeat_picoseconds(round, more)); /* of the last trip */
		keep_later(&start, after(second, repeat_picoseconds(round, more - 1)));
		for (int i = 0; i < op->nresults && start != NEVER; i++)
			keep_later(&chains->there[op->results[i]->id],
				after(cycle->to[i], start));
	}
	for (int i = 0; i < op->nresults; i++)
		keep_later(&latest, chains->there[op->results[i]->id]);
	return latest;
}

/* It begins with the first of its steps that can, and is over no sooner than all its trips. */
static int64_t
hold_results(Chains *chains, const Op *op)
{
	int64_t head = INT64_MAX;

	for (int i = 0; i < op->nbodies; i++)
		for (const Op *in = op->bodies[i]->first; in;
			in = op_following(in, op->bodies[i]))
			if (chains->times->picoseconds[in->id]
				&& chains->heads[in->id] != NEVER)
				keep_earlier(&head, chains->heads[in->id]);
	if (head == INT64_MAX)
		return NEVER;
	chains->heads[op->id] = head;
	int64_t end = after(head, chains->alone[op->id]);
	for (int i = 0; i < op->nresults; i++)
		if (!loop_hands_on(op, i))
			keep_later(&chains->there[op->results[i]->id], end);
	return end;
}

static int64_t
loop_chain(Chains *chains, const Op *op)
{
	int64_t *starts = NEW_ARRAY(chains->arena, int64_t, op->nresults);

	find_cycles(chains, op);
	for (int i = 0; i < op->nresults; i++)
		starts[i] = chains->there[op->operands[i]->id];
	int64_t latest = trips_chain(chains, op, starts);
	if (latest != NEVER && chains->without != NEVER && op_ints(op, A_trips)->n
		&& op_int(op, A_trips) > 1)
		walk_other_trips(chains, op);
	if (latest != NEVER && chains->without != NEVER)
		keep_later(&latest, hold_results(chains, op));
	return latest;
}

/* ---- turns ----------------------------------------------------------------------- */

/* What is computed and moved on the ways to a step, or from it. */
typedef struct Turning {
	Work computed[MOST_WORKS], moved[MOST_WORKS];
	const LinkSet *links[MOST_WORKS];
	int ncomputed, nmoved;
} Turning;

static void
add_computed(Turning *turning, Work work)
{
	if (work.time)
		turning->computed[turning->ncomputed++] = work;
}

/* Of a transfer that is over then; its links carry it at its end. */
static void
add_moved(Turning *turning, const StepTimes *times, const Op *op, int64_t over, int64_t tail)
{
	int64_t time = times->carried[op->id];

	if (!time || turning->nmoved == MOST_WORKS)
		return;
	turning->links[turning->nmoved] = times->moves[op->id];
	turning->moved[turning->nmoved++] = (Work){over - time, time, tail};
}

static int
by_head(const void *a, const void *b)
{
	int64_t one = ((const Work *)a)->head, other = ((const Work *)b)->head;

	return (one > other) - (one < other);
}

static int64_t
in_turns(Work *works, int n)
{
	Work heap[MOST_WORKS];
	Turns turns = {works, heap, 0};

	qsort(works, (size_t)n, sizeof *works, by_head);
	return work_in_turns(&turns, n);
}

/* On one link of a class: the first of those that the first transfer has. */
static int64_t
moved_in_turns(const Turning *turning, int row)
{
	Work works[MOST_WORKS];
	LinkParts part = 0;
	int n = 0;

	for (int i = 0; i < turning->nmoved; i++) {
		LinkParts parts = turning->links[i]->row[row];
		if (!part)
			part = parts & -parts;
		if (parts & part)
			works[n++] = turning->moved[i];
	}
	return n > 1 ? in_turns(works, n) : 0;
}

static int64_t
all_in_turns(Turning *turning)
{
	int64_t most = in_turns(turning->computed, turning->ncomputed);

	for (int row = 0; row < LINK_ROWS && turning->nmoved > 1; row++) {
		int64_t moved = moved_in_turns(turning, row);
		most = moved > most ? moved : most;
	}
	return most;
}

/* ---- blocks --------------------------------------------------------------------- */

static int64_t
branch_chain(Chains *chains, const Op *op)
{
	const Block *body = op->bodies[chains->times->branch[op->id]];
	int64_t chosen = chains->there[op->operands[0]->id], latest;

	for (int i = 0; i < body->nparams; i++)
		chains->there[body->params[i]->id] = chains->there[op->operands[i + 1]->id];
	latest = block_chain(chains, body);
	for (int i = 0; i < op->nresults; i++) {
		int64_t *there = &chains->there[op->results[i]->id];
		*there = chains->there[body->last->operands[i]->id];
		keep_later(there, chosen);
	}
	return latest;
}

/* Ops that a search has come to and not gone on from; what it goes on with is the last. */
typedef struct Ways {
	Found *found;
	int search;
	const Op *ops[MOST_WAYS];
	int n;
} Ways;

/* What is later in the block is gone on with first if `back`, else last. */
static void
come_to(Ways *ways, const Op *op, int64_t away, bool back)
{
	Found *found = &ways->found[op->id];

	if (found->search == ways->search) {
		keep_later(&found->away, away);
	} else if (ways->n < MOST_WAYS) {
		int at = ways->n++;
		*found = (Found){ways->search, away};
		for (; at && (ways->ops[at - 1]->id > op->id) == back; at--)
			ways->ops[at] = ways->ops[at - 1];
		ways->ops[at] = op;
	}
}

static void
go_back(const Chains *chains, Ways *ways, const Op *op, int64_t away)
{
	for (int i = 0; i < op->noperands; i++) {
		const Op *def = op->operands[i]->def;
		if (def && def->block == op->block
			&& chains->there[op->operands[i]->id] != NEVER)
			come_to(ways, def, away, true);
	}
}

/* How long it has the device, and from when on at the earliest; 0: it is not known. */
static Work
work_of(const Chains *chains, const Op *op)
{
	int64_t time = chains->times->picoseconds[op->id];

	if (op_is_loop(op) && chains->without != NEVER && chains->heads[op->id] != NEVER)
		return (Work){.head = chains->heads[op->id], .time = chains->alone[op->id]};
	if (op_is_step(op) && time && !op_communicates(op))
		return (Work){.head = chains->there[op->results[0]->id] - time, .time = time};
	return (Work){0};
}

/* When all is computed and moved that it is made of, in this trip. */
static int64_t
all_made(Chains *chains, const Op *to)
{
	const StepTimes *times = chains->times;
	Turning turning;
	Ways ways = {chains->found, ++chains->searches, {NULL}, 0};

	turning.ncomputed = turning.nmoved = 0;
	go_back(chains, &ways, to, 0);
	while (ways.n && turning.ncomputed < MOST_WORKS) {
		const Op *op = ways.ops[--ways.n];
		Work work = work_of(chains, op);
		int64_t time = work.time ? work.time : times->picoseconds[op->id];
		work.tail = chains->found[op->id].away;
		if (op_is_branch(op) || (op_is_loop(op) && chains->without == NEVER))
			continue;
		add_computed(&turning, work);
		add_moved(&turning, times, op, chains->there[op->results[0]->id], work.tail);
		go_back(chains, &ways, op, add_picoseconds(work.tail, time));
	}
	return all_in_turns(&turning);
}

static int64_t
step_chain(Chains *chains, const Op *op)
{
	int64_t there = chains->without;

	for (int i = 0; i < op->noperands; i++)
		keep_later(&there, chains->there[op->operands[i]->id]);
	if (op->noperands > 1 && there > 0 && chains->times->picoseconds[op->id])
		keep_later(&there, all_made(chains, op));
	if (chains->without != NEVER && chains->heads[op->id] == NEVER)
		chains->heads[op->id] = there;
	else if (chains->without != NEVER)
		keep_earlier(&chains->heads[op->id], there);
	there = after(there, chains->times->picoseconds[op->id]);
	for (int i = 0; i < op->nresults; i++)
		chains->there[op->results[i]->id] = there;
	return there;
}

/* Those that are one wait for what each of them waits for; the last. */
static const Op *
fence_chain(Chains *chains, const Op *op)
{
	int64_t there = chains->without;
	const Op *last = op;

	for (int n = fences_in_one(op); n; n--, last = last->next) {
		keep_later(&there, chains->there[last->operands[0]->id]);
		if (n == 1)
			break;
	}
	for (;; op = op->next) {
		chains->there[op->results[0]->id] = there;
		if (op == last)
			return last;
	}
}

/* When the last of its steps is over.  Its parameters have their times. */
static int64_t
block_chain(Chains *chains, const Block *b)
{
	int64_t latest = NEVER;

	for (const Op *op = b->first; op != b->last; op = op->next)
		if (op->kind == O_fence)
			op = fence_chain(chains, op);
		else
			keep_later(&latest,
				op_is_loop(op)		   ? loop_chain(chains, op)
					: op_is_branch(op) ? branch_chain(chains, op)
							   : step_chain(chains, op));
	return latest;
}

/* ---- what comes after --------------------------------------------------------------- */

/* An op that reads a value. */
typedef struct User {
	const Op *op;
	struct User *next;
} User;

typedef struct Behind {
	const StepTimes *times;
	const int64_t *loops; /* by op id: the least that it takes */
	const int64_t *tails; /* by op id, of later ones */
	int64_t *values;      /* by value id: the longest chain of its users */
	User **users;
	Found *found;
	int searches;
} Behind;

static int64_t
least_time(const Behind *behind, const Op *op)
{
	return op_is_loop(op) ? behind->loops[op->id] : behind->times->picoseconds[op->id];
}

static void
go_on(const Behind *behind, Ways *ways, const Op *op, int64_t away)
{
	for (int i = 0; i < op->nresults; i++)
		for (const User *user = behind->users[op->results[i]->id]; user;
			user = user->next)
			come_to(ways, user->op, away, false);
}

/* What is computed and moved of what it makes, one after the other, and the rest of the run. */
static int64_t
all_to_make(Behind *behind, const Op *from)
{
	const StepTimes *times = behind->times;
	Turning turning;
	Ways ways = {behind->found, ++behind->searches, {NULL}, 0};

	turning.ncomputed = turning.nmoved = 0;
	go_on(behind, &ways, from, 0);
	while (ways.n && turning.ncomputed < MOST_WORKS) {
		const Op *op = ways.ops[--ways.n];
		int64_t time = least_time(behind, op);
		Work work = {behind->found[op->id].away, time, behind->tails[op->id]};
		int64_t over = add_picoseconds(work.head, time);
		if (op_is_branch(op))
			continue;
		if (op_communicates(op))
			add_moved(&turning, times, op, over, work.tail);
		else
			add_computed(&turning, work);
		go_on(behind, &ways, op, over);
	}
	return all_in_turns(&turning);
}

/* Behind a loop, or an `if`, comes what is behind any that it makes: all of it is made then. */
static int64_t
tail_of(Behind *behind, const Op *op)
{
	int64_t time = 0;

	for (int i = 0; i < op->nresults; i++)
		keep_later(&time, behind->values[op->results[i]->id]);
	if (least_time(behind, op))
		keep_later(&time, all_to_make(behind, op));
	return time;
}

void
shortest_tails(const Module *m, const StepTimes *times, const int64_t *loops, int64_t *tails,
	Arena *a)
{
	Behind behind = {.times = times,
		.loops = loops,
		.tails = tails,
		.values = NEW_ARRAY(a, int64_t, m->nvalues + 1),
		.users = NEW_ARRAY(a, User *, m->nvalues + 1),
		.found = NEW_ARRAY(a, Found, m->nops + 1)};

	for (const Op *op = m->entry->last->prev; op; op = op->prev) {
		int64_t tail = tails[op->id] = tail_of(&behind, op);
		for (int i = 0; i < op->nbodies; i++)
			for (const Op *in = op->bodies[i]->first; in;
				in = op_following(in, op->bodies[i]))
				tails[in->id] = tail;
		for (int i = 0; i < op->noperands; i++) {
			User *user = NEW(a, User);
			int v = op->operands[i]->id;
			*user = (User){op, behind.users[v]};
			behind.users[v] = user;
			keep_later(&behind.values[v],
				add_picoseconds(tail, least_time(&behind, op)));
		}
	}
}

/* ---- the whole ------------------------------------------------------------------ */

int64_t
longest_chain(const Module *m, const StepTimes *times, int64_t *heads, int64_t *loops, Arena *a)
{
	Chains chains = {
		.times = times,
		.arena = a,
		.loops = NEW_ARRAY(a, Loop *, m->nops + 1),
		.there = NEW_ARRAY(a, int64_t, m->nvalues + 1),
		.heads = heads,
		.alone = loops,
		.found = NEW_ARRAY(a, Found, m->nops + 1),
	};
	for (int i = 0; i <= m->nops; i++)
		heads[i] = NEVER;
	int64_t latest = block_chain(&chains, m->entry);

	for (int i = 0; i <= m->nops; i++)
		keep_later(&heads[i], 0);
	return latest == NEVER ? 0 : latest;
}
