/*
 * residency.c - which values of a fused program stay in on-chip memory.
 *
 *   h = fusion(x)       8 MB, read by the next step only: on the chip
 *   y = dot(h, W)       64 MB, of which there is no room: memory
 *   z = all_reduce(y)   what goes over links is in memory anyway
 *
 * A value that one step writes and later steps of the same block read stays there as
 * long as it is needed, if all that do have room in half of it at the time; the other
 * half is for what a step works on.  Values are taken in the order in which they are
 * written.  Parameters, results, what loops carry, branches return, transfers move and
 * extern functions see are in memory.
 */
#include "cost/residency.h"
#include "cost/cost.h"
#include "ir/flow.h"

typedef struct Use {
	const Op *last; /* step that reads it */
	bool memory;
} Use;

typedef struct Residency {
	Use *uses; /* by value id */
	int64_t limit;
	Changed *changed; /* NULL: nobody asks */
} Residency;

static void
set_on_chip(Residency *r, Value *v, bool on_chip)
{
	if (v->on_chip != on_chip && r->changed)
		APPEND(r->changed->arena, r->changed->v, r->changed->n, v);
	v->on_chip = on_chip;
}

/* What it is a name of, or of a part of. */
static Value *
named_value(Value *v)
{
	while (v->def && op_is_name(v->def))
		v = v->def->operands[0];
	return v;
}

/* Does it read and write on the chip? */
static bool
is_local_step(const Op *op)
{
	return op_is_step(op) && !op_communicates(op) && op->kind != O_done && !op->external;
}

/* The operand that the result is, but for a part, of fusions too the first; NULL: none
   is. */
static Value *
changed_operand(const Op *op)
{
	const Op *root = op_is_fusion(op) ? op->bodies[0]->last->operands[0]->def : op;

	return root && op_changes(root) ? op->operands[0] : NULL;
}

static void
find_uses(Residency *r, const Op *op)
{
	Value *changed = changed_operand(op);

	for (int i = 0; i < op->noperands; i++) {
		Use *use = &r->uses[named_value(op->operands[i])->id];
		if (op_is_name(op) || op_is_offset(op))
			continue;
		use->last = op;
		use->memory |= !is_local_step(op);
	}
	for (int i = 0; i < op->nresults; i++) {
		Use *use = &r->uses[op->results[i]->id];
		use->memory = !is_local_step(op) || changed;
		use->last = op;
	}
	if (changed)
		r->uses[named_value(changed)->id].memory = true;
}

/* Names of it go with it. */
static void
set_names(Residency *r, const Op *op)
{
	if (op_is_name(op))
		set_on_chip(r, op->results[0], named_value(op->operands[0])->on_chip);
}

/* Its operands that nobody reads later make room. */
static int64_t
release(Residency *r, const Op *op)
{
	int64_t bytes = 0;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = named_value(op->operands[i]);
		if (v->on_chip && r->uses[v->id].last == op)
			bytes += type_bytes(&v->type);
		if (r->uses[v->id].last == op)
			r->uses[v->id].last = NULL;
	}
	return bytes;
}

/* So much is taken by what is around the block. */
static void
place_block(Residency *r, const Block *b, int64_t taken)
{
	for (const Op *op = b->first; op; op = op->next)
		find_uses(r, op);
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nbodies && !op_is_fusion(op); i++)
			place_block(r, op->bodies[i], taken);
		for (int i = 0; i < op->nresults; i++) {
			Value *v = op->results[i];
			bool memory = r->uses[v->id].memory;
			int64_t bytes = memory ? INT64_MAX : type_bytes(&v->type);
			set_on_chip(r, v, bytes <= r->limit - taken);
			if (v->on_chip && r->uses[v->id].last != op)
				taken += bytes;
		}
		set_names(r, op);
		taken -= release(r, op);
	}
}

void
residency_find(Module *m, Changed *changed)
{
	Arena *scratch = arena_new();
	Residency r = {.uses = NEW_ARRAY(scratch, Use, m->nvalues + 1),
		.limit = m->mesh.target->on_chip_bytes / 2,
		.changed = changed};

	place_block(&r, m->entry, 0);
	arena_free(scratch);
}
