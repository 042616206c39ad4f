/*
 * flow_test.c - flows of bodies, and the solver for facts.
 *
 * Random programs of calls, branches and loops in each other: the facts of
 * every value are those found by going over the program until nothing changes,
 * with what flows where written out here once more.
 */
#include <stdlib.h>
#include "ir/flow.h"

enum { PROGRAMS = 1000, MOST_OPS = 7, MOST_DEPTH = 4, MOST_CARRIED = 4 };

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static uint64_t random_state;

static int
draw(int n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (int)(random_state >> 33) % n;
}

/* ---- programs ------------------------------------------------------- */

static Op *
add_op(Block *b, OpKind kind, int n, Value *const *operands, int nresults)
{
	Op *op = op_new(b->module, kind, n, operands, nresults, NULL, (Range){0}, NULL);

	op_append(b, op);
	return op;
}

static void
add_bodies(Op *op)
{
	op->nbodies = ops[op->kind].bodies;
	op->bodies = NEW_ARRAY(op->module->arena, Block *, op->nbodies + 1);
	for (int i = 0; i < op->nbodies; i++) {
		op->bodies[i] = block_new(op->module, op);
		for (int k = op->kind == O_if; k < op->noperands; k++)
			block_add_param(op->bodies[i], "p", &(Type){0});
	}
}

typedef struct Values {
	int n;
	Value **v;
} Values;

static void
see(Arena *a, Values *seen, int n, Value *const *more)
{
	for (int i = 0; i < n; i++)
		APPEND(a, seen->v, seen->n, more[i]);
}

static Value **
draw_values(Arena *a, const Values *seen, int n)
{
	Value **v = NEW_ARRAY(a, Value *, n + 1);

	for (int i = 0; i < n; i++)
		v[i] = seen->v[draw(seen->n)];
	return v;
}

/* Ops on what the block has, then a return of `nreturned`. */
static void
fill(Block *b, int depth, int nreturned)
{
	static const OpKind with_bodies[] = {O_call, O_manual, O_if, O_while};
	Arena *a = b->module->arena;
	Values seen = {0};

	see(a, &seen, b->nparams, b->params);
	see(a, &seen, 1, add_op(b, O_partition_id, 0, NULL, 1)->results);
	for (int i = draw(MOST_OPS); i >= 0; i--) {
		bool plain = !depth || draw(3);
		OpKind kind = plain ? O_sort : with_bodies[draw(4)];
		int n = 1 + draw(MOST_CARRIED);
		int nresults = kind == O_while ? n : 1 + draw(MOST_CARRIED);
		Op *op = add_op(b, kind, n, draw_values(a, &seen, n), nresults);
		if (!plain)
			add_bodies(op);
		for (int k = 0; k < op->nbodies; k++)
			fill(op->bodies[k], depth - 1,
				kind == O_while && k == LOOP_CONDITION ? 1 : nresults);
		see(a, &seen, nresults, op->results);
	}
	add_op(b, O_return, nreturned, draw_values(a, &seen, nreturned), 0);
}

/* ---- facts: some that an op makes, and some that it does not let through */

enum { NFACTS = 8, EVERY_FACT = (1 << NFACTS) - 1 };

static Facts
mixed(int64_t id, int salt)
{
	uint64_t x = (uint64_t)(id + 1) * 0x9e3779b97f4a7c15u + (uint64_t)salt;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return (x ^ x >> 32) & EVERY_FACT;
}

/* One op in three makes one fact. */
static Facts
makes(const Op *op)
{
	return mixed(op->id, 1) % 3 ? 0 : (Facts)1 << mixed(op->id, 2) % NFACTS;
}

static Facts
lets_through(int id)
{
	return mixed(id, 3) | mixed(id, 4);
}

static void
do_op(Dataflow *d, const Op *op)
{
	int *looks = d->data;
	Facts all = 0;

	*looks += op->noperands + 1;
	for (int i = 0; i < op->noperands && !op->nbodies; i++)
		all |= d->of[op->operands[i]->id];
	all = (all & lets_through(op->id)) | makes(op);
	for (int i = 0; i < op->nresults; i++)
		dataflow_add(d, op->results[i], all);
}

static Facts
along(const Dataflow *d, const Flow *f)
{
	return d->of[f->from->id] & lets_through(f->to->id);
}

/* ---- the same by brute force ---------------------------------------- */

typedef struct Reference {
	Facts *of;
	bool along, decided, changed;
} Reference;

static void
put(Reference *r, const Value *v, Facts more)
{
	r->changed |= more & ~r->of[v->id];
	r->of[v->id] |= more;
}

static void
go(Reference *r, const Value *from, const Value *to)
{
	put(r, to, r->of[from->id] & (r->along ? lets_through(to->id) : EVERY_FACT));
}

static void
decide(Reference *r, const Value *decision, const Value *v)
{
	if (r->decided)
		put(r, v, r->of[decision->id]);
}

static void
reference_body(Reference *r, const Op *op, const Block *b, int first)
{
	for (int i = 0; i < b->nparams; i++)
		go(r, op->operands[first + i], b->params[i]);
	for (int i = 0; i < op->nresults; i++) {
		go(r, b->last->operands[i], op->results[i]);
		if (first)
			decide(r, op->operands[0], op->results[i]);
	}
}

static void
reference_loop(Reference *r, const Op *op)
{
	const Block *condition = op->bodies[0], *body = op->bodies[1];

	for (int i = 0; i < op->nresults; i++) {
		Value *const carried[] = {condition->params[i], body->params[i],
			op->results[i]};
		for (int k = 0; k < 3; k++) {
			go(r, op->operands[i], carried[k]);
			go(r, body->last->operands[i], carried[k]);
			decide(r, condition->last->operands[0], carried[k]);
		}
	}
}

static void
reference_op(Reference *r, Op *op)
{
	Facts all = 0;

	for (int i = 0; i < op->noperands && !op->nbodies; i++)
		all |= r->of[op->operands[i]->id];
	for (int i = 0; i < op->nresults; i++)
		put(r, op->results[i], (all & lets_through(op->id)) | makes(op));
	if (op->kind == O_while)
		reference_loop(r, op);
	else
		for (int i = 0; i < op->nbodies; i++)
			reference_body(r, op, op->bodies[i], op->kind == O_if);
}

/* ---- tests ---------------------------------------------------------- */

/* Bit 0: some fact differs; 1: some op was looked at too often. */
static int
compare(uint64_t seed, bool with_along, bool decided)
{
	Session *s = session_new();
	Module *m = module_new(s, "random");
	int looks = 0, most = 0, wrong = 0;

	random_state = seed;
	fill(m->entry, MOST_DEPTH, 1);
	module_number(m);
	Dataflow d = {.op = do_op,
		.along = with_along ? along : NULL,
		.decided = decided,
		.data = &looks};
	dataflow_solve(&d, m->arena, m->entry);
	Reference r = {.of = NEW_ARRAY(m->arena, Facts, m->nvalues + 1),
		.along = with_along,
		.decided = decided,
		.changed = true};
	while (r.changed) {
		r.changed = false;
		for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
			reference_op(&r, op);
	}
	for (int i = 0; i < m->nvalues; i++)
		wrong |= d.of[i] != r.of[i];
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		most += (op->noperands + 1) * (1 + NFACTS * op->noperands);
	session_free(s);
	return wrong | (looks > most) << 1;
}

static void
check_random(bool with_along, bool decided, const char *name)
{
	int wrong = 0;

	for (int i = 0; i < PROGRAMS && !wrong; i++) {
		wrong = compare((uint64_t)i, with_along, decided);
		if (wrong)
			printf("# program %d: %s\n", i,
				wrong & 1 ? "other facts" : "too many looks");
	}
	ok(!wrong, name);
}

static bool
same_flow(const Flow *f, const Flow *g)
{
	return f->op == g->op && f->kind == g->kind && f->index == g->index
		&& f->from == g->from && f->to == g->to && f->user == g->user
		&& f->operand == g->operand && f->user->operands[f->operand] == f->from;
}

/* Every flow of an op is one of those to its target and one of those from its
   operand; there are no others. */
static bool
ends_are_right(Op *op)
{
	bool right = true;
	int n = 0, from = 0;

	for (Flow f = {.op = op}; flow_next(&f); n++) {
		int found = 0;
		for (Flow g = {.to = f.to}; flow_next_to(&g);)
			found += same_flow(&f, &g);
		for (Flow g = {.user = f.user, .operand = f.operand}; flow_next_from(&g);)
			found += same_flow(&f, &g);
		right &= found == 2;
	}
	for (int i = 0; i < op->noperands; i++)
		for (Flow f = {.user = op, .operand = i}; flow_next_from(&f);)
			from += op->kind != O_return;
	for (int b = 0; b < op->nbodies; b++)
		for (int i = 0; i < op->bodies[b]->last->noperands; i++)
			for (Flow f = {.user = op->bodies[b]->last, .operand = i};
				flow_next_from(&f);)
				from++;
	return right && from == n;
}

static void
check_walks(void)
{
	Session *s = session_new();
	Module *m = module_new(s, "walks");
	bool right = true;

	random_state = 1;
	for (int i = 0; i < 100; i++) {
		m->entry = block_new(m, NULL);
		fill(m->entry, MOST_DEPTH, 1);
		for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
			right &= ends_are_right(op);
	}
	ok(right, "flows of an op, to a value and from an operand are the same");
	session_free(s);
}

static void
count_calls(Dataflow *d, const Op *op)
{
	++*(int *)d->data;
	if (!op->noperands)
		dataflow_add(d, op->results[0], 1);
}

/* What the last of a thousand carried values gets takes as many rounds to come
   to the first, and each of forty loops is in the next. */
static void
check_linear(void)
{
	enum { CARRIED = 1000, DEPTH = 40 };
	Session *s = session_new();
	Module *m = module_new(s, "linear");
	Block *b = m->entry;
	Value **next = NEW_ARRAY(m->arena, Value *, CARRIED);
	Value **given = NEW_ARRAY(m->arena, Value *, CARRIED);
	int calls = 0;
	bool all = true;

	for (int i = 0; i < CARRIED; i++)
		given[i] = block_add_param(b, "x", &(Type){0});
	for (int depth = 0; depth < DEPTH; depth++) {
		Op *loop = add_op(b, O_while, CARRIED, given, CARRIED);
		add_bodies(loop);
		add_op(loop->bodies[0], O_return, 1, loop->bodies[0]->params, 0);
		add_op(b, O_return, CARRIED, loop->results, 0);
		b = loop->bodies[1];
		given = b->params;
	}
	for (int i = 0; i + 1 < CARRIED; i++)
		next[i] = given[i + 1];
	next[CARRIED - 1] = add_op(b, O_partition_id, 0, NULL, 1)->results[0];
	add_op(b, O_return, CARRIED, next, 0);
	module_number(m);
	Dataflow d = {.op = count_calls, .data = &calls};
	dataflow_solve(&d, m->arena, m->entry);
	for (int i = 0; i < CARRIED; i++)
		all &= d.of[m->entry->first->results[i]->id] == 1;
	ok(all, "a fact goes round as often as it has to");
	ok(calls <= 2 * DEPTH * CARRIED, "and no use is looked at twice for it");
	session_free(s);
}

int
main(void)
{
	check_walks();
	check_random(false, false, "facts of random programs");
	check_random(true, false, "... of which some do not go along");
	check_random(true, true, "... and some come from decisions");
	check_linear();
	printf("1..%d\n", tests);
	return 0;
}
