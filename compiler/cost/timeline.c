/*
 * timeline.c - one walk over a fused program: what a run of it takes.
 *
 *   all-gather of W     12 us       at 0
 *   dot                  8 us       at 12
 *   while, 10 trips                 at 20
 *     condition          1 us       at 20, 11 times
 *     body               4 us       at 21, 10 times           71 us in all
 *
 * A body is walked once, and is one task of the block around it, as long as all
 * its trips.  Of an `if` the dearer branch is what runs; a loop of which only the
 * run knows how often counts as one trip.
 */
#include <string.h>
#include "cost/chains.h"
#include "cost/least.h"
#include "cost/timeline.h"
#include "cost/tracks.h"
#include "ir/flow.h"

/* A task of a block, and its steps: one, or those of the bodies in it. */
typedef struct Mark {
	int step, span, branch, other; /* of the timeline's, the next */
} Mark;

typedef struct Part {
	Mark first, end;
	int64_t condition; /* of a loop: how long it takes, before the body */
	Mark body;	   /* ... which begins here */
} Part;

typedef struct Walk {
	Timeline *timeline;
	Arena *arena;
	int64_t *price;	    /* by op id */
	int *branch, *task; /* of its block, that it is */
} Walk;

static int64_t block_time(Walk *w, const Block *b);

static Mark
mark(const Timeline *t)
{
	return (Mark){t->n, t->nspans, t->nifs, t->nothers};
}

static void
close_gap(void *all, size_t size, int from, int to, int *n)
{
	char *bytes = all;

	if (to < *n)
		memmove(bytes + (size_t)from * size, bytes + (size_t)to * size,
			(size_t)(*n - to) * size);
	*n -= to - from;
}

/* What lies between, but of its branches that do not count. */
static void
drop(Timeline *t, Mark from, Mark to)
{
	close_gap(t->steps, sizeof *t->steps, from.step, to.step, &t->n);
	close_gap(t->spans, sizeof *t->spans, from.span, to.span, &t->nspans);
	close_gap(t->ifs, sizeof *t->ifs, from.branch, to.branch, &t->nifs);
}

Task
task_of(const Op *op, const StepCost *cost)
{
	Task task = {.moves = op_communicates(op), .picoseconds = picoseconds(cost->seconds)};
	int64_t shared = picoseconds(cost->busy[RESOURCE_ici] + cost->busy[RESOURCE_dcn]);

	task.shared = lesser(shared, task.picoseconds);
	if (task.moves)
		task.links = &cost->links;
	return task;
}

int64_t
loop_picoseconds(const Op *loop, int64_t condition, int64_t body)
{
	bool counted = op_ints(loop, A_trips)->n > 0;
	int64_t trips = counted ? op_int(loop, A_trips) : 1;
	int64_t asked = counted ? add_picoseconds(trips, 1) : 1;

	return add_picoseconds(repeat_picoseconds(condition, asked),
		repeat_picoseconds(body, trips));
}

/* ---- one block ------------------------------------------------------------------ */

static Task
step_task(Walk *w, const Op *op)
{
	Timeline *t = w->timeline;
	const Mesh *mesh = &t->module->mesh;
	TimelineStep *step = &t->steps[t->n++];

	*step = (TimelineStep){
		.op = op,
		.cost = step_cost(mesh, op, NULL, NULL),
		.critical = true,
	};
	step->counted = op_trips(op, &step->trips);
	Task task = task_of(op, &step->cost);
	task.kind = op->async ? TASK_start : TASK_run;
	step->moves = task.moves;
	step->lasts = step->each = w->price[op->id] = task.picoseconds;
	step->total = repeat_picoseconds(step->each, step->trips);
	return task;
}

/* Of a body that never runs there are no steps. */
static int64_t
loop_time(Walk *w, const Op *loop, Part *part)
{
	Timeline *t = w->timeline;
	bool counted = op_ints(loop, A_trips)->n > 0;

	t->counted &= counted;
	part->condition = block_time(w, loop->bodies[LOOP_CONDITION]);
	part->body = mark(t);
	bool all_counted = t->counted, decided = t->decided;
	int64_t body = block_time(w, loop->bodies[LOOP_BODY]);
	if (counted && !op_int(loop, A_trips)) {
		drop(t, part->body, mark(t));
		t->nothers = part->body.other;
		t->counted = all_counted;
		t->decided = decided;
	}
	return loop_picoseconds(loop, part->condition, body);
}

/* The steps of the other branch are by themselves. */
static int64_t
branch_time(Walk *w, const Op *op)
{
	Timeline *t = w->timeline;
	TimelineIf new = {.op = op};
	int at = t->nifs;

	APPEND(w->arena, t->ifs, t->nifs, new);
	Mark marks[3] = {mark(t)};
	for (int i = 0; i < 2; i++) {
		new.time[i] = block_time(w, op->bodies[i]);
		marks[i + 1] = mark(t);
	}
	new.counts = w->branch[op->id] = new.time[1] > new.time[0];
	t->decided |= new.time[0] != new.time[1];
	t->ifs[at] = new;
	Mark from = marks[!new.counts], to = marks[!new.counts + 1];
	for (int i = from.step; i < to.step; i++)
		APPEND(w->arena, t->others, t->nothers, t->steps[i]);
	drop(t, from, to);
	return new.time[new.counts];
}

static void
move_later(Timeline *t, Mark from, Mark to, int64_t time)
{
	for (int i = from.step; i < to.step; i++) {
		TimelineStep *step = &t->steps[i];
		step->start = add_picoseconds(step->start, time);
		if (step->awaited)
			step->awaited = add_picoseconds(step->awaited, time);
	}
	for (int i = from.span; i < to.span; i++)
		t->spans[i].start = add_picoseconds(t->spans[i].start, time);
}

static void
not_critical(Timeline *t, Mark from, Mark to)
{
	for (int i = from.step; i < to.step; i++)
		t->steps[i].critical = false;
}

/* Its steps are at the end of the timeline's, from time 0 on. */
static int64_t
block_time(Walk *w, const Block *b)
{
	Timeline *t = w->timeline;
	int nops = block_length(b), n = 0;
	Task *tasks = NEW_ARRAY(w->arena, Task, nops);
	Part *parts = NEW_ARRAY(w->arena, Part, nops);

	for (const Op *op = b->first; op != b->last; op = op->next) {
		Part part = {.first = mark(t)};
		TimelineSpan span = {.op = op};
		if (!op_is_step(op) && op->nbodies)
			APPEND(w->arena, t->spans, t->nspans, span);
		Task task = {0};
		if (op_is_loop(op))
			task.picoseconds = loop_time(w, op, &part);
		else if (op_is_branch(op))
			task.picoseconds = branch_time(w, op);
		else if (op->kind == O_done)
			task = (Task){.kind = TASK_done,
				.start = w->task[op->operands[0]->def->id]};
		else if (op_is_step(op))
			task = step_task(w, op);
		else
			continue;
		if (t->nspans > part.first.span)
			t->spans[part.first.span].time = task.picoseconds;
		part.end = mark(t);
		w->task[op->id] = n;
		tasks[n] = task;
		parts[n++] = part;
	}
	int64_t time = tracks_run(tasks, n, NULL, w->arena);
	for (int i = 0; i < n; i++) {
		const Part *part = &parts[i];
		if (part->condition)
			move_later(t, part->body, part->end, part->condition);
		move_later(t, part->first, part->end, tasks[i].from);
		if (tasks[i].kind == TASK_done)
			t->steps[parts[tasks[i].start].first.step].awaited = tasks[i].to;
		TimelineStep *step = &t->steps[part->first.step];
		if (tasks[i].moves) {
			step->exposed = repeat_picoseconds(tasks[i].exposed, step->trips);
			step->lasts = tasks[i].to - tasks[i].from;
		}
		if (tasks[i].moves)
			t->flight[step->op->id] = step->lasts;
		if (!tasks[i].critical)
			not_critical(t, part->first, part->end);
	}
	return time;
}

/* ---- sums ----------------------------------------------------------------------- */

int64_t
step_share(const TimelineStep *step)
{
	return step->moves ? step->exposed : step->total;
}

/* A product that is not one of the forward pass once more. */
static bool
is_needed_product(const Op *op)
{
	const Op *product = step_product(op);

	return product && !product->again;
}

static void
add_up(Timeline *t)
{
	for (int i = 0; i < t->n; i++) {
		const TimelineStep *s = &t->steps[i];
		int64_t *sum = s->moves ? &t->communication : &t->compute;
		*sum = add_picoseconds(*sum, s->total);
		t->exposed = add_picoseconds(t->exposed, s->exposed);
		t->hbm_bytes += s->cost.hbm_bytes * (double)s->trips;
		if (is_needed_product(s->op))
			t->dot_flops += s->cost.flops * (double)s->trips;
	}
	t->serial = add_picoseconds(t->compute, t->communication);
	/* shares of links are rounded up to whole picoseconds */
	t->time = t->time < t->serial ? t->time : t->serial;
}

/* All but the least that it takes. */
static Walk
walk_module(Module *m, Arena *a)
{
	Timeline *t = NEW(a, Timeline);
	Walk w = {
		.timeline = t,
		.arena = a,
		.price = NEW_ARRAY(a, int64_t, m->nops + 1),
		.branch = NEW_ARRAY(a, int, m->nops + 1),
		.task = NEW_ARRAY(a, int, m->nops + 1),
	};
	t->module = m;
	t->counted = true;
	t->steps = NEW_ARRAY(a, TimelineStep, m->nops + 1);
	t->flight = NEW_ARRAY(a, int64_t, m->nops + 1);
	t->time = block_time(&w, m->entry);
	add_up(t);
	return w;
}

int64_t
timeline_time(Module *m)
{
	Arena *a = arena_new();
	int64_t time = walk_module(m, a).timeline->time;

	arena_free(a);
	return time;
}

Timeline *
timeline_build(Module *m, Arena *a)
{
	module_number(m);
	const Walk w = walk_module(m, a);
	Timeline *t = w.timeline;
	int64_t *heads = NEW_ARRAY(a, int64_t, m->nops + 1);
	int64_t *links = NEW_ARRAY(a, int64_t, m->nops + 1);
	busiest_links(t, links, a);
	const StepTimes times = {w.price, w.branch, links};
	int64_t *loops = NEW_ARRAY(a, int64_t, m->nops + 1);
	int64_t chain = longest_chain(m, &times, heads, loops, a);
	int64_t *tails = NEW_ARRAY(a, int64_t, m->nops + 1);
	shortest_tails(m, &times, loops, tails, a);
	int64_t work = busiest_resource(t, &(Bounds){heads, tails, loops}, a);
	t->lower = work > chain ? work : chain;
	if (m->least && m->least < t->lower)
		t->lower = m->least;
	return t;
}

bool
timeline_is_endless(const Timeline *t)
{
	return t->serial == INT64_MAX;
}
