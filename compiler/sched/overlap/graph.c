/*
 * graph.c - a block as a graph of nodes: what has to come before what.
 *
 * Values that share a buffer because the program says so (lives_pairs) keep their
 * order: all that read the one come before what writes the next.
 *
 *   carried %w   read by a, b        a -> c, b -> c
 *   returns %w2  made by c
 */
#include "cost/cost.h"
#include "cost/links.h"
#include "ir/flow.h"
#include "sched/overlap/overlap.h"

void
graph_add_edge(Graph *g, int from, int to)
{
	Node *nodes = g->nodes;

	if (!from || !to || from == to)
		return;
	struct Edge *edge = NEW(g->arena, struct Edge);
	*edge = (struct Edge){&nodes[to - 1], nodes[from - 1].after};
	nodes[from - 1].after = edge;
	nodes[to - 1].before++;
}

/* ---- nodes ---------------------------------------------------------------------- */

static Task
task_of(const Mesh *mesh, const Op *op, const int64_t *times)
{
	Task task = {.picoseconds = times[op->id]};
	StepCost cost;

	if (op->nbodies && !op_is_fusion(op))
		return task;
	cost = step_cost(mesh, op, NULL, NULL);
	task.picoseconds = op_is_step(op) ? picoseconds(cost.seconds) : 0;
	task.moves = op_communicates(op);
	if (!task.moves)
		return task;
	int64_t shared = picoseconds(cost.busy[RESOURCE_ici] + cost.busy[RESOURCE_dcn]);
	task.links = link_loads(mesh, op).used;
	task.shared = shared < task.picoseconds ? shared : task.picoseconds;
	return task;
}

int
graph_add_node(Graph *g, Op *op, Task task)
{
	Node *node = &g->nodes[g->n++];

	*node = (Node){.op = op, .task = task, .number = g->n};
	return g->n;
}

static void
add_nodes(Graph *g, Scheduling *s)
{
	const Mesh *mesh = &g->block->module->mesh;

	for (Op *op = g->block->first; op != g->block->last; op = op->next) {
		Task task = task_of(mesh, op, s->times);
		bool begins = task.moves && task.picoseconds > 0 && op->nresults == 1;
		task.kind = begins ? TASK_start : TASK_run;
		s->first[op->id] = s->last[op->id] = graph_add_node(g, op, task);
		if (!begins)
			continue;
		s->last[op->id] = graph_add_node(g, op, (Task){.kind = TASK_done});
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

/* All that read an earlier value of the buffer come before what writes a later one. */
static void
keep_order(Graph *g, const Scheduling *s, const Shared *buffer)
{
	const Block *b = g->block;
	const Op *writer = NULL;

	for (int i = 0, from = 0; i < buffer->n; i++) {
		const Op *next = writer_of(b, buffer->lives[i].value);
		if (!next || next == writer
			|| s->lives->root[buffer->lives[i].value->id] != buffer->lives[i].value)
			continue;
		for (; from < i; from++)
			for (const Reader *r = s->readers[buffer->lives[from].value->id]; r;
				r = r->next) {
				const Op *reader = within(b, r->op);
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
	const Block **kept = buffer ? &s->kept[buffer->lives[0].value->id] : NULL;

	if (!buffer || buffer->n < 2 || *kept == g->block)
		return;
	*kept = g->block;
	keep_order(g, s, buffer);
}

/* Fences of one place are one: all that they wait for comes before all of them. */
static void
join_fences(Graph *g, const Scheduling *s, const Op *op)
{
	const Op *first = op;

	while (first->prev && first->prev->kind == O_fence
		&& first->prev->range.begin == op->range.begin
		&& first->prev->range.line == op->range.line)
		first = first->prev;
	if (first == op)
		return;
	graph_add_edge(g, s->first[first->id], s->first[op->id]);
	if (op->operands[0]->def && s->first[op->operands[0]->def->id] < s->first[first->id])
		graph_add_edge(g, s->last[op->operands[0]->def->id], s->first[first->id]);
}

static void
add_edges(Graph *g, Scheduling *s)
{
	const Block *b = g->block;

	for (const Op *op = b->first; op != b->last; op = op->next)
		if (op->kind == O_fence)
			join_fences(g, s, op);
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

/* From the end: a path begins with the node itself. */
void
graph_find_paths(Graph *g)
{
	for (int i = g->n - 1; i >= 0; i--) {
		Node *node = &g->nodes[i];
		int64_t longest = 0;
		for (const struct Edge *e = node->after; e; e = e->next)
			longest = e->to->path > longest ? e->to->path : longest;
		node->path = add_picoseconds(longest, node->task.picoseconds);
	}
}

Graph *
graph_of(Block *b, Scheduling *s)
{
	Graph *g = NEW(s->arena, Graph);
	int nops = 0;

	for (const Op *op = b->first; op; op = op->next)
		nops++;
	*g = (Graph){.arena = s->arena,
		.block = b,
		.nodes = NEW_ARRAY(s->arena, Node, 2 * nops + 1)};
	add_nodes(g, s);
	add_edges(g, s);
	graph_find_paths(g);
	return g;
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
}

Scheduling *
scheduling_new(Module *m, Arena *a)
{
	Scheduling *s = NEW(a, Scheduling);

	*s = (Scheduling){.arena = a, .lives = lives_find(m, a)};
	join_pairs(s->lives);
	s->first = NEW_ARRAY(a, int, m->nops + 1);
	s->last = NEW_ARRAY(a, int, m->nops + 1);
	s->times = NEW_ARRAY(a, int64_t, m->nops + 1);
	s->readers = NEW_ARRAY(a, Reader *, m->nvalues + 1);
	s->kept = NEW_ARRAY(a, const Block *, m->nvalues + 1);
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++) {
			Reader *reader = NEW(a, Reader);
			*reader = (Reader){op, s->readers[op->operands[i]->id]};
			s->readers[op->operands[i]->id] = reader;
		}
	return s;
}
