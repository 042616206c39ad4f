/*
 * overlap.c - an order in which collectives are beside work that does not need them.
 *
 *   W2 = all-gather(W)  12                begin W2
 *   r  = relu(x)         9       ->       r  = relu(x)
 *   h  = dot(r, W2)      8                done W2             waits for 3
 *                                         h  = dot(r, W2)
 *
 * From the innermost block out: a graph of what has to come before what, and orders of
 * it; the quickest is taken whose program fits the memory of the target, or takes no
 * more of it than the program as it was.
 */
#include "cost/residency.h"
#include "cost/timeline.h"
#include "ir/flow.h"
#include "ir/make.h"
#include "memory/plan.h"
#include "sched/overlap/overlap.h"
#include "sched/sched.h"

enum {
	UNSEEN = 100000, /* of a time, a part that nobody sees */
	SMALL = 1000,	 /* ... of a block, where the program does not take longer to see */
	NEAR = 256,	 /* ... of the time that it takes if nobody asks for bytes, */
	NEAR_LARGE = 64, /* ... of a large one, which takes as long again to look at */
	WORTH = 256,	 /* ... of the time of the best way so far, that another has to gain, */
	LARGE = 2000,	 /* ... of so many steps */
};

/* ---- the program in an order ------------------------------------------------------ */

/* Made once: in each order it is begun in they are the same. */
static Split
split_new(Op *op)
{
	Module *m = op->module;
	Value *v = op->results[0], **results = op->results;
	Op *done = op_new(m, O_done, 0, NULL, 0, NULL, op->range, op->label);

	op->results = NULL;
	op->nresults = op->result_room = 0;
	Value *begun = op_add_result(op, v->name, &v->type);
	begun->placement = v->placement;
	begun->no_placement = v->no_placement;
	begun->range = v->range;
	Split split = {done, op->results};
	op->results = results;
	op->result_room = 0;
	done->mode = op->mode;
	done->again = op->again;
	op_add_operand(done, begun);
	done->nresults = 1;
	return split;
}

/* The collective only begins; its value is that of the done.  The module
   stays numbered; what is begun gets its name once the order is chosen. */
static void
begin_only(Scheduling *s, Op *op)
{
	Module *m = op->module;
	Split *split = &s->splits[op->id];

	if (!split->done)
		*split = split_new(op);
	Op *done = split->done;
	Value *begun = split->begun[0];
	done->id = m->nops++;
	begun->id = m->nvalues++;
	done->block = begun->block = op->block;
	done->results = op->results;
	done->results[0]->def = done;
	op->results = split->begun;
	op->async = true;
}

/* No time passes between its begin, job i, and its done. */
static bool
is_alone(const Order *order, int i)
{
	int k = i + 1;

	while (order->tasks[k].kind == TASK_run && !order->tasks[k].picoseconds)
		k++;
	return order->jobs[k] == order->jobs[i] + 1;
}

/* The ops of the block are those, in that order, and then its return. */
static void
put_in_order(Block *b, Op *const *list, int n)
{
	Op *last = b->last, *prev = NULL;

	b->first = n ? list[0] : last;
	for (int i = 0; i < n; i++) {
		list[i]->prev = prev;
		list[i]->next = i + 1 < n ? list[i + 1] : last;
		prev = list[i];
	}
	last->prev = prev;
}

static void
write_order(Scheduling *s, Written *w)
{
	const Graph *g = w->graph;
	const Order *order = &w->order;
	bool *begun = NEW_ARRAY(g->arena, bool, g->n + 1); /* by number */
	int most = 0, n = 0;

	for (int i = 0; i < g->n; i++)
		most += g->jobs[i].nops;
	Op **all = NEW_ARRAY(g->arena, Op *, most + 1);
	for (int i = 0; i < g->n; i++) {
		const Job *job = order->jobs[i];
		begun[job->number] = job->task.kind == TASK_start && !is_alone(order, i);
		for (int k = 0; k < job->nops; k++) {
			Op *op = job->ops[k];
			if (job->task.kind != TASK_done) {
				op->combined = k > 0;
				all[n++] = op;
			} else if (begun[job->number - 1]) {
				all[n++] = s->splits[op->id].done;
			}
			if (begun[job->number])
				begin_only(s, op);
		}
	}
	put_in_order(g->block, all, n);
	w->there = true;
}

/* The module is as it was, its numbers too. */
static void
undo(const Scheduling *s, Module *m)
{
	for (int i = 0; i < s->nwritten; i++) {
		const Written *w = &s->written[i];
		Block *b = w->graph->block;
		if (!w->there)
			continue;
		for (Op *next, *op = b->first; op != b->last; op = next) {
			next = op->next;
			op->combined = false;
			if (op->kind == O_done)
				join_transfer(op);
		}
		put_in_order(b, w->graph->ops, w->graph->nops);
	}
	for (int i = 0; i < s->changed.n; i++)
		s->changed.v[i]->on_chip = !s->changed.v[i]->on_chip;
	m->nops = s->nops;
	m->nvalues = s->nvalues;
}

/* ---- choosing ---------------------------------------------------------------------- */

static Body schedule_block(Scheduling *s, Block *b);

/* What has bodies, once these are in order. */
static Task
task_in_order(Scheduling *s, const Op *op)
{
	Body first = schedule_block(s, op->bodies[0]);
	Body second = schedule_block(s, op->bodies[1]);

	return task_of_bodies(op, first, second, s->arena);
}

/* An order that takes longer than `within` was given up before all of its time was known. */
static void
offer(Scheduling *s, Graph *combined, int64_t apart, int64_t in_one, int64_t within)
{
	if (in_one >= within)
		in_one = greater(within, best_order(combined, s->least, INT64_MAX).time);
	offers_note(s->offers, combined, apart, in_one);
}

/* With collectives as one, where the block is quicker so; those that mostly wait for their
   links also where it takes no longer to see. */
static void
combine(Scheduling *s, Graph **g, Order *order)
{
	Graph *apart = *g;

	for (int all = 0; all < 2; all++) {
		Graph *combined = graph_combined(apart, all);
		if (!combined)
			continue;
		s->combines = true;
		if (s->joins == JOIN_none)
			return;
		int64_t unseen = all || s->joins < JOIN_small ? 0 : order->time / SMALL;
		int64_t within = add_picoseconds(order->time, unseen);
		Order one = best_order(combined, s->least, within);
		if (s->offers)
			offer(s, combined, order->time, one.time, within);
		if (one.time < within) {
			*order = one;
			*g = combined;
		}
	}
}

/* What the thread does at least if only those begin early that do by default, or no path is
   shorter. */
static int64_t
least_by_default(Graph *g)
{
	int64_t thread = g->by_default ? 0 : graph_work(g)->thread;
	bool any = false;

	for (int i = 0; i < g->n && !g->by_default; i++) {
		const Job *job = &g->jobs[i];
		if (job->task.kind != TASK_start || op_begins_with(job->op, BEGINS_default))
			continue;
		thread = add_picoseconds(thread, job->task.picoseconds);
		any = true;
	}
	if (!g->by_default)
		g->by_default = any ? thread : INT64_MAX;
	return g->by_default;
}

/* Is it known of the whole, without its graph, that it takes too long so? */
static bool
is_slow_by_default(const Scheduling *s, const Block *b)
{
	Graph **all = s->tasks == s->priced ? s->graphs[BEGINS_all] : NULL;
	Graph *g = all ? all[b->last->id] : NULL;

	return g && !b->parent && s->begins == BEGINS_default && s->within < INT64_MAX
		&& least_by_default(g) >= s->within;
}

/* What it takes with transfers as late as that takes no longer, or less. */
static int64_t
latest_time(const Graph *g, const Order *order)
{
	Order latest = *order;

	begin_latest(g, &latest);
	return latest.time;
}

/* ... and an order in which only these do, where it is quicker. */
static void
begin_by_default(Scheduling *s, Graph **g, Order *order, int64_t within)
{
	Begins begins = s->begins;

	if (begins != BEGINS_all || (*g)->held
		|| least_by_default(*g) >= lesser(order->time, within))
		return;
	s->begins = BEGINS_default;
	Graph *other = graph_known((*g)->block, s);
	if (!other)
		other = graph_of((*g)->block, s);
	s->begins = begins;
	Order by_default = best_order(other, s->least, within);
	if (latest_time(other, &by_default) < latest_time(*g, order)) {
		*order = by_default;
		*g = other;
	}
}

static Body
schedule_block(Scheduling *s, Block *b)
{
	if (is_slow_by_default(s, b))
		return (Body){.alone = s->within};
	Graph *g = graph_known(b, s);
	for (const Op *op = b->first; !g && op != b->last; op = op->next)
		if (op_has_blocks(op))
			*task_at(s, op) = task_in_order(s, op);
	if (!g)
		g = graph_of(b, s);
	int64_t within = b->parent ? INT64_MAX : s->within;
	Order order = best_order(g, s->least, within);
	begin_by_default(s, &g, &order, within);
	if (!b->parent && order.time >= s->within)
		return (Body){.alone = order.time};
	bool asks = !b->parent && s->bytes < INT64_MAX;
	if (asks)
		graph_find_holds(g, s);
	if (overlaps[b->last->module->overlap].divides)
		combine(s, &g, &order);
	begin_latest(g, &order);
	if (asks && g->holds)
		s->needs = held_least(g, &order);
	APPEND(s->arena, s->written, s->nwritten, ((Written){g, order, false}));
	if (!asks || s->needs <= s->bytes)
		write_order(s, &s->written[s->nwritten - 1]);
	return (Body){order.tasks, g->n, 1, order.time};
}

/* ---- the module --------------------------------------------------------------------- */

static bool
has_transfers(const Module *m)
{
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op_communicates(op))
			return true;
	return false;
}

/* ---- the time of a program in order ----------------------------------------------- */

/* What is known since it was put in order. */
typedef struct Retiming {
	Scheduling *s;
	const bool *changed; /* by op id: what it reads or writes is on the chip, or is not any
				more */
	int *at;	     /* by op id: its task */
} Retiming;

static const bool *
changed_ops(const Scheduling *s, const Module *m)
{
	bool *changed = NEW_ARRAY(s->arena, bool, m->nops + 1);

	for (int i = 0; i < s->changed.n; i++) {
		const Value *v = s->changed.v[i];
		if (v->def)
			changed[v->def->id] = true;
		for (const User *user = s->users[v->id]; user; user = user->next)
			changed[user->op->id] = true;
	}
	return changed;
}

static Body block_again(const Retiming *known, const Block *b);

static Task
task_again(const Retiming *known, const Op *op)
{
	if (op->kind == O_done)
		return (Task){.kind = TASK_done, .start = known->at[op->operands[0]->def->id]};
	if (op_has_blocks(op)) {
		Body first = block_again(known, op->bodies[0]);
		Body second = block_again(known, op->bodies[1]);
		return task_of_bodies(op, first, second, known->s->arena);
	}
	bool changed = known->changed[op->id] || is_one_of_several(op);
	Task task = changed ? task_priced(known->s, op) : *task_at(known->s, op);
	task.kind = op->async ? TASK_start : TASK_run;
	return task;
}

static Body
block_again(const Retiming *known, const Block *b)
{
	Arena *a = known->s->arena;
	Task *tasks = NEW_ARRAY(a, Task, block_length(b));
	int n = 0;

	for (const Op *op = b->first; op != b->last; op = op->next) {
		known->at[op->id] = n;
		tasks[n++] = task_again(known, op);
	}
	return body_of(tasks, n, a);
}

/* One step after the other, as the program was: a transfer takes its time where it begins. */
static int64_t
serial_time(const Scheduling *s, const Block *b)
{
	int64_t time = 0;

	for (const Op *op = b->first; op != b->last; op = op->next) {
		bool within = op_has_blocks(op);
		if (op->kind == O_done)
			continue;
		int64_t of[2] = {within ? 0 : task_at(s, op)->picoseconds};
		for (int i = 0; i < op->nbodies && within; i++)
			of[i] = serial_time(s, op->bodies[i]);
		time = add_picoseconds(time,
			op_is_loop(op) ? loop_picoseconds(op, of[LOOP_CONDITION], of[LOOP_BODY])
				       : greater(of[0], of[1]));
	}
	return time;
}

/* One of the ways to put a module in order. */
typedef struct Attempt {
	First least;
	Join joins;
	Begins begins;
	int ahead;	/* jobs that the thread may be ahead of the program; 0: any */
	int64_t spare;	/* bytes that may be held, beside what the program's order does */
	bool keeps;	/* ... until the program comes to what is held */
	int64_t bytes;	/* ... that it may take */
	int64_t within; /* what takes so long before it fits is not wanted */
	bool again; /* put in order twice, then at prices of where values are in the first */
} Attempt;

typedef struct Scheduled {
	int64_t time;	 /* of a run in that order */
	int64_t ordered; /* ... at the prices that it was made by */
	int64_t least;	 /* ... before transfers began later to fit; of several orders that were
			   tried the one for which nobody asks for bytes */
	int64_t needs;	 /* bytes at least, whatever gives way; 0: nobody asked */
	Attempt way;
	bool free;     /* no transfer had to begin later for it */
	bool fits;     /* in so many bytes, and takes no longer than the program did */
	bool kept;     /* else all is as it was */
	bool combines; /* some collectives are one, or could be */
} Scheduled;

/* What a way has made of the module. */
typedef struct Made {
	Scheduling *by;
	bool any;	/* else it is as it was */
	bool whole;	/* no order may be given up for taking too long */
	Scheduled best; /* so far; its orders are written again if it is asked for again, ... */
	Written *written;
	int nwritten;
	Changed changed; /* ... and what is on the chip in these, */
	Arena *arena;	 /* ... which lie here; NULL: there is none */
	Offers *offers;	 /* asked of the next way; NULL: nobody asks */
} Made;

static void
unmake(Module *m, Made *made)
{
	if (made->any)
		undo(made->by, m);
	made->any = false;
}

/* Its memory takes longer to plan than its orders. */
static bool
is_large(const Made *made)
{
	return made->by->lives->n > LARGE;
}

/* The module is as it was, and was last put in order so. */
static void
keep_way(Made *made, Scheduled is)
{
	Scheduling *s = made->by;
	Arena *other = made->arena;

	if ((!made->whole && !is_large(made)) || s->written == made->written)
		return;
	made->best = is;
	made->written = s->written;
	made->nwritten = s->nwritten;
	made->changed = s->changed;
	made->arena = s->arena;
	s->arena = other ? other : arena_new();
}

/* Is it the way that is kept, but for what it may take? */
static bool
is_known(const Made *made, Attempt way)
{
	Attempt of = made->best.way;

	return made->arena && of.least == way.least && of.joins == way.joins
		&& of.begins == way.begins && of.ahead == way.ahead && of.spare == way.spare
		&& of.keeps == way.keeps && of.again == way.again;
}

static void
begin_way(Made *made, Attempt way)
{
	Scheduling *s = made->by;

	scheduling_begin(s);
	s->offers = made->offers;
	s->least = way.least;
	s->joins = way.joins;
	s->begins = way.begins;
	s->ahead = way.ahead;
	s->spare = way.spare;
	s->keeps = way.keeps;
	s->within = way.within;
	bool asks = s->most > way.bytes && s->most < INT64_MAX && !s->hosted;
	s->bytes = asks && !way.again ? way.bytes : INT64_MAX;
	made->any = true;
	made->whole = way.within == INT64_MAX;
}

/* Tasks at prices of where values are in the order that there is. */
static Task *
price_again(Scheduling *s, Module *m)
{
	Arena *own = s->arena;
	const bool *changed = changed_ops(s, m);

	s->arena = s->lives->arena;
	Task *tasks = arena_copy(s->arena, s->tasks, sizeof(Task) * ((size_t)s->lives->n + 1));
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (changed[op->id] && op->kind != O_done && op != op->block->last
			&& !op_has_blocks(op))
			tasks[s->lives->at[op->id]] = task_priced(s, op);
	s->arena = own;
	return tasks;
}

/* What was kept. */
static int64_t
write_again(Made *made)
{
	Scheduling *s = made->by;

	s->written = made->written;
	s->nwritten = made->nwritten;
	s->combines = made->best.combines;
	s->needs = made->best.needs;
	for (int i = 0; i < s->nwritten; i++)
		write_order(s, &s->written[i]);
	return made->best.ordered;
}

static int64_t
order_blocks(Module *m, Made *made, Attempt way)
{
	Scheduling *s = made->by;
	Task *tasks = s->tasks;
	Attempt once = way;

	once.again = false;
	begin_way(made, way);
	if (is_known(made, way))
		return write_again(made);
	int64_t time =
		is_known(made, once) ? write_again(made) : schedule_block(s, m->entry).alone;
	if (!way.again)
		return time;
	residency_find(m, &s->changed);
	Task *other = price_again(s, m);
	unmake(m, made);
	begin_way(made, once);
	s->tasks = other;
	time = schedule_block(s, m->entry).alone;
	s->tasks = tasks;
	return time;
}

static FitResult
fit_way(Module *m, const Made *made, Attempt way, int64_t *needs)
{
	Scheduling *s = made->by;
	const Scheduled *best = &made->best;
	bool known = is_known(made, way) && best->free && best->way.bytes <= way.bytes;

	if (known || s->most <= way.bytes)
		return FIT_as_it_is;
	*needs = s->needs;
	return *needs > way.bytes ? FIT_not : fit_memory(m, way.bytes, needs, s->scratch);
}

/* What is on the chip in the orders that are kept. */
static void
change_again(const Made *made)
{
	Changed *changed = &made->by->changed;

	*changed = made->changed;
	for (int i = 0; i < changed->n; i++)
		changed->v[i]->on_chip = !changed->v[i]->on_chip;
}

/* Orders that are compared are timed as they run: a transfer that begins later may take less
   from others on its links. */
static int64_t
time_again(Module *m, const Made *made, Attempt way, FitResult fit, int64_t time)
{
	Scheduling *s = made->by;

	if (fit == FIT_as_it_is && is_known(made, way) && made->best.free) {
		change_again(made);
		return made->best.time;
	}
	residency_find(m, &s->changed);
	if (!s->changed.n && fit != FIT_shortened && !s->combines)
		return time;
	const Retiming again = {s, changed_ops(s, m), NEW_ARRAY(s->arena, int, m->nops + 1)};
	return block_again(&again, m->entry).alone;
}

/* Of a module as it was.  It is kept if it fits and takes so long or less. */
static Scheduled
schedule_so(Module *m, Made *made, Attempt way, int64_t within)
{
	Scheduling *s = made->by;
	Scheduled is = made->best;

	is.way = way;
	is.fits = is.kept = false;
	if (is_known(made, way) && is.needs > way.bytes)
		return is;
	int64_t time = order_blocks(m, made, way);
	if (time >= way.within) {
		unmake(m, made);
		return (Scheduled){.time = time};
	}
	is.needs = 0;
	FitResult fit = fit_way(m, made, way, &is.needs);
	is.time = fit ? time_again(m, made, way, fit, time) : time;
	is.ordered = time;
	is.combines = s->combines;
	is.free = fit == FIT_as_it_is;
	is.least = is.free ? is.time : time;
	is.fits = fit && is.time <= s->serial;
	is.kept = is.fits && is.time <= within;
	if (!is.kept)
		unmake(m, made);
	return is;
}

/* What another way has to take less than, to be looked at where memory is full.  What is on the
   chip, or begins later, may change it; in a large module it has to gain something before its
   memory is planned. */
static int64_t
within_best(const Made *made, Scheduled best)
{
	return is_large(made) ? best.time - best.time / WORTH
			      : add_picoseconds(best.time, best.time / NEAR);
}

/* The best way once more.  An order that is not given up for the time it takes may be another:
   it is taken if it is as quick. */
static Scheduled
make_best(Module *m, Made *made, Scheduled best)
{
	Attempt whole = best.way;

	whole.within = INT64_MAX;
	Scheduled is = schedule_so(m, made, whole, best.time);
	return is.kept ? is : schedule_so(m, made, best.way, INT64_MAX);
}

/* Where memory is full: the less the thread is ahead of the program, and the less room there
   is, the less is held; so it is if only those begin early that do by default.  The first
   way that takes so long or less, or the quickest of those that fit.  What the first takes
   is known, if not of so many bytes. */
static Scheduled
schedule_crowded(Module *m, Made *made, Scheduled known, int64_t bytes, int64_t spare,
	int64_t within)
{
	const Begins all = overlaps[m->overlap].begins;
	const int64_t any = INT64_MAX;
	const Attempt ways[] = {
		{FIRST_path, JOIN_none, all, 0, any, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, any, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 8, any, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 4, any, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 64, any, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 128, spare, true, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, spare / 2, true, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, spare / 8, true, bytes, any, false},
		{FIRST_path, JOIN_none, all, 0, spare, true, bytes, any, false},
		{FIRST_path, JOIN_none, all, 128, spare, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 16, spare, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 64, spare / 2, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, spare / 4, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 1, spare / 16, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, spare / 8, false, bytes, any, false},
		{FIRST_path, JOIN_none, all, 32, spare / 16, false, bytes, any, false},
		{FIRST_order, JOIN_none, all, 0, any, false, bytes, any, false},
		{FIRST_order, JOIN_none, all, 8, spare, false, bytes, any, false},
		{FIRST_order, JOIN_none, all, 0, spare / 4, false, bytes, any, false},
	};
	const int n = (int)(sizeof ways / sizeof *ways);
	Scheduled best = known;

	for (int i = known.way.bytes == bytes; i < (all == BEGINS_default ? n : 2 * n); i++) {
		Attempt way = ways[i % n];
		if (i >= n)
			way.begins = BEGINS_default;
		if (best.fits)
			way.within = within_best(made, best);
		Scheduled is = schedule_so(m, made, way, within);
		if (is.kept)
			return is;
		if (is.fits && (!best.fits || is.time < best.time)) {
			best = is;
			keep_way(made, is);
		}
	}
	return best.fits ? make_best(m, made, best) : best;
}

/* It takes longer than its blocks were to take, for in its order fewer values stay on the chip.
   The quickest: as it is; the thread not far ahead of the program, so that values are needed
   for a shorter time; or all put in order once more, at prices of that. */
static Scheduled
keep_on_chip(Module *m, Made *made, Scheduled first)
{
	enum { WAYS = 4 };
	static const int ahead[WAYS] = {16, 32, 128, 0};
	Scheduled best = first;

	for (int i = 0; i < WAYS; i++) {
		Attempt way = first.way;
		way.ahead = ahead[i];
		way.again = !ahead[i];
		way.within = add_picoseconds(best.time, best.time / NEAR);
		Scheduled is = schedule_so(m, made, way, best.time - 1);
		if (is.kept)
			best = is;
		if (is.kept && i == WAYS - 1)
			return is;
		unmake(m, made);
	}
	return make_best(m, made, best);
}

/* Within the memory of its target; what does not fit as it is may take a bit more. */
static Scheduled
schedule_within_memory(Module *m, Made *made)
{
	enum { KEPT = 16 }; /* a part of what may be held, for gaps between buffers */
	const int64_t any = INT64_MAX;
	const Attempt free = {FIRST_path, JOIN_none, overlaps[m->overlap].begins, 0, any, false,
		m->mesh.target->hbm_bytes, any, false};
	Scheduled first = schedule_so(m, made, free, any);
	int64_t part = is_large(made) ? NEAR_LARGE : NEAR;
	int64_t near = add_picoseconds(first.ordered, first.ordered / part);

	if (first.kept && first.time <= near)
		return first;
	unmake(m, made);
	keep_way(made, first);
	if (first.kept && first.free)
		return keep_on_chip(m, made, first);
	const Plan *plan = plan_within(m, 0, made->by->scratch);
	int64_t peak = plan_peak(plan), bytes = free.bytes;
	if (plan->uncounted)
		bytes = any;
	else if (peak > bytes)
		bytes = peak + peak / 16;
	int64_t spare = plan->uncounted ? any : (bytes - peak) / KEPT * (KEPT - 1);
	Scheduled best = schedule_crowded(m, made, first, bytes, spare, near);
	best.combines |= first.combines;
	best.least = first.least;
	return best;
}

/* Blocks that are quicker with collectives as one make a program that need not be: it is
   compared with the same where all are apart, and, if that is quicker, where only those are
   one that make their block quicker. */
static Scheduled
combine_or_not(Module *m, Made *made, Scheduled apart, Offers *offers)
{
	int64_t least = apart.kept ? apart.time : INT64_MAX;
	int64_t within = add_picoseconds(least, least / UNSEEN);

	if (made->any) {
		unmake(m, made);
		keep_way(made, apart);
	}
	for (Join joins = JOIN_small; joins > JOIN_none; joins--) {
		Attempt way = apart.way;
		way.joins = joins;
		unmake(m, made);
		made->offers = joins == JOIN_small ? offers : NULL;
		Scheduled is = schedule_so(m, made, way, within);
		if (made->offers) {
			offers->apart = apart.time;
			offers->in_one = is.time;
			offers->fits = is.fits;
		}
		if (is.kept)
			return is;
		within = least;
	}
	unmake(m, made);
	made->offers = NULL;
	return schedule_so(m, made, apart.way, INT64_MAX);
}

static bool
has_loops(const Module *m)
{
	const Op *op = m->entry->first;

	while (op && !op_is_loop(op))
		op = op_following(op, m->entry);
	return op != NULL;
}

/* Would it be quicker, to see, if a device had more memory? */
static bool
lacks_memory(Scheduled is, int64_t serial)
{
	int64_t time = is.kept ? is.time : serial;

	return lesser(is.least, serial) < time - time / SMALL;
}

/* What was to be had if a device had more memory, where that is to be seen; its loops may then
   have trips beside each other that they have not now. */
static void
tell_full(Module *m, Scheduled is, int64_t serial)
{
	int64_t time = is.kept ? is.time : serial, free = lesser(is.least, serial);
	Text t = {0};

	text_add(&t, "with more memory a run takes about ");
	text_picoseconds(&t, free);
	if (overlaps[m->overlap].pipelines && has_loops(m))
		text_add(&t, " or less");
	text_add(&t, "; within ");
	text_memory(&t, (double)m->mesh.target->hbm_bytes);
	text_add(&t,
		time < serial ? " transfers begin later, or are waited for earlier: "
			      : " nothing is beside anything: ");
	text_picoseconds(&t, time);
	diag(m->session, DIAG_schedule, nowhere, "%s", t.s);
	text_free(&t);
}

/* In the order that was chosen. */
static void
name_begun(Module *m, const Lives *lives)
{
	for (int i = 0; i < lives->n; i++)
		if (lives->step[i]->async) {
			Value *begun = lives->step[i]->results[0];
			const char *wanted = arena_printf(m->arena, "%s.start", begun->name);
			begun->name = module_unique_name(m, wanted);
		}
}

/* Whether it lacks memory. */
static bool
schedule_module(Module *m, Scheduling *s, Offers *offers)
{
	Made made = {.by = s};
	bool unnamed = m->unnamed;

	s->serial = serial_time(s, m->entry);
	m->unnamed = true;
	Scheduled apart = schedule_within_memory(m, &made);
	Scheduled is = apart.combines ? combine_or_not(m, &made, apart, offers) : apart;
	if (made.arena)
		arena_free(made.arena);
	m->unnamed = unnamed;
	if (!unnamed)
		name_begun(m, s->lives);
	bool lacks = lacks_memory(is, s->serial);
	if (offers)
		offers_tell(offers, m);
	if (offers && lacks)
		tell_full(m, is, s->serial);
	return lacks;
}

static bool
overlap_module(Module *m, bool remarks)
{
	Arena *a = arena_new();
	Offers offers = {.arena = a};
	bool lacks = false;

	m->level = L_scheduled;
	if (overlaps[m->overlap].begins != BEGINS_none && has_transfers(m)) {
		Scheduling *s = scheduling_new(m, a);
		lacks = schedule_module(m, s, remarks ? &offers : NULL);
		scheduling_free(s);
	}
	arena_free(a);
	return lacks;
}

bool
overlap(Module *m, bool remarks)
{
	overlap_module(m, remarks);
	return true;
}

bool
overlap_lacks_memory(Module *m)
{
	return overlap_module(m, false);
}
