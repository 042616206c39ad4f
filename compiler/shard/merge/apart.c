/*
 * apart.c - what is gathered for several users is gathered again for those far from it.
 *
 *   g = gather(w)        is live from here      g = gather(w)
 *   a = dot(x, g)                               a = dot(x, g)
 *   b = f(a)             where most is live     b = f(a)
 *   c = dot(b, g)        to here                h = gather(w)
 *                                               c = dot(b, h)
 *
 * A user is far if much of the memory was full since the one before it: as far as shards
 * tell, before ops are fused and buffers are laid out.
 */
#include <math.h>
#include "ir/targets.h"
#include "shard/merge/merge.h"

enum { FULL = 2 }; /* where more than this part of the memory is live */

/* Of a value. */
typedef struct Use {
	const Op *last; /* in its block */
	bool met;	/* some use was, */
	int full;	/* ... before which, or in it, so many steps of the block were full */
	Value *again;	/* gathered again for uses from there on; NULL: it serves all */
} Use;

typedef struct Apart {
	Use *uses;  /* by value id */
	bool *full; /* by op id */
	double limit;
	int before, after; /* the op at hand: steps of its block that were full */
	bool really, any;
	double bytes; /* of what is kept for users that are far */
} Apart;

double
shard_bytes(const Value *v)
{
	Type local = placement_local(&v->type, &v->placement);

	return value_is_literal(v) ? 0 : (double)type_bytes(&local);
}

/* ---- what is full ------------------------------------------------------------------ */

static double
bytes_ended_by(Apart *ap, const Op *op)
{
	double bytes = 0;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		Use *use = &ap->uses[v->id];
		bool outside = !v->def && v->block->parent; /* a body's parameter */
		bytes += use->last == op && !outside ? shard_bytes(v) : 0;
		use->last = use->last == op ? NULL : use->last;
	}
	return bytes;
}

/* The most that is live in the block and, `around`, outside. */
static double
find_full(Apart *ap, const Block *b, double around)
{
	double live = around, most = around;

	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			ap->uses[op->operands[i]->id].last = op;
	for (int i = 0; i < b->nparams && !b->parent; i++)
		live += shard_bytes(b->params[i]);
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nresults; i++)
			live += shard_bytes(op->results[i]);
		double here = live;
		for (int i = 0; i < op->nbodies; i++)
			here = fmax(here, find_full(ap, op->bodies[i], live));
		ap->full[op->id] = here > ap->limit / FULL;
		most = fmax(most, here);
		live -= bytes_ended_by(ap, op);
		for (int i = 0; i < op->nresults; i++)
			if (!ap->uses[op->results[i]->id].last)
				live -= shard_bytes(op->results[i]);
	}
	return most;
}

/* ---- users -------------------------------------------------------------------------- */

static bool
is_gathered(const Value *v)
{
	return v->def && op_is_move(v->def)
		&& shard_bytes(v) > shard_bytes(v->def->operands[0]);
}

/* What a user takes for the value.  What is gathered from what was gathered makes that a
   user of it.  A fence takes what is there: so backward takes what a `save` keeps. */
static Value *
use_by(Apart *ap, Value *v, Op *user)
{
	Use *use = &ap->uses[v->id];

	if (!is_gathered(v))
		return v;
	bool far = use->met && ap->before > use->full && user->kind != O_fence;
	ap->any |= far;
	ap->bytes += far ? shard_bytes(v) : 0;
	if (far && ap->really) {
		Op *again = op_clone(v->def);
		again->operands[0] = use_by(ap, v->def->operands[0], user);
		op_insert_before(user, again);
		use->again = again->results[0];
	}
	use->met = true;
	use->full = ap->after;
	return use->again ? use->again : v;
}

static void
walk(Apart *ap, Block *b)
{
	int full = 0;

	for (Op *op = b->first; op != b->last; op = op->next) {
		ap->before = full;
		full += ap->full[op->id];
		ap->after = full;
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = use_by(ap, op->operands[i], op);
		for (int i = 0; i < op->nbodies; i++)
			walk(ap, op->bodies[i]);
	}
}

bool
gather_apart(Module *m, bool really)
{
	Apart ap = {.really = really, .limit = (double)m->mesh.target->hbm_bytes};
	Arena *a = arena_new();
	bool shared = false;

	module_number(m);
	module_count_uses(m);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		shared |= op->nresults == 1 && op->results[0]->uses > 1
			&& is_gathered(op->results[0]);
	if (shared) {
		ap.uses = NEW_ARRAY(a, Use, m->nvalues + 1);
		ap.full = NEW_ARRAY(a, bool, m->nops + 1);
		find_full(&ap, m->entry, 0);
		walk(&ap, m->entry);
	}
	arena_free(a);
	if (!really)
		m->shared += ap.bytes;
	return ap.any;
}
