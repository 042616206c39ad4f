/*
 * hosted.c - what is in the memory of the host.
 *
 *   h = to_host(x)                                  is there
 *   stack = fusion(stack, h): dynamic_update_slice  so is what it is put into, in all trips
 *   y = fusion(stack): dynamic_slice                and what is taken out again
 *   z = to_device(y)                                is not
 *
 * What moves elements leaves them in their memory; what computes of them does not.
 */
#include "ir/flow.h"
#include "memory/plan.h"

/* The first value of the buffer that it is in, or in a range of; NULL: it is in none. */
static const Value *
buffer_value(const Lives *l, const Value *v)
{
	const Shared *s = lives_outermost(l->shared[v->id]);

	return s ? s->lives[0].value : NULL;
}

static bool
is_hosted(const Lives *l, const bool *hosted, const Value *v)
{
	const Value *buffer = buffer_value(l, v);

	return buffer && hosted[buffer->id];
}

/* The operand of which a fusion's elements, or those that it changes, are; NULL: they are
   computed. */
static const Value *
moved_operand(const Op *fusion)
{
	const Value *v = fusion->bodies[0]->last->operands[0];

	while (v->def) {
		const Op *op = v->def;
		bool moves = op_renames(op) || op_is_identity(op) || op->kind == O_slice
			|| op->kind == O_dynamic_slice || op->kind == O_transpose
			|| (op->kind == O_broadcast && op->noperands
				&& type_elements(&op->operands[0]->type)
					== type_elements(&op->results[0]->type));
		bool update = op->kind == O_dynamic_update_slice;
		if (!moves && !update)
			return NULL;
		v = op->operands[update ? op_changed_part(op) : 0];
	}
	return v->block == fusion->bodies[0] ? fusion->operands[v->index] : NULL;
}

static bool
makes_hosted(const Lives *l, const bool *hosted, const Op *op)
{
	if (op_is_hosted(op))
		return op->kind == O_to_host;
	if (op_is_identity(op))
		return is_hosted(l, hosted, op->operands[0]);
	const Value *moved = op_is_fusion(op) && op->nresults == 1 ? moved_operand(op) : NULL;
	return moved && is_hosted(l, hosted, moved);
}

/* By value id; NULL: none are. */
static bool *
hosted_buffers(const Lives *l)
{
	const Module *m = l->module;
	bool *hosted = NEW_ARRAY(l->arena, bool, m->nvalues + 1), more = false;

	for (int i = 0; i < m->entry->nparams; i++) {
		const Value *v = buffer_value(l, m->entry->params[i]);
		if (v && m->entry->params[i]->hosted)
			more = hosted[v->id] = true;
	}
	for (int i = 0; i < l->n && !more; i++)
		more = op_is_hosted(l->step[i]);
	if (!more)
		return NULL;
	while (more) {
		more = false;
		for (int i = 0; i < l->n; i++) {
			const Op *op = l->step[i];
			const Value *v = op->nresults ? buffer_value(l, op->results[0]) : NULL;
			if (!v || hosted[v->id] || !makes_hosted(l, hosted, op))
				continue;
			more = hosted[v->id] = true;
		}
	}
	return hosted;
}

void
plan_part_hosted(Plan *plan)
{
	const bool *hosted = plan->n ? hosted_buffers(plan->lives) : NULL;
	int nall = plan->n;

	if (!hosted)
		return;
	Buffer *all = arena_copy(plan->lives->arena, plan->buffers, sizeof *all * (size_t)nall);
	plan->n = plan->nhosted = 0;
	for (int i = 0; i < nall; i++)
		if (!hosted[all[i].value->id])
			plan->buffers[plan->n++] = all[i];
	for (int i = 0; i < nall; i++) {
		Buffer *place = &plan->buffers[plan->n + plan->nhosted];
		if (!hosted[all[i].value->id])
			continue;
		*place = all[i];
		place->offset = plan->hosted;
		plan->hosted += plan_aligned(place->bytes);
		plan->nhosted++;
	}
}
