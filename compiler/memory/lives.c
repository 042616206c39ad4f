/*
 * lives.c - lifetimes: a fused program is a line of steps, and a value lives
 * from the step that writes it to the last that reads it.
 *
 *   0  %h = fusion(%x)            x: -1 to 1     x and h are in two buffers,
 *   1  %y = fusion(%h, %x)        h: 0 to 1      y may be written over either
 *   2  return %y                  y: 1 to 3      if read at that element only
 *
 * A loop or branch stands where it begins, then come the steps of its bodies,
 * each with its return.  What a loop carries is written anew each round; what
 * it hands on lives until it ends.  Of two branches one runs: what the first
 * leaves in a buffer is nothing to the second.
 */
#include <string.h>
#include "memory/lives.h"

/* ---- steps ------------------------------------------------------------------ */

static void
add_steps(Lives *l, Block *b)
{
	for (Op *op = b->first; op; op = op->next) {
		l->at[op->id] = l->n;
		l->step[l->n++] = op;
		for (int i = 0; i < op->nbodies && op->kind != O_fusion; i++)
			add_steps(l, op->bodies[i]);
	}
}

static int
end_of(const Lives *l, const Block *b)
{
	return l->at[b->last->id];
}

/* ---- lifetimes ---------------------------------------------------------------- */

static void
begin(Lives *l, const Value *v, int from, const Value *root)
{
	l->life[v->id] = (Life){from, from, v};
	l->root[v->id] = root;
}

static void
extend(Lives *l, const Value *v, int to)
{
	Life *life = &l->life[v->id];

	if (life->to < to)
		life->to = to;
}

static void
begin_params(Lives *l, const Op *op, int first)
{
	for (int i = first; i < op->noperands; i++) {
		const Value *around = l->root[op->operands[i]->id];
		for (int b = 0; b < 2; b++) {
			const Value *param = op->bodies[b]->params[i - first];
			bool carried = op->kind == O_while && !loop_hands_on(op, i);
			int from = op->kind == O_if && b ? end_of(l, op->bodies[0])
							 : l->at[op->id];
			begin(l, param, from, carried ? op->bodies[1]->params[i] : around);
		}
	}
}

static void
begin_results(Lives *l, const Op *op)
{
	int at = op->nbodies == 2 ? end_of(l, op->bodies[1]) : l->at[op->id];

	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i], *root = v;
		if (op->kind == O_reshape)
			root = l->root[op->operands[0]->id];
		if (op->kind == O_while)
			root = l->root[op->bodies[1]->params[i]->id];
		if (op_is_offset(op))
			root = NULL;
		begin(l, v, at, root);
	}
}

static void
find_lives(Lives *l, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		int at = l->at[op->id];
		for (int i = 0; i < op->noperands; i++)
			extend(l, op->operands[i], b->parent || op->next ? at : l->n);
		if (op->nbodies == 2) {
			begin_params(l, op, op->kind == O_if);
			find_lives(l, op->bodies[0]);
			find_lives(l, op->bodies[1]);
		}
		/* The result, if this was the last round. */
		for (int i = 0; op->kind == O_while && i < op->noperands; i++)
			extend(l, op->bodies[1]->params[i], end_of(l, op->bodies[0]));
		begin_results(l, op);
	}
}

/* ---- conflicts ----------------------------------------------------------------- */

bool
op_changes(const Op *op)
{
	return op->kind == O_dynamic_update_slice || op->kind == O_scatter_add;
}

int
op_base(const Op *op)
{
	if (op->kind != O_fusion)
		return op_communicates(op) ? collectives[op->kind].base : -1;
	const Op *root = op->bodies[0]->last->operands[0]->def;
	return root && op_changes(root) ? root->operands[0]->index : -1;
}

static bool
may_overwrite(const Op *op, int i)
{
	if (op->kind == O_fusion)
		return ints_contain(op_ints(op, A_in_place), i);
	return (op_communicates(op) && collectives[op->kind].in_place) || op->kind == O_output
		|| op_base(op) == i;
}

bool
lives_may_overwrite(const Op *op, const Value *x, const Value *v)
{
	const Op *parent = op->block->parent;
	bool may = false;

	if (op->kind == O_while)
		return !v->def && v->block->parent == op && op->operands[v->index] == x;
	if (op->kind == O_return && parent)
		return v->def == parent ? op->operands[v->index] == x
					: !v->def && v->block->parent == parent;
	if (v->def != op)
		return false;
	for (int i = 0; i < op->noperands; i++) {
		if (op->operands[i] != x)
			continue;
		if (!may_overwrite(op, i) || (op->nresults > 1 && i != v->index))
			return false;
		may = true;
	}
	return may;
}

static bool
conflict(const Lives *l, const Life *a, const Life *b)
{
	if (l->root[a->value->id] == l->root[b->value->id])
		return false;
	if (a->from > b->from)
		return conflict(l, b, a);
	if (a->from == b->from || b->from < a->to)
		return true;
	return b->from == a->to && !lives_may_overwrite(l->step[a->to], a->value, b->value);
}

/* How many lives of a buffer begin no later than a step. */
static int
begun(const Shared *s, int step)
{
	int low = 0, high = s->n;

	while (low < high) {
		int middle = low + (high - low) / 2;
		if (s->lives[middle].from > step)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool
conflicts(const Lives *l, const Shared *s, const Life *b)
{
	for (int i = begun(s, b->to) - 1; i >= 0 && s->latest[i] >= b->from; i--)
		if (conflict(l, &s->lives[i], b))
			return true;
	return false;
}

/* ---- buffers ------------------------------------------------------------------- */

static void
put(Arena *a, Shared *s, const Life *life)
{
	int at = begun(s, life->from);

	if (s->n == s->room) {
		Shared old = *s;
		s->room = 2 * s->n + 1;
		s->lives = NEW_ARRAY(a, Life, s->room);
		s->latest = NEW_ARRAY(a, int, s->room);
		if (s->n) {
			memcpy(s->lives, old.lives, (size_t)s->n * sizeof *s->lives);
			memcpy(s->latest, old.latest, (size_t)s->n * sizeof *s->latest);
		}
	}
	memmove(&s->lives[at + 1], &s->lives[at], (size_t)(s->n - at) * sizeof *s->lives);
	s->lives[at] = *life;
	s->n++;
	for (int i = at; i < s->n; i++) {
		int to = s->lives[i].to, before = i ? s->latest[i - 1] : to;
		s->latest[i] = to > before ? to : before;
	}
}

static void
merge(Lives *l, Shared *into, const Shared *from)
{
	for (int i = 0; i < from->n; i++) {
		put(l->arena, into, &from->lives[i]);
		l->shared[from->lives[i].value->id] = into;
	}
}

bool
lives_join(Lives *l, const Value *x, const Value *y)
{
	Shared *a = l->shared[x->id], *b = l->shared[y->id];

	if (!a || !b)
		return false;
	if (a->n < b->n) {
		Shared *larger = b;
		b = a;
		a = larger;
	}
	if (a == b)
		return true;
	if (type_bytes(&x->type) != type_bytes(&y->type))
		return false;
	for (int i = 0; i < b->n; i++)
		if (conflicts(l, a, &b->lives[i]))
			return false;
	merge(l, a, b);
	return true;
}

/* Nothing is kept of what a sort makes, or a branch is given, for nobody. */
static bool
is_wanted(const Value *v, const Life *life)
{
	const Op *op = v->def ? v->def : v->block->parent;

	return life->to > life->from || !op || op->kind != (v->def ? O_sort : O_if);
}

static void
share(Value *v, void *data)
{
	Lives *l = data;
	const Value *root = l->root[v->id];

	if (!root || !is_wanted(v, &l->life[v->id]))
		return;
	if (!l->shared[root->id])
		l->shared[root->id] = NEW(l->arena, Shared);
	l->shared[v->id] = l->shared[root->id];
	put(l->arena, l->shared[v->id], &l->life[v->id]);
}

Lives *
lives_find(Module *m, Arena *a)
{
	Lives *l = NEW(a, Lives);

	module_number(m);
	*l = (Lives){.module = m,
		.arena = a,
		.step = NEW_ARRAY(a, Op *, m->nops + 1),
		.at = NEW_ARRAY(a, int, m->nops + 1),
		.life = NEW_ARRAY(a, Life, m->nvalues + 1),
		.root = NEW_ARRAY(a, const Value *, m->nvalues + 1),
		.shared = NEW_ARRAY(a, Shared *, m->nvalues + 1)};
	add_steps(l, m->entry);
	for (int i = 0; i < m->entry->nparams; i++)
		begin(l, m->entry->params[i], -1, m->entry->params[i]);
	find_lives(l, m->entry);
	module_walk_values(m, share, l);
	return l;
}

/* ---- pairs ---------------------------------------------------------------------- */

static void
add_pair(const Lives *l, Pair **pairs, int *n, Op *op, int i, Value *with)
{
	APPEND(l->arena, *pairs, *n, ((Pair){op, i, with}));
}

/* What is copied each round counts most, then what a branch copies. */
Pair *
lives_pairs(const Lives *l, int *n)
{
	Pair *pairs = NULL;

	*n = 0;
	for (int s = 0; s < l->n; s++) {
		Op *op = l->step[s];
		for (int i = 0; op->kind == O_while && i < op->noperands; i++)
			if (!loop_hands_on(op, i))
				add_pair(l, &pairs, n, op->bodies[1]->last, i,
					op->bodies[1]->params[i]);
	}
	for (int s = 0; s < l->n; s++) {
		Op *op = l->step[s], *parent = op->block->parent;
		bool branch = op->kind == O_return && parent && parent->kind == O_if;
		for (int i = 0; branch && i < op->noperands; i++)
			add_pair(l, &pairs, n, op, i, parent->results[i]);
	}
	for (int s = 0; s < l->n; s++) {
		Op *op = l->step[s];
		for (int i = 0; op->kind == O_while && i < op->noperands; i++)
			if (!loop_hands_on(op, i))
				add_pair(l, &pairs, n, op, i, op->bodies[1]->params[i]);
		if (op_base(op) >= 0)
			add_pair(l, &pairs, n, op, op_base(op), op->results[0]);
		for (int i = 0; op->kind == O_fusion && op->nresults > 1 && i < 2; i++)
			add_pair(l, &pairs, n, op, i, op->results[i]);
	}
	return pairs;
}
