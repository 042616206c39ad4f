/*
 * overlap_test.c - orders of small random graphs, against the best there is.
 *
 *   overlap_test [SEED [COUNT]]
 *
 * The best is found by trying: a prefix that takes as long as the best order so far is
 * not gone on with.  It takes as long as the longest chain of the same ops, or longer, and so
 * do the head, the time and the tail of each (cost/chains.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include "cost/chains.h"
#include "sched/overlap/overlap.h"

enum { MOST = 10, ROWS = 3 };

static int tests;
static bool failed;

static void
ok(bool good, const char *name)
{
	failed |= !good;
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static uint64_t state;

static int
draw(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (uint64_t)n);
}

static Task
random_task(Arena *a, bool moves)
{
	LinkSet *links = NEW(a, LinkSet);

	Task task = {.picoseconds = 1 + draw(moves ? 40 : 30), .moves = moves};

	if (!moves)
		return task;
	task.kind = TASK_start;
	task.shared = task.picoseconds - draw(2);
	task.links = links;
	links->row[draw(ROWS)] = 1;
	if (!draw(4))
		links->row[draw(ROWS)] = 1;
	return task;
}

/* A graph, and ops of which each reads what the same of its jobs need. */
typedef struct Program {
	Graph *graph;
	Session *session;
	Module *module;
	Op *ops[MOST];
	Task tasks[MOST];
	int n;
} Program;

static Op *
add_op(Module *m, OpKind kind, int n, Value *const *operands)
{
	Op *op = op_new(m, kind, n, operands, kind != O_return, NULL, nowhere, NULL);

	op_append(m->entry, op);
	return op;
}

/* Steps and transfers, of which a later one may need an earlier one. */
static Program
random_program(Arena *a, int steps)
{
	Graph *g = NEW(a, Graph);
	Session *session = session_new();
	Program p = {g, session, module_new(session, "random"), .n = steps};
	int last[MOST], first[MOST];

	*g = (Graph){.own = a, .arena = a, .jobs = NEW_ARRAY(a, Job, 2 * MOST)};
	for (int i = 0; i < steps; i++) {
		Task task = p.tasks[i] = random_task(a, draw(5) < 2);
		Value *needs[MOST];
		int n = 0;
		first[i] = last[i] = graph_add_job(g, NULL, task);
		if (task.moves) {
			g->jobs[g->n - 1].grows = draw(2);
			last[i] = graph_add_job(g, NULL, (Task){.kind = TASK_done});
			graph_add_edge(g, first[i], last[i]);
		}
		for (int k = 0; k < i; k++)
			if (!draw(3)) {
				graph_add_edge(g, last[k], first[i]);
				needs[n++] = p.ops[k]->results[0];
			}
		p.ops[i] = add_op(p.module, task.moves ? O_all_reduce : O_sort, n, needs);
	}
	add_op(p.module, O_return, 0, NULL);
	graph_find_paths(g);
	return p;
}

/* ---- the best ------------------------------------------------------------------------ */

typedef struct Search {
	Graph *graph;
	Task tasks[2 * MOST];
	int at[2 * MOST + 1];	 /* by number: its place */
	int waits[2 * MOST + 1]; /* ... jobs before it that are not in order */
	int n;
	int64_t best;
} Search;

/* Of the jobs in order the last has come to its end, transfers may go on. */
static int64_t
time_so_far(Search *search)
{
	Arena *a = arena_new();
	Tracks *tracks = tracks_new(a, NULL);

	for (int i = 0; i < search->n; i++)
		tracks_add(tracks, search->tasks, &search->tasks[i]);
	int64_t time = search->n == search->graph->n ? tracks_end(tracks) : tracks_now(tracks);
	arena_free(a);
	return time;
}

static void
search_on(Search *search)
{
	Graph *g = search->graph;
	int64_t time = time_so_far(search);

	if (time >= search->best)
		return;
	if (search->n == g->n)
		search->best = time;
	for (int i = 0; i < g->n && search->n < g->n; i++) {
		Job *job = &g->jobs[i];
		if (search->waits[job->number] || search->at[job->number])
			continue;
		Task *task = &search->tasks[search->n++];
		*task = job->task;
		if (task->kind == TASK_done)
			task->start = search->at[job->number - 1] - 1;
		search->at[job->number] = search->n;
		for (struct Edge *e = job->after; e; e = e->next)
			search->waits[e->to->number]--;
		search_on(search);
		for (struct Edge *e = job->after; e; e = e->next)
			search->waits[e->to->number]++;
		search->at[job->number] = 0;
		search->n--;
	}
}

static int64_t
best_time(Graph *g)
{
	Search search = {.graph = g, .best = INT64_MAX};

	for (int i = 0; i < g->n; i++)
		search.waits[i + 1] = g->jobs[i].before;
	search_on(&search);
	return search.best;
}

/* ---- no order takes less ----------------------------------------------------------------- */

static bool
takes_less(const Program *p, int64_t best)
{
	Arena *a = p->graph->arena;
	Module *m = p->module;

	module_number(m);
	int64_t *of[6]; /* by op id */
	for (int i = 0; i < 6; i++)
		of[i] = NEW_ARRAY(a, int64_t, m->nops + 1);
	int64_t *price = of[0], *carried = of[1], *heads = of[2], *tails = of[3];
	const LinkSet **moves = NEW_ARRAY(a, const LinkSet *, m->nops + 1);
	for (int i = 0; i < p->n; i++) {
		price[p->ops[i]->id] = p->tasks[i].picoseconds;
		carried[p->ops[i]->id] = p->tasks[i].shared;
		moves[p->ops[i]->id] = p->tasks[i].links;
	}
	const StepTimes times = {.picoseconds = price,
		.branch = NEW_ARRAY(a, int, m->nops + 1),
		.links = of[4],
		.moves = moves,
		.carried = carried};
	bool less = best < longest_chain(m, &times, heads, of[5], a);
	shortest_tails(m, &times, of[5], tails, a);
	for (int i = 0; i < p->n; i++) {
		int id = p->ops[i]->id;
		less |= best < heads[id] + price[id] + tails[id];
	}
	return less;
}

/* ---- orders --------------------------------------------------------------------------- */

static bool
is_an_order(const Graph *g, const Order *order)
{
	int *at = NEW_ARRAY(g->arena, int, g->n + 1);

	for (int i = 0; i < g->n; i++)
		at[order->jobs[i]->number] = i + 1;
	for (int i = 0; i < g->n; i++)
		for (const struct Edge *e = g->jobs[i].after; e; e = e->next)
			if (!at[i + 1] || at[i + 1] >= at[e->to->number])
				return false;
	return true;
}

/* ---- limits -------------------------------------------------------------------------- */

/* So many bytes, made of one value or two. */
static Value *
add_bytes(Module *m, OpKind kind, int64_t bytes, Value *x, Value *y)
{
	Op *op = op_new(m, kind, y ? 2 : 1, (Value *[]){x, y}, 1, NULL, nowhere, NULL);

	op->results[0]->type = type_of(D_i8, 1, &bytes);
	op_append(m->entry, op);
	return op->results[0];
}

/*
 * What a transfer moves may be there for a shorter time.
 *
 *   begin t 400   done t   a 800   b 100   y 50       a has t beside it
 *   begin t       a        b       done t  y          t may begin after a
 */
static void
test_held_least(void)
{
	Arena *a = arena_new();
	Session *session = session_new();
	Module *m = module_new(session, "held");
	Type type = type_of(D_i8, 1, &(int64_t){400});
	Value *x = block_add_param(m->entry, "x", &type);
	Value *t = add_bytes(m, O_all_reduce, 400, x, NULL);
	Value *made = add_bytes(m, O_sort, 800, x, NULL),
	      *b = add_bytes(m, O_sort, 100, made, NULL);
	Value *y = add_bytes(m, O_sort, 50, t, b);
	op_append(m->entry, op_new(m, O_return, 1, &y, 0, NULL, nowhere, NULL));
	module_number(m);
	int *places = NEW_ARRAY(a, int, m->nvalues), *numbers = NEW_ARRAY(a, int, m->nvalues);
	Graph g = {.own = a, .arena = a, .block = m->entry, .jobs = NEW_ARRAY(a, Job, 5)};
	graph_add_job(&g, t->def, (Task){.kind = TASK_start});
	graph_add_job(&g, t->def, (Task){.kind = TASK_done});
	graph_add_job(&g, made->def, (Task){0});
	graph_add_job(&g, b->def, (Task){0});
	graph_add_job(&g, y->def, (Task){0});
	for (int i = 0; i < m->nvalues; i++)
		places[i] = i;
	g.holds = held_new(&g, places, numbers);
	Job *j = g.jobs;
	Order early = {.jobs = (Job *[]){&j[0], &j[1], &j[2], &j[3], &j[4]}};
	Order late = {.jobs = (Job *[]){&j[0], &j[2], &j[3], &j[1], &j[4]}};
	ok(held_least(&g, &early) == 1200, "what no transfer moves is needed");
	ok(held_least(&g, &late) == 800, "... what one moves may give way");
	session_free(session);
	arena_free(a);
}

/* With a graph of its own for each nothing is known of orders that were given up. */
static bool
is_same_order(uint64_t seed, Graph *known, Taste taste, int ahead, int64_t within)
{
	Arena *a = arena_new();

	state = seed;
	Program program = random_program(a, 6);
	program.graph->ahead = known->ahead = ahead;
	const Order *was = list_schedule(listing_of(known), taste, within);
	const Order *is = list_schedule(listing_of(program.graph), taste, within);
	bool same = !was == !is && (!is || was->time == is->time);
	session_free(program.session);
	arena_free(a);
	return same;
}

static void
test_given_up(void)
{
	static const Taste tastes[] = {{FIRST_path, SHARE_soon, true, 0, 0},
		{FIRST_tail, SHARE_never, false, 0, 0},
		{FIRST_program, SHARE_always, false, 0, 0}};
	bool same = true;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		Arena *a = arena_new();
		state = seed;
		Program program = random_program(a, 6);
		Graph *g = program.graph;
		for (int i = 0; i < 90; i++) {
			int ahead = (int)(seed + (uint64_t)i * 7) % 5,
			    within = 20 + i * 37 % 90;
			same &= is_same_order(seed, g, tastes[i % 3], ahead, within);
		}
		same &= !list_schedule(listing_of(g), tastes[0], 1);
		g->arena = NULL; /* that an order would be made in */
		same &= !list_schedule(listing_of(g), tastes[0], 1);
		session_free(program.session);
		arena_free(a);
	}
	ok(same, "what was given up is not made again, and would be given up again");
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int count = argc > 2 ? atoi(argv[2]) : 2000, near = 0, orders = 0, less = 0;
	double worst = 1;

	state = seed;
	for (int i = 0; i < count; i++) {
		Arena *a = arena_new();
		Program program = random_program(a, 3 + draw(4));
		Graph *g = program.graph;
		Order order = best_order(g, FIRST_path, INT64_MAX), latest = order;
		begin_latest(g, &latest);
		int64_t best = best_time(g);
		double ratio = (double)latest.time / (double)best;
		orders += is_an_order(g, &order) && is_an_order(g, &latest)
			&& latest.time <= order.time && best <= latest.time;
		near += ratio <= 1.02;
		worst = ratio > worst ? ratio : worst;
		less += takes_less(&program, best);
		session_free(program.session);
		arena_free(a);
	}
	printf("# seed %llu: %d of %d within 2 %% of the best, the worst %.3f of it\n",
		(unsigned long long)seed, near, count, worst);
	ok(orders == count, "all are orders, no better than the best");
	ok(!less, "none takes less than its longest chain, a head or a tail says");
	ok(near >= count * 95 / 100, "19 of 20 are within 2 % of the best");
	ok(worst <= 1.15, "none is beyond 15 %");
	test_held_least();
	test_given_up();
	printf("1..%d\n", tests);
	return failed;
}
