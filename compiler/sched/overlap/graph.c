/*
 * graph.c - a block as a graph of jobs: what has to come before what.
 *
 * Values that share a buffer because the program says so (lives_pairs) keep their
 * order: all that read the one come before what writes the next.
 *
 *   carried %w   read by a, b        a -> c, b -> c
 *   returns %w2  made by c
 */
#include "cost/timeline.h"
#include "ir/flow.h"
#include "memory/plan.h"
#include "memory/strips.h"
#include "sched/overlap/overlap.h"

void
graph_add_edge(Graph *g, int from, int to)
{
	Job *jobs = g->jobs;

	if (!from || !to || from == to)
		return;
	struct Edge *edge = NEW(g->own, struct Edge);
	*edge = (struct Edge){&jobs[to - 1], jobs[from - 1].after};
	jobs[from - 1].after = edge;
	jobs[to - 1].before++;
}

/* ---- jobs ---------------------------------------------------------------------- */

Task
task_priced(Scheduling *s, const Op *op)
{
	if (!op_is_step(op))
		return (Task){0};
	StepCost cost = step_cost(&op->module->mesh, op, NULL, NULL);
	Task task = task_of(op, &cost);
	if (task.moves)
		task.links = arena_copy(s->arena, &cost.links, sizeof cost.links);
	return task;
}

int
graph_add_job(Graph *g, Op *op, Task task)
{
	Job *job = &g->jobs[g->n++];

	*job = (Job){.op = op, .task = task, .number = g->n};
	job->ops = op ? &job->op : NULL;
	job->nops = op ? 1 : 0;
	return g->n;
}

/* What others read behind it is kept anyway. */
static bool
op_grows(const Scheduling *s, const Op *op)
{
	int64_t read = 0;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (s->users[v->id]->op == op && !value_is_strip(v))
			read += type_bytes(&v->type);
	}
	return type_bytes(&op->results[0]->type) > read;
}

/* Is its result where its operand is, as what a loop carries is?  What is read until the end
   may not be written before. */
static bool
writes_over_operand(const Lives *lives, const Op *op)
{
	const Shared *of = lives->shared[op->results[0]->id];

	for (int i = 0; i < op->noperands && of; i++)
		if (i != op_base(op) && lives->shared[op->operands[i]->id] == of)
			return true;
	return false;
}

static void
add_jobs(Graph *g, Scheduling *s)
{
	for (Op *op = g->block->first; op != g->block->last; op = op->next) {
		Task task = *task_at(s, op);
		g->ops[g->nops++] = op;
		g->fenced |= op->kind == O_fence;
		bool begins = task.moves && task.picoseconds > 0 && op->nresults == 1
			&& op_begins_with(op, s->begins) && !writes_over_operand(s->lives, op);
		task.kind = begins ? TASK_start : TASK_run;
		s->first[op->id] = s->last[op->id] = graph_add_job(g, op, task);
		if (!begins)
			continue;
		g->jobs[g->n - 1].grows = op_grows(s, op);
		s->last[op->id] = graph_add_job(g, op, (Task){.kind = TASK_done});
		graph_add_edge(g, s->first[op->id], s->last[op->id]);
	}
}

/* ---- edges ---------------------------------------------------------------------- */

/* The op of the block in which that is, or NULL. */
static const Op *
within(const Block *b, const Op *op)
{
	while (op && op->block != b)
		op = op->block->parent;
	return op;
}

/* What writes a value, as the block sees it: of a parameter of a body in it, the op
   that has the body; of its own parameters nobody. */
static const Op *
writer_of(const Block *b, const Value *v)
{
	return within(b, v->def ? v->def : v->block->parent);
}

/* All that read an earlier value of the buffer come before what writes a later one.  A joint
   writes nothing. */
static void
keep_order(Graph *g, const Scheduling *s, const Life *lives, int n)
{
	const Block *b = g->block;
	const Op *writer = NULL;

	for (int i = 0, from = 0; i < n; i++) {
		const Value *v = lives[i].value;
		const Op *next = writer_of(b, v);
		if (!next || next == writer || s->lives->root[v->id] != v
			|| (v->def && op_is_joint(v->def)))
			continue;
		for (; from < i; from++)
			for (const User *user = s->users[lives[from].value->id]; user;
				user = user->next) {
				const Op *reader = within(b, user->op);
				if (reader && reader != next && reader != b->last)
					graph_add_edge(g, s->last[reader->id],
						s->first[next->id]);
			}
		if (writer)
			graph_add_edge(g, s->last[writer->id], s->first[next->id]);
		writer = next;
	}
}

static void
keep_order_once(Graph *g, Scheduling *s, const Value *v)
{
	const Shared *buffer = s->lives->shared[v->id];
	int n;

	if (!buffer || (buffer->n < 2 && !buffer->within))
		return;
	int *kept = &s->kept[buffer->lives[0].value->id];
	if (*kept == s->ngraphs)
		return;
	*kept = s->ngraphs;
	const Life *lives =
		lives_of_range(buffer, lives_of_block(s->lives, g->block), g->own, &n);
	keep_order(g, s, lives, n);
}

/* Fences that are one: all that they wait for comes before all of them. */
static void
join_fences(Graph *g, const Scheduling *s, const Op *first, int n)
{
	const Op *op = first;

	for (int i = 0; i < n; i++, op = op->next) {
		const Op *from = op->operands[0]->def;
		graph_add_edge(g, s->first[first->id], s->first[op->id]);
		if (from)
			graph_add_edge(g, s->last[from->id], s->first[first->id]);
	}
}

static void
add_edges(Graph *g, Scheduling *s)
{
	const Block *b = g->block;

	for (const Op *op = b->first; g->fenced && op != b->last; op = op->next) {
		int fences = op->kind == O_fence ? fences_in_one(op) : 0;
		join_fences(g, s, op, fences);
		while (--fences > 0)
			op = op->next;
	}
	for (const Op *op = b->first; op != b->last; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i]->def)
				graph_add_edge(g, s->last[op->operands[i]->def->id],
					s->first[op->id]);
	for (int i = 0; i < b->nparams; i++)
		keep_order_once(g, s, b->params[i]);
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nresults; i++)
			keep_order_once(g, s, op->results[i]);
}

/* From the end: a path begins with the job itself. */
void
graph_find_paths(Graph *g)
{
	for (int i = g->n - 1; i >= 0; i--) {
		Job *job = &g->jobs[i];
		int64_t longest = 0;
		for (const struct Edge *e = job->after; e; e = e->next)
			longest = greater(longest, e->to->path);
		job->path = add_picoseconds(longest, job->task.picoseconds);
	}
}

static void
add_sums(LinkSums *sums, const LinkSums *more)
{
	for (int i = 0; i < LINK_WORDS; i++)
		for (int k = 0; k < 64; k++)
			sums->of[i][k] = add_picoseconds(sums->of[i][k], more->of[i][k]);
}

const Left *
graph_work(Graph *g)
{
	Left left = {0};
	LinkSums sums = {0};

	if (g->work)
		return g->work;
	for (int i = 0; i < g->n; i++) {
		const Task *task = &g->jobs[i].task;
		if (task->moves)
			links_add(&sums, task->links, task->shared);
		if (task->kind == TASK_run)
			left.thread = add_picoseconds(left.thread, task->picoseconds);
		if (task->bodies)
			add_sums(&sums, &task->bodies->busy);
	}
	for (int i = 0; i < LINK_WORDS; i++)
		for (int k = 0; k < 64; k++)
			if (sums.of[i][k] > left.link) {
				left.link = sums.of[i][k];
				left.word = i;
				left.bit = (uint64_t)1 << k;
			}
	return g->work = arena_copy(g->own, &left, sizeof left);
}

static bool
has_bodies(const Block *b)
{
	const Op *op = b->first;

	while (op != b->last && !op_has_blocks(op))
		op = op->next;
	return op != b->last;
}

static Graph *
graph_new(Block *b, Scheduling *s, Arena *a)
{
	Graph *g = NEW(a, Graph);
	int most = 1;

	for (const Op *op = b->first; op; op = op->next)
		most += task_at(s, op)->moves ? 2 : 1;
	*g = (Graph){.own = a,
		.block = b,
		.ops = NEW_ARRAY(a, Op *, most),
		.jobs = NEW_ARRAY(a, Job, most)};
	s->ngraphs++;
	add_jobs(g, s);
	add_edges(g, s);
	graph_find_paths(g);
	return g;
}

void
graph_find_holds(Graph *g, Scheduling *s)
{
	Arena *a = s->lives->arena;

	if (!s->places) {
		s->places = held_places(s->lives, s->nvalues, a);
		s->numbers = NEW_ARRAY(a, int, s->nvalues + 1);
	}
	if (!g->holds)
		g->holds = held_new(g, s->places, s->numbers);
}

/* The bytes that may be held. */
static void
find_room(Graph *g, Scheduling *s)
{
	g->held = NULL;
	if (s->spare == INT64_MAX)
		return;
	graph_find_holds(g, s);
	g->held = g->holds;
	if (!g->profile)
		g->profile = held_profile(g);
	g->crowded = g->profile->peak + s->spare / 2;
	g->room = g->crowded + s->spare / 2;
	g->keeps = s->keeps;
}

static Graph **
place_of(const Block *b, Scheduling *s)
{
	Graph ***graphs = &s->graphs[s->begins];

	if (!*graphs)
		*graphs = NEW_ARRAY(s->lives->arena, Graph *, s->nops + 1);
	return &(*graphs)[b->last->id];
}

/* As this order of the module asks for it. */
static Graph *
begin_graph(Graph *g, Scheduling *s)
{
	g->arena = s->arena;
	g->ahead = s->ahead;
	find_room(g, s);
	return g;
}

Graph *
graph_known(Block *b, Scheduling *s)
{
	Graph *g = s->tasks == s->priced ? *place_of(b, s) : NULL;

	return g ? begin_graph(g, s) : NULL;
}

/* Without bodies, and at the prices of the program as it was, it is the same in all orders. */
Graph *
graph_of(Block *b, Scheduling *s)
{
	bool lasts = s->tasks == s->priced && !has_bodies(b);
	Graph *g = graph_new(b, s, lasts ? s->lives->arena : s->arena);

	if (lasts)
		*place_of(b, s) = g;
	return begin_graph(g, s);
}

/* ---- the module ------------------------------------------------------------------ */

/* Values that the program has in one buffer; what else shares one is decided later. */
static void
join_pairs(Lives *lives)
{
	int n;
	const Pair *pairs = lives_pairs(lives, &n);

	for (int i = 0; i < n; i++)
		lives_join(lives, pairs[i].op->operands[pairs[i].i], pairs[i].with);
	for (int i = 0; i < lives->n; i++)
		if (op_is_joint(lives->step[i]))
			lives_join_parts(lives, lives->step[i]);
}

/* Bodies of fusions read nothing but what these are given. */
static void
find_users(Scheduling *s)
{
	for (int at = 0; at < s->lives->n; at++) {
		const Op *op = s->lives->step[at];
		for (int i = 0; i < op->noperands; i++) {
			User *user = NEW(s->arena, User);
			*user = (User){op, s->users[op->operands[i]->id]};
			s->users[op->operands[i]->id] = user;
		}
	}
}

/* All steps.  Of links that the same transfers use one is enough. */
static void
find_tasks(Scheduling *s, const Module *m)
{
	LinkMerge merge = {0};

	for (int i = 0; i < m->entry->nparams; i++)
		s->hosted |= m->entry->params[i]->hosted;
	for (int i = 0; i < s->lives->n; i++) {
		const Op *op = s->lives->step[i];
		s->tasks[i] = task_priced(s, op);
		s->hosted |= op_is_hosted(op);
		if (s->tasks[i].moves)
			links_note(&merge, s->tasks[i].links);
	}
	links_choose(&merge);
	for (int i = 0; i < s->lives->n; i++)
		if (s->tasks[i].moves)
			s->tasks[i].links = links_merged(&merge, s->tasks[i].links, s->arena);
}

Scheduling *
scheduling_new(Module *m, Arena *a)
{
	Scheduling *s = NEW(a, Scheduling);

	*s = (Scheduling){.nops = m->nops,
		.nvalues = m->nvalues,
		.lives = lives_find(m, a),
		.arena = a};
	join_pairs(s->lives);
	s->most = plan_most(s->lives);
	s->first = NEW_ARRAY(a, int, m->nops + 1);
	s->last = NEW_ARRAY(a, int, m->nops + 1);
	s->tasks = s->priced = NEW_ARRAY(a, Task, s->lives->n + 1);
	s->kept = NEW_ARRAY(a, int, m->nvalues + 1);
	s->splits = NEW_ARRAY(a, Split, m->nops + 1);
	s->users = NEW_ARRAY(a, User *, m->nvalues + 1);
	find_users(s);
	find_tasks(s, m);
	s->arena = arena_new();
	s->scratch = arena_new();
	return s;
}

void
scheduling_begin(Scheduling *s)
{
	arena_reset(s->arena);
	s->combines = false;
	s->written = NULL;
	s->nwritten = 0;
	s->needs = 0;
	s->changed = (Changed){.arena = s->arena};
}

void
scheduling_free(Scheduling *s)
{
	arena_free(s->arena);
	arena_free(s->scratch);
}
