/*
 * lives.c - lifetimes: a fused program is a line of steps, and a value lives
 * from the step that writes it to the last that reads it.
 *
 *   0  %h = fusion(%x)            x: -1 to 1     x and h are in two buffers,
 *   1  %y = fusion(%h, %x)        h: 0 to 1      y may be written over either
 *   2  return %y                  y: 1 to 3      if read at that element only
 *
 * What a collective that is asynchronous reads and writes, it does until it is
 * done.  A loop or branch stands where it begins, then come the steps of its bodies,
 * each with its return.  What a loop carries is written anew each round; what
 * it hands on lives until it ends.  Of two branches one runs: what the first
 * leaves in a buffer is nothing to the second.
 *
 * The operands of a concatenation that stands by itself, a joint, lie in its result:
 *
 *   0  %a = dot(%x, %v)           bytes 0 to 63     of the buffer of %y
 *   1  %b = dot(%x, %w)           bytes 64 to 127
 *   2  %y = concatenate(%a, %b)   nothing to do
 *
 * Each has a buffer of its own (Shared) that is a range of that of %y: what is in the one is in
 * the way of what is in the other, but %a is not in that of %y, of which it is a part.
 *
 * A slice that stands by itself, a strip, is a name of a part of its operand: that is there as
 * long as the slice is read, and nothing is put in the slice's place but what is put in that.
 */
#include <stdlib.h>
#include <string.h>
#include "ir/flow.h"
#include "memory/lives.h"
#include "memory/strips.h"

/* ---- steps ------------------------------------------------------------------ */

static void
add_steps(Lives *l, Block *b)
{
	for (Op *op = b->first; op; op = op->next) {
		l->at[op->id] = l->n;
		l->step[l->n++] = op;
		for (int i = 0; i < op->nbodies && !op_is_fusion(op); i++) {
			l->bodies = true;
			add_steps(l, op->bodies[i]);
		}
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

/* A collective reads until it is done; what it changes a part of is its result. */
static void
extend_read(Lives *l, const Op *start, int to)
{
	for (int i = 0; i < start->noperands; i++)
		if (i != op_base(start))
			extend(l, start->operands[i], to);
}

static void
find_lives(Lives *l, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		int at = l->at[op->id], end = at;
		for (int i = 0; i < op->noperands; i++)
			extend(l, op->operands[i], b->parent || op->next ? at : l->n);
		if (op->kind == O_done)
			extend_read(l, op->operands[0]->def, at);
		for (Flow f = {.op = op}; op->nbodies == 2 && flow_next(&f);) {
			bool second = op_is_branch(op) && f.to->block == op->bodies[1];
			bool carried = op_is_loop(op) && !loop_hands_on(op, f.index);
			if (f.kind == FLOW_in)
				begin(l, f.to, second ? end_of(l, op->bodies[0]) : at,
					carried ? op->bodies[LOOP_BODY]->params[f.index]
						: l->root[f.from->id]);
		}
		for (int i = 0; i < op->nbodies && !op_is_fusion(op); i++) {
			find_lives(l, op->bodies[i]);
			end = end_of(l, op->bodies[i]);
		}
		for (int i = 0; i < op->nresults; i++) {
			const Value *v = op->results[i], *root = op_is_offset(op) ? NULL : v;
			if (op_is_name(op) || op->kind == O_done)
				root = l->root[op->operands[0]->id];
			if (op_is_loop(op)) {
				/* The result, if this was the last round. */
				const Value *carried = op->bodies[LOOP_BODY]->params[i];
				extend(l, carried, end_of(l, op->bodies[LOOP_CONDITION]));
				root = l->root[carried->id];
			}
			begin(l, v, end, root);
		}
	}
}

/* ---- conflicts ----------------------------------------------------------------- */

int
op_base(const Op *op)
{
	if (!op_is_fusion(op))
		return op_communicates(op) ? collectives[op->kind].base : -1;
	const Op *root = op->bodies[0]->last->operands[0]->def;
	return root && op_changes(root) ? root->operands[0]->index : -1;
}

bool
lives_may_overwrite(const Op *op, const Value *x, const Value *v)
{
	const Op *parent = op->block->parent;
	bool any =
		op_is_identity(op) || (op_communicates(op) && collectives[op->kind].in_place);
	bool may = false;

	if (value_is_strip(x) || op_is_hosted(op))
		return false;
	if (op_is_loop(op))
		return !v->def && v->block->parent == op && op->operands[v->index] == x;
	if (op == op->block->last && parent)
		return v->def == parent ? op->operands[v->index] == x
					: !v->def && v->block->parent == parent;
	for (int i = 0; i < op->noperands && v->def == op; i++) {
		bool over = op_is_fusion(op) ? ints_contain(op_ints(op, A_in_place), i)
					     : any || op_base(op) == i;
		if (op->operands[i] != x)
			continue;
		if (!over || (op->nresults > 1 && i != v->index))
			return false;
		may = true;
	}
	return may;
}

/* Are the elements of x some of y's, in the same place? */
static bool
is_some_of(const Lives *l, const Value *x, const Value *y)
{
	const Value *root = l->root[x->id];

	while (root && root != l->root[y->id])
		root = l->whole[root->id];
	return root != NULL;
}

/* `same`: would both begin at the same byte? */
static bool
conflict(const Lives *l, const Life *x, const Life *y, bool same)
{
	if (is_some_of(l, x->value, y->value) || is_some_of(l, y->value, x->value))
		return false;
	if (x->from > y->from)
		return conflict(l, y, x, same);
	if (x->from == y->from || y->from < x->to)
		return true;
	return y->from == x->to
		&& !(same && lives_may_overwrite(l->step[x->to], x->value, y->value));
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

/* The one that lasts longest first: of a tensor that is read to the end under many
   names the names need not be looked at. */
static bool
conflicts(const Lives *l, const Shared *s, const Life *life, bool same)
{
	int i = begun(s, life->to) - 1;

	if (i >= 0 && conflict(l, &s->lives[s->longest[i]], life, same))
		return true;
	for (; i >= 0 && s->lives[s->longest[i]].to >= life->from; i--)
		if (conflict(l, &s->lives[i], life, same))
			return true;
	return false;
}

static bool
meet(const Lives *l, const Shared *s, const Shared *other, bool same)
{
	for (int i = 0; i < other->n; i++)
		if (conflicts(l, s, &other->lives[i], same))
			return true;
	return false;
}

/* ... or s and a range of the other do. */
static bool
meet_parts(const Lives *l, const Shared *s, const Shared *other, bool same)
{
	bool any = meet(l, s, other, same);

	for (const Shared *part = other->parts; part && !any; part = part->next)
		any = meet_parts(l, s, part, false);
	return any;
}

/* ... or ranges of both do. */
static bool
meet_all(const Lives *l, const Shared *s, const Shared *other, bool same)
{
	bool any = meet_parts(l, s, other, same);

	for (const Shared *part = s->parts; part && !any; part = part->next)
		any = meet_all(l, part, other, false);
	return any;
}

/* Does s meet that buffer, or those of which it is a range? */
static bool
meet_around(const Lives *l, const Shared *around, const Shared *s)
{
	while (around && !meet_parts(l, around, s, false))
		around = around->within;
	return around != NULL;
}

/* ---- buffers ------------------------------------------------------------------- */

static void
put(Arena *a, Shared *s, const Life *life)
{
	int at = begun(s, life->from);

	if (!s->room) {
		s->room = 1;
		s->lives = &s->one;
		s->longest = &s->is_longest;
	} else if (s->n == s->room) {
		Shared old = *s;
		s->room = 2 * s->n + 1;
		s->lives = NEW_ARRAY(a, Life, s->room);
		s->longest = NEW_ARRAY(a, int, s->room);
		memcpy(s->lives, old.lives, (size_t)s->n * sizeof *s->lives);
		memcpy(s->longest, old.longest, (size_t)s->n * sizeof *s->longest);
	}
	memmove(&s->lives[at + 1], &s->lives[at], (size_t)(s->n - at) * sizeof *s->lives);
	s->lives[at] = *life;
	s->n++;
	for (int i = at; i < s->n; i++) {
		int before = i ? s->longest[i - 1] : i;
		s->longest[i] = s->lives[i].to > s->lives[before].to ? i : before;
	}
}

/* What is in the one is in the other from now on. */
static void
unite(Lives *l, Shared *into, Shared *from)
{
	Shared **link = &into->parts;

	into->mixed = true;
	for (int i = 0; i < from->n; i++) {
		put(l->arena, into, &from->lives[i]);
		l->shared[from->lives[i].value->id] = into;
	}
	while (*link)
		link = &(*link)->next;
	*link = from->parts;
	for (Shared *part = from->parts; part; part = part->next)
		part->within = into;
	if (!from->within)
		return;
	for (link = &from->within->parts; *link != from;)
		link = &(*link)->next;
	*link = into;
	into->within = from->within;
	into->at = from->at;
	into->next = from->next;
}

bool
lives_join(Lives *l, const Value *x, const Value *y)
{
	Shared *into = l->shared[x->id], *from = l->shared[y->id];

	if (!into || !from)
		return false;
	if (into->n < from->n) {
		Shared *larger = from;
		from = into;
		into = larger;
	}
	if (into == from)
		return true;
	if (type_bytes(&x->type) != type_bytes(&y->type) || (into->within && from->within)
		|| value_is_strip(x) || value_is_strip(y))
		return false;
	if (meet_all(l, into, from, true) || meet_around(l, into->within, from)
		|| meet_around(l, from->within, into))
		return false;
	unite(l, into, from);
	return true;
}

/* What dies in a range of a larger buffer would keep all of that. */
void
lives_join_dying(Lives *l, const Op *op, const bool *apart)
{
	for (int i = 0; i < op->nresults; i++)
		for (int k = 0; k < op->noperands; k++) {
			const Value *x = op->operands[k], *v = op->results[i];
			const Shared *from = l->shared[x->id], *to = l->shared[v->id];
			if (from && to && l->life[x->id].to == l->at[op->id]
				&& lives_may_overwrite(op, x, v)
				&& !(apart && apart[l->root[x->id]->id])
				&& (!from->within || to->within) && lives_join(l, x, v))
				break;
		}
}

/* ---- joints ------------------------------------------------------------------------ */

/* Parameters are where a caller puts them. */
static bool
may_be_part(const Shared *s)
{
	bool may = s->lives[0].from >= 0;

	for (const Shared *part = s->parts; part && may; part = part->next)
		may = may_be_part(part);
	return may;
}

static bool
put_within(Lives *l, const Op *joint, int i)
{
	const Value *x = joint->operands[i], **whole = &l->whole[l->root[x->id]->id];
	Shared *around = l->shared[joint->results[0]->id], *part = l->shared[x->id];

	if (!around || !part || part == around || part->within || !may_be_part(part))
		return false;
	*whole = joint->results[0];
	part->within = meet_around(l, around, part) ? NULL : around;
	if (!part->within)
		*whole = NULL;
	return part->within;
}

bool
lives_join_parts(Lives *l, const Op *joint)
{
	int64_t at = type_stored(&joint->results[0]->type);
	int n = 0;

	while (op_is_in_ranges(joint) && n < joint->noperands && put_within(l, joint, n))
		n++;
	bool all = n == joint->noperands;
	while (n > 0) {
		const Value *x = joint->operands[--n];
		Shared *part = l->shared[x->id];
		if (!all) {
			part->within = NULL;
			l->whole[l->root[x->id]->id] = NULL;
			continue;
		}
		part->at = at -= type_stored(&x->type);
		part->next = part->within->parts;
		part->within->parts = part;
	}
	return all;
}

/* ---- strips ------------------------------------------------------------------------ */

/* Names of the result become such of the operand, or the other way round. */
static void
set_roots(Lives *l, const Shared *s, const Value *root)
{
	for (int i = 0; i < s->n; i++)
		l->root[s->lives[i].value->id] = root;
}

bool
lives_may_join_slice(Lives *l, const Op *fusion)
{
	const Value *v = fusion->results[0], *root = l->root[fusion->operands[0]->id];
	const Shared *part = l->shared[v->id], *whole = root ? l->shared[root->id] : NULL;
	bool may = part && whole && part != whole && !part->within && !part->parts;

	for (int i = 0; may && i < part->n; i++)
		may = l->root[part->lives[i].value->id] == v;
	if (!may || (!whole->mixed && !whole->parts && !whole->within))
		return may; /* nothing else is ever there */
	set_roots(l, part, root);
	may = !meet_all(l, whole, part, false) && !meet_around(l, whole->within, part);
	set_roots(l, part, v);
	return may;
}

void
lives_join_slice(Lives *l, const Op *fusion)
{
	const Shared *part = l->shared[fusion->results[0]->id];
	Shared *whole = l->shared[fusion->operands[0]->id];

	set_roots(l, part, l->root[fusion->operands[0]->id]);
	for (int i = 0; i < part->n; i++) {
		put(l->arena, whole, &part->lives[i]);
		l->shared[part->lives[i].value->id] = whole;
	}
}

const Shared *
lives_buffer(const Lives *l, int value)
{
	const Shared *s = l->shared[value];

	return s && !s->within && s->lives[0].value == l->life[value].value ? s : NULL;
}

LifeSpan
lives_span(const Shared *s)
{
	LifeSpan span = {s->lives[0].from, s->lives[s->longest[s->n - 1]].to};

	for (const Shared *part = s->parts; part; part = part->next) {
		LifeSpan of = lives_span(part);
		span.from = of.from < span.from ? of.from : span.from;
		span.to = of.to > span.to ? of.to : span.to;
	}
	return span;
}

LifeSpan
lives_of_block(const Lives *l, const Block *b)
{
	return (LifeSpan){b->parent ? l->at[b->parent->id] : -1, end_of(l, b)};
}

/* ---- ranges ------------------------------------------------------------------------ */

static int
by_begin(const void *a, const void *b)
{
	const Life *x = a, *y = b;

	return x->from != y->from
		? (x->from > y->from) - (x->from < y->from)
		: (x->value->id > y->value->id) - (x->value->id < y->value->id);
}

/* Those that begin in the span. */
static const Life *
begun_within(const Shared *s, LifeSpan span, int *n)
{
	int first = begun(s, span.from - 1);

	*n = begun(s, span.to) - first;
	return s->lives + first;
}

const Life *
lives_of_range(const Shared *s, LifeSpan span, Arena *a, int *n)
{
	const Life *lives = begun_within(s, span, n);
	int room = *n, more;

	if (!s->within)
		return lives;
	for (const Shared *around = s->within; around; around = around->within) {
		begun_within(around, span, &more);
		room += more;
	}
	Life *all = NEW_ARRAY(a, Life, room);
	*n = 0;
	for (; s; s = s->within) {
		lives = begun_within(s, span, &more);
		if (more)
			memcpy(all + *n, lives, (size_t)more * sizeof *all);
		*n += more;
	}
	qsort(all, (size_t)*n, sizeof *all, by_begin);
	return all;
}

/* Nothing is kept of what a sort makes, or a branch is given, for nobody. */
static bool
is_needless(const Life *life)
{
	const Value *v = life->value;

	if (life->to != life->from)
		return false;
	return v->def ? v->def->kind == O_sort
		      : v->block->parent && op_is_branch(v->block->parent);
}

static void
share(Lives *l, int id)
{
	const Life *life = &l->life[id];
	int root = life->value == l->root[id] ? id : l->root[id]->id;

	if (is_needless(life))
		return;
	if (!l->shared[root])
		l->shared[root] = NEW(l->arena, Shared);
	l->shared[id] = l->shared[root];
	put(l->arena, l->shared[id], life);
}

Lives *
lives_find(Module *m, Arena *a)
{
	Lives *l = NEW(a, Lives);

	*l = (Lives){.module = m,
		.arena = a,
		.step = NEW_ARRAY(a, Op *, m->nops + 1),
		.at = NEW_ARRAY(a, int, m->nops + 1),
		.life = NEW_ARRAY(a, Life, m->nvalues + 1),
		.root = NEW_ARRAY(a, const Value *, m->nvalues + 1),
		.whole = NEW_ARRAY(a, const Value *, m->nvalues + 1),
		.shared = NEW_ARRAY(a, Shared *, m->nvalues + 1)};
	add_steps(l, m->entry);
	for (int i = 0; i < m->entry->nparams; i++) {
		Value *v = m->entry->params[i];
		begin(l, v, -1, v);
		extend(l, v, m->keep_inputs || v->kept ? l->n : -1);
	}
	find_lives(l, m->entry);
	for (int i = 0; i < m->nvalues; i++)
		if (l->root[i])
			share(l, i);
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
	for (int s = 0; s < l->n && l->bodies; s++) {
		Op *op = l->step[s];
		for (int i = 0; op_is_loop(op) && i < op->noperands; i++)
			if (!loop_hands_on(op, i))
				add_pair(l, &pairs, n, op->bodies[1]->last, i,
					op->bodies[1]->params[i]);
	}
	for (int s = 0; s < l->n && l->bodies; s++) {
		Op *op = l->step[s], *parent = op->block->parent;
		bool branch = op == op->block->last && parent && op_is_branch(parent);
		for (int i = 0; branch && i < op->noperands; i++)
			add_pair(l, &pairs, n, op, i, parent->results[i]);
	}
	for (int s = 0; s < l->n; s++) {
		Op *op = l->step[s];
		for (int i = 0; op_is_loop(op) && i < op->noperands; i++)
			if (!loop_hands_on(op, i))
				add_pair(l, &pairs, n, op, i, op->bodies[1]->params[i]);
		if (op_base(op) >= 0)
			add_pair(l, &pairs, n, op, op_base(op), op->results[0]);
		for (int i = 0; op_is_fusion(op) && op->nresults > 1 && i < 2; i++)
			add_pair(l, &pairs, n, op, i, op->results[i]);
	}
	return pairs;
}
