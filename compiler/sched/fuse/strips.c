/*
 * strips.c - slices that are not copied, for what reads them can read them where they lie.
 *
 *   p = fusion(W): slice(W), [2:4, 0:8]     p = slice(W), [2:4, 0:8]     a strip: no step
 *   W2 = all-gather(p)                 ->   W2 = all-gather(p)           from row 2 of W on
 *
 * Collectives can, of a range or, where they are told so, of runs (memory/strips.h).  That the
 * slice stands by itself is the decision, as of joints: it has the place of its operand
 * (lives_join_slice()), no price and no code is asked of what is no step (op_is_strip()).
 *
 * Not so is a slice of what is written over before the slice has been read; one for which the
 * whole would have to be kept where memory is full; and slices of what stays in on-chip memory
 * unless all of it is moved.
 */
#include "memory/plan.h"
#include "memory/strips.h"
#include "sched/fuse/fuse.h"

typedef struct Reader {
	const Op *op;
	struct Reader *next;
} Reader;

struct Readers {
	Reader **of; /* by value id */
};

Readers *
readers_find(const Module *m, Arena *a)
{
	Readers *readers = NEW(a, Readers);

	readers->of = NEW_ARRAY(a, Reader *, m->nvalues + 1);
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++) {
			Reader **of = &readers->of[op->operands[i]->id];
			Reader *reader = NEW(a, Reader);
			*reader = (Reader){op, *of};
			*of = reader;
		}
	return readers;
}

bool
all_read_strip(const Readers *readers, const Value *v, const Strip *strip)
{
	bool all = true;

	for (const Reader *r = readers->of[v->id]; r && all; r = r->next) {
		bool slices = op_is_strip(r->op);
		Strip part = *strip;
		all = r->op->block == v->block && (!slices || strip_take(r->op, &part))
			&& (slices || op_renames(r->op)
					? all_read_strip(readers, r->op->results[0], &part)
					: strip_is_readable(r->op, strip));
	}
	return all;
}

/* ---- which fusions --------------------------------------------------------- */

/* Is all that it does to take parts of its operand? */
static bool
is_slices(const Op *fusion)
{
	if (!op_is_fusion(fusion) || fusion->noperands != 1 || fusion->nresults != 1)
		return false;
	const Value *v = fusion->bodies[0]->last->operands[0];
	bool any = false;
	while (v->def && (op_renames(v->def) || v->def->kind == O_slice)) {
		any |= v->def->kind == O_slice;
		v = v->def->operands[0];
	}
	return any && !v->def;
}

/* Those that collectives read, all of them from where they would lie. */
static Op **
find_slices(const Module *m, int *n, Arena *a)
{
	Op **slices = NULL;
	const Readers *readers = NULL;
	Strip strip;

	*n = 0;
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (!is_slices(op) || !strip_of_slices(op, &strip))
			continue;
		readers = readers ? readers : readers_find(m, a);
		if (readers->of[op->results[0]->id]
			&& all_read_strip(readers, op->results[0], &strip))
			APPEND(a, slices, *n, op);
	}
	return slices;
}

/* ---- is it better? ----------------------------------------------------------- */

/* The operand is there as long as the slice is read, which has no place of its own. */
static bool
take_room(Room *room, const Op *slice)
{
	const Shared *whole = lives_outermost(room->lives->shared[slice->operands[0]->id]);
	const LifeSpan part = lives_span(room->lives->shared[slice->results[0]->id]);
	int64_t less = type_bytes(&slice->results[0]->type);

	int64_t more = type_bytes(&whole->lives[0].value->type);
	int end = lives_span(whole).to;
	for (int i = end + 1; i <= part.to; i++)
		if (room->bytes[i + 1] + more - less > room->most)
			return false;
	for (int i = part.from; i <= part.to; i++)
		room->bytes[i + 1] += (i > end ? more : 0) - less;
	return true;
}

/* ---- the module -------------------------------------------------------------- */

/* The ops of its body stand in its place. */
static void
open_fusion(Op *fusion)
{
	Block *body = fusion->bodies[0];
	Value *param = body->params[0], *v = body->last->operands[0];
	Op *root = v->def;

	for (Op *op = body->first, *next; op != body->last; op = next) {
		next = op->next;
		op_remove(op);
		op_insert_before(fusion, op);
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == param)
				op->operands[i] = fusion->operands[0];
		for (int i = 0; i < op->nresults; i++)
			op->results[i]->block = op->block;
	}
	op_remove(fusion);
	root->results = fusion->results;
	root->results[0]->def = root;
	root->results[0]->block = root->block;
}

/* The plan as it is, but for what would be where the slices are. */
static Lives *
lives_without(Module *m, Op *const *slices, int n, Arena *a)
{
	bool *apart = NEW_ARRAY(a, bool, m->nvalues + 1);

	for (int i = 0; i < n; i++)
		apart[slices[i]->results[0]->id] = true;
	return lives_planned(m, apart, a);
}

void
strips_place(Module *m)
{
	Arena *a = arena_new();
	int n;
	Op **slices = find_slices(m, &n, a);
	Lives *l = n ? lives_without(m, slices, n, a) : NULL;
	Room room = n ? room_find(l, a) : (Room){0};
	int64_t *moved = NEW_ARRAY(a, int64_t, m->nvalues + 1); /* by id of the root */

	for (int i = 0; i < n; i++)
		moved[l->root[slices[i]->operands[0]->id]->id] +=
			type_bytes(&slices[i]->results[0]->type);
	for (int i = 0; i < n; i++) {
		const Value *x = slices[i]->operands[0], *root = l->root[x->id];
		bool local = x->on_chip && moved[root->id] < type_bytes(&root->type);
		if (local || !lives_may_join_slice(l, slices[i])
			|| !take_room(&room, slices[i]))
			continue;
		lives_join_slice(l, slices[i]);
		open_fusion(slices[i]);
	}
	arena_free(a);
}
