/*
 * joined.c - what is put together and summed as a whole is summed a part at a time.
 *
 *   g0 = dot(h0, d0)                        g0 = dot(h0, d0);  s0 = all-reduce(g0)
 *   g1 = dot(h1, d1)                        g1 = dot(h1, d1);  s1 = all-reduce(g1)
 *   G  = concatenate(g0, g1)         ->     G  = concatenate(s0, s1)
 *   S  = all-reduce(G)
 *
 * So are the gradients of layers that are written one after the other and have their weights
 * in one tensor: each sum may begin as soon as its part is made.
 */
#include "ir/make.h"
#include "sched/fuse/fuse.h"
#include "sched/pipeline/pipeline.h"

/* Uses are counted. */
bool
joined_find(Op *collective, StackSum *sum)
{
	Op *join = collective->noperands ? collective->operands[0]->def : NULL;
	bool scatters = collective->kind == O_reduce_scatter;

	if ((!scatters && collective->kind != O_all_reduce) || !join
		|| join->kind != O_concatenate || join->block != collective->block
		|| join->noperands < 2 || join->results[0]->uses != 1
		|| join->results[0]->no_placement
		|| (scatters && op_int(collective, A_dim) == op_int(join, A_dim)))
		return false;
	*sum = (StackSum){.collective = collective, .join = join, .trips = join->noperands};
	return true;
}

/* Of part i, behind what makes it. */
static Value *
sum_part(const StackSum *sum, int i, const Value *whole)
{
	Value *part = sum->join->operands[i];
	Op *op = op_clone(sum->collective);
	Value *summed = op->results[0];

	op->operands[0] = part;
	op->mode = sum->join->mode;
	summed->annotated = false;
	summed->written = NULL;
	summed->origins = NULL;
	summed->unpadded = part->unpadded;
	op_insert_before(part->def && part->def->block == sum->join->block ? part->def->next
									   : sum->join,
		op);
	summed->placement = placement_none(part->type.rank);
	op_infer(op);
	summed->placement = whole->placement;
	return summed;
}

void
joined_apply(Module *m, const StackSum *sum)
{
	Op *join = sum->join;
	Value *whole = sum->collective->results[0];
	Value *result = join->results[0];

	for (int i = 0; i < join->noperands; i++)
		join->operands[i] = sum_part(sum, i, whole);
	value_like(result, whole);
	result->annotated = whole->annotated;
	result->written = whole->written;
	result->origins = whole->origins;
	value_replace_uses(m, whole, result);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == whole)
			m->named[i].value = result;
	op_remove(sum->collective);
}
