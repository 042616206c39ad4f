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
 * its trips (bodies.c).  Of an `if` the branch that is dearer by itself is what runs; a loop
 * of which only the run knows how often counts as one trip.  When all are known, blocks are
 * placed from the outermost in, beside what is under way around them.
 */
#include "cost/chains.h"
#include "cost/least.h"
#include "cost/timeline.h"
#include "cost/tracks.h"
#include "ir/flow.h"

/* A task of a block. */
typedef struct Part {
	const Op *op;
	TimelineStep *step;	  /* NULL: it has bodies, or waits */
	struct Walked *bodies[2]; /* of what has some */
	int at;			  /* of a step that counts, or does not: which */
} Part;

/* A block, as it was walked; of each task its part. */
typedef struct Walked {
	Task *tasks;
	Part *parts;
	int n;
} Walked;

typedef struct Walk {
	Timeline *timeline;
	Arena *arena;
	int64_t *price;	    /* by op id */
	int *branch, *task; /* of its block, that it is */
} Walk;

static Walked *walk_block(Walk *w, const Block *b);

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

/* How often its condition is asked, and its body runs. */
static void
count_trips(const Op *loop, int64_t *asked, int64_t *trips)
{
	bool counted = op_ints(loop, A_trips)->n > 0;

	*trips = counted ? op_int(loop, A_trips) : 1;
	*asked = counted ? add_picoseconds(*trips, 1) : 1;
}

int64_t
loop_picoseconds(const Op *loop, int64_t condition, int64_t body)
{
	int64_t asked, trips;

	count_trips(loop, &asked, &trips);
	return add_picoseconds(repeat_picoseconds(condition, asked),
		repeat_picoseconds(body, trips));
}

Task
task_of_bodies(const Op *op, Body first, Body second, Arena *a)
{
	bool is_first = first.alone >= second.alone;

	if (op_is_loop(op))
		count_trips(op, &first.times, &second.times);
	if (op_is_branch(op)) {
		first.times = is_first;
		second.times = !is_first;
	}
	return bodies_task(first, second, a);
}

/* ---- one block ------------------------------------------------------------------ */

static Task
step_task(Walk *w, const Op *op, Part *part)
{
	const Mesh *mesh = &w->timeline->module->mesh;
	TimelineStep *step = part->step = NEW(w->arena, TimelineStep);

	*step = (TimelineStep){
		.op = op,
		.cost = step_cost(mesh, op, NULL, NULL),
	};
	step->counted = op_trips(op, &step->trips);
	Task task = task_of(op, &step->cost);
	task.kind = op->async ? TASK_start : TASK_run;
	step->moves = task.moves;
	step->lasts = step->each = w->price[op->id] = task.picoseconds;
	step->total = repeat_picoseconds(step->each, step->trips);
	return task;
}

static Task
walk_bodies(Walk *w, const Op *op, Part *part)
{
	Body bodies[2];

	for (int i = 0; i < 2; i++) {
		const Walked *walked = part->bodies[i] = walk_block(w, op->bodies[i]);
		bodies[i] = body_of(walked->tasks, walked->n, w->arena);
	}
	Task task = task_of_bodies(op, bodies[0], bodies[1], w->arena);
	if (op_is_branch(op))
		w->branch[op->id] = task.bodies->body[1].times > 0;
	return task;
}

static Walked *
walk_block(Walk *w, const Block *b)
{
	Walked *walked = NEW(w->arena, Walked);
	int nops = block_length(b), n = 0;
	Task *tasks = NEW_ARRAY(w->arena, Task, nops);

	walked->parts = NEW_ARRAY(w->arena, Part, nops);
	for (const Op *op = b->first; op != b->last; op = op->next) {
		Part *part = &walked->parts[n];
		part->op = op;
		if (op_is_loop(op) || op_is_branch(op))
			tasks[n] = walk_bodies(w, op, part);
		else if (op->kind == O_done)
			tasks[n] = (Task){.kind = TASK_done,
				.start = w->task[op->operands[0]->def->id]};
		else if (op_is_step(op))
			tasks[n] = step_task(w, op, part);
		else
			continue;
		w->task[op->id] = n++;
	}
	walked->tasks = tasks;
	walked->n = n;
	return walked;
}

/* ---- when it runs ------------------------------------------------------------------ */

/* Where the steps of a block go: */
typedef enum Counts {
	COUNTS_run,   /* they are of the run, */
	COUNTS_other, /* ... of a branch that does not count, */
	COUNTS_never, /* ... of a body that never runs */
} Counts;

typedef struct Place {
	const LinkSums *beside; /* NULL: nothing is */
	int64_t start;
	Counts counts;
	bool critical;
} Place;

static int64_t place_block(Walk *w, const Walked *block, Place place);

static void
place_step(Walk *w, Part *part, const Task *task, Place place)
{
	Timeline *t = w->timeline;
	TimelineStep *step = part->step;

	step->start = place.start;
	step->critical = place.critical;
	if (task->moves) {
		step->exposed = repeat_picoseconds(task->exposed, step->trips);
		t->flight[step->op->id] = step->lasts = task->to - task->from;
	}
	part->at = place.counts == COUNTS_run ? t->n : t->nothers;
	if (place.counts == COUNTS_run)
		t->steps[t->n++] = *step;
	else if (place.counts == COUNTS_other)
		APPEND(w->arena, t->others, t->nothers, *step);
}

static void
place_done(Walk *w, const Part *start, const Task *task, Place place)
{
	Timeline *t = w->timeline;
	int64_t end = add_picoseconds(place.start, task->to - task->from);

	if (place.counts == COUNTS_run)
		t->steps[start->at].awaited = end;
	else if (place.counts == COUNTS_other)
		t->others[start->at].awaited = end;
}

static void
place_loop(Walk *w, const Part *part, Place place)
{
	Timeline *t = w->timeline;
	bool counted = op_ints(part->op, A_trips)->n > 0;

	if (place.counts != COUNTS_never)
		t->counted &= counted;
	int64_t asked = place_block(w, part->bodies[LOOP_CONDITION], place);
	place.start = add_picoseconds(place.start, asked);
	if (counted && !op_int(part->op, A_trips))
		place.counts = COUNTS_never;
	place_block(w, part->bodies[LOOP_BODY], place);
}

/* The steps of the other branch are by themselves. */
static void
place_branch(Walk *w, const Part *part, Place place)
{
	Timeline *t = w->timeline;
	TimelineIf new = {.op = part->op, .counts = w->branch[part->op->id]};
	Counts counts = place.counts;
	int at = t->nifs;

	if (counts == COUNTS_run)
		APPEND(w->arena, t->ifs, t->nifs, new);
	for (int i = 0; i < 2; i++) {
		place.counts = counts == COUNTS_run && i != new.counts ? COUNTS_other : counts;
		new.time[i] = place_block(w, part->bodies[i], place);
	}
	if (counts != COUNTS_never)
		t->decided |= new.time[0] != new.time[1];
	if (counts == COUNTS_run)
		t->ifs[at] = new;
}

/* How long it takes once. */
static int64_t
place_block(Walk *w, const Walked *block, Place place)
{
	Timeline *t = w->timeline;
	int64_t time = tracks_run(block->tasks, block->n, place.beside, w->arena);

	for (int i = 0; i < block->n; i++) {
		const Task *task = &block->tasks[i];
		Part *part = &block->parts[i];
		Place of = {
			.beside = task->bodies ? task->bodies->beside : NULL,
			.start = add_picoseconds(place.start, task->from),
			.counts = place.counts,
			.critical = place.critical && task->critical,
		};
		TimelineSpan span = {part->op, of.start, task->to - task->from};
		if (task->bodies && place.counts == COUNTS_run)
			APPEND(w->arena, t->spans, t->nspans, span);
		if (part->step)
			place_step(w, part, task, of);
		else if (task->kind == TASK_done)
			place_done(w, &block->parts[task->start], task, of);
		else if (op_is_loop(part->op))
			place_loop(w, part, of);
		else
			place_branch(w, part, of);
	}
	return time;
}

/* ---- sums ----------------------------------------------------------------------- */

int64_t
step_share(const TimelineStep *step)
{
	return step->moves ? step->exposed : step->total;
}

/* A product that is not one of the forward pass once more; or what may be one. */
static bool
is_needed_product(const Op *op)
{
	const Op *product = op_states_cost(op) ? op : step_product(op);

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
	const Place all = {.counts = COUNTS_run, .critical = true};
	t->time = place_block(&w, walk_block(&w, m->entry), all);
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
timeline_walk(Module *m, Arena *a)
{
	module_number(m);
	return walk_module(m, a).timeline;
}

Timeline *
timeline_build(Module *m, Arena *a)
{
	module_number(m);
	const Walk w = walk_module(m, a);
	Timeline *t = w.timeline;
	int64_t *heads = NEW_ARRAY(a, int64_t, m->nops + 1);
	int64_t *links = NEW_ARRAY(a, int64_t, m->nops + 1);
	const LinkSet **moves = NEW_ARRAY(a, const LinkSet *, m->nops + 1);
	int64_t *carried = NEW_ARRAY(a, int64_t, m->nops + 1);
	busiest_links(t, links, a);
	link_turns(t, moves, carried);
	const StepTimes times = {w.price, w.branch, links, moves, carried};
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
