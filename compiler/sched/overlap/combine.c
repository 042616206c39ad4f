/*
 * combine.c - collectives that can begin together as one transfer.
 *
 *   a = all-reduce(x)  5      b = all-reduce(y)  5          a, b = all-reduce(x, y)  6
 *
 * Each by itself waits for the latency of its links.  Those are one that move alike (kind,
 * axes, who sends to whom, dim, dtype, and what combines) and that have as many collectives
 * before them, on the way on which they have most.  So none needs another of the same
 * transfer, not by way of another such transfer either:
 *
 *   a1 (0)  ->  b1 (1)         a1 and b2 are of one number, b1 and a2 of another; were all
 *   b2 (0)  ->  a2 (1)         a's one, and all b's, each would wait for the other
 */
#include "cost/timeline.h"
#include "sched/overlap/overlap.h"

/* Jobs that become one: transfers, their dones apart; or any other by itself. */
typedef struct Unit {
	Job **jobs;
	int n;
	int waits;  /* of those before it, not yet in the new graph */
	int number; /* there */
} Unit;

typedef struct Combining {
	const Graph *from;
	Graph *to;
	Arena *arena;
	bool all;
	int *before; /* by number of a job: collectives on the way to it */
	Unit **unit; /* by number of a job; of a done that of its begin */
	Ready ready;
} Combining;

/* ---- what becomes one ------------------------------------------------------------ */

static bool
may_combine(const Combining *c, const Job *job)
{
	const Task *task = &job->task;

	return task->kind == TASK_start && collectives[job->op->kind].combines
		&& (c->all || task->picoseconds - task->shared >= task->shared);
}

static void
count_before(Combining *c)
{
	for (int i = 0; i < c->from->n; i++) {
		const Job *job = &c->from->jobs[i];
		int n = c->before[job->number] + may_combine(c, job);
		for (const struct Edge *e = job->after; e; e = e->next)
			if (c->before[e->to->number] < n)
				c->before[e->to->number] = n;
	}
}

static void
text_group(Text *t, const AxisList *axes)
{
	for (int i = 0; i < axes->n; i++)
		text_printf(t, " %d:%d:%d", axes->a[i].axis, axes->a[i].pre, axes->a[i].size);
}

/* What those have alike that are one: ops_combine(). */
static const char *
kind_of(const Combining *c, const Job *job)
{
	const Op *op = job->op;
	Text t = {0};

	text_printf(&t, "%d %d %d", c->before[job->number], op->kind,
		op->operands[0]->type.dtype);
	if (op_has(op, A_dim) && collectives[op->kind].combines != COMBINES_lines)
		text_printf(&t, " dim %lld", (long long)op_int(op, A_dim));
	if (op_has(op, A_combiner))
		text_printf(&t, " by %lld", (long long)op_int(op, A_combiner));
	text_group(&t, op->axes);
	if (op->from) {
		text_add(&t, " from");
		text_group(&t, op->from);
	}
	for (int i = 0; i < op_ints(op, A_source)->n; i++)
		text_printf(&t, " %lld", (long long)op_ints(op, A_source)->v[i]);
	return text_take(&t, c->arena);
}

/* False: nothing becomes one. */
static bool
find_units(Combining *c)
{
	Table *units = table_new(c->arena);
	bool any = false;

	for (int i = 0; i < c->from->n; i++) {
		Job *job = &c->from->jobs[i];
		const char *kind = may_combine(c, job) ? kind_of(c, job) : NULL;
		Unit *unit = job->task.kind == TASK_done ? c->unit[job->number - 1]
			: kind				 ? table_get(units, kind)
							 : NULL;
		if (!unit)
			unit = NEW(c->arena, Unit);
		if (kind)
			table_set(units, kind, unit);
		c->unit[job->number] = unit;
		if (job->task.kind == TASK_done)
			continue;
		APPEND(c->arena, unit->jobs, unit->n, job);
		unit->waits += job->before;
		any |= unit->n > 1;
	}
	return any;
}

/* ---- the graph of these ----------------------------------------------------------- */

/* As the program has its last. */
static void
make_ready(Combining *c, const Unit *unit)
{
	Job *last = unit->jobs[unit->n - 1];

	ready_put(&c->ready, last, -last->number);
}

static void
release(Combining *c, const Job *job)
{
	for (const struct Edge *e = job->after; e; e = e->next)
		if (e->to->task.kind == TASK_done)
			release(c, e->to);
		else if (!--c->unit[e->to->number]->waits)
			make_ready(c, c->unit[e->to->number]);
}

static Task
task_of_unit(const Unit *unit)
{
	const Op *first = unit->jobs[0]->op;
	double bytes = 0;

	if (unit->n == 1)
		return unit->jobs[0]->task;
	for (int i = 0; i < unit->n; i++)
		bytes += (double)type_bytes(&unit->jobs[i]->op->operands[0]->type);
	StepCost cost = transfer_of_bytes(first, bytes);
	Task task = task_of(first, &cost);
	task.kind = TASK_start;
	task.links = unit->jobs[0]->task.links;
	return task;
}

static void
add_unit(Combining *c, Unit *unit)
{
	const Job *first = unit->jobs[0];
	Op **moves = NEW_ARRAY(c->arena, Op *, unit->n);
	Holds *holds = NEW_ARRAY(c->arena, Holds, unit->n);

	for (int i = 0; i < unit->n; i++) {
		moves[i] = unit->jobs[i]->op;
		if (c->from->held)
			holds[i] = *unit->jobs[i]->holds;
	}
	Task task = task_of_unit(unit);
	int n = task.kind == TASK_start ? 2 : 1;
	unit->number = graph_add_job(c->to, first->op, task);
	if (n > 1)
		graph_add_job(c->to, first->op, (Task){.kind = TASK_done});
	for (int i = 0; i < n; i++) {
		Job *job = &c->to->jobs[unit->number - 1 + i];
		job->grows = !i && first->grows;
		job->ops = moves;
		job->holds = holds;
		job->nops = unit->n;
	}
	for (int i = 0; i < unit->n; i++)
		release(c, unit->jobs[i]);
}

static int
number_of(const Combining *c, const Job *job)
{
	return c->unit[job->number]->number + (job->task.kind == TASK_done);
}

static void
add_edges(Combining *c)
{
	for (int i = 0; i < c->from->n; i++) {
		const Job *job = &c->from->jobs[i];
		for (const struct Edge *e = job->after; e; e = e->next)
			graph_add_edge(c->to, number_of(c, job), number_of(c, e->to));
	}
}

Graph *
graph_combined(const Graph *g, bool all)
{
	Arena *a = g->arena;
	Graph *to = NEW(a, Graph);
	Combining c = {.from = g,
		.to = to,
		.arena = a,
		.all = all,
		.before = NEW_ARRAY(a, int, g->n + 1),
		.unit = NEW_ARRAY(a, Unit *, g->n + 1),
		.ready.others = NEW_ARRAY(a, struct Entry, g->n + 1)};

	count_before(&c);
	if (!find_units(&c))
		return NULL;
	*to = (Graph){.own = a,
		.arena = a,
		.block = g->block,
		.ops = g->ops,
		.nops = g->nops,
		.held = g->held,
		.room = g->room,
		.crowded = g->crowded,
		.keeps = g->keeps,
		.jobs = NEW_ARRAY(a, Job, g->n + 1)};
	for (int i = 0; i < g->n; i++)
		if (c.unit[i + 1]->jobs[0] == &g->jobs[i] && !c.unit[i + 1]->waits)
			make_ready(&c, c.unit[i + 1]);
	while (c.ready.nbest)
		add_unit(&c, c.unit[ready_take(&c.ready, 0)->number]);
	add_edges(&c);
	graph_find_paths(to);
	if (to->held && to->keeps)
		to->profile = held_profile(to);
	return to;
}
