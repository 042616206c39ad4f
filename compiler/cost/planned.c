/*
 * planned.c - the collectives of a scheduled program as the plan has them.
 *
 *   for 4 turns: collective-permute, dot     ->  one all-gather, done in pieces
 *   the first, the other trips of a loop     ->  one all-reduce, as often as both
 */
#include "cost/ledger.h"

/* What moves a piece as the collective that is done so, if it is one. */
static Transfer
as_whole(const Transfer *x)
{
	const Op *op = x->op->whole, *ring = x->op->block->parent;
	Transfer whole = *x;

	if (!op)
		return whole;
	double bytes = (double)type_bytes(&op->operands[0]->type);
	whole.op = op;
	whole.kind = op->kind;
	whole.axes = *x->op->axes;
	whole.bytes = wire_bytes(op->kind, axes_size(&whole.axes), bytes);
	if (ring && ring->of && op_has(ring, A_trips)) /* each turn is a piece */
		whole.trips /= greater(op_int(ring, A_trips), 1);
	return whole;
}

static int64_t
all_bytes(const Transfer *x)
{
	int64_t bytes;

	return mul_i64(whole_bytes(x->bytes), x->trips, &bytes) ? bytes : INT64_MAX;
}

/* An op's key in the table: itself, or as what others are copies of. */
static const char *
key_of(Arena *a, const char *as, const Op *op)
{
	return arena_printf(a, "%s %p", as, (const void *)op);
}

Collective *
planned_collectives(Module *m, int *n, int64_t *received)
{
	const Ledger *l = module_ledger(m);
	Collective *all = NEW_ARRAY(m->arena, Collective, l->n + 1);
	Table *known = table_new(m->arena);

	*n = 0;
	*received = l->work.wire_bytes;
	for (int i = 0; i < l->n; i++) {
		const Op *move = l->transfers[i].op;
		const Transfer x = as_whole(&l->transfers[i]);
		const char *first =
			key_of(m->arena, "copies of", x.op->original ? x.op->original : x.op);
		if (move->whole)
			*received -= all_bytes(&l->transfers[i]);
		if (!table_add(known, key_of(m->arena, "", x.op), all))
			continue; /* another of its pieces */
		if (move->whole)
			*received += all_bytes(&x);
		Collective *same = table_get(known, first);
		if (same) {
			same->x.trips += x.trips;
			same->in_pieces |= move->whole != NULL;
			continue;
		}
		all[*n] = (Collective){x, move, move->whole != NULL};
		table_set(known, first, &all[(*n)++]);
	}
	return all;
}
